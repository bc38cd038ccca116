#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='maintenance run when it, or what it starts, ends in its midst

At each call that changes the disk, of any of the processes: stock Git finds the
repository whole and all that was reachable; without the locks that are left,
the next run does all there is to do.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-fault.sh"

test_expect_success 'a repository with something for every task' '
	repo_linear good.git 4 &&
	rm -r good.git/hooks &&
	stock -C good.git config core.logAllRefUpdates true &&
	stock -C good.git repack -dq &&
	stock -C good.git commit-graph write --reachable --split \
		--no-progress &&
	for i in 1 2
	do
		commit=$(stock -C good.git commit-tree -p main -m $i \
			main^{tree}) &&
		stock -C good.git update-ref refs/heads/main $commit &&
		stock -C good.git repack -dq || return 1
	done &&
	commit=$(stock -C good.git commit-tree -p main -m loose main^{tree}) &&
	stock -C good.git update-ref refs/heads/side $commit &&
	echo unreachable | stock -C good.git hash-object -w --stdin &&
	stock -C good.git rev-list --objects --all --reflog >all
'

fresh () {
	rm -rf r.git && cp -R good.git r.git
}

is_right () {
	stock -C r.git fsck --no-dangling >fsck 2>&1 &&
	git -C r.git fsck --no-dangling 2>fsck &&
	stock -C r.git rev-list --objects --all --reflog >now &&
	test_cmp_sorted all now
}

# is_whole <options>
is_whole () {
	is_right &&
	find r.git -name "*.lock" -exec rm {} + &&
	git -C r.git maintenance run --quiet "$@" &&
	is_right
}


for mode in kill EIO
do
	test_expect_success "all tasks: $mode" "
		fault_step=$(fault_thin 7) &&
		fault_each $mode fresh \
			'$GIT -C r.git maintenance run --quiet' \
			'is_whole'
	"

	test_expect_success "loose-objects, incremental-repack: $mode" "
		fault_step=$(fault_thin 5) &&
		fault_each $mode fresh \
			'$GIT -C r.git maintenance run --quiet --task=loose-objects --task=incremental-repack' \
			'is_whole --task=loose-objects --task=incremental-repack'
	"
done

test_done
