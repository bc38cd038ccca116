#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='receive-pack: a push brings a pack that the repository has already

As in stock Git, a stored file with other content refuses the push.'
. "$(dirname "$0")/lib.sh"

# push: push main. The result is in `out`, the messages are in `err`.
push () {
	stock -C client push --porcelain ../server.git main:main \
		--receive-pack="$GITREACH_BUILD/bin/git-receive-pack" >out 2>err
}

# stored <file extension>: print the path of this file of the stored pack.
stored () {
	echo server.git/objects/pack/pack-*.$1
}

# damage <file extension>: change the last byte of the file.
damage () {
	file=$(stored $1) && chmod u+w "$file" &&
	size=$(wc -c <"$file") &&
	printf "\377" |
		dd of="$file" bs=1 seek=$((size - 1)) conv=notrunc 2>/dev/null
}

# server_has_pack: the server has the pack of main, but no ref.
server_has_pack () {
	rm -rf server.git && repo_init server.git &&
	stock -C server.git config receive.unpackLimit 1 &&
	push && stock -C server.git update-ref -d refs/heads/main
}

# push_is_refused <file extension>: a push is refused because this file differs.
push_is_refused () {
	! push &&
	grep "unable to migrate objects to permanent storage" out &&
	grep "remote: error: files .*\.$1. and .*\.$1. differ in contents" err &&
	test -z "$(stock -C server.git for-each-ref)" &&
	! ls server.git/objects/pack/*.keep 2>missing &&
	! ls -d server.git/objects/tmp_objdir* 2>missing
}

test_expect_success 'setup' '
	repo_linear linear 3 && stock clone -q linear client
'

test_expect_success 'a sound pack is used, and gets a new time' '
	server_has_pack && touch -d 2001-01-01 server.git/objects/pack/* &&
	touch -d 2020-01-01 reference && push &&
	test "$(stored pack)" -nt reference &&
	stock -C server.git fsck --strict
'

test_expect_success 'a pack without .idx, .rev or both is completed' '
	for gone in idx rev "idx rev"
	do
		server_has_pack || return 1
		for ext in $gone
		do
			rm -f "$(stored $ext)" || return 1
		done
		push && test -e "$(stored idx)" &&
		stock -C server.git fsck --strict || return 1
	done
'

test_expect_success 'an own .keep file stays' '
	server_has_pack && file=$(stored pack) &&
	echo mine >"${file%.pack}.keep" && push &&
	echo mine >expect && test_cmp expect "$(stored keep)"
'

# The .idx is removed if it is not itself damaged, so the damaged pack is not read
# before the files are compared.
for ext in pack rev idx
do
	test_expect_success "a damaged .$ext refuses the push" '
		server_has_pack && damage $ext &&
		{ test $ext = idx || rm -f "$(stored idx)"; } &&
		push_is_refused $ext
	'
done

test_expect_success 'a .pack of another size refuses the push' '
	server_has_pack && rm -f "$(stored idx)" && file=$(stored pack) &&
	chmod u+w "$file" && : >"$file" && push_is_refused pack &&
	rm -f "$file" && push && stock -C server.git fsck --strict
'

test_done
