/* SPDX-License-Identifier: MIT */
/*
 * Tests of repo/hook.c: where hooks are searched, and which hooks run for an
 * event.
 */
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

static int note(void *ctx, const char *const *argv, struct error *err)
{
	struct buf *told = ctx;

	for (; *argv; argv++)
		buf_printf(told, "%s%s", *argv, argv[1] ? "," : "|");
	/*
	 * Return a different exit code for each hook: the length of *told,
	 * which grows with each hook.
	 */
	return (int)told->len;
}

/*
 * Runs the hooks of pre-receive with the configuration `text`. Returns the
 * names of the hooks that ran, or "!<message>" after an error.
 */
static const char *run_with(struct buf *told, const char *text)
{
	static const char *const args[] = {"x", "y"};
	struct error err = {0};
	struct tmprepo t;
	int ret;

	buf_reset(told);
	tmprepo_init(&t, HASH_SHA1);
	make(&t, "hooks/pre-receive", 0755);
	assert_int_equal(config_parse(&t.repo.config, text, strlen(text),
				      CONFIG_LOCAL, NULL, NULL, NULL),
			 0);
	ret = repo_hooks_run(&t.repo, "pre-receive", args, 2, note, told, &err);
	if (ret < 0) {
		assert_int_equal(ret, ERR_INVALID);
		assert_int_equal(repo_hooks_has(&t.repo, "pre-receive", NULL),
				 ret);
		buf_printf(told, "!%s", err.msg);
	} else {
		assert_int_equal(ret, told->len);
		assert_int_equal(repo_hooks_has(&t.repo, "pre-receive", NULL),
				 1);
	}
	/*
	 * The hook in the hooks directory runs last. Its path is different in
	 * each run of the test, so it is shortened.
	 */
	if (ret > 0) {
		char *path = strstr(told->data, t.dir);

		assert_non_null(path);
		assert_string_equal(path + strlen(t.dir),
				    "/hooks/pre-receive,x,y|");
		*path = '\0';
	}
	config_release(&t.repo.config);
	tmprepo_release(&t);
	return told->data;
}

#define RUN(c) "sh,-c," c " \"$@\"," c ",x,y|"

static void test_configured(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{"", ""},
		{"[hook \"a\"]\nevent = pre-receive\ncommand = one\n",
		 RUN("one")},
		/*
		 * Hooks run in the order in which the configuration first names
		 * them for the event. If a hook has several commands, the last
		 * one is used.
		 */
		{"[hook \"a.b\"]\nevent = update\nevent = pre-receive\n"
		 "command = one\n"
		 "[hook \"c\"]\nevent = pre-receive\ncommand = two\n"
		 "[hook \"a.b\"]\nevent = pre-receive\ncommand = three\n",
		 RUN("three") RUN("two")},
		{"[hook \"a\"]\nevent = pre-receive\nevent =\n"
		 "command = one\n",
		 ""},
		{"[hook \"a\"]\nevent = pre-receive\nenabled = no\n"
		 "[hook \"b\"]\nevent = pre-receive\nenabled = perhaps\n"
		 "command = two\n",
		 RUN("two")},
		{"[hook \"a\"]\nevent = pre-receive\ncommand = one\n"
		 "[hook \"pre-receive\"]\nenabled = false\n",
		 ""},
		{"[hook]\njobs = 2\nevent = pre-receive\n"
		 "[hook \"pre-receive\"]\njobs = 2\n"
		 "[hook \"a\"]\nevents = pre-receive\n",
		 ""},
		{"[hook \"a\"]\nevent = post-receive\n",
		 "!'hook.a.command' must be configured or 'hook.a.event' must "
		 "be removed; aborting."},
		{"[hook \"a\"]\nevent = pre-receive\ncommand =\n",
		 "!'hook.a.command' is empty"},
		{"[hook \"update\"]\nevent = post-update\n",
		 "!hook friendly-name 'update' collides with a known event "
		 "name"},
	};
	struct buf told = BUF_INIT;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_string_equal(run_with(&told, cases[i].text),
				    cases[i].want);
	buf_release(&told);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_configured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
