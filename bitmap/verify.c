/* SPDX-License-Identifier: MIT */
/* Verifies single bitmaps of an index by walks without bitmaps. */
#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/splitmix.h"
#include "bitmap/verify.h"
#include "trees/treewalk.h"
#include "walk/revwalk.h"

struct verify {
	const struct bitmap_file *file;
	struct bitmap_space space;
	struct walk *w;
	/* indexed by bit_pos: the objects that the walk found */
	struct bitset reached;
	/* text that names the bitmap in messages, such as "commit <id>" */
	char whose[OID_MAX_HEX_LEN + 16];
};

static int reach(struct verify *v, uint32_t obj_pos, struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid oid;
	uint32_t bit;

	if (bitmap_space_bit(&v->space, &v->w->space, obj_pos, &bit)) {
		bitset_set(&v->reached, bit);
		return 0;
	}
	objspace_oid(&oid, &v->w->space, obj_pos);
	return error_set(err, ERR_CORRUPT,
			 "%s: object %s is reachable but not in the pack",
			 v->file->name, oid_to_hex(hex, &oid, v->w->odb->algo));
}

static int reach_from_tree(void *ctx, uint32_t obj_pos, enum object_type type,
			   const char *path, size_t path_len, struct error *err)
{
	return reach(ctx, obj_pos, err);
}

static int walk_trees(struct verify *v, const struct revwalk_result *revs,
		      struct error *err)
{
	const struct history *h = &v->w->history;
	struct treewalk tree;
	int ret = treewalk_init(&tree, &v->w->space, v->w->reader);

	if (ret < 0)
		ret = error_nomem(err);
	for (size_t i = 0; i < revs->nr && !ret; i++) {
		const struct history_commit *c = &h->commits[revs->commits[i]];

		ret = reach(v, c->obj_pos, err);
		if (!ret)
			ret = treewalk_run(&tree, c->tree_pos, "",
					   reach_from_tree, v, err);
	}
	treewalk_release(&tree);
	return ret;
}

static int walk_commits(struct verify *v, const uint32_t *commits, size_t nr,
			struct error *err)
{
	struct revwalk_result revs = REVWALK_RESULT_INIT;
	struct revwalk_tips tips = {.wants = commits, .want_nr = nr};
	int ret = revwalk_run(&revs, &v->w->history, &tips, false, err);

	if (!ret)
		ret = walk_trees(v, &revs, err);
	revwalk_result_release(&revs);
	return ret;
}

int bitmap_verify_same(const struct bitmap_file *file,
		       struct bitmap_space space, const struct bitset *stored,
		       const struct bitset *right, const char *whose,
		       struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	uint32_t bit = 0, idx_pos;

	if (bitset_equal(stored, right))
		return 0;
	while (bit + 1 < file->object_nr &&
	       bitset_get(stored, bit) == bitset_get(right, bit))
		bit++;
	idx_pos = bitmap_space_idx_pos(&space, bit);
	return error_set(err, ERR_CORRUPT, "%s: bitmap of %s: object %s is %s",
			 file->name, whose,
			 oid_raw_to_hex(hex, bitmap_space_id(&space, idx_pos),
					file->algo),
			 bitset_get(right, bit)
				 ? "reachable but its bit is not set"
				 : "not reachable but its bit is set");
}

int bitmap_verify_commit(uint32_t *commit_nr, const struct bitmap_file *file,
			 const struct bitmap_space *space, struct walk *w,
			 uint32_t idx_pos, struct error *err)
{
	uint32_t obj_pos;
	int ret;

	if (idx_pos >= file->object_nr)
		return error_set(
			err, ERR_CORRUPT,
			"%s: the object number of a bitmap is out of range",
			file->name);
	if (objspace_add(&w->space, bitmap_space_id(space, idx_pos), &obj_pos) <
		    0 ||
	    history_add(&w->history, obj_pos, commit_nr) < 0)
		return error_nomem(err);
	ret = history_parse(&w->history, *commit_nr, err);
	if (ret == ERR_CORRUPT && err)
		error_set(err, ret, "%s: %s", file->name, err->msg);
	return ret;
}

static int commit_of(const struct verify *v, uint32_t idx_pos,
		     uint32_t *commit_nr, struct error *err)
{
	return bitmap_verify_commit(commit_nr, v->file, &v->space, v->w,
				    idx_pos, err);
}

static int verify_row(struct verify *v, uint32_t row, struct bitset *stored,
		      struct error *err)
{
	uint32_t idx_pos = bitmap_file_row(v->file, row).idx_pos, commit_nr;
	struct bitset scratch = BITSET_INIT;
	char hex[OID_MAX_HEX_LEN + 1];
	int ret = commit_of(v, idx_pos, &commit_nr, err);

	if (ret < 0)
		return ret;
	oid_raw_to_hex(hex, bitmap_space_id(&v->space, idx_pos), v->file->algo);
	snprintf(v->whose, sizeof(v->whose), "commit %s", hex);
	ret = bitmap_file_or(stored, v->file, row, &scratch, err);
	bitset_release(&scratch);
	return ret < 0 ? ret : walk_commits(v, &commit_nr, 1, err);
}

static int verify_pseudo(struct verify *v, uint32_t nr, struct bitset *stored,
			 struct error *err)
{
	uint32_t *commits = NULL;
	size_t commit_nr = 0, alloc = 0, bit;
	struct ewah_bit_iter it;
	struct pseudo_merge merge;
	int ret = pseudo_merges_view(&merge, &v->file->pseudo, nr, err);

	if (ret < 0)
		return ret;
	snprintf(v->whose, sizeof(v->whose), "pseudo-merge %" PRIu32, nr);
	ewah_or_into(stored, &merge.objects);
	ewah_bit_iter_init(&it, &merge.commits);
	while (!ret && ewah_bit_iter_next(&it, &bit)) {
		uint32_t idx_pos = UINT32_MAX;

		if (bit < v->file->object_nr)
			idx_pos = bitmap_space_idx_pos(&v->space,
						       (uint32_t)bit);
		if (mem_grow(&commits, &alloc, commit_nr + 1,
			     sizeof(*commits)) < 0)
			ret = error_nomem(err);
		else
			ret = commit_of(v, idx_pos, &commits[commit_nr++], err);
	}
	if (!ret)
		ret = walk_commits(v, commits, commit_nr, err);
	free(commits);
	return ret;
}

/*
 * Compares a stored bitmap with the result of a walk. The callback `load` loads
 * the stored bitmap, and sets v->reached to the objects that the walk finds.
 */
static int verify(const struct bitmap_file *file, struct bitmap_space space,
		  struct walk *w, uint32_t nr,
		  int (*load)(struct verify *v, uint32_t nr,
			      struct bitset *stored, struct error *err),
		  struct error *err)
{
	struct verify v = {.file = file, .space = space, .w = w};
	struct bitset stored = BITSET_INIT;
	int ret;

	if (bitset_init(&v.reached, file->object_nr) < 0 ||
	    bitset_init(&stored, file->object_nr) < 0)
		ret = error_nomem(err);
	else
		ret = load(&v, nr, &stored, err);
	if (!ret)
		ret = bitmap_verify_same(file, space, &stored, &v.reached,
					 v.whose, err);
	bitset_release(&v.reached);
	bitset_release(&stored);
	return ret;
}

int bitmap_verify_row(const struct bitmap_file *file, struct bitmap_space space,
		      struct walk *w, uint32_t row, struct error *err)
{
	return verify(file, space, w, row, verify_row, err);
}

int bitmap_verify_pseudo(const struct bitmap_file *file,
			 struct bitmap_space space, struct walk *w, uint32_t nr,
			 struct error *err)
{
	return verify(file, space, w, nr, verify_pseudo, err);
}

/*
 * Verifies bitmap number `i` of a file. The numbers below file->row_nr stand
 * for the bitmaps of single commits: number `i` is the bitmap of row `i` in the
 * file's table of commits. The numbers from file->row_nr on stand for the
 * bitmaps of pseudo-merges. Returns 0 or a negative error code.
 */
static int verify_any(const struct bitmap_file *file, struct bitmap_space space,
		      struct walk *w, uint32_t i, struct error *err)
{
	if (i < file->row_nr)
		return bitmap_verify_row(file, space, w, i, err);
	return bitmap_verify_pseudo(file, space, w, i - file->row_nr, err);
}

int bitmap_verify_sample(const struct bitmap_file *file,
			 struct bitmap_space space, struct walk *w, uint64_t nr,
			 uint64_t seed, struct error *err)
{
	size_t all = (size_t)file->row_nr + file->pseudo.nr;
	uint32_t *order = mem_alloc(all, sizeof(*order));
	int ret = 0;

	if (!order)
		return error_nomem(err);
	for (size_t i = 0; i < all; i++)
		order[i] = (uint32_t)i;
	for (size_t i = 0; i < all && i < nr && !ret; i++) {
		size_t k = i + (size_t)(splitmix_next(&seed) % (all - i));
		uint32_t chosen = order[k];

		order[k] = order[i];
		ret = verify_any(file, space, w, chosen, err);
	}
	free(order);
	return ret;
}
