#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='pseudo-merges: written by default, read by ours and others'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-interop.sh"

# A main line of 260 commits; from its start 80 branches of 8 commits each,
# older than most of it, which nothing merges: refs/pull/<n>/head.
make_repo () {
	{
		for i in $(seq 1 260)
		do
			stream_commit main $i $((1112912000 + 600 * i)) \
				"f$((i % 10))" "main $i" || exit
		done
		for n in $(seq 1 80)
		do
			for i in $(seq 1 8)
			do
				from=
				test $i = 1 && from="from :$((1 + n % 8))"
				stream_commit "pull$n" $((1000 * n + i)) \
					$((1112912000 + 60 * n + 10 * i)) \
					"p$((n % 7))" "pull $n $i" ${from:+"$from"} ||
				exit
			done
		done
	} | repo_import "$1" &&
	stock -C "$1" for-each-ref --format="create refs/pull/%(refname:lstrip=2)/head %(objectname)%0adelete %(refname)" \
		"refs/heads/pull*" | stock -C "$1" update-ref --stdin
}

# same_counts <dir>: ours, and stock Git that may not know pseudo-merges, count
# what a walk does.
same_counts () {
	pulls=$(stock -C "$1" for-each-ref --format="%(refname)" refs/pull) &&
	few=$(echo "$pulls" | sed -n "1~3p") &&
	for revs in --all --branches "--all --not main" "main --not $pulls" \
		"$few" "$pulls --not $few"
	do
		stock -C "$1" rev-list --objects --use-bitmap-index --count \
			$revs >stock &&
		git -C "$1" rev-list --objects --use-bitmap-index --count \
			$revs >actual &&
		test_cmp stock actual || return 1
	done &&
	stock -C "$1" rev-list --objects --all | wc -l >expect &&
	git -C "$1" rev-list --objects --use-bitmap-index --count --all \
		>actual &&
	test_cmp expect actual
}

test_expect_success 'setup' '
	make_repo repo.git &&
	stock -C repo.git for-each-ref refs/pull >refs &&
	test_line_count 80 refs
'

test_expect_success 'tips without a bitmap get pseudo-merges by default' '
	git -C repo.git repack -q -adb &&
	echo 0035 >expect &&
	bitmap_flags repo.git >actual &&
	test_cmp expect actual &&
	stock -C repo.git fsck --full --strict
'

test_expect_success 'they are right' '
	for n in 1 2 40 79 80
	do
		tip=$(stock -C repo.git rev-parse refs/pull/pull$n/head) &&
		{
			git -C repo.git rev-list --test-bitmap $tip 2>err ||
			grep "have an indexed bitmap" err
		} || return 1
	done &&
	git -C repo.git rev-list --test-bitmap main &&
	stock -C repo.git rev-list --test-bitmap main
'

test_expect_success 'ours and stock Git count the same' '
	same_counts repo.git
'

test_expect_success 'ours and stock Git count the same after refs moved' '
	cp -r repo.git moved.git &&
	stock -C moved.git update-ref -d refs/pull/pull7/head &&
	stock -C moved.git update-ref refs/pull/pull60/head \
		refs/pull/pull60/head~3 &&
	repo_newer moved.git &&
	same_counts moved.git
'

test_expect_success 'configured groups, and commits in several' '
	cp -r repo.git groups.git &&
	for name in a b
	do
		stock -C groups.git config bitmapPseudoMerge.$name.threshold now &&
		stock -C groups.git config \
			bitmapPseudoMerge.$name.stableThreshold never || return 1
	done &&
	stock -C groups.git config bitmapPseudoMerge.a.pattern \
		"refs/pull/pull([0-9])" &&
	stock -C groups.git config bitmapPseudoMerge.a.maxMerges 2 &&
	stock -C groups.git config bitmapPseudoMerge.b.pattern refs/ &&
	stock -C groups.git config pack.bitmapBudget 1 &&
	git -C groups.git repack -q -adb &&
	echo 0035 >expect &&
	bitmap_flags groups.git >actual &&
	test_cmp expect actual &&
	same_counts groups.git &&
	tip=$(stock -C groups.git rev-parse refs/pull/pull1/head) &&
	test_must_fail git -C groups.git rev-list --test-bitmap $tip 2>err &&
	grep "have an indexed bitmap" err &&
	stock -C groups.git fsck --full
'

test_expect_success 'stable groups' '
	cp -r repo.git stable.git &&
	stock -C stable.git config bitmapPseudoMerge.a.pattern refs/ &&
	stock -C stable.git config bitmapPseudoMerge.a.stableSize 10 &&
	git -C stable.git repack -q -adb &&
	same_counts stable.git
'

test_expect_success 'bad values' '
	cp -r repo.git bad-values.git &&
	bad () {
		stock -C bad-values.git config bitmapPseudoMerge.x.$1 "$2" &&
		test_must_fail git -C bad-values.git repack -adb 2>err &&
		grep "$3" err &&
		stock -C bad-values.git config --unset bitmapPseudoMerge.x.$1
	} &&
	bad decay 1 "missing required pattern" &&
	bad pattern "(" "failed to load pseudo-merge regex" &&
	stock -C bad-values.git config bitmapPseudoMerge.x.pattern refs/ &&
	bad threshold bogus "is not a valid timestamp" &&
	bad threshold never "unstable threshold before stable one" &&
	bad maxMerges x "bad numeric config value" &&
	stock -C bad-values.git config bitmapPseudoMerge.x.sampleRate 2 &&
	git -C bad-values.git repack -adb 2>err &&
	grep "samplerate must be between 0 (exclusive) and 1" err
'

test_expect_success 'no pseudo-merges if they are turned off' '
	cp -r repo.git plain.git &&
	git -C plain.git -c pack.writeBitmapPseudoMerges=false repack -q -adb &&
	echo 0015 >expect &&
	bitmap_flags plain.git >actual &&
	test_cmp expect actual &&
	same_counts plain.git
'

# 500 commits of one tree, then 110 refs with one commit each.
test_expect_success 'an update obeys the limits of a full build' '
	for i in $(seq 1 500)
	do
		stream_commit main $i $((1112912000 + 60 * i)) f "main" || exit
	done | repo_import few.git &&
	git -C few.git repack -q -ad --write-midx --write-bitmap-index &&
	main=$(stock -C few.git rev-parse main) &&
	tree=$main^{tree} &&
	for i in $(seq 1 110)
	do
		new=$(echo $i | stock -C few.git commit-tree $tree -p main~$((300 + i))) &&
		echo "create refs/changes/$i $new" || exit
	done >new &&
	stock -C few.git update-ref --stdin <new &&
	git -C few.git repack -q -d --geometric=2 --write-midx --write-bitmap-index &&
	git -C few.git bitmap list >list &&
	grep "pseudo-merges=0" list &&
	same_counts few.git
'

test_expect_success 'stock Git serves a mirror from them' '
	stock clone -q --mirror --no-local repo.git mirror.git &&
	stock -C repo.git show-ref >expect &&
	stock -C mirror.git show-ref >actual &&
	test_cmp expect actual
'

test_expect_success 'a damaged section is passed over' '
	cp -r repo.git bad.git &&
	file=$(echo bad.git/objects/pack/*.bitmap) &&
	chmod u+w $file &&
	size=$(wc -c <$file) &&
	nr=$(stock -C bad.git rev-list --objects --all | wc -l) &&
	at=$((size - 20 - 4 * nr)) &&
	printf "\377" | dd of=$file bs=1 seek=$((at - 9)) conv=notrunc 2>err &&
	stock -C bad.git rev-list --objects --all | wc -l >expect &&
	git -C bad.git rev-list --objects --use-bitmap-index --count --all \
		>actual 2>err &&
	test_cmp expect actual &&
	grep "warning: .*bitmap" err
'

test_done
