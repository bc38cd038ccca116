#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='commits get bitmaps by what clones ask for, within a budget'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-interop.sh"

# A main line of 1,200 commits. From it, every 100 commits, a branch of 150
# commits that nothing merges; at the end of each branch 10 proposals of 3
# commits each: refs/pull/<n>/head. A tag for every 90th commit of the main line.
make_repo () {
	{
		for i in $(seq 1 1200)
		do
			stream_commit main $i $((1112912000 + 600 * i)) \
				"f$((i % 10))" "main $i" || exit
		done
		for n in $(seq 1 11)
		do
			for i in $(seq 1 150)
			do
				from=
				test $i = 1 && from="from :$((100 * n))"
				stream_commit "old$n" $((10000 * n + i)) \
					$((1112912000 + 60000 * n + 100 * i)) \
					"o$((n % 7))" "old $n $i" ${from:+"$from"} ||
				exit
			done
			for k in $(seq 1 10)
			do
				for i in 1 2 3
				do
					from=
					test $i = 1 &&
					from="from :$((10000 * n + 140 + k))"
					stream_commit "pull$n-$k" \
						$((10000 * n + 200 + 10 * k + i)) \
						$((1112912000 + 60000 * n + 20000)) \
						"p$k" "pull $n $k $i" \
						${from:+"$from"} || exit
				done
			done
		done
	} | repo_import "$1" &&
	stock -C "$1" for-each-ref --format="create refs/pull/%(refname:lstrip=2)/head %(objectname)%0adelete %(refname)" \
		"refs/heads/pull*" | stock -C "$1" update-ref --stdin &&
	for i in $(seq 30 90 1190)
	do
		stock -C "$1" tag v$i main~$i || return 1
	done
}

# walks_few <dir> <rev>...: a request walks at most 1% of the commits it counts.
walks_few () {
	dir=$1 &&
	shift &&
	git -C "$dir" bitmap explain --exact "$@" >explained &&
	grep -q "^answered-by=bitmap" explained &&
	walked=$(sed -n "s/^wants.commits-walked=//p" explained) &&
	commits=$(sed -n "s/^commits=//p" explained) &&
	if test $((100 * walked)) -gt $commits
	then
		echo "$* walks $walked of $commits commits"
		return 1
	fi
}

index_len () {
	cat "$1"/objects/pack/*.bitmap | wc -c
}

test_expect_success 'setup' '
	make_repo repo.git &&
	stock -C repo.git for-each-ref refs/pull >refs &&
	test_line_count 110 refs
'

test_expect_success 'clones walk at most 1% of their commits' '
	git -C repo.git repack -q -adb &&
	walks_few repo.git --all &&
	walks_few repo.git --branches --tags &&
	for branch in $(stock -C repo.git for-each-ref --format="%(refname)" \
		refs/heads)
	do
		walks_few repo.git $branch || return 1
	done
'

test_expect_success 'the index is right, and stock Git reads it' '
	git -C repo.git bitmap verify &&
	stock -C repo.git fsck --full &&
	for revs in --all "--branches --tags" old3 "old3 --not main"
	do
		stock -C repo.git rev-list --objects --count $revs >expect &&
		stock -C repo.git rev-list --objects --use-bitmap-index \
			--count $revs >actual &&
		test_cmp expect actual &&
		git -C repo.git rev-list --objects --use-bitmap-index \
			--count $revs >actual &&
		test_cmp expect actual || return 1
	done
'

test_expect_success 'the same choice for a multi-pack-index' '
	cp -r repo.git midx.git &&
	rm midx.git/objects/pack/*.bitmap &&
	git -C midx.git multi-pack-index write --bitmap &&
	walks_few midx.git --all &&
	walks_few midx.git --branches --tags &&
	for n in 1 4 11
	do
		walks_few midx.git old$n || return 1
	done &&
	git -C midx.git bitmap verify
'

test_expect_success 'an update keeps these bitmaps' '
	stock -C midx.git repack -q -d &&
	tree=$(stock -C midx.git rev-parse main^{tree}) &&
	new=$(echo new | stock -C midx.git commit-tree -p main $tree) &&
	stock -C midx.git update-ref refs/heads/main $new &&
	git -C midx.git repack -q -d &&
	git -C midx.git multi-pack-index write --bitmap &&
	for n in 1 4 11
	do
		walks_few midx.git old$n || return 1
	done &&
	walks_few midx.git main &&
	git -C midx.git bitmap verify
'

test_expect_success 'pack.bitmapBudget limits the bytes of the index' '
	git -C repo.git -c pack.bitmapBudget=1 repack -q -adb &&
	least=$(index_len repo.git) &&
	git -C repo.git repack -q -adb &&
	default=$(index_len repo.git) &&
	test $least -lt $default &&
	last=$least &&
	for budget in $((least + 500)) $((least + 3000)) $default
	do
		git -C repo.git -c pack.bitmapBudget=$budget repack -q -adb &&
		len=$(index_len repo.git) &&
		test $len -le $budget &&
		test $len -ge $last &&
		last=$len || return 1
	done &&
	test $last -gt $least &&
	git -C repo.git bitmap verify
'

test_expect_success 'with a small budget HEAD has a bitmap' '
	git -C repo.git -c pack.bitmapBudget=1 repack -q -adb &&
	git -C repo.git rev-list --test-bitmap HEAD
'

test_expect_success 'pack.bitmapBudget has a unit, and is a number' '
	git -C repo.git -c pack.bitmapBudget=1g repack -q -adb &&
	walks_few repo.git --all &&
	test_expect_code 128 git -C repo.git -c pack.bitmapBudget=much \
		repack -q -adb 2>err &&
	grep "bad numeric config value .much. for .pack.bitmapbudget." err
'

test_done
