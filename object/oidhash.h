/* SPDX-License-Identifier: MIT */
/*
 * Where an id belongs in a hash table, so that nobody can tell who has not got
 * the table's key.
 *
 * The bytes of an id are as good as random only where nobody chose them: who
 * sends ids of nothing ("shallow", "have") can have thousands that begin alike,
 * and of real objects as many as hashing can find. So all bytes go into the
 * hash, with a key that is a secret of the process:
 *
 *	(w0 + k0) * (w1 + k1) + (w2 + k2) * (w3 + k3)   mod 2^128
 *
 * of the 64-bit words of id and key: two ids, however chosen, have the same sum
 * for hardly any key. (NH of J. Black et al., "UMAC: Fast and Secure Message
 * Authentication", 1999.) A further product spreads what the sum has in its
 * upper bits over those that a table uses. It costs a few nanoseconds.
 */
#ifndef OBJECT_OIDHASH_H
#define OBJECT_OIDHASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "object/oid.h"

struct oidhash {
	uint64_t key[4];
};

/* The key of this process: the same for all tables, another in each run. */
void oidhash_init(struct oidhash *hash);

/* Both halves of a product in one. */
static inline uint64_t oidhash_fold(unsigned __int128 product)
{
	return (uint64_t)(product >> 64 ^ product);
}

/* The place of an id, of which a table uses the low bits. */
static inline size_t oidhash_of(const struct oidhash *hash,
				const struct oid *oid)
{
	const uint64_t *k = hash->key;
	unsigned __int128 sum;
	uint64_t w[4];

	memcpy(w, oid->bytes, sizeof(w));
	sum = (unsigned __int128)(w[0] + k[0]) * (w[1] + k[1]) +
	      (unsigned __int128)(w[2] + k[2]) * (w[3] + k[3]);
	return oidhash_fold((unsigned __int128)oidhash_fold(sum) *
			    UINT64_C(0x9e3779b97f4a7c15));
}

#endif
