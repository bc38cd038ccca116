#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='chains of multi-pack-indexes, of both: written, read, served'
. "$(dirname "$0")/../lib.sh"
. "$GITREACH_SRC/t/lib-midx.sh"
. "$GITREACH_SRC/t/lib-serve.sh"

stock multi-pack-index -h 2>&1 | grep compact >/dev/null || {
	skip_all='the stock Git cannot compact multi-pack-indexes (2.54 and later can)'
	test_done
}

UP=--upload-pack=$GITREACH_BUILD/bin/git-upload-pack
CHAIN=objects/pack/multi-pack-index.d/multi-pack-index-chain

ours () {
	"$GIT" "$@"
}

# other <command>: who has not written.
other () {
	case $1 in
	ours) echo stock ;;
	stock) echo ours ;;
	esac
}

# layer <dir> <n>: the checksum of the n-th layer from below.
layer () {
	sed -n "$2p" "$1/$CHAIN"
}

# push_layer <command> <dir>: a commit in a pack, and a layer of <command>'s.
push_layer () {
	repo_add_commit "$2" &&
	stock -C "$2" repack -d -q &&
	$1 -C "$2" multi-pack-index write --incremental --bitmap
}

# both_read <dir> <nr>: it has so many layers, of which all is right to both.
both_read () {
	test_line_count $2 "$1/$CHAIN" &&
	stock -C "$1" rev-list --objects --all | wc -l >expect &&
	for git in ours stock
	do
		$git -C "$1" multi-pack-index verify &&
		$git -C "$1" fsck &&
		$git -C "$1" rev-list --test-bitmap main &&
		$git -C "$1" rev-list --use-bitmap-index --count --objects \
			--all >actual &&
		test_cmp expect actual || return
	done &&
	ours -C "$1" bitmap verify &&
	ours -C "$1" bitmap explain --all >out &&
	grep "^answered-by=bitmap" out &&
	grep "^wants.commits-walked=0\$" out &&
	same_answers "$1"
}

# both_serve <dir>: a clone from either is what is there.
both_serve () {
	rm -rf by-ours.git by-stock.git &&
	stock_client clone -q --no-local --mirror "$UP" "$1" by-ours.git &&
	test_served_by_us &&
	test_same_repo "$1" by-ours.git &&
	stock_client clone -q --no-local --mirror "$1" by-stock.git &&
	test_same_repo "$1" by-stock.git
}

for what in 'sha1, ours' 'sha1, stock' 'sha256, ours'
do
	REPO_FORMAT=${what%,*} writer=${what#*, }
	export REPO_FORMAT

	test_expect_success "$what: layers on top of own layers" '
		rm -rf chain.git &&
		repo_of_packs chain.git &&
		$writer -C chain.git multi-pack-index write \
			--incremental --bitmap &&
		both_read chain.git 1 &&
		for i in 2 3 4 5
		do
			push_layer $writer chain.git || return 1
		done &&
		both_read chain.git 5 &&
		both_serve chain.git
	'

	test_expect_success "$what: with layers of the other on top" '
		rm -rf mixed.git && cp -r chain.git mixed.git &&
		push_layer $(other $writer) mixed.git &&
		push_layer $writer mixed.git &&
		both_read mixed.git 7 &&
		both_serve mixed.git
	'

	test_expect_success "$what: the other program compacts the layers" '
		$(other $writer) -C mixed.git multi-pack-index compact \
			--incremental --bitmap \
			$(layer mixed.git 2) $(layer mixed.git 4) &&
		both_read mixed.git 5 &&
		$writer -C mixed.git multi-pack-index compact \
			--incremental --bitmap \
			$(layer mixed.git 1) $(layer mixed.git 3) &&
		both_read mixed.git 3 &&
		push_layer $(other $writer) mixed.git &&
		both_read mixed.git 4 &&
		both_serve mixed.git
	'

	test_expect_success "$what: a chain put together by hand" '
		rm -rf hand.git && cp -r chain.git hand.git &&
		$writer -C hand.git multi-pack-index compact \
			--incremental --bitmap --no-write-chain-file \
			--base=$(layer hand.git 1) \
			$(layer hand.git 2) $(layer hand.git 3) >new &&
		test_line_count 1 new &&
		{
			layer hand.git 1 && cat new &&
			layer hand.git 4 && layer hand.git 5
		} >chain &&
		cp chain hand.git/$CHAIN &&
		both_read hand.git 4 &&
		both_serve hand.git
	'

	test_expect_success "$what: compact --base=none" '
		rm -rf hand.git && cp -r chain.git hand.git &&
		$writer -C hand.git multi-pack-index compact \
			--incremental --bitmap --base=none \
			$(layer hand.git 1) $(layer hand.git 5) &&
		both_read hand.git 1 &&
		both_serve hand.git
	'

	test_expect_success "$what: compact --base with a lower layer" '
		rm -rf hand.git && cp -r chain.git hand.git &&
		$writer -C hand.git multi-pack-index compact \
			--incremental --base=$(layer hand.git 2) \
			$(layer hand.git 4) $(layer hand.git 5) &&
		test_line_count 3 hand.git/$CHAIN &&
		for git in ours stock
		do
			$git -C hand.git multi-pack-index verify &&
			$git -C hand.git fsck || return 1
		done &&
		same_answers hand.git &&
		both_serve hand.git
	'

	test_expect_success "$what: one file replaces the chain" '
		$writer -C mixed.git multi-pack-index compact --bitmap \
			$(layer mixed.git 1) $(layer mixed.git 4) &&
		test ! -e mixed.git/$CHAIN &&
		for git in ours stock
		do
			$git -C mixed.git multi-pack-index verify &&
			$git -C mixed.git rev-list --test-bitmap main ||
			return 1
		done &&
		same_answers mixed.git &&
		both_serve mixed.git
	'
done

# A repack that appends a layer of its own kind over one of the other.
for writer in ours stock
do
	test_expect_success "$writer: repack --write-midx=incremental" '
		REPO_FORMAT=sha1 && rm -rf chain.git &&
		repo_of_packs chain.git &&
		for git in ours stock ours stock
		do
			repo_add_commit chain.git &&
			$git -C chain.git repack -q -d --geometric=2 \
				--write-midx=incremental \
				--write-bitmap-index || return 1
		done &&
		$writer -C chain.git repack -q -d --geometric=2 \
			--write-midx=incremental --write-bitmap-index &&
		both_read chain.git $(wc -l <chain.git/$CHAIN) &&
		both_serve chain.git
	'
done

test_done
