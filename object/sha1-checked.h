/* SPDX-License-Identifier: MIT */
/*
 * Internal to object/: SHA-1 that detects collision attacks. Code outside of
 * object/ uses it through object/hash.h.
 */
#ifndef OBJECT_SHA1_CHECKED_H
#define OBJECT_SHA1_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object/sha1-block.h"
#include "object/sha1-vectors.h"

/*
 * Finds SHA-1 blocks that end a collision attack.
 *
 * The method is that of M. Stevens, "Counter-cryptanalysis" (CRYPTO 2013). A
 * collision attack makes two messages with the same hash. The words of their
 * last blocks differ by a known pattern, which depends on the attack. Before
 * some step, the working states of both blocks are equal. So one of the two
 * messages is enough for a test: change the words of its block by the pattern,
 * and run the steps from the common state back to the start and forward to the
 * end. If this gives the same hash, the block was made for a collision. For any
 * other block, the probability of the same hash is 2^-90 or less.
 *
 * This test costs as much as compressing the block, and there are 32 attacks
 * (vectors). So cheap conditions are checked first (sha1-vectors.h): a block of
 * an attack meets all conditions of its vector. A condition compares a bit of
 * one word with a bit of another word. The vectors of a family differ only in a
 * number K, and K determines the words that a condition compares. For example:
 *
 *	bit 4 of word K-6 is equal to bit 29 of word K-3
 *
 * All conditions compare bits of the words 35 to 64, and only eleven bits of
 * each word. For each of the eleven, there is a column: a number of 32 bits
 * with this bit of the words 35, 36, 37 and so on, bit 0 for word 35:
 *
 *	a: bit 4 of the words 35, 36, 37 ...    0 1 1 0 1 0 0 1 ...
 *	b: bit 29 of the same words             1 0 0 1 1 0 1 0 ...
 *
 * For K = 43, the condition of the example compares bit 4 of word 37 (bit 2 of
 * column a) with bit 29 of word 40 (bit 5 of column b). For K = 44, it compares
 * the next bit of both columns, and so on. So (a >> 2 ^ b >> 5) has the results
 * for all K: its bit n is 0 if the condition holds for K = 43 + n. One 32-bit
 * operation checks a condition for all K of a family. A vector operation does
 * so for eight blocks. One in twenty random blocks meets all conditions of some
 * vector, and is then tested in full.
 */
enum {
	SHA1_LANE_NR = 8,
	/*
	 * Bit 0 of each column comes from message word SHA1_COLUMN_FIRST, bit 1
	 * from the next word, and so on.
	 */
	SHA1_COLUMN_FIRST = 35,
	/*
	 * Column 0 has bit 0 of the message words, column 1 has bit 1, and so
	 * on up to column 7 with bit 7.
	 */
	SHA1_LOW_NR = 8,
	/* The columns 8 to 10 have the bits 28 to 30 of the message words. */
	SHA1_HIGH_FIRST = 28,
	SHA1_COLUMN_NR = 11,
};

/*
 * Blocks of a message that are checked together. Must be zeroed before first
 * use.
 */
struct sha1_batch {
	struct sha1_block blocks[SHA1_LANE_NR];
	uint32_t columns[SHA1_COLUMN_NR][SHA1_LANE_NR];
	unsigned nr; /* number of lanes in use */
	/* which instructions to use, see sha1_x86_detect() */
	bool has_sha, has_avx2;
};

/*
 * The attack vectors whose conditions the blocks of a batch meet. Each element
 * of `ks` is a bit mask for one family of vectors and one lane. Each bit
 * stands for one vector of the family. The bit is set if the block in this
 * lane meets the conditions of the vector.
 */
struct sha1_suspects {
	uint32_t ks[SHA1_FAMILY_NR][SHA1_LANE_NR];
	/*
	 * the bit masks in `ks` of all families, combined by OR; 0 for most
	 * lanes
	 */
	uint32_t any[SHA1_LANE_NR];
};

/*
 * Copies the bits that conditions compare from batch->blocks[lane] to
 * batch->columns[..][lane].
 */
void sha1_attack_sample(struct sha1_batch *batch, unsigned lane);

/*
 * Checks, for the blocks in all lanes at once, which attack vectors have all
 * their conditions met (see the top of this file). Reads only batch->columns,
 * which sha1_attack_sample() has filled. A block uses one lane. The results of
 * lanes that are not in use are undefined.
 */
void sha1_attack_suspects(struct sha1_suspects *out,
			  const struct sha1_batch *batch);

/*
 * Returns whether *block collides with a second block, which this function
 * computes. The 80 expanded words of the second block are those of *block,
 * XORed with the 80 words of `difference`. This function assumes that the
 * working state before step `step` is the same for both blocks. From this state
 * and its words, it computes the hash of the second block. It returns true if
 * both hashes are equal. `step` is a multiple of 4 from SHA1_KEPT_FIRST + 4 to
 * 68.
 */
bool sha1_attack_collides(const struct sha1_block *block,
			  const uint32_t *difference, unsigned step);

/*
 * Returns whether the block belongs to a collision attack with one disturbance
 * vector: that of the family `family` with K = `k` (object/sha1-vectors.h). The
 * two blocks of such an attack differ in words by the vector's differences, and
 * have the same working state before some steps of SHA-1. This function passes
 * these differences and one of these steps to sha1_attack_collides(). From the
 * state before this step, that function computes the hash of the second block,
 * and compares it with the hash of the block.
 */
bool sha1_attack_uses(const struct sha1_block *block, unsigned family,
		      unsigned k);

/*
 * Checks the blocks in the batch, and empties the batch. Returns whether one of
 * the blocks ends a collision attack.
 */
bool sha1_attack_check(struct sha1_batch *batch);

/*
 * The next functions do the same as sha1_block_compress() and
 * sha1_attack_sample(), with the SHA and AVX2 instructions of x86-64. Only
 * files of object/ call them.
 */

/*
 * Sets batch->has_sha and batch->has_avx2 if the processor has these
 * instructions. has_sha implies has_avx2.
 */
void sha1_x86_detect(struct sha1_batch *batch);

/*
 * Hashes the `nr` blocks at `bytes`: updates the chaining value `state`. Also
 * stores each block, with its working states, in the next free lane of the
 * batch, so that sha1_attack_check() can check the blocks later. There must be
 * enough free lanes. Requires has_sha.
 */
void sha1_x86_compress(struct sha1_batch *batch, uint32_t state[SHA1_STATE_NR],
		       const uint8_t *bytes, size_t nr);

/*
 * Fills lane `lane` of the columns from the block in this lane. Requires
 * has_avx2.
 */
void sha1_x86_sample(struct sha1_batch *batch, unsigned lane);

/* A running SHA-1 with detection of attacks. Reusable; one thread at a time. */
struct sha1_checked {
	uint32_t state[SHA1_STATE_NR];
	/* number of bytes hashed so far */
	uint64_t len;
	/* the last len % 64 bytes of the message so far */
	uint8_t pending[SHA1_BLOCK_LEN];
	struct sha1_batch batch;
	bool is_attack;
};

/*
 * Initialises a context, and detects the processor's instructions. Tests may
 * clear h->batch.has_* afterwards.
 */
void sha1_checked_init(struct sha1_checked *h);

/* Starts a new hash. Must also be called before the first hash. */
void sha1_checked_reset(struct sha1_checked *h);
void sha1_checked_update(struct sha1_checked *h, const void *bytes, size_t len);

/*
 * Stores the 20 bytes of the hash. Returns whether a block of the message was
 * made for a collision.
 */
bool sha1_checked_final(struct sha1_checked *h, uint8_t *out);

#endif
