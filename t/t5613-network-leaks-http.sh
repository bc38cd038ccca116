#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='fork networks: what http-backend does not give of another

Attacks on member B of a network over HTTP: the files of the store through B,
paths that leave it, and what the other suites do to upload-pack and
receive-pack as requests to a CGI program.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-leaks.sh"

# cgi <method> <path> [<query>] [<variable>=<value>...], body from standard
# input
cgi () {
	method=$1 path=$2 query=${3-} &&
	shift $(($# > 2 ? 3 : 2)) &&
	env -u GIT_COMMITTER_NAME -u GIT_COMMITTER_EMAIL \
		GIT_PROJECT_ROOT="$PWD/srv" GIT_HTTP_EXPORT_ALL=1 \
		GATEWAY_INTERFACE=CGI/1.1 SERVER_PROTOCOL=HTTP/1.1 \
		REQUEST_METHOD="$method" PATH_INFO="$path" \
		QUERY_STRING="$query" "$@" \
		"$GITREACH_BUILD/exec/git-http-backend" | tr -d "\r"
}

test_expect_success 'setup' '
	network_of_two &&
	test_is_exposed &&
	pack=$(cd srv/store.git/objects/pack && echo *.pack) &&
	echo own loose | stock -C srv/b.git hash-object -w --stdin >loose &&
	sed "s,^..,&/," loose >loose.path
'

for set in '' true
do
	test_expect_success "files of objects, http.getanyfile=$set" '
		if test -n "'$set'"
		then
			stock -C srv/b.git config http.getanyfile true
		fi &&
		for path in objects/info/alternates \
			objects/info/http-alternates objects/info/packs \
			objects/pack/$pack objects/pack/${pack%.pack}.idx \
			objects/$(cat loose.path) HEAD info/refs \
			objects/$(echo $BLOB | sed "s,^..,&/,")
		do
			cgi GET /b.git/$path "" </dev/null >out 2>err &&
			grep "^Status: 403" out || return
		done
	'
done

test_expect_success 'the store' '
	for path in objects/info/packs objects/pack/$pack HEAD info/refs
	do
		cgi GET /store.git/$path "" </dev/null >out 2>err &&
		grep "^Status: 403" out || return
	done &&
	for service in git-upload-pack git-receive-pack
	do
		cgi GET /store.git/info/refs service=$service REMOTE_USER=u \
			</dev/null >out 2>err &&
		grep "^Status: 403" out || return
	done
'

test_expect_success 'paths that leave B' '
	for path in /b.git/../store.git/objects/pack/$pack \
		/b.git/../store.git/info/refs \
		/b.git/objects/../../store.git/objects/info/packs \
		/b.git/objects/pack/../../../store.git/objects/pack/$pack \
		/b.git//../store.git/HEAD /b.git/./../store.git/HEAD \
		/b.git/network/members /store.git/network/members \
		/b.git/%2e%2e/store.git/HEAD /b.git/config \
		/b.git/objects/info/commit-graph
	do
		cgi GET $path "" </dev/null >out 2>err &&
		grep "^Status: [45]0" out && ! grep -a PACK out || {
			echo "$path"; cat out err; return 1
		}
	done
'

UPLOAD=CONTENT_TYPE=application/x-git-upload-pack-request
RECEIVE=CONTENT_TYPE=application/x-git-receive-pack-request

# post2 <line>...: a request of v2
post2 () {
	pkt command=fetch object-format=sha1 D no-progress "$@" F |
		cgi POST /b.git/git-upload-pack "" $UPLOAD \
			GIT_PROTOCOL=version=2
}

for v in 0 2
do
	test_expect_success "v$v: wants of objects of another member" '
		if test '$v' = 2
		then
			want () {
				post2 "want $1" done
			}
		else
			want () {
				pkt "want $1 no-progress" F done |
					cgi POST /b.git/git-upload-pack "" \
						$UPLOAD
			}
		fi &&
		for id in $COMMIT $PARENT $TREE $BLOB $TAG $HIDDEN $BURIED
		do
			alike $id want && grep -a "not our ref" real.out ||
				return
		done &&
		want $OWN >out && grep -a PACK out >pack
	'
done

test_expect_success 'v2: haves of objects of another member' '
	have () {
		post2 "want $OWN" "have $1"
	} &&
	alike $COMMIT have && alike $HIDDEN have && alike $BLOB have &&
	grep -a NAK real.out
'

test_expect_success 'v0: haves of objects of another member' '
	have () {
		pkt "want $OWN multi_ack_detailed no-progress" F "have $1" F |
			cgi POST /b.git/git-upload-pack "" $UPLOAD
	} &&
	alike $COMMIT have && alike $TAG have
'

test_expect_success 'advertisements' '
	for service in git-upload-pack git-receive-pack
	do
		cgi GET /b.git/info/refs service=$service REMOTE_USER=u \
			</dev/null >out &&
		! grep -a -e $COMMIT -e $TAG -e $HIDDEN -e $BURIED -e secret \
			-e virtual out &&
		grep -a "$OWN refs/heads/own" out || return
	done
'

test_expect_success 'a push of a ref to an object of another member' '
	stock -C thief.git pack-objects -q --stdout </dev/null >empty &&
	ref () {
		{
			printf "0070%s %s refs/heads/x\0report-status" $ZERO $1 &&
			printf 0000 && cat empty
		} | cgi POST /b.git/git-receive-pack "" $RECEIVE REMOTE_USER=u |
			tr -d "\0"
	} &&
	alike $COMMIT ref &&
	grep -a "ng refs/heads/x missing necessary objects" real.out &&
	alike $TAG ref && alike $BLOB ref &&
	test_must_fail stock -C srv/b.git rev-parse -q --verify refs/heads/x
'

test_done
