# SPDX-License-Identifier: MIT
#
# Sourced after lib.sh by tests of serving: stock Git is the client, and ours is
# the server.

# stock_client [-v<version>] <command> [<argument>...]: run stock Git as a client
# with a protocol version (default 2), and trace its packets to `packets`. For local
# URLs it starts the servers in $LOCAL_SERVERS, if set.
stock_client () {
	version=2
	case "$1" in
	-v*)
		version=${1#-v}
		shift
		;;
	esac
	rm -f "$TRACE_DIR/packets" &&
	GIT_TRACE_PACKET=$TRACE_DIR/packets \
		stock ${LOCAL_SERVERS:+--exec-path="$LOCAL_SERVERS"} \
		-c protocol.version="$version" "$@"
}
TRACE_DIR=$PWD

# Check that the server of the last stock_client was ours.
test_served_by_us () {
	grep 'agent=git/2[0-9.]*\.gitreach\.' "$TRACE_DIR/packets" >/dev/null || {
		echo 'the server was not ours' >&2
		return 1
	}
}

# test_same_repo <server> <copy>: check that the copy is sound and has the server's refs.
test_same_repo () {
	stock -C "$2" fsck --full --strict &&
	stock -C "$1" for-each-ref >"$TRACE_DIR/refs.server" &&
	stock -C "$2" for-each-ref >"$TRACE_DIR/refs.copy" &&
	test_cmp "$TRACE_DIR/refs.server" "$TRACE_DIR/refs.copy"
}

# pkt <line>...: write packets to standard output. F, D and E are flush, delim and
# response-end packets; =<bytes> is written unchanged.
pkt () {
	for line in "$@"
	do
		case "$line" in
		F) printf 0000 ;;
		D) printf 0001 ;;
		E) printf 0002 ;;
		=*) printf %s "${line#=}" ;;
		*) printf '%04x%s\n' $((${#line} + 5)) "$line" ;;
		esac
	done
}

# pack_of_answer <side-band, side-band-64k or nothing>: print the pack in the
# response to a version 0 fetch without haves.
pack_of_answer () {
	python3 -c '
import sys
answer, out = sys.stdin.buffer.read(), sys.stdout.buffer
assert answer.startswith(b"0008NAK\n")
at = 8
if len(sys.argv) < 2:
	out.write(answer[at:])
while len(sys.argv) > 1 and answer[at:at + 4] != b"0000":
	size = int(answer[at:at + 4], 16)
	if answer[at + 4] == 1:
		out.write(answer[at + 5:at + size])
	at += size
' $1
}
