/* SPDX-License-Identifier: MIT */
/*
 * Inside of the object room: SHA-1 that notices collision attacks; see
 * sha1-attack.h for how. object/hash.h is the way to it.
 */
#ifndef OBJECT_SHA1_CHECKED_H
#define OBJECT_SHA1_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object/sha1-attack.h"

/* A running hash; one thread at a time, reusable. */
struct sha1_checked {
	uint32_t state[SHA1_STATE_NR];
	uint64_t len;                    /* bytes so far */
	uint8_t pending[SHA1_BLOCK_LEN]; /* the last len % 64 of them */
	struct sha1_batch batch;
	bool is_attack;
};

/* Prepare; finds out what the processor has (tests clear h->batch.has_*). */
void sha1_checked_init(struct sha1_checked *h);

/* Start over; needed before the first bytes, too. */
void sha1_checked_reset(struct sha1_checked *h);
void sha1_checked_update(struct sha1_checked *h, const void *bytes, size_t len);

/*
 * Deliver the 20 bytes of the hash. Returns whether a block of the message
 * was made for a collision.
 */
bool sha1_checked_final(struct sha1_checked *h, uint8_t *out);

#endif
