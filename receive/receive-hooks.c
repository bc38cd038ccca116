/* SPDX-License-Identifier: MIT */
/* Runs the hooks of a push. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "receive/receive-hooks.h"
#include "repo/hook.h"
#include "sys/spawn.h"

static const char transaction[] = "reference-transaction";

/* One run of a hook or of another program, for example git. */
struct run {
	struct receive *r;
	/* program.name is not used if the program is no hook */
	struct hook_program program;
	/* bytes for the standard input of the program; NULL: none */
	const struct buf *input;
	/* a combination of flags of enum receive_env */
	unsigned env;
	/* the event of the hook; NULL: the program is no hook */
	const char *event;
	const struct receive_worktree *worktree; /* NULL: none */
};

static int pass_on(void *ctx, const char *bytes, size_t len, struct error *err)
{
	struct receive *r = ctx;

	if (!len)
		return sideband_keep_alive(&r->peer.band, err);
	return receive_peer_tell_text(&r->peer, bytes, len, err);
}

/*
 * Write the output of a reference-transaction hook to the server's log, not to
 * the client. Stock Git does the same, because this hook also runs for changes
 * without a client.
 */
static int keep_here(void *ctx, const char *bytes, size_t len,
		     struct error *err)
{
	struct receive *r = ctx;

	if (!len)
		return sideband_keep_alive(&r->peer.band, err);
	if (r->peer.tell)
		r->peer.tell(r->peer.tell_ctx, bytes, len);
	return 0;
}

/*
 * Start the program with the environment *env. Returns 0 or a negative error
 * code.
 */
static int start(const struct run *h, struct sys_child *child,
		 struct trace_child *told,
		 const struct receive_environment *env, struct error *err)
{
	struct receive *r = h->r;
	const char *const *argv = h->program.argv;
	bool has_band = receive_peer_has_band(&r->peer);
	int ret;

	trace_child_start(r->repo->trace, told, argv, h->event);
	ret = sys_spawn(
		child, (char *const *)argv, env->strings,
		(h->input ? SYS_SPAWN_PIPE_IN : SYS_SPAWN_NULL_IN) |
			(has_band ? SYS_SPAWN_PIPE_OUT | SYS_SPAWN_ERR_TO_OUT
				  : SYS_SPAWN_OUT_TO_ERR),
		err);
	if (ret < 0)
		trace_child_exit(r->repo->trace, told, -1, -1);
	return ret;
}

/*
 * If a hook could not be started or was killed by a signal, send Git's message
 * about this to the client. Returns the hook's exit code, 1 if the hook could
 * not be started, or a negative error code.
 */
static int end(const struct run *h, const struct sys_talk *talk,
	       const struct sys_child *child, int status, struct error *err)
{
	struct buf text = BUF_INIT;
	int ret = repo_hook_describe_end(&text, &h->program, child);

	if (ret < 0)
		error_nomem(err);
	else if (ret)
		ret = talk->output(talk->ctx, text.data, text.len, err);
	buf_release(&text);
	if (ret < 0)
		return ret;
	return child->error_nr ? 1 : status;
}

/*
 * Run a hook or another program. Returns its exit code, or a negative error
 * code. The program may change refs, so refs are read again afterwards.
 */
static int run(const struct run *h, struct error *err)
{
	struct receive *r = h->r;
	struct receive_environment env;
	struct sys_talk talk = {
		.input = h->input ? h->input->data : NULL,
		.input_len = h->input ? h->input->len : 0,
		.silence_ms = (unsigned)r->config.keep_alive * 1000,
		.output = h->event && !strcmp(h->event, transaction) ? keep_here
								     : pass_on,
		.ctx = r,
	};
	struct sys_child child = {.error_nr = 0};
	struct trace_child told;
	int ret = receive_environment_init(&env, r, h->env, h->worktree, err),
	    status;

	if (!ret)
		ret = start(h, &child, &told, &env, err);
	receive_environment_release(&env);
	if (ret < 0)
		return h->event && child.error_nr
			       ? end(h, &talk, &child, 0, err)
			       : ret;
	ret = sys_spawn_talk(&child, &talk, err);
	status = sys_spawn_wait(&child, ret < 0 ? NULL : err);
	trace_child_exit(r->repo->trace, &told, child.pid, status);
	receive_refresh(r);
	if (!ret && status < 0)
		ret = status;
	if (ret < 0 || !h->event)
		return ret < 0 ? ret : status;
	return end(h, &talk, &child, status, err);
}

static int run_one(void *ctx, const struct hook_program *program,
		   struct error *err)
{
	struct run *h = ctx;

	h->program = *program;
	return run(h, err);
}

static void advise(void *ctx, const char *text)
{
	const struct receive_peer *peer = &((const struct run *)ctx)->r->peer;

	if (peer->tell)
		peer->tell(peer->tell_ctx, text, strlen(text));
}

static struct hook_runner runner_of(struct run *h)
{
	return (struct hook_runner){
		.run = run_one,
		.advise = advise,
		.ctx = h,
		.advice = &h->r->hook_advice,
	};
}

/*
 * Run all hooks of an event. Returns the last nonzero exit code, 0 if all hooks
 * succeed or there is none, or a negative error code.
 */
static int run_hooks(struct receive *r, const char *event,
		     const char *const *args, size_t arg_nr,
		     const struct buf *input, unsigned env, struct error *err)
{
	struct run h = {r, {NULL, NULL}, input, env, event, NULL};
	const struct hook_runner runner = runner_of(&h);

	return repo_hooks_run(r->repo, event, args, arg_nr, &runner, err);
}

int receive_hook_find(char **path, struct receive *r, const char *event,
		      struct error *err)
{
	struct run h = {.r = r};
	const struct hook_runner runner = runner_of(&h);

	return repo_hook_find(path, r->repo, event, &runner, err);
}

int receive_hook_is_there(struct receive *r, const char *event,
			  struct error *err)
{
	struct run h = {.r = r};
	const struct hook_runner runner = runner_of(&h);

	return repo_hooks_has(r->repo, event, &runner, err);
}

int receive_run_in(struct receive *r, const char *const *argv,
		   const struct receive_worktree *worktree, struct error *err)
{
	struct run h = {r, {argv, NULL}, NULL, 0, NULL, worktree};

	return run(&h, err);
}

int receive_hook_checkout(struct receive *r, const char *new_hex,
			  const struct receive_worktree *worktree,
			  struct error *err)
{
	static const char event[] = "push-to-checkout";
	struct run h = {r, {NULL, NULL}, NULL, 0, event, worktree};
	const struct hook_runner runner = runner_of(&h);
	int ret = repo_hooks_has(r->repo, event, &runner, err);

	if (ret <= 0)
		return ret;
	ret = repo_hooks_run(r->repo, event, &new_hex, 1, &runner, err);
	return ret < 0 ? ret : ret ? 2 : 1;
}

static int add_line(struct buf *out, enum hash_algo algo,
		    const struct oid *old_oid, const struct oid *new_oid,
		    const char *ref)
{
	char old_hex[OID_MAX_HEX_LEN + 1], new_hex[OID_MAX_HEX_LEN + 1];

	return buf_printf(out, "%s %s %s\n", oid_to_hex(old_hex, old_oid, algo),
			  oid_to_hex(new_hex, new_oid, algo), ref);
}

int receive_hook_pre(struct receive *r, struct error *err)
{
	const struct receive_request *req = &r->request;
	struct buf input = BUF_INIT;
	int ret = 0;

	for (size_t i = 0; !ret && i < req->nr; i++)
		ret = add_line(&input, req->algo, &req->commands[i].old_oid,
			       &req->commands[i].new_oid, req->commands[i].ref);
	if (ret < 0)
		ret = error_nomem(err);
	else
		ret = run_hooks(r, "pre-receive", NULL, 0, &input,
				RECEIVE_ENV_QUARANTINE | RECEIVE_ENV_OPTIONS |
					RECEIVE_ENV_CERT,
				err);
	buf_release(&input);
	return ret < 0 ? ret : ret > 0;
}

int receive_hook_update(struct receive *r, const struct receive_command *cmd,
			struct error *err)
{
	char old_hex[OID_MAX_HEX_LEN + 1], new_hex[OID_MAX_HEX_LEN + 1];
	const char *args[] = {
		cmd->ref,
		oid_to_hex(old_hex, &cmd->old_oid, r->repo->algo),
		oid_to_hex(new_hex, &cmd->new_oid, r->repo->algo),
	};
	int ret = run_hooks(r, "update", args, ARRAY_NR(args), NULL,
			    RECEIVE_ENV_QUARANTINE, err);

	return ret < 0 ? ret : ret > 0;
}

int receive_hook_transaction(void *ctx, enum ref_state state,
			     const struct ref_transaction *tx,
			     struct error *err)
{
	struct receive *r = ctx;
	const char *name = ref_state_name(state);
	struct buf input = BUF_INIT;
	int ret;

	if (ref_transaction_describe(&input, tx) < 0)
		ret = error_nomem(err);
	else
		ret = run_hooks(r, transaction, &name, 1, &input,
				RECEIVE_ENV_QUARANTINE, err);
	buf_release(&input);
	if (ret > 0 && (state == REF_PREPARING || state == REF_PREPARED))
		return error_set(err, ERR_DENIED,
				 "in '%s' phase, update aborted by the "
				 "reference-transaction hook",
				 name);
	return ret < 0 ? ret : 0;
}

/*
 * Returns whether the command was executed, so that the hooks post-receive and
 * post-update get it.
 */
static bool was_done(const struct receive_command *cmd)
{
	return !cmd->error && !cmd->is_void;
}

static int add_result(struct buf *input, const struct receive_command *cmd,
		      enum hash_algo algo)
{
	int ret = 0;

	if (!cmd->rewrite_nr)
		return add_line(input, algo, &cmd->old_oid, &cmd->new_oid,
				cmd->ref);
	for (size_t i = 0; !ret && i < cmd->rewrite_nr; i++) {
		const struct receive_rewrite *w = &cmd->rewrites[i];

		ret = add_line(input, algo,
			       w->has_old ? &w->old_oid : &cmd->old_oid,
			       w->has_new ? &w->new_oid : &cmd->new_oid,
			       w->ref ? w->ref : cmd->ref);
	}
	return ret;
}

static int post_receive(struct receive *r, struct error *err)
{
	const struct receive_request *req = &r->request;
	struct buf input = BUF_INIT;
	int ret = 0;

	for (size_t i = 0; !ret && i < req->nr; i++)
		if (was_done(&req->commands[i]))
			ret = add_result(&input, &req->commands[i], req->algo);
	if (ret < 0)
		ret = error_nomem(err);
	else if (input.len)
		ret = run_hooks(r, "post-receive", NULL, 0, &input,
				RECEIVE_ENV_OPTIONS | RECEIVE_ENV_CERT |
					RECEIVE_ENV_ALTERNATE,
				err);
	buf_release(&input);
	return ret;
}

static int post_update(struct receive *r, struct error *err)
{
	const struct receive_request *req = &r->request;
	const char **args = mem_alloc(req->nr, sizeof(*args));
	size_t nr = 0;
	int ret = 0;

	if (!args)
		return error_nomem(err);
	for (size_t i = 0; i < req->nr; i++)
		if (was_done(&req->commands[i]))
			args[nr++] = req->commands[i].ref;
	if (nr)
		ret = run_hooks(r, "post-update", args, nr, NULL,
				RECEIVE_ENV_ALTERNATE, err);
	free(args);
	return ret;
}

int receive_hook_post(struct receive *r, struct error *err)
{
	int ret = post_receive(r, err);

	if (ret >= 0)
		ret = post_update(r, err);
	return ret < 0 ? ret : 0;
}
