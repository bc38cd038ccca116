#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reachable objects, from Python: see bindings/python.

    reach.py <repository> [--count] [--filter=<spec>] <want>... [^<have>...]

Prints the ids of what the wants reach and the haves do not, or with --count
their number by type.
"""

import sys

import gitreach


def main():
    options = [a for a in sys.argv[2:] if a.startswith("--")]
    names = [a for a in sys.argv[2:] if not a.startswith("--")]
    if not names:
        sys.exit(__doc__)
    with gitreach.Repository(sys.argv[1]) as repo:
        found = repo.query(
            wants=[n for n in names if not n.startswith("^")],
            haves=[n[1:] for n in names if n.startswith("^")],
            filters=[o[9:] for o in options if o.startswith("--filter=")],
        ).run()
        if "--count" in options:
            for type_ in gitreach.TYPES:
                print(type_, found.count(type_))
        else:
            for id_, _ in found:
                print(id_.hex())
        how = found.explain()
        by = {"walk": "walking", "bitmap": "bitmaps"}[how.strategy]
        print(f"{len(found)} objects by {by}, {how.bitmaps_used} bitmaps used",
              how.reason, file=sys.stderr)


if __name__ == "__main__":
    try:
        main()
    except gitreach.Error as e:
        sys.exit(f"error: {e}")
