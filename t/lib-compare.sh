# SPDX-License-Identifier: MIT
#
# Sourced after lib.sh by tests of commands that print the same as stock Git.
#
#	same [-e] <arguments>...
#
# runs `git <arguments>` of both programs and compares standard output and exit
# code; with -e also standard error. Both read the file `input` if it exists.

same () {
	same_err=
	if test "$1" = -e
	then
		same_err=yes
		shift
	fi
	same_in=/dev/null
	if test -f "$TRASH/input"
	then
		same_in=$TRASH/input
	fi
	stock "$@" <"$same_in" >"$TRASH/expect" 2>"$TRASH/expect.err"
	same_expect=$?
	git "$@" <"$same_in" >"$TRASH/actual" 2>"$TRASH/actual.err"
	same_actual=$?
	if test $same_expect -ne $same_actual
	then
		echo "git $*: exit code $same_actual, not $same_expect" >&2
		cat "$TRASH/actual.err" >&2
		return 1
	fi
	test_cmp "$TRASH/expect" "$TRASH/actual" || return 1
	test -z "$same_err" ||
	test_cmp_error "$TRASH/expect.err" "$TRASH/actual.err"
}

TRASH=$PWD

# refs_repository <dir>: a repository with a work tree, a few commits, and
# refs of all kinds, loose and packed.
refs_repository () {
	stock init -q "$1" &&
	(
		cd "$1" &&
		for i in 1 2 3
		do
			echo $i >file$i &&
			stock add . &&
			test_tick &&
			stock commit -q -m "subject $i" -m "body $i
more" || exit 1
		done &&
		mkdir -p dir/sub &&
		echo x >dir/sub/x &&
		echo q >'q"uote' &&
		stock add . &&
		test_tick &&
		stock commit -q -m quote &&
		stock branch side HEAD~2 &&
		stock branch topic/a HEAD~1 &&
		stock tag light HEAD~1 &&
		test_tick &&
		stock tag -a -m "annotated" v1.0 &&
		test_tick &&
		stock tag -a -m "older" v0.9 HEAD~3 &&
		stock tag tree HEAD^{tree} &&
		stock tag blob HEAD:file1 &&
		stock update-ref refs/remotes/origin/main HEAD~1 &&
		stock pack-refs --all &&
		stock update-ref refs/heads/side HEAD &&
		stock branch loose HEAD~2
	)
}
