#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='kept deltas: small fetches from a pack of whole newest versions'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-fault.sh"

UP=--upload-pack=$GITREACH_BUILD/bin/git-upload-pack
deltas=r.git/objects/info/deltas

# history <commits> <seed>: a fast-import stream. Each commit changes a line of
# a file of 200 KB, and every hundredth commit changes another file.
history () {
	python3 - "$@" <<-\PYTHON
	import random, sys
	nr, seed = int(sys.argv[1]), int(sys.argv[2])
	pick = random.Random(seed)
	line = lambda: "%0100x\n" % pick.getrandbits(400)
	files = {"big": [line() for _ in range(2000)],
	         "dir/slow": [line() for _ in range(500)]}
	for i in range(nr):
	    changed = ["big"] + (["dir/slow"] if i % 100 == 0 else [])
	    for name in changed:
	        lines = files[name]
	        lines[pick.randrange(len(lines))] = line()
	    print("commit refs/heads/main\ncommitter A <a@b> %d +0000\ndata 0\n"
	          % (1700000000 + i))
	    for name in changed:
	        data = "".join(files[name])
	        print("M 644 inline %s\ndata %d\n%s" % (name, len(data), data))
	PYTHON
}

# make_repo <dir> <commits> <seed>: a repository whose pack stores the newest
# versions whole.
make_repo () {
	stock init -q --bare "$1" &&
	history "$2" "$3" >stream &&
	stock -C "$1" fast-import --quiet <stream &&
	stock -C "$1" symbolic-ref HEAD refs/heads/main &&
	stock -C "$1" repack -adfq --window=2 &&
	stock -C "$1" config repack.keptDeltas 50
}

# rows <nr>: verify finds this number of deltas.
rows () {
	"$GIT" -C r.git bitmap verify >out &&
	grep "^verified=$1 of=$1 path=.*objects/info/deltas$" out
}

# thin <commits>: the bytes of a thin pack for a client that is so many commits
# behind. The pack is complete, with the objects of the client.
thin () {
	rm -rf client.git &&
	stock init -q --bare client.git &&
	stock -C client.git fetch -q ../r.git \
		$(stock -C r.git rev-parse main~$1):refs/heads/old &&
	printf "main\n--not\nmain~$1\n" |
	"$GIT" -C r.git pack-objects --revs --thin --stdout -q \
		--delta-base-offset >thin.pack 2>err &&
	stock -C client.git index-pack --fix-thin --stdin <thin.pack >/dev/null &&
	stock -C client.git update-ref refs/heads/main \
		$(stock -C r.git rev-parse main) &&
	stock -C client.git fsck --full --strict >/dev/null &&
	wc -c <thin.pack
}

# fetched <commits>: a client that is so many commits behind fetches from us.
# Messages of the server are in "err", the sent pack is in "fetched.pack".
fetched () {
	rm -rf client.git &&
	stock init -q --bare client.git &&
	stock -C client.git fetch -q ../r.git \
		$(stock -C r.git rev-parse main~$1):refs/heads/main &&
	rm -f fetched.pack &&
	GIT_TRACE_PACKFILE=$PWD/fetched.pack stock -C client.git fetch "$UP" \
		"file://$PWD/r.git" main:refs/heads/main 2>err &&
	stock -C client.git fsck --full --strict &&
	stock -C r.git rev-parse main >expect &&
	stock -C client.git rev-parse main >actual &&
	test_cmp expect actual
}

test_expect_success 'repacks make deltas, a limited number each' '
	make_repo r.git 600 1 &&
	"$GIT" -C r.git repack -adbq &&
	rows 2 &&
	"$GIT" -C r.git repack -adbq &&
	rows 5 &&
	"$GIT" -C r.git repack -adbq &&
	rows 7 &&
	cp $deltas saved-deltas &&
	"$GIT" -C r.git repack -adbq &&
	cmp saved-deltas $deltas
'

test_expect_success 'thin packs for clients that are 1 to 550 commits behind' '
	for nr in 1 5 20 60 300 500 550
	do
		cp saved-deltas $deltas.new && mv -f $deltas.new $deltas &&
		with=$(thin $nr) &&
		rm -f $deltas &&
		without=$(thin $nr) &&
		echo $nr $with $without || return
	done >sizes &&
	# The whole file has 90,000 bytes when it is deflated.
	awk "\$1 <= 500 && \$2 > \$3 - 50000 { exit 1 }" sizes &&
	awk "\$1 <= 5 && \$2 > 3000 { exit 1 }" sizes &&
	awk "\$1 == 550 && \$2 > \$3 { exit 1 }" sizes &&
	cp saved-deltas $deltas
'

test_expect_success 'a fetch gets a kept delta' '
	for nr in 1 7 100
	do
		fetched $nr &&
		! grep warning err || return
	done
'

test_expect_success 'a client without thin packs gets no kept delta' '
	printf "main\n--not\nmain~8\n" |
	"$GIT" -C r.git pack-objects --revs --stdout -q >pack &&
	stock -C client.git index-pack --stdin <pack >/dev/null
'

test_expect_success 'HEAD moves' '
	cp -r r.git moved.git &&
	stock -C r.git update-ref refs/heads/main main~3 &&
	for i in 1 2 3
	do
		"$GIT" -C r.git repack -adbq || return
	done &&
	rows 7 &&
	! cmp -s saved-deltas $deltas &&
	test $(thin 10) -lt 20000 &&
	rm -rf r.git && mv moved.git r.git
'

test_expect_success 'repack.keptDeltas' '
	cp -r r.git other.git &&
	"$GIT" -C r.git -c repack.keptDeltas=0 repack -adbq &&
	! test -e $deltas &&
	"$GIT" -C r.git -c repack.keptDeltas=1 repack -adbq &&
	small=$(wc -c <$deltas) &&
	pack=$(wc -c <"$(echo r.git/objects/pack/*.pack)") &&
	test $((small * 90)) -lt $pack &&
	test_must_fail "$GIT" -C r.git -c repack.keptDeltas=101 repack -adbq \
		2>err &&
	grep "repack.keptDeltas is more than 100" err &&
	test_must_fail "$GIT" -C r.git -c repack.keptDeltas=x repack -adbq \
		2>err &&
	grep "bad numeric config value" err &&
	rm -rf r.git && mv other.git r.git
'

# damaged <message>: the file is damaged. A fetch works, with a warning;
# verify fails, and the next repack makes another file.
damaged () {
	fetched 100 &&
	grep "warning: .*info/deltas: $1" err &&
	test_expect_code 1 "$GIT" -C r.git bitmap verify 2>err &&
	grep "info/deltas" err &&
	"$GIT" -C r.git repack -adbq &&
	"$GIT" -C r.git bitmap verify &&
	cp saved-deltas $deltas.new && mv -f $deltas.new $deltas
}

test_expect_success 'a damaged file' '
	chmod u+w $deltas &&
	for at in 0 6 9 15
	do
		printf "\377" | dd of=$deltas bs=1 seek=$at conv=notrunc \
			2>dd &&
		damaged "" || return
	done &&
	head -c 10 saved-deltas >$deltas && damaged "ends within its header" &&
	head -c 900 saved-deltas >$deltas && damaged "wrong number of bytes" &&
	: >$deltas && damaged "ends within its header"
'

test_expect_success 'damaged rows and deltas' '
	len=$(wc -c <saved-deltas) &&
	python3 - saved-deltas $deltas <<-\PYTHON &&
	import sys
	data = bytearray(open(sys.argv[1], "rb").read())
	for row in range(int.from_bytes(data[8:12], "big")):
	    data[20 + 64 * row + 50] ^= 1
	open(sys.argv[2], "wb").write(data)
	PYTHON
	damaged "a delta has a wrong CRC" &&
	python3 - saved-deltas $deltas <<-\PYTHON &&
	import sys
	data = bytearray(open(sys.argv[1], "rb").read())
	nr = int.from_bytes(data[8:12], "big")
	for at in range(20 + 64 * nr, len(data), 100):
	    data[at] ^= 64
	open(sys.argv[2], "wb").write(data)
	PYTHON
	damaged "a delta has a wrong CRC"
'

test_expect_success 'verify notices a wrong delta with a right CRC' '
	python3 - saved-deltas $deltas <<-\PYTHON &&
	import hashlib, sys, zlib
	data = bytearray(open(sys.argv[1], "rb").read())
	row = bytearray(data[20:84])
	at = int.from_bytes(row[40:48], "big")
	size = int.from_bytes(row[56:60], "big")
	row[20:40] = data[20 + 64 + 20:20 + 64 + 40]
	crc = zlib.crc32(row[:60] + data[at:at + size])
	row[60:64] = crc.to_bytes(4, "big")
	data[20:84] = row
	data[-20:] = hashlib.sha1(data[:-20]).digest()
	open(sys.argv[2], "wb").write(data)
	PYTHON
	test_expect_code 1 "$GIT" -C r.git bitmap verify 2>err &&
	grep "info/deltas: the stored delta of object [0-9a-f]* is wrong$" err &&
	cp saved-deltas $deltas
'

test_expect_success 'a file of another version is ignored' '
	printf "\002" | dd of=$deltas bs=1 seek=4 conv=notrunc 2>dd &&
	fetched 100 &&
	! grep warning err &&
	"$GIT" -C r.git bitmap verify 2>err &&
	grep "^note: .*info/deltas: unknown version 2 of the format; this file is not used" err &&
	cp saved-deltas $deltas
'

test_expect_success 'a file of another repository' '
	make_repo other.git 600 2 &&
	"$GIT" -C other.git repack -adbq &&
	cp other.git/objects/info/deltas $deltas.new &&
	mv -f $deltas.new $deltas &&
	fetched 100 &&
	! grep warning err &&
	"$GIT" -C r.git bitmap verify >out &&
	grep "^verified=0 of=2 path=.*objects/info/deltas$" out &&
	"$GIT" -C r.git repack -adbq &&
	rows 2
'

test_expect_success 'SHA-256, and the deltas of an alternate' '
	stock init -q --bare --object-format=sha256 wide.git &&
	history 50 3 | stock -C wide.git fast-import --quiet &&
	stock -C wide.git symbolic-ref HEAD refs/heads/main &&
	"$GIT" -C wide.git -c repack.keptDeltas=50 repack -adbq &&
	"$GIT" -C wide.git bitmap verify >out &&
	grep "^verified=3 of=3 path=.*objects/info/deltas$" out &&
	stock clone -q --bare --shared wide.git borrower.git &&
	printf "main\n--not\nmain~8\n" >revs &&
	"$GIT" -C borrower.git pack-objects --revs --thin --stdout -q <revs \
		>pack &&
	test $(wc -c <pack) -lt 20000
'

# pushed <last>: a fast-import stream. The pack that fast-import makes
# is like one of pushes: each version is a delta of the version before. The file
# is so large that a repack makes no deltas of it. Commit 0 does not have it.
pushed () {
	python3 - "$@" <<-\PYTHON
	import random, sys
	pick = random.Random(5)
	line = lambda: "%0100x\n" % pick.getrandbits(400)
	lines = [line() for _ in range(6000)]
	for i in range(int(sys.argv[1]) + 1):
	    lines[pick.randrange(len(lines))] = line()
	    data = "".join(lines) if i else "nothing\n"
	    print("commit refs/heads/main\ncommitter A <a@b> %d +0000\ndata 0\n"
	          % (1700000000 + i))
	    print("M 644 inline %s\ndata %d\n%s"
	          % ("file" if i else "other", len(data), data))
	PYTHON
}

test_expect_success 'the delta that a pack stores for a newest version is kept' '
	mv r.git saved.git &&
	stock init -q --bare r.git &&
	stock -C r.git symbolic-ref HEAD refs/heads/main &&
	pushed 20 | stock -C r.git -c fastimport.unpackLimit=1 fast-import \
		--quiet &&
	"$GIT" -C r.git repack -adbq &&
	rows 1
'

# dropped_deltas <commits>: the sizes of thin packs, with kept deltas and
# without. The client has the base, or gets the base, or neither.
dropped_deltas () {
	for nr in 1 19 20
	do
		thin $nr
	done >with &&
	mv $deltas saved &&
	for nr in 1 19 20
	do
		thin $nr
	done >without &&
	mv saved $deltas &&
	paste with without >sizes &&
	awk "NR <= 2 && (\$1 > 10000 || \$2 < 250000) { exit 1 }" sizes &&
	awk "NR == 3 && \$1 > \$2 { exit 1 }" sizes
}

test_expect_success 'fetches with the kept delta of a pack' '
	dropped_deltas
'

test_expect_success 'a second repack takes the kept delta over' '
	cp $deltas saved-deltas &&
	"$GIT" -C r.git repack -adbq &&
	cmp $deltas saved-deltas &&
	dropped_deltas
'

test_expect_success 'a geometric repack with a multi-pack-index keeps the file' '
	rm -rf pushed.git pusher.git && cp -r r.git pushed.git &&
	stock init -q --bare pusher.git &&
	pushed 23 | stock -C pusher.git -c fastimport.unpackLimit=1 \
		fast-import --quiet &&
	stock -C r.git config receive.unpackLimit 1 &&
	stock -C pusher.git push -q ../r.git main~1:main &&
	stock -C pusher.git push -q ../r.git main &&
	"$GIT" -C r.git repack --geometric=2 -dq --write-midx \
		--write-bitmap-index &&
	test -e r.git/objects/pack/multi-pack-index &&
	cmp $deltas saved-deltas &&
	for nr in 1 4 22
	do
		test $(thin $nr) -lt 10000 || return
	done &&
	rm -rf r.git pusher.git && mv pushed.git r.git
'

test_expect_success 'the repack of a fork network keeps dropped deltas' '
	mv r.git plain.git &&
	stock init -q --bare r.git &&
	stock -C r.git symbolic-ref HEAD refs/heads/main &&
	pushed 20 | stock -C r.git -c fastimport.unpackLimit=1 fast-import \
		--quiet &&
	"$GIT" network init net.git &&
	"$GIT" -C net.git network add -q ../r.git &&
	"$GIT" -C net.git network repack -q &&
	"$GIT" -C net.git bitmap verify >out &&
	grep "^verified=1 of=1 path=.*/net.git/objects/info/deltas$" out &&
	for nr in 1 19
	do
		test $(thin $nr) -lt 10000 || return
	done &&
	rm -rf r.git && mv plain.git r.git
'

test_expect_success 'a repack keeps the delta that a push has brought' '
	stock init -q --bare pusher.git &&
	pushed 21 | stock -C pusher.git -c fastimport.unpackLimit=1 \
		fast-import --quiet &&
	stock -C r.git config receive.unpackLimit 1 &&
	stock -C pusher.git push -q ../r.git main &&
	test 2 = $(ls r.git/objects/pack/*.pack | wc -l) &&
	"$GIT" -C r.git repack -adbq &&
	rows 1 &&
	! cmp -s $deltas saved-deltas &&
	test $(thin 1) -lt 5000
'

test_expect_success 'kept deltas of renamed files' '
	rm -rf r.git &&
	stock init -q --bare r.git &&
	stock -C r.git symbolic-ref HEAD refs/heads/main &&
	python3 - >stream <<-\PYTHON &&
	import random
	pick = random.Random(6)
	line = lambda: "%0100x\n" % pick.getrandbits(400)
	files = [[line() for _ in range(3000)] for _ in range(12)]
	def blob(lines):
	    data = "".join(lines)
	    print("blob\nmark :%d\ndata %d\n%s" % (next(marks), len(data), data))
	marks = iter(range(1, 25))
	for lines in files:
	    blob(lines)
	    lines[pick.randrange(3000)] = line()
	    blob(lines)
	def commit(time):
	    print("commit refs/heads/main\ncommitter A <a@b> %d +0000\ndata 0\n"
	          % (1700000000 + time))
	commit(0)
	for i in range(12):
	    print("M 644 :%d old%d" % (2 * i + 1, i))
	commit(1)
	for i in range(11):
	    print("M 644 :%d old%d" % (2 * i + 2, i))
	commit(2)
	print("M 644 :24 renamed\nD old11")
	PYTHON
	stock -C r.git -c fastimport.unpackLimit=1 fast-import --quiet \
		<stream &&
	"$GIT" -C r.git -c repack.tipIsland=refs/heads/main repack -adbq &&
	test 12 -le $("$GIT" -C r.git bitmap verify |
		sed -n "s/^verified=\([0-9]*\) .*deltas$/\1/p") &&
	test $(thin 1) -lt 3000 &&
	test $(thin 2) -lt 10000 &&
	rm -rf r.git && mv saved.git r.git
'

test_expect_success 'a stored delta against a version that the client replaced' '
	mv r.git saved.git &&
	stock init -q --bare r.git &&
	stock -C r.git symbolic-ref HEAD refs/heads/main &&
	python3 - >stream <<-\PYTHON &&
	import random
	pick = random.Random(7)
	line = lambda: "%0100x\n" % pick.getrandbits(400)
	first, other = [[line() for _ in range(3000)] for _ in range(2)]
	last = first[:]
	last[1500] = line()
	for mark, lines in (2, other), (1, first), (3, last):
	    data = "".join(lines)
	    print("blob\nmark :%d\ndata %d\n%s" % (mark, len(data), data))
	def commit(name, time):
	    print("commit refs/heads/%s\ncommitter A <a@b> %d +0000\ndata 0\n"
	          % (name, 1700000000 + time))
	commit("main", 0)
	print("M 644 inline nothing\ndata 0\n")
	for nr in range(1, 4):
	    commit("other", nr)
	    print("M 644 :%d file" % nr)
	PYTHON
	stock -C r.git -c fastimport.unpackLimit=1 fast-import --quiet \
		<stream &&
	"$GIT" -C r.git repack -adbq &&
	rm -f r.git/objects/pack/*.bitmap &&
	stock -C r.git symbolic-ref HEAD refs/heads/other &&
	stock -C r.git branch -q -f main other &&
	fetched 1 &&
	test $(wc -c <fetched.pack) -lt 5000 &&
	# pack-objects does not know whether the receiver has the version: its
	# clone may be shallow.
	rm -rf client.git &&
	stock init -q --bare client.git &&
	stock -C client.git fetch -q --depth=1 "file://$PWD/r.git" \
		$(stock -C r.git rev-parse main~1):refs/heads/old &&
	printf "main\n--not\nmain~1\n" |
	"$GIT" -C r.git pack-objects --revs --thin --stdout -q \
		--delta-base-offset >thin.pack &&
	stock -C client.git index-pack --fix-thin --stdin <thin.pack &&
	rm -rf r.git && mv saved.git r.git
'

test_expect_success 'without HEAD there are no deltas' '
	stock -C r.git symbolic-ref HEAD refs/heads/none &&
	"$GIT" -C r.git repack -adbq &&
	! test -e $deltas &&
	stock -C r.git symbolic-ref HEAD refs/heads/main
'

# The pack may be the old one or the new one; the file is complete.
check_fault () {
	"$GIT" -C "$1" bitmap verify >out 2>&1 &&
	! grep "info/deltas: " out &&
	stock -C "$1" fsck --full --strict &&
	printf "main\n--not\nmain~5\n" >revs &&
	"$GIT" -C "$1" pack-objects --revs --thin --stdout -q <revs >pack
}

fresh () {
	rm -rf f.git && cp -r fault-start.git f.git
}

for mode in kill lose EIO ENOSPC
do
	test_expect_success "repack that writes kept deltas: $mode at every call" "
		test -d fault-start.git || {
			make_repo fault-start.git 20 4 &&
			stock -C fault-start.git repack -adq &&
			stock -C fault-start.git config core.fsync all
		} &&
		fault_step=\$(fault_thin 20) &&
		fault_each $mode fresh '$GIT -C f.git repack -adbq' \
			'check_fault f.git'
	"
done

test_done
