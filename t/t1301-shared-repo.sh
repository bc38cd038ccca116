#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='core.sharedRepository: files and directories get stock Git'"'"'s modes'
. "$(dirname "$0")/lib.sh"

# List the kinds and modes of files below a directory. All packs get the same
# name. Files that only our git or only stock Git writes are left out.
modes () {
	(cd "$1" && find . ! -path "*/hooks/*.sample" ! -name branches \
		! -path "./info*" ! -name "*.bitmap" ! -name "*.rev" \
		-printf "%y %m %p\n") |
	sed -E "s/(pack|graph|multi-pack-index)-[0-9a-f]{40}/\\1-X/" | sort
}

# use <who> <umask> <share> <path of git>: runs commands that make all kinds of
# files in the new repository "<who>.git". Lists their modes in "<who>.modes".
use () {
	dir=$1.git
	(
		umask "$2" &&
		"$1" init -q --bare --shared="$3" "$dir" &&
		cd "$dir" &&
		stock config core.logAllRefUpdates true &&
		stock config repack.updateServerInfo false &&
		stock config gc.writeCommitGraph false &&
		echo one | "$1" hash-object -w --stdin &&
		"$1" update-ref refs/tags/deep/down/t \
			"$(echo two | "$1" hash-object -w --stdin)" &&
		stock -C ../source push -q --receive-pack="$4 receive-pack" \
			"$PWD" main~8:refs/heads/some/main &&
		stock config receive.unpackLimit 1 &&
		stock -C ../source push -q --receive-pack="$4 receive-pack" \
			"$PWD" main:refs/heads/other &&
		"$1" symbolic-ref HEAD refs/heads/other &&
		"$1" commit-graph write --reachable &&
		"$1" multi-pack-index write &&
		"$1" pack-refs --all
	) >out 2>&1 || { cat out; return 1; }
	modes "$dir" >"$1.modes"
}

ours () {
	"$GIT" "$@"
}

test_expect_success 'setup' '
	repo_linear source 12
'

for mask in 022 077
do
	for share in umask group all 0640
	do
		test_expect_success "--shared=$share with umask $mask" '
			rm -rf ours.git stock.git &&
			use ours '$mask' '$share' "$GIT" &&
			use stock '$mask' '$share' "$STOCK_GIT" &&
			test_cmp stock.modes ours.modes
		'
	done
done

test_expect_success 'other modes and masks' '
	rm -rf ours.git stock.git &&
	use ours 002 0600 "$GIT" &&
	use stock 002 0600 "$STOCK_GIT" &&
	test_cmp stock.modes ours.modes &&
	rm -rf ours.git stock.git &&
	use ours 002 umask "$GIT" &&
	use stock 002 umask "$STOCK_GIT" &&
	test_cmp stock.modes ours.modes
'

test_expect_success 'packs, their indexes and bitmaps, graphs in layers, info' '
	umask 077 &&
	for share in group 0640
	do
		for who in ours stock
		do
			rm -rf $who.git &&
			$who init -q --bare --shared=$share $who.git &&
			stock -C $who.git config pack.writeReverseIndex true &&
			stock -C source push -q ../$who.git main &&
			$who -C $who.git repack -qadb &&
			$who -C $who.git multi-pack-index write --bitmap &&
			$who -C $who.git commit-graph write --reachable \
				--split &&
			(cd $who.git && find objects info -printf "%y %m %p\n") |
			sed -E "s/-[0-9a-f]{40}/-X/" | sort >$who.modes || return 1
		done &&
		echo "f 440 objects/info/prepared" >>stock.modes &&
		echo "f 440 objects/info/prepared-wants" >>stock.modes &&
		test_cmp_sorted stock.modes ours.modes || return 1
	done
'

test_expect_success 'permissions of unpacked loose objects' '
	stock -C source pack-objects --all -q p </dev/null >name &&
	for share in group 0640
	do
		for who in ours stock
		do
			rm -rf $who.git &&
			stock init -q --bare --shared=$share $who.git &&
			(
				umask 077 &&
				cd $who.git &&
				$who index-pack --stdin \
					<../source/p-$(cat ../name).pack
			) &&
			modes $who.git >$who.packed &&
			rm -f $who.git/objects/pack/* &&
			(
				umask 077 &&
				cd $who.git &&
				$who unpack-objects -q \
					<../source/p-$(cat ../name).pack
			) &&
			modes $who.git >$who.loose || return 1
		done &&
		test_cmp stock.packed ours.packed &&
		test_cmp stock.loose ours.loose || return 1
	done
'

test_expect_success 'reftables are shared as refs are' '
	(
		umask 077 &&
		"$GIT" init -q --bare --shared=group --ref-format=reftable t &&
		"$GIT" -C t update-ref refs/tags/x \
			"$(echo x | "$GIT" -C t hash-object -w --stdin)" &&
		"$GIT" -C t pack-refs --all
	) &&
	find t -type d ! -perm 2770 >wrong &&
	find t/reftable t/refs -type f ! -perm 0660 >>wrong &&
	test_must_be_empty wrong
'

test_expect_success 'accepted values of --shared are written as by stock Git' '
	for value in umask false 0 group true 1 all world everybody 2 0660 \
		0777 660 yes no 8
	do
		for who in ours stock
		do
			rm -rf v &&
			$who init -q --bare --shared=$value v &&
			stock config -f v/config --list | sort >$who.config &&
			$who init -q --bare --shared=group v &&
			stat -c %A v v/HEAD v/refs v/objects >>$who.config ||
			return 1
		done &&
		test_cmp stock.config ours.config || return 1
	done
'

# Scripts look for the first line of an error. The lines after it are advice.
test_same_error () {
	head -n 1 stock.all >stock.err &&
	head -n 1 ours.all >ours.err &&
	test_cmp stock.err ours.err
}

test_expect_success 'values of --shared that stock Git refuses are refused' '
	for value in 0400 bogus
	do
		test_must_fail stock init -q --shared=$value x 2>stock.all &&
		test_must_fail "$GIT" init -q --shared=$value x 2>ours.all &&
		test_same_error || return 1
	done &&
	stock init -q --bare bad &&
	stock -C bad config core.sharedRepository 0400 &&
	test_must_fail stock -C bad pack-refs --all 2>stock.all &&
	test_must_fail "$GIT" -C bad pack-refs --all 2>ours.all &&
	test_same_error
'

test_expect_success 'core.sharedRepository of the user applies to a new repository' '
	for who in ours stock
	do
		rm -rf v w &&
		$who -c core.sharedRepository=group init -q --bare v &&
		$who -c core.sharedRepository=group init -q --shared=umask w &&
		stat -c %A v w/.git >$who.out &&
		cat v/config w/.git/config >>$who.out || return 1
	done &&
	test_cmp stock.out ours.out
'

test_expect_success 'init --shared on an existing repository shares it' '
	for who in ours stock
	do
		rm -rf v &&
		(umask 077 && stock init -q --template= --bare v) &&
		stock -C v config core.sharedRepository all &&
		(umask 077 && $who init -q --template= --bare v) &&
		modes v >$who.modes || return 1
	done &&
	test_cmp stock.modes ours.modes
'

test_done
