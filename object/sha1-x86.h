/* SPDX-License-Identifier: MIT */
/*
 * Inside of the object room: sha1_block_compress() and sha1_attack_sample()
 * with the SHA and AVX2 instructions of x86-64.
 */
#ifndef OBJECT_SHA1_X86_H
#define OBJECT_SHA1_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object/sha1-attack.h"

/*
 * Set batch->has_sha and ->has_avx2 to what the processor has; SHA only where
 * there is AVX2.
 */
void sha1_x86_detect(struct sha1_batch *batch);

/*
 * Put `nr` blocks at `bytes` into the chaining value, and into the batch from
 * lane batch->nr on; they have to fit. Only with SHA.
 */
void sha1_x86_compress(struct sha1_batch *batch, uint32_t state[SHA1_STATE_NR],
		       const uint8_t *bytes, size_t nr);

/* Fill lane `lane` of the columns from its block. Only with AVX2. */
void sha1_x86_sample(struct sha1_batch *batch, unsigned lane);

#endif
