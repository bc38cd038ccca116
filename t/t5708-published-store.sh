#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='published packs of repositories in a store

git store repack publishes, gitreachd gives signed addresses, and stock Git
downloads. t/store-shim.py lists the requests of both.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-gitreachd.sh"
. "$GITREACH_SRC/t/lib-moto.sh"
. "$GITREACH_SRC/t/lib-web.sh"
trap 'for pid in $pids $moto_pids; do kill $pid; done 2>/dev/null' EXIT

store=s3://bucket/repos

# on <subcommand> <argument>...
on () {
	on_verb=$1 && shift &&
	git store $on_verb --endpoint=$endpoint "$@"
}

# commit <name>: a commit with a file that is hard to compress
commit () {
	head -c 20000 /dev/urandom >work/$1 && echo $1 >work/last &&
	stock -C work add . && test_tick && stock -C work commit -q -m $1
}

# serve <option>...: start the server
serve () {
	served_from= start_daemon --store=$store --store-endpoint=$endpoint \
		--cache=cache --export-all --enable=receive-pack --workers=1 \
		--no-store-probe --listen=http://127.0.0.1:0 "$@"
}

# clone <protocols> <argument>...: into "copy"
clone () {
	protocols=$1 && shift && rm -rf copy && : >records && : >requests &&
	stock_client -c fetch.uriProtocols="$protocols" clone -q --bare \
		"$@" $url/r.git copy &&
	test_served_by_us && wait_until grep -q "\"strategy\":" records &&
	stock -C copy fsck --full
}

# downloads <nr>: how many packs the client got from the store
downloads () {
	grep "^GET .*X-Amz-Signature=" requests >signed
	test_line_count $1 signed
}

# told_nothing: the server has given no address
told_nothing () {
	! grep "clone< [0-9a-f]\{40\} http" packets
}

# field <name>: a number in the record of the last request
field () {
	sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" records | tail -n 1
}

# mostly_downloaded: 95% of the bytes came from the store
mostly_downloaded () {
	sent=$(field bytes_sent) && got=$(field bytes_elsewhere) &&
	echo "$sent bytes sent, $got downloaded" &&
	test $((sent * 19)) -lt $got
}

objects () {
	stock -C $1 cat-file --batch-all-objects --batch-check | sort
}

# same_objects <argument>...: as a client that accepts no addresses
same_objects () {
	objects copy >got && clone "" "$@" && downloads 0 && told_nothing &&
	objects copy >expect && test_cmp expect got
}

# list <file>: the list of published packs of the newest generation
list () {
	rm -rf out.git && on export $store r.git out.git &&
	cat out.git/objects/info/published >$1
}

# import: make a generation of src.git, and repack it
import () {
	on import --force --name=r.git src.git $store && on repack $store "$@"
}

test_expect_success 'setup' '
	stock config --global gitreach.requestLog "$PWD/records" &&
	stock init -q work &&
	for n in 1 2 3 4 5 6 7 8
	do
		commit file$n || return 1
	done &&
	stock -C work tag -a -m one one main~4 &&
	stock -C work checkout -q -b topic main~2 && commit topic &&
	stock -C work checkout -q main &&
	stock -C work update-ref refs/pull/1/head \
		$(stock -C work commit-tree -p topic -m pull main^{tree}) &&
	stock clone -q --mirror work src.git &&
	for key in uploadpack.allowFilter=true gitreach.publishMinimum=1 \
		gitreach.publishStore=true http.receivepack=true
	do
		stock -C src.git config ${key%=*} ${key#*=} || return 1
	done
'

test_expect_success MOTO 'git store repack publishes' '
	moto_start && shim_start && endpoint=http://127.0.0.1:$shim_port &&
	import >out && grep "packs became 1," out && list packs &&
	head -n 1 packs >actual && echo "gitreach published 1" >expect &&
	test_cmp expect actual && test_line_count 4 packs &&
	test $(grep -c "publish/" packs) = 2 && ! test -e out.git/publish &&
	on verify --full $store && on repack $store >out &&
	grep "needs no repack" out
'

test_expect_success MOTO 'clones download one pack' '
	serve &&
	for arguments in "" --mirror
	do
		clone http,https $arguments && downloads 1 && mostly_downloaded &&
		grep "\"strategy\":\"published\"" records &&
		same_objects $arguments || return 1
	done &&
	clone http --single-branch && downloads 1 && mostly_downloaded &&
	same_objects --single-branch && ! test -e cache/repo/r.git/_/publish
'

test_expect_success MOTO 'the address is signed for six hours, and has no secret' '
	clone http && grep -a "X-Amz-Expires=21600&" signed requests &&
	! grep "$AWS_SECRET_ACCESS_KEY" requests packets records log
'

test_expect_success MOTO 'other requests get no address' '
	clone http --depth=1 && downloads 0 && told_nothing &&
	clone http --filter=blob:none && downloads 0 && told_nothing &&
	clone https && downloads 0 && told_nothing &&
	clone http && downloads 1 && commit new &&
	stock -C work push -q $url/r.git main && : >requests &&
	stock -C copy -c fetch.uriProtocols=http fetch -q && downloads 0 &&
	stock -C copy fsck
'

test_expect_success MOTO 'after a push, the client gets the rest from the server' '
	clone http && downloads 1 && grep "\"strategy\":\"published+" records &&
	test "$(stock -C copy rev-parse main)" = \
		"$(stock -C work rev-parse main)" && same_objects
'

test_expect_success MOTO 'equal clones share a plan' '
	clone http && grep "\"plan\":\"hit\"" records && downloads 1 &&
	clone http && grep "\"plan\":\"hit\"" records && downloads 1 &&
	stock -C copy fsck --full --strict
'

test_expect_success MOTO 'a copy that may be old offers no packs' '
	stop_daemon && serve --store-max-age=3600001 && clone http &&
	downloads 0 && told_nothing && stop_daemon &&
	serve --store-max-age=3600000 && clone http && downloads 1 &&
	stop_daemon && serve --store-stale=60 && clone http && downloads 1 &&
	mv requests requests.kept && shim=${moto_pids##* } && kill $shim &&
	wait $shim
	clone http && told_nothing && stop_daemon &&
	# A program that was not started by gitreachd does not know the age.
	stock_client -c fetch.uriProtocols=http clone -q --bare --no-local \
		--upload-pack="$GIT-upload-pack" cache/repo/r.git/_ plain.git &&
	told_nothing && shim_start && endpoint=http://127.0.0.1:$shim_port
'

test_expect_success MOTO 'packs with hidden objects are not published' '
	rm -rf cache && stock -C src.git config transfer.hideRefs refs/pull &&
	import && list packs && test_line_count 3 packs && serve &&
	clone http --mirror && downloads 1 && mostly_downloaded &&
	test_must_fail stock -C copy cat-file -e \
		$(stock -C src.git rev-parse refs/pull/1/head) &&
	same_objects --mirror && stop_daemon &&
	stock -C src.git config --unset transfer.hideRefs
'

# The store is a directory that a web server serves.
test_expect_success 'public addresses' '
	mkdir web && start_web web && web=http://127.0.0.1:$port &&
	stock -C src.git config gitreach.publishStoreUri $web/ &&
	git store import --name=r.git src.git "file://$PWD/web" &&
	git store repack "file://$PWD/web" &&
	served_from= start_daemon --store="file://$PWD/web" --cache=cache.dir \
		--export-all --workers=1 --listen=http://127.0.0.1:0 &&
	: >web.log && clone http && mostly_downloaded &&
	grep "clone< [0-9a-f]\{40\} $web/repo/r.git/_/file/[0-9a-f.]*$" \
		packets && grep -c "GET /repo/r.git/_/file/.* 200" web.log &&
	clone "" && told_nothing && stop_daemon &&
	name=$(sed -n "s,.*GET /\(.*/file/[^ ]*\) .*,\1,p" web.log | head -n 1) &&
	cp web/$name saved && chmod u+w web/$name && size=$(stat -c %s saved) &&
	head -c $size /dev/zero >web/$name &&
	git store verify "file://$PWD/web" &&
	test_expect_code 1 git store verify --full "file://$PWD/web" 2>err &&
	grep "publish/[0-9a-f]*.pack.*SHA-256" err && cp saved web/$name &&
	git store verify --full "file://$PWD/web" &&
	# A directory signs no addresses.
	stock -C src.git config --unset gitreach.publishStoreUri &&
	git store import --force --name=r.git src.git "file://$PWD/web" &&
	git store repack "file://$PWD/web" &&
	served_from= start_daemon --store="file://$PWD/web" --cache=cache.dir \
		--export-all --workers=1 --listen=http://127.0.0.1:0 &&
	clone http && told_nothing && stop_daemon
'

test_expect_success MOTO 'settings that are wrong' '
	stock -C src.git config gitreach.publishStoreLifetime 21601 &&
	import 2>err && grep "warning: r.git: packs could not be published: .*21600 seconds" err &&
	test_must_fail list packs &&
	stock -C src.git config --unset gitreach.publishStoreLifetime
'

test_expect_success MOTO 'without the setting, the next repack drops the packs' '
	import && list packs &&
	stock -C src.git config gitreach.publishStore false && import &&
	test_must_fail list packs && rm -rf cache && serve && clone http &&
	downloads 0 && told_nothing && ! grep packfile-uris packets &&
	on verify --full $store && stop_daemon
'

test_done
