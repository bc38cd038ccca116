/* SPDX-License-Identifier: MIT */
/* gitreachd: reads the configuration of the server, and runs it. */
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
#include "daemon/settings.h"
#include "daemon/sockets.h"
#include "sys/io.h"
#include "sys/process.h"

#define CONFIG_FILE "/etc/gitreach/gitreachd.conf"

static const char usage[] = "gitreachd [--config=<file>] [--check-config] "
			    "[--<key>=<value>...]";

/* Number of keys, with the end of the table. */
#define KEYS_MAX 64

/* A setting that the command line contains. */
struct word {
	const struct daemon_key *key;
	const char *value;
};

struct arguments {
	const char *config; /* NULL: the default file, if it exists */
	bool check_config;
	struct word *words; /* owned */
	size_t word_nr;
};

/* ---- the command line */

/* One option of the command line that is a setting. */
struct taker {
	struct arguments *arguments;
	const struct daemon_key *key;
};

static int take_setting(void *value, const char *arg)
{
	const struct taker *taker = value;
	struct arguments *a = taker->arguments;

	if (taker->key->kind == DAEMON_FLAG)
		arg = arg == option_negated ? "false" : "true";
	a->words[a->word_nr++] = (struct word){taker->key, arg};
	return 0;
}

static void fill_option(struct option *o, struct taker *taker)
{
	const struct daemon_key *key = taker->key;

	*o = (struct option)OPTION_ROW_CALLBACK(
		0, key->name, take_setting, taker, key->arg_name, key->help);
	o->flags = key->kind == DAEMON_FLAG ? OPTION_NO_ARG : OPTION_NO_NEGATE;
}

/* Returns 0, or the exit code 129 after printing an error. */
static int parse(struct arguments *a, int argc, const char **argv)
{
	struct taker takers[KEYS_MAX];
	struct option options[KEYS_MAX + 2] = {
		OPTION_ROW_STRING(
			0, "config", &a->config, "<file>",
			"read this configuration file, not " CONFIG_FILE),
		OPTION_ROW_FLAG(0, "check-config", &a->check_config,
				"check the configuration, and end"),
	};
	size_t nr = 0;
	int ret;

	options[0].flags = options[1].flags = OPTION_NO_NEGATE;
	for (; daemon_keys[nr].name; nr++) {
		takers[nr] = (struct taker){a, &daemon_keys[nr]};
		fill_option(&options[nr + 2], &takers[nr]);
	}
	options[nr + 2] = (struct option){.kind = OPTION_END};
	ret = options_parse(argc, argv, options, usage);
	if (ret < 0)
		return options_failed(ret);
	return ret ? options_usage(options, usage) : 0;
}

/* ---- settings */

static void print_error(void *ctx, const char *line)
{
	builtin_error("%s", line);
}

/* Returns 0, ERR_NOMEM, or another negative error code after a report. */
static int read_file(struct daemon_settings *s, const struct arguments *a,
		     const struct daemon_report *report)
{
	const char *path = a->config ? a->config : CONFIG_FILE;
	struct error err = ERROR_INIT;
	struct buf text = BUF_INIT;
	int ret = sys_read_any(&text, path, &err);

	if (!ret)
		ret = daemon_settings_parse(s, text.data, text.len, path,
					    report);
	else if (ret == ERR_MISSING && !a->config)
		ret = 0;
	else if (ret != ERR_NOMEM)
		report->fn(report->ctx, err.msg);
	buf_release(&text);
	return ret;
}

/*
 * Load the file and the command line into *s, and check them. Returns as
 * read_file().
 */
static int load(struct daemon_settings *s, const struct arguments *a,
		const struct daemon_report *report)
{
	int ret, bad;

	daemon_settings_init(s);
	ret = read_file(s, a, report);
	for (size_t i = 0; i < a->word_nr; i++) {
		bad = daemon_settings_option(s, a->words[i].key,
					     a->words[i].value, report);
		ret = bad ? bad : ret;
	}
	/* Of a file that was not read to its end, keys would be missing. */
	if (ret && ret != ERR_INVALID)
		return ret;
	bad = daemon_settings_check(s, report);
	return bad ? bad : ret;
}

/* ---- the server */

static void write_log(void *ctx, const char *line)
{
	fprintf(stderr, "gitreachd: %s\n", line);
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

/* Open all sockets. Returns 0, or a negative error code after a report. */
static int open_sockets(int *fds, const struct daemon_settings *s,
			const struct daemon_report *report)
{
	for (size_t i = 0; i < s->listen_nr; i++) {
		struct error err = ERROR_INIT;
		char name[DAEMON_NAME_MAX], line[DAEMON_NAME_MAX + 32];

		fds[i] = daemon_listen(name, s->listen[i].text, &err);
		if (fds[i] < 0)
			return daemon_settings_refuse(
				s, "listen", &s->listen[i], err.msg, report);
		snprintf(line, sizeof(line), "listens on %s", name);
		write_log(NULL, line);
	}
	return 0;
}

/*
 * Returns 0, or a negative error code with an error in *err or after a report.
 */
static int run(const struct daemon_settings *s,
	       const struct serving_names *names,
	       const struct daemon_report *report, struct error *err)
{
	char *base = sys_realpath(s->base_path.text, err);
	long master = sys_process_id();
	int fds[DAEMON_LISTENERS_MAX], ret;
	struct daemon_options o = {
		.base_path = base,
		.export_all = s->export_all,
		.worker_nr = (unsigned)s->workers,
		.thread_nr = (unsigned)s->threads,
		.connection_max = (unsigned)s->max_connections,
		.head_timeout = (unsigned)s->head_timeout,
		.timeout = (unsigned)s->timeout,
		.idle_timeout = (unsigned)s->idle_timeout,
		.drain_timeout = (unsigned)s->drain_timeout,
		.agent = names->agent.data,
		.session_id = names->session_id.data,
		.namespace = getenv("GIT_NAMESPACE"),
		.log = write_log,
		.listeners = fds,
		.listener_nr = s->listen_nr,
	};

	if (!base)
		return error_recorded(err, ERR_IO);
	ret = find_hook(&o.is_hooked, err);
	if (!ret)
		ret = open_sockets(fds, s, report);
	if (!ret)
		ret = daemon_run(&o, err);
	if (!ret && sys_process_id() == master)
		write_log(NULL, "stopped");
	free(base);
	return ret;
}

/* Check or serve. Returns the exit code. */
static int act(const struct arguments *a, struct builtin_env *env)
{
	const struct daemon_report report = {.fn = print_error};
	struct serving_names names = SERVING_NAMES_INIT;
	struct daemon_settings s;
	struct error err = ERROR_INIT;
	int code = 0, ret = load(&s, a, &report);

	if (!ret && !a->check_config) {
		code = serving_names_load(&names, env);
		if (!code)
			ret = run(&s, &names, &report, &err);
	}
	if (ret == ERR_NOMEM)
		error_nomem(&err);
	/* An error that is not in `err` has been reported. */
	if (err.code)
		builtin_fail(&err);
	if (ret < 0)
		code = a->check_config ? 1 : 128;
	serving_names_release(&names);
	daemon_settings_release(&s);
	return code;
}

int gitreachd_main(int argc, const char **argv, struct builtin_env *env)
{
	struct arguments a = {.config = NULL};
	int code;

	a.words = mem_alloc((size_t)argc, sizeof(*a.words));
	if (!a.words)
		return builtin_die("out of memory");
	code = parse(&a, argc, argv);
	if (code) {
		free(a.words);
		return options_is_completion(argv[1]) ? 0 : code;
	}
	signal(SIGPIPE, SIG_IGN);
	clean_environment();
	code = act(&a, env);
	free(a.words);
	return code;
}
