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
--verify --foo HEAD
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
--abbrev-ref --symbolic-full-name HEAD
--abbrev-ref HEAD^!
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
--sq side..HEAD ^HEAD
v1.0^! v1.0^-
blob...HEAD
--branches=
--branches=refs/heads/*
'*.c'
--end-of-options -- file1
--path-format
--sq-quote a "b'c" '!'
--show-object-format --is-shallow-repository
--show-object-format=none
--git-path
--path-format=none
EOF

test_expect_success 'the parents that the shallow file and grafts hide' '
	test_when_finished "rm -f repo/.git/shallow repo/.git/info/grafts" &&
	stock -C repo rev-parse HEAD~1 >repo/.git/shallow &&
	(
		cd repo &&
		same rev-parse HEAD~1 &&
		same rev-parse --verify HEAD~2 &&
		same rev-parse HEAD~1^@ &&
		same rev-parse HEAD~1^-
	) &&
	rm repo/.git/shallow &&
	mkdir -p repo/.git/info &&
	stock -C repo rev-parse HEAD HEAD~2 | paste -d " " - - \
		>repo/.git/info/grafts &&
	(
		cd repo &&
		same rev-parse HEAD~1 &&
		same rev-parse HEAD~2 &&
		same rev-parse HEAD^! &&
		same cat-file -p HEAD~2
	)
'

# Only braces after "@" and "^" hide a colon.
test_expect_success 'a colon in braces' '
	for name in "{HEAD:a}" "main{a:b}"
	do
		echo "fatal: invalid object name '"'"'${name%%:*}'"'"'." >expect &&
		test_expect_code 128 git_alone -C repo cat-file -t "$name" \
			2>actual &&
		test_cmp expect actual || return 1
	done &&
	for name in "HEAD^{a:b}" "HEAD@{a:b" "HEAD^{x^{a}:b}"
	do
		echo "fatal: Not a valid object name $name" >expect &&
		test_expect_code 128 git_alone -C repo cat-file -t "$name" \
			2>actual &&
		test_cmp expect actual || return 1
	done &&
	# A search for a commit message, and a path: only stock Git has these.
	test_expect_code 128 git_alone -C repo cat-file -t "HEAD^{/{x}:a}" \
		2>actual &&
	grep "searches for a commit message are not supported" actual
'

test_expect_success 'names that go through grafted parents, without a stock Git' '
	test_when_finished "rm repo/.git/info/grafts" &&
	side=$(stock -C repo rev-parse side) &&
	old=$(stock -C repo rev-parse HEAD~2) &&
	stock -C repo rev-parse HEAD side HEAD~2 | paste -d " " - - - \
		>repo/.git/info/grafts &&
	(
		cd repo &&
		git_alone update-ref refs/new/one HEAD~1 &&
		git_alone update-ref refs/new/two HEAD^2 &&
		test_expect_code 128 git_alone update-ref refs/new/three HEAD^3
	) &&
	printf "%s refs/new/%s\n" $side one $old two >expect &&
	stock -C repo show-ref refs/new/one refs/new/two >actual &&
	test_cmp expect actual &&
	stock -C repo update-ref -d refs/new/one &&
	stock -C repo update-ref -d refs/new/two
'

test_expect_success 'broken refs are zeros or warnings' '
	cp -R repo broken && heads=broken/.git/refs/heads && : >$heads/empty &&
	echo "ref: refs/heads/none" >$heads/dangling &&
	printf "%040d\n" 0 >$heads/zeros &&
	printf "%040d\n" 0 0 >expect &&
	git -C broken rev-parse --glob="heads/[ez]*" >actual &&
	test_cmp expect actual &&
	printf "^refs/heads/%s\n" empty zeros >expect &&
	git -C broken rev-parse --symbolic --not --glob="heads/[dez]*" \
		>actual 2>err &&
	test_cmp expect actual && test_cmp /dev/null err &&
	echo zeros >expect &&
	git -C broken rev-parse --abbrev-ref --branches="[dez]*" >actual \
		2>err &&
	test_cmp expect actual &&
	echo "warning: ignoring broken ref refs/heads/empty" >expect &&
	test_cmp expect err &&
	echo refs/heads/zeros >full &&
	git -C broken rev-parse --symbolic-full-name --glob="heads/[dez]*" \
		>actual 2>err &&
	test_cmp full actual && test_cmp expect err &&
	git -C broken rev-parse --exclude="*e*" --branches="[ez]*" >actual &&
	test_cmp /dev/null actual
'

test_expect_success 'warnings about names' '
	test_when_finished "stock -C repo update-ref -d refs/heads/v1.0 &&
		rm repo/.git/refs/heads/broken" &&
	stock -C repo update-ref refs/heads/v1.0 side &&
	echo garbage >repo/.git/refs/heads/broken &&
	(
		cd repo &&
		for name in v1.0 v1.0~1 broken side^{tag} side^{tag}~1
		do
			same -e rev-parse $name &&
			same -e rev-parse --verify -q $name &&
			same -e rev-list -n1 $name -- &&
			same -e cat-file -e $name || return 1
		done &&
		same -e -c core.warnAmbiguousRefs=false rev-parse v1.0
	)
'

places='--git-dir --git-common-dir --absolute-git-dir --is-inside-git-dir
	--is-inside-work-tree --is-bare-repository --show-cdup --show-prefix
	--show-toplevel'
paths='HEAD objects/x refs/heads/x refs/bisect/x logs/HEAD hooks/x
	info/sparse-checkout'

# same_places [<option>]: compares the output of every option and for every path
# with stock Git's, in the current directory.
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

test_expect_success 'paths as seen from several current directories' '
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

test_expect_success 'GIT_DIR is the file of a linked work tree' '
	(GIT_DIR=linked/.git && export GIT_DIR && same_places) &&
	(cd linked && GIT_DIR=.git && export GIT_DIR && same_places)
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
	stock rev-parse --local-env-vars >all &&
	grep -v GIT_INTERNAL_SUPER_PREFIX all >expect &&
	git rev-parse --local-env-vars >actual &&
	test_cmp expect actual &&
	test_expect_code 128 git -C none rev-parse --local-env-vars HEAD \
		>actual &&
	test_cmp expect actual &&
	git -C repo rev-parse HEAD --local-env-vars >actual &&
	stock -C repo rev-parse HEAD >oid &&
	cat oid expect >both &&
	test_cmp both actual
'

test_expect_success 'SHA-256' '
	stock init -q --object-format=sha256 long &&
	test_tick &&
	stock -C long commit -q --allow-empty -m x &&
	(cd long && same rev-parse HEAD --show-object-format &&
		same rev-parse --short HEAD)
'

# write <type> <format> <arguments>...: writes an object whose content printf
# makes. Prints its id.
write () {
	write_type=$1 && shift &&
	printf "$@" | stock hash-object -t $write_type -w --stdin
}

# The numbers were chosen so that the ids start with "dead" or "beef".
test_expect_success 'several objects have ids with one prefix' '
	rm -rf "$TRASH/twins" &&
	stock init -q -b main "$TRASH/twins" &&
	cd "$TRASH/twins" &&
	write blob "blob 32367\n" &&
	write blob "blob 44586\n" &&
	write blob "Blob 18345\n" &&
	tree=$(write tree "") &&
	blob=$(write blob x) &&
	echo "100644 blob $blob	f47157" | stock mktree &&
	echo "100644 blob $blob	f98317" | stock mktree &&
	for nr in "A 13464" "A 21622" "B 105149"
	do
		set -- $nr &&
		write commit "tree %s\nauthor %s <a@b> %s +0000\ncommitter A <a@b> %s +0000\n\nsubject %s\n" \
			$tree $1 $2 $2 $2 || return 1
	done &&
	commit=$(stock rev-parse deadf74) &&
	for nr in 119732 125740
	do
		write tag "object %s\ntype commit\ntag t%s\ntagger A <a@b> %s +0000\n\nmsg\n" \
			$commit $nr $nr || return 1
	done
'

# candidates <name> <configured hint> <pattern>: asserts that git lists the
# candidates for an ambiguous name. They are the lines of the file `all` that
# match the pattern.
candidates () {
	{
		echo "error: short object ID dead is ambiguous" &&
		echo "hint: The candidates are:" &&
		grep "$3" all
	} >expect &&
	test_expect_code 128 git -c core.disambiguate=$2 rev-parse "$1" \
		>out 2>err &&
	grep "^error\|^hint" err >actual &&
	test_cmp expect actual
}

# The expected lists were printed by Git 2.55.
test_expect_success 'candidates for an ambiguous id' '
	cd "$TRASH/twins" &&
	cat >all <<-\EOF &&
	hint:   dead078 tag 1970-01-02 - t125740
	hint:   deada77 tag 1970-01-02 - t119732
	hint:   deadc36 commit 1970-01-01 - subject 21622
	hint:   deadf74 commit 1970-01-01 - subject 13464
	hint:   dead53b tree
	hint:   dead668 tree
	hint:   dead1bd blob
	hint:   deadec2 blob
	EOF
	candidates dead none . &&
	candidates dead commit commit &&
	candidates dead committish "commit\|tag" &&
	candidates dead tree "tree" &&
	candidates dead treeish "commit\|tag\|tree" &&
	candidates dead blob "blob" &&
	candidates dead..beef none "commit\|tag" &&
	candidates dead^! none "commit\|tag" &&
	candidates dead^{tree} none "commit\|tag\|tree" &&
	candidates dead:x none "commit\|tag\|tree" &&
	grep "^fatal: invalid object name .dead" err &&
	{
		echo "error: short object ID dead is ambiguous" &&
		echo "hint: The candidates are:" &&
		cat all
	} >expect &&
	test_expect_code 128 git rev-parse --verify dead 2>err &&
	grep -v ^fatal err >actual &&
	test_cmp expect actual &&
	test_expect_code 1 git rev-parse -q --verify dead 2>err &&
	test_must_be_empty err &&
	test_expect_code 128 git rev-parse x-1-gdead 2>err &&
	grep "^fatal: ambiguous argument .x-1-gdead" err &&
	test_expect_code 128 git -c core.disambiguate=x rev-parse dead 2>err &&
	grep "unknown hint type for .core.disambiguate.: x" err
'

test_expect_success 'core.disambiguate chooses' '
	cd "$TRASH/twins" &&
	commit=$(stock rev-parse beeff74) &&
	blob=$(stock rev-parse beef927) &&
	test $(git -c core.disambiguate=commit rev-parse beef) = $commit &&
	test $(git -c core.disambiguate=Treeish rev-parse beef) = $commit &&
	test $(git -c core.disambiguate=blob rev-parse beef) = $blob &&
	test_expect_code 128 git -c core.disambiguate=tree rev-parse beef &&
	test $(git -c core.disambiguate=blob rev-parse beef^0) = $commit &&
	test $(git rev-parse x-1-gbeef) = $commit &&
	printf "%s\n^%s\n" $commit $commit >expect &&
	git rev-parse beef..beef >actual &&
	test_cmp expect actual &&
	for name in x-gbeef x-y-gbeef a..b-1-gbeef 1-gbeef
	do
		test_expect_code 128 git rev-parse $name || return 1
	done &&
	git rev-parse --disambiguate=be >actual &&
	printf "%s\n" $blob $commit >expect &&
	test_cmp expect actual
'

# The expected results are those of Git 2.55.
test_expect_success 'patterns, separators and empty arguments' '
	cd "$TRASH/repo" &&
	head=$(stock rev-parse HEAD) &&
	git rev-parse "*.c" "no?ne" >actual &&
	printf "%s\n" "*.c" "no?ne" >expect &&
	test_cmp expect actual &&
	for options in "" --revs-only --no-revs
	do
		git rev-parse $options --end-of-options HEAD -- f || return 1
	done >actual &&
	printf "%s\n" --end-of-options $head -- f $head --end-of-options \
		-- f >expect &&
	test_cmp expect actual &&
	test_expect_code 128 git rev-parse --end-of-options --foo 2>err &&
	grep "fatal: option .--foo. must come before non-option" err &&
	test_expect_code 128 git rev-parse --path-format 2>err &&
	grep "fatal: --path-format requires an argument" err &&
	echo >expect &&
	git rev-parse --show-object-format=compat >actual &&
	test_cmp expect actual &&
	git rev-parse --branches >expect &&
	git rev-parse --branches= >actual &&
	test_cmp expect actual &&
	git rev-parse --all >expect &&
	git rev-parse --glob= >actual &&
	test_cmp expect actual &&
	test_expect_code 128 git rev-parse HEAD:dir//sub 2>err &&
	grep "fatal: path .dir//sub. exists on disk, but not in .HEAD." err &&
	test_expect_code 128 git rev-parse none:f 2>err &&
	grep "fatal: invalid object name .none.\." err &&
	test_expect_code 128 git rev-parse HEAD^{blob} 2>err &&
	grep "expected blob type, but the object dereferences to tree type" err
'

test_expect_success 'unsupported options are refused by name' '
	cd "$TRASH" &&
	test_expect_code 128 git_alone -C repo rev-parse --since=yesterday \
		2>err &&
	grep "since=yesterday is not supported" err &&
	test_expect_code 128 git_alone -C repo rev-parse @{u} 2>err &&
	grep "upstream branches and checkouts are not supported" err &&
	test_expect_code 128 git_alone -C repo rev-parse --verify -q @{u} \
		2>err &&
	grep "upstream branches and checkouts are not supported" err
'

test_expect_success 'entries of reflogs, without a stock Git' '
	cd "$TRASH" && rm -rf logs && stock init -q -b main logs &&
	for nr in 1 2 3
	do
		GIT_COMMITTER_DATE="170000000$nr +0200" \
			stock -C logs commit -q --allow-empty -m $nr || return 1
	done &&
	for name in main@{0} main@{1} @{2} HEAD@{1}~1 heads/main@{1700000002} \
		"main@{2 days ago}" main@{1}^{tree} main@{1700000000}
	do
		stock -C logs rev-parse "$name" >expect 2>expect.err &&
		git_alone -C logs rev-parse "$name" >actual 2>err &&
		test_cmp expect actual && test_cmp expect.err err || return 1
	done &&
	test_expect_code 128 git_alone -C logs rev-parse main@{9} 2>err &&
	grep "fatal: log for .main. only has 3 entries" err &&
	test_expect_code 128 git_alone -C logs prune -n main@{9} 2>err &&
	grep "fatal: log for .main. only has 3 entries" err &&
	git_alone -C logs prune -n main@{1} &&
	echo main@{1} >revs &&
	git_alone -C logs pack-objects -q --revs ../logs-pack <revs &&
	stock -C logs rev-list --objects main~1 >expect &&
	stock show-index <"$(echo logs-pack-*.idx)" >actual &&
	test_line_count $(wc -l <expect) actual
'

test_expect_success 'with a stock Git, other commands say which entry a reflog lacks' '
	test_expect_code 128 git -C logs prune -n main@{9} 2>err &&
	printf "fatal: log for \047main\047 only has 3 entries\n" >expect &&
	test_cmp expect err &&
	test_expect_code 128 git -C logs fsck main@{9} 2>err &&
	test_cmp expect err &&
	echo main@{9} | test_expect_code 128 git -C logs rev-list --stdin 2>err &&
	test_cmp expect err
'

test_expect_success 'of --short=<n>, 32 bits count; a missing id is reported once' '
	stock -C logs rev-parse main >full &&
	cut -c 1-4 full >expect &&
	git -C logs rev-parse --short=-1 main >actual &&
	test_cmp expect actual &&
	id=$(tr 0-9a-f 1 <full) &&
	test_expect_code 128 git -C logs rev-parse main...$id 2>err &&
	test_line_count 2 err &&
	! grep "is missing" err
'

test_expect_success '.. is HEAD..HEAD where it cannot be a path' '
	echo .. | git -C logs rev-list --count --stdin >actual &&
	echo 0 >expect &&
	test_cmp expect actual &&
	git -C logs rev-list --count .. -- >actual &&
	test_cmp expect actual &&
	test_must_fail git -C logs rev-list --count .. 2>err &&
	grep "is outside repository" err
'

# hooks_from <directory>: compares all forms of the path of the hooks.
hooks_from () {
	for form in --path-format=absolute --path-format=relative --symbolic
	do
		for path in hooks hooks/x hooks//x/y
		do
			(cd $1 && same -c "core.hooksPath=$2" rev-parse $form \
				--git-path $path) || return 1
		done || return 1
	done
}

test_expect_success 'core.hooksPath is expanded, and relative to the top of the work tree' '
	mkdir -p hooked/a/b && stock init -q hooked &&
	for where in hooked hooked/a hooked/a/b hooked/.git bare.git
	do
		for dir in h ./h h/ a a/b ../h . .. "~/h" "~root/h" /h "$PWD/hooked"
		do
			hooks_from $where "$dir" || return 1
		done || return 1
	done &&
	git -C hooked/a -c core.hooksPath=h rev-parse --git-path hooks >actual &&
	echo ../h >expect &&
	test_cmp expect actual &&
	test_expect_code 128 git -C hooked -c core.hooksPath="~nosuchuser/h" \
		rev-parse --git-path hooks 2>err &&
	grep "failed to expand user dir" err
'

test_expect_success ':(optional) in core.hooksPath' '
	git -C hooked/a -c core.hooksPath=":(optional)a/b" \
		rev-parse --git-path hooks >actual &&
	echo b >expect &&
	test_cmp expect actual &&
	git -C hooked/a -c core.hooksPath=":(optional)b" \
		rev-parse --git-path hooks >actual &&
	echo ../.git/hooks >expect &&
	test_cmp expect actual
'

test_expect_success '--path-format resolves a path of the git directory' '
	for path in x//y x/ . .. objects/../y no/../y
	do
		git -C hooked rev-parse --path-format=relative \
			--git-path $path || return 1
	done >actual &&
	cat >expect <<-\EOF &&
	.git/x/y
	.git/x
	.git
	./
	.git/y
	.git/no/../y
	EOF
	test_cmp expect actual
'

test_expect_success 'ancestors are found in the commit-graph' '
	stock init -q far &&
	for i in $(seq 40)
	do
		echo "commit refs/heads/main" &&
		echo "committer A <a@b> $((1000 + i)) +0000" &&
		echo "data 0" || return 1
	done >stream &&
	stock -C far -c fastimport.unpackLimit=100 fast-import --quiet <stream &&
	stock -C far commit-graph write --reachable &&
	stock -C far rev-parse main~1 main~9 main~39 >expect &&
	commit=$(stock -C far rev-parse main~20) &&
	rm -f "far/.git/objects/$(echo $commit | sed "s,..,&/,")" &&
	git -C far rev-parse main~1 main~9 main~39 >actual &&
	test_cmp expect actual &&
	test_must_fail git -C far rev-parse --verify -q main~40 &&
	test_must_fail git -C far -c core.commitGraph=false \
		rev-parse --verify -q main~39
'

test_expect_success 'ancestors are not found in a damaged commit-graph' '
	: >far/.git/objects/info/commit-graph.new &&
	mv -f far/.git/objects/info/commit-graph.new \
		far/.git/objects/info/commit-graph &&
	git -C far rev-parse main~20 >actual &&
	echo $commit >expect &&
	test_cmp expect actual &&
	test_must_fail git -C far rev-parse --verify -q main~39
'

test_done
