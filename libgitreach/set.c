/* SPDX-License-Identifier: MIT */
/*
 * The public functions about sets of objects. An object that has a bit in the
 * repository's bitmap index is stored in a set only by this bit. Therefore all
 * sets of one repository can be compared word by word, whether bitmaps or
 * walking found the objects.
 */
#include <string.h>

#include "base/mem.h"
#include "libgitreach/internal.h"
#include "odb/odb-stored.h"

#define SAME_TYPE(public, inner)                                               \
	_Static_assert((int)(public) == (int)(inner), #public)
SAME_TYPE(GITREACH_COMMIT, OBJ_COMMIT);
SAME_TYPE(GITREACH_TREE, OBJ_TREE);
SAME_TYPE(GITREACH_BLOB, OBJ_BLOB);
SAME_TYPE(GITREACH_TAG, OBJ_TAG);

static bool has_type(uint32_t types, int type)
{
	return types & GITREACH_TYPE(bitmap_object_type(type));
}

int libgitreach_set_new(gitreach_set **out, gitreach_repo *repo,
			struct error *err)
{
	gitreach_set *set = mem_calloc(1, sizeof(*set));

	*out = set;
	if (!set)
		return error_nomem(err);
	set->repo = libgitreach_repo_use(repo);
	return 0;
}

/*
 * Returns ERR_UNSUPPORTED if `types` has the bit of an unknown type, which a
 * later version may define, else 0.
 */
static int check_types(uint32_t types, struct error *err)
{
	return types & ~GITREACH_ANY_TYPE
		       ? error_set(err, ERR_UNSUPPORTED, "unknown types %#x",
				   types)
		       : 0;
}

void gitreach_set_free(gitreach_set *set)
{
	if (!set)
		return;
	bitset_release(&set->packed);
	for (int t = 0; t < BITMAP_TYPE_NR; t++)
		bitset_release(&set->others[t]);
	gitreach_repo_close(set->repo);
	free(set);
}

/* ---- making a set from an answer */

static int type_index(enum object_type type)
{
	int t = 0;

	while (t < BITMAP_TYPE_NR - 1 && bitmap_object_type(t) != type)
		t++;
	return t;
}

static int add_other(gitreach_set *set, int type, uint32_t obj_pos)
{
	struct bitset *others = &set->others[type];
	size_t bits = obj_pos + (size_t)1;

	if (bits > others->bits && bits <= set->repo->space.packed_nr)
		bits = set->repo->space.packed_nr;
	if (bitset_grow(others, bits) < 0)
		return ERR_NOMEM;
	bitset_set(others, obj_pos);
	return 0;
}

/*
 * Add an object to a set: by its bit if it has a bit in the bitmap index, or
 * else by its number in repo->space.
 */
static int add_item(gitreach_set *set, const struct walk_item *item,
		    struct walk *w)
{
	gitreach_repo *repo = set->repo;
	uint32_t pos = item->obj_pos;
	struct oid oid;

	if (repo->pb && pack_bitmap_bit(repo->pb, w, pos, &pos)) {
		bitset_set(&set->packed, pos);
		return 0;
	}
	if (pos >= w->space.packed_nr) {
		objspace_oid(&oid, &w->space, pos);
		if (objspace_add(&repo->space, oid.bytes, &pos) < 0)
			return ERR_NOMEM;
	}
	return add_other(set, type_index(item->type), pos);
}

int libgitreach_set_take(gitreach_set *set, struct pack_bitmap_answer *answer,
			 struct walk *w, bool commits_only, struct error *err)
{
	const struct pack_bitmap *pb = set->repo->pb;
	const struct walk_items *items = answer->by_bitmap
						 ? &answer->result.others
						 : &answer->walked;
	struct bitset commits;

	if (answer->by_bitmap) {
		set->packed = answer->result.packed;
		answer->result.packed = (struct bitset)BITSET_INIT;
	} else if (pb &&
		   bitset_init(&set->packed, pack_bitmap_object_nr(pb)) < 0) {
		return error_nomem(err);
	}
	if (answer->by_bitmap && commits_only) {
		if (pack_bitmap_type_set(&commits, pb, BITMAP_COMMITS) < 0)
			return error_nomem(err);
		bitset_and(&set->packed, &commits);
		bitset_release(&commits);
	}
	for (size_t i = 0; i < items->nr; i++)
		if ((!commits_only || items->items[i].type == OBJ_COMMIT) &&
		    add_item(set, &items->items[i], w) < 0)
			return error_nomem(err);
	return 0;
}

/* ---- making a set from ids */

/* Adds an object whose type is not known. */
static int add_id(gitreach_set *set, struct odb_reader *reader,
		  const struct oid *oid, struct error *err)
{
	gitreach_repo *repo = set->repo;
	enum object_type type;
	uint32_t pos;
	int ret;

	if (libgitreach_repo_bit(repo, oid->bytes, &pos)) {
		bitset_set(&set->packed, pos);
		return 0;
	}
	ret = odb_info(reader, oid, &type, NULL, err);
	if (ret < 0)
		return ret;
	return objspace_add(&repo->space, oid->bytes, &pos) < 0 ||
			       add_other(set, type_index(type), pos) < 0
		       ? error_nomem(err)
		       : 0;
}

static int add_ids(gitreach_set *set, const uint8_t *ids, size_t nr,
		   size_t id_len, struct error *err)
{
	const struct pack_bitmap *pb = set->repo->pb;
	struct odb_reader *reader = odb_reader_new(set->repo->odb, 0);
	struct oid oid;
	int ret = 0;

	if (!reader ||
	    (pb && bitset_init(&set->packed, pack_bitmap_object_nr(pb)) < 0))
		ret = error_nomem(err);
	for (size_t i = 0; i < nr && !ret; i++) {
		ret = libgitreach_repo_id(&oid, set->repo, ids + i * id_len,
					  id_len, err);
		if (!ret)
			ret = add_id(set, reader, &oid, err);
	}
	odb_reader_free(reader);
	return ret;
}

int gitreach_set_new(gitreach_set **out, gitreach_repo *repo,
		     const uint8_t *ids, size_t nr, size_t id_len,
		     gitreach_error *err)
{
	struct error *inner = libgitreach_error(err);
	int ret = libgitreach_need(out && repo && (ids || !nr), inner);
	gitreach_set *set = NULL;

	if (!ret)
		ret = libgitreach_set_new(&set, repo, inner);
	if (!ret)
		ret = add_ids(set, ids, nr, id_len, inner);
	if (ret < 0) {
		gitreach_set_free(set);
		set = NULL;
	}
	if (out)
		*out = set;
	return libgitreach_done(ret, err);
}

/* ---- queries about a set */

uint64_t gitreach_set_count(const gitreach_set *set, uint32_t types)
{
	const struct pack_bitmap *pb = set ? set->repo->pb : NULL;
	uint64_t nr = 0;

	for (int t = 0; t < BITMAP_TYPE_NR; t++) {
		if (!set || !has_type(types, t))
			continue;
		nr += bitset_count(&set->others[t]);
		if (pb)
			nr += bitmap_file_count_type_in(&pb->file, t,
							&set->packed);
	}
	return nr;
}

int gitreach_set_contains(const gitreach_set *set, const uint8_t *id,
			  size_t id_len)
{
	gitreach_repo *repo = set ? set->repo : NULL;
	uint32_t pos;

	if (!repo || !id || id_len != gitreach_repo_id_len(repo))
		return 0;
	if (libgitreach_repo_bit(repo, id, &pos))
		return bitset_get(&set->packed, pos);
	if (!objspace_find(&repo->space, id, &pos))
		return 0;
	for (int t = 0; t < BITMAP_TYPE_NR; t++)
		if (bitset_get(&set->others[t], pos))
			return 1;
	return 0;
}

/* State while the objects of a set are visited. */
struct visit {
	const gitreach_set *set;
	int (*fn)(void *ctx, const struct oid *oid, enum object_type type,
		  uint32_t name_hash);
	void *ctx;
	struct error *err;
};

static int visit_packed(struct visit *v, int type)
{
	const gitreach_repo *repo = v->set->repo;
	struct bitset set = BITSET_INIT;
	struct oid oid;
	int ret = 0;

	if (!repo->pb)
		return 0;
	if (pack_bitmap_type_set(&set, repo->pb, type) < 0)
		return error_nomem(v->err);
	bitset_and(&set, &v->set->packed);
	for (size_t bit = bitset_next(&set, 0); bit < set.bits && !ret;
	     bit = bitset_next(&set, bit + 1)) {
		uint32_t idx_pos = pack_bitmap_idx_pos(repo->pb, (uint32_t)bit);

		oid_from_raw(&oid, libgitreach_repo_index_id(repo, idx_pos),
			     repo->odb->algo);
		ret = v->fn(v->ctx, &oid, bitmap_object_type(type),
			    bitmap_file_name_hash(&repo->pb->file, idx_pos));
	}
	bitset_release(&set);
	return ret;
}

static int visit_others(struct visit *v, int type)
{
	const struct bitset *set = &v->set->others[type];
	struct oid oid;
	int ret = 0;

	for (size_t i = bitset_next(set, 0); i < set->bits && !ret;
	     i = bitset_next(set, i + 1)) {
		objspace_oid(&oid, &v->set->repo->space, (uint32_t)i);
		ret = v->fn(v->ctx, &oid, bitmap_object_type(type), 0);
	}
	return ret;
}

int libgitreach_set_visit(const gitreach_set *set, uint32_t types,
			  int (*fn)(void *ctx, const struct oid *oid,
				    enum object_type type, uint32_t name_hash),
			  void *ctx, struct error *err)
{
	struct visit v = {set, fn, ctx, err};
	int ret = 0;

	for (int t = 0; t < BITMAP_TYPE_NR && !ret; t++) {
		if (!has_type(types, t))
			continue;
		ret = visit_packed(&v, t);
		if (!ret)
			ret = visit_others(&v, t);
	}
	return ret;
}

/* The caller's callback. */
struct each {
	gitreach_object_fn fn;
	void *ctx;
	size_t id_len;
	struct error *err;
};

static int call_object_fn(void *ctx, const struct oid *oid,
			  enum object_type type, uint32_t name_hash)
{
	struct each *e = ctx;
	int ret = e->fn(e->ctx, oid->bytes, e->id_len, (int)type);

	return ret ? libgitreach_stopped(ret, e->err) : 0;
}

int gitreach_set_each(const gitreach_set *set, uint32_t types,
		      gitreach_object_fn fn, void *ctx, gitreach_error *err)
{
	struct each e = {fn, ctx, 0, libgitreach_error(err)};
	int ret = libgitreach_need(set && fn, e.err);

	if (!ret)
		ret = check_types(types, e.err);
	if (ret < 0)
		return ret;
	e.id_len = gitreach_repo_id_len(set->repo);
	return libgitreach_done(
		libgitreach_set_visit(set, types, call_object_fn, &e, e.err),
		err);
}

struct measuring {
	const struct odb *odb;
	uint64_t bytes;
	struct error *err;
};

static int add_disk_size(void *ctx, const struct oid *oid,
			 enum object_type type, uint32_t name_hash)
{
	struct measuring *m = ctx;
	uint64_t len;
	int ret = odb_stored_len(&len, m->odb, oid, m->err);

	if (!ret)
		m->bytes += len;
	return ret;
}

int gitreach_set_disk_size(uint64_t *bytes, const gitreach_set *set,
			   uint32_t types, gitreach_error *err)
{
	struct measuring m = {NULL, 0, libgitreach_error(err)};
	int ret = libgitreach_need(bytes && set, m.err);

	if (!ret)
		ret = check_types(types, m.err);
	if (ret < 0)
		return ret;
	m.odb = set->repo->odb;
	ret = libgitreach_set_visit(set, types, add_disk_size, &m, m.err);
	if (!ret)
		*bytes = m.bytes;
	return libgitreach_done(ret, err);
}

int gitreach_set_explain(struct gitreach_explanation *out,
			 const gitreach_set *set, gitreach_error *err)
{
	struct error *inner = libgitreach_error(err);
	struct gitreach_explanation how;
	int ret = libgitreach_need(out && set, inner);

	if (ret < 0)
		return ret;
	how = set->how;
	how.reason = set->reason.msg;
	return libgitreach_done(
		libgitreach_struct_out(out, &how, sizeof(how), inner), err);
}

/* ---- combining two sets */

typedef void (*bitset_op)(struct bitset *dst, const struct bitset *src);

static int copy(gitreach_set *dst, const gitreach_set *src, struct error *err)
{
	if (bitset_copy(&dst->packed, &src->packed) < 0)
		return error_nomem(err);
	for (int t = 0; t < BITMAP_TYPE_NR; t++)
		if (bitset_copy(&dst->others[t], &src->others[t]) < 0)
			return error_nomem(err);
	return 0;
}

static int apply(gitreach_set *dst, const gitreach_set *src, bitset_op op,
		 struct error *err)
{
	op(&dst->packed, &src->packed);
	for (int t = 0; t < BITMAP_TYPE_NR; t++) {
		if (op == bitset_or &&
		    bitset_grow(&dst->others[t], src->others[t].bits) < 0)
			return error_nomem(err);
		op(&dst->others[t], &src->others[t]);
	}
	return 0;
}

static int combine(gitreach_set **out, const gitreach_set *a,
		   const gitreach_set *b, bitset_op op, struct error *err)
{
	int ret = libgitreach_need(out && a && b, err);
	gitreach_set *set;

	if (out)
		*out = NULL;
	if (ret < 0)
		return ret;
	if (a->repo != b->repo)
		return error_set(err, ERR_INVALID,
				 "the sets belong to different snapshots");
	ret = libgitreach_set_new(&set, a->repo, err);
	if (ret < 0)
		return ret;
	ret = copy(set, a, err);
	if (!ret)
		ret = apply(set, b, op, err);
	if (ret < 0)
		gitreach_set_free(set);
	else
		*out = set;
	return ret;
}

static int public_combine(gitreach_set **out, const gitreach_set *a,
			  const gitreach_set *b, bitset_op op,
			  gitreach_error *err)
{
	return libgitreach_done(combine(out, a, b, op, libgitreach_error(err)),
				err);
}

int gitreach_set_and(gitreach_set **out, const gitreach_set *a,
		     const gitreach_set *b, gitreach_error *err)
{
	return public_combine(out, a, b, bitset_and, err);
}

int gitreach_set_or(gitreach_set **out, const gitreach_set *a,
		    const gitreach_set *b, gitreach_error *err)
{
	return public_combine(out, a, b, bitset_or, err);
}

int gitreach_set_andnot(gitreach_set **out, const gitreach_set *a,
			const gitreach_set *b, gitreach_error *err)
{
	return public_combine(out, a, b, bitset_andnot, err);
}

static int take_first(void *ctx, const struct oid *oid, enum object_type type,
		      uint32_t name_hash)
{
	*(struct oid *)ctx = *oid;
	return 1;
}

/*
 * Checks that the set `more` has no object that the set `fewer` lacks. Two
 * calls of this function compare two sets. Returns 0 if there is no such
 * object. Otherwise returns ERR_CORRUPT with a message that names such an
 * object. `who` is the word in the message for the method that has found the
 * set `more`: "bitmaps" or "walks". Other negative error codes are possible.
 */
static int has_no_more(const gitreach_set *more, const gitreach_set *fewer,
		       const char *who, struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid oid;
	gitreach_set *left;
	int ret = combine(&left, more, fewer, bitset_andnot, err);

	if (ret < 0)
		return ret;
	ret = libgitreach_set_visit(left, GITREACH_ANY_TYPE, take_first, &oid,
				    err);
	if (ret > 0)
		ret = error_set(err, ERR_CORRUPT, "only %s find object %s", who,
				oid_to_hex(hex, &oid, left->repo->odb->algo));
	gitreach_set_free(left);
	return ret;
}

int libgitreach_set_same(const gitreach_set *by_bitmap,
			 const gitreach_set *by_walk, struct error *err)
{
	int ret = has_no_more(by_bitmap, by_walk, "bitmaps", err);

	return ret < 0 ? ret : has_no_more(by_walk, by_bitmap, "walks", err);
}

/* ---- objects of one set only */

/* Adds the objects that are in both `a` and `b` to the set `common`. */
static int add_common(gitreach_set *common, const gitreach_set *a,
		      const gitreach_set *b, struct error *err)
{
	gitreach_set *both;
	int ret = combine(&both, a, b, bitset_and, err);

	if (ret < 0)
		return ret;
	ret = apply(common, both, bitset_or, err);
	gitreach_set_free(both);
	return ret;
}

/* Sets *common to the objects that two or more of the sets have. */
static int find_common(gitreach_set **common, gitreach_set *const *sets,
		       size_t nr, struct error *err)
{
	gitreach_set *seen = NULL, *twice = NULL;
	int ret = combine(&twice, sets[0], sets[0], bitset_andnot, err);

	if (!ret)
		ret = combine(&seen, sets[0], sets[0], bitset_and, err);
	for (size_t i = 1; i < nr && !ret; i++) {
		ret = add_common(twice, seen, sets[i], err);
		if (!ret)
			ret = apply(seen, sets[i], bitset_or, err);
	}
	gitreach_set_free(seen);
	if (ret < 0)
		gitreach_set_free(twice);
	else
		*common = twice;
	return ret;
}

int libgitreach_set_keep_unique(gitreach_set **sets, size_t nr,
				struct error *err)
{
	gitreach_set *common;
	int ret;

	if (nr < 2)
		return 0;
	ret = find_common(&common, sets, nr, err);
	if (ret < 0)
		return ret;
	for (size_t i = 0; i < nr && !ret; i++)
		ret = apply(sets[i], common, bitset_andnot, err);
	gitreach_set_free(common);
	return ret;
}
