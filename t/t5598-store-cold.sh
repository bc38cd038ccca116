#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='the first clone from a node with an empty cache

The requests to the store are counted by a proxy before moto, an S3 server.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-gitreachd.sh"
. "$GITREACH_SRC/t/lib-moto.sh"
trap 'for pid in $pids $moto_pids; do kill $pid; done 2>/dev/null' EXIT

store=s3://bucket/p

# cold <option>...: start a node with an empty cache, and forget all requests
cold () {
	rm -rf cache &&
	served_from= start_daemon --store=$store \
		--store-endpoint=http://127.0.0.1:$shim_port --cache=cache \
		--no-store-probe \
		--export-all --listen=git://127.0.0.1:0 "$@" &&
	shim_faults pass
}

# asked: the requests, without the parts of names that are random
asked () {
	sed "s, pass .*,,; s,/bucket/p/,,; s,/file/.*,/file,; s,/bucket/*?.*,list," requests
}

test_expect_success MOTO 'setup' '
	moto_start && shim_start &&
	repo_linear src.git 60 && repo_tags src.git &&
	stock -C src.git config repack.writeBitmaps true &&
	"$GIT" -C src.git gc -q &&
	echo described >src.git/description &&
	git store import --endpoint=$endpoint --name=r.git src.git $store
'

test_expect_success MOTO 'a clone of depth 1 takes four requests, in two round trips' '
	cold && stock clone -q --bare --depth=1 $url/r.git one.git &&
	asked >actual && head -n 1 actual >first && sed 1d actual | sort >rest &&
	echo "GET hint/r.git/_" >expect && test_cmp expect first &&
	cat >expect <<-\EOF &&
	GET list
	GET repo/r.git/_/file
	GET repo/r.git/_/file
	EOF
	test_cmp expect rest &&
	test "$(stock -C one.git rev-parse HEAD)" = "$(stock -C src.git rev-parse HEAD)" &&
	test "$(cat cache/repo/r.git/_/description)" = described &&
	find cache/repo/r.git/_/objects/pack/*.bitmap &&
	test_must_fail test -e cache/repo/r.git/_/objects/pack/side-files &&
	"$GIT" -C cache/repo/r.git/_ fsck --full && stop_daemon
'

test_expect_success MOTO 'after a push, one round trip and its files more' '
	cold && stock clone -q $url/r.git work && stop_daemon &&
	stock -C work commit -q --allow-empty -m more &&
	(cd work && stock push -q --receive-pack="cd ..; \"$GIT\" receive-pack" \
		"$PWD/../cache/repo/r.git/_" HEAD:refs/heads/more) &&
	cold && stock clone -q --bare --depth=1 $url/r.git two.git &&
	asked | sort >actual &&
	# The hint is new. The pack of the push has an .idx and a .rev.
	cat >expect <<-\EOF &&
	GET hint/r.git/_
	GET list
	GET repo/r.git/_/file
	GET repo/r.git/_/file
	GET repo/r.git/_/file
	GET repo/r.git/_/file
	GET repo/r.git/_/file
	EOF
	test_cmp expect actual && stop_daemon
'

# sent <count and method>...: so many requests of each kind
sent () {
	printf "%s\n" "$@" >expect &&
	sed "s/ .*//" requests | sort | uniq -c | sed "s/^ *//" >actual &&
	cmp expect actual
}

# A push sends three files and reads the record that it saw, then its record, then the
# hint. The server asks for a newer record once for each request, and its child does not.
# The clone has made the copy from the hint, so the first request after it also proves
# that the store has the record of the copy.
test_expect_success MOTO 'a push through the server' '
	stock -C src.git config http.receivepack true &&
	stock -C src.git config daemon.receivepack true &&
	git store import --force --endpoint=$endpoint --name=s.git src.git $store &&
	cold --listen=http://127.0.0.1:0 --workers=1 &&
	http=$(sed -n "s/^gitreachd: listens on \(http:.*\)/\1/p" log) &&
	stock clone -q $url/s.git work2 &&
	shim_faults pass && stock -C work2 commit -q --allow-empty -m one &&
	stock -C work2 push -q $url/s.git HEAD:refs/heads/one &&
	wait_until sent "3 GET" "5 PUT" &&
	shim_faults pass && stock -C work2 commit -q --allow-empty -m two &&
	stock -C work2 push -q $http/s.git HEAD:refs/heads/two &&
	wait_until sent "3 GET" "5 PUT" && stop_daemon
'

test_expect_success MOTO 'a hint of a repository that was removed' '
	cold && "$GITREACH_SRC/build/moto/bin/python" - <<-EOF &&
	import boto3
	s3 = boto3.client("s3", endpoint_url="$endpoint", region_name="us-east-1")
	for o in s3.list_objects_v2(Bucket="bucket", Prefix="p/repo/r.git/")["Contents"]:
	    s3.delete_object(Bucket="bucket", Key=o["Key"])
	EOF
	test_must_fail stock clone -q --bare $url/r.git three.git 2>err &&
	grep "not exported" err && stop_daemon
'

test_expect_success MOTO 'a store that is down' '
	git store import --force --endpoint=$endpoint --name=r.git src.git $store &&
	cold && shim_faults $(yes slow | head -n 200) &&
	test_must_fail stock clone -q --bare $url/r.git three.git &&
	shim_faults pass && wait_until stock ls-remote $url/r.git && stop_daemon
'

test_done
