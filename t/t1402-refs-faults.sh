#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='update-ref and pack-refs that are interrupted

At each call that changes the disk, the command is killed, power fails, or the
disk fails or is full. Then each ref has its old value or its new one, never an
older value that packed-refs still had. The next run of the command succeeds.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-fault.sh"

# There are packed refs, loose refs, and packed refs with a newer loose value.
# Of each kind, one ref is deleted.
test_expect_success 'a repository with refs of all kinds' '
	repo_linear good.git 4 &&
	rm -r good.git/hooks &&
	(
		cd good.git &&
		stock config core.logAllRefUpdates true &&
		stock tag -m "a tag" v1 main &&
		for ref in packed both gone-packed gone-both
		do
			stock update-ref refs/heads/$ref main~3 || exit 1
		done &&
		stock pack-refs --all &&
		for ref in both gone-both loose deep/gone-loose
		do
			stock update-ref refs/heads/$ref main~2 || exit 1
		done &&
		stock tag -m "another tag" v2 main~1
	) &&
	one=$(stock -C good.git rev-parse main~1) &&
	two=$(stock -C good.git rev-parse main~2) &&
	three=$(stock -C good.git rev-parse main~3) &&
	cat >changes <<-EOC
	update refs/heads/packed $one $three
	update refs/heads/both $one $two
	update refs/heads/loose $one $two
	create refs/heads/new $one
	create refs/heads/new.d/deep/er $one
	delete refs/heads/gone-packed $three
	delete refs/heads/gone-both $two
	delete refs/heads/deep/gone-loose $two
	EOC
	stock -C good.git for-each-ref --format="%(refname) %(objectname)" \
		>old &&
	cp -R good.git new.git &&
	stock -C new.git update-ref --stdin <changes &&
	stock -C new.git for-each-ref --format="%(refname) %(objectname)" \
		>new &&
	cat old new | sort -u >old-or-new
'

fresh () {
	rm -rf r.git && cp -R good.git r.git
}

refs_of () {
	stock -C r.git for-each-ref --format="%(refname) %(objectname)" >now
}

is_sound () {
	stock -C r.git fsck --full >fsck 2>&1 || {
		cat fsck >&2
		return 1
	}
}

list_leftovers () {
	find r.git -name "tmp_*" -o -name "*.lock" -o -name "*.new" >"$1"
}

# Remove the locks, as the error message after a killed command advises.
unlock () {
	while read -r file
	do
		rm -f "$file"
	done <left
}

# each_old_or_new: each ref must have its old value or its new value. Refs that
# are not deleted must exist.
each_old_or_new () {
	refs_of &&
	comm -23 now old-or-new >third &&
	test_must_be_empty third &&
	sed "s/ .*//" now >names &&
	for ref in packed both loose main
	do
		grep "^refs/heads/$ref$" names >"/dev/null" || {
			echo "$ref is lost" >&2
			return 1
		}
	done &&
	"$GIT" -C r.git for-each-ref --format="%(refname) %(objectname)" \
		>ours &&
	test_cmp now ours
}

# Make the same changes again, even if some of them were made already.
is_updated_again () {
	unlock &&
	sed "s/^create/update/; s/^\([a-z]* [^ ]* [0-9a-f]*\) .*/\1/
		s/^\(delete [^ ]*\) .*/\1/" changes |
		"$GIT" -C r.git update-ref --stdin &&
	refs_of &&
	test_cmp new now
}

# If the disk is full, no ref may have changed. The exception is a disk that has
# no room for a new name.
is_unchanged () {
	test "$1" != ENOSPC || grep "cannot rename" fault.err >"/dev/null" || {
		test_cmp old now &&
		diff -r good.git/logs r.git/logs
	}
}

is_old_or_new () {
	list_leftovers left &&
	fault_ended "$1" left &&
	is_sound &&
	each_old_or_new &&
	{ test $fault_code -eq 0 || is_unchanged "$1"; } &&
	if test $fault_code -eq 0
	then
		test_cmp new now
	fi &&
	is_updated_again
}

for mode in lose EIO ENOSPC
do
	test_expect_success "update-ref --stdin: $mode" "
		fault_in=changes &&
		fault_step=$(test $mode = lose && echo 1 || fault_thin 3) &&
		fault_each $mode fresh \
			'$GIT -C r.git -c core.fsync=all update-ref --stdin' \
			'is_old_or_new $mode' &&
		fault_in=/dev/null
	"
done

# number_of <pattern>: the number of the call in fault.log that matches
number_of () {
	grep -n "$1" fault.log >found &&
	test_line_count 1 found &&
	sed "s/:.*//" found
}

test_expect_success 'reflogs of deleted refs are removed under the locks' '
	fresh &&
	fault_in=changes &&
	fault_run none:0 "$GIT" -C r.git update-ref --stdin &&
	fault_in=/dev/null &&
	test $fault_code -eq 0 &&
	logs=$(grep -n "^unlink .*/logs/" fault.log | sed "s/:.*//" |
		tail -n 1) &&
	locks=$(grep -n "^unlink .*/refs/heads/gone.*\.lock$" fault.log |
		sed "s/:.*//" | head -n 1) &&
	test $(number_of "^unlink .*logs/refs/heads/gone-packed$") -le $logs &&
	test $logs -lt $(number_of "^rename .* .*/packed-refs$") &&
	test $logs -lt $(number_of "^unlink .*r.git/refs/heads/gone-both$") &&
	test $logs -lt $locks
'

test_expect_success 'a reflog that cannot be removed does not stop a deletion' '
	fresh &&
	fault_in=changes &&
	fault_run none:0 "$GIT" -C r.git update-ref --stdin &&
	nr=$(number_of "^unlink .*/logs/refs/heads/gone-both$") &&
	fresh &&
	fault_run EIO:$nr "$GIT" -C r.git update-ref --stdin &&
	fault_in=/dev/null &&
	test $fault_code -eq 0 &&
	grep "^warning: unable to unlink .logs/refs/heads/gone-both.:" \
		fault.err >said &&
	test_cmp said fault.err &&
	refs_of &&
	test_cmp new now &&
	test -f r.git/logs/refs/heads/gone-both &&
	! test -e r.git/logs/refs/heads/gone-packed
'

# As with stock Git, the administrator of the server gets the warning, and the
# client does not.
test_expect_success 'a push deletes a ref whose reflog cannot be removed' '
	cat >receive <<-EOF &&
	FAULT=\$(cat "$PWD/fault") FAULT_COUNT="$PWD/fault.count"
	FAULT_LOG="$PWD/fault.log" LD_PRELOAD="$FAULT_LIBRARY"
	export FAULT FAULT_COUNT FAULT_LOG LD_PRELOAD
	exec "$GIT" receive-pack "\$@" 2>"$PWD/fault.err"
	EOF
	for fault in none:0 EIO
	do
		fresh &&
		test $fault = none:0 ||
		fault=EIO:$(number_of "^unlink .*/logs/refs/heads/gone-both$") ||
		return 1
		echo $fault >fault && rm -f fault.log &&
		printf "\0\0\0\0\0\0\0\0" >fault.count &&
		stock -C good.git push --receive-pack="sh \"$PWD/receive\"" \
			"$PWD/r.git" :refs/heads/gone-both \
			:refs/heads/gone-packed 2>told || return 1
	done &&
	grep "^warning: unable to unlink .*gone-both.: Input/output error$" \
		fault.err &&
	! grep "remote:" told &&
	test_must_fail stock -C r.git rev-parse --verify -q \
		refs/heads/gone-both &&
	test_must_fail stock -C r.git rev-parse --verify -q \
		refs/heads/gone-packed
'

test_expect_success 'after a failed rename no reflog has the entry' '
	fresh &&
	{
		cat changes &&
		echo "update refs/heads/main $one"
	} >more &&
	fault_in=more &&
	fault_run none:0 "$GIT" -C r.git update-ref --stdin &&
	nr=$(number_of "^rename .* .*/refs/heads/main$") &&
	fresh &&
	fault_run EIO:$nr "$GIT" -C r.git update-ref --stdin &&
	fault_in=/dev/null &&
	test $fault_code -eq 128 &&
	test "$(stock -C r.git rev-parse main)" = \
		"$(stock -C good.git rev-parse main)" &&
	test "$(stock -C r.git rev-parse loose)" = $one &&
	! test -e r.git/logs/HEAD &&
	! test -e r.git/logs/refs/heads/main &&
	cmp good.git/logs/refs/heads/packed r.git/logs/refs/heads/packed &&
	test "$(stock -C r.git rev-parse loose@{0})" = $one &&
	! test -e r.git/logs/refs/heads/new &&
	list_leftovers left &&
	test_must_be_empty left
'

test_expect_success 'an empty directory at the path of a ref is removed late' '
	fresh &&
	mkdir r.git/hooks &&
	cat >r.git/hooks/reference-transaction <<-\EOF &&
	#!/bin/sh
	test "$1" != prepared || mkdir -p refs/heads/new/a/b
	EOF
	chmod +x r.git/hooks/reference-transaction &&
	"$GIT" -C r.git update-ref --stdin <changes &&
	refs_of &&
	test_cmp new now
'

# Packing must not change any value.
is_packed () {
	list_leftovers left &&
	fault_ended "$1" left &&
	is_sound &&
	refs_of &&
	test_cmp old now &&
	unlock &&
	"$GIT" -C r.git pack-refs --all &&
	refs_of &&
	test_cmp old now &&
	test -z "$(find r.git/refs -type f)"
}

for mode in lose EIO ENOSPC
do
	test_expect_success "pack-refs --all: $mode" "
		fault_step=$(test $mode = lose && echo 1 || fault_thin 3) &&
		fault_each $mode fresh '$GIT -C r.git pack-refs --all' \
			'is_packed $mode'
	"
done

test_expect_success 'packed-refs is durable before a loose ref is removed' '
	fresh &&
	fault_run none:0 "$GIT" -C r.git pack-refs --all &&
	test $fault_code -eq 0 &&
	sed "s,$(cd r.git && pwd -P)/,,g" fault.log >log &&
	grep -n "^rename .* packed-refs$" log >renamed &&
	grep -n "^unlink refs/" log | head -n 1 >first &&
	test $(sed "s/:.*//" renamed) -lt $(sed "s/:.*//" first)
'

# On ext4, a new file for each lock makes packing slow. Another process holds the
# lock of many5. New lock files are made for many1, which follows a ref of another
# directory, and for many6.
test_expect_success 'pack-refs renames its lock file from one ref to the next' '
	fresh &&
	stock -C r.git update-ref refs/heads/m/1 main &&
	for nr in 1 2 3 4 5 6 7 8 9
	do
		stock -C r.git update-ref refs/heads/many$nr main || return 1
	done &&
	refs_of && mv now before &&
	: >r.git/refs/heads/many5.lock &&
	fault_run none:0 "$GIT" -C r.git pack-refs --all &&
	test $fault_code -eq 0 &&
	rm r.git/refs/heads/many5.lock &&
	grep "refs/heads/many5.lock" fault.err &&
	refs_of &&
	test_cmp before now &&
	find r.git/refs -type f >loose &&
	echo r.git/refs/heads/many5 >want &&
	test_cmp want loose &&
	find r.git/refs -type d | sort >left &&
	printf "%s\n" r.git/refs r.git/refs/heads r.git/refs/tags >want &&
	test_cmp want left &&
	grep "^rename .*/many1.lock .*/many2.lock$" fault.log &&
	grep "^create .*/many[0-9].lock$" fault.log | grep -v many5 >made &&
	test_line_count 2 made
'

# This test shows that the tests above would notice a missing fsync.
test_expect_success 'without fsync a power failure may lose all refs' '
	fault_step=1 &&
	test_must_fail fault_each lose fresh \
		"$GIT -C r.git -c core.fsync=none pack-refs --all" \
		"is_sound && refs_of && test_cmp old now" 2>err &&
	grep "^lose at call" err
'

test_done
