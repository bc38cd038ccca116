/* SPDX-License-Identifier: MIT */
/*
 * Tests of check/fsck-scan.c, which checks all objects of a repository. They
 * prove that every object is read once, and that errors are reported.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "check/fsck-objects.h"
#include "t/unit/random.h"
#include "t/unit/walkrepo.h"

struct heard {
	size_t reports, corrupt, objects;
	struct oid last_corrupt;
};

static int on_report(void *ctx, const struct fsck_report *report,
		     struct error *err)
{
	((struct heard *)ctx)->reports++;
	return 0;
}

static int on_corrupt(void *ctx, const struct oid *oid, const struct pack *pack,
		      const char *path, const struct error *why,
		      struct error *err)
{
	struct heard *h = ctx;

	assert_true(!pack != !path);
	assert_int_not_equal(why->code, 0);
	h->corrupt++;
	h->last_corrupt = *oid;
	return 0;
}

static int on_object(void *ctx, const struct oid *oid, enum object_type type,
		     const void *data, size_t len, struct error *err)
{
	((struct heard *)ctx)->objects++;
	return 0;
}

/* Scans all objects. The caller releases *scan. */
static void scan(struct fsck_scan *scan, struct walkrepo *f,
		 struct fsck_rules *rules, struct heard *h, unsigned threads,
		 bool list)
{
	static struct fsck_scan_events events = {
		on_report,
		on_corrupt,
		on_object,
		NULL,
	};
	struct error err = ERROR_INIT;

	memset(h, 0, sizeof(*h));
	events.ctx = h;
	fsck_rules_init(rules, f->odb->algo, false);
	fsck_scan_init(scan);
	scan->space = &f->w.space;
	scan->rules = rules;
	scan->events = &events;
	scan->threads = threads;
	if ((list ? fsck_scan_list : fsck_scan_run)(scan, &err) < 0)
		fail_msg("%s", err.msg);
}

static void check_types(struct walkrepo *f, const struct fsck_scan *s)
{
	for (uint32_t i = 0; i < f->h.r.nr; i++)
		assert_int_equal(fsck_scan_type(s, walkrepo_pos(f, i)),
				 f->h.r.objects[i].type);
}

static void test_whole(void **state)
{
	uint64_t seed = random_seed();

	for (int i = 0; i < 6; i++) {
		enum hash_algo algo = i & 1 ? HASH_SHA256 : HASH_SHA1;
		struct fsck_rules rules;
		struct fsck_scan s;
		struct walkrepo f;
		struct heard h;

		walkrepo_init(&f, algo, &seed, 60, 10);
		scan(&s, &f, &rules, &h, 1 + (unsigned)i % 3, false);
		assert_int_equal(h.corrupt, 0);
		assert_int_equal(h.reports, 0);
		assert_false(s.has_errors);
		assert_true(h.objects >= f.h.r.nr);
		check_types(&f, &s);
		fsck_scan_release(&s);
		fsck_rules_release(&rules);
		scan(&s, &f, &rules, &h, 1, true);
		assert_int_equal(h.objects, 0);
		check_types(&f, &s);
		fsck_scan_release(&s);
		fsck_rules_release(&rules);
		walkrepo_release(&f);
	}
}

/*
 * One loose file is no object. The scan reports it, and checks all other
 * objects.
 */
static void test_corrupt(void **state)
{
	uint64_t seed = random_seed();
	struct fsck_rules rules;
	struct fsck_scan s;
	struct walkrepo f;
	struct heard h;

	walkrepo_init(&f, HASH_SHA1, &seed, 20, 5);
	tmprepo_write(&f.h.r.t,
		      "objects/11/"
		      "11111111111111111111111111111111111111",
		      "no object");
	scan(&s, &f, &rules, &h, 2, false);
	assert_int_equal(h.corrupt, 1);
	assert_int_equal(h.last_corrupt.bytes[7], 0x11);
	check_types(&f, &s);
	fsck_scan_release(&s);
	fsck_rules_release(&rules);
	walkrepo_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_corrupt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
