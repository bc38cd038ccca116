/* SPDX-License-Identifier: MIT */
/*
 * Runs the hook of uploadpack.packObjectsHook, which makes the pack of a fetch.
 */
#include <stdlib.h>
#include <string.h>

#include "serve/send.h"
#include "sys/process.h"
#include "sys/spawn.h"

/*
 * Maximum number of arguments in: sh -c '<hook> "$@"' <hook> git pack-objects
 * ...
 */
#define ARGS_MAX 20

static int fill_args(const char **argv, struct buf *script, struct buf *filter,
		     const struct request *req)
{
	const char *hook = req->s->config.pack_objects_hook;
	size_t n = 0;

	if (buf_printf(script, "%s \"$@\"", hook) < 0)
		return ERR_NOMEM;
	if (req->filter.nr && (buf_append_str(filter, "--filter=") < 0 ||
			       filter_print(filter, &req->filter) < 0))
		return ERR_NOMEM;
	argv[n++] = "sh";
	argv[n++] = "-c";
	argv[n++] = script->data;
	argv[n++] = hook;
	argv[n++] = "git";
	if (req->shallow.nr) {
		argv[n++] = "--shallow-file";
		argv[n++] = "";
	}
	argv[n++] = "pack-objects";
	argv[n++] = "--revs";
	if (req->thin)
		argv[n++] = "--thin";
	argv[n++] = "--stdout";
	if (req->shallow.nr)
		argv[n++] = "--shallow";
	if (!req->no_progress)
		argv[n++] = "--progress";
	if (req->ofs_delta)
		argv[n++] = "--delta-base-offset";
	/*
	 * Do not pass --include-tag if refs are hidden: pack-objects would also
	 * add tags that only hidden refs name.
	 */
	if (req->include_tag && !req->s->config.is_limit)
		argv[n++] = "--include-tag";
	if (req->s->has_promisor)
		argv[n++] = "--missing=allow-promisor";
	if (filter->len)
		argv[n++] = filter->data;
	argv[n] = NULL;
	return 0;
}

static int put_ids(struct buf *out, const char *prefix,
		   const struct oidset *set, enum hash_algo algo)
{
	char hex[OID_MAX_HEX_LEN + 1];

	for (size_t i = 0; i < set->nr; i++)
		if (buf_printf(out, "%s%s\n", prefix,
			       oid_to_hex(hex, &set->oids[i], algo)) < 0)
			return ERR_NOMEM;
	return 0;
}

static int fill_input(struct buf *input, const struct request *req)
{
	enum hash_algo algo = req->s->algo;

	if (put_ids(input, "--shallow ", &req->shallow, algo) < 0 ||
	    put_ids(input, "", &req->wants, algo) < 0 ||
	    buf_append_str(input, "--not\n") < 0 ||
	    put_ids(input, "", &req->common, algo) < 0 ||
	    buf_append_str(input, "\n") < 0)
		return ERR_NOMEM;
	return 0;
}

static int put_pack(void *ctx, const char *bytes, size_t len, struct error *err)
{
	struct pack_sink sink = sideband_sink(ctx);

	return len ? sink.put(sink.ctx, bytes, len, err) : 0;
}

static int put_message(void *ctx, const char *bytes, size_t len,
		       struct error *err)
{
	return sideband_put(ctx, SIDEBAND_PROGRESS, bytes, len, err);
}

static int run(char *const argv[], char *const env[], const struct buf *input,
	       struct sideband *sb, struct trace *trace, struct error *err)
{
	const struct sys_talk talk = {
		.input = input->data,
		.input_len = input->len,
		.output = put_pack,
		.errors = put_message,
		.ctx = sb,
	};
	bool has_band = sb->mode != SIDEBAND_NONE;
	struct trace_child told;
	struct sys_child child;
	int ret, status;

	trace_child_start(trace, &told, (const char **)argv, NULL);
	ret = sys_spawn(&child, argv, env,
			SYS_SPAWN_PIPE_IN | SYS_SPAWN_PIPE_OUT |
				(has_band ? SYS_SPAWN_PIPE_ERR : 0),
			err);
	if (ret < 0) {
		trace_child_exit(trace, &told, -1, -1);
		return ret;
	}
	ret = sys_spawn_talk(&child, &talk, err);
	status = sys_spawn_wait(&child, ret < 0 ? NULL : err);
	trace_child_exit(trace, &told, child.pid, status);
	if (!ret && status < 0)
		ret = status;
	if (!ret && status)
		ret = error_set(err, ERR_IO,
				"uploadpack.packObjectsHook failed with status "
				"%d",
				status);
	return ret;
}

int hook_pack_objects(struct request *req, struct sideband *sb,
		      struct error *err)
{
	struct buf script = BUF_INIT, filter = BUF_INIT;
	struct buf input = BUF_INIT, git_dir = BUF_INIT;
	const char *argv[ARGS_MAX], *set;
	char **env = NULL;
	int ret;

	ret = buf_printf(&git_dir, "GIT_DIR=%s",
			 req->s->options->repo->git_dir);
	set = git_dir.data;
	if (!ret)
		env = sys_environ_with(&set, 1);
	if (!env || fill_args(argv, &script, &filter, req) < 0 ||
	    fill_input(&input, req) < 0)
		ret = error_nomem(err);
	else
		ret = run((char *const *)argv, env, &input, sb,
			  req->s->options->repo->trace, err);
	buf_release(&script);
	buf_release(&filter);
	buf_release(&input);
	buf_release(&git_dir);
	free(env);
	return ret;
}
