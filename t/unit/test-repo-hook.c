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
#include <errno.h>
#include <signal.h>

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

static void keep(void *ctx, const char *text)
{
	buf_append_str(ctx, text);
}

/*
 * Returns whether the program of a hook is found at a path that ends with
 * `end`. Puts advice into *advice.
 */
static bool finds_with(struct tmprepo *t, const char *name, const char *end,
		       struct buf *advice)
{
	const struct hook_runner runner = {.advise = keep, .ctx = advice};
	char *path;
	int ret = repo_hook_find(&path, &t->repo, name, &runner, NULL);

	if (ret > 0)
		assert_string_equal(path + strlen(path) - strlen(end), end);
	else
		assert_null(path);
	free(path);
	return ret > 0;
}

static bool finds(struct tmprepo *t, const char *name, const char *end)
{
	struct buf advice = BUF_INIT;
	bool found = finds_with(t, name, end, &advice);

	buf_release(&advice);
	return found;
}

static void set_config(struct tmprepo *t, const char *text)
{
	config_release(&t->repo.config);
	assert_int_equal(config_parse(&t->repo.config, text, strlen(text),
				      CONFIG_LOCAL, NULL, NULL, NULL),
			 0);
}

static void test_ignored(void **state)
{
	struct buf advice = BUF_INIT;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	make(&t, "hooks/update", 0644);
	assert_false(finds_with(&t, "update", "", &advice));
	assert_non_null(strstr(advice.data,
			       "/hooks/update' hook was ignored because it's "
			       "not set as executable.\nhint: "));
	buf_reset(&advice);
	set_config(&t, "[advice]\nignoredHook = false\n");
	assert_false(finds_with(&t, "update", "", &advice));
	assert_false(finds_with(&t, "post-update", "", &advice));
	make(&t, "hooks/pre-receive/file", 0644);
	assert_true(finds_with(&t, "pre-receive", "/pre-receive", &advice));
	assert_int_equal(advice.len, 0);
	buf_release(&advice);
	config_release(&t.repo.config);
	tmprepo_release(&t);
}

/* A relative core.hooksPath starts in the directory in which hooks run. */
static void test_find_in_dir(void **state)
{
	struct hook_runner runner = {0};
	struct tmprepo t;
	char *path;

	tmprepo_init(&t, HASH_SHA1);
	make(&t, "mine/update", 0755);
	set_config(&t, "[core]\nhooksPath = mine\n");
	assert_int_equal(
		repo_hook_find(&path, &t.repo, "update", &runner, NULL), 0);
	runner.dir = t.repo.common_dir;
	assert_int_equal(
		repo_hook_find(&path, &t.repo, "update", &runner, NULL), 1);
	assert_string_equal(path, "mine/update");
	free(path);
	config_release(&t.repo.config);
	tmprepo_release(&t);
}

static void test_bad_path(void **state)
{
	struct error err = ERROR_INIT;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	assert_int_equal(repo_hooks_check_path(&t.repo, &err), 0);
	set_config(&t, "[core]\nhooksPath = /x\n");
	assert_int_equal(repo_hooks_check_path(&t.repo, &err), 0);
	set_config(&t, "[core]\nhooksPath\n");
	assert_int_equal(repo_hooks_check_path(&t.repo, &err), ERR_INVALID);
	assert_string_equal(err.msg, "missing value for 'core.hookspath'");
	set_config(&t, "[core]\nhooksPath = ~nosuchuser/x\n");
	assert_int_equal(repo_hooks_check_path(&t.repo, &err), ERR_INVALID);
	assert_string_equal(err.msg,
			    "failed to expand user dir in: '~nosuchuser/x'");
	config_release(&t.repo.config);
	tmprepo_release(&t);
}

static void test_end(void **state)
{
	static const char *const path[] = {"hooks/update", NULL};
	static const char *const word[] = {"check", NULL};
	const struct hook_program file = {path, "hooks/update"};
	const struct hook_program command = {word, "check"};
	struct sys_child child = {.error_nr = ENOENT};
	struct buf text = BUF_INIT;

	assert_int_equal(repo_hook_describe_end(&text, &file, &child), 1);
	assert_int_equal(repo_hook_describe_end(&text, &command, &child), 1);
	child = (struct sys_child){.signal_nr = SIGKILL};
	assert_int_equal(repo_hook_describe_end(&text, &file, &child), 1);
	child.signal_nr = SIGPIPE;
	assert_int_equal(repo_hook_describe_end(&text, &file, &child), 0);
	child.signal_nr = 0;
	assert_int_equal(repo_hook_describe_end(&text, &file, &child), 0);
	assert_string_equal(
		text.data,
		"fatal: cannot exec 'hooks/update': No such file or "
		"directory\n"
		"error: cannot run check: No such file or directory\n"
		"error: hooks/update died of signal 9\n");
	buf_release(&text);
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

static int note(void *ctx, const struct hook_program *program,
		struct error *err)
{
	const char *const *argv = program->argv;
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
	const struct hook_runner runner = {.run = note, .ctx = told};
	struct error err = {0};
	struct tmprepo t;
	int ret;

	buf_reset(told);
	tmprepo_init(&t, HASH_SHA1);
	make(&t, "hooks/pre-receive", 0755);
	assert_int_equal(config_parse(&t.repo.config, text, strlen(text),
				      CONFIG_LOCAL, NULL, NULL, NULL),
			 0);
	ret = repo_hooks_run(&t.repo, "pre-receive", args, 2, &runner, &err);
	if (ret < 0) {
		assert_int_equal(ret, ERR_INVALID);
		assert_int_equal(
			repo_hooks_has(&t.repo, "pre-receive", &runner, NULL),
			ret);
		buf_printf(told, "!%s", err.msg);
	} else {
		assert_int_equal(ret, told->len);
		assert_int_equal(
			repo_hooks_has(&t.repo, "pre-receive", &runner, NULL),
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

/*
 * Expected commands. RUN: a command with a shell metacharacter, which is run by
 * sh. EXEC: any other command, which is run directly.
 */
#define RUN(c) "sh,-c," c " \"$@\"," c ",x,y|"
#define EXEC(c) c ",x,y|"

static void test_configured(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{"", ""},
		{"[hook \"a\"]\nevent = pre-receive\ncommand = one\n",
		 EXEC("one")},
		/*
		 * Hooks run in the order in which the configuration first names
		 * them for the event. If a hook has several commands, the last
		 * one is used.
		 */
		{"[hook \"a.b\"]\nevent = update\nevent = pre-receive\n"
		 "command = one\n"
		 "[hook \"c\"]\nevent = pre-receive\ncommand = two\n"
		 "[hook \"a.b\"]\nevent = pre-receive\ncommand = three\n",
		 EXEC("three") EXEC("two")},
		{"[hook \"a\"]\nevent = pre-receive\nevent =\n"
		 "command = one\n",
		 ""},
		{"[hook \"a\"]\nevent = pre-receive\nenabled = no\n"
		 "[hook \"b\"]\nevent = pre-receive\nenabled = perhaps\n"
		 "command = two\n",
		 EXEC("two")},
		{"[hook \"a\"]\nevent = pre-receive\ncommand = one\n"
		 "enabled = no\nenabled = perhaps\n"
		 "[hook \"b\"]\nevent = pre-receive\ncommand = two\n"
		 "enabled = no\nenabled = yes\nenabled = perhaps\n",
		 EXEC("two")},
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
		{"[hook \"a\"]\nevent = pre-receive\ncommand = one two\n"
		 "[hook \"b\"]\nevent = pre-receive\ncommand = ./a-b_c@d\n",
		 RUN("one two") EXEC("./a-b_c@d")},
		{"[hook \"a\"]\nevent = pre-receive\ncommand =\n", EXEC("")},
		{"[hook \"a\"]\nevent\ncommand = one\n",
		 "!missing value for 'hook.a.event'"},
		{"[hook \"a\"]\nevent = pre-receive\ncommand\n",
		 "!missing value for 'hook.a.command'"},
		{"[hook \"a\"]\nevent = update\ncommand = one\nenabled\n",
		 "!missing value for 'hook.a.enabled'"},
		{"[hook \"update\"]\nenabled\n",
		 "!missing value for 'hook.update.enabled'"},
		{"[hook \"a\"]\nevent = update\ncommand = one\nparallel\n",
		 "!missing value for 'hook.a.parallel'"},
		{"[hook \"b\"]\nother\n", "!missing value for 'hook.b.other'"},
		{"[hook \"update\"]\nevent = post-update\n",
		 "!hook friendly-name 'update' collides with a known event "
		 "name; please choose a different friendly-name"},
	};
	struct buf told = BUF_INIT;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_string_equal(run_with(&told, cases[i].text),
				    cases[i].want);
	buf_release(&told);
}

/*
 * A hook without arguments is run without "$@". Otherwise the command "false;"
 * would become "false; "$@"", whose exit code is 0.
 */
static void test_no_arguments(void **state)
{
	struct buf told = BUF_INIT;
	const struct hook_runner runner = {.run = note, .ctx = &told};
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	set_config(&t, "[hook \"a\"]\nevent = update\ncommand = \"false;\"\n");
	assert_true(repo_hooks_run(&t.repo, "update", NULL, 0, &runner, NULL) >
		    0);
	assert_string_equal(told.data, "sh,-c,false;,false;|");
	buf_release(&told);
	config_release(&t.repo.config);
	tmprepo_release(&t);
}

/*
 * Two runs find the same problem. The runner remembers the advice that was
 * given, so the warning appears only once.
 */
static void test_disabled(void **state)
{
	struct buf told = BUF_INIT, given = BUF_INIT;
	struct hook_runner runner = {
		.run = note,
		.advise = keep,
		.ctx = &told,
		.advice = &given,
	};
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	set_config(&t, "[hook \"a\"]\nevent = update\nenabled = no\n");
	for (int i = 0; i < 2; i++)
		assert_int_equal(repo_hooks_run(&t.repo, "update", NULL, 0,
						&runner, NULL),
				 0);
	assert_string_equal(told.data, "warning: disabled hook 'a' has no "
				       "command configured\n");
	buf_release(&told);
	buf_release(&given);
	config_release(&t.repo.config);
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_ignored),
		cmocka_unit_test(test_find_in_dir),
		cmocka_unit_test(test_bad_path),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_configured),
		cmocka_unit_test(test_no_arguments),
		cmocka_unit_test(test_disabled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
