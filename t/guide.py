#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The pages of the guide, tried as their reader tries them.

    guide.py run <page> <directory>
    guide.py check <page>...
    guide.py links <page>...
    guide.py html <file>...

The second form checks what can be checked without running anything, the third
only that links lead to files. The fourth checks links and pictures of HTML files:
each leads to a file, and to an element of it; nothing is loaded from elsewhere.

A page is Markdown. The first word after ``` says what a fenced block is:

    sh              typed by the reader: the test runs the block
    sh fails        the same, and its last command must fail
    sh root         not run, needs root or systemd; the shell parses the block
    sh other        not run, needs another machine or program; parsed
    output          what the last block printed, see below
    conf <file>     the reader writes this text into the file
    conf            a configuration that no program of the test reads

All blocks of a page are run in their order, by one shell, in a new directory
with an empty HOME. The environment has PATH, HOME and a few others only.
Directories of the system (ROOTS) stand for directories below the page's own one,
and each port after 127.0.0.1: or --port= for a free port. A block that starts a
program in the background is followed by a wait for the ports that the block, or
a file that it names, listens on.

Two kinds of lines are not shown to readers. <!-- wait: <command> -->: the test
repeats the command until it succeeds, because a server may be slower than the next
block. <!-- run: <command> -->: the test runs the command before the next block.

The README can be checked and run, too. Its reader is in a checkout, so
<directory>/work must be a copy of the tree.

In an output, <id> stands for an object id, <n> for a number, <...> for other
text in a line, and a line ... for any lines.
"""

import html.parser
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time

ROOTS = ["srv", "etc/gitreach", "var/log/gitreach", "run/gitreach",
         "usr/local/bin"]
ROOT = re.compile(r"(?<![\w.$}])/(?=(?:%s)(?:[/\s\"';):]|$))" % "|".join(ROOTS),
                  re.M)
PORT = re.compile(r"((?:127\.0\.0\.1|localhost):|--port=)(\d{2,5})\b")
FENCE = re.compile(r"^```(.*)\n((?:(?!```).*\n)*?)```$", re.M)
HIDDEN = re.compile(r"^<!-- (wait|run): (.*) -->$", re.M)
# Keys that only clients read, so that no manual page of gitreach has them.
CLIENT_KEYS = {"http.sslCAInfo"}
KINDS = {"sh", "wait", "run", "sh fails", "sh root", "sh other", "output",
         "conf"}
# Seconds to wait for something that a page starts.
PATIENCE = float(os.environ.get("GUIDE_PATIENCE", "60"))
BUILD = os.environ.get("GITREACH_BUILD") or os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "..", "build")


class Failure(Exception):
    """A page that does not do what it says."""


class Block:
    """A fenced block: its kind, the file of a conf, its line, its text."""

    def __init__(self, page, text, match):
        self.line = text.count("\n", 0, match.start()) + 1
        self.text = match.group(2)
        words = match.group(1).split()
        self.file = words.pop() if words[:1] == ["conf"] and words[1:] else ""
        self.kind = " ".join(words)
        self.where = f"{page}:{self.line}"
        if self.kind not in KINDS:
            raise Failure(f"{self.where}: what is a block \"{self.kind}\"?")


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def guide_of(page):
    """The directory of the guide, for a page of the guide or the README."""
    below = os.path.join(os.path.dirname(page), "Documentation", "guide")
    return below if os.path.isdir(below) else os.path.dirname(page)


def blocks_of(page):
    text = read(page)
    matches = list(FENCE.finditer(text))
    if ("\n" + text).count("\n```") != 2 * len(matches):
        raise Failure(f"{page}: a fenced block does not end")
    matches += HIDDEN.finditer(text)
    matches.sort(key=lambda m: m.start())
    return [Block(page, text, match) for match in matches]


def free_ports(numbers):
    """A free port for each number. All are open until the last is chosen."""
    sockets = {n: socket.socket() for n in sorted(numbers)}
    for s in sockets.values():
        s.bind(("127.0.0.1", 0))
    ports = {n: str(s.getsockname()[1]) for n, s in sockets.items()}
    for s in sockets.values():
        s.close()
    return ports


def listens(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", int(port))) == 0


def wait_for(condition):
    """Whether the condition comes true within PATIENCE seconds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def pattern_of(output):
    """A regular expression for what an output block allows."""
    parts = []
    for line in output.splitlines():
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
            continue
        line = re.escape(line.rstrip())
        for name, value in (("id", r"[0-9a-f]{7,64}"), ("n", r"[0-9][0-9.]*"),
                            (r"\.\.\.", r".*")):
            line = line.replace(f"<{name}>", value)
        parts.append(line + r"[ \t]*\n")
    return re.compile("".join(parts) + r"\Z")


class Run:
    """One page, and the shell that runs it."""

    def __init__(self, page, directory):
        self.dir = os.path.abspath(directory)
        self.root = os.path.join(self.dir, "root")
        self.blocks = blocks_of(page)
        self.ports = free_ports({m.group(2) for b in self.blocks
                                 for m in PORT.finditer(b.text)})
        self.files = {}
        self.out = None
        self.make_directories()
        self.shell = subprocess.Popen(
            ["sh"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            cwd=os.path.join(self.dir, "work"), env=self.environment(),
            start_new_session=True)

    def make_directories(self):
        for name in [os.path.join("root", r) for r in ROOTS] + [
                "root/srv/git", "home", "work", "blocks"]:
            os.makedirs(os.path.join(self.dir, name), exist_ok=True)
        for name in ("git", "gitreachd", "git-upload-pack", "git-receive-pack",
                     "git-upload-archive"):
            os.symlink(os.path.join(BUILD, "bin", name),
                       os.path.join(self.root, "usr/local/bin", name))
        self.install_library()

    def install_library(self):
        """The file that pkg-config reads, for the library of the build."""
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
        text = read(os.path.join(source, "gitreach.pc.in"))
        for name, value in (("prefix", source), ("libdir", BUILD),
                            ("includedir", os.path.join(source, "include")),
                            ("version", "0"), ("requires", "")):
            text = text.replace(f"@{name}@", value.replace(" ", r"\ "))
        os.makedirs(os.path.join(self.dir, "pkgconfig"))
        with open(os.path.join(self.dir, "pkgconfig/gitreach.pc"), "w",
                  encoding="utf-8") as f:
            f.write(text)

    def environment(self):
        path = os.environ["PATH"] + ":/usr/sbin:/sbin"
        env = {"HOME": os.path.join(self.dir, "home"), "LANG": "C.UTF-8",
               "PATH": os.path.join(BUILD, "bin") + ":" + path,
               "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0",
               "GIT_CEILING_DIRECTORIES": self.dir, "USER": "operator",
               "PKG_CONFIG_PATH": os.path.join(self.dir, "pkgconfig"),
               "LD_LIBRARY_PATH": BUILD}
        env.update((k, v) for k, v in os.environ.items()
                   if k.endswith("SAN_OPTIONS") or k in
                   ("GITREACH_SRC", "GITREACH_FALLBACK", "MAKEFLAGS"))
        return env

    def adapt(self, text):
        text = text.replace("/usr/local/libexec/gitreach-core",
                            os.path.join(BUILD, "exec"))
        text = ROOT.sub(lambda m: self.root + "/", text)
        return PORT.sub(lambda m: m.group(1) + self.ports[m.group(2)], text)

    def as_in_page(self, text):
        text = text.replace(self.root, "")
        back = {new: old for old, new in self.ports.items()}
        return PORT.sub(
            lambda m: m.group(1) + back.get(m.group(2), m.group(2)), text)

    def write_file(self, block):
        """Write a conf block into the file that the page names."""
        path = self.adapt(block.file)
        path = os.path.join(self.dir, "work", path)
        text = self.adapt(block.text)
        # A worker of nginx that root starts cannot read the test's files.
        if os.path.basename(path) == "nginx.conf" and os.getuid() == 0:
            text = "user root;\n" + text
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        self.files[block.file] = block

    def check_files(self):
        """Let the programs that read the configurations check them."""
        for file, block in self.files.items():
            path = os.path.join(self.dir, "work", self.adapt(file))
            if os.path.basename(file) == "gitreachd.conf":
                command = [os.path.join(BUILD, "bin", "gitreachd"),
                           "--check-config", f"--config={path}"]
            elif (re.search(r"\.(service|timer|socket)$", file) and
                  shutil.which("systemd-analyze")):
                command = ["systemd-analyze", "verify", path]
            else:
                continue
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True,
                                  stderr=subprocess.STDOUT, check=False)
            # Other lines of systemd are about units of the machine.
            lines = [line for line in done.stdout.splitlines()
                     if os.path.basename(file) in line]
            if lines or done.returncode and command[0] != "systemd-analyze":
                raise Failure(f"{block.where}: {file}:\n{done.stdout}")

    def run(self, block):
        """Run a block, and wait after each program of the background."""
        self.out = os.path.join(self.dir, "blocks", f"{block.line}.out")
        for piece in re.split(r"(?<=[^&]&\n)", block.text):
            status = self.feed(block, piece)
            if status != "0":
                break
            if piece.endswith("&\n"):
                self.wait_for_servers(block)
        if not status or (status == "0") == (block.kind == "sh fails"):
            raise Failure(f"{block.where}: the block "
                          f"{'succeeds' if status == '0' else 'fails'}:\n"
                          f"{block.text}--- it printed:\n{read(self.out)}")

    def feed(self, block, text):
        """Let the shell run a text. Returns the exit code, or "" if the shell
        has ended: with set -e it ends at the first command that fails."""
        name = os.path.join(self.dir, "blocks", str(block.line))
        with open(name, "w", encoding="utf-8") as f:
            f.write(self.adapt(text))
        source = (f". {shlex.quote(name)} </dev/null "
                  f">>{shlex.quote(self.out)} 2>&1")
        flag, code = ("+e", "$?") if block.kind == "sh fails" else ("-e", "0")
        self.shell.stdin.write(f"set {flag}\n{source}\necho {code}\n")
        self.shell.stdin.flush()
        return self.shell.stdout.readline().strip()

    def wait_for_servers(self, block):
        texts = [block.text] + [b.text for f, b in self.files.items()
                                if f in block.text]
        for port in {m.group(2) for t in texts for line in t.splitlines()
                     if re.search("listen|admin", line, re.I)
                     for m in PORT.finditer(line)}:
            if not wait_for(lambda: listens(self.ports[port])):
                raise Failure(f"{block.where}: nobody listens on port {port}:\n"
                              f"{read(self.out)}")

    def wait_until(self, block):
        command = ["sh", "-c", self.adapt(block.text)]
        env = self.environment()
        if not wait_for(lambda: subprocess.run(
                command, env=env, check=False).returncode == 0):
            raise Failure(f"{block.where}: still false: {block.text}")

    def compare(self, block):
        """Compare what the last block printed with what the page shows."""
        pattern = pattern_of(block.text)
        if not wait_for(
                lambda: pattern.match(self.as_in_page(read(self.out)))):
            raise Failure(f"{block.where}: the page shows:\n{block.text}"
                          f"--- printed was:\n{self.as_in_page(read(self.out))}")

    def prepare(self, page):
        """The script that the page tells the reader to run."""
        if "sh example.sh" not in read(page):
            return
        example = os.path.join(guide_of(page), "example.sh")
        path = os.path.join(self.dir, "work", "example.sh")
        with open(path, "w", encoding="utf-8") as f:
            f.write(self.adapt(read(example)))

    def all(self):
        for block in self.blocks:
            if block.file:
                self.write_file(block)
            elif block.kind in ("sh", "sh fails", "run"):
                self.run(block)
            elif block.kind == "output":
                self.compare(block)
            elif block.kind == "wait":
                self.wait_until(block)
        self.check_files()
        self.shell.stdin.close()

    def end(self):
        """End what the page has started."""
        for sign in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.shell.pid, sign)
            except ProcessLookupError:
                break
            wait_for(lambda: self.shell.poll() is not None)
            time.sleep(0.1)


def run(page, directory):
    this = Run(page, directory)
    try:
        this.prepare(page)
        this.all()
    finally:
        this.end()


# ---- what can be checked without running anything

def words(*command):
    """The options that a command has, negations included."""
    out = subprocess.run(
        [os.path.join(BUILD, "bin", command[0]), *command[1:],
         "--git-completion-helper"], stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True,
        check=False).stdout
    return {w.split("=")[0] for w in out.split() if w.startswith("--")}


def has_option(table, option):
    bare = option[5:] if option.startswith("--no-") else option[2:]
    return any(o in table for o in (option, "--" + bare, "--no-" + bare))


def manual_pages(docs):
    """The texts of the manual pages in a directory, by gitreach-repack(1)."""
    found = {}
    for name in os.listdir(docs):
        match = re.fullmatch(r"((?:lib)?gitreach[\w.-]*)\.(\d)", name)
        path = os.path.join(docs, name)
        if match and os.path.isfile(path):
            found[f"{match[1]}({match[2]})"] = re.sub(
                r"\\fR|\\fB|\\fI|\\&", "", read(path).replace("\\-", "-"))
    return found


class Checker:
    """The links, manual pages, options and keys that the pages name."""

    def __init__(self, pages, man):
        self.pages = pages
        self.errors = []
        self.tables = {}
        self.man = man
        self.all_man = "\n".join(self.man.values())

    def error(self, page, text):
        self.errors.append(f"{page}: {text}")

    def table(self, *command):
        if command not in self.tables:
            self.tables[command] = words(*command)
        return self.tables[command]

    def check_options(self, page, line):
        """The options of one command, as far as the tables know it."""
        for part in re.split(r"[|;]|&&|\$\(", line):
            match = re.search(
                r"\b(gitreachd|git)\b((?:\s+-[Cc]\s+\S+)*)\s+(\S.*)", part)
            if not match:
                continue
            args = match.group(3).split()
            command = [match.group(1)]
            if command == ["git"] and re.fullmatch(r"[a-z-]+", args[0]):
                command.append(args.pop(0))
                # A subcommand has a table of its own.
                if args and args[0] in self.subcommands(command):
                    command.append(args.pop(0))
            table = self.table(*command)
            if command == ["gitreachd"]:
                # These two options are in no table: they start no server.
                table = table | {"--ssh-client", "--user"}
            elif command[1:] and f"gitreach-{command[1]}(1)" not in self.man:
                continue
            for arg in args:
                option = arg.strip("`'\"").split("=")[0]
                if (re.fullmatch("--[a-z][a-z-]+", option) and table and
                        not has_option(table, option) and
                        not self.in_page(command, option)):
                    self.error(page, f"{' '.join(command)} has no {option}")

    def in_page(self, command, option):
        """Whether a page has an option that the table lacks: the command's
        page, or that of rev-list for commands that take its options."""
        pages = [f"gitreach-{word}(1)" for word in command[1:]]
        if command[1:2] in (["bundle"], ["rev-parse"], ["bitmap"]):
            pages.append("gitreach-rev-list(1)")
        return any(re.search(rf"{option}(?![a-z-])", self.man.get(page, ""))
                   for page in pages)

    def subcommands(self, command):
        key = tuple(command) + ("",)
        if key not in self.tables:
            self.tables[key] = set(subprocess.run(
                [os.path.join(BUILD, "bin", "git"), *command[1:],
                 "--git-completion-helper"], stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True,
                check=False).stdout.split())
        return self.tables[key]

    def check_code(self, page, code):
        """Code in the text: an option or a key stands in some manual page."""
        word = code.split("=")[0].split()[0] if code.strip() else ""
        if re.fullmatch(r"--[a-z-]+", word):
            plain = re.sub("^--no-", "--", word)
            name = re.escape(plain[2:])
            if not re.search(rf"--(\[no-\])?{name}(?![a-z-])", self.all_man):
                self.error(page, f"no manual page has {word}")
        elif re.fullmatch(r"(?:core|gc|pack|repack|maintenance|transfer|http|"
                          r"uploadpack|receive|gitreach|bitmapPseudoMerge|"
                          r"safe|daemon|extensions)\.[\w.<>*-]+", word):
            if word not in CLIENT_KEYS and word.lower() not in self.all_man.lower():
                self.error(page, f"no manual page has the key {word}")
        if code.startswith(("git ", "gitreachd ")):
            self.check_options(page, code)

    def check_block(self, block):
        # A block that fails may have a wrong option on purpose.
        if block.kind == "sh fails":
            self.check_shell(block.where, block.text, False)
        elif block.kind.startswith("sh") or block.text.startswith("#!/bin/sh"):
            self.check_shell(block.where, block.text)
        elif block.file == "crontab":
            self.check_crontab(block)

    def check_crontab(self, block):
        for line in block.text.splitlines():
            fields = line.split(None, 5)
            if re.fullmatch(r"[A-Z]+=\S+", line):
                continue
            if len(fields) != 6 or not all(re.fullmatch(r"[\d*,/-]+", f)
                                           for f in fields[:5]):
                self.error(block.where, f"not a line of a crontab: {line}")
            elif "%" in fields[5]:
                self.error(block.where, f"cron reads % as a new line: {line}")
            else:
                self.check_shell(block.where, fields[5])

    def check_shell(self, where, text, options=True):
        done = subprocess.run(["sh", "-n"], input=text, text=True,
                              stderr=subprocess.PIPE, check=False)
        if done.returncode:
            self.error(where, f"sh cannot parse this: {done.stderr}")
        for line in text.replace("\\\n", " ").splitlines() * options:
            self.check_options(where, line)
            for key in re.findall(r"config(?: --\w+)* ([a-z]+\.[\w.]+)", line):
                self.check_code(where, key)

    def check_links(self, page, text):
        for target in re.findall(r"\]\(([^)#]*)(?:#[^)]*)?\)", text):
            path = os.path.join(os.path.dirname(page), target)
            if target and "://" not in target and not os.path.exists(path):
                self.error(page, f"there is no {target}")
        for target, anchor in re.findall(r"\]\(([^)#]*)#([^)]*)\)", text):
            path = os.path.join(os.path.dirname(page), target or
                                os.path.basename(page))
            if "://" not in target and os.path.exists(path) and anchor not in {
                    re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-")
                    for h in re.findall(r"^#+ (.*)$", read(path), re.M)}:
                self.error(page, f"there is no {target}#{anchor}")

    def check_name(self, block, lines):
        """A reader does not see the words after ```, so the text before a
        file names it."""
        before = " ".join(lines[max(0, block.line - 6):block.line - 1])
        if f"`{block.file}`" not in before:
            self.error(block.where, f"no text names the file {block.file}")

    def check(self, page):
        text = FENCE.sub("", read(page))
        for block in blocks_of(page):
            self.check_block(block)
            if block.file not in ("", "crontab"):
                self.check_name(block, read(page).splitlines())
        self.check_links(page, text)
        for code in re.findall(r"`([^`]+)`", text):
            self.check_code(page, " ".join(code.split()))
        for name in re.findall(r"\b((?:lib)?gitreach[\w.-]*\(\d\))", text):
            if name not in self.man:
                self.error(page, f"there is no manual page {name}")

    def linked(self):
        """Each page is in the list of the index."""
        index = [p for p in self.pages if os.path.basename(p) == "index.md"]
        for page in self.pages if index else []:
            name = os.path.basename(page)
            if (os.path.dirname(page) == os.path.dirname(index[0]) and
                    page != index[0] and
                    f"]({name})" not in read(index[0])):
                self.error(index[0], f"does not list {name}")


def check(pages, links_only):
    # Links need no manual pages. The others are above the pages of the guide.
    docs = os.path.join(guide_of(pages[0]), "..")
    checker = Checker(pages, {} if links_only else manual_pages(docs))
    for page in pages:
        if links_only:
            checker.check_links(page, FENCE.sub("", read(page)))
        else:
            checker.check(page)
    checker.linked()
    if checker.errors:
        raise Failure("\n".join(checker.errors))


class Html(html.parser.HTMLParser):
    """The links, pictures and ids of an HTML file."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loaded, self.ids = [], [], set()
        self.feed(read(path))

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id":
                self.ids.add(value)
            elif name == "href" and tag == "a":
                self.links.append(value)
            elif name in ("href", "src", "srcset", "data", "poster"):
                self.loaded.append(value)


def check_html(paths):
    errors = []
    for path in paths:
        page = Html(path)
        for target in page.loaded + page.links:
            file, _, anchor = target.partition("#")
            if "://" in target:
                if target in page.loaded:
                    errors.append(f"{path}: loads {target}")
                continue
            file = os.path.join(os.path.dirname(path), file) if file else path
            if not os.path.exists(file):
                errors.append(f"{path}: there is no {target}")
            elif (anchor and file.endswith(".html") and
                    anchor not in Html(file).ids):
                errors.append(f"{path}: there is no {target}")
        if re.search(r"url\(|@import|<script", read(path)):
            errors.append(f"{path}: has a script, or loads a style")
    if errors:
        raise Failure("\n".join(errors))


def main():
    try:
        if sys.argv[1:2] == ["run"] and len(sys.argv) == 4:
            run(sys.argv[2], sys.argv[3])
        elif sys.argv[1:2] in (["check"], ["links"]) and len(sys.argv) > 2:
            check(sys.argv[2:], sys.argv[1] == "links")
        elif sys.argv[1:2] == ["html"] and len(sys.argv) > 2:
            check_html(sys.argv[2:])
        else:
            sys.exit(__doc__)
    except Failure as failure:
        sys.exit(f"{failure}")


main()
