#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='fsck: which objects are roots, which links are followed, and
which objects are reported; as in stock Git 2.55'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-compare.sh"

# object_file <rev>: prints the path of a loose object.
object_file () {
	oid_=$(stock rev-parse "$1") &&
	echo ".git/objects/$(echo $oid_ | cut -c1-2)/$(echo $oid_ | cut -c3-)"
}

# fresh <directory>: makes a repository with two commits, a tag and a branch.
# All objects are loose.
fresh () {
	cd "$TRASH" && rm -rf "$1" && stock init -q "$1" && cd "$1" &&
	mkdir -p d/e && echo a >a && echo b >d/b && echo c >d/e/c &&
	stock add . && test_tick && stock commit -q -m one &&
	echo 2 >a && test_tick && stock commit -q -a -m two &&
	stock tag -a -m tag t1 && stock branch side HEAD~1
}

# finds <code> <argument>...: asserts that fsck exits with the code, and prints
# the lines of ../expect to standard output, in any order.
finds () {
	code_=$1 &&
	shift &&
	test_expect_code $code_ git fsck "$@" >../out 2>../err &&
	sort ../expect >../expect.sorted &&
	sort ../out >../out.sorted &&
	test_cmp ../expect.sorted ../out.sorted
}

test_expect_success '--no-full reports only loose objects' '
	fresh r &&
	blob=$(echo packed | stock hash-object -w --stdin) &&
	tree=$(printf "100644 blob $blob\tf\n" | stock mktree) &&
	commit=$(echo x | stock commit-tree $tree) &&
	stock update-ref refs/heads/tmp $commit &&
	stock repack -adq && rm .git/refs/heads/tmp .git/logs/refs/heads/tmp &&
	loose=$(echo loose | stock hash-object -w --stdin) &&
	top=$(printf "100644 blob $blob\tg\n100644 blob $loose\th\n" |
		stock mktree) &&
	last=$(echo y | stock commit-tree $top -p $commit) &&
	echo "dangling commit $last" >../expect &&
	finds 0 --no-full &&
	printf "unreachable %s\n" "commit $last" "tree $top" "blob $loose" \
		>../expect &&
	finds 0 --no-full --unreachable &&
	printf "unreachable %s\n" "commit $commit" "tree $tree" \
		"blob $blob" >>../expect &&
	finds 0 --no-full --connectivity-only --unreachable &&
	finds 0 --unreachable
'

test_expect_success 'links of promised objects are not followed' '
	cd "$TRASH" && stock init -q --bare far && cd far &&
	stock config uploadpack.allowFilter true && cd .. && fresh r &&
	stock push -q ../far HEAD && cd .. &&
	stock clone -q --bare --filter=blob:none "file://$TRASH/far" near &&
	cd near && >../expect && finds 0 &&
	for name in HEAD~1 HEAD^{tree}
	do
		stock rev-parse $name || return 1
	done >ids &&
	echo "dangling commit $(sed -n 1p ids)" >../expect &&
	echo "dangling tree $(sed -n 2p ids)" >>../expect &&
	finds 0 --connectivity-only &&
	for name in HEAD~1 HEAD^{tree} HEAD:d HEAD:d/e HEAD~1^{tree}
	do
		oid=$(stock rev-parse $name) &&
		echo "unreachable $(stock cat-file -t $oid) $oid" || return 1
	done >../expect &&
	finds 0 --unreachable &&
	finds 0 --unreachable --connectivity-only
'

test_expect_success 'local objects that refer to promised objects' '
	blob=$(echo new | stock hash-object -w --stdin) &&
	tree=$(printf "100644 blob $blob\tnew\n" | stock mktree) &&
	top=$(echo x | stock commit-tree $tree -p HEAD) &&
	stock update-ref refs/heads/new $top &&
	finds 0 --unreachable &&
	echo x >gone && gone=$(stock hash-object -w gone) &&
	bad=$(printf "100644 blob $gone\tgone\n" | stock mktree) &&
	rm objects/$(echo $gone | sed "s,..,&/,") &&
	last=$(echo x | stock commit-tree $bad -p $top) &&
	stock update-ref refs/heads/new $last &&
	printf "%s\n" "broken link from    tree $bad" \
		"              to    blob $gone" "missing blob $gone" >>../expect &&
	finds 2 --unreachable
'

# write_loose <file> <bytes>: writes the bytes, compressed, as a loose object.
write_loose () {
	rm -f "$1" && mkdir -p "$(dirname "$1")" &&
	python3 -c "import sys, zlib; sys.stdout.buffer.write(
zlib.compress(sys.argv[1].encode().replace(b\"|\", b\"\\0\")))" "$2" >"$1"
}

test_expect_success '--connectivity-only checks ids of refs only' '
	fresh r && write_loose "$(object_file HEAD:a)" "blob 1|x" &&
	>../expect && finds 0 --connectivity-only && test_must_be_empty ../err &&
	blob=$(stock rev-parse HEAD:a) &&
	echo $blob >.git/refs/tags/blob &&
	finds 2 --connectivity-only &&
	printf "error: %s\n" "hash mismatch $blob" \
		"refs/tags/blob: invalid sha1 pointer $blob" >../expect.err &&
	test_cmp ../expect.err ../err &&
	echo "dangling tag $(stock rev-parse t1)" >../expect &&
	finds 2 --connectivity-only $blob &&
	printf "error: %s\n" "hash mismatch $blob" \
		"$blob: invalid sha1 pointer $blob" >../expect.err &&
	grep "^error" ../err >../err.errors &&
	test_cmp ../expect.err ../err.errors &&
	fresh r && write_loose "$(object_file t1)" "tag 1|x" &&
	tag=$(cut -c1-40 .git/refs/tags/t1) &&
	echo "dangling tag $tag" >../expect &&
	finds 2 --connectivity-only && grep "hash mismatch $tag" ../err
'

test_expect_success '--connectivity-only and objects without a header' '
	fresh r && >../expect &&
	file=$(object_file HEAD:a) && chmod u+w $file && >$file &&
	finds 0 --connectivity-only && test_must_be_empty ../err &&
	oid=aa11111111111111111111111111111111111111 &&
	mkdir -p .git/objects/aa && >.git/objects/aa/${oid#aa} &&
	echo "dangling unknown $oid" >../expect &&
	finds 1 --connectivity-only && grep "$oid .*is corrupt" ../err &&
	rm .git/objects/aa/${oid#aa} &&
	tree=$(stock rev-parse HEAD~1^{tree}) && gone=$(stock rev-parse HEAD~1:a) &&
	file=$(object_file HEAD~1^{tree}) && chmod u+w $file && >$file &&
	printf "%s\n" "broken link from  commit $(stock rev-parse HEAD~1)" \
		"              to    tree $tree" "missing tree $tree" \
		"dangling blob $gone" >../expect &&
	finds 2 --connectivity-only && ! grep "is a blob" ../err
'

test_expect_success '--connectivity-only and a damaged commit in a pack' '
	fresh r && stock repack -adq && oid=$(stock rev-parse HEAD~1) &&
	rm -rf .git/logs .git/refs/heads/side && stock pack-refs --all &&
	stock update-ref -d refs/heads/side &&
	pack=$(ls .git/objects/pack/*.pack) && chmod u+w $pack &&
	at=$(stock verify-pack -v $pack | sed -n "s/^$oid.* //p") &&
	printf xxxx | dd of=$pack bs=1 seek=$((at + 10)) conv=notrunc 2>../dd &&
	test_expect_code 2 git fsck --connectivity-only >../out 2>../err &&
	grep "^missing commit $oid" ../out && grep "^error: " ../err
'

test_expect_success 'trees that an index file has cached are roots' '
	fresh r && echo new >d/e/c && stock add . &&
	top=$(stock write-tree) && d=$(stock rev-parse $top:d) &&
	e=$(stock rev-parse $d:e) && new=$(stock rev-parse $e:c) &&
	>../expect && finds 0 --unreachable &&
	printf "unreachable %s\n" "tag $(stock rev-parse t1)" >../expect &&
	finds 0 --unreachable --cache HEAD &&
	printf "unreachable %s\n" "tree $top" "tree $d" "tree $e" \
		"blob $new" >>../expect &&
	finds 0 --unreachable HEAD &&
	bad="invalid sha1 pointer in cache-tree of .git/index" &&
	rm -f $(object_file $d:e) &&
	printf "%s\n" "broken link from    tree $d (:)" \
		"              to    tree $e (:e/)" \
		"missing tree $e (:e/)" >../expect &&
	finds 10 --name-objects && echo "error: $e: $bad" >../expect.err &&
	test_cmp ../expect.err ../err &&
	finds 10 --name-objects --connectivity-only &&
	test_cmp ../expect.err ../err &&
	rm -f $(object_file $top) && echo "dangling tree $d" >../expect &&
	finds 8 && echo "error: $top: $bad" >../expect.err &&
	test_cmp ../expect.err ../err
'

test_expect_success 'a cached empty tree, and one with a wrong id' '
	fresh r && stock read-tree --empty && tree=$(stock write-tree) &&
	echo "missing tree $tree" >../expect && rm -f $(object_file $tree) &&
	finds 2 && test_must_be_empty ../err &&
	write_loose "$(object_file $tree)" "tree 0|" && >../expect &&
	finds 0 && test_must_be_empty ../err &&
	fresh r && tree=$(stock rev-parse HEAD:d) &&
	write_loose "$(object_file HEAD:d)" "tree 0|" &&
	test_expect_code 8 git fsck --connectivity-only 2>../err &&
	printf "error: %s\n" "hash mismatch $tree" \
		"$tree: invalid sha1 pointer in cache-tree of .git/index" \
		>../expect.err &&
	test_cmp ../expect.err ../err
'

test_expect_success 'files of a resolved conflict are roots' '
	fresh r && stock rm -q --cached a && rm -f ../stages ../ids &&
	for n in 1 2 3
	do
		id=$(echo stage $n | stock hash-object -w --stdin) &&
		printf "100644 $id $n\ta\n" >>../stages && echo $id >>../ids ||
		return
	done &&
	stock update-index --index-info <../stages && stock add a &&
	>../expect && finds 0 && test_must_be_empty ../err &&
	sed "s/^/dangling blob /" ../ids >../expect &&
	finds 0 HEAD t1 && >../expect && rm -f $(object_file $id) &&
	echo "error: $id: invalid sha1 pointer in resolve-undo of .git/index" \
		>../expect.err &&
	finds 8 && test_cmp ../expect.err ../err &&
	finds 8 --connectivity-only && test_cmp ../expect.err ../err
'

test_expect_success '--name-objects prefers refs, then reflogs, then indexes' '
	fresh r && rm -f $(object_file HEAD~1^{tree}) &&
	git fsck --name-objects >../out; grep "(refs/heads/side)" ../out &&
	stock update-ref -d refs/heads/side &&
	git fsck --name-objects >../out; grep "(HEAD@{[0-9]*})" ../out &&
	fresh r && rm -f $(object_file HEAD:d) &&
	git fsck --name-objects >../out; grep "^missing tree .* (:d/)" ../out
'

test_expect_success 'refs to missing objects are no default references' '
	fresh r && oid=$(stock rev-parse HEAD) && stock update-ref -d refs/heads/side &&
	stock tag -d t1 && rm -f $(object_file HEAD) &&
	test_expect_code 2 git fsck 2>../err &&
	printf "error: %s\n" "refs/heads/main: invalid sha1 pointer $oid" \
		"HEAD: invalid sha1 pointer $oid" \
		"HEAD: invalid reflog entry $oid" \
		"refs/heads/main: invalid reflog entry $oid" >../expect.err &&
	echo "notice: No default references" >>../expect.err &&
	test_cmp ../expect.err ../err
'

test_expect_success 'HEADs of other work trees, also with --no-reflogs' '
	fresh r && rm -rf ../w && stock worktree add -q --detach ../w &&
	oid=$(echo w | stock commit-tree HEAD^{tree} -p HEAD) &&
	echo $oid >.git/worktrees/w/HEAD &&
	>../expect && finds 0 --no-reflogs &&
	rm -f $(object_file $oid) &&
	finds 2 --no-reflogs &&
	echo "error: worktrees/w/HEAD: invalid sha1 pointer $oid" \
		>../expect.err &&
	test_cmp ../expect.err ../err
'

test_expect_success 'a broken packed-refs file ends the check at once' '
	fresh r && stock pack-refs --all && echo garbage >>.git/packed-refs &&
	>../expect && finds 128 --root --tags &&
	grep "^fatal: unexpected line in .git/packed-refs: garbage" ../err
'

test_expect_success '--root prints commits on the shallow boundary' '
	fresh r && cd .. && rm -rf s &&
	stock clone -q --depth=1 "file://$TRASH/r" s && cd s &&
	echo "root $(stock rev-parse HEAD)" >../expect && finds 0 --root
'

test_expect_success 'wrong values of keys end the check' '
	fresh r && >../expect &&
	for key in core.commitgraph core.multipackindex
	do
		test_expect_code 128 git -c $key=x fsck 2>../err || return 1
	done &&
	grep "^fatal: bad boolean config value .x. for .core.multipackindex" \
		../err
'

test_expect_success 'a missing alternate alone is no error' '
	fresh r && echo /nonexistent/objects >.git/objects/info/alternates &&
	>../expect && finds 0 && grep "/nonexistent/objects" ../err
'

test_expect_success 'names that only stock Git resolves' '
	fresh r && stock branch other HEAD~1 &&
	stock fsck :a :/one 2>../err | LC_ALL=C sort >../expect &&
	git fsck :a :/one 2>../err | LC_ALL=C sort >../actual &&
	test_cmp ../expect ../actual && test_cmp /dev/null ../err &&
	test_must_fail git fsck :nothing 2>../err &&
	grep "expected sha1, got .:nothing" ../err &&
	git prune -n :a &&
	for name in "other@{u}" "none@{push}" "other@{u}@{0}"
	do
		test_expect_code 128 stock fsck "$name" 2>../expect &&
		test_expect_code 128 git fsck "$name" 2>../err &&
		test_cmp ../expect ../err || return 1
	done
'

test_expect_success 'without any root, --unreachable prints dangling objects' '
	fresh r && test_expect_code 1 git fsck none >../expect 2>../err &&
	test_expect_code 1 git fsck --unreachable none >../actual 2>../err &&
	test_cmp ../expect ../actual && grep "^dangling" ../actual
'

test_expect_success 'names of files are shown from the current directory' '
	rm -rf ../b.git && stock init -q --bare ../b.git && cd ../b.git &&
	mkdir objects/17 && echo x >objects/17/xyz && >../expect &&
	finds 0 && grep "^bad sha1 file: ./objects/17/xyz" ../err
'

test_expect_success '--lost-found reads packs, and no reflogs' '
	fresh r && old=$(stock rev-parse HEAD) &&
	tag=$(cut -c1-40 .git/refs/tags/t1) && stock tag -d t1 &&
	stock reset -q --hard HEAD~1 && stock repack -adq &&
	stock prune --expire=now &&
	>../expect && finds 0 --full &&
	rm -f $(object_file $tag) &&
	echo "dangling commit $old" >../expect &&
	finds 0 --lost-found --no-full --reflogs &&
	test -f .git/lost-found/commit/$old
'

test_done
