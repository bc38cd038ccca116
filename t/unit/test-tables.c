/* SPDX-License-Identifier: MIT */
/*
 * Tests of stored/tables.h: the refs of a generation, and the refs that differ
 * between two generations. A generation is a version of a repository in a
 * store.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "stored/layout.h"
#include "stored/tables.h"
#include "sys/map.h"
#include "sys/tempfile.h"
#include "t/unit/storedrepo.h"

static const char one[] = "1111111111111111111111111111111111111111";

struct fixture {
	struct storedrepo s;
	struct stored_cache *cache;
	struct generation g;
	char tip[OID_MAX_HEX_LEN + 1];
};

static void fixture_init(struct fixture *f)
{
	storedrepo_init(&f->s);
	netrepo_ref(&f->s.n, "src", "refs/heads/b", &f->s.tip);
	netrepo_ref(&f->s.n, "src", "refs/heads/d", &f->s.tip);
	storedrepo_generation(&f->s, &f->g);
	oid_to_hex(f->tip, &f->s.tip, HASH_SHA1);
	assert_int_equal(stored_cache_open(&f->cache,
					   netrepo_path(&f->s.n, "cache"),
					   NULL),
			 0);
}

static void fixture_release(struct fixture *f)
{
	generation_release(&f->g);
	stored_cache_close(f->cache);
	storedrepo_release(&f->s);
}

static void set_ref(struct generation *g, const char *ref, const char *value)
{
	assert_int_equal(generation_set_ref(g, g->number, ref, value, NULL), 0);
}

static int append(void *ctx, const char *ref, const char *value,
		  struct error *err)
{
	struct fixture *f = ((void **)ctx)[0];

	(void)err;
	return buf_printf(((void **)ctx)[1], "%s=%s\n", ref,
			  strcmp(value, f->tip) != 0 ? value : "tip");
}

static void assert_value(struct stored_tables *t, const char *ref,
			 const char *value)
{
	struct buf got = BUF_INIT;

	assert_int_equal(stored_tables_find(t, &got, ref, NULL), 0);
	assert_string_equal(got.data, value);
	buf_release(&got);
}

static void test_updates_over_tables(void **state)
{
	struct fixture f;
	struct stored_tables t;
	struct buf list = BUF_INIT;
	void *ctx[] = {&f, &list};

	fixture_init(&f);
	set_ref(&f.g, "refs/heads/a", one);
	set_ref(&f.g, "refs/heads/b", NULL);
	set_ref(&f.g, "refs/heads/d", one);
	set_ref(&f.g, "refs/tags/z", one);
	assert_int_equal(
		stored_tables_open(&t, f.cache, &f.s.place, &f.g, &f.s.err), 0);
	assert_int_equal(t.algo, HASH_SHA1);
	assert_int_equal(stored_tables_each(&t, append, ctx, NULL), 0);
	assert_string_equal(list.data, "HEAD=ref: refs/heads/main\n"
				       "refs/heads/a=11111111111111111111"
				       "11111111111111111111\n"
				       "refs/heads/d=11111111111111111111"
				       "11111111111111111111\n"
				       "refs/heads/main=tip\n"
				       "refs/tags/z=11111111111111111111"
				       "11111111111111111111\n");
	assert_value(&t, "refs/heads/a", one);
	assert_value(&t, "refs/heads/b", "");
	assert_value(&t, "refs/heads/main", f.tip);
	assert_value(&t, "refs/heads/none", "");
	assert_value(&t, "HEAD", STORED_SYMBOLIC "refs/heads/main");
	stored_tables_release(&t);
	buf_release(&list);
	fixture_release(&f);
}

/*
 * Finds the changes of refs between two generations (versions). As text, they
 * must be `expect`.
 */
static void assert_changes(struct fixture *f, const struct generation *before,
			   const struct generation *after, const char *expect)
{
	struct stored_changes changes;
	struct buf got = BUF_INIT;

	if (stored_changes_find(&changes, f->cache, &f->s.place, before, after,
				&f->s.err) < 0)
		fail_msg("%s", f->s.err.msg);
	for (size_t i = 0; i < changes.nr; i++) {
		const struct stored_change *c = &changes.items[i];

		buf_printf(&got, "%s %.4s %.4s\n", c->ref,
			   c->before ? c->before : "none",
			   c->after ? c->after : "none");
	}
	assert_string_equal(got.data, expect);
	stored_changes_release(&changes);
	buf_release(&got);
}

static bool ignores_d(void *ctx, const char *ref)
{
	(void)ctx;
	return !strcmp(ref, "refs/heads/d");
}

/*
 * The names of two refs collide if one name is the other name followed by a
 * slash and more text.
 */
static void test_collisions(void **state)
{
	static const struct {
		const char *ref;
		int hit;
	} cases[] = {
		{"refs/heads/b/x", 1}, {"refs/heads/b/x/y", 1},
		{"refs/heads", 1},     {"refs/heads/c", 0},
		{"refs/heads/bb", 0},  {"refs/heads/d/x", 0},
		{"refs/head", 0},      {"HEAD/x", 1},
	};
	struct stored_tables t;
	struct fixture f;

	(void)state;
	fixture_init(&f);
	assert_int_equal(
		stored_tables_open(&t, f.cache, &f.s.place, &f.g, NULL), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(stored_tables_collide(&t, cases[i].ref,
						       ignores_d, NULL, NULL),
				 cases[i].hit);
	stored_tables_release(&t);
	fixture_release(&f);
}

static void test_changes(void **state)
{
	struct generation after = {0}, other;
	struct buf expect = BUF_INIT;
	struct fixture f;

	fixture_init(&f);
	assert_int_equal(generation_copy(&after, &f.g, NULL), 0);
	assert_changes(&f, &f.g, &after, "");
	after.number++;
	set_ref(&after, "refs/heads/b", NULL);
	set_ref(&after, "refs/heads/c", one);
	/*
	 * These are no changes: the first ref has this value already, and the
	 * second ref does not exist.
	 */
	set_ref(&after, "refs/heads/d", f.tip);
	set_ref(&after, "refs/heads/none", NULL);
	assert_true(stored_tables_are_same(&f.g, &after));
	buf_printf(&expect, "refs/heads/b %.4s none\nrefs/heads/c none 1111\n",
		   f.tip);
	assert_changes(&f, &f.g, &after, expect.data);

	/*
	 * If two generations (versions) have the same tables of refs, only the
	 * updates in their records are compared. Here the tables differ, so all
	 * refs are compared.
	 */
	netrepo_ref(&f.s.n, "src", "refs/heads/e", &f.s.tip);
	tmprepo_remove(&f.s.n.t, "src/refs/heads/b");
	tmprepo_remove(&f.s.n.t, "src/refs/heads/main");
	storedrepo_generation(&f.s, &other);
	assert_false(stored_tables_are_same(&f.g, &other));
	buf_reset(&expect);
	buf_printf(&expect,
		   "refs/heads/b %.4s none\nrefs/heads/e none %.4s\n"
		   "refs/heads/main %.4s none\n",
		   f.tip, f.tip, f.tip);
	assert_changes(&f, &f.g, &other, expect.data);
	buf_reset(&expect);
	buf_printf(&expect,
		   "HEAD none ref:\nrefs/heads/d none %.4s\n"
		   "refs/heads/e none %.4s\n",
		   f.tip, f.tip);
	assert_changes(&f, NULL, &other, expect.data);
	generation_release(&other);
	generation_release(&after);
	buf_release(&expect);
	fixture_release(&f);
}

static void test_damaged_table(void **state)
{
	struct fixture f;
	struct stored_tables t;

	fixture_init(&f);
	storedrepo_damage(&f.s, storedrepo_file(&f.g, "reftable/"), 0);
	assert_int_equal(
		stored_tables_open(&t, f.cache, &f.s.place, &f.g, &f.s.err),
		ERR_CORRUPT);
	fixture_release(&f);
}

/*
 * In the cached table, replaces the first "b" in the name of a ref by the
 * control character ESC.
 */
static void put_escape(struct fixture *f)
{
	struct buf path = BUF_INIT, bytes = BUF_INIT;
	char *found;

	assert_int_equal(stored_cache_file(f->cache, &path, &f->s.place,
					   storedrepo_file(&f->g, "reftable/"),
					   NULL),
			 0);
	assert_int_equal(sys_read_file(&bytes, path.data, NULL), 0);
	found = memmem(bytes.data, bytes.len, "heads/b", 7);
	assert_non_null(found);
	found[6] = '\x1b';
	assert_int_equal(sys_tempfile_replace(path.data, bytes.data, bytes.len,
					      SYS_FSYNC_NONE, NULL),
			 0);
	buf_release(&path);
	buf_release(&bytes);
}

/*
 * A ref with a control character in its name is refused, because names are
 * printed on terminals.
 */
static void test_control_characters(void **state)
{
	struct buf out = BUF_INIT;
	struct stored_tables t;
	struct fixture f;
	void *ctx[] = {&f, &out};

	fixture_init(&f);
	put_escape(&f);
	assert_int_equal(
		stored_tables_open(&t, f.cache, &f.s.place, &f.g, &f.s.err), 0);
	assert_int_equal(stored_tables_each(&t, append, ctx, &f.s.err),
			 ERR_CORRUPT);
	assert_null(strchr(out.data, '\x1b'));
	stored_tables_release(&t);
	buf_release(&out);
	fixture_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_updates_over_tables),
		cmocka_unit_test(test_collisions),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_damaged_table),
		cmocka_unit_test(test_control_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
