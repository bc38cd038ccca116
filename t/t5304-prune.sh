#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='prune and prune-packed leave what stock Git leaves'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-compare.sh"
. "$GITREACH_SRC/t/lib-fault.sh"
. "$GITREACH_SRC/t/lib-meanwhile.sh"

# files <dir>: what there is, directories too
files () {
	(cd "$1" && find . ! -name "pack-*" | LC_ALL=C sort)
}

# both <repository> <arguments>...: run by both in a copy each; what is printed
# and what is left are the same. Copies are "theirs" and "ours".
both () {
	rm -rf theirs ours copy &&
	cp -a "$1" copy &&
	mv copy theirs &&
	cp -a "$1" ours &&
	shift &&
	both_theirs=0 both_ours=0 &&
	{ stock -C theirs "$@" >expect 2>expect.err || both_theirs=$?; } &&
	{ "$GIT" -C ours "$@" >actual 2>actual.err || both_ours=$?; } &&
	test_cmp_sorted expect actual &&
	test_cmp_sorted expect.err actual.err &&
	echo $both_theirs >expect && echo $both_ours >actual &&
	test_cmp expect actual &&
	files theirs >expect && files ours >actual &&
	test_cmp expect actual
}

test_expect_success 'prune-packed' '
	refs_repository work &&
	stock -C work repack -aq &&
	echo new | stock -C work hash-object -w --stdin &&
	both work prune-packed -n &&
	both work prune-packed --dry-run -q &&
	both work prune-packed &&
	both work prune-packed -q &&
	stock -C ours count-objects >actual &&
	grep "^1 objects" actual
'

test_expect_success 'prune-packed in a bare repository and from below' '
	both work/.git prune-packed -n &&
	mkdir work/sub &&
	(cd work/sub && same -e prune-packed -n) &&
	rmdir work/sub &&
	same -e --git-dir=work/.git prune-packed -n
'

test_expect_success 'prune-packed by the packs of an alternate' '
	stock clone -q --bare --shared work borrows.git &&
	(cd work && stock cat-file blob HEAD:file1) |
		stock -C borrows.git hash-object -w --stdin --path=x &&
	cp -a work/.git/objects/[0-9a-f][0-9a-f] borrows.git/objects/ &&
	both borrows.git prune-packed -n &&
	both borrows.git prune-packed
'

test_expect_success 'prune-packed: usage' '
	(cd work && same prune-packed x && same prune-packed --nonesuch) &&
	mkdir -p none && (cd none && same -e prune-packed)
'

# age <dir> <oid> <date>: make a loose object that old.
age () {
	touch -d "$3" "$1/$(echo "$2" | sed "s,^..,&/,")"
}

# What nothing reaches: an old and a young blob, a tag of an old commit whose
# tree and blob are old as well, and the tag itself young; and files that are
# no objects, old and young.
test_expect_success 'setup: a repository with all files that prune removes' '
	refs_repository work2 &&
	objects=work2/.git/objects &&
	old=$(echo old | stock -C work2 hash-object -w --stdin) &&
	echo young | stock -C work2 hash-object -w --stdin &&
	blob=$(echo kept | stock -C work2 hash-object -w --stdin) &&
	tree=$(printf "100644 blob %s\tx\n" $blob | stock -C work2 mktree) &&
	commit=$(stock -C work2 commit-tree -m x $tree) &&
	tag=$(printf "object %s\ntype commit\ntag t\ntagger a <a> 0 +0000\n\n" \
		$commit | stock -C work2 mktag) &&
	lone=$(stock -C work2 commit-tree -m lone $tree) &&
	for oid in $old $blob $tree $commit $lone
	do
		age $objects $oid "10 days ago" || return 1
	done &&
	mkdir -p $objects/00 $objects/tmp_dir/below $objects/pack/tmp_dir &&
	for file in tmp_obj_x 00/tmp_obj_x 00/strange pack/tmp_pack_x pack/x \
		pack/.tmp-1-pack-x.pack info/tmp_x tmp_dir/below/x x
	do
		echo x >$objects/$file &&
		case $file in
		*tmp*)
			echo x >$objects/${file}2 &&
			touch -d "10 days ago" $objects/$file
			;;
		esac || return 1
	done &&
	touch -d "10 days ago" $objects/pack/tmp_dir $objects/00
'

for expire in '' --expire=5.days.ago --expire=now --expire=never \
	--expire=all --expire=2030-01-01 --expire=gibberish --no-expire
do
	test_expect_success "prune $expire" '
		both work2 prune -n $expire &&
		both work2 prune -v $expire &&
		both work2 prune $expire &&
		stock -C ours fsck
	'
done

test_expect_success 'heads are kept' '
	both work2 prune -n $tag &&
	both work2 prune -v -- $lone $old &&
	both work2 prune -n $old nonesuch &&
	both work2 prune --expire=5.days.ago $old &&
	stock -C ours cat-file -e $old
'

test_expect_success 'with packs, in a bare repository' '
	stock -C work2 repack -aq &&
	both work2 prune -n &&
	both work2 prune &&
	cp -a work2/.git bare.git &&
	stock -C bare.git config core.bare true &&
	both bare.git prune -n &&
	both bare.git prune -v &&
	stock -C ours fsck
'

test_expect_success 'reflogs, indexes and HEADs of worktrees keep objects' '
	stock init -q main &&
	test_tick && stock -C main commit -q --allow-empty -m base &&
	test_tick && stock -C main commit -q --allow-empty -m gone &&
	stock -C main reset -q --hard HEAD^ &&
	stock -C main worktree add -q --detach ../other &&
	test_tick && stock -C other commit -q --allow-empty -m detached &&
	echo staged >other/file && stock -C other add file &&
	echo staged too >main/file && stock -C main add file &&
	echo none | stock -C main hash-object -w --stdin &&
	both main prune -n --expire=now &&
	"$GIT" -C main prune -v >actual && test_line_count 1 actual &&
	stock -C main fsck && stock -C other fsck
'

test_expect_success 'files of a resolved conflict are kept' '
	stock init -q undo && echo base >undo/f && stock -C undo add f &&
	stock -C undo commit -q -m base && stock -C undo checkout -q -b side &&
	echo theirs >undo/f && stock -C undo commit -q -a -m theirs &&
	stock -C undo checkout -q -b ours main &&
	echo ours >undo/f && stock -C undo commit -q -a -m ours &&
	test_must_fail stock -C undo merge -q side &&
	echo resolved >undo/f && stock -C undo add f &&
	theirs=$(stock -C undo rev-parse side:f) &&
	stock -C undo branch -q -D side &&
	stock -C undo reflog expire --expire=now --all &&
	rm -f undo/.git/MERGE_HEAD undo/.git/AUTO_MERGE &&
	both undo prune -v --expire=now &&
	stock -C ours cat-file -e $theirs && stock -C ours fsck &&
	stock -C ours checkout -m -- f && grep theirs ours/f
'

# As stock Git since 2.44.
test_expect_success 'objects of a stopped rebase are kept' '
	stock init -q stopped && echo base >stopped/f && echo kept >stopped/w &&
	stock -C stopped add . && stock -C stopped commit -q -m base &&
	stock -C stopped checkout -q -b topic &&
	echo theirs >stopped/f && stock -C stopped commit -q -a -m theirs &&
	stock -C stopped checkout -q main &&
	echo ours >stopped/f && stock -C stopped commit -q -a -m ours &&
	stock -C stopped worktree add -q ../rebasing topic &&
	echo precious >rebasing/w &&
	test_must_fail stock -C rebasing rebase -q --autostash main &&
	stock -C rebasing reflog expire --expire=now --all &&
	mkdir stopped/.git/rebase-apply &&
	for name in autostash orig-head onto
	do
		echo $name | stock -C stopped commit-tree main^{tree} \
			>stopped/.git/rebase-apply/$name || return 1
	done &&
	git -C stopped prune -v --expire=now >actual &&
	echo "$(cat stopped/.git/rebase-apply/onto) commit" >expect &&
	grep commit actual >commits && test_cmp expect commits &&
	stock -C stopped fsck &&
	stock -C rebasing rebase --abort && grep precious rebasing/w &&
	git -C stopped prune -v --expire=now >actual && test -s actual
'

test_expect_success 'a stopped rebase whose objects are missing ends prune' '
	lost=1234567890123456789012345678901234567890 &&
	id=$(echo unreachable | stock -C stopped hash-object -w --stdin) &&
	for dir in stopped/.git stopped/.git/worktrees/rebasing
	do
		mkdir -p $dir/rebase-apply &&
		echo $lost >$dir/rebase-apply/orig-head &&
		test_expect_code 128 git -C stopped prune --expire=now 2>err &&
		echo "fatal: unable to parse object: $lost" >expect &&
		test_cmp expect err && stock -C stopped cat-file -e $id &&
		rm $dir/rebase-apply/orig-head || return 1
	done &&
	git -C stopped prune --expire=now &&
	test_must_fail stock -C stopped cat-file -e $id
'

test_expect_success 'a commit that only a head of another repository needs' '
	stock -C main prune -n >actual && test ! -s actual &&
	(cd other && same -e prune -n)
'

test_expect_success 'the shallow file' '
	repo_linear deep.git 6 &&
	stock clone -q --bare --no-single-branch --depth=2 \
		"file://$PWD/deep.git" shallow.git &&
	stock -C shallow.git unpack-objects -q \
		<"$(echo shallow.git/objects/pack/*.pack)" &&
	both shallow.git prune &&
	test -s ours/shallow &&
	lone=$(stock -C shallow.git commit-tree -m lone main^{tree}) &&
	stock -C shallow.git update-ref refs/heads/main $lone &&
	both shallow.git prune -n &&
	test -s ours/shallow &&
	both shallow.git prune -v &&
	test ! -e ours/shallow
'

test_expect_success 'a fetch replaces the shallow file while prune runs' '
	stock clone -q --bare deep.git grown.git &&
	stock -C grown.git branch side main~3 &&
	stock clone -q --bare --no-single-branch --depth=2 \
		"file://$PWD/grown.git" racing.git &&
	stock -C racing.git update-ref -d refs/heads/side &&
	lone=$(stock -C grown.git commit-tree -m 1 -p main main^{tree}) &&
	lone=$(stock -C grown.git commit-tree -m 2 -p $lone main^{tree}) &&
	lone=$(stock -C grown.git commit-tree -m 3 -p $lone main^{tree}) &&
	stock -C grown.git update-ref refs/heads/main $lone &&
	fetch="fetch -q --depth=2 origin +main:main" &&
	meanwhile "*/shallow.lock" \
		"$STOCK_GIT -C \"$PWD/racing.git\" $fetch" \
		"$GIT" -C racing.git prune &&
	grep $(stock -C grown.git rev-parse main~1) racing.git/shallow &&
	stock -C racing.git fsck --full &&
	"$GIT" -C racing.git prune &&
	stock -C racing.git rev-parse main~1 >expect &&
	test_cmp expect racing.git/shallow
'

test_expect_success 'precious objects' '
	stock clone -q --bare work2 precious.git &&
	stock -C precious.git config core.repositoryFormatVersion 1 &&
	stock -C precious.git config extensions.preciousObjects true &&
	both precious.git prune &&
	both precious.git prune -n &&
	both precious.git prune-packed
'

test_expect_success 'nothing is removed if a root cannot be read' '
	rm -rf broken && cp -a work2 broken &&
	rm broken/.git/objects/pack/pack-* &&
	commit=$(stock -C broken commit-tree -m x $tree) &&
	rm broken/.git/objects/$(echo $commit | sed "s,^..,&/,") &&
	echo $commit >broken/.git/refs/heads/gone &&
	files broken >before &&
	test_must_fail "$GIT" -C broken prune &&
	files broken >after &&
	test_cmp before after
'

test_expect_success 'gc.recentObjectsHook' '
	cp -a work2 hooked &&
	stock -C hooked config gc.recentObjectsHook "echo $old" &&
	"$GIT" -C hooked prune &&
	stock -C hooked cat-file -e $old &&
	test_must_fail stock -C hooked cat-file -e $lone
'

test_expect_success 'prune loses nothing if it is killed or a call fails' '
	repo_linear small.git 1 &&
	oid=$(echo lost | stock -C small.git hash-object -w --stdin) &&
	echo x >small.git/objects/tmp_obj_x &&
	fault_step=1 &&
	fault_each kill "rm -rf torn && cp -a small.git torn" \
		"$GIT -C torn prune" \
		"stock -C torn fsck --no-dangling >/dev/null 2>&1" &&
	fault_run EIO:1 "$GIT" -C small.git prune &&
	fault_said && test $fault_code -eq 128 &&
	test_must_fail stock -C torn cat-file -e $oid
'

test_expect_success 'history that only info/grafts joins is kept' '
	repo_linear joined.git 3 &&
	old=$(stock -C joined.git rev-parse main) &&
	new=$(echo new | stock -C joined.git commit-tree "main^{tree}") &&
	stock -C joined.git update-ref refs/heads/main $new &&
	rm -rf joined.git/logs && mkdir -p joined.git/info &&
	echo "$new $old" >joined.git/info/grafts &&
	git -C joined.git prune &&
	stock -C joined.git cat-file -e $old~2 &&
	git -C joined.git repack -adq && git -C joined.git prune &&
	git -C joined.git gc --prune=now -q &&
	stock -C joined.git cat-file -e $old~2 &&
	stock -C joined.git rev-list main >expect 2>err &&
	git -C joined.git rev-list main >actual 2>err &&
	test_line_count 4 actual && test_cmp expect actual &&
	rm joined.git/info/grafts && git -C joined.git gc --prune=now -q &&
	test_must_fail stock -C joined.git cat-file -e $old
'

test_expect_success 'usage' '
	(cd work && same prune --nonesuch &&
	same -e prune --expire=x --expire=2005-04-08) &&
	(cd none && same -e prune)
'

test_expect_success '--exclude-promisor-objects' '
	both work prune --exclude-promisor-objects -v &&
	stock clone -q --bare work promising.git &&
	stock -C promising.git config uploadpack.allowFilter true &&
	stock clone -q --bare --filter=blob:none "file://$PWD/promising.git" \
		partial.git &&
	echo loose | stock -C partial.git hash-object -w --stdin &&
	both partial.git prune --exclude-promisor-objects -v &&
	both partial.git prune --no-exclude-promisor-objects -n
'

test_expect_success 'what a repack that was killed left beside answers' '
	info=small.git/objects/info && mkdir -p $info &&
	git -C small.git prune &&
	echo x >$info/tmp_prepared_old && echo x >$info/tmp_other &&
	touch -d "10 days ago" $info/tmp_prepared_old $info/tmp_other &&
	echo x >$info/tmp_prepared_new && chmod 0444 $info/tmp_prepared_* &&
	git -C small.git prune --expire=5.days.ago -n >actual &&
	echo "Removing stale temporary file objects/info/tmp_prepared_old" \
		>expect &&
	test_cmp expect actual &&
	git -C small.git prune --expire=5.days.ago &&
	! test -e $info/tmp_prepared_old &&
	test -f $info/tmp_prepared_new && test -f $info/tmp_other &&
	git -C small.git prune &&
	! test -e $info/tmp_prepared_new && test -f $info/tmp_other
'

# unnamed <n>: r.git/objects/pack/*.pack as a repack left it that was killed.
unnamed () {
	for file in r.git/objects/pack/pack-*
	do
		name=$(basename "$file") &&
		mv "$file" "r.git/objects/pack/.tmp-$1-$name" || return 1
	done
}

tmp_packs () {
	ls -A r.git/objects/pack | grep "^[.]tmp-"
}

test_expect_success 'unnamed packs: unreadable ones are removed' '
	repo_linear unnamed.git 3 && stock -C unnamed.git repack -adq &&
	cp unnamed.git/objects/pack/pack-*.pack pack &&
	name=$(basename unnamed.git/objects/pack/pack-*.pack .pack) &&
	rm -rf r.git && cp -R unnamed.git r.git && dir=r.git/objects/pack &&
	for file in 1-$name 2-$name 3-pack-1 x-$name
	do
		cp pack $dir/.tmp-$file.pack || return 1
	done &&
	cp $dir/$name.idx $dir/.tmp-4-$name.idx &&
	touch -d "10 days ago" $dir/.tmp-[134x]* &&
	git -C r.git prune -n --expire=5.days.ago | sort >actual &&
	printf "Removing stale temporary file objects/pack/.tmp-%s\n" \
		1-$name.pack 4-$name.idx >expect &&
	test_cmp expect actual &&
	git -C r.git prune --expire=5.days.ago && tmp_packs | sort >actual &&
	printf ".tmp-%s.pack\n" 2-$name 3-pack-1 x-$name | sort >expect &&
	test_cmp expect actual &&
	git -C r.git prune && tmp_packs | sort >actual &&
	printf ".tmp-%s.pack\n" 3-pack-1 x-$name | sort >expect &&
	test_cmp expect actual &&
	stock -C r.git fsck
'

# A whole one, ten days old, of all objects; with the usual pack beside it.
whole_unnamed () {
	rm -rf r.git && cp -R unnamed.git r.git && unnamed 1 &&
	cp -R unnamed.git/objects r.git &&
	find r.git/objects/pack -name ".tmp-*" -exec \
		touch -d "10 days ago" {} + &&
	test $(tmp_packs | wc -l) -ge 2
}

test_expect_success 'unnamed packs: a pack whose objects are in other packs' '
	whole_unnamed && tmp_packs >before &&
	git -C r.git prune --expire=12.days.ago && tmp_packs >after &&
	test_cmp before after &&
	git -C r.git prune -n --expire=5.days.ago >actual &&
	test_line_count 1 actual &&
	grep "^Removing stale temporary file objects/pack/.tmp-1-.*pack$" \
		actual &&
	tmp_packs >after && test_cmp before after &&
	git -C r.git prune --expire=5.days.ago && ! tmp_packs &&
	stock -C r.git fsck &&
	whole_unnamed && git -C r.git gc -q && tmp_packs &&
	git -C r.git -c gc.pruneExpire=5.days.ago gc -q && ! tmp_packs &&
	stock -C r.git fsck
'

test_expect_success 'unnamed packs: all are removed or none' '
	whole_unnamed && tmp=$(ls -A r.git/objects/pack/.tmp-1-*.idx) &&
	tmp=${tmp%.idx} && other=$(echo $tmp | sed s/.tmp-1/.tmp-2/) &&
	for end in idx pack
	do
		cp $tmp.$end $other.$end || return 1
	done &&
	tmp_packs >before && git -C r.git prune --expire=5.days.ago &&
	tmp_packs >after && test_cmp before after &&
	touch -d "10 days ago" $other.* && >$tmp.keep &&
	git -C r.git prune --expire=5.days.ago && test -e $other.idx &&
	rm $tmp.keep && printf x >$other.idx && touch -d "10 days ago" $other.* &&
	git -C r.git prune --expire=5.days.ago && test -e $tmp.idx &&
	rm $other.* && git -C r.git prune --expire=5.days.ago && ! tmp_packs
'

# The objects of old main that the new one does not reach are only there.
partly_unnamed () {
	whole_unnamed && old=$(stock -C r.git rev-parse main) &&
	tree=$(stock -C r.git rev-parse main^{tree}) &&
	rm r.git/objects/pack/pack-* &&
	stock -C r.git update-ref refs/heads/main main~1 &&
	stock -C r.git rev-parse main |
		stock -C r.git pack-objects -q --revs objects/pack/pack &&
	find r.git/objects/pack -name ".tmp-*.pack" -exec \
		touch -d "10 days ago" {} +
}

test_expect_success 'unnamed packs: the only copy of an object stays' '
	partly_unnamed && stock -C r.git update-ref refs/heads/main $old &&
	git -C r.git prune --expire=5.days.ago && tmp_packs &&
	stock -C r.git fsck &&
	id=$(echo loose | stock -C r.git hash-object -w --stdin) &&
	git -C r.git prune && test_must_fail stock -C r.git cat-file -e $id &&
	tmp_packs && stock -C r.git fsck &&
	git -C r.git gc -q --prune=5.days.ago && ! tmp_packs &&
	stock -C r.git fsck
'

test_expect_success 'unnamed packs: unreachable objects do not keep a pack' '
	partly_unnamed && git -C r.git prune --expire=5.days.ago &&
	! tmp_packs && stock -C r.git fsck &&
	test_must_fail stock -C r.git cat-file -e $old
'

test_expect_success 'unnamed packs: objects that recent objects reach keep a pack' '
	partly_unnamed &&
	printf "tree %s\nauthor x <x> 0 +0000\ncommitter x <x> 0 +0000\n\nm\n" \
		$tree | stock -C r.git hash-object -w --stdin -t commit &&
	git -C r.git prune --expire=5.days.ago && tmp_packs &&
	stock -C r.git cat-file -e $tree && git -C r.git prune &&
	! tmp_packs && stock -C r.git fsck
'

test_expect_success 'unnamed packs: a pack that a multi-pack-index names stays' '
	whole_unnamed && stock -C r.git multi-pack-index write &&
	if grep -a "[.]tmp-" r.git/objects/pack/multi-pack-index >/dev/null
	then
		git -C r.git prune --expire=5.days.ago && tmp_packs &&
		stock -C r.git fsck
	fi &&
	git -C r.git multi-pack-index write &&
	git -C r.git prune --expire=5.days.ago && ! tmp_packs &&
	stock -C r.git fsck
'

# A read-only file system says so of every directory, full ones too.
test_expect_success 'a directory that cannot be removed stays' '
	stock init -q --bare full.git &&
	echo x | stock -C full.git hash-object -w --stdin >id &&
	stock -C full.git update-ref refs/x $(cat id) &&
	fault_run none:0 "$GIT" -C full.git prune --expire=now &&
	nr=$(sed -n "/^rmdir/=" fault.log | head -n 1) &&
	test -n "$nr" &&
	fault_run EIO:$nr "$GIT" -C full.git prune --expire=now &&
	test $fault_code -eq 0 &&
	stock -C full.git cat-file -e $(cat id)
'

test_expect_success 'a missing blob does not stop prune, a missing tree does' '
	rm -rf gone.git && repo_linear gone.git 3 &&
	lose () {
		path=$(stock -C gone.git rev-parse "$1" | sed "s|..|&/|") &&
		rm -f gone.git/objects/$path
	} &&
	id=$(echo x | stock -C gone.git hash-object -w --stdin) &&
	blob=$(stock -C gone.git ls-tree -r main | sed -n "s/.*blob //;s/\t.*//;1p") &&
	lose $blob &&
	git -C gone.git prune -v --expire=now >actual &&
	echo "$id blob" >expect && test_cmp expect actual &&
	id=$(echo x | stock -C gone.git hash-object -w --stdin) &&
	lose main^{tree} &&
	test_expect_code 128 git -C gone.git prune -v --expire=now &&
	stock -C gone.git cat-file -e $id
'

# What a lost commit reached may still be there, and be wanted.
test_expect_success 'a lost HEAD of another worktree removes nothing' '
	cd "$TRASH" && rm -rf lost linked && stock init -q lost &&
	stock -C lost commit -q --allow-empty -m base &&
	stock -C lost worktree add -q --detach ../linked &&
	echo precious >linked/file && stock -C linked add file &&
	stock -C linked commit -qm precious &&
	blob=$(stock -C linked rev-parse HEAD:file) &&
	rm -rf lost/.git/worktrees/linked/logs &&
	stock -C linked rm -q --cached file &&
	head=lost/.git/worktrees/linked/HEAD && mv $head saved-head &&
	echo 1234567890123456789012345678901234567890 >$head &&
	for command in "prune --expire=now" "repack -ad --cruft -q" \
		"repack -adq" "gc --prune=now -q"
	do
		test_expect_code 128 git -C lost $command 2>err &&
		grep "object:* worktrees/linked/HEAD" err &&
		stock -C lost cat-file -e $blob || return 1
	done &&
	mv saved-head $head && git -C lost gc --prune=now -q &&
	stock -C lost cat-file -e $blob
'

test_done
