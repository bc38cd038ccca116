/* SPDX-License-Identifier: MIT */
/*
 * Tests of stored/check.h, which checks a repository in a store. They prove
 * that each kind of damage is reported once, and that a sound repository has no
 * problem.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "stored/check.h"
#include "t/unit/storedrepo.h"

struct fixture {
	struct storedrepo s;
	struct generation g;
	struct stored_check_report report;
	struct buf wrong; /* one problem a line */
};

static void note(void *ctx, const char *what)
{
	buf_printf(ctx, "%s\n", what);
}

static int check(struct fixture *f, bool full)
{
	const struct stored_check how = {
		.full = full,
		.tmp = f->s.n.t.dir,
		.wrong = note,
		.ctx = &f->wrong,
	};

	buf_reset(&f->wrong);
	return stored_check_run(&f->report, &f->s.place, &how, &f->s.err);
}

/*
 * Asserts that the check reports exactly one problem, and that the report
 * contains `text`.
 */
static void assert_finds(struct fixture *f, bool full, const char *text)
{
	assert_int_equal(check(f, full), 0);
	assert_int_equal(f->report.wrong_nr, 1);
	if (!strstr(f->wrong.data, text))
		fail_msg("found: %s", f->wrong.data);
}

static void fixture_init(struct fixture *f)
{
	struct oid oid;

	memset(f, 0, sizeof(*f));
	buf_init(&f->wrong);
	storedrepo_init(&f->s);
	assert_int_equal(storedrepo_import(&f->s, false), 0);
	netrepo_commit(&f->s.n, "src", "two", &oid);
	storedrepo_generation(&f->s, &f->g);
}

static void fixture_release(struct fixture *f)
{
	generation_release(&f->g);
	buf_release(&f->wrong);
	storedrepo_release(&f->s);
}

static void test_nothing_is_wrong(void **state)
{
	struct fixture f;

	fixture_init(&f);
	for (int full = 0; full < 2; full++) {
		assert_int_equal(check(&f, full), 0);
		assert_string_equal(f.wrong.data, "");
		assert_int_equal(f.report.wrong_nr, 0);
		assert_int_equal(f.report.number, 2);
		assert_int_equal(f.report.generation_nr, 2);
		assert_int_equal(f.report.file_nr, f.g.file_nr);
	}
	f.s.place.repository = "other.git";
	assert_int_equal(check(&f, false), ERR_MISSING);
	fixture_release(&f);
}

static void test_files(void **state)
{
	struct fixture f;

	fixture_init(&f);
	storedrepo_damage(&f.s, storedrepo_file(&f.g, "objects/pack/"), 0);
	assert_int_equal(check(&f, false), 0);
	assert_int_equal(f.report.wrong_nr, 0);
	assert_finds(&f, true, "has another SHA-256");
	storedrepo_damage(&f.s, storedrepo_file(&f.g, "objects/pack/"), 1);
	assert_finds(&f, false, " bytes in the store, but ");
	storedrepo_delete(&f.s, storedrepo_file(&f.g, "objects/pack/"));
	assert_finds(&f, false, " is not in the store");
	assert_finds(&f, true, " is not in the store");
	fixture_release(&f);
}

/*
 * For failing_read(). `real_read`: the read function of the real store.
 * `unreadable`: name of the file whose read fails.
 */
static int (*real_read)(struct filestore *store, struct filestore_info *info,
			const struct filestore_sink *sink, const char *name,
			uint64_t off, uint64_t len, struct error *err);
static char *unreadable;

static int failing_read(struct filestore *store, struct filestore_info *info,
			const struct filestore_sink *sink, const char *name,
			uint64_t off, uint64_t len, struct error *err)
{
	if (strcmp(name, unreadable) != 0)
		return real_read(store, info, sink, name, off, len, err);
	error_set(err, ERR_PEER, "simulated fault");
	return STORE_UNAVAILABLE;
}

/*
 * One file is damaged, and another file cannot be read. The check reports the
 * damaged file as a problem. The file that cannot be read makes the check
 * itself fail, because its content is unknown.
 */
static void test_unreadable_file(void **state)
{
	struct filestore_ops ops;
	struct fixture f;

	fixture_init(&f);
	storedrepo_damage(&f.s, &f.g.files[0], 0);
	unreadable = storedrepo_name(&f.s, storedrepo_pack(&f.g));
	ops = *f.s.store->ops;
	real_read = ops.read;
	ops.read = failing_read;
	f.s.store->ops = &ops;
	assert_int_equal(check(&f, true), ERR_IO);
	assert_non_null(strstr(f.s.err.msg, "simulated fault"));
	free(unreadable);
	fixture_release(&f);
}

/*
 * If the files of a generation (version) are no Git repository, the check
 * reports a problem.
 */
static void test_no_repository(void **state)
{
	struct generation_change change = {
		.action = "test",
		.drop_nr = 1,
		.session_ns = UINT64_MAX,
	};
	struct fixture f;

	fixture_init(&f);
	change.seen = f.g.number;
	change.drops = storedrepo_file(&f.g, "config");
	assert_int_equal(generation_commit(&f.g, &f.s.place, &change, &f.s.err),
			 0);
	assert_int_equal(check(&f, true), 0);
	assert_int_equal(f.report.wrong_nr, 1);
	fixture_release(&f);
}

static void test_newest_record(void **state)
{
	static const struct filestore_condition always = {STORE_ALWAYS, NULL};
	struct buf name = BUF_INIT;
	struct fixture f;

	fixture_init(&f);
	assert_int_equal(generation_record_name(&name, f.s.place.repository,
						f.g.number, NULL),
			 0);
	assert_int_equal(filestore_put(f.s.store, NULL, name.data, "nonsense",
				       8, &always, NULL),
			 0);
	assert_finds(&f, false, "record 2");
	buf_release(&name);
	fixture_release(&f);
}

/*
 * Replaces the record (manifest) of generation 1 by `bytes`. If `bytes` is
 * NULL, replaces it by the same record with another time.
 */
static void replace_first(struct fixture *f, const char *bytes)
{
	static const struct filestore_condition always = {STORE_ALWAYS, NULL};
	struct buf name = BUF_INIT, text = BUF_INIT;
	struct generation g = {0};

	assert_int_equal(
		generation_record_name(&name, f->s.place.repository, 1, NULL),
		0);
	if (bytes) {
		buf_append_str(&text, bytes);
	} else {
		assert_int_equal(generation_read(&g, &f->s.place, 1, NULL), 0);
		g.time++;
		assert_int_equal(generation_print(&text, NULL, &g, NULL), 0);
	}
	assert_int_equal(filestore_put(f->s.store, NULL, name.data, text.data,
				       text.len, &always, NULL),
			 0);
	generation_release(&g);
	buf_release(&name);
	buf_release(&text);
}

static void test_chain(void **state)
{
	struct buf name = BUF_INIT;
	struct fixture f;

	fixture_init(&f);
	replace_first(&f, NULL);
	assert_finds(&f, false,
		     "generation 2: the record has a wrong hash of its parent");
	replace_first(&f, "nonsense\n");
	assert_finds(&f, false, "generation 1: ");
	assert_int_equal(
		generation_record_name(&name, f.s.place.repository, 1, NULL),
		0);
	assert_int_equal(filestore_delete(f.s.store, name.data, NULL), 0);
	assert_finds(&f, false, "generation 1: the record is missing");
	buf_release(&name);
	fixture_release(&f);
}

/*
 * All files can match the record (manifest), and the repository can still be
 * damaged. In this test, a ref names a missing object.
 */
static void test_objects(void **state)
{
	struct stored_check how = {.wrong = note};
	struct buf path = BUF_INIT;
	struct error err = ERROR_INIT;
	struct fixture f;
	struct oid none = {{2}};

	fixture_init(&f);
	how.ctx = &f.wrong;
	buf_append_str(&path, netrepo_path(&f.s.n, "src"));
	if (stored_check_objects(path.data, &how, &err) != 0)
		fail_msg("%s%s", f.wrong.data, err.msg);
	netrepo_ref(&f.s.n, "src", "refs/tags/broken", &none);
	assert_int_equal(stored_check_objects(path.data, &how, &err), 1);
	assert_non_null(strstr(f.wrong.data, "bad object refs/tags/broken"));
	buf_release(&path);
	fixture_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_wrong),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_unreadable_file),
		cmocka_unit_test(test_no_repository),
		cmocka_unit_test(test_newest_record),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
