# SPDX-License-Identifier: MIT
#
# Sourced by the tests of the server gitreachd, after lib.sh.

DAEMON=$GITREACH_BUILD/bin/gitreachd
pids=
trap 'for pid in $pids; do kill $pid; done 2>/dev/null' EXIT

# start_daemon <option>...: start the server for the directory "srv". Sets
# $server; the log is in the file "log". $url is the URL of the first listening
# socket, and $port its port. $served_from replaces the option --base-path. The server gets
# no descriptor of the script. If the script ends early, prove would otherwise wait
# for the server.
start_daemon () {
	: >log
	"$DAEMON" ${served_from---base-path=srv} "$@" >/dev/null 2>log \
		3>&- 4>&- 5>&- 6>&- 7>&- &
	server=$!
	pids="$pids $server"
	wait_until grep -q "^gitreachd: listens on " log || {
		cat log >&2
		return 1
	}
	url=$(sed -n "s/^gitreachd: listens on //p" log | head -n 1)
	port=${url##*:}
}

# certify <name>: make <name>.crt and <name>.key for 127.0.0.1
certify () {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 \
		-nodes -keyout $1.key -out $1.crt -days 2 -subj /CN=$1 \
		-addext subjectAltName=IP:127.0.0.1 2>openssl.log
}

# stop_daemon: end the server, which must end with 0.
stop_daemon () {
	kill $server && wait $server
}

# ssh_program <file> <socket>: write the program that Git runs in place of ssh. It runs
# the forced command where the other end would.
ssh_program () {
	cat >"$1" <<-EOF &&
	#!/bin/sh
	while test \$# -gt 2
	do
		shift
	done
	SSH_ORIGINAL_COMMAND=\$2 exec "$DAEMON" --ssh-client="$2"
	EOF
	chmod +x "$1"
}

# test_gitreachd <option>...: start the server with a listener of each kind, and call
# test_transport <name> <url> for each, with the URL of srv/server.git. Over ssh, a
# script runs the command where the other end would.
test_gitreachd () {
	gitreachd_options=$*
	test_expect_success 'start gitreachd' '
		sockets=$(mktemp -d /tmp/gitreachd.XXXXXX) &&
		trap "for pid in \$pids; do kill \$pid; done 2>/dev/null
			rm -rf \"$sockets\"" EXIT &&
		set -- --listen=http://127.0.0.1:0 \
			--listen=git://127.0.0.1:0 --listen="unix:$sockets/ssh" &&
		if command -v openssl >/dev/null
		then
			certify tls &&
			stock config --global http.sslCAInfo "$PWD/tls.crt" &&
			set -- "$@" --listen=https://127.0.0.1:0 \
				--tls-certificate=tls.crt --tls-key=tls.key
		fi &&
		start_daemon $gitreachd_options "$@" &&
		wait_until grep "started: " log &&
		sed -n "s/^gitreachd: listens on //p" log >listeners &&
		ssh_program ssh-gitreachd "$sockets/ssh"
	'
	test_transport 'gitreachd, http' "$(grep ^http: listeners)/server.git"
	! https=$(grep ^https: listeners) ||
		test_transport 'gitreachd, https' "$https/server.git"
	test_transport 'gitreachd, git' "$(grep ^git: listeners)/server.git"
	ssh_before=${GIT_SSH-}
	GIT_SSH=$PWD/ssh-gitreachd GIT_SSH_VARIANT=ssh
	export GIT_SSH GIT_SSH_VARIANT
	test_transport 'gitreachd, ssh' "ssh://host/server.git"
	GIT_SSH=$ssh_before
}
