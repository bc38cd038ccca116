# SPDX-License-Identifier: MIT
"""Lists the objects of packs, without inflating entries that are known already.

An entry whose compressed bytes are those of an entry in the repository's packs,
and whose base, if it is a delta, is the same object, is the same object. Any
other is inflated, completed and hashed.
"""

import hashlib
import mmap
import os
import struct
import subprocess
import zlib
from array import array

TYPES = {1: b"commit", 2: b"tree", 3: b"blob", 4: b"tag"}
OFS_DELTA, REF_DELTA = 6, 7
KEPT_MAX = 1 << 28  # bytes of objects
START = 16  # bytes of an entry's data that it is looked up by


class PackError(Exception):
    pass


def read_header(data, at, id_len):
    """(type, size, base, where the data begins); base: a distance or an id."""
    byte = data[at]
    at += 1
    type_, size, shift = byte >> 4 & 7, byte & 15, 4
    while byte & 128:
        byte = data[at]
        at += 1
        size |= (byte & 127) << shift
        shift += 7
    base = None
    if type_ == OFS_DELTA:
        byte = data[at]
        at += 1
        base = byte & 127
        while byte & 128:
            byte = data[at]
            at += 1
            base = (base + 1) << 7 | byte & 127
    elif type_ == REF_DELTA:
        base = bytes(data[at:at + id_len])
        at += id_len
    return type_, size, base, at


def inflate(data, at, size):
    """(bytes, where they end)"""
    stream, parts, room = zlib.decompressobj(), [], size + 64
    while not stream.eof:
        chunk = data[at:at + room]
        if not chunk:
            raise PackError("an entry ends too soon")
        parts.append(stream.decompress(chunk))
        at += len(chunk) - len(stream.unused_data)
    whole = b"".join(parts)
    if len(whole) != size:
        raise PackError("an entry has another size than it says")
    return whole, at


def apply_delta(base, delta):
    def number(at):
        value = shift = 0
        while True:
            byte = delta[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if not byte & 128:
                return value, at

    base_size, at = number(0)
    size, at = number(at)
    out = []
    while at < len(delta):
        op = delta[at]
        at += 1
        if op & 128:
            values = []
            for bits in (0, 1, 2, 3), (4, 5, 6):
                value = 0
                for i, bit in enumerate(bits):
                    if op >> bit & 1:
                        value |= delta[at] << 8 * i
                        at += 1
                values.append(value)
            start, length = values[0], values[1] or 0x10000
            out.append(base[start:start + length])
        else:
            out.append(delta[at:at + op])
            at += op
    whole = b"".join(out)
    if base_size != len(base) or len(whole) != size:
        raise PackError("a delta does not fit its base")
    return whole


class Reader:
    """
    Objects of a repository, one by one, by a `cat-file --batch`; the small ones
    are kept.
    """

    def __init__(self, git, repo):
        env = dict(os.environ, GIT_NO_REPLACE_OBJECTS="1")
        self.process = subprocess.Popen(
            [git, "-C", repo, "cat-file", "--batch"], env=env,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.kept, self.kept_len = {}, 0

    def read(self, id_):
        """(type, content)"""
        found = self.kept.get(id_)
        if found:
            return found
        found = self.ask(id_)
        if len(found[1]) < KEPT_MAX // 1024:
            if self.kept_len > KEPT_MAX:
                self.kept, self.kept_len = {}, 0
            self.kept[id_] = found
            self.kept_len += len(found[1])
        return found

    def ask(self, id_):
        self.process.stdin.write(id_.hex().encode() + b"\n")
        self.process.stdin.flush()
        words = self.process.stdout.readline().split()
        if len(words) != 3:
            raise PackError("there is no " + id_.hex())
        content = self.process.stdout.read(int(words[2]))
        self.process.stdout.read(1)
        return words[1], content

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class StoredPack:
    def __init__(self, path, id_len):
        with open(path, "rb") as file:
            self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        with open(path[:-5] + ".idx", "rb") as file:
            idx = file.read()
        nr = struct.unpack(">I", idx[8 + 4 * 255:8 + 4 * 256])[0]
        at = 8 + 4 * 256
        ids = idx[at:at + nr * id_len]
        at += nr * (id_len + 4)
        small = struct.unpack(">%dI" % nr, idx[at:at + 4 * nr])
        if nr and max(small) >> 31:
            raise PackError("packs of two gigabytes are not read")
        order = sorted(range(nr), key=small.__getitem__)
        self.offsets = array("I", (small[i] for i in order))
        self.offsets.append(len(self.data) - id_len)
        self.ids = b"".join(ids[i * id_len:(i + 1) * id_len] for i in order)


class Known:
    def __init__(self, git, repo, id_len):
        self.id_len, self.reader = id_len, Reader(git, repo)
        self.hash = hashlib.sha1 if id_len == 20 else hashlib.sha256
        where = repo + "/objects/pack/"
        self.packs = [StoredPack(where + name, id_len)
                      for name in sorted(os.listdir(where))
                      if name.endswith(".pack")]
        self.entries = {}
        for pack in self.packs:
            self.add(pack)

    def add(self, pack):
        data, offsets, id_len = pack.data, pack.offsets, self.id_len
        by_offset = {}
        for i in range(len(offsets) - 1):
            at = offsets[i]
            id_ = pack.ids[i * id_len:(i + 1) * id_len]
            by_offset[at] = id_
            type_, size, base, begin = read_header(data, at, id_len)
            if type_ == OFS_DELTA:
                type_, base = REF_DELTA, by_offset[at - base]
            self.entries.setdefault(
                (type_, size, data[begin:begin + START]), []).append(
                    (id_, base, data, begin, offsets[i + 1]))

    def find(self, data, at, type_, size, base):
        """(id, where the entry ends) of one that is known, or None."""
        for id_, its_base, stored, begin, end in self.entries.get(
                (type_, size, data[at:at + START]), ()):
            if its_base == base and (data[at:at + end - begin]
                                     == stored[begin:end]):
                return id_, at + end - begin
        return None

    def make(self, data, at, type_, size, base):
        begin, name = at, TYPES.get(type_)
        content, at = inflate(data, at, size)
        if type_ == REF_DELTA:
            name, whole = self.reader.read(base)
            content = apply_delta(whole, content)
        id_ = self.hash(b"%s %d\0" % (name, len(content)) + content).digest()
        if type_ == REF_DELTA:
            # others are likely to get the same
            self.entries.setdefault(
                (type_, size, data[begin:begin + START]), []).append(
                    (id_, base, data[begin:at], 0, at - begin))
        return id_, at

    def ids(self, data):
        """(ids, those of bases that are not in it, how many were known)"""
        end = len(data) - self.id_len
        if self.hash(memoryview(data)[:end]).digest() != data[end:]:
            raise PackError("a pack with a wrong checksum")
        magic, version, nr = struct.unpack(">4sII", data[:12])
        if magic != b"PACK" or version != 2:
            raise PackError("not a pack")
        at, by_offset, bases, known = 12, {}, set(), 0
        for _ in range(nr):
            start = at
            type_, size, base, at = read_header(data, at, self.id_len)
            if type_ == OFS_DELTA:
                type_, base = REF_DELTA, by_offset[start - base]
            elif type_ == REF_DELTA:
                bases.add(base)
            found = self.find(data, at, type_, size, base)
            known += found is not None
            by_offset[start], at = found or self.make(data, at, type_, size,
                                                      base)
        ids = set(by_offset.values())
        if at != end or len(ids) != nr:
            raise PackError("objects more than once, or bytes that are none")
        return ids, bases - ids, known
