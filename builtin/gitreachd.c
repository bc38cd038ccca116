/* SPDX-License-Identifier: MIT */
/* gitreachd: serves repositories over HTTP/1.1. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "builtin/gitreachd.h"
#include "builtin/options.h"
#include "builtin/serving.h"
#include "config/config.h"
#include "daemon/daemon.h"
#include "sys/io.h"
#include "sys/process.h"
#include "sys/tcp.h"

#define LISTENERS_MAX 16

static const char usage[] = "gitreachd --base-path=<dir> "
			    "--listen=http://<address>:<port> [<options>]";

struct arguments {
	const char *base_path;
	const char *listen[LISTENERS_MAX];
	size_t listen_nr;
	bool export_all;
	uint64_t workers, threads, connections;
	uint64_t head_timeout, timeout, idle_timeout, drain_timeout;
};

static int add_listen(void *value, const char *arg)
{
	struct arguments *a = value;

	if (a->listen_nr == LISTENERS_MAX) {
		builtin_error("more than %d times --listen", LISTENERS_MAX);
		return -1;
	}
	a->listen[a->listen_nr++] = arg;
	return 0;
}

#define NUMBER(name, field, arg, text)                                         \
	{                                                                      \
		.kind = OPTION_U64, .long_name = name, .value = field,         \
		.arg_name = arg, .help = text                                  \
	}

/* Returns whether a number is in [1, max]; otherwise prints an error. */
static bool check(const char *option, uint64_t value, uint64_t max)
{
	if (value && value <= max)
		return true;
	builtin_error("--%s must be between 1 and %u", option, (unsigned)max);
	return false;
}

static bool check_all(const struct arguments *a)
{
	if (!a->base_path)
		builtin_error("--base-path is missing");
	else if (!a->listen_nr)
		builtin_error("--listen is missing");
	else
		return check("workers", a->workers, 64) &&
		       check("threads", a->threads, 1024) &&
		       check("max-connections", a->connections, 1000000) &&
		       check("head-timeout", a->head_timeout, 3600) &&
		       check("timeout", a->timeout, 86400) &&
		       check("idle-timeout", a->idle_timeout, 86400) &&
		       check("drain-timeout", a->drain_timeout, 86400);
	return false;
}

/* Returns 0, or the exit code 129 after printing an error. */
static int parse(struct arguments *a, int argc, const char **argv)
{
	const struct option options[] = {
		OPTION_ROW_STRING(
			0, "base-path", &a->base_path, "<dir>",
			"serve the repositories below this directory"),
		{.kind = OPTION_CALLBACK,
		 .long_name = "listen",
		 .value = a,
		 .fn = add_listen,
		 .flags = OPTION_NO_NEGATE,
		 .arg_name = "http://<address>:<port>",
		 .help = "listen here (may be repeated; port 0: any)"},
		OPTION_ROW_FLAG(0, "export-all", &a->export_all,
				"serve repositories without "
				"git-daemon-export-ok"),
		NUMBER("workers", &a->workers, "<n>", "number of processes"),
		NUMBER("threads", &a->threads, "<n>",
		       "requests that each process answers at once"),
		NUMBER("max-connections", &a->connections, "<n>",
		       "connections of each process"),
		NUMBER("head-timeout", &a->head_timeout, "<seconds>",
		       "time to send the head of a request"),
		NUMBER("timeout", &a->timeout, "<seconds>",
		       "time to send or accept 64 KiB"),
		NUMBER("idle-timeout", &a->idle_timeout, "<seconds>",
		       "time between two requests"),
		NUMBER("drain-timeout", &a->drain_timeout, "<seconds>",
		       "time to finish requests after SIGTERM"),
		{.kind = OPTION_END},
	};
	int nr = options_parse(argc, argv, options, usage);

	if (nr < 0)
		return options_failed(nr);
	if (nr)
		return options_usage(options, usage);
	return check_all(a) ? 0 : 129;
}

static void write_log(void *ctx, const char *line)
{
	fprintf(stderr, "gitreachd: %s\n", line);
}

/* Listen on a URL http://<address>:<port>. Returns the descriptor. */
static int listen_on(const char *url, struct error *err)
{
	char address[SYS_ADDRESS_MAX] = "", after = 0, line[128];
	unsigned port = 65536;
	bool is_v6 = !strncmp(url, "http://[", 8);
	int nr, fd;

	if (strncmp(url, "http://", 7))
		return error_set(err, ERR_INVALID,
				 "--listen=%.200s: only http:// is supported",
				 url);
	nr = is_v6 ? sscanf(url, "http://[%45[^]]]:%u%c", address, &port,
			    &after)
		   : sscanf(url, "http://%45[^:/]:%u%c", address, &port,
			    &after);
	if (port > 65535 || (nr != 2 && (nr != 3 || strcmp(&after, "/"))))
		return error_set(err, ERR_INVALID,
				 "--listen=%.200s: not of the form "
				 "http://<address>:<port>",
				 url);
	fd = sys_socket_listen(address, (uint16_t)port, err);
	if (fd < 0)
		return fd;
	snprintf(line, sizeof(line), "listens on http://%s%s%s:%u",
		 is_v6 ? "[" : "", address, is_v6 ? "]" : "",
		 (unsigned)sys_socket_port(fd));
	write_log(NULL, line);
	return fd;
}

/* Remove variables that describe one request or one repository. */
static void clean_environment(void)
{
	static const char *const names[] = {
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

	for (size_t i = 0; i < ARRAY_NR(names); i++)
		unsetenv(names[i]);
}

/* Set *out to whether a hook makes the packs of fetches. */
static int find_hook(bool *out, struct error *err)
{
	struct config_sources sources = {.protected_only = true};
	struct config config = CONFIG_INIT;
	int ret = config_load(&config, &sources, err);

	*out = false;
	if (ret < 0)
		return ret;
	*out = config_string(&config, "uploadpack.packobjectshook") != NULL;
	config_release(&config);
	return 0;
}

static int serve(struct daemon_options *o, const struct arguments *a,
		 struct error *err)
{
	int fds[LISTENERS_MAX], ret = 0;
	size_t nr = 0;

	for (; ret >= 0 && nr < a->listen_nr; nr++)
		fds[nr] = ret = listen_on(a->listen[nr], err);
	o->listeners = fds;
	o->listener_nr = nr;
	return ret < 0 ? ret : daemon_run(o, err);
}

static int run(const struct arguments *a, const struct serving_names *names,
	       struct error *err)
{
	char *base = sys_realpath(a->base_path, err);
	long master = sys_process_id();
	struct daemon_options o = {
		.base_path = base,
		.export_all = a->export_all,
		.worker_nr = (unsigned)a->workers,
		.thread_nr = (unsigned)a->threads,
		.connection_max = (unsigned)a->connections,
		.head_timeout = (unsigned)a->head_timeout,
		.timeout = (unsigned)a->timeout,
		.idle_timeout = (unsigned)a->idle_timeout,
		.drain_timeout = (unsigned)a->drain_timeout,
		.agent = names->agent.data,
		.session_id = names->session_id.data,
		.namespace = getenv("GIT_NAMESPACE"),
		.log = write_log,
	};
	int ret;

	if (!base)
		return error_recorded(err, ERR_IO);
	ret = find_hook(&o.is_hooked, err);
	if (!ret)
		ret = serve(&o, a, err);
	if (!ret && sys_process_id() == master)
		write_log(NULL, "stopped");
	free(base);
	return ret;
}

int gitreachd_main(int argc, const char **argv, struct builtin_env *env)
{
	struct arguments a = {
		.workers = 2,
		.threads = 32,
		.connections = 10000,
		.head_timeout = 10,
		.timeout = 30,
		.idle_timeout = 60,
		.drain_timeout = 30,
	};
	struct serving_names names = SERVING_NAMES_INIT;
	struct error err = ERROR_INIT;
	int code = parse(&a, argc, argv);

	if (code)
		return code;
	signal(SIGPIPE, SIG_IGN);
	clean_environment();
	code = serving_names_load(&names, env);
	if (!code && run(&a, &names, &err) < 0)
		code = builtin_fail(&err);
	serving_names_release(&names);
	return code;
}
