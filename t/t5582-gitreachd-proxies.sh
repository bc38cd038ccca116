#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='gitreachd behind nginx, Caddy and Apache, with the files of
contrib/'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-gitreachd.sh"

# find_server <name>: programs of the system are often not in a user's PATH.
find_server () {
	PATH=$STOCK_PATH:/usr/sbin:/sbin command -v "$1"
}

nginx=$(find_server nginx) && test_set_prereq NGINX
caddy=$(find_server caddy) && test_set_prereq CADDY
apache=$(find_server apache2) && test -d /usr/lib/apache2/modules &&
	test_set_prereq APACHE

test_expect_success 'setup' '
	mkdir srv &&
	repo_criss_cross srv/r.git 20 &&
	stock -C srv/r.git repack -adqb &&
	printf "alice:%s\n" "$(openssl passwd -apr1 secret)" >htpasswd &&
	printf "#!/bin/sh\ncat >/dev/null\necho hello \$REMOTE_USER\n%s\n" \
		"until test -e \"$PWD/go\"; do sleep 0.05; done" \
		>srv/r.git/hooks/pre-receive &&
	chmod +x srv/r.git/hooks/pre-receive &&
	start_daemon --export-all --listen=http://127.0.0.1:0 \
		--user-header=X-Remote-User --trusted-proxy=127.0.0.1
'

# adapt <file> <option of sed>...: the file of contrib/, with the port of the
# server and a free port for the proxy. Sets $front.
adapt () {
	front=$(python3 -c "import socket
with socket.socket() as s:
    s.bind((\"127.0.0.1\", 0))
    print(s.getsockname()[1])") &&
	adapted=$GITREACH_SRC/contrib/$1 &&
	shift &&
	sed -e "s/127.0.0.1:8080/127.0.0.1:$port/" "$@" "$adapted"
}

# refuses <status>: the proxy answers a request without a user
refuses () {
	test "$(curl -s -o body -w "%{http_code}" "http://127.0.0.1:$front/")" \
		= $1
}

# check_proxy <name>: clients of stock Git get all through the proxy
check_proxy () {
	wait_until refuses 401 &&
	remote=http://alice:secret@127.0.0.1:$front/r.git &&
	test_must_fail stock ls-remote http://alice:x@127.0.0.1:$front/r.git &&
	rm -rf $1 go &&
	stock clone -q --bare $remote $1 &&
	stock -C $1 fsck &&
	GIT_TRACE_PACKET="$PWD/packets.$1" stock ls-remote $remote &&
	grep "< version 2" packets.$1 &&
	: "a push of megabytes, in chunks; the hook speaks before it ends" &&
	head -c 3000000 /dev/urandom >big &&
	blob=$(stock -C $1 hash-object -w --stdin <big) &&
	tree=$(printf "100644 blob %s\tbig\n" $blob | stock -C $1 mktree) &&
	stock -C $1 update-ref refs/heads/$1 \
		$(stock -C $1 commit-tree -m big -p main $tree) &&
	{ stock -C $1 -c http.postBuffer=65536 push $remote $1 2>push.$1 & } &&
	push=$! &&
	wait_until grep "hello alice" push.$1 &&
	test_must_fail stock -C srv/r.git rev-parse -q --verify $1 &&
	: >go &&
	wait $push &&
	test "$(stock -C srv/r.git rev-parse $1)" = \
		"$(stock -C $1 rev-parse $1)" &&
	: "a field of the client does not count" &&
	stock -C $1 -c http.extraHeader="X-Remote-User: root" \
		push $remote :$1 2>push.$1 &&
	grep "hello alice" push.$1
}

test_expect_success NGINX 'nginx' '
	mkdir -p ng &&
	{
		test "$(id -u)" != 0 || echo "user root;"
		cat <<-EOC &&
		daemon off;
		worker_processes 1;
		pid nginx.pid;
		error_log nginx.log;
		events {}
		http {
			access_log off;
			client_body_temp_path body;
			proxy_temp_path proxy;
			fastcgi_temp_path fastcgi;
			uwsgi_temp_path uwsgi;
			scgi_temp_path scgi;
			include "$PWD/ng/gitreachd.conf";
		}
		EOC
		:
	} >ng/conf &&
	adapt nginx/gitreachd.conf >ng/adapted &&
	sed -e "s/listen 80;/listen 127.0.0.1:$front;/" \
		-e "s|/etc/nginx/git.htpasswd|\"$PWD/htpasswd\"|" \
		ng/adapted >ng/gitreachd.conf &&
	{ "$nginx" -p "$PWD/ng/" -c conf 2>ng.log & } &&
	pids="$pids $!" &&
	check_proxy nginx
'

test_expect_success CADDY 'Caddy' '
	adapt caddy/Caddyfile >caddy.adapted &&
	hash=$("$caddy" hash-password --plaintext secret) &&
	{
		printf "{\n\tadmin off\n\tauto_https off\n}\n" &&
		sed -e "s|^git.example.com|http://127.0.0.1:$front|" \
			-e "s|HASH|$hash|" caddy.adapted
	} >Caddyfile &&
	{
		XDG_DATA_HOME=$PWD/caddy.data XDG_CONFIG_HOME=$PWD/caddy.conf \
			"$caddy" run --config Caddyfile --adapter caddyfile \
			2>caddy.log &
	} &&
	pids="$pids $!" &&
	check_proxy caddy
'

test_expect_success APACHE 'Apache' '
	mkdir -p ap &&
	adapt apache/gitreachd.conf >ap/adapted &&
	{
		cat <<-EOC &&
		ServerName localhost
		Listen 127.0.0.1:$front
		PidFile "$PWD/ap/pid"
		ErrorLog "$PWD/ap/log"
		Mutex "file:$PWD/ap"
		EOC
		for module in mpm_event authn_core authn_file authz_core \
			authz_user auth_basic proxy proxy_http headers env \
			reqtimeout
		do
			echo "LoadModule ${module}_module /usr/lib/apache2/modules/mod_$module.so"
		done &&
		sed -e "s/\*:80/127.0.0.1:$front/" \
			-e "s|/etc/apache2/git.htpasswd|\"$PWD/htpasswd\"|" \
			ap/adapted
	} >ap/conf &&
	{ "$apache" -DFOREGROUND -f "$PWD/ap/conf" 2>ap/err & } &&
	pids="$pids $!" &&
	check_proxy apache
'

test_expect_success 'the server ends' '
	stop_daemon
'

test_done
