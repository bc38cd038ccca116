#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='want-ref, sideband-all and bundle-uri of protocol v2'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"

UP=--upload-pack=$GITREACH_BUILD/bin/git-upload-pack

test_expect_success 'setup' '
	repo_linear server.git 12 &&
	repo_tags server.git &&
	stock -C server.git config uploadpack.allowRefInWant true &&
	stock -C server.git config uploadpack.allowSidebandAll true &&
	main=$(stock -C server.git rev-parse main)
'

# ask <server> <line>...: one request; the answer as text.
ask () {
	GIT_PROTOCOL=version=2 $1 upload-pack --stateless-rpc server.git \
		<request 2>err | tr -d "\0" >answer
}

# both: stock Git and ours give the same answer to `request`, up to the pack.
both () {
	ask stock && sed "/packfile/,\$d" answer >expect &&
	ask git && sed "/packfile/,\$d" answer >actual &&
	test_cmp expect actual
}

test_expect_success 'a ref by name' '
	pkt command=fetch object-format=sha1 D "want-ref refs/heads/main" \
		no-progress done F >request &&
	both &&
	grep "^....wanted-refs" actual &&
	grep "^....$main refs/heads/main" actual
'

test_expect_success 'the same ref twice, and a missing ref' '
	pkt command=fetch object-format=sha1 D "want-ref refs/heads/main" \
		"want-ref refs/heads/main" done F >request &&
	ask git && grep "ERR duplicate want-ref refs/heads/main" answer &&
	pkt command=fetch object-format=sha1 D "want-ref refs/heads/no" \
		done F >request &&
	both && grep "ERR unknown ref refs/heads/no" actual
'

test_expect_success 'sideband-all multiplexes the whole response' '
	pkt command=fetch object-format=sha1 D sideband-all \
		"want-ref refs/heads/main" no-progress done F >request &&
	both &&
	pkt command=fetch object-format=sha1 D sideband-all \
		"have $main" "have $(echo $main | tr 0-9a-f 1-9a-f0)" \
		"want $main" F >request &&
	both &&
	pkt command=fetch object-format=sha1 D sideband-all \
		"want-ref refs/heads/no" done F >request &&
	both
'

test_expect_success 'a client that asks for sideband-all' '
	GIT_TEST_SIDEBAND_ALL=1 stock_client clone -q --bare "$UP" \
		"file://$PWD/server.git" all.git &&
	test_served_by_us &&
	grep "sideband-all" packets &&
	stock -C all.git fsck --full
'

test_expect_success 'a list of bundles' '
	pkt command=bundle-uri object-format=sha1 D F >request &&
	ask git && grep "ERR invalid command .bundle-uri." answer &&
	stock -C server.git config uploadpack.advertiseBundleURIs true &&
	stock -C server.git config bundle.version 1 &&
	stock -C server.git config bundle.mode all &&
	stock -C server.git config bundle.One.URI https://example.com/b &&
	ask git &&
	printf "%s" "0014bundle.version=10013bundle.mode=all" >expect &&
	printf "%s" "0028bundle.One.uri=https://example.com/b0000" >>expect &&
	test_cmp expect answer &&
	pkt command=bundle-uri object-format=sha1 D more F >request &&
	ask git && grep "ERR bundle-uri: unexpected argument: .more." answer &&
	GIT_PROTOCOL=version=2 git upload-pack --advertise-refs server.git |
		grep "bundle-uri$"
'

test_done
