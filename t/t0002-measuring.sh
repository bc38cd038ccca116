#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='the generator of repositories and the tools that measure'
. "$(dirname "$0")/lib.sh"

perf=$GITREACH_SRC/t/perf
small='--commits 400 --files 100 --refs 150'

test_expect_success 'a generated repository is as large as asked for' '
	stock init -q --bare gen.git &&
	"$perf/gen-repo" $small >stream &&
	stock -C gen.git fast-import --quiet <stream &&
	stock -C gen.git rev-list --count --all >commits &&
	echo 400 >expect &&
	test_cmp expect commits &&
	stock -C gen.git for-each-ref >refs &&
	test_line_count 150 refs &&
	stock -C gen.git fsck --full --strict
'

test_expect_success 'a generated repository has merges, deep paths and all kinds of tags' '
	stock -C gen.git rev-list --merges --all >merges &&
	test "$(wc -l <merges)" -gt 20 &&
	stock -C gen.git ls-tree -r --name-only main >paths &&
	grep ".*/.*/.*/" paths &&
	stock -C gen.git for-each-ref --format="%(objecttype)" refs/tags |
		sort -u >kinds &&
	test_line_count 2 kinds
'

test_expect_success 'gen-repo writes the same stream for the same arguments' '
	"$perf/gen-repo" $small >again &&
	cmp stream again &&
	"$perf/gen-repo" $small --seed 2 >other &&
	! cmp -s stream other
'

test_expect_success 'counting objects that one pack has copied from another' '
	stock -C gen.git repack -adfq &&
	pack=$(ls gen.git/objects/pack/*.pack) &&
	"$perf/verbatim" gen.git "$pack" >whole &&
	{
		echo "$(stock -C gen.git rev-list --objects --all | wc -l)" \
			$(($(wc -c <"$pack") - 32)) &&
		echo 0 0
	} >expect &&
	test_cmp expect whole &&
	stock -C gen.git pack-objects --all --stdout -q --delta-base-offset \
		--no-use-bitmap-index --no-reuse-object --compression=1 \
		</dev/null >made &&
	"$perf/verbatim" gen.git made >parts &&
	test "$(sed -n "s/ .*//; 2p" parts)" -gt 400 &&
	awk "{ n += \$2 } END { print n + 32 }" parts >sum &&
	wc -c <made >expect &&
	test_cmp expect sum
'

test_expect_success 'measuring the ways to hash' '
	"$GITREACH_BUILD/t/helper/hash-speed" stream >speeds &&
	"$GITREACH_BUILD/t/helper/hash-speed" -100 stream >>speeds &&
	test_line_count 8 speeds &&
	! grep -v "^[a-z-]* [1-9][0-9]*$" speeds
'

test_expect_success 'measuring the time to the first byte of a pack' '
	"$perf/first-byte" gen.git "$STOCK_GIT" upload-pack >ms &&
	grep "^[0-9]*\.[0-9]$" ms
'

test_expect_success 'measuring the main job with stock Git' '
	cp -r gen.git job.git &&
	PATH=$STOCK_PATH "$perf/main-job" "$STOCK_GIT" "" job.git >facts &&
	grep "^bitmaps [1-9]" facts &&
	grep "^stock_fsck ok$" facts &&
	stock -C gen.git rev-list --objects --all >expect &&
	test "$(sed -n "s/^counted //p" facts)" -eq "$(wc -l <expect)"
'

test_expect_success 'measuring clients of gitreachd and of stock git daemon' '
	for program in "$GITREACH_BUILD/bin/gitreachd" "$STOCK_GIT"
	do
		PATH=$STOCK_PATH "$perf/served" "$program" gen.git >facts &&
		grep "^served_fsck ok$" facts &&
		grep "^served_depth_ms [0-9.]*$" facts || return
	done
'

test_expect_success 'measuring requests with a bitmap index and by walking' '
	cp -r gen.git strategies.git &&
	"$GITREACH_BUILD/bin/git" -C strategies.git repack -adbq &&
	GIT=$GITREACH_BUILD/bin/git "$perf/strategies" -n 1 strategies.git \
		>table &&
	for row in "one branch" "all refs" "one commit .* bitmap" \
		"many haves" "1 old" "blob:none" "depth 1 "
	do
		grep "^$row" table || return
	done &&
	! grep None table &&
	grep "^5000 commits *too little history$" table &&
	grep "^worst ratio [0-9]*\.[0-9][0-9]$" table
'

test_expect_success 'measuring growing repositories, and drawing the costs' '
	GIT=$GITREACH_BUILD/bin/git STOCK_GIT=$STOCK_GIT PERF_DIR=$PWD \
		GITREACHD=$GITREACH_BUILD/bin/gitreachd REQUESTS=4 \
		PYTHONDONTWRITEBYTECODE=1 "$perf/growth" 60:5 120:5 60:80 \
		--clients=60:5:1,2 >growth.tsv 2>log &&
	test_line_count 33 growth.tsv &&
	"$perf/plot" growth.tsv >growth.svg &&
	python3 -c "import sys, xml.dom.minidom as xml
xml.parse(sys.argv[1])" growth.svg &&
	grep -c "<polyline" growth.svg >curves &&
	echo 20 >expect &&
	test_cmp expect curves &&
	test_must_fail "$perf/plot" --jobs=none growth.tsv
'

test_expect_success 'the drawings in the documentation are those of the figures' '
	figures=$perf/results/growth.md &&
	"$perf/plot" --jobs=build,clone "$figures" >guide.svg &&
	test_cmp "$GITREACH_SRC/Documentation/guide/growth.svg" guide.svg &&
	"$perf/plot" --jobs=build,query,walk "$figures" >design.svg &&
	test_cmp "$GITREACH_SRC/Documentation/design/growth.svg" design.svg
'

test_expect_success 'comparing gitreach with stock Git, job by job' '
	mkdir work &&
	REPO=gen.git PERF_DIR=work PYTHONDONTWRITEBYTECODE=1 \
		"$perf/run" -n 1 >table &&
	for row in "repack -adb" "count all, walking" "count all, by bitmaps" \
		"pack of everything" "pack of one branch" "first byte" \
		"index-pack, 1 thread" "index-pack, 2 threads" \
		"repack -adf, 1 thread" "repack -adf, 2 threads" \
		"repack --geometric" "fetch, 1 commits" \
		"fetch, 1[0-9]* commits" "pack, bytes" "bitmap, bytes"
	do
		grep "^$row.* [0-9]*\.[0-9][0-9]" table || return
	done &&
	nr=$(stock -C gen.git rev-list --objects --all | wc -l) &&
	grep "^repack --geometric.*([1-9][0-9]* packs)" table &&
	grep "^pack of everything .*($nr objects, .* stock $nr, " table &&
	rmdir work &&
	test_must_fail env REPO=gen.git "$perf/run" no-such-job
'

test_expect_success 'measuring requests to upload-pack, one by one' '
	cp -r gen.git served.git &&
	git -C served.git repack -adbq &&
	stock -C gen.git repack -adbq &&
	PYTHONDONTWRITEBYTECODE=1 "$perf/serve" -n 1 "$GIT" served.git \
		"$STOCK_GIT" gen.git >table &&
	for row in ls-refs up-to-date fetch-1 fetch-30 depth-1 next branch all
	do
		grep "^$row .* [0-9]*\.[0-9][0-9]$" table || return
	done &&
	test_must_fail "$perf/serve" "$GIT" gen.git "$STOCK_GIT" gen.git \
		no-such-job
'

test_expect_success 'measuring fetches of clients that are some commits behind' '
	for side in ours theirs
	do
		cp -r gen.git $side.git || return
	done &&
	"$GITREACH_BUILD/bin/git" -C ours.git repack -adbq &&
	PYTHONDONTWRITEBYTECODE=1 "$perf/fetches" -n 1 "$GIT" ours.git \
		"$STOCK_GIT" theirs.git >table &&
	for row in 1 10 100 median largest
	do
		grep "^$row .* [0-9]*\.[0-9][0-9]$" table || return
	done &&
	! grep "^1000 " table &&
	PYTHONDONTWRITEBYTECODE=1 "$perf/fetches" "$GIT" ours.git \
		"$STOCK_GIT" theirs.git 3 >table &&
	test_line_count 5 table &&
	for kind in branches depth
	do
		PYTHONDONTWRITEBYTECODE=1 "$perf/fetches" -n 1 -k $kind \
			"$GIT" ours.git "$STOCK_GIT" theirs.git 1 >table &&
		grep "^1  *[0-9]* .*[0-9]\.[0-9][0-9]" table || return
	done &&
	test_must_fail "$perf/fetches" -k x "$GIT" ours.git "$STOCK_GIT" \
		theirs.git &&
	test_must_fail "$perf/fetches" "$GIT" ours.git "$STOCK_GIT" theirs.git \
		100000
'

# The test needs a cgroup of Linux, which counts the CPU time of each server.
for dir in /sys/fs/cgroup/cpuacct /sys/fs/cgroup/cpu,cpuacct /sys/fs/cgroup
do
	try=$dir/gitreach-try.$$
	test -w $dir && mkdir $try 2>/dev/null || continue
	sh -c 'echo $$ >"$0/cgroup.procs"' $try 2>/dev/null
	moved=$?
	rmdir $try
	test $moved = 0 && test_set_prereq CGROUP && break
done
for dir in /sys/fs/cgroup/memory /sys/fs/cgroup
do
	try=$dir/gitreach-try.$$
	test -w $dir && mkdir $try 2>/dev/null || continue
	sh -c 'cd "$0" && echo $$ >cgroup.procs && { test -e memory.peak ||
		test -e memory.max_usage_in_bytes; }' $try 2>/dev/null
	limits=$?
	rmdir $try
	test $limits = 0 && test_set_prereq MEMORY_CGROUP && break
done
(
	PATH=$STOCK_PATH:/usr/sbin:/sbin
	command -v nginx && command -v fcgiwrap
) >/dev/null && test_set_prereq NGINX

test_expect_success CGROUP,NGINX 'measuring three servers of Git over HTTP' '
	mkdir served &&
	PATH=$STOCK_PATH PYTHONDONTWRITEBYTECODE=1 "$perf/server" -n 1 -k 3 \
		served "$GITREACH_BUILD" "$STOCK_GIT" gen.git >table &&
	for row in info-refs ls-refs fetch-none nothing depth-1 clone one \
		first-byte
	do
		grep "^$row  *[mG][sB]" table || return
	done &&
	! grep " 0\.000 " table &&
	test_must_fail "$perf/server" served "$GITREACH_BUILD" "$STOCK_GIT" \
		gen.git no-such-job
'

test_expect_success CGROUP,NGINX 'a crowd, also before a cache of bytes' '
	for depth in 0 1
	do
		PATH=$STOCK_PATH PYTHONDONTWRITEBYTECODE=1 "$perf/crowd" -k 3 \
			-n 2 -d $depth crowd.$depth "$GITREACH_BUILD/bin" \
			"$STOCK_GIT" gen.git >table &&
		cat table &&
		for side in none memory directory process process-dir nginx
		do
			grep "^$side  *[0-9]" table || return 1
		done &&
		grep "^nginx-cache  *1  *0  *2  " table &&
		grep "^memory .* 2 runs: median [0-9.]*, highest [0-9.]*$" \
			table || return 1
	done
'

test_expect_success MEMORY_CGROUP 'many full fetches with little memory' '
	PYTHONDONTWRITEBYTECODE=1 "$perf/burst" -k 3 -m 512 \
		"$GITREACH_BUILD/bin/gitreachd" gen.git >table &&
	cat table &&
	grep "^3 of 3 fetches succeeded, " table &&
	grep "^memory: peak [1-9].* 0 killed$" table
'

test_expect_success 'measuring many refs, shown and hidden' '
	PYTHONDONTWRITEBYTECODE=1 "$perf/refs" "$GIT" "$STOCK_GIT" 300 \
		hidden >table &&
	test_line_count 11 table &&
	grep "^files  *hidden: push .* [0-9]*\.[0-9][0-9]$" table &&
	grep "^reftable  *hidden: want-ref " table
'

test_expect_success 'measuring many refs to the commits of an existing repository' '
	PYTHONDONTWRITEBYTECODE=1 "$perf/refs" -r gen.git "$GIT" "$STOCK_GIT" \
		300 "hidden: want" >table &&
	test_line_count 5 table &&
	grep "^files  *hidden: want .* [0-9]*\.[0-9][0-9]$" table &&
	test_expect_code 2 "$perf/refs" "$GIT" 2>err &&
	grep "^Makes a repository in" err
'

test_expect_success 'measuring a SHA-256 repository with a relative alternate' '
	REPO_FORMAT=sha256 repo_linear lender.git 5 &&
	stock clone -q --bare -s lender.git borrower.git &&
	echo ../../lender.git/objects >borrower.git/objects/info/alternates &&
	PYTHONDONTWRITEBYTECODE=1 "$perf/refs" -r borrower.git "$GIT" \
		"$STOCK_GIT" 300 hidden >table &&
	test_line_count 11 table &&
	echo "\"../../lender.git/objects\"" \
		>borrower.git/objects/info/alternates &&
	test_must_fail env PYTHONDONTWRITEBYTECODE=1 "$perf/refs" \
		-r borrower.git "$GIT" "$STOCK_GIT" 300 hidden 2>err &&
	grep "borrower.git: a quoted path" err
'

test_done
