#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='pushes into local copies of a repository in a store

Two nodes, one and two, have a cache each. Clients are stock Git.'
. "$(dirname "$0")/lib.sh"

store=file://$PWD/store name=team/src.git
one=$PWD/one/repo/$name/_ two=$PWD/two/repo/$name/_

# push_refs <copy> <refspec>...
push_refs () {
	push_to=$1 && shift &&
	(cd work && stock push --receive-pack="$GITREACH_SRC/git-receive-pack" \
		$push_options "$push_to" "$@") >out 2>err
}

# commit <branch>: add a commit to a branch of the repository work.
commit () {
	(
		cd work &&
		{ stock checkout -q "$1" 2>/dev/null ||
			stock checkout -q -b "$1"; } &&
		echo "$1 $commit_nr" >"$1" && stock add . &&
		stock commit -qm "$1 $commit_nr"
	) && commit_nr=$((commit_nr + 1))
}

# has <ref> <revision>: the ref has this value in the store, and the generation
# is sound.
has () {
	rm -rf exported.git &&
	git store export "$store" $name exported.git &&
	stock -C exported.git fsck --full --strict >fsck 2>&1 &&
	if test -z "$2"
	then
		test_must_fail stock -C exported.git rev-parse -q --verify $1
	else
		test "$(stock -C exported.git rev-parse $1)" = \
			"$(stock -C work rev-parse $2)"
	fi
}

# request_without_parent: make the file "request", a push of main of the repository
# work whose pack lacks the commit $parent. The store has main~2.
request_without_parent () {
	new=$(stock -C work rev-parse main) &&
	parent=$(stock -C work rev-parse main~1) &&
	printf "%s\n^%s\n" $new $parent >revs &&
	stock -C work pack-objects --revs --stdout <revs >pack 2>/dev/null &&
	{
		printf "%s %s refs/heads/main\0 report-status agent=test" \
			$(stock -C work rev-parse main~2) $new >line &&
		printf "%04x" $(($(wc -c <line) + 4)) && cat line &&
		printf 0000 && cat pack
	} >request
}

test_expect_success 'setup: two nodes' '
	commit_nr=1 push_options= &&
	stock init -q work && stock -C work checkout -q -b main &&
	commit main && commit main &&
	stock clone -q --bare work src.git &&
	mkdir -p src.git/hooks &&
	for hook in pre-receive update post-receive reference-transaction
	do
		cat >src.git/hooks/$hook <<-EOH &&
		#!/bin/sh
		test -z "\$HOOKS" || test ! -x "\$HOOKS/$hook" ||
			exec "\$HOOKS/$hook" "\$@"
		EOH
		chmod +x src.git/hooks/$hook || return 1
	done &&
	git store import --name=$name src.git "$store" &&
	git store fetch --cache=one "$store" &&
	git store fetch --cache=two "$store" &&
	HOOKS=$PWD/hooks && export HOOKS GIT && mkdir hooks
'

test_expect_success 'a new branch, an update, a deletion' '
	commit main && commit side &&
	push_refs "$one" main side &&
	has main main && has side side &&
	commit main &&
	push_refs "$two" main :side &&
	has main main && has refs/heads/side "" &&
	git store log "$store" $name >log &&
	grep "push by" log >pushes && test_line_count 3 pushes
'

test_expect_success 'tags, and a copy that peels them' '
	stock -C work tag -a -m tag v1 main &&
	push_refs "$one" v1 && has v1 v1 &&
	"$GIT" -C "$one" show-ref -d >refs &&
	grep "^$(stock -C work rev-parse main) refs/tags/v1^{}$" refs
'

test_expect_success 'a fetch from the other node sees the push' '
	git store fetch --cache=two "$store" $name &&
	git clone -q --bare "$two" cloned.git 2>err ||
	stock clone -q --bare --upload-pack="$GITREACH_SRC/git-upload-pack" \
		"file://$two" cloned.git &&
	test "$(stock -C cloned.git rev-parse v1^0)" = \
		"$(stock -C work rev-parse main)"
'

test_expect_success 'small pushes stay packs, and nothing else is left' '
	commit main && push_refs "$one" main &&
	find "$one/objects" -type f | grep -v "/pack/pack-" >loose;
	test_must_be_empty loose &&
	find "$one" -name "tmp_*" -o -name "*.keep" -o -name "*.lock" >left &&
	test_must_be_empty left &&
	test_must_fail test -e "$one/logs"
'

test_expect_success 'a refused push leaves nothing in the copy' '
	git store list "$store" >before && cp "$one/store-copy" marker &&
	(cd "$one" && find objects reftable -type f | sort) >before &&
	commit main &&
	printf "#!/bin/sh\necho no >&2\nexit 1\n" >hooks/pre-receive &&
	chmod +x hooks/pre-receive &&
	test_must_fail push_refs "$one" main &&
	grep "pre-receive hook declined" err &&
	mv hooks/pre-receive hooks/update &&
	test_must_fail push_refs "$one" main &&
	grep "hook declined" err &&
	cat >hooks/reference-transaction <<-\EOH &&
	#!/bin/sh
	test "$1" != prepared
	EOH
	mv hooks/update hooks/off && chmod +x hooks/reference-transaction &&
	test_must_fail push_refs "$one" main &&
	grep "remote rejected" err &&
	rm -rf hooks/reference-transaction &&
	(cd "$one" && find objects reftable -type f | sort) >after &&
	test_cmp before after && cmp marker "$one/store-copy" &&
	has refs/heads/main main~1
'

test_expect_success 'the rest of a refused push is not enough for the next one' '
	commit main && request_without_parent &&
	"$GITREACH_SRC/git-receive-pack" --stateless-rpc "$one" <request >out &&
	grep -a "ng refs/heads/main missing necessary objects" out &&
	push_refs "$one" main && has main main
'

# The store has main~2 as main.
test_expect_success 'objects that others write into a copy are not trusted' '
	commit main && commit main && request_without_parent &&
	for kind in loose pack alternates
	do
		case $kind in
		loose)
			cp -R work/.git/objects/[0-9a-f][0-9a-f] "$one/objects" ;;
		pack)
			stock -C work rev-list --objects main~1 ^main~2 |
				sed "s/ .*//" | stock -C work pack-objects -q \
				"$one/objects/pack/pack" ;;
		alternates)
			mkdir -p "$one/objects/info" &&
			(cd work/.git/objects && pwd) \
				>"$one/objects/info/alternates" ;;
		esac >/dev/null &&
		"$GIT" -C "$one" cat-file -e $parent &&
		"$GITREACH_SRC/git-receive-pack" --stateless-rpc "$one" \
			<request >out &&
		grep -a "ng refs/heads/main missing necessary objects" out &&
		test_must_fail "$GIT" -C "$one" cat-file -e $parent || return 1
	done &&
	find "$one/objects" -type f | grep -v "/pack/pack-" >left;
	test_must_be_empty left && "$GIT" -C "$one" fsck --full &&
	has main main~2
'

test_expect_success 'objects that others write during a push are not trusted' '
	: >advertised &&
	{
		until test -s advertised
		do
			sleep 0.1
		done &&
		cp -R work/.git/objects/[0-9a-f][0-9a-f] "$one/objects" &&
		cat request
	} | "$GITREACH_SRC/git-receive-pack" "$one" >advertised &&
	grep -a "ng refs/heads/main missing necessary objects" advertised &&
	push_refs "$one" main && has main main
'

test_expect_success 'the hooks update and reference-transaction see the objects' '
	commit main &&
	cat >hooks/update <<-\EOH &&
	#!/bin/sh
	"$GIT" cat-file commit $3 >"$HOOKS/seen"
	EOH
	cat >hooks/reference-transaction <<-\EOH &&
	#!/bin/sh
	echo $1 >>"$HOOKS/states" && cat >>"$HOOKS/states"
	EOH
	cat >hooks/post-receive <<-\EOH &&
	#!/bin/sh
	while read old new ref
	do
		"$GIT" rev-parse $ref && "$GIT" cat-file -t $new
	done >"$HOOKS/post"
	EOH
	chmod +x hooks/* && push_refs "$one" main &&
	stock -C work cat-file commit main >expect && test_cmp expect hooks/seen &&
	line="$(stock -C work rev-parse main~1 main | tr "\n" " ")refs/heads/main" &&
	printf "%s\n" preparing "$line" prepared "$line" committed "$line" >expect &&
	test_cmp expect hooks/states &&
	{ stock -C work rev-parse main && echo commit; } >expect &&
	test_cmp expect hooks/post &&
	rm -f hooks/*
'

test_expect_success 'the hooks after a push see the objects if the copy is behind' '
	commit main &&
	cat >hooks/reference-transaction <<-\EOH &&
	#!/bin/sh
	test "$1" != prepared || mkdir store-scratch
	EOH
	cat >hooks/post-receive <<-\EOH &&
	#!/bin/sh
	while read old new ref
	do
		"$GIT" cat-file -t $new
	done >"$HOOKS/post"
	EOH
	chmod +x hooks/* && push_refs "$one" main &&
	grep "the local copy was not updated" err &&
	test_must_fail "$GIT" -C "$one" cat-file -e $(stock -C work rev-parse main) &&
	echo commit >expect && test_cmp expect hooks/post &&
	rm -f hooks/* && rmdir "$one/store-scratch" &&
	find "$one" -name "tmp_*" >left && test_must_be_empty left &&
	has main main
'

test_expect_success 'refused: not a fast-forward, and wrong old values' '
	stock -C work checkout -q -B rewound main~1 &&
	test_must_fail push_refs "$one" rewound:main &&
	grep "non-fast-forward" err &&
	push_refs "$one" +rewound:main && has main rewound &&
	push_refs "$two" +main && has main main
'

# race <copy> <refspec>...: the pre-receive hook of the next push makes another push.
race () {
	race_copy=$1 && shift &&
	cat >hooks/pre-receive <<-EOH &&
	#!/bin/sh
	rm -f "\$HOOKS/pre-receive"
	unset \$(env | sed -n "s/^\(GIT_[A-Z_]*\)=.*/\1/p" | grep -v GIT_CONFIG)
	cd "$PWD/work" && PATH="$STOCK_PATH" "$STOCK_GIT" push -q \
		--receive-pack="$GITREACH_SRC/git-receive-pack" "$race_copy" $*
	EOH
	chmod +x hooks/pre-receive
}

test_expect_success 'a race of two nodes for different refs: both succeed' '
	commit main && commit other &&
	race "$two" other &&
	push_refs "$one" main && has main main && has other other
'

test_expect_success 'a race for one ref: one is refused, and told why' '
	commit main && stock -C work branch -f mine main &&
	stock -C work checkout -q -B theirs main~1 && commit theirs &&
	race "$two" theirs:main &&
	test_must_fail push_refs "$one" mine:main mine:refs/heads/mine &&
	grep "remote: error: ref .refs/heads/main. was changed by another writer" \
		err &&
	grep "remote rejected.* mine -> main (incorrect old value provided)" err &&
	grep "new branch.* mine -> mine" err &&
	has main theirs && has mine mine
'

test_expect_success 'an atomic push is all or nothing' '
	stock -C work checkout -q main && stock -C work reset -q --hard theirs &&
	commit main && commit more &&
	race "$two" theirs~1:refs/heads/late &&
	push_options=--atomic &&
	push_refs "$one" main more && has main main && has more more &&
	commit main && commit more &&
	race "$two" +main:refs/heads/more &&
	test_must_fail push_refs "$one" main more:more &&
	grep "atomic" err && has main main~1 &&
	push_options=
'

test_expect_success 'names in each others way' '
	race "$two" main:refs/heads/dir/a &&
	test_must_fail push_refs "$one" main:refs/heads/dir &&
	grep "cannot be created: its name conflicts" err &&
	push_refs "$one" :dir/a main:dir && has dir main &&
	has refs/heads/dir/a ""
'

test_expect_success 'a push that needs a shallow boundary is refused' '
	stock init -q far && stock -C far commit -q --allow-empty -m 1 &&
	stock -C far commit -q --allow-empty -m 2 &&
	stock clone -q --depth 1 "file://$PWD/far" shallow &&
	(cd shallow && test_must_fail stock push \
		--receive-pack="$GITREACH_SRC/git-receive-pack" "$one" \
		HEAD:refs/heads/shallow) 2>err &&
	grep "shallow update not allowed" err &&
	has refs/heads/shallow ""
'

test_expect_success 'commands that would change a copy are refused' '
	for command in gc "repack -ad" prune "maintenance run" pack-refs \
		"update-ref refs/heads/x main" "update-ref -d refs/heads/main" \
		"symbolic-ref HEAD refs/heads/side" "commit-graph write" \
		"multi-pack-index write" prune-packed \
		"refs migrate --ref-format=files"
	do
		test_must_fail "$GIT" -C "$one" $command >out 2>err ||
			return 1
		grep "this is a local copy of a repository in a store" err || {
			echo "$command" >&2
			cat err >&2
			return 1
		}
	done &&
	test_must_fail "$GIT" -C "$one" index-pack --stdin <pack 2>err &&
	grep "this is a local copy" err &&
	test_must_fail "$GIT" -C "$one" unpack-objects <pack 2>err &&
	grep "this is a local copy" err &&
	echo new >new &&
	test_must_fail "$GIT" -C "$one" hash-object -w --stdin <new 2>err &&
	grep "this is a local copy" err &&
	"$GIT" -C "$one" hash-object --stdin <new &&
	has main main~1
'

test_expect_success 'a push uses the configuration of the newest generation' '
	stock -C src.git branch side main &&
	git store import --name=conf src.git "$store" &&
	git store fetch --cache=one "$store" conf &&
	stock -C src.git config receive.denyDeletes true &&
	git store import --force --name=conf src.git "$store" &&
	test_must_fail push_refs "$PWD/one/repo/conf/_" :side &&
	grep "remote rejected.*deletion prohibited" err &&
	stock -C src.git config --unset receive.denyDeletes &&
	git store import --force --name=conf src.git "$store" &&
	push_refs "$PWD/one/repo/conf/_" :side
'

test_expect_success 'an ssh client sees no names of machines' '
	mv store away && : >store &&
	test_must_fail push_refs "$one" main:refs/heads/x && cat err &&
	grep "$PWD/store" err &&
	(
		SSH_CONNECTION="127.0.0.1 1 127.0.0.1 2" &&
		GIT_TRACE2_EVENT="$PWD/trace" &&
		export SSH_CONNECTION GIT_TRACE2_EVENT &&
		test_must_fail push_refs "$one" main:refs/heads/x
	) &&
	cat err && rm store && mv away store &&
	grep "cannot be brought up to date; try again later" err &&
	test_must_fail grep "$PWD/store" err &&
	grep "\"error\".*$PWD/store" trace
'

test_expect_success 'verify is clean, and no file is locked' '
	git store verify --full "$store" >out 2>err && test_must_be_empty err &&
	"$GIT" -C "$one" fsck --full &&
	find one two -name "*.lock" >left && test_must_be_empty left
'

test_done
