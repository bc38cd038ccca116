#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='chains of multi-pack-indexes when a command ends in its midst

At each call that changes the disk: the chain is the old one or the new one, or
there is none; stock Git finds the repository whole and all that was reachable;
what the chain says is right; the next write succeeds.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-fault.sh"

chain=objects/pack/multi-pack-index.d/multi-pack-index-chain

# grow <dir>: one commit and one pack more
grow () {
	commit=$(stock -C $1 commit-tree -p main -m more main^{tree}) &&
	stock -C $1 update-ref refs/heads/main $commit &&
	stock -C $1 repack -dq
}

test_expect_success 'a repository with a chain of two layers, and a newer pack' '
	repo_linear good.git 3 &&
	rm -r good.git/hooks &&
	for layer in 1 2
	do
		stock -C good.git repack -dq &&
		git -C good.git multi-pack-index write --incremental --bitmap &&
		test_tick && grow good.git || return 1
	done &&
	test_line_count 2 good.git/$chain &&
	git -C good.git multi-pack-index verify &&
	stock -C good.git rev-list --objects --all >all &&
	wc -l <all >all.nr
'

fresh () {
	rm -rf r.git && cp -R good.git r.git
}

is_right () {
	stock -C r.git fsck --full >fsck 2>&1 &&
	git -C r.git multi-pack-index verify &&
	git -C r.git rev-list --count --objects --all --use-bitmap-index \
		>now 2>warned &&
	test_cmp all.nr now &&
	test_must_be_empty warned &&
	git -C r.git fsck --no-dangling
}

# is_whole <mode>
is_whole () {
	fault_exited "$1" &&
	is_right &&
	find r.git -name "*.lock" -exec rm {} + &&
	git -C r.git multi-pack-index --no-progress write --incremental \
		--bitmap &&
	is_right &&
	stock -C r.git rev-list --objects --all >now &&
	test_cmp all now
}

test_expect_success 'the layers of the chain by name' '
	from=$(sed -n 1p good.git/$chain) && to=$(sed -n 2p good.git/$chain) &&
	fault_step=$(fault_thin 2)
'

for mode in lose EIO
do
	test_expect_success "write --incremental: $mode" "
		fault_each $mode fresh \
			'$GIT -C r.git multi-pack-index write --incremental --bitmap' \
			'is_whole $mode'
	"

	test_expect_success "one file instead of the chain: $mode" "
		fault_each $mode fresh \
			'$GIT -C r.git multi-pack-index write --bitmap' \
			'is_whole $mode'
	"

	test_expect_success "compact: $mode" "
		fault_each $mode fresh \
			\"$GIT -C r.git multi-pack-index compact \$from \$to\" \
			'is_whole $mode'
	"

	test_expect_success "repack -d --write-midx=incremental: $mode" "
		fault_each $mode fresh \
			'$GIT -C r.git repack -d --geometric=2 --write-midx=incremental --write-bitmap-index' \
			'is_whole $mode'
	"
done

test_done
