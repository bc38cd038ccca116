#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='upload-pack and receive-pack: peers that say too much, lie, or
are gone, cost little memory and leave nothing'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"

# What a server may hold at most, in MiB, with all libraries.
PEAK=48

# survives <service> <exit code> <scenario> [<words of its ERR line>]
survives () {
	python3 "$GITREACH_SRC/t/hostile-peers.py" server.git "$3" \
		"$GITREACH_BUILD/bin/git-$1" >out &&
	cat out &&
	grep "^exit=$2 " out &&
	test "$(sed -n "s/.*peak=//p" out)" -le $PEAK &&
	if test -n "${4-}"
	then
		grep "^ERR $4" out
	else
		! grep "^ERR" out
	fi
}

test_expect_success 'setup' '
	repo_linear server.git 20 &&
	head -c 300000 /dev/urandom >large &&
	blob=$(stock -C server.git hash-object -w --stdin <large) &&
	stock -C server.git update-ref refs/tags/large $blob &&
	stock -C server.git config transfer.advertiseObjectInfo true &&
	stock -C server.git config receive.advertisePushOptions true &&
	stock -C server.git config receive.autogc false &&
	stock -C server.git for-each-ref >refs.before
'

while read -r code scenario words
do
	test_expect_success "upload-pack: $scenario" "
		case $scenario in
		v0_*) unset GIT_PROTOCOL ;;
		*) GIT_PROTOCOL=version=2 && export GIT_PROTOCOL ;;
		esac &&
		survives upload-pack $code $scenario \"$words\"
	"
done <<\EOF
0 endless_wants
128 unknown_wants upload-pack: not our ref
0 unknown_haves
0 unknown_shallow
0 endless_options
0 endless_prefixes
0 endless_sizes
128 no_end
128 largest unexpected line:
128 too_large protocol error: bad line length 65521
128 no_length protocol error: bad line length character: -001
128 length_of_3 protocol error: bad line length 3
128 vanish
0 v0_wants
0 v0_haves
0 v0_flushes
EOF

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
128 no_length protocol error: bad line length character: -001
128 half_command
EOF

test_expect_success 'the repository is as it was' '
	stock -C server.git fsck --strict
'

test_done
