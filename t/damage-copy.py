# SPDX-License-Identifier: MIT
"""Damage one copy of an object in a pack: damage-copy.py <base> <id> <how>.

<base> is the pack's path without ".pack". <how> is one of
    stream   a bit in the middle of the zlib stream
    adler    a bit of the checksum that ends the stream
    size     the size in the header
    type     the type in the header: 0, which there is not
    base     the distance to the base, or its id
    content  the stream: another object of the same size, at the same length
The trailer of the pack stays as it was, and so does the index.
"""

import os
import struct
import sys
import zlib

from packids import OFS_DELTA, REF_DELTA, read_header


def offsets(index):
    """{id: offset} of an index of version 2."""
    assert index[:8] == b"\xfftOc\x00\x00\x00\x02", "not of version 2"
    nr = struct.unpack_from(">I", index, 8 + 255 * 4)[0]
    id_len = 20
    at = 8 + 1024
    ids = [index[at + i * id_len:at + (i + 1) * id_len] for i in range(nr)]
    at += nr * (id_len + 4)
    places = struct.unpack_from(">%dI" % nr, index, at)
    return {id_.hex(): place for id_, place in zip(ids, places)}


def other_content(stream, size):
    """A stream of `size` other bytes, as long as `stream`."""
    content = bytearray(zlib.decompress(stream))
    for i in range(size):
        for bit in range(8):
            content[i] ^= 1 << bit
            for level in (1, 6, 9, -1):
                made = zlib.compress(bytes(content), level)
                if len(made) == len(stream):
                    return made
            content[i] ^= 1 << bit
    raise SystemExit("no such stream")


def main():
    base, id_, how = sys.argv[1:]
    with open(base + ".idx", "rb") as f:
        places = offsets(f.read())
    os.chmod(base + ".pack", 0o644)
    with open(base + ".pack", "r+b") as f:
        data = bytearray(f.read())
        at = places[id_]
        end = min([p for p in places.values() if p > at] + [len(data) - 20])
        type_, size, _, start = read_header(data, at, 20)
        if how == "stream":
            data[(start + end) // 2] ^= 0x10
        elif how == "adler":
            data[end - 1] ^= 1
        elif how == "size":
            data[at] ^= 1
        elif how == "type":
            data[at] &= 0x8f
        elif how == "base":
            assert type_ in (OFS_DELTA, REF_DELTA), "not a delta"
            data[start - 1] ^= 1
        elif how == "content":
            data[start:end] = other_content(bytes(data[start:end]), size)
        else:
            raise SystemExit("no such damage")
        f.seek(0)
        f.write(data)


if __name__ == "__main__":
    main()
