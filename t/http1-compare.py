#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares how nginx and t/helper/http1-read read forms of HTTP/1.1.

	http1-compare.py <http1-read> <directory of forms> <port of nginx>
		[<number> <seed>]

nginx answers 200 to each request, with the target as the body. Prints the forms in
which both programs find other requests, and then exits with 1. With <number>, so
many random changes of the forms are compared instead. There, nginx may refuse what
ours accepts, because nginx refuses some methods and targets.
"""

import os, random, re, socket, subprocess, sys

WORDS = (
    b"\r\n", b"\n", b"\r", b" ", b"\t", b"\0", b"\x0b", b"\x80", b":", b",", b";",
    b"0", b"5", b"+", b"0x", b"00000000", b"ffffffffffffffff", b"\r\n\r\n", b"\n\n",
    b"Content-Length: 5\r\n", b"Content-Length: 0\r\n", b"Content_Length: 5\r\n",
    b"Content-Length:5\r\n", b"Content-Length: 05\r\n", b"content-length: 5\r\n",
    b"Transfer-Encoding: chunked\r\n", b"Transfer_Encoding: chunked\r\n",
    b"Transfer-Encoding:chunked\r\n", b"Transfer-Encoding: identity\r\n",
    b"Transfer-Encoding: chunked \r\n", b"Transfer-Encoding:\r\n chunked\r\n",
    b"Connection: close\r\n", b"Connection: Content-Length\r\n",
    b"Connection: keep-alive\r\n", b"Upgrade: h2c\r\n", b"TE: trailers\r\n",
    b"Expect: 100-continue\r\n", b"HTTP/1.0", b"HTTP/1.1", b"0\r\n\r\n", b"5;x\r\n",
    b"GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n",
)


def ours(read, data):
    """The targets of the requests, and how the stream ends."""
    lines = subprocess.run([read], input=data, stdout=subprocess.PIPE,
                           check=True).stdout.split(b"\n")[:-1]
    # nginx names only the path of a URL.
    return [re.sub(rb"(?i)^http://[^/]*", b"", line.rsplit(b" ", 1)[0])
            for line in lines[:-1]], lines[-1].decode()


def theirs(port, data):
    """The targets of the requests, and the last status."""
    s = socket.create_connection(("127.0.0.1", port))
    s.settimeout(60)
    answer = b""
    try:
        s.sendall(data)
        s.shutdown(socket.SHUT_WR)
        while got := s.recv(65536):
            answer += got
    except ConnectionError:
        pass
    s.close()
    targets = re.findall(rb"HTTP/1\.1 200 .*?\r\n\r\n<([^>]*)>", answer, re.S)
    status = re.findall(rb"HTTP/1\.1 (\d+) ", answer)
    return targets, int(status[-1]) if status else 0


def differs(our, their, end, status, may_refuse):
    """Whether the same bytes are other requests for both."""
    nr = min(len(our), len(their))
    if our[:nr] != their[:nr]:
        return True
    if len(their) < len(our):
        return not may_refuse or status < 400
    # nginx answers before the body is complete.
    return len(their) > len(our) + {"end": 0, "more": 1}.get(end, len(their))


def change(data, draw):
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(len(data) + 1)
        if draw.randrange(2):
            # Most confusions begin at the start of a line.
            starts = [m.end() for m in re.finditer(rb"\n", data)] or [0]
            at = draw.choice(starts)
        cut = draw.choice((0, 0, 0, 1, 2))
        data = data[:at] + draw.choice(WORDS) + data[at + cut:]
    return data


def main():
    read, directory, port, *more = sys.argv[1:]
    forms = {}
    for name in sorted(os.listdir(directory)):
        with open(os.path.join(directory, name), "rb") as f:
            forms[name] = f.read()
    if more:
        draw = random.Random(int(more[1]))
        # Long forms are only slow. Half of the changes are of valid forms.
        short = [name for name in forms if len(forms[name]) < 2000]
        valid = [name for name in short if name.startswith("ok-")]
        names = (draw.choice(draw.choice((short, valid)))
                 for _ in range(int(more[0])))
        streams = ((name, change(forms[name], draw)) for name in names)
    else:
        streams = forms.items()
    bad, accepted = 0, 0
    for name, data in streams:
        our, end = ours(read, data)
        their, status = theirs(int(port), data)
        accepted += len(our) > 0 and end == "end"
        if differs(our, their, end, status, bool(more)):
            print(name, data, our, end, their, status)
            bad = 1
    print("streams that ours accepts: %d" % accepted)
    sys.exit(bad)


main()
