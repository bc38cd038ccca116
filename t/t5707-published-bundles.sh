#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='published bundles, from which clones start'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-web.sh"
. "$GITREACH_SRC/t/lib-meanwhile.sh"

UP=--upload-pack=$GITREACH_BUILD/bin/git-upload-pack

# Clients ask servers for bundles (transfer.bundleURI) since 2.40.
case "$(stock version)" in
*\ [3-9].* | *\ 2.[4-9][0-9]*) test_set_prereq BUNDLE_CLIENT ;;
esac

! command -v curl >curl || test_set_prereq CURL

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

# ask_for_bundles <argument of git>...: the answer of the server
ask_for_bundles () {
	pkt command=bundle-uri object-format=sha1 F |
		GIT_PROTOCOL=version=2 git "$@" upload-pack --stateless-rpc \
			server.git
}

test_expect_success 'setup' '
	mkdir web srv && start_web web && ln -s srv/server.git server.git &&
	stock init -q work && stock init -q --bare srv/server.git &&
	stock -C server.git config gitreach.publishDirectory "$PWD/web" &&
	stock -C server.git config gitreach.publishUri "http://127.0.0.1:$port" &&
	stock -C server.git config gitreach.publishMinimum 1 &&
	stock -C server.git config uploadpack.advertiseBundleURIs true &&
	for n in 1 2 3 4
	do
		commit file$n || return 1
	done &&
	stock -C work tag -a -m one one && stock -C work push -q ../server.git one
'

test_expect_success 'only if the configuration says so' '
	git -C server.git repack -adbq && git -C server.git publish -q &&
	place=$(echo "$PWD"/web/*) &&
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

test_expect_success 'commits since the old list have a bundle after a repack' '
	last=$(tokens | tail -n 1) &&
	stock -C server.git for-each-ref >old.refs && tip=$(stock -C work rev-parse HEAD) &&
	commit unlisted1 && commit unlisted2 &&
	git -C server.git repack -adbq && git -C server.git publish -q &&
	test_sound 2 && printf "%s\n" $last $((last + 1)) >expect &&
	tokens | test_cmp expect - &&
	# A client with all old bundles downloads the second one only.
	file=$(list | sed -n "s/.*uri = //p" | tail -n 1) &&
	sed -n "s/^-\([0-9a-f]*\).*/\1/p; /^PACK/q" "$place/$file" >needs &&
	echo $tip >expect && test_cmp expect needs &&
	stock bundle list-heads "$place/$file" >heads &&
	grep "$(stock -C work rev-parse HEAD)" heads &&
	commit after2 && git -C server.git publish -q && test_sound 3
'

test_expect_success 'a list that is damaged has no bundle of newer commits' '
	chmod u+w "$place/bundle-list" && echo x >"$place/bundle-list" &&
	commit after3 && git -C server.git publish -q && test_sound 1
'

test_expect_success 'a branch is deleted before its bundle is made' '
	stock -C server.git branch short main~2 && commit base2 &&
	meanwhile "*/tmp_publish_*" \
		"\"$STOCK_GIT\" -C \"$PWD/server.git\" branch -D short" \
		"$GIT" -C server.git publish -q &&
	test_sound 2 &&
	tokens >before && git -C server.git publish -q &&
	tokens | test_cmp before -
'

test_expect_success 'packs are published and expire if bundles cannot be made' '
	list >before && fake=$(printf "%040d" 1).pack &&
	echo x >"$place/$fake" &&
	tree=$(printf "100644 blob %040d\tx\n" 1 |
		stock -C server.git mktree --missing) &&
	stock -C server.git update-ref refs/heads/broken \
		$(stock -C server.git commit-tree -p main -m broken $tree) &&
	git -C server.git publish >out 2>err && false || test $? = 128 &&
	grep "^fatal: git bundle create failed" err &&
	grep "^kept .*pack" out && grep "^retired $fake" out &&
	list | test_cmp before - &&
	stock -C server.git update-ref -d refs/heads/broken &&
	git -C server.git publish -q --expire=now && test_sound 2
'

test_expect_success 'without visible branches and tags there is no list' '
	stock -C server.git config transfer.hideRefs refs/ &&
	git -C server.git publish >out && ! test -e "$place/bundle-list" &&
	grep "^retired .*bundle" out &&
	stock -C server.git config --unset transfer.hideRefs &&
	git -C server.git publish -q && test_sound 1
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
	stock -C server.git update-ref -d refs/heads/secret &&
	git -C server.git publish -q && test_sound 1
'

test_expect_success 'the server sends the list, with addresses' '
	ask_for_bundles >answer &&
	for key in version=1 mode=all heuristic=creationToken
	do
		grep -a "bundle.$key" answer || return 1
	done &&
	token=$(tokens) && file=$(list | sed -n "s/.*uri = //p") &&
	url=http://127.0.0.1:$port/$(basename "$place")/$file &&
	grep -a "bundle.$token.uri=$url" answer &&
	grep -a "bundle.$token.creationtoken=$token" answer
'

test_expect_success 'a client to which other rules apply gets no list' '
	printf 0000 >none && ask_for_bundles >answer &&
	grep -a bundle.version=1 answer &&
	ask_for_bundles -c transfer.hideRefs=refs/heads/main >other &&
	test_cmp none other &&
	ask_for_bundles -c uploadpack.hideRefs="!refs/heads" >other &&
	test_cmp none other &&
	GIT_NAMESPACE=space ask_for_bundles >other &&
	test_cmp none other &&
	stock -C server.git config transfer.hideRefs refs/pull &&
	ask_for_bundles >other && test_cmp none other &&
	git -C server.git publish -q && test_sound 1 &&
	ask_for_bundles >answer && grep -a bundle.version=1 answer &&
	ask_for_bundles -c transfer.hideRefs=refs/heads/main >other &&
	test_cmp none other &&
	stock -C server.git config --unset transfer.hideRefs &&
	ask_for_bundles >other && test_cmp none other &&
	git -C server.git publish -q && test_sound 1 &&
	ask_for_bundles >other && grep -a bundle.version=1 other
'

test_expect_success CURL 'a user for whom an access helper hides refs gets no list' '
	. "$GITREACH_SRC/t/lib-gitreachd.sh" &&
	cat >helper <<-\EOF &&
	#!/bin/sh
	while read -r line
	do
		case "$line" in
		user=bob\ *) echo allow hide=refs/heads/main ;;
		*) echo allow ;;
		esac
	done
	EOF
	chmod +x helper && pids="$pids $web" && web_port=$port &&
	start_daemon --export-all --listen=http://127.0.0.1:0 \
		--user-header=X-User --trusted-proxy=127.0.0.1 \
		--access-helper=./helper &&
	port=$web_port &&
	pkt command=bundle-uri object-format=sha1 F >request &&
	for user in alice bob
	do
		curl -sf -H "X-User: $user" -H "Git-Protocol: version=2" \
			-H "Content-Type: application/x-git-upload-pack-request" \
			--data-binary @request $url/server.git/git-upload-pack \
			>$user || return 1
	done &&
	grep -a bundle.version=1 alice &&
	printf 0000 >none && test_cmp none bob &&
	stop_daemon
'

test_expect_success 'no list is sent if a bundle is missing' '
	file=$(list | sed -n "s/.*uri = //p") && mv "$place/$file" saved &&
	printf 0000 >none && ask_for_bundles >answer && test_cmp none answer &&
	mv saved "$place/$file" &&
	ask_for_bundles >answer && grep -a "$file" answer
'

test_expect_success 'empty values and no list are left out' '
	ask_for_bundles -c bundle.version=1 -c bundle.mode= >answer &&
	printf "0014bundle.version=10000" | test_cmp - answer &&
	ask_for_bundles -c gitreach.publishBundles=false >answer &&
	printf 0000 | test_cmp - answer &&
	echo x >"$place/bundle-list.x" && cp "$place/bundle-list" saved &&
	chmod u+w "$place/bundle-list" && echo x >"$place/bundle-list" &&
	ask_for_bundles >answer 2>err && printf 0000 | test_cmp - answer &&
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

test_expect_success 'a client whose user names the list' '
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
