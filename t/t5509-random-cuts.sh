#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='random requests of shallow clients: a model of cut history'
. "$(dirname "$0")/lib.sh"

SEED=${GITREACH_TEST_SEED:-1}
LIBGITREACH=$GITREACH_BUILD/libgitreach.so
export LIBGITREACH

# A sanitizer's run time would have to be in Python.
if ! test_have_prereq PLAIN
then
	skip_all='a plain build is needed'
	test_done
fi

# Commits that merge each other crosswise, merges of many, roots, clocks that go
# back; blobs just as large as the limits of filters, and one byte more or less;
# tags of a commit, a tag, a tree, a blob; a ref of a tree.
make_history () {
	repo_init "$1" &&
	python3 "$GITREACH_SRC/t/random-history.py" $2 150 $3 sizes |
		stock -C "$1" fast-import --quiet &&
	for i in 1 20 63
	do
		add=$(stock -C "$1" rev-parse t$i) &&
		stock -C "$1" update-ref refs/heads/b$i $add || return 1
	done &&
	stock -C "$1" symbolic-ref HEAD refs/heads/main &&
	tip=$(stock -C "$1" rev-list --date-order --all --max-count=1) &&
	stock -C "$1" update-ref refs/heads/main $tip &&
	rm -rf crossed.git octopus.git &&
	repo_criss_cross crossed.git 20 && repo_octopus octopus.git 9 &&
	for name in crossed octopus
	do
		stock -C "$1" fetch -q --no-tags ../$name.git \
			"+refs/heads/*:refs/heads/$name/*" || return 1
	done &&
	repo_tags "$1" &&
	some=$(stock -C "$1" rev-list --max-count=3 main | tail -n 1) &&
	stock -C "$1" update-ref refs/odd/tree $some^{tree}
}

# One pack with bitmaps and prepared answers; what is newer is in another one.
pack_most () {
	git -C "$1" repack -adbq &&
	stream_commit newer 1 1700000000 newer newer \
		"from refs/heads/main^0" "merge refs/heads/crossed/side^0" |
	stock -C "$1" -c fastimport.unpackLimit=0 fast-import --quiet \
		--date-format=raw
}

# Of every 6th commit another one takes the place, with other parents.
replace_parents () {
	stock -C "$1" rev-list --all --topo-order >commits &&
	sed -n "1~6p" commits >odd && sed -n "4~6p" commits >other &&
	paste -d" " odd other | while read a b
	do
		test -n "$b" || continue
		stock -C "$1" cat-file commit $b | grep "^parent" >parents
		stock -C "$1" cat-file commit $a | sed "/^parent/d
			/^tree/r parents" >commit &&
		by=$(stock -C "$1" hash-object -t commit -w --stdin <commit) ||
			exit 1
		grep -q $by commits ||
			stock -C "$1" update-ref refs/replace/$a $by || exit 1
	done
}

agree () {
	repo=$1 nr=$2
	shift 2
	GITREACH_TEST_SEED=$seed "$GITREACH_SRC/t/interop/random-cuts" $repo \
		$nr "$GIT" "$STOCK_GIT" "$@" >out ||
	{
		cat out
		return 1
	}
	grep "^ours: $nr requests, 0 wrong; [1-9]" out
}

round=0
for dates in even ties skew
do
	round=$((round + 1))
	seed=$((SEED * 10 + round))

	test_expect_success "history $seed, dates $dates" '
		rm -rf repo.git cut.git replaced.git &&
		make_history repo.git $seed $dates && pack_most repo.git &&
		agree repo.git 120 2 6 &&
		grep "^found by: .*bitmap" out
	'

	test_expect_success "history $seed, with commits replaced" '
		cp -R repo.git replaced.git &&
		replace_parents replaced.git &&
		agree replaced.git 40 2 4
	'

	# Stock Git is not asked: it does not tell all of where a server's own
	# history ends, so that its client may lack what it was promised.
	test_expect_success "history $seed, cut at the server" '
		cp -R repo.git cut.git &&
		sed -n "1~9p" commits >cut.git/shallow &&
		agree cut.git 40 2 0
	'
done

# Most that is wanted is had: stock Git sends none of that.
test_expect_success 'a history of few commits, and an empty one' '
	seed=$SEED &&
	repo_many few.git 3 && agree few.git 40 2 0 &&
	stock -C few.git symbolic-ref HEAD refs/heads/none &&
	agree few.git 40 2 0 &&
	stock init -q --bare none.git &&
	test_must_fail "$GITREACH_SRC/t/interop/random-cuts" none.git 20 \
		"$GIT" "$STOCK_GIT" 2>err &&
	echo "none.git: no reference is of a commit" >expect &&
	test_cmp expect err
'

test_done
