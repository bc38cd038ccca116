/* SPDX-License-Identifier: MIT */
/*
 * Checks that a store keeps the promises of store/filestore.h. The unit tests
 * of the stores run these checks, and t/helper/store.c runs them on the store
 * at any URL.
 */
#ifndef STORE_SUITE_H
#define STORE_SUITE_H

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "store/filestore.h"

#define SUITE_CHECK(ok)                                                        \
	do {                                                                   \
		if (!(ok))                                                     \
			return error_set(err, ERR_UNSUPPORTED,                 \
					 "%s:%d: %s (%s)", __FILE__, __LINE__, \
					 #ok, err->msg);                       \
	} while (0)

static const struct filestore_condition suite_create = {STORE_CREATE, NULL};
static const struct filestore_condition suite_always = {STORE_ALWAYS, NULL};

/*
 * Returns true if the store has the file `name`, and `content` is its content.
 */
static bool suite_has(struct filestore *s, const char *name,
		      const char *content, struct error *err)
{
	struct buf got = BUF_INIT;
	int ret = filestore_get(s, &got, NULL, name, 1000, err);
	bool same = !ret && !strcmp(got.data, content);

	buf_release(&got);
	return same;
}

static int suite_conditions(struct filestore *s, struct error *err)
{
	char first[STORE_ETAG_MAX + 1], second[STORE_ETAG_MAX + 1];
	struct filestore_condition is_first = {STORE_REPLACE, first};
	struct filestore_info info;
	const char *name = "suite/conditions/file";

	*first = '\0';
	SUITE_CHECK(filestore_put(s, NULL, name, "x", 1, &is_first, err) ==
		    ERR_INVALID);
	SUITE_CHECK(filestore_put(s, first, name, "one", 3, &suite_create,
				  err) == 0);
	SUITE_CHECK(*first);
	SUITE_CHECK(suite_has(s, name, "one", err));
	SUITE_CHECK(filestore_put(s, NULL, name, "two", 3, &suite_create,
				  err) == STORE_CONFLICT);
	SUITE_CHECK(suite_has(s, name, "one", err));
	SUITE_CHECK(filestore_put(s, second, name, "two", 3, &is_first, err) ==
		    0);
	SUITE_CHECK(*second && strcmp(first, second) != 0);
	SUITE_CHECK(suite_has(s, name, "two", err));
	SUITE_CHECK(filestore_put(s, NULL, name, "three", 5, &is_first, err) ==
		    STORE_CONFLICT);
	SUITE_CHECK(suite_has(s, name, "two", err));
	SUITE_CHECK(filestore_put(s, NULL, name, "four", 4, &suite_always,
				  err) == 0);
	SUITE_CHECK(filestore_head(s, &info, name, err) == 0);
	SUITE_CHECK(info.size == 4 && info.mtime > 1500000000 && *info.etag);
	SUITE_CHECK(info.now >= info.mtime - 1);
	SUITE_CHECK(filestore_delete(s, name, err) == 0);
	SUITE_CHECK(filestore_delete(s, name, err) == 0);
	SUITE_CHECK(filestore_put(s, NULL, name, "five", 4, &is_first, err) ==
		    STORE_CONFLICT);
	SUITE_CHECK(filestore_head(s, &info, name, err) == STORE_ABSENT);
	return 0;
}

static int suite_reading(struct filestore *s, struct error *err)
{
	const char *name = "suite/reading";
	struct filestore_info info;
	struct buf got = BUF_INIT;
	char part[5] = "";
	int ret;

	SUITE_CHECK(filestore_put(s, NULL, name, "0123456789", 10,
				  &suite_create, err) == 0);
	ret = filestore_get(s, &got, &info, name, 10, err);
	SUITE_CHECK(ret == 0 && info.size == 10 && *info.etag &&
		    info.mtime > 1500000000);
	ret = strcmp(got.data, "0123456789");
	buf_release(&got);
	SUITE_CHECK(ret == 0);
	SUITE_CHECK(filestore_get(s, &got, NULL, name, 9, err) == ERR_CORRUPT);
	SUITE_CHECK(got.len == 0);
	SUITE_CHECK(filestore_get_range(s, part, name, 3, 4, err) == 0);
	SUITE_CHECK(!strcmp(part, "3456"));
	SUITE_CHECK(filestore_get_range(s, part, name, 9, 1, err) == 0);
	SUITE_CHECK(!strcmp(part, "9456"));
	SUITE_CHECK(filestore_get_range(s, part, name, 8, 4, err) ==
		    ERR_INVALID);
	SUITE_CHECK(filestore_get_range(s, part, name, 20, 1, err) ==
		    ERR_INVALID);
	SUITE_CHECK(filestore_get_range(s, part, "suite/none", 0, 1, err) ==
		    STORE_ABSENT);
	SUITE_CHECK(filestore_get(s, &got, NULL, "suite/none", 1, err) ==
		    STORE_ABSENT);
	SUITE_CHECK(filestore_get(s, &got, NULL, "../x", 1, err) ==
		    ERR_INVALID);
	SUITE_CHECK(filestore_delete(s, name, err) == 0);
	SUITE_CHECK(filestore_put(s, NULL, name, "", 0, &suite_create, err) ==
		    0);
	SUITE_CHECK(suite_has(s, name, "", err));
	SUITE_CHECK(filestore_delete(s, name, err) == 0);
	return 0;
}

static int suite_note(void *ctx, const struct filestore_entry *entry,
		      struct error *err)
{
	struct buf *all = ctx;

	return buf_printf(all, "%s %u %d\n", entry->name,
			  (unsigned)entry->info.size,
			  entry->info.mtime > 1500000000);
}

/*
 * Sets *all to the names of all files that start with `prefix`. Lists the files
 * in pages of up to `limit` files, and counts the pages in *page_nr. Returns 0
 * or a negative error code.
 */
static int suite_pages(struct buf *all, struct filestore *s, const char *prefix,
		       size_t limit, unsigned *page_nr, struct error *err)
{
	struct filestore_page page = {NULL, 0, 0, NULL};
	int ret;

	*page_nr = 0;
	buf_reset(all);
	do {
		ret = filestore_list(s, &page, prefix, limit, err);
		if (page.nr > limit)
			ret = ERR_CORRUPT;
		for (size_t i = 0; !ret && i < page.nr; i++)
			ret = suite_note(all, &page.entries[i], err);
		++*page_nr;
	} while (!ret && page.next);
	filestore_page_release(&page);
	return ret;
}

static int suite_check_lists(struct filestore *s, struct buf *all,
			     struct error *err)
{
	const char *names = "suite/list/a-b 3 1\n"
			    "suite/list/a.b 3 1\n"
			    "suite/list/a/b 3 1\n"
			    "suite/list/a0 3 1\n"
			    "suite/list/b/c/d 3 1\n"
			    "suite/list/b/c/e 3 1\n";
	unsigned page_nr;

	SUITE_CHECK(filestore_list_each(s, "suite/list/", suite_note, all,
					err) == 0);
	SUITE_CHECK(!strcmp(all->data, names));
	SUITE_CHECK(suite_pages(all, s, "suite/list/", 2, &page_nr, err) == 0);
	SUITE_CHECK(!strcmp(all->data, names) && page_nr == 3);
	SUITE_CHECK(suite_pages(all, s, "suite/list/", 1, &page_nr, err) == 0);
	SUITE_CHECK(!strcmp(all->data, names) && page_nr == 6);
	SUITE_CHECK(suite_pages(all, s, "suite/list/b/c/", 5, &page_nr, err) ==
		    0);
	SUITE_CHECK(!strcmp(all->data, strstr(names, "suite/list/b")) &&
		    page_nr == 1);
	SUITE_CHECK(suite_pages(all, s, "suite/list/a", 9, &page_nr, err) == 0);
	SUITE_CHECK(all->len == 3 * strlen("suite/list/a-b 3 1\n") +
					strlen("suite/list/a0 3 1\n"));
	SUITE_CHECK(suite_pages(all, s, "suite/none/", 9, &page_nr, err) == 0);
	SUITE_CHECK(!all->len);
	return 0;
}

static int suite_listing(struct filestore *s, struct error *err)
{
	static const char *const names[] = {
		"suite/list/a-b", "suite/list/a.b",   "suite/list/a/b",
		"suite/list/a0",  "suite/list/b/c/d", "suite/list/b/c/e",
	};
	struct buf all = BUF_INIT;
	int ret;

	for (size_t i = 6; i-- > 0;)
		SUITE_CHECK(filestore_put(s, NULL, names[i], "xyz", 3,
					  &suite_create, err) == 0);
	ret = suite_check_lists(s, &all, err);
	buf_release(&all);
	for (size_t i = 0; i < 6; i++)
		SUITE_CHECK(filestore_delete(s, names[i], err) == 0);
	return ret;
}

/*
 * Runs all checks on a store. The checks write files below "suite/", where no
 * file may exist before. Returns 0 or a negative error code.
 */
static int store_suite(struct filestore *s, struct error *err)
{
	int ret = suite_conditions(s, err);

	if (!ret)
		ret = suite_reading(s, err);
	return ret ? ret : suite_listing(s, err);
}

#endif
