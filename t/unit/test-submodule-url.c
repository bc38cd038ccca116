/* SPDX-License-Identifier: MIT */
/*
 * Tests of odb/submodule-url.[ch]: submodule URLs, paths and names of
 * .gitmodules are accepted or refused as in stock Git.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "odb/fsck-blob.h"

static void test_good(void **state)
{
	static const char *const urls[] = {
		"https://example.com/x",
		"./-x",
		"ssh://x%0a/",
		"file:///x%0a",
		"https::https://a",
		"./:foo",
		"a/../:foo",
		"x%0ay",
		"././:::",
		"../../x",
		"ext::foo",
		"https:",
		"https://[::1]/x",
		"../a:b",
		"foo:bar",
		"../../..",
		"git@h:x",
		"foo::http://x%0a",
		"http:/x",
		"../.:foo",
		".//:x",
		"http://a/ b",
		"http://a_b/",
		"http://a:/",
		"http://a:080/",
		"http://a:65535/",
		"http://a/x/./..",
		"http://a?x",
		"http://a#x",
		"http://[a/",
		"HTTP://a%0a/",
		"http://a:80:80/",
		"http://[1]:8/",
		"http://[1]8/",
		"http://[]/",
		"ftp::ftp://a:",
		"./%2e%2e/:x",
		"..",
		"../",
		"../x/../../:y",
		"http::a://b",
		"http::file://",
		"git::git://a%0a",
		"git://a%zz",
		"http://a/%00b",
		"http://:@a/",
		"http://u:@a/",
		"http://a/b/.",
		"..\\-x",
		".\\:x",
		"",
	};

	for (size_t i = 0; i < ARRAY_NR(urls); i++)
		if (!submodule_url_is_good(urls[i]))
			fail_msg("'%s' is refused", urls[i]);
}

static void test_bad(void **state)
{
	static const char *const urls[] = {
		"-x",
		"-",
		"http://",
		"http:///x",
		"https://a%0ab/x",
		"../x%0ay",
		"./x%0a",
		"git://a%0a",
		"git://h/a%0a",
		"http::http://a%0ab",
		"http::-x",
		"../../../../:foo",
		"../:foo",
		"ftps:///x",
		"https://user%0a@h/",
		"https://:x",
		"http://a:99999999/",
		"./../..//x",
		"http::./x",
		"http::",
		"http://a b/",
		"../../../://foo",
		"https://h/%0",
		"https://h/%zz",
		"https://@/x",
		"https://user:p@/x",
		"..///h",
		"..//a:b/c",
		"../a\nb",
		"https://a\nb/x",
		"http://a*b/",
		"http://a:0/",
		"http://a:65536/",
		"http://a/..",
		"http://a/x/../../y",
		"http://a/?%zz",
		"http://u%zz@a/",
		"http://u@v@a/",
		"http://a%41/",
		"http://a:x/",
		"http://a\\b/",
		"http::1a://b",
		"http::file:x",
		"http::a://",
		".././:x",
		".././/x",
		"http::git://a%0a",
		"../%00%0a",
		"http://a/.%2e/../",
		"http://a/%2e%2e/",
		"..\\:x",
		"..\\..\\:x",
		".\\%0a",
	};

	for (size_t i = 0; i < ARRAY_NR(urls); i++)
		if (submodule_url_is_good(urls[i]))
			fail_msg("'%s' is let through", urls[i]);
}

static void test_names(void **state)
{
	static const char *const good[] = {"a", "a..b", "/a", "...", "a/...b"};
	static const char *const bad[] = {"",         "..",   "a/../b",
					  "a\\..\\b", "../a", "a/.."};

	for (size_t i = 0; i < ARRAY_NR(good); i++)
		assert_true(
			submodule_url_name_is_good(good[i], strlen(good[i])));
	for (size_t i = 0; i < ARRAY_NR(bad); i++)
		assert_false(
			submodule_url_name_is_good(bad[i], strlen(bad[i])));
	assert_true(submodule_url_is_option("-u"));
	assert_false(submodule_url_is_option("u-"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
