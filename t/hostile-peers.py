#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Peers that a server must survive.

	hostile-peers.py <repository> <scenario> <server> [<argument>...]

Starts the server as a child, plays the scenario against it, and prints

	exit=<code> peak=<MiB>

and the last "ERR" line of the answer, if any. A server that has not ended
after two minutes is killed, and is "stuck".
"""

import os
import signal
import subprocess
import sys
import threading
import time

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


ZERO = 40 * "0"


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


main()
