#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Put requests to two CGI programs and compare what they answer.

	cgi-compare.py <project root> <ours> <stock>

Requests come on standard input, one a line of words quoted as in a shell:

	<expected> <method> <path> [<query>] [<variable>=<value>...] [<<body>]

<expected> is "=" for the same answer from both, a status that ours has to
give, or "=<status>" for both of this. "<variable>-" unsets a variable.

Dates are not compared, nor what differs by intent: stock Git writes the headers
of a success before those of a failure, a Content-Type for the text of a 415 is
ours, and there is no body for HEAD.
"""

import os
import shlex
import subprocess
import sys


def environment(method, path, words):
    env = dict(os.environ, GIT_PROJECT_ROOT=root, GIT_HTTP_EXPORT_ALL="1",
               GATEWAY_INTERFACE="CGI/1.1", SERVER_PROTOCOL="HTTP/1.1",
               REQUEST_METHOD=method, PATH_INFO=path, QUERY_STRING="")
    if words and not words[0].startswith("<"):
        env["QUERY_STRING"] = words[0]
        words = words[1:]
    body = os.devnull
    for word in words:
        name, _, value = word.partition("=")
        if word.startswith("<"):
            body = word[1:]
        elif name.endswith("-"):
            env.pop(name[:-1], None)
        else:
            env[name] = value
    return env, body


def run(program, env, body):
    with open(body, "rb") as f:
        done = subprocess.run([program], stdin=f, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, env=env, check=False)
    head, _, content = done.stdout.partition(b"\r\n\r\n")
    # Of lines with one name the last.
    lines = dict(line.split(": ", 1)
                 for line in head.decode().split("\r\n") if line)
    return lines, content


def comparable(lines, content, method):
    status = lines.get("Status", "200 OK")
    if "Date" in lines:
        lines.pop("Expires")
    for name in "Date", "Last-Modified":
        lines.pop(name, None)
    if status.startswith("415"):
        lines.pop("Content-Type", None)
    elif status != "200 OK":
        lines = {k: v for k, v in lines.items()
                 if k in ("Status", "Allow", "Pragma", "Cache-Control")}
    # Our capabilities are not stock Git's.
    content = [b"caps" if b"agent=" in line else line
               for line in content.split(b"\n")]
    return lines, [] if method == "HEAD" else content


root, ours, stock = sys.argv[1:]
failed = nr = 0
for request in sys.stdin:
    words = shlex.split(request)
    if not words:
        continue
    expected, method, path = words[:3]
    env, body = environment(method, path, words[3:])
    lines, content = run(ours, env, body)
    status = lines.get("Status", "200 OK")
    nr += 1
    problems = []
    if expected.lstrip("=") and not status.startswith(expected.lstrip("=")):
        problems.append(f"our status is {status}")
    if method == "HEAD" and content:
        problems.append("a body")
    if expected.startswith("="):
        a = comparable(*run(stock, env, body), method)
        b = comparable(lines, content, method)
        if a != b:
            problems.append(f"stock: {str(a)[:700]}\n\tours:  {str(b)[:700]}")
    if problems:
        failed += 1
        print(request.strip() + "\n\t" + "\n\t".join(problems))
print(f"{nr} requests, {failed} failed")
sys.exit(failed > 0 or not nr)
