/* SPDX-License-Identifier: MIT */
/*
 * Counts bits. The x86-64 baseline has no popcount instruction, although every
 * processor of the last fifteen years has one. The compiler's fallback is a
 * call per word. So the loops are compiled twice, and each call checks once
 * which loop the processor can run.
 */
#include "base/cpu.h"
#include "ewah/popcount.h"
#include "ewah/rlw.h"

#define LOOP static inline __attribute__((always_inline)) size_t

LOOP count_loop(const uint8_t *p, size_t nr)
{
	size_t i, count = 0;

	for (i = 0; i < nr; i++)
		count += ewah_popcount_word(ewah_load(p + 8 * i, false));
	return count;
}

LOOP count_and_loop(const uint8_t *p, bool big_endian, const uint64_t *words,
		    size_t nr)
{
	size_t i, count = 0;

	for (i = 0; i < nr; i++)
		count += ewah_popcount_word(ewah_load(p + 8 * i, big_endian) &
					    words[i]);
	return count;
}

#ifdef __x86_64__
#define POPCNT static __attribute__((target("popcnt"))) size_t

POPCNT count_popcnt(const uint8_t *p, size_t nr)
{
	return count_loop(p, nr);
}

POPCNT count_and_popcnt(const uint8_t *p, bool big_endian,
			const uint64_t *words, size_t nr)
{
	if (big_endian)
		return count_and_loop(p, true, words, nr);
	return count_and_loop(p, false, words, nr);
}

#else
#define count_popcnt count_loop
#define count_and_popcnt count_and_loop
#endif

size_t ewah_popcount_bytes(const uint8_t *p, size_t nr)
{
	return cpu_has_popcnt() ? count_popcnt(p, nr) : count_loop(p, nr);
}

size_t ewah_popcount_bytes_and(const uint8_t *p, bool big_endian,
			       const uint64_t *words, size_t nr)
{
	if (cpu_has_popcnt())
		return count_and_popcnt(p, big_endian, words, nr);
	return count_and_loop(p, big_endian, words, nr);
}

size_t ewah_popcount(const uint64_t *words, size_t nr)
{
	return ewah_popcount_bytes((const uint8_t *)words, nr);
}

size_t ewah_popcount_and(const uint64_t *a, const uint64_t *b, size_t nr)
{
	return ewah_popcount_bytes_and((const uint8_t *)a, false, b, nr);
}
