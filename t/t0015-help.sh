#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='git help: lists, pages and typing errors'
. "$(dirname "$0")/lib.sh"

# A PATH without another git, but with programs that viewers of manual pages
# need.
test_expect_success 'a PATH without stock Git' '
	mkdir alone &&
	for name in env sh sed cat grep
	do
		ln -s "$(command -v $name)" alone/$name || return 1
	done
'

alone () {
	PATH=$PWD/alone "$GIT" "$@"
}

test_expect_success 'without stock Git our commands are listed' '
	test_expect_code 1 alone >list 2>err &&
	test_must_be_empty err && grep "^usage: git " list &&
	grep "^   bitmap  *Inspect" list &&
	grep "^   upload-pack  *Serve" list &&
	for words in help --help -h "-C . --help" "--no-pager help"
	do
		alone $words >actual && test_cmp list actual || return 1
	done &&
	alone help -a >all && sed -n "/^   /p" all >expect &&
	sed "1,/<command>/d; /^   /!d" list >actual && test_cmp expect actual &&
	alone help -a --no-verbose >names &&
	alone --list-cmds=main,others >actual && test_cmp names actual &&
	sed "s/ *\([^ ]*\).*/\1/" expect >actual && test_cmp names actual &&
	alone help --guides >guides && grep "^   gitreach " guides
'

# The directory of programs (exec path) of the build has a file for each
# command.
test_expect_success 'each command is in a group' '
	for file in "$GITREACH_BUILD"/exec/git-*
	do
		test "$(readlink "$file")" != git || echo "${file##*/git-}"
	done | grep -v -x -e daemon -e shell >expect &&
	test_cmp_sorted expect names
'

test_expect_success 'a mistyped command is not handed to stock Git'\''s commands' '
	test_expect_code 1 alone repak 2>err &&
	printf "%s\n" \
		"git: '\''repak'\'' is not a git command. See '\''git --help'\''." "" \
		"The most similar command is" "	repack" >expect &&
	test_cmp expect err &&
	test_expect_code 1 stock repak 2>err && test_cmp expect err
'

test_expect_success 'similar names: swapped letters, prefixes, several, none' '
	for pair in btimap:bitmap ntwork:network for-each:for-each-ref \
		up:upload-pack fsk:fsck CAT-FILE:
	do
		test_expect_code 1 alone ${pair%:*} 2>err &&
		test ${pair#*:}. = "$(sed -n "s/^	//p" err | head -n1)." ||
		return 1
	done &&
	test_expect_code 1 alone ref 2>err &&
	printf "\t%s\n" reflog refs >expect && grep "^	" err >actual &&
	test_cmp_sorted expect actual &&
	grep "^The most similar commands are$" err &&
	test_expect_code 1 alone -p --bare xyzzy 2>err && test_line_count 1 err
'

test_expect_success 'commands of stock Git do not count as mistyped' '
	for words in log "--no-pager status" "log --help" "help log"
	do
		test_expect_code 128 alone $words 2>err &&
		grep "stock Git" err && test_line_count 1 err || return 1
	done &&
	test_expect_code 128 alone -c alias.xYz=log Xyz 2>err &&
	grep "needs stock Git" err &&
	for words in "xyz --help" "help xyz"
	do
		test_expect_code 1 alone $words 2>err &&
		grep "is not a git command" err || return 1
	done
'

test_expect_success 'wrong options without stock Git' '
	test_expect_code 129 alone --nope 2>err &&
	head -n 1 err >first && echo "unknown option: --nope" >expect &&
	test_cmp expect first && grep "^usage: git " err &&
	test_expect_code 129 alone -C 2>err && grep "no value given.*-C" err &&
	test_expect_code 128 alone --html-path 2>err &&
	test_expect_code 129 alone help -w gc 2>err &&
	grep "not supported yet" err &&
	test_expect_code 129 alone help one two 2>err
'

# ---- pages

test_expect_success 'our pages are shown for our commands' '
	stock config --global man.viewer x &&
	stock config --global man.x.cmd "echo page" &&
	for git in git alone
	do
		for words in "help repack" "repack --help" "--help repack" \
			"help -m repack" "help gitreach-repack"
		do
			$git $words >actual &&
			echo "page gitreach-repack" >expect &&
			test_cmp expect actual || return 1
		done &&
		$git help bitmap >actual && $git help gitreach >>actual &&
		printf "page %s\n" gitreach-bitmap gitreach >expect &&
		test_cmp expect actual || return 1
	done &&
	"$(git --exec-path)/git-repack" --help >actual &&
	echo "page gitreach-repack" >expect && test_cmp expect actual &&
	git help log >actual && echo "page git-log" >expect &&
	test_cmp expect actual
'

test_expect_success 'viewers find our directory, and then the system'\''s' '
	stock config --global man.x.cmd "printf \"%s\\n\" \"\$MANPATH\" #" &&
	ours=$GITREACH_BUILD/share/man &&
	for git in git alone
	do
		$git help repack >actual &&
		(unset MANPATH && $git help repack | sed "s|.*$ours:|$ours:|") \
			>actual &&
		echo "$ours:" >expect && test_cmp expect actual &&
		(MANPATH=/a:/b && export MANPATH && $git help repack |
			sed "s|.*$ours:|$ours:|") >actual &&
		echo "$ours:/a:/b" >expect && test_cmp expect actual || return 1
	done &&
	test -f "$ours/man1/gitreach-repack.1"
'

test_expect_success 'a viewer that is not installed is skipped' '
	mkdir tools &&
	printf "#!/bin/sh\necho tool \"\$@\"\n" >tools/man &&
	chmod +x tools/man && cp tools/man tools/given &&
	>"$HOME/.gitconfig" && echo "tool gitreach-gc" >expect &&
	for git in git alone
	do
		$git -c man.viewer=no -c man.viewer=man \
			-c man.man.path="$PWD/tools/given" gc --help \
			>actual 2>err && test_cmp expect actual &&
		grep "no.: unknown man viewer" err &&
		GIT_MAN_VIEWER=given $git -c man.viewer=no \
			-c man.given.cmd="\"$PWD/tools/given\"" gc --help \
			>actual && test_cmp expect actual || return 1
	done &&
	PATH=$PWD/tools:$PWD/alone "$GIT" gc --help >actual &&
	test_cmp expect actual &&
	test_expect_code 128 alone gc --help 2>err && grep "no viewer" err
'

test_expect_success 'stock Git shows its pages in other forms' '
	cat >browse <<-\EOC &&
	#!/bin/sh
	echo "browse $1"
	EOC
	chmod +x browse && mkdir html && >html/git.html &&
	>html/git-repack.html &&
	set -- -c help.htmlPath="$PWD/html" -c help.browser=b \
		-c browser.b.cmd="\"$PWD/browse\"" &&
	echo "browse $PWD/html/git-repack.html" >expect &&
	git "$@" help -w repack >actual && test_cmp expect actual &&
	git "$@" -c help.format=html repack --help >actual &&
	test_cmp expect actual &&
	set -- -c man.viewer=x -c man.x.cmd=echo -c help.format=html &&
	git "$@" help bitmap >actual && echo gitreach-bitmap >expect &&
	test_cmp expect actual && git "$@" help -m gc >actual &&
	echo gitreach-gc >expect && test_cmp expect actual
'

# ---- stock Git's lists

test_expect_success 'help -a lists the commands that only gitreach has last' '
	git help -a >actual && stock help -a >expect &&
	tail -n 6 actual | sed "s/  */ /g" >own &&
	printf "%s\n" "Commands of gitreach" \
		" publish Publish packs that clients download from a web server" \
		" requests Sum up the log of requests" \
		" store Examine stores of files that machines share" \
		" bitmap Inspect and verify bitmap indexes" \
		" network Let forks share one store of objects" >expect.own &&
	test_cmp expect.own own &&
	sed "/^External commands/,\$d" expect >expect.lists &&
	sed "/^External commands/,\$d; /^Commands of gitreach/,\$d" actual >lists &&
	test_cmp expect.lists lists
'

test_expect_success 'git help prints the other lists of stock Git'\''s' '
	for words in help "help -g" "help -c" "" "help -a -g"
	do
		git $words >actual 2>&1
		code=$?
		stock $words >expect 2>&1
		test $? = $code && test_cmp expect actual || return 1
	done &&
	test_expect_code 1 git bitmp 2>err && grep "^	bitmap$" err
'

if script -qec true /dev/null </dev/null >/dev/null 2>&1
then
	test_set_prereq SCRIPT
fi

test_expect_success SCRIPT 'help -a on a terminal uses the pager' '
	printf "#!/bin/sh\necho paged; tail -n 1\n" >pager &&
	chmod +x pager &&
	stock config --global core.pager "\"$PWD/pager\"" &&
	script -qec "\"$GIT\" help -a" /dev/null </dev/null >out && grep paged out && grep "^   network" out
'

test_expect_success 'the list for completion has our commands' '
	git --list-cmds=list-complete,config >actual &&
	stock --list-cmds=list-complete,config >expect &&
	printf "%s\n" bitmap network publish requests store >>expect && test_cmp_sorted expect actual &&
	git --list-cmds=builtins >actual && stock --list-cmds=builtins >expect &&
	test_cmp expect actual
'

test_done
