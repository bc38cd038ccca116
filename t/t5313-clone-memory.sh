#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a clone takes little memory besides the mapped files'
. "$(dirname "$0")/lib.sh"

# Bytes that no compression and no delta makes less.
blobs () {
	for i in $(seq 1 "$2")
	do
		printf 'commit refs/heads/%s\ncommitter A <a@example.com> %d +0000\n' \
			"$1" "$i" &&
		printf 'data 0\nM 100644 inline %s\ndata 2097152\n' "$1-$i" &&
		head -c 2097152 /dev/urandom &&
		echo || return 1
	done
}

test_expect_success 'a repository of 80 MiB' '
	{ blobs main 30 && blobs other 10; } | repo_import large.git &&
	git -C large.git repack -adbq &&
	test $(cat large.git/objects/pack/*.pack | wc -c) -gt 80000000
'

# Columns: job, ours CPU, first byte, memory, bytes; then those of stock Git.
test_expect_success 'one branch, and all, in no more than 64 MiB' '
	"$GITREACH_SRC/t/perf/serve" -n 1 "$GIT" large.git "$STOCK_GIT" \
		large.git branch all >report &&
	awk "/^(branch|all) / {
		rows++
		wrong += \$5 < 60000000 || \$4 > 64
	} END { exit rows != 2 || wrong }" report
'

test_done
