#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='git bitmap: what is in bitmap indexes'
. "$(dirname "$0")/lib.sh"

# value <key>: of a line "<key>=<value>" of the file "out".
value () {
	sed -n "s/^$1=//p" out
}

test_expect_success 'setup: a repository, one that borrows, and newer commits' '
	repo_linear repo.git 300 &&
	repo_tags repo.git &&
	git -C repo.git repack -adbq &&
	bitmap=$(echo repo.git/objects/pack/*.bitmap) &&
	stock -C repo.git rev-list main >commits &&
	repo_init none.git &&
	repo_init borrows.git &&
	echo "$PWD/repo.git/objects" >borrows.git/objects/info/alternates
'

test_expect_success 'list: one line for each index, alternates too' '
	for repo in repo.git borrows.git
	do
		git -C $repo bitmap list >out &&
		test_line_count 1 out &&
		nr=$(stock -C repo.git rev-list --objects --all | wc -l) &&
		grep "^objects=$nr bitmaps=[1-9][0-9]* pseudo-merges=0 " out &&
		grep " extensions=hash-cache,lookup-table " out &&
		grep " bytes=$(wc -c <"$bitmap") path=.*[.]bitmap$" out ||
		return 1
	done &&
	git -C none.git bitmap list >out &&
	test_must_be_empty out &&
	git -C repo.git -c repack.writeBitmaps=true \
		-c pack.writeBitmapHashCache=false \
		-c pack.writeBitmapLookupTable=false repack -adq &&
	git -C repo.git bitmap list >out &&
	grep " extensions= " out &&
	git -C repo.git repack -adbq
'

test_expect_success 'list --commits: ids, dates, XOR depths, bytes' '
	bitmap=$(echo repo.git/objects/pack/*.bitmap) &&
	git -C repo.git bitmap list --commits >out &&
	sed 1d out >lines &&
	test_line_count $(sed -n "1s/.* bitmaps=\([0-9]*\) .*/\1/p" out) \
		lines &&
	while read id date depth bytes
	do
		echo "$id $date" &&
		test $depth -le 160 && test $bytes -ge 26 || exit 1
	done <lines >dates &&
	TZ=UTC stock -C repo.git log --no-walk --stdin \
		--format="%H %cd" --date=iso-strict-local <commits |
		sed "s/+00:00$/Z/" >all &&
	sort dates >a && sort all >b &&
	comm -23 a b >surplus &&
	test_must_be_empty surplus
'

test_expect_success 'show: how a bitmap is stored, and its objects' '
	for rev in main main~7 nested
	do
		git -C repo.git bitmap show $rev >out || return 1
		test "$(value commit)" = \
			"$(stock -C repo.git rev-parse "$rev^{commit}")" &&
		test "$(value bitmap)" = yes && test "$(value packed)" = yes &&
		stock -C repo.git rev-list --objects "$rev^{commit}" >raw &&
		test "$(value marks)" = $(wc -l <raw) &&
		cut -d" " -f1 raw | sort >expect &&
		git -C repo.git bitmap show --objects $rev >out &&
		cut -d" " -f1 out | sort >actual &&
		test_cmp expect actual &&
		stock -C repo.git cat-file \
			--batch-check="%(objectname) %(objecttype)" \
			<actual | sort >expect &&
		sort out >actual && test_cmp expect actual &&
		git -C repo.git bitmap show --count $rev >out &&
		for type in commit tree blob tag
		do
			test "$(value ${type}s)" = \
				$(grep -c " $type$" actual) || return 1
		done || return 1
	done
'

test_expect_success 'show: no bitmap, no commit, no index' '
	git -C repo.git bitmap list --commits | sed 1d | cut -d" " -f1 |
		sort >have &&
	sort commits | comm -23 - have | sed 1q >lacking &&
	test_line_count 1 lacking &&
	test_expect_code 1 git -C repo.git bitmap show $(cat lacking) >out &&
	test "$(value bitmap)" = no &&
	test_expect_code 1 git -C repo.git bitmap show --count \
		$(cat lacking) 2>err &&
	grep "has no bitmap" err &&
	test_expect_code 128 git -C repo.git bitmap show main: 2>err &&
	grep "is not a commit" err &&
	test_expect_code 128 git -C repo.git bitmap show nothing &&
	test_expect_code 1 git -C none.git bitmap show HEAD 2>err &&
	grep "there is no bitmap index" err
'

test_expect_success 'stats: sizes, and distances of tips from bitmaps' '
	git -C repo.git bitmap stats >out &&
	test "$(value bytes)" = $(wc -c <"$(value path)") &&
	test $(($(sed -n "s/^section[.].*=//p" out | paste -sd+))) = \
		"$(value bytes)" &&
	test "$(value pack.indexed-percent)" = 100.00 &&
	for kind in head branches
	do
		test "$(value $kind.tips)" = 1 &&
		test "$(value $kind.with-bitmap)" = 1 &&
		test "$(value $kind.walk-mean)" = 0.00 &&
		test "$(value $kind.walk-together)" = 0 || return 1
	done &&
	test "$(value tags.tips)" = 1 && test "$(value other.tips)" = 0
'

test_expect_success 'stats: commits without bitmap are counted' '
	cp -R repo.git newer.git &&
	for n in 1 2 3 4 5
	do
		new=$(stock -C newer.git commit-tree -p main -m $n \
			"main^{tree}") &&
		stock -C newer.git update-ref refs/heads/main $new &&
		stock -C newer.git update-ref refs/pull/$n $new || return 1
	done &&
	git -C newer.git bitmap stats >out &&
	test "$(value head.walk-max)" = 5 &&
	test "$(value other.tips)" = 5 &&
	test "$(value other.with-bitmap)" = 0 &&
	test "$(value other.walk-mean)" = 3.00 &&
	test "$(value other.walk-median)" = 3 &&
	test "$(value other.walk-max)" = 5 &&
	test "$(value other.walk-together)" = 5 &&
	test_expect_code 1 git -C none.git bitmap stats
'

test_expect_success 'verify: a good index, all of it and samples' '
	for repo in repo.git newer.git borrows.git
	do
		git -C $repo bitmap verify >out || return 1
		grep "^verified=\([0-9]*\) of=\1 path=.*[.]bitmap$" out &&
		git -C $repo bitmap verify --sample=3 --seed=7 >out &&
		grep "^verified=3 of=[0-9]* seed=7 path=" out || return 1
	done &&
	git -C none.git bitmap verify >out &&
	test_must_be_empty out
'

# damage <offset>: change a bit of $file.
damage () {
	was=$(od -An -tu1 -j$1 -N1 "$file") &&
	printf "$(printf "\\%03o" $((was ^ 1)))" |
	dd of="$file" bs=1 seek=$1 conv=notrunc 2>/dev/null
}

# Make the checksum right again.
resign () {
	head -c -20 "$file" >body &&
	{
		cat body &&
		for byte in $(sha1sum <body | cut -c1-40 | sed "s/../0x& /g")
		do
			printf "\\$(printf %03o $byte)"
		done
	} >"$file"
}

fresh () {
	rm -rf bad.git && cp -R repo.git bad.git && chmod -R u+w bad.git &&
	file=$(echo bad.git/objects/pack/*.bitmap)
}

test_expect_success 'verify: a damaged index is named, exit 1' '
	len=$(wc -c <"$bitmap") &&
	for at in 0 8 40 $((len / 2)) $((len - 1))
	do
		fresh && damage $at &&
		test_expect_code 1 git -C bad.git bitmap verify >out 2>err &&
		test_line_count 1 err && grep "^error: .*[.]bitmap" err &&
		! grep "[.]bitmap" out &&
		test_expect_code 1 git -C bad.git bitmap list 2>err &&
		grep "^error: .*[.]bitmap" err &&
		test_expect_code 1 git -C bad.git bitmap show main &&
		test_expect_code 1 git -C bad.git bitmap stats || return 1
	done &&
	fresh && truncate -s 100 "$file" &&
	test_expect_code 1 git -C bad.git bitmap verify 2>err &&
	grep "^error: .*[.]bitmap" err
'

test_expect_success 'verify: a wrong bit under a right checksum' '
	for rev in $(git -C bad.git bitmap list --commits |
		sed -n "2p;7p;\$p" | cut -d" " -f1)
	do
		fresh && git -C bad.git bitmap show $rev >out || return 1
		# the last word of its bitmap, lowest bit
		damage $(($(value offset) + $(value bytes) - 5)) && resign &&
		test_expect_code 1 git -C bad.git bitmap verify 2>err &&
		grep "^error: .*[.]bitmap: bitmap of commit [0-9a-f]*: object [0-9a-f]* is " err &&
		test_expect_code 1 git -C bad.git bitmap verify \
			--sample=100000 2>err &&
		grep "^error: .*[.]bitmap: bitmap of commit" err || return 1
	done
'

# total: the sum of the four types in "out".
total () {
	echo $(($(value commits) + $(value trees) + $(value blobs) + \
		$(value tags)))
}

test_expect_success 'explain: what is used, walked and found' '
	git -C repo.git bitmap explain main >out &&
	test "$(value answered-by)" = bitmap &&
	test "$(value used-bitmap)" = "$(stock -C repo.git rev-parse main)" &&
	test "$(value wants)" = 1 && test "$(value haves)" = 0 &&
	test "$(value wants.bitmaps)" = 1 &&
	test "$(value wants.commits-walked)" = 0 &&
	test "$(value wants.objects-by-walk)" = 0 &&
	test "$(total)" = \
		$(stock -C repo.git rev-list --objects --count main) &&
	test "$(value wants.objects-by-bitmap)" = "$(total)" &&
	for key in tips open haves wants
	do
		value $key-ms | grep "^[0-9]*[.][0-9]*$" || return 1
	done &&
	git -C newer.git bitmap explain --all --not main~7 >out &&
	test "$(total)" = $(stock -C newer.git rev-list --objects \
		--count --all --not main~7) &&
	test "$(value haves)" = 1 && test "$(value haves.bitmaps)" = 1 &&
	test "$(value wants.commits-walked)" = 5 &&
	test "$(value wants.objects)" = "$(total)" &&
	echo main >revs && echo ^main~6 >>revs &&
	git -C newer.git bitmap explain --stdin --filter=blob:none <revs >out &&
	test "$(value commits)" = 6 && test "$(value blobs)" = 0
'

# unused <reason> <dir> <argument>...: nothing but this reason is printed.
unused () {
	reason=$1 dir=$2 && shift 2 &&
	git -C $dir "$@" >out &&
	test "$(value answered-by)" = walk &&
	value reason >actual && grep "$reason" actual &&
	test_line_count 2 out
}

test_expect_success 'explain: why an index is not used' '
	unused "there is no bitmap index" none.git bitmap explain --all &&
	unused "pack.useBitmaps is false" repo.git -c pack.useBitmaps=false \
		bitmap explain main &&
	unused "the filter needs a walk" repo.git \
		bitmap explain --filter=tree:2 main &&
	fresh && damage 200 &&
	unused "[.]bitmap: .*" bad.git \
		bitmap explain main &&
	fresh && stock -C bad.git rev-parse main~5 >bad.git/shallow &&
	unused "the repository is shallow" bad.git bitmap explain main &&
	fresh && stock -C bad.git replace main~3 main~5 &&
	unused "objects are replaced" bad.git bitmap explain --exact main &&
	git -C bad.git bitmap explain main >out &&
	test "$(value answered-by)" = bitmap
'

test_expect_success 'explain: the choice, its reason and its numbers' '
	git -C repo.git bitmap explain main >out &&
	test "$(value reason)" = "there are no haves" &&
	git -C repo.git bitmap explain main ^main~6 >out &&
	test "$(value reason)" = "looking for bitmaps costs less than walking" &&
	test "$(value estimate.have-commits)" = 0 &&
	test "$(value estimate.want-commits)" = 6 &&
	test "$(value estimate.boundary)" = 1 &&
	test "$(value estimate.walk)" = 9 &&
	test "$(value estimate.bitmap)" = \
		"$(value estimate.want-commits-beyond)" &&
	git -C repo.git bitmap explain --exact main ^main~6 >out &&
	test "$(value reason)" = "the answer has to be exact" &&
	git -C repo.git -c pack.useBitmapBoundaryTraversal=false \
		bitmap explain main ^main~6 >out &&
	test "$(value reason)" = "the answer has to be exact" &&
	git -C repo.git -c gitreach.bitmapStrategy=walk \
		bitmap explain main ^main~6 >out &&
	test "$(value answered-by)" = walk &&
	test "$(value reason)" = "gitreach.bitmapStrategy says so" &&
	test_expect_code 128 git -C repo.git -c gitreach.bitmapStrategy=guess \
		bitmap explain main 2>err &&
	grep "bad value of gitreach.bitmapStrategy: .guess." err
'

# A line of commits on top of the index, which are in a pack of their own.
test_expect_success 'explain: few commits far from the index are walked' '
	stock clone -q --bare repo.git far.git &&
	stock -C far.git rev-parse main >tip &&
	for i in $(seq 1 1000)
	do
		echo "commit refs/heads/main" &&
		echo "committer A <a@b> $((2000000000 + i)) +0000" &&
		echo "data 0" &&
		if test $i = 1
		then
			echo "from $(cat tip)"
		fi &&
		echo "M 100644 inline file" &&
		echo "data <<E" && echo $i && echo "E" || return 1
	done | stock -C far.git fast-import --quiet &&
	git -C far.git bitmap explain main ^main~1 >out &&
	test "$(value answered-by)" = walk &&
	test "$(value estimate.walk)" -le "$(value estimate.bitmap)" &&
	test "$(value estimate.want-commits)" = 1 &&
	git -C far.git bitmap explain --exact main ^main~1 >out &&
	test "$(value answered-by)" = bitmap &&
	test "$(value haves.commits-walked)" = 999 &&
	echo main >revs && echo ^main~1 >>revs &&
	for strategy in auto bitmap walk
	do
		git -C far.git -c gitreach.bitmapStrategy=$strategy \
			pack-objects --revs --stdout <revs >$strategy.pack &&
		stock index-pack $strategy.pack &&
		stock show-index <$strategy.idx | cut -d" " -f2 |
			sort >$strategy || return 1
	done &&
	test_line_count 3 auto &&
	test_cmp auto walk && test_cmp auto bitmap
'

# What the client has is not looked for in trees that the index does not need,
# and yet is a base.
test_expect_success 'thin deltas if no bitmap covers the haves' '
	content=$(seq 1 400 |
		awk "{ print \$1 * 7919 % 10007 * 104729 }") &&
	for i in $(seq 1 1190)
	do
		echo "commit refs/heads/main" &&
		echo "committer A <a@b> $((1112912000 + 60 * i)) +0000" &&
		echo "data 0" && echo "M 100644 inline file" &&
		echo "data <<E" && echo "$content" && echo "$i" &&
		echo "E" || return 1
	done | repo_import line.git &&
	git -C line.git repack -adbq &&
	git -C line.git -c gitreach.bitmapStrategy=bitmap \
		bitmap explain main~1187 ^main~1188 >out &&
	test "$(value haves.bitmaps)" = 0 &&
	test "$(value wants.bitmaps)" = 0 &&
	stock -C line.git rev-parse main~1187 ^main~1188 >revs &&
	for strategy in bitmap walk
	do
		git -C line.git -c gitreach.bitmapStrategy=$strategy \
			pack-objects --thin --revs --stdout <revs >thin &&
		test "$(wc -c <thin)" -lt 500 || return 1
	done &&
	stock clone -q --bare line.git client.git &&
	stock -C client.git index-pack --stdin --fix-thin <thin
'

test_expect_success 'wrong usage' '
	test_expect_code 129 git -C repo.git bitmap 2>err &&
	grep "need a subcommand" err &&
	test_expect_code 129 git -C repo.git bitmap peel 2>err &&
	grep "unknown subcommand" err &&
	test_expect_code 129 git -C repo.git bitmap list all &&
	test_expect_code 129 git -C repo.git bitmap stats all &&
	test_expect_code 129 git -C repo.git bitmap explain &&
	test_expect_code 129 git -C repo.git bitmap explain --graph 2>err &&
	grep "unsupported option .--graph" err &&
	test_expect_code 128 git -C repo.git bitmap explain nothing &&
	test_expect_code 129 git -C repo.git bitmap verify --sample=x &&
	test_expect_code 129 git -C repo.git bitmap verify --seed=3 &&
	git -C repo.git bitmap verify --seed=3 --no-seed &&
	test_expect_code 129 git -C repo.git bitmap show &&
	test_expect_code 129 git -C repo.git bitmap show --count --objects main
'

test_done
