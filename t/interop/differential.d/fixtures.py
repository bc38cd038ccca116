# SPDX-License-Identifier: MIT
"""Named repositories for command lines, made by the stock Git.

Each function below with @fixture makes one. Its docstring says what is in it.
The repository is `repo`, beside which others may lie; command lines run in it.
The same stock Git makes the same ids, dates and files each time.
"""

import os
import shutil
import subprocess
import zlib

OLD = 1577880000  # 2020-01-01, the time of all files
BEGIN = 1112912000  # of commits

ALL = {}
NEEDS = {}
BASES = {}

CONFIG = """[init]
	defaultBranch = main
[gc]
	auto = 0
	autoDetach = false
[maintenance]
	auto = false
	autoDetach = false
[advice]
	detachedHead = false
	nestedTag = false
[core]
	checkStat = minimal
	trustCtime = false
[protocol "file"]
	allow = always
[user]
	name = C O Mitter
	email = committer@example.com
"""


def fixture(base=None, needs=None):
    def take(function):
        name = function.__name__.replace("_", "-")
        ALL[name], BASES[name], NEEDS[name] = function, base, needs
        if needs is None and base:
            NEEDS[name] = NEEDS[base]
        return function
    return take


class Maker:
    """Makes what is below `root`, the directory that becomes the fixture."""

    def __init__(self, root, git, env):
        self.root, self.stock, self.env = root, git, dict(env)
        self.tick, self.where = BEGIN, "repo"

    def path(self, *parts):
        return os.path.join(self.root, *parts)

    def git(self, *args, stdin=b"", where=None, env=None, ok=True):
        self.tick += 60
        date = "%d +0200" % self.tick
        if isinstance(stdin, str):
            stdin = stdin.encode()
        done = subprocess.run(
            [self.stock, *args], input=stdin, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, check=False,
            cwd=self.path(where or self.where),
            env=dict(self.env, GIT_AUTHOR_DATE=date, GIT_COMMITTER_DATE=date,
                     **(env or {})))
        if ok and done.returncode:
            raise RuntimeError("%s: %s" % (" ".join(args),
                                           done.stderr.decode()))
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def init(self, where="repo", *args, bare=False):
        self.git("init", "-q", "--template=", *(["--bare"] if bare else []),
                 *args, where, where=".")
        # bytes and inodes are not compared, but each file costs time
        self.where = where

    def dir(self):
        """The directory with the repository's own files."""
        inner = self.path(self.where, ".git")
        return inner if os.path.isdir(inner) else self.path(self.where)

    def write(self, path, text, mode=0o644):
        """A file, relative to the repository's own files."""
        path = os.path.join(self.dir(), path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.lexists(path):
            os.unlink(path)
        with open(path, "wb") as file:
            file.write(text.encode("utf-8", "surrogateescape")
                       if isinstance(text, str) else text)
        os.chmod(path, mode)

    def remove(self, path):
        path = os.path.join(self.dir(), path)
        if os.path.isdir(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)

    def id(self, name):
        return self.git("rev-parse", "--verify", "-q", name)

    def commit(self, name, *parents, tree=None):
        """A commit of a tree; its id."""
        args = [word for parent in parents for word in ("-p", parent)]
        return self.git("commit-tree", *args, "-m", name,
                        tree or self.id(parents[0] + "^{tree}"))

    def loose(self, id_):
        return "objects/%s/%s" % (id_[:2], id_[2:])

    def import_(self, stream, *args):
        self.git("fast-import", "--quiet", "--date-format=raw", "--force",
                 *args, stdin=stream)


class Stream:
    """A fast-import stream; commits are numbered by their marks."""

    def __init__(self, begin=BEGIN):
        self.rows, self.mark, self.when = [], 0, begin
        self.tips = {}

    def data(self, text):
        if isinstance(text, str):
            text = text.encode("utf-8", "surrogateescape")
        return b"data %d\n%s\n" % (len(text), text)

    def commit(self, branch, files=(), parents=None, message=None, step=60):
        self.mark += 1
        self.when += step
        if parents is None:
            parents = [self.tips[branch]] if branch in self.tips else []
        who = b"%s <%s@example.com> " + b"%d +0200\n" % self.when
        self.rows += [b"commit refs/heads/" + branch.encode() + b"\n",
                      b"mark :%d\n" % self.mark,
                      b"author " + who % (b"A U Thor", b"author"),
                      b"committer " + who % (b"C O Mitter", b"committer"),
                      self.data(message or "commit %d on %s\n" % (
                          self.mark, branch))]
        for nr, parent in enumerate(parents):
            self.rows.append(b"%s :%d\n" % (b"merge" if nr else b"from",
                                            parent))
        for path, text in files:
            if text is None:
                self.rows.append(b"D " + path.encode() + b"\n")
            else:
                self.rows.append(b"M 100644 inline " + path.encode() + b"\n"
                                 + self.data(text))
        self.rows.append(b"\n")
        self.tips[branch] = self.mark
        return self.mark

    def bytes(self):
        return b"".join(self.rows)


def history(m):
    """Eleven commits: main and side merge each other; an octopus merge.

    1 - 2 - 3 ----- 5 - 7 ------ 9 - 10 (main)
         \\         /   /        //
          4 ------+-- 6 (side) 8 (topic)      11 (alone), a root
    """
    s = Stream()
    one = s.commit("main", [("a", "a1\n"), ("dir/b", "b1\n")])
    two = s.commit("main", [("a", "a1\na2\n")])
    three = s.commit("main", [("dir/c", "c1\n"), ("big", "0123456789\n" * 90)])
    four = s.commit("side", [("side", "s\n")], [two])
    five = s.commit("main", [], [three, four], "merge side\n")
    six = s.commit("side", [("dir/b", "b1\nb2\n")], [four])
    seven = s.commit("main", [], [five, six], "merge side again\n", step=0)
    eight = s.commit("topic", [("dir/sub/t", "t\n")], [one])
    s.commit("main", [("a", "a1\na2\na3\n")], [seven, six, eight],
             "an octopus\n")
    s.commit("main", [("dir/c", None)], None, "the last one\n\nbody\n")
    s.commit("alone", [("x", "x\n")], [])
    m.import_(s.bytes())


def tags(m):
    """Tags of each type, of a tag, and of a tag of a tag."""
    m.git("tag", "light", "main~2")
    m.git("tag", "-a", "-m", "version 1", "v1.0", "main~3")
    m.git("tag", "-a", "-m", "version 2\n\nwith a body", "v2.0", "main")
    m.git("tag", "-a", "-m", "a tag of a tag", "nested", "v1.0")
    m.git("tag", "-a", "-m", "three deep", "nested2", "nested")
    m.git("tag", "-a", "-m", "of a tree", "of-tree", "main^{tree}")
    m.git("tag", "-a", "-m", "of a blob", "of-blob", "main:a")
    m.git("update-ref", "refs/tags/light-tree", m.id("main:dir"))
    m.git("update-ref", "refs/tags/light-blob", m.id("main:a"))


def remotes_of(m):
    m.git("update-ref", "refs/remotes/origin/main", "main~1")
    m.git("update-ref", "refs/remotes/origin/side", "side")
    m.git("symbolic-ref", "refs/remotes/origin/HEAD",
          "refs/remotes/origin/main")
    for key, value in (
            ("remote.origin.url", "../origin.git"),
            ("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"),
            ("branch.main.remote", "origin"),
            ("branch.main.merge", "refs/heads/main")):
        m.git("config", key, value)


# ---- one repository as most are, and its like


@fixture()
def plain(m):
    """Not bare, clean: merges, tags of all kinds, remotes, reflogs, a note,
    ORIG_HEAD and FETCH_HEAD; all loose."""
    m.init()
    history(m)
    m.git("checkout", "-q", "main")
    tags(m)
    remotes_of(m)
    m.git("notes", "add", "-m", "a note", "main")
    m.git("update-ref", "-m", "back", "HEAD", "main~1")
    m.git("update-ref", "-m", "forth", "HEAD", m.id("refs/tags/v2.0^{}"))
    m.git("update-ref", "ORIG_HEAD", "main~2")
    m.write("FETCH_HEAD", m.id("side") + "\t\tbranch 'side' of ../origin\n"
            + m.id("topic") + "\tnot-for-merge\tbranch 'topic' of ../origin\n")
    m.git("symbolic-ref", "refs/heads/link", "refs/heads/side")


@fixture()
def bare(m):
    """Bare, one pack without anything beside, one loose commit on main."""
    m.init("repo", bare=True)
    history(m)
    tags(m)
    m.git("repack", "-adq")
    m.git("pack-refs", "--all")
    m.git("update-ref", "refs/heads/main", m.commit("newer", "main"))


@fixture()
def empty(m):
    """Not bare, nothing in it, HEAD unborn."""
    m.init()


@fixture()
def empty_bare(m):
    """Bare, nothing in it, HEAD unborn."""
    m.init("repo", bare=True)


@fixture("plain")
def detached(m):
    """As plain; HEAD is detached at a merge; a stash."""
    m.git("checkout", "-q", "--detach", "main~2")
    with open(m.path("repo", "a"), "a", encoding="utf-8") as file:
        file.write("changed\n")
    m.git("stash", "push", "-q", "-m", "stashed")


@fixture("plain")
def subdir(m):
    """As plain; lines run in the directory `dir` of the work tree."""


@fixture("plain")
def packed_refs(m):
    """As plain; all refs packed, then some changed and one removed loosely."""
    m.git("pack-refs", "--all", "--prune")
    m.git("update-ref", "refs/heads/side", "main~4")
    m.git("update-ref", "refs/heads/new", "main~5")
    m.git("update-ref", "-d", "refs/heads/alone")


@fixture()
def merges(m):
    """Bare: crosswise merges, empty commits, clocks that go back."""
    m.init("repo", bare=True)
    s = Stream()
    base = s.commit("main", [("base", "base\n")])
    left, right = base, base
    for nr in range(6):
        l2 = s.commit("main", [("left", "left %d\n" % nr)] if nr % 2 else [],
                      [left, right] if nr else [left])
        right = s.commit("side", [("right", "right %d\n" % nr)],
                         [right, left] if nr else [right], step=-90)
        left = l2
    s.commit("main", [], None, "empty one\n")
    s.commit("main", [], None, "empty two\n", step=0)
    m.import_(s.bytes())


@fixture("bare")
def empty_commits(m):
    """As bare; two commits of the tree before them, one without a message,
    one of the empty tree, one with another encoding."""
    one = m.commit("nothing new", "main")
    two = m.commit("", one)
    nothing = m.git("mktree")
    three = m.commit("nothing left", two, tree=nothing)
    four = m.git("-c", "i18n.commitEncoding=ISO-8859-1", "commit-tree",
                 "-p", three, nothing, stdin=b"\xe4\xf6\n")
    m.git("update-ref", "refs/heads/main", four)


@fixture()
def submodule(m):
    """Not bare: a submodule `sub`, checked out, with .gitmodules."""
    m.init("module")
    m.import_(_one_commit())
    m.git("reset", "-q", "--hard")
    m.init()
    m.import_(_one_commit())
    m.git("reset", "-q", "--hard")
    m.git("submodule", "--quiet", "add", "../module", "sub")
    for path in ("repo/.git/modules/sub/hooks", "repo/.git/modules/sub/info"):
        shutil.rmtree(m.path(path), ignore_errors=True)
    m.git("commit", "-qm", "with a submodule")


def _one_commit():
    s = Stream()
    s.commit("main", [("one", "1\n"), ("two/three", "3\n")])
    return s.bytes()


# ---- history that is not what the objects say


@fixture("plain")
def replaced(m):
    """As plain; a commit, a blob and a tag's commit are replaced."""
    m.git("replace", "main~2", m.commit("instead", "side", "topic"))
    m.git("replace", "main:a", "side:side")
    m.git("replace", "-f", "topic", "alone")


@fixture("plain")
def grafts(m):
    """As plain; a graft gives main~1 another parent, and topic none."""
    m.write("info/grafts", "%s %s\n%s\n" % (
        m.id("main~1"), m.id("alone"), m.id("topic")))


@fixture()
def shallow(m):
    """Not bare: a clone of depth 2 of `origin.git`, which is beside."""
    m.init("origin.git", bare=True)
    history(m)
    tags(m)
    m.git("symbolic-ref", "HEAD", "refs/heads/main")
    m.git("clone", "-q", "--depth=2", "--no-single-branch", "--template=",
          "--no-local", "origin.git", "repo", where=".")
    m.where = "repo"


@fixture()
def partial(m):
    """Bare: a partial clone without blobs of `origin.git`."""
    m.init("origin.git", bare=True)
    history(m)
    tags(m)
    m.git("symbolic-ref", "HEAD", "refs/heads/main")
    m.git("config", "uploadpack.allowFilter", "true")
    m.git("config", "uploadpack.allowAnySHA1InWant", "true")
    m.git("clone", "-q", "--bare", "--filter=blob:none", "--template=",
          "--no-local", "origin.git", "repo", where=".")
    m.where = "repo"


@fixture()
def partial_broken(m):
    """As partial; origin.git is gone."""
    partial(m)
    shutil.rmtree(m.path("origin.git"))


# ---- where things are


@fixture()
def alternates(m):
    """Bare: borrows from `lender.git`, which has most; some objects of its
    own are in both."""
    m.init("lender.git", bare=True)
    history(m)
    tags(m)
    m.git("repack", "-adq")
    m.init("repo", bare=True)
    m.write("objects/info/alternates", m.path("lender.git/objects") + "\n")
    main = m.git("rev-parse", "main", where="lender.git")
    m.git("update-ref", "refs/heads/main", main)
    m.git("update-ref", "refs/heads/main", m.commit("newer", "main"))
    m.git("pack-objects", "-q", "objects/pack/pack",
          stdin=m.git("rev-list", "--objects", "--no-object-names",
                      "main~2") + "\n")


@fixture("plain")
def worktrees(m):
    """As plain; two more work trees, one detached, one locked; a worktree's
    own refs; one whose directory is gone."""
    m.git("worktree", "add", "-q", "../second", "side")
    m.git("worktree", "add", "-q", "--detach", "../third", "topic")
    m.git("worktree", "lock", "--reason", "because", "../third")
    m.git("worktree", "add", "-q", "-b", "lost", "../lost", "main~3")
    m.git("update-ref", "refs/bisect/bad", "main~1", where="second")
    m.git("update-ref", "refs/worktree/own", "main~2", where="third")
    shutil.rmtree(m.path("lost"))


# For lines of tables/roots.txt.
ROOTS = r"""
# side <name>: a commit that no ref reaches; prints its id
side () {
	git commit-tree -m "$1" main^{tree}
}

objects () {
	git cat-file --batch-all-objects --batch-check="%(objectname) %(objecttype)"
}

# lost <command>...: the objects that the commands delete in a copy of the
# repository
lost () {
	echo "$*:" &&
	cp -Rp . ../copy &&
	(
		cd ../copy &&
		objects >../before &&
		for command in "$@"
		do
			git $command || echo "exit $?"
		done &&
		objects >../after &&
		comm -23 ../before ../after
	)
	rm -rf ../copy ../before ../after
}

delete () {
	lost "prune --expire=now"
	lost "gc -q --prune=now"
	lost "repack -adq" "prune-packed"
	lost "repack -Adq --unpack-unreachable=now" "prune --expire=now"
	lost "repack -adq --cruft --cruft-expiration=now" "prune --expire=now"
}
"""


@fixture("worktrees")
def roots(m):
    """As worktrees; roots.sh beside the repository, with shell functions that
    delete objects in copies of the repository."""
    with open(m.path("roots.sh"), "w", encoding="ascii") as file:
        file.write(ROOTS)


@fixture("bare")
def namespaces(m):
    """As bare; refs of two namespaces, one nested, each with a HEAD."""
    for name, rev in (("one", "main"), ("two", "side"),
                      ("one/refs/namespaces/deep", "topic")):
        space = "refs/namespaces/" + name
        m.git("update-ref", space + "/refs/heads/main", rev)
        m.git("update-ref", space + "/refs/tags/in", "nested")
        m.git("symbolic-ref", space + "/HEAD", space + "/refs/heads/main")


@fixture(needs=(2, 45))
def reftable(m):
    """As plain, refs and reflogs in reftables."""
    m.init("repo", "--ref-format=reftable")
    history(m)
    m.git("symbolic-ref", "HEAD", "refs/heads/main")
    m.git("reset", "-q", "--hard")
    tags(m)
    remotes_of(m)
    m.git("update-ref", "-m", "back", "HEAD", "main~1")
    m.git("update-ref", "-m", "forth", "HEAD", m.id("refs/tags/v2.0^{}"))
    m.git("update-ref", "ORIG_HEAD", "main~2")
    m.git("symbolic-ref", "refs/heads/link", "refs/heads/side")


@fixture()
def sha256(m):
    """As bare, with SHA-256."""
    m.init("repo", "--object-format=sha256", bare=True)
    history(m)
    tags(m)
    m.git("repack", "-adq")
    m.git("update-ref", "refs/heads/main", m.commit("newer", "main"))


# ---- packs and what lies beside them


def _several(m):
    """Three packs; objects of the second are in the third as well; loose
    objects; an unreachable one that is loose and one that is packed."""
    m.init("repo", bare=True)
    s = Stream()
    for nr in range(6):
        s.commit("main", [("f%d" % (nr % 3), "%d\n" % nr),
                          ("d/e", "e\n" * nr)])
    m.import_(s.bytes())
    m.git("repack", "-dq")
    lost = m.git("hash-object", "-w", "--stdin", stdin="packed, unreachable\n")
    new = m.commit("a", "main")
    m.git("update-ref", "refs/heads/main", new)
    m.git("pack-objects", "-q", "objects/pack/pack",
          stdin="\n".join([lost, new, ""]))
    m.git("prune-packed", "-q")
    newer = m.commit("b", "main")
    m.git("update-ref", "refs/heads/main", newer)
    m.git("pack-objects", "-q", "objects/pack/pack",
          stdin="\n".join([newer, new, ""]))
    m.git("prune-packed", "-q")
    m.git("hash-object", "-w", "--stdin", stdin="loose, unreachable\n")
    m.git("update-ref", "refs/heads/main", m.commit("c", "main"))
    m.git("tag", "-a", "-m", "tagged", "tag", "main~1")


@fixture()
def packs(m):
    """Bare: three packs with an object in two, loose objects, unreachable
    ones; see _several()."""
    _several(m)


@fixture("packs")
def midx(m):
    """As packs; a multi-pack-index."""
    m.git("multi-pack-index", "write")


@fixture("packs")
def midx_bitmap(m):
    """As packs; a multi-pack-index with a bitmap."""
    m.git("multi-pack-index", "write", "--bitmap")


@fixture("packs")
def kept(m):
    """As packs; the largest pack has a .keep file."""
    sizes = []
    for name in os.listdir(m.path("repo/objects/pack")):
        if name.endswith(".pack"):
            path = m.path("repo/objects/pack", name)
            sizes.append((os.path.getsize(path), path[:-5]))
    sizes.sort()
    with open(sizes[-1][1] + ".keep", "w", encoding="utf-8") as file:
        file.write("kept\n")


@fixture("packs")
def bitmaps(m):
    """As packs; all in one pack with a bitmap, and a newer loose commit."""
    m.git("repack", "-adbq")
    m.git("update-ref", "refs/heads/main", m.commit("d", "main"))


@fixture("packs")
def commit_graph(m):
    """As packs; a commit-graph with Bloom filters, without the newest."""
    m.git("commit-graph", "write", "--reachable", "--changed-paths")
    m.git("update-ref", "refs/heads/main", m.commit("d", "main"))


@fixture("packs")
def graph_chain(m):
    """As packs; a chain of two commit-graphs."""
    m.git("commit-graph", "write", "--reachable", "--split=no-merge")
    m.git("update-ref", "refs/heads/main", m.commit("d", "main"))
    m.git("commit-graph", "write", "--reachable", "--split=no-merge")


@fixture("packs")
def cruft(m):
    """As packs; one pack of what is reachable, one of cruft."""
    m.git("repack", "--cruft", "-dq")
    m.git("hash-object", "-w", "--stdin", stdin="loose and new\n")


@fixture("packs")
def garbage(m):
    """As packs; files that do not belong there: temporary ones, a pack without
    an index, an index without a pack, odd names, an empty loose object."""
    m.write("objects/pack/tmp_pack_abc123", "temporary")
    m.write("objects/17/tmp_obj_abc123", "temporary")
    m.write("objects/pack/pack-%s.pack" % ("1" * 40), "no pack")
    m.write("objects/pack/pack-%s.idx" % ("2" * 40), "no index")
    m.write("objects/pack/pack-%s.bitmap" % ("3" * 40), "no bitmap")
    m.write("objects/pack/foo.txt", "what is this")
    m.write("objects/17/xyz", "what is this")
    m.write("objects/zz/" + "0" * 38, "not a fan-out directory")
    m.write("objects/18/" + "1" * 38, "")


# ---- damage


@fixture("plain")
def corrupt(m):
    """As plain; the blob side:side is damaged, topic's tree is empty."""
    m.write(m.loose(m.id("side:side")), b"damaged", 0o444)
    m.write(m.loose(m.id("topic^{tree}")), b"", 0o444)


@fixture("plain")
def wrong_hash(m):
    """As plain; where the blob main:a should be there is another one."""
    data = b"blob 6\0wrong\n"
    path = m.loose(m.id("main:a"))
    m.remove(path)
    m.write(path, zlib.compress(data), 0o444)


@fixture("plain")
def missing(m):
    """As plain; a blob, a tree, a commit and a tag's commit are missing."""
    gone = [m.id("side:dir/b"), m.id("main~4:dir"), m.id("main~6"),
            m.id("v1.0^{}")]
    for id_ in set(gone):
        m.remove(m.loose(id_))


@fixture("bare")
def corrupt_pack(m):
    """As bare; bytes in the middle of the pack are damaged."""
    where = m.path("repo/objects/pack")
    for name in os.listdir(where):
        if name.endswith(".pack"):
            path = os.path.join(where, name)
            os.chmod(path, 0o644)
            with open(path, "r+b") as file:
                file.seek(os.path.getsize(path) // 2)
                file.write(b"\0\0\0\0\0\0")
            os.chmod(path, 0o444)


# ---- refs that are not as they should be


@fixture("plain")
def odd_refs(m):
    """As plain; odd ref names of all kinds, most of which are allowed."""
    main = m.id("main")
    for name in ("refs/heads/a b".replace(" ", "@"), "refs/heads/-dash",
                 "refs/heads/\u00fcml\u00e4ut", "refs/heads/HEAD",
                 "refs/heads/refs/heads/main", "refs/heads/v1.0",
                 "refs/tags/main", "refs/heads/a.b", "refs/heads/x@y",
                 "refs/odd/one", "refs/heads/@", "refs/heads/'q\"uote",
                 "refs/heads/with%25", "refs/remotes/main", "refs/stray",
                 "refs/heads/" + "long" * 40, "refs/heads/" + main[:10],
                 "refs/heads/deep/er/than/most"):
        m.write(name, main + "\n")
    m.write("refs/heads/topic.lock", "")


@fixture("plain")
def broken_refs(m):
    """As plain; refs that are empty, garbage, links, directories, of missing
    objects, dangling, in circles, of bad names."""
    m.write("refs/heads/empty", "")
    m.write("refs/heads/garbage", "garbage\n")
    m.write("refs/heads/zeros", "0" * 40 + "\n")
    m.write("refs/heads/absent", "1234567890" * 4 + "\n")
    m.write("refs/heads/short", m.id("main")[:20] + "\n")
    m.write("refs/heads/trailing", m.id("main") + " more\n")
    m.write("refs/heads/bad..name", m.id("main") + "\n")
    m.write("refs/heads/dangling", "ref: refs/heads/nowhere\n")
    m.write("refs/heads/loop1", "ref: refs/heads/loop2\n")
    m.write("refs/heads/loop2", "ref: refs/heads/loop1\n")
    m.write("refs/heads/outside", "ref: foo\n")
    os.symlink("main", os.path.join(m.dir(), "refs/heads/symlink"))
    os.symlink("refs/heads/nowhere",
               os.path.join(m.dir(), "refs/heads/symlink-dangling"))
    os.makedirs(os.path.join(m.dir(), "refs/heads/directory/of/nothing"))


@fixture("plain")
def impossible_refs(m):
    """As plain; symbolic refs to names that no ref can have."""
    m.write("refs/heads/up", "ref: refs/../x\n")
    m.write("refs/heads/topic", "ref: refs/heads/a..b\n")
    m.write("refs/tags/blank", "ref: \n")


@fixture("plain")
def zero_refs(m):
    """As plain; HEAD and a branch hold ids of zeros."""
    m.write("HEAD", "0" * 40 + "\n")
    m.write("refs/heads/side", "0" * 40 + "\n")


@fixture("plain")
def broken_head(m):
    """As plain; HEAD holds an id of nothing."""
    m.write("HEAD", "1234567890" * 4 + "\n")


@fixture("plain")
def broken_packed_refs(m):
    """As plain; a line of packed-refs is garbage."""
    m.git("pack-refs", "--all", "--prune")
    with open(os.path.join(m.dir(), "packed-refs"), "a",
              encoding="utf-8") as file:
        file.write("garbage line\n")


@fixture("plain")
def no_head(m):
    """Nearly a repository: HEAD is missing."""
    m.remove("HEAD")


@fixture()
def nowhere(m):
    """No repository at all; a file."""
    os.mkdir(m.path("repo"))
    with open(m.path("repo/file"), "w", encoding="utf-8") as file:
        file.write("text\n")


DIRS = {"subdir": "repo/dir"}


def where_of(name):
    return DIRS.get(name, "repo")


def make(name, root, git, env):
    """Make a fixture in the empty directory `root`, without its age."""
    m = Maker(root, git, env)
    chain = [name]
    while BASES[chain[-1]]:
        chain.append(BASES[chain[-1]])
    for one in reversed(chain):
        m.where = "repo"
        ALL[one](m)
    return m


def age(root, git, env):
    """Give all files the same time, then let indexes know their files."""
    indexes = []
    for where, dirs, files in os.walk(root):
        for name in files + dirs:
            os.utime(os.path.join(where, name), (OLD, OLD),
                     follow_symlinks=False)
        if ".git" in dirs or ".git" in files:
            indexes.append(where)
    for where in indexes:
        subprocess.run([git, "update-index", "-q", "--refresh"], cwd=where,
                       env=env, stdout=subprocess.DEVNULL, check=False,
                       stderr=subprocess.DEVNULL)
    for where, _, files in os.walk(root):
        if "index" in files:
            os.utime(os.path.join(where, "index"), (OLD + 60, OLD + 60))
