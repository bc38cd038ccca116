#!/bin/bash -eu
# SPDX-License-Identifier: MIT
#
# Build all fuzz targets for OSS-Fuzz, at the top of the tree. OSS-Fuzz sets CC, CXX,
# CFLAGS and CXXFLAGS with the flags of the sanitizer, LIB_FUZZING_ENGINE (what a
# target is linked with), WORK for objects, and OUT for programs and seeds.
#
# The machine that runs the targets has the C library only, so all other libraries
# are linked as archives. libcurl is never loaded by a fuzz target. The engine may
# be C++, so the C++ compiler links.
make -s -j"$(nproc)" CC="$CC" CFLAGS="$CFLAGS" build/libinner.a

flags="-std=c11 -D_GNU_SOURCE -I. $(tools/libs cflags)"
libs="-Wl,-Bstatic $(tools/libs libs) -Wl,-Bdynamic -ldl -lm -pthread"
for source in t/fuzz/fuzz-*.c
do
	target=$(basename "$source" .c)
	$CC $CFLAGS $flags -c -o "$WORK/$target.o" "$source"
	$CXX $CXXFLAGS -o "$OUT/$target" "$WORK/$target.o" build/libinner.a \
		$LIB_FUZZING_ENGINE $libs
	zip -q -j -r "$OUT/${target}_seed_corpus.zip" \
		"t/fuzz/corpus/${target#fuzz-}"
	printf '[libfuzzer]\nrss_limit_mb = 2560\n\n[asan]\n%s\n' \
		'allocator_may_return_null = 1' >"$OUT/$target.options"
done
