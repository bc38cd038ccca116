/* SPDX-License-Identifier: MIT */
/*
 * Tests of http/http-url.c, which parses the URL of a request. They prove that
 * a path cannot leave the base directory, and that services and parameters are
 * found.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "http/http-request.h"

#define DIGITS38 "0123456789abcdef0123456789abcdef012345"
#define DIGITS40 DIGITS38 "67"
#define DIGITS24 "0123456789abcdef01234567"
#define NOTHING (-1)

static void test_plain(void **state)
{
	static const char *const plain[] = {
		"/",      "/a",        "/a/",     "/a.git/HEAD", "/..a/b",
		"/a../b", "/.../HEAD", "/.git/x", "/%2e%2e/x",   "/a\\..\\b",
	};
	static const char *const others[] = {
		"",     "a",       "a/b",   "//",     "//a",   "/a//b",
		"/a//", "/..",     "/../a", "/a/..",  "/a/./", "/.",
		"/./a", "/a/../b", "..",    "/a/b/.",
	};

	for (size_t i = 0; i < ARRAY_NR(plain); i++)
		assert_true(http_path_is_plain(plain[i]));
	for (size_t i = 0; i < ARRAY_NR(others); i++)
		assert_false(http_path_is_plain(others[i]));
}

static void test_climbs(void **state)
{
	static const char *const climbing[] = {"..", "/..", "/a/../b", "../a",
					       "/a/.."};
	static const char *const others[] = {"",     "/",    "/a//b",
					     "/./a", "/...", "/a../..b"};

	for (size_t i = 0; i < ARRAY_NR(climbing); i++)
		assert_true(http_path_climbs(climbing[i]));
	for (size_t i = 0; i < ARRAY_NR(others); i++)
		assert_false(http_path_climbs(others[i]));
}

static void test_routes(void **state)
{
	static const struct {
		const char *name;
		int route;
	} cases[] = {
		{"HEAD", HTTP_HEAD},
		{"info/refs", HTTP_INFO_REFS},
		{"objects/info/alternates", HTTP_ALTERNATES},
		{"objects/info/http-alternates", HTTP_ALTERNATES},
		{"objects/info/packs", HTTP_INFO_PACKS},
		{"objects/ab/" DIGITS38, HTTP_LOOSE},
		{"objects/ab/" DIGITS38 DIGITS24, HTTP_LOOSE},
		{"objects/pack/pack-" DIGITS40 ".pack", HTTP_PACK},
		{"objects/pack/pack-" DIGITS40 DIGITS24 ".pack", HTTP_PACK},
		{"objects/pack/pack-" DIGITS40 ".idx", HTTP_IDX},
		{"objects/pack/pack-" DIGITS40 DIGITS24 ".idx", HTTP_IDX},
		{"objects/pack/loose-" DIGITS40 ".pack", HTTP_PACK},
		{"objects/pack/foo.idx", HTTP_IDX},
		{"git-upload-pack", HTTP_UPLOAD_PACK},
		{"git-receive-pack", HTTP_RECEIVE_PACK},
		{"git-upload-archive", HTTP_UPLOAD_ARCHIVE},
		{"config", NOTHING},
		{"HEAD/", NOTHING},
		{"xHEAD", NOTHING},
		{"objects/AB/" DIGITS38, NOTHING},
		{"objects/ab/" DIGITS38 "0", NOTHING},
		{"objects/ab/" DIGITS24, NOTHING},
		{"objects/" DIGITS40, NOTHING},
		{"objects/pack/.pack", NOTHING},
		{"objects/pack/.tmp-1-pack-" DIGITS40 ".pack", NOTHING},
		{"objects/pack/multi-pack-index-" DIGITS40 ".idx", NOTHING},
		{"objects/pack/x/foo.pack", NOTHING},
		{"objects/packs/foo.pack", NOTHING},
		{"pack/foo.pack", NOTHING},
		{"objects/pack/pack-" DIGITS40 ".bitmap", NOTHING},
		{"objects/pack/pack-" DIGITS40 ".packx", NOTHING},
		{"objects/info/commit-graph", NOTHING},
		{"", NOTHING},
	};
	static const char *const repos[] = {"", "/r.git", "/srv/HEAD",
					    "/a/info/refs"};

	for (size_t i = 0; i < ARRAY_NR(cases); i++)
		for (size_t j = 0; j < ARRAY_NR(repos); j++) {
			struct http_url url;
			char path[256] = "";
			bool ok;

			strcat(strcat(strcat(path, repos[j]), "/"),
			       cases[i].name);
			ok = http_url_parse(&url, path);
			assert_int_equal(ok, cases[i].route != NOTHING);
			if (!ok)
				continue;
			assert_int_equal(url.route, cases[i].route);
			assert_int_equal(url.repo_len, strlen(repos[j]));
			assert_string_equal(url.name, cases[i].name);
			assert_true(http_url_verify(&url, path));
		}
}

static void test_no_slash(void **state)
{
	struct http_url url;

	assert_false(http_url_parse(&url, ""));
	assert_false(http_url_parse(&url, "HEAD"));
	assert_false(http_url_parse(&url, "info/refs"));
}

static void test_query(void **state)
{
	static const struct {
		const char *query, *value; /* NULL: no value */
	} cases[] = {
		{NULL, NULL},
		{"", NULL},
		{"service=git-upload-pack", "git-upload-pack"},
		{"a=b&service=x", "x"},
		{"service=x&service=y", "y"},
		{"service=x&", "x"},
		{"service=x&&service=y", "x"},
		{"&service=x", NULL},
		{"service", ""},
		{"service=", ""},
		{"service&a", ""},
		{"Service=x", NULL},
		{"services=x", NULL},
		{"?service=x", NULL},
		{"ser%76ice=git%2dupload%2Dpack", "git-upload-pack"},
		{"service=a+b%20c%2b", "a b c+"},
		{"service=%00%0", "%00%0"},
		{"service=%", "%"},
		{"service=%zz%4", "%zz%4"},
		{"service=a=b", "a=b"},
		{"service=a%26b%3d", "a&b="},
		{"service=a;service=b", "a;service=b"},
	};

	for (size_t i = 0; i < ARRAY_NR(cases); i++) {
		struct buf out = BUF_INIT;
		int ret = http_query_get(&out, cases[i].query, "service");

		assert_int_equal(ret, cases[i].value != NULL);
		assert_string_equal(out.data,
				    cases[i].value ? cases[i].value : "");
		buf_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),  cmocka_unit_test(test_climbs),
		cmocka_unit_test(test_routes), cmocka_unit_test(test_no_slash),
		cmocka_unit_test(test_query),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
