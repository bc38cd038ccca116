#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='stock clients clone in part from our upload-pack'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"

UP=--upload-pack=$GITREACH_BUILD/bin/git-upload-pack

test_expect_success 'setup' '
	stock init -q work &&
	(
		cd work &&
		mkdir -p a/b &&
		for i in 1 2 3 4 5 6
		do
			echo $i >a/b/f$i && echo $i >>a/g &&
			seq $((500 * i)) >big && stock add . &&
			test_tick && stock commit -qm $i || exit 1
		done &&
		stock tag -am v1 v1 HEAD~2 &&
		stock branch side HEAD~3
	) &&
	stock clone -q --bare work server.git &&
	stock -C server.git config uploadpack.allowFilter true &&
	stock -C server.git config uploadpack.allowAnySHA1InWant true &&
	git -C server.git repack -adbq &&
	stock clone -q --bare --no-local work loose.git &&
	stock -C loose.git config uploadpack.allowFilter true &&
	stock -C loose.git config uploadpack.allowAnySHA1InWant true
'

# missing <clone>: types of objects that it does without
missing () {
	stock -C "$1" rev-list --objects --all --missing=print |
		sed -n "s/^?//p" | stock -C work cat-file \
		--batch-check="%(objecttype)" | sort | uniq -c |
		tr -s " " | tr "\n" ";"
}

# partial <clone>: it is sound, can be read all through, and then is whole.
whole_later () {
	stock -C "$1" config --get remote.origin.partialclonefilter &&
	stock -C "$1" fsck &&
	stock -C "$1" config remote.origin.uploadpack \
		"$GITREACH_BUILD/bin/git-upload-pack" &&
	stock -C "$1" log -p --all >log.actual &&
	stock -C work log -p --all >log.expect &&
	sed "s/ (.*)//" log.expect >e && sed "s/ (.*)//" log.actual >a &&
	test_cmp e a && rm e a &&
	stock -C "$1" fsck
}

for v in 0 2
do
	for server in server loose
	do
		for f in blob:none blob:limit=100 tree:0 tree:1 tree:2 \
			combine:tree:2+blob:none
		do
			test_expect_success "$f of $server, protocol v$v" '
				rm -rf ours stocks &&
				stock_client -v$v clone -q -n --bare \
					--filter=$f "$UP" \
					"file://$PWD/$server.git" ours &&
				test_served_by_us &&
				stock -c protocol.version=$v clone -q -n \
					--bare --filter=$f \
					"file://$PWD/$server.git" stocks &&
				case $f in
				combine*) ;;
				*)
					missing stocks >expect &&
					missing ours >actual &&
					test_cmp expect actual
					;;
				esac &&
				test -n "$(missing ours)" &&
				whole_later ours
			'
		done
	done
done

test_expect_success 'checkout fetches missing blobs, and fetch new commits' '
	rm -rf ours &&
	stock clone -q --filter=blob:none "$UP" "file://$PWD/server.git" ours &&
	test_cmp work/big ours/big &&
	(
		cd work && echo more >a/new && stock add . && test_tick &&
		stock commit -qm new && stock push -q ../server.git HEAD
	) &&
	stock -C ours fetch -q "$UP" origin &&
	stock -C ours rev-parse FETCH_HEAD &&
	stock -C ours config remote.origin.uploadpack \
		"$GITREACH_BUILD/bin/git-upload-pack" &&
	stock -C ours reset -q --hard origin/HEAD &&
	test_cmp work/a/new ours/a/new &&
	stock -C ours fsck
'

test_expect_success 'shallow and partial' '
	rm -rf ours &&
	stock clone -q --depth 2 --filter=blob:none "$UP" \
		"file://$PWD/server.git" ours &&
	test "$(stock -C ours rev-list --count HEAD)" = 2 &&
	test_cmp work/big ours/big
'

test_expect_success 'prune and gc keep the boundary of a shallow partial clone' '
	test -s ours/.git/shallow &&
	cp ours/.git/shallow expect &&
	"$GIT" -C ours prune &&
	test_cmp expect ours/.git/shallow &&
	"$GIT" -C ours gc -q --prune=now &&
	test_cmp expect ours/.git/shallow &&
	test "$(stock -C ours rev-list --count HEAD)" = 2
'

test_expect_success 'not offered, not taken' '
	stock -C loose.git config uploadpack.allowFilter false &&
	rm -rf ours &&
	stock clone -q --bare --filter=blob:none "$UP" \
		"file://$PWD/loose.git" ours 2>err &&
	grep "filtering not recognized by server" err &&
	stock -C loose.git config uploadpack.allowFilter true
'

# A fetch of main in protocol v2, through filters.
ask () {
	main=$(stock -C server.git rev-parse main) &&
	{
		pkt command=fetch object-format=sha1 D "want $main"
		for f in "$@"
		do
			pkt "filter $f"
		done
		pkt done F
	} | GIT_PROTOCOL=version=2 git upload-pack --stateless-rpc server.git \
		>answer 2>err
}

test_expect_success 'filters that are not allowed' '
	git -C server.git config uploadpackfilter.blob:none.allow false &&
	git -C server.git config uploadpackfilter.tree.maxDepth 2 &&
	test_must_fail ask blob:none &&
	grep -a "ERR filter .blob:none. not supported" answer &&
	test_must_fail ask combine:tree:1+blob:none &&
	grep -a "ERR filter .blob:none. not supported" answer &&
	test_must_fail ask tree:3 &&
	grep -a "ERR tree filter allows max depth 2, but got 3" answer &&
	ask tree:2 && ask blob:limit=1 &&
	git -C server.git config uploadpackfilter.allow false &&
	ask tree:1 &&
	test_must_fail ask blob:limit=1 &&
	grep -a "ERR filter .blob:limit. not supported" answer &&
	git -C server.git config uploadpackfilter.tree.allow false &&
	test_must_fail ask tree:1 &&
	git -C server.git config uploadpackfilter.tree.allow true &&
	test_must_fail ask combine:tree:1 &&
	grep -a "ERR filter .combine. not supported" answer &&
	git -C server.git config --remove-section uploadpackfilter &&
	git -C server.git config --remove-section uploadpackfilter.tree &&
	git -C server.git config --remove-section uploadpackfilter.blob:none &&
	ask blob:none
'

test_expect_success 'malformed filters' '
	test_must_fail ask foo && grep -a "ERR invalid filter-spec" answer &&
	test_must_fail ask tree:1 tree:2 &&
	grep -a "ERR multiple filter-specs cannot be combined" answer &&
	test_must_fail ask sparse:oid=nope &&
	grep -a "ERR unable to access sparse blob" answer
'

# A lazy fetch names trees and blobs, and its filter applies to all others.
for server in server loose
do
	for f in blob:none tree:0 sparse:oid=main:big combine:blob:none+tree:1
	do
		test_expect_success "$f of $server spares blobs in wanted trees" '
			rm -rf treeless &&
			stock clone -q --bare --single-branch --no-tags \
				--filter=tree:0 "file://$PWD/$server.git" \
				treeless &&
			stock -C $server.git ls-tree -r -t --object-only main \
				>wanted &&
			stock -C $server.git rev-parse "main^{tree}" >>wanted &&
			stock_client -C treeless \
				-c fetch.negotiationAlgorithm=noop fetch -q \
				"$UP" origin --no-tags --no-write-fetch-head \
				--recurse-submodules=no --filter=$f --stdin \
				<wanted &&
			test_served_by_us &&
			GIT_NO_LAZY_FETCH=1 stock -C treeless cat-file \
				--batch-check <wanted >got &&
			! grep missing got &&
			test $(wc -l <got) = $(wc -l <wanted)
		'
	done
done

test_expect_success 'a hook gets the filter' '
	cat >hook <<-\EOF &&
	#!/bin/sh
	echo "$*" >"$HOOK_ARGS"
	exec "$@"
	EOF
	chmod +x hook &&
	HOOK_ARGS=$PWD/hook.args &&
	export HOOK_ARGS &&
	stock config --global uploadpack.packObjectsHook "\"$PWD/hook\"" &&
	rm -rf ours &&
	stock clone -q --bare --filter=blob:limit=1k "$UP" \
		"file://$PWD/server.git" ours &&
	grep -e "--filter=blob:limit=1024" hook.args &&
	stock config --global --unset uploadpack.packObjectsHook
'

test_done
