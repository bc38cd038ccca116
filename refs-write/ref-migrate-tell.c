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
#include "refs-write/ref-migrate.h"
#include "refs/refs.h"

/* The lines for hooks, in the order of the names of the refs. */
struct telling {
	/* borrowed: the repository with the old store */
	const struct repo *repo;
	const struct ref_migrate_options *options;
	struct refs *refs; /* owned: the old store */
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

static int add_ref(void *ctx, const struct ref *ref)
{
	struct telling *t = ctx;
	bool is_loose = ref->target || refs_name_is_root(ref->name);

	if (ref->is_broken)
		return ref_migrate_broken(ref->name, t->err);
	return append_line(t, &t->all, ref) < 0 ||
			       append_line(t, is_loose ? &t->loose : &t->packed,
					   ref) < 0
		       ? error_nomem(t->err)
		       : 0;
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
		ret = refs_each_stored(t.refs, add_ref, &t, err);
	if (!ret)
		ret = tell(&t);
	refs_close(t.refs);
	buf_release(&t.all);
	buf_release(&t.packed);
	buf_release(&t.loose);
	return ret;
}
