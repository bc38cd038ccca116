#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='git commit-graph write when it ends in its midst

At each call that changes the disk: there is a commit-graph, the old one or the
new one, which stock Git finds right; the next write succeeds.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-fault.sh"

info=objects/info

test_expect_success 'repositories with a graph and a newer commit' '
	repo_linear single.git 4 &&
	rm -r single.git/hooks &&
	stock -C single.git repack -adq &&
	cp -R single.git chain.git &&
	stock -C single.git commit-graph write --reachable --no-progress &&
	stock -C chain.git commit-graph write --reachable --no-progress \
		--split &&
	for dir in single.git chain.git
	do
		commit=$(stock -C $dir commit-tree -p main -m more \
			main^{tree}) &&
		stock -C $dir update-ref refs/heads/main $commit || return 1
	done &&
	stock -C single.git rev-list --all >all
'

# fresh <from>
fresh () {
	rm -rf r.git && cp -R $1.git r.git
}

has_ended () {
	if test -n "$fault_over"
	then
		find r.git -name "tmp_*" -o -name "*.lock" >left &&
		test_must_be_empty left
	else
		case $1 in
		lose) test $fault_code -eq 137 ;;
		*) fault_said ;;
		esac
	fi
}

is_right () {
	stock -C r.git fsck --no-progress &&
	"$GIT" -C r.git commit-graph verify &&
	"$GIT" -C r.git rev-list --all >now &&
	test_cmp all now
}

# is_whole <mode> <options>...
is_whole () {
	has_ended "$1" && shift &&
	{
		test -e r.git/$info/commit-graph ||
		test -e r.git/$info/commit-graphs/commit-graph-chain
	} &&
	is_right &&
	find r.git -name "*.lock" -exec rm {} + &&
	"$GIT" -C r.git commit-graph write --reachable "$@" &&
	is_right &&
	stock -C r.git rev-list --all >now &&
	test_cmp all now
}

for mode in lose EIO
do
	for from in single chain
	do
		test_expect_success "one file over $from: $mode" "
			fault_each $mode 'fresh $from' \
				'$GIT -C r.git commit-graph write --reachable' \
				'is_whole $mode'
		"

		test_expect_success "a layer on $from: $mode" "
			fault_each $mode 'fresh $from' \
				'$GIT -C r.git commit-graph write --reachable --split=no-merge' \
				'is_whole $mode --split'
		"

		test "$mode$from" != EIOsingle &&
		test_expect_success "merge with $from: $mode" "
			fault_each $mode 'fresh $from' \
				'$GIT -C r.git commit-graph write --reachable --split=replace' \
				'is_whole $mode --split=no-merge'
		"
	done
done

test_done
