#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""libgitreach from Python, through ctypes.

    reach.py <repository> [--count] [--filter=<spec>] <want>... [^<have>...]

Prints the ids of what the wants reach and the haves do not, or with --count
their number by type. LIBGITREACH names the library if the loader does not find
it.
"""

import ctypes
import os
import sys

TYPES = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}

OBJECT_FN = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p,
                             ctypes.POINTER(ctypes.c_uint8), ctypes.c_size_t,
                             ctypes.c_int)


class Explanation(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint64),
                ("strategy", ctypes.c_int32),
                ("bitmaps_used", ctypes.c_uint32),
                ("pseudo_merges_used", ctypes.c_uint32),
                ("commits_walked", ctypes.c_uint32),
                ("objects_walked", ctypes.c_uint64),
                ("nanoseconds", ctypes.c_uint64),
                ("reason", ctypes.c_char_p)]


class GitreachError(Exception):
    pass


def load():
    lib = ctypes.CDLL(os.environ.get("LIBGITREACH", "libgitreach.so.0"))
    handle, text, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
    prototypes = {
        "error_new": (handle,),
        "error_free": (None, handle),
        "error_message": (text, handle),
        "repo_open": (int, handle, text, ctypes.c_uint32, handle),
        "repo_close": (None, handle),
        "query_new": (int, handle, handle, handle),
        "query_free": (None, handle),
        "query_want_name": (int, handle, text, handle),
        "query_have_name": (int, handle, text, handle),
        "query_filter": (int, handle, text, handle),
        "query_run": (int, handle, handle, handle),
        "set_free": (None, handle),
        "set_count": (ctypes.c_uint64, handle, ctypes.c_uint32),
        "set_contains": (int, handle, text, size),
        "set_each": (int, handle, ctypes.c_uint32, OBJECT_FN, handle, handle),
        "set_explain": (int, ctypes.POINTER(Explanation), handle, handle),
    }
    for name, (result, *arguments) in prototypes.items():
        function = getattr(lib, "gitreach_" + name)
        function.restype = ctypes.c_int if result is int else result
        function.argtypes = arguments
    return lib


class Handle:
    """A handle of the library, given back at the end of a with block."""

    def __init__(self, free):
        self.value, self.free = ctypes.c_void_p(), free

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.free(self.value)


class Repository(Handle):
    def __init__(self, lib, path):
        super().__init__(lib.gitreach_repo_close)
        self.lib = lib
        self.err = ctypes.c_void_p(lib.gitreach_error_new())
        self.call("repo_open", ctypes.byref(self.value), os.fsencode(path), 0)

    def __exit__(self, *_):
        super().__exit__()
        self.lib.gitreach_error_free(self.err)

    def call(self, name, *arguments):
        result = getattr(self.lib, "gitreach_" + name)(*arguments, self.err)
        if result < 0:
            message = self.lib.gitreach_error_message(self.err)
            raise GitreachError(message.decode())
        return result

    def reach(self, wants, haves=(), spec=None):
        """The set of what the wants reach and the haves do not."""
        with Handle(self.lib.gitreach_query_free) as query:
            self.call("query_new", ctypes.byref(query.value), self.value)
            for name in wants:
                self.call("query_want_name", query.value, name.encode())
            for name in haves:
                self.call("query_have_name", query.value, name.encode())
            if spec:
                self.call("query_filter", query.value, spec.encode())
            found = Set(self)
            self.call("query_run", ctypes.byref(found.value), query.value)
            return found


class Set(Handle):
    def __init__(self, repo):
        super().__init__(repo.lib.gitreach_set_free)
        self.repo = repo

    def count(self, type_):
        return self.repo.lib.gitreach_set_count(self.value, 1 << type_)

    def __len__(self):
        return self.repo.lib.gitreach_set_count(self.value, 30)

    def __contains__(self, id_):
        return bool(self.repo.lib.gitreach_set_contains(self.value, id_,
                                                        len(id_)))

    def __iter__(self):
        """(id, type) of each object."""
        found = []

        def take(_, id_, id_len, type_):
            found.append((ctypes.string_at(id_, id_len), TYPES[type_]))
            return 0

        self.repo.call("set_each", self.value, 30, OBJECT_FN(take), None)
        return iter(found)

    def explain(self):
        how = Explanation(size=ctypes.sizeof(Explanation))
        self.repo.call("set_explain", ctypes.byref(how), self.value)
        return how


def main():
    options = [a for a in sys.argv[2:] if a.startswith("--")]
    names = [a for a in sys.argv[2:] if not a.startswith("--")]
    specs = [o[9:] for o in options if o.startswith("--filter=")]
    if not names:
        sys.exit(__doc__)
    wants = [n for n in names if not n.startswith("^")]
    haves = [n[1:] for n in names if n.startswith("^")]
    with Repository(load(), sys.argv[1]) as repo, \
            repo.reach(wants, haves, *specs) as found:
        if "--count" in options:
            for type_, name in TYPES.items():
                print(name, found.count(type_))
        else:
            for id_, _ in found:
                assert id_ in found
                print(id_.hex())
        how = found.explain()
        by = {1: "walking", 2: "bitmaps"}[how.strategy]
        print(f"{len(found)} objects by {by}, {how.bitmaps_used} bitmaps used",
              (how.reason or b"").decode(), file=sys.stderr)


if __name__ == "__main__":
    try:
        main()
    except GitreachError as e:
        sys.exit(f"error: {e}")
