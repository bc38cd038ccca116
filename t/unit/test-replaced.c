/* SPDX-License-Identifier: MIT */
/*
 * Tests of odb/replaced.c, which handles replace refs: the replacement of an
 * object is read, and too many replacements in a row are an error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "odb/odb.h"
#include "odb/replaced.h"
#include "refs/refs.h"
#include "t/unit/randrepo.h"

#define OBJECTS 8

/* Makes objects with different contents: some in one pack, and some loose. */
static void make(struct randrepo *r, uint64_t *seed)
{
	randrepo_init(r, HASH_SHA1, seed);
	randrepo_history(r, OBJECTS);
	randrepo_store_pack(r);
	randrepo_history(r, OBJECTS);
	randrepo_store(r);
}

static const struct oid *oid_of(const struct randrepo *r, uint32_t nr)
{
	return &r->objects[nr].oid;
}

/* Replaces `nr` by `by`. */
static void replace(struct randrepo *r, uint32_t nr, uint32_t by)
{
	char name[sizeof("refs/replace/") + OID_MAX_HEX_LEN] = "refs/replace/";

	oid_to_hex(name + strlen(name), oid_of(r, nr), HASH_SHA1);
	randrepo_ref(r, name, by);
}

/*
 * Reads object `nr`. It must have the content of object `by`, its replacement.
 */
static void check(struct randrepo *r, const struct odb *odb, uint32_t nr,
		  uint32_t by)
{
	struct odb_reader *reader = odb_reader_new(odb, 0);
	const struct buf *want = &r->objects[by].data;
	struct odb_object obj;
	enum object_type type;
	uint64_t size;

	assert_non_null(reader);
	assert_int_equal(odb_read(reader, oid_of(r, nr), &obj, NULL), 0);
	assert_int_equal(obj.type, r->objects[by].type);
	assert_int_equal(obj.len, want->len);
	assert_memory_equal(obj.data, want->data, want->len);
	odb_object_release(reader, &obj);
	assert_int_equal(odb_info(reader, oid_of(r, nr), &type, &size, NULL),
			 0);
	assert_int_equal(type, r->objects[by].type);
	assert_int_equal(size, want->len);
	odb_reader_free(reader);
}

static struct odb *open_replaced(struct randrepo *r, struct error *warning)
{
	struct refs *refs;
	struct odb *odb;

	assert_int_equal(odb_open(&odb, &r->t.repo, NULL, NULL), 0);
	assert_int_equal(refs_open(&refs, &r->t.repo, NULL), 0);
	assert_int_equal(refs_load_replaced(refs, odb, warning, NULL), 0);
	refs_close(refs);
	return odb;
}

static void test_reading(void **state)
{
	uint64_t seed = random_seed();
	struct randrepo r;
	struct odb *odb;
	uint32_t last;

	make(&r, &seed);
	last = r.nr - 1;
	odb = open_replaced(&r, NULL);
	assert_null(odb->replaced);
	odb_close(odb);
	/*
	 * Replace packed and loose objects of all types. The replacement of
	 * object 0 has a replacement, too: object 1.
	 */
	replace(&r, 0, last);
	replace(&r, last, 1);
	replace(&r, 2, 3);
	odb = open_replaced(&r, NULL);
	check(&r, odb, 0, 1);
	check(&r, odb, last, 1);
	check(&r, odb, 1, 1);
	check(&r, odb, 2, 3);
	odb_close(odb);
	randrepo_release(&r);
}

static void test_depth(void **state)
{
	uint64_t seed = random_seed();
	struct error err = ERROR_INIT;
	const struct oid *oid;
	struct randrepo r;
	struct odb *odb;

	make(&r, &seed);
	for (uint32_t i = 0; i < 6; i++)
		replace(&r, i, i + 1);
	odb = open_replaced(&r, NULL);
	check(&r, odb, 1, 6);
	oid = oid_of(&r, 0);
	assert_int_equal(
		odb_replaced_follow(odb->replaced, &oid, HASH_SHA1, &err),
		ERR_CORRUPT);
	assert_non_null(strstr(err.msg, "replace depth too high for object"));
	odb_close(odb);
	randrepo_release(&r);
}

static void test_bad_name(void **state)
{
	struct error warning = ERROR_INIT;
	uint64_t seed = random_seed();
	struct randrepo r;
	struct odb *odb;

	make(&r, &seed);
	randrepo_ref(&r, "refs/replace/0123", 0);
	odb = open_replaced(&r, &warning);
	assert_null(odb->replaced);
	assert_string_equal(warning.msg,
			    "bad replace ref name: refs/replace/0123");
	odb_close(odb);
	randrepo_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reading),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_bad_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
