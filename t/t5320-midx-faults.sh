#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='multi-pack-index write when it ends in its midst

At each call that changes the disk: there is the old multi-pack-index, the new
one or none, whole; no object is lost; the next write succeeds.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-fault.sh"

test_expect_success 'a repository with a multi-pack-index and a newer pack' '
	repo_linear good.git 3 &&
	rm -r good.git/hooks &&
	stock -C good.git repack -dq &&
	stock -C good.git multi-pack-index write --bitmap 2>"/dev/null" &&
	commit=$(stock -C good.git commit-tree -p main -m more main^{tree}) &&
	stock -C good.git update-ref refs/heads/main $commit &&
	stock -C good.git repack -dq &&
	test $(ls good.git/objects/pack/*.pack | wc -l) -eq 2 &&
	ls good.git/objects/pack/multi-pack-index-*.bitmap &&
	stock -C good.git rev-list --objects --all >all &&
	wc -l <all >all.nr
'

fresh () {
	rm -rf r.git && cp -R good.git r.git
}

is_whole () {
	find r.git -name "tmp_*" -o -name "*.lock" >left &&
	fault_ended "$1" left &&
	stock -C r.git fsck --full >fsck 2>&1 &&
	if test -e r.git/objects/pack/multi-pack-index
	then
		"$GIT" -C r.git multi-pack-index verify
	fi &&
	"$GIT" -C r.git rev-list --count --objects --all --use-bitmap-index \
		>now 2>warned &&
	test_cmp all.nr now &&
	test_must_be_empty warned &&
	rm -f r.git/objects/pack/*.lock &&
	"$GIT" -C r.git multi-pack-index --no-progress write &&
	stock -C r.git multi-pack-index verify &&
	stock -C r.git rev-list --objects --all >now &&
	test_cmp all now
}

for mode in lose EIO ENOSPC
do
	test_expect_success "multi-pack-index write: $mode at every call" "
		fault_each $mode fresh \
			'$GIT -C r.git multi-pack-index write' \
			'is_whole $mode'
	"
done

test_done
