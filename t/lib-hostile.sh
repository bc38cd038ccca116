# SPDX-License-Identifier: MIT
#
# Sourced after lib.sh by tests of servers whose peers send too much, break the
# protocol, or disappear. Runs scenarios of hostile-peers.py against server.git.

# Maximum memory of a server in MiB, with all libraries.
PEAK=48

# survives <service> <exit code> <scenario> [<words of its ERR line>]
survives () {
	python3 "$GITREACH_SRC/t/hostile-peers.py" server.git "$3" \
		"$GITREACH_BUILD/bin/git-$1" >out &&
	cat out &&
	grep "^exit=$2 " out &&
	test "$(sed -n "s/.*peak=//p" out)" -le $PEAK &&
	if test -n "${4-}"
	then
		grep "^ERR $4" out
	else
		! grep "^ERR" out
	fi
}
