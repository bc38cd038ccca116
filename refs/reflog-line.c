/* SPDX-License-Identifier: MIT */
/* Parses the lines of reflogs, and collects names of reflogs. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "refs/reflog-backend.h"

/*
 * Finds the decimal number that ends at `end`. The number may begin with '-'.
 * Returns its start, or NULL if there is no number, or no space before it.
 */
static const char *number_before(const char *start, const char *end)
{
	const char *p = end;

	while (p > start && p[-1] >= '0' && p[-1] <= '9')
		p--;
	if (p == end)
		return NULL;
	if (p > start && p[-1] == '-')
		p--;
	return p > start && p[-1] == ' ' ? p : NULL;
}

/*
 * Parses " <seconds> <zone>" at the end of an identity. Sets *time to the
 * seconds. A number that does not fit, and a negative one, become INT64_MAX, as
 * with stock Git: such a line never expires. Returns 0 or ERR_CORRUPT.
 */
static int parse_time(int64_t *time, const char *start, const char *end)
{
	const char *zone = end - 5, *p;
	long long seconds;

	if (end - start < 8 || (zone[0] != '+' && zone[0] != '-') ||
	    zone[-1] != ' ')
		return ERR_CORRUPT;
	for (int i = 1; i < 5; i++)
		if (zone[i] < '0' || zone[i] > '9')
			return ERR_CORRUPT;
	p = number_before(start, zone - 1);
	if (!p)
		return ERR_CORRUPT;
	seconds = strtoll(p, NULL, 10);
	*time = seconds < 0 ? INT64_MAX : (int64_t)seconds;
	return 0;
}

int reflog_line_parse(struct reflog_line *out, const char *bytes, size_t len,
		      enum hash_algo algo)
{
	size_t hex_len = hash_hex_len(algo), ids_len = 2 * hex_len + 1;
	struct reflog_line line = {.drop = false};
	const char *tab, *end = bytes + len;

	if (len < ids_len + 1 || bytes[hex_len] != ' ' ||
	    bytes[ids_len] != ' ' ||
	    !oid_from_hex(&line.old_oid, bytes, hex_len, algo) ||
	    !oid_from_hex(&line.new_oid, bytes + hex_len + 1, hex_len, algo))
		return ERR_CORRUPT;
	line.text = bytes + ids_len;
	line.text_len = len - ids_len;
	tab = memchr(line.text, '\t', line.text_len);
	line.message = tab ? tab + 1 : end;
	line.message_len = (size_t)(end - line.message);
	if (parse_time(&line.time, line.text, tab ? tab : end) < 0)
		return ERR_CORRUPT;
	*out = line;
	return 0;
}

void reflog_release(struct reflog *log)
{
	buf_release(&log->bytes);
	free(log->lines);
	*log = (struct reflog)REFLOG_INIT;
}

int reflog_split(struct reflog *log, enum hash_algo algo, struct error *err)
{
	const char *p = log->bytes.data, *end = p + log->bytes.len;

	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		const char *line_end = nl ? nl : end;

		if (mem_grow(&log->lines, &log->alloc, log->nr + 1,
			     sizeof(*log->lines)) < 0)
			return error_nomem(err);
		if (!reflog_line_parse(&log->lines[log->nr], p,
				       (size_t)(line_end - p), algo))
			log->nr++;
		p = line_end + 1;
	}
	return 0;
}
