/* SPDX-License-Identifier: MIT */
/* repo/unpack.c: whole objects and deltas; what is known or refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "repo/odb.h"
#include "repo/unpack.h"
#include "t/unit/packfile.h"
#include "t/unit/tmprepo.h"

struct fixture {
	struct tmprepo t;
	struct packfile file;
	struct pack *pack;
	struct oid oids[3];
	unsigned checked;
	const struct oid *known, *refused;
};

/* Two blobs and a delta between them. */
static void setup(struct fixture *f)
{
	struct hash_ctx hash;

	memset(f, 0, sizeof(*f));
	tmprepo_init(&f->t, HASH_SHA1);
	packfile_init(&f->file, HASH_SHA1);
	assert_int_equal(hash_init(&hash, HASH_SHA1), 0);
	hash_object(&hash, &f->oids[0], OBJ_BLOB, "one", 3);
	hash_object(&hash, &f->oids[1], OBJ_BLOB, "oneone", 6);
	hash_object(&hash, &f->oids[2], OBJ_BLOB, "two", 3);
	hash_release(&hash);
	packfile_add(&f->file, OBJ_BLOB, "one", 3);
	packfile_add_delta(&f->file, OBJ_OFS_DELTA, 0, 3, "one", &f->oids[1]);
	packfile_add(&f->file, OBJ_BLOB, "two", 3);
	f->pack = packfile_open(&f->file);
}

static void teardown(struct fixture *f)
{
	pack_close(f->pack);
	packfile_release(&f->file);
	tmprepo_release(&f->t);
}

static int has(void *ctx, const struct oid *oid, struct error *err)
{
	const struct fixture *f = ctx;

	return f->known && oid_equal(oid, f->known);
}

static int check(void *ctx, const struct oid *oid, enum object_type type,
		 const void *data, size_t len, struct error *err)
{
	struct fixture *f = ctx;

	assert_int_equal(type, OBJ_BLOB);
	f->checked++;
	if (f->refused && oid_equal(oid, f->refused))
		return error_set(err, ERR_DENIED, "refused");
	return 0;
}

static int run(struct fixture *f)
{
	struct unpack_options options = {has, check, f, NULL};
	struct loose_writer w;
	int ret;

	assert_int_equal(loose_writer_init(&w, &f->t.repo, f->t.objects, NULL),
			 0);
	ret = unpack_pack(f->pack, &w, &options, NULL);
	loose_writer_release(&w);
	return ret;
}

/* Which of the three are loose now, as bits. */
static unsigned loose(struct fixture *f)
{
	struct odb *odb;
	unsigned bits = 0;

	assert_int_equal(odb_open(&odb, &f->t.repo, NULL, NULL), 0);
	for (unsigned i = 0; i < 3; i++)
		bits |= (unsigned)odb_has_loose(odb, &f->oids[i]) << i;
	odb_close(odb);
	return bits;
}

static void test_all(void **state)
{
	struct fixture f;
	struct odb_object obj = ODB_OBJECT_INIT;
	struct odb_reader *reader;
	struct odb *odb;

	setup(&f);
	assert_int_equal(run(&f), 0);
	assert_int_equal(f.checked, 3);
	assert_int_equal(loose(&f), 7);
	assert_int_equal(odb_open(&odb, &f.t.repo, NULL, NULL), 0);
	reader = odb_reader_new(odb, 0);
	assert_int_equal(odb_read(reader, &f.oids[1], &obj, NULL), 0);
	assert_int_equal(obj.len, 6);
	assert_memory_equal(obj.data, "oneone", 6);
	odb_object_release(reader, &obj);
	odb_reader_free(reader);
	odb_close(odb);
	teardown(&f);
}

static void test_known(void **state)
{
	struct fixture f;

	setup(&f);
	f.known = &f.oids[0];
	assert_int_equal(run(&f), 0);
	assert_int_equal(f.checked, 2);
	assert_int_equal(loose(&f), 6);
	teardown(&f);
}

static void test_refused(void **state)
{
	struct fixture f;

	setup(&f);
	f.refused = &f.oids[1];
	assert_int_equal(run(&f), ERR_DENIED);
	assert_int_equal(loose(&f), 1);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
