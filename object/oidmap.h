/* SPDX-License-Identifier: MIT */
/*
 * A hash table from object ids to 32-bit values, with open addressing. The hash
 * has a secret key, so a hostile peer cannot choose ids that
 * collide.
 */
#ifndef OBJECT_OIDMAP_H
#define OBJECT_OIDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "object/oid.h"

/*
 * A keyed hash of object ids, for hash tables. Without the key nobody can
 * predict the slot of an id.
 *
 * The bytes of an id are random only if nobody chose them. A peer that sends
 * ids of missing objects ("shallow", "have") can send thousands of ids with
 * equal leading bytes. A peer can also search for objects whose ids have equal
 * leading bytes. So all bytes are hashed, with a key that is a secret of the
 * process:
 *
 * 	(w0 + k0) * (w1 + k1) + (w2 + k2) * (w3 + k3)   mod 2^128
 *
 * The w are the 64-bit words of the id, and the k those of the key. For any two
 * ids, only very few keys give equal sums. (NH of J. Black et al., "UMAC: Fast
 * and Secure Message Authentication", 1999.) A second multiplication mixes the
 * upper bits of the sum into the lower bits, which tables use. A hash takes a
 * few nanoseconds.
 */
struct oidhash {
	uint64_t key[4];
};

/*
 * Sets hash->key to the secret key of this process. All tables of a process
 * have the same key. Each process has a different one.
 */
void oidhash_init(struct oidhash *hash);

/* Returns the XOR of the upper and the lower half of a product. */
static inline uint64_t oidhash_fold(unsigned __int128 product)
{
	return (uint64_t)(product >> 64 ^ product);
}

/* Returns the keyed hash of an id. Hash tables use its low bits. */
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

struct oidmap_entry {
	struct oid oid;
	uint32_t value;
	bool used;
};

struct oidmap {
	/* owned; NULL, or an array whose number of slots is a power of two */
	struct oidmap_entry *slots;
	size_t slot_nr;
	size_t nr;           /* number of entries */
	struct oidhash hash; /* set if there are slots */
};

#define OIDMAP_INIT                                                            \
	{                                                                      \
		NULL, 0, 0,                                                    \
		{                                                              \
			{                                                      \
				0                                              \
			}                                                      \
		}                                                              \
	}

void oidmap_release(struct oidmap *map);

/*
 * Looks up an id. Returns false if the id is absent; *value is then unchanged.
 * Threads may share a map that no thread changes.
 */
bool oidmap_get(const struct oidmap *map, const struct oid *oid,
		uint32_t *value);

/*
 * Inserts an id with `value` if the map does not have the id. Returns 1 if the
 * id was inserted, 0 if the map had it, or ERR_NOMEM. If the map had the id,
 * *existing (NULL allowed) is set to its value.
 */
int oidmap_add(struct oidmap *map, const struct oid *oid, uint32_t value,
	       uint32_t *existing);

/*
 * Inserts an id with `value`, or replaces the value of the id. Returns 0 or
 * ERR_NOMEM.
 */
int oidmap_put(struct oidmap *map, const struct oid *oid, uint32_t value);

#endif
