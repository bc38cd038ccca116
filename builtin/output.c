/* SPDX-License-Identifier: MIT */
/* Sizes, paths and progress as commands print them. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "builtin/output.h"
#include "sys/io.h"

void output_size(uint64_t bytes)
{
	static const char units[] = "KMG";
	unsigned unit = bytes > UINT64_C(1) << 30   ? 2
			: bytes > UINT64_C(1) << 20 ? 1
						    : 0;
	unsigned shift = 10 * (unit + 1);
	uint64_t rest = bytes & ((UINT64_C(1) << shift) - 1);
	/*
	 * To round to two decimals, stock Git adds some bytes before it
	 * truncates: 5 for KiB, 5243 for MiB, and none for larger units. `half`
	 * is this number in hundredths of a byte.
	 */
	uint64_t half = unit == 0 ? 500 : unit == 1 ? 524300 : 0;
	uint64_t hundredths = (rest * 100 + half) >> shift;

	if (bytes <= 1024) {
		printf("%" PRIu64 " byte%s", bytes, bytes == 1 ? "" : "s");
		return;
	}
	printf("%" PRIu64 ".%02" PRIu64 " %ciB",
	       (bytes >> shift) + hundredths / 100, hundredths % 100,
	       units[unit]);
}

static const char controls[] = "\a\b\t\n\v\f\r\"\\";
static const char letters[] = "abtnvfr\"\\";

static bool needs_quotes(unsigned char c, bool high)
{
	return c < ' ' || c == 0x7f || c == '"' || c == '\\' ||
	       (high && c >= 0x80);
}

static int append_byte(struct buf *out, char c, bool high)
{
	const char *control;

	if (!needs_quotes((unsigned char)c, high))
		return buf_append_char(out, c);
	control = c ? strchr(controls, c) : NULL;
	if (control)
		return buf_printf(out, "\\%c", letters[control - controls]);
	return buf_printf(out, "\\%03o", (unsigned)(unsigned char)c);
}

int output_append_path(struct buf *out, const char *path, size_t len, bool high)
{
	size_t i = 0;
	int ret;

	while (i < len && !needs_quotes((unsigned char)path[i], high))
		i++;
	if (i == len)
		return buf_append(out, path, len);
	ret = buf_append_char(out, '"');
	for (i = 0; !ret && i < len; i++)
		ret = append_byte(out, path[i], high);
	return ret ? ret : buf_append_char(out, '"');
}

int shown_path_init(struct shown_path *shown, const struct repo *repo,
		    struct error *err)
{
	*shown = (struct shown_path){NULL, "", repo->algo};
	shown->base = repo->worktree ? mem_strdup(repo->worktree)
				     : sys_realpath(".", err);
	if (!shown->base)
		return repo->worktree ? error_nomem(err) : ERR_IO;
	if (!strcmp(shown->base, repo->git_dir))
		shown->prefix = "./";
	return 0;
}

void shown_path_release(struct shown_path *shown)
{
	free(shown->base);
}

const char *shown_path_get(const struct shown_path *shown, const char *path,
			   const char **prefix)
{
	size_t len = strlen(shown->base);

	*prefix = "";
	if (strncmp(path, shown->base, len) != 0 || path[len] != '/')
		return path;
	*prefix = shown->prefix;
	return path + len + 1;
}

/* ---- progress meters on standard error */

/*
 * A progress meter appears after DELAY_NS nanoseconds, so that quick commands
 * show none. GIT_PROGRESS_DELAY can set another delay, of at most DELAY_MAX
 * seconds.
 */
#define DELAY_NS UINT64_C(1000000000)
#define DELAY_MAX (1000 * 1000)

static void put_progress(void *ctx, const char *text, size_t len)
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

const struct progress_out *output_progress(struct progress_out *out,
					   enum show_progress show)
{
	if (show == PROGRESS_OFF ||
	    (show == PROGRESS_IF_TERMINAL && !isatty(2)))
		return NULL;
	*out = (struct progress_out){
		.put = put_progress,
		.delay_ns = show == PROGRESS_ON ? 0 : delay_ns(),
	};
	return out;
}
