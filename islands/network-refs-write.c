/* SPDX-License-Identifier: MIT */
/* Writing references: into the store, and into a new fork. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "islands/network-member.h"
#include "islands/network-refs.h"
#include "repo/odb.h"
#include "repo/packed-rewrite.h"
#include "repo/ref-pack.h"
#include "repo/ref-transaction.h"
#include "sys/io.h"
#include "sys/tempfile.h"

/* More changes than these are written into packed-refs at once. */
#define TRANSACTION_MAX 8
#define CACHE_BYTES ((size_t)4 << 20)

/* One to be set, or (NULL) to go. */
struct change {
	const char *name;
	const struct network_ref *to;
};

struct changes {
	struct change *items; /* owned: by ascending names */
	size_t nr, alloc;
};

struct writing {
	const struct repo *repo;    /* whose references are written */
	const struct repo *objects; /* who has what tags name */
	const char *prefix;
	struct changes changes;
	struct odb *odb; /* owned, or NULL: not needed so far */
	struct odb_reader *reader;
	struct buf name;
	struct error *err;
};

static void writing_release(struct writing *w)
{
	free(w->changes.items);
	odb_reader_free(w->reader);
	odb_close(w->odb);
	buf_release(&w->name);
}

static int open_objects(struct writing *w)
{
	int ret = w->odb ? 0 : odb_open(&w->odb, w->objects, NULL, w->err);

	if (ret < 0 || w->reader)
		return ret;
	w->reader = odb_reader_new(w->odb, CACHE_BYTES);
	return w->reader ? 0 : error_nomem(w->err);
}

static int add_change(struct changes *c, const char *name,
		      const struct network_ref *to)
{
	if (mem_grow(&c->items, &c->alloc, c->nr + 1, sizeof(*c->items)) < 0)
		return ERR_NOMEM;
	c->items[c->nr++] = (struct change){name, to};
	return 0;
}

/* What differs between two sorted lists. */
static int compare(struct changes *c, const struct network_refs *now,
		   const struct network_refs *wanted)
{
	size_t i = 0, k = 0;
	int ret = 0;

	while (!ret && (i < now->nr || k < wanted->nr)) {
		const struct network_ref *a = &now->refs[i];
		const struct network_ref *b = &wanted->refs[k];
		int order = i == now->nr ? 1
			    : k == wanted->nr
				    ? -1
				    : strcmp(network_ref_name(now, a),
					     network_ref_name(wanted, b));

		if (order < 0)
			ret = add_change(c, network_ref_name(now, a), NULL);
		else if (order > 0 || !oid_equal(&a->oid, &b->oid))
			ret = add_change(c, network_ref_name(wanted, b), b);
		i += order <= 0;
		k += order >= 0;
	}
	return ret;
}

static int set_name(struct writing *w, const char *name)
{
	buf_reset(&w->name);
	return buf_printf(&w->name, "%s%s", w->prefix, name) < 0
		       ? error_nomem(w->err)
		       : 0;
}

/* Deletions first: refs/a may go for refs/a/b to come. */
static int transact(struct writing *w, bool deletions)
{
	static const struct oid zero = OID_ZERO_INIT;
	struct ref_transaction *tx = NULL;
	size_t nr = 0;
	int ret = ref_transaction_new(&tx, w->repo, NULL, w->err);

	for (size_t i = 0; i < w->changes.nr && !ret; i++) {
		const struct change *c = &w->changes.items[i];
		struct ref_change change = {
			.flags = REF_NO_DEREF | REF_NO_REFLOG,
			.new_oid = c->to ? &c->to->oid : &zero,
		};

		if (deletions != !c->to)
			continue;
		nr++;
		ret = set_name(w, c->name);
		change.name = w->name.data;
		if (!ret)
			ret = ref_transaction_add(tx, &change, w->err);
	}
	if (!ret && nr)
		ret = ref_transaction_commit(tx, w->err);
	ref_transaction_free(tx);
	return ret;
}

/* What a reference peels to, if it is a tag; found out if need be. */
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
		      const struct change *c)
{
	struct oid peeled;
	bool is_tag;
	int ret = set_name(w, c->name);

	if (ret < 0)
		return ret;
	if (!c->to) {
		ret = packed_rewrite_delete(rw, w->name.data, w->err);
		return ret < 0 ? ret : 0;
	}
	ret = peel(w, c->to, &peeled, &is_tag);
	return ret < 0 ? ret
		       : packed_rewrite_put(rw, w->name.data, &c->to->oid,
					    is_tag ? &peeled : NULL, w->err);
}

static int rewrite(struct writing *w)
{
	struct packed_rewrite rw;
	int ret = packed_rewrite_begin(&rw, w->repo, w->err);

	if (ret < 0)
		return ret;
	if (!rw.old.len)
		rw.peeled = rw.fully_peeled = true;
	for (size_t i = 0; i < w->changes.nr && !ret; i++)
		ret = put_change(w, &rw, &w->changes.items[i]);
	if (!ret)
		ret = packed_rewrite_finish(&rw, w->err);
	if (!ret)
		ret = packed_rewrite_commit(&rw, w->err);
	packed_rewrite_release(&rw);
	return ret;
}

static bool is_ours(void *ctx, const char *name)
{
	const struct writing *w = ctx;

	return !strncmp(name, w->prefix, strlen(w->prefix));
}

static void ignore_broken(void *ctx, const char *name)
{
}

/* Loose ones would hide what packed-refs is about to say. */
static int pack_loose(struct writing *w)
{
	struct ref_pack_options options = {
		.wants = is_ours,
		.broken = ignore_broken,
		.ctx = w,
		.prune = true,
	};
	char *dir = repo_common_path(w->repo, w->prefix);
	int ret = dir ? 0 : error_nomem(w->err);

	if (!ret && sys_exists(dir)) {
		ret = open_objects(w);
		if (!ret)
			ret = ref_pack(w->repo, w->reader, &options, w->err);
	}
	free(dir);
	return ret;
}

int network_refs_store(const struct network *network, uint32_t id,
		       const struct network_refs *refs, size_t *changed,
		       struct error *err)
{
	struct network_refs now = NETWORK_REFS_INIT, none = NETWORK_REFS_INIT;
	struct buf prefix = BUF_INIT;
	struct writing w = {
		.repo = network->store,
		.objects = network->store,
		.name = BUF_INIT,
		.err = err,
	};
	int ret = network_prefix(&prefix, id) < 0 ? error_nomem(err) : 0;

	w.prefix = prefix.data;
	if (!ret)
		ret = network_refs_read(&now, w.repo, w.prefix, false, err);
	if (!ret && compare(&w.changes, &now, refs ? refs : &none) < 0)
		ret = error_nomem(err);
	if (!ret && w.changes.nr > TRANSACTION_MAX) {
		ret = pack_loose(&w);
		if (!ret)
			ret = rewrite(&w);
	} else if (!ret && w.changes.nr) {
		ret = transact(&w, true);
		if (!ret)
			ret = transact(&w, false);
	}
	if (changed)
		*changed = ret ? 0 : w.changes.nr;
	network_refs_release(&now);
	writing_release(&w);
	buf_release(&prefix);
	return ret;
}

/* "ref: <target>", as a file. */
static int write_symbolic(const struct repo *repo, const char *name,
			  const char *target, struct error *err)
{
	char *path = repo_common_path(repo, name);
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

int network_refs_write(const struct repo *repo, const struct network_refs *refs,
		       const struct repo *objects, struct error *err)
{
	struct writing w = {
		.repo = repo,
		.objects = objects,
		.prefix = "refs/",
		.name = BUF_INIT,
		.err = err,
	};
	int ret = 0;

	for (size_t i = 0; i < refs->nr && !ret; i++) {
		const struct network_ref *ref = &refs->refs[i];
		const char *name = network_ref_name(refs, ref);

		if (ref->target_off == SIZE_MAX) {
			ret = add_change(&w.changes, name, ref) < 0
				      ? error_nomem(err)
				      : 0;
			continue;
		}
		ret = set_name(&w, name);
		if (!ret)
			ret = write_symbolic(repo, w.name.data,
					     refs->names.data + ref->target_off,
					     err);
	}
	if (!ret && w.changes.nr)
		ret = rewrite(&w);
	writing_release(&w);
	return ret;
}
