/* SPDX-License-Identifier: MIT */
/*
 * The public functions of ref transactions: they queue changes, and prepare,
 * commit or abort the transaction.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "refs-write/ref-transaction-internal.h"
#include "refs/refs-loose.h"

const char *ref_result_reason(enum ref_result result)
{
	switch (result) {
	case REF_OK:
		return "";
	case REF_NAME_CONFLICT:
		return "refname conflict";
	case REF_LOCKED: /* as in stock Git, the text of REF_EXISTS */
	case REF_EXISTS:
		return "reference already exists";
	case REF_ABSENT:
		return "reference does not exist";
	case REF_OLD_DIFFERS:
		return "incorrect old value provided";
	case REF_BAD_VALUE:
		return "invalid new value provided";
	case REF_NOT_SYMBOLIC:
		return "expected symref but found regular ref";
	case REF_DUPLICATE:
		return "multiple updates for one reference";
	case REF_BROKEN:
		return "reference is broken";
	case REF_FAILED:
		break;
	}
	return "unknown failure";
}

const char *ref_state_name(enum ref_state state)
{
	static const char *const names[] = {
		[REF_PREPARING] = "preparing",
		[REF_PREPARED] = "prepared",
		[REF_COMMITTED] = "committed",
		[REF_ABORTED] = "aborted",
	};

	return names[state];
}

int ref_transaction_new(struct ref_transaction **out, const struct repo *repo,
			const struct ref_transaction_options *options,
			struct error *err)
{
	struct ref_transaction *tx = mem_calloc(1, sizeof(*tx));

	*out = NULL;
	if (!tx)
		return error_nomem(err);
	tx->repo = repo;
	tx->backend = repo->ref_storage == REPO_REFS_REFTABLE
			      ? &refs_reftable_tx_backend
			      : &refs_files_tx_backend;
	if (options && options->publish)
		tx->backend = &refs_publish_tx_backend;
	buf_init(&tx->path);
	if (options)
		tx->options = *options;
	tx->options.committer = NULL;
	if (options && options->committer) {
		tx->committer = mem_strdup(options->committer);
		if (!tx->committer) {
			ref_transaction_free(tx);
			return error_nomem(err);
		}
	}
	*out = tx;
	return 0;
}

static void update_free(struct ref_update *u)
{
	if (!u)
		return;
	free(u->name);
	free(u->new_target);
	free(u->old_target);
	free(u->message);
	free(u->error);
	free(u);
}

/* Releases locks and the snapshot of refs. Does not call on_state. */
static void close_transaction(struct ref_transaction *tx)
{
	tx->backend->unlock(tx);
	refs_close(tx->refs);
	tx->refs = NULL;
	free(tx->head_target);
	tx->head_target = NULL;
	tx->phase = REF_PHASE_CLOSED;
}

void ref_transaction_free(struct ref_transaction *tx)
{
	size_t i;

	if (!tx)
		return;
	if (tx->phase == REF_PHASE_PREPARED)
		ref_transaction_abort(tx, NULL);
	else
		close_transaction(tx);
	ref_items_free(tx);
	for (i = 0; i < tx->update_nr; i++)
		update_free(tx->updates[i]);
	free(tx->updates);
	free(tx->committer);
	buf_release(&tx->path);
	free(tx);
}

/*
 * Returns whether the file that belongs to the ill-formed name `name` is below
 * refs/. If so, deleting this ref cannot remove another file of the git
 * directory.
 */
static bool name_is_safe(const char *name)
{
	if (strncmp(name, "refs/", 5))
		return false;
	for (name += 5;; name++) {
		size_t len = strcspn(name, "/");

		if (!len || (len <= 2 && !strncmp(name, "..", len)))
			return false;
		name += len;
		if (!*name)
			return true;
	}
}

/*
 * Returns whether a long name, "main-worktree/<ref>" or "worktrees/<id>/<ref>",
 * names a ref that all work trees share.
 */
static bool name_is_shared_ref(const char *name)
{
	const char *inner = refs_place_of(name).inner;

	return inner != name && !refs_loose_is_per_worktree(inner);
}

/*
 * Checks the name in a change. Returns 0 or ERR_INVALID.
 *
 * A long name is "main-worktree/<ref>" or "worktrees/<id>/<ref>". A change must
 * not use the long name of a ref that all work trees share: the checks of
 * values and conflicts would not know this name.
 *
 * Names of deleted or verified refs are checked too. Otherwise a change could
 * delete any file of the git directory. As in stock Git, a ref of another work
 * tree cannot be deleted by its long name. FETCH_HEAD and MERGE_HEAD are
 * refused, since they contain more than ids. A symbolic ref must be below refs/
 * or a root ref of this work tree.
 */
static int check_name(const struct ref_change *change, struct error *err)
{
	const char *name = change->name;
	bool writes = change->new_target ||
		      (change->new_oid && !oid_is_zero(change->new_oid));
	bool valid = refs_name_is_valid_len(name, strlen(name), true);

	if (change->new_target && strncmp(name, "refs/", 5) != 0 &&
	    !refs_name_has_root_form(name))
		valid = writes = false;
	if (name_is_shared_ref(name))
		valid = false;
	if (!strcmp(name, "FETCH_HEAD") || !strcmp(name, "MERGE_HEAD"))
		return error_set(err, ERR_INVALID,
				 "refusing to update pseudoref '%s'", name);
	if (valid && (writes || refs_name_has_root_form(name)))
		return 0;
	if (!writes && name_is_safe(name))
		return 0;
	return error_set(err, ERR_INVALID,
			 "refusing to update ref with bad name '%s'", name);
}

/* Copies a string that may be NULL. Returns false when out of memory. */
static bool copy_string(char **out, const char *s)
{
	*out = s ? mem_strdup(s) : NULL;
	return *out || !s;
}

static int copy_message(struct ref_update *u, const char *message)
{
	struct buf clean = BUF_INIT;
	int ret;

	if (!message)
		return 0;
	ret = reflog_clean_message(&clean, message);
	if (!ret) {
		u->message = buf_detach(&clean, NULL);
		ret = u->message ? 0 : ERR_NOMEM;
	}
	buf_release(&clean);
	return ret;
}

static struct ref_update *update_new(const struct ref_change *change)
{
	struct ref_update *u = mem_calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->flags = change->flags;
	u->has_new = change->new_oid != NULL;
	u->has_old = change->old_oid != NULL;
	if (u->has_new)
		u->new_oid = *change->new_oid;
	if (u->has_old)
		u->old_oid = *change->old_oid;
	if (copy_string(&u->name, change->name) &&
	    copy_string(&u->new_target, change->new_target) &&
	    copy_string(&u->old_target, change->old_target) &&
	    !copy_message(u, change->message))
		return u;
	update_free(u);
	return NULL;
}

/*
 * Checks the new value in a change. Returns 0 if the value is accepted, 1 or
 * ERR_INVALID if not (see ref_transaction_add()), or another negative error
 * code.
 */
static int check_value(const struct ref_transaction *tx,
		       const struct ref_change *change, struct error *err)
{
	int ret = 0;

	if (tx->options.check_value && !change->new_target && change->new_oid &&
	    !oid_is_zero(change->new_oid))
		ret = tx->options.check_value(tx->options.ctx, change->name,
					      change->new_oid, err);
	return ret == ERR_INVALID && tx->options.keep_going ? 1 : ret;
}

int ref_transaction_add(struct ref_transaction *tx,
			const struct ref_change *change, struct error *err)
{
	struct ref_update *u;
	int ret = check_name(change, err);

	if (!ret)
		ret = check_value(tx, change, err);
	if (ret)
		return ret;
	if (mem_grow(&tx->updates, &tx->update_alloc, tx->update_nr + 1,
		     sizeof(*tx->updates)) < 0)
		return error_nomem(err);
	u = update_new(change);
	if (!u)
		return error_nomem(err);
	tx->updates[tx->update_nr++] = u;
	return 0;
}

static int notify(struct ref_transaction *tx, enum ref_state state,
		  struct error *err)
{
	if (!tx->options.on_state)
		return 0;
	return tx->options.on_state(tx->options.ctx, state, tx, err);
}

/*
 * Reads the target of HEAD if HEAD is symbolic. If a change updates this
 * target, HEAD's reflog gets an entry too. Returns 0 or a negative error code.
 */
static int read_head(struct ref_transaction *tx, struct error *err)
{
	struct ref head;
	int ret = refs_read(tx->refs, "HEAD", &head, err);

	/*
	 * A broken or missing HEAD is treated like a HEAD that is not symbolic.
	 */
	if (ret == ERR_CORRUPT || !ret)
		return 0;
	if (ret > 0 && head.target) {
		tx->head_target = mem_strdup(head.target);
		if (!tx->head_target)
			return error_nomem(err);
	}
	return ret < 0 ? ret : 0;
}

static int add_items(struct ref_transaction *tx, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < tx->update_nr; i++)
		ret = ref_items_add(tx, tx->updates[i], tx->updates[i]->name, 0,
				    err);
	return ret;
}

/*
 * Locks the refs of all items that are not locked yet, in the order of their
 * names. As in stock Git, the error of a failed transaction is about the
 * earliest queued update that is rejected. So after a rejection that makes the
 * transaction fail, this function goes on, but locks only the refs of items
 * that were queued earlier. Returns 0 (also if updates are rejected and the
 * transaction continues without them) or a negative error code.
 */
static int lock_round(struct ref_transaction *tx, struct error *err)
{
	struct error why = ERROR_INIT;
	size_t limit = SIZE_MAX;
	int failed = 0;

	for (size_t i = 0; i < tx->sorted_nr; i++) {
		struct ref_item *item = tx->sorted[i];
		int ret;

		if (item->is_visited || item->order >= limit)
			continue;
		item->is_visited = true;
		ret = ref_item_lock(tx, item, &why);
		if (!ret)
			continue;
		if (err)
			*err = why;
		if (item->update->result == REF_OK)
			return ret;
		failed = ret;
		limit = item->order;
		/* The transaction fails: do not wait for further locks. */
		tx->lock_timeout_ms = 0;
	}
	return failed ? ref_items_recheck_among(tx, limit, failed, err) : 0;
}

/*
 * Locks the refs of all items, in rounds: locking a symbolic ref may add an
 * item for its target, which is locked in the next round. Within one round,
 * refs are locked in the order of their names, so two transactions cannot wait
 * for each other. Across rounds they can, but only until the lock timeout.
 * Returns 0 (also if updates are rejected) or a negative error code.
 */
static int lock_items(struct ref_transaction *tx, struct error *err)
{
	int ret = 0;

	while (!ret && tx->sorted_nr < tx->item_nr) {
		ret = ref_items_sort(tx, err);
		if (!ret)
			ret = lock_round(tx, err);
	}
	return ret;
}

static int prepare(struct ref_transaction *tx, struct error *err)
{
	int ret = reflog_policy(tx->repo, &tx->policy, err);

	if (!ret)
		ret = tx->backend->begin(tx, err);
	if (!ret)
		ret = refs_open(&tx->refs, tx->repo, err);
	if (!ret)
		ret = read_head(tx, err);
	if (!ret)
		ret = add_items(tx, err);
	if (!ret)
		ret = lock_items(tx, err);
	if (!ret)
		ret = ref_items_check_names(tx, err);
	if (!ret)
		ret = tx->backend->ready(tx, err);
	return ret;
}

static int cmp_names(const void *a, const void *b)
{
	const struct ref_update *const *ua = a, *const *ub = b;

	return strcmp((*ua)->name, (*ub)->name);
}

/* Returns whether the names of the changes are sorted, each larger than the
 * last. */
static bool is_ascending(const struct ref_transaction *tx)
{
	for (size_t i = 1; i < tx->update_nr; i++)
		if (cmp_names(&tx->updates[i - 1], &tx->updates[i]) >= 0)
			return false;
	return true;
}

/*
 * Fails if two changes have the same name. This check needs no lock, so it is
 * made before the first hook runs. Returns 0 or a negative error code.
 */
static int check_duplicates(struct ref_transaction *tx, struct error *err)
{
	struct ref_update **sorted;
	int ret = 0;

	/*
	 * Often no sort is needed: clients send the refs of a push sorted by
	 * name.
	 */
	if (is_ascending(tx))
		return 0;
	sorted = mem_alloc(tx->update_nr, sizeof(*sorted));
	if (!sorted)
		return error_nomem(err);
	memcpy(sorted, tx->updates, tx->update_nr * sizeof(*sorted));
	qsort(sorted, tx->update_nr, sizeof(*sorted), cmp_names);
	for (size_t i = 1; !ret && i < tx->update_nr; i++)
		if (!cmp_names(&sorted[i - 1], &sorted[i]))
			ret = ref_update_reject(tx, sorted[i], REF_DUPLICATE,
						err,
						"multiple updates for ref '%s' "
						"not allowed",
						sorted[i]->name);
	free(sorted);
	return ret;
}

/*
 * Closes the transaction, and calls on_state() with REF_ABORTED. Returns `ret`.
 */
static int give_up(struct ref_transaction *tx, int ret)
{
	close_transaction(tx);
	notify(tx, REF_ABORTED, NULL);
	return ret;
}

int ref_transaction_prepare(struct ref_transaction *tx, struct error *err)
{
	int ret;

	if (tx->phase != REF_PHASE_OPEN)
		return error_set(err, ERR_INVALID, "transaction is closed");
	ret = repo_check_quarantine(tx->repo, err);
	if (!ret && !tx->options.publish)
		ret = repo_check_copy(tx->repo, "change refs", err);
	if (!ret)
		ret = check_duplicates(tx, err);
	if (ret < 0) {
		tx->phase = REF_PHASE_CLOSED;
		return ret;
	}
	ret = notify(tx, REF_PREPARING, err);
	if (ret < 0)
		return give_up(tx, ret);
	ret = prepare(tx, err);
	if (ret < 0)
		return give_up(tx, ret);
	ret = notify(tx, REF_PREPARED, err);
	if (ret < 0)
		return give_up(tx, ret);
	tx->phase = REF_PHASE_PREPARED;
	return 0;
}

int ref_transaction_commit(struct ref_transaction *tx, struct error *err)
{
	int ret = 0;

	if (tx->phase == REF_PHASE_OPEN)
		ret = ref_transaction_prepare(tx, err);
	else if (tx->phase == REF_PHASE_CLOSED)
		ret = error_set(err, ERR_INVALID, "transaction is closed");
	if (ret < 0)
		return ret;
	ret = tx->backend->commit(tx, err);
	close_transaction(tx);
	if (!ret)
		notify(tx, REF_COMMITTED, NULL);
	else if (tx->options.publish && ret != ERR_PEER)
		notify(tx, REF_ABORTED, NULL);
	return ret;
}

int ref_transaction_abort(struct ref_transaction *tx, struct error *err)
{
	if (tx->phase == REF_PHASE_CLOSED)
		return 0;
	close_transaction(tx);
	return notify(tx, REF_ABORTED, err);
}

size_t ref_transaction_nr(const struct ref_transaction *tx)
{
	return tx->update_nr;
}

size_t ref_transaction_symlink_nr(const struct ref_transaction *tx)
{
	return tx->symlink_nr;
}

const struct ref_update *ref_transaction_get(const struct ref_transaction *tx,
					     size_t i)
{
	return tx->updates[i];
}

/*
 * Appends "ref:<target>" or an id, or the zero id if neither is set. Returns 0
 * or ERR_NOMEM.
 */
static int describe_value(struct buf *out, const char *target, bool has_oid,
			  const struct oid *oid, enum hash_algo algo)
{
	static const struct oid zero = OID_ZERO_INIT;
	char hex[OID_MAX_HEX_LEN + 1];

	if (target)
		return buf_printf(out, "ref:%s ", target);
	return buf_printf(out, "%s ",
			  oid_to_hex(hex, has_oid ? oid : &zero, algo));
}

static int describe_update(struct buf *out, const struct ref_update *u,
			   const char *name, enum hash_algo algo)
{
	int ret = describe_value(out, u->old_target, u->has_old, &u->old_oid,
				 algo);

	if (!ret)
		ret = describe_value(out, u->new_target, u->has_new,
				     &u->new_oid, algo);
	return ret ? ret : buf_printf(out, "%s\n", name);
}

int ref_transaction_describe(struct buf *out, const struct ref_transaction *tx)
{
	int ret = 0;
	size_t i;

	/*
	 * If symbolic refs were followed, the hook gets the names of their
	 * targets.
	 */
	for (i = 0; !ret && i < tx->item_nr; i++) {
		const struct ref_item *item = tx->items[i];

		if (!item->log_only && item->update->result == REF_OK)
			ret = describe_update(out, item->update, item->name,
					      tx->repo->algo);
	}
	for (i = 0; !ret && !tx->item_nr && i < tx->update_nr; i++)
		ret = describe_update(out, tx->updates[i], tx->updates[i]->name,
				      tx->repo->algo);
	return ret;
}
