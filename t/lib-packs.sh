# SPDX-License-Identifier: MIT
#
# Sourced after lib.sh by tests that compare what repacking leaves behind:
# which objects are in which pack, loose, and from when.

# packs_of <dir>: a line for each object of a pack: what is special about the
# pack, its objects in short (so that packs of equal content look equal,
# whatever their names), the object, and in a cruft pack its time. Sorted.
packs_of () {
	for idx in "$1"/objects/pack/pack-*.idx
	do
		test -e "$idx" || continue
		base=${idx%.idx}
		stock show-index <"$idx" | cut -d" " -f2 | LC_ALL=C sort >ids
		kind=pack
		test -e "$base.keep" && kind=keep
		test -e "$base.mtimes" && kind=cruft
		name=$kind-$(stock hash-object ids | cut -c1-8)
		if test $kind = cruft
		then
			mtimes_of "$base.mtimes" | paste -d" " ids -
		else
			cat ids
		fi | sed "s/^/$name /"
	done | LC_ALL=C sort
}

# mtimes_of <file>: the times of a .mtimes file, in its order.
mtimes_of () {
	perl -e '
		open my $f, "<:raw", $ARGV[0] or die;
		local $/;
		my ($magic, $version, $hash, @rest) = unpack "a4N*", <$f>;
		my $trailer = $hash == 1 ? 10 : 16;
		die "$ARGV[0]: not a table of times\n"
			unless $magic eq "MTME" && $version == 1;
		print "$_\n" for @rest[0 .. $#rest - $trailer];
	' "$1"
}

# loose_of <dir>: the loose objects and their times, sorted.
loose_of () {
	(cd "$1/objects" && find ?? -type f -printf "%h%f %T@\n" 2>/dev/null) |
	sed 's/\..*//' | LC_ALL=C sort
}

# left_of <dir>: all that, in a file <dir>.left.
left_of () {
	{
		packs_of "$1" && loose_of "$1"
	} >"$1.left"
}

# same_as_stock <dir> <options>...: repack a copy with stock Git and <dir> with
# ours: the same objects are where they were in the other.
same_as_stock () {
	dir=$1 && shift &&
	rm -rf stock.git ours.git &&
	cp -Rp "$dir" stock.git &&
	cp -Rp "$dir" ours.git &&
	stock -C stock.git repack -q "$@" &&
	"$GIT" -C ours.git repack -q "$@" &&
	left_of stock.git &&
	left_of ours.git &&
	test_cmp stock.git.left ours.git.left &&
	stock -C ours.git fsck --full 2>err &&
	! grep -e "missing" -e "error" err
}
