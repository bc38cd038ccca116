#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='the installed libgitreach, used by other programs'
. "$(dirname "$0")/lib.sh"

# With a sanitizer, the programs would have to be linked with the sanitizer's
# library.
if ! test_have_prereq PLAIN
then
	skip_all='a plain build is needed'
	test_done
fi
MAKEFLAGS=$(echo "${MAKEFLAGS-}" |
	sed 's/\(^\| \)-j[0-9]*//g; s/--jobserver-[a-z]*=[^ ]*//g')
export MAKEFLAGS

test_expect_success 'the library is installed' '
	make -C "$GITREACH_SRC" --no-print-directory install \
		DESTDIR="$PWD/dest" >log 2>&1 &&
	header=$(find dest -name gitreach.h) &&
	lib=${header%/include/gitreach.h}/lib
'

# Flags that pkg-config gives for an installation below DESTDIR. The paths are
# relative, because the path of the test contains a blank.
flags () {
	PKG_CONFIG_PATH=$lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=dest \
		PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 \
		PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 \
		pkg-config --cflags --libs "$@" gitreach
}

for name in count difference fork-use unreachable write-pack verify
do
	test_expect_success "examples/$name.c compiles" '
		cc -std=c99 -pedantic -Wall -Wextra -Werror -o "$name" \
			"$GITREACH_SRC/Documentation/examples/$name.c" \
			$(flags)
	'
done
reach=$GITREACH_SRC/Documentation/examples/reach.py

# A program may have functions with the names of functions inside the library.
test_expect_success 'the static library defines gitreach_* only' '
	cat >names.c <<-\EOF &&
	#include <gitreach.h>
	#include <stdio.h>

	int buf_append(void);
	int buf_append(void)
	{
		return 1;
	}

	int approxidate_parse(void);
	int approxidate_parse(void)
	{
		return 2;
	}

	int main(void)
	{
		printf("%d %d\n", buf_append(), approxidate_parse());
		gitreach_error_free(gitreach_error_new());
		return 0;
	}
	EOF
	cc -std=c99 -Wall -Wextra -Werror -o names names.c \
		$(flags | tr " " "\n" | grep ^-I) $lib/libgitreach.a \
		$(flags --static | tr " " "\n" | grep "^-[lp]" |
		grep -v gitreach) &&
	./names >actual && echo "1 2" >expect && test_cmp expect actual &&
	nm -g --defined-only $lib/libgitreach.a | sed -n "s/.* [A-Z] //p" >all &&
	grep ^gitreach_query_run all && ! grep -v ^gitreach_ all
'

run () {
	LD_LIBRARY_PATH=$PWD/$lib "$@"
}

# The history has roots, criss-cross merges, an octopus merge, and tags of all
# types. The bitmap index has most of the commits; newer commits are outside.
test_expect_success 'a repository' '
	repo_criss_cross repo 20 &&
	repo_octopus octopus 5 &&
	stock -C repo fetch -q ../octopus "refs/heads/*:refs/heads/o/*" &&
	repo_tags repo &&
	git -C repo repack -adbq &&
	repo_linear newer 12 &&
	stock -C repo fetch -q ../newer "refs/heads/main:refs/heads/newer"
'

# stock_counts <dir>: prints "<type>s <nr> objects <bytes> bytes" for each type,
# in the form of the example.
stock_counts () {
	stock -C "$1" rev-list --objects --no-object-names --all |
	stock -C "$1" cat-file \
		--batch-check="%(objecttype) %(objectsize:disk)" |
	awk '{ nr[$1]++; bytes[$1] += $2; nr["all"]++; bytes["all"] += $2 }
	END {
		n = split("commit tree blob tag", types, " ")
		for (i = 1; i <= n; i++)
			printf "%ss %d objects %d bytes\n", types[i],
				nr[types[i]], bytes[types[i]]
		printf "all %d objects %d bytes\n", nr["all"], bytes["all"]
	}'
}

test_expect_success 'counting: the same number as stock Git' '
	stock_counts repo >expect &&
	run ./count repo >actual 2>how &&
	test_cmp expect actual &&
	grep "found by bitmaps" how &&
	stock -C repo config pack.useBitmaps false &&
	run ./count repo >actual 2>how &&
	test_cmp expect actual &&
	grep "found by walking" how &&
	stock -C repo config --unset pack.useBitmaps
'

# exact_difference <a> <b>: lists exactly the objects that <a> reaches and <b>
# does not.
exact_difference () {
	repo_objects repo "$1" >in-a &&
	repo_objects repo "$2" >in-b &&
	LC_ALL=C comm -23 in-a in-b
}

test_expect_success 'differences: the same objects as stock Git' '
	for pair in "main main~7" "side main" "newer main" "deep side" \
		"tree main~15" "o/main newer"
	do
		set -- $pair &&
		exact_difference $1 $2 >expect &&
		run ./difference repo $1 $2 >lines &&
		cut -d" " -f1 lines >ids &&
		test_cmp_sorted expect ids &&
		stock -C repo cat-file \
			--batch-check="%(objectname) %(objecttype)" \
			<ids >expect &&
		test_cmp expect lines || return 1
	done
'

# below <prefix>...: lists the objects that refs with these prefixes reach.
below () {
	repo_objects repo $(stock -C repo for-each-ref --format="%(objectname)" \
		"$@")
}

# exact_use <prefix> <prefix>...: counts the objects that only refs with the
# first prefix reach.
exact_use () {
	prefix=$1 &&
	others=$(shift && printf "%s\n" "$@" | grep -vxF "$prefix") &&
	below "$prefix" >in-a &&
	below $others >in-b &&
	LC_ALL=C comm -23 in-a in-b >ids &&
	bytes=$(stock -C repo cat-file --batch-check="%(objectsize:disk)" <ids |
		awk "{ n += \$1 } END { print n + 0 }") &&
	echo "$prefix $(wc -l <ids) objects, $bytes bytes"
}

test_expect_success 'groups of references: what only one of them needs' '
	set -- refs/heads/o/ refs/heads/main refs/heads/newer refs/tags/ &&
	for group
	do
		exact_use $group "$@" || return 1
	done >expect &&
	run ./fork-use repo "$@" >actual &&
	test_cmp expect actual &&
	test_must_fail run ./fork-use nowhere refs/ 2>err &&
	grep "^error: " err
'

test_expect_success 'objects that no reference reaches' '
	stock clone -q --bare repo loose &&
	for i in 1 2 3
	do
		echo "nobody has $i" | stock -C loose hash-object -w --stdin ||
			return 1
	done >expect &&
	stock -C loose cat-file --batch-all-objects \
		--batch-check="%(objectname)" >all &&
	run ./unreachable loose <all >actual &&
	test_cmp_sorted expect actual &&
	test_must_fail run ./unreachable loose <names.c
'

test_expect_success 'packs: the stock Git completes and checks them' '
	stock clone -q --bare --no-local --single-branch repo receiver 2>err &&
	stock -C receiver update-ref refs/heads/main main~7 &&
	stock -C receiver repack -adq &&
	stock -C receiver prune --expire=now &&
	run ./write-pack repo newer main~7 >thin.pack 2>log &&
	grep "as they were stored" log &&
	stock -C receiver index-pack --stdin --fix-thin <thin.pack &&
	newer=$(stock -C repo rev-parse newer) &&
	stock -C receiver update-ref refs/heads/newer $newer &&
	stock -C receiver fsck --full --strict
'

test_expect_success 'verifying a right index, and one with a wrong bit' '
	run ./verify repo >out &&
	grep "bitmaps over .* objects: ok" out &&
	run ./verify repo 5 >out &&
	cp -R octopus bare-of-bitmaps &&
	test_expect_code 1 run ./verify bare-of-bitmaps >out &&
	grep "there is no bitmap index" out
'

test_expect_success 'opening a directory that is no repository sets a message' '
	for program in "count nowhere" "difference nowhere a b" \
		"write-pack nowhere a"
	do
		test_expect_code 1 run ./$program >out 2>err &&
		test_must_be_empty out &&
		grep "^error: .*nowhere" err || return 1
	done &&
	test_expect_code 1 run ./write-pack repo nobody 2>err &&
	grep "^error: .*nobody" err
'

if command -v python3 >/dev/null 2>&1
then
	test_set_prereq PYTHON
	export PYTHONDONTWRITEBYTECODE=1
	export PYTHONPATH=$GITREACH_SRC/bindings/python/src
fi

test_expect_success PYTHON 'the example in Python' '
	exact_difference newer main~3 >expect &&
	run python3 "$reach" repo newer "^main~3" >ids 2>err &&
	test_cmp_sorted expect ids &&
	grep "by bitmaps" err &&
	stock -C repo rev-list --objects --no-object-names \
		--filter=blob:none --all >expect &&
	run python3 "$reach" repo --filter=blob:none \
		$(stock -C repo for-each-ref --format="%(refname)") >ids &&
	test_cmp_sorted expect ids &&
	stock_counts repo >counts &&
	sed -n "s/s \([0-9]*\) objects.*/ \1/p" counts >expect &&
	run python3 "$reach" repo --count \
		$(stock -C repo for-each-ref --format="%(refname)") >actual &&
	test_cmp expect actual &&
	test_expect_code 1 run python3 "$reach" nowhere main 2>err &&
	grep "^error: .*nowhere" err
'

test_expect_success PYTHON '500 random requests: bitmaps and walks agree' '
	run python3 "$GITREACH_SRC/t/interop/random-requests" repo 500 50 >out &&
	grep "^500 requests, [1-9][0-9]* objects: the same" out
'

# A copy of the files that tools/check-abi reads. The test changes these files.
abi_tree () {
	rm -rf tree && mkdir -p tree/include &&
	cp -R "$GITREACH_SRC/tools" tree/ &&
	cp "$GITREACH_SRC/include/gitreach.h" "$GITREACH_SRC/include/gitreach.abi" \
		tree/include
}
check_abi () {
	(cd tree && BUILD=$GITREACH_BUILD tools/check-abi) 2>err
}

test_expect_success PYTHON 'check-abi allows new members at the end only' '
	abi_tree && check_abi &&
	# Members at the end are allowed, but must be recorded.
	sed "s/^\(	uint64_t seed;.*\)/	uint64_t more;\n\1/" tree/include/gitreach.h >h &&
	mv h tree/include/gitreach.h &&
	! check_abi && grep "changed: struct gitreach_verify_options.seed" err &&
	grep "needs another GITREACH_ABI_VERSION" err &&
	abi_tree &&
	sed "/^struct gitreach_verify_options/,/^}/s/^	void \*progress_ctx;/&\n	uint64_t more;/" \
		tree/include/gitreach.h >h && mv h tree/include/gitreach.h &&
	! check_abi && grep "not recorded: struct gitreach_verify_options.more" err &&
	! grep "GITREACH_ABI_VERSION" err &&
	(cd tree && tools/check-abi --write) && check_abi &&
	sed "s/GITREACH_IO = -2/GITREACH_IO = -12/" tree/include/gitreach.h >h &&
	mv h tree/include/gitreach.h &&
	! check_abi && grep "changed: value GITREACH_IO -2" err &&
	abi_tree &&
	echo "GITREACH_API int gitreach_nothing(void);" >>tree/include/gitreach.h &&
	! check_abi && grep "gitreach_nothing is declared and not exported" err
'

test_done
