#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='git store: repositories in a store that is a directory

Import, export, list, log, verify and gc. Stock Git judges what was exported.'
. "$(dirname "$0")/lib.sh"

store="file://$PWD/store"

# add_commit <repository> <branch> <text>: add a commit in loose objects.
add_commit () {
	(
		cd "$1" &&
		test_tick &&
		blob=$(echo "$3" | stock hash-object -w --stdin) &&
		tree=$(printf "100644 blob %s\tfile\n" $blob | stock mktree) &&
		parent=$(stock rev-parse -q --verify "refs/heads/$2") || :
		commit=$(stock commit-tree -m "$3" ${parent:+-p} $parent $tree) &&
		stock update-ref "refs/heads/$2" $commit
	)
}

# all_refs <repository>: the refs with what tags lead to, and HEAD.
all_refs () {
	stock -C "$1" for-each-ref \
		--format="%(refname) %(objectname) %(*objectname) %(symref)" &&
	cat "$1/HEAD"
}

# same_as <repository> <exported>: an exported repository is sound, and has the
# same refs and reachable objects.
same_as () {
	stock -C "$2" fsck --full --strict >fsck.out 2>&1 || {
		cat fsck.out >&2
		return 1
	}
	all_refs "$1" >expect && all_refs "$2" >actual &&
	test_cmp expect actual &&
	stock -C "$1" rev-list --objects --all | sort >expect &&
	stock -C "$2" rev-list --objects --all | sort >actual &&
	test_cmp expect actual
}

# export_again <name>: export into out.git.
export_again () {
	rm -rf out.git && git store export "$store" "$1" out.git
}

for hash in sha1 sha256
do
	test_expect_success "$hash: packs, loose objects and an alternate" '
		rm -rf base.git src.git &&
		stock init -q --bare --object-format='$hash' base.git &&
		add_commit base.git main one && add_commit base.git main two &&
		stock -C base.git repack -adq &&
		stock clone -q --bare -s base.git src.git &&
		stock -C src.git remote remove origin &&
		add_commit src.git main three &&
		"$GIT" -C src.git repack -dlq &&
		add_commit src.git side four &&
		stock -C src.git tag -a -m tag annotated main &&
		stock -C src.git pack-refs --all &&
		add_commit src.git loose/ref five &&
		stock -C src.git symbolic-ref refs/heads/symbolic refs/heads/side &&
		stock -C src.git symbolic-ref HEAD refs/heads/side &&
		find src.git base.git -type f -exec sha256sum {} + |
			sort >before &&
		git store import --name='$hash'/src.git src.git "$store" >out &&
		grep "^'$hash'/src.git: generation 1, wrote" out &&
		find src.git base.git -type f -exec sha256sum {} + |
			sort >after &&
		test_cmp before after &&
		rm -rf hidden && mv base.git hidden &&
		export_again '$hash'/src.git &&
		mv hidden base.git &&
		same_as src.git out.git &&
		test_must_fail stock -C out.git config extensions.refstorage &&
		test_must_fail test -e out.git/objects/info/alternates
	'

	test_expect_success "$hash: refs in tables" '
		rm -rf out.git &&
		git store export --ref-format=reftable "$store" \
			'$hash'/src.git out.git &&
		git -C out.git for-each-ref >actual &&
		git -C src.git for-each-ref >expect &&
		test_cmp expect actual &&
		test "$(git -C out.git symbolic-ref HEAD)" = refs/heads/side &&
		git -C out.git fsck --full &&
		git store import --name='$hash'/tables.git out.git "$store" &&
		export_again '$hash'/tables.git &&
		same_as src.git out.git
	'
done

test_expect_success 'side files come along' '
	repo_linear full.git 20 &&
	stock -C full.git repack -adq &&
	"$GIT" -C full.git -c repack.writeBitmaps=true repack -adbq &&
	stock -C full.git commit-graph write --reachable &&
	add_commit full.git main more &&
	"$GIT" -C full.git repack -dq --write-midx &&
	: >full.git/git-daemon-export-ok &&
	echo "described" >full.git/description &&
	mkdir -p full.git/hooks full.git/info &&
	printf "#!/bin/sh\nexit 0\n" >full.git/hooks/update &&
	cp full.git/hooks/update full.git/hooks/off &&
	chmod +x full.git/hooks/update && chmod -x full.git/hooks/off &&
	stock -C full.git config receive.denyDeletes true &&
	for pack in full.git/objects/pack/*.pack
	do
		: >"${pack%.pack}.keep" || return 1
	done &&
	git store import full.git "$store" &&
	export_again full.git &&
	same_as full.git out.git &&
	(cd full.git/objects && find pack info -type f ! -name "*.keep" \
		! -name packs | sort) >expect &&
	(cd out.git/objects && find pack info -type f | sort) >actual &&
	grep bitmap expect && grep multi-pack-index expect &&
	grep commit-graph expect &&
	test_cmp expect actual &&
	for file in $(cat expect)
	do
		cmp full.git/objects/$file out.git/objects/$file || return 1
	done &&
	test -x out.git/hooks/update && test_must_fail test -e out.git/hooks/off &&
	test -f out.git/git-daemon-export-ok &&
	test_cmp full.git/description out.git/description &&
	test "$(stock -C out.git config receive.denyDeletes)" = true &&
	"$GIT" -C out.git bitmap verify
'

test_expect_success 'a commit-graph with commits of an alternate is left out' '
	stock clone -q --bare -s full.git borrower.git &&
	add_commit borrower.git main borrowed &&
	stock -C borrower.git commit-graph write --reachable &&
	stock -C borrower.git update-ref refs/heads/main main~3 &&
	git store import borrower.git "$store" &&
	export_again borrower.git &&
	same_as borrower.git out.git &&
	test_must_fail test -e out.git/objects/info/commit-graph
'

test_expect_success 'shallow and empty repositories' '
	stock clone -q --bare --depth 3 "file://$PWD/full.git" shallow.git &&
	git store import shallow.git "$store" &&
	export_again shallow.git && same_as shallow.git out.git &&
	stock init -q --bare empty.git &&
	git store import empty.git "$store" &&
	export_again empty.git && same_as empty.git out.git
'

test_expect_success 'what cannot be imported' '
	test_expect_code 128 git store import full.git "$store" 2>err &&
	grep "^fatal: .full.git. exists in the store already" err &&
	stock init -q tree &&
	test_expect_code 128 git store import tree/.git "$store" 2>err &&
	grep "^fatal: .*is not a bare repository" err &&
	stock clone -q --bare full.git broken.git &&
	rm -f broken.git/objects/pack/*.pack &&
	test_expect_code 128 git store import broken.git "$store" 2>err &&
	grep "^fatal: " err &&
	test_expect_code 128 git store import none.git "$store" 2>err &&
	test_expect_code 128 git store import --name=a/../b full.git "$store" \
		2>err &&
	grep "^fatal: " err &&
	git store list "$store" >list &&
	test_must_fail grep "broken\|tree\|none" list &&
	test_expect_code 129 git store import full.git 2>err &&
	test_expect_code 129 git store import --all --name=x . "$store" 2>err
'

test_expect_success 'what cannot be exported' '
	mkdir exists &&
	test_expect_code 128 git store export "$store" full.git exists 2>err &&
	grep "^fatal: .exists. exists already" err &&
	test_expect_code 128 git store export "$store" none.git out2.git 2>err &&
	grep "^fatal: .none.git. is not in the store" err &&
	test_expect_code 128 git store export --generation=7 "$store" full.git \
		out2.git 2>err &&
	test_expect_code 128 git store export --ref-format=none "$store" \
		full.git out2.git 2>err &&
	test_must_fail test -e out2.git
'

test_expect_success 'the names of all repositories' '
	git store list "$store" >actual &&
	cat >expect <<-\EOE &&
	borrower.git
	empty.git
	full.git
	sha1/src.git
	sha1/tables.git
	sha256/src.git
	sha256/tables.git
	shallow.git
	EOE
	test_cmp expect actual &&
	git store list --json "$store" >json &&
	python3 -c "
import json, sys
print(*json.load(sys.stdin), sep=\"\\n\")" <json >actual &&
	test_cmp expect actual &&
	test_must_fail git store list "file://$PWD/other" &&
	git store probe "file://$PWD/other" &&
	git store list "file://$PWD/other" >actual &&
	test_must_be_empty actual &&
	git store list --json "file://$PWD/other" >actual &&
	echo "[]" >expect && test_cmp expect actual
'

test_expect_success 'a second import writes what is new' '
	git store import --force full.git "$store" >out &&
	echo "full.git: generation 1 is up to date" >expect &&
	test_cmp expect out &&
	rm -f full.git/objects/pack/*.keep &&
	old=$(stock -C full.git rev-parse main) &&
	add_commit full.git main second && add_commit full.git topic third &&
	stock -C full.git update-ref -d refs/heads/none &&
	git store import --force full.git "$store" >out &&
	grep "^full.git: generation 2, wrote 5 of " out &&
	export_again full.git && same_as full.git out.git &&
	rm -rf out.git &&
	git store export --generation=1 "$store" full.git out.git &&
	test "$(stock -C out.git rev-parse main)" = $old &&
	test_must_fail stock -C out.git rev-parse -q --verify topic
'

test_expect_success 'the log' '
	git store log "$store" full.git >log &&
	new=$(stock -C full.git rev-parse main) &&
	topic=$(stock -C full.git rev-parse topic) &&
	sed -n "1p;4,5p" log >actual &&
	cat >expect <<-EOE &&
	generation 2
	    refs/heads/main $old -> $new
	    refs/heads/topic none -> $topic
	EOE
	test_cmp expect actual &&
	grep "^generation 1$" log &&
	grep "    HEAD none -> ref: refs/heads/main" log &&
	grep "^  [0-9-]* [0-9:]* +0000 import by .* on " log &&
	git store log -n 1 "$store" full.git >log &&
	test_must_fail grep "^generation 1$" log &&
	git store log --json "$store" full.git >json &&
	python3 - $old $new $topic <<-\EOP
	import json, sys
	old, new, topic = sys.argv[1:]
	two, one = json.load(open("json"))
	assert two["generation"] == 2 and one["generation"] == 1
	assert not two["retired"] and two["action"] == "import"
	assert two["added_bytes"] > 0
	assert two["refs"] == [
	    {"ref": "refs/heads/main", "before": old, "after": new},
	    {"ref": "refs/heads/topic", "before": None, "after": topic}]
	assert {"ref": "refs/heads/main", "before": None, "after": old} \
	    in one["refs"]
	EOP
'

test_expect_success 'verify' '
	git store verify "$store" >out && test_line_count 8 out &&
	grep "^full.git: ok, generation 2, [0-9]* files, [0-9]* bytes, 2 records$" \
		out &&
	git store verify --full "$store" full.git sha256/src.git >out 2>err &&
	test_line_count 2 out && test_must_be_empty err &&
	test_expect_code 128 git store verify "$store" none.git 2>err &&
	grep "^error: none.git: " err
'

# file_of <repository> <pattern>: the file of the store with the content of a local
# file. Sets $file.
file_of () {
	sum=$(sha256sum <"$2" | cut -d" " -f1) &&
	file=$(find "store/repo/$1" -name "$sum*") && test -f "$file"
}

test_expect_success 'verify finds what is wrong' '
	cp -R store good &&
	file_of full.git "$(ls full.git/objects/pack/pack-*.pack | head -n 1)" &&
	rm -f "$file" &&
	test_expect_code 1 git store verify "$store" >out 2>err &&
	grep "^error: full.git: .objects/pack/.*.pack. is not in the store$" err &&
	test_line_count 1 err && test_line_count 7 out &&
	head -c 100 good/"${file#store/}" >"$file" &&
	test_expect_code 1 git store verify "$store" full.git 2>err &&
	grep "has 100 bytes in the store, but " err &&
	cp good/"${file#store/}" "$file" && chmod +w "$file" &&
	printf X | dd of="$file" bs=1 seek=50 conv=notrunc 2>dd &&
	git store verify "$store" full.git &&
	test_expect_code 1 git store verify --full "$store" full.git 2>err &&
	grep "^error: full.git: .*has another SHA-256" err &&
	test_expect_code 128 git store export "$store" full.git new.git 2>err &&
	grep "^fatal: .*has another SHA-256" err &&
	find . -maxdepth 1 -name "new.git*" >left && test_must_be_empty left &&
	cp good/"${file#store/}" "$file" &&
	git store verify --full "$store" full.git
'

test_expect_success 'verify --full finds a bitmap that is wrong' '
	stock clone -q --bare full.git wrong.git &&
	"$GIT" -C wrong.git repack -adbq &&
	bitmap=$(ls wrong.git/objects/pack/*.bitmap) && chmod +w "$bitmap" &&
	printf "\377\377" | dd of="$bitmap" bs=1 seek=120 conv=notrunc 2>dd &&
	git store import wrong.git "$store" &&
	git store verify "$store" wrong.git &&
	test_expect_code 1 git store verify --full "$store" wrong.git 2>err &&
	grep "^error: wrong.git: .*bitmap" err
'

test_expect_success 'gc removes what is older than the grace' '
	git store gc --dry-run "$store" full.git >out &&
	grep "^full.git: would remove 0 files (0 bytes) and 0 records, kept" out &&
	cp -R store younger &&
	find store -type f -exec touch -d "3 days ago" {} + &&
	git store gc -n "$store" full.git >out &&
	grep "^full.git: would remove [1-9][0-9]* files" out &&
	(cd store && find . -type f | sort) >actual &&
	(cd younger && find . -type f | sort) >expect &&
	test_cmp expect actual &&
	git store gc "$store" full.git >out &&
	grep "^full.git: removed [1-9][0-9]* files ([0-9]* bytes) and 1 records" \
		out &&
	git store verify --full "$store" full.git &&
	export_again full.git && same_as full.git out.git &&
	test_expect_code 128 git store export --generation=1 "$store" full.git \
		old.git 2>err &&
	grep "generation 1 of .full.git. was removed by git store gc" err &&
	git store log "$store" full.git >log &&
	tail -n 2 log >actual &&
	printf "generation 1\n  removed by git store gc\n" >expect &&
	test_cmp expect actual &&
	git store gc --grace=2d "$store" >out &&
	test_must_fail grep -v ": removed 0 files (0 bytes) and 0 records" out
'

test_expect_success 'a grace that is too short' '
	for grace in 11h 1s 0d 1.hour.ago now
	do
		test_expect_code 128 git store gc --grace=$grace "$store" 2>err &&
		grep "^fatal: a grace period of less than 12 hours" err || return 1
	done &&
	for grace in soon 24 5000000s 99999999999999999999h 2y
	do
		test_expect_code 128 git store gc --grace=$grace "$store" 2>err &&
		grep "^fatal: invalid time" err || return 1
	done &&
	git store gc -n --grace=12h "$store" >out &&
	git store gc -n --grace=3.days.ago "$store" >out
'

test_expect_success 'all repositories below a directory' '
	mkdir -p tree2/team/deep tree2/.hidden &&
	cp -R full.git tree2/team/deep/a.git && cp -R empty.git tree2/b.git &&
	cp -R empty.git tree2/.hidden/c.git && cp -R broken.git tree2/team/z.git &&
	ln -s ../full.git tree2/link.git &&
	test_expect_code 1 git store import --all tree2 "file://$PWD/all" \
		>out 2>err &&
	grep "^error: team/z.git: " err && test_line_count 1 err &&
	tail -n 1 out >actual &&
	echo "imported 2 repositories, 1 failed" >expect &&
	test_cmp expect actual &&
	git store list "file://$PWD/all" >actual &&
	printf "b.git\nteam/deep/a.git\n" >expect &&
	test_cmp expect actual &&
	git store verify --full "file://$PWD/all"
'

test_expect_success 'import --all goes on after a directory that fails' '
	mkdir tree3 && cp -R empty.git tree3/a.git && cp -R empty.git tree3/z.git &&
	python3 - <<-\EOP &&
	import os
	os.chdir("tree3")
	for i in range(18):
	    os.mkdir("d" * 250)
	    os.chdir("d" * 250)
	EOP
	test_expect_code 1 git store import --all tree3 "file://$PWD/long" \
		>out 2>err &&
	grep "^error: ddd.*: " err && test_line_count 1 err &&
	tail -n 1 out >actual &&
	echo "imported 2 repositories, 1 failed" >expect &&
	test_cmp expect actual
'

test_expect_success 'a repository whose first import was killed' '
	killed="file://$PWD/killed" &&
	git store import empty.git "$killed" &&
	git store import --name=other.git empty.git "$killed" &&
	rm -f killed/repo/empty.git/_/gen/* &&
	find killed/hint -type f >hints && test_line_count 2 hints &&
	git store gc "$killed" >out && test_line_count 1 out &&
	git store verify "$killed" >out && test_line_count 1 out &&
	test_expect_code 128 git store verify "$killed" empty.git 2>err &&
	grep "^error: empty.git: .empty.git. is not in the store" err &&
	git store import empty.git "$killed" &&
	git store verify "$killed" >out && test_line_count 2 out
'

test_expect_success 'no temporary files are left' '
	mkdir tmp &&
	TMPDIR=$PWD/tmp git store import --force full.git "$store" &&
	TMPDIR=$PWD/tmp git store verify --full "$store" full.git &&
	TMPDIR=$PWD/tmp git store log "$store" full.git &&
	TMPDIR=$PWD/tmp test_expect_code 128 git store import broken.git \
		"$store" &&
	find tmp -mindepth 1 >left && test_must_be_empty left
'

test_done
