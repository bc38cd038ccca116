#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='how many threads commands start: pack.threads and its default'
. "$(dirname "$0")/lib.sh"

if ! test_have_prereq PLAIN
then
	skip_all='a plain build is needed'
	test_done
fi

# threads_of <command>...: runs the command with any input. Prints the number of
# threads that it starts.
threads_of () {
	: >threads &&
	THREADS_FILE=$PWD/threads \
	LD_PRELOAD=$GITREACH_BUILD/t/helper/preload-threads.so "$@" >out 2>err ||
	{
		cat err >&2
		return 1
	}
	wc -c <threads
}

# The bitmap index has only old commits. Most commits can only be found by
# walking, which may use threads.
test_expect_success 'setup' '
	repo_linear repo.git 150 &&
	repo_linear big.git 450 &&
	stock -C repo.git repack -adbq &&
	stock -C repo.git fetch -q ../big.git main:newer &&
	stock -C repo.git repack -dq &&
	stock -C repo.git rev-list --objects --all >objects &&
	stock -C repo.git pack-objects -q --stdout <objects >all.pack
'

cat >commands <<\EOC
rev-list --count --objects --use-bitmap-index --all
rev-list --count --objects --use-bitmap-index newer ^main
pack-objects --all --stdout -q
pack-objects --all --stdout -q --no-use-bitmap-index
pack-objects --all -q x
multi-pack-index write --bitmap
bitmap verify
commit-graph write --reachable --changed-paths
fsck
verify-pack -v all.pack
index-pack -o x.idx ../all.pack
repack -ad --no-write-bitmap-index -q
repack -adb -q
gc -q
EOC

test_expect_success 'pack.threads=1 starts no thread' '
	stock index-pack -o all.idx all.pack && cp all.* repo.git &&
	cp -R repo.git copy.git &&
	while read -r command
	do
		nr=$(threads_of "$GIT" -C copy.git -c pack.threads=1 $command \
			</dev/null) &&
		echo "$nr $command" || return
	done <commands >actual &&
	sed "s/^/0 /" commands >expect &&
	test_cmp expect actual
'

test "$(getconf _NPROCESSORS_ONLN)" -gt 1 && test_set_prereq PROCESSORS

test_expect_success PROCESSORS 'by default, threads are started' '
	while read -r command
	do
		nr=$(threads_of "$GIT" -C repo.git $command </dev/null) &&
		test $nr -gt 0 || return
	done <commands
'

cat >query.c <<\EOC
#include <gitreach.h>
#include <stdio.h>
#include <stdlib.h>

/* <repository> <threads>: a bitmap query of all refs */
int main(int argc, char **argv)
{
	gitreach_error *err = gitreach_error_new();
	gitreach_repo *repo;
	gitreach_query *query;
	gitreach_set *set;

	if (argc != 3 || gitreach_repo_open(&repo, argv[1], 0, err) ||
	    gitreach_query_new(&query, repo, err) ||
	    gitreach_query_set(query, GITREACH_STRATEGY, GITREACH_BITMAP, err) ||
	    gitreach_query_set(query, GITREACH_THREADS, atoi(argv[2]), err) ||
	    gitreach_query_want_refs(query, "", err) ||
	    gitreach_query_run(&set, query, err)) {
		fprintf(stderr, "%s\n", gitreach_error_message(err));
		return 1;
	}
	gitreach_set_free(set);
	gitreach_query_free(query);
	gitreach_repo_close(repo);
	gitreach_error_free(err);
	return 0;
}
EOC

test_expect_success 'the library: GITREACH_THREADS' '
	cc -I"$GITREACH_SRC/include" -o query query.c -L"$GITREACH_BUILD" \
		-lgitreach &&
	stock clone -q --bare --no-local --single-branch -b main copy.git \
		old.git && stock -C old.git repack -adbq &&
	stock -C old.git fetch -q ../copy.git newer:newer &&
	test 0 = $(LD_LIBRARY_PATH=$GITREACH_BUILD threads_of ./query old.git 1) &&
	if test_have_prereq PROCESSORS
	then
		test 0 != $(LD_LIBRARY_PATH=$GITREACH_BUILD threads_of ./query old.git 0)
	fi
'

# At most one thread is allowed: the timer of keep-alive packets may be a
# thread.
test_expect_success 'pack.threads=1: fetches and pushes' '
	stock init -q --bare to.git && stock -C to.git config pack.threads 1 &&
	cp -R repo.git from.git && stock -C from.git config pack.threads 1 &&
	cat >counted <<-EOF &&
	#!/bin/sh
	LD_PRELOAD="$GITREACH_BUILD/t/helper/preload-threads.so"
	export LD_PRELOAD
	exec "$GIT" "\$@"
	EOF
	chmod +x counted && : >threads &&
	THREADS_FILE=$PWD/threads stock clone -q --bare --no-local \
		-u "\"$PWD/counted\" upload-pack" from.git clone.git &&
	THREADS_FILE=$PWD/threads stock -C clone.git push -q \
		--receive-pack="\"$PWD/counted\" receive-pack" ../to.git \
		main newer &&
	test $(wc -c <threads) -le 1
'

test_done
