#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares how nginx and t/helper/http1-read read forms of HTTP/1.1.

	http1-compare.py <http1-read> <directory of forms> <port of nginx>

nginx answers 200 to each request. Prints the forms in which both programs find
another number of requests, and then exits with 1.
"""

import os, socket, subprocess, sys

read, forms, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
bad = 0
for name in sorted(os.listdir(forms)):
    with open(os.path.join(forms, name), "rb") as f:
        data = f.read()
    ours = subprocess.run([read], input=data, stdout=subprocess.PIPE,
                          check=True).stdout.decode().split("\n")[:-1]
    s = socket.create_connection(("127.0.0.1", port))
    s.settimeout(10)
    answer = b""
    try:
        s.sendall(data)
        s.shutdown(socket.SHUT_WR)
        while True:
            got = s.recv(65536)
            if not got:
                break
            answer += got
    except ConnectionError:
        pass
    s.close()
    theirs = answer.count(b"HTTP/1.1 200")
    accepted = len(ours) - 1
    if theirs < accepted or (ours[-1] == "end" and theirs != accepted):
        print(name, ours, theirs, answer[:80])
        bad = 1
sys.exit(bad)
