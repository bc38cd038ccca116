#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='three nodes and many clients push into repositories of a store

The clients are stock Git. t/store-shim.py is between the nodes and the service: it
delays, loses answers, repeats requests, and answers 500, 503 and 409. git store gc
runs meanwhile. GITREACH_PUSHES is the number of pushes (60), GITREACH_CLIENTS that
of clients (4), and GITREACH_REPOSITORIES that of repositories (2).'
. "$(dirname "$0")/../lib.sh"
. "$GITREACH_SRC/t/lib-moto.sh"

store=s3://bucket/repos
pushes=${GITREACH_PUSHES:-60} clients=${GITREACH_CLIENTS:-4}
repositories=${GITREACH_REPOSITORIES:-2}

# on <port> <subcommand> <argument>...: git store with the service at a port
on () {
	on_port=$1 on_verb=$2 && shift 2 &&
	git store $on_verb --endpoint=http://127.0.0.1:$on_port "$@"
}

test_expect_success MOTO 'setup: three nodes' '
	moto_start && shim_start &&
	stock init -q --bare src.git &&
	commit=$(stock -C src.git commit-tree -m one \
		$(stock -C src.git write-tree)) &&
	stock -C src.git update-ref refs/heads/main $commit &&
	: >copies && : >names &&
	for nr in $(seq $repositories)
	do
		echo r$nr.git >>names &&
		on $shim_port import --name=r$nr.git src.git $store || return 1
	done &&
	for node in 1 2 3
	do
		on $shim_port fetch --cache=node$node $store || return 1
		for name in $(cat names)
		do
			echo "$PWD/node$node/repo/$name/_" >>copies || return 1
		done
	done
'

# collect: run garbage collections until the file "stop" exists
collect () {
	while ! test -e stop
	do
		on $shim_port gc $store >>gc.out 2>>gc.err
	done
}

test_expect_success MOTO "$pushes pushes of $clients clients" '
	: >requests && echo 4 >random &&
	export STOCK_GIT STOCK_PATH GITREACH_SRC &&
	{ collect & } && collector=$! &&
	python3 "$GITREACH_SRC/t/store-pushes.py" $pushes $clients copies \
		>pushes.out 2>pushes.err
	code=$? && : >stop && wait $collector
	rm -f random && cat pushes.err && cut -d" " -f5 pushes.out | sort |
		uniq -c && test $code -eq 0
'

test_expect_success MOTO 'every acknowledged push is there, and no refused one' '
	for name in $(cat names)
	do
		on $moto_port log --json $store $name >log.json &&
		python3 "$GITREACH_SRC/t/store-history.py" pushes.out $name \
			log.json || return 1
	done &&
	cut -d" " -f3 requests >faults.seen && sort faults.seen | uniq -c &&
	test_must_fail grep "^DELETE" requests
'

test_expect_success MOTO 'verify is clean, and the copies are sound' '
	on $moto_port verify --full $store >out 2>err && test_must_be_empty err &&
	while read -r copy
	do
		"$GIT" -C "$copy" fsck --full --no-dangling || return 1
	done <copies
'

test_done
