#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='rev-list counts without bitmaps, whatever trees are stored as'
. "$(dirname "$0")/lib.sh"

. "$GITREACH_SRC/t/lib-compare.sh"
. "$GITREACH_SRC/t/lib-random.sh"

# count <dir>: what stock Git counts, for the whole, parts and differences.
count () {
	stock -C "$1" for-each-ref --sort=-committerdate \
		--format='%(objectname)' refs/heads >tips &&
	a=$(sed -n 1p tips) b=$(sed -n 2p tips) c=$(sed -n 3p tips) &&
	while read -r request
	do
		same -C "$1" rev-list --count --objects $request </dev/null &&
		same -C "$1" rev-list --disk-usage --objects $request \
			</dev/null || return 1
	done <<-EOF
	--all
	$a
	$b ^$a
	$a~4 $c^{tree}
	--all --not $c
	--all --filter=blob:none
	--all --filter=blob:limit=11
	--all --filter=object:type=tree
	$a ^$b --filter=tree:1
	EOF
}

for format in sha1 sha256
do
	REPO_FORMAT=$format

	test_expect_success "$format: loose" '
		repo_random work-$format 90 7 &&
		repo_tags work-$format &&
		count work-$format
	'

	for delta in "1 1" "10 50" "60 4000"
	do
		test_expect_success "$format: window and depth $delta" '
			set -- $delta &&
			stock -C work-$format repack -adfq --window=$1 \
				--depth=$2 &&
			count work-$format
		'
	done

	test_expect_success "$format: bases by id" '
		cp -r work-$format ref-$format &&
		stock -C ref-$format -c repack.useDeltaBaseOffset=false \
			repack -adfq --depth=50 &&
		count ref-$format
	'

	test_expect_success "$format: packs that overlap, and a thin one" '
		stock init -q --bare --object-format=$format packs-$format &&
		stock -C packs-$format fetch -q ../work-$format \
			main:main &&
		for tip in $(stock -C work-$format for-each-ref \
			--format="%(objectname)" refs/heads)
		do
			stock -C packs-$format for-each-ref \
				--format="^%(objectname)" >revs &&
			echo $tip >>revs &&
			stock -C work-$format pack-objects --revs --stdout \
				--thin -q <revs >pack &&
			stock -C packs-$format index-pack --stdin --fix-thin \
				<pack >/dev/null &&
			stock -C packs-$format update-ref \
				refs/heads/$tip $tip || return 1
		done &&
		test $(ls packs-$format/objects/pack/*.pack | wc -l) -gt 2 &&
		count packs-$format &&
		stock -C packs-$format multi-pack-index write &&
		count packs-$format
	'

	test_expect_success "$format: alternates" '
		stock clone -q -s --bare work-$format fork-$format &&
		tree=$(stock -C fork-$format rev-parse main^{tree}) &&
		stock -C fork-$format update-ref refs/heads/own \
			$(stock -C fork-$format commit-tree -p main \
			-m own $tree) &&
		count fork-$format
	'

	test_expect_success "$format: replaced objects" '
		cp -r work-$format replaced-$format &&
		main=$(stock -C replaced-$format rev-parse main) &&
		stock -C replaced-$format replace $main $main~3 &&
		count replaced-$format
	'
done

# broken <dir>: break the delta of a tree, the last in the pack that is one.
broken () {
	pack=$(echo "$1"/objects/pack/*.pack) &&
	chmod u+w "$pack" &&
	stock verify-pack -v "$pack" | awk '$2 == "tree" && NF == 7' |
	sort -n -k 5 | sed -n '$p' >entry &&
	read -r oid type size stored offset rest <entry &&
	printf 'xxxx' | dd of="$pack" bs=1 seek=$((offset + stored - 8)) \
		conv=notrunc 2>/dev/null
}

test_expect_success 'the error for a broken delta names the pack and offset' '
	stock clone -q --bare --no-local work-sha1 torn.git &&
	stock -C torn.git repack -adfq --depth=50 &&
	cp -r torn.git whole.git &&
	broken torn.git &&
	test_must_fail stock -C torn.git rev-list --count --objects --all &&
	test_must_fail git -C torn.git rev-list --count --objects --all \
		>out 2>err &&
	test_must_be_empty out &&
	grep "$(basename "$pack" .pack).* at offset $offset" err
'

test_expect_success 'a broken delta is no error if another copy exists' '
	stock -C whole.git rev-list --count --objects --all >expect &&
	echo $oid | stock -C whole.git pack-objects -q \
		"$PWD/torn.git/objects/pack/pack" &&
	git -C torn.git rev-list --count --objects --all >actual &&
	test_cmp expect actual
'

test_done
