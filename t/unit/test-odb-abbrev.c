/* SPDX-License-Identifier: MIT */
/*
 * Tests of odb/odb-abbrev.c: objects found by a prefix of their ids, and the
 * shortest unique prefixes. The results are compared with those of a search
 * through all objects.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "odb/odb.h"
#include "t/unit/tmppack.h"

enum { PACKED = 2000, LOOSE = 40, ALL = PACKED + LOOSE };

struct fixture {
	struct tmprepo t;
	struct odb *odb;
	char hex[ALL][OID_MAX_HEX_LEN + 1];
	struct oid oids[ALL];
};

/* Makes a repository. A second pack has half of the packed objects again. */
static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct tmppack_object *objects = calloc(PACKED, sizeof(*objects));
	char text[PACKED][8];

	assert_non_null(f);
	assert_non_null(objects);
	tmprepo_init(&f->t, HASH_SHA1);
	for (int i = 0; i < PACKED; i++) {
		snprintf(text[i], sizeof(text[i]), "%d", i);
		objects[i].type = OBJ_BLOB;
		objects[i].text = text[i];
	}
	tmppack_write(&f->t, "objects", "pack-a", objects, PACKED, false);
	tmppack_write(&f->t, "objects", "pack-b", objects, PACKED / 2, false);
	for (int i = 0; i < PACKED; i++)
		f->oids[i] = objects[i].oid;
	for (int i = PACKED; i < ALL; i++) {
		char loose[16];
		int len = snprintf(loose, sizeof(loose), "loose %d", i);

		tmppack_loose(&f->t, "objects", &f->oids[i], OBJ_BLOB, loose,
			      (size_t)len);
	}
	for (int i = 0; i < ALL; i++)
		oid_to_hex(f->hex[i], &f->oids[i], HASH_SHA1);
	assert_int_equal(odb_open(&f->odb, &f->t.repo, NULL, NULL), 0);
	free(objects);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	odb_close(f->odb);
	tmprepo_release(&f->t);
	free(f);
	return 0;
}

/*
 * Returns how many object ids start with the first `len` hexadecimal digits of
 * `hex`. Compares every object.
 */
static int count(const struct fixture *f, const char *hex, size_t len)
{
	int nr = 0;

	for (int i = 0; i < ALL; i++)
		nr += !strncmp(f->hex[i], hex, len);
	return nr;
}

/*
 * Context of the callback take(): the last id that it got, and the number of
 * different ids. take() stops the visit at the second id.
 */
struct found {
	struct oid oid;
	int nr;
};

static int take(void *ctx, const struct oid *oid)
{
	struct found *found = ctx;

	if (found->nr && oid_equal(&found->oid, oid))
		return 0;
	found->oid = *oid;
	return ++found->nr == 2;
}

static void test_prefixes(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < ALL; i += 7) {
		for (size_t len = 4; len <= 40; len += 1 + len / 8) {
			int nr = count(f, f->hex[i], len);
			struct found found = {.nr = 0};

			assert_int_equal(odb_each_abbrev(f->odb, &f->oids[i],
							 len, take, &found,
							 NULL),
					 nr > 1);
			assert_int_equal(found.nr, nr < 2 ? nr : 2);
			if (nr == 1)
				assert_true(oid_equal(&found.oid, &f->oids[i]));
		}
	}
}

static void test_none(void **state)
{
	struct fixture *f = *state;
	struct oid absent = f->oids[0];
	struct found found = {.nr = 0};

	absent.bytes[19] ^= 1;
	assert_int_equal(
		odb_each_abbrev(f->odb, &absent, 40, take, &found, NULL), 0);
	assert_int_equal(found.nr, 0);
}

static size_t slow_len(const struct fixture *f, int i, size_t len)
{
	while (len < 40 && count(f, f->hex[i], len) > 1)
		len++;
	return len;
}

static void test_unique(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < ALL; i++) {
		size_t len = slow_len(f, i, 1);

		assert_int_equal(odb_unique_len(f->odb, &f->oids[i], 1, NULL),
				 len);
		assert_int_equal(odb_unique_len(f->odb, &f->oids[i], 7, NULL),
				 len > 7 ? len : 7);
	}
	assert_int_equal(odb_unique_len(f->odb, &f->oids[0], 99, NULL), 40);
}

static int count_visits(void *ctx, const struct oid *oid)
{
	++*(int *)ctx;
	return 0;
}

static void test_each(void **state)
{
	struct fixture *f = *state;
	int once = 0, twice = 0;

	assert_int_equal(odb_each_abbrev(f->odb, &f->oids[ALL - 1], 40,
					 count_visits, &once, NULL),
			 0);
	assert_int_equal(once, 1);
	assert_int_equal(odb_each_abbrev(f->odb, &f->oids[0], 40, count_visits,
					 &twice, NULL),
			 0);
	assert_int_equal(twice, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prefixes),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_unique),
		cmocka_unit_test(test_each),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
