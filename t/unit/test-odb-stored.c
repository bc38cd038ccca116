/* SPDX-License-Identifier: MIT */
/*
 * Tests of odb/odb-stored.c, which says how an object is stored (size on disk,
 * delta base). The results are compared with the files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "odb/odb-stored.h"
#include "t/unit/bitmaprepo.h"

/*
 * The sum of the lengths of a pack's entries must be the length of the pack.
 * The base of each delta must be in the pack.
 */
static void packed(void **state)
{
	uint64_t seed = random_seed(), sum = 0, len;
	struct odb_stored stored;
	uint32_t deltas = 0;
	struct randrepo r;
	struct odb *odb;

	randrepo_init(&r, HASH_SHA1, &seed);
	randrepo_history(&r, 60);
	randrepo_store(&r);
	randrepo_all_refs(&r);
	bitmaprepo_repack(&r, true, true);
	assert_int_equal(odb_open(&odb, &r.t.repo, NULL, NULL), 0);
	assert_int_equal(odb->packed_nr, r.nr);
	for (uint32_t i = 0; i < r.nr; i++) {
		const struct oid *oid = &r.objects[i].oid;

		assert_int_equal(odb_stored_get(&stored, odb, oid, NULL), 0);
		assert_int_equal(odb_stored_len(&len, odb, oid, NULL), 0);
		assert_int_equal(len, stored.len);
		sum += len;
		if (oid_is_zero(&stored.base))
			continue;
		deltas++;
		assert_int_equal(
			r.objects[randrepo_find(&r, &stored.base)].type,
			r.objects[i].type);
	}
	assert_true(deltas > 0);
	assert_int_equal(sum, odb->packs[0].pack->file.len - 12 - 20);
	odb_close(odb);
	randrepo_release(&r);
}

static int compare_len(void *ctx, const struct oid *oid, const char *path)
{
	struct odb_stored stored;
	struct sys_stat st;

	assert_int_equal(odb_stored_get(&stored, ctx, oid, NULL), 0);
	assert_int_equal(sys_stat(&st, path, NULL), 0);
	assert_int_equal(stored.len, st.size);
	assert_true(oid_is_zero(&stored.base));
	return 0;
}

static void loose(void **state)
{
	uint64_t seed = random_seed(), len;
	struct oid gone = {{1}};
	struct randrepo r;
	struct odb *odb;

	randrepo_init(&r, HASH_SHA256, &seed);
	randrepo_history(&r, 10);
	randrepo_store(&r);
	assert_int_equal(odb_open(&odb, &r.t.repo, NULL, NULL), 0);
	assert_int_equal(odb_each_loose(odb, true, compare_len, odb, NULL), 0);
	assert_int_equal(odb_stored_len(&len, odb, &gone, NULL), ERR_MISSING);
	assert_int_equal(
		odb_stored_len(&len, odb, oid_empty_tree(HASH_SHA256), NULL),
		0);
	assert_int_equal(len, 0);
	odb_close(odb);
	randrepo_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packed),
		cmocka_unit_test(loose),
	};

	return cmocka_run_group_tests_name("odb-stored", tests, NULL, NULL);
}
