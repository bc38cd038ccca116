#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='receive-pack of packs that were made to do harm

The packs are those of t5309-index-pack-hostile.sh. Each is pushed three times: to
become a pack, to become loose objects, and with checks of objects.'
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
	stock init -q --bare dst.git &&
	find dst.git -type f | sort >files.before &&
	stock init -q --bare good.git &&
	zero=$(printf %040d 0)
'

# push_pack <directory> <pack> <id> <setting>...: a client creates refs/tags/new with
# this pack, with 400 MB of address space for the server. The server must answer.
push_pack () {
	dir=$1 pack=$2 id=$3
	shift 3
	(
		for setting
		do
			set -- "$@" -c "$setting"
			shift
		done &&
		{
			line="$zero $id refs/tags/new" &&
			printf "%04x%s\0report-status\n0000" \
				$((${#line} + 19)) "$line" &&
			cat $pack.pack
		} >request &&
		limit 400000 &&
		git "$@" receive-pack $dir <request >out 2>err
	) &&
	tr "\0" "\n" <out | grep -a "unpack " >unpack
}

# refused <pack> <message> [<setting>]: the client gets the message, the ref is not
# created, and no file is left.
refused () {
	for how in transfer.unpackLimit=1 transfer.unpackLimit=1000000 \
		receive.fsckObjects=true
	do
		push_pack dst.git $1 $(printf %040d 1) $how \
			${3-transfer.fsckObjects=false} &&
		cat unpack &&
		grep -a "unpack .*$2" unpack &&
		grep -a "ng refs/tags/new unpacker error" out &&
		find dst.git -type f | sort >files &&
		test_cmp files.before files || return 1
	done
}

while read -r pack message
do
	test_expect_success "refused: $pack" '
		refused $pack "$message"
	'
done <<\EOC
two-sizes failed to apply delta at offset 25
past-base failed to apply delta at offset 25
huge-blob object does not inflate to its size at offset 12
short-blob object does not inflate to its size at offset 12
count-more object does not inflate to its size at offset 25
count-less pack is corrupted (SHA1 mismatch)
count-none pack is corrupted (SHA1 mismatch)
before-start delta base offset is out of bound at offset 25
at-start delta base offset is out of bound at offset 25
far-before delta base offset is out of bound at offset 25
inside delta base offset is out of bound at offset 25
at-itself at offset
cycle pack has 2 unresolved deltas
claim failed to apply delta at offset 25
huge-delta object does not inflate to its size at offset 25
huge-count object does not inflate to its size at offset 25
EOC

test_expect_success LIMIT 'refused: deltas that make more than there is memory' '
	refused bomb "no memory for an object of 68719476736 bytes at offset" \
		gitreach.maxPushInflate=0 &&
	refused bomb-chain "no memory for an object of [0-9]* bytes at offset" \
		gitreach.maxPushInflate=0
'

test_expect_success 'refused: more than the default of gitreach.maxPushInflate' '
	refused bomb "more than 171[0-9]* bytes (gitreach.maxPushInflate)"
'

# The pack makes "base" from "base". If the pack were stored, prune-packed would remove
# the only good copy of the object.
for pack in itself each-other twice-itself twice-other
do
	test_expect_success "a cycle of deltas takes no object away: $pack" '
		rm -rf known.git &&
		stock init -q --bare known.git &&
		printf bas1 | stock -C known.git hash-object -w --stdin &&
		base=$(printf base | stock -C known.git hash-object -w --stdin) &&
		push_pack known.git $pack $base transfer.unpackLimit=1 &&
		grep -a "unpack .*delta chain is a cycle" unpack &&
		git -C known.git prune-packed &&
		printf base >expect &&
		git -C known.git cat-file blob $base >actual &&
		test_cmp expect actual
	'
done

test_expect_success 'accepted: an object twice, a chain of 4,000 deltas' '
	base=$(printf base | stock hash-object --stdin) &&
	stock -C good.git unpack-objects -q <deep.pack &&
	last=$(stock -C good.git cat-file --batch-all-objects \
		--batch-check="%(objectsize) %(objectname)" |
		sort -n | sed -n "\$s/.* //p") &&
	for how in transfer.unpackLimit=1 transfer.unpackLimit=1000000
	do
		for case in "twice $base" "deep $last"
		do
			rm -rf new.git &&
			stock init -q --bare new.git &&
			push_pack new.git $case $how &&
			grep -a "unpack ok" unpack &&
			stock -C new.git fsck --full --strict --no-dangling &&
			test "$(stock -C new.git rev-parse refs/tags/new)" = \
				${case#* } || return 1
		done
	done
'

test_expect_success LIMIT 'checking a push does not read a large blob into memory' '
	rm -rf big.git && stock init -q --bare big.git &&
	dd if=/dev/zero bs=1M count=500 2>/dev/null |
		stock -C big.git -c core.compression=1 hash-object -w --stdin >id &&
	stock -C big.git -c core.bigFileThreshold=1m pack-objects -q --stdout \
		<id >big.pack &&
	push_pack good.git big $(cat id) receive.fsckObjects=true \
		transfer.unpackLimit=1 &&
	grep -a "unpack ok" unpack &&
	test $(stock -C good.git rev-parse refs/tags/new) = $(cat id) &&
	rm -rf big.git big.pack
'

# nested_trees <blob>: makes ten trees in nested.git, and prints the id of the last one.
# Each entry of a tree is the tree before it, so the last tree has 10^10 paths.
nested_trees () {
	id=$1 type=blob mode=100644
	for level in 0 1 2 3 4 5 6 7 8 9
	do
		for name in 0 1 2 3 4 5 6 7 8 9
		do
			printf "%s %s %s\t%s\n" $mode $type $id $name
		done >entries
		id=$(stock -C nested.git mktree <entries)
		type=tree mode=040000
	done
	echo $id
}

# quickly <command>...: runs a command with at most ten seconds of CPU time.
quickly () {
	(
		ulimit -t 10 &&
		"$@"
	)
}

test_expect_success 'a few trees with very many paths' '
	stock init -q --bare nested.git &&
	old=$(nested_trees $(echo old | stock -C nested.git hash-object -w --stdin)) &&
	new=$(nested_trees $(echo new | stock -C nested.git hash-object -w --stdin)) &&
	first=$(echo first | stock -C nested.git commit-tree $old) &&
	second=$(echo second | stock -C nested.git commit-tree $new -p $first) &&
	echo $second | stock -C nested.git pack-objects -q --revs --stdout \
		>nested.pack
'

for how in transfer.unpackLimit=1 transfer.unpackLimit=1000000 \
	transfer.fsckObjects=true
do
	test_expect_success "a push of these trees is checked quickly, $how" '
		rm -rf paths.git &&
		stock init -q --bare paths.git &&
		quickly push_pack paths.git nested $second $how &&
		grep -a "unpack ok" unpack &&
		test "$(stock -C paths.git rev-parse refs/tags/new)" = $second
	'

	test_expect_success "they are cloned, fetched and repacked quickly, $how" '
		for when in loose packed
		do
			rm -rf have.git &&
			stock init -q --bare have.git &&
			for id in $first $second
			do
				quickly stock -C have.git -c protocol.version=2 \
					fetch -q --upload-pack="\"$GIT\" upload-pack" \
					../paths.git $id:refs/heads/got || return 1
			done &&
			test $(stock -C have.git rev-list --objects got | wc -l) = 24 &&
			quickly git -C paths.git repack -adqb || return 1
		done
	'
done

test_done
