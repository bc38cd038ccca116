#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='chains of multi-pack-indexes, and their bitmaps'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-midx.sh"

CHAIN=objects/pack/multi-pack-index.d/multi-pack-index-chain

# push_layer <dir> [<option>...]: one commit more, in a pack and a layer.
push_layer () {
	dir=$1 &&
	shift &&
	repo_add_commit "$dir" &&
	stock -C "$dir" repack -d -q &&
	"$GIT" -C "$dir" multi-pack-index write --incremental "$@"
}

# layer <dir> <n>: the checksum of the n-th layer from below.
layer () {
	sed -n "$2p" "$1/$CHAIN"
}

# layers_are <dir> <nr>: the chain has so many, and everything says the same.
layers_are () {
	test_line_count $2 "$1/$CHAIN" &&
	"$GIT" -C "$1" multi-pack-index verify &&
	"$GIT" -C "$1" bitmap verify &&
	"$GIT" -C "$1" fsck &&
	stock -C "$1" fsck &&
	same_answers "$1"
}

for REPO_FORMAT in sha1 sha256
do
	export REPO_FORMAT

	test_expect_success "$REPO_FORMAT: a chain of one layer" '
		repo_of_packs chain.git &&
		"$GIT" -C chain.git multi-pack-index write --incremental \
			--bitmap &&
		test ! -e chain.git/objects/pack/multi-pack-index &&
		layers_are chain.git 1 &&
		"$GIT" -C chain.git bitmap explain --all >out &&
		grep "^answered-by=bitmap" out &&
		grep "^wants.commits-walked=0\$" out
	'

	test_expect_success "$REPO_FORMAT: layers on top of it" '
		cp chain.git/$CHAIN before &&
		for i in 2 3 4 5
		do
			push_layer chain.git --bitmap &&
			layers_are chain.git $i || return 1
		done &&
		head -n 1 chain.git/$CHAIN >first &&
		test_cmp before first &&
		"$GIT" -C chain.git bitmap explain --all >out &&
		grep "^wants.commits-walked=0\$" out &&
		"$GIT" -C chain.git rev-list --test-bitmap main
	'

	test_expect_success "$REPO_FORMAT: without new packs no layer is written" '
		cp chain.git/$CHAIN before &&
		"$GIT" -C chain.git multi-pack-index write --incremental \
			--bitmap &&
		test_cmp before chain.git/$CHAIN
	'

	test_expect_success "$REPO_FORMAT: layers become one" '
		"$GIT" -C chain.git multi-pack-index compact --incremental \
			--bitmap $(layer chain.git 2) $(layer chain.git 4) &&
		layers_are chain.git 3 &&
		test "$(layer chain.git 1)" = "$(head -n 1 before)" &&
		test "$(layer chain.git 3)" = "$(sed -n 5p before)" &&
		"$GIT" -C chain.git multi-pack-index compact --incremental \
			--bitmap $(layer chain.git 1) $(layer chain.git 3) &&
		layers_are chain.git 1 &&
		ls chain.git/objects/pack/multi-pack-index.d >files &&
		test_line_count 3 files &&
		"$GIT" -C chain.git bitmap explain --all >out &&
		grep "^wants.commits-walked=0\$" out
	'

	test_expect_success "$REPO_FORMAT: a clone from a chain" '
		"$STOCK_GIT" clone -q --bare --no-local \
			-u "\"$GIT\" upload-pack" chain.git copy.git &&
		stock -C copy.git fsck &&
		stock -C copy.git rev-parse main >actual &&
		stock -C chain.git rev-parse main >expect &&
		test_cmp expect actual &&
		rm -rf copy.git chain.git
	'
done
REPO_FORMAT=sha1

test_expect_success 'one file becomes the lowest layer' '
	repo_of_packs one.git &&
	"$GIT" -C one.git multi-pack-index write --bitmap &&
	midx_bitmap one.git >bitmap &&
	push_layer one.git --bitmap &&
	test ! -e one.git/objects/pack/multi-pack-index &&
	test ! -e one.git/objects/pack/$(cat bitmap) &&
	layers_are one.git 2
'

test_expect_success 'compact turns all layers into one file' '
	"$GIT" -C one.git multi-pack-index write --bitmap &&
	test -f one.git/objects/pack/multi-pack-index &&
	test ! -e one.git/$CHAIN &&
	ls one.git/objects/pack/multi-pack-index.d >files &&
	test ! -s files &&
	stock -C one.git multi-pack-index verify &&
	stock -C one.git rev-list --test-bitmap main &&
	same_answers one.git
'

test_expect_success 'compact without --incremental' '
	for i in 1 2 3
	do
		push_layer one.git --bitmap || return 1
	done &&
	"$GIT" -C one.git multi-pack-index compact --bitmap \
		$(layer one.git 1) $(layer one.git 4) &&
	test ! -e one.git/$CHAIN &&
	stock -C one.git multi-pack-index verify &&
	stock -C one.git rev-list --test-bitmap main &&
	same_answers one.git
'

test_expect_success 'version 1 of the format cannot be compacted' '
	for options in "" --incremental
	do
		test_expect_code 128 "$GIT" -C one.git -c midx.version=1 \
			multi-pack-index compact $options a b 2>err &&
		echo "fatal: cannot perform MIDX compaction with v1 format" \
			>expect &&
		test_cmp expect err || return
	done
'

test_expect_success 'a layer that the chain does not name' '
	repo_of_packs apart.git &&
	push_layer apart.git --bitmap &&
	cp apart.git/$CHAIN before &&
	push_layer apart.git --bitmap --no-write-chain-file >checksum &&
	test_cmp before apart.git/$CHAIN &&
	test -f "apart.git/objects/pack/multi-pack-index.d/multi-pack-index-$(cat checksum).midx" &&
	layers_are apart.git 1 &&
	cat checksum >>apart.git/$CHAIN &&
	layers_are apart.git 2 &&
	"$GIT" -C apart.git multi-pack-index write --incremental \
		--no-write-chain-file >again &&
	test_cmp checksum again &&
	"$GIT" -C apart.git multi-pack-index write --incremental --bitmap \
		--no-write-chain-file --base=none >whole &&
	cp whole apart.git/$CHAIN &&
	layers_are apart.git 1
'

test_expect_success 'compacted onto a lower base' '
	repo_of_packs base.git &&
	"$GIT" -C base.git multi-pack-index write --incremental --bitmap &&
	for i in 2 3 4 5
	do
		push_layer base.git --bitmap || return 1
	done &&
	cp base.git/$CHAIN before &&
	"$GIT" -C base.git multi-pack-index compact --incremental --bitmap \
		--base=$(layer base.git 2) --no-write-chain-file \
		$(layer base.git 3) $(layer base.git 4) &&
	test_cmp before base.git/$CHAIN &&
	"$GIT" -C base.git multi-pack-index compact --incremental \
		--base=$(layer base.git 1) \
		$(layer base.git 3) $(layer base.git 4) &&
	layers_are base.git 2 &&
	head -n 1 before >first &&
	head -n 1 base.git/$CHAIN >actual && test_cmp first actual &&
	push_layer base.git --bitmap &&
	layers_are base.git 2 &&
	"$GIT" -C base.git bitmap explain --all >out &&
	grep "^wants.commits-walked=0\$" out &&
	"$GIT" -C base.git multi-pack-index compact --incremental --bitmap \
		--base=none $(layer base.git 1) $(layer base.git 2) &&
	layers_are base.git 1
'

test_expect_success 'an unsuitable --base is refused' '
	push_layer base.git --bitmap &&
	push_layer base.git --bitmap &&
	cp base.git/$CHAIN before &&
	for base in "" 1234 $(layer base.git 2) $(layer base.git 3)
	do
		test_expect_code 255 "$GIT" -C base.git multi-pack-index \
			compact --incremental --base="$base" \
			$(layer base.git 2) $(layer base.git 3) 2>err &&
		grep "could not find base MIDX .$base." err || return 1
	done &&
	test_expect_code 255 "$GIT" -C base.git multi-pack-index compact \
		--incremental --bitmap --base=none \
		$(layer base.git 2) $(layer base.git 3) 2>err &&
	grep "could not write multi-pack bitmap" err &&
	test_cmp before base.git/$CHAIN &&
	layers_are base.git 3
'

test_expect_success 'a layer of chosen packs' '
	repo_of_packs some.git &&
	ls some.git/objects/pack/*.idx | sed "s,.*/,," >names &&
	head -n 1 names |
	"$GIT" -C some.git multi-pack-index write --incremental \
		--stdin-packs &&
	"$GIT" -C some.git multi-pack-index write --incremental &&
	test_line_count 2 some.git/$CHAIN &&
	"$GIT" -C some.git multi-pack-index verify &&
	rm -rf some.git
'

test_expect_success 'wrong usage' '
	test_expect_code 129 "$GIT" -C apart.git multi-pack-index write \
		--no-write-chain-file 2>err &&
	grep "cannot use --no-write-chain-file without --incremental" err &&
	test_expect_code 129 "$GIT" -C apart.git multi-pack-index write \
		--incremental --base=none 2>err &&
	grep "cannot use --base without --no-write-chain-file" err &&
	test_expect_code 129 "$GIT" -C apart.git multi-pack-index compact \
		--incremental $(layer apart.git 1) &&
	test_expect_code 128 "$GIT" -C apart.git multi-pack-index compact \
		--incremental $(layer apart.git 1) 1234 2>err &&
	grep "could not find MIDX: 1234" err &&
	test_expect_code 128 "$GIT" -C apart.git multi-pack-index compact \
		--incremental $(layer apart.git 1) $(layer apart.git 1) 2>err &&
	grep "MIDX compaction endpoints must be unique" err &&
	push_layer apart.git &&
	test_expect_code 128 "$GIT" -C apart.git multi-pack-index compact \
		--incremental $(layer apart.git 2) $(layer apart.git 1) 2>err &&
	grep "must be an ancestor of" err &&
	test_expect_code 128 "$GIT" -C apart.git -c midx.version=1 \
		multi-pack-index compact --incremental \
		$(layer apart.git 1) $(layer apart.git 2) 2>err &&
	grep "cannot perform MIDX compaction with v1 format" err &&
	for sub in expire repack
	do
		test_expect_code 128 "$GIT" -C apart.git multi-pack-index \
			$sub 2>err &&
		grep "incremental multi-pack-index" err || return 1
	done
'

test_expect_success 'a layer without bitmaps: objects of layers above are walked' '
	test_line_count 2 apart.git/$CHAIN &&
	same_answers apart.git &&
	"$GIT" -C apart.git bitmap explain --all >out &&
	grep "^wants.commits-walked=1\$" out &&
	push_layer apart.git --bitmap &&
	layers_are apart.git 2
'

# Newer ones know chains, and die of such a layer.
test_expect_success STOCK_239 'a damaged layer: the layers below are used' '
	midx=apart.git/objects/pack/multi-pack-index.d/multi-pack-index-$(layer apart.git 2).midx &&
	chmod u+w "$midx" &&
	cp "$midx" kept &&
	printf XXXX | dd of="$midx" bs=1 conv=notrunc 2>/dev/null &&
	same_answers apart.git &&
	test_expect_code 1 "$GIT" -C apart.git multi-pack-index verify &&
	test_must_fail "$GIT" -C apart.git fsck &&
	cp kept "$midx" &&
	size=$(wc -c <"$midx") &&
	printf XX | dd of="$midx" bs=1 seek=$((size - 2)) conv=notrunc \
		2>/dev/null &&
	test_must_fail "$GIT" -C apart.git fsck &&
	cp kept "$midx" &&
	layers_are apart.git 2
'

# damage_end <file>: changes the last two bytes of a file, its checksum.
damage_end () {
	chmod u+w "$1" &&
	printf XX | dd of="$1" bs=1 seek=$(($(wc -c <"$1") - 2)) conv=notrunc \
		2>/dev/null
}

for options in --bitmap ''
do
	test_expect_success "no layer is built on a damaged multi-pack-index $options" '
		rm -rf damaged.git && cp -R apart.git damaged.git &&
		rm -rf damaged.git/objects/pack/multi-pack-index.d &&
		"$GIT" -C damaged.git multi-pack-index write $options &&
		damage_end damaged.git/objects/pack/multi-pack-index &&
		"$GIT" -C damaged.git multi-pack-index write --incremental \
			$options 2>err &&
		echo "warning: ignoring existing multi-pack-index; checksum mismatch" \
			>expect &&
		test_cmp expect err &&
		test_line_count 1 damaged.git/$CHAIN &&
		"$GIT" -C damaged.git multi-pack-index verify
	'
done

test_expect_success 'a damaged top layer is written again with the new pack' '
	push_layer damaged.git &&
	layer damaged.git 1 >before &&
	damage_end damaged.git/objects/pack/multi-pack-index.d/multi-pack-index-$(layer damaged.git 2).midx &&
	push_layer damaged.git 2>err &&
	grep "^warning: " err &&
	test_line_count 2 damaged.git/$CHAIN &&
	layer damaged.git 1 >after &&
	test_cmp before after &&
	"$GIT" -C damaged.git multi-pack-index verify
'

test_expect_success 'stock Git repacks over a chain that it may not know' '
	stock -C apart.git repack -adq &&
	same_answers apart.git &&
	"$GIT" -C apart.git repack -adq &&
	test ! -e apart.git/$CHAIN &&
	same_answers apart.git
'

test_done
