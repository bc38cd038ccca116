# SPDX-License-Identifier: MIT
"""Compares the pushes of store-pushes.py with the history in a store.

    store-history.py <output of store-pushes.py> <name> <git store log --json>

Each acknowledged push is one step of the history, each refused one is none, and an
unknown one is at most one. The steps of a ref are one line: each begins where the
one before ended. There are no other steps.
"""

import collections
import json
import sys

ZERO = "0" * 40


def steps_of(log):
    """All (ref, old, new) of pushes, in order."""
    found = []
    for generation in reversed(log):
        for change in generation["refs"]:
            if generation["action"] != "import":
                found.append((change["ref"], change["before"] or ZERO,
                              change["after"] or ZERO))
    return found


def main():
    pushes, name, log = sys.argv[1:]
    with open(log) as f:
        log = json.load(f)
    steps = steps_of(log)
    for i, generation in enumerate(log):
        assert generation["generation"] == len(log) - i
    values = {}
    for change in log[-1]["refs"]:
        values[change["ref"]] = change["after"]
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
