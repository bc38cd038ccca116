#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='hash-object does what stock Git does'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-compare.sh"

test_expect_success 'a repository and files' '
	stock init -q r &&
	cd r &&
	echo hello >a &&
	: >empty &&
	seq 1 20000 >big &&
	echo "a name" >"with space" &&
	stock add a &&
	stock commit -q -m one &&
	stock cat-file commit HEAD >commit &&
	stock cat-file tree HEAD^{tree} >tree &&
	stock tag -a -m tag t &&
	stock cat-file tag t >tag
'

test_expect_success 'ids of files, standard input and lists' '
	same -e hash-object a empty big "with space" &&
	same -e hash-object -- a &&
	same -e hash-object -t commit commit &&
	same -e hash-object -t tree tree &&
	same -e hash-object -t tag --no-filters tag &&
	cp big "$TRASH/input" &&
	same -e hash-object --stdin &&
	same -e hash-object --stdin --path=x a &&
	same -e hash-object --no-filters --stdin &&
	printf "a\nwith space\nempty" >"$TRASH/input" &&
	same -e hash-object --stdin-paths &&
	rm "$TRASH/input"
'

test_expect_success '--stdin-paths below the top of a work tree' '
	stock init -q tree-of && mkdir tree-of/dir &&
	echo top >tree-of/f && echo below >tree-of/dir/f &&
	printf "f\ndir/f\n$PWD/tree-of/dir/f\n" >names &&
	(cd tree-of/dir && stock hash-object --stdin-paths) <names >expect &&
	(cd tree-of/dir && "$GIT" hash-object --stdin-paths) <names >actual &&
	test_cmp expect actual
'

test_expect_success 'wrong arguments' '
	same hash-object --stdin-paths a &&
	same hash-object --stdin --stdin-paths &&
	same hash-object --path=x --no-filters a &&
	same hash-object --path=x --stdin-paths &&
	same -e hash-object nonesuch &&
	same -e hash-object a nonesuch empty &&
	same -e hash-object . &&
	same hash-object --nonesuch &&
	same hash-object -t foo a &&
	echo nonesuch >"$TRASH/input" &&
	same -e hash-object --stdin-paths &&
	rm "$TRASH/input"
'

test_expect_success 'messages name files from the top of the work tree' '
	mkdir -p below &&
	for words in none ../none "-w ." /none
	do
		test_must_fail stock -C below hash-object $words 2>expect &&
		test_must_fail git -C below hash-object $words 2>actual &&
		test_cmp expect actual || return 1
	done &&
	echo none | test_must_fail stock -C below hash-object --stdin-paths \
		2>expect &&
	echo none | test_must_fail git -C below hash-object --stdin-paths \
		2>actual &&
	test_cmp expect actual
'

test_expect_success '-w writes an object that Git can read' '
	test_when_finished "rm -rf ../w" &&
	stock init -q ../w &&
	for f in a empty big
	do
		id=$(git -C ../w hash-object -w "$PWD/$f") &&
		stock -C ../w cat-file blob $id >../out &&
		cmp $f ../out || return 1
	done &&
	file=$(find ../w/.git/objects -type f | head -n 1) &&
	test "$(stat -c %a "$file")" = 444 &&
	git -C ../w -c core.looseCompression=0 hash-object -w --stdin <tree &&
	git -C ../w -c core.compression=9 hash-object -w --stdin <commit &&
	stock -C ../w fsck --strict >out 2>err &&
	! grep -v "^notice" err &&
	test 5 -eq $(grep -c "^dangling blob" out) &&
	test_must_fail git -C ../w -c core.looseCompression=10 \
		hash-object -w --stdin <tag
'

test_expect_success 'an existing object is not written again' '
	test_when_finished "rm -rf ../w" &&
	stock init -q ../w &&
	echo "$PWD/.git/objects" >../w/.git/objects/info/alternates &&
	git -C ../w hash-object -w --stdin <a &&
	find ../w/.git/objects -type f -path "*/??/*" >found &&
	test_must_be_empty found
'

test_expect_success 'malformed objects are refused without --literally' '
	test_when_finished "rm -rf ../w" &&
	stock init -q ../w &&
	for type in commit tree tag
	do
		test_must_fail git -C ../w hash-object -w -t $type --stdin \
			<big 2>err &&
		grep "^error: object fails fsck: " err &&
		grep "^fatal: refusing to create malformed object" err &&
		git -C ../w hash-object -w -t $type --stdin --literally <big ||
		return 1
	done &&
	printf "100664 a\0" >odd &&
	printf "%020d" 1 >>odd &&
	test_must_fail git hash-object -t tree odd 2>err &&
	grep "badFilemode: contains bad file modes" err
'

test_expect_success 'content filters are stock Git'\''s, or refused' '
	test_when_finished "rm -f .gitattributes .git/info/attributes" &&
	printf "%s\n" "# text" "*.c diff=cpp -text" "*.bin binary" \
		>.gitattributes &&
	same -e hash-object a &&
	echo "*.txt text" >>.gitattributes &&
	same -e hash-object a &&
	test_must_fail git_alone hash-object a 2>err &&
	grep "content filters.*are not supported yet" err &&
	mkdir -p d/e && cp a d/e/f &&
	same -e hash-object d/e/f &&
	ln -s "$PWD" ../link && printf "a\r\n" >crlf.txt &&
	same -e hash-object "$PWD/../link/crlf.txt" &&
	test_must_fail git_alone hash-object "$PWD/../link/crlf.txt" &&
	test_must_fail git_alone hash-object d/e/f &&
	git hash-object --no-filters a >actual &&
	stock hash-object --no-filters a >expect &&
	test_cmp expect actual &&
	git hash-object --stdin <a >actual &&
	test_cmp expect actual &&
	rm .gitattributes &&
	mkdir -p .git/info &&
	echo "* filter=x" >.git/info/attributes &&
	test_must_fail git_alone hash-object a &&
	rm .git/info/attributes &&
	same -e -c core.autocrlf=input hash-object a &&
	test_must_fail git_alone -c core.autocrlf=input hash-object a
'

test_expect_success 'outside a repository, and sha256' '
	mkdir ../none &&
	cp a ../none &&
	same -e -C ../none hash-object a &&
	printf "a\r\n" >../none/crlf &&
	echo "crlf text" >../none/attributes &&
	for key in autocrlf=input "attributesFile=$PWD/../none/attributes"
	do
		same -e -C ../none -c core.$key hash-object crlf &&
		test_must_fail git_alone -C ../none -c core.$key \
			hash-object crlf || return 1
	done &&
	test_must_fail git -C ../none hash-object -w a 2>err &&
	grep "not a git repository" err &&
	stock init -q --object-format=sha256 ../s &&
	cp a ../s &&
	same -e -C ../s hash-object -w a &&
	stock -C ../s cat-file -t "$(git -C ../s hash-object a)"
'

test_expect_success 'devices and pipes' '
	for words in "-t tree /dev/null" "/dev/null" "-t blob /dev/stdin"
	do
		echo x | stock hash-object $words >expect &&
		echo x | git hash-object $words >actual &&
		test_cmp expect actual || return 1
	done &&
	test_must_fail stock hash-object . 2>expect &&
	test_must_fail git hash-object . 2>actual &&
	test_cmp expect actual
'

test_expect_success 'the error about a directory names the path of --path' '
	mkdir -p directory &&
	test_expect_code 128 git hash-object --path=x directory 2>err &&
	echo "fatal: Unable to hash x" >expect &&
	test_cmp expect err
'

test_expect_success 'of two wrong pairs of options, --path is reported' '
	test_expect_code 129 git hash-object --stdin --stdin --no-filters \
		--path=x </dev/null 2>err &&
	grep "use --path with --no-filters" err &&
	test_expect_code 129 git hash-object --stdin --stdin </dev/null 2>err &&
	grep "Multiple --stdin" err
'

test_done
