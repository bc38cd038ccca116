#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='JGit clones, fetches, deepens and pushes'
. "$(dirname "$0")/../lib.sh"
. "$GITREACH_SRC/t/interop/jgit/setup.sh"

client () {
	jgit "$@"
}
client_ssh=yes client_shallow=yes

. "$GITREACH_SRC/t/lib-clients.sh"

test_done
