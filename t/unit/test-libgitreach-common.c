/* SPDX-License-Identifier: MIT */
/*
 * Tests of libgitreach/common.c, the common code of public functions: versions,
 * errors, and calls during which an allocation fails.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include <stdatomic.h>

#include "t/unit/apirepo.h"

/*
 * Replacements of malloc() and related functions, with which this program makes
 * the n-th allocation of the library fail. In a build with a sanitizer they do
 * not exist, because the sanitizer replaces the same functions.
 */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CAN_FAIL 1
#define EXPORT __attribute__((visibility("default")))

extern void *__libc_malloc(size_t len);
extern void *__libc_calloc(size_t nr, size_t len);
extern void *__libc_realloc(void *p, size_t len);
extern void __libc_free(void *p);

/*
 * The n-th allocation from now on fails, where n is the value; 0: no allocation
 * fails.
 */
static atomic_long left;
static atomic_bool counting; /* whether `balance` counts */
/* Number of allocations that have not been freed, while `counting` is set. */
static atomic_long balance;

static bool fails(void)
{
	return atomic_load(&left) && atomic_fetch_sub(&left, 1) == 1;
}

static void *given(void *p)
{
	if (p && atomic_load(&counting))
		atomic_fetch_add(&balance, 1);
	return p;
}

EXPORT void *malloc(size_t len)
{
	return fails() ? NULL : given(__libc_malloc(len));
}

EXPORT void *calloc(size_t nr, size_t len)
{
	return fails() ? NULL : given(__libc_calloc(nr, len));
}

EXPORT void *realloc(void *p, size_t len)
{
	void *moved = fails() ? NULL : __libc_realloc(p, len);

	return p ? moved : given(moved);
}

EXPORT void free(void *p)
{
	if (p && atomic_load(&counting))
		atomic_fetch_sub(&balance, 1);
	__libc_free(p);
}
#endif

static void versions_are_the_header_s(void **state)
{
	assert_string_equal(gitreach_version(), GITREACH_VERSION);
	assert_int_equal(gitreach_abi_version(), GITREACH_ABI_VERSION);
}

static void errors_say_what_happened(void **state)
{
	gitreach_error *err = gitreach_error_new();
	gitreach_repo *repo;

	assert_non_null(err);
	assert_int_equal(gitreach_error_code(err), GITREACH_OK);
	assert_string_equal(gitreach_error_message(err), "");
	assert_int_equal(gitreach_repo_open(&repo, "/nowhere", 0, err),
			 GITREACH_MISSING);
	assert_int_equal(gitreach_error_code(err), GITREACH_MISSING);
	assert_non_null(gitreach_error_message(err));
	gitreach_error_free(err);
}

static void nobody_has_to_want_errors(void **state)
{
	gitreach_repo *repo;

	assert_int_equal(gitreach_repo_open(&repo, "/nowhere", 0, NULL),
			 GITREACH_MISSING);
	assert_int_equal(gitreach_error_code(NULL), 0);
	assert_string_equal(gitreach_error_message(NULL), "");
	assert_int_equal(gitreach_error_errno(NULL), 0);
	gitreach_error_free(NULL);
}

#ifdef CAN_FAIL
static int take(void *ctx, const void *bytes, size_t len)
{
	*(size_t *)ctx += len;
	return 0;
}

static int each(void *ctx, const uint8_t *id, size_t id_len, int type)
{
	++*(size_t *)ctx;
	return 0;
}

static int each_bitmap(void *ctx, const struct gitreach_bitmap_entry *entry)
{
	++*(size_t *)ctx;
	return 0;
}

/*
 * Make use of a query: get its sets and its packs. Sets *nr to the number of
 * objects found.
 */
static int use(gitreach_repo *repo, gitreach_query *query, uint64_t *nr,
	       gitreach_error *err)
{
	struct gitreach_verify_options verify = {.size = sizeof(verify),
						 .sample = 2};
	gitreach_set *set = NULL, *both = NULL;
	uint64_t bytes;
	size_t seen = 0;
	int ret = gitreach_query_run(&set, query, err);

	if (!ret)
		ret = gitreach_set_or(&both, set, set, err);
	if (!ret)
		ret = gitreach_set_each(both, GITREACH_ANY_TYPE, each, &seen,
					err);
	if (!ret)
		*nr = gitreach_set_count(set, GITREACH_ANY_TYPE);
	if (!ret && seen != *nr)
		ret = 77;
	if (!ret)
		ret = gitreach_set_disk_size(&bytes, set, GITREACH_ANY_TYPE,
					     err);
	if (!ret)
		ret = gitreach_set_write_pack(set, NULL, take, &seen, NULL,
					      err);
	if (!ret)
		ret = gitreach_query_write_pack(query, NULL, take, &seen, NULL,
						err);
	if (!ret)
		ret = gitreach_bitmap_verify(repo, &verify, err);
	gitreach_set_free(both);
	gitreach_set_free(set);
	return ret;
}

/*
 * Call functions of all kinds in one thread. Sets *nr to the number of objects
 * that a query with the given strategy finds. Returns 0 or a negative error
 * code.
 */
static int everything(const char *dir, int strategy, uint64_t *nr,
		      gitreach_error *err)
{
	gitreach_repo *repo = NULL;
	gitreach_query *query = NULL;
	int ret = gitreach_repo_open(&repo, dir, 0, err);

	if (!ret)
		ret = gitreach_query_new(&query, repo, err);
	if (!ret)
		ret = gitreach_query_set(query, GITREACH_STRATEGY,
					 (uint64_t)strategy, err);
	if (!ret)
		ret = gitreach_query_set(query, GITREACH_THREADS, 1, err);
	if (!ret)
		ret = gitreach_query_want_refs(query, "", err);
	if (!ret)
		ret = gitreach_query_have_name(query, "refs/old", err);
	if (!ret)
		ret = gitreach_query_filter(query, "blob:limit=200", err);
	if (!ret)
		ret = use(repo, query, nr, err);
	gitreach_query_free(query);
	gitreach_repo_close(repo);
	return ret;
}

/*
 * Ask for the facts about the bitmap index, write a new index, and ask again.
 * Sets *nr to the number of objects of the index. Returns 0, a negative error
 * code, or 77 if the first facts are wrong. Ignores `strategy`.
 */
static int write_index(const char *dir, int strategy, uint64_t *nr,
		       gitreach_error *err)
{
	struct gitreach_bitmap_options write = {.size = sizeof(write),
						.threads = 1};
	struct gitreach_bitmap_info info = {.size = sizeof(info)};
	gitreach_repo *repo = NULL, *now = NULL;
	size_t seen = 0;
	int ret = gitreach_repo_open(&repo, dir, 0, err);

	if (!ret)
		ret = gitreach_bitmap_info(&info, repo, err);
	if (!ret)
		ret = gitreach_bitmap_each(repo, each_bitmap, &seen, err);
	if (!ret && seen != info.bitmaps)
		ret = 77;
	if (!ret)
		ret = gitreach_bitmap_write(repo, &write, err);
	if (!ret)
		ret = gitreach_repo_refresh(&now, repo, err);
	if (!ret)
		ret = gitreach_bitmap_info(&info, now, err);
	if (!ret)
		*nr = info.objects;
	gitreach_repo_close(now);
	gitreach_repo_close(repo);
	return ret;
}

/*
 * Repeats fn(), and lets another allocation fail in each call. fn() must return
 * 0 and the right number in *nr, or an error. All memory must be freed.
 */
static void fail_each(struct apirepo *a, int strategy,
		      int (*fn)(const char *dir, int strategy, uint64_t *nr,
				gitreach_error *err))
{
	uint64_t right, nr;
	long at = 0, step = 1;

	/*
	 * Make one call first: some libraries allocate memory only once, in
	 * their first call.
	 */
	APIREPO_OK(a, fn(a->r.t.dir, strategy, &right, a->err));
	do {
		int ret;

		at += step;
		step = at < 120 ? 1 : 1 + (long)randrepo_below(&a->r, 150);
		nr = right;
		atomic_store(&balance, 0);
		atomic_store(&counting, true);
		atomic_store(&left, at);
		ret = fn(a->r.t.dir, strategy, &nr, a->err);
		atomic_store(&counting, false);
		assert_true(ret <= 0);
		assert_int_equal(nr, right);
		assert_int_equal(gitreach_error_code(a->err), ret);
		if (atomic_load(&balance))
			fail_msg("allocation %ld: %ld are left", at,
				 atomic_load(&balance));
	} while (atomic_exchange(&left, 0) <= 0);
	assert_true(at > 300);
}

static void out_of_memory(void **state)
{
	uint64_t seed = random_seed();
	struct apirepo a;

	apirepo_make(&a, HASH_SHA1, 12, &seed);
	randrepo_ref(&a.r, "refs/old", a.r.commits[3]);
	tmprepo_write(&a.r.t, "config", "[pack]\n\tthreads = 1\n");
	for (int strategy = 0; strategy < 2; strategy++)
		fail_each(&a, strategy, everything);
	apirepo_release(&a);
}

/*
 * Whichever allocation fails while a bitmap index is written, a valid bitmap
 * index must remain.
 */
static void out_of_memory_writing(void **state)
{
	uint64_t seed = random_seed();
	struct apirepo a;

	apirepo_make(&a, HASH_SHA1, 12, &seed);
	bitmaprepo_repack(&a.r, true, true);
	tmprepo_write(&a.r.t, "config", "[pack]\n\tthreads = 1\n");
	fail_each(&a, GITREACH_AUTO, write_index);
	apirepo_open(&a, 0);
	APIREPO_OK(&a, gitreach_bitmap_verify(a.repo, NULL, a.err));
	apirepo_release(&a);
}
#endif

#define REFUSED(call) assert_int_equal((call), GITREACH_INVALID)

/* Functions refuse NULL as a handle, or treat NULL as an empty object. */
static void null_handles(void **state)
{
	struct gitreach_object_info object = {.size = sizeof(object)};
	struct gitreach_bitmap_info info = {.size = sizeof(info)};
	struct gitreach_explanation how = {.size = sizeof(how)};
	gitreach_query *q = (gitreach_query *)1;
	gitreach_set *set = (gitreach_set *)1;
	gitreach_repo *repo = (gitreach_repo *)1;
	uint8_t id[GITREACH_ID_MAX] = {0};
	uint64_t bytes;

	REFUSED(gitreach_repo_refresh(&repo, NULL, NULL));
	assert_null(repo);
	REFUSED(gitreach_query_new(&q, NULL, NULL));
	assert_null(q);
	REFUSED(gitreach_query_run(&set, NULL, NULL));
	assert_null(set);
	REFUSED(gitreach_set_new(&set, NULL, id, 1, 20, NULL));
	REFUSED(gitreach_set_and(&set, NULL, NULL, NULL));
	REFUSED(gitreach_set_each(NULL, 2, NULL, NULL, NULL));
	REFUSED(gitreach_set_disk_size(&bytes, NULL, 2, NULL));
	REFUSED(gitreach_set_explain(&how, NULL, NULL));
	REFUSED(gitreach_set_write_pack(NULL, NULL, NULL, NULL, NULL, NULL));
	REFUSED(gitreach_query_write_pack(NULL, NULL, NULL, NULL, NULL, NULL));
	REFUSED(gitreach_query_want(NULL, id, 20, NULL));
	REFUSED(gitreach_query_want_name(NULL, "main", NULL));
	REFUSED(gitreach_query_have_refs(NULL, "", NULL));
	REFUSED(gitreach_query_exclude_refs(NULL, "", NULL));
	REFUSED(gitreach_query_filter(NULL, "tree:0", NULL));
	REFUSED(gitreach_query_set(NULL, GITREACH_THREADS, 1, NULL));
	REFUSED(gitreach_repo_resolve(id, NULL, "main", NULL));
	REFUSED(gitreach_repo_each_ref(NULL, "", NULL, NULL, NULL));
	REFUSED(gitreach_object_info(&object, NULL, id, 20, NULL));
	REFUSED(gitreach_bitmap_info(&info, NULL, NULL));
	REFUSED(gitreach_bitmap_each(NULL, NULL, NULL, NULL));
	REFUSED(gitreach_bitmap_verify(NULL, NULL, NULL));
	REFUSED(gitreach_bitmap_write(NULL, NULL, NULL));
	gitreach_query_progress(NULL, NULL, NULL);
	assert_int_equal(gitreach_set_count(NULL, GITREACH_ANY_TYPE), 0);
	assert_int_equal(gitreach_set_contains(NULL, id, 20), 0);
	assert_int_equal(gitreach_repo_has_changed(NULL), 0);
	assert_int_equal(gitreach_repo_hash(NULL), 0);
	assert_int_equal(gitreach_repo_id_len(NULL), 0);
}

/* All functions refuse NULL for a required argument. */
static void null_arguments(void **state)
{
	uint64_t seed = random_seed();
	struct apirepo a;
	gitreach_query *q;
	gitreach_set *set;
	size_t len;

	REFUSED(gitreach_repo_open(NULL, "r", 0, NULL));
	REFUSED(gitreach_id_print(NULL, NULL, 20, NULL));
	REFUSED(gitreach_id_parse(NULL, &len, "", NULL));
	apirepo_make(&a, HASH_SHA1, 5, &seed);
	apirepo_open(&a, 0);
	q = apirepo_query(&a, GITREACH_AUTO);
	set = apirepo_run(&a, q);
	REFUSED(gitreach_repo_refresh(NULL, a.repo, NULL));
	REFUSED(gitreach_query_new(NULL, a.repo, NULL));
	REFUSED(gitreach_query_run(NULL, q, NULL));
	REFUSED(gitreach_query_want(q, NULL, 20, NULL));
	REFUSED(gitreach_query_have_name(q, NULL, NULL));
	REFUSED(gitreach_query_want_refs(q, NULL, NULL));
	REFUSED(gitreach_query_exclude_refs(q, NULL, NULL));
	REFUSED(gitreach_query_filter(q, NULL, NULL));
	REFUSED(gitreach_query_write_pack(q, NULL, NULL, NULL, NULL, NULL));
	REFUSED(gitreach_set_new(NULL, a.repo, NULL, 0, 20, NULL));
	gitreach_set_free(set);
	REFUSED(gitreach_set_new(&set, a.repo, NULL, 1, 20, NULL));
	assert_null(set);
	set = apirepo_run(&a, q);
	REFUSED(gitreach_set_or(NULL, set, set, NULL));
	REFUSED(gitreach_set_each(set, 2, NULL, NULL, NULL));
	REFUSED(gitreach_set_disk_size(NULL, set, 2, NULL));
	REFUSED(gitreach_set_explain(NULL, set, NULL));
	REFUSED(gitreach_set_write_pack(set, NULL, NULL, NULL, NULL, NULL));
	REFUSED(gitreach_repo_resolve(NULL, a.repo, "main", NULL));
	REFUSED(gitreach_repo_each_ref(a.repo, "", NULL, NULL, NULL));
	REFUSED(gitreach_object_info(NULL, a.repo, NULL, 20, NULL));
	REFUSED(gitreach_bitmap_info(NULL, a.repo, NULL));
	REFUSED(gitreach_bitmap_each(a.repo, NULL, NULL, NULL));
	gitreach_set_free(set);
	gitreach_query_free(q);
	apirepo_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_are_the_header_s),
		cmocka_unit_test(errors_say_what_happened),
		cmocka_unit_test(nobody_has_to_want_errors),
		cmocka_unit_test(null_handles),
		cmocka_unit_test(null_arguments),
#ifdef CAN_FAIL
		cmocka_unit_test(out_of_memory),
		cmocka_unit_test(out_of_memory_writing),
#endif
	};

	return cmocka_run_group_tests_name("libgitreach-common", tests, NULL,
					   NULL);
}
