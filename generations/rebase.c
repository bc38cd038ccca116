/* SPDX-License-Identifier: MIT */
/*
 * Makes the next generation from a change. All checks of the change come before
 * *next is modified.
 */
#include <string.h>

#include "base/mem.h"
#include "generations/rebase.h"

/* ---- a change by itself */

static int check_files(struct generation *scratch,
		       const struct generation_change *change,
		       struct error *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < change->upload_nr; i++)
		ret = generation_add_file(scratch, &change->uploads[i].file,
					  err);
	return ret;
}

static int check_refs(struct generation *scratch,
		      const struct generation_change *change, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < change->ref_nr; i++) {
		const struct generation_ref_change *r = &change->refs[i];

		if (i && strcmp(r[-1].ref, r->ref) >= 0)
			return error_set(err, ERR_INVALID,
					 "a change sets ref '%.200s' twice, or "
					 "its refs are not sorted",
					 r->ref);
		ret = generation_set_ref(scratch, 1, r->ref, r->after, err);
	}
	return ret;
}

/*
 * Checks that a change does not set two refs that conflict, as "a" and "a/b"
 * do.
 */
static int check_names(const struct generation *scratch, struct error *err)
{
	for (size_t i = 0; i < scratch->update_nr; i++) {
		const struct generation_update *u = &scratch->updates[i];
		char *name = u->value ? mem_strdup(u->ref) : NULL;
		bool hit = false;

		if (u->value && !name)
			return error_nomem(err);
		for (char *p = name ? strchr(name, '/') : NULL; p && !hit;
		     p = strchr(p + 1, '/')) {
			const struct generation_update *parent;

			*p = '\0';
			parent = generation_find_update(scratch, name);
			hit = parent && parent->value;
			*p = '/';
		}
		free(name);
		if (hit)
			return error_set(
				err, ERR_INVALID,
				"a change sets ref '%.200s', and also a ref "
				"whose name is a directory of this name",
				u->ref);
	}
	return 0;
}

static bool changes_tables(const struct generation_change *change)
{
	for (size_t i = 0; i < change->upload_nr; i++)
		if (generation_path_is_table(change->uploads[i].file.path))
			return true;
	for (size_t i = 0; i < change->drop_nr; i++)
		if (generation_path_is_table(change->drops[i].path))
			return true;
	return false;
}

int rebase_check(const struct generation_change *change, struct error *err)
{
	struct generation scratch = {
		.number = 1,
		.node = (char *)change->node,
		.user = (char *)change->user,
		.action = (char *)change->action,
	};
	struct buf text = BUF_INIT;
	int ret = 0;

	if (!change->session_ns || change->tables_up_to > change->seen ||
	    (change->tables_up_to && !changes_tables(change)))
		ret = error_set(err, ERR_INVALID,
				"a change has no session, or wrong tables");
	if (!ret)
		ret = check_files(&scratch, change, err);
	if (!ret)
		ret = check_refs(&scratch, change, err);
	if (!ret)
		ret = check_names(&scratch, err);
	if (!ret)
		ret = generation_print(&text, NULL, &scratch, err);
	/* Do not free these strings: they belong to `change`. */
	scratch.node = scratch.user = scratch.action = NULL;
	generation_release(&scratch);
	buf_release(&text);
	return ret;
}

/* ---- the start */

int rebase_start(struct generation *next, const struct generation *base,
		 struct error *err)
{
	uint8_t parent[GENERATION_SHA256_LEN] = {0};
	struct buf text = BUF_INIT;
	int ret = 0;

	memset(next, 0, sizeof(*next));
	if (base->number) {
		ret = generation_print(&text, parent, base, err);
		buf_release(&text);
	}
	if (!ret)
		ret = generation_copy(next, base, err);
	if (ret < 0)
		return ret;
	free(next->node);
	free(next->user);
	free(next->action);
	next->node = next->user = next->action = NULL;
	next->number = base->number + 1;
	memcpy(next->parent, parent, sizeof(parent));
	memset(next->token, 0, sizeof(next->token));
	next->time = 0;
	return 0;
}

/* ---- obstacles */

static int check_epoch(const struct generation *next,
		       const struct generation_change *change, bool is_first,
		       struct error *err)
{
	if (next->epoch > change->seen ||
	    (change->drops_objects &&
	     (!is_first || next->number - 1 != change->seen))) {
		error_set(err, ERR_INVALID,
			  "another writer removed objects, or the repository "
			  "was changed while objects were being removed");
		return GENERATION_EPOCH_CHANGED;
	}
	return 0;
}

static bool has_content(const struct generation_file *a,
			const struct generation_file *b)
{
	return a->size == b->size && a->is_executable == b->is_executable &&
	       !memcmp(a->sha256, b->sha256, sizeof(a->sha256));
}

/* ---- dropped files */

/* The files that a change drops. */
struct drops {
	/* owned array of borrowed files, sorted by path */
	const struct generation_file **sorted;
	size_t nr;
};

static int cmp_drops(const void *a, const void *b)
{
	const struct generation_file *const *x = a, *const *y = b;

	return strcmp((*x)->path, (*y)->path);
}

static int cmp_path(const void *key, const void *item)
{
	const struct generation_file *const *file = item;

	return strcmp(key, (*file)->path);
}

/* Sorts the files that a change drops. Returns 0 or ERR_NOMEM. */
static int drops_init(struct drops *drops,
		      const struct generation_change *change, struct error *err)
{
	drops->nr = change->drop_nr;
	drops->sorted = mem_alloc(drops->nr, sizeof(*drops->sorted));
	if (!drops->sorted)
		return error_nomem(err);
	for (size_t i = 0; i < drops->nr; i++)
		drops->sorted[i] = &change->drops[i];
	if (drops->nr)
		qsort(drops->sorted, drops->nr, sizeof(*drops->sorted),
		      cmp_drops);
	return 0;
}

/* Returns the dropped file with this path, or NULL. */
static const struct generation_file *find_drop(const struct drops *drops,
					       const char *path)
{
	const struct generation_file **found = NULL;

	if (drops->nr)
		found = bsearch(path, drops->sorted, drops->nr,
				sizeof(*drops->sorted), cmp_path);
	return found ? *found : NULL;
}

static int file_changed(struct error *err, const char *path)
{
	error_set(err, ERR_INVALID, "'%.200s' was changed by another writer",
		  path);
	return GENERATION_FILE_CHANGED;
}

/* Checks that the generation has each file that the change drops. */
static int check_drops(const struct generation *next, const struct drops *drops,
		       struct error *err)
{
	size_t found = 0;

	for (size_t i = 0; drops->nr && i < next->file_nr; i++) {
		const struct generation_file *file = &next->files[i];
		const struct generation_file *drop = find_drop(drops,
							       file->path);

		if (!drop)
			continue;
		if (memcmp(file->sha256, drop->sha256, sizeof(file->sha256)) ||
		    memcmp(file->upload, drop->upload, sizeof(file->upload)))
			return file_changed(err, drop->path);
		found++;
	}
	for (size_t i = 0; found < drops->nr && i < drops->nr; i++)
		if (!generation_find_file(next, drops->sorted[i]->path))
			return file_changed(err, drops->sorted[i]->path);
	return 0;
}

static int check_next_files(const struct generation *next,
			    const struct generation_change *change,
			    const struct drops *drops, struct error *err)
{
	const struct generation_file *file;
	int ret;

	if (next->tables > change->seen && changes_tables(change))
		return file_changed(err, GENERATION_TABLES);
	ret = check_drops(next, drops, err);
	for (size_t i = 0; !ret && i < change->upload_nr; i++) {
		const struct generation_file *up = &change->uploads[i].file;

		file = generation_find_file(next, up->path);
		if (file && !has_content(file, up) &&
		    !find_drop(drops, up->path))
			ret = file_changed(err, up->path);
	}
	return ret;
}

/* ---- refs */

static int cmp_ref(const void *key, const void *item)
{
	const struct generation_ref_change *r = item;

	return strcmp(key, r->ref);
}

bool generation_change_deletes(const struct generation_change *change,
			       const char *ref)
{
	const struct generation_ref_change *found = NULL;

	if (change->ref_nr)
		found = bsearch(ref, change->refs, change->ref_nr,
				sizeof(*found), cmp_ref);
	return found && !found->after;
}

/*
 * Returns whether the ref of an update exists after the change: the update does
 * not delete the ref, and the change does not delete it, either.
 */
static bool is_live(const struct generation_update *u,
		    const struct generation_change *change)
{
	return u && u->value && !generation_change_deletes(change, u->ref);
}

/*
 * Looks in the list next->updates for a ref whose name conflicts with the new
 * ref `ref`, as "a" and "a/b" do. Ignores refs that do not exist after the
 * change. Returns 1 if there is a conflict, 0 if not, or ERR_NOMEM.
 */
static int collides(const struct generation *next,
		    const struct generation_change *change, const char *ref)
{
	struct buf part = BUF_INIT;
	int ret = 0;

	for (const char *p = strchr(ref, '/'); p && !ret; p = strchr(p, '/')) {
		buf_reset(&part);
		ret = buf_append(&part, ref, (size_t)(p++ - ref));
		if (!ret)
			ret = is_live(generation_find_update(next, part.data),
				      change);
	}
	if (!ret) {
		buf_reset(&part);
		ret = buf_printf(&part, "%s/", ref);
	}
	for (size_t i = ret ? 0 : generation_update_pos(next, part.data);
	     !ret && i < next->update_nr; i++) {
		const struct generation_update *u = &next->updates[i];

		if (strncmp(u->ref, part.data, part.len) != 0)
			break;
		ret = is_live(u, change);
	}
	buf_release(&part);
	return ret;
}

/*
 * Finds the value of a ref in the generation *next, and sets *exists to whether
 * the ref exists. A generation has reftables, and a list of the refs that have
 * changed since the reftables were written (next->updates). If the ref is in
 * the list, the reftables are not read.
 *
 * Returns 1 if the reftables were read, and have a ref whose name conflicts
 * with `ref`, as "a" and "a/b" do. Otherwise returns 0 or a negative error
 * code.
 */
static int find_value(struct buf *value, bool *exists,
		      const struct generation *next,
		      const struct generation_change *change, const char *ref,
		      struct error *err)
{
	const struct generation_update *u = generation_find_update(next, ref);
	int ret = 0;

	if (u) {
		*exists = u->value != NULL;
		if (u->value && buf_append_str(value, u->value) < 0)
			return error_nomem(err);
		return 0;
	}
	if (next->tables) {
		if (!change->find_ref)
			return error_set(err, ERR_INVALID,
					 "the tables of refs cannot be read");
		ret = change->find_ref(change->find_ctx, value, next, change,
				       ref, err);
	}
	*exists = value->len > 0;
	return ret;
}

static int check_ref(const struct generation *next,
		     const struct generation_change *change,
		     const struct generation_ref_change *r, struct error *err)
{
	struct buf value = BUF_INIT;
	bool exists = false, same;
	int ret = find_value(&value, &exists, next, change, r->ref, err);
	int hit = 0;

	same = exists ? r->before && !strcmp(value.data, r->before)
		      : !r->before;
	if (ret >= 0 && same && !r->before && r->after) {
		hit = ret ? 1 : collides(next, change, r->ref);
		ret = hit < 0 ? error_nomem(err) : 0;
	}
	if (ret > 0)
		ret = 0;
	if (!ret && (!same || hit)) {
		error_set(err, ERR_INVALID,
			  same ? "ref '%.200s' cannot be created: its name "
				 "conflicts with that of another ref, as 'a/b' "
				 "does with 'a'"
			       : "ref '%.200s' was changed by another writer",
			  r->ref);
		ret = GENERATION_REF_CHANGED;
	}
	buf_release(&value);
	return ret;
}

int generation_change_check_ref(const struct generation *g,
				const struct generation_change *change,
				size_t nr, struct error *err)
{
	return check_ref(g, change, &change->refs[nr], err);
}

/* ---- applying */

/*
 * Removes the updates of generations up to `up_to`, which the new tables
 * contain.
 */
static void drop_updates(struct generation *next, uint64_t up_to)
{
	size_t kept = 0;

	for (size_t i = 0; i < next->update_nr; i++) {
		struct generation_update *u = &next->updates[i];

		if (u->number > up_to) {
			next->updates[kept++] = *u;
			continue;
		}
		free(u->ref);
		free(u->value);
	}
	next->update_nr = kept;
}

static void drop_files(struct generation *next, const struct drops *drops)
{
	size_t kept = 0;

	for (size_t i = 0; i < next->file_nr; i++) {
		struct generation_file *file = &next->files[i];

		if (find_drop(drops, file->path))
			free(file->path);
		else
			next->files[kept++] = *file;
	}
	next->file_nr = kept;
}

static int apply_files(struct generation *next,
		       const struct generation_change *change,
		       const struct drops *drops, const uint8_t *upload,
		       struct error *err)
{
	int ret = 0;

	drop_files(next, drops);
	for (size_t i = 0; !ret && i < change->upload_nr; i++) {
		struct generation_file file = change->uploads[i].file;

		if (generation_find_file(next, file.path))
			continue;
		memcpy(file.upload, upload, sizeof(file.upload));
		ret = generation_add_file(next, &file, err);
	}
	if (changes_tables(change))
		next->tables = next->number;
	return ret;
}

static int apply_refs(struct generation *next,
		      const struct generation_change *change, struct error *err)
{
	struct generation changed = {0};
	int ret = 0;

	for (size_t i = 0; !ret && i < change->ref_nr; i++) {
		const struct generation_ref_change *r = &change->refs[i];
		bool same = r->before && r->after ? !strcmp(r->before, r->after)
						  : r->before == r->after;

		if (!same)
			ret = generation_set_ref(&changed, next->number, r->ref,
						 r->after, err);
	}
	if (!ret)
		ret = generation_take_updates(next, &changed, err);
	generation_release(&changed);
	return ret;
}

int rebase_apply(struct generation *next,
		 const struct generation_change *change,
		 const uint8_t upload[GENERATION_TOKEN_LEN], bool is_first,
		 struct error *err)
{
	struct drops drops = {NULL, 0};
	int ret = check_epoch(next, change, is_first, err);

	if (!ret)
		ret = drops_init(&drops, change, err);
	if (!ret)
		ret = check_next_files(next, change, &drops, err);
	for (size_t i = 0; !ret && i < change->ref_nr; i++)
		ret = check_ref(next, change, &change->refs[i], err);
	if (!ret) {
		drop_updates(next, change->tables_up_to);
		ret = apply_files(next, change, &drops, upload, err);
		if (!ret)
			ret = apply_refs(next, change, err);
		if (change->drops_objects)
			next->epoch = next->number;
	}
	free(drops.sorted);
	return ret;
}
