#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='rev-list prints what stock Git prints'
. "$(dirname "$0")/lib.sh"

. "$GITREACH_SRC/t/lib-compare.sh"
. "$GITREACH_SRC/t/lib-random.sh"

# What each repository is asked. $1: a file of names, newest tips first.
requests () {
	a=$(sed -n 1p "$1") b=$(sed -n 2p "$1") c=$(sed -n 3p "$1")
	d=$(sed -n 4p "$1") e=$(sed -n 5p "$1")
	cat <<-EOF
	$a
	--all
	--branches
	--tags
	--all --not $a
	$b ^$a
	$a ^$b
	$a..$b
	$b..$a
	$a~3..$a
	$a $b --not $c $d
	--not $d --not $e
	^$e $a $b $c
	--all ^$a~5
	$a^{tree}
	$a~2^{tree} $a
	$a $b^{tree} ^$c
	$a ^$b^{tree}
	$a:
	--branches --not --tags
	$a ^$a
	EOF
}

# ask <dir> <names>: every request in several ways, every fifth of them in a
# SHA-256 repository; the first that differs ends the test.
ask () {
	requests "$2" | sort -u |
	if test $REPO_FORMAT = sha256
	then
		awk 'NR % 5 == 1'
	else
		cat
	fi >requests &&
	while read -r request
	do
		for how in "" --objects "--objects --no-object-names" \
			"--objects --count" --count --reverse "-n 3" \
			"--skip=2 --max-count=4" "--objects -5" \
			"--objects --skip=3" "--reverse -n 4" "-n 2 --count" \
			"--objects --reverse" "--objects --quiet"
		do
			same -C "$1" rev-list $how $request </dev/null ||
				return 1
		done
	done <requests
}

# The tips of a repository, newest first, and some commits before them.
names () {
	stock -C "$1" for-each-ref --sort=-committerdate \
		--format='%(refname)' refs/heads >names &&
	stock -C "$1" rev-list --all | awk 'NR % 5 == 3' >>names
}

for format in sha1 sha256
do
	REPO_FORMAT=$format

	test_expect_success "$format: a linear history" '
		repo_linear linear-$format 30 &&
		repo_tags linear-$format &&
		names linear-$format &&
		ask linear-$format names
	'

	test_expect_success "$format: criss-cross merges" '
		repo_criss_cross cross-$format 12 &&
		names cross-$format &&
		ask cross-$format names
	'

	test_expect_success "$format: an octopus" '
		repo_octopus octopus-$format 12 &&
		names octopus-$format &&
		ask octopus-$format names
	'

	test_expect_success "$format: a random history, loose" '
		repo_random random-$format 60 1 &&
		repo_tags random-$format &&
		names random-$format &&
		ask random-$format names
	'

	test_expect_success "$format: tags by name" '
		for name in light annotated nested deep tree blob
		do
			for how in "" --objects --count "--objects --count"
			do
				for request in "$name" "main $name" \
					"main ^$name" "$name ^main~5"
				do
					same -C linear-$format rev-list $how \
						$request || return 1
				done
			done
		done
	'

	test_expect_success "$format: packed, with deltas" '
		repo_random packed-$format 400 7 &&
		stock -C packed-$format repack -adq &&
		names packed-$format &&
		ask packed-$format names
	'

	test_expect_success "$format: several packs and loose objects" '
		stock -C packed-$format branch -f extra main~3 &&
		(
			cd packed-$format &&
			for i in 1 2 3
			do
				test_tick &&
				new=$(stock commit-tree -m "more $i" \
					-p extra main~$i^{tree}) &&
				stock update-ref refs/heads/extra $new &&
				test $i = 3 || stock repack -dq || exit 1
			done
		) &&
		names packed-$format &&
		ask packed-$format names
	'

	test_expect_success "$format: with a commit-graph" '
		stock -C packed-$format commit-graph write --reachable &&
		ask packed-$format names
	'

	test_expect_success "$format: shallow" '
		stock clone -q --bare --depth=4 --no-single-branch \
			"file://$PWD/packed-$format" shallow-$format &&
		names shallow-$format &&
		ask shallow-$format names
	'

	test_expect_success "$format: names from standard input" '
		for stdin in main "main ^b1" "^main b1" "b1..main b2"
		do
			echo "$stdin" | tr " " "\\n" >input &&
			for how in --stdin "--objects --stdin b3" \
				"--objects --count --not b2 --stdin" \
				"--objects --stdin --not b2"
			do
				same -C random-$format rev-list $how || return 1
			done
		done &&
		rm -f input
	'
done

test_expect_success 'long histories: the same with one thread and with more' '
	REPO_FORMAT=sha1 repo_random long 1500 3 &&
	stock -C long repack -adq &&
	same -C long rev-list --all &&
	same -C long rev-list --count --objects --all &&
	cp actual expect &&
	taskset -c 0 git -C long rev-list --count --objects --all >actual &&
	test_cmp expect actual
'

# Not in Git 2.39: as newer ones document it.
test_expect_success '--not on standard input applies to later lines' '
	printf "%s\\n" main --not b1 b2 >input &&
	git -C random-sha1 rev-list --stdin --objects b3 <input >actual &&
	stock -C random-sha1 rev-list --objects main b3 ^b1 ^b2 >expect &&
	test_cmp_sorted expect actual &&
	git -C random-sha1 rev-list --not b3 --stdin <input >actual &&
	stock -C random-sha1 rev-list main ^b1 ^b2 ^b3 >expect &&
	test_cmp expect actual &&
	rm -f input
'

test_expect_success 'rev-list without revisions' '
	repo_init empty &&
	for how in --all --tags --objects "--not --branches" --stdin \
		"--count --all" "--objects --count --all"
	do
		same -C empty rev-list $how || return 1
	done &&
	for how in "" --not --count
	do
		test_expect_code 129 stock -C empty rev-list $how &&
		test_expect_code 129 git -C empty rev-list $how || return 1
	done
'

test_expect_success 'an empty clone with an unborn branch' '
	repo_linear young 3 &&
	echo "ref: refs/heads/.invalid" >young/HEAD &&
	for how in --all "--objects --all" "--not --all" HEAD
	do
		same -C young rev-list $how || return 1
	done &&
	"$GIT" -C young repack -adbq &&
	"$GIT" -C young rev-list --test-bitmap main
'

test_expect_success 'names that do not exist' '
	for name in nothing 1234567812345678123456781234567812345678 main..no \
		^no main:no/such/path
	do
		test_expect_code 128 stock -C linear-sha1 rev-list $name &&
		test_expect_code 128 git -C linear-sha1 rev-list $name 2>err &&
		grep "^fatal: " err || return 1
	done &&
	test_expect_code 129 git -C linear-sha1 rev-list 2>err &&
	grep "^usage: git rev-list" err
'

test_expect_success 'dots that belong to names' '
	stock init -q dots && mkdir -p dots/dir &&
	echo 1 >dots/file && echo 2 >"dots/a..b" && echo 3 >dots/dir/file &&
	stock -C dots add . && stock -C dots commit -qm one &&
	echo 4 >dots/file && stock -C dots commit -qam two &&
	for name in HEAD:../file HEAD:a..b HEAD~1..HEAD:file ^HEAD:a..b \
		HEAD:file..HEAD HEAD..HEAD:../file HEAD:a..b..HEAD \
		HEAD:no..file no..HEAD HEAD...HEAD~1 ..HEAD
	do
		stock -C dots/dir rev-list --objects $name >expect 2>expect.err
		code=$? &&
		test_expect_code $code git -C dots/dir rev-list --objects \
			$name >actual 2>actual.err &&
		test_cmp expect actual && test_cmp_error expect.err actual.err ||
		return 1
	done
'

test_expect_success 'invalid values of configuration keys are refused' '
	for key in feature.experimental pack.useBitmapBoundaryTraversal
	do
		test_expect_code 128 git -c $key=x -C linear-sha1 rev-list \
			--count main 2>err &&
		grep "^fatal: bad boolean config value .x. for" err &&
		git -c $key=true -C linear-sha1 rev-list --count main || return 1
	done
'

test_expect_success 'missing and broken objects' '
	repo_linear broken 3 &&
	blob=$(stock -C broken rev-parse main:dir0/file3) &&
	tree=$(stock -C broken rev-parse main^{tree}) &&
	commit=$(stock -C broken rev-parse main~1) &&
	for object in $blob $tree $commit
	do
		file=broken/objects/$(echo $object | sed "s,^..,&/,") &&
		mv $file saved &&
		test_expect_code 128 stock -C broken rev-list --objects main &&
		for how in --objects "--objects --count"
		do
			test_expect_code 128 git -C broken rev-list $how main \
				2>err &&
			grep "$object" err || return 1
		done &&
		mv saved $file || return 1
	done
'

# as_stock <words>...: exit code, output and message are stock Git's.
as_stock () {
	expect_code=0 actual_code=0
	stock "$@" <in >expect 2>expect.err || expect_code=$?
	git "$@" <in >actual 2>actual.err || actual_code=$?
	test $expect_code -eq $actual_code &&
	test_cmp expect actual &&
	test_cmp_error expect.err actual.err
}

test_expect_success 'ids of objects that do not exist' '
	commit=$(stock -C linear-sha1 rev-parse main) &&
	none=$(echo $commit | tr 0-9a-f 123456789abcdef0) &&
	for words in $none ^$none $none..$commit $commit..$none $none..$none \
		$commit...$none $none...$commit "$commit ^$none" \
		$none^0 ^$none^{} nosuch ^nosuch nosuch..$commit
	do
		printf "%s\n" $words >in &&
		for how in "" --objects --use-bitmap-index
		do
			as_stock -C linear-sha1 rev-list $how --stdin ||
				return 1
		done &&
		as_stock -C linear-sha1 pack-objects -q --revs --stdout &&
		: >in &&
		as_stock -C linear-sha1 rev-list $words || return 1
	done &&
	test_expect_code 128 git -C linear-sha1 bundle create -q b main ^$none
'

test_expect_success 'refs whose objects do not exist are named' '
	rm -rf miss && cp -R linear-sha1 miss && : >in &&
	none=$(echo 1234567890 | sed "s/.*/&&&&/") &&
	echo $none >miss/refs/heads/miss &&
	for words in --all "--count main --not --all" \
		"--objects --all" "--use-bitmap-index --objects --all"
	do
		as_stock -C miss rev-list $words || return 1
	done &&
	grep "^fatal: bad object refs/heads/miss$" actual.err &&
	GIT_REF_PARANOIA=0 && export GIT_REF_PARANOIA &&
	echo garbage >miss/refs/heads/garbage &&
	for words in "rev-list --all" "rev-list --objects --all" show-ref \
		for-each-ref "rev-parse --all"
	do
		stock -C miss $words >expect 2>err &&
		git -C miss $words >actual && test_cmp expect actual || return 1
	done &&
	git -C miss prune -n && cp -R miss salvaged &&
	git -C salvaged repack -adq && git -C salvaged gc -q &&
	rm salvaged/refs/heads/* && stock -C salvaged fsck &&
	unset GIT_REF_PARANOIA && rm miss/refs/heads/garbage &&
	test_must_fail git -C miss repack -adq &&
	stock -C miss rev-parse --all >expect &&
	git -C miss rev-parse --all >actual && test_cmp expect actual &&
	rm miss/refs/heads/miss && echo $none >miss/HEAD &&
	as_stock -C miss rev-list --all &&
	grep "^fatal: bad object HEAD$" actual.err
'

test_expect_success 'the parents of a missing object' '
	id=1234567890123456789012345678901234567890 &&
	rm -rf parents && stock init -q parents &&
	for rev in $id^! $id^@ ^$id^@ $id^-
	do
		test_expect_code 128 "$GIT" -C parents rev-list $rev 2>err &&
		echo "fatal: bad object $id" | test_cmp - err || return
	done
'

# Both commits and the tag have the same date.
test_expect_success 'missing objects behind excluded commits and tags' '
	stock init -q excluded && cd excluded &&
	tree=$(stock mktree </dev/null) && test_tick &&
	gone=$(echo gone | stock commit-tree $tree) &&
	one=$(echo one | stock commit-tree $tree -p $gone) &&
	two=$(echo two | stock commit-tree $tree -p $one) &&
	alone=$(echo alone | stock commit-tree $tree) &&
	stock tag -a -m tag tag $gone &&
	rm .git/objects/$(echo $gone | sed "s,..,&/,") &&
	for range in "$one ^$two" "$one $two ^$two" "$alone ^tag" \
		"$alone $one --not --tags $two" "--not --tags" \
		"--objects $alone ^tag" "--topo-order $alone ^tag"
	do
		stock rev-list $range >../expect &&
		"$GIT" rev-list $range >../actual &&
		test_cmp ../expect ../actual || return 1
	done &&
	test_expect_code 128 "$GIT" rev-list $alone tag &&
	test_expect_code 128 "$GIT" rev-list $alone ^$gone &&
	cd ..
'

test_expect_success '--all has the HEADs of all work trees' '
	rm -rf trees linked && stock init -q trees &&
	stock -C trees commit -q --allow-empty -m base &&
	stock -C trees worktree add -q --detach ../linked &&
	stock -C linked commit -q --allow-empty -m detached &&
	for dir in trees linked
	do
		as_stock -C $dir rev-list --all &&
		as_stock -C $dir rev-list --objects --all &&
		as_stock -C $dir rev-list HEAD --not --all || return
	done &&
	git -C trees bundle create -q all.bundle --all &&
	stock -C trees bundle list-heads all.bundle >heads &&
	grep "worktrees/linked/HEAD" heads &&
	echo $none >trees/.git/worktrees/linked/HEAD &&
	as_stock -C trees rev-list --all &&
	grep "^fatal: bad object worktrees/linked/HEAD$" actual.err
'

test_done
