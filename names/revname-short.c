/* SPDX-License-Identifier: MIT */
/* Resolves abbreviated object ids, and chooses their length. */
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "names/revname.h"
#include "object/parse.h"

#define SHORT_MIN 4     /* fewer digits are not an abbreviation */
#define SHORT_DEFAULT 7 /* digits in a small repository */

/* The distinct matching objects. */
struct candidates {
	struct oid *oids; /* owned */
	size_t nr, alloc;
};

static int collect(void *ctx, const struct oid *oid)
{
	struct candidates *c = ctx;
	size_t i;

	for (i = 0; i < c->nr; i++)
		if (oid_equal(&c->oids[i], oid))
			return 0;
	if (mem_grow(&c->oids, &c->alloc, c->nr + 1, sizeof(*c->oids)) < 0)
		return ERR_NOMEM;
	c->oids[c->nr++] = *oid;
	return 0;
}

static bool fits_hint(const struct oid *oid, enum revname_hint hint,
		      struct odb_reader *reader)
{
	enum object_type type;
	struct oid peeled;

	if (odb_peel(reader, oid, &peeled, &type, NULL) < 0)
		return false;
	return type == OBJ_COMMIT ||
	       (type == OBJ_TREE && hint == REVNAME_TREEISH);
}

/* Drops objects that do not fit the hint, unless no object would remain. */
static void apply_hint(struct candidates *c, enum revname_hint hint,
		       struct odb_reader *reader)
{
	size_t i, kept = 0;

	if (hint == REVNAME_ANY || c->nr < 2)
		return;
	for (i = 0; i < c->nr; i++) {
		if (fits_hint(&c->oids[i], hint, reader)) {
			struct oid oid = c->oids[kept];

			c->oids[kept++] = c->oids[i];
			c->oids[i] = oid;
		}
	}
	if (kept)
		c->nr = kept;
}

/* Makes an id of the digits, with zeros for the rest. */
static bool parse_prefix(struct oid *prefix, const char *hex, size_t len,
			 enum hash_algo algo)
{
	char full[OID_MAX_HEX_LEN];

	if (len < SHORT_MIN || len > hash_hex_len(algo))
		return false;
	memset(full, '0', sizeof(full));
	memcpy(full, hex, len);
	return oid_from_hex(prefix, full, sizeof(full), algo);
}

int revname_resolve_short(struct oid *out, const char *hex, size_t len,
			  enum revname_hint hint, struct odb_reader *reader,
			  const struct odb *odb, struct error *err)
{
	struct candidates c = {NULL, 0, 0};
	struct oid prefix;
	int ret;

	if (!parse_prefix(&prefix, hex, len, odb->algo))
		return 0;
	ret = odb_each_abbrev(odb, &prefix, len, collect, &c, err);
	if (ret < 0) {
		if (ret == ERR_NOMEM)
			error_nomem(err);
		goto out;
	}
	apply_hint(&c, hint, reader);
	if (c.nr > 1) {
		ret = error_set(err, ERR_INVALID,
				"short object ID %.*s is ambiguous", (int)len,
				hex);
	} else if (c.nr) {
		*out = c.oids[0];
		ret = 1;
	}
out:
	free(c.oids);
	return ret;
}

/*
 * The number of digits is half the number of bits of the object count. So on
 * average, about half of all such repositories have two ids that share so many
 * digits.
 */
static int auto_len(const struct odb *odb)
{
	unsigned bits = 0;
	uint32_t nr = odb->packed_nr;

	for (; nr; nr >>= 1)
		bits++;
	bits = (bits + 1) / 2;
	return bits > SHORT_DEFAULT ? (int)bits : SHORT_DEFAULT;
}

int revname_default_len(const struct odb *odb, struct error *err)
{
	static const char key[] = "core.abbrev";
	const struct config *config = &odb->repo->config;
	const char *value = config_string(config, key);
	int hex_len = (int)hash_hex_len(odb->algo);
	int64_t len = 0;
	int ret;

	if (!value || !strcasecmp(value, "auto"))
		return auto_len(odb);
	if (!config_parse_bool(value) && strcmp(value, "0") != 0)
		return hex_len;
	ret = config_i64(config, key, &len, err);
	if (ret < 0)
		return ret;
	if (len < SHORT_MIN || len > hex_len)
		return error_set(err, ERR_INVALID,
				 "abbrev length out of range: %s", value);
	return (int)len;
}
