/* SPDX-License-Identifier: MIT */
/*
 * The delta codec (gitformat-pack(5), "Deltified representation").
 *
 *   base size, result size       little-endian base 128
 *   1oooossss? [offset] [size]   copy from base; absent bytes are zero,
 *                                size 0 means 0x10000
 *   0nnnnnnn  n bytes            insert
 */
#ifndef PACK_DELTA_H
#define PACK_DELTA_H

#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"
#include "base/error.h"

/*
 * Read the two sizes at the front of a delta of which `len` bytes are there.
 * Returns 0 or ERR_CORRUPT. *header_len may be NULL.
 */
int delta_sizes(const void *delta, size_t len, uint64_t *base_size,
		uint64_t *result_size, size_t *header_len);

/*
 * Apply: fills exactly result_len bytes, which must be the delta's result
 * size, from a base that must have the delta's base size. Returns 0 or
 * ERR_CORRUPT (dst's content is then undefined). Never reads or writes out
 * of bounds, whatever the delta says.
 */
int delta_apply(void *dst, size_t result_len, const void *base, size_t base_len,
		const void *delta, size_t delta_len);

/* One instruction: `len` bytes of the base from `off` on, or of the delta. */
struct delta_op {
	const uint8_t *insert; /* points into the delta; NULL: copy */
	size_t off, len;
};

/*
 * Take the next instruction of a delta against a base of base_len bytes; *c
 * begins after the delta's header. Returns 1, 0 at the end, or ERR_CORRUPT
 * when it is cut short or copies what the base does not have.
 */
int delta_next(struct delta_op *op, struct cursor *c, size_t base_len);

/*
 * An index over a base object for finding copies: where its blocks of 16 bytes
 * are, by their hash. Immutable once made; borrows the base's bytes.
 */
struct delta_index;

/* NULL when out of memory or when the base is empty or over 4 GiB - 1. */
struct delta_index *delta_index_new(const void *base, size_t len);
void delta_index_free(struct delta_index *index);

/* Bytes of memory the index uses, without the base. */
size_t delta_index_size(const struct delta_index *index);

/*
 * A delta that makes `target` from the index's base: malloc()ed into *out.
 * Returns 0 and *out_len <= max_len; 1 when no delta of at most max_len bytes
 * was found (max_len 0: no limit); or ERR_NOMEM. Deterministic.
 */
int delta_create(const struct delta_index *index, const void *target,
		 size_t target_len, size_t max_len, void **out,
		 size_t *out_len);

/*
 * The same for a base that is not asked again, and much like the target: what
 * both begin and end with is copied, and only what is between is indexed and
 * searched. Base and target are at most 4 GiB - 1.
 */
int delta_create_near(const void *base, size_t base_len, const void *target,
		      size_t target_len, size_t max_len, void **out,
		      size_t *out_len);

#endif
