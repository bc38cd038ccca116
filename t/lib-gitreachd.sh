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

# stop_daemon: end the server, which must end with 0.
stop_daemon () {
	kill $server && wait $server
}
