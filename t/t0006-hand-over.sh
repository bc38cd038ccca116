#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='stock Git runs commands with features that ours do not have'
. "$(dirname "$0")/lib.sh"

test_expect_success 'a repository with a work tree, and a bare one' '
	repo_nested tree &&
	(
		cd tree &&
		echo "a  b" >text && ln -s a/g link &&
		printf "%s\n" "text text eol=crlf" "*.id ident" \
			"big diff=upper" >.gitattributes &&
		stock config diff.upper.textconv "tr 1-9 a-i <" &&
		stock add . && test_tick && stock commit -qm "the text" &&
		stock checkout -q -b side HEAD~2 &&
		stock config branch.side.remote . &&
		stock config branch.side.merge refs/heads/main &&
		test_tick && stock commit -q --allow-empty -m aside &&
		stock checkout -q main
	) &&
	stock clone -q --mirror tree bare.git &&
	stock -C bare.git config diff.upper.textconv "tr 1-9 a-i <" &&
	printf "%s\n" HEAD "HEAD:link" >names &&
	printf "%s\n" text a/g >paths
'

# Print what a command prints to both streams, and its exit code.
answer () {
	{
		"$@" <"$input"
		echo "exit code $?"
	} 2>&1
}

# same <words>: asserts that our git and stock Git print the same, with the same
# exit code.
input=/dev/null
same () {
	answer git "$@" >actual
	answer stock "$@" >expect
	test_cmp expect actual
}

# A script in place of stock Git. It records each call with its arguments, and
# then runs stock Git.
test_expect_success 'a script that records the calls of stock Git' '
	cat >spy <<-EOC &&
	#!/bin/sh
	test "\$1" != --exec-path || exec "$STOCK_GIT" "\$1"
	printf "<%s>" "\$@" >>"$PWD/called"
	echo >>"$PWD/called"
	exec env -u GITREACH_FALLBACK -u GIT_EXEC_PATH PATH="$STOCK_PATH" \
		"$STOCK_GIT" "\$@"
	EOC
	chmod +x spy &&
	mkdir alone && ln -s "$GIT" alone/git
'

spied () {
	rm -f called
	GITREACH_FALLBACK=$PWD/spy "$@"
}

# Command lines with something that gitreach does not support, one on each line.
# The words are separated by blanks. These lines work in any repository.
cat >lines <<\EOF
rev-list --since=2005-04-01 HEAD
rev-list --max-age=1112912300 --all
rev-list --pretty HEAD
rev-list --pretty=oneline --abbrev-commit HEAD~2..HEAD
rev-list --format=%s%n%an HEAD
rev-list --header --max-count=1 HEAD
rev-list --bisect HEAD ^HEAD~4
rev-list --bisect-all HEAD
rev-list --graph --all
rev-list --author=Thor HEAD
rev-list --grep text HEAD
rev-list --cherry-pick main...side
rev-list --cherry main...side
rev-list -g HEAD
rev-list --walk-reflogs --all
rev-list --timestamp HEAD
rev-list --no-walk HEAD side
rev-list --glob=heads HEAD
rev-list --branches=s* HEAD
rev-list --exclude=refs/heads/main --all
rev-list --objects-edge HEAD ^HEAD~1
rev-list --no-such-option HEAD
rev-list HEAD --no-such-option=x
rev-list :/aside
rev-list HEAD^{/f3}
rev-list --ancestry-path=HEAD^{/f3} HEAD
rev-list --left-only main...side -- big
rev-list --missing=print HEAD -- a
rev-list --missing=nothing HEAD
rev-list --objects --filter=tree:1 HEAD -- a
rev-list HEAD -- :(attr:diff=upper)big
for-each-ref --format=%(upstream)
for-each-ref --format=%(if)%(upstream)%(then)%(upstream:short)%(else)-%(end)
for-each-ref --format=%(align:30)%(refname)%(end)|
for-each-ref --format=%(push:track)
for-each-ref --format=%(color:red)%(refname)
for-each-ref --format=%(contents:trailers)
for-each-ref --format=%(subject:sanitize)
for-each-ref --format=%(committerdate:relative)
for-each-ref --format=%(committerdate:format:%Y)
for-each-ref --color=always --format=%(color:blue)%(refname)
for-each-ref --no-color
for-each-ref --sort=upstream
for-each-ref --sort=-authordate:human
for-each-ref --contains=HEAD^{/f3}
for-each-ref --merged :/aside
for-each-ref --points-at=:/aside
cat-file --textconv HEAD:big
cat-file --filters HEAD:text
cat-file --path=text --filters HEAD:text
cat-file --batch-check --follow-symlinks
cat-file --batch --textconv
cat-file --batch-check=%(objectmode)
cat-file --textc HEAD:big
cat-file -p :/aside
cat-file -e HEAD^{/nothing}
rev-parse HEAD :/aside
rev-parse --verify -q :/nothing
rev-parse --since=2005-04-07T22:00:00Z HEAD
rev-parse --bisect
rev-parse --resolve-git-dir .git
rev-parse --show-superproject-working-tree
EOF

# These command lines need an index, reflogs or a work tree.
cat >lines.tree <<\EOF
rev-list side@{u}..HEAD
rev-list side@{u}
rev-list --indexed-objects --objects
for-each-ref --format=%(worktreepath)
for-each-ref --contains side@{u}
cat-file -p :text
cat-file blob :./text
cat-file -t side@{u}
rev-parse HEAD side@{upstream}
rev-parse --abbrev-ref side@{u}
rev-parse --verify -q side@{u}
rev-parse :text
hash-object text
hash-object -w a/g text
hash-object --path=text a/g
EOF

# check <repository> <words>: asserts that the output is stock Git's. Stock Git
# must be called once, with the given words.
check () {
	repo=$1
	shift
	same -C $repo "$@" &&
	spied answer git -C $repo "$@" >actual &&
	test_cmp expect actual &&
	test_line_count 1 called &&
	printf "<%s>" "$@" >words && echo >>words &&
	test_cmp words called
}

# refused <repository> <words>: without stock Git, the command must fail, and
# name what is not supported. Only rev-parse may have printed something before.
refused () {
	repo=$1
	shift
	git_alone -C $repo "$@" >out 2>err <"$input"
	code=$?
	case $code in 128|129) ;; *) echo "exit code $code"; return 1;; esac
	{ test "$1" = rev-parse || test_must_be_empty out; } &&
	grep -e "not supported" -e "unsupported option" err
}

set -f
while read -r words
do
	test_expect_success "git $words" '
		input=names &&
		check tree $words && refused tree $words &&
		check bare.git $words && refused bare.git $words
	'
done <lines
while read -r words
do
	test_expect_success "git $words, with a work tree" '
		check tree $words && refused tree $words
	'
done <lines.tree
set +f

test_expect_success 'a range that ends in a name of stock Git'\''s' '
	input=/dev/null &&
	check tree rev-parse HEAD~1..:/aside &&
	check tree rev-parse HEAD~1...:text
'

# ---- standard input

test_expect_success 'arguments hand over to stock Git before input is read' '
	echo HEAD >revs && input=revs &&
	check tree rev-list --pretty=oneline --stdin &&
	check tree rev-list --missing=print --stdin -- a &&
	check tree rev-list --stdin -- ":(attr:diff)big" &&
	check tree rev-list --objects --filter=tree:1 --stdin -- a &&
	echo refs/heads/main >patterns && input=patterns &&
	check tree for-each-ref --stdin --format="%(upstream)" &&
	input=paths &&
	check tree hash-object --stdin-paths &&
	input=tree/text &&
	check tree hash-object --stdin --path=text
'

test_expect_success 'revisions and paths on standard input reach stock Git' '
	for line in :/aside ":(attr:diff)big" a
	do
		case "$line" in
		:/aside) echo $line ;;
		*) printf "%s\n" HEAD -- "$line" ;;
		esac >revs &&
		stock -C tree rev-list --missing=print --stdin <revs >expect &&
		git -C tree rev-list --missing=print --stdin <revs >actual &&
		test_cmp expect actual || return 1
	done
'

test_expect_success 'a feature that standard input asks for too late is refused by name' '
	test_when_finished "rm -rf sub" &&
	stock init -q sub && mkdir sub/dir && echo x >sub/dir/file &&
	echo "* text" >sub/dir/.gitattributes &&
	test_expect_code 128 spied git -C sub hash-object --stdin-paths \
		2>err <<-\EOF &&
	dir/file
	EOF
	grep "content filters.*are not supported yet" err &&
	! test -e called
'

test_expect_success 'names of a batch that stock Git alone resolves' '
	cat >tree.names <<-\EOF &&
	HEAD
	HEAD@{1}
	HEAD@{1}^{tree} and more
	side@{u}
	HEAD^{/f3}
	HEAD^{/nothing}
	:text
	:nothing
	:/aside
	HEAD:./text
	^HEAD@{1}
	-x@{1}
	none@{1}
	HEAD~1
	EOF
	input=$PWD/tree.names &&
	for dir in tree tree/a
	do
		same -C $dir cat-file --batch-check &&
		same -C $dir cat-file --batch --buffer &&
		same -C $dir cat-file --batch-check="%(objectname) %(rest)" ||
		return 1
	done &&
	sed "s/^/info /" tree.names >commands && input=$PWD/commands &&
	same -C tree cat-file --batch-command &&
	echo "side@{u}" >one && input=$PWD/one &&
	refused tree cat-file --batch-check
'

# ---- how the command was called

test_expect_success 'options before the command hold for stock Git' '
	input=/dev/null &&
	same -C tree/a -C b rev-list --since=2005-04-01 --objects HEAD -- . &&
	same --git-dir=bare.git rev-list --graph side &&
	same -C tree/a --git-dir=../../bare.git --work-tree=.. rev-list \
		--no-walk --oneline side &&
	same -C tree -c diff.upper.textconv="tr 0-9 x <" cat-file --textconv \
		HEAD:big &&
	grep x actual &&
	same -C tree -c "pretty.x=format:it'\''s \"%an\"!" rev-list --pretty=x \
		HEAD &&
	grep "it.s .A U Thor.!" actual &&
	same -C tree --literal-pathspecs rev-list --since=1 HEAD -- "a*" &&
	same -p -C tree rev-list --graph HEAD
'

test_expect_success 'by the name of the command, from our exec path' '
	input=/dev/null &&
	answer stock -C tree rev-list --graph HEAD >expect &&
	ln -sf "$GIT" git-rev-list &&
	(cd tree && answer ../git-rev-list --graph HEAD) >actual &&
	test_cmp expect actual &&
	(cd tree && answer "$(git --exec-path)/git-rev-list" --graph HEAD) \
		>actual &&
	test_cmp expect actual
'

test_expect_success 'options come in any order, and are handed over in it' '
	input=/dev/null &&
	check tree for-each-ref refs/heads --color --count=1 --sort refname &&
	check tree cat-file HEAD:big --textconv &&
	check tree rev-list --count HEAD --author=Thor --objects
'

# ---- other commands

test_expect_success 'commands that change the repository are handed over' '
	stock -C tree update-ref refs/heads/expected "HEAD@{1}" &&
	spied git -C tree update-ref refs/heads/moved "HEAD@{1}" &&
	test_line_count 1 called &&
	test_cmp tree/.git/refs/heads/expected tree/.git/refs/heads/moved &&
	spied git -C tree reflog delete "side@{yesterday}" &&
	echo "<reflog><delete><side@{yesterday}>" >expect &&
	test_cmp expect called &&
	test_expect_code 255 git_alone -C tree reflog delete \
		"side@{yesterday}" 2>err &&
	grep "by its date is not supported yet" err &&
	spied git init -q --separate-git-dir=apart.git apart &&
	test_line_count 1 called && test -f apart/.git &&
	test_expect_code 129 git_alone init --separate-git-dir=apart2.git \
		apart2 2>err &&
	grep "option .separate-git-dir. is not supported yet" err &&
	! test -e apart2
'

test_expect_success 'bundle create' '
	spied git -C tree bundle create -q ../one.bundle --since=2005-04-01 \
		main side^! &&
	echo "<bundle><create><-q><../one.bundle><--since=2005-04-01><main><side^!>" \
		>expect &&
	test_cmp expect called &&
	stock -C tree bundle verify ../one.bundle &&
	for arg in --since=1 "main@{u}"
	do
		test_expect_code 128 git_alone -C tree bundle create x.bundle \
			$arg main 2>err &&
		grep "not supported" err || return 1
	done
'

test_expect_success 'commands of which stock Git has a part' '
	for words in "reflog show" \
		"maintenance register"
	do
		spied git -C bare.git $words >out 2>&1
		echo "$words" | sed "s/ /></g; s/.*/<&>/" >expect &&
		test_cmp expect called &&
		test_expect_code 128 env PATH="$PWD/alone" "$GIT" -C bare.git \
			$words 2>err &&
		grep "needs stock Git, but there is no other git" err ||
		return 1
	done
'

# ---- never

test_expect_success 'commands that serve clients are never handed over' '
	for words in "upload-pack --nope bare.git" "upload-pack --color bare.git" \
		"receive-pack --since=1 bare.git" "upload-archive --nope x" \
		"http-backend --nope"
	do
		spied answer git $words >out
		! test -e called || return 1
	done
'

test_expect_success 'supported arguments and wrong usage are not handed over' '
	for words in "rev-list --objects --all" "rev-list nothing" \
		"rev-list --max-count=x HEAD" "for-each-ref --nope" \
		"for-each-ref --format=%(nope)" "cat-file --nope" \
		"cat-file --batch-check=%(nope)" "cat-file -p nothing" \
		"rev-parse HEAD~1 HEAD^{tree} HEAD:a/g" "hash-object a/g --nope" \
		"hash-object --no-filters text"
	do
		spied answer git -C tree $words >out
		! test -e called || return 1
	done
'

test_expect_success 'a stock Git that starts gitreach again is not used' '
	cat >wrapper <<-EOC &&
	#!/bin/sh
	test "\$1" = --exec-path || echo x >>"$PWD/rounds"
	exec "$GIT" "\$@"
	EOC
	chmod +x wrapper &&
	GITREACH_FALLBACK=$PWD/wrapper test_expect_code 129 git -C tree \
		rev-list --graph HEAD 2>err &&
	grep "unsupported option .--graph" err &&
	test_line_count 100 rounds
'

test_done
