/* SPDX-License-Identifier: MIT */
/* Executes commands in reference transactions. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "receive/receive-check.h"
#include "receive/receive-hooks.h"
#include "receive/receive-parts.h"
#include "receive/receive-worktree.h"
#include "refs-write/ref-transaction.h"
#include "repo/shallow.h"

/* One transaction. */
struct batch {
	struct receive *r;
	struct receive_rules *rules;
	struct ref_transaction *tx;
	/*
	 * owned array: the commands of the changes in `tx`, in the same order
	 */
	struct receive_command **commands;
	size_t nr;
	/*
	 * true: the function publish() of the target has failed. *err has the
	 * message for the client.
	 */
	bool has_failed;
	/* true: check_value() has rejected the value of the current command */
	bool value_is_bad;
	struct error *err;
};

static bool is_for_us(const struct receive_command *cmd)
{
	return !cmd->error && !cmd->by_hook && !cmd->is_alias;
}

/*
 * Returns 0 if a ref may have this object as its value, ERR_INVALID if not, or
 * another negative error code.
 */
static int check_value(void *ctx, const char *name, const struct oid *oid,
		       struct error *err)
{
	struct batch *b = ctx;
	char hex[OID_MAX_HEX_LEN + 1];
	enum object_type type;
	int ret = receive_rules_type(b->rules, oid, &type, err);

	if (ret < 0)
		return ret;
	oid_to_hex(hex, oid, b->r->repo->algo);
	b->value_is_bad = true;
	if (!ret)
		return error_set(err, ERR_INVALID,
				 "trying to write ref '%s' with nonexistent "
				 "object %s",
				 name, hex);
	if (type != OBJ_COMMIT && !strncmp(name, "refs/heads/", 11))
		return error_set(err, ERR_INVALID,
				 "trying to write non-commit object %s to "
				 "branch '%s'",
				 hex, name);
	b->value_is_bad = false;
	return 0;
}

static int on_state(void *ctx, enum ref_state state,
		    const struct ref_transaction *tx, struct error *err)
{
	struct batch *b = ctx;

	return receive_hook_transaction(b->r, state, tx, err);
}

/*
 * Shows a warning about a file of the repository to the administrator of the
 * server. As with stock Git, the client does not get this warning.
 */
static void warn(void *ctx, const char *text)
{
	const struct batch *b = ctx;
	const struct receive_options *options = b->r->options;
	struct buf line = BUF_INIT;

	if (options->tell && !buf_printf(&line, "warning: %s\n", text))
		options->tell(options->tell_ctx, line.data, line.len);
	buf_release(&line);
}

/*
 * Lets the target of the push (struct receive_target) change the refs in its
 * store. Sends keep-alives to the client meanwhile, because a store may be
 * slow.
 */
static int publish(void *ctx, struct ref_transaction *tx, struct error *err)
{
	struct batch *b = ctx;
	const struct receive_target *target = b->r->options->target;
	struct sys_ticker *ticker = NULL;
	int ret = receive_peer_start_ticker(&ticker, &b->r->peer,
					    b->r->config.keep_alive, err);

	if (!ret)
		ret = target->publish(target->ctx, tx, err);
	sys_ticker_stop(ticker);
	b->has_failed = ret < 0 && ret != ERR_INVALID;
	return ret;
}

/*
 * Set up the change that deletes a ref. If the old object of the command does
 * not exist, the ref is deleted whatever its value is.
 */
static int prepare_delete(struct batch *b, struct receive_command *cmd,
			  const char *full, struct ref_change *change)
{
	struct ref ref;
	int ret = 0;

	if (!oid_is_zero(&cmd->old_oid))
		ret = receive_rules_old(b->rules, cmd, full, b->err);
	if (ret)
		return ret < 0 ? ret : 0;
	change->old_oid = NULL;
	if (refs_lookup(b->r->refs.refs, full, &ref, NULL)) {
		receive_peer_tell(
			&b->r->peer,
			"warning: allowing deletion of corrupt ref\n");
	} else {
		receive_peer_tell(&b->r->peer,
				  "warning: deleting a non-existent ref\n");
		cmd->is_void = true;
	}
	return 0;
}

static int queue(struct batch *b, struct receive_command *cmd, const char *full)
{
	struct ref_change change = {
		.name = full,
		.new_oid = &cmd->new_oid,
		.old_oid = &cmd->old_oid,
		.message = "push",
	};
	int ret = 0;

	if (receive_is_delete(cmd))
		ret = prepare_delete(b, cmd, full, &change);
	b->value_is_bad = false;
	if (!ret)
		ret = ref_transaction_add(b->tx, &change, b->err);
	if (ret == ERR_INVALID || ret > 0) {
		receive_peer_tell_failure(&b->r->peer, b->err->code,
					  b->err->msg);
		ret = receive_refuse(
			cmd, b->value_is_bad ? ref_result_reason(REF_BAD_VALUE)
					     : "failed to update ref");
	} else if (!ret) {
		b->commands[b->nr++] = cmd;
	}
	return ret;
}

/*
 * Add the change of a command to the transaction. `full` is a copy, because
 * look-ups overwrite the buffer of the refview.
 */
static int execute(struct batch *b, struct receive_command *cmd)
{
	const char *name = refview_full_name(&b->r->refs, cmd->ref);
	char *full = name ? mem_strdup(name) : NULL;
	int ret = full ? 0 : error_nomem(b->err);

	if (!ret && cmd->updates_worktree)
		ret = receive_worktree_update(b->r, cmd, full, b->err);
	if (!ret && !cmd->error)
		ret = queue(b, cmd, full);
	free(full);
	return ret;
}

/*
 * Check a command with the rules and the update hook, and add its change to the
 * transaction.
 */
static int take(struct batch *b, struct receive_command *cmd)
{
	int ret = receive_rules_check(b->rules, cmd, b->err);

	if (ret < 0 || cmd->error)
		return ret;
	ret = receive_hook_update(b->r, cmd, b->err);
	if (ret < 0)
		return ret;
	if (ret) {
		receive_peer_tell(&b->r->peer,
				  "error: hook declined to update %s\n",
				  cmd->ref);
		return receive_refuse(cmd, "hook declined");
	}
	return execute(b, cmd);
}

static int batch_open(struct batch *b, struct receive *r,
		      struct receive_rules *rules, bool atomic,
		      struct error *err)
{
	struct ref_transaction_options options = {
		.committer = r->options->committer,
		.keep_going = !atomic,
		.check_value = check_value,
		.on_state = on_state,
		.warn = warn,
		.publish = r->options->target ? publish : NULL,
		.ctx = b,
	};

	*b = (struct batch){.r = r, .rules = rules, .err = err};
	b->commands = mem_alloc(r->request.nr, sizeof(*b->commands));
	if (!b->commands)
		return error_nomem(err);
	return ref_transaction_new(&b->tx, r->repo, &options, err);
}

static void batch_close(struct batch *b)
{
	ref_transaction_free(b->tx);
	free(b->commands);
}

/* Refuse the commands whose changes failed in the transaction. */
static int take_results(struct batch *b)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < b->nr; i++) {
		const struct ref_update *u = ref_transaction_get(b->tx, i);

		if (u->result == REF_OK)
			continue;
		receive_peer_tell_failure(&b->r->peer, 0, u->error);
		ret = receive_refuse(b->commands[i],
				     ref_result_reason(u->result));
	}
	return ret;
}

/*
 * Called when the transaction has failed as a whole: tell the client why.
 * Returns the reason with which each command is refused: b->err->msg if
 * publish() of the target has failed (b->has_failed), otherwise the general
 * text `why`.
 */
static const char *tell_reason(struct batch *b, const char *why)
{
	receive_peer_tell_failure(&b->r->peer, b->err->code, b->err->msg);
	if (!b->has_failed)
		return why;
	receive_hide_paths(b->err->msg);
	return b->err->msg;
}

/* Refuse all commands of a transaction that failed as a whole. */
static int refuse_batch(struct batch *b, const char *why)
{
	int ret = 0;

	why = tell_reason(b, why);
	for (size_t i = 0; !ret && i < b->nr; i++)
		ret = receive_refuse(b->commands[i], why);
	return ret;
}

static int commit(struct batch *b, const char *failure)
{
	int ret = ref_transaction_commit(b->tx, b->err);

	if (ret == ERR_NOMEM)
		return ret;
	return ret ? refuse_batch(b, failure) : take_results(b);
}

static int run_separately(struct receive *r, struct receive_rules *rules,
			  bool deletions, struct error *err)
{
	struct receive_request *req = &r->request;
	struct batch b;
	bool any = false;
	int ret = batch_open(&b, r, rules, false, err);

	for (size_t i = 0; !ret && i < req->nr; i++) {
		if (!is_for_us(&req->commands[i]) ||
		    receive_is_delete(&req->commands[i]) != deletions)
			continue;
		any = true;
		ret = take(&b, &req->commands[i]);
	}
	/*
	 * As in stock Git, the transaction runs its hooks even if the rules
	 * have refused all commands.
	 */
	if (!ret && any)
		ret = commit(&b, "failed to update refs");
	batch_close(&b);
	return ret;
}

/*
 * Execute all commands in one transaction. The loop stops at the first command
 * that is refused, because then all commands are refused.
 */
static int run_atomic(struct receive *r, struct receive_rules *rules,
		      struct error *err)
{
	struct receive_request *req = &r->request;
	const char *failure = NULL;
	struct batch b;
	int ret = batch_open(&b, r, rules, true, err);

	for (size_t i = 0; !ret && !failure && i < req->nr; i++) {
		if (is_for_us(&req->commands[i]))
			ret = take(&b, &req->commands[i]);
		if (req->commands[i].error)
			failure = "atomic push failure";
	}
	if (!ret && !failure) {
		ret = b.nr ? ref_transaction_commit(b.tx, err) : 0;
		if (ret < 0 && ret != ERR_NOMEM) {
			failure = tell_reason(&b, "atomic transaction failed");
			ret = 0;
		}
	}
	/* Skip commands that the proc-receive hook has executed. */
	for (size_t i = 0; !ret && failure && i < req->nr; i++)
		if (!req->commands[i].by_hook)
			ret = receive_refuse(&req->commands[i], failure);
	batch_close(&b);
	return ret;
}

/*
 * Add commits to the shallow boundary before refs change. Without the boundary,
 * the history of the refs would look broken.
 */
static int add_shallow(struct receive *r, const struct oidset *new_shallow,
		       struct error *err)
{
	bool is_needed = false;

	for (size_t i = 0; i < r->request.nr; i++)
		is_needed |= !r->request.commands[i].error &&
			     r->request.commands[i].needs_shallow;
	return is_needed ? repo_shallow_add(r->repo, new_shallow->oids,
					    new_shallow->nr, err)
			 : 0;
}

int receive_update_refs(struct receive *r, const struct oidset *new_shallow,
			struct error *err)
{
	struct receive_rules rules;
	int ret = add_shallow(r, new_shallow, err);

	if (ret < 0)
		return ret;
	ret = receive_rules_init(&rules, r, err);
	if (!ret && r->request.atomic) {
		ret = run_atomic(r, &rules, err);
	} else if (!ret) {
		ret = run_separately(r, &rules, true, err);
		if (!ret)
			ret = run_separately(r, &rules, false, err);
	}
	receive_rules_release(&rules);
	return ret;
}
