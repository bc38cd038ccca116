#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='versitygw and MinIO: repositories in a bucket, from import to export

Only where these programs are installed; t/lib-services.sh has the commands. moto is
tried by other tests.'
. "$(dirname "$0")/../lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-gitreachd.sh"
. "$GITREACH_SRC/t/lib-moto.sh"
. "$GITREACH_SRC/t/lib-services.sh"
trap 'for pid in $pids $moto_pids; do kill $pid; done 2>/dev/null' EXIT

if test -z "$versitygw$minio"
then
	skip_all='versitygw and minio are missing (go install, see t/lib-services.sh)'
	test_done
fi

store=s3://bucket/repos

# on <subcommand> <argument>...: git store with the service at $endpoint
on () {
	on_verb=$1 && shift &&
	git store $on_verb --endpoint=$endpoint "$@"
}

# node <nr>: start a node. Sets $url.
node () {
	served_from= start_daemon --store=$store --store-endpoint=$endpoint \
		--cache=$service-node$1 --export-all --enable=receive-pack \
		--workers=2 --listen=git://127.0.0.1:0
}

# commit <parent> <name>: print the id of a new commit of client.git
commit () {
	test_tick && stock -C client.git commit-tree -p $1 -m $2 main^{tree}
}

# same <repository>: it is sound, and has the refs of client.git
same () {
	stock -C "$1" fsck --full --strict &&
	stock -C client.git for-each-ref >expect &&
	stock -C "$1" for-each-ref >actual && test_cmp expect actual
}

test_expect_success 'setup' '
	seq 1 2000000 | head -c 11000000 >big &&
	repo_linear client.git 40 && repo_tags client.git &&
	stock -C client.git config gitreach.publishStore true &&
	stock -C client.git config gitreach.publishMinimum 1 &&
	"$GIT" -C client.git repack -adbq
'

for service in versitygw minio
do
	prereq=$(printf %s $service | tr a-z A-Z)
	test_service $service
	test_safe_service $service

	test_expect_success $prereq "$service: import, and clones from two nodes" '
		on import --name=team/a.git client.git $store &&
		node 1 && one=$url && node 2 && two=$url &&
		for node in $one $two
		do
			rm -rf copy.git &&
			stock clone -q --mirror $node/team/a.git copy.git &&
			same copy.git || return 1
		done &&
		test -e $service-node1/probed && test -e $service-node2/probed
	'

	test_expect_success $prereq "$service: pushes to two nodes, repack and gc" '
		for nr in 1 2 3 4 5 6
		do
			new=$(commit main $nr) &&
			stock -C client.git update-ref refs/heads/$nr $new &&
			test $((nr % 2)) = 0 && node=$one || node=$two &&
			stock -C client.git push -q $node/team/a.git \
				$new:refs/heads/$nr || return 1
		done &&
		for node in $one $two
		do
			stock ls-remote $node/team/a.git "refs/*" >seen &&
			stock ls-remote client.git "refs/*" >expect &&
			test_cmp expect seen || return 1
		done &&
		on repack $store >out && grep "packs became 1" out &&
		stock -C client.git push -q $one/team/a.git :refs/heads/6 &&
		stock -C client.git update-ref -d refs/heads/6 &&
		on gc $store &&
		rm -rf copy.git &&
		stock clone -q --mirror $two/team/a.git copy.git && same copy.git
	'

	test_expect_success $prereq "$service: a client downloads a published pack" '
		for node in $one $two
		do
			rm -rf copy.git &&
			stock_client -c fetch.uriProtocols=http clone -q --mirror \
				$node/team/a.git copy.git && same copy.git &&
			grep "clone< [0-9a-f]\{40\} $endpoint/.*X-Amz-Signature=" \
				packets || return 1
		done
	'

	test_expect_success $prereq "$service: log, list, verify and export" '
		on list $store >out && echo team/a.git >expect &&
		test_cmp expect out &&
		on log $store team/a.git >out &&
		test $(grep -c "^generation\|^[0-9]" out) -ge 8 &&
		on verify --full $store &&
		rm -rf out.git && on export $store team/a.git out.git &&
		same out.git
	'

	test_expect_success $prereq "$service: the next service begins anew" '
		for pid in $pids $moto_pids
		do
			kill $pid && wait $pid
		done
		pids= moto_pids= &&
		for nr in 1 2 3 4 5
		do
			stock -C client.git update-ref -d refs/heads/$nr ||
				return 1
		done
	'
done

test_done
