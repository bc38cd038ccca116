#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='gitreachd --admin: the status page, JSON and metrics'
. "$(dirname "$0")/lib.sh"

DAEMON=$GITREACH_BUILD/bin/gitreachd
client=
servers=
trap 'kill $servers $client 2>/dev/null' EXIT
command -v promtool >/dev/null && test_set_prereq PROMTOOL

# start <option>...: start a server, and set $url and $admin
start () {
	: >log
	"$DAEMON" --base-path=srv --export-all --workers=2 --threads=2 \
		--listen=http://127.0.0.1:0 --listen=git://127.0.0.1:0 \
		--admin=http://127.0.0.1:0 --slow-request=1 "$@" 2>log &
	server=$!
	servers="$servers $server"
	wait_until grep "started" log &&
	url=$(sed -n "s/^gitreachd: listens on //p" log | sed -n 1p) &&
	git=$(sed -n "s/^gitreachd: listens on //p" log | sed -n 2p) &&
	admin=$(sed -n "s/^gitreachd: listens on \(.*\) (status)$/\1/p" log)
}

stop () {
	kill $server && wait $server
}

# get <path> <curl option>...
get () {
	path=$1 &&
	shift &&
	curl -s -S --max-time 60 "$@" "$admin$path"
}

# metric <start of a line>: the number of the line
metric () {
	get /metrics >metrics &&
	awk -v want="$1" 'index($0, want) == 1 { print $NF }' metrics
}

# metric_is <start of a line> <number>
metric_is () {
	test "$(metric "$1")" = "$2"
}

test_expect_success 'set up' '
	mkdir srv &&
	repo_linear srv/r.git 20 &&
	"$GIT" -C srv/r.git repack -adbq &&
	stock -C srv/r.git config http.receivepack true &&
	start
'

test_expect_success 'requests are counted' '
	stock clone -q --bare --no-local $url/r.git c.git &&
	stock -C c.git push -q origin main:refs/heads/new &&
	wait_until metric_is "gitreach_requests_total{service=\"receive-pack\",command=\"push\"" 1 &&
	get /metrics >metrics &&
	grep "^gitreach_requests_total{service=\"upload-pack\",command=\"fetch\",protocol=\"2\",strategy=\"[a-z ]*\",result=\"ok\"} 1$" \
		metrics &&
	grep "^gitreach_requests_total{service=\"upload-pack\",command=\"ls-refs\"" metrics &&
	grep "^gitreach_requests_total{service=\"receive-pack\",command=\"advertise\"" metrics &&
	grep "^gitreach_phase_seconds_count{phase=\"pack\"} 1$" metrics &&
	grep "^gitreach_workers 3$" metrics &&
	version=$("$DAEMON" --version | sed "s/.* //") &&
	grep -F -x "gitreach_build_info{version=\"$version\"} 1" metrics &&
	grep "^gitreach_snapshots_open [12]$" metrics &&
	! grep "r.git" metrics
'

test_expect_success 'a fetch over git:// is counted' '
	stock clone -q --bare --no-local $git/r.git g.git &&
	wait_until metric_is "gitreach_phase_seconds_count{phase=\"pack\"}" 2
'

test_expect_success 'the format depends on Accept' '
	get /metrics -D head >metrics &&
	grep -i "^content-type: text/plain; version=0.0.4" head &&
	! grep "# EOF" metrics &&
	get /metrics -D head -H "Accept: application/openmetrics-text; version=1.0.0" >metrics &&
	grep -i "^content-type: application/openmetrics-text; version=1.0.0" head &&
	test "$(tail -n 1 metrics)" = "# EOF"
'

test_expect_success PROMTOOL 'promtool accepts the metrics' '
	get /metrics | promtool check metrics
'

test_expect_success 'a slow push has phases, as in the log of requests' '
	git config --global gitreach.requestLog "$PWD/requests" &&
	echo "sleep 0.3; ls -l /proc/self/fd; env" |
	sed "1i #!/bin/sh" >srv/r.git/hooks/pre-receive &&
	chmod +x srv/r.git/hooks/pre-receive &&
	stock -C c.git push $url/r.git main:refs/heads/slow 2>err &&
	rm srv/r.git/hooks/pre-receive &&
	: "hooks get nothing by which http-backend tells its times" &&
	grep "GIT_QUARANTINE_PATH" err &&
	! grep -e GITREACH_TELL -e memfd err &&
	wait_until metric_is "gitreach_requests_total{service=\"receive-pack\",command=\"push\"" 2 &&
	metric_is "gitreach_phase_seconds_count{phase=\"hooks\"}" 2 &&
	get /status.json >status &&
	python3 - <<-\EOP
	import json
	push = [r for r in json.load(open("status"))["slow"]
	        if r["command"] == "push"][0]
	record = [json.loads(line)["value"] for line in open("requests")][-1]
	assert record["command"] == "push", record
	phases = {k.replace("-", "_"): v for k, v in push["phases_us"].items()}
	assert phases["hooks"] >= 300000, push
	for name in phases:
	    assert record[name + "_us"] == phases[name], (push, record)
	assert {"receive", "connectivity", "update_refs"} <= phases.keys(), push
	assert push["wait_read_us"] == record["wait_read_us"], (push, record)
	EOP
'

test_expect_success 'the status as JSON' '
	get /status.json >status &&
	python3 - <<-\EOP
	import json, os
	s = json.load(open("status"))
	path = os.path.realpath("srv/r.git")
	costs = {r["repository"]: r for r in s["repositories"]}
	assert costs[path]["requests"] >= 3 and costs[path]["cpu_us"] > 0, costs
	assert len(s["workers"]) == 3 and all(w["pid"] for w in s["workers"])
	slow = [r for r in s["slow"] if r["command"] == "fetch"]
	for r in slow:
	    assert r["repository"] == path and r["client"] == "127.0.0.1"
	    assert sum(r["phases_us"].values()) <= r["total_us"]
	assert s["in_flight"] == [], s["in_flight"]
	EOP
'

test_expect_success 'the status as a page without scripts' '
	get / -D head >page &&
	grep -i "^content-type: text/html" head &&
	grep -i "^content-security-policy: default-src .none." head &&
	grep "srv/r.git" page &&
	grep "Repositories by processor time" page &&
	! grep -i "<script" page
'

test_expect_success 'requests in flight are shown while a worker has no free thread' '
	python3 - $url $admin <<-\EOP
	import json, socket, sys, time, urllib.request
	port = int(sys.argv[1].rsplit(":", 1)[1])
	held = []
	for i in range(12):
	    s = socket.create_connection(("127.0.0.1", port))
	    s.sendall(b"POST /r.git/git-upload-pack HTTP/1.1\r\nHost: h\r\n"
	              b"Content-Type: application/x-git-upload-pack-request\r\n"
	              b"Content-Length: 100\r\n\r\n0")
	    held.append(s)
	for i in range(100):
	    with urllib.request.urlopen(sys.argv[2] + "/status.json") as f:
	        status = json.load(f)
	    if status["in_flight"] and status["connections"] > 12:
	        break
	    time.sleep(0.1)
	# One worker may have accepted all, with one thread for the address.
	assert 1 <= len(status["in_flight"]) <= 4, status
	assert status["connections"] > 12, status
	assert status["in_flight"][0]["path"] == "/r.git"
	assert status["in_flight"][0]["client"] == "127.0.0.1"
	EOP
'

# The kernel buffers less of an answer than this repository has.
test_expect_success 'answers are shown while no thread, but the loop sends them' '
	stop &&
	stock init -q work &&
	head -c 4000000 /dev/urandom >work/file &&
	stock -C work add file &&
	stock -C work commit -q -m file &&
	stock clone -q --bare work srv/big.git &&
	tip=$(stock -C work rev-parse HEAD) &&
	start --user-header=X-User --trusted-proxy=127.0.0.1 &&
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$GITREACH_SRC/t/perf \
		python3 - $url $git $admin $tip <<-\EOP
	import json, socket, sys, time, urllib.request
	from protocol import fetch
	http, git, admin, tip = sys.argv[1:]

	def connect(url):
	    s = socket.socket()
	    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
	    s.connect(("127.0.0.1", int(url.rsplit(":", 1)[1])))
	    return s

	def over_http(user):
	    s, body = connect(http), fetch([tip.encode()])
	    s.sendall(b"POST /big.git/git-upload-pack HTTP/1.1\r\nHost: h\r\n"
	              b"Git-Protocol: version=2\r\nX-User: " + user + b"\r\n"
	              b"X-Forwarded-For: 192.0.2.7\r\nContent-Type: "
	              b"application/x-git-upload-pack-request\r\n"
	              b"Content-Length: %d\r\n\r\n" % len(body) + body)
	    return s

	def over_git():
	    s = connect(git)
	    text = b"git-upload-pack /big.git\0host=h\0\0version=2\0"
	    s.sendall(b"%04x" % (len(text) + 4) + text)
	    s.recv(4)
	    s.sendall(fetch([tip.encode()]))
	    return s

	def look(condition):
	    for i in range(200):
	        with urllib.request.urlopen(admin + "/status.json") as f:
	            status = json.load(f)
	        if condition(status):
	            return status
	        time.sleep(0.1)
	    sys.exit(status)

	held = [over_http(b"ann"), over_http(b"<bob>"), over_git()]
	# These are more answers than one worker has threads.
	status = look(lambda s: s["responses_sending"] == 3 and not s["requests"])
	flights = status["in_flight"]
	assert {f["path"] for f in flights} == {"/big.git"}, flights
	assert {f["phase"] for f in flights} == {"send"}, flights
	assert sorted((f["user"], f["client"]) for f in flights) == [
	    ("", "127.0.0.1"), ("<bob>", "192.0.2.7"), ("ann", "192.0.2.7")], flights
	assert sum(w["responses_sending"] for w in status["workers"]) == 3, status
	with urllib.request.urlopen(admin + "/metrics") as f:
	    assert b"\ngitreach_responses_sending 3\n" in f.read()
	with urllib.request.urlopen(admin + "/") as f:
	    page = f.read()
	    assert b"192.0.2.7<br>&lt;bob&gt;</td>" in page, page
	    assert b"<b>3</b>answers being sent" in page, page
	old = max(f["age_ms"] for f in flights)
	look(lambda s: max(f["age_ms"] for f in s["in_flight"]) > old)
	# One client goes away, another one reads its whole answer.
	held.pop(0).close()
	answer, end = held.pop(0), b""
	while end[-5:] != b"0\r\n\r\n":
	    got = answer.recv(1 << 20)
	    assert got
	    end = (end + got)[-5:]
	status = look(lambda s: s["responses_sending"] == 1)
	assert [f["user"] for f in status["in_flight"]] == [""], status
	held.pop().close()
	look(lambda s: s["responses_sending"] == 0 and not s["in_flight"])
	EOP
'

test_expect_success 'other paths and methods are refused' '
	test $(get /nothing -o out -w "%{http_code}") = 404 &&
	test $(get /r.git/info/refs -o out -w "%{http_code}") = 404 &&
	test $(get / -X POST -o out -w "%{http_code}") = 405 &&
	test $(get / -I -o out -w "%{http_code}") = 200 &&
	test $(curl -s -o out -w "%{http_code}" $url/metrics) = 404
'

test_expect_success PLAIN 'counters survive the crash of a worker and a reload' '
	before=$(metric "gitreach_phase_seconds_count{phase=\"pack\"}") &&
	wait_until metric_is gitreach_requests_in_flight 0 &&
	get /status.json >status &&
	worker=$(python3 -c "
import json
print(json.load(open(\"status\"))[\"workers\"][-1][\"pid\"])") &&
	kill -SEGV $worker &&
	wait_until grep "killed by signal" log &&
	wait_until metric_is gitreach_worker_crashes_total 1 &&
	wait_until metric_is gitreach_workers 3 &&
	kill -HUP $server &&
	wait_until grep reloaded log &&
	wait_until metric_is gitreach_worker_crashes_total 1 &&
	test "$(metric "gitreach_phase_seconds_count{phase=\"pack\"}")" = $before &&
	stop
'

# status_has <Python expression>: evaluate it for the status s
status_has () {
	get /status.json >status &&
	python3 -c "
import json, sys
s = json.load(open(\"status\"))
sys.exit(not ($1))"
}

# On a busy machine a new worker may have the process id of one that has ended.
test_expect_success 'workers that end late leave the boards of others alone' '
	start --threads=4 &&
	{ python3 - $url >/dev/null 2>&1 <<-\EOP & } &&
	import os, socket, sys, time
	port = int(sys.argv[1].rsplit(":", 1)[1])
	held = []
	for i in range(12):
	    s = socket.create_connection(("127.0.0.1", port))
	    s.sendall(b"POST /r.git/git-upload-pack HTTP/1.1\r\nHost: h\r\n"
	              b"Content-Type: application/x-git-upload-pack-request\r\n"
	              b"Content-Length: 100\r\n\r\n0")
	    held.append(s)
	while not os.path.exists("let-go"):
	    time.sleep(0.05)
	EOP
	client=$! &&
	wait_until status_has "len(s[\"in_flight\"]) >= 2" &&
	first=$(python3 -c "
import json
print([w[\"pid\"] for w in json.load(open(\"status\"))[\"workers\"]])") &&
	kill -HUP $server &&
	wait_until status_has "sum(w[\"pid\"] not in $first for w in s[\"workers\"] if w[\"pid\"]) >= 2" &&
	second=$(python3 -c "
import json
print([w[\"pid\"] for w in json.load(open(\"status\"))[\"workers\"]])") &&
	kill -HUP $server &&
	wait_until status_has "sum(w[\"pid\"] not in $second for w in s[\"workers\"] if w[\"pid\"]) >= 2" &&
	>let-go &&
	wait $client &&
	client= &&
	wait_until status_has "len(s[\"workers\"]) == 3 and not s[\"in_flight\"]" &&
	stop
'

test_expect_success 'a wrong URL of the status is refused' '
	test_must_fail "$DAEMON" --base-path=srv --listen=http://127.0.0.1:0 \
		--admin=git://127.0.0.1:0 --check-config 2>err &&
	grep "^error: --admin: must begin with http://$" err &&
	test_must_fail "$DAEMON" --base-path=srv --listen=http://127.0.0.1:0 \
		--admin=http://host:0 --check-config 2>err &&
	grep "^error: --admin: .*not a numeric address" err
'

test_done
