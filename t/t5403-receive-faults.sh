#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='receive-pack that is interrupted during a push

The process is killed, the power fails, or the disk fails or is full, at each
call that changes the disk. Afterwards each ref has its old or its new value, and
the closure of each ref is complete without the quarantine directory. Refs agree
with the report, and the next push succeeds.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-fault.sh"

OURS=$GITREACH_BUILD/bin/git-receive-pack
ZERO=0000000000000000000000000000000000000000

# push_stream: print the request of a client, with a pack.
push_stream () {
	first="$old_main $new_main refs/heads/main"
	caps="report-status delete-refs"
	printf "%04x%s\\0%s" $((${#first} + 5 + ${#caps})) "$first" "$caps"
	for line in "$ZERO $new_main refs/heads/dir/new" \
		"$ZERO $tag refs/tags/v1" "$old_main $ZERO refs/heads/gone"
	do
		printf "%04x%s" $((${#line} + 4)) "$line"
	done
	printf 0000
	printf "%s\n" "$new_main" "$tag" "^$old_main" |
		stock -C client.git pack-objects -q --revs --thin --stdout
}

test_expect_success 'setup: a server, and a push of two commits and a tag' '
	repo_linear client.git 4 &&
	stock -C client.git tag -m "a tag" v1 main &&
	old_main=$(stock -C client.git rev-parse main~2) &&
	new_main=$(stock -C client.git rev-parse main) &&
	tag=$(stock -C client.git rev-parse v1) &&
	repo_init good.git &&
	rm -r good.git/hooks &&
	stock -C client.git push -q ../good.git main~2:refs/heads/main \
		main~2:refs/heads/gone &&
	stock -C good.git pack-refs --all &&
	stock -C good.git repack -adq &&
	stock -C good.git config core.logAllRefUpdates true &&
	cat >values <<-EOC &&
	refs/heads/dir/new $new_main
	refs/heads/gone $old_main
	refs/heads/main $old_main
	refs/heads/main $new_main
	refs/tags/v1 $tag
	EOC
	grep -v "gone\|main $old_main" values >new &&
	push_stream >push.in
'

fresh () {
	rm -rf r.git && cp -R good.git r.git &&
	printf "[receive]\n\tunpackLimit = %d\n[core]\n\tfsync = all\n" \
		$limit >>r.git/config
}

is_sound () {
	stock -C r.git fsck --full >fsck 2>&1 || {
		cat fsck >&2
		return 1
	}
}

# told <status> <ref>: succeeds if the report has the status for the ref.
told () {
	grep -a "^0*[0-9a-f]*$1 $2" fault.out >"/dev/null"
}

# Each ref agrees with the report.
report_is_true () {
	for ref in refs/heads/main refs/heads/dir/new refs/tags/v1
	do
		if told ok $ref
		then
			grep "^$(grep "^$ref " new)$" now >"/dev/null" ||
				return 1
		fi
	done &&
	if told ok refs/heads/gone
	then
		! grep refs/heads/gone now >"/dev/null"
	fi
}

# The client gets an error, and no lock file is left.
has_ended () {
	find r.git -name "tmp_*" -o -name "*.lock" -o -name "*.keep" >left &&
	if test -n "$fault_over"
	then
		test_must_be_empty left &&
		told unpack ok
	else
		case $1 in
		kill|lose) test $fault_code -eq 137 ;;
		# If unlink fails, the file is left.
		EIO) test $fault_code -ne 137 &&
			test $(grep -c "[.]lock$" left) -le 1 ;;
		*) test $fault_code -ne 137 && ! grep "[.]lock$" left ;;
		esac
	fi
}

# After any fault: without the leftover files, the repository is unchanged.
is_whole () {
	has_ended "$1" &&
	stock -C r.git for-each-ref --format="%(refname) %(objectname)" \
		>before &&
	while read -r file
	do
		rm -rf "$file"
	done <left &&
	is_sound &&
	stock -C r.git for-each-ref --format="%(refname) %(objectname)" \
		>now &&
	test_cmp before now &&
	comm -23 now values >third &&
	test_must_be_empty third &&
	grep refs/heads/main now >"/dev/null" &&
	report_is_true &&
	is_pushed_again
}

is_pushed_again () {
	gone= &&
	if grep refs/heads/gone now >"/dev/null"
	then
		gone=:refs/heads/gone
	fi &&
	stock -C client.git push -q --receive-pack="$OURS" ../r.git \
		main +main:refs/heads/dir/new v1 $gone &&
	stock -C r.git for-each-ref --format="%(refname) %(objectname)" \
		>now &&
	test_cmp new now
}

while read -r how limit mode
do
	test_expect_success "a push that is $how: $mode" "
		fault_in=push.in && fault_step=$(fault_thin 3) &&
		fault_each $mode fresh '$OURS r.git' 'is_whole $mode' &&
		fault_in=/dev/null
	"
done <<EOF
unpacked 100 lose
unpacked 100 EIO
unpacked 100 ENOSPC
indexed 1 kill
indexed 1 lose
indexed 1 ENOSPC
EOF

# Standard error is a log of the server, or the client's terminal over ssh.
test_expect_success 'the client gets the reason of a disk error without paths' '
	limit=1 && fresh &&
	cat >full <<-EOC &&
	trap "" XFSZ
	ulimit -f 1
	exec "$OURS" "\$@"
	EOC
	head -c 9999 /dev/urandom >client.git/noise &&
	stock -C client.git hash-object -w noise >blob &&
	test_must_fail stock -C client.git push \
		--receive-pack="sh \"$PWD/full\"" ../r.git \
		"$(cat blob):refs/tags/x" 2>err &&
	grep "^remote: error: cannot write to tmp_pack_[^/]*: File too large" \
		err &&
	grep "^error: remote unpack failed: cannot write to tmp_pack_[^/]*:" \
		err &&
	grep "^error: cannot write to $PWD/r.git/objects/.*/pack/tmp_pack_" err
'

test_expect_success 'a push that the disk fails is a failed request' '
	# The first two calls open the log of requests, and write to it.
	limit=100 && fresh && : >records &&
	fault_in=push.in &&
	GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=gitreach.requestLog \
		GIT_CONFIG_VALUE_0="$PWD/records" fault_run EIO:3 "$OURS" r.git &&
	grep "\"error\":\".*Input/output error" records &&
	"$GIT" requests --slowest=0 records >out &&
	grep "requests, 1 failed" out
'

# The hook of a push kills receive-pack. Each ref has its old or its new value; the
# deletion is a transaction of its own. All that refs reach is outside the
# quarantine.
#
# killed_by <hook> <its first argument, or ""> <refs: old, new, or each of them>
killed_by () {
	rm -rf r.git && cp -R killed.git r.git &&
	mkdir r.git/hooks &&
	printf "#!/bin/sh\n%s kill -9 \$PPID\n" \
		"${2:+test \"\$1\" != $2 ||}" >r.git/hooks/$1 &&
	chmod +x r.git/hooks/$1 &&
	"$GIT" -C r.git for-each-ref --format="%(refname) %(objectname)" \
		>old &&
	test_expect_code 137 "$OURS" r.git <push.in >out 2>err &&
	rm -r r.git/hooks &&
	find r.git -name "tmp_*" -o -name "*.lock" -o -name "*.keep" |
	while read -r file
	do
		rm -rf "$file"
	done &&
	"$GIT" -C r.git for-each-ref --format="%(refname) %(objectname)" \
		>now &&
	if test $3 = each
	then
		comm -23 now values >third && test_must_be_empty third
	else
		test_cmp $3 now
	fi &&
	"$GIT" -C r.git fsck --full --connectivity-only &&
	sed -n "s/^\(refs.heads.gone\) .*/:\1/p" now >gone &&
	stock -C client.git push -q --receive-pack="$OURS" ../r.git \
		main +main:refs/heads/dir/new v1 \
		$(cat gone) &&
	"$GIT" -C r.git for-each-ref --format="%(refname) %(objectname)" \
		>now &&
	test_cmp new now && "$GIT" -C r.git fsck --full
}

for format in files reftable
do
	for limit in 1 100
	do
		test_expect_success "killed by a hook: $format, $limit" '
			rm -rf killed.git &&
			"$GIT" init -q --bare --ref-format=$format killed.git &&
			rm -rf killed.git/hooks &&
			stock -C client.git push -q --receive-pack="$OURS" \
				../killed.git main~2:refs/heads/main \
				main~2:refs/heads/gone &&
			"$GIT" -C killed.git pack-refs --all &&
			git config -f killed.git/config receive.unpackLimit \
				$limit &&
			killed_by pre-receive "" old &&
			killed_by update refs/heads/main each &&
			killed_by update refs/tags/v1 each &&
			killed_by reference-transaction preparing old &&
			killed_by reference-transaction prepared old &&
			killed_by reference-transaction committed each &&
			killed_by post-receive "" new &&
			killed_by post-update "" new
		'
	done
done

test_done
