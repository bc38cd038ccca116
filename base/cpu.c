/* SPDX-License-Identifier: MIT */
/*
 * Finds out the features of the processor, from the C library if it is glibc
 * 2.33 or later, otherwise from the compiler's functions.
 */
#include "base/cpu.h"

#if defined(__x86_64__) && __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>

#define HAS_POPCNT CPU_FEATURE_ACTIVE(POPCNT)
#define HAS_AVX2 CPU_FEATURE_ACTIVE(AVX2)
#define HAS_SHA CPU_FEATURE_ACTIVE(SHA)
#elif defined(__x86_64__)
#include <cpuid.h>

/*
 * Asks the processor for its SHA instructions, since some compilers do not know
 * "sha" in __builtin_cpu_supports().
 */
static bool asked_for_sha(void)
{
	unsigned a, b, c, d;

	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & bit_SHA;
}

#define HAS_POPCNT __builtin_cpu_supports("popcnt")
#define HAS_AVX2 __builtin_cpu_supports("avx2")
#define HAS_SHA asked_for_sha()
#else
#define HAS_POPCNT false
#define HAS_AVX2 false
#define HAS_SHA false
#endif

bool cpu_has_popcnt(void)
{
	return HAS_POPCNT;
}

bool cpu_has_avx2(void)
{
	return HAS_AVX2;
}

bool cpu_has_sha(void)
{
	return HAS_SHA;
}
