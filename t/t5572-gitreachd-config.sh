#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='the configuration file of gitreachd, and --check-config'
. "$(dirname "$0")/lib.sh"

DAEMON=$GITREACH_BUILD/bin/gitreachd
pids=
trap 'for pid in $pids; do kill $pid; done 2>/dev/null' EXIT

# conf <line>...: write the lines into the section of the file "conf"
conf () {
	printf "[gitreachd]\n" >conf &&
	printf "\t%s\n" "$@" >>conf
}

# bad <message> <option>...: the check fails, and prints this line
bad () {
	echo "error: $1" >expected &&
	shift &&
	test_expect_code 1 "$DAEMON" --check-config "$@" >out 2>err &&
	test_must_be_empty out &&
	cmp expected err
}

# start <nr> <option>...: start the server, and wait until it has <nr> listeners.
# Its log lines about them are in the file "line".
start () {
	wanted=$1
	shift
	: >log
	"$DAEMON" "$@" 2>log &
	server=$!
	pids="$pids $server"
	wait_until eval "test \"\$(grep -c listens log)\" = $wanted" &&
	grep "listens on" log >line
}

stop () {
	kill $server && wait $server
}

test_expect_success 'setup' '
	mkdir srv &&
	repo_linear srv/r.git 3 &&
	dir=$PWD/srv
'

test_expect_success 'a correct file' '
	conf "base-path = $dir" "listen = http://127.0.0.1:0" \
		"listen = http://[::1]:80" export-all "Workers = 1" \
		"threads = 1k ; comment" "max-connections = 5" \
		"head-timeout = 1" "timeout = 2" "idle-timeout = 3" \
		"drain-timeout = 4" &&
	"$DAEMON" --config=conf --check-config >out 2>&1 &&
	test_must_be_empty out
'

test_expect_success 'each error is one line with file, line and key' '
	conf "base-path = srv" "workers = 65" "threads = x" "timeout" \
		"export-all = perhaps" "listen = http://127.0.0.1" "tls = yes" &&
	printf "[http]\n\treceivepack = true\n" >>conf &&
	test_expect_code 1 "$DAEMON" --config=conf --check-config 2>err &&
	cat >expected <<-\EOF &&
	error: conf:3: workers: must be a number between 1 and 64, not '\''65'\''
	error: conf:4: threads: must be a number between 1 and 1024, not '\''x'\''
	error: conf:5: timeout: the value is missing
	error: conf:6: export-all: must be true or false, not '\''perhaps'\''
	error: conf:8: tls: unknown key
	error: conf:10: http.receivepack: not in section [gitreachd]
	error: conf:2: base-path: must be an absolute path
	error: conf:7: listen: '\''http://127.0.0.1'\'' is not of the form http://<address>:<port>
	EOF
	cmp expected err &&
	test_expect_code 128 "$DAEMON" --config=conf 2>err &&
	cmp expected err
'

test_expect_success 'a malformed file, and files that cannot be read' '
	printf "[gitreachd]\nworkers = \"1\n" >conf &&
	bad "bad config line 2 in file conf" --config=conf &&
	bad "cannot open '\''none'\'': No such file or directory" --config=none &&
	bad "cannot read '\''srv'\'': Is a directory" --config=srv
'

test_expect_success 'errors of the command line name the option' '
	bad "--workers: must be a number between 1 and 64, not '\''0'\''" \
		--workers=0 --base-path=srv --listen=http://127.0.0.1:0 &&
	bad "--listen: '\''ftp://h'\'': only http://, https://, git:// and unix: are supported" \
		--base-path=srv --listen=ftp://h &&
	bad "--listen: '\''h'\'' is not a numeric address" \
		--base-path=srv --listen=http://h:1 &&
	bad "--listen: '\''http://::1:80'\'' is not of the form http://<address>:<port>" \
		--base-path=srv --listen=http://::1:80 &&
	bad "--listen: '\''http://127.0.0.1:80/x'\'' is not of the form http://<address>:<port>" \
		--base-path=srv --listen=http://127.0.0.1:80/x &&
	bad "--listen: '\''http://127.0.0.1:65536'\'' is not of the form http://<address>:<port>" \
		--base-path=srv --listen=http://127.0.0.1:65536 &&
	bad "--listen is missing" --base-path=srv &&
	bad "--base-path is missing" --listen=http://127.0.0.1:0
'

test_expect_success 'a base path that is no directory' '
	conf "base-path = $dir/none" "listen = http://127.0.0.1:0" &&
	bad "conf:2: base-path: cannot open directory '\''$dir/none'\'': No such file or directory" \
		--config=conf &&
	: >file &&
	bad "--base-path: cannot open directory '\''file'\'': Not a directory" \
		--config=conf --base-path=file
'

test_expect_success 'at most 16 listeners' '
	conf "base-path = $dir" &&
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
	do
		printf "\tlisten = http://127.0.0.1:$i\n" >>conf || return 1
	done &&
	"$DAEMON" --config=conf --check-config &&
	printf "\tlisten = http://127.0.0.1:17\n" >>conf &&
	bad "conf:19: listen: there are more than 16 listeners" --config=conf
'

test_expect_success 'the server uses the file, and the command line wins' '
	conf "base-path = $dir/none" "listen = http://127.0.0.1:0" \
		"listen = http://127.0.0.1:0" "workers = 3" "export-all = true" &&
	start 2 --config=conf --base-path=srv --workers=1 &&
	test "$(ps -o pid= --ppid $server | wc -l)" = 1 &&
	for url in $(sed "s/.* //" line)
	do
		stock ls-remote $url/r.git >refs &&
		grep refs/heads/main refs || return 1
	done &&
	stop &&
	start 1 --config=conf --base-path=srv --no-export-all \
		--listen=http://127.0.0.1:0 &&
	test "$(ps -o pid= --ppid $server | wc -l)" = 3 &&
	test_must_fail stock ls-remote $(sed "s/.* //" line)/r.git &&
	stop
'

test_expect_success 'a port in use: one line with the key, and no worker' '
	start 1 --base-path=srv --listen=http://127.0.0.1:0 &&
	url=$(sed "s/.* //" line) &&
	conf "base-path = $dir" "listen = http://127.0.0.1:0" "listen = $url" &&
	test_expect_code 128 "$DAEMON" --config=conf 2>err &&
	grep -c "^error: conf:4: listen: cannot listen on 127.0.0.1 port ${url##*:}: Address already in use$" err &&
	stop
'

if unshare -rm true 2>/dev/null
then
	test_set_prereq UNSHARE
fi

test_expect_success UNSHARE 'the default file is read if it exists' '
	conf "base-path = $dir" "listen = x" &&
	cat >inside <<-EOF &&
	mount -t tmpfs none /etc && mkdir /etc/gitreach &&
	cp "$PWD/conf" /etc/gitreach/gitreachd.conf &&
	exec "$DAEMON" --check-config
	EOF
	test_expect_code 1 unshare -rm sh inside 2>err &&
	grep "^error: /etc/gitreach/gitreachd.conf:3: listen: " err
'

test_expect_success 'completion offers the options' '
	"$DAEMON" --git-completion-helper >out &&
	tr " " "\n" <out >words &&
	grep -x -e --listen= words && grep -x -e --check-config words &&
	grep -x -e --version words &&
	grep -x -e --no-export-all words &&
	"$DAEMON" -h >usage || test $? = 129 &&
	sed -n "s/^    --\([a-z-]*\).*/\1/p" usage >options &&
	sed "/^$/d; /^--$/d; /^--no-/d; s/^--//; s/=//" words >offered &&
	cmp options offered
'

test_expect_success '--version' '
	"$DAEMON" --version >out &&
	grep "^gitreachd version 2[0-9.]*\.gitreach\.[0-9.]*$" out &&
	"$DAEMON" --config=none --version >again &&
	test_cmp out again
'

test_done
