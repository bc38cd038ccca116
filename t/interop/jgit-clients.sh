#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='JGit clones, fetches, deepens and pushes

JGit fetches no missing object by itself, but what it is told to.'
. "$(dirname "$0")/../lib.sh"
. "$GITREACH_SRC/t/interop/jgit/setup.sh"

# Java takes the certificates that it believes from a file of its own.
trust () {
	test ! -e tls.crt || test -e tls.jks ||
		keytool -importcert -noprompt -storepass gitreach \
			-keystore tls.jks -file tls.crt
}

client () {
	trust &&
	JGIT_TRUST=$PWD/tls.jks JGIT_SERVERS=$LOCAL_SERVERS jgit "$@"
}
client_can () {
	:
}

. "$GITREACH_SRC/t/lib-clients.sh"

test_done
