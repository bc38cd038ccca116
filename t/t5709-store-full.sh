#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='gitreachd: a store without room, and a cache on a full disk

The cache is on a small file system. For a full store, t/store-shim.py answers each
PUT as MinIO does.'
. "$(dirname "$0")/lib-small-disk.sh"
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-gitreachd.sh"
. "$GITREACH_SRC/t/lib-moto.sh"
small_disk_or_skip
trap 'for pid in $pids $moto_pids; do kill $pid; done 2>/dev/null
	wait; ! mountpoint -q disk || umount disk' EXIT

store=s3://bucket/repos

# on <subcommand> <argument>...
on () {
	on_verb=$1 && shift &&
	git store $on_verb --endpoint=http://127.0.0.1:$shim_port "$@"
}

# serve: start the server. Sets $git and $url.
serve () {
	served_from= start_daemon --store=$store --cache=disk/cache --export-all \
		--store-endpoint=http://127.0.0.1:$shim_port --no-store-probe \
		--enable=receive-pack --listen=http://127.0.0.1:0 \
		--listen=git://127.0.0.1:0 &&
	git=$(sed -n "s/^gitreachd: listens on \(git:.*\)/\1/p" log)
}

# push <branch>: push a new commit
push () {
	new=$(stock -C src.git commit-tree -p main -m $1 main^{tree}) &&
	stock -C src.git push -q $git/a.git $new:refs/heads/$1
}

# has <branch>...: the store has these branches and main, and is sound
has () {
	on verify --full $store &&
	{ printf "refs/heads/%s\n" main "$@" | sort; } >expect &&
	stock ls-remote --heads $git/a.git | cut -f2 >actual &&
	test_cmp expect actual
}

# fill: leave no room on the disk
fill () {
	test_might_fail dd if=/dev/zero of=disk/fill bs=64k 2>dd.err &&
	grep "No space" dd.err
}

test_expect_success MOTO 'setup' '
	repo_linear src.git 30 && head -c 2000000 /dev/urandom >big &&
	tree=$(printf "100644 blob %s\tbig\n" \
		$(stock -C src.git hash-object -w --stdin <big) |
		stock -C src.git mktree) &&
	stock -C src.git update-ref refs/heads/main \
		$(stock -C src.git commit-tree -p main -m big $tree) &&
	moto_start && shim_start && on import --name=a.git src.git $store &&
	mkdir disk && mount -t tmpfs -o size=1m none disk && serve
'

test_expect_success MOTO 'no room for a first copy' '
	test_must_fail stock ls-remote $git/a.git 2>err &&
	grep "remote error: service unavailable" err &&
	test_must_fail stock ls-remote $url/a.git 2>err && grep 503 err &&
	grep "a.git: cannot be served from the store: .*No space left" log &&
	mount -o remount,size=30m disk && has
'

test_expect_success MOTO 'a full disk: reads go on, and a push changes nothing' '
	fill && stock clone -q --bare $git/a.git copy.git &&
	stock -C copy.git fsck --full && test_must_fail push refused 2>err &&
	grep "No space left" err && ! grep "$PWD" err &&
	grep "cache/repo/a.git/_/.*No space left" log &&
	has && rm disk/fill && push one && has one
'

test_expect_success MOTO 'a full store: reads go on, and a push changes nothing' '
	: >full && : >requests && test_must_fail push refused 2>err &&
	grep "this ref was not changed" err && ! grep 127.0.0.1:$shim_port err &&
	grep "status 507 XMinioStorageFull" log &&
	rm -rf copy.git && stock clone -q --bare $url/a.git copy.git &&
	for command in "import --name=b.git src.git $store" "repack $store"
	do
		test_expect_code 128 on $command 2>err &&
		grep "status 507 XMinioStorageFull" err || return 1
	done &&
	on gc $store >out && grep "^a.git: removed 0 files .* and 0 that are too young" out &&
	has one && ! grep "^DELETE" requests && rm full && push two && has one two
'

test_expect_success MOTO 'maintenance works again' '
	on repack $store && on gc $store && has one two && stop_daemon
'

test_expect_success MOTO 'garbage collection makes room on a full disk' '
	rm -rf disk/cache && store=file://$PWD/disk/store && repo_linear small.git 3 &&
	git store import --name=a.git src.git "$store" &&
	git store import --force --name=a.git small.git "$store" &&
	git store import --force --name=a.git src.git "$store" &&
	git store import --force --name=a.git small.git "$store" &&
	find disk/store -exec touch -h -d "2 days ago" {} + && fill &&
	test_must_fail git store import --name=b.git small.git "$store" &&
	git store gc "$store" >out && grep "a.git: removed [1-9]" out &&
	test_must_fail grep "removed .* 0 records" out && rm -rf out.git &&
	git store import --name=b.git small.git "$store" &&
	git store verify --full "$store"
'

test_done
