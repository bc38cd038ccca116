#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='what the configuration lets clients see and have'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"

UP=--upload-pack=$GITREACH_BUILD/bin/git-upload-pack

test_expect_success 'setup' '
	repo_linear server.git 20 &&
	repo_tags server.git &&
	stock -C server.git update-ref refs/hidden/tip main~5 &&
	stock -C server.git update-ref refs/hidden/shown main~6 &&
	lost=$(stock -C server.git commit-tree -m lost "main^{tree}") &&
	hidden=$(test_tick && stock -C server.git commit-tree -m hidden \
		"main^{tree}") &&
	stock -C server.git update-ref refs/hidden/alone $hidden
'

# The same configuration for stock Git and ours.
test_same_refs () {
	for v in 0 2
	do
		stock -c protocol.version=$v ls-remote server.git >all &&
		uniq all >expect && # a namespace's HEAD is listed twice
		stock_client -v$v ls-remote "$UP" server.git >actual &&
		test_served_by_us &&
		test_cmp expect actual || return
	done
}

test_expect_success 'hidden refs' '
	stock -C server.git config transfer.hideRefs refs/hidden &&
	test_same_refs &&
	! grep hidden actual &&
	stock -C server.git config --add uploadpack.hideRefs \
		"!refs/hidden/shown" &&
	test_same_refs &&
	grep hidden/shown actual &&
	stock -C server.git config --add transfer.hideRefs "^refs/tags" &&
	stock -C server.git config --add transfer.hideRefs \
		"!^refs/tags/annotated" &&
	test_same_refs &&
	stock -C server.git config --unset-all uploadpack.hideRefs &&
	stock -C server.git config --replace-all transfer.hideRefs HEAD &&
	test_same_refs &&
	stock upload-pack --http-backend-info-refs server.git |
		tr " " "\012" | grep -a ^symref >expect &&
	git upload-pack --http-backend-info-refs server.git |
		tr " " "\012" | grep -a ^symref >actual &&
	test_cmp expect actual &&
	stock -C server.git config --replace-all transfer.hideRefs \
		refs/hidden &&
	test_same_refs
'

test_expect_success 'namespaces' '
	stock -C server.git update-ref refs/namespaces/a/refs/heads/x main~3 &&
	stock -C server.git symbolic-ref refs/namespaces/a/HEAD \
		refs/namespaces/a/refs/heads/x &&
	GIT_NAMESPACE=a test_same_refs &&
	test_line_count 2 actual &&
	stock -C server.git update-ref -d refs/namespaces/a/refs/heads/x &&
	stock -C server.git symbolic-ref -d refs/namespaces/a/HEAD
'

test_expect_success 'a bad namespace shows nothing' '
	for name in / a/ ..
	do
		for v in 0 2
		do
			pkt command=ls-refs D F F |
				GIT_NAMESPACE=$name GIT_PROTOCOL=version=$v \
				test_expect_code 128 git upload-pack \
				server.git >out 2>err &&
			test_line_count 0 out &&
			grep "bad git namespace path" err || return
		done
	done
'

test_expect_success 'refs to missing objects are listed as well' '
	echo 1234567890123456789012345678901234567890 \
		>server.git/refs/heads/broken &&
	test_same_refs &&
	rm server.git/refs/heads/broken
'

test_expect_success 'an unborn HEAD' '
	stock -C server.git symbolic-ref HEAD refs/heads/unborn &&
	test_same_refs &&
	for up in "$UP" --upload-pack=git-upload-pack
	do
		rm -rf clone &&
		stock clone -q --no-local "$up" server.git clone 2>/dev/null &&
		stock -C clone symbolic-ref HEAD || return
	done >actual &&
	printf "refs/heads/unborn\nrefs/heads/unborn\n" >expect &&
	test_cmp expect actual &&
	stock -C server.git symbolic-ref HEAD refs/heads/main
'

test_expect_success 'dangling symrefs and shallow commits are listed as by stock Git' '
	rm -rf cut.git &&
	stock clone -q --no-local --bare --depth=2 server.git cut.git &&
	stock -C cut.git symbolic-ref refs/heads/dangling refs/heads/none &&
	for command in upload-pack receive-pack
	do
		pkt F | stock $command cut.git 2>expect.err |
			sed "1s/.*//" >expect &&
		pkt F | git $command cut.git 2>err | sed "1s/.*//" >actual &&
		grep -a "shallow" expect &&
		test_cmp expect actual &&
		test_cmp expect.err err || return
	done
'

test_expect_success 'unprintable bytes of GIT_USER_AGENT become dots' '
	GIT_PROTOCOL=version=2 GIT_USER_AGENT="a b	c/1~" \
		git upload-pack --advertise-refs server.git >out &&
	grep -a "agent=a.b.c/1~\$" out
'

# wanted <yes|no> <id> [<key>]: whether v0 gives an object.
wanted () {
	test -z "$3" || stock -C server.git config "$3" true
	pkt "want $2 no-progress" F done |
		git upload-pack server.git >out 2>err
	code=$?
	test -z "$3" || stock -C server.git config --unset "$3"
	case "$1,$code" in
	yes,0) return 0 ;;
	no,128) grep "not our ref $2" err ;;
	*)
		echo "$2 $3: wanted $1, exit code $code" >&2
		return 1
	esac
}

test_expect_success 'wants that no visible ref names' '
	old=$(stock -C server.git rev-parse main~2) &&
	blob=$(stock -C server.git rev-parse main:dir1/file1) &&
	tip=uploadpack.allowTipSHA1InWant &&
	reachable=uploadpack.allowReachableSHA1InWant &&
	any=uploadpack.allowAnySHA1InWant &&
	wanted no $old &&
	wanted no $old $tip &&
	wanted yes $old $reachable &&
	wanted yes $old $any &&
	wanted no $hidden &&
	wanted yes $hidden $tip &&
	wanted yes $hidden $reachable &&
	wanted yes $hidden $any &&
	wanted yes $blob $reachable &&
	wanted no $lost $reachable &&
	wanted yes $lost $any &&
	wanted no 1234567890123456789012345678901234567890 $any
'

test_expect_success 'want-ref' '
	tip=$(stock -C server.git rev-parse main) &&
	request () {
		pkt command=fetch D "want-ref $1" no-progress done F |
			GIT_PROTOCOL=version=2 git upload-pack \
			--stateless-rpc server.git
	} &&
	test_expect_code 128 request refs/heads/main >out 2>err &&
	grep "unexpected line: .want-ref refs/heads/main" err &&
	stock -C server.git config uploadpack.allowRefInWant true &&
	request refs/heads/main >out &&
	grep -a "$tip refs/heads/main" out >/dev/null &&
	test_expect_code 128 request refs/hidden/tip 2>err >out &&
	grep "unknown ref refs/hidden/tip" err &&
	name=main-worktree/refs/hidden/tip &&
	test_expect_code 128 request $name 2>err >out &&
	grep "unknown ref $name" err &&
	echo broken >server.git/refs/heads/broken &&
	test_expect_code 128 request refs/heads/broken 2>err >out &&
	rm server.git/refs/heads/broken &&
	grep "unknown ref refs/heads/broken" err
'

test_expect_success 'object-info' '
	tip=$(stock -C server.git rev-parse main) &&
	stock -C server.git config transfer.advertiseObjectInfo true &&
	git -C server.git cat-file -s main >size &&
	pkt command=object-info D size "oid $tip" F |
		GIT_PROTOCOL=version=2 git upload-pack --stateless-rpc \
		server.git >out &&
	grep -a "size.*$tip $(cat size)0000" out >/dev/null
'

test_expect_success 'session ids' '
	! stock_client ls-remote "$UP" server.git | grep nothing &&
	! grep "session-id=" packets &&
	stock -C server.git config transfer.advertiseSID true &&
	stock_client -c transfer.advertiseSID=true ls-remote "$UP" server.git \
		>out &&
	grep "< session-id=[^ ]*\$" packets
'

# ---- the hook

hook="'$PWD/hook'"
write_hook () {
	cat >hook <<-EOC &&
	#!/bin/sh
	echo "\$@" >"$PWD/args" &&
	echo "\$PATH" >"$PWD/path" &&
	exec "\$@"
	EOC
	chmod +x hook
}

test_expect_success 'packObjectsHook makes the pack' '
	write_hook &&
	rm -rf hooked.git args &&
	git config --global uploadpack.packObjectsHook "$hook" &&
	stock_client clone -q --no-local --mirror "$UP" server.git \
		hooked.git &&
	test_served_by_us &&
	grep "^git pack-objects --revs --thin --stdout" args &&
	stock -C hooked.git fsck --full
'

test_expect_success 'packObjectsHook finds our commands' '
	pkt command=fetch agent=test object-format=sha1 D \
		"want $(stock -C server.git rev-parse main)" done F |
	env -u GIT_EXEC_PATH GIT_PROTOCOL=version=2 PATH=/usr/bin:/bin \
		"$GIT" upload-pack --stateless-rpc server.git >answer &&
	echo "$("$GIT" --exec-path):/usr/bin:/bin" >expect &&
	test_cmp expect path
'

test_expect_success 'packObjectsHook sends objects though nothing is new' '
	stock -C server.git pack-objects --all --stdout -q </dev/null >whole &&
	test $(wc -c <whole) -gt 2000 &&
	printf "#!/bin/sh\ncat >/dev/null\ncat \"%s\"\n" "$PWD/whole" >fixed &&
	chmod +x fixed &&
	main=$(stock -C server.git rev-parse main) &&
	pkt "want $main side-band ofs-delta" F "have $main" done |
	"$GIT" -c uploadpack.packObjectsHook="\"$PWD/fixed\"" upload-pack \
		--stateless-rpc server.git >answer &&
	python3 -c "
import sys
answer, out = sys.stdin.buffer.read(), sys.stdout.buffer
at = int(answer[:4], 16)
while answer[at:at + 4] != b\"0000\":
	size = int(answer[at:at + 4], 16)
	assert size <= 1000, size
	if answer[at + 4] == 1:
		out.write(answer[at + 5:at + size])
	at += size
" <answer >got &&
	cmp whole got
'

test_expect_success 'packObjectsHook with a shallow clone' '
	rm -rf hooked.git args &&
	stock_client clone -q --no-local --bare --depth=2 "$UP" server.git \
		hooked.git &&
	grep "shallow" args &&
	stock -C hooked.git fsck --full &&
	stock -C hooked.git rev-list --count main >actual &&
	echo 2 >expect &&
	test_cmp expect actual
'

# In the order in which it says it, also before the pack and after the pack.
test_expect_success 'packObjectsHook: the client gets its standard error' '
	cat >hook <<-\EOC &&
	#!/bin/sh
	echo before >&2
	printf "a " >&2
	echo line >&2
	"$@"
	echo after >&2
	EOC
	git config --global uploadpack.packObjectsHook "$hook" &&
	for v in 0 2
	do
		rm -rf hooked.git &&
		stock_client -v$v clone -q --no-local --bare "$UP" \
			server.git hooked.git 2>err &&
		sed "s/ *$//" err >actual &&
		printf "remote: %s\n" before "a line" after >expect &&
		test_cmp expect actual &&
		stock -C hooked.git fsck --full || return 1
	done &&
	pkt "want $(stock -C server.git rev-parse main)" F done |
	git upload-pack --stateless-rpc server.git >answer 2>err &&
	! grep -a before answer && grep before err
'

test_expect_success 'packObjectsHook that fails' '
	rm -rf hooked.git &&
	git config --global uploadpack.packObjectsHook \
		"echo no, never >&2; exit 1;" &&
	test_must_fail stock_client clone -q --no-local --mirror "$UP" \
		server.git hooked.git 2>err &&
	grep "^remote: no, never" err &&
	grep "aborting due to possible repository corruption" err
'

test_expect_success 'packObjectsHook of the repository is not run' '
	git config --global --unset uploadpack.packObjectsHook &&
	rm -rf hooked.git args &&
	stock -C server.git config uploadpack.packObjectsHook "$hook" &&
	stock_client clone -q --no-local --mirror "$UP" server.git \
		hooked.git &&
	! test -e args
'

# As stock Git since 2.45.1; pushes need safe.directory. The configuration names
# programs to run and files to write. Objects are missing that a remote promised.
test_expect_success 'a repository of another user is served without running its hooks' '
	stock init -q --bare other.git &&
	stream_commit main 1 1 f 1 | stock -C other.git fast-import --quiet \
		--date-format=raw &&
	blob=$(stock -C other.git rev-parse main:f) &&
	printf "#!/bin/sh\necho \"\$@\" >>\"$PWD/other.ran\"\n" >other.run &&
	chmod +x other.run &&
	for key in uploadpack.packObjectsHook core.sshCommand core.fsmonitor \
		core.alternateRefsCommand gpg.program core.pager
	do
		git config -f other.git/config $key "$PWD/other.run" || return 1
	done &&
	git config -f other.git/config gitreach.requestLog "$PWD/other.ran" &&
	git config -f other.git/config trace2.eventTarget "$PWD/other.ran" &&
	git config -f other.git/config uploadpack.allowFilter true &&
	git config -f other.git/config remote.o.promisor true &&
	git config -f other.git/config remote.o.url "ext::$PWD/other.run %S" &&
	git config -f other.git/config protocol.ext.allow always &&
	for v in 0 2
	do
		rm -rf copy.git &&
		GIT_TEST_ASSUME_DIFFERENT_OWNER=1 stock_client -v$v \
			-c safe.directory="*" clone -q --bare --no-local "$UP" \
			other.git copy.git &&
		test_served_by_us &&
		stock -C copy.git fsck --full || return 1
	done &&
	rm other.git/objects/$(echo $blob | sed "s|^..|&/|") &&
	test_must_fail env GIT_TEST_ASSUME_DIFFERENT_OWNER=1 \
		git -c protocol.version=2 -c safe.directory="*" clone -q \
		--bare --no-local "$UP" other.git none.git &&
	! test -e other.ran &&
	export GIT_TEST_ASSUME_DIFFERENT_OWNER=1 &&
	git upload-pack --strict --http-backend-info-refs other.git >refs &&
	test_must_fail git receive-pack --http-backend-info-refs other.git \
		2>err &&
	unset GIT_TEST_ASSUME_DIFFERENT_OWNER &&
	grep "dubious ownership" err
'

test_expect_success 'a bad configuration is an error' '
	stock -C server.git config uploadpack.allowAnySHA1InWant perhaps &&
	pkt F | test_expect_code 128 git upload-pack server.git 2>err &&
	grep "bad boolean config value .perhaps" err
'

test_expect_success 'uploadpack.keepAlive: a sign of life while a pack is made' '
	rm -rf alive.git &&
	repo_linear alive.git 3 &&
	stock config --global uploadpack.packObjectsHook "sleep 3; exec" &&
	test_when_finished "stock config --global \
		--unset uploadpack.packObjectsHook" &&
	for seconds in 1 0
	do
		rm -rf clone.git &&
		stock -C alive.git config uploadpack.keepAlive $seconds &&
		GIT_TRACE_PACKET="$PWD/trace.$seconds" stock \
			-c protocol.version=2 clone -q --no-local --bare \
			-u "$GITREACH_BUILD/bin/git-upload-pack" \
			alive.git clone.git &&
		stock -C clone.git fsck || return 1
	done &&
	grep -c "sideband< .2 *$" trace.1 >nr && test "$(cat nr)" -ge 1 &&
	! grep "sideband< .2 *$" trace.0
'

# A byte of the largest blob is changed on disk.
test_expect_success 'gitreach.verifyReused: a damaged object is noticed' '
	repo_init damaged.git &&
	seq 1 30000 >big &&
	blob=$(stock -C damaged.git hash-object -w --stdin <big) &&
	tree=$(printf "100644 blob $blob\tbig\n" | stock -C damaged.git mktree) &&
	commit=$(stock -C damaged.git commit-tree -m m $tree) &&
	stock -C damaged.git update-ref refs/heads/main $commit &&
	"$GIT" -C damaged.git repack -adbq &&
	pack=$(ls damaged.git/objects/pack/*.pack) && chmod u+w $pack &&
	offset=$(stock show-index <${pack%pack}idx | sed -n "s/ $blob.*//p") &&
	"$GIT" -c gitreach.verifyReused=true -C damaged.git pack-objects --all \
		--stdout -q </dev/null >whole.pack &&
	stock index-pack whole.pack &&
	printf "\252" | dd of=$pack bs=1 seek=$((offset + 9999)) conv=notrunc \
		2>/dev/null &&
	for prepared in yes no
	do
		test $prepared = yes ||
		rm -f damaged.git/objects/info/prepared &&
		stock -C damaged.git config --unset-all gitreach.verifyReused
		test_must_fail "$GIT" -c gitreach.verifyReused=true \
			-C damaged.git pack-objects --all --stdout -q \
			</dev/null >out.pack 2>err &&
		grep "object $blob is damaged" err &&
		test_must_fail stock index-pack out.pack &&
		"$GIT" -C damaged.git pack-objects --all --stdout -q \
			</dev/null >out.pack &&
		stock -C damaged.git config gitreach.verifyReused true &&
		rm -rf clone.git &&
		! GIT_TRACE2_EVENT="$PWD/trace" stock clone -q --bare \
			--no-local -u "\"$GIT\" upload-pack" damaged.git \
			clone.git 2>err &&
		grep "object $blob is damaged" err &&
		! test -e clone.git/HEAD || return
	done &&
	grep "object $blob is damaged" trace
'

test_done
