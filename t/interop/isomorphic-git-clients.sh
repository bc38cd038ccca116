#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='isomorphic-git clones, fetches, deepens and pushes

Fetched once with npm, into build/isomorphic-git, in the version that
t/interop/isomorphic-git/package.json names. isomorphic-git speaks HTTP only.'
. "$(dirname "$0")/../lib.sh"

ISOMORPHIC_GIT=$GITREACH_SRC/build/isomorphic-git
export ISOMORPHIC_GIT

# npm is configured in the caller's home, not in the test's.
npm_fetch () {
	source=$GITREACH_SRC/t/interop/isomorphic-git
	test "$ISOMORPHIC_GIT/fetched" -nt "$source/package.json" && return
	mkdir -p "$ISOMORPHIC_GIT" &&
	cp "$source/package.json" "$ISOMORPHIC_GIT" &&
	(
		cd "$ISOMORPHIC_GIT" &&
		HOME=$GITREACH_HOME npm install --no-fund --no-audit \
			>npm.log 2>&1
	) && touch "$ISOMORPHIC_GIT/fetched"
}

try_to_fetch "${GITREACH_REQUIRE_ISOMORPHIC_GIT-}" npm_fetch || {
	if test -n "${GITREACH_REQUIRE_ISOMORPHIC_GIT-}"
	then
		echo "isomorphic-git is required, see $ISOMORPHIC_GIT/npm.log" >&2
		exit 1
	fi
	skip_all="isomorphic-git: cannot be fetched, see $ISOMORPHIC_GIT/npm.log"
	test_done
}

client () {
	test ! -e tls.crt || export NODE_EXTRA_CA_CERTS="$PWD/tls.crt"
	node --no-warnings \
		"$GITREACH_SRC/t/interop/isomorphic-git/client.mjs" "$@"
}
client_can () {
	case $1:$2 in
	filter:* | atomic:* | options:*) return 1 ;;
	*:http*) ;;
	*) return 1 ;;
	esac
}

. "$GITREACH_SRC/t/lib-clients.sh"

test_done
