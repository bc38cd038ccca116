#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='upload-pack answers as stock Git does, byte for byte'
. "$(dirname "$0")/lib.sh"

compare () {
	python3 "$GITREACH_SRC/t/wire-compare.py" server.git \
		"$GITREACH_BUILD/bin/git-upload-pack" "$STOCK_GIT upload-pack"
}

test_expect_success 'setup' '
	repo_criss_cross server.git 12 &&
	repo_tags server.git &&
	stock -C server.git update-ref refs/hidden/x main~2 &&
	stock -C server.git repack -adq
'

test_expect_success 'version 0: advertisements' '
	for key in none.key=1 uploadpack.allowTipSHA1InWant=true \
		uploadpack.allowReachableSHA1InWant=true \
		uploadpack.allowAnySHA1InWant=true uploadpack.allowFilter=true \
		transfer.hideRefs=refs/hidden transfer.hideRefs=refs/tags \
		uploadpack.hideRefs=refs/heads receive.hideRefs=refs/heads
	do
		for version in 0 1 0s 2
		do
			echo "$version $key : F" || return
		done
	done | compare
'

test_expect_success 'version 0: negotiation' '
	none=1234567890123456789012345678901234567890 &&
	for caps in "" " multi_ack" " multi_ack_detailed" \
		" multi_ack_detailed no-done" " side-band-64k" " side-band" \
		" ofs-delta thin-pack side-band-64k" " include-tag"
	do
		for version in 0 0s
		do
			sed -e "s/^/$version : want {main}$caps|/" \
				-e "s/NONE/$none/g" <<-\EOF
			F|done
			F|have {main~5}|done
			F|have {main~5}|F|done
			F|have NONE|F|have {main~9}|have NONE|F|have {main~2}|F|done
			F|have NONE|F|done
			F|F|F|done
			want {side}|F|have {main~9}|have NONE|F|have {side~1}|F|done
			EOF
		done || return
	done | compare
'

test_expect_success 'version 0: depths, filters, and malformed requests' '
	sed "s/^/0s uploadpack.allowFilter=true : /" <<-\EOF | compare
	want {main}|deepen 1|F|done
	want {main}|deepen 3|F|done
	want {main}|deepen 2147483647|F|done
	want {main}|deepen 0|F|done
	want {main}|deepen x|F|done
	want {main}|shallow {main~3}|F|have {main}|done
	want {main}|deepen-since 1112912300|F|done
	want {main}|deepen-not refs/heads/side|F|done
	want {main}|deepen-not none|F|done
	want {main} filter|filter blob:none|F|done
	want {main} filter|filter tree:1|F|done
	want {main}|filter blob:none|F|done
	want x|F
	wantx|F
	have {main}|F
	foo|F
	want {main}|F|have x|done
	want {main}|F|foo
	want {main:}|F|done
	want 1234567890123456789012345678901234567890|F|done
	EOF
'

test_expect_success 'version 2: requests as such' '
	sed "s/^/2s : /" <<-\EOF | compare
	F
	D
	command=ls-refs|F
	command=ls-refs|D|F
	command=ls-refs|object-format=sha1|agent=x|server-option=y|D|F
	command=ls-refs|object-format=sha256|D|F
	command=ls-refs|object-format=x|D|F
	command=ls-refs|object-format|D|F
	command=ls-refs|command=fetch|D|F
	command=none|D|F
	command=bundle-uri|D|F
	command=ls-refs|session-id=x|D|F
	object-format=sha1|F
	foo|F
	command=ls-refs|D|D|F
	command=ls-refs|D|E
	command=ls-refs|D|peel
	=zzzz
	=0003
	=0004
	EOF
'

test_expect_success 'version 2: ls-refs' '
	for args in "" "peel|" "symrefs|" "peel|symrefs|" "unborn|symrefs|" \
		"ref-prefix HEAD|" "ref-prefix refs/heads/|" \
		"ref-prefix refs/heads/main|ref-prefix refs/tags|peel|" \
		"ref-prefix refs/none|" "ref-prefix |" "ref-prefix|" "foo|" \
		"ref-prefix r|symrefs|" "ref-prefix refs/hidden/|"
	do
		for key in none.key=1 transfer.hideRefs=refs/hidden
		do
			echo "2s $key : command=ls-refs|D|${args}F"
		done || return
	done | compare
'

test_expect_success 'version 2: fetch' '
	sed "s/^/2s : command=fetch|D|/" <<-\EOF | compare
	F
	done|F
	want {main}|F
	want {main}|done|F
	want {annotated}|done|F
	want {main:}|done|F
	want {main:base}|done|F
	want 1234567890123456789012345678901234567890|done|F
	want {main}|want {main}|done|F
	want x|F
	want {main}|foo|F
	want {main}|have {main~3}|F
	want {main}|have {main~3}|done|F
	want {main}|have 1234567890123456789012345678901234567890|F
	want {main}|have {main}|done|F
	want {main}|want {side}|have {main~8}|F
	want {main~3}|have {main}|F
	want {main}|have x|F
	want {main}|have {main~3}|wait-for-done|F
	have {main~3}|wait-for-done|F
	have {main~3}|F
	want {main}|have {main~3}|thin-pack|ofs-delta|no-progress|include-tag|done|F
	want {main}|include-tag|done|F
	want {main}|deepen 1|done|F
	want {main}|deepen 4|done|F
	want {main}|deepen 2147483647|done|F
	want {main}|deepen 0|done|F
	want {main}|deepen 3|F
	want {main}|shallow {main~2}|have {main}|done|F
	want {main}|shallow 1234567890123456789012345678901234567890|done|F
	want {main}|shallow {main:base}|done|F
	want {main}|deepen-since 1112912300|done|F
	want {main}|deepen-not refs/heads/side|done|F
	want {main}|deepen-not side|done|F
	want-ref refs/heads/main|done|F
	filter blob:none|want {main}|done|F
	sideband-all|want {main}|done|F
	EOF
'

test_expect_success 'version 2: fetch, when more is allowed' '
	sed -e "s/^/2s uploadpack.allowFilter=true /" -e "s/:/ : command=fetch|D|/" \
		<<-\EOF | compare
	:filter blob:none|want {main}|done|F
	:filter blob:limit=10|want {main}|done|F
	:filter tree:0|want {main}|done|F
	:filter tree:2|want {main}|done|F
	:filter object:type=tree|want {main}|done|F
	:filter combine:blob:none+tree:1|want {main}|done|F
	:filter blob:none|filter tree:1|want {main}|done|F
	:filter x|want {main}|done|F
	:filter blob:none|want {main}|want {main:base}|done|F
	uploadpackfilter.allow=false:filter blob:none|want {main}|done|F
	uploadpackfilter.tree.maxDepth=1:filter tree:1|want {main}|done|F
	uploadpackfilter.tree.maxDepth=1:filter tree:2|want {main}|done|F
	uploadpackfilter.tree.allow=false:filter tree:1|want {main}|done|F
	uploadpack.allowRefInWant=true:want-ref refs/heads/main|done|F
	uploadpack.allowRefInWant=true:want-ref refs/heads/none|done|F
	uploadpack.allowRefInWant=true:want-ref main|done|F
	uploadpack.allowRefInWant=true:want-ref HEAD|have {main~2}|F
	uploadpack.allowSidebandAll=true:sideband-all|want {main}|done|F
	uploadpack.allowSidebandAll=true:sideband-all|want {main}|have {main~2}|F
	uploadpack.allowSidebandAll=true:sideband-all|want {main}|deepen 2|done|F
	EOF
'

test_done
