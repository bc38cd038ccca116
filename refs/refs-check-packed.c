/* SPDX-License-Identifier: MIT */
/*
 * Checks packed-refs line by line (packed-refs.h draws the file). The check
 * continues after a malformed line. A wrong order of names is reported only if
 * no other error was found.
 */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "refs/packed-refs.h"
#include "refs/refs-check.h"
#include "refs/refs.h"

static const char header[] = "# pack-refs with: ";

/*
 * The state of checking packed-refs. `line` is the current line without its
 * line feed.
 */
struct packed_check {
	struct refs_check *c;
	enum hash_algo algo;
	/* the part of the file that was not read yet */
	const char *p, *end;
	const char *line;
	size_t len;
	unsigned long line_nr;
	char where[sizeof("packed-refs line ") + 20];
	/* name of the previous record, to compare the order */
	const char *last;
	size_t last_len;
	/*
	 * The first name that is out of order (`unsorted`), the number of its
	 * line, and the name in the record before (`before`).
	 */
	unsigned long unsorted_nr; /* line number; 0: none */
	const char *unsorted, *before;
	size_t unsorted_len, before_len;
	struct error *err;
};

static const char *at_line(struct packed_check *k, unsigned long nr)
{
	snprintf(k->where, sizeof(k->where), "packed-refs line %lu", nr);
	return k->where;
}

/* Converts a length for the format "%.*s", which needs an int. */
static int shown(size_t len)
{
	return len < INT_MAX ? (int)len : INT_MAX;
}

/*
 * Reads the next line of packed-refs. Returns 1 if there was a line, 0 at the
 * end, or ERR_NOMEM. Reports a last line without a line feed.
 */
static int take_line(struct packed_check *k)
{
	const char *lf;

	if (k->p == k->end)
		return 0;
	k->line_nr++;
	k->line = k->p;
	lf = memchr(k->p, '\n', (size_t)(k->end - k->p));
	k->len = (size_t)((lf ? lf : k->end) - k->p);
	k->p = lf ? lf + 1 : k->end;
	if (!lf &&
	    refs_check_complain(k->c, at_line(k, k->line_nr),
				FSCK_PACKED_REF_ENTRY_NOT_TERMINATED, k->err,
				"'%.*s' is not terminated with a newline",
				shown(k->len), k->line) < 0)
		return ERR_NOMEM;
	return 1;
}

static int check_header(struct packed_check *k, bool *is_sorted)
{
	size_t len = sizeof(header) - 1;
	int ret;

	*is_sorted = false;
	if (k->p == k->end || *k->p != '#')
		return 0;
	ret = take_line(k);
	if (ret < 0)
		return ret;
	*is_sorted = packed_refs_has_trait(k->line, k->len, "sorted");
	if (k->len >= len && !memcmp(k->line, header, len))
		return 0;
	return refs_check_complain(k->c, "packed-refs.header",
				   FSCK_BAD_PACKED_REF_HEADER, k->err,
				   "'%.*s' does not start with '%s'",
				   shown(k->len), k->line, header);
}

static int check_name(struct packed_check *k, const char *name, size_t len)
{
	if (memchr(name, '\0', len))
		return refs_check_complain(k->c, at_line(k, k->line_nr),
					   FSCK_BAD_PACKED_REF_ENTRY, k->err,
					   "refname '%.*s' contains NULL "
					   "binaries",
					   shown(len), name);
	if (!refs_name_is_valid_len(name, len, false))
		return refs_check_complain(
			k->c, at_line(k, k->line_nr), FSCK_BAD_REF_NAME, k->err,
			"has bad refname '%.*s'", shown(len), name);
	return 0;
}

static void check_order(struct packed_check *k, const char *name, size_t len)
{
	if (!k->unsorted_nr && k->last &&
	    packed_refs_name_cmp(k->last, k->last_len, name, len) >= 0) {
		k->unsorted_nr = k->line_nr;
		k->unsorted = name;
		k->unsorted_len = len;
		k->before = k->last;
		k->before_len = k->last_len;
	}
	k->last = name;
	k->last_len = len;
}

static int check_entry(struct packed_check *k)
{
	size_t hex_len = hash_hex_len(k->algo), name_len;
	const char *name;
	struct oid oid;

	if (k->len < hex_len || !oid_from_hex(&oid, k->line, hex_len, k->algo))
		return refs_check_complain(k->c, at_line(k, k->line_nr),
					   FSCK_BAD_PACKED_REF_ENTRY, k->err,
					   "'%.*s' has invalid oid",
					   shown(k->len), k->line);
	if (k->len == hex_len || !isspace((unsigned char)k->line[hex_len]))
		return refs_check_complain(k->c, at_line(k, k->line_nr),
					   FSCK_BAD_PACKED_REF_ENTRY, k->err,
					   "has no space after oid '%.*s' but "
					   "with '%.*s'",
					   (int)hex_len, k->line,
					   shown(k->len - hex_len),
					   k->line + hex_len);
	name = k->line + hex_len + 1;
	name_len = k->len - hex_len - 1;
	check_order(k, name, name_len);
	return check_name(k, name, name_len);
}

/*
 * Checks a line "^<hex>": the peeled id of the previous record. Returns 0 or
 * ERR_NOMEM.
 */
static int check_peeled(struct packed_check *k)
{
	size_t hex_len = hash_hex_len(k->algo), len = k->len - 1;
	const char *hex = k->line + 1;
	struct oid oid;

	if (len < hex_len || !oid_from_hex(&oid, hex, hex_len, k->algo))
		return refs_check_complain(k->c, at_line(k, k->line_nr),
					   FSCK_BAD_PACKED_REF_ENTRY, k->err,
					   "'%.*s' has invalid peeled oid",
					   shown(len), hex);
	if (len > hex_len)
		return refs_check_complain(k->c, at_line(k, k->line_nr),
					   FSCK_BAD_PACKED_REF_ENTRY, k->err,
					   "has trailing garbage after peeled "
					   "oid '%.*s'",
					   shown(len - hex_len), hex + hex_len);
	return 0;
}

static int check_lines(struct packed_check *k)
{
	int ret;

	while ((ret = take_line(k)) > 0) {
		ret = check_entry(k);
		if (!ret && k->p < k->end && *k->p == '^') {
			ret = take_line(k);
			if (ret > 0)
				ret = check_peeled(k);
		}
		if (ret < 0)
			break;
	}
	return ret;
}

static int check_all(struct packed_check *k)
{
	bool is_sorted;
	int ret = check_header(k, &is_sorted);

	if (!ret)
		ret = check_lines(k);
	if (ret < 0 || !is_sorted || !k->unsorted_nr || k->c->failed)
		return ret;
	return refs_check_complain(k->c, at_line(k, k->unsorted_nr),
				   FSCK_PACKED_REF_UNSORTED, k->err,
				   "refname '%.*s' is less than previous "
				   "refname '%.*s'",
				   shown(k->unsorted_len), k->unsorted,
				   shown(k->before_len), k->before);
}

int refs_check_packed(struct refs_check *c, const char *bytes, size_t len,
		      enum hash_algo algo, struct error *err)
{
	struct packed_check k = {
		.c = c,
		.algo = algo,
		.p = bytes,
		.end = bytes + len,
		.err = err,
	};
	bool failed = c->failed;
	int ret;

	if (!len)
		return refs_check_complain(c, "packed-refs",
					   FSCK_EMPTY_PACKED_REFS_FILE, err,
					   "file is empty");
	c->failed = false;
	ret = check_all(&k);
	c->failed |= failed;
	return ret;
}
