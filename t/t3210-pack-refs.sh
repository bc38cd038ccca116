#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='pack-refs packs what stock Git packs'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-refs.sh"

test_expect_success 'set up' '
	twins && both "
		stock update-ref HEAD $A; stock update-ref refs/tags/v $B;
		stock update-ref refs/tags/T $T; stock update-ref refs/x/y/z $A;
		stock update-ref refs/bisect/bad $A"
'

while read -r script
do
	test_expect_success "$script" "both '$script'"
done <<\EOF2
g pack-refs
stock update-ref refs/heads/b $A; g pack-refs --all --no-prune
stock update-ref refs/heads/b $B; g pack-refs
stock symbolic-ref refs/heads/s refs/heads/b; g pack-refs --all
g pack-refs --all
stock update-ref refs/tags/old $T; stock update-ref refs/heads/c $B; g pack-refs --all
printf "%s\n" "$A refs/heads/b" "$T refs/tags/old" "$A refs/heads/a" >.git/packed-refs; g pack-refs --all
printf "%s\n" "$A refs/heads/b" "$T refs/tags/old" "$A refs/heads/a" >.git/packed-refs; stock update-ref refs/heads/new $B; g pack-refs --all
EOF2

test_expect_success 'a ref to a missing object stays loose' '
	(
		cd "$TRASH/ours" &&
		echo 1234567890123456789012345678901234567890 >.git/refs/heads/gone &&
		git pack-refs --all 2>err &&
		grep "refs/heads/gone does not point to a valid object" err &&
		test -f .git/refs/heads/gone &&
		rm .git/refs/heads/gone
	)
'

test_expect_success 'a ref that is locked or changed meanwhile stays loose' '
	(
		cd "$TRASH/ours" &&
		stock update-ref refs/heads/held $A &&
		>.git/refs/heads/held.lock &&
		git pack-refs --all &&
		test -f .git/refs/heads/held &&
		rm .git/refs/heads/held.lock &&
		>.git/packed-refs.lock &&
		cat >expect <<-EOF &&
		fatal: Unable to create '\''$PWD/.git/packed-refs.lock'\'': File exists.

		Another git process seems to be running in this repository, or the lock file may be stale
		EOF
		test_expect_code 128 git -c core.packedRefsTimeout=10 \
			pack-refs --all 2>err &&
		test_cmp expect err &&
		sed -i s/fatal:/error:/ expect &&
		test_expect_code 1 git -c core.packedRefsTimeout=10 \
			update-ref -d refs/heads/held 2>err &&
		test_cmp expect err &&
		rm .git/packed-refs.lock
	)
'

# Options that stock Git 2.39 does not have.
test_expect_success '--include, --exclude' '
	cd "$TRASH" && twins --bare && cd ours &&
	for name in heads/a heads/b tags/a tags/b
	do
		stock update-ref refs/$name $A || return 1
	done &&
	packed () {
		sed -n "s,.* refs/,,p" packed-refs | tr "\n" " "
	} &&
	git pack-refs --include "refs/heads/*" --exclude "refs/heads/b" &&
	test "$(packed)" = "heads/a " &&
	git pack-refs --exclude "refs/tags/a" &&
	test "$(packed)" = "heads/a tags/b " &&
	git pack-refs --all --exclude "*/a" --exclude x --no-exclude \
		--exclude "refs/tags/*" &&
	test "$(packed)" = "heads/a heads/b tags/b "
'

test_expect_success '--auto packs if there are many loose refs' '
	cd "$TRASH" && twins --bare && cd ours &&
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
	do
		stock update-ref refs/heads/b$i $A || return 1
	done &&
	git pack-refs --all --auto &&
	! test -e packed-refs &&
	stock update-ref refs/heads/b16 $A &&
	git pack-refs --all --auto &&
	! test -e refs/heads/b1 &&
	test $(wc -l <packed-refs) -eq 17
'

# Each ref must be readable at any time, while other processes pack and update
# refs.
test_expect_success 'packing while refs change' '
	cd "$TRASH" && twins --bare && cd ours &&
	stock update-ref refs/heads/steady $A &&
	stock config core.filesRefLockTimeout 60000 &&
	stock config core.packedRefsTimeout 60000 || return 1
	(
		for i in 1 2 3 4 5 6 7 8 9 10 11 12
		do
			git update-ref refs/heads/steady $B &&
			git update-ref refs/heads/new$i $A &&
			git update-ref -d refs/heads/new$i || echo failed
			git update-ref refs/heads/steady $A || echo failed
		done >../writer.out 2>&1
	) &
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
	do
		git pack-refs --all || echo failed
		git rev-parse --verify -q refs/heads/steady || echo lost
	done >../packer.out 2>&1
	wait
	! grep -E "failed|lost|error|fatal" ../packer.out ../writer.out &&
	echo $A >../expect &&
	stock rev-parse refs/heads/steady >../actual &&
	test_cmp ../expect ../actual &&
	stock for-each-ref >../actual &&
	test $(wc -l <../actual) -eq 1
'

test_expect_success 'a tag of a missing object is packed without a peeled id' '
	cd "$TRASH" && twins --bare && cd ours &&
	C=$(echo c | stock commit-tree $TREE -p $A) &&
	tag=$(printf "object %s\ntype commit\ntag c\ntagger C <c> 0 +0000\n\nc\n" \
		$C | stock hash-object -w -t tag --stdin) &&
	rm -f objects/$(echo $C | sed "s|^..|&/|") &&
	echo $tag >refs/tags/c &&
	git pack-refs --all 2>err &&
	test_cmp /dev/null err &&
	! test -e refs/tags/c &&
	grep "^$tag refs/tags/c" packed-refs &&
	! grep "^^$C" packed-refs
'

test_expect_success 'a locked ref stays loose, and the lock is named' '
	cd "$TRASH" && twins --bare && cd ours &&
	stock update-ref refs/heads/held $A &&
	: >refs/heads/held.lock &&
	git pack-refs --all 2>err &&
	grep "^error: cannot lock ref .refs/heads/held.: Unable to create .*held.lock.: File exists" err &&
	test -e refs/heads/held &&
	rm refs/heads/held.lock
'

test_expect_success 'a link through which a packed ref was read is removed' '
	cd "$TRASH" && twins --bare && cd ours &&
	stock update-ref refs/heads/main $A &&
	ln -s main refs/heads/same &&
	git pack-refs --all &&
	! test -h refs/heads/same &&
	test $(git rev-parse refs/heads/same) = $A
'

test_expect_success 'a tag of a missing or damaged object has no peeled id' '
	rm -rf peel.git && stock init -q --bare peel.git &&
	blob=$(echo blob | stock -C peel.git hash-object -w --stdin) &&
	stock -C peel.git tag -am one one $blob &&
	one=$(stock -C peel.git rev-parse one) &&
	stock -C peel.git tag -am two two one 2>/dev/null &&
	file=peel.git/objects/$(echo $blob | sed "s,..,&/,") &&
	rm -f $file && git -C peel.git pack-refs --all --no-prune 2>err &&
	test_cmp /dev/null err && ! grep "^^" peel.git/packed-refs &&
	test $(grep -c refs/tags peel.git/packed-refs) = 2 &&
	rm peel.git/packed-refs && echo garbage >$file &&
	git -C peel.git pack-refs --all --no-prune &&
	! grep "^^" peel.git/packed-refs &&
	test $(grep -c refs/tags peel.git/packed-refs) = 2 &&
	rm peel.git/packed-refs peel.git/objects/$(echo $one | sed "s,..,&/,") &&
	test_must_fail git -C peel.git rev-parse --verify one^{} &&
	git -C peel.git pack-refs --all --no-prune 2>err &&
	echo "error: refs/tags/one does not point to a valid object!" >expect &&
	test_cmp expect err && grep refs/tags/two peel.git/packed-refs
'

# An object that is missing now may be there later, for example because it is in
# an alternate that is not mounted.
test_expect_success 'a tag that is missing for a moment is not taken for another object' '
	rm -rf away.git && stock init -q --bare away.git &&
	blob=$(echo blob | stock -C away.git hash-object -w --stdin) &&
	stock -C away.git tag -am old old $blob &&
	tag=$(stock -C away.git rev-parse old) &&
	printf "# pack-refs with: peeled fully-peeled sorted \n%s refs/tags/old\n" \
		$tag >away.git/packed-refs &&
	rm away.git/refs/tags/old &&
	stock -C away.git update-ref refs/tags/blob $blob &&
	stock -C away.git tag -am new new $blob &&
	file=away.git/objects/$(echo $tag | sed "s,..,&/,") &&
	mv $file away &&
	git -C away.git pack-refs --all &&
	test $(grep -c refs/tags away.git/packed-refs) = 3 &&
	test $(grep -c "^^$blob" away.git/packed-refs) = 1 &&
	mv away $file &&
	git -C away.git show-ref -d >actual &&
	grep "^$blob refs/tags/old^{}" actual &&
	stock -C away.git for-each-ref --format="%(refname)" >actual &&
	test $(wc -l <actual) = 3 &&
	stock -C away.git update-ref refs/tags/another $blob &&
	git -C away.git pack-refs --all &&
	grep "^# pack-refs with: .* gitreach-peeled $" away.git/packed-refs &&
	test $(grep -c "^^$blob" away.git/packed-refs) = 2
'

test_expect_success 'a tag whose target is missing for a moment has a peeled id later' '
	rm -rf away.git && stock init -q --bare away.git &&
	blob=$(echo blob | stock -C away.git hash-object -w --stdin) &&
	stock -C away.git tag -am tag tag $blob &&
	file=away.git/objects/$(echo $blob | sed "s,..,&/,") &&
	mv $file away &&
	git -C away.git pack-refs --all &&
	mv away $file &&
	git -C away.git show-ref -d >actual &&
	grep "^$blob refs/tags/tag^{}" actual
'

test_expect_success 'a malformed line of packed-refs is not copied' '
	rm -rf bad.git && stock init -q --bare bad.git &&
	blob=$(echo blob | stock -C bad.git hash-object -w --stdin) &&
	printf "%s\n" "# pack-refs with: peeled fully-peeled sorted " \
		"$blob refs/tags/a" "x${blob#?} refs/tags/b" "$blob refs/tags/c" \
		>bad.git/packed-refs &&
	cp bad.git/packed-refs before &&
	mkdir -p bad.git/refs/x && echo $blob >bad.git/refs/x/y &&
	for program in git stock
	do
		test_must_fail $program -C bad.git pack-refs --all 2>err &&
		grep "unexpected line in .*packed-refs: x${blob#?} refs/tags/b" err &&
		test_cmp before bad.git/packed-refs &&
		test -e bad.git/refs/x/y || return 1
	done
'

# Stock Git copies the records in their wrong order.
test_expect_success 'packed-refs that is not sorted is not written again' '
	rm -rf bad.git && stock init -q --bare bad.git &&
	blob=$(echo blob | stock -C bad.git hash-object -w --stdin) &&
	for tag in a z
	do
		stock -C bad.git tag -am $tag $tag $blob || return 1
	done &&
	printf "%s\n" "# pack-refs with: peeled fully-peeled sorted " \
		"$(stock -C bad.git rev-parse z) refs/tags/z" \
		"$(stock -C bad.git rev-parse a) refs/tags/a" >before &&
	rm bad.git/refs/tags/? &&
	cp before bad.git/packed-refs &&
	stock -C bad.git update-ref refs/tags/n $blob &&
	test_must_fail git -C bad.git pack-refs --all 2>err &&
	grep "packed-refs is not sorted" err &&
	test_cmp before bad.git/packed-refs &&
	test -e bad.git/refs/tags/n
'

test_expect_success 'a wrong core.logAllRefUpdates ends all commands with refs' '
	for command in "pack-refs --all" "for-each-ref" "rev-list --all" \
		"reflog expire --all"
	do
		test_expect_code 128 git -C peel.git \
			-c core.logAllRefUpdates=x $command 2>err &&
		test $(grep -c logallrefupdates err) = 1 || return 1
	done
'

test_done
