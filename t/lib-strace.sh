# SPDX-License-Identifier: MIT
#
# Sourced after lib.sh by tests that look at system calls: the prerequisite
# STRACE is there where strace may trace, which a container's rules can refuse,
# and the build is a plain one: a sanitizer cannot be traced and opens files of
# its own. Says why it is not there.

if ! test_have_prereq PLAIN
then
	say 'no STRACE: a plain build is needed'
elif ! strace -o /dev/null true 2>strace.err
then
	say "no STRACE: $(sed 1q strace.err)"
else
	test_set_prereq STRACE
fi
