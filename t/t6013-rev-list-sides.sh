#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='rev-list: symmetric differences, sides, numbers of parents'
. "$(dirname "$0")/lib.sh"

same () {
	"$GIT" -C $repo rev-list "$@" >actual 2>actual.err
	code=$?
	stock -C $repo rev-list "$@" >expect 2>expect.err
	test $? -eq $code &&
	test_cmp expect actual && test_cmp expect.err actual.err
}

test_expect_success 'setup' '
	repo_criss_cross criss.git 12 &&
	repo_octopus octopus.git 5 &&
	repo_tags criss.git
'

for args in main...side side...main main~3...side~5 main...main \
	main~4...main ...side side... "main...side ^main~6" \
	"main~2...side~2 side~1...main~5" "--not main~5...side~5 --not main"
do
	test_expect_success "$args" '
		repo=criss.git &&
		same $args &&
		same --objects $args &&
		same --count --objects $args &&
		same --left-right $args &&
		same --left-right --count $args &&
		same --left-only $args &&
		same --right-only --count $args &&
		same --left-right --boundary --parents $args &&
		same --left-right $args -- file-1 &&
		printf "%s\n" $args | grep -v "^--" >revs &&
		"$GIT" -C $repo rev-list --left-right --stdin <revs >actual &&
		stock -C $repo rev-list --left-right --stdin <revs >expect &&
		test_cmp expect actual
	'
done

for args in --merges --no-merges --min-parents=3 --max-parents=0 \
	"--min-parents=1 --max-parents=1" "--merges --no-min-parents" \
	"--no-merges --no-max-parents" --max-parents=-1 \
	"--no-merges --skip 2 --max-count 4" "--merges --reverse"
do
	test_expect_success "$args" '
		for repo in criss.git octopus.git
		do
			same $args main &&
			same $args --all &&
			same $args --count --all &&
			same $args --objects main~1..main ||
			return 1
		done
	'
done

test_expect_success 'bitmaps do not know sides' '
	repo=criss.git &&
	stock -C $repo repack -adbq &&
	for args in "--left-right --count main...side" "--merges --count main" \
		"--count main...side"
	do
		"$GIT" -C $repo rev-list --use-bitmap-index $args >actual &&
		stock -C $repo rev-list $args >expect &&
		test_cmp expect actual || return 1
	done
'

test_expect_success 'options that exclude each other' '
	repo=criss.git &&
	test_expect_code 128 "$GIT" -C $repo rev-list --left-only --right-only \
		main 2>err &&
	grep "right-only. and .--left-only. cannot be used together" err &&
	test_expect_code 128 "$GIT" -C $repo rev-list --left-right --count \
		--objects main 2>err &&
	grep "marked counting and .--objects. cannot be used together" err &&
	test_expect_code 128 "$GIT" -C $repo rev-list --max-parents=x main 2>err &&
	grep ".x.: not an integer" err &&
	test_expect_code 128 git_alone -C $repo rev-list --left-only main -- x \
		2>err &&
	grep "is not supported yet" err &&
	for dashes in "" --
	do
		test_expect_code 128 "$GIT" -C $repo rev-list \
			main^{tree}...side $dashes 2>err &&
		grep "is a tree, not a commit" err &&
		grep "^fatal: Invalid symmetric difference expression main" \
			err || return 1
	done
'

test_done
