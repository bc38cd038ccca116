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

test_done
