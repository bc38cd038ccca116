#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='repack --geometric'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-packs.sh"

# add_pack <dir> <nr>: a pack of that many blobs of its own.
add_pack () {
	for i in $(seq 1 $2)
	do
		serial=$((serial + 1)) &&
		printf "blob\ndata <<END\nblob %s\nEND\n\n" $serial
	done >stream &&
	stock -C $1 -c fastimport.unpackLimit=0 fast-import --quiet <stream
}

test_expect_success 'as stock Git chooses packs' '
	serial=0 &&
	for sizes in "1" "3 6" "3 5" "1 1 1" "1 2 4 8" "2 2 4 8 16" \
		"3 3 3 20" "5 5 9 30 31 90" "1 2 3 4 5 6 7 8" "10 1 40 2"
	do
		rm -rf repo.git && repo_init repo.git &&
		for nr in $sizes
		do
			add_pack repo.git $nr || return
		done &&
		for factor in 2 3
		do
			same_as_stock repo.git -d --geometric=$factor || return
		done || return
	done
'

test_expect_success 'after the repack packs form a geometric progression' '
	"$GIT" -C ours.git repack -d --geometric=3 >out &&
	packs_of ours.git | test_cmp ours.git.left - &&
	echo "Nothing new to pack." | test_cmp - out
'

test_expect_success 'loose objects are packed, reachable or not' '
	rm -rf repo.git && repo_linear repo.git 10 &&
	echo loose | stock -C repo.git hash-object -w --stdin &&
	add_pack repo.git 3 &&
	same_as_stock repo.git -d --geometric=2 &&
	loose_of ours.git >loose &&
	test_must_be_empty loose
'

test_expect_success '--geometric without -d removes nothing' '
	same_as_stock repo.git --geometric=2
'

test_expect_success 'kept packs stay, and are not counted' '
	rm -rf repo.git && repo_init repo.git &&
	for nr in 2 3 4 50
	do
		add_pack repo.git $nr || return
	done &&
	set -- $(cd repo.git/objects/pack && ls pack-*.pack) &&
	>repo.git/objects/pack/${1%.pack}.keep &&
	same_as_stock repo.git -d --geometric=2 &&
	test -e ours.git/objects/pack/$1 &&
	same_as_stock repo.git -d --geometric=2 --keep-pack=$2 &&
	test -e ours.git/objects/pack/$2
'

test_expect_success 'an object that is in several packs is in one' '
	rm -rf repo.git && repo_linear repo.git 300 &&
	for i in 1 2 3
	do
		stock -C repo.git rev-list --objects --no-object-names \
			main~$((290 - i))..main~$((280 - i)) |
		(cd repo.git && stock pack-objects -q objects/pack/pack) ||
			return
	done &&
	same_as_stock repo.git -d --geometric=2
'

test_expect_success 'cruft packs stay as they are' '
	rm -rf repo.git && repo_linear repo.git 20 &&
	stock -C repo.git update-ref refs/heads/main main~10 &&
	stock -C repo.git repack -q --cruft -d &&
	add_pack repo.git 5 &&
	add_pack repo.git 5 &&
	same_as_stock repo.git -d --geometric=2 &&
	grep "^cruft" ours.git.left
'

# A push of what a cruft pack holds: it is in use again, and its copy there
# does not keep it when that pack expires.
test_expect_success 'loose copies of cruft objects are packed' '
	cruft=$(echo ours.git/objects/pack/*.mtimes) &&
	stock show-index <${cruft%.mtimes}.idx | cut -d" " -f2 >ids &&
	stock -C ours.git pack-objects --stdout <ids >pack 2>/dev/null &&
	repo_init other.git &&
	stock -C other.git unpack-objects -q <pack &&
	cp -R other.git/objects/?? ours.git/objects &&
	"$GIT" -C ours.git repack -d -q --geometric=2 &&
	loose_of ours.git >loose &&
	test_must_be_empty loose &&
	packs_of ours.git | grep "^pack" | cut -d" " -f2 | sort >packed &&
	sort ids | comm -23 - packed >missing &&
	test_must_be_empty missing
'

# Thirty pushes, each a pack; after every one of them.
test_expect_success 'pack after pack' '
	rm -rf stock.git ours.git &&
	repo_linear from.git 150 &&
	repo_init stock.git && repo_init ours.git &&
	last= &&
	for i in $(seq 1 30)
	do
		tip=$(stock -C from.git rev-parse main~$((150 - 5 * i))) &&
		printf "%s\n" $tip ${last:+^$last} |
		stock -C from.git pack-objects --revs --stdout -q >push &&
		for side in ours stock
		do
			stock -C $side.git index-pack --stdin <push >out &&
			stock -C $side.git update-ref refs/heads/main $tip ||
				return
		done &&
		"$GIT" -C ours.git repack -q -d --geometric=2 &&
		stock -C stock.git repack -q -d --geometric=2 &&
		last=$tip || return
	done 2>err &&
	left_of ours.git && left_of stock.git &&
	test_cmp stock.git.left ours.git.left &&
	stock -C ours.git fsck --full &&
	repo_objects from.git main~0 >expect &&
	repo_objects ours.git main >actual &&
	test_cmp expect actual
'

test_expect_success 'an invalid factor' '
	test_must_fail "$GIT" -C ours.git repack -d --geometric=x
'

# borrowing: a repository of 30 objects beside a lender of 40.
borrowing () {
	rm -rf lender.git borrower.git &&
	repo_linear lender.git 14 && stock -C lender.git repack -adq &&
	stock clone -q --bare --shared lender.git borrower.git &&
	stock -C borrower.git rev-list --objects --no-object-names t9 |
		stock -C borrower.git pack-objects -q objects/pack/pack
}

for option in "" -l
do
	test_expect_success "packs of alternates are rolled up: $option" "
		for git in stock \"\$GIT\"
		do
			borrowing >&2 && \$git -C borrower.git repack -q -d \
				--geometric=2 $option &&
			cat borrower.git/objects/pack/*.idx >idx &&
			stock show-index <idx | cut -d' ' -f2 | sort \
				>\$(basename \$git).ids &&
			ls lender.git/objects/pack/*.idx >packs &&
			test_line_count 1 packs || return
		done &&
		test_cmp stock.ids git.ids
	"
done

# An empty loose object is what a crash leaves.
test_expect_success 'an unreachable damaged loose object is passed over' '
	repo_linear damaged.git 6 &&
	mkdir -p damaged.git/objects/18 &&
	: >damaged.git/objects/18/11111111111111111111111111111111111111 &&
	cp -r damaged.git again.git && cp -r damaged.git keep.git &&
	"$GIT" -C damaged.git repack -q -d --geometric=2 2>err &&
	grep "warning: loose object at .*/18/1*1 could not be examined" err &&
	test -f damaged.git/objects/18/11111111111111111111111111111111111111 &&
	"$GIT" -C again.git repack -q -d --cruft 2>err &&
	grep "warning: loose object could not be examined: 181*1$" err &&
	test -f again.git/objects/18/11111111111111111111111111111111111111 &&
	"$GIT" -C keep.git pack-objects -q --all --pack-loose-unreachable \
		loose </dev/null 2>err &&
	grep "warning: loose object could not be examined: 181*1$" err &&
	"$GIT" -C keep.git repack -adkq 2>err &&
	grep "warning: loose object could not be examined: 181*1$" err &&
	test -f keep.git/objects/18/11111111111111111111111111111111111111 &&
	stock -C keep.git rev-list --objects --all >objects
'

test_expect_success 'the target of a tag is missing: packs and lists are made' '
	repo_linear holes.git 6 &&
	commit=$(echo gone | stock -C holes.git commit-tree HEAD^{tree}) &&
	stock -C holes.git tag -a -m gone gone $commit &&
	rm holes.git/objects/$(echo $commit | sed "s,^..,&/,") &&
	"$GIT" -C holes.git repack -q -d --geometric=2 &&
	grep "refs/tags/gone$" holes.git/info/refs &&
	! grep "refs/tags/gone^{}" holes.git/info/refs &&
	ls holes.git/objects/pack/*.idx >packs && test_line_count 1 packs
'

test_expect_success 'a ref of an empty loose object: the repack succeeds' '
	repo_linear emptied.git 6 &&
	blob=$(echo once | stock -C emptied.git hash-object -w --stdin) &&
	stock -C emptied.git tag once $blob &&
	file=emptied.git/objects/$(echo $blob | sed "s,^..,&/,") &&
	chmod u+w $file && : >$file &&
	"$GIT" -C emptied.git repack -q -d --geometric=2 2>err &&
	grep "could not be examined" err && ! grep fatal err &&
	test -f $file && ! test -e emptied.git/info/refs
'

test_expect_success 'malformed packed-refs end a repack' '
	repo_linear bad-refs.git 2 &&
	echo garbage >bad-refs.git/packed-refs &&
	test_expect_code 128 "$GIT" -C bad-refs.git repack -q -d --geometric=2 \
		2>err &&
	grep "fatal: unexpected line in .*packed-refs: garbage" err
'

test_expect_success 'a factor that is too large is refused' '
	repo_linear large.git 2 && stock -C large.git repack -adq &&
	"$GIT" -C large.git repack -q -d --geometric=-1 &&
	stock -C large.git update-ref refs/heads/new $(echo 3 |
		stock -C large.git commit-tree -p main "main^{tree}") &&
	stock -C large.git update-ref refs/heads/new $(echo 4 |
		stock -C large.git commit-tree -p new "new^{tree}") &&
	stock -C large.git repack -q -d &&
	ls large.git/objects/pack >expect &&
	test_expect_code 128 "$GIT" -C large.git repack -q -d -g-1 2>err &&
	grep "^fatal: pack pack-.* too large to consider in geometric" err &&
	ls large.git/objects/pack >actual && test_cmp expect actual
'

test_done
