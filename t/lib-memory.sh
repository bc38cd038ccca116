# SPDX-License-Identifier: MIT
#
# Sourced after lib.sh by tests of commands whose memory runs out.
#
#	each_request <command>...
#
# runs the command with memory that runs out at the first request for memory, at
# the fourth one, and so on until the command succeeds; with GITREACH_FAULT_ALL set,
# at each request. The command must report
# that it is out of memory, or print the same as without the failure. The words
# of the command have no blanks. $fault_in is its standard input. See
# t/helper/preload-memory.c.
#
#	memory_repo <name>   make a repository with packed and loose refs, a pack
#	                     and a bitmap index, in which commands use one thread

. "$GITREACH_SRC/t/lib-fault.sh"

FAULT_LIBRARY=$GITREACH_BUILD/t/helper/preload-memory.so
git=$GITREACH_BUILD/bin/git

# memory_ran_out <expected output>
memory_ran_out () {
	case $fault_code in
	0) test_cmp "$1" fault.out ;;
	1|128) grep "^[a-z]*: .*\(out of\|no\) memory" fault.err >/dev/null ;;
	*) return 1 ;;
	esac
}

each_request () {
	fault_run none "$@" &&
	cp fault.out expect &&
	fault_each memory : "$*" "memory_ran_out expect"
}

memory_repo () {
	repo_linear "$1" 4 &&
	(
		cd "$1" &&
		stock tag -m "a tag" v1 main &&
		stock update-ref refs/heads/old main~3 &&
		stock pack-refs --all &&
		stock update-ref refs/heads/new main~2 &&
		stock symbolic-ref refs/heads/sym refs/heads/main &&
		stock config pack.threads 1 &&
		stock repack -adb -q
	)
}
