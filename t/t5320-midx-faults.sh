#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='multi-pack-index write when it ends in its midst

At each call that changes the disk: there is the old multi-pack-index, the new
one or none, whole; no object is lost; the next write succeeds.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-fault.sh"

if ! test_have_prereq GIT
then
	skip_all='git was not built'
	test_done
fi

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

list_leftovers () {
	find r.git -name "tmp_*" -o -name "*.lock" >left
}

has_ended () {
	list_leftovers &&
	if test -n "$fault_over"
	then
		test_must_be_empty left
	else
		case $1 in
		kill|lose) test $fault_code -eq 137 ;;
		EIO) fault_said && test $(wc -l <left) -le 1 ;;
		*) fault_said && test_must_be_empty left ;;
		esac
	fi
}

is_whole () {
	has_ended "$1" &&
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
