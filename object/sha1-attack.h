/* SPDX-License-Identifier: MIT */
/*
 * Inside of the object room: finding blocks of SHA-1 that end a collision
 * attack.
 *
 * After M. Stevens, "Counter-cryptanalysis" (CRYPTO 2013): the two blocks
 * that end a colliding pair have the same hash, and there is a step at which
 * their working states are equal. So the other block's words are this one's
 * changed by the attack's differences, and computing from that state back to
 * the start and forth to the end gives its chaining values; when the hash
 * comes out the same, somebody has made a collision. One of the two messages
 * is enough, and no other block ever passes (chance 2^-90 and less).
 *
 * That costs as much as compressing the block, for each of 32 vectors. So the
 * conditions of sha1-vectors.h come first. They compare single bits of the
 * words 35 to 64, eleven bits of each, in patterns that move with K:
 *
 *	columns[4]   bit 4 of the words 35, 36, 37 ...   0 1 1 0 1 0 0 1 ...
 *	columns[29]  bit 29 of the same words            1 0 0 1 1 0 1 0 ...
 *
 *	columns[4] >> i ^ columns[29] >> j:              a condition on
 *W[K+..][4] and W[K+..][29] for all K
 *
 * so that the Ks of a family are bits of one word, and eight blocks are eight
 * lanes. Of random blocks one in twenty meets all conditions of some vector.
 */
#ifndef OBJECT_SHA1_ATTACK_H
#define OBJECT_SHA1_ATTACK_H

#include <stdbool.h>
#include <stdint.h>

#include "object/sha1-block.h"
#include "object/sha1-vectors.h"

enum {
	SHA1_LANE_NR = 8,
	SHA1_COLUMN_FIRST = 35, /* the word at bit 0 */
	SHA1_LOW_NR = 8,        /* columns of the bits 0 to 7, and then */
	SHA1_HIGH_FIRST = 28,   /* those of 28 to 30 */
	SHA1_COLUMN_NR = 11,
};

/* Blocks to look at together. Zeroed at first. */
struct sha1_batch {
	struct sha1_block blocks[SHA1_LANE_NR];
	uint32_t columns[SHA1_COLUMN_NR][SHA1_LANE_NR];
	unsigned nr;            /* lanes in use */
	bool has_sha, has_avx2; /* instructions to use: sha1-x86.h */
};

/* The Ks of each family whose conditions the block in each lane meets. */
struct sha1_suspects {
	uint32_t ks[SHA1_FAMILY_NR][SHA1_LANE_NR];
	uint32_t any[SHA1_LANE_NR]; /* all families: 0 for most lanes */
};

/* Fill lane `lane` of the columns from its block. */
void sha1_attack_sample(struct sha1_batch *batch, unsigned lane);

/* Compare the columns. Lanes that are not in use have some result, too. */
void sha1_attack_suspects(struct sha1_suspects *out,
			  const struct sha1_batch *batch);

/*
 * Whether the block collides with one whose words differ by `difference` (80)
 * and whose working state before step `step` is the same; `step` is a multiple
 * of 4 from SHA1_KEPT_FIRST + 4 to 68.
 */
bool sha1_attack_collides(const struct sha1_block *block,
			  const uint32_t *difference, unsigned step);

/* The same for a vector, in the middle of its K's quiet steps. */
bool sha1_attack_uses(const struct sha1_block *block, unsigned family,
		      unsigned k);

/* Whether one of the blocks in use ends an attack; empties the batch. */
bool sha1_attack_check(struct sha1_batch *batch);

#endif
