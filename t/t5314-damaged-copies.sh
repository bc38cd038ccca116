#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='one copy of an object is damaged, and another one is whole'
. "$(dirname "$0")/lib.sh"

# damage <dir> <object> <how>: in the pack that t/damage-copy.py can find it in.
damage () {
	for idx in "$1"/objects/pack/pack-*.idx
	do
		if stock show-index <"$idx" | grep -q "$2"
		then
			python3 "$GITREACH_SRC/t/damage-copy.py" \
				"${idx%.idx}" "$2" "$3" && return
		fi
	done
	return 1
}

# What can be read of the repository $1: its objects with their content.
content_of () {
	"$GIT" -C "$1" cat-file --batch-all-objects --batch
}

test_expect_success 'a pack with chains of deltas' '
	stock init -q work &&
	mkdir work/d &&
	for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14
	do
		echo "file $n" >work/d/file-$n || return
	done &&
	for n in 1 2 3 4 5 6
	do
		{ seq $((n * 100)) 1000 && echo "version $n"; } >work/big &&
		echo "version $n" >>work/d/file-$n &&
		stock -C work add . &&
		test_tick &&
		stock -C work commit -q -m "commit $n" || return
	done &&
	stock -C work tag -a -m "a tag" v1 HEAD~2 &&
	stock clone -q --bare --no-local work whole.git &&
	stock -C whole.git repack -adfq --depth=50 --window=50 &&
	content_of whole.git >expect.content &&
	stock -C whole.git rev-list --objects --all >expect.list &&
	stock verify-pack -v whole.git/objects/pack/*.idx >entries &&
	awk "\$2 == \"blob\" && \$6 == 1 { print \$7; exit }" entries >raw &&
	base=$(cat raw) && test -n "$base" &&
	awk "\$2 == \"tree\" && \$6 == 2 { print \$1; exit }" entries >raw &&
	middle=$(cat raw) && test -n "$middle" &&
	awk "\$2 == \"tree\" && \$6 == 1 { print \$7; exit }" entries >raw &&
	root=$(cat raw) && test -n "$root" &&
	commit=$(stock -C whole.git rev-parse HEAD~1) &&
	tag=$(stock -C whole.git rev-parse v1)
'

# copy_of <object> <place>: a repository case.git with another copy of it.
copy_of () {
	rm -rf case.git other.git &&
	cp -R whole.git case.git &&
	cp -R whole.git other.git &&
	type=$(stock -C whole.git cat-file -t "$1") &&
	case $2 in
	loose)
		stock init -q --bare loose.git &&
		stock -C whole.git cat-file "$type" "$1" >content &&
		stock -C loose.git hash-object -w -t "$type" --stdin \
			<content &&
		cp -R loose.git/objects/?? case.git/objects &&
		rm -rf loose.git
		;;
	pack | midx)
		echo "$1" | stock -C case.git pack-objects -q \
			objects/pack/pack >name &&
		touch -d "2001-01-01" case.git/objects/pack/pack-$(cat name).*
		test $2 = pack ||
		stock -C case.git multi-pack-index write --preferred-pack=$(
			cd whole.git/objects/pack && echo pack-*.pack)
		;;
	alternate)
		echo "$PWD/other.git/objects" \
			>case.git/objects/info/alternates
		;;
	esac
}

# knows_all: types and sizes are right in case.git. Only headers are looked at
# for these: one that says a wrong size, or leads to another base, is believed.
knows_all () {
	"$GIT" -C case.git cat-file --batch-all-objects --batch-check \
		--unordered >raw && sort raw >actual &&
	stock -C whole.git cat-file --batch-all-objects --batch-check >raw &&
	sort raw >expect &&
	test_cmp expect actual &&
	for id in $base $middle $root $commit $tag
	do
		for about in -t -s
		do
			stock -C whole.git cat-file $about $id >expect &&
			"$GIT" -C case.git cat-file $about $id >actual &&
			test_cmp expect actual || return
		done
	done
}

# reads_all: whatever reads objects finds all of them in case.git.
reads_all () {
	content_of case.git >actual &&
	cmp expect.content actual &&
	"$GIT" -C case.git rev-list --objects --all >actual &&
	test_cmp expect.list actual &&
	for id in $base $middle $root $commit $tag
	do
		stock -C whole.git cat-file -p $id >expect &&
		"$GIT" -C case.git cat-file -p $id >actual &&
		cmp expect actual || return
	done
}

# is_whole <dir>: it has everything that whole.git has.
is_whole () {
	rm -f "$1/objects/info/alternates" &&
	stock -C "$1" fsck --full --no-dangling >out 2>&1 &&
	test_must_be_empty out &&
	stock -C "$1" rev-list --objects --all >actual &&
	test_cmp_sorted expect.list actual
}

repack_is_whole () {
	rm -rf repacked.git &&
	cp -R case.git repacked.git &&
	"$GIT" -C repacked.git repack -adq "$@" &&
	is_whole repacked.git
}

for place in loose pack midx alternate
do
	while read what how
	do
		test_expect_success "$what: $how, and a copy: $place" '
			eval "object=\$$what" &&
			copy_of $object $place &&
			damage case.git $object $how &&
			reads_all &&
			repack_is_whole &&
			case $how in
			size | base) ;;
			*) knows_all && repack_is_whole -f ;;
			esac &&
			test_might_fail "$GIT" -C case.git fsck >out 2>&1 &&
			grep $object out &&
			! grep "missing" out
		'
	done <<-\EOL
	base stream
	base size
	base type
	middle stream
	middle adler
	middle base
	middle type
	root stream
	root adler
	commit stream
	commit type
	tag stream
	EOL
done

test_expect_success 'a repack copies no content that has another id' '
	copy_of $base loose &&
	damage case.git $base content &&
	repack_is_whole &&
	repack_is_whole -f
'

test_expect_success 'both copies are damaged: deltas end in an error' '
	copy_of $base alternate &&
	damage case.git $base stream &&
	damage other.git $base stream &&
	test_must_fail "$GIT" -C case.git cat-file -p $base >out 2>err &&
	test_must_fail "$GIT" -C case.git repack -adq 2>err &&
	test_must_fail "$GIT" -C case.git cat-file --batch-all-objects \
		--batch >out 2>err &&
	test_must_fail "$GIT" -C case.git fsck >out 2>&1 &&
	grep "$base" out
'

test_expect_success 'packs need copies from each other: a read ends' '
	copy_of $base alternate &&
	damage case.git $middle stream &&
	damage other.git $root stream &&
	reads_all &&
	knows_all &&
	damage case.git $root stream &&
	test_must_fail "$GIT" -C case.git cat-file -p $middle >out 2>err
'

test_expect_success 'an object without type and size is called missing' '
	copy_of $middle none &&
	damage case.git $middle type &&
	echo $middle >in &&
	"$GIT" -C case.git cat-file --batch-check <in >actual &&
	echo "$middle missing" >expect &&
	test_cmp expect actual &&
	"$GIT" -C case.git cat-file --batch <in >actual &&
	test_cmp expect actual &&
	"$GIT" -C case.git cat-file --batch-all-objects --batch-check >actual &&
	grep "$middle missing" actual
'

test_done
