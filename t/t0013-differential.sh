#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='t/interop/differential, which compares command lines with stock Git'
. "$(dirname "$0")/lib.sh"

# Makes the program "ours" of a test: a shell script that runs stock Git and
# then does something else. The script is read from standard input.
false_git () {
	mkdir -p build/bin &&
	{
		echo '#!/bin/sh' &&
		echo "stock () { \"$STOCK_GIT\" \"\$@\"; }" &&
		cat
	} >build/bin/git &&
	chmod +x build/bin/git
}

# compare_false <line> [<option>...]: compares this program with stock Git.
# <line> is a template of command lines.
compare_false () {
	line=$1
	shift &&
	GITREACH_BUILD=$PWD/build PATH=$STOCK_PATH \
		"$GITREACH_SRC/t/interop/differential" --jobs 1 \
		--line "$line" "$@" >out
}

test_expect_success 'equal programs do not differ' '
	false_git <<-\EOC &&
	stock "$@"
	EOC
	compare_false "[plain,packs] {show-ref,gc -q,repack -adq,fetch ..}" &&
	grep "^4 distinct command lines, 0 differences" out
'

# differs_in <part>...: asserts that differences are reported for exactly these
# parts.
differs_in () {
	printf "%s\n" "$@" >expect &&
	sed -n "s/^    \([a-z][a-z]*\)[: ].*/\1/p" out | grep -v repeat >actual &&
	test_cmp expect actual
}

test_expect_success 'a different exit code is reported' '
	echo "stock \"\$@\"; exit 3" | false_git &&
	test_must_fail compare_false "[plain] show-ref" &&
	differs_in exit &&
	grep "exit: ours 3, stock 0" out
'

test_expect_success 'a different output is reported' '
	echo "stock \"\$@\"; echo more; echo less >&2" | false_git &&
	test_must_fail compare_false "[plain] show-ref" &&
	differs_in stdout stderr
'

# changed_by <line>: the program "ours" also runs this line of shell. Asserts
# that the comparison reports a different state of the repository.
changed_by () {
	{
		echo "stock \"\$@\"" &&
		echo "unset GIT_DIR" &&
		echo "$1"
	} | false_git &&
	test_must_fail compare_false "[${2-packs}] show-ref" &&
	differs_in state
}

test_expect_success 'a different state of the repository is reported' '
	changed_by "stock update-ref refs/heads/new main" &&
	grep "file repo/refs/heads/new" out &&
	changed_by "stock update-ref -d refs/tags/tag" &&
	grep "refs/tags/tag: removed" out &&
	changed_by "stock reflog expire --expire=all --all" plain &&
	grep "file repo/.git/logs/HEAD" out &&
	changed_by "echo x | stock hash-object -w --stdin >/dev/null" &&
	grep "file repo/objects/58/7be6b4c3f93f93c489c0111bba5596147a26cb" out &&
	changed_by "touch objects/*/*" &&
	grep "freshened" out &&
	changed_by "stock repack -adq" &&
	changed_by "stock multi-pack-index write" &&
	grep "file repo/objects/pack/multi-pack-index" out &&
	changed_by "stock config a.b c" &&
	changed_by "chmod +x config" &&
	changed_by "mkdir objects/empty" &&
	grep "empty dir" out
'

test_expect_success 'packs with the same objects count as equal' '
	false_git <<-\EOC &&
	case "$*" in
	repack*)
		stock repack -adqf --window=0 &&
		stock -c pack.compression=0 repack -adqF
		;;
	*)
		stock "$@"
		;;
	esac
	EOC
	compare_false "[packs] repack -adqf" &&
	compare_false "[packs] pack-objects --all --stdout"
'

test_expect_success 'a command without an end is stopped' '
	echo "exec sleep 100" | false_git &&
	test_must_fail compare_false "[plain] show-ref" --limit 0.2 &&
	grep "exit: ours no end, stock 0" out
'

test_expect_success 'a template expands to all its command lines' '
	cat >expect <<-\EOF &&
	[plain] show-ref
	[plain] show-ref -a
	[plain] show-ref -a -c d
	[plain] show-ref -b
	[plain] show-ref -b -c d
	[plain] show-ref -c d
	EOF
	compare_false "[plain] show-ref {-a,-b,} {1|-c d}" --list &&
	LC_ALL=C sort out >actual &&
	test_cmp expect actual &&
	compare_false "[plain] show-ref {2|a|b|c}" --list &&
	test_line_count 7 out &&
	compare_false "[plain] show-ref {2!|a|b|c}" --list &&
	test_line_count 10 out &&
	sq=$(printf "\047") &&
	compare_false "[plain] update-ref --stdin < {${sq}a b$sq,${sq}c$sq}" \
		--list &&
	test_line_count 2 out &&
	test_must_fail compare_false \
		"[plain] update-ref --stdin < $sq{a b,c}$sq" --list 2>err &&
	grep "a template in quotes" err
'

# With a newer STOCK_GIT, more of the command lines can be compared. With Git
# 2.55, all tables can be run.
test_expect_success '400 command lines do what the stock Git does' '
	PATH=$STOCK_PATH STOCK_GIT=$STOCK_GIT \
		"$GITREACH_SRC/t/interop/differential" --jobs 2 \
		--sample 400 --seed 1 --table cat-file --table count-objects \
		--table prune --table rev-list --table show-index \
		--table show-ref --table unpack-objects --table update-ref \
		--table upload-pack >out &&
	grep "^[34][0-9][0-9] distinct command lines, 0 differences" out
'

test_done
