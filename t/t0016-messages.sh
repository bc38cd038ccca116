#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='error messages that people and scripts look for

The expected words are those of Git 2.55.'
. "$(dirname "$0")/lib.sh"

SQ="'"

# object_file <dir> <id>
object_file () {
	echo "$1/objects/$(echo "$2" | sed 's,^..,&/,')"
}

# says <words> <command>...: the command must fail, and its message must contain
# the words.
says () {
	words=$1 &&
	shift &&
	test_must_fail "$@" >out 2>err </dev/null &&
	grep -F -e "$words" err || {
		cat err
		return 1
	}
}

test_expect_success 'a repository' '
	repo_linear good.git 4 &&
	stock init -q checkout && echo 1 >checkout/f && stock -C checkout add f &&
	stock -C checkout commit -q -m 1 && mkdir checkout/sub &&
	parent=$(stock -C good.git rev-parse main~2) &&
	child=$(stock -C good.git rev-parse main~1) &&
	tree=$(stock -C good.git rev-parse main~1^{tree}) &&
	blob=$(stock -C good.git rev-parse main:dir1/file4)
'

test_expect_success 'a parent is missing' '
	cp -R good.git parent.git && rm $(object_file parent.git $parent) &&
	for words in "rev-list main" "rev-list --objects main" \
		"rev-list --count main" "pack-objects --all x" \
		"commit-graph write --reachable"
	do
		says "fatal: Failed to traverse parents of commit $child" \
			git -C parent.git $words || return 1
	done
'

test_expect_success 'a tree is missing' '
	cp -R good.git tree.git && rm $(object_file tree.git $tree) &&
	for words in "rev-list --objects main" "repack -adq" "gc -q" prune \
		"pack-objects --all x"
	do
		says "fatal: bad tree object $tree" git -C tree.git $words ||
		return 1
	done
'

test_expect_success 'a blob is missing' '
	cp -R good.git blob.git && rm $(object_file blob.git $blob) &&
	says "fatal: missing blob object " git -C blob.git rev-list --objects \
		main &&
	for words in "repack -adq" "gc -q" "pack-objects --all x"
	do
		says "fatal: unable to read $blob" git -C blob.git $words ||
		return 1
	done
'

test_expect_success 'a loose object is corrupt' '
	cp -R good.git corrupt.git && file=$(object_file corrupt.git $tree) &&
	chmod +w $file && echo garbage >$file &&
	says "fatal: loose object $tree (stored in objects/" \
		git -C corrupt.git rev-list --objects main &&
	grep ") is corrupt: " err
'

test_expect_success 'a hook refuses an update' '
	mkdir -p hook.git && cp -R good.git/. hook.git &&
	mkdir -p hook.git/hooks &&
	printf "#!/bin/sh\ntest \"\$1\" != prepared\n" \
		>hook.git/hooks/reference-transaction &&
	chmod +x hook.git/hooks/reference-transaction &&
	for words in "update-ref refs/heads/x main" "update-ref -d refs/heads/main" \
		"symbolic-ref HEAD refs/heads/x"
	do
		says "fatal: in '\''prepared'\'' phase, update aborted by the reference-transaction hook" \
			git -C hook.git $words || return 1
	done
'

test_expect_success 'options that exclude each other, and missing files' '
	says "options '\''-s'\'' and '\''-t'\'' cannot be used together" \
		git -C good.git cat-file -t -s main &&
	says "Incremental repacks are incompatible with bitmap indexes." \
		git -C good.git repack -b &&
	says "fatal: Cannot open existing pack file '\''none.idx'\''" \
		git verify-pack none &&
	says "fatal: No such ref: main..x" \
		git -C good.git symbolic-ref main..x &&
	says "fatal: you must specify a directory" git receive-pack &&
	says "fatal: too many arguments" git receive-pack a b &&
	says "fatal: Need a repository to create a bundle." \
		git bundle create x HEAD
'

# The same repository is named by different paths, from different directories.
paths () {
	while read -r file where
	do
		test_must_fail git $where fsck >out 2>err </dev/null &&
		grep -F "object corrupt or missing: $file" err ||
		return 1
	done
}

test_expect_success 'messages print paths relative to the work tree or repository' '
	id=$(stock -C checkout rev-parse HEAD:f) && name=${id#??} &&
	name=$(echo $id | sed "s,^..,&/,") &&
	chmod +w checkout/.git/objects/$name && echo x >checkout/.git/objects/$name &&
	paths <<-EOF
	.git/objects/$name -C checkout
	.git/objects/$name -C checkout/sub
	objects/$name -C checkout/.git
	checkout/.git/objects/$name --git-dir=checkout/.git
	EOF
	test_must_fail git --git-dir="$PWD/checkout/.git" fsck 2>err &&
	grep -F "object corrupt or missing: $PWD/checkout/.git/objects/$name" err
'

# phases <command>...: prints the last line of each progress meter.
phases () {
	GIT_PROGRESS_DELAY=0 git "$@" 2>&1 >/dev/null </dev/null |
	tr "\r" "\n" | grep "done\.$" | sed "s/, [0-9.]* [KMG]*i*B.*,/,/"
}

test_expect_success 'phases of progress' '
	stock init -q packed && seq 50 >packed/f && stock -C packed add f &&
	stock -C packed commit -q -m 1 && seq 51 >packed/f &&
	stock -C packed commit -q -a -m 2 &&
	phases -C packed pack-objects --progress --all --stdout >actual &&
	cat >expect <<-\EOF &&
	Enumerating objects: 6, done.
	Counting objects: 100% (6/6), done.
	Compressing objects: 100% (2/2), done.
	EOF
	sed "s/\(Compressing objects: 100%\) .*,/\1 (2\/2),/" actual >actual.2 &&
	test_cmp expect actual.2 &&
	for words in "--all-progress --stdout" "x"
	do
		phases -C packed pack-objects --all --progress $words >actual &&
		grep "^Writing objects: 100% (6/6), done\.$" actual || return 1
	done &&
	phases -C packed fsck --progress >actual &&
	cat >expect <<-\EOF &&
	Checking ref database: 100% (1/1), done.
	Checking object directories: 100% (256/256), done.
	Checking connectivity: 6, done.
	EOF
	test_cmp expect actual &&
	stock -C packed repack -adq &&
	phases -C packed pack-objects --progress --all --stdout >actual &&
	grep "^Counting objects: 100% (6/6), done\.$" actual &&
	phases -C packed fsck --progress >actual &&
	grep "^Checking objects: 100% (6/6), done\.$" actual &&
	phases -C packed multi-pack-index write --progress >actual &&
	grep "^Adding packfiles to multi-pack-index: 1, done\.$" actual &&
	phases -C packed commit-graph write --reachable --progress >actual &&
	grep "^Writing out commit graph in 4 passes: 100% (8/8), done\.$" actual &&
	phases -C packed bundle create --progress x.bundle --all >actual &&
	! grep Writing actual
'

test_expect_success 'the first wrong argument is reported' '
	git init -q --bare wrong.git &&
	says "fatal: invalid filter-spec " \
		git -C wrong.git repack --filter=x -g99999999999 &&
	says "error: value 99999999999 for switch \`g" \
		git -C wrong.git repack -g99999999999 --filter=x &&
	says "error: switch \`g" \
		git -C wrong.git repack -gx &&
	says "fatal: invalid filter-spec " \
		git -C wrong.git pack-objects --filter=x --thin --nothing &&
	says "fatal: invalid filter-spec " \
		git -C wrong.git cat-file --filter=x --batch-check -t &&
	says "fatal: sparse:path filters support has been dropped" \
		git -C wrong.git rev-list --filter=sparse:path=x nothing &&
	says "fatal: object filtering requires --objects" \
		git -C wrong.git rev-list --filter=tree:1 --left-right
'

test_expect_success 'some options of pack-objects cannot be negated' '
	for option in all reflog indexed-objects unpacked
	do
		test_expect_code 129 git -C wrong.git pack-objects --stdout \
			--no-$option >out 2>err </dev/null &&
		if test $option = all
		then
			grep "^error: ambiguous option: no-all " err
		else
			says "error: unknown option \`no-$option" \
				git -C wrong.git pack-objects --no-$option
		fi || return 1
	done
'

test_expect_success 'the reason is a line of its own if -c or the environment is wrong' '
	printf "%s\n" "error: key does not contain a section: nokey" \
		"fatal: unable to parse command-line config" >expect &&
	for words in "rev-list HEAD" "cat-file -p HEAD" for-each-ref
	do
		test_must_fail git -C good.git -c nokey $words 2>err &&
		test_cmp expect err || return 1
	done &&
	printf "%s\n" "error: bogus count in GIT_CONFIG_COUNT" \
		"fatal: unable to parse command-line config" >expect &&
	test_must_fail env GIT_CONFIG_COUNT=x \
		"$GIT" -C good.git rev-list HEAD 2>err &&
	test_cmp expect err
'

test_expect_success 'a preferred pack is unknown if there are no packs' '
	test_must_fail git -C wrong.git multi-pack-index write \
		--preferred-pack=x 2>err &&
	printf "%s\n" "warning: unknown preferred pack: ${SQ}x${SQ}" \
		"error: no pack files to index." >expect &&
	test_cmp expect err
'

test_done
