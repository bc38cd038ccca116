#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a pack has objects that are deltas against themselves

The indexer refuses such packs. An older version, or stock Git, may have stored one. Its
index has the objects, and nobody can read them. So other copies must stay.'
. "$(dirname "$0")/lib.sh"

# cycle_pack <dir> <text>[=<text of the base>]...: into the repository <dir>.
cycle_pack () {
	dir=$1 && shift &&
	python3 "$GITREACH_SRC/t/cycle-pack.py" "$dir/objects/pack" "$@"
}

# has_texts <dir> <text>...: the blobs can be read.
has_texts () {
	dir=$1 && shift &&
	for text
	do
		printf $text >expect &&
		"$GIT" -C "$dir" cat-file blob \
			$(stock hash-object expect) >actual &&
		test_cmp expect actual || return 1
	done
}

# loose <dir> <text>...
loose () {
	dir=$1 && shift &&
	for text
	do
		printf $text | stock -C "$dir" hash-object -w --stdin ||
			return 1
	done
}

loose_files () {
	find "$1/objects" -type f -path "*/objects/??/*"
}

# The last pack has "base" twice: once whole, and once as a delta against itself. A reader
# may find either.
for pack in "base=base" "base=bas1 bas1=base" "base=bas1 bas1=base bas2=base" \
	"base base=base"
do
	test_expect_success "prune-packed leaves loose objects: $pack" '
		rm -rf r.git &&
		stock init -q --bare r.git &&
		loose r.git base bas1 bas2 &&
		cycle_pack r.git $pack &&
		"$GIT" -C r.git prune-packed &&
		loose_files r.git >files &&
		test_line_count 3 files &&
		has_texts r.git base bas1 bas2
	'
done

test_expect_success 'prune-packed removes objects whose chains end' '
	rm -rf r.git &&
	stock init -q --bare r.git &&
	loose r.git base bas1 bas2 &&
	cycle_pack r.git base bas1=base bas2=bas1 &&
	"$GIT" -C r.git prune-packed &&
	loose_files r.git >files &&
	test_must_be_empty files &&
	has_texts r.git base bas1 bas2
'

test_expect_success 'prune-packed leaves an object whose base the pack lacks' '
	rm -rf r.git &&
	stock init -q --bare r.git &&
	loose r.git base bas1 &&
	cycle_pack r.git bas1=base &&
	"$GIT" -C r.git prune-packed &&
	loose_files r.git >files &&
	test_line_count 2 files
'

# Two small packs, one of which has the only good copy of "base", and a large one.
test_expect_success 'setup: a good copy in another pack' '
	stock init -q --bare packs.git &&
	cycle_pack packs.git base &&
	cycle_pack packs.git other &&
	cycle_pack packs.git base=base $(seq 20) &&
	(cd packs.git/objects/pack && ls -S pack-*.pack | sed -n 1p) >large
'

test_expect_success 'geometric repack copies the object into the new pack' '
	cp -R packs.git r.git.geometric &&
	"$GIT" -C r.git.geometric repack --geometric=2 -d &&
	ls r.git.geometric/objects/pack/*.pack >files &&
	test_line_count 2 files &&
	has_texts r.git.geometric base other 7
'

test_expect_success 'multi-pack-index expire leaves the pack with the good copy' '
	cp -R packs.git r.git.expire &&
	"$GIT" -C r.git.expire multi-pack-index write \
		--preferred-pack=$(cat large) &&
	"$GIT" -C r.git.expire multi-pack-index expire &&
	has_texts r.git.expire base other 7
'

# member_repo <dir>: refs lead to objects of the pack, one of which is loose, too.
member_repo () {
	stock init -q --bare $1 &&
	loose $1 base &&
	for text in base 1 2 3
	do
		echo "$(printf $text | stock hash-object --stdin) refs/tags/$text" ||
			return 1
	done >$1/packed-refs &&
	cycle_pack $1 base=base 1 2 3
}

test_expect_success 'the store of a fork network gets no such pack' '
	"$GIT" network init -q store.git &&
	member_repo member.git &&
	"$GIT" -C store.git network add ../member.git &&
	has_texts store.git base 1 2 3 &&
	has_texts member.git base 1 2 3
'

test_expect_success 'an import into a store brings the good copy' '
	mkdir store &&
	member_repo source.git &&
	"$GIT" store import --name=r source.git "file://$PWD/store" &&
	"$GIT" store export "file://$PWD/store" r out.git &&
	has_texts out.git base 1 2 3
'

test_done
