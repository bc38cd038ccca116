#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='the empty tree is built in: a commit may name it though it is not stored'
. "$(dirname "$0")/lib.sh"

# same <command> <argument>...: asserts that our git and stock Git print the
# same, with the same exit code.
same () {
	(cd "$TRASH/$format" && stock "$@") >"$TRASH/expect"
	echo "exit $?" >>"$TRASH/expect"
	(cd "$TRASH/$format" && git_alone "$@") >"$TRASH/actual"
	echo "exit $?" >>"$TRASH/actual"
	test_cmp "$TRASH/expect" "$TRASH/actual"
}

# stored <dir>: lists the objects that are stored in a repository.
stored () {
	stock -C "$1" cat-file --batch-all-objects \
		--batch-check='%(objecttype) %(objectname)'
}

TRASH=$PWD
for format in sha1 sha256
do
	empty=$(stock hash-object -t tree --stdin </dev/null)
	test $format = sha1 ||
		empty=6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321

	test_expect_success "$format: a commit and a tag name the empty tree" '
		stock init -q --bare --object-format=$format $format &&
		(
			cd $format &&
			c=$(stock commit-tree -m one $empty </dev/null) &&
			stock update-ref refs/heads/main $c &&
			printf "object %s\ntype tree\ntag t\ntagger %s\n\nx\n" \
				$empty "C <c@example.com> 1 +0000" >tag &&
			stock update-ref refs/tags/t $(stock hash-object \
				-t tag -w --literally tag)
		) &&
		stored $format >list &&
		! grep $empty list
	'

	test_expect_success "$format: cat-file and rev-parse" '
		same cat-file -t $empty &&
		same cat-file -s $empty &&
		same cat-file -p $empty &&
		same cat-file -e $empty &&
		same cat-file -p "main^{tree}" &&
		same rev-parse "t^{tree}" &&
		same cat-file --batch-all-objects --batch-check &&
		echo $empty >$format/id &&
		for how in --batch --batch-check \
			"--batch-check=%(objecttype) %(objectsize:disk)"
		do
			stock -C $format cat-file "$how" <$format/id >expect &&
			git_alone -C $format cat-file "$how" <$format/id >actual &&
			test_cmp expect actual || return 1
		done
	'

	test_expect_success "$format: histories" '
		same rev-list --objects --all &&
		same rev-list --objects --missing=print main &&
		same rev-list --objects --disk-usage main &&
		same rev-list --objects $empty &&
		same rev-list main -- path &&
		same for-each-ref --format="%(refname) %(*objecttype) %(tree)"
	'

	test_expect_success "$format: fsck reports that the empty tree is missing" '
		same fsck &&
		same fsck --connectivity-only &&
		same prune -n &&
		test_expect_code 2 git_alone -C $format fsck $empty >actual &&
		grep "^missing tree $empty\$" actual
	'

	test_expect_success "$format: the empty tree is sent and packed" '
		stock clone -q --bare --no-local $format expect.git &&
		stored expect.git >expect &&
		grep $empty expect &&
		stock clone -q --bare --no-local \
			-u "$GIT upload-pack" $format actual.git &&
		stored actual.git >actual &&
		test_cmp expect actual &&
		cp -R $format packed.git &&
		git_alone -C packed.git repack -adbq &&
		stored packed.git >actual &&
		test_cmp expect actual &&
		git_alone -C packed.git rev-list --objects \
			--use-bitmap-index --all >actual &&
		grep $empty actual &&
		git_alone -C $format bundle create -q ../bundle --all &&
		stock clone -q --bare bundle unbundled.git &&
		stored unbundled.git >actual &&
		test_cmp expect actual &&
		rm -rf *.git
	'

	test_expect_success "$format: a push need not send the empty tree" '
		tip=$(stock -C $format rev-parse main) &&
		echo $tip | stock -C $format pack-objects --stdout -q >pack &&
		stock init -q --bare --object-format=$format b.git &&
		git_alone -C b.git index-pack --stdin --strict <pack &&
		git_alone -C b.git unpack-objects -q --strict <pack &&
		{
			printf "%s %s refs/heads/main\0 report-status object-format=$format" \
				$(echo $tip | tr "0-9a-f" 0) $tip
		} >command &&
		{
			printf "%04x" $(($(wc -c <command) + 4)) &&
			cat command && printf 0000 && cat pack
		} >push &&
		git_alone receive-pack --stateless-rpc b.git <push >answer &&
		tr "\0" " " <answer | grep "ok refs/heads/main" &&
		rm -rf b.git
	'

	test_expect_success "$format: hash-object stores the empty tree" '
		git_alone -C $format hash-object -w -t tree --stdin </dev/null &&
		stored $format >list &&
		grep $empty list &&
		same fsck &&
		same rev-list --objects --all
	'
done

test_done
