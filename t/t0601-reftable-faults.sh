#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='reftables when commands are interrupted

At each call that changes the disk, the command is ended, power fails, or the
disk fails or is full. Then all refs and reflogs have their old values, or all
have their new ones. The next run of the command succeeds.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-fault.sh"

GIT_COMMITTER_NAME=C GIT_COMMITTER_EMAIL=c@example.com
export GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL

# The stack has two tables. The change adds a third table, which is merged with
# the second.
test_expect_success 'a repository with a stack' '
	repo_linear src.git 4 &&
	three=$(stock -C src.git rev-parse main~3) &&
	two=$(stock -C src.git rev-parse main~2) &&
	"$GIT" init -q --bare --ref-format=reftable -b main good.git &&
	rm -r good.git/hooks &&
	cp -R src.git/objects/. good.git/objects/ &&
	(
		cd good.git &&
		printf "[core]\nlogAllRefUpdates = true\n" >>config &&
		for n in $(seq 1 60)
		do
			echo "create refs/tags/t$n $three"
		done >../tags &&
		"$GIT" update-ref --stdin <../tags &&
		printf "create refs/heads/main $two
			create refs/heads/a $two
			create refs/heads/gone $two\n" | tr -d "\t" |
			"$GIT" update-ref --stdin &&
		"$GIT" update-ref refs/heads/a $three
	) &&
	cat >changes <<-EOC &&
	update refs/heads/a $two $three
	create refs/heads/b/c $two
	delete refs/heads/gone $two
	EOC
	"$GIT" -C good.git for-each-ref >old &&
	test_line_count 2 good.git/reftable/tables.list &&
	cp -R good.git new.git &&
	"$GIT" -C new.git update-ref --stdin <changes &&
	"$GIT" -C new.git for-each-ref >new &&
	tail -n 1 good.git/reftable/tables.list >top &&
	! grep -f top new.git/reftable/tables.list
'

fresh () {
	rm -rf r.git && cp -R good.git r.git
}

# has_ended <mode>: after a kill or a loss of power, the command must have been
# killed. After another fault, it must have succeeded or reported an error, and
# no temporary file or lock may be left.
has_ended () {
	find r.git -name "tmp_*" -o -name "*.lock" >left &&
	if test -n "$fault_over"
	then
		test_must_be_empty left
	else
		case $1 in
		lose) test $fault_code -eq 137 ;;
		term) test $fault_code -eq 143 && test_must_be_empty left ;;
		# A file that cannot be removed stays. Merging tables may fail
		# without an error.
		EIO) { test $fault_code -eq 0 || fault_said; } ;;
		*) { test $fault_code -eq 0 || fault_said; } &&
			test_must_be_empty left ;;
		esac
	fi
}

unlock () {
	find r.git -name "*.lock" -exec rm -f {} +
}

is_old_or_new () {
	has_ended "$1" &&
	"$GIT" -C r.git fsck >fsck 2>&1 &&
	"$GIT" -C r.git for-each-ref >now &&
	{ cmp -s now old || test_cmp new now; } &&
	if test $fault_code -eq 0
	then
		test_cmp new now
	fi &&
	unlock &&
	if cmp -s now old
	then
		"$GIT" -C r.git update-ref --stdin <changes &&
		"$GIT" -C r.git for-each-ref >now &&
		test_cmp new now
	fi &&
	is_packed
}

# Packing must not change the refs. It must remove tables that are in no list,
# after the next update has used their update indexes.
is_packed () {
	"$GIT" -C r.git update-ref refs/tags/next $three &&
	"$GIT" -C r.git for-each-ref >before &&
	"$GIT" -C r.git pack-refs &&
	"$GIT" -C r.git for-each-ref >after &&
	test_cmp before after &&
	test $(ls r.git/reftable/*.ref | wc -l) -eq 1
}

for mode in lose term EIO ENOSPC
do
	test_expect_success "update-ref --stdin: $mode at every call" "
		fault_in=changes &&
		fault_each $mode fresh \
			'$GIT -C r.git -c core.fsync=all update-ref --stdin' \
			'is_old_or_new $mode' &&
		fault_in=/dev/null
	"
done

is_packed_later () {
	has_ended "$1" &&
	"$GIT" -C r.git for-each-ref >now &&
	test_cmp old now &&
	unlock &&
	is_packed
}

for mode in lose term EIO ENOSPC
do
	test_expect_success "pack-refs: $mode at every call" "
		fault_each $mode fresh \
			'$GIT -C r.git -c core.fsync=all pack-refs' \
			'is_packed_later $mode'
	"
done

# entries <dir>: lists the entries of all reflogs.
entries () {
	"$GIT" -C $1 reflog list &&
	"$GIT" -C $1 reflog expire --all --expire=now --dry-run --verbose
}

test_expect_success 'a reflog without its oldest entry' '
	entries good.git >old.entries &&
	rm -rf new.git && cp -R good.git new.git &&
	"$GIT" -C new.git reflog delete --rewrite a@{1} &&
	entries new.git >new.entries &&
	! cmp -s old.entries new.entries
'

has_old_or_new_entries () {
	case ${fault_over:-$1} in
	lose|term) fault_exited "$1" ;;
	*) test $fault_code -eq 0 || grep "^error: .*[^: ]$" fault.err ;;
	esac &&
	"$GIT" -C r.git fsck >fsck 2>&1 &&
	"$GIT" -C r.git for-each-ref >now && test_cmp old now &&
	unlock && entries r.git >now.entries &&
	{ cmp -s now.entries old.entries ||
		test_cmp new.entries now.entries; } &&
	is_packed
}

for mode in lose term EIO ENOSPC
do
	test_expect_success "reflog delete: $mode at every call" "
		fault_each $mode fresh \
			'$GIT -C r.git -c core.fsync=all reflog delete --rewrite a@{1}' \
			'has_old_or_new_entries $mode'
	"
done

test_expect_success 'tables are removed after the list without them is durable' '
	fresh &&
	fault_run none:0 "$GIT" -C r.git -c core.fsync=all pack-refs &&
	test $fault_code -eq 0 &&
	sed "s,$(cd r.git && pwd -P)/,,g" fault.log >log &&
	grep -n "^rename .*tables.list$" log >renamed &&
	grep -n "^unlink .*ref$" log | head -n 1 >first &&
	test $(sed "s/:.*//" renamed) -lt $(sed "s/:.*//" first)
'

# This test shows that the tests above would notice a missing fsync.
test_expect_success 'without fsync a power failure may lose all refs' '
	test_must_fail fault_each lose fresh \
		"$GIT -C r.git -c core.fsync=none pack-refs" \
		"$GIT -C r.git for-each-ref >now 2>&1; test_cmp old now" \
		2>err &&
	grep "^lose at call" err
'

test_done
