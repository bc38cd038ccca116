#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='rev-parse prints what stock Git prints'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-compare.sh"

test_expect_success 'set up' '
	refs_repository repo
'

while read -r args
do
	test_expect_success "rev-parse $args" "
		(cd repo && same rev-parse $args)
	"
done <<\EOF

HEAD v1.0 side^0 @
HEAD~2 HEAD^^ HEAD~0 HEAD~9
HEAD^{tree} v1.0^{} v1.0^{commit} v1.0^{tag} HEAD^{object}
HEAD: HEAD:dir HEAD:dir/sub/x HEAD:none
blob~1
heads/side tags/v1.0 remotes/origin/main origin/main
HEAD..side
..side
side..
HEAD...side
...side
side...
^HEAD
HEAD^@
HEAD^!
HEAD^-
none
none~1
HEAD none
HEAD none -- file1
0000000000000000000000000000000000000001
--verify HEAD
--verify none
--verify -q none
--verify HEAD side
--verify
--verify --default HEAD
--verify ^HEAD
--verify --all
--default HEAD
--short HEAD
--short=4 HEAD^
--short=0 HEAD
--short HEAD side
--abbrev-ref HEAD side v1.0 HEAD^
--abbrev-ref=loose side
--abbrev-ref=none side
--abbrev-ref --all
--symbolic HEAD v1.0~1 ^side side..HEAD
--symbolic HEAD^@ HEAD^! HEAD^-
--symbolic --branches
--symbolic --glob='heads/s*'
--symbolic-full-name HEAD v1.0 HEAD~1 side..HEAD
--symbolic-full-name --branches --tags
--all
--not --all
--branches='t*' --tags='v*' --remotes
--glob=heads
--exclude='refs/tags/*' --all
--exclude=side --branches
--foo -x HEAD
--flags --foo HEAD
--no-flags --foo HEAD
--revs-only --foo HEAD -n 5 -3 --max-count=2 --objects file1
--no-revs --foo HEAD -n 5 -3 file1
HEAD -- file1
file1
HEAD file1
file1 HEAD
-- x
--end-of-options HEAD
-
-n
--sq HEAD file1
--sq-quote a "b'c" '!'
--show-object-format --is-shallow-repository
--show-object-format=none
--git-path
--path-format=none
EOF

places='--git-dir --git-common-dir --absolute-git-dir --is-inside-git-dir
	--is-inside-work-tree --is-bare-repository --show-cdup --show-prefix
	--show-toplevel'
paths='HEAD objects/x refs/heads/x refs/bisect/x logs/HEAD hooks/x
	info/sparse-checkout'

# same_places [<option>]: every option and path, from here
same_places () {
	for option in $places
	do
		same rev-parse $1 $option || return 1
	done &&
	for path in $paths
	do
		same rev-parse $1 --git-path $path || return 1
	done
}

test_expect_success 'other places to stand in' '
	stock -C repo worktree add -q ../linked loose &&
	mkdir linked/sub &&
	stock init -q --bare bare.git
'

for dir in repo repo/dir/sub repo/.git repo/.git/objects linked linked/sub \
	bare.git bare.git/refs
do
	for format in '' absolute relative
	do
		test_expect_success "paths from $dir, $format" '
			(cd $dir &&
				same_places ${format:+--path-format=$format})
		'
	done
done

test_expect_success 'GIT_DIR' '
	(GIT_DIR=repo/.git && export GIT_DIR && same_places)
'

test_expect_success 'GIT_DIR and GIT_WORK_TREE' '
	(
		GIT_WORK_TREE=$PWD/repo &&
		GIT_DIR=$PWD/repo/.git &&
		export GIT_DIR GIT_WORK_TREE &&
		cd repo/dir && same_places
	)
'

test_expect_success 'abbreviated ids' '
	full=$(stock -C repo rev-parse HEAD) &&
	(
		cd repo &&
		for len in 4 7 12 39
		do
			short=$(echo $full | cut -c1-$len) &&
			same rev-parse $short $short~1 x-1-g$short &&
			same rev-parse --disambiguate=$short || exit 1
		done
	)
'

test_expect_success 'outside of a repository' '
	mkdir none &&
	(
		cd none &&
		same rev-parse --git-dir &&
		same rev-parse --sq-quote x
	)
'

test_expect_success STOCK_239 'the variables of a repository' '
	same rev-parse --local-env-vars
'

test_expect_success 'SHA-256' '
	stock init -q --object-format=sha256 long &&
	test_tick &&
	stock -C long commit -q --allow-empty -m x &&
	(cd long && same rev-parse HEAD --show-object-format &&
		same rev-parse --short HEAD)
'

test_expect_success 'what we do not have is said' '
	test_expect_code 128 git_alone -C repo rev-parse --since=yesterday \
		2>err &&
	grep "since=yesterday is not supported" err &&
	test_expect_code 128 git_alone -C repo rev-parse HEAD@{1} 2>err &&
	grep "reflog selectors are not supported" err &&
	test_expect_code 128 git_alone -C repo rev-parse --verify -q HEAD@{1} \
		2>err &&
	grep "reflog selectors are not supported" err
'

test_done
