#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='prune and prune-packed leave what stock Git leaves'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-compare.sh"

if ! test_have_prereq GIT
then
	skip_all='git was not built'
	test_done
fi

# files <dir>: what there is, directories too
files () {
	(cd "$1" && find . ! -name "pack-*" | LC_ALL=C sort)
}

# both <repository> <arguments>...: run by both in a copy each; what is printed
# and what is left are the same. Copies are "theirs" and "ours".
both () {
	rm -rf theirs ours copy &&
	cp -a "$1" copy &&
	mv copy theirs &&
	cp -a "$1" ours &&
	shift &&
	both_theirs=0 both_ours=0 &&
	{ stock -C theirs "$@" >expect 2>expect.err || both_theirs=$?; } &&
	{ "$GIT" -C ours "$@" >actual 2>actual.err || both_ours=$?; } &&
	test_cmp_sorted expect actual &&
	test_cmp_sorted expect.err actual.err &&
	echo $both_theirs >expect && echo $both_ours >actual &&
	test_cmp expect actual &&
	files theirs >expect && files ours >actual &&
	test_cmp expect actual
}

test_expect_success 'prune-packed' '
	refs_repository work &&
	stock -C work repack -aq &&
	echo new | stock -C work hash-object -w --stdin &&
	both work prune-packed -n &&
	both work prune-packed --dry-run -q &&
	both work prune-packed &&
	both work prune-packed -q &&
	stock -C ours count-objects >actual &&
	grep "^1 objects" actual
'

test_expect_success 'prune-packed in a bare repository and from below' '
	both work/.git prune-packed -n &&
	mkdir work/sub &&
	(cd work/sub && same -e prune-packed -n) &&
	rmdir work/sub &&
	same -e --git-dir=work/.git prune-packed -n
'

test_expect_success 'prune-packed by the packs of an alternate' '
	stock clone -q --bare --shared work borrows.git &&
	(cd work && stock cat-file blob HEAD:file1) |
		stock -C borrows.git hash-object -w --stdin --path=x &&
	cp -a work/.git/objects/[0-9a-f][0-9a-f] borrows.git/objects/ &&
	both borrows.git prune-packed -n &&
	both borrows.git prune-packed
'

test_expect_success 'prune-packed: usage' '
	(cd work && same prune-packed x && same prune-packed --nonesuch) &&
	mkdir -p none && (cd none && same -e prune-packed)
'

test_done
