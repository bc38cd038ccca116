#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='repack loses nothing that stock Git keeps'
. "$(dirname "$0")/lib.sh"

# repack_keeps <dir> <oid>...: these are there, and packed, after repack -ad.
repack_keeps () {
	dir=$1 && shift &&
	"$GIT" -C "$dir" repack -a -d -q &&
	for oid
	do
		stock -C "$dir" cat-file -e "$oid" || {
			echo "lost: $oid" >&2
			return 1
		}
	done &&
	stock -C "$dir" fsck --connectivity-only
}

test_expect_success 'a blob whose id was that of a submodule before' '
	repo_init link.git &&
	blob=$(echo precious | stock -C link.git hash-object --stdin) &&
	tree=$(printf "160000 commit %s\tsub\n" $blob |
		stock -C link.git mktree --missing) &&
	one=$(stock -C link.git commit-tree -m one $tree) &&
	echo precious | stock -C link.git hash-object -w --stdin &&
	tree=$(printf "100644 blob %s\tsub\n" $blob |
		stock -C link.git mktree) &&
	two=$(stock -C link.git commit-tree -m two -p $one $tree) &&
	stock -C link.git update-ref refs/heads/main $two &&
	repack_keeps link.git main:sub &&
	echo 5 >expect &&
	"$GIT" -C link.git rev-list --count --objects main >actual &&
	test_cmp expect actual &&
	"$GIT" -C link.git rev-list --count --objects --use-bitmap-index \
		main >actual &&
	test_cmp expect actual
'

# Objects that only private refs and indexes of worktrees name, in packs.
test_expect_success 'worktrees and their private refs' '
	stock init -q work &&
	stock -C work commit -q --allow-empty -m base &&
	stock -C work worktree add -q --detach ../linked &&
	new_commit () {
		stock -C work commit-tree -m "$1" "main^{tree}"
	} &&
	main_bisect=$(new_commit main-bisect) &&
	linked_bisect=$(new_commit linked-bisect) &&
	linked_head=$(new_commit linked-head) &&
	staged=$(echo staged | stock -C linked hash-object -w --stdin) &&
	stock -C work update-ref refs/bisect/bad $main_bisect &&
	stock -C linked update-ref refs/worktree/a $linked_bisect &&
	stock -C linked update-ref --no-deref HEAD $linked_head &&
	stock -C linked update-index --add --cacheinfo 100644,$staged,file &&
	rm -r work/.git/logs work/.git/worktrees/linked/logs &&
	stock -C work repack -a -d -q &&
	for dir in work linked
	do
		repack_keeps $dir $main_bisect $linked_bisect $linked_head \
			$staged || return
	done
'

# Blobs of a conflict that was resolved, in a pack.
test_expect_success 'files of a resolved conflict' '
	stock init -q undo && stock -C undo commit -q --allow-empty -m base &&
	ids= &&
	for n in 1 2 3
	do
		id=$(echo $n | stock -C undo hash-object -w --stdin) &&
		printf "100644 $id $n\tfile\n" >>stages &&
		ids="$ids $id" || return
	done &&
	stock -C undo update-index --index-info <stages &&
	id=$(echo resolved | stock -C undo hash-object -w --stdin) &&
	stock -C undo update-index --add --cacheinfo 100644,$id,file &&
	stock -C undo ls-files --resolve-undo >actual &&
	test_line_count 3 actual &&
	stock -C undo repack -a -d -q && repack_keeps undo $id $ids
'

# An index that names a missing object may be damaged: then nothing is deleted.
test_expect_success 'a missing object of an index ends the repack' '
	rm -rf lost lost2 && stock init -q lost &&
	stock -C lost commit -q --allow-empty -m base &&
	stock -C lost worktree add -q --detach ../lost2 &&
	id=$(echo unreachable | stock -C lost hash-object -w --stdin) &&
	(stock -C lost rev-parse main main^{tree} && echo $id) |
		stock -C lost pack-objects -q .git/objects/pack/pack &&
	for dir in lost lost2
	do
		gone=$(echo $dir | stock -C $dir hash-object -w --stdin) &&
		stock -C $dir update-index --add --cacheinfo 100644,$gone,f &&
		rm lost/.git/objects/$(echo $gone | sed "s,^..,&/,") &&
		echo "fatal: unable to read $gone" >expect || return
		for command in "repack -adq" "gc --prune=now -q" \
			"repack -Adq --unpack-unreachable=now" \
			"repack -dq --cruft --cruft-expiration=now"
		do
			test_expect_code 128 git -C lost $command 2>err &&
			grep -v "failed to run repack" err >actual &&
			test_cmp expect actual &&
			stock -C lost cat-file -e $id || return
		done
		stock -C $dir rm -q --cached f || return
	done &&
	git -C lost gc --prune=now -q &&
	test_must_fail stock -C lost cat-file -e $id
'

# Commits that only a stopped rebase names, in a pack. Stock Git deletes them.
test_expect_success 'objects of a stopped rebase' '
	stock init -q stopped && stock -C stopped commit -q --allow-empty -m a &&
	stock -C stopped worktree add -q --detach ../rebasing &&
	ids= &&
	for dir in stopped/.git stopped/.git/worktrees/rebasing
	do
		mkdir $dir/rebase-merge || return
		for name in orig-head autostash
		do
			file=$dir/rebase-merge/$name &&
			stock -C stopped commit-tree -m $file "main^{tree}" \
				>$file && ids="$ids $(cat $file)" || return
		done
	done &&
	(stock -C stopped rev-parse main && printf "%s\n" $ids) >list &&
	stock -C stopped pack-objects -q .git/objects/pack/pack <list &&
	stock -C stopped prune-packed && repack_keeps stopped $ids &&
	git -C stopped repack -d -q --cruft --cruft-expiration=now &&
	git -C stopped gc -q --prune=now && repack_keeps stopped $ids &&
	echo 1234567890123456789012345678901234567890 \
		>stopped/.git/rebase-merge/orig-head &&
	repack_keeps stopped ${ids#* * }
'

test_expect_success 'a symref that dangles is no obstacle' '
	repo_linear dangle.git 3 &&
	stock -C dangle.git symbolic-ref refs/remotes/o/HEAD refs/remotes/o/x &&
	"$GIT" -C dangle.git repack -a -d 2>err &&
	! test -s err &&
	stock -C dangle.git rev-list --all >expect &&
	"$GIT" -C dangle.git rev-list --all >actual 2>err &&
	! test -s err &&
	test_cmp expect actual
'

test_expect_success 'a broken ref ends the repack, whatever follows the ref' '
	repo_linear broken.git 3 &&
	echo rubbish >broken.git/refs/heads/bad &&
	stock -C broken.git symbolic-ref refs/remotes/o/HEAD \
		refs/remotes/o/x &&
	find broken.git/objects -type f | sort >before &&
	for args in "repack -a -d" "repack -d" "rev-list --all" \
		"pack-objects --all --stdout"
	do
		test_must_fail "$GIT" -C broken.git $args <"/dev/null" \
			>out 2>err &&
		grep "^fatal: bad object refs/heads/bad" err || return
	done &&
	find broken.git/objects -type f | sort >after &&
	test_cmp before after
'

# Stock Git and ours leave the same objects in a fork.
test_expect_success 'repack -l leaves out what alternates have as well' '
	repo_linear base.git 200 &&
	stock -C base.git repack -a -d -q &&
	loose=$(echo loose | stock -C base.git hash-object -w --stdin) &&
	tree=$(printf "100644 blob %s\tf\n" $loose |
		stock -C base.git mktree) &&
	new=$(stock -C base.git commit-tree -m new -p main $tree) &&
	stock -C base.git update-ref refs/heads/main $new &&
	stock clone -q --bare "file://$PWD/base.git" fork.git &&
	own=$(echo own | stock -C fork.git hash-object -w --stdin) &&
	tree=$(printf "100644 blob %s\tf\n" $own | stock -C fork.git mktree) &&
	stock -C fork.git update-ref refs/heads/own \
		$(stock -C fork.git commit-tree -m own -p main $tree) &&
	echo "$PWD/base.git/objects" >fork.git/objects/info/alternates &&
	cp -R fork.git stock.git &&
	stock -C stock.git repack -a -d -l -q &&
	"$GIT" -C fork.git repack -a -d -l -q &&
	for dir in stock fork
	do
		cat $dir.git/objects/pack/*.idx | stock show-index |
			cut -d" " -f2 | sort >$dir || return
	done &&
	test_line_count 3 stock &&
	test_cmp stock fork &&
	stock -C fork.git fsck
'

test_expect_success 'kept packs of alternates are not ours' '
	for idx in base.git/objects/pack/*.idx
	do
		>"${idx%.idx}.keep" || return
	done &&
	"$GIT" -C fork.git repack -a -d -q &&
	rm fork.git/objects/info/alternates &&
	stock -C fork.git fsck
'

test_expect_success 'an alternate that shares the own pack directory or packs' '
	for linked in own.git far files
	do
		rm -rf own.git far &&
		stock clone -q --bare --no-local base.git own.git &&
		mkdir -p far/info &&
		echo "$PWD/far" >own.git/objects/info/alternates &&
		if test $linked = own.git
		then
			mv own.git/objects/pack far/pack &&
			ln -s ../../far/pack own.git/objects/pack
		elif test $linked = files
		then
			mkdir far/pack &&
			ln -s ../../own.git/objects/pack/pack-* far/pack
		else
			ln -s ../own.git/objects/pack far/pack
		fi &&
		"$GIT" -C own.git repack -a -d -l -q &&
		stock -C own.git fsck --full &&
		"$GIT" -C own.git gc -q &&
		stock -C own.git fsck --full || return
	done
'

# swap_entries <idx> <oid> <oid>: an index that takes each for the other.
swap_entries () {
	chmod u+w "$1" &&
	perl -MDigest::SHA=sha1 -e '
		my ($file, @oids) = @ARGV;
		open my $f, "+<:raw", $file or die;
		local $/; my $b = <$f>;
		my $v2 = substr($b, 0, 4) eq "\377tOc";
		my $head = $v2 ? 8 + 1024 : 1024;
		my $nr = unpack "N", substr($b, $head - 4, 4);
		my $ids = $head + ($v2 ? 0 : 4);
		my $step = $v2 ? 20 : 24;
		my @at = map { my $want = pack "H*", $_; (grep {
			substr($b, $ids + $step * $_, 20) eq $want
		} 0 .. $nr - 1)[0] } @oids;
		my @tables = $v2 ? map { $head + $nr * $_ } 20, 24 : $head;
		for my $table (@tables) {
			my @p = map { $table + ($v2 ? 4 : 24) * $_ } @at;
			my $x = substr $b, $p[0], 4;
			substr($b, $p[0], 4) = substr $b, $p[1], 4;
			substr($b, $p[1], 4) = $x;
		}
		substr($b, -20) = sha1(substr $b, 0, -20);
		seek $f, 0, 0; print $f $b;
	' "$@"
}

# refuses_to_repack <dir> <options>...: an error, and nothing is removed.
refuses_to_repack () {
	dir=$1 && shift &&
	find "$dir/objects" -type f ! -name "tmp_*" | sort >before &&
	test_must_fail "$GIT" -C "$dir" repack -a -d "$@" 2>err &&
	grep "corrupt" err &&
	find "$dir/objects" -type f | sort >after &&
	test_cmp before after
}

test_expect_success 'an object with the content of another is not repacked' '
	repo_init wrong.git &&
	one=$(echo one | stock -C wrong.git hash-object -w --stdin) &&
	two=$(echo two | stock -C wrong.git hash-object -w --stdin) &&
	tree=$(printf "100644 blob %s\tf%s\n" $one 1 $two 2 |
		stock -C wrong.git mktree) &&
	stock -C wrong.git update-ref refs/heads/main \
		$(stock -C wrong.git commit-tree -m wrong $tree) &&
	cp -R wrong.git loose.git &&
	cp -f loose.git/objects/$(echo $one | sed "s|..|&/|") \
		loose.git/objects/$(echo $two | sed "s|..|&/|") &&
	refuses_to_repack loose.git &&
	cp -R wrong.git v1.git &&
	stock -C v1.git -c pack.indexVersion=1 repack -a -d -q &&
	swap_entries v1.git/objects/pack/*.idx $one $two &&
	refuses_to_repack v1.git &&
	refuses_to_repack v1.git -F &&
	stock -C wrong.git repack -a -d -q &&
	swap_entries wrong.git/objects/pack/*.idx $one $two &&
	refuses_to_repack wrong.git -F
'

test_expect_success 'a corrupt object that only a reflog names is not deleted' '
	repo_linear logged.git 3 &&
	tree=$(echo kept | stock -C logged.git hash-object -w --stdin) &&
	tree=$(printf "100644 blob %s\tf\n" $tree |
		stock -C logged.git mktree) &&
	lost=$(stock -C logged.git commit-tree -m lost $tree) &&
	mkdir -p logged.git/logs/refs/heads &&
	echo "$lost $lost A <a@b> 1 +0000	x" >logged.git/logs/refs/heads/x &&
	repack_keeps logged.git $lost $tree &&
	pack=$(ls logged.git/objects/pack/*.pack) && chmod u+w $pack &&
	off=$(stock show-index <${pack%pack}idx | sed -n "s/ $lost.*//p") &&
	printf "\001" | dd of=$pack bs=1 seek=$((off + 5)) conv=notrunc \
		2>dd.err &&
	find logged.git/objects -type f | sort >before &&
	test_must_fail "$GIT" -C logged.git repack -a -d &&
	find logged.git/objects -type f | sort >after &&
	test_cmp before after
'

# The tip's first parent becomes the root.
test_expect_success 'a damaged commit-graph hides no object from a repack' '
	repo_linear graph.git 30 &&
	stock -C graph.git repack -a -d -q &&
	stock -C graph.git commit-graph write --reachable &&
	root=$(stock -C graph.git rev-list --max-parents=0 main) &&
	chmod u+w graph.git/objects/info/commit-graph &&
	perl -e "
		my (\$file, @oids) = @ARGV;
		open my \$f, q(+<:raw), \$file or die;
		local \$/; my \$b = <\$f>;
		my %at;
		for (0 .. 5) {
			my (\$id, \$hi, \$lo) =
				unpack q(a4NN), substr \$b, 8 + 12 * \$_, 12;
			\$at{\$id} = \$lo;
		}
		my @pos = map { (index(\$b, pack(q(H*), \$_), \$at{OIDL})
			- \$at{OIDL}) / 20 } @oids;
		substr(\$b, \$at{CDAT} + 36 * \$pos[0] + 20, 4) =
			pack q(N), \$pos[1];
		seek \$f, 0, 0; print \$f \$b;
	" graph.git/objects/info/commit-graph \
		$(stock -C graph.git rev-parse main) $root &&
	test $(stock -C graph.git rev-list --count main) = 2 &&
	"$GIT" -C graph.git repack -a -d -q &&
	rm graph.git/objects/info/commit-graph &&
	test $(stock -C graph.git rev-list --count main) = 30 &&
	stock -C graph.git fsck
'

test_done
