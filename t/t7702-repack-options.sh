#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='what the options of repack mean, and which one counts'
. "$(dirname "$0")/lib.sh"

# repack_same <options>...: stock Git and ours, in equal repositories, say the
# same and leave files of the same kinds, for packs of as many objects.
repack_same () {
	rm -rf stock.git ours.git &&
	cp -R base.git stock.git && cp -R base.git ours.git &&
	{
		stock -C stock.git "$@" >stock.out 2>stock.err
		echo $? >>stock.out
		"$GIT" -C ours.git "$@" >ours.out 2>ours.err
		echo $? >>ours.out
	} &&
	test_cmp stock.out ours.out &&
	for dir in stock ours
	do
		{
			ls $dir.git/objects/pack | grep -v "rev$" |
				sed "s/.*[.]//" | sort &&
			cat $dir.git/objects/pack/*.idx | wc -c &&
			find $dir.git/objects/?? -type f | sed "s/.*[.]git//" |
				sort
		} >$dir.files || return
	done &&
	test_cmp stock.files ours.files
}

test_expect_success 'setup' '
	repo_linear base.git 50 &&
	stock -C base.git repack -d -q &&
	stock -C base.git config core.packedGitLimit 1g
'

for options in -a -d -ad "-ad -q" -adb "-ad --no-write-bitmap-index" \
	"-adb --no-write-bitmap-index" "-ad --no-write-bitmap-index -b" \
	"-adf" "-adF" "-ad --window=0" "-adf --depth=0" "-adl" \
	"-b" "-db"
do
	test_expect_success "repack $options" "repack_same repack $options"
done

for config in repack.writeBitmaps=true repack.writeBitmaps=false \
	pack.writeBitmaps=true repack.updateServerInfo=false
do
	for options in "" -d -ad -adb "-d --no-write-bitmap-index"
	do
		test_expect_success "repack $options, $config" "
			repack_same -c $config repack $options
		"
	done
done

test_expect_success 'kept packs' '
	for idx in base.git/objects/pack/*.idx
	do
		>"${idx%.idx}.keep" || return
	done &&
	new=$(stock -C base.git commit-tree -m new -p main "main^{tree}") &&
	stock -C base.git update-ref refs/heads/main $new
'

for config in core.bare=true repack.packKeptObjects=true \
	repack.packKeptObjects=false
do
	for options in -ad -adb "-ad --pack-kept-objects" \
		"-adb --no-pack-kept-objects" "-adb --pack-kept-objects"
	do
		test_expect_success "kept: repack $options, $config" "
			repack_same -c $config repack $options
		"
	done
done

test_expect_success 'parts of a pack of the same name' '
	repo_linear same.git 20 &&
	"$GIT" -C same.git repack -a -d -b -q &&
	pack=$(ls same.git/objects/pack/*.pack) &&
	>${pack%pack}mtimes &&
	"$GIT" -C same.git repack -a -d -b -q &&
	! test -e ${pack%pack}mtimes &&
	test -f ${pack%pack}bitmap &&
	test -f ${pack%pack}rev &&
	"$GIT" -C same.git -c pack.writeReverseIndex=false repack -a -d -q \
		--no-write-bitmap-index &&
	! test -e ${pack%pack}bitmap &&
	! test -e ${pack%pack}rev &&
	test -f $pack
'

test_expect_success '-m takes no argument' '
	"$GIT" -C same.git repack -mbad -q &&
	test -f same.git/objects/pack/multi-pack-index &&
	ls same.git/objects/pack/multi-pack-index-*.bitmap &&
	test_expect_code 129 "$GIT" -C same.git repack -mincremental -ad 2>err &&
	grep "unknown switch .c" err
'

test_expect_success 'numbers below zero' '
	"$GIT" -C same.git repack -adf -q --window=-1 --threads=-1 &&
	stock verify-pack -s same.git/objects/pack/*.idx >chains &&
	! grep "chain length" chains &&
	"$GIT" -C same.git repack -adf -q --depth=-1
'

test_expect_success 'options that exclude each other, in the words of stock Git' '
	for options in "-k -A" "-k --cruft" "--cruft -A"
	do
		test_expect_code 128 "$GIT" -C same.git repack $options 2>actual &&
		grep "^fatal: options .*-.* and .*-.* cannot be used together" \
			actual || return
	done &&
	test_expect_code 128 "$GIT" -C same.git repack -A -k --cruft 2>actual &&
	grep "^fatal: options .-A., .-k/--keep-unreachable., and .--cruft." \
		actual &&
	test_expect_code 128 "$GIT" -C same.git repack --cruft \
		--unpack-unreachable=now
'

# Stock Git gives these numbers to pack-objects after all checks of its own, the
# last value of each, in the order window, window-memory, depth, threads.
test_expect_success 'wrong values are reported in the order of Git 2.55' '
	while read -r options
	do
		read -r code words &&
		test_expect_code $code "$GIT" -C base.git repack -a $options \
			2>actual &&
		grep "^$words" actual && test_line_count 1 actual || return 1
	done <<-\EOF
	--depth=x --window=x
	129 error: option .window. expects an integer
	--threads=x --depth=x
	129 error: option .depth. expects an integer
	--window-memory=x --window=x
	129 error: option .window. expects an integer
	--depth=x --window-memory=x
	129 error: option .window-memory. expects a non-negative integer
	--threads=x --max-pack-size=x
	129 error: option .max-pack-size. expects a non-negative integer
	--window=x --name-hash-version=9
	129 error: option .window. expects an integer
	-A --unpack-unreachable=x --window=x
	129 error: option .window. expects an integer
	--window=x --write-midx=x
	129 error: unknown value for write-midx: x
	--window=x --geometric=2
	128 fatal: options .--geometric. and .-A/-a. cannot
	--window=x --filter-to=y
	128 fatal: option .--filter-to. can only be used
	--window=x --filter=y
	128 fatal: invalid filter-spec .y.
	EOF
'

test_expect_success 'delta islands exclude --path-walk' '
	"$GIT" -C base.git repack -adq -i --path-walk 2>err &&
	echo "warning: cannot use --delta-islands with --path-walk" >expect &&
	test_cmp expect err &&
	"$GIT" -C base.git pack-objects -q --all --delta-islands --path-walk \
		"$PWD/islands" </dev/null 2>err &&
	test_cmp expect err &&
	"$GIT" -c pack.usePathWalk=1 -C base.git repack -adq -i 2>err &&
	test_cmp expect err &&
	"$GIT" -c pack.usePathWalk=1 -C base.git pack-objects -q --revs --all \
		--delta-islands "$PWD/islands" </dev/null 2>err &&
	test_cmp expect err &&
	"$GIT" -c pack.usePathWalk=1 -C base.git repack -adq -i \
		--no-path-walk 2>err &&
	test_must_be_empty err &&
	"$GIT" -C base.git repack -Adq --max-cruft-size=10 2>err &&
	test_must_be_empty err
'

test_expect_success 'the last of several numbers counts' '
	"$GIT" -C base.git repack -aq --window=x --window=3 &&
	"$GIT" -C base.git repack -aq --name-hash-version=0 &&
	"$GIT" -C base.git repack -aq --window=x --no-window
'

test_expect_success 'a repository without a pack directory' '
	repo_linear loose.git 3 &&
	rmdir loose.git/objects/pack &&
	"$GIT" -C loose.git repack -a -d &&
	stock -C loose.git fsck &&
	test $(stock -C loose.git count-objects | cut -d" " -f1) = 0
'

test_expect_success 'nothing is deleted from a precious repository' '
	rm -rf precious.git &&
	cp -R base.git precious.git &&
	stock -C precious.git config core.repositoryFormatVersion 1 &&
	stock -C precious.git config extensions.preciousObjects true &&
	find precious.git/objects -type f | sort >before &&
	for args in -d -ad -Ad
	do
		test_expect_code 128 stock -C precious.git repack $args 2>expect &&
		test_expect_code 128 "$GIT" -C precious.git repack $args \
			2>actual &&
		test_cmp expect actual || return
	done &&
	find precious.git/objects -type f | sort >after &&
	test_cmp before after &&
	"$GIT" -C precious.git repack -aq
'

test_expect_success 'a repack without a new pack warns too that there is no bitmap index' '
	repo_linear kept.git 3 && stock -C kept.git repack -adq &&
	kept=$(basename kept.git/objects/pack/*.pack) &&
	echo "warning: disabling bitmap writing, as some objects are not being packed" \
		>expect &&
	git -C kept.git repack -adbq --keep-pack=$kept 2>err &&
	test_cmp expect err &&
	git -C kept.git -c repack.writeBitmaps=true repack -adq \
		--keep-pack=$kept 2>err &&
	test_cmp expect err &&
	git -C kept.git repack -adq --keep-pack=$kept 2>err &&
	test_must_be_empty err
'

test_done
