#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='gitreachd: fair admission of fetches and pushes, refusals with
Retry-After, and the place in the queue on the side band'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"

DAEMON=$GITREACH_BUILD/bin/gitreachd
confine=
server= clients=
trap 'touch go; kill $server $clients 2>/dev/null' EXIT
if ! command -v curl >/dev/null
then
	skip_all='curl is missing'
	test_done
fi

# A fetch that holds its token: the server opens the loose object $blob when it
# makes the pack. It then waits until there is a file "go", if there is a file
# "once".
hold () {
	: >once && rm -f go held
}

# start <option>...: start a server that stops at $blob. Sets $url, $git, $admin.
start () {
	# The log of an earlier server says "started", too.
	rm -f log
	env LD_PRELOAD="$GITREACH_BUILD/t/helper/preload-meanwhile.so" \
		ASAN_OPTIONS="${ASAN_OPTIONS-}:verify_asan_link_order=0" \
		MEANWHILE='touch held; while ! test -e go; do sleep 0.05; done' \
		MEANWHILE_AT="*/objects/$blob" MEANWHILE_ONCE="$PWD/once" \
		$confine "$DAEMON" --base-path=srv --export-all --workers=1 \
		--listen=http://127.0.0.1:0 --listen=git://127.0.0.1:0 \
		--admin=http://127.0.0.1:0 --plan-memory=0 "$@" 2>log &
	server=$!
	wait_until grep "started" log 2>/dev/null &&
	url=$(sed -n "s/^gitreachd: listens on //p" log | sed -n 1p) &&
	git=$(sed -n "s/^gitreachd: listens on //p" log | sed -n 2p) &&
	admin=$(sed -n "s/^gitreachd: listens on \(.*\) (status)$/\1/p" log)
}

stop () {
	kill $server && wait $server
}

# clone <name>: clone in the background; its messages are in <name>.err
clone () {
	stock clone --progress --bare $url/r.git $1 2>$1.err &
	clients="$clients $!"
}

# queued <n>: whether n requests wait
queued () {
	curl -s $admin/status.json |
	grep "\"admission\":{\"tokens\":[0-9]*,\"in_use\":[0-9]*,\"queued\":$1," \
		>/dev/null
}

# answer <path> <curl option>...: print the status, and the head into "head"
answer () {
	path=$1 &&
	shift &&
	curl -s -D head -o body -w "%{http_code}\n" "$@" "$url$path"
}

INFO=/r.git/info/refs?service=git-upload-pack

# Objects in packs make a clone expensive. The tip is loose.
test_expect_success 'set up' '
	mkdir srv &&
	stock init -q --bare srv/r.git &&
	python3 -c "
for i in range(16000):
    print(\"blob\ndata <<E\n%d\nE\n\" % i)
" >import &&
	stock -C srv/r.git fast-import --quiet <import &&
	blob=$(echo content | stock -C srv/r.git hash-object -w --stdin) &&
	tree=$(printf "100644 blob $blob\tfile\n" | stock -C srv/r.git mktree) &&
	commit=$(stock -C srv/r.git commit-tree -m one $tree) &&
	stock -C srv/r.git update-ref refs/heads/main $commit &&
	stock -C srv/r.git symbolic-ref HEAD refs/heads/main &&
	stock -C srv/r.git config http.receivepack true &&
	blob=$(echo $blob | sed "s,^..,&/,")
'

test_expect_success 'requests wait for a token, and hear their place' '
	start --tokens=1 --max-queue=2 &&
	hold &&
	clone a.git &&
	wait_until test -e held &&
	clone b.git &&
	wait_until queued 1 &&
	clone c.git &&
	wait_until queued 2 &&
	wait_until grep "Waiting in the queue: 1 before this request" c.git.err &&
	wait_until grep "Waiting in the queue: 0 before this request" b.git.err
'

test_expect_success 'the status shows the queue by principal' '
	curl -s $admin/status.json >json &&
	grep "{\"name\":\"127.0.0.1\",\"waiting\":2,\"running\":1}" json &&
	curl -s $admin/ >html &&
	grep "Queue by user or address" html &&
	curl -s $admin/metrics >metrics &&
	grep "^gitreach_admission_tokens 1$" metrics &&
	grep "^gitreach_admission_in_use 1$" metrics &&
	grep "^gitreach_admission_queued 2$" metrics
'

test_expect_success 'a full queue gives 429 with Retry-After at info/refs' '
	test "$(answer "$INFO")" = 429 &&
	grep "^Retry-After: [1-9][0-9]*" head &&
	test "$(answer "$INFO" -H "Git-Protocol: version=2")" = 429 &&
	test_must_fail stock ls-remote $git/r.git 2>err &&
	grep "remote error: the server is busy, try again later" err &&
	curl -s $admin/metrics >metrics &&
	grep "^gitreach_admission_rejected_total{reason=\"network\"} 3$" metrics
'

test_expect_success 'a request that is cheap does not wait' '
	printf "%s" "0014command=ls-refs00010000" >request &&
	test "$(answer /r.git/git-upload-pack --data-binary @request \
		-H "Content-Type: application/x-git-upload-pack-request" \
		-H "Git-Protocol: version=2")" = 200
'

test_expect_success 'a client that leaves the queue frees its place' '
	clone d.git &&
	wait_until grep "429" d.git.err &&
	kill ${clients##* } 2>/dev/null;
	touch go &&
	for client in $(echo $clients | cut -d" " -f1-3)
	do
		wait $client || return 1
	done &&
	for copy in a b c
	do
		test_same_repo srv/r.git $copy.git || return 1
	done &&
	grep "Waiting in the queue: 0 before this request, done" c.git.err &&
	curl -s $admin/metrics >metrics &&
	grep "^gitreach_admission_queued 0$" metrics &&
	grep "^gitreach_admission_wait_seconds_count 3$" metrics &&
	test "$(answer "$INFO")" = 200 &&
	stop
'

test_expect_success 'a wait that is too long ends with a message' '
	start --tokens=1 --queue-timeout=1 &&
	hold &&
	rm -rf a.git &&
	clone a.git &&
	holder=$! &&
	wait_until test -e held &&
	test_must_fail stock clone --bare $url/r.git late.git 2>err &&
	grep "the server is busy, try again later" err &&
	touch go &&
	wait $holder &&
	test_same_repo srv/r.git a.git &&
	stop
'

# lose <name>: clone in the background, in a process that can be killed
lose () {
	(unset GIT_EXEC_PATH && PATH=$STOCK_PATH && export PATH &&
		exec "$STOCK_GIT" clone -q --bare $git/r.git $1) &
	clients="$clients $!"
}

# A keepalive shows that the client is gone.
test_expect_success 'a client of git:// that is lost leaves the queue' '
	start --tokens=1 &&
	stock -C srv/r.git config uploadpack.keepalive 1 &&
	hold &&
	rm -rf a.git && clients= &&
	clone a.git &&
	wait_until test -e held &&
	lose lost.git &&
	wait_until queued 1 &&
	kill -KILL ${clients##* } &&
	wait_until queued 0 &&
	touch go &&
	set -- $clients &&
	wait $1 &&
	stop
'

test_expect_success 'a trusted proxy names the principal' '
	start --tokens=1 --user-header=X-User --trusted-proxy=127.0.0.1 &&
	hold &&
	rm -rf a.git b.git && clients= &&
	git_as () {
		stock -c http.extraHeader="$1" clone -q --bare $url/r.git $2 &
		clients="$clients $!"
	} &&
	git_as "X-User: alice" a.git &&
	wait_until test -e held &&
	git_as "X-Forwarded-For: 192.0.2.1, 192.0.2.7" b.git &&
	wait_until queued 1 &&
	curl -s $admin/status.json >json &&
	grep "{\"name\":\"alice\",\"waiting\":0,\"running\":1}" json &&
	grep "{\"name\":\"192.0.2.7\",\"waiting\":1,\"running\":0}" json &&
	touch go &&
	for client in $clients
	do
		wait $client || return 1
	done &&
	stop
'

test_expect_success 'an address has a limit of connections' '
	start --max-connections-per-address=2 &&
	cat >connect.py <<-\EOF &&
	import socket, sys
	def connect(port):
	    s = socket.create_connection(("127.0.0.1", int(port)))
	    s.settimeout(30)
	    return s
	def get(s):
	    s.sendall(b"GET /r.git/HEAD HTTP/1.1\r\nHost: x\r\n\r\n")
	    return s.recv(4096)
	kept = [connect(sys.argv[1]) for i in range(2)]
	for s in kept:
	    assert b" 200 " in get(s).split(b"\r\n")[0] + b" "
	answer = get(connect(sys.argv[1]))
	assert answer.startswith(b"HTTP/1.1 429 "), answer
	assert b"\r\nRetry-After: " in answer
	assert connect(sys.argv[2]).recv(99) == b"001cERR too many connections"
	EOF
	python3 connect.py ${url##*:} ${git##*:} &&
	curl -s $admin/metrics >metrics &&
	grep "^gitreach_admission_rejected_total{reason=\"address\"} 2$" metrics &&
	stop &&
	start --max-connections-per-address=2 --trusted-proxy=127.0.0.1 &&
	test_must_fail python3 connect.py ${url##*:} ${git##*:} 2>err &&
	grep "AssertionError: b.HTTP/1.1 200" err &&
	stop
'

# A client of git:// holds a thread until it ends.
test_expect_success 'a greedy address leaves threads to others' '
	start --threads=4 --max-queue-per-user=4 &&
	cat >greedy.py <<-\EOF &&
	import select, socket, sys
	port = int(sys.argv[1])
	def ask(source):
	    s = socket.create_connection(("127.0.0.1", port), 30, (source, 0))
	    text = b"git-upload-pack /r.git\0host=x\0"
	    s.sendall(b"%04x" % (len(text) + 4) + text)
	    return s
	# With protocol version 0, a thread waits for the answer to the refs.
	first = [ask("127.0.0.1") for i in range(2)]
	for s in first:
	    assert b" HEAD" in s.recv(99)
	# Half of the threads are taken, and four requests may wait.
	greedy = [ask("127.0.0.1") for i in range(7)]
	assert b" HEAD" in ask("127.0.0.2").recv(99)
	refused = set()
	while len(refused) < 3:
	    ready = select.select(set(greedy) - refused, [], [], 30)[0]
	    assert b"ERR the server is busy" in ready[0].recv(99)
	    refused.add(ready[0])
	assert not select.select(set(greedy) - refused, [], [], 0)[0]
	EOF
	python3 greedy.py ${git##*:} &&
	grep "requests from a loopback address were refused" log >hints &&
	test_line_count 1 hints &&
	stop
'

test_expect_success 'only a push with a body takes a place' '
	start --max-pushes=1 --queue-timeout=5 &&
	cat >silent.py <<-\EOF &&
	import socket, subprocess, sys
	s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
	s.sendall(b"POST /r.git/git-receive-pack HTTP/1.1\r\nHost: x\r\n"
	          b"Content-Type: application/x-git-receive-pack-request\r\n"
	          b"Content-Length: 1000\r\n\r\n")
	print("sent", flush=True)
	sys.stdin.read()
	EOF
	mkfifo keep &&
	silence () {
		python3 silent.py ${url##*:} <keep >sent &
		silent=$!
		exec 9>keep
	} &&
	silence &&
	wait_until grep sent sent &&
	wait_until sh -c "curl -s $admin/status.json |
		grep \"in_flight.:.{.path.:./r.git\"" &&
	stock clone -q $url/r.git quick &&
	stock -C quick push -q origin HEAD:refs/heads/quick &&
	stock -C quick push -q origin :refs/heads/quick &&
	exec 9>&- &&
	wait $silent &&
	stop
'

test_expect_success 'pushes to a repository wait for each other' '
	start --max-pushes=1 --threads=16 &&
	stock clone -q $url/r.git work &&
	mkdir -p srv/r.git/hooks &&
	cat >srv/r.git/hooks/pre-receive <<-EOF &&
	#!/bin/sh
	touch "$PWD/held"
	while ! test -e "$PWD/go"; do sleep 0.05; done
	EOF
	chmod +x srv/r.git/hooks/pre-receive &&
	rm -f go held && clients= &&
	for i in 1 2 3
	do
		stock -C work push -q origin HEAD:refs/heads/p$i 2>push$i &
		clients="$clients $!"
		wait_until test -e held &&
		wait_until queued $((i - 1)) || return 1
	done &&
	test "$(answer "/r.git/info/refs?service=git-receive-pack")" = 429 &&
	grep "^Retry-After: " head &&
	test "$(answer "$INFO")" = 200 &&
	touch go &&
	for client in $clients
	do
		wait $client || return 1
	done &&
	stock -C srv/r.git for-each-ref >refs &&
	test_line_count 4 refs &&
	stop
'

# lose_push <url>: a client pushes, and is killed while the pre-receive hook runs
lose_push () {
	rm -f held go &&
	{
		setsid env PATH="$STOCK_PATH" "$STOCK_GIT" -C work push -q \
			$1/r.git HEAD:refs/heads/lost 2>lost.err &
	} &&
	wait_until test -e held && kill -s KILL -- -$!
}

# push_beside <url>: a push whose pre-receive hook begins while that of another push
# still runs
push_beside () {
	rm -f held &&
	{ stock -C work push -q $1/r.git HEAD:refs/heads/beside-$2 & } &&
	wait_until test -e held && touch go && wait $!
}

test_expect_success 'a hook that never ends does not keep the place of a lost client' '
	stock -C srv/r.git config receive.keepAlive 1 &&
	stock -C srv/r.git config daemon.receivePack true &&
	start --max-pushes=1 --timeout=2 &&
	lose_push $url && push_beside $url http &&
	lose_push $git && push_beside $git git &&
	grep "the client of a push is lost" log >lost &&
	test_line_count 2 lost &&
	stop
'

# may_begin <n>: whether n pushes have given their places back
may_begin () {
	test "$(grep -c "another push may begin" log)" = $1
}

# A quarter of 8 threads may wait for hooks of lost clients without a place. The third
# push keeps its place until a hook ends.
test_expect_success 'hooks that never end do not occupy all threads' '
	start --max-pushes=1 --timeout=1 --threads=8 &&
	for i in 1 2 3
	do
		lose_push $url || return 1
	done &&
	sleep 4 && may_begin 2 &&
	touch go &&
	stock -C work push -q $url/r.git HEAD:refs/heads/after &&
	lose_push $git && wait_until may_begin 3 &&
	touch go &&
	stop
'

# nices: how many threads of the server's processes have which nice value
nices () {
	for pid in $(cat /proc/$server/task/$server/children)
	do
		cat /proc/$pid/task/*/stat || return 1
	done | sed "s/.*) //" | cut -d" " -f17 | sort | uniq -c
}

# have_nices <file>: whether they are as before
have_nices () {
	nices >now && test_cmp $1 now
}

# test_nice: during expensive work, the thread has a lower priority. Afterwards, all
# threads have the usual one. There are no keep-alive packets, because a thread that
# sends them may have the lower priority, too.
test_nice () {
	stock -C srv/r.git config uploadpack.keepalive 0 &&
	start --tokens=1 --work-nice=9 --threads=3 &&
	usual=$(nice) &&
	hold &&
	nices >before && cat before &&
	clone n.git &&
	wait_until test -e held &&
	nices >during && cat during &&
	grep " 1 $((usual + 9))$" during &&
	touch go &&
	wait_until have_nices before &&
	wait ${clients##* } &&
	clone o.git &&
	wait ${clients##* } &&
	wait_until have_nices before &&
	stop &&
	rm -rf n.git o.git
}

# No nice value is above 19.
if test "$(nice)" -le 10
then
	test_set_prereq NICE
fi

test_expect_success NICE 'expensive work leaves the processors to other requests' '
	test_nice
'

# Without the privilege to raise a priority, the thread is replaced.
if test_have_prereq NICE && test "$(id -u)" = 0 &&
	setpriv --bounding-set -sys_nice true 2>/dev/null
then
	test_set_prereq CONFINED
fi

test_expect_success CONFINED 'the same without privileges' '
	confine="setpriv --bounding-set -sys_nice" &&
	test_nice &&
	confine=
'

test_done
