#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='no object of a thin pack is a delta of itself'
. "$(dirname "$0")/lib.sh"

UP=--upload-pack=$GITREACH_BUILD/bin/git-upload-pack

# versions <commit>...: a fast-import stream. A commit is
# <branch>[:<version of "file">[:<version of "other">]]. Each version of a file
# has another line changed. The branch "feature" starts at the first commit.
versions () {
	python3 - "$@" <<-\PYTHON
	import random, sys
	line = lambda pick: "%0100x\n" % pick.getrandbits(400)
	start = random.Random(1)
	lines = [line(start) for _ in range(400)]
	for nr, arg in enumerate(sys.argv[1:]):
	    branch, *files = arg.split(":")
	    print("commit refs/heads/%s\nmark :%d\n"
	          "committer A <a@b> %d +0000\ndata 0\n"
	          % (branch, nr + 1, 1700000000 + nr))
	    if branch == "feature":
	        print("from :1")
	    for name, version in zip(["file", "other"], files):
	        pick = random.Random(version)
	        changed = lines[:]
	        changed[pick.randrange(400)] = line(pick)
	        data = name + "".join(changed)
	        print("M 644 inline %s\ndata %d\n%s" % (name, len(data), data))
	    if not files:
	        print("M 644 inline first\ndata 0\n")
	PYTHON
}

# pack_range <name> <line of --revs>...: store the objects in a pack of r.git
# that is not thin. Prints the name of the pack.
pack_range () {
	printf "%s\n" "$@" |
	stock -C all.git pack-objects -q --revs "$PWD/r.git/objects/pack/pack"
}

# keep <target> <base>: write a file of kept deltas with one row.
keep () {
	stock -C r.git cat-file blob $1 >target &&
	stock -C r.git cat-file blob $2 >base &&
	python3 - $(stock -C r.git rev-parse $1 $2) <<-\PYTHON &&
	import hashlib, os, sys, zlib
	target, base = open("target", "rb").read(), open("base", "rb").read()
	def varint(value):
	    out = b""
	    while value > 127:
	        out += bytes([value & 127 | 128])
	        value >>= 7
	    return out + bytes([value])
	def copy(at, nr):
	    return b"\xb7" + at.to_bytes(3, "little") + nr.to_bytes(2, "little")
	same = len(os.path.commonprefix([target, base]))
	end = len(os.path.commonprefix([target[::-1], base[::-1]]))
	delta = varint(len(base)) + varint(len(target)) + copy(0, same)
	for at in range(same, len(target) - end, 100):
	    part = target[at:min(at + 100, len(target) - end)]
	    delta += bytes([len(part)]) + part
	delta += copy(len(base) - end, end)
	stream = zlib.compress(delta)
	row = bytes.fromhex(sys.argv[1]) + bytes.fromhex(sys.argv[2])
	row += (84).to_bytes(8, "big") + (1).to_bytes(4, "big")
	row += len(delta).to_bytes(4, "big") + len(stream).to_bytes(4, "big")
	row += zlib.crc32(row + stream).to_bytes(4, "big")
	data = b"KEPT\1\1\0\0\0\0\0\1"
	data += (104 + len(stream)).to_bytes(8, "big") + row + stream
	open("r.git/objects/info/deltas", "wb").write(
	    data + hashlib.sha1(data).digest())
	PYTHON
	"$GIT" -C r.git bitmap verify >out &&
	grep "^verified=1 of=1 path=.*objects/info/deltas$" out
}

# fetched <have>: a client that has one commit of r.git fetches main, and stores
# the pack as it is sent.
fetched () {
	rm -rf client.git &&
	stock init -q --bare client.git &&
	stock -C client.git config fetch.unpackLimit 1 &&
	stock -C client.git config fetch.fsckObjects true &&
	stock -C client.git fetch -q ../all.git $1:refs/heads/old &&
	stock -C client.git fetch "$UP" "file://$PWD/r.git" \
		main:refs/heads/main &&
	stock -C client.git fsck --full --strict &&
	stock -C r.git rev-parse main >expect &&
	stock -C client.git rev-parse main >actual &&
	test_cmp expect actual
}

# make_repo <commit>...: all.git, with a pack that stores the newest versions
# whole.
make_repo () {
	rm -rf all.git r.git &&
	stock init -q --bare all.git &&
	stock -C all.git symbolic-ref HEAD refs/heads/main &&
	versions "$@" | stock -C all.git fast-import --quiet &&
	stock -C all.git repack -adfq
}

test_expect_success 'the base of a kept delta is sent, but is not copied in runs' '
	make_repo main main:1 main:2 &&
	cp -r all.git r.git &&
	rm -rf r.git/objects/pack/* &&
	first=$(pack_range main~2) &&
	pack_range main~1 ^main~2 &&
	pack_range main ^main~1 &&
	stock -C r.git multi-pack-index write --bitmap \
		--preferred-pack=pack-$first.pack &&
	keep main:file main~1:file &&
	fetched $(stock -C r.git rev-parse main~2)
'

for reuse in single multi
do
	test_expect_success "all packs, pack.allowPackReuse=$reuse" '
		stock -C r.git config pack.allowPackReuse '$reuse' &&
		fetched $(stock -C r.git rev-parse main~2) &&
		fetched $(stock -C r.git rev-parse main~1)
	'
done

test_expect_success 'a damaged file names a target twice, not in order' '
	python3 - <<-\PYTHON &&
	data = open("r.git/objects/info/deltas", "rb").read()
	row, stream = data[20:84], data[84:-20]
	at = (20 + 3 * 64).to_bytes(8, "big")
	import zlib
	def moved(row):
	    row = row[:40] + at + row[48:60]
	    return row + zlib.crc32(row + stream).to_bytes(4, "big")
	row = moved(row)
	other = bytes([row[0] ^ 1]) + row[1:]
	data = data[:8] + (3).to_bytes(4, "big")
	data += (20 + 3 * 64 + len(stream) + 20).to_bytes(8, "big")
	open("r.git/objects/info/deltas", "wb").write(
	    data + row + other + row + stream + bytes(20))
	PYTHON
	fetched $(stock -C r.git rev-parse main~2)
'

# The version 1 of "file" is new in a branch, and main got it from there. The
# bitmap index is older than the branch.
test_expect_success 'the client has a version that is sent, too' '
	make_repo main feature:1:3 main:1 main:2 &&
	cp -r all.git r.git &&
	rm -rf r.git/objects/pack/* &&
	stock -C r.git update-ref -d refs/heads/feature &&
	pack_range main &&
	stock -C r.git repack -adbq &&
	pack_range feature ^main &&
	stock -C r.git config gitreach.bitmapStrategy bitmap &&
	fetched $(stock -C all.git rev-parse feature)
'

test_done
