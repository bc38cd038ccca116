# SPDX-License-Identifier: MIT
"""Reachability in Git repositories, by libgitreach.

An object id is bytes: 20 of them, or 32 in a SHA-256 repository. Names, paths and
filters are str. Repositories and sets never change, and threads may share them.
A repository, a query or a set can be closed by close() or by a with block;
otherwise it is freed with its last use.
"""

import ctypes
import io
import os
from collections import namedtuple

from . import _library

_lib = _library.load()

TYPES = {"commit": 1, "tree": 2, "blob": 3, "tag": 4}
_TYPE_NAMES = {number: name for name, number in TYPES.items()}
_ANY_TYPE = 30
STRATEGIES = {"auto": 0, "walk": 1, "bitmap": 2, "check": 3}
_STRATEGY_NAMES = {0: "combined", 1: "walk", 2: "bitmap", 3: "check"}
_OPEN_FLAGS = {"exact": 1, "any_owner": 2, "no_bitmap": 4}
_PACK_FLAGS = {"thin": 1, "ofs_delta": 2, "anew": 4}
_STRATEGY, _OBJECTS, _FILTER_WANTS, _INEXACT, _THREADS = range(1, 6)

Ref = namedtuple("Ref", "name id target")
Object = namedtuple("Object", "type size")
Progress = namedtuple("Progress", "phase done total")
Explanation = namedtuple(
    "Explanation", "strategy bitmaps_used pseudo_merges_used commits_walked "
    "objects_walked nanoseconds reason")
BitmapInfo = namedtuple(
    "BitmapInfo", "bytes objects bitmaps pseudo_merges flags path")
Bitmap = namedtuple("Bitmap", "id bytes xor_depth")
PackReport = namedtuple("PackReport", "bytes bytes_copied objects used_bitmap")


class Error(Exception):
    """A failure of the library. `code` is a number of enum gitreach_code."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Missing(Error):
    """A required object, reference or file does not exist."""


class Cancelled(Error):
    """A progress function has ended the work."""


_CLASSES = {-4: Missing, -9: Cancelled}


def version():
    """Return the version of the library."""
    return _lib.gitreach_version().decode()


def _call(name, *arguments):
    """Call a function whose last argument is an error; raise what it reports."""
    err = _lib.gitreach_error_new()
    if not err:
        raise MemoryError
    try:
        result = getattr(_lib, "gitreach_" + name)(*arguments, err)
        if result < 0:
            message = _lib.gitreach_error_message(err)
            raise _CLASSES.get(result, Error)(
                result, message.decode(errors="surrogateescape"))
        return result
    finally:
        _lib.gitreach_error_free(err)


class _Callback:
    """A Python function that C calls. An exception ends the C function, and is
    raised again when that has returned."""

    def __init__(self, kind, function):
        self.error = None
        self.function = function
        self.c = kind(self._run) if function else kind()

    def _run(self, _, *arguments):
        try:
            return 1 if self.function(*arguments) else 0
        except BaseException as e:  # also KeyboardInterrupt
            self.error = e
            return -1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.error:
            raise self.error


def _progress(function):
    """`function` gets a Progress; a true result ends the work."""
    def report(progress):
        p = progress.contents
        return function(Progress(p.phase.decode(), p.done, p.total))
    return _Callback(_library.PROGRESS_FN, function and report)


def _flags(table, given):
    unknown = set(given) - set(table)
    if unknown:
        raise TypeError("unknown options: " + ", ".join(sorted(unknown)))
    return sum(bit for name, bit in table.items() if given.get(name))


def _bits(types):
    if types is None:
        return _ANY_TYPE
    names = [types] if isinstance(types, str) else types
    return sum(1 << TYPES[name] for name in set(names))


def _text(value):
    return None if value is None else value.decode(errors="surrogateescape")


class _Handle:
    """A handle of the library."""

    _free = None

    _value = None

    def __init__(self):
        self._value = ctypes.c_void_p()

    def close(self):
        """Free the handle. Further use of the object is an error."""
        value, self._value = self._value, ctypes.c_void_p()
        if value:
            type(self)._free(value)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()


class Repository(_Handle):
    """A snapshot of a repository: packs, bitmap index, configuration, refs.

    exact: `path` is the repository itself, not its parent directory.
    any_owner: open it even if another user owns it. no_bitmap: always walk.
    """

    _free = _lib.gitreach_repo_close

    def __init__(self, path, **flags):
        super().__init__()
        _call("repo_open", ctypes.byref(self._value), os.fsencode(path),
              _flags(_OPEN_FLAGS, flags))

    def refresh(self):
        """Return a new snapshot of the same repository."""
        new = Repository.__new__(Repository)
        _Handle.__init__(new)
        _call("repo_refresh", ctypes.byref(new._value), self._value)
        return new

    def has_changed(self):
        """Return whether packs were added or removed since the snapshot."""
        return bool(_lib.gitreach_repo_has_changed(self._value))

    @property
    def hash(self):
        """"sha1" or "sha256"; None after close()."""
        return {1: "sha1", 2: "sha256"}.get(
            _lib.gitreach_repo_hash(self._value))

    @property
    def id_len(self):
        """The number of bytes of an id."""
        return _lib.gitreach_repo_id_len(self._value)

    def resolve(self, name):
        """Return the id that a name of gitrevisions(7) means."""
        id_ = ctypes.create_string_buffer(_library.ID_MAX)
        _call("repo_resolve", id_, self._value, os.fsencode(name))
        return id_.raw[:self.id_len]

    def refs(self, prefix=""):
        """Return the references whose names start with a prefix."""
        found = []

        def take(ref):
            r = ref.contents
            found.append(Ref(_text(r.name),
                             ctypes.string_at(r.id, r.id_len),
                             _text(r.target)))
        with _Callback(_library.REF_FN, take) as callback:
            _call("repo_each_ref", self._value, os.fsencode(prefix),
                  callback.c, None)
        return found

    def info(self, id_):
        """Return the type and the size of an object."""
        out = _library.ObjectInfo(size=ctypes.sizeof(_library.ObjectInfo))
        _call("object_info", ctypes.byref(out), self._value, id_, len(id_))
        return Object(_TYPE_NAMES[out.type], out.bytes)

    def query(self, **options):
        """Return a Query of this repository; see there."""
        return Query(self, **options)

    def set_of(self, ids):
        """Return the set of objects with these ids."""
        ids = list(ids)
        if any(len(id_) != self.id_len for id_ in ids):
            raise ValueError("an id has another length")
        new = Set(self)
        _call("set_new", ctypes.byref(new._value), self._value,
              b"".join(ids) or None, len(ids), self.id_len)
        return new

    def bitmap_info(self):
        """Describe the bitmap index. Raises Missing without one."""
        out = _library.BitmapInfo(size=ctypes.sizeof(_library.BitmapInfo))
        _call("bitmap_info", ctypes.byref(out), self._value)
        return BitmapInfo(out.bytes, out.objects, out.bitmaps,
                          out.pseudo_merges, out.flags, _text(out.path))

    def bitmaps(self):
        """Return the commits that have a bitmap of their own."""
        found = []

        def take(entry):
            e = entry.contents
            found.append(Bitmap(ctypes.string_at(e.id, e.id_len), e.bytes,
                                e.xor_depth))
        with _Callback(_library.BITMAP_FN, take) as callback:
            _call("bitmap_each", self._value, callback.c, None)
        return found

    def verify_bitmap(self, sample=0, seed=0, progress=None):
        """Compare the bitmap index with the objects. Raises Error if the index
        is wrong. sample: the number of bitmaps to compare; 0: all."""
        with _progress(progress) as callback:
            options = _library.VerifyOptions(
                ctypes.sizeof(_library.VerifyOptions), sample, seed,
                callback.c, None)
            _call("bitmap_verify", self._value, ctypes.byref(options))

    def write_bitmap(self, threads=0, progress=None):
        """Write a bitmap index. A refreshed snapshot uses the new index."""
        with _progress(progress) as callback:
            options = _library.BitmapOptions(
                ctypes.sizeof(_library.BitmapOptions), threads, callback.c,
                None)
            _call("bitmap_write", self._value, ctypes.byref(options))


class _Packable(_Handle):
    """A query or a set, of which packs can be made."""

    _write = None

    def write_pack(self, out, threads=0, progress=None, **flags):
        """Write a pack to a binary file. thin (only of queries), ofs_delta and
        anew are booleans. Returns a PackReport."""
        report = _library.PackReport(size=ctypes.sizeof(_library.PackReport))

        def write(bytes_, size):
            # A file without a buffer may take a part of the bytes only.
            left = memoryview(ctypes.string_at(bytes_, size))
            while left:
                taken = out.write(left)
                if taken is None and isinstance(out, io.RawIOBase):
                    raise BlockingIOError("the file takes no bytes now")
                # Writers that return nothing take everything.
                left = left[len(left) if taken is None else taken:]
        with _progress(progress) as polled, \
                _Callback(_library.WRITE_FN, write) as callback:
            options = _library.PackOptions(
                ctypes.sizeof(_library.PackOptions),
                _flags(_PACK_FLAGS, flags), threads, polled.c, None)
            _call(self._write, self._value, ctypes.byref(options), callback.c,
                  None, ctypes.byref(report))
        return PackReport(report.bytes, report.bytes_copied, report.objects,
                          bool(report.used_bitmap))


class Query(_Packable):
    """A question: which objects do the wants reach and the haves not?

    wants, haves: ids (bytes) or names (str) of objects. want_refs, have_refs:
    prefixes of names of references; exclude_refs: prefixes that are left out.
    shallow: ids of commits without parents. filters: as of git rev-list
    --filter. strategy: "auto", "walk", "bitmap" or "check" (compare both).
    objects: False for commits only. progress: a function that gets a Progress;
    a true result ends the work.
    """

    _free = _lib.gitreach_query_free
    _write = "query_write_pack"

    def __init__(self, repo, wants=(), haves=(), want_refs=(), have_refs=(),
                 exclude_refs=(), shallow=(), filters=(), strategy="auto",
                 objects=True, filter_wants=False, inexact=False, threads=0,
                 progress=None):
        super().__init__()
        self._repo = repo
        self._progress = progress
        _call("query_new", ctypes.byref(self._value), repo._value)
        for prefix in exclude_refs:
            self._add("exclude_refs", prefix)
        for side, tips, prefixes in (("want", wants, want_refs),
                                     ("have", haves, have_refs)):
            for tip in tips:
                if isinstance(tip, bytes):
                    self._add_id(side, tip)
                else:
                    self._add(side + "_name", tip)
            for prefix in prefixes:
                self._add(side + "_refs", prefix)
        for id_ in shallow:
            self._add_id("shallow", id_)
        for spec in filters:
            self._add("filter", spec)
        for option, value in ((_STRATEGY, STRATEGIES[strategy]),
                              (_OBJECTS, objects),
                              (_FILTER_WANTS, filter_wants),
                              (_INEXACT, inexact), (_THREADS, threads)):
            _call("query_set", self._value, option, int(value))

    def _add(self, what, text):
        _call("query_" + what, self._value, os.fsencode(text))

    def _add_id(self, what, id_):
        _call("query_" + what, self._value, id_, len(id_))

    def run(self):
        """Return the Set of objects."""
        found = Set(self._repo)
        with _progress(self._progress) as callback:
            _lib.gitreach_query_progress(self._value, callback.c, None)
            _call("query_run", ctypes.byref(found._value), self._value)
        return found


def unique(queries):
    """Run several queries of one repository. Returns for each the set of objects
    that no other of the queries finds."""
    queries = list(queries)
    array = ctypes.c_void_p * len(queries)
    found = array()
    for query in queries:
        _lib.gitreach_query_progress(query._value, _library.PROGRESS_FN(),
                                     None)
    _call("query_unique", found, array(*(q._value.value for q in queries)),
          len(queries))
    sets = []
    for query, value in zip(queries, found):
        new = Set(query._repo)
        new._value = ctypes.c_void_p(value)
        sets.append(new)
    return sets


class Set(_Packable):
    """A set of objects of one snapshot: len(), in, iteration over (id, type),
    and the operators &, | and -."""

    _free = _lib.gitreach_set_free
    _write = "set_write_pack"

    def __init__(self, repo):
        super().__init__()
        self._repo = repo

    def count(self, types=None):
        """Return the number of objects of a type ("blob"), or of several."""
        return _lib.gitreach_set_count(self._value, _bits(types))

    def __len__(self):
        return self.count()

    def __contains__(self, id_):
        return bool(_lib.gitreach_set_contains(self._value, id_, len(id_)))

    def objects(self, types=None):
        """Return a list of (id, type): commits, trees, blobs, then tags."""
        found = []

        def take(id_, id_len, type_):
            found.append((ctypes.string_at(id_, id_len), _TYPE_NAMES[type_]))
        with _Callback(_library.OBJECT_FN, take) as callback:
            _call("set_each", self._value, _bits(types), callback.c, None)
        return found

    def __iter__(self):
        return iter(self.objects())

    def disk_size(self, types=None):
        """Return the stored bytes, as git rev-list --disk-usage counts."""
        size = ctypes.c_uint64()
        _call("set_disk_size", ctypes.byref(size), self._value, _bits(types))
        return size.value

    def explain(self):
        """Return an Explanation: how the set was found."""
        out = _library.Explanation(size=ctypes.sizeof(_library.Explanation))
        _call("set_explain", ctypes.byref(out), self._value)
        return Explanation(_STRATEGY_NAMES[out.strategy], out.bitmaps_used,
                           out.pseudo_merges_used, out.commits_walked,
                           out.objects_walked, out.nanoseconds,
                           _text(out.reason))

    def _combine(self, name, other):
        if not isinstance(other, Set):
            return NotImplemented
        new = Set(self._repo)
        _call(name, ctypes.byref(new._value), self._value, other._value)
        return new

    def __and__(self, other):
        return self._combine("set_and", other)

    def __or__(self, other):
        return self._combine("set_or", other)

    def __sub__(self, other):
        return self._combine("set_andnot", other)
