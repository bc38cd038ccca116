#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='clients begin with bundles that our upload-pack names'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"

UP=--upload-pack=$GITREACH_BUILD/bin/git-upload-pack

# Clients ask servers for bundles (transfer.bundleURI) since 2.40.
case "$(stock version)" in
*\ [3-9].* | *\ 2.[4-9][0-9]*) test_set_prereq BUNDLE_CLIENT ;;
esac

# names [<key> <value>]...: what the server tells of bundles from now on.
names () {
	stock -C server.git config --remove-section bundle 2>/dev/null
	for id in base next
	do
		stock -C server.git config --remove-section bundle.$id \
			2>/dev/null
	done
	stock -C server.git config bundle.version 1 &&
	while test $# -gt 0
	do
		stock -C server.git config "bundle.$1" "$2" || return
		shift 2
	done
}

# clone_with_bundles: by a client that asks for them.
clone_with_bundles () {
	rm -rf clone.git events &&
	GIT_TRACE2_EVENT="$PWD/events" stock_client \
		-c transfer.bundleURI=true clone -q --no-local --mirror \
		"$UP" server.git clone.git &&
	test_served_by_us &&
	grep "clone> command=bundle-uri" packets &&
	stock -C clone.git fsck &&
	stock -C server.git for-each-ref >expect &&
	stock -C clone.git for-each-ref --exclude=refs/bundles/ >actual &&
	test_cmp expect actual
}

# sent: how many objects the server sent.
sent () {
	sed -n "s/.*\"objects_sent\":\([0-9]*\).*/\1/p" events | tail -n 1
}

test_expect_success 'setup' '
	repo_linear server.git 30 &&
	stock -C server.git update-ref refs/heads/old main~20 &&
	stock -C server.git update-ref refs/heads/newer main~10 &&
	git -C server.git bundle create -q ../base.bundle old &&
	git -C server.git bundle create -q ../next.bundle newer ^old &&
	stock -C server.git config uploadpack.advertiseBundleURIs true &&
	base=file://$PWD/base.bundle next=file://$PWD/next.bundle
'

test_expect_success 'bundle-uri sends the configured list' '
	names mode any base.uri "$base" next.uri "$next" \
		next.creationToken 2 &&
	pkt command=bundle-uri object-format=sha1 F |
		GIT_PROTOCOL=version=2 git upload-pack --stateless-rpc \
			server.git >answer &&
	for line in bundle.version=1 bundle.mode=any "bundle.base.uri=$base" \
		"bundle.next.uri=$next" bundle.next.creationtoken=2
	do
		printf "%04x%s" $((${#line} + 4)) "$line"
	done >expect && printf 0000 >>expect &&
	test_cmp expect answer
'

test_expect_success BUNDLE_CLIENT 'without bundles all objects are sent' '
	names mode all &&
	rm -f events &&
	GIT_TRACE2_EVENT="$PWD/events" stock_client clone -q --no-local \
		--mirror "$UP" server.git whole.git &&
	! grep "command=bundle-uri" packets &&
	sent >all &&
	stock -C server.git rev-list --count --objects --all >expect &&
	test_cmp expect all
'

test_expect_success BUNDLE_CLIENT 'a client fetches all bundles' '
	names mode all base.uri "$base" next.uri "$next" &&
	clone_with_bundles &&
	stock -C server.git rev-list --count --objects main ^newer >expect &&
	sent >actual &&
	test_cmp expect actual
'

test_expect_success BUNDLE_CLIENT 'any of them is enough' '
	names mode any base.uri "$base" next.uri "file://$PWD/none" &&
	clone_with_bundles &&
	stock -C server.git rev-list --count --objects --all ^old >expect &&
	sent >actual &&
	test_cmp expect actual
'

test_expect_success BUNDLE_CLIENT 'by their tokens' '
	names mode all heuristic creationToken base.uri "$base" \
		base.creationToken 1 next.uri "$next" next.creationToken 2 &&
	clone_with_bundles &&
	stock -C server.git rev-list --count --objects main ^newer >expect &&
	sent >actual &&
	test_cmp expect actual
'

test_expect_success BUNDLE_CLIENT 'a clone succeeds if bundles are missing' '
	names mode all base.uri "file://$PWD/none" &&
	clone_with_bundles 2>err &&
	sent >actual &&
	test_cmp all actual
'

test_done
