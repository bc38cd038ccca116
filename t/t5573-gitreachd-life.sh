#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='the life of gitreachd: reload, upgrade, socket activation, messages
to the service manager, crashes'
. "$(dirname "$0")/lib.sh"

DAEMON=$GITREACH_BUILD/bin/gitreachd
pids=
trap 'kill $pids 2>/dev/null' EXIT

# conf <line>...: write the configuration file
conf () {
	printf "[gitreachd]\n\tbase-path = $dir\n\texport-all\n" >conf &&
	printf "\t%s\n" "$@" >>conf
}

# start <option>...: start the server, and wait until it serves. Sets $server and
# $url; its log is in the file "log".
start () {
	: >log
	"$DAEMON" --config=conf "$@" 2>log &
	server=$!
	pids="$pids $server"
	wait_until grep -q "started: " log &&
	url=$(sed -n "s/^gitreachd: listens on //p" log | tail -n 1)
}

stop () {
	kill $server && wait $server
}

# log_has <regular expression> [<number of lines>]: wait until the log has them
log_has () {
	wait_until eval "test \"\$(grep -c \"$1\" log)\" = ${2-1}"
}

# Clone and list until the file "over" exists. A failure is a line in "failed".
load () {
	while ! test -e over
	do
		stock ls-remote $url/r.git >/dev/null 2>>errors ||
		echo ls-remote >>failed
		rm -rf clone$1
		stock clone -q --bare $url/r.git clone$1 2>>errors ||
		echo clone >>failed
		echo $1 >>rounds
	done
}

begin_load () {
	rm -f over failed rounds errors
	: >rounds
	load 1 & loads=$!
	load 2 & loads="$loads $!"
	load 3 & loads="$loads $!"
}

# end_load: no request has failed.
end_load () {
	: >over
	wait $loads
	test -s rounds || return 1
	test ! -e failed || {
		cat log errors
		return 1
	}
}

test_expect_success 'setup' '
	mkdir srv &&
	repo_criss_cross srv/r.git 20 &&
	dir=$PWD/srv
'

test_expect_success 'SIGHUP opens and closes listeners' '
	conf "listen = http://127.0.0.1:0" &&
	start &&
	first=$url &&
	conf "listen = http://127.0.0.1:0" "listen = http://127.0.0.1:0" \
		"workers = 3" &&
	kill -HUP $server &&
	log_has "reloaded: 3 workers" &&
	log_has "listens on" 2 &&
	second=$(sed -n "s/.*listens on //p" log | tail -n 1) &&
	test $first != $second &&
	stock ls-remote $first/r.git &&
	stock ls-remote $second/r.git &&
	wait_until eval "test \"\$(ps -o pid= --ppid $server | wc -l)\" = 3" &&
	conf "listen = http://127.0.0.1:0" &&
	kill -HUP $server &&
	log_has "closes $second" &&
	log_has "reloaded: 2 workers" &&
	stock ls-remote $first/r.git &&
	wait_until eval "test \"\$(ps -o pid= --ppid $server | wc -l)\" = 2" &&
	test_must_fail stock ls-remote $second/r.git &&
	stop
'

test_expect_success 'a wrong configuration is one line, and the old one stays' '
	conf "listen = http://127.0.0.1:0" &&
	start &&
	conf "listen = http://127.0.0.1:0" "workers = 1000" "x = 1" &&
	kill -HUP $server &&
	log_has "reload failed" &&
	grep "^gitreachd: reload failed, the old configuration stays in use: conf:5: workers: .* (and 1 more errors)$" log &&
	conf "listen = $url" &&
	kill -HUP $server &&
	log_has "reload failed.*cannot listen on 127.0.0.1" &&
	rm conf &&
	kill -HUP $server &&
	log_has "reload failed.*cannot open .conf." &&
	stock ls-remote $url/r.git &&
	test "$(ps -o pid= --ppid $server | wc -l)" = 2 &&
	stop
'

test_expect_success 'no request fails while the server reloads' '
	conf "listen = http://127.0.0.1:0" &&
	start &&
	begin_load &&
	for i in 1 2 3 4 5
	do
		sleep 0.3
		kill -HUP $server && log_has reloaded $i || return 1
	done &&
	end_load &&
	stop
'

# limit <bytes>: limit the address space of the server process, and of workers that it
# will start.
limit () {
	python3 -c "
import resource, sys
resource.prlimit($server, resource.RLIMIT_AS, (int(sys.argv[1]), -1))
" $1
}

# With 20 MB, the master can read the configuration, but a worker cannot start threads.
test_expect_success PLAIN 'if new workers cannot start, the old ones serve' '
	conf "listen = http://127.0.0.1:0" &&
	start &&
	workers=$(ps -o pid= --ppid $server | sort) &&
	limit $(($(ps -o vsz= -p $server) * 1024 + 20000000)) &&
	for i in 1 2
	do
		: >log &&
		kill -HUP $server &&
		wait_until grep "worker [0-9]*: exit code" log || return
	done &&
	timeout 10 "$STOCK_GIT" ls-remote $url/r.git &&
	! grep reloaded log &&
	for pid in $workers
	do
		kill -0 $pid || return
	done &&
	limit -1 &&
	log_has "reloaded: 2 workers" &&
	wait_until eval "test \"\$(ps -o pid= --ppid $server | wc -l)\" = 2" &&
	ps -o pid= --ppid $server | sort >now &&
	printf "%s\n" $workers | sort | comm -12 - now >kept &&
	test_must_be_empty kept &&
	stock ls-remote $url/r.git &&
	stop
'

test_expect_success 'a request that runs during a reload is finished' '
	conf "listen = http://127.0.0.1:0" "workers = 1" &&
	start &&
	python3 -c "
import os, signal, socket, time
# The first answers show that the worker has the connections.
s, idle = [socket.create_connection((\"127.0.0.1\", ${url##*:}))
           for _ in range(2)]
for c in s, idle:
    c.sendall(b\"GET /r.git/HEAD HTTP/1.1\r\nHost: h\r\n\r\n\")
    assert c.recv(65536).startswith(b\"HTTP/1.1 200\")
s.sendall(b\"GET /r.git/HEAD HTTP/1.1\r\nHost: h\r\n\")
# The worker has read the half request when its receive queue is empty.
peer = \":%04X\" % s.getsockname()[1]
def is_unread(line):
    return line[2].endswith(peer) and not line[4].endswith(\":00000000\")
while any(map(is_unread, map(str.split, open(\"/proc/net/tcp\")))):
    time.sleep(0.01)
os.kill($server, signal.SIGHUP)
# The worker that drains closes idle connections.
assert idle.recv(1) == b\"\"
s.sendall(b\"\r\n\")
got = s.recv(65536)
assert got.startswith(b\"HTTP/1.1 200\"), got
# The worker that drains says that it will close the connection.
assert b\"Connection: close\" in got, got
" &&
	stop
'

# successor: wait until an upgrade is over; sets $server
successor () {
	old=$server
	log_has "upgrade: process [0-9]* serves" $1 &&
	wait $old &&
	server=$(sed -n "s/.*upgrade: process \([0-9]*\) serves/\1/p" log |
		tail -n 1) &&
	pids="$pids $server"
}

test_expect_success 'SIGUSR2: another process takes over, and no request fails' '
	conf "listen = http://127.0.0.1:0" &&
	start &&
	begin_load &&
	sleep 0.5 &&
	kill -USR2 $server &&
	successor 1 &&
	sleep 0.5 &&
	end_load &&
	test $old != $server &&
	stock ls-remote $url/r.git &&
	! kill -0 $old 2>/dev/null &&
	kill $server &&
	log_has "stopped" 2
'

test_expect_success 'a successor can be replaced, too' '
	conf "listen = http://127.0.0.1:0" &&
	start &&
	begin_load &&
	kill -USR2 $server &&
	successor 1 &&
	kill -USR2 $server &&
	log_has "upgrade: process [0-9]* serves" 2 &&
	end_load &&
	server=$(sed -n "s/.*upgrade: process \([0-9]*\) serves/\1/p" log |
		tail -n 1) &&
	stock ls-remote $url/r.git &&
	kill $server &&
	log_has "stopped" 3
'

test_expect_success 'if a successor does not start, the old process goes on' '
	conf "listen = http://127.0.0.1:0" &&
	start &&
	conf "listen = http://127.0.0.1:0" "workers = 0" &&
	kill -USR2 $server &&
	log_has "upgrade failed, this process continues to serve: process [0-9]*: exit code 128" &&
	grep "^error: conf:5: workers: must be" log &&
	stock ls-remote $url/r.git &&
	conf "listen = http://127.0.0.1:0" &&
	kill -USR2 $server &&
	successor 1 &&
	stock ls-remote $url/r.git &&
	kill $server &&
	log_has "stopped" 2
'

# begin_download: read the beginning of a large file from the server, and the rest when
# the file "go" exists. Sets $download.
begin_download () {
	rm -f begun go &&
	cat >slow.py <<-\EOF &&
	import os, socket, sys, time
	s = socket.socket()
	s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
	s.connect(("127.0.0.1", int(sys.argv[1])))
	s.sendall(b"GET /big.git/objects/pack/%s HTTP/1.0\r\nHost: h\r\n\r\n"
	          % sys.argv[2].encode())
	got = len(s.recv(1000))
	open("begun", "w").close()
	while not os.path.exists("go"):
	    time.sleep(0.05)
	while True:
	    part = s.recv(1 << 20)
	    if not part:
	        break
	    got += len(part)
	sys.exit(got < int(sys.argv[3]))
	EOF
	pack=$(cd srv/big.git/objects/pack && ls *.pack) &&
	{
		python3 slow.py ${url##*:} $pack \
			$(stat -c %s srv/big.git/objects/pack/$pack) &
		download=$!
	} &&
	wait_until test -e begun
}

# end_download: the client has received the whole file.
end_download () {
	: >go &&
	wait $download
}

test_expect_success 'a download is finished after a reload, however long it takes' '
	repo_init srv/big.git &&
	dd if=/dev/urandom bs=1M count=30 2>/dev/null >random &&
	stock -C srv/big.git hash-object -w --stdin <random >blob &&
	stock -C srv/big.git pack-objects -q objects/pack/pack <blob &&
	conf "listen = http://127.0.0.1:0" "drain-timeout = 1" &&
	start &&
	begin_download &&
	kill -HUP $server &&
	log_has "reloaded" &&
	sleep 2 &&
	! grep "old workers have ended" log &&
	end_download &&
	log_has "the old workers have ended" &&
	! grep "killed" log &&
	stop
'

test_expect_success 'a download is finished after an upgrade, however long it takes' '
	conf "listen = http://127.0.0.1:0" "drain-timeout = 1" &&
	start &&
	begin_download &&
	kill -USR2 $server &&
	log_has "upgrade: process [0-9]* serves" &&
	sleep 2 &&
	kill -0 $server &&
	end_download &&
	successor 1 &&
	! grep "killed" log &&
	kill $server &&
	log_has "stopped" 2
'

test_expect_success 'SIGTERM limits all downloads, also those of an earlier reload' '
	conf "listen = http://127.0.0.1:0" "drain-timeout = 1" &&
	start &&
	begin_download &&
	kill -HUP $server &&
	log_has "reloaded" &&
	stop &&
	log_has "drain-timeout: worker [0-9]*: killed by signal 9" &&
	log_has "stopped" &&
	test_must_fail end_download &&
	start &&
	begin_download &&
	kill -USR2 $server &&
	log_has "upgrade: process [0-9]* serves" &&
	sleep 0.2 &&
	kill $server &&
	successor 1 &&
	test_must_fail end_download &&
	kill $server &&
	log_has "stopped" 2
'

# activate <names> <option>...: start the server as systemd does, with a socket for
# each name. Their ports are in the file "ports", and the messages of the server
# in the file "messages".
activate () {
	rm -f ports messages &&
	cat >systemd.py <<-\EOF &&
	import ctypes, os, re, socket, sys, threading

	# As for systemd, orphans become children (PR_SET_CHILD_SUBREAPER).
	ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
	names = sys.argv[1].split(":")
	sockets = [socket.create_server(("127.0.0.1", 0)) for name in names]
	with open("ports.new", "w") as f:
	    for s in sockets:
	        print(s.getsockname()[1], file=f)
	os.rename("ports.new", "ports")
	manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
	manager.bind("\0gitreachd-%d" % os.getpid())
	env = dict(os.environ, LISTEN_FDS=str(len(names)), WATCHDOG_USEC="200000",
	           LISTEN_FDNAMES=sys.argv[1],
	           NOTIFY_SOCKET="@gitreachd-%d" % os.getpid())
	pid = os.fork()
	if not pid:
	    with open("pid", "w") as f:
	        print(os.getpid(), file=f)
	    os.environ.update(env, LISTEN_PID=str(os.getpid()))
	    fds = [os.dup(s.fileno()) for s in sockets]
	    for i, fd in enumerate(fds):
	        os.dup2(fd, 100 + i)
	    for i in range(len(fds)):
	        os.dup2(100 + i, 3 + i)
	    os.execv(sys.argv[2], sys.argv[2:])

	def listen():
	    while True:
	        text = manager.recv(4096).decode()
	        main = re.match(r"MAINPID=(\d+)", text)
	        if main:
	            with open("/proc/%s/stat" % main.group(1)) as f:
	                if int(f.read().split()[3]) != os.getpid():
	                    text = "The main process is no child. " + text
	        with open("messages", "a") as f:
	            print(text, file=f)

	threading.Thread(target=listen, daemon=True).start()
	sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
	EOF
	: >messages
	: >log
	names=$1
	shift
	python3 systemd.py $names "$DAEMON" --base-path=srv --export-all "$@" \
		2>log &
	manager=$!
	wait_until grep -q READY=1 messages &&
	server=$(cat pid) &&
	pids="$pids $server" &&
	first=$(head -n 1 ports) second=$(tail -n 1 ports)
}

test_expect_success 'sockets of the service manager, and messages to it' '
	activate web:other --listen=http://systemd:web --drain-timeout=70 &&
	stock ls-remote http://127.0.0.1:$first/r.git &&
	grep "listens on http://systemd:web" log &&
	grep "closes http://systemd:other" log &&
	wait_until grep -q WATCHDOG=1 messages &&
	kill -HUP $server &&
	log_has reloaded &&
	wait_until grep -q RELOADING=1 messages &&
	wait_until grep -q "^MONOTONIC_USEC=[0-9]" messages &&
	kill $server && wait $manager &&
	grep "^EXTEND_TIMEOUT_USEC=80000000$" messages &&
	sed "/WATCHDOG/d; s/=[0-9]\{2,\}//" messages >seen &&
	printf "%s\n" READY=1 RELOADING=1 MONOTONIC_USEC READY=1 STOPPING=1 \
		EXTEND_TIMEOUT_USEC >expected &&
	cmp expected seen
'

test_expect_success 'all sockets of the service manager, through an upgrade' '
	activate web:other --listen=http://systemd &&
	stock ls-remote http://127.0.0.1:$first/r.git &&
	stock ls-remote http://127.0.0.1:$second/r.git &&
	kill -USR2 $server &&
	log_has "upgrade: process [0-9]* serves" &&
	wait_until grep -q MAINPID= messages &&
	new=$(sed -n "s/MAINPID=//p" messages) &&
	grep "upgrade: process $new serves" log &&
	pids="$pids $new" &&
	stock ls-remote http://127.0.0.1:$first/r.git &&
	stock ls-remote http://127.0.0.1:$second/r.git &&
	grep -v WATCHDOG messages >seen &&
	! grep STOPPING seen &&
	kill $new &&
	log_has stopped 2
'

test_expect_success 'hooks do not get the variables of the service manager' '
	stock clone -q --bare srv/r.git srv/hooked.git &&
	stock -C srv/hooked.git config http.receivepack true &&
	printf "#!/bin/sh\nenv >\"%s/env\"\n" "$PWD" >srv/hooked.git/hooks/update &&
	chmod +x srv/hooked.git/hooks/update &&
	activate web --listen=http://systemd &&
	stock clone -q http://127.0.0.1:$first/hooked.git work &&
	stock -C work push -q origin HEAD:refs/heads/new &&
	test -s env &&
	! grep -e ^LISTEN_ -e ^NOTIFY_ -e ^WATCHDOG_ -e ^GITREACHD_ env &&
	kill $server && wait $manager
'

test_expect_success 'a listener of a socket that was not passed' '
	test_expect_code 128 "$DAEMON" --base-path=srv \
		--listen=http://systemd:web 2>err &&
	echo "error: --listen: '\''http://systemd:web'\'': the service manager has passed no such socket" >expected &&
	cmp expected err
'

test_expect_success 'lines for the journal have a priority' '
	conf "listen = http://127.0.0.1:0" &&
	cat >journal.py <<-\EOF &&
	import os, sys
	st = os.fstat(2)
	os.environ["JOURNAL_STREAM"] = "%d:%d" % (st.st_dev, st.st_ino)
	os.execv(sys.argv[1], sys.argv[1:])
	EOF
	python3 journal.py "$DAEMON" --config=conf 2>log &
	server=$! &&
	pids="$pids $server" &&
	log_has "^<6>started: 2 workers" &&
	grep "^<6>listens on " log &&
	rm conf &&
	kill -HUP $server &&
	log_has "^<3>reload failed" &&
	stop &&
	grep "^<6>stopped" log
'

# crash: the next request for crash.git aborts its process. With protocol v0,
# this is the first request over a connection. Stock Git repeats a later one.
crash () {
	: >once &&
	test_must_fail stock -c protocol.version=0 ls-remote $url/crash.git \
		2>>errors &&
	test ! -e once
}

test_expect_success PLAIN 'a repository whose requests crash is found, and refused' '
	conf "listen = http://127.0.0.1:0" &&
	stock clone -q --bare srv/r.git srv/crash.git &&
	LD_PRELOAD=$GITREACH_BUILD/t/helper/preload-meanwhile.so \
		MEANWHILE=false MEANWHILE_AT="*/crash.git/*" \
		MEANWHILE_ONCE=$PWD/once start &&
	stock ls-remote $url/crash.git &&
	crash &&
	log_has "worker [0-9]*: killed by signal 6" &&
	log_has "a worker crashed during a request for ./crash.git. (crash 1)" &&
	stock ls-remote $url/crash.git &&
	crash &&
	log_has "a worker crashed during a request for ./crash.git. (crash 2)" &&
	: "children answer now, and a crash of a child harms no worker" &&
	stock ls-remote $url/crash.git >refs &&
	grep refs/heads/main refs &&
	crash &&
	log_has "worker [0-9]*: killed by signal 6" 2 &&
	: "now the repository is refused; others are served" &&
	test_must_fail stock ls-remote $url/crash.git 2>err &&
	grep "error: 503" err &&
	grep "127.0.0.1: requests for ./crash.git. are refused" log &&
	stock ls-remote $url/r.git &&
	stop
'

test_expect_success PLAIN 'a killed worker is replaced at once' '
	start --workers=1 &&
	python3 -c "
import os, signal, socket, subprocess, time
times = []
last = None
def worker():
    # the one child that runs and was not killed before
    while True:
        rows = subprocess.run([\"ps\", \"-o\", \"pid=,stat=\", \"--ppid\", \"$server\"],
                              stdout=subprocess.PIPE).stdout.split()
        if len(rows) == 2 and rows[0] != last and not rows[1].startswith(b\"Z\"):
            return rows[0]
        time.sleep(0.01)
for i in range(10):
    last = worker()
    os.kill(int(last), signal.SIGSEGV)
    start = time.time()
    s = socket.create_connection((\"127.0.0.1\", ${url##*:}))
    try:
        s.sendall(b\"GET /r.git/HEAD HTTP/1.1\r\nHost: h\r\n\r\n\")
        got = s.recv(65536)
    except ConnectionError:
        got = b\"\"
    # The dying worker may have accepted the connection.
    if got:
        assert got.startswith(b\"HTTP/1.1 200\"), got
        times.append(time.time() - start)
    s.close()
assert times
times.sort()
print(\"median and slowest: %.1f, %.1f ms\" % (times[len(times) // 2] * 1000, times[-1] * 1000))
# 5 ms on an idle machine. A busy one may delay all answers.
assert times[len(times) // 2] < 5
" &&
	log_has "killed by signal 11" 10 &&
	stop
'

# requests <file>: count the records of each command
requests () {
	python3 -c "
import json, sys
from collections import Counter
seen = Counter()
for line in open(sys.argv[1]):
    event = json.loads(line)
    if event.get(\"category\") == \"gitreach\" and event.get(\"key\") == \"request\":
        v = event[\"value\"]
        assert v[\"error\"] is None, v
        assert 0 <= v[\"cpu_user_us\"] + v[\"cpu_sys_us\"] < 10000000, v
        seen[v[\"service\"] + \" \" + v[\"command\"]] += 1
for name in sorted(seen):
    print(name, seen[name])
" "$1"
}

test_expect_success 'each request writes one record into the log of requests' '
	conf "listen = http://127.0.0.1:0" &&
	git config --global gitreach.requestLog "$PWD/requests" &&
	start &&
	for i in 1 2 3 4 5
	do
		stock ls-remote $url/r.git >/dev/null & clients="$clients $!"
	done &&
	wait $clients &&
	stock clone -q --bare $url/r.git traced.git &&
	stock -C srv/hooked.git update-ref -d refs/heads/new &&
	stock clone -q $url/hooked.git traced &&
	stock -C traced push -q origin HEAD:refs/heads/new &&
	requests requests >seen &&
	cat >expected <<-\EOF &&
	receive-pack advertise 1
	receive-pack push 1
	upload-pack advertise 7
	upload-pack fetch 2
	upload-pack ls-refs 7
	EOF
	cmp expected seen &&
	mv requests old &&
	kill -HUP $server &&
	log_has reloaded &&
	wait_until eval "test \"\$(ps -o pid= --ppid $server | wc -l)\" = 2" &&
	stock ls-remote $url/r.git &&
	requests requests >seen &&
	printf "upload-pack %s 1\n" advertise ls-refs >expected &&
	cmp expected seen &&
	git config --global --unset gitreach.requestLog &&
	stop
'

test_expect_success 'GIT_TRACE2_EVENT has the records and the phases' '
	GIT_TRACE2_EVENT=$PWD/events start &&
	stock ls-remote $url/r.git &&
	stop &&
	requests events >seen &&
	printf "upload-pack %s 1\n" advertise ls-refs >expected &&
	cmp expected seen &&
	grep "\"region_enter\".*\"label\":\"answer\"" events
'

test_done
