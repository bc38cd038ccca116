/* SPDX-License-Identifier: MIT */
/*
 * Tests of receive/receive-env.c: hooks get the right environment variables for
 * each part of a push.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "receive/receive-hooks.h"
#include "t/unit/pushed.h"

static const char *find(const struct receive_environment *env, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; env->strings[i]; i++)
		if (!strncmp(env->strings[i], name, len) &&
		    env->strings[i][len] == '=')
			return env->strings[i] + len + 1;
	return NULL;
}

static void test_flags(void **state)
{
	struct receive_environment env;
	struct receive r;
	struct pushed p;
	struct serve_io io;
	char odd[] = "/a:b", *option = mem_strdup("a=b"), *real;

	pushed_init(&p);
	io = dialog_io(&p.d);
	pushed_session(&p, &r, &io);
	assert_int_equal(quarantine_create(&r.quarantine, r.repo, NULL), 0);
	r.request.options = mem_calloc(1, sizeof(char *));
	r.request.options[0] = option;
	r.request.option_nr = 1;
	r.config.push_options = true;
	assert_int_equal(receive_environment_init(&env, &r, 0, NULL, NULL), 0);
	assert_string_equal(find(&env, "GIT_DIR"), ".");
	assert_null(find(&env, "GIT_QUARANTINE_PATH"));
	assert_null(find(&env, "GIT_PUSH_OPTION_COUNT"));
	assert_non_null(find(&env, "PATH"));
	receive_environment_release(&env);
	assert_int_equal(receive_environment_init(&env, &r,
						  RECEIVE_ENV_QUARANTINE |
							  RECEIVE_ENV_OPTIONS,
						  NULL, NULL),
			 0);
	assert_string_equal(find(&env, "GIT_QUARANTINE_PATH"),
			    r.quarantine.dir.path);
	assert_string_equal(find(&env, "GIT_OBJECT_DIRECTORY"),
			    r.quarantine.dir.path);
	assert_string_equal(find(&env, "GIT_PUSH_OPTION_COUNT"), "1");
	assert_string_equal(find(&env, "GIT_PUSH_OPTION_0"), "a=b");
	receive_environment_release(&env);
	/*
	 * In the variable for alternates, a path with special characters is
	 * quoted.
	 */
	real = r.quarantine.dir.path;
	r.quarantine.dir.path = odd;
	assert_int_equal(receive_environment_init(
				 &env, &r, RECEIVE_ENV_ALTERNATE, NULL, NULL),
			 0);
	assert_string_equal(find(&env, "GIT_ALTERNATE_OBJECT_DIRECTORIES"),
			    "\"/a:b\"");
	assert_null(find(&env, "GIT_OBJECT_DIRECTORY"));
	receive_environment_release(&env);
	r.quarantine.dir.path = real;
	receive_release(&r);
	pushed_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
