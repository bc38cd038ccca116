#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='JGit and stock Git agree, so that either can judge ours

Whatever fails here is not our doing: it says that the peer cannot be trusted
to test us with.'
. "$(dirname "$0")/../lib.sh"
. "$GITREACH_SRC/t/interop/jgit/setup.sh"

test_expect_success 'setup: a bitmap written by stock Git' '
	repo_criss_cross stock.git 40 &&
	repo_tags stock.git &&
	stock -C stock.git repack -q -adb &&
	ls stock.git/objects/pack/*.bitmap
'

test_expect_success 'JGit reads our bitmaps, which agree with its walks' '
	jgit bitmap-check stock.git >actual &&
	tail -n 1 actual >last &&
	! grep " -$" actual &&
	grep "^checked [1-9]" last
'

test_expect_success 'all objects, by bitmap, by walking and by stock Git' '
	repo_objects stock.git >expect &&
	jgit objects stock.git --all >actual &&
	test_cmp expect actual &&
	jgit walk stock.git --all >actual &&
	test_cmp expect actual
'

test_expect_success 'wants without haves' '
	repo_objects stock.git main --not side~10 >expect &&
	jgit objects stock.git main --not side~10 >actual &&
	test_cmp expect actual &&
	jgit walk stock.git main --not side~10 >actual &&
	test_cmp expect actual &&
	jgit count stock.git main --not side~10 >count &&
	test "$(cat count)" -eq "$(wc -l <expect)"
'

test_expect_success 'a bitmap written by JGit is read by stock Git' '
	repo_criss_cross jgit.git 40 &&
	repo_tags jgit.git &&
	repo_objects jgit.git >expect &&
	jgit gc jgit.git &&
	ls jgit.git/objects/pack/*.bitmap &&
	jgit bitmap-check jgit.git >actual &&
	grep "^checked [1-9]" actual &&
	stock -C jgit.git rev-list --test-bitmap main 2>/dev/null &&
	stock -C jgit.git rev-list --objects --use-bitmap-index --all |
		cut -d" " -f1 | LC_ALL=C sort >found &&
	test_cmp expect found &&
	stock -C jgit.git fsck --full
'

test_expect_success 'without a bitmap index JGit walks' '
	repo_linear none.git 3 &&
	stock -C none.git -c repack.writeBitmaps=false repack -q -ad &&
	test_must_fail jgit objects none.git --all 2>err &&
	grep "no bitmap index" err &&
	jgit bitmap-list none.git >actual &&
	grep " -$" actual
'

# Without a name-hash cache the last words of the last bitmap stand before its
# last field (4 bytes) and the checksum (20 bytes).
test_expect_success 'a wrong bitmap is noticed' '
	cp -r stock.git wrong.git &&
	stock -C wrong.git -c pack.writeBitmapHashCache=false \
		repack -q -adfb &&
	jgit bitmap-check wrong.git &&
	file=$(echo wrong.git/objects/pack/*.bitmap) &&
	chmod u+w "$file" &&
	perl -e "
		open F, \"+<\", \$ARGV[0]; binmode F;
		seek F, -25, 2; read F, \$b, 1;
		seek F, -25, 2; print F chr(ord(\$b) ^ 4);
	" "$file" &&
	test_must_fail jgit bitmap-check wrong.git 1000 2>err &&
	grep "is not what a walk finds" err
'

test_expect_success 'JGit clones' '
	jgit clone "file://$PWD/stock.git" clone.git &&
	stock -C stock.git for-each-ref >expect &&
	stock -C clone.git for-each-ref >actual &&
	test_cmp expect actual &&
	stock -C clone.git fsck --full
'

test_done
