#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Peers that a server must survive.

	hostile-peers.py <repository> <scenario> <server> [<argument>...]

Starts the server as a child, plays the scenario against it, and prints

	exit=<code> peak=<MiB>

and the last "ERR" line of the answer, if any. A server that has not ended
after two minutes is killed, and is "stuck".
"""

import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
import zlib

DEADLINE = 120
LINES = 100000


def pkt(text):
    data = text.encode()
    return b"%04x%s" % (len(data) + 4, data)


def many(line, nr=LINES):
    """The same line, again and again."""
    piece = pkt(line) * 1000
    for _ in range(nr // 1000):
        yield piece


def many_ids(word, nr=LINES):
    """Lines with ids that nobody has."""
    for at in range(0, nr, 1000):
        yield b"".join(pkt(f"{word} {at + i + 1:040x}\n")
                       for i in range(1000))


FLUSH, DELIM = b"0000", b"0001"


def fetch(*parts):
    yield pkt("command=fetch") + DELIM
    for part in parts:
        yield from [part] if isinstance(part, bytes) else part
    yield FLUSH


def endless_wants(tip):
    return fetch(many(f"want {tip}\n", 1000000), pkt("done"))


def unknown_wants(tip):
    return fetch(many_ids("want"), pkt("done"))


def unknown_haves(tip):
    return fetch(pkt(f"want {tip}"), many_ids("have", 1000000),
                 pkt("done"))


def unknown_shallow(tip):
    return fetch(pkt(f"want {tip}"), many_ids("shallow"), pkt("done"))


def endless_options(tip):
    yield pkt("command=ls-refs")
    yield from many("server-option=" + 100 * "x")
    yield DELIM + FLUSH


def endless_prefixes(tip):
    yield pkt("command=ls-refs") + DELIM
    yield from many("ref-prefix refs/heads/" + 100 * "x")
    yield FLUSH


def endless_sizes(tip):
    yield pkt("command=object-info") + DELIM + pkt("size")
    yield from many(f"oid {tip}")
    yield FLUSH


def no_end(tip):
    yield pkt("command=fetch") + DELIM
    yield from many(f"want {tip}\n")


def v0_wants(tip):
    yield from many(f"want {tip}\n")
    yield FLUSH + pkt("done")


def v0_haves(tip):
    yield pkt(f"want {tip} multi_ack_detailed side-band-64k") + FLUSH
    for piece in many_ids("have"):
        yield piece + FLUSH
    yield pkt("done")


def v0_flushes(tip):
    yield pkt(f"want {tip} multi_ack_detailed side-band-64k") + FLUSH
    for _ in range(1000):
        yield FLUSH * 1000
    yield pkt("done")


def largest(tip):
    """As long as a packet can be, and no sense in it."""
    yield pkt("command=fetch") + DELIM + pkt(65516 * "x") + FLUSH


def too_large(tip):
    yield pkt("command=fetch") + DELIM + b"fff1" + 65517 * b"x" + FLUSH


def no_length(tip):
    yield b"-001" + 100 * b"x"


def length_of_3(tip):
    yield b"0003"


def deepen_nots(tip):
    return fetch(pkt(f"want {tip}"), many("deepen-not refs/heads/main"),
                 pkt("done"))


def nested_filters(tip):
    """A filter in a filter, percent-encoded as often."""
    spec = "blob:none"
    while len(spec) < 60000:
        spec = "combine:" + spec.replace("%", "%25").replace("+", "%2b")
        spec += "+tree:1"
    return fetch(pkt(f"want {tip}"), pkt(f"filter {spec[:65000]}"),
                 pkt("done"))


def deep_filters(tip):
    return fetch(pkt(f"want {tip}"),
                 pkt("filter " + 8000 * "combine:" + "blob:none"),
                 pkt("done"))


def wide_filters(tip):
    spec = "+".join(f"tree:{1 + i % 9}" for i in range(9000))
    return fetch(pkt(f"want {tip}"), pkt(f"filter combine:{spec}"),
                 pkt("done"))


def sparse_of(tip, name):
    return fetch(pkt(f"want {tip}"), pkt(f"filter sparse:oid={name}"),
                 pkt("done"))


def open_braces(tip):
    """A name in which any of many braces may begin a selector."""
    return sparse_of(tip, 32000 * "@{" + "}")


def long_dates(tip):
    """A long date, which may be read once for each suffix."""
    return sparse_of(tip, "main@{" + 10000 * "1 day " + "}" + 100 * "^{tag}")


def short_id(tip):
    """The first digits of very many ids."""
    return sparse_of(tip, "abcd")


def repeated_filters(tip):
    return fetch(pkt(f"want {tip}"), many("filter blob:none"), pkt("done"))


def long_prefixes(tip):
    """A gigabyte of names."""
    yield pkt("command=ls-refs") + DELIM
    for i in range(16000):
        yield pkt(f"ref-prefix refs/{i:05}" + 65000 * "x")
    yield FLUSH


def many_prefixes(tip):
    """Prefixes that no other one contains."""
    yield pkt("command=ls-refs") + DELIM
    for i in range(0, 200000, 1000):
        yield b"".join(pkt(f"ref-prefix refs/heads/{j:07}")
                       for j in range(i, i + 1000))
    yield FLUSH


def many_sizes(tip):
    yield pkt("command=object-info") + DELIM + pkt("size")
    yield from many_ids("oid", 300000)
    yield FLUSH


def too_many_sizes(tip):
    yield pkt("command=object-info") + DELIM + pkt("size")
    yield from many_ids("oid", 1100000)
    yield FLUSH


def many_commands(tip):
    for _ in range(2000):
        yield pkt("command=ls-refs") + DELIM + FLUSH


def empty_lines(tip):
    yield pkt("command=fetch") + DELIM + 1000000 * b"0004" + FLUSH


def empty_keys(tip):
    yield pkt("command=fetch") + 1000000 * b"0004" + FLUSH


def delims(tip):
    yield pkt("command=fetch") + 1000 * DELIM + FLUSH


def nul_in_line(tip):
    yield pkt("command=fetch") + DELIM + pkt(f"want {tip}\0{tip}\n")
    yield pkt("done") + FLUSH


def uppercase_length(tip):
    yield b"001Ccommand=ls-refs\n"


def endless_agents(tip):
    yield pkt("command=ls-refs")
    for _ in range(10000):
        yield pkt("agent=" + 60000 * "x")
    yield DELIM + FLUSH


def endless_uris(tip):
    return fetch(pkt(f"want {tip}"),
                 pkt("packfile-uris " + 65000 * ","), pkt("done"))


def want_refs(tip):
    return fetch(many("want-ref refs/heads/main"), pkt("done"))


def garbage(tip):
    yield from (bytes(range(256)) * 256 for _ in range(1000))


def slow_start(tip):
    """A byte now and then, and no end."""
    for byte in pkt("command=ls-refs"):
        yield bytes([byte])
        time.sleep(0.02)


def v0_junk_capabilities(tip):
    yield pkt(f"want {tip} " + " ".join(["x"] * 30000)) + FLUSH + pkt("done")


def v0_filters(tip):
    yield pkt(f"want {tip} filter") + pkt("filter blob:none")
    yield pkt("filter blob:none") + FLUSH + pkt("done")


def v0_depths(tip):
    yield pkt(f"want {tip}") + pkt("deepen 1")
    yield from many(f"shallow {tip}")
    yield from many("deepen 99999")
    yield FLUSH + pkt("done")


ZERO = 40 * "0"
ABSENT = 20 * "12"


def push(tip, *parts):
    yield pkt(f"{ZERO} {tip} refs/heads/new\0report-status push-options")
    for part in parts:
        yield from [part] if isinstance(part, bytes) else part


def half_command(tip):
    yield pkt(f"{ZERO} {tip} refs/heads/new\0report-status")[:-5]


def endless_commands(tip):
    yield from push(tip, (pkt(f"{ZERO} {tip} refs/heads/x{i}")
                          for i in range(LINES)), FLUSH, FLUSH)


def endless_push_options(tip):
    yield from push(tip, FLUSH, many("option"), FLUSH)


def endless_cuts(tip):
    yield from many(f"shallow {tip}")
    yield from push(tip, FLUSH, FLUSH)


def huge_pack(tip):
    """It says to have four billion objects, and has none."""
    yield from push(tip, FLUSH, FLUSH, b"PACK\0\0\0\2\xff\xff\xff\xff")


def huge_object(tip):
    """One object of 2^60 bytes, of which a few come."""
    head = bytes([0xb0]) + 7 * b"\x80" + b"\x40"
    yield from push(tip, FLUSH, FLUSH, b"PACK\0\0\0\2\0\0\0\1" + head
                    + b"\x78\x9c" + 100 * b"x")


def garbage_pack(tip):
    yield from push(tip, FLUSH, FLUSH, 100000 * b"PACK")


def long_names(tip):
    yield from push(tip, (pkt(f"{ZERO} {tip} refs/heads/{i:05}" + 60000 * "x")
                          for i in range(200)), FLUSH, FLUSH)


def nested_names(tip):
    """Each a directory of the next."""
    yield from push(tip, (pkt(f"{ZERO} {tip} refs/heads" + i * "/a")
                          for i in range(1, 2000)), FLUSH, FLUSH)


def deletions(tip):
    yield from push(tip, (pkt(f"{tip} {ZERO} refs/heads/x{i}")
                          for i in range(LINES)), FLUSH, FLUSH)


def same_ref(tip):
    yield from push(tip, many(f"{ZERO} {tip} refs/heads/new"), FLUSH, FLUSH)


def endless_certificate(tip):
    yield pkt("push-cert\0report-status")
    yield from many("certificate version 0.1\n", 1000000)
    yield FLUSH


def certificate_of_nothing(tip):
    yield pkt("push-cert\0report-status") + pkt("push-cert-end\n") + FLUSH


def vast_certificate(tip):
    """A gigabyte before the signature."""
    yield pkt("push-cert\0report-status")
    for _ in range(16000):
        yield pkt(65000 * "x" + "\n")
    yield pkt("push-cert-end\n") + FLUSH


def pack(objects):
    """A pack of (type, size, deflated) and its trailer."""
    data = b"PACK\0\0\0\2" + len(objects).to_bytes(4, "big")
    for kind, size, body in objects:
        byte, size = kind << 4 | size & 15, size >> 4
        while size:
            data += bytes([byte | 0x80])
            byte, size = size & 0x7f, size >> 7
        data += bytes([byte]) + body
    return data + hashlib.sha1(data).digest()


def zeros(size):
    z = zlib.compressobj(9)
    out = [z.compress(bytes(1 << 20)) for _ in range(size >> 20)]
    return b"".join(out) + z.flush()


def inflating_blob(tip):
    """128 MiB of zeros, packed a thousandfold."""
    yield from push(ABSENT, FLUSH, FLUSH,
                    pack([(3, 1 << 27, zeros(1 << 27))]))


def inflating_commit(tip):
    yield from push(ABSENT, FLUSH, FLUSH,
                    pack([(1, 1 << 24, zeros(1 << 24))]))


def inflating_tree(tip):
    yield from push(ABSENT, FLUSH, FLUSH,
                    pack([(2, 1 << 24, zeros(1 << 24))]))


def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def inflating_delta(tip):
    """It copies a base of 64 KiB 256 times."""
    base = bytes(range(256)) * 256
    name = hashlib.sha1(b"blob 65536\0" + base).digest()
    delta = varint(65536) + varint(65536 * 256) + 256 * b"\x80"
    yield from push(ABSENT, FLUSH, FLUSH, pack(
        [(3, 65536, zlib.compress(base)),
         (7, len(delta), name + zlib.compress(delta))]))


def delta_circle(tip):
    """Two deltas, each of which claims to be the other's base."""
    delta = varint(10) + varint(10) + b"\x90\x0a"
    yield from push(tip, FLUSH, FLUSH, pack(
        [(7, len(delta), bytes([i] * 20) + zlib.compress(delta))
         for i in (1, 2)]))


def long_chain(tip):
    """20,000 blobs, each a delta against the one before, in one tree."""
    def id_of(kind, text):
        return hashlib.sha1(b"%s %d\0%s" % (kind, len(text), text)).digest()

    texts = [b"%08d" % i for i in range(20000)]
    ids = [id_of(b"blob", text) for text in texts]
    deltas = (b"\x08\x08\x08" + text for text in texts[1:])
    tree = b"".join(b"100644 %s\0%s" % row for row in zip(texts, ids))
    commit = (b"tree %s\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\n"
              % id_of(b"tree", tree).hex().encode())
    name = id_of(b"commit", commit).hex()
    yield pkt(f"{ZERO} {name} refs/heads/chain\0report-status") + FLUSH
    yield pack([(3, 8, zlib.compress(texts[0])),
                *((7, len(delta), base + zlib.compress(delta))
                  for base, delta in zip(ids, deltas)),
                (2, len(tree), zlib.compress(tree)),
                (1, len(commit), zlib.compress(commit))])


def feed(child, parts):
    try:
        for part in parts:
            child.stdin.write(part)
        child.stdin.close()
    except (BrokenPipeError, ConnectionResetError):
        pass


def vanish(child, tip):
    """Ask for what no pipe holds, hear the beginning, and go."""
    large = subprocess.run(["git", "-C", child.args[-1], "rev-parse",
                            "refs/tags/large"], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.strip()
    for part in fetch(pkt(f"want {large}"), pkt("done")):
        child.stdin.write(part)
    child.stdin.flush()
    os.read(child.stdout.fileno(), 100)
    child.stdout.close()
    child.stdin.close()
    return b""


def play(child, scenario, tip):
    if scenario == "vanish":
        return vanish(child, tip)
    feeder = threading.Thread(target=feed,
                              args=(child, globals()[scenario](tip)))
    feeder.start()
    said = b""
    while True:
        piece = child.stdout.read1(65536)
        if not piece:
            break
        said = (said + piece)[-65536:]
    child.stdout.close()
    feeder.join()
    return said


def watch(child, is_done):
    """Ends one that is still there when its time is over."""
    end = time.monotonic() + DEADLINE
    while not is_done.wait(0.1):
        if time.monotonic() > end:
            child.send_signal(signal.SIGKILL)


def main():
    repository, scenario, *server = sys.argv[1:]
    tip = subprocess.run(["git", "-C", repository, "rev-parse", "main"],
                         check=True, stdout=subprocess.PIPE,
                         text=True).stdout.strip()
    child = subprocess.Popen(server + [repository], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL)
    is_done = threading.Event()
    threading.Thread(target=watch, args=(child, is_done),
                     daemon=True).start()
    said = play(child, scenario, tip)
    _, status, usage = os.wait4(child.pid, 0)
    is_done.set()
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        print("stuck")
        return
    print(f"exit={os.waitstatus_to_exitcode(status)} "
          f"peak={usage.ru_maxrss // 1024}")
    at = said.rfind(b"ERR ")
    if at >= 0:
        print(said[at:at + 80].split(b"\n")[0].decode(errors="replace"))


if __name__ == "__main__":
    main()
