#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='the tests of t/interop/dropin-tests.txt exist'
. "$(dirname "$0")/lib.sh"

# missing.py <table> <tests>: prints the rows whose script or test does not
# exist, and the behaviours that have no test. A row may have only a part of the
# name of a test.
cat >missing.py <<\EOP
import os
import re
import sys

table, tests = sys.argv[1:]
behaviour, has_test = None, True


def end():
    if not has_test:
        print("no test: " + behaviour)


for row in open(table, encoding="utf-8"):
    row = row.rstrip("\n")
    found = re.fullmatch(r"  (?:faults )?(unit/)?([a-z0-9-]+): (.*)", row)
    if not row or row.startswith("#"):
        continue
    if not row.startswith(" "):
        end()
        behaviour, has_test = row, False
        continue
    if not found:
        print("bad row: " + row)
        continue
    has_test = True
    path = "%s/%s%s%s" % (tests, found[1] or "", found[2],
                          ".c" if found[1] else ".sh")
    if not os.path.exists(path):
        print("no script: " + row)
        continue
    lines = open(path, encoding="utf-8").read().split("\n")
    if not any(found[3] in line for line in lines
               if found[1] or "test_expect_success" in line):
        print("no such test: " + row)
end()
EOP

test_expect_success 'each behaviour has a test, and the tests exist' '
	python3 missing.py "$GITREACH_SRC/t/interop/dropin-tests.txt" \
		"$GITREACH_SRC/t" >missing && test_must_be_empty missing
'

test_expect_success 'a row without its test is reported' '
	cat >table <<-\EOF &&
	1 has a test
	  t0018-dropin-tests: a row without its test is reported
	2 has none
	3 has a test that does not exist
	  t0018-dropin-tests: no test has this name
	  t9999-none: x
	EOF
	cat >expect <<-\EOF &&
	no test: 2 has none
	no such test:   t0018-dropin-tests: no test has this name
	no script:   t9999-none: x
	EOF
	python3 missing.py table "$GITREACH_SRC/t" >actual &&
	test_cmp expect actual
'

test_done
