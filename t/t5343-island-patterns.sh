#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='which references share an island: pack.island as stock Git
reads it

Two references name commits without parents, each with one file of its own; the
files are alike, so that one is stored as a delta against the other where islands
allow that. Which way they do is asked of stock Git, with the one file larger and
with the other.'
. "$(dirname "$0")/lib.sh"

# commit <repo> <name> <line>...: a commit with a file of these and more lines;
# the file <name> gets its id and that of its blob.
commit () {
	repo=$1 name=$2 && shift 2 &&
	blob=$(printf "%s\n" $name "$@" $(seq 1 300) |
		stock -C "$repo" hash-object -w --stdin) &&
	tree=$(printf "100644 blob %s\tf\n" $blob |
		stock -C "$repo" mktree) &&
	commit=$(stock -C "$repo" commit-tree -m x $tree) &&
	echo $commit $blob >"$repo/$name"
}

# pair_repo <repo> <line>...: the one has these lines, the other four.
pair_repo () {
	repo_init "$1" &&
	commit "$@" &&
	commit "$1" two 1 2 3 4
}

# deltas <repo> <ref> <ref> [<config>...] with $git: "one" or "two", whichever
# is stored as a delta, or "none".
deltas () {
	repo=$1
	read one one_blob <"$repo/one" &&
	read two two_blob <"$repo/two" &&
	printf "%s %s\n%s %s\n" $one "$2" $two "$3" | LC_ALL=C sort -k2 \
		>"$repo/packed-refs" &&
	shift 3 &&
	rm -f made-* &&
	$git -C "$repo" "$@" pack-objects --all --delta-islands -q \
		"$PWD/made" </dev/null >name 2>err &&
	stock verify-pack -v made-$(cat name).idx >list &&
	awk -v one=$one_blob -v two=$two_blob '
		NF == 7 && $1 == one { print "one"; found = 1 }
		NF == 7 && $1 == two { print "two"; found = 1 }
		END { if (!found) print "none" }' list
}

# same <ref> <ref> [<pattern>...]: ours has the deltas that stock Git says are
# allowed, and no others.
same () {
	refs="$1 $2" && shift 2 &&
	for pattern
	do
		shift
		set -- "$@" -c "pack.island=$pattern"
	done &&
	git=stock &&
	allowed="$(deltas large.git $refs "$@") $(deltas small.git $refs "$@")" &&
	git=$GIT &&
	for repo in large.git small.git
	do
		ours=$(deltas $repo $refs "$@") &&
		echo "$refs $*: stock $allowed, ours $ours" >&2 &&
		case "$allowed" in
		"none none")
			test $ours = none ;;
		*)
			case " $allowed " in *" $ours "*) : ;; *) false ;; esac &&
			test $ours != none ;;
		esac || return
	done
}

test_expect_success 'setup' '
	pair_repo large.git one 1 2 3 4 5 6 7 8 &&
	pair_repo small.git one &&
	for git in stock "$GIT"
	do
		deltas large.git refs/x/1 refs/x/2 &&
		deltas small.git refs/x/1 refs/x/2 || return
	done >actual &&
	printf "two\none\ntwo\none\n" | test_cmp - actual
'

V=refs/virtual

test_expect_success 'no pattern matches, or one of the references' '
	same refs/x/1 refs/x/2 refs/y/ &&
	same refs/x/1 refs/y/2 refs/y/ &&
	same refs/y/1 refs/x/2 refs/y/ &&
	same refs/y/1 refs/y/2 refs/y/
'

test_expect_success 'names are captured, and joined by dashes' '
	same $V/1/heads/a $V/1/tags/b "$V/([0-9]+)/heads/" "$V/([0-9]+)/tags/" &&
	same $V/1/heads/a $V/2/heads/b "$V/([0-9]+)/heads/" &&
	same $V/1/heads/a $V/1/pull/b "$V/([0-9]+)/heads/" \
		"$V/([0-9]+)/(pull)/" &&
	same $V/1-pull/heads/a $V/1/pull/b "$V/([^/]+)/heads/" \
		"$V/([0-9]+)/(pull)/" &&
	same $V/1-/heads/a $V/1/heads/b "$V/([^/]+)/heads/" \
		"$V/([^/]+)/()heads/b" &&
	same $V/a/bc $V/ab/c "$V/([a-z]+)/([a-z]+)" &&
	same $V/a-b/c $V/a/b-c "$V/([a-z-]+)/([a-z-]+)" &&
	same $V/12/a $V/21/b "$V/(1)?(2)?(1)?/" &&
	same $V/1/a $V/2/b "$V/(1)?(2)?/" &&
	same $V/aa/a $V/bb/b "$V/((a)|(b))+/" &&
	same $V/ab/a $V/ba/b "$V/(a|b)+/"
'

test_expect_success 'without groups the name is empty' '
	same refs/heads/a refs/tags/b refs/heads/ refs/tags/ &&
	same refs/heads/a refs/tags/b refs/heads/ "refs/tags/()" &&
	same refs/heads/a refs/tags/b "" &&
	same refs/heads/a refs/tags/b "refs/(heads)?" &&
	same refs/heads/a refs/tags/b "refs/(heads)?" refs/tags/
'

test_expect_success 'the last pattern that matches wins' '
	same $V/1/a $V/2/b "$V/([0-9]+)/" "$V/" &&
	same $V/1/a $V/2/b "$V/" "$V/([0-9]+)/" &&
	same $V/1/a $V/2/b "$V/([0-9]+)/" "$V/(2)/b" "$V/[0-9]/(.)" &&
	same $V/1/a $V/2/a "$V/([0-9]+)/" "$V/[0-9]/(.)" &&
	same $V/1/a $V/2/a "$V/[0-9]/(.)" "$V/([0-9]+)/" &&
	same $V/1/a $V/2/a "$V/[0-9]/(.)" "$V/(2)/" refs/other/
'

test_expect_success 'patterns match from the start of the name' '
	same $V/1/a $V/2/b "virtual/([0-9]+)/" &&
	same $V/1/a $V/2/b "^$V/([0-9]+)/" &&
	same $V/1/a $V/2/b "refs/.*/([0-9]{1})/[ab]\$" &&
	same $V/1/a $V/2/b "refs/x|$V/(.)" &&
	same $V/1/a $V/2/b "x|virtual/(.)" &&
	same $V/1/a $V/2/b "x|virtual/." &&
	same $V/1/a $V/2/b "$V/([[:digit:]])" &&
	same $V/1/a refs/VIRTUAL/2/b "$V/" &&
	same $V/1/a $V/2/b "$V/\\([0-9]\\)" &&
	same $V/1+/a $V/11/b "$V/(1\\+|1+)/"
'

test_expect_success 'very many groups' '
	thirteen="()()()()()()()()()()()()()" &&
	same $V/1/a $V/2/b "$V/$thirteen(.)" &&
	same $V/1/a $V/2/b "$V/$thirteen()(.)"
'

test_expect_success 'a bad expression is an error in the same words' '
	for pattern in "refs/(" "^refs/(" "(" "refs/["
	do
		test_expect_code 128 stock -C large.git \
			-c "pack.island=$pattern" pack-objects --all \
			--delta-islands --stdout </dev/null 2>expect &&
		test_expect_code 128 "$GIT" -C large.git \
			-c "pack.island=$pattern" pack-objects --all \
			--delta-islands --stdout </dev/null 2>actual &&
		test_cmp expect actual || return
	done
'

test_expect_success 'keys without a value' '
	for key in pack.island pack.islandCore
	do
		test_expect_code 128 stock -C large.git -c $key \
			-c pack.island=refs/ pack-objects --all \
			--delta-islands --stdout </dev/null 2>expect &&
		test_expect_code 128 "$GIT" -C large.git -c $key \
			-c pack.island=refs/ pack-objects --all \
			--delta-islands --stdout </dev/null 2>actual &&
		sed -n "s/^error: //p" expect >missing &&
		sed -n "s/^fatal: //p" actual | test_cmp missing - || return
	done
'

# As in stock Git, islands whose references have equal values count as one.
test_expect_success 'progress names the number of islands, and counts trees' '
	repo_linear shown.git 3 &&
	stock -C shown.git update-ref refs/forks/1/heads/a main &&
	stock -C shown.git update-ref refs/forks/2/heads/b main &&
	stock -C shown.git update-ref refs/forks/3/heads/a main &&
	stock -C shown.git update-ref refs/forks/3/heads/b main~1 &&
	echo main >in &&
	trees=$(stock -C shown.git rev-list --objects --all --no-object-names |
		stock -C shown.git cat-file --batch-check |
		grep -c " tree ") &&
	for git in stock "$GIT"
	do
		for options in "--all" "--revs"
		do
			$git -C shown.git -c "pack.island=refs/forks/(.)/" \
				pack-objects --stdout --progress \
				--delta-islands $options <in 2>err >pack &&
			tr "\r" "\n" <err | sed -n \
				-e "/^Marked/p" -e "/^Enumerating.*done/p" \
				-e "/^Propagating.*done/p" >told &&
			objects=$(stock -C shown.git rev-list --objects --all |
				grep -c .) &&
			cat >expect <<-EOF &&
			Marked 2 islands, done.
			Enumerating objects: $objects, done.
			Propagating island marks: 100% ($trees/$trees), done.
			EOF
			test_cmp expect told || return 1
		done
	done &&
	stock -C shown.git rev-parse main main~1 >in &&
	"$GIT" -C shown.git -c "pack.island=refs/forks/(.)/" pack-objects \
		--stdout --progress --delta-islands <in 2>err >pack &&
	tr "\r" "\n" <err | grep -E "^(Enum.*done|Marked|Propagating)" >told &&
	echo "Enumerating objects: 2, done." >expect &&
	test_cmp expect told
'

test_done
