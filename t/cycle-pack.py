#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Store a pack of blobs whose delta bases are chosen, with its index.

	cycle-pack.py <pack directory> <text>[=<text of the base>]...

A blob with "=" is a REF_DELTA, which inserts the whole text. The bases need not
exist, and may form a cycle.
"""

import hashlib
import struct
import sys
import zlib

BLOB, REF_DELTA = 3, 7


def id_of(text):
    return hashlib.sha1(b"blob %d\0%s" % (len(text), text)).digest()


def entry(text, base):
    if base is None:
        return bytes([BLOB << 4 | len(text)]) + zlib.compress(text)
    delta = bytes([len(base), len(text), len(text)]) + text
    return (bytes([REF_DELTA << 4 | len(delta)]) + id_of(base) +
            zlib.compress(delta))


def add_hash(body):
    return body + hashlib.sha1(body).digest()


pack, rows = b"PACK" + struct.pack(">II", 2, len(sys.argv) - 2), []
for arg in sys.argv[2:]:
    text, *base = arg.encode().split(b"=")
    data = entry(text, base[0] if base else None)
    rows.append((id_of(text), zlib.crc32(data), len(pack)))
    pack += data
rows.sort()
pack = add_hash(pack)
index = b"\xfftOc" + struct.pack(">I", 2)
for first in range(256):
    index += struct.pack(">I", sum(row[0][0] <= first for row in rows))
index += b"".join(row[0] for row in rows)
for field in 1, 2:
    index += b"".join(struct.pack(">I", row[field]) for row in rows)
name = "%s/pack-%s." % (sys.argv[1], pack[-20:].hex())
for extension, content in ("pack", pack), ("idx", add_hash(index + pack[-20:])):
    with open(name + extension, "wb") as f:
        f.write(content)
