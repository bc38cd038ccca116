#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='fork networks: what a fork does not give of another

Each test is an attack on member B of a network, by a client that knows the ids
of objects that only member A reaches, and that the store has which both borrow
from. It has to learn no more than about ids that nobody has.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-leaks.sh"

test_expect_success 'setup' '
	network_of_two &&
	test_is_exposed
'

# ---- wants by id

for v in 0 1 2 0_stateless
do
	for what in COMMIT PARENT TREE SUBTREE BLOB TAG HIDDEN
	do
		test_expect_success "v$v: want the $what of another member" '
			eval "id=\$$what" &&
			alike $id want$v &&
			grep -a "not our ref $id" real.out
		'
	done
done

test_expect_success 'v2: want an object of a hidden ref of the member' '
	alike $BURIED want2 &&
	alike $(stock -C srv/b.git rev-parse $BURIED^{tree}) want2
'

test_expect_success 'v2: reachable objects of B are sent, of any kind and age' '
	for id in $OWN $MAIN $(stock -C srv/b.git rev-parse main~7 main~3^{tree} \
		own:shared/own own:shared main~4:dir0)
	do
		want2 $id >out && grep -a PACK out >pack || return
	done
'

# A request ends with the first want that is refused: not with the other one.
test_expect_success 'v2: two wants do not show which one exists' '
	pair () {
		fetch2 "want $1" "want $(ghost $MAIN)" done
	} &&
	alike $COMMIT pair && alike $BLOB pair &&
	first () {
		fetch2 "want $1" "no such line" done
	} &&
	alike $COMMIT first
'

test_expect_success 'v2: abbreviated ids are no ids' '
	short () {
		fetch2 "want $(echo $1 | cut -c1-12)" done
	} &&
	alike $COMMIT short &&
	expr () {
		fetch2 "want $1^{tree}" done
	} &&
	alike $COMMIT expr &&
	alike $TAG expr
'

test_expect_success 'v0: abbreviated ids are no ids' '
	short () {
		want0 $(echo $1 | cut -c1-12)
	} &&
	alike $COMMIT short
'

# ---- operators who allow more

for key in allowTipSHA1InWant allowReachableSHA1InWant allowAnySHA1InWant
do
	test_expect_success "uploadpack.$key ends at the fork" '
		test_when_finished "stock -C srv/b.git config \
			--unset uploadpack.$key" &&
		stock -C srv/b.git config uploadpack.$key true &&
		for id in $COMMIT $TREE $BLOB $TAG $HIDDEN
		do
			alike $id want0 && alike $id want1 && alike $id want2 &&
			alike $id want0_stateless || return
		done &&
		want0 $BURIED >out && grep -a PACK out >pack
	'
done

test_expect_success 'allowAnySHA1InWant sends only objects that B reaches' '
	test_when_finished "stock -C srv/b.git config \
		--unset uploadpack.allowAnySHA1InWant" &&
	stock -C srv/b.git config uploadpack.allowAnySHA1InWant true &&
	want0 $(stock -C srv/b.git rev-parse main~5:dir1) >out &&
	grep -a PACK out >pack
'

test_expect_success 'gitreach.reachableOnly=false sends any existing object' '
	test_when_finished "stock -C srv/b.git config \
		--unset gitreach.reachableOnly" &&
	stock -C srv/b.git config gitreach.reachableOnly false &&
	want2 $BLOB >out &&
	grep -a PACK out >pack
'

test_expect_success 'gitreach.reachableOnly=true limits any repository' '
	stock clone -q --bare "file://$PWD/srv/a.git" srv/alone.git &&
	stock -C srv/alone.git branch -q -D secret &&
	stock -C srv/alone.git tag -d secret-tag &&
	v2 alone.git command=fetch D "want $COMMIT" done F >out &&
	grep -a PACK out >pack &&
	stock -C srv/alone.git config gitreach.reachableOnly true &&
	one () {
		v2 alone.git command=fetch D "want $1" done F
	} &&
	alike $COMMIT one && alike $BLOB one
'

# ---- refs

test_expect_success 'v2: want-ref of refs of other members' '
	test_when_finished "stock -C srv/b.git config \
		--unset uploadpack.allowRefInWant" &&
	stock -C srv/b.git config uploadpack.allowRefInWant true &&
	for name in refs/heads/secret refs/virtual/2/heads/secret \
		refs/tags/secret-tag refs/virtual/3/heads/own refs/hidden/x \
		../store.git/refs/virtual/2/heads/secret $COMMIT
	do
		fetch2 "want-ref $name" done >out 2>err
		grep -a "ERR unknown ref" out && ! grep -a PACK out || return
	done
'

test_expect_success 'want-ref of a hidden ref of the member' '
	test_when_finished "stock -C srv/b.git config \
		--unset uploadpack.allowRefInWant" &&
	stock -C srv/b.git config uploadpack.allowRefInWant true &&
	fetch2 "want-ref refs/hidden/own" done >out 2>err
	grep -a "ERR unknown ref refs/hidden/own" out
'

test_expect_success 'advertisements name no refs of other members' '
	for v in 0 1 2
	do
		stock_client -v$v ls-remote \
			--upload-pack="$GITREACH_BUILD/bin/git-upload-pack" \
			"file://$PWD/srv/b.git" >refs.$v || return
	done &&
	stock_client -v2 ls-remote \
		--upload-pack="$GITREACH_BUILD/bin/git-upload-pack" \
		"file://$PWD/srv/b.git" "refs/virtual/*" "refs/virtual/2/heads/*" \
		"secret" >refs.virtual &&
	test_cmp /dev/null refs.virtual &&
	! grep -e secret -e virtual -e hidden -e $COMMIT -e $TAG \
		-e $HIDDEN refs.[012] &&
	grep refs/heads/own refs.2
'

test_expect_success 'ls-refs with the prefixes of other members' '
	v2 b.git command=ls-refs D peel symrefs "ref-prefix refs/virtual/" \
		"ref-prefix refs/heads/secret" "ref-prefix ../" F >out &&
	printf 0000 >expect && test_cmp expect out
'

test_expect_success 'include-tag sends no tags of other members' '
	fetch0 "want $MAIN include-tag no-progress ofs-delta" F done >out &&
	pack_of out >pack && rm -rf tagged.git && repo_init tagged.git &&
	stock -C tagged.git index-pack --stdin <pack &&
	stock -C tagged.git cat-file --batch-all-objects \
		--batch-check="%(objecttype)" | grep tag >tags
	test_cmp /dev/null tags
'

# ---- namespaces, alternates, the store

test_expect_success 'a namespace of B shows its own refs only' '
	stock -C srv/b.git update-ref refs/namespaces/n/refs/heads/main \
		$MAIN &&
	names () {
		GIT_NAMESPACE=n want2 $1
	} &&
	alike $COMMIT names && alike $OWN names &&
	alike $(stock -C srv/b.git rev-parse own:shared/own) names &&
	GIT_NAMESPACE=n want2 $MAIN >out && grep -a PACK out >pack
'

test_expect_success 'alternates in the environment change nothing' '
	env_alternate () {
		GIT_ALTERNATE_OBJECT_DIRECTORIES=$PWD/srv/a.git/objects \
			want2 $1
	} &&
	echo later | stock -C srv/a.git hash-object -w --stdin >later &&
	alike $COMMIT env_alternate && alike $BLOB env_alternate &&
	alike $(cat later) env_alternate
'

test_expect_success 'a repository that borrows from a member is limited, too' '
	stock clone -q -s --bare srv/b.git srv/borrower.git &&
	borrower () {
		v2 borrower.git command=fetch D "want $1" done F
	} &&
	alike $COMMIT borrower && alike $BLOB borrower &&
	borrower $OWN >out && grep -a PACK out >pack
'

test_expect_success 'the store sends no objects' '
	store () {
		v2 store.git command=fetch D "want $1" done F
	} &&
	alike $COMMIT store && alike $MAIN store && alike $BLOB store
'

# ---- whole packs

test_expect_success 'a clone by bitmaps has no objects of other members' '
	stock_client clone -q --mirror \
		--upload-pack="$GITREACH_BUILD/bin/git-upload-pack" \
		"file://$PWD/srv/b.git" clone.git &&
	test_served_by_us &&
	stock -C clone.git fsck --full --strict &&
	test_no_secret clone.git &&
	stock -C clone.git cat-file --batch-all-objects \
		--batch-check="%(objectname)" >actual &&
	stock -C srv/b.git rev-list --objects main own \
		--glob=refs/namespaces | cut -c1-40 | sort >expect &&
	test_cmp expect actual
'

test_expect_success 'the pack has no delta against an object that B does not reach' '
	fetch0 "want $OWN no-progress" F done >out &&
	pack_of out >pack && rm -rf whole.git && repo_init whole.git &&
	stock -C whole.git index-pack --stdin <pack &&
	stock -C whole.git fsck --full --strict $OWN
'

test_expect_success 'a member that leaves has no objects of other members' '
	"$GIT" network fork -q srv/b.git srv/leaver.git &&
	"$GIT" -C srv/store.git network leave -q ../leaver.git &&
	leaver () {
		v2 leaver.git command=fetch D "want $1" done F
	} &&
	for id in $COMMIT $PARENT $TREE $SUBTREE $BLOB $TAG $HIDDEN
	do
		alike $id leaver || return
	done &&
	test_no_secret srv/leaver.git &&
	leaver $OWN >out && grep -a PACK out >pack
'

test_done
