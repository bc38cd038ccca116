#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='gitreachd: clients that keep connections open do not use up the
descriptors that requests need'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-gitreachd.sh"

# limit <option of ulimit> <n>: start_daemon starts the server with at most <n> open
# files
limit () {
	cat >limited <<-EOF &&
	#!/bin/sh
	ulimit $1 $2 && exec "$GITREACH_BUILD/bin/gitreachd" "\$@"
	EOF
	chmod +x limited &&
	DAEMON=$PWD/limited
}

# files_of <pid>: print the maximum number of open files of a process
files_of () {
	sed -n "s/^Max open files *\([0-9]*\) .*/\1/p" /proc/$1/limits
}

test_expect_success 'setup' '
	mkdir srv &&
	repo_criss_cross srv/r.git 5
'

test_expect_success 'a low soft limit is raised' '
	limit -Sn 100 &&
	start_daemon --export-all --workers=1 --threads=1 --max-connections=500 \
		--listen=http://127.0.0.1:0 &&
	wait_until grep "started: 1 worker" log &&
	worker=$(ps -o pid= --ppid $server | tr -d " ") &&
	test $(files_of $worker) -ge 500 &&
	test_must_fail grep "may open only" log &&
	stop_daemon
'

# The client opens one connection, then many more. The server must refuse some of
# these. On the first connection, requests must still work.
cat >client.py <<'EOF'
import http.client, socket, sys
port = int(sys.argv[1])

def refs(c):
	c.request("GET", "/r.git/info/refs?service=git-upload-pack",
		headers={"Git-Protocol": "version=1"})
	r = c.getresponse()
	return r.status, b"refs/heads" in r.read()

first = http.client.HTTPConnection("127.0.0.1", port)
print("first", *refs(first))
others = [socket.create_connection(("127.0.0.1", port)) for i in range(180)]
last = others[-1].recv(1000)
print("last", last.split(b"\r\n")[0].decode())
for i in range(3):
	print("again", *refs(first))
for s in others:
	s.close()
EOF

test_expect_success 'clients are refused before descriptors run out' '
	limit -n 200 &&
	start_daemon --export-all --workers=1 --threads=2 \
		--listen=http://127.0.0.1:0 &&
	wait_until grep "started: 1 worker" log &&
	grep "may open only 200 files .* there are 10000 connections" log &&
	timeout 30 python3 client.py $port >answers &&
	cat >want <<-\EOF &&
	first 200 True
	last HTTP/1.1 503 Service Unavailable
	again 200 True
	again 200 True
	again 200 True
	EOF
	test_cmp want answers &&
	test_must_fail grep "Too many open files" log &&
	stock ls-remote $url/r.git &&
	stop_daemon
'

test_done
