#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='symbolic-ref does and says what stock Git does and says'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-refs.sh"
. "$GITREACH_SRC/t/lib-fault.sh"

test_expect_success 'set up' '
	twins && both "stock update-ref HEAD $A; stock update-ref refs/tags/v $B"
'

while read -r script
do
	test_expect_success "$script" "both '$script'"
done <<\EOF2
g symbolic-ref HEAD
g symbolic-ref --short HEAD
g symbolic-ref -m why HEAD refs/heads/unborn
g symbolic-ref HEAD
g symbolic-ref --short HEAD
g symbolic-ref -m back HEAD refs/heads/main
g symbolic-ref refs/heads/s1 refs/heads/main
g symbolic-ref refs/heads/s2 refs/heads/s1
g symbolic-ref refs/heads/s2
g symbolic-ref --short refs/heads/s2
g symbolic-ref --no-recurse refs/heads/s2
g symbolic-ref refs/heads/main
g symbolic-ref -q refs/heads/main
g symbolic-ref none
g symbolic-ref HEAD outside
g symbolic-ref HEAD refs/tags/v
g symbolic-ref HEAD refs/heads/main
g symbolic-ref refs/heads/s3 not..good
g symbolic-ref refs/heads/s3 other
g symbolic-ref -d refs/heads/s3
g symbolic-ref -d refs/heads/main
g symbolic-ref -q -d refs/heads/main
g symbolic-ref -d HEAD
g symbolic-ref --delete refs/heads/s2
g symbolic-ref -m "" HEAD refs/heads/main
g symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/main
g symbolic-ref --short refs/remotes/origin/HEAD
stock symbolic-ref refs/heads/l1 refs/heads/l2; stock symbolic-ref refs/heads/l2 refs/heads/l1; g symbolic-ref refs/heads/l1
EOF2

test_expect_success 'wrong usage' '
	cd ours &&
	for args in "" "a b c" "-d a b"
	do
		test_expect_code 129 git symbolic-ref $args || return 1
	done
'

# With core.preferSymlinkRefs, stock Git writes symbolic refs as symbolic links.
test_expect_success 'a symbolic ref that is a symbolic link' '
	rm -rf "$TRASH/links" &&
	stock init -q -b main "$TRASH/links" &&
	cd "$TRASH/links" &&
	tree=$(stock hash-object -t tree -w /dev/null) &&
	one=$(stock commit-tree -m 1 $tree) &&
	two=$(stock commit-tree -m 2 $tree) &&
	ln -sf refs/heads/main .git/HEAD &&
	git update-ref HEAD $one &&
	git update-ref HEAD $two $one &&
	ln -s refs/heads/none .git/refs/heads/dangling &&
	test "$(git symbolic-ref HEAD)" = refs/heads/main &&
	test "$(git symbolic-ref refs/heads/dangling)" = refs/heads/none &&
	test $(git rev-parse main) = $two &&
	test -h .git/HEAD &&
	git for-each-ref --format="%(refname)%(HEAD)" >actual &&
	echo "refs/heads/main*" >expect &&
	test_cmp expect actual &&
	git symbolic-ref HEAD refs/heads/dangling &&
	test "$(stock symbolic-ref HEAD)" = refs/heads/none &&
	test ! -h .git/HEAD
'

# Stock Git removes the old ref before it makes the link. Ours renames the link.
test_expect_success 'core.preferSymlinkRefs: a symbolic ref is a symbolic link' '
	prefer="-c core.preferSymlinkRefs=true" &&
	rm -rf "$TRASH/prefer.git" && repo_linear "$TRASH/prefer.git" 1 &&
	cd "$TRASH/prefer.git" &&
	ln -s stale HEAD~link.lock &&
	: >HEAD.link.lock &&
	git $prefer symbolic-ref -m moved HEAD refs/heads/new 2>err &&
	rm HEAD.link.lock &&
	test "$(readlink HEAD)" = refs/heads/new &&
	grep "^warning: .core.preferSymlinkRefs=true. is nominated for" err &&
	grep "^hint: " err &&
	test "$(stock symbolic-ref HEAD)" = refs/heads/new &&
	printf "symref-create refs/%s refs/heads/main\n" a/b c >changes &&
	git $prefer update-ref --stdin <changes 2>err &&
	test "$(grep -c ^warning err)" = 1 &&
	test "$(readlink refs/a/b)" = refs/heads/main &&
	test "$(readlink refs/c)" = refs/heads/main &&
	find . -name "*.lock" >left && test_must_be_empty left &&
	git symbolic-ref HEAD refs/heads/main 2>err &&
	test_must_be_empty err && test ! -h HEAD &&
	test_expect_code 128 git -c core.preferSymlinkRefs=x symbolic-ref \
		HEAD refs/heads/new 2>err &&
	grep "bad boolean config value .x. for" err
'

test_expect_success 'core.preferSymlinkRefs: a reftable has no links' '
	cd "$TRASH" && git init -q --bare --ref-format=reftable tables.git &&
	git -C tables.git -c core.preferSymlinkRefs=1 symbolic-ref HEAD \
		refs/heads/new 2>err &&
	test_must_be_empty err &&
	test "$(git -C tables.git symbolic-ref HEAD)" = refs/heads/new
'

prepare_head () {
	rm -rf p.git && git init -q --bare -b old p.git
}

# HEAD is the old or the new ref, never absent or damaged.
head_is_whole () {
	head=$(stock -C p.git symbolic-ref HEAD) &&
	case $head in refs/heads/old | refs/heads/new) ;; *) return 1 ;; esac &&
	rm -f p.git/HEAD.lock &&
	git -C p.git -c core.preferSymlinkRefs=1 symbolic-ref HEAD \
		refs/heads/new 2>/dev/null &&
	test "$(readlink p.git/HEAD)" = refs/heads/new
}

for mode in kill lose EIO ENOSPC
do
	test_expect_success "core.preferSymlinkRefs: $mode at each call" '
		cd "$TRASH" &&
		fault_each $mode prepare_head \
			"$GIT -C p.git -c core.preferSymlinkRefs=1 symbolic-ref HEAD refs/heads/new" \
			head_is_whole
	'
done

test_expect_success 'a ref of zeros is not symbolic, and it exists' '
	repo_linear zeros.git 1 &&
	echo 0000000000000000000000000000000000000000 \
		>zeros.git/refs/heads/zeros &&
	test_expect_code 1 git -C zeros.git symbolic-ref -q refs/heads/zeros &&
	test_expect_code 128 git -C zeros.git symbolic-ref refs/heads/zeros \
		2>err &&
	grep "ref refs/heads/zeros is not a symbolic ref" err &&
	test_expect_code 128 git -C zeros.git symbolic-ref -d refs/heads/zeros \
		2>err &&
	grep "Cannot delete refs/heads/zeros, not a symbolic ref" err &&
	git -C zeros.git refs exists refs/heads/zeros &&
	echo garbage >zeros.git/refs/heads/garbage &&
	test_expect_code 1 git -C zeros.git refs exists refs/heads/garbage &&
	test_expect_code 128 git -C zeros.git symbolic-ref -q \
		refs/heads/garbage
'

test_done
