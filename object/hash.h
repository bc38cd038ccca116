/* SPDX-License-Identifier: MIT */
/*
 * Hashing, in two ways. hash_init() is for trailers and for objects that we
 * have: OpenSSL, with the processor's SHA instructions. hash_init_checked() is
 * for objects that come from elsewhere: the same hash, and with SHA-1 a look at
 * each block for the marks of a collision attack (object/sha1-attack.h), at 70%
 * of the speed. Documentation/design/hashing.md says who uses which.
 */
#ifndef OBJECT_HASH_H
#define OBJECT_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/oid.h"
#include "object/type.h"

union hash_state;

/* A running hash; one thread at a time, reusable. */
struct hash_ctx {
	union hash_state *state;      /* owned: of OpenSSL's function */
	struct sha1_checked *checked; /* owned; in its place, or NULL */
	enum hash_algo algo;
	bool is_attack; /* of the last hash_final(), when checked */
};

/* Prepare for hashing (already started). 0 or ERR_NOMEM with *h zeroed. */
int hash_init(struct hash_ctx *h, enum hash_algo algo);

/* The same, and have SHA-1 checked; see hash_refuse_attack(). */
int hash_init_checked(struct hash_ctx *h, enum hash_algo algo);
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
 * After hash_final() or hash_object() gave `oid`: 0, or ERR_CORRUPT when the
 * hash is checked and what it was made of belongs to a collision attack.
 */
int hash_refuse_attack(const struct hash_ctx *h, const struct oid *oid,
		       struct error *err);

/*
 * Whether the last hash_len() bytes of a file are the hash of those before
 * them: 0, ERR_CORRUPT (also when it is shorter) or ERR_NOMEM. `name` is for
 * the message.
 */
int hash_check_trailer(const void *bytes, size_t len, enum hash_algo algo,
		       const char *name, struct error *err);

/*
 * Append the hash of what *out has from `start` on: how files end. *checksum
 * (NULL allowed) is that hash. 0 or ERR_NOMEM.
 */
int hash_append_trailer(struct buf *out, size_t start, enum hash_algo algo,
			struct oid *checksum);

/*
 * Whether the trailers of two files are right, as hash_check_trailer() checks
 * one: 1, 0 (it is not known of which it is not) or ERR_NOMEM. Where the
 * processor has SHA instructions two files with SHA-1 that are equally long
 * take little more than half as long as one after the other.
 */
int hash_check_two(const void *a, size_t a_len, const void *b, size_t b_len,
		   enum hash_algo algo);

/*
 * Computes the HMAC (RFC 2104) of `len` bytes with a key of any length. *out is
 * as long as the hash. Returns 0 or ERR_NOMEM.
 */
int hash_hmac(struct oid *out, enum hash_algo algo, const void *key,
	      size_t key_len, const void *bytes, size_t len);

#endif
