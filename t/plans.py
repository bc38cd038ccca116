# SPDX-License-Identifier: MIT
"""Compares the answers of two gitreachds, with plans and without.

    plans.py <url with plans> <url without> <served repository> <requests>

Both servers serve the repository at the same path of their URLs. The user of a
request is named by X-User: "alice" sees all refs, "bob" sees no refs below
refs/internal/. Random requests go to both servers, while commits, hidden commits
and tags are added and deleted, and a process repacks again and again.

Both answers must hold the same objects, not counting objects that the client
has. No answer for bob may hold an object that only refs/internal/ reaches.
GITREACH_TEST_SEED sets the seed. Prints what was compared.
"""

import http.client
import os
import random
import subprocess
import sys
import tempfile
import threading
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "perf"))
from protocol import command, pkt  # noqa: E402

GIT = os.environ["STOCK_GIT"]
OURS = os.environ["GIT"]
FILTERS = [b"blob:none", b"tree:0", b"tree:2", b"blob:limit=20",
           b"object:type=commit"]
USERS = ["alice", "bob"]
CHANGE_EVERY = 12  # requests


class Served:
    """The repository, as the programs of stock Git see it."""

    def __init__(self, path):
        self.path = path
        self.hidden = set()
        self.nr = 0
        self.tags = []

    def git(self, *arguments, text=None, tries=5):
        """A repack removes empty directories of loose objects. So a process of
        stock Git that writes a loose object just then may fail."""
        done = subprocess.run(
            [GIT, "-C", self.path, *arguments], input=text,
            stdout=subprocess.PIPE)
        if done.returncode and tries > 1:
            return self.git(*arguments, text=text, tries=tries - 1)
        done.check_returncode()
        return done.stdout

    def lines(self, *arguments, text=None):
        return self.git(*arguments, text=text).split(b"\n")[:-1]

    def objects(self, *arguments, text=None):
        lines = self.lines("rev-list", "--objects", "--no-object-names",
                           *arguments, text=text)
        return set(lines)

    def commit(self, ref, parent, tries=5):
        """Add a commit with a file of its own to a ref. A repack may drop the
        new objects before the ref names them; then they are made again."""
        try:
            return self.try_commit(ref, parent)
        except subprocess.CalledProcessError:
            if tries == 1:
                raise
            return self.commit(ref, parent, tries - 1)

    def try_commit(self, ref, parent):
        self.nr += 1
        name = b"file %d" % self.nr
        blob = self.git("hash-object", "-w", "--stdin", text=name).strip()
        tree = self.git("mktree", text=b"\n".join(
            self.lines("ls-tree", parent) +
            [b"100644 blob %s\t%s" % (blob, name)]) + b"\n").strip()
        new = self.git("commit-tree", "-m", name.decode(), "-p", parent,
                       tree.decode()).strip().decode()
        self.git("update-ref", ref, new)
        return [blob, tree, new.encode()]

    def change(self, rng):
        kind = rng.randrange(5)
        head = self.git("rev-parse", "main").strip().decode()
        if kind < 2:
            self.commit("refs/heads/main", head)
        elif kind == 2:
            self.hidden.update(self.commit(
                "refs/internal/%d" % rng.randrange(4), head))
        elif kind == 3 or not self.tags:
            self.nr += 1
            tag = "t%d" % self.nr
            self.git("tag", "-a", "-m", tag, tag, head)
            self.tags.append(tag)
        else:
            self.git("tag", "-d", self.tags.pop(
                rng.randrange(len(self.tags))))


class Client:
    """A kept connection to each of the servers."""

    def __init__(self, urls):
        self.servers = []
        for url in urls:
            at = urllib.parse.urlsplit(url)
            self.servers.append((
                http.client.HTTPConnection(at.hostname, at.port), at.path))

    def post(self, server, user, body):
        connection, path = self.servers[server]
        connection.request(
            "POST", path + "/git-upload-pack", body, {
                "Git-Protocol": "version=2", "X-User": user,
                "Content-Type": "application/x-git-upload-pack-request"})
        answer = connection.getresponse()
        try:
            text = answer.read()
        except http.client.IncompleteRead as e:
            connection.close()
            text = e.partial
        if answer.status != 200:
            sys.exit("status %d" % answer.status)
        return text

    def refs(self, user):
        """Returns the ids of the refs that the user sees."""
        body = command(b"ls-refs", [])
        lines = self.post(0, user, body).split(b"\n")[:-1]
        return sorted({line[4:44] for line in lines})


def pack_of(answer):
    """Returns the pack in the answer to a fetch of protocol version 2, or None
    if the server has refused a want."""
    pack = b""
    if b"not our ref" in answer[:100]:
        return None
    at = 0
    while at < len(answer):
        size = int(answer[at:at + 4], 16)
        if size < 4:
            at += 4
            continue
        band, text = answer[at + 4], answer[at + 5:at + size]
        if band == 3:
            sys.exit("error of the server: %r" % text)
        if band == 1:
            pack += text
        at += size
    if not pack.startswith(b"PACK"):
        sys.exit("no pack in %r" % answer[:300])
    return pack


def draw(rng, refs, commits):
    """Returns the wants, the haves and the other lines of a request."""
    wants = rng.sample(refs, min(len(refs), rng.randrange(1, 4)))
    haves, more = [], [b"ofs-delta"]
    kind = rng.randrange(4)
    if kind == 0:
        more.append(b"deepen %d" % rng.randrange(1, 5))
    elif kind < 3:
        haves = rng.sample(commits, rng.randrange(1, 3))
    for line in b"thin-pack", b"include-tag", b"no-progress":
        if rng.randrange(2):
            more.append(line)
    if rng.randrange(4) == 0:
        more.append(b"filter " + rng.choice(FILTERS))
    return wants, haves, more


def body_of(request, agent):
    wants, haves, more = request
    return (pkt(b"command=fetch") + pkt(b"agent=" + agent) +
            pkt(b"object-format=sha1") + b"0001" +
            b"".join(map(pkt, more + [b"want " + w for w in wants] +
                         [b"have " + h for h in haves] + [b"done"])) +
            b"0000")


class Judge:
    def __init__(self, served, scratch):
        self.served, self.scratch = served, scratch
        self.known = {}
        subprocess.run([GIT, "init", "-q", "--bare", scratch], check=True)
        with open(scratch + "/objects/info/alternates", "w") as out:
            out.write(os.path.abspath(served.path) + "/objects\n")

    def objects(self, pack):
        """Returns the objects of a pack, with the bases of thin deltas."""
        if pack not in self.known:
            at = self.scratch + "/x.pack"
            subprocess.run(
                [GIT, "-C", self.scratch, "index-pack", "--fix-thin",
                 "--stdin", "x.pack"], input=pack, check=True,
                stdout=subprocess.DEVNULL)
            with open(at[:-4] + "idx", "rb") as index:
                lines = subprocess.run(
                    [GIT, "show-index"], stdin=index, check=True,
                    stdout=subprocess.PIPE).stdout.split(b"\n")[:-1]
            for end in "pack", "idx", "rev":
                try:
                    os.chmod(at[:-4] + end, 0o600)
                    os.unlink(at[:-4] + end)
                except FileNotFoundError:
                    pass
            self.known[pack] = {line.split(b" ")[1] for line in lines}
        return self.known[pack]

    def judge(self, user, refs, request, packs):
        """Returns whether the answers are equal."""
        if packs[0] is None or packs[1] is None:
            # A repack between both requests may drop an object that no ref
            # reaches any more. `refs` were listed before the requests.
            if packs[0] != packs[1] and set(request[0]) <= set(refs):
                sys.exit("only one server has refused %r" % (request,))
            return True
        if user == "bob":
            for pack in packs:
                seen = self.objects(pack) & self.served.hidden
                if seen:
                    sys.exit("bob got %r by %r" % (seen, request))
        if packs[0] == packs[1]:
            return True
        has = self.served.objects("--stdin", text=b"\n".join(
            request[1]) + b"\n") if request[1] else set()
        sets = [self.objects(pack) - has for pack in packs]
        if sets[0] != sets[1]:
            sys.exit("different objects: %r by %r" % (
                sets[0] ^ sets[1], request))
        return False


def repack(served, stop):
    options = [["repack", "-adbq"], ["repack", "-dq"],
               ["pack-refs", "--all"], ["repack", "-adq"]]
    while not stop.wait(0.3):
        options.append(options.pop(0))
        subprocess.run([OURS, "-C", served.path, *options[0]],
                       stderr=subprocess.DEVNULL)


def run(client, served, judge, requests, rng):
    commits = served.lines("rev-list", "main")
    recent = {user: [] for user in USERS}
    equal = refused = 0
    for nr in range(requests):
        if nr % CHANGE_EVERY == 0:
            served.change(rng)
        user = rng.choice(USERS)
        refs = client.refs(user)
        old = [r for r in recent[user]
               if set(r[0]) <= set(refs) or rng.randrange(10) == 0]
        if old and rng.randrange(3):
            request = rng.choice(old)
        else:
            request = draw(rng, refs, commits)
            recent[user] = recent[user][-5:] + [request]
        body = body_of(request, b"client/%d" % rng.randrange(3))
        packs = [pack_of(client.post(server, user, body))
                 for server in (0, 1)]
        equal += judge.judge(user, refs, request, packs)
        refused += packs[0] is None
    return equal, refused


def main():
    with_plans, without, path, requests = sys.argv[1:]
    requests = int(requests)
    seed = int(os.environ.get("GITREACH_TEST_SEED") or
               random.randrange(1 << 32))
    print("# GITREACH_TEST_SEED=%d" % seed, flush=True)
    served = Served(path)
    stop = threading.Event()
    upkeep = threading.Thread(target=repack, args=(served, stop))
    with tempfile.TemporaryDirectory() as scratch:
        judge = Judge(served, scratch + "/judge.git")
        upkeep.start()
        try:
            counts = run(Client([with_plans, without]), served, judge,
                         requests, random.Random(seed))
        finally:
            stop.set()
            upkeep.join()
    print("%d requests, %d pairs of equal answers, %d refused, "
          "%d hidden objects" % (requests, *counts, len(served.hidden)))


main()
