#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='an object that is written again outlives a repack that fails

After each failure the objects are there, and so they are after a gc.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-fault.sh"

# setup <place>: base.git, with a blob that is ten days old there ("loose",
# "pack", "cruft") and was then written again
setup () {
	rm -rf base.git && repo_linear base.git 2 && rm -r base.git/hooks &&
	blob=$(echo old | stock -C base.git hash-object -w --stdin) &&
	other=$(echo other | stock -C base.git hash-object -w --stdin) &&
	case $1 in
	pack)
		printf "%s\n" $blob $other |
		stock -C base.git pack-objects -q objects/pack/pack >name &&
		stock -C base.git prune-packed -q
		;;
	esac &&
	find base.git/objects -type f -exec touch -d "10 days ago" {} + &&
	case $1 in
	cruft)
		stock -C base.git repack -q --cruft -d &&
		find base.git/objects -type f \
			-exec touch -d "10 days ago" {} +
		;;
	esac &&
	echo old | "$GIT" -C base.git hash-object -w --stdin
}

has_blob () {
	test "$(stock -C "$1" cat-file blob $blob)" = old || {
		echo "the blob is lost" >&2
		return 1
	}
}

# The blob is there, is still new, and all that is reachable is there.
check='has_blob r.git && stock -C r.git fsck --no-dangling 2>fsck.err &&
	rm -rf later.git && cp -Rp r.git later.git &&
	find later.git \( -name "*.lock" -o -name gc.pid \) -delete &&
	"$GIT" -C later.git gc -q --cruft --prune=1.hour.ago &&
	has_blob later.git'

# t/helper/preload-fault.c does not know syncfs(), by which what -A writes is
# made durable: without power that test would be of something else.
for place in loose pack cruft
do
	test_expect_success "$place: a blob that was written again" '
		setup $place >out && has_blob base.git
	'

	for mode in kill lose ENOSPC
	do
		for command in "repack -q -d --cruft --cruft-expiration=1.hour.ago" \
			"repack -q -d -A --unpack-unreachable=1.hour.ago" \
			"gc -q --cruft --prune=1.hour.ago"
		do
			case $mode,$command in
			lose,*-A*) continue ;;
			esac

			test_expect_success "$place, $mode: $command" '
				fault_step=$(fault_thin 9) &&
				case $command in
				gc*) fault_step=$((fault_step * 2)) ;;
				esac &&
				fault_each $mode \
					"rm -rf r.git && cp -Rp base.git r.git" \
					"$GIT -C r.git $command" "$check"
			'
		done
	done
done

# The write itself: an object whose copy is old is not lost by trying.
test_expect_success 'hash-object fails' '
	setup cruft >out && rm -rf base.git/objects/??/* && echo old >file &&
	fault_step= &&
	for mode in kill ENOSPC EIO
	do
		fault_each $mode "rm -rf r.git && cp -Rp base.git r.git" \
			"$GIT -C r.git hash-object -w ../file" \
			"has_blob r.git && { test \$fault_code -ne 0 ||
				{ $check; }; }" || return
	done
'

test_done
