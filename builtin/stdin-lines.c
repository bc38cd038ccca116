/* SPDX-License-Identifier: MIT */
/* Reading standard input by lines. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "builtin/stdin-lines.h"

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
