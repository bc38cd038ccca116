#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='fork networks: what a fork does not let slip of another

Attacks on member B of a network by all that a fetch may say besides its wants:
what the client has, where its history ends, filters, sizes; and archives.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-leaks.sh"

UP=--upload-pack=$GITREACH_BUILD/bin/git-upload-pack

test_expect_success 'setup' '
	network_of_two &&
	test_is_exposed &&
	for key in allowFilter allowSidebandAll
	do
		stock -C srv/b.git config uploadpack.$key true || return
	done &&
	stock -C srv/b.git config transfer.advertiseObjectInfo true
'

# ---- haves

for mode in '' ' multi_ack' ' multi_ack_detailed' ' multi_ack_detailed no-done'
do
	test_expect_success "v0${mode:- plain}: a have of another member" '
		have () {
			fetch0_stateless "want $OWN$mode no-progress" F \
				"have $1" F
		} &&
		for id in $COMMIT $PARENT $TREE $BLOB $TAG $HIDDEN
		do
			alike $id have && ! grep -a ACK real.out | grep $id ||
				return
		done &&
		have $MAIN >out && grep -a "ACK $MAIN" out
	'
done

test_expect_success 'v1: a have of another member' '
	have () {
		PROTOCOL=version=1 fetch0 "want $OWN multi_ack no-progress" F \
			"have $1" F
	} &&
	alike $COMMIT have && alike $TAG have
'

for what in COMMIT PARENT TREE SUBTREE BLOB TAG HIDDEN BURIED
do
	test_expect_success "v2: a have of a $what of another member" '
		eval "id=\$$what" &&
		have () {
			fetch2 "want $OWN" "have $1"
		} &&
		alike $id have &&
		grep -a NAK real.out &&
		have $MAIN >out && grep -a "ACK $MAIN" out
	'
done

test_expect_success 'v2: many haves at once, by every way to look for them' '
	many () {
		pkt command=fetch object-format=sha1 D wait-for-done \
			$(stock -C srv/b.git rev-list main |
				sed "s/^/have_/") "have $1" F |
			sed "s/have_/have /" | GIT_PROTOCOL=version=2 "$GIT" \
				upload-pack --stateless-rpc srv/b.git
	} &&
	alike $COMMIT many && alike $BLOB many &&
	many $COMMIT >out &&
	test $(tr -d "\0" <out | grep -a -c ACK) = \
		$(stock -C srv/b.git rev-list --count main)
'

test_expect_success 'v2: negotiation shows no objects of other members' '
	common () {
		fetch2 wait-for-done "have $1" "have $MAIN"
	} &&
	alike $COMMIT common && alike $HIDDEN common && alike $BLOB common &&
	grep -a "ACK $MAIN" real.out
'

test_expect_success '--negotiate-only of a client that fetched from another member' '
	stock_client -C thief.git fetch --negotiate-only "$UP" \
		--negotiation-tip=$COMMIT "file://$PWD/srv/b.git" >common &&
	test_served_by_us &&
	grep $MAIN common && ! grep -e $COMMIT -e $PARENT common
'

# ---- thin packs

test_expect_success 'v0: no delta base that only another member has' '
	fetch0 "want $OWN thin-pack ofs-delta no-progress" F \
		"have $COMMIT" "have $MAIN" done >out &&
	pack_of out >pack &&
	rm -rf thin.git && repo_init thin.git &&
	stock -C thin.git fetch -q ../srv/root.git main &&
	stock -C thin.git index-pack --fix-thin --stdin <pack &&
	stock -C thin.git rev-list --objects $OWN >list
'

test_expect_success 'v0: the only have is of another: the pack is whole' '
	thin () {
		fetch0 "want $OWN thin-pack ofs-delta no-progress" F "have $1" \
			done
	} &&
	thin $COMMIT >out && pack_of out >pack &&
	rm -rf thin.git && repo_init thin.git &&
	stock -C thin.git index-pack --stdin <pack &&
	thin $(ghost $COMMIT) >out && pack_of out >pack.ghost &&
	test_cmp pack.ghost pack
'

test_expect_success 'a client that has all of A fetches all of B' '
	stock_client -C thief.git fetch -q "$UP" "file://$PWD/srv/b.git" \
		"refs/heads/*:refs/fetched/*" &&
	test_served_by_us &&
	test $(stock -C thief.git rev-parse refs/fetched/own) = $OWN &&
	stock -C thief.git fsck --full --strict
'

# ---- shallow boundaries

for v in 0 2
do
	test_expect_success "v$v: a shallow boundary that only another member has" '
		if test '$v' = 0
		then
			boundary () {
				fetch0_stateless "want $OWN no-progress" \
					"shallow $1" "deepen 2" F "have $1" F
			}
		else
			boundary () {
				fetch2 "want $OWN" "shallow $1" "deepen 2" \
					"have $1"
			}
		fi &&
		for id in $COMMIT $PARENT $TREE $BLOB $TAG $HIDDEN
		do
			alike $id boundary || return
		done
	'
done

test_expect_success 'deepening behind a boundary of another' '
	relative () {
		fetch2 "want $OWN" "shallow $1" "deepen 1" deepen-relative \
			"have $1"
	} &&
	alike $COMMIT relative && alike $HIDDEN relative &&
	unshallow () {
		fetch2 "want $OWN" "shallow $1" "deepen 2147483647" "have $1"
	} &&
	alike $COMMIT unshallow && alike $PARENT unshallow &&
	! grep -a unshallow real.out
'

test_expect_success 'deepen-not of refs of other members' '
	not () {
		fetch2 "want $OWN" "deepen-not $1" done
	} &&
	for name in secret refs/heads/secret refs/virtual/2/heads/secret \
		secret-tag refs/hidden/x refs/hidden/own virtual/2/heads/secret
	do
		not $name >out 2>err
		grep -a "ERR upload-pack: deepen-not is not a ref" out || return
	done &&
	alike $COMMIT not
'

test_expect_success 'deepen-since uses only commits of B' '
	since () {
		fetch2 "want $1" "deepen-since 1112911993" done
	} &&
	alike $COMMIT since &&
	depth () {
		fetch2 "want $1" "deepen 1" done
	} &&
	alike $COMMIT depth && alike $PARENT depth
'

# ---- filters

test_expect_success 'a partial clone cannot fetch objects that B does not reach' '
	stock_client clone -q --bare --filter=blob:none "$UP" \
		"file://$PWD/srv/b.git" partial.git &&
	stock -C partial.git config remote.origin.uploadpack \
		"$GITREACH_BUILD/bin/git-upload-pack" &&
	stock_client -C partial.git cat-file -p $OWN:shared/own >own &&
	test_served_by_us &&
	test_cmp own.txt own &&
	test_must_fail stock -C partial.git cat-file -p $BLOB >out 2>err &&
	grep "not our ref $BLOB" err &&
	test_no_secret partial.git
'

test_expect_success 'filters do not give leave' '
	filtered () {
		fetch2 "filter blob:none" "want $1" done
	} &&
	alike $BLOB filtered && alike $COMMIT filtered && alike $TREE filtered
'

test_expect_success 'sparse:oid of a blob of another' '
	sparse () {
		fetch2 "filter sparse:oid=$1" "want $OWN" done
	} &&
	alike $BLOB sparse && alike $COMMIT sparse && alike $TREE sparse &&
	path () {
		fetch2 "filter sparse:oid=$1:private/secret" "want $OWN" done
	} &&
	alike $COMMIT path && alike $TREE path && alike $TAG path
'

test_expect_success 'sparse:oid of abbreviated ids' '
	short () {
		fetch2 "filter sparse:oid=$(echo $1 | cut -c1-12)" \
			"want $OWN" done
	} &&
	alike $BLOB short &&
	alike $(stock -C srv/b.git rev-parse $OWN:shared/own) short
'

test_expect_success 'sparse:oid by hidden refs and by expressions' '
	expression () {
		fetch2 "filter sparse:oid=$1" "want $OWN" done >out 2>err
		grep -a "unable to access sparse blob in" out
	} &&
	expression refs/hidden/own:buried && expression hidden/own:buried &&
	expression refs/virtual/2/heads/secret:private/secret &&
	expression "own~1:shared/big" && expression $(echo $OWN | cut -c1-12)
'

test_expect_success 'sparse:oid of an object that B reaches' '
	for name in $(stock -C srv/b.git rev-parse own:shared/own) \
		own:shared/own refs/heads/own:shared/own HEAD:shared/big \
		$OWN:shared/own
	do
		fetch2 "filter sparse:oid=$name" "want $OWN" done >out &&
		grep -a PACK out >pack || return
	done
'

# ---- sizes, bundles, archives

test_expect_success 'object-info' '
	size () {
		v2 b.git command=object-info object-format=sha1 D size \
			"oid $1" F
	} &&
	for id in $COMMIT $PARENT $TREE $SUBTREE $BLOB $TAG $HIDDEN $BURIED
	do
		alike $id size || return
	done &&
	size $OWN >out && grep -a "$OWN [0-9]" out
'

# One line for each packet.
unpkt () {
	python3 -c "import sys
data, at = sys.stdin.read(), 0
while at < len(data):
    n = int(data[at:at + 4], 16)
    if n > 4:
        print(data[at + 4:at + n])
    at += max(n, 4)"
}

# Each object of the store, in one request, is there just when B reaches it.
for order in 'sort' 'sort -r' 'sort -k2'
do
	for bitmaps in true false
	do
		test_expect_success "all objects, $order, bitmaps $bitmaps" '
			stock -C srv/b.git cat-file --batch-all-objects \
				--batch-check="%(objectname) %(objecttype)" |
				'"$order"' | cut -d" " -f1 >ids &&
			{
				pkt command=object-info object-format=sha1 D \
					size &&
				sed "s/^/0031oid /" ids &&
				printf 0000
			} >request &&
			GIT_PROTOCOL=version=2 "$GIT" \
				-c pack.useBitmaps='$bitmaps' upload-pack \
				--stateless-rpc srv/b.git <request |
				unpkt >out &&
			stock -C srv/b.git rev-list --objects main own |
				cut -c1-40 | sort >expect &&
			test_line_count $(($(wc -l <ids) + 1)) out &&
			sed -n "s/ [0-9][0-9]*$//p" out | sort >actual &&
			test_cmp expect actual
		'
	done
done

test_expect_success 'bundle-uri sends only the list that B configures' '
	stock -C srv/b.git config uploadpack.advertiseBundleURIs true &&
	stock -C srv/a.git config bundle.secret.uri https://example.com/s &&
	stock -C srv/store.git config bundle.store.uri https://example.com/t &&
	v2 b.git command=bundle-uri D F >out &&
	! grep -a example.com out
'

# Two processes write to standard error, in any order.
archive () {
	"$GIT" archive --remote="$PWD/srv/b.git" \
		--exec="$GITREACH_BUILD/bin/git-upload-archive" $1 2>archive.err
	code=$?
	grep "no such ref\|not a valid\|not a tree" archive.err >&2
	return $code
}

test_expect_success 'archives: only by names of refs of B' '
	archive own >own.tar && tar tf own.tar >list && grep shared/own list &&
	for id in $COMMIT $TREE $TAG $HIDDEN
	do
		alike $id archive || return
	done &&
	for name in secret refs/virtual/2/heads/secret secret-tag \
		refs/hidden/x
	do
		test_must_fail archive $name >out || return
	done
'

test_expect_success 'archives: uploadArchive.allowUnreachable ends at the fork' '
	test_when_finished "stock -C srv/b.git config \
		--unset uploadArchive.allowUnreachable" &&
	stock -C srv/b.git config uploadArchive.allowUnreachable true &&
	alike $COMMIT archive && alike $TREE archive
'

test_done
