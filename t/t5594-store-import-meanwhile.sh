#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='git store import, while another process repacks the repository

The generation is complete and right, or the import fails.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-meanwhile.sh"

store="file://$PWD/store"

# import_while <pattern> <shell command>: import src.git. The command runs when the
# import opens a file or directory whose path matches <pattern>.
import_while () {
	rm -rf store && meanwhile "$1" "$2" "$GIT" store import src.git "$store"
}

# is_complete: export the imported repository, and check that it has all objects of
# src.git.
is_complete () {
	rm -rf out.git && git store export "$store" src.git out.git &&
	stock -C out.git fsck --full --strict &&
	stock -C src.git rev-list --objects --all | sort >expect &&
	stock -C out.git rev-list --objects --all | sort >actual &&
	test_cmp expect actual
}

test_expect_success 'the parent is in loose objects, the tip is in a pack' '
	repo_linear base.git 2 &&
	stock -C base.git repack -adq &&
	mv base.git/objects/pack/*.pack loosen &&
	rm -f base.git/objects/pack/* &&
	stock -C base.git unpack-objects -q <loosen &&
	stock -C base.git rev-list --objects main~1..main >tip &&
	(
		cd base.git && sed "s/ .*//" ../tip |
			stock pack-objects -q objects/pack/pack
	) &&
	stock -C base.git prune-packed -q &&
	ls base.git/objects/??/* &&
	stock -C base.git pack-refs --all && mkdir -p base.git/hooks
'

for at in objects/pack objects/info hooks objects/00
do
	test_expect_success "loose objects are packed when $at is listed" '
		rm -rf src.git && cp -R base.git src.git &&
		import_while "*/src.git/$at" "git -C src.git repack -dq" &&
		is_complete &&
		git store verify --full "$store"
	'

	test_expect_success "all packs are replaced when $at is listed" '
		rm -rf src.git && cp -R base.git src.git &&
		{
			! import_while "*/src.git/$at" \
				"git -C src.git repack -adq" 2>err ||
			is_complete
		} &&
		{
			! test -s err || grep "repacked meanwhile" err
		}
	'
done

# Find a directory on another file system. There, the links of a stage to packs are
# symlinks.
for other in /dev/shm "${TMPDIR:-/tmp}" /var/tmp
do
	if test "$(stat -c %d $other)" != "$(stat -c %d .)" &&
		other=$(mktemp -d $other/gitreach-import-XXXXXX)
	then
		test_set_prereq OTHER_FS
		trap 'rm -rf "$other"' EXIT
		break
	fi
done 2>/dev/null

test_expect_success OTHER_FS 'a bitmap is written again after it was hashed' '
	rm -rf src.git && repo_linear src.git 2000 &&
	stock -C src.git repack -adbq &&
	cp src.git/objects/pack/*.bitmap before &&
	(
		TMPDIR=$other && export TMPDIR &&
		test_must_fail import_while "*/side-files*" \
			"$STOCK_GIT -C src.git \
			-c pack.writeBitmapLookupTable=true repack -adbq"
	) 2>err &&
	grep "bitmap. was changed before it was uploaded; try again" err &&
	ls src.git/objects/pack/*.pack >packs && test_line_count 1 packs &&
	test_must_fail cmp before src.git/objects/pack/*.bitmap &&
	test_must_fail git store export "$store" src.git out.git &&
	git store import src.git "$store" && is_complete
'

test_done
