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
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>
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
 * The master writes a byte into the pipe for each crash.
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

/* The state of the server in the next test. */
struct reloaded {
	struct daemon_options options; /* of the next reload */
	struct crash_log log;
};

static int reload_options(void *ctx, const struct daemon_options **out,
			  struct error *err)
{
	struct reloaded *r = ctx;

	*out = &r->options;
	return 0;
}

static void note_ready(void *ctx)
{
	const struct reloaded *r = ctx;

	sys_write_all(r->log.pipe, "r", 1, "pipe", NULL);
}

/*
 * In the master, writes a byte for each line about a crash, and for the line
 * about a reload that is not complete. A worker that warns about its directory
 * of plans crashes.
 */
static void note_line(void *ctx, const char *line)
{
	const struct crash_log *log = ctx;

	if (getpid() == log->master || strstr(line, "/nonexistent/plans"))
		crash_or_count(ctx, line);
	if (strstr(line, "reload is not complete: 0 of 1 new workers serve; "
			 "workers with the old configuration continue"))
		sys_write_all(log->pipe, "n", 1, "pipe", NULL);
}

/*
 * Serves with good options. After a reload, each worker crashes when it starts,
 * see test_crashes_at_start().
 */
static int serve_reloaded(int listener, int out, const char *manager)
{
	struct daemon_options o = {
		.base_path = "/nonexistent",
		.worker_nr = 1,
		.thread_nr = 1,
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
		.log = note_line,
		.listeners = &listener,
		.listener_nr = 1,
	};
	struct reloaded r = {o, {getpid(), out}};
	const struct daemon_program program = {
		.reload = reload_options,
		.ready = note_ready,
		.ctx = &r,
		.notify_socket = manager,
		.reload_ms = 200,
	};

	o.log_ctx = r.options.log_ctx = &r.log;
	r.options.plan_directory = "/nonexistent/plans";
	return master_run(&o, &program, NULL);
}

/* Receives one message to the service manager. */
static void expect_message(int manager, const char *expected)
{
	char text[128] = "";

	assert_true(recv(manager, text, sizeof(text) - 1, 0) > 0);
	assert_memory_equal(text, expected, strlen(expected));
}

/*
 * The workers of a reload do not become ready. This is reported once, and the
 * old worker goes on. The pauses between new workers become longer: new workers
 * start after 0, 0.5 and 1.5 seconds.
 */
static void test_reload_not_complete(void **state)
{
	const struct timespec time = {.tv_sec = 2, .tv_nsec = 300000000};
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int listener = sys_socket_listen("127.0.0.1", 0, NULL), status;
	uint16_t port = sys_socket_port(listener);
	int manager = socket(AF_UNIX, SOCK_DGRAM, 0), out[2];
	char bytes[64] = "", path[64];
	unsigned crashes = 0, reports = 0;
	pid_t pid;

	snprintf(path, sizeof(path), "@test-master-%ld", (long)getpid());
	memcpy(a.sun_path + 1, path + 1, strlen(path + 1));
	assert_int_equal(
		bind(manager, (void *)&a,
		     (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
				 strlen(path))),
		0);
	assert_int_equal(pipe(out), 0);
	pid = fork();
	if (!pid)
		_exit(serve_reloaded(listener, out[1], path) < 0 ? 1 : 0);
	sys_close(listener);
	sys_close(out[1]);
	expect_message(manager, "READY=1");
	assert_int_equal(read(out[0], bytes, 1), 1);
	assert_int_equal(bytes[0], 'r');
	assert_int_equal(kill(pid, SIGHUP), 0);
	expect_message(manager, "RELOADING=1");
	expect_message(manager, "READY=1");
	nanosleep(&time, NULL);
	ask(port, "GET /r.git/HEAD HTTP/1.1\r\nHost: h\r\n\r\n",
	    "HTTP/1.1 404 Not Found\r\n");
	assert_int_equal(kill(pid, SIGTERM), 0);
	expect_message(manager, "STOPPING=1");
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	memset(bytes, 0, sizeof(bytes));
	assert_true(read(out[0], bytes, sizeof(bytes) - 1) > 0);
	for (const char *p = bytes; *p; p++) {
		crashes += *p == 'k';
		reports += *p == 'n';
	}
	assert_in_range(crashes, 1, 3);
	assert_int_equal(reports, 1);
	sys_close(out[0]);
	sys_close(manager);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_server),
		cmocka_unit_test(test_crashes_at_start),
		cmocka_unit_test(test_reload_not_complete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
