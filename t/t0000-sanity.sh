#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='what other tests need: stock Git, our git, test repositories'
. "$(dirname "$0")/lib.sh"

test_expect_success 'stock Git is installed and is not gitreach' '
	test -x "$STOCK_GIT" &&
	stock version >actual &&
	grep "^git version [0-9]" actual &&
	! test "$STOCK_GIT" -ef "$GIT"
'

test_expect_success 'only the tests configure Git' '
	stock config --list --show-origin >origins &&
	! grep -v "^file:$HOME/.gitconfig" origins
'

test_expect_success 'our git is first on PATH and runs' '
	test "$(command -v git)" -ef "$GIT" &&
	git version >actual &&
	grep "^git version [0-9]" actual
'

test_expect_success 'linear history' '
	repo_linear linear 25 &&
	stock -C linear rev-list --count main >actual &&
	echo 25 >expect &&
	test_cmp expect actual &&
	stock -C linear fsck --full --strict
'

test_expect_success 'a test repository has the same ids on every machine' '
	stock -C linear rev-parse main >actual &&
	echo 75f94991d4e440befece5906414a10d4580ff31f >expect &&
	test_cmp expect actual
'

test_expect_success 'criss-cross merges have two merge bases' '
	repo_criss_cross criss 5 &&
	stock -C criss rev-list --count --all >actual &&
	echo 13 >expect &&
	test_cmp expect actual &&
	stock -C criss merge-base --all main side >bases &&
	test_line_count 2 bases &&
	stock -C criss fsck --full --strict
'

test_expect_success 'octopus merge' '
	repo_octopus octopus 7 &&
	stock -C octopus rev-list --parents -1 main >line &&
	test "$(wc -w <line)" -eq 9 &&
	stock -C octopus fsck --full --strict
'

test_expect_success 'tags of tags, of a tree and of a blob' '
	repo_linear tags 3 &&
	repo_tags tags &&
	stock -C tags for-each-ref --format="%(refname) %(objecttype)" \
		refs/tags >actual &&
	cat >expect <<-\EOC &&
	refs/tags/annotated tag
	refs/tags/blob tag
	refs/tags/deep tag
	refs/tags/light commit
	refs/tags/nested tag
	refs/tags/tree tag
	EOC
	test_cmp expect actual &&
	stock -C tags rev-parse "deep^{commit}" main >commits &&
	test "$(sort -u commits | wc -l)" -eq 1
'

test_expect_success 'SHA-256 repositories' '
	REPO_FORMAT=sha256 repo_linear sha256 3 &&
	REPO_FORMAT=sha256 repo_tags sha256 &&
	stock -C sha256 rev-parse --show-object-format >actual &&
	echo sha256 >expect &&
	test_cmp expect actual &&
	stock -C sha256 rev-parse main >id &&
	test "$(wc -c <id)" -eq 65 &&
	stock -C sha256 fsck --full --strict
'

test_expect_success 'rev-list lists all objects by walking' '
	repo_objects linear >walked &&
	stock -C linear cat-file --batch-all-objects \
		--batch-check="%(objectname)" >stored &&
	test_cmp_sorted stored walked
'

test_done
