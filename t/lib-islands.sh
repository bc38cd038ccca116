# SPDX-License-Identifier: MIT
#
# What clones of islands cost. Source after lib.sh.

# Packs that runs are copied from (pack.allowPackReuse).
REUSE=multi

# recompressed <repo> <ref prefix>...: how many objects of a clone of these
# references are not sent as they are stored.
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
