# SPDX-License-Identifier: MIT
"""Requests of protocol version 2 as bytes, for the programs of this
directory."""

FETCH = [b"thin-pack", b"ofs-delta", b"include-tag"]


def pkt(line):
    return b"%04x%s\n" % (len(line) + 5, line)


def command(name, arguments):
    return (pkt(b"command=" + name) + pkt(b"agent=perf") +
            pkt(b"object-format=sha1") + b"0001" +
            b"".join(map(pkt, arguments)) + b"0000")


def ls_refs():
    """Heads and tags, as `git fetch` asks for them."""
    return command(b"ls-refs", [
        b"peel", b"symrefs", b"ref-prefix refs/heads/",
        b"ref-prefix refs/tags/", b"ref-prefix HEAD"])


def fetch(wants, haves=(), more=()):
    """`more`: further argument lines, such as b"deepen 1"."""
    return command(b"fetch", FETCH + list(more) +
                   [b"want " + w for w in wants] +
                   [b"have " + h for h in haves] + [b"done"])
