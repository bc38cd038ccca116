#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='Dulwich clones, fetches, deepens and pushes

Fetched once with pip, into build/dulwich, in the version that
t/interop/dulwich/requirements.txt names. Dulwich fetches no missing object by
itself, but what it is told to.'
. "$(dirname "$0")/../lib.sh"
. "$GITREACH_SRC/t/lib-pip.sh"

dulwich_dir=$GITREACH_SRC/build/dulwich

try_to_fetch "${GITREACH_REQUIRE_DULWICH-}" pip_fetch dulwich || {
	if test -n "${GITREACH_REQUIRE_DULWICH-}"
	then
		echo "dulwich is required, see $dulwich_dir/pip.log" >&2
		exit 1
	fi
	skip_all="dulwich: cannot be fetched, see $dulwich_dir/pip.log"
	test_done
}

# A repository that says that it is one in part is none for Dulwich.
client () {
	test "$1" != fetch ||
		test_might_fail stock -C "$2" config --unset \
			extensions.partialClone
	"$dulwich_dir/bin/python" "$GITREACH_SRC/t/interop/dulwich/client" "$@"
}
client_can () {
	:
}

. "$GITREACH_SRC/t/lib-clients.sh"

test_done
