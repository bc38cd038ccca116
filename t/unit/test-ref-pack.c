/* SPDX-License-Identifier: MIT */
/*
 * Tests of refs-write/ref-pack.h, which decides when loose refs are packed
 * automatically: the limits are those of Git 2.55. t/t3210-pack-refs.sh
 * compares packing with stock Git.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "refs-write/ref-pack.h"
#include "t/unit/tmprepo.h"

/*
 * Cases: a size of packed-refs, and the number of loose refs at which Git 2.55
 * begins to pack loose refs.
 */
static void test_limit(void **state)
{
	static const struct {
		uint64_t size;
		size_t limit;
	} measured[] = {
		{0, 16}, {46, 16}, {5538, 25}, {55939, 45}, {568940, 60},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_NR(measured); i++)
		assert_int_equal(ref_pack_limit(measured[i].size),
				 measured[i].limit);
}

static bool is_no_tag(void *ctx, const char *name)
{
	(void)ctx;
	return strncmp(name, "refs/tags/", 10) != 0;
}

/*
 * Loose refs are packed automatically if there are many of them. Some loose
 * refs are not counted: those that options.wants() rejects, symbolic refs, and
 * refs of a single work tree.
 */
static void test_due(void **state)
{
	const struct ref_pack_options options = {.wants = is_no_tag};
	static const char id[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n";
	struct tmprepo t;
	char name[32];

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	assert_int_equal(ref_pack_is_due(&t.repo, &options, NULL), 0);
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "refs/tags/%d", i);
		tmprepo_write(&t, name, id);
		snprintf(name, sizeof(name), "refs/bisect/%d", i);
		tmprepo_write(&t, name, id);
		snprintf(name, sizeof(name), "refs/s/%d", i);
		tmprepo_write(&t, name, "ref: refs/tags/1\n");
	}
	for (int i = 0; i < 16; i++) {
		assert_int_equal(ref_pack_is_due(&t.repo, &options, NULL), 0);
		snprintf(name, sizeof(name), "refs/heads/%d", i);
		tmprepo_write(&t, name, id);
	}
	assert_int_equal(ref_pack_is_due(&t.repo, &options, NULL), 1);
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_due),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
