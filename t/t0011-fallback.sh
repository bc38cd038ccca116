#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='stock Git runs commands that we do not have, and its children use ours'
. "$(dirname "$0")/lib.sh"

# `git stripspace` stands for all commands that gitreach never has.

test_expect_success 'a command that we do not have is run by stock Git' '
	echo "a  " | git stripspace >actual &&
	echo a >expect &&
	test_cmp expect actual
'

test_expect_success 'exit codes are handed through' '
	test_expect_code 129 git stripspace --no-such-option &&
	test_expect_code 1 git config no.such.key
'

test_expect_success 'aliases' '
	echo "a  " | git -c alias.strip=stripspace strip >actual &&
	test_cmp expect actual
'

test_expect_success 'stock Git'\''s viewer shows the help for a command of ours' '
	PAGER=cat MANPAGER=cat \
		git -c help.format=man -c man.viewer=x -c man.x.cmd="echo page:" \
		version --help >actual &&
	grep "^page: gitreach-version" actual
'

# ---- which program is used as stock Git

test_expect_success 'GITREACH_FALLBACK names stock Git' '
	cat >named <<-EOC &&
	#!/bin/sh
	echo named "\$@"
	EOC
	chmod +x named &&
	GITREACH_FALLBACK=$PWD/named git stripspace -s "a b" >actual &&
	echo "named stripspace -s a b" >expect &&
	test_cmp expect actual &&
	GITREACH_FALLBACK=$PWD/named git -p stripspace >actual &&
	echo "named -p stripspace" >expect &&
	test_cmp expect actual
'

test_expect_success 'GITREACH_FALLBACK with an unusable path' '
	GITREACH_FALLBACK=$PWD/none test_expect_code 128 git stripspace 2>err &&
	grep "^fatal: GITREACH_FALLBACK: .*/none. is not" err &&
	GITREACH_FALLBACK=named test_expect_code 128 git stripspace 2>err &&
	grep "^fatal: GITREACH_FALLBACK: .named. is not the absolute" err &&
	GITREACH_FALLBACK=$GIT test_expect_code 128 git stripspace 2>err &&
	grep "^fatal: GITREACH_FALLBACK: .*is gitreach itself" err &&
	ln -s "$GIT" link &&
	GITREACH_FALLBACK=$PWD/link test_expect_code 128 git stripspace 2>err &&
	grep "^fatal: GITREACH_FALLBACK: .*is gitreach itself" err
'

test_expect_success 'no other git on PATH' '
	mkdir alone &&
	ln -s "$GIT" alone/git &&
	PATH=$PWD/alone test_expect_code 128 "$GIT" stripspace 2>err &&
	test_line_count 1 err &&
	grep "^fatal: .stripspace. needs stock Git, but there is no" err
'

test_expect_success 'GIT_SHALLOW_FILE hands commands that read history to stock Git' '
	stock init -q shallow &&
	stock -C shallow commit -q --allow-empty -m one &&
	stock -C shallow commit -q --allow-empty -m two &&
	git -C shallow rev-parse HEAD >boundary &&
	GIT_SHALLOW_FILE=$PWD/boundary \
		git -C shallow rev-list HEAD >actual &&
	test_cmp boundary actual &&
	git -C shallow rev-list HEAD >actual &&
	test_line_count 2 actual &&
	GIT_SHALLOW_FILE=$PWD/boundary PATH=$PWD/alone \
		test_expect_code 128 "$GIT" -C shallow rev-list HEAD 2>err &&
	grep "^fatal: GIT_SHALLOW_FILE needs stock Git" err &&
	GIT_SHALLOW_FILE=$PWD/boundary PATH=$PWD/alone \
		"$GIT" -C shallow show-ref
'

test_expect_success 'only absolute directories of PATH are looked into' '
	mkdir -p cwd/rel &&
	cp named cwd/git &&
	cp named cwd/rel/git &&
	(
		cd cwd &&
		echo "a  " | PATH=".::rel:$PATH" "$GIT" stripspace >../actual &&
		PATH="" test_expect_code 128 "$GIT" stripspace 2>../err
	) &&
	echo a >expect &&
	test_cmp expect actual
'

# ---- gitreach never starts itself in a circle

test_expect_success 'other copies of gitreach on PATH are skipped' '
	mkdir copy1 copy2 &&
	cp "$GIT" copy1/git &&
	cp "$GIT" copy2/git &&
	for git in copy1/git copy2/git "$GIT"
	do
		echo "a  " | PATH=$PWD/copy1:$PWD/copy2:$PWD/alone:$STOCK_PATH \
			"$git" stripspace >actual &&
		test_cmp expect actual || return 1
	done &&
	PATH=$PWD/copy1:$PWD/copy2 test_expect_code 128 "$GIT" stripspace \
		2>err &&
	test_line_count 1 err &&
	grep "there is no other git on PATH" err
'

test_expect_success 'a wrapper that starts gitreach again' '
	cat >wrapper <<-EOC &&
	#!/bin/sh
	exec "$GIT" "\$@"
	EOC
	chmod +x wrapper &&
	GITREACH_FALLBACK=$PWD/wrapper test_expect_code 128 git stripspace \
		2>err &&
	test_line_count 1 err &&
	grep "^fatal: .stripspace. was passed 100 times" err
'

test_expect_success 'a program that starts gitreach for some commands only' '
	cat >child <<-EOC &&
	#!/bin/sh
	"$GIT" "\$@"
	EOC
	chmod +x child &&
	GITREACH_FALLBACK=$PWD/child test_expect_code 128 git stripspace \
		2>err &&
	grep "^fatal: .stripspace. was passed 100 times" err
'

# The stock Git does not have the command itself, and starts the program of its
# name in the exec path. This program is ours. If the stock Git is another one than
# that of the build, ours asks it for its version.
test_expect_success 'a stock Git that lacks a command and starts ours' '
	cat >old <<-EOC &&
	#!/bin/sh
	case \$1 in
	--exec-path | version) exec "$STOCK_GIT" "\$1" ;;
	esac
	echo x >>"$PWD/rounds"
	"\$GIT_EXEC_PATH/git-\$1" "\$2"
	EOC
	chmod +x old &&
	test_when_finished "rm -rf .git" &&
	git init -q . &&
	GITREACH_FALLBACK=$PWD/old test_expect_code 128 git reflog show \
		2>err &&
	test_line_count 1 rounds &&
	grep "^fatal: stock Git has no command .reflog.\$" err
'

test_expect_success 'a malformed GITREACH_TRAIL is ignored' '
	for trail in "" x "1x" "-5 a" "3 " "  " "9 :::"
	do
		echo "a  " | GITREACH_TRAIL=$trail git stripspace >actual &&
		test_cmp expect actual || return 1
	done
'

# ---- children of stock Git
#
# An installation of gitreach with an exec path of its own. Its programs are a
# script that records its name and arguments, and then runs gitreach.

test_expect_success 'an installation that records the programs it starts' '
	mkdir -p spied/bin &&
	cp "$GIT" spied/bin/git &&
	for name in upload-pack receive-pack upload-archive daemon http-backend
	do
		ln -s git spied/bin/git-$name || return 1
	done &&
	cat >spied/spy <<-EOC &&
	#!/bin/sh
	echo "\${0##*/} \$*" >>"$PWD/record"
	exec "$PWD/spied/bin/\${0##*/}" "\$@"
	EOC
	chmod +x spied/spy &&
	"$GITREACH_SRC/tools/exec-dir" "$PWD/spied/libexec/gitreach-core" \
		"$PWD/spied/spy" &&
	spied=$PWD/spied/bin &&
	"$spied/git" --exec-path >actual &&
	echo "$PWD/spied/libexec/gitreach-core" >expect &&
	test_cmp expect actual &&
	repo_linear repo.git 5
'

# started <pattern> <command>...
# Runs a command with the recording installation first on PATH. Asserts that a
# program was started whose record matches the pattern.
started () {
	pattern=$1
	shift
	>record
	PATH=$spied:$STOCK_PATH "$@" >out || return 1
	grep -e "$pattern" record || {
		echo "not started: $pattern; but:" >&2
		cat record >&2
		return 1
	}
}

test_expect_success 'gc runs our repack' '
	started "^git repack " git -C repo.git gc --quiet --prune=now &&
	grep "^git prune " record &&
	stock -C repo.git fsck --full
'

test_expect_success 'gc with its usual grace period' '
	started "^git repack " git -C repo.git gc --quiet &&
	stock -C repo.git fsck --full
'

test_expect_success 'a local clone runs our upload-pack' '
	started "^git-upload-pack .*/repo.git" git clone -q repo.git clone &&
	stock -C clone rev-parse origin/main >actual &&
	stock -C repo.git rev-parse main >expect &&
	test_cmp expect actual
'

# When stock Git checks the received objects, it runs our rev-list with
# --alternate-refs.
test_expect_success 'a fetch runs our upload-pack, and a push our receive-pack' '
	started "^git-upload-pack " git -C clone fetch -q &&
	started "^git-receive-pack " git -C clone push -q origin HEAD:new &&
	stock -C repo.git rev-parse --verify refs/heads/new
'

# Send one request for the list of refs to a daemon, as a client does.
daemon_request () {
	request="git-upload-pack /repo.git0host=example.com0"
	printf "%04x" $((4 + ${#request})) &&
	printf "git-upload-pack /repo.git\0host=example.com\0" &&
	printf "0000"
}

test_expect_success 'a daemon runs our upload-pack' '
	daemon_request >request &&
	started "^git upload-pack " git daemon --inetd --export-all \
		--base-path="$PWD" <request &&
	grep -a "refs/heads/main" out
'

test_expect_success 'a git-daemon started by its path runs our upload-pack' '
	started "^git upload-pack " spied/libexec/gitreach-core/git-daemon \
		--inetd --export-all --base-path="$PWD" <request &&
	grep -a "refs/heads/main" out
'

cgi () {
	env GIT_PROJECT_ROOT="$PWD" GIT_HTTP_EXPORT_ALL=1 REQUEST_METHOD=GET \
		PATH_INFO=/repo.git/info/refs \
		QUERY_STRING=service=git-upload-pack "$@"
}

test_expect_success 'stock http-backend runs our upload-pack' '
	started "^git upload-pack " cgi env \
		GIT_EXEC_PATH="$PWD/spied/libexec/gitreach-core" \
		"$(stock --exec-path)/git-http-backend" &&
	grep -a "refs/heads/main" out
'

test_expect_success 'the http-backend in the exec path is ours' '
	started "^git-http-backend " \
		cgi spied/libexec/gitreach-core/git-http-backend &&
	! grep upload-pack record &&
	grep -a "refs/heads/main" out &&
	grep -a "agent=git/2[0-9.]*\.gitreach\." out
'

test_expect_success 'hooks and aliases find ours first' '
	started "^git stripspace" git -c alias.x="!git stripspace" x </dev/null
'

test_expect_success 'scripts of stock Git work from our exec path' '
	started "^git submodule--helper" git -C clone submodule status
'

test_expect_success 'a GIT_EXEC_PATH that the user sets is not changed' '
	theirs=$(stock --exec-path) &&
	>record &&
	GIT_EXEC_PATH=$theirs PATH=$spied:$STOCK_PATH \
		git -C repo.git gc --quiet &&
	test_must_be_empty record
'

# ---- another stock Git than the one to which our exec path links

test_expect_success 'an installation and another stock Git' '
	mkdir -p here/bin there/core &&
	cp "$GIT" here/bin/git &&
	"$GITREACH_SRC/tools/exec-dir" "$PWD/here/libexec/gitreach-core" \
		"$PWD/here/bin/git" repack &&
	cat >there/git <<-EOC &&
	#!/bin/sh
	echo "\$1" >>"$PWD/asked"
	case "\$1" in
	--exec-path) echo "$PWD/there/core" ;;
	version) echo "git version 2.98.1.7.gabcdef (Other Git-7)" ;;
	*) echo "\$GIT_EXEC_PATH" ;;
	esac
	EOC
	for name in git-helper git-repack
	do
		echo "#!/bin/sh" >there/core/$name &&
		chmod +x there/git there/core/$name || return 1
	done &&
	here=$PWD/here/bin/git core=$PWD/here/libexec/gitreach-core &&
	"$here" --exec-path >actual && echo "$core" >expect &&
	test_cmp expect actual
'

there () {
	rm -f asked
	GITREACH_FALLBACK=$PWD/there/git "$@"
}

test_expect_success 'helpers of stock Git are linked in our exec path' '
	there "$here" stripspace >actual &&
	printf "%s\n" --exec-path version stripspace >expect &&
	test_cmp expect asked &&
	dir=$(there "$here" --exec-path) &&
	test_must_fail test -e asked &&
	echo "$dir" >expect && test_cmp expect actual &&
	case "$dir" in "$core"/stock/*there%2fgit) : ;; *) false ;; esac &&
	test "$dir/git" -ef "$here" && test "$dir/git-repack" -ef "$here" &&
	test "$dir/git-helper" -ef there/core/git-helper &&
	test "$(stat -c %a "$dir")" = 755 && ls "$core/stock" >dirs &&
	test_line_count 1 dirs
'

test_expect_success 'without PATH, the Git of the links is used' '
	mkdir -p quiet/bin && cp "$GIT" quiet/bin/git &&
	PATH=$PWD/there:$PATH "$GITREACH_SRC/tools/exec-dir" \
		"$PWD/quiet/libexec/gitreach-core" "$PWD/quiet/bin/git" &&
	rm -f asked && env -u PATH "$PWD/quiet/bin/git" stripspace &&
	echo stripspace >calls && test_cmp calls asked &&
	env -u PATH "$PWD/quiet/bin/git" version >version &&
	grep "^git version 2\.98\.1\.7" version &&
	repo_linear pathless.git 1 &&
	cat >pathless.git/hooks/reference-transaction <<-\EOC &&
	#!/bin/sh
	echo "$PATH" >path
	EOC
	chmod +x pathless.git/hooks/reference-transaction &&
	env -u PATH "$PWD/quiet/bin/git" -C pathless.git \
		update-ref refs/heads/new main &&
	echo "$PWD/quiet/libexec/gitreach-core:$PWD/there:/usr/local/bin:/usr/bin:/bin" \
		>path && test_cmp path pathless.git/path
'

test_expect_success 'without PATH and that Git, the usual directories are searched' '
	mv there away && test_when_finished "mv away there" &&
	echo "a  " | env -u PATH "$PWD/quiet/bin/git" stripspace >out &&
	echo a >stripped && test_cmp stripped out
'

test_expect_success 'helpers are found again without asking stock Git' '
	there "$here" stripspace >actual &&
	test_cmp expect actual && echo stripspace >calls &&
	test_cmp calls asked
'

test_expect_success 'our commands come first in PATH of child processes' '
	repo_linear hooked.git 1 &&
	cat >hooked.git/hooks/reference-transaction <<-\EOC &&
	#!/bin/sh
	command -v git-helper >path
	EOC
	chmod +x hooked.git/hooks/reference-transaction &&
	there "$here" -C hooked.git update-ref refs/heads/new main &&
	echo "$dir/git-helper" >helper && test_cmp helper hooked.git/path &&
	test_must_fail test -e asked
'

test_expect_success 'git version names the Git of GITREACH_FALLBACK' '
	there "$here" version >version &&
	test_must_fail test -e asked &&
	grep "^git version 2\.98\.1\.7\.gabcdef\.gitreach\.[0-9.]*$" version
'

test_expect_success 'the links are made again when stock Git changes' '
	mv there/core there/newcore &&
	sed "s|/core|/newcore|; s/2.98.1/3.0.0/" there/git >new &&
	cat new >there/git && touch -d 2001-01-01 there/git &&
	there "$here" version >version && echo version >calls &&
	test_cmp calls asked && grep "version 3\.0\.0\.7" version &&
	there "$here" stripspace >actual && test_cmp expect actual &&
	test "$dir/git-helper" -ef there/newcore/git-helper &&
	there "$here" version >again && test_must_fail test -e asked &&
	test_cmp version again
'

test_expect_success 'without write permission one line names the command to run' '
	rm -r "$core/stock" && >"$core/stock" &&
	there "$here" stripspace >actual 2>err &&
	echo "$core" >expect && test_cmp expect actual &&
	test_line_count 1 err &&
	grep "^warning: .*GITREACH_FALLBACK=.$PWD/there/git. git --exec-path$" \
		err &&
	there "$here" version >again 2>err && test_cmp version again &&
	test_must_be_empty err && rm "$core/stock"
'

test_expect_success 'a wrapper of the linked Git needs no second exec path' '
	cat >wrapped <<-EOC &&
	#!/bin/sh
	exec "$STOCK_GIT" "\$@"
	EOC
	chmod +x wrapped &&
	GITREACH_FALLBACK=$PWD/wrapped "$here" --exec-path >actual &&
	test_cmp expect actual &&
	test_must_fail test -e "$core/stock"
'

test_done
