#compdef git-@command@
#description @description@
# SPDX-License-Identifier: MIT
#
# zsh completion for `git @command@`. zsh's own completion of `git` finds the
# function _git-@command@ and its description, and calls it.
#
# Words come from the program: `git @command@ --git-completion-helper`.

local word verb expl
local -a offered verbs names values

offered=(${=$(_call_program commands \
	git @command@ --git-completion-helper 2>/dev/null)})
verbs=(${offered:#-*})
for word in ${words[2,CURRENT-1]}
do
	if (( ${verbs[(Ie)$word]} ))
	then
		verb=$word
		break
	fi
done

if [[ $PREFIX == -* ]]
then
	if [[ -n $verb ]]
	then
		offered=(${=$(_call_program options \
			git @command@ $verb --git-completion-helper \
			2>/dev/null)})
	fi
	offered=(${(M)offered:#--?*})
	names=(${offered:#*=})
	values=(${(M)offered:#*=})
	_wanted options expl option compadd -a names
	_wanted values expl option compadd -S '' -a values
elif [[ -n $verb || -z $verbs ]]
then
	_files
else
	_wanted commands expl '@command@ command' compadd -a verbs
fi
