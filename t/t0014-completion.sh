#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='completion of our commands and options in shells'
. "$(dirname "$0")/lib.sh"

export XDG_DATA_DIRS="$PWD/none"
export ours="$GITREACH_SRC/completion/gitreach.bash"

# ---- words that --git-completion-helper offers

# words <command>...: prints the words that the program offers, one on each
# line.
words () {
	"$@" --git-completion-helper </dev/null | tr " " "\n" | sed /^$/d
}

test_expect_success 'completion offers the options of stock Git' '
	stock init -q repo && cd repo &&
	for command in version count-objects verify-pack show-index \
		prune-packed "bundle verify"
	do
		words git_alone $command >actual &&
		words stock $command >expect &&
		test_cmp_sorted expect actual || return 1
	done
'

test_expect_success 'values, negations, and "--" before the second one' '
	git_alone pack-refs --git-completion-helper >actual &&
	echo " --all --prune --auto --include= --exclude= --no-all" \
		"-- --no-prune --no-auto --no-include --no-exclude" >expect &&
	tr " " "\n" <actual >a && tr " " "\n" <expect >e &&
	test_cmp_sorted e a && grep -e "=.* --no-all -- --no-prune" actual
'

test_expect_success 'every option of a usage is offered, and nothing else' '
	for command in repack gc fsck init "bitmap list" "bitmap stats" \
		"network fork" "network repack" "multi-pack-index write" \
		"commit-graph write" help
	do
		git_alone $command -h >usage 2>&1
		sed -n "s/^    \(-., \)*--\([a-z-]*\).*/--\2/p" usage |
			sort -u >expect &&
		words git_alone $command >all &&
		sed "/^--$/d; s/=$//" all >offered &&
		sed -n "s/^--no-/--/p; /^--no-/!s/^--/--no-/p" offered |
			sort >opposite &&
		sort -u offered >sorted &&
		comm -23 expect sorted >missing && test_must_be_empty missing &&
		comm -23 sorted expect | comm -23 - opposite >more &&
		test_must_be_empty more || return 1
	done
'

test_expect_success 'subcommands are offered' '
	printf "%s\n" explain list show stats verify >expect &&
	words git_alone bitmap >actual && test_cmp_sorted expect actual &&
	words git_alone network >actual && grep -x fork actual &&
	words git_alone commit-graph >actual && grep -x verify actual &&
	grep -x -e "--object-dir=" actual
'

test_expect_success 'options of stock Git are offered if it is installed' '
	words git help >with && grep -x -e --web with &&
	words git_alone help >without && test_must_fail grep -e --web without
'

cd "$SHARNESS_TRASH_DIRECTORY" || exit 1

# ---- bash

command -v bash >/dev/null && test_set_prereq BASH
stock_file=/usr/share/bash-completion/completions/git
test -f "$stock_file" && test_set_prereq STOCK_FILE

# Complete a command line as a terminal does, and print the offered words.
cat >try.bash <<\EOF
try () {
	local line=$1 function
	COMP_LINE=$line COMP_POINT=${#line} COMPREPLY=()
	read -r -a COMP_WORDS <<<"${line//=/ = }"
	case "$line" in
	*" ") COMP_WORDS+=("") ;;
	esac
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	function=$(complete -p git | sed 's/.*-F \([^ ]*\).*/\1/')
	$function git
	printf "<%s>" "${COMPREPLY[@]}"
	echo
}
EOF
in_bash () {
	bash --norc -c '. ./try.bash; eval "$1"; shift
		for line
		do
			try "$line"
		done' - "$@" >actual
}

try_own () {
	in_bash "$1" "git bitmap " "git bitmap st" "git -C repo network re" \
		"git --git-dir=repo/.git -c a.b=c network fork --q" \
		"git bitmap list --no" "git repack --filter" "git netw" \
		"git network list repo" "git requests --slo" "git requests lo" \
		"git store pr" "git store probe --reg" \
		"git publish --ex" &&
	cat >expect <<-\EOC &&
	<explain ><list ><show ><stats ><verify >
	<stats >
	<repack >
	<--quiet >
	<--no-commits >
	<--filter=><--filter-to=>
	<network >
	<>
	<--slowest=>
	<>
	<probe >
	<--region=>
	<--expire=>
	EOC
	test_cmp expect actual
}

test_expect_success BASH 'bash, without stock Git'\''s completion' '
	try_own ". \"\$ours\"" &&
	in_bash ". \"\$ours\"" \
		"git --no-l" "git upload-" "git bundle " "git rev" &&
	cat >expect <<-\EOC &&
	<--no-lazy-fetch >
	<upload-archive ><upload-pack >
	<create ><verify ><list-heads ><unbundle >
	EOC
	head -n 3 actual >first && test_cmp expect first &&
	grep "<rev-list ><rev-parse >" actual
'

test_expect_success BASH,STOCK_FILE 'bash, with the completion of stock Git' '
	try_own ". $stock_file; . \"\$ours\"" &&
	try_own ". \"\$ours\"
		. $stock_file" &&
	in_bash ". $stock_file; . \"\$ours\"" \
		"git help bitm" "git repack --geo" "git stash po" &&
	printf "<%s >\n" bitmap "pop" >expect &&
	sed /geo/d actual >rest && test_cmp expect rest &&
	grep "<--geometric=>" actual
'

test_expect_success BASH,STOCK_FILE 'our bash completion loads that of stock Git' '
	mkdir -p data/bash-completion/completions &&
	cp "$stock_file" data/bash-completion/completions/git &&
	XDG_DATA_DIRS=$PWD/data try_own \
		". \"\$ours\"" &&
	XDG_DATA_DIRS=$PWD/data in_bash \
		". \"\$ours\"" "git stash po" &&
	echo "<pop >" >expect && test_cmp expect actual
'

test_expect_success BASH 'bash, for the server' '
	cat >server.bash <<-\EOF &&
	. "$ours"
	for line in "gitreachd --id" "gitreachd --no" "gitreachd --conf" \
		"gitreachd " "gitreachd --config=con"
	do
		read -r -a COMP_WORDS <<<"${line//=/ = }"
		case "$line" in
		*" ") COMP_WORDS+=("") ;;
		esac
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		COMPREPLY=()
		$(complete -p gitreachd | sed "s/.*-F \([^ ]*\).*/\1/") gitreachd
		printf "<%s>" "${COMPREPLY[@]}"
		echo
	done
	EOF
	PATH=$GITREACH_BUILD/bin:$PATH bash --norc server.bash >actual &&
	cat >expect <<-\EOF &&
	<--idle-timeout=>
	<--no-store-probe >
	<--config=>
	<>
	<>
	EOF
	test_cmp expect actual
'

loader=/usr/share/bash-completion/bash_completion
test -f "$loader" && test_set_prereq LOADER

test_expect_success BASH,STOCK_FILE,LOADER 'stock Git'\''s completion loads ours' '
	for command in bitmap network publish requests store
	do
		cp "$ours" \
			data/bash-completion/completions/git-$command ||
		return 1
	done &&
	XDG_DATA_DIRS=$PWD/data try_own ". $loader; _completion_loader git"
'

# ---- zsh

command -v zsh >/dev/null && zsh -f -c 'zmodload zsh/zpty' 2>/dev/null &&
	test_set_prereq ZSH

# try.zsh <line> <text>...: types the line and a tab, until the text appears.
cat >try.zsh <<\EOF
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'fpath=($PWD/functions $fpath) PS1= LISTMAX=1000'
zpty -w shell 'autoload -Uz compinit; compinit -u -D; print RE''ADY'
zpty -r shell text '*READY*'
for line wanted
do
	zpty -w -n shell $'\x15'"$line"$'\t'
	zpty -r shell text "*$wanted*"
	print -r -- "$line: $wanted"
done
EOF

test_expect_success ZSH 'zsh' '
	mkdir functions &&
	for command in bitmap network publish requests store
	do
		sed "s/@command@/$command/g" \
			"$GITREACH_SRC/completion/gitreach.zsh" \
			>functions/_git-$command || return 1
	done &&
	cp "$GITREACH_SRC/completion/gitreachd.zsh" functions/_gitreachd &&
	PATH=$GITREACH_BUILD/bin:$PATH timeout 60 zsh -f try.zsh "git bitmap ex" plain \
		"git network fork --q" uiet "git -C repo network dele" te \
		"git bitmap list --c" ommits "gitreachd --idle" -timeout \
		>actual &&
	test_line_count 5 actual
'

test_done
