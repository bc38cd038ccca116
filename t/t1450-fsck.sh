#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='fsck of undamaged and damaged repositories, compared with stock Git'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-compare.sh"

# object_file <rev>: prints the path of a loose object.
object_file () {
	oid_=$(stock rev-parse "$1") &&
	echo ".git/objects/$(echo $oid_ | cut -c1-2)/$(echo $oid_ | cut -c3-)"
}

# both <argument>...: asserts that our fsck and stock Git's print the same
# lines, in any order, with the same exit code. If `codes` is set, only the exit
# codes are compared.
both () {
	stock fsck "$@" >"$TRASH/expect" 2>"$TRASH/expect.err"
	expect_=$?
	git fsck "$@" >"$TRASH/actual" 2>"$TRASH/actual.err"
	actual_=$?
	if test $expect_ -ne $actual_
	then
		echo "fsck $*: exit code $actual_, not $expect_" >&2
		cat "$TRASH/actual.err" "$TRASH/actual" >&2
		return 1
	fi
	sort <"$TRASH/expect" >"$TRASH/expect.sorted" &&
	sort <"$TRASH/actual" >"$TRASH/actual.sorted" &&
	test_cmp "$TRASH/expect.sorted" "$TRASH/actual.sorted"
}

# damaged <name> <damage>: runs the damaging script in a new copy of the
# repository. Then both fscks must agree.
damaged () {
	test_expect_success "$1" '
		rm -rf "$TRASH/d" &&
		cp -R "$TRASH/r" "$TRASH/d" &&
		cd "$TRASH/d" &&
		chmod -R u+w .git/objects &&
		'"$2"' &&
		both &&
		both --connectivity-only
	'
}

test_expect_success 'a repository with objects, refs and reflogs of all kinds' '
	stock init -q r &&
	cd r &&
	mkdir d &&
	echo a >a && echo b >d/b &&
	stock add . && test_tick && stock commit -q -m one &&
	echo a2 >a && stock add . && test_tick && stock commit -q -m two &&
	stock tag -a -m tag t1 &&
	stock branch side HEAD~1 &&
	echo dangling | stock hash-object -w --stdin &&
	lost=$(echo x | stock commit-tree HEAD^{tree} -p HEAD) &&
	echo y | stock commit-tree HEAD~1^{tree} -p $lost
'

test_expect_success 'an undamaged repository, with every option' '
	both &&
	both --unreachable &&
	both --root --tags &&
	both --no-dangling &&
	both --no-reflogs &&
	both --cache --full --strict &&
	both --no-full &&
	both --connectivity-only &&
	both --connectivity-only --unreachable &&
	both side &&
	both --unreachable side &&
	both --root HEAD t1 &&
	both nonesuch
'

# The expected code is that of stock Git 2.55. Git 2.39 exits with 1.
test_expect_success 'the exit code for a missing named object' '
	no=1111111111111111111111111111111111111111 &&
	test_expect_code 2 git fsck $no >out 2>err &&
	printf "%s\n" "error: $no: invalid sha1 pointer $no" \
		"notice: No default references" >expect &&
	test_cmp expect err && grep "^dangling commit" out &&
	test_expect_code 2 git fsck HEAD $no 2>err &&
	! grep notice err && rm out err expect
'

test_expect_success '--lost-found' '
	both --lost-found &&
	mv .git/lost-found ../lost.ours &&
	stock fsck --lost-found &&
	diff -r .git/lost-found ../lost.ours &&
	rm -r .git/lost-found
'

test_expect_success 'a packed repository with all side files' '
	cp -R "$TRASH/r" "$TRASH/p" &&
	cd "$TRASH/p" &&
	stock repack -adq --write-midx &&
	stock commit-graph write --reachable --no-progress &&
	both &&
	both --unreachable --root --tags &&
	both --connectivity-only &&
	stock repack -adbq &&
	both --strict
'

damaged 'a missing blob' 'rm $(object_file HEAD:a)'
damaged 'a missing blob that no index names' 'rm $(object_file HEAD~1:a)'
damaged 'a missing tree' 'rm $(object_file HEAD:d) .git/index'
damaged 'a missing root tree' 'rm $(object_file HEAD^{tree}) .git/index'
damaged 'a missing commit' 'rm $(object_file HEAD~1)'
test_expect_success 'reflog entries that name missing objects' '
	rm -rf "$TRASH/d" && cp -R "$TRASH/r" "$TRASH/d" && cd "$TRASH/d" &&
	rm -f $(object_file HEAD~1) &&
	both &&
	grep "invalid reflog entry" ../expect.err | sort >../expect &&
	grep "invalid reflog entry" ../actual.err | sort >../actual &&
	grep "error: HEAD: " ../expect && test_cmp ../expect ../actual
'

damaged 'a missing tip' 'rm $(object_file HEAD)'
damaged 'a missing tag' 'rm $(object_file t1)'
damaged 'a ref to nothing' \
	'echo 1111111111111111111111111111111111111111 >.git/refs/heads/x'
damaged 'a branch that is a blob' \
	'stock rev-parse HEAD:a >.git/refs/heads/x'
damaged 'an index that names nothing' '
	stock update-index --add --cacheinfo \
		100644,1111111111111111111111111111111111111111,x'
damaged 'entries of two indexes that name the same missing blob' '
	blob=100644,1111111111111111111111111111111111111111 &&
	stock worktree add -q --detach "$TRASH/d/w" &&
	stock update-index --add --cacheinfo $blob,x --cacheinfo $blob,y &&
	stock -C w update-index --add --cacheinfo $blob,z'
damaged 'an unreachable tree that names nothing' '
	printf "100644 blob 1111111111111111111111111111111111111111\tx\n" |
		stock mktree --missing'
damaged 'HEAD elsewhere' 'echo "ref: refs/foo" >.git/HEAD'

test_expect_success 'loose objects that are broken' '
	cd ../r &&
	for how in "echo foo" "printf %s" "cat $(object_file HEAD:d/b)"
	do
		rm -rf ../d && cp -R ../r ../d && cd ../d &&
		chmod -R u+w .git/objects &&
		$how >$(object_file HEAD:a).new "" 2>/dev/null
		mv $(object_file HEAD:a).new $(object_file HEAD:a) &&
		both || return 1
	done &&
	grep "hash-path mismatch, found at: .*/objects/" ../actual.err
'

# The repository has no index file, because stock Git would first name objects
# by the index's cached trees.
test_expect_success '--name-objects' '
	rm -rf ../b.git && stock clone -q --bare ../r ../b.git &&
	for object in HEAD:a HEAD~1:a HEAD:d/b HEAD:d HEAD^{tree} HEAD~1
	do
		rm -rf ../d && cp -R ../b.git ../d && cd ../d &&
		both --name-objects &&
		oid=$(stock rev-parse $object) &&
		rm -f objects/$(echo $oid | sed "s,..,&/,") &&
		both --name-objects &&
		{
			# The missing object is the commit of the branch `side`.
			# Git 2.39 exits with 1.
			test $object = HEAD~1 || both --name-objects side
		} &&
		stock fsck --name-objects | grep "(.*)" || return 1
	done &&
	cd ../r
'

test_expect_success '--name-objects names entries of the index of each work tree' '
	rm -rf ../d && cp -R ../r ../d && cd ../d &&
	stock worktree add -q --detach w &&
	for nr in 1 2
	do
		blob=100644,$(printf %040d $nr) &&
		stock update-index --add --cacheinfo $blob,x$nr &&
		stock -C w update-index --add --cacheinfo $blob,y$nr &&
		stock update-index --force-remove x2 || return 1
	done &&
	git fsck --name-objects >../actual || true &&
	grep "^missing blob 0*1 (:x1)\$" ../actual &&
	grep "^missing blob 0*2 (\.git/worktrees/w/index:y2)\$" ../actual &&
	git -C w fsck --name-objects >../actual || true &&
	grep "^missing blob 0*1 ($TRASH/d/\.git/index:x1)\$" ../actual &&
	grep "^missing blob 0*2 (:y2)\$" ../actual &&
	cd ../r
'

test_expect_success 'objects that are malformed' '
	rm -rf ../d && stock init -q ../d && cd ../d &&
	tree=$(stock mktree </dev/null) &&
	for line in "author A <a@b> 1 +0000" "author A <a@b> 01 +0000" \
		"author A <a@b 1 +0000" "author <a> 1 +0000" "foo" \
		"author A <a> 1 +00" "author A<a> 1 +0000"
	do
		printf "%s\n" "tree $tree" "$line" \
			"committer A <a@b> 1 +0000" "" m |
			git hash-object -w --literally -t commit --stdin ||
			return 1
	done &&
	for entry in "0100644 a" "100664 b" "100644 .git" "100644 a/b" \
		"120000 .gitmodules" "120000 .mailmap" "100644 .."
	do
		{
			printf "%s\0" "$entry" &&
			stock hash-object -w --stdin </dev/null |
			sed "s/../\\\\x&/g" | tr -d "\\n" | xargs -0 printf
		} >../tree &&
		git hash-object -w --literally -t tree ../tree || return 1
	done &&
	both &&
	grep -av "^notice" ../expect.err | sort >../expect &&
	grep -av "^notice" ../actual.err | sort >../actual &&
	test_cmp ../expect ../actual &&
	both --strict &&
	for set in missingEmail=ignore badDate=warn zeroPaddedDate=warn \
		nulInHeader=warn foo=warn missingEmail=x skipList=/nonesuch
	do
		stock -c fsck.$set fsck >/dev/null 2>../expect
		code=$?
		git -c fsck.$set fsck >/dev/null 2>../actual
		test $? = $code &&
		sort ../expect | grep -av "^notice" >../expect.sorted
		sort ../actual | grep -av "^notice" >../actual.sorted
		test_cmp ../expect.sorted ../actual.sorted || return 1
	done
'

test_expect_success 'files among loose objects that are no objects' '
	rm -rf ../d && cp -R ../r ../d && cd ../d &&
	dir=$(dirname $(object_file HEAD)) &&
	echo x >$dir/garbage && echo x >$dir/tmp_obj_x && mkdir $dir/0123 &&
	mkdir -p .git/objects/zz && echo x >.git/objects/zz/garbage &&
	both && both --connectivity-only && both --no-full &&
	grep "^bad sha1 file" ../expect.err | sort >../expect &&
	grep "^bad sha1 file" ../actual.err | sort >../actual &&
	test_line_count 2 ../expect && test_cmp ../expect ../actual
'

test_expect_success 'packs that are broken' '
	rm -rf ../d && cp -R ../r ../d && cd ../d &&
	stock repack -adq && chmod -R u+w .git/objects &&
	pack=$(ls .git/objects/pack/*.pack) &&
	cp $pack ../good &&
	for at in 20 40 60 100 150 200 300
	do
		cp ../good $pack &&
		printf X | dd of=$pack bs=1 seek=$at conv=notrunc 2>/dev/null &&
		test_must_fail git fsck >../out 2>../err || return 1
	done &&
	cp ../good $pack &&
	printf X | dd of=${pack%.pack}.idx bs=1 seek=1200 conv=notrunc \
		2>/dev/null &&
	both
'

test_expect_success 'broken side files of packs' '
	rm -rf ../d && cp -R ../r ../d && cd ../d &&
	git repack -adbq && chmod -R u+w .git/objects &&
	git fsck &&
	pack=$(ls .git/objects/pack/*.pack) &&
	cp ${pack%.pack}.rev ../good &&
	printf X | dd of=${pack%.pack}.rev bs=1 seek=13 conv=notrunc &&
	test_expect_code 64 git fsck &&
	cp ../good ${pack%.pack}.rev &&
	printf X | dd of=${pack%.pack}.bitmap bs=1 seek=50 conv=notrunc &&
	test_expect_code 128 git fsck &&
	rm ${pack%.pack}.bitmap &&
	stock commit-graph write --reachable --no-progress &&
	chmod u+w .git/objects/info/commit-graph &&
	printf X | dd of=.git/objects/info/commit-graph bs=1 seek=1300 \
		conv=notrunc &&
	both &&
	rm .git/objects/info/commit-graph &&
	stock multi-pack-index write &&
	chmod u+w .git/objects/pack/multi-pack-index &&
	printf X | dd of=.git/objects/pack/multi-pack-index bs=1 seek=1200 \
		conv=notrunc &&
	test_expect_code 32 git fsck
'

test_expect_success 'a pack whose index cannot be opened' '
	rm -rf ../d && cp -R ../r ../d && cd ../d &&
	stock repack -adq && git fsck &&
	cp -R .git/objects/pack ../packs &&
	for idx in ../packs/*.idx
	do
		echo junk >.git/objects/pack/other.idx &&
		cp ${idx%.idx}.pack .git/objects/pack/other.pack || return 1
	done &&
	rm -r ../packs &&
	test_expect_code 4 git fsck 2>../err &&
	grep "error: .*other.idx: index file too small" ../err
'

# The exit codes are those of Git 2.55, except for a broken chain: Git 2.55 does
# not report it.
test_expect_success 'a multi-pack-index or chain whose packs are missing' '
	rm -rf ../d && cp -R ../r ../d && cd ../d &&
	stock repack -dq &&
	echo c >c && stock add c && test_tick && stock commit -q -m three &&
	stock repack -dq &&
	stock multi-pack-index write && git fsck &&
	cp -R .git/objects/pack ../packs &&
	rm -f $(ls .git/objects/pack/*.pack | head -1) &&
	test_expect_code 42 git fsck 2>../err &&
	grep "failed to load pack" ../err &&
	test_expect_code 10 git -c core.multiPackIndex=false fsck &&
	rm -rf .git/objects/pack && mv ../packs .git/objects/pack &&
	rm -f .git/objects/pack/multi-pack-index &&
	git multi-pack-index write --incremental &&
	git repack -q && git multi-pack-index write --incremental &&
	git fsck &&
	echo 1111111111111111111111111111111111111111 \
		>.git/objects/pack/multi-pack-index.d/multi-pack-index-chain &&
	test_expect_code 32 git fsck
'

# with_type <mode> <type> <object>
# Makes a repository in which a tree of a branch names the object with this
# mode, or (mode "-") a tag names it with this type. Checks the results of
# commands in it.
with_type () {
	rm -rf "$TRASH/d" &&
	cp -R "$TRASH/r" "$TRASH/d" &&
	cd "$TRASH/d" &&
	stock rm -q --cached -r . &&
	id=$(stock rev-parse "$3") &&
	if test "$1" = -
	then
		printf "object %s\ntype %s\ntag wrong\n" $id $2 >tag &&
		echo "tagger C <c@example.com> 1 +0000" >>tag &&
		echo >>tag &&
		stock update-ref refs/tags/wrong \
			$(stock hash-object -t tag -w --literally tag)
	else
		printf "%s x\0" $1 >tree &&
		python3 -c "import sys
sys.stdout.buffer.write(bytes.fromhex(sys.argv[1]))" $id >>tree &&
		wrong=$(stock hash-object -t tree -w --literally tree) &&
		stock update-ref refs/heads/wrong \
			$(echo x | stock commit-tree $wrong)
	fi &&
	test_expect_code 3 git_alone fsck 2>err &&
	grep "object $id is a .*, not a $2" err &&
	test_expect_code 2 git_alone fsck --connectivity-only &&
	test_expect_code 128 git_alone rev-list --objects --all 2>err &&
	grep "$id" err &&
	test_must_fail git_alone pack-objects --all --stdout </dev/null >pack &&
	test_must_fail git_alone bundle create ../bundle --all &&
	test_must_fail git_alone repack -adq &&
	test_must_fail stock clone -q --no-local -u "$GIT upload-pack" . ../clone
}

test_expect_success 'an object under the wrong type' '
	with_type - tree main:a &&
	with_type - tree main &&
	with_type - commit main^{tree} &&
	with_type - commit t1 &&
	with_type 40000 tree main:a &&
	with_type 100644 blob main:d
'

test_expect_success 'a commit whose tree is a blob, or whose parent is a tree' '
	for header in "tree $(stock -C "$TRASH/r" rev-parse main:a)" \
		"tree $(stock -C "$TRASH/r" rev-parse main^{tree})
parent $(stock -C "$TRASH/r" rev-parse main^{tree})"
	do
		rm -rf "$TRASH/d" &&
		cp -R "$TRASH/r" "$TRASH/d" &&
		cd "$TRASH/d" &&
		{
			echo "$header" &&
			echo "author A <a@example.com> 1 +0000" &&
			echo "committer A <a@example.com> 1 +0000" &&
			echo
		} >commit &&
		stock hash-object -t commit -w --literally commit \
			>.git/refs/heads/wrong &&
		test_expect_code 3 git_alone fsck &&
		test_expect_code 2 git_alone fsck --connectivity-only &&
		test_expect_code 128 git_alone rev-list --objects --all &&
		test_must_fail git_alone repack -adq || return 1
	done
'

# flip <file> <offset>: changes one byte of a file.
flip () {
	printf '\377' | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}

# refuses <stock's message> <our message>: both fscks must exit with 128. The
# stock Git of Debian 12 does not read the index files of linked work trees.
refuses () {
	if test "$index" = .git/index
	then
		test_expect_code 128 stock fsck 2>err && grep "$1" err
	fi &&
	test_expect_code 128 git_alone fsck 2>err && grep "$1" err &&
	test_expect_code 128 git_alone fsck --connectivity-only &&
	test_expect_code 128 git_alone fsck --name-objects &&
	git_alone fsck HEAD
}

test_expect_success 'damaged indexes, also those of worktrees' '
	rm -rf "$TRASH/d" "$TRASH/w" &&
	cp -R "$TRASH/r" "$TRASH/d" &&
	cd "$TRASH/d" &&
	stock worktree add -q "$TRASH/w" side &&
	both &&
	for index in .git/index .git/worktrees/w/index
	do
		cp $index "$TRASH/saved" &&
		flip $index 20 &&
		refuses "bad index file sha1 signature" &&
		truncate -s 60 $index &&
		refuses "bad index file sha1 signature" &&
		echo garbage >$index &&
		refuses "index file smaller than expected" &&
		>$index &&
		refuses "index file smaller than expected" &&
		python3 - "$TRASH/saved" $index <<-\EOC &&
		import hashlib, sys
		body = open(sys.argv[1], "rb").read()[:-20]
		body += b"need" + bytes(4)
		sha1 = hashlib.sha1(body).digest()
		open(sys.argv[2], "wb").write(body + sha1)
		EOC
		refuses "need" &&
		cp "$TRASH/saved" $index &&
		both || return 1
	done
'

test_expect_success 'grafts: history that they hide is unreachable' '
	repo_linear grafted.git 3 && repo_linear alone.git 3 &&
	for repo in grafted.git alone.git
	do
		git -C $repo rev-parse main~1 >$repo/info/grafts || return 1
	done &&
	stock -C grafted.git fsck --unreachable >expect 2>&1 &&
	grep "unreachable commit" expect &&
	"$GIT" -C grafted.git fsck --unreachable >actual 2>&1 &&
	test_cmp expect actual &&
	git_alone -C alone.git fsck --unreachable >actual &&
	test_must_be_empty actual
'

test_expect_success 'alternates, shallow histories, sha256, an empty repository' '
	cd .. && rm -rf d && stock clone -q --shared r d && cd d &&
	both && both --unreachable &&
	cd .. && rm -rf d &&
	stock clone -q --depth=1 "file://$TRASH/r" d && cd d && both &&
	cd .. && rm -rf d && stock init -q --object-format=sha256 d && cd d &&
	echo a >a && stock add a && stock commit -q -m a &&
	echo b | stock hash-object -w --stdin &&
	both && both --root --unreachable &&
	cd .. && rm -rf d && stock init -q d && cd d && both
'

test_expect_success 'a named branch that is no commit' '
	cd "$TRASH/r" &&
	branch=$(stock symbolic-ref HEAD) &&
	test_expect_code 8 git fsck "$branch^{tree}" 2>err &&
	echo "error: $branch^{tree}: not a commit" >expect &&
	grep -F -x -f expect err
'

test_done
