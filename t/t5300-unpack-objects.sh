#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='unpack-objects, against stock Git; what is left of broken packs'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-fault.sh"

# fresh <format>: an empty dst.git
fresh () {
	rm -rf dst.git && REPO_FORMAT=$1 repo_init dst.git
}

loose_files () {
	(cd "$1/objects" && find . -type f | sort)
}

# exits <code> <pack> <option>...: into a fresh dst.git; output in "err"
exits () {
	want=$1 input=$2 && shift 2 &&
	fresh "${format:-sha1}" &&
	got=0 &&
	{ git -C dst.git unpack-objects "$@" <"$input" >out 2>err ||
		got=$?; } &&
	test "$got" -eq "$want" && ! ls dst.git/objects | grep tmp
}

holds () {
	loose_files dst.git >files &&
	test_line_count "$1" files
}

# damage <from> <to> <offset> <printf octal>
damage () {
	cp "$1" "$2" && chmod u+w "$2" &&
	printf "$4" | dd of="$2" bs=1 seek="$3" conv=notrunc 2>/dev/null
}

test_expect_success 'stock Git and ours unpack the same objects' '
	for format in sha1 sha256
	do
		REPO_FORMAT=$format repo_linear $format.git 30 &&
		REPO_FORMAT=$format repo_tags $format.git &&
		stock -C $format.git rev-list --objects --no-object-names \
			--all >objects &&
		for kind in --delta-base-offset --no-delta-base-offset \
			--window=0
		do
			stock -C $format.git pack-objects -q --stdout \
				--depth=20 $kind <objects >$format$kind.pack ||
				return 1
		done
	done
'

for format in sha1 sha256
do
	for kind in --delta-base-offset --no-delta-base-offset --window=0
	do
		test_expect_success "the objects are stock Git's: $format $kind" '
			pack=$format$kind.pack &&
			fresh $format &&
			stock -C dst.git unpack-objects -q <$pack &&
			loose_files dst.git >expect &&
			exits 0 $pack -q --strict &&
			! test -s out &&
			! test -s err &&
			loose_files dst.git >actual &&
			test_cmp expect actual &&
			stock -C dst.git fsck --no-dangling &&
			exits 0 $pack -n &&
			holds 0
		'
	done
done
format=sha1 pack=sha1--delta-base-offset.pack

test_expect_success 'big blobs are written in pieces without change' '
	exits 0 $pack -q &&
	loose_files dst.git >expect &&
	fresh sha1 &&
	git -C dst.git -c core.bigFileThreshold=1 unpack-objects -q <$pack &&
	loose_files dst.git >actual &&
	test_cmp expect actual &&
	stock -C dst.git fsck --no-dangling
'

test_expect_success 'a blob of 200 MB takes little memory' '
	repo_init big.git &&
	dd if=/dev/zero bs=1M count=200 2>/dev/null |
		stock -C big.git -c core.compression=1 hash-object -w \
			--stdin >id &&
	stock -C big.git -c core.bigFileThreshold=1m pack-objects -q --stdout \
		<id >big.pack &&
	fresh sha1 &&
	(
		ulimit -v 150000 &&
		git -C dst.git -c core.bigFileThreshold=1m unpack-objects \
			-q <big.pack
	) &&
	stock -C dst.git cat-file -s $(cat id) >size &&
	echo 209715200 >expect &&
	test_cmp expect size &&
	stock -C dst.git fsck --no-dangling
'

test_expect_success 'existing objects are not written again' '
	rm -rf dst.git && cp -R sha1.git dst.git &&
	stock -C dst.git repack -adq &&
	git -C dst.git unpack-objects -q <$pack &&
	holds_packed=$(loose_files dst.git | grep -v pack | grep -v info |
		wc -l) &&
	test "$holds_packed" -eq 0
'

test_expect_success 'bytes after the pack are copied to standard output' '
	(cat $pack && echo more) >with-more &&
	exits 0 with-more -q &&
	echo more >expect &&
	test_cmp expect out
'

test_expect_success 'the header may have been read already' '
	tail -c +13 $pack >headless &&
	nr=$(od -An -j8 -N4 --endian=big -tu4 $pack | tr -d " ") &&
	exits 0 headless -q --pack_header=2,$nr &&
	holds $nr &&
	exits 128 headless -q --pack_header=2,x &&
	grep "^fatal: bad --pack_header: 2,x" err
'

test_expect_success 'a broken pack leaves no object; -r keeps readable ones' '
	exits 0 sha1--window=0.pack -q &&
	nr=$(loose_files dst.git | wc -l) &&
	size=$(wc -c <sha1--window=0.pack) &&
	damage sha1--window=0.pack trailer $((size - 1)) "\\377" &&
	damage sha1--window=0.pack version 7 "\\011" &&
	head -c $((size / 2)) sha1--window=0.pack >short &&
	exits 128 trailer -q && holds 0 &&
	exits 128 trailer -q -r && holds $nr &&
	grep "^fatal: pack is corrupted (SHA1 mismatch)" err &&
	exits 128 version -q && holds 0 &&
	grep "^fatal: pack version 9 unsupported" err &&
	exits 128 version -q -r && holds 0 &&
	exits 128 short -q && holds 0 &&
	grep "^fatal: pack: early EOF at offset $((size / 2))" err &&
	exits 128 short -q -r && loose_files dst.git >files &&
	test $(wc -l <files) -gt 10
'

test_expect_success 'a damaged object is exit code 1' '
	stock -C sha1.git rev-parse main main~1 main^{tree} >three &&
	stock -C sha1.git pack-objects -q --window=0 --stdout <three >3.pack &&
	damage 3.pack bad.pack 60 "\\377\\377\\377\\377" &&
	exits 1 bad.pack -q && holds 0 &&
	grep "^error: pack: object does not inflate to its size at offset 12" \
		err &&
	exits 128 bad.pack -q -r &&
	grep "^error: pack: object does not inflate" err
'

test_expect_success 'too large, too many operands, unknown options' '
	exits 128 $pack -q --max-input-size=500 && holds 0 &&
	grep "^fatal: pack exceeds maximum allowed size" err &&
	exits 0 $pack -q --max-input-size=1g &&
	exits 129 $pack -q operand &&
	exits 129 $pack -q --unknown
'

test_expect_success 'deltas without a base' '
	old=$(stock -C sha1.git rev-parse main~4) &&
	new=$(stock -C sha1.git rev-parse main) &&
	printf "%s\n^%s\n" $new $old |
		stock -C sha1.git pack-objects -q --revs --thin --stdout \
		>thin.pack &&
	exits 128 thin.pack -q && holds 0 &&
	grep "unresolved delta" err &&
	printf "%s\n" $old | stock -C sha1.git pack-objects -q --revs --stdout \
		>base.pack &&
	exits 0 base.pack -q &&
	git -C dst.git unpack-objects -q --strict <thin.pack &&
	stock -C dst.git rev-list --objects $new >"/dev/null" &&
	stock -C dst.git fsck --no-dangling
'

test_expect_success '--strict refuses malformed and unconnected objects' '
	rm -rf odd.git && repo_init odd.git &&
	tree=$(stock -C sha1.git rev-parse main^{tree}) &&
	stock -C sha1.git pack-objects -q --stdout >tree.pack <<-EOT &&
	$tree
	EOT
	exits 0 tree.pack -q && holds 1 &&
	exits 128 tree.pack -q --strict && holds 0 &&
	grep "^fatal: did not receive expected object" err &&
	blob=$(echo hi | stock -C odd.git hash-object -w --stdin) &&
	tree=$(printf "100644 blob $blob\tf\n" | stock -C odd.git mktree) &&
	commit=$(printf "tree $tree\nauthor A <a@b> 1 +0000\ncommitter A a@b> 1 +0000\n\nx\n" |
		stock -C odd.git hash-object -t commit --literally -w --stdin) &&
	printf "%s\n" $commit $tree $blob |
		stock -C odd.git pack-objects -q --stdout >odd.pack &&
	exits 0 odd.pack -q && holds 3 &&
	for more in "" -r
	do
		exits 128 odd.pack -q --strict $more && holds 0 &&
		grep "^error: object $commit: badName" err || return 1
	done &&
	exits 0 odd.pack -q --strict=badName=ignore && holds 3 &&
	exits 128 odd.pack -q --strict=foo=ignore && holds 0
'

test_expect_success 'outside of a repository' '
	test_expect_code 128 env GIT_CEILING_DIRECTORIES="$PWD" \
		GIT_DIR=nowhere.git git unpack-objects -q <$pack
'

settled () {
	rm -rf r.git && cp -R empty.git r.git
}

# Whatever is there is what it says; what was told to be done is.
sound () {
	stock -C r.git fsck --no-dangling --no-progress >fsck 2>&1 ||
	! grep -v "^missing\|^broken link\|^ *to" fsck || {
		cat fsck >&2
		return 1
	}
	test $fault_code -ne 0 ||
	test "$(loose_files r.git | wc -l)" -eq $nr
}

for mode in kill lose EIO ENOSPC
do
	test_expect_success "ended at any call: $mode" '
		repo_init empty.git 2>"/dev/null" &&
		printf "[core]\n\tfsync = all\n" >>empty.git/config &&
		nr=3 fault_in=3.pack &&
		fault_each $mode settled \
			"$GITREACH_BUILD/bin/git -C r.git unpack-objects -q" \
			sound
	'
done

test_done
