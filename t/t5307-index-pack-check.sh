#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='index-pack --strict, --fsck-objects and connectivity'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-compare.sh"

# pack <name> <id>...: a pack of these objects of r
pack () {
	name_=$1
	shift
	printf "%s\n" "$@" |
		stock -C r pack-objects -q --stdout >"$name_.pack"
}

# literal <type>: what is on standard input, as an object of r
literal () {
	git -C r hash-object -w --literally -t "$1" --stdin
}

# commit <tree> [<header>...]
commit () {
	{
		printf "tree %s\n" "$1" &&
		shift &&
		printf "%s\n" "$@" "author A <a@b> 1 +0000" \
			"committer A <a@b> 1 +0000" "" m
	} | sed "/^$/{N;}" | grep -v "^none$" | literal commit
}

test_expect_success 'packs, good and bad' '
	stock init -q --bare r &&
	empty=$(stock -C r mktree </dev/null) &&
	ones=1111111111111111111111111111111111111111 &&
	good=$(commit $empty none) &&
	pack good $good $empty &&
	pack no-tree $good &&
	pack no-parent $(commit $empty "parent $ones") $empty &&
	badmail=$(printf "%s\n" "tree $empty" "author A 1 +0000" \
		"committer A <a@b> 1 +0000" "" m | literal commit) &&
	pack badmail $badmail $empty &&
	pack no-blob $(printf "100644 blob $ones\tx\n" |
		stock -C r mktree --missing) &&
	blob=$(echo x | literal blob) &&
	dotgit=$(printf "100644 blob $blob\t.git2\n" |
		stock -C r mktree) &&
	pack tree $dotgit $blob &&
	modules=$(printf "[submodule \"a\"]\n\tpath = -x\n" | literal blob) &&
	tree=$(printf "100644 blob $modules\t.gitmodules\n" |
		stock -C r mktree) &&
	pack modules $tree $modules &&
	pack modules-alone $tree &&
	pack foo $(echo foo | literal commit) &&
	pack tagged $(printf "%s\n" "object $empty" "type tree" "tag x..y" \
		"tagger A <a@b> 1 +0000" "" m | literal tag) $empty
'

# The order of what is printed by two threads is no matter.
for pack in good no-tree no-parent badmail no-blob tree modules foo tagged
do
	for option in --strict --fsck-objects --strict=missingEmail=warn \
		--check-self-contained-and-connected --strict=foo=warn \
		--strict=missingEmail --strict=nulInHeader=warn
	do
		test_expect_success "$pack, $option" '
			rm -rf s o && stock init -q --bare s &&
			stock init -q --bare o &&
			stock -C s index-pack --stdin $option \
				<$pack.pack >expect 2>expect.err
			code=$? &&
			test_expect_code $code git -C o index-pack --stdin \
				$option <$pack.pack >actual 2>actual.err &&
			test_cmp expect actual &&
			if test $pack != foo
			then
				sort expect.err >expect &&
				sort actual.err >actual &&
				test_cmp expect actual
			fi &&
			ls o/objects/pack >files &&
			if test $code -ge 128
			then
				test_must_be_empty files
			fi
		'
	done
done

test_expect_success 'objects of the repository need not be in the pack' '
	stock init -q --bare t &&
	git -C t index-pack --stdin --strict <good.pack &&
	git -C t index-pack --stdin --strict <no-tree.pack &&
	test_expect_code 1 git -C t index-pack --stdin \
		--check-self-contained-and-connected <no-tree.pack &&
	test_expect_code 0 git -C t index-pack --stdin \
		--check-self-contained-and-connected <good.pack
'

test_expect_success 'the id of a .gitmodules that is not in the pack is printed' '
	stock init -q --bare u &&
	git -C u index-pack --stdin --fsck-objects <modules-alone.pack >out &&
	stock -C r rev-parse $modules >expect &&
	sed 1d out >actual &&
	test_cmp expect actual
'

test_expect_success 'a .gitmodules that is a delta is read' '
	stock init -q --bare v &&
	for n in 1 2 3 4 5
	do
		{
			seq 1 200 | sed "s/^/# /" &&
			printf "[submodule \"a\"]\n\tpath = -x\n# $n\n"
		} >m &&
		id=$(stock -C v hash-object -w --stdin <m) &&
		printf "100644 blob $id\t.gitmodules\n" |
			stock -C v mktree >>ids && echo $id >>ids || return 1
	done &&
	stock -C v pack-objects -q --stdout <ids >deltas.pack &&
	stock init -q --bare w &&
	test_must_fail git -C w index-pack --stdin --strict <deltas.pack 2>err &&
	test 5 = $(grep -c "gitmodulesPath: disallowed submodule path: -x" err)
'

# `pack-objects` never writes such packs: "whole" holds a blob twice, "delta"
# holds a blob whole and as a delta.
test_expect_success 'packs that hold an object twice' '
	cat >twice.py <<-\EOF &&
	import hashlib, struct, zlib
	def head(kind, size):
	    out, byte, size = b"", kind << 4 | size & 15, size >> 4
	    while size:
	        out, byte, size = out + bytes([byte | 128]), size & 127, size >> 7
	    return out + bytes([byte])
	def entry(kind, data, base=b""):
	    return head(kind, len(data)) + base + zlib.compress(data)
	def write(name, *entries):
	    pack = b"PACK" + struct.pack(">II", 2, len(entries))
	    pack += b"".join(entries)
	    with open(name + ".pack", "wb") as out:
	        out.write(pack + hashlib.sha1(pack).digest())
	def oid(kind, data):
	    head = b"%s %d\0" % (kind, len(data))
	    return hashlib.sha1(head + data).digest()
	a = b"a line of text\n"
	tree = b"100644 a\0" + oid(b"blob", a)
	who = b" A <a@b> 1 +0000\n"
	commit = b"tree " + oid(b"tree", tree).hex().encode() + b"\nauthor" \
	    + who + b"committer" + who + b"\nm\n"
	both = bytes([len(a), len(a) + 1, 0x90, len(a), 1]) + b"+"
	rest = [entry(1, commit), entry(2, tree), entry(3, a)]
	write("whole", *rest, entry(3, a))
	write("delta", *rest, entry(3, a + b"+"),
	      entry(7, both, oid(b"blob", a)))
	print(oid(b"commit", commit).hex())
	EOF
	python3 twice.py >tip
'

for pack in whole delta
do
	test_expect_success "an object twice in a pack, as stock: $pack" '
		cp '$pack'.pack x.pack &&
		for args in "index-pack --strict" \
			"index-pack --strict=missingEmail=ignore" \
			"index-pack --check-self-contained-and-connected" \
			"index-pack --fsck-objects" index-pack \
			"verify-pack" "verify-pack -s"
		do
			for who in stock git
			do
				code=0 &&
				$who $args x.pack >out 2>err || code=$?
				echo "$code $(grep twice err |
					sed "s/.*: The/The/")" >said.$who
			done &&
			test_cmp said.stock said.git || return 1
		done
	'

	# As stock Git, a push that is unpacked may hold an object twice.
	test_expect_success "a push with an object twice: $pack" '
		zero=$(tr 0-9a-f 0 <tip) &&
		line="$zero $(cat tip) refs/heads/x" &&
		{
			printf "%04x%s\\0 report-status0000" \
				$((${#line} + 19)) "$line" &&
			cat '$pack'.pack
		} >push &&
		for settings in "true 1" "true 100" "false 1"
		do
			for who in stock git
			do
				rm -rf $who.git && stock init -q --bare $who.git &&
				stock -C $who.git config receive.fsckObjects \
					${settings% *} &&
				stock -C $who.git config receive.unpackLimit \
					${settings#* } &&
				{ $who receive-pack $who.git <push >out 2>err || :; } &&
				stock -C $who.git for-each-ref >refs.$who ||
					return 1
			done &&
			test_cmp refs.stock refs.git &&
			if test "$settings" = "true 1"
			then
				test_must_be_empty refs.git &&
				cat out err >all &&
				grep -a "appears twice in the pack" all
			else
				test -s refs.git
			fi || return 1
		done
	'
done

test_expect_success 'the parents of commits on the shallow boundary may be missing' '
	stock init -q --bare full.git &&
	one=$(stock -C full.git commit-tree -m one $(stock -C full.git mktree \
		</dev/null)) &&
	two=$(stock -C full.git commit-tree -m two -p $one $one^{tree}) &&
	stock -C full.git update-ref refs/heads/main $two &&
	stock clone -q --bare --depth=1 "file://$PWD/full.git" boundary.git &&
	stock -C boundary.git rev-list --objects --no-object-names main |
		stock -C boundary.git pack-objects -q --stdout >boundary.pack &&
	for option in --strict --check-self-contained-and-connected
	do
		"$GIT" -C boundary.git index-pack --stdin $option \
			<boundary.pack || return 1
	done &&
	mkdir objects &&
	GIT_OBJECT_DIRECTORY="$PWD/objects" "$GIT" -C boundary.git \
		unpack-objects -q --strict <boundary.pack &&
	rm boundary.git/shallow &&
	test_must_fail "$GIT" -C boundary.git index-pack --stdin --strict \
		<boundary.pack 2>err &&
	grep "did not receive expected object $one" err
'

test_done
