#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='files that killed or foreign processes have left in a repository

Packs without an index, indexes without a pack, what stands beside packs without
them, temporary files and directories, locks: what is done about each.'
. "$(dirname "$0")/lib.sh"

# litter <dir>: one of each in the objects of <dir>; $pack is the whole pack.
litter () {
	nr=0 &&
	for ends in pack idx rev bitmap mtimes keep promisor "pack rev" \
		"pack keep" "idx rev bitmap" "rev keep" foo
	do
		nr=$((nr + 1)) &&
		for end in $ends
		do
			name=pack-$(printf "%040d" $nr).$end &&
			cp "$pack.$end" "$1/pack/$name" 2>/dev/null ||
				echo junk >"$1/pack/$name" || return 1
		done
	done &&
	for name in tmp_pack_x tmp_idx_x tmp_rev_x tmp_bitmap_x .tmp-1-pack-x.pack \
		old-pack-x.pack junk multi-pack-index-1.bitmap pack-x.idx.lock
	do
		echo junk >"$1/pack/$name" || return 1
	done &&
	mkdir -p "$1/pack/dir" "$1/fe" "$1/tmp_objdir-incoming-x/pack" \
		"$1/tmp_objdir-migrate-x/aa" "$1/incoming-x" &&
	for name in fe/tmp_obj_x fe/junk tmp_objdir-incoming-x/pack/tmp_pack_x \
		tmp_objdir-migrate-x/aa/junk tmp_obj_x tmp_pack_x junk
	do
		echo junk >"$1/$name" || return 1
	done
}

test_expect_success 'setup: a repository with a stale file of each kind' '
	repo_linear base.git 4 && rm -r base.git/hooks &&
	stock -C base.git repack -adq && chmod -R u+w base.git &&
	pack=$(ls base.git/objects/pack/*.pack) && pack=${pack%.pack} &&
	cp -R base.git good.git &&
	litter base.git/objects &&
	(cd good.git && find objects | sort) >whole &&
	(cd base.git && find objects | sort) >all &&
	comm -13 whole all >litter && test_line_count 40 litter
'

# left <git> <words>: which of the litter the command leaves.
left () {
	rm -rf r.git && cp -R base.git r.git &&
	find r.git/objects -newermt 2000-01-01 -exec \
		touch -d "${age:-now}" {} + &&
	which=$1 && shift && code=0 &&
	$which -C r.git "$@" >out 2>&1 || code=$?
	(cd r.git && find objects | sort | comm -12 - ../litter)
	echo "exit code $code"
}

for age in now 2020-01-01
do
	for words in "count-objects -v" prune "prune --expire=now" \
		"prune --dry-run" prune-packed "repack -d"
	do
		test_expect_success "$words: what stock Git does, of $age" '
			age=$age &&
			left stock $words >expect && left git $words >actual &&
			test_cmp expect actual
		'
	done
done

# An index goes before its pack: one without a pack was to go. A pack without an
# index may be about to get one; Git 2.39 removes it, 2.55 does as we do.
test_expect_success 'gc: indexes without packs, and theirs' '
	age=now &&
	left git gc --quiet >actual &&
	sort actual >left && sort litter | comm -23 - left >gone &&
	printf "objects/pack/pack-%040d.%s\n" 2 idx 10 bitmap 10 idx \
		10 rev | sort >expect &&
	grep -v multi-pack-index gone >actual &&
	test_cmp expect actual
'

test_expect_success 'repack -ad leaves indexes without packs, as stock Git' '
	age=now &&
	left git repack -ad >actual &&
	sort actual >left && sort litter | comm -23 - left >gone &&
	grep -v multi-pack-index gone >actual
	test_must_be_empty actual
'

# What a killed `commit-graph write --split` has left; stock Git leaves it.
test_expect_success 'prune: temporary files of commit-graphs' '
	git -C good.git commit-graph write --reachable --split &&
	graphs=good.git/objects/info/commit-graphs && ls $graphs >expect &&
	>$graphs/tmp_graph_x && touch -d 2020-01-01 $graphs/tmp_graph_x &&
	git -C good.git prune --expire=2019-01-01 &&
	test -e $graphs/tmp_graph_x &&
	git -C good.git prune --expire=2021-01-01 &&
	ls $graphs >actual && test_cmp expect actual &&
	git -C good.git commit-graph verify
'

test_expect_success 'stale files do not hinder later commands' '
	rm -rf r.git && cp -R base.git r.git &&
	git -C r.git rev-list --objects --all >actual &&
	stock -C good.git rev-list --objects --all >expect &&
	test_cmp_sorted expect actual &&
	git -C r.git fsck && git -C r.git repack -adb &&
	git -C r.git multi-pack-index write --bitmap &&
	git -C r.git gc --prune=now --quiet && git -C r.git fsck &&
	stock -C r.git fsck --strict &&
	git clone -q --bare "file://$PWD/r.git" clone.git 2>/dev/null &&
	stock -C clone.git fsck
'

test_done
