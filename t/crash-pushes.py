# SPDX-License-Identifier: MIT
"""Push many times, and kill the whole server in the middle.

    crash-pushes.py <url> <bare clone> <pushes> <at once> <pid of the server>

Push i creates refs/heads/push-<i>. When half of the pushes are acknowledged,
the server and all its children are killed with SIGKILL. Prints the refs whose
push was acknowledged, one on a line.
"""

import concurrent.futures
import os
import signal
import subprocess
import sys
import threading

GIT = os.environ["STOCK_GIT"]


def children(pid):
    """The process and its descendants, the eldest first."""
    yield pid
    try:
        for task in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/children" % (pid, task)) as f:
                for child in f.read().split():
                    yield from children(int(child))
    except FileNotFoundError:
        pass


def kill_all(pid):
    # Stopped processes start no further ones.
    found = []
    while more := [p for p in children(pid) if p not in found]:
        for p in more:
            try:
                os.kill(p, signal.SIGSTOP)
            except ProcessLookupError:
                pass
        found += more
    for p in found:
        try:
            os.kill(p, signal.SIGKILL)
        except ProcessLookupError:
            pass


def main():
    url, clone, pushes, at_once, pid = sys.argv[1:]
    lock, acknowledged = threading.Lock(), []

    def push(i):
        ref = "refs/heads/push-%d" % i
        if subprocess.run([GIT, "-C", clone, "push", "-q", url,
                           "refs/new/%d:%s" % (i, ref)],
                          stderr=subprocess.DEVNULL).returncode:
            return
        with lock:
            acknowledged.append(ref)
            if len(acknowledged) == int(pushes) // 2:
                kill_all(int(pid))

    with concurrent.futures.ThreadPoolExecutor(int(at_once)) as pool:
        list(pool.map(push, range(int(pushes))))
    print(*acknowledged, sep="\n")


main()
