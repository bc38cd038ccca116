#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A random history as a stream for fast-import.

	random-history.py <seed> <commits> [even|ties|skew] [sha1|sha256] [sizes]

Merges with two and three parents that take a side, mix or add; roots; renames,
changes of mode, files that become directories and back, submodules. Each
commit has a tag t<n>. Dates go up, are the same for some commits each, or go
back at times. With `sizes` every third commit brings a file whose size is a limit
that filters name, or one off.
"""

import random
import sys

PATHS = ["a", "b", "d/x", "d/y", "d/e/z", "f/a", "F/a", "a*b"]

SIZES = [limit + off for limit in (1, 100, 1024, 20480) for off in (-1, 0, 1)]


def pick_parents(rnd, nr):
    kind = rnd.random()
    if not nr or kind < 0.03:
        return []
    wanted = 1 + (kind > 0.6) + (kind > 0.93)
    parents = []
    for _ in range(wanted):
        parent = max(0, nr - 1 - int(rnd.expovariate(0.25)))
        if parent not in parents:
            parents.append(parent)
    return parents


def merge(rnd, sides):
    if rnd.random() < 0.3:
        return dict(rnd.choice(sides))
    tree = dict(sides[0])
    for path in PATHS:
        side = rnd.choice(sides)
        tree.pop(path, None)
        if path in side:
            tree[path] = side[path]
    return tree


def change(rnd, tree):
    path, kind = rnd.choice(PATHS), rnd.random()
    if kind < 0.12:
        tree.pop(path, None)
    elif kind < 0.2 and path in tree:
        mode, content = tree[path]
        if mode != "160000":
            mode = "100644" if mode == "100755" else "100755"
        tree[path] = (mode, content)
    elif kind < 0.27:
        tree[path] = ("160000", rnd.randint(1, 3))
    elif kind < 0.33 and "/" in path:
        top = path.split("/")[0]
        for name in [p for p in tree if p.startswith(top + "/")]:
            del tree[name]
        tree[top] = ("100644", "file %d" % rnd.randint(0, 3))
    elif kind < 0.4:
        other = rnd.choice(PATHS)
        if other in tree:
            tree[path] = tree.pop(other)
    else:
        tree[path] = ("100644", "v%d" % rnd.randint(0, 2))


def drop_conflicts(tree):
    """Of a file and a directory of one name, the directory stays."""
    for path in list(tree):
        if any(other.startswith(path + "/") for other in tree):
            del tree[path]


def data(text):
    return "data %d\n%s\n" % (len(text), text)


def write(nr, date, parents, tree, id_len):
    who = "A U Thor <author@example.com> %d +0000" % date
    if not parents:
        print("reset refs/heads/x")
    print("commit refs/heads/x\nmark :%d" % (nr + 1))
    print("author %s\ncommitter %s\n%s" % (who, who, data("c%d" % nr)), end="")
    for i, parent in enumerate(parents):
        print("%s :%d" % ("merge" if i else "from", parent + 1))
    print("deleteall")
    for path, (mode, content) in sorted(tree.items()):
        if mode == "160000":
            print("M 160000 %0*x %s" % (id_len, content, path))
        else:
            print("M %s inline %s\n%s" % (mode, path, data(content)), end="")
    print("\nreset refs/tags/t%d\nfrom :%d\n" % (nr, nr + 1))


def main():
    rnd = random.Random(int(sys.argv[1]))
    dates = sys.argv[3] if len(sys.argv) > 3 else "even"
    id_len = 64 if "sha256" in sys.argv else 40
    date, trees = 1000000000, []
    for nr in range(int(sys.argv[2])):
        parents = pick_parents(rnd, nr)
        tree = merge(rnd, [trees[p] for p in parents]) if parents else {}
        if len(parents) < 2 or rnd.random() < 0.15:
            for _ in range(rnd.choice([0, 1, 1, 2])):
                change(rnd, tree)
        drop_conflicts(tree)
        if "sizes" in sys.argv and nr % 3 == 0:
            size = SIZES[nr // 3 % len(SIZES)]
            tree["sized"] = ("100644", ("%0*d" % (size, nr))[:size])
        trees.append(tree)
        if dates == "even":
            date += rnd.randint(1, 10)
        elif dates == "ties":
            date = 1000000000 + nr // 6
        else:
            date = 1000000000 + nr * 10 + rnd.randint(-60, 60)
        write(nr, date, parents, tree, id_len)


main()
