#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='refs migrate: all refs and reflogs in the other storage

At each call that changes the disk, the migration is killed, or the disk fails or
is full. Then all refs and reflogs are in the old storage, or all in the new one.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-fault.sh"

GIT_COMMITTER_NAME=C GIT_COMMITTER_EMAIL=c@example.com
export GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL

# all_of <dir>: lists refs, symbolic refs and reflogs.
all_of () {
	"$GIT" -C $1 for-each-ref --include-root-refs \
		--format="%(objectname) %(*objectname) %(refname) %(symref)" &&
	"$GIT" -C $1 symbolic-ref refs/heads/dangling &&
	"$GIT" -C $1 reflog list &&
	for ref in HEAD main side gone
	do
		"$GIT" -C $1 reflog exists refs/heads/$ref &&
			echo "$ref has one"
	done
	"$GIT" -C $1 reflog expire --all --expire=now --dry-run --verbose
}

for hash in sha1 sha256
do
	test_expect_success "migration to reftables and back: $hash" '
		repo_linear linear.git 3 &&
		stock -C linear.git fast-export --all >stream &&
		rm -rf $hash.git linear.git &&
		stock init -q --bare --object-format=$hash -b main $hash.git &&
		rm -rf $hash.git/hooks &&
		stock -C $hash.git config core.logAllRefUpdates true &&
		stock -C $hash.git fast-import --quiet <stream &&
		(
			cd $hash.git &&
			stock tag -m "a tag" v1 main &&
			stock branch packed main~1 &&
			stock pack-refs --all &&
			stock update-ref -m one refs/heads/side main~1 &&
			stock update-ref -m two refs/heads/side main &&
			stock update-ref refs/heads/gone main &&
			cp logs/refs/heads/gone log &&
			stock update-ref -d refs/heads/gone &&
			mv log logs/refs/heads/gone &&
			: >logs/refs/heads/empty &&
			stock update-ref ORIG_HEAD main &&
			stock update-ref refs/bisect/bad main &&
			stock symbolic-ref refs/remotes/o/HEAD \
				refs/heads/packed &&
			stock symbolic-ref refs/heads/dangling refs/heads/no &&
			echo x >FETCH_HEAD &&
			stock update-ref -m head HEAD main~2
		) &&
		all_of $hash.git >expect &&
		cp $hash.git/config config &&
		cp -R $hash.git there.git &&
		"$GIT" -C there.git refs migrate --ref-format=reftable >out &&
		test_must_be_empty out &&
		all_of there.git >actual &&
		test_cmp expect actual &&
		test ! -e there.git/packed-refs &&
		test ! -e there.git/logs &&
		test ! -e there.git/ORIG_HEAD &&
		test -f there.git/refs/heads &&
		test -f there.git/FETCH_HEAD &&
		cp -R there.git back.git &&
		"$GIT" -C back.git refs migrate --ref-format=files &&
		all_of back.git >actual &&
		test_cmp expect actual &&
		stock -C back.git for-each-ref >actual &&
		stock -C $hash.git for-each-ref >stocks &&
		test_cmp stocks actual &&
		test_cmp config back.git/config &&
		test ! -e back.git/reftable &&
		! grep refs/bisect back.git/packed-refs &&
		! find there.git back.git -name "ref_migration*" | grep . &&
		mv there.git $hash-there.git && rm -r back.git
	'
done

test_expect_success 'without reflogs' '
	cp -R sha1.git r.git &&
	"$GIT" -C r.git refs migrate --ref-format=reftable --no-reflog &&
	"$GIT" -C r.git reflog list >actual &&
	test_must_be_empty actual &&
	rm -r r.git
'

test_expect_success 'a tag that is missing for a moment is not taken for another object' '
	rm -rf away.git && cp -R sha1-there.git away.git &&
	tag=$("$GIT" -C away.git rev-parse v1) &&
	file=away.git/objects/$(echo $tag | sed "s,..,&/,") &&
	mv $file away &&
	"$GIT" -C away.git refs migrate --ref-format=files &&
	mv away $file &&
	"$GIT" -C away.git show-ref -d >actual &&
	grep "refs/tags/v1^{}" actual
'

test_expect_success 'a dry run keeps the new store apart' '
	cp -R sha1.git r.git &&
	"$GIT" -C r.git refs migrate --ref-format=reftable --dry-run >out &&
	sed -n "s/.* at .\(.*\).$/\1/p" out >dir &&
	test -f "r.git/$(cat dir)/reftable/tables.list" &&
	rm -r "r.git/$(cat dir)" &&
	diff -r sha1.git r.git &&
	rm -r r.git
'

# Expected is what Git 2.55 does.
test_expect_success 'the reference-transaction hook' '
	rm -rf told.git && stock init -q --bare -b main told.git &&
	tree=$(stock -C told.git hash-object -w -t tree /dev/null) &&
	id=$(echo x | stock -C told.git commit-tree $tree) &&
	stock -C told.git update-ref refs/heads/main $id &&
	stock -C told.git update-ref ORIG_HEAD $id &&
	stock -C told.git symbolic-ref refs/heads/link refs/heads/main &&
	mkdir -p told.git/hooks &&
	cat >told.git/hooks/reference-transaction <<-\EOF &&
	#!/bin/sh
	echo "$1" >>said && cat >>said && test $1 != "$(cat refuse 2>/dev/null)"
	EOF
	chmod +x told.git/hooks/reference-transaction &&
	zero=$(echo $id | tr 0-9a-f 0) &&
	{
		echo "$zero ref:refs/heads/main HEAD" &&
		echo "$zero $id ORIG_HEAD" &&
		echo "$zero ref:refs/heads/main refs/heads/link"
	} >loose &&
	echo "$zero $id refs/heads/main" >packed &&
	cat loose packed >all &&
	for state in preparing prepared
	do
		echo $state && cat all || return 1
	done >expect &&
	cp -R told.git there.git &&
	"$GIT" -C there.git refs migrate --ref-format=reftable &&
	test_cmp expect there.git/said &&
	for state in preparing prepared
	do
		rm -rf refused.git && cp -R told.git refused.git &&
		echo $state >refused.git/refuse &&
		test_expect_code 128 "$GIT" -C refused.git refs migrate \
			--ref-format=reftable 2>err &&
		echo "fatal: in '\''$state'\'' phase, update aborted by the" \
			"reference-transaction hook" | test_cmp - err &&
		test aborted = "$(sed -n "s/^aborted/&/p" refused.git/said)" &&
		test files = $("$GIT" -C refused.git rev-parse \
			--show-ref-format) &&
		! ls refused.git | grep ref_migration || return 1
	done &&
	{
		cat expect &&
		echo preparing && cat packed && echo prepared && cat packed &&
		for state in preparing prepared committed
		do
			echo $state && cat loose || return 1
		done
	} >expect2 &&
	rm there.git/said &&
	"$GIT" -C there.git refs migrate --ref-format=files &&
	test_cmp expect2 there.git/said
'

# refuses <code> <message>: asserts that the migration fails and changes
# nothing.
refuses () {
	cp -R r.git before.git &&
	test_expect_code $1 "$GIT" -C r.git refs migrate \
		--ref-format=reftable 2>err &&
	grep "$2" err &&
	diff -r before.git r.git &&
	rm -rf before.git r.git
}

test_expect_success 'migrations that are refused' '
	cp -R sha1.git r.git &&
	echo junk >r.git/refs/heads/broken &&
	refuses 128 "^fatal: cannot migrate broken ref .refs/heads/broken.$" &&
	cp -R sha1.git r.git &&
	: >r.git/config.lock &&
	refuses 255 "^error: could not lock config file .*config: File exists$" &&
	cp -R sha1.git r.git &&
	mkdir -p r.git/worktrees/w &&
	refuses 255 "^error: migrating repositories with worktrees is not supported"
'

test_expect_success 'a configuration in another form' '
	cp -R sha1.git r.git &&
	cat >r.git/config <<-\EOC &&
	# first
	[core] RepositoryFormatVersion = 0
	; [core]
	[Core]	bare = true
		logAllRefUpdates = \
	true ; end
	[x "extensions"]
		refStorage = x
	[alias]
		x = y
	EOC
	all_of r.git >expect.now &&
	"$GIT" -C r.git refs migrate --ref-format=reftable &&
	stock config -f r.git/config -l >actual &&
	cat >expect.config <<-EOC &&
	core.repositoryformatversion=1
	core.bare=true
	core.logallrefupdates=true
	x.extensions.refstorage=x
	alias.x=y
	extensions.refstorage=reftable
	EOC
	test_cmp expect.config actual &&
	all_of r.git >actual &&
	test_cmp expect.now actual &&
	rm -r r.git
'

fresh () {
	rm -rf r.git && cp -R $from.git r.git
}

# After a fault, one of both ref stores must be complete, and the next
# migrations must succeed.
is_whole () {
	all_of r.git >actual &&
	test_cmp expect actual &&
	if test $fault_code -ne 137
	then
		fault_said && test ! -e r.git/config.lock
	fi &&
	rm -f r.git/config.lock &&
	if test $fault_code -eq 0
	then
		test_expect_code 255 "$GIT" -C r.git refs migrate \
			--ref-format=$format 2>err &&
		grep "already uses" err >/dev/null
	fi &&
	"$GIT" -C r.git refs migrate --ref-format=$other 2>err ||
		grep "already uses" err >/dev/null || return 1
	"$GIT" -C r.git refs migrate --ref-format=$format 2>err ||
		grep "already uses" err >/dev/null || return 1
	all_of r.git >actual &&
	test_cmp expect actual
}

for mode in kill EIO ENOSPC
do
	for format in reftable files
	do
		test_expect_success "to $format: $mode" '
			all_of sha1.git >expect &&
			fault_step=$(fault_thin 7) &&
			from=sha1 other=files &&
			if test $format = files
			then
				from=sha1-there other=reftable
			fi &&
			fault_each $mode fresh \
				"$GIT -C r.git refs migrate \
				--ref-format=$format" is_whole
		'
	done
done

test_done
