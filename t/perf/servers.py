# SPDX-License-Identifier: MIT
"""A server of either side, and what it costs, for the programs of this
directory."""

import contextlib
import os
import shlex
import socket
import subprocess
import sys
import time

from sides import HOST, free_port

TICKS = os.sysconf("SC_CLK_TCK")


def tell(command):
    print("  $ " + shlex.join(command), file=sys.stderr, flush=True)


class Server:
    """gitreachd over http://, or `git daemon` over git://, with all repositories
    below a directory."""

    def __init__(self, program, root, env=None):
        self.port = free_port()
        self.http = os.path.basename(program) == "gitreachd"
        if self.http:
            self.url = "http://%s:%d" % (HOST, self.port)
            command = [program, "--base-path=" + root, "--export-all",
                       "--listen=" + self.url]
        else:
            self.url = "git://%s:%d" % (HOST, self.port)
            command = [program, "daemon", "--base-path=" + root,
                       "--export-all", "--listen=" + HOST,
                       "--port=%d" % self.port, "--reuseaddr",
                       "--max-connections=0"]
        tell(command)
        self.child = subprocess.Popen(command, stderr=subprocess.DEVNULL,
                                      env=env)
        for _ in range(200):
            with contextlib.suppress(OSError):
                return socket.create_connection((HOST, self.port)).close()
            if self.child.poll() is not None:
                break
            time.sleep(0.02)
        sys.exit("the server does not listen")

    def stop(self):
        self.child.terminate()
        self.child.wait()

    def cpu(self):
        """(seconds of CPU so far, number of processes)"""
        ticks = processes = 0
        for pid in tree(self.child.pid):
            with contextlib.suppress(OSError):
                with open("/proc/%d/stat" % pid) as f:
                    fields = f.read().rpartition(")")[2].split()
                # utime and stime, of the process and of ended children
                ticks += sum(map(int, fields[11:15]))
                processes += 1
        return ticks / TICKS, processes

    def settle(self):
        """Seconds of CPU so far, read when no request runs."""
        before, now = None, self.cpu()
        while before != now:
            time.sleep(0.15)
            before, now = now, self.cpu()
        return now[0]


def tree(pid):
    """The process and its descendants."""
    yield pid
    with contextlib.suppress(OSError):
        for task in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/children" % (pid, task)) as f:
                for child in f.read().split():
                    yield from tree(int(child))
