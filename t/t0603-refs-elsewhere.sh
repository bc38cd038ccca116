#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='refs are stored in the directory that GIT_REFERENCE_BACKEND names

or that a URI in extensions.refStorage names. The expected places of the files are
those of Git 2.55, which finds all these files with the same commands.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-fault.sh"

# List the files of the directory $1 that hold refs or reflogs.
refs_files () {
	(cd "$1" && find . -path ./.git/objects -prune -o -type f -print |
		grep -e HEAD -e refs/ -e logs/ -e packed-refs | LC_ALL=C sort)
}

test_expect_success 'a repository with a work tree' '
	stock init -q r && stock -C r commit -q --allow-empty -m one &&
	ONE=$(stock -C r rev-parse HEAD) &&
	stock -C r worktree add -q ../wt 2>/dev/null &&
	refs_files r >before &&
	stock -C r for-each-ref >refs.before
'

main_is_untouched () {
	refs_files r >after && test_cmp before after &&
	stock -C r for-each-ref >refs.after && test_cmp refs.before refs.after
}

via () {
	uri=$1 && shift &&
	GIT_REFERENCE_BACKEND="$uri" "$GIT" "$@"
}

test_expect_success 'files:// writes refs to the named directory' '
	ext="files://$PWD/ext" &&
	via "$ext" -C r update-ref --create-reflog refs/heads/new $ONE &&
	via "$ext" -C r symbolic-ref HEAD refs/heads/new &&
	via "$ext" -C r update-ref refs/bisect/c $ONE &&
	via "$ext" -C wt update-ref refs/bisect/b $ONE &&
	via "$ext" -C wt update-ref --no-deref HEAD $ONE &&
	via "$ext" -C r update-ref worktrees/wt/FOO_HEAD $ONE &&
	via "$ext" -C wt update-ref main-worktree/ORIG_HEAD $ONE &&
	cat >expect <<-\EOE &&
	./HEAD
	./ORIG_HEAD
	./logs/HEAD
	./logs/refs/heads/new
	./refs/bisect/c
	./refs/heads/new
	./worktrees/wt/FOO_HEAD
	./worktrees/wt/HEAD
	./worktrees/wt/logs/HEAD
	./worktrees/wt/refs/bisect/b
	EOE
	refs_files ext | grep -v "logs/HEAD" >actual &&
	grep -v "logs/HEAD" expect >expect2 && test_cmp expect2 actual &&
	main_is_untouched
'

test_expect_success 'files:// reads refs from the named directory' '
	echo "$ONE commit	refs/bisect/c" >expect &&
	echo "$ONE commit	refs/heads/new" >>expect &&
	via "$ext" -C r for-each-ref >actual && test_cmp expect actual &&
	test $(via "$ext" -C r symbolic-ref HEAD) = refs/heads/new &&
	test $(via "$ext" -C r rev-parse HEAD) = $ONE &&
	test $(via "$ext" -C wt rev-parse worktrees/wt/FOO_HEAD) = $ONE &&
	via "$ext" -C r reflog list >logs && grep refs/heads/new logs &&
	git -C r for-each-ref >actual && test_cmp refs.before actual
'

test_expect_success 'files:// packs and deletes refs in the named directory' '
	via "$ext" -C r pack-refs --all &&
	grep "$ONE refs/heads/new" ext/packed-refs &&
	! test -e r/.git/packed-refs &&
	via "$ext" -C r update-ref -d refs/heads/new &&
	! grep refs/heads/new ext/packed-refs &&
	main_is_untouched
'

test_expect_success 'a relative path starts in the common directory' '
	via files://rel -C r update-ref refs/heads/new $ONE &&
	via files://rel -C wt update-ref refs/bisect/b $ONE &&
	test $(cat r/.git/rel/refs/heads/new) = $ONE &&
	test $(cat r/.git/rel/worktrees/wt/refs/bisect/b) = $ONE &&
	rm -r r/.git/rel && main_is_untouched
'

test_expect_success 'reftable:// writes tables to the named directory' '
	mkdir -p tables/reftable &&
	via "reftable://$PWD/tables" -C r update-ref refs/heads/rt $ONE &&
	test -s tables/reftable/tables.list &&
	test $(via "reftable://$PWD/tables" -C r rev-parse refs/heads/rt) = \
		$ONE &&
	test $(via "reftable://$PWD/tables" -C r rev-parse --show-ref-format) = \
		reftable &&
	test_must_fail git -C r rev-parse -q --verify refs/heads/rt &&
	main_is_untouched
'

test_expect_success 'a name without path only chooses the format' '
	for uri in files files://
	do
		via $uri -C r for-each-ref >actual &&
		test_cmp refs.before actual || return 1
	done
'

test_expect_success 'an unknown format is refused' '
	for uri in bogus bogus:///x files:/x "" :///x
	do
		test_expect_code 128 env GIT_REFERENCE_BACKEND="$uri" \
			git -C r update-ref refs/heads/x $ONE 2>err &&
		grep "^fatal: unknown ref storage format: " err || return 1
	done &&
	main_is_untouched
'

test_expect_success 'extensions.refStorage names the directory' '
	git init -q q && stock -C q commit -q --allow-empty -m one &&
	ONE=$(stock -C q rev-parse HEAD) &&
	git -C q config core.repositoryFormatVersion 1 &&
	git -C q config extensions.refStorage "files://$PWD/conf" &&
	refs_files q >before.q &&
	git -C q update-ref refs/heads/new $ONE &&
	test $(cat conf/refs/heads/new) = $ONE &&
	refs_files q >after.q && test_cmp before.q after.q &&
	GIT_REFERENCE_BACKEND=files git -C q for-each-ref >actual &&
	! grep refs/heads/new actual
'

test_expect_success 'servers ignore GIT_REFERENCE_BACKEND' '
	via "$ext" upload-pack --http-backend-info-refs r >out &&
	grep -a refs/heads/wt out && ! grep -a refs/heads/new out &&
	git upload-pack --http-backend-info-refs q >out &&
	grep -a "$ONE refs/heads/new" out
'

test_expect_success 'a path whose directory is missing is refused' '
	for uri in "files://$PWD/no/where" reftable://no/where
	do
		test_expect_code 128 env GIT_REFERENCE_BACKEND="$uri" \
			git -C r update-ref refs/heads/x $ONE 2>err &&
		grep "^fatal: Invalid path .*/no.: " err || return 1
	done &&
	! test -e no && ! test -e r/.git/no && main_is_untouched
'

test_expect_success 'git init again keeps the directory' '
	cp q/.git/config config.before &&
	git init -q q &&
	stock config -f q/.git/config extensions.refStorage >actual &&
	echo "files://$PWD/conf" >expect && test_cmp expect actual &&
	refs_files q >after.q && test_cmp before.q after.q &&
	test $(git -C q rev-parse refs/heads/new) = $ONE &&
	GIT_REFERENCE_BACKEND=files://$PWD/conf test_expect_code 128 \
		git_alone init fresh && ! test -e fresh
'

fresh () {
	rm -rf tried && cp -R q tried && rm -rf faulty
}

main_stays () {
	refs_files tried >after.q && test_cmp before.q after.q &&
	fault_exited "$1" &&
	if test -e faulty/refs/heads/new
	then
		test $(cat faulty/refs/heads/new) = $ONE
	fi
}

for mode in kill ENOSPC
do
	test_expect_success "$mode at each call that writes to the named directory" '
		GIT_REFERENCE_BACKEND=files://$PWD/faulty &&
		export GIT_REFERENCE_BACKEND &&
		test_when_finished "unset GIT_REFERENCE_BACKEND" &&
		fault_each $mode fresh \
			"$GIT -C tried update-ref refs/heads/new $ONE" \
			"main_stays $mode"
	'
done

test_done
