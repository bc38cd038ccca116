#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='receive-pack: signed pushes, judged as stock Git judges them'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"

if ! command -v ssh-keygen >/dev/null
then
	skip_all='ssh-keygen is missing (apt-get install openssh-client)'
	test_done
fi
command -v gpg >/dev/null && test_set_prereq GPG

OURS=$GITREACH_BUILD/bin/git-receive-pack
STOCK_RECEIVE=$(stock --exec-path)/git-receive-pack
pids=
trap 'for pid in $pids; do kill $pid; done 2>/dev/null' EXIT

# server <dir>: a repository that takes signed pushes; its hooks write what they
# are told, but for what differs from push to push, to <hook>.log.
server () {
	repo_init "$1" &&
	stock -C "$1" config receive.certNonceSeed secret &&
	stock -C "$1" config gpg.ssh.allowedSignersFile "$PWD/signers" &&
	for hook in pre-receive update post-receive
	do
		cat >"$1/hooks/$hook" <<-\EOH || return 1
		#!/bin/sh
		name=$(basename "$0")
		rm -f $name.log
		env | grep "^GIT_PUSH_CERT" | sort |
			sed -e "s/\(CERT=\).*/\1/; s/\(NONCE=\).*/\1/" \
			>$name.log
		test -z "$GIT_PUSH_CERT" || {
			git cat-file blob "$GIT_PUSH_CERT" >cert &&
			grep "^nonce $GIT_PUSH_CERT_NONCE\$" cert >>/dev/null &&
			echo "the nonce is that of the certificate" >>$name.log
			sed -n "/^\$/{n;p;q;}" cert >>$name.log
		}
		test $name = update || cat >>$name.log
		EOH
		chmod +x "$1/hooks/$hook" || return 1
	done
}

# push <server> <argument>...: with stock Git's client.
push () {
	server=$1
	shift
	case "$server" in
	ours*) program=$OURS ;;
	*) program=$STOCK_RECEIVE ;;
	esac
	stock -C work push -q --receive-pack="$program" "../$server" "$@"
}

# test_as_stock <argument of push>...: both servers take the push, and their
# hooks are told the same.
test_as_stock () {
	push ours.git "$@" 2>ours.err &&
	push stock.git "$@" 2>stock.err &&
	for hook in pre-receive update post-receive
	do
		test_cmp stock.git/$hook.log ours.git/$hook.log || return 1
	done
}

# test_status <status> [<server>]: what pre-receive was told.
test_status () {
	grep "^GIT_PUSH_CERT_STATUS=$1\$" ${2-ours.git}/pre-receive.log
}

test_expect_success 'setup' '
	for key in known unknown other
	do
		ssh-keygen -q -t ed25519 -N "" -C $key -f $key || return 1
	done &&
	echo "first@example.com,me@example.com $(cat known.pub)" >signers &&
	echo "other@example.com $(cat other.pub)" >>signers &&
	stock init -q work &&
	stock -C work config gpg.format ssh &&
	stock -C work config user.signingKey "$PWD/known" &&
	for n in 1 2 3
	do
		test_tick && stock -C work commit -q --allow-empty -m $n ||
			return 1
	done &&
	server ours.git &&
	server stock.git
'

test_expect_success 'push-cert is advertised if there is a seed' '
	: | "$OURS" ours.git >out 2>err
	grep -a " push-cert=[0-9]*-[0-9a-f]* " out &&
	stock -C ours.git config --rename-section receive old &&
	: | "$OURS" ours.git >out 2>err
	! grep -a push-cert out &&
	test_must_fail push ours.git --signed main 2>err &&
	grep "does not support --signed" err &&
	stock -C ours.git config --rename-section old receive
'

test_expect_success 'a good signature' '
	test_as_stock --signed main &&
	test_status G &&
	grep "SIGNER=first@example.com" ours.git/post-receive.log &&
	grep "^the nonce is" ours.git/post-receive.log &&
	grep "NONCE_STATUS=OK" ours.git/post-receive.log &&
	! grep . ours.git/update.log &&
	stock -C ours.git fsck --strict
'

test_expect_success 'a second allowed signer, several commands' '
	stock -C work config user.signingKey "$PWD/other" &&
	test_as_stock --signed main~1:refs/heads/b main:refs/tags/t &&
	grep "SIGNER=other@example.com" ours.git/pre-receive.log &&
	stock -C work config user.signingKey "$PWD/known"
'

test_expect_success 'a deletion, which has no objects' '
	test_as_stock --signed :b &&
	test_status G &&
	stock -C ours.git fsck --strict
'

test_expect_success 'a push that is not signed' '
	test_as_stock main~2:refs/heads/unsigned &&
	! grep CERT ours.git/pre-receive.log
'

test_expect_success 'push options are signed, too' '
	for server in ours.git stock.git
	do
		stock -C $server config receive.advertisePushOptions true ||
			return 1
	done &&
	test_as_stock --signed -o "a b" -o c main:refs/heads/options &&
	grep "^push-option a b$" ours.git/cert
'

test_expect_success 'a key that nobody knows is U, not G' '
	stock -C work config user.signingKey "$PWD/unknown" &&
	push ours.git --signed main:refs/heads/unknown &&
	test_status U &&
	grep "SIGNER=$" ours.git/pre-receive.log &&
	grep "KEY=SHA256:" ours.git/pre-receive.log &&
	stock -C work config user.signingKey "$PWD/known"
'

test_expect_success 'a key that was revoked is not good' '
	stock -C ours.git config gpg.ssh.revocationFile "$PWD/other.pub" &&
	push ours.git --signed main:refs/heads/fine &&
	test_status G &&
	stock -C ours.git config gpg.ssh.revocationFile "$PWD/known.pub" &&
	push ours.git --signed main:refs/heads/revoked &&
	test_status B &&
	stock -C ours.git config --unset gpg.ssh.revocationFile
'

test_expect_success 'no allowed signers' '
	for server in ours.git stock.git
	do
		stock -C $server config --unset gpg.ssh.allowedSignersFile ||
			return 1
	done &&
	test_as_stock --signed main:refs/heads/nobody &&
	test_status N &&
	grep "error: gpg.ssh.allowedSignersFile needs to be" ours.err &&
	for server in ours.git stock.git
	do
		stock -C $server config gpg.ssh.allowedSignersFile \
			"$PWD/signers" || return 1
	done
'

test_expect_success 'a refused push leaves no certificate' '
	echo "exit 1" >>ours.git/hooks/pre-receive &&
	find ours.git/objects -type f | sort >before &&
	test_must_fail push ours.git --signed main:refs/heads/no &&
	find ours.git/objects -type f | sort >after &&
	test_cmp before after &&
	sed "\$d" ours.git/hooks/pre-receive >hook &&
	cat hook >ours.git/hooks/pre-receive
'

# ---- what no client of Git sends

# Stock Git is now and then killed by SIGPIPE when ssh-keygen ends before it has
# read what it is to verify; nothing has been done then.
stock_receive () {
	for i in 1 2 3 4 5
	do
		code=0
		"$STOCK_RECEIVE" "$1" <request || code=$?
		test $code -eq 141 || return $code
	done
}

# cert_request <server> <line>...: a certificate of those lines that deletes
# refs/heads/del, then what comes after "--".
cert_request () {
	server=$1
	shift
	stock -C $server update-ref refs/heads/del main &&
	caps="push-cert0 report-status agent=x" &&
	{
		printf "%04x" $((${#caps} + 5)) &&
		printf "push-cert\\0 report-status agent=x\\n" &&
		pkt "$@"
	} >request &&
	case "$server" in
	ours*) "$OURS" $server <request ;;
	*) stock_receive $server ;;
	esac >raw 2>err
	tr "\\0" " " <raw >out
}

test_expect_success 'hooks learn of false certificates as with stock Git' '
	del="$(stock -C work rev-parse main) $(stock hash-object --stdin \
		</dev/null | tr 0-9a-f 0) refs/heads/del" &&
	begin="certificate version 0.1" &&
	sig="-----BEGIN SSH SIGNATURE-----" &&
	for headers in "nonce 1-2" "nonce 1795267539-bb7e" "pusher x" "nonce "
	do
		for server in ours.git stock.git
		do
			cert_request $server "$begin" "$headers" "" "$del" \
				"$sig" abc push-cert-end F || return 1
		done &&
		test_status B &&
		test_cmp stock.git/pre-receive.log ours.git/pre-receive.log ||
			return 1
	done
'

test_expect_success 'the signature must cover exactly the pushed commands' '
	push ours.git --signed main:refs/heads/replay &&
	sed -n "/BEGIN SSH/,\$p" ours.git/cert >signature &&
	set -- "$begin" "nonce 1-2" "" "$del" &&
	while read -r line
	do
		set -- "$@" "$line"
	done <signature &&
	cert_request ours.git "$@" push-cert-end F &&
	grep "unpack ok" out &&
	test_status B &&
	grep NONCE_STATUS=BAD ours.git/pre-receive.log
'

test_expect_success 'a malformed certificate' '
	cert_request ours.git "$begin" "nonce 1-2" push-cert-end F &&
	grep "ERR malformed push certificate" out &&
	cert_request ours.git "certificate version 9" "" "$del" \
		push-cert-end F &&
	grep "ERR malformed push certificate" out &&
	cert_request ours.git "$begin" "" "$del" F &&
	grep "ERR protocol error: the push certificate has no end" out &&
	cert_request ours.git "$begin" "" "hello" push-cert-end F &&
	grep "ERR protocol error: expected old/new/ref" out
'

test_expect_success 'unsigned commands beside a certificate are refused' '
	rm -f ours.git/*.log &&
	cert_request ours.git "$begin" "" push-cert-end "$del" F &&
	cert_request ours.git "$begin" "" "$del" push-cert-end "$del" F &&
	grep "ERR protocol error: got both push certificate" out &&
	stock -C ours.git rev-parse --verify refs/heads/del &&
	! test -e ours.git/pre-receive.log
'

# ---- over HTTP, the nonce comes from an earlier process

test_expect_success 'start web servers' '
	for name in ours stock
	do
		case $name in
		ours) backend=$GITREACH_BUILD/exec/git-http-backend ;;
		stock) backend=$(stock --exec-path)/git-http-backend ;;
		esac &&
		rm -rf $name.git && server $name.git &&
		stock -C $name.git config http.receivepack true &&
		{
			GIT_PROJECT_ROOT="$PWD" GIT_HTTP_EXPORT_ALL=1 \
				python3 "$GITREACH_SRC/t/cgi-server.py" \
				port.$name "$backend" 2>web.$name &
			pids="$pids $!"
		} || return 1
	done &&
	wait_until test -e port.ours &&
	wait_until test -e port.stock
'

# An ssh-keygen that takes its time, so that the nonce gets old.
test_expect_success 'the nonce of another second' '
	cat >slow <<-\EOC &&
	#!/bin/sh
	test "$2" != sign || sleep 1.1
	exec ssh-keygen "$@"
	EOC
	chmod +x slow &&
	stock -C work config gpg.ssh.program "$PWD/slow" &&
	for name in ours stock
	do
		url=http://127.0.0.1:$(cat port.$name)/$name.git &&
		stock -C work push -q --signed "$url" main &&
		sed -i "s/SLOP=[1-9][0-9]*$/SLOP=n/" $name.git/*.log || return 1
	done &&
	grep NONCE_STATUS=SLOP ours.git/pre-receive.log &&
	grep NONCE_SLOP=n ours.git/pre-receive.log &&
	test_cmp stock.git/pre-receive.log ours.git/pre-receive.log &&
	test_cmp stock.git/post-receive.log ours.git/post-receive.log
'

test_expect_success 'receive.certNonceSlop' '
	for name in ours stock
	do
		url=http://127.0.0.1:$(cat port.$name)/$name.git &&
		stock -C $name.git config receive.certNonceSlop 60 &&
		stock -C work push -q --signed "$url" main:refs/heads/slop ||
			return 1
	done &&
	grep NONCE_STATUS=OK ours.git/pre-receive.log &&
	grep "^the nonce is" ours.git/pre-receive.log &&
	! grep SLOP ours.git/pre-receive.log &&
	test_cmp stock.git/pre-receive.log ours.git/pre-receive.log
'

# Behind one address, the two requests of a push may reach different servers.
test_expect_success 'ours and stock Git accept nonces of each other' '
	stock -C work config gpg.ssh.program ssh-keygen &&
	cat >mixed <<-\EOC &&
	#!/bin/sh
	case "$REQUEST_METHOD" in
	GET) exec "$FOR_GET" ;;
	*) exec "$FOR_POST" ;;
	esac
	EOC
	chmod +x mixed &&
	ours_backend=$GITREACH_BUILD/exec/git-http-backend &&
	stock_backend=$(stock --exec-path)/git-http-backend &&
	for name in ours stock
	do
		case $name in
		ours) FOR_GET=$stock_backend FOR_POST=$ours_backend ;;
		stock) FOR_GET=$ours_backend FOR_POST=$stock_backend ;;
		esac &&
		export FOR_GET FOR_POST &&
		{
			GIT_PROJECT_ROOT="$PWD" GIT_HTTP_EXPORT_ALL=1 \
				python3 "$GITREACH_SRC/t/cgi-server.py" \
				mixed.$name "$PWD/mixed" 2>web.$name &
			pids="$pids $!"
		} || return 1
	done &&
	wait_until test -e mixed.ours &&
	wait_until test -e mixed.stock &&
	for name in ours stock
	do
		url=http://127.0.0.1:$(cat mixed.$name)/$name.git &&
		stock -C work push -q --signed "$url" main:refs/heads/mixed &&
		grep NONCE_STATUS=OK $name.git/pre-receive.log || return 1
	done
'

# ---- OpenPGP

test_expect_success GPG 'make a key' '
	GNUPGHOME=$PWD/gnupg &&
	export GNUPGHOME &&
	mkdir -m 700 gnupg no-keys &&
	cat >params <<-\EOF &&
	%no-protection
	Key-Type: eddsa
	Key-Curve: ed25519
	Name-Real: C O Mitter
	Name-Email: committer@example.com
	Expire-Date: 0
	EOF
	gpg --batch --quiet --gen-key params &&
	stock -C work config gpg.format openpgp &&
	stock -C work config user.signingKey committer@example.com
'

test_expect_success GPG 'a good signature of an OpenPGP key' '
	test_as_stock --signed main:refs/heads/pgp &&
	test_status G &&
	grep "SIGNER=C O Mitter <committer@example.com>" \
		ours.git/pre-receive.log
'

test_expect_success GPG 'a signature of an unknown key' '
	cat >gpg-without <<-EOC &&
	#!/bin/sh
	GNUPGHOME="$PWD/no-keys" exec gpg "\$@"
	EOC
	chmod +x gpg-without &&
	for server in ours.git stock.git
	do
		stock -C $server config gpg.program "$PWD/gpg-without" ||
			return 1
	done &&
	test_as_stock --signed main:refs/heads/strange &&
	test_status E
'

test_expect_success GPG 'end the agent' '
	gpgconf --kill all
'

test_done
