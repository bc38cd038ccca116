#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='clones and fetches by stock Git over the local transport'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"

UP=--upload-pack=$GITREACH_BUILD/bin/git-upload-pack

# grow <dir> <nr>: <nr> more commits on main.
grow () {
	for i in $(seq 1 "$2")
	do
		tip=$(stock -C "$1" rev-parse main) &&
		test_tick &&
		blob=$(echo "grown $tip" |
			stock -C "$1" hash-object -w --stdin) &&
		tree=$({
			stock -C "$1" ls-tree main &&
			printf '100644 blob %s\tgrown%s\n' "$blob" "$i"
		} | sort -u -k4 | stock -C "$1" mktree) &&
		commit=$(stock -C "$1" commit-tree -p main -m "$i" "$tree") &&
		stock -C "$1" update-ref refs/heads/main "$commit" || return
	done
}

test_expect_success 'setup' '
	repo_criss_cross server.git 60 &&
	repo_tags server.git &&
	stock -C server.git repack -adq &&
	stock init -q --bare empty.git
'

for v in 0 1 2
do
	test_expect_success "v$v: ls-remote lists what stock Git lists" '
		stock_client -v$v ls-remote "$UP" server.git >actual &&
		test_served_by_us &&
		stock ls-remote server.git >expect &&
		test_cmp expect actual &&
		stock_client -v$v ls-remote --symref "$UP" server.git HEAD \
			>actual &&
		stock -c protocol.version=$v ls-remote --symref server.git \
			HEAD >expect &&
		test_cmp expect actual &&
		stock_client -v$v ls-remote --tags "$UP" server.git "d*" \
			>actual &&
		stock ls-remote --tags server.git "d*" >expect &&
		test_cmp expect actual
	'

	test_expect_success "v$v: clone" '
		rm -rf clone.git &&
		stock_client -v$v clone -q --no-local --mirror "$UP" \
			server.git clone.git &&
		test_served_by_us &&
		test_same_repo server.git clone.git
	'

	test_expect_success "v$v: clone of one branch, with its tags" '
		rm -rf one.git &&
		stock_client -v$v clone -q --no-local --bare --single-branch \
			--branch side "$UP" server.git one.git &&
		stock -C one.git fsck --full &&
		stock -C server.git rev-list --count side >expect &&
		stock -C one.git rev-list --count --all >actual &&
		test_cmp expect actual
	'

	test_expect_success "v$v: clone of an empty repository" '
		rm -rf none.git &&
		stock_client -v$v clone -q --no-local --mirror "$UP" \
			empty.git none.git &&
		test_must_fail stock -C none.git rev-parse --verify -q HEAD
	'

	test_expect_success "v$v: fetch new commits" '
		grow server.git 3 &&
		stock -C server.git tag -m new new-$v main &&
		stock_client -v$v -C clone.git fetch -q "$UP" &&
		test_served_by_us &&
		test_same_repo server.git clone.git &&
		stock_client -v$v -C clone.git fetch -q "$UP"
	'

	test_expect_success "v$v: fetch sends no more than needed" '
		grow server.git 1 &&
		stock_client -v$v -C clone.git -c fetch.unpackLimit=1 \
			fetch --progress "$UP" 2>err &&
		grep "remote: Total [1-4] " err &&
		test_same_repo server.git clone.git
	'

	test_expect_success "v$v: fetch between unlike histories" '
		rm -rf other &&
		stock init -q other &&
		(
			cd other &&
			for i in 1 2 3 4 5 6 7 8 9
			do
				test_tick &&
				stock commit -q --allow-empty -m $i || exit 1
			done &&
			stock_client -v$v fetch -q "$UP" ../server.git \
				"refs/*:refs/from/*" &&
			stock fsck --full
		)
	'

	test_expect_success "v$v: fetch into a diverged clone" '
		rm -rf diverged &&
		stock clone -q server.git diverged &&
		(
			cd diverged &&
			for i in $(seq 1 40)
			do
				test_tick &&
				stock commit -q --allow-empty -m $i || exit 1
			done
		) &&
		grow server.git 2 &&
		stock_client -v$v -C diverged fetch -q "$UP" &&
		stock -C diverged fsck --full &&
		stock -C server.git rev-parse main >expect &&
		stock -C diverged rev-parse origin/main >actual &&
		test_cmp expect actual
	'

	test_expect_success "v$v: tags are sent with the objects that they name" '
		rm -rf tags.git &&
		stock init -q --bare tags.git &&
		stock_client -v$v -C tags.git fetch -q "$UP" ../server.git \
			main:main &&
		stock -C tags.git fsck --full &&
		stock -C tags.git cat-file -t annotated >actual &&
		echo tag >expect &&
		test_cmp expect actual
	'
done

test_expect_success 'SHA-256' '
	REPO_FORMAT=sha256 repo_linear sha256.git 20 &&
	for v in 0 1 2
	do
		rm -rf clone256.git &&
		stock_client -v$v clone -q --no-local --mirror "$UP" \
			sha256.git clone256.git &&
		test_served_by_us &&
		test_same_repo sha256.git clone256.git || return
	done
'

# ---- shallow

# reached_boundary <dir>: where its history ends, without what lies beyond an
# end that is nearer: before 2.54, such a commit moved by --deepen, too.
reached_boundary () {
	touch "$1/shallow" &&
	stock -C "$1" rev-list --all | grep -Fx -f "$1/shallow" | sort
}

shallow_cases='--depth=1 --depth=3 --depth=1000 --shallow-since=1112913000
	--shallow-exclude=annotated --shallow-exclude=refs/heads/side'

for v in 0 2
do
	for how in $shallow_cases
	do
		test_expect_success "v$v: clone $how" '
			rm -rf ours.git theirs.git &&
			! stock -c protocol.version=$v clone -q --no-local \
				--bare $how server.git theirs.git
			! stock_client -v$v clone -q --no-local --bare $how \
				"$UP" server.git ours.git
			if ! test -d theirs.git
			then
				! test -d ours.git
				return
			fi
			touch theirs.git/shallow ours.git/shallow &&
			test_cmp_sorted theirs.git/shallow ours.git/shallow &&
			stock -C ours.git fsck --full &&
			repo_objects theirs.git >expect &&
			repo_objects ours.git >actual &&
			test_cmp expect actual
		'
	done

	test_expect_success "v$v: deepen, by the tips and by the boundary" '
		rm -rf ours.git theirs.git &&
		stock clone -q --no-local --bare --depth=2 server.git \
			theirs.git &&
		stock clone -q --no-local --bare --depth=2 server.git \
			ours.git &&
		for how in --depth=5 --deepen=3 --depth=4 --deepen=1 \
			--shallow-since=1112912900 --unshallow
		do
			stock -c protocol.version=$v -C theirs.git fetch -q \
				$how &&
			stock_client -v$v -C ours.git fetch -q $how "$UP" &&
			test_served_by_us &&
			reached_boundary theirs.git >expect &&
			reached_boundary ours.git >actual &&
			test_cmp expect actual &&
			stock -C ours.git fsck --full &&
			repo_objects theirs.git >expect &&
			repo_objects ours.git >actual &&
			test_cmp expect actual || return
		done
	'

	test_expect_success "v$v: fetch into a shallow clone" '
		rm -rf ours.git &&
		stock clone -q --no-local --bare --depth=2 server.git \
			ours.git &&
		grow server.git 2 &&
		stock_client -v$v -C ours.git fetch -q "$UP" origin main &&
		stock -C ours.git fsck --full &&
		stock -C ours.git rev-list --count FETCH_HEAD >actual &&
		stock -C ours.git rev-list --count FETCH_HEAD --not main \
			>new &&
		echo 2 >expect &&
		test_cmp expect new
	'

	test_expect_success "v$v: a shallow clone fetches only new commits" '
		rm -rf ours.git &&
		stock_client -v$v clone -q --no-local --bare --depth=1 \
			--branch main "$UP" server.git ours.git &&
		grow server.git 2 &&
		stock_client -v$v -C ours.git -c fetch.unpackLimit=1 \
			fetch --progress --depth=1 "$UP" origin +main:main \
			2>err &&
		test_served_by_us &&
		grep "remote: Total [1-5] " err &&
		stock -C ours.git fsck --full
	'

	test_expect_success "v$v: clone from a shallow repository" '
		rm -rf shallow.git again.git &&
		stock clone -q --no-local --mirror --depth=3 server.git \
			shallow.git &&
		stock_client -v$v clone -q --no-local --mirror "$UP" \
			shallow.git again.git &&
		test_served_by_us &&
		test_cmp_sorted shallow.git/shallow again.git/shallow &&
		stock -C again.git fsck --full
	'
done

# A branch that forked off at 14 and is merged by 28: with depth 7, the client
# has 14 by way of it, and deepens down to it from 25 as well.
test_expect_success 'deepening beyond a merge keeps all commits' '
	{
		stream_commit main 1 1112912000 file 1
		for i in $(seq 2 30)
		do
			merge=
			test $i = 28 && merge="merge :100"
			test $i = 15 && stream_commit side 100 1112912845 \
				side side "from :14"
			stream_commit main $i $((1112912000 + 60 * i)) file \
				$i "from :$((i - 1))" ${merge:+"$merge"}
		done
	} | repo_import merged.git &&
	for v in 0 2
	do
		rm -rf ours.git && : >actual &&
		stock clone -q --bare --no-local --single-branch -b main \
			--depth=7 merged.git ours.git &&
		for deepen in 2 9 5
		do
			stock_client -v$v -C ours.git fetch -q \
				--deepen=$deepen "$UP" &&
			test_served_by_us &&
			stock -C ours.git fsck --full >dangling &&
			test_line_count 0 dangling &&
			stock -C ours.git rev-list --count main >>actual || return
		done &&
		printf "%s\n" 15 31 31 >expect &&
		test_cmp expect actual || return
	done
'

# ---- the command

test_expect_success 'repositories are entered as stock Git does' '
	stock clone -q server.git work &&
	for dir in work work/.git server.git server
	do
		pkt F | git upload-pack $dir >out &&
		grep -a refs/heads/main out >/dev/null || return
	done &&
	pkt F | test_expect_code 128 git upload-pack --strict work 2>err &&
	echo "fatal: '\''work'\'' does not appear to be a git repository" \
		>expect &&
	test_cmp expect err &&
	pkt F | git upload-pack --strict work/.git >out &&
	test_expect_code 128 git upload-pack nowhere 2>err </dev/null &&
	grep "^fatal: .nowhere. does not appear to be a git" err
'

test_expect_success 'usage' '
	test_expect_code 129 git upload-pack 2>err &&
	grep "^usage: git-upload-pack" err &&
	test_expect_code 129 git upload-pack a b &&
	test_expect_code 129 git upload-pack --no-such server.git
'

test_expect_success 'advertise only' '
	git upload-pack --advertise-refs server.git >out </dev/null &&
	grep -a "refs/heads/main" out >/dev/null &&
	git upload-pack --http-backend-info-refs --stateless-rpc server.git \
		>out </dev/null &&
	grep -a " no-done " out >/dev/null &&
	GIT_PROTOCOL=version=2 git upload-pack --http-backend-info-refs \
		server.git >out </dev/null &&
	grep -a "^000eversion 2" out >/dev/null
'

test_expect_success '--timeout ends a silent connection' '
	(sleep 5 | test_expect_code 142 git upload-pack --timeout=1 \
		server.git >out) &&
	grep -a refs/heads/main out >/dev/null
'

test_expect_success '--timeout ends a client that sends a byte now and then' '
	(for i in $(seq 1 80)
	 do
		sleep 0.25
		printf a || exit
	 done | GIT_PROTOCOL=version=2 test_expect_code 142 git upload-pack \
		--timeout=1 server.git >out)
'

test_expect_success 'a client that breaks the protocol gets an error' '
	none=1234567890123456789012345678901234567890 &&
	pkt "want $none" F done |
		test_expect_code 128 git upload-pack server.git >out 2>err &&
	grep -a "ERR upload-pack: not our ref $none" out >/dev/null &&
	echo "fatal: git upload-pack: not our ref $none" >expect &&
	test_cmp expect err &&
	pkt command=ls-refs bogus D F |
		GIT_PROTOCOL=version=2 test_expect_code 128 \
		git upload-pack server.git >out 2>err &&
	echo "fatal: unknown capability '\''bogus'\''" >expect &&
	test_cmp expect err &&
	pkt =zzzz |
		test_expect_code 128 git upload-pack server.git 2>err >out &&
	echo "fatal: protocol error: bad line length character: zzzz" \
		>expect &&
	test_cmp expect err &&
	pkt =00 | test_expect_code 128 git upload-pack server.git 2>err >out &&
	echo "fatal: the remote end hung up unexpectedly" >expect &&
	test_cmp expect err
'

# The pipe holds less than the pack: objects are read after the repack.
test_expect_success 'a repack while a pack is on its way' '
	rm -rf loose.git &&
	repo_init loose.git &&
	tree=$(for i in $(seq 1 20)
	do
		blob=$(head -c 30000 /dev/urandom |
			stock -C loose.git hash-object -w --stdin) &&
		printf "100644 blob %s\tfile%s\n" "$blob" "$i" || exit
	done | stock -C loose.git mktree) &&
	tip=$(stock -C loose.git commit-tree -m loose $tree) &&
	stock -C loose.git update-ref refs/heads/main $tip &&
	pkt "want $tip" F done >request &&
	git upload-pack --stateless-rpc loose.git <request 2>err | {
		dd bs=4096 count=1 2>/dev/null &&
		stock -C loose.git repack -adq &&
		cat
	} >answer &&
	test_line_count 0 err &&
	stock -C loose.git count-objects >left &&
	grep "^0 objects" left &&
	tail -c +9 answer >answer.pack &&
	repo_init received.git &&
	stock -C received.git index-pack --stdin <answer.pack &&
	stock -C received.git rev-list --objects $tip >objects &&
	test_line_count 22 objects
'

# The old packs have only been held when they go: their blobs were not read.
test_expect_success 'a repack of many packs before the wants are read' '
	rm -rf many.git received.git &&
	repo_init many.git &&
	for i in $(seq 1 12)
	do
		blob=$(head -c 30000 /dev/urandom |
			stock -C many.git hash-object -w --stdin) &&
		printf "100644 blob %s\tfile%s\n" "$blob" "$i" >>entries &&
		stock -C many.git update-ref refs/tags/$i $blob &&
		stock -C many.git repack -dq || return 1
	done &&
	tip=$(stock -C many.git commit-tree -m many \
		$(stock -C many.git mktree <entries)) &&
	stock -C many.git update-ref refs/heads/main $tip &&
	stock -C many.git repack -dq &&
	{
		pkt "want $tip" F "have $(echo none | stock hash-object --stdin)" F &&
		wait_until grep -q NAK answer &&
		wc -c <answer >begun &&
		ls many.git/objects/pack/*.pack >before &&
		stock -C many.git repack -adq &&
		pkt done
	} | git upload-pack many.git >answer 2>err &&
	test_line_count 13 before &&
	ls many.git/objects/pack/*.pack >after &&
	test_line_count 1 after &&
	test_must_be_empty err &&
	tail -c +$(($(cat begun) + 9)) answer >answer.pack &&
	repo_init received.git &&
	stock -C received.git index-pack --stdin <answer.pack &&
	stock -C received.git rev-list --objects $tip >objects &&
	test_line_count 14 objects
'

# large_pack <how> <tip>...: ask for tips of large.git, whose pack is deleted
# once the answer has begun; the pack that came is `sent.pack`.
large_pack () {
	how=$1 &&
	shift &&
	{
		pkt "want $1 ofs-delta $how" &&
		for tip in "$@"
		do
			pkt "want $tip"
		done &&
		pkt F done
	} >request &&
	git upload-pack --stateless-rpc large.git <request | {
		dd bs=4096 count=1 2>/dev/null &&
		mv large.git/objects/pack away &&
		cat &&
		mv away large.git/objects/pack
	} >answer &&
	pack_of_answer $how <answer >sent.pack
}

# Large enough to be sent from the file: whole, and parts of it.
test_expect_success 'a large pack on its way, while the file is deleted' '
	rm -rf large.git &&
	repo_init large.git &&
	for i in $(seq 1 40)
	do
		blob=$(head -c 100000 /dev/urandom |
			stock -C large.git hash-object -w --stdin) &&
		tree=$(printf "100644 blob %s\tfile%s\n" $blob $i |
			stock -C large.git mktree) &&
		commit=$(stock -C large.git commit-tree -m $i $tree) &&
		stock -C large.git update-ref refs/heads/b$i $commit || exit
	done &&
	git -C large.git repack -adbq &&
	cp large.git/objects/pack/*.pack stored.pack &&
	all=$(stock -C large.git for-each-ref --format="%(objectname)") &&
	some=$(stock -C large.git rev-parse b3 b11 b12 b13 b14 b15 b16 b17 \
		b18 b19 b20 b21 b22 b23 b24 b25 b26 b27 b28 b29 b30) &&
	for how in "" side-band side-band-64k
	do
		large_pack "$how" $all &&
		cmp stored.pack sent.pack &&
		large_pack "$how" $some &&
		rm -rf received.git &&
		repo_init received.git &&
		stock -C received.git index-pack --stdin --strict <sent.pack &&
		stock -C received.git rev-list --objects $some >objects &&
		test_line_count 63 objects || exit
	done
'

test_expect_success 'truncated dialogs end' '
	tip=$(stock -C server.git rev-parse main) &&
	pkt "want $tip multi_ack_detailed side-band-64k" F "have $tip" F \
		done >v0 &&
	pkt command=fetch D "want $tip" "have $tip" F F >v2 &&
	for v in 0 2
	do
		size=$(wc -c <v$v) &&
		for n in $(seq 0 7 $((size - 1)))
		do
			head -c $n v$v >part &&
			GIT_PROTOCOL=version=$v timeout 20 \
				git upload-pack server.git <part >out 2>err
			code=$?
			test $code = 128 || test $code = 0 || return 1
		done
	done
'

# What a tag says is enough to peel it.
test_expect_success 'the target of a tag is missing: the tag is peeled' '
	repo_linear holes.git 2 &&
	commit=$(echo gone | stock -C holes.git commit-tree HEAD^{tree}) &&
	stock -C holes.git tag -a -m gone gone $commit &&
	stock -C holes.git tag -a -m outer outer gone &&
	rm holes.git/objects/$(echo $commit | sed "s,^..,&/,") &&
	for git in stock "$GIT"
	do
		$git upload-pack --advertise-refs holes.git |
			grep -a refs/tags/ >$(basename "$git").tags || return
	done &&
	test_cmp stock.tags git.tags && grep "$commit.*outer^{}" git.tags &&
	printf "0014command=ls-refs\n00010009peel\n0000" |
		GIT_PROTOCOL=version=2 "$GIT" upload-pack --stateless-rpc \
			holes.git >out 2>err &&
	grep -a "refs/tags/outer peeled:$commit" out && test_must_be_empty err
'

test_done
