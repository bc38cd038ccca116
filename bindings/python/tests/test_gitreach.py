# SPDX-License-Identifier: MIT
"""Tests of the package gitreach. GIT names the git that makes repositories.

GITREACH_ABI names the file gitreach.abi with which the prototypes are compared.
"""

import ctypes
import io
import os
import re
import subprocess
import tempfile
import threading
import unittest

import gitreach
from gitreach import _library

GIT = os.environ.get("GIT", "git")
ENV = {"PATH": os.environ["PATH"], "HOME": "/nonexistent",
       "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "a",
       "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a",
       "GIT_COMMITTER_EMAIL": "a@b"}
# functions that Python does not need
UNUSED = {"error_errno", "id_print", "id_parse"}
STRUCTS = {"gitreach_progress": _library.Progress,
           "gitreach_ref": _library.Ref,
           "gitreach_object_info": _library.ObjectInfo,
           "gitreach_explanation": _library.Explanation,
           "gitreach_bitmap_info": _library.BitmapInfo,
           "gitreach_bitmap_entry": _library.BitmapEntry,
           "gitreach_verify_options": _library.VerifyOptions,
           "gitreach_bitmap_options": _library.BitmapOptions,
           "gitreach_pack_options": _library.PackOptions,
           "gitreach_pack_report": _library.PackReport}


class Case(unittest.TestCase):
    """A repository of 12 commits, the last two of them without a bitmap."""

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.place.name, "r")
        cls.git_in(".", "init", "-q", cls.path)
        cls.git("symbolic-ref", "HEAD", "refs/heads/main")
        for i in range(10):
            cls.commit(i)
        cls.git("tag", "-a", "-m", "first", "v1", "HEAD~4")
        cls.git("branch", "old", "HEAD~7")
        cls.git("repack", "-adbq")
        cls.commit(10)
        cls.commit(11)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    @classmethod
    def git_in(cls, path, *arguments, text=None):
        return subprocess.run([GIT, "-C", path, *arguments], check=True,
                              env=ENV, input=text,
                              stdout=subprocess.PIPE).stdout

    @classmethod
    def git(cls, *arguments, text=None):
        return cls.git_in(cls.path, *arguments, text=text)

    @classmethod
    def commit(cls, i):
        with open(os.path.join(cls.path, f"f{i % 4}"), "w") as out:
            out.write(f"line {i}\n" * (i + 1))
        cls.git("add", ".")
        cls.git("commit", "-q", "-m", f"commit {i}")

    def setUp(self):
        self.repo = gitreach.Repository(self.path)
        self.addCleanup(self.repo.close)

    def listed(self, *arguments):
        """What git rev-list --objects prints, as a set of ids."""
        lines = self.git("rev-list", "--objects", "--no-object-names",
                         *arguments).split()
        return {bytes.fromhex(line.decode()) for line in lines}

    def id_of(self, name):
        return bytes.fromhex(self.git("rev-parse", name).decode().strip())


class Prototypes(unittest.TestCase):
    def setUp(self):
        if "GITREACH_ABI" not in os.environ:
            self.skipTest("GITREACH_ABI is not set")
        with open(os.environ["GITREACH_ABI"]) as abi:
            self.lines = abi.read().split("\n")

    def test_all_functions_are_known(self):
        pattern = re.compile(r"function .*?\bgitreach_(\w+)\((.*)\)$")
        matches = [m for m in map(pattern.match, self.lines) if m]
        counts = {m[1]: 0 if m[2] == "void" else m[2].count(",") + 1
                  for m in matches}
        known = {name: len(types) - 1
                 for name, types in _library.FUNCTIONS.items()}
        for name in UNUSED:
            counts.pop(name)
        self.assertEqual(known, counts)

    def test_all_structs_have_the_right_layout(self):
        pattern = re.compile(
            r"struct (\w+)(?:\.(\w+) offset (\d+))? bytes (\d+)$")
        matches = [m for m in map(pattern.match, self.lines) if m]
        self.assertEqual({m[1] for m in matches}, set(STRUCTS))
        for m in matches:
            struct = STRUCTS[m[1]]
            if m[2]:
                field = getattr(struct, m[2])
                self.assertEqual((m[0], field.offset, field.size),
                                 (m[0], int(m[3]), int(m[4])))
            else:
                self.assertEqual(ctypes.sizeof(struct), int(m[4]))


class Repositories(Case):
    def test_facts(self):
        self.assertEqual(self.repo.hash, "sha1")
        self.assertEqual(self.repo.id_len, 20)
        self.assertFalse(self.repo.has_changed())
        self.assertRegex(gitreach.version(), r"^\d+\.\d+\.\d+")
        with self.assertRaises(gitreach.Error):
            gitreach.Repository("/nowhere/at/all")
        with self.assertRaises(TypeError):
            gitreach.Repository(self.path, colour=True)

    def test_names_and_refs(self):
        self.assertEqual(self.repo.resolve("main~3"), self.id_of("main~3"))
        with self.assertRaisesRegex(gitreach.Missing, "nobody"):
            self.repo.resolve("nobody")
        refs = {ref.name: ref for ref in self.repo.refs()}
        self.assertEqual(set(refs), {"HEAD", "refs/heads/main",
                                     "refs/heads/old", "refs/tags/v1"})
        self.assertEqual(refs["HEAD"].target, "refs/heads/main")
        self.assertEqual(refs["refs/tags/v1"].id, self.id_of("v1"))
        self.assertEqual([ref.name for ref in self.repo.refs("refs/tags/")],
                         ["refs/tags/v1"])

    def test_objects(self):
        for name in "main", "main^{tree}", "main:f1", "v1":
            type_, size = self.git("cat-file", "--batch-check=%(objecttype) "
                                   "%(objectsize)",
                                   text=name.encode()).split()
            self.assertEqual(self.repo.info(self.id_of(name)),
                             (type_.decode(), int(size)))
        with self.assertRaises(gitreach.Missing):
            self.repo.info(b"\1" * 20)

    def test_bitmaps(self):
        info = self.repo.bitmap_info()
        self.assertEqual(info.objects, len(self.listed("main~2", "v1", "old")))
        self.assertEqual(len(self.repo.bitmaps()), info.bitmaps)
        self.repo.verify_bitmap()
        with gitreach.Repository(self.path, no_bitmap=True) as repo:
            with self.assertRaises(gitreach.Missing):
                repo.bitmap_info()

    def test_use_after_close(self):
        self.repo.close()
        with self.assertRaises(gitreach.Error):
            self.repo.refs()
        self.assertIsNone(self.repo.hash)


class Queries(Case):
    def test_same_as_git(self):
        cases = [(["main"], []), (["main", "v1"], ["old"]),
                 (["main"], ["main~1"]), (["old"], ["main"])]
        for wants, haves in cases:
            for strategy in "auto", "walk", "check":
                with self.subTest(wants=wants, haves=haves, by=strategy):
                    found = self.repo.query(wants=wants, haves=haves,
                                            strategy=strategy).run()
                    expected = self.listed(*wants)
                    if haves:
                        expected -= self.listed(*haves)
                    self.assertEqual({id_ for id_, _ in found}, expected)
                    self.assertEqual(len(found), len(expected))
                    self.assertTrue(all(id_ in found for id_ in expected))

    def test_refs_and_ids(self):
        all_ = self.repo.query(want_refs=[""]).run()
        self.assertEqual(len(all_), len(self.listed("--all")))
        some = self.repo.query(want_refs=[""], exclude_refs=[
            "HEAD", "refs/heads/main"]).run()
        self.assertEqual(len(some), len(self.listed("v1", "old")))
        named = self.repo.query(wants=[self.id_of("main")]).run()
        self.assertEqual(len(named), len(self.listed("main")))
        with self.assertRaises(gitreach.Error):
            self.repo.query(wants=[b"short"])

    def test_filters_and_types(self):
        found = self.repo.query(wants=["main"], filters=["blob:none"]).run()
        self.assertEqual(found.count("blob"), 0)
        self.assertEqual(found.count(["commit", "tree"]), len(found))
        commits = self.repo.query(wants=["main"], objects=False).run()
        self.assertEqual([type_ for _, type_ in commits], ["commit"] * 12)
        self.assertEqual(self.repo.query(wants=["main"], shallow=[
            self.id_of("main")]).run().count("commit"), 1)

    def test_unique(self):
        a, b = gitreach.unique([self.repo.query(wants=["main"]),
                                self.repo.query(wants=["v1"])])
        self.assertEqual({id_ for id_, _ in a},
                         self.listed("main") - self.listed("v1"))
        self.assertEqual([type_ for _, type_ in b], ["tag"])
        self.assertEqual(gitreach.unique([]), [])

    def test_progress(self):
        seen = []
        self.repo.query(wants=["main"], progress=seen.append).run()
        self.assertEqual(seen[0].phase, "Starting")
        with self.assertRaises(gitreach.Cancelled):
            self.repo.query(wants=["main"], progress=lambda p: True).run()
        with self.assertRaises(ZeroDivisionError):
            self.repo.query(wants=["main"], progress=lambda p: 1 / 0).run()

    def test_threads_share_a_repository(self):
        counts = []

        def count():
            counts.append(len(self.repo.query(wants=["main"]).run()))
        threads = [threading.Thread(target=count) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(counts, [len(self.listed("main"))] * 8)


class Sets(Case):
    def test_algebra(self):
        a = self.repo.query(wants=["main"]).run()
        b = self.repo.query(wants=["v1"]).run()
        ids = [{id_ for id_, _ in s} for s in (a, b)]
        for name in "__and__", "__or__", "__sub__":
            both = getattr(a, name)(b)
            self.assertEqual({id_ for id_, _ in both},
                             getattr(ids[0], name)(ids[1]))
        with self.assertRaises(TypeError):
            a - ids[1]
        with self.assertRaises(gitreach.Error):
            a & self.repo.refresh().query(wants=["v1"]).run()

    def test_sizes(self):
        a = self.repo.query(wants=["main"]).run()
        expected = int(self.git("rev-list", "--objects", "--disk-usage",
                                "main"))
        self.assertEqual(a.disk_size(), expected)
        self.assertEqual(a.disk_size("blob") + a.disk_size(
            ["commit", "tree", "tag"]), expected)
        self.assertEqual(a.explain().strategy, "bitmap")
        self.assertEqual(a.explain().reason, "")

    def test_sets_of_ids(self):
        ids = [self.id_of("main"), self.id_of("main:f1"), self.id_of("v1")]
        found = self.repo.set_of(ids)
        self.assertEqual(sorted(id_ for id_, _ in found), sorted(ids))
        self.assertEqual(len(self.repo.set_of([])), 0)
        with self.assertRaises(gitreach.Missing):
            self.repo.set_of([b"\1" * 20])
        with self.assertRaises(ValueError):
            self.repo.set_of([b"\1" * 32])


class Packs(Case):
    def receive(self, *haves):
        """An empty repository, or one with the closure of some commits."""
        path = tempfile.mkdtemp(dir=self.place.name)
        self.git_in(".", "init", "-q", "--bare", path)
        for have in haves:
            self.git("push", "-q", path, have + ":refs/heads/" +
                     have.replace("~", "-"))
        return path

    def test_clone(self):
        out = io.BytesIO()
        report = self.repo.query(wants=["main"]).write_pack(
            out, ofs_delta=True)
        self.assertEqual(report.bytes, len(out.getvalue()))
        self.assertEqual(report.objects, len(self.listed("main")))
        path = self.receive()
        self.git_in(path, "index-pack", "--stdin", "--strict",
                    text=out.getvalue())
        self.git_in(path, "rev-list", "--objects",
                    self.id_of("main").hex())

    def test_thin_fetch(self):
        out = io.BytesIO()
        self.repo.query(wants=["main"], haves=["old"]).write_pack(
            out, thin=True, ofs_delta=True)
        path = self.receive("old")
        self.git_in(path, "index-pack", "--stdin", "--fix-thin",
                    text=out.getvalue())
        self.git_in(path, "rev-list", "--objects",
                    self.id_of("main").hex())

    def test_set(self):
        found = self.repo.set_of([self.id_of("main:f1")])
        out = io.BytesIO()
        self.assertEqual(found.write_pack(out).objects, 1)
        self.assertTrue(out.getvalue().startswith(b"PACK"))
        with self.assertRaises(gitreach.Error):
            found.write_pack(out, thin=True)

    def test_writers(self):
        parts = []

        class Returns(io.RawIOBase):
            def __init__(self, function):
                super().__init__()
                self.write = function

        def some(bytes_):
            parts.append(bytes(bytes_[:100]))
            return len(parts[-1])

        def nothing(bytes_):
            parts.append(bytes(bytes_))
        query = self.repo.query(wants=["main"])
        out = io.BytesIO()
        query.write_pack(out)
        query.write_pack(Returns(some))
        self.assertEqual(b"".join(parts), out.getvalue())
        with self.assertRaises(BlockingIOError):
            query.write_pack(Returns(lambda bytes_: None))
        parts.clear()
        query.write_pack(type("Duck", (), {"write": staticmethod(nothing)}))
        self.assertEqual(b"".join(parts), out.getvalue())

    def test_a_wrong_option(self):
        with self.assertRaises(TypeError):
            self.repo.query(colour=True)

    def test_a_writer_that_fails(self):
        class Full(io.RawIOBase):
            def write(self, bytes_):
                raise OSError(28, "No space left on device")
        with self.assertRaises(OSError):
            self.repo.query(wants=["main"]).write_pack(Full())


if __name__ == "__main__":
    unittest.main()
