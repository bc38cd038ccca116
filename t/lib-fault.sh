# SPDX-License-Identifier: MIT
#
# Sourced after lib.sh by tests of commands that are interrupted.
#
#	fault_each <mode> <setup> <command> <check>
#
# evaluates <setup>, which makes a new repository, runs <command> with a disk that
# fails at the first call that changes the disk, and evaluates <check>. Then
# fault_each repeats these steps with the second call, and so on until the command
# succeeds. Modes are kill, lose (power), EIO, ENOSPC, short and term, see
# t/helper/preload-fault.c. <command> is a list of words, not a shell script;
# $fault_in is its standard input. If fault_step is set, only every fault_step-th
# call fails. `fault_step=$(fault_thin 9)` is for long tests; fault_thin prints 1 if
# GITREACH_FAULT_ALL is set. If fault_step is not set, each call fails in the mode
# "lose", and every third call in the other modes. EIO and ENOSPC begin one and two
# calls later than the others, so that each call fails in one of the modes kill, EIO and
# ENOSPC. A command with fewer calls than the distance fails at each call. With
# fault_step=1 each call fails in each mode. <check> can use
#
#	$fault_nr      the number of the call that failed
#	$fault_code    the command's exit code: 137 if it was killed, 143 if
#	               SIGTERM ended it
#	fault.err, fault.out, fault.log   the command's output, and its calls
#
# If <check> fails, the test fails. The last line of "fault.log" is then the call.
#
# Other functions:
#
#	fault_run <mode>:<nr> <command>...   run the command once. The mode
#	               "none" only writes the log.
#	fault_ended <mode> <left>   for a <check>: the command was killed, or got
#	               an error and removed its files. The file <left> lists
#	               the files that remain.
#	fault_exited <mode>   for a <check>: the command succeeded, was killed, or
#	               got an error and reported it
#	fault_said     true if a command that got an error has reported it in a
#	               line with the reason and exit code 128, or has succeeded
#	               in spite of the error

FAULT_LIBRARY=$GITREACH_BUILD/t/helper/preload-fault.so
fault_in=/dev/null

# fault_run <FAULT> <command>...
fault_run () {
	fault=$1 && shift &&
	fault_code=0 &&
	rm -f fault.log &&
	: >fault.log &&
	printf '\0\0\0\0\0\0\0\0' >fault.count &&
	FAULT="$fault" FAULT_COUNT="$PWD/fault.count" \
		FAULT_LOG="$PWD/fault.log" LD_PRELOAD="$FAULT_LIBRARY" \
		ASAN_OPTIONS="${ASAN_OPTIONS-}:verify_asan_link_order=0" \
		"$@" <"$fault_in" >fault.out 2>fault.err || fault_code=$?
	od -An -tu8 fault.count >fault.calls &&
	read -r fault_calls <fault.calls
}

fault_thin () {
	if test -n "${GITREACH_FAULT_ALL-}"
	then
		echo 1
	else
		echo "$1"
	fi
}

# fault_begin <mode>: set the distance of two calls that fail, and fault_nr to the
# first one less this distance.
fault_begin () {
	fault_distance=${fault_step:-$(fault_thin 3)} fault_nr=0
	test -z "${fault_step-}" && test $fault_distance -gt 1 || return 0
	case $1 in
	lose) fault_distance=1 ;;
	EIO) fault_nr=-1 ;;
	ENOSPC) fault_nr=0 ;;
	*) fault_nr=-2 ;;
	esac
}

fault_each () {
	fault_over= fault_done=
	fault_begin "$1"
	while test -z "$fault_over"
	do
		fault_nr=$((fault_nr + fault_distance))
		eval "$2" || return 1
		fault_run "$1:$fault_nr" $3 2>/dev/null
		test "$fault_calls" -ge $fault_nr || fault_over=yes
		if test -n "$fault_over" && test -z "$fault_done" &&
			test $fault_distance -gt 1 && test "$fault_calls" -gt 0
		then
			fault_over= fault_nr=0 fault_distance=1
			continue
		fi
		fault_done=yes
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
	test "$fault_calls" -gt 0 || {
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
