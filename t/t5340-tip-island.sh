#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='the tip island: depth-1 clones are sent as stored'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"

UP=--upload-pack=$GITREACH_BUILD/bin/git-upload-pack

# Files that lose lines, so that older versions are larger, and are bases.
shrinking () {
	for i in $(seq 1 40)
	do
		stream_commit main "$i" $((1112912000 + 60 * i)) \
			"dir$((i % 3))/file$((i % 8))" \
			"$(seq 1000 $((1400 - 5 * i)))"
	done
	stream_commit side 41 1112920000 other "$(seq 1 300)" 'from :20'
}

# crossing <repo> <rev>: how many bases outside a commit's tree its objects
# are stored as deltas against.
crossing () {
	stock -C "$1" rev-list --objects "$2^{tree}" | cut -d' ' -f1 |
		sort >tip &&
	stock -C "$1" verify-pack -v "$1"/objects/pack/*.idx |
		awk 'NF == 7 { print $1, $7 }' | sort >deltas &&
	join tip deltas | awk '{ print $2 }' | sort -u | comm -23 - tip |
		wc -l
}


test_expect_success 'setup' '
	shrinking | repo_import base.git &&
	stock -C base.git symbolic-ref HEAD refs/heads/main &&
	stock -C base.git repack -adfq
'

test_expect_success 'stock Git'"'"'s packs cross the edge of the tip' '
	repo=$PWD/base.git &&
	test $(crossing "$repo" HEAD) -gt 0
'

test_expect_success 'our repack keeps HEAD free of bases outside in a bare repository' '
	cp -R base.git tip.git &&
	"$GIT" -C tip.git repack -adbq &&
	repo=$PWD/tip.git &&
	test $(crossing "$repo" HEAD) = 0 &&
	stock -C tip.git fsck --full --strict &&
	stock -C tip.git rev-list --test-bitmap HEAD &&
	size=$(cat base.git/objects/pack/*.pack | wc -c) &&
	test $(cat tip.git/objects/pack/*.pack | wc -c) -lt \
		$((size + size / 10))
'

test_expect_success 'a repacked pack keeps its tip island' '
	"$GIT" -C tip.git repack -ad >out 2>err &&
	repo=$PWD/tip.git &&
	test $(crossing "$repo" HEAD) = 0
'

test_expect_success 'the tip moves: the next repack follows' '
	{
		echo "feature force" &&
		stream_commit main 1 1112990000 dir1/file1 \
			"$(seq 1000 1100)" "from refs/heads/main^0"
	} | stock -C tip.git fast-import --quiet --date-format=raw --force &&
	"$GIT" -C tip.git repack -adbq &&
	repo=$PWD/tip.git &&
	test $(crossing "$repo" HEAD) = 0 &&
	stock -C tip.git fsck --full --strict
'

test_expect_success 'repack.tipIsland names other tips, or none' '
	cp -R base.git side.git &&
	stock -C side.git config repack.tipIsland refs/heads/side &&
	"$GIT" -C side.git repack -adq &&
	repo=$PWD/side.git &&
	test $(crossing "$repo" side) = 0 &&
	test $(crossing "$repo" HEAD) -gt 0 &&
	cp -R base.git none.git &&
	stock -C none.git config repack.tipIsland false &&
	"$GIT" -C none.git repack -adq 2>err && ! test -s err &&
	repo=$PWD/none.git &&
	test $(crossing "$repo" HEAD) -gt 0 &&
	stock -C side.git config repack.tipIsland refs/heads/nosuch &&
	"$GIT" -C side.git repack -adq 2>err &&
	echo "warning: repack.tipIsland: no ref matches .refs/heads/nosuch." \
		>expect && grep -f expect err && test_line_count 1 err &&
	stock -C side.git config --add repack.tipIsland false &&
	"$GIT" -C side.git repack -adq 2>err && ! test -s err
'

test_expect_success 'a repository with a work tree has no such island' '
	stock clone -q base.git checkout &&
	stock -C checkout repack -adfq &&
	"$GIT" -C checkout repack -adq &&
	repo=$PWD/checkout/.git &&
	test $(crossing "$repo" HEAD) -gt 0
'

test_expect_success 'a depth-1 clone is copied, nothing is deflated' '
	rm -rf c &&
	stock_client clone --progress --bare --depth 1 "$UP" \
		"file://$PWD/tip.git" c 2>err &&
	test_served_by_us &&
	nr=$(stock -C c rev-list --objects HEAD | wc -l) &&
	tr "\r" "\n" <err | grep "Total $nr .*pack-reused $nr" &&
	stock -C c fsck --full --strict
'

test_expect_success 'a depth-1 clone is copied without a bitmap index' '
	rm -f tip.git/objects/pack/*.bitmap &&
	rm -rf c &&
	stock clone --progress --bare --depth 1 "$UP" \
		"file://$PWD/tip.git" c 2>err &&
	tr "\r" "\n" <err | grep "Total $nr .*pack-reused $nr" &&
	stock -C c fsck --full --strict
'

# copied <repo> <number>: that a clone of what is asked for on standard input,
# in requests of version 2, was that many objects, all copied in spans.
copied () {
	rm -f events &&
	{
		pkt "command=fetch" && printf 0001 && pkt ofs-delta &&
		pkt include-tag && cat && pkt done && printf 0000
	} >request &&
	GIT_TRACE2_EVENT=$PWD/events GIT_PROTOCOL=version=2 \
		"$GIT" upload-pack --stateless-rpc "$1" <request >/dev/null &&
	grep "\"objects_sent\":$2,\"objects_reused_in_spans\":$2," events
}

wants () {
	sed "s/^/want /" | sort -u | while read -r line
	do
		pkt "$line"
	done
}

# Branches that take turns in changing the same files.
taking_turns () {
	for i in $(seq 1 30)
	do
		nr=0
		for branch in main next pull
		do
			nr=$((nr + 1))
			stream_commit $branch $((3 * i + nr)) \
				$((1112912000 + 60 * i)) "file$((i % 4))" \
				"$(seq $((7 * i)) $((300 + 9 * i)); echo $nr)"
		done
	done
}

test_expect_success 'clones with history are copied as well' '
	taking_turns | repo_import layers.git &&
	stock -C layers.git symbolic-ref HEAD refs/heads/main &&
	stock -C layers.git update-ref refs/pull/1/head pull &&
	stock -C layers.git update-ref -d refs/heads/pull &&
	stock -C layers.git tag -a -m one one main~3 &&
	stock -C layers.git tag -a -m two two next~3 &&
	stock -C layers.git tag light refs/pull/1/head~5 &&
	stock -C layers.git -c repack.writeBitmaps=false repack -adfq &&
	cp -R layers.git none.git &&
	"$GIT" -C layers.git repack -adbq &&
	stock -C layers.git fsck --full --strict &&
	stock -C layers.git rev-parse main | wants >one-branch &&
	nr=$(stock -C layers.git rev-list --objects main one | wc -l) &&
	copied layers.git $nr <one-branch &&
	stock -C layers.git for-each-ref --format="%(objectname)" refs/heads \
		refs/tags | wants >branches &&
	nr=$(stock -C layers.git rev-list --objects --branches --tags |
		wc -l) &&
	copied layers.git $nr <branches
'

test_expect_success 'which they are not from any pack' '
	stock -C none.git config repack.tipIsland false &&
	"$GIT" -C none.git repack -adbq &&
	nr=$(stock -C none.git rev-list --objects main one | wc -l) &&
	! copied none.git $nr <one-branch
'

test_expect_success 'a fetch gets deltas of objects that are stored whole' '
	stock -C tip.git config uploadpack.allowAnySHA1InWant true &&
	old=$(stock -C tip.git rev-parse main~1) &&
	stock init -q --bare f.git &&
	stock -C f.git fetch -q "$UP" "file://$PWD/tip.git" $old:refs/heads/old &&
	printf "%s\n--not\n%s\n" $(stock -C tip.git rev-parse main) $old |
		"$GIT" -C tip.git pack-objects --revs --thin --stdout -q \
			--delta-base-offset >thin &&
	test $(wc -c <thin) -lt 1000 &&
	stock -C f.git fetch -q "$UP" "file://$PWD/tip.git" main &&
	stock -C f.git fsck --full --strict
'

# how_sent <repo>: whether the file "small" of main is sent to a client with
# main^ as a delta or whole.
how_sent () {
	rm -rf client.git && stock init -q --bare client.git &&
	stock -C client.git fetch -q "file://$PWD/$1" \
		$(stock -C "$1" rev-parse main^):refs/heads/old &&
	stock -C "$1" rev-parse main ^main^ |
		"$GIT" -C "$1" pack-objects --revs --thin --stdout -q \
			--delta-base-offset |
		stock -C client.git index-pack --fix-thin --stdin >/dev/null &&
	id=$(stock -C "$1" rev-parse main:small) &&
	stock verify-pack -v client.git/objects/pack/*.idx |
		awk -v id="$id" '$1 == id { print NF == 7 ? "delta" : "whole" }'
}

test_expect_success 'a small file of a large fetch is copied, not made a delta' '
	{
		stream_commit main 1 1112990000 small "$(seq 1000 1400)" &&
		stream_commit main 2 1112990060 small "$(seq 1001 1400)"
	} | repo_import large.git &&
	stock -C large.git symbolic-ref HEAD refs/heads/main &&
	"$GIT" -C large.git -c repack.keptDeltas=0 repack -adbq &&
	test "$(how_sent large.git)" = delta &&
	{
		stream_commit main 3 1112990120 small "$(seq 1002 1400)" \
			"from refs/heads/main^0" &&
		awk "BEGIN {
			srand(1)
			print \"M 100644 inline big\"
			print \"data 500000\"
			while (nr++ < 50000)
				printf \"%.8f\", rand()
			print \"\"
		}"
	} | stock -C large.git fast-import --quiet --date-format=raw &&
	"$GIT" -C large.git -c repack.keptDeltas=0 repack -adbq &&
	test "$(how_sent large.git)" = whole &&
	stock -C client.git fsck --full --strict
'

test_expect_success 'deepening and unshallowing a clone of depth 1' '
	stock -C c fetch -q "$UP" --depth 5 origin main &&
	stock -C c fsck --full --strict &&
	stock -C c fetch -q "$UP" --unshallow origin main &&
	stock -C c fsck --full --strict &&
	stock -C tip.git rev-list --objects main | sort >expect &&
	stock -C c rev-list --objects main | sort >actual &&
	test_cmp expect actual
'

# similar: a stream of 30 commits with tags v0 to v29. Each commit changes a file
# in each of 40 directories. All versions of all files are similar.
similar () {
	awk 'BEGIN {
		srand(5)
		for (l = 0; l < 150; l++)
			first = first sprintf("%.10f %.10f\n", rand(), rand())
		for (d = 0; d < 40; d++)
			text[d] = first d "\n"
		for (c = 0; c < 30; c++) {
			print "commit refs/heads/main"
			print "committer A <a@example.com> " 1112912000 + c " +0000"
			print "data 0"
			for (d = 0; d < 40; d++) {
				sub(/\n[^\n]*\n$/, "\n", text[d])
				text[d] = "c" c d "\n" text[d]
				print "M 100644 inline dir" d "/data.json"
				print "data " length(text[d])
				print text[d]
			}
			print "reset refs/tags/v" c
			print "from refs/heads/main"
			print ""
		}
	}'
}

# depth_1_bytes <repo> <tag> <upload-pack>: the bytes of the pack of a clone of
# depth 1 of a tag.
depth_1_bytes () {
	rm -rf c &&
	stock clone -q --bare --depth 1 --branch "$2" --upload-pack "$3" \
		"file://$PWD/$1" c &&
	stock -C c fsck --full --strict &&
	cat c/objects/pack/*.pack | wc -c
}

test_expect_success 'similar files of a clone of depth 1 are sent as deltas' '
	similar | repo_import stock-similar.git &&
	stock -C stock-similar.git symbolic-ref HEAD refs/heads/main &&
	cp -R stock-similar.git similar.git &&
	stock -C stock-similar.git repack -adfbq &&
	"$GIT" -C similar.git repack -adfbq &&
	for tag in v0 v15 v29
	do
		theirs=$(depth_1_bytes stock-similar.git $tag \
			git-upload-pack) &&
		ours=$(depth_1_bytes similar.git $tag \
			"$GITREACH_BUILD/bin/git-upload-pack") &&
		test $((100 * ours)) -le $((105 * theirs)) || return 1
	done
'

test_done
