/* SPDX-License-Identifier: MIT */
/* Checks one object by its type, or the content of a .gitattributes file. */
#include <string.h>

#include "object/fsck-parts.h"

enum {
	/* .gitattributes: a line must have fewer bytes than this */
	ATTRIBUTES_LINE_MAX = 2048,
	/* .gitattributes: a file must not have more bytes than this */
	ATTRIBUTES_MAX = 100 * 1024 * 1024,
};

int fsck_object(struct fsck *f, const struct oid *oid, enum object_type type,
		const void *data, size_t len, struct error *err)
{
	struct fsck_check c = {f, oid, type, data, len, err};

	if (fsck_is_skipped(f->rules, oid))
		return 0;
	switch (type) {
	case OBJ_COMMIT:
		return fsck_commit(&c);
	case OBJ_TREE:
		return fsck_tree(&c);
	case OBJ_TAG:
		return fsck_tag(&c);
	case OBJ_BLOB:
		return 0;
	default:
		return fsck_say(&c, FSCK_UNKNOWN_TYPE,
				"unknown type '%d' (internal fsck error)",
				(int)type);
	}
}

int fsck_gitattributes(struct fsck *f, const struct oid *oid, const void *data,
		       size_t len, struct error *err)
{
	struct fsck_check c = {f, oid, OBJ_BLOB, data, len, err};
	const char *p = data;
	const char *end;

	if (fsck_is_skipped(f->rules, oid))
		return 0;
	if (!data || len > ATTRIBUTES_MAX)
		return fsck_say(&c, FSCK_GITATTRIBUTES_LARGE,
				".gitattributes too large to parse");
	/*
	 * Git reads .gitattributes as a string, so bytes after the first NUL
	 * do not count.
	 */
	end = p + strnlen(p, len);
	while (p < end) {
		const char *eol = memchr(p, '\n', (size_t)(end - p));

		if (!eol)
			eol = end;
		if (eol - p >= ATTRIBUTES_LINE_MAX)
			return fsck_say(&c, FSCK_GITATTRIBUTES_LINE_LENGTH,
					".gitattributes has too long lines to "
					"parse");
		p = eol + (eol < end);
	}
	return 0;
}
