# SPDX-License-Identifier: MIT
#
# Sourced after lib.sh by tests of serving: clients are the stock Git, the
# server is ours.

# stock_client [-v<version>] <command> [<argument>...]: the stock Git as a
# client of a protocol version (2 if not given), its packets traced to
# `packets`. On this machine it starts what is in $LOCAL_SERVERS, if given.
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

# Whether the last stock_client spoke with a server of ours.
test_served_by_us () {
	grep 'agent=git/2[0-9.]*\.gitreach\.' "$TRACE_DIR/packets" >/dev/null || {
		echo 'the server was not ours' >&2
		return 1
	}
}

# test_same_repo <server> <copy>: the copy is sound and has the server's refs.
test_same_repo () {
	stock -C "$2" fsck --full --strict &&
	stock -C "$1" for-each-ref >"$TRACE_DIR/refs.server" &&
	stock -C "$2" for-each-ref >"$TRACE_DIR/refs.copy" &&
	test_cmp "$TRACE_DIR/refs.server" "$TRACE_DIR/refs.copy"
}

# pkt <line>...: packets on standard output; F, D and E are the flush, delim
# and response-end packets, =<bytes> is written as it is.
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

# pack_of_answer <side-band, side-band-64k or nothing>: from the answer of a
# version 0 fetch without haves to the pack in it.
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
