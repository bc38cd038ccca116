#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='fork networks: the store has all that its objects reach

Members that are shallow or have broken unreachable objects, packs of one name, and
members that are deleted meanwhile.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-meanwhile.sh"

whole () {
	for repo in "$@"
	do
		stock -C "$repo" fsck --full --no-dangling >fsck.out 2>&1 || {
			echo "$repo:" && cat fsck.out
			return 1
		}
	done
}

network () {
	"$GIT" -C store.git network "$@"
}

# anew: a store with the members root.git (1), fork.git (2) and third.git (3)
anew () {
	rm -rf *.git &&
	"$GIT" network init -q store.git &&
	repo_linear root.git 5 &&
	network add -q ../root.git &&
	"$GIT" network fork -q root.git fork.git &&
	"$GIT" network fork -q root.git third.git
}

# new_commit <repository> <text> <parent option>...: make a commit that no reference
# reaches, and print its id
new_commit () {
	blob=$(echo "$2" | stock -C "$1" hash-object -w --stdin) &&
	tree=$(printf "100644 blob $blob\tfile\n" | stock -C "$1" mktree) &&
	to=$1 text=$2 && shift 2 &&
	stock -C "$to" commit-tree -m "$text" "$@" $tree </dev/null
}

test_expect_success 'a member got a shallow push' '
	anew &&
	repo_linear other.git 3 &&
	tip=$(new_commit other.git one -p main) &&
	tip=$(new_commit other.git two -p $tip) &&
	stock -C other.git update-ref refs/heads/main $tip &&
	stock clone -q --bare --depth 1 "file://$PWD/other.git" cut.git &&
	stock -C fork.git config receive.shallowUpdate true &&
	stock -C cut.git push -q ../fork.git main:cut &&
	test_expect_code 1 "$GIT" -C store.git network sync -q --all 2>err &&
	grep "fork.git. is shallow" err &&
	test_must_fail stock -C store.git cat-file -e $tip &&
	test_expect_code 128 "$GIT" network fork fork.git new.git 2>err &&
	grep "fork.git. is shallow" err && ! test -e new.git &&
	test_expect_code 128 "$GIT" -C store.git network repack -q \
		--prune=now 2>err &&
	grep "fork.git. is shallow" err &&
	test_expect_code 1 "$GIT" -C store.git network verify 2>err &&
	grep "^error: member 2: .*fork.git. is shallow" err
'

test_expect_success 'the whole history is synced from another member' '
	stock -C other.git push -q ../third.git main:whole &&
	network sync -q 3 &&
	"$GIT" network fork -q third.git new.git &&
	whole store.git third.git new.git &&
	stock -C fork.git fetch -q --unshallow ../other.git main &&
	network repack -q --prune=now &&
	whole store.git fork.git third.git new.git
'

test_expect_success 'a fetch made a member shallow' '
	anew &&
	repo_linear other.git 8 &&
	stock -C fork.git fetch -q --depth 1 "file://$PWD/other.git" main:cut &&
	test_expect_code 1 "$GIT" -C store.git network repack -q 2>err &&
	grep "^warning: .*fork.git. is shallow" err &&
	whole store.git
'

test_expect_success 'a bitmap index says nothing about unreachable objects' '
	rm -rf *.git &&
	"$GIT" network init -q store.git &&
	repo_linear new.git 9 &&
	lone=$(new_commit new.git lone -p main) &&
	blob=$(echo lone | stock -C new.git hash-object --stdin) &&
	{ echo $lone && stock -C new.git rev-parse $lone^{tree}; } |
		stock -C new.git pack-objects -q objects/pack/pack >out &&
	rm new.git/objects/$(echo $blob | sed "s,..,&/,") &&
	stock -C new.git repack -adkbq &&
	ls new.git/objects/pack/*.bitmap >out &&
	network add -q ../new.git &&
	network sync -q --all &&
	test_must_fail stock -C store.git cat-file -e $lone &&
	echo lone | stock -C new.git hash-object -w --stdin &&
	stock -C new.git update-ref refs/heads/lone $lone &&
	"$GIT" network fork -q new.git copy.git &&
	network repack -q &&
	whole store.git new.git copy.git
'

test_expect_success 'a pack of reachable objects with a bitmap index is linked' '
	rm -rf *.git &&
	"$GIT" network init -q store.git &&
	repo_linear new.git 40 && repo_tags new.git &&
	stock -C new.git repack -adbq &&
	network add ../new.git >out &&
	grep "member 1: 0 objects copied, [1-9][0-9]* linked" out &&
	whole store.git new.git
'

# JGit names packs after their objects.
test_expect_success 'two different packs of one name are synced at the same time' '
	anew &&
	repo_linear a.git 60 && cp -R a.git b.git &&
	stock -C a.git repack -adfbq --depth=50 &&
	stock -C b.git -c pack.compression=0 repack -adfFbq --depth=0 &&
	name=pack-1111111111111111111111111111111111111111 &&
	for file in [ab].git/objects/pack/pack-*
	do
		mv $file ${file%/*}/$name.${file##*.} || return
	done &&
	! cmp [ab].git/objects/pack/$name.pack &&
	meanwhile "*/store.git/objects/pack/tmp_idx_*" \
		"\"$GIT\" -C \"$PWD/store.git\" network add -q ../b.git" \
		"$GIT" -C store.git network add -q ../a.git &&
	whole store.git a.git b.git &&
	network repack -q &&
	whole store.git a.git b.git
'

for prune in '' --prune=now
do
	test_expect_success "repack $prune: a member is deleted meanwhile" '
		anew &&
		meanwhile "*/root.git/packed-refs" \
			"\"$GIT\" -C \"$PWD/store.git\" network delete -q 2" \
			"$GIT" -C store.git network repack -q $prune 2>err &&
		test_must_be_empty err && ! test -e fork.git &&
		whole store.git root.git third.git
	'
done

test_expect_success 'sync --all: a member is deleted meanwhile' '
	anew &&
	meanwhile "*/root.git/packed-refs" \
		"\"$GIT\" -C \"$PWD/store.git\" network delete -q 2" \
		"$GIT" -C store.git network sync -q --all 2>err &&
	test_must_be_empty err &&
	test_expect_code 128 "$GIT" -C store.git network sync 2
'

test_expect_success 'a symlink to the objects of the store is no member' '
	anew &&
	stock init -q --bare link.git && rm -r link.git/objects &&
	ln -s ../store.git/objects link.git/objects &&
	test_expect_code 128 "$GIT" -C store.git network add ../link.git 2>err &&
	grep "is the store of a network" err &&
	! test -e store.git/objects/info/alternates &&
	network list >out && test_line_count 3 out
'

test_expect_success 'many references in a store with reftables' '
	anew &&
	"$GIT" -C store.git refs migrate --ref-format=reftable &&
	for i in $(seq 20)
	do
		stock -C root.git update-ref refs/heads/b$i main || return
	done &&
	network sync -q --all &&
	"$GIT" -C store.git show-ref >out &&
	grep -c " refs/virtual/1/heads/b" out >count &&
	echo 20 >expect && test_cmp expect count
'

test_done
