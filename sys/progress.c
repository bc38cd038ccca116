/* SPDX-License-Identifier: MIT */
/* Progress meters: when to draw, and the text of a line. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sys/clock.h"
#include "sys/progress.h"

#define REDRAW_NS UINT64_C(1000000000)
#define POLL_NS UINT64_C(50000000)
#define LINE_MAX_LEN 256

void progress_start(struct progress *p, const struct progress_out *out,
		    const char *title, uint64_t total)
{
	memset(p, 0, sizeof(*p));
	p->out = out;
	if (!out)
		return;
	p->title = out->title ? out->title : title;
	p->total = total;
	p->started_ns = p->drawn_ns = sys_clock_ns();
	p->drawn_percent = -1;
	pthread_mutex_init(&p->lock, NULL);
}

static int percent_of(const struct progress *p)
{
	if (!p->total)
		return -1;
	if (p->done >= p->total)
		return 100;
	return (int)((double)p->done * 100.0 / (double)p->total);
}

/*
 * Draws the progress line. Blanks overwrite the end of a longer line that was
 * drawn before.
 */
static void draw(struct progress *p, const char *end)
{
	char line[LINE_MAX_LEN];
	int percent = percent_of(p);
	int len;

	if (p->total)
		len = snprintf(line, sizeof(line),
			       "%s: %3d%% (%" PRIu64 "/%" PRIu64 ")", p->title,
			       percent, p->done, p->total);
	else
		len = snprintf(line, sizeof(line), "%s: %" PRIu64, p->title,
			       p->done);
	if (len < 0 || (size_t)len + strlen(end) >= sizeof(line))
		return;
	len += snprintf(line + len, sizeof(line) - (size_t)len, "%s", end);
	if (end[0] == '\r') {
		size_t shown = (size_t)len - 1;
		size_t padded = p->drawn_len > shown ? p->drawn_len : shown;

		memset(line + shown, ' ', padded - shown);
		line[padded] = '\r';
		p->drawn_len = shown;
		len = (int)padded + 1;
	}
	p->out->put(p->out->ctx, line, (size_t)len);
	p->drawn_percent = percent;
}

/*
 * Draws the progress line if the percentage has changed or a second has passed.
 * The caller holds the lock, and has updated p->done.
 */
static void maybe_draw(struct progress *p)
{
	uint64_t now;

	if (!p->out->put)
		return;
	now = sys_clock_ns();
	if (now - p->started_ns < p->out->delay_ns)
		return;
	if (percent_of(p) == p->drawn_percent && now - p->drawn_ns < REDRAW_NS)
		return;
	draw(p, "\r");
	p->drawn_ns = now;
}

/*
 * Calls the callback `poll` if enough time has passed since the last call. The
 * caller holds the lock.
 */
static void maybe_poll(struct progress *p)
{
	uint64_t now;

	if (!p->out->poll || p->is_cancelled)
		return;
	now = sys_clock_ns();
	if (p->polled_ns && now - p->polled_ns < POLL_NS)
		return;
	p->polled_ns = now;
	p->is_cancelled = p->out->poll(p->out->ctx, p->title, p->done,
				       p->total);
}

int progress_step(struct progress *p, uint64_t nr, struct error *err)
{
	bool is_cancelled;

	if (!p->out)
		return 0;
	pthread_mutex_lock(&p->lock);
	p->done += nr;
	maybe_draw(p);
	maybe_poll(p);
	is_cancelled = p->is_cancelled;
	pthread_mutex_unlock(&p->lock);
	return is_cancelled ? error_set(err, ERR_CANCELLED, "cancelled") : 0;
}

int progress_ask(const struct progress_out *out, const char *title,
		 uint64_t total, struct error *err)
{
	if (!out || !out->poll || !out->poll(out->ctx, title, 0, total))
		return 0;
	return error_set(err, ERR_CANCELLED, "cancelled");
}

void progress_add(struct progress *p, uint64_t nr)
{
	progress_step(p, nr, NULL);
}

void progress_set(struct progress *p, uint64_t done)
{
	if (!p->out)
		return;
	pthread_mutex_lock(&p->lock);
	p->done = done;
	maybe_draw(p);
	pthread_mutex_unlock(&p->lock);
}

void progress_stop(struct progress *p)
{
	if (!p->out)
		return;
	if (p->out->put && sys_clock_ns() - p->started_ns >= p->out->delay_ns)
		draw(p, ", done.\n");
	pthread_mutex_destroy(&p->lock);
	p->out = NULL;
}

void progress_tell(const struct progress_out *out, const char *title,
		   uint64_t nr)
{
	struct progress p;

	progress_start(&p, nr ? out : NULL, title, nr);
	progress_set(&p, nr);
	progress_stop(&p);
}
