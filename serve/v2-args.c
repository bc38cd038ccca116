/* SPDX-License-Identifier: MIT */
/* Reads the arguments of a command of protocol v2. */
#include <string.h>

#include "serve/v2-command.h"

int v2_args_next(struct v2_args *args, const char **line, struct error *err)
{
	struct pktline pkt;
	int ret;

	if (args->at_end)
		return 0;
	ret = pktline_read(&args->s->in, &pkt, err);
	if (ret < 0)
		return ret;
	switch (pkt.kind) {
	case PKTLINE_DATA:
		*line = pkt.data;
		return 1;
	case PKTLINE_FLUSH:
		args->at_end = true;
		return 0;
	case PKTLINE_EOF:
		return pktline_hung_up(&args->s->in, err);
	default:
		return error_set(err, ERR_PEER,
				 "expected flush after %s arguments",
				 args->command);
	}
}

int v2_args_unexpected(const char *line, struct error *err)
{
	char quoted[PKTLINE_QUOTE_MAX];

	return error_set(err, ERR_PEER, "unexpected line: '%s'",
			 pktline_quote(quoted, line));
}
