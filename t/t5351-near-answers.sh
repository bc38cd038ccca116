#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='clones of depth 1 with the help of a prepared answer'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-strace.sh"

UP=--upload-pack=$GITREACH_BUILD/bin/git-upload-pack

# add <repository> <path> <content>: to the index of the repository.
add () {
	blob=$(echo "$3" | stock -C "$1" hash-object -w --stdin) &&
	stock -C "$1" update-index --add --cacheinfo "100644,$blob,$2"
}

# remove <repository> <path>: from the index of the repository.
remove () {
	printf "0 %s\t%s\n" $(stock -C "$1" hash-object --stdin </dev/null) \
		"$2" | stock -C "$1" update-index --index-info
}

# commit <repository> <branch>: the index, on top of the branch.
commit () {
	tree=$(stock -C "$1" write-tree) &&
	new=$(stock -C "$1" commit-tree -m "$tree" -p "$2" $tree) &&
	stock -C "$1" update-ref "refs/heads/$2" $new
}

# make <repository> [<option of init>]: 80 files, some of them equal, and
# prepared answers to clones of its branch main.
make () {
	stock init -q --bare $2 "$1" &&
	stock -C "$1" symbolic-ref HEAD refs/heads/main &&
	for i in $(seq 1 20)
	do
		add "$1" file$i "this is file $i" &&
		add "$1" dir/file$i "file $i of a directory" &&
		add "$1" dir/deep/file$i "this is file $i" &&
		add "$1" copy/file$i "file $i of a directory" || return
	done &&
	tree=$(stock -C "$1" write-tree) &&
	stock -C "$1" update-ref refs/heads/main \
		$(stock -C "$1" commit-tree -m first $tree) &&
	"$GIT" -C "$1" repack -adbq &&
	test -f "$1/objects/info/prepared"
}

# clone <strategy> <repository> [<option>...]: into c, by stock Git, from ours.
# Checks the strategy by which the objects were found.
clone () {
	strategy=$1 from=$2 && shift 2 &&
	rm -rf c events &&
	GIT_TRACE2_EVENT=$PWD/events stock -c fetch.fsckObjects=true \
		clone -q --bare --depth 1 "$UP" "$@" "file://$PWD/$from" c &&
	stock -C c fsck --full --strict &&
	grep "\"strategy\":\"$strategy\"" events
}

# has_tree <revision>...: the clone c has the objects of these, and no others.
has_tree () {
	stock -C r.git rev-list --objects --no-walk "$@" |
		cut -d" " -f1 | sort >expect &&
	stock -C c cat-file --batch-all-objects \
		--batch-check="%(objectname)" | sort >actual &&
	test_cmp expect actual
}

# start_again: with a new copy of the repository.
start_again () {
	rm -rf r.git &&
	cp -R saved.git r.git
}

test_expect_success 'setup' '
	make saved.git &&
	start_again &&
	clone prepared r.git &&
	has_tree main
'

test_expect_success 'after pushes, exactly the new tree is sent' '
	add r.git file3 changed && commit r.git main &&
	add r.git new/file "a new file" && commit r.git main &&
	clone prepared+walk r.git &&
	has_tree main &&
	remove r.git copy/file1 &&
	remove r.git dir/file2 &&
	commit r.git main &&
	clone prepared+walk r.git &&
	has_tree main &&
	stock -C c cat-file -e main:dir/file1 &&
	stock -C r.git repack -dq &&
	clone prepared+walk r.git &&
	has_tree main
'

test_expect_success 'such a clone gets its history, and fetches' '
	clone prepared+walk r.git &&
	stock -C c fetch -q --unshallow "$UP" &&
	stock -C c fsck --full --strict &&
	test $(stock -C c rev-list --count HEAD) = 4 &&
	clone prepared+walk r.git &&
	add r.git file4 changed && commit r.git main &&
	stock -C c fetch -q "$UP" origin main:main &&
	stock -C c fsck --full --strict
'

test_expect_success 'protocol versions 0 and 1' '
	for version in 0 1
	do
		rm -rf c events &&
		GIT_TRACE2_EVENT=$PWD/events stock \
			-c protocol.version=$version clone -q --bare \
			--depth 1 "$UP" "file://$PWD/r.git" c &&
		stock -C c fsck --full --strict &&
		grep "\"strategy\":\"prepared+walk\"" events &&
		has_tree main || return
	done
'

test_expect_success 'another branch' '
	stock -C r.git update-ref refs/heads/next main~2 &&
	add r.git file5 "of next" && commit r.git next &&
	clone prepared+walk r.git --branch next &&
	has_tree next
'

test_expect_success 'after a forced push, no object of the old tip is sent' '
	start_again &&
	add r.git secret "a password" && commit r.git main &&
	secret=$(stock -C r.git rev-parse main:secret) &&
	"$GIT" -C r.git repack -adbq &&
	clone prepared r.git &&
	stock -C c cat-file -e $secret &&
	add r.git secret "removed" &&
	stock -C r.git update-ref refs/heads/main main~1 &&
	commit r.git main &&
	clone prepared+walk r.git &&
	has_tree main &&
	test_must_fail stock -C c cat-file -e $secret
'

test_expect_success 'the prepared answer is to a hidden ref' '
	start_again &&
	add r.git secret "a password" && commit r.git main &&
	secret=$(stock -C r.git rev-parse main:secret) &&
	stock -C r.git update-ref refs/heads/open main~1 &&
	stock -C r.git update-ref refs/hidden/main main &&
	"$GIT" -C r.git repack -adbq &&
	stock -C r.git symbolic-ref HEAD refs/heads/open &&
	stock -C r.git update-ref -d refs/heads/main &&
	stock -C r.git config transfer.hideRefs refs/hidden &&
	clone prepared+walk r.git &&
	has_tree open &&
	test_must_fail stock -C c cat-file -e $secret
'

test_expect_success 'tags' '
	start_again &&
	blob=$(stock -C r.git rev-parse main:file1) &&
	stock -C r.git tag -a -m old old main &&
	stock -C r.git tag -a -m file file $(stock -C r.git rev-parse main:file7) &&
	stock -C r.git tag -a -m gone gone $(stock -C r.git rev-parse \
		main:copy) &&
	"$GIT" -C r.git repack -adbq &&
	add r.git copy/file1 changed && commit r.git main &&
	clone prepared+walk r.git &&
	has_tree main file &&
	stock -C r.git tag -a -m new new main &&
	stock -C r.git tag -a -m later later $blob &&
	clone prepared+walk r.git &&
	has_tree main file new later &&
	stock -C r.git config transfer.hideRefs refs/tags/file &&
	clone prepared+walk r.git &&
	has_tree main new later
'

test_expect_success 'upload-pack sends the objects that are replaced' '
	start_again &&
	add r.git file3 changed && commit r.git main &&
	stock -C r.git replace $(stock -C r.git rev-parse main:file4) \
		$(stock -C r.git rev-parse main:file5) &&
	clone prepared+walk r.git &&
	(
		GIT_NO_REPLACE_OBJECTS=1 && export GIT_NO_REPLACE_OBJECTS &&
		has_tree main
	)
'

test_expect_success 'grafts change no tree' '
	start_again &&
	add r.git file3 changed && commit r.git main &&
	stock -C r.git rev-parse main >r.git/info/grafts &&
	clone prepared+walk r.git &&
	has_tree main
'

test_expect_success 'the answer of an alternate' '
	start_again &&
	rm -rf fork.git &&
	stock clone -q --bare --shared r.git fork.git &&
	stock -C fork.git read-tree main &&
	add fork.git file3 "changed in the fork" && commit fork.git main &&
	clone prepared+walk fork.git &&
	stock -C r.git fetch -q ../fork.git main:main &&
	has_tree main
'

test_expect_success 'SHA-256' '
	make long.git --object-format=sha256 &&
	add long.git file3 changed && commit long.git main &&
	clone prepared+walk long.git &&
	stock -C c fsck --full --strict &&
	stock -C long.git rev-list --objects --no-walk main | wc -l >expect &&
	stock -C c cat-file --batch-all-objects --batch-check | wc -l >actual &&
	test_cmp expect actual
'

# put <file> <offset> <bytes>: change a file in place.
put () {
	chmod u+w "$1" &&
	printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>dd
}

# The reverse index of a small pack is verified and made again.
test_expect_success 'a damaged reverse index' '
	start_again &&
	add r.git file3 changed && commit r.git main &&
	rev=$(echo r.git/objects/pack/*.rev) &&
	put "$rev" 12 "\0\0\0\0\0\0\0\0" &&
	clone prepared+walk r.git &&
	has_tree main
'

# many <repository>: 9,000 versions of a file, so that the reverse index of the
# pack is not verified when it is opened, and a tree of 600 files. The tip of the
# branch "side" is in the pack, too, with a file that main does not have.
many () {
	stock init -q --bare "$1" &&
	stock -C "$1" symbolic-ref HEAD refs/heads/main &&
	awk "BEGIN {
		for (n = 0; n < 3000; n++) {
			print \"commit refs/heads/main\"
			print \"committer a <a@b> \" 1700000000 + n \" +0000\"
			print \"data 1\\nm\"
			for (i = 0; !n && i < 600; i++)
				printf \"M 100644 inline f%d\\ndata 4\\n%04d\\n\", i, i
			printf \"M 100644 inline q\\ndata 5\\nq%04d\\n\", n
		}
		print \"commit refs/heads/side\\ncommitter a <a@b> 1800000000 +0000\"
		print \"data 1\\ns\\nfrom refs/heads/main\"
		print \"M 100644 inline new\\ndata 3\\nnew\"
	}" </dev/null | stock -C "$1" fast-import --quiet &&
	"$GIT" -C "$1" repack -adbq
}

test_expect_success 'a branch whose new objects are in the pack' '
	rm -rf r.git && many r.git &&
	clone prepared+walk r.git --branch side &&
	has_tree side
'

test_expect_success STRACE 'the file of prepared answers is opened once' '
	side=$(stock -C r.git rev-parse side) &&
	pkt "command=fetch" D ofs-delta "deepen 1" "want $side" done F >request &&
	GIT_PROTOCOL=version=2 strace -f -o trace -e trace=openat \
		"$GIT" upload-pack --stateless-rpc r.git <request >out &&
	grep -a PACK out >packs &&
	grep "info/prepared\"" trace >opened && test_line_count 1 opened
'

# The damage swaps two entries that the prepared answer does not have.
test_expect_success 'a wrong order of objects that the answer lacks' '
	rev=$(echo r.git/objects/pack/*.rev) &&
	python3 - "$rev" <<-\EOC &&
	import os, sys
	os.chmod(sys.argv[1], 0o644)
	with open(sys.argv[1], "r+b") as f:
	    f.seek(12 + 4 * 2000)
	    a, b = f.read(4), f.read(4)
	    f.seek(12 + 4 * 2000)
	    f.write(b + a)
	EOC
	clone walk r.git --branch side &&
	has_tree side
'

# Each path of the directory would be read for the comparison.
test_expect_success 'a large directory of submodules at many paths' '
	start_again &&
	hex=$(printf %040d 1) &&
	big=$(awk -v hex=$hex "BEGIN {
		for (i = 0; i < 20000; i++)
			printf \"160000 commit %s\\ts%05d\\n\", hex, i
	}" </dev/null | stock -C r.git mktree --missing) &&
	{
		stock -C r.git ls-tree main && for i in $(seq 1 40)
		do
			printf "040000 tree %s\\tbig%d\n" $big $i
		done
	} >entries && tree=$(stock -C r.git mktree <entries) &&
	stock -C r.git update-ref refs/heads/main \
		$(stock -C r.git commit-tree -m big -p main $tree) &&
	clone walk r.git &&
	has_tree main
'

test_expect_success 'a damaged file of prepared answers, and one of another pack' '
	start_again &&
	add r.git file3 changed && commit r.git main &&
	size=$(wc -c <r.git/objects/info/prepared) &&
	put r.git/objects/info/prepared $((size - 30)) "\001\002" &&
	clone walk r.git &&
	has_tree main &&
	make other.git &&
	add other.git file9 other && commit other.git main &&
	"$GIT" -C other.git repack -adbq &&
	rm -f r.git/objects/info/prepared &&
	cp other.git/objects/info/prepared r.git/objects/info/ &&
	clone walk r.git &&
	has_tree main
'

test_expect_success 'a missing object is an error before the pack begins' '
	start_again &&
	add r.git file3 changed && commit r.git main &&
	blob=$(stock -C r.git rev-parse main:file3) &&
	rm -f r.git/objects/$(echo $blob | sed "s,^..,&/,") &&
	{
		pkt "command=fetch" && printf 0001 && pkt ofs-delta &&
		pkt "want $(stock -C r.git rev-parse main)" &&
		pkt "deepen 1" && pkt "done" && printf 0000
	} >request &&
	test_must_fail env GIT_PROTOCOL=version=2 "$GIT" upload-pack \
		--stateless-rpc r.git <request >out 2>err &&
	grep $blob err &&
	! grep -a PACK out
'

test_done
