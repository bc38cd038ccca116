/* SPDX-License-Identifier: MIT */
/*
 * Internal to the object room: sha1_block_compress() and sha1_attack_sample()
 * with the SHA and AVX2 instructions of x86-64.
 */
#ifndef OBJECT_SHA1_X86_H
#define OBJECT_SHA1_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object/sha1-attack.h"

/*
 * Sets batch->has_sha and batch->has_avx2 to what the processor supports.
 * has_sha implies has_avx2.
 */
void sha1_x86_detect(struct sha1_batch *batch);

/*
 * Compresses `nr` blocks at `bytes` into the chaining value, and stores them in
 * the batch from lane batch->nr on. There must be enough free lanes. Requires
 * has_sha.
 */
void sha1_x86_compress(struct sha1_batch *batch, uint32_t state[SHA1_STATE_NR],
		       const uint8_t *bytes, size_t nr);

/* Fills lane `lane` of the columns from its block. Requires has_avx2. */
void sha1_x86_sample(struct sha1_batch *batch, unsigned lane);

#endif
