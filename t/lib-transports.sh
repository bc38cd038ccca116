# SPDX-License-Identifier: MIT
#
# Sourced after lib-serve.sh by tests of all transports. The test first defines
#
#	test_transport <name> <url>
#
# which is called once for each transport, with the URL of srv/server.git. Servers
# are those of stock Git, which start our commands, our own http-backend, and
# gitreachd. They listen on 127.0.0.1, and are ended by their process ids.
# $DAEMON_OPTIONS are options of git daemon and of gitreachd. If the client itself
# starts the server, the programs in $LOCAL_SERVERS are used.

. "$GITREACH_SRC/t/lib-gitreachd.sh"

EXEC=$GITREACH_BUILD/exec

# ---- local: a directory where git-upload-pack and git-receive-pack are ours

test_expect_success 'servers of our own' '
	mkdir local &&
	ln -s "$STOCK_GIT" local/git &&
	for name in git-upload-pack git-receive-pack
	do
		ln -s "$GITREACH_BUILD/bin/$name" local || return
	done
'
LOCAL_SERVERS=$PWD/local
test_transport 'local' "file://$PWD/srv/server.git"
LOCAL_SERVERS=

# ---- git daemon

# free_ports <nr>: print <nr> different free ports.
free_ports () {
	python3 -c 'import socket, sys
held = [socket.socket() for _ in range(int(sys.argv[1]))]
for s in held:
    s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in held))' "$1"
}

# answers <url>
answers () {
	stock ls-remote "$1/server.git" >/dev/null 2>&1
}

test_expect_success 'start git daemon' '
	port=$(free_ports 1) &&
	{
		GIT_EXEC_PATH=$EXEC "$EXEC/git-daemon" --listen=127.0.0.1 \
			${DAEMON_OPTIONS-} \
			--port=$port --base-path="$PWD/srv" --reuseaddr \
			"$PWD/srv" 2>daemon.log &
		pids="$pids $!"
	} &&
	wait_until answers git://127.0.0.1:$port
'
test_transport 'git daemon' "git://127.0.0.1:$port/server.git"

# ---- ssh: a script that runs the command where the other end would

test_expect_success 'an ssh of our own' '
	cat >ssh <<-\EOC &&
	#!/bin/sh
	while test $# -gt 2
	do
		case "$1" in
		-o) shift 2 ;;
		-*) shift ;;
		*) break ;;
		esac
	done
	unset GIT_DIR GIT_COMMON_DIR # an ssh passes on neither
	PATH=$GITREACH_BUILD/bin:$PATH exec sh -c "$2"
	EOC
	chmod +x ssh &&
	export GIT_SSH="$PWD/ssh" GIT_SSH_VARIANT=ssh
'
test_transport 'ssh' "ssh://host$PWD/srv/server.git"

# ---- http-backend, of stock Git and ours

# start_web <name> <http-backend>: writes the port to port.<name>.
start_web () {
	{
		GIT_EXEC_PATH=$EXEC GIT_PROJECT_ROOT=$PWD/srv \
		GIT_HTTP_EXPORT_ALL=1 \
			python3 "$GITREACH_SRC/t/cgi-server.py" port.$1 "$2" \
			2>web.log &
		pids="$pids $!"
	} &&
	wait_until test -e port.$1
}

test_expect_success 'start a web server with git http-backend of stock Git' '
	start_web stock "$(stock --exec-path)/git-http-backend"
'
test_transport 'http' "http://127.0.0.1:$(cat port.stock)/server.git"

test_expect_success 'start a web server with our git http-backend' '
	start_web ours "$EXEC/git-http-backend"
'
test_transport 'our http' "http://127.0.0.1:$(cat port.ours)/server.git"

# ---- nginx, which runs our http-backend by fcgiwrap, where both are there

# Programs of the system are often not in a user's PATH.
find_server () {
	PATH=$STOCK_PATH:/usr/sbin:/sbin command -v "$1"
}

write_nginx_conf () {
	if test "$(id -u)" = 0
	then
		echo 'user root;'
	fi &&
	cat <<-EOC
	daemon off;
	worker_processes 1;
	pid nginx.pid;
	error_log nginx.log;
	events {}
	http {
		access_log off;
		client_body_temp_path body;
		fastcgi_temp_path fastcgi;
		proxy_temp_path proxy;
		scgi_temp_path scgi;
		uwsgi_temp_path uwsgi;
		client_max_body_size 0;
		server {
			listen 127.0.0.1:$1;
			location / {
				fastcgi_pass 127.0.0.1:$2;
				fastcgi_param SCRIPT_FILENAME \
					"$EXEC/git-http-backend";
				fastcgi_param GIT_EXEC_PATH "$EXEC";
				fastcgi_param GIT_PROJECT_ROOT "$PWD/srv";
				fastcgi_param GIT_HTTP_EXPORT_ALL 1;
				fastcgi_param HOME "$HOME";
				fastcgi_param PATH_INFO \$uri;
				fastcgi_param QUERY_STRING \$query_string;
				fastcgi_param REQUEST_METHOD \$request_method;
				fastcgi_param CONTENT_TYPE \$content_type;
				fastcgi_param CONTENT_LENGTH \$content_length;
				fastcgi_param SERVER_PROTOCOL \
					\$server_protocol;
				fastcgi_param REMOTE_ADDR \$remote_addr;
			}
		}
	}
	EOC
}

nginx=$(find_server nginx) fcgiwrap=$(find_server fcgiwrap) nginx_port=0
test -n "$nginx" && test -n "$fcgiwrap" && test_set_prereq NGINX

test_expect_success NGINX 'start nginx with our git http-backend' '
	ports=$(free_ports 2) &&
	nginx_port=${ports% *} cgi_port=${ports#* } &&
	mkdir -p nginx &&
	write_nginx_conf $nginx_port $cgi_port >nginx/nginx.conf &&
	{
		"$fcgiwrap" -s tcp:127.0.0.1:$cgi_port 2>cgi.log &
		pids="$pids $!"
		"$nginx" -p "$PWD/nginx/" -c nginx.conf 2>nginx.log &
		pids="$pids $!"
	} &&
	if ! wait_until answers http://127.0.0.1:$nginx_port
	then
		cat nginx.log cgi.log && return 1
	fi
'
if test_have_prereq NGINX
then
	test_transport 'nginx' "http://127.0.0.1:$nginx_port/server.git"
fi

# ---- gitreachd

test_gitreachd ${DAEMON_OPTIONS-}
