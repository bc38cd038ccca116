# SPDX-License-Identifier: MIT
#
# Sourced after lib-fault.sh by tests of commands of git network that are
# interrupted.
#
#	network_make          makes net/: a store, two members (root.git, fork.git),
#	                      one of which has objects to sync, and new.git, which
#	                      is no member yet
#	network_faults <mode> <command>...   makes the command fail at each call
#	                      that changes the disk. After each fault, stock Git's
#	                      fsck accepts all repositories, all have their
#	                      objects, and the command succeeds if repeated.
#
# The command runs in net/store.git, as `git network <command>...`.

# network_commit <repo> <branch> <text>: add a commit, as a push would.
network_commit () {
	blob=$(echo "$3" | stock -C "$1" hash-object -w --stdin) &&
	tree=$(printf "100644 blob $blob\tfile\n" | stock -C "$1" mktree) &&
	parent=$(stock -C "$1" show-ref --hash --verify "refs/heads/$2" \
		2>/dev/null || :) &&
	test_tick &&
	commit=$(stock -C "$1" commit-tree ${parent:+-p $parent} -m "$3" \
		$tree) &&
	stock -C "$1" update-ref "refs/heads/$2" $commit
}

network_make () {
	mkdir net.good &&
	(
		cd net.good &&
		"$GIT" network init -q store.git &&
		repo_linear root.git 3 &&
		repo_linear new.git 4 &&
		rm -r root.git/hooks new.git/hooks &&
		stock -C root.git repack -adq &&
		"$GIT" -C store.git network add -q ../root.git &&
		"$GIT" network fork -q root.git fork.git &&
		network_commit fork.git main one &&
		"$GIT" -C store.git network sync -q --all &&
		network_commit fork.git main two &&
		network_commit root.git topic three &&
		rm -r store.git/hooks fork.git/hooks
	) &&
	for r in root new fork
	do
		stock -C net.good/$r.git show-ref >$r.refs || return
	done
}

network_fresh () {
	rm -rf net && cp -Rl net.good net
}

# Check that all existing repositories are complete.
network_is_whole () {
	for r in net/*.git
	do
		stock -C $r fsck --full --no-dangling >fsck 2>&1 || {
			echo "$r:" && cat fsck
			return 1
		}
	done
}

# Check that members have their references and all objects that these reach, except
# for a deleted member.
network_is_complete () {
	for r in root new fork
	do
		if test -e net/$r.git || test "$1" != delete
		then
			stock -C net/$r.git show-ref >refs &&
			cmp $r.refs refs &&
			stock -C net/$r.git rev-list --quiet --objects --all ||
				return
		fi
	done
}

network_has_ended () {
	if test -n "$fault_over"
	then
		return 0
	fi
	case $1 in
	kill|lose) test $fault_code -eq 137 ;;
	*) fault_said || {
		# Others were gone on with.
		test $fault_code -eq 1 &&
		grep -E "^(error|warning): .*[^: ]$" fault.err >/dev/null
	} ;;
	esac
}

# The next command removes locks whose PID file names an ended process. If the
# process was killed before it wrote that file, the lock in the store is made old,
# and the lock in a member is removed here.
network_locks () {
	if test "$network_mode" != kill
	then
		find net -name "*.lock" -exec rm -f {} +
		return
	fi
	find net -name "*.lock" ! -name "*~pid.lock" | while read lock
	do
		record=$(cat "${lock%.lock}~pid.lock" 2>/dev/null | wc -l)
		test $record -eq 1 ||
		case $lock in
		*/store.git/*) touch -d "2 hours ago" "$lock" ;;
		*) rm "$lock" ;;
		esac || exit
	done
}

# Check that no file of a killed command remains in the store.
network_is_clean () {
	! find net/store.git -name "tmp_*" -o -name "*.lock" | grep . &&
	for file in net/store.git/objects/pack/pack-*.*
	do
		test -e "${file%.*}.idx" || return
	done
}

# If the fork is complete, do not repeat the command.
network_again () {
	network_locks &&
	if ! "$GIT" -C net/store.git network "$@" >again 2>&1
	then
		case $1 in
		fork|add|leave|delete|init) grep "$network_done" again ;;
		*) cat again && return 1 ;;
		esac
	fi
}

network_check () {
	mode=$1 && shift &&
	network_has_ended $mode && network_is_whole &&
	network_again "$@" && network_is_complete $1 &&
	network_is_clean &&
	! find net -name "*.new" -o -name ".*.network-*" | grep .
}

# $network_done: the message of a command that is repeated after it succeeded.
network_faults () {
	network_mode=$1 && shift &&
	fault_each $network_mode network_fresh \
		"$GIT -C net/store.git network $*" \
		"network_check $network_mode $*"
}
