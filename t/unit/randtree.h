/* SPDX-License-Identifier: MIT */
/*
 * Random directory trees for random repositories. Some names sort differently
 * as files and as directories. Files become directories, directories move, and
 * earlier states come back. Packs have real deltas between trees. Tests compare
 * tree diffs with the slow tree diff of this header, which lists all paths.
 * Include this header after cmocka.h.
 */
#ifndef T_UNIT_RANDTREE_H
#define T_UNIT_RANDTREE_H

#include "base/cursor.h"
#include "object/parse.h"
#include "pack/delta.h"
#include "t/unit/randrepo.h"

#define RANDTREE_FILES 48
#define RANDTREE_PATH 40
/*
 * Lowest content number of a submodule. A file with a lower number is a blob.
 */
#define RANDTREE_GITLINK 250

/* A directory tree, as a list of its files. */
struct randtree {
	struct randtree_file {
		char path[RANDTREE_PATH];
		uint8_t content;
	} files[RANDTREE_FILES];
	int nr;
};

/* A repository whose commits have random directory trees. */
struct randhist {
	struct randrepo r;
	/* Indexed like r.commits: the tree of the commit. */
	struct randtree *trees;
};

static inline void randtree_remove(struct randtree *t, int i)
{
	t->files[i] = t->files[--t->nr];
}

/* Returns true if `dir` is `path` or a directory above it. */
static inline bool randtree_is_above(const char *dir, const char *path)
{
	size_t len = strlen(dir);

	return !strncmp(dir, path, len) && (!path[len] || path[len] == '/');
}

/*
 * Put a file with the content number `content` into the tree. Remove files at
 * paths that must now be directories, and files below the new path. If the tree
 * is full, or the path is too long, no file is added.
 */
static inline void randtree_put(struct randtree *t, const char *path,
				uint8_t content)
{
	for (int i = t->nr; i-- > 0;)
		if (randtree_is_above(path, t->files[i].path) ||
		    randtree_is_above(t->files[i].path, path))
			randtree_remove(t, i);
	if (t->nr == RANDTREE_FILES || strlen(path) >= RANDTREE_PATH)
		return;
	strcpy(t->files[t->nr].path, path);
	t->files[t->nr++].content = content;
}

static inline void randtree_name(struct randrepo *r, char *out)
{
	static const char *const names[] = {"a",  "a.c", "a-b",   "a0", "ab",
					    "ab", "lib", "lib.c", "z"};

	strcpy(out, names[randrepo_below(r, 9)]);
}

static inline void randtree_path(struct randrepo *r, char *out)
{
	uint32_t depth = randrepo_below(r, 4);

	*out = '\0';
	for (uint32_t i = 0; i <= depth; i++) {
		randtree_name(r, out + strlen(out));
		if (i < depth)
			strcat(out, "/");
	}
}

/*
 * Move the file or directory with a random top-level name to a random path. If
 * nothing has this name, the tree stays unchanged.
 */
static inline void randtree_move(struct randrepo *r, struct randtree *t)
{
	struct randtree before = *t;
	char from[RANDTREE_PATH], to[RANDTREE_PATH];

	randtree_name(r, from);
	randtree_path(r, to);
	for (int i = 0; i < before.nr; i++) {
		const char *path = before.files[i].path;
		char moved[2 * RANDTREE_PATH];

		if (!randtree_is_above(from, path))
			continue;
		snprintf(moved, sizeof(moved), "%s%s", to, path + strlen(from));
		for (int k = t->nr; k-- > 0;)
			if (!strcmp(t->files[k].path, path))
				randtree_remove(t, k);
		if (strlen(moved) < RANDTREE_PATH)
			randtree_put(t, moved, before.files[i].content);
	}
}

static inline void randtree_change(struct randrepo *r, struct randtree *t)
{
	char path[RANDTREE_PATH];
	uint32_t kind = randrepo_below(r, 16);

	if (kind < 3 && t->nr) {
		randtree_remove(t, (int)randrepo_below(r, (uint32_t)t->nr));
	} else if (kind == 3) {
		randtree_move(r, t);
	} else if (kind == 4 && !randrepo_below(r, 4)) {
		t->nr = 0;
	} else if (kind < 9 && t->nr) {
		t->files[randrepo_below(r, (uint32_t)t->nr)].content =
			(uint8_t)randrepo_below(r, 256);
	} else {
		randtree_path(r, path);
		randtree_put(t, path, (uint8_t)randrepo_below(r, 256));
	}
}

/* An entry of a tree object that is being made. */
struct randtree_entry {
	char name[RANDTREE_PATH];
	const char *mode;
	uint32_t nr; /* number of its object */
	uint8_t gitlink;
};

/*
 * Compares names in the order of tree objects: the name of a directory counts
 * as if it ended in a slash.
 */
static inline int randtree_entry_cmp(const void *va, const void *vb)
{
	const struct randtree_entry *a = va, *b = vb;
	char x[RANDTREE_PATH + 1], y[RANDTREE_PATH + 1];

	snprintf(x, sizeof(x), "%s%s", a->name, *a->mode == '4' ? "/" : "");
	snprintf(y, sizeof(y), "%s%s", b->name, *b->mode == '4' ? "/" : "");
	return strcmp(x, y);
}

static inline void randtree_write(struct randrepo *r, struct buf *data,
				  uint32_t *refs, uint32_t *ref_nr,
				  const struct randtree_entry *e)
{
	uint8_t none[OID_MAX_LEN];
	bool is_link = *e->mode == '1' && e->mode[1] == '6';

	memset(none, e->gitlink, sizeof(none));
	buf_printf(data, "%s %s", e->mode, e->name);
	buf_append_char(data, '\0');
	buf_append(data, is_link ? none : r->objects[e->nr].oid.bytes,
		   hash_len(r->t.repo.algo));
	if (!is_link)
		refs[(*ref_nr)++] = e->nr;
}

static inline uint32_t randtree_store(struct randrepo *r,
				      const struct randtree *t, const char *dir)
{
	static const char *const modes[] = {"100644", "100644", "100755",
					    "120000"};
	struct randtree_entry entries[RANDTREE_FILES];
	uint32_t refs[RANDTREE_FILES], ref_nr = 0, nr = 0, tree;
	struct buf data = BUF_INIT;

	for (int i = 0; i < t->nr; i++) {
		const struct randtree_file *f = &t->files[i];
		const char *rest = f->path + strlen(dir), *slash;
		struct randtree_entry *e = &entries[nr];
		char sub[RANDTREE_PATH];
		size_t len;
		bool there = false;

		if (strncmp(f->path, dir, strlen(dir)) != 0)
			continue;
		slash = strchr(rest, '/');
		len = slash ? (size_t)(slash - rest) : strlen(rest);
		snprintf(e->name, sizeof(e->name), "%.*s", (int)len, rest);
		for (uint32_t k = 0; k < nr; k++)
			there |= !strcmp(entries[k].name, e->name);
		if (there)
			continue;
		nr++;
		if (slash) {
			snprintf(sub, sizeof(sub), "%.*s/",
				 (int)(slash - f->path), f->path);
			e->mode = "40000";
			e->nr = randtree_store(r, t, sub);
		} else if (f->content >= RANDTREE_GITLINK) {
			e->mode = "160000";
			e->gitlink = f->content;
		} else {
			e->mode = modes[f->content % 4];
			e->nr = randrepo_blob(r, f->content % 80);
		}
	}
	qsort(entries, nr, sizeof(*entries), randtree_entry_cmp);
	for (uint32_t i = 0; i < nr; i++)
		randtree_write(r, &data, refs, &ref_nr, &entries[i]);
	tree = randrepo_add(r, OBJ_TREE, &data, refs, ref_nr);
	buf_release(&data);
	return tree;
}

static inline uint32_t randhist_commit_tree(struct randrepo *r, uint32_t tree,
					    const uint32_t *parents,
					    uint32_t parent_nr, uint64_t date)
{
	struct buf data = BUF_INIT;
	char hex[OID_MAX_HEX_LEN + 1];
	uint32_t refs[32], nr;

	refs[0] = tree;
	buf_printf(&data, "tree %s\n",
		   oid_to_hex(hex, &r->objects[tree].oid, r->t.repo.algo));
	for (uint32_t i = 0; i < parent_nr; i++) {
		refs[i + 1] = parents[i];
		buf_printf(&data, "parent %s\n",
			   oid_to_hex(hex, &r->objects[parents[i]].oid,
				      r->t.repo.algo));
	}
	buf_printf(&data,
		   "author A <a@b> %ju +0000\ncommitter A <a@b> %ju +0000\n\n"
		   "commit %u\n",
		   (uintmax_t)date, (uintmax_t)date, r->commit_nr);
	nr = randrepo_add(r, OBJ_COMMIT, &data, refs, parent_nr + 1);
	r->commits[r->commit_nr++] = nr;
	buf_release(&data);
	return nr;
}

static inline void randhist_init(struct randhist *h, enum hash_algo algo,
				 uint64_t *seed)
{
	randrepo_init(&h->r, algo, seed);
	h->trees = calloc(RANDREPO_MAX, sizeof(*h->trees));
	assert_non_null(h->trees);
}

static inline void randhist_release(struct randhist *h)
{
	randrepo_release(&h->r);
	free(h->trees);
}

/*
 * Choose random parents among the recent commits. Sets *out to their indexes in
 * r->commits[]. Returns the number of parents.
 */
static inline uint32_t randhist_parents(struct randrepo *r, uint32_t *out)
{
	uint32_t nr = 0, want = randrepo_below(r, 24);

	want = want == 0 ? 0 : want == 1 ? 11 : want < 8 ? 2 : 1;
	for (uint32_t i = 0; i < want && r->commit_nr; i++) {
		uint32_t back = randrepo_below(r, i ? 12 : 4) + 1;

		if (back <= r->commit_nr)
			out[nr++] = r->commit_nr - back;
	}
	return nr;
}

/*
 * Add a commit. If `skew` is true, the commit has a wrong date with a
 * probability of 1 in 10.
 */
static inline void randhist_grow(struct randhist *h, bool skew)
{
	struct randrepo *r = &h->r;
	struct randtree t = {.nr = 0};
	uint32_t parents[12], nr = randhist_parents(r, parents), tree;
	uint64_t date = 1700000000 + 60 * (uint64_t)r->commit_nr;

	if (nr)
		t = h->trees[parents[0]];
	for (uint32_t i = 1; i < nr; i++) {
		const struct randtree *other = &h->trees[parents[i]];

		for (int k = 0; k < other->nr; k++)
			if (randrepo_below(r, 2))
				randtree_put(&t, other->files[k].path,
					     other->files[k].content);
	}
	for (uint32_t i = randrepo_below(r, nr ? 4 : 20); i-- > 0;)
		randtree_change(r, &t);
	if (r->commit_nr && !randrepo_below(r, 15))
		t = h->trees[randrepo_below(r, r->commit_nr)];
	if (skew && !randrepo_below(r, 10))
		date -= 60 * randrepo_below(r, 40);
	tree = randtree_store(r, &t, "");
	for (uint32_t i = 0; i < nr; i++)
		parents[i] = r->commits[parents[i]];
	h->trees[r->commit_nr] = t;
	randhist_commit_tree(r, tree, parents, nr, date);
}

static inline void randhist_grow_by(struct randhist *h, uint32_t commits,
				    bool skew)
{
	struct randrepo *r = &h->r;

	for (uint32_t i = 0; i < commits; i++) {
		randhist_grow(h, skew);
		if (!randrepo_below(r, 12))
			randrepo_tag(r, r->commits[r->commit_nr - 1]);
		if (!randrepo_below(r, 12))
			randrepo_tag(r, randrepo_below(r, r->nr));
	}
}

/*
 * Returns the index in r.objects[] of the tree of a commit. `commit`: index of
 * the commit in r.objects[].
 */
static inline uint32_t randhist_tree(const struct randhist *h, uint32_t commit)
{
	return h->r.objects[commit].refs[0];
}

/*
 * Add object `nr` to a pack. Object `base_nr` is entry `base_place` of the
 * pack. If a delta against this entry is smaller than the object, the delta is
 * stored.
 */
static inline void randtree_pack_one(struct randrepo *r, struct packfile *p,
				     uint32_t nr, uint32_t base_place,
				     uint32_t base_nr)
{
	struct randrepo_object *o = &r->objects[nr];
	const struct buf *from = &r->objects[base_nr].data;
	struct delta_index *index = delta_index_new(from->data, from->len);
	struct pack_entry e = {.type = randrepo_below(r, 4) ? OBJ_OFS_DELTA
							    : OBJ_REF_DELTA};
	void *delta = NULL;
	size_t len;

	if (index && !delta_create(index, o->data.data, o->data.len,
				   o->data.len, &delta, &len)) {
		e.size = len;
		e.base_distance = p->bytes.len - p->offsets[base_place];
		e.base_oid = p->oids[base_place].bytes;
		packfile_add_entry(p, &e, delta, len, &o->oid);
	} else {
		packfile_add(p, o->type, o->data.data, o->data.len);
	}
	free(delta);
	delta_index_free(index);
}

/*
 * Write a new pack of at most PACKFILE_MAX objects that are not stored yet.
 * Returns their number; 0: all objects are stored, and no pack is written.
 */
static inline uint32_t randtree_pack_some(struct randrepo *r)
{
	struct packfile *p = malloc(sizeof(*p));
	uint32_t trees[PACKFILE_MAX], places[PACKFILE_MAX], tree_nr = 0;
	char name[64];
	uint32_t done;

	assert_non_null(p);
	packfile_init(p, r->t.repo.algo);
	/* Add the newest objects first, as in real packs. */
	for (uint32_t i = r->nr; i-- > 0 && p->nr < PACKFILE_MAX;) {
		struct randrepo_object *o = &r->objects[i];
		uint32_t back = randrepo_below(r, 6) + 1, place = p->nr;

		if (o->is_stored)
			continue;
		if (o->type == OBJ_TREE && back <= tree_nr)
			randtree_pack_one(r, p, i, places[tree_nr - back],
					  trees[tree_nr - back]);
		else
			packfile_add(p, o->type, o->data.data, o->data.len);
		if (o->type == OBJ_TREE) {
			places[tree_nr] = place;
			trees[tree_nr++] = i;
		}
		o->is_stored = true;
	}
	done = p->nr;
	packfile_finish(p);
	for (int i = 0; done && i < 2; i++) {
		const struct buf *b = i ? &p->idx : &p->bytes;

		snprintf(name, sizeof(name), "objects/pack/pack-%u-%zu.%s",
			 r->nr, p->bytes.len, i ? "idx" : "pack");
		tmprepo_write_len(&r->t, name, b->data, b->len);
	}
	packfile_release(p);
	free(p);
	return done;
}

/*
 * Store all objects that are not stored yet. The objects go into new packs, in
 * which most trees are deltas.
 */
static inline void randtree_store_packs(struct randrepo *r)
{
	while (randtree_pack_some(r))
		;
}

/*
 * All paths of a tree, with the object at each path. The first path is "",
 * which stands for the tree itself. The slow tree diff uses this list.
 */
struct pathlist {
	struct pathlist_item {
		char path[2 * RANDTREE_PATH];
		uint32_t nr; /* number of its object */
	} * items;
	size_t nr, alloc;
};

static inline void pathlist_walk(const struct randrepo *r, struct pathlist *l,
				 uint32_t nr, const char *path)
{
	const struct randrepo_object *o = &r->objects[nr];
	struct cursor c = cursor_make(o->data.data, o->data.len);
	struct tree_entry e;
	char sub[4 * RANDTREE_PATH];

	assert_int_equal(
		mem_grow(&l->items, &l->alloc, l->nr + 1, sizeof(*l->items)),
		0);
	snprintf(l->items[l->nr].path, sizeof(l->items[l->nr].path), "%s",
		 path);
	l->items[l->nr++].nr = nr;
	if (o->type != OBJ_TREE)
		return;
	while (tree_next(&e, &c, r->t.repo.algo) > 0) {
		struct oid oid;

		if (tree_entry_is_gitlink(&e))
			continue;
		oid_from_raw(&oid, e.oid, r->t.repo.algo);
		snprintf(sub, sizeof(sub), "%s%s%s", path, *path ? "/" : "",
			 e.name);
		pathlist_walk(r, l, randrepo_find(r, &oid), sub);
	}
}

static inline bool pathlist_has(const struct pathlist *l, const char *path,
				uint32_t nr)
{
	for (size_t i = 0; i < l->nr; i++)
		if (l->items[i].nr == nr && !strcmp(l->items[i].path, path))
			return true;
	return false;
}

/* Returns whether `path` is the path of item `nr`, or a path below it. */
static inline bool pathlist_is_below(const struct pathlist *l, size_t nr,
				     const char *path)
{
	size_t len = strlen(l->items[nr].path);

	return !strncmp(l->items[nr].path, path, len) &&
	       (!path[len] || path[len] == '/');
}

/*
 * Remove each path at which a tree is that is in the list already, and the
 * paths below it.
 */
static inline void pathlist_drop_repeats(const struct randrepo *r,
					 struct pathlist *l)
{
	size_t kept = 0;

	for (size_t i = 0, next; i < l->nr; i = next) {
		const struct pathlist_item *item = &l->items[i];
		bool is_repeat = false;

		next = i + 1;
		for (size_t k = 0; k < kept; k++)
			is_repeat |= l->items[k].nr == item->nr &&
				     r->objects[item->nr].type == OBJ_TREE;
		if (!is_repeat)
			l->items[kept++] = *item;
		while (is_repeat && next < l->nr &&
		       pathlist_is_below(l, i, l->items[next].path))
			next++;
	}
	l->nr = kept;
}

/*
 * List the paths of `tree` at which no tree of `parents` has the same object,
 * without those that pathlist_drop_repeats() removes.
 */
static inline void pathlist_new(const struct randrepo *r, struct pathlist *out,
				uint32_t tree, const uint32_t *parents,
				uint32_t parent_nr)
{
	struct pathlist all = {NULL, 0, 0}, theirs = {NULL, 0, 0};

	*out = (struct pathlist){NULL, 0, 0};
	pathlist_walk(r, &all, tree, "");
	for (uint32_t i = 0; i < parent_nr; i++)
		pathlist_walk(r, &theirs, parents[i], "");
	for (size_t i = 0; i < all.nr; i++) {
		if (pathlist_has(&theirs, all.items[i].path, all.items[i].nr))
			continue;
		assert_int_equal(mem_grow(&out->items, &out->alloc, out->nr + 1,
					  sizeof(*out->items)),
				 0);
		out->items[out->nr++] = all.items[i];
	}
	pathlist_drop_repeats(r, out);
	free(all.items);
	free(theirs.items);
}

/* Number of levels of the trees of randtree_nested(). */
#define RANDTREE_LEVELS 12
/* Number of entries of each of these trees. */
#define RANDTREE_NESTED 8

/*
 * Add trees that are nested in each other: each entry of a tree is the tree of
 * the next level, and each entry of the last tree is the blob. The tree that is
 * returned has 8^12 paths.
 */
static inline uint32_t randtree_nested(struct randrepo *r, uint32_t blob)
{
	uint32_t nr = blob;

	for (int level = 0; level < RANDTREE_LEVELS; level++) {
		struct randrepo_tree t = {.data = BUF_INIT};

		for (int i = 0; i < RANDTREE_NESTED; i++) {
			const char name[] = {(char)('a' + i), '\0'};

			randrepo_entry(r, &t, level ? "40000" : "100644", name,
				       nr);
		}
		nr = randrepo_finish_tree(r, &t);
	}
	return nr;
}

#endif
