#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='verify-pack and show-index, against stock Git'
. "$(dirname "$0")/lib.sh"

test_expect_success 'packs with deltas of both kinds' '
	for format in sha1 sha256
	do
		REPO_FORMAT=$format repo_linear $format.git 40 &&
		REPO_FORMAT=$format repo_tags $format.git &&
		stock -C $format.git repack -adfq --depth=6 &&
		stock -C $format.git -c repack.useDeltaBaseOffset=false \
			pack-objects --all --no-reuse-delta -q "$PWD/$format" \
			</dev/null >/dev/null || return 1
	done &&
	ls sha1-*.pack sha256-*.pack >packs &&
	test_line_count 2 packs &&
	stock -C sha1.git index-pack --index-version=1 \
		-o "$PWD/version1.idx" "$(ls "$PWD"/sha1-*.pack)" &&
	cp sha1-*.pack version1.pack
'

# Ours and stock Git'\''s answer, output and exit code.
same_output () {
	git "$@" >actual
	code=$?
	stock "$@" >expect
	test $? -eq $code &&
	test_cmp expect actual
}

for format in sha1 sha256
do
	for options in "" -v -s "-v -s" --verbose --stat-only
	do
		test_expect_success "verify-pack $options, $format" '
			for pack in $format.git/objects/pack/*.pack \
				$format-*.idx
			do
				same_output verify-pack --object-format=$format \
					$options $pack || return 1
			done
		'
	done

	test_expect_success "show-index, $format" '
		for idx in $format.git/objects/pack/*.idx $format-*.idx
		do
			stock show-index --object-format=$format <$idx >expect &&
			git show-index --object-format=$format <$idx >actual &&
			test_cmp expect actual || return 1
		done
	'
done

test_expect_success 'setup: packs with the expected deltas' '
	git verify-pack -v sha1-*.pack >list &&
	grep "^chain length = 2" list
'

test_expect_success 'an index of version 1' '
	same_output verify-pack -v version1.idx &&
	stock show-index <version1.idx >expect &&
	git show-index <version1.idx >actual &&
	test_cmp expect actual
'

test_expect_success 'an empty pack' '
	stock -C sha1.git pack-objects -q "$PWD/empty" </dev/null &&
	same_output verify-pack -v empty-*.pack &&
	git show-index <"$(ls empty-*.idx)" >actual &&
	test_must_be_empty actual
'

test_expect_success 'a name with either extension, or none' '
	base=$(ls sha1-*.pack) && base=${base%.pack} &&
	same_output verify-pack -v $base $base.idx $base.pack
'

test_expect_success 'the repository chooses the hash' '
	pack=$(cd sha256.git && ls objects/pack/*.pack) &&
	git -C sha256.git verify-pack $pack &&
	git -C sha256.git show-index <sha256.git/${pack%.pack}.idx >actual &&
	stock -C sha256.git show-index <sha256.git/${pack%.pack}.idx >expect &&
	test_cmp expect actual &&
	test_must_fail git verify-pack sha256.git/$pack
'

test_expect_success 'the number of threads does not matter' '
	pack=$(cd sha1.git && ls objects/pack/*.pack) &&
	for threads in 0 1 2 7
	do
		git -C sha1.git -c pack.threads=$threads verify-pack $pack ||
		return 1
	done &&
	test_expect_code 1 git -C sha1.git -c pack.threads=x \
		verify-pack $pack 2>err &&
	grep "bad numeric config value" err
'

test_expect_success 'no pack is named' '
	test_expect_code 129 git verify-pack 2>err &&
	grep "^usage: git verify-pack" err
'

test_expect_success 'an unknown hash' '
	test_expect_code 1 git verify-pack --object-format=md5 version1 &&
	test_expect_code 128 git show-index --object-format=md5 <version1.idx
'

# ---- damage

# damage <file> <offset>: another byte there.
damage () {
	was=$(od -An -tu1 -j$2 -N1 "$1") &&
	printf "$(printf "\\%03o" $((was ^ 255)))" |
	dd of="$1" bs=1 seek=$2 conv=notrunc 2>/dev/null
}

fresh () {
	rm -f bad.* &&
	cp sha1.git/objects/pack/pack-*.pack bad.pack &&
	cp sha1.git/objects/pack/pack-*.idx bad.idx &&
	chmod u+w bad.*
}

test_expect_success 'a damaged pack, anywhere' '
	fresh && size=$(wc -c <bad.pack) &&
	for offset in 0 5 9 12 20 300 $((size / 2)) $((size - 21)) $((size - 1))
	do
		fresh && damage bad.pack $offset &&
		test_expect_code 1 git verify-pack -v bad.pack >out 2>err &&
		echo "bad.pack: bad" >expect &&
		test_cmp expect out &&
		test_line_count 1 err &&
		grep "^error: .*bad" err || return 1
	done
'

test_expect_success 'a damaged index, anywhere' '
	fresh && size=$(wc -c <bad.idx) &&
	for offset in 0 5 700 1100 $((size / 2)) $((size - 41)) $((size - 1))
	do
		fresh && damage bad.idx $offset &&
		test_expect_code 1 git verify-pack bad.pack >out 2>err &&
		test_must_be_empty out &&
		test_line_count 1 err &&
		grep "^error: .*bad" err || return 1
	done
'

test_expect_success 'files that were cut off' '
	for file in bad.pack bad.idx
	do
		for keep in 0 7 40 1200
		do
			fresh && truncate -s $keep $file &&
			test_expect_code 1 git verify-pack -s bad.idx \
				>out 2>err &&
			echo "bad.pack: bad" >expect &&
			test_cmp expect out &&
			test_line_count 1 err || return 1
		done
	done
'

test_expect_success 'a missing pack or index' '
	fresh && rm bad.idx &&
	test_expect_code 1 git verify-pack bad.pack 2>err &&
	test_line_count 1 err &&
	grep "bad\.idx" err &&
	fresh && rm bad.pack &&
	test_expect_code 1 git verify-pack bad.pack 2>err &&
	test_line_count 1 err &&
	grep "bad\.pack" err
'

test_expect_success 'a good pack after a bad one is still checked' '
	fresh && damage bad.pack 300 &&
	test_expect_code 1 git verify-pack -v bad.pack version1.pack >out &&
	grep "^bad.pack: bad" out &&
	grep "^version1.pack: ok" out
'

test_expect_success 'show-index refuses a file that is no index' '
	test_expect_code 128 git show-index </dev/null 2>err &&
	test_line_count 1 err &&
	head -c 1000 version1.idx >cut &&
	test_expect_code 128 git show-index <cut 2>err &&
	test_line_count 1 err &&
	grep "^fatal: standard input" err
'

test_expect_success 'a damaged reverse index is noticed' '
	stock init -q --bare rev.git &&
	echo one | stock -C rev.git hash-object -w --stdin |
		stock -C rev.git pack-objects -q rev >name &&
	name=rev.git/rev-$(cat name) &&
	"$GIT" index-pack --rev-index $name.pack &&
	"$GIT" verify-pack $name.idx &&
	chmod u+w $name.rev &&
	echo garbage >$name.rev &&
	for option in -v -s
	do
		test_expect_code 1 "$GIT" verify-pack $option $name.idx >out &&
		grep "^$name.pack: bad$" out || return 1
	done &&
	test_must_fail "$GIT" index-pack --verify $name.pack &&
	rm $name.rev &&
	"$GIT" verify-pack $name.idx
'

test_expect_success 'show-index stops at an offset that is missing' '
	"$GIT" index-pack --index-version=2,1 -o wide.idx $name.pack &&
	head -c -8 wide.idx >cut.idx &&
	test_expect_code 128 "$GIT" show-index <cut.idx 2>err &&
	grep "offset of object .* is missing" err
'

test_done
