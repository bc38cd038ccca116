/* SPDX-License-Identifier: MIT */
/* Walks trees with a filter that needs depths and paths. */
#include <string.h>

#include "base/mem.h"
#include "object/parse.h"
#include "walk/filter-walk.h"
#include "walk/sparse.h"

/*
 * Maximum number of sparse:oid parts in one filter. In a 64-bit mask, each part
 * has one bit.
 */
#define SPARSE_MAX 64

struct visit {
	struct filter_walk *fw;
	treewalk_fn fn;
	void *ctx;
};

/*
 * The place where the walk has met an object: the depth, the path, and the
 * sparse:oid parts of the filter that include the object's directory. (A
 * combined filter has several parts.)
 */
struct place {
	/*
	 * One more than the depth that the filter tree:<depth> counts. The root
	 * tree of a commit has depth 0, so it has level 1. The entries of a
	 * tree that a client names as a want have depth 0, too, so they have
	 * level 1. The wanted tree itself is above them, and has level 0. It
	 * has no depth, because it passes the filter in any case.
	 */
	unsigned level;
	/* hash of the object's path */
	uint64_t hash;
	/*
	 * bit mask: bit i is set if sparse:oid part i includes the object's
	 * directory
	 */
	uint64_t taken;
};

int filter_takes(const struct filter *filter, struct objspace *space,
		 struct odb_reader *reader, uint32_t obj_pos,
		 enum object_type type, struct error *err)
{
	uint64_t size;
	int ret;

	if (!filter_takes_type(filter, type))
		return 0;
	if (type != OBJ_BLOB || !filter_needs_size(filter))
		return 1;
	ret = objspace_info(space, reader, obj_pos, NULL, &size, err);
	if (ret == ERR_MISSING)
		return 1;
	return ret < 0 ? ret : size < filter->blob_limit;
}

/* ---- sparse patterns */

static int load_sparse(struct filter *filter, struct odb_reader *reader,
		       const struct oid *oid, const char *name,
		       struct error *err)
{
	struct odb_object blob = ODB_OBJECT_INIT;
	struct sparse *sparse = NULL;
	int ret = odb_read(reader, oid, &blob, err);

	if (ret == ERR_NOMEM)
		return ret;
	if (ret < 0 || blob.type != OBJ_BLOB) {
		odb_object_release(reader, &blob);
		return error_set(err, ERR_INVALID,
				 "unable to parse sparse filter data in %.256s",
				 name);
	}
	ret = sparse_parse(&sparse, (const char *)blob.data, blob.len, err);
	odb_object_release(reader, &blob);
	if (!ret)
		filter->sparse[filter->sparse_nr++] = sparse;
	return ret;
}

int filter_load_sparse(struct filter *filter, struct odb_reader *reader,
		       int (*resolve)(void *ctx, const char *name,
				      struct oid *oid),
		       void *ctx, struct error *err)
{
	int ret = 0;

	if (filter->sparse)
		return 0;
	filter->sparse = mem_calloc(SPARSE_MAX, sizeof(*filter->sparse));
	if (!filter->sparse)
		return error_nomem(err);
	for (size_t i = 0; i < filter->nr && !ret; i++) {
		const struct filter_part *part = &filter->parts[i];
		struct oid oid;

		if (part->kind != FILTER_SPARSE_OID)
			continue;
		if (filter->sparse_nr == SPARSE_MAX)
			return error_set(err, ERR_INVALID,
					 "too many filters are combined");
		if (resolve(ctx, part->name, &oid) < 0)
			return error_set(err, ERR_INVALID,
					 "unable to access sparse blob in "
					 "'%.256s'",
					 part->name);
		ret = load_sparse(filter, reader, &oid, part->name, err);
	}
	return ret;
}

/*
 * Returns which sparse:oid parts of the filter include an entry: a mask in
 * which bit i stands for part i. fw->tree->path is the entry's path, `name` the
 * last component of this path. `dir` is the mask of the directory that has the
 * entry.
 */
static uint64_t taken_by(const struct filter_walk *fw, const char *name,
			 bool is_dir, uint64_t dir)
{
	uint64_t taken = 0;

	for (size_t i = 0; i < fw->filter->sparse_nr; i++)
		if (sparse_takes(fw->filter->sparse[i], fw->tree->path.data,
				 name, is_dir, dir >> i & 1))
			taken |= UINT64_C(1) << i;
	return taken;
}

static bool taken_by_all(const struct filter_walk *fw, uint64_t taken)
{
	size_t nr = fw->filter->sparse_nr;

	return !nr || taken == UINT64_MAX >> (SPARSE_MAX - nr);
}

/* ---- trees that were walked before */

/* Adds bytes to a hash of the kind FNV-1a. Returns the new hash. */
static uint64_t hash_add(uint64_t hash, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
	return hash;
}

#define HASH_START UINT64_C(0xcbf29ce484222325)

static void put_place(uint64_t *slots, size_t nr, uint64_t key)
{
	size_t at = key & (nr - 1);

	while (slots[at] && slots[at] != key)
		at = (at + 1) & (nr - 1);
	slots[at] = key;
}

static int grow_places(struct filter_walk *fw)
{
	size_t nr = fw->place_alloc ? 2 * fw->place_alloc : 1024;
	uint64_t *slots = mem_calloc(nr, sizeof(*slots));

	if (!slots)
		return ERR_NOMEM;
	for (size_t i = 0; i < fw->place_alloc; i++)
		if (fw->places[i])
			put_place(slots, nr, fw->places[i]);
	free(fw->places);
	fw->places = slots;
	fw->place_alloc = nr;
	return 0;
}

/*
 * Records that a tree was met at a path. Returns 1 if the tree is met at this
 * path for the first time, 0 if the pair was recorded before, or ERR_NOMEM.
 */
static int is_new_place(struct filter_walk *fw, uint32_t tree_pos,
			const struct place *place)
{
	uint64_t key = (place->hash ^ tree_pos) * UINT64_C(0x9e3779b97f4a7c15);
	size_t at;

	key ^= key >> 29;
	key += !key;
	if (2 * fw->place_nr >= fw->place_alloc && grow_places(fw) < 0)
		return ERR_NOMEM;
	at = key & (fw->place_alloc - 1);
	while (fw->places[at]) {
		if (fw->places[at] == key)
			return 0;
		at = (at + 1) & (fw->place_alloc - 1);
	}
	fw->places[at] = key;
	fw->place_nr++;
	return 1;
}

/*
 * Records that a tree was met at a level (see struct place). Returns 1 if the
 * tree was not met before, or only at larger levels; 0 if it was met at this
 * level or a smaller one; or ERR_NOMEM.
 */
static int is_nearer(struct filter_walk *fw, uint32_t tree_pos, unsigned level)
{
	size_t old = fw->depth_alloc;

	/*
	 * If the filter has no depth limit, record level 0 for all trees, so
	 * that each tree is walked only once.
	 */
	if (fw->filter->depth == UINT64_MAX)
		level = 0;
	if (tree_pos >= old) {
		if (mem_grow(&fw->depths, &fw->depth_alloc,
			     (size_t)tree_pos + 1, sizeof(*fw->depths)) < 0)
			return ERR_NOMEM;
		memset(fw->depths + old, 0,
		       (fw->depth_alloc - old) * sizeof(*fw->depths));
	}
	if (fw->depths[tree_pos] && fw->depths[tree_pos] <= level + 1)
		return 0;
	fw->depths[tree_pos] = level + 1;
	return 1;
}

/*
 * Returns 1 if the entries of a tree must be walked at this place, 0 if not, or
 * ERR_NOMEM.
 */
static int is_to_walk(struct filter_walk *fw, uint32_t tree_pos,
		      const struct place *place)
{
	/*
	 * If the filter is sparse:oid, or a combined filter (combine:) of which
	 * a part is sparse:oid, the result depends on paths. So a tree is
	 * walked once for each of its paths. Depths need no comparison, since
	 * equal paths have equal depths.
	 */
	if (fw->filter->sparse_nr)
		return is_new_place(fw, tree_pos, place);
	return is_nearer(fw, tree_pos, place->level);
}

/* ---- the walk */

/* Calls the walk's callback `fn` for an object, unless this was done before. */
static int deliver(const struct visit *v, uint32_t obj_pos,
		   enum object_type type, struct error *err)
{
	struct treewalk *w = v->fw->tree;
	int ret = item_kinds_add(&w->kinds, w->space, obj_pos, type, err);

	if (ret < 0)
		return ret;
	ret = treewalk_see(w, obj_pos);
	if (ret <= 0)
		return ret < 0 ? error_nomem(err) : 0;
	return v->fn(v->ctx, obj_pos, type, w->path.data, w->path.len, err);
}

static int visit_tree(const struct visit *v, uint32_t tree_pos,
		      const struct place *place, bool is_wanted,
		      struct error *err);

static int visit_blob(const struct visit *v, uint32_t obj_pos,
		      const struct place *place, struct error *err)
{
	struct filter_walk *fw = v->fw;
	struct treewalk *w = fw->tree;
	int ret;

	if (place->level > fw->filter->depth ||
	    !taken_by_all(fw, place->taken) || bitset_get(&w->seen, obj_pos))
		return 0;
	ret = filter_takes(fw->filter, w->space, w->reader, obj_pos, OBJ_BLOB,
			   err);
	return ret > 0 ? deliver(v, obj_pos, OBJ_BLOB, err) : ret;
}

static int visit_entry(const struct visit *v, const struct tree_entry *entry,
		       const struct place *dir, struct error *err)
{
	struct filter_walk *fw = v->fw;
	struct place place = {.level = dir->level + 1};
	size_t path_len = fw->tree->path.len;
	uint32_t obj_pos;
	int ret;

	if (tree_entry_is_gitlink(entry))
		return 0;
	if (objspace_add(fw->tree->space, entry->oid, &obj_pos) < 0 ||
	    treewalk_enter(fw->tree, entry) < 0)
		return error_nomem(err);
	if (fw->spared && bitset_get(fw->spared, obj_pos) &&
	    !bitset_get(&fw->tree->seen, obj_pos))
		bitset_unset(fw->spared, obj_pos);
	place.taken = taken_by(fw, entry->name, tree_entry_is_dir(entry),
			       dir->taken);
	place.hash = hash_add(hash_add(dir->hash, "/", 1), entry->name,
			      entry->name_len);
	ret = tree_entry_is_dir(entry)
		      ? visit_tree(v, obj_pos, &place, false, err)
		      : visit_blob(v, obj_pos, &place, err);
	buf_set_len(&fw->tree->path, path_len);
	return ret < 0 ? ret : 0;
}

static int visit_entries(const struct visit *v, const struct odb_object *tree,
			 const struct place *place, struct error *err)
{
	enum hash_algo algo = v->fw->tree->space->odb->algo;
	struct cursor c = cursor_make(tree->data, tree->len);
	struct tree_entry entry;
	int ret;

	while ((ret = tree_next(&entry, &c, algo)) > 0) {
		ret = visit_entry(v, &entry, place, err);
		if (ret < 0)
			return ret;
	}
	return ret;
}

static int walk_entries(const struct visit *v, uint32_t tree_pos,
			const struct place *place, struct error *err)
{
	struct treewalk *w = v->fw->tree;
	struct odb_object tree = ODB_OBJECT_INIT;
	struct error inner = ERROR_INIT;
	int ret = treewalk_read(w, tree_pos, place->level, &tree, err);

	if (ret < 0)
		return ret;
	ret = visit_entries(v, &tree, place, &inner);
	if (ret < 0 && !inner.code)
		ret = treewalk_malformed(w, tree_pos, err);
	else if (ret < 0 && err)
		*err = inner;
	odb_object_release(w->reader, &tree);
	return ret;
}

static int visit_tree(const struct visit *v, uint32_t tree_pos,
		      const struct place *place, bool is_wanted,
		      struct error *err)
{
	struct filter_walk *fw = v->fw;
	const struct filter *filter = fw->filter;
	int ret = 0;

	if (bitset_get(&fw->excluded, tree_pos))
		return 0;
	if (is_wanted || (place->level <= filter->depth &&
			  filter_takes_type(filter, OBJ_TREE)))
		ret = deliver(v, tree_pos, OBJ_TREE, err);
	if (ret)
		return ret < 0 ? ret : 0;
	/*
	 * Skip the entries of this tree if they are too deep to pass the filter
	 * tree:<depth>.
	 *
	 * There is one exception. fw->spared has wants (objects that the client
	 * has named) that are sent even if they do not pass the filter. As in
	 * stock Git, a want that is also an entry of an earlier wanted tree
	 * must pass the filter, so it is removed from fw->spared. To find such
	 * wants, the entries are read although they are too deep, if
	 * fw->spared is set and this tree itself is not too deep.
	 */
	if (filter->depth < place->level ||
	    (filter->depth == place->level && !fw->spared))
		return 0;
	ret = is_to_walk(fw, tree_pos, place);
	if (ret < 0)
		return error_nomem(err);
	return ret ? walk_entries(v, tree_pos, place, err) : 0;
}

int filter_walk_init(struct filter_walk *fw, const struct filter *filter,
		     struct treewalk *tree, struct error *err)
{
	*fw = (struct filter_walk){.filter = filter, .tree = tree};
	return bitset_copy(&fw->excluded, &tree->seen) < 0 ? error_nomem(err)
							   : 0;
}

void filter_walk_release(struct filter_walk *fw)
{
	bitset_release(&fw->excluded);
	free(fw->depths);
	free(fw->places);
}

static int set_path(struct filter_walk *fw, const char *path)
{
	buf_reset(&fw->tree->path);
	return buf_append_str(&fw->tree->path, path);
}

int filter_walk_blob(struct filter_walk *fw, uint32_t blob_pos,
		     const char *path, treewalk_fn fn, void *ctx,
		     struct error *err)
{
	struct visit v = {fw, fn, ctx};
	struct place place = {.level = 1};

	if (set_path(fw, path) < 0)
		return error_nomem(err);
	/*
	 * A pattern without a slash is usually compared with the last component
	 * of a path. As in stock Git, it is compared with the whole path of a
	 * wanted blob.
	 */
	place.taken = taken_by(fw, path, false, 0);
	return visit_blob(&v, blob_pos, &place, err);
}

int filter_walk_run(struct filter_walk *fw, uint32_t tree_pos, const char *path,
		    bool is_wanted, treewalk_fn fn, void *ctx,
		    struct error *err)
{
	struct visit v = {fw, fn, ctx};
	struct place place = {
		.level = is_wanted ? 0 : 1,
		.hash = hash_add(HASH_START, path, strlen(path)),
	};

	if (set_path(fw, path) < 0)
		return error_nomem(err);
	return visit_tree(&v, tree_pos, &place, is_wanted, err);
}
