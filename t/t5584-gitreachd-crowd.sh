#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='gitreachd: many requests beside repacks, gc, network operations
and the removal of a repository; no failed request, no leaked descriptor or map

GITREACH_REQUESTS is the number of requests.'
. "$(dirname "$0")/lib.sh"

test_expect_success 'a crowd of requests while repositories change' '
	PYTHONDONTWRITEBYTECODE=1 "$GITREACH_SRC/t/interop/crowd" \
		"$GITREACH_BUILD/bin/gitreachd" "$GIT" "$STOCK_GIT" . \
		${GITREACH_REQUESTS-2000}
'

test_done
