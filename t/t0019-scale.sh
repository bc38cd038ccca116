#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='the simulation of a large site'
. "$(dirname "$0")/lib.sh"

if ! command -v python3 >/dev/null
then
	skip_all='python3 is missing'
	test_done
fi
PYTHONDONTWRITEBYTECODE=1 && export PYTHONDONTWRITEBYTECODE

scale=$GITREACH_SRC/t/perf/scale

test_expect_success 'simulations keep accounts, and agree with formulas' '
	python3 "$GITREACH_SRC/t/scale.py" "$GITREACH_SRC/t/perf" >checks ||
		{ cat checks; return 1; } &&
	test_line_count 9 checks
'

test_expect_success 'another seed makes another row, and the same seed the same' '
	"$scale" -s 2 -r 2 commits >other &&
	"$scale" -s 2 -r 2 commits >again &&
	"$scale" -s 1 -r 2 commits >first &&
	cmp other again &&
	! cmp -s other first
'

test_done
