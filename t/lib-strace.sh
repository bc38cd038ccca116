# SPDX-License-Identifier: MIT
#
# Sourced after lib.sh by tests of system calls. The prerequisite STRACE is set if
# strace may trace (a container may forbid this) and the build has no sanitizer. A
# sanitizer cannot be traced and opens further files. Prints the reason if STRACE is
# not set.

if ! test_have_prereq PLAIN
then
	say 'no STRACE: a plain build is needed'
elif ! strace -o /dev/null true 2>strace.err
then
	say "no STRACE: $(sed 1q strace.err)"
else
	test_set_prereq STRACE
fi
