/* SPDX-License-Identifier: MIT */
/*
 * Tests of trees/objspace.c, which gives each object a number (obj_pos). All
 * threads see the same numbers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sys/thread.h"
#include "t/unit/walkrepo.h"

static void check_numbers(struct walkrepo *f)
{
	struct objspace *s = &f->w.space;
	uint32_t before = objspace_end(s);

	assert_int_equal(s->packed_nr, f->odb->packed_nr);
	for (uint32_t i = 0; i < f->h.r.nr; i++) {
		const struct oid *oid = &f->h.r.objects[i].oid;
		uint32_t odb_pos, pos = walkrepo_pos(f, i), again;
		struct oid back;

		assert_true(pos < before);
		assert_true(objspace_find(s, oid->bytes, &again));
		assert_int_equal(again, pos);
		objspace_oid(&back, s, pos);
		assert_true(oid_equal(&back, oid));
		assert_memory_equal(objspace_raw(s, pos), oid->bytes,
				    hash_len(s->odb->algo));
		if (odb_find(f->odb, oid, &odb_pos))
			assert_int_equal(pos, odb_pos);
		else
			assert_true(pos >= s->packed_nr);
	}
	assert_int_equal(objspace_end(s), before);
}

/*
 * The number of a packed object is its position in the snapshot. Other objects
 * get a number when they are added.
 */
static void numbers_of_objects(void **state)
{
	uint64_t seed = random_seed();

	for (int algo = HASH_SHA1; algo <= HASH_SHA256; algo++) {
		struct walkrepo f;
		struct oid absent;
		uint32_t pos = 0, loose = 0;

		walkrepo_init(&f, algo, &seed, 100, 10);
		assert_int_equal(objspace_end(&f.w.space), f.odb->packed_nr);
		assert_true(f.odb->pack_nr > 1);
		for (uint32_t i = 0; i < f.h.r.nr; i++) {
			const uint8_t *id = f.h.r.objects[i].oid.bytes;
			bool packed = odb_find_raw(f.odb, id, &pos);

			assert_int_equal(objspace_find(&f.w.space, id, &pos),
					 packed);
			assert_int_equal(
				objspace_find_packed(&f.w.space, id, &pos),
				packed);
			loose += !packed;
			walkrepo_pos(&f, i);
			if (i % 50 == 0)
				objspace_accelerate(&f.w.space);
		}
		assert_true(loose > 0);
		assert_int_equal(objspace_end(&f.w.space),
				 f.odb->packed_nr + loose);
		check_numbers(&f);
		memset(&absent, 0, sizeof(absent));
		memset(&absent, 3, hash_len(algo));
		assert_false(objspace_find(&f.w.space, absent.bytes, &pos));
		assert_int_equal(objspace_add(&f.w.space, absent.bytes, &pos),
				 0);
		assert_int_equal(pos, f.odb->packed_nr + loose);
		walkrepo_release(&f);
	}
}

static int add_all(void *ctx, unsigned thread_nr, size_t task_nr,
		   struct error *err)
{
	struct walkrepo *f = ctx;

	for (uint32_t i = 0; i < f->h.r.nr; i++) {
		uint32_t at = (uint32_t)(i * (task_nr + 1)) % f->h.r.nr, pos;

		if (objspace_add(&f->w.space, f->h.r.objects[at].oid.bytes,
				 &pos) < 0)
			return ERR_NOMEM;
	}
	return 0;
}

/*
 * Several threads add the same objects at the same time. They must get the same
 * numbers.
 */
static void threads_get_equal_numbers(void **state)
{
	uint64_t seed = random_seed();
	struct walkrepo f;

	walkrepo_init(&f, HASH_SHA1, &seed, 10, 60);
	objspace_accelerate(&f.w.space);
	assert_int_equal(sys_parallel(4, 8, add_all, &f, NULL), 0);
	check_numbers(&f);
	walkrepo_release(&f);
}

static void reading(void **state)
{
	uint64_t seed = random_seed();
	struct objspace *s;
	struct odb_object obj;
	enum object_type type;
	struct walkrepo f;
	struct oid absent;
	uint64_t size;
	uint32_t pos;

	walkrepo_init(&f, HASH_SHA1, &seed, 40, 10);
	s = &f.w.space;
	for (uint32_t i = 0; i < f.h.r.nr; i++) {
		const struct randrepo_object *o = &f.h.r.objects[i];

		pos = walkrepo_pos(&f, i);
		assert_int_equal(objspace_read(s, f.w.reader, pos, &obj, NULL),
				 0);
		assert_int_equal(obj.type, o->type);
		assert_int_equal(obj.len, o->data.len);
		if (obj.len)
			assert_memory_equal(obj.data, o->data.data, obj.len);
		odb_object_release(f.w.reader, &obj);
		assert_int_equal(
			objspace_info(s, f.w.reader, pos, &type, &size, NULL),
			0);
		assert_int_equal(type, o->type);
		assert_int_equal(size, o->data.len);
	}
	memset(&absent, 3, sizeof(absent));
	assert_int_equal(objspace_add(s, absent.bytes, &pos), 0);
	assert_int_equal(objspace_read(s, f.w.reader, pos, &obj, NULL),
			 ERR_MISSING);
	assert_int_equal(objspace_info(s, f.w.reader, pos, &type, &size, NULL),
			 ERR_MISSING);
	walkrepo_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_objects),
		cmocka_unit_test(threads_get_equal_numbers),
		cmocka_unit_test(reading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
