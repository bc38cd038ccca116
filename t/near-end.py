# SPDX-License-Identifier: MIT
"""Clients of gitreachd that stop shortly before the end of an answer.

    near-end.py <git:// url> <id> <seconds>

Each client sends a fetch of <id> and the beginning of a next command. It reads
until some 300,000 to 380,000 bytes of the answer are left, more than its socket
holds. After <seconds>, when the time limit of the server is over, it reads the
rest. The clients that were not cut off end the next command, and get an empty
answer.
"""

import os
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from talk import Talk, fetch  # noqa: E402

BEGINNING, END = b"0014command=ls-refs\n", b"0001001dref-prefix refs/nothing/0000"


def read(client, nr):
    """Reads `nr` bytes, or up to the end. Returns the number of bytes."""
    got = 0
    while got < nr:
        piece = client.socket.recv(min(16384, nr - got))
        if not piece:
            break
        got += len(piece)
    return got


def main():
    url, tip, seconds = sys.argv[1], sys.argv[2].encode(), float(sys.argv[3])
    client = Talk(url)
    client.send(fetch([tip]) + b"0000")
    length = read(client, 1 << 40)
    clients = {left: Talk(url) for left in range(300000, 380000, 2000)}
    for client in clients.values():
        client.send(fetch([tip]) + BEGINNING)
    threads = [threading.Thread(target=read, args=(client, length - left))
               for left, client in clients.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    time.sleep(seconds)
    for left, client in clients.items():
        try:
            if read(client, left) < left:
                continue
            client.send(END)
            if client.socket.recv(16) not in (b"0000", b""):
                sys.exit("the next answer is wrong")
        except (ConnectionError, socket.timeout):
            pass
        client.socket.close()


main()
