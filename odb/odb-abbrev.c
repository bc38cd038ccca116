/* SPDX-License-Identifier: MIT */
/*
 * Abbreviated ids: the objects with a given prefix, and the shortest unique
 * prefix of an id.
 */
#include <string.h>

#include "odb/odb.h"

/* Returns the number of leading hexadecimal digits that two ids share. */
static size_t common_digits(const uint8_t *a, const uint8_t *b, size_t len)
{
	size_t i = 0;

	while (i < len && a[i] == b[i])
		i++;
	if (i == len)
		return 2 * len;
	return 2 * i + (a[i] >> 4 == b[i] >> 4);
}

/* A visit of the loose objects whose ids begin with a given prefix. */
struct abbrev_visit {
	const struct odb *odb;
	const struct oid *prefix;
	size_t hex_len;
	int (*fn)(void *ctx, const struct oid *oid);
	void *ctx;
};

static int visit_loose(void *ctx, const struct oid *oid, const char *path)
{
	struct abbrev_visit *v = ctx;

	if (common_digits(oid->bytes, v->prefix->bytes,
			  hash_len(v->odb->algo)) < v->hex_len)
		return 0;
	return v->fn(v->ctx, oid);
}

int odb_each_abbrev(const struct odb *odb, const struct oid *prefix,
		    size_t hex_len, int (*fn)(void *ctx, const struct oid *oid),
		    void *ctx, struct error *err)
{
	struct abbrev_visit v = {odb, prefix, hex_len, fn, ctx};
	uint32_t i, ids_pos, last;
	struct oid oid;
	int ret = 0;

	for (i = 0; i < odb->source_nr; i++) {
		const struct pack_ids *ids = odb->sources[i].ids;

		pack_ids_find_prefix(ids, prefix, hex_len, &ids_pos, &last);
		for (; !ret && ids_pos < last; ids_pos++) {
			oid_from_raw(&oid, pack_ids_at(ids, ids_pos),
				     odb->algo);
			ret = fn(ctx, &oid);
		}
		if (ret)
			return ret;
	}
	return odb_each_loose_with(odb, prefix->bytes[0], visit_loose, &v, err);
}

/*
 * The state of odb_unique_len(): a search for the longest prefix that an id
 * shares with another id.
 */
struct unique_search {
	const struct odb *odb;
	const struct oid *oid;
	size_t shared;
};

static void compare(struct unique_search *s, const uint8_t *other)
{
	size_t len = hash_len(s->odb->algo);
	size_t digits = common_digits(s->oid->bytes, other, len);

	if (digits < 2 * len && digits > s->shared)
		s->shared = digits;
}

static int compare_loose(void *ctx, const struct oid *oid, const char *path)
{
	compare(ctx, oid->bytes);
	return 0;
}

int odb_unique_len(const struct odb *odb, const struct oid *oid, size_t min_len,
		   struct error *err)
{
	struct unique_search s = {odb, oid, 0};
	size_t hex_len = hash_hex_len(odb->algo);
	uint32_t i, first, last;
	int ret;

	/*
	 * The ids in a table are sorted. So of all ids in the table, the two
	 * neighbours of an id share the longest prefixes with it.
	 */
	for (i = 0; i < odb->source_nr; i++) {
		const struct pack_ids *ids = odb->sources[i].ids;

		pack_ids_find_prefix(ids, oid, hex_len, &first, &last);
		if (first)
			compare(&s, pack_ids_at(ids, first - 1));
		if (last < ids->nr)
			compare(&s, pack_ids_at(ids, last));
	}
	ret = odb_each_loose_with(odb, oid->bytes[0], compare_loose, &s, err);
	if (ret < 0)
		return ret;
	if (min_len <= s.shared)
		min_len = s.shared + 1;
	return (int)(min_len < hex_len ? min_len : hex_len);
}
