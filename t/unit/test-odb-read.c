/* SPDX-License-Identifier: MIT */
/*
 * Tests of odb/odb-read.c: packed and loose objects are read. If a copy is
 * damaged, another copy is read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "odb/odb.h"
#include "t/unit/tmppack.h"

struct fixture {
	struct tmprepo t;
	struct odb *odb;
	struct odb_reader *reader;
};

static void open_odb(struct fixture *f)
{
	assert_int_equal(odb_open(&f->odb, &f->t.repo, NULL, NULL), 0);
	f->reader = odb_reader_new(f->odb, 1 << 20);
	assert_non_null(f->reader);
}

static void close_odb(struct fixture *f)
{
	odb_reader_free(f->reader);
	odb_close(f->odb);
	tmprepo_release(&f->t);
}

static void assert_object(struct fixture *f, const struct oid *oid,
			  enum object_type type, const char *text)
{
	struct odb_object obj;
	enum object_type info_type;
	uint64_t size;

	assert_int_equal(odb_read(f->reader, oid, &obj, NULL), 0);
	assert_int_equal(obj.type, type);
	assert_int_equal(obj.len, strlen(text));
	assert_string_equal(obj.data, text);
	odb_object_release(f->reader, &obj);
	assert_null(obj.data);
	assert_int_equal(odb_info(f->reader, oid, &info_type, &size, NULL), 0);
	assert_int_equal(info_type, type);
	assert_int_equal(size, strlen(text));
	assert_int_equal(odb_info(f->reader, oid, NULL, NULL, NULL), 0);
}

static void test_read(void **state)
{
	struct tmppack_object packed[] = {{OBJ_BLOB, "packed", {{0}}}};
	struct odb_object obj;
	struct error err = ERROR_INIT;
	enum object_type type;
	struct fixture f;
	struct oid loose;
	uint64_t size;

	tmprepo_init(&f.t, HASH_SHA1);
	tmppack_write(&f.t, "objects", "pack-a", packed, 1, false);
	tmppack_loose(&f.t, "far", &loose, OBJ_TREE, "loose", 5);
	tmprepo_write(&f.t, "objects/info/alternates", "../far\n");
	open_odb(&f);
	assert_object(&f, &packed[0].oid, OBJ_BLOB, "packed");
	assert_object(&f, &loose, OBJ_TREE, "loose");
	assert_int_equal(odb_read_pos(f.reader, 0, &obj, NULL), 0);
	assert_string_equal(obj.data, "packed");
	odb_object_release(f.reader, &obj);
	assert_int_equal(odb_info_pos(f.reader, 0, &type, &size, NULL), 0);
	assert_int_equal(type, OBJ_BLOB);
	assert_int_equal(size, 6);
	loose.bytes[0] ^= 1;
	assert_int_equal(odb_read(f.reader, &loose, &obj, &err), ERR_MISSING);
	assert_non_null(strstr(err.msg, "is missing"));
	assert_null(obj.data);
	assert_int_equal(odb_info(f.reader, &loose, &type, &size, NULL),
			 ERR_MISSING);
	close_odb(&f);
}

static void test_other_copy(void **state)
{
	struct tmppack_object packed[] = {{OBJ_BLOB, "copy", {{0}}},
					  {OBJ_BLOB, "fine", {{0}}}};
	struct odb_object obj;
	struct fixture f;
	struct oid oid;

	tmprepo_init(&f.t, HASH_SHA1);
	tmppack_write(&f.t, "objects", "pack-a", packed, 2, true);
	open_odb(&f);
	assert_int_equal(odb_read(f.reader, &packed[0].oid, &obj, NULL),
			 ERR_CORRUPT);
	assert_null(obj.data);
	assert_object(&f, &packed[1].oid, OBJ_BLOB, "fine");
	tmppack_loose(&f.t, "objects", &oid, OBJ_BLOB, "copy", 4);
	assert_true(oid_equal(&oid, &packed[0].oid));
	assert_int_equal(odb_read(f.reader, &oid, &obj, NULL), 0);
	assert_string_equal(obj.data, "copy");
	odb_object_release(f.reader, &obj);
	close_odb(&f);
}

/*
 * While a snapshot is open, a loose object is packed, and later another pack
 * replaces the pack. The reader must still find all objects.
 */
static void test_packed_meanwhile(void **state)
{
	struct tmppack_object late[] = {{OBJ_BLOB, "one", {{0}}},
					{OBJ_BLOB, "two", {{0}}}};
	struct odb_object held;
	struct fixture f;
	struct oid loose;
	char name[128], hex[OID_MAX_HEX_LEN + 1];

	tmprepo_init(&f.t, HASH_SHA1);
	tmppack_loose(&f.t, "objects", &loose, OBJ_BLOB, "one", 3);
	open_odb(&f);
	assert_int_equal(odb_read(f.reader, &loose, &held, NULL), 0);
	odb_object_release(f.reader, &held);
	tmppack_write(&f.t, "objects", "pack-a", late, 1, false);
	oid_to_hex(hex, &loose, HASH_SHA1);
	snprintf(name, sizeof(name), "objects/%.2s/%s", hex, hex + 2);
	tmprepo_remove(&f.t, name);
	assert_false(odb_has(f.odb, &loose));
	assert_true(odb_reader_has(f.reader, &loose));
	assert_object(&f, &loose, OBJ_BLOB, "one");
	assert_int_equal(odb_read(f.reader, &loose, &held, NULL), 0);
	/*
	 * Wait until the clock of the file system has advanced, so that the
	 * change of the directory can be noticed.
	 */
	usleep(20000);
	tmppack_write(&f.t, "objects", "pack-b", late, 2, false);
	tmprepo_remove(&f.t, "objects/pack/pack-a.idx");
	tmprepo_remove(&f.t, "objects/pack/pack-a.pack");
	assert_true(odb_has_changed(f.odb));
	assert_object(&f, &late[1].oid, OBJ_BLOB, "two");
	assert_object(&f, &loose, OBJ_BLOB, "one");
	assert_string_equal(held.data, "one");
	odb_object_release(f.reader, &held);
	assert_int_equal(odb_read(f.reader, &late[1].oid, &held, NULL), 0);
	odb_object_release(f.reader, &held);
	late[1].oid.bytes[0] ^= 1;
	assert_false(odb_reader_has(f.reader, &late[1].oid));
	close_odb(&f);
}

static void make_tag(const struct tmprepo *t, struct oid *out,
		     const struct oid *target, const char *type)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct buf text = BUF_INIT;

	buf_printf(&text,
		   "object %s\ntype %s\ntag x\ntagger A <a@b> 1 +0000\n\nm\n",
		   oid_to_hex(hex, target, t->repo.algo), type);
	tmppack_loose(t, "objects", out, OBJ_TAG, text.data, text.len);
	buf_release(&text);
}

static void test_peel(void **state)
{
	struct oid blob, inner, outer, broken, peeled, none = OID_ZERO_INIT;
	enum object_type type;
	struct fixture f;

	tmprepo_init(&f.t, HASH_SHA1);
	tmppack_loose(&f.t, "objects", &blob, OBJ_BLOB, "x", 1);
	make_tag(&f.t, &inner, &blob, "blob");
	make_tag(&f.t, &outer, &inner, "tag");
	make_tag(&f.t, &broken, &none, "blob");
	open_odb(&f);
	assert_int_equal(odb_peel(f.reader, &outer, &peeled, &type, NULL), 0);
	assert_int_equal(type, OBJ_BLOB);
	assert_true(oid_equal(&peeled, &blob));
	assert_int_equal(odb_peel(f.reader, &blob, &peeled, NULL, NULL), 0);
	assert_true(oid_equal(&peeled, &blob));
	assert_int_equal(odb_peel(f.reader, &broken, &peeled, &type, NULL),
			 ERR_MISSING);
	close_odb(&f);
}

/*
 * The empty tree can be read although it is not stored. Listing all objects
 * does not list it.
 */
static void test_empty_tree(void **state)
{
	const enum hash_algo algos[] = {HASH_SHA1, HASH_SHA256};

	for (size_t i = 0; i < 2; i++) {
		const struct oid *oid = oid_empty_tree(algos[i]);
		struct oid peeled, other = *oid;
		enum object_type type;
		struct fixture f;

		tmprepo_init(&f.t, algos[i]);
		open_odb(&f);
		assert_object(&f, oid, OBJ_TREE, "");
		assert_true(odb_has(f.odb, oid));
		assert_true(odb_reader_has(f.reader, oid));
		assert_false(odb_stores(f.odb, oid));
		assert_int_equal(odb_peel(f.reader, oid, &peeled, &type, NULL),
				 0);
		assert_int_equal(type, OBJ_TREE);
		other.bytes[hash_len(algos[i]) - 1] ^= 1;
		assert_false(odb_has(f.odb, &other));
		close_odb(&f);
	}
}

/*
 * If the stored copy of the empty tree is damaged, the empty tree can be read
 * nevertheless.
 */
static void test_empty_tree_corrupt(void **state)
{
	struct tmppack_object packed[] = {{OBJ_TREE, "", {{0}}}};
	struct fixture f;

	tmprepo_init(&f.t, HASH_SHA1);
	tmppack_write(&f.t, "objects", "pack-a", packed, 1, true);
	open_odb(&f);
	assert_true(odb_stores(f.odb, &packed[0].oid));
	assert_object(&f, &packed[0].oid, OBJ_TREE, "");
	close_odb(&f);
}

/*
 * Context of a provider, the callback that gets missing objects for a reader,
 * as in a partial clone. Each call stores one more object of `objects`.
 */
struct store {
	struct fixture *f;
	struct tmppack_object *objects;
	size_t calls, asked;
	int result;
};

static int provide(void *ctx, const struct oid *oids, size_t nr,
		   struct error *err)
{
	struct store *s = ctx;
	char name[32];

	snprintf(name, sizeof(name), "pack-%zu", s->calls);
	if (!s->result && oid_equal(&oids[0], &s->objects[s->calls].oid))
		tmppack_write(&s->f->t, "objects", name, s->objects + s->calls,
			      1, false);
	s->calls++;
	s->asked += nr;
	return s->result ? error_set(err, s->result, "no such luck") : 0;
}

static void id_of(struct oid *oid, struct tmprepo *t, const char *text)
{
	char path[128], hex[OID_MAX_HEX_LEN + 1];

	tmppack_loose(t, "objects", oid, OBJ_BLOB, text, strlen(text));
	oid_to_hex(hex, oid, HASH_SHA1);
	snprintf(path, sizeof(path), "objects/%.2s/%s", hex, hex + 2);
	tmprepo_remove(t, path);
}

static void test_provider(void **state)
{
	struct tmppack_object objects[] = {{OBJ_BLOB, "one", {{0}}},
					   {OBJ_BLOB, "two", {{0}}},
					   {OBJ_BLOB, "three", {{0}}}};
	struct oid gone = {{1}};
	struct error err = ERROR_INIT;
	struct odb_object obj;
	struct fixture f;
	struct store s = {.f = &f, .objects = objects};
	struct odb_provider provider = {provide, &s, false};
	uint32_t odb_pos;

	tmprepo_init(&f.t, HASH_SHA1);
	for (size_t i = 0; i < 3; i++)
		id_of(&objects[i].oid, &f.t, objects[i].text);
	open_odb(&f);
	assert_int_equal(odb_read(f.reader, &objects[0].oid, &obj, NULL),
			 ERR_MISSING);
	assert_int_equal(odb_reader_provide(f.reader, &gone, 1, NULL), 0);
	odb_set_provider(f.odb, &provider);
	assert_object(&f, &objects[0].oid, OBJ_BLOB, "one");
	assert_int_equal(s.calls, 1);
	/*
	 * A second object is needed at once. So the provider (the callback that
	 * gets missing objects) is called again. The pack that it makes must be
	 * found, even if the modification time of the directory did not change.
	 */
	assert_int_equal(odb_reader_need(f.reader, &objects[1].oid, NULL), 1);
	assert_int_equal(s.calls, 2);
	assert_object(&f, &objects[1].oid, OBJ_BLOB, "two");
	assert_false(odb_find(f.odb, &objects[1].oid, &odb_pos));
	assert_true(odb_find(odb_reader_holder(f.reader, &objects[1].oid),
			     &objects[1].oid, &odb_pos));
	assert_ptr_equal(odb_reader_holder(f.reader, &gone), f.odb);
	assert_false(odb_reader_has(f.reader, &objects[2].oid));
	assert_int_equal(s.calls, 2);
	provider.batches_only = true;
	assert_int_equal(odb_reader_need(f.reader, &objects[2].oid, NULL), 0);
	assert_int_equal(odb_info(f.reader, &objects[2].oid, NULL, NULL, NULL),
			 ERR_MISSING);
	assert_int_equal(odb_reader_provide(f.reader, &objects[2].oid, 1, NULL),
			 0);
	assert_int_equal(s.calls, 3);
	assert_object(&f, &objects[2].oid, OBJ_BLOB, "three");
	provider.batches_only = false;
	s.result = ERR_MISSING;
	assert_int_equal(odb_reader_provide(f.reader, &gone, 1, NULL), 0);
	assert_int_equal(odb_reader_need(f.reader, &gone, NULL), 0);
	s.result = ERR_PEER;
	assert_int_equal(odb_reader_provide(f.reader, &gone, 1, NULL),
			 ERR_PEER);
	assert_int_equal(odb_read(f.reader, &gone, &obj, &err), ERR_PEER);
	assert_string_equal(err.msg, "no such luck");
	assert_int_equal(s.asked, s.calls);
	close_odb(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_other_copy),
		cmocka_unit_test(test_packed_meanwhile),
		cmocka_unit_test(test_provider),
		cmocka_unit_test(test_peel),
		cmocka_unit_test(test_empty_tree),
		cmocka_unit_test(test_empty_tree_corrupt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
