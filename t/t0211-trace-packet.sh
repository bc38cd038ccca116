#!/bin/sh
# SPDX-License-Identifier: MIT

test_description='traces of servers: packets, and the summary of each request'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"

# packets <file>: prints the packets of the server in a trace, without times and
# places. Removes lines that name the program, or a capability that only one of
# both servers has.
packets () {
	sed -n -e "s/^.*packet: *\([a-z]*-pack[<>]\)/\1/p" "$1" |
	sed -e "s/\\\\0.*//" -e "/agent=/d" -e "/object-info$/d" \
		-e "/session-id=/d"
}

# requests <file> <expression>: evaluates the expression for the summary `r` of
# each request in a trace. Prints one result on each line.
requests () {
	python3 - "$@" <<-\EOP
	import json, sys
	for line in open(sys.argv[1], "rb"):
	    e = json.loads(line)
	    if e.get("category") == "gitreach" and e["key"] == "request":
	        r = e["value"]
	        print(eval("(" + sys.argv[2] + ")"))
	EOP
}

test_expect_success 'a repository with a bitmap index, and one without' '
	repo_linear repo.git 20 &&
	stock -C repo.git tag -a -m v1 v1 main~3 &&
	cp -R repo.git plain.git &&
	cp -R repo.git stock.git &&
	"$GIT" -C repo.git -c repack.prepareAnswers=false repack -adbq
'

for version in 0 1 2
do
	test_expect_success "version $version: packets of a clone are those of stock Git" '
		rm -rf ours stocks c1 c2 &&
		GIT_TRACE_PACKET="$PWD/stocks" stock -c protocol.version=$version \
			clone -q --bare --no-local repo.git c1 &&
		GIT_TRACE_PACKET="$PWD/ours" stock -c protocol.version=$version \
			clone -q --bare --no-local -u "$GIT upload-pack" \
			repo.git c2 &&
		packets stocks >expected &&
		packets ours >actual &&
		grep "^upload-pack<" actual &&
		test_cmp expected actual
	'

	# Before version 2, servers may choose when to send "ready". We send
	# "ready" earlier than stock Git if the fetch has a depth. So the depth
	# is only tested with version 2.
	cut=
	test $version = 2 && cut=--depth=2
	test_expect_success "version $version: packets of a fetch are those of stock Git" '
		rm -rf ours stocks c1 c2 &&
		for c in c1 c2
		do
			stock clone -q --bare --no-local -b v1 --single-branch \
				repo.git $c &&
			stock -C $c config protocol.version $version || return 1
		done &&
		GIT_TRACE_PACKET="$PWD/stocks" stock -C c1 fetch -q $cut \
			origin main &&
		GIT_TRACE_PACKET="$PWD/ours" stock -C c2 fetch -q $cut \
			--upload-pack="$GIT upload-pack" origin main &&
		packets stocks >expected &&
		packets ours >actual &&
		grep "^upload-pack< have" actual &&
		# Newer versions of stock Git send fewer ACK lines.
		test_have_prereq STOCK_239 ||
		sed -i "/^upload-pack> ACK/d" expected actual &&
		test_cmp expected actual
	'
done

test_expect_success 'packets of a push' '
	stock clone -q --bare repo.git work.git &&
	rm -f ours stocks &&
	GIT_TRACE_PACKET="$PWD/stocks" stock -C work.git push -q \
		"$PWD/stock.git" main~2:refs/heads/new :v1 &&
	GIT_TRACE_PACKET="$PWD/ours" stock -C work.git push -q \
		--receive-pack="$GIT receive-pack" "$PWD/plain.git" \
		main~2:refs/heads/new :v1 &&
	packets stocks >expected &&
	packets ours >actual &&
	grep "^receive-pack> unpack ok$" actual &&
	test_cmp expected actual
'

test_expect_success 'packets of hostile bytes' '
	printf "0016command=ls\001re\"\\\\s\377\n0000" >request &&
	GIT_PROTOCOL=version=2 GIT_TRACE_PACKET="$PWD/hostile" \
		test_expect_code 128 "$GIT" upload-pack --stateless-rpc \
		repo.git <request >/dev/null 2>&1 &&
	sed -n "s/.*packet: *//p" hostile | head -n 1 >actual &&
	printf "%s\n" "upload-pack< command=ls\\1re\"\\s\\377" >expected &&
	test_cmp expected actual
'

test_expect_success 'the summary of a clone by bitmap has its costs' '
	rm -rf events c1 &&
	GIT_TRACE2_EVENT="$PWD/events" stock -c protocol.version=2 clone -q \
		--bare --no-local -u "$GIT upload-pack" repo.git c1 &&
	requests events "r[\"service\"], r[\"command\"], r[\"protocol\"]" \
		>actual &&
	cat >expected <<-\EOF &&
	('\''upload-pack'\'', '\''advertise'\'', 2)
	('\''upload-pack'\'', '\''ls-refs'\'', 2)
	('\''upload-pack'\'', '\''fetch'\'', 2)
	EOF
	test_cmp expected actual &&
	requests events "r.get(\"refs_looked_at\")" >refs &&
	test "$(sed -n 2p refs)" -ge 2 &&
	nr=$(stock -C repo.git rev-list --objects --all | wc -l) &&
	requests events "r.get(\"strategy\"), r.get(\"objects_sent\"),
		r.get(\"objects_reused_in_spans\"), r.get(\"objects_recompressed\"),
		r.get(\"bitmaps_used\", 0) > 0, r.get(\"error\"),
		r.get(\"wants\"), r.get(\"shallow\"), r.get(\"filter\")" |
		sed -n 3p >actual &&
	echo "('\''stored pack'\'', $nr, $nr, 0, True, None, 2, False, None)" \
		>expected &&
	test_cmp expected actual &&
	requests events "r[\"bytes_sent\"] > r.get(\"bytes_verbatim\", 0) and
		r[\"peak_rss_kib\"] > 500 and r[\"total_us\"] >= sum(
		r.get(k, 0) for k in (\"answer_us\", \"negotiate_us\", \"pack_us\"))
		and r.get(\"pack_us\", 0) >= sum(r.get(k, 0) for k in (\"count_us\",
		\"reuse_us\", \"search_us\", \"write_us\"))" >actual &&
	test "$(sort -u actual)" = True
'

# fetch_info <argument>...: runs a fetch. Prints the events of its trace that
# stock Git also has.
fetch_info () {
	pkt command=fetch object-format=sha1 D "$@" done F >request &&
	rm -f events &&
	GIT_PROTOCOL=version=2 GIT_TRACE2_EVENT="$PWD/events" \
		git upload-pack --stateless-rpc repo.git <request >answer &&
	sed -n -e "s/.*\"key\":\"\(negotiated-version\|fetch-info\)\"/\1/p" \
		events
}

test_expect_success 'the summary has wants, haves and filter as stock Git words them' '
	tip=$(stock -C repo.git rev-parse main) &&
	stock -C repo.git config uploadpack.allowFilter true &&
	fetch_info "want $tip" "have $(stock -C repo.git rev-parse main~3)" \
		"have $(printf %040d 1)" "deepen 2147483647" deepen-relative \
		"filter combine:blob:none+tree:3" >actual &&
	fetch_info "want $tip" "deepen-since 5" "deepen-not v1" \
		"filter tree:2" >>actual &&
	common="\"want-refs\":0,\"depth\"" &&
	cat >expected <<-EOF &&
	negotiated-version,"value":"2"}
	fetch-info,"value":{"haves":1,"wants":1,$common:2147483647,"shallows":0,"deepen-since":false,"deepen-not":0,"deepen-relative":true,"filter":"combine"}}
	negotiated-version,"value":"2"}
	fetch-info,"value":{"haves":0,"wants":1,$common:0,"shallows":0,"deepen-since":true,"deepen-not":1,"deepen-relative":false,"filter":"tree"}}
	EOF
	test_cmp expected actual
'

test_expect_success 'the summary gives the reason for not using a bitmap' '
	rm -rf events c1 &&
	GIT_TRACE2_EVENT="$PWD/events" stock clone -q --bare --no-local \
		-u "$GIT upload-pack" plain.git c1 &&
	requests events "r.get(\"strategy\"), r.get(\"no_bitmap_reason\")" |
		tail -n 1 >actual &&
	echo "('\''walk'\'', '\''there is no bitmap index'\'')" >expected &&
	test_cmp expected actual &&
	rm -rf events c1 &&
	stock -C repo.git config pack.useBitmaps false &&
	GIT_TRACE2_EVENT="$PWD/events" stock clone -q --bare --no-local \
		-u "$GIT upload-pack" repo.git c1 &&
	stock -C repo.git config --unset pack.useBitmaps &&
	requests events "r.get(\"strategy\"), r.get(\"no_bitmap_reason\")" |
		tail -n 1 >actual &&
	echo "('\''stored pack'\'', '\''bitmaps are not to be used'\'')" >expected &&
	test_cmp expected actual &&
	rm -rf events c1 &&
	GIT_TRACE2_EVENT="$PWD/events" stock clone -q --bare --no-local \
		--depth=1 -u "$GIT upload-pack" repo.git c1 &&
	requests events "r.get(\"depth\"), r.get(\"shallow\"),
		r.get(\"no_bitmap_reason\") is not None or
		r.get(\"bitmaps_used\", 0) > 0" | tail -n 1 >actual &&
	echo "(1, True, True)" >expected &&
	test_cmp expected actual
'

# how_fetched <value>...: the strategy and the reason against bitmaps of each pack
how_fetched () {
	requests events "r.get(\"strategy\"), r.get(\"no_bitmap_reason\", 0)" |
		grep -v "None, 0" >actual &&
	for strategy
	do
		echo "('$strategy', None)"
	done >expected &&
	test_cmp expected actual
}

test_expect_success 'there is no reason where no bitmap index is needed' '
	cp -R repo.git prepared.git &&
	"$GIT" -C prepared.git repack -adbq &&
	rm -rf events c1 c2 &&
	GIT_TRACE2_EVENT="$PWD/events" &&
	export GIT_TRACE2_EVENT &&
	test_when_finished unset GIT_TRACE2_EVENT &&
	stock clone -q --bare --no-local -u "$GIT upload-pack" prepared.git c1 &&
	how_fetched prepared &&
	rm events &&
	tip=$(stock -C prepared.git rev-parse main) &&
	pkt "want $tip side-band ofs-delta" F "have $tip" done |
		"$GIT" upload-pack --stateless-rpc prepared.git >answer &&
	how_fetched nothing &&
	rm events &&
	git config --global uploadpack.packObjectsHook "exec \"\$@\" #" &&
	test_when_finished git config --global --unset uploadpack.packObjectsHook &&
	stock clone -q --bare --no-local -u "$GIT upload-pack" prepared.git c2 &&
	how_fetched hook
'

test_expect_success 'phases are regions' '
	rm -rf events c1 &&
	GIT_TRACE2_EVENT="$PWD/events" stock clone -q --bare --no-local \
		-u "$GIT upload-pack" plain.git c1 &&
	grep "\"upload-pack\",\"label\"" events |
		sed "s/.*\"event\":\"\([a-z_]*\)\".*\"label\":\"\([a-z]*\)\".*/\1 \2/" \
		>actual &&
	printf "region_%s\n" "enter answer" "leave answer" "enter answer" \
		"leave answer" "enter negotiate" "leave negotiate" \
		"enter pack" "leave pack" >expected &&
	test_cmp expected actual &&
	grep "\"pack-objects\",\"label\":\"enumerate-objects\"" events
'

test_expect_success 'summaries of a push, and of one that a hook declines' '
	write_hook () {
		mkdir -p plain.git/hooks &&
		printf "#!/bin/sh\nexit %d\n" $1 >plain.git/hooks/pre-receive &&
		chmod +x plain.git/hooks/pre-receive
	} &&
	write_hook 0 &&
	rm -f events general &&
	GIT_TRACE="$PWD/general" GIT_TRACE2_EVENT="$PWD/events" \
		stock -C work.git push -q --receive-pack="$GIT receive-pack" \
		"$PWD/plain.git" main~1:refs/heads/a main~2:refs/heads/b &&
	requests events "r[\"command\"], r.get(\"refs_asked\"),
		r.get(\"refs_refused\"), \"hooks_us\" in r,
		\"update_refs_us\" in r" >actual &&
	cat >expected <<-\EOF &&
	('\''advertise'\'', None, None, False, False)
	('\''push'\'', 2, 0, True, True)
	EOF
	test_cmp expected actual &&
	grep "\"child_class\":\"hook\",\"hook_name\":\"pre-receive\"" events &&
	grep "run_command: .*hooks/pre-receive.\?$" general &&
	write_hook 1 &&
	rm -f events &&
	test_must_fail env GIT_TRACE2_EVENT="$PWD/events" \
		"$STOCK_GIT" -C work.git push -q \
		--receive-pack="$GIT receive-pack" \
		"$PWD/plain.git" main~1:refs/heads/c 2>/dev/null &&
	requests events "r.get(\"refs_asked\"), r.get(\"refs_refused\"),
		\"update_refs_us\" in r" | tail -n 1 >actual &&
	echo "(1, 1, False)" >expected &&
	test_cmp expected actual
'

test_expect_success 'summaries of clients that break the protocol' '
	rm -f events &&
	printf "0012command=fetch\n" >request &&
	GIT_PROTOCOL=version=2 GIT_TRACE2_EVENT="$PWD/events" \
		test_expect_code 128 "$GIT" upload-pack --stateless-rpc \
		repo.git <request &&
	grep "\"event\":\"error\"" events &&
	printf "00010012fetch nonsense0000" >>request &&
	rm -f events &&
	GIT_PROTOCOL=version=2 GIT_TRACE2_EVENT="$PWD/events" \
		test_expect_code 128 "$GIT" upload-pack --stateless-rpc \
		repo.git <request &&
	requests events "r[\"command\"], r[\"error\"]" >actual &&
	echo "('\''fetch'\'', \"unexpected line: '\''fetch nonsense'\''\")" \
		>expected &&
	test_cmp expected actual
'

test_expect_success 'a log of requests, without the environment' '
	rm -rf log c1 &&
	git config --global gitreach.requestLog "~/log" &&
	stock clone -q --bare --no-local -u "$GIT upload-pack" repo.git c1 &&
	requests log "r[\"command\"]" >actual &&
	printf "%s\n" advertise ls-refs fetch >expected &&
	test_cmp expected actual &&
	git config --global --unset gitreach.requestLog &&
	rm -rf log c1 &&
	stock -C repo.git config gitreach.requestLog "$PWD/log" &&
	stock clone -q --bare --no-local -u "$GIT upload-pack" repo.git c1 &&
	test ! -e log &&
	stock -C repo.git config --unset gitreach.requestLog
'

test_expect_success 'only servers open the log of requests' '
	rm -f log &&
	git config --global gitreach.requestLog "$HOME/log" &&
	"$GIT" -C repo.git count-objects >counts &&
	"$GIT" -C repo.git pack-refs --all &&
	test ! -e log &&
	git config --global gitreach.requestLog "$HOME/none/log" &&
	"$GIT" -C repo.git count-objects >counts 2>err &&
	test_must_be_empty err &&
	"$GIT" upload-pack --advertise-refs repo.git >answer 2>err &&
	grep "gitreach.requestLog: could not open" err &&
	git config --global --unset gitreach.requestLog
'

test_expect_success 'over HTTP' '
	rm -f log &&
	git config --global gitreach.requestLog "$HOME/log" &&
	GIT_HTTP_EXPORT_ALL=1 GIT_PROJECT_ROOT="$PWD" REQUEST_METHOD=GET \
		GIT_PROTOCOL=version=2 PATH_INFO=/repo.git/info/refs \
		QUERY_STRING=service=git-upload-pack \
		"$GIT" http-backend >answer &&
	GIT_HTTP_EXPORT_ALL=1 GIT_PROJECT_ROOT="$PWD" REQUEST_METHOD=GET \
		PATH_INFO=/repo.git/HEAD "$GIT" http-backend >answer &&
	requests log "r[\"service\"], r[\"command\"], r[\"bytes_sent\"] > 0" \
		>actual &&
	cat >expected <<-\EOF &&
	('\''upload-pack'\'', '\''advertise'\'', True)
	('\''http-backend'\'', '\''get'\'', True)
	EOF
	test_cmp expected actual &&
	git config --global --unset gitreach.requestLog
'

test_expect_success 'a record names the repository, the client and the user' '
	rm -f log &&
	git config --global gitreach.requestLog "$HOME/log" &&
	printf 0000 >flush &&
	"$GIT" upload-pack --stateless-rpc repo.git <flush >answer &&
	REMOTE_ADDR=192.0.2.7 REMOTE_USER="ann \"a\"" \
		"$GIT" upload-pack --advertise-refs repo.git >answer &&
	REMOTE_ADDR=nonsense SSH_CONNECTION="2001:db8::1 4 ::1 22" \
		"$GIT" upload-pack --advertise-refs repo.git >answer &&
	env -u REMOTE_ADDR SSH_CONNECTION="2001:db8::1 4 ::1 22" \
		"$GIT" receive-pack --advertise-refs repo.git >answer &&
	requests log "r[\"repository\"], r[\"client\"], r[\"user\"]" >actual &&
	cat >expected <<-EOF &&
	('\''$PWD/repo.git'\'', '\''192.0.2.7'\'', '\''ann "a"'\'')
	('\''$PWD/repo.git'\'', None, None)
	('\''$PWD/repo.git'\'', '\''2001:db8::1'\'', None)
	EOF
	test_cmp expected actual &&
	git config --global --unset gitreach.requestLog
'

test_done
