/* SPDX-License-Identifier: MIT */
/* Ref transactions with hooks and checks of new values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builtin/hook-run.h"
#include "builtin/ref-change.h"
#include "config/ident.h"
#include "object/hash.h"
#include "sys/io.h"

/*
 * Maximum size in bytes of an object that is read and checked before a ref may
 * point to it. A larger object needs only to exist; it is most likely a blob.
 */
#define CHECKED_SIZE (UINT64_C(64) << 20)

void ref_changer_init(struct ref_changer *changer, struct store *store)
{
	*changer = (struct ref_changer){
		.store = store, .committer = BUF_INIT, .advice = BUF_INIT};
}

void ref_changer_release(struct ref_changer *changer)
{
	buf_release(&changer->committer);
	buf_release(&changer->advice);
}

static bool is_branch(const char *name)
{
	return !strncmp(name, "refs/heads/", 11) || !strcmp(name, "HEAD");
}

/*
 * Returns whether the loose file of an object is empty. As in stock Git, the
 * object then counts as missing.
 */
static bool is_empty_file(const struct store *store, const struct oid *oid)
{
	struct buf path = BUF_INIT;
	struct sys_stat st;
	bool is_empty = !odb_loose_path(&path, store->odb,
					store->repo->object_dir, oid) &&
			!sys_stat(&st, path.data, NULL) && !st.size;

	buf_release(&path);
	return is_empty;
}

/*
 * Reads an object whose content fits in memory, and compares the content with
 * the id. Returns 0 if they agree. Returns ERR_MISSING if the object does not
 * exist. Also returns ERR_MISSING, after printing an error, if the content has
 * another id. Returns ERR_CORRUPT if all copies of the object are damaged, or
 * another negative error code.
 */
static int check_object(const struct store *store, const struct oid *oid,
			struct error *err)
{
	struct odb_object obj = ODB_OBJECT_INIT;
	char hex[OID_MAX_HEX_LEN + 1];
	struct hash_ctx hash;
	struct oid actual;
	int ret = hash_init(&hash, store->odb->algo);

	if (ret < 0)
		return ret;
	oid_to_hex(hex, oid, store->odb->algo);
	ret = odb_read(store->reader, oid, &obj, err);
	if (!ret) {
		hash_object(&hash, &actual, obj.type, obj.data, obj.len);
		if (!oid_equal(&actual, oid)) {
			builtin_error("hash mismatch %s", hex);
			ret = ERR_MISSING;
		}
	}
	odb_object_release(store->reader, &obj);
	hash_release(&hash);
	return ret;
}

/*
 * The check_value callback of a transaction: checks that the ref may point to
 * the new value.
 */
static int check_value(void *ctx, const char *name, const struct oid *new_oid,
		       struct error *err)
{
	const struct ref_changer *changer = ctx;
	const struct store *store = changer->store;
	char hex[OID_MAX_HEX_LEN + 1];
	enum object_type type;
	uint64_t size;
	int ret = odb_info(store->reader, new_oid, &type, &size, err);

	if (!ret && size <= CHECKED_SIZE)
		ret = check_object(store, new_oid, err);
	if (ret == ERR_CORRUPT && is_empty_file(store, new_oid)) {
		if (err)
			builtin_error("%s", err->msg);
		ret = ERR_MISSING;
	}
	oid_to_hex(hex, new_oid, store->odb->algo);
	if (ret < 0 && ret != ERR_MISSING)
		return ret;
	if (ret < 0)
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

/*
 * Appends the changes of a transaction, in the format that hooks read on
 * standard input.
 */
static int describe(void *ctx, struct buf *out)
{
	return ref_transaction_describe(out, ctx);
}

int ref_hook_run(const struct repo *repo, enum ref_state state,
		 int (*describe_changes)(void *ctx, struct buf *out), void *ctx,
		 struct buf *advice, struct error *err)
{
	const char *name = ref_state_name(state);
	const struct hook_call call = {
		.repo = repo,
		.event = "reference-transaction",
		.args = &name,
		.arg_nr = 1,
		.describe = describe_changes,
		.ctx = ctx,
		.advice = advice,
	};
	struct error why = ERROR_INIT;
	int ret = hook_run(&call, &why);

	/*
	 * A transaction stays committed or aborted whatever the hook returns,
	 * even if the hook cannot be started.
	 */
	if (state == REF_COMMITTED || state == REF_ABORTED) {
		if (ret < 0)
			builtin_error("%s", why.msg);
		return 0;
	}
	if (ret < 0 && err)
		*err = why;
	if (ret <= 0)
		return ret;
	error_set(err, ERR_DENIED,
		  "in '%s' phase, update aborted by the "
		  "reference-transaction hook",
		  name);
	return 1;
}

/* Prints advice about core.preferSymlinkRefs, once for each command. */
static void advise(struct ref_changer *changer)
{
	if (changer->has_advised)
		return;
	changer->has_advised = true;
	builtin_warn("'core.preferSymlinkRefs=true' is nominated for "
		     "removal.");
	fputs("hint: Git 3.0 will write every symbolic ref as a file with "
	      "text.\n"
	      "hint: Remove core.preferSymlinkRefs from your configuration.\n",
	      stderr);
}

/*
 * The on_state callback of a transaction: runs the hook reference-transaction.
 */
static int tell_hooks(void *ctx, enum ref_state state,
		      const struct ref_transaction *tx, struct error *err)
{
	struct ref_changer *changer = ctx;
	int ret = ref_hook_run(changer->store->repo, state, describe,
			       (void *)tx, &changer->advice, err);

	if (state == REF_COMMITTED && ref_transaction_symlink_nr(tx))
		advise(changer);
	if (ret <= 0)
		return ret;
	changer->was_refused = true;
	return ERR_DENIED;
}

static void warn(void *ctx, const char *text)
{
	(void)ctx;
	builtin_warn("%s", text);
}

int ref_changer_begin(struct ref_transaction **out, struct ref_changer *changer,
		      struct error *err)
{
	struct ref_transaction_options options = {
		.keep_going = changer->keep_going,
		.check_value = check_value,
		.on_state = tell_hooks,
		.warn = warn,
		.ctx = changer,
	};
	int ret = config_bool(&changer->store->repo->config,
			      "core.prefersymlinkrefs",
			      &options.prefer_symlinks, err);

	*out = NULL;
	if (ret < 0)
		return ret;
	buf_reset(&changer->committer);
	ret = ident_committer(&changer->committer,
			      &changer->store->repo->config,
			      &changer->no_committer);
	if (!ret) {
		options.committer = changer->committer.data;
	} else if (ret == ERR_INVALID) {
		options.no_committer = changer->no_committer.msg;
	} else {
		if (err)
			*err = changer->no_committer;
		return ret;
	}
	return ref_transaction_new(out, changer->store->repo, &options, err);
}

int ref_changer_fail(const struct ref_changer *changer, const char *prefix,
		     const struct error *err)
{
	return builtin_die("%s%s", changer->was_refused ? "" : prefix,
			   err->msg);
}
