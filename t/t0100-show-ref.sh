#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='show-ref prints what stock Git prints'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-compare.sh"

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

test_expect_success 'a ref to a missing object' '
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

test_expect_success '--exclude-existing prints lines of missing refs' '
	cat >input <<-EOC &&
	refs/heads/side
	refs/heads/new
	abc refs/heads/new2
	abc refs/tags/v1.0^{}
	abc	refs/tags/v9^{}
	refs/heads/bad..name
	x y refs/heads/z
	HEAD
	main-worktree/HEAD
	main-worktree/refs/heads/side
	refs/heads/bad name
	 refs/heads/lead
	^{}

	refs/headsy
	refs/heads/
	EOC
	printf "refs/heads/space \nrefs/heads/last" >>input &&
	(
		cd repo &&
		same -e show-ref --exclude-existing &&
		same -e show-ref --exclude-existing= &&
		same -e show-ref --exclude-existing=refs/heads &&
		same -e show-ref --exclude-existing=refs/heads/ &&
		same -e show-ref --exclude-existing=HEAD refs/heads/side
	) &&
	rm input
'

# The expected results are those of Git 2.55.
test_expect_success '--exists tells whether a ref exists' '
	echo 1111111111111111111111111111111111111111 \
		>repo/.git/refs/heads/bad &&
	echo "ref: refs/heads/none" >repo/.git/refs/heads/dangling &&
	echo garbage >repo/.git/refs/heads/garbage &&
	(
		cd repo &&
		for ref in HEAD refs/heads/side refs/tags/v1.0 refs/heads/bad \
			refs/heads/dangling
		do
			git show-ref --exists $ref >out 2>err &&
			test_must_be_empty out &&
			test_must_be_empty err || exit 1
		done &&
		echo "error: reference does not exist" >expect &&
		for ref in nope side refs/heads refs/heads/ "a b" ../HEAD
		do
			test_expect_code 2 git show-ref --exists "$ref" 2>err &&
			test_cmp expect err || exit 1
		done &&
		test_expect_code 1 git show-ref --exists refs/heads/garbage &&
		echo x >.git/refs/heads/file &&
		test_expect_code 1 git show-ref --exists refs/heads/file/a 2>err &&
		echo "error: failed to look up reference: Not a directory" \
			>expect &&
		test_cmp expect err && rm .git/refs/heads/file &&
		test_expect_code 128 git show-ref --exists &&
		test_expect_code 128 git show-ref --exists HEAD HEAD 2>err &&
		grep "^fatal: --exists requires exactly one reference" err &&
		test_expect_code 128 git show-ref --exists --verify HEAD 2>err &&
		grep "^fatal: options .--verify. and .--exists. cannot be" err
	) &&
	rm repo/.git/refs/heads/bad repo/.git/refs/heads/dangling \
		repo/.git/refs/heads/garbage &&
	git -C repo show-ref --branches >actual &&
	stock -C repo show-ref --heads >expect &&
	test_cmp expect actual
'

test_expect_success 'one name among many packed refs' '
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

# The expected results are those of Git 2.55. Git 2.39 verifies only HEAD and
# names below refs/.
test_expect_success '--verify of HEADs other than HEAD' '
	cd "$TRASH/repo" &&
	oid=$(stock rev-parse HEAD) &&
	for name in CHERRY_PICK_HEAD MERGE_HEAD FOO _X lower A-B BAD_HEAD
	do
		echo $oid >.git/$name || return 1
	done &&
	printf "$oid\t\tbranch x of y\n" >.git/FETCH_HEAD &&
	echo junk >.git/BAD_HEAD &&
	for name in CHERRY_PICK_HEAD MERGE_HEAD FETCH_HEAD FOO _X
	do
		echo "$oid $name" >expect &&
		git show-ref --verify $name >actual &&
		test_cmp expect actual || return 1
	done &&
	for name in lower A-B BAD_HEAD NONE_HEAD config
	do
		test_expect_code 128 git show-ref --verify $name 2>err &&
		grep "fatal: .$name. - not a valid ref" err &&
		test_expect_code 1 git show-ref -q --verify $name || return 1
	done &&
	git show-ref --head main >expect &&
	git show-ref -h main >actual &&
	test_cmp expect actual &&
	git show-ref --hash main >expect &&
	git show-ref --no-hash main >actual &&
	test_cmp expect actual &&
	test_expect_code 129 git show-ref -h >actual &&
	grep "^usage: git show-ref" actual
'

test_expect_success 'refs without an id are refused, if they are asked for' '
	repo_linear broken 1 &&
	id=$(stock -C broken rev-parse main) &&
	zeros=0000000000000000000000000000000000000000 &&
	echo garbage >broken/refs/heads/garbage &&
	: >broken/refs/heads/empty &&
	echo $zeros >broken/refs/heads/zeros &&
	echo $id >broken/refs/heads/bad..name &&
	echo "ref: refs/heads/none" >broken/refs/heads/dangling &&
	(
		cd broken &&
		for name in garbage empty zeros bad..name
		do
			test_expect_code 128 git show-ref $name 2>err &&
			echo "fatal: git show-ref: bad ref refs/heads/$name ($zeros)" \
				>expect &&
			test_cmp expect err || exit 1
		done &&
		test_expect_code 128 git show-ref --verify refs/heads/zeros \
			2>err &&
		grep "bad ref refs/heads/zeros ($zeros)" err &&
		test_expect_code 1 git show-ref dangling &&
		git show-ref main &&
		GIT_REF_PARANOIA=0 git show-ref >../actual &&
		echo $id refs/heads/main >../expect &&
		test_cmp ../expect ../actual &&
		GIT_REF_PARANOIA=x test_expect_code 128 git show-ref main
	)
'

test_expect_success '-d peels tags of a missing object' '
	repo_linear gone.git 2 &&
	id=$(stock -C gone.git rev-parse main~1) &&
	stock -C gone.git tag -a -m one one main~1 &&
	stock -C gone.git tag -a -m two two one &&
	stock -C gone.git repack -adq &&
	stock -C gone.git unpack-objects -q <$(ls gone.git/objects/pack/*.pack) &&
	mv gone.git/objects/pack/*.pack pack && rm gone.git/objects/pack/* &&
	stock -C gone.git unpack-objects -q <pack &&
	rm -f gone.git/objects/$(echo $id | sed "s|^..|&/|") &&
	git -C gone.git show-ref -d --tags >actual &&
	grep -c "^$id refs/tags/.*^{}$" actual >count &&
	echo 2 >expect && test_cmp expect count
'

test_expect_success 'packed-refs with a last line that is no record' '
	repo_linear cut.git 1 && stock -C cut.git pack-refs --all &&
	echo "garbage line" >>cut.git/packed-refs &&
	test_expect_code 128 git -C cut.git show-ref >actual 2>err &&
	test_cmp /dev/null actual &&
	grep "^fatal: unexpected line in .*packed-refs: garbage line" err &&
	printf "garbage line" >>cut.git/packed-refs &&
	test_expect_code 128 git -C cut.git show-ref 2>err &&
	grep "^fatal: unterminated line in .*packed-refs: garbage line" err
'

test_expect_success 'core.abbrev and core.disambiguate are checked' '
	for key in abbrev=x abbrev=3 abbrev=0 disambiguate=x
	do
		for args in "show-ref" "symbolic-ref HEAD" "count-objects" \
			"update-ref refs/heads/new main" "rev-parse main"
		do
			test_expect_code 128 git -C gone.git -c core.$key $args \
				2>err &&
			grep ": .*${key#*=}" err || return 1
		done
	done &&
	git -C gone.git -c core.abbrev=41 rev-parse --short main >actual &&
	stock -C gone.git rev-parse main >expect &&
	test_cmp expect actual &&
	test_expect_code 128 git -C gone.git -c core.warnAmbiguousRefs=x \
		rev-parse main
'

test_done
