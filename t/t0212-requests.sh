#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='git requests: sums over the requests in a log of the server'
. "$(dirname "$0")/lib.sh"

# write_log: writes a log of 3,000 requests. The sums over these requests are
# known.
write_log () {
	python3 - "$@" <<-\EOP
	import json, random, sys
	random.seed(1)
	records = []
	with open("log", "w") as log:
	    for i in range(3000):
	        value = {
	            "service": "upload-pack",
	            "command": random.choice(["fetch", "ls-refs", "advertise"]),
	            "error": random.choice([None, None, None, "gone \"away\""]),
	            "repository": "/srv/git/r%d.git" % random.randrange(30),
	            "client": random.choice(["192.0.2.1", "2001:db8::1", None]),
	            "user": random.choice(["alice", "b\u00f6b", "x\x1b[31m", None]),
	            "shallow": random.choice([True, False]),
	            "depth": random.randrange(3),
	            "wait_read_us": random.randrange(1000),
	            "wait_send_us": random.randrange(1000),
	            "total_us": random.randrange(1500, 1000000),
	            "cpu_user_us": random.randrange(1000),
	            "cpu_sys_us": random.randrange(1000),
	            "bytes_sent": random.randrange(10 ** 9),
	        }
	        if value["command"] == "fetch":
	            value["strategy"] = random.choice(["walk", "bitmap"])
	        time = "2026-11-%02dT%02d:%02d:00.%06dZ" % (
	            1 + i // 1440, i // 60 % 24, i % 60, i)
	        print(json.dumps({"event": "data_json", "time": time,
	                          "category": "gitreach", "key": "request",
	                          "value": value}, ensure_ascii=i % 2 == 0),
	              file=log)
	EOP
}

# A slow and simple version of the command. Its results are compared with those
# of the command.
cat >check.py <<\EOF
import json, sys
from collections import defaultdict

def check(log, out, by, order, n, keep=lambda v, t: True):
    seen = json.load(open(out))
    events = [json.loads(line) for line in open(log)]
    events = [e for e in events if keep(e["value"], e["time"])]
    def cost(v):
        wait = v["wait_read_us"] + v["wait_send_us"]
        return dict(requests=1, failed=int(v["error"] is not None),
                    time_us=v["total_us"] - wait, total_us=v["total_us"],
                    slowest_us=v["total_us"] - wait,
                    cpu_us=v["cpu_user_us"] + v["cpu_sys_us"],
                    bytes_sent=v["bytes_sent"])
    def add(a, b):
        for k, x in b.items():
            a[k] = max(a[k], x) if k == "slowest_us" else a[k] + x
    keys = dict(time="time_us", total="total_us", cpu="cpu_us",
                sent="bytes_sent", requests="requests")
    key = keys[order]
    total = defaultdict(int)
    groups = {m: defaultdict(lambda: defaultdict(int)) for m in by}
    for e in events:
        v = e["value"]
        add(total, cost(v))
        for m in by:
            name = v.get(m)
            name = ("-" if name is None else name if isinstance(name, str)
                    else json.dumps(name))
            add(groups[m][name.replace("\x1b", "?")], cost(v))
    for k, x in total.items():
        assert seen[k] == x, (k, seen[k], x)
    assert seen["requests"] == len(events)
    single = "time_us" if key == "requests" else key
    slow = sorted(events, key=lambda e: -cost(e["value"])[single])[:n]
    assert seen["slowest"] == slow
    assert list(seen["by"]) == by
    for m in by:
        want = sorted(groups[m].items(), key=lambda g: (-g[1][key], g[0].encode()))
        want = [dict(name=name, **c) for name, c in want]
        assert seen["by"][m] == want, (m, seen["by"][m][:2], want[:2])
    assert seen["others"] == {}
EOF

test_expect_success 'sums, groups and slowest requests are those of a slow version' '
	write_log &&
	for order in time total cpu sent requests
	do
		"$GIT" requests --json --top=1000 --slowest=17 --sort=$order \
			--by=repository --by=user --by=depth --by=shallow --by=strategy \
			log >out &&
		python3 -c "
from check import *
check(\"log\", \"out\", [\"repository\", \"user\", \"depth\", \"shallow\", \"strategy\"], \"$order\", 17)" ||
		return 1
	done
'

test_expect_success 'the usual tables, and the text' '
	"$GIT" requests --json --top=1000 log >out &&
	python3 -c "
from check import *
check(\"log\", \"out\", [\"repository\", \"strategy\", \"no_bitmap_reason\", \"user\", \"client\"], \"time\", 10)" &&
	"$GIT" requests --slowest=3 --top=2 log >text &&
	grep "^3000 requests, [0-9]* failed, 2026-11-01T00:00:00Z to 2026-11-03T01:59:00Z$" text &&
	test $(sed -n "/^Slowest/,/^By repo/p" text | grep -c "Z [a-z-]* /srv/git/r") = 3 &&
	grep "^By no_bitmap_reason$" text &&
	grep "(28 more)$" text &&
	! grep "$(printf "\033")" text &&
	! grep " $" text
'

test_expect_success 'requests are chosen by date and repository' '
	"$GIT" requests --json --top=1000 --since="2026-11-01 12:00:00 +0000" \
		--until="2026-11-02 00:00:00 +0000" --repository=r7.git --by=command log >out &&
	python3 -c "
from check import *
check(\"log\", \"out\", [\"command\"], \"time\", 10, lambda v, t:
      v[\"repository\"] == \"/srv/git/r7.git\" and \"2026-11-01T12\" <= t < \"2026-11-02\")" &&
	"$GIT" requests --json --repository=/srv/git/r7.git --by=command log >out &&
	python3 -c "
import json
assert 0 < json.load(open(\"out\"))[\"requests\"] < 200" &&
	for none in 7.git git/r7 /r7.git ""
	do
		"$GIT" requests --json --repository="$none" log >out &&
		grep "^{\"requests\":0,.*\"first_end\":null" out || return 1
	done
'

test_expect_success 'records of the slowest requests, files and standard input' '
	"$GIT" requests --records --slowest=5 log >slow &&
	test_line_count 5 slow &&
	while read -r line
	do
		grep -qxF -e "$line" log || return 1
	done <slow &&
	head -n 1000 log >first && tail -n 2000 log >last &&
	"$GIT" requests --json first last >two &&
	"$GIT" requests --json log >one && cmp one two &&
	"$GIT" requests --json - last <first >two && cmp one two &&
	git config --global gitreach.requestLog "$PWD/log" &&
	"$GIT" requests --json >two && cmp one two
'

test_expect_success 'broken lines and other events are counted and skipped' '
	{
		head -n 10 log &&
		echo "{\"event\":\"start\",\"time\":\"x\"}" &&
		echo text &&
		echo &&
		head -c 300000 /dev/zero | tr "\0" a && echo &&
		head -n 11 log | tail -n 1 | head -c 100
	} >mixed &&
	"$GIT" requests --json mixed >out 2>err &&
	echo "warning: 3 of 14 lines are broken and were skipped" >expected &&
	test_cmp expected err &&
	grep "\"broken_lines\":3,\"other_lines\":1," out &&
	grep "^{\"requests\":10," out &&
	{ head -c 262144 /dev/zero | tr "\0" a; } >long &&
	"$GIT" requests --json long >out 2>err &&
	grep "\"broken_lines\":1," out
'

test_expect_success 'a table with too many groups keeps the costly ones' '
	python3 - >many <<-\EOP &&
	for i in range(60000):
	    cost = 10 ** 9 if i % 1000 == 0 else 1 + i % 7
	    print("{\"event\":\"data_json\",\"time\":\"2026-11-01T00:00:00.000000Z\","
	          "\"category\":\"gitreach\",\"key\":\"request\",\"value\":"
	          "{\"repository\":\"/srv/%d.git\",\"total_us\":%d}}" % (i, cost))
	EOP
	"$GIT" requests --json --top=60 --by=repository many >out &&
	python3 -c "
import json
s = json.load(open(\"out\"))
assert s[\"requests\"] == 60000
assert all(g[\"time_us\"] == 10 ** 9 for g in s[\"by\"][\"repository\"]), s[\"by\"]
assert len(s[\"by\"][\"repository\"]) == 60
others = s[\"others\"][\"repository\"]
assert others[\"names\"] >= 60000 - 16384 and others[\"requests\"] == others[\"names\"], others" &&
	"$GIT" requests many >text &&
	grep "  ([0-9]* others)$" text
'

test_expect_success 'wrong use is refused' '
	test_must_fail "$GIT" requests absent 2>err && grep "absent" err &&
	git config --global --unset gitreach.requestLog &&
	test_expect_code 128 "$GIT" requests 2>err &&
	grep "no file is given, and gitreach.requestLog is not set" err &&
	test_expect_code 128 "$GIT" requests --slowest=1001 log &&
	test_expect_code 128 "$GIT" requests --json --records log &&
	test_expect_code 129 "$GIT" requests --sort=name log &&
	test_expect_code 129 "$GIT" requests --by=A log
'

test_expect_success 'a full disk is an error' '
	test_expect_code 128 "$GIT" requests log >/dev/full
'

test_done
