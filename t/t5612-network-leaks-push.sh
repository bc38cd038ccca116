#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='fork networks: pushes that lean on what another has

Attacks on member B of a network by pushes: what they build on has to come with
them, or be what a fetch from B could have given.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-leaks.sh"

RP=--receive-pack=$GITREACH_BUILD/bin/git-receive-pack

test_expect_success 'setup' '
	network_of_two &&
	test_is_exposed &&
	stock -C srv/b.git config receive.advertisePushOptions true &&
	stock -C srv/b.git config receive.autogc false &&
	stock -C srv/b.git for-each-ref >refs.before
'

# command <old> <new> <ref>: the line of a push.
command () {
	printf "%s %s %s" $1 $2 $3
}

# push <pack> <capabilities> <command>...: to B, raw; what it says comes out.
push () {
	pack=$1 capabilities=$2 &&
	shift 2 &&
	{
		first=$1 &&
		shift &&
		printf "%04x%s\0%s" $((5 + ${#first} + ${#capabilities})) \
			"$first" "$capabilities" &&
		for line in "$@"
		do
			printf "%04x%s" $((4 + ${#line})) "$line"
		done &&
		printf 0000 &&
		${OPTIONS:+pkt $OPTIONS F} &&
		cat "$pack"
	} >request &&
	"$GIT" receive-pack srv/b.git <request >answer.raw
	code=$?
	tr -d "\0" <answer.raw
	return $code
}

# make_pack <name> [<option>...]: of thief.git, of the objects on standard
# input; not what they reach.
make_pack () {
	name=$1 &&
	shift &&
	stock -C thief.git pack-objects -q --stdout "$@" >$name
}

# put <type>: an object of the attacker
put () {
	stock -C thief.git hash-object -w --literally -t $1 --stdin
}

# tree_of <mode> <type> <id>; commit_of <tree> [<parent>]; tag_of <type> <id>
tree_of () {
	printf "%s %s %s\tx\n" $1 $2 $3 | stock -C thief.git mktree --missing
}

# raw_tree <mode> <id>: nobody looks what the id is.
raw_tree () {
	python3 -c "import sys
sys.stdout.buffer.write(b'$1 x\0' + bytes.fromhex('$2'))" | put tree
}

commit_of () {
	printf "tree %s\n%sauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nx\n" \
		$1 "${2:+parent $2
}" | put commit
}

tag_of () {
	printf "object %s\ntype %s\ntag x\ntagger A <a@b> 1 +0000\n\nx\n" \
		$2 $1 | put tag
}

test_same_refs () {
	stock -C srv/b.git for-each-ref >refs.after &&
	test_cmp refs.before refs.after
}

# missing <id> <command>: as alike, refused, and nothing has changed.
missing () {
	alike "$@" &&
	grep -a "ng refs/" real.out &&
	test_same_refs
}

test_expect_success 'an empty pack' '
	make_pack empty </dev/null
'

# ---- refs to what another has

for what in COMMIT PARENT TREE BLOB TAG HIDDEN BURIED
do
	test_expect_success "a ref to an unsent $what of another member" '
		eval "id=\$$what" &&
		ref () {
			push empty report-status \
				"$(command $ZERO $1 refs/heads/x)"
		} &&
		missing $id ref &&
		grep -a "ng refs/heads/x missing necessary objects" real.out &&
		tag () {
			push empty report-status \
				"$(command $ZERO $1 refs/tags/x)"
		} &&
		missing $id tag
	'
done

test_expect_success 'a branch that moves to a commit of another member' '
	move () {
		push empty report-status "$(command $OWN $1 refs/heads/own)"
	} &&
	missing $COMMIT move && missing $HIDDEN move
'

test_expect_success 'atomic, with push options, on the side band, v1' '
	stock -C srv/b.git config receive.fsckObjects true &&
	atomic () {
		push empty "report-status-v2 atomic side-band-64k" \
			"$(command $ZERO $MAIN refs/heads/good)" \
			"$(command $ZERO $1 refs/heads/x)"
	} &&
	missing $COMMIT atomic &&
	options () {
		OPTIONS="a=b" push empty "report-status push-options" \
			"$(command $ZERO $1 refs/heads/x)"
	} &&
	missing $COMMIT options &&
	v1 () {
		GIT_PROTOCOL=version=1 push empty report-status \
			"$(command $ZERO $1 refs/heads/x)"
	} &&
	missing $COMMIT v1 &&
	stock -C srv/b.git config --unset receive.fsckObjects
'

test_expect_success 'without a report nothing is said, nothing changed' '
	silent () {
		push empty "" "$(command $ZERO $1 refs/heads/x)"
	} &&
	alike $COMMIT silent && test_same_refs
'

# ---- objects that lean on what another has

test_expect_success 'a commit whose parent only another member has' '
	parent () {
		commit_of $(stock -C thief.git rev-parse $MAIN^{tree}) $1 >new &&
		make_pack pack <new &&
		push pack report-status \
			"$(command $ZERO $(cat new) refs/heads/x)" |
			sed "s/$(cat new)/<new>/"
	} &&
	missing $COMMIT parent && missing $PARENT parent &&
	missing $HIDDEN parent && missing $BURIED parent
'

test_expect_success 'a commit whose tree only another member has' '
	tree () {
		commit_of $1 $MAIN >new && make_pack pack <new &&
		push pack report-status \
			"$(command $MAIN $(cat new) refs/heads/main)"
	} &&
	missing $TREE tree && missing $SUBTREE tree
'

for kind in 100644/blob/BLOB 040000/tree/SUBTREE 040000/tree/TREE \
	100755/blob/BLOB 120000/blob/BLOB
do
	test_expect_success "a tree with an entry of another: $kind" '
		set -- $(echo '$kind' | tr / " ") &&
		mode=$1 type=$2 &&
		eval "id=\$$3" &&
		entry () {
			tree_of $mode $type $1 >tree &&
			commit_of $(cat tree) $MAIN >new &&
			cat tree new | make_pack pack &&
			push pack report-status \
				"$(command $ZERO $(cat new) refs/heads/x)"
		} &&
		missing $id entry
	'
done

# A type that is wrong would be found out by reading the object.
test_expect_success 'an entry of another under a wrong type' '
	wrong () {
		raw_tree 40000 $1 >tree &&
		commit_of $(cat tree) $MAIN >new &&
		cat tree new | make_pack pack &&
		push pack report-status \
			"$(command $ZERO $(cat new) refs/heads/x)"
	} &&
	missing $BLOB wrong && missing $COMMIT wrong &&
	parent () {
		commit_of $(stock -C thief.git rev-parse $MAIN^{tree}) $1 >new &&
		make_pack pack <new &&
		push pack report-status \
			"$(command $ZERO $(cat new) refs/heads/x)"
	} &&
	missing $BLOB parent && missing $TREE parent && missing $TAG parent
'

for kind in commit/COMMIT tree/TREE blob/BLOB tag/TAG
do
	test_expect_success "a tag of an object of another member: $kind" '
		set -- $(echo '$kind' | tr / " ") &&
		type=$1 &&
		eval "id=\$$2" &&
		tag () {
			tag_of $type $1 >new && make_pack pack <new &&
			push pack report-status \
				"$(command $ZERO $(cat new) refs/tags/x)"
		} &&
		missing $id tag
	'
done

test_expect_success 'a shallow push with a boundary at a commit of another member' '
	stock -C srv/b.git config receive.shallowUpdate true &&
	shallow () {
		commit_of $1 $PARENT >new && make_pack pack <new &&
		{
			pkt "shallow $(cat new)" &&
			line="$(command $ZERO $(cat new) refs/heads/x)" &&
			printf "%04x%s\0report-status" $((18 + ${#line})) \
				"$line" &&
			printf 0000 && cat pack
		} >request &&
		"$GIT" receive-pack srv/b.git <request | tr -d "\0"
	} &&
	missing $TREE shallow &&
	stock -C srv/b.git config --unset receive.shallowUpdate
'

test_expect_success 'objects in the push itself are accepted' '
	commit_of $TREE $MAIN >new &&
	{
		cat new &&
		stock -C thief.git rev-list --objects --no-object-names $TREE
	} | make_pack pack &&
	push pack report-status "$(command $ZERO $(cat new) refs/heads/mine)" \
		>out &&
	grep -a "ok refs/heads/mine" out &&
	want2 $BLOB >out && grep -a PACK out >pack &&
	alike $COMMIT want2 && alike $TAG want2 &&
	push empty report-status "$(command $(cat new) $ZERO refs/heads/mine)" &&
	alike $BLOB want2 && test_same_refs
'

# ---- thin packs

# on_base <id> <file>: push a blob that is a delta against an object.
on_base () {
	echo more >more.txt && cat "$2" more.txt >result.txt &&
	tree_of 100644 blob $(put blob <result.txt) >tree &&
	commit_of $(cat tree) $MAIN >new &&
	stock -C thief.git cat-file tree $(cat tree) >tree.raw &&
	stock -C thief.git cat-file commit $(cat new) >new.raw &&
	python3 "$GITREACH_SRC/t/ref-delta-pack.py" $1 "$2" more.txt \
		tree tree.raw commit new.raw >thin &&
	push thin report-status "$(command $ZERO $(cat new) refs/heads/x)"
}

test_expect_success 'a thin pack with a base that only another member has' '
	base () {
		on_base $1 secret.txt
	} &&
	missing $BLOB base &&
	grep -a "ng refs/heads/x unpacker error" real.out &&
	hidden () {
		on_base $1 hidden.txt
	} &&
	missing $(stock -C srv/b.git rev-parse $BURIED:buried) hidden
'

test_expect_success 'a thin pack on a base of B is completed' '
	on_base $(stock -C srv/b.git rev-parse own:shared/own) own.txt >out &&
	grep -a "ok refs/heads/x" out &&
	stock -C srv/b.git fsck --full --strict &&
	stock -C srv/b.git update-ref -d refs/heads/x &&
	stock -C srv/b.git cat-file blob main~11:dir1/file1 >first.txt &&
	on_base $(stock -C srv/b.git rev-parse main~11:dir1/file1) first.txt \
		>out &&
	grep -a "ok refs/heads/x" out &&
	stock -C srv/b.git update-ref -d refs/heads/x
'

test_expect_success 'a thin pack of a stock client is completed' '
	{ cat own.txt && echo more; } >more.txt &&
	stock -C thief.git read-tree --empty &&
	build_commit thief.git refs/mine shared/own more.txt $OWN &&
	{
		echo ^$OWN &&
		echo $commit
	} | stock -C thief.git pack-objects -q --thin --revs --stdout >thin &&
	test_must_fail stock -C thief.git index-pack --stdin <thin &&
	push thin report-status "$(command $OWN $commit refs/heads/own)" >out &&
	grep -a "ok refs/heads/own" out &&
	stock -C srv/b.git fsck --full --strict &&
	push empty report-status "$(command $commit $OWN refs/heads/own)" &&
	test_same_refs
'

test_expect_success 'fsck of a .gitmodules blob of another member' '
	stock -C srv/b.git config receive.fsckObjects true &&
	modules () {
		printf "100644 blob %s\t.gitmodules\n" $1 |
			stock -C thief.git mktree --missing >tree &&
		commit_of $(cat tree) $MAIN >new &&
		cat tree new | make_pack pack &&
		push pack "report-status side-band-64k" \
			"$(command $ZERO $(cat new) refs/heads/x)"
	} &&
	missing $BLOB modules &&
	stock -C srv/b.git config --unset receive.fsckObjects
'

# ---- what a push is told

test_expect_success 'no .have lines of other members or of hidden refs' '
	"$GIT" receive-pack --http-backend-info-refs srv/b.git >out &&
	! grep -a -e $COMMIT -e $TAG -e $HIDDEN -e $BURIED -e virtual out &&
	grep -a "$OWN refs/heads/own" out
'

test_expect_success 'no .have lines of other members, even if configured' '
	test_when_finished "stock -C srv/b.git config core.alternateRefsPrefixes \
		refs/virtual/3/" &&
	stock -C srv/b.git config core.alternateRefsPrefixes refs/virtual/ &&
	"$GIT" receive-pack --http-backend-info-refs srv/b.git >out &&
	! grep -a -e $COMMIT -e $TAG -e $HIDDEN -e $BURIED out &&
	stock -C srv/b.git config --unset core.alternateRefsPrefixes &&
	"$GIT" receive-pack --http-backend-info-refs srv/b.git >out &&
	! grep -a -e $COMMIT -e $TAG -e $HIDDEN -e $BURIED out &&
	test_config=core.alternateRefsCommand &&
	"$GIT" -c $test_config="echo $COMMIT; echo $MAIN #" receive-pack \
		--http-backend-info-refs srv/b.git >out &&
	! grep -a $COMMIT out
'

test_expect_success 'updates whose old value only another member has' '
	old () {
		push empty report-status "$(command $1 $MAIN refs/heads/own)"
	} &&
	missing $COMMIT old && missing $BLOB old &&
	stock -C srv/b.git config receive.denyNonFastForwards true &&
	missing $COMMIT old && missing $PARENT old && missing $HIDDEN old &&
	missing $TREE old &&
	stock -C srv/b.git config --unset receive.denyNonFastForwards
'

test_expect_success 'creations whose old value only another member has' '
	new () {
		push empty report-status "$(command $1 $MAIN refs/heads/new)"
	} &&
	missing $COMMIT new && missing $HIDDEN new &&
	stock -C srv/b.git config receive.denyNonFastForwards true &&
	missing $COMMIT new &&
	stock -C srv/b.git config --unset receive.denyNonFastForwards
'

test_expect_success 'deletions whose old value only another member has' '
	gone () {
		push empty "report-status delete-refs side-band-64k" \
			"$(command $1 $ZERO refs/heads/nothing)"
	} &&
	alike $COMMIT gone && alike $BLOB gone && alike $TAG gone &&
	test_same_refs &&
	delete () {
		push empty "report-status delete-refs side-band-64k" \
			"$(command $1 $ZERO refs/heads/own)"
	} &&
	delete $COMMIT >real; stock -C srv/b.git for-each-ref >refs.real &&
	stock -C srv/b.git update-ref refs/heads/own $OWN &&
	delete $(ghost $COMMIT) >ghost
	stock -C srv/b.git for-each-ref >refs.ghost &&
	test_cmp refs.ghost refs.real &&
	stock -C srv/b.git update-ref refs/heads/own $OWN &&
	test_same_refs
'

test_expect_success '--force-with-lease with a commit of another member' '
	test_must_fail stock -C thief.git push "$RP" \
		--force-with-lease=refs/heads/own:$COMMIT \
		"file://$PWD/srv/b.git" $MAIN:refs/heads/own 2>err &&
	grep "stale info" err &&
	test_same_refs
'

# ---- stock clients

test_expect_success 'a client of A and B pushes objects of A to B' '
	stock -C thief.git push "$RP" "file://$PWD/srv/b.git" \
		$COMMIT:refs/heads/copy &&
	stock -C srv/b.git fsck --full --strict &&
	stock -C srv/b.git update-ref -d refs/heads/copy &&
	test_same_refs
'

test_expect_success 'a client pushes on top of B, also what moved' '
	build_commit thief.git refs/mine shared/big own.txt $OWN &&
	build_commit thief.git refs/mine shared/again big $commit &&
	stock -C thief.git push "$RP" "file://$PWD/srv/b.git" \
		refs/mine:refs/heads/own &&
	stock -C srv/b.git fsck --full --strict &&
	stock -C srv/b.git update-ref refs/heads/own $OWN &&
	test_same_refs
'

test_done
