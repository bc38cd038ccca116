#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='core.maxTreeDepth: trees that are nested too deeply

Stock Git knows the key from 2.43 on.'
. "$(dirname "$0")/lib.sh"

test_expect_success 'a tree with others below it, down to depth 5' '
	stock init -q work && mkdir -p work/a/b/c/d/e &&
	echo x >work/a/b/c/d/e/f && stock -C work add . &&
	stock -C work commit -qm one && echo y >work/a/b/c/d/e/f &&
	stock -C work commit -qam two &&
	stock clone -q --bare work bare.git &&
	stock -C bare.git rev-list --objects --all | sort >expect
'

# walks <depth>: exit codes of what enters trees, with that maximum.
walks () {
	for words in "rev-list --objects --all" "rev-list main -- a/b/c/d/e" \
		"rev-list --objects main --not main~1" \
		"pack-objects --all --stdout -q"
	do
		code=0 && git -C bare.git -c core.maxTreeDepth=$1 $words \
			>/dev/null 2>err </dev/null || code=$?
		test $code -eq 0 || grep -q "^fatal: exceeded maximum" err ||
			echo "another error"
		echo $code
	done
}

for depth in -1 0 4
do
	test_expect_success "not as far as $depth" '
		walks $depth >codes && test $(grep -c "^128$" codes) -eq 4 &&
		! grep -v "^128$" codes
	'
done

for depth in 5 2k 100k
do
	test_expect_success "as far as $depth" '
		walks $depth >codes && ! grep -v "^0$" codes &&
		git -C bare.git -c core.maxTreeDepth=$depth rev-list \
			--objects --all >raw && sort raw >actual &&
		test_cmp expect actual
	'
done

test_expect_success 'commands that enter no trees, and names of paths' '
	echo 2 >expect && git -C bare.git -c core.maxTreeDepth=0 rev-list \
		--count --all >actual && test_cmp expect actual &&
	git -C bare.git -c core.maxTreeDepth=0 cat-file -e main:a/b/c/d/e/f &&
	git -C bare.git -c core.maxTreeDepth=0 fsck
'

test_expect_success 'a tree that is wanted by itself, with an index' '
	cp -R bare.git indexed.git && git -C indexed.git repack -adbq &&
	for depth in 4 5
	do
		git -C indexed.git -c core.maxTreeDepth=$depth \
			-c gitreach.bitmapStrategy=bitmap rev-list --objects \
			--use-bitmap-index main^{tree} >out$depth 2>err$depth
		echo $? >code$depth
	done &&
	test "$(cat code4)" = 128 && test "$(cat code5)" = 0 &&
	grep "^fatal: exceeded maximum allowed tree depth" err4 &&
	test $(wc -l <out5) = 7
'

test_expect_success 'a clone' '
	cp -R bare.git deep.git && stock -C deep.git config core.maxTreeDepth 4 &&
	test_must_fail stock clone -q --bare --no-local \
		-u "$GIT upload-pack" deep.git refused.git 2>err &&
	grep "exceeded maximum allowed tree depth" err &&
	stock -C deep.git config core.maxTreeDepth 5 &&
	stock clone -q --bare --no-local -u "$GIT upload-pack" deep.git \
		taken.git && stock -C taken.git fsck
'

test_expect_success 'no number' '
	test_expect_code 128 git -C bare.git -c core.maxTreeDepth=x rev-list \
		--all 2>err &&
	grep "bad numeric config value .x. for .core.maxtreedepth." err
'

test_done
