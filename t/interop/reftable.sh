#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='stock Git reads our reftables, we read those of stock Git'
. "$(dirname "$0")/../lib.sh"

if ! stock init -q --bare --ref-format=reftable probe.git 2>/dev/null
then
	skip_all='the stock Git knows no reftables (2.45 and later do)'
	test_done
fi

GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.com
GIT_COMMITTER_NAME='C O Mitter' GIT_COMMITTER_EMAIL=c@example.com
GIT_AUTHOR_DATE='1112911993 -0730' GIT_COMMITTER_DATE='1112911993 -0730'
export GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
export GIT_AUTHOR_DATE GIT_COMMITTER_DATE

ours () {
	"$GIT" "$@"
}

# fill <who> <format>: who makes a.git, with refs and reflogs of all kinds.
fill () {
	rm -rf a.git &&
	$1 init -q --bare -b main --object-format=$2 --ref-format=reftable \
		a.git &&
	stock -C a.git config core.logAllRefUpdates true &&
	tree=$(stock -C a.git hash-object -t tree -w /dev/null) &&
	A=$(stock -C a.git commit-tree -m a $tree) &&
	B=$(stock -C a.git commit-tree -m b -p $A $tree) &&
	T=$(printf "object %s\ntype commit\ntag T\ntagger %s\n\nT\n" \
		$A "A <a> 1112911993 +0000" | stock -C a.git mktag) &&
	$1 -C a.git update-ref -m "first  of all" refs/heads/main $A &&
	$1 -C a.git update-ref -m second HEAD $B &&
	$1 -C a.git update-ref refs/heads/gone $B &&
	$1 -C a.git update-ref --create-reflog -m tag refs/tags/T $T &&
	$1 -C a.git symbolic-ref refs/heads/sym refs/heads/main &&
	$1 -C a.git update-ref -d refs/heads/gone &&
	for n in $(seq 1 2000)
	do
		echo "create refs/changes/$((n % 10))/$n $A"
	done >new &&
	$1 -C a.git update-ref --stdin <new
}

# What a Git says about a.git, but for reflogs.
ask () {
	$1 -C a.git for-each-ref --format="%(refname) %(objectname) \
%(*objectname) %(symref)" &&
	$1 -C a.git for-each-ref refs/heads refs/changes/3 &&
	$1 -C a.git show-ref -d --head &&
	$1 -C a.git symbolic-ref HEAD &&
	$1 -C a.git rev-parse main~1 refs/tags/T &&
	test_must_fail $1 -C a.git rev-parse -q --verify refs/heads/gone
}

is_sound () {
	stock -C a.git fsck --strict >out 2>&1 &&
	test_must_be_empty out &&
	stock -C a.git refs verify --strict &&
	ours -C a.git fsck
}

agree () {
	ask stock >stock &&
	ask ours >ours &&
	test_cmp stock ours &&
	is_sound
}

for hash in sha1 sha256
do
	for who in ours stock
	do
		test_expect_success "$hash, $who: refs that both agree on" "
			fill $who $hash &&
			agree
		"

		test_expect_success "$hash, $who: reflogs have the expected entries" '
			stock -C a.git reflog list >found &&
			printf "%s\n" HEAD refs/heads/main refs/heads/sym \
				refs/tags/T >expected &&
			sort found >sorted &&
			test_cmp expected sorted &&
			stock -C a.git log -g --date=raw \
				--format="%gd %gn %ge %gs" main >found &&
			printf "%s\n" \
				"main@{1112911993 -0730} C O Mitter c@example.com second" \
				"main@{1112911993 -0730} C O Mitter c@example.com first of all" \
				>expected &&
			test_cmp expected found
		'

		test_expect_success "$hash, $who: the other program changes the same refs" '
			stock -C a.git update-ref -m s1 refs/heads/main $A &&
			ours -C a.git update-ref -m o1 refs/heads/main $B $A &&
			stock -C a.git update-ref refs/heads/x/y $A &&
			test_must_fail ours -C a.git update-ref refs/heads/x $A &&
			ours -C a.git update-ref refs/heads/z/y $A &&
			test_must_fail stock -C a.git update-ref refs/heads/z \
				$A &&
			stock -C a.git update-ref -d refs/heads/z/y &&
			ours -C a.git update-ref -d refs/heads/x/y &&
			ours -C a.git symbolic-ref HEAD refs/heads/other &&
			stock -C a.git symbolic-ref HEAD refs/heads/main &&
			agree &&
			stock -C a.git reflog show refs/heads/main >log &&
			test_line_count 4 log
		'

		test_expect_success "$hash, $who: packed by either program" '
			ours -C a.git pack-refs &&
			test_line_count 1 a.git/reftable/tables.list &&
			agree &&
			stock -C a.git update-ref -d refs/changes/1/11 &&
			stock -C a.git pack-refs &&
			agree &&
			stock -C a.git reflog show refs/heads/main >found &&
			test_cmp log found
		'
	done
done

test_expect_success 'blocks of other sizes, and a long message' '
	fill ours sha1 &&
	printf "[reftable]\n\tblockSize = 700\n\trestartInterval = 3\n" \
		>>a.git/config &&
	ours -C a.git pack-refs &&
	agree &&
	stock -C a.git pack-refs &&
	agree &&
	message=$(printf "x%.0s" $(seq 1 9000)) &&
	ours -C a.git update-ref -m "$message" refs/heads/long $A &&
	stock -C a.git reflog -1 refs/heads/long >found &&
	test $(wc -c <found) -gt 9000 &&
	agree
'

# The last level of an index that stock Git writes may have several blocks.
test_expect_success 'indexes of all depths' '
	for nr in 30 100 300 1000
	do
		rm -rf b.git && stock init -q --bare --ref-format=reftable b.git &&
		stock -C b.git config reftable.blockSize 256 &&
		id=$(stock -C b.git hash-object -t tree -w /dev/null) &&
		for n in $(seq 10 $nr)
		do
			echo "create refs/changes/${n#${n%??}}/$n $id"
		done >new &&
		stock -C b.git update-ref --stdin <new &&
		stock -C b.git pack-refs &&
		for n in 10 27 50 73 99
		do
			stock -C b.git for-each-ref refs/changes/$n >expected &&
			ours -C b.git for-each-ref refs/changes/$n >found &&
			test_cmp expected found || return 1
		done &&
		ours -C b.git refs verify || return 1
	done
'

test_expect_success 'both programs change refs at the same time' '
	fill stock sha1 &&
	for who in ours stock
	do
		for n in $(seq 1 40)
		do
			$who -C a.git -c reftable.lockTimeout=-1 update-ref \
				refs/heads/$who-$n $A || echo $who $n >>failed
		done &
	done &&
	wait &&
	test ! -e failed &&
	agree &&
	ours -C a.git for-each-ref refs/heads >found &&
	test_line_count 82 found
'

test_expect_success 'a linked work tree' '
	rm -rf main linked &&
	stock init -q -b main --ref-format=reftable main &&
	stock -C main commit -q --allow-empty -m one &&
	stock -C main worktree add -q -b side ../linked &&
	(
		cd linked &&
		ours symbolic-ref HEAD >found &&
		echo refs/heads/side >expected &&
		test_cmp expected found &&
		ours update-ref refs/bisect/bad HEAD &&
		ours update-ref refs/heads/shared HEAD &&
		stock for-each-ref >expected &&
		ours for-each-ref >found &&
		test_cmp expected found &&
		test_line_count 4 found
	) &&
	stock -C main for-each-ref >expected &&
	ours -C main for-each-ref >found &&
	test_cmp expected found &&
	test_line_count 3 found &&
	ours -C main rev-parse worktrees/linked/HEAD \
		worktrees/linked/refs/bisect/bad >found &&
	stock -C main rev-parse worktrees/linked/HEAD \
		worktrees/linked/refs/bisect/bad >expected &&
	test_cmp expected found &&
	stock -C main fsck
'

test_done
