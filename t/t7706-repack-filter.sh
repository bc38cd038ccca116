#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='repack --filter puts apart what a filter leaves out'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-fault.sh"

test_expect_success 'setup' '
	repo_nested work &&
	echo /a/b/ >work/patterns && stock -C work add patterns &&
	stock -C work commit -qm patterns &&
	stock clone -q --bare --no-local work base.git &&
	stock -C base.git repack -adq &&
	stock -C base.git rev-list --objects --all | cut -c1-40 | sort >all
'

# fresh: r.git, and a directory that is an alternate of it.
fresh () {
	rm -rf r.git far.git &&
	cp -R base.git r.git &&
	stock init -q --bare far.git &&
	echo ../../far.git/objects >r.git/objects/info/alternates
}

# ids <dir>: the objects of its packs
ids () {
	for idx in "$1"/objects/pack/*.idx
	do
		stock show-index <$idx || return
	done | cut -d" " -f2 | sort
}

# pack_of <dir> <object>: the objects of the pack that has this object
pack_of () {
	for idx in "$1"/objects/pack/*.idx
	do
		stock show-index <$idx | cut -d" " -f2 | sort >in_pack &&
			! grep -q "$2" in_pack || cat in_pack
	done
}

# passing <spec>: what a filter lets through
passing () {
	stock -C base.git rev-list --objects --all --filter="$1" |
		cut -c1-40 | sort
}

for spec in blob:none blob:limit=1000 tree:1 tree:0 object:type=tree \
	sparse:oid=main:patterns combine:tree:3+blob:limit=500
do
	test_expect_success "--filter=$spec" "
		fresh && passing $spec >passing &&
		comm -13 passing all >rest &&
		\"\$GIT\" -C r.git repack -adq --filter=$spec &&
		test \$(ls r.git/objects/pack/*.pack | wc -l) -eq 2 &&
		ids r.git >actual && test_cmp all actual &&
		stock -C r.git fsck --strict
	"

	test_expect_success "--filter=$spec --filter-to" "
		fresh && passing $spec >passing &&
		comm -13 passing all >rest &&
		\"\$GIT\" -C r.git repack -adq --filter=$spec \
			--filter-to=../far.git/objects/pack/pack &&
		test \$(ls r.git/objects/pack/*.pack | wc -l) -eq 1 &&
		ids r.git >actual && test_cmp passing actual &&
		ids far.git >actual && test_cmp rest actual &&
		stock -C r.git fsck --strict
	"

	test_expect_success "pack-objects --filter=$spec to a file" "
		passing $spec >expect && mkdir -p files/objects/pack &&
		rm -f files/objects/pack/* &&
		\"\$GIT\" -C base.git pack-objects -q --all --filter=$spec \
			../files/objects/pack/pack </dev/null &&
		ids files >actual && test_cmp expect actual
	"
done

test_expect_success 'loose objects go into the filtered packs, too' '
	rm -rf loose.git && stock clone -q --bare work loose.git &&
	"$GIT" -C loose.git repack -dq --filter=blob:none &&
	test $(ls loose.git/objects/pack/*.pack | wc -l) -eq 2 &&
	test -z "$(find loose.git/objects/?? -type f)" &&
	ids loose.git >actual && test_cmp all actual
'

test_expect_success 'with --cruft, filtered packs have no unreachable objects' '
	fresh && blob=$(echo cruft | stock -C r.git hash-object -w --stdin) &&
	"$GIT" -C r.git repack --cruft -dq --filter=blob:none &&
	test $(ls r.git/objects/pack/*.pack | wc -l) -eq 3 &&
	idx=$(ls r.git/objects/pack/*.mtimes | sed "s/mtimes/idx/") &&
	stock show-index <$idx >cruft &&
	test $(wc -l <cruft) -eq 1 && grep $blob cruft
'

# with_unreachable: r.git with an old pack of unreachable objects, and an unreachable
# loose object. The file `lost` lists all unreachable objects, `packed` those in the pack.
with_unreachable () {
	fresh &&
	blob=$(echo lost | stock -C r.git hash-object -w --stdin) &&
	tree=$(printf "100644 blob $blob\tfile\n" | stock -C r.git mktree) &&
	commit=$(stock -C r.git commit-tree -m lost $tree) &&
	printf "%s\n" $blob $tree $commit | sort >packed &&
	pack=$(stock -C r.git pack-objects -q objects/pack/pack <packed) &&
	touch -d 2020-01-01 r.git/objects/pack/pack-$pack.* &&
	stock -C r.git prune-packed -q &&
	loose=$(echo loose | stock -C r.git hash-object -w --stdin) &&
	{ cat packed && echo $loose; } | sort >lost &&
	passing blob:none >passing && comm -13 passing all >rest
}

for mode in -a "--cruft --cruft-expiration=now" "-A --unpack-unreachable=now"
do
	test_expect_success "-d $mode --filter: unreachable packed objects stay" '
		with_unreachable && sort packed rest >expect &&
		"$GIT" -C r.git repack -dq '"$mode"' --filter=blob:none &&
		pack_of r.git $commit >actual && test_cmp expect actual &&
		stock -C r.git cat-file -e $loose &&
		stock -C r.git fsck --strict
	'

	test_expect_success "-d $mode --filter --filter-to" '
		with_unreachable && sort packed rest >expect &&
		"$GIT" -C r.git repack -dq '"$mode"' --filter=blob:none \
			--filter-to=../far.git/objects/pack/pack &&
		ids far.git >actual && test_cmp expect actual &&
		ids r.git >actual && test_cmp passing actual &&
		stock -C r.git fsck --strict
	'
done

test_expect_success "--filter: unreachable objects that have a place of their own" '
	with_unreachable &&
	"$GIT" -C r.git repack --cruft -dq --filter=blob:none &&
	idx=$(ls r.git/objects/pack/*.mtimes | sed "s/mtimes/idx/") &&
	stock show-index <$idx | cut -d" " -f2 | sort >actual &&
	test_cmp lost actual &&
	with_unreachable &&
	"$GIT" -C r.git repack -A -dq --filter=blob:none &&
	(cd r.git/objects && ls -d ??/* | tr -d /) | sort >actual &&
	test_cmp lost actual &&
	ids r.git >actual && test_cmp all actual
'

test_expect_success 'gc.repackFilter keeps old unreachable packed objects' '
	with_unreachable &&
	"$GIT" -C r.git -c gc.repackFilter=blob:none gc -q --prune=now &&
	sort all packed >expect &&
	ids r.git >actual && test_cmp expect actual
'

test_expect_success 'gc.repackFilter and gc.repackFilterTo' '
	fresh && passing blob:none >passing &&
	comm -13 passing all >rest &&
	"$GIT" -C r.git -c gc.repackFilter=blob:none -c gc.repackFilterTo="$(
		pwd)/far.git/objects/pack/pack" gc --quiet &&
	ids r.git >actual && test_cmp passing actual &&
	ids far.git >actual && test_cmp rest actual &&
	stock -C r.git fsck --strict
'

test_expect_success 'no bitmap index is written, with a warning if requested' '
	fresh && "$GIT" -C r.git repack -adbq --filter=blob:none 2>err &&
	grep "disabling bitmap writing, as some objects are not" err &&
	! ls r.git/objects/pack/*.bitmap &&
	fresh && "$GIT" -C r.git repack -adq --filter=blob:none 2>err &&
	test_must_be_empty err && ! ls r.git/objects/pack/*.bitmap
'

test_expect_success 'option combinations that are refused' '
	fresh && rm -f actual &&
	for words in "-ad --filter-to=x" "-ad --filter=no" \
		"-d --geometric=2 --filter=blob:none" \
		"-ad --filter=sparse:oid=no:such"
	do
		test_expect_code 128 "$GIT" -C r.git repack $words 2>>actual ||
			return
	done &&
	cat >expect <<-\EOF &&
	fatal: option '\''--filter-to'\'' can only be used along with '\''--filter'\''
	fatal: invalid filter-spec '\''no'\''
	fatal: options '\''--geometric'\'' and '\''--filter'\'' cannot be used together
	fatal: unable to access sparse blob in '\''no:such'\''
	EOF
	test_cmp expect actual
'

# Nothing is lost, and the next repack finds its way.
is_whole () {
	fault_exited $1 &&
	stock -C r.git fsck --connectivity-only 2>broken &&
	"$GIT" -C r.git repack -adq --filter=blob:none \
		--filter-to=../far.git/objects/pack/pack &&
	ids r.git | sort -u >actual && test_cmp passing actual &&
	ids far.git | sort -u >actual && test_cmp rest actual
}

for mode in kill lose EIO ENOSPC
do
	step=11
	test $mode != kill || step=3

	test_expect_success "--filter --filter-to: $mode at calls" "
		passing blob:none >passing && comm -13 passing all >rest &&
		fault_step=\$(fault_thin $step) &&
		fault_each $mode fresh '$GIT -C r.git repack -adq
			--filter=blob:none
			--filter-to=../far.git/objects/pack/pack' \
			'is_whole $mode'
	"
done

test_done
