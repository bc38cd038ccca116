#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='refs in reftables

The same commands run in a repository whose refs are files, and in one whose refs
are in reftables. Output and results must be the same. t/interop/reftable.sh
tests that stock Git can read the tables.'
. "$(dirname "$0")/lib.sh"

GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.com
GIT_COMMITTER_NAME=C GIT_COMMITTER_EMAIL=c@example.com
GIT_AUTHOR_DATE='1112911993 -0730' GIT_COMMITTER_DATE='1112911993 -0730'
export GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
export GIT_AUTHOR_DATE GIT_COMMITTER_DATE

g () {
	"$GIT" "$@"
}

# make <hash>: makes the repositories "files" and "tables", and the ids $A, $B
# (commits) and $T (a tag).
make () {
	rm -rf files tables &&
	g init -q --bare -b main --object-format=$1 files &&
	g init -q --bare -b main --object-format=$1 --ref-format=reftable \
		tables &&
	(
		cd files &&
		tree=$(stock hash-object -t tree -w /dev/null) &&
		A=$(stock commit-tree -m a $tree) &&
		B=$(stock commit-tree -m b -p $A $tree) &&
		T=$(printf "object %s\ntype commit\ntag T\ntagger %s\n\nT\n" \
			$A "A <a> 1112911993 +0000" | stock mktag) &&
		echo "A=$A B=$B T=$T" >../ids
	) &&
	cp -R files/objects/. tables/objects/ &&
	. ./ids &&
	export A B T
}

# both '<script>': runs the script in both repositories. Compares the output,
# the errors, and the refs afterwards.
both () {
	for side in files tables
	do
		(
			cd $side &&
			eval "$1" >../out.$side 2>../err.$side
			echo "exit $?" >>../out.$side
			g for-each-ref --format="%(refname) %(objectname) \
%(*objectname) %(symref)" >>../out.$side &&
			g symbolic-ref -q HEAD >>../out.$side
		)
	done
	test_cmp out.files out.tables && test_cmp err.files err.tables
}

# If a name conflicts with a loose ref, the ref cannot be locked. In tables, the
# error does not begin with words about a lock.
without_lock () {
	sed "s/: cannot lock ref [^:]*//"
}

for hash in sha1 sha256
do
	test_expect_success "$hash: a new repository" '
		make $hash &&
		echo reftable >expected &&
		g -C tables rev-parse --show-ref-format >found &&
		test_cmp expected found &&
		echo "ref: refs/heads/.invalid" >expected &&
		test_cmp expected tables/HEAD &&
		test -f tables/refs/heads &&
		test_line_count 1 tables/reftable/tables.list &&
		both "g symbolic-ref HEAD; g rev-parse HEAD"
	'

	test_expect_success "$hash: values, tags, symbolic refs" '
		both "g update-ref refs/heads/main $A &&
			g update-ref refs/heads/other $B &&
			g update-ref refs/tags/T $T &&
			g symbolic-ref refs/heads/sym refs/heads/main" &&
		both "g show-ref -d --head" &&
		both "g rev-parse sym T T^{} HEAD refs/tags/T other" &&
		both "g update-ref HEAD $B $A && g rev-parse main" &&
		both "g update-ref refs/heads/sym $A" &&
		both "g update-ref --no-deref refs/heads/sym $A" &&
		both "g symbolic-ref HEAD refs/heads/unborn" &&
		both "g rev-parse HEAD" &&
		both "g symbolic-ref HEAD refs/heads/main"
	'

	test_expect_success "$hash: changes that are refused" '
		both "g update-ref refs/heads/main $B $B" &&
		both "g update-ref refs/heads/none $B $B" &&
		both "g update-ref refs/heads/main $B \$(echo $A | tr 0-9a-f 0)" &&
		for name in refs/heads/main/x refs/heads
		do
			both "g update-ref $name $B 2>&1 | without_lock" ||
				return 1
		done &&
		test_must_fail g -C tables update-ref refs/heads/main/x $B \
			2>err &&
		tr -d "\047" <err >words &&
		echo "fatal: update_ref failed for ref refs/heads/main/x:" \
			"refs/heads/main exists; cannot create" \
			"refs/heads/main/x" >expect &&
		test_cmp expect words &&
		both "g update-ref refs/heads/tag $T" &&
		both "g symbolic-ref HEAD foo"
	'

	test_expect_success "$hash: transactions" '
		both "printf \"start\ncreate refs/heads/x/1 $A
create refs/heads/x/2 $B
update refs/tags/T $B $T\ndelete refs/heads/other $B
prepare\ncommit\n\" | g update-ref --stdin" &&
		both "printf \"create refs/heads/y $A
create refs/heads/y/2 $B\n\" | g update-ref --stdin" &&
		both "printf \"create refs/heads/z $A
verify refs/heads/main $A\n\" | g update-ref --stdin" &&
		both "printf \"create refs/heads/z $A\nprepare\nabort\n\" |
			g update-ref --stdin" &&
		both "g update-ref -d refs/heads/x/1" &&
		both "g update-ref -d refs/heads/none" &&
		both "g update-ref refs/heads/x/1/deeper $A" &&
		both "g pack-refs --all" &&
		test_line_count 1 tables/reftable/tables.list &&
		both "g fsck" &&
		both "g rev-list --all --count"
	'
done

test_expect_success 'visits leave out directories, and find prefixes' '
	make sha1 &&
	both "for d in a b c/d heads/x
	do
		for n in 1 2 3 4 5 6 7 8 9
		do
			echo \"create refs/\$d/\$n $A\"
		done
	done | g update-ref --stdin" &&
	both "g for-each-ref refs/b refs/c/" &&
	both "g for-each-ref --exclude=refs/b --exclude=refs/c" &&
	both "g for-each-ref --count=3 --sort=-refname" &&
	both "g show-ref 3" &&
	both "g update-ref -d refs/b/5; g for-each-ref refs/b"
'

test_expect_success 'many refs, in one transaction and in many' '
	make sha1 &&
	both "for n in \$(seq 1 3000)
	do
		echo \"create refs/changes/\$n $A\"
	done | g update-ref --stdin" &&
	for n in $(seq 1 40)
	do
		g -C files update-ref refs/changes/new-$n $B &&
		g -C tables update-ref refs/changes/new-$n $B || return 1
	done &&
	both "g for-each-ref refs/changes/new-1" &&
	test $(wc -l <tables/reftable/tables.list) -le 7 &&
	test $(ls tables/reftable | wc -l) -le 8 &&
	both "g pack-refs --auto" &&
	both "g rev-parse refs/changes/1 refs/changes/2999 refs/changes/new-7"
'

test_expect_success 'configured blocks, restarts and objects' '
	make sha1 &&
	g -C files for-each-ref >/dev/null &&
	cat >>tables/config <<-\EOF &&
	[reftable]
		blockSize = 512
		restartInterval = 4
		indexObjects = false
		geometricFactor = 3
		lockTimeout = 0
	EOF
	both "for n in \$(seq 1 300)
	do
		echo \"create refs/changes/\$n $A\"
	done | g update-ref --stdin" &&
	>tables/reftable/tables.list.lock &&
	test_must_fail g -C tables update-ref refs/heads/x $A 2>err &&
	grep "cannot lock references" err &&
	test_must_fail g -C tables pack-refs 2>err &&
	grep "unable to compact stack: data is locked" err &&
	rm tables/reftable/tables.list.lock &&
	printf "\tblockSize = 99999999\n" >>tables/config &&
	test_must_fail g -C tables update-ref refs/heads/x $A 2>err &&
	grep "reftable.blocksize" err
'

# The block size of the configuration may be smaller than that of old tables.
test_expect_success 'a ref that is larger than a block is packed' '
	make sha1 && part=$(printf "%0200d" 0) && long=refs/heads &&
	for i in $(seq 1 20)
	do
		long=$long/$part || return 1
	done && long=$long/$(printf "%046d" 0) &&
	test_must_fail g -C tables update-ref $long $A &&
	g -C tables -c reftable.blockSize=16384 update-ref $long $A &&
	g -C tables update-ref refs/heads/x $A && g -C tables update-ref refs/heads/y $B &&
	g -C tables pack-refs --all && test_line_count 1 tables/reftable/tables.list &&
	test $(g -C tables rev-parse $long) = $A && g -C tables refs verify &&
	g -C tables for-each-ref >found && grep $long found &&
	g -C tables -c reftable.blockSize=16384 update-ref -d $long &&
	g -C tables pack-refs --all &&
	g -C tables refs verify && g -C tables for-each-ref >found && ! grep $long found
'

# Stock Git 2.55 does not write such a message, but can read the table.
test_expect_success 'a message that is larger than a block' '
	make sha1 && text=$(printf "%03000d" 0) &&
	g -C tables -c reftable.blockSize=100 update-ref --create-reflog \
		-m "$text" refs/heads/big $A &&
	g -C tables -c reftable.blockSize=100 update-ref -m second \
		refs/heads/big $B $A &&
	g -C tables -c reftable.blockSize=100 pack-refs --all &&
	test $(g -C tables rev-parse refs/heads/big) = $B &&
	g -C tables reflog expire --expire=never --expire-unreachable=never \
		--dry-run --verbose refs/heads/big >log &&
	grep -c "$text\|second" log >nr && echo 2 >expect && test_cmp expect nr
'

test_expect_success 'pushed to, cloned from, repacked' '
	rm -rf src tables.git clone &&
	repo_linear src 5 &&
	g init -q --bare -b main --ref-format=reftable tables.git &&
	stock -C src push -q --receive-pack="\"$GIT\" receive-pack" \
		../tables.git main main:refs/heads/a/b HEAD:refs/tags/t &&
	g -C tables.git for-each-ref >found &&
	test_line_count 3 found &&
	stock -C src push -q --receive-pack="\"$GIT\" receive-pack" \
		../tables.git :refs/heads/a/b main:refs/heads/a &&
	g -C tables.git repack -adbq &&
	g -C tables.git fsck &&
	stock clone -q --upload-pack="\"$GIT\" upload-pack" tables.git clone &&
	stock -C src rev-parse main >expected &&
	stock -C clone rev-parse HEAD >found &&
	test_cmp expected found
'

# unlist <what>: makes tables/ a repository with four tables. Then makes
# tables.list empty, removes it, or leaves only its last line.
unlist () {
	make sha1 &&
	printf "[maintenance]\n\tauto = false\n" >>tables/config &&
	for n in 1 2 3
	do
		touch tables/reftable/$(tail -n 1 tables/reftable/tables.list).lock &&
		g -C tables update-ref refs/heads/b$n $A || return 1
	done &&
	rm -f tables/reftable/*.lock &&
	test_line_count 4 tables/reftable/tables.list &&
	rm -rf before && mkdir before && cp tables/reftable/* before/ &&
	case $1 in
	empty) >tables/reftable/tables.list ;;
	missing) rm tables/reftable/tables.list ;;
	last) tail -n 1 before/tables.list >tables/reftable/tables.list ;;
	esac
}

# restore_list: makes the stack of unlist() again, below the present tables.
restore_list () {
	cat before/tables.list tables/reftable/tables.list >list &&
	cp list tables/reftable/tables.list
}

# A power failure may lose the list. Then the tables are the only copy of the
# refs, so no command removes them.
test_expect_success 'a lost list: no table is removed' '
	for how in empty missing last
	do
		unlist $how &&
		g -C tables pack-refs --all &&
		g -C tables gc -q &&
		g -C tables update-ref refs/heads/new $A &&
		g -C tables update-ref refs/heads/new2 $A &&
		g -C tables update-ref refs/heads/new3 $A &&
		g -C tables update-ref refs/heads/new4 $A &&
		g -C tables pack-refs --all &&
		g -C tables pack-refs --all &&
		for table in before/*.ref
		do
			case $how-${table##*/} in
			last-$(tail -n 1 before/tables.list)) continue ;;
			esac &&
			cmp $table tables/reftable/${table##*/} || return 1
		done &&
		if test $how != last
		then
			restore_list &&
			test $(g -C tables for-each-ref | wc -l) = 7 || return 1
		fi || return 1
	done
'

test_expect_success 'a lost list: the refs are not migrated' '
	unlist empty &&
	test_must_fail g -C tables refs migrate --ref-format=files 2>err &&
	grep "tables.list names none of the tables" err &&
	cp before/tables.list tables/reftable/ &&
	g -C tables refs migrate --ref-format=files &&
	test $(g -C tables for-each-ref | wc -l) = 3
'

test_expect_success 'tables that a killed merge left are removed' '
	unlist no &&
	g -C tables pack-refs --all &&
	cp before/*.ref tables/reftable/ &&
	g -C tables pack-refs --all &&
	test $(ls tables/reftable/*.ref | wc -l) = 1 &&
	test $(g -C tables for-each-ref | wc -l) = 3
'

test_expect_success 'init refuses an unknown or a different ref format' '
	test_must_fail g init --ref-format=bogus x 2>err &&
	echo "fatal: unknown ref storage format QbogusQ" >expected &&
	tr "\047" Q <err >found &&
	test_cmp expected found &&
	g init -q --bare f.git &&
	test_must_fail g init --bare --ref-format=reftable f.git 2>err &&
	grep "different reference storage format" err &&
	GIT_DEFAULT_REF_FORMAT=reftable g init -q --bare e.git &&
	test -d e.git/reftable &&
	g -c init.defaultRefFormat=reftable init -q --bare c.git &&
	test -d c.git/reftable &&
	g -c init.defaultRefFormat=bogus init -q --bare b.git 2>err &&
	grep "^warning: unknown ref storage format" err &&
	g init --bare e.git >out &&
	grep "^Reinitialized existing" out
'

# abbrev_is <number>: check that core.abbrev is <number> in both repositories. A file
# of includeIf may set this variable.
abbrev_is () {
	for side in files tables
	do
		g -C $side rev-parse --short $A >actual &&
		test $(wc -c <actual) = $(($1 + 1)) || return 1
	done
}

test_expect_success 'conditions onbranch of includeIf' '
	make sha1 &&
	for side in files tables
	do
		printf "[core]\n\tabbrev = 9\n" >$side/main.inc &&
		printf "[core]\n\tabbrev = 11\n" >$side/dev.inc &&
		stock config -f $side/config includeIf.onbranch:main.path \
			main.inc &&
		stock config -f $side/config includeIf.onbranch:d/.path \
			dev.inc &&
		g -C $side update-ref refs/heads/main $A &&
		g -C $side update-ref refs/heads/d/dev $A || return 1
	done &&
	abbrev_is 9 &&
	for side in files tables
	do
		g -C $side symbolic-ref HEAD refs/heads/link &&
		g -C $side symbolic-ref refs/heads/link refs/heads/d/dev ||
			return 1
	done &&
	abbrev_is 11 &&
	for side in files tables
	do
		g -C $side update-ref --no-deref HEAD $A || return 1
	done &&
	abbrev_is 7
'

test_done
