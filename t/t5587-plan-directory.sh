#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a directory of plans that processes share'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-gitreachd.sh"
. "$GITREACH_SRC/t/lib-leaks.sh"
. "$GITREACH_SRC/t/lib-fault.sh"

# Nothing is stored on a disk that is nearly full.
free=$(df -P . | sed -n "2s/.* \([0-9]*\)%.*/\1/p")
if test -z "$free" || test "$free" -gt 84
then
	skip_all='the disk is nearly full'
	test_done
fi

plans=$PWD/plans

# serve <option>...: a server with two processes, whose plans are only in the
# directory
serve () {
	start_daemon --listen=http://127.0.0.1:0 --workers=2 --export-all \
		--user-header=X-User --trusted-proxy=127.0.0.1 \
		--plan-memory=0 "$@"
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

# no_plans [<number>]: this many requests have a record, and none of them a plan
no_plans () {
	test $(grep -c "\"command\":\"fetch\"" records) -ge ${1-1} &&
	! grep "\"plan\":" records &&
	: >records
}

# are_hits <number>: the server has answered this many fetches by plans
are_hits () {
	curl -s $admin/metrics >metrics &&
	grep "^gitreach_plan_lookups_total{.*result=\"hit\"} $1$" metrics
}

# local_clone <name> <option of git clone>...: clone srv/r.git, or srv/$served, by
# our upload-pack
local_clone () {
	name=$1 &&
	shift &&
	rm -rf $name &&
	stock clone -q --bare -u "$GITREACH_BUILD/bin/git-upload-pack" "$@" \
		"file://$PWD/srv/${served-r.git}" $name
}

# backend <request>: print what `git http-backend` answers to a fetch
backend () {
	REQUEST_METHOD=POST GIT_PROJECT_ROOT=$PWD/srv GIT_HTTP_EXPORT_ALL=1 \
		PATH_INFO=/r.git/git-upload-pack QUERY_STRING= \
		CONTENT_TYPE=application/x-git-upload-pack-request \
		CONTENT_LENGTH=$(wc -c <$1) "$GIT" http-backend <$1
}

# same_objects <clone>...: all have the same objects
same_objects () {
	for repo
	do
		stock -C $repo cat-file --batch-all-objects \
			--batch-check="%(objectname)" >$repo.objects &&
		test_cmp $1.objects $repo.objects || return 1
	done
}

test_expect_success 'setup' '
	mkdir srv plans &&
	repo_criss_cross srv/r.git 20 &&
	repo_tags srv/r.git &&
	"$GIT" -C srv/r.git repack -adbq &&
	stock -C srv/r.git config uploadpack.allowFilter true &&
	git config --global gitreach.requestLog "$PWD/records" &&
	pkt "want $(stock -C srv/r.git rev-parse main) ofs-delta no-progress" \
		F done >request
'

test_expect_success 'upload-pack without a directory has no plans' '
	local_clone a.git &&
	no_plans
'

test_expect_success 'the file of a repository cannot name a directory' '
	stock -C srv/r.git config gitreach.planDirectory "$plans" &&
	local_clone a.git &&
	stock -C srv/r.git config --unset gitreach.planDirectory &&
	no_plans &&
	test -z "$(ls plans)"
'

test_expect_success 'processes of upload-pack share plans' '
	git config --global gitreach.planDirectory "$plans" &&
	local_clone b.git &&
	grep "the plan is stored when it is asked for again" records &&
	! ls plans/*.plan &&
	local_clone c.git &&
	local_clone d.git &&
	plans_are made made hit &&
	ls plans/*.plan >list &&
	test_line_count 1 list &&
	stock -C d.git fsck --strict &&
	"$GIT" -C srv/r.git bitmap explain --branches --tags >explained &&
	grep "^plan=stored$" explained &&
	test "plans/$(sed -n "s/^plan-key=//p" explained).plan" = $(cat list) &&
	"$GIT" -C srv/r.git bitmap explain main ^main~3 >explained &&
	grep "^plan=missing$" explained &&
	"$GIT" -C srv/r.git bitmap explain ^main >explained &&
	grep "^plan-reason=nothing is wanted$" explained &&
	same_objects a.git b.git c.git d.git
'

test_expect_success 'what decides the objects matters' '
	for option in --depth=1 --filter=blob:none "--single-branch --no-tags"
	do
		local_clone x.git $option &&
		local_clone x.git $option &&
		mv x.git y.git &&
		local_clone x.git $option &&
		plans_are made made hit &&
		same_objects x.git y.git &&
		rm -rf y.git || return 1
	done
'

test_expect_success 'http-backend uses the directory' '
	for i in 1 2 3
	do
		backend request >answer.$i || return 1
	done &&
	plans_are made made hit &&
	test_cmp answer.2 answer.3 &&
	sed "1,/^.$/d" answer.3 | pack_of_answer >pack &&
	stock index-pack --strict -o pack.idx pack
'

test_expect_success 'two workers, ssh and git:// share the plans' '
	socket=$(mktemp -d /tmp/t5587.XXXXXX)/s &&
	trap "kill \$pids 2>/dev/null; rm -rf ${socket%/s}" EXIT &&
	serve --plan-directory="$plans" --admin=http://127.0.0.1:0 \
		--listen=git://127.0.0.1:0 \
		--listen="unix:$socket" &&
	git_url=$(sed -n "s/^gitreachd: listens on \(git:.*\)/\1/p" log) &&
	for i in 1 2 3 4
	do
		stock clone -q --bare $url/r.git e$i.git || return 1
	done &&
	plans_are hit hit hit hit &&
	stock clone -q --bare $git_url/r.git e5.git &&
	cat >fake-ssh <<-EOF &&
	#!/bin/sh
	while test \$# -gt 2
	do
		shift
	done
	SSH_ORIGINAL_COMMAND=\$2 SSH_CLIENT="192.0.2.7 1 22" exec "$DAEMON" \\
		--ssh-client="$socket"
	EOF
	chmod +x fake-ssh &&
	GIT_SSH="$PWD/fake-ssh" GIT_SSH_VARIANT=ssh \
		stock clone -q --bare h:r.git e6.git &&
	plans_are hit hit &&
	wait_until grep "(status)" log &&
	admin=$(sed -n "s/^gitreachd: listens on \(.*\) (status)$/\1/p" log) &&
	wait_until are_hits 6 &&
	same_objects a.git e1.git e2.git e3.git e4.git e5.git e6.git &&
	! grep "is not used" log &&
	stop_daemon
'

# Most of the pack is a span, so the plan is short and stored at once.
test_expect_success 'a plan is found after a push, and not after a repack' '
	served=big.git &&
	stock clone -q --bare srv/r.git srv/big.git &&
	head -c 1000000 /dev/urandom >large &&
	build_commit srv/big.git refs/heads/main large large main &&
	"$GIT" -C srv/big.git repack -adbq &&
	options="--single-branch --no-tags -b main" &&
	local_clone f.git $options &&
	plans_are made &&
	test $(cat plans/*.plan | wc -c) -lt 60000 &&
	stock -C srv/big.git update-ref refs/heads/more \
		$(stock -C srv/big.git commit-tree -p main -m x main^{tree}) &&
	local_clone f.git $options &&
	plans_are hit &&
	"$GIT" -C srv/big.git repack -adbq &&
	local_clone f.git $options &&
	local_clone f.git $options &&
	plans_are made hit &&
	stock -C f.git fsck --strict
'

test_expect_success 'a new shallow boundary of the server' '
	served=r.git &&
	stock -C srv/r.git rev-parse main~2 >srv/r.git/shallow &&
	local_clone g.git $options &&
	test_cmp srv/r.git/shallow g.git/shallow &&
	plans_are made &&
	rm srv/r.git/shallow &&
	local_clone g.git $options &&
	! test -e g.git/shallow &&
	plans_are hit
'

# ask <protocols> <name>: ask for a clone of srv/u.git and write the answer to <name>.
# Leave <protocols> empty for a client that accepts no URIs.
ask () {
	{
		pkt command=fetch object-format=sha1 D no-progress ofs-delta &&
		if test -n "$1"
		then
			pkt "packfile-uris $1"
		fi &&
		pkt "want $(stock -C srv/u.git rev-parse main)" done F
	} >asked &&
	GIT_PROTOCOL=version=2 "$GIT" upload-pack --stateless-rpc \
		srv/u.git <asked >$2
}

# objects_of <name>: the objects of the pack in an answer
objects_of () {
	python3 -c '
import sys
answer, pack = open(sys.argv[1], "rb").read(), b""
while answer:
    size = max(4, int(answer[:4], 16))
    if size > 4 and answer[4] == 1:
        pack += answer[5:size]
    answer = answer[size:]
open(sys.argv[1] + ".pack", "wb").write(pack)
' $1 &&
	stock index-pack -o $1.idx $1.pack >/dev/null &&
	stock show-index <$1.idx | cut -d" " -f2
}

test_expect_success 'clients that get blobs elsewhere have plans of their own' '
	stock clone -q --bare srv/r.git srv/u.git &&
	blob=$(stock -C srv/u.git ls-tree -r main |
		sed -n "1s/.* blob \([0-9a-f]*\).*/\1/p") &&
	uri="$blob $blob http://127.0.0.1" &&
	stock -C srv/u.git config uploadpack.blobPackfileUri "$uri/x" &&
	for i in 1 2 3
	do
		ask http with.$i || return 1
	done &&
	plans_are made made hit &&
	test_cmp with.2 with.3 &&
	grep -a "^....$blob http://127.0.0.1/x$" with.3 &&
	for i in 1 2 3
	do
		ask "" without.$i || return 1
	done &&
	plans_are made made hit &&
	! grep -a $blob without.3 &&
	{ objects_of with.3 && echo $blob; } | sort >lacking &&
	objects_of without.3 | sort >complete &&
	test_cmp complete lacking &&
	ask https without.4 &&
	plans_are hit &&
	test_cmp without.3 without.4 &&
	stock -C srv/u.git config uploadpack.blobPackfileUri "$uri/y" &&
	ask http with.4 &&
	plans_are hit &&
	grep -a "^....$blob http://127.0.0.1/y$" with.4 &&
	objects_of with.4 | sort >actual &&
	objects_of with.3 | sort >expect &&
	test_cmp expect actual &&
	stock -C srv/u.git config --add uploadpack.blobPackfileUri \
		"$(stock -C srv/u.git rev-parse main) $blob http://127.0.0.1/z" &&
	ask http with.5 &&
	plans_are made
'

# ask_having <name> <have>...: ask for main of srv/r.git, and write the answer to <name>
ask_having () {
	name=$1 &&
	shift &&
	{
		pkt command=fetch object-format=sha1 D no-progress ofs-delta \
			"want $(stock -C srv/r.git rev-parse main)" &&
		for have in $(stock -C srv/r.git rev-parse "$@")
		do
			pkt "have $have" || return
		done &&
		pkt done F
	} >asked &&
	GIT_PROTOCOL=version=2 "$GIT" upload-pack --stateless-rpc \
		srv/r.git <asked >$name
}

test_expect_success 'the newest common commits decide, not their ancestors' '
	ask_having have.1 main~3 main~4 main~5 &&
	ask_having have.2 main~3 main~4 &&
	ask_having have.3 main~4 main~3 main~5 main~6 &&
	ask_having have.4 main~3 &&
	plans_are made made hit hit &&
	test_cmp have.2 have.3 &&
	test_cmp have.2 have.4 &&
	ask_having have.5 main~4 main~5 &&
	plans_are made &&
	stock -C srv/r.git rev-parse main~10 >srv/r.git/shallow &&
	for i in 1 2 3
	do
		ask_having have.6 main~3 main~4 || return 1
	done &&
	ask_having have.7 main~3 &&
	plans_are made made hit made &&
	rm srv/r.git/shallow
'

test_expect_success 'clients at once' '
	rm -f plans/*.plan plans/keys &&
	for i in 1 2 3 4 5 6
	do
		local_clone p$i.git &
		clones="$clones $!"
	done &&
	for pid in $clones
	do
		wait $pid || return 1
	done &&
	same_objects p1.git p2.git p3.git p4.git p5.git p6.git &&
	wait_until enough_records 6 &&
	: >records
'

# clone_anyway <reason>: a clone that cannot use the plans is right
clone_anyway () {
	local_clone h.git 2>err &&
	same_objects p1.git h.git &&
	grep "$1" records &&
	: >records
}

test_expect_success 'a directory that cannot be used is ignored with a warning' '
	chmod 777 plans &&
	clone_anyway "the plan directory is unusable" &&
	grep "warning: the plan directory .* is not used: other users may" err &&
	chmod 755 plans &&
	mv plans away &&
	clone_anyway "the plan directory is unusable" &&
	grep "warning: .*there is no such directory" err &&
	: >plans &&
	clone_anyway "the plan directory is unusable" &&
	grep "warning: .*not a directory" err &&
	rm plans &&
	mv away plans &&
	git config --global gitreach.planDirectory plans &&
	clone_anyway "the plan directory is unusable" &&
	grep "warning: .*the path is not absolute" err &&
	git config --global gitreach.planDirectory "$plans" &&
	chmod 777 plans &&
	serve --plan-directory="$plans" &&
	grep "gitreachd: .*the plan directory .* is not used" log &&
	rm -rf h.git &&
	stock clone -q --bare $url/r.git h.git &&
	stop_daemon &&
	chmod 755 plans &&
	: >records
'

# until_hit: clone until a plan answers. A plan is stored when it is asked for again
# within a time, so that a slow machine may need one clone more.
until_hit () {
	for try in 1 2 3 4
	do
		: >records &&
		local_clone h.git &&
		wait_until enough_records 1 || return 1
		if grep "\"plan\":\"hit\"" records
		then
			: >records
			return
		fi
	done
	return 1
}

test_expect_success 'damaged files are not used' '
	rm -f plans/*.plan &&
	until_hit &&
	for file in plans/*.plan
	do
		printf "damaged" |
			dd of=$file bs=1 seek=200 conv=notrunc 2>/dev/null ||
			return 1
	done &&
	local_clone h.git &&
	plans_are made &&
	same_objects p1.git h.git &&
	for file in plans/*.plan
	do
		head -c 300 $file >cut && cat cut >$file || return 1
	done &&
	local_clone h.git &&
	plans_are made &&
	same_objects p1.git h.git &&
	rm plans/*.plan &&
	head -c 1000 /dev/urandom >plans/keys &&
	until_hit &&
	same_objects p1.git h.git
'

# fetched: the answer of the last run is right
fetched () {
	test $fault_code = 0 &&
	test -z "$(cat fault.err)" &&
	pack_of_answer <fault.out >fault.pack &&
	rm -f fault.idx &&
	stock index-pack --strict -o fault.idx fault.pack >id &&
	stock show-index <fault.idx | cut -d" " -f2 | sort >ids &&
	test_cmp expected ids
}

test_expect_success 'a disk that fails fails no fetch' '
	git config --global --unset gitreach.requestLog &&
	stock -C srv/r.git rev-list --objects --no-object-names main |
		sort >expected &&
	fault_in=request &&
	for mode in ENOSPC EIO short
	do
		fault_each $mode "rm -f plans/*.plan" \
			"$GIT upload-pack --stateless-rpc srv/r.git" \
			fetched || return 1
	done
'

test_expect_success 'a killed process leaves nothing that is wrong' '
	fault_step=1 &&
	fault_each kill "rm -f plans/*.plan" \
		"$GIT upload-pack --stateless-rpc srv/r.git" \
		"fault_run none \"\$GIT\" upload-pack --stateless-rpc \
			srv/r.git && fetched" &&
	! ls plans/tmp_plan_*
'

test_expect_success 'random requests, while the repository changes' '
	rm -f plans/*.plan &&
	git config --global gitreach.requestLog "$PWD/records" &&
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
	serve --access-helper=./helper --plan-directory="$plans" \
		--plan-directory-size=1 &&
	with=$url &&
	git config --global --unset gitreach.requestLog &&
	serve --access-helper=./helper &&
	python3 "$GITREACH_SRC/t/plans.py" $with/r.git $url/r.git srv/r.git \
		${GITREACH_PLAN_REQUESTS:-60} &&
	grep "\"plan\":\"hit\"" records >/dev/null &&
	test $(du -sk plans | cut -f1) -lt 1200
'

test_done
