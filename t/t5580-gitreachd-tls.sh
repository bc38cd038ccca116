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
import ctypes, socket, ssl, sys, time

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


def ticks():
    """The CPU time of the worker, sys.argv[3], in hundredths of a second."""
    with open("/proc/%s/stat" % sys.argv[3]) as f:
        return sum(map(int, f.read().split(") ")[1].split()[11:13]))


def expand(secret, label, size):
    """HKDF-Expand-Label of RFC 8446, for at most 48 bytes."""
    import hashlib, hmac
    label = b"tls13 " + label
    info = bytes([0, size, len(label)]) + label + bytes([0, 1])
    return hmac.new(secret, info, hashlib.sha384).digest()[:size]


def seal(secret, nr, plain):
    """Record number nr of TLS 1.3 with AES-256-GCM."""
    lib, made = ctypes.CDLL("libcrypto.so.3"), ctypes.c_int()
    lib.EVP_CIPHER_CTX_new.restype = ctypes.c_void_p
    lib.EVP_aes_256_gcm.restype = ctypes.c_void_p
    cipher = ctypes.c_void_p(lib.EVP_CIPHER_CTX_new())
    body, tag = (ctypes.create_string_buffer(64) for _ in range(2))
    head = b"\x17\x03\x03" + (len(plain) + 16).to_bytes(2, "big")
    iv = int.from_bytes(expand(secret, b"iv", 12), "big") ^ nr
    lib.EVP_EncryptInit_ex(cipher, ctypes.c_void_p(lib.EVP_aes_256_gcm()),
                           None, expand(secret, b"key", 32),
                           iv.to_bytes(12, "big"))
    lib.EVP_EncryptUpdate(cipher, None, ctypes.byref(made), head, len(head))
    lib.EVP_EncryptUpdate(cipher, body, ctypes.byref(made), plain, len(plain))
    lib.EVP_EncryptFinal_ex(cipher, tag, ctypes.byref(made))
    get_tag = 16
    lib.EVP_CIPHER_CTX_ctrl(cipher, get_tag, 16, tag)
    return head + body.raw[:len(plain)] + tag.raw[:16]


def part_of_message():
    """A request that ends too soon, and a part of a KeyUpdate message. Prints
    whether the worker is idle until it closes the connection."""
    context.keylog_filename = "secrets"
    tls = wrap(connect())
    if tls.cipher()[0] != "TLS_AES_256_GCM_SHA384":
        sys.exit("another cipher: %s" % tls.cipher()[0])
    tls.sendall(b"POST /r.git/git-upload-pack HTTP/1.1\r\nHost: h\r\n"
                b"Content-Type: application/x-git-upload-pack-request\r\n"
                b"Content-Length: 1000\r\n\r\n0014command=ls-refs\n")
    secret = [line.split()[2] for line in open("secrets")
              if line.startswith("CLIENT_TRAFFIC_SECRET_0")][0]
    before = ticks()
    with socket.socket(fileno=tls.detach()) as sock:
        sock.sendall(seal(bytes.fromhex(secret), 1, b"\x18\0\0\1\x16"))
        while sock.recv(65536):
            pass
    print("idle" if ticks() - before < 20 else "busy")


def update_keys():
    """Asks for new keys until the worker cannot answer, because this client
    reads nothing. Prints whether the worker is then idle. A small segment size
    (TCP_MAXSEG) keeps the buffers of the sockets small."""
    lib = ctypes.CDLL("libssl.so.3")
    for name in ("TLS_client_method", "SSL_CTX_new", "SSL_new"):
        getattr(lib, name).restype = ctypes.c_void_p
    made = ctypes.c_void_p(lib.SSL_CTX_new(
        ctypes.c_void_p(lib.TLS_client_method())))
    tls, sock = ctypes.c_void_p(lib.SSL_new(made)), socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
    sock.connect(("127.0.0.1", port))
    lib.SSL_set_fd(tls, sock.fileno())
    if lib.SSL_connect(tls) != 1:
        sys.exit("no handshake")
    sock.setblocking(False)
    full = 0
    while full < 20:
        lib.SSL_key_update(tls, 1)
        full = 0
        while lib.SSL_do_handshake(tls) != 1 and full < 20:
            time.sleep(0.05)
            full += 1
    before = ticks()
    time.sleep(2)
    print("idle" if ticks() - before < 20 else "busy")


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

# The worker must not try again and again to write, until the time limit.
test_expect_success 'a client that sends a part of a TLS message costs no CPU' '
	start_tls --workers=1 --timeout=2 &&
	wait_until logged "started: " &&
	echo idle >expect &&
	python3 tls.py part_of_message $port $(ps -o pid= --ppid $server) >actual &&
	test_cmp expect actual &&
	stop_daemon
'

# The worker must not try again and again to read: TLS has to answer first.
test_expect_success 'a client that updates keys and reads nothing costs no CPU' '
	start_tls --workers=1 &&
	wait_until logged "started: " &&
	echo idle >expect &&
	python3 tls.py update_keys $port $(ps -o pid= --ppid $server) >actual &&
	test_cmp expect actual &&
	stop_daemon
'

test_done
