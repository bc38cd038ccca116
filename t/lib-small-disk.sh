# SPDX-License-Identifier: MIT
#
# For tests of commands on a full disk. Sourced before lib.sh: it runs the script
# again in a mount namespace, so that mounts are private and vanish with the script.
# Functions after lib.sh:
#
#	small_disk_or_skip   skips all tests if nothing can be mounted
#	small_disk <KiB>     mounts "disk", a file system with a copy of the
#	                     repository $small_from as "disk/r.git" and this much
#	                     free space
#	roomy_disk           gives the disk plenty of free space
#	small_disk_each <from> <step> <to> <command>
#	                     evaluates the command with each size of free space.
#	                     The command ends the loop by setting $small_over.

small_disk_own () {
	if test "$(id -u)" = 0
	then
		unshare -m "$@"
	else
		unshare -rm "$@"
	fi
}

if test -z "${GITREACH_SMALL_DISK-}"
then
	GITREACH_SMALL_DISK=no
	if small_disk_own mount -t tmpfs none /tmp 2>/dev/null
	then
		GITREACH_SMALL_DISK=yes
		export GITREACH_SMALL_DISK
		small_disk_own sh "$0" "$@"
		exit
	fi
fi

small_disk_or_skip () {
	if test "$GITREACH_SMALL_DISK" = yes
	then
		cleanup "! mountpoint -q disk || umount disk"
		return
	fi
	skip_all='mounting a small file system is not allowed'
	test_done
}

small_disk () {
	mkdir -p disk &&
	{ ! mountpoint -q disk || umount disk; } &&
	mount -t tmpfs -o size=64m none disk &&
	cp -R "$small_from" disk/r.git &&
	small_used=$(df -Pk disk | awk 'NR == 2 { print $3 }') &&
	mount -o "remount,size=$((small_used + $1))k" disk
}

roomy_disk () {
	mount -o remount,size=64m disk
}

small_disk_each () {
	small_room=$1 small_over=
	while test -z "$small_over" && test $small_room -le $3
	do
		small_disk $small_room && eval "$4" || {
			echo "with $small_room KiB of room" >&2
			return 1
		}
		small_room=$((small_room + $2))
	done
	test -n "$small_over" || {
		echo "never enough room" >&2
		return 1
	}
	test $small_room -gt $(($1 + $2)) || {
		echo "always enough room" >&2
		return 1
	}
}
