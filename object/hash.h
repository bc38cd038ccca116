/* SPDX-License-Identifier: MIT */
/*
 * Computes hashes with one of two implementations.
 *
 * hash_init() is for checksums of files, such as the trailer at the end of a
 * pack or an index file, and for ids of objects that the repository already
 * has. Its implementation is OpenSSL with the processor's SHA instructions.
 *
 * hash_init_checked() is for ids of new objects, which come from other
 * programs, and for commands that check objects, such as `git fsck`. Its
 * implementation computes the same hash at 70% of the speed, and searches SHA-1
 * blocks for signs of a collision attack (object/sha1-checked.h).
 *
 * Documentation/design/hashing.md lists the users of both functions.
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

/* A running hash. Reusable; one thread at a time. */
struct hash_ctx {
	/* owned: the state of OpenSSL's function */
	union hash_state *state;
	/*
	 * owned: the state of SHA-1 with detection of attacks; NULL: `state` is
	 * used instead
	 */
	struct sha1_checked *checked;
	enum hash_algo algo;
	/*
	 * true: the last hash_final() found a collision attack; can be true
	 * only if `checked` is set
	 */
	bool is_attack;
};

/*
 * Initialises and starts a hash. Returns 0 or ERR_NOMEM. After an error, *h is
 * zeroed.
 */
int hash_init(struct hash_ctx *h, enum hash_algo algo);

/*
 * Works like hash_init(), and also looks for collision attacks on SHA-1; see
 * hash_refuse_attack(). Returns 0 or ERR_NOMEM.
 */
int hash_init_checked(struct hash_ctx *h, enum hash_algo algo);
void hash_release(struct hash_ctx *h);

/* Starts a new hash. */
void hash_reset(struct hash_ctx *h);
void hash_update(struct hash_ctx *h, const void *bytes, size_t len);

/* Stores the hash in *out. Call hash_reset() before using the context again. */
void hash_final(struct hash_ctx *h, struct oid *out);

/*
 * Computes the id of an object of `type` with content `data`. This is the hash
 * of "<type> <len>\0<data>". Resets the context first.
 */
void hash_object(struct hash_ctx *h, struct oid *out, enum object_type type,
		 const void *data, size_t len);

/*
 * Reports whether an object belongs to a collision attack. Call this after
 * hash_final() or hash_object() has returned `oid`. Returns ERR_CORRUPT if `h`
 * was made by hash_init_checked() and the content belongs to an attack,
 * otherwise 0.
 */
int hash_refuse_attack(const struct hash_ctx *h, const struct oid *oid,
		       struct error *err);

/*
 * Checks that the last hash_len() bytes of a file are the hash of the preceding
 * bytes. `name` is for the message. Returns 0, ERR_CORRUPT (also if the file is
 * too short), or ERR_NOMEM.
 */
int hash_check_trailer(const void *bytes, size_t len, enum hash_algo algo,
		       const char *name, struct error *err);

/*
 * Appends the trailer of a file: the hash of the bytes of *out from `start` on.
 * The hash is stored in *checksum too; `checksum` may be NULL. Returns 0 or
 * ERR_NOMEM.
 */
int hash_append_trailer(struct buf *out, size_t start, enum hash_algo algo,
			struct oid *checksum);

/*
 * Checks the trailers of two files like hash_check_trailer(). Returns 1 if both
 * are right, 0 if at least one is wrong, or ERR_NOMEM.
 *
 * Two SHA-1 files of equal length take little more than half the time of two
 * separate checks, if the processor has SHA instructions.
 */
int hash_check_two(const void *a, size_t a_len, const void *b, size_t b_len,
		   enum hash_algo algo);

/*
 * Computes the HMAC (RFC 2104) of `len` bytes with a key of any length. *out
 * has the length of the hash. Returns 0 or ERR_NOMEM.
 */
int hash_hmac(struct oid *out, enum hash_algo algo, const void *key,
	      size_t key_len, const void *bytes, size_t len);

#endif
