/* SPDX-License-Identifier: MIT */
/* Calls a function every few seconds while a thread is busy. */
#ifndef SYS_TICKER_H
#define SYS_TICKER_H

#include <stdint.h>

#include "base/error.h"

struct sys_ticker;

/*
 * Calls `fn` every `seconds` (> 0) until sys_ticker_stop(). The calls come from
 * a separate thread and never overlap. Returns 0 with *out owned by the caller,
 * ERR_NOMEM, or ERR_IO if the thread cannot be started.
 */
int sys_ticker_start(struct sys_ticker **out, uint64_t seconds,
		     void (*fn)(void *ctx), void *ctx, struct error *err);

/*
 * Works like sys_ticker_start(), but sys_ticker_go() starts the thread. Useful
 * if the work is often short, because starting a thread can take longer than
 * such work. The first `seconds` begin when the thread starts.
 */
int sys_ticker_new(struct sys_ticker **out, uint64_t seconds,
		   void (*fn)(void *ctx), void *ctx, struct error *err);

/*
 * Starts the thread if it is not started yet. Any thread may call this, but not
 * at the same time as sys_ticker_stop(). Does not wait for `fn`. Returns 0 or
 * ERR_IO.
 */
int sys_ticker_go(struct sys_ticker *t, struct error *err);

/*
 * Stops the ticker and frees it. If `fn` is running, waits until it returns.
 * NULL is allowed.
 */
void sys_ticker_stop(struct sys_ticker *t);

#endif
