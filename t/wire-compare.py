#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Put the same bytes to two upload-packs and compare what comes back.

	wire-compare.py <repository> <ours> <stock>

Requests come on standard input, one a line:

	<version>[s] [<key>=<value>...] : <packet>|<packet>...

"s" is for --stateless-rpc; keys are configuration. Packets are lines, F, D and
E the flush, delim and response-end packets, "=<bytes>" is written as it is;
"{<rev>}" stands for an id.

Compared are exit codes and answers, byte for byte but for agents, progress, the
order of shallow commits, and packs: of these it is the objects that have to be
the same. "ERR" packets are not compared, which ours sends more often, nor
whether object-info is offered, which stock Git has changed.
"""

import functools
import itertools
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile


def git(*args, **kwargs):
    return subprocess.run([os.environ["STOCK_GIT"], *args], check=True,
                          stdout=subprocess.PIPE, **kwargs).stdout


@functools.lru_cache(maxsize=None)
def rev_parse(rev):
    return git("-C", repository, "rev-parse", rev).decode().strip()


def packet(word):
    if word in ("F", "D", "E"):
        return {"F": b"0000", "D": b"0001", "E": b"0002"}[word]
    if word.startswith("="):
        return word[1:].encode()
    word = re.sub(r"\{([^}]*)\}", lambda m: rev_parse(m[1]), word)
    return b"%04x%s\n" % (len(word.encode()) + 5, word.encode())


def packets(data):
    at = 0
    while at < len(data):
        if data[at:at + 4] == b"PACK":
            yield "pack", data[at:]
            return
        size = int(data[at:at + 4], 16)
        if size < 4:
            yield "special", size
            at += 4
        else:
            yield "data", data[at + 4:at + size]
            at += size


def objects(pack):
    """The ids of a pack's own objects, whatever completes it."""
    nr = struct.unpack(">I", pack[8:12])[0]
    where = tempfile.mkdtemp()
    try:
        git("init", "-q", "--bare", where)
        with open(where + "/objects/info/alternates", "w") as f:
            f.write(os.path.abspath(repository) + "/objects\n")
        if not nr:
            return []
        name = git("-C", where, "index-pack", "--stdin", "--fix-thin",
                   input=pack).split()[-1].decode()
        with open(f"{where}/objects/pack/pack-{name}.idx", "rb") as f:
            lines = git("show-index", stdin=f).decode().splitlines()
        lines.sort(key=lambda line: int(line.split()[0]))
        return sorted(line.split()[1] for line in lines[:nr])
    finally:
        shutil.rmtree(where)


def in_any_order(lines):
    """Shallow commits, which come in none."""
    out = []
    for is_cut, group in itertools.groupby(
            lines, lambda x: isinstance(x, bytes) and b"shallow " in x):
        out += sorted(group) if is_cut else group
    return out


def comparable(answer):
    out, pack = [], b""
    for kind, data in packets(answer):
        if kind == "pack":
            out.append(objects(data))
        elif kind == "special":
            out += [objects(pack)] if pack else []
            pack = b""
            out.append(data)
        elif data[:1] == b"\1" and (pack or data[1:5] == b"PACK"):
            pack += data[1:]
        elif data[:1] != b"\2" and not data.startswith(b"ERR ") and \
                data != b"object-info\n":
            out.append(re.sub(rb"agent=[^ \n]*", b"agent", data))
    return in_any_order(out)


def run(program, version, config, request):
    env = dict(os.environ, GIT_PROTOCOL="version=" + version[0],
               GIT_CONFIG_COUNT=str(len(config)))
    for i, setting in enumerate(config):
        key, _, value = setting.partition("=")
        env[f"GIT_CONFIG_KEY_{i}"] = key
        env[f"GIT_CONFIG_VALUE_{i}"] = value
    args = ["--stateless-rpc"] if version.endswith("s") else []
    done = subprocess.run(program.split() + args + [repository],
                          input=request, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, env=env, check=False,
                          timeout=60)
    return done.returncode, comparable(done.stdout)


repository, ours, stock = sys.argv[1:]
nr = failed = 0
for line in sys.stdin:
    head, _, words = line.strip().partition(" : ")
    if not words:
        continue
    version, *config = head.split()
    request = b"".join(packet(word) for word in words.split("|"))
    expect = run(stock, version, config, request)
    actual = run(ours, version, config, request)
    nr += 1
    if expect != actual:
        failed += 1
        print(f"{line.strip()}\n\tstock: {expect}\n\tours:  {actual}")
print(f"{nr} requests, {failed} failed")
sys.exit(failed > 0 or not nr)
