/* SPDX-License-Identifier: MIT */
/*
 * Hashing with OpenSSL, which uses the processor's SHA instructions.
 *
 * This is the fast path, for trailers and for objects we have ourselves; it
 * does not look for SHA-1 collision attacks.
 */
#ifndef OBJECT_HASH_H
#define OBJECT_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "object/oid.h"
#include "object/type.h"

/* A running hash; one thread at a time, reusable. */
struct hash_ctx {
	void *evp; /* owned OpenSSL digest context */
	enum hash_algo algo;
};

/* Prepare for hashing (already started). 0 or ERR_NOMEM with *h zeroed. */
int hash_init(struct hash_ctx *h, enum hash_algo algo);
void hash_release(struct hash_ctx *h);

/* Start over. */
void hash_reset(struct hash_ctx *h);
void hash_update(struct hash_ctx *h, const void *bytes, size_t len);

/* Deliver the hash; call hash_reset() before using the context again. */
void hash_final(struct hash_ctx *h, struct oid *out);

/*
 * The id of an object of `type` with content `data`: the hash of
 * "<type> <len>\0<data>". Resets the context first.
 */
void hash_object(struct hash_ctx *h, struct oid *out, enum object_type type,
		 const void *data, size_t len);

/*
 * Whether the last hash_len() bytes of a file are the hash of those before
 * them: 0, ERR_CORRUPT (also when it is shorter) or ERR_NOMEM. `name` is for
 * the message.
 */
int hash_check_trailer(const void *bytes, size_t len, enum hash_algo algo,
		       const char *name, struct error *err);

#endif
