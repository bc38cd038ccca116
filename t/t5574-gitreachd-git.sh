#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='gitreachd: clients of git://, compared with stock git daemon'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-gitreachd.sh"

stock_has_decided () {
	grep -q -e "Ready to rumble" -e "^fatal: " stock.log
}

# start_stock <option>...: start the daemon of stock Git. Sets $stock_port.
start_stock () {
	for stock_port in 19418 29418 39418 49418
	do
		: >stock.log
		"$(stock --exec-path)/git-daemon" --verbose \
			--base-path="$PWD/srv" --listen=127.0.0.1 \
			--port=$stock_port --reuseaddr "$@" >stock.log 2>&1 &
		stock_server=$!
		pids="$pids $stock_server"
		wait_until stock_has_decided || return
		! grep "^fatal: " stock.log || continue
		return 0
	done
	return 1
}

stop_stock () {
	kill $stock_server
	wait $stock_server
	:
}

cat >ask.py <<\EOF
# ask.py <port> <text with escapes> [raw]: send one pkt-line (or raw bytes), end
# the output, and print the answer. An agent is replaced: it names the program.
import re, socket, sys
text = sys.argv[2].encode().decode("unicode_escape").encode("latin1")
if sys.argv[3:] != ["raw"]:
    text = b"%04x" % (len(text) + 4) + text
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
s.settimeout(20)
s.sendall(text)
s.shutdown(socket.SHUT_WR)
got = b""
try:
    while True:
        more = s.recv(65536)
        if not more:
            break
        got += more
except ConnectionError:
    pass
print(re.sub(rb"00..agent=[^\n]*\n|agent=[^ \n]*", b"", got))
EOF

# same <text> [raw]: both servers give the same answer
same () {
	python3 ask.py $stock_port "$@" >expected &&
	python3 ask.py $port "$@" >out &&
	cmp expected out || {
		echo "$1: expected $(cat expected), got $(cat out)" >&2
		return 1
	}
}

test_expect_success 'setup' '
	mkdir srv &&
	repo_criss_cross srv/r.git 20 &&
	repo_tags srv/r.git &&
	stock -C srv/r.git config uploadpack.allowFilter true &&
	stock -C srv/r.git config uploadpack.allowAnySHA1InWant true &&
	stock -C srv/r.git repack -adqb &&
	: >srv/r.git/git-daemon-export-ok &&
	stock clone -q --bare srv/r.git srv/private.git &&
	stock init -q --bare srv/open.git &&
	: >srv/open.git/git-daemon-export-ok &&
	stock -C srv/open.git config daemon.receivepack true &&
	stock -C srv/open.git config daemon.uploadarch true &&
	stock init -q --bare srv/closed.git &&
	: >srv/closed.git/git-daemon-export-ok &&
	stock -C srv/closed.git config daemon.uploadpack false &&
	start_daemon --listen=git://127.0.0.1:0 &&
	start_stock
'

test_expect_success 'clone, shallow clone, and fetch by each protocol' '
	for v in 0 1 2
	do
		stock -c protocol.version=$v clone -q --mirror $url/r.git \
			full$v &&
		stock -C full$v fsck &&
		stock -C full$v for-each-ref >refs$v &&
		stock -c protocol.version=$v clone -q --bare --depth 1 \
			$url/r.git shallow$v &&
		test "$(stock -C shallow$v rev-list --count HEAD)" = 1 &&
		stock -C shallow$v -c protocol.version=$v fetch -q \
			--unshallow &&
		stock -C shallow$v fsck || return 1
	done &&
	stock -C srv/r.git for-each-ref >expected &&
	cmp expected refs0 && cmp expected refs1 && cmp expected refs2 &&
	new=$(stock -C srv/r.git commit-tree -m new -p main main^{tree}) &&
	stock -C srv/r.git update-ref refs/heads/new $new &&
	for v in 0 1 2
	do
		stock -C full$v -c protocol.version=$v fetch -q &&
		test "$(stock -C full$v rev-parse new)" = $new || return 1
	done
'

test_expect_success 'a partial clone fetches its blobs later' '
	stock clone -q --bare --filter=blob:none $url/r.git partial &&
	stock -C partial rev-list --objects --all --missing=print >list &&
	sed -n "s/^?//p" list | head -n 1 >blob &&
	test -s blob &&
	stock -C partial cat-file blob $(cat blob) >out &&
	stock -C srv/r.git cat-file blob $(cat blob) >expected &&
	cmp expected out
'

test_expect_success 'requests and paths get the answers of stock git daemon' '
	for text in "git-upload-pack /r.git\0host=x\0" \
		"git-upload-pack /r.git\0host=x\0\0version=1\0" \
		"git-upload-pack /r.git" "git-upload-pack /r.git\n" \
		"git-upload-pack /r\0host=x\0" "git-upload-pack /r.git/\0" \
		"git-upload-pack /r.git\0host=x\0\0k=1\0version=1" \
		"git-upload-pack r.git\0" "git-upload-pack /private.git\0" \
		"git-upload-pack /none\0" "git-upload-pack /../srv/r.git\0" \
		"git-upload-pack //r.git\0" "git-upload-pack /./r.git\0" \
		"git-upload-pack ~x/r.git\0" "git-upload-pack /closed.git\0" \
		"git-receive-pack /r.git\0host=x\0" \
		"git-upload-archive /r.git\0host=x\0" \
		"git-foo /r.git\0" "upload-pack /r.git\0" \
		"git upload-pack /r.git\0" "git-upload-pack  /r.git\0" \
		"git-upload-pack\t/r.git\0" "git-upload-pack /r.git\0foo=x\0" \
		"git-upload-pack /r.git\0host=x\0host=y\0"
	do
		same "$text" || return 1
	done &&
	for text in 0000 0004 0003 zzzz 0005 "" 00 0040git
	do
		same "$text" raw || return 1
	done
'

test_expect_success 'the log names the reason, in one line' '
	grep "127.0.0.1: upload-pack: repository not exported: /private.git" \
		log &&
	grep "receive-pack: service not enabled: /r.git" log &&
	grep "no such repository: .*aliased" log &&
	grep "127.0.0.1: invalid request: unknown service" log
'

test_expect_success 'push, delete, and a hook, if a repository allows it' '
	stock clone -q $url/r.git work &&
	test_must_fail stock -C work push $url/r.git HEAD:refs/heads/x 2>err &&
	grep "access denied or repository not exported: /r.git" err &&
	printf "#!/bin/sh\necho hook of \$REMOTE_ADDR; cat >/dev/null\n" \
		>srv/open.git/hooks/pre-receive &&
	chmod +x srv/open.git/hooks/pre-receive &&
	stock -C work push $url/open.git HEAD:refs/heads/main 2>err &&
	grep "hook of 127.0.0.1" err &&
	test "$(stock -C srv/open.git rev-parse main)" = \
		"$(stock -C work rev-parse HEAD)" &&
	head -c 3000000 /dev/urandom >work/big &&
	stock -C work add big &&
	stock -C work commit -q -m big &&
	stock -C work push -q $url/open.git HEAD:big &&
	stock -C srv/open.git fsck &&
	stock -C work push -q $url/open.git :big &&
	test_must_fail stock -C srv/open.git rev-parse -q --verify big
'

test_expect_success 'an archive, if a repository allows it' '
	stock archive --remote=$url/open.git main >out &&
	stock -C srv/open.git archive main >expected &&
	cmp expected out &&
	test_must_fail stock archive --remote=$url/r.git main
'

test_expect_success 'a push that stops in the middle ends by the time limit' '
	stop_daemon &&
	start_daemon --listen=git://127.0.0.1:0 --timeout=1 --head-timeout=1 &&
	python3 -c "
import socket, time
for text in (b\"0021git-receive-pack /open.git\\0h\"[:20],
             b\"002bgit-receive-pack /open.git\\0host=h.exam\\0\",
             b\"002agit-upload-pack /open.git\\0host=h.exam\\0\"):
    s = socket.create_connection((\"127.0.0.1\", $port))
    s.settimeout(20)
    s.sendall(text)
    start = time.time()
    try:
        while s.recv(65536):
            pass
    except ConnectionError:
        pass
    assert 0.8 < time.time() - start < 60, time.time() - start
" &&
	grep "took too long to send the head" log &&
	grep -c "the client is too slow" log >count &&
	test "$(cat count)" = 2 &&
	stop_daemon
'

test_expect_success 'more connections than allowed get an error' '
	start_daemon --listen=git://127.0.0.1:0 --max-connections=1 \
		--workers=1 &&
	python3 -c "
import socket
a = socket.create_connection((\"127.0.0.1\", $port))
a.sendall(b\"002\")
b = socket.create_connection((\"127.0.0.1\", $port))
b.settimeout(20)
assert b.recv(99) == b\"001cERR too many connections\"
" &&
	stop_daemon
'

test_expect_success 'options change what is offered, as in git daemon' '
	stop_stock &&
	set -- --export-all --enable=receive-pack --disable=upload-pack \
		--forbid-override=upload-pack --forbid-override=upload-archive \
		--allow-override=receive-pack --informative-errors &&
	stock -C srv/closed.git config daemon.receivepack false &&
	start_daemon --listen=git://127.0.0.1:0 "$@" &&
	start_stock "$@" &&
	for text in "git-receive-pack /private.git\0host=x\0" \
		"git-upload-pack /private.git\0" "git-upload-pack /none\0" \
		"git-upload-archive /open.git\0" "git-upload-pack /../x\0" \
		"git-receive-pack /closed.git\0"
	do
		same "$text" || return 1
	done &&
	stop_stock &&
	stop_daemon &&
	start_daemon --listen=git://127.0.0.1:0 --informative-errors &&
	start_stock --informative-errors &&
	same "git-upload-pack /private.git\0" &&
	stop_stock &&
	stop_daemon
'

test_expect_success '--strict-paths takes paths as they are' '
	start_daemon --listen=git://127.0.0.1:0 --strict-paths &&
	stock ls-remote $url/r.git >out &&
	test -s out &&
	test_must_fail stock ls-remote $url/r &&
	stop_daemon
'

test_expect_success 'a hook that makes packs runs in a child process' '
	printf "#!/bin/sh\necho ran >>\"%s/ran\"; exec \"\$@\"\n" "$PWD" \
		>hook &&
	chmod +x hook &&
	git config --global uploadpack.packObjectsHook "\"$PWD/hook\"" &&
	start_daemon --listen=git://127.0.0.1:0 &&
	stock clone -q --bare $url/r.git hooked &&
	stock -C hooked fsck &&
	test -s ran &&
	git config --global --unset uploadpack.packObjectsHook &&
	stop_daemon
'

# crash [<command>]: the next request for crash.git aborts its process. The
# command must fail.
crash () {
	: >once &&
	test_must_fail "$@" 2>>errors &&
	test ! -e once
}

# crashes <nr>: wait until the log has so many crashes of workers
crashes () {
	wait_until eval "test \"\$(grep -c \"killed by signal 6\" log)\" = $1"
}

test_expect_success PLAIN 'a repository whose requests crash is found, and refused' '
	stock clone -q --bare srv/r.git srv/crash.git &&
	LD_PRELOAD=$GITREACH_BUILD/t/helper/preload-meanwhile.so \
		MEANWHILE=false MEANWHILE_AT="*/crash.git/objects*" \
		MEANWHILE_ONCE=$PWD/once start_daemon --export-all \
		--informative-errors \
		--listen=git://127.0.0.1:0 --listen=http://127.0.0.1:0 &&
	wait_until grep "listens on http" log &&
	http=$(sed -n "s/.*listens on http/http/p" log) &&
	crash stock clone -q --bare $url/crash.git crashed &&
	wait_until grep "during a request for ./crash.git. (crash 1)" log &&
	crashes 1 &&
	: "crashes of all transports count; see t5573 for v0" &&
	crash stock -c protocol.version=0 clone -q --bare $http/crash.git \
		crashed &&
	wait_until grep "during a request for ./crash.git. (crash 2)" log &&
	: "children answer now, and a crash of a child harms no worker" &&
	stock clone -q --bare $url/crash.git crashed &&
	rm -rf crashed &&
	crash stock clone -q --bare $url/crash.git crashed &&
	crashes 2 &&
	test_must_fail stock ls-remote $url/crash.git 2>err &&
	grep "remote error: requests for the repository are refused because .*: /crash.git" err &&
	grep "upload-pack: .*: requests for ./crash.git. are refused" log &&
	test_must_fail stock ls-remote $http/crash.git 2>err &&
	grep "error: 503" err &&
	stock ls-remote $url/r.git &&
	stop_daemon
'

test_expect_success PLAIN 'so is one that crashes workers when it is opened' '
	LD_PRELOAD=$GITREACH_BUILD/t/helper/preload-meanwhile.so \
		MEANWHILE=false MEANWHILE_AT="*/crash.git/config" \
		MEANWHILE_ONCE=$PWD/once start_daemon --export-all \
		--listen=git://127.0.0.1:0 &&
	for i in 1 2 3
	do
		crash stock ls-remote $url/crash.git &&
		crashes $i || return
	done &&
	test_must_fail stock ls-remote $url/crash.git &&
	wait_until grep "are refused because earlier ones crashed" log &&
	crashes 3 &&
	stock ls-remote $url/r.git &&
	stop_daemon
'

test_expect_success 'one server speaks http and git' '
	start_daemon --listen=git://127.0.0.1:0 --listen=http://127.0.0.1:0 &&
	wait_until grep "listens on http" log &&
	http=$(sed -n "s/.*listens on http/http/p" log) &&
	stock ls-remote $url/r.git >expected &&
	stock ls-remote $http/r.git >out &&
	cmp expected out &&
	stop_daemon
'

test_done
