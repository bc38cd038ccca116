#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='deltas by path: --path-walk, --name-hash-version'
. "$(dirname "$0")/lib.sh"

# Files of one name hash in many directories, each with versions of its own.
test_expect_success 'a repository whose names collide' '
	mkdir work && stock -C work init -q &&
	git -C work config user.name A && git -C work config user.email a@b &&
	for v in 1 2 3 4; do
		for d in $(seq 20); do
			mkdir -p work/dir$d/deeper/still || return 1
			python3 -c "
import random, sys
d, v = map(int, sys.argv[1:])
r = random.Random(d)
for i in range(300):
    print(r.getrandbits(90))
for i in range(v):
    print(\"line\", d, i)" $d $v >work/dir$d/deeper/still/a-long-name.txt ||
				return 1
		done
		stock -C work add . &&
		stock -C work commit -qm "$v" || return 1
	done &&
	stock clone -q --bare work bare.git
'

pack_size () {
	stat -c %s "$1"/objects/pack/pack-*.pack
}

repacked () {
	rm -rf r.git && cp -r bare.git r.git &&
	git -C r.git repack -adfq "$@" &&
	stock -C r.git fsck --full --strict
}

test_expect_success 'packs by path are smaller' '
	repacked --window=4 && pack_size r.git >plain &&
	repacked --window=4 --path-walk && pack_size r.git >paths &&
	repacked --window=4 --name-hash-version=2 && pack_size r.git >v2 &&
	repacked --window=4 --name-hash-version=1 && pack_size r.git >v1 &&
	test $(($(cat paths) * 2)) -lt $(cat plain) &&
	test $(($(cat v2) * 2)) -lt $(cat plain) &&
	test_cmp plain v1
'

test_expect_success 'pack.usePathWalk, feature.experimental' '
	git -C bare.git config pack.usePathWalk true &&
	repacked --window=4 && pack_size r.git >out && test_cmp paths out &&
	repacked --window=4 --no-path-walk && pack_size r.git >out &&
	test_cmp plain out &&
	git -C bare.git config --unset pack.usePathWalk &&
	git -C bare.git config feature.experimental true &&
	repacked --window=4 && pack_size r.git >out && test_cmp paths out &&
	git -C bare.git config pack.usePathWalk false &&
	repacked --window=4 && pack_size r.git >out && test_cmp plain out &&
	git -C bare.git config --remove-section pack &&
	git -C bare.git config --remove-section feature
'

# hash_cache <dir>: the name hashes that its bitmap index stores, by id.
hash_cache () {
	nr=$(stock -C $1 rev-list --count --objects --all) &&
	tail -c $((nr * 4 + 20)) $1/objects/pack/pack-*.bitmap |
		head -c $((nr * 4))
}

# What is stored is of version 1 in any case.
test_expect_success 'with a bitmap index and islands in one run' '
	git -C bare.git config pack.island "refs/heads/" &&
	repacked -b && hash_cache r.git >v1.cache &&
	for how in --path-walk "-i --name-hash-version=2"; do
		repacked -b --window=4 $how &&
		test $(($(pack_size r.git) * 2)) -lt $(cat plain) &&
		ls r.git/objects/pack/*.bitmap &&
		stock -C r.git rev-list --count --objects --all >expect &&
		stock -C r.git rev-list --count --objects --all \
			--use-bitmap-index >actual &&
		test_cmp expect actual &&
		hash_cache r.git >cache && test_cmp v1.cache cache &&
		git -C r.git bitmap verify || return 1
	done
'

test_expect_success 'to a receiver, whole, thin and filtered' '
	cp -r bare.git one.git && git -C one.git repack -adq -b &&
	rm -rf got.git && git init -q --bare got.git &&
	echo HEAD^ | git -C one.git pack-objects --revs --stdout -q \
		--no-reuse-delta --window=4 >plain.pack &&
	echo HEAD^ | git -C one.git pack-objects --revs --stdout -q \
		--no-reuse-delta --window=4 --path-walk >base.pack &&
	test $(($(wc -c <base.pack) * 2)) -lt $(wc -c <plain.pack) &&
	stock -C got.git index-pack --stdin <base.pack &&
	printf "%s\n" HEAD ^HEAD^ >revs &&
	for how in --path-walk --name-hash-version=2; do
		git -C one.git pack-objects --thin --stdout -q $how \
			--no-use-bitmap-index <revs >thin.pack &&
		test $(wc -c <thin.pack) -lt 8000 &&
		stock -C got.git index-pack --fix-thin --stdin \
			<thin.pack &&
		echo HEAD | git -C one.git pack-objects --revs --stdout -q \
			$how --filter=blob:none >no-blobs.pack &&
		git -C one.git rev-list --objects --filter=blob:none HEAD \
			>expect &&
		stock index-pack no-blobs.pack &&
		stock show-index <no-blobs.idx >actual &&
		test_line_count $(wc -l <expect) actual || return 1
	done &&
	stock -C got.git fsck --full &&
	stock -C got.git cat-file -e \
		$(stock -C one.git rev-parse HEAD:dir3/deeper/still/a-long-name.txt)
'

test_expect_success 'of lists of objects, and of packs' '
	stock -C bare.git rev-list --objects --all >list &&
	git -C bare.git pack-objects --window=4 --no-reuse-delta -q "$PWD/l1" \
		<list >name1 &&
	git -C bare.git pack-objects --window=4 --no-reuse-delta -q \
		--path-walk "$PWD/l2" <list >name2 &&
	test $(($(wc -c <l2-$(cat name2).pack) * 2)) -lt \
		$(wc -c <l1-$(cat name1).pack) &&
	stock verify-pack l2-$(cat name2).pack &&
	ls one.git/objects/pack | grep "pack$" >packs &&
	git -C one.git pack-objects --stdin-packs --window=4 \
		--no-reuse-delta -q --path-walk "$PWD/l3" <packs >name3 &&
	test $(($(wc -c <l3-$(cat name3).pack) * 2)) -lt \
		$(wc -c <l1-$(cat name1).pack)
'

# For repack, 0 means the default, as for stock Git 2.55.
test_expect_success 'other versions are refused' '
	git -C bare.git repack --name-hash-version=0 &&
	echo "fatal: invalid --name-hash-version option: 3" >expect &&
	test_expect_code 128 git -C bare.git repack --name-hash-version=3 \
		2>err &&
	test_cmp expect err &&
	for n in 0 3; do
		echo "fatal: invalid --name-hash-version option: $n" >expect &&
		echo HEAD | test_expect_code 128 git -C bare.git pack-objects \
			--revs --stdout --name-hash-version=$n 2>err &&
		test_cmp expect err || return 1
	done
'

test_done
