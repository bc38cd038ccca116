#!/bin/sh
# SPDX-License-Identifier: MIT
#
# GITREACH_LAYERS_PUSHES: how many pushes to repack after, 100 if not set.
test_description='repack: a layer of a chain for each push'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-midx.sh"

CHAIN=objects/pack/multi-pack-index.d/multi-pack-index-chain
PUSHES=${GITREACH_LAYERS_PUSHES:-100}

repack_layers () {
	"$GIT" -C "$1" repack -d -q --geometric=2 --write-midx=incremental \
		--write-bitmap-index
}

# Everything says the same of a repository.
everything_is_right () {
	"$GIT" -C "$1" multi-pack-index verify &&
	"$GIT" -C "$1" bitmap verify &&
	"$GIT" -C "$1" fsck &&
	stock -C "$1" fsck &&
	same_answers "$1"
}

# Counts by bitmaps and by walking are the same, and no commit is walked.
is_right () {
	"$GIT" -C "$1" rev-list --use-bitmap-index --count --objects --all \
		>actual &&
	"$GIT" -C "$1" rev-list --count --objects --all >expect &&
	test_cmp expect actual &&
	"$GIT" -C "$1" bitmap explain --all >explained &&
	grep "^answered-by=bitmap" explained
}
is_fresh () {
	is_right "$1" &&
	grep "^wants.commits-walked=0\$" explained
}

# make_pushes <dir> <nr>: a commit on main and a branch for each, not pushed.
make_pushes () {
	i=1 &&
	while test $i -le $2
	do
		printf "blob\nmark :%d\ndata 8\n%08d" $i $i &&
		printf "\ncommit refs/heads/topic\nmark :%d\n" $(($i + $2)) &&
		printf "committer a <a@example.com> %d +0000\n" \
			$((1700000000 + $i)) &&
		printf "data 1\nx\n" &&
		if test $i = 1
		then
			echo "from refs/heads/main^0"
		fi &&
		printf "M 100644 :%d dir-%d/file-%d\n\n" $i $((i % 7)) $i &&
		i=$((i + 1)) || return 1
	done >stream &&
	stock -C "$1" fast-import --quiet <stream
}

test_expect_success 'setup' '
	repo_of_packs server.git &&
	git_dir=$(pwd)/server.git &&
	stock clone -q --bare --no-local server.git client.git &&
	make_pushes client.git $PUSHES &&
	stock -C client.git rev-list --reverse main..topic >pushes &&
	test_line_count $PUSHES pushes &&
	repack_layers server.git &&
	test_line_count 1 server.git/$CHAIN &&
	is_fresh server.git
'

test_expect_success "$PUSHES pushes, a layer for each" '
	most=0 &&
	while read commit
	do
		stock -C client.git push -q --receive-pack="\"$GIT\" receive-pack" \
			"$git_dir" $commit:refs/heads/topic &&
		repack_layers server.git &&
		is_fresh server.git &&
		layers=$(wc -l <server.git/$CHAIN) &&
		most=$((layers > most ? layers : most)) || return 1
	done <pushes &&
	test $most -gt 1 &&
	echo "# layers: $most at most" &&
	test $most -le 16
'

test_expect_success 'the objects and bitmaps are right after all repacks' '
	everything_is_right server.git &&
	ls server.git/objects/pack/*.pack >packs &&
	test $(wc -l <packs) -le 24 &&
	stock clone -q --bare --no-local -u "\"$GIT\" upload-pack" \
		server.git copy.git &&
	stock -C copy.git fsck &&
	rm -rf copy.git
'

test_expect_success 'without --geometric a layer is added' '
	wc -l <server.git/$CHAIN >before &&
	repo_add_commit server.git &&
	"$GIT" -C server.git repack -d -q --write-midx=incremental -b &&
	test $(wc -l <server.git/$CHAIN) = $(($(cat before) + 1)) &&
	is_fresh server.git &&
	everything_is_right server.git
'

test_expect_success 'with -a there is one layer' '
	"$GIT" -C server.git repack -adq --write-midx=incremental -b &&
	test_line_count 1 server.git/$CHAIN &&
	is_fresh server.git &&
	everything_is_right server.git
'

test_expect_success 'layers without bitmap indexes' '
	for i in 1 2 3
	do
		repo_add_commit server.git &&
		"$GIT" -C server.git repack -d -q --geometric=2 \
			--write-midx=incremental --no-write-bitmap-index ||
		return 1
	done &&
	"$GIT" -C server.git multi-pack-index verify &&
	same_answers server.git &&
	repo_add_commit server.git &&
	repack_layers server.git &&
	is_fresh server.git
'

test_expect_success 'a repack without incremental writes one file again' '
	"$GIT" -C server.git repack -d -q --geometric=2 --write-midx -b &&
	test ! -e server.git/$CHAIN &&
	stock -C server.git multi-pack-index verify &&
	stock -C server.git rev-list --test-bitmap main &&
	everything_is_right server.git &&
	repo_add_commit server.git &&
	repack_layers server.git &&
	test ! -e server.git/objects/pack/multi-pack-index &&
	is_fresh server.git
'

test_expect_success 'repack.midxSplitFactor' '
	for i in 1 2 3
	do
		repo_add_commit server.git &&
		"$GIT" -C server.git -c repack.midxSplitFactor=1000000 repack \
			-d -q --geometric=2 --write-midx=incremental -b ||
		return 1
	done &&
	test_line_count 1 server.git/$CHAIN &&
	is_fresh server.git &&
	test_expect_code 128 "$GIT" -C server.git \
		-c repack.midxSplitFactor=1 repack -d --geometric=2 \
		--write-midx=incremental 2>err &&
	grep "invalid value for --midx-split-factor: 1" err
'

test_expect_success 'repack.midxNewLayerThreshold' '
	repo_add_commit server.git &&
	"$GIT" -C server.git -c repack.midxNewLayerThreshold=1 repack \
		-d -q --geometric=2 --write-midx=incremental -b &&
	ls server.git/objects/pack/*.pack >packs &&
	test $(wc -l <packs) -le 2 &&
	is_fresh server.git &&
	test_expect_code 128 "$GIT" -C server.git \
		-c repack.midxNewLayerThreshold=0 repack -d --geometric=2 \
		--write-midx=incremental 2>err &&
	grep "invalid value for --midx-new-layer-threshold: 0" err
'

# new_commit <message>: on top of main. A directory of loose objects that stock
# Git has just made for it may be gone again, as empty, with the next repack.
new_commit () {
	for attempt in 1 2 3 4
	do
		echo $1 | stock -C server.git commit-tree -p main \
			main^{tree} 2>/dev/null && return
	done
	return 1
}

# keep_repacking <branch> <mode>: with a new commit each time. What comes in the
# way of another says so, and the next one does it.
keep_repacking () {
	for i in 1 2 3 4 5 6 7 8
	do
		commit=$(new_commit $i) &&
		stock -C server.git update-ref refs/heads/$1 $commit || return
		code=0 &&
		"$GIT" -C server.git repack -d -q --geometric=2 -b $2 \
			2>"err.$1" || code=$?
		test $code -eq 0 || {
			test $code -eq 128 &&
			grep -E "meanwhile|File exists" "err.$1"
		} || return
	done >"out.$1"
}

test_expect_success 'both kinds of multi-pack-indexes at once' '
	{
		keep_repacking one --write-midx &
		pid=$!
	} &&
	keep_repacking two --write-midx=incremental &&
	wait $pid &&
	everything_is_right server.git &&
	find server.git/objects/pack -name "*.lock" -o -name "tmp_*" >left &&
	test_must_be_empty left &&
	repack_layers server.git &&
	# The tip of a ref that moves during a repack may have no bitmap. Two
	# refs have moved.
	is_right server.git &&
	grep "^wants.commits-walked=[0-2]\$" explained
'

# layer_packs <dir>: the packs that layers name
layer_packs () {
	cat "$1"/objects/pack/multi-pack-index.d/*.midx |
	grep -a -o "pack-[0-9a-f]*\.idx" | LC_ALL=C sort
}

test_expect_success 'a kept pack gets into no layer without a bitmap index' '
	repo_of_packs kept.git &&
	rm -f kept.git/objects/pack/multi-pack-index* &&
	kept=$(ls kept.git/objects/pack/*.idx | head -n 1) &&
	>${kept%idx}keep &&
	for options in "" --keep-pack=${kept##*/}
	do
		rm -rf k.git && cp -R kept.git k.git &&
		test -z "$options" || rm k.git/objects/pack/*.keep &&
		"$GIT" -C k.git repack -d -q --geometric=2 \
			--write-midx=incremental $(echo $options |
			sed s/idx$/pack/) &&
		layer_packs k.git >covered &&
		! grep ${kept##*/} covered &&
		"$GIT" -C k.git multi-pack-index verify &&
		stock -C k.git fsck || return
	done &&
	repack_layers k.git && layer_packs k.git >covered &&
	grep ${kept##*/} covered &&
	rm -f k.git/objects/pack/*.keep && >k.git/${kept#*/}.keep &&
	"$GIT" -C k.git repack -d -q --geometric=2 --write-midx=incremental &&
	layer_packs k.git >again && test_cmp covered again
'

test_done
