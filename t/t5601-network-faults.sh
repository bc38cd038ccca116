#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='fork networks when a verb ends in its midst: who comes

Killed at each call that changes the disk; without power, with a disk that fails
or is full, at some of them.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-fault.sh"
. "$GITREACH_SRC/t/lib-network.sh"

test_expect_success 'a network' '
	network_make
'

for mode in kill lose EIO ENOSPC
do
	fault_step=$(fault_thin 13)
	test $mode != kill || fault_step=$(fault_thin 3)

	test_expect_success "fork: $mode" "
		network_done='is registered at' &&
		network_faults $mode fork -q ../root.git ../dst.git
	"

	test_expect_success "add: $mode" "
		network_done='is member 3 already' &&
		network_faults $mode add -q ../new.git
	"

	test_expect_success "sync: $mode" "
		network_faults $mode sync -q --all
	"
done

test_done
