/* SPDX-License-Identifier: MIT */
/*
 * Tests of walk/filter.c, the object filters. They prove that filter
 * specifications are parsed, combined and printed, and that their size and
 * depth are limited.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "walk/filter.h"

static void specifications(void **state)
{
	static const struct {
		const char *spec, *printed;
		uint64_t blob_limit, depth;
		bool trees, blobs, paths;
	} cases[] = {
		{"blob:none", "blob:none", 0, UINT64_MAX, true, false, false},
		{"blob:limit=1k", "blob:limit=1024", 1024, UINT64_MAX, true,
		 true, false},
		{"blob:limit=0x10G", "blob:limit=17179869184",
		 UINT64_C(16) << 30, UINT64_MAX, true, true, false},
		{"blob:limit=0", "blob:limit=0", 0, UINT64_MAX, true, false,
		 false},
		{"tree:0", "tree:0", UINT64_MAX, 0, false, false, false},
		{"tree:3", "tree:3", UINT64_MAX, 3, true, true, true},
		{"object:type=tag", "object:type=tag", UINT64_MAX, UINT64_MAX,
		 false, false, false},
		{"sparse:oid=main:a b", "sparse:oid=main:a b", UINT64_MAX,
		 UINT64_MAX, true, true, true},
		{"combine:blob:none", "blob:none", 0, UINT64_MAX, true, false,
		 false},
		{"combine:tree:3+blob:none", "combine:tree:3+blob:none", 0, 3,
		 true, false, true},
		{"combine:+tree%3A3++blob%3anone+", "combine:tree:3+blob:none",
		 0, 3, true, false, true},
		{"combine:sparse:oid=main%3aa%20b+tree:1",
		 "combine:sparse:oid=main:a%20b+tree:1", UINT64_MAX, 1, true,
		 true, true},
		{"combine:blob:limit=2+combine:tree:4%2bblob:limit=1",
		 "combine:blob:limit=2+tree:4+blob:limit=1", 1, 4, true, true,
		 true},
		{"combine:object:type=tag+object:type=blob",
		 "combine:object:type=tag+object:type=blob", UINT64_MAX,
		 UINT64_MAX, false, false, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf out = BUF_INIT;
		struct filter f;
		struct error err = ERROR_INIT;

		filter_init(&f);
		assert_true(filter_is_empty(&f));
		if (filter_add(&f, cases[i].spec, &err) < 0)
			fail_msg("%s: %s", cases[i].spec, err.msg);
		assert_int_equal(filter_print(&out, &f), 0);
		assert_string_equal(out.data, cases[i].printed);
		assert_true(f.blob_limit == cases[i].blob_limit);
		assert_true(f.depth == cases[i].depth);
		assert_int_equal(filter_takes_type(&f, OBJ_TREE),
				 cases[i].trees);
		assert_int_equal(filter_takes_type(&f, OBJ_BLOB),
				 cases[i].blobs);
		assert_int_equal(filter_needs_paths(&f), cases[i].paths);
		assert_int_equal(f.is_combined, cases[i].spec[0] == 'c');
		buf_release(&out);
		filter_release(&f);
	}
}

static void errors(void **state)
{
	static const struct {
		const char *spec, *message;
	} cases[] = {
		{"", "invalid filter-spec ''"},
		{"blob:limit=", "invalid filter-spec 'blob:limit='"},
		{"blob:limit=-1", "invalid filter-spec 'blob:limit=-1'"},
		{"blob:limit=1q", "invalid filter-spec 'blob:limit=1q'"},
		{"blob:limit=16777216000000g",
		 "invalid filter-spec 'blob:limit=16777216000000g'"},
		{"tree:", "expected 'tree:<depth>'"},
		{"tree:-1", "expected 'tree:<depth>'"},
		{"object:type=x", "'x' for 'object:type=<type>' is not a valid "
				  "object type"},
		{"sparse:path=x",
		 "sparse:path filters support has been dropped"},
		{"combine:", "expected something after combine:"},
		{"combine:tree:1+x", "invalid filter-spec 'x'"},
		{"combine:tree:2%zz", "expected 'tree:<depth>'"},
		{"combine:tree~1", "must escape char in sub-filter-spec: '~'"},
		{"combine:tree:1%00", "expected 'tree:<depth>'"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error err = ERROR_INIT;
		struct filter f;

		filter_init(&f);
		assert_int_equal(filter_add(&f, cases[i].spec, &err),
				 ERR_INVALID);
		assert_string_equal(err.msg, cases[i].message);
		assert_true(filter_is_empty(&f));
		assert_false(f.is_combined);
		filter_release(&f);
	}
}

/*
 * Limits keep a filter specification of a client from becoming too long or too
 * deeply nested.
 */
static void limits(void **state)
{
	static const char part[] = "+tree:1";
	struct buf spec = BUF_INIT, nested = BUF_INIT;
	struct filter f;

	filter_init(&f);
	buf_append_str(&spec, "combine:tree:1");
	for (int i = 0; i < FILTER_PARTS_MAX; i++)
		buf_append_str(&spec, part);
	assert_int_equal(filter_add(&f, spec.data, NULL), ERR_INVALID);
	assert_int_equal(f.nr, 0);
	for (int i = 0; i < 1000; i++)
		buf_append_str(&nested, "combine:");
	buf_append_str(&nested, "tree:1");
	assert_int_equal(filter_add(&f, nested.data, NULL), ERR_INVALID);
	buf_release(&spec);
	buf_release(&nested);
	filter_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(specifications),
		cmocka_unit_test(errors),
		cmocka_unit_test(limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
