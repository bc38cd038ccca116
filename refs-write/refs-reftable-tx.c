/* SPDX-License-Identifier: MIT */
/*
 * The reftable backend: locking, and conflicts of names.
 *
 * The lock of a stack covers all of its refs, so a transaction locks stacks
 * before it reads refs. It locks the stacks of the shared refs and of this work
 * tree at the beginning. It locks the stack of another work tree when it meets
 * a ref of that work tree.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "refs-write/refs-reftable-tx.h"
#include "sys/cleanup.h"

static void top_free(struct refs_reftable_top *top)
{
	if (top->append.dir)
		reftable_append_release(&top->append);
	free(top->changes);
	free(top->dir);
	free(top);
}

/* Locks the stack in tx->tables->dir, and adds it to the list. */
static int lock_stack(struct ref_transaction *tx,
		      struct refs_reftable_top **out, struct error *err)
{
	struct refs_reftable_tx *t = tx->tables;
	struct refs_reftable_top *top;
	int ret;

	if (mem_grow(&t->tops, &t->alloc, t->nr + 1, sizeof(*t->tops)) < 0)
		return error_nomem(err);
	top = mem_calloc(1, sizeof(*top));
	if (!top)
		return error_nomem(err);
	top->dir = mem_strdup(t->dir.data);
	ret = top->dir ? reftable_append_begin(&top->append, top->dir,
					       &t->options, err)
		       : error_nomem(err);
	if (ret < 0) {
		top->append.dir = NULL;
		top_free(top);
		if (ret == ERR_DENIED && err)
			error_set(err, ret, "cannot lock references\n\n%s",
				  err->msg);
		return ret;
	}
	*out = t->tops[t->nr++] = top;
	return 0;
}

/*
 * Finds the locked stack of a ref, or locks it. *inner is the ref's name in the
 * stack.
 */
static int find_top(struct ref_transaction *tx, const char *name,
		    struct refs_reftable_top **top, const char **inner,
		    struct error *err)
{
	struct refs_reftable_tx *t = tx->tables;

	buf_reset(&t->dir);
	*inner = refs_reftable_place(&t->dir, tx->repo, name);
	if (!*inner)
		return error_nomem(err);
	for (size_t i = 0; i < t->nr; i++)
		if (!strcmp(t->tops[i]->dir, t->dir.data)) {
			*top = t->tops[i];
			return 0;
		}
	return lock_stack(tx, top, err);
}

static int tx_begin(struct ref_transaction *tx, struct error *err)
{
	struct refs_reftable_top *top;
	const char *inner;
	int ret;

	tx->tables = mem_calloc(1, sizeof(*tx->tables));
	if (!tx->tables)
		return error_nomem(err);
	buf_init(&tx->tables->dir);
	ret = refs_reftable_options(&tx->tables->options, tx->repo, err);
	if (!ret && tx->update_nr)
		ret = find_top(tx, "refs/", &top, &inner, err);
	if (!ret && tx->update_nr)
		ret = find_top(tx, "HEAD", &top, &inner, err);
	return ret;
}

static int tx_lock(struct ref_transaction *tx, struct ref_item *item,
		   struct error *err)
{
	struct refs_reftable_top *top;
	struct refs_reftable_change *change;
	const char *inner;
	int ret;

	ret = find_top(tx, item->name, &top, &inner, err);
	if (ret < 0)
		return ret;
	if (mem_grow(&top->changes, &top->alloc, top->nr + 1,
		     sizeof(*top->changes)) < 0)
		return error_nomem(err);
	change = &top->changes[top->nr++];
	change->item = item;
	change->name = item->name + (inner - item->name);
	return 0;
}

/* A broken ref is a conflict, too. */
static int is_taken(struct refs *refs, const char *name, struct error *err)
{
	struct ref ref;
	int ret = refs_read(refs, name, &ref, err);

	return ret == ERR_CORRUPT ? 1 : ret;
}

static int tx_conflict(struct ref_transaction *tx, struct ref_item *item,
		       struct buf *other, struct error *err)
{
	struct buf dir = BUF_INIT;
	int ret = ref_items_find_above(tx, item->name, is_taken, other, err);

	if (!ret && buf_printf(&dir, "%s/", item->name) < 0)
		ret = error_nomem(err);
	if (!ret)
		ret = refs_reftable_find_below(tx->refs, dir.data, other, err);
	buf_release(&dir);
	return ret;
}

static int tx_stage(struct ref_transaction *tx, struct ref_item *item,
		    struct error *err)
{
	/* tx_ready() writes all values in the order of names. */
	(void)tx;
	(void)item;
	(void)err;
	return 0;
}

static int tx_ready(struct ref_transaction *tx, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < tx->tables->nr; i++)
		ret = refs_reftable_stage(tx, tx->tables->tops[i], err);
	return ret;
}

/* Renames one table into place. */
static int commit_top(struct ref_transaction *tx, struct refs_reftable_top *top,
		      struct error *err)
{
	struct error why = ERROR_INIT;
	int ret = reftable_append_commit(&top->append, &why);

	if (ret < 0) {
		for (size_t i = 0; i < top->nr; i++)
			if (top->changes[i].item->update->result == REF_OK)
				top->changes[i].item->update->result =
					REF_FAILED;
		return error_set(err, ret, "cannot update references: %s",
				 why.msg);
	}
	return 0;
}

/*
 * Commits all stacks. Signals are held, so that none leaves half of a
 * transaction.
 */
static int commit_tops(struct ref_transaction *tx, struct error *err)
{
	struct sys_hold hold;
	int ret = 0;

	sys_hold_signals(&hold);
	for (size_t i = 0; !ret && i < tx->tables->nr; i++)
		ret = commit_top(tx, tx->tables->tops[i], err);
	sys_release_signals(&hold);
	return ret;
}

/* The commit is already complete, so a failure to compact is ignored. */
static void compact_full(struct ref_transaction *tx)
{
	for (size_t i = 0; i < tx->tables->nr; i++) {
		struct refs_reftable_top *top = tx->tables->tops[i];

		if (reftable_append_is_full(&top->append) > 0)
			reftable_compact_auto(top->dir, &tx->tables->options,
					      NULL);
	}
}

static void tx_unlock(struct ref_transaction *tx)
{
	struct refs_reftable_tx *t = tx->tables;

	if (!t)
		return;
	while (t->nr)
		top_free(t->tops[--t->nr]);
	free(t->tops);
	odb_reader_free(t->reader);
	odb_close(t->odb);
	buf_release(&t->dir);
	free(t);
	tx->tables = NULL;
}

static int tx_commit(struct ref_transaction *tx, struct error *err)
{
	int ret = commit_tops(tx, err);

	if (!ret)
		compact_full(tx);
	tx_unlock(tx);
	return ret;
}

const struct ref_tx_backend refs_reftable_tx_backend = {
	.begin = tx_begin,
	.lock = tx_lock,
	.conflict = tx_conflict,
	.stage = tx_stage,
	.ready = tx_ready,
	.commit = tx_commit,
	.unlock = tx_unlock,
};
