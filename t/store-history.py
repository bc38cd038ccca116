# SPDX-License-Identifier: MIT
"""Compares the pushes of store-pushes.py with the history in a store.

    store-history.py <output of store-pushes.py> <name> <git store log --json>
                     <refs before the first push, as "<id> <ref>">

Each acknowledged push is one step of the history, each refused one is none, and an
unknown one is at most one. The steps of a ref are one line: each begins where the
one before ended. There are no other steps. Generations before the first push may be
collected.
"""

import collections
import json
import sys

ZERO = "0" * 40


def steps_of(log):
    """All (ref, old, new) of pushes, in order."""
    found = []
    for generation in reversed(log):
        if generation["retired"] or generation["action"] != "push":
            continue
        for change in generation["refs"]:
            found.append((change["ref"], change["before"] or ZERO,
                          change["after"] or ZERO))
    return found


def main():
    pushes, name, log, before = sys.argv[1:]
    with open(log) as f:
        log = json.load(f)
    steps = steps_of(log)
    for i, generation in enumerate(log):
        assert generation["generation"] == log[0]["generation"] - i
    assert log[-1]["generation"] == 1 or log[-1]["retired"]
    with open(before) as f:
        values = {ref: oid for oid, ref in map(str.split, f)}
    for ref, old, new in steps:
        assert values.get(ref, ZERO) == old, (ref, old, new)
        values[ref] = new
    left = collections.Counter(steps)
    nr = collections.Counter()
    unknown = collections.Counter()
    with open(pushes) as f:
        for line in f:
            repository, ref, old, new, outcome = line.split()
            if repository != name:
                continue
            nr[outcome] += 1
            step = ref, old, new
            if outcome == "acknowledged":
                assert left[step], ("lost", step)
                left[step] -= 1
            elif outcome == "unknown":
                unknown[step] += 1
            elif new != ZERO:
                assert not left[step], ("refused, but there", step)
    for step, count in left.items():
        assert count <= unknown[step], ("from nowhere", step)
    print(name, "%d generations," % len(log),
          ", ".join("%d %s" % (v, k) for k, v in sorted(nr.items())))


main()
