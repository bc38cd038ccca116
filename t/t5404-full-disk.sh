#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='what an operator and his clients see when a disk is full

A small file system with a little more room each time: the client reads what was
in the way, what it is told of refs is so, nothing half made is left, and with
room the same command succeeds.'
. "$(dirname "$0")/lib-small-disk.sh"
. "$(dirname "$0")/lib.sh"
small_disk_or_skip

OURS=$(dirname "$GIT")/git-receive-pack
ZERO=0000000000000000000000000000000000000000

values_of () {
	git -C "$1" for-each-ref --format="%(objectname) %(refname)"
}

test_expect_success 'what is pushed, and where' '
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

# What it says is by now is, and what it says was refused is not.
is_as_told () {
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

is_told_why () {
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
		is_told_why >"/dev/null" && is_as_told &&
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
	test_expect_success "a push to $format, $limit $options" '
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

# As an HTTP server runs it.
test_expect_success 'a push in one request' '
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

test_expect_success 'a repository of three packs and loose objects' '
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

# What is refused leaves no file behind that was not there: "packs" may be new
# where what covers them comes after them.
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
	test_expect_success "$words" '
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
