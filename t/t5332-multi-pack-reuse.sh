#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='copying runs of several packs into one that is sent'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-midx.sh"
. "$GITREACH_SRC/t/lib-serve.sh"

# send <dir> <reuse> [<option>...]: what pack-objects makes of the revisions on
# standard input, in out.pack; *reused is what of it was copied in runs, from
# *from packs.
send () {
	dir=$1 reuse=$2 && shift 2 &&
	"$GIT" -C "$dir" -c pack.allowPackReuse=$reuse pack-objects --revs \
		--stdout --progress "$@" >out.pack 2>err &&
	tr "\r" "\n" <err | sed -n "s/^Total .*pack-reused //p" >total &&
	reused=$(sed "s/ .*//" total) &&
	from=$(sed "s/.*from \([0-9]*\).*/\1/" total)
}

# The objects of out.pack, sorted.
objects_sent () {
	rm -f out.idx &&
	stock -C "$1" index-pack -o "$PWD/out.idx" "$PWD/out.pack" >name &&
	stock show-index <out.idx | cut -d" " -f2 | LC_ALL=C sort
}

test_expect_success 'setup' '
	repo_of_packs r.git 5 &&
	"$GIT" -C r.git multi-pack-index write --bitmap &&
	stock -C r.git rev-list --objects --all --no-object-names |
	LC_ALL=C sort -u >all &&
	ls r.git/objects/pack/*.pack | wc -l >packs &&
	echo --all >everything
'

test_expect_success 'all objects: from all packs, from one, from none' '
	send r.git multi --delta-base-offset <everything &&
	objects_sent r.git >actual &&
	test_cmp all actual &&
	test $from -ge 3 &&
	multi=$reused &&
	for value in single true
	do
		send r.git $value --delta-base-offset <everything &&
		objects_sent r.git >actual &&
		test_cmp all actual &&
		test $from = 1 && test $reused -lt $multi || return 1
	done &&
	send r.git false --delta-base-offset <everything &&
	objects_sent r.git >actual &&
	test_cmp all actual &&
	test $from = 0 && test $reused = 0
'

test_expect_success 'most is copied in runs' '
	send r.git multi --delta-base-offset <everything &&
	test $((reused * 10)) -ge $(($(wc -l <all) * 9))
'

# Any object may be left out, its base be elsewhere, come later, or be had.
test_expect_success 'every range, with and without offsets, thin and not' '
	for want in 0 1 5 9 14 20 33
	do
		for have in 2 3 8 10 21 39
		do
			test $want -lt $have || continue
			printf "main~%s\n^main~%s\n" $want $have >revs &&
			stock -C r.git rev-list --objects --no-object-names \
				main~$want | LC_ALL=C sort >w &&
			stock -C r.git rev-list --objects --no-object-names \
				main~$have | LC_ALL=C sort >h &&
			LC_ALL=C comm -23 w h >expect &&
			for options in "" "--delta-base-offset"
			do
				send r.git multi $options <revs &&
				objects_sent r.git >actual &&
				test_cmp expect actual || return 1
			done &&
			send r.git multi --thin --delta-base-offset <revs &&
			stock -C r.git index-pack --stdin --fix-thin \
				<out.pack >name 2>err ||
			return 1
		done
	done
'

test_expect_success 'clones and fetches by upload-pack' '
	"$GIT" -C r.git config pack.allowPackReuse multi &&
	printf "#!/bin/sh\nexec \"$GIT\" upload-pack \"\$@\"\n" >up &&
	chmod +x up &&
	stock clone -q --bare -u "'"'"'$PWD/up'"'"'" "file://$PWD/r.git" clone.git &&
	stock -C clone.git fsck &&
	stock -C clone.git rev-list --objects --all --no-object-names |
	LC_ALL=C sort -u >actual &&
	test_cmp all actual &&
	stock init -q --bare part.git &&
	stock -C part.git fetch -q --upload-pack="'"'"'$PWD/up'"'"'" \
		"file://$PWD/r.git" $(stock -C r.git rev-parse main~15) &&
	stock -C part.git fsck
'

# Three packs of over a thousand objects each. Those of two of them are whole,
# and could be deltas against each other.
test_expect_success 'setup: whole objects in large packs' '
	awk "BEGIN {
		for (n = 1; n <= 60; n++)
			text = text n * 104729 % 99991 \"\\n\"
		for (i = 1; i <= 1080; i++) {
			print \"commit refs/heads/main\"
			print \"committer A <a@example.com> \" i \" +0000\"
			print \"data 0\\nM 100644 inline dir/\" i % 9
			print \"data \" 7 + length(text) \"\\n\" 100000 + i
			print text
		}
	}" | repo_import w.git &&
	mkdir whole &&
	for range in main~680 "main~340 ^main~680" "main ^main~340"
	do
		test "$range" = main~680 && deltas= ||
			deltas="--window=0 --no-reuse-delta"
		printf "%s\n" $range | stock -C w.git pack-objects -q --revs \
			$deltas "$PWD/whole/pack" >name || return
	done &&
	rm -f w.git/objects/pack/* && cp whole/* w.git/objects/pack &&
	stock -C w.git fsck --full --strict
'

# recompressed <have>...: how many objects are not sent as they are to who asks
# for all with these.
recompressed () {
	{
		pkt command=fetch && printf 0001 && pkt ofs-delta &&
		pkt thin-pack && pkt "want $(stock -C w.git rev-parse main)" &&
		for have in "$@"
		do
			pkt "have $(stock -C w.git rev-parse $have)"
		done &&
		pkt done && printf 0000
	} >request &&
	rm -f events &&
	GIT_PROTOCOL=version=2 GIT_TRACE2_EVENT=$PWD/events \
		"$GIT" upload-pack --stateless-rpc w.git <request >answer &&
	sed -n "s/.*\"objects_recompressed\":\([0-9]*\).*/\1/p" events
}

test_expect_success 'to a client without objects, stored bytes are sent unchanged' '
	test $(recompressed) = 0 &&
	test $(recompressed main~680) -gt 100
'

# The blob of one commit and its directory, of which it has older versions.
test_expect_success 'to a client with older versions, deltas against these are sent' '
	test $(recompressed main~1) = 2 &&
	test $(wc -c <answer) -lt 700 &&
	"$GIT" -C w.git multi-pack-index write --bitmap &&
	test $(recompressed main~1) = 2 &&
	test $(wc -c <answer) -lt 700
'

# shallow_size <upload-pack>: bytes of the pack of a clone of depth 1.
shallow_size () {
	rm -rf shallow.git &&
	stock clone -q --bare --depth 1 -u "$1" "file://$PWD/loose.git" \
		shallow.git &&
	stock -C shallow.git fsck --full --strict >&2 &&
	cat shallow.git/objects/pack/*.pack | wc -c
}

test_expect_success 'similar loose files are sent as deltas' '
	awk "BEGIN {
		for (n = 1; n <= 60; n++)
			text = text n * 104729 % 99991 \"\\n\"
		print \"commit refs/heads/main\"
		print \"committer A <a@example.com> 1 +0000\\ndata 0\"
		for (i = 1; i <= 150; i++) {
			print \"M 100644 inline dir/\" i
			print \"data \" 7 + length(text) \"\\n\" 100000 + i
			print text
		}
	}" | repo_import loose.git &&
	cat loose.git/objects/pack/*.pack >all.pack &&
	rm -f loose.git/objects/pack/* &&
	stock -C loose.git unpack-objects -q <all.pack &&
	test $(shallow_size "$GITREACH_BUILD/bin/git-upload-pack") -lt \
		$((2 * $(shallow_size "$STOCK_GIT upload-pack")))
'

test_done
