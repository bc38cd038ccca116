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

int daemon_talk_open(struct repo **out, const struct daemon_talk *talk,
		     struct error *err)
{
	const struct daemon_options *o = talk->options;
	struct buf path = BUF_INIT;
	struct repo_options options = {
		.flags = o->strict_paths ? REPO_OPEN_EXACT : REPO_OPEN_ENTER,
	};
	int ret;

	if (!http_path_is_plain(talk->path))
		return error_set(err, ERR_DENIED, "'%s': aliased", talk->path);
	ret = buf_printf(&path, "%s%s", o->base_path, talk->path);
	options.path = path.data;
	ret = ret < 0 ? error_nomem(err) : repo_open(out, &options, err);
	buf_release(&path);
	return ret;
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

	return sys_socket_writev(t->out, iov, nr, &t->patience, err);
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

static int fetch(struct daemon_talk *t, const struct repo *repo)
{
	const struct daemon_options *o = t->options;
	const struct serve_io io = {
		.read = read_client,
		.writev = write_client,
		.ctx = t,
	};
	const struct serve_options options = {
		.repo = repo,
		.version = serve_protocol_version(t->protocol),
		.agent = o->agent,
		.session_id = o->session_id,
		.namespace = o->namespace,
		.warn = warn,
		.warn_ctx = t,
	};
	struct error err = ERROR_INIT;

	if (!serve_upload_pack(&options, &io, &err))
		return 0;
	daemon_talk_tell(t, "fatal", err.msg);
	return 128;
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
	/* Stock Git's upload-archive has no such option. */
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
	int ret = buf_printf(&address, "REMOTE_ADDR=%s", t->address);

	ret |= buf_printf(&protocol, "GIT_PROTOCOL=%s", t->protocol);
	ret |= buf_printf(&user, "REMOTE_USER=%s", t->user);
	if (ret < 0) {
		ret = error_nomem(err);
	} else {
		const char *const variables[] = {address.data, protocol.data,
						 user.data};

		ret = spawn(t, repo->git_dir, variables, ARRAY_NR(variables),
			    err);
	}
	buf_release(&address);
	buf_release(&protocol);
	buf_release(&user);
	return ret;
}

int daemon_talk_run(struct daemon_talk *talk, const struct repo *repo)
{
	struct error err = ERROR_INIT;
	int ret;

	if (talk->service == SERVICE_UPLOAD_PACK && !talk->options->is_hooked)
		return fetch(talk, repo);
	ret = run_child(talk, repo, &err);
	if (ret < 0)
		daemon_talk_tell(talk, "fatal", err.msg);
	else if (ret == 128 + SIGALRM)
		daemon_talk_tell(talk, "fatal", "the client is too slow");
	return ret < 0 ? 128 : ret;
}
