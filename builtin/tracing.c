/* SPDX-License-Identifier: MIT */
/* Opens the trace of this process, and writes its first and last events. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/wildmatch.h"
#include "builtin/builtin.h"
#include "builtin/tracing.h"
#include "include/gitreach.h"
#include "object/hash.h"
#include "sys/clock.h"
#include "sys/io.h"
#include "sys/process.h"

#define PARENT_SID "GIT_TRACE2_PARENT_SID"
#define PARENT_NAME "GIT_TRACE2_PARENT_NAME"

/* Maximum number of ancestor processes whose names are written to the trace. */
#define ANCESTORS_MAX 100

/*
 * The environment variables and configuration keys that set the targets of
 * trace2, and those that make the output brief.
 */
static const struct {
	enum trace_target target;
	const char *variable, *key, *brief_variable, *brief_key;
} settings[] = {
	{TRACE_NORMAL, "GIT_TRACE2", "trace2.normaltarget", "GIT_TRACE2_BRIEF",
	 "trace2.normalbrief"},
	{TRACE_PERF, "GIT_TRACE2_PERF", "trace2.perftarget",
	 "GIT_TRACE2_PERF_BRIEF", "trace2.perfbrief"},
	{TRACE_EVENT, "GIT_TRACE2_EVENT", "trace2.eventtarget",
	 "GIT_TRACE2_EVENT_BRIEF", "trace2.eventbrief"},
};

/*
 * Targets of the older GIT_TRACE variables, which have no configuration keys.
 */
static const struct {
	enum trace_target target;
	const char *variable;
} old_settings[] = {
	{TRACE_GENERAL, "GIT_TRACE"},
	{TRACE_PACKET, "GIT_TRACE_PACKET"},
};

/* ---- the id of this process */

/*
 * Append "H" and the first hexadecimal digits of a hash of the host's name to
 * the process's trace id.
 */
static int put_host(struct buf *out)
{
	struct buf host = BUF_INIT;
	char hex[OID_MAX_HEX_LEN + 1];
	struct hash_ctx h;
	struct oid hash;
	int ret = sys_host_name(&host, NULL);

	if (ret < 0 || hash_init(&h, HASH_SHA1) < 0) {
		buf_release(&host);
		return buf_append_str(out, "Localhost");
	}
	hash_update(&h, host.data, host.len);
	hash_final(&h, &hash);
	hash_release(&h);
	buf_release(&host);
	return buf_printf(out, "H%.8s", oid_to_hex(hex, &hash, HASH_SHA1));
}

static int put_sid(struct buf *out)
{
	const char *parent = getenv(PARENT_SID);
	struct timespec ts;
	struct tm tm;
	int ret = 0;

	clock_gettime(CLOCK_REALTIME, &ts);
	gmtime_r(&ts.tv_sec, &tm);
	if (parent && *parent)
		ret = buf_printf(out, "%s/", parent);
	if (!ret)
		ret = buf_printf(out, "%04d%02d%02dT%02d%02d%02d.%06ldZ-",
				 tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
				 tm.tm_hour, tm.tm_min, tm.tm_sec,
				 ts.tv_nsec / 1000);
	if (!ret)
		ret = put_host(out);
	return ret ? ret : buf_printf(out, "-P%08x", (unsigned)getpid());
}

static bool prepare(struct tracing *t)
{
	const char *redact = getenv("GIT_TRACE2_REDACT");

	if (t->is_on)
		return true;
	buf_reset(&t->sid);
	if (put_sid(&t->sid) < 0)
		return false;
	trace_init(&t->trace, t->sid.data, t->start_ns);
	t->trace.shows_passwords = redact && !config_parse_bool(redact);
	t->is_on = true;
	return true;
}

/* ---- settings */

static bool is_true(const char *value)
{
	return value && config_parse_bool(value) > 0;
}

static int take_setting(void *ctx, const struct config_entry *entry)
{
	const char **value = ctx;

	if (entry->scope <= CONFIG_GLOBAL)
		*value = entry->value ? entry->value : "true";
	return 0;
}

/*
 * Returns the value of the environment variable `variable`. If this variable is
 * not set, returns the value of `key` in the configuration of the system or the
 * user. `variable` and `key` may be NULL. The repository's configuration is
 * ignored, because a repository must not decide where trace data is written.
 * Returns NULL if neither the variable nor the key is set.
 */
static const char *setting(const char *variable, const struct config *config,
			   const char *key)
{
	const char *value = variable ? getenv(variable) : NULL;

	if (!value)
		config_each(config, key, take_setting, &value);
	return value;
}

/* ---- opening targets */

/*
 * Print the reason why "af_unix:<path>", the address of a socket, is not valid.
 */
static void explain_address(const char *name, const char *value)
{
	const char *path = value + 8;

	if (!strncmp(path, "stream:", 7))
		path += 7;
	else if (!strncmp(path, "dgram:", 6))
		path += 6;
	if (*path)
		builtin_warn("trace2: invalid AF_UNIX path '%s' for '%s' "
			     "tracing",
			     path, name);
	else
		builtin_warn("trace2: invalid AF_UNIX value '%s' for '%s' "
			     "tracing",
			     value, name);
}

/* If is_asked is set, print why a trace2 target cannot be opened. */
static void explain(const char *name, const char *value,
		    const struct error *err, bool is_asked)
{
	const char *reason = strerror(err->sys_errno);
	bool is_socket = !strncmp(value, "af_unix:", 8);

	if (!is_asked)
		return;
	if (err->code == ERR_INVALID && is_socket)
		explain_address(name, value);
	else if (err->code == ERR_INVALID)
		builtin_warn("trace2: unknown value for '%s': '%s'", name,
			     value);
	else if (is_socket)
		builtin_warn("trace2: could not connect to socket '%s' for "
			     "'%s' tracing: %s",
			     strchr(value, '/'), name, reason);
	else
		builtin_warn("trace2: could not open '%s' for '%s' tracing: %s",
			     value, name, reason);
}

/*
 * Works like explain(), but always prints the error. Used for GIT_TRACE and the
 * other old variables.
 */
static void explain_old(const char *name, const char *value,
			const struct error *err)
{
	if (err->code == ERR_INVALID)
		builtin_warn("unknown trace value for '%s': %s\n"
			     "         The name of a trace file has to begin "
			     "with /",
			     name, value);
	else
		builtin_warn("could not open '%s' for tracing: %s", value,
			     strerror(err->sys_errno));
}

/*
 * Open a target of the trace: a file, a new file in a directory, or a socket.
 * Returns 1 if the target is open, 2 if the directory has too many files, or 0
 * if the target is off or cannot be opened.
 */
static int open_target(struct tracing *t, enum trace_target target,
		       const char *name, const char *value,
		       const struct config *config)
{
	const char *max = setting(NULL, config, "trace2.maxfiles");
	struct error err = ERROR_INIT;
	struct trace_file_dir dir;
	int ret;

	if (!value || !prepare(t))
		return 0;
	dir.name = strrchr(t->sid.data, '/');
	dir.name = dir.name ? dir.name + 1 : t->sid.data;
	dir.files_max = 0;
	if (max)
		config_parse_u64(&dir.files_max, max);
	ret = trace_file_open(&t->trace.files[target], value, &dir, &err);
	if (ret < 0)
		explain(name, value, &err,
			is_true(setting("GIT_TRACE2_DST_DEBUG", config,
					"trace2.destinationdebug")));
	return ret < 0 ? 0 : ret;
}

/*
 * Open the targets of trace2. Returns true if one of them is a directory that
 * has too many files.
 */
static bool open_targets(struct tracing *t, const struct config *config)
{
	const char *nesting = setting("GIT_TRACE2_EVENT_NESTING", config,
				      "trace2.eventnesting");
	bool too_many = false;

	for (size_t i = 0; i < ARRAY_NR(settings); i++) {
		const char *value = setting(settings[i].variable, config,
					    settings[i].key);
		const char *brief = setting(settings[i].brief_variable, config,
					    settings[i].brief_key);

		if (open_target(t, settings[i].target, settings[i].variable,
				value, config) == 2)
			too_many = true;
		if (t->is_on)
			t->trace.is_brief[settings[i].target] = is_true(brief);
	}
	if (t->is_on && nesting)
		config_parse_u64(&t->trace.nesting_max, nesting);
	return too_many;
}

static void open_old_targets(struct tracing *t)
{
	const struct trace_file_dir dir = {NULL, 0};

	for (size_t i = 0; i < ARRAY_NR(old_settings); i++) {
		const char *name = old_settings[i].variable;
		const char *value = getenv(name);
		struct error err = ERROR_INIT;

		if (!value || !*value || !prepare(t))
			continue;
		if (trace_file_open(&t->trace.files[old_settings[i].target],
				    value, &dir, &err) < 0)
			explain_old(name, value, &err);
	}
}

static int take_log(void *ctx, const struct config_entry *entry)
{
	const char **path = ctx;

	/*
	 * The configuration of a repository is not trusted to name a file to
	 * write.
	 */
	if (entry->scope != CONFIG_LOCAL && entry->value)
		*path = entry->value;
	return 0;
}

int tracing_log_path(char **path, const struct config *config)
{
	const char *value = NULL;

	config_each(config, "gitreach.requestlog", take_log, &value);
	if (!value || !*value)
		return 0;
	*path = config_expand_path(value);
	return *path ? 1 : ERR_NOMEM;
}

static void open_log(struct tracing *t, const struct config *config)
{
	const struct trace_file_dir none = {NULL, 0};
	const char *value = NULL;
	struct error err = ERROR_INIT;
	char *path;

	config_each(config, "gitreach.requestlog", take_log, &value);
	if (!value || !*value || !prepare(t))
		return;
	path = config_expand_path(value);
	if (!path || *path != '/')
		builtin_warn("gitreach.requestLog: '%s' is not an absolute "
			     "path",
			     value);
	else if (trace_file_open(&t->trace.files[TRACE_LOG], path, &none,
				 &err) < 0)
		builtin_warn("gitreach.requestLog: %s", err.msg);
	free(path);
}

/* ---- the first events */

/*
 * Split a text into words. Each word ends at the byte `end`, which is replaced
 * by a NUL. Returns a list of the words, with NULL at its end, or NULL if there
 * is no memory. The caller frees the list, which borrows the words from `text`.
 */
static const char **split(const struct buf *text, char end)
{
	const char **words;
	size_t nr = 0, i = 0;

	for (size_t at = 0; at < text->len; at++)
		nr += text->data[at] == end;
	words = mem_calloc(nr + 1, sizeof(*words));
	for (size_t at = 0; words && i < nr; i++) {
		words[i] = text->data + at;
		at += strcspn(words[i], (char[]){end, '\0'});
		text->data[at++] = '\0';
	}
	return words;
}

/*
 * Trace the start of the process with its original arguments. The arguments are
 * read from /proc, because argv was changed before.
 */
static void tell_start(struct tracing *t)
{
	struct buf text = BUF_INIT;
	const char **words = NULL;

	if (!sys_read_any(&text, "/proc/self/cmdline", NULL))
		words = split(&text, '\0');
	if (words)
		trace_start_at(&t->trace, TRACE_AT, words);
	free(words);
	buf_release(&text);
}

/*
 * Append the name of the process `pid` and '\n'. Returns the id of its parent
 * process, or 0 if it is not known.
 */
static long put_process(struct buf *names, long pid)
{
	struct buf stat = BUF_INIT;
	const char *open, *close = NULL;
	char path[64];
	long parent = 0;

	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	sys_read_any(&stat, path, NULL);
	open = strchr(stat.data, '(');
	if (open)
		close = strrchr(open, ')');
	/*
	 * The format of /proc/<pid>/stat is "<pid> (<name>) <state> <parent>
	 * ...".
	 */
	if (close &&
	    !buf_printf(names, "%.*s\n", (int)(close - open - 1), open + 1) &&
	    sscanf(close + 1, " %*c %ld", &parent) != 1)
		parent = 0;
	buf_release(&stat);
	return parent;
}

static void tell_ancestry(struct tracing *t)
{
	struct buf names = BUF_INIT;
	const char **words;
	long pid = getppid();

	for (int i = 0; i < ANCESTORS_MAX && pid > 0; i++)
		pid = put_process(&names, pid);
	words = split(&names, '\n');
	if (words && words[0])
		trace_ancestry_at(&t->trace, TRACE_AT, words);
	free(words);
	buf_release(&names);
}

/* Turn the trace off if no target could be opened. */
static void settle(struct tracing *t)
{
	if (!t->is_on || trace_is_on(&t->trace))
		return;
	builtin_trace_errors(NULL);
	trace_release(&t->trace);
	t->is_on = false;
}

/*
 * Write the first events to the new targets, and pass the trace id of this
 * process to child processes. If `too_many_files` is set, one of the events
 * says that a target's directory has too many files.
 */
static void begin(struct tracing *t, bool too_many_files)
{
	settle(t);
	if (!t->is_on)
		return;
	builtin_trace_errors(&t->trace);
	setenv(PARENT_SID, t->sid.data, 1);
	trace_version_at(&t->trace, TRACE_AT, builtin_version);
	if (too_many_files)
		trace_too_many_files_at(&t->trace, TRACE_AT);
	tell_start(t);
	tell_ancestry(t);
}

void tracing_start(struct tracing *t)
{
	const struct config_sources sources = {.protected_only = true};
	struct config config = CONFIG_INIT;
	bool too_many = false;

	*t = (struct tracing){.start_ns = sys_clock_ns(), .sid = BUF_INIT};
	for (size_t i = 0; i < ARRAY_NR(settings); i++)
		t->has_looked |= getenv(settings[i].variable) != NULL;
	open_old_targets(t);
	/*
	 * If the environment sets a target, read the configuration, too,
	 * because it has settings that apply to all targets.
	 */
	if (t->has_looked && !config_load(&config, &sources, NULL)) {
		too_many = open_targets(t, &config);
		config_release(&config);
	}
	begin(t, too_many);
}

/* ---- the command */

static void tell_variables(struct tracing *t, const struct config *config)
{
	const char *list = setting("GIT_TRACE2_ENV_VARS", config,
				   "trace2.envvars");
	char *names = list ? mem_strdup(list) : NULL, *rest = NULL;

	for (char *name = names ? strtok_r(names, ", ", &rest) : NULL; name;
	     name = strtok_r(NULL, ", ", &rest)) {
		const char *value = getenv(name);

		if (value && *value)
			trace_param_at(&t->trace, TRACE_AT, NULL, name, value);
	}
	free(names);
}

struct params {
	struct trace *trace;
	const char *patterns;
};

static const char *scope_name(enum config_scope scope)
{
	static const char *const names[] = {
		[CONFIG_SYSTEM] = "system",
		[CONFIG_GLOBAL] = "global",
		[CONFIG_LOCAL] = "local",
		[CONFIG_COMMAND] = "command",
	};

	return names[scope];
}

static void tell_param(const struct params *p, const struct config_entry *entry)
{
	char *list = mem_strdup(p->patterns), *rest = NULL;

	for (char *pattern = list ? strtok_r(list, ", ", &rest) : NULL; pattern;
	     pattern = strtok_r(NULL, ", ", &rest)) {
		if (!wildmatch(pattern, entry->key, WILDMATCH_ICASE))
			continue;
		trace_param_at(p->trace, TRACE_AT, scope_name(entry->scope),
			       entry->key, entry->value ? entry->value : "");
		break;
	}
	free(list);
}

static void tell_params(struct tracing *t, const struct config *config)
{
	struct params p = {&t->trace, setting("GIT_TRACE2_CONFIG_PARAMS",
					      config, "trace2.configparams")};

	for (size_t i = 0; p.patterns && i < config->nr; i++)
		tell_param(&p, &config->entries[i]);
}

/*
 * Trace the name of the command as "<names of ancestors>/<name>", and pass this
 * name to child processes.
 */
static void tell_name(struct tracing *t)
{
	const char *above = getenv(PARENT_NAME);
	struct buf hierarchy = BUF_INIT;

	if (!buf_printf(&hierarchy, "%s%s%s", above ? above : "",
			above && *above ? "/" : "", t->command)) {
		trace_name_at(&t->trace, TRACE_AT, t->command, hierarchy.data);
		setenv(PARENT_NAME, hierarchy.data, 1);
	}
	buf_release(&hierarchy);
}

void tracing_command(struct tracing *t, const char *const *argv)
{
	t->command = argv[0];
	if (!t->is_on)
		return;
	trace_builtin_at(&t->trace, TRACE_AT, argv);
	tell_name(t);
}

/*
 * Open those targets that the configuration sets and that the environment does
 * not set.
 */
static void open_configured(struct tracing *t, const struct config *config)
{
	if (t->has_looked) {
		settle(t);
		return;
	}
	t->has_looked = true;
	begin(t, open_targets(t, config));
	if (t->is_on && t->command)
		tell_name(t);
}

void tracing_repo(struct tracing *t, struct repo *repo)
{
	if (!t)
		return;
	open_configured(t, &repo->config);
	if (!t->is_on)
		return;
	repo->trace = &t->trace;
	trace_repo_at(&t->trace, TRACE_AT,
		      repo->worktree ? repo->worktree : repo->git_dir);
	tell_variables(t, &repo->config);
	tell_params(t, &repo->config);
}

void tracing_serve_repo(struct tracing *t, struct repo *repo)
{
	if (t)
		open_log(t, &repo->config);
	tracing_repo(t, repo);
}

void tracing_server(struct tracing *t, const struct config *config)
{
	if (!t)
		return;
	if (t->is_on)
		trace_file_close(&t->trace.files[TRACE_LOG]);
	open_log(t, config);
	open_configured(t, config);
}

int tracing_finish(struct tracing *t, int code)
{
	if (t->is_on) {
		builtin_trace_errors(NULL);
		trace_exit_at(&t->trace, TRACE_AT, code);
		trace_release(&t->trace);
		t->is_on = false;
	}
	buf_release(&t->sid);
	return code;
}
