#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='bitmap indexes: written by repack, read by rev-list and others'
. "$(dirname "$0")/lib.sh"

# ids <file> <command>...: sorted ids that a rev-list command lists.
ids () {
	out=$1
	shift
	"$@" >"$out.raw" && cut -d" " -f1 "$out.raw" | LC_ALL=C sort >"$out"
}

# same_objects <dir> <rev>...: ours and stock Git's, with and without bitmaps,
# list and count the same. Walks with haves may list more, so there have to be
# none.
same_objects () {
	dir=$1 && shift &&
	ids expect stock -C "$dir" rev-list --objects "$@" &&
	wc -l <expect >expect.nr &&
	for how in "" --use-bitmap-index
	do
		ids actual git -C "$dir" rev-list --objects $how "$@" &&
		test_cmp expect actual &&
		ids actual stock -C "$dir" rev-list --objects $how "$@" &&
		test_cmp expect actual &&
		git -C "$dir" rev-list --objects --count $how "$@" >actual &&
		test_cmp expect.nr actual || return 1
	done
}

# same_difference <dir> <rev>...: the exact answer, for requests with haves.
same_difference () {
	dir=$1 && shift &&
	ids expect stock -C "$dir" rev-list --objects --use-bitmap-index "$@" &&
	ids actual git -C "$dir" rev-list --objects --use-bitmap-index "$@" &&
	test_cmp expect actual &&
	git -C "$dir" rev-list --objects --use-bitmap-index --count "$@" \
		>actual &&
	wc -l <expect >expect.nr &&
	test_cmp expect.nr actual
}

# sound <dir>: stock Git and ours find nothing wrong with packs and bitmaps;
# all tips have one that is right.
sound () {
	stock -C "$1" fsck --full --strict >fsck.out 2>&1 || {
		cat fsck.out >&2
		return 1
	}
	for idx in "$1"/objects/pack/*.idx
	do
		git -C "$1" verify-pack "$PWD/$idx" || return 1
	done
}

# every_tip_has_one <dir>: each ref's commit has a bitmap, which is right.
every_tip_has_one () {
	stock -C "$1" for-each-ref --format="%(objectname)^{}" |
	stock -C "$1" cat-file --batch-check="%(objectname) %(objecttype)" |
	sed -n "s/ commit$//p" | sort -u >tips &&
	test -s tips &&
	while read tip
	do
		stock -C "$1" rev-list --test-bitmap $tip 2>err || {
			cat err >&2
			return 1
		}
	done <tips &&
	git -C "$1" rev-list --test-bitmap $(sed -n 1p tips) 2>err &&
	grep "^OK!" err
}

bitmap_nr () {
	ls "$1"/objects/pack/*.bitmap 2>"/dev/null" | wc -l
}

test_expect_success 'setup: repositories of all shapes' '
	repo_linear linear.git 60 &&
	repo_criss_cross cross.git 15 &&
	repo_octopus octopus.git 12 &&
	repo_linear tags.git 5 &&
	repo_tags tags.git &&
	repo_linear one.git 1 &&
	REPO_FORMAT=sha256 repo_criss_cross sha256.git 5 &&
	repo_tags sha256.git
'

for shape in linear cross octopus tags one sha256
do
	test_expect_success "$shape: written and right" '
		git -C $shape.git repack -adbq &&
		test $(bitmap_nr $shape.git) = 1 &&
		sound $shape.git &&
		every_tip_has_one $shape.git &&
		same_objects $shape.git --all
	'
done

for shape in cross tags sha256
do
	test_expect_success "$shape: over packs of stock Git" '
		stock -C $shape.git repack -adbq &&
		same_objects $shape.git --all &&
		git -C $shape.git repack -adbq &&
		same_objects $shape.git --all
	'
done

test_expect_success 'tips of all kinds, one by one' '
	cd tags.git &&
	for rev in nested tree blob "main^{tree}" main:dir0 main~3
	do
		same_objects . $rev || return 1
	done &&
	same_objects . deep tree blob main~2:dir1 &&
	cd ..
'

test_expect_success 'haves of all kinds' '
	cd tags.git &&
	for have in main~1 deep tree main:dir0
	do
		for want in main~3 "--all"
		do
			same_difference . $want --not $have || return 1
		done
	done &&
	cd ..
'

test_expect_success 'ranges of a history with merges' '
	for range in main..side side..main main~5..main "main side~7 ^main~9" \
		"main ^side ^side~3" "--branches --not main~1 side~2"
	do
		same_difference cross.git $range || return 1
	done
'

test_expect_success 'without lookup table, without name hashes, without both' '
	for off in "pack.writeBitmapLookupTable=false" \
		"pack.writeBitmapHashCache=false" \
		"pack.writeReverseIndex=false"
	do
		stock -C cross.git config ${off%=*} ${off#*=} &&
		git -C cross.git repack -adbq &&
		sound cross.git &&
		every_tip_has_one cross.git &&
		same_objects cross.git --all &&
		same_difference cross.git main --not side~3 || return 1
	done
'

test_expect_success 'less memory for building, the same index' '
	for memory in 0 1 100k 1g
	do
		git -C cross.git -c pack.bitmapBuildMemory=$memory \
			repack -adbq &&
		cat cross.git/objects/pack/*.bitmap >$memory.bitmap &&
		cmp 0.bitmap $memory.bitmap || return 1
	done &&
	test_expect_code 128 git -C cross.git -c pack.bitmapBuildMemory=much \
		repack -adbq 2>err &&
	grep "bad numeric config value .much. for .pack.bitmapbuildmemory." err
'

# index_size <dir>: bytes of the bitmap index.
index_size () {
	wc -c <$(echo $1/objects/pack/pack-*.bitmap)
}

test_expect_success 'no larger than the index of stock Git' '
	for size in "40 5" "400 20" "1500 10" "60 900"
	do
		set -- $size &&
		rm -rf ours.git stock.git &&
		stock init -q --bare ours.git &&
		"$GITREACH_SRC/t/perf/gen-repo" --commits $1 --refs $2 \
			--files 100 | stock -C ours.git fast-import --quiet &&
		cp -R ours.git stock.git &&
		git -C ours.git repack -adbq &&
		stock -C stock.git -c pack.writeBitmapLookupTable=true \
			repack -adbq &&
		test $(index_size ours.git) -le $(index_size stock.git) ||
		return 1
	done &&
	rm -rf ours.git stock.git
'

# ---- what comes after

# push <dir> <nr> <name>: commits on top of main, loose.
push () {
	for i in $(seq 1 $2)
	do
		test_tick &&
		blob=$(echo "$3 $i" | stock -C $1 hash-object -w --stdin) &&
		tree=$({
			stock -C $1 ls-tree main | grep -v "	$3$"
			printf "100644 blob %s\t%s\n" $blob $3
		} | stock -C $1 mktree) &&
		commit=$(stock -C $1 commit-tree -p main -m "$3 $i" $tree) &&
		stock -C $1 update-ref refs/heads/main $commit || return 1
	done
}

test_expect_success 'pushes after the index was written' '
	repo_linear later.git 40 &&
	git -C later.git repack -adbq &&
	old=$(stock -C later.git rev-parse main) &&
	push later.git 2 loose &&
	same_objects later.git --all &&
	same_difference later.git main --not $old &&
	stock -C later.git repack -dq &&
	push later.git 2 second &&
	stock -C later.git tag -m newer newer main &&
	test $(bitmap_nr later.git) = 1 &&
	test $(ls later.git/objects/pack/*.pack | wc -l) = 2 &&
	same_objects later.git --all &&
	for range in "main --not $old" "main~2 --not $old~5" "newer ^main~1" \
		"$old --not main~20" "--all --not main"
	do
		same_difference later.git $range || return 1
	done &&
	git -C later.git pack-objects --all --stdout --use-bitmap-index -q \
		<"/dev/null" >all.pack &&
	stock init -q --bare copy.git &&
	stock -C copy.git index-pack --stdin <all.pack &&
	stock -C copy.git update-ref refs/heads/main $(stock -C later.git \
		rev-parse main) &&
	stock -C copy.git fsck --full
'

test_expect_success 'the same objects in several packs' '
	stock -C later.git pack-objects -q --all objects/pack/pack \
		<"/dev/null" &&
	stock -C later.git pack-objects -q --revs objects/pack/pack <<-EOF &&
	main~10
	EOF
	same_objects later.git --all &&
	same_difference later.git main --not $old
'

test_expect_success 'a clone and fetches by stock Git' '
	stock clone -q --bare --no-local -u "$GIT upload-pack" later.git \
		cloned.git &&
	stock -C cloned.git fsck --full &&
	push later.git 2 fetched &&
	stock -C cloned.git fetch -q --upload-pack "$GIT upload-pack" origin \
		"refs/*:refs/*" &&
	stock -C cloned.git fsck --full &&
	stock -C later.git for-each-ref >expect &&
	stock -C cloned.git for-each-ref >actual &&
	test_cmp expect actual
'

test_expect_success 'a fetch with a have whose history was collected' '
	stock clone -q --bare later.git behind.git &&
	lost=$(stock -C later.git commit-tree -m lost "main^{tree}") &&
	have=$(stock -C later.git commit-tree -m have -p $lost "main^{tree}") &&
	stock -C later.git update-ref refs/heads/gone $have &&
	stock -C behind.git fetch -q ../later.git gone:gone &&
	stock -C later.git update-ref -d refs/heads/gone &&
	rm -f later.git/objects/$(echo $lost | sed "s|..|&/|") &&
	push later.git 1 more &&
	stock -C behind.git fetch -q --upload-pack "$GIT upload-pack" ../later.git \
		main:main &&
	stock -C behind.git fsck --full
'

# ---- options

test_expect_success '--no-write-bitmap-index, and the default of bare ones' '
	repo_linear options.git 10 &&
	git -C options.git repack -adq --no-write-bitmap-index &&
	test $(bitmap_nr options.git) = 0 &&
	git -C options.git repack -adq &&
	test $(bitmap_nr options.git) = 1 &&
	push options.git 1 new &&
	git -C options.git -c repack.writeBitmaps=false repack -adq &&
	test $(bitmap_nr options.git) = 0
'

test_expect_success 'an index needs all objects in one pack' '
	test_must_fail git -C options.git repack -b 2>err &&
	grep "incompatible with bitmap" err &&
	stock -C options.git -c repack.writeBitmaps=false repack -adq &&
	for pack in options.git/objects/pack/*.pack
	do
		>"${pack%.pack}.keep" || return 1
	done &&
	push options.git 2 kept &&
	git -C options.git -c repack.packKeptObjects=false repack -adb 2>err &&
	grep "^warning: .*some objects are not being packed" err &&
	test $(bitmap_nr options.git) = 0 &&
	git -C options.git repack -adbq &&
	test $(bitmap_nr options.git) = 1 &&
	test $(ls options.git/objects/pack/*.keep | wc -l) = 1 &&
	sound options.git &&
	same_objects options.git --all
'

test_expect_success 'borrowed objects, with -l and without' '
	stock clone -q --bare --shared later.git borrower.git &&
	push borrower.git 3 own &&
	git -C borrower.git repack -adbl 2>err &&
	grep "^warning: .*some objects are not being packed" err &&
	test $(bitmap_nr borrower.git) = 0 &&
	stock -C borrower.git fsck --full &&
	stock -C borrower.git count-objects -v | grep "^in-pack: 9$" &&
	same_objects borrower.git --all &&
	git -C borrower.git repack -adbq &&
	test $(bitmap_nr borrower.git) = 1 &&
	rm borrower.git/objects/info/alternates &&
	sound borrower.git &&
	same_objects borrower.git --all
'

test_expect_success 'an index in an alternate' '
	git -C later.git repack -adbq &&
	stock clone -q --bare --shared later.git reader.git &&
	push reader.git 2 own &&
	same_objects reader.git --all &&
	same_difference reader.git main --not main~2 &&
	same_difference reader.git main --not main~7
'

test_expect_success 'an empty repository' '
	repo_init empty.git &&
	git -C empty.git repack -adb >out 2>err &&
	test $(bitmap_nr empty.git) = 0 &&
	stock -C empty.git fsck &&
	git -C empty.git rev-list --all --count --objects \
		--use-bitmap-index >actual &&
	echo 0 >expect &&
	test_cmp expect actual
'

test_expect_success 'all commits gone, then nothing reachable' '
	repo_linear gone.git 3 &&
	git -C gone.git repack -adbq &&
	stock -C gone.git update-ref -d refs/heads/main &&
	git -C gone.git repack -adbq &&
	stock -C gone.git count-objects -v | grep "^in-pack: 0$" &&
	stock -C gone.git fsck
'

test_expect_success 'only tags of trees and blobs: no commit, no bitmap' '
	repo_init nocommit.git &&
	blob=$(echo blob | stock -C nocommit.git hash-object -w --stdin) &&
	tree=$(printf "100644 blob %s\tf\n" $blob | stock -C nocommit.git \
		mktree) &&
	stock -C nocommit.git tag -m t t $tree &&
	git -C nocommit.git repack -adbq &&
	stock -C nocommit.git fsck --full &&
	same_objects nocommit.git --all &&
	stock -C nocommit.git cat-file -e t:f
'

test_expect_success 'preferred tips have bitmaps however old they are' '
	repo_linear prefer.git 210 &&
	for i in 163 171 187 201
	do
		stock -C prefer.git update-ref refs/releases/r$i main~$i ||
		return 1
	done &&
	git -C prefer.git -c pack.preferBitmapTips=refs/releases/ repack \
		-adbq &&
	for i in 163 171 187 201
	do
		stock -C prefer.git rev-list --test-bitmap refs/releases/r$i ||
		return 1
	done &&
	same_objects prefer.git --all &&
	same_difference prefer.git refs/releases/r171 --not main~190 &&
	test_expect_code 128 git -C prefer.git -c pack.preferBitmapTips \
		repack -adbq 2>err &&
	grep "missing value for .pack.preferbitmaptips." err
'

# ---- work trees

test_expect_success 'objects that only an index or reflog names survive' '
	stock init -q work &&
	(
		cd work &&
		for i in 1 2 3
		do
			echo $i >file && stock add file && test_tick &&
			stock commit -q -m $i || exit 1
		done &&
		stock rev-parse HEAD >../reset &&
		stock reset -q --hard HEAD~1 &&
		echo staged >staged && stock add staged &&
		stock rev-parse :staged >../staged &&
		stock worktree add -q ../linked &&
		cd ../linked &&
		echo there >there && stock add there &&
		stock rev-parse :there >../there &&
		test_tick && stock commit -q -m linked --allow-empty &&
		stock checkout -q --detach &&
		test_tick && stock commit -q --allow-empty -m detached &&
		stock rev-parse HEAD >../detached
	) &&
	stock -C work repack -dq &&
	git -C work repack -adbq &&
	test $(bitmap_nr work/.git) = 1 &&
	for file in reset staged there detached
	do
		stock -C work cat-file -e $(cat $file) || return 1
	done &&
	stock -C work fsck --full &&
	stock -C linked fsck --full &&
	stock -C work status --porcelain >actual &&
	echo "A  staged" >expect &&
	test_cmp expect actual
'

test_expect_success 'split, version 4 and sparse index files' '
	(
		cd work &&
		mkdir -p sub/dir && echo s >sub/dir/s && stock add sub &&
		test_tick && stock commit -q -m sub &&
		echo split >split && stock add split &&
		stock rev-parse :split >../split &&
		stock update-index --split-index &&
		echo more >more && stock add more &&
		stock rev-parse :more >../more
	) &&
	stock -C linked update-index --index-version 4 &&
	stock -C work prune-packed && stock -C work repack -dq &&
	git -C work repack -adq &&
	stock -C work cat-file -e $(cat split) &&
	stock -C work cat-file -e $(cat more) &&
	stock -C work fsck --full
'

test_done
