#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='copying runs of several packs into one that is sent'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-midx.sh"

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

test_done
