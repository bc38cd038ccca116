#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='gitreachd: the access helper'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-gitreachd.sh"

# start_helped <option>...: the helper appends its questions to "asked". $git is
# the URL of git://.
start_helped () {
	start_daemon --listen=http://127.0.0.1:0 --listen=git://127.0.0.1:0 \
		--listen=unix:ssh.sock --workers=1 --user-header=X-User \
		--trusted-proxy=127.0.0.1 --enable=receive-pack \
		--enable=upload-archive "$@" &&
	wait_until grep -q "listens on unix" log &&
	git=$(sed -n "s,^gitreachd: listens on \(git:.*\),\1,p" log)
}

# as <user> <command of git>...: stock Git over HTTP
as () {
	user=$1
	shift
	stock -c http.extraHeader="X-User: $user" "$@"
}

# refs <user> <version>: the refs that the user sees over HTTP
refs () {
	as $1 -c protocol.version=$2 ls-remote $url/r.git
}

# over_ssh <user> <command of git>...
over_ssh () {
	GITREACH_SSH_USER=$1
	export GITREACH_SSH_USER
	shift
	GIT_SSH_VARIANT=simple GIT_SSH="$PWD/ssh" stock "$@"
}

test_expect_success 'setup' '
	mkdir srv srv/public &&
	repo_criss_cross srv/r.git 20 &&
	cp -r srv/r.git srv/public/p.git &&
	cp -r srv/r.git "srv/public/a b%\"q.git" &&
	stock clone -q srv/r.git work &&
	stock -C work commit -q --allow-empty -m hidden &&
	stock -C work push -q origin HEAD:refs/internal/x &&
	hidden=$(stock -C work rev-parse HEAD) &&
	stock -C work reset -q --hard HEAD^ &&
	stock -C srv/r.git config daemon.receivepack true &&
	stock -C srv/r.git config uploadpack.allowAnySHA1InWant true &&
	stock -C srv/r.git config uploadpack.hideRefs "!refs/internal" &&
	sed -n "/^#!.bin.sh/,/^\.fi/p" \
		"$GITREACH_SRC/Documentation/gitreachd.conf.5" |
	sed -e /^\.fi/d -e "s/\\\\-/-/g" -e "s/\\\\e/\\\\/g" >helper &&
	grep alice helper &&
	chmod +x helper &&
	cat >ssh <<-EOF &&
	#!/bin/sh
	shift
	SSH_ORIGINAL_COMMAND="\$*" exec "$DAEMON" \
		--ssh-client="$PWD/ssh.sock" --user=\$GITREACH_SSH_USER
	EOF
	chmod +x ssh
'

test_expect_success 'the example of the manual: allow and deny' '
	start_helped --access-helper=./helper --admin=http://127.0.0.1:0 &&
	as alice clone -q $url/r.git alice &&
	stock -C alice fsck --strict &&
	test_must_fail as carol ls-remote $url/r.git 2>err &&
	grep 403 err &&
	grep "access denied by the access helper: right=read .*user=carol" log &&
	test_must_fail stock ls-remote $url/r.git &&
	test_must_fail stock ls-remote $git/r.git 2>err &&
	grep "access denied" err &&
	stock ls-remote $url/public/p.git >out &&
	test -s out &&
	stock ls-remote $git/public/p.git >out &&
	test -s out
'

# metric <start of a line>: the number of the line; 0 if there is none
metric () {
	curl -s -S --max-time 60 "$admin/metrics" >metrics &&
	awk -v want="$1" "index(\$0, want) == 1 { n = \$NF } END { print n + 0 }" metrics
}

# is_denied <words> <command>...: the command fails, and the log gets one line, with
# these words
is_denied () {
	words=$1 &&
	shift &&
	wc -l <log >before &&
	test_must_fail "$@" 2>err &&
	sed "1,$(cat before)d" log >actual &&
	echo "access denied by the access helper: $words" >expect &&
	sed "s/^gitreachd: [^ ]*: //" actual >lines &&
	test_cmp expect lines
}

test_expect_success 'a denial has one line in the log, and is counted' '
	admin=$(sed -n "s/^gitreachd: listens on \(.*\) (status)$/\1/p" log) &&
	reads=$(metric "gitreach_access_denied_total{right=\"read\"}") &&
	web="protocol=http client=127.0.0.1" &&
	is_denied "right=read $web user=carol repository=/r.git" \
		as carol ls-remote $url/r &&
	is_denied "right=read $web user=c%20d repository=/r.git" \
		as "c d" ls-remote $url/r.git &&
	is_denied "right=read $web user=- repository=/no%22%20e.git" \
		curl -s -f "$url/no%22%20e.git/HEAD" &&
	is_denied "right=write $web user=bob repository=/r.git" \
		as bob -C alice push $url/r.git HEAD:refs/heads/bob &&
	is_denied "right=read protocol=git client=127.0.0.1 user=- repository=/r.git" \
		stock ls-remote $git/r.git &&
	is_denied "right=write protocol=git client=127.0.0.1 user=- repository=/r.git" \
		stock -C alice push $git/r.git HEAD:refs/heads/bob &&
	is_denied "right=read protocol=ssh client=- user=carol repository=/r.git" \
		over_ssh carol ls-remote ssh://h/r.git &&
	grep "access denied" err &&
	test "$(metric "gitreach_access_denied_total{right=\"read\"}")" = $((reads + 5)) &&
	test "$(metric "gitreach_access_denied_total{right=\"write\"}")" = 2 &&
	: "an allowed request has no line, and a long path is not cut off" &&
	as alice ls-remote $url/r.git &&
	long=$(printf "%0600d" 0) &&
	is_denied "right=read $web user=carol repository=/$long.git" \
		as carol ls-remote $url/$long.git
'

test_expect_success 'a refused request of a dumb client is not counted as served' '
	test $(curl -s -o out -w "%{http_code}" -H "X-User: bob" $url/r.git/HEAD) = 403 &&
	grep "Unsupported service: getanyfile" log &&
	test $(metric "gitreach_requests_total{service=\"http-backend\",command=\"get\"") = 0 &&
	test $(curl -s -o out -w "%{http_code}" -H "X-User: alice" $url/r.git/HEAD) = 200 &&
	test $(metric "gitreach_requests_total{service=\"http-backend\",command=\"get\"") = 1
'

test_expect_success 'everybody sees the same of a public repository' '
	stock -C work push -q ../srv/public/p.git HEAD:refs/internal/all &&
	stock ls-remote srv/public/p.git >expect &&
	for user in alice bob carol
	do
		as $user ls-remote $url/public/p.git >out &&
		test_cmp expect out || return
	done &&
	stock ls-remote $git/public/p.git >out &&
	test_cmp expect out
'

test_expect_success 'another path of the same repository is the same' '
	for path in r r/ r.git/ r.git
	do
		test_must_fail stock ls-remote $url/$path &&
		test_must_fail stock ls-remote $git/$path &&
		as alice ls-remote $url/$path >out && test -s out || return 1
	done &&
	test_must_fail stock ls-remote $url/missing.git 2>err &&
	grep 403 err
'

test_expect_success 'a push is asked for' '
	as alice -C work push -q $url/r.git HEAD:refs/heads/alice &&
	test_must_fail as bob -C work push $url/r.git HEAD:refs/heads/bob &&
	test_must_fail stock -C work push $git/r.git HEAD:refs/heads/bob &&
	test_must_fail stock -C work push $git/public/p.git HEAD:refs/heads/b &&
	test_must_fail stock -C srv/r.git rev-parse -q --verify bob
'

test_expect_success 'hidden refs in all versions' '
	for version in 0 1 2
	do
		refs alice $version >all &&
		grep refs/internal/x all &&
		refs bob $version >some &&
		grep -v refs/internal/x all >expect &&
		test_cmp expect some || return 1
	done &&
	as bob clone -q --mirror $url/r.git bob.git &&
	test_must_fail stock -C bob.git cat-file -e $hidden &&
	as bob ls-remote $url/r.git refs/internal/x >out &&
	test_must_be_empty out
'

test_expect_success 'hidden objects cannot be had by their ids' '
	stock init -q --bare empty.git &&
	for version in 0 1 2
	do
		test_must_fail as bob -C empty.git -c protocol.version=$version \
			fetch -q $url/r.git $hidden || return 1
	done &&
	test_must_fail stock -C empty.git cat-file -e $hidden &&
	file=$(echo $hidden | sed "s,^..,&/,") &&
	test -e srv/r.git/objects/$file &&
	curl -s -o /dev/null -w "%{http_code}\n" -H "X-User: bob" \
		$url/r.git/objects/$file >actual &&
	curl -s -o /dev/null -w "%{http_code}\n" -H "X-User: alice" \
		$url/r.git/objects/$file >>actual &&
	printf "%s\n" 403 200 >expect &&
	test_cmp expect actual &&
	curl -s -H "X-User: bob" $url/r.git/info/refs >out &&
	! grep internal out &&
	as alice -C empty.git fetch -q $url/r.git $hidden
'

test_expect_success 'hidden refs in pushes, and in children' '
	stop_daemon &&
	echo "while read -r l; do echo \"\$l\" >>asked; echo allow \
		hide=refs/internal hide=refs/it%27s/; done" >helper &&
	stock -C srv/r.git update-ref "refs/it'\''s/x" main &&
	start_helped --access-helper="sh ./helper" &&
	test_must_fail as bob -C work push $url/r.git +HEAD:refs/internal/x 2>err &&
	grep "hidden ref" err &&
	test_must_fail stock -C work push $git/r.git +HEAD:refs/internal/x 2>err &&
	grep "hidden ref" err &&
	as bob -C work push -q $url/r.git HEAD:refs/heads/bob &&
	stock -C srv/r.git rev-parse -q --verify bob &&
	stock ls-remote $git/r.git >out &&
	grep main out &&
	! grep -e internal -e it.s out &&
	test_must_fail stock -C empty.git fetch -q $git/r.git $hidden^0 &&
	test_must_fail stock archive --remote=$git/r.git main &&
	stop_daemon
'

test_expect_success 'a child that answers fetches hides, too' '
	HOME=$PWD stock config --global uploadpack.packObjectsHook \
		"$PWD/hook" &&
	printf "#!/bin/sh\nexec \"\$@\"\n" >hook &&
	chmod +x hook &&
	cp .gitconfig global &&
	GIT_CONFIG_GLOBAL=$PWD/global start_helped \
		--access-helper="sh ./helper" &&
	refs bob 2 >out && grep main out && ! grep -e internal -e it.s out &&
	stock ls-remote $git/r.git >out &&
	grep main out &&
	! grep -e internal -e it.s out &&
	test_must_fail as bob -C srv/public/p.git fetch -q $url/r.git $hidden &&
	stop_daemon
'

test_expect_success 'names cannot break a line' '
	rm -f asked &&
	start_helped --access-helper="sh ./helper" &&
	curl -s -H "X-User: a b=c%" >out \
		"$url/public/a%20b%25%22q.git/info/refs?service=git-upload-pack" &&
	grep -a refs/heads/main out &&
	cat >expect <<-\EOF &&
	user=a%20b%3Dc%25 service=upload-pack repository=/public/a%20b%25%22q.git protocol=http address=127.0.0.1
	EOF
	sort -u asked >actual &&
	test_cmp expect actual &&
	rm asked &&
	over_ssh eve ls-remote ssh://h/r.git >out &&
	grep main out &&
	! grep internal out &&
	stock ls-remote $git/r.git >out &&
	cat >expect <<-\EOF &&
	user=eve service=upload-pack repository=/r.git protocol=ssh address=
	user= service=upload-pack repository=/r.git protocol=git address=127.0.0.1
	EOF
	test_cmp expect asked &&
	stop_daemon
'

test_expect_success 'a helper that dies, is silent or talks nonsense' '
	cat >helper <<-\EOF &&
	while read -r line
	do
		case "$line" in
		*=die\ *) exit 1 ;;
		*=silent\ *) sleep 60 ;;
		*=twice\ *) echo allow; echo allow ;;
		*=slow\ *) sleep 0.3; echo allow ;;
		*=*\ *) user=${line%% *} user=${user#user=}
			echo "$user" | sed -e "s/%20/ /g" -e "s/%3D/=/g" \
				-e "s/%21/!/g" -e "s/%25/%/g" ;;
		esac
	done
	EOF
	start_helped --access-helper="exec sh ./helper" --access-timeout=3 &&
	status () {
		curl -s -o /dev/null -w "%{http_code}\n" -H "X-User: $1" \
			"$url/r.git/info/refs?service=git-upload-pack"
	} &&
	denied () {
		status deny | grep 403
	} &&
	for user in die silent "allow hide=" \
		"allow hide=!refs/x" "allow hide=heads" "allow  hide=refs/x" \
		"allow hide=refs/%0a" "allow hide=refs/%2" allowed \
		"allow all" yes
	do
		status "$user" >actual &&
		echo 503 >expect &&
		test_cmp expect actual &&
		sleep 1 || return 1
	done &&
	: "both lines at once are no answer; the second one never is" &&
	status twice >actual &&
	grep -e 200 -e 503 actual &&
	wait_until denied &&
	status deny >actual &&
	status "allow hide=refs/x%2fy" >>actual &&
	printf "%s\n" 403 200 >expect &&
	test_cmp expect actual &&
	grep "127.0.0.1: the access helper has exited" log &&
	grep "127.0.0.1: the access helper does not answer" log &&
	grep "the access helper.s answer is not valid: .allow all" log &&
	stop_daemon &&
	start_helped --access-helper="exec sh ./helper" --access-timeout=60 &&
	clients= &&
	for i in 1 2 3
	do
		status slow >slow.$i &
		clients="$clients $!"
	done &&
	wait $clients &&
	sort -u slow.? >actual &&
	echo 200 >expect &&
	test_cmp expect actual &&
	stop_daemon &&
	start_helped --access-helper=./missing &&
	status allow >actual &&
	echo 503 >expect &&
	test_cmp expect actual &&
	test_must_fail stock ls-remote $git/r.git 2>err &&
	stop_daemon
'

# The clock of the server is an hour behind that of the kernel.
test_expect_success 'a wrong time of day does not end the wait for the helper' '
	echo -3600 >shift &&
	LD_PRELOAD="$GITREACH_BUILD/t/helper/preload-clock.so" &&
	CLOCK_SHIFT=$PWD/shift ASAN_OPTIONS=verify_asan_link_order=0 &&
	export LD_PRELOAD CLOCK_SHIFT ASAN_OPTIONS &&
	start_helped --access-helper="
		while read -r line; do sleep 1; echo allow; done" &&
	unset LD_PRELOAD CLOCK_SHIFT ASAN_OPTIONS &&
	clients= &&
	for i in 1 2 3
	do
		status slow >behind.$i &
		clients="$clients $!"
	done &&
	wait $clients &&
	sort -u behind.? >actual &&
	echo 200 >expect &&
	test_cmp expect actual &&
	stop_daemon
'

# The helper writes its process id, ignores SIGTERM, and goes on when its input ends.
test_expect_success 'the server ends soon, even if the helper ignores SIGTERM' '
	cat >stubborn <<-\EOF &&
	trap "" TERM
	echo $$ >pid
	while read -r line
	do
		echo allow
	done
	while :
	do
		sleep 1
	done
	EOF
	start_helped --access-helper="exec sh ./stubborn" \
		--drain-timeout=100 &&
	as alice ls-remote $url/r.git >refs &&
	grep refs/heads refs &&
	helper=$(cat pid) &&
	kill -0 $helper &&
	kill $server &&
	timeout 20 tail --pid=$server -f /dev/null &&
	test_must_fail kill -0 $helper
'

test_done
