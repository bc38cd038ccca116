#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='bitmaps of multi-pack-indexes'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-midx.sh"

# ---- what stock Git has written

for REPO_FORMAT in sha1 sha256
do
	export REPO_FORMAT

	test_expect_success "$REPO_FORMAT: setup" '
		repo_of_packs packs.git &&
		stock -C packs.git multi-pack-index write --bitmap &&
		midx_bitmap packs.git >path
	'

	test_expect_success "$REPO_FORMAT: the index of stock Git is used" '
		same_answers packs.git &&
		"$GIT" -C packs.git bitmap list >out &&
		grep "path=.*/$(cat path)\$" out &&
		"$GIT" -C packs.git bitmap explain --all >out &&
		grep "^answered-by=bitmap" out &&
		grep "^path=.*/$(cat path)\$" out
	'

	test_expect_success "$REPO_FORMAT: the bitmap index is right" '
		"$GIT" -C packs.git rev-list --test-bitmap main &&
		"$GIT" -C packs.git bitmap verify >out &&
		grep "^verified=.*/$(cat path)\$" out &&
		"$GIT" -C packs.git bitmap verify --sample=3 &&
		"$GIT" -C packs.git bitmap stats >out &&
		grep "^pack.indexed-percent=" out &&
		"$GIT" -C packs.git bitmap list --commits >out &&
		tail -n 1 out | cut -d" " -f1 >commit &&
		"$GIT" -C packs.git bitmap show $(cat commit) >out &&
		grep "^bitmap=yes" out &&
		"$GIT" -C packs.git fsck
	'

	test_expect_success "$REPO_FORMAT: newer objects are found by walking" '
		repo_add_commit packs.git &&
		same_answers packs.git &&
		"$GIT" -C packs.git bitmap explain --all >out &&
		grep "^answered-by=bitmap" out &&
		grep "^wants.commits-walked=1\$" out &&
		rm -rf packs.git
	'
done
REPO_FORMAT=sha1

# ---- indexes that are not used

test_expect_success 'setup for indexes that are not used' '
	repo_of_packs wrong.git &&
	stock -C wrong.git multi-pack-index write --bitmap &&
	chmod u+w wrong.git/objects/pack/multi-pack-index*
'

test_expect_success 'a bitmap index of another multi-pack-index is not used' '
	cp -R wrong.git other.git &&
	bitmap=other.git/objects/pack/$(midx_bitmap wrong.git) &&
	printf X | dd of="$bitmap" bs=1 seek=20 conv=notrunc 2>/dev/null &&
	"$GIT" -C other.git rev-list --objects --all --count \
		--use-bitmap-index >out 2>err &&
	grep "^warning: .*belongs to another multi-pack-index" err &&
	stock -C other.git rev-list --objects --all --count >nr &&
	test_cmp nr out &&
	test_must_fail "$GIT" -C other.git fsck
'

test_expect_success 'a bitmap index with a changed bit is not used' '
	cp -R wrong.git bit.git &&
	bitmap=bit.git/objects/pack/$(midx_bitmap wrong.git) &&
	size=$(wc -c <"$bitmap") &&
	printf X | dd of="$bitmap" bs=1 seek=$((size / 2)) conv=notrunc \
		2>/dev/null &&
	"$GIT" -C bit.git rev-list --objects --all --count \
		--use-bitmap-index >out 2>err &&
	grep "^warning: " err &&
	test_cmp nr out
'

test_expect_success 'an old bitmap index is not used with a new multi-pack-index' '
	cp -R wrong.git old.git &&
	repo_add_commit old.git &&
	stock -C old.git repack -q -d &&
	mkdir saved && cp old.git/objects/pack/multi-pack-index-* saved/ &&
	stock -C old.git multi-pack-index write &&
	cp saved/* old.git/objects/pack/ &&
	same_answers old.git &&
	"$GIT" -C old.git bitmap list >out &&
	test_must_be_empty out
'

test_expect_success 'core.multiPackIndex=false: no bitmap index is used' '
	"$GIT" -C wrong.git -c core.multiPackIndex=false bitmap list >out &&
	test_must_be_empty out
'

test_expect_success 'the bitmap index of a pack is used only without the other' '
	cp -R wrong.git both.git &&
	"$GIT" -C both.git repack -a -b -q &&
	"$GIT" -C both.git bitmap list >out &&
	test_line_count 2 out &&
	"$GIT" -C both.git bitmap explain --all >out &&
	grep "^path=.*/multi-pack-index-" out &&
	chmod u+w both.git/objects/pack/multi-pack-index* &&
	printf X | dd of="both.git/objects/pack/$(midx_bitmap both.git)" \
		bs=1 seek=20 conv=notrunc 2>/dev/null &&
	"$GIT" -C both.git bitmap explain --all >out 2>err &&
	grep "^warning: .*belongs to another multi-pack-index" err &&
	grep "^path=.*/pack-" out
'

# Versions of Git before 2.35 kept the order in a file of its own.
test_expect_success 'the order in a .rev file' '
	cp -R wrong.git rev.git &&
	midx_order_apart rev.git &&
	ls rev.git/objects/pack/multi-pack-index-*.rev &&
	same_answers rev.git &&
	"$GIT" -C rev.git bitmap explain --all >out &&
	grep "^answered-by=bitmap" out &&
	"$GIT" -C rev.git bitmap verify &&
	rm -f rev.git/objects/pack/multi-pack-index-*.rev &&
	"$GIT" -C rev.git rev-list --objects --all --count \
		--use-bitmap-index >out 2>err &&
	grep "^warning: .*no reverse index" err &&
	test_cmp nr out
'

# ---- what we write

# stock_agrees <dir>: every stock Git here believes our index, and uses it.
stock_agrees () {
	stock -C "$1" multi-pack-index verify &&
	stock -C "$1" fsck &&
	stock -C "$1" rev-list --objects --all --count >expect &&
	stock -C "$1" rev-list --objects --all --count --use-bitmap-index \
		>actual 2>err &&
	test_cmp expect actual &&
	test_must_be_empty err &&
	stock -C "$1" rev-list --test-bitmap main &&
	rm -rf clone.git &&
	stock clone -q --bare "file://$PWD/$1" clone.git &&
	stock -C clone.git fsck
}

for REPO_FORMAT in sha1 sha256
do
	export REPO_FORMAT

	test_expect_success "$REPO_FORMAT: stock Git reads ours" '
		rm -rf packs.git && repo_of_packs packs.git &&
		"$GIT" -C packs.git multi-pack-index write --bitmap &&
		midx_bitmap packs.git &&
		stock_agrees packs.git
	'

	test_expect_success "$REPO_FORMAT: we read the bitmaps of stock Git" '
		same_answers packs.git &&
		"$GIT" -C packs.git bitmap verify &&
		"$GIT" -C packs.git multi-pack-index verify
	'

	test_expect_success "$REPO_FORMAT: pseudo-merges, no hash cache" '
		stock -C packs.git rev-list --max-count=12 main |
		sed "s|.*|create refs/pull/& &|" |
		stock -C packs.git update-ref --stdin &&
		rm -f packs.git/objects/pack/multi-pack-index* &&
		"$GIT" -C packs.git -c bitmapPseudoMerge.all.pattern=refs/pull/ \
			-c bitmapPseudoMerge.all.threshold=now \
			-c bitmapPseudoMerge.all.stableThreshold=now \
			-c pack.writeBitmapHashCache=false \
			-c pack.writeBitmapLookupTable=false \
			multi-pack-index write --bitmap &&
		"$GIT" -C packs.git bitmap list >out &&
		grep "pseudo-merges=[1-9].* extensions=pseudo-merges " out &&
		"$GIT" -C packs.git bitmap verify &&
		same_answers packs.git &&
		stock -C packs.git fsck &&
		rm -rf packs.git
	'
done
REPO_FORMAT=sha1

test_expect_success 'setup for options' '
	repo_of_packs o.git
'

test_expect_success 'write without --bitmap removes the old bitmap index' '
	"$GIT" -C o.git multi-pack-index write --bitmap &&
	midx_bitmap o.git &&
	"$GIT" -C o.git multi-pack-index write &&
	test_must_fail midx_bitmap o.git &&
	"$GIT" -C o.git multi-pack-index write --bitmap &&
	"$GIT" -C o.git multi-pack-index write --no-bitmap &&
	test_must_fail midx_bitmap o.git
'

test_expect_success 'the preferred pack comes first' '
	for pack in $(cd o.git/objects/pack && ls *.pack)
	do
		rm -f o.git/objects/pack/multi-pack-index* &&
		"$GIT" -C o.git multi-pack-index write --bitmap \
			--preferred-pack=$pack &&
		stock -C o.git show-index \
			<"o.git/objects/pack/${pack%.pack}.idx" | wc -l >nr &&
		echo main | "$GIT" -C o.git pack-objects --revs --stdout \
			--progress >out.pack 2>err &&
		stock -C o.git fsck &&
		same_answers o.git || return 1
	done
'

test_expect_success 'an unknown preferred pack' '
	rm -f o.git/objects/pack/multi-pack-index* &&
	"$GIT" -C o.git multi-pack-index write --bitmap \
		--preferred-pack=nope 2>err &&
	echo "warning: unknown preferred pack: '"'nope'"'" >expect &&
	test_cmp expect err
'

test_expect_success '--refs-snapshot' '
	{
		stock -C o.git rev-parse main~20 &&
		stock -C o.git rev-parse main~30 | sed "s|^|+|"
	} >snapshot &&
	rm -f o.git/objects/pack/multi-pack-index* &&
	"$GIT" -C o.git multi-pack-index write --bitmap \
		--refs-snapshot="$PWD/snapshot" &&
	"$GIT" -C o.git bitmap list --commits >out &&
	sed 1d out | cut -d" " -f1 | LC_ALL=C sort >actual &&
	stock -C o.git rev-list main~20 | LC_ALL=C sort >expect &&
	test_cmp expect actual &&
	same_answers o.git &&
	rm -f o.git/objects/pack/multi-pack-index* &&
	test_expect_code 128 "$GIT" -C o.git multi-pack-index write --bitmap \
		--refs-snapshot=nope 2>err &&
	grep "^fatal: could not open .nope. for reading: No such file" err &&
	test_expect_code 128 "$GIT" -C o.git multi-pack-index write --bitmap \
		--refs-snapshot=refs 2>err &&
	grep "^fatal: could not open .refs. for reading: Is a directory" err
'

# ---- an index that is already there

# writes <nr> <git arguments>...: check how many files of the index are written
writes () {
	nr=$1 && shift &&
	touch -d 2020-01-01 s.git/objects/pack/multi-pack-index* &&
	: >s.git/x && touch -d 2021-01-01 s.git/x &&
	"$GIT" -C s.git "$@" 2>err &&
	find s.git/objects/pack -name "multi-*" -type f -newer s.git/x >new &&
	test $(wc -l <new) -eq $nr
}

test_expect_success 'an index of the same packs stays' '
	repo_of_packs s.git &&
	pack=$(cd s.git/objects/pack && ls *.pack | sed -n 3p) &&
	"$GIT" -C s.git multi-pack-index write --bitmap &&
	stock -C s.git update-ref refs/heads/other main~3 &&
	>s.git/objects/pack/multi-pack-index.lock &&
	writes 0 multi-pack-index write --bitmap &&
	writes 0 multi-pack-index write --bitmap --preferred-pack=$pack &&
	writes 0 multi-pack-index write --bitmap --preferred-pack=nope &&
	writes 0 multi-pack-index write --bitmap --refs-snapshot=nope &&
	test_must_be_empty err &&
	rm s.git/objects/pack/multi-pack-index.lock &&
	writes 0 multi-pack-index write &&
	test_must_fail midx_bitmap s.git &&
	writes 0 multi-pack-index write --preferred-pack=$pack &&
	writes 0 multi-pack-index write --preferred-pack=nope &&
	test_must_be_empty err &&
	test -f s.git/objects/pack/multi-pack-index
'

test_expect_success 'other packs, another format or no bitmap: written again' '
	writes 1 multi-pack-index write --bitmap &&
	writes 2 -c midx.version=2 multi-pack-index write --bitmap &&
	writes 0 -c midx.version=2 multi-pack-index write --bitmap &&
	ls s.git/objects/pack | grep "\.idx$" | sed 1d >names &&
	writes 1 multi-pack-index write --stdin-packs <names &&
	writes 0 multi-pack-index write --stdin-packs <names &&
	writes 2 multi-pack-index write --bitmap &&
	rm s.git/objects/pack/$(midx_bitmap s.git) &&
	writes 1 multi-pack-index write --bitmap &&
	same_answers s.git
'

test_expect_success 'a damaged index or bitmap index is replaced' '
	bitmap=s.git/objects/pack/$(midx_bitmap s.git) &&
	cp $bitmap good && chmod u+w $bitmap &&
	for offset in 4 14 60 $(($(wc -c <good) - 25)) $(($(wc -c <good) - 5))
	do
		cp good $bitmap &&
		printf x | dd of=$bitmap bs=1 seek=$offset conv=notrunc \
			2>"/dev/null" &&
		writes 1 multi-pack-index write --bitmap &&
		test_cmp good $bitmap && chmod u+w $bitmap || return 1
	done &&
	printf x >>s.git/objects/pack/multi-pack-index &&
	writes 2 multi-pack-index write --bitmap &&
	echo "warning: ignoring existing multi-pack-index; checksum mismatch" \
		>expect &&
	test_cmp expect err &&
	"$GIT" -C s.git multi-pack-index verify &&
	same_answers s.git
'

test_expect_success 'files that a killed writer left are removed' '
	mkdir s.git/objects/pack/multi-pack-index.d &&
	layer=multi-pack-index-$(printf %040d 1) &&
	for file in $layer.bitmap $layer.rev multi-pack-index.d/$layer.midx
	do
		: >s.git/objects/pack/$file &&
		writes 0 multi-pack-index write --bitmap &&
		test ! -e s.git/objects/pack/$file || return 1
	done &&
	same_answers s.git
'

test_expect_success 'packs that are not closed' '
	rm -rf o.git/objects/pack/multi-pack-index* &&
	(cd o.git/objects/pack && ls -t *.idx | head -n 2) >newest &&
	test_expect_code 255 "$GIT" -C o.git multi-pack-index write --bitmap \
		--stdin-packs <newest 2>err &&
	grep "^warning: Failed to write bitmap index. Packfile doesn.t have full closure" err &&
	grep "^error: could not write multi-pack bitmap\$" err &&
	test "$(echo o.git/objects/pack/multi*)" = "o.git/objects/pack/multi*"
'

test_expect_success 'loose tips are left out' '
	repo_add_commit o.git &&
	"$GIT" -C o.git multi-pack-index write --bitmap &&
	same_answers o.git &&
	stock -C o.git rev-list --test-bitmap main~1
'

test_expect_success '--refs-snapshot: lines that are no ids, and no file' '
	repo_linear lines.git 4 && stock -C lines.git repack -dq &&
	id=$(stock -C lines.git rev-parse main) &&
	for line in x "$id x" ""
	do
		printf "%s\n%s\n" $id "$line" >snapshot &&
		test_expect_code 128 "$GIT" -C lines.git multi-pack-index \
			write --bitmap --refs-snapshot="$PWD/snapshot" 2>err &&
		grep "^fatal: .* line: $line$" err || return
	done &&
	! test -f lines.git/objects/pack/multi-pack-index &&
	"$GIT" -C lines.git multi-pack-index write --bitmap --refs-snapshot= &&
	ls lines.git/objects/pack/multi-pack-index-*.bitmap
'

# What arrives later would be missing in the bitmaps.
for kind in --depth=1 --filter=blob:none
do
	test_expect_success "$kind: no bitmap, with a warning" '
		rm -rf part.git && stock -C lines.git config uploadpack.allowFilter true &&
		stock clone -q --bare $kind "file://$PWD/lines.git" part.git &&
		"$GIT" -C part.git multi-pack-index write --bitmap 2>err &&
		grep "^warning: disabling bitmap writing, as " err &&
		test -f part.git/objects/pack/multi-pack-index &&
		"$GIT" -C part.git repack -adbmq 2>err &&
		grep "^warning: disabling bitmap writing, as " err &&
		"$GIT" -C part.git repack -admq 2>err &&
		test_must_be_empty err &&
		! ls part.git/objects/pack | grep bitmap
	'
done

test_done
