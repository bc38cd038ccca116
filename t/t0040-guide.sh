#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='the guide: each command of it is run, and its links, options
and keys exist'
. "$(dirname "$0")/lib.sh"

guide=$GITREACH_SRC/Documentation/guide
helper=$GITREACH_SRC/t/guide.py
# The commands of the guide do not quote paths, but the path of the test
# directory has a blank. Also, the path of a socket file must be short. So the
# commands run in another temporary directory.
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
# The environment of a new user without configuration.
unset GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE
unset GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_COMMITTER_DATE
export PATH="$STOCK_PATH"

# needs <program>...: succeeds if the programs are installed.
needs () {
	for program
	do
		PATH=$PATH:/usr/sbin:/sbin command -v $program >/dev/null || return
	done
}
needs nginx fcgiwrap openssl && test_set_prereq PAGE_proxy
needs nginx openssl && test_set_prereq PAGE_complete
needs nginx && test_set_prereq PAGE_publishing
needs curl && test_set_prereq PAGE_monitoring
needs cc pkg-config && test_have_prereq PLAIN && test_set_prereq PAGE_programs
needs openssl && test_set_prereq PAGE_users && test_set_prereq PAGE_forge &&
	test_set_prereq PAGE_tasks

test_expect_success 'links, manual pages, options and keys exist' '
	python3 "$helper" check "$guide"/*.md
'

test_expect_success 'series of Prometheus exist' '
	grep -roh --include="*.md" --exclude=programs.md "gitreach_[a-z][a-z_]*" \
		"$guide" | sed "s/_total$//" |
	sort -u >series &&
	test -s series &&
	while read series
	do
		cat "$GITREACH_SRC/status/statistics.c" \
			"$GITREACH_SRC/stored/counts.c" \
			"$GITREACH_SRC/daemon/admin.c" |
		grep "\"$series\"" || return
	done <series
'

test_expect_success 'members of the log of requests exist' '
	sed -n "/large .* cause/,/^$/p" "$guide/slow.md" | cut -d "|" -f 2 |
	grep -o "\`[a-z_]*\`" >members &&
	test_line_count 19 members &&
	while read member
	do
		member=$(echo "$member" | tr -d "\`") &&
		grep -E "\`($member|$member.us)\`" \
			"$GITREACH_SRC/Documentation/format/trace.md" || return
	done <members
'

for page in "$guide"/*.md
do
	name=$(basename "$page" .md)
	case $name in
	proxy | complete | monitoring | users | forge | publishing | programs | tasks) prereq=PAGE_$name ;;
	*) prereq= ;;
	esac
	test_expect_success $prereq "the commands of $name.md" "
		python3 \"\$helper\" run \"$page\" \"$here/$name\"
	"
done

test_expect_success 'the backup page also restores reftables' '
	migrate="git -C /srv/git/project.git refs migrate --ref-format=reftable" &&
	format="git -C /srv/git/project.git rev-parse --show-ref-format" &&
	mkdir tables &&
	cp "$guide/example.sh" tables &&
	sed -e "s|^## A bundle|<!-- run: $migrate -->\n&|" \
		-e "s|^## Repositories in|<!-- run: $format \| grep reftable -->\n&|" \
		"$guide/backup.md" >tables/backup.md &&
	grep "^<!-- run" tables/backup.md >marks &&
	test_line_count 2 marks &&
	python3 "$helper" run tables/backup.md "$here/tables"
'

if command -v pandoc >/dev/null || python3 -c 'import markdown' 2>/dev/null
then
	test_set_prereq HTML
fi
test_expect_success HTML 'the guide as HTML, whose links lead to files' '
	"$GITREACH_SRC/tools/guide-html" html &&
	test "$(ls html/*.html | wc -l)" = "$(ls "$guide"/*.md | wc -l)" &&
	cat html/*.html >all &&
	test "$(grep -c "<pre class=\"sh\"" all)" = \
		"$(cat "$guide"/*.md | grep -c "^\`\`\`sh")" &&
	python3 "$helper" html html/*.html
'

# bad_page <kind> <line>...: asserts that the checker refuses a page for each of
# these lines.
bad_page () {
	kind=$1 &&
	shift &&
	rm -rf bad "$here/bad" &&
	mkdir -p bad/Documentation/guide &&
	cp "$GITREACH_SRC"/Documentation/*.[1-9] bad/Documentation &&
	printf "%s\n" "$@" >bad/Documentation/guide/bad.md &&
	if test "$kind" = run
	then
		test_must_fail python3 "$helper" run \
			bad/Documentation/guide/bad.md "$here/bad" 2>err
	else
		test_must_fail python3 "$helper" check \
			bad/Documentation/guide/bad.md 2>err
	fi
}

test_expect_success 'a command that fails is noticed' '
	bad_page run "\`\`\`sh" "echo one" false "echo two" "\`\`\`" &&
	grep "bad.md:1: the block fails" err &&
	bad_page run "\`\`\`sh fails" true "\`\`\`" &&
	grep "bad.md:1: the block succeeds" err
'

test_expect_success 'an output and a configuration that are wrong are noticed' '
	GUIDE_PATIENCE=0 &&
	export GUIDE_PATIENCE &&
	bad_page run "\`\`\`sh" "echo one; echo 2" "\`\`\`" \
		"\`\`\`output" one "<id>" "\`\`\`" &&
	grep "bad.md:4: the page shows" err &&
	bad_page run "\`\`\`conf gitreachd.conf" "[gitreachd]" "x = 1" "\`\`\`" &&
	grep "unknown key" err
'

test_expect_success 'a link, an option, a key and a page that do not exist' '
	bad_page check "[x](none.md)" &&
	grep "there is no none.md" err &&
	bad_page check "\`\`\`sh" "git repack --no-such" "\`\`\`" &&
	grep "git repack has no --no-such" err &&
	bad_page check "Set \`repack.noSuchKey\`, see gitreach-none(1)." &&
	grep "no manual page has the key repack.noSuchKey" err &&
	grep "no manual page gitreach-none(1)" err &&
	bad_page check "\`\`\`sh other" "if then" "\`\`\`" &&
	grep "sh cannot parse" err
'

test_done
