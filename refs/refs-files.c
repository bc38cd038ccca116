/* SPDX-License-Identifier: MIT */
/*
 * The files backend: reads loose refs and packed refs.
 *
 * A lookup reads the loose file first and packed-refs second. Packing writes
 * the new packed-refs before it removes loose files. So a ref without a loose
 * file is in the current packed-refs. If the file packed-refs has changed, it
 * is mapped again. Older mappings are kept until the snapshot is closed,
 * because visits may still use them.
 */
#include <stdio.h>
#include <string.h>

#include "base/affix.h"
#include "base/mem.h"
#include "refs/refs-cache.h"
#include "refs/packed-refs.h"
#include "refs/refs-files.h"
#include "refs/refs-loose.h"
#include "sys/io.h"

/* One mapping of the packed-refs file. */
struct packed_gen {
	/* the mapped packed-refs; points into `own` or `cached` */
	const struct packed_refs *table;
	struct packed_refs own;
	/*
	 * the mapping, if it comes from repo->refs_cache; NULL: the snapshot
	 * has mapped the file itself, into `own`
	 */
	const struct refs_cached *cached;
	/* state of the file when it was mapped; zeroed if there was no file */
	struct sys_stat st;
	struct packed_gen *older; /* owned */
};

struct refs_files {
	struct refs refs;
	char *packed_path; /* owned */
	/*
	 * owned: the newest mapping of packed-refs; NULL before the first use
	 */
	struct packed_gen *packed;
	/* owned: the lists of loose refs that were read */
	struct refs_loose_list **lists;
	size_t list_nr, list_alloc;
};

/* Converts `refs` to the struct of which it is the first member. */
static struct refs_files *files_of(struct refs *refs)
{
	return (struct refs_files *)refs;
}

static void close_gen(const struct refs_files *files, struct packed_gen *gen)
{
	if (gen->cached)
		refs_cache_put(files->refs.repo->refs_cache, gen->cached);
	else
		packed_refs_release(&gen->own);
	free(gen);
}

static void refresh_files(struct refs *refs)
{
	struct refs_files *files = files_of(refs);

	while (files->list_nr)
		refs_loose_list_free(files->lists[--files->list_nr]);
}

static void close_files(struct refs *refs)
{
	struct refs_files *files = files_of(refs);

	while (files->packed) {
		struct packed_gen *older = files->packed->older;

		close_gen(files, files->packed);
		files->packed = older;
	}
	refresh_files(refs);
	free(files->lists);
	free(files->packed_path);
	free(files);
}

static int open_files(struct refs **out, const struct repo *repo,
		      struct error *err)
{
	struct refs_files *files = mem_calloc(1, sizeof(*files));

	if (!files)
		return error_nomem(err);
	files->packed_path = repo_refs_common_path(repo, "packed-refs");
	if (!files->packed_path) {
		free(files);
		return error_nomem(err);
	}
	*out = &files->refs;
	return 0;
}

static bool same_file(const struct sys_stat *a, const struct sys_stat *b)
{
	return a->size == b->size && a->mtime_ns == b->mtime_ns &&
	       sys_is_same(a, b);
}

/*
 * Maps packed-refs. If repo->refs_cache is set, takes the mapping from there.
 * Returns 0 or a negative error code.
 */
static int open_gen(const struct refs_files *files, struct packed_gen *gen,
		    struct error *err)
{
	const struct repo *repo = files->refs.repo;
	int ret;

	if (!repo->refs_cache) {
		gen->table = &gen->own;
		return packed_refs_open(&gen->own, files->packed_path,
					repo->algo, err);
	}
	ret = refs_cache_packed(&gen->cached, repo->refs_cache,
				files->packed_path, repo->algo, err);
	if (!ret)
		gen->table = &gen->cached->table;
	return ret;
}

/*
 * Maps packed-refs if there is no mapping yet, or if the file has changed
 * since the newest mapping was made. Returns 0 or a negative error code.
 */
static int refresh_packed(struct refs_files *files, struct error *err)
{
	struct packed_gen *gen;
	struct sys_stat st;
	int ret = sys_stat(&st, files->packed_path, err);

	if (ret < 0 && ret != ERR_MISSING)
		return ret;
	if (files->packed && same_file(&files->packed->st, &st))
		return 0;
	gen = mem_calloc(1, sizeof(*gen));
	if (!gen)
		return error_nomem(err);
	gen->st = st;
	ret = open_gen(files, gen, err);
	if (ret < 0) {
		free(gen);
		return ret;
	}
	gen->older = files->packed;
	files->packed = gen;
	return 0;
}

/*
 * Returns a list of loose refs that was read before and that has all loose refs
 * whose names start with `prefix`. Returns NULL if there is none.
 */
static struct refs_loose_list *find_list(const struct refs_files *files,
					 const char *prefix)
{
	size_t i;

	for (i = 0; i < files->list_nr; i++)
		if (starts_with(prefix, files->lists[i]->prefix))
			return files->lists[i];
	return NULL;
}

/*
 * Maximum number of lists of loose refs for different prefixes. Reading a list
 * reads a whole directory, and each lookup may search all lists. A client can
 * ask for thousands of prefixes in one directory. So the last list has all
 * loose refs, and is used for all further prefixes.
 */
#define LISTS_MAX 32

/*
 * Sets *out to a list that has all loose refs whose names start with `prefix`.
 * Returns 0 or a negative error code.
 */
static int get_list(struct refs_files *files, const char *prefix,
		    struct refs_loose_list **out, struct error *err)
{
	struct refs_loose_list *list;
	int ret;

	*out = find_list(files, prefix);
	if (*out)
		return 0;
	if (files->list_nr >= LISTS_MAX - 1)
		prefix = "";
	if (mem_grow(&files->lists, &files->list_alloc, files->list_nr + 1,
		     sizeof(*files->lists)) < 0)
		return error_nomem(err);
	ret = refs_loose_list_read(&list, files->refs.repo, prefix, err);
	if (ret < 0)
		return ret;
	/*
	 * Map packed-refs after the loose refs are read. If another process
	 * packs a loose ref before it is read here, the ref is found in
	 * packed-refs.
	 */
	ret = refresh_packed(files, err);
	if (ret < 0) {
		refs_loose_list_free(list);
		return ret;
	}
	*out = files->lists[files->list_nr++] = list;
	return 0;
}

static int copy_loose(struct refs_loose *out, const struct refs_loose *in)
{
	memset(out, 0, sizeof(*out));
	out->kind = in->kind;
	out->oid = in->oid;
	out->is_zero = in->is_zero;
	out->leads_nowhere = in->leads_nowhere;
	if (!in->target)
		return 0;
	out->target = mem_strdup(in->target);
	return out->target ? 0 : ERR_NOMEM;
}

/*
 * Finds a loose ref. If a list of loose refs that should have this ref was
 * already read, searches the list. Otherwise reads the file of the ref. Returns
 * 1 if there is such a ref, 0 if not, or a negative error code.
 */
static int find_loose(struct refs_files *files, const char *name,
		      struct refs_loose *ref, struct error *err)
{
	const struct refs_loose_list *list = NULL;
	size_t i;
	int ret;

	if (starts_with(name, "refs/"))
		list = find_list(files, name);
	if (!list) {
		ret = refs_loose_read(ref, files->refs.repo, name, err);
		return ret ? ret : refresh_packed(files, err);
	}
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

static int read_files(struct refs *refs, const char *name, struct ref *ref,
		      struct buf *target, struct error *err)
{
	struct refs_files *files = files_of(refs);
	struct packed_ref packed;
	struct refs_loose loose;
	int ret = find_loose(files, name, &loose, err);

	if (ret < 0)
		return ret;
	if (!ret) {
		ret = packed_refs_find(files->packed->table, name, &packed,
				       err);
		if (ret > 0)
			take_packed(ref, &packed);
		return ret;
	}
	if (loose.kind == REFS_LOOSE_BROKEN) {
		ref->is_broken = true;
		ref->is_zero = loose.is_zero;
		ret = error_set(err, ERR_CORRUPT, "broken ref %s", name);
	} else if (loose.kind == REFS_LOOSE_OID) {
		ref->oid = loose.oid;
	} else {
		ref->leads_nowhere = loose.leads_nowhere;
		ret = buf_append_str(target, loose.target) < 0
			      ? error_nomem(err)
			      : !loose.leads_nowhere;
	}
	refs_loose_release(&loose);
	return ret;
}

int refs_files_packed(struct refs *refs, const struct packed_refs **table,
		      struct error *err)
{
	struct refs_files *files = files_of(refs);
	int ret = refresh_packed(files, err);

	if (!ret)
		*table = files->packed->table;
	return ret;
}

static int list_files_now(struct refs *refs, struct error *err)
{
	struct refs_loose_list *list;

	return get_list(files_of(refs), "refs/", &list, err);
}

/*
 * The iterator of the files backend. It merges two sorted streams: loose refs
 * and packed refs.
 */
struct refs_iter {
	const char *prefix;
	const struct refs_loose_list *list;
	size_t next_loose;
	const struct packed_refs *table;
	/* offset in packed-refs of the record after `packed` */
	size_t packed_off;
	/* distance in bytes of the last forward search in packed-refs */
	size_t skipped;
	struct packed_ref packed; /* the current packed ref */
	bool has_packed;          /* `packed` has the prefix */
	/*
	 * true: `packed` was visited, so the next step must read the next
	 * packed ref
	 */
	bool step_packed;
	/* set if is_strict: the previous packed ref */
	struct packed_ref last;
	bool is_strict;
	/* name of the ref that is being visited */
	struct buf name;
};

/*
 * Checks a packed ref; called only in strict visits. Returns ERR_CORRUPT in two
 * cases: the ref is not below "refs/", or the ref sorts before the previous
 * one. (A binary search may not find a ref in the wrong place.) Otherwise
 * returns 0.
 *
 * A strict visit of all refs starts at the first record of the file instead of
 * at "refs/". So the visit also finds a damaged name that is not below "refs/".
 */
static int check_order(struct refs_iter *it, struct error *err)
{
	const struct packed_ref *ref = &it->packed;

	if (ref->name_len < 5 || memcmp(ref->name, "refs/", 5) != 0 ||
	    (it->last.name &&
	     packed_refs_name_cmp(it->last.name, it->last.name_len, ref->name,
				  ref->name_len) > 0))
		return error_set(
			err, ERR_CORRUPT,
			"%s: '%.*s' is out of order, or is not below refs/",
			it->table->name, (int)ref->name_len, ref->name);
	it->last = *ref;
	return 0;
}

static int next_packed(struct refs_iter *it, struct error *err)
{
	size_t len = strlen(it->prefix);
	int ret = packed_refs_next(it->table, &it->packed_off, &it->packed,
				   err);

	if (ret > 0 && it->is_strict)
		ret = check_order(it, err) < 0 ? ERR_CORRUPT : ret;
	it->step_packed = false;
	it->has_packed = ret > 0 && it->packed.name_len >= len &&
			 !memcmp(it->packed.name, it->prefix, len);
	return ret < 0 ? ret : 0;
}

static void free_iter(struct refs_iter *it)
{
	if (!it)
		return;
	buf_release(&it->name);
	free(it);
}

static int start_iter(struct refs_iter *it, struct refs_files *files,
		      struct error *err)
{
	struct refs_loose_list *list;
	int ret = get_list(files, it->prefix, &list, err);

	if (ret < 0)
		return ret;
	it->list = list;
	it->next_loose = refs_loose_list_seek(list, it->prefix);
	it->table = files->packed->table;
	/*
	 * In a visit of all refs, no search is needed: a sorted file has no
	 * names before "refs/".
	 */
	if (strcmp(it->prefix, "refs/"))
		ret = packed_refs_seek(it->table, it->prefix,
				       strlen(it->prefix), &it->packed_off,
				       err);
	else if (!it->is_strict)
		ret = packed_refs_seek_on(it->table, it->prefix,
					  strlen(it->prefix), 0,
					  &it->packed_off, err);
	return ret ? ret : next_packed(it, err);
}

/* Returns whether the list has a ref whose name starts with `prefix`. */
static bool has_loose(const struct refs_loose_list *list, const char *prefix)
{
	size_t i = refs_loose_list_seek(list, prefix);

	return i < list->nr && starts_with(list->refs[i].name, prefix);
}

static int get_cached(const struct refs_cached **out, struct refs *refs,
		      const char *prefix, struct error *err)
{
	struct refs_files *files = files_of(refs);
	struct refs_loose_list *list;
	int ret = get_list(files, prefix, &list, err);

	if (ret < 0 || has_loose(list, prefix))
		return ret;
	*out = files->packed->cached;
	return *out != NULL;
}

static int may_peel(struct refs *refs, const char *prefix,
		    const struct refs_peel_search *search, struct error *err)
{
	struct refs_files *files = files_of(refs);
	struct refs_loose_list *list;
	int ret = get_list(files, prefix, &list, err);

	if (ret < 0)
		return ret;
	/*
	 * A loose ref may be a tag that peels to a wanted object: only reading
	 * the object could tell.
	 */
	if (has_loose(list, prefix))
		return 1;
	return packed_refs_may_peel(files->packed->table, prefix, search, err);
}

static int new_iter(struct refs_iter **out, struct refs *refs,
		    const char *prefix, bool strict, struct error *err)
{
	struct refs_iter *it = mem_calloc(1, sizeof(*it));
	int ret;

	*out = NULL;
	if (!it)
		return error_nomem(err);
	buf_init(&it->name);
	it->prefix = prefix;
	it->is_strict = strict;
	ret = start_iter(it, files_of(refs), err);
	if (ret < 0) {
		free_iter(it);
		return ret;
	}
	*out = it;
	return 0;
}

/*
 * Returns the loose ref to visit next if its name starts with the prefix, or
 * NULL.
 */
static const struct refs_loose *peek_loose(const struct refs_iter *it)
{
	const struct refs_loose *ref;

	if (it->next_loose == it->list->nr)
		return NULL;
	ref = &it->list->refs[it->next_loose];
	return starts_with(ref->name, it->prefix) ? ref : NULL;
}

static void fill_loose(struct refs_record *record,
		       const struct refs_loose *loose)
{
	record->ref = (struct ref){
		.name = loose->name,
		.oid = loose->oid,
		.target = loose->target,
	};
	record->kind = loose->kind == REFS_LOOSE_OID ? REFS_RECORD_OID
		       : loose->kind == REFS_LOOSE_SYMBOLIC
			       ? REFS_RECORD_SYMBOLIC
			       : REFS_RECORD_BROKEN;
}

static int fill_packed(struct refs_iter *it, struct refs_record *record,
		       struct error *err)
{
	const struct packed_ref *packed = &it->packed;

	buf_reset(&it->name);
	if (buf_append(&it->name, packed->name, packed->name_len) < 0)
		return error_nomem(err);
	record->kind = REFS_RECORD_OID;
	if (!refs_name_is_valid_len(it->name.data, it->name.len, false) ||
	    oid_is_zero(&packed->oid))
		record->kind = REFS_RECORD_BROKEN;
	record->ref.name = it->name.data;
	record->ref.target = NULL;
	take_packed(&record->ref, packed);
	return 1;
}

static int next_ref(struct refs_iter *it, struct refs_record *record,
		    struct error *err)
{
	const struct refs_loose *loose;
	int cmp, ret;

	if (it->step_packed) {
		ret = next_packed(it, err);
		if (ret < 0)
			return ret;
	}
	loose = peek_loose(it);
	if (!loose && !it->has_packed)
		return 0;
	cmp = loose ? -1 : 1;
	if (loose && it->has_packed)
		cmp = packed_refs_name_cmp(loose->name, strlen(loose->name),
					   it->packed.name,
					   it->packed.name_len);
	/*
	 * A loose ref hides the packed ref of the same name, so the next step
	 * skips this packed ref too.
	 */
	it->step_packed = cmp >= 0;
	if (cmp > 0)
		return fill_packed(it, record, err);
	it->next_loose++;
	fill_loose(record, loose);
	return 1;
}

/*
 * Searches forward in packed-refs from the current record, for the first name
 * that is not less than `name`. A caller uses this to skip all refs of one
 * directory. The search first goes as many bytes ahead as the previous search
 * has skipped. The reason: often one directory after another is skipped, and
 * neighbouring directories often have similar sizes. Returns 0 or a negative
 * error code.
 */
static int seek_packed(struct refs_iter *it, const char *name, size_t len,
		       struct error *err)
{
	size_t off = it->packed_off;
	int ret = packed_refs_seek_on(it->table, name, len, it->skipped, &off,
				      err);

	if (ret < 0)
		return ret;
	it->skipped = off - it->packed_off;
	it->packed_off = off;
	return next_packed(it, err);
}

static int seek_iter(struct refs_iter *it, const char *name, struct error *err)
{
	size_t len = strlen(name), i;

	i = refs_loose_list_seek(it->list, name);
	if (i > it->next_loose)
		it->next_loose = i;
	if (!it->step_packed &&
	    (!it->has_packed ||
	     packed_refs_name_cmp(it->packed.name, it->packed.name_len, name,
				  len) >= 0))
		return 0;
	return seek_packed(it, name, len, err);
}

struct root_visit {
	const struct repo *repo;
	int (*fn)(void *ctx, const char *name);
	void *ctx;
};

/*
 * Calls v->fn for a root ref. A directory with the name of a root ref is
 * skipped. Returns 0, the result of v->fn, or a negative error code.
 */
static int visit_root(void *ctx, const char *name)
{
	const struct root_visit *v = ctx;
	struct buf path = BUF_INIT;
	struct sys_stat st;
	int ret = 0;

	if (!refs_name_is_root(name))
		return 0;
	if (buf_printf(&path, "%s/%s", repo_refs_dir(v->repo), name) < 0)
		ret = ERR_NOMEM;
	else if (!sys_lstat(&st, path.data, NULL) && !st.is_dir)
		ret = v->fn(v->ctx, name);
	buf_release(&path);
	return ret;
}

static int each_root(struct refs *refs, int (*fn)(void *ctx, const char *name),
		     void *ctx, struct error *err)
{
	struct root_visit v = {refs->repo, fn, ctx};

	return sys_dir_each(repo_refs_dir(refs->repo), visit_root, &v, err);
}

const struct refs_backend refs_files_backend = {
	.open = open_files,
	.close = close_files,
	.refresh = refresh_files,
	.read = read_files,
	.list_now = list_files_now,
	.iter_new = new_iter,
	.iter_next = next_ref,
	.iter_seek = seek_iter,
	.may_peel = may_peel,
	.get_cached = get_cached,
	.iter_free = free_iter,
	.each_root = each_root,
	.each_kept = refs_files_each_kept,
};
