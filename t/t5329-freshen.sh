#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='an object that is written again is not pruned as old

The table: each writer writes objects that are old and live in one place only.
Each cleaner then removes what is older than an hour. The objects stay.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-packs.sh"
. "$GITREACH_SRC/t/lib-meanwhile.sh"

# ---- the objects: a tag of a commit, the commit, its tree and a blob

# write_old <dir>: with stock Git, loose; sets $blob, $tree, $commit, $tag, $ids.
write_old () {
	blob=$(echo old | stock -C "$1" hash-object -w --stdin) &&
	tree=$(printf "100644 blob %s\tf\n" $blob | stock -C "$1" mktree) &&
	commit=$(stock -C "$1" commit-tree -m old $tree </dev/null) &&
	tag=$(tag_text | stock -C "$1" mktag) &&
	ids="$blob $tree $commit $tag"
}

# tag_text: the tag that `git tag -a -m old old $commit` writes
tag_text () {
	printf "object %s\ntype commit\ntag old\n" $commit &&
	echo "tagger $(stock var GIT_COMMITTER_IDENT)" && printf "\nold\n"
}

# age <dir>: all loose objects and packs get ten days old.
age () {
	find "$1"/objects -type f -exec touch -d "10 days ago" {} +
}

has_all () {
	for id in $ids
	do
		stock -C "$1" cat-file -e $id || {
			echo "$1 lost $id" >&2
			return 1
		}
	done
}

has_none () {
	for id in $ids
	do
		! stock -C "$1" cat-file -e $id 2>/dev/null || {
			echo "$1 still has $id" >&2
			return 1
		}
	done
}

# pack_old <dir>: into a pack; the loose files go.
pack_old () {
	printf "%s\n" $ids |
	stock -C "$1" pack-objects -q objects/pack/pack >name &&
	stock -C "$1" prune-packed -q
}

cruft_old () {
	age "$1" && stock -C "$1" repack -q --cruft -d &&
	ls "$1"/objects/pack/*.mtimes >/dev/null
}

# ---- where they live: home_<name> <dir> for each

home_loose () { age "$1"; }
home_pack () { pack_old "$1"; }
home_cruft () { cruft_old "$1"; }
home_midx () { pack_old "$1" && stock -C "$1" multi-pack-index write; }

# Stock Git up to 2.36 renewed such a file.
home_touched () {
	cruft_old "$1" && age "$1" &&
	touched=$(echo "$1"/objects/pack/*.mtimes) &&
	touch ${touched%.mtimes}.pack
}

home_crufts () {
	for id in $ids
	do
		age "$1" && echo $id |
		stock -C "$1" pack-objects -q objects/pack/pack >name || return
	done &&
	for pack in "$1"/objects/pack/*.pack
	do
		stock -C "$1" prune-packed -q &&
		mkdir -p away && mv ${pack%.pack}.* away || return
	done &&
	for pack in away/*.pack
	do
		mv ${pack%.pack}.* "$1"/objects/pack && age "$1" &&
		"$GIT" -C "$1" repack -q --cruft -d \
			--combine-cruft-below-size=1 || return
	done &&
	rmdir away && ls "$1"/objects/pack/*.mtimes >crufts &&
	test_line_count 4 crufts
}

# The cruft pack is the very pack that some writers will bring.
home_same () {
	name=$(stock -C "$1" index-pack --stdin <old.pack | cut -f2) &&
	perl -MDigest::SHA=sha1,sha256 -e '
		my ($base, $name) = @ARGV;
		my $is_sha1 = length $name == 40;
		my $table = pack "a4NNN4H*", "MTME", 1, $is_sha1 ? 1 : 2,
			1e9, 1e9, 1e9, 1e9, $name;
		open my $f, ">:raw", "$base/pack-$name.mtimes" or die;
		print $f $table, $is_sha1 ? sha1($table) : sha256($table);
	' "$1"/objects/pack $name &&
	stock -C "$1" prune-packed -q
}

home_promisor () {
	pack_old "$1" && >"$1"/objects/pack/pack-$(cat name).promisor &&
	stock -C "$1" config core.repositoryFormatVersion 1 &&
	stock -C "$1" config extensions.partialClone origin &&
	stock -C "$1" config remote.origin.promisor true &&
	stock -C "$1" config remote.origin.url "$PWD/none"
}

home_kept () {
	pack_old "$1" && >"$1"/objects/pack/pack-$(cat name).keep &&
	mkdir away && mv "$1"/objects/pack/pack-$(cat name).* away &&
	write_old "$1" && cruft_old "$1" &&
	mv away/* "$1"/objects/pack && rmdir away
}

home_both () {
	pack_old "$1" && mkdir away &&
	mv "$1"/objects/pack/pack-$(cat name).* away &&
	write_old "$1" && cruft_old "$1" &&
	mv away/* "$1"/objects/pack && rmdir away
}

# ---- who writes them again: writer_<name> <dir>, from client.git

writer_hash_object () {
	stock -C client.git cat-file blob $blob |
	"$GIT" -C "$1" hash-object -w --stdin &&
	stock -C client.git cat-file tree $tree |
	"$GIT" -C "$1" hash-object -w --stdin -t tree &&
	stock -C client.git cat-file commit $commit |
	"$GIT" -C "$1" hash-object -w --stdin -t commit &&
	stock -C client.git cat-file tag $tag |
	"$GIT" -C "$1" hash-object -w --stdin -t tag
}

# Ours, and commands of stock Git that ours starts.
writer_handed_over () {
	stock -C client.git cat-file blob $blob |
	"$GIT" -C "$1" hash-object -w --stdin &&
	printf "100644 blob %s\tf\n" $blob | "$GIT" -C "$1" mktree &&
	"$GIT" -C "$1" commit-tree -m old $tree </dev/null &&
	tag_text | "$GIT" -C "$1" mktag
}

# The commands that users run, in a new work tree. The refs go again.
writer_commit_and_tag () {
	rm -rf work && mkdir work && echo old >work/f &&
	head=$(stock -C "$1" symbolic-ref HEAD) &&
	work="--git-dir=$1 --work-tree=work" &&
	"$GIT" $work symbolic-ref HEAD refs/heads/again &&
	"$GIT" $work add f && "$GIT" $work commit -q -m old &&
	"$GIT" $work tag -a -m old old &&
	test $(stock -C "$1" rev-parse old) = $tag &&
	rm "$1"/index && stock -C "$1" symbolic-ref HEAD $head &&
	stock -C "$1" update-ref -d refs/tags/old &&
	stock -C "$1" update-ref -d refs/heads/again &&
	rm -f "$1"/logs/HEAD
}

writer_unpack_objects () {
	"$GIT" -C "$1" unpack-objects -q <old.pack
}

writer_index_pack () {
	"$GIT" -C "$1" index-pack --stdin <old.pack
}

writer_unbundle () {
	"$GIT" -C "$1" bundle unbundle "$PWD/old.bundle"
}

# push <dir> <limit>
push () {
	stock -C "$1" config receive.unpackLimit $2 &&
	stock -C client.git push -q --receive-pack="$OURS" "$PWD/$1" \
		$tag:refs/tags/again &&
	stock -C "$1" update-ref -d refs/tags/again
}
OURS="env -u GIT_EXEC_PATH $(dirname "$GIT")/git-receive-pack"

writer_push_loose () { push "$1" 100; }
writer_push_pack () { push "$1" 1; }

# ---- what is done next: cleaner_<name> <dir>

EXPIRY=1.hour.ago
cleaner_gc () { "$GIT" -C "$1" gc -q --cruft --prune=$EXPIRY; }
cleaner_gc_loose () { "$GIT" -C "$1" gc -q --no-cruft --prune=$EXPIRY; }
cleaner_prune () {
	"$GIT" -C "$1" prune --expire=$EXPIRY &&
	"$GIT" -C "$1" repack -q -d &&
	"$GIT" -C "$1" prune-packed -q &&
	cleaner_gc "$1"
}

HOMES="loose pack cruft midx touched crufts same promisor kept both"
WRITERS="hash_object handed_over commit_and_tag unpack_objects push_loose"
WRITERS="$WRITERS index_pack unbundle push_pack"
CLEANERS="gc gc_loose prune"

# each_cleaner <check> <dir> [<alternate>]: in a copy for each of them
each_cleaner () {
	for cleaner in $CLEANERS
	do
		rm -rf clean.git clean-alternate.git &&
		cp -Rp "$2" clean.git || return
		if test -n "${3-}"
		then
			cp -Rp "$3" clean-alternate.git &&
			echo "$PWD/clean-alternate.git/objects" \
				>clean.git/objects/info/alternates &&
			cleaner_$cleaner clean-alternate.git || return
		fi
		cleaner_$cleaner clean.git && $1 clean.git || {
			echo "after $cleaner" >&2
			return 1
		}
	done
}

# make_homes: home-<name>.git for each, client.git and what it gives
make_homes () {
	rm -rf *.git &&
	repo_linear client.git 2 && write_old client.git &&
	printf "%s\n" $ids |
	stock -C client.git pack-objects -q --stdout >old.pack &&
	stock -C client.git update-ref refs/tags/again $tag &&
	stock -C client.git bundle create -q "$PWD/old.bundle" refs/tags/again &&
	for home in $HOMES
	do
		repo_linear home-$home.git 2 &&
		rm -r home-$home.git/hooks &&
		write_old home-$home.git &&
		home_$home home-$home.git || return
		test $home = touched || age home-$home.git
		has_all home-$home.git || return
	done
}

for REPO_FORMAT in sha1 sha256
do
	test $REPO_FORMAT = sha1 || HOMES="pack cruft crufts same"

	test_expect_success "$REPO_FORMAT: homes" '
		make_homes
	'

	for home in $HOMES
	do
		case $home in
		promisor|kept) check=has_all ;;
		*) check=has_none ;;
		esac

		test_expect_success "$REPO_FORMAT, $home: old unreachable objects are removed" '
			each_cleaner $check home-$home.git
		'

		for writer in $WRITERS
		do
			test_expect_success "$REPO_FORMAT, $home: $writer" '
				rm -rf again.git &&
				cp -Rp home-$home.git again.git &&
				writer_$writer again.git >out &&
				each_cleaner has_all again.git
			'
		done
	done

	# The alternate's packs must stay where they are: nothing else is old.
	for home in loose pack cruft
	do
		test $REPO_FORMAT = sha1 || continue
		for writer in $WRITERS
		do
			test_expect_success "$home in an alternate: $writer" '
				rm -rf again.git alternate.git &&
				cp -Rp home-$home.git alternate.git &&
				repo_linear again.git 1 &&
				echo "$PWD/alternate.git/objects" \
					>again.git/objects/info/alternates &&
				writer_$writer again.git >out &&
				each_cleaner has_all again.git alternate.git
			'
		done
	done
done
REPO_FORMAT=

test_expect_success 'a cruft pack whose file is younger than what was written' '
	REPO_FORMAT=sha1 HOMES="loose pack cruft" && make_homes &&
	rm -rf again.git && cp -Rp home-cruft.git again.git &&
	writer_hash_object again.git >out &&
	pack=$(echo again.git/objects/pack/*.mtimes) &&
	touch ${pack%.mtimes}.pack &&
	each_cleaner has_all again.git
'

# A cruft pack that stays keeps the time that it notes.
test_expect_success 'written again, and the cruft pack stays' '
	for writer in $WRITERS
	do
		rm -rf again.git && cp -Rp home-cruft.git again.git &&
		writer_$writer again.git >out &&
		git -C again.git repack -q -d --cruft \
			--combine-cruft-below-size=1 &&
		each_cleaner has_all again.git || return
	done
'

test_expect_success 'objects written again that an alternate has as cruft' '
	for writer in $WRITERS
	do
		rm -rf again.git alternate.git &&
		cp -Rp home-cruft.git alternate.git &&
		repo_linear again.git 1 && writer_$writer again.git >out &&
		echo "$PWD/alternate.git/objects" \
			>again.git/objects/info/alternates &&
		cleaner_gc again.git &&
		each_cleaner has_all again.git alternate.git || return
	done
'

# ---- what is written again while a repack is at work

# From half an hour ago; $REPACK does not find them old, $LATER does.
REPACK="repack -q -d --cruft --cruft-expiration=1.hour.ago"
REPACK_LOOSE="repack -q -d -A --unpack-unreachable=1.hour.ago"
LATER="gc -q --prune=10.minutes.ago"

# middle_aged <home>: again.git, whose objects are from half an hour ago
middle_aged () {
	rm -rf again.git && repo_linear again.git 2 &&
	write_old again.git && case $1 in
	loose) ;;
	*) pack_old again.git ;;
	esac &&
	find again.git/objects -type f \
		-exec touch -d "30 minutes ago" {} + &&
	test $1 != cruft || stock -C again.git repack -q --cruft -d
}

while_packing () {
	meanwhile "*/tmp_pack_*" \
		"\"$GIT\" unpack-objects -q <\"$PWD/old.pack\"" \
		git -C again.git "$@"
}

for home in cruft loose pack
do
	test_expect_success "$home: written again while a repack is at work" '
		middle_aged $home && git -C again.git $LATER &&
		has_none again.git &&
		middle_aged $home && while_packing $REPACK &&
		has_all again.git &&
		git -C again.git $LATER && has_all again.git &&
		middle_aged $home && while_packing $REPACK_LOOSE &&
		has_all again.git &&
		git -C again.git $LATER && has_all again.git
	'

	test_expect_success "$home: old, written again meanwhile" '
		rm -rf again.git && cp -Rp home-$home.git again.git &&
		while_packing $REPACK && has_all again.git &&
		git -C again.git $LATER && has_all again.git &&
		git -C again.git repack -adq && has_none again.git
	'
done

test_done
