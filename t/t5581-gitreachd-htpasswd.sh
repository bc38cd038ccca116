#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='gitreachd: users with passwords'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-gitreachd.sh"

if ! command -v openssl >/dev/null
then
	skip_all='openssl is missing'
	test_done
fi

# crypt <setting>: the hash of the password "right"
crypt () {
	python3 -W ignore -c "import crypt; print(crypt.crypt('right', '$1'))"
}

# status <user>:<password> <path> [<option of curl>...]: the status of a GET
status () {
	user=$1 path=$2
	shift 2
	curl -s -o /dev/null -w "%{http_code}\n" -u "$user" "$@" $url$path
}

# with <user> <password>: the URL of the server with them
with () {
	echo "http://$1:$2@127.0.0.1:$port"
}

advertise="/secret.git/info/refs?service=git-upload-pack"

test_expect_success 'setup' '
	mkdir srv &&
	repo_criss_cross srv/open.git 10 &&
	: >srv/open.git/git-daemon-export-ok &&
	cp -r srv/open.git srv/secret.git &&
	rm srv/secret.git/git-daemon-export-ok &&
	printf "#!/bin/sh\necho hook of \$REMOTE_USER\n" \
		>srv/secret.git/hooks/pre-receive &&
	chmod +x srv/secret.git/hooks/pre-receive &&
	stock clone -q srv/secret.git work &&
	salt=abcdefghijklmnopqrstuu &&
	{
		echo "# users" &&
		echo "bcrypt-y:$(crypt "\$2y\$05\$$salt")" &&
		echo "bcrypt-b:$(crypt "\$2b\$04\$$salt")" &&
		echo "yescrypt:$(crypt "\$y\$j75\$abcdefgh")" &&
		echo "sha512:$(openssl passwd -6 right)" &&
		echo "sha256:$(openssl passwd -5 right)" &&
		echo "md5:$(openssl passwd -1 right)" &&
		echo "apr1:$(openssl passwd -apr1 right)" &&
		echo "sha1:{SHA}$(printf right | openssl dgst -sha1 -binary |
			base64)" &&
		printf "dos:%s\r\n" "$(openssl passwd -apr1 right)"
	} >users &&
	for length in 1 15 16 17 40
	do
		long=$(printf "%${length}s" | tr " " p) &&
		echo "p$length:$(openssl passwd -apr1 $long)" >>users || return 1
	done &&
	GIT_TERMINAL_PROMPT=0 && export GIT_TERMINAL_PROMPT
'

test_expect_success 'each form of a hash' '
	start_daemon --listen=http://127.0.0.1:0 --htpasswd=users &&
	for user in bcrypt-y bcrypt-b yescrypt sha512 sha256 md5 apr1 sha1 dos
	do
		status $user:right $advertise >>actual &&
		echo 200 >>expect || return 1
	done &&
	for length in 1 15 16 17 40
	do
		long=$(printf "%${length}s" | tr " " p) &&
		status p$length:$long $advertise >>actual &&
		echo 200 >>expect || return 1
	done &&
	test_cmp expect actual
'

test_expect_success 'wrong passwords are logged, and refused after a second' '
	clients= &&
	date +%s%3N >start &&
	for user in bcrypt-y yescrypt sha512 apr1 sha1 nobody
	do
		status $user:wrong $advertise >$user.status &
		clients="$clients $!"
	done &&
	wait $clients;
	test $(($(date +%s%3N) - $(cat start))) -ge 1000 &&
	sort *.status | uniq -c >actual &&
	echo "      6 401" >expect &&
	test_cmp expect actual &&
	for user in bcrypt-y yescrypt sha512 apr1 sha1 nobody
	do
		grep "127.0.0.1: wrong password of user .$user." log || return 1
	done
'

# more_lines <pattern> <number>: the log has more lines than <number> that match
more_lines () {
	test "$(grep -c "$1" log)" -gt $2
}

# is_not_held: a right password is answered while the answers to wrong ones wait
is_not_held () {
	clients= &&
	seen=$(grep -c "wrong password" log) ||:
	for i in 1 2 3 4
	do
		status sha1:wrong $advertise >wrong.$i &
		clients="$clients $!"
	done &&
	wait_until more_lines "wrong password" $seen &&
	status sha1:right $advertise >actual &&
	cat wrong.? >answered &&
	wait $clients &&
	echo 200 >expect &&
	test_cmp expect actual &&
	test ! -s answered
}

# The answer to a wrong password waits for a second. A loaded machine may need
# longer than that for the other one.
test_expect_success 'a wrong password does not hold others' '
	stop_daemon &&
	start_daemon --listen=http://127.0.0.1:0 --htpasswd=users \
		--threads=1 --workers=1 &&
	for try in 1 2 3 4 5 6 7 8 9
	do
		! is_not_held || break
	done &&
	test ! -s answered
'

test_expect_success 'without a password, clients read what is exported' '
	stock ls-remote $url/open.git >out &&
	test -s out &&
	test_must_fail stock ls-remote $url/secret.git 2>err &&
	grep "could not read Username" err &&
	test_must_fail stock ls-remote $url/none.git 2>err &&
	grep "could not read Username" err &&
	curl -s -D head -o /dev/null $url$advertise &&
	grep "^HTTP/1.1 401 Unauthorized" head &&
	grep "^WWW-Authenticate: Basic realm=\"Git\", charset=\"UTF-8\"" head
'

test_expect_success 'the log has a refusal, but no request to send a password' '
	! grep "secret.git\|none.git\|401 Una" log &&
	status apr1:right "/none.git/info/refs?service=git-upload-pack" >actual &&
	wait_until grep "Not a git repository: .*none.git" log
'

test_expect_success 'a user reads all repositories, and pushes' '
	stock clone -q $(with apr1 right)/secret.git copy &&
	stock -C copy fsck --strict &&
	stock -C work push -q $(with sha512 right)/secret.git \
		HEAD:refs/heads/pushed 2>err &&
	grep "hook of sha512" err &&
	stock -C srv/secret.git rev-parse -q --verify pushed &&
	test_must_fail stock ls-remote $(with apr1 right)/none.git 2>err &&
	grep "not found" err
'

test_expect_success 'a push needs a user' '
	stock -C srv/open.git config http.receivepack true &&
	test_must_fail stock -C work push $url/open.git HEAD:refs/heads/x 2>err &&
	grep "could not read Username" err &&
	echo 401 >expect &&
	curl -s -o /dev/null -w "%{http_code}\n" --data 0000 \
		-H "Content-Type: application/x-git-receive-pack-request" \
		$url/open.git/git-receive-pack >actual &&
	test_cmp expect actual
'

test_expect_success 'malformed fields' '
	check () {
		expect=$1 &&
		shift &&
		curl -s -o /dev/null -w "%{http_code}\n" "$@" $url$advertise \
			>actual &&
		echo $expect >expect &&
		test_cmp expect actual
	} &&
	check 400 -H "Authorization: Bearer abcd" &&
	check 400 -H "Authorization: Basic" &&
	check 400 -H "Authorization: Basic ====" &&
	check 400 -H "Authorization: Basic $(printf user | base64)" &&
	check 400 -H "Authorization: Basic $(printf :right | base64)" &&
	check 400 -H "Authorization: Basic $(printf "a\nb:right" | base64)" &&
	check 400 -H "Authorization: Basic $(printf "sha1:right\0" | base64)" &&
	check 400 -u sha1:right -H "authorization: Basic $(printf sha1:right |
		base64)" -H "Authorization: Basic $(printf a:b | base64)" &&
	check 200 -H "Authorization: basic  $(printf sha1:right | base64)"
'

test_expect_success 'a changed file counts at once' '
	echo "new:$(openssl passwd -apr1 right)" >>users &&
	sed -e "/^sha1:/d" users >users+ &&
	mv users+ users &&
	status new:right $advertise >actual &&
	status sha1:right $advertise >>actual &&
	printf "%s\n" 200 401 >expect &&
	test_cmp expect actual &&
	echo "old:abJnggxhB/yWI" >>users &&
	status new:right $advertise >actual &&
	status new:right $advertise >>actual &&
	printf "%s\n" 200 200 >expect &&
	test_cmp expect actual &&
	grep "users:[0-9]*: the password hash of user .old. has an unknown format" log &&
	stop_daemon
'

test_expect_success 'wrong files are one clear line' '
	check () {
		test_must_fail "$DAEMON" --base-path=srv \
			--listen=http://127.0.0.1:0 --htpasswd=$2 $3 2>err &&
		test_line_count 1 err &&
		grep -e "$1" err
	} &&
	check "htpasswd: users:[0-9]*: the password hash of user .old." users &&
	check "htpasswd: cannot open .none." none --check-config &&
	echo "clear text" >wrong &&
	check "htpasswd: wrong:1: not of the form <user>:<hash>" wrong &&
	echo "bob:text" >wrong &&
	check "htpasswd: wrong:1: the password hash of user .bob." wrong --check-config
'

other=$(hostname -I 2>/dev/null | tr ' ' '\n' | grep -m 1 '\.')
test -n "$other" && test_set_prereq OTHER_ADDRESS

test_expect_success OTHER_ADDRESS 'passwords need TLS, also in anonymous clones' '
	sed -i -e /^old:/d users &&
	start_daemon --listen=http://$other:0 --htpasswd=users &&
	status apr1:right $advertise >actual &&
	status "" $advertise >>actual &&
	stock ls-remote $url/open.git >out &&
	test -s out &&
	test_must_fail stock -C work push $url/open.git HEAD:refs/heads/x 2>err &&
	grep 403 err &&
	grep "refused a password that was sent without TLS" log &&
	stop_daemon &&
	start_daemon --listen=http://$other:0 --htpasswd=users \
		--allow-plain-passwords &&
	status apr1:right $advertise >>actual &&
	stop_daemon &&
	start_daemon --listen=http://$other:0 --htpasswd=users \
		--user-header=X-User --trusted-proxy=$other &&
	status apr1:right $advertise >>actual &&
	stop_daemon &&
	printf "%s\n" 403 403 200 200 >expect &&
	test_cmp expect actual
'

test_done
