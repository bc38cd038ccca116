#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='stock Git reads our bitmaps, we read those of stock Git'
. "$(dirname "$0")/../lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-interop.sh"

UP=--upload-pack=$GITREACH_BUILD/bin/git-upload-pack
NO_TABLE='-c pack.writeBitmapLookupTable=false'
NO_CACHE='-c pack.writeBitmapHashCache=false'

# test_both_ways <format> <what> <flags> <command>...: a bitmap index that
# <command>... repack writes.
test_both_ways () {
	what="$1: $2" flags=$3
	shift 3
	writer=$*

	test_expect_success "$what: the bitmap index is written and right" '
		rm -rf repo.git &&
		cp -r plain.git repo.git &&
		$writer -C repo.git repack -q -adb &&
		echo $flags >expect &&
		bitmap_flags repo.git >actual &&
		test_cmp expect actual &&
		stock -C repo.git fsck --full --strict &&
		idx=$(cd repo.git && ls objects/pack/*.idx) &&
		stock -C repo.git verify-pack $idx &&
		"$GIT" -C repo.git verify-pack $idx
	'

	test_expect_success "$what: both programs find the bitmaps right" '
		test_bitmaps 10 repo.git stock &&
		test_bitmaps 10 repo.git "$GIT" &&
		test_by_bitmap repo.git stock &&
		test_by_bitmap repo.git "$GIT"
	'

	test_expect_success "$what: both programs find the same objects" '
		test_same_answers 6 repo.git
	'

	test_expect_success "$what: with newer objects outside of the index" '
		repo_newer repo.git &&
		test_same_answers 6 repo.git
	'

	test_expect_success "$what: both programs serve clones" '
		rm -rf *clone.git &&
		stock_client clone -q --no-local --mirror "$UP" repo.git \
			our-clone.git &&
		test_served_by_us &&
		test_same_repo repo.git our-clone.git &&
		stock_client clone -q --no-local --mirror repo.git \
			stock-clone.git &&
		test_same_repo repo.git stock-clone.git
	'

	test_expect_success "$what: both programs repack again" '
		cp -r repo.git again.git &&
		"$GIT" -C again.git repack -q -adb &&
		stock -C again.git fsck --full --strict &&
		test_same_answers 5 again.git &&
		rm -rf again.git &&
		cp -r repo.git again.git &&
		stock -C again.git repack -q -adb &&
		test_same_answers 5 again.git &&
		rm -rf again.git
	'
}

test_setup () {
	REPO_FORMAT=$1
	test_expect_success "$1: setup" '
		rm -rf plain.git &&
		repo_generated plain.git
	'
}

test_setup sha1
test_both_ways sha1 'ours' 0035 "$GIT"
test_both_ways sha1 'ours, nothing optional' 0001 "$GIT" $NO_TABLE $NO_CACHE \
	-c pack.writeBitmapPseudoMerges=false
test_both_ways sha1 'stock' 0005 stock $NO_TABLE
test_both_ways sha1 'stock, with a lookup table' 0015 \
	stock -c pack.writeBitmapLookupTable=true
test_both_ways sha1 'stock, no hash cache' 0001 stock $NO_TABLE $NO_CACHE

test_setup sha256
test_both_ways sha256 'ours' 0035 "$GIT"
test_both_ways sha256 'stock' 0005 stock $NO_TABLE
test_both_ways sha256 'stock, with a lookup table' 0015 \
	stock -c pack.writeBitmapLookupTable=true

test_done
