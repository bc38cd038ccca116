#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='pushes and repacks when the disk of the repository is full

Each command runs on a small file system, and again on one with a little more
free space, until it succeeds. A command that fails must print the reason, report
the refs as they are, and leave no unfinished file. The same command must then
succeed on a file system with enough space.'
. "$(dirname "$0")/lib-small-disk.sh"
. "$(dirname "$0")/lib.sh"
small_disk_or_skip

OURS=$(dirname "$GIT")/git-receive-pack
ZERO=0000000000000000000000000000000000000000

values_of () {
	git -C "$1" for-each-ref --format="%(objectname) %(refname)"
}

test_expect_success 'set up: a client, and a repository of each ref format' '
	repo_linear client.git 8 &&
	old=$(stock -C client.git rev-parse main~4) &&
	for format in files reftable
	do
		git init -q --bare --ref-format=$format $format.git &&
		rm -rf $format.git/hooks &&
		stock -C client.git push -q --receive-pack="$OURS" \
			../$format.git $old:refs/heads/main \
			$old:refs/heads/gone &&
		git -C $format.git pack-refs --all &&
		stock config -f $format.git/config \
			core.logAllRefUpdates true &&
		stock config -f $format.git/config receive.autogc false ||
			return
	done
'

test_push () {
	stock -C client.git push -q --receive-pack="$OURS" $options \
		"$PWD/disk/r.git" main main:refs/heads/new \
		main:refs/heads/dir/deep :refs/heads/gone >push.out 2>&1
}

# The refs are what the output of the push says: a new ref that was refused does
# not exist, and a deletion that was refused left the ref in place.
report_is_right () {
	values_of disk/r.git >now &&
	if grep "remote rejected.*dir/deep" push.out >/dev/null
	then
		! grep " refs/heads/dir/deep$\|^$new " now
	fi &&
	if grep "remote rejected.* gone" push.out >/dev/null
	then
		grep " refs/heads/gone$" now >/dev/null
	fi
}

# The client gets the reason without the path, and the server's log with it.
has_reason () {
	grep "^remote: error: .*: No space left on device" push.out &&
	grep "^error: .*$PWD/disk/r.git/.*: No space left on device" push.out
}

is_tidy () {
	find disk/r.git \( -name "tmp_*" -o -name "*.lock" -o -name "*.new" \
		-o -name "*.keep" -o -name ".tmp-*" \) >left &&
	test_must_be_empty left &&
	git -C disk/r.git fsck >fsck 2>&1 &&
	git -C disk/r.git refs verify
}

push_is_clean () {
	if test_push
	then
		small_over=yes
	else
		has_reason >"/dev/null" && report_is_right &&
		! grep -rs "$new" disk/r.git/logs &&
		roomy_disk && test_push
	fi &&
	is_tidy || { cat push.out >&2; return 1; }
}

request_is_clean () {
	"$OURS" --stateless-rpc disk/r.git <request >out 2>err &&
	values_of disk/r.git >now &&
	if grep -a "ok refs/heads/rpc" out >"/dev/null"
	then
		small_over=yes && grep "^$new refs/heads/rpc" now
	else
		grep -a "ng refs/heads/rpc \(unpacker error\|failed to update\)" \
			out >"/dev/null" &&
		grep -a "error: .*: No space left on device" out >"/dev/null" &&
		grep "error: .*/r.git/.*: No space left on device" err &&
		! grep $new now
	fi &&
	is_tidy
}

while read -r format limit options
do
	test_expect_success "full disk: a push to refs in $format, unpackLimit $limit${options:+, $options}" '
		new=$(stock -C client.git rev-parse main) &&
		small_from=$format.git &&
		stock config -f $format.git/config receive.unpackLimit $limit &&
		small_disk_each 0 4 400 push_is_clean
	'
done <<-EOC
files 1
files 1 --atomic
files 1000
reftable 1
reftable 1 --atomic
EOC

# An HTTP server runs receive-pack with --stateless-rpc.
test_expect_success 'full disk: a push with --stateless-rpc' '
	new=$(stock -C client.git rev-parse main) &&
	{
		first="$ZERO $new refs/heads/rpc" &&
		caps="report-status side-band-64k" &&
		printf "%04x%s\\0%s0000" $((${#first} + 5 + ${#caps})) \
			"$first" "$caps" &&
		printf "%s\n" $new ^$old |
			stock -C client.git pack-objects -q --revs --stdout
	} >request &&
	small_from=files.git &&
	small_disk_each 0 4 400 request_is_clean
'

# start_small: start gitreachd for a disk without free space. Sets $server and $url.
start_small () {
	"$GITREACH_BUILD/bin/gitreachd" --base-path=disk --export-all \
		--listen=http://127.0.0.1:0 --admin=http://127.0.0.1:0 2>log &
	server=$!
	wait_until grep "started: " log &&
	url=$(sed -n "s/.* listens on //p" log | head -n 1) &&
	small_used=$(df -Pk disk | awk 'NR == 2 { print $3 }') &&
	mount -o "remount,size=${small_used}k" disk
}

# has_counted <result>: whether the server has counted one push with this result
has_counted () {
	curl -s "$(sed -n "s/.* listens on \(.*\) (status)$/\1/p" log)/metrics" |
	grep "^gitreach_requests_total.*\"push\".*result=\"$1\"} 1$"
}

# The client gets a complete report over HTTP, so http-backend has succeeded. In the
# second round, the repository has the objects already, and the ref cannot be stored.
test_expect_success 'full disk: gitreachd counts a push that has failed' '
	stock config -f files.git/config http.receivePack true &&
	for ref in "" refs/heads/other
	do
		small_from=files.git && small_disk 400 &&
		if test -n "$ref"
		then
			stock -C client.git push -q "$PWD/disk/r.git" main:$ref
		fi &&
		start_small &&
		test_must_fail stock -C client.git push -q $url/r.git \
			main:refs/heads/http &&
		wait_until has_counted error &&
		roomy_disk &&
		stock -C client.git push -q $url/r.git main:refs/heads/http &&
		wait_until has_counted ok &&
		kill $server && wait $server || return 1
	done
'

test_expect_success 'set up: a repository of three packs and loose objects' '
	git init -q --bare packs.git &&
	for commit in main~6 main~3 main~1 main
	do
		git -C packs.git repack -dq &&
		stock -C client.git push -q ../packs.git \
			$commit:refs/heads/main || return
	done &&
	ls packs.git/objects/pack/*.idx >list && test_line_count 3 list &&
	ls packs.git/objects | grep "^..$" &&
	(cd packs.git && find . -type f ! -name packed-refs | sort) >before
'

# A command that fails leaves no new file and removes none. Files that match
# $may_stay are an exception: packs that were installed before the failure.
command_is_clean () {
	if git -C disk/r.git $words 2>err
	then
		small_over=yes
	else
		grep "^fatal: .*: No space left on device" err >"/dev/null" &&
		(cd disk/r.git && find . -type f ! -name packed-refs | sort) \
			>after &&
		comm -13 before after | grep -v "$may_stay" >more
		test_must_be_empty more &&
		comm -23 before after >gone && test_must_be_empty gone &&
		roomy_disk && git -C disk/r.git $words
	fi &&
	is_tidy || { cat err >&2; return 1; }
}

while read -r may_stay words
do
	test_expect_success "full disk: git $words" '
		small_from=packs.git &&
		small_disk_each 0 4 400 command_is_clean
	'
done <<-EOC
none pack-refs --all
none repack -adbq
/pack-.*[.]\(pack\|idx\|rev\)$ repack --geometric=2 -dq --write-midx --write-bitmap-index
none multi-pack-index write
none multi-pack-index write --bitmap
none multi-pack-index write --bitmap --incremental
none commit-graph write --reachable
none commit-graph write --reachable --split
EOC

test_done
