#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='fork networks when a verb ends in its midst: who stays and who goes

Killed at each call that changes the disk (repack: at each third); without power,
with a disk that fails or is full, at some of them.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-fault.sh"
. "$GITREACH_SRC/t/lib-network.sh"

test_expect_success 'a network' '
	network_make
'

for mode in kill lose EIO ENOSPC
do
	step=$(fault_thin 13) repack_step=$(fault_thin 13)
	test $mode != kill || step=$(fault_thin 3) repack_step=$(fault_thin 9)

	test_expect_success "repack: $mode" "
		fault_step=$repack_step &&
		network_faults $mode repack -q --prune=now
	"

	test_expect_success "leave: $mode" "
		fault_step=$step network_done='is not a member' &&
		network_faults $mode leave -q 2
	"

	test_expect_success "delete: $mode" "
		fault_step=$step network_done='is not a member' &&
		network_faults $mode delete -q 2
	"
done

test_expect_success 'init: killed at every call' '
	fault_step=1 &&
	network_done="is the store of a network already" &&
	fault_each kill "rm -rf x.git" "$GIT network init -q x.git" "
		network_has_ended kill &&
		rm -f x.git/*.lock &&
		if ! $GIT network init -q x.git 2>again
		then
			grep \"\$network_done\" again
		fi &&
		stock -C x.git fsck 2>notice && $GIT -C x.git network list
	"
'

test_done
