#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='gitreachd killed with SIGKILL in the middle of pushes: each
acknowledged push is there, each other push is there as a whole or not at all

GITREACH_PUSHES is the number of pushes over each transport.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-gitreachd.sh"

pushes=${GITREACH_PUSHES:-24}
export STOCK_GIT

# Each push has a commit, a tree and a blob of its own.
test_expect_success 'setup' '
	mkdir srv &&
	repo_linear client.git 3 &&
	for i in $(seq 0 $((pushes - 1)))
	do
		blob=$(echo $i | stock -C client.git hash-object -w --stdin) &&
		tree=$(printf "100644 blob %s\tf\n" $blob |
			stock -C client.git mktree) &&
		stock -C client.git update-ref refs/new/$i \
			$(stock -C client.git commit-tree -m $i -p main $tree) ||
			return
	done
'

for transport in http git
do
	test_expect_success "$transport" '
		stock init -q --bare srv/$transport.git &&
		stock -C client.git push -q "$PWD/srv/$transport.git" main &&
		stock -C srv/$transport.git config http.receivepack true &&
		start_daemon --export-all --enable=receive-pack \
			--listen=$transport://127.0.0.1:0 &&
		wait_until grep -q "started: " log &&
		python3 "$GITREACH_SRC/t/crash-pushes.py" $url/$transport.git \
			client.git $pushes 4 $server >acknowledged &&
		test_expect_code 137 wait $server &&
		test $(wc -l <acknowledged) -ge $((pushes / 2)) &&
		test $(wc -l <acknowledged) -lt $pushes &&
		: "each ref has the value that was pushed" &&
		stock -C srv/$transport.git for-each-ref \
			--format="%(objectname) %(refname)" \
			"refs/heads/push-*" >there &&
		while read -r id ref
		do
			test $id = $(stock -C client.git rev-parse \
				refs/new/${ref##*-}) || return
		done <there &&
		cut -d" " -f2 there | sort >refs &&
		sort acknowledged | comm -23 - refs >lost &&
		test_must_be_empty lost &&
		stock -C srv/$transport.git fsck --full --strict &&
		: "a killed process may leave locks, as with stock Git" &&
		find srv/$transport.git -name "*.lock" -delete &&
		: "the repository takes the same pushes from a new server" &&
		start_daemon --export-all --enable=receive-pack \
			--listen=$transport://127.0.0.1:0 &&
		stock -C client.git push -q $url/$transport.git \
			"refs/new/*:refs/heads/push-*" &&
		stock clone -q --mirror $url/$transport.git $transport.copy &&
		test_same_repo srv/$transport.git $transport.copy &&
		stop_daemon
	'
done

test_done
