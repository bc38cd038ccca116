/* SPDX-License-Identifier: MIT */
/* Resolves abbreviated object ids, and chooses their length. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/mem.h"
#include "names/revname.h"
#include "object/oidmap.h"
#include "object/parse.h"

/* minimum number of digits of an abbreviated id */
#define SHORT_MIN 4
/*
 * number of digits of an abbreviated id in a small repository, if core.abbrev
 * is not set
 */
#define SHORT_DEFAULT 7
/*
 * Maximum length in bytes of the list of objects with an ambiguous id. The list
 * must fit into an error message.
 */
#define LIST_MAX (ERROR_MESSAGE_MAX - 128)
#define SECONDS_MAX (UINT64_C(1) << 40)

/* The objects whose ids begin with the digits of an abbreviated id. */
struct candidates {
	struct oid *oids; /* owned */
	size_t nr, alloc;
	/*
	 * the same ids; the values are unused. An object may have several
	 * copies. Clients may push very many ids with the same first digits,
	 * so a search of the array would be too slow.
	 */
	struct oidmap seen;
};

static int collect(void *ctx, const struct oid *oid)
{
	struct candidates *c = ctx;
	int ret = oidmap_add(&c->seen, oid, 0, NULL);

	if (ret <= 0)
		return ret;
	if (mem_grow(&c->oids, &c->alloc, c->nr + 1, sizeof(*c->oids)) < 0)
		return ERR_NOMEM;
	c->oids[c->nr++] = *oid;
	return 0;
}

static bool fits_hint(const struct oid *oid, enum revname_hint hint,
		      struct odb_reader *reader)
{
	bool peels = hint == REVNAME_COMMITTISH || hint == REVNAME_TREEISH;
	enum object_type type;
	struct oid peeled;

	if (peels ? odb_peel(reader, oid, &peeled, &type, NULL) < 0
		  : odb_info(reader, oid, &type, NULL, NULL) < 0)
		return false;
	switch (hint) {
	case REVNAME_TREEISH:
		return type == OBJ_COMMIT || type == OBJ_TREE;
	case REVNAME_COMMIT:
	case REVNAME_COMMITTISH:
		return type == OBJ_COMMIT;
	case REVNAME_TREE:
		return type == OBJ_TREE;
	case REVNAME_BLOB:
		return type == OBJ_BLOB;
	default:
		return true;
	}
}

/*
 * Drops the candidates that are not of the kind `hint`. If no candidate is of
 * this kind, keeps all.
 */
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

/*
 * Sets *prefix to the digits followed by zeros: the smallest id that begins
 * with them. Returns false if the text is not hexadecimal.
 */
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

/*
 * Sets *hint to the value of core.disambiguate, which is used instead of
 * REVNAME_ANY. Returns 0 or ERR_INVALID.
 */
static int configured_hint(enum revname_hint *hint, const struct config *config,
			   struct error *err)
{
	static const struct {
		const char *name;
		enum revname_hint hint;
	} names[] = {
		{"none", REVNAME_ANY},
		{"commit", REVNAME_COMMIT},
		{"committish", REVNAME_COMMITTISH},
		{"tree", REVNAME_TREE},
		{"treeish", REVNAME_TREEISH},
		{"blob", REVNAME_BLOB},
	};
	const char *value = config_string(config, "core.disambiguate");

	for (size_t i = 0; value && i < ARRAY_NR(names); i++) {
		if (strcasecmp(value, names[i].name) != 0)
			continue;
		*hint = names[i].hint;
		return 0;
	}
	if (!value)
		return 0;
	return error_set(err, ERR_INVALID,
			 "unknown hint type for 'core.disambiguate': %s",
			 value);
}

/*
 * Appends the date in the header line `key` of a commit or tag as year, month
 * and day. Returns 0 or ERR_NOMEM.
 */
static int append_day(struct buf *out, const struct odb_object *obj,
		      const char *key)
{
	const char *line = memmem(obj->data, obj->len, key, strlen(key));
	const char *end = (const char *)obj->data + obj->len;
	char copy[64];
	char *zone;
	size_t len;
	time_t seconds;
	struct tm tm;
	long offset;

	if (line)
		line = memmem(line, (size_t)(end - line), "> ", 2);
	if (!line)
		return 0;
	line += 2;
	len = (size_t)(end - line);
	if (len >= sizeof(copy))
		len = sizeof(copy) - 1;
	memcpy(copy, line, len);
	copy[len] = '\0';
	seconds = (time_t)(strtoull(copy, &zone, 10) % SECONDS_MAX);
	offset = strtol(zone, NULL, 10) % 10000;
	seconds += (offset / 100 * 60 + offset % 100) * 60;
	if (!gmtime_r(&seconds, &tm))
		return 0;
	return buf_printf(out, " %04d-%02d-%02d", tm.tm_year + 1900,
			  tm.tm_mon + 1, tm.tm_mday);
}

/*
 * Appends the first paragraph of a commit message on one line. Returns 0 or
 * ERR_NOMEM.
 */
static int append_subject(struct buf *out, const char *p, size_t len)
{
	const char *end = p + len;
	int ret = 0;

	while (p < end && *p == '\n')
		p++;
	for (;
	     !ret && p < end && !(p[0] == '\n' && p + 1 < end && p[1] == '\n');
	     p++)
		if (*p != '\n' || p + 1 < end)
			ret = buf_append_char(out, *p == '\n' ? ' ' : *p);
	return ret;
}

static int append_content(struct buf *out, const struct oid *oid,
			  struct odb_reader *reader, enum hash_algo algo)
{
	struct odb_object obj;
	struct commit_view commit;
	struct tag_view tag;
	int ret = odb_read(reader, oid, &obj, NULL);

	if (ret < 0)
		return ret == ERR_NOMEM ? ret : 0;
	if (obj.type == OBJ_COMMIT &&
	    !commit_parse(&commit, obj.data, obj.len, algo, NULL)) {
		ret = append_day(out, &obj, "\nauthor ");
		if (!ret)
			ret = buf_append_str(out, " - ");
		if (!ret)
			ret = append_subject(out, commit.message,
					     commit.message_len);
	} else if (obj.type == OBJ_TAG &&
		   !tag_parse(&tag, obj.data, obj.len, algo, NULL)) {
		ret = append_day(out, &obj, "\ntagger ");
		if (!ret)
			ret = buf_printf(out, " - %.*s", (int)tag.name_len,
					 tag.name);
	}
	odb_object_release(reader, &obj);
	return ret;
}

/*
 * Appends a line about a candidate (an object whose id begins with the
 * abbreviated id), if its type is `wanted`. Returns 0 or ERR_NOMEM.
 */
static int append_candidate(struct buf *out, const struct oid *oid,
			    enum object_type wanted, struct odb_reader *reader,
			    const struct odb *odb)
{
	char hex[OID_MAX_HEX_LEN + 1];
	int len = revname_default_len(odb, NULL);
	enum object_type type;
	int ret;

	if (odb_info(reader, oid, &type, NULL, NULL) < 0 || type != wanted)
		return 0;
	len = odb_unique_len(odb, oid, len < 0 ? SHORT_DEFAULT : (size_t)len,
			     NULL);
	oid_to_hex(hex, oid, odb->algo);
	if (len > 0)
		hex[len] = '\0';
	ret = buf_printf(out, "\nhint:   %s %s", hex, object_type_name(type));
	return ret ? ret : append_content(out, oid, reader, odb->algo);
}

static int compare_oids(const void *a, const void *b)
{
	return oid_cmp(a, b);
}

/*
 * Makes the error message that lists the objects with an abbreviated id: tags
 * first, then commits, trees and blobs. The list stops when the message is
 * full. Returns ERR_INVALID or ERR_NOMEM.
 */
static int set_ambiguous(struct candidates *c, const char *hex, size_t len,
			 struct odb_reader *reader, const struct odb *odb,
			 struct error *err)
{
	static const enum object_type order[] = {OBJ_TAG, OBJ_COMMIT, OBJ_TREE,
						 OBJ_BLOB};
	struct buf list = BUF_INIT;
	size_t fits = 0;
	int ret = 0;

	qsort(c->oids, c->nr, sizeof(*c->oids), compare_oids);
	for (size_t t = 0; t < ARRAY_NR(order); t++)
		for (size_t i = 0; !ret && i < c->nr && list.len < LIST_MAX;
		     i++) {
			ret = append_candidate(&list, &c->oids[i], order[t],
					       reader, odb);
			if (list.len < LIST_MAX)
				fits = list.len;
		}
	if (!ret)
		ret = error_set(err, ERR_INVALID,
				"short object ID %.*s is ambiguous%s%.*s",
				(int)len, hex,
				fits ? "\nhint: The candidates are:" : "",
				(int)fits, fits ? list.data : "");
	else
		ret = error_nomem(err);
	buf_release(&list);
	return ret;
}

bool revname_error_is_ambiguous(const struct error *err)
{
	static const char start[] = "short object ID ";

	return err->code == ERR_INVALID &&
	       !strncmp(err->msg, start, strlen(start));
}

int revname_resolve_short(struct oid *out, const char *hex, size_t len,
			  enum revname_hint hint, struct odb_reader *reader,
			  const struct odb *odb, struct error *err)
{
	struct candidates c = {.seen = OIDMAP_INIT};
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
	if (c.nr > 1 && hint == REVNAME_ANY) {
		ret = configured_hint(&hint, &odb->repo->config, err);
		if (ret < 0)
			goto out;
	}
	apply_hint(&c, hint, reader);
	if (c.nr > 1) {
		ret = err ? set_ambiguous(&c, hex, len, reader, odb, err)
			  : ERR_INVALID;
	} else if (c.nr) {
		*out = c.oids[0];
		ret = 1;
	}
out:
	oidmap_release(&c.seen);
	free(c.oids);
	return ret;
}

/*
 * Returns the default number of digits of abbreviated ids: half the number of
 * bits of the object count. With this length, about every second repository of
 * this size has two ids with equal abbreviations.
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

/*
 * Reads core.abbrev. Sets *len to 0 for the automatic length, or to
 * OID_MAX_HEX_LEN for all digits of any hash. Returns 0 or ERR_INVALID.
 */
static int configured_len(int *len, const struct config *config,
			  struct error *err)
{
	static const char key[] = "core.abbrev";
	const char *value = config_string(config, key);
	int64_t number = 0;
	int ret;

	*len = 0;
	if (!value || !strcasecmp(value, "auto"))
		return 0;
	*len = OID_MAX_HEX_LEN;
	if (!config_parse_bool_word(value))
		return 0;
	ret = config_i64(config, key, &number, err);
	if (ret < 0)
		return ret;
	if (number < SHORT_MIN)
		return error_set(err, ERR_INVALID,
				 "abbrev length out of range: %s", value);
	if (number < *len)
		*len = (int)number;
	return 0;
}

int revname_default_len(const struct odb *odb, struct error *err)
{
	int hex_len = (int)hash_hex_len(odb->algo);
	int len, ret = configured_len(&len, &odb->repo->config, err);

	if (ret < 0)
		return ret;
	if (!len)
		return auto_len(odb);
	return len < hex_len ? len : hex_len;
}

int revname_check_config(const struct config *config, struct error *err)
{
	enum revname_hint hint;
	int len, ret = configured_len(&len, config, err);

	return ret < 0 ? ret : configured_hint(&hint, config, err);
}
