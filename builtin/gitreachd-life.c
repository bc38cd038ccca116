/* SPDX-License-Identifier: MIT */
/*
 * The other processes that the server deals with. The service manager, systemd,
 * starts the server, and gives it listening sockets, a socket for messages, and
 * the journal for its log. The predecessor is the server process that this
 * process replaces. The successor is the process that will replace this
 * process.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "builtin/gitreachd-parts.h"
#include "config/config.h"
#include "sys/append-line.h"
#include "sys/io.h"
#include "sys/process.h"
#include "sys/spawn.h"

/*
 * Name of an environment variable that a server process sets for its successor:
 * the list of listening sockets.
 */
#define SOCKETS "GITREACHD_SOCKETS" /* daemon_sockets_write() */
/*
 * Name of an environment variable that a server process sets for its successor:
 * the number of a descriptor. When the successor begins to serve, it writes its
 * process id to this descriptor.
 */
#define READY "GITREACHD_READY"

/* ---- the log */

bool gitreachd_is_journal(void)
{
	const char *value = getenv("JOURNAL_STREAM");
	unsigned long long dev, ino;
	struct stat st;

	return value && sscanf(value, "%llu:%llu", &dev, &ino) == 2 &&
	       !fstat(STDERR_FILENO, &st) && st.st_dev == dev &&
	       st.st_ino == ino;
}

void gitreachd_log(void *ctx, const char *line)
{
	const bool *journal = ctx;
	char text[ERROR_MESSAGE_MAX + 256];
	bool has_priority = line[0] == '<' && line[1] && line[2] == '>';
	int len;

	if (*journal)
		len = snprintf(text, sizeof(text), "%s%s\n",
			       has_priority ? "" : "<6>", line);
	else
		len = snprintf(text, sizeof(text), "gitreachd: %s\n",
			       line + (has_priority ? 3 : 0));
	if (len >= (int)sizeof(text)) {
		len = (int)sizeof(text) - 1;
		text[len - 1] = '\n';
	}
	sys_append_line(STDERR_FILENO, text, (size_t)len);
}

/* ---- the environment */

static uint64_t number_of(const char *name)
{
	const char *value = getenv(name);
	uint64_t number;

	return value && !config_parse_u64(&number, value) ? number : 0;
}

static bool is_us(uint64_t pid)
{
	return pid == (uint64_t)sys_process_id();
}

static int find_sockets(struct daemon_sockets *out, struct error *err)
{
	const char *list = getenv(SOCKETS);

	if (list)
		return daemon_sockets_read(out, list, err);
	if (!is_us(number_of("LISTEN_PID")))
		return 0;
	/*
	 * The service manager passes sockets as descriptors 3, 4, ...
	 * (SD_LISTEN_FDS_START in sd_listen_fds(3)).
	 */
	return daemon_sockets_activate(out, 3, (size_t)number_of("LISTEN_FDS"),
				       getenv("LISTEN_FDNAMES"), err);
}

static void find_manager(struct gitreachd_legacy *out)
{
	const char *socket = getenv("NOTIFY_SOCKET");

	if (socket)
		out->notify_socket = mem_strdup(socket);
	if (!getenv("WATCHDOG_PID") || is_us(number_of("WATCHDOG_PID")))
		out->watchdog_ms = number_of("WATCHDOG_USEC") / 1000;
}

int gitreachd_inherit(struct gitreachd_legacy *out, struct error *err)
{
	static const char *const names[] = {
		SOCKETS,
		READY,
		"LISTEN_FDS",
		"LISTEN_PID",
		"LISTEN_FDNAMES",
		"NOTIFY_SOCKET",
		"WATCHDOG_USEC",
		"WATCHDOG_PID",
		/*
		 * These variables describe a single request or repository, and
		 * must not apply to all requests.
		 */
		"GIT_HTTP_EXPORT_ALL",
		"GIT_PROTOCOL",
		"GIT_DIR",
		"GIT_WORK_TREE",
		"GIT_COMMON_DIR",
		"GIT_INDEX_FILE",
		"GIT_COMMITTER_NAME",
		"GIT_COMMITTER_EMAIL",
		"GIT_OBJECT_DIRECTORY",
		"GIT_ALTERNATE_OBJECT_DIRECTORIES",
	};
	int ret;

	*out = (struct gitreachd_legacy){.ready = -1};
	ret = find_sockets(&out->sockets, err);
	if (getenv(READY))
		out->ready = (int)number_of(READY);
	if (out->ready >= 0)
		fcntl(out->ready, F_SETFD, FD_CLOEXEC);
	find_manager(out);
	for (size_t i = 0; i < ARRAY_NR(names); i++)
		unsetenv(names[i]);
	return ret;
}

void gitreachd_legacy_release(struct gitreachd_legacy *legacy)
{
	free(legacy->notify_socket);
	sys_close(legacy->ready);
}

void gitreachd_legacy_tell(struct gitreachd_legacy *legacy)
{
	long pid = sys_process_id();

	if (legacy->ready < 0)
		return;
	/*
	 * The parent of this process is a helper process (gitreachd_part()).
	 * When this process has reported that it serves, the predecessor (the
	 * old master) kills the helper. A child of sys_fork() gets SIGTERM when
	 * its parent ends. This call prevents that, so this process goes on
	 * serving.
	 */
	sys_fork_outlive();
	/*
	 * If no process reads the pipe, the predecessor did not wait for this
	 * process, and goes on serving. So this process must end.
	 */
	if (sys_write_all(legacy->ready, &pid, sizeof(pid), "pipe", NULL) < 0)
		raise(SIGTERM);
	sys_close(legacy->ready);
	legacy->ready = -1;
}

int gitreachd_part(struct gitreachd_legacy *legacy, int *code,
		   struct error *err)
{
	struct sys_child child = {.in = -1, .out = -1, .err = -1};

	if (legacy->ready < 0)
		return 0;
	child.pid = sys_fork(err);
	if (child.pid <= 0)
		return (int)child.pid;
	/*
	 * On a restart, the predecessor (the older server process) reads this
	 * pipe until the child reports that it serves, or until all copies of
	 * the write end are closed. So close the parent's copy. If the child
	 * ends without a report, the predecessor then sees the end of the pipe.
	 */
	sys_close(legacy->ready);
	legacy->ready = -1;
	*code = sys_spawn_wait(&child, err);
	return *code < 0 ? *code : 1;
}

/* ---- the successor */

#define VARIABLES_MAX 4

/*
 * The environment variables that a successor gets: strings that end with NUL,
 * one after the other.
 */
struct variables {
	struct buf text;
	size_t offs[VARIABLES_MAX];
	size_t nr;
};

static int add_sockets(struct variables *v,
		       const struct daemon_sockets *sockets)
{
	int ret;

	v->offs[v->nr++] = v->text.len;
	ret = buf_append_str(&v->text, SOCKETS "=");
	if (!ret)
		ret = daemon_sockets_write(&v->text, sockets);
	return ret ? ret : buf_append_char(&v->text, '\0');
}

static int add_text(struct variables *v, const char *name, const char *value)
{
	int ret;

	v->offs[v->nr++] = v->text.len;
	ret = buf_printf(&v->text, "%s=%s", name, value);
	return ret ? ret : buf_append_char(&v->text, '\0');
}

static int add_number(struct variables *v, const char *name, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return add_text(v, name, text);
}

static int fill(struct variables *v, const struct gitreachd_legacy *legacy,
		const struct daemon_sockets *sockets, int ready)
{
	int ret = add_sockets(v, sockets);

	if (!ret)
		ret = add_number(v, READY, (uint64_t)ready);
	if (!ret && legacy->notify_socket)
		ret = add_text(v, "NOTIFY_SOCKET", legacy->notify_socket);
	if (!ret && legacy->watchdog_ms)
		ret = add_number(v, "WATCHDOG_USEC",
				 legacy->watchdog_ms * 1000);
	return ret;
}

/*
 * Starts this program again, as the process that will replace this server.
 * Returns the id of the new process, or a negative error code.
 */
static pid_t start(const struct variables *v, const char *const *words,
		   const struct daemon_sockets *sockets, int ready,
		   struct error *err)
{
	int keep[DAEMON_LISTENERS_MAX + 1];
	const char *set[VARIABLES_MAX];
	size_t nr = 0;
	char **env;
	pid_t pid;

	for (size_t i = 0; i < v->nr; i++)
		set[i] = v->text.data + v->offs[i];
	for (; nr < sockets->nr; nr++)
		keep[nr] = sockets->items[nr].fd;
	keep[nr++] = ready;
	env = sys_environ_with(set, v->nr);
	if (!env)
		return error_nomem(err);
	pid = sys_spawn_heir((char *const *)words, env, keep, nr, err);
	free(env);
	return pid;
}

int gitreachd_start_heir(struct daemon_successor *out, const char *const *words,
			 const struct gitreachd_legacy *legacy,
			 const struct daemon_sockets *sockets,
			 struct error *err)
{
	struct variables v = {.text = BUF_INIT};
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return error_set_errno(err, "cannot create a pipe");
	pid = fill(&v, legacy, sockets, fds[1]) < 0
		      ? (pid_t)error_nomem(err)
		      : start(&v, words, sockets, fds[1], err);
	buf_release(&v.text);
	sys_close(fds[1]);
	if (pid < 0) {
		sys_close(fds[0]);
		return (int)pid;
	}
	*out = (struct daemon_successor){pid, fds[0]};
	return 0;
}
