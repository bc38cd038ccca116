#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='JGit clones, fetches, deepens and pushes

JGit fetches no missing object by itself, but what it is told to.'
. "$(dirname "$0")/../lib.sh"
. "$GITREACH_SRC/t/interop/jgit/setup.sh"

client () {
	JGIT_SERVERS=$LOCAL_SERVERS jgit "$@"
}
client_can () {
	:
}

. "$GITREACH_SRC/t/lib-clients.sh"

test_done
