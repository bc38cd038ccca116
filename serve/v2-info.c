/* SPDX-License-Identifier: MIT */
/* The commands object-info and bundle-uri of protocol v2. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/affix.h"
#include "base/mem.h"
#include "publish/bundle-list.h"
#include "serve/v2-command.h"
#include "sys/io.h"

/*
 * Maximum number of ids in one request. Ids are stored whether they exist or
 * not.
 */
#define OIDS_MAX 1000000

struct asked {
	struct session *s;
	bool size;
	/* owned: the ids, in the order of the request */
	struct oid *oids;
	size_t nr, alloc;
};

static int add_oid(struct asked *a, const char *hex, struct error *err)
{
	enum hash_algo algo = a->s->algo;
	char quoted[PKTLINE_QUOTE_MAX];
	struct oid oid;

	if (strlen(hex) != hash_hex_len(algo) ||
	    !oid_from_hex(&oid, hex, strlen(hex), algo))
		return error_set(err, ERR_PEER,
				 "object-info: protocol error, expected to get "
				 "oid, not '%s'",
				 pktline_quote(quoted, hex));
	if (a->nr >= OIDS_MAX)
		return error_set(err, ERR_PEER, "too many object ids");
	if (mem_grow(&a->oids, &a->alloc, a->nr + 1, sizeof(oid)) < 0)
		return error_nomem(err);
	a->oids[a->nr++] = oid;
	return 0;
}

static int parse(struct asked *a, struct v2_args *args, struct error *err)
{
	char quoted[PKTLINE_QUOTE_MAX];
	const char *line, *hex;
	int ret;

	while ((ret = v2_args_next(args, &line, err)) > 0) {
		hex = after_word(line, "oid");
		if (!strcmp(line, "size"))
			a->size = true;
		else if (hex)
			ret = add_oid(a, hex, err);
		else
			ret = error_set(err, ERR_PEER,
					"object-info: unexpected line: '%s'",
					pktline_quote(quoted, line));
		if (ret < 0)
			break;
	}
	return ret;
}

static int write_info(struct asked *a, const struct oid *oid, struct error *err)
{
	struct session *s = a->s;
	char hex[OID_MAX_HEX_LEN + 1];
	uint64_t size;
	int ret = s->config.is_limit ? session_has(s, oid, err) : 1;

	if (ret < 0)
		return ret;
	oid_to_hex(hex, oid, s->algo);
	if (!a->size)
		return pktline_printf(&s->out, err, "%s", hex);
	if (!ret || odb_info(s->walk.reader, oid, NULL, &size, NULL) < 0)
		return pktline_printf(&s->out, err, "%s ", hex);
	return pktline_printf(&s->out, err, "%s %" PRIu64, hex, size);
}

int v2_object_info_run(struct session *s, struct v2_args *args,
		       struct error *err)
{
	struct asked a = {.s = s};
	int ret = parse(&a, args, err);

	if (!ret)
		ret = session_open_walk(s, err);
	if (!ret && a.size && a.nr)
		ret = pktline_printf(&s->out, err, "size");
	for (size_t i = 0; !ret && i < a.nr; i++)
		ret = write_info(&a, &a.oids[i], err);
	if (!ret)
		ret = pktline_write_flush(&s->out, err);
	free(a.oids);
	return ret;
}

/* ---- bundle-uri */

struct bundle_keys {
	struct session *s;
	/* number of keys that were written so far */
	size_t nr;
	struct error *err;
};

/*
 * Writes a bundle.* key. A key without a value is skipped, because newer
 * clients refuse it.
 */
static int write_key(void *ctx, const struct config_entry *entry)
{
	struct bundle_keys *t = ctx;

	if (!entry->value || !*entry->value)
		return 0;
	t->nr++;
	return pktline_printf(&t->s->out, t->err, "%s=%s", entry->key,
			      entry->value);
}

static int write_bundle(struct session *s, const char *place,
			const struct bundle_list_item *item, struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	int ret;

	oid_to_hex(hex, &item->hash, s->algo);
	ret = pktline_printf(&s->out, err,
			     "bundle.%" PRIu64 ".uri=%s/%s/%s.bundle",
			     item->token, s->config.published.uri, place, hex);
	return ret ? ret
		   : pktline_printf(&s->out, err,
				    "bundle.%" PRIu64 ".creationtoken=%" PRIu64,
				    item->token, item->token);
}

/*
 * Checks whether a client may download the bundles of a list. A bundle contains
 * refs. When the list was written, these refs were visible to clients without a
 * namespace, under the hide rules whose hash is list->rules. So this client
 * must have no namespace, and the same hide rules (including those of an access
 * helper). Returns 1 if the client may have the bundles, 0 if not, or a
 * negative error code.
 */
static int may_have(struct session *s, const struct bundle_list *list,
		    struct error *err)
{
	struct oid rules;
	int ret = session_open_refs(s, err);

	if (ret < 0 || s->refs.prefix.len)
		return ret;
	ret = refview_rules_id(&rules, &s->refs.rules);
	return ret < 0 ? error_nomem(err) : oid_equal(&rules, &list->rules);
}

/* Returns whether the files of all bundles in a list exist. */
static bool has_files(const struct bundle_list *list, const char *place)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct buf path = BUF_INIT;
	bool has = true;

	for (size_t i = 0; i < list->nr && has; i++) {
		oid_to_hex(hex, &list->items[i].hash, list->algo);
		buf_reset(&path);
		has = !buf_printf(&path, "%s/%s.bundle", place, hex) &&
		      sys_exists(path.data);
	}
	buf_release(&path);
	return has;
}

/*
 * Writes the list of published bundles if the client may have all of them. If
 * the list is missing, cannot be read or names a missing file, nothing is
 * written, and the client starts without bundles. Returns 0 or a negative error
 * code.
 */
static int write_published(struct session *s, struct error *err)
{
	static const char *const keys[] = {"bundle.version=1",
					   "bundle.mode=all",
					   "bundle.heuristic=creationToken"};
	struct error why = ERROR_INIT;
	struct bundle_list list = {.nr = 0};
	char *place = published_place(&s->config.published,
				      s->options->repo->object_dir, &why);
	int ret = 0;

	if (place && bundle_list_read(&list, place, s->algo, &why) < 0)
		session_warn(s, &why);
	if (list.nr)
		ret = has_files(&list, place) ? may_have(s, &list, err) : 0;
	if (ret <= 0)
		list.nr = 0;
	ret = ret < 0 ? ret : 0;
	for (size_t i = 0; i < ARRAY_NR(keys) && list.nr && !ret; i++)
		ret = pktline_printf(&s->out, err, "%s", keys[i]);
	for (size_t i = 0; i < list.nr && !ret; i++)
		ret = write_bundle(s, strrchr(place, '/') + 1, &list.items[i],
				   err);
	free(place);
	return ret;
}

int v2_bundle_uri_run(struct session *s, struct v2_args *args,
		      struct error *err)
{
	const struct published_config *config = &s->config.published;
	struct bundle_keys t = {.s = s, .err = err};
	char quoted[PKTLINE_QUOTE_MAX];
	const char *line;
	int ret = v2_args_next(args, &line, err);

	if (ret > 0)
		return error_set(err, ERR_PEER,
				 "bundle-uri: unexpected argument: '%s'",
				 pktline_quote(quoted, line));
	if (!ret)
		ret = config_each(&s->options->repo->config, "bundle.",
				  write_key, &t);
	if (!ret && !t.nr && config->dir && config->uri && config->bundles)
		ret = write_published(s, err);
	return ret ? ret : pktline_write_flush(&s->out, err);
}
