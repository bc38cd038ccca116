/* SPDX-License-Identifier: MIT */
/* Child processes: pipes, environment, exit codes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "sys/io.h"
#include "sys/spawn.h"

static char *sh(const char *script, char *argv[4])
{
	argv[0] = (char *)"sh";
	argv[1] = (char *)"-c";
	argv[2] = (char *)script;
	argv[3] = NULL;
	return argv[0];
}

static int exit_code_of(const char *script)
{
	struct sys_child child;
	char *argv[4];

	sh(script, argv);
	assert_int_equal(sys_spawn(&child, argv, NULL, 0, NULL), 0);
	return sys_spawn_wait(&child, NULL);
}

static void exit_codes(void **state)
{
	assert_int_equal(exit_code_of("exit 0"), 0);
	assert_int_equal(exit_code_of("exit 37"), 37);
	assert_int_equal(exit_code_of("kill -TERM $$"), 128 + SIGTERM);
}

static void talks_through_pipes(void **state)
{
	struct sys_child child;
	char *argv[4], got[16] = "";
	size_t len = 0;
	ssize_t n;

	sh("tr a-z A-Z", argv);
	assert_int_equal(sys_spawn(&child, argv, NULL,
				   SYS_SPAWN_PIPE_IN | SYS_SPAWN_PIPE_OUT,
				   NULL),
			 0);
	assert_int_equal(sys_write_all(child.in, "hello", 5, "tr", NULL), 0);
	close(child.in);
	child.in = -1;
	while ((n = sys_read_some(child.out, got + len, sizeof(got) - len, "tr",
				  NULL)) > 0)
		len += (size_t)n;
	assert_int_equal(sys_spawn_wait(&child, NULL), 0);
	assert_int_equal(len, 5);
	assert_memory_equal(got, "HELLO", 5);
}

static void environment_is_the_one_given(void **state)
{
	char *envp[] = {(char *)"PATH=/usr/bin:/bin", (char *)"ONLY=this",
			NULL};
	struct sys_child child;
	char *argv[4];

	sh("test \"$ONLY\" = this && test -z \"$HOME\"", argv);
	assert_int_equal(sys_spawn(&child, argv, envp, 0, NULL), 0);
	assert_int_equal(sys_spawn_wait(&child, NULL), 0);
}

static void what_cannot_be_run(void **state)
{
	char *argv[] = {(char *)"/no/such/program", NULL};
	struct sys_child child;
	struct error err = ERROR_INIT;

	assert_int_equal(
		sys_spawn(&child, argv, NULL, SYS_SPAWN_PIPE_OUT, &err),
		ERR_IO);
	assert_non_null(strstr(err.msg, "/no/such/program"));
	assert_int_equal(sys_exec(argv[0], argv, &err), ERR_IO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exit_codes),
		cmocka_unit_test(talks_through_pipes),
		cmocka_unit_test(environment_is_the_one_given),
		cmocka_unit_test(what_cannot_be_run),
	};

	return cmocka_run_group_tests_name("spawn", tests, NULL, NULL);
}
