#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='publishing packs on a disk that fails'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-fault.sh"

test_expect_success 'setup' '
	stock init -q work &&
	for n in 1 2 3 4
	do
		head -c 20000 /dev/urandom >work/file$n &&
		stock -C work add . && test_tick &&
		stock -C work commit -q -m $n || return 1
	done &&
	stock -C work branch side main~2 &&
	stock -C work update-ref refs/pull/1/head \
		$(stock -C work commit-tree -p main -m pull main^{tree}) &&
	stock clone -q --mirror work server.git &&
	stock -C server.git config core.fsync all &&
	stock -C server.git config gitreach.publishMinimum 1 &&
	stock -C server.git config gitreach.publishDirectory "$PWD/web" &&
	stock -C server.git config gitreach.publishUri file:///web &&
	git -C server.git repack -adbq 2>err &&
	grep "warning: there is no directory" err &&
	mkdir web && git -C server.git publish -q &&
	place=$(echo web/*) &&
	cp -a web web.full &&
	# An old pack, one that has retired, and remains of a killed process.
	mkdir -p web.old && cp -a web/* web.old &&
	(cd "web.old/${place#web/}" && ls *.pack >../../names &&
		rm $(sed 1d ../../names) &&
		a=1111111111111111111111111111111111111111.pack &&
		b=2222222222222222222222222222222222222222.pack &&
		echo a >$a && echo b >$b && : >$b.retired && echo x >tmp_publish_1)
'

fresh () {
	rm -rf web && cp -a web.old web
}

# Every pack with the name of a new pack is complete, and old packs are there.
sound () {
	for pack in $(cat names)
	do
		! test -e "$place/$pack" ||
			cmp "$place/$pack" "web.full/${place#web/}/$pack" ||
			return 1
	done &&
	test -e $place/1111111111111111111111111111111111111111.pack &&
	test -e $place/2222222222222222222222222222222222222222.pack
}

# After a failure, another run completes the work.
again () {
	git -C server.git publish --expire=now >again &&
	ls $place >left && { cat names && echo lock; } | sort >expect &&
	sort left | test_cmp expect -
}

for mode in kill lose EIO ENOSPC
do
	test_expect_success "publish, $mode" "
		fault_each $mode fresh '$GIT -C server.git publish' \
			'sound && fault_exited $mode && again'
	"
done

# There is no salt, or a whole one.
salt=server.git/objects/info/publish-salt
salted () {
	! test -e $salt || { test -s $salt && ! grep -Evx "[0-9a-f]{32}" $salt; }
}

for mode in kill lose ENOSPC
do
	test_expect_success "the salt, $mode" "
		cp -p $salt saved &&
		fault_each $mode 'rm -rf web $salt && mkdir web' \
			'$GIT -C server.git publish' \
			'salted && fault_exited $mode && rm -rf web && mkdir web &&
			git -C server.git publish -q && salted && test -e $salt' &&
		mv -f saved $salt && rm -f server.git/objects/tmp_publish_*
	"
done

test_expect_success 'expiry removes the pack before its mark' '
	stock -C server.git config gitreach.publishExpire now &&
	fault_each kill fresh "$GIT -C server.git publish" \
		"{ test -e $place/2222*.pack.retired || ! test -e $place/2222*.pack; } && again"
'

# Every bundle that the list names is there.
listed () {
	! test -e $place/bundle-list && return
	sed -n "s/.*uri = \(.*\).bundle/\1/p" $place/bundle-list >bundles &&
	test -s bundles &&
	while read -r name
	do
		test "$(sha1sum <$place/$name.bundle)" = "$name  -" || return 1
	done <bundles
}

for mode in kill lose EIO ENOSPC
do
	test_expect_success "publish with bundles, $mode" "
		stock -C server.git config gitreach.publishBundles true &&
		fault_each $mode 'rm -rf web && cp -a web.full web' \
			'$GIT -C server.git publish' \
			'listed && { test \$fault_code = 0 || test \$fault_code = 137 ||
				grep ^fatal: fault.err; } &&
			git -C server.git publish -q && test -e $place/bundle-list && listed' &&
		stock -C server.git config gitreach.publishBundles false
	"
done

test_expect_success 'a repack with a full disk only warns' '
	stock -C server.git config --unset gitreach.publishExpire &&
	rm -rf web && echo file >web &&
	git -C server.git repack -adbq 2>err &&
	grep "warning: there is no directory" err &&
	stock -C server.git fsck --full
'

test_done
