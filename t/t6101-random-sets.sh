#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='random requests of random histories: bitmaps and walks agree'
. "$(dirname "$0")/lib.sh"

SEED=${GITREACH_TEST_SEED:-1}

# make_history <dir> <seed>: merges with two and three parents, roots,
# submodules; tags of a commit, a tree, a blob, and of tags.
make_history () {
	repo_init "$1" &&
	python3 "$GITREACH_SRC/t/random-history.py" $2 120 even |
		stock -C "$1" fast-import --quiet &&
	stock -C "$1" rev-list --all --topo-order >commits &&
	tip=$(stock -C "$1" rev-list --all --max-count=1) &&
	stock -C "$1" update-ref refs/heads/main $tip &&
	blob=$(echo other | stock -C "$1" hash-object -w --stdin) &&
	stock -C "$1" tag -a -m commit commit $tip &&
	stock -C "$1" tag -a -m tree tree $tip^{tree} &&
	stock -C "$1" tag -a -m blob blob $blob &&
	stock -C "$1" tag -a -m tag tag blob 2>hint &&
	stock -C "$1" update-ref refs/odd/tree $(stock -C "$1" \
		rev-parse $tip~3^{tree}) &&
	git -C "$1" -c bitmapPseudoMerge.all.pattern=refs/tags/ \
		-c bitmapPseudoMerge.all.threshold=now \
		-c bitmapPseudoMerge.all.stableThreshold=never repack -adbq &&
	git -C "$1" bitmap verify >verified &&
	grep "^verified=[1-9]" verified
}

# Every 6th commit gets the parents of one further back, which may be none.
replace_parents () {
	sed -n "1~6p" commits >odd && sed -n "4~6p" commits >other &&
	paste -d" " odd other | while read a b
	do
		test -n "$b" || continue
		stock -C $1 cat-file commit $b | grep "^parent" >parents
		stock -C $1 cat-file commit $a | sed "/^parent/d
			/^tree/r parents" >commit &&
		by=$(stock -C $1 hash-object -t commit -w \
			--stdin <commit) || exit 1
		# no circles
		grep -q $by commits || stock -C $1 update-ref refs/replace/$a $by || exit 1
	done
}

agree () {
	"$GITREACH_SRC/t/interop/random-sets" "$@" "$GIT" "$STOCK_GIT"
}

for round in 1 2
do
	seed=$((SEED * 10 + round))

	test_expect_success "history $seed" '
		rm -rf cut.git replaced.git repo.git &&
		make_history repo.git $seed &&
		agree repo.git 15
	'

	test_expect_success "history $seed, with filters" '
		agree --filters repo.git 30
	'

	test_expect_success "history $seed, cut" '
		cp -R repo.git cut.git &&
		sed -n "1~9p" commits >cut.git/shallow &&
		agree --filters --walks cut.git 15
	'

	test_expect_success "history $seed, with commits replaced" '
		cp -R repo.git replaced.git &&
		replace_parents replaced.git &&
		agree --filters --walks replaced.git 15
	'
done

test_done
