# SPDX-License-Identifier: MIT
"""Clients of gitreachd that read slowly.

    slow.py <url of a repository> <id> <clients> <act>...

Each client asks for a full clone of <id> over a connection of its own, and
reads the head of the answer. Then the program prints "begun", and acts:

    read     wait for a line on standard input, read the answers to their ends,
             and write each pack to a file pack.<n>
    again    list the refs over the first connection; the answer must be right
    trickle  read 80 KiB each half second, 6 times
    hold     wait for a line on standard input
    leave    close the connections
"""

import http.client
import os
import socket
import sys
import time
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "perf"))
from protocol import fetch, ls_refs  # noqa: E402

HEADERS = {"Git-Protocol": "version=2",
           "Content-Type": "application/x-git-upload-pack-request"}


class Client:
    def __init__(self, url, tip):
        at = urllib.parse.urlsplit(url)
        self.path = at.path + "/git-upload-pack"
        self.connection = http.client.HTTPConnection(at.hostname, at.port)
        self.connection.sock = socket.socket()
        self.connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF,
                                        65536)
        self.connection.sock.connect((at.hostname, at.port))
        self.answer, self.got = self.post(fetch([tip])), b""

    def post(self, body):
        self.connection.request("POST", self.path, body, HEADERS)
        answer = self.connection.getresponse()
        if answer.status != 200:
            sys.exit("status %d" % answer.status)
        return answer

    def save(self, name):
        """Read the answer to its end, and write the pack."""
        body, at = self.got + self.answer.read(), 0
        with open(name, "wb") as out:
            while at < len(body):
                length = int(body[at:at + 4], 16)
                if length > 4 and body[at + 4] == 1:
                    out.write(body[at + 5:at + length])
                at += max(length, 4)
            if at != len(body) or body[-4:] != b"0000":
                sys.exit("the answer is cut off")


def act(clients, what):
    if what == "read":
        sys.stdin.readline()
        for i, client in enumerate(clients):
            client.save("pack.%d" % i)
    elif what == "again":
        if b"refs/heads/main" not in clients[0].post(ls_refs()).read():
            sys.exit("the next answer is wrong")
    elif what == "trickle":
        for _ in range(6):
            time.sleep(0.5)
            for client in clients:
                client.got += client.answer.read(81920)
    elif what == "hold":
        sys.stdin.readline()


def main():
    url, tip, nr = sys.argv[1:4]
    clients = [Client(url, tip.encode()) for _ in range(int(nr))]
    print("begun", flush=True)
    for what in sys.argv[4:]:
        act(clients, what)


main()
