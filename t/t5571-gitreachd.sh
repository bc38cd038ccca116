#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='gitreachd: clients of stock Git, hostile clients, and what
happens to a worker that dies and to requests at the end'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"

DAEMON=$GITREACH_BUILD/bin/gitreachd
pids=
trap 'for pid in $pids; do kill $pid; done 2>/dev/null' EXIT
command -v curl >/dev/null && test_set_prereq CURL

# start <option>...: start the server. Sets $server, $url and $port; its log is
# in the file "log".
start () {
	: >log
	"$DAEMON" --base-path=srv --listen=http://127.0.0.1:0 "$@" 2>log &
	server=$!
	pids="$pids $server"
	url=
	wait_until grep -q "^gitreachd: listens on " log
	url=$(sed -n "s/^gitreachd: listens on //p" log)
	port=${url##*:}
	test -n "$url"
}

# stop: end the server; it must end with 0.
stop () {
	kill $server && wait $server
}

workers () {
	ps -o pid= --ppid $server
}

# status <path> <curl option>...: print the status of an answer
status () {
	path=$1
	shift
	curl -s -o body --path-as-is -w "%{http_code}\n" "$@" "$url$path"
}

# raw <bytes for printf>: send bytes as they are, and print the answer
raw () {
	printf "$1" | python3 -c "
import socket, sys
s = socket.create_connection((\"127.0.0.1\", $port))
s.settimeout(20)
s.sendall(sys.stdin.buffer.read())
while True:
    got = s.recv(65536)
    if not got:
        break
    sys.stdout.buffer.write(got)
"
}

test_expect_success 'setup' '
	mkdir srv &&
	repo_criss_cross srv/r.git 20 &&
	repo_tags srv/r.git &&
	stock -C srv/r.git config http.receivepack true &&
	stock -C srv/r.git config uploadpack.allowFilter true &&
	stock -C srv/r.git config uploadpack.hideRefs refs/hidden &&
	stock -C srv/r.git config uploadpack.allowAnySHA1InWant true &&
	stock -C srv/r.git update-ref refs/hidden/x main &&
	stock -C srv/r.git repack -adqb &&
	: >srv/r.git/git-daemon-export-ok &&
	stock clone -q --bare srv/r.git srv/private.git &&
	oid=$(stock -C srv/r.git rev-parse main) &&
	pkt "command=ls-refs" F >ls-refs &&
	gzip -kn ls-refs &&
	start
'

test_expect_success 'clone, shallow clone, and fetch what is new' '
	stock clone -q --mirror $url/r.git full &&
	stock -C full fsck &&
	stock clone -q --bare --depth 1 $url/r.git shallow &&
	stock -C shallow fsck &&
	test "$(stock -C shallow rev-list --count HEAD)" = 1 &&
	stock -C shallow fetch -q --unshallow &&
	test_must_fail stock -C full rev-parse refs/hidden/x &&
	new=$(stock -C srv/r.git commit-tree -m new -p main main^{tree}) &&
	stock -C srv/r.git update-ref refs/heads/new $new &&
	stock -C full fetch -q &&
	test "$(stock -C full rev-parse new)" = $new
'

test_expect_success 'a partial clone fetches its blobs later' '
	stock clone -q --bare --filter=blob:none $url/r.git partial &&
	stock -C partial rev-list --objects --all --missing=print >list &&
	grep "^?" list &&
	sed -n "s/^?//p" list | head -n 1 >blob &&
	stock -C partial cat-file blob $(cat blob) >out &&
	stock -C srv/r.git cat-file blob $(cat blob) >expected &&
	cmp expected out
'

test_expect_success 'a refused fetch is a whole answer' '
	missing=0123456789012345678901234567890123456789 &&
	for protocol in 0 2
	do
		test_must_fail stock -C full -c protocol.version=$protocol \
			fetch $url/r.git $missing 2>err &&
		grep "not our ref $missing" err &&
		! grep "RPC failed\|unexpected disconnect" err || return 1
	done
'

test_expect_success 'push, delete, and a push that a hook refuses' '
	stock clone -q $url/r.git work &&
	stock -C work -c user.name=a -c user.email=a@b commit -q \
		--allow-empty -m pushed &&
	stock -C work push -q origin HEAD:refs/heads/pushed &&
	test "$(stock -C srv/r.git rev-parse pushed)" = \
		"$(stock -C work rev-parse HEAD)" &&
	stock -C work push -q origin :refs/heads/pushed &&
	test_must_fail stock -C srv/r.git rev-parse -q --verify pushed &&
	printf "#!/bin/sh\necho no from hook; exit 1\n" \
		>srv/r.git/hooks/pre-receive &&
	chmod +x srv/r.git/hooks/pre-receive &&
	test_must_fail stock -C work push origin HEAD:refs/heads/pushed 2>err &&
	grep "no from hook" err &&
	rm srv/r.git/hooks/pre-receive
'

test_expect_success 'a push of several megabytes, in chunks' '
	head -c 3000000 /dev/urandom >work/big &&
	stock -C work add big &&
	stock -C work -c user.name=a -c user.email=a@b commit -q -m big &&
	stock -C work -c http.postBuffer=65536 push -q origin HEAD:big &&
	stock -C srv/r.git fsck &&
	test "$(stock -C srv/r.git rev-parse big)" = \
		"$(stock -C work rev-parse HEAD)" &&
	stock -C work push -q origin :big
'

test_expect_success CURL 'files, unknown and climbing paths' '
	test "$(status /r.git/HEAD)" = 200 &&
	cmp srv/r.git/HEAD body &&
	test "$(status /r.git/HEAD -I)" = 200 &&
	pack=$(cd srv/r.git/objects/pack && ls *.pack | head -n 1) &&
	test "$(status /r.git/objects/pack/$pack)" = 200 &&
	cmp srv/r.git/objects/pack/$pack body &&
	test "$(status /none.git/HEAD)" = 404 &&
	test "$(status /r.git/config)" = 404 &&
	test "$(status /private.git/HEAD)" = 404 &&
	test "$(status /../srv/r.git/HEAD)" = 400 &&
	test "$(status /r.git/../r.git/HEAD)" = 400 &&
	test "$(status /%2e%2e/srv/r.git/HEAD)" = 400 &&
	test "$(status //r.git/HEAD)" = 400 &&
	test "$(status /r.git%2fHEAD)" = 400 &&
	test "$(status /r.git/git-upload-pack)" = 405
'

# post <curl option>...: ask for the refs by protocol version 2
post () {
	status /r.git/git-upload-pack -H "Git-Protocol: version=2" \
		-H "Content-Type: application/x-git-upload-pack-request" "$@"
}

test_expect_success CURL 'bodies: gzip, chunks, 100-continue, HTTP/1.0' '
	test "$(post --data-binary @ls-refs)" = 200 &&
	mv body expected &&
	grep refs/heads/main expected &&
	! grep refs/hidden expected &&
	test "$(post -H "Content-Encoding: gzip" \
		--data-binary @ls-refs.gz)" = 200 &&
	cmp expected body &&
	test "$(post -H "Transfer-Encoding: chunked" \
		--data-binary @ls-refs)" = 200 &&
	cmp expected body &&
	post -v -H "Expect: 100-continue" --data-binary @ls-refs 2>trace &&
	cmp expected body &&
	grep "100 Continue" trace &&
	test "$(post --http1.0 --data-binary @ls-refs)" = 200 &&
	cmp expected body
'

test_expect_success CURL 'bodies that are too large get status 413' '
	head -c 20000000 /dev/zero | gzip -c >bomb.gz &&
	stock -C srv/r.git config http.maxRequestBuffer 1k &&
	test_when_finished "stock -C srv/r.git config --unset \
		http.maxRequestBuffer" &&
	{ cat ls-refs && head -c 2000 /dev/zero; } >large &&
	test "$(post --data-binary @ls-refs)" = 200 &&
	test "$(post --data-binary @large)" = 413 &&
	test "$(post -H "Transfer-Encoding: chunked" \
		--data-binary @large)" = 413 &&
	test "$(post -H "Content-Encoding: gzip" \
		--data-binary @bomb.gz)" = 413 &&
	test "$(post --data-binary @ls-refs)" = 200
'

test_expect_success 'a body in chunks of one byte, sent byte by byte' '
	python3 -c "
import socket
s = socket.create_connection((\"127.0.0.1\", $port))
s.settimeout(60)
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
s.sendall(b\"POST /r.git/git-upload-pack HTTP/1.1\r\nHost: h\r\n\"
          b\"Git-Protocol: version=2\r\nConnection: close\r\n\"
          b\"Content-Type: application/x-git-upload-pack-request\r\n\"
          b\"Transfer-Encoding: chunked\r\n\r\n\")
for byte in open(\"ls-refs\", \"rb\").read():
    for one in b\"1\r\n%c\r\n\" % byte:
        s.sendall(bytes([one]))
s.sendall(b\"0\r\n\r\n\")
got = b\"\"
while more := s.recv(65536):
    got += more
assert got.startswith(b\"HTTP/1.1 200\") and b\"refs/heads/main\" in got, got
"
'

test_expect_success CURL 'one connection serves many requests' '
	curl -sv -o /dev/null $url/r.git/HEAD -o /dev/null $url/none/HEAD \
		-o /dev/null "$url/r.git/info/refs?service=git-upload-pack" \
		-o /dev/null $url/r.git/HEAD 2>trace &&
	grep -c "Connected to" trace >count &&
	test "$(cat count)" = 1
'

test_expect_success 'requests that are sent at once are answered in order' '
	raw "GET /r.git/HEAD HTTP/1.1\r\nHost: h\r\n\r\nGET /none/HEAD \
HTTP/1.1\r\nHost: h\r\n\r\nGET /r.git/HEAD HTTP/1.1\r\nHost: \
h\r\nConnection: close\r\n\r\n" >out &&
	grep "^HTTP/1.1 " out | cut -d" " -f2 >statuses &&
	printf "200\n404\n200\n" >expected &&
	cmp expected statuses
'

test_expect_success 'a body that comes after the answer does not end the connection' '
	python3 -c "
import socket
s = socket.create_connection((\"127.0.0.1\", $port))
s.settimeout(20)
for body in b\"0000\", b\"0\" * 50000:
    s.sendall(b\"POST /none.git/git-upload-pack HTTP/1.1\r\nHost: h\r\n\"
              b\"Content-Type: application/x-git-upload-pack-request\r\n\"
              b\"Content-Length: %d\r\n\r\n\" % len(body))
    got = b\"\"
    while b\"\r\n\r\n\" not in got:
        got += s.recv(65536)
    assert got.startswith(b\"HTTP/1.1 404\"), got
    assert b\"Connection: close\" not in got, got
    s.sendall(body)
    s.sendall(b\"GET /r.git/HEAD HTTP/1.1\r\nHost: h\r\n\r\n\")
    got = s.recv(65536)
    assert b\"HTTP/1.1 200\" in got, got
"
'

test_expect_success 'forms of smuggling get their status, and are not kept' '
	python3 -c "
import os, socket, sys

def answer(request):
    s = socket.create_connection((\"127.0.0.1\", $port))
    s.settimeout(20)
    s.sendall(request)
    got = b\"\"
    try:
        while more := s.recv(65536):
            got += more
    except ConnectionError:
        pass
    return got

for form in sys.argv[1:]:
    name = os.path.basename(form)
    if \"-chunk-\" in name or \"-trailer-\" in name:
        continue
    got = answer(open(form, \"rb\").read())
    assert got.count(b\"HTTP/1.1 \") == 1, (name, got)
    assert got[9:12].decode() == name.split(\"-\")[0], (name, got)
    print(name)
" "$GITREACH_SRC"/t/fuzz/corpus/http1-head/[45]* >out &&
	test -s out
'

test_expect_success 'half-closed connections, resets, and bytes one by one' '
	python3 -c "
import socket, struct
GET = (b\"GET /r.git/info/refs?service=git-upload-pack HTTP/1.1\r\n\"
       b\"Host: h\r\nConnection: close\r\n\r\n\")

def connect():
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    s.settimeout(20)
    s.connect((\"127.0.0.1\", $port))
    return s

def read(s, size):
    got = b\"\"
    while more := s.recv(size):
        got += more
    return got

s = connect()
s.sendall(GET)
expected = read(s, 65536).split(b\"\r\n\r\n\", 1)[1]
assert b\"refs/heads/main\" in expected
# A client that has ended its output gets the whole answer.
s = connect()
s.sendall(GET)
s.shutdown(socket.SHUT_WR)
assert read(s, 65536).split(b\"\r\n\r\n\", 1)[1] == expected
# So does a client that sends and reads single bytes.
s = connect()
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
for byte in GET:
    s.sendall(bytes([byte]))
assert read(s, 1).split(b\"\r\n\r\n\", 1)[1] == expected
# A reset in the head, behind it, in a body, and in the answer.
POST = (b\"POST /r.git/git-upload-pack HTTP/1.1\r\nHost: h\r\n\"
        b\"Content-Type: application/x-git-upload-pack-request\r\n\"
        b\"Content-Length: 100\r\n\r\n0011\")
for text in GET[:20], GET, POST, POST[:-4]:
    for size in 0, 1:
        s = connect()
        s.sendall(text)
        if size and text == GET:
            s.recv(size)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                     struct.pack(\"ii\", 1, 0))
        s.close()
" &&
	stock ls-remote $url/r.git &&
	! grep "killed by" log
'

test_expect_success 'no descriptor is leaked by 500 requests' '
	python3 -c "
import socket
for i in range(250):
    s = socket.create_connection((\"127.0.0.1\", $port))
    s.sendall(b\"GET /r.git/HEAD HTTP/1.1\r\nHost: h\r\n\r\n\")
    s.recv(65536)
    s.sendall(b\"GET /r.git/info/refs?service=git-upload-pack HTTP/1.1\r\n\"
              b\"Host: h\r\nConnection: close\r\n\r\n\")
    while s.recv(65536):
        pass
    s.close()
" &&
	for pid in $(workers)
	do
		wait_until eval "test \$(ls /proc/$pid/fd | wc -l) -lt 16" ||
			return 1
	done
'

test_expect_success PLAIN 'a killed worker is replaced' '
	for pid in $(workers)
	do
		kill -SEGV $pid || return 1
	done &&
	stock ls-remote $url/r.git >out &&
	grep refs/heads/main out &&
	wait_until grep "killed by signal 11" log &&
	wait_until eval "test \$(workers | wc -l) = 2"
'

test_expect_success 'the server ends with 0, and says so' '
	stop &&
	tail -n 1 log >last &&
	echo "gitreachd: stopped" >expected &&
	cmp expected last
'

test_expect_success 'the time for a head counts from its first byte' '
	start --head-timeout=1 --workers=1 &&
	python3 -c "
import socket, time
def connect():
    s = socket.create_connection((\"127.0.0.1\", $port))
    s.sendall(b\"G\")
    return s
slow = connect()
others = []
start = time.time()
is_open = True
while is_open and time.time() - start < 8:
    # The slow client sends a byte after each new client has begun its head.
    others += [connect()]
    time.sleep(0.2)
    try:
        slow.sendall(b\"E\")
        slow.setblocking(False)
        is_open = slow.recv(1) != b\"\"
    except BlockingIOError:
        slow.setblocking(True)
    except ConnectionError:
        is_open = False
assert not is_open and time.time() - start < 4
" &&
	stop
'

test_expect_success 'slow heads and slow bodies are cut off' '
	start --head-timeout=1 --timeout=1 --workers=1 --threads=2 &&
	python3 -c "
import socket, time
for text in (b\"GET / HT\", b\"POST /r.git/git-upload-pack HTTP/1.1\r\n\"
             b\"Host: h\r\nContent-Length: 5\r\nContent-Type: \"
             b\"application/x-git-upload-pack-request\r\n\r\nab\"):
    s = socket.create_connection((\"127.0.0.1\", $port))
    s.settimeout(60)
    s.sendall(text)
    start = time.time()
    try:
        while s.recv(65536):
            pass
    except ConnectionError:
        pass
    assert 0.8 < time.time() - start < 50
" &&
	grep "took too long to send the head" log &&
	grep "too slow" log &&
	stop
'

test_expect_success 'SIGTERM lets running requests end' '
	start --export-all &&
	: >ok &&
	for i in 1 2 3 4 5 6
	do
		{ stock clone -q --bare $url/r.git end$i 2>err$i &&
		echo $i >>ok; } &
		clients="$clients $!"
	done &&
	: "a clone that has not connected yet would be refused" &&
	wait_until eval "test \$(cat ok | wc -l) = 6" &&
	python3 -c "
import socket, time, os
s = socket.create_connection((\"127.0.0.1\", $port))
# The first answer shows that a worker has the connection.
s.sendall(b\"GET /r.git/HEAD HTTP/1.1\r\nHost: h\r\n\r\n\")
assert s.recv(65536).startswith(b\"HTTP/1.1 200\")
s.sendall(b\"GET /r.git/HEAD HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\")
time.sleep(1)
os.kill($server, 15)
time.sleep(0.2)
s.sendall(b\"\r\n\")
assert s.recv(65536).startswith(b\"HTTP/1.1 200\")
" &&
	wait $server &&
	wait $clients &&
	test_line_count 6 ok
'

test_expect_success 'bad arguments are one clear line' '
	check () {
		expected=$1 &&
		shift &&
		test_must_fail "$DAEMON" "$@" 2>err &&
		head -n 1 err >line &&
		grep -e "$expected" line
	} &&
	check "base-path is missing" --listen=http://127.0.0.1:0 &&
	check "listen is missing" --base-path=srv &&
	check "only http://, https://, git:// and" --base-path=srv --listen=ftp://127.0.0.1:0 &&
	check "git://<address>:<port>" --base-path=srv --listen=git://h &&
	check "unknown service" --base-path=srv --enable=receivepack \
		--listen=git://127.0.0.1:0 &&
	check "not of the form" --base-path=srv --listen=http://127.0.0.1 &&
	check "not a numeric address" --base-path=srv --listen=http://h:80 &&
	check "none" --base-path=none --listen=http://127.0.0.1:0 &&
	check "workers: must be" --base-path=srv --workers=0 \
		--listen=http://127.0.0.1:0 &&
	check "unknown option" --base-path=srv --no-such &&
	start &&
	check "cannot listen on 127.0.0.1 port $port" --base-path=srv \
		--listen=$url &&
	stop
'

test_done
