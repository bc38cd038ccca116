#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='rev-list with and without a bitmap index, at the edges'
. "$(dirname "$0")/lib.sh"

# same_count <dir> <revs>...: stock Git, our walk, and our bitmaps agree.
same_count () {
	dir=$1 && shift &&
	stock -C "$dir" rev-list --objects --count "$@" >expect &&
	"$GIT" -C "$dir" rev-list --objects --count "$@" >walk &&
	"$GIT" -C "$dir" rev-list --objects --count --use-bitmap-index "$@" \
		>bitmap &&
	test_cmp expect walk &&
	test_cmp expect bitmap
}

test_expect_success 'history behind an excluded commit was collected' '
	repo_linear gone.git 5 &&
	"$GIT" -C gone.git repack -a -d -b -q &&
	parent=$(stock -C gone.git commit-tree -m parent \
		$(stock -C gone.git mktree <"/dev/null")) &&
	blob=$(echo have | stock -C gone.git hash-object -w --stdin) &&
	tree=$(printf "100644 blob %s\tf\n" $blob |
		stock -C gone.git mktree) &&
	have=$(stock -C gone.git commit-tree -m have -p $parent $tree) &&
	for lost in $parent $tree
	do
		same_count gone.git main ^$have &&
		rm gone.git/objects/$(echo $lost | sed "s|..|&/|") || return
	done &&
	same_count gone.git main ^$have
'

# A bitmap is for ever; the edge of a shallow history is not.
test_expect_success 'no bitmaps of a shallow history' '
	repo_linear deep.git 9 &&
	stock clone -q --bare --depth 2 "file://$PWD/deep.git" shallow.git &&
	"$GIT" -C shallow.git repack -a -d -b -q 2>err &&
	grep "^warning: disabling bitmap writing, as .* shallow" err &&
	test "$(echo shallow.git/objects/pack/*.bitmap)" = \
		"shallow.git/objects/pack/*.bitmap" &&
	"$GIT" -C shallow.git repack -a -d -q 2>err &&
	! test -s err &&
	stock -C shallow.git fetch -q --unshallow &&
	same_count shallow.git --all
'

test_expect_success 'setup for the table of arguments' '
	repo_linear table.git 12 &&
	repo_tags table.git &&
	stock -C table.git update-ref refs/heads/side main~3 &&
	"$GIT" -C table.git repack -a -d -b -q
'

test_expect_success '--test-bitmap takes one commit, and nothing else' '
	for args in "main side" "main ^side" "--all"
	do
		test_expect_code 128 stock -C table.git rev-list \
			--test-bitmap $args 2>expect &&
		test_expect_code 128 "$GIT" -C table.git rev-list \
			--test-bitmap $args 2>actual &&
		test_cmp expect actual || return 1
	done &&
	"$GIT" -C table.git rev-list --test-bitmap main 2>err &&
	grep OK err
'

# Both sides print the same.
for args in "main" "--objects --all" "--objects main~3..main" \
	"--objects main ^side" "--objects main^{tree}" "--count --objects main" \
	"-3 main" "-n 3 main" "-n3 --count main" "-n -1 main" "-n0 main" \
	"--skip=2 --max-count=3 main" "--skip=200 main" "--skip=-3 main" \
	"-3 --objects main" "-3 --reverse main" "--reverse --objects main" \
	"--not side --not main" "main --not side" "--branches" "--tags" \
	"--all --not main" "main ^main" "--count main ^main" "..side" \
	"--use-bitmap-index --count --objects main ^side" \
	"--use-bitmap-index --count --all" "--quiet --objects main" \
	"--objects --no-object-names main" "main --"
do
	test_expect_success "rev-list $args" "
		stock -C table.git rev-list $args >expect &&
		\"\$GIT\" -C table.git rev-list $args >actual &&
		test_cmp expect actual
	"
done

test_done
