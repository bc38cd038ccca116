/* SPDX-License-Identifier: MIT */
/* Compresses a block of SHA-1 on any processor; sha1-x86.c is faster. */
#include <string.h>

#include "base/bytes.h"
#include "object/sha1-block.h"

/*
 * A vector of four message words. ACROSS() combines words of two vectors that
 * are in registers. A load of these words from memory would be slower: it would
 * wait until both vectors are stored.
 */
typedef uint32_t quad __attribute__((vector_size(16)));

#define ACROSS(q1, q2, first)                                                  \
	__builtin_shufflevector(q1, q2, first, first + 1, first + 2, first + 3)

static inline quad turned(quad q, int left)
{
	return q << left | q >> (32 - left);
}

/*
 * Expands the 16 words of a block to 80 words. Word i is the XOR of the words
 * i-3, i-8, i-14 and i-16, rotated by one. For i >= 32, this rule is applied
 * twice: word i is the XOR of the words i-6, i-16, i-28 and i-32, rotated by
 * two. Four consecutive words then do not depend on each other, and are
 * computed together. For i < 32, the fourth of four words depends on the first,
 * so it is corrected afterwards.
 */
static void expand(uint32_t *w, const uint8_t *bytes)
{
	quad q[SHA1_STEP_NR / 4];
	const quad zero = {0};
	unsigned i;

	for (i = 0; i < 16; i++)
		w[i] = load_be32(bytes + 4 * i);
	memcpy(q, w, 4 * sizeof(*q));
	for (i = 4; i < 8; i++) {
		quad sum = q[i - 4] ^ ACROSS(q[i - 4], q[i - 3], 2) ^ q[i - 2] ^
			   ACROSS(q[i - 1], zero, 1);

		q[i] = turned(sum, 1);
		q[i] ^= turned(ACROSS(zero, q[i], 1), 1);
	}
	for (; i < SHA1_STEP_NR / 4; i++)
		q[i] = turned(ACROSS(q[i - 2], q[i - 1], 2) ^ q[i - 4] ^
				      q[i - 7] ^ q[i - 8],
			      2);
	memcpy(w + 16, q + 4, 64 * sizeof(*w));
}

void sha1_block_compress(struct sha1_block *block,
			 uint32_t state[SHA1_STATE_NR], const uint8_t *bytes)
{
	uint32_t s[SHA1_STATE_NR];

	memcpy(s, state, sizeof(s));
	memcpy(block->before, state, sizeof(s));
	expand(block->words, bytes);
	sha1_step_run(s, block->words, 0, 0, 20);
	sha1_step_run(s, block->words, 1, 20, 40);
	sha1_step_run(s, block->words, 2, 40, SHA1_KEPT_FIRST);
	for (unsigned nr = 0; nr < SHA1_KEPT_NR; nr++) {
		unsigned i = SHA1_KEPT_FIRST + 4 * nr;

		memcpy(block->kept[nr], s, sizeof(block->kept[nr]));
		if (nr < 2)
			sha1_step_run(s, block->words, 2, i, i + 4);
		else
			sha1_step_run(s, block->words, 3, i, i + 4);
	}
	sha1_step_run(s, block->words, 3, SHA1_KEPT_FIRST + 4 * SHA1_KEPT_NR,
		      SHA1_STEP_NR);
	for (unsigned i = 0; i < SHA1_STATE_NR; i++)
		state[i] += s[i];
	memcpy(block->after, state, sizeof(s));
}
