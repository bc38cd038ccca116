#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='index-pack, against stock Git'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-fault.sh"

# repo_edits <dir> <nr>: <nr> commits on main; each edits one of ten files.
repo_edits () {
	for n in $(seq 1 "$2")
	do
		stream_commit main $n $((1112912000 + 60 * n)) \
			"dir$((n % 3))/file$((n % 10))" \
			"$(seq 1 20; echo "edit $n"; seq 21 40)"
	done | repo_import "$1"
}

# make_pack <name> <git dir> <pack-objects option>...: all objects
make_pack () {
	name=$1 dir=$2
	shift 2
	stock -C "$dir" rev-list --objects --no-object-names --all >objects &&
	stock -C "$dir" pack-objects -q --stdout "$@" <objects >"$name.pack"
}

SQ="'"

test_expect_success 'packs of both hashes with deltas of both kinds' '
	for format in sha1 sha256
	do
		REPO_FORMAT=$format repo_edits $format.git 120 &&
		REPO_FORMAT=$format repo_tags $format.git &&
		make_pack $format-ofs $format.git --delta-base-offset \
			--window=20 --depth=60 &&
		make_pack $format-ref $format.git --window=20 &&
		make_pack $format-whole $format.git --window=0 || return 1
	done
'

for format in sha1 sha256
do
	for deltas in ofs ref whole
	do
		pack=$format-$deltas
		test_expect_success "files are those of stock Git: $pack" '
			stock index-pack --object-format=$format --rev-index \
				-o stock.idx $pack.pack >expect &&
			git index-pack --object-format=$format --rev-index \
				-o ours.idx $pack.pack >actual &&
			test_cmp expect actual &&
			cmp stock.idx ours.idx &&
			cmp stock.rev ours.rev &&
			for threads in 1 5
			do
				git index-pack --object-format=$format \
					--threads=$threads -o ours.idx \
					$pack.pack >actual &&
				cmp stock.idx ours.idx || return 1
			done &&
			stock index-pack --object-format=$format \
				--index-version=1 -o stock.idx $pack.pack &&
			git index-pack --object-format=$format --no-rev-index \
				--index-version=1 -o v1.idx $pack.pack &&
			cmp stock.idx v1.idx &&
			! test -e v1.rev
		'

		test_expect_success "into a repository: $pack" '
			rm -rf dst.git &&
			REPO_FORMAT=$format repo_init dst.git &&
			stock index-pack --object-format=$format $pack.pack \
				>hash &&
			printf "keep\t%s\n" $(cat hash) >expect &&
			git -C dst.git index-pack --stdin --keep="why not" \
				<$pack.pack >actual &&
			test_cmp expect actual &&
			echo "why not" >expect &&
			test_cmp expect dst.git/objects/pack/*.keep &&
			stock -C dst.git fsck --full --no-dangling &&
			printf "pack\t%s\n" $(cat hash) >expect &&
			cat $pack.pack | git -C dst.git index-pack --stdin \
				--keep >actual &&
			test_cmp expect actual &&
			ls dst.git/objects/pack >files &&
			test_line_count 4 files
		'
	done

	test_expect_success "thin packs are completed, $format" '
		rm -rf dst.git &&
		REPO_FORMAT=$format repo_init dst.git &&
		git -C $format.git rev-parse main~3 >old &&
		stock -C $format.git pack-objects -q --revs --stdout <old \
			>old.pack &&
		{
			git -C $format.git rev-parse main &&
			sed "s/^/^/" old
		} >range &&
		stock -C $format.git pack-objects -q --revs --thin --no-reuse-delta --stdout \
			--delta-base-offset <range >thin.pack &&
		stock -C dst.git index-pack --stdin <old.pack &&
		test_must_fail git -C dst.git index-pack --stdin <thin.pack \
			2>err &&
		grep "^fatal: pack has [0-9]* unresolved delta" err &&
		ls dst.git/objects/pack >files &&
		! grep tmp files &&
		git -C dst.git index-pack --stdin --fix-thin <thin.pack >out &&
		git -C $format.git rev-parse main \
			>dst.git/refs/heads/main &&
		stock -C dst.git fsck --full &&
		name=dst.git/objects/pack/pack-$(cut -f2 out) &&
		stock index-pack --object-format=$format -o stock.idx \
			$name.pack &&
		cmp stock.idx $name.idx
	'
done

test_expect_success 'the index gets the name of the pack' '
	mkdir beside &&
	cp sha1-ofs.pack beside/x.pack &&
	git index-pack --keep beside/x.pack &&
	ls beside >actual &&
	printf "%s\n" x.idx x.keep x.pack x.rev >expect &&
	test_cmp expect actual &&
	test_must_be_empty beside/x.keep
'

test_expect_success 'from standard input to a named file' '
	rm -rf dst.git &&
	repo_init dst.git &&
	git -C dst.git index-pack --stdin "$PWD/named.pack" <sha1-ofs.pack &&
	cmp named.pack sha1-ofs.pack &&
	stock verify-pack named.idx &&
	ls dst.git/objects/pack >files &&
	test_must_be_empty files
'

test_expect_success 'bytes after the pack' '
	echo tail >tail &&
	cat sha1-ofs.pack tail >long.pack &&
	git -C dst.git index-pack --stdin <sha1-ofs.pack >expect &&
	cat tail >>expect &&
	cat long.pack | git -C dst.git index-pack --stdin >actual &&
	test_cmp expect actual &&
	echo "fatal: pack has junk at the end" >expect &&
	test_must_fail git -C dst.git index-pack --stdin <long.pack 2>err &&
	test_cmp expect err &&
	test_must_fail git index-pack long.pack 2>err &&
	test_cmp expect err
'

test_expect_success 'an answer is not kept waiting for the end of input' '
	{
		cat sha1-ofs.pack &&
		wait_until test -s actual &&
		echo in time >when
	} | git -C dst.git index-pack --stdin >actual &&
	grep "^pack" actual &&
	test -s when
'

# fatal <words> <command>...: fails as "fatal: <words>", and so does stock Git
fatal () {
	echo "fatal: $1" >expect
	shift
	test_expect_code 128 git "$@" 2>err &&
	test_cmp expect err &&
	test_expect_code 128 stock "$@" 2>err &&
	test_cmp expect err
}

test_expect_success 'damaged packs, in the words of stock Git' '
	size=$(wc -c <sha1-ofs.pack) &&
	cp sha1-ofs.pack bad.pack && chmod u+w bad.pack &&
	printf "\377\377" | dd of=bad.pack bs=1 seek=$((size - 2)) \
		conv=notrunc 2>/dev/null &&
	fatal "pack is corrupted (SHA1 mismatch)" index-pack bad.pack &&
	printf X | dd of=bad.pack bs=1 conv=notrunc 2>/dev/null &&
	fatal "pack signature mismatch" index-pack bad.pack &&
	head -c $((size - 50)) sha1-ofs.pack >short.pack &&
	test_must_fail git index-pack short.pack 2>err &&
	grep "early EOF" err &&
	! test -e short.idx
'

test_expect_success 'wrong usage, in the words of stock Git' '
	fatal "packfile name '\''long'\'' does not end with '\''.pack'\''" \
		index-pack long &&
	fatal "the option '\''--fix-thin'\'' requires '\''--stdin'\''" \
		index-pack --fix-thin x.pack &&
	fatal "--stdin requires a git repository" index-pack --stdin &&
	fatal "bad --index-version=3" index-pack --index-version=3 x.pack &&
	fatal "unknown hash algorithm '\''md5'\''" \
		index-pack --object-format=md5 x.pack &&
	test_expect_code 129 git index-pack &&
	test_expect_code 129 git index-pack a.pack b.pack &&
	fatal "--verify with no packfile name given" -C dst.git index-pack \
		--verify --stdin &&
	test_expect_code 128 git index-pack --promisor x.pack 2>err &&
	grep "fatal: --promisor cannot be used with a pack name" err
'

test_expect_success '--verify and its lists' '
	cp sha1-ofs.pack v.pack &&
	fatal "Cannot open existing pack idx file for ${SQ}v.idx$SQ" \
		index-pack --verify v.pack &&
	fatal "Cannot open existing pack file ${SQ}none.idx$SQ" \
		index-pack --verify none.pack &&
	fatal "packfile name ${SQ}v$SQ does not end with ${SQ}.pack$SQ" \
		index-pack --verify v &&
	stock index-pack v.pack && cksum v.* >before &&
	for option in --verify --verify-stat --verify-stat-only \
		"--verify --strict" "--verify -o v.idx"
	do
		stock index-pack $option v.pack >expect &&
		git index-pack $option v.pack >actual &&
		test_cmp expect actual || return
	done &&
	git index-pack --verify --rev-index --keep v.pack &&
	cksum v.* >after && test_cmp before after &&
	chmod u+w v.pack v.idx && cp v.idx saved.idx && cp v.pack saved.pack &&
	printf "\377" | dd of=v.pack bs=1 seek=200 conv=notrunc 2>/dev/null &&
	for option in --verify --verify-stat --verify-stat-only
	do
		test_expect_code 128 git index-pack $option v.pack || return
	done &&
	cp saved.pack v.pack &&
	printf "\377" | dd of=v.idx bs=1 seek=1100 conv=notrunc 2>/dev/null &&
	test_expect_code 128 git index-pack --verify v.pack
'

test_expect_success '--verify --strict checks the objects' '
	rm -rf bad.git && repo_init bad.git &&
	tree=$(stock -C bad.git mktree </dev/null) &&
	printf "tree $tree\nauthor a 1 +0000\ncommitter a 1 +0000\n\nm\n" |
	stock -C bad.git hash-object -t commit -w --literally --stdin >ids &&
	echo $tree >>ids &&
	pack=bad-$(stock -C bad.git pack-objects -q ../bad <ids).pack &&
	git index-pack --verify $pack &&
	test_expect_code 128 git index-pack --verify --strict $pack &&
	git index-pack --verify --strict=missingEmail=ignore $pack
'

test_expect_success 'limits' '
	test_must_fail git -C dst.git index-pack --stdin \
		--max-input-size=1000 <sha1-ofs.pack 2>err &&
	echo "fatal: pack exceeds maximum allowed size (1000 bytes)" >expect &&
	test_cmp expect err
'

test_expect_success 'an object that exists already is compared' '
	rm -rf dst.git &&
	repo_init dst.git &&
	one=$(echo one | stock -C dst.git hash-object -w --stdin) &&
	two=$(echo two | stock -C dst.git hash-object -w --stdin) &&
	echo $one | stock -C dst.git pack-objects -q --stdout >one.pack &&
	path () { echo dst.git/objects/$(echo $1 | sed "s|^..|&/|"); } &&
	git -C dst.git index-pack --stdin <one.pack &&
	rm -f dst.git/objects/pack/* &&
	mv -f $(path $two) $(path $one) &&
	test_must_fail git -C dst.git index-pack --stdin <one.pack &&
	ls dst.git/objects/pack >files &&
	test_must_be_empty files
'

test_expect_success 'as the child of stock Git: clone, fetch, push' '
	rm -rf work.git &&
	mkdir exec && ln -s "$GIT" exec/git && ln -s "$GIT" exec/git-index-pack &&
	for helper in "$(stock --exec-path)"/*
	do
		name=${helper##*/} &&
		test -e exec/$name || ln -s "$helper" exec/$name || return 1
	done &&
	with_ours () {
		env PATH="$STOCK_PATH" GIT_EXEC_PATH="$PWD/exec" \
			GIT_TRACE="$PWD/trace" "$STOCK_GIT" \
			-c fetch.unpackLimit=1 -c receive.unpackLimit=1 "$@"
	} &&
	with_ours clone -q --bare --no-local sha1.git work.git &&
	grep "index-pack" trace &&
	stock -C work.git fsck &&
	repo_init pushed.git &&
	stock -C pushed.git config receive.unpackLimit 1 &&
	with_ours -C work.git push -q ../pushed.git main~50:refs/heads/main &&
	with_ours -C work.git push -q ../pushed.git main &&
	stock -C pushed.git fsck --full &&
	ls pushed.git/objects/pack/*.idx >files &&
	test_line_count 2 files
'

# All is there or nothing, but where there was no room for a name.
has_all_or_nothing () {
	fault_exited ENOSPC &&
	find room.git -name "pack-*" -o -name "tmp_*" >left &&
	if test $fault_code -eq 0
	then
		test_line_count 3 left
	else
		tail -n +$fault_nr fault.log |
			grep -E "^(create|write|rename|mkdir)" | head -n 1 |
			grep ^rename ||
			test_must_be_empty left
	fi
}

test_expect_success 'if the disk is full, no pack is left without index' '
	repo_linear src.git 4 &&
	echo main | stock -C src.git pack-objects -q --revs --stdout \
		>room.pack &&
	fault_in=room.pack &&
	fault_step=1 &&
	fault_each ENOSPC \
		"rm -rf room.git && repo_init room.git" \
		"$GIT -C room.git -c core.fsync=all index-pack --rev-index \
			--stdin" has_all_or_nothing &&
	fault_in=/dev/null
'

test_done
