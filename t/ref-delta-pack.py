#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write a thin pack: a delta against any object, and whole objects.

	ref-delta-pack.py <base id> <base file> <added file> [<type> <file>]...

The first object is what the base is with what the second file has behind it,
as a delta that names the base by its id; the base is not in the pack.
"""

import hashlib
import sys
import zlib

TYPES = {"commit": 1, "tree": 2, "blob": 3, "tag": 4, "delta": 7}


def varint(n):
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def entry(kind, data, base=b""):
    n = len(data)
    byte = TYPES[kind] << 4 | n & 15
    n >>= 4
    head = bytes([byte | 0x80]) + varint(n) if n else bytes([byte])
    return head + base + zlib.compress(data)


def delta(base, added):
    size = len(base).to_bytes(3, "little")
    return (varint(len(base)) + varint(len(base) + len(added)) +
            b"\xf0" + size + bytes([len(added)]) + added)


def read(path):
    with open(path, "rb") as f:
        return f.read()


base_id, base, added = bytes.fromhex(sys.argv[1]), *map(read, sys.argv[2:4])
entries = [entry("delta", delta(base, added), base_id)]
for kind, path in zip(sys.argv[4::2], sys.argv[5::2]):
    entries.append(entry(kind, read(path)))
pack = b"PACK" + (2).to_bytes(4, "big") + len(entries).to_bytes(4, "big")
pack += b"".join(entries)
sys.stdout.buffer.write(pack + hashlib.sha1(pack).digest())
