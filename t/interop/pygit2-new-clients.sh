#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a new libgit2 clones, fetches, deepens and pushes

Fetched once with pip, into build/pygit2, in the version that
t/interop/pygit2/requirements.txt names.'
. "$(dirname "$0")/../lib.sh"
. "$GITREACH_SRC/t/lib-pip.sh"

pygit2_dir=$GITREACH_SRC/build/pygit2
PYGIT2_PYTHON=$pygit2_dir/bin/python PYGIT2_SHALLOW=yes
. "$GITREACH_SRC/t/interop/pygit2/setup.sh"

try_to_fetch "${GITREACH_REQUIRE_PYGIT2-}" pip_fetch pygit2 ||
	pygit2_unavailable "cannot be fetched, see $pygit2_dir/pip.log"

. "$GITREACH_SRC/t/lib-clients.sh"
test_local
test_by_ssh

test_done
