# SPDX-License-Identifier: MIT
#
# Sourced after lib-moto.sh by tests that run with several S3-compatible services.
# Sets the prerequisites VERSITYGW and MINIO if these programs are installed:
#
#	go install github.com/versity/versitygw/cmd/versitygw@latest
#	go install github.com/minio/minio@latest
#
#	service_start <name>   start moto, versitygw or minio with an empty bucket
#	                       "bucket". Sets $service_port, and $endpoint for the
#	                       option --endpoint. Returns 0, or 1 if it is missing.
#	service_age <time>     give all files of versitygw this time, as in touch -d
#	test_service <name>    start a service, and test what each has to do. Sets
#	                       <name>_port
#	test_safe_service <name>   test what moto does not promise, afterwards
#	s3 <act> <argument>... run t/helper/store for the service at $endpoint, with
#	                       $options

service_path=$PATH:$GITREACH_HOME/go/bin
versitygw=$(PATH=$service_path command -v versitygw) && test_set_prereq VERSITYGW
minio=$(PATH=$service_path command -v minio) && test_set_prereq MINIO

# free_port: print a port of 127.0.0.1 that nobody uses
free_port () {
	python3 -c '
import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

versitygw_start () {
	mkdir -p versitygw/bucket &&
	ROOT_ACCESS_KEY=$AWS_ACCESS_KEY_ID \
	ROOT_SECRET_KEY=$AWS_SECRET_ACCESS_KEY "$versitygw" \
		--port 127.0.0.1:$service_port --region us-east-1 \
		posix versitygw >versitygw.log 2>&1 &
	moto_pids="$moto_pids $!"
	wait_until curl -s -o /dev/null $endpoint
}

# minio_has_bucket: make the bucket; the server may not be ready
minio_has_bucket () {
	curl -sf -X PUT --aws-sigv4 aws:amz:us-east-1:s3 \
		--user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY" \
		$endpoint/bucket
}

minio_start () {
	MINIO_ROOT_USER=$AWS_ACCESS_KEY_ID \
	MINIO_ROOT_PASSWORD=$AWS_SECRET_ACCESS_KEY MINIO_BROWSER=off \
		MINIO_UPDATE=off "$minio" server --quiet \
		--address 127.0.0.1:$service_port \
		--console-address 127.0.0.1:$(free_port) \
		"${minio_dir:-$PWD/minio}" >minio.log 2>&1 &
	moto_pids="$moto_pids $!"
	wait_until minio_has_bucket
}

service_start () {
	if test "$1" = moto
	then
		moto_start && service_port=$moto_port
		return
	fi
	test -n "$(eval "printf %s \"\$$1\"")" || return
	service_port=$(free_port) &&
	endpoint=http://127.0.0.1:$service_port &&
	$1_start
}

service_age () {
	find versitygw/bucket -exec touch -h -d "$1" {} +
}

STORE=$GITREACH_BUILD/t/helper/store
options=

s3 () {
	"$STORE" --endpoint=$endpoint --pause=10 $options \
		s3://bucket/repos/one "$@"
}

# last <word>: the last line that a command has printed into the file "out"
last () {
	echo "$1" >expect.last && tail -n 1 out >actual.last &&
	test_cmp expect.last actual.last
}

test_service () {
	service_prereq=$(printf %s "$1" | tr a-z A-Z)

	test_expect_success $service_prereq "$1: the suite" '
		service_start '$1' && '$1'_port=$service_port options= &&
		s3 suite >out && last ok &&
		s3 list "" >out && echo ok >expect && test_cmp expect out
	'

	test_expect_success $service_prereq "$1: a large file is uploaded in parts" '
		options=--part=5242880 &&
		s3 create-file pack/big big >out && last ok &&
		grep -e "-3\"$" out &&
		s3 create-file pack/big big >out && last conflict &&
		s3 get pack/big >got && { cat big && echo && echo ok; } >expect &&
		cmp expect got &&
		s3 range pack/big 10485759 3 >got &&
		{ tail -c +10485760 big | head -c 3 && echo && echo ok; } >expect &&
		cmp expect got
	'

	test_expect_success $service_prereq "$1: a presigned URL" '
		s3 presign pack/big 60 >out && last ok &&
		curl -sf "$(head -n 1 out)" >got &&
		cmp big got
	'

	test_expect_success $service_prereq "$1: a bucket that does not exist" '
		test_must_fail "$STORE" --endpoint=$endpoint s3://none list "" \
			2>err &&
		grep "no such bucket.*NoSuchBucket" err
	'
}

test_safe_service () {
	service_prereq=$(printf %s "$1" | tr a-z A-Z)

	test_expect_success $service_prereq "$1: the probe passes" '
		options= &&
		s3 probe >out && last ok &&
		s3 list probe/ >out && echo ok >expect && test_cmp expect out &&
		git store probe --endpoint=$endpoint s3://bucket/x >actual &&
		echo "s3://bucket/x: ok" >expect && test_cmp expect actual
	'

	test_expect_success $service_prereq "$1: a listing of many pages" '
		options= && s3 many 2100 list/ >out && last ok &&
		s3 list list/ >out && test_line_count 2101 out
	'

	test_expect_success $service_prereq "$1: wrong keys are denied, and no key is printed" '
		test_must_fail env AWS_SECRET_ACCESS_KEY=other-secret-8 "$STORE" \
			--endpoint=$endpoint s3://bucket list "" 2>err &&
		grep "denies access.*SignatureDoesNotMatch" err &&
		test_must_fail grep -e secret -e "$AWS_ACCESS_KEY_ID" err &&
		test_must_fail env AWS_ACCESS_KEY_ID=nobody "$STORE" \
			--endpoint=$endpoint s3://bucket list "" 2>err &&
		grep "No user exists\|denies access.*InvalidAccessKeyId" err &&
		test_must_fail grep -e secret -e nobody err &&
		# The answer to a HEAD has no code.
		test_must_fail env AWS_ACCESS_KEY_ID=nobody "$STORE" \
			--endpoint=$endpoint s3://bucket head a 2>err &&
		grep "No user exists\|denies access" err &&
		test_must_fail grep -e secret -e nobody err
	'
}
