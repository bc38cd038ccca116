#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='manual pages: their names, their options and settings, and their form'
. "$(dirname "$0")/lib.sh"

cd_src () {
	(cd "$GITREACH_SRC" && "$@")
}
pages=$(cd "$GITREACH_SRC/Documentation" && ls gitreach*.[1-9])

test_expect_success 'no page has the name of a page of stock Git' '
	for page in $pages
	do
		case "$page" in
		gitreach.7 | gitreach-*.1 | gitreachd.8 | gitreachd.conf.5) ;;
		*) echo "$page"; return 1 ;;
		esac
	done
'

if command -v python3 >/dev/null
then
	test_set_prereq PYTHON
fi

# A copy of the files that tools/check-man reads. The tests change these files.
copy_sources () {
	rm -rf tree &&
	mkdir tree &&
	cd_src sh -c "tar cf - README.md Documentation tools include \
		*.[ch] */*.[ch]" | tar xf - -C tree
}
check_man () {
	(cd tree && PYTHONDONTWRITEBYTECODE=1 tools/check-man)
}

test_expect_success PYTHON 'pages agree with the option tables' '
	copy_sources &&
	check_man &&
	CC="env ${CC:-cc}" check_man
'

test_expect_success PYTHON 'an option that a page lacks is noticed' '
	sed "s/\"pack-kept-objects\"/\"pack-other-objects\"/" \
		tree/builtin/repack.c >new &&
	mv new tree/builtin/repack.c &&
	test_must_fail check_man 2>err &&
	grep "gitreach-repack.1: --pack-other-objects, .* is missing" err &&
	grep "git repack has no --pack-kept-objects" err
'

test_expect_success PYTHON 'a missing negation, literal or macro of a page is noticed' '
	copy_sources &&
	sed "s/\\[no[^]]*\\]thin/thin/; /non..empty/d" \
		"$GITREACH_SRC/Documentation/gitreach-pack-objects.1" \
		>tree/Documentation/gitreach-pack-objects.1 &&
	sed "s/\"--test-bitmap\"/\"--prove-bitmap\"/" \
		"$GITREACH_SRC/builtin/rev-list-args.c" \
		>tree/builtin/rev-list-args.c &&
	test_must_fail check_man 2>err &&
	grep "pack-objects.1: --no-thin, .* is missing" err &&
	grep "pack-objects.1: --non-empty, .* is missing" err &&
	grep "rev-list.1: --prove-bitmap, .* is missing" err
'

test_expect_success PYTHON 'a command without a page is noticed' '
	copy_sources &&
	rm tree/Documentation/gitreach-init.1 &&
	test_must_fail check_man 2>err &&
	grep "git init has no page" err &&
	grep "no page.s CONFIGURATION has init.defaultbranch" err
'

test_expect_success PYTHON 'a setting of the server that a page lacks is noticed' '
	copy_sources &&
	sed "s/\"head-timeout\"/\"top-timeout\"/" \
		"$GITREACH_SRC/processes/settings.c" >tree/processes/settings.c &&
	test_must_fail check_man 2>err &&
	grep "gitreachd.8: --top-timeout is missing" err &&
	grep "gitreachd.8: gitreachd has no --head-timeout" err &&
	grep "gitreachd.conf.5: top-timeout is missing" err &&
	grep "gitreachd.conf.5: gitreachd has no key head-timeout" err
'

# check-man uses groff if mandoc is missing. groff does not report this mistake.
if test_have_prereq PYTHON && command -v mandoc >/dev/null
then
	test_set_prereq MANDOC
fi

test_expect_success MANDOC 'a mistake that mandoc finds is noticed' '
	copy_sources &&
	printf ".SS Form\n.PP\nText\n.SH\n" >>tree/Documentation/gitreach.7 &&
	test_must_fail check_man 2>err &&
	grep "gitreach\.7:.*skipping paragraph macro: PP after SS" err &&
	test_must_fail grep "missing date" err
'

# Print a page as a reader sees it, with one blank between words.
rendered () {
	man -l "$GITREACH_SRC/Documentation/$1" | col -bx | tr -s " \n" "  "
}
if command -v man >/dev/null && command -v col >/dev/null &&
	rendered gitreach.7 2>/dev/null | grep gitreach >/dev/null
then
	test_set_prereq MAN
fi

test_expect_success MAN 'the page describes each option of the usage' '
	for page in $pages
	do
		command=${page#gitreach-} command=${command%.1}
		test "$page" != gitreach.7 || continue
		rendered "$page" >page &&
		{ git "$command" -h || :; } >usage 2>/dev/null &&
		for option in $(sed -n "s/^    .*--\([a-z][a-z-]*\).*/\1/p" usage)
		do
			option=${option#no-}
			grep -e "--$option" -e "--\[no-\]$option" page \
				>/dev/null || {
				echo "$page: $option"
				return 1
			}
		done || return 1
	done
'

test_done
