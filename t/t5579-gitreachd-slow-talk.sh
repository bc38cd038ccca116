#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='gitreachd: clients of git:// and ssh that read slowly, or wait
between two commands, cost no threads'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-slow-readers.sh"
. "$GITREACH_SRC/t/lib-gitreachd.sh"

export PYTHONDONTWRITEBYTECODE=1
GITREACHD=$DAEMON
export GITREACHD
sockets=$(mktemp -d /tmp/t5579.XXXXXX)
trap 'for pid in $pids; do kill $pid; done 2>/dev/null; rm -rf "$sockets"' EXIT

ssh_program fake-ssh "$sockets/ssh"
GIT_SSH=$PWD/fake-ssh
GIT_SSH_VARIANT=ssh
export GIT_SSH GIT_SSH_VARIANT

# start <option>...: start a server with a worker of four threads
start () {
	start_daemon --export-all --workers=1 --threads=4 \
		--max-connections-per-address=200 --timeout=600 \
		--drain-timeout=600 \
		--listen=git://127.0.0.1:0 --listen="unix:$sockets/ssh" "$@" &&
	git_url=$url/r.git &&
	ssh_url="ssh://$sockets/ssh?/r.git"
}

# slow <url> <version> <clients> <act>...: start clients that read slowly; the
# file "go" lets them go on
slow () {
	slow_url=$1 slow_version=$2
	shift 2
	rm -f begun go pack.* &&
	mkfifo go &&
	{ python3 "$GITREACH_SRC/t/slow-talk.py" "$slow_url" $slow_version \
		$tip "$@" >begun <go & } &&
	readers=$! &&
	pids="$pids $readers" &&
	exec 5>go &&
	wait_until grep begun begun
}

# clone_works <url>: a clone of another client is answered meanwhile
clone_works () {
	rm -rf quick.git &&
	timeout 100 "$STOCK_GIT" clone -q --bare $1 quick.git &&
	stock -C quick.git fsck
}

# too_slow <number>: at least so many clients were cut off
too_slow () {
	test $(grep -c "the client is too slow" log) -ge $1
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
	git config --global gitreach.requestLog "$PWD/requests" &&
	start
'

test_expect_success '64 slow readers of git://, and a quick clone' '
	slow $git_url 2 64 read again end &&
	clone_works $git_url &&
	clone_works h:r.git &&
	go_on &&
	packs_are_right 64 &&
	record "v[\"error\"] is None" &&
	record "v[\"bytes_sent\"] > 9000000" &&
	record "v[\"wait_send_us\"] <= v[\"pack_us\"] <= v[\"total_us\"]"
'

test_expect_success '64 slow readers of ssh, and a quick clone' '
	slow "$ssh_url" 2 64 read again end &&
	clone_works h:r.git &&
	clone_works $git_url &&
	go_on &&
	packs_are_right 64
'

test_expect_success 'the same with protocol version 0' '
	slow $git_url 0 8 read end &&
	clone_works $git_url &&
	go_on &&
	packs_are_right 8 &&
	slow "$ssh_url" 0 8 read end &&
	clone_works h:r.git &&
	go_on &&
	packs_are_right 8
'

test_expect_success 'clients that wait before their first command' '
	slow $git_url 2 8 wait end &&
	clone_works $git_url &&
	go_on &&
	slow "$ssh_url" 2 8 wait end &&
	clone_works h:r.git &&
	go_on
'

test_expect_success 'packs that are removed meanwhile are sent whole' '
	slow $git_url 2 8 read again end &&
	old=$(ls srv/r.git/objects/pack/*.pack) &&
	stock -C work -c user.name=a -c user.email=a@b commit -q \
		--allow-empty -m more &&
	stock -C work push -q ../srv/r.git main &&
	git -C srv/r.git repack -adbq &&
	! test -e $old &&
	clone_works $git_url &&
	go_on &&
	packs_are_right 8
'

test_expect_success 'answers of bitmaps, and of a walk, do the same' '
	rm -f srv/r.git/objects/info/prepared &&
	slow $git_url 2 8 read end &&
	clone_works $git_url &&
	go_on &&
	packs_are_right 8 &&
	rm srv/r.git/objects/pack/*.bitmap &&
	slow "$ssh_url" 2 8 read end &&
	go_on &&
	packs_are_right 8 &&
	git -C srv/r.git repack -adbq
'

test_expect_success 'commands that arrive together are answered in order' '
	PYTHONPATH=$GITREACH_SRC/t python3 -c "
import sys
from talk import Talk, fetch, ls_refs
for url in sys.argv[1:]:
    client = Talk(url)
    client.send(ls_refs() * 3 + fetch([b\"$tip\"]) + ls_refs() + b\"0000\")
    first = client.packets()
    assert any(b\"refs/heads/main\" in line for line in first)
    assert client.packets() == client.packets() == first
    assert client.packet() == b\"packfile\n\"
    client.pack = b\"\"
    assert client.rest_of_pack()[:4] == b\"PACK\"
    assert client.packets() == first
    if client.process:
        assert client.process.wait() == 0
    else:
        assert not client.socket.recv(1)
" $git_url "$ssh_url"
'

test_expect_success 'a command that arrives byte by byte, and a long one' '
	PYTHONPATH=$GITREACH_SRC/t python3 -c "
import sys
from talk import Talk, command, fetch, ls_refs
for url in sys.argv[1:]:
    client = Talk(url)
    for byte in ls_refs():
        client.send(bytes([byte]))
    assert any(b\"refs/heads/main\" in line for line in client.packets())
    # More haves than the buffer of a connection takes.
    haves = [b\"%040x\" % i for i in range(1, 2000)]
    client.send(fetch([b\"$tip\"], haves))
    assert client.packet() == b\"packfile\n\"
    client.pack = b\"\"
    assert client.rest_of_pack()[:4] == b\"PACK\"
    long = b\"ref-prefix refs/heads/\" + b\"x\" * 60000
    assert client.command(command(b\"ls-refs\", [long])) == []
    code, messages = client.end()
    assert code == 0 and not messages, messages
" $git_url "$ssh_url" &&
	stop_daemon
'

test_expect_success 'clients that read nothing, or send nothing, are cut off' '
	start --timeout=5 &&
	slow "$ssh_url" 2 3 fail &&
	wait_until too_slow 3 &&
	go_on &&
	record "v[\"error\"] == \"the client is too slow\"" &&
	record "v[\"bytes_sent\"] < 8500000" &&
	slow $git_url 2 3 read &&
	wait_until too_slow 6 &&
	test_must_fail go_on &&
	slow "$ssh_url" 2 3 idle fail &&
	wait_until too_slow 9 &&
	go_on &&
	stop_daemon
'

# The loop sends the end of such an answer when the time is over. epoll must not
# report the connection after that, since a thread has it for the next command.
test_expect_success 'answers that end at the time limit, before a next command' '
	start --timeout=3 --threads=60 &&
	python3 "$GITREACH_SRC/t/near-end.py" $git_url $tip 4 &&
	! grep crash log &&
	clone_works $git_url &&
	stop_daemon
'

test_expect_success 'clients that go away' '
	start &&
	slow $git_url 2 3 leave &&
	wait $readers &&
	wait_until grep "lost the connection" log &&
	: >log &&
	slow "$ssh_url" 2 3 leave &&
	wait $readers &&
	wait_until grep "lost the connection" log &&
	clone_works h:r.git
'

test_expect_success 'SIGTERM lets answers be sent' '
	slow $git_url 2 3 read end &&
	kill $server &&
	wait_until test_must_fail timeout 10 "$STOCK_GIT" ls-remote $git_url &&
	go_on &&
	wait $server &&
	packs_are_right 3 &&
	start &&
	slow "$ssh_url" 2 3 read again end &&
	kill $server &&
	wait_until test_must_fail timeout 10 "$STOCK_GIT" ls-remote $git_url &&
	go_on &&
	wait $server &&
	packs_are_right 3
'

test_done
