# SPDX-License-Identifier: MIT
#
# Sourced after lib.sh by tests whose clients download files from a web server.

pids=${pids-}
trap 'for pid in $pids; do kill $pid; done 2>/dev/null' EXIT

# start_web <directory>: serve its files on 127.0.0.1. Sets $web, the process, and
# $port. The requests are in the file "web.log".
start_web () {
	rm -f web.port &&
	cat >web.py <<-\EOF &&
	import http.server
	import os
	import sys
	os.chdir(sys.argv[1])
	server = http.server.ThreadingHTTPServer(
	    ("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
	with open("../web.port.new", "w") as port:
	    port.write(str(server.server_address[1]))
	os.rename("../web.port.new", "../web.port")
	server.serve_forever()
	EOF
	{
		python3 web.py "$1" 2>>web.log &
		web=$!
	} &&
	pids="$pids $web" &&
	wait_until test -e web.port &&
	port=$(cat web.port)
}
