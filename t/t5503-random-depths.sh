#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='depth-limited requests of random histories, as stock Git'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"

UP=--upload-pack=$GITREACH_BUILD/bin/git-upload-pack
SEED=${GITREACH_TEST_SEED:-1}
echo "# GITREACH_TEST_SEED=$SEED"

# A stream of commits that merge each other in all ways: pairs that cross, many
# parents at once, several roots, clocks that are wrong, files that come back.
# random_history <seed> <first> <last>: on top of marks before the first.
cat >history.py <<\EOP
import random
import sys

seed, first, last = map(int, sys.argv[1:])
dice = random.Random(seed * 1000 + first)
files = {}


def content():
    name = "d%d/e%d/f%d" % (dice.randrange(2), dice.randrange(2),
                            dice.randrange(4))
    lines = files.setdefault(name, ["%s %d" % (name, i) for i in range(900)])
    if dice.random() < 0.8:
        lines[dice.randrange(900)] = "edit %d" % dice.randrange(20)
    return name, "\n".join(lines) + "\n"


for n in range(first, last + 1):
    kind = dice.random()
    recent = list(range(max(1, n - 8), n))
    nr = 0 if kind < 0.06 else 1 if kind < 0.55 else 2 if kind < 0.9 else 5
    parents = dice.sample(recent, min(nr, len(recent)))
    when = 1500000000 + 1000 * n
    if dice.random() < 0.1:
        when -= 1000 * dice.randrange(20)
    who = "A <a@b.c> %d +0000" % when
    print("commit refs/heads/b%d\nmark :%d" % (n % 5, n))
    print("author %s\ncommitter %s\ndata 2\nc\n" % (who, who))
    if not parents:
        # A branch that begins anew.
        print("deleteall")
    for i, parent in enumerate(parents):
        print("%s :%d" % ("merge" if i else "from", parent))
    for _ in range(dice.randrange(1, 4)):
        name, text = content()
        print("M 100644 inline %s\ndata %d\n%s" % (name, len(text), text))
EOP
random_history () {
	# A commit without parents is on a branch that is not there yet.
	python3 history.py "$@" | awk '
		/^commit / { if (NR > 1) put(); n = 0; root = 0 }
		/^deleteall/ { root = 1; next }
		{ line[n++] = $0 }
		END { put() }
		function put(i) {
			if (root)
				print "reset " substr(line[0], 8) "\n"
			for (i = 0; i < n; i++)
				print line[i]
		}'
}

# A pack of ours, a pack of stock Git's on top, and loose objects.
make_server () {
	rm -rf server.git && repo_init server.git &&
	random_history "$1" 1 60 | stock -C server.git fast-import --quiet \
		--force --export-marks=marks --date-format=raw &&
	stock -C server.git symbolic-ref HEAD refs/heads/b0 &&
	"$GIT" -C server.git repack -adbfkq &&
	random_history "$1" 61 68 | stock -C server.git \
		-c fastimport.unpackLimit=1 fast-import --quiet --force \
		--import-marks=marks --export-marks=marks --date-format=raw &&
	random_history "$1" 69 72 | stock -C server.git fast-import --quiet \
		--force --import-marks=marks --date-format=raw &&
	old=$(stock -C server.git rev-list --skip=20 -1 --branches) &&
	stock -C server.git update-ref refs/heads/old $old
}

# The same requests to stock Git's server and to ours. That some are refused,
# because nothing is left of history or nothing is cut, is no failure.
clone_both () {
	v=$1
	shift
	rm -rf ours.git theirs.git
	! stock -c protocol.version=$v clone -q --no-local --bare "$@" \
		server.git theirs.git 2>their.err
	! stock_client -v$v clone -q --no-local --bare "$@" "$UP" \
		server.git ours.git 2>our.err
	test_served_by_us
}

fetch_both () {
	v=$1
	shift
	like=$(depth_of "$1") &&
	! stock -c protocol.version=$v -C theirs.git fetch -q $like \
		origin "+refs/heads/*:refs/heads/*" 2>their.err
	! stock_client -v$v -C ours.git fetch -q "$@" "$UP" \
		origin "+refs/heads/*:refs/heads/*" 2>our.err
	test_served_by_us
}

# reached_cuts <repository>: where its refs' history is cut.
reached_cuts () {
	stock -C "$1" rev-list --all | sort >reached &&
	sort "$1/shallow" | comm -12 - reached
}

# The same boundary, and all that is within it. Stock Git also tells of commits
# that are behind a boundary, and does not send all of them: a client that lacks
# one will not be able to deepen its history past it. Nothing of ours does that.
test_same_clone () {
	touch theirs.git/shallow ours.git/shallow &&
	stock -C ours.git cat-file --batch-check <ours.git/shallow >cuts &&
	! grep missing cuts &&
	reached_cuts theirs.git >expect && reached_cuts ours.git >actual &&
	test_cmp expect actual &&
	stock -C theirs.git cat-file --batch-check="%(objectname)" \
		<ours.git/shallow | sed "/missing$/d" >cuts &&
	cp cuts theirs.git/shallow &&
	stock -C ours.git fsck --full --strict >fsck.out 2>&1 &&
	repo_objects theirs.git >expect &&
	repo_objects ours.git >actual &&
	test_cmp expect actual
}

# depth_of <how>: --deepen=<n> counts from the commit of the boundary that is
# nearest to a tip. This prints the --depth that has the same result. Stock Git
# before 2.55 counted otherwise, so its server is asked for that.
depth_of () {
	case "$1" in
	--deepen=*) ;;
	*)
		echo "$1"
		return
		;;
	esac
	stock -C server.git rev-list --parents --all >parents &&
	stock -C server.git for-each-ref --format="%(objectname)" refs/heads \
		>tips &&
	python3 - "${1#*=}" ours.git/shallow <<-\EOP
	import sys
	more, shallow = int(sys.argv[1]), set(open(sys.argv[2]).read().split())
	parents = {row[0]: row[1:] for row in map(str.split, open("parents"))}
	level, seen, depth = set(open("tips").read().split()), set(), 1
	while level and not level & shallow:
	    seen |= level
	    level = {p for c in level for p in parents[c]} - seen
	    depth += 1
	print("--depth=%d" % (depth + more) if level else "--no-tags")
	EOP
}

# Nothing was sent that is outside.
test_nothing_else () {
	stock -C ours.git cat-file --batch-all-objects \
		--batch-check="%(objectname)" >all &&
	repo_objects ours.git >reached &&
	test_cmp reached all
}

# how <number>: one of the ways to ask.
how () {
	case $(($1 % 7)) in
	0) echo --depth=1 ;;
	1) echo --depth=$(($1 / 7 % 12 + 2)) ;;
	2) echo --shallow-since=$((1500000000 + 1000 * ($1 / 7 % 60 + 5))) ;;
	3) echo --shallow-exclude=old ;;
	4) echo --depth=$(($1 / 7 % 5 + 2)) ;;
	5) echo --deepen=$(($1 / 7 % 6 + 1)) ;;
	6) echo --depth=$(($1 / 7 % 30 + 5)) ;;
	esac
}

for round in 1 2 3
do
	seed=$((SEED * 10 + round))
	v=$((round % 2 * 2))

	test_expect_success "history $seed" '
		make_server $seed
	'

	for k in 1 2 3 4 5
	do
		nr=$((seed * 31 + k * 101))
		test_expect_success "v$v: clone $(how $nr), then others" '
			first=$(how $nr | sed s/deepen/depth/) &&
			clone_both $v --no-single-branch $first &&
			if ! test -d theirs.git
			then
				! test -d ours.git
				return
			fi
			test_same_clone && test_nothing_else &&
			for next in 13 58 87
			do
				deeper=$(how $((nr + next))) &&
				fetch_both $v $deeper &&
				test_same_clone || return
			done
		'
	done

	# Some boundaries are too much for the client, whoever serves it.
	test_expect_success "v$v: unshallow fetches all omitted history" '
		test -d ours.git &&
		fetch_both $v --unshallow &&
		test_same_clone &&
		if ! test -s ours.git/shallow
		then
			repo_objects server.git >expect &&
			test_cmp expect actual
		fi
	'
done

test_done
