/* SPDX-License-Identifier: MIT */
/*
 * The reftable backend: reads refs.
 *
 * A stack is opened when one of its refs is used first, and is not opened
 * again before refs_refresh(). So all refs of a stack are read as of one
 * moment.
 */
#include <stdio.h>
#include <string.h>

#include "base/affix.h"
#include "base/mem.h"
#include "refs/refs-cache.h"
#include "refs/refs-loose.h"
#include "refs/refs-reftable.h"

struct refs_reftable {
	struct refs refs;
	struct refs_reftable_store **stores; /* owned array of owned stacks */
	size_t nr, alloc;
	/*
	 * the stack of shared refs, and the stack of refs of this linked work
	 * tree; borrowed from `stores`; NULL until opened
	 */
	struct refs_reftable_store *shared, *own;
	struct buf dir; /* scratch */
};

/* Converts `refs` to the struct of which it is the first member. */
static struct refs_reftable *tables_of(struct refs *refs)
{
	return (struct refs_reftable *)refs;
}

/* Returns whether the repository was opened from a linked work tree. */
static bool is_linked(const struct repo *repo)
{
	return strcmp(repo_refs_dir(repo), repo_refs_common_dir(repo)) != 0;
}

static void refresh_refs(struct refs *refs)
{
	struct refs_reftable *t = tables_of(refs);

	while (t->nr) {
		struct refs_reftable_store *store = t->stores[--t->nr];

		if (store->has_below)
			reftable_merged_release(&store->below);
		reftable_iter_release(&store->it);
		if (store->cached)
			refs_cache_put(t->refs.repo->refs_cache, store->cached);
		reftable_stack_release(&store->own);
		free(store->dir);
		free(store);
	}
	t->shared = t->own = NULL;
}

static void close_refs(struct refs *refs)
{
	struct refs_reftable *t = tables_of(refs);

	refresh_refs(refs);
	free(t->stores);
	buf_release(&t->dir);
	free(t);
}

static int open_refs(struct refs **out, const struct repo *repo,
		     struct error *err)
{
	struct refs_reftable *t = mem_calloc(1, sizeof(*t));

	(void)repo;
	if (!t)
		return error_nomem(err);
	buf_init(&t->dir);
	*out = &t->refs;
	return 0;
}

/*
 * Returns whether `dir` has the reftables of the refs that all work trees
 * share.
 */
static bool is_shared(const struct repo *repo, const char *dir)
{
	const char *common = repo_refs_common_dir(repo);

	return starts_with(dir, common) &&
	       !strcmp(dir + strlen(common), "/reftable");
}

/*
 * Opens the stack of reftables in store->dir. This stack may be that of the
 * refs that all work trees share. If so, and if repo->refs_cache is set, takes
 * the stack from this cache. Returns 0 or a negative error code.
 */
static int open_stack(struct refs_reftable_store *store,
		      const struct repo *repo, struct error *err)
{
	int ret;

	if (!repo->refs_cache || !is_shared(repo, store->dir)) {
		store->stack = &store->own;
		return reftable_stack_open(&store->own, store->dir, repo->algo,
					   err);
	}
	ret = refs_cache_stack(&store->cached, repo->refs_cache, store->dir,
			       repo->algo, err);
	if (!ret)
		store->stack = &store->cached->stack;
	return ret;
}

static int add_store(struct refs_reftable *t, const char *dir,
		     struct refs_reftable_store **out, struct error *err)
{
	struct refs_reftable_store *store;
	int ret;

	if (mem_grow(&t->stores, &t->alloc, t->nr + 1, sizeof(*t->stores)) < 0)
		return error_nomem(err);
	store = mem_calloc(1, sizeof(*store));
	if (!store)
		return error_nomem(err);
	reftable_iter_init(&store->it);
	store->dir = mem_strdup(dir);
	ret = store->dir ? open_stack(store, t->refs.repo, err)
			 : error_nomem(err);
	if (ret < 0) {
		free(store->dir);
		free(store);
		return ret;
	}
	*out = t->stores[t->nr++] = store;
	return 0;
}

int refs_reftable_store(struct refs *refs, const char *name,
			struct refs_reftable_store **store, const char **inner,
			struct error *err)
{
	struct refs_reftable *t = tables_of(refs);
	struct refs_place place = refs_place_of(name);
	struct refs_reftable_store **known = place.inner != name ? NULL
					     : place.kind == REFS_PLACE_OWN
						     ? &t->own
						     : &t->shared;
	int ret = 0;

	*inner = name;
	if (known && *known) {
		*store = *known;
		return 0;
	}
	buf_reset(&t->dir);
	*inner = refs_reftable_place(&t->dir, refs->repo, name);
	if (!*inner)
		return error_nomem(err);
	*store = NULL;
	for (size_t i = 0; i < t->nr; i++)
		if (!strcmp(t->stores[i]->dir, t->dir.data))
			*store = t->stores[i];
	if (!*store)
		ret = add_store(t, t->dir.data, store, err);
	if (!ret && known)
		*known = *store;
	return ret;
}

static int say_broken(struct ref *ref, const char *name, struct error *err)
{
	ref->is_broken = true;
	return error_set(err, ERR_CORRUPT, "broken ref %s", name);
}

/*
 * Reads FETCH_HEAD or MERGE_HEAD. Both are files, not records of tables, in
 * every kind of storage. Returns 1 if the file exists, 0 if not, or a negative
 * error code.
 */
static int read_file_ref(struct refs *refs, const char *name, struct ref *ref,
			 struct buf *target, struct error *err)
{
	struct refs_loose loose;
	int ret = refs_loose_read(&loose, refs->repo, name, err);

	if (ret <= 0)
		return ret;
	ref->oid = loose.oid;
	ref->leads_nowhere = loose.leads_nowhere;
	if (loose.kind == REFS_LOOSE_BROKEN)
		ret = say_broken(ref, name, err);
	else if (loose.target && buf_append_str(target, loose.target) < 0)
		ret = error_nomem(err);
	else
		ret = !loose.leads_nowhere;
	refs_loose_release(&loose);
	return ret;
}

/*
 * Sets the id and the peeled id of a ref that is not symbolic. A record without
 * a peeled id does not tell whether the ref is a tag, because `git refs
 * migrate` of stock Git does not store peeled ids. Branches are known to be
 * commits.
 */
static void take_value(struct ref *ref, const char *name,
		       const struct reftable_ref *stored)
{
	ref->oid = stored->oid;
	ref->is_tag = stored->value == REFTABLE_TAG;
	ref->has_peeled = ref->is_tag || starts_with(name, "refs/heads/");
	if (ref->is_tag)
		ref->peeled = stored->peeled;
}

static int read_ref(struct refs *refs, const char *name, struct ref *ref,
		    struct buf *target, struct error *err)
{
	struct refs_reftable_store *store;
	struct reftable_ref found;
	const char *inner;
	int ret;

	if (!strcmp(name, "FETCH_HEAD") || !strcmp(name, "MERGE_HEAD"))
		return read_file_ref(refs, name, ref, target, err);
	ret = refs_reftable_store(refs, name, &store, &inner, err);
	if (!ret)
		ret = reftable_stack_find(store->stack, &store->it, inner,
					  strlen(inner), &found, err);
	if (ret <= 0)
		return ret;
	if (found.value == REFTABLE_SYMBOLIC) {
		ref->leads_nowhere = !refs_name_is_valid_len(
			found.target, found.target_len, true);
		return buf_append(target, found.target, found.target_len) < 0
			       ? error_nomem(err)
			       : !ref->leads_nowhere;
	}
	ref->is_zero = oid_is_zero(&found.oid);
	if (ref->is_zero)
		return say_broken(ref, name, err);
	take_value(ref, inner, &found);
	return 1;
}

static int list_now(struct refs *refs, struct error *err)
{
	struct refs_reftable_store *store;
	const char *inner;
	int ret = refs_reftable_store(refs, "refs/", &store, &inner, err);

	return ret ? ret
		   : refs_reftable_store(refs, "HEAD", &store, &inner, err);
}

int refs_reftable_find_below(struct refs *refs, const char *dir,
			     struct buf *other, struct error *err)
{
	struct refs_reftable_store *store;
	const struct reftable_iter *it;
	const char *inner;
	size_t len;
	int ret = refs_reftable_store(refs, dir, &store, &inner, err);

	if (!ret && !store->has_below) {
		ret = reftable_merged_init(&store->below, store->stack->tables,
					   store->stack->nr, false, err);
		store->has_below = !ret;
	}
	if (ret < 0)
		return ret;
	len = strlen(inner);
	ret = reftable_merged_seek(&store->below, REFTABLE_REFS, inner, len,
				   err);
	if (!ret)
		ret = reftable_merged_next(&store->below, &it, err);
	if (ret <= 0 || it->ref.name_len < len ||
	    memcmp(it->ref.name, inner, len) != 0)
		return ret < 0 ? ret : 0;
	buf_reset(other);
	if (buf_append(other, dir, (size_t)(inner - dir)) < 0 ||
	    buf_append(other, it->ref.name, it->ref.name_len) < 0)
		return error_nomem(err);
	return 1;
}

/* The refs of one stack of tables in an iteration. */
struct stream {
	struct reftable_merged merged;
	const struct reftable_iter *head; /* NULL at the end */
	bool is_open;
};

/* An iteration over the shared refs and the refs of a linked work tree. */
struct refs_iter {
	const char *prefix;
	size_t prefix_len;
	struct stream streams[2];
	/* the stack whose ref was returned last */
	struct stream *given;
	bool is_linked;
	/* target of the ref that was returned last */
	struct buf target;
};

/*
 * Moves to the next ref with the prefix in one of the two stacks: the stack of
 * shared refs, or that of a linked work tree. In a linked work tree, skips refs
 * that belong to the other stack. At the end, s->head is NULL. Returns 0 or a
 * negative error code.
 */
static int step(struct refs_iter *it, struct stream *s, struct error *err)
{
	bool own = s == &it->streams[1];
	int ret;

	do {
		ret = reftable_merged_next(&s->merged, &s->head, err);
		if (ret <= 0 || s->head->ref.name_len < it->prefix_len ||
		    memcmp(s->head->ref.name, it->prefix, it->prefix_len)) {
			s->head = NULL;
			return ret < 0 ? ret : 0;
		}
	} while (it->is_linked &&
		 refs_loose_is_per_worktree(s->head->ref.name) != own);
	return 0;
}

static int seek(struct refs_iter *it, struct stream *s, const char *key,
		size_t len, struct error *err)
{
	int ret = reftable_merged_seek(&s->merged, REFTABLE_REFS, key, len,
				       err);

	return ret ? ret : step(it, s, err);
}

static int open_stream(struct refs_iter *it, struct stream *s,
		       struct refs *refs, const char *name, struct error *err)
{
	struct refs_reftable_store *store;
	const char *inner;
	int ret = refs_reftable_store(refs, name, &store, &inner, err);

	if (!ret)
		ret = reftable_merged_init(&s->merged, store->stack->tables,
					   store->stack->nr, false, err);
	if (ret < 0)
		return ret;
	s->is_open = true;
	return seek(it, s, it->prefix, it->prefix_len, err);
}

static void free_iter(struct refs_iter *it)
{
	if (!it)
		return;
	for (int i = 0; i < 2; i++)
		if (it->streams[i].is_open)
			reftable_merged_release(&it->streams[i].merged);
	buf_release(&it->target);
	free(it);
}

static int new_iter(struct refs_iter **out, struct refs *refs,
		    const char *prefix, bool strict, struct error *err)
{
	struct refs_iter *it = mem_calloc(1, sizeof(*it));
	int ret;

	(void)strict;
	*out = NULL;
	if (!it)
		return error_nomem(err);
	it->prefix = prefix;
	it->prefix_len = strlen(prefix);
	it->is_linked = is_linked(refs->repo);
	buf_init(&it->target);
	ret = open_stream(it, &it->streams[0], refs, "refs/", err);
	if (!ret && it->is_linked)
		ret = open_stream(it, &it->streams[1], refs, "HEAD", err);
	if (ret < 0) {
		free_iter(it);
		return ret;
	}
	*out = it;
	return 0;
}

static struct stream *first_of(struct refs_iter *it)
{
	struct stream *a = &it->streams[0], *b = &it->streams[1];

	if (!a->head || !b->head)
		return a->head ? a : b->head ? b : NULL;
	return strcmp(a->head->ref.name, b->head->ref.name) < 0 ? a : b;
}

static int next_ref(struct refs_iter *it, struct refs_record *record,
		    struct error *err)
{
	const struct reftable_ref *ref;
	int ret = it->given ? step(it, it->given, err) : 0;

	if (ret < 0)
		return ret;
	it->given = first_of(it);
	if (!it->given)
		return 0;
	ref = &it->given->head->ref;
	record->ref.name = ref->name;
	record->ref.target = NULL;
	record->kind = REFS_RECORD_OID;
	take_value(&record->ref, ref->name, ref);
	if (!refs_name_is_valid_len(ref->name, ref->name_len, false) ||
	    (ref->value != REFTABLE_SYMBOLIC && oid_is_zero(&ref->oid))) {
		record->kind = REFS_RECORD_BROKEN;
	} else if (ref->value == REFTABLE_SYMBOLIC) {
		buf_reset(&it->target);
		if (buf_append(&it->target, ref->target, ref->target_len) < 0)
			return error_nomem(err);
		record->kind = REFS_RECORD_SYMBOLIC;
		record->ref.target = it->target.data;
	}
	return 1;
}

static int seek_iter(struct refs_iter *it, const char *name, struct error *err)
{
	size_t len = strlen(name);
	int ret = 0;

	for (int i = 0; !ret && i < 2; i++) {
		struct stream *s = &it->streams[i];

		if (s->head && strcmp(s->head->ref.name, name) < 0)
			ret = seek(it, s, name, len, err);
	}
	it->given = NULL;
	return ret;
}

/*
 * Visits the root refs. Their names sort before "refs/", so the visit ends at
 * the first name that sorts after "refs/". A nonzero return value of `fn` also
 * ends the visit. Returns 0 or a negative error code.
 */
static int each_root(struct refs *refs, int (*fn)(void *ctx, const char *name),
		     void *ctx, struct error *err)
{
	struct refs_reftable_store *store;
	const struct reftable_iter *it;
	struct reftable_merged merged;
	const char *inner;
	int ret = refs_reftable_store(refs, "HEAD", &store, &inner, err);

	if (!ret)
		ret = reftable_merged_init(&merged, store->stack->tables,
					   store->stack->nr, false, err);
	if (ret < 0)
		return ret;
	ret = reftable_merged_seek(&merged, REFTABLE_REFS, "", 0, err);
	while (!ret) {
		ret = reftable_merged_next(&merged, &it, err);
		if (ret <= 0 || strcmp(it->ref.name, "refs/") > 0)
			break;
		ret = refs_name_is_root(it->ref.name) ? fn(ctx, it->ref.name)
						      : 0;
	}
	reftable_merged_release(&merged);
	return ret < 0 ? ret : 0;
}

static int get_cached(const struct refs_cached **out, struct refs *refs,
		      const char *prefix, struct error *err)
{
	struct refs_reftable_store *store;
	const char *inner;
	int ret;

	/*
	 * In a linked work tree, a visit also reads a second stack, which has
	 * the work tree's own refs. So no single shared stack has all refs.
	 */
	if (is_linked(refs->repo))
		return 0;
	ret = refs_reftable_store(refs, prefix, &store, &inner, err);
	if (ret < 0)
		return ret;
	*out = store->cached;
	return *out != NULL;
}

const struct refs_backend refs_reftable_backend = {
	.open = open_refs,
	.close = close_refs,
	.refresh = refresh_refs,
	.read = read_ref,
	.list_now = list_now,
	.iter_new = new_iter,
	.iter_next = next_ref,
	.iter_seek = seek_iter,
	.iter_free = free_iter,
	.get_cached = get_cached,
	.each_root = each_root,
	.each_kept = refs_reftable_each_kept,
};
