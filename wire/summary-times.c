/* SPDX-License-Identifier: MIT */
/* Writes the times of a request as a line of text, and parses the line. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "wire/summary-times.h"

#define WAIT_READ "wait_read"
#define WAIT_SEND "wait_send"

void summary_times_take(struct summary_times *out, const struct summary *s)
{
	*out = (struct summary_times){
		.wait_read_us = s->numbers[SUMMARY_WAIT_READ_US],
		.wait_send_us = s->numbers[SUMMARY_WAIT_SEND_US],
	};
	for (int i = 0; i < SUMMARY_PHASE_NR; i++) {
		out->entered[i] = s->entered[i];
		if (s->entered[i])
			out->phases_us[i] = s->phases_ns[i] / 1000;
	}
}

int summary_times_format(struct buf *out, const struct summary_times *times)
{
	int ret = 0;

	for (int i = 0; i < SUMMARY_PHASE_NR; i++)
		if (times->entered[i])
			ret |= buf_printf(out, "%s=%" PRIu64 " ",
					  summary_phase_name(i),
					  times->phases_us[i]);
	ret |= buf_printf(out, WAIT_READ "=%" PRIu64 " " WAIT_SEND "=%" PRIu64,
			  times->wait_read_us, times->wait_send_us);
	return ret ? ERR_NOMEM : 0;
}

static bool is_name(const char *word, size_t len, const char *name)
{
	return strlen(name) == len && !memcmp(word, name, len);
}

/* Sets the time whose name is the first `len` bytes of `word`. */
static void set(struct summary_times *out, const char *word, size_t len,
		uint64_t us)
{
	if (is_name(word, len, WAIT_READ))
		out->wait_read_us = us;
	if (is_name(word, len, WAIT_SEND))
		out->wait_send_us = us;
	for (int i = 0; i < SUMMARY_PHASE_NR; i++) {
		if (!is_name(word, len, summary_phase_name(i)))
			continue;
		out->entered[i] = true;
		out->phases_us[i] = us;
	}
}

void summary_times_parse(struct summary_times *out, const char *line)
{
	*out = (struct summary_times){.wait_read_us = 0};
	while (*line) {
		size_t len = strcspn(line, "= ");
		char *end = (char *)line + len;
		uint64_t us = 0;

		if (*end == '=' && end[1] >= '0' && end[1] <= '9')
			us = strtoull(end + 1, &end, 10);
		if (end > line + len && (!*end || *end == ' '))
			set(out, line, len, us);
		line = end + strcspn(end, " ");
		line += strspn(line, " ");
	}
}
