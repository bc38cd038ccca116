#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='fetches into shallow clones: no more bytes than need be'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
UP=--upload-pack=$GITREACH_BUILD/bin/git-upload-pack

# answer_to <repository> <want> <have> <depth>: of a client that has a commit.
answer_to () {
	pkt command=fetch agent=test object-format=sha1 D thin-pack ofs-delta \
		no-progress "want $2" "shallow $3" "deepen $4" "have $3" \
		done F >request &&
	GIT_PROTOCOL=version=2 git upload-pack --stateless-rpc "$1" \
		<request >answer &&
	test $(wc -c <answer) -gt 1000
}

# version <i> <nr>: in a stream, file <i> of those that are made below, with a
# line of its own for this version.
version () {
	echo "M 100644 inline dir/$1" &&
	echo "data 100002" &&
	cat text.$1 &&
	echo &&
	echo $2
}

# 70 files that do not deflate well, 100,000 bytes each, one line of each new.
test_expect_success 'a repository in which every file has changed a bit' '
	for i in $(seq 1 70)
	do
		head -c 75000 /dev/urandom | base64 -w 0 >text.$i || return 1
	done &&
	{
		echo "commit refs/heads/main" &&
		echo "committer A <a@example.com> 0 +0000" &&
		echo "data 0"
	} >stream &&
	for mark in 1 2
	do
		echo "commit refs/heads/main" &&
		echo "committer A <a@example.com> $mark +0000" &&
		echo "data 0" &&
		for i in $(seq 1 70)
		do
			version $i $mark || return 1
		done
	done >>stream &&
	repo_import server.git <stream &&
	git -C server.git repack -adbq &&
	old=$(stock -C server.git rev-parse main~1) &&
	new=$(stock -C server.git rev-parse main)
'

test_expect_success 'the next commit of depth 1 sends deltas of all changed files' '
	answer_to server.git $new $old 1 &&
	test $(wc -c <answer) -lt 100000
'

test_expect_success 'a client can apply the pack of the next commit' '
	stock -C server.git branch old $old &&
	stock clone -q --bare --depth 1 -b old $UP "file://$PWD/server.git" \
		client.git &&
	stock -C client.git fetch -q --depth 1 $UP origin main:main &&
	stock -C client.git fsck --full --strict &&
	test "$(stock -C client.git rev-parse main)" = $new
'

# What a pack stores whole is the older one, where the newer was pushed.
test_expect_success 'two commits deeper: deltas too' '
	stock init -q --bare pushed.git &&
	for branch in old main
	do
		stock -C pushed.git -c fetch.unpackLimit=1 fetch -q \
			../server.git $branch:$branch || return 1
	done &&
	answer_to pushed.git $new $new 3 &&
	test $(wc -c <answer) -lt 100000 &&
	stock clone -q --bare --depth 1 $UP "file://$PWD/pushed.git" \
		-b main deep.git &&
	stock -C deep.git fetch -q --depth 3 $UP origin main &&
	stock -C deep.git fsck --full --strict &&
	test $(stock -C deep.git rev-list --count main) = 3
'

# Three branches with a file of 100,000 bytes each, in two versions of which the
# first is stored whole and the second was pushed; their merge has none of them.
test_expect_success 'a merge is sent as deltas of both branches' '
	for mark in 1 2
	do
		for i in $(seq 1 3)
		do
			echo "commit refs/heads/v$mark-$i" &&
			echo "committer A <a@example.com> $mark$i +0000" &&
			echo "data 0" &&
			if test $mark = 2
			then
				echo "from refs/heads/v1-$i"
			fi &&
			version $i $mark || return 1
		done
	done >stream &&
	{
		echo "commit refs/heads/main" &&
		echo "committer A <a@example.com> 31 +0000" &&
		echo "data 0" &&
		for i in $(seq 1 3)
		do
			echo "merge refs/heads/v2-$i" || return 1
		done &&
		echo "M 100644 inline README" &&
		echo "data 0"
	} >>stream &&
	repo_import all.git <stream &&
	stock init -q --bare merged.git &&
	for refs in "refs/heads/v1-*:refs/heads/v1-*" main:main
	do
		stock -C merged.git -c fetch.unpackLimit=1 fetch -q \
			../all.git "$refs" || return 1
	done &&
	stock clone -q --bare --depth 2 $UP "file://$PWD/merged.git" \
		-b main edges.git &&
	GIT_TRACE_PACKFILE=$PWD/sent stock -C edges.git fetch -q --deepen 1 \
		$UP origin main &&
	stock -C edges.git fsck --full --strict &&
	test $(stock -C edges.git rev-list --count main) = 7 &&
	test $(wc -c <sent) -lt 20000
'

# A merge of an old side and a new one, newest first: tip, merge, side, older; the
# other side and the root are from before.
test_expect_success '--shallow-since at a merge: no shallow commit is missing' '
	stock init -q --bare merge.git &&
	{
		stream_commit main 1 1500000000 f root &&
		stream_commit other 2 1500000100 g other "from :1" &&
		stream_commit main 3 1500001000 f older "from :1" &&
		stream_commit main 4 1500001100 f side "from :3" &&
		stream_commit main 5 1500001200 f merge "from :4" "merge :2" &&
		stream_commit main 6 1500001300 f tip "from :5"
	} | stock -C merge.git fast-import --quiet --date-format=raw &&
	merge=$(stock -C merge.git rev-parse main~1) &&
	for cut in --shallow-since=1500000500 --shallow-exclude=other
	do
		rm -rf client.git &&
		stock clone -q --bare $cut $UP "file://$PWD/merge.git" \
			client.git &&
		echo $merge >expect &&
		test_cmp expect client.git/shallow &&
		for version in 0 2
		do
			rm -rf whole.git && cp -R client.git whole.git &&
			stock -C whole.git -c protocol.version=$version fetch \
				-q --unshallow $UP origin main:main &&
			test $(stock -C whole.git rev-list --count main) = 6 &&
			stock -C whole.git fsck || return 1
		done
	done
'

test_expect_success '--shallow-since=1970-01-01 gives all commits' '
	for version in 0 2
	do
		rm -rf whole.git && cp -R client.git whole.git &&
		stock -C whole.git -c protocol.version=$version fetch -q \
			--shallow-since=1970-01-01T00:00:00Z $UP \
			origin main:main &&
		test $(stock -C whole.git rev-list --count main) = 6 &&
		! test -e whole.git/shallow &&
		stock -C whole.git fsck || return
	done
'

# One side of the merge has 3 commits, the other 40. The commit of the boundary
# that is nearest to the tip decides, as in stock Git 2.55: --deepen=3 of a clone
# of depth 3 is one of depth 6, however long the sides are.
test_expect_success '--deepen counts from the wants' '
	{
		stream_commit main 1 1500000001 f 1 &&
		for i in $(seq 2 40)
		do
			stream_commit main $i $((1500000000 + i)) f $i \
				"from :$((i - 1))" || return 1
		done &&
		stream_commit side 41 1500000041 g 1 "from :1" &&
		stream_commit side 42 1500000042 g 2 "from :41" &&
		stream_commit side 43 1500000043 g 3 "from :42" &&
		stream_commit main 44 1500000044 f 44 "from :40" "merge :43"
	} | repo_import sides.git &&
	stock -C sides.git symbolic-ref HEAD refs/heads/main &&
	for version in 0 1 2
	do
		rm -rf deep.git &&
		stock_client -v$version clone -q --bare --depth 3 $UP \
			"file://$PWD/sides.git" deep.git &&
		for depth in 4 5 7 17
		do
			rm -rf at.git &&
			stock clone -q --bare --depth $depth \
				"file://$PWD/sides.git" at.git &&
			more=$((depth - $(cat depth.was 2>/dev/null ||
				echo 3))) &&
			stock_client -v$version -C deep.git fetch -q \
				--deepen $more $UP origin main:main &&
			test_served_by_us &&
			sort at.git/shallow >expect &&
			sort deep.git/shallow >actual &&
			test_cmp expect actual &&
			stock -C at.git rev-list main >expect &&
			stock -C deep.git rev-list main >actual &&
			test_cmp expect actual &&
			echo $depth >depth.was || return 1
		done &&
		rm depth.was || return 1
	done
'

# The boundary of `other` moves only when `other` is fetched.
test_expect_success '--deepen keeps history that the wants do not reach' '
	stream_commit other 1 1 f 1 >stream &&
	stream_commit other 2 2 f 2 "from :1" >>stream &&
	stock -C sides.git fast-import --quiet --date-format=raw <stream &&
	rm -rf deep.git &&
	stock clone -q --bare --depth 1 --no-single-branch $UP \
		"file://$PWD/sides.git" deep.git &&
	stock -C sides.git rev-parse other main~1 main^2 | sort >expect &&
	stock_client -C deep.git fetch -q --deepen 1 $UP origin main &&
	test_served_by_us &&
	sort deep.git/shallow >actual &&
	test_cmp expect actual
'

# Stock Git since 2.55; before, the history was cut.
test_expect_success '--deepen in a complete clone does nothing' '
	rm -rf deep.git &&
	stock clone -q --bare "file://$PWD/sides.git" deep.git &&
	for version in 0 2
	do
		stock_client -v$version -C deep.git fetch -q --deepen 1 $UP \
			origin main:main &&
		test_served_by_us && ! test -s deep.git/shallow &&
		test $(stock -C deep.git rev-list --count main) = 44 ||
			return 1
	done
'

test_done
