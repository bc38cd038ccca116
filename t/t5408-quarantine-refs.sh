#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='no hook changes a ref while objects are in quarantine

A pre-receive hook runs with GIT_QUARANTINE_PATH. Our commands and those of
stock Git refuse to change refs there. Later hooks run when the objects are in
the main store, so a ref that they write is sound though the push is refused.'
. "$(dirname "$0")/lib.sh"

OURS=$GITREACH_BUILD/bin/git-receive-pack
WHY='ref updates forbidden inside quarantine environment'

# hook <name>: install standard input as a hook of r.git.
hook () {
	{
		echo "#!/bin/sh" &&
		cat
	} >"r.git/hooks/$1" &&
	chmod +x "r.git/hooks/$1"
}

refs () {
	"$GIT" -C r.git for-each-ref &&
	"$GIT" -C r.git symbolic-ref HEAD
}

push_to_ours () {
	stock -C client.git push --receive-pack="$OURS" ../r.git "$@" 2>err
}

# fresh <format of refs>
fresh () {
	rm -rf r.git &&
	"$GIT" init -q --bare --ref-format=$1 r.git &&
	mkdir -p r.git/hooks &&
	push_to_ours main~2:refs/heads/main main~2:refs/heads/other &&
	"$GIT" -C r.git symbolic-ref refs/heads/sym refs/heads/other
}

test_expect_success 'setup' '
	repo_linear client.git 5 &&
	new=$(stock -C client.git rev-parse main) &&
	old=$(stock -C client.git rev-parse main~2) &&
	older=$(stock -C client.git rev-parse main~3) &&
	cat >commands <<-EOC
	update-ref refs/heads/unrelated $new
	update-ref refs/heads/other $old
	update-ref -d refs/heads/other
	update-ref -d refs/heads/none
	update-ref --no-deref HEAD $new
	symbolic-ref HEAD refs/heads/other
	symbolic-ref -d refs/heads/sym
	pack-refs --all
	pack-refs --all --no-prune
	refs optimize --all
	EOC
'

for format in files reftable
do
	test_expect_success "pre-receive: no command changes a ref: $format" '
		fresh '$format' && refs >before &&
		cp commands r.git/commands &&
		hook pre-receive <<-\EOH &&
		cat >input
		while read -r line
		do
			"$GIT" $line >out 2>&1
			code=$?
			echo "$line: $code: $(cat out)"
		done <commands
		exit 1
		EOH
		test_must_fail push_to_ours main:refs/heads/new &&
		refs >after && test_cmp before after &&
		sed -n "s/^remote: \(.*[^ ]\) *$/\1/p" err >said &&
		grep -v "pack-refs\|optimize" commands >refused &&
		if test '$format' = files
		then
			cp commands refused
		fi &&
		while read -r line
		do
			grep "^$line: [1-9].*$WHY" said || return 1
		done <refused >"/dev/null" &&
		"$GIT" -C r.git fsck
	'

	# As in stock Git, `verify` and an empty transaction are refused too.
	test_expect_success "pre-receive: update-ref --stdin changes no ref: $format" '
		fresh '$format' && refs >before &&
		printf "%s\n" "create refs/heads/x $new" >r.git/in.1 &&
		printf "%s\n" "verify refs/heads/main $old" >r.git/in.2 &&
		: >r.git/in.3 &&
		printf "%s\n" start "symref-create refs/heads/x refs/heads/y" \
			prepare commit >r.git/in.4 &&
		hook pre-receive <<-\EOH &&
		for in in in.1 in.2 in.3 in.4
		do
			for batch in "" --batch-updates
			do
				"$GIT" update-ref --stdin $batch <$in
				echo "code $?"
			done
		done
		exit 1
		EOH
		test_must_fail push_to_ours main:refs/heads/new &&
		refs >after && test_cmp before after &&
		test $(grep -c "^remote: fatal: .*$WHY" err) -eq 8 &&
		test $(grep -c "^remote: code 128" err) -eq 8
	'

	test_expect_success "pre-receive: reflogs may expire: $format" '
		fresh '$format' &&
		hook pre-receive <<-\EOH &&
		"$GIT" reflog expire --expire=now --all &&
		"$GIT" reflog delete --rewrite refs/heads/main@{0} || :
		"$GIT" gc --auto && "$GIT" pack-refs --all --auto
		EOH
		push_to_ours main:refs/heads/new &&
		"$GIT" -C r.git rev-parse --verify refs/heads/new
	'

	# An entry that stock Git writes can name an object in quarantine.
	test_expect_success "pre-receive: no reflog gives a ref its value: $format" '
		fresh '$format' &&
		for id in $old $older $old
		do
			"$GIT" -C r.git update-ref --create-reflog \
				refs/heads/logged $id || return
		done &&
		refs >before &&
		hook pre-receive <<-\EOH &&
		"$GIT" reflog delete --updateref refs/heads/logged@{0}
		echo "code $?"
		"$GIT" reflog delete --updateref --rewrite --dry-run \
			refs/heads/logged@{0}
		echo "dry $?"
		exit 1
		EOH
		test_must_fail push_to_ours main:refs/heads/new &&
		refs >after && test_cmp before after &&
		grep "^remote: .*$WHY" err && grep "^remote: code [1-9]" err &&
		grep "^remote: dry 0" err &&
		echo $older >expect &&
		"$GIT" -C r.git reflog delete --updateref \
			refs/heads/logged@{0} &&
		"$GIT" -C r.git rev-parse refs/heads/logged >actual &&
		test_cmp expect actual
	'

	test_expect_success "pre-receive: refs are not migrated: $format" '
		fresh '$format' && refs >before &&
		test '$format' = files && other=reftable || other=files &&
		hook pre-receive <<-EOH &&
		"$GIT" refs migrate --ref-format=$other
		echo "code \$?"
		exit 1
		EOH
		test_must_fail push_to_ours main:refs/heads/new &&
		refs >after && test_cmp before after &&
		grep "^remote: .*$WHY" err && ! grep "^remote: code 0" err &&
		echo '$format' >expect &&
		"$GIT" -C r.git rev-parse --show-ref-format >actual &&
		test_cmp expect actual
	'
done

# Ours executes stock Git, which starts our commands from the exec path.
test_expect_success 'pre-receive: nor by stock Git that ours starts' '
	fresh files && refs >before &&
	hook pre-receive <<-EOH &&
	for words in "branch b $new" "branch -f other $new" \
		"branch -D other" "tag c $new" "tag -a -m x d $new" \
		"fetch -q ../client.git main:refs/heads/e" \
		"notes add -m x $old" "replace $old $new" \
		"push -q . $new:refs/heads/f"
	do
		test ! -e inner || exit 0
		case "\$words" in
		push*) >inner ;;
		esac
		"$GIT" \$words
		echo "code \$?"
	done
	exit 1
	EOH
	test_must_fail push_to_ours main:refs/heads/new &&
	refs >after && test_cmp before after &&
	test $(grep -c "^remote: code [1-9]" err) -eq 9 &&
	test $(grep -c "^remote: .*$WHY" err) -ge 9 &&
	! grep "^remote: code 0" err
'

test_expect_success 'pre-receive: commands of stock Git are refused' '
	fresh files && refs >before &&
	hook pre-receive <<-EOH &&
	unset GIT_EXEC_PATH
	PATH=$STOCK_PATH
	for words in "update-ref refs/heads/a $new" "branch b $new" \
		"tag c $new" "branch -D other"
	do
		"$STOCK_GIT" \$words
		echo "code \$?"
	done
	exit 1
	EOH
	test_must_fail push_to_ours main:refs/heads/new &&
	refs >after && test_cmp before after &&
	test $(grep -c "^remote: .*: $WHY" err) -eq 4 &&
	! grep "^remote: code 0" err
'

# A store has refs of its own, and could take objects from the quarantine.
test_expect_success 'pre-receive: no command of a fork network runs' '
	fresh files && rm -rf store.git fork.git &&
	"$GIT" network init store.git &&
	"$GIT" -C store.git network add ../r.git &&
	refs >before && "$GIT" -C store.git for-each-ref >store-before &&
	hook pre-receive <<-EOH &&
	for words in "sync --all" "repack -q" "leave 1" "delete 1" \
		"fork ../r.git ../fork.git"
	do
		"$GIT" -C ../store.git network \$words
		echo "code \$?"
	done
	exit 1
	EOH
	test_must_fail push_to_ours main:refs/heads/new &&
	test $(grep -c "^remote: code 128" err) -eq 5 &&
	test ! -e fork.git &&
	refs >after && test_cmp before after &&
	"$GIT" -C store.git for-each-ref >store-after &&
	test_cmp store-before store-after &&
	"$GIT" -C store.git fsck && "$GIT" -C store.git network verify
'

# As in stock Git, GIT_QUARANTINE_PATH is inherited by other repositories.
test_expect_success 'pre-receive: a push to another repository is refused' '
	fresh files && rm -rf twin.git && cp -R r.git twin.git &&
	hook pre-receive <<-EOH &&
	"$GIT" push --receive-pack="$OURS" ../twin.git $new:refs/heads/twin
	exit 1
	EOH
	test_must_fail push_to_ours main:refs/heads/new &&
	grep "^remote: .*$WHY" err &&
	test_must_fail "$GIT" -C twin.git rev-parse --verify refs/heads/twin &&
	"$GIT" -C twin.git fsck --no-dangling
'

test_expect_success 'an empty GIT_QUARANTINE_PATH refuses too' '
	test_must_fail env GIT_QUARANTINE_PATH= "$GIT" -C r.git \
		update-ref refs/heads/empty $old 2>err &&
	grep "$WHY" err
'

# These hooks run after migration. As with stock Git, a ref that a hook writes
# stays.
for name in update reference-transaction proc-receive
do
	test_expect_success "$name: a ref that it writes is sound" '
		fresh files &&
		if test '$name' = proc-receive
		then
			"$GIT" -C r.git config receive.procReceiveRefs \
				refs/heads/for
		fi &&
		hook '$name' <<-EOH &&
		test -z "\${GIT_QUARANTINE_PATH+x}" || exit 1
		test ! -e done || exit 0
		touch done
		"$GIT" update-ref refs/heads/unrelated $new
		exit 1
		EOH
		test_must_fail push_to_ours main:refs/heads/for/new &&
		echo $new >expect &&
		"$GIT" -C r.git rev-parse refs/heads/unrelated >actual &&
		test_cmp expect actual &&
		"$GIT" -C r.git fsck &&
		test_must_fail "$GIT" -C r.git rev-parse --verify \
			refs/heads/for/new
	'
done

test_expect_success 'a deletion has no quarantine, so the hook may change refs' '
	fresh files &&
	hook pre-receive <<-EOH &&
	"$GIT" update-ref refs/heads/written $old
	EOH
	push_to_ours :refs/heads/other &&
	"$GIT" -C r.git rev-parse --verify refs/heads/written
'

test_expect_success PLAIN 'a quarantine that cannot be removed gives a warning' '
	fresh files &&
	echo "exit 1" | hook pre-receive &&
	cat >full <<-EOF &&
	LD_PRELOAD=$GITREACH_BUILD/t/helper/preload-no-unlinkat.so
	export LD_PRELOAD
	exec "$OURS" "\$@"
	EOF
	test_must_fail stock -C client.git push \
		--receive-pack="sh \"$PWD/full\"" ../r.git main 2>err &&
	grep "^warning: cannot remove .*tmp_objdir-incoming-.*Input/output" \
		err >told &&
	test_line_count 1 told &&
	ls r.git/objects | grep tmp_objdir &&
	"$GIT" -C r.git prune --expire=now &&
	! ls r.git/objects | grep tmp_objdir
'

# A push that is declined, with all numbers of descriptors from too few to enough.
test_expect_success 'no quarantine remains if file descriptors run out' '
	fresh files &&
	echo "touch asked; exit 1" | hook pre-receive &&
	printf "#!/bin/sh\nulimit -n \$LIMIT\nexec \"\$OURS\" \"\$@\"\n" \
		>few &&
	for LIMIT in $(seq 4 24)
	do
		export LIMIT OURS &&
		test_must_fail stock -C client.git push \
			--receive-pack="sh \"$PWD/few\"" ../r.git main \
			2>err &&
		! ls r.git/objects | grep tmp_objdir || return 1
	done &&
	test -e r.git/asked
'

test_done
