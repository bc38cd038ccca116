#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='records of requests: who asked for what, and git bitmap explain
answers the same request again'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-gitreachd.sh"

UPLOAD_PACK=$GITREACH_BUILD/bin/git-upload-pack
EXEC=$GITREACH_BUILD/exec
# The path of a socket is short, and the test's directory may be long.
sockets=$(mktemp -d /tmp/t5591.XXXXXX)
trap 'for pid in $pids; do kill $pid; done 2>/dev/null; rm -rf "$sockets"' EXIT
PARENT=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01

# abouts: print what the records say of their clients, and empty the file
abouts () {
	python3 - <<-\EOP &&
	import json
	for line in open("records"):
	    v = json.loads(line)["value"]
	    print(v["service"], v["command"], v["repository"], v["client"],
	          v["user"], v.get("traceparent"))
	EOP
	: >records
}

# about_is <client> <user> <traceparent>: all records in "records" say this
about_is () {
	wait_until test -s records &&
	abouts >seen &&
	test -s seen &&
	! grep -v " $PWD/srv/r.git $1 $2 $3$" seen
}

test_expect_success 'setup' '
	mkdir srv &&
	repo_linear srv/r.git 40 &&
	repo_tags srv/r.git &&
	stock -C srv/r.git config uploadpack.allowFilter true &&
	stock -C srv/r.git config http.receivepack true &&
	stock -C srv/r.git branch old main~10 &&
	"$GIT" -C srv/r.git repack -adbq &&
	git config --global gitreach.requestLog "$PWD/records"
'

test_expect_success 'git upload-pack alone knows no client' '
	stock ls-remote --upload-pack="$UPLOAD_PACK" "$PWD/srv/r.git" >/dev/null &&
	about_is None None None
'

test_expect_success 'git upload-pack takes the address from sshd' '
	SSH_CONNECTION="192.0.2.9 1 192.0.2.1 22" \
	stock ls-remote --upload-pack="$UPLOAD_PACK" "$PWD/srv/r.git" >/dev/null &&
	about_is 192.0.2.9 None None
'

test_expect_success 'git upload-pack takes the address from git daemon' '
	port=$(python3 -c "
import socket
s = socket.socket()
s.bind((\"127.0.0.1\", 0))
print(s.getsockname()[1])") &&
	{
		GIT_EXEC_PATH=$EXEC "$EXEC/git-daemon" --listen=127.0.0.1 \
			--port=$port --base-path="$PWD/srv" --export-all \
			"$PWD/srv" 2>daemon.log &
		pids="$pids $!"
	} &&
	wait_until stock ls-remote git://127.0.0.1:$port/r.git >/dev/null 2>&1 &&
	about_is 127.0.0.1 None None
'

# backend <variable>=<value>...: ask git http-backend for the refs
backend () {
	env GIT_PROJECT_ROOT="$PWD/srv" GIT_HTTP_EXPORT_ALL=1 \
		REQUEST_METHOD=GET PATH_INFO=/r.git/info/refs \
		QUERY_STRING=service=git-upload-pack "$@" \
		"$EXEC/git-http-backend" >/dev/null
}

test_expect_success 'git http-backend takes client, user and trace from the web server' '
	backend REMOTE_ADDR=192.0.2.5 REMOTE_USER=bob HTTP_TRACEPARENT=$PARENT &&
	about_is 192.0.2.5 bob $PARENT &&
	for wrong in $PARENT- ${PARENT}0 ff-${PARENT#00-} \
		00-00000000000000000000000000000000-00f067aa0ba902b7-01 \
		00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01
	do
		backend REMOTE_ADDR=192.0.2.5 HTTP_TRACEPARENT=$wrong &&
		about_is 192.0.2.5 None None || return 1
	done
'

test_expect_success 'gitreachd: client, user and trace of HTTP' '
	stock clone -q --bare srv/r.git work.git &&
	: >records &&
	start_daemon --listen=http://127.0.0.1:0 --listen=git://127.0.0.1:0 \
		--listen="unix:$sockets/ssh" --export-all --user-header=X-User \
		--trusted-proxy=127.0.0.1 &&
	git=$(sed -n "s,^gitreachd: listens on \(git://.*\),\1,p" log) &&
	stock -c http.extraHeader="X-User: carol" \
		-c http.extraHeader="traceparent: $PARENT" \
		clone -q --bare $url/r.git by-http.git &&
	stock -C work.git -c http.extraHeader="X-User: carol" \
		-c http.extraHeader="traceparent: $PARENT" \
		push -q $url/r.git main:refs/heads/new &&
	wait_until grep -q "\"command\":\"push\"" records &&
	wait_until grep -q objects_sent records &&
	about_is 127.0.0.1 carol $PARENT
'

test_expect_success 'gitreachd: a field traceparent that is wrong or given twice' '
	for fields in "-H traceparent:x" \
		"-H traceparent:$PARENT -H Traceparent:$PARENT"
	do
		curl -s -S $fields -o /dev/null \
			"$url/r.git/info/refs?service=git-upload-pack" &&
		about_is 127.0.0.1 None None || return 1
	done
'

test_expect_success 'gitreachd: client and user of git:// and ssh' '
	stock ls-remote $git/r.git >/dev/null &&
	wait_until grep -q ls-refs records &&
	about_is 127.0.0.1 None None &&
	cat >fake-ssh <<-EOC &&
	#!/bin/sh
	while test \$# -gt 2
	do
		shift
	done
	SSH_ORIGINAL_COMMAND=\$2 SSH_CLIENT="192.0.2.7 1 22" exec "$DAEMON" \\
		--ssh-client="$sockets/ssh" --user=alice
	EOC
	chmod +x fake-ssh &&
	GIT_SSH=$PWD/fake-ssh GIT_SSH_VARIANT=ssh stock ls-remote h:r.git >/dev/null &&
	wait_until grep -q ls-refs records &&
	about_is 192.0.2.7 alice None
'

# ---- the same request again

# again: repeat each fetch in "records" that made a pack, and compare all numbers
again () {
	grep objects_sent records >fetches &&
	python3 - "$GIT" 2>err <<-\EOP && test_must_be_empty err
	import json, subprocess, sys
	def explain(option, text=""):
	    run = subprocess.run(
	        [sys.argv[1], "-C", "srv/r.git", "bitmap", "explain", option],
	        input=text, stdout=subprocess.PIPE, text=True, check=True)
	    open("explained", "w").write(run.stdout)
	    return dict(l.split("=", 1) for l in run.stdout.splitlines())
	for line in open("fetches"):
	    v = json.loads(line)["value"]
	    for seen in [explain("--record", line),
	                 explain("--request=" + v["request"])]:
	        assert seen["answered-by"] in ("bitmap", "walk")
	        for key in ["strategy", "no_bitmap_reason", "strategy_reason",
	                    "bitmaps_used", "pseudo_merges_used", "commits_walked",
	                    "objects_sent", "objects_reused_in_spans",
	                    "objects_reused", "objects_recompressed",
	                    "bytes_verbatim", "bytes_recompressed"]:
	            said = "" if v.get(key) is None else str(v[key])
	            assert said == seen.get(key, ""), (line, key, seen)
	EOP
}

# records_are <n>: there are so many fetches with a pack
records_are () {
	test "$(grep -c objects_sent records)" = $1
}

# fetch_from <url>: clones and fetches of several kinds
fetch_from () {
	rm -rf out && mkdir out &&
	stock clone -q --bare "$1" out/full.git &&
	stock clone -q --bare --no-tags --single-branch --branch old "$1" out/old.git &&
	stock -C out/old.git fetch -q "$1" main &&
	stock clone -q --bare --depth 2 "$1" out/shallow.git &&
	stock -C out/shallow.git fetch -q --depth 5 "$1" &&
	stock -C out/shallow.git fetch -q --unshallow "$1" &&
	stock clone -q --bare --filter=blob:none "$1" out/partial.git &&
	stock clone -q --bare --filter=combine:blob:none+tree:3 "$1" out/two.git
}

test_expect_success 'each fetch over HTTP can be repeated' '
	: >records &&
	fetch_from $url/r.git &&
	wait_until records_are 8 &&
	again
'

test_expect_success 'each fetch of version 0 can be repeated' '
	: >records &&
	git config --global protocol.version 0 &&
	fetch_from $git/r.git &&
	git config --global --unset protocol.version &&
	wait_until records_are 8 &&
	again &&
	grep "\"protocol\":0," fetches &&
	stop_daemon
'

test_expect_success 'a fetch with nothing new can be repeated' '
	: >records &&
	oid=$(stock -C srv/r.git rev-parse main) &&
	pkt "command=fetch" "object-format=sha1" D "want $oid" "have $oid" done F |
		GIT_PROTOCOL=version=2 "$UPLOAD_PACK" --stateless-rpc srv/r.git >/dev/null &&
	again &&
	grep "^reason=nothing is wanted" explained &&
	grep "^objects_sent=0$" explained
'

test_expect_success 'a filter with a blank is repeated' '
	: >records &&
	stock init -q sparse && (
		cd sparse &&
		echo "/*" >"a b" && mkdir d && echo 1 >d/f &&
		stock add . && stock commit -qm 1 &&
		stock push -q "$PWD/../srv/r.git" HEAD:refs/heads/sparse
	) &&
	: >records &&
	oid=$(stock -C srv/r.git rev-parse sparse) &&
	pkt "command=fetch" "object-format=sha1" D "want $oid" "filter sparse:oid=sparse:a b" done F |
		GIT_PROTOCOL=version=2 "$UPLOAD_PACK" --stateless-rpc srv/r.git >/dev/null &&
	grep "filter=sparse:oid=sparse:a b\"" records &&
	again
'

test_expect_success 'a text that lacks ids is repeated with a warning' '
	: >records &&
	stock -C srv/r.git rev-list --objects main | sed "s/ .*//" | sort -u |
		head -n 100 >objects &&
	{
		pkt "command=fetch" "object-format=sha1" D &&
		while read -r oid
		do
			pkt "want $oid" || return 1
		done <objects &&
		pkt done F
	} >request &&
	GIT_PROTOCOL=version=2 "$UPLOAD_PACK" --stateless-rpc srv/r.git <request >/dev/null &&
	grep ",+36\"" records &&
	"$GIT" -C srv/r.git bitmap explain --record <records >explained 2>err &&
	echo "warning: the record leaves out 36 of 100 wants, so the answer differs from that of the request" >expected &&
	test_cmp expected err
'

test_expect_success 'wrong requests are refused' '
	test_must_fail "$GIT" -C srv/r.git bitmap explain --request=x 2>err &&
	grep "wrong word .x." err &&
	zero=$(printf %040d 1) &&
	test_must_fail "$GIT" -C srv/r.git bitmap explain --request="want=$zero" 2>err &&
	grep $zero err &&
	echo "{}" | test_must_fail "$GIT" -C srv/r.git bitmap explain --record 2>err &&
	grep "not the record of a request" err &&
	test_must_fail "$GIT" -C srv/r.git bitmap explain --record 2>err </dev/null &&
	grep "not the record of a request" err &&
	: >records &&
	stock ls-remote --upload-pack="$UPLOAD_PACK" "$PWD/srv/r.git" >/dev/null &&
	test_must_fail "$GIT" -C srv/r.git bitmap explain --record 2>err <records &&
	grep "no member .request." err &&
	test_expect_code 129 "$GIT" -C srv/r.git bitmap explain --request=x main 2>err
'

# forwarded <url> <ref>: a clone and a push through two proxies
forwarded () {
	for from in "10.9.9.9" "10.9.9.9, 192.0.2.9, 127.0.0.1"
	do
		rm -rf by-proxy.git &&
		stock -c http.extraHeader="X-Forwarded-For: $from" \
			clone -q --bare $1/r.git by-proxy.git || return
	done &&
	stock -C work.git -c http.extraHeader="X-Forwarded-For: 192.0.2.9" \
		push -q $1/r.git main:refs/heads/$2 &&
	wait_until grep -q "\"command\":\"push\"" records
}

eight_records () {
	test "$(wc -l <records)" = 8
}

test_expect_success 'gitreachd: the client of a trusted proxy' '
	start_daemon --listen=http://127.0.0.1:0 --export-all \
		--trusted-proxy=127.0.0.1 &&
	: >records &&
	forwarded $url forwarded &&
	wait_until eight_records &&
	abouts >seen &&
	sed "s, $PWD/srv/r.git,,; s/ None None$//" seen | sort -u >actual &&
	cat >expect <<-EOF &&
	receive-pack advertise 192.0.2.9
	receive-pack push 192.0.2.9
	upload-pack advertise 10.9.9.9
	upload-pack advertise 192.0.2.9
	upload-pack fetch 10.9.9.9
	upload-pack fetch 192.0.2.9
	upload-pack ls-refs 10.9.9.9
	upload-pack ls-refs 192.0.2.9
	EOF
	test_cmp expect actual &&
	stop_daemon
'

test_done
