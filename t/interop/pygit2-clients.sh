#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='libgit2, by way of pygit2, clones, fetches and pushes

Without pygit2 these tests are skipped; GITREACH_REQUIRE_PYGIT2=1 makes that a
failure. The one of Debian 12 knows no shallow clones.'
. "$(dirname "$0")/../lib.sh"

if ! /usr/bin/python3 -c 'import pygit2' 2>/dev/null
then
	if test -n "${GITREACH_REQUIRE_PYGIT2-}"
	then
		echo 'pygit2 is required' >&2
		exit 1
	fi
	skip_all='no pygit2 (apt-get install python3-pygit2)'
	test_done
fi

client () {
	"$GITREACH_SRC/t/interop/pygit2/client" "$@"
}
client_ssh= client_shallow=

. "$GITREACH_SRC/t/lib-clients.sh"

test_done
