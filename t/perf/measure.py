# SPDX-License-Identifier: MIT
"""Starts commands and measures them, for the programs of this directory."""

import contextlib
import os
import shlex
import subprocess
import sys
import tempfile
import time


class Cost:
    """Seconds of wall clock and of CPU (user and system, of the command and of
    its children) and the largest resident set of any of them, in bytes. The
    kernel counts the program that started the command as well: a command that
    needs less than this process, some 15 MB, seems to need as much."""

    def __init__(self, wall, usage):
        self.wall = wall
        self.cpu = usage.ru_utime + usage.ru_stime
        self.rss = usage.ru_maxrss * 1024


def temporary(content):
    """A temporary file with this content, positioned at its start."""
    f = tempfile.TemporaryFile()
    f.write(content)
    f.seek(0)
    return f


def run(command, env=None, stdin=b"", out=subprocess.DEVNULL, err=None):
    """The Cost of a command; ends the program when it fails. `err`: a file for
    what it says."""
    with temporary(stdin) as given, \
            contextlib.nullcontext(err) if err else tempfile.TemporaryFile() \
            as err:
        start = time.monotonic()
        child = subprocess.Popen(command, stdin=given, stdout=out, stderr=err,
                                 env=env)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            err.seek(0)
            sys.exit("%s: exit code %d\n%s" % (
                shlex.join(command), child.returncode,
                err.read().decode(errors="replace")))
    return Cost(wall, usage)


def output(command, env=None, stdin=b""):
    """(what the command prints, its Cost); not for a large output, which
    would stay in this process."""
    with tempfile.TemporaryFile() as out:
        cost = run(command, env, stdin, out)
        out.seek(0)
        return out.read(), cost
