# SPDX-License-Identifier: MIT
#
# Sourced by every test script:
#
#	test_description='what it is about'
#	. "$(dirname "$0")/lib.sh"        (../lib.sh from a directory below)
#
# It brings sharness, an empty HOME, and
#
#	$GIT         our git, by absolute path; first on PATH as well
#	$STOCK_GIT   the stock Git, another one if the caller set it; run it
#	             with `stock`, which hides ours
#	$GITREACH_SRC, $GITREACH_BUILD   the tree and its build directory
#	$GITREACH_HOME   the HOME that the caller had
#
# and helpers to make small repositories, below. Nothing depends on the
# machine's configuration, clock or user.

GITREACH_SRC=$(cd "$(dirname "$0")" && while ! test -e configure.ac
	do cd .. || exit 1; test "$PWD" != / || exit 1; done && pwd) || {
	echo "$0: not in the tree of gitreach" >&2
	exit 1
}
: "${GITREACH_BUILD:=$GITREACH_SRC/build}"
export GITREACH_SRC GITREACH_BUILD

GIT=$GITREACH_BUILD/bin/git
# Our git hands commands over to the caller's stock Git.
test -z "${STOCK_GIT-}" || PATH=$(dirname "$STOCK_GIT"):$PATH
STOCK_PATH=$PATH
GITREACH_HOME=$HOME
: "${STOCK_GIT:=$("$GITREACH_SRC/tools/stock-git")}"
test -n "$STOCK_GIT" || exit 1
test -x "$GIT" || {
	echo "$0: $GIT is not there: run make first" >&2
	exit 1
}
export GIT STOCK_GIT STOCK_PATH

# Set the environment as if Git was never configured.
for var in $(env | sed -n 's/^\(GIT_[A-Z0-9_]*\)=.*/\1/p')
do
	unset "$var"
done
unset XDG_CONFIG_HOME EMAIL SSH_ASKPASS
GIT_CONFIG_NOSYSTEM=1
GIT_TERMINAL_PROMPT=0
GIT_AUTHOR_NAME='A U Thor'
GIT_AUTHOR_EMAIL=author@example.com
GIT_COMMITTER_NAME='C O Mitter'
GIT_COMMITTER_EMAIL=committer@example.com
export GIT_CONFIG_NOSYSTEM GIT_TERMINAL_PROMPT
export GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL

SHARNESS_TEST_EXTENSION=sh
SHARNESS_BUILD_DIRECTORY=$GITREACH_BUILD/bin
# `make test` keeps the repositories in memory, see tools/scratch. A make that a test
# runs has a directory of its own.
SHARNESS_TEST_DIRECTORY=${GITREACH_SCRATCH:-$GITREACH_BUILD/t/out}
unset GITREACH_SCRATCH
mkdir -p "$SHARNESS_TEST_DIRECTORY"
# The build directory is inside of a repository, which Git must not find.
GIT_CEILING_DIRECTORIES=$SHARNESS_TEST_DIRECTORY
export GIT_CEILING_DIRECTORIES
if ! test -r /usr/share/sharness/sharness.sh
then
	echo "gitreach: sharness is missing (apt-get install sharness)" >&2
	exit 1
fi
. /usr/share/sharness/sharness.sh

cat >"$HOME/.gitconfig" <<\EOC
[init]
	defaultBranch = main
[gc]
	auto = 0
[maintenance]
	auto = false
[advice]
	detachedHead = false
	nestedTag = false
EOC

# Run the stock Git, without gitreach in PATH.
stock () {
	env -u GIT_EXEC_PATH PATH="$STOCK_PATH" "$STOCK_GIT" "$@"
}

# Some tests compare messages letter by letter with those of the stock Git of Debian
# 12; newer versions have other messages.
case "$(stock version)" in
'git version 2.39.'*) test_set_prereq STOCK_239 ;;
esac

# PLAIN: the build has no sanitizer. A build with a sanitizer has another directory.
case "$GITREACH_BUILD" in
*/build) test_set_prereq PLAIN ;;
esac

# Run ours as if no stock Git was installed.
git_alone () {
	GITREACH_FALLBACK=/none "$GIT" "$@"
}

# The date of the next commit or tag, one minute after the last one.
test_tick () {
	test_tick_now=$((${test_tick_now:-1112911993} + 60))
	GIT_AUTHOR_DATE="$test_tick_now +0200"
	GIT_COMMITTER_DATE="$test_tick_now +0200"
	export GIT_AUTHOR_DATE GIT_COMMITTER_DATE
}
test_tick

# test_line_count <nr> <file>: check that the file has this number of lines.
test_line_count () {
	test "$(wc -l <"$2")" -eq "$1" || {
		echo "$2 does not have $1 lines:" >&2
		cat "$2" >&2
		return 1
	}
}

# wait_until <command>...: repeat the command until it succeeds, for at most a
# minute, because the machine may be busy.
wait_until () {
	wait_left=600
	until "$@"
	do
		wait_left=$((wait_left - 1))
		test $wait_left -gt 0 && sleep 0.1 || return
	done
}

# try_to_fetch <required> <command>...: run a command that uses a registry. If
# <required> is not empty, try it three times, because a registry may be down for a
# moment.
try_to_fetch () {
	fetch_required=$1 fetch_pause=5
	shift
	until "$@"
	do
		test -n "$fetch_required" && test $fetch_pause -lt 100 || return
		sleep $fetch_pause
		fetch_pause=$((fetch_pause * 6))
	done
}

# Check that two files have the same lines, in any order.
test_cmp_sorted () {
	LC_ALL=C sort "$1" >"$1.sorted" &&
	LC_ALL=C sort "$2" >"$2.sorted" &&
	test_cmp "$1.sorted" "$2.sorted"
}

# ---- small repositories
#
# All but repo_nested's are bare, written by the stock Git from a fast-import
# stream, the same on every machine. REPO_FORMAT=sha256 makes them SHA-256
# repositories. Small ones (fast-import's unpack limit, 100 objects) hold loose
# objects.

# repo_init <dir>
repo_init () {
	stock init -q --bare --object-format="${REPO_FORMAT:-sha1}" "$1"
}

# repo_import <dir>: create <dir> from a fast-import stream on standard input.
repo_import () {
	repo_init "$1" &&
	stock -C "$1" fast-import --quiet --date-format=raw
}

# repo_many <dir> <nr>: <nr> commits of a file each, with three objects, fast.
repo_many () {
	awk -v nr="$2" 'BEGIN {
		for (i = 1; i <= nr; i++) {
			print "commit refs/heads/main"
			print "committer A <a@example.com> " i " +0000"
			print "data 0"
			print "M 100644 inline dir/file" i % 10
			print "data 5"
			printf "%05d\n", i
		}
	}' | repo_import "$1"
}

# One commit of a stream:
#	stream_commit <branch> <mark> <seconds> <path> <content> [<line>...]
# The lines ("from :1", "merge :2") stand before the file's change.
stream_commit () {
	branch=$1 mark=$2 when=$3 path=$4 content=$5
	shift 5
	cat <<-EOC
	commit refs/heads/$branch
	mark :$mark
	author A U Thor <author@example.com> $when +0200
	committer C O Mitter <committer@example.com> $when +0200
	data <<END
	commit $mark on $branch
	END
	EOC
	for line in "$@"
	do
		echo "$line"
	done
	printf 'M 100644 inline %s\ndata %d\n%s\n\n' \
		"$path" $((${#content} + 1)) "$content"
}

# repo_linear <dir> <nr>: <nr> commits on main; each changes one of ten files.
repo_linear () {
	awk -v nr="$2" 'BEGIN {
		for (n = 1; n <= 20; n++) {
			head = head n "\n"
			tail = tail "\n" n + 20
		}
		for (i = 1; i <= nr; i++) {
			when = (1112912000 + 60 * i) " +0200"
			text = head "edit " i tail
			print "commit refs/heads/main\nmark :" i
			print "author A U Thor <author@example.com> " when
			print "committer C O Mitter <committer@example.com> " when
			print "data <<END\ncommit " i " on main\nEND"
			print "M 100644 inline dir" i % 3 "/file" i % 10
			print "data " length(text) + 1 "\n" text "\n"
		}
	}' | repo_import "$1"
}

# repo_criss_cross <dir> <nr>: two branches that merge each other <nr> times.
# Commits 2 and 3 are the first of `main` and `side`; round i makes 2i+2 (on
# main, merging side) and 2i+3 (on side, merging main as it was).
repo_criss_cross () {
	{
		stream_commit main 1 1112912000 base base
		stream_commit main 2 1112912060 left 'left 0' 'from :1'
		stream_commit side 3 1112912060 right 'right 0' 'from :1'
		for i in $(seq 1 "$2")
		do
			when=$((1112912060 + 60 * i))
			m=$((2 * i)) s=$((2 * i + 1))
			stream_commit main $((m + 2)) $when left "left $i" \
				"from :$m" "merge :$s"
			stream_commit side $((s + 2)) $when right "right $i" \
				"from :$s" "merge :$m"
		done
	} | repo_import "$1"
}

# repo_octopus <dir> <nr>: <nr> branches off one commit, merged by one commit
# of main with <nr> + 1 parents.
repo_octopus () {
	{
		stream_commit main 1 1112912000 base base
		set -- "$1" "$2" 'from :1'
		for i in $(seq 2 $(($2 + 1)))
		do
			stream_commit "arm$i" "$i" $((1112912000 + 60 * i)) \
				"arm$i" "arm $i" 'from :1'
			set -- "$@" "merge :$i"
		done
		last=$(($2 + 2)) when=$((1112912000 + 60 * ($2 + 2)))
		shift 2
		stream_commit main $last $when merged merged "$@"
	} | repo_import "$1"
}

# repo_tags <dir>: into an existing repository with a branch main: tags of a
# commit, of a tag (three deep), of a tree and of a blob, and a light one.
repo_tags () {
	(
		cd "$1" &&
		test_tick &&
		stock tag light main &&
		stock tag -m 'a commit' annotated main &&
		stock tag -m 'a tag' nested annotated &&
		stock tag -m 'a tag of a tag' deep nested &&
		stock tag -m 'a tree' tree 'main^{tree}' &&
		blob=$(stock ls-tree -r main | sed -n '1s/.* blob \([^	]*\)	.*/\1/p') &&
		stock tag -m 'a blob' blob "$blob"
	)
}

# repo_nested <dir>: not bare: six commits, each with a new file two directories
# below, a line more in one beside them, and a larger "big"; and a tag.
repo_nested () {
	stock init -q "$1" &&
	(
		cd "$1" &&
		mkdir -p a/b &&
		for i in 1 2 3 4 5 6
		do
			echo $i >a/b/f$i && echo g$i >>a/g &&
			seq $((100 * i)) >big && stock add . &&
			test_tick && stock commit -qm $i || exit 1
		done &&
		stock tag -am v1 v1 HEAD~2
	)
}

# repo_objects <dir> [<rev>...]: the ids of all reachable objects, sorted, as
# the stock Git finds them by walking.
repo_objects () {
	dir=$1
	shift
	test $# -gt 0 || set -- --all
	stock -C "$dir" rev-list --objects --no-object-names "$@" |
	LC_ALL=C sort
}

# test_cmp_error <expected> <actual>: as test_cmp, for files of standard error.
# Advice behind an error line is each program's own prose and is not compared.
test_cmp_error () {
	for errors
	do
		sed -e "/^Use '/d" -e "/^'git <command>/d" -e "/^Write '--'/d" \
			-e "/^A path that does not exist/d" \
			-e "s/^\(fatal: empty string is not a valid pathspec\).*/\1/" \
			"$errors" >"$errors.facts" || return 1
	done &&
	test_cmp "$1.facts" "$2.facts"
}
