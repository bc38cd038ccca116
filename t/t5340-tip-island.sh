#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='the tip island: depth-1 clones are sent as stored'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"

UP=--upload-pack=$GITREACH_BUILD/bin/git-upload-pack

# Files that lose lines, so that older versions are larger, and are bases.
shrinking () {
	for i in $(test_seq 1 40)
	do
		stream_commit main "$i" $((1112912000 + 60 * i)) \
			"dir$((i % 3))/file$((i % 8))" \
			"$(seq 1000 $((1400 - 5 * i)))"
	done
	stream_commit side 41 1112920000 other "$(test_seq 1 300)" 'from :20'
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

test_expect_success 'ours do not, of what HEAD names in a bare repository' '
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

test_expect_success 'a pack laid out so stays so' '
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

test_expect_success 'other tips, and none' '
	cp -R base.git side.git &&
	stock -C side.git config repack.tipIsland refs/heads/side &&
	"$GIT" -C side.git repack -adq &&
	repo=$PWD/side.git &&
	test $(crossing "$repo" side) = 0 &&
	test $(crossing "$repo" HEAD) -gt 0 &&
	cp -R base.git none.git &&
	stock -C none.git config repack.tipIsland false &&
	"$GIT" -C none.git repack -adq &&
	repo=$PWD/none.git &&
	test $(crossing "$repo" HEAD) -gt 0
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

test_expect_success 'where there is no bitmap index too' '
	rm -f tip.git/objects/pack/*.bitmap &&
	rm -rf c &&
	stock clone --progress --bare --depth 1 "$UP" \
		"file://$PWD/tip.git" c 2>err &&
	tr "\r" "\n" <err | grep "Total $nr .*pack-reused $nr" &&
	stock -C c fsck --full --strict
'

test_expect_success 'a fetch gets deltas of what is stored whole' '
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

test_expect_success 'deepening and unshallowing such a clone' '
	stock -C c fetch -q "$UP" --depth 5 origin main &&
	stock -C c fsck --full --strict &&
	stock -C c fetch -q "$UP" --unshallow origin main &&
	stock -C c fsck --full --strict &&
	stock -C tip.git rev-list --objects main | sort >expect &&
	stock -C c rev-list --objects main | sort >actual &&
	test_cmp expect actual
'

test_done
