/* SPDX-License-Identifier: MIT */
/*
 * Progress meters as Git prints them: "<title>:  42% (42/100)\r", and at the
 * end "<title>: 100% (100/100), done.\n"; without a total "<title>: 42".
 *
 * The text goes to a callback of the caller's, so that library code can
 * report without knowing where to. A meter shows nothing before its delay has
 * passed, and is redrawn when there is another percent to show or a second has
 * gone by.
 *
 * Who listens may also want to end what is going on: a work loop counts with
 * progress_step(), which then is an error like any other.
 */
#ifndef SYS_PROGRESS_H
#define SYS_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Where the text of all meters of one command goes. Borrowed by meters. */
struct progress_out {
	/* NULL: no text */
	void (*put)(void *ctx, const char *text, size_t len);
	void *ctx;
	uint64_t delay_ns; /* nothing is shown before; 0: show at once */
	/*
	 * NULL, or asked first when something was done, and then some times a
	 * second: a value other than 0 ends it. `total` 0: unknown. From any
	 * thread, by one meter at a time.
	 */
	int (*poll)(void *ctx, const char *title, uint64_t done,
		    uint64_t total);
};

/* One meter; updates may come from several threads. */
struct progress {
	const struct progress_out *out; /* NULL: shows nothing */
	const char *title;              /* borrowed */
	uint64_t total;                 /* 0: unknown */
	pthread_mutex_t lock;           /* guards what follows */
	uint64_t done;
	uint64_t started_ns, drawn_ns;
	uint64_t polled_ns; /* 0: not yet */
	bool is_cancelled;
	int drawn_percent;
	size_t drawn_len;
};

/* Start a meter; `out` NULL makes all calls on it cheap no-ops. */
void progress_start(struct progress *p, const struct progress_out *out,
		    const char *title, uint64_t total);

/* Count `nr` more items. */
void progress_add(struct progress *p, uint64_t nr);

/*
 * The same for loops that can be ended: 0, or ERR_CANCELLED from when out->poll
 * said so.
 */
int progress_step(struct progress *p, uint64_t nr, struct error *err);

/*
 * Ask out->poll, if there is one, before something that counts no steps, of
 * which there is `total`: 0 or ERR_CANCELLED.
 */
int progress_ask(const struct progress_out *out, const char *title,
		 uint64_t total, struct error *err);

/* Set the number of items. */
void progress_set(struct progress *p, uint64_t done);

/* Draw the final line and release the meter. */
void progress_stop(struct progress *p);

#endif
