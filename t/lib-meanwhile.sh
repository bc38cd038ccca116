# SPDX-License-Identifier: MIT
#
# Sourced after lib.sh by tests in which another process changes a repository while
# a command runs.
#
#	meanwhile <pattern> <shell command> <command>...
#
# runs <command>... . When this command opens the first file or directory whose path
# matches <pattern>, the shell command runs. meanwhile fails if no such file is
# opened. $meanwhile_skip is the number of matches to skip first. See
# t/helper/preload-meanwhile.c.

meanwhile () {
	meanwhile_at=$1 meanwhile_does=$2 meanwhile_code=0 &&
	shift 2 &&
	printf "%*s" ${meanwhile_skip:-0} "" >"$MEANWHILE_DIR/once" &&
	env LD_PRELOAD="$GITREACH_BUILD/t/helper/preload-meanwhile.so" \
		ASAN_OPTIONS="${ASAN_OPTIONS-}:verify_asan_link_order=0" \
		MEANWHILE="$meanwhile_does" MEANWHILE_AT="$meanwhile_at" \
		MEANWHILE_ONCE="$MEANWHILE_DIR/once" \
		"$@" || meanwhile_code=$?
	if test -e "$MEANWHILE_DIR/once"
	then
		echo "nothing like $meanwhile_at was opened" >&2
		return 1
	fi
	return $meanwhile_code
}
MEANWHILE_DIR=$PWD
