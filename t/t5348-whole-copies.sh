#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='whole copies: depth-1 clones of tags and branches deflate nothing'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-copies.sh"

UP=--upload-pack=$GITREACH_BUILD/bin/git-upload-pack
deltas=r.git/objects/info/deltas

# copies: the number of whole copies in the file.
copies () {
	python3 - $deltas <<-\PYTHON
	import sys
	data = open(sys.argv[1], "rb").read()
	rows = [data[20 + 64 * i:84 + 64 * i]
	        for i in range(int.from_bytes(data[8:12], "big"))]
	print(sum(row[20:40] == bytes(20) for row in rows))
	PYTHON
}

# recompressed <rev>: how many objects a clone of depth 1 deflates. The answer is in
# "answer", messages are in "err".
recompressed () {
	depth_1 r.git "$1" >request &&
	rm -f trace &&
	GIT_TRACE2_EVENT="$PWD/trace" GIT_PROTOCOL=version=2 \
		"$GIT" upload-pack --stateless-rpc r.git <request >answer 2>err &&
	sed -n 's/.*"objects_recompressed":\([0-9]*\).*/\1/p' trace
}

test_expect_success 'each repack makes a limited number of copies' '
	make_copies_repo r.git 6 300 &&
	cp -R r.git start.git &&
	"$GIT" -C r.git repack -adbq &&
	first=$(copies) && last=0 && now=$first &&
	test 0 -lt $first &&
	while test $last != $now
	do
		last=$now &&
		"$GIT" -C r.git repack -adbq &&
		now=$(copies) || return
	done &&
	test $first -lt $now &&
	"$GIT" -C r.git bitmap verify &&
	cp $deltas saved
'

test_expect_success 'a repack without changes keeps the file' '
	"$GIT" -C r.git repack -adbq &&
	cmp saved $deltas
'

test_expect_success 'clones of depth 1 of branches and tags deflate nothing' '
	rm $deltas &&
	for rev in v1 old side
	do
		without=$(recompressed $rev) &&
		test 0 -lt $without || return
	done &&
	cp saved $deltas &&
	for rev in v1 old side main
	do
		test 0 = $(recompressed $rev) &&
		! test -s err || return
	done
'

test_expect_success 'a stock client gets the right objects' '
	for rev in v1 old side
	do
		rm -rf copy.git &&
		stock clone -q --bare --depth=1 --branch=$rev "$UP" \
			"file://$PWD/r.git" copy.git &&
		stock -C copy.git fsck --full --strict &&
		stock -C r.git rev-list --objects --no-walk $rev |
			cut -d" " -f1 | sort >expect &&
		stock -C r.git rev-list --objects "$rev^{tree}" |
			cut -d" " -f1 >>expect &&
		sort -u expect >sorted &&
		stock -C copy.git rev-list --objects $rev |
			cut -d" " -f1 | sort -u >actual &&
		test_cmp sorted actual || return
	done
'

test_expect_success 'a partial clone and a full clone get copies or deltas' '
	rm -rf copy.git &&
	stock clone -q --bare "$UP" "file://$PWD/r.git" copy.git &&
	test_same_repo r.git copy.git &&
	stock -C r.git config uploadpack.allowFilter true &&
	rm -rf copy.git &&
	stock clone -q --bare --depth=1 --branch=old --filter=blob:limit=1m "$UP" \
		"file://$PWD/r.git" copy.git &&
	stock -C copy.git fsck --full --strict
'

test_expect_success 'a client with an older version gets a delta, not a copy' '
	rm -rf copy.git &&
	stock init -q --bare copy.git &&
	stock -C copy.git fetch -q ../r.git \
		$(stock -C r.git rev-parse old~1):refs/heads/old &&
	printf "old\n--not\nold~1\n" |
	"$GIT" -C r.git pack-objects --revs --thin --stdout -q >thin.pack &&
	stock -C copy.git index-pack --fix-thin --stdin <thin.pack &&
	test $(wc -c <thin.pack) -lt 3000
'

test_expect_success 'repack -f makes all copies at once' '
	expect=$(copies) &&
	mv r.git saved.git && mv start.git r.git &&
	"$GIT" -C r.git repack -adbfq &&
	for rev in v1 old side
	do
		test 0 = $(recompressed $rev) || return
	done &&
	mv r.git start.git && mv saved.git r.git
'

test_expect_success 'the file is not larger than repack.keptDeltas' '
	"$GIT" -C r.git -c repack.keptDeltas=20 repack -adbq &&
	size=$(cat r.git/objects/pack/*.pack | wc -c) &&
	test 0 -lt $(copies) &&
	test $(wc -c <$deltas) -le $((size / 5 + 100)) &&
	"$GIT" -C r.git -c repack.keptDeltas=0 repack -adbq &&
	! test -e $deltas &&
	cp saved $deltas
'

test_expect_success 'copies of a removed branch are dropped' '
	before=$(copies) &&
	stock -C r.git update-ref -d refs/heads/side &&
	stock -C r.git update-ref -d refs/heads/old &&
	"$GIT" -C r.git repack -adbq &&
	test $(copies) -lt $before &&
	test 0 = $(recompressed v1)
'

test_expect_success 'verify notices a wrong copy with a right CRC' '
	python3 - saved $deltas <<-\PYTHON &&
	import hashlib, sys, zlib
	data = bytearray(open(sys.argv[1], "rb").read())
	for start in range(20, len(data), 64):
	    if data[start + 20:start + 40] == bytes(20):
	        break
	row = data[start:start + 64]
	row[0:20] = data[start + 64:start + 84]
	at = int.from_bytes(row[40:48], "big")
	size = int.from_bytes(row[56:60], "big")
	crc = zlib.crc32(row[:60] + data[at:at + size])
	row[60:64] = crc.to_bytes(4, "big")
	data[start:start + 64] = row
	data[-20:] = hashlib.sha1(data[:-20]).digest()
	open(sys.argv[2], "wb").write(data)
	PYTHON
	test_expect_code 1 "$GIT" -C r.git bitmap verify 2>err &&
	grep "info/deltas: the stored copy of object [0-9a-f]* is wrong$" err
'

test_done
