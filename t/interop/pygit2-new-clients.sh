#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a new libgit2 clones, fetches, deepens and pushes

Fetched once with pip, into build/pygit2, in the version that
t/interop/pygit2/requirements.txt names.'
. "$(dirname "$0")/../lib.sh"

pygit2_dir=$GITREACH_SRC/build/pygit2
PYGIT2_PYTHON=$pygit2_dir/bin/python PYGIT2_SHALLOW=yes
. "$GITREACH_SRC/t/interop/pygit2/setup.sh"

# pip is configured in the caller's home, not in the test's.
fetch_pygit2 () {
	wanted=$GITREACH_SRC/t/interop/pygit2/requirements.txt
	test "$pygit2_dir/fetched" -nt "$wanted" && return
	mkdir -p "$pygit2_dir" &&
	/usr/bin/python3 -m venv "$pygit2_dir" >"$pygit2_dir/pip.log" 2>&1 &&
	HOME=$GITREACH_HOME "$PYGIT2_PYTHON" -m pip install -q \
		--disable-pip-version-check --only-binary :all: -r "$wanted" \
		>"$pygit2_dir/pip.log" 2>&1 &&
	touch "$pygit2_dir/fetched"
}
fetch_pygit2 || pygit2_unavailable "cannot be fetched, see $pygit2_dir/pip.log"

. "$GITREACH_SRC/t/lib-clients.sh"
test_local
test_by_ssh

test_done
