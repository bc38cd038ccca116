#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='three nodes and many clients push into repositories of a store

The clients are stock Git, and the nodes gitreachd over git://. t/store-shim.py is
between the nodes and the service: it delays, loses answers, repeats requests, cuts
bodies, and answers 500, 503 and 409. Nodes are killed meanwhile, and git store repack
and git store gc run, which are killed, too. Variables:

	GITREACH_SERVICE       moto, versitygw or minio (t/lib-services.sh)
	GITREACH_PUSHES        number of pushes (60)
	GITREACH_SECONDS       no push begins after this time; no limit by default
	GITREACH_CLIENTS       number of clients (4)
	GITREACH_REPOSITORIES  number of repositories (2)
	GITREACH_KILLS         how often a node is killed (1)
	GITREACH_MAINTENANCE   how often each command of maintenance runs (2)
	GITREACH_FAULTS        percent of requests that fail (4), and for requests of nodes
	                       the delay of the others in milliseconds, from and to'
. "$(dirname "$0")/../lib.sh"
. "$GITREACH_SRC/t/lib-moto.sh"
. "$GITREACH_SRC/t/lib-services.sh"

store=s3://bucket/repos
service=${GITREACH_SERVICE:-moto}
pushes=${GITREACH_PUSHES:-60} clients=${GITREACH_CLIENTS:-4}
repositories=${GITREACH_REPOSITORIES:-2} kills=${GITREACH_KILLS:-1}
maintenance=${GITREACH_MAINTENANCE:-2} faults=${GITREACH_FAULTS:-4}
DAEMON=$GITREACH_BUILD/bin/gitreachd
export DAEMON GIT STOCK_GIT STOCK_PATH
has_service=$(printf %s "$service" | tr a-z A-Z)

# on <port> <subcommand> <argument>...: git store with the service at a port
on () {
	on_port=$1 on_verb=$2 && shift 2 &&
	git store $on_verb --endpoint=http://127.0.0.1:$on_port "$@"
}

# shim_in <directory>: start a shim with its files in the directory. Sets $shim_port.
shim_in () {
	mkdir -p "$1" && here=$PWD && cd "$1" &&
	moto_port=$service_port shim_start && cd "$here"
}

test_expect_success $has_service 'setup: a client, and repositories in a store' '
	service_start $service &&
	stock init -q --bare client.git &&
	commit=$(stock -C client.git commit-tree -m one \
		$(stock -C client.git write-tree)) &&
	stock -C client.git update-ref refs/heads/main $commit &&
	echo $commit refs/heads/main >before && : >names &&
	for nr in $(seq $repositories)
	do
		echo r$nr.git >>names &&
		on $service_port import --name=r$nr.git client.git $store || return 1
	done
'

# Old generations: something that a collection deletes while clients push.
test_expect_success VERSITYGW 'old generations' '
	test $service != versitygw || {
		stock -C client.git update-ref refs/heads/old main &&
		for name in $(cat names)
		do
			on $service_port import --force --name=$name client.git \
				$store || return 1
		done &&
		stock -C client.git update-ref -d refs/heads/old &&
		for name in $(cat names)
		do
			on $service_port import --force --name=$name client.git \
				$store || return 1
		done &&
		service_age "2 days ago"
	}
'

test_expect_success $has_service "$pushes pushes of $clients clients" '
	shim_in nodes && nodes=$shim_port &&
	shim_in maintenance && echo $faults >nodes/random &&
	echo ${faults%% *} >maintenance/random &&
	python3 "$GITREACH_SRC/t/store-pushes.py" $pushes $clients $kills \
		$maintenance http://127.0.0.1:$nodes $store \
		http://127.0.0.1:$shim_port >pushes.out 2>pushes.err
	code=$? && cat pushes.err && cut -d" " -f5 pushes.out | sort |
		uniq -c && test $code -eq 0
'

test_expect_success $has_service 'every acknowledged push is there, and no refused one' '
	for name in $(cat names)
	do
		on $service_port log -n 0 --json $store $name >log.json &&
		python3 "$GITREACH_SRC/t/store-history.py" pushes.out $name \
			log.json before || return 1
	done
'

# Only git store gc deletes files, and git store repack deletes its lease.
test_expect_success $has_service 'nothing was deleted after a failure' '
	cut -d" " -f3 nodes/requests | sed "s/delay=.*/delay/" | sort | uniq -c &&
	test_must_fail grep "^DELETE" nodes/requests &&
	grep "^DELETE" maintenance/requests | grep -v " /bucket/repos/lease/" |
		sed "s,/file/.*,/file," | sort | uniq -c
'

test_expect_success $has_service 'verify is clean' '
	on $service_port verify --full $store >out 2>err && test_must_be_empty err
'

test_done
