#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='git init makes the same files and messages as stock Git'
. "$(dirname "$0")/lib.sh"

# Print what a directory has: the kind, mode and name of each file, and the
# content of HEAD and config files. Sample hooks and the directory "branches"
# are left out, because they come from stock Git's template.
picture () {
	(
		cd "$1" &&
		find . ! -path "*/hooks/*.sample" ! -name branches \
			-printf "%y %m %p %l\n" | sort &&
		for file in $(find . -name HEAD -o -name posted | sort)
		do
			echo "$file:" && cat "$file" || exit 1
		done &&
		for file in $(find . -name config | sort)
		do
			echo "$file:" && stock config -f "$file" --list |
			awk -F= '{ last[$1] = $0 }
				END { for (key in last) print last[key] }' |
			sort || exit 1
		done
	)
}

# Run `<who> <arguments>` in a new directory "place", after the script $prepare.
run_in_place () {
	who=$1 &&
	shift &&
	rm -rf place &&
	mkdir place &&
	(
		cd place &&
		eval "$prepare" >/dev/null &&
		{ $who "$@" >../out.$who 2>../err.$who; echo $? >>../out.$who; }
	) &&
	picture place >tree.$who
}

ours () {
	"$GIT" "$@"
}

compare () {
	run_in_place stock "$@" &&
	run_in_place ours "$@" &&
	test_cmp out.stock out.ours &&
	test_cmp err.stock err.ours &&
	test_cmp tree.stock tree.ours
}

prepare=:
for arguments in \
	"init" \
	"init --bare" \
	"init -q --bare x" \
	"init --bare x/y/z" \
	"init -b topic" \
	"init --bare --initial-branch=x -b y" \
	"init --object-format=sha256 --bare" \
	"init --object-format=sha1" \
	"init --object-format=huh" \
	"init --no-bare" \
	"init --shared=false" \
	"init --shared" \
	"init --bare --shared=0640 x" \
	"init --template= x" \
	"init --template=/nowhere x" \
	"-c init.defaultBranch=trunk init" \
	"--git-dir=x.git init" \
	"--git-dir=x init --bare" \
	"--git-dir=y/.git init" \
	"--git-dir=x --work-tree=. init"
do
	test_expect_success "git $arguments" "
		compare $arguments
	"
done

# Try each way to name the directory, combined with each way to ask for a bare
# repository.
for made in : 'mkdir -p w x/w'
do
	prepare=$made
	for global in "" --bare --git-dir=y "--bare --git-dir=y" \
		--git-dir=y/.git
	do
		for local in "" --bare --no-bare
		do
			test_expect_success "$made; git $global init $local" '
				for tree in "" . w
				do
					test -z "$tree" ||
					export GIT_WORK_TREE=$tree
					compare $global init $local x &&
					compare $global init $local ||
						return 1
					unset GIT_WORK_TREE
				done
			'
		done
	done
done

test_expect_success 'stock Git gets --bare as well' '
	prepare=: &&
	GITREACH_FALLBACK=$STOCK_GIT && export GITREACH_FALLBACK &&
	test_when_finished "unset GITREACH_FALLBACK" &&
	compare --bare init --separate-git-dir=s x &&
	compare init --separate-git-dir=s x
'

test_expect_success 'GIT_DEFAULT_HASH and GIT_OBJECT_DIRECTORY' '
	GIT_DEFAULT_HASH=sha256 && export GIT_DEFAULT_HASH &&
	test_when_finished "unset GIT_DEFAULT_HASH GIT_OBJECT_DIRECTORY" &&
	compare init --bare x &&
	GIT_OBJECT_DIRECTORY=$PWD/place/objs && export GIT_OBJECT_DIRECTORY &&
	compare init --bare x &&
	GIT_OBJECT_DIRECTORY=objs && compare init x &&
	compare init --bare x && compare init --bare x/y
'

test_expect_success 'GIT_OBJECT_DIRECTORY without a parent directory, or empty' '
	for objects in a/b a//b/ "$PWD/place/a/b" ""
	do
		rm -rf place && mkdir place &&
		test_expect_code 128 env "GIT_OBJECT_DIRECTORY=$objects" \
			git -C place init x 2>err &&
		grep "^fatal: .*\(a/.*no parent\|is empty\)" err &&
		! test -e place/x/.git/HEAD && ! test -e place/a &&
		! test -e place/x/a && ! test -e place/x/pack || return 1
	done &&
	for objects in a/ "$PWD/place/a" .git/a
	do
		rm -rf place && mkdir place &&
		GIT_OBJECT_DIRECTORY=$objects git -C place init x || return 1
	done &&
	test -d place/x/.git/a/pack
'

prepare='stock init -q --bare x'
for arguments in \
	"init --bare x" \
	"init --bare -q x" \
	"init --bare -b y x" \
	"init --bare --object-format=sha256 x" \
	"--git-dir=x init" \
	"init x"
do
	test_expect_success "again: git $arguments" "
		compare $arguments
	"
done

test_expect_success 'init restores missing files of a repository' '
	for prepare in \
		"stock init -q --bare x && rm x/HEAD" \
		"stock init -q --bare x && rm x/config" \
		"stock init -q --bare x && rm -r x/refs" \
		"stock init -q x && stock -C x config core.bare true" \
		"stock init -q --bare x && stock -C x config core.bare false"
	do
		compare init --bare x || return 1
	done
'

test_expect_success 'through a .git file' '
	prepare="stock init -q m && mkdir x && echo gitdir: ../m/.git >x/.git" &&
	compare init x
'

test_expect_success 'a linked work tree' '
	prepare="stock init -q m && stock -C m commit -q --allow-empty -m m &&
		stock -C m worktree add -q ../x 2>&1" &&
	compare init x
'

test_expect_success 'a template' '
	mkdir -p tpl/hooks tpl/d/.hidden &&
	echo a >tpl/posted && echo b >tpl/.hidden &&
	printf "#!/bin/sh\n" >tpl/hooks/post-update &&
	chmod +x tpl/hooks/post-update &&
	ln -s ../posted tpl/hooks/link &&
	prepare=: &&
	compare init --template="$PWD/tpl" x &&
	compare -c init.templateDir="$PWD/tpl" init --bare x &&
	GIT_TEMPLATE_DIR=$PWD/tpl && export GIT_TEMPLATE_DIR &&
	compare init x &&
	unset GIT_TEMPLATE_DIR &&
	prepare="stock init -q --template=../tpl x && echo mine >x/.git/posted" &&
	compare init --template="$PWD/tpl" x
'

test_expect_success 'refusals' '
	prepare="echo >file" &&
	compare init file &&
	compare init "" &&
	prepare="stock init -q x && stock -C x config \
		core.repositoryFormatVersion 7" &&
	compare init x
'

test_expect_success 'bad branch names leave nothing behind' '
	for name in "a b" "" .x x.lock a..b
	do
		test_must_fail git init -b "$name" bad 2>err &&
		grep "^fatal: invalid initial branch name: .$name.\$" err &&
		! test -e bad || return 1
	done
'

test_expect_success 'a bad branch name does not matter in an existing repository' '
	git init -q --bare there.git &&
	git init --bare -b a..b there.git 2>err &&
	grep "^warning: re-init: ignored --initial-branch=a..b" err &&
	git -c init.defaultBranch=a..b init -q --bare there.git 2>err &&
	test_must_be_empty err
'

test_expect_success 'unsupported options are an error without stock Git' '
	test_expect_code 129 git_alone init --separate-git-dir=y x &&
	! test -e x
'

test_expect_success 'stock Git works in a repository that we made' '
	rm -rf x y &&
	git init -q x &&
	stock -C x commit -q --allow-empty -m one &&
	git init -q --bare --object-format=sha256 y &&
	stock -C y fsck --strict &&
	stock -C y rev-parse --show-object-format >format &&
	test "$(cat format)" = sha256
'

# The expected files and messages are those of Git 2.55.
test_expect_success 'init.defaultObjectFormat' '
	git -c init.defaultObjectFormat=sha256 init -q --bare format.git &&
	test $(git -C format.git rev-parse --show-object-format) = sha256 &&
	git -c init.defaultObjectFormat=sha1 init -q --bare format.git &&
	test $(git -C format.git rev-parse --show-object-format) = sha256 &&
	for how in "GIT_DEFAULT_HASH=sha1 git -c init.defaultObjectFormat=sha256
		init -q --bare" \
		"git -c init.defaultObjectFormat=sha256 init -q --bare
		--object-format=sha1" \
		"git -c init.defaultObjectFormat=odd init -q --bare"
	do
		rm -rf format.git && env $how format.git 2>err &&
		test $(git -C format.git rev-parse --show-object-format) = \
			sha1 || return 1
	done &&
	grep "^warning: unknown hash algorithm .odd.\$" err &&
	for option in --object-format=x --ref-format=x
	do
		test_expect_code 128 git init -b a..b $option none 2>err &&
		grep "^fatal: unknown .* .x.\$" err || return 1
	done
'

test_expect_success 'the defaults for new repositories do not apply to a .git file' '
	mkdir dotfiles &&
	stock init -q dotfiles/one &&
	stock -C dotfiles/one -c user.name=a -c user.email=a@b \
		commit -q --allow-empty -m x &&
	stock -C dotfiles/one worktree add -q ../linked &&
	stock init -q --separate-git-dir dotfiles/apart.git dotfiles/apart &&
	for dir in dotfiles/linked dotfiles/apart
	do
		GIT_DEFAULT_HASH=sha256 git -C $dir init -q &&
		GIT_DEFAULT_REF_FORMAT=reftable git -C $dir init -q &&
		git -C $dir -c init.defaultObjectFormat=sha256 init -q &&
		git -C $dir -c init.defaultRefFormat=reftable init -q &&
		stock -C $dir symbolic-ref HEAD || return 1
	done &&
	stock -C dotfiles/linked log --oneline
'

test_expect_success 'variables go into existing sections of the configuration' '
	git init -q again && git -C again config x.y z &&
	git -C again config receive.autogc false &&
	git -C again init -q --shared=group &&
	printf "%s\n" "[core]" "	repositoryformatversion = 0" \
		"	filemode = true" "	bare = false" \
		"	logallrefupdates = true" "	sharedrepository = 1" \
		"[x]" "	y = z" "[receive]" "	autogc = false" \
		"	denyNonFastforwards = true" >expect &&
	test_cmp expect again/.git/config &&
	git -C again init -q --shared=0660 &&
	git -C again init -q --shared=0640 &&
	test $(grep -c sharedrepository again/.git/config) = 1 &&
	test $(git -C again config core.sharedRepository) = 0640
'

test_expect_success 'the configuration keeps its mode, and a link to it stays' '
	git init -q linked && mv linked/.git/config elsewhere &&
	ln -s ../../elsewhere linked/.git/config && chmod 600 elsewhere &&
	git -C linked init -q --shared=all &&
	test -L linked/.git/config && test "$(stat -c %a elsewhere)" = 600 &&
	grep sharedrepository elsewhere
'

test_expect_success '--shared has no negation' '
	test_expect_code 129 git init -q --no-shared unshared 2>err &&
	grep "unknown option .no-shared." err &&
	! test -e unshared
'

# format <key> <value>...: sets the variables in a new repository, makes it
# again, and prints the version and the extensions
format () {
	rm -rf format && git init -q --bare format &&
	git -C format config core.repositoryFormatVersion 1 &&
	while test $# -gt 0
	do
		git -C format config extensions.$1 $2 && shift 2 || return 1
	done &&
	git init -q --bare format &&
	grep -i -e "version =" -e "^.extensions" -e Clone -e Format \
		-e Config -e Worktrees -e Storage format/config |
		sed "s/.*ersion = /version /"
}

test_expect_success 'an existing repository gets the version that it needs' '
	format >actual && echo "version 0" >expect &&
	test_cmp expect actual &&
	format objectFormat sha1 refStorage files >actual &&
	test_cmp expect actual &&
	format partialClone origin >actual &&
	printf "%s\n" "version 0" "[extensions]" "	partialClone = origin" \
		>expect && test_cmp expect actual &&
	format submodulePathConfig true >actual &&
	printf "%s\n" "version 1" "[extensions]" \
		"	submodulePathConfig = true" >expect &&
	test_cmp expect actual &&
	format relativeWorktrees true >actual && grep "version 1" actual &&
	git init -q --bare --ref-format=reftable format.table &&
	git init -q --bare format.table &&
	test "$(git -C format.table rev-parse --show-ref-format)" = reftable
'

test_expect_success 'a wrong --shared leaves no directory behind' '
	test_must_fail git init -q --shared=x --shared=group shared.new 2>err &&
	grep "bad boolean config value .x. for .arg." err &&
	test ! -e shared.new
'

test_done
