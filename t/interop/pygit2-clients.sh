#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='libgit2 as Debian has it clones, fetches and pushes

The libgit2 of Debian 12 knows no shallow clones.'
. "$(dirname "$0")/../lib.sh"

PYGIT2_PYTHON=/usr/bin/python3 PYGIT2_SHALLOW=
. "$GITREACH_SRC/t/interop/pygit2/setup.sh"

"$PYGIT2_PYTHON" -c 'import pygit2' 2>/dev/null ||
	pygit2_unavailable 'not there (apt-get install python3-pygit2)'

. "$GITREACH_SRC/t/lib-clients.sh"
test_local
test_by_ssh

test_done
