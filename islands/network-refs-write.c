/* SPDX-License-Identifier: MIT */
/*
 * Writes copies of a member's references into the shared store, and references
 * into a new fork.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "islands/network-member.h"
#include "islands/network-refs.h"
#include "odb/odb.h"
#include "refs-write/packed-rewrite.h"
#include "refs-write/ref-pack.h"
#include "refs-write/ref-transaction.h"
#include "sys/io.h"
#include "sys/tempfile.h"

/*
 * Maximum number of changes that are written in a transaction. If there are
 * more changes, a new packed-refs file is written instead, unless the store has
 * reftables.
 */
#define TRANSACTION_MAX 8

/*
 * Maximum number of bytes of delta bases that are cached while tags are read.
 */
#define CACHE_BYTES ((size_t)4 << 20)

/* A reference to set or to delete. */
struct network_batch_item {
	/* offset of the full name in names.data */
	size_t name_off;
	struct network_ref to;
	bool is_deletion;
};

struct writing {
	/* the repository whose references are written: the store or a fork */
	const struct repo *repo;
	/* the repository from which tags are read, to peel them */
	const struct repo *objects;
	struct network_batch *batch;
	/* owned: reads tags; NULL until needed */
	struct odb *odb;
	struct odb_reader *reader;
	struct error *err;
};

static void writing_release(struct writing *w)
{
	odb_reader_free(w->reader);
	odb_close(w->odb);
}

static const char *name_of(const struct network_batch *batch,
			   const struct network_batch_item *item)
{
	return batch->names.data + item->name_off;
}

static int open_objects(struct writing *w)
{
	int ret = w->odb ? 0 : odb_open(&w->odb, w->objects, NULL, w->err);

	if (ret < 0 || w->reader)
		return ret;
	w->reader = odb_reader_new(w->odb, CACHE_BYTES);
	return w->reader ? 0 : error_nomem(w->err);
}

/*
 * Adds a change of the reference with the name prefix + name. `to` NULL means
 * that the reference is deleted. Returns 0 or ERR_NOMEM.
 */
static int add_change(struct network_batch *b, const char *prefix,
		      const char *name, const struct network_ref *to)
{
	struct network_batch_item *item;

	if (mem_grow(&b->items, &b->alloc, b->nr + 1, sizeof(*b->items)) < 0)
		return ERR_NOMEM;
	item = &b->items[b->nr];
	*item = (struct network_batch_item){
		.name_off = b->names.len,
		.is_deletion = !to,
	};
	if (to)
		item->to = *to;
	if (buf_append_str(&b->names, prefix) < 0 ||
	    buf_append(&b->names, name, strlen(name) + 1) < 0)
		return ERR_NOMEM;
	b->nr++;
	return 0;
}

/*
 * Adds the changes that replace the list of references `now` by the list
 * `wanted`. Both lists are sorted by name. Returns 0 or ERR_NOMEM.
 */
static int compare(struct network_batch *b, const char *prefix,
		   const struct network_refs *now,
		   const struct network_refs *wanted)
{
	size_t i = 0, k = 0;
	int ret = 0;

	while (!ret && (i < now->nr || k < wanted->nr)) {
		const struct network_ref *old = &now->refs[i];
		const struct network_ref *new = &wanted->refs[k];
		int order = i == now->nr ? 1
			    : k == wanted->nr
				    ? -1
				    : strcmp(network_ref_name(now, old),
					     network_ref_name(wanted, new));

		if (order < 0)
			ret = add_change(b, prefix, network_ref_name(now, old),
					 NULL);
		else if (order > 0 || !oid_equal(&old->oid, &new->oid))
			ret = add_change(b, prefix,
					 network_ref_name(wanted, new), new);
		i += order <= 0;
		k += order >= 0;
	}
	return ret;
}

/*
 * Writes the changes of one kind, deletions or new values, in a transaction.
 * Deletions are written first, since refs/a may be deleted to make room for
 * refs/a/b.
 */
static int transact(struct writing *w, bool deletions)
{
	static const struct oid zero = OID_ZERO_INIT;
	struct ref_transaction *tx = NULL;
	size_t nr = 0;
	int ret = ref_transaction_new(&tx, w->repo, NULL, w->err);

	for (size_t i = 0; i < w->batch->nr && !ret; i++) {
		const struct network_batch_item *item = &w->batch->items[i];
		struct ref_change change = {
			.name = name_of(w->batch, item),
			.flags = REF_NO_DEREF | REF_NO_REFLOG,
			.new_oid = item->is_deletion ? &zero : &item->to.oid,
		};

		if (deletions != item->is_deletion)
			continue;
		nr++;
		ret = ref_transaction_add(tx, &change, w->err);
	}
	if (!ret && nr)
		ret = ref_transaction_commit(tx, w->err);
	ref_transaction_free(tx);
	return ret;
}

/*
 * Sets *is_tag to whether a reference names a tag. If so, sets *peeled to the
 * object at the end of the chain of tags. The tag is read only if `ref` has no
 * peeled value. Returns 0 or a negative error code.
 */
static int peel(struct writing *w, const struct network_ref *ref,
		struct oid *peeled, bool *is_tag)
{
	enum object_type type;
	int ret;

	*is_tag = ref->is_tag;
	*peeled = ref->peeled;
	if (ref->has_peeled)
		return 0;
	ret = open_objects(w);
	if (!ret)
		ret = odb_peel(w->reader, &ref->oid, peeled, &type, w->err);
	*is_tag = !ret && !oid_equal(peeled, &ref->oid);
	return ret;
}

static int put_change(struct writing *w, struct packed_rewrite *rw,
		      const struct network_batch_item *item)
{
	const char *name = name_of(w->batch, item);
	struct oid peeled;
	bool is_tag;
	int ret;

	if (item->is_deletion) {
		ret = packed_rewrite_delete(rw, name, w->err);
		return ret < 0 ? ret : 0;
	}
	ret = peel(w, &item->to, &peeled, &is_tag);
	return ret < 0 ? ret
		       : packed_rewrite_put(rw, name, &item->to.oid,
					    is_tag ? &peeled : NULL, w->err);
}

static int by_name(const void *a, const void *b, void *ctx)
{
	return strcmp(name_of(ctx, a), name_of(ctx, b));
}

static int rewrite(struct writing *w)
{
	struct network_batch *batch = w->batch;
	struct packed_rewrite rw;
	int ret = packed_rewrite_begin(&rw, w->repo, w->err);

	if (ret < 0)
		return ret;
	qsort_r(batch->items, batch->nr, sizeof(*batch->items), by_name, batch);
	if (!rw.old.len)
		packed_rewrite_promise_peeled(&rw);
	for (size_t i = 0; i < batch->nr && !ret; i++)
		ret = put_change(w, &rw, &batch->items[i]);
	if (!ret)
		ret = packed_rewrite_finish(&rw, w->err);
	if (!ret)
		ret = packed_rewrite_commit(&rw, w->err);
	packed_rewrite_release(&rw);
	return ret;
}

static bool is_virtual(void *ctx, const char *name)
{
	return !strncmp(name, "refs/virtual/", 13);
}

static void ignore_broken(void *ctx, const char *name)
{
}

/*
 * Moves the loose references under refs/virtual/ into packed-refs. A loose
 * reference would hide the new value that is written into packed-refs.
 */
static int pack_loose(struct writing *w)
{
	struct ref_pack_options options = {
		.wants = is_virtual,
		.broken = ignore_broken,
		.prune = true,
	};
	char *dir = repo_refs_common_path(w->repo, "refs/virtual");
	int ret = dir ? 0 : error_nomem(w->err);

	if (!ret && sys_exists(dir)) {
		ret = open_objects(w);
		if (!ret)
			ret = ref_pack(w->repo, w->reader, &options, w->err);
	}
	free(dir);
	return ret;
}

int network_batch_add(struct network_batch *batch, uint32_t id,
		      const struct network_refs *refs, size_t *changed,
		      struct error *err)
{
	struct network_refs now = NETWORK_REFS_INIT, none = NETWORK_REFS_INIT;
	struct buf prefix = BUF_INIT;
	size_t before = batch->nr;
	int ret = network_prefix(&prefix, id) < 0 ? error_nomem(err) : 0;

	if (!ret)
		ret = network_refs_read(&now, batch->network->store,
					prefix.data, false, err);
	if (!ret && compare(batch, prefix.data, &now, refs ? refs : &none) < 0)
		ret = error_nomem(err);
	if (ret < 0)
		batch->nr = before;
	if (changed)
		*changed = batch->nr - before;
	network_refs_release(&now);
	buf_release(&prefix);
	return ret;
}

int network_batch_write(struct network_batch *batch, struct error *err)
{
	struct writing w = {
		.repo = batch->network->store,
		.objects = batch->network->store,
		.batch = batch,
		.err = err,
	};
	int ret = 0;

	if (batch->nr > TRANSACTION_MAX &&
	    w.repo->ref_storage == REPO_REFS_FILES) {
		ret = pack_loose(&w);
		if (!ret)
			ret = rewrite(&w);
	} else if (batch->nr) {
		ret = transact(&w, true);
		if (!ret)
			ret = transact(&w, false);
	}
	batch->nr = 0;
	buf_reset(&batch->names);
	writing_release(&w);
	return ret;
}

void network_batch_release(struct network_batch *batch)
{
	free(batch->items);
	buf_release(&batch->names);
}

int network_refs_store(const struct network *network, uint32_t id,
		       const struct network_refs *refs, size_t *changed,
		       struct error *err)
{
	struct network_batch batch = {.network = network, .names = BUF_INIT};
	int ret = network_batch_add(&batch, id, refs, changed, err);

	if (!ret)
		ret = network_batch_write(&batch, err);
	network_batch_release(&batch);
	return ret;
}

/* Writes the file of a symbolic reference: "ref: <target>". */
static int write_symbolic(const struct repo *repo, const char *name,
			  const char *target, struct error *err)
{
	char *path = repo_refs_common_path(repo, name);
	char *slash = path ? strrchr(path, '/') : NULL;
	struct buf text = BUF_INIT;
	int ret = !slash || buf_printf(&text, "ref: %s\n", target) < 0
			  ? error_nomem(err)
			  : 0;

	if (!ret) {
		*slash = '\0';
		ret = sys_mkdir_p(path, err);
		*slash = '/';
	}
	if (!ret)
		ret = sys_tempfile_replace(path, text.data, text.len,
					   SYS_FSYNC_FSYNC, err);
	buf_release(&text);
	free(path);
	return ret;
}

/*
 * Writes the symbolic references of a list as files, and adds all other
 * references to the batch.
 */
static int sort_out(struct network_batch *batch, const struct repo *repo,
		    const struct network_refs *refs, struct error *err)
{
	struct buf name = BUF_INIT;
	int ret = 0;

	for (size_t i = 0; i < refs->nr && !ret; i++) {
		const struct network_ref *ref = &refs->refs[i];
		const char *short_name = network_ref_name(refs, ref);

		if (ref->target_off == SIZE_MAX) {
			if (add_change(batch, "refs/", short_name, ref) < 0)
				ret = error_nomem(err);
			continue;
		}
		buf_reset(&name);
		ret = buf_printf(&name, "refs/%s", short_name) < 0
			      ? error_nomem(err)
			      : write_symbolic(repo, name.data,
					       refs->names.data +
						       ref->target_off,
					       err);
	}
	buf_release(&name);
	return ret;
}

int network_refs_write(const struct repo *repo, const struct network_refs *refs,
		       const struct repo *objects, struct error *err)
{
	struct network_batch batch = {.names = BUF_INIT};
	struct writing w = {
		.repo = repo,
		.objects = objects,
		.batch = &batch,
		.err = err,
	};
	int ret = sort_out(&batch, repo, refs, err);

	if (!ret && batch.nr)
		ret = rewrite(&w);
	network_batch_release(&batch);
	writing_release(&w);
	return ret;
}
