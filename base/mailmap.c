/* SPDX-License-Identifier: MIT */
/* Parses mailmaps, and looks up persons in them. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mailmap.h"
#include "base/mem.h"

/* ---- comparing */

static int compare_spans(struct mailmap_span a, struct mailmap_span b)
{
	size_t len = a.len < b.len ? a.len : b.len;

	for (size_t i = 0; i < len; i++) {
		int left = tolower((unsigned char)a.p[i]);
		int right = tolower((unsigned char)b.p[i]);

		if (left != right)
			return left < right ? -1 : 1;
	}
	return a.len < b.len ? -1 : a.len > b.len;
}

/*
 * Compares addresses and then names. Entries that apply to any name come first.
 */
static int compare_keys(const struct mailmap_entry *a,
			const struct mailmap_entry *b)
{
	int order = compare_spans(a->old_email, b->old_email);

	if (order)
		return order;
	if (!a->old_name.p || !b->old_name.p)
		return (a->old_name.p != NULL) - (b->old_name.p != NULL);
	return compare_spans(a->old_name, b->old_name);
}

static int compare_entries(const void *a, const void *b)
{
	const struct mailmap_entry *left = a, *right = b;
	int order = compare_keys(left, right);

	if (order)
		return order;
	return left->nr < right->nr ? -1 : left->nr > right->nr;
}

void mailmap_sort(struct mailmap *m)
{
	if (m->nr)
		qsort(m->entries, m->nr, sizeof(*m->entries), compare_entries);
}

/* ---- parsing */

static struct mailmap_span trimmed(const char *p, const char *end)
{
	while (p < end && isspace((unsigned char)*p))
		p++;
	while (end > p && isspace((unsigned char)end[-1]))
		end--;
	return (struct mailmap_span){p < end ? p : NULL, (size_t)(end - p)};
}

/*
 * Parses "Name <email>" at *p, and moves *p past the address. If the name is
 * empty, sets name->p to NULL. Returns false if there is no address.
 */
static bool parse_person(struct mailmap_span *name, struct mailmap_span *email,
			 const char **p, const char *end)
{
	const char *open = memchr(*p, '<', (size_t)(end - *p));
	const char *close = NULL;

	if (open)
		close = memchr(open, '>', (size_t)(end - open));
	if (!close)
		return false;
	*name = trimmed(*p, open);
	*email = (struct mailmap_span){open + 1, (size_t)(close - open - 1)};
	*p = close + 1;
	return true;
}

static int parse_line(struct mailmap *m, const char *p, const char *end)
{
	const struct mailmap_span none = {NULL, 0};
	struct mailmap_entry entry = {.nr = m->nr};

	if (p == end || *p == '#' ||
	    !parse_person(&entry.name, &entry.email, &p, end) ||
	    !entry.email.len)
		return 0;
	/*
	 * A line with only one address: the name in this line is the new name
	 * for the address.
	 */
	if (!parse_person(&entry.old_name, &entry.old_email, &p, end)) {
		entry.old_email = entry.email;
		entry.old_name = entry.email = none;
	}
	if (mem_grow(&m->entries, &m->alloc, m->nr + 1, sizeof(*m->entries)) <
	    0)
		return ERR_NOMEM;
	m->entries[m->nr++] = entry;
	return 0;
}

static int parse_lines(struct mailmap *m, const char *p, const char *end)
{
	int ret = 0;

	while (p < end && !ret) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));

		nl = nl ? nl : end;
		/* As in stock Git, a NUL ends the line. */
		ret = parse_line(m, p, p + strnlen(p, (size_t)(nl - p)));
		p = nl < end ? nl + 1 : end;
	}
	return ret;
}

int mailmap_add(struct mailmap *m, const char *text, size_t len)
{
	char *copy;

	if (!len)
		return 0;
	copy = mem_alloc(len, 1);
	if (!copy || mem_grow(&m->texts, &m->text_alloc, m->text_nr + 1,
			      sizeof(*m->texts)) < 0) {
		free(copy);
		return ERR_NOMEM;
	}
	memcpy(copy, text, len);
	m->texts[m->text_nr++] = copy;
	return parse_lines(m, copy, copy + len);
}

void mailmap_release(struct mailmap *m)
{
	for (size_t i = 0; i < m->text_nr; i++)
		free(m->texts[i]);
	free(m->texts);
	free(m->entries);
	*m = (struct mailmap)MAILMAP_INIT;
}

/* ---- looking up */

/* Returns the first entry that is not less than the key. */
static size_t find_first(const struct mailmap *m,
			 const struct mailmap_entry *key)
{
	size_t low = 0, high = m->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_keys(&m->entries[middle], key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Finds the lines of the mailmap that have the old name and the old address of
 * `key`, and sets *found to the new name and address that these lines give.
 * Later lines count more than earlier lines:
 * - If the key has no old name, the last line that gives a new name determines
 *   the name. The last line that gives a new address determines the address.
 * - If the key has an old name, the last line alone determines both. If this
 *   line gives no new name, found->name is empty, and likewise for the address.
 *
 * Returns whether there is a line for the key.
 */
static bool collect(struct mailmap_entry *found, const struct mailmap *m,
		    const struct mailmap_entry *key)
{
	size_t i = find_first(m, key);
	bool any = false;

	for (; i < m->nr && !compare_keys(&m->entries[i], key); i++) {
		const struct mailmap_entry *entry = &m->entries[i];

		if (entry->name.p || key->old_name.p)
			found->name = entry->name;
		if (entry->email.p || key->old_name.p)
			found->email = entry->email;
		any = true;
	}
	return any;
}

bool mailmap_map(const struct mailmap *m, struct mailmap_span *name,
		 struct mailmap_span *email)
{
	struct mailmap_entry key = {.old_name = *name, .old_email = *email};
	struct mailmap_entry found = {.nr = 0};

	if (!key.old_name.p || !collect(&found, m, &key)) {
		key.old_name = (struct mailmap_span){NULL, 0};
		collect(&found, m, &key);
	}
	if (found.name.p)
		*name = found.name;
	if (found.email.p)
		*email = found.email;
	return found.name.p || found.email.p;
}
