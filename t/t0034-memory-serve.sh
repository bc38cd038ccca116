#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a server answers when memory runs out

Each request for memory fails once, one after the other.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-memory.sh"

test_expect_success 'a repository' '
	memory_repo r.git &&
	printf "0014command=ls-refs\n0001000csymrefs\n0009peel\n0000" \
		>ls-refs &&
	{
		printf "0012command=fetch\n0001000fno-progress0032want %s\n" \
			"$(stock -C r.git rev-parse main)" &&
		printf "0009done\n0000"
	} >fetch
'

test_expect_success 'refs are advertised in protocol version 0' '
	each_request "$git" upload-pack --http-backend-info-refs r.git
'

export GIT_PROTOCOL=version=2

test_expect_success 'version 2: capabilities' '
	each_request "$git" upload-pack --http-backend-info-refs r.git
'

test_expect_success 'version 2: ls-refs' '
	fault_in=ls-refs &&
	each_request "$git" upload-pack --stateless-rpc r.git
'

test_expect_success 'version 2: fetch' '
	fault_in=fetch &&
	each_request "$git" upload-pack --stateless-rpc r.git &&
	grep PACK expect
'

test_done
