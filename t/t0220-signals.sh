#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='commands that are ended by a signal leave a clean repository

SIGTERM comes at each call that changes the disk. No lock file, temporary file
or quarantine may stay, and each pack has its index. Either no ref has changed,
or all refs have. The exit status tells the signal.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-fault.sh"

ZERO=0000000000000000000000000000000000000000

refs_of () {
	stock -C "$1" for-each-ref --format="%(refname) %(objectname)"
}

test_expect_success 'setup: a server, a push, and the refs before and after' '
	repo_linear client.git 6 &&
	stock -C client.git tag -m "a tag" v1 main &&
	old=$(stock -C client.git rev-parse main~2) &&
	new=$(stock -C client.git rev-parse main) &&
	tag=$(stock -C client.git rev-parse v1) &&
	repo_init good.git &&
	rm -r good.git/hooks &&
	stock -C client.git push -q ../good.git main~2:refs/heads/main \
		main~2:refs/heads/packed &&
	stock -C good.git pack-refs --all &&
	stock -C client.git push -q ../good.git main~2:refs/heads/gone &&
	stock -C good.git config core.logAllRefUpdates true &&
	stock -C client.git push -q ../good.git main~3:refs/heads/gone.too &&
	refs_of good.git >before &&
	cat >changes <<-EOC &&
	update refs/heads/main $old~1 $old
	update refs/heads/packed $old~2
	create refs/heads/dir/new $old
	delete refs/heads/gone
	delete refs/heads/gone.too
	EOC
	cp -R good.git changed.git &&
	stock -C changed.git update-ref --stdin <changes &&
	refs_of changed.git >changed &&
	printf "%s\n" $new $tag ^$old |
		stock -C client.git pack-objects -q --revs --stdout >pack &&
	printf "%s\n" $new $tag |
		stock -C client.git pack-objects -q --revs --stdout >whole-pack &&
	caps="report-status delete-refs atomic" &&
	{
		first="$old $new refs/heads/main" &&
		printf "%04x%s\\0%s" $((${#first} + 5 + ${#caps})) "$first" \
			"$caps" &&
		for line in "$ZERO $tag refs/tags/v1" \
			"$old $ZERO refs/heads/gone" \
			"$ZERO $new refs/heads/dir/new"
		do
			printf "%04x%s" $((${#line} + 4)) "$line"
		done &&
		printf 0000 &&
		cat pack
	} >push &&
	cp -R good.git pushed.git &&
	stock receive-pack pushed.git <push >/dev/null &&
	refs_of pushed.git >pushed
'

fresh () {
	rm -rf r.git && cp -R "${from:-good.git}" r.git &&
	printf "[receive]\n\tunpackLimit = %d\n" ${limit:-1} >>r.git/config
}

# Check that no temporary file or lock is left, no pack without an index, and no
# index without a pack.
is_tidy () {
	find r.git \( -name "tmp_*" -o -name "*.lock" -o -name "*.new" -o \
		-name "*.keep" -o -name "gc.pid" \) >left &&
	for file in r.git/objects/pack/pack-*.pack
	do
		test ! -e "$file" || test -e "${file%.pack}.idx" ||
			echo "$file" >>left
	done &&
	for file in r.git/objects/pack/pack-*.idx
	do
		test ! -e "$file" || test -e "${file%.idx}.pack" ||
			echo "$file" >>left
	done &&
	test_must_be_empty left
}

# has_ended <refs before> <refs after>: checks the repository after a signal.
# The refs must be one of both lists.
has_ended () {
	{ fault_exited term || test $fault_code = "$or_code" ||
		test $fault_code = "$or_continued"; } &&
	is_tidy &&
	refs_of r.git >now &&
	{ test_cmp "$2" now >/dev/null 2>&1 || test_cmp "$1" now; } &&
	stock -C r.git fsck --full >fsck 2>&1 &&
	if test -n "$fault_over"
	then
		test_cmp "$2" now
	fi
}

# ends_well <words>...: runs our git with these words again and again. SIGTERM
# ends the command at each third call that changes the disk, or at each
# $step-th.
ends_well () {
	fault_step=$(fault_thin ${step:-3}) &&
	fault_each term fresh "$GIT -C r.git -c core.fsync=all $*" \
		'has_ended before "${after:-before}"'
}

test_expect_success 'update-ref --stdin' '
	fault_in=changes after=changed &&
	ends_well update-ref --stdin &&
	fault_in=/dev/null after=
'

test_expect_success 'pack-refs' '
	ends_well pack-refs --all
'

step=3
for limit in 1 1000
do
	test_expect_success "receive-pack, unpackLimit $limit" '
		fault_in=push after=pushed &&
		ends_well receive-pack . &&
		fault_in=/dev/null after=
	'
done
limit=

test_expect_success 'index-pack --stdin' '
	fault_in=whole-pack &&
	ends_well index-pack --stdin &&
	fault_in=/dev/null
'

test_expect_success 'unpack-objects' '
	fault_in=pack &&
	ends_well unpack-objects -q &&
	fault_in=/dev/null
'

test_expect_success 'repack' '
	ends_well repack -adbq
'

test_expect_success 'a limit to the size of files' '
	fresh &&
	(
		ulimit -f 1 &&
		"$GIT" -C r.git repack -adq
	) 2>"/dev/null"
	test $? -eq 153 &&
	is_tidy
'

test_expect_success 'repack of packs, with a multi-pack-index' '
	cp -R good.git packs.git &&
	stock -C packs.git repack -dq &&
	stock -C packs.git index-pack --stdin <whole-pack &&
	from=packs.git &&
	ends_well repack --geometric=2 -d --write-midx --write-bitmap-index -q
'

test_expect_success 'multi-pack-index and commit-graph' '
	ends_well multi-pack-index write --bitmap &&
	ends_well commit-graph write --reachable --split
'

# The signal may end a step of gc. Then gc ends, or continues with the steps
# that do not need this one.
test_expect_success 'gc' '
	or_code=128 or_continued=1 &&
	ends_well gc -q
'

test_done
