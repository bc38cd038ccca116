# SPDX-License-Identifier: MIT
#
# Sourced after lib.sh by tests of a store in a bucket. The service is moto, which is
# fetched once with pip into build/moto. Sets the prerequisite MOTO.
#
#	moto_start     start the service with an empty bucket "bucket". Sets
#	               $moto_port, and $endpoint for the option --endpoint.
#	shim_start     start t/store-shim.py before the service. Sets $shim_port.
#	shim_faults <fault>...   the faults of the next requests
#
# The file "requests" lists the requests that the shim has seen.

. "$GITREACH_SRC/t/lib-pip.sh"

moto_pids=
trap 'for pid in $moto_pids; do kill $pid; done 2>/dev/null' EXIT

AWS_ACCESS_KEY_ID=test-id
AWS_SECRET_ACCESS_KEY=test-secret-7
no_proxy=127.0.0.1
export AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY no_proxy
unset AWS_SESSION_TOKEN AWS_PROFILE AWS_SHARED_CREDENTIALS_FILE

if try_to_fetch "${GITREACH_REQUIRE_MOTO-}" pip_fetch moto
then
	test_set_prereq MOTO
elif test -n "${GITREACH_REQUIRE_MOTO-}"
then
	echo "moto is required, see $GITREACH_SRC/build/moto/pip.log" >&2
	exit 1
fi

moto_has_port () {
	moto_port=$(sed -n \
		"s/.*Running on http:..127.0.0.1:\([0-9][0-9]*\).*/\1/p" \
		moto.log | head -n 1)
	test -n "$moto_port"
}

moto_start () {
	"$GITREACH_SRC/build/moto/bin/python" -m moto.server -H 127.0.0.1 -p 0 \
		>moto.log 2>&1 &
	moto_pids="$moto_pids $!"
	wait_until moto_has_port &&
	endpoint=http://127.0.0.1:$moto_port &&
	curl -sf -X PUT $endpoint/bucket
}

shim_faults () {
	printf "%s\n" "$@" >faults && : >requests
}

shim_start () {
	: >faults
	: >requests
	rm -f shim.port
	python3 "$GITREACH_SRC/t/store-shim.py" $moto_port >shim.port 2>shim.err &
	moto_pids="$moto_pids $!"
	wait_until test -s shim.port && shim_port=$(cat shim.port)
}
