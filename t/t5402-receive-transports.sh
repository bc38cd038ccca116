#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='our receive-pack started by git daemon, ssh and http-backend'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"

test_expect_success 'setup' '
	mkdir srv &&
	repo_criss_cross client.git 40 &&
	repo_tags client.git &&
	repo_init srv/server.git &&
	stock -C srv/server.git config http.receivepack true &&
	stock -C srv/server.git config receive.advertisePushOptions true &&
	stock -C srv/server.git config receive.denyDeleteCurrent ignore &&
	touch srv/server.git/git-daemon-export-ok
'

# test_transport <name> <url>
test_transport () {
	name=$1 url=$2
	for v in 0 1 2
	do
		test_expect_success "$name: v$v" '
			stock_client -v$v -C client.git push -q "$url" \
				main~5:refs/heads/main &&
			test_served_by_us &&
			stock_client -v$v -C client.git push -q --mirror \
				--atomic -o x=y "$url" &&
			test_served_by_us &&
			test_same_repo srv/server.git client.git &&
			test_must_fail stock_client -v$v -C client.git push \
				-q "$url" main~3:main &&
			stock_client -v$v -C client.git push -q --prune \
				"$url" "refs/none/*:refs/*" &&
			stock -C srv/server.git for-each-ref >refs &&
			test_cmp /dev/null refs &&
			find srv -name "tmp_*" >left &&
			test_cmp /dev/null left
		'
	done
}

DAEMON_OPTIONS=--enable=receive-pack
. "$GITREACH_SRC/t/lib-transports.sh"

# The branch of a work tree is compared without the prefix of the namespace.
for deny in refuse ignore
do
	test_expect_success "a namespace, and a branch checked out: $deny" '
		repo_linear ns-client.git 2 &&
		for who in ours stock
		do
			rm -rf ns-$who && stock init -q ns-$who &&
			stock -C ns-$who config receive.denyCurrentBranch \
				'$deny' &&
			run="$GIT" &&
			test $who = ours || run="$STOCK_GIT" &&
			for what in main :main
			do
				code=0 &&
				stock -C ns-client.git \
					-c protocol.ext.allow=always push \
					"ext::$run --namespace=ns receive-pack ../ns-$who/.git" \
					$what 2>err || code=$?
				echo "exit $code" &&
				grep rejected err
				stock -C ns-$who for-each-ref
			done >ns-$who.out || return 1
		done &&
		test_cmp ns-stock.out ns-ours.out
	'
done

test_done
