/* SPDX-License-Identifier: MIT */
/* Parses, combines and prints filter specifications. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "walk/filter.h"
#include "walk/sparse.h"

#define ALL_TYPES                                                              \
	(1U << OBJ_COMMIT | 1U << OBJ_TREE | 1U << OBJ_BLOB | 1U << OBJ_TAG)

/*
 * Maximum nesting depth of "combine:" specifications. The parser calls itself
 * once for each level.
 */
#define NESTING_MAX 16

void filter_init(struct filter *filter)
{
	*filter = (struct filter){
		.blob_limit = UINT64_MAX,
		.depth = UINT64_MAX,
		.types = ALL_TYPES,
	};
}

static void drop_parts(struct filter *filter, size_t from)
{
	while (filter->nr > from)
		free(filter->parts[--filter->nr].name);
}

void filter_release(struct filter *filter)
{
	drop_parts(filter, 0);
	free(filter->parts);
	for (size_t i = 0; i < filter->sparse_nr; i++)
		sparse_free(filter->sparse[i]);
	free(filter->sparse);
	filter_init(filter);
}

static int invalid(struct error *err, const char *spec)
{
	if (!strcmp(spec, "auto"))
		return error_set(err, ERR_INVALID,
				 "'auto' filter not supported by this command");
	return error_set(err, ERR_INVALID, "invalid filter-spec '%.256s'",
			 spec);
}

/*
 * Parses a number as C writes it (decimal, octal, hexadecimal), with an
 * optional suffix k, m or g. Returns false if the text has another form or the
 * number is too large.
 */
static bool parse_number(uint64_t *out, const char *text)
{
	static const char units[] = "kmg";
	const char *unit;
	unsigned shift = 0;
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*out = strtoumax(text, &end, 0);
	if (errno)
		return false;
	if (*end) {
		unit = strchr(units, tolower((unsigned char)*end));
		if (!unit || end[1])
			return false;
		shift = 10 * (unsigned)(unit - units + 1);
	}
	if (*out > UINT64_MAX >> shift)
		return false;
	*out <<= shift;
	return true;
}

static int add_part(struct filter *filter, struct filter_part part,
		    struct error *err)
{
	if (filter->nr >= FILTER_PARTS_MAX) {
		free(part.name);
		return error_set(err, ERR_INVALID,
				 "too many filters are combined");
	}
	if (mem_grow(&filter->parts, &filter->alloc, filter->nr + 1,
		     sizeof(part)) < 0) {
		free(part.name);
		return error_nomem(err);
	}
	filter->parts[filter->nr++] = part;
	return 0;
}

static int add_tree(struct filter *filter, const char *depth, struct error *err)
{
	struct filter_part part = {.kind = FILTER_TREE};

	if (!parse_number(&part.number, depth))
		return error_set(err, ERR_INVALID, "expected 'tree:<depth>'");
	return add_part(filter, part, err);
}

static int add_type(struct filter *filter, const char *name, struct error *err)
{
	struct filter_part part = {
		.kind = FILTER_OBJECT_TYPE,
		.type = object_type_by_name(name, strlen(name)),
	};

	if (part.type == OBJ_NONE)
		return error_set(err, ERR_INVALID,
				 "'%.256s' for 'object:type=<type>' is not a "
				 "valid object type",
				 name);
	return add_part(filter, part, err);
}

static int add_sparse(struct filter *filter, const char *name,
		      struct error *err)
{
	struct filter_part part = {
		.kind = FILTER_SPARSE_OID,
		.name = mem_strdup(name),
	};

	return part.name ? add_part(filter, part, err) : error_nomem(err);
}

/*
 * Characters that are percent-encoded in the parts of a "combine:"
 * specification.
 */
#define RESERVED "~`!@#$^&*()[]{}\\;'\",<>?"

static bool is_reserved(char c)
{
	return (unsigned char)c <= ' ' || strchr(RESERVED, c);
}

static int add(struct filter *filter, const char *spec, unsigned nesting,
	       struct error *err);

static int add_encoded(struct filter *filter, const char *spec, size_t len,
		       unsigned nesting, struct error *err)
{
	char *part;
	int ret;

	for (size_t i = 0; i < len; i++)
		if (is_reserved(spec[i]))
			return error_set(err, ERR_INVALID,
					 "must escape char in sub-filter-spec: "
					 "'%c'",
					 isprint((unsigned char)spec[i])
						 ? spec[i]
						 : '?');
	part = mem_strndup(spec, len);
	if (!part)
		return error_nomem(err);
	quote_undo_percent(part);
	ret = add(filter, part, nesting + 1, err);
	free(part);
	return ret;
}

/*
 * Adds the parts of a "combine:" specification. Skips empty parts, as stock Git
 * does.
 */
static int add_combination(struct filter *filter, const char *list,
			   unsigned nesting, struct error *err)
{
	int ret = 0;

	if (!*list)
		return error_set(err, ERR_INVALID,
				 "expected something after combine:");
	if (nesting >= NESTING_MAX)
		return error_set(err, ERR_INVALID,
				 "filters are combined too deeply");
	filter->is_combined = true;
	while (!ret && *list) {
		size_t len = strcspn(list, "+");

		if (len)
			ret = add_encoded(filter, list, len, nesting, err);
		list += len;
		list += *list == '+';
	}
	return ret;
}

/*
 * Returns the text after `prefix`, or NULL if `spec` does not begin with
 * `prefix`.
 */
static const char *after(const char *spec, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(spec, prefix, len) ? NULL : spec + len;
}

static int add(struct filter *filter, const char *spec, unsigned nesting,
	       struct error *err)
{
	struct filter_part part = {.kind = FILTER_BLOB_NONE};
	const char *value;

	if (!strcmp(spec, "blob:none"))
		return add_part(filter, part, err);
	if ((value = after(spec, "blob:limit="))) {
		part.kind = FILTER_BLOB_LIMIT;
		if (parse_number(&part.number, value))
			return add_part(filter, part, err);
	} else if ((value = after(spec, "tree:"))) {
		return add_tree(filter, value, err);
	} else if ((value = after(spec, "object:type="))) {
		return add_type(filter, value, err);
	} else if ((value = after(spec, "sparse:oid="))) {
		return add_sparse(filter, value, err);
	} else if (after(spec, "sparse:path=")) {
		return error_set(err, ERR_INVALID,
				 "sparse:path filters support has been "
				 "dropped");
	} else if ((value = after(spec, "combine:"))) {
		return add_combination(filter, value, nesting, err);
	}
	return invalid(err, spec);
}

static void take_account(struct filter *filter, const struct filter_part *part)
{
	switch (part->kind) {
	case FILTER_BLOB_NONE:
		filter->blob_limit = 0;
		break;
	case FILTER_BLOB_LIMIT:
		if (part->number < filter->blob_limit)
			filter->blob_limit = part->number;
		break;
	case FILTER_TREE:
		if (part->number < filter->depth)
			filter->depth = part->number;
		break;
	case FILTER_OBJECT_TYPE:
		filter->types &= 1U << part->type;
		break;
	case FILTER_SPARSE_OID:
	case FILTER_COMBINE:
		break;
	}
}

int filter_add(struct filter *filter, const char *spec, struct error *err)
{
	bool was_combined = filter->is_combined;
	size_t before = filter->nr;
	int ret = add(filter, spec, 0, err);

	if (ret < 0) {
		drop_parts(filter, before);
		filter->is_combined = was_combined;
		return ret;
	}
	if (before)
		filter->is_combined = true;
	for (size_t i = before; i < filter->nr; i++)
		take_account(filter, &filter->parts[i]);
	return 0;
}

/* ---- printing */

static int print_part(struct buf *out, const struct filter_part *part)
{
	switch (part->kind) {
	case FILTER_BLOB_LIMIT:
		return buf_printf(out, "blob:limit=%" PRIu64, part->number);
	case FILTER_TREE:
		return buf_printf(out, "tree:%" PRIu64, part->number);
	case FILTER_OBJECT_TYPE:
		return buf_printf(out, "object:type=%s",
				  object_type_name(part->type));
	case FILTER_SPARSE_OID:
		return buf_printf(out, "sparse:oid=%s", part->name);
	default:
		return buf_append_str(out, "blob:none");
	}
}

static int print_encoded(struct buf *out, const struct filter_part *part)
{
	struct buf plain = BUF_INIT;
	int ret = print_part(&plain, part);

	if (!ret)
		ret = quote_percent(out, plain.data, plain.len, RESERVED "+");
	buf_release(&plain);
	return ret;
}

int filter_print(struct buf *out, const struct filter *filter)
{
	int ret;

	if (filter->nr == 1)
		return print_part(out, &filter->parts[0]);
	ret = filter->nr ? buf_append_str(out, "combine:") : 0;
	for (size_t i = 0; !ret && i < filter->nr; i++) {
		if (i)
			ret = buf_append_char(out, '+');
		if (!ret)
			ret = print_encoded(out, &filter->parts[i]);
	}
	return ret;
}

const char *filter_kind_name(enum filter_kind kind)
{
	static const char *const names[] = {
		[FILTER_BLOB_NONE] = "blob:none",
		[FILTER_BLOB_LIMIT] = "blob:limit",
		[FILTER_TREE] = "tree",
		[FILTER_OBJECT_TYPE] = "object:type",
		[FILTER_SPARSE_OID] = "sparse:oid",
		[FILTER_COMBINE] = "combine",
	};

	return names[kind];
}

/* ---- asking what a filter does */

bool filter_has_sparse(const struct filter *filter)
{
	for (size_t i = 0; filter && i < filter->nr; i++)
		if (filter->parts[i].kind == FILTER_SPARSE_OID)
			return true;
	return false;
}

bool filter_takes_type(const struct filter *filter, enum object_type type)
{
	if (!(filter->types >> type & 1))
		return false;
	if (type == OBJ_BLOB && !filter->blob_limit)
		return false;
	return filter->depth || (type != OBJ_BLOB && type != OBJ_TREE);
}

bool filter_takes_all(const struct filter *filter, enum object_type type)
{
	if (!filter_takes_type(filter, type))
		return false;
	if (type == OBJ_BLOB &&
	    (filter->blob_limit != UINT64_MAX || filter_has_sparse(filter)))
		return false;
	return filter->depth == UINT64_MAX ||
	       (type != OBJ_BLOB && type != OBJ_TREE);
}

bool filter_needs_paths(const struct filter *filter)
{
	bool takes_blobs = filter_takes_type(filter, OBJ_BLOB);

	if (!takes_blobs && !filter_takes_type(filter, OBJ_TREE))
		return false;
	return filter->depth != UINT64_MAX ||
	       (takes_blobs && filter_has_sparse(filter));
}
