#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='the git program: options before the command, names, version'
. "$(dirname "$0")/lib.sh"

test_expect_success 'a repository' '
	repo_linear repo.git 3 &&
	mkdir sub
'

# Print the variables that a child process of `git` gets. Compare ours with
# those of stock Git.
seen_by () {
	"$@" | grep -E "^(GIT_|PWD=)" |
	grep -v -e "^GIT_EXEC_PATH=" -e "^GIT_CONFIG_PARAMETERS=" | sort
}

compare_seen () {
	seen_by git "$@" -c alias.seen="!env" seen >actual &&
	seen_by stock "$@" -c alias.seen="!env" seen >expect &&
	test_cmp expect actual
}

for options in "" \
	"-C sub" \
	"-C sub -C .." \
	"--git-dir=repo.git" \
	"--git-dir repo.git --work-tree sub" \
	"-C sub --git-dir=../repo.git --work-tree=." \
	"--git-dir=repo.git --bare" \
	"-C repo.git --bare" \
	"--namespace=name" \
	"--namespace name" \
	"--no-pager -P" \
	"--no-replace-objects --no-optional-locks" \
	"--literal-pathspecs" \
	"--no-literal-pathspecs" \
	"--glob-pathspecs --icase-pathspecs" \
	"--noglob-pathspecs"
do
	test_expect_success "environment with \"$options\"" '
		compare_seen $options
	'
done

test_expect_success '-C with an empty path changes nothing' '
	git -C "" --git-dir=repo.git rev-parse main >actual &&
	stock --git-dir=repo.git rev-parse main >expect &&
	test_cmp expect actual
'

test_expect_success 'our commands see the options' '
	stock -C repo.git rev-list main >expect &&
	git -C repo.git rev-list main >actual &&
	test_cmp expect actual &&
	git -C sub --git-dir=../repo.git rev-list main >actual &&
	test_cmp expect actual &&
	git -C repo.git --bare rev-list main >actual &&
	test_cmp expect actual &&
	GIT_DIR=$PWD/repo.git git rev-list main >actual &&
	test_cmp expect actual &&
	test_expect_code 128 git -C sub rev-list main 2>err &&
	grep "^fatal: not a git repository" err &&
	test_expect_code 128 git -C repo.git -c pack.threads=x \
		pack-objects --stdout </dev/null 2>err &&
	grep "^fatal: bad numeric config value .x. for .pack.threads." err
'

# Stock Git reads the values back from GIT_CONFIG_PARAMETERS.
test_expect_success '-c' '
	git -c a.b=c -c "x.quote=it'\''s! \"so\"" -c x.empty= -c x.true \
		-c "s.u=b.v=w" config --list >all &&
	grep "^[asx]\." all >actual &&
	cat >expect <<-\EOC &&
	a.b=c
	x.quote=it'\''s! "so"
	x.empty=
	x.true
	s.u=b.v=w
	EOC
	test_cmp expect actual
'

test_expect_success '-c adds to the configuration in the environment' '
	GIT_CONFIG_PARAMETERS="'\''a.b'\''='\''1'\''" git -c a.b=2 \
		config --get-all a.b >actual &&
	printf "%s\n" 1 2 >expect &&
	test_cmp expect actual
'

test_expect_success '--config-env' '
	FROM_ENV=value git --config-env=s.u=b.v=FROM_ENV \
		--config-env c.d=FROM_ENV config --list >all &&
	grep -E "^(s|c)\." all >actual &&
	printf "%s\n" "s.u=b.v=value" c.d=value >expect &&
	FROM_ENV=value stock --config-env=s.u=b.v=FROM_ENV \
		--config-env c.d=FROM_ENV config --list | grep -E "^(s|c)\." \
		>theirs &&
	test_cmp theirs actual
'

# Asserts that our git and stock Git print the same messages, with the same exit
# code.
same_answer () {
	git "$@" >actual 2>&1
	code=$?
	stock "$@" >expect 2>&1
	test $? -eq $code &&
	test_cmp expect actual
}

for words in "-C none version" \
	"-C" "-c" "--git-dir" "--work-tree" "--namespace" "--config-env" \
	"--config-env=a.b version" \
	"--config-env=a.b= version" \
	"--config-env=a.b=NOT_SET version" \
	"--no-such-option version" \
	"--html-path" "--man-path" "--info-path" \
	"-h" "no-such-command" ""
do
	test_expect_success "same answer to \"git $words\"" '
		same_answer $words
	'
done

for words in "version -x" "version -h"
do
	test_expect_success STOCK_239 "same answer to \"git $words\"" '
		same_answer $words
	'
done

test_expect_success 'git version' '
	git version >actual &&
	grep -E "^git version [0-9]+\.[0-9]+\.[0-9]+\.gitreach\.[0-9.]+$" \
		actual &&
	git --version >other && test_cmp actual other &&
	git -v >other && test_cmp actual other &&
	git --bare version whatever >other && test_cmp actual other &&
	git --version --build-options >options &&
	git version --build-options >other && test_cmp options other &&
	head -n 1 options >first && test_cmp actual first
'

test_expect_success 'git version prints the version of stock Git, then ours' '
	sed "s/.*gitreach/gitreach/" actual >ours &&
	theirs=$(stock version | cut -d" " -f3) &&
	echo "git version $theirs.$(cat ours)" >expect &&
	test_cmp expect actual &&
	git_alone version >actual &&
	echo "git version 2.55.0.$(cat ours)" >expect &&
	test_cmp expect actual
'

# Forges read the first three numbers of the version, to find out what this Git
# can do.
test_expect_success 'the agent that clients see names our version' '
	"$GIT" upload-pack --advertise-refs repo.git >advertised &&
	grep -a "agent=git/2.55.0.$(cat ours)-Linux" advertised
'

test_expect_success STOCK_239 'git version --build-options' '
	stock version --build-options | sed -n "s/:.*/:/p" >names &&
	while read name
	do
		grep "^$name " options || return 1
	done <names
'

test_expect_success 'git --exec-path' '
	dir=$(git --exec-path) &&
	test -e "$dir/gitreach" &&
	test "$dir/git" -ef "$GIT" &&
	GIT_EXEC_PATH=/given git --exec-path >actual &&
	git --exec-path=/given --exec-path >>actual &&
	printf "%s\n" /given /given >expect &&
	test_cmp expect actual
'

test_expect_success 'a name with an underscore is not one of our commands' '
	test_must_fail git show_index </dev/null 2>err &&
	grep "is not a git command" err
'

test_expect_success 'a closed standard stream does not become a file' '
	git version >&- 2>err &&
	test_must_be_empty err &&
	stock version >&-
'

test_expect_success 'a full disk is noticed' '
	if test -c /dev/full
	then
		test_expect_code 128 git version >/dev/full 2>err &&
		grep "^fatal: write failure on standard output" err
	fi
'

test_expect_success '-h prints the usage on standard output' '
	for words in "bundle -h" "bundle create -h" "cat-file -h" \
		"cat-file --help-all" "commit-graph write -h" "gc -h" \
		"gc --help-all" "index-pack -h" "init -h" "prune -h" \
		"multi-pack-index -h" "pack-objects -h" "reflog expire -h" \
		"refs verify -h" "repack --help-all" "rev-list -h" \
		"rev-parse -h" "show-ref -h" "update-ref -h"
	do
		test_expect_code 129 git_alone -C repo.git $words >out 2>err &&
		grep "^usage: git ${words%% *}" out &&
		test_must_be_empty err || return 1
	done
'

test_expect_success 'wrong usage is reported on standard error' '
	for words in "bundle nope -h" "commit-graph nope -h" "gc --nope" \
		"multi-pack-index nope -h" "refs nope -h" "prune --nope"
	do
		test_expect_code 129 git_alone -C repo.git $words >out 2>err &&
		grep "^error: unknown " err &&
		grep "^usage: git ${words%% *}" err &&
		test_must_be_empty out || return 1
	done
'

for name in upload-pack receive-pack upload-archive
do
	test_expect_success "git-$name is a name of ours" '
		link=$(dirname "$GIT")/git-$name &&
		test "$link" -ef "$GIT" &&
		test_expect_code 128 "$link" "$PWD/no-such-repository" \
			</dev/null >out 2>&1 &&
		grep -a "no-such-repository" out
	'
done

test_expect_success 'git-upload-pack, called by name, advertises' '
	"$(dirname "$GIT")/git-upload-pack" --advertise-refs repo.git \
		>advertised &&
	grep -a "refs/heads/main" advertised
'

test_expect_success 'a missing repository is reported before wrong arguments' '
	mkdir -p nowhere &&
	for command in cat-file commit-graph count-objects for-each-ref fsck gc \
		maintenance multi-pack-index pack-objects pack-refs prune \
		prune-packed reflog refs repack rev-list show-ref symbolic-ref \
		unpack-objects update-ref
	do
		test_expect_code 128 env GIT_DIR=nowhere git $command --wrong 2>err &&
		grep "^fatal: not a git repository" err || return 1
	done &&
	test_expect_code 129 env GIT_DIR=nowhere git index-pack --wrong
'

test_done
