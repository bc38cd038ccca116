/* SPDX-License-Identifier: MIT */
/* Progress meters on standard error. */
#include <stdio.h>
#include <unistd.h>

#include "builtin/stderr-progress.h"

/* A meter appears after this time, so that quick commands show none. */
#define DELAY_NS UINT64_C(1000000000)

static void put(void *ctx, const char *text, size_t len)
{
	fwrite(text, 1, len, stderr);
	fflush(stderr);
}

const struct progress_out *stderr_progress(struct progress_out *out,
					   enum show_progress show)
{
	if (show == PROGRESS_OFF ||
	    (show == PROGRESS_IF_TERMINAL && !isatty(2)))
		return NULL;
	*out = (struct progress_out){
		.put = put,
		.delay_ns = show == PROGRESS_ON ? 0 : DELAY_NS,
	};
	return out;
}
