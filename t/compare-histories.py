#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ask two Gits for random parts of a history of random-history.py.

	compare-histories.py <seed> <commits> <rounds> <repo> <git> <repo> <git>

Prints the requests whose answers, or exit codes, are not the same; fails when
there are any.
"""

import random
import subprocess
import sys

OPTIONS = """--parents --children --full-history --sparse --simplify-merges
--ancestry-path --show-pulls --remove-empty --topo-order --date-order --boundary
--reverse --count --first-parent --objects --unpacked --no-merges
--merges""".split()

PATHS = """a b d d/ d/e d/x f/a :(icase)f *a d/* :!a :!d/e :(glob)*
:(glob)**/x a*b :(literal)a*b nope . d/../f :/d F/""".split()


def tip(rnd, nr, rate):
    return "t%d" % max(0, nr - 1 - int(rnd.expovariate(rate)))


def request(rnd, nr):
    args = [o for o in OPTIONS if rnd.random() < 0.17]
    if "--parents" in args and "--children" in args:
        args.remove("--children")
    if rnd.random() < 0.15:
        args.append("--max-count=%d" % rnd.randint(0, 8))
    if rnd.random() < 0.15:
        args.append("--skip=%d" % rnd.randint(0, 4))
    revs = [tip(rnd, nr, 0.3) for _ in range(rnd.choice([1, 1, 2]))]
    if rnd.random() < 0.1:
        revs = ["--all"]
    if rnd.random() < 0.5 or "--ancestry-path" in args:
        revs += ["^" + tip(rnd, nr, 0.04) for _ in range(rnd.choice([1, 1, 2]))]
    if "--ancestry-path" in args and rnd.random() < 0.4:
        args.append("--ancestry-path=" + tip(rnd, nr, 0.1))
    paths = []
    if rnd.random() < 0.85:
        paths = ["--"] + rnd.choices(PATHS, k=rnd.choice([1, 1, 1, 2, 3]))
    return ["rev-list"] + args + revs + paths


def main():
    seed, nr, rounds = (int(a) for a in sys.argv[1:4])
    sides = [(sys.argv[4], sys.argv[5]), (sys.argv[6], sys.argv[7])]
    rnd = random.Random(seed)
    bad = 0
    for _ in range(rounds):
        words = request(rnd, nr)
        answers = [
            subprocess.run([git, "-C", repo] + words, capture_output=True)
            for repo, git in sides
        ]
        if len({(a.returncode, a.stdout) for a in answers}) > 1:
            print(" ".join("'%s'" % w for w in words))
            bad += 1
    sys.exit(bad != 0)


main()
