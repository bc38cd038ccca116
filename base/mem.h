/* SPDX-License-Identifier: MIT */
/*
 * Checked arithmetic for sizes, allocation, and arrays that grow.
 *
 * The memory comes from malloc(), and free() releases it. A NULL or negative
 * result means that memory ran out, and the caller returns an error.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define ARRAY_NR(a) (sizeof(a) / sizeof((a)[0]))

/*
 * Sets *out = a + b. Returns false if the sum overflows; *out is then
 * unchanged.
 */
static inline bool mem_add(size_t *out, size_t a, size_t b)
{
	size_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return false;
	*out = sum;
	return true;
}

/*
 * Sets *out = a * b. Returns false if the product overflows; *out is then
 * unchanged.
 */
static inline bool mem_mul(size_t *out, size_t a, size_t b)
{
	size_t product;

	if (__builtin_mul_overflow(a, b, &product))
		return false;
	*out = product;
	return true;
}

/*
 * Returns false if a zlib stream of `stream_len` bytes is too short to inflate
 * to `len` bytes, otherwise true. Only these lengths are checked: two bits of a
 * stream inflate to at most 258 bytes. Call this before memory is allocated for
 * the inflated bytes.
 */
static inline bool mem_can_inflate(uint64_t len, uint64_t stream_len)
{
	return len / 1032 <= stream_len;
}

/*
 * Returns an uninitialised array of `nr` items of `size` bytes, owned by the
 * caller. Returns NULL if memory runs out or the size overflows. nr == 0 gives
 * a valid pointer.
 */
void *mem_alloc(size_t nr, size_t size) __attribute__((warn_unused_result));

/*
 * Works like mem_alloc(), but the array is zeroed. The pages of a large array
 * cost nothing until they are used.
 */
void *mem_calloc(size_t nr, size_t size) __attribute__((warn_unused_result));

/*
 * Returns a copy of the `len` bytes at `s` with a NUL appended, owned by the
 * caller, or NULL if memory runs out.
 */
char *mem_strndup(const char *s, size_t len)
	__attribute__((warn_unused_result));

/*
 * Returns a copy of a string, owned by the caller, or NULL if memory runs out.
 */
char *mem_strdup(const char *s) __attribute__((warn_unused_result));

/*
 * Makes room for `need` items in the array at *items. `items` is a pointer to
 * the array's pointer (T **), passed as void *. *alloc is the number of
 * allocated items. The array grows by at least half, so that appending items
 * one by one takes linear time. Returns 0 or ERR_NOMEM. After an error, the
 * array is unchanged.
 */
int mem_grow(void *items, size_t *alloc, size_t need, size_t item_size)
	__attribute__((warn_unused_result));

#endif
