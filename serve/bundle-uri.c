/* SPDX-License-Identifier: MIT */
/* The command bundle-uri of protocol v2. */
#include "serve/v2-command.h"

struct telling {
	struct session *s;
	struct error *err;
};

static int tell(void *ctx, const struct config_entry *entry)
{
	struct telling *t = ctx;

	return pktline_printf(&t->s->out, t->err, "%s=%s", entry->key,
			      entry->value ? entry->value : "");
}

int bundle_uri_run(struct session *s, struct v2_args *args, struct error *err)
{
	struct telling t = {s, err};
	char quoted[PKTLINE_QUOTE_MAX];
	const char *line;
	int ret = v2_args_next(args, &line, err);

	if (ret > 0)
		return error_set(err, ERR_PEER,
				 "bundle-uri: unexpected argument: '%s'",
				 pktline_quote(quoted, line));
	if (!ret)
		ret = config_each(&s->options->repo->config, "bundle.", tell,
				  &t);
	return ret ? ret : pktline_write_flush(&s->out, err);
}
