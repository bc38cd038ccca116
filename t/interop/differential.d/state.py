# SPDX-License-Identifier: MIT
"""What a command line left behind, in words that can be compared.

A scan is cheap: names, sizes, times and inodes. Files are read only where two
scans differ. The bytes of packs may differ between implementations, their
objects may not; so a pack is called by its objects.
"""

import hashlib
import os
import re
import stat
import struct
import subprocess
import zlib

import packids

HEX = r"(?:[0-9a-f]{64}|[0-9a-f]{40})"
LOOSE = re.compile(r"(.*/|)[0-9a-f]{2}/(?:[0-9a-f]{62}|[0-9a-f]{38})$")
FAN_OUT = re.compile(r"(.*/|)objects/[0-9a-f]{2}$")
OF_PACK = re.compile(
    r"(.*?)(" + HEX + r")\.(pack|idx|rev|bitmap|mtimes|keep|promisor|lock)$")
MIDX = re.compile(r"(.*/)multi-pack-index(?:-(" + HEX + r")\.(\w+))?$")
GRAPH = re.compile(r"(.*/)(?:commit-graph|graph-(" + HEX + r")\.graph)$")
TEMPORARY = re.compile(
    r"(tmp_[a-z]+_|incoming-|\.tmp-\d*|tmp-)[A-Za-z0-9]{6,}")


# ---- scans


def scan(root):
    """{path: (kind and mode, inode, size, time)}; a directory has a mode."""
    found, todo = {}, [""]
    while todo:
        where = todo.pop()
        with os.scandir(root + "/" + where if where else root) as entries:
            for entry in entries:
                path = where + "/" + entry.name if where else entry.name
                info = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(info.st_mode):
                    found[path] = (info.st_mode, 0, 0, 0)
                    todo.append(path)
                else:
                    found[path] = (info.st_mode, info.st_ino, info.st_size,
                                   info.st_mtime_ns)
    return found


def read(path):
    if os.path.islink(path):
        return b"-> " + os.readlink(os.fsencode(path))
    try:
        if stat.S_ISFIFO(os.stat(path).st_mode):
            return b"a pipe"  # nobody writes to it
        with open(path, "rb") as file:
            return file.read()
    except OSError as what:
        return str(what.strerror).encode()


# ---- packs and what belongs to them


def idx_ids(data):
    """The ids of an .idx file, or None."""
    if data[:8] == b"\377tOc\0\0\0\2":
        nr = struct.unpack(">I", data[8 + 255 * 4:8 + 256 * 4])[0]
        # trailer: two hashes; ids, 4 bytes CRC and 4 bytes offset each
        for size in 20, 32:
            least = 8 + 1024 + nr * (size + 8) + 2 * size
            if len(data) == least or (len(data) > least and size == 20
                                      and (len(data) - least) % 8 == 0):
                begin = 8 + 1024
                return [data[begin + i * size:begin + (i + 1) * size].hex()
                        for i in range(nr)]
        return None
    if len(data) >= 1024 + 40:
        nr = struct.unpack(">I", data[255 * 4:256 * 4])[0]
        if len(data) == 1024 + 24 * nr + 40:
            return [data[1024 + 24 * i + 4:1024 + 24 * (i + 1)].hex()
                    for i in range(nr)]
    return None


def pack_ids(data, id_len, lookup):
    """(ids, number of delta bases that are not in it) of a pack's bytes.

    lookup(id) gives (type, content) of an object outside of it, or None.
    """
    if data[:4] != b"PACK":
        raise packids.PackError("no pack")
    nr, at = struct.unpack(">I", data[8:12])[0], 12
    algo = hashlib.sha1 if id_len == 20 else hashlib.sha256
    if algo(data[:-id_len]).digest() != data[-id_len:]:
        raise packids.PackError("its trailer is wrong")
    by_off, by_id, waiting = {}, {}, []

    def take(off, type_, content):
        id_ = algo(b"%s %d\0" % (type_, len(content)) + content).digest()
        by_off[off] = by_id[id_] = (type_, content)
        return id_.hex()

    ids = []
    for _ in range(nr):
        begin = at
        type_, size, base, at = packids.read_header(data, at, id_len)
        content, at = packids.inflate(data, at, size)
        if base is None:
            ids.append(take(begin, packids.TYPES[type_], content))
        else:
            waiting.append((begin, begin - base if isinstance(base, int)
                            else base, content))
    if at != len(data) - id_len:
        raise packids.PackError("bytes behind its objects")
    outside = 0
    while waiting:
        left = []
        for off, base, delta in waiting:
            found = by_off.get(base) or by_id.get(base)
            if found:
                ids.append(take(off, found[0],
                                packids.apply_delta(found[1], delta)))
            else:
                left.append((off, base, delta))
        if len(left) == len(waiting):
            bases = {base for _, base, _ in left} - set(by_id)
            fresh = {base: lookup(base.hex()) for base in bases
                     if isinstance(base, bytes)}
            fresh = {base: found for base, found in fresh.items() if found}
            if not fresh:
                raise packids.PackError("a delta base is nowhere")
            by_id.update(fresh)
            outside += len(fresh)
        waiting = left
    return sorted(ids), outside


def label_of(ids):
    text = "\n".join(sorted(ids)).encode()
    return "%d-%s" % (len(ids), hashlib.sha1(text).hexdigest()[:8])


def chunks_of(data, at, nr):
    """[(name, begin, end)] of a table of chunks."""
    rows = []
    for i in range(nr + 1):
        name, off = struct.unpack(">4sQ", data[at + 12 * i:at + 12 * i + 12])
        rows.append((name.decode("latin1"), off))
    return [(rows[i][0], rows[i][1], rows[i + 1][1]) for i in range(nr)]


def graph_text(data):
    """A commit-graph file in words: its chunks, its commits."""
    try:
        id_len = {1: 20, 2: 32}[data[5]]
        chunks, ids = chunks_of(data, 8, data[6]), []
        for name, begin, end in chunks:
            if name == "OIDL":
                ids = [data[i:i + id_len].hex()
                       for i in range(begin, end, id_len)]
        return "chunks %s, %d below, commits\n%s" % (
            " ".join(sorted(chunk[0] for chunk in chunks)), data[7],
            "\n".join(ids))
    except (KeyError, IndexError, struct.error):
        return "damaged"


def midx_text(data, names):
    """A multi-pack-index in words: its chunks, packs, number of objects."""
    try:
        id_len = {1: 20, 2: 32}[data[5]]
        chunks, packs, nr = chunks_of(data, 12, data[6]), [], 0
        for name, begin, end in chunks:
            if name == "PNAM":
                packs = [names.text(one.decode("latin1")) for one in
                         data[begin:end].split(b"\0") if one]
            elif name == "OIDL":
                nr = (end - begin) // id_len
        return "version %d, chunks %s, %d objects, packs %s" % (
            data[4], " ".join(sorted(chunk[0] for chunk in chunks)), nr,
            " ".join(sorted(packs)))
    except (KeyError, IndexError, struct.error):
        return "damaged"


# ---- text


class Names:
    """What stands for names that may differ between two equal results."""

    def __init__(self, root, since):
        self.root, self.since, self.of = root, since, {}

    def add(self, hex_, label):
        self.of[hex_] = label

    def text(self, text):
        text = text.replace(self.root, "$ROOT")
        if self.of:
            text = re.sub(HEX, lambda found:
                          self.of.get(found[0], found[0]), text)
        return TEMPORARY.sub(r"\1XXXXXX", text)


class Lookup:
    """Objects of a repository, for deltas whose base a pack has not."""

    def __init__(self, git, env, where):
        self.git, self.env, self.where = git, env, where

    def __call__(self, id_):
        done = subprocess.run(
            [self.git, "-C", self.where, "cat-file", "--batch"],
            input=id_.encode() + b"\n", stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env=self.env, check=False)
        head, _, rest = done.stdout.partition(b"\n")
        words = head.split()
        if len(words) != 3:
            return None
        return words[1], rest[:int(words[2])]


def packet_lines(data):
    """[bytes or a number below 4], or None if these are no packet lines."""
    found, at = [], 0
    while at < len(data):
        word = data[at:at + 4]
        if not re.fullmatch(rb"[0-9a-f]{4}", word):
            # a pack may follow without side bands
            if data[at:at + 4] == b"PACK" and found:
                found.append(data[at:])
                return found
            return None
        size = int(word, 16)
        if size < 4:
            found.append(size)
            at += 4
        elif at + size > len(data):
            return None
        else:
            found.append(data[at + 4:at + size])
            at += size
    return found


def pack_text(data, lookup):
    for id_len in 20, 32:
        try:
            ids, outside = pack_ids(data, id_len, lookup)
        except (packids.PackError, zlib.error, IndexError, struct.error,
                KeyError):
            continue
        return "<a pack of %d objects%s:\n%s\n>" % (
            len(ids), ", thin" if outside else "", "\n".join(ids))
    return "<a damaged pack>"


def wire_text(data, lookup):
    """Packet lines in words, with side bands joined; None: not any."""
    packets = packet_lines(data)
    if packets is None:
        return None
    rows, bands = [], {1: b"", 2: b""}
    for packet in packets:
        if isinstance(packet, int):
            rows.append({0: "<flush>", 1: "<delimiter>",
                         2: "<response end>"}.get(packet, "<3>"))
        elif packet[:1] in b"\1\2" and packet:
            bands[packet[0]] += packet[1:]
        elif packet[:4] == b"PACK":
            rows.append(pack_text(packet, lookup))
        else:
            rows.append(packet.decode("utf-8", "surrogateescape").rstrip())
    if bands[1][:4] == b"PACK":
        rows.append(pack_text(bands[1], lookup))
    elif bands[1]:
        rows.append("band 1: " + (wire_text(bands[1], lookup)
                                  or bands[1].decode("latin1")))
    told = re.sub(rb"(Enumerating|Counting|Compressing) objects: [^\r\n]*"
                  rb"[\r\n]+|Total \d+ \([^\n]*\n", b"", bands[2])
    if told:  # other than the progress of a pack, which is each program's own
        rows.append("band 2: " + told.decode("utf-8", "replace"))
    return re.sub(r"\b(agent=|session-id=)\S+", r"\1...",
                  "\n".join(rows)) + "\n"


def bytes_text(data, lookup):
    """Any output as text: packs by their objects, packet lines by line."""
    if data[:4] == b"PACK":
        return pack_text(data, lookup)
    if data[:2] == b"# " and b"\n\nPACK" in data:
        head, _, pack = data.partition(b"\n\nPACK")
        return (head.decode("utf-8", "surrogateescape") + "\n\n"
                + pack_text(b"PACK" + pack, lookup))
    head, gap, body = data.partition(b"\r\n\r\n")
    if gap and re.fullmatch(rb"[0-9a-f]{4}|PACK", body[:4]):
        return head.decode("latin1") + "\n\n" + bytes_text(body, lookup)
    if re.match(rb"[0-9a-f]{4}", data):
        text = wire_text(data, lookup)
        if text is not None:
            return text
    return data.decode("utf-8", "surrogateescape")


def prose_left_out(text):
    """Advice and help are each program's own prose; that they are there is not.

    Of progress the last word of each line counts, without speeds.
    """
    rows, hint = [], False
    for row in text.split("\n"):
        if "\r" in row:
            parts = [part for part in row.split("\r") if part.strip()]
            row = parts[-1] if parts else ""
        row = re.sub(r"(, )?[0-9.]+ [KMG]?i?B(ytes)? \| [0-9.]+ [KMG]?i?B/s",
                     "", row)
        if row.startswith("usage: "):
            rows.append("usage: " + " ".join(row.split()[1:3]))
            break
        if row.startswith("hint:"):
            if not hint:
                rows.append("hint: ...")
            hint = True
            continue
        hint = False
        if re.match(r"Use '|'git <command>|Write '--'|"
                    r"A path that does not exist", row):
            continue
        rows.append(re.sub(
            r"^(fatal: empty string is not a valid pathspec).*", r"\1", row))
    return "\n".join(rows)


# ---- what changed


class Pack:
    """A pack in a repository. Some of its files may be missing or damaged."""

    def __init__(self, root, stem, suffixes, lookup):
        self.stem, self.suffixes, ids = stem, suffixes, None
        base = root + "/" + stem + "."
        if "idx" in suffixes:
            ids = idx_ids(read(base + "idx"))
        if ids is None and "pack" in suffixes:
            data = read(base + "pack")
            for id_len in 20, 32:
                try:
                    ids = pack_ids(data, id_len, lookup)[0]
                    break
                except (packids.PackError, zlib.error, IndexError,
                        struct.error, KeyError):
                    pass
        self.ids = ids
        self.label = "unknown" if ids is None else label_of(ids)

    def mtimes(self, root, since):
        """Their times, those of objects by id; what is new is "now"."""
        data = read(root + "/" + self.stem + ".mtimes")
        if not self.ids:
            return "times"
        times = struct.unpack(">%dI" % len(self.ids),
                              data[12:12 + 4 * len(self.ids)])
        return "times\n" + "\n".join(
            "%s %s" % (id_, "now" if when >= since else when)
            for id_, when in sorted(zip(self.ids, times)))


def packs_in(root, scanned, lookup, cache):
    """{stem: Pack}; cache: {(stem, times): Pack}"""
    stems = {}
    for path in scanned:
        found = OF_PACK.match(path)
        if found:
            stems.setdefault(found[1] + found[2], set()).add(found[3])
    result = {}
    for stem, suffixes in stems.items():
        key = (stem, tuple(sorted(
            (suffix, scanned[stem + "." + suffix][2:])
            for suffix in suffixes)))
        if key not in cache:
            cache[key] = Pack(root, stem, suffixes, lookup)
        result[stem] = cache[key]
    return result


def name_lone_pack(data, names, lookup):
    """A pack whose name is not its checksum; commands print the checksum."""
    for id_len in 20, 32:
        try:
            ids = pack_ids(data, id_len, lookup)[0]
        except (packids.PackError, zlib.error, IndexError, struct.error,
                KeyError):
            continue
        names.add(data[-id_len:].hex(), "<" + label_of(ids) + ">")


def known_names(root, scanned, names, lookup, cache):
    """Add the names of packs, multi-pack-indexes and graphs that are new."""
    packs = packs_in(root, scanned, lookup, cache)
    for stem, pack in packs.items():
        names.add(OF_PACK.match(stem + ".pack")[2], "<" + pack.label + ">")
    for path in scanned:
        if path.endswith(".pack") and not OF_PACK.match(path):
            name_lone_pack(read(root + "/" + path), names, lookup)
        found = MIDX.match(path)
        if found and found[2]:
            names.add(found[2], "<midx>")
        found = GRAPH.match(path)
        if found and found[2]:
            text = graph_text(read(root + "/" + path))
            names.add(found[2], "<graph %s>"
                      % hashlib.sha1(text.encode()).hexdigest()[:8])
    return packs


def loose_text(data):
    try:
        whole = zlib.decompress(data)
    except zlib.error:
        return "a damaged object " + hashlib.sha1(data).hexdigest()[:8]
    return "an object " + hashlib.sha1(whole).hexdigest()[:8]


def content(path, full):
    """The bytes of a file, without a trait that only gitreach writes.

    See "Files" in gitreach(7).
    """
    data = read(full)
    if path.endswith("packed-refs"):
        data = re.sub(rb" sorted(?: gitreach-peeled)? *\n", b" sorted \n",
                      data, count=1)
    return data


def file_text(path, full, names, lookup):
    """What a file that is no pack says."""
    data = content(path, full)
    if MIDX.match(path):
        return ("there" if MIDX.match(path)[2]
                and not path.endswith(".midx") else midx_text(data, names))
    if GRAPH.match(path):
        return graph_text(data)
    if path.endswith("/index") or path == "index":
        return "an index"
    if "/reftable/" in path:
        return "there"
    if data[:4] == b"RIDX":
        return "a reverse index"
    ids = idx_ids(data) if path.endswith(".idx") else None
    if ids is not None:
        return "an index of\n" + "\n".join(ids)
    text = names.text(bytes_text(data, lookup))
    return re.sub(r"^\d+ (\S+)$", r"<pid> \1", text) \
        if path.endswith("gc.pid") else text


def empty_dirs(scanned):
    full = {path.rsplit("/", 1)[0] for path in scanned if "/" in path}
    return {path for path, info in scanned.items()
            if stat.S_ISDIR(info[0]) and path not in full
            and not FAN_OUT.match(path)}


def packs_text(root, after, packs, names, before, found):
    """The packs of each directory, all of them."""
    for stem, pack in sorted(packs.items(), key=lambda item: (
            item[1].label, sorted(item[1].suffixes))):
        where = OF_PACK.match(stem + ".pack")[1]
        rows = ["files " + " ".join(sorted(pack.suffixes))]
        if "mtimes" in pack.suffixes:
            rows.append(pack.mtimes(root, names.since))
        for suffix in "keep", "promisor":
            if suffix in pack.suffixes:
                rows.append(suffix + ": " + names.text(
                    read(root + "/" + stem + "." + suffix).decode("latin1")))
        path = stem + ".pack"
        if path in after:
            rows.append("mode %o" % after[path][0])
        if path in before and path in after and (
                before[path][3] != after[path][3]):
            rows.append("freshened")
        key, nr = "pack %s %s" % (where, pack.label), 2
        while key in found:
            key, nr = "pack %s %s #%d" % (where, pack.label, nr), nr + 1
        found[key] = "\n".join(rows)


def changes(root, before, after, names, lookup, cache, original):
    """{what: words} for all that is not as it was.

    original(path) gives the bytes that a file had.
    """
    packs = known_names(root, after, names, lookup, cache)
    found, packs_differ = {}, False
    for path in before.keys() | after.keys():
        old, new = before.get(path), after.get(path)
        if old == new:
            continue
        kind = (old or new)[0]
        if stat.S_ISDIR(kind) and (not new or stat.S_ISDIR(new[0])):
            if old and new:
                found["dir " + path] = "mode %o" % new[0]
            continue
        if OF_PACK.match(path):
            packs_differ = True
            continue
        key = "file " + names.text(path)
        if not new:
            found[key] = "removed"
        elif LOOSE.match(path):
            if not old:
                found[key] = "mode %o\n%s" % (
                    new[0], loose_text(read(root + "/" + path)))
            elif old[2:] != new[2:]:
                found[key] = ("freshened" if old[2] == new[2]
                              else loose_text(read(root + "/" + path)))
        elif not (old and old[0] == new[0]
                  and original(path) == content(path, root + "/" + path)):
            text = file_text(path, root + "/" + path, names, lookup)
            mode = "" if old and old[0] == new[0] else "mode %o\n" % new[0]
            found[key] = mode + text
    for path in empty_dirs(before) ^ empty_dirs(after):
        found["empty dir " + names.text(path)] = (
            "there" if path in after else "gone or not empty")
    if packs_differ:
        packs_text(root, after, packs, names, before, found)
    return found
