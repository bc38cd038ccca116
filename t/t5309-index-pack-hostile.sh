#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='index-pack of packs that were made to do harm'
. "$(dirname "$0")/lib.sh"

# Sanitizers map terabytes of their own.
case "$GITREACH_BUILD" in
*address*|*thread*)
	limit () { :; }
	;;
*)
	test_set_prereq LIMIT
	limit () { ulimit -v "$1"; }
	;;
esac

test_expect_success 'packs' '
	python3 "$GITREACH_SRC/t/hostile-packs.py" &&
	stock init -q --bare dst.git
'

# refused <pack> <message>: by both, from a file and from a pipe, with 400 MB
# of address space; nothing stays.
refused () {
	(
		limit 400000 &&
		test_expect_code 128 git index-pack -o x.idx $1.pack 2>err
	) &&
	cat err &&
	grep "^fatal: .*$2" err &&
	! test -e x.idx &&
	(
		limit 400000 &&
		cat $1.pack | test_expect_code 128 \
			git -C dst.git index-pack --stdin 2>err
	) &&
	grep "^fatal: .*$2" err &&
	ls dst.git/objects/pack >files &&
	test_must_be_empty files
}

both_refuse () {
	refused "$@" &&
	test_expect_code 128 stock index-pack -o x.idx $1.pack
}

for case in \
	"two-sizes failed to apply delta at offset 25" \
	"past-base failed to apply delta at offset 25" \
	"huge-blob object does not inflate to its size at offset 12" \
	"short-blob object does not inflate to its size at offset 12" \
	"count-more object does not inflate to its size at offset 25" \
	"count-less pack is corrupted (SHA1 mismatch)" \
	"count-none pack is corrupted (SHA1 mismatch)" \
	"before-start delta base offset is out of bound at offset 25" \
	"at-start delta base offset is out of bound at offset 25" \
	"far-before delta base offset is out of bound at offset 25" \
	"inside delta base offset is out of bound at offset 25" \
	"at-itself at offset" \
	"cycle pack has 2 unresolved deltas"
do
	test_expect_success "refused: ${case%% *}" '
		both_refuse ${case%% *} "${case#* }"
	'
done

# Stock Git asks for the memory first, which it may get.
for case in \
	"claim failed to apply delta at offset 25" \
	"huge-delta object does not inflate to its size at offset 25" \
	"huge-count object does not inflate to its size at offset 25"
do
	test_expect_success "claims cost nothing: ${case%% *}" '
		refused ${case%% *} "${case#* }"
	'
done

test_expect_success LIMIT 'deltas that do make more than there is memory' '
	refused bomb "no memory for an object of 68719476736 bytes at offset" &&
	refused bomb-chain "no memory for an object of [0-9]* bytes at offset"
'

# refused_cycle <pack>: "base" and "bas1" are in the repository, so the indexer can
# make all objects of the pack. A reader of the pack could not.
refused_cycle () {
	rm -rf known.git &&
	stock init -q --bare known.git &&
	for text in base bas1
	do
		printf $text | stock -C known.git hash-object -w --stdin ||
			return 1
	done >ids &&
	test_expect_code 128 git -C known.git index-pack --stdin --fix-thin \
		<$1.pack 2>err &&
	grep "^fatal: .*delta chain is a cycle at offset" err &&
	ls known.git/objects/pack >files &&
	test_must_be_empty files
}

for case in itself each-other twice-itself twice-other
do
	test_expect_success "refused: a cycle of deltas, $case" '
		refused_cycle $case
	'
done

for case in twice-itself twice-other
do
	test_expect_success "refused: a cycle of deltas in a file, $case" '
		refused $case "delta chain is a cycle at offset"
	'
done

test_expect_success 'allowed: bases that the indexer finds twice, without a cycle' '
	rm -rf known.git &&
	stock init -q --bare known.git &&
	for text in bas0 bas1
	do
		printf $text | stock -C known.git hash-object -w --stdin ||
			return 1
	done &&
	for pack in base-known twice-no-cycle
	do
		git -C known.git index-pack --stdin --fix-thin <$pack.pack ||
			return 1
	done &&
	find known.git/objects/?? -type f -exec rm -f {} + &&
	stock -C known.git fsck --full &&
	for text in bas0 bas1 base
	do
		printf $text >expect &&
		stock -C known.git cat-file blob \
			$(stock hash-object expect) >actual &&
		test_cmp expect actual || return 1
	done
'

test_expect_success 'a byte after the pack' '
	test_expect_code 128 git index-pack -o x.idx after.pack 2>err &&
	echo "fatal: pack has junk at the end" >expect &&
	test_cmp expect err
'

test_expect_success 'allowed: an object twice, a chain of 4,000 deltas' '
	for pack in twice deep
	do
		stock index-pack -o expect.idx $pack.pack >expect &&
		(
			limit 400000 &&
			git index-pack -o actual.idx $pack.pack >actual
		) &&
		test_cmp expect actual &&
		cmp expect.idx actual.idx || return 1
	done
'

test_done
