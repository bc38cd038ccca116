/* SPDX-License-Identifier: MIT */
/*
 * Common code of commands that serve a repository over standard input and
 * output.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builtin/serving.h"
#include "builtin/tracing.h"
#include "plans/plan-cache.h"
#include "plans/plan-spans.h"
#include "sys/clock.h"
#include "wire/traceparent.h"

int serving_open(struct builtin_env *env, const char *path, unsigned flags,
		 struct error *err)
{
	struct repo_options options = {.path = path, .flags = flags};
	int ret = repo_open(&env->repo, &options, err);

	if (!ret && chdir(env->repo->git_dir) < 0)
		ret = error_set_errno(err, "cannot change to '%s'",
				      env->repo->git_dir);
	if (!ret)
		tracing_serve_repo(env->tracing, env->repo);
	return ret;
}

int serving_enter(struct builtin_env *env, const char *path, unsigned flags)
{
	struct error err = ERROR_INIT;
	int ret = serving_open(env, path, flags, &err);

	if (ret == ERR_MISSING)
		return builtin_die(
			"'%s' does not appear to be a git repository", path);
	return ret < 0 ? builtin_fail(&err) : 0;
}

/*
 * Append the name and version of this program for clients. The version is that
 * of gitreach, because gitreach itself answers the requests of clients, never
 * stock Git.
 */
static int add_agent(struct buf *out)
{
	const char *agent = getenv("GIT_USER_AGENT");
	int ret = 0;

	if (!agent || !*agent)
		return buf_printf(out, "git/%s-Linux", builtin_version);
	for (; !ret && *agent; agent++)
		ret = buf_append_char(
			out, *agent > ' ' && *agent <= '~' ? *agent : '.');
	return ret;
}

static int add_session_id(struct buf *out, const struct builtin_env *env)
{
	const struct trace *trace = tracing_trace(env->tracing);

	if (trace)
		return buf_append_str(out, trace->sid);
	return buf_printf(out, "%" PRId64 ".%" PRIu64 "-P%08x",
			  sys_clock_seconds(), sys_clock_ns(),
			  (unsigned)getpid());
}

int serving_names_load(struct serving_names *names,
		       const struct builtin_env *env)
{
	if (add_agent(&names->agent) < 0 ||
	    add_session_id(&names->session_id, env) < 0)
		return builtin_die("out of memory");
	return 0;
}

void serving_names_release(struct serving_names *names)
{
	buf_release(&names->agent);
	buf_release(&names->session_id);
}

struct summary_about serving_about(char address[SYS_ADDRESS_MAX])
{
	const char *client = getenv("REMOTE_ADDR"), *user;
	const char *parent = getenv("HTTP_TRACEPARENT");
	size_t len;

	if (!client)
		client = getenv("SSH_CONNECTION");
	len = client ? strcspn(client, " ") : 0;
	len = len < SYS_ADDRESS_MAX ? len : 0;
	memcpy(address, client ? client : "", len);
	address[len] = '\0';
	user = getenv("REMOTE_USER");
	return (struct summary_about){
		.client = sys_address_is_valid(address) ? address : NULL,
		.user = user && *user ? user : NULL,
		.traceparent = traceparent_is_valid(parent) ? parent : NULL,
	};
}

/*
 * Send a pack, by a plan (a cached response) if the directory `dir` has one.
 * This process serves one request, so it keeps no plans in memory.
 */
static int send_planned(const struct plan_dir *dir,
			const struct plan_question *question,
			const struct pack_sink *sink,
			struct packing_report *report, struct error *err)
{
	struct plan_span_sink spans = {.odb = question->odb, .sink = *sink};
	struct pack_sink by_file = plan_span_sink(&spans);
	struct plan_cache *cache = plan_cache_new(0, dir);
	int ret;

	if (!cache)
		return packing_send(question->odb, question->request,
				    question->options, *sink, report, err);
	ret = plan_cache_send_alone(cache, question, &by_file, report, err);
	plan_cache_free(cache);
	plan_span_sink_release(&spans);
	return ret;
}

int serving_make_pack(void *ctx, const struct odb *odb,
		      const struct packing_request *request,
		      const struct packing_send_options *options,
		      struct pack_sink sink, struct packing_report *report,
		      struct error *err)
{
	const struct plan_question question = {
		.odb = odb, .request = request, .options = options};
	struct error warning;
	struct plan_dir *dir;
	int ret = plan_dir_load(&dir, odb->repo, &warning, err);

	if (ret < 0)
		return ret;
	if (warning.code)
		builtin_warn("%s", warning.msg);
	ret = dir ? send_planned(dir, &question, &sink, report, err)
		  : packing_send(odb, request, options, sink, report, err);
	plan_dir_free(dir);
	return ret;
}
