/* SPDX-License-Identifier: MIT */
/*
 * Object ids and the two hash functions that make them.
 *
 * A `struct oid` has room for the longer hash. Bytes past the length of the
 * hash are zero, so ids of one repository can be compared as 32 bytes.
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
	/* values as in Git's file formats */
	HASH_SHA1 = 1,
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

/* Returns the length of an id in bytes: 20 or 32. */
static inline size_t hash_len(enum hash_algo algo)
{
	return algo == HASH_SHA256 ? 32 : 20;
}

/* Returns the length of an id in hexadecimal digits: 40 or 64. */
static inline size_t hash_hex_len(enum hash_algo algo)
{
	return 2 * hash_len(algo);
}

/* Returns "sha1" or "sha256". */
const char *hash_name(enum hash_algo algo);

/* Finds an algorithm by its name. Returns false if the name is unknown. */
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

/* Returns the id of the tree without entries. */
const struct oid *oid_empty_tree(enum hash_algo algo);

/* Sets *oid from the raw bytes of a file or object. */
static inline void oid_from_raw(struct oid *oid, const uint8_t *raw,
				enum hash_algo algo)
{
	memset(oid->bytes + 20, 0, OID_MAX_LEN - 20);
	memcpy(oid->bytes, raw, hash_len(algo));
}

/*
 * Parses exactly hash_hex_len() hexadecimal digits at `hex`, in either case.
 * `hex` has `len` bytes; bytes after the digits are ignored. Returns false if
 * there are fewer digits; *oid is then unchanged.
 */
bool oid_from_hex(struct oid *oid, const char *hex, size_t len,
		  enum hash_algo algo);

/* Writes the id as lower-case hexadecimal digits and a NUL. Returns `out`. */
char *oid_to_hex(char out[OID_MAX_HEX_LEN + 1], const struct oid *oid,
		 enum hash_algo algo);

/* Works like oid_to_hex() for the raw bytes of an id. */
char *oid_raw_to_hex(char out[OID_MAX_HEX_LEN + 1], const uint8_t *raw,
		     enum hash_algo algo);

/*
 * Finds an id in an array of `nr` raw ids in ascending order, and sets *at to
 * its index. Returns false if the array does not have the id. The first probe
 * is at the index that the id would have if ids were evenly spread. The search
 * then probes at growing distances, and ends with a binary search.
 */
bool oid_raw_find(const uint8_t *ids, uint32_t nr, const struct oid *oid,
		  enum hash_algo algo, uint32_t *at);

/*
 * Takes the next line of a file that has one id per line, such as the chain of
 * a commit-graph or of a multi-pack-index. The last line may lack its newline.
 * Returns 1 if a line was taken, 0 at the end of the file, or ERR_CORRUPT.
 * After ERR_CORRUPT, *oid is unchanged. `what` is used in the message: "invalid
 * <what>: line '...' not a hash".
 */
int oid_lines_next(struct oid *oid, struct cursor *c, enum hash_algo algo,
		   const char *what, struct error *err);

#endif
