#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='locks of killed commands: messages name the process, and what still works

Each row kills a command right after it wrote the PID file of one lock.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-fault.sh"

fresh () {
	rm -rf r && cp -R $good r
}

# row <lock> <killed command> <next command> <code> [<line of its errors>]
#
# <lock> is an extended regular expression for the path of the lock without
# ".lock". The commands are arguments of "git -C r". If the code is 0, the next
# command does not need the lock. With a <line>, the next command then prints one
# warning, which begins with <line> and names the lock and the process. If the
# code is not 0, the error must name the lock and the process. If $at is set, the
# first command is killed after the first call that matches this expression.
row () {
	fresh && fault_run none "$GIT" -C r $2 &&
	nr=$(grep -nE "${at:-^write .*/$1~pid[.]lock}" fault.log |
		sed "1s/:.*//;q") &&
	test -n "$nr" && fresh &&
	{ fault_run kill:$((nr + 1)) "$GIT" -C r $2 2>/dev/null || :; } &&
	test $fault_code -eq 137 &&
	record=$(find r -name "*~pid.lock" | grep -E "/$1~pid[.]lock" | sed 1q) &&
	test -e "${record%~pid.lock}.lock" &&
	pid=$(sed -n "s/^pid //p" "$record") && test "$pid" -gt 0 &&
	echo "row $1: $2; $3" >&2 &&
	test_expect_code $4 "$GIT" -C r $3 2>err &&
	if test $4 -ne 0
	then
		grep -E "Unable to create .*/$1[.]lock.: File exists" err &&
		grep "^Process $pid took this lock, and no process" err &&
		grep "^${5-}" err >/dev/null
	elif test -n "${5-}"
	then
		test_line_count 1 err &&
		grep -E "^$5.*'.*/$1[.]lock': File exists[.] Process $pid " err
	fi &&
	find r -name "*.lock" -exec rm {} + &&
	"$GIT" -C r $3 2>err && "$GIT" -C r fsck --no-dangling
}

test_expect_success 'repositories with both kinds of refs' '
	for format in files reftable
	do
		"$GIT" init -q --bare --ref-format=$format $format.git &&
		cat >>$format.git/config <<-EOF || return
		[core]
			lockfilePid = true
			packedRefsTimeout = 0
			filesRefLockTimeout = 0
			logAllRefUpdates = always
		[reftable]
			lockTimeout = 0
		EOF
	done &&
	repo_linear linear.git 3 && stock -C linear.git repack -dq &&
	cp -R linear.git/objects linear.git/refs files.git/ &&
	echo x | stock -C files.git hash-object -w --stdin &&
	stock -C files.git commit-tree -p main -m x main^{tree} >commit &&
	stock -C files.git update-ref refs/heads/topic $(cat commit) &&
	"$GIT" -C files.git update-ref refs/heads/logged main &&
	stock -C files.git repack -dq &&
	blob=$(echo x | "$GIT" -C reftable.git hash-object -w --stdin) &&
	for n in $(seq 300)
	do
		echo "create refs/tags/t$n $blob" || return
	done | "$GIT" -C reftable.git update-ref --stdin &&
	"$GIT" -C reftable.git update-ref refs/tags/last $blob
'

test_expect_success 'refs in files' '
	good=files.git &&
	row refs/heads/topic "update-ref refs/heads/topic main" \
		"update-ref -d refs/heads/topic" 1 "error: cannot lock ref" &&
	row refs/heads/topic "update-ref refs/heads/topic main" \
		"update-ref refs/heads/topic main" 128 "fatal: update_ref failed" &&
	row refs/heads/topic "update-ref refs/heads/topic main" \
		"update-ref refs/heads/other main" 0 &&
	row packed-refs "pack-refs --all" "pack-refs --all" 128 fatal: &&
	row packed-refs "pack-refs --all" "update-ref refs/heads/new main" 0 &&
	row packed-refs "pack-refs --all" "update-ref -d refs/heads/topic" 1 &&
	row refs/heads/topic "pack-refs --all" "pack-refs --all" 0 &&
	at="^write .*/logs/refs/heads/logged~pid[.]lock" &&
	row refs/heads/logged "reflog expire --all --expire=now" \
		"reflog expire --all" 255 error: &&
	at=
'

test_expect_success 'refs in reftables' '
	good=reftable.git &&
	row reftable/tables.list "update-ref -d refs/tags/t1" \
		"update-ref -d refs/tags/t2" 1 "error: cannot lock references" &&
	row reftable/tables.list "pack-refs" "pack-refs" 128 \
		"fatal: unable to compact stack: data is locked" &&
	at="^create .*/reftable/tmp_" &&
	row "reftable/0x[-0-9a-fx]*[.]ref" "pack-refs" "pack-refs" 128 \
		"fatal: unable to compact stack: data is locked" &&
	row "reftable/0x[-0-9a-fx]*[.]ref" "pack-refs" \
		"update-ref -d refs/tags/t2" 0 &&
	at=
'

test_expect_success 'packs and commit-graphs' '
	good=files.git midx=objects/pack/multi-pack-index &&
	info=objects/info/commit-graph &&
	row $midx "multi-pack-index write" "multi-pack-index write" 128 &&
	row $midx "multi-pack-index write" "repack -adq" 0 &&
	row $midx "repack -adbq --write-midx" "repack -adbq --write-midx" 128 &&
	row $midx "multi-pack-index write --incremental" \
		"multi-pack-index write --incremental" 128 &&
	row $info "commit-graph write --reachable" \
		"commit-graph write --reachable" 128 &&
	row ${info}s/commit-graph-chain \
		"commit-graph write --reachable --split" \
		"commit-graph write --reachable --split" 128
'

test_expect_success 'gc and repack name a lock without which they remove packs' '
	good=midx.git && cp -R files.git midx.git &&
	"$GIT" -C midx.git multi-pack-index write &&
	for next in "repack -adq" "gc -q"
	do
		row objects/pack/multi-pack-index \
			"multi-pack-index write --bitmap" "$next" 0 \
			"warning: packs are removed without a lock: " || return
	done
'

test_expect_success 'gc and maintenance' '
	good=files.git &&
	row gc.pid gc "gc -q" 128 fatal: &&
	row objects/maintenance "maintenance run --quiet" \
		"maintenance run --quiet" 1 "error: Unable"
'

test_expect_success 'a pusher is told about a stale lock' '
	good=files.git && fresh && stock clone -q files.git work &&
	>r/refs/heads/main.lock && echo "pid 99999999" >r/refs/heads/main~pid.lock &&
	>work/f && stock -C work add f && stock -C work commit -qm f &&
	test_must_fail stock -C work push --receive-pack \
		"$GITREACH_BUILD/bin/git-receive-pack" "$PWD/r" \
		HEAD:main HEAD:other 2>err &&
	grep "remote: .*Unable to create .*main.lock.: File exists" err &&
	grep "remote: Process 99999999 took this lock" err &&
	stock -C r rev-parse --verify other
'

case "$(stock version)" in
'git version 2.5'[3-9]*) test_set_prereq STOCK_PID ;;
esac

test_expect_success STOCK_PID 'stock Git reads PID files in this format' '
	good=files.git && fresh &&
	>r/refs/heads/topic.lock && echo "pid 99999999" >r/refs/heads/topic~pid.lock &&
	test_must_fail stock -C r update-ref refs/heads/topic main 2>err &&
	grep 99999999 err
'

test_done
