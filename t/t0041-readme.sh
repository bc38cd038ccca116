#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='the README: each command of it is run or checked, and its
links, options and keys exist'
. "$(dirname "$0")/lib.sh"

readme=$GITREACH_SRC/README.md
helper=$GITREACH_SRC/t/guide.py

# Paths of the test directory have a blank, and commands of the README do not
# quote paths. So the commands run in another temporary directory.
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT

test_expect_success 'links, manual pages, options and keys exist' '
	python3 "$helper" check "$readme"
'

# Only the list of native commands is indented: a name, two spaces, a text.
test_expect_success 'commands are in blocks that the test knows' '
	grep "^    [^ ]" "$readme" >indented &&
	! grep -v "^    [a-z-]*  " indented &&
	test $(grep -c "^\`\`\`sh" "$readme") -ge 6
'

# Some variables of the build are in MAKEFLAGS. Without these, make would build
# everything again. The descriptors of the job server are not passed on.
MAKEFLAGS=$(echo "${MAKEFLAGS-}" |
	sed 's/\(^\| \)-j[0-9]*//g; s/--jobserver-[a-z]*=[^ ]*//g')
export MAKEFLAGS

test_expect_success 'each goal of make exists' '
	grep -o -E "(^|\`)make( [a-z-]+)?( |\`|\$)" "$readme" |
		sed "s/\`//g; s/^make *//" | sort -u >goals &&
	test $(wc -l <goals) -ge 6 &&
	while read -r goal
	do
		make -C "$GITREACH_SRC" -n $goal >out || return
	done <goals
'

# The README builds with the default settings. A tree that was built with others
# would be compiled again, and its libraries may be elsewhere. The README's commands
# do not quote the path of the tree.
is_default () {
	test ! -e "$GITREACH_SRC/config.mak" &&
	test -z "${CC-}${CFLAGS-}${LDFLAGS-}${PKG_CONFIG-}${PKG_CONFIG_PATH-}" &&
	case "$MAKEFLAGS" in *=*) false ;; esac &&
	case "$GITREACH_SRC" in *[[:space:]]*) false ;; esac
}

if command -v autoconf >/dev/null && command -v cc >/dev/null &&
	command -v pkg-config >/dev/null && test_have_prereq PLAIN && is_default
then
	test_set_prereq CHECKOUT
fi
test_expect_success CHECKOUT 'the commands' '
	copy=$here/run/work &&
	mkdir -p "$copy/build" &&
	(cd "$GITREACH_SRC" && tar cf - --exclude=./build --exclude="./build-*" \
		--exclude=./.git --exclude=./config.mak --exclude=./git .) |
		tar xf - -C "$copy" &&
	(cd "$GITREACH_BUILD" && tar cf - --exclude=./t .) |
		tar xf - -C "$copy/build" &&
	PATH=$STOCK_PATH python3 "$helper" run "$copy/README.md" "$here/run" &&
	test -x "$copy/dest/usr/local/bin/git" &&
	test -x "$copy/count" &&
	grep "^LIBDEFLATE = 0$" "$copy/config.mak"
'

test_done
