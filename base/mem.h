/* SPDX-License-Identifier: MIT */
/*
 * Sizes that cannot overflow, and arrays that grow.
 *
 * Memory comes from malloc() and goes back with free(); a NULL or negative
 * return is an out-of-memory condition that the caller passes on.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define ARRAY_NR(a) (sizeof(a) / sizeof((a)[0]))

/* *out = a + b; false (and *out untouched) when that does not fit. */
static inline bool mem_add(size_t *out, size_t a, size_t b)
{
	size_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return false;
	*out = sum;
	return true;
}

/* *out = a * b; false (and *out untouched) when that does not fit. */
static inline bool mem_mul(size_t *out, size_t a, size_t b)
{
	size_t product;

	if (__builtin_mul_overflow(a, b, &product))
		return false;
	*out = product;
	return true;
}

/*
 * An uninitialised array of `nr` items of `size` bytes, owned by the caller;
 * NULL when out of memory or when the size overflows. nr == 0 gives a valid
 * pointer.
 */
void *mem_alloc(size_t nr, size_t size) __attribute__((warn_unused_result));

/* As mem_alloc(), zeroed; large arrays cost nothing until touched. */
void *mem_calloc(size_t nr, size_t size) __attribute__((warn_unused_result));

/* A copy of `len` bytes with a NUL appended, owned by the caller, or NULL. */
char *mem_strndup(const char *s, size_t len)
	__attribute__((warn_unused_result));

/* A copy of a string, owned by the caller, or NULL. */
char *mem_strdup(const char *s) __attribute__((warn_unused_result));

/*
 * Make room for `need` items in the array at *items (of type T **, passed as
 * void *), of which *alloc are allocated now. Grows by half at least, so that
 * appending one by one is linear. Returns 0, or ERR_NOMEM with the array
 * untouched.
 */
int mem_grow(void *items, size_t *alloc, size_t need, size_t item_size)
	__attribute__((warn_unused_result));

#endif
