# SPDX-License-Identifier: MIT
"""Clients of gitreachd that read slowly, over git:// or ssh.

    slow-talk.py <url as in talk.py> <protocol version> <id> <clients> <act>...

Each client begins a full clone of <id>, then the program prints "begun", and
acts:

    wait     begin no clone yet; wait for a line on standard input, then make
             the clones
    idle     begin no clone
    read     wait for a line on standard input, read the packs to their ends,
             and write each to a file pack.<n>
    again    list the refs over each connection
    end      end the conversations; all exit codes are 0
    fail     wait for a line on standard input; all exit codes are 128, and the
             user was told that the client is too slow
    leave    close the connections in the middle
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from talk import Talk, ls_refs  # noqa: E402


def check(is_right, what):
    if not is_right:
        sys.exit(what)


def act(clients, tip, what):
    if what == "wait":
        sys.stdin.readline()
        for client in clients:
            client.begin_clone(tip)
            client.rest_of_pack()
    elif what == "read":
        sys.stdin.readline()
        for i, client in enumerate(clients):
            with open("pack.%d" % i, "wb") as out:
                out.write(client.rest_of_pack())
    elif what == "again":
        for client in clients:
            check(b"refs/heads/main" in b"".join(client.command(ls_refs())),
                  "the next answer is wrong")
    elif what == "end":
        for client in clients:
            check(not client.process or client.blocks(),
                  "the descriptors do not block")
            code, messages = client.end()
            check(code == 0 and not messages, "%s: %s" % (code, messages))
    elif what == "fail":
        sys.stdin.readline()
        for client in clients:
            code, messages = client.leave()
            check(code == 128 and b"the client is too slow" in messages,
                  "%s: %s" % (code, messages))
    elif what == "leave":
        for client in clients:
            client.leave()


def main():
    url, version, tip, nr, *acts = sys.argv[1:]
    clients, tip = [], tip.encode()
    for _ in range(int(nr)):
        # A client of version 0 occupies a thread until its pack has begun.
        clients.append(Talk(url, int(version)))
        if acts[0] not in ("wait", "idle"):
            clients[-1].begin_clone(tip)
    for client in clients:
        check(not client.process or client.blocks(),
              "the descriptors do not block")
    print("begun", flush=True)
    for what in acts:
        act(clients, tip, what)


main()
