#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='filters of objects, against stock Git, by walk and by bitmap'
. "$(dirname "$0")/lib.sh"

. "$GITREACH_SRC/t/lib-compare.sh"

# Trees that move, so that depths differ from commit to commit.
test_expect_success 'setup' '
	stock init -q r &&
	(
		cd r &&
		mkdir -p a/b/c d &&
		echo 1 >a/b/c/f && echo 2 >a/g && echo top >t &&
		dd if=/dev/zero of=big bs=3000 count=1 2>/dev/null &&
		stock add . && test_tick && stock commit -qm 1 &&
		cp a/b/c/f d/f && echo 3 >a/b/h && stock add . &&
		test_tick && stock commit -qm 2 && stock tag -am v1 v1 &&
		cp -r a/b x && stock add . && test_tick &&
		stock commit -qm 3 && stock checkout -q -b side HEAD~2 &&
		mkdir -p x/y && cp big x/y/big && stock add . &&
		test_tick && stock commit -qm side &&
		stock checkout -q main && test_tick &&
		stock merge -q -m merge side &&
		stock tag -am vv vv v1 &&
		stock tag -am tt treetag HEAD:a &&
		stock tag -am bt blobtag HEAD:t &&
		printf "/a/\n!/a/b/c/\nt\nx\n" | stock hash-object -w --stdin
	) >sparse &&
	sparse=$(cat sparse) &&
	stock clone -q --mirror r packed.git &&
	printf "/a/\n!/a/b/c/\nt\nx\n" |
		stock -C packed.git hash-object -w --stdin &&
	git -C packed.git repack -adbq
'

cat >filters <<EOF
blob:none
blob:limit=0
blob:limit=3
blob:limit=1k
blob:limit=1m
tree:0
tree:1
tree:2
tree:3
tree:9
object:type=blob
object:type=tree
object:type=commit
object:type=tag
sparse:oid=$(cat sparse 2>/dev/null)
combine:object:type=blob+blob:limit=10
combine:tree:0+blob:none
combine:blob:limit=1k+blob:limit=10
EOF

cat >tips <<\EOF
HEAD
vv
treetag
blobtag
HEAD:t
HEAD HEAD:t
HEAD HEAD:a
HEAD ^HEAD^
HEAD ^HEAD~2
v1 ^HEAD~3
--all
--all --not side
EOF

# ids <stock|git> <options>...: sorted, each once (stock Git repeats some).
ids () {
	cmd=$1 && shift &&
	$cmd rev-list --objects --no-object-names "$@" >ids.out &&
	LC_ALL=C sort -u ids.out
}

# table <dir> <options>...: all filters with all tips.
table () {
	cd "$1" && shift || return
	while read -r f
	do
		while read -r tips
		do
			ids stock --filter=$f "$@" $tips >../expect &&
			ids git --filter=$f "$@" $tips >../actual &&
			test_cmp ../expect ../actual || {
				echo "--filter=$f $* $tips" >&2
				return 1
			}
		done <../tips || return
	done <../filters
}

test_expect_success 'filters list the same objects as stock Git' '
	(table r)
'

test_expect_success '--filter-provided-objects filters the arguments, too' '
	grep -v sparse filters >filters.all &&
	mv filters filters.sparse && cp filters.all filters &&
	(table r --filter-provided-objects)
'

test_expect_success '--filter-print-omitted lists the omitted objects' '
	(table r --filter-print-omitted)
'

test_expect_success 'by bitmap' '
	(table packed.git --use-bitmap-index --filter-provided-objects) &&
	mv filters.sparse filters &&
	(table packed.git --use-bitmap-index)
'

test_expect_success 'names, order and limits' '
	(
		cd r &&
		for f in blob:none blob:limit=3 tree:0 tree:1 object:type=blob
		do
			same rev-list --objects --filter=$f HEAD &&
			same rev-list --objects --filter=$f -3 HEAD &&
			same rev-list --objects --filter=$f --reverse vv &&
			same rev-list --objects --filter=$f --in-commit-order vv &&
			same rev-list --objects --filter=$f --count --all &&
			same rev-list --objects --filter=$f --disk-usage --all || return
		done
	)
'

test_expect_success 'counts and sizes by bitmap' '
	(
		cd packed.git &&
		for f in blob:none blob:limit=3 tree:0 object:type=blob
		do
			same rev-list --objects --filter=$f --count \
				--use-bitmap-index --all &&
			same rev-list --objects --filter=$f --disk-usage \
				--use-bitmap-index --all || return
		done &&
		same rev-list --disk-usage --use-bitmap-index HEAD &&
		same rev-list --disk-usage=human --objects HEAD &&
		same -e rev-list --disk-usage=machine HEAD
	)
'

test_expect_success 'malformed filters' '
	(
		cd r &&
		for f in "" blob blob: blob:nope blob:limit= blob:limit=1q \
			blob:limit=-1 tree: tree:x tree:-1 object:type= \
			object:type=foo sparse:path=x sparse:oid= sparse:oid=nope \
			combine: combine:tree:1+foo "combine:tree~1" \
			"combine:tree:2%zz" foo
		do
			same -e rev-list --objects --filter="$f" HEAD || return
		done &&
		same -e rev-list --filter=blob:none HEAD &&
		same rev-list --objects --filter=blob:none --no-filter HEAD &&
		same rev-list --objects --filter=blob:none --filter=tree:0 HEAD
	)
'

test_expect_success 'packs through a filter' '
	(
		cd packed.git &&
		for f in blob:none blob:limit=3 tree:0 tree:1 tree:2 object:type=blob
		do
			for bitmap in --use-bitmap-index --no-use-bitmap-index
			do
				echo main | git pack-objects --revs --stdout -q \
					--filter=$f $bitmap >../f.pack &&
				(cd .. && stock index-pack -o f.idx f.pack >/dev/null &&
				 stock show-index <f.idx) | cut -d" " -f2 |
					LC_ALL=C sort >../actual &&
				ids stock --filter=$f main >../expect &&
				test_cmp ../expect ../actual &&
				rm -f ../f.* || return
			done
		done &&
		test_must_fail git pack-objects --filter=foo --stdout --revs \
			</dev/null 2>err &&
		grep "^fatal: invalid filter-spec .foo." err
	)
'

test_expect_success 'filters with --unpacked' '
	(
		cp -r packed.git unpacked.git &&
		cd unpacked.git &&
		commit=$(stock commit-tree -p main -m more \
			$(printf "100644 blob %s\tt\n" \
				$(echo more | stock hash-object -w --stdin) |
				stock mktree)) &&
		same rev-list --objects --unpacked $commit &&
		same rev-list --objects --unpacked --filter=blob:none $commit &&
		same rev-list --objects --unpacked main
	)
'

test_expect_success 'filters with missing objects' '
	(
		cp -r r lossy && cd lossy &&
		rm -rf .git/objects/pack &&
		for lost in HEAD:a/b HEAD~2:t HEAD:a/g
		do
			lost=$(stock rev-parse $lost) &&
			rm -f .git/objects/$(echo $lost | sed "s|..|&/|") || return
		done &&
		test_must_fail git rev-list --objects main >/dev/null 2>err &&
		grep "unable to read\|bad tree object" err &&
		for m in allow-any print
		do
			for f in --no-filter --filter=blob:none --filter=tree:1
			do
				ids stock --missing=$m $f main >../expect &&
				ids git --missing=$m $f main >../actual &&
				test_cmp ../expect ../actual || return
			done
		done &&
		git rev-list --objects --missing=print-info main >../actual &&
		grep "^?[0-9a-f]* path=a/b type=tree$" ../actual &&
		grep "^?[0-9a-f]* path=a/g type=blob$" ../actual
	)
'

test_expect_success 'a wanted tree that is also the tree of a commit' '
	"$GIT" init -q shared && (
		cd shared &&
		mkdir dir && echo a >a && echo b >dir/b &&
		stock add . && stock commit -q -m one &&
		stock tag -a -m tree tree HEAD^{tree} &&
		stock tag dir HEAD:dir &&
		tree=$(stock rev-parse HEAD^{tree}) &&
		for filter in tree:0 object:type=blob
		do
			"$GIT" rev-list --objects --filter=$filter --all \
				>../actual || return 1
			! grep $tree ../actual || return 1
			"$GIT" rev-list --objects --filter=$filter tree \
				>../actual || return 1
			grep $tree ../actual || return 1
		done &&
		"$GIT" rev-list --objects --filter=tree:1 --all >../actual &&
		! grep " a$" ../actual && grep " b$" ../actual &&
		"$GIT" rev-list --objects --filter=tree:1 --all --count \
			>../count &&
		test $(wc -l <../actual) -eq $(cat ../count)
	)
'

# A want that the walk has met as an entry of a want before it is filtered like
# any other object.
test_expect_success 'wants that are also entries of other wants' '
	stock init -q nested && (
		cd nested && mkdir -p d/e && echo a >a && echo b >d/b &&
		echo c >d/e/c && stock add . && stock commit -q -m one &&
		stock tag blob HEAD:d/b && stock tag deep HEAD:d/e &&
		stock tag -a -m dir dir HEAD:d && stock tag root HEAD^{tree} &&
		stock tag -a -m ablob ablob HEAD:d/b &&
		for tips in --all "dir blob" "blob dir" "dir ablob root" \
			"root dir deep blob" "deep dir" "main dir blob deep"
		do
			for f in blob:none blob:limit=1 tree:0 tree:1 tree:2 \
				object:type=blob object:type=tree \
				object:type=commit object:type=tag
			do
				echo "$tips: $f" &&
				stock rev-list --objects --filter=$f $tips \
					>../all &&
				awk "!seen[\$1]++" ../all >../expect &&
				"$GIT" rev-list --objects --filter=$f $tips \
					>../actual &&
				test_cmp ../expect ../actual &&
				"$GIT" rev-list --objects --count --filter=$f \
					$tips >../count &&
				test $(wc -l <../expect) -eq $(cat ../count) &&
				case $tips in
				--all) echo ;;
				*) printf "%s\n" $tips ;;
				esac >../in &&
				case $tips in --all) all=--all ;; *) all= ;; esac &&
				"$GIT" pack-objects --revs $all --stdout -q \
					--filter=$f <../in >../f.pack &&
				(cd .. && stock index-pack -o f.idx f.pack \
					>out && stock show-index <f.idx) |
					cut -d" " -f2 | LC_ALL=C sort \
					>../packed &&
				cut -d" " -f1 ../expect | LC_ALL=C sort \
					>../sorted &&
				test_cmp ../sorted ../packed &&
				rm -f ../f.* || return 1
			done
		done
	)
'

test_expect_success 'a blob without a path and sparse patterns' '
	(
		cd nested &&
		for pattern in "*" "/d/b" "b"
		do
			oid=$(echo "$pattern" | stock hash-object -w --stdin) &&
			for tips in "blob ablob" "main:d/b deep" "main blob"
			do
				for how in "" --filter-provided-objects
				do
					same rev-list --objects $how \
						--filter=sparse:oid=$oid $tips ||
						return 1
				done
			done
		done
	)
'

test_expect_success 'the same filters in other commands' '
	test_expect_code 128 "$GIT" -C shared rev-list --objects \
		--filter=auto main 2>err &&
	grep "fatal: .auto. filter not supported by this command" err
'

test_expect_success '--unpacked shows a boundary commit from a pack' '
	(
		cd shared && stock commit -q --allow-empty -m two &&
		stock repack -adq && stock commit -q --allow-empty -m three &&
		{
			stock rev-parse HEAD && echo "-$(stock rev-parse HEAD~1)"
		} >../expect &&
		"$GIT" rev-list --unpacked --boundary HEAD~1..HEAD >../actual
	) &&
	test_cmp expect actual
'

test_expect_success 'the target of a tag is missing' '
	(
		cd shared && tag=$(stock rev-parse tree) &&
		gone=1234567890123456789012345678901234567890 &&
		stock cat-file tag tree >../tag &&
		sed "s/^object .*/object $gone/; s/^type tree/type commit/" \
			../tag >../lost && lost=$(stock hash-object --literally \
			-t tag -w ../lost) &&
		echo $lost >.git/refs/tags/lost &&
		echo "?$gone" >../expect &&
		"$GIT" rev-list --missing=print lost >../actual &&
		test_cmp ../expect ../actual &&
		"$GIT" rev-list --missing=print --objects lost lost tree \
			>../actual &&
		test $(grep -c "^?" ../actual) -eq 1 &&
		"$GIT" rev-list --missing=allow-promisor lost >../actual &&
		test_must_be_empty ../actual && rm .git/refs/tags/lost
	)
'

test_expect_success 'a broken ref counts as missing if objects may be' '
	zeros=0000000000000000000000000000000000000000 &&
	(
		cd shared && stock rev-list --all >../expect &&
		: >.git/refs/heads/empty && echo nonsense >.git/refs/heads/bad &&
		test_expect_code 128 "$GIT" rev-list --all &&
		for missing in allow-any allow-promisor
		do
			"$GIT" rev-list --all --missing=$missing >../actual &&
			test_cmp ../expect ../actual || return 1
		done &&
		echo "?$zeros" >>../expect &&
		"$GIT" rev-list --missing=print --all >../actual &&
		test_cmp ../expect ../actual &&
		rm .git/refs/heads/empty .git/refs/heads/bad &&
		stock rev-list --all >../expect &&
		echo 1234567890123456789012345678901234567890 \
			>.git/refs/heads/lost-tip &&
		GIT_REF_PARANOIA=0 "$GIT" rev-list --missing=print --all \
			>../actual &&
		test_cmp ../expect ../actual &&
		rm .git/refs/heads/lost-tip &&
		"$GIT" rev-list --missing=allow-promisor HEAD ^HEAD~1 \
			1234567890123456789012345678901234567890 >../actual &&
		test_line_count 1 ../actual
	)
'

test_expect_success 'a damaged tree counts as missing if objects may be' '
	(
		cd shared && echo c >dir/c && stock add . &&
		stock commit -q -m four &&
		tree=$(stock rev-parse HEAD:dir) &&
		file=.git/objects/$(echo $tree | sed "s,..,&/,") &&
		chmod u+w $file && : >$file &&
		test_expect_code 128 "$GIT" rev-list --objects HEAD &&
		"$GIT" rev-list --objects --missing=print HEAD >../actual \
			2>../err &&
		grep "^?$tree" ../actual && grep "^error: .*$tree" ../err
	)
'

test_done
