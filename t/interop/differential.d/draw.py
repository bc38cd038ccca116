# SPDX-License-Identifier: MIT
"""Command lines at random, in repositories at random.

A seed gives the same lines each time, and a repository random-<seed> is the
same each time with the same stock Git. grammar.py has the words.
"""

import os
import random
import shlex
import shutil

import fixtures
import grammar
import lines as command_lines

PER_REPOSITORY = 25
NAMED = ["plain", "bare", "packed-refs", "merges", "replaced", "grafts",
         "shallow", "alternates", "worktrees", "namespaces", "packs", "midx",
         "midx-bitmap", "bitmaps", "commit-graph", "graph-chain", "cruft",
         "corrupt", "missing", "corrupt-pack", "odd-refs", "broken-refs",
         "empty", "detached", "empty-commits", "submodule", "subdir", "sha256"]
PATHS = ["a", "b", "big", "dir/b", "dir/c", "dir/sub/t", "d/e", "x", "A"]


# ---- repositories


def history(m, dice):
    """A random graph of commits on the branches that fixtures have."""
    names, s = ["main", "side", "topic", "alone"], fixtures.Stream()
    made = []
    for nr in range(dice.choice((4, 6, 10, 20, 40))):
        branch = names[nr] if nr < 4 else dice.choice(names)
        parents = [s.tips[branch]] if branch in s.tips else []
        if made and dice.random() < 0.3:
            parents += [dice.choice(made)
                        for _ in range(dice.choice((1, 1, 1, 2)))]
        if not parents and made and dice.random() < 0.8:
            parents = [dice.choice(made)]
        parents = list(dict.fromkeys(parents))
        files = [(dice.choice(PATHS), change(dice))
                 for _ in range(dice.choice((0, 1, 1, 2, 3)))]
        if not nr:
            files = [("a", "a\n"), ("dir/b", "b\n"), ("sparse", "/dir/\n")]
        made.append(s.commit(
            branch, files, parents, dice.choice((
                None, None, "commit\n\nbody %d\n" % nr, "", "no end of line")),
            step=dice.choice((60, 60, 60, 0, -90, 3600))))
    m.import_(s.bytes())


def change(dice):
    kind = dice.random()
    if kind < 0.1:
        return None
    if kind < 0.2:
        return "0123456789\n" * dice.choice((1, 100, 200))
    return "%d\n" % dice.randrange(8)


def tags(m, dice):
    m.git("tag", "light", "main")
    m.git("tag", "-am", "one", "v1.0", dice.choice(("main", "side", "topic")))
    m.git("tag", "-am", "two\n\nbody", "v2.0", "alone")
    m.git("tag", "-am", "nested", "nested", "v1.0")
    m.git("tag", "-am", "deeper", "nested2", "nested")
    m.git("tag", "-am", "of a tree", "of-tree", "main^{tree}", ok=False)
    m.git("tag", "-am", "of a blob", "of-blob", "main:a", ok=False)
    m.git("update-ref", "refs/tags/light-tree", "main^{tree}")
    m.git("symbolic-ref", "refs/heads/link", "refs/heads/side")


def replace(m, dice):
    m.git("replace", "-f", dice.choice(("main~1", "main", "side")),
          dice.choice(("topic", "alone")), ok=False)
    m.git("replace", "-f", "main:a", "main:sparse", ok=False)


def graft(m, dice):
    m.write("info/grafts", "%s %s\n" % (m.id("main"), m.id("alone"))
            if dice.random() < 0.7 else m.id("side") + "\n")


def shallow(m, dice):
    ids = m.git("rev-list", "--all").split()
    some = sorted(dice.sample(ids, min(len(ids), dice.choice((1, 2)))))
    m.write("shallow", "".join(id_ + "\n" for id_ in some))


def borrow(m, dice):
    """All that is there now is lent by another repository."""
    inner, lender = m.dir(), m.path("lender.git")
    shutil.copytree(inner, lender, symlinks=True)
    if dice.random() < 0.7:
        for name in os.listdir(inner + "/objects"):
            if len(name) == 2 and dice.random() < 0.8:
                shutil.rmtree(os.path.join(inner, "objects", name))
    m.write("objects/info/alternates", dice.choice((
        lender + "/objects\n",
        os.path.relpath(lender + "/objects", inner + "/objects") + "\n")))


def worktrees(m, dice):
    m.git("worktree", "add", "-q", "../second", "side", ok=False)
    m.git("update-ref", "refs/worktree/own", "main", ok=False)
    if dice.random() < 0.3:
        shutil.rmtree(m.path("second"), ignore_errors=True)


def namespace(m, dice):
    space = "refs/namespaces/one/"
    m.git("update-ref", space + "refs/heads/main", dice.choice(
        ("main", "side")))
    m.git("symbolic-ref", space + "HEAD", space + "refs/heads/main")


def promisor(m, dice):
    """Blobs are promised, and some are not there; nobody can be asked."""
    m.git("repack", "-adq")
    m.git("config", "remote.origin.promisor", "true")
    m.git("config", "remote.origin.url", m.path("nothing"))
    m.git("config", "extensions.partialClone", "origin")
    m.git("config", "core.repositoryFormatVersion", "1")
    where = m.dir() + "/objects/pack/"
    for name in os.listdir(where):
        if name.endswith(".pack"):
            with open(where + name[:-5] + ".promisor", "wb"):
                pass


def pack_refs(m, dice):
    m.git("pack-refs", "--all", *(["--no-prune"] if dice.random() < 0.3
                                  else []))
    m.git("update-ref", "refs/heads/side", "topic")


def packs(m, dice):
    m.git("repack", "-dq")
    for nr in range(dice.randrange(3)):
        m.git("update-ref", "refs/heads/main", m.commit("pack %d" % nr, "main"))
        m.git("repack", "-dq")
    m.git("update-ref", "refs/heads/topic", m.commit("loose", "topic"))


def midx(m, dice):
    packs(m, dice)
    m.git("multi-pack-index", "write", *(["--bitmap"] if dice.random() < 0.5
                                         else []), ok=False)


def bitmap(m, dice):
    m.git("repack", "-adbq", ok=False)
    m.git("update-ref", "refs/heads/side", m.commit("newer", "side"))


def graph(m, dice):
    m.git("commit-graph", "write", "--reachable", *dice.choice((
        ["--changed-paths"], [], ["--split"])), ok=False)
    m.git("update-ref", "refs/heads/main", m.commit("newer", "main", "topic"))


def cruft(m, dice):
    for nr in range(3):
        m.git("hash-object", "-w", "--stdin", stdin="lost %d\n" % nr)
    m.git("repack", "--cruft", "-dq", ok=False)
    m.git("hash-object", "-w", "--stdin", stdin="lost 3\n")


def some_loose(m, dice):
    found = sorted(
        name + "/" + file for name in os.listdir(m.dir() + "/objects")
        if len(name) == 2 for file in os.listdir(
            m.dir() + "/objects/" + name))
    return "objects/" + dice.choice(found) if found else None


def corrupt(m, dice):
    path = some_loose(m, dice)
    if path:
        m.write(path, dice.choice((b"", b"garbage", b"x\x9c")), 0o444)


def missing(m, dice):
    path = some_loose(m, dice)
    if path:
        m.remove(path)


def unborn(m, dice):
    m.git("symbolic-ref", "HEAD", "refs/heads/unborn")


def detach(m, dice):
    m.git("update-ref", "--no-deref", "HEAD", dice.choice(("main", "topic")))


def moved(m, dice):
    """Reflogs of several entries."""
    for rev in "main~1", "side", "topic", "alone":
        m.git("update-ref", "--create-reflog", "-m", "to " + rev,
              "refs/heads/main", rev, ok=False)
    m.git("update-ref", "-m", "at last", "HEAD", "side", ok=False)


def pseudo(m, dice):
    m.git("update-ref", "ORIG_HEAD", "topic")
    m.write("FETCH_HEAD", m.id("side") + "\t\tbranch 'side' of elsewhere\n")
    m.write("MERGE_HEAD", m.id("alone") + "\n")


def odd(m, dice):
    fixtures.odd_refs(m)


def broken(m, dice):
    fixtures.broken_refs(m)


FILES_ONLY = [odd, broken]
FEATURES = [replace, graft, shallow, borrow, worktrees, namespace, promisor,
            pack_refs, packs, packs, midx, bitmap, graph, cruft, corrupt,
            missing, unborn, detach, moved, moved, pseudo] + FILES_ONLY


def make(name, root, git, env, version):
    """Returns the names of what the repository has, such as "shallow"."""
    dice = random.Random(name)
    m = fixtures.Maker(root, git, env)
    args = []
    hash_ = "sha256" if name.endswith("-sha256") else "sha1"
    reftable = version >= (2, 45) and dice.random() < 0.12
    if reftable:
        args.append("--ref-format=reftable")
    m.init("repo", "--object-format=" + hash_, *args,
           bare=dice.random() < 0.5)
    m.git("config", "core.logAllRefUpdates", "true")
    history(m, dice)
    tags(m, dice)
    if dice.random() < 0.5 and m.git("rev-parse", "-q", "--verify", "main~1",
                                     ok=False):
        fixtures.remotes_of(m)
    if m.dir().endswith(".git") and dice.random() < 0.7:
        m.git("reset", "-q", "--hard")
    made = ["reftable"] if reftable else []
    for feature in dice.sample(FEATURES, dice.choice((0, 1, 1, 2, 3))):
        if reftable and feature in FILES_ONLY:
            continue
        if hash_ == "sha256" and feature in (broken,):
            continue
        try:
            made.append(feature.__name__)
            feature(m, dice)
        except RuntimeError:
            pass  # what is damaged already refuses
    return made


# ---- command lines


class Drawer:
    def __init__(self, dice, version, fixture):
        self.dice, self.version, self.fixture = dice, version, fixture
        self.kinds = {name[3:]: getattr(self, name) for name in dir(self)
                      if name.startswith("as_")}
        self.words = {name: shlex.split(text)
                      for name, text in grammar.WORDS.items()}

    def one(self, text):
        return self.dice.choice(shlex.split(text))

    # words in <>

    def as_rev(self):
        kind = self.dice.random()
        if kind < 0.06:
            return self.as_badrev()
        if kind < 0.12 and self.fixture.startswith("random-"):
            return self.as_id()
        base = self.one(grammar.REV_BASES)
        while self.dice.random() < 0.3:
            base += self.one(grammar.REV_ENDS)
        return base

    def as_badrev(self):
        return self.one(grammar.BAD_REVS)

    def as_id(self):
        base = self.dice.choice(("main", "side", "topic", "main^{tree}",
                                 "v1.0", "nested", "alone"))
        return "$(%s)" % base if self.fixture.startswith("random-") else "$ZERO"

    def as_prefix(self):
        return self.dice.choice(("a", "ab", "0", "1234", "12345", "ffff", "x",
                                 "abcdef", "00", "e69de29"))

    def as_revs(self):
        return [self.dice.choice(("", "", "", "^")) + self.as_rev()
                for _ in range(self.dice.choice((1, 1, 1, 2, 2, 3)))]

    def as_range(self):
        return self.as_rev() + self.dice.choice(("..", "...")) + self.as_rev()

    def as_ref(self):
        return self.one(grammar.REFS_FULL)

    def as_key(self):
        return self.one(grammar.SORT_KEYS).lstrip("-")

    def as_format(self):
        return " ".join("%%(%s)" % self.one(grammar.REF_ATOMS) for _ in range(
            self.dice.choice((1, 1, 2, 3))))

    def as_pretty(self):
        return self.one(grammar.PRETTY)

    def as_batchformat(self):
        return " ".join(self.one(grammar.BATCH_ATOMS) for _ in range(
            self.dice.choice((1, 2, 3))))

    # standard inputs

    def rows(self, draw, most=5):
        end = self.dice.choice(("\\n",) * 8 + ("", "\\n\\n"))
        return "\\n".join(draw() for _ in range(
            self.dice.randrange(most + 1))) + end

    def as_revlines(self):
        return self.rows(lambda: self.dice.choice(
            ("", "", "", "^", "--not\\n")) + self.as_rev())

    def as_idlines(self):
        return self.rows(lambda: self.as_id() if self.dice.random() < 0.9
                         else self.as_rev())

    def as_reflines(self):
        return self.rows(self.as_ref)

    def as_pathlines(self):
        return self.rows(lambda: self.dice.choice(self.words["path"]))

    def as_packlines(self):
        return self.rows(lambda: self.dice.choice(self.words["packfile"]), 1)

    def as_batchlines(self):
        return self.rows(lambda: self.dice.choice(
            ("info ", "contents ", "info ", "x ", "info"))
            + self.as_rev() if self.dice.random() < 0.9 else "flush")

    def as_content(self):
        return self.dice.choice((
            "", "content\\n", "tree $ZERO\\n", "\\0\\1\\2", "x" * 100,
            "tree $(main^{tree})\\nauthor A <a> 1 +0000\\n"
            "committer A <a> 1 +0000\\n\\nm\\n"
            if self.fixture.startswith("random-") else "100644 a\\0b",
            "object $ZERO\\ntype commit\\ntag t\\ntagger A <a> 1 +0000\\n\\n"))

    def as_refcommands(self):
        def one():
            value = lambda: self.dice.choice(
                (self.as_id(), "main", "side", "$ZERO", "nothing", ""))
            ref = self.as_ref()
            return self.dice.choice((
                "update %s %s" % (ref, value()),
                "update %s %s %s" % (ref, value(), value()),
                "create %s %s" % (ref, value()),
                "delete %s" % ref, "delete %s %s" % (ref, value()),
                "verify %s %s" % (ref, value()), "verify %s" % ref,
                "option no-deref", "start", "prepare", "commit", "abort",
                "symref-update %s refs/heads/main" % ref,
                "symref-create %s refs/heads/side" % ref,
                "symref-delete %s" % ref,
                "symref-verify %s refs/heads/main" % ref,
                "update  x", "nonsense " + ref, "option x"))
        return self.rows(one, 4)

    def packets(self, texts):
        return "".join("%04x%s" % (len(text) + 4, text) if text else "0000"
                       for text in texts)

    def as_wantlines(self):
        # ids are as long as $(main), which is not known here
        return self.dice.choice(("0000", "0009done\\n", "", "garbage",
                                 "0014command=ls-refs\\n0000",
                                 "0014command=ls-refs\\n00010009peel\\n000c"
                                 "symrefs\\n0000", "0011command=fetch0000"))

    def as_pushlines(self):
        return self.dice.choice(("0000", "", "garbage", "0004", "0008abcd0000"))

    # lines

    def fill(self, word):
        """Words for one word of a form or an option."""
        begin = word.find("<")
        end = word.find(">", begin)
        if begin < 0 or end < 0:
            return [word]
        name = word[begin + 1:end]
        if name in self.kinds:
            value = self.kinds[name]()
        else:
            value = self.dice.choice(self.words[name])
        if isinstance(value, list):
            return value
        return self.fill_rest(word[:begin] + value, word[end + 1:])

    def fill_rest(self, done, rest):
        return [done + "".join(self.fill(rest))] if rest else [done]

    def options(self, pool):
        words = []
        for _ in range(self.dice.choice((0, 1, 1, 2, 2, 3, 4))):
            option = self.dice.choice(pool)
            filled = [one for part in option.split()
                      for one in self.fill(part)]
            if self.dice.random() < 0.02 and option.startswith("--"):
                filled[0] = filled[0][:self.dice.randrange(3, 2 + len(
                    filled[0]))]
            if self.dice.random() < 0.02 and option.startswith("--"):
                filled[0] = "--no-" + filled[0][2:]
            words += filled
        return words

    def before(self):
        """What stands before the command."""
        words, kind = [], self.dice.random()
        if kind < 0.06:
            words.append(self.one(grammar.ENVIRONMENTS))
        elif kind < 0.1:
            words.append(self.one(grammar.GLOBAL))
        elif kind < 0.25:
            words += ["-c"] + self.fill(self.one(grammar.CONFIG))
        return words

    def line(self, command):
        options, forms = grammar.COMMANDS.get(command, ("", []))
        newer = grammar.NEWER.get(command)
        if newer and self.version >= newer[0]:
            options, forms = options + " " + newer[1], forms + newer[2]
        # an option and its value are two words that stay together
        pool, parts = [], options.split()
        for nr, part in enumerate(parts):
            if part.startswith("<"):
                continue
            if nr + 1 < len(parts) and parts[nr + 1].startswith("<"):
                part += " " + parts[nr + 1]
            pool.append(part)
        form, _, stdin = self.dice.choice(forms).partition(" < ")
        before, words = self.before(), []
        for word in form.split():
            if word == "OPTIONS":
                words += self.options(pool) if pool else []
            else:
                words += self.fill(word)
        text = [quoted(word) for word in before + [command] + words]
        if stdin:
            text += ["<", "'%s'" % self.fill(stdin)[0].replace("'", "")]
        return " ".join(text)


def quoted(word):
    """As shlex.quote(), but $(main) and $ROOT are as well words of ours."""
    if word.startswith("$") and "'" not in word:
        return "'%s'" % word
    name, mark, value = word.partition("=")
    if mark and name.isupper():
        return name + "=" + shlex.quote(value)
    return shlex.quote(word)


WEIGHTS = {"rev-list": 12, "rev-parse": 8, "for-each-ref": 6, "cat-file": 6,
           "update-ref": 6, "pack-objects": 4, "repack": 3, "show-ref": 2,
           "fsck": 3, "reflog": 2, "symbolic-ref": 2, "gc": 2, "version": 0.1,
           "count-objects": 0.3, "prune-packed": 0.3}


def lines(seed, nr, version):
    """nr random lines; the same for the same seed and age of stock Git."""
    dice = random.Random("lines %s" % seed)
    commands = list(grammar.COMMANDS)
    commands += [name for name, newer in grammar.NEWER.items()
                 if name not in grammar.COMMANDS and version >= newer[0]]
    weights = [WEIGHTS.get(name, 1) for name in commands]
    found, repository = [], 0
    while len(found) < nr:
        repository += 1
        if dice.random() < 0.6:
            fixture = "random-%s-%d%s" % (
                seed, repository, "-sha256" if dice.random() < 0.08 else "")
        else:
            fixture = dice.choice(NAMED)
        drawer = Drawer(dice, version, fixture)
        for _ in range(min(PER_REPOSITORY, nr - len(found))):
            command = dice.choices(commands, weights)[0]
            found.append(command_lines.Line(
                drawer.line(command), fixture, None, None, command))
    return found
