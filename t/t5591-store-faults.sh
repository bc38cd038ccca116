#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a store in a directory, on a disk that fails, or without memory

After each fault, a file has its old or its new content, and never a part of it.
The result of the command agrees with the file: after "ok" the content is new, and
after an error it is old.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-fault.sh"
. "$GITREACH_SRC/t/lib-memory.sh"

STORE=$GITREACH_BUILD/t/helper/store
# The words of a command have no blanks; the working directory has one.
base=$(mktemp -d "${TMPDIR:-/tmp}/gitreach-store-XXXXXX") || exit 1
trap 'rm -rf "$base"' EXIT
dir=$base/dir
url=file://$dir

# content <name>: print the content of a file of the store, or "absent".
content () {
	"$STORE" $url get $1 >content.out && sed -n 1p content.out
}

# Sets $result: the last line of the output, "error", or "killed".
read_result () {
	case $fault_code in
	0) result=$(tail -n 1 fault.out) ;;
	1) result=error ;;
	137) result=killed ;;
	*) return 1 ;;
	esac
}

# agrees <before> <after> <name>: the content is what the result says.
agrees () {
	read_result && now=$(content $3) &&
	case $result in
	ok) test "$now" = "$2" ;;
	error) test "$now" = "$1" ;;
	killed | ambiguous) test "$now" = "$1" || test "$now" = "$2" ;;
	*) return 1 ;;
	esac &&
	test "$(content kept)" = kept
}

old=$(printf %s old | sha256sum | sed "s/ .*//")

setup () {
	rm -rf $dir && $STORE $url create kept kept &&
	$STORE $url create gen/old old
}

FAULT_LIBRARY=$GITREACH_BUILD/t/helper/preload-fault.so
for mode in kill lose EIO ENOSPC short
do
	test_expect_success "create: $mode" '
		fault_each '$mode' "setup >out" \
			"$STORE $url create gen/new new" \
			"agrees absent new gen/new"
	'

	test_expect_success "replace a known version: $mode" '
		fault_each '$mode' "setup >out" \
			"$STORE $url replace gen/old \"$old\" new" \
			"agrees old new gen/old"
	'

	test_expect_success "delete: $mode" '
		fault_each '$mode' "setup >out" "$STORE $url delete gen/old" \
			"agrees old absent gen/old"
	'
done

test_expect_success 'a writer that was killed is in nobody'\''s way' '
	fault_step=1 &&
	fault_each kill "setup >out" "$STORE $url create gen/new new" "
		$STORE $url put gen/new other >out &&
		test \"\$(content gen/new)\" = other &&
		$STORE $url list gen/ >out &&
		printf \"5 gen/new\\n3 gen/old\\nok\\n\" >expect &&
		test_cmp expect out
	"
'

test_expect_success 'reading and writing while memory runs out' '
	fault_step= FAULT_LIBRARY=$GITREACH_BUILD/t/helper/preload-memory.so &&
	setup >out &&
	each_request "$STORE" $url get kept &&
	each_request "$STORE" $url head gen/old &&
	each_request "$STORE" $url list gen/ &&
	fault_each memory "setup >out" "$STORE $url create gen/new new" \
		"agrees absent new gen/new" &&
	fault_each memory "setup >out" \
		"$STORE $url replace gen/old \"$old\" new" \
		"agrees old new gen/old"
'

test_done
