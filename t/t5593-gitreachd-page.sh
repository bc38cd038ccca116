#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='gitreachd --admin: the page in a browser, on a screen and on a phone'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-gitreachd.sh"

for browser in chromium chromium-browser google-chrome
do
	if command -v $browser >/dev/null
	then
		test_set_prereq BROWSER
		break
	fi
done

# clone_until_hit: clone until a plan answers. Where /dev/shm cannot be used, each worker
# has plans of its own.
clone_until_hit () {
	for i in $(seq 100)
	do
		stock clone -q --bare $url/r.git clone$i.git &&
		curl -s -S "$admin/status.json" >status || return 1
		! grep "\"plan_lookups\":{[^}]*\"hit\"" status || return 0
		sleep 0.1
	done
	return 1
}

long=$(printf "a-long-name-without-a-blank%.0s" 1 2 3 4 5 6)
client=
trap 'for pid in $pids $client; do kill $pid; done 2>/dev/null' EXIT

test_expect_success 'clones, slow requests, and requests in flight' '
	mkdir srv &&
	repo_linear srv/r.git 40 &&
	stock -C srv/r.git config http.receivepack true &&
	cp -R srv/r.git "srv/<b>&amp;\"$long.git" &&
	"$GIT" -C srv/r.git repack -adbq &&
	start_daemon --export-all --workers=2 --threads=2 --slow-request=1 \
		--listen=http://127.0.0.1:0 --admin=http://127.0.0.1:0 &&
	admin=$(sed -n "s/^gitreachd: listens on \(.*\) (status)$/\1/p" log) &&
	clone_until_hit &&
	stock clone -q --bare --depth 1 "$url/%3Cb%3E&amp;%22$long.git" \
		shallow.git &&
	stock -C clone1.git push -q $url/r.git main:refs/heads/new &&
	! stock ls-remote $url/absent.git 2>/dev/null &&
	{ python3 - $port >/dev/null 2>&1 <<-\EOP & } &&
	import os, socket, sys, time
	held = []
	for i in range(3):
	    s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
	    s.sendall(b"POST /r.git/git-upload-pack HTTP/1.1\r\nHost: h\r\n"
	              b"Content-Type: application/x-git-upload-pack-request\r\n"
	              b"Content-Length: 100\r\n\r\n0")
	    held.append(s)
	while not os.path.exists("let-go"):
	    time.sleep(0.05)
	EOP
	client=$!
'

test_expect_success 'plans, packs and waits are in the JSON' '
	curl -s -S "$admin/status.json" >status &&
	python3 - <<-\EOP
	import json, os, time
	s = json.load(open("status"))
	assert s["plan_lookups"].get("hit", 0) >= 1, s["plan_lookups"]
	assert s["plan_lookups"]["miss"] >= 1, s["plan_lookups"]
	path = os.path.realpath("srv/r.git")
	r = [r for r in s["repositories"] if r["repository"] == path][0]
	packs = [os.stat(path + "/objects/pack/" + f).st_mtime
	         for f in os.listdir(path + "/objects/pack")
	         if f.endswith(".pack")]
	assert r["packs"] == len(packs)
	assert r["newest_pack"] == int(max(packs)), (r, packs)
	assert len(s["slow"]) >= 1
	assert r["oldest_pack"] == int(min(packs)), (r, packs)
	EOP
'

test_expect_success BROWSER 'nothing is wider than the window, light and dark' '
	timeout 120 python3 "$GITREACH_SRC/t/browse.py" $browser "$admin/" page \
		>measured &&
	python3 - <<-\EOP
	import json
	rows = [json.loads(line) for line in open("measured")]
	assert [(r["width"], r["scheme"]) for r in rows] == [
	    (360, "light"), (360, "dark"), (1200, "light"), (1200, "dark")]
	for r in rows:
	    assert r["content"] <= r["window"] == r["width"], r
	    assert not r["outside"] and not r["bars"], r
	    assert r["canvas"] == (r["scheme"] == "dark"), r
	    assert r["text"] > 500, r
	light, dark = rows[0]["color"], rows[1]["color"]
	assert light != dark, rows
	for r in rows:
	    with open("page-%d-%s.png" % (r["width"], r["scheme"]), "rb") as f:
	        assert f.read(8) == b"\x89PNG\r\n\x1a\n"
	EOP
'

test_expect_success 'stop' '
	>let-go &&
	wait $client &&
	client= &&
	stop_daemon
'

test_done
