/* SPDX-License-Identifier: MIT */
/*
 * Loose references over packed ones: merged visits, lookups, symbolic refs.
 *
 * Order of reading: loose first, packed-refs after. Packing writes the new
 * packed-refs before it removes loose files, so that a ref which was not
 * found loose is in the packed-refs file that is there now; hence the table
 * is mapped anew when the file has changed. Older mappings stay until the
 * snapshot is closed: visits under way read on in theirs.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "repo/packed-refs.h"
#include "repo/refs-loose.h"
#include "repo/refs.h"
#include "sys/io.h"

#define SYMREF_MAX_DEPTH 5

/* One state of the packed-refs file. */
struct packed_gen {
	struct packed_refs table;
	struct sys_stat st;       /* zeroed when there was no file */
	struct packed_gen *older; /* owned */
};

struct refs {
	const struct repo *repo;        /* borrowed */
	char *packed_path;              /* owned */
	struct packed_gen *packed;      /* owned: newest; NULL before use */
	struct refs_loose_list **lists; /* owned: listings made so far */
	size_t list_nr, list_alloc;
	struct buf name, target; /* strings of the last lookup */
};

static bool starts_with(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

int refs_open(struct refs **out, const struct repo *repo, struct error *err)
{
	struct refs *refs = mem_calloc(1, sizeof(*refs));

	*out = NULL;
	if (!refs)
		return error_nomem(err);
	refs->repo = repo;
	buf_init(&refs->name);
	buf_init(&refs->target);
	refs->packed_path = repo_common_path(repo, "packed-refs");
	if (!refs->packed_path) {
		refs_close(refs);
		return error_nomem(err);
	}
	*out = refs;
	return 0;
}

void refs_close(struct refs *refs)
{
	size_t i;

	if (!refs)
		return;
	while (refs->packed) {
		struct packed_gen *older = refs->packed->older;

		packed_refs_release(&refs->packed->table);
		free(refs->packed);
		refs->packed = older;
	}
	for (i = 0; i < refs->list_nr; i++)
		refs_loose_list_free(refs->lists[i]);
	free(refs->lists);
	free(refs->packed_path);
	buf_release(&refs->name);
	buf_release(&refs->target);
	free(refs);
}

static bool same_file(const struct sys_stat *a, const struct sys_stat *b)
{
	return a->size == b->size && a->mtime_ns == b->mtime_ns &&
	       a->dev == b->dev && a->ino == b->ino;
}

/* Map packed-refs unless the newest mapping still is the file. */
static int refresh_packed(struct refs *refs, struct error *err)
{
	struct packed_gen *gen;
	struct sys_stat st;
	int ret = sys_stat(&st, refs->packed_path, err);

	if (ret < 0 && ret != ERR_MISSING)
		return ret;
	if (refs->packed && same_file(&refs->packed->st, &st))
		return 0;
	gen = mem_calloc(1, sizeof(*gen));
	if (!gen)
		return error_nomem(err);
	gen->st = st;
	ret = packed_refs_open(&gen->table, refs->packed_path, refs->repo->algo,
			       err);
	if (ret < 0) {
		free(gen);
		return ret;
	}
	gen->older = refs->packed;
	refs->packed = gen;
	return 0;
}

/* A listing made before that has all names with this prefix, or NULL. */
static struct refs_loose_list *find_list(const struct refs *refs,
					 const char *prefix)
{
	size_t i;

	for (i = 0; i < refs->list_nr; i++)
		if (starts_with(prefix, refs->lists[i]->prefix))
			return refs->lists[i];
	return NULL;
}

static int get_list(struct refs *refs, const char *prefix,
		    struct refs_loose_list **out, struct error *err)
{
	int ret;

	*out = find_list(refs, prefix);
	if (*out)
		return 0;
	if (mem_grow(&refs->lists, &refs->list_alloc, refs->list_nr + 1,
		     sizeof(*refs->lists)) < 0)
		return error_nomem(err);
	ret = refs_loose_list_read(out, refs->repo, prefix, err);
	if (ret < 0)
		return ret;
	refs->lists[refs->list_nr++] = *out;
	return refresh_packed(refs, err);
}

static int copy_loose(struct refs_loose *out, const struct refs_loose *in)
{
	memset(out, 0, sizeof(*out));
	out->kind = in->kind;
	out->oid = in->oid;
	if (!in->target)
		return 0;
	out->target = mem_strdup(in->target);
	return out->target ? 0 : ERR_NOMEM;
}

/*
 * Read a loose ref, from a listing when one has been made. 1, 0 or negative.
 */
static int find_loose(struct refs *refs, const char *name,
		      struct refs_loose *ref, struct error *err)
{
	const struct refs_loose_list *list = NULL;
	size_t i;
	int ret;

	if (starts_with(name, "refs/"))
		list = find_list(refs, name);
	if (!list) {
		ret = refs_loose_read(ref, refs->repo, name, err);
		return ret ? ret : refresh_packed(refs, err);
	}
	memset(ref, 0, sizeof(*ref));
	i = refs_loose_list_seek(list, name);
	if (i == list->nr || strcmp(list->refs[i].name, name))
		return 0;
	if (copy_loose(ref, &list->refs[i]) < 0)
		return error_nomem(err);
	return 1;
}

static void take_packed(struct ref *ref, const struct packed_ref *packed)
{
	ref->oid = packed->oid;
	ref->has_peeled = packed->has_peeled;
	ref->is_tag = packed->is_tag;
	ref->peeled = packed->peeled;
}

/* One step of resolving: as find_loose(), with packed refs. */
static int read_one(struct refs *refs, const char *name, struct ref *ref,
		    struct buf *target, struct error *err)
{
	struct packed_ref packed;
	struct refs_loose loose;
	int ret = find_loose(refs, name, &loose, err);

	if (ret < 0)
		return ret;
	if (!ret) {
		ret = packed_refs_find(&refs->packed->table, name, &packed,
				       err);
		if (ret > 0)
			take_packed(ref, &packed);
		return ret;
	}
	if (loose.kind == REFS_LOOSE_BROKEN) {
		ret = error_set(err, ERR_CORRUPT, "broken ref %s", name);
	} else if (loose.kind == REFS_LOOSE_OID) {
		ref->oid = loose.oid;
	} else {
		buf_reset(target);
		if (buf_append_str(target, loose.target) < 0)
			ret = error_nomem(err);
	}
	refs_loose_release(&loose);
	return ret;
}

/*
 * Resolve `name`; *target is the name it leads to, empty when it is not
 * symbolic. Returns as refs_lookup(), ref's strings left alone.
 */
static int resolve(struct refs *refs, const char *name, struct ref *ref,
		   struct buf *target, struct error *err)
{
	struct buf next = BUF_INIT;
	unsigned depth;
	int ret = 0;

	buf_reset(target);
	for (depth = 0; depth <= SYMREF_MAX_DEPTH; depth++) {
		const char *at = depth ? target->data : name;

		buf_reset(&next);
		ret = read_one(refs, at, ref, &next, err);
		if (ret <= 0 || !next.len)
			goto out;
		buf_reset(target);
		if (buf_append(target, next.data, next.len) < 0) {
			ret = error_nomem(err);
			goto out;
		}
	}
	ret = error_set(err, ERR_CORRUPT,
			"too many levels of symbolic refs from %s", name);
out:
	buf_release(&next);
	return ret;
}

int refs_lookup(struct refs *refs, const char *name, struct ref *ref,
		struct error *err)
{
	size_t len = strlen(name);
	int ret;

	memset(ref, 0, sizeof(*ref));
	if (!refs_name_is_valid_len(name, len, true))
		return 0;
	if (strchr(name, '/') && !starts_with(name, "refs/") &&
	    !starts_with(name, "main-worktree/") &&
	    !starts_with(name, "worktrees/"))
		return 0;
	buf_reset(&refs->name);
	if (buf_append(&refs->name, name, len) < 0)
		return error_nomem(err);
	ret = resolve(refs, refs->name.data, ref, &refs->target, err);
	ref->name = refs->name.data;
	ref->target = refs->target.len ? refs->target.data : NULL;
	return ret;
}

int refs_read(struct refs *refs, const char *name, struct ref *ref,
	      struct error *err)
{
	int ret;

	memset(ref, 0, sizeof(*ref));
	buf_reset(&refs->target);
	ret = read_one(refs, name, ref, &refs->target, err);
	if (ret > 0)
		ref->target = refs->target.len ? refs->target.data : NULL;
	ref->name = name;
	return ret;
}

int refs_packed_table(struct refs *refs, const struct packed_refs **table,
		      struct error *err)
{
	int ret = refresh_packed(refs, err);

	if (!ret)
		*table = &refs->packed->table;
	return ret;
}

int refs_dwim(struct refs *refs, const char *name, struct ref *ref,
	      struct error *err)
{
	static const char *const rules[] = {
		"%s",
		"refs/%s",
		"refs/tags/%s",
		"refs/heads/%s",
		"refs/remotes/%s",
		"refs/remotes/%s/HEAD",
	};
	struct buf full = BUF_INIT;
	int ret = 0, broken = 0;
	size_t i;

	for (i = 0; !ret && i < ARRAY_NR(rules); i++) {
		const char *slot = strchr(rules[i], '%');

		buf_reset(&full);
		if (buf_append(&full, rules[i], (size_t)(slot - rules[i])) ||
		    buf_append_str(&full, name) ||
		    buf_append_str(&full, slot + 2)) {
			ret = error_nomem(err);
			break;
		}
		ret = refs_lookup(refs, full.data, ref, err);
		if (ret != ERR_CORRUPT)
			continue;
		/* Any file of the git directory has a one-level name. */
		if (i || starts_with(name, "refs/") || !strcmp(name, "HEAD"))
			broken = ret;
		ret = 0;
	}
	buf_release(&full);
	return ret ? ret : broken;
}

/* A visit under way: two sorted streams. */
struct visit {
	struct refs *refs;
	const char *prefix;
	const char *const *except; /* directories to leave out; NULL: none */
	const struct refs_loose_list *list;
	size_t next_loose;
	const struct packed_refs *table;
	size_t packed_off; /* after the current packed ref */
	struct packed_ref packed;
	bool has_packed;         /* `packed` is one to visit */
	struct packed_ref last;  /* the one before it, in a strict visit */
	struct buf name, target; /* of the ref being visited */
	int (*fn)(void *ctx, const struct ref *ref);
	void *ctx;
	bool is_strict; /* a broken ref ends the visit */
	struct error *warning;
};

/* The directory of `except` that a name is in, or NULL. */
static const char *find_except(const struct visit *v, const char *name,
			       size_t len)
{
	for (size_t i = 0; v->except && v->except[i]; i++) {
		size_t n = strlen(v->except[i]);

		if (len >= n && !memcmp(name, v->except[i], n))
			return v->except[i];
	}
	return NULL;
}

/*
 * Go to the first record behind those below a directory: '0' follows '/'. A
 * file that is not sorted, though it says so, must not lead back.
 */
static int skip_packed(struct visit *v, const char *dir, struct error *err)
{
	struct buf *key = &v->name;
	size_t len = strlen(dir), off;
	int ret;

	buf_reset(key);
	if (buf_append(key, dir, len) < 0)
		return error_nomem(err);
	key->data[len - 1] = '/' + 1;
	ret = packed_refs_seek(v->table, key->data, len, &off, err);
	if (!ret && off > v->packed_off)
		v->packed_off = off;
	return ret;
}

/*
 * Records out of order are some that a search does not find: a strict visit
 * does not go on without them. It begins at the first record, so it also sees
 * a name that was damaged and is not below "refs/".
 */
static int check_order(struct visit *v, struct error *err)
{
	const struct packed_ref *ref = &v->packed;

	if (ref->name_len < 5 || memcmp(ref->name, "refs/", 5) != 0 ||
	    (v->last.name &&
	     packed_refs_name_cmp(v->last.name, v->last.name_len, ref->name,
				  ref->name_len) > 0))
		return error_set(err, ERR_CORRUPT,
				 "%s: '%.*s' is not where it should be",
				 v->table->name, (int)ref->name_len, ref->name);
	v->last = *ref;
	return 0;
}

static int next_packed(struct visit *v, struct error *err)
{
	size_t len = strlen(v->prefix);
	const char *except = NULL;
	int ret;

	do {
		if (except) {
			ret = skip_packed(v, except, err);
			if (ret < 0)
				return ret;
		}
		ret = packed_refs_next(v->table, &v->packed_off, &v->packed,
				       err);
		if (ret > 0 && v->is_strict)
			ret = check_order(v, err) < 0 ? ERR_CORRUPT : ret;
		except = ret > 0 ? find_except(v, v->packed.name,
					       v->packed.name_len)
				 : NULL;
	} while (except);
	v->has_packed = ret > 0 && v->packed.name_len >= len &&
			!memcmp(v->packed.name, v->prefix, len);
	return ret < 0 ? ret : 0;
}

/* The next loose ref, or NULL when there are no more with the prefix. */
static const struct refs_loose *peek_loose(const struct visit *v)
{
	const struct refs_loose *ref;

	if (v->next_loose == v->list->nr)
		return NULL;
	ref = &v->list->refs[v->next_loose];
	return starts_with(ref->name, v->prefix) ? ref : NULL;
}

/* Step over loose refs that are left out. */
static void skip_loose(struct visit *v)
{
	const struct refs_loose_list *list = v->list;

	while (v->next_loose < list->nr) {
		const char *name = list->refs[v->next_loose].name;

		if (!find_except(v, name, strlen(name)))
			break;
		v->next_loose++;
	}
}

/* What a broken ref means to this visit. */
static int pass_over(const struct visit *v, const char *name, struct error *err)
{
	if (v->is_strict)
		return error_set(err, ERR_CORRUPT, "bad object %s", name);
	error_set(v->warning, ERR_CORRUPT, "ignoring broken ref %s", name);
	return 0;
}

static int visit_loose(struct visit *v, const struct refs_loose *loose,
		       struct error *err)
{
	struct ref ref = {.name = loose->name, .oid = loose->oid};
	int ret = 1;

	if (loose->kind == REFS_LOOSE_SYMBOLIC)
		ret = resolve(v->refs, loose->name, &ref, &v->target, err);
	if (!ret) {
		error_set(v->warning, ERR_CORRUPT,
			  "ignoring dangling symref %s", loose->name);
		return 0;
	}
	if (ret == ERR_CORRUPT || loose->kind == REFS_LOOSE_BROKEN)
		return pass_over(v, loose->name, err);
	if (ret < 0)
		return ret;
	if (loose->kind == REFS_LOOSE_SYMBOLIC)
		ref.target = v->target.data;
	return v->fn(v->ctx, &ref);
}

static int visit_packed(struct visit *v, struct error *err)
{
	struct ref ref = {.name = NULL};

	buf_reset(&v->name);
	if (buf_append(&v->name, v->packed.name, v->packed.name_len) < 0)
		return error_nomem(err);
	if (!refs_name_is_valid_len(v->name.data, v->name.len, false) ||
	    oid_is_zero(&v->packed.oid))
		return pass_over(v, v->name.data, err);
	ref.name = v->name.data;
	take_packed(&ref, &v->packed);
	return v->fn(v->ctx, &ref);
}

/* Visit the ref that comes next. 1 at the end, else what fn returned. */
static int visit_next(struct visit *v, bool *done, struct error *err)
{
	const struct refs_loose *loose;
	int cmp, ret;

	skip_loose(v);
	loose = peek_loose(v);
	cmp = loose ? -1 : 1;
	*done = !loose && !v->has_packed;
	if (*done)
		return 0;
	if (loose && v->has_packed)
		cmp = packed_refs_name_cmp(loose->name, strlen(loose->name),
					   v->packed.name, v->packed.name_len);
	if (cmp <= 0) {
		v->next_loose++;
		ret = visit_loose(v, loose, err);
	} else {
		ret = visit_packed(v, err);
	}
	if (!ret && cmp >= 0)
		ret = next_packed(v, err);
	return ret;
}

static int visit_all(struct visit *v, struct error *err)
{
	struct refs_loose_list *list;
	bool done = false;
	int ret;

	if (!v->prefix || starts_with("refs/", v->prefix))
		v->prefix = "refs/";
	if (!starts_with(v->prefix, "refs/"))
		return 0;
	ret = get_list(v->refs, v->prefix, &list, err);
	if (ret < 0)
		return ret;
	v->list = list;
	v->next_loose = refs_loose_list_seek(list, v->prefix);
	v->table = &v->refs->packed->table;
	ret = v->is_strict && !strcmp(v->prefix, "refs/")
		      ? 0
		      : packed_refs_seek(v->table, v->prefix, strlen(v->prefix),
					 &v->packed_off, err);
	if (!ret)
		ret = next_packed(v, err);
	while (!ret && !done)
		ret = visit_next(v, &done, err);
	buf_release(&v->name);
	buf_release(&v->target);
	return ret;
}

int refs_each_except(struct refs *refs, const char *prefix,
		     const char *const *except,
		     int (*fn)(void *ctx, const struct ref *ref), void *ctx,
		     struct error *warning, struct error *err)
{
	struct visit v = {
		.refs = refs,
		.prefix = prefix,
		.except = except,
		.name = BUF_INIT,
		.target = BUF_INIT,
		.fn = fn,
		.ctx = ctx,
		.warning = warning,
	};

	return visit_all(&v, err);
}

int refs_each(struct refs *refs, const char *prefix,
	      int (*fn)(void *ctx, const struct ref *ref), void *ctx,
	      struct error *warning, struct error *err)
{
	return refs_each_except(refs, prefix, NULL, fn, ctx, warning, err);
}

int refs_each_strict(struct refs *refs, const char *prefix,
		     int (*fn)(void *ctx, const struct ref *ref), void *ctx,
		     struct error *err)
{
	struct visit v = {
		.refs = refs,
		.prefix = prefix,
		.name = BUF_INIT,
		.target = BUF_INIT,
		.fn = fn,
		.ctx = ctx,
		.is_strict = true,
	};

	return visit_all(&v, err);
}

int refs_list_now(struct refs *refs, struct error *err)
{
	struct refs_loose_list *list;

	return get_list(refs, "refs/", &list, err);
}
