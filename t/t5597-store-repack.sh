#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='git store repack: repositories in a store are maintained

A repack makes a generation with the same refs and objects. Stock Git judges
what is exported from it.'
. "$(dirname "$0")/lib.sh"

store="file://$PWD/store"
TMPDIR=$PWD/tmp && export TMPDIR && mkdir "$TMPDIR" || exit 1

# exports <name>: export into out.git.
exports () {
	rm -rf out.git && git store export "$store" "$1" out.git
}

# is_src <name>: the repository is sound, and has the refs and objects of
# src.git. No temporary file is left.
is_src () {
	git store verify --full "$store" "$1" && exports "$1" &&
	stock -C out.git fsck --full --strict &&
	stock -C src.git for-each-ref >expect &&
	stock -C out.git for-each-ref >actual && test_cmp expect actual &&
	stock -C src.git rev-list --objects --all | sort >expect &&
	stock -C out.git rev-list --objects --all | sort >actual &&
	test_cmp expect actual &&
	is_empty tmp
}

# is_empty <directory>
is_empty () {
	test -z "$(ls -A "$1")"
}

# packs_of <name>: the number of packs of the exported repository.
packs_of () {
	exports "$1" && ls out.git/objects/pack/*.pack | wc -l
}

# import_anew <name>: src.git, which has three packs and loose objects.
import_anew () {
	rm -rf store && git store import --name="$1" src.git "$store"
}

test_expect_success 'setup: a repository of several packs' '
	repo_linear src.git 6 && stock -C src.git repack -dq &&
	repo_tags src.git && stock -C src.git repack -dq &&
	for n in 1 2
	do
		tree=$(stock -C src.git rev-parse main^{tree}) &&
		commit=$(stock -C src.git commit-tree -m $n -p main $tree) &&
		stock -C src.git update-ref refs/heads/b$n $commit || return
	done &&
	stock -C src.git pack-objects --revs objects/pack/pack <<-\EOF &&
	refs/heads/b1
	^refs/heads/main
	EOF
	stock -C src.git prune-packed &&
	test $(ls src.git/objects/pack/*.pack | wc -l) -ge 3
'

test_expect_success 'one pack with a bitmap index, and one table of refs' '
	import_anew team/a_b.git && test $(packs_of team/a_b.git) -gt 3 &&
	git store repack "$store" >out &&
	grep "^team/a_b.git: generation 2, [0-9]* packs became 1, wrote" out &&
	is_src team/a_b.git && test $(packs_of team/a_b.git) = 1 &&
	ls out.git/objects/pack/*.bitmap &&
	git store export --ref-format=reftable "$store" team/a_b.git \
		tables.git &&
	test_line_count 1 tables.git/reftable/tables.list &&
	git store log -n 1 "$store" team/a_b.git >log &&
	grep repack log &&
	! grep refs/ log &&
	test -z "$(find store/lease -type f)"
'

test_expect_success 'only repositories with many packs' '
	import_anew a.git && git store import --name=b.git out.git "$store" &&
	git store repack --auto=3 "$store" >out &&
	grep "^a.git: generation 2" out && ! grep b.git out &&
	git store repack --auto=3 "$store" >out &&
	test_line_count 0 out
'

test_expect_success 'unreachable objects stay, and go with --prune' '
	stock -C src.git repack -adkq &&
	tip=$(stock -C src.git rev-parse refs/heads/b2) &&
	import_anew a.git &&
	stock -C src.git update-ref -d refs/heads/b2 &&
	git store import --force --name=a.git src.git "$store" &&
	git store repack "$store" a.git &&
	is_src a.git && stock -C out.git cat-file -e $tip &&
	epoch_of=$(ls store/repo/a.git/_/gen | tail -1) &&
	grep "^epoch 2" store/repo/a.git/_/gen/$epoch_of &&
	git store repack --prune=1.day.ago "$store" a.git &&
	exports a.git && stock -C out.git cat-file -e $tip &&
	git store repack --prune=now "$store" a.git &&
	is_src a.git && test_must_fail stock -C out.git cat-file -e $tip &&
	last=$(ls store/repo/a.git/_/gen | tail -1) &&
	number=$(sed -n "s/^number //p" store/repo/a.git/_/gen/$last) &&
	grep "^epoch $number" store/repo/a.git/_/gen/$last &&
	stock -C src.git update-ref refs/heads/b2 $tip
'

# git gc runs the hook, which imports src.git again, but only once.
test_expect_success 'another writer replaces the files meanwhile' '
	cat >hook <<-EOF &&
	#!/bin/sh
	test -e "$PWD/once" || exit 0
	rm "$PWD/once" &&
	exec "$GIT" store import --force --name=a.git "$PWD/src.git" \
		"$store" >&2
	EOF
	chmod +x hook &&
	stock -C src.git config gc.recentObjectsHook "\"$PWD/hook\"" &&
	import_anew a.git &&
	stock -C src.git update-ref refs/heads/new main~2 && >once &&
	git store repack --prune=1.day.ago "$store" a.git >out &&
	! test -e once &&
	grep "^a.git: generation 3, .* became 1" out && is_src a.git &&
	stock -C src.git config --unset gc.recentObjectsHook
'

test_expect_success 'a repository that another node maintains' '
	import_anew a.git && mkdir -p store/lease/a.git &&
	printf "other\n%032d\n" 7 >store/lease/a.git/_ &&
	git store repack "$store" >out &&
	echo "a.git: skipped, because '\''other'\'' is maintaining it" >expect &&
	test_cmp expect out &&
	git store repack --force "$store" >out &&
	grep "^a.git: generation 2" out &&
	! test -e store/lease/a.git/_ &&
	printf "ahead\n%032d\n" 7 >store/lease/a.git/_ &&
	touch -d "1 hour" store/lease/a.git/_ &&
	git store repack --force "$store" >out && ! grep maintained out &&
	printf "dead\n%032d\n" 7 >store/lease/a.git/_ &&
	touch -d "11 minutes ago" store/lease/a.git/_ &&
	git store repack "$store" >out &&
	grep "^a.git: generation [23]" out && is_src a.git
'

# git gc runs the hook, which makes the lease old and waits until it is renewed. The
# library lets minutes pass in milliseconds.
test_expect_success 'a repack that takes long renews its lease' '
	cat >hook <<-EOF &&
	#!/bin/sh
	test -e "$PWD/once" || exit 0
	rm "$PWD/once" && touch -d "9 minutes ago" "$PWD/store/lease/a.git/_"
	for i in \$(seq 1200)
	do
		find "$PWD/store/lease/a.git" -mmin -5 -name _ | grep -q . &&
			>"$PWD/renewed" && exit
		sleep 0.05
	done
	EOF
	chmod +x hook &&
	stock -C src.git config gc.recentObjectsHook "\"$PWD/hook\"" &&
	import_anew a.git && rm -f renewed && >once &&
	LD_PRELOAD=$GITREACH_BUILD/t/helper/preload-hurry.so \
		git store repack --prune=1.day.ago "$store" >out &&
	! test -e once && test -e renewed &&
	! test -e store/lease/a.git/_ && is_src a.git &&
	stock -C src.git config --unset gc.recentObjectsHook
'

test_expect_success 'errors' '
	test_expect_code 128 git store repack "$store" missing.git 2>err &&
	grep "missing.git.*is not in the store" err &&
	test_expect_code 129 git store repack 2>err &&
	test_expect_code 129 git store repack --auto=x "$store" 2>err &&
	test_expect_code 128 git store repack --prune=nonsense "$store" 2>err &&
	grep "a.git: " err &&
	is_empty tmp &&
	git store verify --full "$store"
'

test_done
