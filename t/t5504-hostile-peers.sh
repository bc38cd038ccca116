#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='upload-pack: peers that say too much, lie, or are gone, cost
little memory'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-hostile.sh"

test_expect_success 'setup' '
	repo_linear server.git 20 &&
	head -c 300000 /dev/urandom >large &&
	blob=$(stock -C server.git hash-object -w --stdin <large) &&
	stock -C server.git update-ref refs/tags/large $blob &&
	stock -C server.git config transfer.advertiseObjectInfo true &&
	stock -C server.git config uploadpack.allowFilter true &&
	stock -C server.git config uploadpack.allowRefInWant true
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
128 deepen_nots too many deepen-not lines
128 nested_filters filters are combined too deeply
128 deep_filters filters are combined too deeply
128 wide_filters too many filters are combined
128 repeated_filters multiple filter-specs cannot be combined
0 long_prefixes
0 many_prefixes
0 many_sizes
128 too_many_sizes too many object ids
0 many_commands
128 empty_lines unexpected line:
128 empty_keys unknown capability
128 delims expected flush after fetch arguments
0 nul_in_line
128 uppercase_length
0 endless_agents
128 endless_uris unexpected line:
128 want_refs duplicate want-ref
128 garbage protocol error: bad line length character:
128 slow_start
0 v0_wants
0 v0_haves
0 v0_flushes
0 v0_junk_capabilities
128 v0_filters multiple filter-specs cannot be combined
0 v0_depths
EOF

# Only the names of these objects are read.
test_expect_success 'setup: very many ids with the same first digits' '
	mkdir -p server.git/objects/ab &&
	(
		cd server.git/objects/ab &&
		python3 -c "for i in range(80000): open(f\"cd{i:036x}\", \"w\")"
	)
'

# The limit is in seconds of CPU time.
for scenario in open_braces long_dates short_id
do
	test_expect_success "upload-pack: $scenario cost little CPU time" "
		(
			GIT_PROTOCOL=version=2 && export GIT_PROTOCOL &&
			unset TZ && ulimit -t 3 &&
			survives upload-pack 128 $scenario \
				'unable to access sparse blob'
		)
	"
done

test_done
