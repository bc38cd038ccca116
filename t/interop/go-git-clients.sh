#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='go-git clones, fetches, deepens and pushes

Built once with Go, into build/go-git, from the version that
t/interop/go-git/go.mod names. go-git speaks ssh itself.'
. "$(dirname "$0")/../lib.sh"

go_dir=$GITREACH_SRC/build/go-git

# Go keeps its downloads in the caller's home, not in the test's.
go_fetch () {
	source=$GITREACH_SRC/t/interop/go-git
	test "$go_dir/client" -nt "$source/client.go" &&
		test "$go_dir/client" -nt "$source/go.mod" && return
	mkdir -p "$go_dir" &&
	(
		cd "$source" &&
		HOME=$GITREACH_HOME go build -o "$go_dir/client" . \
			>"$go_dir/go.log" 2>&1
	)
}

try_to_fetch "${GITREACH_REQUIRE_GO_GIT-}" go_fetch || {
	if test -n "${GITREACH_REQUIRE_GO_GIT-}"
	then
		echo "go-git is required, see $go_dir/go.log" >&2
		exit 1
	fi
	skip_all="go-git: cannot be built, see $go_dir/go.log"
	test_done
}

client () {
	"$go_dir/client" "$@"
}
client_can () {
	case $1:$2 in
	deepen:* | filter:* | clone:ssh:* | clone:file:*) return 1 ;;
	esac
}

. "$GITREACH_SRC/t/lib-clients.sh"

test_done
