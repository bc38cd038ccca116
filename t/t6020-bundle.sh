#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='bundle, against stock Git'
. "$(dirname "$0")/lib.sh"

# history <repo>: a merge, tags of several kinds; <format> names the hash
history () {
	stock init -q --object-format=$format -b main $1 &&
	(
		cd $1 &&
		for i in 1 2 3 4 5
		do
			echo $i >file-$i &&
			stock add . &&
			test_tick_commit "commit $i" || exit 1
		done &&
		stock branch other HEAD~2 &&
		stock checkout -q -b side HEAD~2 &&
		echo side >by-side &&
		stock add . &&
		test_tick_commit "on the side

and a body" &&
		stock checkout -q main &&
		stock merge -q -m merge side &&
		stock tag -a -m tagged v1 HEAD~1 &&
		stock tag -a -m nested v2 v1 &&
		stock tag light &&
		stock tag blob HEAD:file-1
	)
}

# Dates that differ, so that "newest first" is one order only.
test_tick_commit () {
	tick=$((${tick:-1700000000} + 60)) &&
	GIT_COMMITTER_DATE="$tick +0000" GIT_AUTHOR_DATE="$tick +0000" \
		stock commit -q -m "$1"
}

# The header, its prerequisites in any order, as stock Git has its own, and each
# ref once, as Git before 2.46 may repeat it.
header () {
	LC_ALL=C sed "/^\$/q" "$1" >header &&
	grep "^[#@]" header && grep "^-" header | sort
	grep "^[0-9a-f]" header | awk "!seen[\$0]++"
}

# What both make of the same arguments, but for the pack's bytes.
same_bundle () {
	rm -f ours.bundle stock.bundle
	"$GIT" -C $repo bundle create -q ../ours.bundle "$@" 2>actual.err
	code=$?
	stock -C $repo bundle create -q ../stock.bundle "$@" 2>expect.err
	test $? -eq $code &&
	if test $code -eq 0
	then
		header ours.bundle >actual &&
		header stock.bundle >expect &&
		test_cmp expect actual
	else
		test ! -e ours.bundle && test ! -e ours.bundle.lock &&
		test_cmp expect.err actual.err
	fi
}

for format in sha1 sha256
do
	repo=$format

	test_expect_success "setup, $format" '
		history $repo
	'

	while read args
	do
		test_expect_success "create $args, $format" '
			same_bundle $args
		'
	done <<-\EOF
	--all
	main
	HEAD
	@
	HEAD @ main refs/heads/main heads/main
	v1
	v2
	light
	blob
	--branches --tags
	--tags main --not other
	main~2..main
	main~2..main side
	main ^side
	main..main
	^main
	main ^main side
	main~3..main main~1..side
	v1..main
	main --tags ^v1
	main main:file-1
	main^{tree}
	v1^{}
	--filter=blob:none main
	--filter=tree:1 --all
	--filter=nonsense main
	--remotes
	-2 main
	main^!
	EOF

	test_expect_success "create --stdin, $format" '
		printf "main\n^side\n" >revs &&
		"$GIT" -C $repo bundle create -q - --stdin <revs >ours.bundle &&
		stock -C $repo bundle create -q - --stdin <revs >stock.bundle &&
		header ours.bundle >actual &&
		header stock.bundle >expect &&
		test_cmp expect actual
	'

	test_expect_success "a bundle can be cloned, $format" '
		"$GIT" -C $repo bundle create -q ../all.bundle --all &&
		rm -rf clone.git &&
		stock clone -q --mirror all.bundle clone.git &&
		stock -C clone.git fsck &&
		stock -C clone.git for-each-ref >actual &&
		stock -C $repo for-each-ref >expect &&
		test_cmp expect actual
	'

	test_expect_success "a bundle with prerequisites is fetched, $format" '
		rm -rf part.git &&
		stock clone -q --bare --single-branch -b side $repo part.git &&
		stock -C part.git gc -q --prune=now &&
		"$GIT" -C $repo bundle create -q ../more.bundle main ^side &&
		stock -C part.git fetch -q ../more.bundle main:main &&
		stock -C part.git fsck &&
		test "$(stock -C part.git rev-parse main)" = \
			"$(stock -C $repo rev-parse main)"
	'

	test_expect_success "objects of excluded commits only are sent, $format" '
		stock -C $repo checkout -q -b picked main~1 &&
		echo both >$repo/both &&
		stock -C $repo add both &&
		(cd $repo && test_tick_commit one) &&
		stock -C $repo checkout -q main &&
		echo both >$repo/again &&
		stock -C $repo add again &&
		(cd $repo && test_tick_commit other) &&
		rm -rf part.git &&
		stock clone -q --bare --no-local --no-tags --single-branch \
			-b main $repo part.git &&
		stock -C part.git update-ref refs/heads/main main~1 &&
		stock -C part.git reflog expire --expire=now --all &&
		stock -C part.git gc -q --prune=now &&
		"$GIT" -C $repo bundle create -q ../p.bundle main ^picked &&
		stock -C part.git bundle verify -q ../p.bundle &&
		stock -C part.git fetch -q ../p.bundle main:new &&
		stock -C part.git fsck --connectivity-only
	'

	test_expect_success "objects of an excluded tree are sent, $format" '
		for exclude in main:again "main^{tree}"
		do
			"$GIT" -C $repo bundle create -q ../t.bundle main \
				"^$exclude" &&
			rm -rf part.git &&
			stock clone -q --bare t.bundle part.git &&
			stock -C part.git fsck --connectivity-only || return
		done
	'

	test_expect_success "a tag of an excluded commit makes it a prerequisite, $format" '
		"$GIT" -C $repo bundle create -q ../tag.bundle v1 ^main &&
		grep "^-$(stock -C $repo rev-parse v1^{})" tag.bundle
	'
done

test_expect_success 'a symbolic ref is stored as the ref that it leads to' '
	stock -C sha1 symbolic-ref refs/heads/sym refs/heads/other &&
	"$GIT" -C sha1 bundle create -q ../sym.bundle sym other &&
	"$GIT" bundle list-heads sym.bundle >actual &&
	echo "$(stock -C sha1 rev-parse other) refs/heads/other" >expect &&
	test_cmp expect actual
'

for args in "--version=1 x main" "--version=-2 x main" "--version=4 x main" \
	"--version=2 x --filter=blob:none main" "x"
do
	test_expect_success "create $args: refused" '
		test_expect_code 128 "$GIT" -C sha1 bundle create $args \
			2>actual &&
		test_expect_code 128 stock -C sha1 bundle create $args \
			2>expect &&
		test_cmp expect actual
	'
done

test_expect_success 'a missing directory of the bundle file' '
	test_expect_code 128 "$GIT" -C sha1 bundle create missing/x main 2>err &&
	grep "missing/x.lock.: No such file or directory" err
'

test_expect_success 'a second writer of the bundle file is refused' '
	>locked.lock &&
	test_expect_code 128 "$GIT" -C sha1 bundle create ../locked main \
		2>err &&
	grep "locked.lock.: File exists" err &&
	test ! -e locked
'

# Both say the same of a bundle, in the repository $in.
same_answer () {
	"$GIT" -C $in bundle "$@" >actual 2>actual.err
	code=$?
	stock -C $in bundle "$@" >expect 2>expect.err
	test $? -eq $code &&
	test_cmp expect actual && test_cmp expect.err actual.err
}

# Says nothing of the bundle, but by its exit code.
quiet () {
	"$GIT" -C $in bundle verify -q "$1" >actual 2>actual.err
	code=$?
	stock -C $in bundle verify -q "$1" 2>expect.err
	test $? -eq $code && test_must_be_empty actual
}

test_expect_success 'bundles to read' '
	stock init -q --bare empty.git &&
	stock init -q --bare --object-format=sha256 empty256.git &&
	stock -C sha1 bundle create -q ../full main side &&
	stock -C sha1 bundle create -q ../thin main~2..main &&
	stock -C sha1 bundle create -q ../filtered --filter=blob:none main &&
	stock -C sha256 bundle create -q ../long main &&
	echo garbage >garbage &&
	printf "# v3 git bundle\n@foo=bar\n\n" >unknown &&
	printf "# v3 git bundle\n@object-format=md5\n\n" >algo &&
	printf "# v2 git bundle\nxyz\n\n" >line &&
	printf "# v2 git bundle\n\n" >nothing
'

for file in full thin filtered garbage unknown algo line nothing missing
do
	test_expect_success "verify and list-heads: $file" '
		for in in sha1 empty.git
		do
			same_answer verify ../$file &&
			quiet ../$file &&
			same_answer list-heads ../$file &&
			same_answer list-heads ../$file HEAD refs/heads/main \
				main || return 1
		done
	'
done

test_expect_success 'verify and list-heads: SHA-256' '
	in=sha256 &&
	same_answer verify ../long &&
	same_answer list-heads ../long
'

test_expect_success 'from standard input' '
	"$GIT" -C sha1 bundle verify - <full >actual 2>err &&
	stock -C sha1 bundle verify ../full >expect &&
	test_cmp expect actual &&
	echo "<stdin> is okay" >expect &&
	test_cmp expect err &&
	"$GIT" bundle list-heads - <full >actual &&
	stock bundle list-heads full >expect &&
	test_cmp expect actual
'

test_expect_success 'prerequisites without their history' '
	stock init -q --bare loose.git &&
	for commit in $(sed -n "s/^-\([0-9a-f]*\).*/\1/p; /^\$/q" thin)
	do
		stock -C sha1 cat-file commit $commit |
		stock -C loose.git hash-object -w -t commit --stdin --literally ||
		return 1
	done &&
	test_expect_code 1 "$GIT" -C loose.git bundle verify ../thin 2>err &&
	grep "not connected to the repository.s history" err &&
	test_expect_code 1 "$GIT" -C loose.git bundle unbundle ../thin
'

test_expect_success 'unbundle' '
	rm -rf in.git && stock init -q --bare in.git &&
	test_expect_code 1 "$GIT" -C in.git bundle unbundle ../thin &&
	"$GIT" -C in.git bundle unbundle ../full refs/heads/main >actual &&
	stock -C sha1 bundle list-heads ../full refs/heads/main >expect &&
	test_cmp expect actual &&
	stock -C in.git cat-file -e $(cut -d" " -f1 actual) &&
	stock -C in.git fsck &&
	ls in.git/objects/pack/*.pack >packs &&
	test_line_count 1 packs
'

test_expect_success 'unbundle: into a repository with the prerequisites, from a pipe' '
	rm -rf in.git && stock clone -q --bare sha1 in.git &&
	stock -C in.git update-ref refs/heads/main main~2 &&
	cat thin | "$GIT" -C in.git bundle unbundle - >actual &&
	stock -C sha1 bundle list-heads ../thin >expect &&
	test_cmp expect actual &&
	stock -C in.git fsck
'

test_expect_success 'unbundle: with a filter the pack is promised' '
	rm -rf in.git && stock init -q --bare in.git &&
	"$GIT" -C in.git bundle unbundle ../filtered &&
	ls in.git/objects/pack/*.promisor
'

test_expect_success 'unbundle: a truncated pack, or no pack' '
	rm -rf in.git && stock init -q --bare in.git &&
	head -c $(($(wc -c <full) - 30)) full >cut &&
	test_expect_code 1 "$GIT" -C in.git bundle unbundle ../cut 2>err &&
	grep "error: index-pack died" err &&
	(sed "/^\$/q" full && head -c 3000000 /dev/zero) >zeros &&
	test_expect_code 1 "$GIT" -C in.git bundle unbundle ../zeros 2>err &&
	grep "error: index-pack died" err &&
	find in.git/objects -type f >left &&
	test_must_be_empty left
'

test_expect_success 'outside of repositories, and wrong usage' '
	mkdir nowhere &&
	(
		GIT_CEILING_DIRECTORIES=$PWD && export GIT_CEILING_DIRECTORIES &&
		cd nowhere &&
		"$GIT" bundle list-heads ../full &&
		test_expect_code 1 "$GIT" bundle verify ../full 2>err &&
		grep "need a repository to verify a bundle" err &&
		test_expect_code 128 "$GIT" bundle unbundle ../full 2>err &&
		grep "Need a repository to unbundle" err
	) &&
	for args in "" create nonsense verify list-heads unbundle
	do
		test_expect_code 129 "$GIT" -C sha1 bundle $args 2>err ||
		return 1
	done
'

test_expect_success 'errors about names that nothing has' '
	for rev in none: none:a none:a..main
	do
		test_must_fail "$GIT" -C sha1 bundle create ../x $rev 2>err &&
		grep "^fatal: invalid object name .none.[.]$" err || return 1
	done &&
	for revs in ^none ^main:none "none --"
	do
		test_must_fail "$GIT" -C sha1 bundle create ../x $revs 2>err &&
		grep "^fatal: bad revision .${revs% --}.$" err || return 1
	done
'

test_expect_success 'names of symbolic, ambiguous and excluded refs' '
	stock init -q names && (
		cd names && echo a >a && stock add a &&
		stock commit -q -m one && stock branch -M main &&
		stock symbolic-ref refs/heads/link refs/heads/main &&
		stock branch twice && stock tag twice &&
		stock tag -a -m blob blob HEAD:a &&
		"$GIT" bundle create -q ../x --all &&
		"$GIT" bundle list-heads ../x | sed "s/.* //" >../actual &&
		grep "^refs/heads/link$" ../actual &&
		grep "^refs/tags/blob$" ../actual &&
		"$GIT" bundle create -q ../x link blob &&
		"$GIT" bundle list-heads ../x | sed "s/.* //" >../actual &&
		printf "refs/heads/main\nrefs/tags/blob\n" >../expect &&
		test_cmp ../expect ../actual &&
		"$GIT" bundle create -q ../x --branches &&
		"$GIT" bundle list-heads ../x | sed "s/.* //" >../actual &&
		echo refs/heads/main >../expect &&
		test_cmp ../expect ../actual &&
		test_expect_code 128 "$GIT" bundle create ../x twice &&
		test_expect_code 128 "$GIT" bundle create ../x blob \
			--not --tags
	)
'

test_expect_success 'exit code if an object is damaged' '
	(
		cd names && file=$(stock rev-parse HEAD^{tree} |
			sed "s,..,.git/objects/&/,") && chmod u+w $file &&
		: >$file && test_expect_code 1 "$GIT" bundle create ../y main \
			2>../err &&
		grep "^fatal: .* is corrupt" ../err &&
		grep "error: pack-objects died" ../err && ! test -e ../y
	)
'

# Nobody receives a bundle that is a backup, so nobody else would notice.
for bitmap in "" b
do
	test_expect_success "damage of a packed object is noticed: repack -ad$bitmap" '
		rm -rf damaged.git &&
		stock clone -q --bare sha1 damaged.git &&
		seq 1 30000 >big &&
		blob=$(stock -C damaged.git hash-object -w --stdin <big) &&
		stock -C damaged.git tag big $blob &&
		"$GIT" -C damaged.git repack -adq'$bitmap' &&
		"$GIT" -C damaged.git bundle create -q "$PWD/good.bundle" \
			--all &&
		pack=$(ls damaged.git/objects/pack/*.pack) && chmod u+w $pack &&
		offset=$(stock show-index <${pack%pack}idx |
			 sed -n "s/ $blob.*//p") &&
		printf "\252" | dd of=$pack bs=1 seek=$((offset + 9999)) \
			conv=notrunc 2>/dev/null &&
		test_must_fail "$GIT" -C damaged.git bundle create -q \
			"$PWD/bad.bundle" --all 2>err &&
		grep "CRC" err && test ! -e bad.bundle
	'
done

test_expect_success 'a filter that does not parse' '
	printf "# v3 git bundle\n@filter=x\n\n" >bad.bundle &&
	for command in verify list-heads unbundle
	do
		test_expect_code 128 "$GIT" -C names bundle $command \
			../bad.bundle 2>err || return 1
		grep "invalid filter-spec .x." err || return 1
	done
'

test_expect_success 'an excluded tag of a missing object' '
	stock init -q gone && tree=$(stock -C gone mktree </dev/null) &&
	commit=$(echo main | stock -C gone commit-tree $tree) &&
	stock -C gone update-ref refs/heads/main $commit &&
	missing=$(echo missing | stock -C gone commit-tree $tree) &&
	stock -C gone tag -a -m tag tag $missing &&
	rm gone/.git/objects/$(echo $missing | sed "s,..,&/,") &&
	"$GIT" -C gone bundle create -q ../gone.bundle refs/heads/main ^tag &&
	echo "$commit refs/heads/main" >expect &&
	stock bundle list-heads gone.bundle >actual && test_cmp expect actual
'

test_done
