# SPDX-License-Identifier: MIT
#
# Sourced after lib.sh by tests that compare repositories after a repack: which
# objects are in which pack or loose, with which times.

# packs_of <dir>: print a sorted line for each object of a pack: the kind of the
# pack, a hash of its objects (equal for packs with equal objects), the object, and
# in a cruft pack its time.
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

# mtimes_of <file>: print the times in a .mtimes file, in its order.
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

# loose_of <dir>: print the loose objects and their times, sorted.
loose_of () {
	(cd "$1/objects" && find ?? -type f -printf "%h%f %T@\n" 2>/dev/null) |
	sed 's/\..*//' | LC_ALL=C sort
}

# left_of <dir>: write the output of packs_of and loose_of to <dir>.left.
left_of () {
	{
		packs_of "$1" && loose_of "$1"
	} >"$1.left"
}

# same_as_stock <dir> <options>...: repack a copy with stock Git and <dir> with
# ours, and check that the same objects are in packs and loose in both.
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
