# SPDX-License-Identifier: MIT
#
# Sourced after lib.sh by tests of multi-pack-indexes with bitmaps.

# repo_add_commit <dir>: add a loose commit to main.
repo_add_commit () {
	(
		cd "$1" &&
		blob=$(date +%N | stock hash-object -w --stdin) &&
		tree=$({
			stock ls-tree main^{tree} | grep -v "	new\$"
			printf "100644 blob %s\tnew\n" $blob
		} | stock mktree) &&
		test_tick &&
		commit=$(stock commit-tree -m more -p main $tree) &&
		stock update-ref refs/heads/main $commit
	)
}

# repo_of_packs <dir> [<nr>]: make a history in <nr> packs. Each pack also has half
# of the objects of the previous pack, perhaps as other deltas.
repo_of_packs () {
	nr=${2:-4} &&
	repo_linear "$1" 40 &&
	repo_tags "$1" &&
	(
		cd "$1" &&
		age=1700000000 &&
		i=1 &&
		while test $i -le $nr
		do
			from=$((40 - 40 * i / nr)) &&
			base=$((40 - 40 * (i - 2) / nr)) &&
			set -- main~$from &&
			if test $base -lt 40
			then
				set -- "$@" ^main~$base
			fi &&
			if test $i = $nr
			then
				set -- "$@" --all
			fi &&
			stock rev-list --objects --no-object-names "$@" >list &&
			stock pack-objects -q --window=$((i * 3)) \
				objects/pack/pack <list >name &&
			touch -d @$age "objects/pack/pack-$(cat name).pack" &&
			age=$((age + 100)) &&
			i=$((i + 1)) || exit 1
		done &&
		stock prune-packed -q &&
		rm -f list name
	)
}

# midx_bitmap <dir>: print the name of the bitmap index of the multi-pack-index.
midx_bitmap () {
	(cd "$1/objects/pack" && ls multi-pack-index-*.bitmap)
}

# same_answers <dir>: check that stock Git and our bitmaps find the same objects.
same_answers () {
	dir=$1 &&
	for revs in "--all" "main~10" "main^{tree}" "main ^main~5" \
		"--all ^main~20"
	do
		stock -C "$dir" rev-list --objects --no-object-names \
			${revs% ^*} | LC_ALL=C sort >expect &&
		case $revs in
		*^main*)
			stock -C "$dir" rev-list --objects --no-object-names \
				${revs#* ^} | LC_ALL=C sort >had &&
			LC_ALL=C comm -23 expect had >left &&
			mv left expect
			;;
		esac &&
		"$GIT" -C "$dir" rev-list --objects --no-object-names \
			--use-bitmap-index $revs >out &&
		LC_ALL=C sort out >actual &&
		test_cmp expect actual &&
		"$GIT" -C "$dir" rev-list --objects --count \
			--use-bitmap-index $revs >count &&
		test $(cat count) = $(wc -l <expect) || return 1
	done &&
	for how in blob:none blob:limit=200
	do
		stock -C "$dir" rev-list --objects --no-object-names --all \
			--filter=$how | LC_ALL=C sort >expect &&
		"$GIT" -C "$dir" rev-list --objects --no-object-names --all \
			--use-bitmap-index --filter=$how >out &&
		LC_ALL=C sort out >actual &&
		test_cmp expect actual || return 1
	done
}

# midx_order_apart <dir>: move the chunk RIDX of the multi-pack-index into a .rev
# file, and rename the bitmap index for the new checksum.
midx_order_apart () {
	perl -MDigest::SHA=sha1 -e '
		use strict;
		my $dir = "$ARGV[0]/objects/pack";
		sub slurp { open my $f, "<:raw", $_[0] or die $_[0]; local $/; <$f> }
		sub spew {
			unlink $_[0];
			open my $f, ">:raw", $_[0] or die;
			print $f $_[1];
		}
		my $midx = slurp("$dir/multi-pack-index");
		my $old = substr($midx, -20);
		my $nr = unpack("x6C", $midx);
		my @rows = map { [unpack("a4Q>", substr($midx, 12 + 12 * $_, 12))] } 0 .. $nr;
		my (@keep, $order);
		for my $i (0 .. $nr - 1) {
			my ($id, $off) = @{$rows[$i]};
			my $chunk = substr($midx, $off, $rows[$i + 1][1] - $off);
			if ($id eq "RIDX") { $order = $chunk } else { push @keep, [$id, $chunk] }
		}
		my $off = 12 + 12 * (@keep + 1);
		my ($toc, $body) = ("", "");
		for (@keep) {
			$toc .= pack("a4Q>", $_->[0], $off);
			$off += length $_->[1];
			$body .= $_->[1];
		}
		$toc .= pack("NQ>", 0, $off);
		my $new = substr($midx, 0, 6) . pack("C", scalar @keep) .
			substr($midx, 7, 5) . $toc . $body;
		my $sum = sha1($new);
		spew("$dir/multi-pack-index", $new . $sum);
		my $rev = "RIDX" . pack("NN", 1, 1) . $order . $sum;
		my ($from, $to) = map { unpack("H*", $_) } $old, $sum;
		spew("$dir/multi-pack-index-$to.rev", $rev . sha1($rev));
		my $bitmap = slurp("$dir/multi-pack-index-$from.bitmap");
		substr($bitmap, 12, 20) = $sum;
		substr($bitmap, -20) = sha1(substr($bitmap, 0, -20));
		spew("$dir/multi-pack-index-$to.bitmap", $bitmap);
		unlink "$dir/multi-pack-index-$from.bitmap";
	' "$1"
}
