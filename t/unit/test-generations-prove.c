/* SPDX-License-Identifier: MIT */
/*
 * Tests of generations/prove.c, which finds whether a store still has a known
 * record (manifest). They prove that a store that was emptied or restored from
 * a backup is detected.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "generations/names.h"
#include "t/unit/genhost.h"
#include "t/unit/memstore.h"

struct known {
	struct memstore mem;
	struct genhost host;
	struct generation_place place;
	struct generation g; /* the newest generation */
	struct error err;
};

static void known_init(struct known *k)
{
	struct generation_upload up = genhost_upload("p.pack", "pack");
	struct generation_change change = {
		.node = "n",
		.user = "u",
		.action = "push",
		.uploads = &up,
		.upload_nr = 1,
		.session_ns = 1000000000,
	};

	memset(k, 0, sizeof(*k));
	memstore_init(&k->mem);
	genhost_init(&k->host);
	k->place = (struct generation_place){&k->mem.store, &k->host.host, "r"};
	for (int i = 0; i < 2; i++) {
		assert_int_equal(
			generation_commit(&k->g, &k->place, &change, &k->err),
			0);
		change.upload_nr = 0;
		change.seen = 1;
	}
	assert_int_equal(k->g.number, 2);
}

static void known_release(struct known *k)
{
	generation_release(&k->g);
	memstore_release(&k->mem);
}

/*
 * Returns the result of generation_prove(). Sets *requests to the number of
 * requests to the store.
 */
static int prove(struct known *k, unsigned *requests)
{
	unsigned before = k->mem.requests;
	/*
	 * Pass only the number, the parent and the token, because
	 * generation_prove() must not need other fields.
	 */
	struct generation brief = {.number = k->g.number};
	int ret;

	memcpy(brief.parent, k->g.parent, sizeof(brief.parent));
	memcpy(brief.token, k->g.token, sizeof(brief.token));
	ret = generation_prove(&k->place, &brief, &k->err);
	*requests = k->mem.requests - before;
	return ret;
}

static void put_record(struct known *k, const void *bytes, size_t len)
{
	struct buf name = BUF_INIT;

	assert_int_equal(generation_record_name(&name, "r", 2, NULL), 0);
	assert_int_equal(
		filestore_put(&k->mem.store, NULL, name.data, bytes, len,
			      &(struct filestore_condition){STORE_ALWAYS, NULL},
			      NULL),
		0);
	buf_release(&name);
}

static void test_same(void **state)
{
	struct known k;
	unsigned nr;

	known_init(&k);
	assert_int_equal(prove(&k, &nr), 0);
	assert_int_equal(nr, 1);
	known_release(&k);
}

static void test_other(void **state)
{
	struct known k;
	unsigned nr;

	known_init(&k);
	k.g.token[3] ^= 1;
	assert_int_equal(prove(&k, &nr), STORE_ABSENT);
	assert_int_equal(nr, 2);
	assert_string_equal(
		k.err.msg,
		"the store does not have generation 2 of the "
		"repository, but another generation with this number");
	k.g.token[3] ^= 1;
	k.g.number = 3;
	assert_int_equal(prove(&k, &nr), STORE_ABSENT);
	assert_string_equal(k.err.msg, "the store does not have generation 3 "
				       "of the repository");
	known_release(&k);
}

static void test_retired(void **state)
{
	struct known k;
	struct generation retired = {.number = 2, .is_retired = true};
	struct buf text = BUF_INIT;
	unsigned nr;

	known_init(&k);
	memcpy(retired.parent, k.g.parent, sizeof(retired.parent));
	assert_int_equal(generation_print(&text, NULL, &retired, NULL), 0);
	put_record(&k, text.data, text.len);
	assert_int_equal(prove(&k, &nr), 0);
	k.g.parent[0] ^= 1;
	assert_int_equal(prove(&k, &nr), STORE_ABSENT);
	buf_release(&text);
	known_release(&k);
}

static enum memstore_fate down(void *ctx, enum memstore_op op, const char *name)
{
	return MEMSTORE_DOWN;
}

static void test_failures(void **state)
{
	struct known k;
	unsigned nr;

	known_init(&k);
	k.mem.fate = down;
	assert_int_equal(prove(&k, &nr), STORE_UNAVAILABLE);
	assert_int_equal(nr, 1);
	k.mem.fate = NULL;
	/*
	 * The file has the name of a record (manifest), but its content is no
	 * record.
	 */
	put_record(&k, "x", 1);
	assert_int_equal(prove(&k, &nr), ERR_CORRUPT);
	k.place.repository = "..";
	assert_int_equal(prove(&k, &nr), ERR_INVALID);
	known_release(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_other),
		cmocka_unit_test(test_retired),
		cmocka_unit_test(test_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
