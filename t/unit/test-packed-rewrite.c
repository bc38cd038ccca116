/* SPDX-License-Identifier: MIT */
/*
 * Tests of refs-write/packed-rewrite.c, which writes a new packed-refs file:
 * changes are merged with the old refs, the lock is held, and the traits of the
 * header are kept.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "refs-write/packed-rewrite.h"
#include "t/unit/random.h"
#include "t/unit/tmprepo.h"

#define HEX_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define HEX_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define HEADER "# pack-refs with: peeled fully-peeled sorted \n"

static struct oid oid_of(uint8_t byte)
{
	struct oid oid = OID_ZERO_INIT;

	memset(oid.bytes, byte, 20);
	return oid;
}

static void assert_file(const struct tmprepo *t, const char *name,
			const char *text)
{
	struct buf path = BUF_INIT, found = BUF_INIT;
	int ret;

	buf_printf(&path, "%s/%s", t->dir, name);
	ret = sys_read_any(&found, path.data, NULL);
	assert_int_equal(ret, text ? 0 : ERR_MISSING);
	if (text)
		assert_string_equal(found.data, text);
	buf_release(&path);
	buf_release(&found);
}

static void test_edits(void **state)
{
	struct oid a = oid_of(0xaa), b = oid_of(0xbb);
	struct packed_rewrite rw;
	struct tmprepo t;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	tmprepo_write(&t, "packed-refs",
		      "# pack-refs with: peeled sorted \n" HEX_A
		      " refs/b\n" HEX_A " refs/c\n^" HEX_B "\n" HEX_A
		      " refs/d\n");
	assert_int_equal(packed_rewrite_begin(&rw, &t.repo, NULL), 0);
	assert_int_equal(packed_rewrite_put(&rw, "refs/a", &a, &b, NULL), 0);
	assert_int_equal(packed_rewrite_delete(&rw, "refs/bb", NULL), 0);
	assert_int_equal(packed_rewrite_delete(&rw, "refs/c", NULL), 1);
	assert_int_equal(packed_rewrite_put(&rw, "refs/d", &b, NULL, NULL), 0);
	assert_int_equal(packed_rewrite_finish(&rw, NULL), 0);
	assert_int_equal(packed_rewrite_commit(&rw, NULL), 0);
	assert_file(&t, "packed-refs.lock", "");
	packed_rewrite_release(&rw);
	assert_file(&t, "packed-refs.lock", NULL);
	/* The header of the new file has only traits that the old file has. */
	assert_file(&t, "packed-refs",
		    "# pack-refs with: peeled sorted \n" HEX_A
		    " refs/a\n^" HEX_B "\n" HEX_A " refs/b\n" HEX_B
		    " refs/d\n");
	tmprepo_release(&t);
}

static void test_nothing_to_do(void **state)
{
	struct packed_rewrite rw, second;
	struct tmprepo t;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	tmprepo_write(&t, "config-is-not-read", "");
	assert_int_equal(packed_rewrite_begin(&rw, &t.repo, NULL), 0);
	assert_int_equal(packed_rewrite_begin(&second, &t.repo, NULL),
			 ERR_DENIED);
	assert_int_equal(packed_rewrite_delete(&rw, "refs/x", NULL), 0);
	assert_int_equal(packed_rewrite_finish(&rw, NULL), 0);
	assert_false(packed_rewrite_is_changed(&rw));
	assert_int_equal(packed_rewrite_commit(&rw, NULL), 0);
	packed_rewrite_release(&rw);
	assert_file(&t, "packed-refs", NULL);
	assert_file(&t, "packed-refs.new", NULL);
	tmprepo_release(&t);
}

/*
 * A file packed-refs.new that a killed process has left is replaced. An abort
 * removes the new packed-refs.new.
 */
static void test_left_over(void **state)
{
	struct oid a = oid_of(0xaa);
	struct packed_rewrite rw;
	struct tmprepo t;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	tmprepo_write(&t, "packed-refs.new", "half a li");
	assert_int_equal(packed_rewrite_begin(&rw, &t.repo, NULL), 0);
	rw.peeled = rw.fully_peeled = true;
	assert_int_equal(packed_rewrite_put(&rw, "refs/a", &a, NULL, NULL), 0);
	assert_int_equal(packed_rewrite_finish(&rw, NULL), 0);
	assert_file(&t, "packed-refs.new", HEADER HEX_A " refs/a\n");
	packed_rewrite_release(&rw);
	assert_file(&t, "packed-refs.new", NULL);
	assert_file(&t, "packed-refs", NULL);
	tmprepo_release(&t);
}

/*
 * A promise of peeled ids is taken back after the header was written. The new
 * header has the length of the first one, and the traits of the old file.
 */
static void test_promise_no_more(void **state)
{
	static const struct {
		const char *old, *new;
	} cases[] = {
		{"", "# pack-refs with: peeled fully-peeled sorted "
		     "                \n" HEX_A " refs/a\n"},
		{"# pack-refs with: sorted \n" HEX_B " refs/b\n",
		 "# pack-refs with: sorted                            "
		 "         \n" HEX_A " refs/a\n" HEX_B " refs/b\n"},
	};
	struct oid a = oid_of(0xaa);

	(void)state;
	for (size_t i = 0; i < ARRAY_NR(cases); i++) {
		struct packed_rewrite rw;
		struct tmprepo t;

		tmprepo_init(&t, HASH_SHA1);
		tmprepo_write(&t, "packed-refs", cases[i].old);
		assert_int_equal(packed_rewrite_begin(&rw, &t.repo, NULL), 0);
		packed_rewrite_promise_peeled(&rw);
		assert_int_equal(
			packed_rewrite_put(&rw, "refs/a", &a, NULL, NULL), 0);
		packed_rewrite_promise_no_more(&rw);
		assert_int_equal(packed_rewrite_finish(&rw, NULL), 0);
		assert_file(&t, "packed-refs.new", cases[i].new);
		packed_rewrite_release(&rw);
		tmprepo_release(&t);
	}
}

#define NAMES 3000

/*
 * Makes random changes of a large file. Compares the bytes of the new file with
 * a slow computation.
 */
static void test_random(void **state)
{
	struct buf before = BUF_INIT, after = BUF_INIT;
	uint64_t rng = random_seed();
	struct oid b = oid_of(0xbb);
	struct packed_rewrite rw;
	struct tmprepo t;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	assert_int_equal(buf_append_str(&before, HEADER), 0);
	for (int i = 0; i < NAMES; i++)
		if (random_next(&rng) % 4)
			buf_printf(&before, HEX_A " refs/n%04d\n", i);
	tmprepo_write(&t, "packed-refs", before.data);
	assert_int_equal(buf_append_str(&after, HEADER), 0);
	assert_int_equal(packed_rewrite_begin(&rw, &t.repo, NULL), 0);
	for (int i = 0; i < NAMES; i++) {
		char line[100], name[40];
		bool is_there;

		snprintf(name, sizeof(name), "refs/n%04d", i);
		snprintf(line, sizeof(line), HEX_A " %s\n", name);
		is_there = strstr(before.data, line) != NULL;
		switch (random_next(&rng) % 3) {
		case 0:
			assert_int_equal(packed_rewrite_delete(&rw, name, NULL),
					 is_there);
			break;
		case 1:
			assert_int_equal(
				packed_rewrite_put(&rw, name, &b, NULL, NULL),
				0);
			buf_printf(&after, HEX_B " %s\n", name);
			break;
		default:
			if (is_there)
				buf_append_str(&after, line);
		}
	}
	assert_int_equal(packed_rewrite_finish(&rw, NULL), 0);
	assert_int_equal(packed_rewrite_commit(&rw, NULL), 0);
	packed_rewrite_release(&rw);
	assert_file(&t, "packed-refs", after.data);
	buf_release(&before);
	buf_release(&after);
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edits),
		cmocka_unit_test(test_nothing_to_do),
		cmocka_unit_test(test_left_over),
		cmocka_unit_test(test_promise_no_more),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
