# SPDX-License-Identifier: MIT
#
# Sourced after t/lib.sh by the tests of libgit2's client. Defines what
# t/lib-clients.sh wants, by the pygit2 of $PYGIT2_PYTHON, and
#
#	pygit2_unavailable <why>    skips the tests; GITREACH_REQUIRE_PYGIT2=1
#	                            makes that a failure
#	test_local                  clones and pushes without a server
#	test_by_ssh                 libgit2 speaks ssh itself: test_transport with
#	                            servers for that, if python3-paramiko is
#	                            there; the second one hands its descriptors
#	                            over to gitreachd
#
# libgit2 has no filters and no atomic pushes; older ones have no push options. A repository on this machine it reads and writes
# itself, without a server: a fetch from there fails where there are tags of
# trees, and shallow clones are unknown.

pygit2_unavailable () {
	if test -n "${GITREACH_REQUIRE_PYGIT2-}"
	then
		echo "pygit2 is required: $1" >&2
		exit 1
	fi
	skip_all="pygit2: $1"
	test_done
}

client () {
	"$PYGIT2_PYTHON" "$GITREACH_SRC/t/interop/pygit2/client" "$@"
}

client_can () {
	case $1:$2 in
	filter:* | atomic:* | clone:file:* | clone:ssh://host*) return 1 ;;
	shallow:* | options:*) test -n "$PYGIT2_SHALLOW" ;;
	esac
}

test_local () {
	test_expect_success 'clone and push without a server' '
		server_anew &&
		client clone "file://$PWD/srv/server.git" local.git &&
		test_same_repo srv/server.git local.git &&
		stock -C local.git update-ref refs/heads/topic \
			$(echo pushed | stock -C local.git commit-tree \
			-p main -p side "main^{tree}") &&
		client push local.git refs/heads/topic &&
		test_same_repo srv/server.git local.git &&
		"$GIT" -C srv/server.git fsck --full --strict
	'
}

/usr/bin/python3 -c 'import paramiko' 2>/dev/null && test_set_prereq PARAMIKO

test_by_ssh () {
	test_expect_success PARAMIKO 'start an ssh server' '
		for key in host user
		do
			ssh-keygen -q -t ecdsa -m PEM -N "" -C "" \
				-f $key.key || return
		done &&
		{
			PATH=$GITREACH_BUILD/bin:$PATH \
			"$GITREACH_SRC/t/interop/pygit2/ssh-server.py" \
				port.ssh host.key user.key.pub 2>ssh.log &
			pids="$pids $!"
		} &&
		export SSH_KEY="$PWD/user.key" &&
		wait_until test -e port.ssh
	'
	! test_have_prereq PARAMIKO ||
	test_transport 'ssh by itself' \
		"ssh://git@127.0.0.1:$(cat port.ssh)/~/srv/server.git"
	test_expect_success PARAMIKO 'start one that hands over to gitreachd' '
		mkdir forced &&
		q=$(printf "\047") &&
		for name in git-upload-pack git-receive-pack
		do
			cat >forced/$name <<-EOC &&
			#!/bin/sh
			SSH_ORIGINAL_COMMAND="$name $q\$1$q"
			export SSH_ORIGINAL_COMMAND
			exec "$DAEMON" --ssh-client="$sockets/ssh"
			EOC
			chmod +x forced/$name || return
		done &&
		{
			PATH=$PWD/forced:$PATH \
			"$GITREACH_SRC/t/interop/pygit2/ssh-server.py" \
				port.forced host.key user.key.pub 2>forced.log &
			pids="$pids $!"
		} &&
		wait_until test -e port.forced
	'
	! test_have_prereq PARAMIKO ||
	test_transport 'gitreachd, ssh by itself' \
		"ssh://git@127.0.0.1:$(cat port.forced)/server.git"
}
