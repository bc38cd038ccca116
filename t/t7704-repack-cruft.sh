#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='what nothing reaches: dropped, loose, kept, or in cruft packs'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-packs.sh"

now=$(date +%s)
day=86400

# age <days> <file>...: make files that old.
age () {
	days=$1 && shift &&
	touch -d "@$((now - days * day))" "$@"
}

# new_commit <dir> <name> [<parent>]: a commit of one file, loose; its id.
new_commit () {
	blob=$(echo "$2" | stock -C "$1" hash-object -w --stdin) &&
	tree=$(printf "100644 blob %s\tfile-$2\n" $blob |
		stock -C "$1" mktree) &&
	stock -C "$1" commit-tree -m "$2" ${3:+-p $3} $tree
}

loose_files () {
	find "$1"/objects/?? -type f
}

# Packs of 30, 20 and 10 days, each with a reachable and an unreachable
# commit; loose unreachable commits of 25 and 5 days, and one that is new.
# The commit of 5 days has one of the 30 days' pack for parent.
make_repo () {
	repo_init $1 &&
	main= && old= &&
	for days in 30 20 10
	do
		main=$(new_commit $1 main-$days $main) &&
		gone=$(new_commit $1 gone-$days) &&
		old=${old:-$gone} &&
		stock -C $1 update-ref refs/heads/main $main &&
		stock -C $1 update-ref refs/heads/gone $gone &&
		stock -C $1 repack -q -d &&
		age $days $(ls -t $1/objects/pack/pack-*.* | head -3) ||
		return 1
	done &&
	stock -C $1 update-ref -d refs/heads/gone &&
	new_commit $1 loose-25 &&
	age 25 $(loose_files $1) &&
	loose_files $1 | sort >before &&
	new_commit $1 loose-5 $old &&
	loose_files $1 | sort | comm -13 before - >new &&
	age 5 $(cat new) &&
	new_commit $1 loose-0
}

test_expect_success 'a repository' '
	make_repo repo.git >out &&
	packs_of repo.git | cut -d" " -f1 | uniq >names &&
	test_line_count 3 names &&
	loose_of repo.git >loose &&
	test_line_count 9 loose
'

test_expect_success '-a -d: an unreachable object is deleted' '
	same_as_stock repo.git -a -d
'

test_expect_success '-a and -A without -d: an unreachable object stays' '
	same_as_stock repo.git -a &&
	same_as_stock repo.git -A
'

test_expect_success '-A -d: an unreachable object becomes loose with its time' '
	same_as_stock repo.git -A -d
'

test_expect_success '-A -d --unpack-unreachable: recent objects become loose' '
	same_as_stock repo.git -A -d --unpack-unreachable=15.days.ago &&
	same_as_stock repo.git -A -d --unpack-unreachable=2.weeks.ago &&
	same_as_stock repo.git -A -d --unpack-unreachable=40.days.ago &&
	same_as_stock repo.git -A -d --unpack-unreachable=never &&
	same_as_stock repo.git -A -d --unpack-unreachable=now
'

test_expect_success 'objects that a recent object reaches are kept' '
	same_as_stock repo.git -A -d --unpack-unreachable=7.days.ago &&
	grep "^$old $((now - 30 * day))" ours.git.left &&
	same_as_stock repo.git -A -d --unpack-unreachable=1.day.ago &&
	! grep "^$old" ours.git.left
'

test_expect_success '-k: an unreachable object is packed' '
	same_as_stock repo.git -a -d -k &&
	same_as_stock repo.git -a -d --keep-unreachable -b &&
	test -e ours.git/objects/pack/*.bitmap &&
	stock -C ours.git rev-list --test-bitmap main
'

test_expect_success '--cruft -d: an unreachable object goes into a cruft pack' '
	same_as_stock repo.git --cruft -d &&
	grep "^cruft" ours.git.left >cruft &&
	test_line_count 18 cruft
'

test_expect_success '--cruft without -d' '
	same_as_stock repo.git --cruft
'

# An old object that is kept for another's sake gets the time of expiry, which
# therefore must be the same for both.
test_expect_success '--cruft -d --cruft-expiration: old objects are deleted' '
	for days in 40 22 15 7 1
	do
		same_as_stock repo.git --cruft -d \
			--cruft-expiration=$((now - days * day)) || return
	done &&
	same_as_stock repo.git --cruft -d --cruft-expiration=2.days.ago &&
	same_as_stock repo.git --cruft -d --cruft-expiration=never
'

test_expect_success '--cruft-expiration=now' '
	same_as_stock repo.git --cruft -d --cruft-expiration=now &&
	! grep "^cruft" ours.git.left
'

test_expect_success 'an invalid date' '
	test_must_fail "$GIT" -C repo.git repack -d --cruft \
		--cruft-expiration=soon 2>err &&
	grep "malformed expiration date" err
'

test_expect_success 'options that make no sense together' '
	for args in "--cruft -A" "--cruft -k" "-a -k -A" "--geometric=2 -a"
	do
		test_must_fail stock -C repo.git repack $args &&
		test_must_fail "$GIT" -C repo.git repack $args 2>actual &&
		grep "cannot be used together" actual || return
	done
'

# ---- a repository that has a cruft pack

test_expect_success 'a cruft pack of stock Git, and newer objects' '
	cp -Rp repo.git cruft.git &&
	stock -C cruft.git repack -q --cruft -d &&
	new_commit cruft.git later &&
	stock -C cruft.git repack -q -d
'

test_expect_success 'cruft packs are combined into one' '
	same_as_stock cruft.git --cruft -d &&
	same_as_stock cruft.git --cruft -d --cruft-expiration=$((now - 22 * day))
'

# Stock Git gives all of them the time of the cruft pack's file.
test_expect_success 'loose, with their own times' '
	rm -rf ours.git && cp -Rp cruft.git ours.git &&
	mtimes=$(echo ours.git/objects/pack/*.mtimes) &&
	stock show-index <${mtimes%.mtimes}.idx | cut -d" " -f2 | sort >ids &&
	mtimes_of $mtimes | paste -d" " ids - >expect &&
	"$GIT" -C ours.git repack -A -d -q &&
	loose_of ours.git >actual &&
	join ids actual | test_cmp expect - &&
	stock -C ours.git fsck --full &&
	rm -rf ours.git && cp -Rp cruft.git ours.git &&
	"$GIT" -C ours.git repack -A -d -q \
		--unpack-unreachable=$((now - 22 * day)) &&
	loose_of ours.git >actual &&
	! join ids actual | grep $((now - 25 * day)) &&
	join ids actual | grep "^$old"
'

test_expect_success 'an object is deleted, packed, or left loose' '
	same_as_stock cruft.git -a -d &&
	same_as_stock cruft.git -a -d -k &&
	same_as_stock cruft.git -d
'

test_expect_success 'an object that is reachable again leaves the cruft pack' '
	cp -Rp cruft.git again.git &&
	stock -C again.git update-ref refs/heads/again $old &&
	same_as_stock again.git --cruft -d &&
	! grep "^cruft.*$old" ours.git.left &&
	grep "^pack.*$old" ours.git.left
'

test_expect_success 'an object that was written again is new' '
	cp -Rp cruft.git anew.git &&
	echo gone-30 | stock -C anew.git hash-object -w --stdin >blob &&
	age 3 $(loose_files anew.git) &&
	same_as_stock anew.git --cruft -d &&
	grep "^cruft.*$(cat blob) $((now - 3 * day))" ours.git.left &&
	same_as_stock anew.git --cruft -d --cruft-expiration=$((now - 4 * day)) &&
	grep "$(cat blob) $((now - 3 * day))" ours.git.left
'

test_expect_success 'stock Git prunes by the times that we noted' '
	rm -rf ours.git && cp -Rp repo.git ours.git &&
	"$GIT" -C ours.git repack -q --cruft -d &&
	stock -C ours.git repack -q --cruft -d \
		--cruft-expiration=$((now - 22 * day)) &&
	left_of ours.git &&
	mv ours.git.left expect &&
	same_as_stock repo.git --cruft -d --cruft-expiration=$((now - 22 * day)) &&
	packs_of ours.git >actual &&
	grep -v "^[0-9a-f]\{40\}" expect | test_cmp - actual
'

test_expect_success 'a damaged .mtimes ends the repack, and nothing is lost' '
	cp -Rp cruft.git damaged.git &&
	mtimes=$(echo damaged.git/objects/pack/*.mtimes) &&
	chmod u+w $mtimes &&
	printf "\377" | dd of=$mtimes bs=1 seek=40 conv=notrunc 2>/dev/null &&
	packs_of damaged.git >before &&
	test_must_fail "$GIT" -C damaged.git repack --cruft -d -q 2>err &&
	grep "mtimes: checksum mismatch" err &&
	grep "delete the file" err &&
	packs_of damaged.git >after &&
	sed "s/pack-[^ ]* //" before | sort -u >before.objects &&
	sed "s/pack-[^ ]* //" after | sort -u >after.objects &&
	test_cmp before.objects after.objects
'

all_objects () {
	stock -C damaged.git cat-file --batch-all-objects \
		--batch-check="%(objectname)"
}

test_expect_success 'a damaged header, too; without the file, gc works again' '
	all_objects >expect &&
	mtimes=$(echo damaged.git/objects/pack/*.mtimes) &&
	printf "X" | dd of=$mtimes bs=1 conv=notrunc 2>/dev/null &&
	test_expect_code 128 "$GIT" -C damaged.git gc -q 2>err &&
	grep "mtimes: not a version 1 table of times" err &&
	grep "delete the file" err &&
	rm -f $mtimes &&
	"$GIT" -C damaged.git gc -q &&
	all_objects >actual &&
	test_cmp expect actual &&
	ls damaged.git/objects/pack/*.mtimes
'

test_expect_success 'a recent object whose parent is gone' '
	cp -Rp repo.git torn.git &&
	gone=$(printf "%040d" 7) &&
	tree=$(stock -C torn.git rev-parse main^{tree}) &&
	printf "tree %s\nparent %s\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nx\n" \
		$tree $gone >commit &&
	torn=$(stock -C torn.git hash-object -t commit -w --literally \
		"$PWD/commit") &&
	"$GIT" -C torn.git repack -q --cruft -d \
		--cruft-expiration=$((now - 3 * day)) &&
	packs_of torn.git >left &&
	grep "^cruft.*$torn" left
'

# ---- packs that stay

test_expect_success '.keep and --keep-pack' '
	cp -Rp repo.git keep.git &&
	set -- $(cd keep.git/objects/pack && ls pack-*.pack) &&
	>keep.git/objects/pack/${1%.pack}.keep &&
	for args in "-a -d" "-A -d" "-k -a -d" "--cruft -d" "-d" \
		"--cruft -d --cruft-expiration=now" "-a -d --pack-kept-objects"
	do
		same_as_stock keep.git $args &&
		test -e ours.git/objects/pack/$1 &&
		same_as_stock keep.git $args --keep-pack=$2 &&
		test -e ours.git/objects/pack/$2 || return
	done
'

test_expect_success '--combine-cruft-below-size' '
	rm -rf ours.git && cp -Rp cruft.git ours.git &&
	ls ours.git/objects/pack/*.mtimes >before &&
	cruft=$(basename $(cat before) .mtimes) &&
	size=$(wc -c <ours.git/objects/pack/$cruft.pack) &&
	"$GIT" -C ours.git repack -q --cruft -d \
		--combine-cruft-below-size=$size &&
	ls ours.git/objects/pack/*.mtimes >after &&
	test_line_count 2 after &&
	test -e ours.git/objects/pack/$cruft.pack &&
	"$GIT" -C ours.git repack -q --cruft -d \
		--combine-cruft-below-size=$((size + 1)) &&
	ls ours.git/objects/pack/*.mtimes >after &&
	test_line_count 1 after &&
	! test -e ours.git/objects/pack/$cruft.pack &&
	packs_of ours.git >actual &&
	same_as_stock cruft.git --cruft -d &&
	packs_of stock.git >expect &&
	test_cmp expect actual
'

test_expect_success '--expire-to' '
	rm -rf ours.git && cp -Rp repo.git ours.git &&
	repo_init expired.git &&
	"$GIT" -C ours.git repack -q --cruft -d --cruft-expiration=now \
		--expire-to="$PWD/expired.git/objects/pack/pack" &&
	packs_of expired.git | cut -d" " -f2,3 >actual &&
	same_as_stock repo.git --cruft -d &&
	grep "^cruft" ours.git.left | cut -d" " -f2,3 >expect &&
	test_cmp expect actual
'

test_expect_success 'gc.recentObjectsHook' '
	rm -rf ours.git && cp -Rp repo.git ours.git &&
	stock -C ours.git config gc.recentObjectsHook "echo $old" &&
	"$GIT" -C ours.git repack -q --cruft -d --cruft-expiration=now &&
	packs_of ours.git | grep "^cruft" >cruft &&
	test_line_count 3 cruft &&
	grep $old cruft &&
	for hook in "echo rubbish" "echo $old; false"
	do
		stock -C ours.git config gc.recentObjectsHook "$hook" &&
		test_must_fail "$GIT" -C ours.git repack -q --cruft -d \
			--cruft-expiration=now || return
	done &&
	packs_of ours.git | grep "^cruft" | test_cmp cruft -
'

# ---- sizes

test_expect_success '--max-pack-size and --max-cruft-size' '
	repo_init big.git &&
	for i in 1 2 3 4 5 6
	do
		blob=$(head -c 400000 /dev/urandom |
			stock -C big.git hash-object -w --stdin) &&
		printf "100644 blob %s\tf%s\n" $blob $i || return
	done >entries &&
	tree=$(stock -C big.git mktree <entries) &&
	stock -C big.git update-ref refs/heads/main \
		$(stock -C big.git commit-tree -m big $tree) &&
	for i in 1 2 3
	do
		head -c 400000 /dev/urandom |
		stock -C big.git hash-object -w --stdin || return
	done &&
	"$GIT" -C big.git repack -a -d -q --max-pack-size=1m &&
	ls big.git/objects/pack/*.pack >packs &&
	test_line_count 3 packs &&
	for pack in $(cat packs)
	do
		test $(wc -c <$pack) -le 1048576 &&
		stock verify-pack $pack || return
	done &&
	"$GIT" -C big.git repack --cruft -d -q --max-cruft-size=1 2>err &&
	grep "minimum pack size limit is 1 MiB" err &&
	ls big.git/objects/pack/*.mtimes >crufts &&
	test_line_count 2 crufts &&
	ls big.git/objects/pack/*.pack >packs &&
	test_line_count 3 packs &&
	stock -C big.git fsck --full &&
	stock -C big.git config pack.packSizeLimit 1m &&
	"$GIT" -C big.git repack -a -d -q -b 2>err &&
	grep "disabling bitmap writing" err &&
	ls big.git/objects/pack/*.pack >packs &&
	test_line_count 3 packs &&
	stock -C big.git fsck --full
'

# Linked by deltas, so that packs cut chains.
test_expect_success 'packs of limited size, with deltas' '
	for i in $(seq 1 60)
	do
		stream_commit main $i $((1112912000 + 60 * i)) file$((i % 4)) \
			"$(seq $i 9000; head -c 30000 /dev/urandom | base64)"
	done | repo_import deltas.git &&
	repo_objects deltas.git >expect &&
	"$GIT" -C deltas.git repack -a -d -q --max-pack-size=1m &&
	ls deltas.git/objects/pack/*.pack >packs &&
	test $(wc -l <packs) -gt 1 &&
	for pack in $(cat packs)
	do
		test $(wc -c <$pack) -le 1048576 || return
	done &&
	packs_of deltas.git | cut -d" " -f2 | LC_ALL=C sort | test_cmp expect - &&
	stock -C deltas.git fsck --full
'

# A repository with an unreachable object in a pack.
test_expect_success '-a -d --unpack-unreachable: newer objects become loose' '
	for date in never now
	do
		for git in stock "$GIT"
		do
			name=$(basename "$git")-$date.git &&
			repo_linear $name 3 &&
			blob=$(echo gone | stock -C $name hash-object -w --stdin) &&
			echo $blob | stock -C $name pack-objects -q \
				objects/pack/pack &&
			stock -C $name prune-packed &&
			$git -C $name repack -q -a -d \
				--unpack-unreachable=$date &&
			(cd $name/objects && find . -path "./??/*") >$name.loose ||
				return
		done &&
		test_cmp stock-$date.git.loose git-$date.git.loose || return
	done &&
	test_line_count 1 git-never.git.loose
'

test_expect_success 'a warning names each damaged loose object, which stays' '
	repo_linear spoiled.git 3 && cd spoiled.git &&
	for i in 1 2 3
	do
		id=$(echo damaged $i | stock hash-object -w --stdin) &&
		file=objects/$(echo $id | sed "s,^..,&/,") &&
		chmod u+w $file && printf garbage >$file && echo $id || return
	done >ids &&
	sed "s/^/warning: loose object could not be examined: /" ids |
		sort >expect &&
	"$GIT" pack-objects --cruft -q pack </dev/null >out 2>err &&
	sort err | test_cmp expect - &&
	for options in --cruft "-a -k"
	do
		"$GIT" repack -d -q $options 2>err &&
		sort err | test_cmp expect - || return
	done &&
	for id in $(cat ids)
	do
		test -f objects/$(echo $id | sed "s,^..,&/,") || return
	done &&
	cd ..
'

test_done
