#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='contrib/oss-fuzz/build.sh makes fuzz targets that OSS-Fuzz accepts

Only with GITREACH_OSSFUZZ=1, because the test builds the library with a sanitizer,
in some minutes. The environment is that of the images of OSS-Fuzz, with the clang
of this machine.'
. "$(dirname "$0")/../lib.sh"

CC=$(command -v clang || command -v clang-14)
CXX=$(command -v clang++ || command -v clang++-14)
if test -z "${GITREACH_OSSFUZZ-}"
then
	skip_all='GITREACH_OSSFUZZ is not set'
	test_done
fi
if test -z "$CC" || test -z "$CXX" || ! command -v zip >/dev/null
then
	skip_all='clang or zip is missing (apt-get install clang zip)'
	test_done
fi

test_expect_success 'build.sh builds each target' '
	mkdir src out work &&
	stock -C "$GITREACH_SRC" ls-files -z |
		tar -C "$GITREACH_SRC" --null -T - -c | tar -C src -x &&
	(
		flags="-O1 -fno-omit-frame-pointer -gline-tables-only" &&
		CFLAGS="$flags -fsanitize=address,fuzzer-no-link" &&
		CXXFLAGS=$CFLAGS LIB_FUZZING_ENGINE=-fsanitize=fuzzer &&
		OUT=$PWD/out WORK=$PWD/work &&
		export CC CXX CFLAGS CXXFLAGS LIB_FUZZING_ENGINE OUT WORK &&
		unset GITREACH_BUILD MAKEFLAGS MFLAGS &&
		cd src && contrib/oss-fuzz/build.sh
	) &&
	ls "$GITREACH_SRC"/t/fuzz/fuzz-*.c | sed "s|.*/||; s|\.c$||" >expect &&
	(cd out && ls | grep -v "\.") >actual &&
	test_cmp_sorted expect actual
'

test_expect_success 'each target needs the C library only, and runs its seeds' '
	for target in $(cat actual)
	do
		ldd out/$target | sed "s/(.*//" | grep -vE \
			"linux-vdso|ld-linux|lib(c|m|dl|rt|pthread|resolv|gcc_s|stdc\+\+)\.so" |
			grep . && return 1
		mkdir seeds && unzip -q -d seeds out/${target}_seed_corpus.zip &&
		ASAN_OPTIONS=allocator_may_return_null=1 \
			out/$target -runs=200 -seed=1 seeds >log 2>&1 || {
			cat log
			return 1
		}
		rm -r seeds
	done
'

test_done
