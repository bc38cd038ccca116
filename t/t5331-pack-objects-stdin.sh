#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='pack-objects: packs named on stdin, and what nothing reaches'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-packs.sh"

# Blobs are named by where they are: A (kept), B, U: packs; D: a pack of an
# alternate; L: loose; E: loose in the alternate. All files have one time,
# because pack-objects touches a pack that stays if another pack has a younger
# copy of one of its objects, and stock Git does not.
blob () {
	echo $2 | stock -C $1 hash-object -w --stdin
}

# make_pack <dir> <blob>...: a pack of these; its name.
make_pack () {
	dir=$1 && shift &&
	for name
	do
		blob $dir $name || return
	done >list &&
	checksum=$(stock -C $dir pack-objects -q objects/pack/pack <list) &&
	stock -C $dir prune-packed -q &&
	echo pack-$checksum.pack
}

test_expect_success 'packs, loose objects, an alternate' '
	repo_init repo.git && repo_init other.git &&
	A=$(make_pack repo.git A AB AL AD AU) &&
	B=$(make_pack repo.git B AB BL BD BU) &&
	U=$(make_pack repo.git U AU BU UL UD) &&
	D=$(make_pack other.git D AD BD UD LD) &&
	repo_init loose.git &&
	for name in L AL BL UL LD LE
	do
		blob loose.git $name || return
	done &&
	cp -R loose.git/objects/?? repo.git/objects &&
	blob other.git E && blob other.git LE &&
	: >repo.git/objects/pack/${A%.pack}.keep &&
	echo "$PWD/other.git/objects" >repo.git/objects/info/alternates &&
	find repo.git/objects other.git/objects -type f \
		-exec touch -d @$(date +%s) {} +
'

# pack_by <ours|stock> <options>: pack $where, by names in `list`; what is in
# the pack goes to `<ours|stock>.result`.
pack_by () {
	who=$1 && shift &&
	rm -rf $who.out && mkdir $who.out &&
	case $who in
	ours) "$GIT" -C $where pack-objects -q "$@" ../ours.out/pack ;;
	*) stock -C $where pack-objects -q "$@" ../stock.out/pack ;;
	esac <list >$who.names &&
	{
		for idx in $who.out/*.idx
		do
			test -e $idx || continue
			base=${idx%.idx} &&
			{ test $who = stock || stock verify-pack $idx; } &&
			grep "^${base#*/pack-}$" $who.names >/dev/null &&
			stock show-index <$idx | cut -d" " -f2 >ids &&
			if test -e $base.mtimes
			then
				echo cruft && mtimes_of $base.mtimes |
				paste -d" " ids -
			else
				echo pack && cat ids
			fi || return
		done
	} >$who.result
}

# same_pack <names> <options>...
same_pack () {
	printf "%s\n" $1 >list && shift &&
	pack_by ours "$@" && pack_by stock "$@" && {
		test_cmp stock.result ours.result || {
			echo "$@" && cat list && false
		}
	}
}

test_expect_success '--stdin-packs: which objects' '
	where=repo.git &&
	for names in "" "$A $B" "$B ^$U" "$D" "$B ^$D"
	do
		for options in "" "--honor-pack-keep --incremental" \
			--unpacked "--unpacked --local" "--keep-pack=$U"
		do
			same_pack "$names" --stdin-packs $options || return
		done
	done
'

test_expect_success '--stdin-packs: paths are not lost' '
	repo_linear line.git 30 && stock -C line.git repack -q -d &&
	(cd line.git/objects/pack && ls pack-*.pack) >list &&
	"$GIT" -C line.git pack-objects --stdin-packs --stdout --window=10 \
		--no-reuse-delta <list >one.pack &&
	stock init -q --bare unpacked.git &&
	stock -C unpacked.git index-pack --stdin <one.pack >out &&
	repo_objects line.git >expect &&
	stock -C unpacked.git cat-file --batch-check="%(objectname)" \
		--batch-all-objects >actual &&
	test_cmp expect actual &&
	stock verify-pack -v unpacked.git/objects/pack/*.idx |
	grep "^chain" >chains
'

test_expect_success 'a missing pack is an error' '
	for names in pack-none.pack "^pack-none.pack" "${B%.pack}" \
		"${B%.pack}.idx"
	do
		printf "%s\n" $names >list &&
		test_must_fail "$GIT" -C repo.git pack-objects --stdin-packs \
			../none <list 2>err || return
		grep -F -e "could not find pack ${SQ:=$(printf "\047")}" \
			err || return
	done &&
	echo -pack-none.pack |
	test_must_fail "$GIT" -C repo.git pack-objects --cruft ../none 2>err &&
	grep "could not find pack .pack-none.pack." err &&
	printf "%s\n" $B -$B |
	test_must_fail "$GIT" -C repo.git pack-objects --cruft ../none 2>err &&
	grep "named twice" err &&
	test_must_fail ls none-*
'

test_expect_success 'a pack with and without a mark is excluded' '
	where=repo.git &&
	for names in "$B ^$B" "^$B $B $U" "!$B ^$B $U"
	do
		printf "%s\n" $names >list &&
		pack_by ours --stdin-packs=follow || return
		case $names in
		*$U) printf "%s\n" $U ^$B >list ;;
		*) printf "%s\n" ^$B >list ;;
		esac &&
		mv ours.result actual &&
		pack_by ours --stdin-packs=follow &&
		test_cmp ours.result actual || return
	done &&
	printf "%s\n" $B ^$B >list &&
	pack_by ours --stdin-packs &&
	! grep "^[0-9a-f]" ours.result
'

test_expect_success '--cruft: which objects, and their times' '
	where=repo.git &&
	for names in "" "$A -$B" "-$B -$U" "-$D -$B -$U"
	do
		for options in "" --local "--honor-pack-keep --incremental" \
			--cruft-expiration=never --cruft-expiration \
			"--local --cruft-expiration=1.year.ago" \
			--cruft-expiration=now
		do
			same_pack "$names" --cruft $options || return
		done
	done
'

test_expect_success '--cruft: recent objects keep what they reach' '
	where=recent.git && now=$(date +%s) &&
	repo_linear recent.git 12 &&
	tip=$(stock -C recent.git rev-parse main) &&
	stock -C recent.git update-ref refs/heads/main main~5 &&
	stock -C recent.git repack -q -a -d &&
	find recent.git/objects -type f -exec touch -d @$((now - 900000)) {} + &&
	for file in $(stock -C recent.git rev-parse $tip~2 | sed "s,^..,&/,")
	do
		touch -d @$((now - 1000)) recent.git/objects/$file || return
	done &&
	keep=$(cd recent.git/objects/pack && ls pack-*.pack) &&
	for age in 2000 500 2000000
	do
		same_pack "$keep" --cruft --cruft-expiration=$((now - age)) ||
		return
	done &&
	cp ours.result kept && test -s kept &&
	same_pack "-$keep" --cruft --cruft-expiration=$((now - 2000))
'

test_expect_success '--keep-unreachable packs unreachable objects' '
	where=repo.git &&
	for options in --keep-unreachable --pack-loose-unreachable \
		"--keep-unreachable --pack-loose-unreachable"
	do
		for more in "" --local --honor-pack-keep --incremental \
			"--unpacked --keep-pack=$B"
		do
			same_pack "" $options $more || return
		done
	done
'

test_expect_success 'unreachable objects come after reachable ones' '
	where=half.git && repo_linear half.git 12 && stock -C half.git repack -q -a -d &&
	stock -C half.git update-ref refs/heads/main main~5 &&
	blob half.git loose &&
	for options in --keep-unreachable --pack-loose-unreachable \
		"--keep-unreachable --unpacked" \
		"--keep-unreachable --pack-loose-unreachable"
	do
		same_pack "" --all $options || return
		same_pack "main~2" --revs $options || return
	done
'

# ids_of <options>...: ids of the objects that our pack-objects packs.
ids_of () {
	pack=$("$GIT" -C half.git pack-objects -q "$@" ../ids </dev/null) &&
	"$GIT" show-index <ids-$pack.idx | cut -d" " -f2
}

test_expect_success 'objects that a filter leaves out count as unreachable' '
	ids_of --all --keep-unreachable >expect &&
	for filter in blob:none tree:0
	do
		ids_of --all --keep-unreachable --filter=$filter >actual &&
		test_cmp expect actual || return
	done &&
	rm -rf loosened.git && cp -Rp half.git loosened.git &&
	"$GIT" -C loosened.git pack-objects -q --all --filter=blob:none \
		--unpack-unreachable ../none </dev/null >/dev/null &&
	blob=$(stock -C half.git rev-parse main:dir1/file7) &&
	test -f loosened.git/objects/$(echo $blob | sed "s,^..,&/,")
'

# loosened_by <ours|stock> <options>...: what becomes loose, with its times.
loosened_by () {
	who=$1 && shift &&
	rm -rf $who.git && cp -Rp repo.git $who.git &&
	case $who in
	ours) "$GIT" -C ours.git pack-objects -q "$@" ../none ;;
	*) stock -C stock.git pack-objects -q "$@" ../none ;;
	esac </dev/null && rm -f none-* &&
	loose_of $who.git >$who.loose
}

test_expect_success '--unpack-unreachable' '
	touch -d @$(($(date +%s) - 900000)) repo.git/objects/pack/${U%.pack}.* &&
	loose_of repo.git >before &&
	for options in "" =never =1.week.ago =now
	do
		for more in "" "--local --keep-pack=$B" "--all --reflog" \
			"--all --reflog --indexed-objects"
		do
			loosened_by ours --unpack-unreachable$options $more &&
			loosened_by stock --unpack-unreachable$options $more &&
			test_cmp stock.loose ours.loose || return
		done || return
	done &&
	loosened_by ours --unpack-unreachable &&
	! test_cmp before ours.loose >/dev/null
'

# refused <message> <arguments>...
refused () {
	message=$1 && shift &&
	test_must_fail "$GIT" -C repo.git pack-objects "$@" </dev/null 2>err &&
	grep -F -e "$message" err
}

test_expect_success 'options that exclude each other' '
	for options in --revs --all --reflog --indexed-objects \
		--keep-unreachable --unpack-unreachable --pack-loose-unreachable
	do
		for by in --stdin-packs --cruft
		do
			message="cannot use internal rev list with $by" &&
			refused "$message" $by $options none &&
			test_must_fail stock -C repo.git pack-objects $by \
				$options none </dev/null 2>err &&
			grep -F -e "$message" err || return
		done || return
	done &&
	refused "${SQ}--stdin-packs$SQ and $SQ--cruft$SQ cannot be used" \
		--stdin-packs --cruft x &&
	refused "$SQ--stdin-packs$SQ and $SQ--filter$SQ cannot be used" \
		--stdin-packs --filter=blob:none --stdout &&
	refused "internal rev list with --cruft" --cruft --unpacked x &&
	refused "cannot be used together" --keep-unreachable \
		--unpack-unreachable x &&
	refused "malformed expiration date" --cruft --cruft-expiration=bogus x &&
	echo pack-none.pack >list &&
	test_expect_code 128 "$GIT" -C repo.git pack-objects \
		--cruft-expiration=now x <list 2>err &&
	grep "could not find pack .pack-none.pack." err
'

test_expect_success 'unsupported options are refused by name' '
	refused "invalid value for ${SQ}stdin-packs$SQ: ${SQ}x$SQ" \
		--stdin-packs=x x &&
	test_expect_code 128 "$GIT" -C repo.git pack-objects --stdin-packs=x \
		x </dev/null &&
	refused "unsupported index version 3" --index-version=3 x &&
	refused "bad index version ${SQ}1x$SQ" --index-version=1x x &&
	refused "uri-protocol" --uri-protocol=https --stdout
'

test_expect_success 'options without effect are accepted' '
	where=repo.git &&
	stock -C repo.git cat-file --batch-check="%(objectname)" \
		--batch-all-objects --unordered >list &&
	pack_by stock && mv stock.result expect &&
	for option in --missing=error --name-hash-version=1 \
		--shallow --sparse --no-sparse --include-tag \
		--keep-true-parents --window-memory=1 --window-memory=0 \
		--window=-1 --depth=-1 --threads=-1 --depth=5000 \
		--index-version=1 --compression=-1
	do
		pack_by ours $option && test_cmp expect ours.result || return
	done
'

test_expect_success '--compression=-1 is the default of zlib' '
	seq 1 20000 >text &&
	stock -C repo.git hash-object -w --stdin <text >list &&
	for level in 0 -1 9
	do
		"$GIT" -C repo.git -c pack.compression=0 pack-objects -q \
			--compression=$level --no-reuse-object --stdout \
			<list >level$level || return
	done &&
	test $(wc -c <level-1) -lt $(($(wc -c <level0) / 2)) &&
	test $(wc -c <level9) -lt $(($(wc -c <level0) / 2))
'

# Stock Git's repack, which starts our pack-objects.
with_ours () {
	env PATH="$STOCK_PATH" GIT_EXEC_PATH="$TEST_EXEC" \
		GIT_TRACE="$TEST_EXEC/../trace" "$STOCK_GIT" "$@"
}

make_history () {
	rm -rf repo.git && repo_linear repo.git 12 &&
	stock -C repo.git update-ref refs/heads/main main~5 &&
	stock -C repo.git repack -q -a -d &&
	stock -C repo.git prune-packed &&
	blob repo.git one && blob repo.git two &&
	stock -C repo.git repack -q -d && make_pack repo.git three
}

test_expect_success 'as the child of stock git repack' '
	TEST_EXEC=$PWD/exec && mkdir exec &&
	ln -s "$GIT" exec/git && ln -s "$GIT" exec/git-pack-objects &&
	for helper in "$(stock --exec-path)"/*
	do
		name=${helper##*/} &&
		test -e exec/$name || ln -s "$helper" exec/$name || return 1
	done &&
	make_history &&
	for options in "-d --geometric=2" "-d" "-A -d" "-a -d -k" \
		"-A -d --unpack-unreachable=1.day.ago" "--cruft -d" \
		"--cruft -d --cruft-expiration=now" "-a -d -b -l"
	do
		rm -rf theirs.git ours.git && cp -Rp repo.git theirs.git &&
		cp -Rp repo.git ours.git && : >trace &&
		stock -C theirs.git repack -q $options &&
		with_ours -C ours.git repack -q $options &&
		grep "pack-objects" trace >runs &&
		left_of theirs.git && left_of ours.git &&
		test_cmp theirs.git.left ours.git.left &&
		stock -C ours.git fsck || return
	done
'

test_expect_success 'as the child of stock git repack, with an existing cruft pack' '
	stock -C repo.git repack -q --cruft -d &&
	echo four | stock -C repo.git hash-object -w --stdin &&
	for options in "--cruft -d" "-a -d -k" "-d --geometric=2" \
		"--cruft -d --cruft-expiration=1.day.ago"
	do
		rm -rf theirs.git ours.git && cp -Rp repo.git theirs.git &&
		cp -Rp repo.git ours.git &&
		stock -C theirs.git repack -q $options &&
		with_ours -C ours.git repack -q $options &&
		left_of theirs.git && left_of ours.git &&
		test_cmp theirs.git.left ours.git.left &&
		stock -C ours.git fsck || return
	done
'

test_done
