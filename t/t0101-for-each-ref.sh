#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='for-each-ref prints what stock Git prints'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-compare.sh"

SQ="'"

test_expect_success 'set up' '
	refs_repository repo
'

while read -r args
do
	test_expect_success "for-each-ref $args" "
		(cd repo && same for-each-ref $args)
	"
done <<\EOF

refs/heads
refs/heads/ refs/tags/v1.0
refs/heads refs/heads/side refs/h
'refs/*/side'
'refs/heads/*'
'refs/heads/**'
'refs/t*'
'refs/tags/v[01]*'
--ignore-case 'REFS/HEADS/*'
--count=3
--count=0
--count=2 --sort=-refname
--sort=objectsize
--sort=-objectsize --count=3
--sort=objecttype --sort=-refname
--sort=-committerdate
--sort=-creatordate --sort=objectname
--sort=version:refname
--sort=-v:refname refs/tags
--points-at HEAD
--points-at v1.0
--points-at HEAD~1 --points-at HEAD
--points-at none
--format='%%%41%zz%(refname)'
--format=
--format='%(none)'
--format='%(refname:none)'
--format='%(objectname:short=x)'
--format='%(authordate:none)'
--format='%('
--sort=none
--count=-1
--shell --perl
--shell --format='%(refname) %(contents)'
--perl --format='%(refname) %(contents)'
--python --format='%(refname) %(contents)'
--tcl --format='%(refname) %(contents)'
EOF

for field in refname refname:short refname:lstrip=1 refname:lstrip=-1 \
	refname:rstrip=2 refname:strip=9 objectname objectname:short \
	objectname:short=12 objecttype objectsize objectsize:disk deltabase \
	HEAD symref symref:short tree tree:short parent parent:short numparent \
	object type tag author authorname authoremail authoremail:trim \
	authoremail:localpart authordate authordate:iso authordate:iso-strict \
	authordate:rfc authordate:short authordate:raw authordate:unix \
	committer committerdate tagger taggername taggerdate creator \
	creatordate contents contents:subject contents:body contents:signature \
	contents:size contents:lines=2 subject body
do
	test_expect_success "%($field)" '
		(cd repo &&
			same for-each-ref --format="%(refname) [%($field)]" &&
			same for-each-ref --format="%(refname) [%(*$field)]")
	'
done

# Commit messages of unusual forms.
nr=0
for message in '' 'one' 'a\n\nb' '\r\na\r\n\r\nb\n' 'a\nb\n\n\nc\n' \
	'a\n-----BEGIN PGP SIGNATURE-----\nx\n' \
	'a\n\nb\n-----BEGIN PGP SIGNATURE-----\nx\n'
do
	nr=$((nr + 1))
	test_expect_success "fields of commit message $nr" '
		(
			cd repo &&
			{
				echo "tree $(stock rev-parse HEAD^{tree})" &&
				echo "author A  B <a@b> 100000 -0130" &&
				echo "committer C <c> 200000 +0545" &&
				echo &&
				printf "$message"
			} >commit &&
			oid=$(stock hash-object -t commit -w commit) &&
			stock update-ref refs/odd/$nr $oid &&
			for field in subject body contents contents:body \
				contents:signature contents:size \
				contents:lines=2 authorname authordate \
				committeremail:localpart committerdate
			do
				same for-each-ref --format="[%($field)]" \
					refs/odd/$nr || exit 1
			done
		)
	'
done

test_expect_success 'short names that would be ambiguous' '
	stock -C repo tag side &&
	(cd repo && same for-each-ref --format="%(refname:short)" &&
		same -c core.warnAmbiguousRefs=false \
			for-each-ref --format="%(refname:short)") &&
	stock -C repo tag -d side
'

test_expect_success 'a ref to a missing object' '
	echo 1111111111111111111111111111111111111111 \
		>repo/.git/refs/heads/bad &&
	(cd repo && same -e for-each-ref refs/heads/bad) &&
	rm repo/.git/refs/heads/bad
'

# The names contain the cases in which versionsort suffixes are difficult to
# compare.
test_expect_success 'version numbers with suffixes' '
	stock init -q --bare versions &&
	oid=$(echo v | stock -C versions hash-object -w --stdin) &&
	for base in 1.0 1.0- 1.0.1 1.10 1.9
	do
		for end in "" -rc -rc1 -rc10 -rc2 -pre1 -pre-rc1 -rc1-pre \
			-r1 -rcx .rc1 -bfs2 -ck
		do
			echo "create refs/tags/v$base$end $oid"
		done
	done >names &&
	stock -C versions update-ref --stdin <names &&
	(
		cd versions &&
		for list in "-rc" "-pre -rc" "-rc -pre" "-rc \"\" -ck -bfs" \
			"-r -rc" "-rc -r" "rc" "c1 rc1 -pre" "\"\"" "1 10" \
			"-rc1-pre -rc -pre" "v1.0" "-rc \"\" -pre"
		do
			printf "[versionsort]\n" >suffixes &&
			printf "\tsuffix = %s\n" $list >>suffixes &&
			for key in v:refname -version:refname:short
			do
				same -c include.path="$PWD/suffixes" \
					for-each-ref --sort=$key || exit 1
			done
		done &&
		same -e -c versionsort.prereleaseSuffix=-pre \
			for-each-ref --sort=v:refname &&
		same -e -c versionsort.prereleaseSuffix=-pre \
			-c versionsort.suffix=-rc for-each-ref --sort=v:refname &&
		same -e -c versionsort.suffix=-rc for-each-ref &&
		test_must_fail git -c versionsort.suffix \
			for-each-ref --sort=v:refname 2>err &&
		grep "missing value for .versionsort.suffix." err
	)
'

# The history has merges, and a branch whose commits have older dates than their
# parents.
test_expect_success '--merged and --contains select by history' '
	repo_criss_cross history 6 &&
	(
		cd history &&
		old=$(GIT_COMMITTER_DATE="100000000 +0000" stock commit-tree \
			-p side -m old side^{tree}) &&
		stock update-ref refs/heads/old $old &&
		stock tag -m "a tag" tagged side~2 &&
		stock tag -m "a tag of a tag" twice tagged &&
		stock tag blob $(stock rev-parse main:left) &&
		stock tag tree $(stock rev-parse main^{tree}) &&
		for at in main~1 main~2^2 main~4 side~3 side~5
		do
			stock branch -f b$(stock rev-parse --short=8 $at) $at ||
				exit 1
		done &&
		for graph in no yes
		do
			for at in main side old twice main~3 side~4
			do
				for option in merged no-merged contains \
					no-contains
				do
					same for-each-ref --$option $at ||
						exit 1
					same for-each-ref --$option=$at \
						--$option=main~2 || exit 1
				done
			done &&
			for option in merged no-merged contains no-contains
			do
				same for-each-ref --$option &&
				same -e for-each-ref --$option=none &&
				same -e for-each-ref --$option=blob &&
				same -e for-each-ref --$option=tree &&
				same -e for-each-ref \
					--$option=$(printf %040d 1) || exit 1
			done &&
			same for-each-ref --contains=side~4 --merged=main~1 \
				--no-contains=main~2 refs/heads &&
			same for-each-ref --points-at=tagged --merged=old &&
			same for-each-ref --sort=-creatordate --count=2 \
				--contains=main~4 &&
			stock commit-graph write --reachable || exit 1
		done
	)
'

test_expect_success '--exclude omits refs by name' '
	(
		cd repo &&
		stock for-each-ref >all &&
		grep -v "	refs/tags/" all >expect &&
		git for-each-ref --exclude=refs/tags >actual &&
		test_cmp expect actual &&
		git for-each-ref --exclude="refs/tags/**" >actual &&
		test_cmp expect actual &&
		grep "	refs/heads/" all | grep -v "/side$" >expect &&
		git for-each-ref --exclude=refs/heads/side \
			--exclude=refs/none refs/heads/ >actual &&
		test_cmp expect actual &&
		git for-each-ref --exclude=refs --no-exclude >actual &&
		test_cmp all actual
	)
'

test_expect_success 'patterns from standard input' '
	(
		cd repo &&
		for list in "refs/heads/side" "refs/heads/side refs/tags" \
			"refs/tags/v* refs/none" "refs/heads/" ""
		do
			stock for-each-ref $list >expect &&
			printf "%s\n" $list >../list &&
			test -n "$list" || : >../list
			git for-each-ref --stdin <../list >actual &&
			test_cmp expect actual || exit 1
		done &&
		printf "refs/heads/side\n\nrefs/tags/" >../list &&
		stock for-each-ref refs/heads/side refs/tags/ >expect &&
		git for-each-ref --stdin <../list >actual &&
		test_cmp expect actual &&
		test_expect_code 128 git for-each-ref --stdin refs 2>err \
			<"/dev/null" &&
		grep "^fatal: unknown arguments supplied with --stdin" err
	)
'

# The stock Git of Debian 12 has neither --start-after nor --include-root-refs.
test_expect_success '--start-after: page by page' '
	stock -C repo for-each-ref --format="%(refname)" >expect &&
	: >actual &&
	marker=refs/ &&
	while git -C repo for-each-ref --format="%(refname)" --count=3 \
		--start-after="$marker" >page && test -s page
	do
		cat page >>actual &&
		marker=$(tail -n 1 page) || return 1
	done &&
	test_cmp expect actual &&
	git -C repo for-each-ref --format="%(refname)" \
		--start-after=refs/heads/zzz --exclude="refs/tags/v*" >actual &&
	sed "/^refs.heads/d; /^refs.tags.v/d" expect >rest &&
	test_cmp rest actual
'

test_expect_success '--start-after: all refs in their order, or none' '
	test_expect_code 128 git -C repo for-each-ref --start-after=refs/x \
		--sort=-refname 2>err &&
	echo "fatal: cannot use --start-after with custom sort options" \
		>expect &&
	test_cmp expect err &&
	echo "fatal: cannot use --start-after with patterns" >expect &&
	test_expect_code 128 git -C repo for-each-ref --start-after=refs/x \
		refs/heads 2>err &&
	test_cmp expect err &&
	echo refs/heads | test_expect_code 128 git -C repo for-each-ref \
		--start-after=refs/x --stdin 2>err &&
	test_cmp expect err
'

# The expected lines were printed by Git 2.55.
test_expect_success '--include-root-refs' '
	rm -rf roots tables &&
	for format in files reftable
	do
		git init -q --bare --ref-format=$format roots &&
		git -C roots for-each-ref --include-root-refs >actual 2>&1 &&
		test_must_be_empty actual &&
		tree=$(git -C roots hash-object -w -t tree --stdin </dev/null) &&
		commit=$(stock -C repo cat-file commit HEAD |
			sed "s/^tree .*/tree $tree/; /^parent /d" |
			git -C roots hash-object -w -t commit --stdin) &&
		for ref in refs/heads/main ORIG_HEAD _HEAD
		do
			git -C roots update-ref $ref $commit || return 1
		done &&
		git -C roots for-each-ref --include-root-refs \
			--format="%(refname) %(symref)" >actual &&
		printf "%s\n" "HEAD refs/heads/main" "ORIG_HEAD " "_HEAD " \
			"refs/heads/main " >expect &&
		test_cmp expect actual &&
		git -C roots for-each-ref --include-root-refs \
			--format="%(refname)" --sort=-refname \
			--exclude=_HEAD HEAD "*_HEAD" >actual &&
		printf "%s\n" ORIG_HEAD HEAD >expect &&
		test_cmp expect actual &&
		rm -rf roots || return 1
	done
'

test_expect_success '--omit-empty' '
	stock -C repo for-each-ref --format="%(tag)" >lines &&
	grep "^\$" lines &&
	git -C repo for-each-ref --format="%(tag)" >actual &&
	test_cmp lines actual &&
	sed "/^\$/d" lines >expect &&
	git -C repo for-each-ref --format="%(tag)" --omit-empty >actual &&
	test_cmp expect actual
'

# The expected lines were printed by Git 2.55. Git 2.39 peels only one tag of a
# chain of tags.
test_expect_success 'tags of tags' '
	rm -rf "$TRASH/tags" &&
	stock init -q -b main "$TRASH/tags" &&
	cd "$TRASH/tags" &&
	echo 1 >f &&
	stock add f &&
	test_tick &&
	stock commit -q -m one &&
	stock tag -a -m 1 one HEAD &&
	stock tag -a -m 2 two one &&
	stock tag -a -m 3 three two &&
	stock tag -a -m b blob HEAD:f &&
	stock tag -a -m b bb blob &&
	git for-each-ref --format="%(refname:short) %(*objecttype) %(*subject)" \
		>actual &&
	cat >expect <<-\EOF &&
	main  
	bb blob 
	blob blob 
	one commit one
	three commit one
	two commit one
	EOF
	test_cmp expect actual &&
	for at in HEAD HEAD:f one two three
	do
		git for-each-ref --format="%(refname:short)" --points-at=$at |
			tr "\n" " "
		echo
	done >actual &&
	cat >expect <<-\EOF &&
	main one three two 
	bb blob 
	one three two 
	three two 
	three 
	EOF
	test_cmp expect actual &&
	tag=$(stock rev-parse blob) &&
	test_expect_code 129 git for-each-ref --contains=blob 2>err &&
	grep "^error: object $tag is a blob, not a commit" err &&
	rm .git/objects/$(stock rev-parse HEAD:f | sed "s|..|&/|") &&
	git for-each-ref --format="%(refname:short)" --points-at=main >actual &&
	printf "%s\n" main one three two >expect &&
	test_cmp expect actual
'

# refused <field> <message>: the field must be refused with this message of Git
# 2.55.
refused () {
	echo "fatal: $2" >expect &&
	test_expect_code 128 git for-each-ref --format="x%($1)" 2>err \
		refs/heads/main >actual &&
	test_must_be_empty actual &&
	test_cmp expect err
}

test_expect_success 'arguments of fields' '
	cd "$TRASH/tags" &&
	refused HEAD:foo "%(HEAD) does not take arguments" &&
	refused "*HEAD:foo" "%(HEAD) does not take arguments" &&
	refused refname:x "unrecognized %(refname) argument: x" &&
	refused "*tree:x" "unrecognized %(*tree) argument: x" &&
	refused "*contents:x" "unrecognized %(contents) argument: x" &&
	refused authorname:x "unrecognized %(authorname) argument: x" &&
	refused authoremail:trim,x "unrecognized %(authoremail) argument: x" &&
	refused authoremail:trimx "unrecognized %(authoremail) argument: x" &&
	refused "*authoremail:trim," "unrecognized %(*authoremail) argument: " &&
	refused authordate:x "unknown date format x" &&
	refused authordate: "unknown date format " &&
	refused authordate:format \
		"date format missing colon separator: format" &&
	refused "objectname:short=0" \
		"positive value expected ${SQ}0${SQ} in %(objectname:short=0)" &&
	email=$(stock log -1 --format=%ae) &&
	for options in trim,localpart localpart,trim localpart
	do
		git for-each-ref --format="%(authoremail:$options)" \
			refs/heads/main || return 1
	done >actual &&
	printf "%s\n%s\n%s\n" ${email%@*} ${email%@*} ${email%@*} >expect &&
	test_cmp expect actual &&
	git for-each-ref --format="[%(author:mailmap)%(tagger:x)]" >actual &&
	grep -v "^\[\]$" actual; test $? -eq 1 &&
	git for-each-ref --format="[%(taggerdate:x)]" refs/heads/main >actual &&
	echo "[]" >expect &&
	test_cmp expect actual &&
	git for-each-ref --count=1k >actual &&
	test_line_count 6 actual
'

test_expect_success 'fields of persons and dates that only stock Git has' '
	cd "$TRASH/tags" &&
	for field in authordate:format-local:%Y authordate:local authordate:short-local authordate:auto:iso
	do
		test_expect_code 128 git_alone for-each-ref \
			--format="%($field)" 2>err &&
		grep "%($field) is not supported" err || return 1
	done &&
	same for-each-ref --format="%(authordate:format-local:%Y %H)"
'

# dated <person> [<expected raw date> <expected strict ISO date>]
dated () {
	printf "tree %s\nauthor %s\ncommitter C <c> 1 +0000\n\nm\n" \
		$(stock rev-parse main^{tree}) "$1" |
		stock hash-object -t commit -w --stdin --literally >../oid &&
	stock update-ref refs/x/dated $(cat ../oid) &&
	echo "$2|$3" >expect &&
	git for-each-ref refs/x/dated \
		--format="%(authordate:raw)|%(authordate:iso-strict)" >actual &&
	test_cmp expect actual
}

# The expected lines were printed by Git 2.55.
test_expect_success 'dates of malformed persons' '
	cd "$TRASH/tags" &&
	dated "A <a@b> 1 +0000" "1 +0000" 1970-01-01T00:00:01Z &&
	dated "A <a@b> 2" "2 +0000" 1970-01-01T00:00:02Z &&
	dated "A <a@b>  7  +0200" "7 +0200" 1970-01-01T02:00:07+02:00 &&
	dated "A <a@b> x" "0 +0000" 1970-01-01T00:00:00Z &&
	dated "A <a@b> 7x +0100" "7 +0000" 1970-01-01T00:00:07Z &&
	dated "A <a@b> 7 +1a z" "7 +0001" 1970-01-01T00:01:07+00:01 &&
	dated "A> <a@b> 7 +0100" "0 +0000" 1970-01-01T00:00:00Z &&
	dated "A <a@b> 67767976233532799 +0000" "67767976233532799 +0000" \
		2147483647-12-31T23:59:59Z &&
	dated "A <a@b> 72057594037927936 +0100" "72057594037927936 +0100" \
		1970-01-01T00:00:00Z &&
	dated "A <a@b> 18446744073709551615 +0000" &&
	stock update-ref -d refs/x/dated
'

# The expected lines were printed by Git 2.55. Git 2.39 sorts by the seconds.
test_expect_success 'dates with a format are sorted by their text' '
	cd "$TRASH/tags" &&
	for day in 02-10 03-04 04-04
	do
		GIT_COMMITTER_DATE="2005-$day 00:00:00 +0000" stock commit-tree \
			-m $day HEAD^{tree} >../oid &&
		stock update-ref refs/day/$day $(cat ../oid) || return 1
	done &&
	git for-each-ref --format="%(refname)" \
		--sort=committerdate:rfc2822 refs/day >actual &&
	printf "refs/day/%s\n" 03-04 04-04 02-10 >expect &&
	test_cmp expect actual
'

test_expect_success 'the short name of the HEAD of a remote' '
	cd "$TRASH/tags" &&
	stock update-ref refs/remotes/far/main HEAD &&
	stock symbolic-ref refs/remotes/far/HEAD refs/remotes/far/main &&
	git for-each-ref --format="%(refname:short)" refs/remotes >actual &&
	printf "%s\n" far far/main >expect &&
	test_cmp expect actual &&
	stock branch far &&
	git for-each-ref --format="%(refname:short)" refs/remotes >actual &&
	printf "%s\n" far/HEAD far/main >expect &&
	test_cmp expect actual
'

test_expect_success 'unsupported options are refused by name' '
	cd "$TRASH" &&
	test_expect_code 129 git_alone -C repo for-each-ref --color 2>err &&
	grep "option .color. is not supported" err &&
	test_expect_code 128 git_alone -C repo for-each-ref \
		--format="%(upstream)" 2>err &&
	grep "%(upstream) is not supported" err
'

test_expect_success 'a missing parent ends --contains' '
	rm -rf "$TRASH/lacks" &&
	stock init -q --bare "$TRASH/lacks" &&
	cd "$TRASH/lacks" &&
	tree=$(stock hash-object -w -t tree --stdin </dev/null) &&
	one=$(echo 1 | stock commit-tree $tree) &&
	two=$(echo 2 | stock commit-tree $tree -p $one) &&
	three=$(echo 3 | stock commit-tree $tree -p $two) &&
	stock update-ref refs/heads/one $one &&
	stock update-ref refs/heads/three $three &&
	rm -f objects/$(echo $two | sed "s|^..|&/|") &&
	for option in --contains=one --no-contains=one
	do
		test_expect_code 128 git_alone for-each-ref $option 2>err &&
		grep "$two" err || return 1
	done &&
	git_alone for-each-ref --merged=one >actual &&
	test_line_count 1 actual
'

test_expect_success '--merged goes on behind a missing parent' '
	cd "$TRASH/lacks" &&
	git_alone for-each-ref --format="%(refname)" --merged=three >actual \
		2>err &&
	echo refs/heads/three >expect &&
	test_cmp expect actual &&
	echo "error: Could not read $two" >expect &&
	test_cmp expect err &&
	git_alone for-each-ref --format="%(refname)" --no-merged=three \
		>actual &&
	echo refs/heads/one >expect &&
	test_cmp expect actual
'

test_expect_success 'refs of missing objects have no history' '
	cd "$TRASH/lacks" &&
	echo 1234567890123456789012345678901234567890 >refs/heads/absent &&
	for option in --merged --no-merged --contains --no-contains
	do
		git_alone for-each-ref --format="%(refname)" $option=one \
			refs/heads/one refs/heads/absent >>all || return 1
	done &&
	rm refs/heads/absent &&
	printf "refs/heads/one\nrefs/heads/one\n" >expect &&
	test_cmp expect all
'

# damages <id> <content>: replace the file of a loose object
damages () {
	file=objects/$(echo $1 | sed "s|^..|&/|") &&
	rm -f $file && printf "$2" >$file
}

# relates <exit code> <ref>...: use all filters by history on these refs. If the
# exit code is 0, refs/heads/one is printed, and an error about $bad.
relates () {
	code=$1 && shift &&
	for option in merged no-merged contains no-contains
	do
		git_alone for-each-ref --$option=one refs/heads/one >expect &&
		test_expect_code $code git_alone for-each-ref --$option=one \
			refs/heads/one "$@" >actual 2>err &&
		case $code in
		0)
			test_cmp expect actual &&
			grep "^error: loose object $bad .* is corrupt" err ;;
		*)
			grep "^fatal: loose object $bad .* is corrupt" err ;;
		esac || return
	done
}

test_expect_success 'a ref whose object is damaged is left out with an error' '
	cd "$TRASH/lacks" &&
	bad=$(echo bad | stock commit-tree $tree) &&
	stock update-ref refs/heads/bad $bad &&
	stock tag -a -m bad bad $bad &&
	damages $bad x && relates 0 refs/heads/bad &&
	relates 128 refs/tags/bad &&
	damages $bad "" && relates 0 refs/heads/bad refs/tags/bad &&
	rm objects/$(echo $bad | sed "s|^..|&/|") &&
	bad=$(stock rev-parse bad) && damages $bad x && relates 0 refs/tags/bad
'

test_expect_success 'the commit of an option is damaged' '
	cd "$TRASH/lacks" &&
	commit=$(echo bad | stock commit-tree $tree) &&
	rm objects/$(echo $bad | sed "s|^..|&/|") &&
	stock update-ref -d refs/heads/bad &&
	stock tag -f -a -m bad bad $commit &&
	for option in merged no-merged contains no-contains
	do
		damages $commit x &&
		test_expect_code 129 git_alone for-each-ref --$option=$commit \
			2>err &&
		grep "^error: loose object $commit .* is corrupt" err &&
		test_expect_code 128 git_alone for-each-ref --$option=bad \
			2>err &&
		grep "^fatal: loose object $commit .* is corrupt" err &&
		test_must_fail git_alone for-each-ref --$option=$commit~1 \
			2>err &&
		grep "^error: loose object $commit .* is corrupt" err &&
		rm objects/$(echo $commit | sed "s|^..|&/|") &&
		test_expect_code 129 git_alone for-each-ref --$option=bad \
			2>err &&
		grep "^error: Could not read $commit$" err || return
	done &&
	damages $commit x &&
	test_expect_code 129 git_alone for-each-ref --points-at=$commit~1 2>err &&
	grep "^error: loose object $commit .* is corrupt" err &&
	stock tag -d bad &&
	rm objects/$(echo $commit | sed "s|^..|&/|")
'

test_expect_success 'grafts are left to stock Git if history matters' '
	cd "$TRASH/lacks" &&
	echo $three $one >info/grafts &&
	test_expect_code 128 git_alone for-each-ref --merged=three 2>err &&
	grep "info/grafts" err &&
	same for-each-ref --merged=three &&
	test_line_count 2 "$TRASH/actual" &&
	git_alone for-each-ref >actual &&
	test_line_count 2 actual &&
	rm info/grafts
'

test_expect_success 'each broken ref is reported' '
	rm -rf "$TRASH/broken" && repo_linear "$TRASH/broken" 1 &&
	cd "$TRASH/broken" &&
	id=$(stock rev-parse main) &&
	echo garbage >refs/heads/a &&
	: >refs/heads/b &&
	echo $ZERO_OID >refs/heads/c &&
	echo "ref: refs/heads/none" >refs/heads/d &&
	echo $id >refs/heads/e..f &&
	cat >expect <<-\EOF &&
	warning: ignoring broken ref refs/heads/a
	warning: ignoring broken ref refs/heads/b
	warning: ignoring broken ref refs/heads/c
	warning: ignoring ref with broken name refs/heads/e..f
	EOF
	git_alone for-each-ref >actual 2>err &&
	test_cmp expect err &&
	test_line_count 1 actual &&
	git_alone for-each-ref --sort=-refname >actual 2>err &&
	test_cmp expect err &&
	GIT_REF_PARANOIA=0 git_alone for-each-ref 2>err &&
	test_cmp /dev/null err &&
	echo 1234567890123456789012345678901234567890 >refs/heads/g &&
	GIT_REF_PARANOIA=0 git_alone for-each-ref >actual 2>err &&
	echo "error: refs/heads/g does not point to a valid object!" >expect &&
	test_cmp expect err &&
	test_line_count 1 actual &&
	GIT_REF_PARANOIA=x test_expect_code 128 git_alone for-each-ref 2>err &&
	grep "bad boolean environment value .x. for .GIT_REF_PARANOIA." err
'

# All options are read before the format, and the format before sort keys.
test_expect_success 'which of several wrong options is reported' '
	cd "$TRASH/repo" &&
	while read -r options
	do
		read -r code words &&
		test_expect_code $code git_alone for-each-ref $options \
			2>actual &&
		head -n 1 actual | grep "^$words" || return 1
	done <<-\EOF &&
	--sort=x --format=%(y)
	128 fatal: unknown field name: y
	--sort=x --count=-1
	129 error: invalid --count argument
	--sort=x --shell --perl
	129 error: more than one quoting style
	--sort=x --contains=nothing
	129 error: malformed object name nothing
	--format=%(x) --merged=nothing
	128 fatal: malformed object name nothing
	--sort=x --start-after=y
	128 fatal: cannot use --start-after with custom sort
	EOF
	git_alone for-each-ref --sort=x --no-sort &&
	test_expect_code 129 git_alone for-each-ref --s 2>err &&
	grep "ambiguous option: s (could be --sort or --stdin)" err &&
	test_expect_code 129 git for-each-ref --no-co 2>err &&
	grep "(could be --no-color or --no-contains)" err
'

# Stock Git reads the fields of refs when merge sort compares two refs.
test_expect_success 'sorted: which of several missing objects is reported' '
	rm -rf "$TRASH/unsorted.git" && repo_linear "$TRASH/unsorted.git" 1 &&
	cd "$TRASH/unsorted.git" &&
	main=$(stock rev-parse main) &&
	for nr in 1 2 3 4 5 6 7 8 9
	do
		for bad in 2 3 5 8
		do
			echo $main >refs/heads/r$nr &&
			rm -f refs/heads/x* &&
			printf "1%039d\n" 0 >refs/heads/x$bad &&
			printf "2%039d\n" 0 >refs/heads/n &&
			printf "3%039d\n" 0 >refs/tags/t &&
			for key in -refname objectname objectsize
			do
				test_expect_code 128 stock for-each-ref \
					--sort=$key 2>expect &&
				test_expect_code 128 git_alone for-each-ref \
					--sort=$key >actual.out 2>actual &&
				test_cmp expect actual &&
				test_must_be_empty actual.out || return 1
			done
		done
	done
'

test_expect_success '--stdin: carriage returns, and --start-after' '
	cd "$TRASH/lacks" &&
	printf "refs/heads/one\r\n" | git_alone for-each-ref --stdin >actual &&
	test_line_count 1 actual &&
	git_alone for-each-ref --stdin --start-after=refs/heads/one \
		>actual </dev/null &&
	test_line_count 1 actual
'

test_expect_success 'the first wrong argument decides the error' '
	cd "$TRASH/repo" &&
	while read -r error args
	do
		test_must_fail git_alone for-each-ref $args 2>err &&
		grep -e "^error: " -e "^fatal: " err |
			grep -v " is a tree, not a commit" >errors &&
		test_line_count 1 errors && grep "$error" errors || return 1
	done <<-\EOF &&
	malformed.object.name --merged=none --count=x
	malformed.object.name --no-merged=none --bad
	malformed.object.name --contains=none --count=x
	malformed.object.name --no-contains=none --no-count=1
	malformed.object.name --points-at=none --bad
	must.point.to.a.commit --merged=HEAD^{tree} --contains=none
	no.such.commit --contains=HEAD^{tree} --merged=none
	expects.an.integer --count=x --merged=none
	unknown.option --bad --points-at=none
	EOF
	same for-each-ref --points-at=HEAD --no-points-at --merged=side
'

test_expect_success 'a warning about a name is printed once, also with --color' '
	cd "$TRASH/repo" &&
	stock tag side &&
	stock for-each-ref --contains=side --color=never >expect 2>warnings &&
	git for-each-ref --contains=side --color=never >actual 2>err &&
	test_cmp expect actual && test_cmp warnings err &&
	grep "is ambiguous" err
'

test_expect_success '--stdin is left to stock Git that sorts by other fields' '
	cd "$TRASH/repo" &&
	mkdir -p ../fake &&
	printf "#!/bin/sh\necho \"\$*\" && cat\n" >../fake/git &&
	chmod +x ../fake/git &&
	echo refs/heads >in &&
	{ echo for-each-ref --stdin --sort=raw && cat in; } >expect &&
	GITREACH_FALLBACK=$TRASH/fake/git "$GIT" for-each-ref --stdin \
		--sort=raw <in >actual &&
	test_cmp expect actual
'

test_done
