#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='gitreachd: repositories of a store

The store is a directory. Stock Git clones and fetches; generations are made by
git store import.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-gitreachd.sh"

store=file://$PWD/store
copy=cache/repo/team/app.git/_

# serve <option>...: start the server for the store, with an empty or warm cache
serve () {
	served_from= start_daemon --store="$store" --cache="${cache-cache}" --export-all --workers=2 \
		--threads=4 --listen=http://127.0.0.1:0 \
		--listen=git://127.0.0.1:0 "$@" &&
	git=$(sed -n "s/^gitreachd: listens on \(git:.*\)/\1/p" log)
}

# import [<name>]: make a generation of src.git
import () {
	git store import --force --name="${1-team/app.git}" src.git "$store"
}

# push <branch>: a new commit in src.git, and a generation
push () {
	stock -C src.git update-ref "refs/heads/$1" $(stock -C src.git commit-tree \
		-p main -m "$1" main^{tree}) &&
	import
}

# shows <url>: a client sees the refs of src.git
shows () {
	stock ls-remote "$1" >seen && stock ls-remote src.git >expect &&
	test_cmp expect seen
}

status () {
	curl -s -o /dev/null -w "%{http_code}" --max-time 60 "$@"
}

test_expect_success 'setup' '
	repo_linear src.git 30 && repo_tags src.git &&
	"$GIT" -C src.git repack -adbq &&
	import && serve
'

test_expect_success 'clone, over HTTP and git://' '
	stock clone -q --mirror $url/team/app.git one.git &&
	shows one.git && stock -C one.git fsck --full --strict &&
	stock clone -q --mirror $git/team/app.git two.git &&
	shows two.git &&
	shows $url/team/app && shows $url/team/app.git/ && shows $git/team/app &&
	test -f $copy/store-copy &&
	"$GIT" -C $copy fsck --full
'

test_expect_success 'a push to the store is seen at once' '
	for i in 1 2 3 4 5
	do
		push new$i && shows $url/team/app.git && shows $git/team/app.git ||
			return 1
	done &&
	stock -C one.git fetch -q && shows one.git &&
	stock -C src.git update-ref -d refs/heads/new1 &&
	stock -C src.git symbolic-ref HEAD refs/heads/new2 && import &&
	shows $url/team/app.git && shows $git/team/app.git &&
	"$GIT" -C $copy fsck --full
'

test_expect_success 'a repack in the source replaces the packs of the copy' '
	"$GIT" -C src.git repack -adbq && import &&
	shows $url/team/app.git &&
	ls src.git/objects/pack/*.pack | sed "s,.*/,," >expect &&
	ls $copy/objects/pack/*.pack | sed "s,.*/,," >actual &&
	test_cmp expect actual &&
	stock clone -q --bare $url/team/app.git three.git &&
	stock -C three.git fsck --full
'

test_expect_success 'a second node sees the same' '
	first=$server first_url=$url && mv log log.first &&
	served_from= start_daemon --store="$store" --cache=cache2 --export-all \
		--listen=http://127.0.0.1:0 &&
	shows $url/team/app.git && push both &&
	shows $url/team/app.git && shows $first_url/team/app.git &&
	stop_daemon && mv log.first log && server=$first url=$first_url
'

test_expect_success 'a repository that the store does not have' '
	for path in team/none.git none team team/app.git/x team/_/x cache .hidden
	do
		status "$url/$path/info/refs?service=git-upload-pack" >code &&
		echo " $path" >>code && cat code && grep "^404" code || return 1
	done &&
	# No directory can have such a name, and the store is not asked.
	mv store away &&
	long=$(printf "%0256d" 0) && for path in $long team/$long/app.git
	do
		test "$(status "$url/$path/info/refs?service=git-upload-pack")" = 404 ||
			return 1
	done && mv away store &&
	test_must_fail git store import --name="$long" src.git "$store" 2>err &&
	grep "too long for a store" err &&
	for path in team//app.git ../team/app.git team/../team/app.git
	do
		status --path-as-is "$url/$path/info/refs" >code && cat code &&
		grep "^400" code || return 1
	done &&
	test_must_fail stock ls-remote $git/team/none.git 2>err &&
	grep "access denied or repository not exported" err &&
	ls cache/repo >actual && echo team >expect && test_cmp expect actual &&
	ls cache/repo/team >actual && echo app.git >expect && test_cmp expect actual
'

test_expect_success 'the dumb protocol serves no files of the cache' '
	test "$(status $url/team/app.git/HEAD)" = 200 &&
	for path in store-copy store-used config store-scratch ../../../store \
		_/HEAD _/store-copy reftable/tables.list
	do
		status --path-as-is $url/team/app.git/$path >code &&
		echo " $path" >>code && cat code && ! grep "^200" code || return 1
	done &&
	! grep -i -e secret -e access.key $copy/store-copy cache/store
'

test_expect_success 'protocol 0' '
	stock -c protocol.version=0 clone -q --bare $url/team/app.git zero.git
'

# Older versions of stock Git cannot read tables of refs.
stock -C $copy rev-parse HEAD >/dev/null 2>&1 && test_set_prereq STOCK_TABLES

test_expect_success STOCK_TABLES 'a child process reads the copy' '
	stock -C src.git config daemon.uploadarch true && import &&
	stock archive --remote=$git/team/app.git main >main.tar &&
	stock -C src.git archive main >expect.tar &&
	tar tf main.tar >actual && tar tf expect.tar >expect &&
	test_cmp expect actual
'

test_expect_success 'ssh, and an access helper that sees names of the store' '
	stop_daemon &&
	cat >helper <<-\EOF &&
	#!/bin/sh
	while read -r line
	do
		echo "$line" >>asked
		case $line in
		*repository=/secret*) echo deny ;;
		*) echo allow ;;
		esac
	done
	EOF
	chmod +x helper && cat >ssh <<-EOF &&
	#!/bin/sh
	shift
	SSH_ORIGINAL_COMMAND="\$*" exec "$DAEMON" --ssh-client="$PWD/sock"
	EOF
	chmod +x ssh && import secret &&
	# The path of the cache has "/repo/" twice, and a "store" that is none.
	mkdir -p srv/store srv/repo && cache=srv/repo/cache &&
	serve --listen=unix:sock --access-helper=./helper &&
	wait_until grep "listens on unix" log &&
	for path in team/app.git team/app team/app.git/
	do
		GIT_SSH_VARIANT=simple GIT_SSH="$PWD/ssh" shows host:$path &&
		shows $url/$path || return 1
	done &&
	! GIT_SSH_VARIANT=simple GIT_SSH="$PWD/ssh" stock ls-remote host:secret &&
	! GIT_SSH_VARIANT=simple GIT_SSH="$PWD/ssh" stock ls-remote host:none 2>err &&
	grep "does not appear to be a git repository" err &&
	test "$(status "$url/secret/info/refs?service=git-upload-pack")" = 403 &&
	test "$(status "$url/none/info/refs?service=git-upload-pack")" = 404 &&
	tr " " "\n" <asked | grep repository= | sort -u >names &&
	printf "repository=/%s\n" none none.git secret secret.git team/app \
		team/app.git | sort >expect &&
	test_cmp expect names && stop_daemon && unset cache && serve
'

test_expect_success 'the access helper is asked before the store is' '
	stop_daemon && cat >helper <<-\EOF &&
	#!/bin/sh
	while read -r line
	do
		case $line in
		*repository=/secret* | *repository=/twin\ *) echo deny ;;
		*repository=/none\ * | *repository=/none.git\ *) echo deny ;;
		*repository=/silent\ *) exit 1 ;;
		*repository=/team/app\ *) echo deny ;;
		*service=upload-archive*) echo allow hide=refs/x ;;
		*) echo allow ;;
		esac
	done
	EOF
	import twin && import twin.git &&
	cache=cache-asked && serve --listen=unix:sock2 --access-helper=./helper \
		--workers=1 --informative-errors --enable=upload-archive &&
	wait_until grep "listens on unix" log && sed s/sock/sock2/ ssh >ssh2 &&
	chmod +x ssh2 && over_ssh () {
		GIT_SSH_VARIANT=simple GIT_SSH="$PWD/ssh2" stock ls-remote "host:$1"
	} &&
	: "the name without .git is denied and does not exist" &&
	shows $url/team/app && shows $git/team/app && shows $url/team/app.git &&
	: "it is denied and exists: the other repository is no substitute" &&
	test "$(status "$url/twin/info/refs?service=git-upload-pack")" = 403 &&
	test_must_fail stock ls-remote $git/twin 2>err && grep "access denied" err &&
	shows $url/twin.git &&
	test_must_fail stock archive --remote=$git/twin.git main &&
	mv store away &&
	for name in secret secret.git none
	do
		test "$(status "$url/$name/info/refs?service=git-upload-pack")" = 403 &&
		test_must_fail stock ls-remote $git/$name 2>err &&
		grep "access denied: /$name" err &&
		test_must_fail over_ssh $name 2>err && grep "access denied" err ||
		return 1
	done &&
	test "$(status "$url/silent/info/refs?service=git-upload-pack")" = 503 &&
	grep "the access helper has exited" log &&
	! grep "secret: cannot be served" log &&
	mv away store && stop_daemon && test ! -e cache-asked/repo/secret &&
	test ! -e cache-asked/repo/twin &&
	unset cache && serve
'

test_expect_success 'without the store, requests are refused and the log says why' '
	mv store away &&
	test "$(status "$url/team/app.git/info/refs?service=git-upload-pack")" = 503 &&
	grep "team/app.git: cannot be served from the store: .*is not a store, or its file system is not mounted" log &&
	test_must_fail stock ls-remote $git/team/app.git 2>err &&
	grep "remote error: service unavailable: /team/app.git" err &&
	mv away store && shows $url/team/app.git
'

test_expect_success 'an emptied store does not look as if nothing was new' '
	shows $url/team/app.git && mv store/repo emptied &&
	test "$(status "$url/team/app.git/info/refs?service=git-upload-pack")" = 503 &&
	grep "cannot be served from the store: the store does not have generation" log &&
	test_must_fail stock ls-remote $git/team/app.git &&
	"$GIT" -C $copy fsck --full &&
	mv emptied store/repo && shows $url/team/app.git
'

test_expect_success 'a repository that lost a file is not taken for another one' '
	repo_linear other.git 3 && stock -C other.git gc -q &&
	repo_linear lost.git 4 && stock -C lost.git gc -q &&
	git store import other.git "$store" --name=lost.git &&
	git store import lost.git "$store" --name=lost &&
	rm -r store/repo/lost/_/file &&
	test "$(status "$url/lost/info/refs?service=git-upload-pack")" = 503 &&
	grep "lost: cannot be served from the store: .*is not in the store" log &&
	test_must_fail stock ls-remote $git/lost &&
	stock ls-remote $url/lost.git >seen && stock ls-remote other.git >expect &&
	test_cmp expect seen
'

test_expect_success 'a copy that is removed while the server runs is made again' '
	rm -rf cache/repo/team cache/file/*/* && shows $url/team/app.git &&
	"$GIT" -C $copy fsck --full
'

test_expect_success 'a restart finds the copies' '
	stop_daemon && find cache/file -type f | sort >before && serve &&
	shows $url/team/app.git && find cache/file -type f | sort >after &&
	test_cmp before after &&
	stop_daemon
'

test_expect_success '--store-stale: an old copy is served without the store' '
	serve --store-stale=3600 --enable=receive-pack && shows $url/team/app.git &&
	mv store away && shows $url/team/app.git && shows $git/team/app.git &&
	grep "team/app.git: the local copy may be out of date, because the store cannot be read" log &&
	test "$(status "$url/none/info/refs?service=git-upload-pack")" = 503 &&
	test_must_fail stock ls-remote $git/none 2>err &&
	grep "service unavailable" err && ! grep "$PWD" err &&
	test_must_fail stock -C src.git push $git/team/app.git main:new 2>err &&
	grep "remote error: service unavailable" err && ! grep "$PWD" err &&
	stop_daemon && mv away store
'

test_expect_success '--store-max-age: a copy is not compared with the store' '
	serve --store-max-age=86400000 --workers=1 && shows $url/team/app.git &&
	mv store away && shows $url/team/app.git &&
	mv away store && push later && ! shows $url/team/app.git &&
	stop_daemon
'

test_expect_success '--cache-size: the least recently used copies are evicted' '
	for name in a a/b c
	do
		repo_linear src-$name.git 5 && stock -C src-$name.git gc -q &&
		git store import --name=$name src-$name.git "$store" || return 1
	done &&
	serve --cache-size=1 --workers=1 &&
	for name in a a/b c team/app.git a
	do
		stock clone -q --bare $url/$name out.git &&
		stock -C out.git fsck --full && rm -rf out.git || return 1
	done &&
	find cache -name store-copy >copies && echo cache/repo/a/_/store-copy >expect &&
	test_cmp expect copies &&
	stop_daemon
'

test_expect_success 'git store fetch trims also if a repository fails' '
	git store fetch --cache=cache4 "$store" a a/b c &&
	test_must_fail git store fetch --cache=cache4 --cache-size=1 "$store" lost 2>err &&
	grep "^error: lost: " err &&
	find cache4 -name store-copy >copies && test_must_be_empty copies
'

test_expect_success 'a damaged file in the cache gives no wrong objects' '
	rm -rf cache && "$GIT" -C src.git repack -adbq && import &&
	git store fetch --cache=cache "$store" team/app.git >out &&
	pack=$(ls $copy/objects/pack/*.pack) && chmod u+w $pack &&
	python3 - $pack <<-\EOP &&
	import sys
	f = open(sys.argv[1], "r+b")
	f.seek(200)
	b = f.read(64)
	f.seek(200)
	f.write(bytes(x ^ 255 for x in b))
	EOP
	serve && test_must_fail stock clone -q --bare $url/team/app.git bad.git &&
	stop_daemon &&
	# A file of another size is downloaded again.
	file=$(find cache/file -samefile "$pack") && rm $pack && : >$file &&
	serve && shows $url/team/app.git && stop_daemon
'

# ---- pushes

# commit_in <clone> <message>
commit_in () {
	(
		cd "$1" && test_tick &&
		stock commit -q --allow-empty -m "$2"
	)
}

# is_seen <ref> <clone>: both nodes and the store have the HEAD of the clone.
is_seen () {
	head=$(stock -C "$2" rev-parse HEAD) &&
	for node in $first $second
	do
		stock ls-remote $node/pushed.git "$1" >seen &&
		grep "^$head" seen || return
	done &&
	git store log -n 1 "$store" pushed.git >logged &&
	grep "$1 .*-> $head" logged
}

test_expect_success 'pushes over HTTP through two nodes are seen at once' '
	import pushed.git && serve && stop_daemon &&
	serve && stock clone -q $url/pushed.git refused &&
	commit_in refused no &&
	test_must_fail stock -C refused push -q origin HEAD:refs/heads/no 2>err &&
	grep 403 err && stop_daemon &&
	stock -C src.git config http.receivepack true && import pushed.git &&
	serve && first=$url other=$server &&
	cache=cache3 && serve && second=$url &&
	stock clone -q $first/pushed.git a && stock clone -q $second/pushed.git b &&
	commit_in a one && stock -C a push -q origin HEAD:refs/heads/main &&
	is_seen refs/heads/main a &&
	commit_in b two && stock -C b push -q origin HEAD:refs/heads/side &&
	is_seen refs/heads/side b &&
	test_must_fail stock -C b push -q origin HEAD:refs/heads/main 2>err &&
	grep "fetch first" err &&
	git store repack "$store" pushed.git &&
	stock -C b fetch -q origin && stock -C b reset -q --hard origin/main &&
	commit_in b three && stock -C b push -q origin HEAD:refs/heads/main &&
	is_seen refs/heads/main b &&
	stock -C a push -q origin :refs/heads/side &&
	stock ls-remote $second/pushed.git refs/heads/side >seen &&
	test_line_count 0 seen &&
	git store verify --full "$store" pushed.git &&
	stop_daemon && kill $other && wait $other &&
	unset cache
'

for hash in sha1 sha256
do
	test_expect_success "$hash: the first push, with a tag of a tag" '
		rm -rf empty.git c d &&
		"$GIT" init -q --bare -b main --object-format='$hash' empty.git &&
		stock -C empty.git config http.receivepack true &&
		git store import --name='$hash'.git empty.git "$store" &&
		serve && stock init -q -b main --object-format='$hash' c &&
		stock -C c remote add origin $url/'$hash'.git && commit_in c one &&
		stock -C c tag -a -m t t && stock -C c tag -a -m tt tt t &&
		stock -C c push -q origin HEAD:refs/heads/main t tt &&
		stock clone -q $url/'$hash'.git d &&
		stock -C d fsck --strict &&
		stock -C c rev-parse HEAD t tt >expect &&
		stock -C d rev-parse HEAD t tt >actual && test_cmp expect actual &&
		git store repack --prune=now "$store" '$hash'.git &&
		git store verify --full "$store" '$hash'.git && stop_daemon
	'
done

# A relay of a successor that fails leaves a socket file without a process.
test_expect_success 'a failed upgrade leaves a relay' '
	cat >life <<-EOC &&
	[gitreachd]
		store = $store
		cache = $PWD/cache
		listen = http://127.0.0.1:0
	EOC
	served_from=--config=life && start_daemon && unset served_from &&
	wait_until test -S cache/relay && rm cache/relay &&
	echo "	workers = 0" >>life && kill -USR2 $server &&
	wait_until grep "upgrade failed, this process continues to serve" log &&
	wait_until test -S cache/relay &&
	! grep "the old workers have ended" log && stop_daemon
'

# ---- settings

refused () {
	test_must_fail "$DAEMON" --check-config --listen=http://127.0.0.1:0 "$@" 2>err
}

test_expect_success 'settings that do not fit' '
	refused --store="$store" --cache=cache --base-path=. &&
	grep "base-path: cannot be used together with store" err &&
	refused --store="$store" && grep -e "--cache is missing" err &&
	refused --store=http://x --cache=cache && grep "store: must begin with" err &&
	refused --base-path=. --cache=cache &&
	grep "cache: cannot be used without store" err &&
	refused --base-path=. --store-region=x &&
	grep "store-region: cannot be used without store" err &&
	refused --store="$store" --cache=src.git/HEAD &&
	grep "cache: is not a directory" err &&
	refused --store="$store" --cache=cache --cache-size=0 &&
	"$DAEMON" --check-config --store="$store" --cache=absent --cache-size=100g \
		--listen=http://127.0.0.1:0 &&
	! test -e absent &&
	cat >config <<-EOC &&
	[gitreachd]
		store = $store
		cache = cache
		cache-size = 10g
		listen = http://127.0.0.1:0
	EOC
	test_must_fail "$DAEMON" --check-config --config=config 2>err &&
	grep "config:3: cache: must be an absolute path" err
'

test_expect_success 'a cache of another store' '
	git store probe "file://$PWD/other" &&
	test_must_fail "$DAEMON" --store="file://$PWD/other" --cache=cache \
		--listen=http://127.0.0.1:0 2>err &&
	grep "is the cache of another store" err
'

test_expect_success 'a store that is not mounted is not made' '
	mv store away && mkdir store &&
	test_must_fail "$DAEMON" --store="$store" --cache=cache \
		--listen=http://127.0.0.1:0 2>err &&
	grep "store: .*/store.* is not a store, or its file system is not mounted" err &&
	for command in list verify gc "fetch --cache=cache"
	do
		test_must_fail git store $command "$store" 2>err &&
		grep "is not mounted" err || return 1
	done &&
	rmdir store && mv away store && git store list "$store"
'

test_done
