/* SPDX-License-Identifier: MIT */
/*
 * Reads families of trees (a tree and all trees stored as deltas of it), depth
 * first.
 */
#include <string.h>

#include "base/mem.h"
#include "pack/delta.h"
#include "trees/tree-family.h"
#include "trees/tree-splice.h"

#define NONE TREE_FAMILIES_NONE

enum {
	/*
	 * Maximum number of delta bases in memory at one time. The family of a
	 * tree is the tree and all trees that are stored as its deltas,
	 * directly or through other deltas. The heir of a base is its delta
	 * with the largest family. The heir is read last, and replaces the base
	 * in memory. While any other delta is read, the base stays in memory.
	 * The family of this delta is at most half as large as the family of
	 * the base. So each further base in memory at least halves the size of
	 * the family, and 32 bases suffice for 2^32 trees.
	 */
	DEPTH_MAX = 32,
	/* Number of entries that are collected before they are reported. */
	FINDS_NR = 256,
};

/* The decoded bytes of a tree that is a delta base. */
struct text {
	uint8_t *bytes; /* owned */
	/* owned: offsets of the entries, as in struct tree_starts */
	uint32_t *starts;
	size_t alloc, start_alloc;
	uint32_t nr; /* entries */
};

/* A delta base in memory. texts[i] has the bytes of the base in frames[i]. */
struct frame {
	uint32_t tree;
	/*
	 * number of the next delta of this base to read; NONE: only the heir is
	 * left (the delta with the largest family, which is read last)
	 */
	uint32_t next;
};

struct tree_family_reader {
	struct objspace *space; /* borrowed */
	bool trees_only;
	tree_find_fn fn;
	void *ctx;
	/*
	 * the families that are being read; borrowed during
	 * tree_family_reader_run()
	 */
	const struct tree_families *f;
	struct odb_reader *reader; /* owned */
	struct tree_splice splice;
	/* the decoded base of the delta that is being read */
	const struct text *base;
	struct frame frames[DEPTH_MAX];
	/*
	 * decoded bytes of the bases; the last element is for a base that is
	 * being read
	 */
	struct text texts[DEPTH_MAX + 1];
	unsigned depth;
	struct tree_find *finds; /* owned */
	size_t find_nr, find_alloc;
	/*
	 * number of entries in `finds` whose trees were read completely; only
	 * these are reported
	 */
	size_t told_nr;
};

static const uint8_t *old_bytes(void *ctx, uint32_t i)
{
	const struct tree_family_reader *r = ctx;

	return r->base->bytes + r->base->starts[i];
}

/* Does nothing: the entries that a delta copies were reported for its base. */
static int take_old(void *ctx, uint32_t first, uint32_t last)
{
	return 0;
}

static int take_new(void *ctx, const struct tree_entry *entry)
{
	struct tree_family_reader *r = ctx;
	bool is_dir = tree_entry_is_dir(entry);
	struct tree_find *find;

	if (tree_entry_is_gitlink(entry) || (r->trees_only && !is_dir))
		return 0;
	if (mem_grow(&r->finds, &r->find_alloc, r->find_nr + 1,
		     sizeof(*r->finds)) < 0)
		return ERR_NOMEM;
	find = &r->finds[r->find_nr++];
	memcpy(find->raw, entry->oid, hash_len(r->splice.algo));
	find->is_dir = is_dir;
	return 0;
}

static const struct tree_splice_ops ops = {
	.old_bytes = old_bytes,
	.take_old = take_old,
	.take_new = take_new,
};

struct tree_family_reader *tree_family_reader_new(struct objspace *space,
						  size_t cache_limit,
						  bool trees_only,
						  tree_find_fn fn, void *ctx)
{
	struct tree_family_reader *r = mem_calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->space = space;
	r->trees_only = trees_only;
	r->fn = fn;
	r->ctx = ctx;
	r->reader = odb_reader_new(space->odb, cache_limit);
	tree_splice_init(&r->splice, &ops, r, space->odb->algo);
	if (!r->reader) {
		tree_family_reader_free(r);
		return NULL;
	}
	return r;
}

void tree_family_reader_free(struct tree_family_reader *reader)
{
	if (!reader)
		return;
	for (size_t i = 0; i < ARRAY_NR(reader->texts); i++) {
		free(reader->texts[i].bytes);
		free(reader->texts[i].starts);
	}
	odb_reader_free(reader->reader);
	tree_splice_release(&reader->splice);
	free(reader->finds);
	free(reader);
}

/* Reports the collected entries of the trees that were read completely. */
static int tell(struct tree_family_reader *r, struct error *err)
{
	size_t nr = r->find_nr;

	r->find_nr = r->told_nr = 0;
	return nr ? r->fn(r->ctx, r->finds, nr, err) : 0;
}

static bool is_base(const struct tree_families *f, uint32_t tree)
{
	return f->eldest[tree] != NONE;
}

/*
 * Prepares `text` for a tree of `len` bytes that r->splice has read. Allocates
 * text->bytes, and moves the offsets of the tree's entries from r->splice to
 * `text`. Returns 0 or ERR_NOMEM.
 */
static int make_text(struct tree_family_reader *r, struct text *text,
		     size_t len)
{
	struct tree_splice *s = &r->splice;
	uint32_t *starts = text->starts;
	size_t alloc = text->start_alloc;

	if (mem_grow(&text->bytes, &text->alloc, len, 1) < 0)
		return ERR_NOMEM;
	text->starts = s->starts;
	text->start_alloc = s->alloc;
	text->nr = (uint32_t)s->nr;
	s->starts = starts;
	s->alloc = alloc;
	return 0;
}

/*
 * Reads a tree with the usual reader of objects. If the tree is stored as a
 * delta, this reader finds the delta base itself: it does not use the bases
 * that *r has in memory. If `text` is not NULL, puts the tree's bytes into it.
 * A tree gets a `text` only if a tree of its family (the trees made from the
 * same head by deltas) is a delta of it.
 */
static int read_whole(struct tree_family_reader *r, uint32_t tree,
		      struct text *text, struct error *err)
{
	uint32_t obj_pos = r->f->trees[tree].value;
	struct odb_object obj = ODB_OBJECT_INIT;
	int ret = objspace_read_tree(r->space, r->reader, obj_pos, &obj, err);

	if (ret < 0)
		return ret;
	r->splice.with_starts = text;
	ret = tree_splice_whole(&r->splice, obj.data, obj.len);
	if (!ret && text)
		ret = make_text(r, text, obj.len);
	if (!ret && text && obj.len)
		memcpy(text->bytes, obj.data, obj.len);
	odb_object_release(r->reader, &obj);
	if (ret < 0)
		return tree_splice_error(ret, r->space, obj_pos, err);
	r->told_nr = r->find_nr;
	return 0;
}

/*
 * Reads a tree that is stored as a delta. `base` has the bytes of the delta
 * base. Puts the tree's bytes into `text`, if `text` is not NULL.
 */
static int read_delta(struct tree_family_reader *r, uint32_t tree,
		      const struct text *base, struct text *text)
{
	const struct tree_starts starts = {base->starts, base->nr};
	struct pack_entry entry;
	const uint8_t *delta;
	struct pack *pack;
	uint64_t offset;
	int ret;

	if (!tree_families_at(r->f, tree, &pack, &offset) ||
	    pack_entry_at(&entry, pack, offset, NULL) < 0)
		return ERR_CORRUPT;
	ret = pack_reader_stored(odb_reader_pack(r->reader), pack, offset,
				 &entry, &delta, NULL);
	if (ret < 0)
		return ret;
	r->base = base;
	r->splice.with_starts = text;
	ret = tree_splice_delta(&r->splice, &starts, delta, entry.size);
	if (ret < 0 || !text)
		return ret;
	if (make_text(r, text, r->splice.at) < 0)
		return ERR_NOMEM;
	return delta_apply(text->bytes, r->splice.at, base->bytes,
			   base->starts[base->nr], delta, entry.size);
}

/*
 * Reads a tree: from its base in memory if possible, otherwise with
 * read_whole().
 */
static int read_tree(struct tree_family_reader *r, uint32_t tree,
		     const struct text *base, struct text *text,
		     struct error *err)
{
	int ret = ERR_CORRUPT;

	if (base)
		ret = read_delta(r, tree, base, text);
	if (ret == ERR_NOMEM)
		return error_nomem(err);
	if (!ret) {
		r->told_nr = r->find_nr;
	} else {
		r->find_nr = r->told_nr;
		ret = read_whole(r, tree, text, err);
	}
	if (!ret && r->find_nr >= FINDS_NR)
		ret = tell(r, err);
	return ret;
}

/* Prefetches the bytes of a tree that will be read soon. */
static void prefetch(const struct tree_families *f, uint32_t tree)
{
	struct pack *pack;
	uint64_t offset;

	if (tree == NONE || !tree_families_at(f, tree, &pack, &offset))
		return;
	pack_prefetch(pack, offset);
	pack_prefetch(pack, offset + 64);
}

/*
 * Reads the heir of the base that is on top of the stack r->frames. The heir is
 * the last delta of this base, and replaces the base in memory.
 */
static int read_heir(struct tree_family_reader *r, struct error *err)
{
	struct frame *top = &r->frames[r->depth - 1];
	struct text *base = &r->texts[r->depth - 1], made;
	uint32_t heir = r->f->heir[top->tree];
	int ret;

	if (!is_base(r->f, heir)) {
		r->depth--;
		return read_tree(r, heir, base, NULL, err);
	}
	ret = read_tree(r, heir, base, base + 1, err);
	made = base[1];
	base[1] = *base;
	*base = made;
	*top = (struct frame){heir, r->f->eldest[heir]};
	return ret;
}

/* Reads the next delta of the base that is on top of the stack r->frames. */
static int read_next(struct tree_family_reader *r, struct error *err)
{
	const struct tree_families *f = r->f;
	struct frame *top = &r->frames[r->depth - 1];
	struct text *base = &r->texts[r->depth - 1];
	uint32_t tree = top->next;

	if (tree == NONE)
		return read_heir(r, err);
	top->next = f->next[tree];
	prefetch(f, top->next);
	if (tree == f->heir[top->tree])
		return 0;
	if (!is_base(f, tree))
		return read_tree(r, tree, base, NULL, err);
	prefetch(f, f->eldest[tree]);
	r->frames[r->depth++] = (struct frame){tree, f->eldest[tree]};
	return read_tree(r, tree, base, base + 1, err);
}

static int read_family(struct tree_family_reader *r, uint32_t head,
		       struct error *err)
{
	int ret;

	if (!is_base(r->f, head))
		return read_tree(r, head, NULL, NULL, err);
	ret = read_tree(r, head, NULL, &r->texts[0], err);
	r->frames[0] = (struct frame){head, r->f->eldest[head]};
	r->depth = 1;
	while (!ret && r->depth)
		ret = read_next(r, err);
	return ret;
}

int tree_family_reader_run(struct tree_family_reader *reader,
			   const struct tree_families *families, size_t first,
			   size_t last, struct error *err)
{
	int ret = 0;

	reader->f = families;
	for (size_t i = first; i < last && !ret; i++)
		ret = read_family(reader, families->heads[i], err);
	return ret ? ret : tell(reader, err);
}
