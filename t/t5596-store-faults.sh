#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='git store import and export on a disk that fails

After each fault, the store has the whole generation or none, and an exported
repository is complete or not there.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-fault.sh"

# The words of a command have no blanks; the working directory has one.
base=$(mktemp -d "${TMPDIR:-/tmp}/gitreach-store-XXXXXX") || exit 1
trap 'rm -rf "$base"' EXIT
mkdir "$base/tmp" && TMPDIR=$base/tmp && export TMPDIR
url=file://$base/store

test_expect_success 'setup: a repository in a store' '
	repo_linear src.git 4 && repo_tags src.git &&
	stock -C src.git repack -adq &&
	stock -C src.git update-ref refs/heads/loose main~1 &&
	mv src.git "$base/src.git" &&
	"$GIT" store import "$base/src.git" $url &&
	cp -R "$base/store" good &&
	stock -C "$base/src.git" for-each-ref >refs
'

# is_whole <repository>: it is sound, and has all refs.
is_whole () {
	stock -C "$1" fsck --full >fsck.out 2>&1 || {
		cat fsck.out >&2
		return 1
	}
	stock -C "$1" for-each-ref >refs.now && test_cmp refs refs.now
}

# left_behind: list what is beside the exported repository.
left_behind () {
	find "$base" -mindepth 1 -maxdepth 1 -name "out*" ! -name out.git >left &&
	find "$TMPDIR" -mindepth 1 -maxdepth 1 >>left
}

# A repository that is there is whole. If the command succeeded, it is there.
exported () {
	left_behind && fault_ended $1 left || return
	if test -e "$base/out.git"
	then
		is_whole "$base/out.git"
	else
		test $fault_code -ne 0
	fi
}

# The store is readable, and has the generation if the command succeeded.
imported () {
	find "$TMPDIR" -mindepth 1 -maxdepth 1 >left &&
	fault_ended $1 left || return
	rm -rf "$base/out.git" &&
	"$GIT" store verify --full $url >verified 2>&1 || {
		cat verified >&2
		return 1
	}
	if "$GIT" store export $url src.git "$base/out.git" 2>err
	then
		is_whole "$base/out.git"
	else
		grep "is not in the store" err && test $fault_code -ne 0
	fi
}

fault_step=$(fault_thin 7)
for mode in kill lose EIO ENOSPC short
do
	test_expect_success "export: $mode" '
		fault_each '$mode' "rm -rf $base/out* $TMPDIR/*" \
			"$GIT store export $url src.git $base/out.git" \
			"exported '$mode'"
	'

	test_expect_success "import: $mode" '
		fault_each '$mode' "rm -rf $base/store $TMPDIR/*" \
			"$GIT store import $base/src.git $url" \
			"imported '$mode'"
	'
done

# Whatever happens to a repack, the newest generation has all refs and objects.
repacked () {
	case $fault_code in
	0|137) ;;
	*) grep "^error: src.git: [a-z]" fault.err >/dev/null || return ;;
	esac
	rm -rf "$base/out.git" "$TMPDIR"/* &&
	"$GIT" store verify --full $url >verified 2>&1 || {
		cat verified >&2
		return 1
	}
	"$GIT" store export $url src.git "$base/out.git" && is_whole "$base/out.git"
}

# The children of a repack count their calls anew.
test_expect_success 'repack: kill and EIO' '
	fault_step=$(fault_thin 41) &&
	for mode in kill EIO
	do
		fault_each $mode \
			"rm -rf $base/store $TMPDIR/* && cp -R good $base/store" \
			"$GIT store repack --force $url src.git" \
			repacked || return
	done
'

# The command has succeeded, or says that memory ran out.
ran_out () {
	test $fault_code -eq 0 || {
		test $fault_code -eq 128 &&
		grep "^[a-z]*: .*out of memory" fault.err >/dev/null
	}
}

# Most requests for memory are those of parts that have tests of their own.
test_expect_success 'while memory runs out' '
	FAULT_LIBRARY=$GITREACH_BUILD/t/helper/preload-memory.so &&
	fault_step=$(fault_thin 61) &&
	fault_each memory "rm -rf $base/out* $TMPDIR/*" \
		"$GIT store export $url src.git $base/out.git" \
		"exported memory" &&
	fault_each memory "rm -rf $base/store $TMPDIR/*" \
		"$GIT store import $base/src.git $url" "imported memory" &&
	fault_each memory "rm -rf $base/store && cp -R good $base/store" \
		"$GIT store verify --full $url" ran_out &&
	fault_each memory : "$GIT store log $url src.git" ran_out
'

test_done
