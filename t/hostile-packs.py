#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Packs that somebody made to do harm, into the current directory; for
t5309-index-pack-hostile.sh, which says what becomes of each.

    python3 hostile-packs.py
"""

import hashlib
import struct
import zlib

BLOB, OFS, REF = 3, 6, 7


def header(kind, size):
    out = [kind << 4 | size & 15]
    size >>= 4
    while size:
        out[-1] |= 0x80
        out.append(size & 127)
        size >>= 7
    return bytes(out)


def distance(n):
    out = [n & 127]
    while n > 127:
        n = (n >> 7) - 1
        out.append(0x80 | n & 127)
    return bytes(reversed(out))


def size(n):
    out = b""
    while n > 127:
        out += bytes([0x80 | n & 127])
        n >>= 7
    return out + bytes([n])


def delta(base_len, len_, ops):
    return size(base_len) + size(len_) + ops


COPY_64K = b"\x80"  # from offset 0; no length stands for 65,536


def entry(kind, data, base=b"", claim=None):
    return (header(kind, len(data) if claim is None else claim) + base +
            zlib.compress(data))


def ofs(n, data, claim=None):
    return entry(OFS, data, distance(n), claim)


def pack(name, *entries, nr=None, after=b""):
    body = struct.pack(">4sII", b"PACK", 2, len(entries) if nr is None else nr)
    body += b"".join(entries)
    with open(name + ".pack", "wb") as f:
        f.write(body + hashlib.sha1(body).digest() + after)


def id_of(data):
    return hashlib.sha1(b"blob %d\0%s" % (len(data), data)).digest()


small = entry(BLOB, b"base")
first = len(small)
zeros = bytes(1 << 16)
base = entry(BLOB, zeros)

# What a delta makes.
pack("claim", small, ofs(first, delta(4, 1 << 40, b"\x90\2")))
bomb = delta(1 << 16, 1 << 36, COPY_64K * (1 << 20))
pack("bomb", base, ofs(len(base), bomb))
steps, before = [base], base
for level in range(5):  # 1 MiB, 16 MiB, 256 MiB, 4 GiB, 64 GiB
    copies = 1 << 4 * (level + 1)
    length = 1 << 16 + 4 * level
    op = b"\xf0" + struct.pack("<I", min(length, 0xf00000))[:3]
    whole, left = b"", length
    at = 0
    while left:
        n = min(left, 0xf00000)
        whole += b"\xff" + struct.pack("<I", at) + struct.pack("<I", n)[:3]
        at += n
        left -= n
    steps.append(ofs(len(before), delta(length, length * 16, whole * 16)))
    before = steps[-1]
pack("bomb-chain", *steps)
pack("two-sizes", small, ofs(first, delta(5, 4, b"\x90\4")))
pack("past-base", small, ofs(first, delta(4, 8, b"\x90\x08")))

# What a header claims.
pack("huge-blob", entry(BLOB, b"base", claim=1 << 59))
pack("huge-delta", small, ofs(first, delta(4, 4, b"\x90\4"), claim=1 << 50))
pack("short-blob", entry(BLOB, b"base", claim=3))
pack("huge-count", small, nr=0xffffffff)
pack("count-more", small, nr=2)
pack("count-less", small, entry(BLOB, b"other"), nr=1)
pack("count-none", small, nr=0)

# Bases that are not there.
copy = delta(4, 4, b"\x90\4")
pack("before-start", small, ofs(first + 13, copy))
pack("at-start", small, ofs(first + 12, copy))
pack("at-itself", small, ofs(0, copy))
pack("inside", small, ofs(first - 1, copy))
pack("far-before", small, ofs(1 << 62, copy))
pack("cycle", small, entry(REF, copy + b"", id_of(b"bas1")),
     entry(REF, copy, id_of(b"bas2")))
pack("after", small, after=b"x")

# Bases that a reader finds elsewhere than the indexer. The indexer finds the
# blobs "base" and "bas1" in the repository, or in another entry.
to_base, to_bas1 = b"\x90\3\1e", b"\x90\3\0011"
whole = delta(4, 4, to_base), delta(4, 4, to_bas1)
pack("itself", entry(REF, whole[0], id_of(b"base")))
pack("each-other", entry(REF, whole[0], id_of(b"bas1")),
     entry(REF, whole[1], id_of(b"base")))
pack("twice-itself", small, entry(REF, whole[0], id_of(b"base")))
pack("twice-other", small, entry(REF, whole[1], id_of(b"base")),
     entry(REF, whole[0], id_of(b"bas1")))
# No cycle: the base of a delta is a delta, and is in the repository, too.
pack("base-known", entry(REF, whole[0], id_of(b"bas1")),
     entry(REF, whole[1], id_of(b"bas0")))
pack("twice-no-cycle", small, small,
     entry(REF, whole[1], id_of(b"base")))

# Odd, and allowed.
pack("twice", small, small)
chain, text = [entry(BLOB, b"")], 0
for text in range(4000):
    chain.append(ofs(len(chain[-1]), delta(text, text + 1, (
        b"\xb0" + struct.pack("<H", text) if text else b"") + b"\1" +
        bytes([text % 251]))))
pack("deep", *chain)
