#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='published packs, which clients get from a web server'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-web.sh"

UP=--upload-pack=$GITREACH_BUILD/bin/git-upload-pack

# commit <name>: a commit with a file that is hard to compress.
commit () {
	head -c 20000 /dev/urandom >work/$1 && echo $1 >work/last &&
	stock -C work add . && test_tick && stock -C work commit -q -m $1
}

# clone <protocols> <argument>...: into `copy`; the server is ours.
clone () {
	protocols=$1 && shift &&
	rm -rf copy events && : >web.log &&
	GIT_TRACE2_EVENT="$PWD/events" stock_client \
		-c fetch.uriProtocols="$protocols" clone -q --bare --no-local \
		"$UP" "$@" copy &&
	test_served_by_us
}

# event <key>: a value of the record of the last request of the server
event () {
	sed -n "s/.*\"event\":\"data_json\".*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/p" \
		events | tail -n 1
}

# test_event <key> <value>
test_event () {
	value=$(event $1)
	test "$value" = "$2" || {
		echo "$1 is '$value', not '$2'" >&2
		return 1
	}
}

# test_downloads <nr>: how many packs the client got from the web server, all of
# them known to it.
test_downloads () {
	grep -c "GET .*\.pack.* 200" web.log >downloads
	echo $1 >downloads.expect && test_cmp downloads.expect downloads
}

# test_told_nothing: the server has told no URI.
test_told_nothing () {
	! grep "upload-pack> .*[0-9a-f]\{40\} http" packets
}

# objects <repository>: all its objects, sorted
objects () {
	stock -C $1 cat-file --batch-all-objects --batch-check | sort
}

# test_same_objects <argument>...: the copy has the objects that a client gets that
# accepts no URIs.
test_same_objects () {
	objects copy >got && mv copy copy.uri &&
	clone "" "$@" && objects copy >expect &&
	test_downloads 0 &&
	test_cmp expect got &&
	rm -rf copy && mv copy.uri copy
}

# test_mostly_downloaded: 95% of the bytes came from the web server.
test_mostly_downloaded () {
	sent=$(event bytes_sent) all=$(event bytes_elsewhere) &&
	echo "$sent bytes sent, $all downloaded" &&
	test $((sent * 20)) -lt $((sent + all))
}

# place [<repository>]: its directory
place () {
	objects=$(realpath "${1-server.git}/objects") &&
	name=$({ cat "$objects/info/publish-salt" && printf %s "$objects"; } |
		sha256sum) &&
	echo "$PWD/web/$(echo $name | cut -c1-32)"
}

# test_notes <nr> <word>: how many files `git publish` has noted in `out` so
test_notes () {
	grep -c "^$2 " out >notes
	echo $1 >notes.expect && test_cmp notes.expect notes
}

# packs: the published packs that are offered
packs () {
	(cd "$(place)" && for pack in *.pack
	do
		test -e "$pack.retired" || echo "$pack"
	done)
}

test_expect_success 'a web server' '
	mkdir web &&
	start_web web
'

test_expect_success 'setup' '
	stock init -q work &&
	for n in 1 2 3 4 5 6 7 8
	do
		commit file$n || return 1
	done &&
	stock -C work tag -a -m one one main~4 &&
	stock -C work checkout -q -b topic main~2 && commit topic &&
	stock -C work tag -a -m two two topic &&
	stock -C work checkout -q main &&
	stock -C work update-ref refs/pull/1/head \
		$(stock -C work commit-tree -p topic -m pull main^{tree}) &&
	mkdir srv && ln -s srv/server.git server.git &&
	stock clone -q --mirror work srv/server.git &&
	stock -C server.git config uploadpack.allowFilter true &&
	stock -C server.git config gitreach.publishMinimum 1 &&
	git -C server.git repack -adbq &&
	cp -a srv/server.git plain.git
'

test_expect_success 'without a directory nothing is published' '
	test_must_fail git -C server.git publish 2>err &&
	grep "gitreach.publishDirectory is not set" err &&
	git -C server.git -c gitreach.publishDirectory="$PWD/none" \
		publish 2>err && false || test $? = 128 &&
	grep "there is no directory" err
'

test_expect_success 'wrong usage is in the trace' '
	GIT_TRACE2_EVENT="$PWD/usage" git -C server.git publish x 2>err &&
	false || test $? = 129 &&
	grep "^fatal: too many arguments" err && grep "^usage: " err &&
	grep "\"event\":\"error\".*too many arguments" usage
'

test_expect_success 'a repack publishes' '
	stock -C server.git config gitreach.publishDirectory "$PWD/web" &&
	stock -C server.git config gitreach.publishUri \
		"http://127.0.0.1:$port/" &&
	git -C server.git repack -adbq &&
	packs >names && test_line_count 3 names &&
	git -C server.git publish >out &&
	test_notes 3 kept &&
	while read -r name
	do
		stock index-pack -o x.idx "$(place)/$name" >name &&
		echo "$name" >expect && sed "s/$/.pack/" name >actual &&
		test_cmp expect actual && rm -f x.idx || return 1
	done <names
'

test_expect_success 'the place cannot be guessed; a copy has another one' '
	salt=server.git/objects/info/publish-salt &&
	test_line_count 1 $salt && grep -Ex "[0-9a-f]{32}" $salt &&
	ls web >before &&
	! grep $(printf %s "$PWD/srv/server.git/objects" | sha256sum |
		cut -c1-32) before &&
	cp -p $salt saved && git -C server.git publish -q &&
	test_cmp saved $salt && ls web | test_cmp before - &&
	stock init -q --bare other.git &&
	(umask 077 && git -C other.git \
		-c gitreach.publishDirectory="$PWD/web" publish) &&
	! test_cmp saved other.git/objects/info/publish-salt &&
	test "$(stat -c %a other.git/objects/info/publish-salt)" = 400 &&
	cp -a srv/server.git twin.git &&
	git -C twin.git publish -q && test -d "$(place)" &&
	ls web >after && test_line_count 3 after &&
	rm -rf "$(place other.git)" "$(place twin.git)" other.git twin.git
'

test_expect_success 'the pack of all refs is a link' '
	stat -c %h server.git/objects/pack/*.pack >links &&
	echo 2 >expect && test_cmp expect links
'

test_expect_success 'all that a place has may be read by everybody' '
	rm -rf "$(place)" && (umask 077 && git -C server.git publish -q) &&
	stat -c %a "$(place)" "$(place)"/*.pack >modes &&
	! grep -v "[45]$" modes
'

for arguments in "" --mirror
do
	test_expect_success "clone $arguments: from the URI" '
		clone http $arguments server.git &&
		test_event strategy published &&
		test_downloads 1 &&
		test_mostly_downloaded &&
		stock -C copy fsck --full --strict &&
		test_same_objects $arguments server.git
	'
done

test_expect_success 'clone --single-branch: tags are sent in addition' '
	clone http --single-branch server.git &&
	test_event strategy published+walk &&
	test_downloads 1 &&
	test_mostly_downloaded &&
	stock -C copy tag >tags && echo one >expect && test_cmp expect tags &&
	stock -C copy fsck --full --strict &&
	test_same_objects --single-branch server.git
'

test_expect_success 'over HTTP, from the server of the files' '
	. "$GITREACH_SRC/t/lib-gitreachd.sh" &&
	pids="$pids $web" &&
	web_port=$port &&
	start_daemon --export-all --listen=http://127.0.0.1:0 &&
	port=$web_port &&
	clone http $url/server.git &&
	test_downloads 1 &&
	grep "clone> packfile-uris http" packets &&
	stock -C copy fsck --full --strict &&
	stop_daemon
'

# plans_are <how>...: how the packs were made since the last call. The record of
# a request is written after the client has the answer.
plans_are () {
	printf "%s\n" "$@" >plans.expect &&
	wait_until enough_records $# &&
	sed -n "s/.*\"plan\":\"\([a-z]*\)\".*/\1/p" records >plans.actual &&
	: >records &&
	test_cmp plans.expect plans.actual
}

enough_records () {
	test $(grep -c "\"plan\":" records) -ge $1
}

# clone_twice <protocols> <downloads> <how> <how>
clone_twice () {
	for try in 1 2
	do
		clone $1 "$url/server.git" && test_downloads $2 &&
		stock -C copy fsck --full --strict || return 1
	done &&
	plans_are $3 $4
}

test_expect_success 'equal clones share a plan, with the same URI' '
	stock config --global gitreach.requestLog "$PWD/records" &&
	start_daemon --export-all --workers=1 --listen=http://127.0.0.1:0 &&
	port=$web_port &&
	sleep 0.2 && : >records &&
	clone_twice http 1 made hit &&
	objects copy >with &&
	clone_twice none 0 made hit &&
	objects copy >without && test_cmp without with &&
	clone_twice https 0 hit hit &&
	for pack in "$(place)"/*.pack
	do
		: >"$pack.retired" || return 1
	done &&
	clone_twice http 0 made hit &&
	rm "$(place)"/*.retired &&
	clone_twice http 1 hit hit &&
	objects copy >with && test_cmp without with &&
	stop_daemon &&
	stock config --global --unset gitreach.requestLog
'

test_expect_success 'depth and filters never get more than they ask for' '
	for arguments in --depth=1 --depth=3 --filter=blob:none \
		--filter=tree:0 --filter=blob:limit=10k \
		"--depth=1 --no-single-branch"
	do
		clone http $arguments server.git &&
		test_downloads 0 &&
		test_told_nothing &&
		test_same_objects $arguments server.git || return 1
	done
'

test_expect_success 'depth 1 is published if the configuration says so' '
	git -C server.git -c gitreach.publishShallow=true publish >out &&
	test_notes 1 written &&
	stock -C server.git config gitreach.publishShallow true &&
	clone http --depth=1 server.git &&
	test_event strategy published &&
	test_downloads 1 &&
	test_same_objects --depth=1 server.git &&
	clone http --depth=2 server.git &&
	test_downloads 0 &&
	clone http --filter=blob:none --depth=1 server.git &&
	test_downloads 0 &&
	stock -C server.git config gitreach.publishShallow false &&
	git -C server.git publish >out &&
	test_notes 1 retired
'

test_expect_success 'a fetch with haves gets no URI' '
	rm -rf copy && stock clone -q --bare work copy &&
	stock -C copy update-ref -d refs/heads/topic &&
	stock -C copy tag -d two && stock -C copy gc -q --prune=now &&
	: >web.log &&
	stock_client -C copy -c fetch.uriProtocols=http fetch -q "$UP" \
		../server.git topic:topic &&
	test_downloads 0 &&
	test_told_nothing &&
	stock -C copy fsck --full --strict
'

# answer <repository>: what it sends to a client without packfile-uris
answer () {
	{
		pkt command=fetch object-format=sha1 D no-progress ofs-delta &&
		stock -C server.git for-each-ref \
			--format="want %(objectname)" refs/heads refs/tags |
			sort -u >wants &&
		while read -r line
		do
			pkt "$line" || return
		done <wants &&
		pkt done F
	} | GIT_PROTOCOL=version=2 "$GIT" upload-pack --stateless-rpc "$1"
}

test_expect_success 'other clients get the same bytes as without the key' '
	answer plain.git >expect && answer server.git >actual &&
	cmp expect actual &&
	clone https server.git &&
	test_downloads 0 &&
	test_event strategy prepared &&
	rm -rf copy &&
	stock_client -v0 -c fetch.uriProtocols=http clone -q --no-local \
		"$UP" server.git copy
'

test_expect_success 'after a push the rest is sent, without deltas of the pack' '
	seq 3000 >work/lines && commit lines &&
	stock -C work push -q ../server.git main &&
	git -C server.git repack -adbq &&
	git -C server.git publish --expire=now -q &&
	seq 3001 >work/lines && commit more && seq 3002 >work/lines &&
	commit again && stock -C work tag -a -m three three &&
	stock -C work push -q ../server.git main three &&
	for arguments in "" --mirror --single-branch
	do
		clone http $arguments server.git &&
		test_event strategy published+walk &&
		test_downloads 1 &&
		stock -C copy fsck --full --strict &&
		test_same_objects $arguments server.git || return 1
	done
'

test_expect_success 'a retired pack stays, but is not offered' '
	packs >before &&
	git -C server.git repack -adbq &&
	packs >after && ! test_cmp before after &&
	while read -r name
	do
		test -e "$(place)/$name" || return 1
	done <before &&
	clone http server.git &&
	test_downloads 1 &&
	while read -r name
	do
		! grep "$name" web.log || return 1
	done <before &&
	stock -C copy fsck --full --strict &&
	git -C server.git publish --expire=1.hour.ago >out &&
	test_notes 3 retired &&
	git -C server.git publish --expire=now >out &&
	test_notes 3 removed &&
	ls "$(place)" >actual && sort after >expect && echo lock >>expect &&
	sort expect >expect.sorted && test_cmp expect.sorted actual
'

test_expect_success 'a repack of stock Git: nothing is offered' '
	cp -a srv/server.git stock.git &&
	stock -C stock.git repack -adq &&
	git -C stock.git publish -q &&
	clone http stock.git &&
	test_downloads 0 &&
	stock -C copy fsck --full --strict &&
	stock -C srv/server.git repack -adq &&
	clone http server.git &&
	test_downloads 0 &&
	git -C server.git repack -adbq &&
	clone http server.git &&
	test_downloads 1
'

test_expect_success 'a file that is gone or incomplete is not offered' '
	for pack in "$(place)"/*.pack
	do
		chmod u+w "$pack" && mv "$pack" "$pack.saved" || return 1
	done &&
	clone http server.git &&
	test_downloads 0 &&
	for pack in "$(place)"/*.saved
	do
		head -c 100 "$pack" >"${pack%.saved}" || return 1
	done &&
	clone http server.git &&
	test_downloads 0 &&
	git -C server.git publish >out && ! grep "^kept" out &&
	clone http server.git &&
	test_downloads 1 && rm "$(place)"/*.saved
'

test_expect_success 'a download that fails is no harm' '
	kill $web && { wait $web || :; } &&
	test_must_fail clone http server.git 2>err &&
	start_web web &&
	stock -C server.git config gitreach.publishUri \
		"http://127.0.0.1:$port" &&
	rm -rf kept && stock init -q --bare kept &&
	for pack in "$(place)"/*.pack
	do
		cp "$pack" "$pack.saved" && chmod u+w "$pack" &&
		cp "$pack" x && rm -f "$pack" &&
		{ head -c 5000 x && tail -c +5001 x | tr "a-z" "b-za"; } \
			>"$pack" || return 1
	done &&
	test_must_fail stock_client -C kept -c fetch.uriProtocols=http fetch \
		-q "$UP" ../server.git "refs/*:refs/*" 2>err &&
	for pack in "$(place)"/*.pack
	do
		mv -f "$pack.saved" "$pack" || return 1
	done &&
	stock_client -C kept -c fetch.uriProtocols=http fetch \
		-q "$UP" ../server.git "refs/*:refs/*" &&
	test_served_by_us &&
	stock -C kept fsck --full --strict
'

test_expect_success 'a deleted branch is not in what a client gets' '
	stock -C server.git update-ref -d refs/heads/topic &&
	stock -C server.git tag -d two &&
	clone http server.git &&
	test_must_fail stock -C copy cat-file -e \
		$(stock -C work rev-parse topic) &&
	stock -C copy fsck --full --strict &&
	test_downloads 1 &&
	test_same_objects server.git
'

test_expect_success 'objects of hidden refs' '
	stock -C work push -q ../server.git topic &&
	git -C server.git repack -adbq &&
	git -C server.git publish --expire=now -q &&
	stock -C server.git config transfer.hideRefs refs/heads/topic &&
	clone http server.git &&
	test_downloads 1 &&
	test_must_fail stock -C copy cat-file -e \
		$(stock -C work rev-parse topic) &&
	test_same_objects server.git &&
	stock -C server.git config --add transfer.hideRefs refs/pull &&
	git -C server.git publish --expire=now >out &&
	test_notes 1 kept &&
	test_notes 2 removed &&
	for pack in "$(place)"/*.pack
	do
		stock index-pack -o x.idx "$pack" && stock show-index <x.idx >ids &&
		! grep $(stock -C work rev-parse topic) ids && rm -f x.idx ||
			return 1
	done &&
	stock -C server.git config --unset-all transfer.hideRefs &&
	git -C server.git publish -q
'

test_expect_success 'packs of blobs come first' '
	blob=$(stock -C work rev-parse main:file1) &&
	name=$(echo $blob | stock -C work pack-objects -q "$PWD/web/blob") &&
	clone http -c x.y=z server.git && test_downloads 1 &&
	stock -C server.git config uploadpack.blobPackfileUri \
		"$blob $name http://127.0.0.1:$port/blob-$name.pack" &&
	clone http server.git &&
	test_downloads 1 && grep blob-$name web.log &&
	stock -C server.git config --unset uploadpack.blobPackfileUri
'

test_expect_success 'a hook makes the pack: nothing is offered' '
	printf "%s\n" "#!/bin/sh" "exec \"\$@\"" >hook && chmod +x hook &&
	git config --global uploadpack.packObjectsHook "\"$PWD/hook\"" &&
	clone http server.git && test_downloads 0 &&
	git config --global --unset uploadpack.packObjectsHook
'

test_expect_success 'bad values' '
	for setting in publishUri=packs "publishUri=http://x y" \
		publishDirectory=web publishMinimum=x publishShallow=x \
		publishExpire=qqq
	do
		test_must_fail git -C server.git -c "gitreach.$setting" \
			publish 2>err && cat err &&
		grep -i "${setting%%=*}" err || return 1
	done
'

test_expect_success 'two at a time' '
	python3 -c "
import fcntl, struct, subprocess, sys
lock = open(sys.argv[1], \"r+b\")
fcntl.lockf(lock, fcntl.LOCK_EX, 1, 0)
done = subprocess.run([\"git\", \"-C\", \"server.git\", \"publish\"],
                      stderr=subprocess.PIPE)
assert done.returncode == 128, done
assert b\"another process publishes\" in done.stderr, done.stderr
done = subprocess.run([\"git\", \"-C\", \"server.git\", \"repack\", \"-adbq\"],
                      stderr=subprocess.PIPE)
assert done.returncode == 0, done
assert b\"warning: another process publishes\" in done.stderr, done.stderr
	" "$(place)/lock"
'

test_expect_success 'SHA-256' '
	stock init -q --object-format=sha256 work256 &&
	for n in 1 2 3
	do
		head -c 20000 /dev/urandom >work256/f$n &&
		stock -C work256 add . && test_tick &&
		stock -C work256 commit -q -m $n || return 1
	done &&
	git -C work256 -c gitreach.publishMinimum=1 \
		-c gitreach.publishDirectory="$PWD/web" repack -adbq &&
	stock -C work256 config gitreach.publishDirectory "$PWD/web" &&
	stock -C work256 config gitreach.publishUri "http://127.0.0.1:$port" &&
	clone http work256 &&
	test_downloads 1 &&
	stock -C copy fsck --full --strict
'

test_done
