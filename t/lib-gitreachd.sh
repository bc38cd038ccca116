# SPDX-License-Identifier: MIT
#
# Sourced by the tests of the server gitreachd, after lib.sh.

DAEMON=$GITREACH_BUILD/bin/gitreachd
pids=
trap 'for pid in $pids; do kill $pid; done 2>/dev/null' EXIT

# start_daemon <option>...: start the server for the directory "srv". Sets
# $server; the log is in the file "log". $url is the URL of the first listening
# socket, and $port its port.
start_daemon () {
	: >log
	"$DAEMON" --base-path=srv "$@" 2>log &
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
