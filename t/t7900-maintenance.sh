#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='maintenance: which tasks are run when, and what they start

What is started is read from the trace. Expected is what Git 2.55 starts.'
. "$(dirname "$0")/lib.sh"

# started <options>: "maintenance run" in a copy of "base"; what it started.
started () {
	rm -rf work && cp -R base work && again "$@"
}

again () {
	rm -f trace && code=0 &&
	GIT_TRACE2_EVENT=$PWD/trace "$GIT" -C work maintenance run "$@" 2>err ||
		code=$?
	perl -ne '
		next unless /"event":"child_start"/ && !/"sid":"[^"]*\//;
		s/.*"argv":\["(.*?)"\].*/$1/; s/","/ /g; print;
	' trace >actual &&
	return $code
}

expect () {
	printf "git %s\n" "$@" >expect &&
	test_cmp expect actual
}

nothing () {
	! test -s actual
}

SQ="'"
REFS="pack-refs --all --prune"
LOGS="reflog expire --all"
ALL="repack -d -l --cruft --cruft-expiration=2.weeks.ago --quiet --write-midx"
SOME="repack -d -l --geometric=2 --quiet --write-midx"
GRAPH="commit-graph write --split --reachable --no-progress"
GC="gc --quiet --no-detach --skip-foreground-tasks"

test_expect_success 'setup' '
	stock init -q base &&
	for i in 1 2 3 4 5
	do
		echo $i >base/f$i && stock -C base add . && test_tick &&
		stock -C base commit -qm $i && stock -C base repack -dq || return
	done &&
	cp base/.git/config stock.config
'

test_expect_success 'the tasks that run by default' '
	started && expect "$REFS" "$LOGS" "$ALL" "$GRAPH" &&
	stock -C work fsck --strict &&
	again && expect "$REFS" "$LOGS" "$SOME" "$GRAPH" &&
	stock -C work fsck --strict
'

test_expect_success 'strategies' '
	stock -C base config maintenance.strategy gc &&
	started && expect "$REFS" "$LOGS" "$GC" &&
	stock -C base config maintenance.strategy incremental &&
	started && expect "$REFS" "$LOGS" "$GC" &&
	stock -C base config maintenance.gc.enabled false &&
	stock -C base config maintenance.pack-refs.enabled true &&
	started && expect "$REFS" &&
	stock -C base config --remove-section maintenance.gc &&
	stock -C base config --remove-section maintenance.pack-refs &&
	stock -C base config maintenance.strategy odd &&
	test_expect_code 128 started &&
	echo "fatal: unknown maintenance strategy: ${SQ}odd$SQ" >expect &&
	test_cmp expect err &&
	stock -C base config --unset maintenance.strategy
'

test_expect_success 'schedules' '
	started --schedule=weekly && nothing &&
	stock -C base config maintenance.strategy geometric &&
	started --schedule=hourly && expect "$GRAPH" &&
	started --schedule=daily && expect "$REFS" "$ALL" "$GRAPH" &&
	started --schedule=weekly &&
	expect "$REFS" "$LOGS" "$ALL" "$GRAPH" &&
	stock -C base config maintenance.commit-graph.schedule weekly &&
	started --schedule=daily && expect "$REFS" "$ALL" &&
	stock -C base config --remove-section maintenance.commit-graph &&
	stock -C base config maintenance.strategy incremental &&
	started --schedule=daily &&
	expect "prune-packed --quiet" "multi-pack-index write --no-progress" \
		"multi-pack-index expire --no-progress" \
		"multi-pack-index repack --no-progress --batch-size=$(
			ls -l base/.git/objects/pack/*.pack |
			awk "{ print \$5 + 1 }" | sort -n | tail -2 | head -1)" \
		"$GRAPH" &&
	stock -C work fsck --strict &&
	stock -C base config --unset maintenance.strategy &&
	test_expect_code 128 started --schedule=yearly &&
	test_expect_code 128 started --schedule=daily --auto &&
	test_expect_code 128 started --task=gc --schedule=daily 2>err &&
	grep "^fatal: options .--task=. and .--schedule=. cannot be used together" \
		err &&
	test_expect_code 128 started --auto --schedule=none 2>err &&
	grep "^fatal: unrecognized --schedule argument .none." err
'

test_expect_success 'tasks by name, in their order' '
	started --task=commit-graph --task=reflog-expire --task=pack-refs &&
	expect "$LOGS" "$REFS" "$GRAPH" &&
	test_expect_code 129 started --task=nothing &&
	echo "error: ${SQ}nothing$SQ is not a valid task" >expect &&
	test_cmp expect err &&
	test_expect_code 129 started --task=gc --task=gc
'

# is_time <task> <number> <key=value>...: for so many it is time, for one more
# it is not; and never and always.
is_time () {
	stock -C base config maintenance.$1.auto $2 &&
	started --auto --task=$1 && test -s actual &&
	stock -C base config maintenance.$1.auto $(($2 + 1)) &&
	started --auto --task=$1 && nothing &&
	stock -C base config maintenance.$1.auto 0 &&
	started --auto --task=$1 && nothing &&
	stock -C base config maintenance.$1.auto -1 &&
	started --auto --task=$1 && test -s actual &&
	stock -C base config --remove-section maintenance.$1
}

test_expect_success '--auto: commits, packs, lines of logs' '
	is_time commit-graph 5 &&
	is_time incremental-repack 5 &&
	sed "s/> [0-9]* />&/; s/> 1[0-9]* />> 1000000000 /; s/>>/>/" \
		base/.git/logs/HEAD >log && mv log base/.git/logs/HEAD &&
	is_time reflog-expire 5
'

test_expect_success '--auto: loose objects' '
	for i in 1 2 3 4
	do
		echo loose $i | stock -C base hash-object -w --stdin || return
	done >/dev/null &&
	is_time loose-objects 4 &&
	started --auto --task=geometric-repack && expect "$ALL" &&
	stock -C work -c gc.auto=0 repack -adq &&
	again --auto --task=geometric-repack && nothing &&
	again --auto --task=gc && nothing &&
	stock -C work config gc.autoPackLimit 1 &&
	again --auto --task=gc && nothing
'

test_expect_success '--auto: loose objects are estimated for geometric-repack' '
	repo_linear loose.git 3 && stock -C loose.git repack -adq &&
	due="git -C loose.git maintenance is-needed --auto" &&
	due="$due --task=geometric-repack" &&
	echo x | stock -C loose.git hash-object -w --stdin &&
	echo 263 | stock -C loose.git hash-object -w --stdin &&
	test_expect_code 1 $due &&
	echo 410 | stock -C loose.git hash-object -w --stdin &&
	$due && rm -rf loose.git
'

test_expect_success 'loose objects are packed in batches' '
	started --task=loose-objects -q 2>/dev/null || started \
		--task=loose-objects --quiet &&
	expect "prune-packed --quiet" &&
	ls work/.git/objects/pack/loose-*.idx &&
	again --task=loose-objects --quiet &&
	test -z "$(find work/.git/objects/?? -type f)" &&
	ls work/.git/objects/pack/loose-*.idx >packs &&
	test_line_count 1 packs &&
	rm -rf work && cp -R base work &&
	stock -C work config maintenance.loose-objects.batchSize 3 &&
	again --task=loose-objects --quiet &&
	again --task=loose-objects --quiet >out && ! test -s out &&
	! test -s err &&
	ls work/.git/objects/pack/loose-*.idx >packs &&
	test_line_count 2 packs &&
	stock -C work fsck --strict
'

# loose_packs <nr>: the repository "loose" has so many packs loose-<checksum>.
# The oldest one has the blob "secret", to which nothing refers.
loose_packs () {
	rm -rf loose && stock init -q loose &&
	stock -C loose config maintenance.auto false &&
	echo secret | stock -C loose hash-object -w --stdin >secret &&
	for i in $(seq $1)
	do
		echo $i >loose/f && stock -C loose add . && test_tick &&
		stock -C loose commit -qm $i &&
		"$GIT" -C loose maintenance run --task=loose-objects \
			--quiet || return
	done &&
	"$GIT" -C loose prune-packed &&
	ls loose/.git/objects/pack >files &&
	test $(grep -c "^loose-.*pack$" files) -eq $1
}

# expect_files <line>...: what the directory of packs has, without checksums.
expect_files () {
	ls loose/.git/objects/pack | sed "s/-[0-9a-f]*[.]/./" | sort | uniq -c |
		sed "s/^ *//" >files &&
	printf "%s\n" "$@" | test_cmp - files &&
	stock -C loose fsck --strict
}

test_expect_success 'repacks merge and remove the packs of loose-objects' '
	for options in -ad "-d --geometric=2"
	do
		loose_packs 4 && "$GIT" -C loose repack -q $options &&
		expect_files "1 pack.idx" "1 pack.pack" "1 pack.rev" &&
		loose_packs 4 && "$GIT" -C loose multi-pack-index write &&
		"$GIT" -C loose repack -q $options --write-midx &&
		expect_files "1 multi-pack-index" "1 pack.idx" "1 pack.pack" \
			"1 pack.rev" || return
	done &&
	loose_packs 4 && keep=$(grep "^loose.*pack$" files | head -n 1) &&
	>loose/.git/objects/pack/${keep%.pack}.keep &&
	"$GIT" -C loose repack -adq &&
	expect_files "1 loose.idx" "1 loose.keep" "1 loose.pack" "1 loose.rev" \
		"1 pack.idx" "1 pack.pack" "1 pack.rev" &&
	loose_packs 4 && keep=$(grep "^loose.*pack$" files | head -n 1) &&
	"$GIT" -C loose repack -adq --keep-pack=$keep &&
	expect_files "1 loose.idx" "1 loose.pack" "1 loose.rev" \
		"1 pack.idx" "1 pack.pack" "1 pack.rev"
'

test_expect_success 'gc counts the packs of loose-objects, and expires objects' '
	loose_packs 4 && stock -C loose config gc.auto 6700 &&
	stock -C loose config gc.cruftPacks false &&
	"$GIT" -C loose -c gc.autoPackLimit=4 gc --auto --no-detach &&
	expect_files "4 loose.idx" "4 loose.pack" "4 loose.rev" &&
	"$GIT" -C loose -c gc.autoPackLimit=3 gc --auto --no-detach &&
	expect_files "1 pack.idx" "1 pack.pack" "1 pack.rev" &&
	stock -C loose cat-file -e $(cat secret) &&
	loose_packs 4 && "$GIT" -C loose gc -q &&
	stock -C loose cat-file -e $(cat secret) &&
	ls loose/.git/objects/pack >files && ! grep loose files &&
	loose_packs 4 && "$GIT" -C loose gc -q --prune=now &&
	expect_files "1 pack.idx" "1 pack.pack" "1 pack.rev" &&
	! stock -C loose cat-file -e $(cat secret)
'

test_expect_success 'incremental-repack joins the packs of loose-objects' '
	loose_packs 4 &&
	for i in 1 2
	do
		"$GIT" -C loose maintenance run --task=incremental-repack \
			--quiet || return
	done &&
	ls loose/.git/objects/pack >files &&
	test $(grep -c "^loose.*pack$" files) -lt 4 &&
	stock -C loose cat-file -e $(cat secret) && stock -C loose fsck --strict
'

test_expect_success 'only one maintenance run at a time' '
	rm -rf work && cp -R base work &&
	: >work/.git/objects/maintenance.lock &&
	again && nothing && ! test -s err &&
	again --no-quiet && nothing && grep "skipping maintenance" err &&
	again --auto --no-quiet && nothing && ! test -s err
'

test_expect_success 'in the background' '
	rm -rf work && cp -R base work &&
	again --detach --task=commit-graph --task=pack-refs &&
	expect "$REFS" &&
	wait_until test -e \
		work/.git/objects/info/commit-graphs/commit-graph-chain &&
	wait_until test ! -e work/.git/objects/maintenance.lock &&
	stock -C work commit-graph verify
'

test_expect_success 'a task that fails does not keep others from being run' '
	rm -rf work && cp -R base work &&
	mkdir work/.git/packed-refs.lock &&
	test_expect_code 1 again --task=pack-refs --task=commit-graph &&
	expect "$REFS" "$GRAPH" &&
	grep "error: task ${SQ}pack-refs$SQ failed" err
'

test_expect_success 'worktree-prune and rerere-gc run only if needed' '
	started --task=worktree-prune --task=rerere-gc && nothing &&
	mkdir -p work/.git/rr-cache/x &&
	again --task=worktree-prune --task=rerere-gc && expect "rerere gc" &&
	again --auto --task=rerere-gc && expect "rerere gc" &&
	stock -C work worktree add -q ../tree && rm -rf tree &&
	again --auto --task=worktree-prune && nothing &&
	stock -C work config gc.worktreePruneExpire now &&
	again --auto --task=worktree-prune &&
	expect "worktree prune --expire now" &&
	! test -e work/.git/worktrees/tree
'

test_expect_success 'a linked work tree with a relative path is not pruned' '
	stock -C work worktree add -q ../tree &&
	echo ../../../../tree/.git >work/.git/worktrees/tree/gitdir &&
	again --auto --task=worktree-prune && nothing &&
	echo ../../../../other/.git >work/.git/worktrees/tree/gitdir &&
	: >work/.git/worktrees/tree/locked &&
	again --auto --task=worktree-prune && nothing &&
	rm work/.git/worktrees/tree/locked &&
	again --auto --task=worktree-prune &&
	expect "worktree prune --expire now"
'

FETCH="--prefetch --prune --no-tags --no-write-fetch-head"
FETCH="$FETCH --recurse-submodules=no --quiet"

test_expect_success 'a remote with several URLs is prefetched once' '
	rm -rf work && cp -R base work &&
	stock -C work remote add two ../base &&
	stock -C work remote set-url --add two ../nonesuch &&
	stock -C work remote add one ../base &&
	stock -C work remote add skipped ../base &&
	stock -C work config remote.skipped.skipFetchAll true &&
	again --task=prefetch && sort actual >sorted && mv sorted actual &&
	expect "fetch one $FETCH" "fetch two $FETCH"
'

# Exit codes are those of Git 2.55.
test_expect_success 'is-needed' '
	rm -rf work && cp -R base work && cd work &&
	git maintenance is-needed &&
	git maintenance is-needed --task=gc &&
	git maintenance is-needed --auto &&
	test_expect_code 1 git maintenance is-needed --auto --task=gc &&
	test_expect_code 1 git maintenance is-needed --auto --task=prefetch &&
	test_expect_code 1 git maintenance is-needed --auto --task=pack-refs &&
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
	do
		stock branch b$i || return 1
	done &&
	git maintenance is-needed --auto --task=pack-refs &&
	git -c maintenance.commit-graph.auto=1 maintenance is-needed --auto \
		--task=pack-refs --task=commit-graph &&
	: >.git/objects/maintenance.lock &&
	git maintenance is-needed &&
	test_expect_code 128 git -c maintenance.strategy=odd \
		maintenance is-needed &&
	test_expect_code 129 git maintenance is-needed --schedule=daily &&
	test_expect_code 129 git maintenance is-needed --task=odd &&
	test_expect_code 129 git maintenance is-needed x &&
	cd ..
'

test_expect_success '--auto packs refs where there are enough' '
	rm work/.git/objects/maintenance.lock &&
	again --auto --task=pack-refs && expect "$REFS --auto" &&
	again --auto --task=pack-refs && nothing &&
	git init -q --bare --ref-format=reftable tables &&
	test_expect_code 1 git -C tables maintenance is-needed --auto \
		--task=pack-refs
'

test_expect_success 'other subcommands are handed to stock Git' '
	rm -rf work && cp -R base work &&
	test_must_fail "$GIT" -C work maintenance unregister 2>err &&
	test_must_fail stock -C work maintenance unregister 2>expect &&
	test_cmp expect err
'

test_expect_success 'a stale lock: the other tasks are run' '
	sh -c "echo \$\$" >gone &&
	for lock in packed-refs logs/HEAD objects/pack/multi-pack-index
	do
		rm -rf work && cp -R base work &&
		cp stock.config work/.git/config &&
		>work/.git/$lock.lock &&
		echo "pid $(cat gone)" >work/.git/$lock~pid.lock &&
		{ again || test $? -eq 1; } &&
		grep "^Process $(cat gone) took this lock" err &&
		grep "^error: task .* failed" err &&
		expect "$REFS" "$LOGS" "$ALL" "$GRAPH" || return
	done
'

test_expect_success 'the lock of maintenance itself' '
	rm -rf work && cp -R base work && cp stock.config work/.git/config &&
	lock=work/.git/objects/maintenance && >$lock.lock &&
	again --no-quiet && nothing &&
	grep "^warning: lock file .*/maintenance. exists, skipping" err &&
	again && nothing && ! test -s err &&
	touch -d "13 hours ago" $lock.lock &&
	test_expect_code 1 again --auto --quiet && nothing &&
	grep "^error: Unable to create .*/maintenance.lock" err &&
	touch $lock.lock && echo "pid $(cat gone)" >$lock~pid.lock &&
	test_expect_code 1 again && nothing &&
	grep "^Process $(cat gone) took this lock, and no process" err &&
	rm $lock.lock && again && test -s actual
'

test_expect_success 'nothing is deleted from a precious-objects repository' '
	rm -rf work && cp -R base work && cp stock.config work/.git/config &&
	stock -C work config core.repositoryFormatVersion 1 &&
	stock -C work config extensions.preciousObjects true &&
	again && expect "$REFS" "$LOGS" "$GRAPH" &&
	again --no-quiet --task=geometric-repack && nothing &&
	grep "^warning: skipping task .geometric-repack." err &&
	again --task=loose-objects --task=incremental-repack &&
	test_expect_code 1 "$GIT" -C work maintenance is-needed --auto \
		--task=geometric-repack 2>err
'

test_expect_success 'wrong values and frequencies are reported before operands' '
	rm -rf work && cp -R base work &&
	for setting in gc.auto=x maintenance.strategy=x \
		maintenance.gc.enabled=x
	do
		test_expect_code 128 git -C work -c $setting \
			maintenance run x 2>err &&
		grep "^fatal: .*${SQ}x$SQ" err &&
		test_expect_code 129 git -C work -c $setting \
			maintenance run --what || return 1
	done &&
	for options in --schedule=x "--schedule=daily --auto"
	do
		test_expect_code 128 git -C work maintenance run $options x \
			2>err &&
		grep "^fatal: .*schedule" err || return 1
	done &&
	test_expect_code 129 git -C work maintenance run x
'

test_done
