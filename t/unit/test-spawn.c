/* SPDX-License-Identifier: MIT */
/*
 * Tests of sys/spawn.c, which starts child processes: children get the given
 * descriptors and environment, pipes pass data in both directions, and exit
 * codes are returned.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "sys/io.h"
#include "sys/process.h"
#include "sys/spawn.h"
#include "t/unit/emulated.h"

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

static void signals_are_told_from_exit_codes(void **state)
{
	struct sys_child child;
	char *argv[4];

	sh("exit 137", argv);
	assert_int_equal(sys_spawn(&child, argv, NULL, 0, NULL), 0);
	assert_int_equal(sys_spawn_wait(&child, NULL), 137);
	assert_int_equal(child.signal_nr, 0);
	sh("kill -9 $$", argv);
	assert_int_equal(sys_spawn(&child, argv, NULL, 0, NULL), 0);
	assert_int_equal(sys_spawn_wait(&child, NULL), 137);
	assert_int_equal(child.signal_nr, SIGKILL);
	assert_int_equal(child.error_nr, 0);
}

/*
 * sys_spawn_in() runs a program in another directory. A relative path of the
 * program starts in this directory.
 */
static void runs_in_a_directory(void **state)
{
	char dir[] = "/tmp/gitreach-spawn-XXXXXX", path[64];
	char *argv[] = {(char *)"./here", NULL};
	char *before, *after;
	struct sys_child child;
	FILE *file;

	if (!has_spawn_errors())
		return;
	before = getcwd(NULL, 0);
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/here", dir);
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "test \"$(pwd -P)\" -ef %s && test -x here\n", dir);
	fclose(file);
	assert_int_equal(chmod(path, 0755), 0);
	assert_int_equal(sys_spawn_in(&child, dir, argv, NULL, 0, NULL), 0);
	assert_int_equal(sys_spawn_wait(&child, NULL), 0);
	after = getcwd(NULL, 0);
	assert_string_equal(before, after);
	assert_int_equal(sys_spawn(&child, argv, NULL, 0, NULL), ERR_IO);
	unlink(path);
	rmdir(dir);
	free(before);
	free(after);
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

	if (!has_spawn_errors())
		return;
	assert_int_equal(
		sys_spawn(&child, argv, NULL, SYS_SPAWN_PIPE_OUT, &err),
		ERR_IO);
	assert_non_null(strstr(err.msg, "/no/such/program"));
	assert_int_equal(child.error_nr, ENOENT);
	assert_int_equal(sys_exec(argv[0], argv, &err), ERR_IO);
}

struct heard {
	char text[256];
	size_t len;
	unsigned silences;
	int answer;
};

static int hear(void *ctx, const char *bytes, size_t len, struct error *err)
{
	struct heard *h = ctx;

	if (!len)
		h->silences++;
	assert_true(h->len + len < sizeof(h->text));
	memcpy(h->text + h->len, bytes, len);
	h->len += len;
	return h->answer;
}

/*
 * Callback for text that the child has written to standard error. Appends the
 * text, with brackets around it, to the text that was heard.
 */
static int hear_error(void *ctx, const char *bytes, size_t len,
		      struct error *err)
{
	int ret = hear(ctx, "[", 1, err);

	if (!ret)
		ret = hear(ctx, bytes, len, err);
	return ret ? ret : hear(ctx, "]", 1, err);
}

static int talk(struct heard *h, const char *script, unsigned flags,
		size_t input_len)
{
	struct sys_child child;
	char *input = calloc(input_len + 1, 1);
	struct sys_talk t = {
		.input = input,
		.input_len = input_len,
		.silence_ms = 50,
		.output = hear,
		.errors = flags & SYS_SPAWN_PIPE_ERR ? hear_error : NULL,
		.ctx = h,
	};
	char *argv[4];
	int ret;

	assert_non_null(input);
	memset(input, 'a', input_len);
	sh(script, argv);
	assert_int_equal(sys_spawn(&child, argv, NULL, flags, NULL), 0);
	ret = sys_spawn_talk(&child, &t, NULL);
	assert_int_equal(sys_spawn_wait(&child, NULL) > 128, 0);
	free(input);
	return ret;
}

static void talks_and_listens(void **state)
{
	unsigned all = SYS_SPAWN_PIPE_IN | SYS_SPAWN_PIPE_OUT |
		       SYS_SPAWN_ERR_TO_OUT;
	struct heard h = {.len = 0};

	/* Send more bytes in both directions than a pipe can hold. */
	assert_int_equal(talk(&h, "cat | wc -c; echo bad >&2", all, 1 << 20),
			 0);
	assert_string_equal(h.text, "1048576\nbad\n");
	/* The child exits without reading its input. */
	h = (struct heard){.len = 0};
	assert_int_equal(talk(&h, "echo x", all, 1 << 20), 0);
	assert_string_equal(h.text, "x\n");
	/* The child gets no input. */
	h = (struct heard){.len = 0};
	assert_int_equal(talk(&h, "cat; echo end",
			      SYS_SPAWN_NULL_IN | SYS_SPAWN_PIPE_OUT, 0),
			 0);
	assert_string_equal(h.text, "end\n");
	assert_int_equal(h.silences, 0);
	h = (struct heard){.len = 0};
	assert_int_equal(talk(&h, "readlink /proc/self/fd/2",
			      SYS_SPAWN_NULL_IN | SYS_SPAWN_PIPE_OUT |
				      SYS_SPAWN_NULL_ERR,
			      0),
			 0);
	assert_string_equal(h.text, "/dev/null\n");
	h = (struct heard){.len = 0};
	assert_int_equal(talk(&h, "sleep 0.2; echo x", all, 0), 0);
	assert_true(h.silences > 0);
	h = (struct heard){.answer = ERR_PEER};
	assert_int_equal(talk(&h, "echo x", all, 0), ERR_PEER);
}

static void hears_both_outputs(void **state)
{
	unsigned all = SYS_SPAWN_PIPE_IN | SYS_SPAWN_PIPE_OUT |
		       SYS_SPAWN_PIPE_ERR;
	struct heard h = {.len = 0};

	assert_int_equal(talk(&h, "echo a >&2; sleep 0.05; wc -c; echo b >&2",
			      all, 1 << 20),
			 0);
	assert_true(!strcmp(h.text, "[a\n]1048576\n[b\n]") ||
		    !strcmp(h.text, "[a\n][b\n]1048576\n"));
	/*
	 * The child closes its standard output, and later writes to standard
	 * error. The callback gets the output of both.
	 */
	h = (struct heard){.len = 0};
	assert_int_equal(
		talk(&h, "echo x; exec >&-; sleep 0.05; echo e >&2", all, 0),
		0);
	assert_string_equal(h.text, "x\n[e\n]");
	/*
	 * If the callback returns a negative value, the communication with the
	 * child ends.
	 */
	h = (struct heard){.answer = ERR_PEER};
	assert_int_equal(talk(&h, "echo e >&2", all, 0), ERR_PEER);
	assert_string_equal(h.text, "[");
}

/*
 * A script without a "#!" line is run by the shell, because hooks may be such
 * scripts.
 */
static void shell_reads_what_names_no_program(void **state)
{
	char path[] = "/tmp/gitreach-spawn-XXXXXX", arg[] = "7";
	char *argv[] = {path, arg, NULL};
	struct sys_child child;
	int fd;

	if (!has_spawn_errors())
		return;
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "exit $1\n", 8), 8);
	assert_int_equal(fchmod(fd, 0700), 0);
	close(fd);
	assert_int_equal(sys_spawn(&child, argv, NULL, 0, NULL), 0);
	assert_int_equal(sys_spawn_wait(&child, NULL), 7);
	unlink(path);
}

/*
 * If argv[0] has no slash, the shell reads the script that was found in PATH. A
 * file of the same name in the working directory is not read.
 */
static void shell_reads_the_script_in_path(void **state)
{
	char dir[] = "/tmp/gitreach-spawn-XXXXXX", path[64], none[64];
	char name[] = "script", *argv[] = {name, NULL};
	char *before, list[128];
	struct sys_child child;
	FILE *f;

	if (!has_spawn_errors())
		return;
	before = mem_strdup(getenv("PATH"));
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/script", dir);
	snprintf(none, sizeof(none), "%s/none", dir);
	snprintf(list, sizeof(list), "%s:%s:/usr/bin:/bin", none, dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("exit 9\n", f);
	fclose(f);
	assert_int_equal(chmod(path, 0700), 0);
	setenv("PATH", list, 1);
	assert_int_equal(sys_spawn(&child, argv, NULL, 0, NULL), 0);
	assert_int_equal(sys_spawn_wait(&child, NULL), 9);
	/*
	 * A relative directory in PATH is looked up from the child's working
	 * directory.
	 */
	setenv("PATH", ".:/usr/bin:/bin", 1);
	assert_int_equal(sys_spawn_in(&child, dir, argv, NULL, 0, NULL), 0);
	assert_int_equal(sys_spawn_wait(&child, NULL), 9);
	setenv("PATH", before, 1);
	free(before);
	unlink(path);
	rmdir(dir);
}

static void hands_down_no_ignored_sigpipe(void **state)
{
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(exit_code_of("kill -PIPE $$"), 128 + SIGPIPE);
	signal(SIGPIPE, SIG_DFL);
}

static void heir_keeps_descriptors(void **state)
{
	int fds[2], status;
	char *argv[4], script[64], got[8] = "";
	pid_t pid;

	if (!has_spawn_errors())
		return;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	snprintf(script, sizeof(script), "echo $HEIR 2>/dev/null >&%d; exit 5",
		 fds[1]);
	sh(script, argv);
	pid = sys_spawn_heir(argv, (char *[]){(char *)"HEIR=yes", NULL},
			     &fds[1], 1, NULL);
	assert_true(pid > 0);
	close(fds[1]);
	assert_int_equal(read(fds[0], got, sizeof(got)), 4);
	assert_string_equal(got, "yes\n");
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 5);
	/*
	 * The child gets only the descriptors of a list. Here the list is
	 * empty, so the pipe must be closed in the child.
	 */
	pid = sys_spawn_heir(argv, environ, NULL, 0, NULL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(read(fds[0], got, sizeof(got)), 0);
	argv[0] = (char *)"/nonexistent/program";
	assert_int_equal(sys_spawn_heir(argv, environ, NULL, 0, NULL), ERR_IO);
	close(fds[0]);
}

/* A child leaves a text in a file that it inherits. Other files are closed. */
static void child_keeps_one_file(void **state)
{
	const int kept = sys_memory_open(NULL), closed = sys_memory_open(NULL);
	char *argv[4], script[128], got[8] = "";
	struct sys_child child;

	assert_true(kept > 2 && closed > 2);
	snprintf(script, sizeof(script),
		 "echo yes >&%d; (echo no >&%d) 2>/dev/null || exit 5", kept,
		 closed);
	sh(script, argv);
	assert_int_equal(sys_spawn_keeping(&child, argv, NULL, kept, 0, NULL),
			 0);
	assert_int_equal(sys_spawn_wait(&child, NULL), 5);
	assert_int_equal(pread(kept, got, sizeof(got), 0), 4);
	assert_string_equal(got, "yes\n");
	assert_int_equal(pread(closed, got, sizeof(got), 0), 0);
	assert_int_equal(sys_spawn_keeping(&child, argv, NULL, -1, 0, NULL), 0);
	assert_int_not_equal(sys_spawn_wait(&child, NULL), 0);
	close(kept);
	close(closed);
}

static void test_given_descriptors(void **state)
{
	const char *argv[] = {"sh", "-c", "read a; echo \"<$a>\"; exit 3",
			      NULL};
	char got[16] = "";
	struct sys_child child;
	int in[2], out[2];
	int fds[3];

	if (!has_spawn_errors())
		return;
	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(out), 0);
	fds[0] = in[0];
	fds[1] = out[1];
	fds[2] = -1;
	assert_int_equal(write(in[1], "x\n", 2), 2);
	assert_int_equal(sys_spawn_with(&child, (char *const *)argv, NULL, fds,
					SYS_SPAWN_OPEN_SIGNALS, NULL),
			 0);
	assert_int_equal(sys_spawn_wait(&child, NULL), 3);
	assert_int_equal(read(out[0], got, sizeof(got) - 1), 4);
	assert_string_equal(got, "<x>\n");
	argv[0] = "/nonexistent";
	assert_int_equal(
		sys_spawn_with(&child, (char *const *)argv, NULL, fds, 0, NULL),
		ERR_IO);
	for (int i = 0; i < 2; i++) {
		close(in[i]);
		close(out[i]);
	}
}

/* Counts the bytes that a child writes. */
static int add_up(void *ctx, const char *bytes, size_t len, struct error *err)
{
	size_t *sum = ctx;

	*sum += len;
	return 0;
}

/*
 * sys_spawn_put() is not blocked by a child that never reads its input. It is
 * not blocked either by a child that writes more than a pipe holds before it
 * reads its input.
 */
static void puts_while_the_child_writes(void **state)
{
	const unsigned flags = SYS_SPAWN_PIPE_IN | SYS_SPAWN_PIPE_OUT;
	const size_t len = 1 << 20;
	char *bytes = mem_calloc(1, len), *argv[4], got[16] = "";
	struct sys_child child;
	size_t sum = 0;

	assert_non_null(bytes);
	sh("head -c 300000 /dev/zero; wc -c", argv);
	assert_int_equal(sys_spawn(&child, argv, NULL, flags, NULL), 0);
	assert_int_equal(sys_spawn_put(&child, bytes, len, add_up, &sum, NULL),
			 0);
	assert_int_equal(sum, 300000);
	assert_true(child.in >= 0);
	sys_spawn_close_in(&child);
	assert_int_equal(
		sys_read_some(child.out, got, sizeof(got), "pipe", NULL), 8);
	assert_string_equal(got, "1048576\n");
	assert_int_equal(sys_spawn_wait(&child, NULL), 0);

	sum = 0;
	sh("head -c 300000 /dev/zero; exit 3", argv);
	assert_int_equal(sys_spawn(&child, argv, NULL, flags, NULL), 0);
	assert_int_equal(sys_spawn_put(&child, bytes, len, add_up, &sum, NULL),
			 0);
	assert_int_equal(child.in, -1);
	/* The child ended with at most one full pipe of unread output. */
	assert_true(sum >= 300000 - 65536);
	assert_int_equal(sys_spawn_wait(&child, NULL), 3);
	free(bytes);
}

/*
 * The end of a child, a time limit and the loss of a reader each end the wait.
 */
static void awaits_the_first_of_three(void **state)
{
	struct sys_child child;
	char *argv[4];
	int fds[2];

	(void)state;
	if (!has_process_fds())
		return;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	sh("exit 3", argv);
	assert_int_equal(sys_spawn(&child, argv, NULL, 0, NULL), 0);
	assert_true(sys_spawn_await(&child, fds[1], -1));
	assert_int_equal(sys_spawn_wait(&child, NULL), 3);

	sh("read line; exit 4", argv);
	assert_int_equal(sys_spawn_with(&child, argv, NULL,
					(const int[]){fds[0], -1, -1}, 0, NULL),
			 0);
	assert_false(sys_spawn_await(&child, -1, 1));
	assert_false(sys_spawn_await(&child, fds[1], 1));
	assert_int_equal(write(fds[1], "\n", 1), 1);
	assert_int_equal(sys_spawn_wait(&child, NULL), 4);

	sh("sleep 100", argv);
	assert_int_equal(
		sys_spawn(&child, argv, NULL, SYS_SPAWN_PIPE_OUT, NULL), 0);
	close(fds[0]);
	assert_false(sys_spawn_await(&child, fds[1], -1));
	assert_int_equal(child.out, -1);
	kill(child.pid, SIGKILL);
	assert_true(sys_spawn_await(&child, -1, -1));
	assert_int_equal(sys_spawn_wait(&child, NULL), 128 + SIGKILL);
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_given_descriptors),
		cmocka_unit_test(exit_codes),
		cmocka_unit_test(awaits_the_first_of_three),
		cmocka_unit_test(signals_are_told_from_exit_codes),
		cmocka_unit_test(runs_in_a_directory),
		cmocka_unit_test(talks_through_pipes),
		cmocka_unit_test(environment_is_the_one_given),
		cmocka_unit_test(what_cannot_be_run),
		cmocka_unit_test(talks_and_listens),
		cmocka_unit_test(hears_both_outputs),
		cmocka_unit_test(puts_while_the_child_writes),
		cmocka_unit_test(shell_reads_what_names_no_program),
		cmocka_unit_test(shell_reads_the_script_in_path),
		cmocka_unit_test(hands_down_no_ignored_sigpipe),
		cmocka_unit_test(heir_keeps_descriptors),
		cmocka_unit_test(child_keeps_one_file),
	};

	return cmocka_run_group_tests_name("spawn", tests, NULL, NULL);
}
