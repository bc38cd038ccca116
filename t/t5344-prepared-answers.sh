#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='prepared answers: clones that are copied without a look'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-fault.sh"

UP=--upload-pack=$GITREACH_BUILD/bin/git-upload-pack

# strategy_of <expected>: of the last request.
strategy_of () {
	grep "\"strategy\":\"$1\"" events
}

# clone_of_us <dir> <args>: by stock Git, from ours; told in "events".
clone_of_us () {
	dir=$1 && shift &&
	rm -rf "$dir" events &&
	GIT_TRACE2_EVENT=$PWD/events stock clone -q --bare "$UP" "$@" \
		"file://$PWD/r.git" "$dir" &&
	stock -C "$dir" fsck --full --strict
}

# has_all <dir> <revs>: exactly what these reach.
has_all () {
	dir=$1 && shift &&
	stock -C r.git rev-list --objects "$@" | cut -d" " -f1 | sort >expect &&
	stock -C "$dir" cat-file --batch-all-objects \
		--batch-check="%(objectname)" | sort >actual &&
	test_cmp expect actual
}

test_expect_success 'setup' '
	repo_linear r.git 600 &&
	stock -C r.git symbolic-ref HEAD refs/heads/main &&
	stock -C r.git branch next \
		$(stock -C r.git commit-tree -p main~10 -m y main^{tree}) &&
	stock -C r.git tag -a -m one one main~20 &&
	stock -C r.git tag -a -m two two next~20 &&
	stock -C r.git update-ref refs/pull/1/head \
		$(stock -C r.git commit-tree -p main -m x main^{tree}) &&
	"$GIT" -C r.git repack -adbq &&
	test -f r.git/objects/info/prepared &&
	stock -C r.git count-objects -v >out &&
	grep "^garbage: 0" out
'

test_expect_success 'a clone of depth 1' '
	clone_of_us c --depth 1 --no-tags &&
	strategy_of prepared &&
	test $(stock -C c rev-list --count HEAD) = 1
'

test_expect_success 'a clone by prepared answer also gets a new tag' '
	stock -C r.git tag -a -m tip tip main &&
	clone_of_us c --depth 1 &&
	strategy_of prepared &&
	stock -C c rev-parse tip &&
	stock -C r.git tag -d tip
'

test_expect_success 'of another commit with a similar tree' '
	clone_of_us c --depth 1 --branch next &&
	strategy_of prepared+walk
'

test_expect_success 'clones of a branch, of all branches, of everything' '
	clone_of_us c --single-branch &&
	strategy_of prepared &&
	has_all c main one two &&
	clone_of_us c &&
	strategy_of prepared &&
	has_all c --branches --tags &&
	clone_of_us c --mirror &&
	strategy_of prepared &&
	has_all c --all
'

test_expect_success 'a hidden or deleted tag is not sent' '
	stock -C r.git config transfer.hideRefs refs/tags/one &&
	clone_of_us c --single-branch &&
	strategy_of prepared &&
	has_all c main two &&
	stock -C r.git config --unset transfer.hideRefs &&
	old=$(stock -C r.git rev-parse two) &&
	stock -C r.git tag -d two &&
	clone_of_us c --single-branch &&
	has_all c main one &&
	stock -C r.git update-ref refs/tags/two $old
'

# Tags that differ little are deltas of each other.
test_expect_success 'a tag of a hidden tag is sent' '
	cp -R r.git deltas.git &&
	seq 1 200 >message &&
	for i in 1 2 3 4 5 6
	do
		echo $i >>message &&
		stock -C deltas.git tag -a -F ../message delta$i main || return
	done &&
	"$GIT" -C deltas.git repack -adbq &&
	stock verify-pack -v deltas.git/objects/pack/*.idx >raw &&
	awk "\$2 == \"tag\" && NF == 7 { print \$1, \$7; exit }" raw >pair &&
	test -s pair &&
	read tag base <pair &&
	hidden=$(stock -C deltas.git for-each-ref \
		--format="%(objectname) %(refname)" refs/tags |
		sed -n "s/^$base //p") &&
	stock -C deltas.git config transfer.hideRefs $hidden &&
	for option in --single-branch "--depth 1"
	do
		rm -rf c events &&
		GIT_TRACE2_EVENT=$PWD/events stock clone -q --bare "$UP" \
			$option "file://$PWD/deltas.git" c &&
		strategy_of prepared &&
		stock -C c fsck --full --strict &&
		stock -C c cat-file -e $tag &&
		test_must_fail stock -C c cat-file -e $base || return
	done
'

test_expect_success 'a tag of a tag does' '
	cp -R r.git nested.git &&
	stock -C nested.git tag -a -m three three one &&
	stock -C nested.git tag -d one &&
	"$GIT" -C nested.git repack -adbq &&
	stock clone -q --bare --single-branch "$UP" "file://$PWD/nested.git" n &&
	stock -C n fsck --full --strict &&
	stock -C n cat-file tag three >out &&
	grep "^type tag" out
'

# ask_for_many <id>: for all branches and tags of many.git, and for that.
ask_for_many () {
	stock -C many.git for-each-ref --format="want %(objectname)" \
		refs/heads refs/tags >wants &&
	{
		pkt "command=fetch" && printf 0001 && pkt ofs-delta &&
		pkt include-tag && while read want
		do
			pkt "$want" || return
		done <wants && pkt "want $1" && pkt "done" && printf 0000
	} >request &&
	rm -f events &&
	GIT_TRACE2_EVENT=$PWD/events GIT_PROTOCOL=version=2 \
		"$GIT" upload-pack --stateless-rpc many.git <request >out
}

test_expect_success 'many wants: known at once, or all are looked for' '
	cp -R r.git many.git &&
	for i in $(seq 1 70)
	do
		stock -C many.git tag -a -m $i many$i main~$i || return
	done &&
	"$GIT" -C many.git repack -adbq &&
	ask_for_many $(stock -C many.git rev-parse main) &&
	strategy_of prepared &&
	new=$(stock -C many.git commit-tree -m new -p main main^{tree}) &&
	ask_for_many $new &&
	! grep -a "not our ref" out &&
	strategy_of prepared+walk &&
	none=$(echo none | stock hash-object --stdin) &&
	test_expect_code 128 ask_for_many $none 2>err &&
	grep -a "not our ref $none" out &&
	stock clone -q --bare "$UP" "file://$PWD/many.git" m &&
	stock -C m fsck --full --strict &&
	test $(stock -C m tag | wc -l) = $(stock -C many.git tag | wc -l)
'

test_expect_success 'packs are equal with and without prepared answers' '
	mv r.git/objects/info/prepared . &&
	clone_of_us d --single-branch &&
	has_all d main one two &&
	clone_of_us c --depth 1 --no-tags &&
	strategy_of walk &&
	mv prepared r.git/objects/info/
'

# serve <request>: the answer, and what a pack it is made of ends with.
serve () {
	GIT_PROTOCOL=version=2 "$GIT" upload-pack --stateless-rpc r.git <"$1"
}

test_expect_success 'only the sent bytes are read' '
	{
		pkt "command=fetch" && printf 0001 && pkt ofs-delta &&
		pkt include-tag &&
		pkt "want $(stock -C r.git rev-parse main)" && pkt done &&
		printf 0000
	} >request &&
	serve request >with &&
	pack=$(echo r.git/objects/pack/*.pack) &&
	cp "$pack" saved && chmod u+w "$pack" &&
	size=$(wc -c <"$pack") &&
	printf X | dd of="$pack" bs=1 seek=$((size / 2)) conv=notrunc 2>dd &&
	serve request >damaged &&
	test $(wc -c <with) = $(wc -c <damaged) &&
	tail -c 24 with >expect && tail -c 24 damaged >actual &&
	cmp expect actual &&
	cat saved >"$pack"
'

# pushed <ref> <parent>...: a new commit with these parents, and the ref there.
pushed () {
	ref=$1 && shift &&
	blob=$(echo "$ref $*" | stock -C r.git hash-object -w --stdin) &&
	tree=$(printf "100644 blob %s\tnew\n" $blob | stock -C r.git mktree) &&
	parents= &&
	for parent
	do
		parents="$parents -p $parent"
	done &&
	stock -C r.git update-ref $ref \
		$(stock -C r.git commit-tree $parents -m "$ref" $tree)
}

# all_clones <strategy>: each kind of clone has all objects, and is made so.
all_clones () {
	clone_of_us c --single-branch &&
	strategy_of "$1" &&
	has_all c main $(stock -C r.git tag --merged main) &&
	clone_of_us c &&
	strategy_of "$1" &&
	has_all c --branches --tags &&
	clone_of_us c --mirror &&
	strategy_of "$1" &&
	has_all c --all
}

test_expect_success 'after pushes: the prepared answer and the new objects' '
	cp -R r.git saved.git &&
	pushed refs/heads/main main &&
	pushed refs/heads/topic main~5 &&
	pushed refs/heads/main main topic &&
	all_clones prepared+walk &&
	grep "\"commits_walked\":3" events &&
	stock -C r.git tag -a -m new new main &&
	stock -C r.git tag -a -m old old main~30 &&
	all_clones prepared+walk &&
	stock -C r.git repack -dq &&
	all_clones prepared+walk
'

test_expect_success 'a merged branch was deleted' '
	pushed refs/heads/main main next &&
	stock -C r.git update-ref -d refs/heads/next &&
	all_clones prepared+walk
'

test_expect_success 'a branch was rewound: no answer is extended' '
	rm -rf r.git && cp -R saved.git r.git &&
	stock -C r.git update-ref refs/heads/next main &&
	clone_of_us c &&
	has_all c --branches --tags &&
	rm -rf r.git && cp -R saved.git r.git &&
	pushed refs/heads/main main~1 &&
	clone_of_us c --single-branch &&
	! strategy_of prepared+walk &&
	has_all c main one two
'

test_expect_success 'an extended answer has no objects of a hidden branch' '
	rm -rf r.git && cp -R saved.git r.git &&
	pushed refs/heads/main main &&
	stock -C r.git config transfer.hideRefs refs/heads/next &&
	clone_of_us c &&
	strategy_of prepared+walk &&
	has_all c main one two &&
	stock -C r.git config --unset transfer.hideRefs &&
	all_clones prepared+walk
'

test_expect_success 'a damaged file of wants is not used' '
	wants=r.git/objects/info/prepared-wants &&
	cp $wants saved-wants && chmod u+w $wants &&
	printf X | dd of=$wants bs=1 seek=50 conv=notrunc 2>dd &&
	clone_of_us c &&
	! strategy_of prepared+walk &&
	has_all c --branches --tags &&
	test_expect_code 1 "$GIT" -C r.git bitmap verify 2>err &&
	grep "info/prepared-wants.*checksum mismatch" err &&
	head -c 60 saved-wants >$wants &&
	clone_of_us c &&
	! strategy_of prepared+walk &&
	has_all c --branches --tags &&
	cp saved-wants $wants &&
	"$GIT" -C r.git bitmap verify &&
	"$GIT" -C r.git -c repack.prepareAnswers=false repack -adbq &&
	! test -e $wants &&
	rm -rf r.git && mv saved.git r.git
'

test_expect_success 'verify' '
	"$GIT" -C r.git bitmap verify >out &&
	grep "^verified=4 of=4 path=.*objects/info/prepared$" out &&
	cp r.git/objects/info/prepared saved-answers &&
	chmod u+w r.git/objects/info/prepared &&
	printf X | dd of=r.git/objects/info/prepared bs=1 seek=90 \
		conv=notrunc 2>dd &&
	test_expect_code 1 "$GIT" -C r.git bitmap verify 2>err &&
	grep "info/prepared.*checksum mismatch" err
'

test_expect_success 'verify, with other indexes and copies of the objects' '
	cp -R r.git m.git &&
	rm -f m.git/objects/info/prepared &&
	cp saved-answers m.git/objects/info/prepared &&
	stock -C m.git multi-pack-index write --bitmap &&
	"$GIT" -C m.git bitmap verify >out &&
	grep "^verified=4 of=4 path=.*objects/info/prepared$" out &&
	rm m.git/objects/pack/multi-pack-index* &&
	stock clone -q --bare --shared m.git member.git &&
	"$GIT" -C member.git repack -adbq &&
	"$GIT" -C member.git bitmap verify >out &&
	grep -c "^verified=.*objects/info/prepared$" out >actual &&
	echo 2 >expect &&
	test_cmp expect actual &&
	rm -rf m.git member.git
'

test_expect_success 'a broken file is no answer' '
	clone_of_us c --depth 1 --no-tags &&
	strategy_of walk &&
	clone_of_us c --single-branch &&
	has_all c main one two &&
	rm -f r.git/objects/info/prepared &&
	cp saved-answers r.git/objects/info/prepared
'

# left_alone <expression>: not used, not found fault with, and replaced.
left_alone () {
	clone_of_us c --depth 1 --no-tags &&
	strategy_of walk &&
	"$GIT" -C r.git bitmap verify >out 2>err &&
	! grep info/prepared out &&
	grep "$1; this file is not used, and the next repack replaces it$" err &&
	test_line_count 1 err &&
	"$GIT" -C r.git repack -adbq &&
	cmp r.git/objects/info/prepared saved-answers
}

test_expect_success 'a file of another version is ignored' '
	chmod u+w r.git/objects/info/prepared &&
	printf "\002" | dd of=r.git/objects/info/prepared bs=1 seek=4 \
		conv=notrunc 2>dd &&
	left_alone "^note: .*info/prepared: unknown version 2 of the format"
'

test_expect_success 'a truncated file of prepared answers is ignored' '
	size=$(wc -c <saved-answers) &&
	for len in 0 3 70 500 $((size - 30)) $((size - 1))
	do
		rm -f r.git/objects/info/prepared &&
		head -c $len saved-answers >r.git/objects/info/prepared &&
		left_alone "^warning: .*info/prepared: ends within .*" ||
			return
	done
'

test_expect_success 'core.fsync decides whether the file is made durable' '
	rm -rf f.git &&
	cp -R r.git f.git &&
	for set in all none
	do
		fault_run none "$GIT" -C f.git -c core.fsync=$set repack \
			-adbq &&
		mv fault.log log.$set || return
	done &&
	grep "fsync.*tmp_prepared" log.all &&
	! grep "fsync.*tmp_prepared" log.none
'

test_expect_success 'after the branch moved, no prepared answer is sent' '
	stock -C r.git update-ref refs/heads/main refs/pull/1/head &&
	clone_of_us c --single-branch &&
	has_all c main one two &&
	clone_of_us c --depth 1 --no-tags &&
	strategy_of prepared+walk &&
	"$GIT" -C r.git repack -adbq &&
	clone_of_us c --depth 1 --no-tags &&
	strategy_of prepared
'

test_expect_success 'prepared answers of a removed pack are ignored' '
	stock -C r.git repack -adbq &&
	clone_of_us c --depth 1 --no-tags &&
	strategy_of walk &&
	"$GIT" -C r.git bitmap verify >out &&
	! grep info/prepared out
'

test_done
