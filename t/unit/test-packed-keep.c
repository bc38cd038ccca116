/* SPDX-License-Identifier: MIT */
/*
 * Tests of refs/packed-keep.c: users of one packed-refs file share its map,
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

#include "refs/packed-keep.h"
#include "sys/clock.h"
#include "t/unit/nomem.h"

/*
 * Time in nanoseconds after which a changed file can be shared. Before that, a
 * further change might leave the modification time as it is.
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
static const struct packed_kept *get(struct packed_keep *keep, const char *path,
				     const char *name)
{
	const struct packed_kept *kept = NULL;
	struct packed_ref ref;

	assert_int_equal(packed_keep_get(&kept, keep, path, HASH_SHA1, NULL),
			 0);
	assert_int_equal(packed_refs_find(&kept->table, name, &ref, NULL), 1);
	return kept;
}

static void test_share(void **state)
{
	char path[] = "/tmp/test-packed-keep-XXXXXX";
	struct packed_keep *keep = packed_keep_new(NULL);
	const struct packed_kept *a, *b, *c;

	assert_true(close(mkstemp(path)) == 0);
	fill(path, "# pack-refs with: sorted \n" LINE "a\n");
	/* The file has changed so recently that its map is not shared. */
	a = get(keep, path, "refs/heads/a");
	b = get(keep, path, "refs/heads/a");
	assert_ptr_not_equal(a, b);
	packed_keep_put(keep, a);
	packed_keep_put(keep, b);
	sys_sleep_ns(SETTLE_NS);
	a = get(keep, path, "refs/heads/a");
	b = get(keep, path, "refs/heads/a");
	assert_ptr_equal(a, b);
	/*
	 * After the file has changed, the next user gets a new map. Users of
	 * the old map can still read it.
	 */
	fill(path, "# pack-refs with: sorted \n" LINE "c\n");
	c = get(keep, path, "refs/heads/c");
	assert_ptr_not_equal(a, c);
	assert_int_equal(a->table.len, c->table.len);
	packed_keep_put(keep, c);
	packed_keep_put(keep, a);
	packed_keep_put(keep, b);
	remove(path);
	packed_keep_free(keep);
}

static void note(struct packed_keep *keep, const struct packed_kept *kept,
		 const char *name, const char *text)
{
	struct buf key = BUF_INIT;

	assert_int_equal(buf_append_str(&key, name), 0);
	packed_keep_add_note(keep, kept, &key, text, strlen(text),
			     strlen(text) + 1);
	buf_release(&key);
}

/*
 * Looks up the note `name` of a map. A note is a text that users derived from
 * the map, such as a listing of refs. The text must be `text`; NULL: there must
 * be no such note.
 */
static void check_note(struct packed_keep *keep, const struct packed_kept *kept,
		       const char *name, const char *text)
{
	struct buf key = BUF_INIT, out = BUF_INIT;
	uint64_t number = 0;

	assert_int_equal(buf_append_str(&key, name), 0);
	assert_int_equal(buf_append_str(&out, "before "), 0);
	assert_int_equal(packed_keep_find_note(&out, &number, keep, kept, &key),
			 text != NULL);
	assert_string_equal(out.data + 7, text ? text : "");
	assert_int_equal(number, text ? strlen(text) + 1 : 0);
	buf_release(&key);
	buf_release(&out);
}

/*
 * Notes (texts that users derived from a file) belong to one version of the
 * file. After the file has changed, there are no notes.
 */
static void test_notes(void **state)
{
	char path[] = "/tmp/test-packed-keep-XXXXXX", name[2] = "b";
	struct packed_keep *keep = packed_keep_new(NULL);
	const struct packed_kept *old, *new;
	char *large = calloc(1, PACKED_KEEP_NOTE_MAX + 2);

	assert_true(close(mkstemp(path)) == 0);
	fill(path, "# pack-refs with: sorted \n" LINE "a\n");
	sys_sleep_ns(SETTLE_NS);
	old = get(keep, path, "refs/heads/a");
	check_note(keep, old, "a", NULL);
	note(keep, old, "a", "one");
	check_note(keep, old, "a", "one");
	check_note(keep, old, "b", NULL);
	note(keep, old, "a", "two");
	check_note(keep, old, "a", "two");
	memset(large, 'x', PACKED_KEEP_NOTE_MAX + 1);
	note(keep, old, "large", large);
	check_note(keep, old, "large", NULL);
	note(keep, old, large, "text");
	check_note(keep, old, large, NULL);
	large[PACKED_KEEP_NOTE_MAX] = '\0';
	note(keep, old, "large", large);
	check_note(keep, old, "large", large);
	fill(path, "# pack-refs with: sorted \n" LINE "c\n");
	new = get(keep, path, "refs/heads/c");
	check_note(keep, new, "a", NULL);
	check_note(keep, old, "a", "two");
	/* New notes replace the oldest ones. */
	for (int i = 0; i < PACKED_KEEP_NOTES; i++, name[0]++)
		note(keep, old, name, name);
	check_note(keep, old, "large", NULL);
	packed_keep_put(keep, new);
	packed_keep_put(keep, old);
	remove(path);
	packed_keep_free(keep);
	free(large);
}

struct fetch {
	const char *path;
	bool is_found;
};

static int fetch(void *ctx, struct error *err)
{
	struct packed_keep *keep = packed_keep_new(NULL);
	const struct packed_kept *kept;
	struct fetch *f = ctx;
	struct packed_ref ref;
	int ret;

	f->is_found = false;
	if (!keep)
		return error_nomem(err);
	ret = packed_keep_get(&kept, keep, f->path, HASH_SHA1, err);
	if (!ret) {
		f->is_found = packed_refs_find(&kept->table, "refs/heads/a",
					       &ref, NULL) == 1;
		packed_keep_put(keep, kept);
	}
	packed_keep_free(keep);
	return ret;
}

static void check_fetch(void *ctx)
{
	assert_true(((struct fetch *)ctx)->is_found);
}

static void test_no_memory(void **state)
{
	char path[] = "/tmp/test-packed-keep-XXXXXX";
	struct fetch f = {.path = path};

	assert_true(close(mkstemp(path)) == 0);
	fill(path, "# pack-refs with: sorted \n" LINE "a\n");
	nomem_each(NULL, fetch, check_fetch, &f);
	remove(path);
}

static void test_missing(void **state)
{
	struct packed_keep *keep = packed_keep_new(NULL);
	const struct packed_kept *a, *b;

	assert_int_equal(
		packed_keep_get(&a, keep, "/none/packed-refs", HASH_SHA1, NULL),
		0);
	assert_int_equal(
		packed_keep_get(&b, keep, "/none/packed-refs", HASH_SHA1, NULL),
		0);
	assert_ptr_equal(a, b);
	assert_int_equal(a->table.len, 0);
	packed_keep_put(keep, a);
	packed_keep_put(keep, b);
	packed_keep_free(keep);
	packed_keep_free(NULL);
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
