/* SPDX-License-Identifier: MIT */
/* git http-backend: serves repositories over HTTP, as a CGI program. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "builtin/builtin.h"
#include "builtin/exec-path.h"
#include "builtin/options.h"
#include "builtin/serving.h"
#include "builtin/serving-copy.h"
#include "http/http.h"
#include "wire/fdio.h"
#include "wire/summary-times.h"

static const char usage[] = "git http-backend";

/*
 * Parse the arguments. A web server passes a query string without "=" as
 * arguments (RFC 3875, 4.4). Such arguments come from a client and are ignored.
 */
static int parse(int argc, const char **argv)
{
	const struct option options[] = {{.kind = OPTION_END}};
	int nr;

	if (getenv("REQUEST_METHOD"))
		return 0;
	nr = options_parse(argc, argv, options, usage);
	if (nr < 0)
		return 129;
	return nr ? options_usage(options, usage) : 0;
}

/*
 * Set the committer's name and mail address in the environment, for reflogs and
 * hooks. Both are made from the name of the user whom the web server has
 * authenticated. Values that are already set stay. Returns 0, or prints an
 * error and returns 128.
 */
static int set_committer(void)
{
	const char *user = getenv("REMOTE_USER"), *host = getenv("REMOTE_ADDR");
	struct buf mail = BUF_INIT;
	int ret;

	if (!user || !*user)
		user = "anonymous";
	if (!host || !*host)
		host = "(none)";
	ret = buf_printf(&mail, "%s@http.%s", user, host);
	if (ret < 0 || setenv("GIT_COMMITTER_NAME", user, 0) < 0 ||
	    setenv("GIT_COMMITTER_EMAIL", mail.data, 0) < 0)
		ret = builtin_die("out of memory");
	buf_release(&mail);
	return ret;
}

/*
 * Set GIT_PROTOCOL from HTTP_GIT_PROTOCOL, the variable that web servers set
 * for the header Git-Protocol.
 */
static int set_protocol(void)
{
	const char *header = getenv("HTTP_GIT_PROTOCOL");

	if (header && setenv("GIT_PROTOCOL", header, 0) < 0)
		return builtin_die("out of memory");
	return 0;
}

/* The repository of a request, opened for it. */
struct place {
	struct builtin_env *env;  /* borrowed */
	struct serving_copy copy; /* for a push into a local copy */
};

static int enter(void *ctx, const char *path, const struct repo **repo,
		 struct error *err)
{
	struct builtin_env *env = ((struct place *)ctx)->env;
	int ret = serving_open(env, path, REPO_OPEN_ENTER, err);

	*repo = ret < 0 ? NULL : env->repo;
	return ret;
}

static int begin_push(void *ctx, const struct repo **repo,
		      const struct receive_target **target, struct error *err)
{
	struct place *place = ctx;
	int ret = serving_copy_open(&place->copy, place->env->repo, err);

	*target = ret < 0 ? NULL : serving_copy_target(&place->copy);
	if (!ret)
		*repo = serving_copy_repo(&place->copy, *repo);
	return ret;
}

static void write_log(void *ctx, const char *line)
{
	fprintf(stderr, "%s\n", line);
}

static void tell(void *ctx, const char *text, size_t len)
{
	fwrite(text, 1, len, stderr);
}

/* What the server that has started this process wants to know (HTTP_TELL). */
struct told {
	int fd; /* for the times; -1: none */
	bool has_failed;
};

static void note_end(void *ctx, const struct summary *s,
		     const struct error *error)
{
	struct told *told = ctx;
	struct summary_times times;
	struct buf line = BUF_INIT;

	if (error && (error->code == ERR_IO || error->code == ERR_NOMEM))
		told->has_failed = true;
	summary_times_take(&times, s);
	/* If the write fails, the server does not know the times. */
	if (told->fd >= 0 && !summary_times_format(&line, &times) &&
	    pwrite(told->fd, line.data, line.len, 0) < 0)
		told->fd = -1;
	buf_release(&line);
}

/*
 * Prepares to tell the server how the request went, if it wants to know. Hooks
 * do not inherit the descriptor.
 */
static void start_telling(struct summary_about *about, struct told *told)
{
	const char *value = getenv(HTTP_TELL);

	if (!value)
		return;
	told->fd = atoi(value);
	if (told->fd <= STDERR_FILENO ||
	    fcntl(told->fd, F_SETFD, FD_CLOEXEC) < 0)
		told->fd = -1;
	unsetenv(HTTP_TELL);
	about->done = note_end;
	about->ctx = told;
}

static int serve(struct builtin_env *env, const struct serving_names *names)
{
	char address[SYS_ADDRESS_MAX];
	struct summary_about about = serving_about(address);
	struct told told = {.fd = -1};
	struct fdio fdio = {.in = STDIN_FILENO, .out = STDOUT_FILENO};
	struct serve_io io = fdio_io(&fdio);
	struct place place = {.env = env};
	struct http_options options = {
		.request_method = getenv("REQUEST_METHOD"),
		.server_protocol = getenv("SERVER_PROTOCOL"),
		.project_root = getenv("GIT_PROJECT_ROOT"),
		.path_info = getenv("PATH_INFO"),
		.path_translated = getenv("PATH_TRANSLATED"),
		.query_string = getenv("QUERY_STRING"),
		.content_type = getenv("CONTENT_TYPE"),
		.content_length = getenv("CONTENT_LENGTH"),
		.content_encoding = getenv("HTTP_CONTENT_ENCODING"),
		.remote_user = getenv("REMOTE_USER"),
		.max_request_buffer = getenv("GIT_HTTP_MAX_REQUEST_BUFFER"),
		.export_all = getenv("GIT_HTTP_EXPORT_ALL"),
		.git_protocol = getenv("GIT_PROTOCOL"),
		.namespace = getenv("GIT_NAMESPACE"),
		.agent = names->agent.data,
		.session_id = names->session_id.data,
		.enter = enter,
		.begin_push = begin_push,
		.log = write_log,
		.before_child = exec_path_prepend,
		.make_pack = serving_make_pack,
		.tell = tell,
		.ctx = &place,
		.about = &about,
	};
	struct error err = ERROR_INIT;
	int ret;

	start_telling(&about, &told);
	ret = http_serve(&options, &io, NULL, &err);
	serving_copy_close(&place.copy);
	if (ret < 0)
		return builtin_fail(&err);
	return told.has_failed ? HTTP_EXIT_FAILED : 0;
}

int cmd_http_backend(int argc, const char **argv, struct builtin_env *env)
{
	struct serving_names names = SERVING_NAMES_INIT;
	int ret = parse(argc, argv);

	/*
	 * Ignore SIGPIPE: a write to a client that has closed the connection
	 * shall fail with an error, not end the process.
	 */
	signal(SIGPIPE, SIG_IGN);
	if (!ret)
		ret = set_committer();
	if (!ret)
		ret = set_protocol();
	if (!ret)
		ret = serving_names_load(&names, env);
	if (!ret)
		ret = serve(env, &names);
	serving_names_release(&names);
	return ret;
}
