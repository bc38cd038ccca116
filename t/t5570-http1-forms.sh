#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='how requests of HTTP/1.1 are read, and that nginx never
reads more or fewer requests in the bytes than ours

GITREACH_HTTP1_FORMS is the number of random forms that are compared.'
. "$(dirname "$0")/lib.sh"

FORMS=$GITREACH_SRC/t/fuzz/corpus/http1-head
READ=$GITREACH_BUILD/t/helper/http1-read
test -x /usr/sbin/nginx && command -v curl >/dev/null && test_set_prereq NGINX
pid=
trap 'test -z "$pid" || kill $pid' EXIT

# The name of a form begins with what the last request of its stream gets: ok,
# more (incomplete), or a status.
test_expect_success 'each form is read as its name says' '
	for form in "$FORMS"/*
	do
		name=${form##*/} &&
		"$READ" <"$form" >out &&
		case ${name%%-*} in
		ok) expected=end ;;
		*) expected=${name%%-*} ;;
		esac &&
		if test "$(tail -n 1 out)" != $expected
		then
			echo "$name: $(tail -n 1 out)" >&2 &&
			return 1
		fi || return 1
	done
'

test_expect_success 'requests behind a body are read as requests' '
	for name in ok-length ok-chunked ok-chunked-case
	do
		"$READ" <"$FORMS/$name" >out &&
		test_line_count 3 out &&
		grep "^/next 0$" out || return 1
	done &&
	"$READ" <"$FORMS/ok-pipelined" >out &&
	test_line_count 4 out
'

test_expect_success NGINX 'start nginx' '
	mkdir -p ng &&
	python3 -c "import socket; print(socket.create_server((\"127.0.0.1\", 0)).getsockname()[1])" >port &&
	cat >ng/conf <<-EOF &&
	daemon off;
	master_process off;
	pid pid;
	error_log errors;
	events {}
	http {
		access_log off;
		client_body_temp_path body;
		proxy_temp_path proxy;
		fastcgi_temp_path fastcgi;
		uwsgi_temp_path uwsgi;
		scgi_temp_path scgi;
		server {
			listen 127.0.0.1:$(cat port);
			merge_slashes off;
			location / { return 200 "<\$request_uri>"; }
		}
	}
	EOF
	{ /usr/sbin/nginx -p "$PWD/ng" -c "$PWD/ng/conf" 2>ng/start & } &&
	pid=$! &&
	for i in 1 2 3 4 5 6 7 8 9 10
	do
		curl -s "http://127.0.0.1:$(cat port)/" && break
		sleep 0.2
	done
'

# A request that ours accepts is one that nginx accepts, and both find its end
# at the same byte. nginx is more lenient: requests that only nginx accepts are
# no danger behind our refusal, since the connection is closed then.
test_expect_success NGINX 'nginx finds the same requests in the same bytes' '
	python3 "$GITREACH_SRC/t/http1-compare.py" "$READ" "$FORMS" $(cat port)
'

test_expect_success NGINX 'random changes of the forms are read alike, too' '
	seed=${GITREACH_TEST_SEED:-$(date +%s)} &&
	echo "seed $seed" &&
	python3 "$GITREACH_SRC/t/http1-compare.py" "$READ" "$FORMS" \
		$(cat port) ${GITREACH_HTTP1_FORMS:-200} $seed
'

test_done
