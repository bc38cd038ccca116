#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='pack-objects: options that few use'
. "$(dirname "$0")/lib.sh"

# ids_of <idx>: what it lists, sorted.
ids_of () {
	stock show-index --object-format=sha1 <"$1" | cut -d" " -f2 | LC_ALL=C sort
}

# pack <git> <name> <options>...: into files <name>-*, from `in`.
pack () {
	program=$1 && name=$2 && shift && shift &&
	rm -f $name-* &&
	$program -C repo.git pack-objects -q "$@" ../$name <in >$name.out &&
	mv $name-*.idx $name.idx
}

# same_objects <options>...: ours and stock Git's packs have the same.
same_objects () {
	pack "$GIT" ours "$@" && pack stock theirs "$@" &&
	ids_of ours.idx >actual && ids_of theirs.idx >expect &&
	test_cmp expect actual
}

SQ="'"

fatal () {
	echo "fatal: $1" >expect && shift &&
	test_expect_code 128 "$GIT" -C repo.git pack-objects "$@" <in 2>err &&
	test_cmp expect err
}

test_expect_success 'setup' '
	repo_linear repo.git 8 &&
	stock -C repo.git rev-list --objects --all >in
'

for version in 1 2 2,0 1,0 2,0x10 2,200 1,200 2,0x7fffffff 1,0x7fffffff
do
	test_expect_success "--index-version=$version" "
		same_objects --index-version=$version &&
		test \$(wc -c <theirs.idx) = \$(wc -c <ours.idx) &&
		stock -C repo.git index-pack --index-version=$version \
			--no-rev-index -o ../again.idx ../\$(echo ours-*.pack) &&
		cmp again.idx ours.idx &&
		rm again.idx &&
		\"\$GIT\" -C repo.git index-pack --index-version=$version \
			--no-rev-index -o ../again.idx ../\$(echo ours-*.pack) &&
		cmp again.idx ours.idx &&
		rm again.idx
	"
done

test_expect_success 'index versions that do not exist' '
	fatal "bad index version ${SQ}2,${SQ}" --index-version=2, x &&
	fatal "bad index version ${SQ}2,x${SQ}" --index-version=2,x x &&
	fatal "bad index version ${SQ}2,0x80000000${SQ}" \
		--index-version=2,0x80000000 x &&
	fatal "unsupported index version 3" --index-version=3 x
'

test_expect_success '--window=-1 and --depth=-1: no deltas' '
	for option in --window=-1 --depth=-1
	do
		same_objects --no-reuse-delta $option &&
		cp ours.idx $(echo ours-*.pack | sed "s/pack$/idx/") &&
		stock verify-pack -s ours-*.idx >chains &&
		! grep "chain length" chains || return
	done &&
	same_objects --no-reuse-delta --threads=-1 &&
	same_objects --depth=5000 2>err &&
	sort -u err >actual &&
	echo "warning: delta chain depth 5000 is too deep, forcing 4095" >expect &&
	test_cmp expect actual
'

# versions <nr>: a stream for fast-import with <nr> versions of a file of 200 lines.
# Version i changes the first i + 1 lines.
versions () {
	awk -v nr="$1" "BEGIN {
		for (i = 0; i < nr; i++) {
			print \"commit refs/heads/main\"
			print \"committer A <a@example.com> \" 1700000000 + i \" +0000\"
			print \"data 2\\nm\\nM 100644 inline file\\ndata <<EOF\"
			for (k = 0; k < 200; k++)
				print \"line \" k \" of \" (k <= i ? i : 0) * 7919
			print \"EOF\"
		}
	}"
}

# longest_chain <git>: repack long.git with --depth=5. Prints the longest chain.
longest_chain () {
	rm -rf again.git && cp -R long.git again.git &&
	"$1" -C again.git repack -adq --depth=5 &&
	stock -C again.git fsck --full --strict >&2 &&
	stock verify-pack -v again.git/objects/pack/*.idx |
		sed -n "s/^chain length = \([0-9]*\):.*/\1/p" | tail -n 1
}

test_expect_success 'stored delta chains that are longer than --depth are cut' '
	stock init -q --bare long.git &&
	versions 120 >stream &&
	stock -C long.git fast-import --quiet <stream &&
	stock -C long.git -c pack.threads=1 repack -adfq --depth=50 --window=10 &&
	stock verify-pack -v long.git/objects/pack/*.idx >chains &&
	grep "^chain length = 2[0-9]:" chains &&
	longest_chain "$GIT" >actual &&
	echo 5 >expect &&
	test_cmp expect actual
'

# The tag `outer` names the tag `inner` of the second commit.
test_expect_success '--include-tag: also in files and with a list' '
	stock -C repo.git tag -a -m tag inner HEAD~6 &&
	stock -C repo.git tag -a -m tag outer inner &&
	stock -C repo.git tag -a -m tag top HEAD &&
	cp in all &&
	echo HEAD~3 >in &&
	for options in --revs "--revs --local" "--revs --incremental" \
		"--revs --missing=allow-any" "--revs --honor-pack-keep"
	do
		same_objects --include-tag $options || return
	done &&
	same_objects --include-tag --revs &&
	for tag in inner outer
	do
		grep $(stock -C repo.git rev-parse $tag) actual || return
	done &&
	! grep $(stock -C repo.git rev-parse top) actual &&
	stock -C repo.git rev-parse HEAD HEAD~6 "HEAD^{tree}" >in &&
	same_objects --include-tag &&
	test_line_count 6 actual &&
	"$GIT" -C repo.git pack-objects --include-tag --stdout <in >ours.pack &&
	stock index-pack --object-format=sha1 -o sent.idx ours.pack &&
	ids_of sent.idx >sent && test_cmp actual sent &&
	stock -C repo.git tag -d inner outer top
'

test_expect_success 'edges: the objects of their trees are not packed' '
	stock -C repo.git rev-list --objects-edge HEAD ^HEAD~3 >in &&
	same_objects &&
	mv in edges && grep ^- edges >in && cat all >>in &&
	same_objects &&
	! grep $(stock -C repo.git rev-parse "HEAD~3^{tree}") actual &&
	{ echo -1111111111111111111111111111111111111111 && cat all; } >in &&
	same_objects &&
	echo -foo >in &&
	test_expect_code 128 "$GIT" -C repo.git pack-objects x <in 2>err &&
	grep "expected edge object ID, got garbage" err
'

test_expect_success '--thin with options that list objects' '
	printf "%s\n" HEAD ^HEAD~2 >in &&
	for option in --local --incremental --honor-pack-keep --delta-islands \
		--reflog --missing=allow-any
	do
		"$GIT" -C repo.git pack-objects --thin --revs --stdout $option \
			<in >thin.pack &&
		stock -C repo.git index-pack --stdin --fix-thin --strict \
			<thin.pack || return
	done
'

test_expect_success '--shallow lines for a pack in a file' '
	{ echo --shallow $(stock -C repo.git rev-parse HEAD~2) &&
	  echo HEAD; } >in &&
	same_objects --revs &&
	same_objects --revs --local &&
	! grep $(stock -C repo.git rev-parse HEAD~3) actual &&
	mv all in
'

test_expect_success '--missing' '
	cp -R repo.git whole.git &&
	blob=$(stock -C repo.git rev-parse HEAD:$(stock -C repo.git \
		ls-tree -r --name-only HEAD | head -1)) &&
	stock -C repo.git unpack-objects -q <"$(echo ours-*.pack)" &&
	rm -f repo.git/objects/pack/* &&
	rm repo.git/objects/$(echo $blob | sed "s,^..,&/,") &&
	echo HEAD >in &&
	same_objects --revs --missing=allow-any &&
	! grep $blob actual && test -s actual &&
	"$GIT" -C repo.git pack-objects -q --revs --stdout --missing=allow-any \
		<in >sent.pack &&
	stock index-pack --no-rev-index -o sent.idx sent.pack >/dev/null &&
	ids_of sent.idx >actual && test_cmp expect actual &&
	test_must_fail "$GIT" -C repo.git pack-objects --revs x <in &&
	test_must_fail "$GIT" -C repo.git pack-objects --revs \
		--missing=error x <in &&
	test_must_fail "$GIT" -C repo.git pack-objects --revs \
		--missing=allow-promisor x <in &&
	fatal "invalid value for ${SQ}--missing${SQ}: ${SQ}print${SQ}" \
		--missing=print x
'

test_expect_success '--missing=allow-promisor: what a remote has promised' '
	{
		stock -C repo.git rev-parse HEAD^{tree} &&
		stock -C repo.git ls-tree -r -t HEAD |
			sed -n "s/.* tree \(.*\)	.*/\1/p"
	} >in &&
	promised=$(stock -C repo.git pack-objects -q objects/pack/pack <in) &&
	: >repo.git/objects/pack/pack-$promised.promisor &&
	stock -C repo.git config remote.origin.promisor true &&
	stock -C repo.git config remote.origin.url "$PWD/nowhere" &&
	echo HEAD >in &&
	same_objects --revs --missing=allow-promisor &&
	! grep $blob actual && test -s actual
'

test_expect_success '--cruft --stdout' '
	rm -rf repo.git && cp -R whole.git repo.git &&
	echo in no tree | stock -C repo.git hash-object -w --stdin >lost &&
	: >in &&
	"$GIT" -C repo.git pack-objects -q --cruft --stdout <in >cruft.pack &&
	stock -C repo.git pack-objects -q --cruft --stdout <in >stock.pack &&
	for name in cruft stock
	do
		stock index-pack --no-rev-index -o $name.idx $name.pack &&
		ids_of $name.idx >$name.ids || return
	done >/dev/null &&
	test_cmp stock.ids cruft.ids &&
	grep -f lost cruft.ids &&
	test -z "$(find repo.git -name "*.mtimes")"
'

# Packs 1 to 5, each of what a tag has more than the one before; 6 is loose.
test_expect_success 'setup: packs of parts of a history' '
	stock init -q work &&
	for i in 1 2 3 4 5 6
	do
		mkdir work/d$i && echo $i >work/d$i/x && echo $i >work/f$i &&
		stock -C work add . && test_tick &&
		stock -C work commit -qm $i &&
		stock -C work tag -am $i t$i || return
	done &&
	rm -rf repo.git && mv work/.git repo.git &&
	stock -C repo.git config core.bare true &&
	for i in 1 2 3 4 5
	do
		{
			echo t$i && { test $i = 1 || echo ^t$((i - 1)); }
		} >in &&
		pack=$(stock -C repo.git pack-objects -q --revs \
			objects/pack/pack <in) &&
		eval "p$i=pack-$pack.pack" || return
	done &&
	stock -C repo.git prune-packed
'

# followed <options> <pack>...: of the packs that they say, those that there
# are; which are expected is in `expect.<nr>`.
followed () {
	options=$1 && shift &&
	printf "%s\n" "$@" >in &&
	pack "$GIT" ours --stdin-packs=follow $options &&
	ids_of ours.idx >actual
}

# from <tag>...: what they reach, less what is before them.
from () {
	stock -C repo.git rev-list --objects "$@" | cut -d" " -f1 |
		LC_ALL=C sort
}

test_expect_success '--stdin-packs=follow packs all reachable objects' '
	followed "" $p5 &&
	from t5 >expect && test_cmp expect actual
'

test_expect_success '--stdin-packs=follow omits objects of excluded packs' '
	followed "" $p5 ^$p4 &&
	{ from t3 && from t5 ^t4; } | grep -v $(stock -C repo.git rev-parse t3) |
		sort >expect &&
	test_cmp expect actual
'

test_expect_success '--stdin-packs=follow stops at a pack with ^ if another has !' '
	followed "" $p5 !$p4 ^$p3 &&
	from t5 ^t4 >some &&
	LC_ALL=C comm -23 some actual >lacking && ! test -s lacking &&
	ids_of repo.git/objects/pack/${p3%.pack}.idx >closed &&
	LC_ALL=C comm -12 closed actual >common && ! test -s common &&
	ids_of repo.git/objects/pack/${p4%.pack}.idx >open &&
	LC_ALL=C comm -12 open actual >common && ! test -s common &&
	stock -C repo.git rev-parse t2^{commit} t1^{commit} >old &&
	! grep -f old actual
'

test_expect_success '... loose objects too' '
	followed --unpacked $p2 &&
	from t6 >reached &&
	LC_ALL=C comm -23 reached actual >lacking &&
	stock -C repo.git rev-parse t3 t4 t5 t6 >tags &&
	! grep -v -f tags lacking
'

test_expect_success '--stdin-packs=follow ignores missing objects' '
	mkdir away && mv repo.git/objects/pack/${p1%.pack}.* away &&
	followed "" $p5 &&
	ids_of away/*.idx >gone &&
	LC_ALL=C comm -12 gone actual >common && ! test -s common &&
	mv away/* repo.git/objects/pack
'

# What Git before 2.51 does not have is compared where there is one that does.
if stock -C repo.git pack-objects --stdin-packs=follow -q follow </dev/null \
	>/dev/null 2>&1
then
	test_set_prereq FOLLOW
fi
rm -f follow-* repo.git/follow-*

i=0
for packs in '$p5' '$p5 ^$p2' '$p5 !$p3' '$p5 !$p3 ^$p1' '$p5 !$p3 ^$p2' \
	'!$p3' '^$p3' '$p4 !$p5' '$p4 !$p5 ^$p2'
do
	test_expect_success FOLLOW "as stock Git: $packs" "
		printf '%s\\n' $packs >in &&
		same_objects --stdin-packs=follow &&
		same_objects --stdin-packs=follow --unpacked
	"
done

test_expect_success 'a mode that does not exist' '
	test_expect_code 128 "$GIT" -C repo.git pack-objects --stdin-packs=x y
'

test_expect_success 'grafts hide parents, except with --keep-true-parents' '
	repo_linear grafted.git 3 &&
	git -C grafted.git rev-parse main~1 >grafted.git/info/grafts &&
	echo main >one &&
	for option in --revs --all "--revs --keep-true-parents" \
		"--all --keep-true-parents"
	do
		rm -f ours-* stock-* &&
		"$GIT" -C grafted.git pack-objects -q $option \
			"$PWD/ours" <one >name &&
		stock -C grafted.git pack-objects -q $option \
			"$PWD/stock" <one >name &&
		stock show-index <$(ls ours-*.idx) | cut -d" " -f2 |
			sort >actual &&
		stock show-index <$(ls stock-*.idx) | cut -d" " -f2 |
			sort >expect &&
		test_cmp expect actual && wc -l <actual || return 1
	done >counts &&
	test $(sed -n 2p counts) -lt $(sed -n 3p counts)
'

test_expect_success '--keep-true-parents, --sparse: what is packed is the same' '
	echo HEAD >in &&
	pack "$GIT" plain --revs && ids_of plain.idx >expect &&
	for option in --keep-true-parents --sparse --no-sparse
	do
		pack "$GIT" ours --revs $option && ids_of ours.idx >actual &&
		test_cmp expect actual || return
	done
'

# what_is_sent <git> <option>...: the ids of a thin pack of `main`, of who has
# `old`.
what_is_sent () {
	program=$1 && shift &&
	printf "main\n^old\n" | $program -C moved.git pack-objects --revs --thin \
		--stdout -q "$@" >moved.pack &&
	rm -rf receiver.git && stock clone -q --bare --single-branch -b old \
		"file://$PWD/moved.git" receiver.git &&
	stock -C receiver.git index-pack --stdin --fix-thin <moved.pack \
		>/dev/null &&
	stock -C receiver.git update-ref refs/heads/main \
		$(stock -C moved.git rev-parse main) &&
	stock -C receiver.git fsck --strict --no-dangling >&2 &&
	dd if=moved.pack bs=1 skip=8 count=4 2>/dev/null | od -An -tu1
}

# Entered are trees where trees are sent, and those that are sent themselves.
test_expect_success '--thin: what was moved or came back is not sent again' '
	stock init -q -b old moved && (
		cd moved &&
		mkdir -p a/deep b c && for i in 1 2 3 4 5 6 7 8 9
		do
			seq $i 60 >a/deep/$i && seq $i 70 >b/$i &&
			seq $i 80 >c/$i || exit 1
		done &&
		stock add . && stock commit -q -m old &&
		stock checkout -q -b main && stock mv a/deep elsewhere &&
		stock commit -q -m "a directory moved" &&
		stock mv b/1 elsewhere/10 && stock commit -q -m "a file moved" &&
		echo other >c/5 && stock commit -q -a -m "changed" &&
		stock revert --no-edit HEAD
	) &&
	stock clone -q --bare moved moved.git &&
	what_is_sent stock --no-sparse >expect &&
	what_is_sent "$GIT" >actual && test_cmp expect actual
'

test_expect_success 'packs that are not thin: what was moved is not sent again' '
	printf "main\n^old\n" >in &&
	for option in "" --reflog --indexed-objects --filter=tree:1
	do
		for git in stock "$GIT"
		do
			$git -C moved.git pack-objects --revs --no-sparse --stdout -q \
				$option <in >sent-$(basename "$git").pack ||
				return
		done &&
		for name in stock git
		do
			stock index-pack sent-$name.pack >/dev/null &&
			ids_of sent-$name.idx >$name.ids || return
		done &&
		test_cmp stock.ids git.ids || return
	done
'

test_expect_success 'a tree of the receiver is missing: it gets the pack' '
	printf "main\n^old\n" >in &&
	rm -rf holes && stock clone -q --bare moved.git holes &&
	tree=$(stock -C holes rev-parse old:a) &&
	rm -f holes/objects/$(echo $tree | sed "s,^..,&/,") &&
	for option in --thin --no-thin
	do
		"$GIT" -C holes pack-objects --revs --stdout -q $option <in \
			>sent.pack &&
		stock -C holes index-pack --stdin --fix-thin <sent.pack || return
	done
'

# A shallow receiver has the tree of its edge: bases for a thin pack.
test_expect_success '--shallow --thin: complete for the receiver' '
	stock clone -q --bare --depth=1 --branch t4 "file://$PWD/repo.git" \
		shallow.git &&
	edge=$(cat shallow.git/shallow) &&
	{
		echo "--shallow $edge" && stock -C repo.git rev-parse t6 &&
		echo "^$edge"
	} >in &&
	"$GIT" -C repo.git pack-objects --revs --thin --stdout --shallow -q \
		--delta-base-offset <in >thin.pack &&
	stock -C shallow.git index-pack --stdin --fix-thin <thin.pack &&
	stock -C shallow.git update-ref refs/heads/new \
		$(stock -C repo.git rev-parse t6^{commit}) &&
	stock -C shallow.git fsck --strict
'

test_expect_success 'values and options that change nothing are taken' '
	echo HEAD >in &&
	"$GIT" -C repo.git pack-objects -q --stdin-packs= ../p </dev/null &&
	"$GIT" -C repo.git pack-objects -q --revs --stdout \
		--max-pack-size=0 <in >out.pack &&
	stock index-pack out.pack &&
	for key in pack.window=-1 pack.depth=-1 pack.useSparse=false
	do
		"$GIT" -C repo.git -c $key pack-objects -q --revs --stdout \
			<in >out.pack || return
	done &&
	test_expect_code 128 "$GIT" -C repo.git -c pack.useSparse=x \
		pack-objects -q --revs --stdout <in 2>err &&
	grep "bad boolean config value .x. for .pack.usesparse." err &&
	stock -C repo.git rev-parse HEAD >in &&
	"$GIT" -C repo.git pack-objects -q --filter=blob:none ../p <in &&
	"$GIT" -C repo.git pack-objects -q --cruft --filter=blob:none ../p \
		</dev/null
'

test_expect_success '--write-bitmap-index: only a pack of all refs gets a bitmap' '
	echo HEAD >in && pack "$GIT" ours --revs --write-bitmap-index &&
	! test -f ours-*.bitmap &&
	pack "$GIT" ours --all --write-bitmap-index && test -f ours-*.bitmap
'

test_expect_success 'a relative base name is relative to the top' '
	stock init -q work && mkdir work/dir &&
	stock -C work commit -q --allow-empty -m one &&
	(cd work/dir && echo HEAD | "$GIT" pack-objects -q --revs p) &&
	ls work/p-*.pack &&
	(cd repo.git/objects && echo HEAD | "$GIT" pack-objects -q --revs p) &&
	ls repo.git/p-*.pack
'

test_expect_success 'a listed object is missing: it is named' '
	echo 1234567890123456789012345678901234567890 >in &&
	fatal "unable to read 1234567890123456789012345678901234567890" x
'

# shown <lines> <options>...: as many of the steps Enumerating and Writing are
# shown.
shown () {
	lines=$1 && shift &&
	"$GIT" -C repo.git pack-objects --all "$@" 2>err >/dev/null &&
	tr "\r" "\n" <err | grep -E "^(Enumerating|Writing) .*, done" >told || :
	test_line_count $lines told
}

test_expect_success 'revisions with suffixes that stand for parents' '
	cp in all && stock -C repo.git branch side main~3 &&
	merge=$(stock -C repo.git commit-tree -p main -p side -m merge \
		"main^{tree}") &&
	for revs in main^! main~1^@ main^- $merge^- $merge^-2 $merge^@ \
		"^main^@ main" "^main~2^! side" "--not main~2^@ --not main"
	do
		printf "%s\n" $revs >in && same_objects --revs || return 1
	done &&
	for rev in main^-2 main^-0 none^! "main^{tree}^@"
	do
		printf "%s\n" main $rev >in &&
		fatal "bad revision $SQ$rev$SQ" -q --revs ../none || return 1
	done &&
	stock -C repo.git branch -D -q side && mv all in
'

# Ours cannot search messages. A child process of stock Git resolves these names.
test_expect_success 'revisions on standard input that only stock Git resolves' '
	mv in all && stock -C repo.git tag -m tag v1 main~2 &&
	for rev in ":/5" "v1^{/3}" "main^{/3}..main" \
		"^main^{/2}" "main^{/4}^@" ":/4^!" \
		":/6^-" "main^{/5}...v1"
	do
		printf "%s\n" v1 "$rev" >in && same_objects --revs || return 1
	done &&
	printf "%s\n" main "main^{/nothing}" >in &&
	fatal "bad revision ${SQ}main^{/nothing}$SQ" -q --revs ../none &&
	echo ":/5" >in &&
	test_expect_code 128 env GITREACH_FALLBACK=/none \
		"$GIT" -C repo.git pack-objects -q --revs ../none <in 2>err &&
	grep "searches for a commit message are not supported" err &&
	"$GIT" -C repo.git bundle create -q ../b --stdin <<-\EOF &&
	main
	^main^{/5}
	EOF
	stock -C repo.git rev-parse "main^{/5}" >expect &&
	sed -n "s/^-\([0-9a-f]*\) .*/\1/p" b >actual &&
	test_cmp expect actual &&
	stock -C repo.git tag -d v1 && mv all in
'

test_expect_success '--stdout --non-empty: nothing is written without objects' '
	printf "%s\n" main ^main >none.in &&
	rm -rf packed.git && cp -R repo.git packed.git &&
	"$GIT" -C packed.git repack -adq &&
	for options in --revs "--revs --thin" "--revs --progress" "" \
		"--all --unpacked"
	do
		in=/dev/null &&
		case $options in
		--revs*) in=none.in ;;
		esac &&
		"$GIT" -C packed.git pack-objects -q --stdout --non-empty \
			$options <$in >out && test_must_be_empty out &&
		"$GIT" -C packed.git pack-objects -q --stdout $options <$in >out &&
		test 32 -eq $(wc -c <out) || return 1
	done &&
	printf "%s\n" main ^main~1 | "$GIT" -C packed.git pack-objects -q \
		--stdout --revs --non-empty >new.pack &&
	stock index-pack -o new.idx new.pack
'

test_expect_success 'the last option about progress holds' '
	shown 2 -q --progress shown &&
	shown 0 --progress -q shown &&
	shown 2 --no-progress --progress shown &&
	shown 0 --progress --no-progress shown &&
	shown 2 -q --no-quiet shown &&
	shown 1 --no-quiet --stdout &&
	shown 1 -q --progress --stdout &&
	shown 2 -q --all-progress --stdout &&
	shown 1 --all-progress --progress --stdout &&
	shown 2 --all-progress --no-quiet --stdout &&
	shown 0 --progress --no-all-progress --stdout
'

test_expect_success 'a wrong index version is reported as it was written' '
	fatal "unsupported index version -1" --index-version=-1 x &&
	fatal "unsupported index version 3,5" --index-version=3,5 --bad x &&
	fatal "bad index version ${SQ}1k${SQ}" --thin --index-version=1k x
'

test_expect_success 'a bad line is reported before a missing object' '
	zero=$(printf "%040d" 0) &&
	printf "%s\n" $zero light |
		test_must_fail git -C repo.git pack-objects -q x 2>err &&
	printf "%s\n" "fatal: expected object ID, got garbage:" " light" \
		>expect && sed 2q err >actual && test_cmp expect actual &&
	printf "%s\n" $zero |
		test_must_fail git -C repo.git pack-objects -q x 2>err &&
	grep "unable to read $zero" err
'

test_expect_success 'with --revs, the first bad line is reported' '
	zero=$(printf "%040d" 0) &&
	for lines in "$zero\nnothing\n" "^$zero\n--foo\n" "nothing\n$zero\n"
	do
		printf "$lines" | test_must_fail stock -C repo.git \
			pack-objects -q --revs x 2>expect &&
		printf "$lines" | test_must_fail git -C repo.git \
			pack-objects -q --revs x 2>err &&
		test_cmp expect err || return 1
	done
'

test_expect_success 'of several wrong options, one is reported as in stock Git' '
	test_expect_code 128 git -C repo.git pack-objects -q --thin \
		--name-hash-version=7 --max-pack-size=5 --depth=9999 x 2>err &&
	printf "%s\n" \
		"warning: delta chain depth 9999 is too deep, forcing 4095" \
		"warning: minimum pack size limit is 1 MiB" \
		"fatal: --thin cannot be used to build an indexable pack" \
		>expect && test_cmp expect err &&
	test_expect_code 128 git -C repo.git pack-objects -q --cruft \
		--stdin-packs --name-hash-version=7 x 2>err &&
	grep "cannot be used together" err &&
	test_expect_code 128 git -C repo.git pack-objects -q \
		--name-hash-version=7 x 2>err &&
	grep "invalid --name-hash-version option: 7" err &&
	test_expect_code 128 git -C repo.git -c pack.indexVersion=99999999999 \
		pack-objects -q x 2>err &&
	grep "bad numeric config value .99999999999. for .pack.indexversion." err
'

test_done
