#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a busy host: see t/interop/soak

Only with GITREACH_SOAK=<seconds>, which each of its phases takes. What it meets is
as the moment has it, on either side; what it has found t7709 does step by step.'
. "$(dirname "$0")/../lib.sh"

if test -z "${GITREACH_SOAK-}"
then
	skip_all='GITREACH_SOAK is not set'
	test_done
fi

test_expect_success 'clients, maintenance and kills at once' '
	dir=$(mktemp -d) &&
	GITREACH_TEST_SEED=${GITREACH_TEST_SEED:-1} \
		"$GITREACH_SRC/t/interop/soak" "$dir/run" --ours "$GIT" \
		--stock "$STOCK_GIT" --commits 500 --pushers 2 --fetchers 2 \
		--seconds $GITREACH_SOAK --phases calm,term,kill &&
	rm -rf "$dir"
'

test_done
