#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='published bundles, from which clones start'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-web.sh"

UP=--upload-pack=$GITREACH_BUILD/bin/git-upload-pack

# Clients ask servers for bundles (transfer.bundleURI) since 2.40.
case "$(stock version)" in
*\ [3-9].* | *\ 2.[4-9][0-9]*) test_set_prereq BUNDLE_CLIENT ;;
esac

# commit <name>: a commit, pushed to the server
commit () {
	head -c 10000 /dev/urandom >work/$1 && stock -C work add . &&
	test_tick && stock -C work commit -q -m $1 &&
	stock -C work push -q ../server.git HEAD
}

# list: the list of bundles; tokens: its tokens
list () {
	cat "$place/bundle-list"
}

tokens () {
	list | sed -n "s/.*creationToken = \([0-9]\)/\1/p"
}

# test_sound <nr>: the list has so many bundles. One after the other, they can be
# unbundled, and then have all branches and tags.
test_sound () {
	rm -rf x.git && stock init -q --bare x.git &&
	list | sed -n "s/.*uri = //p" >files && test_line_count $1 files &&
	tokens >order && sort -n -u order | test_cmp - order &&
	while read -r file
	do
		test "$(sha1sum <"$place/$file")" = "${file%.bundle}  -" &&
		stock -C x.git bundle verify -q "$place/$file" &&
		stock -C x.git fetch -q "$place/$file" "+refs/*:refs/*" ||
			return 1
	done <files &&
	stock -C server.git for-each-ref refs/heads refs/tags >refs &&
	stock -C x.git for-each-ref >actual && test_cmp refs actual &&
	stock -C x.git fsck --full
}

test_expect_success 'setup' '
	mkdir web && start_web web &&
	stock init -q work && stock init -q --bare server.git &&
	stock -C server.git config gitreach.publishDirectory "$PWD/web" &&
	stock -C server.git config gitreach.publishUri "http://127.0.0.1:$port" &&
	stock -C server.git config gitreach.publishMinimum 1 &&
	stock -C server.git config uploadpack.advertiseBundleURIs true &&
	for n in 1 2 3 4
	do
		commit file$n || return 1
	done &&
	stock -C work tag -a -m one one && stock -C work push -q ../server.git one &&
	name=$(printf %s "$PWD/server.git/objects" | sha256sum) &&
	place=$PWD/web/$(echo $name | cut -c1-32)
'

test_expect_success 'only if the configuration says so' '
	git -C server.git repack -adbq && git -C server.git publish -q &&
	! test -e "$place/bundle-list" &&
	stock -C server.git config gitreach.publishBundles true &&
	git -C server.git publish -q &&
	test_sound 1
'

test_expect_success 'new commits get bundles of their own, a few' '
	git -C server.git publish -q && test_sound 1 &&
	for n in 2 3 4 2 3
	do
		tokens >before && commit more$n && git -C server.git publish -q &&
		test_sound $n && tokens >after &&
		tail -n 1 before >last && tail -n 1 after >>last &&
		sort -n -u last | test_cmp - last || return 1
	done &&
	ls "$place"/*.bundle.retired >old && test_line_count 3 old
'

test_expect_success 'a branch that is rewound or deleted needs no bundle' '
	list >before &&
	stock -C server.git branch side main~3 &&
	stock -C server.git branch -D side &&
	stock -C server.git branch old main~3 &&
	git -C server.git publish -q && list | test_cmp before - &&
	stock -C server.git branch -D old
'

test_expect_success 'after a repack there is one bundle, with the last token' '
	tokens | tail -n 1 >last &&
	git -C server.git repack -adbq && git -C server.git publish -q &&
	test_sound 1 && tokens | test_cmp last - &&
	commit after && git -C server.git publish -q && test_sound 2
'

test_expect_success 'bundles with refs that are hidden now go' '
	stock -C work checkout -q -b secret && commit secret &&
	stock -C work checkout -q - &&
	commit base && git -C server.git publish -q &&
	stock -C server.git config transfer.hideRefs refs/heads/secret &&
	git -C server.git publish -q &&
	list | sed -n "s/.*uri = //p" >files && test_line_count 1 files &&
	stock bundle list-heads "$place/$(cat files)" >heads &&
	! grep secret heads &&
	stock -C server.git config --unset transfer.hideRefs &&
	stock -C server.git update-ref -d refs/heads/secret
'

test_expect_success 'the server sends the list, with addresses' '
	pkt command=bundle-uri object-format=sha1 F |
		GIT_PROTOCOL=version=2 git upload-pack --stateless-rpc \
			server.git >answer &&
	for key in version=1 mode=all heuristic=creationToken
	do
		grep -a "bundle.$key" answer || return 1
	done &&
	token=$(tokens) && file=$(list | sed -n "s/.*uri = //p") &&
	url=http://127.0.0.1:$port/$(basename "$place")/$file &&
	grep -a "bundle.$token.uri=$url" answer &&
	grep -a "bundle.$token.creationtoken=$token" answer
'

test_expect_success 'empty values and no list are left out' '
	ask () {
		pkt command=bundle-uri object-format=sha1 F |
			GIT_PROTOCOL=version=2 git "$@" upload-pack \
				--stateless-rpc server.git
	} &&
	ask -c bundle.version=1 -c bundle.mode= >answer &&
	printf "0014bundle.version=10000" | test_cmp - answer &&
	ask -c gitreach.publishBundles=false >answer &&
	printf 0000 | test_cmp - answer &&
	echo x >"$place/bundle-list.x" && cp "$place/bundle-list" saved &&
	chmod u+w "$place/bundle-list" && echo x >"$place/bundle-list" &&
	ask >answer 2>err && printf 0000 | test_cmp - answer &&
	grep "list of bundles is damaged" err &&
	git -C server.git publish -q && test_sound 1
'

test_expect_success BUNDLE_CLIENT 'a client of the protocol starts with bundles' '
	commit last && git -C server.git publish -q && commit unbundled &&
	rm -rf copy events && : >web.log &&
	GIT_TRACE2_EVENT="$PWD/events" stock_client \
		-c transfer.bundleURI=true clone -q --no-local --mirror \
		"$UP" server.git copy &&
	test_served_by_us &&
	grep -c "GET .*bundle.* 200" web.log >nr && echo 2 >expect &&
	test_cmp expect nr &&
	stock -C copy fsck --full &&
	stock -C copy for-each-ref refs/heads refs/tags >actual &&
	stock -C server.git for-each-ref refs/heads refs/tags >expect &&
	test_cmp expect actual &&
	sed -n "s/.*\"objects_sent\":\([0-9]*\).*/\1/p" events >sent &&
	echo 3 >expect && test_cmp expect sent
'

test_expect_success 'a client that is told of the list by its user' '
	rm -rf copy && : >web.log &&
	stock_client clone -q --no-local \
		--bundle-uri="http://127.0.0.1:$port/$(basename "$place")/bundle-list" \
		"$UP" server.git copy &&
	stock -C copy fsck --full &&
	test "$(stock -C copy rev-parse HEAD)" = \
		"$(stock -C server.git rev-parse HEAD)"
'

test_expect_success 'when it is turned off, bundles retire and go' '
	stock -C server.git config gitreach.publishBundles false &&
	git -C server.git publish --expire=now >out &&
	grep "^removed .*bundle" out &&
	! ls "$place"/*bundle* | grep -v "bundle-list.x"
'

test_expect_success 'an empty repository has no bundles' '
	stock init -q --bare empty.git &&
	git -C empty.git -c gitreach.publishDirectory="$PWD/web" \
		-c gitreach.publishBundles=true publish >out &&
	test_must_be_empty out
'

test_done
