/* SPDX-License-Identifier: MIT */
/* Progress meters on standard error. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "builtin/stderr-progress.h"

/* A meter appears after this time, so that quick commands show none. */
#define DELAY_NS UINT64_C(1000000000)
#define DELAY_MAX (1000 * 1000)

static void put(void *ctx, const char *text, size_t len)
{
	fwrite(text, 1, len, stderr);
	fflush(stderr);
}

static uint64_t delay_ns(void)
{
	const char *text = getenv("GIT_PROGRESS_DELAY");
	char *end;
	unsigned long seconds;

	if (!text || *text < '0' || *text > '9')
		return DELAY_NS;
	seconds = strtoul(text, &end, 10);
	if (*end || seconds > DELAY_MAX)
		return DELAY_NS;
	return seconds * UINT64_C(1000000000);
}

const struct progress_out *stderr_progress(struct progress_out *out,
					   enum show_progress show)
{
	if (show == PROGRESS_OFF ||
	    (show == PROGRESS_IF_TERMINAL && !isatty(2)))
		return NULL;
	*out = (struct progress_out){
		.put = put,
		.delay_ns = show == PROGRESS_ON ? 0 : delay_ns(),
	};
	return out;
}
