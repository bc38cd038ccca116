#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='git commit-graph: one file

What is written is what stock Git writes, byte for byte.'
. "$(dirname "$0")/lib.sh"

graph=objects/info/commit-graph

# same_graph <dir> <options>...: ours and stock Git's of the same repository.
same_graph () {
	dir=$1 && shift &&
	rm -f $dir/$graph ours &&
	stock -C $dir commit-graph write --no-progress "$@" <in &&
	mv $dir/$graph theirs &&
	"$GIT" -C $dir commit-graph write "$@" <in &&
	cmp theirs $dir/$graph &&
	stock -C $dir commit-graph verify --no-progress &&
	"$GIT" -C $dir commit-graph verify >out 2>&1 &&
	test_must_be_empty out
}

for format in sha1 sha256
do
	test_expect_success "repositories, $format" '
		REPO_FORMAT=$format &&
		repo_linear linear-$format.git 20 &&
		repo_criss_cross cross-$format.git 12 &&
		repo_octopus octopus-$format.git 5 &&
		repo_tags octopus-$format.git &&
		repo_linear packed-$format.git 12 &&
		stock -C packed-$format.git repack -adq &&
		: >in
	'

	for name in linear cross octopus packed
	do
		test_expect_success "write --reachable, $format, $name" '
			same_graph $name-$format.git --reachable
		'
	done

	test_expect_success "write from packs, $format" '
		same_graph packed-$format.git
	'

	test_expect_success "write --stdin-commits, $format" '
		stock -C octopus-$format.git for-each-ref \
			--format="%(objectname)" >in &&
		same_graph octopus-$format.git --stdin-commits &&
		stock -C cross-$format.git rev-parse main~3 side~4 >in &&
		same_graph cross-$format.git --stdin-commits
	'
done

test_expect_success 'write --stdin-packs' '
	cp -R linear-sha1.git packs.git &&
	stock -C packs.git repack -adq &&
	stock -C packs.git repack -q &&
	(cd packs.git/objects/pack && ls *.idx) >in &&
	same_graph packs.git --stdin-packs &&
	(cd packs.git/objects/pack && ls *.pack) >in &&
	test_expect_code 1 stock -C packs.git commit-graph write \
		--stdin-packs <in 2>theirs &&
	test_expect_code 1 "$GIT" -C packs.git commit-graph write \
		--stdin-packs <in 2>ours &&
	sed "s,pack .*objects/,pack objects/," ours >ours.short &&
	sed "s,pack .*objects/,pack objects/," theirs >theirs.short &&
	test_cmp theirs.short ours.short &&
	: >in
'

test_expect_success 'the file is for reading' '
	test "$(stat -c %a linear-sha1.git/$graph)" = 444
'

test_expect_success 'generation version 1' '
	: >in &&
	stock -C cross-sha1.git config commitGraph.generationVersion 1 &&
	same_graph cross-sha1.git --reachable &&
	! grep GDA2 cross-sha1.git/$graph &&
	stock -C cross-sha1.git config --unset commitGraph.generationVersion
'

# Clocks that were wrong: offsets of more than 31 bits.
test_expect_success 'dates far from each other' '
	{
		stream_commit main 1 5000000000 a one &&
		stream_commit main 2 1112912000 a two "from :1" &&
		stream_commit main 3 0 a three "from :2" &&
		stream_commit main 4 17000000000 a four "from :3" &&
		stream_commit main 5 1112912000 a five "from :4" &&
		stream_commit root 6 0 a six
	} | repo_import dates.git &&
	same_graph dates.git --reachable &&
	grep GDO2 dates.git/$graph
'

test_expect_success 'refs that cannot be followed are left out' '
	cp -R linear-sha1.git refs.git &&
	echo 0123456789012345678901234567890123456789 \
		>refs.git/refs/heads/missing &&
	echo garbage >refs.git/refs/heads/garbage &&
	same_graph refs.git --reachable
'

test_expect_success 'a missing commit' '
	cp -R linear-sha1.git missing.git &&
	(
		cd missing.git &&
		oid=$(stock rev-parse main~5) &&
		rm -f $graph objects/$(echo $oid | sed "s,^..,&/,") &&
		test_expect_code 128 "$GIT" commit-graph write --reachable \
			2>err &&
		grep "^fatal: .*$oid" err &&
		! test -e $graph && ! test -e $graph.lock
	)
'

test_expect_success 'nothing to write' '
	repo_init empty.git &&
	"$GIT" -C empty.git commit-graph write --reachable &&
	"$GIT" -C linear-sha1.git commit-graph write --stdin-commits <in &&
	! test -e empty.git/$graph
'

test_expect_success 'no commit-graph is written in a shallow repository' '
	stock clone -q --bare --depth 2 "file://$PWD/linear-sha1.git" \
		shallow.git &&
	"$GIT" -C shallow.git commit-graph write --reachable &&
	! test -e shallow.git/$graph
'

test_expect_success 'core.commitGraph=false' '
	rm -f linear-sha1.git/$graph &&
	"$GIT" -C linear-sha1.git -c core.commitGraph=false \
		commit-graph write --reachable 2>ours &&
	stock -C linear-sha1.git -c core.commitGraph=false \
		commit-graph write --reachable 2>theirs &&
	test_cmp theirs ours &&
	! test -e linear-sha1.git/$graph
'

test_expect_success 'lines of standard input that are no ids' '
	for id in foo main 0123456789012345678901234567890123456789
	do
		echo $id >in &&
		test_expect_code 1 stock -C linear-sha1.git commit-graph write \
			--stdin-commits --no-progress <in 2>theirs &&
		test_expect_code 1 "$GIT" -C linear-sha1.git commit-graph \
			write --stdin-commits <in 2>ours &&
		test_cmp theirs ours || return 1
	done &&
	stock -C linear-sha1.git rev-parse main^{tree} >in &&
	"$GIT" -C linear-sha1.git commit-graph write --stdin-commits <in
'

test_expect_success 'wrong usage' '
	test_expect_code 129 "$GIT" -C linear-sha1.git commit-graph 2>err &&
	grep "^error: need a subcommand" err &&
	test_expect_code 129 "$GIT" -C linear-sha1.git commit-graph foo 2>err &&
	grep "^error: unknown subcommand: .foo" err &&
	test_expect_code 129 "$GIT" -C linear-sha1.git commit-graph write foo &&
	test_expect_code 128 "$GIT" -C linear-sha1.git commit-graph write \
		--reachable --stdin-commits 2>err &&
	grep "use at most one of" err &&
	test_expect_code 128 "$GIT" -C linear-sha1.git commit-graph write \
		--object-dir=/nonexistent 2>err &&
	grep "could not find object directory matching /nonexistent" err
'

test_expect_success 'another process holds the lock' '
	: >linear-sha1.git/$graph.lock &&
	test_expect_code 128 "$GIT" -C linear-sha1.git commit-graph write \
		--reachable 2>err &&
	grep "Unable to create .*commit-graph.lock.: File exists" err &&
	rm linear-sha1.git/$graph.lock
'

test_expect_success '--object-dir: of an alternate' '
	stock clone -q --bare --shared linear-sha1.git clone.git &&
	rm -f linear-sha1.git/$graph &&
	"$GIT" -C clone.git commit-graph write --reachable \
		--object-dir="$PWD/linear-sha1.git/objects" &&
	test -e linear-sha1.git/$graph &&
	! test -e clone.git/$graph
'

test_expect_success 'walks use the commit-graph' '
	"$GIT" -C cross-sha1.git commit-graph write --reachable &&
	"$GIT" -C cross-sha1.git rev-list --all >ours &&
	stock -C cross-sha1.git -c core.commitGraph=false rev-list --all \
		>theirs &&
	test_cmp_sorted theirs ours
'

# ---- changed paths

# Ours go on from ours, theirs from theirs.
test_expect_success 'repositories for changed paths' '
	: >in &&
	repo_linear paths.git 20 &&
	{
		stream_commit main 1 1112912000 a/b/c one &&
		stream_commit main 2 1112912060 "h\303\251llo" two "from :1" &&
		stream_commit main 3 1112912120 a/b three "from :2" &&
		stream_commit main 4 1112912180 a four "from :3" &&
		stream_commit main 5 1112912240 a/b/c five "from :4" &&
		stream_commit main 6 1112912300 a/b/c five "from :5" &&
		stream_commit side 7 1112912300 x/y/z six "from :4" &&
		stream_commit main 8 1112912360 m seven "from :6" "merge :7"
	} | repo_import odd.git &&
	for i in $(seq 1 511)
	do
		echo "M 100644 inline dir/$i" && echo "data 2" && echo "$i" |
		cut -c1 && echo
	done >many &&
	{
		stream_commit main 1 1112912000 a one && cat many &&
		stream_commit main 2 1112912060 b two "from :1" &&
		stream_commit main 3 1112912120 dir three "from :2" &&
		stream_commit main 4 1112912180 c four "from :3" && cat many |
		sed s,dir,other,
	} | repo_import many.git
'

for name in paths odd many
do
	test_expect_success "write --changed-paths, $name" '
		same_graph $name.git --reachable --changed-paths &&
		grep BDAT $name.git/$graph
	'
done

# in_turn <options>...: write over what is there, in two copies.
in_turn () {
	stock -C one.git commit-graph write --no-progress --reachable "$@" &&
	"$GIT" -C two.git commit-graph write --reachable "$@" &&
	cmp one.git/$graph two.git/$graph
}

test_expect_success 'filters stay, go, and are computed bit by bit' '
	rm -f paths.git/$graph && cp -R paths.git one.git &&
	cp -R paths.git two.git &&
	in_turn --changed-paths --max-new-filters=3 &&
	in_turn --max-new-filters=4 && in_turn --max-new-filters=0 &&
	in_turn && grep BDAT two.git/$graph &&
	in_turn --no-changed-paths && ! grep BDAT two.git/$graph &&
	in_turn && ! grep BDAT two.git/$graph
'

test_expect_success 'commitGraph.changedPaths, .maxNewFilters' '
	for dir in one.git two.git
	do
		stock -C $dir config commitGraph.maxNewFilters 5 || return 1
	done &&
	in_turn --changed-paths && in_turn &&
	"$GIT" -C two.git commit-graph write --reachable --no-changed-paths &&
	"$GIT" -C two.git -c commitGraph.changedPaths=true commit-graph write \
		--reachable --max-new-filters=-1 &&
	in_turn --max-new-filters=-1
'

test_expect_success 'versions of filters' '
	rm -f odd.git/$graph &&
	write="$GIT -C odd.git -c commitGraph.changedPathsVersion" &&
	$write=1 commit-graph write --reachable --changed-paths &&
	cp odd.git/$graph one &&
	rm -f odd.git/$graph &&
	$write=2 commit-graph write --reachable --changed-paths &&
	cp odd.git/$graph two && ! cmp one two &&
	stock -C odd.git commit-graph verify --no-progress &&
	"$GIT" -C odd.git commit-graph write --reachable &&
	cmp two odd.git/$graph &&
	$write=-1 commit-graph write --reachable &&
	cmp two odd.git/$graph &&
	$write=1 commit-graph write --reachable &&
	cmp one odd.git/$graph &&
	$write=0 commit-graph write --reachable &&
	! grep BDAT odd.git/$graph &&
	$write=0 commit-graph write --reachable --changed-paths &&
	cmp one odd.git/$graph &&
	"$GIT" -C odd.git -c commitGraph.readChangedPaths=false \
		commit-graph write --reachable &&
	! grep BDAT odd.git/$graph
'

test_expect_success 'stock Git finds the same with our filters' '
	"$GIT" -C odd.git commit-graph write --reachable --changed-paths &&
	for path in a a/b a/b/c x x/y x/y/z m nothing
	do
		stock -C odd.git log --format=%H main -- $path >with &&
		stock -C odd.git -c core.commitGraph=false log --format=%H \
			main -- $path >without &&
		test_cmp without with || return 1
	done
'

# ---- verify

test_expect_success 'a graph to spoil' '
	rm -f cross-sha1.git/$graph &&
	"$GIT" -C cross-sha1.git commit-graph write --reachable &&
	cp cross-sha1.git/$graph good
'

# spoil <chunk> <offset>: change a byte of a chunk, and make the checksum right.
spoil () {
	rm -f cross-sha1.git/$graph &&
	perl -MDigest::SHA=sha1 -e '
		my ($chunk, $off) = @ARGV;
		local $/;
		my $data = <STDIN>;
		my $row = 8;
		$row += 12 while substr($data, $row, 4) ne $chunk;
		my $at = unpack("Q>", substr($data, $row + 4, 8)) + $off;
		substr($data, $at, 1) ^= "\1";
		substr($data, -20) = sha1(substr($data, 0, -20));
		print $data;
	' "$@" <good >cross-sha1.git/$graph
}

# The same lines and exit code as stock Git.
for where in "CDAT 3" "CDAT 35" "OIDL 19"
do
	test_expect_success "verify: $where" '
		spoil $where &&
		test_expect_code 1 stock -C cross-sha1.git commit-graph verify \
			--no-progress 2>theirs &&
		test_expect_code 1 "$GIT" -C cross-sha1.git commit-graph \
			verify 2>ours &&
		grep -v "^error: Could not read" theirs >expect &&
		test_cmp expect ours &&
		test_expect_code 16 "$GIT" -C cross-sha1.git fsck 2>err &&
		test_cmp ours err &&
		"$GIT" -C cross-sha1.git -c core.commitGraph=false fsck
	'
done

# Stock Git from 2.39 to 2.55 differs in what it says here.
for where in "CDAT 20" "CDAT 23" "CDAT 24" "OIDF 9" "OIDL 0"
do
	test_expect_success "verify: $where" '
		spoil $where &&
		test_expect_code 1 "$GIT" -C cross-sha1.git commit-graph \
			verify 2>err &&
		grep "commit-graph\|fanout" err &&
		test_expect_code 16 "$GIT" -C cross-sha1.git fsck
	'
done

test_expect_success 'verify: checksum' '
	rm -f cross-sha1.git/$graph &&
	cp good cross-sha1.git/$graph &&
	chmod u+w cross-sha1.git/$graph &&
	size=$(wc -c <good) &&
	printf XX | dd of=cross-sha1.git/$graph bs=1 seek=$((size - 2)) \
		conv=notrunc &&
	echo "the commit-graph file has incorrect checksum and is likely" \
		"corrupt" >expect &&
	test_expect_code 2 "$GIT" -C cross-sha1.git commit-graph verify 2>ours &&
	test_cmp expect ours &&
	test_expect_code 16 "$GIT" -C cross-sha1.git fsck
'

test_expect_success 'verify succeeds without a commit-graph' '
	rm cross-sha1.git/$graph &&
	"$GIT" -C cross-sha1.git commit-graph verify --progress 2>err &&
	test_must_be_empty err
'

test_expect_success 'verify: progress' '
	cp good cross-sha1.git/$graph &&
	nr=$(stock -C cross-sha1.git rev-list --all --count) &&
	"$GIT" -C cross-sha1.git commit-graph verify 2>err &&
	test_must_be_empty err &&
	"$GIT" -C cross-sha1.git commit-graph verify --progress 2>err &&
	grep "Verifying commits in commit graph: 100% ($nr/$nr), done" err
'

test_expect_success 'commitGraph.changedPathsVersion of the future' '
	repo_linear future.git 3 &&
	"$GIT" -C future.git -c commitGraph.changedPathsVersion=3 \
		commit-graph write --reachable 2>err &&
	grep "warning: .*changedPathsVersion. (3) is not supported" err &&
	! test -e future.git/$graph
'

test_expect_success '--max-new-filters takes no suffix' '
	test_expect_code 129 "$GIT" -C future.git commit-graph write \
		--reachable --max-new-filters=1k 2>err &&
	grep "expects a numerical value" err &&
	"$GIT" -C future.git commit-graph write --reachable \
		--max-new-filters=
'

test_expect_success 'a count of layers below, in a single file' '
	chmod u+w future.git/$graph &&
	printf "\3" | dd of=future.git/$graph conv=notrunc bs=1 seek=7 &&
	test_expect_code 2 "$GIT" -C future.git commit-graph verify
'

test_expect_success 'exit code for a wrong checksum and a wrong commit' '
	"$GIT" -C future.git commit-graph write --reachable &&
	size=$(wc -c <future.git/$graph) &&
	chmod u+w future.git/$graph &&
	printf "\377\377" | dd of=future.git/$graph conv=notrunc bs=1 \
		seek=$((size - 20 - 3 * 4 - 8)) &&
	test_expect_code 1 "$GIT" -C future.git commit-graph verify 2>err &&
	grep "incorrect checksum" err
'

test_expect_success 'only --object-dir may precede the subcommand' '
	for option in --progress --reachable --
	do
		test_expect_code 129 "$GIT" -C future.git commit-graph \
			$option write || return 1
	done &&
	"$GIT" -C future.git commit-graph --object-dir objects write \
		--reachable
'

test_expect_success 'options are checked before the object directory' '
	while read -r error args
	do
		test_expect_code 128 "$GIT" -C future.git commit-graph write \
			$args 2>err &&
		test $(wc -l <err) = 1 && grep "$error" err || return 1
	done <<-\EOF
	use.at.most.one --reachable --stdin-packs --object-dir=nothing
	unrecognized.--split --reachable --stdin-packs --split=append
	unrecognized.--split --split=append --bad
	malformed.expiration --expire-time=huh --split=append
	EOF
'

test_expect_success '--stdin-commits: the first bad line is reported' '
	rm -rf lines.git && stock init -q --bare lines.git &&
	zero=$(printf "%040d" 0) &&
	for lines in "$zero\nnothing\n" "nothing\n$zero\n"
	do
		printf "$lines" | test_must_fail stock -C lines.git \
			commit-graph write --stdin-commits 2>expect &&
		printf "$lines" | test_must_fail git -C lines.git \
			commit-graph write --stdin-commits 2>err &&
		test_cmp expect err || return 1
	done
'

test_expect_success 'a ref whose object is damaged is skipped with a warning' '
	stock init -q -b main torn && stock -C torn commit -q --allow-empty -m a &&
	stock -C torn branch side && stock -C torn commit -q --allow-empty -m b &&
	file=$(stock -C torn rev-parse main | sed "s,^..,torn/.git/objects/&/,") &&
	chmod +w $file && echo rubbish >$file &&
	git -C torn commit-graph write --reachable 2>err &&
	grep "^warning: loose object .* is corrupt" err &&
	test -f torn/.git/objects/info/commit-graph &&
	stock -C torn commit-graph verify
'

test_expect_success 'and a repack is complete, but fails because info/refs stays' '
	rm torn/.git/HEAD && echo "ref: refs/heads/side" >torn/.git/HEAD &&
	test_expect_code 128 git -C torn repack -d --geometric=2 -q 2>err &&
	grep "^warning: loose object .* could not be examined" err &&
	test -s torn/.git/objects/info/packs &&
	git -C torn rev-parse side >expect &&
	stock -C torn rev-parse side >actual && test_cmp expect actual &&
	stock -C torn cat-file commit side &&
	find torn/.git/objects -name "??" -type d >dirs &&
	test_line_count 1 dirs
'

# The file has 34 bits of a date. The corrected date must be right nevertheless, or stock
# Git does not find ancestors of such a commit.
test_expect_success 'dates after the year 2514' '
	stock init -q --bare far.git &&
	tree=$(stock -C far.git mktree </dev/null) &&
	for date in 17179869190 4294967296000 9223372036854775807
	do
		parent= commit= &&
		for at in 1700000000 $date 1700000001
		do
			commit=$({
				printf "tree %s\n%s" $tree "$parent" &&
				printf "author A <a@b> 1 +0000\n" &&
				printf "committer A <a@b> %s +0000\n\nm\n" $at
			} | stock -C far.git hash-object -t commit -w --stdin) &&
			parent=$(printf "parent %s\n." $commit) &&
			parent=${parent%.} &&
			stock -C far.git update-ref refs/heads/$date-$at $commit ||
				return 1
		done || return 1
	done &&
	stock -C far.git for-each-ref --contains 17179869190-1700000000 >expect &&
	test_line_count 9 expect &&
	git -C far.git commit-graph write --reachable &&
	stock -C far.git for-each-ref --contains 17179869190-1700000000 >actual &&
	test_cmp expect actual &&
	test_must_fail git -C far.git commit-graph verify 2>err &&
	! grep generation err
'

test_done
