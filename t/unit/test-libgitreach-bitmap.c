/* SPDX-License-Identifier: MIT */
/*
 * Tests of libgitreach/bitmap.c, the public functions for bitmap indexes: an
 * index is described, a wrong bit is found, and a wrong index is written anew.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/apirepo.h"

static int note(void *ctx, const struct gitreach_bitmap_entry *entry)
{
	struct apirepo *a = ctx;
	struct oid oid = OID_ZERO_INIT;
	uint32_t nr;

	assert_int_equal(entry->size, sizeof(*entry));
	memcpy(oid.bytes, entry->id, entry->id_len);
	nr = randrepo_find(&a->r, &oid);
	assert_int_equal(a->r.objects[nr].type, OBJ_COMMIT);
	assert_true(entry->bytes > 6);
	assert_false(a->have[nr]);
	a->have[nr] = true;
	return 0;
}

static int stop(void *ctx, const struct gitreach_bitmap_entry *entry)
{
	return *(int *)ctx;
}

static void what_there_is(void **state)
{
	uint64_t seed = random_seed();
	struct gitreach_bitmap_info info = {.size = sizeof(info)};
	int seven = 7, minus = -7;
	uint32_t nr = 0;
	struct sys_stat st;
	struct apirepo a;

	apirepo_make(&a, HASH_SHA256, 60, &seed);
	apirepo_open(&a, 0);
	APIREPO_OK(&a, gitreach_bitmap_info(&info, a.repo, a.err));
	assert_int_equal(sys_stat(&st, info.path, NULL), 0);
	assert_int_equal(info.bytes, st.size);
	assert_true(info.objects > 0 && info.objects < a.r.nr);
	assert_true(info.flags & GITREACH_BITMAP_HASH_CACHE);
	APIREPO_OK(&a, gitreach_bitmap_each(a.repo, note, &a, a.err));
	for (uint32_t i = 0; i < a.r.nr; i++)
		nr += a.have[i];
	assert_int_equal(nr, info.bitmaps);
	assert_int_equal(gitreach_bitmap_each(a.repo, stop, &seven, a.err), 7);
	APIREPO_FAILS(&a, GITREACH_CANCELLED,
		      gitreach_bitmap_each(a.repo, stop, &minus, a.err));
	apirepo_open(&a, GITREACH_OPEN_NO_BITMAP);
	APIREPO_FAILS(&a, GITREACH_MISSING,
		      gitreach_bitmap_info(&info, a.repo, a.err));
	assert_string_equal(gitreach_error_message(a.err),
			    "the repository was opened without bitmaps");
	APIREPO_OK(&a, gitreach_bitmap_each(a.repo, stop, &seven, a.err));
	APIREPO_FAILS(&a, GITREACH_MISSING,
		      gitreach_bitmap_verify(a.repo, NULL, a.err));
	apirepo_release(&a);
}

static int refuse(void *ctx, const struct gitreach_progress *progress)
{
	return 1;
}

/*
 * Verify all bitmaps, and a random sample of them. Then change one bit of a
 * bitmap. Verifying must find this bit.
 */
static void verifying(void **state)
{
	uint64_t seed = random_seed();
	struct gitreach_verify_options o = {.size = sizeof(o), .sample = 5};
	char hex[OID_MAX_HEX_LEN + 1];
	uint32_t commit, wrong;
	struct apirepo a;

	apirepo_make(&a, HASH_SHA1, 60, &seed);
	apirepo_open(&a, 0);
	APIREPO_OK(&a, gitreach_bitmap_verify(a.repo, NULL, a.err));
	APIREPO_OK(&a, gitreach_bitmap_verify(a.repo, &o, a.err));
	o.progress = refuse;
	APIREPO_FAILS(&a, GITREACH_CANCELLED,
		      gitreach_bitmap_verify(a.repo, &o, a.err));
	o.sample = 0;
	APIREPO_FAILS(&a, GITREACH_CANCELLED,
		      gitreach_bitmap_verify(a.repo, &o, a.err));
	o.progress = NULL;
	bitmaprepo_write_wrong(&a.r, &commit, &wrong);
	apirepo_open(&a, 0);
	for (o.sample = 0; o.sample < 2; o.sample++) {
		APIREPO_FAILS(&a, GITREACH_CORRUPT,
			      gitreach_bitmap_verify(a.repo, &o, a.err));
		oid_to_hex(hex, &a.r.objects[wrong].oid, HASH_SHA1);
		assert_non_null(strstr(gitreach_error_message(a.err), hex));
		oid_to_hex(hex, &a.r.objects[commit].oid, HASH_SHA1);
		assert_non_null(strstr(gitreach_error_message(a.err), hex));
	}
	apirepo_release(&a);
}

/* Writing replaces a wrong bitmap index. */
static void writing(void **state)
{
	uint64_t seed = random_seed();
	struct gitreach_bitmap_info info = {.size = sizeof(info)};
	struct gitreach_bitmap_options o = {.size = sizeof(o), .threads = 1};
	uint32_t commit, wrong;
	gitreach_repo *old;
	struct apirepo a;

	apirepo_make(&a, HASH_SHA1, 60, &seed);
	apirepo_open(&a, 0);
	APIREPO_FAILS(&a, GITREACH_UNSUPPORTED,
		      gitreach_bitmap_write(a.repo, NULL, a.err));
	bitmaprepo_repack(&a.r, true, true);
	bitmaprepo_write_wrong(&a.r, &commit, &wrong);
	apirepo_open(&a, 0);
	APIREPO_FAILS(&a, GITREACH_CORRUPT,
		      gitreach_bitmap_verify(a.repo, NULL, a.err));
	o.progress = refuse;
	APIREPO_FAILS(&a, GITREACH_CANCELLED,
		      gitreach_bitmap_write(a.repo, &o, a.err));
	o.progress = NULL;
	APIREPO_OK(&a, gitreach_bitmap_write(a.repo, &o, a.err));
	old = a.repo;
	APIREPO_OK(&a, gitreach_repo_refresh(&a.repo, old, a.err));
	gitreach_repo_close(old);
	APIREPO_OK(&a, gitreach_bitmap_verify(a.repo, NULL, a.err));
	APIREPO_OK(&a, gitreach_bitmap_info(&info, a.repo, a.err));
	assert_true(info.bitmaps > 1);
	assert_int_equal(info.objects, a.r.nr);
	apirepo_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_there_is),
		cmocka_unit_test(verifying),
		cmocka_unit_test(writing),
	};

	return cmocka_run_group_tests_name("libgitreach-bitmap", tests, NULL,
					   NULL);
}
