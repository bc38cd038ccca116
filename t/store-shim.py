# SPDX-License-Identifier: MIT
"""A proxy between a client and an S3-compatible store that makes failures.

    store-shim.py <port of the store> [<certificate> <key>]

It listens on 127.0.0.1 and prints its port. For each request, it takes the
first line of the file "faults" in the working directory, and appends
"<method> <path> <fault> <range>" to the file "requests". The faults are:

    pass         forward the request and its answer; also if there is no line
    drop         close the connection; the store does not get the request
    lose         forward the request, and close the connection without answer
    late-500     forward the request, and answer 500
    repeat       forward the request twice, and its second answer
    delay=<s>    wait so many seconds, then forward the request
    cut=<n>      forward the answer, but only <n> bytes of its body
    slow         answer 503 SlowDown; the store does not get the request
    kill         kill -9 the process whose id is in the file "victim"; the store
                 does not get the request
    late-kill    forward the request, then kill as above, and send no answer
    conflict     answer 409 ConditionalRequestConflict, as above
    <status>     answer with this status, as above

If "faults" has no line and there is a file "random" with a number of percent, so
many requests get a random fault of "drop" to "conflict" and 500. Two more numbers in
this file, milliseconds, delay all other requests by a random time between them.

If there is a file "hang", a request whose "<method> <path>" starts with the content of
this file has no answer: the shim waits until the client closes the connection. If there
is a file "careless", conditions of requests are not forwarded. If there is
a file "full", the store has no room: each PUT or POST is answered with status 507.
"""

import http.client
import http.server
import os
import random
import signal
import ssl
import sys
import threading
import time

FAULTS = threading.Lock()
CODES = {"slow": (503, "SlowDown"),
         "no-room": (507, "XMinioStorageFull"),
         "conflict": (409, "ConditionalRequestConflict")}


RANDOM = ("drop", "lose", "late-500", "repeat", "delay=0.05", "delay=0.2",
          "cut=10", "slow", "conflict", "500")


def random_fault():
    """The fault of a request for which the test has planned none."""
    try:
        with open("random") as f:
            percent, *delays = map(float, f.read().split())
    except FileNotFoundError:
        return "pass"
    if random.random() * 100 < percent:
        return random.choice(RANDOM)
    return "delay=%.3f" % (random.uniform(*delays) / 1000) if delays else "pass"


def next_fault(request, requested_range):
    """Take the next fault, and note the request."""
    with FAULTS:
        with open("faults") as f:
            faults = f.read().split()
        fault = faults[0] if faults else random_fault()
        if faults:
            with open("faults", "w") as f:
                f.write("\n".join(faults[1:]) + "\n")
        with open("requests", "a") as f:
            f.write(" ".join((request, fault, requested_range)) + "\n")
    return fault


def hangs(request):
    """Whether the test wants no answer to this request."""
    try:
        with open("hang") as f:
            return request.startswith(f.read().strip())
    except FileNotFoundError:
        return False


def kill_victim():
    """Kill the process that the test has named."""
    with open("victim") as f:
        os.kill(int(f.read()), signal.SIGKILL)


class Shim(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def forward(self, body):
        """Send the request to the store. Returns status, headers and body."""
        store = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
        store.putrequest(self.command, self.path, skip_host=True,
                         skip_accept_encoding=True)
        for name, value in self.headers.items():
            if not (os.path.exists("careless") and name.lower().startswith("if-")):
                store.putheader(name, value)
        store.endheaders(body)
        answer = store.getresponse()
        got = answer.status, answer.getheaders(), answer.read()
        store.close()
        return got

    def answer(self, status, headers, body, cut=None):
        """Send an answer; `cut` is how many bytes of the body are sent."""
        self.send_response_only(status)
        names = [name.lower() for name, _ in headers]
        for name, value in headers:
            if name.lower() not in ("transfer-encoding", "connection"):
                self.send_header(name, value)
        if "content-length" not in names and status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body if cut is None else body[:cut])
        if cut is not None:
            self.close_connection = True

    def handle_request(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        fault = next_fault(self.command + " " + self.path,
                           self.headers.get("Range", "-"))
        if hangs(self.command + " " + self.path):
            self.close_connection = True
            self.rfile.read(1)
            return
        if os.path.exists("full") and self.command in ("PUT", "POST"):
            fault = "no-room"
        if fault in CODES or fault.isdigit():
            status, code = CODES.get(fault) or (int(fault), "Planned")
            text = "<Error><Code>%s</Code></Error>" % code
            self.answer(status, [], text.encode())
            return
        if fault.startswith("delay="):
            time.sleep(float(fault[6:]))
        if fault in ("drop", "kill"):
            self.close_connection = True
            if fault == "kill":
                kill_victim()
            return
        if fault == "repeat":
            self.forward(body)
        status, headers, answer = self.forward(body)
        if fault == "late-kill":
            kill_victim()
        if fault in ("lose", "late-kill"):
            self.close_connection = True
        elif fault == "late-500":
            self.answer(500, [], b"")
        elif fault.startswith("cut="):
            self.answer(status, headers, answer, int(fault[4:]))
        else:
            self.answer(status, headers, answer)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_request


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 64

    def handle_error(self, request, client_address):
        """A client that has lost its patience is part of the tests."""


def main():
    server = Server(("127.0.0.1", 0), Shim)
    if len(sys.argv) > 2:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2], sys.argv[3])
        server.socket = context.wrap_socket(server.socket, server_side=True)
    print(server.server_address[1], flush=True)
    server.serve_forever()


main()
