/* SPDX-License-Identifier: MIT */
/*
 * Tests of receive/receive-quarantine.c: which objects are visible before and
 * after the quarantine is migrated.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "odb/loose-write.h"
#include "receive/receive.h"
#include "t/unit/pushed.h"

static void put(const struct quarantine *q, const struct repo *repo,
		struct oid *oid)
{
	struct loose_writer w;
	struct hash_ctx hash;

	assert_int_equal(hash_init(&hash, HASH_SHA1), 0);
	hash_object(&hash, oid, OBJ_BLOB, "new", 3);
	hash_release(&hash);
	assert_int_equal(loose_writer_init(&w, repo, q->dir.path, NULL), 0);
	assert_int_equal(loose_writer_put(&w, oid, OBJ_BLOB, "new", 3, NULL),
			 1);
	loose_writer_release(&w);
}

static bool sees(const struct repo *repo, const struct oid *oid)
{
	struct odb *odb;
	bool has;

	assert_int_equal(odb_open(&odb, repo, NULL, NULL), 0);
	has = odb_has(odb, oid);
	odb_close(odb);
	return has;
}

static void write_text(const char *object_dir, const char *name,
		       const char *text)
{
	struct buf path = BUF_INIT;
	FILE *f;

	buf_printf(&path, "%s/pack", object_dir);
	assert_int_equal(sys_mkdir_p(path.data, NULL), 0);
	buf_printf(&path, "/%s", name);
	f = fopen(path.data, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	fclose(f);
	buf_release(&path);
}

static void write_in(const struct quarantine *q, const char *name)
{
	write_text(q->dir.path, name, "");
}

static void test_migrate(void **state)
{
	static const char *const files[] = {"pack-1.keep", "pack-1.pack",
					    "pack-1.idx", "tmp_pack_x"};
	struct pushed p;
	struct quarantine q;
	struct oid oid;

	pushed_init(&p);
	assert_int_equal(quarantine_create(&q, p.options.repo, NULL), 0);
	assert_true(quarantine_repo(&q, p.options.repo) == &q.view);
	put(&q, p.options.repo, &oid);
	for (size_t i = 0; i < 4; i++)
		write_in(&q, files[i]);
	assert_true(sees(&q.view, &oid));
	assert_true(sees(&q.view, dialog_oid(&p.d, "c4")));
	assert_false(sees(p.options.repo, &oid));
	assert_int_equal(quarantine_migrate(&q, NULL), 0);
	assert_true(quarantine_repo(&q, p.options.repo) == p.options.repo);
	assert_true(sees(p.options.repo, &oid));
	assert_true(sys_exists(q.keep.path));
	for (size_t i = 0; i < 4; i++) {
		struct buf path = BUF_INIT;

		buf_printf(&path, "%s/pack/%s", p.d.t.objects, files[i]);
		assert_int_equal(sys_exists(path.data), i < 3);
		buf_release(&path);
	}
	quarantine_release(&q);
	assert_int_equal(pushed_leftovers(&p), 0);
	pushed_release(&p);
}

/* Migrate one file if the repository has a file of this name. */
static int migrate_onto(const char *name, const char *stored,
			const char *received)
{
	struct error err = ERROR_INIT;
	struct pushed p;
	struct quarantine q;
	int ret;

	pushed_init(&p);
	assert_int_equal(quarantine_create(&q, p.options.repo, NULL), 0);
	write_text(p.d.t.objects, name, stored);
	write_text(q.dir.path, name, received);
	ret = quarantine_migrate(&q, &err);
	assert_true(!ret || strstr(err.msg, "differ in contents"));
	quarantine_release(&q);
	assert_int_equal(pushed_leftovers(&p), 0);
	pushed_release(&p);
	return ret;
}

/*
 * If the repository already has a file of the pack, the received file must have
 * the same content. A .keep file may differ.
 */
static void test_stored(void **state)
{
	char a[40000], b[40000];

	memset(a, 'x', sizeof(a));
	a[sizeof(a) - 1] = '\0';
	memcpy(b, a, sizeof(b));
	assert_int_equal(migrate_onto("pack-1.pack", a, b), 0);
	b[sizeof(b) - 2] = 'y';
	assert_int_equal(migrate_onto("pack-1.pack", a, b), ERR_IO);
	assert_int_equal(migrate_onto("pack-1.pack", "", ""), 0);
	assert_int_equal(migrate_onto("pack-1.idx", "", "a"), ERR_IO);
	assert_int_equal(migrate_onto("pack-1.rev", "ab", "a"), ERR_IO);
	assert_int_equal(migrate_onto("pack-1.keep", "ab", "a"), 0);
}

static void test_release(void **state)
{
	struct pushed p;
	struct quarantine q;
	struct oid oid;

	pushed_init(&p);
	assert_int_equal(quarantine_create(&q, p.options.repo, NULL), 0);
	put(&q, p.options.repo, &oid);
	quarantine_release(&q);
	assert_false(sees(p.options.repo, &oid));
	assert_int_equal(pushed_leftovers(&p), 0);
	pushed_release(&p);
}

/*
 * The path of the object directory contains a colon. So it must be quoted in
 * the variable for alternates.
 */
static void test_quoting(void **state)
{
	struct pushed p;
	struct quarantine q;
	char *dir, *plain;

	pushed_init(&p);
	plain = p.d.t.repo.object_dir;
	dir = repo_common_path(&p.d.t.repo, "a:b\\\"c");
	assert_int_equal(rename(plain, dir), 0);
	p.d.t.repo.object_dir = dir;
	assert_int_equal(quarantine_create(&q, p.options.repo, NULL), 0);
	assert_true(sees(&q.view, dialog_oid(&p.d, "c4")));
	quarantine_release(&q);
	p.d.t.repo.object_dir = plain;
	free(dir);
	pushed_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_migrate),
		cmocka_unit_test(test_stored),
		cmocka_unit_test(test_release),
		cmocka_unit_test(test_quoting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
