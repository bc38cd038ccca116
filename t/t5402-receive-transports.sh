#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='our receive-pack started by git daemon, ssh and http-backend'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"

if ! test_have_prereq GIT
then
	skip_all='git was not built'
	test_done
fi

# Servers of stock Git that find our commands.
EXEC=$GITREACH_BUILD/exec
pids=
trap 'for pid in $pids; do kill $pid; done 2>/dev/null' EXIT

test_expect_success 'setup' '
	mkdir srv &&
	repo_criss_cross client.git 40 &&
	repo_tags client.git &&
	repo_init srv/server.git &&
	stock -C srv/server.git config http.receivepack true &&
	stock -C srv/server.git config receive.advertisePushOptions true &&
	stock -C srv/server.git config receive.denyDeleteCurrent ignore &&
	touch srv/server.git/git-daemon-export-ok
'

# test_transport <name> <url>
test_transport () {
	name=$1 url=$2
	for v in 0 1 2
	do
		test_expect_success "$name: v$v" '
			stock_client -v$v -C client.git push -q "$url" \
				main~5:refs/heads/main &&
			test_served_by_us &&
			stock_client -v$v -C client.git push -q --mirror \
				--atomic -o x=y "$url" &&
			test_served_by_us &&
			test_same_repo srv/server.git client.git &&
			test_must_fail stock_client -v$v -C client.git push \
				-q "$url" main~3:main &&
			stock_client -v$v -C client.git push -q --prune \
				"$url" "refs/none/*:refs/*" &&
			stock -C srv/server.git for-each-ref >refs &&
			test_cmp /dev/null refs &&
			find srv -name "tmp_*" >left &&
			test_cmp /dev/null left
		'
	done
}

# ---- git daemon

free_port () {
	python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

test_expect_success 'start git daemon' '
	port=$(free_port) &&
	{
		GIT_EXEC_PATH=$EXEC "$EXEC/git-daemon" --listen=127.0.0.1 \
			--enable=receive-pack \
			--port=$port --base-path="$PWD/srv" --reuseaddr \
			"$PWD/srv" 2>daemon.log &
		pids="$pids $!"
	} &&
	for i in 1 2 3 4 5 6 7 8 9 10
	do
		stock ls-remote git://127.0.0.1:$port/server.git >/dev/null \
			2>&1 && break
		sleep 0.3
	done
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
	for i in 1 2 3 4 5 6 7 8 9 10
	do
		test -e port.$1 && break
		sleep 0.3
	done &&
	test -e port.$1
}

test_expect_success 'start a web server with git http-backend of stock Git' '
	start_web stock "$(stock --exec-path)/git-http-backend"
'
test_transport 'http' "http://127.0.0.1:$(cat port.stock)/server.git"

test_expect_success 'start a web server with our git http-backend' '
	start_web ours "$EXEC/git-http-backend"
'
test_transport 'our http' "http://127.0.0.1:$(cat port.ours)/server.git"

test_done
