/* SPDX-License-Identifier: MIT */
/*
 * Tests of odb/pack-check.[ch], which checks the objects of a received pack:
 * their form, and whether they refer to existing objects. The objects arrive in
 * any order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "odb/pack-check.h"

#define ONES "1111111111111111111111111111111111111111"
#define TWOS "2222222222222222222222222222222222222222"
#define WHO "author A <a> 1 +0000\ncommitter A <a> 1 +0000\n\n"
#define EMPTY_TREE "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

static int count(void *ctx, const struct fsck_report *report, struct error *err)
{
	++*(size_t *)ctx;
	return 0;
}

/*
 * Callback: whether the repository has an object. Here it has the objects whose
 * ids start with a 2.
 */
static int has(void *ctx, unsigned thread_nr, const struct oid *oid,
	       struct error *err)
{
	return oid->bytes[0] == 0x22;
}

static const struct pack_indexer_hooks known = {.has = has};

/*
 * Callback: whether the repository has an object. The first call fails. All
 * later calls find the object.
 */
static int has_later(void *ctx, unsigned thread_nr, const struct oid *oid,
		     struct error *err)
{
	return (*(int *)ctx)++ ? 1 : error_set(err, ERR_IO, "try again");
}

static struct oid id_of(uint8_t byte)
{
	struct oid oid = OID_ZERO_INIT;

	memset(oid.bytes, byte, 20);
	return oid;
}

struct fixture {
	struct fsck_rules rules;
	struct pack_check *check;
	size_t reports;
};

static void begin(struct fixture *f, bool rules, bool links)
{
	struct pack_check_options o = {
		.links = links,
		.threads = 2,
		.algo = HASH_SHA1,
		.report = count,
		.ctx = &f->reports,
	};

	f->reports = 0;
	fsck_rules_init(&f->rules, HASH_SHA1, true);
	if (rules)
		o.rules = &f->rules;
	f->check = pack_check_new(&o);
	assert_non_null(f->check);
}

static void end(struct fixture *f)
{
	pack_check_free(f->check);
	fsck_rules_release(&f->rules);
}

static int put(struct fixture *f, uint8_t id, enum object_type type,
	       const char *text)
{
	struct oid oid = id_of(id);

	return pack_check_object(f->check, id & 1, &oid, type, text,
				 text ? strlen(text) : 0, NULL);
}

static void test_form(void **state)
{
	struct fixture f;

	begin(&f, true, false);
	assert_int_equal(put(&f, 3, OBJ_COMMIT, "tree " ONES "\n" WHO), 0);
	assert_int_equal(f.reports, 0);
	assert_int_equal(put(&f, 4, OBJ_COMMIT, "tree\n" WHO), ERR_CORRUPT);
	assert_int_equal(f.reports, 1);
	assert_int_equal(put(&f, 5, OBJ_TAG,
			     "object " ONES "\ntype tree\n"
			     "tag a..b\n\n"),
			 0);
	assert_int_equal(f.reports, 3);
	assert_int_equal(put(&f, 6, OBJ_BLOB, NULL), 0);
	end(&f);

	begin(&f, false, false);
	assert_int_equal(put(&f, 4, OBJ_COMMIT, "tree\n" WHO), 0);
	end(&f);
}

static int links(struct fixture *f, bool *contained, char *message)
{
	struct error err = ERROR_INIT;
	int ret = pack_check_links(f->check, &known, contained, &err);

	strcpy(message, err.msg);
	return ret;
}

static void test_links(void **state)
{
	int asked = 0;
	const struct pack_indexer_hooks hooks = {.has = has_later,
						 .ctx = &asked};
	char message[ERROR_MESSAGE_MAX];
	struct fixture f;
	bool contained;

	begin(&f, false, true);
	assert_int_equal(put(&f, 3, OBJ_COMMIT, "tree " ONES "\n" WHO), 0);
	assert_int_equal(links(&f, &contained, message), ERR_MISSING);
	assert_string_equal(message, "did not receive expected object " ONES);
	assert_int_equal(put(&f, 0x11, OBJ_TREE, ""), 0);
	assert_int_equal(links(&f, &contained, message), 0);
	assert_true(contained);
	assert_int_equal(
		put(&f, 4, OBJ_COMMIT, "tree " ONES "\nparent " TWOS "\n" WHO),
		0);
	assert_int_equal(links(&f, &contained, message), 0);
	assert_false(contained);
	end(&f);

	/*
	 * The empty tree need not be stored. But a pack without it is not
	 * self-contained.
	 */
	begin(&f, false, true);
	put(&f, 3, OBJ_COMMIT, "tree " EMPTY_TREE "\n" WHO);
	assert_int_equal(links(&f, &contained, message), 0);
	assert_false(contained);
	end(&f);

	/* A commit names a blob of the pack as its tree, which is an error. */
	begin(&f, false, true);
	put(&f, 0x11, OBJ_BLOB, "x");
	put(&f, 3, OBJ_COMMIT, "tree " ONES "\n" WHO);
	assert_int_equal(links(&f, &contained, message), ERR_CORRUPT);
	end(&f);

	/*
	 * The callback that looks up objects returns an error. The object must
	 * not count as existing.
	 */
	begin(&f, false, true);
	put(&f, 3, OBJ_COMMIT, "tree " TWOS "\n" WHO);
	assert_int_equal(pack_check_links(f.check, &hooks, &contained, NULL),
			 ERR_IO);
	assert_int_equal(asked, 1);
	end(&f);

	begin(&f, false, true);
	assert_int_equal(put(&f, 3, OBJ_TREE, "100644"), ERR_CORRUPT);
	assert_int_equal(put(&f, 4, OBJ_COMMIT, "x"), ERR_CORRUPT);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_form),
		cmocka_unit_test(test_links),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
