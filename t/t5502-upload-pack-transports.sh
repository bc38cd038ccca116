#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='our upload-pack started by git daemon, ssh and http-backend'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"

test_expect_success 'setup' '
	mkdir srv &&
	repo_criss_cross srv/server.git 40 &&
	repo_tags srv/server.git &&
	stock -C srv/server.git repack -adq &&
	touch srv/server.git/git-daemon-export-ok &&
	stock -C srv/server.git config uploadpack.allowFilter true &&
	# For version 0, in which what is fetched later has to be allowed.
	stock -C srv/server.git config uploadpack.allowAnySHA1InWant true &&
	stock -C srv/server.git log -p main >log.expect
'

# test_transport <name> <url> [<configuration>...]
test_transport () {
	name=$1 url=$2
	for v in 0 1 2
	do
		test_expect_success "$name: v$v" '
			rm -rf clone.git short.git &&
			stock_client -v$v ls-remote "$url" >actual &&
			test_served_by_us &&
			stock ls-remote srv/server.git >expect &&
			test_cmp expect actual &&
			stock_client -v$v clone -q --mirror "$url" \
				clone.git &&
			test_served_by_us &&
			test_same_repo srv/server.git clone.git &&
			stock_client -v$v clone -q --bare --depth=2 "$url" \
				short.git &&
			test_served_by_us &&
			stock -C short.git fsck --full &&
			stock_client -v$v -C short.git fetch -q --deepen=3 &&
			test_served_by_us &&
			stock -C short.git fsck --full &&
			test $(stock -C short.git rev-list --count main) -gt 2 &&
			stock -C srv/server.git update-ref refs/heads/new-$v \
				$(echo new | stock -C srv/server.git \
				commit-tree -p main -p side "main^{tree}") &&
			stock_client -v$v -C clone.git fetch -q &&
			test_served_by_us &&
			test_same_repo srv/server.git clone.git &&
			stock_client -v$v -C short.git fetch -q --unshallow &&
			test_served_by_us &&
			stock -C short.git fsck --full &&
			test -z "$(find short.git/shallow -size +0)" &&
			test_must_fail stock_client -v$v fetch "$url" \
				1234567890123456789012345678901234567890
		'

		test_expect_success "$name: v$v, in part, the rest later" '
			rm -rf part.git &&
			stock_client -v$v clone -q --bare --filter=blob:none \
				"$url" part.git &&
			test_served_by_us &&
			stock -C part.git fsck &&
			stock -C part.git rev-list --objects --all \
				--missing=print >objects &&
			grep -c "^?" objects >missing &&
			stock_client -v$v -C part.git log -p main >log.actual &&
			test_served_by_us &&
			test_cmp log.expect log.actual &&
			stock -C part.git fsck
		'
	done
}

. "$GITREACH_SRC/t/lib-transports.sh"

test_done
