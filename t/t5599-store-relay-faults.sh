#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='gitreachd: pushes while the relay is killed

The relay is the process of gitreachd that sends the requests of pushes to the
store. t/store-shim.py is between gitreachd and the service, and kills the relay at a
request. Then an acknowledged push is in the store, and each other push is there
completely or not at all. Nothing is ever deleted.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-gitreachd.sh"
. "$GITREACH_SRC/t/lib-moto.sh"
trap 'for pid in $pids $moto_pids; do kill $pid; done 2>/dev/null' EXIT

store=s3://bucket/repos name=team/src.git

# on <port> <subcommand> <argument>...: git store with the service at a port
on () {
	on_port=$1 on_verb=$2 && shift 2 &&
	git store $on_verb --endpoint=http://127.0.0.1:$on_port "$@"
}

# Writes the process id of the relay into the file "victim". A relay that was killed
# does not listen any more.
find_relay () {
	python3 - <<-\EOF >victim 2>/dev/null
	import socket, struct
	s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
	s.connect("cache/relay")
	print(struct.unpack("3i", s.getsockopt(
	    socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0])
	EOF
}

push () {
	stock -C work push $url/$name "$@" >out 2>err
}

commit () {
	commit_nr=$((commit_nr + 1)) &&
	stock -C work commit -q --allow-empty -m "$commit_nr"
}

# value <ref>: its value in the store, asked without the shim. The repository is
# sound.
value () {
	rm -rf exported.git &&
	on $moto_port export $store $name exported.git &&
	stock -C exported.git fsck --full --strict >fsck 2>&1 &&
	stock -C exported.git rev-parse -q --verify $1
}

# begin <fault>...: the faults of the next requests. The hint of the push before is written
# after the answer to this push, so wait for it. There is none if the relay was killed
# at the record.
begin () {
	if grep "^PUT .*/gen/.* pass " requests && ! grep "^PUT .*/gen/.*kill" requests
	then
		wait_until grep "^PUT .*/hint/" requests || return
	fi
	shim_faults "$@"
}

passes () {
	yes pass | head -n $1
}

# try <fault> <number>: a push whose request of this number has a fault. Whatever
# happens to the push, the store is sound, and a second push completes it.
try () {
	commit && old=$(stock -C work rev-parse HEAD~1) &&
	new=$(stock -C work rev-parse HEAD) &&
	wait_until find_relay && begin $(passes $2) $1 || return
	if push HEAD:refs/heads/main
	then
		code=0
	else
		code=1
	fi
	cp err err.$1.$2 && cp requests requests.$1.$2 &&
	now=$(value refs/heads/main) || return
	# An acknowledged push is there.
	test $code -ne 0 || test $now = $new || return
	test $now = $new || test $now = $old || return
	# A refused push is not there.
	! grep "this ref was not changed" err || test $now = $old || return
	begin pass && push HEAD:refs/heads/main &&
	test $(value refs/heads/main) = $new &&
	cat requests.$1.$2 requests >>all-requests
}

test_expect_success MOTO 'setup: a node with a relay' '
	moto_start && shim_start && shim_faults pass &&
	commit_nr=0 && stock init -q work && stock -C work checkout -q -b main &&
	commit && stock clone -q --bare work src.git &&
	stock -C src.git config http.receivepack true &&
	on $shim_port import --name=$name src.git $store &&
	served_from= start_daemon --store=$store --cache=cache --export-all --workers=1 \
		--threads=4 --store-endpoint=http://127.0.0.1:$shim_port \
		--listen=http://127.0.0.1:0 &&
	wait_until find_relay && : >all-requests
'

test_expect_success MOTO 'the relay sends the requests of a push' '
	shim_faults pass && commit && push HEAD:refs/heads/main && commit &&
	begin pass && push HEAD:refs/heads/main &&
	test "$(value refs/heads/main)" = "$(stock -C work rev-parse HEAD)" &&
	wait_until grep "^PUT .*/hint/" requests &&
	test $(grep -c "^PUT .*/file/" requests) -eq 3 &&
	test $(grep -c "^PUT .*/gen/" requests) -eq 1 &&
	all=$(wc -l <requests) &&
	record=$(($(grep -n "^PUT .*/gen/" requests | cut -d: -f1) - 1))
'

test_expect_success MOTO 'no relay: the process that receives the push sends them' '
	begin pass && commit && kill -STOP $(cat victim) || return
	push HEAD:refs/heads/main
	code=$?
	kill -CONT $(cat victim) && test $code -eq 0 &&
	test "$(value refs/heads/main)" = "$(stock -C work rev-parse HEAD)"
'

# With GITREACH_FAULT_ALL=1, the relay is killed at each request.
places () {
	if test -n "$GITREACH_FAULT_ALL"
	then
		seq 0 $((all - 1))
	else
		echo $*
	fi
}

each_place () {
	fault=$1 && shift &&
	for at in $(places $*)
	do
		try $fault $at && grep " $fault " requests.$fault.$at || {
			echo "fault $fault at $at" >&2
			return 1
		}
	done
}

test_expect_success MOTO 'a relay that is killed at a request' '
	each_place kill 2 $record
'

test_expect_success MOTO 'a relay that is killed after a request' '
	each_place late-kill 2 $record
'

test_expect_success MOTO 'nothing was deleted, and all is sound' '
	test_must_fail grep "^DELETE" all-requests &&
	on $moto_port verify --full $store >out 2>err && test_must_be_empty err &&
	grep "relay [0-9]*: killed by signal 9" log
'

test_done
