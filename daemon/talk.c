/* SPDX-License-Identifier: MIT */
/*
 * Answers a request in Git's own protocol: a fetch in this thread, a push or an
 * archive in a child process that gets the client's descriptors.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "daemon/daemon-parts.h"
#include "http/http-request.h"
#include "serve/upload-pack.h"
#include "sys/io.h"
#include "sys/process.h"
#include "sys/spawn.h"
#include "wire/pktline.h"

static struct access_question question_of(const struct daemon_talk *talk)
{
	return (struct access_question){
		.user = talk->user,
		.service = service_name(talk->service),
		.repository = talk->path,
		.protocol = talk->conn->protocol == DAEMON_SSH ? "ssh" : "git",
		.address = talk->address,
	};
}

static int find_place(struct daemon_talk *talk, struct error *err)
{
	struct daemon_inquiry inquiry = {question_of(talk), &talk->access};
	int ret = daemon_place_find(&talk->place, talk->options, talk->conn,
				    talk->path, strlen(talk->path),
				    talk->options->strict_paths,
				    talk->conn->helper ? &inquiry : NULL, err);

	talk->is_denied = ret == ERR_DENIED;
	return ret;
}

static int open_guarded(struct repo **out, struct daemon_talk *talk,
			struct error *err)
{
	const struct daemon_options *o = talk->options;
	struct repo_options options = {
		.flags = o->strict_paths ? REPO_OPEN_EXACT : REPO_OPEN_ENTER,
	};
	int ret = daemon_guard_enter(&talk->guard, talk->conn, talk->path,
				     strlen(talk->path), err);

	if (ret < 0)
		return ret;
	ret = find_place(talk, err);
	options.path = talk->place.path;
	if (!ret)
		ret = repo_open(out, &options, err);
	if (ret < 0) {
		access_answer_release(&talk->access);
		daemon_place_release(&talk->place);
		daemon_guard_leave(&talk->guard, 0);
	}
	return ret;
}

int daemon_talk_open(struct repo **out, struct daemon_talk *talk,
		     struct error *err)
{
	if (!http_path_is_plain(talk->path))
		return error_set(err, ERR_DENIED, "'%s': aliased", talk->path);
	return open_guarded(out, talk, err);
}

void daemon_talk_close(struct daemon_talk *talk, struct repo *repo)
{
	if (!repo)
		return;
	repo_close(repo);
	access_answer_release(&talk->access);
	daemon_place_release(&talk->place);
	daemon_guard_leave(&talk->guard, talk->child_status);
}

int daemon_talk_authorize(struct daemon_talk *talk, const struct repo *repo)
{
	struct access_question question = question_of(talk);
	int ret;

	if (!talk->conn->helper)
		return 0;
	if (talk->conn->copies)
		return 1;
	ret = daemon_authorize(&talk->access, talk->options, talk->conn,
			       &question, repo);
	return ret < 0 ? ret : 1;
}

/* ---- in this thread */

static ssize_t read_client(void *ctx, void *bytes, size_t len,
			   struct error *err)
{
	struct daemon_talk *t = ctx;

	return sys_socket_read(t->in, bytes, len, &t->patience, err);
}

static int write_client(void *ctx, struct iovec *iov, size_t nr,
			struct error *err)
{
	struct daemon_talk *t = ctx;
	int ret = sys_socket_writev(t->out, iov, nr, &t->patience, err);

	if (ret < 0)
		atomic_store(&t->is_lost, true);
	return ret;
}

void daemon_talk_tell(const struct daemon_talk *talk, const char *kind,
		      const char *message)
{
	char line[1024], quoted[PKTLINE_QUOTE_MAX];
	int len;

	daemon_log(talk->options, talk->conn, message);
	if (!talk->err)
		return;
	len = snprintf(line, sizeof(line), "%s: %s\n", kind,
		       pktline_quote(quoted, message));
	if (len > 0)
		sys_write_ready(talk->err, line, strlen(line));
}

static void warn(void *ctx, const char *message)
{
	daemon_talk_tell(ctx, "warning", message);
}

static void count(void *ctx, const struct summary *s, const struct error *error)
{
	const struct daemon_talk *t = ctx;

	statistics_add(t->conn->shared->statistics, s, error,
		       (uint64_t)t->options->slow_ms * 1000);
}

const char *daemon_talk_principal(struct daemon_talk *talk)
{
	if (*talk->user)
		return talk->user;
	trusted_client_name(talk->client, talk->address);
	return talk->client;
}

/*
 * Makes and sends a pack. Plans (cached responses) in memory belong to shared
 * packs, but each client has its own snapshot of packs here. So only plans in
 * the directory can be used.
 */
static int make_pack(void *ctx, const struct odb *odb,
		     const struct packing_request *request,
		     const struct packing_send_options *options,
		     struct pack_sink sink, struct packing_report *report,
		     struct error *err)
{
	struct daemon_talk *t = ctx;
	const struct plan_question question = {
		.odb = odb,
		.request = request,
		.options = options,
		.make = daemon_admit_send,
		.make_ctx = &t->admit,
	};

	if (!t->options->plan_directory || !t->conn->plans)
		return daemon_admit_send(&t->admit, odb, request, options, sink,
					 report, err);
	return plan_cache_send_alone(t->conn->plans, &question, &sink, report,
				     err);
}

static int fetch(struct daemon_talk *t, const struct repo *repo)
{
	const struct daemon_options *o = t->options;
	const struct serve_io io = {
		.read = read_client,
		.writev = write_client,
		.ctx = t,
	};
	const struct summary_about about = {
		.client = *t->address ? t->address : NULL,
		.user = *t->user ? t->user : NULL,
		.is_of_thread = true,
		.done = count,
		.ctx = t,
	};
	const struct serve_options options = {
		.repo = repo,
		.version = serve_protocol_version(t->protocol),
		.agent = o->agent,
		.session_id = o->session_id,
		.namespace = o->namespace,
		.is_fresh_copy = stored_copies_is_fresh(t->conn->copies,
							&t->place.use),
		.warn = warn,
		.warn_ctx = t,
		.make_pack = make_pack,
		.make_pack_ctx = t,
		.about = &about,
	};
	struct error err = ERROR_INIT;

	daemon_admit_init(&t->admit, t->options, t->conn->shared,
			  daemon_talk_principal(t), &t->is_lost);
	t->patience.waits = daemon_admit_rest;
	t->patience.ctx = &t->admit;
	if (!serve_upload_pack(&options, &io, &err))
		return 0;
	daemon_talk_tell(t, "fatal", err.msg);
	return 128;
}

/*
 * Serve a fetch from a repository, without the refs that the access helper
 * hides. Each connection has its own trace.
 */
static int fetch_visible(struct daemon_talk *t, const struct repo *repo)
{
	struct repo copy = *repo;
	bool is_hidden = t->access.hidden_nr;
	struct trace trace;
	int ret = 0;

	if (is_hidden)
		ret = access_configure(&copy.config, &repo->config, &t->access);
	if (ret < 0) {
		daemon_talk_tell(t, "fatal", "out of memory");
		return 128;
	}
	if (t->options->trace) {
		trace_init_thread(&trace, t->options->trace);
		copy.trace = &trace;
	}
	ret = fetch(t, &copy);
	if (t->options->trace)
		trace_release(&trace);
	if (is_hidden)
		free(copy.config.entries);
	return ret;
}

/* ---- in a child process */

/*
 * Start the service with the client's descriptors and wait. `variables` are
 * "<name>=<value>". Returns the exit code or a negative error code.
 */
static int spawn(const struct daemon_talk *t, const char *dir,
		 const char *const *variables, size_t nr, struct error *err)
{
	char timeout[32];
	const char *argv[6] = {"git", service_name(t->service)};
	const int fds[] = {t->in, t->out, t->err ? t->err : -1};
	char **env = sys_environ_with(variables, nr);
	struct sys_child child;
	size_t word_nr = 2;
	int ret;

	if (!env)
		return error_nomem(err);
	snprintf(timeout, sizeof(timeout), "--timeout=%u", t->options->timeout);
	if (t->service == SERVICE_UPLOAD_PACK)
		argv[word_nr++] = "--strict";
	/* Stock Git's upload-archive has no option --timeout. */
	if (t->service != SERVICE_UPLOAD_ARCHIVE)
		argv[word_nr++] = timeout;
	argv[word_nr] = dir;
	ret = sys_spawn_with(&child, (char *const *)argv, env, fds,
			     SYS_SPAWN_OPEN_SIGNALS, err);
	free(env);
	return ret < 0 ? ret : sys_spawn_wait(&child, err);
}

static int run_child(const struct daemon_talk *t, const struct repo *repo,
		     struct error *err)
{
	struct buf address = BUF_INIT, protocol = BUF_INIT, user = BUF_INIT;
	struct buf hidden = BUF_INIT, asked = BUF_INIT;
	int ret = buf_printf(&address, "REMOTE_ADDR=%s", t->address);

	ret |= buf_printf(&protocol, "GIT_PROTOCOL=%s", t->protocol);
	ret |= buf_printf(&user, "REMOTE_USER=%s", t->user);
	if (t->access.hidden_nr)
		ret |= access_environment(&hidden, &t->access);
	if (stored_copies_were_asked(t->conn->copies, &t->place.use))
		ret |= buf_printf(&asked, STORED_COPY_ASKED "=%s",
				  t->place.path);
	if (ret < 0) {
		ret = error_nomem(err);
	} else {
		const char *variables[5] = {address.data, protocol.data,
					    user.data};
		size_t nr = 3;

		if (hidden.len)
			variables[nr++] = hidden.data;
		if (asked.len)
			variables[nr++] = asked.data;
		ret = spawn(t, repo->git_dir, variables, nr, err);
	}
	buf_release(&hidden);
	buf_release(&asked);
	buf_release(&address);
	buf_release(&protocol);
	buf_release(&user);
	return ret;
}

/*
 * Tell the client, before the advertisement, that there are too many requests.
 * Returns the exit code of the service.
 */
static int refuse_busy(struct daemon_talk *t)
{
	const struct serve_io io = {.writev = write_client, .ctx = t};
	struct pktline_writer out;

	daemon_log(t->options, t->conn, "too many requests wait");
	pktline_writer_init(&out, &io);
	if (!pktline_printf(&out, NULL, "ERR " DAEMON_BUSY_TEXT))
		pktline_send(&out, NULL);
	pktline_writer_release(&out);
	return 128;
}

void daemon_talk_refuse_excess(struct daemon_talk *talk)
{
	admission_refused(talk->conn->shared->admission,
			  ADMISSION_PRINCIPAL_FULL);
	refuse_busy(talk);
}

/* Run the service in a child process. A push waits for its turn. */
static int run_admitted(struct daemon_talk *t, const struct repo *repo,
			struct error *err)
{
	struct admission_pass pass = {.a = NULL};
	bool is_push = t->service == SERVICE_RECEIVE_PACK;
	int ret;

	if (is_push &&
	    daemon_admit_push(&pass, t->conn->shared, daemon_talk_principal(t),
			      repo, err) < 0)
		return refuse_busy(t);
	ret = run_child(t, repo, err);
	admission_leave(&pass);
	return ret;
}

int daemon_talk_run(struct daemon_talk *talk, const struct repo *repo)
{
	struct error err = ERROR_INIT;
	bool is_push = talk->service == SERVICE_RECEIVE_PACK;
	int ret;

	if ((is_push || talk->service == SERVICE_UPLOAD_PACK) &&
	    !talk->guard.is_suspect &&
	    daemon_is_busy(talk->conn->shared, daemon_talk_principal(talk),
			   repo, is_push))
		return refuse_busy(talk);

	if (talk->service == SERVICE_UPLOAD_PACK && !talk->options->is_hooked &&
	    !talk->guard.is_suspect)
		return fetch_visible(talk, repo);
	daemon_guard_hand_over(&talk->guard);
	ret = run_admitted(talk, repo, &err);
	talk->child_status = ret;
	if (ret < 0)
		daemon_talk_tell(talk, "fatal", err.msg);
	else if (ret == 128 + SIGALRM)
		daemon_talk_tell(talk, "fatal", "the client is too slow");
	return ret < 0 ? 128 : ret;
}
