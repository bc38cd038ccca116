# SPDX-License-Identifier: MIT
"""Pushes of many clients, through several servers, into repositories of a store.

    store-pushes.py <pushes> <clients> <kills> <maintenance> <endpoint> <store>
                    <endpoint of maintenance>

It works in the current directory. The file "names" has the names of the
repositories, one a line. Each of them has the branch main of client.git, and no other
ref. Environment: GIT and DAEMON for ours, STOCK_GIT for the clients.

Three nodes run: gitreachd with an own cache each. Clients push to a random node over
git://. A client makes a commit on the newest value of a branch that it knows. If the
push is refused, the client lists the refs. Sometimes it deletes a branch, or pushes
two branches with --atomic. All clients use the objects of client.git, so a commit
costs no process.

<kills> times, a node is killed with all its processes, and started again. "git store
repack" and "git store gc" run <maintenance> times each. At each fourth kill of a node,
the one that runs is killed, too. The output has one line for each ref of each push:

    <repository> <ref> <old> <new> acknowledged|refused|unknown

With GITREACH_SECONDS, no push begins after this time. The process ends with 1 if something fails in a way that is not expected.
"""

import collections
import hashlib
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import zlib

GIT, STOCK = os.environ["GIT"], os.environ["STOCK_GIT"]
ZERO = "0" * 40
SHARED = ["refs/heads/shared%d" % i for i in range(12)]
LOCK = threading.Lock()
COUNT = collections.Counter()
# Errors of a client whose push has certainly not begun.
NOT_BEGUN = re.compile("Connection refused|unable to connect|remote error: "
                       "access denied|cannot be served now")


class Node:
    """A server, and whether it is running."""

    def __init__(self, number, store, endpoint):
        self.cache = "node%d" % number
        self.port = free_port()
        self.url = "git://127.0.0.1:%d/" % self.port
        self.args = [os.environ["DAEMON"], "--store=" + store,
                     "--store-endpoint=" + endpoint, "--cache=" + self.cache,
                     "--export-all", "--enable=receive-pack", "--workers=2",
                     "--threads=8", "--max-pushes=100", "--no-store-probe",
                     "--listen=" + self.url.rstrip("/")]
        self.start()

    def start(self):
        """Start the server, and wait until it listens. Another process may have
        taken the port meanwhile, so several starts are tried."""
        for _ in range(50):
            with open(self.cache + ".log", "ab") as log:
                before = log.tell()
                self.process = subprocess.Popen(
                    self.args, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                    start_new_session=True)
            if self.listens(before):
                return
            time.sleep(0.2)
        raise RuntimeError("a node has ended")

    def listens(self, offset):
        """Wait until the server says in its log that it has started, or ends."""
        while self.process.poll() is None:
            with open(self.cache + ".log", "rb") as log:
                log.seek(offset)
                if b"started: " in log.read():
                    return True
            time.sleep(0.02)
        return False

    def kill(self):
        kill_session(self.process)

    def stop(self):
        self.process.terminate()
        self.process.wait()


def free_port():
    """A port that is free now. It is below those that Linux gives to outgoing
    connections, so it is probably free after the node was killed, too."""
    for port in random.SystemRandom().sample(range(20000, 32000), 1000):
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass
    raise RuntimeError("no port is free")


def session_of(pid):
    """The session of a process; None: it has ended."""
    with open("/proc/%s/stat" % pid) as f:
        fields = f.read().rpartition(")")[2].split()
    return None if fields[0] == "Z" else int(fields[3])


def kill_session(process):
    """kill -9 for all processes of a session: the machine has lost its power."""
    found = True
    while found:
        found = False
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if session_of(pid) == process.pid:
                    os.kill(int(pid), signal.SIGKILL)
                    found = int(pid) != process.pid or found
            except (FileNotFoundError, ProcessLookupError):
                pass
    process.wait()


class Objects:
    """The objects of all clients, in client.git."""

    def __init__(self):
        self.number = 0
        self.tree = stock("write-tree").stdout.strip()

    def commit(self, parent):
        """Write a commit that is unlike all others. Returns its id."""
        with LOCK:
            self.number += 1
            number = self.number
        text = ("tree %s\nparent %s\nauthor a <a@b> %d +0000\n"
                "committer a <a@b> %d +0000\n\n%d\n" %
                (self.tree, parent, 10**9 + number, 10**9 + number, number))
        data = b"commit %d\0%s" % (len(text), text.encode())
        oid = hashlib.sha1(data).hexdigest()
        os.makedirs("client.git/objects/" + oid[:2], exist_ok=True)
        with open("client.git/objects/%s/%s" % (oid[:2], oid[2:]), "wb") as f:
            f.write(zlib.compress(data, 1))
        return oid


def stock(*args):
    env = dict(os.environ)
    env["PATH"] = os.environ.get("STOCK_PATH", env["PATH"])
    return subprocess.run((STOCK, "-C", "client.git") + args, env=env, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)


def read(*args):
    """The output of a command that reads. Nodes and the store may fail."""
    for _ in range(1000):
        done = stock(*args)
        if not done.returncode:
            return done.stdout
        time.sleep(0.05)
    raise RuntimeError("%s: %s" % (args, done.stderr))


class Client:
    """What a client knows of one repository."""

    def __init__(self, number, name, run):
        self.name, self.run = name, run
        self.own = ["refs/heads/c%d-%d" % (number, i) for i in range(4)]
        self.refs = {}
        self.list()

    def list(self):
        """Learn the values of all refs, through some node."""
        lines = read("ls-remote", random.choice(self.run.nodes).url + self.name,
                     "refs/heads/*").splitlines()
        self.refs = {ref: oid for oid, ref in map(str.split, lines)}

    def plan(self):
        """A list of (ref, old, new), and options."""
        kind = random.random()
        branches = SHARED if random.random() < 0.4 else self.own
        if kind < 0.1:
            ref = random.choice(branches)
            if ref in self.refs:
                return [(ref, self.refs[ref], ZERO)], []
        refs = random.sample(branches, 2 if kind > 0.8 else 1)
        options = ["--atomic"] if kind > 0.9 else []
        main = self.refs["refs/heads/main"]
        return [(ref, self.refs.get(ref, ZERO),
                 self.run.objects.commit(self.refs.get(ref, main)))
                for ref in refs], options

    def push(self):
        """Make one push, and return (ref, old, new, outcome) of each ref."""
        changes, options = self.plan()
        specs = ["%s:%s" % ("" if new == ZERO else new, ref)
                 for ref, _, new in changes]
        leases = ["--force-with-lease=%s:%s" % (ref, "" if old == ZERO else old)
                  for ref, old, _ in changes]
        done = stock("push", "--porcelain", *options, *leases,
                     random.choice(self.run.nodes).url + self.name, *specs)
        outcomes = {}
        for line in done.stdout.splitlines():
            found = re.match(r"(.)\t\S*:(refs/\S+)\t(.*)", line)
            if found:
                outcomes[found.group(2)] = found.group(1), found.group(3)
        return [(ref, old, new, self.outcome(ref, new, outcomes, done))
                for ref, old, new in changes]

    def outcome(self, ref, new, outcomes, done):
        flag, why = outcomes.get(ref, ("?", done.stderr))
        if flag in " +-*":
            self.refs[ref] = new
            if new == ZERO:
                del self.refs[ref]
            return "acknowledged"
        if flag == "=":
            raise RuntimeError("up to date: " + done.stdout)
        is_refused = flag == "!" and not re.search(
            "is unknown|remote failure", why) or NOT_BEGUN.search(why)
        reason = re.sub(r"refs/\S+|[0-9a-f]{40}|:\d+\b", "*", why)
        with LOCK:
            COUNT[" ".join(reason.split())[-100:]] += 1
        return "refused" if is_refused else "unknown"


class Run:
    """All that happens at once."""

    def __init__(self):
        self.pushes, self.clients, kills, maintenance = map(int, sys.argv[1:5])
        endpoint, self.store, self.endpoint = sys.argv[5:]
        with open("names") as f:
            self.names = f.read().split()
        self.objects = Objects()
        self.nodes = [Node(i, self.store, endpoint) for i in (1, 2, 3)]
        self.failures = []
        self.total, self.done = self.pushes, 0
        self.progress = threading.Condition(LOCK)
        self.is_over = False
        seconds = float(os.environ.get("GITREACH_SECONDS", "inf"))
        self.deadline = time.monotonic() + seconds
        self.command = None
        self.kills, self.maintenance = kills, maintenance

    def wait_for(self, done):
        """Wait until so many pushes are done. Returns false at the end."""
        with self.progress:
            self.progress.wait_for(lambda: self.done >= done or self.is_over)
            return not self.is_over

    def client(self, number):
        clients = [Client(number, name, self) for name in self.names]
        while True:
            with LOCK:
                if not self.pushes or time.monotonic() > self.deadline:
                    return
                self.pushes -= 1
            client = random.choice(clients)
            results = client.push()
            with self.progress:
                for result in results:
                    print(client.name, *result, flush=True)
                self.done += 1
                self.progress.notify_all()
            if any(result[3] != "acknowledged" for result in results):
                client.list()

    def maintain(self):
        """Repack and collect garbage in turn, spread over all pushes."""
        for i in range(2 * self.maintenance):
            if not self.wait_for(self.total * i // (2 * self.maintenance)):
                return
            # A killed repack leaves its lease.
            args = ["gc"] if i % 2 else ["repack", "--auto=4", "--force"]
            with open("maintenance.log", "ab") as log:
                command = subprocess.Popen(
                    [GIT, "store", *args, "--endpoint=" + self.endpoint,
                     self.store], stdin=subprocess.DEVNULL, stdout=log,
                    stderr=subprocess.PIPE, start_new_session=True, text=True)
            self.command = command
            errors = command.communicate()[1]
            self.count_command(args[0], command.returncode, errors)

    def count_command(self, verb, code, errors):
        """Count how a command ended. One that fails has to say why."""
        with LOCK:
            COUNT["git store %s: %d" % (verb, code)] += 1
            for line in errors.splitlines():
                COUNT["git store %s: %s" % (verb, line[:200])] += 1
        if code > 0 and not re.search("^(error|fatal): .*[^: ]$", errors, re.M):
            self.failures.append("git store %s ends with %d and says nothing" %
                                 (verb, code))

    def killer(self):
        """Kill nodes and maintenance, spread over all pushes."""
        for i in range(self.kills):
            if not self.wait_for(self.total * (i + 1) // (self.kills + 1)):
                return
            node = random.choice(self.nodes)
            node.kill()
            node.start()
            if i % 4 == 3 and self.command:
                kill_session(self.command)

    def thread(self, function, *args):
        def guarded():
            try:
                function(*args)
            except Exception as error:
                self.failures.append(error)
        thread = threading.Thread(target=guarded)
        thread.start()
        return thread

    def run(self):
        others = [self.thread(self.maintain), self.thread(self.killer)]
        for thread in [self.thread(self.client, i)
                       for i in range(self.clients)]:
            thread.join()
        with self.progress:
            self.is_over = True
            self.progress.notify_all()
        for thread in others:
            thread.join()
        self.compare()
        for node in self.nodes:
            node.stop()

    def compare(self):
        """All nodes show the same refs, and complete objects."""
        for i, name in enumerate(self.names):
            seen = {read("ls-remote", node.url + name) for node in self.nodes}
            if len(seen) != 1:
                self.failures.append("nodes differ: " + name)
            path = os.path.abspath("clone%d.git" % i)
            read("clone", "-q", "--mirror", random.choice(self.nodes).url + name,
                 path)
            done = stock("-C", path, "fsck", "--full", "--strict")
            if done.returncode:
                self.failures.append(done.stderr)


def main():
    random.seed(int(os.environ.get("GITREACH_TEST_SEED", "1")))
    run = Run()
    try:
        run.run()
    finally:
        for node in run.nodes:
            if node.process.poll() is None:
                node.kill()
    for reason, nr in COUNT.most_common():
        print("# %d: %s" % (nr, reason), file=sys.stderr)
    for error in run.failures:
        print("# failure:", error, file=sys.stderr)
    sys.exit(1 if run.failures else 0)


main()
