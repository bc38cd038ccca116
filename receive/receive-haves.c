/* SPDX-License-Identifier: MIT */
/* Finds the object ids of the refs of alternate repositories. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "odb/odb-alternates.h"
#include "receive/receive-advertise.h"
#include "refs/refs.h"
#include "sys/io.h"
#include "sys/spawn.h"
#include "sys/trace.h"

struct haves {
	const struct repo *repo;
	int (*fn)(void *ctx, const struct oid *oid);
	void *ctx;
	/* value of core.alternateRefsCommand; borrowed; NULL: not set */
	const char *command;
	/* value of core.alternateRefsPrefixes; borrowed; NULL: not set */
	const char *prefixes;
	/* length of the prefix whose refs are visited now; 0: all refs */
	size_t prefix_len;
	struct error *warning, *err;
	/* the last line of the command's output, while it is incomplete */
	struct buf line;
	/* true: the command has printed a line that is no id */
	bool is_bad;
};

/*
 * Pass the id in h->line to the caller's function. After a line that is no id,
 * the rest of the output is ignored.
 */
static int take_line(struct haves *h)
{
	enum hash_algo algo = h->repo->algo;
	struct oid oid;

	if (h->line.len != hash_hex_len(algo) ||
	    !oid_from_hex(&oid, h->line.data, h->line.len, algo)) {
		h->is_bad = true;
		error_set(h->warning, ERR_CORRUPT,
			  "invalid line while parsing alternate refs: %.100s",
			  h->line.data);
		return 0;
	}
	buf_reset(&h->line);
	return h->fn(h->ctx, &oid);
}

static int take_output(void *ctx, const char *bytes, size_t len,
		       struct error *err)
{
	struct haves *h = ctx;
	int ret = 0;

	for (size_t i = 0; !ret && !h->is_bad && i < len; i++) {
		/*
		 * A line that is longer than an id is no id. Handling the line
		 * now bounds the memory for it.
		 */
		if (bytes[i] == '\n' || h->line.len > OID_MAX_HEX_LEN)
			ret = take_line(h);
		else if (buf_append_char(&h->line, bytes[i]) < 0)
			ret = error_nomem(err);
	}
	return ret;
}

/*
 * Run core.alternateRefsCommand. The command gets the git directory as its
 * argument, and prints one id in each line.
 */
static int run_command(struct haves *h, const char *git_dir)
{
	struct sys_talk talk = {.output = take_output, .ctx = h};
	struct trace_child told;
	struct sys_child child;
	struct buf script = BUF_INIT;
	const char *argv[] = {"sh", "-c", NULL, h->command, git_dir, NULL};
	int ret, status;

	if (buf_printf(&script, "%s \"$@\"", h->command) < 0)
		return error_nomem(h->err);
	argv[2] = script.data;
	trace_child_start(h->repo->trace, &told, argv, NULL);
	ret = sys_spawn(&child, (char *const *)argv, NULL,
			SYS_SPAWN_NULL_IN | SYS_SPAWN_PIPE_OUT, h->err);
	buf_release(&script);
	if (ret < 0) {
		trace_child_exit(h->repo->trace, &told, -1, -1);
		return ret;
	}
	buf_reset(&h->line);
	h->is_bad = false;
	ret = sys_spawn_talk(&child, &talk, h->err);
	status = sys_spawn_wait(&child, NULL);
	trace_child_exit(h->repo->trace, &told, child.pid, status);
	if (!ret && status)
		error_set(h->warning, ERR_IO,
			  "core.alternateRefsCommand failed for '%s'", git_dir);
	return ret;
}

/*
 * Pass the id of a ref to the caller's function, unless the prefix ends in the
 * middle of a path component: "refs/heads/s" is no prefix of "refs/heads/side".
 */
static int visit(void *ctx, const struct ref *ref)
{
	struct haves *h = ctx;
	size_t len = h->prefix_len;

	if (len && ref->name[len - 1] != '/' && ref->name[len] != '/' &&
	    ref->name[len])
		return 0;
	return h->fn(h->ctx, &ref->oid);
}

/*
 * Visit the refs below each prefix in core.alternateRefsPrefixes; spaces
 * separate the prefixes. If the key is not set or names no prefix, all refs are
 * visited.
 */
static int each_prefix(struct haves *h, struct refs *refs)
{
	const char *p = h->prefixes ? h->prefixes : "";
	bool has_prefix = p[strspn(p, " ")];
	struct buf prefix = BUF_INIT;
	int ret = 0;

	do {
		size_t len = strcspn(p, " ");

		buf_reset(&prefix);
		h->prefix_len = len;
		if (buf_append(&prefix, p, len) < 0)
			ret = error_nomem(h->err);
		else if (len || !has_prefix)
			ret = refs_each(refs, prefix.data, visit, h, NULL,
					h->err);
		p += len;
		p += strspn(p, " ");
	} while (!ret && *p);
	buf_release(&prefix);
	return ret;
}

static int list_refs(struct haves *h, const char *git_dir)
{
	struct repo_options options = {
		.path = git_dir,
		.flags = REPO_OPEN_EXACT | REPO_OPEN_NO_OWNER,
	};
	struct repo *repo = NULL;
	struct refs *refs = NULL;
	int ret = repo_open(&repo, &options, h->warning);

	/*
	 * If the repository cannot be opened, skip the alternate: it may be an
	 * object directory without a repository.
	 */
	if (ret < 0)
		return ret == ERR_NOMEM ? error_nomem(h->err) : 0;
	ret = refs_open(&refs, repo, h->err);
	if (!ret)
		ret = each_prefix(h, refs);
	refs_close(refs);
	repo_close(repo);
	return ret;
}

/*
 * Visit the refs of the alternate with this object directory. The git directory
 * is the parent of the object directory.
 */
static int visit_dir(struct haves *h, const char *object_dir)
{
	struct buf path = BUF_INIT;
	char *git_dir;
	int ret = 0;

	if (buf_printf(&path, "%s/..", object_dir) < 0)
		return error_nomem(h->err);
	git_dir = sys_realpath(path.data, h->warning);
	buf_release(&path);
	if (git_dir)
		ret = h->command ? run_command(h, git_dir)
				 : list_refs(h, git_dir);
	free(git_dir);
	return ret;
}

int receive_haves_each(const struct repo *repo,
		       int (*fn)(void *ctx, const struct oid *oid), void *ctx,
		       struct error *warning, struct error *err)
{
	struct haves h = {
		.repo = repo,
		.fn = fn,
		.ctx = ctx,
		.command = config_string(&repo->config,
					 "core.alternaterefscommand"),
		.prefixes = config_string(&repo->config,
					  "core.alternaterefsprefixes"),
		.warning = warning,
		.err = err,
		.line = BUF_INIT,
	};
	char **dirs = NULL;
	size_t nr = 0;
	int ret = odb_alternates_list(&dirs, &nr, repo, NULL, err);

	for (size_t i = 1; !ret && i < nr; i++)
		ret = visit_dir(&h, dirs[i]);
	for (size_t i = 0; i < nr; i++)
		free(dirs[i]);
	free(dirs);
	buf_release(&h.line);
	return ret;
}
