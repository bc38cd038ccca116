#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='fork networks: a store, members, and plain Git on top'
. "$(dirname "$0")/lib.sh"

# stock_whole <repo>...: stock Git finds nothing wrong, not even missing
stock_whole () {
	for repo in "$@"
	do
		stock -C "$repo" fsck --full --strict --no-dangling \
			>fsck.out 2>&1 || {
			echo "$repo:" && cat fsck.out
			return 1
		}
	done
}

# commit_to <repo> <branch> <text>: a commit, by stock Git, as if pushed
commit_to () {
	blob=$(echo "$3" | stock -C "$1" hash-object -w --stdin) &&
	tree=$(printf "100644 blob $blob\tfile\n" | stock -C "$1" mktree) &&
	test_tick &&
	parent=$(stock -C "$1" show-ref --hash --verify "refs/heads/$2" \
		2>/dev/null || :) &&
	commit=$(stock -C "$1" commit-tree ${parent:+-p $parent} -m "$3" \
		$tree) &&
	stock -C "$1" update-ref "refs/heads/$2" $commit
}

# own_objects <repo>: what is not borrowed
own_objects () {
	(cd "$1/objects" && find . -type f ! -path "./info/*" ! -name "*.bitmap" |
		sort)
}

test_expect_success 'init' '
	"$GIT" network init store.git >out &&
	echo "Initialized empty network in $PWD/store.git/" >expect &&
	test_cmp expect out &&
	test_expect_code 128 "$GIT" network init store.git 2>err &&
	grep "is the store of a network already" err &&
	stock_whole store.git &&
	stock -C store.git config extensions.preciousObjects >out &&
	echo true >expect &&
	test_cmp expect out &&
	test_must_fail stock -C store.git repack -adq
'

test_expect_success 'add a repository' '
	repo_linear root.git 30 &&
	repo_tags root.git &&
	stock -C root.git repack -adq &&
	stock -C root.git show-ref >expect &&
	"$GIT" -C store.git network add ../root.git >out &&
	grep "^member 1: " out &&
	stock -C root.git show-ref >out &&
	test_cmp expect out &&
	sed "s, refs/, refs/virtual/1/," expect >virtual &&
	stock -C store.git show-ref >out &&
	test_cmp virtual out &&
	repo_objects root.git >expect &&
	repo_objects store.git >out &&
	test_cmp expect out &&
	stock_whole root.git store.git &&
	test_expect_code 128 "$GIT" -C store.git network add ../root.git 2>err &&
	grep "is member 1 already" err
'

test_expect_success 'peeled values of tags are in packed-refs' '
	stock -C store.git show-ref -d >all &&
	grep "refs/virtual/1/tags/deep^{}" all
'

test_expect_success 'fork: the same refs, no object' '
	"$GIT" network fork root.git forks/a.git >out &&
	echo "member 2: forks/a.git" >expect &&
	test_cmp expect out &&
	own_objects forks/a.git >out &&
	test_must_be_empty out &&
	stock -C root.git show-ref -d >expect &&
	stock -C forks/a.git show-ref -d >out &&
	test_cmp expect out &&
	stock -C root.git symbolic-ref HEAD >expect &&
	stock -C forks/a.git symbolic-ref HEAD >out &&
	test_cmp expect out &&
	stock_whole forks/a.git &&
	stock clone -q --bare --no-local forks/a.git clone.git &&
	stock_whole clone.git &&
	! test -e clone.git/objects/info/alternates
'

test_expect_success 'fork a fork by id after an unsynced push' '
	commit_to forks/a.git topic one &&
	"$GIT" -C forks/a.git network fork 2 "$PWD/forks/b.git" &&
	own_objects forks/b.git >out &&
	test_must_be_empty out &&
	stock -C forks/a.git rev-parse topic >expect &&
	stock -C forks/b.git rev-parse topic >out &&
	test_cmp expect out &&
	stock_whole forks/b.git store.git
'

test_expect_success 'a fork lacks the hidden references of its source' '
	stock clone -q --mirror --no-local root.git hiding.git &&
	stock -C hiding.git update-ref refs/internal/secret main~2 &&
	stock -C hiding.git update-ref refs/pull/1/head main~3 &&
	stock -C hiding.git update-ref refs/pull/shown/head main~4 &&
	stock -C hiding.git symbolic-ref refs/heads/alias refs/pull/1/head &&
	stock -C hiding.git config transfer.hideRefs refs/internal &&
	stock -C hiding.git config uploadpack.hideRefs refs/pull &&
	stock -C hiding.git config --add uploadpack.hideRefs \
		"!refs/pull/shown" &&
	stock -C hiding.git config receive.hideRefs refs/tags &&
	stock clone -q --mirror --no-local hiding.git mirror.git &&
	stock -C mirror.git show-ref -d >expect &&
	grep refs/pull/shown/head expect &&
	grep refs/heads/alias expect &&
	grep refs/tags/ expect &&
	! grep -e refs/internal -e refs/pull/1 expect &&
	"$GIT" network init hiding-store.git &&
	"$GIT" -C hiding-store.git network add -q ../hiding.git &&
	"$GIT" network fork -q hiding.git forks/shown.git &&
	stock -C forks/shown.git show-ref -d >out &&
	test_cmp expect out &&
	stock_whole hiding.git forks/shown.git hiding-store.git &&
	stock -C forks/shown.git update-ref -d refs/pull/shown/head &&
	stock -C hiding.git show-ref --verify refs/internal/secret
'

test_expect_success 'fork is refused onto something, and outside of networks' '
	test_expect_code 128 "$GIT" network fork root.git forks/a.git 2>err &&
	test_expect_code 128 "$GIT" network fork root.git clone.git 2>err &&
	grep "already exists and is not an empty directory" err &&
	test_expect_code 128 "$GIT" network fork clone.git new.git 2>err &&
	grep "is not in a network" err &&
	! test -e new.git &&
	test_expect_code 128 "$GIT" -C store.git network fork 7 new.git
'

test_expect_success 'list' '
	cat >expect <<-EOF &&
	1 member $PWD/root.git
	2 member $PWD/forks/a.git
	3 member $PWD/forks/b.git
	EOF
	"$GIT" -C store.git network list >out &&
	test_cmp expect out &&
	"$GIT" -C forks/b.git network list >out &&
	test_cmp expect out &&
	"$GIT" -C forks/b.git network list --json >json &&
	python3 -c "
import json, sys
for m in json.load(sys.stdin):
    print(m[\"id\"], m[\"state\"], m[\"path\"])" <json >out &&
	test_cmp expect out &&
	test_expect_code 128 "$GIT" -C clone.git network list 2>err &&
	grep "is not in a network" err
'

test_expect_success 'sync copies new objects only' '
	"$GIT" -C store.git network sync --all &&
	commit_to forks/a.git main two &&
	commit_to root.git other three &&
	test_expect_code 128 "$GIT" -C store.git network sync nobody 2>err &&
	"$GIT" -C store.git network sync ../forks/a.git 1 >out &&
	cat >expect <<-\EOF &&
	member 1: 3 objects copied, 0 linked, 1 refs changed
	member 2: 3 objects copied, 0 linked, 1 refs changed
	EOF
	test_cmp expect out &&
	"$GIT" -C store.git network sync --all >out &&
	! grep -v "0 objects copied, 0 linked, 0 refs" out &&
	for m in 1:root.git 2:forks/a.git 3:forks/b.git
	do
		stock -C ${m#*:} show-ref |
			sed "s, refs/, refs/virtual/${m%%:*}/," || return
	done | sort >expect &&
	stock -C store.git show-ref | sort >out &&
	test_cmp expect out &&
	stock_whole store.git root.git forks/a.git forks/b.git
'

test_expect_success 'sync updates deleted and moved refs in the store' '
	stock -C root.git update-ref -d refs/heads/other &&
	stock -C root.git update-ref refs/heads/main main~3 &&
	"$GIT" -C store.git network sync -q 1 &&
	stock -C store.git show-ref refs/virtual/1/heads/main |
		cut -d" " -f1 >out &&
	stock -C root.git rev-parse main >expect &&
	test_cmp expect out &&
	! stock -C store.git show-ref -q --verify refs/virtual/1/heads/other
'

test_expect_success 'packs of a push are linked, not copied' '
	stock clone -q forks/a.git work &&
	(
		cd work &&
		seq 1 150 >file &&
		for i in $(seq 1 60)
		do
			test_tick &&
			echo $i >>file && stock add file &&
			stock commit -q -m "push $i" || exit 1
		done &&
		stock -c receive.unpackLimit=1 push -q origin main
	) &&
	"$GIT" -C store.git network sync 2 >out &&
	echo "member 2: 0 objects copied, 180 linked, 1 refs changed" >expect &&
	test_cmp expect out &&
	stock_whole store.git forks/a.git
'

test_expect_success 'the store has a hard link of each pack, and a copy of its index' '
	for pack in forks/a.git/objects/pack/*.pack
	do
		linked=store.git/objects/pack/${pack##*/} &&
		test "$pack" -ef $linked &&
		cmp "${pack%.pack}.idx" "${linked%.pack}.idx" &&
		! test "${pack%.pack}.idx" -ef "${linked%.pack}.idx" || return
	done
'

test_expect_success 'a member does not advertise refs of other members' '
	commit_to forks/b.git secret hidden &&
	"$GIT" -C store.git network sync --all -q &&
	secret=$(stock -C forks/b.git rev-parse secret) &&
	own=$(stock -C root.git rev-parse main) &&
	for git in "$GIT" "$STOCK_GIT"
	do
		echo 0000 | "$git" receive-pack root.git >out &&
		! grep -a $secret out &&
		grep -a $own out || return
	done
'

test_expect_success 'push to members by stock Git, through both' '
	(cd work && stock push -q ../root.git main:pushed \
		--receive-pack="$GITREACH_BUILD/bin/git-receive-pack" &&
	stock push -q ../forks/b.git main:pushed) &&
	stock_whole root.git forks/b.git &&
	"$GIT" -C store.git network sync -q --all &&
	stock_whole store.git
'

test_expect_success 'who cannot be a member' '
	stock clone -q --bare --depth 1 "file://$PWD/root.git" shallow.git &&
	test_expect_code 128 "$GIT" -C store.git network add ../shallow.git 2>err &&
	grep "is shallow" err &&
	stock clone -q --bare --shared clone.git shared.git &&
	test_expect_code 128 "$GIT" -C store.git network add ../shared.git 2>err &&
	grep "borrows objects from another repository" err &&
	test_expect_code 128 "$GIT" -C store.git network add . 2>err &&
	grep "is the store of a network" err &&
	stock init -q --bare --object-format=sha256 sha256.git &&
	test_expect_code 128 "$GIT" -C store.git network add ../sha256.git 2>err &&
	grep "another hash function" err &&
	test_expect_code 128 env GIT_OBJECT_DIRECTORY="$PWD/x" "$GIT" \
		-C store.git network list 2>err &&
	grep "GIT_OBJECT_DIRECTORY must not be set" err
'

test_expect_success 'a repository with a work tree and a detached HEAD' '
	stock clone -q clone.git tree &&
	(
		cd tree &&
		stock checkout -q --detach main~2 &&
		echo more >>dir0/file0 &&
		stock add . && stock commit -q -m detached &&
		stock checkout -q --detach main~5 &&
		echo staged >staged && stock add staged
	) &&
	"$GIT" -C store.git network add ../tree >out &&
	stock -C store.git rev-parse refs/virtual/4/HEAD >out &&
	stock -C tree rev-parse HEAD >expect &&
	test_cmp expect out &&
	for rev in HEAD@{1} :staged
	do
		stock -C store.git cat-file -e $(stock -C tree rev-parse $rev) ||
			return
	done &&
	stock_whole tree store.git
'

test_expect_success 'a network of SHA-256 repositories' '
	"$GIT" network init -q --object-format=sha256 s256.git &&
	REPO_FORMAT=sha256 repo_linear r256.git 5 &&
	"$GIT" -C s256.git network add -q ../r256.git &&
	"$GIT" network fork -q r256.git f256.git &&
	stock_whole s256.git f256.git &&
	stock -C r256.git show-ref >expect &&
	stock -C f256.git show-ref >out &&
	test_cmp expect out
'

test_expect_success 'borrowers: repositories that borrow and are no members' '
	mkdir -p outside/deep outside/tree &&
	stock clone -q --bare root.git outside/deep/plain.git &&
	stock clone -q --shared root.git outside/tree/shared &&
	stock clone -q --bare --no-local root.git outside/own.git &&
	stock clone -q --bare --shared outside/own.git outside/elsewhere.git &&
	stock -C outside/tree/shared worktree add -q ../linked &&
	mkdir outside/tree/shared/.git/modules &&
	stock clone -q --bare --reference store.git root.git \
		outside/tree/shared/.git/modules/sub &&
	ln -s deep outside/link &&
	cat >expect <<-EOF &&
	from=1 path=$PWD/outside/tree/shared/.git
	from=store path=$PWD/outside/deep/plain.git
	from=store path=$PWD/outside/tree/shared/.git/modules/sub
	EOF
	"$GIT" -C store.git network borrowers ../outside >out &&
	sort out >sorted &&
	test_cmp expect sorted &&
	"$GIT" -C root.git network borrowers . "$PWD/outside" >out &&
	sort out >sorted &&
	test_cmp expect sorted
'

test_expect_success 'borrowers as JSON' '
	"$GIT" -C store.git network borrowers --json "$PWD/outside/deep" >out &&
	cat >expect <<-EOF &&
	[
	  {"from": "store", "path": "$PWD/outside/deep/plain.git"}
	]
	EOF
	test_cmp expect out &&
	"$GIT" -C store.git network borrowers --json ../outside/own.git >out &&
	echo "[]" >expect &&
	test_cmp expect out
'

test_expect_success 'an object directory that is a symlink is borrowed, too' '
	stock init -q --bare outside/old.git &&
	rm -r outside/old.git/objects &&
	ln -s ../../root.git/objects outside/old.git/objects &&
	"$GIT" -C store.git network borrowers ../outside/old.git >out &&
	echo "from=1 path=$PWD/outside/old.git" >expect &&
	test_cmp expect out
'

test_expect_success 'borrowers: HEAD as a link, submodules of work trees, a misleading tree' '
	mkdir -p hidden/tree/objects &&
	stock clone -q --bare --shared root.git hidden/linked.git &&
	stock -C hidden/linked.git pack-refs --all &&
	ln -sf "$(stock -C hidden/linked.git symbolic-ref HEAD)" \
		hidden/linked.git/HEAD &&
	stock -C hidden/linked.git rev-parse -q --verify HEAD &&
	stock clone -q --shared root.git hidden/tree/plain &&
	mkdir -p hidden/tree/plain/.git/worktrees/w/modules &&
	stock clone -q --bare --reference store.git root.git \
		hidden/tree/plain/.git/worktrees/w/modules/sub &&
	echo text >hidden/tree/HEAD &&
	cat >expect <<-EOF &&
	from=1 path=$PWD/hidden/linked.git
	from=1 path=$PWD/hidden/tree/plain/.git
	from=store path=$PWD/hidden/tree/plain/.git/worktrees/w/modules/sub
	EOF
	test_expect_code 1 "$GIT" -C store.git network borrowers ../hidden \
		>out 2>err &&
	grep "^warning: .*hidden/tree" err &&
	sort out >sorted &&
	test_cmp expect sorted
'

test_expect_success 'borrowers: what cannot be read is a warning, and status 1' '
	mkdir -p mixed/bad.git/objects &&
	echo nonsense >mixed/bad.git/HEAD &&
	stock clone -q --bare root.git mixed/good.git &&
	test_expect_code 1 "$GIT" -C store.git network borrowers ../mixed \
		>out 2>err &&
	echo "from=store path=$PWD/mixed/good.git" >expect &&
	test_cmp expect out &&
	grep "^warning: .*bad.git" err &&
	test_expect_code 128 "$GIT" -C store.git network borrowers ../none \
		>out 2>err &&
	grep "cannot search .../none.: no such directory" err
'

test_expect_success 'usage' '
	test_expect_code 129 "$GIT" network 2>err &&
	test_expect_code 129 "$GIT" network nonsense 2>err &&
	grep "unknown subcommand" err &&
	for args in "init" "init a b" "fork a" "add" "sync" "sync --all x" \
		"list x" "borrowers"
	do
		test_expect_code 129 "$GIT" -C store.git network $args 2>err ||
			return
	done
'

test_done
