#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='refs, and what fsck says of the files that keep refs

Messages and exit codes are those of Git 2.55.'
. "$(dirname "$0")/lib.sh"

SQ="'"
Z=0000000000000000000000000000000000000000
SORTED="# pack-refs with: peeled fully-peeled sorted "

# damaged <code> <code of fsck> <damage>
# Damages a copy of the repository "base". `git refs verify` must report the
# lines of standard input. `git fsck` must report the same lines, among others.
# With --no-references, it must not report them.
damaged () {
	rm -rf r tree && cp -R base r && cd r &&
	eval "$3" &&
	cat >../expect &&
	test_expect_code "$1" git refs verify 2>../actual &&
	test_cmp_sorted ../expect ../actual &&
	test_expect_code "$2" git fsck --no-dangling 2>../err &&
	grep -vE "invalid sha1 pointer|not a commit|^fatal:" ../err >../actual
	test_cmp_sorted ../expect ../actual &&
	test_expect_code $(($2 & ~8)) \
		git fsck --no-dangling --no-references 2>../err &&
	! grep -vE "invalid sha1 pointer|not a commit|^fatal:" ../err
	code_=$? && cd .. && return $code_
}

# packed <code> <code of fsck> <bytes>: like damaged, with these bytes as
# packed-refs.
packed () {
	bytes=$3
	damaged "$1" "$2" 'printf "$bytes" >.git/packed-refs'
}

test_expect_success 'setup' '
	stock init -q base && cd base &&
	echo a >a && stock add a && stock commit -qm a &&
	stock tag -a -m t t &&
	H=$(stock rev-parse HEAD) && T=$(stock rev-parse t) &&
	cd ..
'

test_expect_success 'refs verify finds no error in a good repository' '
	damaged 0 0 : </dev/null &&
	damaged 0 0 "stock pack-refs --all; mkdir -p .git/refs/heads/a/b" \
		</dev/null &&
	damaged 0 0 "stock worktree add -q ../tree" </dev/null &&
	damaged 0 0 "rm -r .git/refs/heads" </dev/null
'

test_expect_success 'loose refs' '
	damaged 0 0 "printf $H >.git/refs/heads/x" <<-EOC &&
	warning: refs/heads/x: refMissingNewline: misses LF at the end
	EOC
	damaged 0 0 "printf \"$H x\" >.git/refs/heads/x" <<-EOC &&
	warning: refs/heads/x: trailingRefContent: has trailing garbage: $SQ x$SQ
	EOC
	damaged 255 10 "echo bad >.git/refs/heads/x" <<-EOC &&
	error: refs/heads/x: badRefContent: bad
	EOC
	damaged 255 10 "echo $Z >.git/refs/heads/x" <<-EOC &&
	error: refs/heads/x: badRefOid: points to invalid object ID $SQ$Z$SQ
	EOC
	damaged 255 10 "echo $H >\".git/refs/heads/x y\"" <<-EOC &&
	error: refs/heads/x y: badRefName: invalid refname format
	EOC
	damaged 255 8 "mkfifo .git/refs/heads/x" <<-EOC
	error: refs/heads/x: badRefFiletype: unexpected file type
	EOC
'

test_expect_success 'symbolic refs' '
	damaged 0 0 "echo ref: HEAD >.git/refs/heads/x" </dev/null &&
	damaged 0 0 "printf \"ref: refs/heads/main \" >.git/refs/x" <<-EOC &&
	warning: refs/x: refMissingNewline: misses LF at the end
	EOC
	damaged 0 2 "echo ref: logs/x >.git/refs/x" <<-EOC &&
	warning: refs/x: symrefTargetIsNotARef: points to non-ref target ${SQ}logs/x$SQ
	EOC
	damaged 255 10 "echo ref: x >.git/refs/x" <<-EOC &&
	error: refs/x: badReferentName: points to invalid refname ${SQ}x$SQ
	EOC
	damaged 0 0 "ln -s heads/main .git/refs/x" <<-EOC &&
	warning: refs/x: symlinkRef: use deprecated symbolic link for symref
	EOC
	damaged 255 8 "ln -s heads/.x .git/refs/x" <<-EOC
	warning: refs/x: symlinkRef: use deprecated symbolic link for symref
	error: refs/x: badReferentName: points to invalid refname ${SQ}refs/heads/.x$SQ
	EOC
'

test_expect_success 'refs verify checks HEAD and other root refs' '
	damaged 255 8 "echo ref: refs/x >.git/HEAD" <<-EOC &&
	error: HEAD: badHeadTarget: HEAD points to non-branch ${SQ}refs/x$SQ
	EOC
	damaged 255 8 "echo $Z >.git/HEAD" <<-EOC &&
	error: HEAD: badRefOid: points to invalid object ID $SQ$Z$SQ
	EOC
	damaged 255 8 "echo bad >.git/X_HEAD; echo bad >.git/AUTO_MERGE
		echo bad >.git/FETCH_HEAD; echo bad >.git/OTHER" <<-EOC
	error: X_HEAD: badRefContent: bad
	error: AUTO_MERGE: badRefContent: bad
	EOC
'

test_expect_success 'refs verify checks the refs of all work trees' '
	damaged 255 8 "stock worktree add -q ../tree &&
		mkdir -p .git/worktrees/tree/refs/worktree &&
		echo bad >.git/worktrees/tree/refs/worktree/x &&
		echo bad >.git/worktrees/tree/X_HEAD" <<-EOC
	error: worktrees/tree/refs/worktree/x: badRefContent: bad
	error: worktrees/tree/X_HEAD: badRefContent: bad
	EOC
'

test_expect_success 'packed-refs' '
	packed 0 0 "" <<-EOC &&
	warning: packed-refs: emptyPackedRefsFile: file is empty
	EOC
	packed 255 8 "$SORTED\n$H refs/b\n$H refs/a\n" <<-EOC &&
	error: packed-refs line 3: packedRefUnsorted: refname ${SQ}refs/a$SQ is less than previous refname ${SQ}refs/b$SQ
	EOC
	packed 255 10 "$SORTED\n$H refs/a b\n" <<-EOC &&
	error: packed-refs line 2: badRefName: has bad refname ${SQ}refs/a b$SQ
	EOC
	packed 255 128 "# pack-refs\n$H refs/a\n" <<-EOC &&
	error: packed-refs.header: badPackedRefHeader: $SQ# pack-refs$SQ does not start with $SQ# pack-refs with: $SQ
	EOC
	packed 255 128 "$SORTED\n$H refs/a" <<-EOC &&
	error: packed-refs line 2: packedRefEntryNotTerminated: $SQ$H refs/a$SQ is not terminated with a newline
	EOC
	packed 255 128 "$SORTED\n${H}refs/a\n" <<-EOC &&
	error: packed-refs line 2: badPackedRefEntry: has no space after oid $SQ$H$SQ but with ${SQ}refs/a$SQ
	EOC
	packed 255 128 "$SORTED\n$T refs/a\n^$H x\n" <<-EOC &&
	error: packed-refs line 3: badPackedRefEntry: has trailing garbage after peeled oid $SQ x$SQ
	EOC
	damaged 255 8 "stock pack-refs --all && mv .git/packed-refs .git/x &&
		ln -s x .git/packed-refs" <<-EOC
	error: packed-refs: badRefFiletype: not a regular file but a symlink
	EOC
'

test_expect_success 'fsck.<id> sets the severity of a message' '
	damaged 255 8 "stock config fsck.refMissingNewline error
		printf $H >.git/refs/x" <<-EOC &&
	error: refs/x: refMissingNewline: misses LF at the end
	EOC
	damaged 0 2 "stock config fsck.badRefContent warn
		echo bad >.git/refs/x" <<-EOC &&
	warning: refs/x: badRefContent: bad
	EOC
	damaged 0 2 "stock config fsck.badRefContent ignore
		echo bad >.git/refs/x" </dev/null &&
	cp -R base s && stock -C s config fsck.badName odd &&
	test_expect_code 128 git -C s refs verify 2>err &&
	grep "fatal: Unknown fsck message type: ${SQ}odd$SQ" err &&
	stock -C s config fsck.badName error &&
	stock -C s config fsck.odd error &&
	test_expect_code 128 git -C s refs verify 2>err &&
	grep "fatal: Unhandled message id: odd" err
'

test_expect_success '--verbose names the checked files' '
	git -C base refs verify --verbose 2>err &&
	sort err >actual &&
	sort >expect <<-\EOC &&
	Checking references consistency
	Checking refs/heads/main
	Checking refs/tags/t
	Checking HEAD
	Checking packed-refs file .git/packed-refs
	EOC
	test_cmp expect actual &&
	test_expect_code 129 git -C base refs verify x
'

test_expect_success 'reftables' '
	git init -q --ref-format=reftable tables && cd tables &&
	git symbolic-ref refs/heads/y refs/heads/main &&
	git refs verify &&
	git symbolic-ref refs/heads/x x &&
	git symbolic-ref HEAD refs/tags/t &&
	test_expect_code 255 git refs verify 2>actual &&
	cat >expect <<-EOC &&
	error: HEAD: badHeadTarget: HEAD points to non-branch ${SQ}refs/tags/t$SQ
	error: refs/heads/x: badReferentName: points to invalid refname ${SQ}x$SQ
	EOC
	test_cmp expect actual &&
	git symbolic-ref HEAD refs/heads/main &&
	git symbolic-ref -d refs/heads/x &&
	git pack-refs && git refs verify &&
	mv .git/reftable/*.ref .git/reftable/odd.ref &&
	echo odd.ref >.git/reftable/tables.list &&
	echo "warning: odd.ref: badReftableTableName: invalid reftable table name" \
		>expect &&
	git refs verify 2>actual && test_cmp expect actual &&
	test_expect_code 255 git refs verify --strict &&
	printf X | dd of=.git/reftable/odd.ref bs=1 seek=40 conv=notrunc &&
	test_expect_code 255 git refs verify &&
	cd ..
'

test_expect_success 'refs exists' '
	cd base &&
	git refs exists HEAD && git refs exists refs/heads/main &&
	test_expect_code 2 git refs exists main 2>err &&
	grep "error: reference does not exist" err &&
	test_expect_code 2 git refs exists refs/heads/.. &&
	test_expect_code 1 git refs exists refs/heads/main/below 2>err &&
	grep "error: failed to look up reference: Not a directory" err &&
	test_expect_code 128 git refs exists &&
	test_expect_code 128 git refs exists HEAD main &&
	cd ..
'

test_expect_success 'refs list and refs optimize run for-each-ref and pack-refs' '
	cd base &&
	stock for-each-ref >../expect && git refs list >../actual &&
	test_cmp ../expect ../actual &&
	stock for-each-ref --format="%(refname)" refs/tags >../expect &&
	git refs list --format="%(refname)" refs/tags >../actual &&
	test_cmp ../expect ../actual &&
	git refs optimize --all && ! test -e .git/refs/heads/main &&
	stock fsck --strict &&
	test_expect_code 129 git refs nonesuch &&
	test_expect_code 129 git refs
'

test_expect_success 'an ignored bad name of a target hides no other finding' '
	repo_linear target.git 1 &&
	echo "ref: foo" >target.git/refs/heads/outside &&
	git -C target.git -c fsck.badReferentName=ignore refs verify 2>err &&
	grep "refs/heads/outside: symrefTargetIsNotARef: " err &&
	test_expect_code 255 git -C target.git refs verify 2>err &&
	! grep symrefTargetIsNotARef err
'

test_expect_success 'the usage after an ambiguous option is help' '
	test_expect_code 129 git -C target.git refs migrate --ref >out 2>err &&
	grep "^error: ambiguous option: ref " err &&
	! grep usage err &&
	grep "^usage: git refs migrate" out
'

test_expect_success 'tags are found in a packed-refs file without peeled ids' '
	repo_linear src 2 && cd src &&
	stock tag -a -m t t main && stock tag light main &&
	stock update-ref refs/namespaces/n/refs/heads/main main &&
	stock update-ref refs/namespaces/n/refs/tags/t t &&
	stock ls-remote . >../all &&
	GIT_NAMESPACE=n stock ls-remote --upload-pack="$GIT upload-pack" . \
		>../in-namespace &&
	stock pack-refs --all &&
	grep -v "^^" packed-refs >new && mv new packed-refs && cd .. &&
	grep "refs/tags/t^{}" all && grep "refs/tags/t^{}" in-namespace &&
	for version in 0 2
	do
		stock -c protocol.version=$version ls-remote \
			--upload-pack="$GIT upload-pack" src >actual &&
		test_cmp all actual || return 1
	done &&
	GIT_NAMESPACE=n stock ls-remote --upload-pack="$GIT upload-pack" src \
		>actual &&
	test_cmp in-namespace actual &&
	stock init -q --bare dst &&
	stock -C dst fetch -q --upload-pack="$GIT upload-pack" ../src \
		main:main &&
	stock -C dst rev-parse --verify refs/tags/t^{} &&
	git -C src pack-objects --include-tag --revs --stdout >p.pack <<-EOC &&
	main
	EOC
	stock init -q --bare p && stock -C p unpack-objects -q <p.pack &&
	stock -C p cat-file -e $(stock -C src rev-parse t)
'

# Stock Git 2.39 believes "fully-peeled" below refs/tags/, so its list shows what
# the file has. refs/other/t is outside of refs/tags/.
test_expect_success 'pack-refs adds peeled ids, and a trait that says so' '
	cd src && stock update-ref refs/other/t t &&
	stock update-ref refs/heads/loose main &&
	stock pack-refs --all && grep -v "^^" packed-refs >new &&
	mv new packed-refs && stock update-ref refs/heads/later main &&
	git pack-refs --all &&
	test 3 -eq $(grep -c "^^" packed-refs) &&
	grep "^# pack-refs with: .* sorted gitreach-peeled $" packed-refs &&
	git update-ref -d refs/heads/later &&
	grep "^# pack-refs with: .* sorted gitreach-peeled $" packed-refs &&
	git refs verify --strict && stock fsck --strict &&
	stock update-ref -d refs/heads/loose &&
	grep "^# pack-refs with: peeled fully-peeled sorted $" packed-refs &&
	cd ..
'

test_done
