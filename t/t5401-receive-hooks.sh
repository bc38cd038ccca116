#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='receive-pack: hooks, push options, quarantine, alternates'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"

OURS=$GITREACH_BUILD/bin/git-receive-pack
export OURS
SQ="'"

# hook <repository> <name>: install standard input as a hook.
hook () {
	{
		echo "#!/bin/sh" &&
		cat
	} >"$1/hooks/$2" &&
	chmod +x "$1/hooks/$2"
}

test_expect_success 'setup' '
	repo_linear client.git 12 &&
	repo_init plain.git &&
	stock -C client.git push -q ../plain.git main~2:refs/heads/main \
		main~3:refs/heads/old &&
	stock -C plain.git config receive.advertisePushOptions true &&
	for name in pre-receive update post-receive post-update
	do
		hook plain.git $name <<-\EOH || return 1
		echo "$0 $*"
		test "$(basename "$0")" = update ||
		test "$(basename "$0")" = post-update || cat
		echo "in $(basename "$PWD")"
		env | grep "^GIT_" | grep -vE "EXEC|TRACE|COMMITTER|AUTHOR" |
			sed -e "s/incoming-......$/incoming-X/" \
			-e "s,[^=]*/\(ours\|stock\).git/\(\./\)*,R/," \
			-e "s,=/.*/\(ours\|stock\).git/\(\./\)*,=R/," | sort
		EOH
	done
'

# test_as_stock <name> <argument of push>...: the output of hooks and the result
# are those of stock Git's server.
test_as_stock () {
	name=$1
	shift
	echo "$*" >arguments
	test_expect_success "as stock: $name" '
		read -r arguments <arguments &&
		for who in ours stock
		do
			rm -rf $who.git &&
			cp -R plain.git $who.git &&
			server=$OURS &&
			test $who = ours || server="env -u GIT_EXEC_PATH \
				PATH=$STOCK_PATH $STOCK_GIT-receive-pack"
			eval "stock -C client.git push \
				--receive-pack=\"$server\" \
				../$who.git $arguments" >$who.out 2>&1
			echo "exit $?" >>$who.out &&
			sed -e "s/$who/WHO/g" -e "s/ *$//" $who.out >$who.txt &&
			stock -C $who.git for-each-ref >>$who.txt || return 1
		done &&
		test_cmp stock.txt ours.txt &&
		find ours.git -name "tmp_*" >left &&
		test_cmp /dev/null left
	'
}

test_as_stock 'all hooks run' main main:new
test_as_stock 'with push options' -o one=1 -o two main
test_as_stock 'deletion' :old
test_as_stock 'nothing to do' main~2:main

test_expect_success 'an update hook that declines' '
	hook plain.git update <<-\EOH
	test "$1" != refs/heads/no
	EOH
'
test_as_stock 'one is declined' main:no main
test_as_stock 'one is declined, atomically' --atomic main:no main

test_expect_success 'a pre-receive hook that declines' '
	hook plain.git pre-receive <<-\EOH
	echo >&2 "not today"
	git cat-file -e $(cut -d" " -f2) && echo seen
	exit 3
	EOH
'
test_as_stock 'all is declined' main main:new
test_expect_success 'a declined push leaves no objects' '
	test_must_fail stock -C ours.git cat-file -e \
		$(stock -C client.git rev-parse main) 2>/dev/null
'

test_expect_success 'hooks that print much, read no input, or exit early' '
	hook plain.git pre-receive <<-\EOH &&
	exec 0<&-
	i=0
	while test $i -lt 2000
	do
		echo "line $i of a hook that has much to say"
		i=$((i + 1))
	done
	EOH
	rm -rf ours.git &&
	cp -R plain.git ours.git &&
	stock -C client.git push --receive-pack="$OURS" ../ours.git main \
		2>err &&
	grep -c "^remote: line" err >count &&
	echo 2000 >expect &&
	test_cmp expect count
'

test_expect_success 'a hook without #! is run by the shell' '
	rm -rf ours.git &&
	repo_init ours.git &&
	mkdir -p ours.git/hooks &&
	echo "echo plain \$# \$1" >ours.git/hooks/post-update &&
	chmod +x ours.git/hooks/post-update &&
	stock -C client.git push --receive-pack="$OURS" ../ours.git main \
		2>err &&
	grep "^remote: plain 1 refs/heads/main" err
'

test_expect_success 'core.hooksPath, and hooks that cannot be run' '
	rm -rf ours.git &&
	repo_init ours.git &&
	mkdir mine &&
	printf "#!/bin/sh\nexit 1\n" >mine/pre-receive &&
	stock -C ours.git config core.hooksPath "$PWD/mine" &&
	stock -C client.git push -q --receive-pack="$OURS" ../ours.git \
		main~1:refs/heads/main &&
	chmod +x mine/pre-receive &&
	test_must_fail stock -C client.git push -q --receive-pack="$OURS" \
		../ours.git main
'

test_expect_success 'a reference-transaction hook' '
	rm -rf ours.git &&
	repo_init ours.git &&
	hook ours.git reference-transaction <<-\EOH &&
	echo "$1" >>states
	cat >>states
	echo "out $1"
	echo "err $1" >&2
	test "$1" != prepared || ! test -e stop
	EOH
	stock -C client.git push -q --receive-pack="$OURS" ../ours.git \
		main~1:refs/heads/main 2>err &&
	printf "%s\n" "out preparing" "err preparing" "out prepared" \
		"err prepared" "out committed" "err committed" >expect &&
	test_cmp expect err &&
	id=$(stock -C client.git rev-parse main~1) &&
	for state in preparing prepared committed
	do
		echo $state
		echo "0000000000000000000000000000000000000000 $id" \
			refs/heads/main
	done >expect &&
	test_cmp expect ours.git/states &&
	touch ours.git/stop &&
	test_must_fail stock -C client.git push -q --receive-pack="$OURS" \
		../ours.git main 2>err &&
	test "$(stock -C ours.git rev-parse main)" = $id &&
	find ours.git -name "*.lock" >left &&
	test_cmp /dev/null left
'

# As in stock Git, a transaction without changes runs the hook, but an atomic
# push makes no transaction if a command is refused.
test_expect_success 'the hook runs if the update hook has refused all refs' '
	rm -f ours.git/stop ours.git/states &&
	hook ours.git update <<-\EOH &&
	exit 1
	EOH
	test_must_fail stock -C client.git push -q --receive-pack="$OURS" \
		../ours.git main 2>err &&
	printf "%s\n" preparing prepared committed >expect &&
	test_cmp expect ours.git/states &&
	test_must_fail stock -C client.git push -q --receive-pack="$OURS" \
		--atomic ../ours.git main 2>err &&
	test_cmp expect ours.git/states
'

test_expect_success 'a client gets keep-alives while a hook is silent' '
	rm -rf ours.git &&
	repo_init ours.git &&
	stock -C ours.git config receive.keepAlive 1 &&
	printf "sleep 1.5\n" | hook ours.git pre-receive &&
	rm -f packets &&
	GIT_TRACE_PACKET=$PWD/packets stock -C client.git push -q \
		--receive-pack="$OURS" ../ours.git main &&
	stock -C ours.git fsck
'

# ---- alternates

test_expect_success 'refs of alternates are advertised once, as by stock Git' '
	rm -rf other.git borrower.git &&
	stock clone -q --bare client.git other.git &&
	stock -C other.git branch twin main &&
	stock -C other.git branch more main~5 &&
	stock clone -q --bare --shared other.git borrower.git &&
	for ref in twin more
	do
		stock -C borrower.git update-ref -d refs/heads/$ref ||
			return 1
	done &&
	for config in core.alternateRefsPrefixes=refs/tags/ \
		core.alternateRefsPrefixes=refs/heads/more \
		core.alternateRefsCommand="echo $(stock -C client.git \
			rev-parse main~7); :" x.y=z
	do
		"$GIT" -c "$config" receive-pack --advertise-refs \
			borrower.git >ours &&
		stock -c "$config" receive-pack --advertise-refs \
			borrower.git >theirs &&
		sed -e "s/agent=.*//" -e "s/^0*..[0-9a-f][0-9a-f]//" ours \
			>ours.txt &&
		sed -e "s/agent=.*//" -e "s/^0*..[0-9a-f][0-9a-f]//" theirs \
			>theirs.txt &&
		tail -n +2 ours.txt >ours.tail &&
		tail -n +2 theirs.txt >theirs.tail &&
		test_cmp theirs.tail ours.tail || return 1
	done
'

test_expect_success 'a push into a repository with an alternate' '
	test_tick &&
	new=$(stock -C client.git commit-tree -p main -m new "main^{tree}") &&
	stock -C client.git push -q --receive-pack="$OURS" ../borrower.git \
		$new:refs/heads/new &&
	stock -C borrower.git fsck --full --strict &&
	stock -C borrower.git count-objects >count &&
	grep "^1 " count
'

# ---- hooks that do not run to their end

# refused <why>: push to ours.git, and expect that all is refused with this reason and
# that the client gets the lines of standard input.
refused () {
	sed "s/^/remote: /" >expect &&
	test_must_fail stock -C client.git push --receive-pack="$OURS" \
		../ours.git main 2>err &&
	grep "^remote: " err | sed "s/ *$//" >actual &&
	test_cmp expect actual &&
	grep "remote rejected.*($1)" err &&
	test_must_fail stock -C ours.git rev-parse -q --verify main
}

test_expect_success 'a hook that a signal kills' '
	rm -rf ours.git && repo_init ours.git &&
	echo "kill -9 \$\$" | hook ours.git pre-receive &&
	echo "error: hooks/pre-receive died of signal 9" |
		refused "pre-receive hook declined" &&
	echo "exit 137" | hook ours.git pre-receive &&
	refused "pre-receive hook declined" </dev/null &&
	echo "exec env --default-signal=INT sh -c ${SQ}kill -INT \$\$${SQ}" |
		hook ours.git pre-receive &&
	refused "pre-receive hook declined" </dev/null
'

test_expect_success 'a hook without its interpreter refuses the push' '
	rm -rf ours.git && repo_init ours.git &&
	mkdir -p ours.git/hooks &&
	printf "#!/no/such/shell\n" >ours.git/hooks/pre-receive &&
	chmod +x ours.git/hooks/pre-receive &&
	echo "fatal: cannot exec ${SQ}hooks/pre-receive${SQ}: No such file" \
		"or directory" | refused "pre-receive hook declined" &&
	mv ours.git/hooks/pre-receive ours.git/hooks/update &&
	{
		echo "fatal: cannot exec ${SQ}hooks/update${SQ}: No such" \
			"file or directory" &&
		echo "error: hook declined to update refs/heads/main"
	} | refused "hook declined"
'

test_expect_success 'a directory in the place of a hook refuses the push' '
	rm -rf ours.git && repo_init ours.git &&
	mkdir -p ours.git/hooks/pre-receive &&
	echo "fatal: cannot exec ${SQ}hooks/pre-receive${SQ}: Permission" \
		"denied" | refused "pre-receive hook declined"
'

test_expect_success 'a hook after the push that cannot be started changes nothing' '
	rm -rf ours.git && repo_init ours.git &&
	mkdir -p ours.git/hooks &&
	for name in post-receive post-update
	do
		printf "#!/no/such/shell\n" >ours.git/hooks/$name &&
		chmod +x ours.git/hooks/$name || return 1
	done &&
	stock -C client.git push --receive-pack="$OURS" ../ours.git main \
		2>err &&
	grep "^remote: fatal: cannot exec ${SQ}hooks/post-receive${SQ}" err &&
	grep "^remote: fatal: cannot exec ${SQ}hooks/post-update${SQ}" err
'

# The hint is for the owner of the server, so it does not go to the client.
test_expect_success 'a hint about hooks that are not executable' '
	rm -rf ours.git && repo_init ours.git &&
	mkdir -p ours.git/hooks &&
	for name in pre-receive update reference-transaction
	do
		echo "exit 1" >ours.git/hooks/$name || return 1
	done &&
	printf "#!/bin/sh\nexec \"$OURS\" \"\$@\" 2>told\n" >server &&
	chmod +x server &&
	stock -C client.git push -q --receive-pack=../server ../ours.git \
		main main:other 2>err &&
	test_cmp /dev/null err &&
	for name in pre-receive update reference-transaction
	do
		echo "hint: The ${SQ}hooks/$name${SQ} hook was ignored" \
			"because it${SQ}s not set as executable." || return 1
	done >expect &&
	grep "^hint: The" client.git/told >actual &&
	test_cmp expect actual &&
	grep "git config set advice.ignoredHook false" client.git/told &&
	stock -C ours.git config advice.ignoredHook false &&
	stock -C client.git push -q --receive-pack=../server ../ours.git \
		main:more &&
	test_cmp /dev/null client.git/told
'

test_expect_success 'an invalid core.hooksPath refuses all pushes' '
	rm -rf ours.git && repo_init ours.git &&
	stock -C ours.git config core.hooksPath "~nosuchuser/hooks" &&
	test_must_fail stock -C client.git push --receive-pack="$OURS" \
		../ours.git main 2>err &&
	grep "^fatal: failed to expand user dir in: ${SQ}~nosuchuser/hooks" err &&
	stock config --file ours.git/config --unset core.hooksPath &&
	printf "[core]\n\thooksPath\n" >>ours.git/config &&
	test_must_fail stock -C client.git push --receive-pack="$OURS" \
		../ours.git main 2>err &&
	grep "^fatal: missing value for ${SQ}core.hookspath${SQ}" err
'

test_expect_success 'core.hooksPath with %(prefix)' '
	rm -rf ours.git && repo_init ours.git &&
	stock -C ours.git config core.hooksPath "%(prefix)/no/such/hooks" &&
	stock -C client.git push -q --receive-pack="$OURS" ../ours.git main &&
	mkdir ours.git/mine &&
	printf "#!/bin/sh\nexit 1\n" >ours.git/mine/update &&
	chmod +x ours.git/mine/update &&
	stock -C ours.git config core.hooksPath "%(prefix)/$PWD/ours.git/mine" &&
	test_must_fail stock -C client.git push --receive-pack="$OURS" \
		../ours.git main:more 2>err &&
	grep "hook declined" err
'

test_expect_success 'core.hooksPath with :(optional)' '
	rm -rf ours.git && repo_init ours.git &&
	mkdir ours.git/mine &&
	stock -C ours.git config core.hooksPath "$PWD/nothing" &&
	stock -C ours.git config --add core.hooksPath ":(optional)mine" &&
	printf "#!/bin/sh\nexit 1\n" >ours.git/mine/update &&
	chmod +x ours.git/mine/update &&
	test_must_fail stock -C client.git push -q --receive-pack="$OURS" \
		../ours.git main &&
	mv ours.git/mine ours.git/other &&
	stock -C client.git push -q --receive-pack="$OURS" ../ours.git \
		main~1:refs/heads/main &&
	printf "exit 1\n" | hook ours.git update &&
	test_must_fail stock -C client.git push -q --receive-pack="$OURS" \
		../ours.git main
'

test_expect_success 'a configured program without "#!" is the one in PATH' '
	rm -rf ours.git && repo_init ours.git &&
	mkdir -p bin &&
	echo "exit 1" >bin/plainhook && chmod +x bin/plainhook &&
	echo "exit 0" >ours.git/plainhook && chmod +x ours.git/plainhook &&
	stock -C ours.git config hook.a.event pre-receive &&
	stock -C ours.git config hook.a.command plainhook &&
	(
		STOCK_PATH=$PWD/bin:$STOCK_PATH &&
		test_must_fail stock -C client.git push -q \
			--receive-pack="$OURS" ../ours.git main &&
		echo "exit 0" >bin/plainhook &&
		stock -C client.git push -q --receive-pack="$OURS" ../ours.git \
			main
	)
'

test_expect_success 'the number of push options is also set if they are not allowed' '
	rm -rf ours.git && repo_init ours.git &&
	for name in pre-receive post-receive
	do
		echo "echo \$GIT_PUSH_OPTION_COUNT" | hook ours.git $name ||
			return 1
	done &&
	GIT_PUSH_OPTION_COUNT=7 stock -C client.git push \
		--receive-pack="$OURS" ../ours.git main 2>err &&
	sed -n "s/^remote: //p" err | sed "s/ *$//" >actual &&
	printf "0\n0\n" >expect &&
	test_cmp expect actual
'

# ---- configured hooks, new in Git 2.54

test_expect_success 'configured hooks run before the hook in hooks/' '
	rm -rf ours.git && repo_init ours.git &&
	hook ours.git pre-receive <<-\EOH &&
	echo "program $(cat)"
	EOH
	stock -C ours.git config hook.two.event pre-receive &&
	stock -C ours.git config hook.two.command "echo two \"\$(cat)\";" &&
	stock -C ours.git config hook.one.event pre-receive &&
	stock -C ours.git config --add hook.one.event update &&
	stock -C ours.git config hook.one.command "echo one" &&
	new=$(stock -C client.git rev-parse main) &&
	zero=$(echo $new | tr 0-9a-f 0) &&
	line="$zero $new refs/heads/main" &&
	stock -C client.git push --receive-pack="$OURS" ../ours.git main \
		2>err &&
	sed -n "s/^remote: //p" err | sed "s/ *$//" >actual &&
	cat >expect <<-EOF &&
	two $line
	one
	program $line
	one refs/heads/main $zero $new
	EOF
	test_cmp expect actual
'

test_expect_success 'each configured hook may decline, and all are run' '
	stock -C ours.git config hook.two.command "echo no; exit 1" &&
	test_must_fail stock -C client.git push --receive-pack="$OURS" \
		../ours.git main:refs/heads/other 2>err &&
	grep "remote rejected.*pre-receive hook declined" err &&
	grep "remote: one" err && grep "remote: program" err &&
	test_must_fail stock -C ours.git rev-parse -q --verify other &&
	stock -C ours.git config hook.two.enabled false &&
	stock -C client.git push -q --receive-pack="$OURS" ../ours.git \
		main:refs/heads/other 2>err &&
	test_must_fail grep "remote: no" err
'

test_expect_success 'a configured hook that cannot be run refuses the push' '
	stock -C ours.git config hook.three.event post-receive &&
	test_must_fail stock -C client.git push --receive-pack="$OURS" \
		../ours.git main:refs/heads/third 2>err &&
	grep "hook.three.command. must be configured" err &&
	test_must_fail stock -C ours.git rev-parse -q --verify third
'

# Without arguments, the shell gets no "$@": it would succeed after "false;".
test_expect_success 'a configured command that ends with a semicolon refuses the push' '
	rm -rf ours.git && repo_init ours.git &&
	stock -C ours.git config hook.a.event pre-receive &&
	stock -C ours.git config hook.a.command "echo no; false;" &&
	echo no | refused "pre-receive hook declined"
'

test_expect_success 'a configured command that does not exist refuses the push' '
	stock -C ours.git config hook.a.command no-such-command &&
	echo "error: cannot run no-such-command: No such file or directory" |
		refused "pre-receive hook declined" &&
	stock -C ours.git config hook.a.command "" &&
	echo "error: cannot run : No such file or directory" |
		refused "pre-receive hook declined" &&
	stock -C ours.git config hook.a.command "kill -9 \$\$;" &&
	echo "error: kill -9 \$\$; died of signal 9" |
		refused "pre-receive hook declined"
'

test_expect_success 'a key of a configured hook without a value refuses the push' '
	for key in event command enabled
	do
		rm -rf ours.git && repo_init ours.git &&
		printf "[hook \"a\"]\n\tevent = update\n\tcommand = true\n\t$key\n" \
			>>ours.git/config &&
		test_must_fail stock -C client.git push \
			--receive-pack="$OURS" ../ours.git main 2>err &&
		grep "missing value for ${SQ}hook.a.$key${SQ}" err &&
		test_must_fail stock -C ours.git rev-parse -q --verify main ||
			return 1
	done
'

test_expect_success 'update-ref runs configured reference-transaction hooks' '
	rm -rf ours.git && repo_init ours.git &&
	stock -C client.git push -q ../ours.git main &&
	stock -C ours.git config hook.four.event reference-transaction &&
	stock -C ours.git config hook.four.command "cat; echo" &&
	"$GIT" -C ours.git update-ref refs/heads/fourth main 2>err &&
	grep "^preparing" err && grep "refs/heads/fourth" err &&
	stock -C ours.git config hook.four.command "exit 1;" &&
	test_must_fail "$GIT" -C ours.git update-ref refs/heads/fifth main
'

# ---- without a client

# gone <capabilities>: a push whose client exits before pre-receive ends.
gone () {
	rm -rf ours.git && repo_init ours.git &&
	mkdir -p ours.git/hooks && echo "sleep 1" | hook ours.git pre-receive &&
	for name in update post-receive post-update
	do
		hook ours.git $name <<-\EOH || return 1
		name=$(basename "$0")
		test $name != post-receive || cat >pushed
		yes "much to say" | head -n 20000
		echo $name >>ran
		EOH
	done &&
	new=$(stock -C client.git rev-parse main) &&
	first="$(echo $new | tr 0-9a-f 0) $new refs/heads/gone" &&
	{
		printf "%04x%s\\0%s0000" $((${#first} + 5 + ${#1})) "$first" "$1" &&
		echo $new | stock -C client.git pack-objects -q --revs --stdout
	} >request &&
	{
		code=0 &&
		"$OURS" --stateless-rpc ours.git <request 2>err || code=$?
		echo $code >code
	} | true
	while ! test -e code
	do
		sleep 1
	done
}

for caps in report-status "report-status side-band-64k"
do
	test_expect_success "hooks run for a client that went away: $caps" '
		rm -f code && gone "$caps" &&
		echo 128 >expect && test_cmp expect code &&
		grep "^fatal: cannot write to the client: Broken pipe" err &&
		echo $new >expect &&
		stock -C ours.git rev-parse refs/heads/gone >actual &&
		test_cmp expect actual &&
		printf "%s\n" update post-receive post-update >expect &&
		test_cmp expect ours.git/ran &&
		grep "$new refs/heads/gone" ours.git/pushed
	'
done

# ---- object checks

test_expect_success 'transfer.fsckObjects' '
	rm -rf ours.git &&
	repo_init ours.git &&
	stock -C ours.git config transfer.fsckObjects true &&
	stock -C client.git push -q --receive-pack="$OURS" ../ours.git main &&
	tree=$(stock -C client.git rev-parse "main^{tree}") &&
	printf "tree %s\nauthor x <x> 0 +0000\ncommitter x 0 +0000\n\nm\n" \
		$tree >commit &&
	bad=$(stock -C client.git hash-object -w -t commit --literally \
		../commit) &&
	test_must_fail stock -C client.git push --receive-pack="$OURS" \
		../ours.git $bad:refs/heads/bad 2>err &&
	grep "missingEmail" err &&
	grep "unpacker error" err &&
	find ours.git -name "tmp_*" >left &&
	test_cmp /dev/null left &&
	stock -C ours.git config receive.fsck.missingEmail ignore &&
	stock -C client.git push --receive-pack="$OURS" \
		../ours.git $bad:refs/heads/bad
'

test_done
