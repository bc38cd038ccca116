/* SPDX-License-Identifier: MIT */
/* Sizes of objects. */
#include <inttypes.h>
#include <string.h>

#include "serve/object-info.h"
#include "serve/oidset.h"

static int add_oid(struct oidset *oids, const char *hex, enum hash_algo algo,
		   struct error *err)
{
	char quoted[PKTLINE_QUOTE_MAX];
	struct oid oid;
	int ret;

	if (strlen(hex) != hash_hex_len(algo) ||
	    !oid_from_hex(&oid, hex, strlen(hex), algo))
		return error_set(err, ERR_PEER,
				 "object-info: protocol error, expected to get "
				 "oid, not '%s'",
				 pktline_quote(quoted, hex));
	ret = oidset_add(oids, &oid, err);
	return ret < 0 ? ret : 0;
}

static int parse(struct oidset *oids, struct session *s, struct v2_args *args,
		 struct error *err)
{
	char quoted[PKTLINE_QUOTE_MAX];
	const char *line, *hex;
	int ret;

	while ((ret = v2_args_next(args, &line, err)) > 0) {
		if (!strcmp(line, "size"))
			continue;
		hex = v2_args_value(line, "oid");
		if (hex)
			ret = add_oid(oids, hex, s->algo, err);
		else
			ret = error_set(err, ERR_PEER,
					"object-info: unexpected line: '%s'",
					pktline_quote(quoted, line));
		if (ret < 0)
			break;
	}
	return ret;
}

static int write_info(struct session *s, const struct oid *oid,
		      struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	uint64_t size;
	int ret = s->config.is_limit ? session_has(s, oid, err) : 1;

	if (ret < 0)
		return ret;
	oid_to_hex(hex, oid, s->algo);
	if (!ret || odb_info(s->walk.reader, oid, NULL, &size, NULL) < 0)
		return pktline_printf(&s->out, err, "%s ", hex);
	return pktline_printf(&s->out, err, "%s %" PRIu64, hex, size);
}

/* Ids that the client sends, whether we have them or not. */
#define OIDS_MAX 1000000

int object_info_run(struct session *s, struct v2_args *args, struct error *err)
{
	struct oidset oids;
	int ret;

	oidset_init(&oids, OIDS_MAX);
	ret = parse(&oids, s, args, err);
	if (!ret)
		ret = session_open_walk(s, err);
	if (!ret && oids.nr)
		ret = pktline_printf(&s->out, err, "size");
	for (size_t i = 0; !ret && i < oids.nr; i++)
		ret = write_info(s, &oids.oids[i], err);
	if (!ret)
		ret = pktline_write_flush(&s->out, err);
	oidset_release(&oids);
	return ret;
}
