#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='git store fetch on a disk that fails

After each fault, the local copy has the old generation or the new one, whole, or is
not there. The next fetch brings it to the new one. A loss of power is followed by a
start of the system, so the marker has the boot id of another run.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-fault.sh"

# The words of a command have no blanks; the working directory has one.
base=$(mktemp -d "${TMPDIR:-/tmp}/gitreach-copy-XXXXXX") || exit 1
trap 'rm -rf "$base"' EXIT
url=file://$base/store
cache=$base/cache
copy=$cache/repo/r.git/_

import () {
	stock -C src.git repack -adq && stock -C src.git for-each-ref >refs.$1 &&
	"$GIT" store import --force --name=r.git src.git $url
}

# files <copy>: what must be the same in all copies of a generation
files () {
	(cd "$1" && find . -type f ! -path "./reftable/*" ! -path "./objects/pack/*" |
		sort)
}

test_expect_success 'setup: two generations' '
	repo_linear src.git 6 && repo_tags src.git &&
	echo "exit 0" >src.git/hooks/update && chmod +x src.git/hooks/update &&
	import one && "$GIT" store fetch --cache=$base/first $url &&
	mv $base/first $base/cache.one &&
	rm src.git/hooks/update &&
	stock -C src.git update-ref refs/heads/new \
		$(stock -C src.git commit-tree -p main -m new main^{tree}) &&
	stock -C src.git update-ref refs/heads/gone main &&
	import two && "$GIT" store fetch --cache=$base/second $url &&
	files $base/second/repo/r.git/_ >files.two &&
	test -x $base/cache.one/repo/r.git/_/hooks/update
'

# is_whole <refs>...: the copy is sound, and has one of these states
is_whole () {
	"$GIT" -C $copy fsck --full >fsck.out 2>&1 || {
		cat fsck.out >&2
		return 1
	}
	"$GIT" -C $copy for-each-ref >refs.now && for state
	do
		cmp -s refs.$state refs.now && return
	done
	diff refs.two refs.now
}

start_again () {
	test ! -e $copy/store-copy ||
		sed -i "s/^boot .*/boot other/" $copy/store-copy
}

# fetched <mode>
fetched () {
	if test $1 = lose
	then
		start_again || return
	elif test -e $copy/store-copy
	then
		is_whole one two || return
	fi
	fault_exited $1 || {
		test $fault_code -eq 128 &&
		grep "^error: r.git: .*[^: ]$" fault.err >/dev/null
	} || return
	ls $cache/tmp >left 2>/dev/null || : >left
	case $1 in
	kill|lose) ;;
	# When removing fails, what should be removed is left.
	EIO) test $(wc -l <left) -le 1 ;;
	*) test_must_be_empty left ;;
	esac &&
	"$GIT" store fetch --cache=$cache $url >out 2>err || {
		cat err >&2
		return 1
	}
	is_whole two && files $copy >files.now && diff files.two files.now
}

fault_step=$(fault_thin 9)
for mode in kill lose EIO ENOSPC short
do
	test_expect_success "a new generation: $mode" '
		fault_each '$mode' "rm -rf $cache; cp -a $base/cache.one $cache" \
			"$GIT store fetch --cache=$cache $url" "fetched '$mode'"
	'

	test_expect_success "a new copy: $mode" '
		fault_each '$mode' "rm -rf $cache" \
			"$GIT store fetch --cache=$cache $url" "fetched '$mode'"
	'

	test_expect_success "an eviction: $mode" '
		fault_each '$mode' "rm -rf $cache; cp -a $base/second $cache" \
			"$GIT store fetch --cache=$cache --cache-size=1 $url" \
			"fetched '$mode'"
	'
done

test_done
