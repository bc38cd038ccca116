/* SPDX-License-Identifier: MIT */
/*
 * Tests of indexer/indexer-entries.c. They prove that the entries of a pack are
 * sorted by id, and that no pack makes the sort slow.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <cmocka.h>

#define PACKFILE_MAX 60000

#include "indexer/indexer-parts.h"
#include "t/unit/packfile.h"

/*
 * Two blobs. The SHA-1 id of each begins with 42736057; the id of `greater`
 * is the greater one.
 */
static const char lesser[] = "26572", greater[] = "80256";

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void add(struct packfile *p, const char *text, uint32_t nr)
{
	while (nr--)
		packfile_add(p, OBJ_BLOB, text, strlen(text));
}

/* Returns an indexer that has resolved the pack. */
static struct pack_indexer *resolve(struct packfile *p)
{
	struct pack_indexer_config config = {.algo = p->algo};
	struct pack_indexer *ix = pack_indexer_new(&config);
	struct error err = ERROR_INIT;
	char path[128];

	assert_non_null(ix);
	packfile_finish(p);
	packfile_save(p);
	snprintf(path, sizeof(path), "%s.pack", p->base);
	if (pack_indexer_open(ix, path, &err) < 0 ||
	    pack_indexer_resolve(ix, &err) < 0)
		fail_msg("%s", err.msg);
	return ix;
}

/*
 * Finishes and indexes the pack, and releases it. Asserts that the entries are
 * sorted by id, and entries with the same id by offset. Returns the CPU time of
 * finishing and indexing in nanoseconds.
 */
static uint64_t index_pack(struct packfile *p)
{
	struct pack_indexer_result result;
	uint64_t start = cpu_ns();
	struct pack_indexer *ix = resolve(p);

	start = cpu_ns() - start;
	pack_indexer_result(ix, &result);
	assert_int_equal(result.nr, p->nr);
	for (uint32_t i = 1; i < p->nr; i++) {
		const struct pack_idx_entry *e = result.entries + i;
		int cmp = memcmp(e[-1].oid, e->oid, hash_len(p->algo));

		assert_true(cmp <= 0);
		assert_true(cmp < 0 || e[-1].offset < e->offset);
	}
	pack_indexer_free(ix);
	packfile_release(p);
	return start;
}

static void repeated_objects_are_noticed(void **state)
{
	static struct packfile p;
	struct error err = ERROR_INIT;
	struct pack_indexer *ix;

	packfile_init(&p, HASH_SHA1);
	add(&p, lesser, 1);
	add(&p, greater, 1);
	ix = resolve(&p);
	assert_int_equal(pack_indexer_check_unique(ix, &err), 0);
	pack_indexer_free(ix);
	packfile_release(&p);

	packfile_init(&p, HASH_SHA1);
	add(&p, greater, 1);
	add(&p, lesser, 1);
	add(&p, greater, 1);
	ix = resolve(&p);
	assert_int_equal(pack_indexer_check_unique(ix, &err), ERR_CORRUPT);
	assert_non_null(strstr(err.msg, "appears twice in the pack"));
	pack_indexer_free(ix);
	packfile_release(&p);
}

/* Objects with the same first four bytes of the id, in every order. */
static void runs_of_any_length_are_sorted(void **state)
{
	static struct packfile p;

	for (uint32_t bits = 0; bits < 1 << 7; bits++) {
		packfile_init(&p, HASH_SHA1);
		add(&p, "other", bits % 3);
		for (uint32_t rest = bits | 1 << 7; rest > 1; rest >>= 1)
			add(&p, rest & 1 ? greater : lesser, 1);
		add(&p, "another", bits % 3);
		index_pack(&p);
	}
}

/*
 * A pack repeats two objects, whose ids have the same first four bytes. All
 * copies of the greater id come first. Such a pack costs nearly the same time
 * as a pack that repeats one object.
 */
static void repeated_objects_are_sorted_fast(void **state)
{
	static struct packfile p;
	uint64_t once;

	packfile_init(&p, HASH_SHA1);
	add(&p, greater, PACKFILE_MAX);
	once = index_pack(&p);
	packfile_init(&p, HASH_SHA1);
	add(&p, greater, PACKFILE_MAX / 2);
	add(&p, lesser, PACKFILE_MAX / 2);
	assert_true(index_pack(&p) < once * 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(repeated_objects_are_noticed),
		cmocka_unit_test(runs_of_any_length_are_sorted),
		cmocka_unit_test(repeated_objects_are_sorted_fast),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
