/* SPDX-License-Identifier: MIT */
/*
 * Memory that runs out, for unit tests: nomem_each() repeats a call and lets
 * another request for memory fail each time.
 *
 * The program that includes this header has its own malloc(), calloc() and
 * realloc(). They are hidden, so only the code of the program calls them, and
 * libraries get memory as always. With a sanitizer, they call the sanitizer's
 * functions, so leaks after a failure are found.
 */
#ifndef T_UNIT_NOMEM_H
#define T_UNIT_NOMEM_H

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/error.h"

/* A call with more requests than these lets only some of them fail. */
#ifndef NOMEM_MAX
#define NOMEM_MAX 300
#endif

extern void *__libc_malloc(size_t len);
extern void *__libc_calloc(size_t nr, size_t len);
extern void *__libc_realloc(void *old, size_t len);
/* the functions of a sanitizer, or NULL */
extern void *__interceptor_malloc(size_t len) __attribute__((weak));
extern void *__interceptor_calloc(size_t nr, size_t len) __attribute__((weak));
extern void *__interceptor_realloc(void *old, size_t len) __attribute__((weak));

/* Requests until one fails, counted down while `nomem_on`. Threads share it. */
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
 * Calls call(ctx, err) with enough memory, and then for each of its requests
 * for memory once more while this request fails. A call without enough memory
 * must return ERR_NOMEM and set the message, or succeed. reset(ctx) makes the
 * state before each call, and check(ctx) must find the same result after each
 * success; memory does not run out in these two, which may be NULL.
 */
static inline void nomem_each(void (*reset)(void *ctx),
			      int (*call)(void *ctx, struct error *err),
			      void (*check)(void *ctx), void *ctx)
{
	long nr = LONG_MAX, step = 1;

	/* The first round counts the requests. */
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
