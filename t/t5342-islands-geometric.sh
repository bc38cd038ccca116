#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='delta islands, pack by pack: no pack that is made has a delta
that crosses them, whatever its objects were listed by'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-islands.sh"

FORKS=6

# A trunk in one pack, then a pack for each fork: they change the same files in
# ways of their own, so that one's are good bases for another's.
network () {
	for i in $(seq 1 60)
	do
		stream_commit main "$i" $((1112912000 + 60 * i)) \
			"file$((i % 5))" "$(seq $i $((400 + i)))"
	done | repo_import "$1" &&
	stock -C "$1" repack -adq &&
	for f in $(seq 1 $FORKS)
	do
		grow "$1" $f 1 $(stock -C "$1" rev-parse main~$((20 - f))) ||
			return
	done
}

# grow <repo> <fork> <round> [<from>]: five commits more, in a pack.
grow () {
	name=refs/virtual/$2/heads/main
	from=${4:-$(stock -C "$1" rev-parse $name)} &&
	for i in $(seq 1 5)
	do
		line=
		test $i != 1 || line="from $from"
		stream_commit f$2 $i $((1112990000 + 6000 * $3 + 600 * i + $2)) \
			"file$i" "$(seq $((100 * i)) $((100 * i + 300))
				echo "fork $2, round $3")" ${line:+"$line"}
	done | stock -C "$1" fast-import --quiet --date-format=raw --force &&
	stock -C "$1" update-ref $name refs/heads/f$2 &&
	stock -C "$1" update-ref -d refs/heads/f$2 &&
	stock -C "$1" repack -q
}

# crossing <repo>: how many deltas have a base that is not in all islands that
# they are in themselves, by what stock Git says of the repository.
crossing () {
	for name in main $(cd "$1" && stock for-each-ref \
		--format="%(refname)" refs/virtual/)
	do
		stock -C "$1" rev-list --objects --no-object-names $name |
			sed "s,$, $name,"
	done | LC_ALL=C sort >in &&
	for idx in "$1"/objects/pack/*.idx
	do
		stock verify-pack -v "$idx"
	done | awk 'NF == 7 { print $1, $7 }' | LC_ALL=C sort >deltas &&
	LC_ALL=C join in deltas | awk '{ print $3 " " $2 }' |
		LC_ALL=C sort -u >needed &&
	LC_ALL=C comm -23 needed in | wc -l
}

# No clone of a fork, or of the trunk, is made anew.
nothing_recompressed () {
	for f in $(seq 1 $FORKS)
	do
		test $(recompressed $1 refs/virtual/$f/) = 0 || return
	done &&
	test $(recompressed $1 refs/heads/) = 0
}

# fresh <repo>: a copy of the network.
fresh () {
	rm -rf $1 &&
	cp -R base.git $1
}

test_expect_success 'setup' '
	network base.git &&
	stock -C base.git symbolic-ref HEAD refs/heads/main &&
	stock -C base.git config --add pack.island "refs/heads/" &&
	stock -C base.git config --add pack.island "refs/virtual/([0-9]+)/" &&
	test $(ls base.git/objects/pack/*.pack | wc -l) = $((FORKS + 1))
'

test_expect_success 'stock Git crosses islands when it packs some packs' '
	fresh stock.git &&
	stock -C stock.git repack -dqi --geometric=2 &&
	test $(crossing stock.git) -gt 0
'

test_expect_success 'a geometric repack does not' '
	fresh ours.git &&
	"$GIT" -C ours.git repack -dqi --geometric=2 &&
	test $(ls ours.git/objects/pack/*.pack | wc -l) = 2 &&
	test $(crossing ours.git) = 0 &&
	stock -C ours.git fsck --full --strict
'

test_expect_success 'nor when deltas are made afresh, or loose objects are new' '
	for option in -f -F
	do
		fresh ours.git &&
		"$GIT" -C ours.git repack -dqi $option --geometric=2 &&
		test $(crossing ours.git) = 0 || return
	done &&
	fresh ours.git &&
	mv ours.git/objects/pack . &&
	mkdir ours.git/objects/pack &&
	for p in pack/*.pack
	do
		stock -C ours.git unpack-objects -q <$p || return
	done &&
	rm -rf pack &&
	"$GIT" -C ours.git repack -dqi --geometric=2 &&
	test $(crossing ours.git) = 0
'

test_expect_success 'deltas that cross islands in combined packs are replaced' '
	"$GIT" -C stock.git repack -dqi --geometric=2 >out &&
	test $(crossing stock.git) -gt 0 &&
	for f in $(seq 1 $FORKS)
	do
		grow stock.git $f 2 || return
	done &&
	stock -C stock.git repack -adq -F --no-write-bitmap-index \
		--keep-pack=$(ls -S stock.git/objects/pack |
			sed -n "/pack$/{p;q;}") &&
	test $(crossing stock.git) -gt 0 &&
	grow stock.git 3 3 &&
	grow stock.git 4 3 &&
	"$GIT" -C stock.git repack -dqi --geometric=5 &&
	test $(crossing stock.git) = 0 &&
	stock -C stock.git fsck --full --strict
'

test_expect_success 'with bitmaps over all packs, clones are copied' '
	fresh midx.git &&
	"$GIT" -C midx.git repack -dqi --geometric=2 --write-midx -b &&
	test $(ls midx.git/objects/pack/*.pack | wc -l) = 2 &&
	nothing_recompressed midx.git &&
	stock -C midx.git rev-list --test-bitmap main &&
	fresh theirs.git &&
	stock -C theirs.git repack -dqi --geometric=2 --write-midx -b &&
	! nothing_recompressed theirs.git
'

test_expect_success 'also when runs are copied from one pack only' '
	REUSE=single &&
	nothing_recompressed midx.git &&
	REUSE=multi
'

test_expect_success 'no later geometric repack crosses islands' '
	for round in 2 3 4 5
	do
		for f in 1 2 $round
		do
			grow midx.git $f $round || return
		done &&
		"$GIT" -C midx.git repack -dqi --geometric=2 --write-midx -b &&
		test $(crossing midx.git) = 0 &&
		nothing_recompressed midx.git || return
	done &&
	stock -C midx.git fsck --full --strict
'

test_expect_success 'pack-objects: packs, lists of objects, some revisions' '
	for how in --stdin-packs "" --revs
	do
		fresh some.git &&
		case "$how" in
		--stdin-packs)
			(cd some.git/objects/pack && ls *.pack) ;;
		--revs)
			stock -C some.git rev-parse main~8 \
				refs/virtual/3/heads/main ;;
		*)
			stock -C some.git rev-list --objects --all ;;
		esac >input &&
		"$GIT" -C some.git pack-objects $how --delta-islands -q \
			--no-reuse-delta "$PWD/made" <input >name &&
		mv made-$(cat name).* some.git/objects/pack/ &&
		test $(crossing some.git) = 0 || return
	done
'

test_expect_success 'a partial clone: local objects keep to their islands' '
	fresh part.git &&
	stock -C part.git config core.repositoryFormatVersion 1 &&
	stock -C part.git config extensions.partialClone origin &&
	stock -C part.git config remote.origin.promisor true &&
	pack=$(ls -S part.git/objects/pack/*.pack | head -n 1) &&
	: >${pack%.pack}.promisor &&
	stock -C part.git cat-file --batch-all-objects --batch-check >expect &&
	"$GIT" -C part.git repack -dqi --geometric=2 &&
	test -f $pack &&
	stock -C part.git cat-file --batch-all-objects --batch-check >actual &&
	test_cmp expect actual &&
	stock -C part.git fsck &&
	test $(crossing part.git) = 0
'

test_done
