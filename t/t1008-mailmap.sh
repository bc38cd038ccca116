#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='mailmaps replace names and addresses as in stock Git'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-compare.sh"

# commit_as <name> <address>
commit_as () {
	test_tick && GIT_AUTHOR_NAME=$1 GIT_AUTHOR_EMAIL=$2 \
		GIT_COMMITTER_NAME=$1 GIT_COMMITTER_EMAIL=$2 \
		stock commit -q --allow-empty -m "by $1

author $1 <$2> 1 +0000" &&
	stock tag "light-$(stock rev-parse --short HEAD)"
}

test_expect_success 'setup' '
	stock init -q repo && mkdir repo/sub &&
	cd repo &&
	cat >.mailmap <<-\EOF &&
	# comment
	New Name <name@x>
	<new@x> <address@x>
	New Both <both-new@x> <both@x>
	Only Named <named-new@x> Named <named@x>
	<other@x> Other  Name <named@x>
	Any Other <named@x>
	Earlier <earlier@x> <late@x>
	Later <late@x>
	Earlier <earlier@x> Late <late@x>
	<later@x> Late <late@x>
	garbage
	  Blanks  Around   <blank@x> # comment
	Empty <> <empty@x>
	 # Hash <hash@x>
	Open <open@x
	EOF
	echo "Configured <conf@x> <address@x>" >sub/map &&
	stock add . &&
	for address in name address both named late blank empty hash open \
		NAME Both none
	do
		for name in Named NAMED Late "Other  Name" X
		do
			commit_as "$name" $address@x || return
		done
	done &&
	GIT_COMMITTER_EMAIL=both@x stock tag -am tagged v1 &&
	cd .. &&
	stock clone -q --bare repo bare.git &&
	stock clone -q repo link && mv link/.mailmap link/target &&
	ln -s target link/.mailmap
'

for repo in repo bare.git link repo/sub
do
	while read -r args
	do
		test_expect_success "$repo: $args" "
			(cd $repo && same $args)
		"
	done <<-\END
	cat-file --use-mailmap --batch-all-objects --batch='%(objectname)'
	cat-file --no-mailmap --batch-all-objects --batch-check
	cat-file --mailmap --no-use-mailmap commit HEAD
	cat-file --use-mailmap commit HEAD
	cat-file --use-mailmap -p HEAD~3
	cat-file --use-mailmap -t v1
	cat-file --use-mailmap tag v1
	cat-file --use-mailmap -p HEAD^{tree}
	cat-file --use-mailmap blob HEAD:.mailmap
	-c mailmap.blob=HEAD:sub/map cat-file --mailmap -p HEAD~50
	-c mailmap.blob=HEAD:nothing cat-file --mailmap -p HEAD~50
	-c mailmap.blob=HEAD cat-file --mailmap -p HEAD~50
	-c mailmap.file=nothing cat-file --mailmap -p HEAD~50
	END
done

# Git 2.39 prints the sizes of objects before names are replaced.
for repo in repo bare.git link
do
	for args in "--batch-all-objects --batch" "-s v1" "-s HEAD" \
		"--batch-all-objects --batch-check" \
		"--batch-all-objects --batch-check='%(objectsize)'"
	do
		test_expect_success !STOCK_239 "$repo: sizes, $args" "
			(cd $repo && same cat-file --use-mailmap $args)
		"
	done
done

test_expect_success 'sizes are those of the new content' '
	git_alone -C repo cat-file --mailmap -p v1 | wc -c >expect &&
	git_alone -C repo cat-file --mailmap -s v1 >actual &&
	test_cmp expect actual &&
	git_alone -C repo cat-file -s v1 >old && ! test_cmp old actual &&
	echo v1 | git_alone -C repo cat-file --mailmap \
		--batch-check="%(objectsize)" >actual &&
	test_cmp expect actual
'

for repo in repo bare.git
do
	for field in authorname:mailmap committername:mailmap \
		authoremail:mailmap authoremail:mailmap,trim \
		committeremail:localpart,mailmap authorname taggername:mailmap
	do
		test_expect_success !STOCK_239 "$repo: for-each-ref, $field" "
			git_alone -C $repo for-each-ref --format='%($field)' \
				>actual &&
			stock -C $repo for-each-ref --format='%($field)' \
				>expect &&
			test_cmp expect actual &&
			git_alone -C $repo for-each-ref --sort=$field >actual &&
			stock -C $repo for-each-ref --sort=$field >expect &&
			test_cmp expect actual
		"
	done
done

test_expect_success 'names and addresses of for-each-ref' '
	test_tick && GIT_AUTHOR_NAME=Someone GIT_AUTHOR_EMAIL=BOTH@x \
		stock -C repo commit -q --allow-empty -m last &&
	git_alone -C repo for-each-ref --format="%(authorname:mailmap) \
%(authoremail:mailmap) %(authoremail:trim,mailmap) %(authorname)" \
		refs/heads >actual &&
	echo "New Both <both-new@x> both-new@x Someone" >expect &&
	test_cmp expect actual
'

test_expect_success 'mailmap.file wins over .mailmap' '
	for file in "$PWD/repo/sub/map" sub/map
	do
		git -C repo -c mailmap.file="$file" cat-file --mailmap commit \
			HEAD~53 >actual && grep "<conf@x>" actual || return
	done
'

test_expect_success !STOCK_239 'the command mailmap of a batch' '
	printf "%s\n" "info v1" "mailmap true" "info v1" "contents v1" \
		"mailmap no" "contents v1" "mailmap 1" "contents HEAD" \
		"mailmap false" "info HEAD" >"$TRASH/input" &&
	same -C repo cat-file --batch-command &&
	same -C repo cat-file --batch-command --use-mailmap &&
	same -C repo cat-file --batch-command --use-mailmap --buffer &&
	echo "mailmap maybe" >"$TRASH/input" &&
	same -e -C repo cat-file --batch-command;
	code=$? && rm "$TRASH/input" && return $code
'

test_done
