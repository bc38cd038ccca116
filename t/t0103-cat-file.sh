#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='cat-file prints what stock Git prints'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-compare.sh"

test_expect_success 'set up: loose, packed, and both' '
	refs_repository repo &&
	stock clone -q --bare repo packed.git &&
	stock -C packed.git repack -adfq &&
	cp -R repo both &&
	stock -C both repack -aq
'

for repo in repo packed.git both
do
	while read -r args
	do
		test_expect_success "$repo: cat-file $args" "
			(cd $repo && same cat-file $args)
		"
	done <<-\END
	-t HEAD
	-s HEAD
	-e HEAD
	-e none
	-e 0000000000000000000000000000000000000001
	-t 0000000000000000000000000000000000000001
	-p 0000000000000000000000000000000000000001
	-p HEAD
	-p HEAD:
	-p v1.0
	-p HEAD:file1
	-p HEAD:none
	blob HEAD:file1
	blob HEAD
	tree HEAD
	commit v1.0
	tag v1.0
	tag HEAD
	none HEAD
	--batch-check --batch-all-objects
	--batch --batch-all-objects --buffer
	--batch-check='%(objectname)' --batch-all-objects
	-t
	HEAD
	a b c
	-t -s HEAD
	-t HEAD side
	--batch HEAD
	--batch --batch-check
	--buffer -p HEAD
	--batch-all-objects
	END

	test_expect_success "$repo: all objects, unordered" '
		(cd $repo && same cat-file --batch-check --batch-all-objects) &&
		git -C $repo cat-file --batch-check --batch-all-objects \
			--unordered >unordered &&
		test_cmp_sorted expect unordered
	'

	test_expect_success "$repo: batches" '
		cat >input <<-\END &&
		HEAD
		none
		 HEAD
		v1.0 and the rest

		HEAD:file1
		0000000000000000000000000000000000000001
		HEAD file1
		HEAD:no file
		v1.0^{tree}
		END
		(
			cd $repo &&
			same cat-file --batch &&
			same cat-file --batch --buffer &&
			same cat-file --batch-check &&
			same cat-file --batch-check="%(objectname) [%(rest)]" &&
			same cat-file --batch="%(rest)" &&
			same cat-file --batch-check="%x%% %(objecttype)%" &&
			same cat-file --batch-check= &&
			same cat-file --batch-check="%(none)" &&
			same cat-file --batch-check="%(objectname"
		) &&
		rm input
	'

	test_expect_success "$repo: commands" '
		printf "info HEAD\ncontents v1.0\ninfo none x\n" >input &&
		(cd $repo && same cat-file --batch-command) &&
		printf "info HEAD\nflush\ninfo side\n" >input &&
		(cd $repo && same cat-file --batch-command --buffer &&
			same -e cat-file --batch-command) &&
		for line in none " info HEAD" info "" "flush x"
		do
			echo "$line" >input &&
			(cd $repo && same -e cat-file --batch-command) ||
			return 1
		done &&
		rm input
	'
done

test_expect_success 'batch formats that show how objects are stored' '
	stock -C packed.git rev-list --objects --all | cut -d" " -f1 >input &&
	(cd packed.git && same cat-file \
		--batch-check="%(objectname) %(objectsize:disk) %(deltabase)") &&
	rm input
'

test_expect_success 'names that end in NUL' '
	printf "HEAD\0none\0" >input &&
	git -C repo cat-file --batch-check -z <input >actual &&
	rm input &&
	test_line_count 2 actual &&
	grep "none missing" actual
'

test_expect_success 'another copy of a corrupt object' '
	oid=$(stock -C both rev-parse HEAD) &&
	dir=$(echo $oid | cut -c1-2) &&
	pack=$(echo both/.git/objects/pack/*.pack) &&
	at=$(stock -C both show-index <${pack%.pack}.idx |
		sed -n "s/ $oid .*//p") &&
	chmod u+w $pack &&
	printf "\0\0\0\0" | dd of=$pack bs=1 seek=$((at + 3)) conv=notrunc &&
	stock -C repo cat-file commit HEAD >expect &&
	git -C both cat-file commit HEAD >actual &&
	test_cmp expect actual &&
	rm both/.git/objects/$dir/$(echo $oid | cut -c3-) &&
	test_must_fail git -C both cat-file commit HEAD
'

test_expect_success 'unsupported options are refused by name' '
	test_expect_code 129 git_alone -C repo cat-file --textconv HEAD:file1 \
		2>err &&
	grep "option .textconv. is not supported" err
'

# The expected output was printed by Git 2.55.
test_expect_success '-Z and --filter' '
	stock init -q zf && cd zf &&
	echo a >a && echo long >b && stock add . && stock commit -qm x &&
	commit=$(stock rev-parse HEAD) && size=$(stock cat-file -s HEAD) &&
	a=$(stock rev-parse HEAD:a) &&
	printf "HEAD:a\0x\nx\0HEAD\0" |
		git cat-file -Z --batch --filter=blob:none >../actual &&
	{
		printf "HEAD:a excluded\0x\nx missing\0" &&
		printf "%s commit %s\0" $commit $size &&
		stock cat-file commit HEAD && printf "\0"
	} >../expect &&
	cmp ../expect ../actual &&
	printf "info HEAD:a\0contents HEAD:b\0" |
		git cat-file -Z --batch-command --filter=blob:limit=3 >../actual &&
	printf "$a blob 2\0HEAD:b excluded\0" >../expect &&
	cmp ../expect ../actual &&
	git cat-file --batch-all-objects --batch-check \
		--filter=object:type=commit >../actual &&
	echo "$commit commit $size" >../expect && test_cmp ../expect ../actual &&
	git cat-file --batch-all-objects --batch-check --filter=blob:none \
		--no-filter --unordered >../actual &&
	test_line_count 4 ../actual &&
	test_expect_code 129 git cat-file --filter=blob:none HEAD &&
	test_expect_code 129 git cat-file --batch --filter=tree:1 </dev/null &&
	test_expect_code 128 git cat-file --batch --filter=odd </dev/null &&
	cd ..
'

# The expected messages are those of Git 2.55.
test_expect_success 'messages about options and formats' '
	test_expect_code 129 git -C "$TRASH/repo" cat-file -e -p HEAD 2>err &&
	grep "^error: options .-p. and .-e. cannot be used together" err &&
	echo HEAD >names &&
	test_expect_code 128 git -C "$TRASH/repo" cat-file \
		--batch-check="%(foo)" <names 2>err &&
	grep "^fatal: bad cat-file format: %(foo)" err &&
	test_expect_code 128 git -C "$TRASH/repo" cat-file \
		--batch-check="%(objectname" <names 2>err &&
	grep "^fatal: bad cat-file format: element .(objectname. does" err
'

test_expect_success 'with --buffer, commands wait for flush or the end' '
	cd repo &&
	printf "info HEAD\nx y\n" >../in &&
	test_must_fail git cat-file --batch-command --buffer <../in >../out &&
	test_must_be_empty ../out &&
	printf "info HEAD\nflush\ninfo HEAD~1\nx y\n" >../in &&
	test_must_fail git cat-file --batch-command --buffer <../in >../out &&
	test_line_count 1 ../out &&
	printf "info HEAD\nflush\ninfo HEAD~1\n" >../in &&
	same cat-file --batch-command --buffer
'

test_expect_success 'the revision before a path does not resolve' '
	cd "$TRASH" && rm -rf named && stock init -q named && cd named &&
	echo x >a && stock add a && stock commit -q -m x &&
	for args in "cat-file -t none:a" "cat-file -p ^none:a" \
		"cat-file -e none^{tree}:a" "rev-list none:a" \
		"rev-parse none:a" "rev-parse ^HEAD:none" \
		"cat-file -t HEAD:none" "rev-list HEAD:none"
	do
		test_must_fail stock $args 2>expect &&
		test_must_fail git $args 2>actual &&
		test_cmp expect actual || return 1
	done &&
	grep "^fatal: path .none. does not exist in .HEAD" actual
'

test_expect_success 'a path that is on disk, but not in the revision' '
	rm -rf disk && stock init -q -b main disk && (
		cd disk && mkdir dir && echo b >dir/b && stock add dir &&
		stock commit -q -m one && echo a >a && echo c >dir/c
	) &&
	for words in "cat-file -p main:a" "cat-file -e main:dir/c" \
		"cat-file -t main:c" "rev-list main:a" "rev-parse main:dir/c" \
		"bundle create x main:a"
	do
		for where in disk disk/dir disk/.git
		do
			test_must_fail stock -C $where $words 2>expect &&
			test_must_fail "$GIT" -C $where $words 2>actual &&
			sed 1q expect >first && sed 1q actual >ours &&
			test_cmp first ours || return
		done
	done &&
	test_must_fail "$GIT" -C disk cat-file -p main:a 2>err &&
	grep "exists on disk, but not in .main." err
'

test_expect_success '--unordered prints an object once that an alternate has, too' '
	rm -rf lent && cp -a disk lent &&
	echo "$PWD/disk/.git/objects" >lent/.git/objects/info/alternates &&
	stock -C lent cat-file --batch-check --batch-all-objects >expect &&
	"$GIT" -C lent cat-file --batch-check --batch-all-objects --unordered \
		>actual &&
	test_cmp_sorted expect actual
'

# Stock Git takes all text before @{upstream} for the name of a branch.
test_expect_success 'a batch ends at @{upstream} of what cannot be a branch' '
	for name in "main\\nnone@{u}" "x^{}\\nHEAD^{}@{push}" "^@@{u}"
	do
		printf "$name\\0main\\0" >names &&
		test_must_fail stock -C disk cat-file --batch-check -z \
			<names >expect 2>&1 &&
		test_must_fail "$GIT" -C disk cat-file --batch-check -z \
			<names >actual 2>&1 &&
		grep "no such branch" actual &&
		test_cmp expect actual || return
	done
'

test_expect_success 'a colon in text that is ignored starts no path' '
	for name in "main@{2001-01-01 10:00}^{tree}" "main^{tree}:dir}" \
		"main^{tree}:dir}^{object}"
	do
		stock -C disk rev-list --objects "$name" >expect &&
		"$GIT" -C disk rev-list --objects "$name" >actual &&
		test_line_count 3 actual &&
		test_cmp expect actual || return
	done
'

test_done
