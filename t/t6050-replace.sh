#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='objects that refs/replace/ puts others in the place of'
. "$(dirname "$0")/lib.sh"

# replace <id> <type>: by what is on standard input.
replace () {
	by=$(stock -C $repo hash-object -w -t $2 --stdin --literally) &&
	stock -C $repo update-ref refs/replace/$1 $by
}

id () {
	stock -C $repo --no-replace-objects rev-parse --verify -q "$1"
}

# Commits with other parents, with none, and a tree and a blob of another kind.
replace_some () {
	stock -C $repo cat-file commit main~3 |
		sed "s/^parent .*/parent $(id main~6)/" >grafted &&
	replace $(id main~3) commit <grafted &&
	stock -C $repo cat-file commit main~12 | sed "/^parent/d" >rootless &&
	replace $(id main~12) commit <rootless &&
	stock -C $repo cat-file tree $(id main~20^{tree}) >tree &&
	replace $(id main~1^{tree}) tree <tree &&
	echo other | replace $(id main:$(first_file)) blob &&
	stock -C $repo cat-file tag v1 | sed "s/^$/&\nelse/" >tag &&
	replace $(id v1) tag <tag
}

first_file () {
	stock -C $repo ls-tree -r --name-only main | sed -n 1p
}

same () {
	"$GIT" -C $repo "$@" >actual &&
	stock -C $repo "$@" >expect &&
	test_cmp expect actual
}

# The ids of a pack's objects.
objects_of () {
	rm -rf in.git && REPO_FORMAT=$format repo_init in.git &&
	stock -C in.git unpack-objects -q <"$1" &&
	find in.git/objects -type f | LC_ALL=C sort
}

for format in sha1 sha256
do
	for bitmaps in "" -b
	do
		repo=$format$bitmaps.git

		test_expect_success "setup, $format $bitmaps" '
			REPO_FORMAT=$format repo_linear $repo 40 &&
			stock -C $repo tag -a -m tagged v1 main~2 &&
			stock -C $repo repack -adq $bitmaps &&
			replace_some
		'

		test_expect_success "history and objects, $format $bitmaps" '
			same rev-list main &&
			same rev-list --all &&
			same rev-list --count main &&
			same rev-list --objects main &&
			same rev-list --objects main~2 ^main~8 &&
			same rev-list --objects --all --no-object-names &&
			same rev-list --count --objects --all &&
			same rev-list --objects --unpacked main &&
			same rev-list --disk-usage --objects main &&
			same rev-list --objects --filter=blob:limit=4 main &&
			same rev-list --topo-order --parents main &&
			same rev-list main -- $(first_file) &&
			same -c core.useReplaceRefs=false rev-list main &&
			same --no-replace-objects rev-list --objects main
		'

		# Stock Git asks the index about what is not so any more.
		test_expect_success "bitmaps do not know, $format $bitmaps" '
			for args in main "main --not main~8" --all
			do
				for what in "" --objects
				do
					"$GIT" -C $repo rev-list --count $what \
						--use-bitmap-index $args \
						>actual &&
					stock -C $repo rev-list --count $what \
						$args >expect &&
					test_cmp expect actual || return 1
				done
			done
		'

		test_expect_success "commands that show replacements, $format $bitmaps" '
			for object in main~3 main~12 main~1^{tree} \
				main:$(first_file) v1
			do
				id $object >object &&
				same cat-file -p $(cat object) &&
				same cat-file -t $(cat object) &&
				same cat-file -s $(cat object) || return 1
			done &&
			same rev-parse main~4 main~4^{tree} v1^{} &&
			same for-each-ref --format="%(refname) %(contents)" &&
			same show-ref -d &&
			stock -C $repo for-each-ref --format="%(objectname)" \
				refs >ids &&
			id main~3 >>ids &&
			"$GIT" -C $repo cat-file --batch <ids >actual &&
			stock -C $repo cat-file --batch <ids >expect &&
			test_cmp expect actual &&
			same cat-file --batch-check --batch-all-objects
		'

		test_expect_success "commands that show original objects, $format $bitmaps" '
			for all in "" --all
			do
				echo main >revs &&
				"$GIT" -C $repo pack-objects --revs --stdout \
					-q $all <revs >pack &&
				objects_of pack >actual &&
				stock -C $repo pack-objects --revs --stdout \
					-q $all <revs >pack &&
				objects_of pack >expect &&
				test_cmp expect actual || return 1
			done
		'
	done
done

test_expect_success 'clones get the original objects' '
	stock clone -q --bare --no-local -u "\"$GIT\" upload-pack" \
		sha1-b.git clone.git &&
	stock -C clone.git rev-list --objects --all | LC_ALL=C sort >actual &&
	stock -C sha1-b.git --no-replace-objects rev-list --objects \
		--branches --tags | LC_ALL=C sort >expect &&
	test_cmp expect actual
'

# A bitmap has the original objects, but a walk finds the replacements. So the two cannot
# be compared.
test_expect_success 'the bitmap of a commit cannot be tested by a walk' '
	test_expect_code 128 "$GIT" -C sha1-b.git rev-list --test-bitmap main \
		2>err &&
	echo "fatal: cannot test a bitmap, because objects are replaced" \
		>expect &&
	test_cmp expect err &&
	"$GIT" -C sha1-b.git --no-replace-objects rev-list --test-bitmap main &&
	stock -C sha1-b.git --no-replace-objects rev-parse main~3 \
		>sha1-b.git/shallow &&
	test_expect_code 128 "$GIT" -C sha1-b.git --no-replace-objects \
		rev-list --test-bitmap main 2>err &&
	grep "because the repository is shallow" err &&
	rm sha1-b.git/shallow
'

test_expect_success 'a repack loses neither originals nor replacements' '
	stock -C sha1-b.git --no-replace-objects rev-list --objects --all |
		LC_ALL=C sort >expect &&
	"$GIT" -C sha1-b.git repack -adfq &&
	"$GIT" -C sha1-b.git prune --expire=now &&
	stock -C sha1-b.git --no-replace-objects rev-list --objects --all |
		LC_ALL=C sort >actual &&
	test_cmp expect actual &&
	stock -C sha1-b.git fsck
'

test_expect_success 'a ref of another name, and too many in a row' '
	stock -C sha1.git update-ref refs/replace/nonsense main &&
	"$GIT" -C sha1.git rev-list --count main 2>err &&
	grep "warning: bad replace ref name: refs/replace/nonsense" err &&
	stock -C sha1.git update-ref -d refs/replace/nonsense &&
	repo=sha1.git &&
	last=$(id main) &&
	tree=$(id main^{tree}) &&
	for i in 1 2 3 4 5 6
	do
		next=$(echo $i | stock -C $repo commit-tree $tree) &&
		stock -C $repo update-ref refs/replace/$last $next &&
		last=$next || return 1
	done &&
	test_expect_code 128 "$GIT" -C sha1.git rev-list main 2>err &&
	grep "replace depth too high for object" err
'

test_expect_success 'GIT_REPLACE_REF_BASE' '
	repo=sha256.git &&
	stock -C $repo update-ref refs/other/$(id main~3) $(id main~20) &&
	GIT_REPLACE_REF_BASE=refs/other/ "$GIT" -C $repo rev-list main >actual &&
	GIT_REPLACE_REF_BASE=refs/other/ stock -C $repo rev-list main >expect &&
	test_cmp expect actual
'

test_done
