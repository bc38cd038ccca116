/* SPDX-License-Identifier: MIT */
/*
 * Disturbance vectors are named by a type, the number K of a step, and the
 * number b of a bit, as in Stevens' paper (Documentation/design/hashing.md).
 * This table has the message differences of the vectors with b = 0. A
 * difference has 80 words, from word 0 to word 79, and K is from 43 to 56.
 * Vectors of one type differ only in K, and have the same words at the same
 * distance from K. So the table has one row for each of the two types. A row
 * begins with the word that is 56 words before word K, because K is at most 56.
 * It ends with the word that is 36 words after word K, because K is at least 43
 * and the last word is word 79. The difference of one vector is a part of the
 * row: 80 consecutive words, of which the first is K words before word K. If
 * d[] is the vector, word i of the difference is
 *
 *	d[i] ^ (d[i-1] <<< 5) ^ d[i-2] ^ ((d[i-3] ^ d[i-4] ^ d[i-5]) <<< 30)
 *
 * So each word contains a disturbance, and the corrections of the five
 * disturbances before it. The unit test computes the table from the definition.
 */
#include "object/sha1-block.h"
#include "object/sha1-vectors.h"

enum {
	BEFORE_K = SHA1_K_LAST,
	AFTER_K = SHA1_STEP_NR - 1 - SHA1_K_FIRST,
};

static const uint32_t differences[2][BEFORE_K + 1 + AFTER_K] = {
	{
		0x08000012, 0x28000010, 0xbc000010, 0x24000004, 0x04000010,
		0xe8000000, 0x0800000c, 0x18000000, 0xb800000a, 0xc8000010,
		0x2c000010, 0xf4000014, 0xb4000008, 0x08000000, 0x9800000c,
		0xd8000010, 0x08000010, 0xb8000010, 0x98000000, 0x60000000,
		0x00000008, 0xc0000000, 0x90000014, 0x10000010, 0xb8000014,
		0x28000000, 0x20000010, 0x48000000, 0x08000018, 0x60000000,
		0x90000010, 0xf0000010, 0x90000008, 0xc0000000, 0x90000010,
		0xf0000010, 0xb0000008, 0x40000000, 0x90000000, 0xf0000010,
		0x90000018, 0x60000000, 0x90000010, 0x90000010, 0x90000000,
		0x80000000, 0x00000010, 0xa0000000, 0x20000000, 0xa0000000,
		0x20000010, 0x00000000, 0x20000010, 0x20000000, 0x00000010,
		0x20000000, 0x00000010, 0xa0000000, 0x00000000, 0x20000000,
		0x20000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000,
		0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000,
		0x00000000, 0x00000001, 0x00000020, 0x00000001, 0x40000002,
		0x40000040, 0x40000002, 0x80000004, 0x80000080, 0x80000006,
		0x00000049, 0x00000103, 0x80000009, 0x80000012, 0x80000202,
		0x00000018, 0x00000164, 0x00000408, 0x800000e6, 0x8000004c,
		0x00000803, 0x80000161, 0x80000599,
	},
	{
		0x2600001a, 0x00000010, 0x0400001c, 0xcc000014, 0x0c000002,
		0xc0000010, 0xb400001c, 0x3c000004, 0xbc00001a, 0x20000010,
		0x2400001c, 0xec000014, 0x0c000002, 0xc0000010, 0xb400001c,
		0x2c000004, 0xbc000018, 0xb0000010, 0x0000000c, 0xb8000010,
		0x08000018, 0x78000010, 0x08000014, 0x70000010, 0xb800001c,
		0xe8000000, 0xb0000004, 0x58000010, 0xb000000c, 0x48000000,
		0xb0000000, 0xb8000010, 0x98000010, 0xa0000000, 0x00000000,
		0x00000000, 0x20000000, 0x80000000, 0x00000010, 0x00000000,
		0x20000010, 0x20000000, 0x00000010, 0x60000000, 0x00000018,
		0xe0000000, 0x90000000, 0x30000010, 0xb0000000, 0x20000000,
		0x20000000, 0xa0000000, 0x00000010, 0x80000000, 0x20000000,
		0x20000000, 0x20000000, 0x80000000, 0x00000010, 0x00000000,
		0x20000010, 0xa0000000, 0x00000000, 0x20000000, 0x20000000,
		0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000,
		0x00000000, 0x00000001, 0x00000020, 0x00000001, 0x40000002,
		0x40000041, 0x40000022, 0x80000005, 0xc0000082, 0xc0000046,
		0x4000004b, 0x80000107, 0x00000089, 0x00000014, 0x8000024b,
		0x0000011b, 0x8000016d, 0x8000041a, 0x000002e4, 0x80000054,
		0x00000967, 0x80000569, 0x0000057f,
	},
};

void sha1_vectors_difference(uint32_t *out, unsigned family, unsigned k)
{
	const uint32_t *from = differences[family / 2] + BEFORE_K - k;
	unsigned turn = family % 2 ? 2 : 0;

	for (unsigned i = 0; i < SHA1_STEP_NR; i++)
		out[i] = sha1_rotate(from[i], turn);
}
