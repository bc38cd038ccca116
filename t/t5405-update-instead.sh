#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='receive-pack: receive.denyCurrentBranch=updateInstead and the
push-to-checkout hook, as with stock Git'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"

# both <command>...: run a command in the repositories of both servers.
both () {
	(cd ours && "$@") && (cd stock && "$@")
}

# push <side> <repository> <argument>...: with stock Git's client. The result of
# each ref is in <side>.out.
push () {
	side=$1 repository=$2
	shift 2
	case $side in
	ours) program=$GITREACH_BUILD/bin/git-receive-pack ;;
	stock) program=$(stock --exec-path)/git-receive-pack ;;
	esac
	stock -C client push --porcelain --receive-pack="$program" \
		"../$side/$repository" "$@" >raw 2>$side.err
	grep "^[^TD]" raw >$side.out
}

# test_as_stock <repository> <argument of push>...: both pushes have the same
# result, and leave the same work tree, index and refs.
test_as_stock () {
	repository=$1
	for side in ours stock
	do
		push $side "$@"
		(
			cd $side/$repository &&
			if test -e .git
			then
				stock status --porcelain &&
				stock ls-files -s &&
				stock rev-parse HEAD &&
				ls &&
				cat file
			fi &&
			stock for-each-ref
		) >$side.state 2>&1
	done
	test_cmp stock.out ours.out && test_cmp stock.state ours.state
}

work_tree () {
	stock init -q "$1" &&
	stock -C "$1" config receive.denyCurrentBranch updateInstead &&
	stock -C "$1" config receive.denyDeleteCurrent ignore
}

test_expect_success 'setup' '
	mkdir ours stock &&
	stock init -q client &&
	for n in 1 2 3
	do
		echo $n >client/file && echo $n >client/file$n &&
		stock -C client add . && test_tick &&
		stock -C client commit -q -m $n || return 1
	done &&
	both work_tree tree
'

test_expect_success 'a branch without commits' '
	test_as_stock tree main~2:refs/heads/main &&
	grep "new branch" ours.out &&
	test -e ours/tree/file1 && ! test -e ours/tree/file2
'

test_expect_success 'a clean work tree is updated' '
	both touch -d "2001-01-01 00:00" tree/file &&
	test_as_stock tree main~1:main &&
	test -e ours/tree/file2 &&
	stock -C ours/tree fsck --strict
'

test_expect_success 'a push to another branch leaves the work tree alone' '
	test_as_stock tree main:refs/heads/other &&
	! test -e ours/tree/file3
'

test_expect_success 'a changed file or index refuses the push' '
	both sh -c "echo mine >tree/file" &&
	test_as_stock tree main &&
	grep "Working directory has unstaged changes" ours.out &&
	both stock -C tree add file &&
	test_as_stock tree main &&
	grep "Working directory has staged changes" ours.out &&
	grep mine ours/tree/file &&
	both stock -C tree reset -q --hard
'

test_expect_success 'an untracked file in the way refuses the push' '
	both sh -c "echo mine >tree/file3" &&
	test_as_stock tree main &&
	grep "Could not update working tree to new HEAD" ours.out &&
	grep mine ours/tree/file3 &&
	both rm tree/file3
'

test_expect_success 'other commands are executed, unless the push is atomic' '
	both sh -c "echo mine >tree/file" &&
	test_as_stock tree main main:refs/heads/third &&
	test_as_stock tree --atomic main main:refs/heads/fourth &&
	both stock -C tree reset -q --hard
'

test_expect_success 'a push of an older commit updates the work tree' '
	test_as_stock tree main &&
	test_as_stock tree +main~2:main &&
	! test -e ours/tree/file3
'

test_expect_success 'a deletion of the branch is refused' '
	test_as_stock tree :main &&
	grep "Could not update working tree to new HEAD" ours.out
'

test_expect_success 'a refused push leaves the work tree unchanged' '
	both sh -c "printf \"#!/bin/sh\nexit 1\n\" >tree/.git/hooks/update" &&
	both chmod +x tree/.git/hooks/update &&
	test_as_stock tree main &&
	grep "hook declined" ours.out &&
	! test -e ours/tree/file3 &&
	both rm tree/.git/hooks/update
'

test_expect_success 'a push with a stale old value leaves the work tree unchanged' '
	stock -C ours/tree rev-parse main >before &&
	GIT_PUSH=$(stock -C client rev-parse main~1) &&
	new=$(stock -C client rev-parse main) &&
	stock -C client pack-objects --revs --stdout -q >pack <<-EOF &&
	$new
	EOF
	line="$GIT_PUSH $new refs/heads/main" &&
	caps="report-status" &&
	{
		printf "%04x%s\0%s\n" $((${#line} + ${#caps} + 6)) \
			"$line" "$caps" &&
		printf 0000 &&
		cat pack
	} >request &&
	"$GITREACH_BUILD/bin/git-receive-pack" ours/tree <request >raw \
		2>err &&
	grep -a "ng refs/heads/main" raw &&
	stock -C ours/tree rev-parse main >after &&
	test_cmp before after &&
	test -z "$(stock -C ours/tree status --porcelain)" &&
	! test -e ours/tree/file3
'

test_expect_success 'push-to-checkout decides' '
	cat >hook <<-\EOH &&
	#!/bin/sh
	echo "hook $1"
	{
		echo "$1" && pwd && echo "$GIT_DIR" && echo "$GIT_WORK_TREE"
	} | sed "s,^$(dirname "$GIT_WORK_TREE"),," >"$GIT_DIR/told"
	test "$1" != "$REFUSE" || exit 1
	git read-tree -u -m HEAD "$1"
	EOH
	both cp ../hook tree/.git/hooks/push-to-checkout &&
	both chmod +x tree/.git/hooks/push-to-checkout &&
	REFUSE=$(stock -C client rev-parse main) &&
	export REFUSE &&
	both sh -c "echo mine >tree/untracked" &&
	test_as_stock tree main &&
	grep "push-to-checkout hook declined" ours.out &&
	grep "remote: hook $REFUSE" ours.err &&
	sed "s,/\.$,," stock/tree/.git/told >expect &&
	test_cmp expect ours/tree/.git/told &&
	test_as_stock tree main~1:main &&
	test -e ours/tree/file2 &&
	both rm tree/.git/hooks/push-to-checkout
'

test_expect_success 'a linked work tree of a bare repository' '
	both stock clone -q --bare ../client bare.git &&
	both stock -C bare.git worktree add -q -b side ../linked main~2 &&
	both stock -C bare.git config receive.denyCurrentBranch updateInstead &&
	for side in ours stock
	do
		stock -C $side/bare.git update-ref refs/heads/main main~1 &&
		push $side bare.git main main:side || return 1
	done &&
	test_cmp stock.out ours.out &&
	for side in ours stock
	do
		test -z "$(stock -C $side/linked status --porcelain)" &&
		stock -C $side/linked ls-files -s >$side.files || return 1
	done &&
	test_cmp stock.files ours.files
'

# Stock Git writes the files into the git directory.
test_expect_success 'a git directory whose work tree is not known' '
	stock init -q --separate-git-dir=elsewhere.git elsewhere &&
	stock -C elsewhere config receive.denyCurrentBranch updateInstead &&
	mv elsewhere.git ours/ &&
	push ours elsewhere.git main &&
	grep "denyCurrentBranch = updateInstead needs a worktree" ours.out &&
	! test -e ours/elsewhere.git/file
'

test_expect_success 'core.worktree names the work tree' '
	mkdir ours/files &&
	stock --git-dir=ours/elsewhere.git config core.worktree ../files &&
	push ours elsewhere.git main &&
	grep "new branch" ours.out &&
	test -e ours/files/file3 &&
	! test -e ours/elsewhere.git/file
'

test_expect_success 'a work tree of a SHA-256 repository' '
	stock init -q --object-format=sha256 client256 &&
	stock -C client256 commit -q --allow-empty -m empty &&
	echo 1 >client256/file && stock -C client256 add . &&
	stock -C client256 commit -q -m one &&
	stock init -q --object-format=sha256 ours/tree256 &&
	stock -C ours/tree256 config receive.denyCurrentBranch updateInstead &&
	for rev in main~1 main
	do
		stock -C client256 push -q --receive-pack="$GIT receive-pack" \
			../ours/tree256 $rev:refs/heads/main || return 1
	done &&
	grep 1 ours/tree256/file &&
	test -z "$(stock -C ours/tree256 status --porcelain)"
'

test_done
