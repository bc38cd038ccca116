#compdef gitreachd
# SPDX-License-Identifier: MIT
#
# zsh completion for the server gitreachd.
#
# Words come from the program: `gitreachd --git-completion-helper`.

local expl
local -a offered names values

if compset -P '--*='
then
	_files
	return
fi
offered=(${=$(_call_program options gitreachd --git-completion-helper \
	2>/dev/null)})
offered=(${(M)offered:#--?*})
names=(${offered:#*=})
values=(${(M)offered:#*=})
_wanted options expl option compadd -a names
_wanted values expl option compadd -S '' -a values
