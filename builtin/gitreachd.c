/* SPDX-License-Identifier: MIT */
/* gitreachd: reads the configuration of the server, and runs it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "builtin/gitreachd-parts.h"
#include "builtin/gitreachd.h"
#include "builtin/options.h"
#include "builtin/serving.h"
#include "builtin/tracing.h"
#include "config/config.h"
#include "copies/copies.h"
#include "plans/plan-private.h"
#include "processes/master.h"
#include "processes/settings.h"
#include "processes/sockets.h"
#include "sys/io.h"
#include "sys/process.h"
#include "sys/thread.h"

#define CONFIG_FILE "/etc/gitreach/gitreachd.conf"

/*
 * A file system in memory. The server makes its directory of plans (cached
 * responses) there, for all workers.
 */
#define PLANS_PARENT "/dev/shm"

static const char usage[] = "gitreachd [--config=<file>] [--check-config] "
			    "[--<key>=<value>...]\n"
			    "gitreachd --version";

/* A setting that is given as an option of the command line. */
struct word {
	const struct daemon_key *key;
	const char *value;
};

struct arguments {
	/* value of --config; NULL: the default file is read if it exists */
	const char *config;
	bool check_config;
	bool version;
	struct word *words; /* owned */
	size_t word_nr;
};

/* ---- the command line */

/* Passed to the callback of an option that sets a key of the configuration. */
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

/*
 * Parse the arguments. Returns 0, or the exit code 129 after printing an error.
 */
static int parse(struct arguments *a, int argc, const char **argv)
{
	struct taker takers[DAEMON_KEYS_MAX];
	struct option options[DAEMON_KEYS_MAX + 3] = {
		OPTION_ROW_STRING(
			0, "config", &a->config, "<file>",
			"read this configuration file instead of " CONFIG_FILE),
		OPTION_ROW_FLAG(0, "check-config", &a->check_config,
				"check the configuration, then exit"),
		OPTION_ROW_FLAG(0, "version", &a->version,
				"print the version, then exit"),
	};
	size_t nr = 0;
	int ret;

	for (size_t i = 0; i < 3; i++)
		options[i].flags = OPTION_NO_NEGATE;
	for (; daemon_settings_keys[nr].name; nr++) {
		takers[nr] = (struct taker){a, &daemon_settings_keys[nr]};
		fill_option(&options[nr + 3], &takers[nr]);
	}
	options[nr + 3] = (struct option){.kind = OPTION_END};
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

/*
 * Read the configuration file. Returns 0 or a negative error code. All errors
 * were then reported, except ERR_NOMEM.
 */
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
 * Load the configuration file and the settings of the command line into *s, and
 * check them. Returns 0 or a negative error code. All errors were then
 * reported, except ERR_NOMEM.
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
	/*
	 * If the file could not be read to its end, some keys are missing. Do
	 * not check the settings then, because the check would report errors
	 * about these keys.
	 */
	if (ret && ret != ERR_INVALID)
		return ret;
	bad = daemon_settings_check(s, report);
	return bad ? bad : ret;
}

/* ---- the server */

/*
 * One configuration in the form that the server uses: options and sockets, and
 * the memory and files that these refer to.
 */
struct state {
	struct daemon_settings settings; /* owned */
	struct daemon_sockets sockets;   /* closed with the process */
	int fds[DAEMON_LISTENERS_MAX];
	enum daemon_protocol protocols[DAEMON_LISTENERS_MAX];
	char *base;                         /* owned */
	struct stored_copies_options store; /* borrows from `settings` */
	struct tls *tls;                    /* owned, or NULL */
	struct htpasswd *htpasswd;          /* owned, or NULL */
	struct daemon_options options;
};

struct server {
	const struct arguments *arguments;
	const struct serving_names *names;
	struct tracing *tracing; /* borrowed */
	/*
	 * the words of the command line, for the process that will replace this
	 * server; ends with NULL
	 */
	const char *const *words;
	struct state *state; /* owned */
	bool is_journal;
	struct gitreachd_legacy legacy; /* owned */
	struct plan_private plans;      /* owned */
};

/*
 * Read the configuration of the system and of the user, and open the targets of
 * the trace that this configuration names. Sets *is_hooked to whether
 * uploadpack.packObjectsHook is set, that is, whether a hook makes the packs
 * for clients. Returns 0 or a negative error code.
 */
static int read_protected(bool *is_hooked, struct tracing *tracing,
			  struct error *err)
{
	struct config_sources sources = {.protected_only = true};
	struct config config = CONFIG_INIT;
	int ret = config_load(&config, &sources, err);

	*is_hooked = false;
	if (ret < 0)
		return ret;
	tracing_server(tracing, &config);
	*is_hooked = config_string(&config, "uploadpack.packobjectshook") !=
		     NULL;
	config_release(&config);
	return 0;
}

static void state_free(struct state *state)
{
	if (!state)
		return;
	free(state->base);
	tls_close(state->tls);
	htpasswd_close(state->htpasswd);
	daemon_settings_release(&state->settings);
	free(state);
}

static struct admission_options admission_options(
	const struct daemon_settings *s)
{
	return (struct admission_options){
		.limits =
			{
				.token_max = s->tokens ? (unsigned)s->tokens
						       : sys_cpu_nr(),
				.share = (unsigned)s->token_share,
				.queue_max = (unsigned)s->queue,
				.principal_max = (unsigned)s->queue_of_user,
				.push_max = (unsigned)s->pushes,
				.wait_ns = s->queue_timeout * 1000000000,
			},
		.connection_max = (unsigned)s->max_connections,
		.address_max = s->connections_of_address
				       ? (unsigned)s->connections_of_address
				       : DAEMON_CONNECTIONS_OF_ADDRESS,
	};
}

/* the highest nice value, which means the lowest priority of a thread */
#define NICE_MAX 19

static void fill_options(struct state *state, struct server *server)
{
	const struct daemon_settings *s = &state->settings;
	struct daemon_options *o = &state->options;

	o->base_path = state->base;
	o->store = s->store.text ? &state->store : NULL;
	o->export_all = s->export_all;
	o->strict_paths = s->strict_paths;
	o->informative_errors = s->informative_errors;
	o->services = s->services;
	o->user_header = s->user_header.text;
	o->proxies = s->proxies;
	o->proxy_nr = s->proxy_nr;
	o->tls = state->tls;
	o->htpasswd = state->htpasswd;
	o->access_helper = s->access_helper.text;
	o->access_timeout = (unsigned)s->access_timeout;
	o->plain_passwords = s->allow_plain_passwords;
	o->worker_nr = (unsigned)s->workers;
	o->thread_nr = (unsigned)s->threads;
	o->admission = admission_options(s);
	o->nice = sys_thread_nice();
	o->work_nice = o->nice + (int)s->work_nice;
	if (o->work_nice > NICE_MAX)
		o->work_nice = NICE_MAX;
	o->limits_loopback = s->connections_of_address;
	o->head_timeout = (unsigned)s->head_timeout;
	o->timeout = (unsigned)s->timeout;
	o->idle_timeout = (unsigned)s->idle_timeout;
	o->drain_timeout = (unsigned)s->drain_timeout;
	o->slow_ms = (unsigned)s->slow_request;
	o->plan_max = (size_t)s->plan_memory << 20;
	if (s->plan_directory.text) {
		o->plan_directory = s->plan_directory.text;
		o->plan_directory_max = s->plan_directory_size << 20;
	} else if (s->plan_memory) {
		o->plan_directory = server->plans.path;
		o->plan_directory_max = s->plan_memory << 20;
	}
	o->agent = server->names->agent.data;
	o->version = builtin_version;
	o->session_id = server->names->session_id.data;
	o->namespace = getenv("GIT_NAMESPACE");
	o->trace = tracing_trace(server->tracing);
	o->log = gitreachd_log;
	o->log_ctx = &server->is_journal;
	o->listeners = state->fds;
	o->protocols = state->protocols;
	o->listener_nr = state->sockets.nr;
	for (size_t i = 0; i < state->sockets.nr; i++) {
		state->fds[i] = state->sockets.items[i].fd;
		state->protocols[i] = state->sockets.items[i].protocol;
	}
}

/*
 * Probe a service that is used as a store. Does nothing if the service has
 * passed before, with the same cache directory. If the service does not answer,
 * prints a warning and returns 0, so that the server can serve the local copies
 * in the cache directory. Returns a negative error code if the service cannot
 * be used as a store.
 */
static int probe_store(const struct daemon_settings *s,
		       const struct stored_node *node,
		       const struct daemon_report *report)
{
	struct error why = ERROR_INIT;
	struct buf line = BUF_INIT;
	int ret = stored_node_probe(node, &why);

	if (ret == ERR_UNSUPPORTED || ret == ERR_NOMEM)
		return daemon_settings_refuse(s, "store", &s->store, why.msg,
					      report);
	if (ret && !buf_printf(&line,
			       "the store could not be tested, and the next "
			       "start will test it: %s",
			       why.msg))
		report->fn(report->ctx, line.data);
	buf_release(&line);
	return 0;
}

/*
 * Make the cache directory. Check that it belongs to the configured store, and
 * that the access keys for the store are known. When the server starts, a store
 * that is a service (not a directory) is tested (stored_node_probe()), unless
 * the configuration forbids the test. If the store has passed this test at an
 * earlier start, it is not tested again, and no request is sent to it. So the
 * server can then start while the store does not answer, and can serve the
 * local copies in the cache directory.
 */
static int open_store(struct state *state, bool is_start,
		      const struct daemon_report *report, struct error *err)
{
	const struct daemon_settings *s = &state->settings;
	struct stored_node *node;
	struct error why = ERROR_INIT;
	struct buf base = BUF_INIT;
	bool is_service = strncmp(s->store.text, "file:", 5) != 0;
	int ret;

	state->store = (struct stored_copies_options){
		.dir = s->cache.text,
		.origin = {s->store.text, s->store_endpoint.text,
			   s->store_region.text, s->store_ca_file.text},
		.budget = s->cache_size,
		.max_age_ns = s->store_max_age * 1000000,
		.stale_ns = s->store_stale * 1000000000,
	};
	/*
	 * Remember missing repositories only if the store is a service. In a
	 * directory, looking up a repository takes very little time.
	 */
	if (is_service)
		state->store.absent_ns = s->store_absent_age * 1000000;
	ret = stored_node_make(&node, s->cache.text, &state->store.origin,
			       &why);
	if (ret == ERR_NOMEM)
		return ret;
	if (ret)
		return daemon_settings_refuse(s, "store", &s->store, why.msg,
					      report);
	if (is_start && s->store_probe && is_service)
		ret = probe_store(s, node, report);
	if (!ret && buf_printf(&base, "%s/repo", node->dir) < 0)
		ret = error_nomem(err);
	stored_node_close(node);
	if (ret)
		return ret;
	state->base = buf_detach(&base, NULL);
	return 0;
}

/*
 * Opens the store if one is configured. Otherwise sets state->base to the
 * absolute form of the base path. Returns 0 or a negative error code.
 */
static int open_base(struct state *state, bool is_start,
		     const struct daemon_report *report, struct error *err)
{
	if (state->settings.store.text)
		return open_store(state, is_start, report, err);
	state->base = sys_realpath(state->settings.base_path.text, err);
	return state->base ? 0 : ERR_IO;
}

/*
 * Open the listening sockets, or take them from *before. Returns 0, or a
 * negative error code after the error was reported.
 */
static int open_sockets(struct state *state,
			const struct daemon_sockets *before,
			const struct daemon_report *report)
{
	const struct daemon_text *bad = NULL;
	struct error err = ERROR_INIT;
	int ret = daemon_sockets_open(&state->sockets, before, &state->settings,
				      &bad, &err);

	if (ret < 0)
		daemon_settings_refuse(&state->settings,
				       bad == &state->settings.admin ? "admin"
								     : "listen",
				       bad, err.msg, report);
	return ret;
}

/*
 * If no directory for plans (cached responses) is configured, make one in a
 * file system in memory, so that the workers can share plans. This directory
 * stays when the configuration is read again.
 */
static void share_plans(struct server *server, const struct daemon_settings *s)
{
	char line[ERROR_MESSAGE_MAX + 64];
	struct error err = ERROR_INIT;

	if (server->plans.path || s->plan_directory.text || !s->plan_memory ||
	    !plan_private_open(&server->plans, PLANS_PARENT, &err))
		return;
	snprintf(line, sizeof(line),
		 DAEMON_WARNING
		 "workers do not share plans (cached responses): %s",
		 err.msg);
	gitreachd_log(&server->is_journal, line);
}

/*
 * Read the configuration, and open its sockets, or take them from *before if
 * they are already open. Returns a struct state, or NULL after the errors were
 * reported.
 */
static struct state *prepare(struct server *server,
			     const struct daemon_sockets *before,
			     const struct daemon_report *report)
{
	struct state *state = mem_calloc(1, sizeof(*state));
	struct error err = ERROR_INIT;
	int ret = state ? load(&state->settings, server->arguments, report)
			: ERR_NOMEM;

	if (!ret)
		ret = read_protected(&state->options.is_hooked, server->tracing,
				     &err);
	if (!ret)
		ret = open_base(state, !server->state, report, &err);
	if (!ret)
		ret = daemon_settings_tls(&state->tls, &state->settings,
					  report);
	if (!ret)
		ret = daemon_settings_htpasswd(&state->htpasswd,
					       &state->settings, report);
	if (!ret)
		ret = open_sockets(state, before, report);
	if (!ret) {
		share_plans(server, &state->settings);
		fill_options(state, server);
		return state;
	}
	if (ret == ERR_NOMEM)
		error_nomem(&err);
	if (err.code)
		report->fn(report->ctx, err.msg);
	state_free(state);
	return NULL;
}

static void adopt(struct server *server, struct state *state,
		  const struct daemon_sockets *before)
{
	const struct daemon_report log = {gitreachd_log, &server->is_journal};

	daemon_sockets_replace(before, &state->sockets, !server->state, &log);
	server->state = state;
}

/* The first error of a configuration, and the number of errors in it. */
struct errors {
	struct error *err;
	unsigned nr;
};

static void count_error(void *ctx, const char *line)
{
	struct errors *errors = ctx;

	if (!errors->nr++)
		error_set(errors->err, ERR_INVALID, "%s", line);
}

static int reload(void *ctx, const struct daemon_options **out,
		  struct error *err)
{
	struct server *server = ctx;
	struct errors errors = {.err = err};
	const struct daemon_report report = {count_error, &errors};
	struct state *old = server->state, *state;

	state = prepare(server, &old->sockets, &report);
	if (!state && errors.nr > 1)
		error_set(err, ERR_INVALID, "%s (and %u more errors)", err->msg,
			  errors.nr - 1);
	if (!state)
		return ERR_INVALID;
	adopt(server, state, &old->sockets);
	state_free(old);
	*out = &state->options;
	return 0;
}

static int upgrade(void *ctx, struct daemon_successor *out, struct error *err)
{
	const struct server *server = ctx;

	return gitreachd_start_heir(out, server->words, &server->legacy,
				    &server->state->sockets, err);
}

static void be_ready(void *ctx)
{
	struct server *server = ctx;

	gitreachd_legacy_tell(&server->legacy);
}

/* Run the server until it is stopped. Returns the exit code. */
static int serve(struct server *server, const struct daemon_report *report)
{
	struct daemon_program program = {
		.reload = reload,
		.upgrade = upgrade,
		.ready = be_ready,
		.ctx = server,
		.notify_socket = server->legacy.notify_socket,
		.watchdog_ms = server->legacy.watchdog_ms,
	};
	long master = sys_process_id();
	struct error err = ERROR_INIT;
	struct state *state = prepare(server, &server->legacy.sockets, report);
	int ret;

	if (!state)
		return 128;
	adopt(server, state, &server->legacy.sockets);
	ret = master_run(&state->options, &program, &err);
	if (!ret && sys_process_id() == master)
		gitreachd_log(&server->is_journal, "stopped");
	state_free(server->state);
	return ret < 0 ? builtin_fail(&err) : 0;
}

static int check(const struct arguments *a, const struct daemon_report *report)
{
	struct daemon_settings s;
	int ret = load(&s, a, report);

	daemon_settings_release(&s);
	return ret < 0;
}

/*
 * With --version, print the version. With --check-config, check the
 * configuration. Otherwise run the server.
 * Returns the exit code.
 */
static int act(const struct arguments *a, const char *const *words,
	       struct builtin_env *env)
{
	const struct daemon_report report = {.fn = print_error};
	struct serving_names names = SERVING_NAMES_INIT;
	struct server server = {.arguments = a,
				.names = &names,
				.words = words,
				.tracing = env->tracing,
				.is_journal = gitreachd_is_journal(),
				.plans = PLAN_PRIVATE_INIT};
	struct error err = ERROR_INIT;
	int code, ret;

	if (a->version)
		return printf("gitreachd version %s\n", builtin_version) < 0 ||
		       fflush(stdout);
	if (a->check_config)
		return check(a, &report);
	ret = gitreachd_inherit(&server.legacy, &err);
	if (!ret)
		ret = gitreachd_part(&server.legacy, &code, &err);
	if (ret < 0)
		code = builtin_fail(&err);
	else if (!ret)
		code = serving_names_load(&names, env);
	if (!ret && !code)
		code = serve(&server, &report);
	plan_private_close(&server.plans);
	gitreachd_legacy_release(&server.legacy);
	serving_names_release(&names);
	return code;
}

static int run(int argc, const char **argv, struct builtin_env *env)
{
	struct arguments a = {.config = NULL};
	const char **words = mem_alloc((size_t)argc + 1, sizeof(*words));
	int code;

	a.words = mem_alloc((size_t)argc, sizeof(*a.words));
	if (!a.words || !words) {
		code = builtin_die("out of memory");
		goto out;
	}
	/*
	 * Copy argv before parsing reorders the words: a successor gets the
	 * words in the original order.
	 */
	memcpy(words, argv, ((size_t)argc + 1) * sizeof(*words));
	code = parse(&a, argc, argv);
	if (code) {
		code = options_is_completion(words[1]) ? 0 : code;
		goto out;
	}
	signal(SIGPIPE, SIG_IGN);
	code = act(&a, words, env);
out:
	free(a.words);
	free(words);
	return code;
}

int gitreachd_main(int argc, const char **argv, struct builtin_env *env)
{
	if (argc > 1 && !strncmp(argv[1], "--ssh-client", 12))
		return gitreachd_ssh_main(argc, argv);
	return run(argc, argv, env);
}
