/* SPDX-License-Identifier: MIT */
/*
 * Tests of processes/master.c, the server's master process. They prove that the
 * master starts workers, serves a request, survives a failed reload, and ends
 * by a signal. t/t5571-gitreachd.sh tests the server with clients.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "processes/master.h"
#include "sys/io.h"
#include "sys/tcp.h"

static void no_log(void *ctx, const char *line)
{
}

static int no_reload(void *ctx, const struct daemon_options **out,
		     struct error *err)
{
	return error_set(err, ERR_INVALID, "no");
}

static int no_upgrade(void *ctx, struct daemon_successor *out,
		      struct error *err)
{
	return error_set(err, ERR_INVALID, "no");
}

static void is_ready(void *ctx)
{
	const int *ready = ctx;

	sys_write_all(*ready, "r", 1, "pipe", NULL);
}

/*
 * Runs the server. Writes a byte into the pipe `ready` when all workers accept
 * connections.
 */
static int serve(int listener, int ready)
{
	const struct daemon_program program = {
		.reload = no_reload,
		.upgrade = no_upgrade,
		.ready = is_ready,
		.ctx = &ready,
	};
	struct daemon_options o = {
		.base_path = "/nonexistent",
		.worker_nr = 2,
		.thread_nr = 2,
		.admission = {.limits = {.token_max = 1,
					 .queue_max = 10,
					 .principal_max = 10},
			      .connection_max = 10,
			      .address_max = 10},
		.head_timeout = 5,
		.timeout = 5,
		.idle_timeout = 5,
		.drain_timeout = 5,
		.agent = "test/1",
		.session_id = "x",
		.log = no_log,
		.listeners = &listener,
		.listener_nr = 1,
	};

	return master_run(&o, &program, NULL);
}

static void ask(uint16_t port, const char *text, const char *expected)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char got[512] = "";
	ssize_t n;

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(connect(fd, (void *)&a, sizeof(a)), 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	n = read(fd, got, sizeof(got) - 1);
	assert_true(n > 0);
	assert_memory_equal(got, expected, strlen(expected));
	sys_close(fd);
}

static void test_one_server(void **state)
{
	int listener = sys_socket_listen("127.0.0.1", 0, NULL), status;
	uint16_t port = sys_socket_port(listener);
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid)
		_exit(serve(listener, ready[1]) < 0 ? 1 : 0);
	sys_close(listener);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	ask(port, "GET /r.git/HEAD HTTP/1.1\r\nHost: h\r\n\r\n",
	    "HTTP/1.1 404 Not Found\r\n");
	ask(port, "GET /r.git/HEAD HTTP/1.1\r\n\r\n",
	    "HTTP/1.1 400 Bad Request\r\n");
	/*
	 * After a failed reload and a failed upgrade, the old workers must
	 * still accept connections.
	 */
	assert_int_equal(kill(pid, SIGHUP), 0);
	assert_int_equal(kill(pid, SIGUSR2), 0);
	ask(port, "GET /r.git/HEAD HTTP/1.1\r\nHost: h\r\n\r\n",
	    "HTTP/1.1 404 Not Found\r\n");
	assert_int_equal(kill(pid, SIGTERM), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	sys_close(ready[0]);
	sys_close(ready[1]);
}

/*
 * The log of the server in the next test. A worker that writes a line crashes.
 * The master counts the crashes: it writes a byte into the pipe.
 */
struct crash_log {
	pid_t master;
	int pipe;
};

static void crash_or_count(void *ctx, const char *line)
{
	const struct crash_log *log = ctx;

	if (getpid() != log->master)
		kill(getpid(), SIGKILL);
	if (strstr(line, "killed by signal"))
		sys_write_all(log->pipe, "k", 1, "pipe", NULL);
}

/*
 * A worker that crashes before it serves is not started again at once: a master
 * that did so would need a whole processor. Each worker warns about its
 * directory of plans when it starts, so it crashes.
 */
static void test_crashes_at_start(void **state)
{
	const struct timespec time = {.tv_sec = 1, .tv_nsec = 200000000};
	char bytes[64];
	int out[2], status;
	pid_t pid;

	assert_int_equal(pipe(out), 0);
	pid = fork();
	if (!pid) {
		const struct daemon_program program = {.reload = no_reload};
		struct crash_log log = {getpid(), out[1]};
		const struct daemon_options o = {
			.base_path = "/nonexistent",
			.plan_directory = "/nonexistent/plans",
			.worker_nr = 1,
			.thread_nr = 1,
			.log = crash_or_count,
			.log_ctx = &log,
		};

		_exit(master_run(&o, &program, NULL) < 0 ? 1 : 0);
	}
	sys_close(out[1]);
	nanosleep(&time, NULL);
	assert_int_equal(kill(pid, SIGTERM), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_in_range(read(out[0], bytes, sizeof(bytes)), 1, 4);
	sys_close(out[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_server),
		cmocka_unit_test(test_crashes_at_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
