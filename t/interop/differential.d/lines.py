# SPDX-License-Identifier: MIT
"""Command lines: the plain text that tables hold, and what it stands for.

The form is described at the top of t/interop/differential.
"""

import collections
import difflib
import re
import shlex

MARKS = re.compile(r"\[([^\]]*)\]\s*")
ENVIRONMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
REVISION = re.compile(r"\$\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
CHOICE = re.compile(r"\{([0-9])(!?)\|")


class BadLine(Exception):
    pass


def version_of(text):
    """(2, 46) for "2.46" or "git version 2.46.1.gitreach"."""
    found = re.search(r"(\d+)\.(\d+)", text)
    if not found:
        raise BadLine("no version: " + text)
    return int(found[1]), int(found[2])


# ---- templates

# A template in a quoted standard input, which would not be expanded: its
# alternatives belong in quotes, the braces outside of them.
QUOTED = re.compile(r"< *'[^'%]*(?<![\^@%])\{[^{}'()%]*,[^{}'%]*\}")

def closing(text, at):
    """Where the brace that opens at `at` is closed; None if it is not."""
    depth, quote = 0, None
    while at < len(text):
        char = text[at]
        if char == "\\" and quote != "'":
            at += 1
        elif quote:
            quote = None if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if not depth:
                return at
        at += 1
    return None


def split_outside(text, mark):
    """Split at a character that stands in no quotes and no braces."""
    parts, depth, quote, begin, at = [], 0, None, 0, 0
    while at < len(text):
        char = text[at]
        if char == "\\" and quote != "'":
            at += 1
        elif quote:
            quote = None if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in "{}":
            depth += 1 if char == "{" else -1
        elif char == mark and not depth:
            parts.append(text[begin:at])
            begin = at + 1
        at += 1
    return parts + [text[begin:]]


def subsets(items, most, ordered):
    """Up to `most` of the items, in their order or in each order."""
    found, level = [()], [()]
    for _ in range(most):
        level = [some + (nr,) for some in level for nr in range(len(items))
                 if nr not in some and (ordered or not some or nr > some[-1])]
        found += level
    return [" ".join(items[nr].strip() for nr in some) for some in found]


def alternatives(body):
    """What `{body}` stands for; None: for itself."""
    found = CHOICE.match("{" + body)
    if found:
        rest = body[found.end() - 1:]
        return subsets(split_outside(rest, "|"), int(found[1]),
                       bool(found[2]))
    parts = split_outside(body, ",")
    return parts if len(parts) > 1 else None


def expand(text):
    """All lines that a template stands for."""
    at, quote = 0, None
    while at < len(text):
        char = text[at]
        if char == "\\" and quote != "'":
            at += 1
        elif quote:
            quote = None if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == "{":
            end = closing(text, at)
            parts = end and alternatives(text[at + 1:end])
            if parts:
                return [line for part in parts
                        for line in expand(text[:at] + part
                                           + text[end + 1:])]
        at += 1
    return [text]


def squeeze(text):
    """One blank where an empty alternative left several, if none is quoted."""
    if "'" in text or '"' in text or "\\" in text:
        return text.strip()
    return " ".join(text.split())


# ---- lines


def unescape(text):
    """The bytes of a standard input: \\n, \\t, \\0, \\\\, \\xHH."""
    def one(found):
        word = found[1]
        if word[:1] == b"x":
            return bytes([int(word[1:], 16)])
        return {b"n": b"\n", b"t": b"\t", b"0": b"\0", b"r": b"\r",
                b"\\": b"\\"}.get(word, b"\\" + word)
    return re.sub(rb"\\(x[0-9a-fA-F]{2}|.)", one,
                  text.encode("utf-8", "surrogateescape"))


def packets(text):
    """Packet lines: "a|0001|b|0000"; a word that ends with "\\c" gets no LF.

    0000, 0001 and 0002 stand for themselves, and so does "=<bytes>".
    """
    found = b""
    for word in text.split("|"):
        if word in ("0000", "0001", "0002"):
            found += word.encode()
        elif word.startswith("="):
            found += unescape(word[1:])
        else:
            data = unescape(word[:-2] if word.endswith("\\c")
                            else word + "\\n")
            found += b"%04x" % (len(data) + 4) + data
    return found


class Line:
    """One command line in one fixture.

    text      the words as the table has them, templates expanded
    fixture   the name of the repository
    needs     the oldest stock Git that can judge it, as a tuple, or None
    dir       where it runs, relative to the root of the fixture, or None
    table     which table it is of
    """

    def __init__(self, text, fixture, needs=None, dir_=None, table=""):
        self.text, self.fixture, self.needs = text, fixture, needs
        self.dir, self.table = dir_, table
        self.features = ""  # of a random repository, joined by blanks

    def repository(self):
        """What an entry of intended.txt names as its fixture."""
        return self.fixture + (" has " + self.features
                               if self.features else "")

    def spelled(self):
        """What --line takes to repeat it."""
        marks = [self.fixture]
        if self.needs:
            marks.append("needs=%d.%d" % self.needs)
        if self.dir:
            marks.append("dir=" + self.dir)
        return "[%s] %s" % (" ".join(marks), self.text)

    def parsed(self, resolve, fill):
        """(environment, words or a shell's text, standard input).

        resolve(name) gives what $(name) stands for, fill(text) a text with
        $ROOT and its like replaced.
        """
        if self.text.startswith("!"):
            return {}, fill(self.text[1:].strip()), b""
        text = REVISION.sub(lambda found: resolve(found[1]), self.text)
        try:
            words = shlex.split(text)
        except ValueError as what:
            raise BadLine("%s: %s" % (what, self.text)) from what
        stdin, env = b"", {}
        words = [fill(word) for word in words]
        if len(words) > 1 and words[-2] in ("<", "<pkt"):
            stdin = (unescape if words[-2] == "<" else packets)(words[-1])
            words = words[:-2]
        while words and ENVIRONMENT.match(words[0]):
            name, value = words.pop(0).split("=", 1)
            env[name] = value
        if words[:1] == ["git"]:
            words.pop(0)
        return env, words, stdin


class Table:
    """What reads lines; directives stay in force until the next one."""

    def __init__(self, name):
        self.name, self.fixtures, self.needs = name, ["plain"], None

    def directive(self, words):
        if words[0] == "@fixture" and len(words) > 1:
            self.fixtures = words[1:]
        elif words[0] == "@needs":
            self.needs = version_of(words[1]) if len(words) > 1 else None
        else:
            raise BadLine("what is " + " ".join(words))

    def one(self, text):
        fixtures, needs, dir_ = [], self.needs, None
        found = MARKS.match(text)
        if found:
            text = text[found.end():]
            for mark in found[1].replace(",", " ").split():
                name, _, value = mark.partition("=")
                if not value:
                    fixtures.append(mark)
                elif name == "needs":
                    needs = version_of(value)
                elif name == "dir":
                    dir_ = value
                elif name == "also":
                    fixtures += self.fixtures + [value]
                else:
                    raise BadLine("no such mark: " + mark)
        return [Line(squeeze(text), fixture, needs, dir_, self.name)
                for fixture in fixtures or self.fixtures]

    def lines(self, texts):
        for text in texts:
            text = text.strip()
            if text.startswith("@"):
                self.directive(text.split())
            elif text and not text.startswith("#"):
                # a shell's braces are its own
                for one in [text] if is_shell(text) else expand(text):
                    if not is_shell(one) and QUOTED.search(one):
                        raise BadLine("a template in quotes: " + one)
                    yield from self.one(one)


def is_shell(text):
    return MARKS.sub("", text, count=1).startswith("!")


def joined(rows):
    """A line that ends with a backslash goes on in the next one."""
    before = ""
    for row in rows:
        row = row.rstrip("\n")
        if row.endswith("\\"):
            before += row[:-1].rstrip() + " "
            continue
        yield before + row.strip() if before else row
        before = ""


def read_table(path, name):
    with open(path, encoding="utf-8") as rows:
        return list(Table(name).lines(joined(rows)))


# ---- intended differences


class Intended:
    """One paragraph of intended.txt."""

    KEYS = ("line", "fixture", "differs", "ours", "stock", "order", "reason",
            "file", "more", "fewer")

    def __init__(self, row):
        self.row, self.keys = row, {}
        self.seen = self.differed = 0

    def add(self, key, value):
        if key not in self.KEYS:
            raise BadLine("intended.txt:%d: no such key: %s"
                          % (self.row, key))
        self.keys[key] = value

    def finish(self):
        if "file" in self.keys:
            self.keys["differs"] = "state"
        for key in "differs", "reason":
            if not self.keys.get(key):
                raise BadLine("intended.txt:%d: %s is missing"
                              % (self.row, key))
        self.line = re.compile(self.keys.get("line", ""))
        self.file = re.compile(self.keys.get("file", ""))
        self.fixture = re.compile(self.keys.get("fixture", ""))
        self.parts = set(self.keys["differs"].replace(",", " ").split())
        self.texts = [re.compile(self.keys.get(side, ""), re.M)
                      for side in ("ours", "stock")]
        self.only = [re.compile(self.keys[side]) if side in self.keys
                     else None for side in ("more", "fewer")]

    def is_of(self, line):
        return bool(self.line.search(line.text)
                    and self.fixture.search(line.repository()))

    def without(self, differences):
        """The differences without the files that this paragraph names."""
        if "file" not in self.keys or "state" not in differences:
            return differences
        pair = differences["state"]
        keys = {key for one in pair for key in one if self.file.search(key)}
        if "order" in self.keys:
            keys = {key for key in keys
                    if same_lines(pair[0].get(key), pair[1].get(key))}
        if not keys:
            return differences
        self.differed += 1
        pair = tuple({key: text for key, text in one.items()
                      if key not in keys} for one in pair)
        left = dict(differences, state=pair)
        if pair[0] == pair[1]:
            left.pop("state")
        return left

    def rest(self, text, nr):
        """The lines of one side that have to be equal."""
        rows = [row for row in text.split("\n") if row
                and not (self.only[nr] and self.only[nr].search(row))]
        return sorted(rows) if "order" in self.keys else rows

    def covers(self, differences):
        """differences: {part: (ours, stock)}, of texts"""
        if "file" in self.keys or not set(differences) <= self.parts:
            return False
        if "order" in self.keys and not any(self.only) and not all(
                same_lines(*pair) for pair in differences.values()):
            return False
        if any(self.only) and not all(
                self.rest(pair[0], 0) == self.rest(pair[1], 1)
                for part, pair in differences.items() if part != "exit"):
            return False
        return self.has_texts(differences)

    def has_texts(self, differences):
        return all(
            any(text.search(str(pair[nr])) for pair in differences.values())
            for nr, text in enumerate(self.texts))


def only_rows(pair, ordered):
    """(lines that only the first text has, those that only the second has)"""
    texts = [[row for row in text.split("\n") if row] for text in pair]
    if not ordered:
        counts = [collections.Counter(rows) for rows in texts]
        return (list((counts[0] - counts[1]).elements()),
                list((counts[1] - counts[0]).elements()))
    found = [], []
    for tag, i, j, k, m in difflib.SequenceMatcher(
            None, *texts, autojunk=False).get_opcodes():
        if tag != "equal":
            found[0].extend(texts[0][i:j])
            found[1].extend(texts[1][k:m])
    return found


def cover_together(entries, differences):
    """Which entries of those with "more" or "fewer", or for the exit code
    alone, name each line that differs, if together they do; else none."""
    entries = [one for one in entries
               if (any(one.only) or one.parts == {"exit"})
               and one.has_texts(differences)]
    used = set()
    for part, pair in differences.items():
        here = [one for one in entries if part in one.parts]
        if part == "exit":
            if not here:
                return []
            used.update(here)
            continue
        ordered = not any("order" in one.keys for one in here)
        for nr, rows in enumerate(only_rows(pair, ordered)):
            for row in rows:
                named = [one for one in here
                         if one.only[nr] and one.only[nr].search(row)]
                if not named:
                    return []
                used.add(named[0])
    return list(used)


def same_lines(ours, stock):
    """Whether only the order of lines differs, or of records that NUL ends."""
    ours, stock = (sorted(re.split("[\n\0]", str(text)))
                   for text in (ours, stock))
    return ours == stock


def read_intended(path):
    found, one, key = [], None, None
    with open(path, encoding="utf-8") as rows:
        for nr, row in enumerate(rows, 1):
            if row.startswith("#"):
                continue
            if not row.strip():
                one = key = None
            elif row[0] in " \t" and key:
                one.add(key, one.keys[key] + " " + row.strip())
            else:
                if one is None:
                    one = Intended(nr)
                    found.append(one)
                key, _, value = row.strip().partition(" ")
                one.add(key, value.strip())
    for one in found:
        one.finish()
    return found


def read_newer(path):
    """[(version, pattern)]: lines that an older stock Git cannot judge."""
    found = []
    with open(path, encoding="utf-8") as rows:
        for row in rows:
            if row.strip() and not row.startswith("#"):
                version, pattern = row.strip().split(None, 1)
                found.append((version_of(version), re.compile(pattern)))
    return found
