# SPDX-License-Identifier: MIT
#
# Sourced after lib.sh by tests of clients that are not Git's own. The test first
# defines
#
#	client clone <url> <dir> [<depth> [<filter>]]    makes a bare mirror
#	client fetch <dir> [<depth> [<refspec>...]]      from the cloned URL
#	client push <dir> <refspec>...                   to the cloned URL;
#	                    all or no refs if PUSH_ATOMIC is not empty, with the
#	                    push option PUSH_OPTION if that is not empty
#	client_can <what> <url>   whether the client supports <what> at this
#	                          URL: "clone", "shallow", "deepen", "filter",
#	                          "atomic" or "options"
#
# The server is ours, behind each transport. Stock Git checks the results.

. "$GITREACH_SRC/t/lib-serve.sh"

test_expect_success 'setup' '
	mkdir srv &&
	repo_criss_cross plain.git 40 &&
	repo_tags plain.git &&
	repo_init srv/server.git &&
	stock -C srv/server.git config http.receivepack true &&
	stock -C srv/server.git config receive.denyDeleteCurrent ignore &&
	stock -C srv/server.git config uploadpack.allowFilter true &&
	stock -C srv/server.git config uploadpack.allowAnySHA1InWant true &&
	stock -C srv/server.git config receive.advertisePushOptions true &&
	{
		echo "#!/bin/sh" &&
		echo "echo \"\$GIT_PUSH_OPTION_0\" >\"$PWD/options\""
	} >srv/server.git/hooks/post-receive &&
	chmod +x srv/server.git/hooks/post-receive &&
	touch srv/server.git/git-daemon-export-ok
'

# server_anew: make srv/server.git again, packed, with a bitmap index
server_anew () {
	rm -rf srv/server.git/objects srv/server.git/refs \
		srv/server.git/packed-refs &&
	cp -R plain.git/objects plain.git/refs srv/server.git &&
	"$GIT" -C srv/server.git repack -adbq
}

# server_grows: add two commits to the server, newer than its bitmaps
server_grows () {
	for i in 1 2
	do
		test_tick &&
		stock -C srv/server.git update-ref refs/heads/new-$i \
			$(echo new $i | stock -C srv/server.git \
			commit-tree -p main -p side "main^{tree}") || return
	done
}

# mark_promised <dir>: let stock Git treat missing objects as promised.
mark_promised () {
	stock -C "$1" config core.repositoryFormatVersion 1 &&
	stock -C "$1" config extensions.partialClone origin &&
	stock -C "$1" config remote.origin.promisor true &&
	for pack in "$1"/objects/pack/*.pack
	do
		: >"${pack%.pack}.promisor" || return
	done
}

test_transport () {
	name=$1 url=$2
	client_can clone "$url" || return 0

	test_expect_success "$name: clone and fetch" '
		rm -rf clone.git && server_anew &&
		client clone "$url" clone.git &&
		test_same_repo srv/server.git clone.git &&
		server_grows &&
		client fetch clone.git &&
		test_same_repo srv/server.git clone.git
	'

	! client_can shallow "$url" ||
	test_expect_success "$name: shallow, deeper, and all" '
		rm -rf short.git && server_anew &&
		client clone "$url" short.git 1 &&
		stock -C short.git fsck --full &&
		stock -C short.git rev-list --count main >count &&
		echo 1 | test_cmp - count &&
		client_can deepen "$url" || return 0
		client fetch short.git 5 &&
		stock -C short.git fsck --full &&
		test $(stock -C short.git rev-list --count main) -gt 4 &&
		test -e short.git/shallow &&
		client fetch short.git 2147483647 &&
		test_must_fail test -s short.git/shallow &&
		test_same_repo srv/server.git short.git
	'

	! client_can filter "$url" ||
	test_expect_success "$name: in part, and a blob later" '
		rm -rf part.git && server_anew &&
		client clone "$url" part.git 0 blob:none &&
		stock -C srv/server.git rev-list --objects --all \
			--filter=blob:none --filter-print-omitted >listed &&
		sed -n "s/^~//p" listed >omitted &&
		stock -C part.git rev-list --objects --all \
			--missing=print >listed &&
		sed -n "s/^?//p" listed >missing &&
		test_cmp_sorted omitted missing &&
		mark_promised part.git &&
		stock -C part.git fsck --full &&
		blob=$(sed -n 1p omitted) &&
		client fetch part.git 0 $blob:refs/blobs/1 &&
		stock -C part.git cat-file blob $blob >actual &&
		stock -C srv/server.git cat-file blob $blob >expect &&
		test_cmp expect actual
	'

	test_expect_success "$name: push new, forced, and deleted" '
		rm -rf clone.git && server_anew &&
		client clone "$url" clone.git &&
		commit=$(echo pushed | stock -C clone.git commit-tree -p main \
			"main~3^{tree}") &&
		stock -C clone.git update-ref refs/heads/main $commit &&
		stock -C clone.git update-ref refs/heads/topic $commit &&
		stock -C clone.git update-ref refs/heads/side main~7 &&
		client push clone.git refs/heads/main refs/heads/topic \
			+refs/heads/side &&
		test_same_repo srv/server.git clone.git &&
		stock -C srv/server.git fsck --full --strict &&
		stock -C clone.git update-ref -d refs/heads/topic &&
		client push clone.git :refs/heads/topic &&
		test_same_repo srv/server.git clone.git
	'

	test_expect_success "$name: a push that is no fast-forward is refused" '
		test_when_finished "stock -C srv/server.git config \
			receive.denyNonFastForwards false" &&
		stock -C srv/server.git rev-parse main >expect &&
		stock -C srv/server.git config receive.denyNonFastForwards \
			true &&
		stock -C clone.git update-ref refs/heads/main main~4 &&
		test_must_fail client push clone.git +refs/heads/main 2>err &&
		grep -i "non-fast-forward" err &&
		stock -C srv/server.git rev-parse main >actual &&
		test_cmp expect actual
	'

	case $name:${GITREACH_CLIENTS-} in
	gitreachd,\ http: | gitreachd*:all) test_push_forms ;;
	esac
}

# Over HTTP, and with GITREACH_CLIENTS=all over each transport of gitreachd. The
# pushes of stock Git in these forms are in gitreachd-pushes.sh.
test_push_forms () {
	! client_can atomic "$url" ||
	test_expect_success "$name: an atomic push changes all refs or none" '
		rm -rf clone.git && server_anew &&
		client clone "$url" clone.git &&
		stock -C clone.git update-ref refs/heads/one main~1 &&
		stock -C clone.git update-ref refs/heads/main main~4 &&
		stock -C srv/server.git config receive.denyNonFastForwards \
			true &&
		stock -C srv/server.git for-each-ref >expect &&
		PUSH_ATOMIC=yes && export PUSH_ATOMIC &&
		test_when_finished "unset PUSH_ATOMIC" &&
		test_must_fail client push clone.git refs/heads/one \
			+refs/heads/main &&
		stock -C srv/server.git for-each-ref >actual &&
		test_cmp expect actual &&
		stock -C srv/server.git config receive.denyNonFastForwards \
			false &&
		client push clone.git refs/heads/one +refs/heads/main &&
		test_same_repo srv/server.git clone.git
	'

	! client_can options "$url" ||
	test_expect_success "$name: a push option" '
		rm -rf clone.git && server_anew &&
		client clone "$url" clone.git &&
		stock -C clone.git update-ref refs/heads/two main~2 &&
		PUSH_OPTION="a=b c" && export PUSH_OPTION &&
		test_when_finished "unset PUSH_OPTION" &&
		client push clone.git refs/heads/two &&
		test_same_repo srv/server.git clone.git &&
		echo "a=b c" >expect &&
		test_cmp expect options
	'
}

DAEMON_OPTIONS=--enable=receive-pack
. "$GITREACH_SRC/t/lib-transports.sh"
