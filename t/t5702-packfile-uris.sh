#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='upload-pack: blobs that clients get elsewhere (packfile-uris)'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-web.sh"

# elsewhere <repository> <revision of a blob> [<protocol>]: offer it.
elsewhere () {
	blob=$(stock -C "$1" rev-parse "$2") &&
	pack=$(echo $blob | stock -C "$1" pack-objects -q "$PWD/web/blob") &&
	stock -C "$1" config --add uploadpack.blobPackfileUri \
		"$blob $pack ${3-http}://127.0.0.1:$port/blob-$pack.pack"
}

# clone <protocols> <argument>...: into `copy`; the server is ours.
clone () {
	protocols=$1
	shift
	rm -rf copy &&
	stock_client -c fetch.uriProtocols="$protocols" clone -q --no-local \
		--upload-pack="$GITREACH_BUILD/bin/git-upload-pack" "$@" copy &&
	test_served_by_us
}

# told: how many URIs the server told.
told () {
	grep -c "upload-pack> .*[0-9a-f]\{40\} http://127" "$TRACE_DIR/packets"
}

# test_told <nr>
test_told () {
	nr=$(told)
	test "$nr" = "$1" || {
		echo "$nr URIs were told" >&2
		return 1
	}
}

test_expect_success 'a web server' '
	mkdir web &&
	start_web web
'

test_expect_success 'setup' '
	stock init -q work &&
	for n in 1 2 3 4
	do
		seq $n 2000 >work/big && echo $n >work/file$n &&
		stock -C work add . && test_tick &&
		stock -C work commit -q -m $n || return 1
	done &&
	stock clone -q --bare work plain.git &&
	stock clone -q --bare work server.git &&
	stock -C server.git repack -adq &&
	stock clone -q --mirror server.git indexed.git &&
	"$GIT" -C indexed.git repack -adbq &&
	for repository in server.git indexed.git
	do
		elsewhere $repository main~1:big &&
		elsewhere $repository main:file3 || return 1
	done
'

test_expect_success 'offered when something is configured' '
	for repository in plain.git server.git
	do
		GIT_PROTOCOL=version=2 "$GIT" upload-pack \
			--http-backend-info-refs $repository |
			tr "\\0" " " >$repository.out || return 1
	done &&
	grep " packfile-uris" server.git.out &&
	! grep packfile-uris plain.git.out
'

for repository in server.git indexed.git
do
	test_expect_success "a clone of $repository" '
		clone http,https $repository &&
		test_told 2 &&
		grep "< packfile-uris" packets &&
		stock -C copy fsck --full --strict &&
		test "$(stock -C copy rev-parse HEAD)" = \
			"$(stock -C work rev-parse main)" &&
		ls copy/.git/objects/pack/*.pack >packs &&
		test_line_count 3 packs &&
		stock -C copy cat-file -p main~1:big >got &&
		stock -C work cat-file -p main~1:big >expect &&
		test_cmp expect got
	'
done

test_expect_success 'the sent pack does not have the blobs' '
	for pack in copy/.git/objects/pack/*.idx
	do
		stock show-index <$pack | cut -d" " -f2 >>seen || return 1
	done &&
	sort seen | uniq -d >twice &&
	test_line_count 0 twice
'

test_expect_success 'clients that accept no URIs, or other protocols' '
	clone "" server.git &&
	! grep "packfile-uris" packets | grep "clone>" &&
	test_told 0 &&
	clone https server.git &&
	test_told 0 &&
	grep "clone> packfile-uris https" packets &&
	stock -C copy fsck --full --strict &&
	rm -rf copy &&
	stock_client -v0 -c fetch.uriProtocols=http clone -q --no-local \
		--upload-pack="$GITREACH_BUILD/bin/git-upload-pack" \
		server.git copy &&
	stock -C copy fsck --full --strict
'

test_expect_success 'only URIs of blobs that would be sent are sent' '
	stock init -q copy2 &&
	cd copy2 &&
	for rev in main~2 main~1 main
	do
		stock_client -c fetch.uriProtocols=http fetch -q \
			--upload-pack="$GITREACH_BUILD/bin/git-upload-pack" \
			../server.git \
			"$(stock -C ../work rev-parse $rev):refs/heads/x" ||
			return 1
		echo "$rev $(told)" >>../told
	done &&
	cd .. &&
	stock -C copy2 fsck --full --strict &&
	cat >expect <<-\EOF &&
	main~2 0
	main~1 2
	main 0
	EOF
	test_cmp expect told
'

test_expect_success 'no URI is sent for a blob that a filter excludes' '
	stock -C server.git config uploadpack.allowFilter true &&
	clone http --filter=blob:none --bare server.git &&
	test_told 0
'

test_expect_success 'packfile-uris with sideband-all' '
	stock -C server.git config uploadpack.allowSidebandAll true &&
	GIT_TEST_SIDEBAND_ALL=1 clone http server.git &&
	test_told 2 &&
	grep "clone> sideband-all" packets &&
	stock -C copy fsck --full --strict
'

test_expect_success 'a shallow clone, with progress' '
	clone http --progress --depth=1 server.git 2>err &&
	test_told 1 &&
	grep "^remote: Total" err &&
	stock -C copy fsck --full --strict
'

test_expect_success 'a client refuses a pack of wrong content' '
	for pack in web/*.pack
	do
		cp $pack $pack.saved && echo x >$pack || return 1
	done &&
	test_must_fail clone http server.git 2>err &&
	for pack in web/*.pack
	do
		mv $pack.saved $pack || return 1
	done
'

test_expect_success 'requests that no real client sends' '
	want=$(stock -C work rev-parse main) &&
	pkt command=fetch object-format=sha1 D "packfile-uris http" \
		"packfile-uris http" "want $want" done F |
		GIT_PROTOCOL=version=2 "$GIT" upload-pack --stateless-rpc \
		server.git >out 2>err
	grep -a "ERR multiple packfile-uris lines forbidden" out &&
	pkt command=fetch object-format=sha1 D "packfile-uris http" \
		"want $want" done F |
		GIT_PROTOCOL=version=2 "$GIT" upload-pack --stateless-rpc \
		plain.git >out 2>err
	grep -a "ERR unexpected line: .packfile-uris http" out
'

test_expect_success 'a malformed value of uploadpack.blobPackfileUri' '
	stock -C plain.git config uploadpack.blobPackfileUri "x y z" &&
	test_must_fail "$GIT" upload-pack --http-backend-info-refs plain.git \
		2>err &&
	grep "must be of the form" err
'

test_expect_success 'SHA-256' '
	stock init -q --object-format=sha256 work256 &&
	for n in 1 2
	do
		seq $n 2000 >work256/big && stock -C work256 add . &&
		test_tick && stock -C work256 commit -q -m $n || return 1
	done &&
	elsewhere work256 main:big &&
	clone http work256 &&
	stock -C copy fsck --full --strict &&
	test_cmp work256/big copy/big
'

test_done
