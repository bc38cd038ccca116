#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='reflog expire, delete, drop, list and exists do what stock Git does'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-fault.sh"

ZERO=0000000000000000000000000000000000000000
GONE=1234567890123456789012345678901234567890

# at <seconds> <words>...: runs stock Git in the repository "good" at this time.
at () {
	when=$1 && shift &&
	GIT_COMMITTER_DATE="$when +0000" stock -C good "$@"
}

test_expect_success 'a branch that went back, another one, a stash' '
	stock init -q -b main good &&
	at 1700001000 commit -q --allow-empty -m c1 &&
	at 1700002000 commit -q --allow-empty -m c2 &&
	at 1700003000 commit -q --allow-empty -m c3 &&
	at 1700005000 reset -q --hard HEAD~1 &&
	at 1700006000 commit -q --allow-empty -m c4 &&
	at 1700006000 branch side &&
	at 1700006000 update-ref --create-reflog refs/stash HEAD~1 &&
	c4=$(stock -C good rev-parse main) &&
	c3=$(stock -C good rev-parse main@{2}) &&
	tree=$(stock -C good rev-parse main^{tree}) &&
	cp -R good strange &&
	cat >>strange/.git/logs/refs/heads/main <<-EOF &&
	$GONE $GONE x <x> 1700007000 +0000	missing
	$ZERO $GONE x <x> 1700007000 +0000	made missing
	$tree $tree x <x> 1700007000 +0000	a tree
	rubbish
	$c4 $c4 x <x> 1700007000 +0000
	$c4 $c4 x <x> bogus +0000	no time
	EOF
	cp -R good other && stock -C other update-ref refs/heads/x $c3 &&
	stock -C other pack-refs --all &&
	cp -R good untipped && rm untipped/.git/refs/heads/side
'

# outcome <name> <repository>: writes everything that a command may have changed
# to a file.
outcome () {
	(
		cd "$2" && cat .git/HEAD && stock for-each-ref &&
		find .git/logs -type f 2>/dev/null | sort |
		while read -r log
		do
			echo "== $log" && cat "$log"
		done
		find .git -name "*.lock"
	) >>"$1"
}

# same <repository> <words>...: asserts that `git reflog <words>` has the same
# results as in stock Git.
same () {
	from=$1 && shift &&
	for side in stock git
	do
		rm -rf r && cp -R "$from" r && code=0 &&
		$side -C r "$@" >$side.out 2>$side.err || code=$?
		# Git 2.39 visits reflogs in the order of the directory, so its
		# output is sorted.
		case "$*" in *--all*) sort -o $side.out $side.out ;; esac &&
		echo "exit $code" >>$side.out &&
		outcome $side.out r || return 1
	done &&
	test_cmp stock.out git.out
}

while read -r words
do
	test_expect_success "as stock Git: $words" "
		same $words
	"
done <<EOF
good reflog expire --verbose --expire=never --expire-unreachable=now HEAD
good reflog expire --verbose --expire=never --expire-unreachable=now --all
good reflog expire --dry-run --verbose --expire=1700003500 --all
good reflog expire --expire=1700002500 --expire-unreachable=never --rewrite main
good reflog expire --expire=1700002500 --expire-unreachable=1700005500 --rewrite --updateref --verbose main
good reflog expire --expire=now --updateref main
good reflog expire --expire=1700005500 --updateref HEAD main
good reflog delete main@{0}
good reflog delete --updateref --rewrite --verbose main@{0}
good reflog delete --rewrite main@{2} HEAD@{1} @{0}
good reflog delete main@{9}
good reflog delete main
good reflog delete nope@{0} side@{0}
good reflog delete
good reflog expire nope main
good reflog expire
good reflog exists main
good reflog exists refs/heads/main
good reflog exists refs/heads/..x
good reflog expire --expire=bogus --all
good -c gc.reflogExpire=bogus reflog expire --all
good -c gc.reflogExpire=90 reflog expire --verbose --all
good reflog expire --verbose --expire=90 --all
good reflog expire --verbose --expire=0 --all
good reflog expire --verbose --expire=1 --expire-unreachable=01-01-1980 --all
good reflog expire --verbose --expire=14/11/2023 --expire-unreachable=15.11.2023 --all
good reflog expire --verbose --expire=1980 --expire-unreachable=jan --all
good reflog expire --verbose --all
good -c gc.refs/heads/*.reflogExpire=never reflog expire --verbose --all
good -c gc.refs/heads/s*.reflogExpire=never -c gc.refs/heads/*.reflogExpire=now reflog expire --verbose side main
good -c gc.reflogExpire=now reflog expire --verbose --all
good -c gc.refs/*.reflogExpire=now reflog expire --verbose --all
strange reflog expire --verbose --expire=never --expire-unreachable=now main
strange reflog expire --verbose --expire=never --expire-unreachable=never main
strange reflog expire --verbose --expire=never --expire-unreachable=never --stale-fix main
other reflog expire --verbose --expire=never --expire-unreachable=now HEAD main
untipped reflog expire --verbose --expire=never --expire-unreachable=now refs/heads/side
untipped reflog expire --verbose --expire=never --expire-unreachable=now --all
EOF

test_expect_success 'with a commit-graph the answers are the same' '
	rm -rf with-graph && cp -R other with-graph &&
	stock -C with-graph commit-graph write --reachable --split &&
	same with-graph reflog expire --verbose --expire=never \
		--expire-unreachable=now --all
'

test_expect_success 'list and drop' '
	printf "%s\n" HEAD refs/heads/main refs/heads/side refs/stash >expect &&
	git -C good reflog list >actual &&
	test_cmp expect actual &&
	rm -rf r && cp -R good r &&
	git -C r reflog drop main refs/stash &&
	printf "%s\n" HEAD refs/heads/side >expect &&
	git -C r reflog list >actual &&
	test_cmp expect actual &&
	test_expect_code 255 git -C r reflog drop main &&
	test_expect_code 129 git -C r reflog drop --all main &&
	git -C r reflog drop --all &&
	test -z "$(git -C r reflog list)"
'

test_expect_success 'drop removes directories that are empty then' '
	rm -rf r w && cp -R good r && stock -C r worktree add -q ../w side &&
	git -C r update-ref --create-reflog refs/heads/a/b/c HEAD &&
	git -C r reflog drop refs/heads/a/b/c &&
	test ! -e r/.git/logs/refs/heads/a && test -d r/.git/logs/refs/heads &&
	git -C r reflog drop --all &&
	test ! -e r/.git/logs && test ! -e r/.git/worktrees/w/logs &&
	git -C r update-ref -m again refs/heads/main HEAD~ &&
	git -C r reflog exists refs/heads/main
'

test_expect_success 'reflogs of other work trees' '
	rm -rf r w && cp -R good r && stock -C r worktree add -q ../w side &&
	git -C r reflog expire --expire=now --all --single-worktree &&
	test -s r/.git/worktrees/w/logs/HEAD &&
	! test -s r/.git/logs/HEAD &&
	git -C r reflog expire --expire=now --all &&
	! test -s r/.git/worktrees/w/logs/HEAD
'

test_expect_success 'a locked ref is reported, and other refs are processed' '
	rm -rf r && cp -R good r && >r/.git/refs/heads/main.lock &&
	test_expect_code 255 git -C r reflog expire --expire=now --all 2>err &&
	grep "cannot lock ref .refs/heads/main.*File exists" err &&
	test -s r/.git/logs/refs/heads/main &&
	! test -s r/.git/logs/refs/heads/side
'

test_expect_success '"@" is the reflog of HEAD' '
	rm -rf at && stock init -q -b main at && (
		cd at && for i in 1 2 3
		do
			stock commit -q --allow-empty -m $i || return
		done
	) &&
	git -C at reflog delete "@@{0}" && test_line_count 2 at/.git/logs/HEAD &&
	git -C at reflog expire --expire=all @ &&
	test_must_be_empty at/.git/logs/HEAD &&
	git -C at reflog drop @ && ! test -e at/.git/logs/HEAD &&
	test_line_count 3 at/.git/logs/refs/heads/main
'

test_expect_success 'reflog show and write are handed to stock Git' '
	stock -C good reflog show main >expect &&
	git -C good reflog show main >actual &&
	test_cmp expect actual &&
	git -C good reflog >actual &&
	grep "reset: moving to HEAD~1" actual
'

# entries <dir>: lists the messages of all reflogs.
entries () {
	git -C $1 reflog list &&
	git -C $1 reflog expire --all --expire=now --dry-run --verbose
}

# This version of stock Git reads no reftables. So the results are compared with
# those for files.
test_expect_success 'reflog commands work alike with reftables' '
	for format in files reftable
	do
		dir=$format-log && git init -q --ref-format=$format $dir &&
		printf "[core]\nlogAllRefUpdates = always\n" >>$dir/.git/config &&
		tree=$(git -C $dir hash-object -w -t tree /dev/null) &&
		for i in 1 2 3 4
		do
			commit=$(printf "%s\n" "tree $tree" \
				"author A <a> $i +0000" \
				"committer A <a> $i +0000" "" $i |
				git -C $dir hash-object -w -t commit --stdin) &&
			GIT_COMMITTER_DATE="170000000$i +0100" \
				git -C $dir update-ref -m "to $i" HEAD $commit &&
			GIT_COMMITTER_DATE="170000000$i +0100" \
				git -C $dir update-ref -m "tag $i" refs/tags/t \
				$commit || return 1
		done
	done &&
	set "list" "delete main@{1}" "delete --rewrite --updateref main@{0}" \
		"expire --expire=1700000003 main" "drop refs/tags/t" \
		"expire --expire=now --all" "exists HEAD" \
		"expire --expire=now --rewrite --all" "drop --all" \
		"exists HEAD" "delete main@{0}" &&
	for words
	do
		for format in files reftable
		do
			code=0 &&
			git -C $format-log reflog $words >out 2>&1 || code=$?
			{
				cat out && echo $code &&
				entries $format-log &&
				git -C $format-log for-each-ref
			} >$format.txt || return 1
		done &&
		echo "$words" && test_cmp files.txt reftable.txt || return 1
	done &&
	git -C reftable-log refs verify &&
	git -C reftable-log update-ref -m again HEAD $commit &&
	git -C reftable-log gc --quiet && git -C reftable-log fsck &&
	git -C reftable-log maintenance run --quiet
'

again () {
	rm -rf r && cp -R good r
}

# After a fault, each reflog must have its old or its new lines. The branch must
# have a value of its reflog.
whole () {
	stock -C r fsck --no-dangling --no-progress >fsck 2>&1 || {
		cat fsck
		return 1
	}
	for log in HEAD refs/heads/main
	do
		cmp -s r/.git/logs/$log good/.git/logs/$log ||
		cmp -s r/.git/logs/$log done/.git/logs/$log || return 1
	done
}

for mode in kill lose ENOSPC
do
	test_expect_success "interrupted at any call: $mode" '
		stock -C good config core.fsync all &&
		rm -rf done && cp -R good done &&
		git -C done reflog expire --expire=1700005500 --updateref \
			--rewrite --all &&
		fault_each $mode again \
			"$GITREACH_BUILD/bin/git -C r reflog expire --expire=1700005500 --updateref --rewrite --all" \
			whole
	'
done

test_expect_success '--stale-fix stops at once if a ref is broken' '
	cd "$TRASH" && rm -rf stale && stock init -q stale &&
	stock -C stale commit -q --allow-empty -m one &&
	stock -C stale branch side &&
	cp -R stale/.git/logs logs.before &&
	echo 1234567890123456789012345678901234567890 \
		>stale/.git/refs/heads/absent &&
	test_expect_code 128 git -C stale reflog expire --stale-fix \
		--expire=now --all 2>err &&
	grep "^fatal: .*refs/heads/absent" err &&
	test $(wc -l <err) -eq 1 &&
	diff -r logs.before stale/.git/logs
'

test_expect_success '--stale-fix goes on behind a locked ref' '
	cd "$TRASH" && rm -f stale/.git/refs/heads/absent &&
	: >stale/.git/refs/heads/master.lock &&
	: >stale/.git/refs/heads/main.lock &&
	test_expect_code 255 git -C stale reflog expire --stale-fix \
		--expire=now --all 2>err &&
	grep "^error: cannot lock ref" err &&
	! test -s stale/.git/logs/refs/heads/side
'

test_expect_success 'an invalid date is refused even if a valid one follows' '
	for words in "--expire= --expire=now" \
		"--expire-unreachable=x --expire-unreachable=now"
	do
		test_must_fail "$GIT" -C good reflog expire $words --all \
			2>err &&
		grep "invalid timestamp" err || return
	done
'

# Not all tips are known, so HEAD's reflog stays. Those of branches need no other
# ref.
test_expect_success 'a tag of a damaged commit stops only the reflog of HEAD' '
	stock init -q -b main tagged &&
	stock -C tagged commit -q --allow-empty -m one &&
	stock -C tagged commit -q --amend --allow-empty -m two &&
	id=$(stock -C tagged commit-tree -m gone "main^{tree}") &&
	stock -C tagged tag -a -m gone gone $id &&
	file=$(echo $id | sed "s,^..,tagged/.git/objects/&/,") &&
	rm -f $file && echo garbage >$file &&
	cp tagged/.git/logs/HEAD before &&
	test_expect_code 128 "$GIT" -C tagged reflog expire --all \
		--expire=never --expire-unreachable=now 2>err &&
	grep $id err && test_line_count 1 err &&
	test_cmp before tagged/.git/logs/HEAD &&
	! test -s tagged/.git/logs/refs/heads/main
'

test_expect_success 'a damaged packed-refs: delete and drop change nothing' '
	cp -R good hurt &&
	stock -C hurt pack-refs --all &&
	echo garbage >>hurt/.git/packed-refs &&
	cp -R hurt/.git/logs logs &&
	for args in "drop main" "drop refs/heads/main" "delete HEAD@{0}" \
		"delete refs/heads/main@{0}"
	do
		test_expect_code 128 "$GIT" -C hurt reflog $args 2>err &&
		grep "packed-refs: garbage" err &&
		diff -r logs hurt/.git/logs || return 1
	done
'

test_done
