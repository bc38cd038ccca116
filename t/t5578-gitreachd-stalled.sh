#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='gitreachd: clients that stall with many connections do not keep all
threads from other clients, and a push with bytes behind it keeps no thread'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-gitreachd.sh"

# stall.py <http port> <git port> <pack>: clients begin requests, and neither send nor
# read further bytes. Three clients have six connections each. After a line on standard
# input, two more clients begin, with one connection each. At the end of standard input,
# the program prints for each of these two clients whether its connection is still open.
cat >stall.py <<'EOF'
import socket, sys
http, git = int(sys.argv[1]), int(sys.argv[2])

def connect(client, port):
	s = socket.socket()
	s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
	s.bind((client, 0))
	s.connect(("127.0.0.1", port))
	return s

def post(client):
	s = connect(client, http)
	s.sendall(b"POST /r.git/git-upload-pack HTTP/1.1\r\nHost: x\r\n"
		b"Content-Type: application/x-git-upload-pack-request\r\n"
		b"Content-Length: 100\r\n\r\n0014")
	return s

def get(client):
	s = connect(client, http)
	s.sendall(b"GET /r.git/objects/pack/" + sys.argv[3].encode() +
		b" HTTP/1.1\r\nHost: x\r\n\r\n")
	return s

def talk(client):
	s = connect(client, git)
	s.sendall(b"0021git-upload-pack /r.git\0host=\0")
	return s

def is_open(s):
	s.setblocking(False)
	try:
		return s.recv(1) != b""
	except BlockingIOError:
		return True
	except ConnectionError:
		return False

kinds = [post, get, talk]
conns = [[kinds[i % 3]("127.0.0.%d" % a) for i in range(6)]
	for a in range(2, 5)]
print("begun", flush=True)
sys.stdin.readline()
single = [post("127.0.0.%d" % a) for a in range(5, 7)]
sys.stdin.read()
print("open", *[is_open(s) for s in single])
EOF

test_expect_success 'setup' '
	mkdir srv &&
	stock init -q work &&
	head -c 9000000 /dev/urandom >work/big &&
	stock -C work add . &&
	stock -C work -c user.name=a -c user.email=a@b commit -q -m big &&
	stock clone -q --bare work srv/r.git &&
	stock -C srv/r.git repack -adq &&
	pack=$(cd srv/r.git/objects/pack && echo *.pack)
'

# in_flight <n>...: check that the number of requests that have a thread is one of <n>...
in_flight () {
	curl -s $admin/metrics >metrics &&
	now=$(sed -n "s/^gitreach_requests_in_flight //p" metrics) &&
	case " $* " in
	*" $now "*) true ;;
	*) false ;;
	esac
}

# The three clients with six connections get six or seven of the eight threads: lanes
# leave one or two threads to further clients.
test_expect_success 'a client is served while others stall' '
	start_daemon --export-all --workers=1 --threads=8 --timeout=100 \
		--listen=http://127.0.0.1:0 --listen=git://127.0.0.1:0 \
		--admin=http://127.0.0.1:0 &&
	wait_until grep "started: 1 worker" log &&
	admin=$(sed -n "s/.*listens on \(.*\) (status)/\1/p" log) &&
	git_port=$(sed -n "s/.*git:.*://p" log) &&
	mkfifo go &&
	{ python3 stall.py $port $git_port $pack >begun <go & } &&
	stalled=$! &&
	exec 5>go &&
	wait_until grep begun begun &&
	wait_until in_flight 6 7 &&
	echo >&5 &&
	wait_until in_flight 8 &&
	timeout 30 "$STOCK_GIT" ls-remote $url/r.git >listed &&
	grep refs/heads listed &&
	grep "closed a stalled connection" log
'

test_expect_success 'stalled clients with one connection have kept it' '
	exec 5>&- &&
	wait $stalled &&
	grep "open True True" begun &&
	stop_daemon
'

# excess.py <port> <id>: delete the branch "gone" with a request that has two million
# bytes more than needed, and print the answer.
cat >excess.py <<'EOF'
import socket, sys
line = b"%s %s refs/heads/gone\0report-status delete-refs side-band-64k" % (
	sys.argv[2].encode(), b"0" * 40)
body = b"%04x%s0000" % (len(line) + 4, line) + b"x" * 2000000
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=30)
s.sendall(b"POST /hooked.git/git-receive-pack HTTP/1.1\r\nHost: x\r\n"
	b"Content-Type: application/x-git-receive-pack-request\r\n"
	b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
while True:
	got = s.recv(65536)
	if not got:
		break
	sys.stdout.buffer.write(got)
EOF

# The hook fills the pipe of its output while the server has not written the whole
# request.
test_expect_success 'a hook that writes much, while a part of the request is unread' '
	stock clone -q --bare work srv/hooked.git &&
	stock -C srv/hooked.git config http.receivepack true &&
	stock -C srv/hooked.git branch gone HEAD &&
	cat >srv/hooked.git/hooks/pre-receive <<-\EOF &&
	#!/bin/sh
	head -c 400000 /dev/zero | tr "\0" y >&2
	EOF
	chmod +x srv/hooked.git/hooks/pre-receive &&
	start_daemon --export-all --workers=1 --threads=2 --listen=http://127.0.0.1:0 &&
	python3 excess.py $port $(stock -C work rev-parse HEAD) >answer &&
	grep -a "ok refs/heads/gone" answer &&
	test $(tr -cd y <answer | wc -c) -ge 400000 &&
	test_must_fail stock -C srv/hooked.git rev-parse --verify -q refs/heads/gone &&
	stop_daemon
'

test_done
