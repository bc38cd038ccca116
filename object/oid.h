/* SPDX-License-Identifier: MIT */
/*
 * Object ids and the two hash functions they come from.
 *
 * A `struct oid` has room for the longer hash; the bytes past the hash's
 * length are zero, so that ids of one repository compare as 32 bytes.
 */
#ifndef OBJECT_OID_H
#define OBJECT_OID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"

enum hash_algo {
	HASH_SHA1 = 1, /* the numbers are those of Git's file formats */
	HASH_SHA256 = 2,
};

#define OID_MAX_LEN 32
#define OID_MAX_HEX_LEN 64

struct oid {
	uint8_t bytes[OID_MAX_LEN];
};

#define OID_ZERO_INIT                                                          \
	{                                                                      \
		{                                                              \
			0                                                      \
		}                                                              \
	}

/* Length of an id in bytes: 20 or 32. */
static inline size_t hash_len(enum hash_algo algo)
{
	return algo == HASH_SHA256 ? 32 : 20;
}

/* Length in hexadecimal digits: 40 or 64. */
static inline size_t hash_hex_len(enum hash_algo algo)
{
	return 2 * hash_len(algo);
}

/* "sha1" or "sha256". */
const char *hash_name(enum hash_algo algo);

/* The algorithm of that name; false when unknown. */
bool hash_by_name(enum hash_algo *algo, const char *name);

static inline int oid_cmp(const struct oid *a, const struct oid *b)
{
	return memcmp(a->bytes, b->bytes, OID_MAX_LEN);
}

static inline bool oid_equal(const struct oid *a, const struct oid *b)
{
	return !memcmp(a->bytes, b->bytes, OID_MAX_LEN);
}

bool oid_is_zero(const struct oid *oid);

/* The id of the tree without entries. */
const struct oid *oid_empty_tree(enum hash_algo algo);

/* Set from the raw bytes of a file or object. */
static inline void oid_from_raw(struct oid *oid, const uint8_t *raw,
				enum hash_algo algo)
{
	memset(oid->bytes + 20, 0, OID_MAX_LEN - 20);
	memcpy(oid->bytes, raw, hash_len(algo));
}

/*
 * Parse exactly hash_hex_len() hexadecimal digits (either case) at `hex`, of
 * which `len` bytes exist; what follows is the caller's. False when there are
 * fewer or others, *oid untouched.
 */
bool oid_from_hex(struct oid *oid, const char *hex, size_t len,
		  enum hash_algo algo);

/* Write lower-case digits and a NUL; returns `out`. */
char *oid_to_hex(char out[OID_MAX_HEX_LEN + 1], const struct oid *oid,
		 enum hash_algo algo);

/* As oid_to_hex() from raw bytes. */
char *oid_raw_to_hex(char out[OID_MAX_HEX_LEN + 1], const uint8_t *raw,
		     enum hash_algo algo);

/*
 * Reads the next id of a file that has one id a line, such as the chain of a
 * commit-graph or of a multi-pack-index. The last line may lack its newline.
 * Returns 1, 0 at the end of the file, or ERR_CORRUPT with *oid untouched. The
 * message is "invalid <what>: line '...' not a hash".
 */
int oid_lines_next(struct oid *oid, struct cursor *c, enum hash_algo algo,
		   const char *what, struct error *err);

#endif
