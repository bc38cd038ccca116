#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='gc: its steps are those of stock Git, and lose nothing

Which commands are started is seen by a git in the exec path that writes them
down and runs ours. Killed in the midst, run twice at once, with clones going on.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-fault.sh"

# grown <dir>: three packs, loose objects, a log that remembers what a branch
# has lost, and something that nothing reaches
grown () {
	stock init -q -b main "$1" &&
	# The test suite has it off for everyone.
	for n in 1 2 3 4
	do
		seq $n 200 >"$1/file$n" && stock -C "$1" add . &&
		stock -C "$1" commit -q -m $n &&
		stock -C "$1" tag -m $n v$n &&
		{ test $n = 4 || stock -C "$1" repack -dq; } || return 1
	done &&
	stock -C "$1" commit -q --amend -m again &&
	echo lost | stock -C "$1" hash-object -w --stdin >"$1/.git/lost" &&
	stock -C "$1" config gc.auto 6700 &&
	stock -C "$1" config maintenance.auto true
}

# What has to be there whatever happens.
kept () {
	stock -C "$1" rev-list --objects --all --reflog --indexed-objects |
		sort
}

sound () {
	stock -C "$1" fsck --full --no-dangling >fsck.out 2>&1 &&
	kept "$1" >kept.now && test_cmp kept.good kept.now || {
		cat fsck.out
		return 1
	}
}

packs_of () {
	ls "$1"/.git/objects/pack/*.idx | wc -l
}

# many_loose <dir>: four objects in objects/17, which is looked at
many_loose () {
	for n in 263 410 523 790
	do
		echo $n | stock -C "$1" hash-object -w --stdin >"/dev/null" ||
		return 1
	done &&
	test 4 -eq $(ls "$1/.git/objects/17" | wc -l)
}

test_expect_success 'setup: a repository, and a git that logs its arguments' '
	grown good && kept good >kept.good &&
	mkdir shim && cat >shim/git <<-EOF &&
	#!/bin/sh
	echo "\$*" >>"$PWD/log"
	unset GIT_EXEC_PATH
	GITREACH_FALLBACK=$STOCK_GIT && export GITREACH_FALLBACK
	exec "$GITREACH_BUILD/bin/git" "\$@"
	EOF
	chmod +x shim/git
'

only_steps () {
	grep -v "^worktree\|^rerere\|^commit-graph\|^pack-objects" |
		sed "s/ --no-progress//"
}

# steps <words>: what ours starts, in git.log
steps () {
	rm -rf r && cp -R good r && >log &&
	GIT_EXEC_PATH="$PWD/shim" git -C r "$@" &&
	only_steps <log >git.log
}

# stock_steps <words>: what stock Git starts, in stock.log
stock_steps () {
	rm -rf r && cp -R good r && rm -f trace &&
	GIT_TRACE="$PWD/trace" stock -C r "$@" &&
	{ sed -n "s/.*trace: run_command: git //p" trace 2>"/dev/null" |
		only_steps >stock.log || :; }
}

while read -r words
do
	test_expect_success "starts what stock Git starts: gc $words" "
		stock_steps $words &&
		steps $words &&
		test_cmp stock.log git.log &&
		sound r
	"
done <<EOF
gc --cruft
gc --cruft --quiet
gc --no-cruft
gc --cruft --no-prune
gc --no-cruft --no-prune
gc --no-cruft --prune=3.days.ago
gc --cruft --aggressive
-c gc.aggressiveDepth=7 -c gc.aggressiveWindow=9 gc --no-cruft --aggressive
-c gc.cruftPacks=true gc
-c gc.cruftPacks=true -c gc.pruneExpire=never gc
-c gc.cruftPacks=false -c gc.packRefs=false gc
-c gc.packRefs=notbare gc --cruft
gc --auto
gc --no-cruft --keep-largest-pack
-c gc.bigPackThreshold=1g gc --no-cruft
EOF

test_expect_success 'one pack, one cruft pack, packed refs, a commit-graph' '
	rm -rf r && cp -R good r && git -C r gc && sound r &&
	test "$(packs_of r)" -eq 2 &&
	test 1 -eq $(ls r/.git/objects/pack/*.mtimes | wc -l) &&
	test -f r/.git/packed-refs && ! test -f r/.git/refs/tags/v1 &&
	test -f r/.git/objects/info/commit-graph &&
	stock -C r commit-graph verify &&
	stock -C r cat-file -e $(cat good/.git/lost) &&
	! ls r/.git/gc.* 2>"/dev/null" &&
	git -C r -c gc.writeCommitGraph=false gc --prune=now &&
	test_must_fail stock -C r cat-file -e $(cat good/.git/lost) &&
	test "$(packs_of r)" -eq 1 && sound r
'

test_expect_success 'all packs above the threshold stay; not too many with --auto' '
	steps -c gc.bigPackThreshold=1 gc --no-cruft &&
	tr " " "\n" <git.log | sed -n "s/^--keep-pack=//p" | sort >actual &&
	for pack in good/.git/objects/pack/*.pack
	do
		# Cruft packs are no big packs, however big.
		test -e ${pack%.pack}.mtimes || echo ${pack##*/}
	done | sort >expect &&
	test_cmp expect actual &&
	steps -c gc.bigPackThreshold=1 -c gc.autoPackLimit=2 gc --auto \
		--no-detach &&
	tr " " "\n" <git.log | grep -c "^--keep-pack=" >actual &&
	echo 1 >expect && test_cmp expect actual
'

test_expect_success 'options of cruft packs reach repack' '
	steps -c gc.maxCruftSize=1m gc --cruft --expire-to=x &&
	grep -e "--cruft --cruft-expiration=2.weeks.ago --max-cruft-size=1048576 --expire-to=x" \
		git.log &&
	steps -c gc.maxCruftSize=1m gc --max-cruft-size=2m &&
	grep -e "--max-cruft-size=2097152" git.log &&
	steps gc --prune=now --expire-to=x &&
	grep -e "--cruft --cruft-expiration=now --expire-to=x" git.log &&
	test_must_fail env GIT_EXEC_PATH="$PWD/shim" git -C r \
		-c gc.repackFilter=blob:none -c gc.repackFilterTo=y \
		-c repack.writeBitmaps=false gc 2>err ||
	grep -e "--filter=blob:none --filter-to=y" log
'

test_expect_success '--skip-foreground-tasks skips pack-refs and reflog expire' '
	steps gc --quiet --no-detach --skip-foreground-tasks --no-cruft &&
	cat >expect <<-\EOF &&
	repack -d -l -q -A --unpack-unreachable=2.weeks.ago
	prune --expire 2.weeks.ago
	EOF
	test_cmp expect git.log
'

test_expect_success 'invalid configuration is reported before any step' '
	rm -rf r && cp -R good r &&
	for setting in gc.pruneExpire=bogus gc.logExpiry=bogus gc.auto=x \
		gc.packRefs=maybe gc.bigPackThreshold=x \
		gc.worktreePruneExpire=bogus gc.pruneExpire=2099-01-01 \
		gc.pruneExpire=all gc.pruneExpire=0 gc.logExpiry=100 \
		gc.worktreePruneExpire=false
	do
		test_expect_code 128 git -C r -c $setting gc &&
		test_expect_code 128 git -C r -c $setting gc --unknown ||
		return 1
	done &&
	test_expect_code 128 git -C r gc --prune=bogus &&
	test_expect_code 128 git -C r -c gc.repackFilterTo=x gc 2>err &&
	grep "^fatal: option .--filter-to. can only be used along with .--filter." \
		err &&
	test_expect_code 129 git -C r gc --no-max-cruft-size &&
	test_expect_code 129 git -C r gc operand &&
	test_expect_code 129 git -C r gc --unknown &&
	test "$(packs_of r)" -eq 3
'

test_expect_success 'a wrong gc.reflogExpire stops gc before it does anything' '
	rm -rf r && cp -R good r && find r -type f | sort >expect &&
	for words in gc "gc --auto" "maintenance run"
	do
		test_expect_code 128 git -C r -c gc.reflogExpire=x $words \
			2>err &&
		grep "^fatal: failed to parse .gc.reflogexpire. value .x.$" \
			err || return 1
	done &&
	find r -type f | sort >actual && test_cmp expect actual
'

test_expect_success 'bare numbers and dates long ago are dates; negative depths are 0' '
	for words in "-c gc.aggressiveDepth=-1 gc" \
		"-c gc.reflogExpire=90 gc" "-c gc.pruneExpire=90 gc" \
		"-c gc.reflogExpireUnreachable=01-01-1980 gc" \
		"gc --prune=01-01-1980" "gc --prune=1970-01-01" "gc --prune=90" \
		"-c gc.worktreePruneExpire=90 -c gc.logExpiry=1.1.1980 gc" \
		"prune --expire=90" "prune --expire=01-01-1980"
	do
		rm -rf r && cp -R good r && git -C r $words &&
		stock -C r cat-file -e $(cat good/.git/lost) || return 1
	done &&
	git -C r prune --expire=0 &&
	test_must_fail stock -C r cat-file -e $(cat good/.git/lost)
'

# stale <lock>: as left by a process that was killed
stale () {
	>$1.lock && echo "pid $(cat gone)" >$1~pid.lock
}

test_expect_success 'a stale lock: steps that do not need it are run' '
	sh -c "echo \$\$" >gone &&
	for lock in packed-refs logs/HEAD refs/heads/main logs/refs/heads/main
	do
		rm -rf r && cp -R good r &&
		stock -C r commit-graph write --reachable &&
		rm r/.git/objects/info/commit-graph &&
		stale r/.git/$lock &&
		test_expect_code 1 git -C r -c core.packedRefsTimeout=10 \
			gc --prune=now 2>err &&
		grep "Unable to create .*/.git/$lock.lock.: File exists" err &&
		grep "^Process $(cat gone) took this lock, and no process" err &&
		grep "^error: failed to run" err &&
		test "$(packs_of r)" -eq 1 && ! test -e r/.git/gc.pid &&
		test -e r/.git/objects/info/commit-graph &&
		rm -f r/.git/$lock.lock && git -C r gc -q &&
		rm -f r/.git/$lock~pid.lock && sound r || return
	done
'

# A repack removes a multi-pack-index without its lock if no process releases the lock.
test_expect_success 'a stale lock of the multi-pack-index: all steps are run' '
	rm -rf r && cp -R good r && stock -C r multi-pack-index write &&
	stale r/.git/objects/pack/multi-pack-index &&
	git -C r gc --prune=now &&
	! test -e r/.git/objects/pack/multi-pack-index &&
	ls r/.git/objects/pack/*.pack >packs && test_line_count 1 packs &&
	test_must_fail git -C r cat-file -e $(cat good/.git/lost) &&
	test -e r/.git/objects/info/commit-graph && stock -C r fsck
'

test_expect_success '... the lock of the commit-graph' '
	rm -rf r && cp -R good r && mkdir -p r/.git/objects/info &&
	stale r/.git/objects/info/commit-graph &&
	test_expect_code 128 git -C r gc 2>err &&
	grep "^Process $(cat gone) took this lock" err &&
	test "$(packs_of r)" -le 2
'

test_expect_success 'a damaged repository ends gc' '
	rm -rf r && cp -R good r &&
	for pack in r/.git/objects/pack/*.pack
	do
		chmod u+w $pack && printf XXXX |
		dd of=$pack bs=1 seek=60 conv=notrunc 2>/dev/null || return
	done &&
	test_expect_code 128 git -C r gc 2>err &&
	grep "^fatal: failed to run repack" err &&
	test "$(packs_of r)" -eq 3 && ! test -f r/.git/gc.pid
'

test_expect_success 'nothing is deleted from a precious-objects repository' '
	rm -rf r && cp -R good r &&
	stock -C r config core.repositoryFormatVersion 1 &&
	stock -C r config extensions.preciousObjects true &&
	git -C r gc --prune=now &&
	test "$(packs_of r)" -eq 3 &&
	stock -C r cat-file -e $(cat good/.git/lost)
'

test_expect_success 'worktree prune and rerere gc run stock Git if needed' '
	rm -rf r && cp -R good r && rm -f log && >log &&
	GIT_EXEC_PATH="$PWD/shim" git -C r gc &&
	! grep "^worktree\|^rerere" log &&
	mkdir r/.git/rr-cache r/.git/worktrees &&
	GIT_EXEC_PATH="$PWD/shim" git -C r -c gc.worktreePruneExpire=now gc &&
	grep "^worktree prune --expire now" log &&
	grep "^rerere gc" log
'

test_expect_success 'without stock Git' '
	rm -rf r && cp -R good r &&
	mkdir r/.git/rr-cache r/.git/worktrees &&
	GITREACH_FALLBACK=/none PATH=/none "$GITREACH_BUILD/bin/git" -C r gc &&
	sound r && test "$(packs_of r)" -eq 2
'

test_expect_success '--auto does nothing while there is little to do' '
	rm -rf r && cp -R good r &&
	git -C r gc --auto 2>err && ! test -s err &&
	test "$(packs_of r)" -eq 3 &&
	git -C r -c gc.auto=0 -c gc.autoPackLimit=1 gc --auto --no-detach &&
	git -C r -c gc.autoPackLimit=0 gc --auto --no-detach &&
	test "$(packs_of r)" -eq 3 &&
	stock -C r config gc.autoPackLimit 1 &&
	>r/.git/objects/pack/x.keep &&
	for pack in r/.git/objects/pack/*.pack
	do
		>${pack%.pack}.keep || return 1
	done &&
	git -C r gc --auto --no-detach && test "$(packs_of r)" -eq 3
'

test_expect_success '--auto with many packs' '
	rm -rf r && cp -R good r &&
	git -C r -c gc.autoPackLimit=2 gc --auto --no-detach 2>err &&
	grep "^Auto packing the repository for optimum performance" err &&
	test "$(packs_of r)" -eq 2 && sound r
'

test_expect_success '--auto with many loose objects packs these' '
	rm -rf r && cp -R good r && many_loose r && rm -f log && >log &&
	GIT_EXEC_PATH="$PWD/shim" git -C r -c gc.auto=10 gc --auto \
		--no-detach 2>err &&
	grep "^repack -d -l --no-write-bitmap-index" log &&
	grep "warning: There are too many unreachable loose objects" err
'

test_expect_success 'the hook pre-auto-gc may say no' '
	rm -rf r && cp -R good r &&
	stock -C r config gc.autoPackLimit 1 &&
	printf "#!/bin/sh\nexit 1\n" >r/.git/hooks/pre-auto-gc &&
	chmod +x r/.git/hooks/pre-auto-gc &&
	git -C r gc --auto --no-detach && test "$(packs_of r)" -eq 3 &&
	printf "#!/bin/sh\nexit 0\n" >r/.git/hooks/pre-auto-gc &&
	git -C r gc --auto --no-detach && test "$(packs_of r)" -eq 2
'

# is_idle <git directory> <nr>: whether a gc in the background is over, and has
# left that many packs at most
is_idle () {
	! test -e "$1/gc.pid" && test $(ls "$1"/objects/pack/*.idx | wc -l) -le $2
}

test_expect_success 'gc in the background, and its log of errors' '
	rm -rf r && cp -R good r && stock -C r config gc.autoPackLimit 1 &&
	git -C r gc --auto 2>err &&
	grep "^Auto packing the repository in background" err &&
	wait_until is_idle r/.git 2 && sound r &&
	! test -e r/.git/gc.log &&
	rm -rf r && cp -R good r && stock -C r config gc.autoPackLimit 1 &&
	>r/.git/packed-refs.lock &&
	git -C r gc --auto &&
	wait_until test -e r/.git/gc.log &&
	wait_until test ! -e r/.git/gc.pid &&
	grep "^error: failed to run pack-refs" r/.git/gc.log &&
	test "$(packs_of r)" -le 2 && rm -r r/.git/objects &&
	cp -R good/.git/objects r/.git/ && rm r/.git/packed-refs.lock &&
	git -C r gc --auto 2>err &&
	grep "^warning: The last gc run reported the following" err &&
	grep "^error: failed to run pack-refs" err &&
	test "$(packs_of r)" -eq 3 &&
	touch -d "2 days ago" r/.git/gc.log &&
	git -C r -c gc.autoDetach=false gc --auto &&
	! test -e r/.git/gc.log && test "$(packs_of r)" -eq 2
'

test_expect_success 'only one gc runs at a time' '
	rm -rf r && cp -R good r &&
	host=$(uname -n) &&
	printf "%s %s" $$ "$host" >r/.git/gc.pid &&
	test_expect_code 128 git -C r gc 2>err &&
	grep "^fatal: gc is already running on machine .$host. pid $$ (use --force if not)" \
		err &&
	test_expect_code 128 stock -C r gc &&
	git -C r -c gc.autoPackLimit=1 gc --auto --no-detach &&
	test "$(packs_of r)" -eq 3 &&
	printf "1 elsewhere" >r/.git/gc.pid &&
	test_expect_code 128 git -C r gc &&
	touch -d "13 hours ago" r/.git/gc.pid &&
	git -C r gc && ! test -e r/.git/gc.pid &&
	printf "1 elsewhere" >r/.git/gc.pid &&
	git -C r gc --force &&
	>r/.git/gc.pid.lock && touch -d "2 minutes ago" r/.git/gc.pid.lock &&
	git -C r gc && ! test -e r/.git/gc.pid.lock
'

again () {
	rm -rf r && cp -R good r
}

# Nothing is lost, and the next one cleans up what this one has left.
recovers () {
	rm -f r/.git/gc.pid.lock r/.git/packed-refs.lock &&
	find r/.git -name "*.lock" -exec rm {} + &&
	sound r && git -C r gc --quiet && sound r &&
	test "$(packs_of r)" -eq 2
}

for mode in kill lose
do
	test_expect_success "ended in the midst: $mode" '
		stock -C good config core.fsync all &&
		fault_step=$(fault_thin 11) &&
		fault_each $mode again \
			"$GITREACH_BUILD/bin/git -C r gc --quiet" recovers &&
		stock -C good config --unset core.fsync
	'
done

test_expect_success 'two at once' '
	for n in 1 2 3
	do
		again &&
		{ git -C r gc --force --quiet 2>err1 & } &&
		git -C r gc --force --quiet 2>err2
		wait
		sound r || return 1
	done &&
	git -C r gc && sound r
'

test_expect_success 'clones while packs are replaced' '
	again &&
	{ (
		for n in 1 2 3 4 5
		do
			echo $n | stock -C r commit-tree HEAD^{tree} -p HEAD \
				>tip &&
			stock -C r update-ref refs/heads/new$n $(cat tip) &&
			stock -C r repack -dq &&
			git -C r gc --quiet --prune=now || exit 1
		done
	) & } &&
	gc=$! &&
	n=0 &&
	while kill -0 $gc 2>"/dev/null"
	do
		n=$((n + 1)) && rm -rf clone.git &&
		stock clone -q --bare --upload-pack \
			"$GITREACH_BUILD/bin/git-upload-pack" "file://$PWD/r" \
			clone.git &&
		stock -C clone.git fsck --no-progress >"/dev/null" 2>&1 ||
		return 1
	done &&
	wait $gc && test $n -gt 0
'

test_expect_success 'receive.autoGC: after a push' '
	rm -rf r srv.git && stock clone -q --bare good srv.git &&
	stock -C srv.git config gc.auto 6700 &&
	stock -C srv.git config maintenance.auto true &&
	stock -C srv.git config gc.autoPackLimit 1 &&
	stock -C srv.git config receive.unpackLimit 1 &&
	stock -C srv.git config gc.autoDetach false &&
	stock -C srv.git config maintenance.autoDetach false &&
	rm -rf r && cp -R good r &&
	for n in 1 2 3
	do
		stock -C r commit -q --allow-empty -m "push $n" &&
		stock -C r push -q --receive-pack \
			"$GITREACH_BUILD/bin/git-receive-pack" \
			"file://$PWD/srv.git" HEAD:refs/heads/new$n || return 1
	done &&
	wait_until is_idle srv.git 3 &&
	stock -C srv.git fsck --no-dangling
'

# pushed <yes or no> [<key>=<value>...]: pushes, and tells whether receive-pack
# starts the maintenance.
pushed () {
	expected=$1 && shift &&
	rm -rf srv.git words && stock init -q --bare srv.git &&
	for setting
	do
		stock -C srv.git config "${setting%%=*}" "${setting#*=}" ||
		return 1
	done &&
	stock -C good push -q --receive-pack "GIT_CONFIG_GLOBAL=/dev/null \
		GIT_EXEC_PATH=\"$PWD/spy\" \"$GITREACH_BUILD/bin/git-receive-pack\"" \
		"file://$PWD/srv.git" HEAD:refs/heads/new &&
	if test $expected = no
	then
		sleep 0.2 && ! test -e words
	else
		wait_until test -s words &&
		echo "maintenance run --auto --quiet" >expect &&
		test_cmp expect words
	fi
}

test_expect_success 'which configuration starts maintenance after a push' '
	mkdir spy && printf "#!/bin/sh\necho \"\$@\" >\"%s\"\n" "$PWD/words" \
		>spy/git && chmod +x spy/git &&
	pushed yes && pushed yes gc.auto=1 &&
	pushed yes maintenance.auto=true gc.auto=0 &&
	pushed no gc.auto=0 && pushed no gc.auto=-1 &&
	pushed no maintenance.auto=false &&
	pushed no maintenance.auto=true receive.autogc=false
'

test_expect_success 'a push ends after maintenance that does not detach' '
	printf "#!/bin/sh\nsleep 0.3\necho done >\"%s\"\n" "$PWD/words" \
		>spy/git &&
	pushed_when () {
		rm -rf srv.git words && stock init -q --bare srv.git &&
		stock -C srv.git config maintenance.auto true &&
		stock -C srv.git config gc.autoDetach $1 &&
		{ test $# = 1 ||
		  stock -C srv.git config maintenance.autoDetach $2; } &&
		stock -C good push -q --receive-pack "GIT_EXEC_PATH=\"$PWD/spy\" \
			\"$GITREACH_BUILD/bin/git-receive-pack\"" \
			"file://$PWD/srv.git" HEAD:refs/heads/new
	} &&
	pushed_when false && test -s words &&
	pushed_when true false && test -s words &&
	pushed_when false true && ! test -e words &&
	wait_until test -s words
'

test_expect_success 'a gc.pid that cannot be read is named' '
	repo_init pid.git && mkdir pid.git/gc.pid &&
	test_must_fail git -C pid.git gc 2>err &&
	grep "^fatal: cannot read .*gc.pid" err && test -d pid.git/gc.pid &&
	rmdir pid.git/gc.pid && git -C pid.git gc
'

test_done
