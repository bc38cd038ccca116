#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='history limited by paths, against stock Git'
. "$(dirname "$0")/lib.sh"

. "$GITREACH_SRC/t/lib-compare.sh"

# random_history <dir> <seed> <commits> <dates>
random_history () {
	repo_init "$1" &&
	"$GITREACH_SRC/t/random-history.py" $2 $3 $4 ${REPO_FORMAT:-sha1} |
		stock -C "$1" fast-import --quiet --force
}

# compare <seed> <rounds> <dir> <git> <dir> <git>: of 60 commits
compare () {
	seed=$1 rounds=$2
	shift 2
	"$GITREACH_SRC/t/compare-histories.py" $seed 60 $rounds "$@"
}

# ---- pathspecs

test_expect_success 'setup: a work tree' '
	stock init -q r &&
	(
		cd r &&
		mkdir -p docs/sub t/helper &&
		echo 1 >docs/x.c && echo 2 >docs/sub/y.c &&
		echo 3 >t/helper/z.c && echo 4 >"a*b" && echo 5 >axb &&
		echo 6 >Makefile && stock add . && stock commit -qm 1 &&
		echo 7 >>docs/x.c && test_tick && stock commit -qam 2 &&
		echo 8 >>Makefile && test_tick && stock commit -qam 3 &&
		echo 9 >>"a*b" && test_tick && stock commit -qam 4
	) &&
	stock clone -q --bare r r.git
'

cat >specs <<\EOS
docs
docs/
Makefile/
*.c
docs/*.c
:(glob)docs/*.c
:(glob)*.c
:(glob)**/z.c
doc*/x.c
docs/s*
a*b
a\*b
:(literal)a*b
:(icase)DOCS/X.c
:!docs
:^docs
:/!docs
:(exclude)docs/sub
:(top)t
:/t
:
.
..
./docs/../t
x.c
../docs
:(icase)../DOCS/X.C
:(,top,)t
:()docs
:(foo)x
:%x
:(top
:(literal,glob)x
../../x
/x
EOS

test_expect_success 'pathspecs have the forms that stock Git accepts' '
	while read -r spec
	do
		same -e -C r rev-list --objects HEAD -- "$spec" &&
		same -e -C r/docs rev-list --objects HEAD -- "$spec" &&
		same -C r.git rev-list --objects HEAD -- "$spec" || return 1
	done <specs
'

test_expect_success 'an empty pathspec, absolute paths, and no pathspec' '
	same -e -C r rev-list HEAD -- "" &&
	same -C r rev-list HEAD -- "$PWD/r/docs" &&
	same -e -C r rev-list HEAD -- "$PWD" &&
	same -C r rev-list HEAD --
'

test_expect_success 'several pathspecs' '
	same -C r rev-list --objects HEAD -- docs Makefile &&
	same -C r rev-list --objects HEAD -- docs ":!*.c" &&
	same -C r rev-list --objects HEAD -- ":!docs" ":!t"
'

test_expect_success 'the environment is heard' '
	for var in LITERAL GLOB NOGLOB ICASE
	do
		for spec in "a*b" "doc*" "*.c" "DOCS" ":(glob)*b" ":!docs"
		do
			same_env="GIT_${var}_PATHSPECS=1" &&
			( export "$same_env" &&
			  same -e -C r rev-list HEAD -- "$spec" ) || return 1
		done
	done &&
	( GIT_GLOB_PATHSPECS=1 && GIT_NOGLOB_PATHSPECS=1 &&
	  export GIT_GLOB_PATHSPECS GIT_NOGLOB_PATHSPECS &&
	  same -e -C r rev-list HEAD -- docs ) &&
	same -C r --icase-pathspecs rev-list HEAD -- DOCS
'

test_expect_success 'from standard input' '
	printf "HEAD\n--\ndocs\nMakefile\n" >input &&
	same -C r rev-list --objects --stdin &&
	same -C r rev-list --objects --stdin -- t &&
	rm input
'

test_expect_success 'without "--" paths must exist' '
	stock -C r tag docs &&
	while read -r args
	do
		eval "same -e -C r rev-list --objects $args" || return 1
	done <<-\EOA &&
	HEAD Makefile
	HEAD docs
	HEAD Makefile t docs
	HEAD nope
	HEAD Makefile nope
	HEAD Makefile --parents
	HEAD "*.c"
	HEAD ":(top)t"
	^docs HEAD
	^nope HEAD
	HEAD..nope
	nope -- Makefile
	HEAD:nope
	HEAD~9
	docs --
	EOA
	same -e -C r/docs rev-list HEAD x.c &&
	same -e -C r.git rev-list HEAD objects &&
	stock -C r tag -d docs
'

test_expect_success 'unsupported options are refused by name' '
	for args in "--missing=print HEAD -- docs" \
		"--exclude-promisor-objects HEAD -- docs" \
		"--objects --filter=tree:1 HEAD -- docs" \
		"HEAD -- :(attr:x)docs"
	do
		same -C r rev-list $args &&
		test_expect_code 128 git_alone -C r rev-list $args 2>err &&
		grep "is not supported yet" err || return 1
	done
'

test_expect_success 'wrong usage has the messages of stock Git' '
	same -e -C r rev-list --parents --children HEAD &&
	same -e -C r rev-list --simplify-merges --children HEAD &&
	same -e -C r rev-list --ancestry-path HEAD &&
	same -C r rev-list --ancestry-path=nope HEAD &&
	same -C r rev-list --ancestry-path=HEAD: HEAD
'

# ---- the example of git-rev-list(1)

test_expect_success 'the history of the manual' '
	stock init -q manual &&
	(
		cd manual &&
		commit () { test_tick; stock add .; stock commit -qm $1; stock tag $1; }
		join () {
			test_tick
			stock merge -q --no-commit --no-ff --allow-unrelated-histories \
				-s ours $2 >/dev/null &&
			shift 2 && eval "$*" && stock add . && test_tick &&
			stock commit -q --allow-empty -m m
		}
		echo asdf >foo && echo quux >quux && commit I &&
		echo foo >foo && commit A &&
		stock checkout -q -b b I && echo foo >foo && commit B &&
		stock checkout -q -b c I && echo c >c && commit C &&
		stock checkout -q -b d I && echo baz >foo && commit D &&
		stock checkout -q -b e I && echo xyzzy >quux && commit E &&
		stock checkout -q --orphan x && stock rm -qrf . &&
		echo side >side && commit X && echo more >>side && commit Y &&
		stock checkout -q main &&
		join M B : && stock tag M &&
		join N C "echo foobar >foo; echo c >c" && stock tag N &&
		join O D "echo foobarbaz >foo" && stock tag O &&
		join P E "echo \"quux xyzzy\" >quux" && stock tag P &&
		join Q Y "git show Y:side >side" && stock tag Q
	)
'

test_expect_success 'the history of the manual is simplified as described there' '
	for mode in "" --full-history "--full-history --parents" --sparse \
		"--full-history --sparse" --simplify-merges \
		"--simplify-merges --parents" --show-pulls \
		"--show-pulls --simplify-merges --parents" --children \
		"--topo-order --parents" "--boundary A..Q" \
		"--ancestry-path D..Q" "--ancestry-path=E --parents I..Q" \
		"--remove-empty --parents" "--first-parent --parents"
	do
		same -C manual rev-list $mode Q -- foo &&
		same -C manual rev-list $mode Q || return 1
	done
'

test_expect_success 'the default mode lists what the manual says' '
	git -C manual rev-list Q -- foo >actual &&
	stock -C manual rev-parse O N D A I >expect &&
	test_cmp_sorted expect actual
'

# ---- random histories

for dates in even ties skew
do
	test_expect_success "random requests, $dates dates" '
		random_history $dates.git 11 60 $dates &&
		compare 21 80 $dates.git "$STOCK_GIT" $dates.git "$GIT"
	'
done

test_expect_success 'SHA-256' '
	REPO_FORMAT=sha256 random_history sha256.git 12 60 even &&
	compare 22 60 sha256.git "$STOCK_GIT" sha256.git "$GIT"
'

# ---- changed-path filters

test_expect_success 'equal results with filters of version 1, 2, and without' '
	for version in 1 2
	do
		cp -r even.git v$version.git &&
		git -C v$version.git -c commitGraph.changedPathsVersion=$version \
			commit-graph write --reachable --changed-paths &&
		compare 3$version 80 even.git "$GIT" v$version.git "$GIT" ||
			return 1
	done
'

test_expect_success 'equal results with a chain whose top layer has no filters' '
	cp -r even.git chain.git &&
	stock -C chain.git rev-parse t20 |
		git -C chain.git commit-graph write --stdin-commits --split \
			--changed-paths &&
	stock -C chain.git rev-parse t50 |
		git -C chain.git commit-graph write --stdin-commits \
			--split=no-merge --no-changed-paths &&
	compare 33 80 even.git "$GIT" chain.git "$GIT"
'

test_expect_success 'orders that are printed during the walk' '
	for order in --topo-order --date-order
	do
		for mode in "" "-n3" --parents "--parents --full-history" \
			"--boundary -n4" "--reverse --no-merges" --sparse
		do
			same -C v1.git rev-list $order $mode --all -- d &&
			same -C v1.git rev-list $order $mode t59 t50 &&
			same -C v1.git rev-list $order $mode t58 -- a f || return 1
		done
	done
'

# chain <commit> <nr>: make <nr> commits, each the child of the one before. The
# first is a child of <commit>. The last becomes $at.
chain () {
	at=$1
	for i in $(seq $2)
	do
		test_tick &&
		at=$(stock commit-tree -m "$i" -p $at $tree) || return 1
	done
}

# t1 is newer than t2, so it is shown first. The generation number of t1 is much
# higher than that of the octopus. Branch t2 begins with the other child of the
# octopus, which must be shown before the octopus.
test_expect_success 'an octopus of 71 parents comes after all its children' '
	repo_octopus octopus.git 70 &&
	(
		cd octopus.git &&
		tree=$(stock rev-parse main^{tree}) &&
		chain main 5 &&
		stock update-ref refs/heads/t2 $at &&
		chain main^1 10 &&
		test_tick &&
		stock update-ref refs/heads/t1 $(stock commit-tree -m t1 \
			-p $at -p main $tree) &&
		git commit-graph write --reachable
	) &&
	for order in --topo-order --date-order
	do
		same -C octopus.git rev-list $order t1 t2 &&
		same -C octopus.git rev-list $order --parents t2 t1 || return 1
	done
'

test_expect_success 'merges are not simplified if a commit is its own ancestor' '
	stock clone -q --bare r loop.git &&
	stock -C loop.git replace main~2 main &&
	(
		ulimit -v 1000000 &&
		test_must_fail git -C loop.git rev-list --simplify-merges main \
			-- docs 2>err
	) &&
	grep "a commit is its own ancestor" err
'

# statistics <git> <dir> <args>...
statistics () {
	( GIT_TRACE2_EVENT=$PWD/trace && export GIT_TRACE2_EVENT &&
	  rm -f trace && git=$1 && dir=$2 && shift 2 &&
	  "$git" -C $dir rev-list "$@" >/dev/null ) &&
	sed -n "s/.*\"key\":\"statistics\",\"value\"://p" trace
}

# Without roots, which older ones do not ask about.
test_expect_success 'statistics are those of stock Git' '
	for args in "t40..t59 -- d/x" "t59 t58 ^t30 -- a" "t50..t59 -- b" \
		"--full-history t30..t59 -- d/e" "--parents t40..t59 -- f/a"
	do
		statistics "$STOCK_GIT" v1.git $args >expect &&
		statistics "$GIT" v1.git $args >actual &&
		test -s expect && test_cmp expect actual || return 1
	done
'

test_expect_success 'filters are not used if the configuration forbids it' '
	for key in commitGraph.changedPathsVersion=0 \
		commitGraph.changedPathsVersion=2 commitGraph.readChangedPaths=0
	do
		GIT_TRACE2_EVENT=$PWD/trace.$key git -C v1.git -c $key \
			rev-list t59 -- d/x >/dev/null &&
		! grep statistics trace.$key || return 1
	done
'

test_expect_success 'several paths and wildcards behind a directory ask, too' '
	statistics "$GIT" v1.git t59 -- d/x f/a >several &&
	statistics "$GIT" v1.git t59 -- "d/*" >wild &&
	! grep "definitely_not\":0" several wild &&
	same -C v1.git rev-list t59 -- d/x f/a &&
	same -C v1.git rev-list t59 -- "d/*"
'

# spoil <file> <chunk> <offset> <octal bytes>: within a chunk
spoil () {
	chunk=$(python3 - "$1" $2 <<-\EOP
	import sys
	b = open(sys.argv[1], "rb").read()
	for i in range(8, 8 + 12 * b[6], 12):
	    if b[i:i + 4] == sys.argv[2].encode():
	        print(int.from_bytes(b[i + 4:i + 12], "big"))
	EOP
	) &&
	chmod u+w "$1" &&
	printf "$4" | dd of="$1" bs=1 seek=$((chunk + $3)) conv=notrunc \
		2>/dev/null
}

test_expect_success 'filters whose offsets are out of range are ignored' '
	cp -r v1.git bad.git &&
	spoil bad.git/objects/info/commit-graph BIDX 80 "\377\377\377\377" &&
	compare 41 40 even.git "$GIT" bad.git "$GIT"
'

test_expect_success 'filters with unknown settings are ignored' '
	for offset in 0 4
	do
		rm -rf bad.git && cp -r v1.git bad.git &&
		spoil bad.git/objects/info/commit-graph BDAT $offset \
			"\177\377\377\377" &&
		compare 42 40 even.git "$GIT" bad.git "$GIT" || return 1
	done
'

# What is spoiled can hide commits, and show none.
test_expect_success 'a wrong filter hides only its own commit' '
	while read -r chunk offset bytes
	do
		rm -rf bad.git && cp -r v1.git bad.git &&
		spoil bad.git/objects/info/commit-graph $chunk $offset "$bytes" &&
		! cmp -s v1.git/objects/info/commit-graph \
			bad.git/objects/info/commit-graph &&
		for path in a d/x f/a
		do
			git -C v1.git rev-list --full-history t59 -- $path >before &&
			git -C bad.git rev-list --full-history t59 -- $path >after &&
			LC_ALL=C sort before >before.sorted &&
			LC_ALL=C sort after | comm -13 before.sorted - >new &&
			test_must_be_empty new || return 1
		done || return 1
	done <<-EOS
	BDAT 12 $(printf "%0200d" 0 | sed "s/0/\\\\0/g")
	BIDX 80 \\0\\0\\0\\0
	EOS
'

test_done
