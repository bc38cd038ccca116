/* SPDX-License-Identifier: MIT */
/* Something to be done every few seconds while a thread is busy. */
#ifndef SYS_TICKER_H
#define SYS_TICKER_H

#include <stdint.h>

#include "base/error.h"

struct sys_ticker;

/*
 * Call `fn` every `seconds` (> 0) until sys_ticker_stop(), from a thread of
 * its own and never twice at once. 0 with *out owned by the caller, ERR_NOMEM,
 * or ERR_IO when there can be no thread.
 */
int sys_ticker_start(struct sys_ticker **out, uint64_t seconds,
		     void (*fn)(void *ctx), void *ctx, struct error *err);

/*
 * The same without a thread before sys_ticker_go(): it costs more than all else
 * that some short work does. `seconds` count from then.
 */
int sys_ticker_new(struct sys_ticker **out, uint64_t seconds,
		   void (*fn)(void *ctx), void *ctx, struct error *err);

/*
 * Start the thread, unless it was; from any thread, not beside
 * sys_ticker_stop(). It does not wait for a call under way. 0 or ERR_IO.
 */
int sys_ticker_go(struct sys_ticker *t, struct error *err);

/* Wait for a call under way, stop and free; NULL is accepted. */
void sys_ticker_stop(struct sys_ticker *t);

#endif
