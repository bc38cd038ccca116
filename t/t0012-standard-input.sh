#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='lists on standard input that cannot be read are errors

A truncated list must not be taken for a shorter list. Otherwise a pack would
lack objects, or only a part of a transaction would be made. The tests use a
directory as standard input, which cannot be read.'
. "$(dirname "$0")/lib.sh"

test_expect_success 'set up' '
	repo_linear r.git 3 &&
	stock -C r.git repack -adq &&
	stock -C r.git rev-parse main~2 >old
'

while read -r command
do
	test_expect_success "$command" '
		test_expect_code 128 "$GIT" -C r.git $command \
			<r.git >out 2>err &&
		grep "^fatal: cannot read standard input: Is a directory$" err
	'
done <<\EOF
cat-file --batch
cat-file --batch-check -z
cat-file --batch-command
commit-graph write --stdin-commits
commit-graph write --stdin-packs
for-each-ref --stdin
hash-object --stdin-paths
multi-pack-index write --stdin-packs
pack-objects --stdout
pack-objects --stdout --revs
pack-objects --stdout --stdin-packs
rev-list --stdin
show-ref --exclude-existing
update-ref --stdin
update-ref --stdin -z
EOF

test_expect_success 'no command has changed the repository' '
	stock -C r.git rev-parse main~2 >now && test_cmp old now &&
	! ls r.git/objects/info/commit-graph* &&
	! test -e r.git/objects/pack/multi-pack-index
'

test_expect_success 'hash-object takes quoted names' '
	tab=$(printf "a\tb") && echo tab >"$tab" &&
	echo plain >plain && echo accent >"$(printf "\303\251")" &&
	cat >names <<-\EOF &&
	"a\tb"
	plain
	"\303\251"
	"plain"
	EOF
	stock hash-object --stdin-paths <names >expect &&
	"$GIT" hash-object --stdin-paths <names >actual &&
	test_cmp expect actual &&
	echo "\"plain" >bad &&
	test_expect_code 128 stock hash-object --stdin-paths <bad 2>expect &&
	test_expect_code 128 "$GIT" hash-object --stdin-paths <bad 2>actual &&
	test_cmp expect actual
'

test_done
