#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='gitreach.maxPushInflate: the work that a push may ask for'
. "$(dirname "$0")/lib.sh"

# push <limit> <ref>: push to a server with this limit; messages go to "err"
push () {
	stock -C server.git config gitreach.maxPushInflate $1 &&
	stock -C work push --receive-pack="$GIT receive-pack" \
		../server.git HEAD:refs/heads/$2 2>err
}

# A small pack with a delta against a large file of the server.
test_expect_success 'set up' '
	stock init -q --bare server.git &&
	stock init -q work &&
	python3 -c "
for i in range(400000):
    print(i * i % 9973)
" >work/large &&
	stock -C work add large &&
	stock -C work commit -qm one &&
	push 0 main &&
	echo more >>work/large &&
	stock -C work commit -qam two
'

test_expect_success 'a small pack cannot ask for much work' '
	test_must_fail push 100k delta &&
	grep "the objects of the pack have more than [0-9]* bytes (gitreach.maxPushInflate)" \
		err &&
	test_must_fail stock -C server.git rev-parse --verify -q refs/heads/delta &&
	! ls server.git/objects | grep tmp_objdir
'

test_expect_success 'the limit is for all objects together' '
	push 10m delta &&
	stock -C server.git fsck --strict
'

test_expect_success 'each byte of the pack allows more' '
	python3 -c "
import random
random.seed(1)
open(\"work/random\", \"wb\").write(random.randbytes(300000))
" &&
	stock -C work add random &&
	stock -C work commit -qm three &&
	push 1 random
'

test_expect_success '0 is no limit, and other values are errors' '
	echo again >>work/large &&
	stock -C work commit -qam four &&
	push 0 none &&
	echo again >>work/large &&
	stock -C work commit -qam five &&
	test_must_fail push x wrong
'

test_done
