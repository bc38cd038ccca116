#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='gitreachd: users that a trusted proxy names'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-gitreachd.sh"

test_expect_success 'setup' '
	mkdir srv &&
	repo_criss_cross srv/r.git 10 &&
	: >srv/r.git/git-daemon-export-ok &&
	printf "#!/bin/sh\necho hook of \$REMOTE_USER\n" \
		>srv/r.git/hooks/pre-receive &&
	chmod +x srv/r.git/hooks/pre-receive &&
	stock clone -q srv/r.git work
'

# push <name> <option of git>...: push HEAD as a branch
push () {
	name=$1
	shift
	stock -C work "$@" push $url/r.git HEAD:refs/heads/$name 2>err
}

test_expect_success 'a trusted proxy names the user, who may push' '
	start_daemon --listen=http://127.0.0.1:0 --user-header=X-User \
		--trusted-proxy=192.0.2.1 --trusted-proxy=127.0.0.0/8 &&
	push a -c http.extraHeader="x-user: alice" &&
	grep "hook of alice" err &&
	test_must_fail push b &&
	test_must_fail push b -c http.extraHeader="X-User;" &&
	test_must_fail push b -c http.extraHeader="X-Users: alice" &&
	test_must_fail stock -C srv/r.git rev-parse -q --verify b &&
	stock ls-remote $url/r.git >out &&
	test -s out
'

test_expect_success 'two names are refused' '
	test_must_fail push b -c http.extraHeader="X-User: alice" \
		-c http.extraHeader="X-User: bob" &&
	grep "error: 400" err &&
	stop_daemon
'

test_expect_success 'the header of another client is not believed' '
	start_daemon --listen=http://127.0.0.1:0 --user-header=X-User \
		--trusted-proxy=192.0.2.1 &&
	test_must_fail push b -c http.extraHeader="X-User: alice" &&
	stop_daemon &&
	start_daemon --listen=http://127.0.0.1:0 &&
	test_must_fail push b -c http.extraHeader="X-User: alice" &&
	stop_daemon
'

test_expect_success 'wrong options are one clear line' '
	check () {
		test_must_fail "$DAEMON" --base-path=srv \
			--listen=http://127.0.0.1:0 $2 2>err &&
		head -n 1 err | grep -e "$1"
	} &&
	check "trusted-proxy is missing" --user-header=X-User &&
	check "not of the form <address>" --trusted-proxy=localhost
'

test_done
