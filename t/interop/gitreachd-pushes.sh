#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='stock Git pushes to gitreachd over each transport: signed, atomic,
with options, deletions, from a shallow clone

t5502 and t5402 have the other requests of stock Git. GITREACH_CLIENTS=all tries
protocol versions 0, 1 and 2; otherwise, version 2 is tried.'
. "$(dirname "$0")/../lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-gitreachd.sh"

case "${GITREACH_CLIENTS-}" in
all) versions='0 1 2' ;;
*) versions=2 ;;
esac
if ! command -v ssh-keygen >/dev/null
then
	skip_all='ssh-keygen is missing (apt-get install openssh-client)'
	test_done
fi

test_expect_success 'setup' '
	ssh-keygen -q -t ed25519 -N "" -C key -f key &&
	echo "me@example.com $(cat key.pub)" >signers &&
	repo_criss_cross client.git 40 &&
	repo_tags client.git &&
	stock -C client.git config gpg.format ssh &&
	stock -C client.git config user.signingKey "$PWD/key" &&
	mkdir srv &&
	repo_init empty.git &&
	for setting in http.receivepack=true receive.certNonceSeed=seed \
		receive.certNonceSlop=3600 receive.advertisePushOptions=true \
		receive.denyDeleteCurrent=ignore \
		gpg.ssh.allowedSignersFile="$PWD/signers"
	do
		stock -C empty.git config "${setting%%=*}" "${setting#*=}" ||
			return
	done &&
	: >empty.git/git-daemon-export-ok &&
	cat >empty.git/hooks/pre-receive <<-EOC &&
	#!/bin/sh
	{
		echo \$GIT_PUSH_CERT_STATUS \$GIT_PUSH_CERT_NONCE_STATUS
		echo \$GIT_PUSH_OPTION_COUNT
		echo "\$GIT_PUSH_OPTION_0,\$GIT_PUSH_OPTION_1"
	} >"$PWD/told"
	EOC
	chmod +x empty.git/hooks/pre-receive
'

# server_anew: an empty repository, or one with main and side.
server_anew () {
	rm -rf srv/server.git &&
	cp -R empty.git srv/server.git &&
	test $# -eq 0 ||
		stock -C client.git push -q "$PWD/srv/server.git" main side
}

# push_by <version> <argument>...: stock Git pushes from client.git to ours
push_by () {
	v=$1
	shift
	stock_client -v$v -C client.git push -q "$@" && test_served_by_us
}

# test_version <name> <url> <version>
test_version () {
	name=$1 url=$2 v=$3

	test_expect_success "$name: v$v, signed, with options" '
		server_anew &&
		push_by $v --mirror --signed -o "a b" -o c "$url" &&
		test_same_repo client.git srv/server.git &&
		printf "G OK\n2\na b,c\n" >expect &&
		test_cmp expect told
	'

	test_expect_success "$name: v$v, atomic" '
		server_anew with-branches &&
		stock -C srv/server.git config \
			receive.denyNonFastForwards true &&
		stock -C srv/server.git for-each-ref >expect &&
		test_must_fail stock -C client.git -c protocol.version=$v \
			push -q --atomic "$url" main~1:refs/heads/one \
			+main~4:main 2>err &&
		stock -C srv/server.git for-each-ref >actual &&
		test_cmp expect actual &&
		stock -C srv/server.git config --unset \
			receive.denyNonFastForwards &&
		push_by $v --atomic --signed "$url" main~1:refs/heads/one \
			+main~4:main :side &&
		test $(stock -C srv/server.git rev-parse main) = \
			$(stock -C client.git rev-parse main~4) &&
		test_must_fail stock -C srv/server.git rev-parse -q \
			--verify side &&
		stock -C srv/server.git fsck --full --strict
	'

	test_expect_success "$name: v$v, deletions alone" '
		server_anew with-branches &&
		push_by $v --delete "$url" side &&
		stock -C srv/server.git for-each-ref >refs &&
		test_line_count 1 refs &&
		push_by $v --atomic --signed --delete -o x "$url" main &&
		stock -C srv/server.git for-each-ref >refs &&
		test_must_be_empty refs &&
		printf "G OK\n1\nx,\n" >expect &&
		test_cmp expect told
	'

	test_expect_success "$name: v$v, from a shallow clone" '
		server_anew with-branches &&
		rm -rf short.git &&
		stock_client -v$v clone -q --bare --depth=2 "$url" \
			short.git &&
		new=$(echo new | stock -C short.git commit-tree -p main \
			"main^{tree}") &&
		stock_client -v$v -C short.git push -q "$url" \
			$new:refs/heads/new &&
		test_served_by_us &&
		stock -C srv/server.git fsck --full --strict &&
		test $(stock -C srv/server.git rev-parse new) = $new
	'
}

# test_transport <name> <url>
test_transport () {
	for version in $versions
	do
		test_version "$1" "$2" $version
	done
}

test_gitreachd --enable=receive-pack

test_expect_success 'the server ends' '
	stop_daemon
'

test_done
