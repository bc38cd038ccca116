#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='receive-pack: hostile clients cost little memory and leave no files'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-hostile.sh"

test_expect_success 'setup' '
	repo_linear server.git 20 &&
	stock -C server.git config receive.advertisePushOptions true &&
	stock -C server.git config receive.autogc false &&
	stock -C server.git config receive.certNonceSeed seed &&
	stock -C server.git for-each-ref >refs.before
'

while read -r code scenario words
do
	test_expect_success "receive-pack: $scenario" "
		unset GIT_PROTOCOL
		survives receive-pack $code $scenario \"$words\" &&
		stock -C server.git for-each-ref >refs &&
		test_cmp refs.before refs &&
		! ls server.git/objects | grep tmp_objdir
	"
done <<\EOF
0 endless_commands
0 endless_push_options
0 endless_cuts
0 huge_pack
0 huge_object
0 garbage_pack
0 long_names
0 nested_names
0 deletions
0 same_ref
128 endless_certificate protocol error: the push certificate has no end
128 certificate_of_nothing malformed push certificate
0 inflating_blob
0 inflating_commit
0 inflating_tree
0 inflating_delta
0 delta_circle
128 no_length protocol error: bad line length character: -001
128 half_command
EOF

# Commands and certificates are stored up to a limit.
test_expect_success 'receive-pack: vast_certificate' '
	PEAK=300 &&
	survives receive-pack 128 vast_certificate "the commands, options and certificate of the push are too large"
'

# endless_commands sends 100,000 commands. The server frees its commands before
# it reads the rest, and the client gets an error.
test_expect_success 'receive-pack: more commands than the limit' '
	PEAK=24 &&
	stock -C server.git config gitreach.maxPushCommands 50000 &&
	survives receive-pack 128 endless_commands \
		"a push of more than 50000 commands is not accepted here" &&
	stock -C server.git config gitreach.maxPushCommands 0 &&
	PEAK=48 &&
	survives receive-pack 0 endless_commands &&
	stock -C server.git config --unset gitreach.maxPushCommands &&
	stock -C server.git for-each-ref >refs &&
	test_cmp refs.before refs
'

# The server reads the type of each blob, at the end of its delta chain. The limit is in
# seconds of CPU time.
test_expect_success 'receive-pack: long_chain costs little CPU time' '
	(ulimit -t 5 && survives receive-pack 0 long_chain) &&
	stock -C server.git rev-parse --verify refs/heads/chain &&
	stock -C server.git update-ref -d refs/heads/chain
'

test_expect_success 'a client that pushes too many refs gets an error' '
	stock init -q --bare limited.git &&
	stock -C limited.git config gitreach.maxPushCommands 3 &&
	tip=$(stock -C server.git rev-parse main) &&
	OURS=$GITREACH_BUILD/bin/git-receive-pack &&
	test_must_fail stock -C server.git push --receive-pack="$OURS" \
		../limited.git $tip:refs/heads/a $tip:refs/heads/b \
		$tip:refs/heads/c $tip:refs/heads/d 2>err &&
	grep "^remote: a push of more than 3 commands is not accepted" \
		err &&
	stock -C limited.git for-each-ref >refs &&
	test_must_be_empty refs &&
	stock -C server.git push -q --receive-pack="$OURS" \
		../limited.git $tip:refs/heads/a $tip:refs/heads/b \
		$tip:refs/heads/c
'

test_expect_success 'a limit that is no number is an error' '
	test_must_fail git -c gitreach.maxPushCommands=many receive-pack \
		--advertise-refs limited.git 2>err &&
	grep "bad numeric config value .many. for .gitreach.maxpushcommands." \
		err
'

test_expect_success 'the repository is unchanged' '
	stock -C server.git fsck --strict
'

test_done
