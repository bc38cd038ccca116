#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='gitreachd: clients that read slowly cost no threads, and get
what they asked for'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-slow-readers.sh"

DAEMON=$GITREACH_BUILD/bin/gitreachd
pids=
trap 'for pid in $pids; do kill $pid; done 2>/dev/null' EXIT
export PYTHONDONTWRITEBYTECODE=1

# start <option>...: start a server with a worker of two threads, and set $url
start () {
	: >log
	"$DAEMON" --base-path=srv --export-all --workers=1 --threads=2 \
		--listen=http://127.0.0.1:0 "$@" 2>log &
	server=$!
	pids="$pids $server"
	wait_until grep "listens on" log &&
	url=$(sed -n "s/^gitreachd: listens on //p" log)
}

stop () {
	kill $server && wait $server
}

# slow <clients> <act>...: start clients that read slowly; the file "go" lets
# them go on
slow () {
	rm -f begun go &&
	mkfifo go &&
	{ python3 "$GITREACH_SRC/t/slow.py" $url/r.git $tip "$@" \
		>begun <go & } &&
	readers=$! &&
	pids="$pids $readers" &&
	exec 5>go &&
	wait_until grep begun begun
}

test_expect_success 'setup' '
	mkdir srv &&
	stock init -q work &&
	for i in 1 2 3
	do
		head -c 3000000 /dev/urandom >work/$i &&
		stock -C work add . &&
		stock -C work -c user.name=a -c user.email=a@b commit -q -m $i ||
		return
	done &&
	stock -C work branch -M main &&
	stock clone -q --bare work srv/r.git &&
	git -C srv/r.git repack -adbq &&
	tip=$(stock -C srv/r.git rev-parse main) &&
	git config --global gitreach.requestLog "$PWD/requests"
'

test_expect_success 'more slow readers than threads, and a fast clone' '
	start &&
	slow 4 read again &&
	timeout 100 "$STOCK_GIT" clone -q --bare $url/r.git fast.git &&
	stock -C fast.git fsck &&
	go_on &&
	packs_are_right 4 &&
	record "v[\"error\"] is None" &&
	record "v[\"bytes_sent\"] > 9000000" &&
	record "v[\"wait_send_us\"] > v[\"cpu_user_us\"] + v[\"cpu_sys_us\"]" &&
	record "v[\"wait_send_us\"] <= v[\"pack_us\"] <= v[\"total_us\"]"
'

test_expect_success 'packs that are removed meanwhile are sent whole' '
	slow 4 read &&
	old=$(ls srv/r.git/objects/pack/*.pack) &&
	stock -C work -c user.name=a -c user.email=a@b commit -q \
		--allow-empty -m more &&
	stock -C work push -q ../srv/r.git main &&
	git -C srv/r.git repack -adbq &&
	! test -e $old &&
	timeout 100 "$STOCK_GIT" clone -q --bare $url/r.git new.git &&
	go_on &&
	packs_are_right 4
'

test_expect_success 'answers of bitmaps, and of a walk, do the same' '
	rm -f srv/r.git/objects/info/prepared &&
	slow 3 read &&
	timeout 100 "$STOCK_GIT" clone -q --bare $url/r.git second.git &&
	go_on &&
	packs_are_right 3 &&
	rm srv/r.git/objects/pack/*.bitmap &&
	slow 2 read &&
	go_on &&
	packs_are_right 2 &&
	stop
'

test_expect_success 'a client is cut off that reads nothing, but no slow one' '
	git -C srv/r.git repack -adbq &&
	start --timeout=2 &&
	slow 1 trickle read &&
	go_on &&
	packs_are_right 1 &&
	slow 3 hold &&
	wait_until eval "test \$(grep -c \"the client is too slow\" log) = 3" &&
	go_on &&
	record "v[\"error\"] == \"the client is too slow\"" &&
	record "v[\"bytes_sent\"] < 8500000" &&
	record "v[\"total_us\"] > 1900000" &&
	stop
'

test_expect_success 'a client that goes away' '
	start &&
	slow 3 hold leave &&
	sleep 0.5 &&
	go_on &&
	wait_until grep "lost the connection" log &&
	record "v[\"error\"] == \"lost the connection to the client\"" &&
	record "v[\"bytes_sent\"] < 8500000" &&
	stop
'

test_expect_success 'SIGTERM lets answers be sent' '
	start &&
	slow 3 read &&
	kill $server &&
	sleep 0.3 &&
	go_on &&
	wait $server &&
	packs_are_right 3
'

test_done
