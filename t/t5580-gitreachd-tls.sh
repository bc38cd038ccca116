#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='gitreachd: HTTPS'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-gitreachd.sh"

if ! command -v openssl >/dev/null
then
	skip_all='openssl is missing'
	test_done
fi

# start_tls <option>...
start_tls () {
	start_daemon --listen=https://127.0.0.1:0 --listen=http://127.0.0.1:0 \
		--tls-certificate=now.crt --tls-key=now.key "$@"
}

# logged <pattern>
logged () {
	grep -q "$1" log
}

# over <URL>: clone, fetch and push over the URL, as a user with a password
over () {
	rm -rf copy &&
	stock clone -q $1/r.git copy &&
	stock -C copy fsck --strict &&
	test "$(stock -C copy rev-parse origin/main)" = \
		"$(stock -C srv/r.git rev-parse main)" &&
	stock -C copy commit -q --allow-empty -m pushed &&
	stock -C copy push -q origin HEAD:main &&
	stock -C srv/r.git update-ref refs/heads/new main^ &&
	stock -C copy fetch -q &&
	test "$(stock -C copy rev-parse origin/new)" = \
		"$(stock -C srv/r.git rev-parse new)"
}

cat >tls.py <<'END'
import socket, ssl, sys, time

port = int(sys.argv[2])
context = ssl.create_default_context(cafile="now.crt")


def connect():
    return socket.create_connection(("127.0.0.1", port))


def wrap(sock, **more):
    return context.wrap_socket(sock, server_hostname="127.0.0.1", **more)


def head(sock):
    sock.sendall(b"HEAD /r.git/HEAD HTTP/1.1\r\nHost: h\r\n\r\n")
    return sock.recv(4096).split(b"\r\n")[0].decode()


def handshake_slowly():
    """Many clients that stop in the middle of a handshake."""
    held = [connect() for _ in range(50)]
    for sock in held:
        sock.sendall(b"\x16\x03\x01\x02")
    print(head(wrap(connect())))


def send_slowly():
    """Records of one byte, then two requests in one record."""
    sock = wrap(connect())
    for byte in b"HEAD /r.git/HEAD HTTP/1.1\r\nHost: h\r\n\r\n":
        sock.sendall(bytes([byte]))
    print(sock.recv(4096).split(b"\r\n")[0].decode())
    request = b"HEAD /r.git/HEAD HTTP/1.1\r\nHost: h\r\n\r\n"
    sock.sendall(request * 2)
    got = b""
    while got.count(b"\r\n\r\n") < 2:
        got += sock.recv(4096)
    print(got.count(b"HTTP/1.1 200"))


def post_with_next():
    """A body and a further request, together longer than a buffer."""
    sock = wrap(connect())
    body = b"0" * 20000
    sock.sendall(b"POST /r.git/git-upload-pack HTTP/1.1\r\nHost: h\r\n"
                 b"Content-Type: application/x-git-upload-pack-request\r\n"
                 b"Content-Length: %d\r\n\r\n" % len(body) + body[:8000])
    time.sleep(0.1)
    rest = body[8000:] + b"HEAD /r.git/HEAD HTTP/1.1\r\nHost: h\r\n" \
        b"Connection: close\r\n\r\n"
    sock.sendall(rest)
    got = b""
    while True:
        more = sock.recv(4096)
        if not more:
            break
        got += more
    print(got.split(b"\r\n")[0].decode())


def resume():
    """A session ticket is accepted by whichever worker answers."""
    session = None
    reused = 0
    for _ in range(8):
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        sock = wrap(connect(), session=session)
        head(sock)
        reused += sock.session_reused
        session = sock.session
        sock.close()
    print(reused)


def versions():
    for version in (ssl.TLSVersion.TLSv1_1, ssl.TLSVersion.TLSv1_2,
                    ssl.TLSVersion.TLSv1_3):
        context.minimum_version = context.maximum_version = version
        context.set_ciphers("DEFAULT:@SECLEVEL=0")
        try:
            print(wrap(connect()).version())
        except ssl.SSLError:
            print("refused")


def protocols():
    for names in (["h2", "http/1.1"], ["h2"]):
        context.set_alpn_protocols(names)
        try:
            print(wrap(connect()).selected_alpn_protocol())
        except ssl.SSLError:
            print("refused")


def load():
    """Requests on new connections until the file "stop" is there. The first
    answer makes the file "loading"."""
    import os
    context.load_verify_locations("first.crt")
    context.load_verify_locations("later.crt")
    nr = 0
    while not os.path.exists("stop"):
        if head(wrap(connect())) != "HTTP/1.1 200 OK":
            sys.exit("failed")
        nr += 1
        open("loading", "w").close()
    print(nr)


def break_off():
    """A request that ends too soon, the end of TLS, and a reset. The worker,
    sys.argv[3], is stopped meanwhile, so that it writes to a broken socket."""
    import os, signal, struct
    sock, worker = connect(), int(sys.argv[3])
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sent, got = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(got, sent, server_hostname="127.0.0.1")
    while tls.version() is None or sent.pending:
        try:
            tls.do_handshake()
        except ssl.SSLWantReadError:
            pass
        sock.sendall(sent.read())
        if tls.version() is None:
            got.write(sock.recv(65536))
    tls.write(b"POST /r.git/git-upload-pack HTTP/1.1\r\nHost: h\r\n"
              b"Content-Type: application/x-git-upload-pack-request\r\n"
              b"Content-Length: 1000\r\n\r\n0014command=ls-refs\n")
    try:
        tls.unwrap()
    except ssl.SSLWantReadError:
        pass
    os.kill(worker, signal.SIGSTOP)
    sock.sendall(sent.read())
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                    struct.pack("ii", 1, 0))
    sock.close()
    os.kill(worker, signal.SIGCONT)


globals()[sys.argv[1]]()
END

test_expect_success 'setup' '
	mkdir srv &&
	repo_criss_cross srv/r.git 200 &&
	stock -C srv/r.git config http.receivepack true &&
	: >srv/r.git/git-daemon-export-ok &&
	certify first &&
	certify later &&
	cp first.crt now.crt &&
	cp first.key now.key &&
	GIT_SSL_CAINFO=$PWD/now.crt &&
	export GIT_SSL_CAINFO &&
	unset GIT_SSL_NO_VERIFY
'

test_expect_success 'stock Git clones, pushes and fetches' '
	start_tls --head-timeout=2 &&
	over $url &&
	over $(sed -n "s/^gitreachd: listens on //p" log | sed -n 2p)
'

test_expect_success 'versions and protocols' '
	printf "%s\n" refused TLSv1.2 TLSv1.3 >expect &&
	python3 tls.py versions $port >actual &&
	test_cmp expect actual &&
	printf "%s\n" http/1.1 refused >expect &&
	python3 tls.py protocols $port >actual &&
	test_cmp expect actual &&
	logged "TLS: no application protocol"
'

test_expect_success 'all workers accept a session ticket' '
	echo 7 >expect &&
	python3 tls.py resume $port >actual &&
	test_cmp expect actual
'

test_expect_success 'short records, and several requests in a record' '
	printf "%s\n" "HTTP/1.1 200 OK" 2 >expect &&
	python3 tls.py send_slowly $port >actual &&
	test_cmp expect actual &&
	python3 tls.py post_with_next $port >actual &&
	grep "^HTTP/1.1 [24]00" actual
'

test_expect_success 'slow handshakes hold nobody, and end' '
	echo "HTTP/1.1 200 OK" >expect &&
	python3 tls.py handshake_slowly $port >actual &&
	test_cmp expect actual
'

test_expect_success 'HTTP without TLS gets status 400' '
	python3 -c "if 1:
		import socket
		s = socket.create_connection((\"127.0.0.1\", $port))
		s.sendall(b\"GET /r.git/HEAD HTTP/1.1\\r\\nHost: h\\r\\n\\r\\n\")
		print(s.recv(100).split(b\"\\r\")[0].decode())" >actual &&
	echo "HTTP/1.1 400 Bad Request" >expect &&
	test_cmp expect actual &&
	logged "the client sent HTTP without TLS to an https:// port"
'

test_expect_success 'a handshake that stops is logged' '
	python3 -c "if 1:
		import socket
		s = socket.create_connection((\"127.0.0.1\", $port))
		s.sendall(b\"\\x16\\x03\\x01\")
		print(s.recv(100))" &&
	logged "the TLS handshake took too long"
'

test_expect_success 'SIGHUP takes a new certificate, under load' '
	python3 tls.py load $port >nr &
	load=$! &&
	wait_until test -e loading &&
	cp later.crt now.crt &&
	cp later.key now.key &&
	kill -HUP $server &&
	wait_until logged "reloaded:" &&
	sleep 0.3 &&
	>stop &&
	wait $load &&
	test "$(cat nr)" -gt 0 &&
	stock ls-remote $url/r.git >out &&
	test -s out &&
	test_must_fail env GIT_SSL_CAINFO=first.crt \
		"$STOCK_GIT" ls-remote $url/r.git
'

test_expect_success 'SIGHUP with a bad certificate keeps the old one' '
	cp first.key now.key &&
	kill -HUP $server &&
	wait_until logged "old configuration stays in use: --tls-key: the key in" &&
	stock ls-remote $url/r.git >out &&
	test -s out &&
	cp later.key now.key &&
	stop_daemon
'

test_expect_success 'wrong files are one clear line' '
	openssl pkey -in first.key -aes128 -passout pass:secret \
		-out secret.key &&
	check () {
		pattern=$1 &&
		shift &&
		for what in "" --check-config
		do
			test_must_fail "$DAEMON" --base-path=srv \
				--listen=https://127.0.0.1:0 "$@" $what 2>err &&
			test_line_count 1 err &&
			grep -e "$pattern" err || return 1
		done
	} &&
	check "tls-certificate is missing" &&
	check "tls-certificate is missing" --tls-key=first.key &&
	check "tls-certificate: cannot open .none.: No such file" \
		--tls-certificate=none &&
	check "tls-certificate: .first.key. has no valid certificate" \
		--tls-certificate=first.key &&
	check "tls-certificate: .first.crt. has no valid private key" \
		--tls-certificate=first.crt &&
	check "tls-key: cannot open .none." \
		--tls-certificate=first.crt --tls-key=none &&
	check "tls-key: .secret.key. has no valid private key" \
		--tls-certificate=first.crt --tls-key=secret.key &&
	check "tls-key: the key in .later.key. does not match" \
		--tls-certificate=first.crt --tls-key=later.key &&
	printf "%s\n" "[gitreachd]" "tls-certificate = first.crt" \
		"tls-key = none" >conf &&
	check "^error: conf:3: tls-key: cannot open" --config=conf
'

test_expect_success 'one file may hold the certificate and the key' '
	cat first.crt first.key >now.crt &&
	start_daemon --listen=https://127.0.0.1:0 --tls-certificate=now.crt &&
	stock ls-remote $url/r.git >out &&
	test -s out &&
	stop_daemon
'

# The worker must not try again and again to write to a broken socket. It would do so
# for 30 seconds.
test_expect_success 'a client that ends TLS and resets its connection is dropped' '
	cp first.crt now.crt &&
	cp first.key now.key &&
	start_tls --workers=1 &&
	wait_until logged "started: " &&
	worker=$(ps -o pid= --ppid $server) &&
	sockets () {
		ls -l /proc/$(($worker))/fd | grep -c socket:
	} &&
	before=$(sockets) &&
	python3 tls.py break_off $port $worker &&
	wait_until logged "the client ended the request early" &&
	for wait in $(seq 100)
	do
		test "$(sockets)" != $before && sleep 0.1 || break
	done &&
	test "$(sockets)" = $before &&
	stop_daemon
'

test_done
