#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='show-ref prints what stock Git prints'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-compare.sh"

if ! test_have_prereq GIT
then
	skip_all='git was not built'
	test_done
fi

test_expect_success 'set up' '
	refs_repository repo
'

while read -r args
do
	test_expect_success "show-ref $args" "
		(cd repo && same -e show-ref $args)
	"
done <<\EOF

-d
--heads
--tags
--heads --tags
--head
--head none
--head -s -d
--hash=8 v1.0
--abbrev
--abbrev=3
--abbrev=12 --hash
--hash=8 --abbrev
--hash=0
--hash=50
side
heads/side tags/v1.0
topic/a
a
ide
none
-q side
-q none
--verify refs/heads/side HEAD
--verify -d refs/tags/v1.0
--verify side
--verify -q side
--verify refs/heads/none
--verify
--abbrev=x
EOF

test_expect_success 'a ref to an object that is not there' '
	echo 1111111111111111111111111111111111111111 \
		>repo/.git/refs/heads/bad &&
	(cd repo && same -e show-ref --verify refs/heads/bad) &&
	rm repo/.git/refs/heads/bad
'

test_expect_success 'refs of a linked work tree' '
	stock -C repo worktree add -q ../linked side &&
	stock -C linked update-ref refs/bisect/bad HEAD &&
	(cd linked && same show-ref --head) &&
	(cd repo && same show-ref --head)
'

test_expect_success 'what we do not have is said' '
	test_must_fail git -C repo show-ref --exclude-existing 2>err &&
	grep "exclude-existing is not supported" err
'

test_expect_success 'many packed refs, one name' '
	stock init -q --bare many &&
	oid=$(stock -C many hash-object -t tree -w --stdin </dev/null) &&
	awk -v oid=$oid "BEGIN {
		print \"# pack-refs with: peeled fully-peeled sorted \"
		for (i = 0; i < 20000; i++)
			printf \"%s refs/changes/%05d\n\", oid, i
	}" >many/packed-refs &&
	(cd many && same show-ref --verify refs/changes/12345 &&
		same show-ref 12345)
'

test_done
