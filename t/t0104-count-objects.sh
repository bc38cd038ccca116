#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='count-objects prints what stock Git prints'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-compare.sh"

# Compare all forms of the output with those of stock Git.
all_forms () {
	same count-objects &&
	same count-objects -H &&
	same count-objects -v &&
	same count-objects -vH
}

test_expect_success 'loose objects' '
	refs_repository repo &&
	(cd repo && all_forms)
'

test_expect_success 'loose and packed objects are counted' '
	stock -C repo repack -aq &&
	(cd repo && all_forms)
'

test_expect_success 'packed objects are counted' '
	stock -C repo repack -adq &&
	(cd repo && all_forms)
'

test_expect_success 'alternates' '
	stock clone -q --shared --bare repo shared.git &&
	(cd shared.git && all_forms)
'

test_expect_success 'garbage' '
	objects=repo/.git/objects &&
	mkdir -p $objects/ab $objects/pack/dir &&
	echo x >$objects/ab/garbage &&
	echo x >$objects/pack/tmp_pack_x &&
	echo x >$objects/pack/pack-1.idx &&
	echo x >$objects/pack/pack-2.pack &&
	echo x >$objects/pack/pack-3.keep &&
	echo x >$objects/pack/multi-pack-index.lock &&
	echo x >$objects/pack/multi-pack-index-1.bitmap &&
	echo x >$objects/pack/multi-pack-index-1.other &&
	(cd repo && all_forms) &&
	test_cmp_sorted expect.err actual.err
'

for size in 0 1 1023 1024 1025 1030 1536 1048575 1048576 1048577 1050000 \
	1073741823 1073741824 1073741825 1084479242 1717986918
do
	test_expect_success "a file of $size bytes" '
		truncate -s $size repo/.git/objects/pack/size &&
		(cd repo && same count-objects -vH)
	'
done

test_expect_success 'usage' '
	(cd repo && same count-objects x && same count-objects --none)
'

test_done
