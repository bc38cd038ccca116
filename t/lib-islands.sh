# SPDX-License-Identifier: MIT
#
# Sourced after lib.sh by tests of the cost of clones of islands.

# The packs from which runs are copied (pack.allowPackReuse).
REUSE=multi

# recompressed <repo> <ref prefix>...: print how many objects of a clone of these
# references are compressed again.
recompressed () {
	repo=$1
	shift
	stock -C "$repo" for-each-ref --format='%(objectname)' "$@" |
		"$GIT" -C "$repo" -c pack.allowPackReuse=$REUSE pack-objects \
			--revs --stdout --progress --delta-base-offset \
			2>err >/dev/null &&
	tr '\r' '\n' <err | sed -n 's/^Total \([0-9]*\) .*), reused \([0-9]*\) .*pack-reused \([0-9]*\).*/\1 \2 \3/p' |
		awk '{ print $1 - $2 - $3 }'
}
