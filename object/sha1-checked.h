/* SPDX-License-Identifier: MIT */
/*
 * Internal to the object room: SHA-1 that detects collision attacks
 * (sha1-attack.h). Other rooms use it through object/hash.h.
 */
#ifndef OBJECT_SHA1_CHECKED_H
#define OBJECT_SHA1_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object/sha1-attack.h"

/* A running hash. Reusable; one thread at a time. */
struct sha1_checked {
	uint32_t state[SHA1_STATE_NR];
	uint64_t len; /* bytes so far */
	/* the last len % 64 of these bytes */
	uint8_t pending[SHA1_BLOCK_LEN];
	struct sha1_batch batch;
	bool is_attack;
};

/*
 * Prepares a hash and detects the processor's instructions. Tests may clear
 * h->batch.has_* afterwards.
 */
void sha1_checked_init(struct sha1_checked *h);

/* Starts a new hash. Also required before the first one. */
void sha1_checked_reset(struct sha1_checked *h);
void sha1_checked_update(struct sha1_checked *h, const void *bytes, size_t len);

/*
 * Stores the 20 bytes of the hash. Returns whether a block of the message was
 * made for a collision.
 */
bool sha1_checked_final(struct sha1_checked *h, uint8_t *out);

#endif
