#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='the simulation of a large site, and the pages with its tables

With GITREACH_SCALE=1, all tables of the pages are made anew, which takes a minute.'
. "$(dirname "$0")/lib.sh"

if ! command -v python3 >/dev/null
then
	skip_all='python3 is missing'
	test_done
fi
PYTHONDONTWRITEBYTECODE=1 && export PYTHONDONTWRITEBYTECODE

scale=$GITREACH_SRC/t/perf/scale
page=$GITREACH_SRC/Documentation/design/scale.md
model=$GITREACH_SRC/Documentation/design/scale-model.md

test_expect_success 'simulations keep accounts, and agree with formulas' '
	python3 "$GITREACH_SRC/t/scale.py" "$GITREACH_SRC/t/perf" >checks ||
		{ cat checks; return 1; } &&
	test_line_count 9 checks
'

# With the same random numbers, the simulation must give the same tables.
test_expect_success 'the pages have the tables that are calculated' '
	"$scale" cpu record probes hot money >tables &&
	grep "^|" tables >lines &&
	test "$(wc -l <lines)" -gt 35 &&
	! grep -F -x -v -f "$page" lines &&
	"$scale" figures >tables &&
	grep "^|" tables >lines &&
	test "$(wc -l <lines)" -gt 20 &&
	! grep -F -x -v -f "$model" lines
'

test_expect_success 'the page has rows of the simulated tables' '
	for table in commits cache balance
	do
		"$scale" -r 1 $table >row &&
		grep "^|" row >lines &&
		test_line_count 3 lines &&
		! grep -F -x -v -f "$page" lines || return 1
	done
'

test_expect_success 'another seed makes another row, and the same seed the same' '
	"$scale" -s 2 -r 2 commits >other &&
	"$scale" -s 2 -r 2 commits >again &&
	"$scale" -s 1 -r 2 commits >first &&
	cmp other again &&
	! cmp -s other first
'

test_expect_success 'a table of a page is replaced' '
	sed "/^| all |/s/[0-9]/0/g" "$page" >copy.md &&
	! cmp -s copy.md "$page" &&
	"$scale" -u copy.md cpu money &&
	cmp copy.md "$page" &&
	sed "s/^| bytes of one ranged GET .*/| old |/" "$model" >copy.md &&
	! cmp -s copy.md "$model" &&
	"$scale" -u copy.md &&
	cmp copy.md "$model" &&
	sed "s/^| kind |/| sort |/" "$page" >without.md &&
	test_must_fail "$scale" -u without.md cpu 2>err &&
	grep "without.md has no table with the head | kind |" err &&
	test_must_fail "$scale" no-such-table 2>err &&
	grep "no table no-such-table" err
'

test -n "$GITREACH_SCALE" && test_set_prereq SCALE

test_expect_success SCALE 'all tables of the page' '
	cp "$page" all.md &&
	"$scale" -u all.md cpu commits record cache balance zone probes hot money &&
	cmp all.md "$page"
'

test_done
