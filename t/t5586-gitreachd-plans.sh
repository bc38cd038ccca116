#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='gitreachd: plans of packs'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-gitreachd.sh"
. "$GITREACH_SRC/t/lib-leaks.sh"

# serve <option>...: a server in which requests share one cache of plans
serve () {
	rm -f records &&
	start_daemon --listen=http://127.0.0.1:0 --workers=1 --export-all \
		--user-header=X-User --trusted-proxy=127.0.0.1 \
		--enable=receive-pack "$@"
}

# plans_are <how>...: how the packs were made since the last call. The record of
# a request is written after the client has the answer.
plans_are () {
	printf "%s\n" "$@" >expect &&
	wait_until enough_records $# &&
	sed -n "s/.*\"plan\":\"\([a-z]*\)\".*/\1/p" records >actual &&
	: >records &&
	test_cmp expect actual
}

enough_records () {
	test $(grep -c "\"plan\":" records) -ge $1
}

# The server does not keep what it has read of a repository that changed less
# than 0.1 seconds ago.
calm () {
	sleep 0.2
}

# cloned <name> <option of git clone>...: clone srv/r.git to the new <name>
cloned () {
	name=$1 &&
	shift &&
	stock clone -q --bare "$@" $url/r.git $name
}

# same_objects <clone> <clone>
same_objects () {
	for repo in $1 $2
	do
		stock -C $repo cat-file --batch-all-objects \
			--batch-check="%(objectname)" >$repo.objects || return 1
	done &&
	test_cmp $1.objects $2.objects
}

# same_clones <clone> <clone>: both have the same objects, and these are sound
same_clones () {
	stock -C $1 fsck --strict &&
	stock -C $2 fsck --strict &&
	same_objects $1 $2
}

test_expect_success 'setup' '
	mkdir srv &&
	repo_criss_cross srv/r.git 20 &&
	repo_tags srv/r.git &&
	"$GIT" -C srv/r.git repack -adbq &&
	stock -C srv/r.git config uploadpack.allowFilter true &&
	stock -C srv/r.git config http.receivepack true &&
	git config --global gitreach.requestLog "$PWD/records" &&
	calm &&
	serve
'

test_expect_success 'an equal clone is sent by the plan' '
	cloned a.git &&
	cloned b.git &&
	plans_are made hit &&
	same_clones a.git b.git
'

test_expect_success 'the options, the agent and the protocol version do not matter' '
	GIT_USER_AGENT=other cloned c.git &&
	cloned d.git --quiet &&
	stock -c protocol.version=0 clone -q --bare $url/r.git e.git &&
	plans_are hit hit hit &&
	same_clones a.git e.git
'

# Plans of more processes than one are in a directory in memory, if that is not
# nearly full.
memory_has_room () {
	test -w /dev/shm &&
	test $(df --output=pcent /dev/shm | tr -cd 0-9) -lt 60
}

# Sets $shared to the directory that the server has made for its workers.
find_shared () {
	shared=$(find /proc/$server/fd -type l -printf "%l\n" |
		sed -n "s,^\(/dev/shm/gitreachd-plans-[^/]*\)/owner$,\1,p") &&
	test -d "$shared"
}

# all_ended <pid>... The parent of an orphan may leave it as a zombie.
all_ended () {
	for pid
	do
		! kill -0 $pid 2>/dev/null ||
			grep -q "^State:.Z" /proc/$pid/status || return 1
	done
}

if memory_has_room
then
	test_set_prereq SHARED_MEMORY
fi

test_expect_success 'clients of git:// use the same plans' '
	stop_daemon &&
	serve --listen=git://127.0.0.1:0 &&
	git_url=$(sed -n "s/^gitreachd: listens on git:/git:/p" log) &&
	rm -rf a.git b.git c.git &&
	stock clone -q --bare $git_url/r.git a.git &&
	cloned b.git &&
	stock -c protocol.version=0 clone -q --bare $git_url/r.git c.git &&
	plans_are made hit hit &&
	same_clones a.git b.git &&
	same_clones a.git c.git
'

# new_workers: replace the workers
new_workers () {
	workers=$(cat /proc/$server/task/$server/children) &&
	kill -HUP $server &&
	wait_until all_ended $workers
}

test_expect_success SHARED_MEMORY 'workers share plans' '
	stop_daemon &&
	serve &&
	find_shared &&
	rm -rf a.git b.git &&
	cloned a.git &&
	new_workers &&
	# The plan of this small pack is stored when it is asked for again.
	cloned b.git &&
	plans_are made made &&
	same_clones a.git b.git &&
	new_workers &&
	rm -rf a.git &&
	cloned a.git &&
	plans_are hit &&
	stop_daemon &&
	! test -e "$shared"
'

test_expect_success SHARED_MEMORY 'the next server removes what a killed one has left' '
	serve &&
	find_shared &&
	left=$shared &&
	wait_until grep "started: " log &&
	workers=$(cat /proc/$server/task/$server/children) &&
	kill -9 $server &&
	wait_until all_ended $workers &&
	serve --plan-memory=0 &&
	! find_shared &&
	stop_daemon &&
	serve &&
	find_shared &&
	! test -e "$left"
'

test_expect_success 'what decides the objects matters' '
	for option in --depth=1 --depth=2 --filter=blob:none --filter=tree:1 \
		"--single-branch --no-tags" --depth=3
	do
		rm -rf x.git y.git &&
		cloned x.git $option &&
		cloned y.git $option &&
		plans_are made hit &&
		same_objects x.git y.git || return 1
	done
'

test_expect_success 'fetches of clients with equal haves' '
	stock clone -q --bare srv/r.git f.git &&
	stock -C srv/r.git update-ref refs/heads/more \
		$(stock -C srv/r.git commit-tree -p main -m more main^{tree}) &&
	cp -r f.git g.git &&
	calm &&
	stock -C f.git fetch -q $url/r.git more:more &&
	stock -C g.git fetch -q $url/r.git more:more &&
	plans_are made hit &&
	same_clones f.git g.git
'

test_expect_success 'a push ends the plans' '
	stock clone -q $url/r.git work &&
	cloned h.git &&
	stock -C work commit -q --allow-empty -m new &&
	stock -C work push -q origin HEAD &&
	calm &&
	cloned i.git &&
	cloned j.git &&
	plans_are made hit made hit &&
	stock -C j.git cat-file -e $(stock -C work rev-parse HEAD) &&
	same_clones i.git j.git
'

test_expect_success 'a repack ends the plans' '
	"$GIT" -C srv/r.git repack -adbq &&
	calm &&
	rm -rf i.git &&
	cloned i.git &&
	plans_are made &&
	same_clones i.git j.git
'

test_expect_success 'a new tag is sent with its target, a deleted tag is not' '
	stock init -q --bare k.git &&
	stock init -q --bare l.git &&
	stock init -q --bare m.git &&
	stock -C k.git remote add -t main origin $url/r.git &&
	stock -C l.git remote add -t main origin $url/r.git &&
	stock -C m.git remote add -t main origin $url/r.git &&
	stock -C k.git fetch -q &&
	stock -C srv/r.git tag -a -m along along main &&
	stock -C l.git fetch -q &&
	stock -C l.git cat-file -e along &&
	stock -C srv/r.git rev-parse along >tag &&
	stock -C srv/r.git tag -d along &&
	calm &&
	stock -C m.git fetch -q &&
	test_must_fail stock -C m.git cat-file -e $(cat tag) &&
	plans_are made made hit
'

test_expect_success 'a new shallow boundary of the server ends the plans' '
	stock clone -q --bare srv/r.git srv/s.git &&
	calm &&
	for i in 1 2
	do
		stock clone -q --bare $url/s.git s$i.git || return 1
	done &&
	stock -C srv/s.git rev-parse main~2 >srv/s.git/shallow &&
	calm &&
	for i in 3 4
	do
		stock clone -q --bare $url/s.git s$i.git || return 1
	done &&
	plans_are made hit made hit &&
	same_clones s1.git s2.git &&
	same_clones s3.git s4.git &&
	test_cmp srv/s.git/shallow s4.git/shallow
'

test_expect_success 'clients at once get the same objects' '
	"$GIT" -C srv/r.git repack -adbq &&
	calm &&
	for i in 1 2 3 4 5 6
	do
		cloned p$i.git &
		clones="$clones $!"
	done &&
	for pid in $clones
	do
		wait $pid || return 1
	done &&
	for i in 2 3 4 5 6
	do
		same_clones p1.git p$i.git || return 1
	done &&
	wait_until enough_records 6 &&
	: >records &&
	cloned p7.git &&
	plans_are hit
'

test_expect_success 'metrics of plans' '
	stop_daemon &&
	serve --admin=http://127.0.0.1:0 &&
	wait_until grep "(status)" log &&
	admin=$(sed -n "s/^gitreachd: listens on \(.*\) (status)$/\1/p" log) &&
	cloned q.git &&
	cloned r.git &&
	plans_are made hit &&
	curl -s $admin/metrics >metrics &&
	grep "^gitreach_plan_lookups_total{level=\"request\",result=\"miss\"} 1$" \
		metrics &&
	grep "^gitreach_plan_lookups_total{level=\"request\",result=\"hit\"} 1$" \
		metrics &&
	grep "^gitreach_plan_bytes [1-9]" metrics &&
	stop_daemon
'

test_expect_success 'without memory for plans there are none' '
	serve --plan-memory=0 &&
	rm -rf q.git r.git &&
	cloned q.git &&
	cloned r.git &&
	same_clones q.git r.git &&
	wait_until grep "\"command\":\"fetch\"" records &&
	! grep "\"plan\"" records &&
	stop_daemon
'

test_expect_success 'users with different hidden refs' '
	cat >helper <<-\EOF &&
	#!/bin/sh
	while read -r line
	do
		case "$line" in
		user=alice*) echo allow ;;
		*) echo allow hide=refs/internal/ hide=refs/tags/internal ;;
		esac
	done
	EOF
	chmod +x helper &&
	stock -C work checkout -q --detach &&
	stock -C work commit -q --allow-empty -m secret &&
	stock -C work push -q ../srv/r.git HEAD:refs/internal/x &&
	secret=$(stock -C work rev-parse HEAD) &&
	stock -C srv/r.git tag -a -m internal internal main &&
	stock -C srv/r.git rev-parse internal >tag &&
	calm &&
	serve --access-helper=./helper &&
	for user in alice bob alice bob
	do
		for protocol in 0 2
		do
			rm -rf $user.git &&
			stock init -q --bare $user.git &&
			stock -C $user.git config http.extraHeader \
				"X-User: $user" &&
			stock -C $user.git remote add -t main origin \
				$url/r.git &&
			stock -C $user.git -c protocol.version=$protocol \
				fetch -q || return 1
		done
	done &&
	plans_are made hit made hit hit hit hit hit &&
	stock -C alice.git cat-file -e $(cat tag) &&
	test_must_fail stock -C bob.git cat-file -e $(cat tag) &&
	stock -C alice.git fetch -q origin refs/internal/x &&
	test_must_fail stock -C bob.git fetch -q origin $secret &&
	test_must_fail stock -C bob.git cat-file -e $secret
'

test_expect_success 'random requests, while the repository changes' '
	plans=$url &&
	mv records earlier &&
	serve --access-helper=./helper --plan-memory=0 &&
	python3 "$GITREACH_SRC/t/plans.py" $plans/r.git $url/r.git srv/r.git \
		${GITREACH_PLAN_REQUESTS:-150}
'

test_expect_success 'members of a network do not share plans' '
	rm -rf srv &&
	network_of_two &&
	calm &&
	serve &&
	for i in 1 2
	do
		stock clone -q --bare $url/a.git na$i.git || return 1
	done &&
	for i in 1 2
	do
		stock init -q --bare nb$i.git &&
		stock -C nb$i.git remote add -t main origin $url/b.git &&
		stock -C nb$i.git fetch -q || return 1
	done &&
	plans_are made hit made hit &&
	stock -C na1.git cat-file -e shared-tag &&
	stock -C nb1.git rev-parse refs/remotes/origin/main &&
	for id in $COMMIT $PARENT $TREE $SUBTREE $BLOB $TAG $HIDDEN \
		$(stock -C srv/a.git rev-parse shared-tag)
	do
		test_must_fail stock -C nb2.git cat-file -e $id &&
		test_must_fail stock -C nb2.git fetch -q origin $id || return 1
	done &&
	stop_daemon
'

test_done
