#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='tools/fuzz: findings, kept inputs, and inputs for the corpus

The fuzz target is a small one, in a tree that the test makes.'
. "$(dirname "$0")/lib.sh"

FUZZ=$GITREACH_SRC/tools/fuzz
CC=$(command -v clang || command -v clang-14)
# libFuzzer cannot merge in a directory whose name has blanks.
tree=$(mktemp -d) && trap 'rm -rf "$tree"' EXIT && cd "$tree" || exit
cat >target.c <<\EOF_C
#include <stdint.h>
#include <stdlib.h>

volatile int seen;

/* No edge and no comparison tells the fuzzer which input this is. */
__attribute__((no_sanitize("coverage"))) static int
is_bug(const uint8_t *bytes, size_t len)
{
	uint32_t hash = 1;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ bytes[i]) * 16777619;
	return hash == 3332486329u;
}

__attribute__((noinline)) static void first(void)
{
	seen++;
}

__attribute__((noinline)) static void second(void)
{
	seen--;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	if (is_bug(bytes, len))
		abort();
	if (len && bytes[0] == 'Q')
		first();
	if (len && bytes[0] == 'R')
		second();
	return 0;
}
EOF_C
mkdir -p build/t/fuzz t/fuzz/corpus/small
if test -z "$CC" || ! "$CC" -fsanitize=fuzzer -O1 -o build/t/fuzz/fuzz-small target.c
then
	skip_all='clang or its libFuzzer is missing (apt-get install clang)'
	test_done
fi
cp target.c t/fuzz/fuzz-small.c
printf seed >t/fuzz/corpus/small/seed
BUILD=build
export BUILD

test_expect_success 'a run without a finding' '
	"$FUZZ" run --runs 3000 --corpus kept >out &&
	grep "^small .* ok$" out &&
	grep "^1 targets, 0 findings; the inputs are in $PWD/kept" out &&
	ls kept/small >inputs &&
	test -s inputs
'

test_expect_success 'a finding: the path of the input, and exit code 1' '
	printf BUG >t/fuzz/corpus/small/bad &&
	test_expect_code 1 "$FUZZ" run --runs 10 --corpus kept small >out &&
	rm t/fuzz/corpus/small/bad &&
	grep "^small .* FAILED$" out &&
	path=$(sed -n "s/^small: //p" out) &&
	printf BUG >expect &&
	test_cmp expect "$path" &&
	grep "1 targets, 1 findings" out
'

test_expect_success 'a target that does not exist' '
	test_expect_code 2 "$FUZZ" run --corpus kept larger 2>err &&
	grep "no such target: larger" err
'

# corpus: the inputs of the tree, with their content
corpus () {
	for name in $(ls t/fuzz/corpus/small)
	do
		echo "${name%%-*} $(head -c 10 "t/fuzz/corpus/small/$name")"
	done
}

test_expect_success 'merge takes small inputs that reach new edges' '
	rm -rf kept &&
	mkdir -p kept/small &&
	printf Q >kept/small/1 &&
	printf zzz >kept/small/2 &&
	{ printf R && head -c 2000 /dev/zero | tr "\0" x; } >kept/small/3 &&
	"$FUZZ" merge --budget 4 --corpus kept &&
	echo "seed seed" >expect &&
	corpus >actual &&
	test_cmp expect actual &&
	"$FUZZ" merge --corpus kept >out &&
	echo "small: 1 inputs" >expect &&
	test_cmp expect out &&
	printf "found Q\nseed seed\n" >expect &&
	corpus >actual &&
	test_cmp expect actual &&
	"$FUZZ" merge --corpus kept >out &&
	test_must_be_empty out &&
	"$FUZZ" merge --largest 4000 --corpus kept &&
	corpus | grep "^found Rxxxx"
'

test_done
