# SPDX-License-Identifier: MIT
#
# Sourced after lib.sh by tests in which other implementations of Git take part.

# repo_generated <dir>: a repository of realistic shape, packed without a
# bitmap: 700 commits, merges, 90 refs, tags of all kinds.
repo_generated () {
	case "${REPO_FORMAT:-sha1}" in
	sha1) zeros=$(printf '%040d' 0) ;;
	sha256) zeros=$(printf '%064d' 0) ;;
	esac &&
	"$GITREACH_SRC/t/perf/gen-repo" --commits 700 --files 120 --refs 80 |
	sed "s/^from 0\{40\}\$/from $zeros/" |
	repo_import "$1" &&
	repo_tags "$1" &&
	stock -C "$1" repack -q -adf --no-write-bitmap-index
}

# repo_newer <dir>: add objects to <dir> that no bitmap covers: commits on several
# branches in loose objects, a merge of these, and a new branch in another pack.
repo_newer () {
	(
		cd "$1" &&
		for i in 1 2 3
		do
			test_tick &&
			blob=$(echo "newer $i" | stock hash-object -w --stdin) &&
			tree=$({
				stock ls-tree main &&
				printf '100644 blob %s\tnewer-%d\n' $blob $i
			} | stock mktree) &&
			commit=$(stock commit-tree -p "main~$i" -m "newer $i" \
				$tree) &&
			stock update-ref refs/heads/newer-$i $commit || exit
		done &&
		merge=$(stock commit-tree -p newer-1 -p newer-2 -m merge \
			"newer-1^{tree}") &&
		stock update-ref refs/heads/newer-merge $merge &&
		{
			stream_commit packed 1 1512912000 new/file new \
				"from $(stock rev-parse main)" &&
			for i in $(seq 2 60)
			do
				stream_commit packed $i $((1512912000 + i)) \
					"new/$((i % 5))" "packed $i" \
					"from :$((i - 1))" || exit
			done
		} | stock fast-import --quiet --date-format=raw
	)
}

# bitmap_flags <dir>: print the flags of the bitmap index in hexadecimal digits.
bitmap_flags () {
	od -An -tx1 -j6 -N2 "$1"/objects/pack/*.bitmap | tr -d ' '
}

# test_bitmaps <least> <dir> <command>...: check with <command> that the bitmaps of
# a sample of commits are right. At least <least> commits must have a bitmap.
test_bitmaps () {
	least=$1 dir=$2 right=0
	shift 2
	for commit in $(stock -C "$dir" rev-list --all | sed -n '1~24p') \
		$(stock -C "$dir" rev-list --no-walk --branches)
	do
		if "$@" -C "$dir" rev-list --test-bitmap $commit 2>test.err
		then
			right=$((right + 1))
		elif ! grep "doesn't have an indexed bitmap" test.err >/dev/null
		then
			cat test.err >&2
			return 1
		fi
	done
	echo "$right bitmaps are right"
	test $right -ge "$least"
}

# test_by_bitmap <dir> <command>...: check that <command> uses the bitmap index. If
# it does, it knows no names of files and lists none.
test_by_bitmap () {
	dir=$1
	shift
	"$@" -C "$dir" rev-list --objects --use-bitmap-index main >listed &&
	test -s listed &&
	! grep " ." listed
}

# test_same_answers <nr> <dir>: check that ours and stock Git find the same objects,
# by bitmaps and by walking: all objects, and those of <nr> random sets of wants and
# haves. Our pack of all objects must contain them, without a warning.
test_same_answers () {
	stock -C "$2" rev-list --objects --all | wc -l >expect &&
	for how in '' --use-bitmap-index
	do
		"$GIT" -C "$2" rev-list --count --objects --all $how >actual &&
		test_cmp expect actual &&
		stock -C "$2" rev-list --count --objects --all $how >actual &&
		test_cmp expect actual || return
	done &&
	"$GIT" -C "$2" pack-objects -q --all --stdout --use-bitmap-index \
		</dev/null >made.pack 2>made.err &&
	test_must_be_empty made.err &&
	od -An -tu4 --endian=big -j8 -N4 made.pack | tr -d " " >actual &&
	test_cmp expect actual &&
	"$GITREACH_SRC/t/interop/random-sets" "$2" "$1" "$GIT" "$STOCK_GIT"
}
