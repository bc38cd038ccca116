/* SPDX-License-Identifier: MIT */
/*
 * Answers a request in Git's own protocol: a fetch in this thread
 * (talk-fetch.c), a push or an archive in a child process that gets the
 * client's descriptors.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "access/access.h"
#include "base/buf.h"
#include "base/mem.h"
#include "daemon/daemon-parts.h"
#include "sys/process.h"
#include "sys/spawn.h"
#include "wire/pktline.h"

/* ---- in a child process */

/*
 * Starts the service with the client's descriptors, and waits. `variables` are
 * "<name>=<value>". *pass has the place of a push, see daemon_admit_end().
 * Returns the exit code or a negative error code.
 */
static int spawn(const struct daemon_talk *t, struct admission_pass *pass,
		 const char *dir, const char *const *variables, size_t nr,
		 struct error *err)
{
	char timeout[32];
	const char *argv[6] = {"git", service_name(t->service)};
	const bool is_ssh = t->answer.conn->protocol == DAEMON_SSH;
	const int fds[] = {is_ssh ? t->fds[0] : t->in.fd,
			   is_ssh ? t->fds[1] : t->out.fd, t->fds[2]};
	char **env = sys_environ_with(variables, nr);
	struct sys_child child;
	size_t word_nr = 2;
	int ret;

	if (!env)
		return error_nomem(err);
	snprintf(timeout, sizeof(timeout), "--timeout=%u",
		 t->answer.options->timeout);
	if (t->service == SERVICE_UPLOAD_PACK)
		argv[word_nr++] = "--strict";
	/* Stock Git's upload-archive has no option --timeout. */
	if (t->service != SERVICE_UPLOAD_ARCHIVE)
		argv[word_nr++] = timeout;
	argv[word_nr] = dir;
	ret = sys_spawn_with(&child, (char *const *)argv, env, fds,
			     SYS_SPAWN_OPEN_SIGNALS, err);
	free(env);
	if (ret < 0)
		return ret;
	daemon_admit_end(pass, t->answer.options, t->answer.conn, &child,
			 fds[1]);
	return sys_spawn_wait(&child, err);
}

/* Variables of the environment, "<name>=<value>" each. */
struct variables {
	struct buf lines[7];
	size_t nr;
};

/* Appends a variable. Returns 0 or a negative error code. */
static int add(struct variables *v, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static int add(struct variables *v, const char *fmt, ...)
{
	va_list ap;
	int ret;

	va_start(ap, fmt);
	ret = buf_vprintf(&v->lines[v->nr++], fmt, ap);
	va_end(ap);
	return ret;
}

/*
 * If the client has a user name, appends a committer with this name: reflogs
 * then name the user. Returns 0 or a negative error code.
 */
static int add_committer(struct variables *v, const struct daemon_talk *t)
{
	int ret;

	if (!*t->user)
		return 0;
	ret = add(v, "GIT_COMMITTER_NAME=%s", t->user);
	return ret ? ret
		   : add(v, "GIT_COMMITTER_EMAIL=%s@ssh.%s", t->user,
			 *t->address ? t->address : "(none)");
}

/* Makes the environment of the service. Returns 0 or a negative error code. */
static int make_variables(struct variables *v, const struct daemon_talk *t)
{
	int ret = add(v, "REMOTE_ADDR=%s", t->address);

	if (!ret)
		ret = add(v, "GIT_PROTOCOL=%s", t->protocol);
	if (!ret)
		ret = add(v, "REMOTE_USER=%s", t->user);
	if (!ret)
		ret = add_committer(v, t);
	if (!ret && t->answer.access.hidden_nr)
		ret = access_environment(&v->lines[v->nr++], &t->answer.access);
	if (!ret &&
	    stored_copies_were_asked(t->answer.conn->copies, &t->place.use))
		ret = add(v, STORED_COPY_ASKED "=%s", t->place.path);
	return ret;
}

static int run_child(const struct daemon_talk *t, struct admission_pass *pass,
		     const struct repo *repo, struct error *err)
{
	struct variables v = {.nr = 0};
	const char *lines[ARRAY_NR(v.lines)];
	int ret;

	for (size_t i = 0; i < ARRAY_NR(v.lines); i++)
		v.lines[i] = (struct buf)BUF_INIT;
	ret = make_variables(&v, t);
	for (size_t i = 0; i < v.nr; i++)
		lines[i] = v.lines[i].data;
	ret = ret < 0 ? error_nomem(err)
		      : spawn(t, pass, repo->git_dir, lines, v.nr, err);
	for (size_t i = 0; i < ARRAY_NR(v.lines); i++)
		buf_release(&v.lines[i]);
	return ret;
}

/*
 * Tells the client, before the advertisement, that there are too many requests.
 * Returns the exit code of the service.
 */
static int refuse_busy(struct daemon_talk *t)
{
	const struct serve_io io = {.writev = daemon_talk_write, .ctx = t};
	struct pktline_writer out;

	daemon_log(t->answer.options, t->answer.conn,
		   "refused, because too many requests are waiting");
	pktline_writer_init(&out, &io);
	if (!pktline_printf(&out, NULL, "ERR " DAEMON_BUSY_TEXT))
		pktline_send(&out, NULL);
	pktline_writer_release(&out);
	return 128;
}

void daemon_talk_refuse_excess(struct daemon_talk *talk)
{
	admission_refused(talk->answer.conn->shared->admission,
			  ADMISSION_PRINCIPAL_FULL);
	refuse_busy(talk);
}

/*
 * Runs the service in a child process. A push waits for its turn. Returns the
 * exit code of the service, or a negative error code.
 */
static int run_admitted(struct daemon_talk *t, const struct repo *repo,
			struct error *err)
{
	struct admission_pass pass = {.a = NULL};
	bool is_push = t->service == SERVICE_RECEIVE_PACK;
	int ret;

	if (is_push &&
	    daemon_admit_push(&pass, t->answer.conn->shared,
			      daemon_talk_principal(t), repo, err) < 0)
		return refuse_busy(t);
	ret = run_child(t, &pass, repo, err);
	admission_leave(&pass);
	return ret;
}

int daemon_talk_run(struct daemon_talk *talk)
{
	const struct repo *repo = talk->answer.entered;
	struct error err = ERROR_INIT;
	bool is_push = talk->service == SERVICE_RECEIVE_PACK;
	int ret;

	if ((is_push || talk->service == SERVICE_UPLOAD_PACK) &&
	    !talk->guard.is_suspect && !talk->has_begun &&
	    daemon_is_busy(talk->answer.conn->shared,
			   daemon_talk_principal(talk), repo, is_push))
		return refuse_busy(talk);

	if (talk->service == SERVICE_UPLOAD_PACK &&
	    !talk->answer.options->is_hooked && !talk->guard.is_suspect)
		return daemon_talk_fetch(talk);
	daemon_guard_hand_over(&talk->guard);
	ret = run_admitted(talk, repo, &err);
	talk->child_status = ret;
	if (ret < 0)
		daemon_talk_tell(talk, "fatal", err.msg);
	else if (ret == 128 + SIGALRM)
		daemon_talk_tell(talk, "fatal", "the client is too slow");
	return ret < 0 ? 128 : ret;
}
