#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='git repack --write-midx'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-midx.sh"

test_expect_success 'setup' '
	repo_of_packs packs.git &&
	repo_add_commit packs.git
'

# midx_packs <dir>: the packs that it names, sorted
midx_packs () {
	grep -a -o "pack-[0-9a-f]*\.idx" "$1/objects/pack/multi-pack-index" |
	LC_ALL=C sort
}

# midx_is_right <dir>: it covers all packs, and every Git is content with it
midx_is_right () {
	midx_packs "$1" >covered &&
	(cd "$1/objects/pack" && ls pack-*.idx) | LC_ALL=C sort >there &&
	test_cmp there covered &&
	stock -C "$1" multi-pack-index verify &&
	"$GIT" -C "$1" multi-pack-index verify &&
	stock -C "$1" fsck &&
	stock -C "$1" rev-list --objects --all --count >nr &&
	"$GIT" -C "$1" rev-list --objects --all --count --use-bitmap-index \
		>actual 2>err &&
	test_cmp nr actual &&
	test_must_be_empty err
}

test_expect_success 'an alternate has some of the objects: no bitmap index' '
	stock clone -q --bare --no-local packs.git whole.git &&
	stock clone -q --bare --shared whole.git part.git &&
	repo_add_commit part.git &&
	stock -C part.git repack -d -l -q &&
	echo "warning: disabling bitmap writing, as some objects are not being" \
		"packed" >expect &&
	for options in "--geometric=2 -d" "-a -d" "-d" \
		"--geometric=2 -d --write-midx=incremental"
	do
		rm -rf r.git && cp -R part.git r.git &&
		"$GIT" -C r.git repack -q -l -m -b $options 2>err &&
		test_cmp expect err &&
		test_must_fail midx_bitmap r.git &&
		stock -C r.git fsck &&
		"$GIT" -C r.git multi-pack-index verify || return
	done
'

for how in "-d" "-a -d" "-A -d" "--cruft -d" "-k -a -d" "--geometric=2 -d" \
	"--geometric=3" "-a" ""
do
	test_expect_success "repack $how -m" "
		rm -rf r.git && cp -R packs.git r.git &&
		\"\$GIT\" -C r.git repack -q $how -m --no-write-bitmap-index &&
		test_must_fail midx_bitmap r.git &&
		if ! test \"$how\" = --geometric=3
		then
			midx_is_right r.git
		fi
	"

	test_expect_success "repack $how -m -b" "
		rm -rf r.git && cp -R packs.git r.git &&
		\"\$GIT\" -C r.git repack -q $how -m -b &&
		midx_bitmap r.git &&
		stock -C r.git rev-list --test-bitmap main &&
		stock -C r.git rev-list --objects --all --count \
			--use-bitmap-index >stock.nr &&
		stock -C r.git rev-list --objects --all --count >nr &&
		test_cmp nr stock.nr &&
		\"\$GIT\" -C r.git bitmap verify &&
		! ls r.git/objects/pack/pack-*.bitmap &&
		same_answers r.git &&
		if ! test \"$how\" = --geometric=3
		then
			midx_is_right r.git
		fi
	"
done

test_expect_success 'again and again, with pushes between' '
	rm -rf r.git && cp -R packs.git r.git &&
	for i in 1 2 3 4 5 6
	do
		repo_add_commit r.git && repo_add_commit r.git &&
		"$GIT" -C r.git repack -q -d --geometric=2 --write-midx \
			--write-bitmap-index &&
		midx_is_right r.git &&
		"$GIT" -C r.git bitmap verify &&
		stock -C r.git rev-list --test-bitmap main || return 1
	done
'

# is_old <dir>: were the multi-pack-index and its bitmap index written in 2020?
is_old () {
	test $(find "$1/objects/pack" -name "multi-*" ! -newermt 2021-01-01 |
		wc -l) -eq 2
}

test_expect_success 'without new packs, nothing is written' '
	rm -rf r.git && cp -R packs.git r.git &&
	"$GIT" -C r.git repack -q -d --geometric=2 -m -b &&
	touch -d 2020-01-01 r.git/objects/pack/multi-* &&
	stock -C r.git update-ref refs/heads/other main~3 &&
	"$GIT" -C r.git repack -q -d --geometric=2 -m -b &&
	is_old r.git &&
	"$GIT" -C r.git repack -q -d -m -b &&
	is_old r.git && midx_is_right r.git &&
	repo_add_commit r.git &&
	"$GIT" -C r.git repack -q -d --geometric=2 -m -b &&
	test_must_fail is_old r.git && midx_is_right r.git
'

test_expect_success 'repack updates the multi-pack-index and bitmaps of stock Git' '
	rm -rf r.git && cp -R packs.git r.git &&
	stock -C r.git multi-pack-index write --bitmap &&
	"$GIT" -C r.git repack -q -d -m -b &&
	midx_is_right r.git &&
	"$GIT" -C r.git bitmap verify &&
	stock -C r.git repack -q -a -d -b &&
	repo_add_commit r.git &&
	"$GIT" -C r.git repack -q -d -m -b &&
	midx_is_right r.git &&
	"$GIT" -C r.git bitmap verify
'

test_expect_success 'cruft packs need not be in the multi-pack-index' '
	rm -rf r.git && cp -R packs.git r.git &&
	stock -C r.git hash-object -w --stdin <nr &&
	"$GIT" -C r.git -c repack.midxMustContainCruft=false repack -q --cruft \
		-d -m -b &&
	test $(ls r.git/objects/pack/pack-*.idx | wc -l) = 2 &&
	test $(midx_packs r.git | wc -l) = 1 &&
	"$GIT" -C r.git repack -q --cruft -d -m -b &&
	test $(midx_packs r.git | wc -l) = 2 &&
	midx_is_right r.git
'

test_expect_success 'a multi-pack-index of remaining packs only is kept' '
	rm -rf r.git && repo_linear r.git 20 &&
	"$GIT" -C r.git repack -q -a -d &&
	"$GIT" -C r.git multi-pack-index write --bitmap &&
	repo_add_commit r.git &&
	"$GIT" -C r.git repack -q &&
	repo_add_commit r.git &&
	"$GIT" -C r.git repack -q -d --geometric=2 &&
	midx_bitmap r.git &&
	"$GIT" -C r.git repack -q -a -d &&
	test "$(echo r.git/objects/pack/multi*)" = "r.git/objects/pack/multi*"
'

test_expect_success 'modes' '
	test_expect_code 129 "$GIT" -C r.git repack --write-midx=nope 2>err &&
	echo "error: unknown value for write-midx: nope" >expect &&
	test_cmp expect err &&
	"$GIT" -C r.git repack -q -d --write-midx=default --no-write-bitmap-index &&
	midx_is_right r.git
'

test_expect_success 'a broken ref does not end a geometric repack' '
	for value in 1234567890123456789012345678901234567890 garbage
	do
		for ref in refs/heads/broken refs/heads/main
		do
			rm -rf b && stock init -q -b main b &&
			stock -C b commit -q --allow-empty -m one &&
			stock -C b branch good &&
			echo $value >b/.git/$ref &&
			"$GIT" -C b repack -q -d --geometric=2 --write-midx \
				-b 2>err &&
			ls b/.git/objects/pack/multi-pack-index-*.bitmap &&
			test -z "$(find b/.git/objects -path "*/??/*")" || return
		done || return
	done
'

test_done
