#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='partial clones: commands fetch missing objects when they read them'
. "$(dirname "$0")/lib.sh"

test_expect_success 'setup' '
	stock init -q src &&
	(
		cd src &&
		mkdir d e &&
		seq 100 >d/f && echo small >e/g && seq 9 60 >top &&
		stock add . && test_tick && stock commit -qm one &&
		seq 8 60 >top && stock commit -qam two
	) &&
	stock -C src config uploadpack.allowFilter true &&
	stock -C src config uploadpack.allowAnySHA1InWant true &&
	top=$(stock -C src rev-parse HEAD:top) &&
	tree=$(stock -C src rev-parse HEAD^{tree}) &&
	two=$(stock -C src rev-parse HEAD) &&
	for f in blob:none tree:0 blob:limit=50
	do
		stock clone -q -n --filter=$f "file://$PWD/src" $f || return
	done &&
	stock -C src ls-tree -r HEAD | sed "s/.* //;s/	.*//" >blobs &&
	sed "s/^/info /" blobs >infos
'

# do_in <clone> <git> <result> <command>...
# Runs the command in a new copy of the clone. Writes its output, errors and
# exit code to <result>.out, .err and .code. Writes the number of objects in
# each fetch to <result>.wants.
do_in () {
	rm -rf r && cp -R "$1" r && name=$PWD/$3 do_git=$2 &&
	shift 3 && rm -f trace && code=0 &&
	(cd r && GIT_TRACE_PACKET=$PWD/../trace && export GIT_TRACE_PACKET &&
		git () { "$do_git" "$@"; } && eval "$*") \
		>$name.out 2>$name.err || code=$?
	echo $code >$name.code
	touch trace
	awk '/fetch> command=fetch/ { if (n) print n; n = 0 }
		/fetch> want / { n++ } END { if (n) print n }' \
		trace >$name.wants
}

# A script that runs stock Git without gitreach in PATH, like the function
# "stock".
stock_git=$PWD/stock-git
cat >stock-git <<EOS
#!/bin/sh
PATH='$STOCK_PATH' exec '$STOCK_GIT' "\$@"
EOS
chmod +x stock-git

# same <clone> <command>...: asserts that the command has the same results with
# our git as with stock Git, and makes the same fetches.
same () {
	do_in "$1" "$stock_git" expect "$2" &&
	do_in "$1" "$GIT" actual "$2" &&
	test_cmp expect.out actual.out &&
	test_cmp expect.code actual.code &&
	test_cmp expect.wants actual.wants &&
	test -s actual.wants
}

# same_in_total <clone> <command>...: like same, but our git may fetch the same
# number of objects in fewer fetches.
same_in_total () {
	do_in "$1" "$stock_git" expect "$2" &&
	do_in "$1" "$GIT" actual "$2" &&
	test_cmp expect.out actual.out &&
	sum () { awk "{ n += \$1 } END { print n }" $1; } &&
	test "$(sum expect.wants)" = "$(sum actual.wants)" &&
	test $(wc -l <actual.wants) -le $(wc -l <expect.wants)
}

# offline <clone> <command> [<code>]: asserts that nothing is fetched with
# GIT_NO_LAZY_FETCH. The exit code must be that of stock Git 2.55: <code>, or
# 128.
offline () {
	GIT_NO_LAZY_FETCH=1 && export GIT_NO_LAZY_FETCH &&
	do_in "$1" "$GIT" actual "$2"
	unset GIT_NO_LAZY_FETCH
	test_must_be_empty actual.wants &&
	test "$(cat actual.code)" = "${3-128}"
}

test_must_be_empty () {
	test ! -s "$1" || {
		cat "$1"
		return 1
	}
}

count="od -An -tu1 -j8 -N4 | tr -s \" \""

test_expect_success 'cat-file: one object' '
	same blob:none "git cat-file -p HEAD:d/f" &&
	same tree:0 "git cat-file -s HEAD:d/f" &&
	same blob:limit=50 "git cat-file -e HEAD:d/f"
'

test_expect_success 'cat-file: many objects' '
	same blob:none "git cat-file --batch <../blobs" &&
	same blob:none "git cat-file --batch-command <../infos" &&
	same tree:0 "echo HEAD:d | git cat-file --batch-check=\"%(objectname) %(objectsize:disk)\""
'

test_expect_success 'cat-file --batch-all-objects prints the objects that exist, and fetches none' '
	do_in blob:none "$stock_git" expect \
		git cat-file --batch-check --batch-all-objects &&
	do_in blob:none "$GIT" actual \
		git cat-file --batch-check --batch-all-objects &&
	test_must_be_empty actual.wants &&
	test_cmp expect.out actual.out && test_cmp expect.err actual.err &&
	grep "uses promisor remotes" actual.err
'

test_expect_success 'cat-file --batch-all-objects: stock Git itself warns of promisors' '
	stock init -q --bare warned && stock -C warned config remote.o.url x &&
	stock -C warned config remote.o.promisor true &&
	printf "#!/bin/sh\n" >silent && chmod +x silent &&
	GITREACH_FALLBACK=$PWD/silent "$GIT" -C warned cat-file \
		--batch="%(objectmode)" --batch-all-objects 2>err &&
	test_must_be_empty err
'

test_expect_success 'rev-list --objects' '
	same tree:0 "git rev-list --objects HEAD" &&
	same_in_total tree:0 "git rev-list --objects --count HEAD" &&
	same blob:limit=50 "git rev-list --objects --disk-usage HEAD ^HEAD~1"
'

test_expect_success 'rev-list: options that fetch nothing' '
	for o in --missing=print --missing=allow-any --missing=allow-promisor \
		--exclude-promisor-objects --filter=blob:none
	do
		do_in blob:none "$stock_git" expect \
			"git rev-list --objects HEAD $o | sort" &&
		do_in blob:none "$GIT" actual \
			"git rev-list --objects HEAD $o | sort" &&
		test_must_be_empty actual.wants &&
		test_cmp expect.out actual.out || return
	done
'

test_expect_success 'pack-objects fetches all blobs at once' '
	same blob:none "echo HEAD | git pack-objects --revs -q --stdout | $count" &&
	test_line_count 1 actual.wants &&
	same tree:0 "echo HEAD | git pack-objects --revs -q --stdout | $count" &&
	same blob:none "git pack-objects -q --stdout <../blobs | $count" &&
	test_line_count 1 actual.wants &&
	same blob:none "git pack-objects -q --stdout --missing=allow-any <../blobs | $count"
'

test_expect_success 'pack-objects: no fetch of delta bases for a thin pack' '
	do_in blob:none "$GIT" actual \
		"printf \"HEAD\\n^HEAD~1\\n\" | git pack-objects --revs --thin -q --stdout | $count" &&
	echo 1 >expect && test_cmp expect actual.wants &&
	echo " 0 0 0 3" >expect && test_cmp expect actual.out
'

test_expect_success 'pack-objects: options that fetch nothing' '
	for o in --missing=allow-any --missing=allow-promisor \
		--exclude-promisor-objects --filter=blob:none \
		"--missing=allow-any --filter=tree:2" \
		"--missing=allow-promisor --filter=tree:3"
	do
		do_in blob:none "$stock_git" expect \
			"echo HEAD | git pack-objects --revs -q --stdout $o | $count" &&
		do_in blob:none "$GIT" actual \
			"echo HEAD | git pack-objects --revs -q --stdout $o | $count" &&
		test_must_be_empty actual.wants &&
		test_cmp expect.out actual.out || return
	done
'

test_expect_success 'pack-objects into a file: a filter keeps blobs from being fetched' '
	do_in blob:none "$GIT" actual \
		"git pack-objects -q --all --filter=blob:none ../p </dev/null" &&
	test_must_be_empty actual.wants && test_must_be_empty actual.err
'

test_expect_success 'bundle create' '
	do_in tree:0 "$GIT" actual "git bundle create ../b HEAD" &&
	printf "%s\n" 1 1 4 >expect && test_cmp expect actual.wants &&
	rm -rf b.git && stock clone -q --bare b b.git && stock -C b.git fsck
'

test_expect_success 'rev-parse' '
	same tree:0 "git rev-parse HEAD:d/f" &&
	same tree:0 "git rev-parse --verify HEAD^{tree}" &&
	do_in tree:0 "$GIT" actual git rev-parse HEAD $top &&
	test_must_be_empty actual.wants
'

test_expect_success 'refs: a ref names a promised blob' '
	rm -rf named && cp -R blob:none named &&
	echo $top >named/.git/refs/tags/x &&
	same named "git show-ref -d" &&
	same named "git for-each-ref --format=\"%(refname) %(objectsize:disk)\"" &&
	same named "git pack-refs --all; grep -v \"^#\" .git/packed-refs" &&
	same named "git repack -adq; git count-objects -v | grep packs" &&
	do_in named "$GIT" actual \
		"git rev-parse --all && git for-each-ref --format=\"%(refname)\"" &&
	test_must_be_empty actual.wants && grep $top actual.out
'

test_expect_success 'commit-graph with changed paths reads trees' '
	same tree:0 "git commit-graph write --reachable --changed-paths"
'

test_expect_success 'with a commit-graph and a bitmap index' '
	rm -rf indexed && cp -R blob:none indexed &&
	stock -C indexed repack -adbq &&
	stock -C indexed commit-graph write --reachable &&
	same indexed "git rev-list --objects --use-bitmap-index HEAD"
'

test_expect_success 'fsck, repack, gc and prune fetch nothing' '
	do_in tree:0 "$GIT" actual "git fsck && git repack -adq && git gc -q &&
		git prune && git fsck" &&
	echo 0 >expect && test_cmp expect actual.code &&
	test_must_be_empty actual.wants &&
	do_in blob:none "$GIT" actual git fsck $top &&
	test_cmp expect actual.code && test_must_be_empty actual.wants
'

test_expect_success 'GIT_NO_LAZY_FETCH' '
	offline blob:none "git cat-file -t HEAD:top" &&
	grep "could not get object info" actual.err &&
	offline blob:none "git cat-file -e HEAD:top" 1 &&
	offline blob:none "git rev-list --objects HEAD" &&
	grep "missing blob object" actual.err &&
	offline tree:0 "git rev-parse HEAD:top" &&
	grep "path .top. does not exist in .HEAD." actual.err &&
	offline blob:none "echo $top | git cat-file --batch-check" 0 &&
	grep "^$top missing" actual.out &&
	offline blob:none "echo HEAD | git pack-objects --revs --stdout" &&
	grep "lazy fetching disabled; some objects may not be" actual.err &&
	grep "fatal: could not fetch .* from promisor remote" actual.err &&
	offline blob:none "GIT_NO_LAZY_FETCH=maybe git cat-file -t $top" &&
	grep "bad boolean environment value .maybe." actual.err &&
	do_in blob:none "$GIT" actual \
		GIT_NO_LAZY_FETCH=false git cat-file -t $top &&
	test_line_count 1 actual.wants
'

test_expect_success 'a fetch fails if the remote does not exist any more' '
	rm -rf gone && cp -R tree:0 gone &&
	stock -C gone config remote.origin.url "file://$PWD/nowhere" &&
	for c in "git cat-file -t $tree" "git cat-file tree HEAD" \
		"echo $tree | git cat-file --batch-check" \
		"git rev-list --objects HEAD" \
		"git rev-parse --verify -q HEAD:top" "git rev-parse HEAD:top.."
	do
		do_in gone "$stock_git" expect "$c" &&
		do_in gone "$GIT" actual "$c" &&
		grep "^fatal: could not fetch $tree from promisor remote" \
			actual.err &&
		test_cmp expect.err actual.err &&
		test_cmp expect.code actual.code &&
		test_cmp expect.out actual.out || return
	done
'

test_expect_success 'an object that nobody promised is only missing' '
	no=1234567890123456789012345678901234567890 &&
	do_in blob:none "$GIT" actual "git cat-file -e $no" &&
	echo 1 >expect && test_cmp expect actual.code &&
	do_in blob:none "$GIT" actual "echo $no | git cat-file --batch-check" &&
	echo "$no missing" >expect && test_cmp expect actual.out
'

test_expect_success 'several remotes are asked in order' '
	rm -rf two && cp -R blob:none two &&
	stock -C two config remote.origin.url "file://$PWD/nowhere" &&
	stock -C two config remote.other.partialCloneFilter tree:0 &&
	stock -C two config remote.other.url "file://$PWD/src" &&
	same two "git cat-file -t $top" &&
	grep nowhere actual.err &&
	stock -C two config extensions.partialClone origin &&
	same two "git cat-file -t $top" &&
	! grep nowhere actual.err &&
	stock -C two config remote.-x.promisor true &&
	stock -C two config --unset remote.other.partialCloneFilter &&
	do_in two "$GIT" actual "git cat-file -t $top" &&
	grep "cannot begin with .-.: -x" actual.err &&
	grep "could not fetch $top" actual.err
'

test_expect_success 'the command line of the fetch' '
	do_in blob:none "$GIT" actual \
		"git config promisor.quiet true; GIT_TRACE=1 git cat-file -t $top" &&
	grep "fetch origin --no-tags --no-write-fetch-head --recurse-submodules=no --filter=blob:none --stdin --quiet" \
		actual.err
'

test_expect_success 'without a stock Git' '
	do_in blob:none "$GIT" actual \
		GITREACH_FALLBACK=/none git cat-file -t $top &&
	echo 128 >expect && test_cmp expect actual.code &&
	grep "GITREACH_FALLBACK: ./none. is not" actual.err &&
	grep "could not fetch $top from promisor remote" actual.err
'

test_expect_success 'a push into a partial clone fetches nothing' '
	rm -rf r && cp -R blob:none r &&
	(cd src && echo new >new && stock add new && test_tick &&
		stock commit -qm three) &&
	rm -f trace && GIT_TRACE_PACKET=$PWD/trace stock -C src push -q \
		--receive-pack="$GITREACH_BUILD/bin/git-receive-pack" \
		../r HEAD:refs/heads/new &&
	grep receive-pack trace && ! grep "fetch> want" trace
'

test_expect_success 'upload-pack fetches only with GIT_NO_LAZY_FETCH=0' '
	up="--upload-pack=\"$GITREACH_BUILD/bin/git-upload-pack\"" &&
	do_in tree:0 "$GIT" actual \
		"stock clone -q --bare $up \"file://\$PWD\" ../c.git" &&
	test "$(cat actual.code)" = 128 && test_must_be_empty actual.wants &&
	do_in tree:0 "$GIT" actual "GIT_NO_LAZY_FETCH=0 \
		stock clone -q --bare $up \"file://\$PWD\" ../c.git" &&
	test "$(cat actual.code)" = 0 && test -s actual.wants &&
	stock -C c.git fsck
'

test_expect_success 'thin packs: index-pack and unpack-objects fetch bases' '
	printf "$two\n^$two~1\n" | stock -C src pack-objects --revs --thin \
		-q --stdout >thin &&
	for c in "index-pack --stdin --fix-thin" "unpack-objects -q"
	do
		same blob:none "git $c <../thin >/dev/null" &&
		offline blob:none "git $c <../thin" &&
		grep "lazy fetching disabled" actual.err &&
		grep "could not fetch .* from promisor remote" actual.err ||
			return
	done
'

# Each fetch adds a small pack and starts maintenance. Maintenance must not
# repack again and again, and must not write to standard output.
test_expect_success 'maintenance after fetches' '
	rm -rf many && cp -R blob:none many &&
	stock -C many cat-file --batch-check <blobs >/dev/null &&
	do_in many "$GIT" actual "git config maintenance.auto true;
		git config maintenance.autoDetach false;
		git cat-file -t HEAD~1:top; git maintenance run --auto" &&
	echo blob >expect && test_cmp expect actual.out &&
	test_must_be_empty actual.err &&
	test $(ls r/.git/objects/pack/*.pack | wc -l) = 5
'

test_expect_success 'repack --geometric: promisor packs have their own progression' '
	do_in many "$GIT" actual "git repack --geometric=2 -d" &&
	test_must_be_empty actual.out && stock -C r fsck &&
	for idx in r/.git/objects/pack/*.idx
	do
		test -e ${idx%.idx}.promisor &&
		stock show-index <$idx | wc -l || return
	done | sort -n >actual &&
	printf "%s\n" 3 6 >expect && test_cmp expect actual &&
	stock -C r cat-file --batch-check <blobs >actual &&
	! grep missing actual
'

test_expect_success 'fsck: an argument that is missing and not promised' '
	do_in tree:0 "$GIT" actual git fsck $top &&
	echo 2 >expect && test_cmp expect actual.code &&
	cat >expect <<-EOF &&
	error: $top: invalid sha1 pointer $top
	notice: No default references
	EOF
	test_cmp expect actual.err
'

test_done
