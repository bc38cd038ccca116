/* SPDX-License-Identifier: MIT */
/*
 * Random repositories of known content. r->objects[] lists all objects, and to
 * which objects each of them refers. So tests can compare each kind of walk
 * with a slow computation on this list. Include this header after cmocka.h.
 *
 * Histories have roots, merges that cross, merges of many parents, commits with
 * wrong dates, files that are removed and come back, equal contents at several
 * places, submodules, and tags of objects of all types. The functions
 * randrepo_store*() write objects to the repository, as loose objects or in
 * packs.
 */
#ifndef T_UNIT_RANDREPO_H
#define T_UNIT_RANDREPO_H

#include "object/oidmap.h"
#include "t/unit/packfile.h"
#include "t/unit/random.h"
#include "t/unit/tmppack.h"

/* Maximum number of objects in a repository. */
#define RANDREPO_MAX 6000
/* Number of file paths in the tree of a commit. */
#define RANDREPO_FILES 12
#define RANDREPO_CONTENTS 160 /* number of file contents */

struct randrepo_object {
	enum object_type type;
	struct oid oid;
	struct buf data;
	/*
	 * Owned: indexes in r->objects[] of the objects whose ids are in this
	 * object.
	 */
	uint32_t *refs;
	uint32_t ref_nr;
	bool is_stored;
	/*
	 * Commits only: for each path, the number of the file's content; 0: no
	 * file.
	 */
	uint8_t files[RANDREPO_FILES];
};

struct randrepo {
	struct tmprepo t;
	uint64_t *seed;
	struct randrepo_object *objects;
	uint32_t nr;
	struct oidmap by_oid;
	uint32_t *commits; /* oldest first */
	uint32_t commit_nr;
};

static inline void randrepo_init(struct randrepo *r, enum hash_algo algo,
				 uint64_t *seed)
{
	memset(r, 0, sizeof(*r));
	tmprepo_init(&r->t, algo);
	tmprepo_write(&r->t, "HEAD", "ref: refs/heads/main\n");
	tmprepo_write(&r->t, "refs/keep", "");
	tmprepo_remove(&r->t, "refs/keep");
	tmprepo_write(&r->t, "objects/pack/keep", "");
	tmprepo_remove(&r->t, "objects/pack/keep");
	r->seed = seed;
	r->objects = calloc(RANDREPO_MAX, sizeof(*r->objects));
	r->commits = calloc(RANDREPO_MAX, sizeof(*r->commits));
	assert_true(r->objects && r->commits);
}

static inline void randrepo_release(struct randrepo *r)
{
	for (uint32_t i = 0; i < r->nr; i++) {
		buf_release(&r->objects[i].data);
		free(r->objects[i].refs);
	}
	free(r->objects);
	free(r->commits);
	oidmap_release(&r->by_oid);
	tmprepo_release(&r->t);
}

static inline uint32_t randrepo_below(struct randrepo *r, uint32_t nr)
{
	return (uint32_t)(random_next(r->seed) % nr);
}

/*
 * Returns the index of an object in r->objects[]. The object must be in the
 * repository.
 */
static inline uint32_t randrepo_find(const struct randrepo *r,
				     const struct oid *oid)
{
	uint32_t nr = 0;

	assert_true(oidmap_get(&r->by_oid, oid, &nr));
	return nr;
}

/*
 * Append an object to r->objects[] without storing it in the repository.
 * `refs`: indexes in r->objects[] of the objects to which the new object
 * refers. Returns its index. If r->objects[] has the object already, returns
 * the index of the existing one.
 */
static inline uint32_t randrepo_add(struct randrepo *r, enum object_type type,
				    const struct buf *data,
				    const uint32_t *refs, uint32_t ref_nr)
{
	struct randrepo_object *o = &r->objects[r->nr];
	uint32_t there;

	assert_true(r->nr < RANDREPO_MAX);
	tmppack_oid(&r->t, &o->oid, type, data->data, data->len);
	if (!oidmap_add(&r->by_oid, &o->oid, r->nr, &there))
		return there;
	o->type = type;
	buf_init(&o->data);
	assert_int_equal(buf_append(&o->data, data->data, data->len), 0);
	o->refs = calloc(ref_nr + 1, sizeof(*refs));
	assert_non_null(o->refs);
	if (ref_nr)
		memcpy(o->refs, refs, ref_nr * sizeof(*refs));
	o->ref_nr = ref_nr;
	return r->nr++;
}

/*
 * Adds a blob and returns its index. Equal numbers `content` give the same
 * blob. The contents of different blobs are similar, so that packs contain
 * deltas.
 */
static inline uint32_t randrepo_blob(struct randrepo *r, unsigned content)
{
	struct buf data = BUF_INIT;
	uint32_t nr;

	for (unsigned i = 0; i < 12 + content % 5; i++)
		buf_printf(&data, "line %u of family %u, %s\n", i, content % 7,
			   i % 12 == content % 12 ? "changed" : "as it was");
	buf_printf(&data, "content %u\n", content);
	nr = randrepo_add(r, OBJ_BLOB, &data, NULL, 0);
	buf_release(&data);
	return nr;
}

/* A tree that is being made. Entries are added in the order of their names. */
struct randrepo_tree {
	struct buf data;
	uint32_t refs[RANDREPO_FILES + 4];
	uint32_t ref_nr;
};

static inline void randrepo_entry(struct randrepo *r, struct randrepo_tree *t,
				  const char *mode, const char *name,
				  uint32_t nr)
{
	buf_printf(&t->data, "%s %s", mode, name);
	buf_append_char(&t->data, '\0');
	buf_append(&t->data, r->objects[nr].oid.bytes,
		   hash_len(r->t.repo.algo));
	t->refs[t->ref_nr++] = nr;
}

static inline uint32_t randrepo_finish_tree(struct randrepo *r,
					    struct randrepo_tree *t)
{
	uint32_t nr = randrepo_add(r, OBJ_TREE, &t->data, t->refs, t->ref_nr);

	buf_release(&t->data);
	return nr;
}

/*
 * Add the files [from, to) of `files` to the tree. Their names are f00, f01 and
 * so on. A file with the number 0 is not added.
 */
static inline void randrepo_files(struct randrepo *r, struct randrepo_tree *t,
				  const uint8_t *files, int from, int to)
{
	for (int i = from; i < to; i++) {
		char name[8];

		snprintf(name, sizeof(name), "f%02d", i - from);
		if (files[i])
			randrepo_entry(r, t, i % 5 ? "100644" : "100755", name,
				       randrepo_blob(r, files[i]));
	}
}

/*
 * Make a root tree. The root and the directories a, a/z and b have the files
 * f00, f01 and f02 each. The root also has the submodule sub. `files`: number
 * of each file's content; 0: no such file. Returns the index of the tree in
 * r->objects[].
 */
static inline uint32_t randrepo_root(struct randrepo *r, const uint8_t *files)
{
	struct randrepo_tree root = {.data = BUF_INIT}, a = {.data = BUF_INIT},
			     z = {.data = BUF_INIT}, b = {.data = BUF_INIT};
	uint8_t gitlink[OID_MAX_LEN];

	randrepo_files(r, &z, files, 0, 3);
	randrepo_files(r, &a, files, 3, 6);
	randrepo_files(r, &b, files, 6, 9);
	if (z.ref_nr)
		randrepo_entry(r, &a, "40000", "z",
			       randrepo_finish_tree(r, &z));
	if (a.ref_nr)
		randrepo_entry(r, &root, "40000", "a",
			       randrepo_finish_tree(r, &a));
	if (b.ref_nr)
		randrepo_entry(r, &root, "40000", "b",
			       randrepo_finish_tree(r, &b));
	randrepo_files(r, &root, files, 9, 12);
	if (files[11]) {
		/*
		 * Add a submodule entry. Its commit is not in the repository.
		 */
		memset(gitlink, files[11], sizeof(gitlink));
		buf_printf(&root.data, "160000 sub");
		buf_append_char(&root.data, '\0');
		buf_append(&root.data, gitlink, hash_len(r->t.repo.algo));
	}
	return randrepo_finish_tree(r, &root);
}

static inline uint32_t randrepo_commit(struct randrepo *r, const uint8_t *files,
				       const uint32_t *parents,
				       uint32_t parent_nr, uint64_t date)
{
	struct buf data = BUF_INIT;
	char hex[OID_MAX_HEX_LEN + 1];
	uint32_t refs[32], nr;

	refs[0] = randrepo_root(r, files);
	buf_printf(&data, "tree %s\n",
		   oid_to_hex(hex, &r->objects[refs[0]].oid, r->t.repo.algo));
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
	memcpy(r->objects[nr].files, files, RANDREPO_FILES);
	r->commits[r->commit_nr++] = nr;
	buf_release(&data);
	return nr;
}

static inline uint32_t randrepo_tag(struct randrepo *r, uint32_t target)
{
	struct buf data = BUF_INIT;
	char hex[OID_MAX_HEX_LEN + 1];
	uint32_t nr;

	buf_printf(&data,
		   "object %s\ntype %s\ntag t%u\ntagger A <a@b> 1 +0000\n\n",
		   oid_to_hex(hex, &r->objects[target].oid, r->t.repo.algo),
		   object_type_name(r->objects[target].type), r->nr);
	nr = randrepo_add(r, OBJ_TAG, &data, &target, 1);
	buf_release(&data);
	return nr;
}

/*
 * Adds a commit. Most commits have recent commits as parents; some have no
 * parents.
 */
static inline void randrepo_grow(struct randrepo *r)
{
	uint32_t parents[12], nr = 0, want = randrepo_below(r, 16);
	uint64_t date = 1700000000 + 60 * (uint64_t)r->commit_nr;
	uint8_t files[RANDREPO_FILES] = {0};

	want = want == 0 ? 0 : want == 1 ? 11 : want < 5 ? 2 : 1;
	for (uint32_t i = 0; i < want && r->commit_nr; i++) {
		uint32_t back = randrepo_below(r, 8) + 1;

		if (back <= r->commit_nr)
			parents[nr++] = r->commits[r->commit_nr - back];
	}
	for (int i = 0; i < RANDREPO_FILES && nr; i++)
		files[i] = r->objects[parents[randrepo_below(r, nr)]].files[i];
	for (uint32_t i = randrepo_below(r, 4); i-- > 0;)
		files[randrepo_below(r, RANDREPO_FILES)] =
			(uint8_t)randrepo_below(r, RANDREPO_CONTENTS);
	if (!randrepo_below(r, 10))
		date -= 60 * randrepo_below(r, 40);
	randrepo_commit(r, files, parents, nr, date);
}

/* Add `commits` commits, and some tags of random objects. */
static inline void randrepo_history(struct randrepo *r, uint32_t commits)
{
	for (uint32_t i = 0; i < commits; i++) {
		randrepo_grow(r);
		if (!randrepo_below(r, 10))
			randrepo_tag(r, r->commits[r->commit_nr - 1]);
		if (!randrepo_below(r, 20))
			randrepo_tag(r, randrepo_below(r, r->nr));
	}
}

/*
 * Set set[i] for each object that the object `from` reaches. Tests compare fast
 * walks with this slow walk. `set` has RANDREPO_MAX elements.
 */
static inline void randrepo_reach(const struct randrepo *r, bool *set,
				  uint32_t from)
{
	const struct randrepo_object *o = &r->objects[from];

	if (set[from])
		return;
	set[from] = true;
	for (uint32_t i = 0; i < o->ref_nr; i++)
		randrepo_reach(r, set, o->refs[i]);
}

/*
 * Store one object as a loose object below the directory `dir`, normally
 * "objects".
 */
static inline void randrepo_store_one(struct randrepo *r, const char *dir,
				      uint32_t nr)
{
	struct randrepo_object *o = &r->objects[nr];
	struct oid oid;

	tmppack_loose(&r->t, dir, &oid, o->type, o->data.data, o->data.len);
	assert_true(oid_equal(&oid, &o->oid));
	o->is_stored = true;
}

/* Store as loose objects all objects that are not stored yet. */
static inline void randrepo_store(struct randrepo *r)
{
	for (uint32_t i = 0; i < r->nr; i++)
		if (!r->objects[i].is_stored)
			randrepo_store_one(r, "objects", i);
}

/*
 * Write one new pack with all objects that are not stored yet. Every object is
 * stored whole (not as a delta).
 */
static inline void randrepo_store_pack(struct randrepo *r)
{
	struct packfile *p = malloc(sizeof(*p));
	char name[64];

	assert_non_null(p);
	packfile_init(p, r->t.repo.algo);
	for (uint32_t i = 0; i < r->nr; i++) {
		struct randrepo_object *o = &r->objects[i];

		if (!o->is_stored)
			packfile_add(p, o->type, o->data.data, o->data.len);
		o->is_stored = true;
	}
	packfile_finish(p);
	snprintf(name, sizeof(name), "objects/pack/pack-%u.pack", r->nr);
	tmprepo_write_len(&r->t, name, p->bytes.data, p->bytes.len);
	snprintf(name, sizeof(name), "objects/pack/pack-%u.idx", r->nr);
	tmprepo_write_len(&r->t, name, p->idx.data, p->idx.len);
	packfile_release(p);
	free(p);
}

static inline void randrepo_ref(struct randrepo *r, const char *name,
				uint32_t nr)
{
	struct buf text = BUF_INIT;
	char hex[OID_MAX_HEX_LEN + 1];

	buf_printf(&text, "%s\n",
		   oid_to_hex(hex, &r->objects[nr].oid, r->t.repo.algo));
	tmprepo_write(&r->t, name, text.data);
	buf_release(&text);
}

/* Write refs that together reach all objects. */
static inline void randrepo_all_refs(struct randrepo *r)
{
	bool *reached = calloc(RANDREPO_MAX, sizeof(*reached));
	char name[48];

	assert_non_null(reached);
	for (uint32_t i = r->nr; i-- > 0;) {
		if (reached[i])
			continue;
		snprintf(name, sizeof(name), "refs/%s/r%u",
			 r->objects[i].type == OBJ_COMMIT ? "heads" : "tags",
			 i);
		randrepo_ref(r, name, i);
		randrepo_reach(r, reached, i);
	}
	free(reached);
	if (r->commit_nr)
		randrepo_ref(r, "refs/heads/main",
			     r->commits[r->commit_nr - 1]);
}

#endif
