#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='multi-pack-indexes with bitmaps that end in their midst

`multi-pack-index write --bitmap` and `repack --geometric=2 -d -m -b`, at each
call that changes the disk: no object is lost, nobody believes a bitmap index
that belongs to something else, and the next one leaves nothing behind.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-fault.sh"
. "$GITREACH_SRC/t/lib-midx.sh"

test_expect_success 'a repository with an index, newer packs, loose objects' '
	repo_linear good.git 12 &&
	rm -rf good.git/hooks &&
	"$GIT" -C good.git repack -a -d -q --no-write-bitmap-index &&
	"$GIT" -C good.git multi-pack-index --no-progress write --bitmap &&
	repo_add_commit good.git &&
	stock -C good.git repack -dq &&
	repo_add_commit good.git &&
	stock -C good.git repack -dq &&
	repo_add_commit good.git &&
	test $(ls good.git/objects/pack/*.pack | wc -l) -eq 3 &&
	midx_bitmap good.git &&
	stock -C good.git rev-list --objects --all | LC_ALL=C sort >all &&
	wc -l <all >all.nr
'

fresh () {
	rm -rf r.git && cp -Rp good.git r.git
}

# The checksum in its name and in its header is that of what is there.
no_other_bitmap () {
	if test -e r.git/objects/pack/multi-pack-index
	then
		"$GIT" -C r.git multi-pack-index verify
	fi &&
	"$GIT" -C r.git bitmap list >bitmaps &&
	"$GIT" -C r.git bitmap verify >verified
}

is_whole () {
	fault_exited "$1" &&
	stock -C r.git fsck --full >fsck 2>&1 &&
	no_other_bitmap &&
	"$GIT" -C r.git rev-list --count --objects --all --use-bitmap-index \
		>now 2>warned &&
	test_cmp all.nr now &&
	test_must_be_empty warned &&
	stock -C r.git rev-list --count --objects --all --use-bitmap-index \
		>now 2>"/dev/null" &&
	test_cmp all.nr now
}

# is_repaired <command>...
is_repaired () {
	rm -f r.git/objects/pack/*.lock &&
	"$@" &&
	test $(ls r.git/objects/pack/multi-pack-index-* | wc -l) -eq 1 &&
	stock -C r.git multi-pack-index verify 2>"/dev/null" &&
	stock -C r.git rev-list --objects --all | LC_ALL=C sort >now &&
	test_cmp all now
}

write='-C r.git multi-pack-index --no-progress write --bitmap'
for mode in lose EIO
do
	test_expect_success "multi-pack-index write --bitmap: $mode" "
		fault_each $mode fresh '$GIT $write' \
			'is_whole $mode && is_repaired \"\$GIT\" $write'
	"
done

repack='-C r.git repack -q -d --geometric=2 --write-midx --write-bitmap-index'
for mode in lose EIO
do
	test_expect_success "repack --geometric -d -m -b: $mode" "
		fault_each $mode fresh '$GIT $repack' \
			'is_whole $mode && is_repaired \"\$GIT\" $repack'
	"
done

test_done
