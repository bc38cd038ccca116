#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='small requests open no more than they need'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-strace.sh"

# serve <want> <have>: a fetch of protocol version 2 without progress.
serve () {
	pkt command=fetch agent=test object-format=sha1 D \
		thin-pack ofs-delta include-tag no-progress \
		"want $1" "have $2" done F >request &&
	GIT_PROTOCOL=version=2 $TRACER "$GIT" upload-pack --stateless-rpc \
		server.git <request >answer 2>err
}

# opened: files of the server's repository that were, without names of packs.
opened () {
	sed -n "s,.*$PWD/server.git/\([^\"]*\)\".* = [0-9].*,\1,p; \
		s,.*\"server.git/\([^\"]*\)\".* = [0-9].*,\1,p" log |
	sed "s/pack-[0-9a-f]*[.]/pack./" | sort
}

test_expect_success 'setup: a repository with all files that speed up requests' '
	repo_many server.git 2500 &&
	repo_tags server.git &&
	git -C server.git pack-refs --all &&
	git -C server.git repack -adbq &&
	git -C server.git commit-graph write --reachable &&
	tip=$(git -C server.git rev-parse main) &&
	parent=$(git -C server.git rev-parse main^)
'

test_expect_success STRACE 'files opened if nothing is new' '
	TRACER="strace -f -e trace=openat -o log" serve $tip $tip &&
	cat >expect <<-\EOF &&
	HEAD
	config
	config
	objects/pack
	objects/pack/pack.idx
	objects/pack/pack.pack
	EOF
	opened >actual &&
	test_cmp expect actual
'

test_expect_success STRACE 'files opened for one new commit, each once' '
	TRACER="strace -f -e trace=openat -o log" serve $tip $parent &&
	cat >expect <<-\EOF &&
	HEAD
	config
	config
	objects/info/commit-graph
	objects/pack
	objects/pack/pack.bitmap
	objects/pack/pack.idx
	objects/pack/pack.pack
	objects/pack/pack.rev
	EOF
	opened | grep -v refs >actual &&
	test_cmp expect actual
'

# A client may ask for thousands of prefixes.
test_expect_success STRACE 'the directory of refs is read a few times for many prefixes' '
	set -- &&
	for i in $(seq 1000 1499)
	do
		set -- "$@" "ref-prefix refs/heads/m$i"
	done &&
	pkt command=ls-refs D "$@" "ref-prefix refs/heads/main" F >request &&
	GIT_PROTOCOL=version=2 strace -f -e trace=openat -o log "$GIT" \
		upload-pack --stateless-rpc server.git <request >answer &&
	grep -a " refs/heads/main" answer &&
	test $(grep -c "server.git/refs/heads/*\".*O_DIRECTORY" log) -lt 40
'

# versions: how many of what is sent are deltas against what the client has.
versions () {
	rm -f trace &&
	git -C many.git rev-parse tip tip^ >tips &&
	pkt command=fetch agent=test object-format=sha1 D thin-pack ofs-delta \
		"want $(sed -n 1p tips)" "have $(sed -n 2p tips)" done F \
		>request &&
	GIT_TRACE2_EVENT="$PWD/trace" GIT_PROTOCOL=version=2 \
		"$GIT" upload-pack --stateless-rpc many.git <request >answer &&
	sed -n "s/.*\"objects_recompressed\":\([0-9]*\).*/\1/p" trace
}

# change <from> <to>: a commit that changes files of 20 kB, and a repack.
change () {
	for i in $(seq $1 $2)
	do
		echo "what is new in $i" >>many/file-$i || return
	done &&
	git -C many commit -qam "$1 to $2" &&
	git -C many push -qf ../many.git HEAD:refs/heads/tip &&
	git -C many.git repack -adbq
}

test_expect_success 'few versions are read, even of many changed files' '
	git init -q many && git init -q --bare many.git &&
	for i in $(seq 40)
	do
		seq $((i * 10000)) $((i * 10000 + 3000)) >many/file-$i ||
		return
	done &&
	git -C many add . && git -C many commit -qm all &&
	change 1 3 && test "$(versions)" -eq 4 &&
	change 1 40 && many=$(versions) &&
	test "$many" -gt 4 && test "$many" -lt 10
'

test_expect_success STRACE 'a small response takes two writes, an empty response one' '
	TRACER="strace -f -e trace=write,writev -o log" serve $tip $parent &&
	test "$(grep -c "writev(" log)" -eq 2 &&
	TRACER="strace -f -e trace=write,writev -o log" serve $tip $tip &&
	test "$(grep -c "writev(" log)" -eq 1
'

# No prepared answer fits to the clone, because no ref names the wanted commit.
test_expect_success STRACE 'the header of a large pack is sent before its entries' '
	pkt command=fetch agent=test object-format=sha1 D ofs-delta \
		no-progress "want $parent" done F >request &&
	GIT_PROTOCOL=version=2 strace -f -s 100 -e trace=writev -o log \
		"$GIT" upload-pack --stateless-rpc server.git <request >answer &&
	grep writev log | sed 1q >first &&
	grep "packfile.*0011.1PACK" first &&
	grep " = 30$" first
'

# The directory for children is not looked for, nor the program.
test_expect_success STRACE 'no child process is prepared' '
	TRACER="strace -f -e trace=readlink,access -o log" \
		serve $tip $parent &&
	test_must_fail grep -e /proc/self -e gitreach\" log
'

# What is broken and was opened would be complained about.
test_expect_success 'if nothing is new, no other file is examined' '
	serve $tip $tip && mv answer expect && test_must_be_empty err &&
	for file in server.git/objects/pack/pack-*.bitmap \
		server.git/objects/pack/pack-*.rev \
		server.git/objects/info/commit-graph \
		server.git/packed-refs
	do
		chmod u+w $file && echo broken >$file || return 1
	done &&
	serve $tip $tip && test_cmp expect answer && test_must_be_empty err
'

test_done
