#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='prepared answers of unusual repositories, and their key'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"

UP=--upload-pack=$GITREACH_BUILD/bin/git-upload-pack

test_expect_success 'setup' '
	repo_linear r.git 300 &&
	stock -C r.git symbolic-ref HEAD refs/heads/main &&
	stock -C r.git tag -a -m one one main~20 &&
	"$GIT" -C r.git repack -adbq &&
	test -f r.git/objects/info/prepared
'

test_expect_success 'a shallow repository gets its history back' '
	stock clone -q --bare --depth 3 "$UP" "file://$PWD/r.git" s.git &&
	"$GIT" -C s.git repack -adbq &&
	"$GIT" -C s.git bitmap verify &&
	cp s.git/objects/info/prepared answers &&
	stock -C s.git fetch -q --unshallow "$UP" &&
	cmp answers s.git/objects/info/prepared &&
	rm -rf c &&
	stock clone -q --bare --single-branch "$UP" "file://$PWD/s.git" c &&
	stock -C c fsck --full --strict &&
	stock -C r.git rev-list --count main >expect &&
	stock -C c rev-list --count main >actual &&
	test_cmp expect actual
'

test_expect_success 'a partial clone prepares no answers' '
	stock -C r.git config uploadpack.allowFilter true &&
	stock clone -q --bare --filter=blob:none "$UP" \
		"file://$PWD/r.git" p.git &&
	stock -C p.git update-ref refs/heads/own \
		$(stock -C p.git commit-tree -p main -m own main^{tree}) &&
	"$GIT" -C p.git repack -adbq &&
	"$GIT" -C p.git gc -q --prune=now &&
	stock -C p.git fsck &&
	stock -C p.git config remote.origin.url /dev/null &&
	stock -C p.git rev-list --count own
'

test_expect_success 'HEAD is detached and there is no branch' '
	cp -R r.git d.git &&
	stock -C d.git update-ref --no-deref HEAD main &&
	for ref in $(stock -C d.git for-each-ref --format="%(refname)" \
		refs/heads refs/tags)
	do
		stock -C d.git update-ref refs/pull${ref#refs} $ref &&
		stock -C d.git update-ref -d $ref || return
	done &&
	"$GIT" -C d.git repack -adbq &&
	"$GIT" -C d.git bitmap verify >out &&
	grep "^verified=3 of=3 path=.*objects/info/prepared$" out
'

test_expect_success 'if prepared answers cannot be written, a warning is printed' '
	cp -R r.git w.git &&
	rm -f w.git/objects/info/prepared &&
	mkdir w.git/objects/info/prepared &&
	"$GIT" -C w.git repack -adbq 2>err &&
	grep "^warning: .*objects/info/prepared" err &&
	ls w.git/objects/info >actual &&
	! grep tmp_prepared actual &&
	stock -C w.git fsck --full &&
	rm -rf c &&
	stock clone -q --bare "$UP" "file://$PWD/w.git" c
'

test_expect_success 'a broken file does not hide the answers of an alternate' '
	"$GIT" -C r.git repack -adbq &&
	rm -rf member.git &&
	stock clone -q --bare --shared r.git member.git &&
	echo broken >member.git/objects/info/prepared &&
	rm -rf c events &&
	GIT_TRACE2_EVENT=$PWD/events stock clone -q --bare --depth 1 \
		--no-tags "$UP" "file://$PWD/member.git" c &&
	grep "\"strategy\":\"prepared\"" events
'

test_expect_success 'repack.prepareAnswers, and an invalid value' '
	"$GIT" -C r.git -c repack.prepareAnswers=false repack -adbq &&
	! test -e r.git/objects/info/prepared &&
	ls r.git/objects/pack >expect &&
	test_must_fail "$GIT" -C r.git -c repack.prepareAnswers=maybe \
		repack -adbfq --depth=1 2>err &&
	grep -i "repack.prepareanswers" err &&
	ls r.git/objects/pack >actual &&
	test_cmp expect actual &&
	"$GIT" -C r.git repack -adbq &&
	test -f r.git/objects/info/prepared
'

test_done
