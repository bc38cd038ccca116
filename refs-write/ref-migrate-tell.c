/* SPDX-License-Identifier: MIT */
/*
 * Calls the hook reference-transaction for a migration, with the same
 * transactions as stock Git. The transactions depend on the new kind of
 * storage:
 * - Reftable: one transaction, which has all refs.
 * - Files: three transactions. The first one has all refs, the second one the
 *   refs in packed-refs, and the third one the loose refs.
 *
 * Each transaction is reported as "preparing" and then "prepared". As in stock
 * Git, only the third transaction is also reported as "committed". So if the
 * new storage is a reftable, no transaction is reported as committed.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/sort.h"
#include "refs-write/ref-migrate.h"
#include "refs/refs-backend.h"
#include "refs/refs-loose.h"

/* The lines for hooks, in the order of the names of the refs. */
struct telling {
	/* borrowed: the repository with the old store */
	const struct repo *repo;
	const struct ref_migrate_options *options;
	struct refs *refs; /* owned: the old store */
	/* names of the root refs; the array and each name are owned */
	char **roots;
	size_t root_nr, root_alloc;
	/* all refs; the refs that packed-refs gets; the other refs */
	struct buf all, packed, loose;
	struct error *err; /* borrowed */
};

static int append_line(struct telling *t, struct buf *out,
		       const struct ref *ref)
{
	static const struct oid zero = OID_ZERO_INIT;
	char old_hex[OID_MAX_HEX_LEN + 1], hex[OID_MAX_HEX_LEN + 1];

	return buf_printf(
		out, "%s %s%s %s\n", oid_to_hex(old_hex, &zero, t->repo->algo),
		ref->target ? "ref:" : "",
		ref->target ? ref->target
			    : oid_to_hex(hex, &ref->oid, t->repo->algo),
		ref->name);
}

static int add_ref(struct telling *t, const struct ref *ref)
{
	bool is_loose = ref->target || refs_name_is_root(ref->name);

	return append_line(t, &t->all, ref) < 0 ||
			       append_line(t, is_loose ? &t->loose : &t->packed,
					   ref) < 0
		       ? error_nomem(t->err)
		       : 0;
}

static int add_root(void *ctx, const char *name)
{
	struct telling *t = ctx;

	if (mem_grow(&t->roots, &t->root_alloc, t->root_nr + 1,
		     sizeof(*t->roots)) < 0)
		return error_nomem(t->err);
	t->roots[t->root_nr] = mem_strdup(name);
	return t->roots[t->root_nr++] ? 0 : error_nomem(t->err);
}

/* Capitals sort before "refs/", so root refs come first. */
static int add_roots(struct telling *t)
{
	int ret = t->refs->backend->each_root(t->refs, add_root, t, t->err);

	if (!ret && t->root_nr)
		sort_strings(t->roots, t->root_nr);
	for (size_t i = 0; ret >= 0 && i < t->root_nr; i++) {
		struct ref ref;

		ret = refs_read_stored(t->refs, t->roots[i], &ref, t->err);
		if (ret > 0)
			ret = add_ref(t, &ref);
	}
	return ret < 0 ? ret : 0;
}

static int add_refs(struct telling *t)
{
	const struct refs_backend *backend = t->refs->backend;
	struct refs_record record;
	struct refs_iter *iter;
	int ret = backend->iter_new(&iter, t->refs, "refs/", true, t->err);

	if (ret < 0)
		return ret;
	while ((ret = backend->iter_next(iter, &record, t->err)) > 0) {
		if (record.kind != REFS_RECORD_SYMBOLIC)
			record.ref.target = NULL;
		ret = add_ref(t, &record.ref);
		if (ret < 0)
			break;
	}
	backend->iter_free(iter);
	return ret;
}

/*
 * Tells the hook that a transaction is being prepared, and then that it is
 * prepared. If the hook refuses, tells the hook that the transaction is
 * aborted. Returns 0 or a negative error code.
 */
static int prepare(const struct telling *t, const struct buf *lines)
{
	const struct ref_migrate_options *o = t->options;
	int ret = o->on_state(o->ctx, REF_PREPARING, lines, t->err);

	if (!ret)
		ret = o->on_state(o->ctx, REF_PREPARED, lines, t->err);
	if (ret)
		o->on_state(o->ctx, REF_ABORTED, lines, NULL);
	return ret;
}

static int tell(const struct telling *t)
{
	const struct ref_migrate_options *o = t->options;
	int ret = prepare(t, &t->all);

	if (ret || o->storage == REPO_REFS_REFTABLE)
		return ret;
	ret = prepare(t, &t->packed);
	if (!ret)
		ret = prepare(t, &t->loose);
	return ret ? ret : o->on_state(o->ctx, REF_COMMITTED, &t->loose, NULL);
}

int ref_migrate_tell(const struct repo *repo,
		     const struct ref_migrate_options *options,
		     struct error *err)
{
	struct telling t = {
		.repo = repo,
		.options = options,
		.all = BUF_INIT,
		.packed = BUF_INIT,
		.loose = BUF_INIT,
		.err = err,
	};
	int ret;

	if (!options->on_state)
		return 0;
	ret = refs_open(&t.refs, repo, err);
	if (!ret)
		ret = add_roots(&t);
	if (!ret)
		ret = add_refs(&t);
	if (!ret)
		ret = tell(&t);
	refs_close(t.refs);
	while (t.root_nr)
		free(t.roots[--t.root_nr]);
	free(t.roots);
	buf_release(&t.all);
	buf_release(&t.packed);
	buf_release(&t.loose);
	return ret;
}
