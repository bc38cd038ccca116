/* SPDX-License-Identifier: MIT */
/*
 * Tests of refs/refs-cache.c: users of one packed-refs file share its map,
 * unless the file has changed. t/t5577-gitreachd-fresh.sh tests that no
 * response is out of date.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "refs/refs-cache.h"
#include "sys/clock.h"
#include "t/unit/nomem.h"

/*
 * A file can be cached only if its last change is at least this number of
 * nanoseconds ago. A younger file could change again within the same
 * modification time.
 */
#define SETTLE_NS UINT64_C(150000000)

#define LINE "1234567890123456789012345678901234567890 refs/heads/"

static void fill(const char *path, const char *text)
{
	char other[64];
	FILE *f;

	snprintf(other, sizeof(other), "%s.new", path);
	f = fopen(other, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(rename(other, path), 0);
}

/* Returns the map of the file. Asserts that it contains the ref `name`. */
static const struct refs_cached *get(struct refs_cache *cache, const char *path,
				     const char *name)
{
	const struct refs_cached *cached = NULL;
	struct packed_ref ref;

	assert_int_equal(
		refs_cache_packed(&cached, cache, path, HASH_SHA1, NULL), 0);
	assert_int_equal(packed_refs_find(&cached->table, name, &ref, NULL), 1);
	return cached;
}

static void test_share(void **state)
{
	char path[] = "/tmp/test-refs-cache-XXXXXX";
	struct refs_cache *cache = refs_cache_new(NULL);
	const struct refs_cached *a, *b, *c;

	assert_true(close(mkstemp(path)) == 0);
	fill(path, "# pack-refs with: sorted \n" LINE "a\n");
	/* The file has changed so recently that its map is not shared. */
	a = get(cache, path, "refs/heads/a");
	b = get(cache, path, "refs/heads/a");
	assert_ptr_not_equal(a, b);
	refs_cache_put(cache, a);
	refs_cache_put(cache, b);
	sys_sleep_ns(SETTLE_NS);
	a = get(cache, path, "refs/heads/a");
	b = get(cache, path, "refs/heads/a");
	assert_ptr_equal(a, b);
	/*
	 * After the file has changed, the next user gets a new map. Users of
	 * the old map can still read it.
	 */
	fill(path, "# pack-refs with: sorted \n" LINE "c\n");
	c = get(cache, path, "refs/heads/c");
	assert_ptr_not_equal(a, c);
	assert_int_equal(a->table.len, c->table.len);
	refs_cache_put(cache, c);
	refs_cache_put(cache, a);
	refs_cache_put(cache, b);
	remove(path);
	refs_cache_free(cache);
}

static void note(struct refs_cache *cache, const struct refs_cached *cached,
		 const char *name, const char *text)
{
	struct buf key = BUF_INIT;

	assert_int_equal(buf_append_str(&key, name), 0);
	refs_cache_add_note(cache, cached, &key, text, strlen(text),
			    strlen(text) + 1);
	buf_release(&key);
}

/*
 * Looks up the note `name` of *cached, which holds the mapped refs of a
 * repository. A note is a text that a caller of the cache has computed from
 * these refs, such as a listing. The text must be `text`; NULL: there must be
 * no such note.
 */
static void check_note(struct refs_cache *cache,
		       const struct refs_cached *cached, const char *name,
		       const char *text)
{
	struct buf key = BUF_INIT, out = BUF_INIT;
	uint64_t number = 0;

	assert_int_equal(buf_append_str(&key, name), 0);
	assert_int_equal(buf_append_str(&out, "before "), 0);
	assert_int_equal(
		refs_cache_find_note(&out, &number, cache, cached, &key),
		text != NULL);
	assert_string_equal(out.data + 7, text ? text : "");
	assert_int_equal(number, text ? strlen(text) + 1 : 0);
	buf_release(&key);
	buf_release(&out);
}

/*
 * A note is a text that a caller of the cache has computed from the refs of a
 * file. It belongs to one version of the file. After the file has changed,
 * there are no notes.
 */
static void test_notes(void **state)
{
	char path[] = "/tmp/test-refs-cache-XXXXXX", name[2] = "b";
	struct refs_cache *cache = refs_cache_new(NULL);
	const struct refs_cached *old, *new;
	char *large = calloc(1, REFS_CACHE_NOTE_MAX + 2);

	assert_true(close(mkstemp(path)) == 0);
	fill(path, "# pack-refs with: sorted \n" LINE "a\n");
	sys_sleep_ns(SETTLE_NS);
	old = get(cache, path, "refs/heads/a");
	check_note(cache, old, "a", NULL);
	note(cache, old, "a", "one");
	check_note(cache, old, "a", "one");
	check_note(cache, old, "b", NULL);
	note(cache, old, "a", "two");
	check_note(cache, old, "a", "two");
	memset(large, 'x', REFS_CACHE_NOTE_MAX + 1);
	note(cache, old, "large", large);
	check_note(cache, old, "large", NULL);
	note(cache, old, large, "text");
	check_note(cache, old, large, NULL);
	large[REFS_CACHE_NOTE_MAX] = '\0';
	note(cache, old, "large", large);
	check_note(cache, old, "large", large);
	fill(path, "# pack-refs with: sorted \n" LINE "c\n");
	new = get(cache, path, "refs/heads/c");
	check_note(cache, new, "a", NULL);
	check_note(cache, old, "a", "two");
	/*
	 * The cache keeps a limited number of notes for a file. New notes
	 * replace the oldest ones.
	 */
	for (int i = 0; i < REFS_CACHE_NOTES; i++, name[0]++)
		note(cache, old, name, name);
	check_note(cache, old, "large", NULL);
	refs_cache_put(cache, new);
	refs_cache_put(cache, old);
	remove(path);
	refs_cache_free(cache);
	free(large);
}

struct fetch {
	const char *path;
	bool is_found;
};

static int fetch(void *ctx, struct error *err)
{
	struct refs_cache *cache = refs_cache_new(NULL);
	const struct refs_cached *cached;
	struct fetch *f = ctx;
	struct packed_ref ref;
	int ret;

	f->is_found = false;
	if (!cache)
		return error_nomem(err);
	ret = refs_cache_packed(&cached, cache, f->path, HASH_SHA1, err);
	if (!ret) {
		f->is_found = packed_refs_find(&cached->table, "refs/heads/a",
					       &ref, NULL) == 1;
		refs_cache_put(cache, cached);
	}
	refs_cache_free(cache);
	return ret;
}

static void check_fetch(void *ctx)
{
	assert_true(((struct fetch *)ctx)->is_found);
}

/* Opens a stack of reftables that has no tables, in the directory f->path. */
static int fetch_stack(void *ctx, struct error *err)
{
	struct refs_cache *cache = refs_cache_new(NULL);
	const struct refs_cached *cached;
	struct fetch *f = ctx;
	int ret;

	f->is_found = false;
	if (!cache)
		return error_nomem(err);
	ret = refs_cache_stack(&cached, cache, f->path, HASH_SHA1, err);
	if (!ret) {
		f->is_found = cached->stack.nr == 0 && cached->table.len == 0;
		refs_cache_put(cache, cached);
	}
	refs_cache_free(cache);
	return ret;
}

static void test_no_memory(void **state)
{
	char path[] = "/tmp/test-refs-cache-XXXXXX";
	struct fetch f = {.path = path}, none = {.path = "/none"};

	assert_true(close(mkstemp(path)) == 0);
	fill(path, "# pack-refs with: sorted \n" LINE "a\n");
	nomem_each(NULL, fetch, check_fetch, &f);
	nomem_each(NULL, fetch_stack, check_fetch, &none);
	remove(path);
}

static void test_missing(void **state)
{
	struct refs_cache *cache = refs_cache_new(NULL);
	const struct refs_cached *a, *b;

	assert_int_equal(refs_cache_packed(&a, cache, "/none/packed-refs",
					   HASH_SHA1, NULL),
			 0);
	assert_int_equal(refs_cache_packed(&b, cache, "/none/packed-refs",
					   HASH_SHA1, NULL),
			 0);
	assert_ptr_equal(a, b);
	assert_int_equal(a->table.len, 0);
	refs_cache_put(cache, a);
	refs_cache_put(cache, b);
	refs_cache_free(cache);
	refs_cache_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
