/* SPDX-License-Identifier: MIT */
/* libgitreach/error.c: versions, errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "include/gitreach.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_are_the_header_s),
		cmocka_unit_test(errors_say_what_happened),
		cmocka_unit_test(nobody_has_to_want_errors),
	};

	return cmocka_run_group_tests_name("libgitreach-error", tests, NULL,
					   NULL);
}
