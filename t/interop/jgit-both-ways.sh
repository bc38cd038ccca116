#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='JGit reads what we write, we read what JGit writes'
. "$(dirname "$0")/../lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-interop.sh"
. "$GITREACH_SRC/t/interop/jgit/setup.sh"

# test_jgit_answers <rev>...: the objects that JGit finds by bitmaps, their
# number as its upload-pack counts them, and the objects that stock Git finds.
test_jgit_answers () {
	repo_objects repo.git "$@" >expect &&
	jgit objects repo.git "$@" >actual &&
	test_cmp expect actual &&
	wc -l <expect >expect.nr &&
	jgit count repo.git "$@" >actual.nr &&
	test_cmp expect.nr actual.nr &&
	"$GIT" -C repo.git rev-list --count --objects --use-bitmap-index "$@" \
		>actual.nr &&
	test_cmp expect.nr actual.nr
}

# ---- ours, read by JGit

test_expect_success 'setup: repacked by ours, with its defaults' '
	repo_generated plain.git &&
	cp -r plain.git repo.git &&
	"$GIT" -C repo.git repack -q -adb
'

# The flags: all objects, name hashes, lookup table, pseudo-merges.
test_expect_success 'JGit accepts our tables, and our bitmaps' '
	echo 0035 >expect &&
	bitmap_flags repo.git >actual &&
	test_cmp expect actual &&
	jgit bitmap-check repo.git 100 >actual &&
	! grep " -$" actual &&
	checked=$(sed -n "s/^checked //p" actual) &&
	test $checked -ge 50
'

test_expect_success 'JGit finds the same objects in our repack' '
	test_jgit_answers --all &&
	test_jgit_answers main --not main~30 &&
	test_jgit_answers deep --not v5.0-rc
'

test_expect_success 'JGit serves a clone from our repack' '
	jgit clone "file://$PWD/repo.git" served-by-jgit.git &&
	test_same_repo repo.git served-by-jgit.git
'

# The last commit is nearest to the first branch, many bitmaps before it.
test_expect_success 'JGit accepts our XOR offsets' '
	{
		stream_commit main 1 1112912000 base base &&
		for i in $(seq 1 300)
		do
			echo "M 100644 inline f$i" &&
			printf "data 2\n%x\n" $((i % 16)) || exit
		done &&
		stream_commit first 2 1112912060 first first "from :1" &&
		for i in $(seq 3 150)
		do
			stream_commit b$i $i $((1112912000 + 60 * i)) b$i $i \
				"from :1" || exit
		done &&
		stream_commit last 151 1112922000 last last "from :2"
	} | repo_import far.git &&
	"$GIT" -C far.git repack -q -adb &&
	jgit bitmap-check far.git &&
	stock -C far.git rev-list --test-bitmap last
'

# ---- JGit as a client of our upload-pack

test_expect_success 'an ssh of our own' '
	cat >ssh <<-\EOC &&
	#!/bin/sh
	while test $# -gt 2
	do
		case "$1" in
		-o | -p) shift 2 ;;
		-*) shift ;;
		*) break ;;
		esac
	done
	echo "$GIT_PROTOCOL $2" >>"$SSH_LOG"
	unset GIT_DIR GIT_COMMON_DIR # an ssh passes on neither
	PATH=$GITREACH_BUILD/bin:$PATH exec sh -c "$2"
	EOC
	chmod +x ssh &&
	export GIT_SSH="$PWD/ssh" SSH_LOG="$PWD/ssh.log"
'

test_expect_success 'JGit clones from our upload-pack' '
	jgit clone "ssh://host$PWD/repo.git" client.git &&
	grep "version=2 git-upload-pack" ssh.log &&
	test_same_repo repo.git client.git
'

test_expect_success 'JGit fetches objects that are newer than the bitmaps' '
	repo_newer repo.git &&
	jgit fetch client.git &&
	test_same_repo repo.git client.git &&
	jgit clone "ssh://host$PWD/repo.git" client-2.git &&
	test_same_repo repo.git client-2.git &&
	test_jgit_answers --all &&
	test_jgit_answers newer-merge packed --not main~5
'

# ---- JGit's, read by ours

test_expect_success 'setup: a repository after gc by JGit' '
	rm -rf repo.git &&
	cp -r plain.git repo.git &&
	jgit gc repo.git &&
	stock -C repo.git fsck --full --strict &&
	jgit bitmap-check repo.git >actual &&
	grep "^checked [1-9]" actual
'

test_expect_success 'we find the same objects by JGit bitmaps' '
	test_bitmaps 3 repo.git "$GIT" &&
	test_by_bitmap repo.git "$GIT" &&
	test_same_answers 15 repo.git
'

test_expect_success 'we do with newer objects beside them' '
	repo_newer repo.git &&
	test_same_answers 15 repo.git
'

test_expect_success 'we serve clones from them' '
	stock_client clone -q --no-local --mirror \
		--upload-pack="$GITREACH_BUILD/bin/git-upload-pack" \
		repo.git clone.git &&
	test_served_by_us &&
	test_same_repo repo.git clone.git &&
	rm -f ssh.log &&
	jgit clone "ssh://host$PWD/repo.git" client-3.git &&
	grep git-upload-pack ssh.log &&
	test_same_repo repo.git client-3.git
'

test_expect_success 'we repack what JGit left, and JGit reads that' '
	"$GIT" -C repo.git repack -q -adb &&
	stock -C repo.git fsck --full --strict &&
	jgit bitmap-check repo.git >actual &&
	grep "^checked [1-9]" actual &&
	test_same_answers 5 repo.git
'

test_done
