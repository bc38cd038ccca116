#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='multi-pack-indexes written, read, checked and used up'
. "$(dirname "$0")/lib.sh"

# repo_split <dir> <nr>: its loose objects, packed into <nr> packs
repo_split () {
	(
		cd "$1" &&
		find objects/?? -type f | sed "s|objects/\(..\)/|\1|" | sort >all &&
		lines=$(($(wc -l <all) / $2 + 1)) &&
		split -l $lines all part. &&
		age=1000000000 &&
		for part in part.*
		do
			{ cat $part && head -n 3 all; } | sort -u |
			stock pack-objects -q objects/pack/pack >name &&
			touch -d @$age objects/pack/pack-$(cat name).pack &&
			age=$((age - 100)) || exit 1
		done &&
		stock prune-packed -q && rm -f all part.* name
	)
}

pack_names () {
	(cd "$1/objects/pack" && ls pack-*.idx)
}

for REPO_FORMAT in sha1 sha256
do
	export REPO_FORMAT

	test_expect_success "$REPO_FORMAT: setup" '
		repo_linear base.git 20 &&
		repo_split base.git 7 &&
		test $(pack_names base.git | wc -l) -eq 7 &&
		repo_objects base.git >want
	'

	for options in "" --stdin-packs "--preferred-pack=PACK"
	do
		test_expect_success "$REPO_FORMAT: write $options, byte for byte" '
			rm -rf stock.git ours.git &&
			cp -Rp base.git stock.git && cp -Rp base.git ours.git &&
			pack=$(pack_names base.git | sed -n 4p) &&
			pack_names base.git | sed 2d >in &&
			args=$(echo "$options" | sed "s/PACK/$pack/") &&
			stock -C stock.git multi-pack-index write $args <in &&
			"$GIT" -C ours.git multi-pack-index write $args <in &&
			cmp stock.git/objects/pack/multi-pack-index \
				ours.git/objects/pack/multi-pack-index &&
			stock -C ours.git multi-pack-index verify &&
			"$GIT" -C stock.git multi-pack-index verify &&
			stock -C ours.git fsck --strict &&
			repo_objects ours.git >got && test_cmp want got &&
			"$GIT" -C stock.git rev-list --objects --all \
				--no-object-names | LC_ALL=C sort >got &&
			test_cmp want got &&
			"$GIT" -C stock.git cat-file --batch-check <want >got &&
			stock -C base.git cat-file --batch-check <want >exp &&
			test_cmp exp got
		'
	done

	test_expect_success "$REPO_FORMAT: repack, then expire" '
		rm -rf ours.git && cp -Rp base.git ours.git &&
		"$GIT" -C ours.git multi-pack-index write &&
		"$GIT" -C ours.git multi-pack-index repack &&
		test $(pack_names ours.git | wc -l) -eq 8 &&
		stock -C ours.git multi-pack-index verify &&
		"$GIT" -C ours.git multi-pack-index expire &&
		test $(pack_names ours.git | wc -l) -eq 1 &&
		stock -C ours.git multi-pack-index verify &&
		stock -C ours.git fsck --strict &&
		repo_objects ours.git >got && test_cmp want got
	'
	rm -rf base.git stock.git ours.git
done

REPO_FORMAT=sha1

test_expect_success 'setup' '
	repo_linear base.git 20 &&
	repo_split base.git 7 &&
	repo_objects base.git >want
'

# same <args>...: stock Git and ours, in equal repositories, end the same, say
# the same on standard error and leave packs with the same objects.
same () {
	rm -rf stock.git ours.git &&
	cp -Rp base.git stock.git && cp -Rp base.git ours.git &&
	for git in stock ours
	do
		if test $git = stock
		then
			stock -C stock.git "$@" </dev/null >stock.out 2>stock.err
		else
			"$GIT" -C ours.git "$@" </dev/null >ours.out 2>ours.err
		fi
		echo $? >>$git.out
		(
			cd $git.git/objects/pack &&
			for idx in pack-*.idx
			do
				stock show-index <$idx | cut -d" " -f2 |
					stock hash-object --stdin
			done | LC_ALL=C sort
		) >$git.packs
	done &&
	test_cmp stock.out ours.out &&
	test_cmp stock.packs ours.packs &&
	sed "/^usage:/,\$d" stock.err >stock.said &&
	sed "/^usage:/,\$d" ours.err >ours.said &&
	test_cmp stock.said ours.said
}

test_expect_success 'without a multi-pack-index there is nothing to do' '
	same multi-pack-index verify &&
	same multi-pack-index expire &&
	same multi-pack-index repack
'

test_expect_success 'wrong usage' '
	same multi-pack-index &&
	same multi-pack-index frotz &&
	same multi-pack-index write --frotz &&
	same multi-pack-index verify --batch-size=1 &&
	same multi-pack-index write more
'

test_expect_success 'no packs' '
	cp -R base.git none.git &&
	test_expect_code 255 "$GIT" -C none.git multi-pack-index write \
		--stdin-packs </dev/null 2>err &&
	echo "error: no pack files to index." >expect &&
	test_cmp expect err &&
	"$GIT" -C none.git multi-pack-index write --incremental \
		--stdin-packs </dev/null >out &&
	test_must_be_empty out
'

stock -C base.git multi-pack-index write
for size in 0 1 500 800 1500 2k 10g
do
	test_expect_success "repack --batch-size=$size chooses the same packs" '
		same multi-pack-index repack --batch-size=$size
	'
done

test_expect_success 'kept packs' '
	touch base.git/objects/pack/$(pack_names base.git | sed -n "3s/idx/keep/p") &&
	same multi-pack-index repack &&
	same -c repack.packKeptObjects=false multi-pack-index repack &&
	"$GIT" -C ours.git multi-pack-index expire &&
	test $(pack_names ours.git | wc -l) -eq 2 &&
	stock -C ours.git fsck --strict &&
	rm base.git/objects/pack/*.keep
'

test_expect_success 'a pack that is not covered is searched too' '
	rm -rf ours.git && cp -Rp base.git ours.git &&
	pack_names ours.git | head -n 3 |
		"$GIT" -C ours.git multi-pack-index write --stdin-packs &&
	"$GIT" -C ours.git rev-list --objects --all --no-object-names |
		LC_ALL=C sort >got &&
	test_cmp want got &&
	for i in 1 10 50
	do
		id=$(sed -n ${i}p want) &&
		"$GIT" -C ours.git rev-parse --short $id >got &&
		stock -C base.git rev-parse --short $id >exp &&
		test_cmp exp got || return 1
	done
'

test_expect_success 'an alternate has one of its own' '
	repo_init borrower.git &&
	echo "$PWD/base.git/objects" >borrower.git/objects/info/alternates &&
	"$GIT" -C borrower.git cat-file --batch-check <want >got &&
	stock -C base.git cat-file --batch-check <want >exp &&
	test_cmp exp got &&
	rm base.git/objects/pack/multi-pack-index &&
	"$GIT" -C borrower.git multi-pack-index \
		--object-dir="$PWD/base.git/objects" write &&
	stock -C base.git multi-pack-index verify &&
	! test -e borrower.git/objects/pack/multi-pack-index
'

test_expect_success '--object-dir: a directory that is no alternate' '
	repo_init elsewhere.git &&
	for dir in "a:b" "c\"d\\e"
	do
		mkdir "$dir" && cp -R base.git/objects/pack "$dir" &&
		rm -f "$dir"/pack/multi* &&
		"$GIT" -C elsewhere.git multi-pack-index \
			--object-dir="../$dir" write &&
		"$GIT" -C elsewhere.git multi-pack-index \
			--object-dir="../$dir" verify &&
		test -f "$dir/pack/multi-pack-index" || return
	done &&
	! test -e elsewhere.git/objects/pack/multi-pack-index &&
	test_expect_code 128 "$GIT" -C elsewhere.git multi-pack-index \
		--object-dir=../nowhere write
'

test_expect_success 'a damaged multi-pack-index is ignored with a warning' '
	for damage in "1,0" "4,9" "5,2" "6,77" "11,99" "700,255"
	do
		rm -rf ours.git && cp -Rp base.git ours.git &&
		at=${damage%,*} value=$(printf %o ${damage#*,}) &&
		printf "\\$value" | dd of=ours.git/objects/pack/multi-pack-index \
			bs=1 seek=$at conv=notrunc 2>/dev/null &&
		"$GIT" -C ours.git rev-list --objects --all --no-object-names \
			2>err | LC_ALL=C sort >got &&
		test_cmp want got && grep -E "^(warning|error): " err &&
		test_expect_code 1 "$GIT" -C ours.git multi-pack-index verify ||
		return 1
	done
'

test_expect_success 'verify prints the errors of stock Git' '
	size=$(wc -c <base.git/objects/pack/multi-pack-index) &&
	for at in $((size - 3)) $((size - 57)) $((size - 53))
	do
		rm -rf bad.git && mv base.git bad.git && cp -Rp bad.git base.git &&
		chmod u+w base.git/objects/pack/multi-pack-index &&
		printf "\\1" | dd of=base.git/objects/pack/multi-pack-index \
			bs=1 seek=$at conv=notrunc 2>/dev/null &&
		same multi-pack-index verify &&
		rm -rf base.git && mv bad.git base.git || return 1
	done
'

test_expect_success 'core.multiPackIndex=false: the multi-pack-index is not read' '
	rm -rf ours.git && cp -Rp base.git ours.git &&
	printf "broken" >ours.git/objects/pack/multi-pack-index &&
	"$GIT" -C ours.git -c core.multiPackIndex=false rev-list --all >got \
		2>err &&
	test_line_count 0 err &&
	test_expect_code 128 "$GIT" -C ours.git -c core.multiPackIndex=maybe \
		rev-list --all
'

test_expect_success 'a multi-pack-index that names a missing pack is ignored' '
	rm -rf ours.git && cp -Rp base.git ours.git &&
	"$GIT" -C ours.git repack -aq &&
	rm -f ours.git/objects/pack/$(pack_names base.git | sed -n "2s/idx/*/p") &&
	"$GIT" -C ours.git rev-list --objects --all --no-object-names 2>err |
		LC_ALL=C sort >got &&
	test_cmp want got && grep "does not exist" err
'

# Scripts look for these words of stock Git.
test_expect_success 'a pack of a multi-pack-index has lost its index' '
	rm -rf ours.git && cp -Rp base.git ours.git &&
	"$GIT" -C ours.git repack -aq &&
	lost=$(pack_names base.git | sed -n "2s/.idx//p") &&
	rm -f ours.git/objects/pack/$lost.idx &&
	"$GIT" -C ours.git rev-list --objects --all --no-object-names 2>err |
		LC_ALL=C sort >got &&
	test_cmp want got &&
	grep "packfile .*objects/pack/$lost.pack index unavailable" err
'

test_expect_success 'midx.version' '
	"$GIT" -C base.git -c midx.version=2 multi-pack-index write &&
	test "$(head -c 5 base.git/objects/pack/multi-pack-index | tail -c 1 |
		od -An -tu1 | tr -d " ")" = 2 &&
	"$GIT" -C base.git multi-pack-index verify &&
	test_must_fail "$GIT" -C base.git -c midx.version=3 \
		multi-pack-index write &&
	"$GIT" -C base.git multi-pack-index write &&
	stock -C base.git multi-pack-index verify
'

# Stock Git's repack starts pack-objects, which reads these keys. Now and then the
# signal SIGPIPE ends stock Git first.
test_expect_success 'a wrong key of pack-objects stops only repack' '
	for key in pack.window pack.depth pack.threads pack.indexVersion \
		pack.writeReverseIndex core.bigFileThreshold
	do
		rm -rf ours.git && cp -Rp base.git ours.git &&
		"$GIT" -C ours.git -c $key=x multi-pack-index write &&
		"$GIT" -C ours.git -c $key=x multi-pack-index write --bitmap &&
		"$GIT" -C ours.git -c $key=x multi-pack-index expire &&
		rm -f ours.git/objects/pack/multi-pack-index* &&
		"$GIT" -C ours.git -c $key=x multi-pack-index repack &&
		"$GIT" -C ours.git multi-pack-index write &&
		pack_names ours.git >before &&
		test_expect_code 1 "$GIT" -C ours.git -c $key=x \
			multi-pack-index repack 2>err &&
		grep "^fatal: bad .* config value .x. for" err &&
		grep "^error: could not finish pack-objects" err &&
		pack_names ours.git >after &&
		test_cmp before after || return 1
	done
'

test_expect_success 'wrong keys for bitmaps stop write and compact' '
	rm -rf ours.git && cp -Rp base.git ours.git &&
	for key in pack.writeBitmapHashCache pack.writeBitmapLookupTable
	do
		for args in write "write --incremental" "compact a b"
		do
			test_expect_code 128 "$GIT" -C ours.git -c $key=x \
				multi-pack-index $args 2>err &&
			grep "^fatal: bad boolean config value .x. for" err ||
				return 1
		done
	done
'

test_expect_success 'a writer at work keeps others out' '
	rm -f base.git/objects/pack/multi-pack-index &&
	>base.git/objects/pack/multi-pack-index.lock &&
	test_expect_code 128 "$GIT" -C base.git multi-pack-index write 2>err &&
	grep "multi-pack-index.lock" err &&
	rm base.git/objects/pack/multi-pack-index.lock
'

test_expect_success 'bitmap index and order of an old one are removed' '
	rm -rf ours.git && cp -Rp base.git ours.git &&
	stock -C ours.git multi-pack-index write --bitmap &&
	ls ours.git/objects/pack/multi-pack-index-*.bitmap &&
	>ours.git/objects/pack/multi-pack-index-1234.rev &&
	pack_names ours.git | sed 1d |
		"$GIT" -C ours.git multi-pack-index write --stdin-packs &&
	test "$(ls ours.git/objects/pack | grep ^multi)" = multi-pack-index &&
	stock -C ours.git fsck --strict
'

test_expect_success 'repack --object-dir: nothing to do without an index there' '
	repo_linear one.git 2 && repo_linear two.git 2 &&
	echo ../../one.git/objects >two.git/objects/info/alternates &&
	"$GIT" -C two.git multi-pack-index --object-dir=../one.git/objects \
		repack
'

test_done
