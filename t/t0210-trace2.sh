#!/bin/sh
# SPDX-License-Identifier: MIT

test_description='traces of commands (GIT_TRACE2): targets, and the same lines as stock Git'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"

# shape <file>: prints the events of a trace, one on each line: the event and
# the names of its members. Events that stock Git and our git need not have in
# common are left out.
shape () {
	python3 - "$1" <<-\EOP
	import json, sys
	for line in open(sys.argv[1], "rb"):
	    e = json.loads(line)
	    if e["event"] not in ("def_repo", "data", "data_json",
	                          "region_enter", "region_leave"):
	        print(e["event"], ",".join(e), e.get("name", ""),
	              e.get("hierarchy", ""), e.get("code", ""))
	EOP
}

# value <file> <event> <member>: prints the member of the first event of this
# kind.
value () {
	python3 - "$@" <<-\EOP
	import json, sys
	for line in open(sys.argv[1], "rb"):
	    e = json.loads(line)
	    if e["event"] == sys.argv[2]:
	        print(e[sys.argv[3]])
	        break
	EOP
}

test_expect_success 'a repository' '
	repo_init repo.git
'

for args in 'rev-parse --git-dir' 'for-each-ref' 'rev-parse --verify x'
do
	test_expect_success "events of '$args' are those of stock Git" '
		rm -f ours stocks &&
		{ GIT_TRACE2_EVENT="$PWD/stocks" stock -C repo.git $args || :; } &&
		{ GIT_TRACE2_EVENT="$PWD/ours" "$GIT" -C repo.git $args || :; } &&
		shape stocks | sort >expected &&
		shape ours | sort >actual &&
		test_cmp expected actual &&
		test "$(value ours version evt)" = 4 &&
		value ours start argv >argv &&
		grep "repo.git" argv
	'
done

# The expected messages and formats are those of stock Git 2.55.
SQ=\'
test_expect_success 'messages have an error event' '
	rm -f events &&
	for args in "show-ref --verify refs/heads/nothing" \
		"show-ref --nothing" "cat-file -p nothing" "cat-file -z x" \
		"update-ref refs/heads/a..b HEAD" "prune --expire=x" \
		"index-pack none"
	do
		GIT_TRACE2_EVENT="$PWD/events" \
			test_must_fail "$GIT" -C repo.git $args || return
	done &&
	sed -n "/\"event\":\"error\"/s/.*\"msg\"/msg/p" events >actual &&
	cat >expect <<-\EOF &&
	msg:"${SQ}refs/heads/nothing${SQ} - not a valid ref","fmt":"${SQ}%s${SQ} - not a valid ref"}
	msg:"unknown option `nothing${SQ}","fmt":"unknown option `%s${SQ}"}
	msg:"Not a valid object name nothing","fmt":"Not a valid object name %s"}
	msg:"${SQ}-z${SQ} requires a batch mode\n","fmt":"%s\n"}
	msg:"HEAD: not a valid SHA1","fmt":"%s: not a valid SHA1"}
	msg:"malformed expiration date ${SQ}x${SQ}","fmt":"malformed expiration date ${SQ}%s${SQ}"}
	msg:"packfile name ${SQ}none${SQ} does not end with ${SQ}.pack${SQ}","fmt":"%s"}
	EOF
	sed "s/\${SQ}/$SQ/g" expect >expected && test_cmp expected actual
'

test_expect_success 'a request has one error event, not two' '
	rm -f events && printf "0012command=fetch\n" >request &&
	GIT_PROTOCOL=version=2 GIT_TRACE2_EVENT="$PWD/events" \
		test_expect_code 128 "$GIT" upload-pack --stateless-rpc \
		repo.git <request &&
	grep "\"event\":\"error\"" events >errors &&
	test_line_count 1 errors
'

test_expect_success 'lines and columns have the layout of stock Git' '
	for form in GIT_TRACE2 GIT_TRACE2_PERF
	do
		rm -f ours stocks &&
		env $form="$PWD/stocks" env -u GIT_EXEC_PATH PATH="$STOCK_PATH" \
			"$STOCK_GIT" -C repo.git rev-parse --git-dir &&
		env $form="$PWD/ours" "$GIT" -C repo.git rev-parse --git-dir &&
		for side in ours stocks
		do
			sed -e "s/[0-9]/9/g" -e "s/[^ ]*\.c:9* */FILE /" \
				-e "/version/d" -e "/start/d" \
				-e "/worktree/d" -e "/def_repo/d" \
				-e "/implicit-bare/d" \
				-e "s/ancestry.*//" $side >$side.plain || return 1
		done &&
		test_cmp stocks.plain ours.plain || return 1
	done
'

test_expect_success 'brief lines have no time and no place' '
	GIT_TRACE2_BRIEF=1 GIT_TRACE2="$PWD/brief" \
		"$GIT" -C repo.git rev-parse --git-dir &&
	grep "^cmd_name rev-parse (rev-parse)$" brief &&
	GIT_TRACE2_EVENT_BRIEF=1 GIT_TRACE2_EVENT="$PWD/brief.event" \
		"$GIT" -C repo.git rev-parse --git-dir &&
	! grep "\"file\"" brief.event &&
	grep -c "\"time\"" brief.event >times &&
	echo 2 >expected &&
	test_cmp expected times
'

test_expect_success 'child processes know the trace id of their parent' '
	rm -f ours &&
	GIT_TRACE2_EVENT="$PWD/ours" GIT_TRACE2_PARENT_SID=above \
		GIT_TRACE2_PARENT_NAME=upper \
		"$GIT" -C repo.git rev-parse --git-dir &&
	test "$(value ours cmd_name hierarchy)" = upper/rev-parse &&
	value ours start sid >sid &&
	grep "^above/[0-9]\{8\}T[0-9]\{6\}\.[0-9]\{6\}Z-H[0-9a-f]\{8\}-P[0-9a-f]\{8\}$" sid
'

test_expect_success 'executing stock Git is traced' '
	rm -f ours &&
	GIT_TRACE2_EVENT="$PWD/ours" "$GIT" -C repo.git log --all &&
	value ours exec argv >argv &&
	grep log argv &&
	tail -n 1 ours >last &&
	value ours start sid >sid &&
	test "$(value last atexit sid)" != "$(cat sid)" &&
	value last atexit sid | grep "^$(cat sid)/" &&
	GIT_TRACE="$PWD/general" "$GIT" -C repo.git log --all &&
	grep "trace: exec: git log --all$" general &&
	GIT_TRACE="$PWD/general" "$GIT" -C repo.git rev-parse --sq-quote "a b" &&
	grep " trace: built-in: git rev-parse --sq-quote .a b.$" general
'

test_expect_success 'the configuration of the user opens targets' '
	rm -f ours &&
	git config --global trace2.eventBrief true &&
	git config --global trace2.configParams "x.*,core.bare" &&
	git config --global trace2.envVars FOO,NOT_SET &&
	git config --global x.y z &&
	git config --global trace2.eventTarget "$PWD/ours" &&
	rm -f ours &&
	FOO=bar "$GIT" -c x.w=v -C repo.git rev-parse --git-dir &&
	shape ours | cut -d" " -f1 >actual &&
	printf "%s\n" version start cmd_ancestry cmd_name def_param \
		def_param def_param def_param exit atexit >expected &&
	test_cmp expected actual &&
	grep "\"scope\":\"unknown\",\"param\":\"FOO\",\"value\":\"bar\"" ours &&
	grep "\"scope\":\"local\",\"param\":\"core.bare\",\"value\":\"true\"" ours &&
	grep "\"scope\":\"global\",\"param\":\"x.y\",\"value\":\"z\"" ours &&
	grep "\"scope\":\"command\",\"param\":\"x.w\",\"value\":\"v\"" ours &&
	rm ours &&
	GIT_TRACE2_EVENT=0 "$GIT" -C repo.git rev-parse --git-dir &&
	test ! -e ours
'

# passwords <file> <git>...
# Runs a command whose arguments, configuration and environment have URLs with
# passwords. Writes all words of the trace that contain such a URL to the file.
passwords () {
	file=$1 && shift &&
	rm -f trace &&
	for form in GIT_TRACE GIT_TRACE2 GIT_TRACE2_PERF GIT_TRACE2_EVENT
	do
		env $form="$PWD/trace" GIT_TRACE2_CONFIG_PARAMS=x.url \
			GIT_TRACE2_ENV_VARS=FOO FOO=http://user:foo@host/ \
			"$@" -c x.url=https://user:value@host/ -C repo.git \
			for-each-ref http://user:word@host/ \
			>/dev/null || return 1
	done &&
	grep -o "[^ \",:=]*http[^ ]*@host" trace | sort >$file
}

test_expect_success 'passwords in URLs are hidden unless GIT_TRACE2_REDACT=0' '
	for value in unset 1 true
	do
		set -- env GIT_TRACE2_REDACT=$value "$GIT" &&
		if test $value = unset
		then
			set -- "$GIT"
		fi &&
		passwords actual "$@" &&
		grep "http://user:<REDACTED>@host" actual &&
		grep "https://user:<REDACTED>@host" actual &&
		! grep "user:foo@" actual &&
		# GIT_TRACE does not hide passwords.
		test "$(grep -c "user:word@host\$" actual)" = 1 || return 1
	done &&
	for value in 0 false ""
	do
		passwords actual env GIT_TRACE2_REDACT="$value" "$GIT" &&
		grep "http://user:foo@host" actual &&
		! grep REDACTED actual || return 1
	done
'

test_expect_success 'GIT_TRACE shows the passwords of children as stock Git does' '
	GIT_TRACE="$PWD/general" GIT_TRACE2="$PWD/normal" "$GIT" \
		-C repo.git log --all --grep http://a@b \
		--grep http://user:word@host/ &&
	grep "trace: exec: .*http://user:word@host/" general &&
	grep "exec\[0\] .*http://user:<REDACTED>@host/" normal &&
	! grep "exec\[0\] .*word" normal
'

test_expect_success 'trace2 keys of the repository and of -c are ignored' '
	git config --global --remove-section trace2 &&
	rm -f ours &&
	git -C repo.git config trace2.eventTarget "$PWD/ours" &&
	"$GIT" -c trace2.normalTarget="$PWD/ours" -C repo.git \
		rev-parse --git-dir &&
	test ! -e ours &&
	git -C repo.git config --unset trace2.eventTarget
'

test_expect_success 'a directory gets a file for each process, up to a limit' '
	mkdir dir &&
	git config --global trace2.maxFiles 2 &&
	for i in 1 2 3 4
	do
		GIT_TRACE2_EVENT="$PWD/dir" "$GIT" -C repo.git \
			rev-parse --git-dir || return 1
	done &&
	ls dir >names &&
	test_line_count 3 names &&
	grep "^git-trace2-discard$" names &&
	test "$(shape dir/git-trace2-discard | sed -n 2p | cut -d" " -f1)" = \
		too_many_files &&
	git config --global --unset trace2.maxFiles
'

test_expect_success 'a trace target that cannot be opened is no error' '
	for value in relative /nonexistent/x af_unix:/nonexistent/x af_unix: \
		af_unix:relative af_unix:stream:relative af_unix:dgram:
	do
		GIT_TRACE2_DST_DEBUG=1 GIT_TRACE2=$value stock -C repo.git \
			rev-parse --git-dir 2>expected &&
		GIT_TRACE2_DST_DEBUG=1 GIT_TRACE2=$value "$GIT" -C repo.git \
			rev-parse --git-dir 2>actual &&
		test_cmp expected actual &&
		GIT_TRACE2=$value "$GIT" -C repo.git rev-parse --git-dir \
			2>actual &&
		test ! -s actual || return 1
	done &&
	for value in relative /nonexistent/x
	do
		GIT_TRACE=$value stock -C repo.git rev-parse --git-dir \
			2>expected &&
		GIT_TRACE=$value "$GIT" -C repo.git rev-parse --git-dir \
			2>actual &&
		head -n 1 expected >expected.first &&
		head -n 1 actual >actual.first &&
		test_cmp expected.first actual.first || return 1
	done &&
	GIT_TRACE2=/dev/full "$GIT" -C repo.git rev-parse --git-dir
'

test_expect_success 'bytes of any kind become valid JSON' '
	rm -f ours &&
	bytes=$(printf "caf\351 \001 \"\\\\ \303\251") &&
	{ GIT_TRACE2_EVENT="$PWD/ours" "$GIT" -C repo.git rev-parse \
		--verify "$bytes" 2>/dev/null || :; } &&
	shape ours >/dev/null &&
	LC_ALL=C grep "caf.u00e9 .u0001" ours
'

test_expect_success 'a repack has the trace regions of stock Git' '
	repo_linear full.git 5 &&
	cp -R full.git other.git &&
	GIT_TRACE2_EVENT="$PWD/stocks.repack" stock -C other.git repack -adbq &&
	GIT_TRACE2_EVENT="$PWD/ours.repack" "$GIT" -C full.git repack -adbq &&
	for side in stocks ours
	do
		sed -n "s/.*region_\([a-z]*\)\".*\"category\":\"\(pack-[-a-z]*\)\",\"label\":\"\([-_a-z]*\)\".*/\1 \2 \3/p" \
			$side.repack | LC_ALL=C sort >$side.regions || return 1
	done &&
	test_line_count 8 ours.regions &&
	LC_ALL=C comm -13 stocks.regions ours.regions >more &&
	test ! -s more &&
	grep "\"category\":\"repack\",\"label\":\"remove-redundant\"" \
		ours.repack
'

test_expect_success 'children of gc, and parts of fsck' '
	rm -f ours &&
	GIT_TRACE2_EVENT="$PWD/ours" "$GIT" -C full.git gc --quiet &&
	grep "\"event\":\"child_start\".*\"repack\"" ours &&
	grep -c "\"event\":\"child_start\"" ours >started &&
	grep -c "\"event\":\"child_exit\"" ours >ended &&
	test_cmp started ended &&
	grep "\"hierarchy\":\"gc/repack\"" ours &&
	GIT_TRACE2_PERF="$PWD/ours.fsck" "$GIT" -C full.git fsck &&
	grep -c "| region_leave .*| fsck  " ours.fsck >nr &&
	echo 4 >expected &&
	test_cmp expected nr
'

# never_ran [<variable>=<value>...] <command>...
# Asserts that the command has tried to start one child process, and that the
# trace has the start and the exit of this child.
never_ran () {
	rm -f ours &&
	{ env GIT_TRACE2_EVENT="$PWD/ours" "$@" >/dev/null 2>err || :; } &&
	grep "\"event\":\"child_start\"" ours >started &&
	test_line_count 1 started &&
	grep "\"event\":\"child_exit\".*\"child_id\":0,\"pid\":-1,\"code\":-1" ours
}

test_expect_success 'a child that cannot be started has an exit event' '
	id=$(stock -C full.git rev-parse HEAD) &&
	printf "#!/no/such/program\n" >broken && chmod +x broken &&
	cp broken full.git/hooks/reference-transaction &&
	printf "start\nabort\n" >abort &&
	never_ran "$GIT" -C full.git update-ref --stdin <abort &&
	mv full.git/hooks/reference-transaction full.git/hooks/pre-receive &&
	pkt "$(echo $id | sed "s/./0/g") $id refs/heads/y" F >push &&
	stock -C full.git pack-objects --stdout </dev/null >>push &&
	never_ran "$GIT" receive-pack --stateless-rpc full.git <push &&
	mv full.git/hooks/pre-receive full.git/hooks/pre-auto-gc &&
	echo $id | stock -C full.git pack-objects -q objects/pack/pack &&
	never_ran "$GIT" -C full.git -c gc.autoPackLimit=1 \
		-c gc.auto=9999 gc --auto --no-detach &&
	rm full.git/hooks/pre-auto-gc &&
	pkt command=fetch object-format=sha1 D "want $id" done F >fetch &&
	never_ran GIT_PROTOCOL=version=2 PATH=/none "$GIT" \
		-c uploadpack.packObjectsHook=any upload-pack --stateless-rpc \
		full.git <fetch &&
	stock clone -q --bare -s full.git borrows.git &&
	never_ran PATH=/none "$GIT" -c core.alternateRefsCommand=any \
		receive-pack --http-backend-info-refs borrows.git &&
	ln -s "$GIT" git-some-helper &&
	never_ran GITREACH_FALLBACK="$PWD/broken" ./git-some-helper
'

test_done
