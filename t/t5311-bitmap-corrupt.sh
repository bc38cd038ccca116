#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='damaged bitmaps, orders, indexes and packs: never a wrong answer'
. "$(dirname "$0")/lib.sh"

# damage <file> <offset> [<xor>]: change the byte there.
damage () {
	was=$(od -An -tu1 -j$2 -N1 "$1") &&
	printf "$(printf "\\%03o" $((was ^ ${3:-255})))" |
	dd of="$1" bs=1 seek=$2 conv=notrunc 2>/dev/null
}

# swap <file> <offset> <offset>: exchange two numbers of four bytes.
swap () {
	dd if="$1" of=swap.a bs=1 skip=$2 count=4 2>/dev/null &&
	dd if="$1" of=swap.b bs=1 skip=$3 count=4 2>/dev/null &&
	dd if=swap.a of="$1" bs=1 seek=$3 conv=notrunc 2>/dev/null &&
	dd if=swap.b of="$1" bs=1 seek=$2 conv=notrunc 2>/dev/null
}

# fresh <ext>: an undamaged repository, and $file, one of its pack's files.
fresh () {
	rm -rf bad.git &&
	cp -R good.git bad.git &&
	chmod -R u+w bad.git &&
	file=$(echo bad.git/objects/pack/*.$1)
}

test_expect_success 'a repository with a bitmap index, and what is right' '
	repo_linear good.git 30 &&
	repo_tags good.git &&
	git -C good.git repack -adbq &&
	stock -C good.git rev-list --objects --all >raw &&
	cut -d" " -f1 raw | sort >all &&
	wc -l <all >all.nr &&
	stock -C good.git rev-list --objects --use-bitmap-index \
		main --not main~4 >raw &&
	cut -d" " -f1 raw | sort >some &&
	for ext in pack idx rev bitmap
	do
		wc -c <"$(echo good.git/objects/pack/*.$ext)" >$ext.len ||
		return 1
	done
'

# still_right <dir>: exit code 0 and the right answers, warnings go to "err".
still_right () {
	git -C "$1" rev-list --objects --all --use-bitmap-index >raw 2>err &&
	cut -d" " -f1 raw | sort >actual &&
	test_cmp all actual &&
	git -C "$1" rev-list --objects --all --count --use-bitmap-index \
		>actual 2>"/dev/null" &&
	test_cmp all.nr actual &&
	git -C "$1" rev-list --objects --use-bitmap-index main --not main~4 \
		>raw 2>"/dev/null" &&
	cut -d" " -f1 raw | sort >actual &&
	comm -23 some actual >missing &&
	test_must_be_empty missing &&
	comm -13 all actual >surplus &&
	test_must_be_empty surplus &&
	git -C "$1" pack-objects --all --stdout -q --use-bitmap-index \
		</dev/null 2>pack.err >out.pack &&
	git index-pack out.pack >"/dev/null" &&
	stock show-index <out.idx >raw &&
	cut -d" " -f2 raw | sort >actual &&
	test_cmp all actual
}

# One line that names the file, and nothing else.
warned () {
	test_line_count 1 err &&
	grep "^warning: .*$1" err
}

test_expect_success 'an undamaged repository gives no warning' '
	still_right good.git &&
	test_must_be_empty err
'

test_expect_success 'a bitmap index that was cut short' '
	for len in 0 1 8 31 32 33 100 $(($(cat bitmap.len) / 2)) \
		$(($(cat bitmap.len) - 21)) $(($(cat bitmap.len) - 1))
	do
		fresh bitmap && truncate -s $len "$file" &&
		still_right bad.git && warned "[.]bitmap" || return 1
	done
'

test_expect_success 'a bitmap index with a changed byte, anywhere' '
	len=$(cat bitmap.len) &&
	for at in 0 4 5 6 7 8 11 12 31 33 60 200 $((len / 3)) $((len / 2)) \
		$((len * 2 / 3)) $((len - 150)) $((len - 22)) $((len - 1))
	do
		fresh bitmap && damage "$file" $at 4 &&
		still_right bad.git && warned "[.]bitmap" || return 1
	done
'

test_expect_success 'a bitmap index with extra bytes at its end' '
	fresh bitmap && echo more >>"$file" &&
	still_right bad.git && warned "[.]bitmap"
'

test_expect_success 'rows of the lookup table were exchanged' '
	fresh bitmap &&
	nr=$(od -An -tu4 --endian=big -j8 -N4 "$file") &&
	table=$(($(cat bitmap.len) - 20 - 4 * $(cat all.nr) - 16 * nr)) &&
	swap "$file" $((table + 8)) $((table + 24)) &&
	still_right bad.git && warned "[.]bitmap" &&
	fresh bitmap &&
	swap "$file" $table $((table + 16)) &&
	still_right bad.git && warned "[.]bitmap"
'

test_expect_success 'the index of another pack' '
	fresh bitmap &&
	repo_linear other.git 12 && git -C other.git repack -adbq &&
	cat other.git/objects/pack/*.bitmap >"$file" &&
	still_right bad.git && warned "[.]bitmap"
'

test_expect_success 'a directory, and what cannot be read, in its place' '
	fresh bitmap && rm "$file" && mkdir "$file" &&
	still_right bad.git && warned "[.]bitmap"
'

test_expect_success '--test-bitmap names the wrong object' '
	fresh bitmap && damage "$file" 200 &&
	test_expect_code 128 git -C bad.git rev-list --test-bitmap main 2>err &&
	test_line_count 1 err &&
	grep "^fatal: .*[.]bitmap" err
'

test_expect_success 'a clone from a repository with a damaged index' '
	for at in 40 200 $(($(cat bitmap.len) / 2))
	do
		fresh bitmap && damage "$file" $at &&
		rm -rf clone.git &&
		stock clone -q --bare --no-local -u "$GIT upload-pack" \
			bad.git clone.git 2>err &&
		stock -C clone.git fsck --full || return 1
	done
'

# ---- the order of the pack

# files <mark> <nr>: for fast-import, <nr> small files
files () {
	seq 1 $2 | awk -v mark=$1 '{
		printf "M 100644 inline %s%d/%d\n", mark, $1 % 90, $1
		printf "data <<E\n%s %d\nE\n", mark, $1
	}'
}

# commit <nr>: for fast-import, the head of a commit
commit () {
	printf "commit refs/heads/main\ncommitter A <a@b> $1 +0000\ndata 0\n"
}

# lines <path> <nr>: for fast-import, a file of numbered lines
lines () {
	printf "M 100644 inline $1\ndata <<E\n" && seq 1 $2 && echo E
}

# An index of more than 8,192 objects is verified only for a large answer. In the pack,
# new/numbers is a delta of old/numbers. If the bitmap says that the client has
# old/numbers, the delta is sent, and the client appends old/numbers to its new pack.
test_expect_success 'a walk after a damaged index takes no delta base from the index' '
	stock init -q --bare -b none large.git &&
	{
		commit 1 && lines old/numbers 50001 && files a 8500 &&
		commit 2 && echo D old/numbers &&
		commit 3 && lines new/numbers 50000 && files b 900
	} >stream &&
	stock -C large.git fast-import --quiet <stream &&
	git -C large.git repack -adbfq &&
	old=$(stock -C large.git rev-parse main~2:old/numbers) &&
	stock init -q --bare client.git &&
	stock -C client.git fetch -q ../large.git main &&
	stock -C client.git update-ref refs/heads/main FETCH_HEAD~1 &&
	stock -C client.git repack -adq &&
	file=$(echo large.git/objects/pack/*.bitmap) &&
	chmod u+w "$file" &&
	for packs in 2 1
	do
		rm -rf fetched.git && cp -R client.git fetched.git &&
		stock -C fetched.git -c fetch.unpackLimit=1 fetch -q \
			--upload-pack "$GIT upload-pack" ../large.git main &&
		for idx in fetched.git/objects/pack/*.idx
		do
			stock show-index --object-format=sha1 <$idx || return 1
		done >ids &&
		grep " $old " ids >found &&
		test_line_count $packs found &&
		damage "$file" $(($(wc -c <"$file") - 1)) || return 1
	done
'

test_expect_success 'a reverse index whose entries were exchanged' '
	last=$((12 + 4 * $(cat all.nr) - 4)) &&
	for pair in "12 16" "12 $last" "40 200" "200 204" "$last 100"
	do
		fresh rev && swap "$file" $pair &&
		still_right bad.git || return 1
	done
'

test_expect_success 'a reverse index with changed bytes, or cut short' '
	for at in 0 7 11 12 15 100 $(($(cat rev.len) / 2))
	do
		fresh rev && damage "$file" $at 1 &&
		still_right bad.git || return 1
	done &&
	for len in 0 11 12 50 $(($(cat rev.len) - 1))
	do
		fresh rev && truncate -s $len "$file" &&
		still_right bad.git || return 1
	done &&
	fresh rev && rm "$file" && still_right bad.git &&
	test_must_be_empty err
'

test_expect_success 'a clone from a repository with a damaged order' '
	fresh rev && swap "$file" 40 200 &&
	rm -rf clone.git &&
	stock clone -q --bare --no-local -u "$GIT upload-pack" \
		bad.git clone.git &&
	stock -C clone.git fsck --full
'

# ---- indexes and packs

# fails_as_stock <ext> <command>...: both fail, with the same code; ours names
# the file of that extension, or the object that cannot be had without it.
fails_as_stock () {
	ext=$1
	shift
	stock -C bad.git "$@" >out 2>err
	code=$?
	test $code -ne 0 &&
	test_expect_code $code git -C bad.git "$@" >out 2>err &&
	grep "pack-[0-9a-f]*[.]$ext\|pack-[0-9a-f]*:" err
}

test_expect_success 'an index that was cut short' '
	for len in 0 7 500 1031 2000 $(($(cat idx.len) / 2)) \
		$(($(cat idx.len) - 1))
	do
		fresh idx && truncate -s $len "$file" &&
		fails_as_stock idx rev-list --objects --all --count \
			--use-bitmap-index &&
		fails_as_stock idx rev-list --objects --all --count || return 1
	done
'

test_expect_success 'an index whose head is damaged' '
	for at in 7 600 1020
	do
		fresh idx && damage "$file" $at &&
		fails_as_stock idx rev-list --objects --all --count || return 1
	done
'

# The order of the pack, sorted from such offsets, would name other objects.
test_expect_success 'an index with a damaged offset: right, or an error' '
	nr=$(cat all.nr) &&
	stock -C good.git rev-list --objects main~9 >raw &&
	cut -d" " -f1 raw | sort >part &&
	for row in $(seq 0 7 $((nr - 1)))
	do
		fresh idx &&
		damage "$file" $((8 + 1024 + 24 * nr + 4 * row + 1)) 128 &&
		for rev in there gone
		do
			if git -C bad.git rev-list --objects \
				--use-bitmap-index main~9 >raw 2>err
			then
				cut -d" " -f1 raw | sort >actual &&
				test_cmp part actual
			else
				grep "^fatal: .*pack-" err
			fi || return 1
			rm -f "${file%idx}rev"
		done
	done
'

test_expect_success 'a pack that was cut short' '
	for len in 0 11 12 500 $(($(cat pack.len) / 2)) $(($(cat pack.len) - 1))
	do
		fresh pack && truncate -s $len "$file" &&
		fails_as_stock pack rev-list --objects --all --count || return 1
	done
'

test_expect_success 'a pack whose head is damaged' '
	for at in 0 7 11
	do
		fresh pack && damage "$file" $at &&
		fails_as_stock pack rev-list --objects --all --count || return 1
	done
'

test_expect_success 'a pack with a changed byte: right, or an error' '
	len=$(cat pack.len) &&
	for at in 12 13 20 300 $((len / 4)) $((len / 2)) $((len * 3 / 4)) \
		$((len - 25))
	do
		fresh pack && damage "$file" $at &&
		if git -C bad.git rev-list --objects --all >raw 2>err
		then
			cut -d" " -f1 raw | sort >actual &&
			test_cmp all actual
		else
			grep "^fatal: " err
		fi || return 1
	done
'

test_expect_success 'a clone of a damaged pack fails, and leaves nothing' '
	len=$(cat pack.len) &&
	for at in 14 300 $((len / 2)) $((len - 30))
	do
		fresh pack && damage "$file" $at &&
		rm -rf clone.git &&
		test_must_fail stock clone -q --bare --no-local \
			-u "$GIT upload-pack" bad.git clone.git 2>err &&
		! test -e clone.git || return 1
	done
'

test_expect_success 'a repack of a damaged pack fails, and removes nothing' '
	len=$(cat pack.len) &&
	for at in 14 300 $((len / 2)) $((len - 30))
	do
		fresh pack && damage "$file" $at &&
		(cd bad.git/objects/pack && ls) >before &&
		test_expect_code 128 git -C bad.git repack -adbq 2>err &&
		grep "^fatal: .*pack-" err &&
		(cd bad.git/objects/pack && ls) >after &&
		test_cmp before after || return 1
	done
'

# ---- refs

# A search would not find what is out of place, and a repack lose it.
test_expect_success 'packed-refs with a damaged name, or out of order' '
	stock -C good.git pack-refs --all &&
	for edit in "s,refs/heads/main,s&," "s,refs/heads,refs/zeads," \
		"s,refs/tags/deep,heads/x," "s,refs/tags/tree,refs/a/tree," \
		"s,refs/tags/nested,Refs/tags/nested,"
	do
		fresh pack &&
		sed "$edit" good.git/packed-refs >bad.git/packed-refs &&
		(cd bad.git/objects/pack && ls) >before &&
		for args in "repack -adbq" "rev-list --all" \
			"pack-objects --all --stdout"
		do
			test_expect_code 128 git -C bad.git $args \
				<"/dev/null" >"/dev/null" 2>err &&
			test_line_count 1 err &&
			grep "packed-refs" err || return 1
		done &&
		(cd bad.git/objects/pack && ls) >after &&
		test_cmp before after || return 1
	done
'

test_expect_success 'a repack heals a damaged bitmap index' '
	fresh bitmap && damage "$file" 200 &&
	git -C bad.git repack -adbq &&
	still_right bad.git &&
	test_must_be_empty err &&
	fresh rev && swap "$file" 40 200 &&
	git -C bad.git repack -adbq &&
	cmp "$file" "$(echo good.git/objects/pack/*.rev)"
'

test_expect_success 'bytes changed at random: right, or an error' '
	"$GITREACH_SRC/t/interop/byte-flips" good.git 3 "$GIT" &&
	"$GITREACH_SRC/t/interop/byte-flips" --signed good.git 3 "$GIT"
'

test_expect_success 'bitmap indexes of empty packs beside a valid one' '
	git init -q --bare empty.git &&
	(cd empty.git && git pack-objects --all --write-bitmap-index pack \
		</dev/null) &&
	cp -R good.git two.git && cp empty.git/pack-* two.git/objects/pack/ &&
	for ext in pack idx rev bitmap
	do
		cp two.git/objects/pack/pack-029d08*.$ext \
			two.git/objects/pack/pack-029d08.$ext || return 1
	done &&
	for date in 2001-01-01 2031-01-01
	do
		touch -d $date two.git/objects/pack/pack-029d08* &&
		git -C two.git rev-list --test-bitmap main 2>err &&
		grep "^Found bitmap" err && still_right two.git || return 1
	done &&
	git -C empty.git bitmap verify
'

test_done
