#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='partial clones: repack, gc, prune, fsck and rev-list know what was promised'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-fault.sh"

test_expect_success 'setup' '
	repo_nested work &&
	stock -C work config uploadpack.allowFilter true &&
	stock -C work config uploadpack.allowAnySHA1InWant true
'

# partial <spec>: base, a clone that lacks something and has commits of its own
partial () {
	rm -rf base &&
	stock clone -q --filter=$1 "file://$PWD/work" base &&
	for i in 1 2
	do
		echo own $i >base/own$i && stock -C base add . &&
		test_tick && stock -C base commit -qm own$i || return
	done &&
	stock -C base tag -am mine mine
}

# here <clone>: what it has of what is reachable
here () {
	stock -C "$1" rev-list --objects --all --missing=allow-any | sort
}

# packed <clone>: "<objects> [promisor]", a line for each pack
packed () {
	for idx in "$1"/.git/objects/pack/*.idx
	do
		echo $(stock show-index <$idx | wc -l) \
			$(test ! -e ${idx%.idx}.promisor || echo promisor)
	done | sort
}

fresh () {
	rm -rf r && cp -R base r
}

for spec in blob:none tree:0 blob:limit=300 tree:2
do
	test_expect_success "$spec: setup" "
		partial $spec && here base >here &&
		fresh && stock -C r repack -adq && packed r >packed
	"

	test_expect_success "$spec: rev-list" '
		stock -C base rev-list --objects --all \
			--exclude-promisor-objects | sort >expect &&
		"$GIT" -C base rev-list --objects --all \
			--exclude-promisor-objects | sort >actual &&
		test_cmp expect actual && test -s actual &&
		"$GIT" -C base rev-list --objects --all \
			--missing=allow-promisor | sort >actual &&
		test_cmp here actual &&
		stock -C base rev-list --objects --all --missing=print |
			sort >expect &&
		"$GIT" -C base rev-list --objects --all --missing=print |
			sort >actual &&
		test_cmp expect actual &&
		GIT_NO_LAZY_FETCH=1 test_expect_code 128 \
			"$GIT" -C base rev-list --objects --all
	'

	test_expect_success "$spec: repack -ad as stock Git does it" '
		fresh && "$GIT" -C r repack -adq &&
		packed r >actual && test_cmp packed actual &&
		test -z "$(find r/.git/objects/?? -type f)" &&
		here r >actual && test_cmp here actual &&
		"$GIT" -C r fsck && stock -C r fsck
	'

	test_expect_success "$spec: pack-objects --exclude-promisor-objects" '
		stock -C base rev-list --objects --all \
			--exclude-promisor-objects | cut -c1-40 | sort >expect &&
		"$GIT" -C base pack-objects --all --exclude-promisor-objects \
			-q ../local </dev/null >name &&
		stock show-index <local-$(cat name).idx | cut -d" " -f2 |
			sort >actual &&
		test_cmp expect actual
	'

	for command in "repack -dq" "repack -Adq" "repack -adkq" \
		"repack --cruft -dq" "repack -dq --geometric=2" \
		"repack -adq --filter=blob:none" "prune --expire=now" \
		"gc -q --prune=now" "gc -q --no-cruft --prune=now"
	do
		test_expect_success "$spec: $command" "
			fresh && \"\$GIT\" -C r $command &&
			here r >actual && test_cmp here actual &&
			\"\$GIT\" -C r fsck && stock -C r fsck
		"
	done

	test_expect_success "$spec: afterwards the rest can be fetched" '
		fresh && "$GIT" -C r gc -q --prune=now &&
		stock -C r fetch -q && stock -C r log -p origin/HEAD >actual &&
		stock -C work log -p >expect && sed "s/ (.*)//" actual >a &&
		sed "s/ (.*)//" expect >e && test_cmp e a &&
		"$GIT" -C r repack -adq && stock -C r fsck &&
		"$GIT" -C r rev-list --objects origin/HEAD |
			cut -c1-40 | sort >actual &&
		stock -C work rev-list --objects HEAD |
			cut -c1-40 | sort >expect &&
		test_cmp expect actual
	'
done

# fetched <dir>: make a partial clone, and fetch four blobs one by one, so that each of
# them is in a promisor pack of its own
fetched () {
	rm -rf "$1" &&
	stock clone -q --bare --filter=blob:none "file://$PWD/work" "$1" &&
	stock -C work ls-tree -r HEAD | head -n 4 | while read mode type id name
	do
		stock -C "$1" cat-file -p $id >/dev/null || exit 1
	done
}

# count_files <suffix>: print the number of files with this suffix in the pack directory
# of r.git
count_files () {
	ls r.git/objects/pack/*.$1 | wc -l
}

test_expect_success 'multi-pack-index repack and expire keep objects of promisor packs' '
	fetched r.git &&
	for text in more own
	do
		own=$(echo $text | stock -C r.git hash-object -w --stdin) &&
		echo $own | stock -C r.git pack-objects -q objects/pack/pack ||
		return
	done &&
	stock -C r.git cat-file --batch-all-objects --batch-check >want &&
	promised=$(count_files promisor) &&
	test $promised -ge 4 &&
	"$GIT" -C r.git multi-pack-index write &&
	"$GIT" -C r.git multi-pack-index repack &&
	test $(count_files promisor) -eq $((promised + 1)) &&
	"$GIT" -C r.git multi-pack-index expire &&
	test $(count_files promisor) -eq 1 &&
	test $(count_files pack) -eq 2 &&
	stock -C r.git multi-pack-index verify &&
	stock -C r.git fsck && "$GIT" -C r.git fsck &&
	stock -C r.git cat-file --batch-all-objects --batch-check >got &&
	test_cmp want got &&
	idx=$(ls r.git/objects/pack/*.promisor) && idx=${idx%.promisor}.idx &&
	stock show-index <$idx >objects && ! grep $own objects &&
	"$GIT" -C r.git gc -q && stock -C r.git fsck
'

test_expect_success 'expire keeps a promisor pack if only an ordinary pack has its objects' '
	fetched r.git &&
	promised=$(count_files promisor) &&
	stock -C r.git cat-file --batch-all-objects \
		--batch-check="%(objectname)" |
	stock -C r.git pack-objects -q objects/pack/pack >name &&
	touch -d "now + 1 minute" r.git/objects/pack/pack-$(cat name).pack &&
	"$GIT" -C r.git multi-pack-index write &&
	"$GIT" -C r.git multi-pack-index expire &&
	test $(count_files promisor) -eq $promised && stock -C r.git fsck
'

test_expect_success 'a missing object that was not promised is an error' '
	partial blob:none && fresh &&
	blob=$(stock -C r rev-parse HEAD:own1) &&
	rm -f r/.git/objects/$(echo $blob | sed "s,..,&/,") &&
	test_must_fail "$GIT" -C r fsck >out && grep "missing blob $blob" out &&
	test_expect_code 128 "$GIT" -C r repack -adq 2>err && grep $blob err &&
	test_expect_code 128 "$GIT" -C r rev-list --objects --all \
		--missing=allow-promisor 2>err &&
	grep $blob err
'

test_expect_success 'an object that only promised objects name stays' '
	partial blob:none && fresh &&
	blob=$(stock -C work rev-parse HEAD~3:big) &&
	stock -C work cat-file blob $blob |
		stock -C r hash-object -w --stdin &&
	"$GIT" -C r prune --expire=now &&
	test -f r/.git/objects/$(echo $blob | sed "s,..,&/,") &&
	echo $blob | stock -C r pack-objects -q .git/objects/pack/pack &&
	stock -C r prune-packed && "$GIT" -C r repack -adq &&
	stock -C r config remote.origin.url /dev/null &&
	stock -C r cat-file -e $blob
'

# A forge may configure delta islands for all of its repositories.
for spec in blob:none tree:0
do
	test_expect_success "$spec: delta islands" '
		partial $spec && here base >here &&
		fresh && stock -C r config repack.useDeltaIslands true &&
		stock -C r config pack.island "refs/(heads|tags)/" &&
		stock -C r update-ref refs/heads/old HEAD~1 &&
		"$GIT" -C r repack -adq && stock -C r fsck &&
		here r >actual && test_cmp here actual &&
		packed r >packed && test_line_count 2 packed &&
		"$GIT" -C r gc -q && echo new >r/new && stock -C r add new &&
		stock -C r commit -qm new && here r >here &&
		"$GIT" -C r repack -d -q --geometric=2 &&
		"$GIT" -C r repack -d -q --geometric=2 --write-midx &&
		here r >actual && test_cmp here actual && stock -C r fsck
	'
done

# Two forks have the file of the other in similar versions. Only with islands, the
# deltas stay within each fork.
test_expect_success 'deltas of local objects stay within their islands' '
	partial blob:none && fresh && main=$(stock -C r rev-parse HEAD) &&
	seq 1 4000 >r/long && stock -C r add long && stock -C r commit -qm a &&
	stock -C r update-ref refs/forks/a/main HEAD &&
	a=$(stock -C r rev-parse HEAD:long) &&
	stock -C r reset -q --hard $main &&
	seq 1 4001 >r/long && stock -C r add long && stock -C r commit -qm b &&
	stock -C r update-ref refs/forks/b/main HEAD &&
	b=$(stock -C r rev-parse HEAD:long) &&
	stock -C r reset -q --hard $main && stock -C r reflog expire \
		--expire=now --all &&
	echo "%(deltabase)" >format && printf "%s\n" $a $b >ids &&
	"$GIT" -C r repack -adqf &&
	stock -C r cat-file --batch-check="$(cat format)" <ids >bases &&
	grep "$a\|$b" bases &&
	"$GIT" -C r -c pack.island="refs/forks/([ab])/" repack -adqfi &&
	stock -C r cat-file --batch-check="$(cat format)" <ids >bases &&
	! grep "$a\|$b" bases && stock -C r fsck
'

# filtered <filter>: packs.filtered has the objects that pass in a full clone
# without the objects that a promisor pack has, packs.rest the others
filtered () {
	stock -C r rev-list --objects --no-object-names --all \
		--exclude-promisor-objects | sort >local &&
	stock -C whole rev-list --objects --no-object-names --all \
		--filter=$1 | sort >passing &&
	comm -12 local passing >packs.filtered &&
	comm -23 local passing >packs.rest
}

# objects_with <id>: the objects of the pack without .promisor that has the object
objects_with () {
	for idx in r/.git/objects/pack/*.idx
	do
		stock show-index <$idx | cut -d" " -f2 | sort >list &&
		test ! -e ${idx%.idx}.promisor && grep -q $1 list &&
		cat list && return
	done
	return 1
}

for spec in tree:1 tree:2 tree:3 sparse:oid=HEAD:own1 \
	combine:tree:3+object:type=tree
do
	test_expect_success "a filter by path: $spec" '
		partial blob:none && echo /deep/ >base/own1 &&
		mkdir -p base/deep/er && echo file >base/deep/er/file &&
		stock -C base add . && stock -C base commit -qm deep &&
		rm base/.git/index && rm -rf base/.git/logs &&
		rm -rf whole && cp -R base whole &&
		stock -C whole config remote.origin.partialclonefilter \
			blob:limit=1g &&
		stock -C whole fetch -q --refetch &&
		fresh && here base >here && filtered '$spec' &&
		stock -C r config remote.origin.url /dev/null &&
		"$GIT" -C r repack -adq --filter='$spec' &&
		here r >actual && test_cmp here actual && stock -C r fsck &&
		objects_with $(head -n 1 packs.filtered) >actual &&
		test_cmp packs.filtered actual &&
		objects_with $(head -n 1 packs.rest) >actual &&
		test_cmp packs.rest actual
	'
done

is_whole () {
	fault_exited $1 &&
	here r >actual && test_cmp here actual &&
	"$GIT" -C r fsck >out && "$GIT" -C r repack -adq &&
	packed r >actual && test_cmp packed actual
}

for mode in kill lose EIO ENOSPC
do
	step=13
	test $mode != kill || step=6

	test_expect_success "repack -ad: $mode at calls" "
		partial blob:none && here base >here &&
		fresh && stock -C r repack -adq && packed r >packed &&
		fault_step=\$(fault_thin $step) &&
		fault_each $mode fresh '$GIT -C r repack -adq' 'is_whole $mode'
	"
done

test_done
