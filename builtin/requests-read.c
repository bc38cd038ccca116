/* SPDX-License-Identifier: MIT */
/* git requests: reads the lines of a log. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "builtin/requests-parts.h"
#include "sys/io.h"

struct lines {
	char *bytes; /* REQUESTS_LINE_MAX bytes */
	size_t len;
	/*
	 * true: the line that is being read is too long, and its start was
	 * dropped; the rest will be dropped, too
	 */
	bool is_dropping;
};

/*
 * Count the requests in the complete lines of in->bytes. Then move the
 * incomplete line at the end to the front.
 */
static int add_lines(struct requests_sums *sums, struct lines *in)
{
	char *p = in->bytes, *end = in->bytes + in->len, *stop;
	int ret = 0;

	while (!ret && (stop = memchr(p, '\n', (size_t)(end - p)))) {
		if (!in->is_dropping && stop > p)
			ret = requests_sums_add(sums, p, (size_t)(stop - p));
		in->is_dropping = false;
		p = stop + 1;
	}
	in->len = (size_t)(end - p);
	memmove(in->bytes, p, in->len);
	if (in->len < REQUESTS_LINE_MAX)
		return ret;
	sums->broken_nr += !in->is_dropping;
	sums->line_nr += !in->is_dropping;
	in->is_dropping = true;
	in->len = 0;
	return ret;
}

static int read_fd(struct requests_sums *sums, int fd, const char *path,
		   struct error *err)
{
	struct lines in = {.bytes = mem_alloc(REQUESTS_LINE_MAX, 1)};
	int ret = in.bytes ? 0 : ERR_NOMEM;
	ssize_t n = 1;

	while (!ret && n > 0) {
		n = sys_read_some(fd, in.bytes + in.len,
				  REQUESTS_LINE_MAX - in.len, path, err);
		if (n < 0)
			break;
		in.len += (size_t)n;
		ret = add_lines(sums, &in);
	}
	/*
	 * Add the last line even if its line feed is missing. Another process
	 * may be writing the line.
	 */
	if (!ret && !n && in.len && !in.is_dropping)
		ret = requests_sums_add(sums, in.bytes, in.len);
	free(in.bytes);
	if (n < 0)
		return (int)n;
	return ret < 0 ? error_nomem(err) : 0;
}

int requests_read(struct requests_sums *sums, const char *path,
		  struct error *err)
{
	uint64_t len;
	int fd, ret;

	if (!strcmp(path, "-"))
		return read_fd(sums, STDIN_FILENO, "standard input", err);
	fd = sys_open_read(path, &len, err);
	if (fd < 0)
		return fd;
	ret = read_fd(sums, fd, path, err);
	close(fd);
	return ret;
}
