#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='receive-pack: refs and objects that change while a push runs

The client reads the advertisement, then runs its pre-push hook, and then sends its
commands. So the hook changes the server between the advertisement and the commands.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"

program=$GITREACH_BUILD/bin/git-receive-pack

# meanwhile: use standard input as the commands that run in the server's repository
# during the next pushes.
meanwhile () {
	{
		printf "#!/bin/sh\nunset GIT_DIR\ncd \"%s\" || exit 1\n" \
			"$PWD/server" &&
		cat
	} >client/.git/hooks/pre-push &&
	chmod +x client/.git/hooks/pre-push
}

# push <argument>...: the result of each ref is in `out`.
push () {
	stock -C client push --porcelain --receive-pack="$program" ../server \
		"$@" >out 2>err
}

# set_config <argument of git config>...: stock Git may not know reftables, so it
# gets the path of the file.
set_config () {
	file=server/config
	test -e $file || file=server/.git/config
	stock config -f $file "$@"
}

# new_server <ref format> <argument of init>...: the server has the branches main
# and topic; the client has one more commit on each.
new_server () {
	rm -rf server client/.git/hooks/pre-push && mkdir server &&
	format=$1 && shift &&
	"$GIT" -C server init -q -b main --ref-format=$format "$@" &&
	set_config receive.denyCurrentBranch ignore &&
	push main~1:refs/heads/main topic~1:refs/heads/topic &&
	set_config --unset receive.denyCurrentBranch
}

test_expect_success 'setup' '
	repo_linear linear 3 && stock clone -q linear client &&
	mkdir -p client/.git/hooks &&
	stock -C client checkout -q -b topic main~1 &&
	for n in 1 2 3
	do
		echo $n >client/topic && stock -C client add topic &&
		test_tick && stock -C client commit -q -m topic$n || return 1
	done
'

# ---- the base of a push disappears

for format in files reftable
do
	for graph in false true
	do
		for limit in 1 100
		do
			test_expect_success "$format, commit-graph $graph, unpackLimit $limit: a push on a pruned base is refused" '
				new_server $format --bare &&
				set_config receive.unpackLimit $limit &&
				{ ! $graph || "$GIT" -C server commit-graph write --reachable; } &&
				meanwhile <<-EOH &&
				"$GIT" update-ref -d refs/heads/topic
				"$GIT" -c gc.writeCommitGraph=false repack -adq
				"$GIT" prune --expire=now
				EOH
				! push --no-thin topic:refs/heads/new &&
				grep "missing necessary objects" out &&
				! "$GIT" -C server rev-parse -q --verify refs/heads/new &&
				rm -rf server/objects/info/commit-graph* &&
				"$GIT" -C server fsck
			'
		done
	done

	test_expect_success "$format: a base whose ref is gone, but whose objects are not" '
		new_server $format --bare &&
		meanwhile <<-EOH &&
		"$GIT" update-ref -d refs/heads/topic
		EOH
		push topic:refs/heads/new &&
		"$GIT" -C server fsck --strict
	'
done

# ---- the checked-out branch changes

# meanwhile_checked_out: HEAD of the server leads to the branch topic.
meanwhile_checked_out () {
	meanwhile <<-EOH
	"$GIT" symbolic-ref HEAD refs/heads/topic
	EOH
}

for format in files reftable
do
	test_expect_success "$format: a branch that was checked out after the advertisement" '
		new_server $format && meanwhile_checked_out &&
		! push topic:topic &&
		grep "refs/heads/topic.*branch is currently checked out" out &&
		! push :topic &&
		grep "topic.*branch is currently checked out" out
	'

	test_expect_success "$format: a deletion of the branch that HEAD names since the advertisement" '
		new_server $format --bare && meanwhile_checked_out &&
		! push :topic &&
		grep "topic.*deletion of the current branch prohibited" out &&
		"$GIT" -C server rev-parse refs/heads/topic
	'

	test_expect_success "$format: a branch that HEAD names since the pre-receive hook" '
		new_server $format --bare &&
		cat >server/hooks/pre-receive <<-EOH &&
		#!/bin/sh
		unset GIT_QUARANTINE_PATH
		"$GIT" symbolic-ref HEAD refs/heads/topic
		EOH
		chmod +x server/hooks/pre-receive &&
		! push :topic &&
		grep ":refs/heads/topic.*deletion of the current branch" out
	'

	# In this race, stock Git updates the files, and then refuses the ref.
	test_expect_success "$format: updateInstead leaves the files if the branch has moved" '
		new_server $format &&
		set_config receive.denyCurrentBranch updateInstead &&
		echo own >server/file && mkdir -p server/.git/hooks &&
		moved=$(stock -C client rev-parse main~2) &&
		cat >server/.git/hooks/push-to-checkout <<-\EOH &&
		#!/bin/sh
		echo updated >"$GIT_WORK_TREE/file"
		EOH
		chmod +x server/.git/hooks/push-to-checkout &&
		meanwhile <<-EOH &&
		"$GIT" update-ref refs/heads/main $moved
		EOH
		! push main:main &&
		grep "refs/heads/main.*incorrect old value provided" out &&
		test "$(cat server/file)" = own &&
		rm client/.git/hooks/pre-push &&
		push main:main && test "$(cat server/file)" = updated
	'
done

test_done
