#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='receive-pack: pushes of all kinds, compared with stock Git'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-strace.sh"

OURS=$GITREACH_BUILD/bin/git-receive-pack
ZERO=0000000000000000000000000000000000000000
export OURS

# push_ours [<option>...] <server> <ref>...: stock Git pushes from client.git
# to our receive-pack, with traces.
push_ours () {
	rm -f "$TRACE_DIR/packets"
	GIT_TRACE_PACKET=$TRACE_DIR/packets stock -C "${CLIENT-client.git}" \
		push --receive-pack="$OURS" "$@"
}

# There is no quarantine directory and no lock file.
test_clean () {
	find "$1" -name "tmp_*" -o -name "*.lock" -o -name "*.keep" >left &&
	test_cmp /dev/null left
}

# test_pushed <server> <client> <rev> <ref>
test_pushed () {
	stock -C "$1" fsck --full --strict &&
	test_clean "$1" &&
	stock -C "$2" rev-parse "$3" >expect.id &&
	stock -C "$1" rev-parse "$4" >actual.id &&
	test_cmp expect.id actual.id
}

for format in sha1 sha256
do
	REPO_FORMAT=$format
	export REPO_FORMAT

	test_expect_success "$format: small and large pushes" '
		rm -rf client.git server.git &&
		repo_linear client.git 60 &&
		repo_tags client.git &&
		repo_init server.git &&
		push_ours -q ../server.git main~1:refs/heads/main &&
		grep "agent=git/2[0-9.]*\.gitreach\." packets >/dev/null &&
		test_pushed server.git client.git main~1 main &&
		find server.git/objects/pack -name "*.pack" >packs &&
		test_line_count 1 packs &&
		find server.git/objects/pack -name "*.rev" >revs &&
		test_line_count 1 revs
	'

	test_expect_success "$format: a push of few objects is unpacked" '
		push_ours -q ../server.git main &&
		test_pushed server.git client.git main main &&
		stock -C server.git count-objects >count &&
		! grep "^0 " count
	'

	test_expect_success "$format: tags, deletion, creation, force" '
		push_ours -q --mirror ../server.git &&
		test_same_repo server.git client.git &&
		test_clean server.git &&
		push_ours -q ../server.git +main~3:main main:new :refs/tags/light &&
		test_pushed server.git client.git main~3 main &&
		test_pushed server.git client.git main new &&
		test_must_fail stock -C server.git rev-parse --verify -q \
			refs/tags/light
	'
done
REPO_FORMAT=sha1

test_expect_success 'setup' '
	rm -rf client.git server.git &&
	repo_linear client.git 60 &&
	repo_tags client.git
'

test_expect_success 'receive.unpackLimit wins over transfer.unpackLimit' '
	for limit in 1 5 1000
	do
		rm -rf server.git &&
		repo_init server.git &&
		stock -C server.git config transfer.unpackLimit 7 &&
		stock -C server.git config receive.unpackLimit $limit &&
		push_ours -q ../server.git main &&
		test_pushed server.git client.git main main &&
		find server.git/objects/pack -name "*.pack" >packs.$limit ||
			return 1
	done &&
	test_line_count 1 packs.1 &&
	test_line_count 1 packs.5 &&
	test_line_count 0 packs.1000
'

test_expect_success 'a pack that is too large, corrupt or truncated' '
	rm -rf server.git &&
	repo_init server.git &&
	stock -C server.git config receive.maxInputSize 500 &&
	test_must_fail push_ours ../server.git main 2>err &&
	grep "unpacker error" err &&
	test_clean server.git &&
	stock -C server.git config --unset receive.maxInputSize &&
	id=$(stock -C client.git rev-parse main) &&
	{
		raw="$ZERO $id refs/heads/main"
		printf "%04x%s\\0report-status" $((${#raw} + 18)) "$raw" &&
		printf 0000
	} >head.in &&
	echo main | stock -C client.git pack-objects -q --revs --stdout \
		>whole.pack &&
	size=$(wc -c <whole.pack) &&
	for keep in 0 11 12 100 $((size / 2)) $((size - 20)) $((size - 1))
	do
		{ cat head.in && head -c $keep whole.pack; } >in &&
		"$OURS" server.git <in >out 2>err
		grep -a "ng refs/heads/main unpacker error" out &&
		test_clean server.git || return 1
	done &&
	for at in 13 200 $((size / 2)) $((size - 5))
	do
		{
			cat head.in && head -c $at whole.pack &&
			printf "\\377\\000\\377" &&
			tail -c +$((at + 4)) whole.pack
		} >in &&
		"$OURS" server.git <in >out 2>err
		grep -a "ng refs/heads/main unpacker error" out &&
		test_clean server.git || return 1
	done &&
	stock -C server.git for-each-ref >refs &&
	test_cmp /dev/null refs &&
	stock -C server.git count-objects >count &&
	grep "^0 " count &&
	{ cat head.in && cat whole.pack; } >in &&
	"$OURS" server.git <in >out &&
	grep -a "ok refs/heads/main" out &&
	test_pushed server.git client.git main main
'

test_expect_success 'requests that break the protocol' '
	for lines in "hello" "$ZERO $ZERO" "shallow x" \
		"$ZERO x refs/heads/main" "0000 $ZERO refs/heads/x" \
		"$ZERO $ZERO "
	do
		pkt "$lines" F >in &&
		test_must_fail "$OURS" server.git <in >out 2>err &&
		grep -a "ERR protocol error" out || return 1
	done &&
	test_must_fail "$OURS" server.git </dev/null 2>err &&
	grep "the remote end hung up unexpectedly" err &&
	printf 0000 >in &&
	"$OURS" server.git <in >out &&
	test_clean server.git
'

# ---- side by side with stock

# For each case both servers start from the same repository. The messages to the
# client, the exit code and the refs afterwards must be equal.
raw_push () {
	caps="report-status side-band-64k object-format=sha1 $CAPS"
	first=$1
	shift
	printf '%04x%s\0%s' $((${#first} + 5 + ${#caps})) "$first" "$caps"
	for line in "$@"
	do
		printf '%04x%s' $((${#line} + 4)) "$line"
	done
	printf 0000
	printf '' | stock -C client.git pack-objects -q --stdout
}

unband () {
	python3 -c '
import re, sys
data, at, flushes, text = sys.stdin.buffer.read(), 0, 0, {1: b"", 2: b""}
while at < len(data):
    n = int(data[at:at + 4], 16)
    if n == 0:
        flushes += 1
        n = 4
    elif flushes and data[at + 4] in text:
        text[data[at + 4]] += data[at + 5:at + n]
    at += n
# The advice differs in words. Both programs must print it in the same cases.
text[2] = re.sub(rb"error: (By default, .*?.refuse.\.|(HEAD of|The branch is) "
                 rb".*?without this advice\.)\n", b"<advice>\n", text[2],
                 flags=re.S)
report = re.sub(rb"(\A|\n)[0-9a-f]{4}", rb"\n", text[1])
# Messages about missing objects differ.
told = re.sub(rb"(?m)^(fatal: bad object|error: (missing|object)).*\n", b"",
              text[2])
# 2.39 and later versions put the reason in different words.
report = re.sub(rb"(?m)^(ng \S+) (failed to update refs?|"
                rb"incorrect old value provided|reference does not exist|"
                rb"reference already exists|refname conflict|"
                rb"invalid new value provided)$", rb"\1 failed", report)
told = re.sub(rb"cannot update ref .*?: trying", b"trying", told)
sys.stdout.write("report:" + report.decode() + "\n")
sys.stdout.writelines(sorted(told.decode().splitlines(True)))'
}

setup_pair () {
	rm -rf pair.git &&
	repo_init pair.git &&
	stock -C client.git push -q ../pair.git main~1:refs/heads/main \
		main:refs/heads/cur main~1:refs/hid/a light:refs/tags/v &&
	stock -C pair.git symbolic-ref HEAD refs/heads/main &&
	stock -C pair.git config transfer.hideRefs refs/hid
}

# test_pair <name> [-c <key>=<value>]... <command>...
test_pair () {
	name=$1
	shift
	rm -f settings
	: >settings
	while test "$1" = -c
	do
		echo "$2" >>settings
		shift 2
	done
	for arg in "$@"
	do
		echo "$arg"
	done >commands
	test_expect_success "as stock: $name" '
		set -- &&
		while read -r line
		do
			set -- "$@" "$line"
		done <commands &&
		raw_push "$@" >in &&
		for who in ours stock
		do
			rm -rf $who.git &&
			cp -R pair.git $who.git &&
			while IFS== read -r key value
			do
				stock -C $who.git config "$key" "$value"
			done <settings &&
			server=$OURS &&
			test $who = ours || server="stock receive-pack"
			$server $who.git <in >out 2>$who.err
			echo "exit $?" >$who.txt &&
			unband <out >>$who.txt &&
			stock -C $who.git for-each-ref >>$who.txt &&
			test_clean $who.git || return 1
		done &&
		sed -i "s/refusing to create funny/refusing to update funny/" \
			stock.txt ours.txt &&
		test_cmp stock.txt ours.txt
	'
}

test_expect_success 'setup for pairs' '
	setup_pair &&
	A=$(stock -C client.git rev-parse main) &&
	B=$(stock -C client.git rev-parse main~1) &&
	T=$(stock -C client.git rev-parse "main^{tree}") &&
	N=1111111111111111111111111111111111111111
'
CAPS=
test_pair 'update' "$B $A refs/heads/main"
test_pair 'create' "$ZERO $A refs/heads/n" "$ZERO $A refs/tags/n"
test_pair 'delete' "$A $ZERO refs/heads/cur"
test_pair 'hidden' "$B $A refs/hid/a" "$B $A refs/heads/main"
test_pair 'only hidden' "$B $A refs/hid/a" "$B $ZERO refs/hid/a"
test_pair 'hidden by receive.hideRefs' -c receive.hideRefs=refs/heads \
	"$B $A refs/heads/main" "$ZERO $A refs/tags/t"
test_pair 'funny names' "$ZERO $A refs/heads/x.lock" "$ZERO $A foo/x" \
	"$ZERO $A refs/heads/.a" "$ZERO $A HEAD" "$ZERO $A refs/x" \
	"$ZERO $A refs/heads/../x" "$ZERO $A refs/heads/ok"
test_pair 'wrong old values' "$A $B refs/heads/main" \
	"$A $B refs/heads/nope" "$ZERO $A refs/heads/cur" \
	"$ZERO $A refs/heads/fine"
test_pair 'a missing object' "$ZERO $N refs/heads/m" "$ZERO $A refs/heads/k"
test_pair 'deletions of nothing' "$A $ZERO refs/heads/nope" \
	"$ZERO $ZERO refs/heads/nope2" "$A $ZERO refs/heads/cur"
test_pair 'a file in the way' "$ZERO $A refs/heads/main/x"
test_pair 'a tree as a branch' "$ZERO $T refs/heads/t" "$ZERO $T refs/tags/t"
test_pair 'denyDeletes' -c receive.denyDeletes=true \
	"$A $ZERO refs/heads/cur" "$A $ZERO refs/tags/v"
test_pair 'denyNonFastForwards' -c receive.denyNonFastForwards=true \
	"$A $B refs/heads/cur" "$B $A refs/heads/main"
test_pair 'bad values where only fast-forwards are allowed' \
	-c receive.denyNonFastForwards=true "$A $T refs/heads/cur"
test_pair 'deleting the current branch' "$B $ZERO refs/heads/main"
for deny in refuse ignore warn true false
do
	test_pair "denyDeleteCurrent $deny" \
		-c receive.denyDeleteCurrent=$deny "$B $ZERO refs/heads/main"
	test_pair "denyCurrentBranch $deny" -c core.bare=false \
		-c receive.denyCurrentBranch=$deny "$B $A refs/heads/main"
done
test_pair 'the current branch' -c core.bare=false "$B $A refs/heads/main"
test_pair 'another branch' -c core.bare=false "$A $B refs/heads/cur"
CAPS=atomic
test_pair 'atomic' "$B $A refs/heads/main" "$ZERO $A refs/heads/n"
test_pair 'atomic, a wrong old value' "$A $B refs/heads/main" \
	"$ZERO $A refs/heads/n"
test_pair 'atomic, a funny name' "$ZERO $A refs/heads/x.lock" \
	"$ZERO $A refs/heads/n"
test_pair 'atomic, a funny name at the end' "$ZERO $A refs/heads/n" \
	"$ZERO $A refs/heads/x.lock"
test_pair 'atomic that was not advertised' -c receive.advertiseAtomic=false \
	"$A $B refs/heads/main" "$ZERO $A refs/heads/n"
CAPS=

test_expect_success 'symbolic refs' '
	stock -C pair.git symbolic-ref refs/heads/sym refs/heads/main &&
	stock -C pair.git symbolic-ref refs/heads/dang refs/heads/nowhere
'
test_pair 'a symbolic ref' "$B $A refs/heads/sym"
test_pair 'a dangling one' "$ZERO $A refs/heads/dang"
test_pair 'a symbolic ref and its target' "$B $A refs/heads/main" \
	"$B $A refs/heads/sym"
test_pair 'a symbolic ref and its target, at odds' "$B $A refs/heads/main" \
	"$B $B refs/heads/sym"

test_expect_success 'symbolic refs that lead nowhere' '
	echo "ref: refs/../x" >pair.git/refs/heads/up &&
	echo "ref: refs/heads/up" >pair.git/refs/heads/upper &&
	echo "ref: refs/heads/loop" >pair.git/refs/heads/loop
'
for ref in up upper loop
do
	test_pair "deletion of $ref" "$ZERO $ZERO refs/heads/$ref"
	test_pair "deletion of $ref by its value" "$A $ZERO refs/heads/$ref"
	test_pair "a write to $ref" "$ZERO $A refs/heads/$ref"
done
test_pair 'other refs are pushed' "$ZERO $ZERO refs/heads/up" \
	"$B $A refs/heads/main" "$ZERO $ZERO refs/heads/loop"
test_expect_success 'a deletion of a ref that leads nowhere changes nothing' '
	raw_push "$ZERO $ZERO refs/heads/up" >in &&
	$OURS pair.git <in >out &&
	tr -d "\0" <out | grep "ng refs/heads/up broken symref" &&
	echo "ref: refs/../x" | test_cmp - pair.git/refs/heads/up
'

# ---- connectivity

test_expect_success 'a commit whose parent is missing is refused' '
	rm -rf server.git thin.git &&
	repo_init server.git &&
	stock -C client.git push -q ../server.git main~20:refs/heads/main &&
	repo_init thin.git &&
	stock -C client.git push -q ../thin.git main &&
	new=$(stock -C thin.git commit-tree -p main -m new "main^{tree}") &&
	stock -C thin.git update-ref refs/heads/new $new &&
	echo "$new" | stock -C thin.git pack-objects -q --stdout >new.pack &&
	{
		raw="$ZERO $new refs/heads/new" &&
		printf "%04x%s\\0report-status" $((${#raw} + 18)) "$raw" &&
		printf 0000 && cat new.pack
	} >in &&
	"$OURS" server.git <in >out 2>err &&
	grep -a "ng refs/heads/new missing necessary objects" out &&
	test_clean server.git &&
	test_must_fail stock -C server.git cat-file -e $new 2>/dev/null
'

test_expect_success 'a commit whose parent exists but is incomplete is refused' '
	# The parent exists, but its own parents and tree do not.
	parent=$(stock -C client.git rev-parse main) &&
	stock -C client.git cat-file commit $parent >body &&
	stock -C server.git hash-object -w -t commit --literally ../body &&
	"$OURS" server.git <in >out 2>err &&
	grep -a "ng refs/heads/new missing necessary objects" out &&
	# The commit-graph has a commit that was pruned.
	rm -rf graph.git &&
	stock clone -q --bare client.git graph.git &&
	stock -C graph.git commit-graph write --reachable &&
	stock -C graph.git update-ref refs/heads/main \
		$(stock -C client.git rev-parse main~20) &&
	stock -C graph.git for-each-ref --format="delete %(refname)" \
		refs/tags >del &&
	stock -C graph.git update-ref --stdin <del &&
	cp graph.git/objects/info/commit-graph saved &&
	stock -C graph.git reflog expire --expire=now --all &&
	stock -C graph.git repack -adq &&
	stock -C graph.git prune --expire=now &&
	cp -f saved graph.git/objects/info/commit-graph &&
	"$OURS" graph.git <in >out 2>err &&
	grep -a "ng refs/heads/new missing necessary objects" out &&
	test_clean graph.git
'

# lie <mode> <type> <id> <parent>: write to lie.in a push of refs/heads/lie. The tree of
# its commit has one entry with this mode and id. `liar.git` lacks the named object, so
# stock Git does not check the type.
lie () {
	tree=$(printf "$1 $2 $3\tlie\n" | stock -C liar.git mktree --missing) &&
	lie=$(printf "%s\n" "tree $tree" "parent $4" \
		"author A <a@b> 1 +0000" "committer A <a@b> 1 +0000" "" lie |
		stock -C liar.git hash-object -w -t commit --literally --stdin) &&
	printf "%s\n" $tree $lie >ids &&
	raw="$ZERO $lie refs/heads/lie" &&
	{
		printf "%04x%s\0report-status" $((${#raw} + 18)) "$raw" &&
		printf 0000 &&
		stock -C liar.git pack-objects -q --stdout <ids
	} >lie.in
}

test_expect_success 'a tree that names an object as another type is refused' '
	rm -rf lied.git liar.git &&
	repo_init liar.git &&
	stock clone -q --bare client.git lied.git &&
	root=$(stock -C lied.git rev-parse main^{tree}) &&
	tip=$(stock -C lied.git rev-parse main) &&
	blob=$(stock -C lied.git ls-tree -r main | sed -n "1s/.*blob \(.*\)	.*/\1/p") &&
	for limit in false true
	do
		stock -C lied.git config gitreach.reachableOnly $limit &&
		for unpack in 1 100
		do
			stock -C lied.git config receive.unpackLimit $unpack &&
			lie 100644 blob $root $tip &&
			"$OURS" lied.git <lie.in >out 2>err &&
			grep -a "ng refs/heads/lie missing necessary objects" out &&
			lie 100644 blob $tip $tip &&
			"$OURS" lied.git <lie.in >out 2>err &&
			grep -a "ng refs/heads/lie missing necessary objects" out &&
			lie 040000 tree $blob $tip &&
			"$OURS" lied.git <lie.in >out 2>err &&
			grep -a "ng refs/heads/lie missing necessary objects" out ||
				return 1
		done
	done &&
	stock -C lied.git repack -adq &&
	# The types are right.
	lie 100644 blob $blob $tip &&
	"$OURS" lied.git <lie.in >out 2>err &&
	grep -a "ok refs/heads/lie" out &&
	test_clean lied.git
'

# push_many <bad>...: push 60 new refs to graph.git. The refs with the numbers <bad>
# get ids of missing objects. Check that only these refs are refused.
push_many () {
	stock -C graph.git for-each-ref --format="delete %(refname)" \
		refs/many >del &&
	stock -C graph.git update-ref --stdin <del &&
	tip=$(stock -C graph.git rev-parse main) &&
	for i in $(seq 60)
	do
		raw="$ZERO $tip refs/many/$i"
		case " $* " in
		*" $i "*) raw="$ZERO 12345678$(printf %032d $i) refs/many/$i" ;;
		esac
		test $i = 1 && raw="$raw\\0report-status" || raw="$raw\\n"
		len=$(printf "$raw" | wc -c) &&
		printf "%04x$raw" $((len + 4)) || return 1
	done >many.in &&
	printf 0000 >>many.in &&
	stock -C graph.git pack-objects -q --stdout </dev/null >>many.in &&
	$TRACER "$OURS" graph.git <many.in >out 2>err &&
	for i
	do
		grep -a "ng refs/many/$i missing necessary objects" out || return 1
	done &&
	test $(grep -ac "ok refs/many/" out) = $((60 - $#)) &&
	test $(stock -C graph.git for-each-ref refs/many | wc -l) = $((60 - $#))
}

test_expect_success 'only the commands that need missing objects are refused' '
	push_many &&
	push_many 1 &&
	push_many 60 &&
	push_many 7 30 31 &&
	push_many $(seq 60)
'

test_expect_success STRACE 'one bad command among many needs only a few checks' '
	TRACER="strace -f -e trace=openat -o log" push_many 25 &&
	test $(grep -c "/commit-graph\".* = [0-9]" log) -lt 20
'

test_expect_success 'an unreachable but complete parent is accepted' '
	stock -C client.git push -q ../server.git main:refs/heads/x &&
	stock -C server.git update-ref -d refs/heads/x &&
	"$OURS" server.git <in >out 2>err &&
	grep -a "ok refs/heads/new" out &&
	stock -C server.git fsck --full --strict
'

test_expect_success '--skip-connectivity-check accepts a missing parent' '
	rm -rf server.git &&
	repo_init server.git &&
	"$OURS" --skip-connectivity-check server.git <in >out 2>err &&
	grep -a "ok refs/heads/new" out
'

# ---- shallow clients

test_expect_success 'a push out of a shallow repository' '
	rm -rf server.git shallow &&
	repo_init server.git &&
	stock clone -q --depth=3 "file://$PWD/client.git" shallow &&
	test_must_fail stock -C shallow push --receive-pack="$OURS" \
		../server.git main 2>err &&
	grep "shallow update not allowed" err &&
	test_clean server.git &&
	stock -C client.git push -q ../server.git main:refs/heads/base &&
	test_tick &&
	stock -C shallow commit -q --allow-empty -m new &&
	CLIENT=shallow push_ours -q ../server.git main &&
	test_pushed server.git shallow main main &&
	! test -e server.git/shallow
'

test_expect_success 'receive.shallowUpdate' '
	rm -rf server.git &&
	repo_init server.git &&
	stock -C server.git config receive.shallowUpdate true &&
	CLIENT=shallow push_ours -q ../server.git main &&
	test_pushed server.git shallow main main &&
	sort shallow/.git/shallow >expect &&
	sort server.git/shallow >actual &&
	test_cmp expect actual
'

# The shallow clone sends the tip of `main` again, because the server advertises
# a later commit only. The other boundary commit, $end, is new to the server.
test_expect_success 'a shallow push does not hide history of the server' '
	rm -rf two other server.git &&
	stock clone -q --depth=1 "file://$PWD/client.git" two &&
	stock init -q other &&
	for i in 1 2
	do
		stock -C other commit -q --allow-empty -m $i || return
	done &&
	stock -C two fetch -q --depth=1 "file://$PWD/other" HEAD &&
	end=$(stock -C two rev-parse FETCH_HEAD) &&
	stock -C two merge -q --allow-unrelated-histories -m two $end &&
	for head in main elsewhere
	do
		rm -rf server.git &&
		repo_init server.git &&
		stock -C server.git config receive.shallowUpdate true &&
		stock -C client.git push -q ../server.git main:refs/heads/tmp &&
		later=$(stock -C server.git commit-tree -p tmp -m later \
			"tmp^{tree}") &&
		stock -C server.git update-ref refs/heads/main $later &&
		stock -C server.git update-ref -d refs/heads/tmp &&
		stock -C server.git symbolic-ref HEAD refs/heads/$head &&
		nr=$(stock -C server.git rev-list --count main) &&
		CLIENT=two push_ours -q ../server.git main:two &&
		test_pushed server.git two main two &&
		test "$(cat server.git/shallow)" = $end &&
		test $(stock -C server.git rev-list --count main) = $nr ||
		return
	done
'

test_expect_success 'an atomic push gives the reason for a wrong value' '
	rm -rf server.git &&
	repo_init server.git &&
	tree=$(stock -C client.git rev-parse "main^{tree}") &&
	test_must_fail push_ours --atomic ../server.git $tree:refs/heads/t \
		main:refs/heads/n 2>err &&
	grep " t (invalid new value provided)" err &&
	grep " n (atomic push failure)" err
'

# The words are those of Git 2.55.
test_expect_success 'a ref that another process creates or locks during a push' '
	rm -rf server.git && repo_init server.git &&
	stock -C client.git push -q ../server.git main:refs/heads/main &&
	for change in "git update-ref refs/heads/new main" \
		": >refs/heads/new.lock"
	do
		printf "#!/bin/sh\n$change\n" >server.git/hooks/update &&
		chmod +x server.git/hooks/update &&
		test_must_fail push_ours ../server.git main:refs/heads/new \
			main:refs/heads/other 2>err &&
		grep "! \[remote rejected\] main -> new (reference already exists)" err &&
		grep "main -> other" err &&
		stock -C server.git update-ref -d refs/heads/other &&
		rm -f server.git/refs/heads/new || return 1
	done
'

# ---- configuration

test_expect_success 'receive.updateServerInfo' '
	rm -rf server.git &&
	repo_init server.git &&
	stock -C server.git config receive.updateServerInfo true &&
	push_ours -q ../server.git main &&
	stock -C server.git rev-parse main >expect &&
	cut -f1 server.git/info/refs >actual &&
	test_cmp expect actual
'

test_expect_success 'receive.updateServerInfo with a broken ref' '
	cp server.git/info/refs before &&
	echo garbage >server.git/refs/heads/broken &&
	push_ours ../server.git main:refs/heads/second 2>err &&
	grep "^remote: error: unable to update info/refs: a ref is broken" err &&
	grep "^error: unable to update info/refs: a ref is broken" err &&
	stock -C server.git rev-parse --verify refs/heads/second &&
	test_cmp before server.git/info/refs
'

test_expect_success 'a repository with a work tree keeps reflogs' '
	rm -rf work &&
	stock init -q work &&
	stock -C client.git push -q --receive-pack="$OURS" ../work \
		main:refs/heads/other &&
	stock -C work reflog other >log &&
	grep "push" log &&
	test_line_count 1 log
'

test_expect_success 'wrong settings of index-pack are an error only if a pack is sent' '
	rm -rf server.git && stock clone -q --bare client.git server.git &&
	tip=$(stock -C server.git rev-parse main) &&
	new=$(stock -C client.git commit-tree -p main -m new "main^{tree}") &&
	echo "$new" | stock -C client.git pack-objects -q --stdout >new.pack &&
	raw="$ZERO $new refs/heads/new" &&
	{
		printf "%04x%s\\0report-status" $((${#raw} + 18)) "$raw" &&
		printf 0000 && cat new.pack
	} >in &&
	for key in core.deltaBaseCacheLimit pack.threads
	do
		"$GIT" -c $key=x receive-pack --advertise-refs server.git >out &&
		"$GIT" -c $key=x receive-pack server.git <in >out 2>err &&
		grep -a "unpack bad numeric config value .x." out &&
		test_must_fail stock -C server.git rev-parse -q --verify new ||
		return 1
	done &&
	"$GIT" -c core.deltaBaseCacheLimit=1 receive-pack server.git <in >out &&
	grep -a "unpack ok" out
'

test_done
