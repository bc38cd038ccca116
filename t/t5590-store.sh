#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='stores of files: directories, and buckets of S3-compatible services

The services are moto, which is fetched once with pip into build/moto, and versitygw
and MinIO, if they are installed (t/lib-services.sh).

t/store-shim.py stands between client and service, and makes failures.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-moto.sh"
. "$GITREACH_SRC/t/lib-services.sh"

command -v openssl >/dev/null && test_set_prereq OPENSSL

# test_must_be_empty_dir <directory>: there is no file in the directory, if it exists
test_must_be_empty_dir () {
	test -z "$(find "$1" -type f 2>/dev/null)"
}

# with_faults <fault>...: the faults of the next requests
with_faults () {
	printf "%s\n" "$@" >faults && : >requests
}

# start_shim [<certificate> <key>]: sets $shim, the port.
start_shim () {
	: >faults
	: >requests
	python3 "$GITREACH_SRC/t/store-shim.py" $moto_port "$@" >shim.$# 2>&1 &
	moto_pids="$moto_pids $!"
	wait_until test -s shim.$# && shim=$(cat shim.$#)
}

test_expect_success 'the program is not linked with libcurl' '
	readelf -d "$GIT" >dynamic &&
	grep NEEDED dynamic &&
	test_must_fail grep -i curl dynamic
'

test_expect_success 'a directory keeps what a store promises' '
	"$STORE" "file://$PWD/dir" suite >out && last ok &&
	"$STORE" "file://$PWD/dir" probe >out && last ok &&
	"$STORE" "file://$PWD/dir" list "" >out &&
	echo ok >expect && test_cmp expect out
'

test_expect_success 'git store probe' '
	git store probe "file://$PWD/probed" >actual &&
	echo "file://$PWD/probed: ok" >expect &&
	test_cmp expect actual &&
	test_must_be_empty_dir probed/probe &&
	test_expect_code 129 git store probe 2>err &&
	test_expect_code 129 git store 2>err &&
	test_expect_code 128 git store probe http://bucket/ 2>err &&
	grep "^fatal: invalid URL of a store" err &&
	>file &&
	test_expect_code 128 git store probe "file://$PWD/file" 2>err &&
	grep "^fatal: " err &&
	(
		unset AWS_SECRET_ACCESS_KEY &&
		test_expect_code 128 git store probe s3://bucket 2>err &&
		grep "^fatal: no access keys for the store" err
	)
'

test_expect_success 'of processes that create a name in a directory, one wins' '
	children= &&
	for i in 1 2 3 4 5 6 7 8
	do
		"$STORE" "file://$PWD/dir" create race/name $i >race.$i &
		children="$children $!"
	done &&
	for pid in $children
	do
		wait $pid || return 1
	done &&
	cat race.? >all &&
	test $(grep -c "^ok$" all) = 1 &&
	test $(grep -c "^conflict$" all) = 7 &&
	winner=$(grep -l "^ok$" race.?) &&
	"$STORE" "file://$PWD/dir" get race/name >actual &&
	printf "%s\nok\n" ${winner#race.} >expect &&
	test_cmp expect actual
'

test_expect_success 'URLs and keys that are wrong' '
	test_must_fail "$STORE" http://bucket/ list "" 2>err &&
	grep "invalid URL of a store" err &&
	test_must_fail "$STORE" --endpoint=host s3://bucket list "" 2>err &&
	grep "invalid endpoint" err &&
	(
		unset AWS_SECRET_ACCESS_KEY &&
		test_must_fail "$STORE" s3://bucket list "" 2>err &&
		grep "no access keys for the store" err
	)
'

test_expect_success 'nobody listens: the request had no effect' '
	options=--tries=2 endpoint=http://127.0.0.1:1 &&
	s3 create a 1 >out 2>err && last unavailable &&
	s3 get a >out 2>err && last unavailable &&
	grep "127.0.0.1" err
'

seq 1 2000000 | head -c 11000000 >big

test_service moto

# moto checks a condition in one step and writes in another. In one of ten runs, the
# probe found two winners.
test_expect_success MOTO 'MOTO: the probe passes, or finds more than one winner' '
	if s3 probe >out 2>err
	then
		last ok
	else
		grep "not safe to use: [0-9]* of 32 concurrent [a-z]* of" err
	fi &&
	s3 list probe/ >out && echo ok >expect && test_cmp expect out
'

test_expect_success MOTO 'MOTO: git store probe' '
	test_might_fail git store probe --endpoint=$endpoint s3://bucket/x \
		>out 2>err &&
	cat out err >all &&
	grep "^s3://bucket/x: ok$\|not safe to use" all &&
	test_expect_code 128 git store probe --endpoint=$endpoint s3://none \
		2>err &&
	grep "^fatal: " err
'

for service in versitygw minio
do
	test_service $service
	test_safe_service $service
done

test_expect_success VERSITYGW 'keys in a file' '
	endpoint=http://127.0.0.1:$versitygw_port &&
	cat >keys <<-EOK &&
	[default]
	aws_access_key_id = $AWS_ACCESS_KEY_ID
	aws_secret_access_key = $AWS_SECRET_ACCESS_KEY
	EOK
	(
		unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY &&
		AWS_SHARED_CREDENTIALS_FILE=$PWD/keys &&
		export AWS_SHARED_CREDENTIALS_FILE &&
		s3 head pack/big >out
	) &&
	last ok
'

test_expect_success MOTO 'a lost answer of a conditional put is ambiguous' '
	start_shim && endpoint=http://127.0.0.1:$shim options=--tries=4 &&
	for fault in lose late-500
	do
		with_faults $fault &&
		s3 create gen/$fault 1 >out 2>err && last ambiguous &&
		test_line_count 1 requests &&
		s3 get gen/$fault >out && printf "1\nok\n" >expect &&
		test_cmp expect out || return 1
	done
'

test_expect_success MOTO 'a dropped request is ambiguous, too' '
	with_faults drop &&
	s3 create gen/drop 1 >out 2>err && last ambiguous &&
	test_line_count 1 requests &&
	s3 head gen/drop >out && last absent &&
	with_faults 500 &&
	s3 create gen/drop 1 >out 2>err && last ambiguous &&
	test_line_count 1 requests
'

test_expect_success MOTO 'other puts and reads are repeated' '
	with_faults lose late-500 500 &&
	s3 put hint 1 >out && last ok &&
	test_line_count 4 requests &&
	with_faults lose 500 503 &&
	s3 head hint >out && last ok &&
	test_line_count 4 requests &&
	with_faults drop 502 504 &&
	s3 list hint >out && printf "1 hint\nok\n" >expect &&
	test_cmp expect out &&
	with_faults lose lose lose lose &&
	s3 put hint 2 >out 2>err && last ambiguous &&
	with_faults lose lose lose lose &&
	s3 get hint >out 2>err && last unavailable
'

test_expect_success MOTO 'failures without effect are repeated' '
	with_faults slow conflict 429 &&
	s3 create gen/slow 1 >out && last ok &&
	test_line_count 4 requests &&
	with_faults slow slow slow slow &&
	s3 create gen/slower 1 >out 2>err && last unavailable &&
	grep SlowDown err &&
	with_faults slow lose &&
	s3 create gen/slower 1 >out 2>err && last ambiguous &&
	test_line_count 2 requests
'

test_expect_success MOTO 'a proxy that repeats a create makes a conflict of it' '
	with_faults repeat &&
	s3 create gen/repeat mine >out && last conflict &&
	s3 get gen/repeat >out && printf "mine\nok\n" >expect &&
	test_cmp expect out
'

test_expect_success MOTO 'a delete without an answer is not repeated' '
	with_faults lose &&
	s3 delete gen/repeat >out 2>err && last ambiguous &&
	test_line_count 1 requests &&
	s3 delete gen/repeat >out && last ok
'

test_expect_success MOTO 'a body that is cut is continued' '
	with_faults cut=4000000 500 cut=3000000 &&
	s3 get pack/big >got && { cat big && echo && echo ok; } >expect &&
	cmp expect got &&
	sed "s/.* //" requests >actual &&
	cat >expect <<-\EOE &&
	-
	bytes=4000000-10999999
	bytes=4000000-10999999
	bytes=7000000-10999999
	EOE
	test_cmp expect actual &&
	with_faults cut=1 &&
	s3 range pack/big 100 5 >got &&
	{ tail -c +101 big | head -c 5 && echo && echo ok; } >expect &&
	cmp expect got
'

test_expect_success MOTO 'parts and the last step of an upload' '
	options="--tries=4 --part=5242880" &&
	with_faults 500 pass lose lose 500 slow &&
	s3 create-file pack/parts big >out && last ok &&
	s3 get pack/parts >got && { cat big && echo && echo ok; } >expect &&
	cmp expect got &&
	with_faults pass pass pass pass lose &&
	s3 create-file pack/last big >out 2>err && last ambiguous &&
	test_line_count 5 requests &&
	s3 head pack/last >out && last ok
'

test_expect_success MOTO 'limits of time' '
	options="--tries=1 --stall=2000" &&
	with_faults delay=15 &&
	s3 create gen/late 1 >out 2>err && last ambiguous &&
	with_faults delay=15 &&
	s3 get hint >out 2>err && last unavailable &&
	options="--tries=5 --stall=2000" &&
	with_faults delay=15 &&
	s3 get hint >out && last ok
'

test_expect_success MOTO,OPENSSL 'TLS, and a certificate that is not known' '
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 \
		-nodes -keyout tls.key -out tls.crt -days 2 -subj /CN=store \
		-addext subjectAltName=IP:127.0.0.1 2>openssl.log &&
	start_shim tls.crt tls.key && endpoint=https://127.0.0.1:$shim &&
	options=--ca=tls.crt &&
	s3 create tls/a 1 >out && last ok &&
	s3 get tls/a >out && last ok &&
	options= &&
	test_must_fail s3 get tls/a >out 2>err &&
	grep -i certificate err
'

test_done
