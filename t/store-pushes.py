# SPDX-License-Identifier: MIT
"""Pushes of many clients, through several nodes, into repositories of a store.

    store-pushes.py <pushes> <clients> <file>

The file has the paths of local copies, one a line. The copies of one repository have
the same place below their caches ("<cache>/repo/<name>/_"). Environment: GITREACH_SRC, and
STOCK_GIT for the clients.

Each client has a clone of each repository. It makes a commit on the newest value of
a branch that it knows, and pushes the commit through some node. If the push is
refused, the client fetches. Sometimes it deletes a branch, or pushes two branches
with --atomic. The output has one line for each ref of each push:

    <repository> <ref> <old> <new> acknowledged|refused|unknown

The process ends with 1 if a push fails in a way that is not expected.
"""

import collections
import os
import random
import re
import subprocess
import sys
import threading

GIT = os.environ["STOCK_GIT"]
SRC = os.environ["GITREACH_SRC"]
ZERO = "0" * 40
BRANCHES = ["refs/heads/b%d" % i for i in range(24)]
IDENTITY = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b",
            "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
LOCK = threading.Lock()
COUNT = collections.Counter()


def git(directory, *args, check=True):
    env = dict(os.environ, **IDENTITY)
    env["PATH"] = os.environ.get("STOCK_PATH", env["PATH"])
    done = subprocess.run((GIT, "-C", directory) + args, env=env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if check and done.returncode:
        raise RuntimeError("git %s: %s" % (args, done.stderr))
    return done


class Clone:
    """The repository of one client."""

    def __init__(self, path, name, copies):
        self.path, self.name, self.copies = path, name, copies
        self.number = 0
        subprocess.run((GIT, "init", "-q", "--bare", path), check=True)
        self.tree = git(path, "write-tree").stdout.strip()
        self.fetch()

    def fetch(self):
        """Learn the values of all refs, through some node."""
        copy = random.choice(self.copies)
        args = ("--upload-pack=" + SRC + "/git-upload-pack", copy)
        git(self.path, "fetch", "-q", "--prune", *args,
            "+refs/heads/*:refs/heads/*")
        refs = git(self.path, "for-each-ref",
                   "--format=%(refname) %(objectname)").stdout
        self.refs = dict(line.split() for line in refs.splitlines())

    def commit(self, ref):
        """A new commit on the known value of a ref."""
        self.number += 1
        old = self.refs.get(ref) or self.refs["refs/heads/main"]
        text = "%s %d" % (self.path, self.number)
        return git(self.path, "commit-tree", "-m", text, "-p", old,
                   self.tree).stdout.strip()

    def plan(self):
        """A list of (ref, old, new), and options."""
        kind = random.random()
        if kind < 0.1:
            ref = random.choice(BRANCHES)
            if ref in self.refs:
                return [(ref, self.refs[ref], ZERO)], []
        nr = 2 if kind > 0.8 else 1
        refs = random.sample(BRANCHES, nr)
        options = ["--atomic"] if kind > 0.9 else []
        return [(ref, self.refs.get(ref, ZERO), self.commit(ref))
                for ref in refs], options

    def push(self):
        """Make one push, and return (ref, old, new, outcome) of each ref."""
        changes, options = self.plan()
        specs = ["%s:%s" % ("" if new == ZERO else new, ref)
                 for ref, _, new in changes]
        leases = ["--force-with-lease=%s:%s" % (ref, "" if old == ZERO else old)
                  for ref, old, _ in changes]
        done = git(self.path, "push", "--porcelain", *options, *leases,
                   "--receive-pack=" + SRC + "/git-receive-pack",
                   random.choice(self.copies), *specs, check=False)
        outcomes = {}
        for line in done.stdout.splitlines():
            found = re.match(r"(.)\t\S*:(refs/\S+)\t(.*)", line)
            if found:
                outcomes[found.group(2)] = found.group(1), found.group(3)
        results = []
        for ref, old, new in changes:
            flag, why = outcomes.get(ref, ("?", done.stderr))
            if flag in " +-*":
                result = "acknowledged"
                self.refs[ref] = new
                if new == ZERO:
                    del self.refs[ref]
            elif flag == "=":
                raise RuntimeError("up to date: " + done.stdout)
            else:
                result = "unknown" if "is unknown" in why else "refused"
                reason = re.sub(r"refs/\S+|[0-9a-f]{40}", "*", why)
                with LOCK:
                    COUNT[reason.strip()[-90:]] += 1
            results.append((ref, old, new, result))
        return results


def client(number, repositories, pushes, failures):
    try:
        clones = [Clone("clone-%d-%d" % (number, i), name, copies)
                  for i, (name, copies) in enumerate(repositories.items())]
        while True:
            with LOCK:
                if not pushes:
                    return
                pushes.pop()
            clone = random.choice(clones)
            results = clone.push()
            with LOCK:
                for result in results:
                    print(clone.name, *result, flush=True)
            if any(result[3] != "acknowledged" for result in results):
                clone.fetch()
    except Exception as error:
        failures.append(error)


def main():
    seed = int(os.environ.get("GITREACH_TEST_SEED", "1"))
    random.seed(seed)
    repositories = collections.defaultdict(list)
    with open(sys.argv[3]) as f:
        for copy in f.read().splitlines():
            name = re.search(r"/repo/(.*)/_$", copy).group(1)
            repositories[name].append(copy)
    pushes, failures = [None] * int(sys.argv[1]), []
    threads = [threading.Thread(target=client,
                                args=(i, repositories, pushes, failures))
               for i in range(int(sys.argv[2]))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for reason, nr in COUNT.most_common():
        print("# %d: %s" % (nr, " ".join(reason.split())), file=sys.stderr)
    for error in failures:
        print(error, file=sys.stderr)
    sys.exit(1 if failures else 0)


main()
