#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='what others do to a repository while a command is at work in it

t/interop/soak has found these; here each is done at the moment that matters.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-meanwhile.sh"
. "$GITREACH_SRC/t/lib-fault.sh"

test_expect_success 'a repository of four packs' '
	repo_linear base.git 40 && rm -r base.git/hooks &&
	stock -C base.git repack -dq &&
	for i in 1 2 3
	do
		test_tick &&
		tree=$(echo $i | stock -C base.git hash-object -w --stdin) &&
		tree=$(printf "100644 blob %s\tf\n" $tree |
			stock -C base.git mktree) &&
		new=$(stock -C base.git commit-tree -m $i -p main $tree) &&
		stock -C base.git update-ref refs/heads/main $new &&
		stock -C base.git repack -dq || return
	done &&
	ls base.git/objects/pack/*.idx >packs && test_line_count 4 packs
'

again () {
	rm -rf r.git && cp -R base.git r.git
}

# All objects of r.git are loose.
unpacked () {
	rm -f r.git/objects/pack/* &&
	for pack in base.git/objects/pack/*.pack
	do
		stock -C r.git unpack-objects -q <$pack || return
	done
}

# What others do, in r.git: a commit, in a pack of its own, and its ref with a
# reflog; all in one pack.
push='tree=$(echo new | "$STOCK_GIT" hash-object -w --stdin) &&
	tree=$(printf "100644 blob %s\tf\n" $tree | "$STOCK_GIT" mktree) &&
	new=$("$STOCK_GIT" commit-tree -m new -p main $tree </dev/null) &&
	"$STOCK_GIT" update-ref --create-reflog refs/heads/new $new &&
	"$STOCK_GIT" repack -dq'
repack='"$STOCK_GIT" repack -adq'
repack_midx="$repack && "'"$STOCK_GIT" multi-pack-index write'

for options in '' --connectivity-only
do
	test_expect_success "fsck $options: a push in its midst" '
		again &&
		meanwhile "*/packed-refs" "$push" \
			git -C r.git fsck $options --no-dangling 2>err &&
		test_must_be_empty err
	'

	test_expect_success "fsck $options: loose objects are packed" '
		again && unpacked &&
		meanwhile "*/objects/[0-9a-f][0-9a-f]" "$repack" \
			git -C r.git fsck $options --no-dangling >out 2>err &&
		test_must_be_empty out && test_must_be_empty err
	'

	test_expect_success "fsck $options: packs and their index are replaced" '
		again && stock -C r.git multi-pack-index write &&
		meanwhile "*/info/grafts" \
			"$repack_midx" \
			git -C r.git fsck $options 2>err &&
		test_must_be_empty err
	'
done

test_expect_success 'repack: a broken pack is removed while packs are opened' '
	again && broken=r.git/objects/pack/pack-$(printf %040d 0) &&
	cp $(ls r.git/objects/pack/*.pack | sed 1q) $broken.pack &&
	echo broken >$broken.idx &&
	test_must_fail git -C r.git repack -adq 2>err &&
	grep pack-0000 err &&
	meanwhile "*/pack/multi-pack-index" "rm -f objects/pack/pack-0000*" \
		git -C r.git repack -adq 2>err &&
	test_must_be_empty err
'

test_expect_success 'fsck: missing objects are reported in spite of a push' '
	again && unpacked && blob=$(stock -C r.git rev-parse main:f) &&
	rm -f r.git/objects/$(echo $blob | sed "s,..,&/,") &&
	test_must_fail git -C r.git fsck >out &&
	grep "missing blob $blob" out
'

test_expect_success 'multi-pack-index verify: packs are replaced' '
	again && stock -C r.git multi-pack-index write &&
	meanwhile_skip=1 meanwhile "*/pack/multi-pack-index" \
		"$repack_midx" git -C r.git multi-pack-index verify 2>err &&
	test_must_be_empty err
'

for options in '' --bitmap --incremental '--incremental --bitmap'
do
	test_expect_success "multi-pack-index write $options: packs go" '
		again &&
		meanwhile "*/multi-pack-index.lock" "$repack" \
			git -C r.git multi-pack-index write $options &&
		stock -C r.git fsck &&
		git -C r.git multi-pack-index verify
	'
done

# r.git, with a multi-pack-index that takes nothing from the old packs.
with_redundant () {
	again && git -C r.git multi-pack-index write &&
	git -C r.git multi-pack-index repack &&
	ls r.git/objects/pack/*.idx >packs && test_line_count 5 packs
}

test_expect_success 'multi-pack-index expire: packs go' '
	with_redundant &&
	meanwhile "*/multi-pack-index.lock" "$repack_midx" \
		git -C r.git multi-pack-index expire &&
	stock -C r.git fsck && git -C r.git multi-pack-index verify
'

test_expect_success 'multi-pack-index expire: another one is written' '
	with_redundant &&
	meanwhile "*/multi-pack-index.lock" \
		"$push && \"\$STOCK_GIT\" multi-pack-index write" \
		git -C r.git multi-pack-index expire &&
	ls r.git/objects/pack/*.idx >packs && test_line_count 2 packs &&
	for pack in $(cat packs)
	do
		grep -a $(basename $pack) r.git/objects/pack/multi-pack-index ||
			return
	done &&
	stock -C r.git fsck && git -C r.git multi-pack-index verify
'

# Two who do this at once would each rely on a pack that the other removes.
test_expect_success 'multi-pack-index expire: packs go under the lock' '
	with_redundant &&
	fault_run none:0 git -C r.git multi-pack-index expire &&
	grep "^unlink .*/pack/\(pack-.*idx\|.*lock\)$" fault.log >log &&
	test_line_count 5 log && tail -n 1 log | grep "multi-pack-index.lock$"
'

# r.git, with a chain of a layer for each of four packs, and their checksums.
with_chain () {
	again && mkdir -p away && mv r.git/objects/pack/* away &&
	for pack in $(cd away && ls *.idx)
	do
		mv away/${pack%.idx}.* r.git/objects/pack &&
		git -C r.git multi-pack-index write --incremental || return
	done &&
	chain=r.git/objects/pack/multi-pack-index.d/multi-pack-index-chain &&
	test_line_count 4 $chain && set -- $(cat $chain) &&
	layer1=$1 layer2=$2 layer3=$3 layer4=$4
}

for options in '' --incremental
do
	test_expect_success "multi-pack-index compact $options: packs go" '
		with_chain &&
		test_expect_code 128 meanwhile "*/multi-pack-index.lock" \
			"$repack_midx" git -C r.git multi-pack-index compact \
			$options $layer3 $layer4 2>err &&
		echo "fatal: could not find MIDX: $layer3" >expect &&
		test_cmp expect err &&
		git -C r.git multi-pack-index verify && stock -C r.git fsck
	'
done

test_expect_success 'multi-pack-index compact: other layers are compacted' '
	with_chain &&
	meanwhile "*/multi-pack-index.lock" \
		"\"$GIT\" multi-pack-index compact --incremental \
			$layer1 $layer2" \
		git -C r.git multi-pack-index compact --incremental \
		$layer3 $layer4 &&
	test_line_count 2 $chain && ! grep "$layer1\|$layer3" $chain &&
	git -C r.git multi-pack-index verify
'

for at in '*/multi-pack-index' '*.pack' '*/multi-pack-index.lock'
do
	test_expect_success "multi-pack-index repack: packs go at $at" '
		again && git -C r.git multi-pack-index write &&
		meanwhile "$at" "$repack_midx" \
			git -C r.git multi-pack-index repack &&
		git -C r.git multi-pack-index verify && stock -C r.git fsck
	'
done

test_expect_success 'multi-pack-index write --base: the layer is removed' '
	again && git -C r.git multi-pack-index write --incremental &&
	base=$(cat r.git/objects/pack/multi-pack-index.d/*-chain) &&
	test_tick && stock -C r.git update-ref refs/heads/more $(
		stock -C r.git commit-tree -m more main^{tree} </dev/null) &&
	stock -C r.git repack -dq &&
	(
		meanwhile_skip=1 &&
		test_expect_code 128 meanwhile "*/multi-pack-index-chain" \
			"rm -r objects/pack/multi-pack-index.d" \
			git -C r.git multi-pack-index write --incremental \
			--no-write-chain-file --base=$base 2>err
	) &&
	echo "fatal: could not find MIDX: $base" >expect &&
	test_cmp expect err
'

test_expect_success 'multi-pack-index write: the alternate is removed' '
	again && rm -rf fork.git && stock init -q --bare fork.git &&
	echo "$PWD/r.git/objects" >fork.git/objects/info/alternates &&
	meanwhile "*/multi-pack-index.lock" \
		"rm objects/info/alternates &&
			\"\$STOCK_GIT\" -C ../r.git repack -adq" \
		git -C fork.git multi-pack-index \
		--object-dir="$PWD/r.git/objects" write &&
	stock -C r.git multi-pack-index verify
'

test_expect_success 'multi-pack-index verify: the alternate is removed' '
	again && stock -C r.git multi-pack-index write &&
	echo "$PWD/r.git/objects" >fork.git/objects/info/alternates &&
	(
		meanwhile_skip=1 &&
		test_expect_code 1 meanwhile "$PWD/r.git/*/multi-pack-index" \
			"rm objects/info/alternates && cd ../r.git &&
				$repack_midx" \
			git -C fork.git multi-pack-index \
			--object-dir="$PWD/r.git/objects" verify 2>err
	) &&
	grep "is not an alternate any more" err
'

for mode in default incremental
do
	test_expect_success "repack --write-midx=$mode: packs go" '
		again &&
		meanwhile "*/multi-pack-index.lock" "$repack" \
			git -C r.git repack --geometric=2 -dq \
			--write-midx=$mode --write-bitmap-index &&
		stock -C r.git fsck &&
		git -C r.git multi-pack-index verify &&
		git -C r.git bitmap verify
	'
done

# A layer that is new is merged with those below in a second step.
test_expect_success 'repack --write-midx=incremental: another one is faster' '
	with_chain && test_tick && stock -C r.git update-ref refs/heads/more $(
		stock -C r.git commit-tree -m more main^{tree} </dev/null) &&
	(
		meanwhile_skip=1 &&
		meanwhile "*/multi-pack-index.lock" \
			"\"$GIT\" multi-pack-index compact --incremental \
				$layer1 $layer2" \
			git -C r.git -c repack.midxSplitFactor=1000 repack -dq \
			--geometric=2 --write-midx=incremental
	) &&
	test_line_count 1 $chain && git -C r.git multi-pack-index verify &&
	stock -C r.git fsck
'

test_expect_success 'multi-pack-index: a warning is given once' '
	with_redundant && >r.git/objects/pack/pack-$layer1.idx &&
	>r.git/objects/pack/pack-$layer1.pack &&
	some=$(basename $(ls base.git/objects/pack/*.pack | head -n 1)) &&
	meanwhile "*/multi-pack-index.lock" \
		"\"$GIT\" multi-pack-index write --preferred-pack=$some \
			2>\"$PWD/ignored\"" \
		git -C r.git multi-pack-index expire 2>err &&
	grep "pack-$layer1" err && test_line_count 1 err
'

test_expect_success 'a push: empty directories of objects go' '
	again && rm -rf client.git && stock clone -q --bare base.git client.git &&
	new=$(stock -C client.git commit-tree -m new -p main main^{tree} \
		</dev/null) &&
	meanwhile "*/tmp_objdir-incoming-*/[0-9a-f][0-9a-f]" \
		"cd \"$PWD/r.git/objects\" && rmdir ?? 2>\"$PWD/rmdir\"; true" \
		"$STOCK_GIT" -C client.git push -q --receive-pack=\
"env -u GIT_EXEC_PATH $(dirname "$GIT")/git-receive-pack" \
		"$PWD/r.git" $new:refs/heads/pushed &&
	stock -C r.git fsck
'

# $lost is in a cruft pack, and is not old.
with_cruft () {
	again &&
	lost=$(echo lost | stock -C r.git hash-object -w --stdin) &&
	stock -C r.git repack --cruft -dq &&
	ls r.git/objects/pack/*.mtimes >/dev/null &&
	! test -e r.git/objects/$(echo $lost | sed "s,..,&/,") &&
	echo loose | stock -C r.git hash-object -w --stdin
}

test_expect_success 'prune: a cruft pack is removed meanwhile' '
	with_cruft &&
	meanwhile "*.mtimes" "\"\$STOCK_GIT\" repack -Adq" \
		git -C r.git prune --expire=1.hour.ago &&
	stock -C r.git cat-file -e $lost &&
	stock -C r.git fsck --no-dangling
'

test_expect_success 'repack --cruft: the old cruft pack is removed meanwhile' '
	with_cruft &&
	meanwhile "*.mtimes" "\"\$STOCK_GIT\" repack -Adq" \
		git -C r.git repack --cruft -dq &&
	stock -C r.git cat-file -e $lost &&
	stock -C r.git fsck --no-dangling
'

# A repack of stock Git is at work that has written its pack but not named it.
unnamed () {
	again && unpacked &&
	for end in pack idx
	do
		cp base.git/objects/pack/$base.$end \
			r.git/objects/pack/.tmp-1-$base.$end || return
	done
}

test_expect_success 'an unnamed pack may be removed: nothing relies on it' '
	base=$(ls -S base.git/objects/pack/*.pack | head -n 1) &&
	base=$(basename $base .pack) &&
	for words in prune-packed "repack -dq" "repack -adq" \
		"repack --geometric=2 -dq" "repack --cruft -dq" \
		"maintenance run --task=loose-objects"
	do
		unnamed && git -C r.git $words &&
		test -e r.git/objects/pack/.tmp-1-$base.idx &&
		rm r.git/objects/pack/.tmp-1-* &&
		stock -C r.git fsck || return
	done &&
	unnamed && git -C r.git repack -dq &&
	git -C r.git multi-pack-index write &&
	! grep -a "[.]tmp-" r.git/objects/pack/multi-pack-index
'

test_expect_success 'an unnamed pack is not reported' '
	unnamed && git -C r.git repack -dq &&
	grep "^P pack-" r.git/objects/info/packs &&
	! grep "[.]tmp-" r.git/objects/info/packs &&
	REQUEST_METHOD=GET GIT_HTTP_EXPORT_ALL=1 PATH_INFO=/objects/info/packs \
		GIT_PROJECT_ROOT="$PWD/r.git" git http-backend >out &&
	grep "^P pack-" out && ! grep "[.]tmp-" out
'

test_expect_success 'multi-pack-index expire ignores an unnamed pack' '
	again && name=$(ls -S base.git/objects/pack/*.pack | tail -n 1) &&
	name=$(basename $name .pack) &&
	for end in pack idx
	do
		cp base.git/objects/pack/$name.$end \
			r.git/objects/pack/.tmp-1-$name.$end || return
	done &&
	for preferred in .tmp-1-$name $name
	do
		stock -C r.git multi-pack-index write \
			--preferred-pack=$preferred.idx &&
		grep -a "[.]tmp-1-$name" r.git/objects/pack/multi-pack-index &&
		git -C r.git multi-pack-index expire &&
		test -e r.git/objects/pack/.tmp-1-$name.idx &&
		test -e r.git/objects/pack/$name.idx || return
	done
'

test_expect_success 'maintenance ignores leftovers of a repack' '
	again && stock -C r.git repack -adq &&
	name=$(basename r.git/objects/pack/*.pack .pack) &&
	for end in pack idx
	do
		cp r.git/objects/pack/$name.$end \
			r.git/objects/pack/.tmp-1-$name.$end || return
	done &&
	git -C r.git multi-pack-index write &&
	test_must_fail git -C r.git maintenance is-needed --auto \
		--task=geometric-repack &&
	test_must_fail git -C r.git -c maintenance.incremental-repack.auto=1 \
		maintenance is-needed --auto --task=incremental-repack
'

test_expect_success 'objects of an unnamed pack are found' '
	unnamed && rm -rf r.git/objects/[0-9a-f][0-9a-f] &&
	for pack in base.git/objects/pack/*.pack
	do
		case $pack in
		*$base*) ;;
		*) stock -C r.git unpack-objects -q <$pack ;;
		esac || return
	done &&
	git -C r.git fsck && git -C r.git rev-list --objects --all >actual &&
	for words in "repack -adq" "repack -adbq" "repack --cruft -dq" gc
	do
		rm -rf again.git && cp -R r.git again.git &&
		git -C again.git $words &&
		rm again.git/objects/pack/.tmp-1-* &&
		stock -C again.git fsck || return
	done
'

# Other processes remove a directory of loose objects when it is empty, and make it again
# for a new object.
for words in "repack -adq" "cat-file --batch-all-objects --batch-check"
do
	test_expect_success "$words: a missing directory of loose objects is made meanwhile" '
		again && ! test -e r.git/objects/00 &&
		MEANWHILE_AFTER=y meanwhile "*objects/00" \
			"mkdir \"$PWD/r.git/objects/00\"" git -C r.git $words &&
		stock -C r.git fsck
	'
done

# All objects are packed anew, with one more, so that the pack has another name. The
# same happens when the next pack is opened, until it has happened 40 times.
pack_again='echo >>../times &&
	ls objects/pack/*.pack | sed "s/pack$/*/" >../old &&
	blob=$("$STOCK_GIT" hash-object -w ../times) &&
	{ cat ../ids && echo $blob; } |
		"$STOCK_GIT" pack-objects -q objects/pack/pack >/dev/null &&
	rm $(cat ../old) && "$STOCK_GIT" prune-packed -q &&
	{ test $(wc -l <../times) -eq 40 || : >"$MEANWHILE_ONCE"; }'

for command in "cat-file -p main" "rev-list --objects main"
do
	test_expect_success "$command: packs go as often as they are listed" '
		again && rm -f times &&
		stock -C base.git rev-list --objects --no-object-names --all >ids &&
		stock -C base.git $command >expect &&
		meanwhile "*/objects/pack/pack-*.pack" "$pack_again" \
			git -C r.git $command >actual &&
		test_line_count 40 times &&
		test_cmp expect actual
	'
done

test_expect_success 'packs go whenever they are listed: this is an error' '
	again && rm -f times &&
	! meanwhile "*/objects/pack/pack-*.pack" \
		"$(echo "$pack_again" | sed "s/-eq 40/-eq 1000/")" \
		git -C r.git repack -adq 2>err &&
	grep "packs are removed faster than they can be opened" err &&
	test $(wc -l <times) -ge 100 &&
	stock -C r.git fsck --full
'

# The objects that the new commit names are loose when the command begins.
for command in "index-pack --strict --stdin" "unpack-objects -q --strict"
do
	test_expect_success "$command: loose objects are packed" '
		rm -rf from.git && cp -R base.git from.git &&
		new=$(stock -C from.git commit-tree -m linked -p main main^{tree} \
			</dev/null) &&
		echo $new | stock -C from.git pack-objects -q --stdout >new.pack &&
		again && unpacked &&
		meanwhile "*/objects/[0-9a-f][0-9a-f]" "$repack" \
			git -C r.git $command <new.pack &&
		stock -C r.git cat-file commit $new
	'
done

# In old.git, the branch "old" was deleted, and its commit has expired. The only pack
# has the commit. The file "old" has the id of the commit.
test_expect_success 'a repository with an expired commit' '
	cp -R base.git old.git &&
	tree=$(echo old | stock -C old.git hash-object -w --stdin) &&
	tree=$(printf "100644 blob %s\tf\n" $tree | stock -C old.git mktree) &&
	stock -C old.git commit-tree -m old -p main~2 $tree >old &&
	stock -C old.git update-ref refs/heads/old $(cat old) &&
	stock -C old.git repack -adq &&
	stock -C old.git update-ref -d refs/heads/old &&
	touch -d "1 year ago" old.git/objects/pack/*
'

# Shell command, to be run in r.git: the branch "old" is pushed again, and then another
# commit.
push_old='"$STOCK_GIT" rev-list --objects --no-object-names $(cat ../old) ^main |
	"$STOCK_GIT" pack-objects -q objects/pack/pack &&
	"$STOCK_GIT" update-ref refs/heads/old $(cat ../old) && '$push

# Without a push of the branch "old", each of these commands removes its commit. After a
# push, the commit must stay.
for options in "gc -q" "repack -adq --cruft --cruft-expiration=2.weeks.ago" \
	"repack -Adq --unpack-unreachable=2.weeks.ago"
do
	test_expect_success "$options: a geometric repack drops a pushed pack" '
		rm -rf r.git && cp -Rp old.git r.git &&
		git -C r.git $options &&
		test_must_fail git -C r.git cat-file -e $(cat old) &&
		rm -rf r.git && cp -Rp old.git r.git &&
		meanwhile "*/pack/tmp_pack_*" \
			"$push_old && \"\$GIT\" repack -dq --geometric=2" \
			git -C r.git $options &&
		stock -C r.git fsck && git -C r.git fsck &&
		stock -C r.git rev-list --objects old
	'
done

# pushed_old: make r.git, where two packs have the commit of the branch "old": the pack
# of old.git, $large, and the pack of a new push, $small
pushed_old () {
	rm -rf r.git && cp -Rp old.git r.git &&
	large=$(ls r.git/objects/pack/*.pack) &&
	(cd r.git && eval "$push_old") >small &&
	small=r.git/objects/pack/pack-$(head -n 1 small).pack &&
	test -e $small && touch -d "1 hour ago" $small
}

is_old () {
	test $(($(date +%s) - $(stat -c %Y "$1"))) -gt 3000
}

# A push of loose objects and a ref, while the repack lists loose objects: the directory
# of the new tree was already listed, the directory of the new commit is listed later.
push_loose='cp -R ../pushed.git/objects/?? objects/ &&
	"$STOCK_GIT" update-ref refs/heads/new $(cat ../commit)'

test_expect_success 'repack --geometric: a bitmap index needs no later push' '
	again && mkdir r.git/objects/7f && cp -R base.git pushed.git &&
	for i in $(seq 100)
	do
		tree=$(printf "100644 blob %s\tf$i\n" $(stock -C base.git \
			rev-parse main:f) | stock -C pushed.git mktree) &&
		stock -C pushed.git commit-tree -m $i -p main $tree >commit &&
		case $tree.$(cat commit) in
		[0-6]*.[89a-f]*)
			break ;;
		esac &&
		rm -rf pushed.git/objects/?? || return
	done &&
	meanwhile "*/objects/7f" "$push_loose" \
		git -C r.git repack --geometric=2 -dqmb &&
	ls r.git/objects/pack/multi-pack-index-*.bitmap &&
	stock -C r.git fsck
'

for layers in "" =incremental
do
	test_expect_success "repack --geometric: a pack of a push gets a bitmap $layers" '
		again &&
		meanwhile "*/pack/tmp_pack_*" "$push" \
			git -C r.git repack --geometric=2 -dqb --write-midx$layers &&
		git -C r.git bitmap list --commits >commits &&
		grep $(stock -C r.git rev-parse new) commits &&
		git -C r.git bitmap verify
	'
done

# The pushed pack needs a commit that was pushed just before, as loose objects.
test_expect_success 'repack --geometric: no bitmap of a pushed pack without its history' '
	again &&
	meanwhile "*/pack/tmp_pack_*" "$(echo "$push" | sed s/repack.*//) :; tip=\$new &&
		new=\$(\"\$STOCK_GIT\" commit-tree -m later -p \$tip \$tree </dev/null) &&
		\"\$STOCK_GIT\" update-ref refs/heads/later \$new &&
		echo \$new | \"\$STOCK_GIT\" pack-objects -q objects/pack/pack" \
		git -C r.git repack --geometric=2 -dqmb &&
	git -C r.git bitmap list --commits >commits &&
	grep $(stock -C r.git rev-parse main) commits &&
	! grep $(stock -C r.git rev-parse later) commits &&
	git -C r.git bitmap verify && stock -C r.git fsck
'

test_expect_success 'repack --geometric: objects of removed packs get no older' '
	pushed_old && git -C r.git repack -q --geometric=2 && is_old $large &&
	git -C r.git repack -dq --geometric=2 &&
	! test -e $small && ! is_old $large &&
	pushed_old && touch -d "30 days ago" $small $(dirname $small)/* &&
	touch -d "20 days ago" $large && git -C r.git repack -dq --geometric=2 &&
	! test -e $small && is_old $large
'

test_expect_success 'multi-pack-index expire: objects of removed packs get no older' '
	pushed_old &&
	git -C r.git multi-pack-index write \
		--preferred-pack=$(basename $large) &&
	git -C r.git multi-pack-index expire &&
	! test -e $small && ! is_old $large && stock -C r.git fsck
'

# locked <shell command> <command>...: run <command> while another process removes packs
# of r.git. The other process takes the lock, and runs the shell command two seconds (or
# $held_s seconds) later, which removes the packs.
locked () {
	python3 - "${held_s:-2}" "$@" <<-\EOF
	import fcntl, os, subprocess, sys, time
	lock = os.open("r.git/objects/pack", os.O_RDONLY)
	fcntl.flock(lock, fcntl.LOCK_EX)
	command = subprocess.Popen(sys.argv[3:])
	time.sleep(float(sys.argv[1]))
	subprocess.run(sys.argv[2], shell=True, check=True)
	os.close(lock)
	sys.exit(command.wait())
	EOF
}

# remove_pack <path of a .pack>: print a shell command that removes the files of the pack
remove_pack () {
	echo "rm -f ${1%.pack}.*"
}

test_expect_success 'repack --geometric: a pack that stays is removed meanwhile' '
	pushed_old && locked "$(remove_pack $large)" \
		git -C r.git repack -dq --geometric=2 &&
	test -e $small && stock -C r.git cat-file -e $(cat old)
'

test_expect_success 'repack --geometric: a push freshens a pack meanwhile' '
	pushed_old && locked "touch $small" \
		git -C r.git repack -dq --geometric=2 &&
	test -e $small && ! is_old $small &&
	git -C r.git repack -dq --geometric=2 &&
	! test -e $small && ! is_old $large && stock -C r.git fsck
'

test_expect_success 'repack -a: a kept pack is removed meanwhile' '
	pushed_old && : >${large%.pack}.keep &&
	locked "$(remove_pack $large)" git -C r.git repack -adq &&
	test -e $small && stock -C r.git cat-file -e $(cat old)
'

# with_unreachable: make r.git, where the loose object $loose and $pack.pack have the
# unreachable object $lost
with_unreachable () {
	again && lost=$(echo lost | stock -C r.git hash-object -w --stdin) &&
	loose=r.git/objects/$(echo $lost | sed "s,..,&/,") && test -e $loose &&
	pack=$(echo $lost | stock -C r.git pack-objects -q objects/pack/pack) &&
	pack=r.git/objects/pack/pack-$pack && test -e $pack.idx
}

test_expect_success 'prune-packed: a pack is removed meanwhile' '
	with_unreachable &&
	held_s=0.5 locked "rm $pack.*" git -C r.git prune-packed &&
	stock -C r.git cat-file -e $lost && with_unreachable &&
	git -C r.git prune-packed && ! test -e $loose
'

for command in prune-packed "prune --expire=now" "repack -dq"
do
	test_expect_success "$command: another process keeps the lock of the packs" '
		with_unreachable && stock -C r.git update-ref refs/tags/lost $lost &&
		held_s=4 locked ":" git -C r.git $command 2>err &&
		grep "^warning: .*another process has locked .*objects/pack" err &&
		test -e $loose && git -C r.git prune-packed && ! test -e $loose
	'
done

for options in "-A" "--cruft"
do
	test_expect_success "repack $options: a pack that keeps an object is removed meanwhile" '
		with_unreachable && rm -f $loose && : >$pack.keep &&
		printf "%s\n" $lost $(stock -C r.git rev-parse main) |
			stock -C r.git pack-objects -q objects/pack/pack &&
		locked "rm $pack.*" git -C r.git repack -dq $options \
			--pack-kept-objects &&
		stock -C r.git cat-file -e $lost
	'
done

test_expect_success 'repack -A: a loose object is removed meanwhile' '
	with_unreachable && locked "rm $loose" git -C r.git repack -Adq 2>err &&
	grep "no pack is removed, because loose object $lost was removed" err &&
	stock -C r.git cat-file -e $lost && git -C r.git repack -Adq &&
	test -e $loose && ! test -e $pack.pack
'

test_expect_success 'multi-pack-index expire: a pack that stays is removed meanwhile' '
	pushed_old &&
	git -C r.git multi-pack-index write \
		--preferred-pack=$(basename $large) &&
	locked "$(remove_pack $large) r.git/objects/pack/multi-pack-index" \
		git -C r.git multi-pack-index expire &&
	test -e $small && stock -C r.git cat-file -e $(cat old)
'

for change in "touch \$small" ": >\${small%.pack}.keep"
do
	test_expect_success "multi-pack-index expire: $change meanwhile" '
		pushed_old &&
		git -C r.git multi-pack-index write \
			--preferred-pack=$(basename $large) &&
		locked "$(eval "echo \"$change\"")" \
			git -C r.git multi-pack-index expire &&
		test -e $small && stock -C r.git fsck
	'
done

for options in '' --bitmap --incremental
do
	test_expect_success "multi-pack-index write $options: a pack is being removed" '
		pushed_old && locked "$(remove_pack $small)" \
			git -C r.git multi-pack-index write $options &&
		name=$(basename $small .pack) && stock -C r.git fsck &&
		! grep -ra $name r.git/objects/pack/multi-pack-index*
	'
done

# pack_of <checksum of a layer of r.git>: the name of its only pack
pack_of () {
	grep -ao "pack-[0-9a-f]*" \
		r.git/objects/pack/multi-pack-index.d/multi-pack-index-$1.midx |
		head -n 1
}

# with_new_pack: r.git with a chain of four layers, and a pack that no layer has. A
# repack does not remove this pack.
with_new_pack () {
	with_chain && new=$(cd r.git && eval "$push" && git rev-parse new) &&
	for pack in r.git/objects/pack/*.idx
	do
		test -e base.git/objects/pack/${pack##*/} ||
			: >${pack%.idx}.keep || return
	done
}

# Older versions of stock Git leave the chain when they remove packs.
for chain_is in kept removed
do
	case $chain_is in
	kept) others="\"\$STOCK_GIT\" -C r.git repack -adq" ;;
	*) others="$others && rm -f r.git/objects/pack/multi-pack-index.d/*[!k]" ;;
	esac

	test_expect_success "write --incremental: lower packs go, their chain is $chain_is" '
		with_new_pack &&
		locked "$others" \
			git -C r.git multi-pack-index write --incremental &&
		test_line_count 1 $chain &&
		git -C r.git multi-pack-index verify && stock -C r.git fsck
	'

	test_expect_success "compact: other packs go, their chain is $chain_is" '
		with_new_pack && cp $chain before &&
		: >r.git/objects/pack/$(pack_of $layer2).keep &&
		: >r.git/objects/pack/$(pack_of $layer3).keep &&
		test_expect_code 128 locked "$others" \
			git -C r.git multi-pack-index compact --incremental \
			$layer2 $layer3 2>err &&
		grep "could not find MIDX: $layer2" err &&
		{ ! test -e $chain || test_cmp before $chain; } &&
		stock -C r.git fsck
	'
done

for command in "gc -q" "repack -adq" "repack -dq --geometric=2"
do
	test_expect_success "$command: a killed process has left a lock" '
		with_redundant && : >r.git/objects/pack/multi-pack-index.lock &&
		git -C r.git $command &&
		ls r.git/objects/pack/*.pack >packs && test_line_count 1 packs &&
		! test -e r.git/objects/pack/multi-pack-index &&
		stock -C r.git fsck
	'
done

# short_locks <command>...: fails if the command has the lock of the pack directory of
# r.git for longer than 0.8 seconds.
short_locks () {
	python3 - "$@" <<-\EOF
	import fcntl, os, subprocess, sys, time
	lock = os.open("r.git/objects/pack", os.O_RDONLY)
	command = subprocess.Popen(sys.argv[1:])
	longest = 0
	while command.poll() is None:
	    began = time.monotonic()
	    fcntl.flock(lock, fcntl.LOCK_EX)
	    longest = max(longest, time.monotonic() - began)
	    fcntl.flock(lock, fcntl.LOCK_UN)
	    time.sleep(0.01)
	sys.exit(command.returncode or longest > 0.8)
	EOF
}

# Each push needs the lock of the pack directory. A busy machine may delay a command for
# so long that the first attempts fail.
test_expect_success 'repack -d: no push waits for the lock of a multi-pack-index' '
	for try in 1 2 3
	do
		with_redundant && : >r.git/objects/pack/multi-pack-index.lock || return
		short_locks git -C r.git repack -adq && break
	done &&
	ls r.git/objects/pack/*.pack >packs && test_line_count 1 packs &&
	! test -e r.git/objects/pack/multi-pack-index
'

# again_topic: make r.git, whose pack $name has the objects of the branch "topic" of
# work, but no ref reaches them. The file topic-$name.pack is a copy of this pack. If
# "topic" is pushed, the pushed pack has the same name.
again_topic () {
	again && rm -rf work && stock clone -q r.git work 2>err &&
	stock -C r.git config transfer.unpackLimit 1 &&
	stock -C work checkout -q -b topic && : >work/file &&
	stock -C work add . && stock -C work commit -qm topic &&
	stock -C work rev-list --objects --no-object-names main..topic |
		stock -C work pack-objects -q "$PWD/topic" >name &&
	name=$(cat name) && stock -C r.git index-pack --stdin <topic-$name.pack
}

test_expect_success 'push: the same pack is being removed' '
	again_topic && mv topic-$name.* work/.git/objects/pack &&
	stock -C work prune-packed && stored=r.git/objects/pack/pack-$name &&
	test -e $stored.pack && touch -d "1 day ago" $stored.* &&
	locked "rm -f $stored.*" "$STOCK_GIT" -C work push -q \
		--receive-pack="$GIT receive-pack" ../r.git topic &&
	test -e $stored.pack && stock -C r.git fsck &&
	stock -C r.git rev-list --objects topic
'

test_expect_success 'repack: the same pack is being removed' '
	again && git -C r.git repack -adq &&
	stored=$(ls r.git/objects/pack/*.pack) && git -C r.git repack -adq &&
	locked "rm -f ${stored%pack}*" git -C r.git repack -adq &&
	test -e $stored && test -e ${stored%pack}idx && stock -C r.git fsck
'

test_expect_success 'index-pack: the same pack is being removed' '
	again_topic && stored=r.git/objects/pack/pack-$name &&
	locked "rm -f $stored.*" sh -c \
		"\"$GIT\" -C r.git index-pack --stdin <topic-$name.pack" &&
	test -e $stored.pack && test -e $stored.idx && stock -C r.git fsck
'

test_done
