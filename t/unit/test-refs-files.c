/* SPDX-License-Identifier: MIT */
/*
 * Tests of refs/refs-files.c: loose and packed refs are merged, and directories
 * are skipped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "refs/refs-cache.h"
#include "refs/refs-files.h"
#include "t/unit/nomem.h"
#include "t/unit/random.h"
#include "t/unit/tmprepo.h"

#define ROUNDS 30
#define HEADER "# pack-refs with: peeled fully-peeled sorted \n"

static const char *const dirs[] = {"refs/heads/a/", "refs/heads/b/c/",
				   "refs/heads/b/", "refs/tags/", "refs/x/"};
#define DIR_NR (sizeof(dirs) / sizeof(dirs[0]))

static int append_ref(void *ctx, const struct ref *ref)
{
	return buf_printf(ctx, "%s=%02x\n", ref->name, ref->oid.bytes[0]);
}

/*
 * Makes refs. There is one name for each directory of dirs[] and each letter
 * from d to g, such as refs/tags/d. For each name, a packed ref, a loose ref,
 * both or none are made, at random. If bit i of `excepted` is set, a visit
 * skips the directory dirs[i]. Appends the names and values of the refs that
 * the visit must find to *expected.
 */
static void fill(struct tmprepo *t, struct buf *expected, uint64_t *seed,
		 unsigned excepted)
{
	struct buf packed = BUF_INIT, text = BUF_INIT, name = BUF_INIT;

	buf_append_str(&packed, HEADER);
	for (size_t d = 0; d < DIR_NR; d++) {
		bool left_out = excepted & 1u << d;

		/*
		 * If a visit skips the directory b/, it skips the subdirectory
		 * b/c/ as well.
		 */
		if (d == 1 && (excepted & 1u << 2))
			left_out = true;
		for (char c = 'd'; c < 'h'; c++) {
			unsigned how = (unsigned)(random_next(seed) % 4);
			uint64_t hex = (random_next(seed) & 0xfff) | 0x100;

			buf_reset(&name);
			buf_reset(&text);
			buf_printf(&name, "%s%c", dirs[d], c);
			if (how & 1)
				buf_printf(&packed, "%040d %s\n", 17,
					   name.data);
			if (how == 1)
				hex = 0;
			buf_printf(&text, "%03x%037d\n", (unsigned)hex, 17);
			if (how & 2)
				tmprepo_write(t, name.data, text.data);
			if (how && !left_out)
				buf_printf(expected, "%s=%02x\n", name.data,
					   (unsigned)hex >> 4);
		}
	}
	tmprepo_write(t, "packed-refs", packed.data);
	buf_release(&packed);
	buf_release(&text);
	buf_release(&name);
}

static void test_except(void **state)
{
	uint64_t seed = random_seed();

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		unsigned excepted = (unsigned)(random_next(&seed) % 32);
		struct buf expected = BUF_INIT, found = BUF_INIT;
		const char *except[DIR_NR + 1];
		struct tmprepo t;
		struct refs *refs;
		size_t nr = 0;

		for (size_t d = 0; d < DIR_NR; d++)
			if (excepted & 1u << d)
				except[nr++] = dirs[d];
		except[nr] = NULL;
		tmprepo_init(&t, HASH_SHA1);
		fill(&t, &expected, &seed, excepted);
		assert_int_equal(refs_open(&refs, &t.repo, NULL), 0);
		assert_int_equal(refs_each_except(refs, "", except, append_ref,
						  &found, NULL, NULL),
				 0);
		assert_string_equal(found.data, expected.data);
		refs_close(refs);
		buf_release(&expected);
		buf_release(&found);
		tmprepo_release(&t);
	}
}

/*
 * While packed-refs is mapped, the file is replaced. The mapped content must
 * not change.
 */
static void test_packed_table(void **state)
{
	const struct packed_refs *old, *table;
	struct packed_ref ref;
	struct tmprepo t;
	struct refs *refs;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	assert_int_equal(refs_open(&refs, &t.repo, NULL), 0);
	assert_int_equal(refs_files_packed(refs, &old, NULL), 0);
	assert_int_equal(old->len, 0);
	tmprepo_write(&t, "packed-refs",
		      HEADER "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa "
			     "refs/heads/x\n");
	assert_int_equal(refs_files_packed(refs, &table, NULL), 0);
	assert_int_equal(packed_refs_find(table, "refs/heads/x", &ref, NULL),
			 1);
	assert_int_equal(packed_refs_find(old, "refs/heads/x", &ref, NULL), 0);
	refs_close(refs);
	tmprepo_release(&t);
}

struct visit {
	struct repo *repo;
	struct buf found;
};

/*
 * Visits all refs, and looks up some of them by name. Returns 0 or a negative
 * error code.
 */
static int visit(void *ctx, struct error *err)
{
	struct visit *v = ctx;
	struct refs *refs;
	struct ref ref;
	int ret = refs_open(&refs, v->repo, err);

	buf_reset(&v->found);
	if (ret < 0)
		return ret;
	ret = refs_each(refs, "", append_ref, &v->found, NULL, err);
	if (!ret)
		ret = refs_each_root(refs, append_ref, &v->found, NULL, err);
	if (!ret &&
	    (ret = refs_lookup(refs, "refs/remotes/o/HEAD", &ref, err)) == 1)
		ret = append_ref(&v->found, &ref);
	if (!ret && (ret = refs_dwim(refs, "p", &ref, err)) == 1)
		ret = append_ref(&v->found, &ref);
	refs_close(refs);
	return ret;
}

static void check_visit(void *ctx)
{
	struct visit *v = ctx;

	assert_string_equal(v->found.data, "refs/heads/d/e=22\n"
					   "refs/heads/main=11\n"
					   "refs/heads/p=33\n"
					   "refs/remotes/o/HEAD=11\n"
					   "HEAD=11\n"
					   "refs/remotes/o/HEAD=11\n"
					   "refs/heads/p=33\n");
}

static void test_no_memory(void **state)
{
	struct visit v = {.found = BUF_INIT};
	struct tmprepo t;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	tmprepo_write(&t, "HEAD", "ref: refs/heads/main\n");
	tmprepo_write(&t, "refs/heads/main",
		      "1111111111111111111111111111111111111111\n");
	tmprepo_write(&t, "refs/heads/d/e",
		      "2222222222222222222222222222222222222222\n");
	tmprepo_write(&t, "refs/remotes/o/HEAD", "ref: refs/heads/main\n");
	tmprepo_write(&t, "packed-refs",
		      HEADER "3333333333333333333333333333333333333333 "
			     "refs/heads/p\n");
	v.repo = &t.repo;
	/*
	 * The buffer is large enough, so that append_ref() allocates no memory.
	 */
	assert_int_equal(buf_reserve(&v.found, 4096), 0);
	nomem_each(NULL, visit, check_visit, &v);
	buf_release(&v.found);
	tmprepo_release(&t);
}

/*
 * refs_may_peel() tells whether a ref whose name has the prefix may peel to one
 * of the given ids. The peeled id of a loose ref is unknown. So if a loose ref
 * has the prefix, the answer must be 1 (maybe).
 */
static void test_may_peel(void **state)
{
	struct oidmap none = OIDMAP_INIT;
	const struct refs_peel_search search = {.ids = &none};
	struct tmprepo t;
	struct refs *refs;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	tmprepo_write(&t, "packed-refs", HEADER);
	tmprepo_write(&t, "refs/heads/a",
		      "1111111111111111111111111111111111111111\n");
	tmprepo_write(&t, "refs/heads/m/b",
		      "2222222222222222222222222222222222222222\n");
	assert_int_equal(refs_open(&refs, &t.repo, NULL), 0);
	assert_int_equal(refs_may_peel(refs, "refs/heads/m", &search, NULL), 1);
	assert_int_equal(refs_may_peel(refs, "refs/heads/b", &search, NULL), 0);
	refs_close(refs);
	tmprepo_release(&t);
}

/* The prefix of a visit may be the whole name of a packed ref. */
static void test_whole_name(void **state)
{
	struct buf found = BUF_INIT;
	struct tmprepo t;
	struct refs *refs;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	tmprepo_write(&t, "packed-refs",
		      HEADER "3333333333333333333333333333333333333333 "
			     "refs/heads/p\n");
	assert_int_equal(refs_open(&refs, &t.repo, NULL), 0);
	assert_int_equal(
		refs_each(refs, "refs/heads/p", append_ref, &found, NULL, NULL),
		0);
	assert_int_equal(buf_append_char(&found, '\0'), 0);
	assert_string_equal(found.data, "refs/heads/p=33\n");
	refs_close(refs);
	buf_release(&found);
	tmprepo_release(&t);
}

/*
 * The cache has packed refs only. So it can be used to visit refs/heads/. It
 * cannot be used for refs/ or refs/tags/, because there is a loose ref below
 * them.
 */
static void test_cached(void **state)
{
	const struct refs_cached *cached = NULL;
	struct refs *refs;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	tmprepo_write(&t, "packed-refs",
		      HEADER "1111111111111111111111111111111111111111 "
			     "refs/heads/main\n");
	tmprepo_write(&t, "refs/tags/v1",
		      "1111111111111111111111111111111111111111\n");
	t.repo.refs_cache = refs_cache_new(NULL);
	assert_int_equal(refs_open(&refs, &t.repo, NULL), 0);
	assert_int_equal(refs_get_cached(&cached, refs, "refs/heads/", NULL),
			 1);
	assert_non_null(cached);
	assert_int_equal(refs_get_cached(&cached, refs, "refs/", NULL), 0);
	assert_int_equal(refs_get_cached(&cached, refs, "refs/tags/", NULL), 0);
	refs_close(refs);
	refs_cache_free(t.repo.refs_cache);
	tmprepo_release(&t);
}

/* The list of loose refs does not change until refs_refresh() is called. */
static void test_refresh(void **state)
{
	struct tmprepo t;
	struct refs *refs;
	struct ref ref;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	tmprepo_write(&t, "refs/heads/main",
		      "1111111111111111111111111111111111111111\n");
	assert_int_equal(refs_open(&refs, &t.repo, NULL), 0);
	assert_int_equal(refs_list_now(refs, NULL), 0);
	tmprepo_write(&t, "refs/heads/main",
		      "2222222222222222222222222222222222222222\n");
	assert_int_equal(refs_lookup(refs, "refs/heads/main", &ref, NULL), 1);
	assert_int_equal(ref.oid.bytes[0], 0x11);
	refs_refresh(refs);
	assert_int_equal(refs_lookup(refs, "refs/heads/main", &ref, NULL), 1);
	assert_int_equal(ref.oid.bytes[0], 0x22);
	refs_close(refs);
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_except),
		cmocka_unit_test(test_packed_table),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_may_peel),
		cmocka_unit_test(test_whole_name),
		cmocka_unit_test(test_cached),
		cmocka_unit_test(test_refresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
