/* SPDX-License-Identifier: MIT */
/* repo/hook.c: where hooks are looked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <sys/stat.h>
#include "repo/hook.h"
#include "t/unit/tmprepo.h"

static void make(struct tmprepo *t, const char *name, unsigned mode)
{
	char *path = repo_common_path(&t->repo, name);

	tmprepo_write(t, name, "#!/bin/sh\n");
	assert_int_equal(chmod(path, mode), 0);
	free(path);
}

static bool finds(struct tmprepo *t, const char *name, const char *end)
{
	char *path;
	int ret = repo_hook_find(&path, &t->repo, name, NULL);

	if (ret > 0)
		assert_string_equal(path + strlen(path) - strlen(end), end);
	else
		assert_null(path);
	free(path);
	return ret > 0;
}

static void test_find(void **state)
{
	struct buf config = BUF_INIT;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	make(&t, "hooks/update", 0755);
	make(&t, "hooks/post-update", 0644);
	make(&t, "mine/post-update", 0755);
	assert_true(finds(&t, "update", "/hooks/update"));
	assert_false(finds(&t, "post-update", ""));
	assert_false(finds(&t, "pre-receive", ""));
	buf_printf(&config, "[core]\nhooksPath = %s/mine\n", t.dir);
	assert_int_equal(config_parse(&t.repo.config, config.data, config.len,
				      CONFIG_LOCAL, NULL, NULL, NULL),
			 0);
	buf_release(&config);
	assert_false(finds(&t, "update", ""));
	assert_true(finds(&t, "post-update", "/mine/post-update"));
	config_release(&t.repo.config);
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
