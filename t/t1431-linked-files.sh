#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='files of a repository that are symbolic links

Several git directories may share a file, as git-new-workdir arranges it: the
file is a symbolic link in all but one of them. A command that changes such a
file replaces the target of the link, and the link stays. The lock file is beside
the target, so that the git directories exclude each other.'
. "$(dirname "$0")/lib.sh"

GIT_COMMITTER_NAME=C GIT_COMMITTER_EMAIL=c@example.com
export GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL

g () {
	"$GIT" "$@"
}

# fresh: makes the git directory r.git with the branches main, t1 and t2, which
# are packed, and the branch new, which is not.
fresh () {
	rm -rf r.git wd.git shared &&
	mkdir shared &&
	cp -R good.git r.git
}

# workdir: makes wd.git, which has links to files and directories of r.git.
workdir () {
	fresh &&
	mkdir -p wd.git/logs &&
	for name in config refs logs/refs objects info packed-refs
	do
		ln -s "$PWD/r.git/$name" wd.git/$name || return 1
	done &&
	cp r.git/HEAD wd.git/HEAD
}

# link <file>: moves a file of r.git into the directory shared, with the name
# "file", and makes a link to it.
link () {
	if test -f r.git/$1
	then
		mv r.git/$1 shared/file
	fi &&
	ln -s "$PWD/shared/file" r.git/$1
}

# is_link <file>...: tests that the files are links to existing files, and that
# no lock file or temporary file is left.
is_link () {
	for link
	do
		test -L $link && test -f $link || return 1
	done &&
	find r.git/ shared -name "*.lock" -o -name "*.new" >left &&
	test_must_be_empty left
}

names () {
	g -C $1 for-each-ref --format="%(refname:lstrip=2)" | tr "\n" " "
}

test_expect_success 'a repository' '
	repo_linear src 4 &&
	g init -q --bare -b main good.git &&
	printf "[core]\n\tlogAllRefUpdates = true\n[maintenance]\n\tauto = false\n" \
		>>good.git/config &&
	stock -C src push -q --receive-pack="\"$GIT\" receive-pack" \
		../good.git main main~1:refs/heads/t1 main~2:refs/heads/t2 &&
	g -C good.git update-ref refs/heads/t1 main &&
	g -C good.git pack-refs --all &&
	g -C good.git update-ref refs/heads/new main~3 &&
	test -f good.git/packed-refs
'

test_expect_success 'packed-refs: packing, deleting and gc keep the link' '
	workdir && g -C wd.git pack-refs --all && is_link wd.git/packed-refs &&
	test "$(names r.git)" = "main new t1 t2 " &&
	workdir && g -C wd.git update-ref -d refs/heads/t1 &&
	is_link wd.git/packed-refs &&
	test "$(names r.git)" = "main new t2 " &&
	workdir && g -C wd.git gc -q && is_link wd.git/packed-refs &&
	test "$(names r.git)" = "main new t1 t2 " &&
	workdir && stock -C src push -q \
		--receive-pack="\"$GIT\" receive-pack" ../wd.git :t1 &&
	is_link wd.git/packed-refs &&
	test "$(names r.git)" = "main new t2 "
'

test_expect_success 'packed-refs: the lock is beside the target' '
	workdir && >r.git/packed-refs.lock &&
	test_must_fail g -C wd.git update-ref -d refs/heads/t1 2>err &&
	grep "packed-refs.lock.: File exists" err &&
	test_must_fail g -C wd.git pack-refs --all &&
	test "$(names r.git)" = "main new t1 t2 " &&
	rm r.git/packed-refs.lock && >wd.git/packed-refs.lock &&
	g -C wd.git update-ref -d refs/heads/t1
'

test_expect_success 'packed-refs: relative links, links to links, no target' '
	fresh && mv r.git/packed-refs shared/file &&
	ln -s file shared/a && ln -s ../shared/a shared/b &&
	ln -s ../shared/b r.git/packed-refs &&
	g -C r.git pack-refs --all &&
	is_link r.git/packed-refs shared/a shared/b &&
	grep refs/heads/new shared/file && ! test -L shared/file &&
	fresh && rm r.git/packed-refs && ln -s ../shared/file r.git/packed-refs &&
	g -C r.git pack-refs --all && is_link r.git/packed-refs &&
	grep refs/heads/new shared/file
'

test_expect_success 'packed-refs: a loop, and a target whose directory is missing' '
	for to in packed-refs ../no/file
	do
		fresh && rm r.git/packed-refs && ln -s $to r.git/packed-refs &&
		test_must_fail g -C r.git pack-refs --all &&
		test "$(readlink r.git/packed-refs)" = $to &&
		test -f r.git/refs/heads/new || return 1
	done
'

test_expect_success 'shallow: a push and prune keep the link' '
	fresh && rm -rf c && >shared/file && link shallow &&
	printf "[receive]\n\tshallowUpdate = true\n" >>r.git/config &&
	stock clone -q --depth 1 "file://$PWD/src" c &&
	stock -C c -c user.name=a -c user.email=a@b commit -q --allow-empty -m x &&
	rm -rf bare.git && g init -q --bare bare.git &&
	cp r.git/config bare.git/config && ln -s ../shared/file bare.git/shallow &&
	>shared/file.lock &&
	test_must_fail stock -C c push -q \
		--receive-pack="\"$GIT\" receive-pack" ../bare.git HEAD:x &&
	rm shared/file.lock &&
	stock -C c push -q --receive-pack="\"$GIT\" receive-pack" \
		../bare.git HEAD:x &&
	is_link bare.git/shallow && test_line_count 1 shared/file &&
	stock -C src rev-parse main >expect && test_cmp expect shared/file &&
	echo 1234567890123456789012345678901234567890 >>shared/file &&
	g -C bare.git prune --expire=now &&
	is_link bare.git/shallow && test_cmp expect shared/file
'

test_expect_success 'reflogs: a linked one is not edited or dropped' '
	fresh && log=logs/refs/heads/t1 && link $log &&
	cp shared/file before &&
	g -C r.git reflog expire --expire=now --all &&
	test_must_fail g -C r.git reflog exists refs/heads/t1 &&
	test_must_fail g -C r.git reflog delete refs/heads/t1@{0} &&
	test_must_fail g -C r.git reflog drop refs/heads/t1 &&
	g -C r.git reflog drop --all &&
	is_link r.git/$log && test_cmp before shared/file &&
	g -C r.git update-ref refs/heads/t1 main~1 &&
	is_link r.git/$log && test_line_count 3 shared/file
'

test_expect_success 'reflogs: objects of a linked one are kept' '
	fresh && link logs/refs/heads/t1 &&
	tree=$(g -C r.git rev-parse main^{tree}) &&
	lost=$(g -C r.git commit-tree -m lost $tree) &&
	old=$(g -C r.git rev-parse t1) &&
	g -C r.git update-ref refs/heads/t1 $lost &&
	g -C r.git update-ref refs/heads/t1 $old &&
	g -C r.git prune --expire=now &&
	g -C r.git cat-file -e $lost
'

test_expect_success 'commit-graphs' '
	fresh && link objects/info/commit-graph &&
	g -C r.git commit-graph write --reachable &&
	is_link r.git/objects/info/commit-graph &&
	g -C r.git commit-graph verify &&
	>shared/file.lock &&
	test_must_fail g -C r.git commit-graph write --reachable &&
	fresh && dir=objects/info/commit-graphs && mkdir -p r.git/$dir &&
	link $dir/commit-graph-chain &&
	g -C r.git commit-graph write --reachable --split &&
	is_link r.git/$dir/commit-graph-chain && test_line_count 1 shared/file &&
	g -C r.git commit-graph verify
'

test_expect_success 'multi-pack-indexes' '
	fresh && g -C r.git repack -adq && link objects/pack/multi-pack-index &&
	g -C r.git multi-pack-index write --bitmap &&
	is_link r.git/objects/pack/multi-pack-index &&
	test $(ls r.git/objects/pack/multi-pack-index-*.bitmap | wc -l) = 1 &&
	g -C r.git multi-pack-index verify &&
	>shared/file.lock &&
	test_must_fail g -C r.git multi-pack-index write &&
	fresh && g -C r.git repack -adq && dir=objects/pack/multi-pack-index.d &&
	mkdir r.git/$dir && link $dir/multi-pack-index-chain &&
	g -C r.git multi-pack-index write --incremental &&
	is_link r.git/$dir/multi-pack-index-chain &&
	test_line_count 1 shared/file
'

test_expect_success 'the configuration when refs are migrated' '
	fresh && mv r.git/config shared/file && ln -s file shared/a &&
	ln -s ../shared/a r.git/config &&
	g -C r.git refs migrate --ref-format=reftable &&
	is_link r.git/config shared/a && grep reftable shared/file &&
	test "$(names r.git)" = "main new t1 t2 "
'

test_expect_success 'the configuration of a member of a network' '
	fresh && mv r.git/config shared/file && ln -s ../shared/file r.git/config &&
	rm -rf store.git && g network init store.git &&
	g -C store.git network add ../r.git &&
	is_link r.git/config && grep -i alternateRefsPrefixes shared/file &&
	g -C store.git network leave ../r.git &&
	is_link r.git/config && ! grep -i alternateRefsPrefixes shared/file
'

test_expect_success 'a bundle' '
	fresh && ln -s shared/file out &&
	g -C r.git bundle create ../out main &&
	is_link out && g -C r.git bundle verify ../out
'

test_done
