#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='git store repack and git store gc that are killed, or on a disk that fails

After each fault, the newest generation is whole, and the next repack or collection
completes the work. t/t5594-generations-explore.sh has the same for a simulated store.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-fault.sh"

# The words of a command have no blanks; the working directory has one.
base=$(mktemp -d "${TMPDIR:-/tmp}/gitreach-store-XXXXXX") || exit 1
trap 'rm -rf "$base"' EXIT
mkdir "$base/tmp" && TMPDIR=$base/tmp && export TMPDIR
url=file://$base/store

# Of the four generations, three are older than the grace of a collection. The newest one
# has several packs.
test_expect_success 'setup: a repository with old generations' '
	repo_linear small.git 3 && repo_linear src.git 6 &&
	stock -C src.git repack -dq && repo_tags src.git && stock -C src.git repack -dq &&
	stock -C src.git update-ref refs/heads/loose main~2 &&
	for one in src small src small
	do
		"$GIT" store import --force --name=a.git $one.git $url || return
	done &&
	find "$base/store" -exec touch -h -d "3 days ago" {} + &&
	"$GIT" store import --force --name=a.git src.git $url &&
	stock -C src.git for-each-ref >refs &&
	stock -C src.git rev-list --objects --all | sort >objects &&
	cp -a "$base/store" saved
'

fresh () {
	rm -rf "$base/store" "$base/out.git" "$base"/tmp/* && cp -a saved "$base/store"
}

# The newest generation has the refs and objects of src.git, and all its files are right.
is_whole () {
	"$GIT" store verify --full $url >verified &&
	rm -rf "$base/out.git" && "$GIT" store export $url a.git "$base/out.git" &&
	stock -C "$base/out.git" fsck --full --strict >fsck.out 2>&1 &&
	stock -C "$base/out.git" for-each-ref >refs.now && test_cmp refs refs.now &&
	stock -C "$base/out.git" rev-list --objects --all | sort >objects.now &&
	test_cmp objects objects.now
}

# The next collection removes the rest of the old generations.
collected () {
	is_whole && "$GIT" store gc $url && is_whole &&
	"$GIT" store log $url a.git >log && grep "removed by git store gc" log &&
	"$GIT" store gc -n $url >again &&
	grep "would remove 0 files (0 bytes) and 0 records" again
}

# The command succeeded, was killed, or named the repository in its error.
collected_or_said () {
	test $fault_code = 0 || test $fault_code = 137 || grep "^error: a.git: " fault.err
}

# A killed repack leaves its lease.
repacked () {
	is_whole && "$GIT" store repack --force $url && is_whole &&
	test $(ls "$base"/out.git/objects/pack/*.pack | wc -l) = 1
}

test_expect_success 'without a fault' '
	fresh && collected && fresh && repacked
'

for mode in kill lose EIO ENOSPC
do
	test_expect_success "gc, $mode" "
		fault_each $mode fresh '$GIT store gc $url' \
			'collected_or_said && collected'
	"
done

# No file can get a byte, but files can be deleted. "git store log" shows what is left.
test_expect_success 'gc that can delete files but not write records' '
	fresh &&
	(trap "" XFSZ && ulimit -f 0 && "$GIT" store gc $url 2>&1) | cat >said &&
	grep "^a.git: removed [1-9]" said && grep "^error: a.git: " said &&
	"$GIT" store log $url a.git >log && grep "^generation 1$" log &&
	test_must_fail grep "removed by git store gc" log && collected
'

for mode in kill lose ENOSPC
do
	test_expect_success "repack, $mode" "
		fault_step=\$(fault_thin 31) &&
		fault_each $mode fresh '$GIT store repack --force $url' repacked
	"
done

test_done
