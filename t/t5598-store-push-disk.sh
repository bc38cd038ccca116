#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='pushes into a local copy on a disk that fails

After each fault, an acknowledged push is in the store, each other one is there
completely or not at all, and the next push through the same copy succeeds. (A loss of
power makes a copy anew, see t/unit/test-copies-copy.c.)'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-fault.sh"

# The words of a command have no blanks; the working directory has one.
base=$(mktemp -d "${TMPDIR:-/tmp}/gitreach-push-XXXXXX") || exit 1
trap 'rm -rf "$base"' EXIT
url=file://$base/store copy=$base/cache/repo/src.git/_

# request <old> <new> <file>: the bytes of a push of main
request () {
	printf "%s\n^%s\n" $2 $1 >revs &&
	{
		printf "%s %s refs/heads/main\0 report-status" $1 $2 >line &&
		printf "%04x" $(($(wc -c <line) + 4)) && cat line &&
		printf 0000 &&
		stock -C work.git pack-objects --revs --stdout <revs 2>/dev/null
	} >"$3"
}

test_expect_success 'setup' '
	repo_linear work.git 3 &&
	one=$(stock -C work.git rev-parse main~1) &&
	two=$(stock -C work.git rev-parse main) &&
	stock clone -q --bare work.git src.git &&
	stock -C src.git update-ref refs/heads/main $one &&
	stock -C src.git repack -adq && stock -C src.git prune &&
	"$GIT" store import src.git $url &&
	"$GIT" store fetch --cache="$base/cache" $url &&
	cp -a "$base/store" "$base/store.0" && cp -a "$base/cache" "$base/cache.0" &&
	request $one $two push && fault_in=push
'

again () {
	rm -rf "$base/store" "$base/cache" &&
	cp -a "$base/store.0" "$base/store" && cp -a "$base/cache.0" "$base/cache"
}

# main_of: the value of main in the store
main_of () {
	rm -rf "$base/out.git" &&
	"$GIT" store export $url src.git "$base/out.git" &&
	stock -C "$base/out.git" fsck --full >fsck.out 2>&1 &&
	stock -C "$base/out.git" rev-parse main
}

pushed () {
	now=$(main_of) || return
	if grep -a "^[0-9a-f]*ok refs/heads/main" fault.out >/dev/null
	then
		test $now = $two || return
	else
		test $now = $one || test $now = $two || return
	fi
	# The same push again: it succeeds, or has been made.
	"$GIT" receive-pack --stateless-rpc "$copy" <push >second 2>second.err
	test "$(main_of)" = $two && "$GIT" -C "$copy" fsck --full >fsck.out 2>&1 &&
	test "$("$GIT" -C "$copy" rev-parse main)" = $two
}

# After a power loss, the copy is made anew. A file in the cache must have its content
# then, if it has its name. A file without a name is downloaded again.
test_expect_success 'only the content of three files is synced' '
	again && fault_run none "$GIT" receive-pack --stateless-rpc "$copy" &&
	grep -a "^[0-9a-f]*ok refs/heads/main" fault.out &&
	sed -n "s,^fsync $base/cache/.*/tmp_\([a-z]*\)_.*,\1,p" fault.log |
		sort >synced &&
	printf "%s\n" idx pack rev >expect && test_cmp expect synced &&
	grep "^fsync $base/cache/" fault.log >all && test_line_count 3 all
'

for mode in kill EIO ENOSPC
do
	test_expect_success "push: $mode" '
		fault_step=$(fault_thin 11) &&
		fault_each '$mode' again \
			"$GIT receive-pack --stateless-rpc $copy" pushed
	'
done

test_done
