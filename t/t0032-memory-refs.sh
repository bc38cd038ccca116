#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='refs are read and packed when memory runs out

Each request for memory fails once, one after the other.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-memory.sh"

test_expect_success 'refs in files, and in reftables' '
	memory_repo files.git &&
	for root in A_HEAD B_HEAD ORIG_HEAD
	do
		"$git" -C files.git update-ref $root HEAD || return 1
	done &&
	cp -R files.git table.git &&
	"$git" -C table.git refs migrate --ref-format=reftable
'

for repo in files.git table.git
do
	test_expect_success "refs of $repo" '
		each_request "$git" -C $repo for-each-ref &&
		each_request "$git" -C $repo for-each-ref --include-root-refs &&
		each_request "$git" -C $repo show-ref --head -d &&
		each_request "$git" -C $repo pack-refs --all
	'
done

test_done
