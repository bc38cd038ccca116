#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='commands that endangered data, with a disk that fails

Each part belongs to an entry of t/interop/dropin-tests.txt. There, the process
is killed, power fails, or the disk fails or is full, at each call that changes
the disk. Afterwards the data that the entry is about is unharmed.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-fault.sh"

OURS=$GITREACH_BUILD/bin/git-receive-pack

# unlock <dir>: remove what a killed process leaves.
unlock () {
	find "$1" \( -name "*.lock" -o -name gc.pid \) -delete
}

# ---- 1. git --bare init x.git

# Nothing is written beside x.git, and another init completes it.
init_is_inside () {
	fault_exited "$1" &&
	ls -A here | sed /^x.git$/d >beside && test_must_be_empty beside &&
	unlock here && "$GIT" -C here --bare init -q x.git &&
	test "$(stock -C here/x.git symbolic-ref HEAD)" = refs/heads/main &&
	test "$(stock -C here/x.git rev-parse --is-bare-repository)" = true
}

for mode in kill lose EIO ENOSPC
do
	test_expect_success "git --bare init x.git: $mode" '
		fault_step=$(fault_thin 3) &&
		fault_each $mode "rm -rf here && mkdir here" \
			"env -C here $GIT -c core.fsync=all --bare init x.git" \
			"init_is_inside $mode" &&
		fault_step=
	'
done

# ---- 2. the quarantine of a push that a hook refuses

test_expect_success 'a push, and a hook that creates a ref' '
	repo_linear client.git 3 &&
	old=$(stock -C client.git rev-parse main~1) &&
	new=$(stock -C client.git rev-parse main) &&
	repo_init good.git && rm -rf good.git/hooks && mkdir good.git/hooks &&
	stock -C client.git push -q ../good.git main~1:refs/heads/main &&
	line="$old $new refs/heads/main" && caps="report-status" &&
	{
		printf "%04x%s\\0%s0000" $((${#line} + 5 + ${#caps})) \
			"$line" "$caps" &&
		printf "%s\n" "$new" "^$old" |
			stock -C client.git pack-objects -q --revs --stdout
	} >push.in &&
	cat >good.git/hooks/pre-receive <<-EOH &&
	#!/bin/sh
	"$GIT" update-ref refs/heads/unrelated $new
	exit 1
	EOH
	chmod +x good.git/hooks/pre-receive &&
	stock -C good.git for-each-ref >good.refs
'

# The refs are as before, and all that they reach is there.
quarantine_is_tight () {
	unlock r.git && "$GIT" -C r.git for-each-ref >refs &&
	test_cmp good.refs refs && stock -C r.git fsck >fsck 2>&1 &&
	"$GIT" -C r.git prune --expire=now &&
	! stock -C r.git cat-file -e $new 2>err
}

for mode in kill lose EIO ENOSPC
do
	for limit in 1 100
	do
		test_expect_success "a refused push, unpackLimit $limit: $mode" '
			fault_in=push.in && fault_step=$(fault_thin 3) &&
			fault_each $mode "rm -rf r.git && cp -R good.git r.git &&
				git config -f r.git/config \
					receive.unpackLimit $limit" \
				"$OURS r.git" quarantine_is_tight &&
			fault_in=/dev/null fault_step=
		'
	done
done

# ---- 3. a pack with an object that exists (t5330 has repack, gc and hash-object;
# unpack-objects only gives the object a new time)

test_expect_success 'an old unreachable blob, and a pack that has it' '
	repo_linear base.git 2 && rm -rf base.git/hooks &&
	blob=$(echo old | stock -C base.git hash-object -w --stdin) &&
	echo $blob | stock -C base.git pack-objects -q --stdout >blob.pack &&
	find base.git/objects -type f -exec touch -d "10 days ago" {} +
'

# The blob is there, and if the command succeeded, stays there.
blob_stays () {
	fault_exited "$1" &&
	test "$(stock -C r.git cat-file blob $blob)" = old &&
	if test $fault_code -eq 0
	then
		unlock r.git &&
		"$GIT" -C r.git gc -q --cruft --prune=1.hour.ago &&
		test "$(stock -C r.git cat-file blob $blob)" = old
	fi
}

for mode in kill lose EIO ENOSPC
do
	test_expect_success "index-pack of an old blob: $mode" '
		fault_in=blob.pack &&
		fault_each $mode "rm -rf r.git && cp -Rp base.git r.git" \
			"$GIT -C r.git -c core.fsync=all index-pack --stdin" \
			"blob_stays $mode" &&
		fault_in=/dev/null
	'
done

# ---- 4. a damaged copy in a pack, and a good one

test_expect_success 'a repository with a damaged copy' '
	repo_linear damaged.git 6 && stock -C damaged.git repack -adfq &&
	"$GIT" -C damaged.git cat-file --batch-all-objects --batch \
		>whole.content &&
	tree=$(stock -C damaged.git rev-parse main~1^{tree}) &&
	stock -C damaged.git cat-file tree $tree >tree &&
	python3 "$GITREACH_SRC/t/damage-copy.py" \
		"$(ls damaged.git/objects/pack/*.pack | sed s/.pack$//)" \
		$tree adler &&
	repo_init loose.git &&
	stock -C loose.git hash-object -w -t tree --stdin <tree >id &&
	cp -R loose.git/objects/?? damaged.git/objects &&
	rm -rf damaged.git/hooks &&
	test_must_fail stock -C damaged.git fsck 2>err
'

all_is_read () {
	fault_exited "$1" && unlock r.git &&
	"$GIT" -C r.git cat-file --batch-all-objects --batch >actual &&
	cmp whole.content actual &&
	if test $fault_code -eq 0
	then
		stock -C r.git fsck
	fi
}

for mode in kill lose EIO ENOSPC
do
	test_expect_success "repack of a damaged copy and a good one: $mode" '
		fault_step=$(fault_thin 7) &&
		fault_each $mode "rm -rf r.git && cp -R damaged.git r.git" \
			"$GIT -C r.git -c core.fsync=all repack -adq" \
			"all_is_read $mode" &&
		fault_step=
	'
done

# ---- 5. a hook that rescues objects

test_expect_success 'unreachable objects in a pack, and a hook that names them' '
	repo_linear hook.git 2 && rm -rf hook.git/hooks &&
	gone=$(stock -C hook.git commit-tree -m gone \
		$(stock -C hook.git rev-parse main~1^{tree})) &&
	stock -C hook.git update-ref refs/heads/gone $gone &&
	stock -C hook.git update-ref refs/heads/main main~1 &&
	last=$(echo only | stock -C hook.git hash-object -w --stdin) &&
	stock -C hook.git repack -adq &&
	stock -C hook.git update-ref -d refs/heads/gone &&
	stock -C hook.git config gc.recentObjectsHook "echo $gone; echo $last" &&
	find hook.git/objects -type f -exec touch -d "10 days ago" {} +
'

rescued () {
	unlock r.git && stock -C r.git cat-file -e $gone^{tree} &&
	stock -C r.git cat-file -e $last && stock -C r.git fsck --no-dangling &&
	if test $fault_code -eq 0
	then
		ls r.git/objects/pack/*.mtimes
	fi
}

for mode in kill lose EIO ENOSPC
do
	test_expect_success "repack --cruft --cruft-expiration=now: $mode" '
		fault_step=$(fault_thin 7) &&
		fault_each $mode "rm -rf r.git && cp -Rp hook.git r.git" \
			"$GIT -C r.git -c core.fsync=all repack -q -d --cruft \
				--cruft-expiration=now" rescued &&
		fault_step=
	'
done

# ---- 6. a dangling symbolic ref

test_expect_success 'a command that must fail' '
	cat >refuses.sh <<-\EOF &&
	"$@"
	code=$?
	test $code -ne 128 || exit 0
	test $code -ne 0 || exit 1
	exit $code
	EOF
	sh refuses.sh sh -c "exit 128" && test_must_fail sh refuses.sh true
'

symref_stays () {
	unlock r.git && test $fault_code -ne 1 &&
	test "$("$GIT" -C r.git symbolic-ref refs/heads/d)" = refs/heads/none &&
	test_must_fail "$GIT" -C r.git rev-parse -q --verify refs/heads/none
}

for format in files reftable
do
	for mode in kill lose EIO ENOSPC
	do
		test_expect_success "a dangling symbolic ref, $format: $mode" '
			rm -rf base.git && "$GIT" init -q --bare \
				--ref-format=$format base.git &&
			cp -R client.git/objects base.git &&
			"$GIT" -C base.git symbolic-ref refs/heads/d \
				refs/heads/none &&
			echo "create refs/heads/d $new" >create &&
			fault_in=create &&
			fault_each $mode "rm -rf r.git && cp -R base.git r.git" \
				"sh refuses.sh $GIT -C r.git update-ref \
					--no-deref --stdin" symref_stays &&
			fault_in=/dev/null
		'
	done
done

# ---- 7. GIT_REFERENCE_BACKEND with reftables (t0603 has files)

elsewhere () {
	GIT_REFERENCE_BACKEND="reftable://$PWD/elsewhere" "$@"
}

main_stays () {
	fault_exited "$1" &&
	"$GIT" -C r.git for-each-ref >refs && test_cmp main.refs refs &&
	unlock elsewhere &&
	elsewhere "$GIT" -C r.git for-each-ref \
		--format="%(objectname)" >ids && ! grep -v "^$new$" ids &&
	if test $fault_code -eq 0
	then
		test_line_count 1 ids
	fi
}

for mode in kill lose EIO ENOSPC
do
	test_expect_success "GIT_REFERENCE_BACKEND=reftable://: $mode" '
		"$GIT" -C client.git for-each-ref >main.refs &&
		cat >write.sh <<-EOF &&
		GIT_REFERENCE_BACKEND="reftable://$PWD/elsewhere"
		export GIT_REFERENCE_BACKEND
		exec "$GIT" -C r.git -c core.fsync=all \
			update-ref refs/heads/else $new
		EOF
		fault_each $mode "rm -rf r.git elsewhere &&
				cp -R client.git r.git &&
				mkdir -p elsewhere/reftable" \
			"sh write.sh" "main_stays $mode"
	'
done

# ---- 8. a pack that holds an object twice

test_expect_success 'a pack that holds a blob twice' '
	cat >twice.py <<-\EOF &&
	import hashlib, struct, sys, zlib
	blob = bytes([3 << 4 | 4]) + zlib.compress(b"old\n")
	pack = b"PACK" + struct.pack(">II", 2, 2) + blob + blob
	sys.stdout.buffer.write(pack + hashlib.sha1(pack).digest())
	EOF
	python3 twice.py >twice.pack
'

pack_is_refused () {
	test $fault_code -ne 1 &&
	find r.git -name "*.idx" >packs && test_must_be_empty packs
}

for mode in kill lose EIO ENOSPC
do
	test_expect_success "index-pack --strict of such a pack: $mode" '
		fault_in=twice.pack &&
		fault_each $mode "rm -rf r.git && repo_init r.git" \
			"sh refuses.sh $GIT -C r.git index-pack --strict \
				--stdin" pack_is_refused &&
		fault_in=/dev/null
	'
done

test_done
