/* SPDX-License-Identifier: MIT */
/* walk/objspace.c: numbers of packed and other objects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/walkrepo.h"

/* Every object has one number, and the number its id. */
static void numbers_are_ids(void **state)
{
	uint64_t seed = random_seed();
	struct walkrepo w;

	walkrepo_init(&w, HASH_SHA1, 30, &seed);
	for (uint32_t nr = 0; nr < w.r.nr; nr++) {
		uint32_t obj_pos = walkrepo_pos(&w, nr), again;
		struct oid oid;

		assert_true(objspace_find(&w.walk.space,
					  w.r.objects[nr].oid.bytes, &again));
		assert_int_equal(again, obj_pos);
		assert_int_equal(walkrepo_pos(&w, nr), obj_pos);
		objspace_oid(&oid, &w.walk.space, obj_pos);
		assert_true(oid_equal(&oid, &w.r.objects[nr].oid));
		assert_true(obj_pos < objspace_end(&w.walk.space));
	}
	assert_true(objspace_end(&w.walk.space) > w.odb->packed_nr);
	walkrepo_release(&w);
}

static void packed_objects_keep_their_position(void **state)
{
	uint64_t seed = random_seed();
	struct walkrepo w;

	walkrepo_init(&w, HASH_SHA256, 20, &seed);
	assert_true(w.odb->packed_nr > 0);
	for (uint32_t pos = 0; pos < w.odb->packed_nr; pos++) {
		uint32_t found;

		assert_true(objspace_find(&w.walk.space,
					  odb_oid_raw(w.odb, pos), &found));
		assert_int_equal(found, pos);
	}
	walkrepo_release(&w);
}

static void objects_are_read_by_number(void **state)
{
	uint64_t seed = random_seed();
	struct walkrepo w;

	walkrepo_init(&w, HASH_SHA1, 20, &seed);
	for (uint32_t nr = 0; nr < w.r.nr; nr++) {
		const struct randrepo_object *o = &w.r.objects[nr];
		struct odb_object obj = ODB_OBJECT_INIT;
		uint32_t pos = walkrepo_pos(&w, nr);
		enum object_type type;
		uint64_t size;

		assert_int_equal(objspace_read(&w.walk.space, w.walk.reader,
					       pos, &obj, NULL),
				 0);
		assert_int_equal(obj.type, o->type);
		assert_int_equal(obj.len, o->data.len);
		assert_memory_equal(obj.data, o->data.data, obj.len);
		odb_object_release(w.walk.reader, &obj);
		assert_int_equal(objspace_info(&w.walk.space, w.walk.reader,
					       pos, &type, &size, NULL),
				 0);
		assert_int_equal(type, o->type);
		assert_int_equal(size, o->data.len);
	}
	walkrepo_release(&w);
}

static void what_is_not_there_has_a_number_too(void **state)
{
	uint64_t seed = random_seed();
	struct odb_object obj = ODB_OBJECT_INIT;
	struct oid absent = {{1, 2, 3}};
	struct walkrepo w;
	uint32_t pos;

	walkrepo_init(&w, HASH_SHA1, 4, &seed);
	assert_false(objspace_find(&w.walk.space, absent.bytes, &pos));
	assert_int_equal(objspace_add(&w.walk.space, absent.bytes, &pos), 0);
	assert_true(pos >= w.odb->packed_nr);
	assert_int_equal(
		objspace_read(&w.walk.space, w.walk.reader, pos, &obj, NULL),
		ERR_MISSING);
	walkrepo_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_ids),
		cmocka_unit_test(packed_objects_keep_their_position),
		cmocka_unit_test(objects_are_read_by_number),
		cmocka_unit_test(what_is_not_there_has_a_number_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
