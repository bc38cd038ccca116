#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='receive-pack: peers that say too much, lie, or are gone, cost
little memory and leave nothing'
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

# What there is of commands and certificates is kept, up to a limit.
test_expect_success 'receive-pack: vast_certificate' '
	PEAK=300 &&
	survives receive-pack 128 vast_certificate "the push is too large"
'

test_expect_success 'the repository is as it was' '
	stock -C server.git fsck --strict
'

test_done
