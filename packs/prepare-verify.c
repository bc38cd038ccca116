/* SPDX-License-Identifier: MIT */
/*
 * Checks prepared answers: computes the answer to each request again, and
 * compares.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "prepared/prepared-wants.h"
#include "packs/prepare-parts.h"

static int open_space(struct bitmap_space *space, const struct preparing *p,
		      struct error *err)
{
	const struct pack_rev *rev = pack_get_rev(p->pack->pack, err);

	if (!rev)
		return ERR_NOMEM;
	*space = bitmap_space_of_pack(p->odb, p->pack, rev);
	return 0;
}

/*
 * Check the content of a prepared answer. It must consist of whole pack entries
 * that can be copied as they are stored, and must have the right checksum.
 * Returns 1 if so, 0 if not, or a negative error code. The bits of the objects
 * are set in *objects, which must be empty.
 */
static int verify_content(const struct preparing *p,
			  const struct prepared_content *content,
			  struct bitset *objects, struct error *err)
{
	struct bitmap_space space;
	struct oid checksum;
	int ret = open_space(&space, p, err);

	if (ret < 0)
		return ret;
	if (bitset_init(objects, p->pack->pack->idx.nr) < 0)
		return error_nomem(err);
	if (!prepared_objects(objects, space.rev, content))
		return false;
	ret = prepare_hash(&checksum, &space, objects, err);
	return ret > 0 ? oid_equal(&checksum, &content->checksum) : ret;
}

/*
 * Returns 1 if the answer with tags has exactly the objects of the answer
 * without tags, plus the tags in answer->along. Returns 0 if not, or a negative
 * error code.
 */
static int verify_tags(const struct preparing *p, const struct prepared *file,
		       const struct prepared_answer *answer,
		       const struct bitset *objects,
		       const struct bitset *tagged, struct error *err)
{
	struct bitmap_space space;
	int ret = open_space(&space, p, err);

	if (ret < 0)
		return ret;
	if (!bitset_contains(tagged, objects))
		return false;
	for (uint32_t i = 0; i < file->tag_nr; i++) {
		const uint8_t *raw = file->tags + i * hash_len(file->algo);
		uint32_t idx_pos, bit;
		bool added = bitmap_space_find(&space, raw, &idx_pos) &&
			     bitmap_space_bit_of(&space, idx_pos, &bit) &&
			     bitset_get(tagged, bit) &&
			     !bitset_get(objects, bit);

		if (added != ewah_test(&answer->along, i))
			return false;
	}
	return true;
}

static bool has(const struct bitset *objects, const struct bitmap_space *space,
		struct found *found, uint32_t obj_pos)
{
	uint32_t bit;

	return bitmap_space_bit(space, &found->walk.space, obj_pos, &bit) &&
	       bitset_get(objects, bit);
}

/*
 * Returns 1 if the objects in `objects`, all of one pack, are exactly the
 * objects that the request finds. Returns 0 if not, or a negative error code.
 * The request may find other copies of these objects, in another pack or by a
 * multi-pack-index.
 */
static int is_found(const struct preparing *p, struct found *found,
		    const struct bitset *objects, struct error *err)
{
	const struct bitset *packed = &found->packed;
	struct bitmap_space space;
	int ret = open_space(&space, p, err);

	if (ret < 0)
		return ret;
	if (found->objects.nr + bitset_count(packed) != bitset_count(objects))
		return false;
	for (size_t i = 0; i < found->objects.nr; i++)
		if (!has(objects, &space, found,
			 found->objects.items[i].obj_pos))
			return false;
	for (size_t bit = bitset_next(packed, 0); bit < packed->bits;
	     bit = bitset_next(packed, bit + 1)) {
		uint32_t obj_pos;

		ret = bitmap_space_obj_of_bit(&obj_pos, &found->space,
					      (uint32_t)bit, err);
		if (ret < 0)
			return ret;
		if (!has(objects, &space, found, obj_pos))
			return false;
	}
	return true;
}

static bool are_same(const struct prepared_tree *a,
		     const struct prepared_tree *b, size_t run_nr)
{
	if (!a->is_known || a->repeat_nr != b->repeat_nr ||
	    !oid_equal(&a->order, &b->order))
		return false;
	for (size_t i = 0; i < a->repeat_nr; i++)
		if (a->repeats[i].idx_pos != b->repeats[i].idx_pos ||
		    a->repeats[i].paths != b->repeats[i].paths)
			return false;
	for (size_t i = 0; i < run_nr; i++)
		if (a->places[i].first != b->places[i].first ||
		    a->places[i].nr != b->places[i].nr)
			return false;
	return true;
}

/*
 * Returns 1 if the description of the answer's tree is right, 0 if not, or a
 * negative error code.
 */
static int verify_tree(const struct preparing *p,
		       const struct prepared_answer *answer,
		       const struct bitset *objects, struct found *found,
		       struct error *err)
{
	struct prepared_described tree;
	struct bitmap_space space;
	int ret = open_space(&space, p, err);

	if (ret < 0)
		return ret;
	ret = prepare_tree(&tree, found, &space, &answer->plain, objects, err);
	if (!ret)
		ret = are_same(&tree.tree, &answer->tree, answer->plain.run_nr);
	prepare_tree_release(&tree);
	return ret;
}

/*
 * Finds the objects of a request, and compares them with `objects`, the objects
 * of the prepared answer. Returns 1 if they are the same or cannot be compared,
 * 0 if they differ, or a negative error code.
 *
 * The objects cannot be compared in one case: the request is a clone with full
 * history, and the repository has become shallow since the answer was made. The
 * repository then no longer has the history with which the answer was made.
 * Nothing shows that the answer is wrong, so it is not reported as wrong.
 */
static int verify_found(const struct preparing *p,
			const struct preparation *item,
			const struct bitset *objects, struct error *err)
{
	struct packing_request request;
	struct found found;
	int ret = prepare_find(&found, p, item, &request, err);

	if (ret < 0)
		return ret;
	ret = prepare_has_history(item, &found)
		      ? is_found(p, &found, objects, err)
		      : true;
	if (ret > 0 && item->answer.tree.is_known)
		ret = verify_tree(p, &item->answer, objects, &found, err);
	found_close(&found);
	return ret;
}

/*
 * Check the answer to one request. `objects`: the objects of the answer.
 * Returns 1 if the answer is right, 0 if not, or a negative error code.
 *
 * For a request with several wants, the file has only a hash of the wants. The
 * wants are known only if the request is still in p->list: the requests that
 * are made from the present references. If the request is not in p->list,
 * because a reference has changed, the answer cannot be checked, and the result
 * is 1.
 */
static int verify_request(const struct preparing *p,
			  const struct prepared_answer *answer,
			  const struct bitset *objects, struct error *err)
{
	const struct prepared_request *request = &answer->request;
	struct oid want = request->id;
	const struct preparation single = {
		.wants = &want,
		.want_nr = 1,
		.is_depth_1 = request->kind == PREPARED_DEPTH_1,
		.answer = *answer,
	};
	int ret = 1;

	if (prepared_is_of_one(request))
		return verify_found(p, &single, objects, err);
	for (size_t i = 0; i < p->nr && ret > 0; i++)
		if (prepared_same_request(&p->list[i].answer.request, request))
			ret = verify_found(p, &p->list[i], objects, err);
	return ret;
}

static int verify_answer(const struct preparing *p, const struct prepared *file,
			 const struct prepared_answer *answer,
			 struct error *err)
{
	struct bitset objects = BITSET_INIT, tagged = BITSET_INIT;
	char hex[OID_MAX_HEX_LEN + 1];
	int ret = verify_content(p, &answer->plain, &objects, err);

	if (ret > 0)
		ret = verify_request(p, answer, &objects, err);
	if (ret > 0)
		ret = verify_content(p, &answer->tagged, &tagged, err);
	if (ret > 0)
		ret = verify_tags(p, file, answer, &objects, &tagged, err);
	bitset_release(&objects);
	bitset_release(&tagged);
	if (ret < 0)
		return ret;
	oid_to_hex(hex, &answer->plain.checksum, p->odb->algo);
	return ret ? 0
		   : error_set(err, ERR_CORRUPT,
			       "%s: the prepared answer with the pack checksum "
			       "%s is wrong",
			       p->pack->pack->name, hex);
}

/* Copy the ids of an answer's wants to `out`. Returns their number. */
static size_t list_wants(struct oid *out, const struct prepared_wants *wants,
			 const struct prepared_wants_of *of)
{
	struct ewah_bit_iter it;
	size_t nr = 0, i;

	ewah_bit_iter_init(&it, &of->ids);
	while (ewah_bit_iter_next(&it, &i))
		oid_from_raw(&out[nr++], wants->ids + i * hash_len(wants->algo),
			     wants->algo);
	return nr;
}

/*
 * Check the ids that objects/info/prepared-wants lists as the wants of one
 * prepared answer. The file of prepared answers has a hash of the wants, and
 * the hash of these ids must be equal. Returns 0, ERR_CORRUPT or ERR_NOMEM.
 */
static int verify_wants_of(const struct prepared *file,
			   const struct prepared_wants *wants,
			   const struct prepared_wants_of *of,
			   struct error *err)
{
	const struct prepared_answer *answer = &file->answers[of->answer];
	struct oid *ids = mem_alloc(wants->id_nr, sizeof(*ids));
	struct prepared_request request;
	char hex[OID_MAX_HEX_LEN + 1];
	size_t nr = ids ? list_wants(ids, wants, of) : 0;
	int ret = nr ? prepared_request(&request, file->algo, false, ids, nr)
		     : 0;

	free(ids);
	if (!ids || ret < 0)
		return error_nomem(err);
	if (nr && prepared_same_request(&request, &answer->request))
		return 0;
	oid_to_hex(hex, &answer->plain.checksum, file->algo);
	return error_set(err, ERR_CORRUPT,
			 "info/prepared-wants: the wants of the prepared "
			 "answer with the pack checksum %s are wrong",
			 hex);
}

/*
 * Check the file objects/info/prepared-wants. Nothing is checked if the file is
 * missing, or was made for another file of prepared answers than *file. Returns
 * 0, ERR_CORRUPT, or another negative error code.
 */
static int verify_wants(const struct prepared *file, const struct odb *odb,
			size_t dir_nr, struct error *err)
{
	struct prepared_wants wants;
	int ret = prepared_wants_open(&wants, file, odb, dir_nr, err);

	if (ret <= 0)
		return ret;
	ret = 0;
	for (size_t i = 0; i < wants.nr && !ret; i++)
		ret = verify_wants_of(file, &wants, &wants.answers[i], err);
	prepared_wants_close(&wants);
	return ret;
}

/* Check each prepared answer in a file. Returns 0 or a negative error code. */
static int verify_all(struct preparing *p, const struct prepared *file)
{
	const struct prepare_options nothing = {.checksum = NULL};
	int ret = prepare_load_options(&p->options, p->odb->repo, p->err);

	p->pack = file->pack;
	p->reader = odb_reader_new(p->odb, 0);
	if (!p->reader)
		ret = error_nomem(p->err);
	if (!ret)
		ret = prepare_list(p, &nothing);
	for (size_t i = 0; i < file->nr && !ret; i++)
		ret = verify_answer(p, file, &file->answers[i], p->err);
	return ret;
}

int prepare_verify(size_t *nr, const struct odb *odb, struct refs *refs,
		   size_t dir_nr, struct error *err)
{
	struct preparing p = {.odb = odb, .refs = refs, .err = err};
	struct prepared file;
	int ret = prepared_open(&file, odb, dir_nr, err);

	*nr = 0;
	if (ret == ERR_UNSUPPORTED || ret == ERR_MISSING)
		return 1;
	if (ret <= 0)
		return ret;
	*nr = file.nr;
	ret = verify_all(&p, &file);
	if (!ret)
		ret = verify_wants(&file, odb, dir_nr, err);
	preparing_release(&p);
	prepared_close(&file);
	return ret;
}
