#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='clones of large packs whose bitmap index or order is damaged'
. "$(dirname "$0")/lib.sh"

# A small pack is proven with each answer. A larger one is when much is sent,
# while the tags that come along are looked up.

# damage <file>: change a bit in the middle, or change it back.
damage () {
	at=$(($(wc -c <"$1") / 2)) &&
	was=$(od -An -tu1 -j$at -N1 "$1") &&
	printf "$(printf "\\%03o" $((was ^ 4)))" |
	dd of="$1" bs=1 seek=$at conv=notrunc 2>/dev/null
}

test_expect_success 'a pack of more than 8,192 objects' '
	repo_many large.git 3000 &&
	repo_tags large.git &&
	git -C large.git -c repack.prepareAnswers=false repack -adbq &&
	chmod u+w large.git/objects/pack/* &&
	stock -C large.git rev-list --objects --all >raw &&
	cut -d" " -f1 raw | sort >all &&
	stock -C large.git rev-list --objects main --tags >raw &&
	cut -d" " -f1 raw | sort >branch &&
	test $(wc -l <branch) -gt 8192
'

# clone <objects> <option>...: what comes is right; warnings go to "err".
clone () {
	objects=$1 &&
	shift &&
	rm -rf clone.git &&
	stock clone -q --bare --no-local "$@" -u "$GIT upload-pack" \
		large.git clone.git 2>err &&
	stock -C clone.git fsck --full &&
	stock -C clone.git rev-list --objects --all >raw &&
	cut -d" " -f1 raw | sort >actual &&
	test_cmp "$objects" actual
}

test_expect_success 'an undamaged repository gives no warning' '
	clone all --mirror && test_must_be_empty err &&
	clone branch --single-branch && test_must_be_empty err
'

for ext in bitmap rev
do
	test_expect_success "a damaged .$ext file is set aside" '
		file=$(echo large.git/objects/pack/*.$ext) &&
		damage "$file" &&
		clone all --mirror && grep "warning: .*[.]$ext" err &&
		clone branch --single-branch &&
		grep "warning: .*[.]$ext" err &&
		damage "$file" &&
		clone all --mirror && test_must_be_empty err
	'
done

test_expect_success 'prepared answers do not need them' '
	git -C large.git repack -adbq &&
	chmod u+w large.git/objects/pack/* &&
	for ext in bitmap rev
	do
		damage "$(echo large.git/objects/pack/*.$ext)" || return
	done &&
	clone all --mirror &&
	clone branch --single-branch &&
	test_must_be_empty err
'

test_done
