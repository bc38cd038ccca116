#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='kept deltas: damage of the file costs bytes, never objects

Each request is answered with a file that is cut short, has a changed byte, is of
another repository, or is replaced meanwhile. The answers must have the same objects,
and there is at most one warning. With GITREACH_FAULT_ALL, each length and each byte
is tried.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-fault.sh"
. "$GITREACH_SRC/t/lib-copies.sh"

deltas=r.git/objects/info/deltas

# converge <repo>: repack until the file does not change.
converge () {
	"$GIT" -C "$1" repack -adbq &&
	until cmp -s last "$1/objects/info/deltas"
	do
		cp "$1/objects/info/deltas" last &&
		"$GIT" -C "$1" repack -adbq || return
	done
}

cat >damage.py <<'PYTHON'
import hashlib, os, subprocess, sys, threading

GIT, KIND, STEP = sys.argv[1], sys.argv[2], int(sys.argv[3])
STOCK = sys.argv[4:]
PLACE = "r.git/objects/info/deltas"
ENV = dict(os.environ, GIT_PROTOCOL="version=2")
saved = open("saved", "rb").read()
other = open("other", "rb").read()
checked = {}


def run(command, data=b""):
    done = subprocess.run(command, input=data, capture_output=True, env=ENV)
    if done.returncode:
        sys.exit("%s: %s" % (command, done.stderr.decode(errors="replace")))
    return done


def place(data):
    with open(PLACE + ".new", "wb") as f:
        f.write(data)
    os.rename(PLACE + ".new", PLACE)


def pack_of(answer):
    """The pack in an answer; the server must not report an error."""
    pack, at = b"", answer.index(b"PACK") - 5
    while answer[at:at + 4] != b"0000":
        size = int(answer[at:at + 4], 16)
        if answer[at + 4] == 3:
            sys.exit("the server failed: %r" % answer[at:at + size])
        if answer[at + 4] == 1:
            pack += answer[at + 5:at + size]
        at += size
    return pack


def objects_of(pack, client):
    """The ids of a pack, which a client must accept. Equal packs are checked
    once."""
    key = hashlib.sha1(pack).digest(), client
    if key not in checked:
        line = run(STOCK + ["-C", client, "index-pack", "--stdin", "--fix-thin",
                            "--strict"], pack).stdout.split()
        idx = "%s/objects/pack/pack-%s.idx" % (client, line[1].decode())
        rows = run(STOCK + ["show-index"], open(idx, "rb").read()).stdout
        checked[key] = {row.split()[1] for row in rows.splitlines()}
    return checked[key]


def ask(name):
    """The number of warnings of a request, whose answer must be complete."""
    done = run([GIT, "upload-pack", "--stateless-rpc", "r.git"],
               open(name + ".request", "rb").read())
    ids = objects_of(pack_of(done.stdout), name + ".git")
    expect = set(open(name + ".expect", "rb").read().split())
    more = set(open(name + ".may", "rb").read().split())
    if not expect <= ids or not ids <= expect | more:
        sys.exit("%s: other objects" % name)
    return done.stderr.count(b"warning: ")


def ask_all(what, allowed):
    for name in "clone", "fetch":
        warnings = ask(name)
        if warnings not in allowed:
            sys.exit("%s, %s: %d warnings" % (what, name, warnings))
    return warnings


def cut():
    for length in sorted({*range(0, len(saved), STEP), 19, 20, 21,
                          len(saved) - 1}):
        place(saved[:length])
        ask_all("cut at %d" % length, [1])


def flip():
    rows = 20 + 64 * int.from_bytes(saved[8:12], "big")
    found = 0
    for at in sorted({*range(20), *range(3, rows, STEP // 3 or 1),
                      *range(rows, len(saved), STEP)}):
        data = bytearray(saved)
        data[at] ^= 1 << at % 8
        place(data)
        found += ask_all("byte %d" % at, [0, 1])
    if not found:
        sys.exit("no warning at all")


def foreign():
    for data in other, b"x" * 5000, other[:20] + saved[20:]:
        place(data)
        ask_all("another file", [0, 1])


def replaced():
    stop = threading.Event()

    def replace():
        while not stop.is_set():
            for data in other, saved, saved[:300], b"":
                place(data)

    writer = threading.Thread(target=replace)
    writer.start()
    try:
        for _ in range(20):
            ask_all("replaced", [0, 1])
    finally:
        stop.set()
        writer.join()


{"cut": cut, "flip": flip, "foreign": foreign, "replaced": replaced}[KIND]()
PYTHON

damage () {
	python3 damage.py "$GIT" "$1" $(fault_thin "${2-1}") "$STOCK_GIT" &&
	for client in clone.git fetch.git
	do
		stock -C $client fsck --full --strict || return
	done
}

test_expect_success 'setup: a file with deltas and copies' '
	make_copies_repo r.git 4 60 &&
	converge r.git &&
	cp $deltas saved &&
	"$GIT" -C r.git bitmap verify &&
	make_copies_repo other.git 3 70 &&
	converge other.git &&
	cp other.git/objects/info/deltas other
'

test_expect_success 'setup: two clients' '
	stock init -q --bare clone.git &&
	stock -C r.git rev-parse v1^0 >clone.git/shallow &&
	depth_1 r.git v1 >clone.request &&
	{
		stock -C r.git rev-parse v1 v1^0 &&
		stock -C r.git rev-list --objects "v1^{tree}" | cut -d" " -f1
	} >clone.expect &&
	: >clone.may &&
	stock init -q --bare fetch.git &&
	stock -C fetch.git fetch -q ../r.git \
		$(stock -C r.git rev-parse main~8):refs/heads/main &&
	pkt command=fetch agent=test object-format=sha1 D thin-pack ofs-delta \
		"want $(stock -C r.git rev-parse main)" \
		"have $(stock -C r.git rev-parse main~8)" done F >fetch.request &&
	stock -C r.git rev-list --objects main ^main~8 | cut -d" " -f1 \
		>fetch.expect &&
	stock -C r.git rev-list --objects main~8 | cut -d" " -f1 >fetch.may
'

test_expect_success 'the sound file is used by both' '
	for name in clone fetch
	do
		cp saved $deltas &&
		GIT_PROTOCOL=version=2 "$GIT" upload-pack --stateless-rpc r.git \
			<$name.request >with 2>err &&
		! test -s err &&
		rm $deltas &&
		GIT_PROTOCOL=version=2 "$GIT" upload-pack --stateless-rpc r.git \
			<$name.request >without &&
		! cmp -s with without || return
	done
'

test_expect_success 'the file is cut short' '
	damage cut 499
'

test_expect_success 'a byte is changed' '
	damage flip 199
'

test_expect_success 'the file of another repository, and no file at all' '
	damage foreign
'

test_expect_success 'the file is replaced while requests read it' '
	damage replaced
'

test_done
