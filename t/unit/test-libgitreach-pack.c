/* SPDX-License-Identifier: MIT */
/*
 * Tests of libgitreach/pack.c, public functions that write packs. The packs are
 * checked object by object.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/apirepo.h"
#include "t/unit/sentpack.h"

static int take(void *ctx, const void *bytes, size_t len)
{
	return buf_append(ctx, bytes, len);
}

static struct gitreach_pack_options some_options(struct apirepo *a)
{
	return (struct gitreach_pack_options){
		.size = sizeof(struct gitreach_pack_options),
		.flags = randrepo_below(&a->r, 8),
		.threads = randrepo_below(&a->r, 3),
	};
}

/*
 * Checks that a pack has all wanted objects, except excluded ones, and no
 * object that is not wanted. If `is_exact` is true, the pack must have no
 * excluded objects. Otherwise it may have some.
 */
static void check(struct apirepo *a, const struct sentpack *s, bool is_exact)
{
	for (uint32_t i = 0; i < a->r.nr; i++) {
		bool expect = a->want[i] && !a->have[i];

		assert_true(s->sent[i] || !expect);
		assert_true(a->want[i] || !s->sent[i]);
		if (is_exact)
			assert_int_equal(s->sent[i], expect);
	}
}

static void of_queries(void **state)
{
	uint64_t seed = random_seed();
	struct apirepo a;

	for (int i = 0; i < 2; i++) {
		int bitmaps = 0;

		apirepo_make(&a, i ? HASH_SHA256 : HASH_SHA1, 60, &seed);
		apirepo_open(&a, 0);
		for (int k = 0; k < 60; k++) {
			struct gitreach_pack_options o = some_options(&a);
			struct gitreach_pack_report report = {
				.size = sizeof(report)};
			gitreach_query *q = apirepo_query(&a, k % 2);
			struct sentpack s;

			apirepo_draw(&a, q);
			sentpack_init(&s, &a.r);
			APIREPO_OK(&a, gitreach_query_write_pack(
					       q, &o, take, &s.bytes, &report,
					       a.err));
			sentpack_decode(&s, o.flags & GITREACH_PACK_THIN
						    ? a.have
						    : NULL);
			check(&a, &s, false);
			/*
			 * Queries with an odd k must not use the bitmap index.
			 * The others may use it, or may walk, for example if
			 * the haves reach all objects.
			 */
			assert_true(k % 2 == 0 || !report.used_bitmap);
			bitmaps += report.used_bitmap;
			assert_int_equal(report.objects, s.nr);
			assert_int_equal(report.bytes, s.bytes.len);
			if (!(o.flags & GITREACH_PACK_OFS_DELTA))
				assert_int_equal(s.ofs, 0);
			sentpack_release(&s);
			gitreach_query_free(q);
		}
		assert_true(bitmaps > 0);
		apirepo_release(&a);
	}
}

static void of_sets(void **state)
{
	uint64_t seed = random_seed();
	struct apirepo a;

	apirepo_make(&a, HASH_SHA1, 60, &seed);
	apirepo_open(&a, 0);
	for (int k = 0; k < 60; k++) {
		struct gitreach_pack_options o = some_options(&a);
		struct gitreach_pack_report report = {.size = sizeof(report)};
		gitreach_query *q = apirepo_query(&a, k % 2);
		gitreach_set *set;
		struct sentpack s;

		o.flags &= ~(uint32_t)GITREACH_PACK_THIN;
		apirepo_draw(&a, q);
		set = apirepo_run(&a, q);
		sentpack_init(&s, &a.r);
		APIREPO_OK(&a, gitreach_set_write_pack(set, &o, take, &s.bytes,
						       &report, a.err));
		sentpack_decode(&s, NULL);
		check(&a, &s, true);
		assert_int_equal(report.objects, s.nr);
		assert_int_equal(s.external, 0);
		o.flags |= GITREACH_PACK_THIN;
		APIREPO_FAILS(&a, GITREACH_INVALID,
			      gitreach_set_write_pack(set, &o, take, &s.bytes,
						      NULL, a.err));
		sentpack_release(&s);
		gitreach_set_free(set);
		gitreach_query_free(q);
	}
	apirepo_release(&a);
}

struct limited {
	size_t left;
};

static int take_some(void *ctx, const void *bytes, size_t len)
{
	struct limited *l = ctx;

	if (len > l->left)
		return 1;
	l->left -= len;
	return 0;
}

static int refuse(void *ctx, const struct gitreach_progress *progress)
{
	return 1;
}

static void endings(void **state)
{
	uint64_t seed = random_seed();
	struct gitreach_pack_options o = {.size = sizeof(o)};
	struct {
		struct gitreach_pack_options known;
		uint64_t later;
	} newer = {.known = {.size = sizeof(newer)}};
	struct limited limited = {.left = 100};
	struct buf bytes = BUF_INIT;
	gitreach_query *q;
	struct apirepo a;

	apirepo_make(&a, HASH_SHA1, 40, &seed);
	apirepo_open(&a, 0);
	q = apirepo_query(&a, GITREACH_AUTO);
	APIREPO_OK(&a, gitreach_query_want_refs(q, "", a.err));
	APIREPO_FAILS(&a, GITREACH_CANCELLED,
		      gitreach_query_write_pack(q, NULL, take_some, &limited,
						NULL, a.err));
	o.progress = refuse;
	APIREPO_FAILS(
		&a, GITREACH_CANCELLED,
		gitreach_query_write_pack(q, &o, take, &bytes, NULL, a.err));
	o.progress = NULL;
	o.flags = 1u << 20;
	APIREPO_FAILS(
		&a, GITREACH_UNSUPPORTED,
		gitreach_query_write_pack(q, &o, take, &bytes, NULL, a.err));
	/*
	 * A newer program may have a longer struct. Members that this version
	 * of the library does not know must then be 0.
	 */
	buf_reset(&bytes);
	APIREPO_OK(&a, gitreach_query_write_pack(q, &newer.known, take, &bytes,
						 NULL, a.err));
	newer.later = 1;
	APIREPO_FAILS(&a, GITREACH_UNSUPPORTED,
		      gitreach_query_write_pack(q, &newer.known, take, &bytes,
						NULL, a.err));
	APIREPO_OK(&a, gitreach_query_set(q, GITREACH_OBJECTS, 0, a.err));
	APIREPO_FAILS(
		&a, GITREACH_UNSUPPORTED,
		gitreach_query_write_pack(q, NULL, take, &bytes, NULL, a.err));
	buf_release(&bytes);
	gitreach_query_free(q);
	apirepo_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_queries),
		cmocka_unit_test(of_sets),
		cmocka_unit_test(endings),
	};

	return cmocka_run_group_tests_name("libgitreach-pack", tests, NULL,
					   NULL);
}
