#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='gitreachd keeps repositories open, and never answers from refs,
configuration or objects that are older than the request

GITREACH_PUSHES is the number of pushes to each kind of storage.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-gitreachd.sh"

pushes=${GITREACH_PUSHES:-60}
server=
sockets=$(mktemp -d /tmp/t5577.XXXXXX)
trap 'test -z "$server" || kill $server 2>/dev/null; rm -rf "$sockets"' EXIT
export STOCK_GIT

workers () {
	ps -o pid= --ppid $server
}

# status <repository>: print the status of the answer to info/refs
status () {
	python3 -c "
import http.client
c = http.client.HTTPConnection(\"${url#http://}\")
for _ in range($1):
    c.request(\"GET\", \"/$2/info/refs?service=git-upload-pack\")
    r = c.getresponse()
    r.read()
    print(r.status)
" | sort -u
}

# opened: print the number of descriptors and of maps of files below srv
opened () {
	for pid in $(workers)
	do
		ls /proc/$pid/fd
		grep "$PWD/srv" /proc/$pid/maps
	done | wc -l
}

ssh_program fake-ssh "$sockets/ssh"
GIT_SSH=$PWD/fake-ssh
GIT_SSH_VARIANT=ssh
export GIT_SSH GIT_SSH_VARIANT

# Old versions of stock Git have no reftables; ours then receives the pushes.
stock_or_ours () {
	if test $1 = files ||
		stock init -q --bare --ref-format=$1 try.git 2>/dev/null
	then
		echo "$STOCK_GIT"
	else
		echo "$GITREACH_BUILD/bin/git"
	fi
}

test_expect_success 'setup' '
	mkdir srv &&
	for kind in files reftable
	do
		theirs=$(stock_or_ours $kind) &&
		if test $kind = files
		then
			stock init -q --bare srv/$kind.git
		else
			"$theirs" init -q --bare --ref-format=$kind \
				srv/$kind.git
		fi &&
		stock init -q $kind &&
		stock -C $kind -c user.name=a -c user.email=a@b commit -q \
			--allow-empty -m first &&
		stock -C $kind remote add origin "$PWD/srv/$kind.git" &&
		stock -C $kind push -q \
			--receive-pack="$theirs receive-pack" \
			origin HEAD:refs/heads/main || return
	done &&
	{ "$DAEMON" --base-path=srv --export-all --workers=1 \
		--listen=http://127.0.0.1:0 --listen=git://127.0.0.1:0 \
		--listen="unix:$sockets/ssh" 2>log & } &&
	server=$! &&
	wait_until grep -q "started: " log &&
	url=$(sed -n "s/^gitreachd: listens on http:/http:/p" log) &&
	git_url=$(sed -n "s/^gitreachd: listens on git:/git:/p" log) &&
	test -n "$url" && test -n "$git_url"
'

# push_and_look <kind>: make the pushes, and look after each
push_and_look () {
	GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a \
		GIT_COMMITTER_EMAIL=a@b PYTHONDONTWRITEBYTECODE=1 \
		GITREACHD=$DAEMON python3 "$GITREACH_SRC/t/fresh.py" \
		$1 $pushes "$(stock_or_ours $1)" $url/$1.git $git_url/$1.git \
		"ssh://$sockets/ssh?/$1.git" >out &&
	echo "$pushes fresh" >expected &&
	test_cmp expected out
}

for kind in files reftable
do
	test_expect_success "no push is missed, $kind" '
		push_and_look $kind
	'
done

test_expect_success 'no push is missed if each push adds a pack' '
	stock -C srv/files.git update-ref -d refs/heads/fresh &&
	stock -C srv/files.git config receive.unpackLimit 1 &&
	push_and_look files &&
	stock -C srv/files.git config --unset receive.unpackLimit
'

test_expect_success 'changed configuration is seen by the next request' '
	echo 200 >yes &&
	echo 403 >no &&
	for i in 1 2 3 4 5 6 7 8 9 10
	do
		status 20 files.git >got &&
		test_cmp yes got &&
		stock -C srv/files.git config http.uploadpack false &&
		status 20 files.git >got &&
		test_cmp no got &&
		stock -C srv/files.git config http.uploadpack true || return
	done
'

test_expect_success 'so is a changed file that is included' '
	sleep 0.2 &&
	printf "[http]\n\tuploadpack = true\n" >included &&
	stock -C srv/files.git config include.path "$PWD/included" &&
	sleep 0.2 &&
	status 20 files.git >got &&
	test_cmp yes got &&
	printf "[http]\n\tuploadpack = fals\n" >included &&
	sed "s/fals/false/" included >new &&
	mv new included &&
	status 20 files.git >got &&
	test_cmp no got &&
	stock -C srv/files.git config --unset include.path
'

test_expect_success 'HEAD in another directory of refs' '
	cp -R srv/files.git srv/else.git &&
	mkdir elsewhere && mv srv/else.git/refs elsewhere/ &&
	mkdir srv/else.git/refs && : >srv/else.git/refs/heads &&
	stock -C srv/files.git rev-parse main >id &&
	echo "ref: refs/heads/.invalid" >srv/else.git/HEAD &&
	printf "[core]\n\trepositoryFormatVersion = 1\n" >>srv/else.git/config &&
	printf "[extensions]\n\trefStorage = files://%s\n" "$PWD/elsewhere" \
		>>srv/else.git/config &&
	sleep 0.2 &&
	for name in main other main
	do
		echo "ref: refs/heads/$name" >elsewhere/HEAD &&
		cat id >elsewhere/refs/heads/$name &&
		stock ls-remote --symref $url/else.git HEAD >actual &&
		grep "^ref: refs/heads/$name	HEAD" actual || return 1
	done &&
	rm -rf srv/else.git
'

test_expect_success 'a repository that is removed, and one in its place' '
	echo 404 >gone &&
	for i in 1 2 3 4 5
	do
		cp -R srv/files.git srv/x.git &&
		sleep 0.2 &&
		status 20 x.git >got &&
		test_cmp yes got &&
		rm -rf srv/x.git &&
		status 20 x.git >got &&
		test_cmp gone got &&
		stock init -q --bare srv/x.git &&
		status 20 x.git >got &&
		test_cmp yes got &&
		stock ls-remote $url/x.git >refs &&
		test_must_be_empty refs &&
		mv srv/x.git srv/y.git &&
		status 20 x.git >got &&
		test_cmp gone got &&
		rm -rf srv/y.git || return
	done
'

test_expect_success 'a repository by another suffix comes first' '
	cp -R srv/files.git srv/z.git &&
	sleep 0.2 &&
	status 20 z >got &&
	test_cmp yes got &&
	stock init -q --bare srv/z &&
	stock ls-remote $url/z >refs &&
	test_must_be_empty refs
'

test_expect_success 'clones beside repacks do not fail, and nothing is leaked' '
	stock -C srv/files.git repack -adq &&
	sleep 0.2 &&
	stock clone -q --bare $url/files.git warm &&
	stock clone -q --bare $git_url/files.git warm.git &&
	stock clone -q --bare ssh://h/files.git warm.ssh &&
	opened >before &&
	for i in 1 2 3 4 5 6
	do
		stock -C files -c user.name=a -c user.email=a@b commit -q \
			--allow-empty -m $i &&
		stock -C files push -q origin HEAD:refs/heads/main &&
		{ stock -C srv/files.git repack -adq & } &&
		stock clone -q --bare $url/files.git c$i.0 &&
		stock clone -q --bare $git_url/files.git c$i.1 &&
		stock -c protocol.version=0 clone -q --bare \
			$git_url/files.git c$i.2 &&
		stock clone -q --bare ssh://h/files.git c$i.3 &&
		wait $! || return
	done &&
	sleep 0.2 &&
	stock clone -q --bare $url/files.git last &&
	stock -C last fsck &&
	opened >after &&
	test $(cat after) -le $(($(cat before) + 4)) &&
	# Removed repositories of earlier tests may stay open for 30 seconds.
	! grep -h "$PWD/srv/files.git/.*deleted" /proc/$(workers)/maps
'

test_done
