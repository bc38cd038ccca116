# SPDX-License-Identifier: MIT
"""Pushes, and lists at once after each: is an answer of gitreachd ever stale?

    fresh.py <work tree with remote "origin"> <pushes> <git of the server>
            <url of the repository>...

Each push has processes of its own; the receiving one is `<git> receive-pack`.
For each URL, a kept connection then lists the refs and fetches the pushed
commit: http://, or a URL of talk.py. Before every tenth push, the server has
time to cache the refs (sys/witness.h). Every 25th push, another process
changes how the repository stores objects and refs. Prints "<pushes> fresh".
"""

import http.client
import os
import subprocess
import sys
import time
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "perf"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from protocol import fetch, ls_refs  # noqa: E402
from talk import Talk  # noqa: E402

GIT = os.environ["STOCK_GIT"]
UPKEEP = [["repack", "-adq"], ["pack-refs", "--all"],
          ["prune-packed", "-q"], ["repack", "-q", "--write-midx"]]


def git(*arguments):
    return subprocess.run([GIT, *arguments], check=True,
                          stdout=subprocess.PIPE).stdout.strip()


def push(work, theirs, new):
    """Push a commit. A push may fail while another process packs the refs."""
    command = [GIT, "-C", work, "push", "-q",
               "--receive-pack=%s receive-pack" % theirs, "origin",
               new + ":refs/heads/fresh"]
    for _ in range(2):
        if not subprocess.run(command, stderr=subprocess.DEVNULL).returncode:
            return
    git(*command[1:])


def over_http(url):
    """Returns a function that sends a request and returns the answer."""
    at = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(at.hostname, at.port)

    def post(body):
        connection.request(
            "POST", at.path + "/git-upload-pack", body, {
                "Git-Protocol": "version=2",
                "Content-Type": "application/x-git-upload-pack-request"})
        answer = connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            sys.exit("status %d" % answer.status)
        return text
    return post


def over_talk(url):
    client = Talk(url)
    return lambda body: b"".join(client.command(body))


def main():
    work, pushes, theirs, *urls = sys.argv[1:]
    pushes = int(pushes)
    served = git("-C", work, "remote", "get-url", "origin").decode()
    clients = [(over_http if url.startswith("http:") else over_talk)(url)
               for url in urls]

    tree = git("-C", work, "rev-parse", "HEAD^{tree}").decode()
    before = git("-C", work, "rev-parse", "HEAD").decode()
    upkeep = None
    for i in range(pushes):
        new = git("-C", work, "commit-tree", "-m", str(i), "-p", before,
                  tree).decode()
        if i % 25 == 24:
            if upkeep and upkeep.wait():
                sys.exit("upkeep failed")
            upkeep = subprocess.Popen(
                [theirs, "-C", served, *UPKEEP[i // 25 % len(UPKEEP)]])
        if i % 10 == 9:
            time.sleep(0.15)
            for post in clients:
                post(ls_refs())
        push(work, theirs, new)
        for url, post in zip(urls, clients):
            if b"%s refs/heads/fresh\n" % new.encode() not in post(ls_refs()):
                sys.exit("push %d: the old value was listed: %s" % (i, url))
            if b"PACK" not in post(fetch([new.encode()], [before.encode()])):
                sys.exit("push %d: no pack: %s" % (i, url))
        before = new
    if upkeep and upkeep.wait():
        sys.exit("upkeep failed")
    print(pushes, "fresh")


main()
