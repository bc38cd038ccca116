#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='messages on the standard error stream'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-strace.sh"

test_expect_success 'setup' '
	repo_linear r 1
'

# A client and a server on one machine may write to the same stream. Messages
# that are written in pieces would be mixed.
test_expect_success STRACE 'an error message is written at once' '
	test_must_fail strace -f -o log -e trace=write \
		"$GITREACH_BUILD/bin/git" -C r cat-file -e no/such/name 2>err &&
	grep "^fatal: Not a valid object name no/such/name$" err &&
	grep "write(2, " log >writes &&
	test_line_count 1 writes
'

test_expect_success 'control characters of a name do not reach the terminal' '
	name=$(printf "a\033[31m\001b") &&
	test_must_fail git -C r cat-file -e "$name" 2>err &&
	echo "fatal: Not a valid object name a?[31m?b" >expect &&
	test_cmp expect err &&
	test_must_fail stock -C r cat-file -e "$name" 2>err.stock &&
	test_cmp expect err.stock
'

test_expect_success 'a line break and a tab are kept' '
	name=$(printf "a\tb\nc") &&
	test_must_fail git -C r cat-file -e "$name" 2>err &&
	printf "fatal: Not a valid object name a\tb\nc\n" >expect &&
	test_cmp expect err
'

test_done
