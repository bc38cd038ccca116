#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A web server for tests that runs one CGI program for every request.

	cgi-server.py <port file> <program> [<argument>...]

Listens on a free port of 127.0.0.1, writes its number to the port file, and
serves until it is killed. The program gets the environment of the server and
the variables of RFC 3875 that git http-backend reads.
"""

import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"

    def log_message(self, *args):
        pass

    def body(self):
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        chunks = []
        while True:
            size = int(self.rfile.readline().split(b";")[0], 16)
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
            if not size:
                return b"".join(chunks)

    def environment(self, body):
        path, _, query = self.path.partition("?")
        env = dict(os.environ, GATEWAY_INTERFACE="CGI/1.1",
                   SERVER_PROTOCOL="HTTP/1.0", REMOTE_ADDR="127.0.0.1",
                   REQUEST_METHOD=self.command, PATH_INFO=path,
                   QUERY_STRING=query, CONTENT_LENGTH=str(len(body)),
                   CONTENT_TYPE=self.headers.get("Content-Type", ""))
        for name in "Accept", "Content-Encoding", "Git-Protocol":
            if name in self.headers:
                key = "HTTP_" + name.upper().replace("-", "_")
                env[key] = self.headers[name]
        # What the web server of an operator is told to pass on.
        if "Git-Protocol" in self.headers:
            env["GIT_PROTOCOL"] = self.headers["Git-Protocol"]
        return env

    def run(self):
        body = self.body()
        done = subprocess.run(sys.argv[2:], input=body, stdout=subprocess.PIPE,
                              env=self.environment(body), check=False)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        status, headers = "200 OK", []
        for line in head.decode().split("\r\n"):
            name, _, value = line.partition(": ")
            if name.lower() == "status":
                status = value
            elif name:
                headers.append((name, value))
        code, _, reason = status.partition(" ")
        self.send_response(int(code), reason)
        for name, value in headers:
            self.send_header(name, value)
        if "content-length" not in [name.lower() for name, _ in headers]:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = run
    do_POST = run


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(sys.argv[1] + ".new", "w") as f:
    print(server.server_port, file=f)
os.rename(sys.argv[1] + ".new", sys.argv[1])
server.serve_forever()
