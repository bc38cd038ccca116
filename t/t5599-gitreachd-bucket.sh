#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='gitreachd: repositories in a bucket, and the requests to its service'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-gitreachd.sh"
. "$GITREACH_SRC/t/lib-moto.sh"
trap 'for pid in $pids $moto_pids; do kill $pid; done 2>/dev/null' EXIT

store=s3://bucket/repos

import () {
	git store import --endpoint=http://127.0.0.1:$moto_port --force \
		--name=team/app.git src.git $store
}

# serve <option>...: the server sends its requests through the shim
serve () {
	served_from= start_daemon --store=$store --cache=cache --export-all --workers=1 \
		--threads=4 --store-endpoint=http://127.0.0.1:$shim_port \
		--no-store-probe --listen=http://127.0.0.1:0 "$@"
}

shows () {
	stock ls-remote $url/team/app.git >seen && stock ls-remote src.git >expect &&
	test_cmp expect seen
}

# sent <number> [<generation>]: so many requests were sent since the last call of
# shim_faults. From time to time, the server asks for the generation that it has.
sent () {
	cat requests && grep -v "/gen/000000000000000${2-none} " requests >counted
	test $(wc -l <counted) -eq $1
}

advertise () {
	curl -s -o adv -w "%{http_code}\n" --max-time 60 -H "Git-Protocol: version=2" \
		"$url/team/app.git/info/refs?service=git-upload-pack"
}

test_expect_success MOTO 'setup' '
	repo_linear src.git 30 && repo_tags src.git &&
	"$GIT" -C src.git repack -adbq &&
	moto_start && shim_start && import && serve
'

test_expect_success MOTO 'a first clone: hint, listing, side bundle, pack' '
	shim_faults pass && advertise >code && grep 200 code && sent 4 &&
	stock clone -q --bare $url/team/app.git one.git &&
	stock -C one.git fsck --full --strict && shows
'

test_expect_success MOTO 'nothing new: one request to the service for one of a client' '
	for i in 1 2 3
	do
		shim_faults pass && advertise >code && grep 200 code && sent 1 1 ||
			return 1
	done
'

# absent <status>: the answer for a repository that may be missing
absent () {
	curl -s -o /dev/null -w "%{http_code}\n" --max-time 60 \
		"$url/absent.git/info/refs?service=git-upload-pack" >code &&
	grep $1 code
}

test_expect_success MOTO 'a repository that does not exist is asked for once' '
	stop_daemon && serve --store-absent-age=86400000 &&
	shim_faults pass && absent 404 && test -s requests &&
	shim_faults pass && absent 404 && sent 0 &&
	: "another machine makes it" &&
	git store import --endpoint=http://127.0.0.1:$moto_port --name=absent.git src.git \
		$store && absent 404 &&
	: "this machine makes it" &&
	git store import --endpoint=http://127.0.0.1:$shim_port --name=absent.git --force \
		--cache=cache src.git $store && absent 200 &&
	stop_daemon && serve --store-absent-age=0 &&
	shim_faults pass && ! stock ls-remote $url/none && test -s requests &&
	shim_faults pass && ! stock ls-remote $url/none && test -s requests &&
	stop_daemon && serve && stock -C one.git remote set-url origin $url/team/app.git
'

test_expect_success MOTO 'a new generation: two requests and its files' '
	stock -C src.git update-ref refs/heads/new main~3 && import &&
	shim_faults pass && advertise >code && grep 200 code &&
	# one more table of refs
	sent 3 1 && shows && stock -C one.git fetch -q
'

# record away | back: move the newest record of team/app.git out of the bucket, or back
record () {
	"$GITREACH_SRC/build/moto/bin/python" - $endpoint $1 <<-\EOF
	import sys, boto3
	s3 = boto3.client("s3", endpoint_url=sys.argv[1], region_name="us-east-1")
	key = "repos/repo/team/app.git/_/gen/0000000000000002"
	if sys.argv[2] == "away":
	    open("record", "wb").write(
	        s3.get_object(Bucket="bucket", Key=key)["Body"].read())
	    s3.delete_object(Bucket="bucket", Key=key)
	else:
	    s3.put_object(Bucket="bucket", Key=key, Body=open("record", "rb").read())
	EOF
}

test_expect_success MOTO 'a bucket that lost the repository' '
	stop_daemon && serve && record away && advertise >code && grep 503 code &&
	grep "app.git: cannot be served from the store: the store does not have generation 2" \
		log &&
	record back && shows
'

test_expect_success MOTO 'answers that fail are asked for again' '
	stock -C src.git update-ref refs/heads/newer main~2 && import &&
	shim_faults 503 lose pass cut=10 500 && shows &&
	grep " 503 " requests && grep " cut=10 " requests
'

test_expect_success MOTO 'keys are not in the cache, and wrong keys refuse requests' '
	stop_daemon && ! grep -r $AWS_SECRET_ACCESS_KEY cache &&
	! grep $AWS_SECRET_ACCESS_KEY log &&
	serve --store-region=us-east-1 && shim_faults 403 && advertise >code &&
	grep 503 code &&
	grep "team/app.git: cannot be served from the store: " log &&
	shim_faults pass && shows
'

test_expect_success MOTO 'a service that is away' '
	stop_daemon && shim_faults pass &&
	serve --store-stale=3600 && shows &&
	for pid in $moto_pids; do kill $pid; done && moto_pids= &&
	shows && grep "may be out of date" log &&
	stop_daemon && serve && advertise >code && grep 503 code &&
	stop_daemon
'

test_expect_success MOTO 'without keys the server does not start' '
	(
		unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY &&
		test_must_fail "$DAEMON" --store=$store --cache=cache4 \
			--listen=http://127.0.0.1:0 2>err
	) &&
	grep -e "--store: .*key" err
'

# start <option>...: the server with an empty cache, as it starts by itself
start () {
	rm -rf fresh && : >requests &&
	timeout 60 "$DAEMON" --store=$store --cache=fresh --export-all \
		--store-endpoint=http://127.0.0.1:$shim_port --listen=http://127.0.0.1:0 "$@"
}

test_expect_success MOTO 'a service that ignores conditions is refused at the start' '
	rm moto.log && moto_start && shim_start && : >careless &&
	test_expect_code 128 start 2>err && rm careless &&
	grep "store.*not safe to use" err && ! grep "listens on" err &&
	! grep "^DELETE" requests | grep -v "/probe/" && ! test -e fresh/probed
'

test_expect_success MOTO 'a service that does not answer is examined later' '
	rm -rf fresh && served_from= start_daemon --store=$store --cache=fresh \
		--store-endpoint=http://127.0.0.1:1 --listen=http://127.0.0.1:0 &&
	grep "could not be tested, and the next start will test it" log &&
	! test -e fresh/probed && stop_daemon
'

test_expect_success MOTO 'a store that was examined is not examined again' '
	rm -rf fresh && mkdir fresh && : >fresh/probed && : >requests &&
	served_from= start_daemon --store=$store --cache=fresh \
		--store-endpoint=http://127.0.0.1:$shim_port \
		--listen=http://127.0.0.1:0 &&
	stop_daemon && test_must_be_empty requests
'

test_done
