/* SPDX-License-Identifier: MIT */
/* Transactions of commands. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "builtin/ref-change.h"
#include "repo/hook.h"
#include "repo/ident.h"
#include "sys/spawn.h"
#include "sys/trace.h"

void ref_changer_init(struct ref_changer *changer, struct store *store)
{
	*changer = (struct ref_changer){store, BUF_INIT, false};
}

void ref_changer_release(struct ref_changer *changer)
{
	buf_release(&changer->committer);
}

static bool is_branch(const char *name)
{
	return !strncmp(name, "refs/heads/", 11) || !strcmp(name, "HEAD");
}

/* check_value of a transaction. */
static int check_value(void *ctx, const char *name, const struct oid *new_oid,
		       struct error *err)
{
	const struct ref_changer *changer = ctx;
	const struct store *store = changer->store;
	char hex[OID_MAX_HEX_LEN + 1];
	enum object_type type;

	oid_to_hex(hex, new_oid, store->odb->algo);
	if (odb_info(store->reader, new_oid, &type, NULL, NULL) < 0)
		return error_set(err, ERR_INVALID,
				 "trying to write ref '%s' with nonexistent "
				 "object %s",
				 name, hex);
	if (is_branch(name) && type != OBJ_COMMIT)
		return error_set(err, ERR_INVALID,
				 "trying to write non-commit object %s to "
				 "branch '%s'",
				 hex, name);
	return 0;
}

/* Run the hook with the changes on its standard input; its exit code. */
static int run_hook(const char *path, enum ref_state state,
		    const struct ref_transaction *tx, struct trace *trace,
		    struct error *err)
{
	const char *argv[] = {path, ref_state_name(state), NULL};
	struct buf input = BUF_INIT;
	struct sys_talk talk = {.input = NULL};
	struct trace_child told;
	struct sys_child child;
	void (*on_pipe)(int);
	int ret, status;

	/* A hook that does not read its input must not end us. */
	on_pipe = signal(SIGPIPE, SIG_IGN);
	if (ref_transaction_describe(&input, tx) < 0) {
		ret = error_nomem(err);
		goto out;
	}
	trace_child_start(trace, &told, argv, "reference-transaction");
	ret = sys_spawn(&child, (char *const *)argv, NULL,
			SYS_SPAWN_PIPE_IN | SYS_SPAWN_OUT_TO_ERR, err);
	if (ret < 0)
		goto out;
	talk.input = input.data;
	talk.input_len = input.len;
	ret = sys_spawn_talk(&child, &talk, err);
	status = sys_spawn_wait(&child, ret ? NULL : err);
	trace_child_exit(trace, &told, child.pid, status);
	ret = ret ? ret : status;
out:
	signal(SIGPIPE, on_pipe);
	buf_release(&input);
	return ret;
}

/* on_state of a transaction: the reference-transaction hook. */
static int tell_hook(void *ctx, enum ref_state state,
		     const struct ref_transaction *tx, struct error *err)
{
	const struct ref_changer *changer = ctx;
	char *path;
	int ret = repo_hook_find(&path, changer->store->repo,
				 "reference-transaction", err);

	if (ret > 0) {
		setenv("GIT_DIR", changer->store->repo->git_dir, 1);
		ret = run_hook(path, state, tx, changer->store->repo->trace,
			       err);
	}
	free(path);
	if (ret <= 0)
		return ret;
	return error_set(err, ERR_DENIED, "ref updates aborted by hook");
}

int ref_changer_begin(struct ref_transaction **out, struct ref_changer *changer,
		      struct error *err)
{
	struct ref_transaction_options options = {
		.keep_going = changer->keep_going,
		.check_value = check_value,
		.on_state = tell_hook,
		.ctx = changer,
	};
	int ret;

	*out = NULL;
	buf_reset(&changer->committer);
	ret = ident_committer(&changer->committer,
			      &changer->store->repo->config, err);
	if (ret < 0)
		return ret;
	options.committer = changer->committer.data;
	return ref_transaction_new(out, changer->store->repo, &options, err);
}
