#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='git commit-graph: chains

Two copies of a repository go the same way, one written by stock Git: the same
files, byte for byte, after each step.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-meanwhile.sh"

info=objects/info

# grow <nr>: commits on main, in both.
grow () {
	for i in $(seq 1 "$1")
	do
		test_tick &&
		commit=$(stock -C a.git commit-tree -m "at $test_tick_now" \
			${tip:+-p $tip} $(stock -C a.git mktree </dev/null)) &&
		tip=$commit || return 1
	done &&
	stock -C a.git update-ref refs/heads/main $tip &&
	stock -C b.git fetch -q ../a.git main:main
}

# both <options>...: write in both, and compare what is there then.
both () {
	stock -C a.git commit-graph write --no-progress "$@" <in &&
	"$GIT" -C b.git commit-graph write "$@" <in &&
	same
}

same () {
	diff -r a.git/$info b.git/$info &&
	stock -C b.git commit-graph verify --no-progress &&
	"$GIT" -C b.git commit-graph verify
}

# Number of layers.
layers () {
	wc -l <b.git/$info/commit-graphs/commit-graph-chain
}

for REPO_FORMAT in sha1 sha256
do
	test_expect_success "empty repositories, $REPO_FORMAT" '
		rm -rf a.git b.git && tip= &&
		repo_init a.git && repo_init b.git && : >in
	'

	test_expect_success 'a first layer' '
		grow 12 && both --reachable --split && test $(layers) -eq 1
	'

	test_expect_success 'a second layer' '
		grow 4 && both --reachable --split && test $(layers) -eq 2
	'

	test_expect_success 'without new commits no layer is written' '
		both --reachable --split
	'

	test_expect_success 'merge with one layer, then with both' '
		grow 2 && both --reachable --split && test $(layers) -eq 1 &&
		grow 8 && both --reachable --split && test $(layers) -eq 2 &&
		grow 5 && both --reachable --split && test $(layers) -eq 1
	'

	test_expect_success '--split=no-merge' '
		for i in 1 2 3
		do
			grow 2 && both --reachable --split=no-merge || return 1
		done &&
		test $(layers) -eq 4
	'

	test_expect_success '--size-multiple, --max-commits' '
		grow 1 && both --reachable --split --size-multiple=1 &&
		grow 1 && both --reachable --split --size-multiple=1 \
			--max-commits=1 &&
		grow 1 && both --reachable --split --size-multiple=0 &&
		grow 12 && both --reachable --split --size-multiple=1 &&
		grow 4 && both --reachable --split --max-commits=3 &&
		test $(layers) -eq 1
	'

	test_expect_success '--split=replace' '
		grow 2 && both --reachable --split=no-merge &&
		stock -C a.git rev-parse main~3 >in &&
		both --stdin-commits --split=replace && test $(layers) -eq 1
	'

	test_expect_success '--append' '
		stock -C a.git rev-parse main~1 >in &&
		both --stdin-commits --append --split=no-merge &&
		test $(layers) -eq 2
	'

	test_expect_success 'a single file instead' '
		both --reachable && test -e b.git/$info/commit-graph &&
		! test -e b.git/$info/commit-graphs/commit-graph-chain
	'

	test_expect_success '--append to a single file' '
		stock -C a.git rev-parse main~5 >in &&
		both --stdin-commits &&
		stock -C a.git rev-parse main~2 >in &&
		both --stdin-commits --append
	'

	test_expect_success 'a single file becomes the lowest layer' '
		both --reachable && grow 2 &&
		both --reachable --split=no-merge && test $(layers) -eq 2 &&
		! test -e b.git/$info/commit-graph
	'

	test_expect_success 'unused layers are kept for a while' '
		grow 40 &&
		both --reachable --split --expire-time=2.days.ago &&
		test $(ls b.git/$info/commit-graphs/*.graph | wc -l) -eq 3 &&
		grow 2 &&
		both --reachable --split=no-merge &&
		test $(ls b.git/$info/commit-graphs/*.graph | wc -l) -eq 2
	'

	test_expect_success 'a single file leaves young layers for a while, too' '
		both --reachable --split && touch -d 2005-05-05 \
			a.git/$info/commit-graphs/*.graph \
			b.git/$info/commit-graphs/*.graph &&
		both --reachable --expire-time=2005-04-08 &&
		test $(ls b.git/$info/commit-graphs/*.graph | wc -l) -ge 1 &&
		both --reachable --expire-time=2005-06-08 &&
		! ls b.git/$info/commit-graphs/*.graph
	'

	test_expect_success 'corrected dates are written only on top of corrected dates' '
		rm -rf a.git/$info/commit-g* b.git/$info/commit-g* &&
		stock -C a.git config commitGraph.generationVersion 1 &&
		stock -C b.git config commitGraph.generationVersion 1 &&
		both --reachable --split &&
		stock -C a.git config --unset commitGraph.generationVersion &&
		stock -C b.git config --unset commitGraph.generationVersion &&
		grow 3 && both --reachable --split=no-merge &&
		! grep GDA2 b.git/$info/commit-graphs/*.graph &&
		both --reachable --split=replace &&
		grep GDA2 b.git/$info/commit-graphs/*.graph
	'

	test_expect_success 'filters in layers' '
		both --reachable --split=replace --changed-paths &&
		grow 3 && both --reachable --split=no-merge &&
		grow 40 && both --reachable --split &&
		grep BDAT b.git/$info/commit-graphs/*.graph
	'

	test_expect_success 'a fork on top of the chain of its alternate' '
		rm -rf fork-a.git fork-b.git &&
		for x in a b
		do
			stock clone -q --bare --shared $x.git fork-$x.git &&
			test_tick &&
			commit=$(stock -C fork-$x.git commit-tree -m fork \
				-p main main^{tree}) &&
			stock -C fork-$x.git update-ref refs/heads/main \
				$commit || return 1
			test_tick_now=$((test_tick_now - 60))
		done &&
		stock -C fork-a.git commit-graph write --no-progress \
			--reachable --split &&
		"$GIT" -C fork-b.git commit-graph write --reachable --split &&
		diff -r fork-a.git/$info/commit-graphs \
			fork-b.git/$info/commit-graphs &&
		test $(ls fork-b.git/$info/commit-graphs/*.graph | wc -l) \
			-eq 1 &&
		"$GIT" -C fork-b.git commit-graph verify &&
		"$GIT" -C fork-b.git rev-list main >ours &&
		stock -C fork-b.git -c core.commitGraph=false rev-list main \
			>theirs &&
		test_cmp theirs ours
	'

	test_expect_success 'if the alternate has another chain, a new chain is started' '
		"$GIT" -C b.git commit-graph write --reachable --split=replace &&
		"$GIT" -C fork-b.git commit-graph write --reachable --split &&
		stock -C fork-b.git commit-graph verify --no-progress &&
		"$GIT" -C fork-b.git commit-graph verify
	'
done

test_expect_success 'a removed commit is not merged' '
	REPO_FORMAT=sha1 && rm -rf a.git b.git && tip= &&
	repo_init a.git && repo_init b.git && : >in &&
	grow 5 && both --reachable --split && old=$tip && grow 1 &&
	both --reachable --split=no-merge && gone=$tip && tip=$old &&
	stock -C a.git update-ref refs/heads/main $old &&
	stock -C b.git update-ref refs/heads/main $old &&
	stock -C a.git prune --expire=now &&
	stock -C b.git prune --expire=now &&
	test_must_fail stock -C b.git cat-file -e $gone &&
	grow 3 && both --reachable --split && test $(layers) -eq 1
'

test_expect_success 'verify a chain, and its topmost layer only' '
	grow 2 && both --reachable --split=no-merge &&
	chain=b.git/$info/commit-graphs/commit-graph-chain &&
	low=b.git/$info/commit-graphs/graph-$(sed -n 1p $chain).graph &&
	cp $low good && chmod u+w $low &&
	printf X | dd of=$low bs=1 seek=1400 conv=notrunc &&
	test_expect_code 1 "$GIT" -C b.git commit-graph verify &&
	"$GIT" -C b.git commit-graph verify --shallow &&
	test_expect_code 16 "$GIT" -C b.git fsck &&
	rm -f $low && cp good $low &&
	echo 0123456789012345678901234567890123456789 >>$chain &&
	test_expect_code 1 "$GIT" -C b.git commit-graph verify 2>err &&
	grep "unable to find all commit-graph files" err &&
	grep "one or more commit-graph chain files could not be loaded" err &&
	"$GIT" -C b.git rev-list --all >ours &&
	stock -C b.git -c core.commitGraph=false rev-list --all >theirs &&
	test_cmp theirs ours
'

test_expect_success 'wrong usage' '
	test_expect_code 128 "$GIT" -C b.git commit-graph write --split=foo \
		2>err &&
	grep "unrecognized --split argument, foo" err &&
	test_expect_code 128 "$GIT" -C b.git commit-graph write --split \
		--expire-time=foo 2>err &&
	grep "malformed expiration date .foo." err
'

test_expect_success '--split= names no strategy' '
	test_expect_code 128 "$GIT" -C b.git commit-graph write --split= \
		2>err &&
	grep "unrecognized --split argument, " err
'

test_expect_success 'negative numbers are no limit' '
	for option in --max-commits=-1 --size-multiple=-1
	do
		"$GIT" -C b.git commit-graph write --reachable \
			--split=no-merge $option || return 1
	done
'

test_expect_success 'without commits, no directory is left behind' '
	"$GIT" init -q --bare none.git &&
	"$GIT" -C none.git commit-graph write --reachable --split &&
	! test -e none.git/objects/info/commit-graphs
'

test_expect_success 'another process holds the lock' '
	lock=b.git/$info/commit-graphs/commit-graph-chain.lock &&
	: >$lock && grow 1 &&
	test_expect_code 128 "$GIT" -C b.git commit-graph write --reachable \
		--split 2>err &&
	grep "Unable to create .*commit-graph-chain.lock.: File exists" err &&
	rm $lock
'

# The layers that the chain names must exist, also if a single file hides the chain.
check_layers () {
	for layer in $(cat b.git/$info/commit-graphs/commit-graph-chain)
	do
		test -e b.git/$info/commit-graphs/graph-$layer.graph || return
	done &&
	"$GIT" -C b.git commit-graph verify
}

test_expect_success 'a single file is written while another process adds a layer' '
	grow 1 && both --reachable --split=replace && grow 1 &&
	meanwhile "*/commit-graphs/tmp_graph_*" "git commit-graph write --reachable" \
		git -C b.git commit-graph write --reachable --split=no-merge &&
	test -e b.git/$info/commit-graph && check_layers &&
	git -C b.git commit-graph write --reachable &&
	! test -e b.git/$info/commit-graphs/commit-graph-chain
'

test_expect_success 'unused layers are removed while another process adds a layer' '
	grow 1 && git -C b.git commit-graph write --reachable --split &&
	new=$(stock -C b.git commit-tree -m new -p main main^{tree}) &&
	meanwhile "*/commit-graphs" "git update-ref refs/heads/more $new &&
		git commit-graph write --reachable --split=no-merge || :" \
		git -C b.git -c core.fsync=none commit-graph write --reachable \
		--split=replace &&
	check_layers
'

test_done
