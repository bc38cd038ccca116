/* SPDX-License-Identifier: MIT */
/*
 * Progress meters as Git prints them. A meter shows "<title>:  42% (42/100)\r",
 * and at the end "<title>: 100% (100/100), done.\n". Without a total it shows
 * "<title>: 42".
 *
 * The text goes to a callback, so library code can report progress without
 * knowing the output. A meter shows nothing before its delay has passed. The
 * meter is redrawn when the percentage changes or a second has passed.
 *
 * A callback may also cancel the work. A work loop that counts with
 * progress_step() then gets an error.
 */
#ifndef SYS_PROGRESS_H
#define SYS_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * The output that all progress meters of a command share. Meters borrow this
 * struct.
 */
struct progress_out {
	/* receives the text of all meters; NULL: no text is made */
	void (*put)(void *ctx, const char *text, size_t len);
	void *ctx;
	/*
	 * time in nanoseconds after which a meter is first shown; 0: it is
	 * shown at once
	 */
	uint64_t delay_ns;
	/*
	 * A callback that may cancel the work, or NULL. A result other than 0
	 * cancels the work. The callback is called on the first progress and
	 * then a few times a second. `total` is 0 if unknown. Any thread may
	 * call the callback, but two threads never call it for one meter at
	 * once.
	 */
	int (*poll)(void *ctx, const char *title, uint64_t done,
		    uint64_t total);
	/*
	 * borrowed: the title of all meters, instead of the title that
	 * progress_start() gets; NULL: each meter keeps its own title
	 */
	const char *title;
};

/* A progress meter. Several threads may update it. */
struct progress {
	const struct progress_out *out; /* NULL: shows nothing */
	const char *title;              /* borrowed */
	uint64_t total;                 /* 0: unknown */
	pthread_mutex_t lock;           /* guards the fields below */
	uint64_t done;
	uint64_t started_ns, drawn_ns;
	uint64_t polled_ns; /* 0: not polled yet */
	bool is_cancelled;
	int drawn_percent;
	size_t drawn_len;
};

/*
 * Starts a progress meter. If `out` is NULL, all functions of this meter do
 * nothing.
 */
void progress_start(struct progress *p, const struct progress_out *out,
		    const char *title, uint64_t total);

/*
 * Shows the line of a finished meter, for work that had no meter while it was
 * done. `nr` is the number of processed items; if it is 0, nothing is shown.
 */
void progress_tell(const struct progress_out *out, const char *title,
		   uint64_t nr);

/* Counts `nr` more items. */
void progress_add(struct progress *p, uint64_t nr);

/*
 * Works like progress_add(), for work that can be cancelled. Returns 0, or
 * ERR_CANCELLED after out->poll has cancelled the work.
 */
int progress_step(struct progress *p, uint64_t nr, struct error *err);

/*
 * Calls out->poll, if it is set, to ask whether to cancel work that has no
 * meter. `total` is the number of items of the work. Returns 0, or
 * ERR_CANCELLED if the work is cancelled.
 */
int progress_ask(const struct progress_out *out, const char *title,
		 uint64_t total, struct error *err);

/* Sets the number of items that are done to `done`. */
void progress_set(struct progress *p, uint64_t done);

/* Draws the final line and releases the meter. */
void progress_stop(struct progress *p);

#endif
