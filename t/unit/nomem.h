/* SPDX-License-Identifier: MIT */
/*
 * Simulates failed allocations in unit tests. nomem_each() repeats a call of a
 * function. In each repetition, another allocation fails.
 *
 * The program that includes this header has its own malloc(), calloc() and
 * realloc(). They are hidden symbols: code of the program calls them, and
 * shared libraries do not. In a build with a sanitizer, they call the
 * sanitizer's functions, so the sanitizer reports leaks after a failure.
 */
#ifndef T_UNIT_NOMEM_H
#define T_UNIT_NOMEM_H

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/error.h"

/*
 * If a call makes at most this number of allocations, nomem_each() lets each of
 * them fail once. If a call makes more allocations, only a sample of them
 * fails.
 */
#ifndef NOMEM_MAX
#define NOMEM_MAX 300
#endif

extern void *__libc_malloc(size_t len);
extern void *__libc_calloc(size_t nr, size_t len);
extern void *__libc_realloc(void *old, size_t len);
/* The allocation functions of a sanitizer; NULL in a build without one. */
extern void *__interceptor_malloc(size_t len) __attribute__((weak));
extern void *__interceptor_calloc(size_t nr, size_t len) __attribute__((weak));
extern void *__interceptor_realloc(void *old, size_t len) __attribute__((weak));

/*
 * Number of allocations that still succeed before one fails. While `nomem_on`
 * is set, each allocation of any thread decrements this number.
 */
static long nomem_left;
static bool nomem_on;

static bool nomem_fails(void)
{
	if (!nomem_on || __atomic_fetch_sub(&nomem_left, 1, __ATOMIC_RELAXED))
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t len)
{
	if (nomem_fails())
		return NULL;
	return __interceptor_malloc ? __interceptor_malloc(len)
				    : __libc_malloc(len);
}

void *calloc(size_t nr, size_t len)
{
	if (nomem_fails())
		return NULL;
	return __interceptor_calloc ? __interceptor_calloc(nr, len)
				    : __libc_calloc(nr, len);
}

void *realloc(void *old, size_t len)
{
	if (nomem_fails())
		return NULL;
	return __interceptor_realloc ? __interceptor_realloc(old, len)
				     : __libc_realloc(old, len);
}

/*
 * Calls call(ctx, err) once with enough memory. Then calls it once for each
 * allocation of the first call, and lets this allocation fail. A call with a
 * failed allocation must return ERR_NOMEM and set the message, or succeed.
 *
 * reset(ctx) makes the initial state before each call. check(ctx) checks the
 * result after each success. No allocation fails in reset() and check(), which
 * may be NULL.
 */
static inline void nomem_each(void (*reset)(void *ctx),
			      int (*call)(void *ctx, struct error *err),
			      void (*check)(void *ctx), void *ctx)
{
	long nr = LONG_MAX, step = 1;

	/* In the first round, all allocations succeed and are counted. */
	for (long i = LONG_MAX; i == LONG_MAX || i < nr; i += step) {
		struct error err = ERROR_INIT;
		int ret;

		if (reset)
			reset(ctx);
		nomem_left = i;
		nomem_on = true;
		ret = call(ctx, &err);
		nomem_on = false;
		if (ret < 0) {
			assert_int_not_equal(i, LONG_MAX);
			assert_int_equal(ret, ERR_NOMEM);
			assert_string_not_equal(err.msg, "");
		} else if (check) {
			check(ctx);
		}
		if (i == LONG_MAX) {
			nr = i - nomem_left;
			step = nr / NOMEM_MAX + 1;
			i = -step;
		}
	}
}

#endif
