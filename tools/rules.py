# SPDX-License-Identifier: MIT
"""Code that the rule checkers share: the files of the tree, the levels of
rooms, and the lists of exceptions."""

import fnmatch
import glob
import os
import re
import subprocess
import sys

# Rooms and their levels, as drawn in Documentation/design/rooms.md. A file
# may include its own room and rooms of a lower level.
LEVELS = {
    "base": 0,
    "sys": 1,
    "ewah": 1,
    "object": 1,
    "http1": 1,
    "metrics": 2,
    "admission": 2,
    "pack": 2,
    "reftable": 2,
    "config": 2,
    "store": 2,
    "access": 3,
    "generations": 3,
    "indexer": 3,
    "repo": 3,
    "odb": 4,
    "prepared": 5,
    "refs": 5,
    "refs-write": 6,
    "graph": 6,
    "names": 7,
    "trees": 8,
    "walk": 9,
    "simplify": 11,
    "check": 10,
    "graph-write": 10,
    "bitmap": 10,
    "pack-bitmap": 11,
    "pack-bitmap-answer": 11,
    "pack-bitmap-query": 11,
    "pack-bitmap-write": 11,
    "islands": 11,
    "deltas": 12,
    "packing": 13,
    "packs": 14,
    "plans": 14,
    "wire": 14,
    "midx": 15,
    "publish": 15,
    "status": 15,
    "repack": 16,
    "network": 17,
    "stored": 16,
    "copies": 17,
    "serve": 18,
    "receive": 19,
    "http": 20,
    "daemon": 21,
    "processes": 22,
    "builtin": 23,
    "libgitreach": 23,
    "include": 23,
}


def room(path):
    """The room of a file; a file at the top is a room by its stem."""
    head, _, tail = path.partition("/")
    return head if tail else os.path.splitext(head)[0]


def stem(path):
    return os.path.splitext(os.path.basename(path))[0]


def is_library(path):
    return room(path) != "builtin"


def sources(*suffixes):
    """The project's files, without the tests, with one of the suffixes."""
    found = []
    for suffix in suffixes:
        found += glob.glob("*" + suffix) + glob.glob("*/*" + suffix)
    return sorted(f for f in found if room(f) in LEVELS)


def symbols():
    """(source, symbols) of every compiled file, a symbol being its name, kind
    letter and section."""
    build = os.environ.get("BUILD", "build")
    objects = {f"{build}/{f[:-2]}.o": f for f in sources(".c")}
    out = subprocess.run(["nm", "-A", "-f", "sysv", *objects], check=True,
                         capture_output=True, text=True).stdout
    rows = {f: [] for f in objects.values()}
    for line in out.splitlines():
        cells = [c.strip() for c in line.split("|")]
        if len(cells) == 7 and cells[0] != "Name":
            obj, _, name = cells[0].partition(":")
            rows[objects[obj]].append((name, cells[2], cells[6]))
    return rows.items()


class Allowed:
    """tools/allow/<rule>: lines "<file>:<thing>  # <reason>"; <thing> may be
    a pattern (commit_*).

    An entry without a reason is an error, and so is one that allows nothing:
    the lists shrink by themselves.
    """

    def __init__(self, rule):
        self.path = f"tools/allow/{rule}"
        self.entries = {}
        self.used = set()
        self.errors = []
        if not os.path.exists(self.path):
            return
        with open(self.path) as f:
            for nr, line in enumerate(f, 1):
                if not line.strip() or line.startswith("#"):
                    continue
                key, _, reason = line.partition("#")
                if not reason.strip():
                    self.errors.append(f"{self.path}:{nr}: no reason given")
                self.entries[key.strip()] = nr

    def __contains__(self, key):
        found = [e for e in self.entries if fnmatch.fnmatchcase(key, e)]
        self.used.update(found)
        return bool(found)

    def finish(self, errors):
        """Print the violations, and end the checker."""
        for key, nr in self.entries.items():
            if key not in self.used:
                self.errors.append(
                    f"{self.path}:{nr}: nothing needs {key} any more")
        for e in errors + self.errors:
            print(e, file=sys.stderr)
        sys.exit(1 if errors or self.errors else 0)


def functions(path):
    """(name, first line, number of lines) of each function of a file.

    Relies on the formatting: the body's braces stand in column 0.
    """
    with open(path) as f:
        lines = f.read().splitlines()
    name = re.compile(r"^[A-Za-z_].*?(\w+)\(")
    start = None
    for nr, line in enumerate(lines):
        if line == "{":
            head = nr - 1
            while head > 0 and not name.match(lines[head]):
                head -= 1
            start = head
        elif line == "}" and start is not None:
            yield name.match(lines[start]).group(1), start + 1, nr - start + 1
            start = None
