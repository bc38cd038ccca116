#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='paths whose attribute delta is unset are no deltas'
. "$(dirname "$0")/lib.sh"

# deltas_of <work tree>: which paths have versions that are deltas.
deltas_of () {
	stock -C "$1" rev-list --objects --all | sort >objects &&
	stock -C "$1" verify-pack -v "$(stock -C "$1" rev-parse \
		--absolute-git-dir)"/objects/pack/pack-*.idx |
		awk '$2 == "blob" && NF == 7 { print $1 }' | sort >deltas &&
	join -o 2.2 deltas objects | sort -u
}

# deltas_are <path>...: and our repack of "base" made them so in "ours".
deltas_are () {
	printf '%s\n' "$@" | sort >expect &&
	deltas_of ours >actual &&
	test_cmp expect actual &&
	stock -C ours fsck --strict
}

# prepare: a copy of the repository, to be changed.
prepare () {
	rm -rf ours && cp -R base ours
}

# like_stock [<variable>]: both repack copies of "ours", and leave the same
# paths without deltas.
like_stock () {
	rm -rf theirs && cp -R ours theirs &&
	(
		test $# = 0 || export "$@"
		cd theirs && stock repack -adfq && cd ../ours &&
		"$GIT" repack -adfq
	) &&
	deltas_of theirs >expect &&
	deltas_of ours >actual &&
	test_cmp expect actual
}

all="d/y.bin d/y.txt x.bin x.txt"

test_expect_success 'setup' '
	stock init -q base &&
	mkdir base/d &&
	for i in 1 2 3
	do
		for file in $all
		do
			{
				seq 1 600 | sed "s,^,$file ," && echo $i
			} >base/$file || return
		done &&
		stock -C base add . &&
		stock -C base commit -qm $i || return
	done &&
	prepare && "$GIT" -C ours repack -adfq && deltas_are $all
'

# rules <name> <path> <text>...: the lines in that file of a copy say the same
# to both.
rules () {
	name=$1 && path=$2 && shift && shift
	nr=$((nr + 1))
	printf '%s\n' "$@" >rules.$nr
	test_expect_success "$name" "
		prepare &&
		cp rules.$nr ours/$path &&
		like_stock &&
		test -s actual
	"
}

nr=0
i=.git/info/attributes
rules 'by name' $i '*.bin -delta'
rules 'from the top' $i '/x.bin -delta'
rules 'a directory has none' $i 'd -delta' 'd/ -delta'
rules 'all below it' $i 'd/** -delta'
rules 'by path' $i 'd/*.bin -delta'
rules 'a quoted pattern' $i '"x.\142in" -delta'
rules 'no negative patterns' $i '!*.bin -delta'
rules 'a value is not unset' $i '*.bin delta=false'
rules 'the last one counts' $i '*.bin -delta delta' 'x* delta -delta'
rules 'back to unspecified' $i '*.bin -delta' 'x.bin !delta'
rules 'a bad name spoils its line' $i '*.bin -delta b@d' 'x.* -delta'
rules 'a macro' $i '[attr]big -delta -diff' '*.bin big'
rules 'a macro of a macro' $i '[attr]a b' '[attr]b -delta' '*.bin a'
rules 'a macro that is unset' $i '[attr]a -delta' '*.bin a' 'x.bin -a'
rules 'a macro comes later' $i '*.bin a' '[attr]a -delta' 'x.bin !delta'
rules 'the last macro counts' $i '[attr]a -delta' '[attr]a delta' '*.bin a'
rules 'what binary is' $i '*.bin binary'
rules 'another binary' $i '[attr]binary -delta' '*.bin binary'
rules 'in the work tree' .gitattributes '*.bin -delta'
rules 'in a subdirectory' d/.gitattributes '*.bin -delta'
rules 'no macros there' d/.gitattributes '[attr]a -delta' '*.bin a'

test_expect_success 'lines of 2,048 bytes are too long' '
	prepare &&
	{
		printf "x.bin %2034s -delta\n" "" &&
		printf "y.bin %2036s -delta\n" ""
	} >ours/$i &&
	like_stock &&
	! grep x.bin actual && grep y.bin actual
'

test_expect_success 'attributes of subdirectories override those above' '
	prepare &&
	echo "*.bin -delta" >ours/.gitattributes &&
	echo "y.bin delta" >ours/d/.gitattributes &&
	like_stock &&
	grep y.bin actual &&
	echo "y.bin -delta" >ours/.git/info/attributes &&
	like_stock &&
	! grep y.bin actual
'

test_expect_success 'attributes are read from the index if the file is missing' '
	prepare &&
	echo "*.bin -delta" >ours/.gitattributes &&
	echo "*.txt -delta" >ours/d/.gitattributes &&
	stock -C ours add . &&
	rm ours/.gitattributes ours/d/.gitattributes &&
	like_stock && deltas_are x.txt &&
	echo "*.txt -delta" >ours/.gitattributes &&
	like_stock && deltas_are x.bin d/y.bin
'

test_expect_success 'a symlink in the work tree is not followed' '
	prepare &&
	echo "*.bin -delta" >ours/rules &&
	ln -s rules ours/.gitattributes &&
	like_stock && deltas_are $all
'

test_expect_success 'core.attributesFile and its default path' '
	prepare &&
	echo "*.bin -delta" >rules &&
	stock -C ours config core.attributesFile "$(pwd)/rules" &&
	like_stock && deltas_are x.txt d/y.txt &&
	prepare &&
	mkdir -p xdg/git home/.config/git &&
	cp rules xdg/git/attributes &&
	echo "*.txt -delta" >home/.config/git/attributes &&
	like_stock XDG_CONFIG_HOME="$(pwd)/xdg" && deltas_are x.txt d/y.txt &&
	like_stock HOME="$(pwd)/home" && deltas_are x.bin d/y.bin
'

test_expect_success 'core.ignoreCase' '
	prepare &&
	echo "*.BIN -delta" >ours/$i &&
	like_stock && deltas_are $all &&
	stock -C ours config core.ignoreCase true &&
	like_stock && deltas_are x.txt d/y.txt
'

test_expect_success 'a bare repository has no files but its own' '
	rm -rf ours && stock clone -q --bare base ours &&
	mkdir -p ours/info &&
	echo "*.bin -delta" >ours/info/attributes &&
	echo "*.txt -delta" >ours/.gitattributes &&
	like_stock && deltas_are x.txt d/y.txt
'

test_expect_success 'attr.tree and GIT_ATTR_SOURCE' '
	rm -rf ours && stock clone -q --bare base ours &&
	blob=$(echo "*.bin -delta" | stock -C ours hash-object -w --stdin) &&
	sub=$(printf "100644 blob %s\t.gitattributes\n" $blob |
		stock -C ours mktree) &&
	tree=$(printf "040000 tree %s\td\n" $sub | stock -C ours mktree) &&
	stock -C ours update-ref refs/rules $tree &&
	"$GIT" -C ours -c attr.tree=refs/rules repack -adfq &&
	deltas_are d/y.txt x.bin x.txt &&
	"$GIT" -C ours -c attr.tree=refs/none repack -adfq &&
	deltas_are $all &&
	GIT_ATTR_SOURCE=$sub "$GIT" -C ours -c attr.tree=refs/rules \
		repack -adfq &&
	deltas_are d/y.txt x.txt &&
	"$GIT" -C ours --attr-source=refs/rules repack -adfq &&
	deltas_are d/y.txt x.bin x.txt &&
	echo "fatal: bad --attr-source or GIT_ATTR_SOURCE" >expect &&
	test_expect_code 128 "$GIT" -C ours --attr-source=none repack -adfq \
		2>err &&
	test_cmp expect err
'

# bomb <id>: print the id of a tree with 10^12 paths to the tree <id>.
bomb () {
	of_bomb=$1
	for depth in 1 2 3 4 5 6 7 8 9 10 11 12
	do
		of_bomb=$(for i in 0 1 2 3 4 5 6 7 8 9
			do
				printf "040000 tree %s\td$i\n" $of_bomb
			done | stock -C ours mktree) || return 1
	done
	echo $of_bomb
}

test_expect_success 'attr.tree: a small tree with very many paths' '
	rm -rf ours && stock clone -q --bare base ours &&
	blob=$(echo "*.bin -delta" | stock -C ours hash-object -w --stdin) &&
	for name in other .gitattributes
	do
		sub=$(printf "100644 blob %s\t$name\n" $blob |
			stock -C ours mktree) &&
		bomb=$(bomb $sub) &&
		tree=$(printf "040000 tree %s\t%s\n" $sub d $bomb e |
			stock -C ours mktree) &&
		stock -C ours update-ref refs/rules $tree &&
		# The limit is in seconds of CPU time.
		(
			ulimit -t 5 &&
			"$GIT" -C ours -c attr.tree=refs/rules repack -adfq
		) || return 1
	done &&
	deltas_are d/y.txt x.bin x.txt
'

test_expect_success 'objects stored as deltas stay deltas' '
	prepare &&
	stock -C ours repack -adfq &&
	echo "*.bin -delta" >ours/$i &&
	"$GIT" -C ours repack -adq && deltas_are $all
'

test_expect_success 'the attribute delta applies to packs that are sent' '
	prepare &&
	echo "*.bin -delta" >ours/$i &&
	stock -C ours rev-parse HEAD >tip &&
	"$GIT" -C ours pack-objects --revs --stdout -q <tip >sent.pack &&
	stock init -q --bare to.git &&
	stock -C to.git index-pack --stdin <sent.pack >/dev/null &&
	stock -C to.git update-ref HEAD $(cat tip) &&
	rm -rf ours && mv to.git ours && deltas_are x.txt d/y.txt
'

test_done
