/* SPDX-License-Identifier: MIT */
/* Progress of the public interface. */
#include "libgitreach/internal.h"

static int poll(void *ctx, const char *title, uint64_t done, uint64_t total)
{
	struct libgitreach_progress *p = ctx;
	struct gitreach_progress progress = {
		.size = sizeof(progress),
		.phase = title,
		.done = done,
		.total = total,
	};

	if (atomic_load(&p->is_cancelled))
		return 1;
	if (!p->fn(p->ctx, &progress))
		return 0;
	atomic_store(&p->is_cancelled, true);
	return 1;
}

const struct progress_out *libgitreach_progress(struct libgitreach_progress *p,
						gitreach_progress_fn fn,
						void *ctx)
{
	p->out = (struct progress_out){.ctx = p, .poll = poll};
	p->fn = fn;
	p->ctx = ctx;
	atomic_init(&p->is_cancelled, false);
	return fn ? &p->out : NULL;
}
