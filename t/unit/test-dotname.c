/* SPDX-License-Identifier: MIT */
/*
 * Tests of object/dotname.c, which detects names of special files such as
 * .gitmodules. They prove that it also finds the names that HFS+ and NTFS treat
 * as equal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "object/fsck-parts.h"

#define ZWNJ "\xe2\x80\x8c"

static void check(const char *const *names, size_t nr, unsigned found)
{
	for (size_t i = 0; i < nr; i++)
		if (dotname_find(names[i], strlen(names[i])) != found)
			fail_msg("'%s' is %x, not %x", names[i],
				 dotname_find(names[i], strlen(names[i])),
				 found);
}

static void test_git(void **state)
{
	static const char *const yes[] = {
		".git",
		".GIT",
		"git~1",
		"GIT~1",
		".git ",
		".git.",
		".git . .",
		".git:foo",
		".git\\a",
		"a\\.git",
		"git~1\\",
		"x\\git~1",
		".g" ZWNJ "it",
		ZWNJ ".git",
		".git\xef\xbb\xbf",
		".git/x",
		"\\.git",
		".git. :",
		"a\\.git:x",
		".git::$INDEX_ALLOCATION",
	};
	static const char *const no[] = {
		"..git",
		".git~1",
		"git~2",
		"a:.git",
		"git~10",
		".git" ZWNJ ".",
		" .git",
		".git\t",
		"GIT~01",
		".git  . x",
		"git",
		".gi",
		"g\xc4\xb1t",
		".gi" ZWNJ "t\\x",
		"git" ZWNJ "~1",
		"a",
		"README",
		"m",
		".",
	};

	check(yes, ARRAY_NR(yes), DOTNAME_GIT);
	check(no, ARRAY_NR(no), 0);
}

static void test_gitmodules(void **state)
{
	static const char *const yes[] = {
		".gitmodules",
		".GITMODULES",
		"gitmod~1",
		"GITMOD~4",
		"gi7eba~1",
		"GI7EBA~9",
		"gi7eb~12",
		"gi7e~123",
		".gitmodules.",
		"a\\gitmod~1",
		".gitmodules:x",
		"gitmod~1 ",
		"gi7eba~1:x",
		"x\\.gitmodules",
		".gitm\xe2\x80\xaaodules",
		".gitm\xe2\x81\xafodules",
	};
	static const char *const no[] = {
		"gitmod~5",
		"gitmod~10",
		"gi7ebb~1",
		"gi7eba~0",
		"GI7EBA~12",
		".gitmodules\\x",
		"~1",
		"gitmod~0",
		"a/.gitmodules",
		"gitmodul",
		"g~1234567",
		".gitm\xe2\x81\xa0odules",
		"gitmod" ZWNJ "~1",
	};

	check(yes, ARRAY_NR(yes), DOTNAME_GITMODULES);
	check(no, ARRAY_NR(no), 0);
}

static void test_others(void **state)
{
	static const char *const attributes[] = {".gitattributes", "gitatt~1",
						 "gi7d29~1"};
	static const char *const ignore[] = {".gitignore", "gitign~1",
					     "gi250a~1"};
	static const char *const mailmap[] = {".mailmap ", "mailma~1",
					      "MABA30~2"};
	static const char *const three[] = {"g~123456", "gi~12345"};

	check(attributes, ARRAY_NR(attributes), DOTNAME_GITATTRIBUTES);
	check(ignore, ARRAY_NR(ignore), DOTNAME_GITIGNORE);
	check(mailmap, ARRAY_NR(mailmap), DOTNAME_MAILMAP);
	check(three, ARRAY_NR(three),
	      DOTNAME_GITMODULES | DOTNAME_GITATTRIBUTES | DOTNAME_GITIGNORE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_git),
		cmocka_unit_test(test_gitmodules),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
