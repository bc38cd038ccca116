#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='interleavings of commits and garbage collections, explored

t/helper/explore-generations.c runs the code of generations/ over a simulated
store and clock, and tries all sequences of choices within its limits. With
GITREACH_EXPLORE=1, the limits are larger, and the test takes some minutes.'
. "$(dirname "$0")/lib.sh"

EXPLORE=$GITREACH_BUILD/t/helper/explore-generations

# explore <name> <argument>...: no check fails; keeps the output.
explore () {
	name=$1 && shift &&
	"$EXPLORE" "$@" >"$name.out" || { cat "$name.out"; return 1; }
	cat "$name.out"
}

# has <name> <words>: the number before these words is not 0.
has () {
	grep -E "[1-9][0-9]* $2" "$1.out"
}

test_expect_success 'two nodes, a maintainer and a collector, in any order' '
	explore all-order pqmc 1 0 1 &&
	has all-order refused &&
	has all-order "too late"
'

test_expect_success 'the same with one fault: lost answers, late puts, deaths' '
	explore all-fault pqmc 0 1 0 &&
	has all-fault unknown &&
	has all-fault "late puts"
'

test_expect_success 'two nodes push, in any order and with a fault' '
	explore pushes pq 2 1 0 &&
	has pushes unknown
'

test_expect_success 'a push and a collection, with a fault and a late clock' '
	explore collection pc 1 1 1 &&
	has collection "too late" &&
	has collection "late puts"
'

test_expect_success 'a maintainer and two collections' '
	explore maintenance mcc 1 0 1 &&
	explore maintenance-fault mc 1 1 0
'

test_expect_success 'objects are taken back meanwhile' '
	explore dropped pqdc 1 0 0 &&
	has dropped refused &&
	explore dropped-fault pd 1 1 0
'

# finds <bug> <argument>...: a check fails, and the run is printed.
finds () {
	bug=$1 && shift &&
	test_expect_code 1 "$EXPLORE" "$@" "$bug" >"$bug.out" &&
	cat "$bug.out"
}

test_expect_success 'the exploration finds a deletion after a lost answer' '
	finds delete-after-lost pqmc 0 1 0 &&
	grep "a file of a live record is deleted" delete-after-lost.out &&
	grep "answer lost" delete-after-lost.out
'

test_expect_success 'the exploration finds a collection without a grace' '
	finds no-grace pqmc 1 0 0 &&
	grep "a record names a file that does not exist" no-grace.out &&
	grep "c  delete" no-grace.out
'

test_expect_success 'the exploration finds a push that needs a dropped object' '
	finds unchecked pd 1 0 0 &&
	grep "an object is lost:  a " unchecked.out
'

test -n "$GITREACH_EXPLORE" && test_set_prereq EXPLORE

test_expect_success EXPLORE 'larger limits' '
	explore deep-order pqmc 2 0 1 &&
	explore deep-clock pqmc 0 1 1 &&
	explore deep-pushes pqc 1 1 1 &&
	explore deep-maintenance mc 2 1 1 &&
	explore deep-two-faults pq 1 2 0 &&
	explore deep-dropped pdm 1 1 0 &&
	explore deep-all pqmc 1 1 0
'

test_done
