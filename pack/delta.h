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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"
#include "base/error.h"

/*
 * Reads the two sizes at the start of a delta, of which `len` bytes are
 * available. *header_len (NULL allowed) is set to the number of bytes that the
 * two sizes take. Returns 0 or ERR_CORRUPT.
 */
int delta_sizes(const void *delta, size_t len, uint64_t *base_size,
		uint64_t *result_size, size_t *header_len);

/*
 * Returns false if a delta of `delta_len` bytes is too short to make an object
 * of `len` bytes from a base of `base_len` bytes, otherwise true. Only these
 * lengths are checked. Call this before memory is allocated for the object. A
 * byte of a delta adds at most one of two things to the object: one literal
 * byte, or one copy. A copy has at most 2^24 - 1 bytes, and at most the bytes
 * of the base.
 */
bool delta_can_make(uint64_t len, size_t delta_len, size_t base_len);

/*
 * Applies a delta. result_len and base_len must be the two sizes at the start
 * of the delta. Returns 0 with result_len bytes in dst, or ERR_CORRUPT with dst
 * undefined. Never reads or writes out of bounds, even for a hostile delta.
 */
int delta_apply(void *dst, size_t result_len, const void *base, size_t base_len,
		const void *delta, size_t delta_len);

/*
 * An instruction of a delta. Its result is `len` bytes: bytes of the base from
 * offset `off` on, or the bytes at `insert`.
 */
struct delta_op {
	/* points into the delta; NULL: the bytes come from the base */
	const uint8_t *insert;
	size_t off, len;
};

/*
 * Takes the next instruction of a delta against a base of base_len bytes. *c
 * starts after the delta's header. Returns 1 if an instruction was taken, 0 at
 * the end of the delta, or ERR_CORRUPT. An instruction is corrupt if it is
 * incomplete or copies bytes outside the base.
 */
int delta_next(struct delta_op *op, struct cursor *c, size_t base_len);

/*
 * An index over a base object: it finds the base's blocks of 16 bytes by hash.
 * Immutable once made; borrows the base's bytes.
 */
struct delta_index;

/*
 * Makes an index over a base object. Returns NULL if memory runs out, or if the
 * base is empty or larger than 4 GiB - 1.
 */
struct delta_index *delta_index_new(const void *base, size_t len);
void delta_index_free(struct delta_index *index);

/* Returns the bytes of memory that the index takes, without the base. */
size_t delta_index_size(const struct delta_index *index);

/*
 * Makes a delta from the index's base to `target`, malloc()ed into *out.
 * Returns 0 with *out_len <= max_len, 1 if no delta of at most max_len bytes
 * was found, or ERR_NOMEM. max_len 0 means no limit. The result is
 * deterministic.
 */
int delta_create(const struct delta_index *index, const void *target,
		 size_t target_len, size_t max_len, void **out,
		 size_t *out_len);

/*
 * Works like delta_create() without an index, for a base that is used once and
 * is similar to the target. The common prefix and suffix of base and target are
 * copied, and only the middle is indexed and searched. Base and target have at
 * most 4 GiB - 1 bytes. Returns 0 with *out_len <= max_len, 1 if no delta of at
 * most max_len bytes was found, or ERR_NOMEM.
 */
int delta_create_near(const void *base, size_t base_len, const void *target,
		      size_t target_len, size_t max_len, void **out,
		      size_t *out_len);

#endif
