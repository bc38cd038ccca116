#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='update-ref does and says what stock Git does and says'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-refs.sh"
. "$GITREACH_SRC/t/lib-strace.sh"
. "$GITREACH_SRC/t/lib-meanwhile.sh"

SQ="'"

test_expect_success 'set up' '
	twins &&
	cp -r ours bare-ours && cp -r theirs bare-theirs
'

# Each line is a script. It runs in the repositories as the scripts before it
# have left them.
while read -r script
do
	test_expect_success "$script" "both '$script'"
done <<\EOF2
g update-ref HEAD $A -m " one  two "
g update-ref HEAD $A -m again
g update-ref refs/heads/q $A
g update-ref refs/heads/q $A -m same
g update-ref refs/heads/q $B $A
g update-ref refs/heads/q $A $A
g update-ref refs/heads/q $A $ZERO
g update-ref refs/heads/q $A ""
g update-ref refs/heads/none $A $B
g update-ref refs/heads/made $A $ZERO
g update-ref refs/heads/made $ZERO $A
g update-ref refs/heads/q nonsense
g update-ref refs/heads/q $A nonsense
g update-ref refs/heads/q ""
g update-ref -m "" refs/heads/q $A
g update-ref refs/heads/a..b $A
g update-ref refs/heads/x.lock $A
g update-ref ONE_LEVEL $A
g update-ref -d ONE_LEVEL
g update-ref -d config
g update-ref refs/heads/t $TREE
g update-ref refs/tags/t $TREE
g update-ref refs/tags/T $T
g update-ref --no-deref HEAD $TREE
g update-ref refs/heads/t 1234567890123456789012345678901234567890
g update-ref refs/heads/main/x $A
g update-ref refs/heads/d/a/b $A
g update-ref refs/heads/d $A
g update-ref refs/heads/d/a $A
stock pack-refs --all
g update-ref refs/heads/d $A
g update-ref refs/heads/d/a/b/c $A
g update-ref refs/heads $A
g update-ref refs/heads/q $A
g update-ref -d refs/heads/q $B
g update-ref -d refs/heads/q $A
g update-ref -d refs/heads/d/a/b
g update-ref -d refs/heads/none
g update-ref -d refs/heads/none $A
g update-ref -d refs/heads/none ""
g update-ref -m deleted -d HEAD
g update-ref -m three HEAD $A
g update-ref --no-deref -m detached HEAD $B
stock symbolic-ref HEAD refs/heads/main
g update-ref refs/heads/main $B -m direct
stock symbolic-ref refs/heads/s1 refs/heads/main; stock symbolic-ref refs/heads/s2 refs/heads/s1
g update-ref -m "via two" refs/heads/s2 $A $B
g update-ref --no-deref refs/heads/s2 $B $A
g update-ref --no-deref -d refs/heads/s1
g update-ref --create-reflog refs/tags/logged $A
g update-ref refs/tags/logged $B
g update-ref refs/tags/unlogged $B
git config core.logAllRefUpdates always; g update-ref refs/tags/always $B
git config core.logAllRefUpdates false; g update-ref refs/heads/never $B; g update-ref HEAD $B
git config --unset core.logAllRefUpdates
mkdir -p .git/refs/heads/em/pty; g update-ref refs/heads/em $A
echo junk >.git/refs/heads/junk; g update-ref refs/heads/junk $A
g update-ref refs/heads/junk $A $B
g update-ref -d refs/heads/junk
rm .git/refs/heads/junk
stock symbolic-ref refs/heads/l1 refs/heads/l2; stock symbolic-ref refs/heads/l2 refs/heads/l1; g update-ref refs/heads/l1 $A
rm .git/refs/heads/l1 .git/refs/heads/l2
>.git/refs/heads/lk.lock; g update-ref refs/heads/lk $A 2>.git/err
rm .git/refs/heads/lk.lock
g update-ref --stdin -m "" </dev/null
g update-ref --stdin --no-deref --create-reflog -m x </dev/null
EOF2

test_expect_success 'of commands' 'twins && both "
	stock update-ref refs/heads/a $A && stock update-ref HEAD $A"
'

# The same commands on standard input. In these lines,
#  and \0 are escapes of printf.
while read -r commands
do
	test_expect_success "--stdin: $commands" "
		both 'printf \"$commands\" | g update-ref --stdin'"
done <<\EOF2
create refs/heads/b $A\ncreate refs/heads/c $B\n
create refs/heads/b $A\n
create refs/heads/d $A\nupdate refs/heads/b $B $B\n
update refs/heads/b $B $A\ndelete refs/heads/c $B\nverify refs/heads/a $A\n
verify refs/heads/a\n
verify refs/heads/none\n
verify refs/heads/a $B\n
verify refs/heads/none $A\n
delete refs/heads/b $A\n
delete refs/heads/b $ZERO\n
delete refs/heads/none $A\n
create refs/heads/e $ZERO\n
create refs/heads/e\n
update refs/heads/e $A $ZERO extra\n
update refs/heads/e\n
update refs/heads/e nonsense\n
update refs/heads/e $A nonsense\n
update \n
update\n
nonsense\n
\n
 update refs/heads/e $A\n
update  refs/heads/e $A\n
update refs/heads/e $A
update refs/heads/e $A $ZERO
create refs/heads/e $A
delete refs/heads/a
start
start x\n
updated refs/heads/e $A\n
update refs/heads/e..e $A\n
update \\"refs/heads/quo\\\\164ed\\" \\"$A\\"\n
update \\"refs/heads/quo\\\\u\\" $A\n
update \\"refs/heads/quo\\"x $A\n
create refs/heads/twice $A\ncreate refs/heads/twice $A\n
update HEAD $B\nupdate refs/heads/main $B\n
delete refs/heads/a\ncreate refs/heads/a/b $A\n
option no-deref\nupdate HEAD $B\nupdate refs/heads/main $B\n
option other\n
option\n
start\ncreate refs/heads/f $A\nprepare\ncommit\nstart\ncreate refs/heads/g $A\n
start\ncreate refs/heads/h $A\nprepare\nabort\n
start\nstart\n
start\nprepare\nprepare\n
start\nprepare\ncreate refs/heads/h $A\n
commit\ncommit\n
abort\nabort\n
commit\ncreate refs/heads/h $A\n
prepare\n
update refs/heads/tree $TREE\n
update refs/heads/no 1234567890123456789012345678901234567890\n
EOF2

while read -r commands
do
	test_expect_success "--stdin -z: $commands" "
		both 'printf \"$commands\" | g update-ref --stdin -z'"
done <<\EOF2
update refs/heads/z1\000$A\000\000create refs/heads/z2\000$B\000
update refs/heads/z1\000$B\000$A\000verify refs/heads/z2\000$B\000
delete refs/heads/z2\000\000
update refs/heads/z1\000\000\000
create refs/heads/z3\000\000
update refs/heads/z3\000$A\000
update refs/heads/z3\000
update refs/heads/z3
update\000
create refs/heads/z4\000$A\000create refs/heads/z5\000$A
start\000abort\000
nonsense\000
\000
EOF2

test_expect_success 'GIT_COMMITTER_DATE has the formats of git-commit(1)' 'twins && both "
for date in \"Thu, 07 Apr 2005 22:13:13 +0200\" 2005-04-07T22:13:13 \
	\"04/07/2005 22:13:13.019 -0300\" \"07.04.2005 22:13\" @1112911993 \
	\"Thu Apr  7 22:13:13 2005 -0700\" 20050407T221313Z
do
	GIT_COMMITTER_DATE=\$date TZ=Europe/Berlin \
		g update-ref -m \"\$date\" HEAD \$(g commit-tree -m x \$TREE)
done"
'

test_expect_success 'a bare repository appends to existing reflogs only' '
	cd "$TRASH" && twins --bare &&
	both "g update-ref refs/heads/main $A; mkdir -p logs/refs/heads;
		>logs/refs/heads/x; g update-ref -m m refs/heads/x $B"
'

test_expect_success 'wrong usage' '
	for args in "" "--stdin x" "-z x y" "-d" "a b c d" "--stdin -d x"
	do
		(cd ours && test_expect_code 129 git update-ref $args) || return 1
	done &&
	test_expect_code 128 git -C ours update-ref --batch-updates a b 2>err &&
	grep "fatal: --batch-updates can only be used with --stdin" err
'

test_expect_success 'no ref of another work tree is deleted by its long name' '
	cd "$TRASH" && twins && cd ours &&
	stock update-ref refs/heads/main $A &&
	for name in main-worktree/HEAD main-worktree/refs/heads/main \
		worktrees/wt/HEAD
	do
		test_expect_code 1 git update-ref --no-deref -d $name 2>err &&
		grep "refusing to update ref with bad name .$name" err ||
			return 1
	done &&
	test $(stock rev-parse HEAD) = $A
'

test_expect_success 'no shared ref is written by its long name' '
	cd "$TRASH" && twins && cd ours &&
	stock update-ref refs/heads/main $A &&
	for name in main-worktree/refs/heads/main worktrees/wt/refs/heads/new
	do
		test_must_fail git update-ref $name $TREE 2>err &&
		grep "refusing to update ref with bad name .$name" err ||
			return 1
	done &&
	test_must_fail git update-ref main-worktree/refs/heads/main/x $B &&
	echo "$A refs/heads/main" >expect &&
	stock for-each-ref --format="%(objectname) %(refname)" \
		refs/heads/main refs/heads/new >actual &&
	test_cmp expect actual &&
	git update-ref main-worktree/refs/bisect/x $B &&
	test $(stock rev-parse refs/bisect/x) = $B
'

# Commands that stock Git 2.39 does not have.
test_expect_success 'symbolic refs by commands' '
	cd "$TRASH" && twins && cd ours &&
	git update-ref refs/heads/a $A &&
	git update-ref --stdin <<-EOF &&
	symref-create refs/heads/s refs/heads/a
	symref-update refs/heads/u refs/heads/a
	EOF
	echo "ref: refs/heads/a" >expect &&
	test_cmp expect .git/refs/heads/s &&
	test_cmp expect .git/refs/heads/u &&
	echo "symref-delete refs/heads/s" >delete &&
	test_must_fail git update-ref --stdin <delete 2>err &&
	grep "cannot operate with deref mode" err &&
	echo "symref-verify refs/heads/a..b refs/heads/a" |
	test_must_fail git update-ref --stdin 2>err &&
	grep "symref-verify: cannot operate with deref mode" err &&
	echo "symref-verify refs/heads/s refs/heads/b" |
	test_must_fail git update-ref --stdin --no-deref 2>err &&
	grep "is at refs/heads/a but expected refs/heads/b" err &&
	echo "symref-delete refs/heads/a refs/heads/b" |
	test_must_fail git update-ref --stdin --no-deref 2>err &&
	grep "expected symref with target .* but is a regular ref" err &&
	git update-ref --stdin --no-deref <<-EOF &&
	symref-verify refs/heads/none
	symref-update refs/heads/u refs/heads/b ref refs/heads/a
	symref-delete refs/heads/s refs/heads/a
	EOF
	echo "ref: refs/heads/b" >expect &&
	test_cmp expect .git/refs/heads/u &&
	! test -e .git/refs/heads/s &&
	echo "symref-update refs/heads/a refs/heads/u oid $A" |
	git update-ref --stdin --no-deref &&
	echo "ref: refs/heads/u" >expect &&
	test_cmp expect .git/refs/heads/a
'

test_expect_success '--batch-updates makes possible changes and reports the others' '
	cd "$TRASH" && twins && cd ours &&
	git update-ref refs/heads/a $A &&
	git update-ref refs/heads/b $A &&
	>.git/refs/heads/held.lock &&
	cat >input <<-EOF &&
	create refs/heads/a $B
	update refs/heads/b $B $B
	update refs/heads/none $A $B
	create refs/heads/a/x $A
	create refs/heads/tree $TREE
	create refs/heads/new $B
	create refs/heads/held $B
	EOF
	cat >expect <<-EOF &&
	rejected refs/heads/tree $TREE (null) invalid new value provided
	rejected refs/heads/a $B $ZERO reference already exists
	rejected refs/heads/b $B $B incorrect old value provided
	rejected refs/heads/none $A $B reference does not exist
	rejected refs/heads/a/x $A $ZERO refname conflict
	rejected refs/heads/held $B $ZERO reference already exists
	EOF
	git update-ref --stdin --batch-updates <input >actual &&
	test_cmp expect actual &&
	echo $B >expect &&
	stock rev-parse refs/heads/new >actual &&
	test_cmp expect actual &&
	test_must_fail git update-ref --stdin <input
'

# A rejected change conflicts with no other change. Its lock file is in the
# directory refs/heads/new, so the lock must go before the ref "new" is written.
test_expect_success 'a rejected change does not block a new ref above or below' '
	cd "$TRASH" && twins && cd ours &&
	cat >input <<-EOF &&
	create refs/heads/new $B
	update refs/heads/new/sub $B $A
	update refs/heads/other $B $A
	create refs/heads/other/sub/sub $B
	EOF
	cat >expect <<-EOF &&
	rejected refs/heads/new/sub $B $A reference does not exist
	rejected refs/heads/other $B $A reference does not exist
	EOF
	git update-ref --stdin --batch-updates <input >actual &&
	test_cmp expect actual &&
	test $(stock rev-parse refs/heads/new) = $B &&
	test $(stock rev-parse refs/heads/other/sub/sub) = $B &&
	cat >input <<-EOF &&
	create refs/heads/a/b $B
	create refs/heads/a $B
	create refs/heads/a/b/c $B
	EOF
	cat >expect <<-EOF &&
	rejected refs/heads/a/b $B $ZERO refname conflict
	rejected refs/heads/a $B $ZERO refname conflict
	EOF
	git update-ref --stdin --batch-updates <input >actual &&
	test_cmp expect actual &&
	test $(stock rev-parse refs/heads/a/b/c) = $B &&
	! find . -name "*.lock" | grep .
'

# Expected is the output of Git 2.55. It prints the ref to which a symbolic ref
# leads, the zero id for targets, and "(null)" for a value that was not given.
test_expect_success '--batch-updates names the target of a rejected symbolic ref' '
	cd "$TRASH" && twins && cd ours &&
	git update-ref refs/heads/a $A &&
	git symbolic-ref refs/heads/s refs/heads/a &&
	git symbolic-ref refs/heads/two refs/heads/s &&
	git symbolic-ref refs/heads/dangling refs/heads/none &&
	for line in "update refs/heads/s $B $B" "update refs/heads/two $B $B" \
		"delete refs/heads/s $B" "verify refs/heads/s $B" \
		"update refs/heads/dangling $A $A" "update refs/heads/t $TREE" \
		"symref-update refs/heads/s refs/heads/b ref refs/heads/c" \
		"symref-update refs/heads/a refs/heads/b oid $B" \
		"symref-create refs/heads/a/x refs/heads/b"
	do
		echo "$line" |
		git update-ref --stdin --batch-updates 2>err || return 1
	done >actual &&
	printf "%s\n" "verify refs/heads/s $A" "update refs/heads/a $B" |
	git update-ref --stdin --batch-updates >>actual 2>err &&
	echo "error: multiple updates for ${SQ}refs/heads/a${SQ} (including" \
		"one via symref ${SQ}refs/heads/s${SQ}) are not allowed" \
		>expect &&
	test_cmp expect err &&
	cat >expect <<-EOF &&
	rejected refs/heads/a $B $B incorrect old value provided
	rejected refs/heads/a $B $B incorrect old value provided
	rejected refs/heads/a $ZERO $B incorrect old value provided
	rejected refs/heads/a (null) $B incorrect old value provided
	rejected refs/heads/none $A $A reference does not exist
	rejected refs/heads/t $TREE (null) invalid new value provided
	rejected refs/heads/a $ZERO $ZERO expected symref but found regular ref
	rejected refs/heads/a $ZERO $B incorrect old value provided
	rejected refs/heads/a/x $ZERO $ZERO refname conflict
	rejected refs/heads/s (null) $A refname conflict
	EOF
	test_cmp expect actual &&
	test $(stock rev-parse refs/heads/a) = $B &&
	printf "%s\n" "update HEAD $A" "update refs/heads/main $A" |
	git update-ref --no-deref --stdin --batch-updates >actual &&
	echo "rejected refs/heads/main $A (null) refname conflict" >expect &&
	test_cmp expect actual &&
	printf "%s\n" "update refs/heads/a $A $A" "update refs/heads/s $A" |
	git update-ref --stdin --batch-updates >actual 2>err &&
	cat >expect <<-EOF &&
	rejected refs/heads/a $A $A incorrect old value provided
	rejected refs/heads/s $A (null) refname conflict
	EOF
	test_cmp expect actual
'

# Expected is the behaviour of Git 2.55. If the argument is empty where "ref" or
# "oid" could be, it ignores the next argument.
test_expect_success 'symref-update -z without an old value' '
	cd "$TRASH" && twins && cd ours &&
	git update-ref refs/heads/a $A &&
	for rest in "" "\\0" "\\0\\0" "\\0ignored\\0" "\\0x\\0create refs/heads/y\\0$A\\0"
	do
		git symbolic-ref refs/heads/s refs/heads/none &&
		printf "symref-update refs/heads/s\\0refs/heads/a\\0$rest" |
		git update-ref --no-deref --stdin -z &&
		test $(stock symbolic-ref refs/heads/s) = refs/heads/a ||
			return 1
	done &&
	test $(stock rev-parse refs/heads/y) = $A &&
	printf "symref-update refs/heads/s\\0refs/heads/b\\0ref\\0" |
	test_expect_code 128 git update-ref --stdin -z 2>err &&
	grep "symref-update refs/heads/s: expected old value" err &&
	printf "symref-update refs/heads/s refs/heads/b" |
	test_expect_code 128 git update-ref --stdin 2>err &&
	grep "symref-update refs/heads/s: extra input: " err &&
	printf "%s\n" start "update refs/heads/a $B $B" prepare |
	test_expect_code 128 git update-ref --stdin 2>err &&
	grep "^fatal: prepare: cannot lock ref" err
'

# The expected messages are those of Git 2.55.
test_expect_success 'FETCH_HEAD and MERGE_HEAD are not refs to change' '
	cd "$TRASH" &&
	for format in files reftable
	do
		rm -rf pseudo &&
		git init -q --bare --ref-format=$format pseudo &&
		tree=$(git -C pseudo hash-object -t tree -w /dev/null) &&
		for name in FETCH_HEAD MERGE_HEAD
		do
			for line in "update $name $tree" "create $name $tree" \
				"delete $name" "verify $name $ZERO"
			do
				echo "$line" | test_expect_code 128 git \
					-C pseudo update-ref --stdin 2>err &&
				grep "^fatal: refusing to update pseudoref .$name" \
					err || return 1
			done &&
			test_expect_code 128 git -C pseudo \
				update-ref $name $tree &&
			test_expect_code 1 git -C pseudo update-ref -d $name &&
			test_expect_code 1 git -C pseudo \
				symbolic-ref $name refs/heads/x || return 1
		done || return 1
	done
'

# Stock Git 2.39 prints additional lines.
test_expect_success 'a held lock gives the message of Git 2.55' '
	cd "$TRASH" && twins && cd ours &&
	lock=$PWD/.git/refs/heads/held.lock && >$lock &&
	cat >expect <<-EOF &&
	error: cannot lock ref '\''refs/heads/held'\'': Unable to create '\''$lock'\'': File exists.

	Another git process seems to be running in this repository, or the lock file may be stale
	EOF
	test_expect_code 1 git update-ref -d refs/heads/held 2>err &&
	test_cmp expect err
'

test_expect_success 'core.hooksPath without a value is an error, and no hook is skipped' '
	git init -q hp.git --bare &&
	printf "[core]\n\thooksPath\n" >>hp.git/config &&
	id=$(git -C hp.git -c core.hooksPath=/none hash-object -w -t tree \
		/dev/null) &&
	test_expect_code 128 git -C hp.git update-ref refs/x $id 2>err &&
	grep "missing value for ${SQ}core.hookspath${SQ}" err &&
	test_must_fail git -C hp.git -c core.hooksPath=/none rev-parse -q \
		--verify refs/x
'

test_expect_success 'the reference-transaction hook' '
	cd "$TRASH" && twins && cd ours &&
	cat >.git/hooks/reference-transaction <<-\EOF &&
	#!/bin/sh
	{ echo "$1" && cat; } >>said
	test "$1" != "$(cat refuse 2>/dev/null)"
	EOF
	chmod +x .git/hooks/reference-transaction &&
	git update-ref HEAD $A &&
	cat >expect <<-EOF &&
	preparing
	$ZERO $A HEAD
	prepared
	$ZERO $A refs/heads/main
	committed
	$ZERO $A refs/heads/main
	EOF
	test_cmp expect said &&
	for state in preparing prepared
	do
		echo $state >refuse &&
		echo "fatal: in '\''$state'\'' phase, update aborted by the reference-transaction hook" >expect &&
		for words in "update-ref HEAD $B" "update-ref -d HEAD" \
			"symbolic-ref HEAD refs/heads/other" "update-ref --stdin"
		do
			printf "start\nupdate HEAD $B\nprepare\n" >in &&
			test_expect_code 128 git $words <in 2>err &&
			test_cmp expect err &&
			test $A = $(stock rev-parse HEAD) || return 1
		done || return 1
	done &&
	>said && rm refuse &&
	test_must_fail git update-ref HEAD $B $B &&
	cat >expect <<-EOF &&
	preparing
	$B $B HEAD
	aborted
	EOF
	test_cmp expect said &&
	printf "#!/bin/sh\nexec <&-\n" >.git/hooks/reference-transaction &&
	i=0 && while test $((i += 1)) -le 3000
	do
		echo "create refs/heads/b$i $A" || return 1
	done >input &&
	git update-ref --stdin <input
'

# Expected is what Git 2.55 does, but it calls the hooks of the last two lines by
# their absolute path.
test_expect_success 'the directory and the environment of a hook' '
	cd "$TRASH" && rm -rf place && mkdir place && cd place &&
	stock init -q w && mkdir w/sub && stock -C w commit -q --allow-empty -m x &&
	stock clone -q --bare w b.git &&
	for dir in w/.git b.git
	do
		mkdir -p $dir/hooks &&
		cat >$dir/hooks/reference-transaction <<-\EOF || return 1
		#!/bin/sh
		test "$1" = committed || exit 0
		echo "$0 in ${PWD#"$TOP"}, ${GIT_DIR-none}, ${GIT_PREFIX-none}," \
			"${GIT_IMPLICIT_WORK_TREE-none}" >>"$TOP/actual"
		EOF
		chmod +x $dir/hooks/reference-transaction || return 1
	done &&
	TOP=$PWD && export TOP && : >actual &&
	git -C w update-ref refs/heads/1 HEAD &&
	git -C w/sub symbolic-ref refs/heads/2 refs/heads/1 &&
	git -C w/.git update-ref refs/heads/3 HEAD &&
	git -C b.git update-ref refs/heads/4 HEAD &&
	git -C b.git/objects update-ref refs/heads/5 HEAD &&
	git --git-dir=w/.git update-ref refs/heads/6 HEAD &&
	(cd w/sub &&
	 git --git-dir=../.git --work-tree=.. update-ref refs/heads/7 HEAD) &&
	(cd w/.git && GIT_WORK_TREE=.. git update-ref refs/heads/8 HEAD) &&
	cat >expect <<-EOF &&
	.git/hooks/reference-transaction in /w, none, , none
	.git/hooks/reference-transaction in /w, none, sub/, none
	hooks/reference-transaction in /w/.git, ., , 0
	hooks/reference-transaction in /b.git, ., , 0
	$TOP/b.git/hooks/reference-transaction in /b.git/objects, $TOP/b.git, , 0
	w/.git/hooks/reference-transaction in , w/.git, , none
	.git/hooks/reference-transaction in /w, $TOP/w/.git, sub/, none
	.git/hooks/reference-transaction in /w, $TOP/w/.git, .git/, 0
	EOF
	unset TOP && test_cmp expect actual
'

# Expected is what Git 2.55 does.
test_expect_success 'a hook runs for an empty and for an aborted transaction' '
	cd "$TRASH" && twins && cd ours &&
	cat >.git/hooks/reference-transaction <<-\EOF &&
	#!/bin/sh
	echo "$1" >>said && cat >>said && test "$1" != aborted
	EOF
	chmod +x .git/hooks/reference-transaction &&
	all="preparing prepared committed" &&
	says () {
		>said && git update-ref --stdin $2 >out 2>err &&
		test "$1" = "$(tr "\n" " " <said | sed "s/ $//")"
	} &&
	says "$all" </dev/null &&
	echo "create refs/heads/tree $TREE" | says "$all" --batch-updates &&
	printf "start\nprepare\nabort\n" | says "preparing prepared aborted" &&
	printf "start\nabort\n" | says aborted &&
	change="create refs/heads/x $A" && told="$ZERO $A refs/heads/x" &&
	printf "start\n$change\n" | says "aborted $told" &&
	echo "$change" >input && echo abort >>input &&
	says "aborted $told" <input &&
	echo "$change" >>input && >said &&
	printf "%s\n%s\n" "$change" "$change" >input &&
	test_must_fail git update-ref --stdin <input &&
	test_must_be_empty said
'

# Expected is what Git 2.55 does.
test_expect_success 'a hook that refuses is told that the transaction is aborted' '
	cd "$TRASH" && twins && cd ours &&
	cat >.git/hooks/reference-transaction <<-\EOF &&
	#!/bin/sh
	echo "$1" >>"$SAID" && test "$1" != "$REFUSED"
	EOF
	chmod +x .git/hooks/reference-transaction &&
	echo "create refs/heads/x $A" >input &&
	SAID=$PWD/said && export SAID REFUSED &&
	for REFUSED in preparing prepared
	do
		all="preparing aborted" &&
		test $REFUSED = preparing || all="preparing prepared aborted" &&
		>said && test_expect_code 128 git update-ref refs/heads/x $A &&
		test "$all " = "$(tr "\n" " " <said)" &&
		>said && test_expect_code 128 git update-ref --stdin <input &&
		test "$all " = "$(tr "\n" " " <said)" || return 1
	done &&
	unset REFUSED &&
	test_must_fail git rev-parse --verify refs/heads/x
'

test_expect_success 'a hook that cannot run in the state aborted changes nothing' '
	cd "$TRASH" && twins && cd ours &&
	printf "#!/nonexistent\n" >.git/hooks/reference-transaction &&
	chmod +x .git/hooks/reference-transaction &&
	printf "start\nabort\n" | git update-ref --stdin >actual 2>err &&
	printf "start: ok\nabort: ok\n" >expect &&
	test_cmp expect actual &&
	grep "^fatal: cannot exec ${SQ}.git/hooks/reference-transaction${SQ}:" \
		err
'

test_expect_success 'a hook that is killed or cannot be started refuses' '
	cd "$TRASH" && twins && cd ours && hook=.git/hooks/reference-transaction &&
	refuses="fatal: in ${SQ}preparing${SQ} phase, update aborted by the reference-transaction hook" &&
	printf "#!/nonexistent\n" >$hook && chmod +x $hook &&
	test_expect_code 128 git update-ref refs/heads/x $A 2>err &&
	cannot="fatal: cannot exec ${SQ}$hook${SQ}: No such file or directory" &&
	printf "%s\n" "$cannot" "$cannot" "$refuses" >expect &&
	test_cmp expect err &&
	printf "#!/bin/sh\nkill -9 \$\$\n" >$hook &&
	test_expect_code 128 git update-ref refs/heads/x $A 2>err &&
	killed="error: $hook died of signal 9" &&
	printf "%s\n" "$killed" "$killed" "$refuses" >expect &&
	test_cmp expect err
'

test_expect_success 'one hint about a hook that is not executable' '
	cd "$TRASH" && twins && cd ours && hook=.git/hooks/reference-transaction &&
	echo "exit 1" >$hook &&
	git update-ref refs/heads/x $A 2>err &&
	grep "^hint: The ${SQ}$hook${SQ} hook was ignored because" err >hints &&
	test_line_count 1 hints &&
	git -c advice.ignoredHook=false update-ref refs/heads/y $A 2>err &&
	test_cmp /dev/null err
'

# Hooks run in the top directory, and a relative core.hooksPath starts there.
test_expect_success 'a relative core.hooksPath from a subdirectory' '
	cd "$TRASH" && twins && cd ours && mkdir -p mine sub &&
	printf "#!/bin/sh\necho \"\$0 in \${PWD##*/}\" >&2\n" >mine/reference-transaction &&
	chmod +x mine/reference-transaction &&
	git -C sub -c core.hooksPath=mine update-ref refs/heads/x $A 2>err &&
	yes "mine/reference-transaction in ours" | sed 3q >expect &&
	test_cmp expect err
'

test_expect_success 'a ref is not set to an object that is damaged in a pack' '
	cd "$TRASH" && rm -rf damaged && stock init -q damaged && cd damaged &&
	stock commit -q --allow-empty -m one && stock repack -adq &&
	A=$(stock rev-parse HEAD) && pack=$(echo .git/objects/pack/*.pack) &&
	chmod u+w $pack &&
	at=$(stock verify-pack -v $pack | sed -n "s/^$A.* //p") &&
	printf "\377\377\377\377" |
		dd of=$pack bs=1 seek=$((at + 6)) conv=notrunc 2>/dev/null &&
	echo "create refs/heads/x $A" >input &&
	test_expect_code 128 git update-ref --stdin --batch-updates <input 2>err &&
	grep "^fatal: .*does not inflate" err
'

test_expect_success 'which of two conflicting names is rejected, and the words' '
	cd "$TRASH" && twins && cd ours &&
	both="cannot process ${SQ}refs/heads/y${SQ} and ${SQ}refs/heads/y/z${SQ}" &&
	at="at the same time" &&
	printf "create refs/heads/y $A\ncreate refs/heads/y/z $A\n" >down &&
	printf "create refs/heads/y/z $A\ncreate refs/heads/y $A\n" >up &&
	test_must_fail git update-ref --stdin <down 2>err &&
	echo "fatal: $both $at" >expect && test_cmp expect err &&
	test_must_fail git update-ref --stdin <up 2>err &&
	echo "fatal: cannot lock ref ${SQ}refs/heads/y${SQ}: $both $at" >expect &&
	test_cmp expect err &&
	git init -q --ref-format=reftable tables && cd tables &&
	(cd ../.git/objects && pwd) >.git/objects/info/alternates &&
	test_must_fail git update-ref --stdin <../down 2>err &&
	echo "fatal: $both $at" >expect && test_cmp expect err &&
	git update-ref --stdin --batch-updates <../up >actual 2>err &&
	echo "error: cannot process ${SQ}refs/heads/y/z${SQ} and" \
		"${SQ}refs/heads/y${SQ} $at" >expect &&
	test_cmp expect err &&
	echo "rejected refs/heads/y/z $A $ZERO refname conflict" >expect &&
	test_cmp expect actual &&
	git rev-parse --verify refs/heads/y
'

test_expect_success 'no ref is set to an object that has another id' '
	cd "$TRASH" && twins && cd ours &&
	for data in "" wrong
	do
		blob=$(echo "blob $data" | git hash-object -w --stdin) &&
		file=.git/objects/$(echo $blob | sed "s,..,&/,") &&
		chmod u+w $file &&
		if test "$data"
		then
			other=$(echo other | git hash-object -w --stdin) &&
			cp .git/objects/$(echo $other | sed "s,..,&/,") $file
		else
			>$file
		fi &&
		words="trying to write ref ${SQ}refs/tags/x${SQ} with" &&
		words="$words nonexistent object $blob" &&
		test_must_fail git update-ref refs/tags/x $blob 2>err &&
		tail -n 1 err >last && grep "$words" last &&
		printf "create refs/tags/x $blob\ncreate refs/tags/y $A\n" |
		git update-ref --stdin --batch-updates >actual 2>err &&
		echo "rejected refs/tags/x $blob (null) invalid new value" \
			"provided" >expect &&
		test_cmp expect actual && grep "error: $words" err &&
		git update-ref -d refs/tags/y $A || return 1
	done
'

test_expect_success STRACE 'hooks are looked for once for each state' '
	cd "$TRASH" && twins && cd ours &&
	hook=.git/hooks/reference-transaction &&
	printf "#!/bin/sh\ncat >>said\n" >$hook && chmod +x $hook &&
	strace -e trace=%file -o log git update-ref refs/heads/one $A &&
	yes "$ZERO $A refs/heads/one" | sed 3q >expect &&
	test_cmp expect said &&
	grep "access.*$hook" log >looked &&
	test_line_count 3 looked
'

test_expect_success 'stock Git finds no error in the refs and reflogs' '
	stock -C "$TRASH/ours" fsck --no-dangling
'

# Two processes add commits to the same ref, each on top of the value that it
# has read. A failed update is tried again. No commit may be lost.
test_expect_success 'two writers' '
	cd "$TRASH" && twins --bare && cd ours &&
	stock update-ref refs/heads/main $A &&
	STOCK=$STOCK_GIT && export STOCK &&
	cat >../writer <<-\EOF &&
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
	do
		for try in 1 2 3 4 5 6 7 8 9 10
		do
			old=$(git rev-parse refs/heads/main) &&
			new=$($STOCK commit-tree -m "$1 $i" -p $old $TREE) &&
			git update-ref refs/heads/main $new $old 2>/dev/null &&
			git update-ref refs/heads/w$1/$i $new &&
			break
		done
	done
	EOF
	{
		sh ../writer first &
		sh ../writer second &
		wait
	} &&
	stock rev-list refs/heads/main >reached &&
	stock for-each-ref --format="%(objectname)" "refs/heads/w*/*" >made &&
	test $(wc -l <made) -ge 15 &&
	for id in $(cat made)
	do
		grep $id reached || return 1
	done &&
	test $(wc -l <reached) -eq $(($(wc -l <made) + 1)) &&
	! find . -name "*.lock" | grep .
'

# The command reads HEAD first and locks it later. If HEAD is switched in
# between, its reflog must not get an entry of the old branch.
test_expect_success 'HEAD is switched to another branch before it is locked' '
	cd "$TRASH" && twins && cd ours &&
	stock update-ref refs/heads/main $A &&
	stock update-ref refs/heads/side $A &&
	STOCK=$STOCK_GIT && export STOCK &&
	test_must_fail meanwhile "*HEAD.lock" \
		"\$STOCK symbolic-ref HEAD refs/heads/side" \
		"$GIT" update-ref -m moved refs/heads/main $B 2>err &&
	grep "cannot lock ref .refs/heads/main.: HEAD has changed" err &&
	test $(stock rev-parse refs/heads/main) = $A &&
	git update-ref -m again refs/heads/main $B &&
	test $(stock rev-parse refs/heads/main) = $B &&
	! grep "moved\|again" .git/logs/HEAD &&
	! find . -name "*.lock" | grep .
'

test_expect_success 'names of values, when packed-refs cannot be read' '
	repo_linear cut 2 &&
	stock -C cut pack-refs --all &&
	file=$(find cut -name packed-refs) &&
	echo garbage >"$file" &&
	echo "update refs/heads/x main" >commands &&
	test_expect_code 128 git -C cut update-ref refs/heads/x main 2>err &&
	grep "^fatal: unexpected line in .*packed-refs: " err &&
	test_expect_code 128 git -C cut update-ref refs/heads/x HEAD main \
		2>err &&
	grep "^fatal: unexpected line in .*packed-refs: " err &&
	test_expect_code 128 git -C cut update-ref --stdin <commands 2>err &&
	grep "^fatal: unexpected line in .*packed-refs: " err
'

test_done
