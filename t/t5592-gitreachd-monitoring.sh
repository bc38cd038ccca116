#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='gitreachd: labels of metrics, alert rules and the dashboard'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-gitreachd.sh"

CONTRIB=$GITREACH_SRC/contrib
command -v promtool >/dev/null && test_set_prereq PROMTOOL

start () {
	start_daemon --export-all --workers=2 --threads=2 --user-header=X-User \
		--trusted-proxy=127.0.0.1 --listen=http://127.0.0.1:0 \
		--listen=git://127.0.0.1:0 --admin=http://127.0.0.1:0 &&
	git=$(sed -n "s/^gitreachd: listens on \(git:.*\)/\1/p" log) &&
	admin=$(sed -n "s/^gitreachd: listens on \(.*\) (status)$/\1/p" log)
}

metrics () {
	curl -s -S --max-time 60 "$admin/metrics"
}

test_expect_success 'setup' '
	mkdir srv &&
	repo_linear srv/r.git 20 &&
	stock -C srv/r.git config uploadpack.allowFilter true &&
	stock -C srv/r.git config http.receivepack true &&
	"$GIT" -C srv/r.git repack -adbq &&
	cp -R srv/r.git srv/marker-path.git &&
	start &&
	stock clone -q --bare $url/r.git work.git
'

# ---- labels

# marked <header>...: requests that have "marker" wherever a client may choose
marked () {
	oid=$(stock -C srv/r.git rev-parse main) &&
	set -- -s -o /dev/null -A marker-agent -H "X-User: marker-user" \
		-H "Git-Protocol: version=2:marker-protocol" \
		-H "traceparent: marker-trace" -H "Marker-Field: x" -H "Host: marker-host" &&
	repo=$url/marker-path.git &&
	curl "$@" "$repo/info/refs?service=git-upload-pack&marker=query" &&
	curl "$@" "$repo/info/refs?service=git-marker" &&
	curl "$@" "$repo/marker-file" &&
	curl "$@" "$url/marker-absent.git/info/refs?service=git-receive-pack" &&
	curl "$@" -X MARKER "$repo/HEAD" &&
	for words in "command=marker-command agent=marker D" \
		"command=fetch session-id=marker D want.$oid filter.sparse:oid=marker done" \
		"command=fetch D want.$oid deepen-not.marker done" \
		"command=fetch D want-ref.refs/heads/marker done" \
		"command=fetch D marker-argument" \
		"command=ls-refs agent=marker D ref-prefix.refs/marker"
	do
		pkt $words F | tr . " " >body &&
		# The server closes the connection after some errors.
		curl "$@" --data-binary @body \
			-H "Content-Type: application/x-git-upload-pack-request" \
			"$repo/git-upload-pack"
	done
	stock -C work.git -c http.extraHeader="X-User: marker-user" \
		push -q "$repo" main:refs/heads/marker-ref &&
	stock ls-remote $git/marker-path.git refs/marker >/dev/null &&
	! stock ls-remote $git/marker-absent.git 2>/dev/null &&
	stock -c uploadpack.marker=1 clone -q --bare -b marker-ref \
		--filter=blob:limit=4711 --depth 2 "$repo" marker-clone.git
}

# counted: the push is the last request that is counted late
counted () {
	metrics | grep -q "service=\"receive-pack\",command=\"push\""
}

test_expect_success 'no label has a value that a client has chosen' '
	marked &&
	wait_until counted &&
	metrics >seen &&
	grep -c "^gitreach_requests_total" seen &&
	! grep -i marker seen &&
	! grep -e 4711 -e 127.0.0.1 -e srv seen &&
	python3 - "$("$DAEMON" --version | sed "s/.* //")" <<-\EOP
	import os, re, sys
	allowed = {
	    "version": sys.argv[1],
	    "service": "upload-pack receive-pack http-backend",
	    "command": "advertise ls-refs fetch object-info bundle-uri push get archive other",
	    "protocol": "0 1 2 none", "result": "ok client error hit joined miss bypass",
	    "source": "span made", "direction": "read send", "level": "request",
	    "phase": "answer negotiate pack receive connectivity hooks migrate update-refs report",
	}
	strategies = {"none", "bitmap", "bitmap+walk", "walk", "prepared",
	              "prepared+walk", "stored pack", "nothing", "hook"}
	source = open(os.environ["GITREACH_SRC"] + "/status/statistics.c").read()
	reasons = set(re.findall(r"\"([^\"]*)\"", re.search(
	    r"reasons\[\] = \{(.*?)\};", source, re.S).group(1)))
	assert "other" in reasons and len(reasons) > 5
	for line in open("seen"):
	    if line.startswith("#"):
	        continue
	    for name, value in re.findall(r"(\w+)=\"([^\"]*)\"", line):
	        if name == "le":
	            float(value)
	        elif name == "strategy":
	            assert value in strategies, line
	        elif name == "reason":
	            assert value in reasons, line
	        elif name in allowed:
	            assert value in allowed[name].split(), line
	        else:
	            # A list in the source is fixed, too.
	            assert f"\"{value}\"" in source, line
	EOP
'

# ---- a server with a store

test_expect_success 'the store and the cache are counted, without names' '
	stock -C srv/r.git config http.receivepack true &&
	git store import --name=marker.git srv/r.git "file://$PWD/marker-store" &&
	mv log log.first && first=$server first_admin=$admin &&
	served_from= start_daemon --store="file://$PWD/marker-store" --cache=cache \
		--cache-size=1g --export-all --listen=http://127.0.0.1:0 \
		--admin=http://127.0.0.1:0 --workers=2 --store-stale=3600 &&
	admin=$(sed -n "s/^gitreachd: listens on \(.*\) (status)$/\1/p" log) &&
	metrics >before && grep "^gitreach_cache_limit_bytes 1073741824$" before &&
	grep "^gitreach_cache_bytes 0$" before && ! grep "^gitreach_cache_lookups_total{" before &&
	stock clone -q --bare $url/marker.git counted.git &&
	! stock ls-remote $url/marker-none &&
	stock -C counted.git push -q $url/marker.git main:refs/heads/marker-ref &&
	mv marker-store away && stock ls-remote $url/marker.git >refs && mv away marker-store &&
	metrics >store-seen && ! grep -i marker store-seen && ! grep "$PWD" store-seen &&
	for line in "store_requests_total.operation=.read.,status=.ok.." \
		"store_requests_total.operation=.read.,status=.absent.." \
		"store_requests_total.operation=.read.,status=.unavailable.." \
		"store_requests_total.operation=.put.,status=.ok.." \
		"store_request_seconds_count.operation=.put.." \
		"store_received_bytes_total" "store_sent_bytes_total" \
		"store_answered_timestamp_seconds" cache_downloads_total cache_bytes \
		"cache_lookups_total.result=.hit.." "cache_lookups_total.result=.made.." \
		"cache_lookups_total.result=.missing.." "cache_lookups_total.result=.stale.."
	do
		grep "^gitreach_$line [1-9]" store-seen || return 1
	done &&
	curl -s --max-time 60 "$admin/status.json" >status &&
	python3 - status store-seen <<-\EOP &&
	import json, re, sys
	store = json.load(open(sys.argv[1]))["store"]
	seen = open(sys.argv[2]).read()
	def total(name, label=""):
	    return sum(int(n) for n in re.findall(
	        r"^gitreach_%s(?:{[^}]*%s[^}]*})? (\d+)$" % (name, label), seen, re.M))
	assert store["requests"] == total("store_requests_total"), store
	assert store["failures"] == total("store_requests_total", "unavailable"), store
	assert store["sent_bytes"] == total("store_sent_bytes_total")
	assert store["lookups"]["made"] == 1 and store["lookups"]["stale"] >= 1
	assert store["cache_limit_bytes"] == 1 << 30 and 0 <= store["answer_age_seconds"]
	assert 0 < store["cache_bytes"] <= store["received_bytes"]
	EOP
	curl -s --max-time 60 "$admin/" | grep "Store and cache" &&
	: "the counters outlive the server" &&
	stop_daemon && served_from= start_daemon --store="file://$PWD/marker-store" \
		--cache=cache --listen=http://127.0.0.1:0 --admin=http://127.0.0.1:0 &&
	admin=$(sed -n "s/^gitreachd: listens on \(.*\) (status)$/\1/p" log) &&
	metrics | grep "^gitreach_cache_lookups_total.result=.made.. 1$" && stop_daemon &&
	mv log.first log && server=$first admin=$first_admin
'

# ---- rules and dashboard

test_expect_success PROMTOOL 'promtool accepts metrics and rules, and tests the rules' '
	metrics | promtool check metrics && promtool check metrics <store-seen &&
	promtool check rules "$CONTRIB/prometheus/gitreachd.rules.yml" &&
	promtool test rules "$CONTRIB/prometheus/gitreachd.test.yml"
'

test_expect_success 'the dashboard is the output of its program' '
	"$CONTRIB/grafana/make-dashboard" >made &&
	test_cmp "$CONTRIB/grafana/gitreachd.json" made
'

test_expect_success 'rules and dashboard use metrics that exist, with their labels' '
	metrics >seen && cat store-seen >>seen &&
	python3 - "$CONTRIB" <<-\EOP
	import json, re, sys
	kinds, labels = {}, {}
	for line in open("seen"):
	    if line.startswith("# TYPE "):
	        kinds[line.split()[2]] = line.split()[3]
	    elif not line.startswith("#"):
	        name = re.match(r"\w+", line).group()
	        labels.setdefault(name, set()).update(
	            re.findall(r"(\w+)=\"", line))
	names = set()
	for name, kind in kinds.items():
	    names |= ({name + end for end in ("_bucket", "_sum", "_count")}
	              if kind == "histogram" else {name})
	board = json.load(open(sys.argv[1] + "/grafana/gitreachd.json"))
	exprs = [t["expr"] for p in board["panels"] for t in p["targets"]]
	shown = set(re.findall(r"\bgitreach_\w+", " ".join(exprs)))
	rules = open(sys.argv[1] + "/prometheus/gitreachd.rules.yml").read()
	ruled = set(re.findall(r"\bgitreach_\w+", rules))
	assert len(shown) > 12 and len(ruled) > 5
	assert shown | ruled <= names, (shown | ruled) - names
	def is_shown(name):
	    return bool({name, name + "_sum", name + "_bucket"} & shown)
	hidden = {n for n in kinds if n.startswith("gitreach_") and not is_shown(n)}
	assert not hidden, hidden
	for text in exprs + [rules]:
	    for name, inner in re.findall(r"\b(gitreach_\w+)\{([^}]*)\}", text):
	        for label in re.findall(r"(\w+)\s*=", inner):
	            if label not in ("instance", "job") and name in labels:
	                assert label in labels[name], (name, label)
	for expr in exprs:
	    by = re.search(r"sum by \(([\w, ]+)\).*?(gitreach_\w+)", expr)
	    for label in by.group(1).split(", ") if by else []:
	        if by.group(2) in labels:
	            assert label in labels[by.group(2)], expr
	spots = [tuple(p["gridPos"].values()) for p in board["panels"]]
	assert len(set(spots)) == len(spots)
	assert len({p["id"] for p in board["panels"]}) == len(spots)
	EOP
'

test_expect_success 'stop' '
	stop_daemon
'

test_done
