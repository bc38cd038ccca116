/* SPDX-License-Identifier: MIT */
/* Reading standard input: lines of text, and packs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "builtin/builtin.h"
#include "builtin/input.h"
#include "sys/io.h"

int stdin_lines_next(struct stdin_lines *in, struct error *err)
{
	ssize_t len;

	errno = 0;
	len = getdelim(&in->line, &in->alloc, in->end, stdin);
	if (len < 0 && errno == ENOMEM)
		return error_nomem(err);
	if (len < 0 && ferror(stdin))
		return error_set_errno(err, "cannot read standard input");
	if (len < 0)
		return 0;
	in->ended = len && in->line[len - 1] == (char)in->end;
	if (in->ended)
		in->line[--len] = '\0';
	if (in->strip_cr && in->ended && in->end == '\n' && len &&
	    in->line[len - 1] == '\r')
		in->line[--len] = '\0';
	in->len = (size_t)len;
	return 1;
}

void stdin_lines_release(struct stdin_lines *in)
{
	free(in->line);
}

int pack_input_take_header(struct pack_input *in, const char *text,
			   struct error *err)
{
	unsigned version, nr;
	char end;

	if (!text)
		return 0;
	if (sscanf(text, "%u,%u%c", &version, &nr, &end) != 2)
		return error_set(err, ERR_INVALID, "bad --pack_header: %s",
				 text);
	memcpy(in->header, "PACK", 4);
	store_be32(in->header + 4, version);
	store_be32(in->header + 8, nr);
	in->header_left = sizeof(in->header);
	return 0;
}

static ssize_t read_stdin(void *ctx, void *bytes, size_t len, struct error *err)
{
	struct pack_input *in = ctx;
	size_t n = in->header_left < len ? in->header_left : len;

	if (!n)
		return sys_read_some(STDIN_FILENO, bytes, len, "standard input",
				     err);
	memcpy(bytes, in->header + sizeof(in->header) - in->header_left, n);
	in->header_left -= n;
	return (ssize_t)n;
}

static int keep_rest(void *ctx, const void *bytes, size_t len,
		     struct error *err)
{
	struct pack_input *in = ctx;

	return buf_append(&in->rest, bytes, len) < 0 ? error_nomem(err) : 0;
}

struct pack_source pack_input_source(struct pack_input *in)
{
	return (struct pack_source){
		.read = read_stdin, .ctx = in, .rest = keep_rest};
}

void pack_input_release(struct pack_input *in)
{
	buf_release(&in->rest);
}

int pack_input_report(enum hash_algo algo, const struct fsck_report *report)
{
	char hex[OID_MAX_HEX_LEN + 1];

	oid_to_hex(hex, report->oid, algo);
	if (report->is_error)
		builtin_error("object %s: %s: %s", hex,
			      fsck_msg_name(report->msg), report->text);
	else
		builtin_warn("object %s: %s: %s", hex,
			     fsck_msg_name(report->msg), report->text);
	return 0;
}
