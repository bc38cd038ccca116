#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='repack, pack-objects and index-pack when they end in their midst

Killed, without power, with a disk that fails or is full, at each call that
changes the disk: nothing that was reachable is lost, no answer is wrong, and the
next repack does as if nothing had happened.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-fault.sh"

# Packs, one of them kept, one with a bitmap index, loose objects, and objects
# that an alternate has.
test_expect_success 'setup: a repository with files of all kinds' '
	repo_linear base.git 4 &&
	stock -C base.git repack -adq &&
	stock clone -q --bare "file://$PWD/base.git" good.git &&
	echo "../../base.git/objects" >good.git/objects/info/alternates &&
	rm -f good.git/objects/pack/* &&
	(
		cd good.git &&
		base=$(stock rev-parse main) tip= &&
		more () {
			blob=$(echo "$1" | stock hash-object -w --stdin) &&
			tree=$(printf "100644 blob %s\tf\n" $blob |
				stock mktree) &&
			tip=$(stock commit-tree -m "$1" -p ${tip:-$base} \
				$tree) &&
			stock update-ref refs/heads/$2 $tip
		} &&
		more one kept && stock repack -dq &&
		: >$(echo objects/pack/*.pack | sed "s/pack$/keep/") &&
		more two main && "$GIT" repack -adbq &&
		more three main && stock repack -dq &&
		more four main
	) &&
	test $(ls good.git/objects/pack/*.idx | wc -l) -ge 3 &&
	ls good.git/objects/pack/*.bitmap &&
	stock -C good.git rev-list --objects --all >all &&
	wc -l <all >all.nr &&
	stock -C good.git pack-objects --all --stdout -q <"/dev/null" >in.pack
'

fresh () {
	rm -rf r.git && cp -R good.git r.git
}

is_sound () {
	stock -C r.git fsck --full >fsck 2>&1 || {
		cat fsck >&2
		return 1
	}
}

# No bitmap index is believed wrongly.
counts_right () {
	"$GIT" -C r.git rev-list --count --objects --all --use-bitmap-index \
		>now 2>warned &&
	test_cmp all.nr now &&
	test_must_be_empty warned
}

# list_leftovers <file>: what a command should not leave when it ends.
list_leftovers () {
	find r.git -name 'tmp_*' -o -name '*.lock' | LC_ALL=C sort >"$1"
}

# What others left is for housekeeping; a repack adds nothing to it.
is_repacked_again () {
	"$GIT" -C r.git repack -adbq &&
	list_leftovers after &&
	test_cmp left after &&
	test -z "$(find r.git/objects/?? -type f)" &&
	counts_right &&
	is_sound
}

# Whatever happened.
is_whole () {
	list_leftovers left &&
	fault_ended "$1" left &&
	is_sound &&
	stock -C r.git rev-list --objects --all >now &&
	test_cmp all now &&
	counts_right &&
	is_repacked_again
}

for mode in kill lose EIO ENOSPC
do
	test_expect_success "repack -adb: $mode at every call" "
		fault_each $mode fresh '$GIT -C r.git repack -adbq' \
			'is_whole $mode'
	"
done

for mode in lose EIO
do
	test_expect_success "repack -d: $mode at every call" "
		fault_each $mode fresh '$GIT -C r.git repack -dq' \
			'is_whole $mode'
	"
done

test_expect_success 'repack -adb where every write is cut short' '
	fresh &&
	fault_run short:1 "$GIT" -C r.git repack -adbq &&
	test $fault_code -eq 0 &&
	fault_over=yes && is_whole short
'

# The proof that the tests above would see it.
test_expect_success 'without fsync a power failure may lose objects' '
	test_must_fail fault_each lose fresh \
		"$GIT -C r.git -c core.fsync=none repack -adbq" \
		"is_sound" 2>err &&
	grep "^lose at call" err
'

# pass <pattern>...: the log has calls like these, in this order.
pass () {
	from=1
	for pattern
	do
		line=$(tail -n +$from log | grep -n -m 1 "$pattern") || {
			echo "no '$pattern' after line $from:" >&2
			cat log >&2
			return 1
		}
		from=$((from + ${line%%:*}))
	done
}

test_expect_success 'bytes, then names, then removal' '
	fresh &&
	fault_run none:0 "$GIT" -C r.git repack -adbq &&
	test $fault_code -eq 0 &&
	sed "s,$(cd r.git && pwd -P)/objects/,,g" fault.log >log &&
	pass "^create pack/tmp_pack_" "^write pack/tmp_pack_" \
		"^fsync pack/tmp_pack_" \
		"^rename pack/tmp_pack_.* pack/pack-.*[.]pack$" \
		"^rename pack/tmp_bitmap_.* pack/pack-.*[.]bitmap$" \
		"^fsync pack$" \
		"^rename pack/tmp_idx_.* pack/pack-.*[.]idx$" \
		"^fsync pack$" "^unlink pack/pack-.*[.]idx$" \
		"^unlink pack/pack-.*[.]pack$" "^unlink ../" &&
	for part in bitmap idx
	do
		sed "/^rename/q" log | grep "^fsync pack/tmp_${part}_" || return
	done &&
	grep -n "^rename pack/\|^fsync pack$" log | tail -n 1 >last &&
	grep -n "^unlink pack/pack-.*idx$" log | head -n 1 >first &&
	test $(sed "s/:.*//" last) -lt $(sed "s/:.*//" first) &&
	! sed "1,/[.]idx$/d" log | grep "^write pack/"
'

# ---- the commands below it

fresh_out () {
	rm -rf r.git && cp -R good.git r.git && mkdir r.git/out
}

# A pack with an index is whole, and the command can be run again.
packs_are_whole () {
	list_leftovers left &&
	fault_ended "$1" left &&
	for idx in r.git/$2/*.idx
	do
		test ! -e "$idx" || stock verify-pack "$idx" || return 1
	done &&
	shift 2 &&
	"$@" <"$fault_in" >"/dev/null" 2>"/dev/null" &&
	list_leftovers after &&
	test_cmp left after &&
	stock verify-pack r.git/$out/*.idx
}

for mode in lose EIO ENOSPC
do
	test_expect_success "pack-objects: $mode at every call" "
		command='$GIT -C r.git pack-objects --all -q out/pack' &&
		out=out &&
		fault_each $mode fresh_out \"\$command\" \
			'packs_are_whole $mode out \$command'
	"

	test_expect_success "index-pack --stdin: $mode at every call" "
		command='$GIT -C r.git index-pack --stdin' &&
		out=objects/pack fault_in=in.pack &&
		fault_each $mode 'rm -rf r.git && repo_init r.git' \
			\"\$command\" \
			'packs_are_whole $mode objects/pack \$command' &&
		fault_in=/dev/null
	"

	test_expect_success "index-pack <file>: $mode at every call" "
		command='$GIT index-pack r.git/out/a.pack' &&
		out=out &&
		fault_each $mode \
			'fresh_out && cp in.pack r.git/out/a.pack' \
			\"\$command\" \
			'packs_are_whole $mode out \$command'
	"
done

test_done
