# SPDX-License-Identifier: MIT
#
# bash completion for the commands that gitreach adds to Git.
#
# It is installed as git-bitmap, git-network, git-publish, git-requests, git-store and
# gitreachd.
# Stock Git's completion loads the file git-<command> for a command that it does not
# know, and calls the function _git_<command>. Without stock Git's completion, it is installed as
# git, too, and completes all native commands. It can also be sourced from
# ~/.bashrc.
#
# Words come from the program: `git bitmap --git-completion-helper`.

# Set $1 to the place of the command's name in COMP_WORDS, or to COMP_CWORD if
# none has been typed. bash makes words of its own of "=".
__gitreach_find_command () {
	local place=1
	while test "$place" -lt "$COMP_CWORD"
	do
		case "${COMP_WORDS[place]}" in
		-C | -c | --git-dir | --work-tree | --namespace | \
		--config-env | --attr-source | --exec-path)
			if test "${COMP_WORDS[place + 1]}" = =
			then
				place=$((place + 3))
			elif test "${COMP_WORDS[place]}" = --exec-path
			then
				place=$((place + 1))
			else
				place=$((place + 2))
			fi ;;
		-*)
			place=$((place + 1)) ;;
		=)
			place=$((place + 2)) ;;
		*)
			break ;;
		esac
	done
	printf -v "$1" %s "$place"
}

# Offer the given words that begin with $cur. A space follows unless the word
# ends with "=". Words behind "--" are for those who have typed "--no-".
__gitreach_offer () {
	local word
	COMPREPLY=()
	for word
	do
		case "$word" in
		--)
			case "$cur" in
			--no-*) continue ;;
			*) break ;;
			esac ;;
		"$cur"*=)
			COMPREPLY+=("$word") ;;
		"$cur"*)
			COMPREPLY+=("$word ") ;;
		esac
	done
}

# Complete the words of command $1 behind its name, which is at place $2.
__gitreach_complete () {
	local cur=${COMP_WORDS[COMP_CWORD]} command=$1 place=$2
	local words verb='' word
	words=$(git "$command" --git-completion-helper 2>/dev/null) || return
	for word in "${COMP_WORDS[@]:place + 1:COMP_CWORD - place - 1}"
	do
		case " $words " in
		*" $word "*)
			case "$word" in
			-*) ;;
			*)
				verb=$word
				break ;;
			esac ;;
		esac
	done
	if test -n "$verb"
	then
		case "$cur" in
		-*) ;;
		*) return ;;
		esac
		words=$(git "$command" "$verb" --git-completion-helper \
			2>/dev/null)
	fi
	local -a list verbs
	read -r -a list <<<"$words"
	case "$cur" in
	-*) __gitreach_offer "${list[@]}" ;;
	*)
		for word in "${list[@]}"
		do
			case "$word" in
			-*) ;;
			*) verbs+=("$word") ;;
			esac
		done
		__gitreach_offer "${verbs[@]}" ;;
	esac
}

_git_bitmap () {
	local at
	__gitreach_find_command at
	__gitreach_complete bitmap "$at"
}

_git_network () {
	local at
	__gitreach_find_command at
	__gitreach_complete network "$at"
}

_git_publish () {
	local at
	__gitreach_find_command at
	__gitreach_complete publish "$at"
}

_git_requests () {
	local at
	__gitreach_find_command at
	__gitreach_complete requests "$at"
}

_git_store () {
	local at
	__gitreach_find_command at
	__gitreach_complete store "$at"
}

# The server.
_gitreachd () {
	local cur=${COMP_WORDS[COMP_CWORD]} words
	local -a list
	COMPREPLY=()
	case "$cur" in
	-*)
		words=$(gitreachd --git-completion-helper 2>/dev/null) || return
		read -r -a list <<<"$words"
		__gitreach_offer "${list[@]}" ;;
	esac
}
complete -o bashdefault -o default -o nospace -F _gitreachd gitreachd

# `git` itself, where stock Git's completion is not installed.
__gitreach_git () {
	local at cur=${COMP_WORDS[COMP_CWORD]}
	__gitreach_find_command at
	if test "$at" -lt "$COMP_CWORD"
	then
		__gitreach_complete "${COMP_WORDS[at]}" "$at"
		return
	fi
	case "$cur" in
	-*)
		__gitreach_offer --version --help --exec-path --exec-path= \
			--paginate --no-pager --no-replace-objects \
			--no-lazy-fetch --no-optional-locks --no-advice \
			--bare --git-dir= --work-tree= --namespace= \
			--config-env= ;;
	*)
		local -a list
		IFS=$'\n' read -r -d '' -a list < <(
			git --list-cmds=main 2>/dev/null | grep -v -e --)
		__gitreach_offer "${list[@]}" ;;
	esac
}

# Source stock Git's completion, if it is installed.
__gitreach_source_stock () {
	local dir file saved=$IFS
	local dirs=${XDG_DATA_HOME:-~/.local/share}
	dirs=$dirs:${XDG_DATA_DIRS:-/usr/local/share:/usr/share}
	IFS=:
	for dir in $dirs
	do
		file=$dir/bash-completion/completions/git
		if test -f "$file" && ! test "$file" -ef "$1"
		then
			IFS=$saved
			. "$file"
			return
		fi
	done
	IFS=$saved
}

if ! complete -p git >/dev/null 2>&1
then
	__gitreach_source_stock "${BASH_SOURCE[0]}"
	complete -p git >/dev/null 2>&1 ||
	complete -o bashdefault -o default -o nospace -F __gitreach_git git
fi
