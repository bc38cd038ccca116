# SPDX-License-Identifier: MIT
"""A client of gitreachd in Git's own protocol, over git:// or ssh."""

import fcntl
import os
import socket
import subprocess
import sys
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "perf"))
from protocol import command, fetch, ls_refs, pkt  # noqa: E402


class Talk:
    """A connection to <url> of the protocol version 0 or 2: git://..., or
    ssh://<socket file>?<path>, for which the forced command runs as sshd runs
    it. The program is GITREACHD. The client has read the capabilities, or the
    refs."""

    def __init__(self, url, version=2):
        self.version, self.process = version, None
        if url.startswith("git:"):
            self.connect(urllib.parse.urlsplit(url))
        else:
            self.start(*url[len("ssh://"):].split("?"))
        self.hello = self.packets()

    def connect(self, at):
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        self.socket.connect((at.hostname, at.port))
        self.input = self.socket.fileno()
        self.output = self.socket.fileno()
        line = b"git-upload-pack %s\0host=x\0" % at.path.encode()
        if self.version:
            line += b"\0version=%d\0" % self.version
        self.send(b"%04x" % (len(line) + 4) + line)

    def start(self, socket_file, path):
        read_end, self.output = os.pipe()
        self.input, write_end = os.pipe()
        env = dict(os.environ, SSH_ORIGINAL_COMMAND="git-upload-pack '%s'"
                   % path, GIT_PROTOCOL="version=%d" % self.version)
        self.process = subprocess.Popen(
            [os.environ["GITREACHD"], "--ssh-client=" + socket_file],
            stdin=read_end, stdout=write_end, stderr=subprocess.PIPE, env=env)
        # Only to look at the mode of the descriptors.
        self.theirs = read_end, write_end

    def blocks(self):
        """Returns whether the descriptors of the forced command block."""
        return not any(fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_NONBLOCK
                       for fd in self.theirs)

    def send(self, data):
        while data:
            data = data[os.write(self.output, data):]

    def read(self, length):
        got = b""
        while len(got) < length:
            piece = os.read(self.input, length - len(got))
            if not piece:
                raise EOFError
            got += piece
        return got

    def packet(self):
        """The data of a packet; None: a flush packet."""
        length = int(self.read(4), 16)
        if length == 0:
            return None
        return self.read(length - 4) if length > 4 else b""

    def packets(self):
        """All packets up to a flush packet."""
        found = []
        while (data := self.packet()) is not None:
            found.append(data)
        return found

    def command(self, request):
        self.send(request)
        return self.packets()

    def begin_clone(self, tip):
        """Asks for a clone of <tip>, and reads until the pack has begun."""
        if self.version == 2:
            self.send(fetch([tip]))
        else:
            self.send(pkt(b"want %s side-band-64k ofs-delta" % tip) + b"0000" +
                      pkt(b"done"))
        self.pack = b""
        while not self.pack:
            self.take_band(self.packet())

    def take_band(self, data):
        if data[:1] == b"\1":
            self.pack += data[1:]

    def rest_of_pack(self):
        for data in self.packets():
            self.take_band(data)
        return self.pack

    def end(self):
        """Ends the conversation. Returns (exit code, messages) with ssh."""
        if self.version == 2:
            self.send(b"0000")
        return self.leave()

    def leave(self):
        if not self.process:
            self.socket.close()
            return 0, b""
        for fd in (*self.theirs, self.input, self.output):
            os.close(fd)
        messages = self.process.stderr.read()
        return self.process.wait(), messages
