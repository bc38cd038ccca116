#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='fork networks: repacking the store; members that go'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-islands.sh"
. "$GITREACH_SRC/t/lib-meanwhile.sh"

stock_whole () {
	for repo in "$@"
	do
		stock -C "$repo" fsck --full --strict --no-dangling \
			>fsck.out 2>&1 || {
			echo "$repo:" && cat fsck.out
			return 1
		}
	done
}

# grow <repo> <salt> <nr>: commits on main that change the same files
grow () {
	stock -C "$1" fast-export refs/heads/main >"/dev/null" &&
	for i in $(seq 1 $3)
	do
		from=
		test $i != 1 || from="from refs/heads/main^0"
		stream_commit main $(($2 * 100 + i)) \
			$((1113000000 + 600 * i + $2)) "dir$((i % 3))/file$i" \
			"$(seq $((i * 7)) $((i * 7 + 250)); echo "fork $2")" \
			${from:+"$from"}
	done | stock -C "$1" fast-import --quiet --date-format=raw
}

own_nr () {
	stock -C "$1" count-objects -v |
		sed -n "s/^count: //p; s/^in-pack: //p" | paste -sd+ | bc
}

FORKS='1 2 3 4 5'

test_expect_success 'a network of forks that went different ways' '
	repo_linear root.git 40 &&
	stock -C root.git repack -adq &&
	"$GIT" network init -q store.git &&
	"$GIT" -C store.git network add -q ../root.git &&
	for f in $FORKS
	do
		"$GIT" network fork -q root.git f$f.git &&
		grow f$f.git $f 12 || return
	done &&
	for r in root.git f*.git
	do
		repo_objects $r >$r.objects || return
	done
'

test_expect_success 'deltas are searched by path, but do not cross islands' '
	mkdir paths &&
	cp -R store.git root.git f*.git paths &&
	(
		cd paths &&
		"$GIT" -C store.git config pack.usePathWalk true &&
		"$GIT" -C store.git network repack -q &&
		"$GIT" -C store.git network verify >out &&
		grep "^crossing-deltas=0$" out &&
		stock_whole store.git root.git f*.git &&
		for f in $FORKS
		do
			repo_objects f$f.git >now &&
			test_cmp ../f$f.git.objects now || return
		done &&
		"$GIT" -C store.git config --unset extensions.preciousObjects &&
		"$GIT" -C store.git repack -adfq --path-walk \
			--no-delta-islands &&
		"$GIT" -C store.git config extensions.preciousObjects true &&
		"$GIT" -C store.git network verify >out &&
		! grep "^crossing-deltas=0$" out
	) &&
	rm -rf paths
'

test_expect_success 'repack: all in one pack, bitmaps, members empty' '
	"$GIT" -C store.git network repack >out 2>err &&
	grep "^6 members, .* 0 objects that no member reaches" out &&
	ls store.git/objects/pack/*.bitmap &&
	test $(ls store.git/objects/pack/*.pack | wc -l) = 1 &&
	for r in root.git f*.git
	do
		test $(own_nr $r) = 0 &&
		repo_objects $r >now &&
		test_cmp $r.objects now &&
		stock_whole $r || return
	done &&
	stock_whole store.git &&
	"$GIT" -C store.git bitmap verify
'

test_expect_success 'clones of members are copied' '
	for r in root.git f*.git
	do
		test $(recompressed $r) = 0 || return
	done
'

# Clones of HEAD's branch by clients, with more options: nothing is deflated.
copied () {
	repo=$1 && shift &&
	rm -rf c &&
	stock clone --progress --bare --single-branch "$@" \
		--upload-pack="$GITREACH_BUILD/bin/git-upload-pack" \
		"file://$PWD/$repo" c 2>err &&
	nr=$(stock -C c rev-list --objects HEAD | wc -l) &&
	tr "\r" "\n" <err | sed -n "s/.*Total \([0-9]*\) .*), reused \([0-9]*\) .*pack-reused \([0-9]*\).*/\1 \2 \3/p" >total &&
	read sent reused packed <total &&
	test $sent = $nr && test $((reused + packed)) = $nr
}

test_expect_success 'clones of HEADs are copied, with and without history' '
	for r in root.git f*.git
	do
		copied $r && copied $r --depth 1 || return
	done &&
	"$GIT" -C store.git network verify >out &&
	grep "^crossing-deltas=0$" out
'

test_expect_success 'without history, they are prepared' '
	"$GIT" -C store.git bitmap verify >out &&
	grep "^verified=6 of=6 path=.*objects/info/prepared" out &&
	for r in root.git f*.git
	do
		rm -f events &&
		GIT_TRACE2_EVENT=$PWD/events copied $r --depth 1 --no-tags &&
		grep "\"strategy\":\"prepared\"" events || return
	done
'

test_expect_success 'repack.tipIsland replaces the chosen HEADs' '
	cp -R store.git tip.git &&
	cp -R root.git theirs.git &&
	echo "$PWD/tip.git/objects" >theirs.git/objects/info/alternates &&
	printf "# gitreach network 1\nnext 2\nmember 1 %s\n" \
		"$PWD/theirs.git" >tip.git/network/members &&
	stock -C tip.git config extensions.preciousObjects false &&
	stream_commit main 41 1113000000 dir1/file1 "$(seq 1 19)" \
		"from refs/heads/main^0" |
		stock -C theirs.git fast-import --quiet --date-format=raw &&
	stock -C theirs.git -c pack.threads=1 repack -adfq &&
	for value in false refs/virtual/1/heads/
	do
		stock -C tip.git config repack.tipIsland $value &&
		"$GIT" -C tip.git network repack -q || return
		copied theirs.git --depth 1 && echo yes || echo no
	done >actual &&
	printf "no\nyes\n" | test_cmp - actual
'

test_expect_success 'verify and stats' '
	cat >expect <<-EOF &&
	members=6
	pending=0
	objects=$(repo_objects store.git | wc -l)
	unsynced-objects=0
	crossing-deltas=0
	EOF
	"$GIT" -C root.git network verify >out &&
	test_cmp expect out &&
	"$GIT" -C store.git network stats >out &&
	test_line_count 6 out &&
	! grep -v " recompressed-objects=0 bitmap=yes$" out &&
	sed -n "s/^member=3 objects=\([0-9]*\) .*/\1/p" out >nr &&
	wc -l <f2.git.objects >expect &&
	test_cmp expect nr &&
	bytes=$(stock -C f2.git for-each-ref --format="%(objectname)" |
		"$GIT" -C f2.git pack-objects --revs --stdout -q \
		--delta-base-offset | wc -c) &&
	"$GIT" -C f2.git network stats ../f2.git >out &&
	grep " verbatim-bytes=$((bytes - 32)) " out &&
	"$GIT" -C store.git network stats --json >json &&
	python3 -c "
import json, sys
for m in json.load(sys.stdin):
    m[\"bitmap\"] = \"yes\" if m[\"bitmap\"] else \"no\"
    print(*(f\"{key}={value}\" for key, value in m.items()))
" <json >from-json &&
	"$GIT" -C store.git network stats >expect &&
	test_cmp expect from-json
'

test_expect_success 'stats --total: what the network saves' '
	"$GIT" -C store.git network stats >out &&
	clones=$(sed "s/.*verbatim-bytes=\([0-9]*\).*/\1/" out |
		paste -sd+ | bc) &&
	stored=$(cat store.git/objects/pack/*.pack | wc -c) &&
	test $stored -lt $((clones / 2)) &&
	echo "members=6 clone-bytes=$clones stored-bytes=$stored" \
		"saved-bytes=$((clones - stored))" >expect &&
	"$GIT" -C f3.git network stats --total >out &&
	test_cmp expect out &&
	"$GIT" -C store.git network stats --json --total >json &&
	python3 -c "
import json, sys
print(*(f\"{key}={value}\" for key, value in json.load(sys.stdin).items()))
" <json >out &&
	test_cmp expect out &&
	test_expect_code 129 "$GIT" -C store.git network stats --total 1 &&
	"$GIT" network init -q lone.git &&
	repo_linear single.git 9 && stock -C single.git repack -adq &&
	"$GIT" -C lone.git network add -q ../single.git &&
	"$GIT" -C lone.git network stats --total >out &&
	pack=$(cat single.git/objects/pack/*.pack | wc -c) &&
	grep " stored-bytes=$((pack * 2)) saved-bytes=-[0-9]*$" out &&
	mv single.git away.git &&
	test_expect_code 1 "$GIT" -C lone.git network stats --total >out &&
	test_must_be_empty out &&
	rm -rf lone.git away.git
'

# store_size: bytes of the packs of bad/store.git
store_size () {
	cat bad/store.git/objects/pack/*.pack | wc -c
}

# bad_repack <option>...: clones of all members are copies of stored bytes
bad_repack () {
	"$GIT" -C bad/store.git network repack -q "$@" &&
	"$GIT" -C bad/store.git network verify >out &&
	grep "^crossing-deltas=0$" out &&
	"$GIT" -C bad/store.git network stats >out &&
	test_line_count 6 out &&
	! grep -v " recompressed-objects=0 bitmap=yes$" out
}

# longest_chain: of the deltas in the packs of bad/store.git
longest_chain () {
	stock verify-pack -v bad/store.git/objects/pack/*.idx |
		awk "NF == 7 && \$6 > most { most = \$6 } END { print most + 0 }"
}

test_expect_success 'repack -f searches all deltas again, within the islands' '
	mkdir bad &&
	cp -R store.git root.git f*.git bad &&
	bad_repack -f --window=0 &&
	test $(longest_chain) = 0 &&
	whole=$(store_size) &&
	bad_repack &&
	test $(store_size) = $whole &&
	bad_repack -f --depth=2 &&
	test $(longest_chain) = 2 &&
	bad_repack -f &&
	test $(longest_chain) -gt 2 &&
	test $(store_size) -lt $((whole * 4 / 5)) &&
	for r in root.git f*.git
	do
		repo_objects bad/$r >now &&
		test_cmp $r.objects now || return
	done &&
	stock_whole bad/store.git
'

test_expect_success 'repack -F also compresses all objects again' '
	"$GIT" -C bad/store.git config pack.compression 0 &&
	old=$(store_size) &&
	bad_repack -f &&
	test $(store_size) -lt $((old * 5 / 4)) &&
	bad_repack -F &&
	test $(store_size) -gt $((old * 5 / 4)) &&
	rm -rf bad
'

test_expect_success 'verify finds deltas that cross islands' '
	cp -R store.git islands.git &&
	stock -C islands.git config --unset extensions.preciousObjects &&
	"$GIT" -C islands.git repack -adfq --no-delta-islands &&
	stock -C islands.git config extensions.preciousObjects true &&
	rm islands.git/network/members &&
	printf "# gitreach network 1\nnext 1\n" >islands.git/network/members &&
	"$GIT" -C islands.git network verify >out &&
	sed -n "s/^crossing-deltas=//p" out >nr &&
	test $(cat nr) -gt 0
'

test_expect_success 'verify finds a member with missing objects' '
	stock -C f5.git config --unset core.alternateRefsPrefixes &&
	test_expect_code 1 "$GIT" -C store.git network verify 2>err >out &&
	grep "^error: member 6: core.alternateRefsPrefixes" err &&
	stock -C f5.git config core.alternateRefsPrefixes refs/virtual/6/ &&
	cp -R store.git/objects/pack pack &&
	rm store.git/objects/pack/* &&
	test_expect_code 1 "$GIT" -C store.git network verify 2>err >out &&
	grep "^error: store: " err &&
	grep "^error: member 6: " err &&
	cp pack/* store.git/objects/pack/ &&
	"$GIT" -C store.git network verify >out
'

test_expect_success 'a clone and a push of a member, by stock Git' '
	stock clone -q --no-local f2.git work &&
	(
		cd work &&
		echo pushed >pushed && stock add . && test_tick &&
		stock commit -q -m pushed && stock push -q
	) &&
	test $(own_nr f2.git) = 3 &&
	stock_whole f2.git &&
	"$GIT" -C f2.git network repack -q --keep-members &&
	test $(own_nr f2.git) = 3 &&
	stock -C store.git cat-file -e $(stock -C f2.git rev-parse main) &&
	"$GIT" -C f2.git network repack -q &&
	test $(own_nr f2.git) = 0 &&
	stock_whole f2.git store.git
'

test_expect_success 'objects that only the member has stay in the member' '
	blob=$(echo unreachable | stock -C f3.git hash-object -w --stdin) &&
	stock -C f3.git cat-file -e $blob &&
	pack=$(echo $blob | stock -C f3.git pack-objects -q \
		objects/pack/pack) &&
	stock -C f3.git prune-packed &&
	grow f3.git 33 2 &&
	stock -C f3.git repack -q &&
	"$GIT" -C store.git network repack -q &&
	stock -C f3.git cat-file -e $blob &&
	! stock -C store.git cat-file -e $blob &&
	test $(own_nr f3.git) = 1
'

test_expect_success 'delete: forks of a deleted member lose nothing' '
	"$GIT" network fork -q f1.git g1.git &&
	repo_objects g1.git >g1.objects &&
	tip=$(stock -C f4.git rev-parse main) &&
	stock -C f4.git commit-graph write --reachable &&
	"$GIT" -C store.git network delete ../f1.git ../f4.git >out &&
	cat >expect <<-\EOF &&
	member 2 deleted
	member 5 deleted
	EOF
	test_cmp expect out &&
	! test -e f1.git && ! test -e f4.git &&
	! stock -C store.git show-ref | grep refs/virtual/2/ &&
	! stock -C store.git show-ref | grep refs/virtual/5/ &&
	stock -C store.git cat-file -e $tip &&
	stock_whole g1.git root.git f2.git &&
	"$GIT" -C store.git network repack -q &&
	stock -C store.git cat-file -e $tip &&
	"$GIT" -C store.git network repack -q --prune &&
	stock -C store.git cat-file -e $tip &&
	"$GIT" -C store.git network repack -q --prune=now &&
	! stock -C store.git cat-file -e $tip &&
	repo_objects g1.git >now &&
	test_cmp g1.objects now &&
	stock_whole store.git g1.git root.git f2.git f3.git f5.git
'

test_expect_success 'objects that only an unsynced fork names are not pruned' '
	"$GIT" network fork -q f5.git g5.git &&
	repo_objects g5.git >g5.objects &&
	"$GIT" -C store.git network delete -q ../f5.git &&
	"$GIT" -C store.git network repack -q --prune=now &&
	repo_objects g5.git >now &&
	test_cmp g5.objects now &&
	stock_whole g5.git store.git
'

test_expect_success 'stock Git removes nothing from the store' '
	loose=$(echo loose | stock -C store.git hash-object -w --stdin) &&
	test_must_fail stock -C store.git prune &&
	test_must_fail stock -C store.git repack -adq &&
	test_must_fail "$GIT" -C store.git repack -adq &&
	stock -C store.git gc -q --prune=now &&
	stock -C store.git cat-file -e $loose &&
	stock_whole store.git g5.git &&
	"$GIT" -C store.git network repack -q --prune=now
'

test_expect_success 'a commit-graph does not name pruned commits' '
	grow g5.git 7 3 &&
	old=$(stock -C g5.git rev-parse main) &&
	"$GIT" -C store.git network repack -q --prune=now &&
	stock -C g5.git commit-graph write --reachable &&
	"$GIT" -C store.git network repack -q --prune=now --keep-members &&
	test -e g5.git/objects/info/commit-graph &&
	stock -C g5.git update-ref refs/heads/main main~1 &&
	"$GIT" -C store.git network repack -q --prune=now --keep-members &&
	! test -e g5.git/objects/info/commit-graph &&
	! stock -C g5.git cat-file -e $old &&
	stock_whole g5.git store.git
'

# Nobody reads it as long as there is one, but then they do.
test_expect_success 'a commit-graph does not name a pruned commit that a replace ref hid' '
	grow g5.git 10 3 &&
	old=$(stock -C g5.git rev-parse main) &&
	"$GIT" -C store.git network repack -q &&
	stock -C g5.git commit-graph write --reachable &&
	stock -C g5.git update-ref refs/heads/main main~1 &&
	stock -C g5.git replace main~1 main~2 &&
	"$GIT" -C store.git network repack -q --prune=now --keep-members &&
	! stock -C g5.git cat-file -e $old &&
	! test -e g5.git/objects/info/commit-graph &&
	stock -C g5.git replace -d main~1 &&
	stock_whole g5.git store.git
'

test_expect_success 'the store has a commit-graph, unless it is configured to have none' '
	chain=store.git/objects/info/commit-graphs/commit-graph-chain &&
	test -e $chain &&
	stock -C store.git commit-graph verify &&
	! test -e root.git/objects/info/commit-graph &&
	stock -C store.git config gc.writeCommitGraph false &&
	rm -r store.git/objects/info/commit-graphs &&
	"$GIT" -C store.git network repack -q &&
	! test -e $chain &&
	stock -C store.git config gc.writeCommitGraph true &&
	stock -C store.git config core.commitGraph false &&
	"$GIT" -C store.git network repack -q &&
	! test -e $chain &&
	stock -C store.git config --unset core.commitGraph &&
	"$GIT" -C store.git network repack -q &&
	test -e $chain
'

# A commit of a member, and one on it, that are in the store alone.
forgotten () {
	"$GIT" -C store.git network repack -q &&
	grow g5.git $1 3 &&
	old=$(stock -C g5.git rev-parse main) &&
	"$GIT" -C store.git network repack -q &&
	stock -C g5.git update-ref refs/heads/main main~3 &&
	rm -rf g5.git/logs &&
	"$GIT" -C store.git network sync -q ../g5.git
}

# push_meanwhile <command>: run it in g5.git in the midst of a repack that
# prunes.
push_meanwhile () {
	{
		echo "cd \"$PWD/g5.git\"" &&
		echo "$1"
	} >push &&
	stock -C store.git config gc.recentObjectsHook "sh \"$PWD/push\"" &&
	"$GIT" -C store.git network repack -q --prune=now &&
	stock -C store.git config --unset gc.recentObjectsHook
}

test_expect_success 'an object that a new reference names is not pruned' '
	forgotten 8 &&
	push_meanwhile "$STOCK_GIT update-ref refs/heads/late $old" &&
	test "$(stock -C g5.git rev-parse late)" = $old &&
	repo_objects g5.git >now &&
	stock_whole g5.git store.git &&
	stock -C g5.git update-ref -d refs/heads/late &&
	rm -rf g5.git/logs &&
	"$GIT" -C store.git network repack -q --prune=now &&
	! stock -C store.git cat-file -e $old
'

test_expect_success 'parents of a commit pushed meanwhile are not pruned' '
	forgotten 9 &&
	push_meanwhile "$STOCK_GIT update-ref refs/heads/late \
		\$($STOCK_GIT commit-tree -m new -p $old $old^{tree})" &&
	test $(stock -C g5.git rev-parse late~1) = $old &&
	stock_whole g5.git store.git &&
	stock -C store.git cat-file -e $old &&
	"$GIT" -C store.git network verify >out &&
	"$GIT" -C store.git network repack -q --prune=now &&
	test $(own_nr g5.git) = 0 &&
	stock_whole g5.git store.git
'

test_expect_success 'leave makes a complete repository' '
	repo_objects f2.git >expect &&
	"$GIT" -C store.git network leave ../f2.git >out &&
	echo "member 3 left" >expect.out &&
	test_cmp expect.out out &&
	! test -e f2.git/objects/info/alternates &&
	! stock -C store.git show-ref | grep refs/virtual/3/ &&
	mv store.git hidden.git &&
	stock_whole f2.git &&
	repo_objects f2.git >now &&
	test_cmp expect now &&
	mv hidden.git store.git &&
	test_expect_code 128 "$GIT" -C f2.git network list
'

test_expect_success 'a member that left can be added again with a new number' '
	"$GIT" -C store.git network add -q ../f2.git &&
	"$GIT" -C f2.git network list | grep "^9 member .*/f2.git$" &&
	stock -C f2.git config core.alternateRefsPrefixes >out &&
	echo refs/virtual/9/ >expect &&
	test_cmp expect out &&
	stock_whole f2.git
'

# own_graph <repo>: whether it has a commit-graph of its own
own_graph () {
	test -e $1/objects/info/commit-graph ||
	test -e $1/objects/info/commit-graphs/commit-graph-chain
}

test_expect_success 'a member has only what the commit-graph of the store lacks' '
	graphs=objects/info/commit-graphs &&
	"$GIT" -C g5.git gc -q && ! own_graph g5.git &&
	"$GIT" -C g5.git maintenance run --quiet && ! own_graph g5.git &&
	grow g5.git 11 3 &&
	for task in "gc -q" "maintenance run --quiet --task=commit-graph"
	do
		rm -rf g5.git/$graphs &&
		"$GIT" -C g5.git $task &&
		! test -e g5.git/objects/info/commit-graph &&
		ls g5.git/$graphs/*.graph >layers && test_line_count 1 layers &&
		grep "$(cat store.git/$graphs/commit-graph-chain)" \
			g5.git/$graphs/commit-graph-chain &&
		stock -C g5.git commit-graph verify || return
	done &&
	"$GIT" -C store.git network repack -q &&
	! own_graph g5.git && stock_whole g5.git &&
	"$GIT" -C g5.git gc -q && ! own_graph g5.git &&
	stock -C g5.git rev-list main >/dev/null 2>err && ! test -s err
'

test_expect_success 'gc in a member deletes unreachable objects of the member' '
	echo "not in the store" | stock -C g5.git hash-object -w --stdin &&
	"$GIT" -C store.git network repack -q --prune=now &&
	test "$(own_nr g5.git)" = 1 &&
	"$GIT" -C g5.git gc -q &&
	"$GIT" -C store.git network repack -q &&
	test "$(own_nr g5.git)" = 1 &&
	ls g5.git/objects/pack/*.mtimes &&
	"$GIT" -C g5.git gc -q --prune=now &&
	test "$(own_nr g5.git)" = 0 &&
	"$GIT" -C store.git network verify &&
	stock_whole store.git g5.git
'

test_expect_success 'a member that has moved: nothing is pruned' '
	mv f3.git moved.git &&
	tip=$(stock -C g5.git rev-parse main) &&
	test_expect_code 128 "$GIT" -C store.git network repack --prune=now \
		2>err &&
	grep "member 4: there is no repository at" err &&
	test_expect_code 1 "$GIT" -C store.git network repack -q 2>err &&
	grep "^warning: member 4: there is no repository at" err &&
	stock_whole moved.git &&
	mv moved.git f3.git &&
	"$GIT" -C store.git network repack -q --prune=now &&
	stock_whole f3.git
'

test_expect_success 'delete refuses what may be another repository' '
	stock -C f3.git repack -adq &&
	rm f3.git/objects/info/alternates &&
	test_expect_code 128 "$GIT" -C store.git network delete ../f3.git \
		2>err &&
	grep "must list the store and nothing else" err &&
	test -e f3.git/HEAD &&
	rm -r f3.git &&
	"$GIT" -C store.git network delete -q 4 &&
	stock clone -q --no-local g5.git tree &&
	"$GIT" -C store.git network add -q ../tree &&
	test_expect_code 128 "$GIT" -C store.git network delete ../tree 2>err &&
	grep "has a work tree" err &&
	"$GIT" -C store.git network leave -q ../tree &&
	stock_whole tree
'

# replaced <state> <shell command>: make a network whose member 2, gone.git, is in this
# state, because an operation was interrupted. The repository gone.git is removed, and
# the shell command makes something else at this path.
replaced () {
	rm -rf pool.git base.git gone.git &&
	"$GIT" network init -q pool.git &&
	repo_linear base.git 2 &&
	"$GIT" -C pool.git network add -q ../base.git &&
	"$GIT" network fork -q base.git gone.git &&
	rm -r gone.git &&
	sed "s/^member 2/$1 2/" pool.git/network/members >changed &&
	cp changed pool.git/network/members &&
	eval "$2"
}

test_expect_success 'an interrupted delete spares a new repository at the path' '
	for prune in "" --prune
	do
		replaced deleting "repo_linear gone.git 3" &&
		"$GIT" -C pool.git network repack -q $prune 2>err &&
		grep "^warning: .*/gone.git. is not member 2 any more" err &&
		stock_whole gone.git &&
		stock -C gone.git rev-parse main~2 &&
		"$GIT" -C pool.git network list >out &&
		test_line_count 1 out || return
	done &&
	replaced deleting "mkdir gone.git && echo x >gone.git/file" &&
	"$GIT" -C pool.git network delete -q 2 2>err &&
	grep "^warning: .*/gone.git. is not member 2 any more" err &&
	test -e gone.git/file &&
	"$GIT" -C pool.git network list >out && test_line_count 1 out
'

test_expect_success 'an interrupted delete refuses another borrower at the path' '
	replaced deleting "cp -R base.git gone.git" &&
	test_expect_code 1 "$GIT" -C pool.git network repack -q 2>err &&
	grep "^warning: .*/gone.git. is not deleted: it may be another" err &&
	test_expect_code 128 "$GIT" -C pool.git network repack --prune -q &&
	stock_whole gone.git &&
	mv gone.git kept.git &&
	"$GIT" -C pool.git network repack -q --prune 2>err &&
	test_must_be_empty err && stock_whole kept.git
'

test_expect_success 'an interrupted fork does not adopt another repository' '
	for other in "repo_linear gone.git 3" "cp -R base.git gone.git"
	do
		replaced forking "$other" &&
		test_expect_code 128 "$GIT" -C pool.git network delete 2 2>err &&
		grep "it may be another repository" err &&
		test_expect_code 128 "$GIT" network fork base.git gone.git 2>err &&
		grep "already exists and is not an empty directory" err &&
		stock_whole gone.git && replaced forking "$other" &&
		"$GIT" -C pool.git network repack -q &&
		"$GIT" -C pool.git network list >out &&
		test_line_count 1 out && stock_whole gone.git || return
	done
'

test_expect_success 'pruning leaves one pack, however many forks there are' '
	"$GIT" network init -q many.git &&
	repo_linear source.git 2 &&
	"$GIT" -C many.git network add -q ../source.git &&
	for f in 1 2 3 4 5
	do
		"$GIT" network fork -q source.git m$f.git &&
		grow m$f.git $f 1 || return
	done &&
	"$GIT" -C many.git network repack -q &&
	for date in 2.weeks.ago now now
	do
		"$GIT" -C many.git network repack -q --prune=$date &&
		ls many.git/objects/pack/*.pack >packs &&
		test_line_count 1 packs || return
	done &&
	stock_whole many.git m1.git m5.git
'

# A process that is gone: its number is not used again so soon.
test_expect_success 'what killed commands left in the store is removed' '
	sh -c "echo \$\$" >gone && { sleep 1000 >/dev/null & runs=$!; } &&
	for lock in packed-refs objects/info/commit-graphs/commit-graph-chain \
		objects/pack/multi-pack-index refs/heads/x objects/maintenance
	do
		>many.git/$lock.lock &&
		echo "pid $(cat gone)" >many.git/$lock~pid.lock || return
	done &&
	pack=many.git/objects/pack && >$pack/tmp_pack_X && >$pack/tmp_idx_X &&
	>$pack/tmp_rev_X && >$pack/tmp_bitmap_X && >$pack/pack-1234.pack &&
	>$pack/pack-1234.rev && >many.git/HEAD.lock &&
	>many.git/objects/info/commit-graph.lock &&
	touch -d "2 hours ago" many.git/objects/info/commit-graph.lock &&
	"$GIT" -C many.git network repack -q 2>err &&
	test_line_count 6 err &&
	grep "^warning: removed the lock .*/packed-refs.lock. of process $(cat gone)" \
		err &&
	grep "/commit-graph.lock., which is older than an hour" err &&
	ls $pack | sed "s/.*\.//" >actual &&
	printf "%s\n" bitmap idx pack rev >expect && test_cmp expect actual &&
	find many.git -name "*.lock" >actual && echo many.git/HEAD.lock >expect &&
	test_cmp expect actual &&
	>many.git/packed-refs.lock && echo "pid $runs" >many.git/packed-refs~pid.lock &&
	test_expect_code 128 "$GIT" -C many.git network repack -q 2>err &&
	kill $runs &&
	grep "Process $runs took this lock, and a process with that number runs" \
		err &&
	rm many.git/HEAD.lock &&
	{ wait $runs || :; } &&
	"$GIT" -C many.git network delete -q ../m1.git 2>err &&
	grep "^warning: removed the lock" err && ! test -e m1.git
'

test_expect_success 'a member that cannot be settled does not stop the others' '
	sed "s/^member 3/adding 3/" many.git/network/members >changed &&
	cp changed many.git/network/members && >m2.git/config.lock &&
	sed -i /alternateRefsPrefixes/d m2.git/config &&
	test_expect_code 1 "$GIT" -C many.git network repack -q 2>err &&
	grep "^warning: Unable to create .*/m2.git/config.lock" err &&
	grep "^member 4" many.git/network/members &&
	echo "pid $(cat gone)" >m2.git/config~pid.lock &&
	"$GIT" -C many.git network repack -q 2>err &&
	grep "^warning: removed the lock .*/m2.git/config.lock" err &&
	grep "^member 3" many.git/network/members &&
	! test -e m2.git/config~pid.lock
'

test_expect_success 'maintenance and gc of the store delete nothing' '
	"$GIT" -C many.git maintenance run --no-quiet 2>err &&
	grep "^warning: skipping task .geometric-repack." err &&
	"$GIT" -C many.git maintenance run --task=incremental-repack \
		--task=loose-objects --task=geometric-repack --task=gc &&
	"$GIT" -C many.git gc -q && stock_whole many.git m2.git
'

test_expect_success 'a removed member is listed, and deleted by its path' '
	rm -r m3.git && mkdir gone.d && mv m4.git gone.d/ &&
	"$GIT" -C many.git network list >out &&
	grep "^4 member $PWD/m3.git$" out &&
	"$GIT" -C many.git network delete -q "$PWD/m3.git" &&
	(cd root.git && "$GIT" -C ../many.git network delete -q ../m4.git) &&
	"$GIT" -C many.git network list >out && ! grep "m[34].git" out
'

test_expect_success 'leave removes what add and fork wrote into the configuration' '
	stock -C m5.git config core.fileMode false &&
	stock -C m2.git config core.alternateRefsPrefixes refs/own/ &&
	"$GIT" -C many.git network leave -q ../m5.git ../m2.git ../source.git &&
	! grep -i alternate m5.git/config source.git/config &&
	test "$(stock -C m5.git config core.fileMode)" = false &&
	test "$(stock -C m2.git config core.alternateRefsPrefixes)" = refs/own/ &&
	test $(grep -c "^.core" source.git/config) = 1 &&
	stock_whole m5.git m2.git source.git
'

test_expect_success 'the whole network can be moved' '
	mkdir elsewhere &&
	mv store.git root.git g1.git g5.git f2.git elsewhere/ &&
	stock_whole elsewhere/root.git elsewhere/g1.git &&
	"$GIT" -C elsewhere/store.git network repack -q --prune=now &&
	stock_whole elsewhere/root.git elsewhere/g5.git elsewhere/f2.git
'

# left_whole <shell command>: a member leaves a new network. The command runs
# before info/alternates is removed. The member stays complete.
left_whole () {
	rm -rf leaver.git pond.git spring.git &&
	repo_linear spring.git 4 &&
	"$GIT" network init -q pond.git &&
	"$GIT" -C pond.git network add -q ../spring.git &&
	"$GIT" network fork -q spring.git leaver.git &&
	new=$(stock -C spring.git commit-tree -m new -p main main^{tree}) &&
	stock -C spring.git update-ref refs/heads/new $new &&
	"$GIT" -C pond.git network sync -q --all &&
	"$GIT" -C pond.git network repack -q &&
	! test -e leaver.git/objects/$(echo $new | sed "s,..,&/,") &&
	repo_objects leaver.git >expect &&
	meanwhile "*/network/members.new" "$1" \
		"$GIT" -C pond.git network leave -q ../leaver.git &&
	rm -r pond.git &&
	stock_whole leaver.git &&
	repo_objects leaver.git --exclude=refs/heads/new --all >now &&
	test_cmp expect now &&
	! grep -l leave leaver.git/objects/pack/*.keep &&
	! grep -i alternate leaver.git/config
}

test_expect_success 'a member leaves during its gc' '
	left_whole "\"$GIT\" -C \"$PWD/leaver.git\" gc -q" &&
	left_whole "\"$GIT\" -C \"$PWD/leaver.git\" repack -adlq" &&
	left_whole "\"$STOCK_GIT\" -C \"$PWD/leaver.git\" repack -adlq"
'

test_expect_success 'a member leaves while a ref gets an object of the store' '
	left_whole "$STOCK_GIT -C \"$PWD/leaver.git\" update-ref \
		refs/heads/new \$($STOCK_GIT -C \"$PWD/spring.git\" \
			rev-parse new)" &&
	stock -C leaver.git cat-file -e new
'

test_expect_success 'a member leaves while a reflog gets an object of the store' '
	cat >log.sh <<-\EOC &&
	mkdir -p leaver.git/logs/refs/heads &&
	echo "$("$1" -C leaver.git rev-parse main)" \
		"$("$1" -C spring.git rev-parse new)" \
		"A <a@example.com> 1600000000 +0000" \
		>leaver.git/logs/refs/heads/main
	EOC
	left_whole "cd \"$PWD\" && sh log.sh $STOCK_GIT" &&
	stock -C leaver.git rev-list --objects $new >out
'

# tree_and_store: makes a network pond.git with the members spring.git and tree,
# which has a work tree. Branch "new" of spring.git has objects that only the
# store has.
tree_and_store () {
	rm -rf tree pond.git spring.git &&
	repo_linear spring.git 4 &&
	stock clone -q --no-local spring.git tree &&
	"$GIT" network init -q pond.git &&
	"$GIT" -C pond.git network add -q ../spring.git ../tree &&
	blob=$(echo new | stock -C spring.git hash-object -w --stdin) &&
	new=$(printf "100644 blob $blob\tnew\n" | stock -C spring.git mktree) &&
	new=$(stock -C spring.git commit-tree -m new -p main $new) &&
	stock -C spring.git update-ref refs/heads/new $new &&
	"$GIT" -C pond.git network repack -q
}

test_expect_success 'a member leaves while its index gets an object of the store' '
	tree_and_store &&
	meanwhile "*/network/members.new" "$STOCK_GIT -C \"$PWD/tree\" \
			update-index --add --cacheinfo 100644,$blob,new" \
		"$GIT" -C pond.git network leave -q ../tree &&
	rm -r pond.git &&
	stock -C tree cat-file -e :new && stock_whole tree
'

test_expect_success 'leave was killed, and the member lacks an object of the store' '
	tree_and_store &&
	! meanwhile "*/tree/.git/objects/info" "kill -9 \$PPID" \
		"$GIT" -C pond.git network leave -q ../tree &&
	! test -e tree/.git/objects/info/alternates &&
	"$GIT" -C pond.git network list >out && grep " leaving " out &&
	echo $new >tree/.git/refs/heads/new &&
	test_must_fail stock -C tree cat-file -e new 2>err &&
	"$GIT" -C pond.git network leave -q ../tree &&
	rm -r pond.git && stock_whole tree &&
	! grep -i alternate tree/.git/config
'

# rebase_whole: all objects of the stopped rebase in tree are there.
rebase_whole () {
	for name in orig-head autostash
	do
		stock -C tree rev-list --objects \
			$(cat tree/.git/rebase-merge/$name) >out || return
	done
}

test_expect_success 'objects of a stopped rebase of a member' '
	tree_and_store &&
	test_commit () {
		echo "$1" >"tree/$2" && stock -C tree add . &&
		stock -C tree -c user.name=A -c user.email=a@example.com \
			commit -qm "$1"
	} &&
	test_commit one same && stock -C tree checkout -q -b topic HEAD~1 &&
	test_commit two same && echo dirty >>tree/dir1/file1 &&
	test_must_fail stock -C tree -c user.name=A -c user.email=a@example.com \
		rebase -q --autostash main 2>err &&
	stock -C tree update-ref -d refs/heads/topic &&
	stock -C tree reflog expire --expire=all --all && rebase_whole &&
	"$GIT" -C pond.git network repack -q --prune=now && rebase_whole &&
	stock -C pond.git cat-file -e $(cat tree/.git/rebase-merge/autostash) &&
	"$GIT" -C pond.git network repack -q --prune=now && rebase_whole &&
	"$GIT" -C pond.git network leave -q ../tree &&
	rm -r pond.git && rebase_whole && stock_whole tree
'

# Until the member has left for good, it must not show refs of other members.
test_expect_success 'a member that cannot leave keeps core.alternateRefsPrefixes' '
	rm -rf leaver.git pond.git spring.git &&
	repo_linear spring.git 4 && "$GIT" network init -q pond.git &&
	"$GIT" -C pond.git network add -q ../spring.git &&
	"$GIT" network fork -q spring.git leaver.git &&
	"$GIT" -C pond.git network repack -q && rmdir leaver.git/objects/pack &&
	test_must_fail meanwhile "*/network/members.new" \
		"echo 1234567890123456789012345678901234567890 \
			>\"$PWD/leaver.git/refs/heads/lost\"" \
		"$GIT" -C pond.git network leave -q ../leaver.git &&
	test -e leaver.git/objects/info/alternates &&
	stock -C leaver.git config core.alternateRefsPrefixes &&
	rm leaver.git/refs/heads/lost &&
	"$GIT" -C pond.git network leave -q ../leaver.git &&
	! grep -i alternate leaver.git/config && rm -r pond.git &&
	stock_whole leaver.git
'

test_expect_success 'leave keeps the .keep files of others' '
	left_whole "cd \"$PWD/leaver.git/objects/pack\" && mkdir dir.keep &&
		ln -s nowhere dangling.keep && echo mine >other.keep" &&
	test "$(cat leaver.git/objects/pack/other.keep)" = mine &&
	"$GIT" network init -q sea.git &&
	"$GIT" -C sea.git network add -q ../leaver.git &&
	"$GIT" -C leaver.git repack -adq &&
	pack=$(echo leaver.git/objects/pack/*.pack) &&
	echo mine >"${pack%.pack}.keep" &&
	"$GIT" -C sea.git network leave -q ../leaver.git &&
	test -e "$pack" && test "$(cat "${pack%.pack}.keep")" = mine &&
	stock_whole leaver.git
'

# pack_order <store>: the ids of the objects in the order of the only pack
pack_order () {
	stock show-index <$(echo $1/objects/pack/*.idx) | sort -n | cut -d " " -f 2
}

test_expect_success 'without the first member, the next one is first in the pack' '
	"$GIT" network init -q ocean.git &&
	repo_linear first.git 3 && repo_linear second.git 9 &&
	repo_linear third.git 6 && stock init -q --bare empty.git &&
	for f in first empty second third
	do
		"$GIT" -C ocean.git network add -q ../$f.git || return
	done &&
	"$GIT" -C ocean.git network leave -q ../first.git &&
	"$GIT" -C ocean.git network repack 2>err &&
	! grep islandCore err &&
	pack_order ocean.git >actual &&
	stock -C ocean.git config pack.islandCore 4 &&
	"$GIT" -C ocean.git network repack -q &&
	pack_order ocean.git >third &&
	stock -C ocean.git config pack.islandCore 3 &&
	"$GIT" -C ocean.git network repack -q &&
	pack_order ocean.git >second &&
	test_cmp second actual && ! cmp -s second third &&
	stock -C ocean.git config pack.islandCore nosuch &&
	"$GIT" -C ocean.git network repack 2>err &&
	grep "^warning: pack.islandCore" err
'

test_expect_success 'a member is added while its interrupted adding is settled' '
	"$GIT" network init -q lake.git &&
	repo_linear brook.git 3 &&
	"$GIT" -C lake.git network add -q ../brook.git &&
	repo_linear late.git 5 && stock -C late.git repack -adq &&
	! meanwhile "*/late.git/objects/info/alternates.new" "kill -9 \$PPID" \
		"$GIT" -C lake.git network add -q ../late.git &&
	"$GIT" -C lake.git network list >out && grep " adding " out &&
	meanwhile "*/lake.git/refs/virtual/2/" "cd \"$PWD\" &&
		! \"$GIT\" -C lake.git network add -q ../late.git 2>err" \
		"$GIT" -C lake.git network repack -q &&
	grep "another process is adding" err &&
	"$GIT" -C lake.git network list >out && ! grep late.git out &&
	! test -e late.git/objects/info/alternates &&
	"$GIT" -C lake.git network add -q ../late.git &&
	stock_whole late.git
'

test_done
