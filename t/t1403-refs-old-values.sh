#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a ref without a value is not taken for a ref that is missing

If a change requires that a ref does not exist, it does not overwrite a symbolic
ref that leads to a missing ref. A ref whose value is the zero id can be repaired.
Empty directories do not prevent an update of a packed ref. The messages and exit
codes are those of Git 2.55.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-fault.sh"

SQ="'"
ZERO=0000000000000000000000000000000000000000

for format in files reftable
do
	test_expect_success "$format: a repository with symbolic refs" '
		rm -rf base.git &&
		git init -q --bare --ref-format=$format base.git &&
		tree=$(git -C base.git hash-object -t tree -w /dev/null) &&
		printf "%s\n" "tree $tree" "author A <a> 1 +0000" \
			"committer A <a> 1 +0000" "" one >commit &&
		ONE=$(git -C base.git hash-object -t commit -w ../commit) &&
		git -C base.git update-ref refs/heads/main $ONE &&
		for link in d:none dd:d l:main loop:loop
		do
			git -C base.git symbolic-ref refs/heads/${link%:*} \
				refs/heads/${link#*:} || return 1
		done
	'

	# The columns are: ref, exit code, arguments of update-ref, and text of
	# the last line of the errors.
	while IFS="|" read -r ref code change words
	do
		test_expect_success "$format: $change" '
			rm -rf r.git && cp -R base.git r.git &&
			eval "echo \"$change\"" >change &&
			eval "words=\"$words\"" &&
			old=$(git -C r.git symbolic-ref --no-recurse $ref) &&
			test_expect_code $code git -C r.git update-ref \
				--no-deref --stdin <change 2>err &&
			{
				test -z "$words" ||
				grep -F "cannot lock ref '\''$ref'\'': $words" \
					err
			} &&
			new=$(git -C r.git symbolic-ref --no-recurse $ref ||
				:) &&
			if test $code = 128
			then
				test "$old" = "$new"
			fi
		'
	done <<-\EOT
	refs/heads/d|128|create refs/heads/d $ONE|dangling symref already exists
	refs/heads/dd|128|create refs/heads/dd $ONE|dangling symref already exists
	refs/heads/d|128|update refs/heads/d $ONE $ZERO|dangling symref already exists
	refs/heads/d|128|verify refs/heads/d|dangling symref already exists
	refs/heads/d|128|verify refs/heads/d $ZERO|dangling symref already exists
	refs/heads/d|128|symref-verify refs/heads/d|dangling symref already exists
	refs/heads/d|128|symref-create refs/heads/d refs/heads/main|dangling symref already exists
	refs/heads/d|128|symref-update refs/heads/d refs/heads/x oid $ZERO|dangling symref already exists
	refs/heads/d|128|update refs/heads/d $ONE $ONE|reference is missing but expected $ONE
	refs/heads/d|128|delete refs/heads/d $ONE|reference is missing but expected $ONE
	refs/heads/loop|128|create refs/heads/loop $ONE|error reading reference
	refs/heads/loop|128|verify refs/heads/loop|error reading reference
	refs/heads/loop|128|symref-create refs/heads/loop refs/heads/x|error reading reference
	refs/heads/l|128|create refs/heads/l $ONE|reference already exists
	refs/heads/d|0|update refs/heads/d $ONE|
	refs/heads/loop|0|update refs/heads/loop $ONE|
	refs/heads/d|0|symref-update refs/heads/d refs/heads/x|
	refs/heads/d|0|symref-verify refs/heads/d refs/heads/none|
	EOT

	test_expect_success "$format: a symbolic ref is followed to create" '
		rm -rf r.git && cp -R base.git r.git &&
		echo "create refs/heads/dd $ONE" |
		git -C r.git update-ref --stdin &&
		test $(git -C r.git rev-parse refs/heads/none) = $ONE &&
		test $(git -C r.git symbolic-ref refs/heads/d) = refs/heads/none
	'

	test_expect_success "$format: a batch continues after a wrong old value" '
		rm -rf r.git && cp -R base.git r.git &&
		printf "%s\n" "create refs/heads/d $ONE" \
			"create refs/heads/new $ONE" |
		git -C r.git update-ref --no-deref --batch-updates --stdin \
			>out &&
		echo "rejected refs/heads/d $ONE $ZERO" \
			"reference already exists" >expect &&
		test_cmp expect out &&
		test $(git -C r.git rev-parse refs/heads/new) = $ONE &&
		test $(git -C r.git symbolic-ref refs/heads/d) = refs/heads/none
	'
done

test_expect_success 'a repository whose refs are files' '
	rm -rf good.git &&
	git init -q --bare good.git &&
	git -C good.git config core.logAllRefUpdates true &&
	git -C good.git hash-object -t tree -w /dev/null &&
	git -C good.git hash-object -t commit -w ../commit &&
	sed "s/one/two/" commit >commit2 &&
	TWO=$(git -C good.git hash-object -t commit -w ../commit2) &&
	git -C good.git update-ref refs/heads/main $ONE &&
	git -C good.git update-ref refs/heads/foo $ONE &&
	git -C good.git pack-refs --all
'

fresh () {
	rm -rf r.git && cp -R good.git r.git
}

test_expect_success 'a HEAD of zeros is repaired' '
	fresh &&
	for new in $ONE "$ONE $ZERO"
	do
		echo $ZERO >r.git/HEAD &&
		git -C r.git update-ref HEAD $new &&
		echo $ONE >expect &&
		test_cmp expect r.git/HEAD || return 1
	done &&
	echo $ZERO >r.git/HEAD &&
	test_expect_code 128 git -C r.git update-ref HEAD $ONE $ONE 2>err &&
	grep "reference is missing but expected $ONE" err
'

test_expect_success 'a branch of zeros is repaired, verified and deleted' '
	fresh &&
	for change in "create refs/heads/z $ONE" "verify refs/heads/z" \
		"symref-update refs/heads/z refs/heads/main" \
		"symref-create refs/heads/z refs/heads/main" \
		"delete refs/heads/z"
	do
		echo $ZERO >r.git/refs/heads/z &&
		echo "$change" | git -C r.git update-ref --stdin || return 1
	done &&
	! test -e r.git/refs/heads/z
'

test_expect_success 'empty directories in the place of a packed ref' '
	fresh && mkdir -p r.git/refs/heads/foo/bar/baz &&
	git -C r.git update-ref refs/heads/foo $TWO $ONE &&
	test $(cat r.git/refs/heads/foo) = $TWO &&
	fresh && mkdir -p r.git/refs/heads/foo/bar/baz &&
	git -C r.git symbolic-ref refs/heads/foo refs/heads/main &&
	test "$(cat r.git/refs/heads/foo)" = "ref: refs/heads/main"
'

test_expect_success 'a directory with other files is not removed' '
	fresh && mkdir -p r.git/refs/heads/foo/bar &&
	echo junk >r.git/refs/heads/foo/bar/junk &&
	test_expect_code 128 git -C r.git update-ref refs/heads/foo $TWO &&
	test $(git -C r.git rev-parse refs/heads/foo) = $ONE &&
	echo junk >expect &&
	test_cmp expect r.git/refs/heads/foo/bar/junk
'

test_expect_success 'messages name <old-oid> and <new-oid>' '
	fresh &&
	for command in "update refs/heads/foo" "create refs/heads/x" \
		"create refs/heads/x $ZERO" "delete refs/heads/foo $ZERO"
	do
		echo "$command" >commands &&
		test_expect_code 128 git -C r.git update-ref --stdin \
			<commands 2>&1 || return 1
	done >err &&
	sed "s/.*: //" err >actual &&
	printf "%s\n" "missing <new-oid>" "missing <new-oid>" \
		"zero <new-oid>" "zero <old-oid>" >expect &&
	test_cmp expect actual
'

# A value is expected, so the missing ref is reported, not the conflict.
test_expect_success 'an expected value of a ref below another ref' '
	fresh &&
	for command in "update refs/heads/foo/x $ONE $ONE" \
		"delete refs/heads/foo/x $ONE" "verify refs/heads/foo/x $ONE"
	do
		echo "$command" >commands &&
		test_expect_code 128 git -C r.git update-ref --stdin \
			<commands 2>err &&
		grep "unable to resolve reference ${SQ}refs/heads/foo/x$SQ" \
			err || return 1
	done
'

# A killed process has left a lock file in the directory. A lock file is no ref,
# but the directory cannot be removed. So the transaction must change nothing.
test_expect_success 'a non-empty directory in the place of a new ref' '
	fresh && mkdir -p r.git/refs/heads/dir/sub &&
	: >r.git/refs/heads/dir/sub/x.lock &&
	git -C r.git for-each-ref >before &&
	printf "create refs/heads/%s $ONE\n" a dir z >commands &&
	words="there is a non-empty directory ${SQ}./refs/heads/dir$SQ" &&
	words="$words blocking reference ${SQ}refs/heads/dir$SQ" &&
	test_expect_code 128 git -C r.git update-ref --stdin <commands 2>err &&
	echo "fatal: cannot lock ref ${SQ}refs/heads/dir$SQ: $words" >expect &&
	test_cmp expect err &&
	git -C r.git for-each-ref >after && test_cmp before after &&
	find r.git -name "*.lock" >locks && test_line_count 1 locks &&
	echo "update refs/heads/foo $TWO" >commands &&
	mkdir -p r.git/refs/heads/foo/sub &&
	: >r.git/refs/heads/foo/sub/x.lock &&
	test_expect_code 128 git -C r.git update-ref --stdin <commands 2>err &&
	grep "there is a non-empty directory ${SQ}./refs/heads/foo$SQ" err &&
	git -C r.git for-each-ref >after && test_cmp before after
'

test_expect_success 'a non-empty directory: other updates of a batch are made' '
	fresh && mkdir -p r.git/refs/heads/dir/sub &&
	: >r.git/refs/heads/dir/sub/x.lock &&
	printf "create refs/heads/%s $ONE\n" a dir z >commands &&
	git -C r.git update-ref --stdin --batch-updates <commands >out &&
	echo "rejected refs/heads/dir $ONE $ZERO refname conflict" >expect &&
	test_cmp expect out &&
	git -C r.git rev-parse refs/heads/a refs/heads/z
'

test_expect_success 'a non-empty directory: an atomic push changes no ref' '
	rm -rf pushed.git && git clone -q --bare good.git pushed.git &&
	mkdir -p pushed.git/refs/heads/dir/sub &&
	: >pushed.git/refs/heads/dir/sub/x.lock &&
	git -C pushed.git for-each-ref >before &&
	test_must_fail git -C good.git push -q --atomic ../pushed.git \
		main:refs/heads/a main:refs/heads/dir main:refs/heads/z \
		2>err &&
	git -C pushed.git for-each-ref >after && test_cmp before after
'

# After each fault, HEAD and foo must have the old value or the new one. Running
# the command again must repair them.
prepare () {
	fresh && git -C r.git config core.fsync reference &&
	echo $ZERO >r.git/HEAD &&
	mkdir -p r.git/refs/heads/foo/bar
}

old_or_new () {
	fault_exited "$1" &&
	case $(cat r.git/HEAD) in
	$ZERO|$TWO) ;;
	*) return 1 ;;
	esac &&
	case $(git -C r.git rev-parse refs/heads/foo) in
	$ONE|$TWO) ;;
	*) return 1 ;;
	esac &&
	find r.git -name "*.lock" -exec rm "{}" + &&
	git -C r.git update-ref --no-deref --stdin <changes &&
	test $(cat r.git/HEAD) = $TWO &&
	test $(cat r.git/refs/heads/foo) = $TWO
}

for mode in kill lose EIO ENOSPC
do
	test_expect_success "$mode at each call that repairs the refs" '
		printf "update %s $TWO\n" HEAD refs/heads/foo >changes &&
		fault_in=changes &&
		fault_each $mode prepare \
			"$GIT -C r.git update-ref --no-deref --stdin" \
			"old_or_new $mode"
	'
done

commands () {
	printf "%b" "$1" >commands
}

test_expect_success 'update-ref --stdin -z without the last old value' '
	for end in "" "\\0000" "\\0000\\0000"
	do
		fresh && git -C r.git symbolic-ref refs/heads/l refs/heads/foo &&
		commands "symref-update refs/heads/l\\0000refs/heads/main$end" &&
		git -C r.git update-ref --no-deref --stdin -z <commands &&
		test $(git -C r.git symbolic-ref refs/heads/l) = \
			refs/heads/main &&
		commands "symref-verify refs/heads/none$end" &&
		git -C r.git update-ref --no-deref --stdin -z <commands &&
		commands "symref-delete refs/heads/l$end" || return 1
		test "$end" = "\\0000\\0000" && continue
		git -C r.git update-ref --no-deref --stdin -z <commands &&
		! test -e r.git/refs/heads/l || return 1
	done
'

test_expect_success 'update-ref --stdin -z: no command is taken for a value' '
	fresh && git -C r.git symbolic-ref refs/heads/l refs/heads/foo &&
	commands "symref-update refs/heads/l\\0000refs/heads/main\\0000\\0000\
create refs/heads/q\\0000$ONE\\0000" &&
	test_must_fail git -C r.git update-ref --no-deref --stdin -z <commands &&
	test $(git -C r.git symbolic-ref refs/heads/l) = refs/heads/foo &&
	for kind in ref oid
	do
		commands "symref-update refs/heads/l\\0000refs/heads/x\\0000$kind" &&
		test_expect_code 128 git -C r.git update-ref --no-deref \
			--stdin -z <commands 2>err &&
		grep "expected old value" err || return 1
	done
'

test_done
