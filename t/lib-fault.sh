# SPDX-License-Identifier: MIT
#
# For tests of what is left when a command ends in its midst; source it after
# lib.sh.
#
#	fault_each <mode> <setup> <command> <check>
#
# evaluates <setup> (a fresh repository), runs <command> with a disk that fails
# at the first call that changes it, and evaluates <check>; then the same with
# the second call, and so on until the command runs through. Modes are kill,
# lose (power), EIO, ENOSPC, short and term, see t/helper/preload-fault.c.
# <command> is words, not a shell's text; $fault_in is its standard input. With
# fault_step set, it is each fault_step-th call only: `fault_step=$(fault_thin 3)`
# is for what takes long, and is 1 where GITREACH_FAULT_ALL is set. <check> finds
#
#	$fault_nr      the call that failed
#	$fault_code    the command's exit code: 137 when it was killed, 143 by
#	               SIGTERM
#	fault.err, fault.out, fault.log   what it printed, and its calls
#
# and fails the test by failing. Where it does, "fault.log" ends with the call.
#
# Other ways to use it:
#
#	fault_run <mode>:<nr> <command>...   once, in the mode "none" with
#	               nothing but the log
#	fault_ended <mode> <left>   in a <check>: the command was killed, or told
#	               of an error and tidy: the file lists what it left
#	fault_exited <mode>   in a <check>: the command ran through, was killed, or
#	               was told of an error and said so
#	fault_said     true when a command that was told of an error said so in
#	               a line with the reason and exit code 128, or got over it

FAULT_LIBRARY=$GITREACH_BUILD/t/helper/preload-fault.so
fault_in=/dev/null

# fault_run <FAULT> <command>...
fault_run () {
	fault=$1 && shift &&
	fault_code=0 &&
	rm -f fault.log &&
	: >fault.log &&
	printf '\0\0\0\0\0\0\0\0' >fault.count &&
	env FAULT="$fault" FAULT_COUNT="$PWD/fault.count" \
		FAULT_LOG="$PWD/fault.log" LD_PRELOAD="$FAULT_LIBRARY" \
		ASAN_OPTIONS="${ASAN_OPTIONS-}:verify_asan_link_order=0" \
		"$@" <"$fault_in" >fault.out 2>fault.err || fault_code=$?
	fault_calls=$(od -An -tu8 fault.count | tr -d ' ')
}

fault_thin () {
	if test -n "${GITREACH_FAULT_ALL-}"
	then
		echo 1
	else
		echo "$1"
	fi
}

fault_each () {
	fault_nr=0 fault_over=
	while test -z "$fault_over"
	do
		fault_nr=$((fault_nr + ${fault_step:-1}))
		eval "$2" || return 1
		fault_run "$1:$fault_nr" $3 2>/dev/null
		test "$fault_calls" -ge $fault_nr || fault_over=yes
		if test -n "$fault_over" && test $fault_code -ne 0
		then
			echo "$3 fails by itself" >&2
			cat fault.err >&2
			return 1
		fi
		eval "$4" || {
			echo "$1 at call $fault_nr of $3:" >&2
			tail -n 1 fault.log >&2
			cat fault.err >&2
			return 1
		}
	done
	test $fault_nr -gt 1 || {
		echo "$3 did nothing that could fail" >&2
		return 1
	}
}

fault_said () {
	test $fault_code -eq 0 || {
		test $fault_code -eq 128 &&
		grep "^fatal: .*[^: ]$" fault.err >/dev/null
	}
}

fault_exited () {
	case ${fault_over:-$1} in
	kill|lose) test $fault_code -eq 137 ;;
	term) test $fault_code -eq 143 ;;
	*) fault_said ;;
	esac
}

fault_ended () {
	fault_exited "$1" || return
	case ${fault_over:-$1} in
	kill|lose) ;;
	# When removing fails, what should be removed is left.
	EIO) test $(wc -l <"$2") -le 1 ;;
	*) test_must_be_empty "$2" ;;
	esac
}
