# SPDX-License-Identifier: MIT
"""Servers that are measured, for the programs of this directory. Each side runs
in its own cgroup of Linux, so that the CPU time of all its processes is known:
fcgiwrap does not wait for its children."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

HOST = "127.0.0.1"
QUIET = 0.0005  # seconds of CPU in 0.1 s: a server without requests


def free_port():
    with socket.socket() as s:
        s.bind((HOST, 0))
        return s.getsockname()[1]


def cgroups():
    """(the directory where cgroups can be made, the file in a cgroup
    that has its CPU time, nanoseconds in a unit of the file)"""
    with open("/proc/mounts") as f:
        mounts = [line.split() for line in f]
    for _, path, kind, options, *_ in mounts:
        if kind == "cgroup" and "cpuacct" in options.split(","):
            return path, "cpuacct.usage", 1
    for _, path, kind, *_ in mounts:
        if kind == "cgroup2":
            return path, "cpu.stat", 1000
    sys.exit("no control groups, so the CPU of CGI programs is unknown")


class Side:
    """A server of one repository, copy.git in its root."""

    def __init__(self, name, root):
        self.name, self.root, self.children = name, root, []
        base, self.usage, self.unit_ns = cgroups()
        self.group = tempfile.mkdtemp(prefix="gitreach-perf-", dir=base)

    def start(self, *command):
        """Start a process in the side's cgroup."""
        self.children.append(subprocess.Popen(
            ["sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec "$@"',
             self.group, *command], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def pids(self):
        with open(self.group + "/cgroup.procs") as f:
            return list(map(int, f))

    def stop(self):
        # fcgiwrap does not end its children.
        while pids := self.pids():
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGTERM)
            for child in self.children:
                child.poll()
            time.sleep(0.05)
        os.rmdir(self.group)

    def cpu(self):
        """Seconds of CPU so far."""
        with open(os.path.join(self.group, self.usage)) as f:
            return int(f.read().split("user_usec")[0].split()[-1]) * \
                self.unit_ns / 1e9

    def settle(self):
        """Seconds of CPU so far, read when the side has finished all
        requests."""
        before, now = -1, self.cpu()
        while now - before > QUIET:
            time.sleep(0.1)
            before, now = now, self.cpu()
        return now
