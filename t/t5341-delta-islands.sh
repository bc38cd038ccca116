#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='delta islands: clones of forks are sent as stored'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-islands.sh"

FORKS=6

# A history, and forks that each change the same files in a way of their own.
network () {
	for i in $(seq 1 20)
	do
		stream_commit main "$i" $((1112912000 + 60 * i)) \
			"file$((i % 5))" "$(seq $i $((200 + i)))"
	done
	for f in $(seq 1 $FORKS)
	do
		for i in $(seq 1 5)
		do
			from=
			test $i != 1 || from="from :$((10 + f))"
			stream_commit "f$f" $((f * 100 + i)) \
				$((1112990000 + 600 * i + f)) "file$i" \
				"$(seq $((100 * i)) $((100 * i + 300));
				   echo "fork $f")" ${from:+"$from"}
		done
	done
}

test_expect_success 'setup' '
	network | repo_import base.git &&
	for f in $(seq 1 $FORKS)
	do
		tip=$(stock -C base.git rev-parse f$f) &&
		stock -C base.git update-ref refs/virtual/$f/heads/main $tip &&
		stock -C base.git update-ref -d refs/heads/f$f || return
	done &&
	stock -C base.git symbolic-ref HEAD refs/heads/main &&
	stock -C base.git config repack.tipIsland false &&
	stock -C base.git repack -adfq
'

test_expect_success 'without islands, clones of forks recompress objects' '
	sum=0 &&
	for f in $(seq 1 $FORKS)
	do
		nr=$(recompressed base.git refs/virtual/$f/) &&
		sum=$((sum + nr)) || return
	done &&
	test $sum -gt 10
'

test_expect_success 'with islands, clones of forks copy all objects' '
	cp -R base.git net.git &&
	stock -C net.git config --add pack.island "refs/heads/" &&
	stock -C net.git config --add pack.island "refs/virtual/([0-9]+)/" &&
	"$GIT" -C net.git repack -adbiq &&
	for f in $(seq 1 $FORKS)
	do
		test $(recompressed net.git refs/virtual/$f/) = 0 || return
	done &&
	test $(recompressed net.git refs/heads/) = 0 &&
	stock -C net.git fsck --full --strict &&
	stock -C net.git rev-list --test-bitmap refs/virtual/3/heads/main
'

# island_key <repo> <key>: the value that `git bitmap stats` prints
island_key () {
	"$GIT" -C "$1" bitmap stats >stats &&
	sed -n "s/^islands[.]$2=//p" stats
}

test_expect_success 'git bitmap stats shows whether the islands took effect' '
	cp -R base.git told.git &&
	"$GIT" -C told.git repack -adfbq --no-delta-islands &&
	test -z "$(island_key told.git islands)" &&
	cp net.git/config told.git/config &&
	test $(island_key told.git islands) = $((FORKS + 1)) &&
	test $(island_key told.git objects) = \
		$(stock -C told.git rev-list --objects --all | wc -l) &&
	test $(island_key told.git crossing-deltas) -gt 0 &&
	"$GIT" -C told.git repack -adbiq &&
	test $(island_key told.git crossing-deltas) = 0 &&
	test $(island_key told.git deltas) -gt 0
'

test_expect_success 'git bitmap stats leaves out refs to missing objects' '
	cp -R told.git torn.git &&
	echo 1234567890123456789012345678901234567890 \
		>torn.git/refs/heads/torn &&
	"$GIT" -C told.git bitmap stats >whole &&
	"$GIT" -C torn.git bitmap stats >torn 2>err &&
	grep "^islands[.]" whole >expect &&
	grep "^islands[.]" torn >actual &&
	test_cmp expect actual &&
	grep "^warning: refs/heads/torn points to a missing object" err
'

test_expect_success 'and without bitmaps' '
	rm -f net.git/objects/pack/*.bitmap &&
	for f in $(seq 1 $FORKS)
	do
		test $(recompressed net.git refs/virtual/$f/) = 0 || return
	done
'

test_expect_success 'clones copy a pack that stock Git made with islands' '
	cp -R base.git stock.git &&
	cp net.git/config stock.git/config &&
	stock -C stock.git repack -adfiq &&
	for f in $(seq 1 $FORKS)
	do
		test $(recompressed stock.git refs/virtual/$f/) = 0 || return
	done
'

test_expect_success 'our pack is not much larger than that of stock Git' '
	theirs=$(cat stock.git/objects/pack/*.pack | wc -c) &&
	ours=$(cat net.git/objects/pack/*.pack | wc -c) &&
	test $ours -lt $((theirs + theirs / 10))
'

# idx_of <repo>: "<offset> <id>" of each object, in the order of the pack
idx_of () {
	stock -C "$1" show-index <$(echo "$1"/objects/pack/*.idx) |
		cut -d" " -f1,2 | sort -n
}

test_expect_success 'the core island comes first' '
	stock -C net.git config --add pack.islandCore 3 &&
	"$GIT" -C net.git repack -adbiq &&
	stock -C net.git rev-list --objects refs/virtual/3/heads/main |
		cut -d" " -f1 | sort >expect &&
	nr=$(wc -l <expect) &&
	idx_of net.git | head -$nr | cut -d" " -f2 | sort >actual &&
	test_cmp expect actual
'

test_expect_success 'pack.islandCore that names no island is a warning' '
	cp -R net.git core.git &&
	"$GIT" -C core.git repack -adqi 2>err && ! test -s err &&
	stock -C core.git config --add pack.islandCore nosuch &&
	"$GIT" -C core.git repack -adqi 2>err &&
	grep "^warning: pack.islandCore: no ref is in the island .nosuch." err
'

test_expect_success 'repack.useDeltaIslands, and --no-delta-islands' '
	cp -R base.git key.git &&
	cp net.git/config key.git/config &&
	"$GIT" -C key.git repack -adq &&
	test $(recompressed key.git refs/virtual/1/) -gt 0 &&
	stock -C key.git config repack.useDeltaIslands true &&
	"$GIT" -C key.git repack -adq --no-delta-islands &&
	test $(recompressed key.git refs/virtual/1/) -gt 0 &&
	"$GIT" -C key.git repack -adq &&
	test $(recompressed key.git refs/virtual/1/) = 0
'

test_expect_success 'pack-objects --delta-islands' '
	cp -R base.git made.git &&
	cp net.git/config made.git/config &&
	echo --all | "$GIT" -C made.git pack-objects --revs -q \
		--delta-islands --delta-base-offset "$PWD/made" >name &&
	rm -f made.git/objects/pack/* &&
	cp made-$(cat name).* made.git/objects/pack/ &&
	for f in $(seq 1 $FORKS)
	do
		test $(recompressed made.git refs/virtual/$f/) = 0 || return
	done
'

test_expect_success 'a bad pattern is an error that names it' '
	cp -R base.git bad.git &&
	stock -C bad.git config pack.island "refs/(" &&
	test_expect_code 128 "$GIT" -C bad.git repack -adiq 2>err &&
	grep "refs/(" err &&
	stock -C bad.git fsck
'

test_done
