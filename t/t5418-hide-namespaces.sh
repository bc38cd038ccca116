#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='hideRefs with an empty pattern, and namespaces, as with stock Git

A push into a namespace advertises the refs outside of the namespace as ".have".'
. "$(dirname "$0")/lib.sh"

# advertise <program> <namespace> <option>...: print the refs that receive-pack
# advertises, sorted, without capabilities.
advertise () {
	program=$1 namespace=$2
	shift 2
	GIT_NAMESPACE=$namespace $program "$@" receive-pack --advertise-refs \
		server.git |
		tr "\\000" "\n" | sed -n "s/^\(0000\)*....\([0-9a-f]\{40\} .*\)/\2/p" |
		sort
}

# have_same_refs <value of transfer.hideRefs>...: both programs advertise the same
# in each namespace.
have_same_refs () {
	for value
	do
		set -- "$@" -c "transfer.hideRefs=$value" && shift || return 1
	done
	for namespace in "" n n/m o
	do
		advertise stock "$namespace" "$@" >expect &&
		advertise "$GIT" "$namespace" "$@" >actual &&
		test -s expect && test_cmp expect actual || return 1
	done
}

test_expect_success 'setup' '
	repo_linear server.git 4 &&
	for ref in main~1:heads/other main~2:namespaces/n/refs/heads/main \
		main~3:namespaces/n/refs/namespaces/m/refs/heads/inner \
		main~3:namespaces/o/refs/heads/main
	do
		stock -C server.git update-ref refs/${ref#*:} ${ref%:*} || return 1
	done
'

test_expect_success 'an empty pattern matches no ref outside of the namespace' '
	have_same_refs "" "!refs/none" &&
	have_same_refs "" "!refs/heads" &&
	have_same_refs "!refs/none" "" &&
	have_same_refs "^refs/none" "" &&
	have_same_refs "/" "!refs/none"
'

test_expect_success 'an empty pattern with "!" exposes no ref outside of the namespace' '
	have_same_refs "^refs" "!" &&
	have_same_refs "^refs/heads" "!" &&
	have_same_refs "^refs" "!/" &&
	have_same_refs "^refs" "!^"
'

test_done
