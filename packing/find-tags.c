/* SPDX-License-Identifier: MIT */
/*
 * Finds the tags that are sent because the client asked for tags (include-tag):
 * each tag whose final target is sent. If a tag refers to its final target
 * through other tags, these other tags are sent too.
 *
 * The peeled value of a ref is the final target of the ref's tag. Whether there
 * is another tag in between is known only from the tag object, but reading
 * thousands of tags costs too much. The bitmap index helps: if it has a tag, it
 * also has each tag between this tag and the final target. Usually each tag in
 * the bitmap index, also a tag in between, has a ref of its own. In this case,
 * all tags of the index are found by visiting the refs, and no tag object has
 * to be read.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "object/oidmap.h"
#include "object/parse.h"
#include "packing/find-parts.h"

/*
 * If at most this number of objects is sent, their ids are listed. Tags whose
 * target is not in the list then need no look-up.
 */
#define FEW_MAX 1024

struct tagging {
	struct found *f;
	struct error *err;
	/*
	 * Indexed by obj_pos: objects that are in the list found->objects. With
	 * this set, the list need not be searched.
	 *
	 * If found->near (a prepared answer to a similar request) is set, the
	 * set is incomplete: it has only the tags that the search for tags has
	 * added to the list. The other objects of the list are found in the map
	 * `few`, which has the ids of all objects that were in the list before.
	 */
	struct bitset others;
	/*
	 * Ids of sent objects. A search in this map costs less than looking up
	 * an id in the repository. There are three cases:
	 * - found->near (a prepared answer to a similar request) is set. The
	 *   map has the ids of the sent objects that this answer lacks.
	 * - found->near is not set, and at most FEW_MAX objects are sent. The
	 *   map has the ids of all sent objects.
	 * - Otherwise the map is empty, and is not used.
	 */
	struct oidmap few;
	/*
	 * Indexed by bit_pos: tags in the bitmap index for which no ref was
	 * visited yet.
	 *
	 * If the set is empty when all refs were visited, every tag in the
	 * bitmap index has a ref. Then each tag between a sent tag and its
	 * final target was found by its own ref, and no tag must be read. If
	 * the set is not empty, a tag without a ref may be between a sent tag
	 * and its final target. Only reading the sent tags shows this. So the
	 * tags in `unread` are then read.
	 *
	 * In some cases `unread` is not used: each tag is read when its ref is
	 * visited. The set then has no memory.
	 */
	struct bitset unnamed;
	/*
	 * Only used with found->near, which is one answer of the file of
	 * prepared answers found->prepared. The file has a list of tags. Bit i
	 * is set if the answer sends the i-th tag of this list to clients with
	 * include-tag.
	 */
	struct bitset along;
	/* owned: tags that are sent and were not read */
	struct oid *unread;
	size_t unread_nr, unread_alloc;
};

static int list_items(struct tagging *t, const struct walk_items *items)
{
	struct oid oid;
	int ret = 0;

	for (size_t i = 0; i < items->nr && !ret; i++) {
		objspace_oid(&oid, &t->f->walk.space, items->items[i].obj_pos);
		ret = oidmap_put(&t->few, &oid, 0);
	}
	return ret;
}

static int list_few(struct tagging *t)
{
	struct found *f = t->f;
	enum hash_algo algo = f->walk.odb->algo;
	struct oid oid;
	int ret = list_items(t, &f->objects);

	for (size_t bit = bitset_next(&f->packed, 0);
	     bit < f->packed.bits && !ret;
	     bit = bitset_next(&f->packed, bit + 1)) {
		uint32_t idx_pos = bitmap_space_idx_pos(&f->space,
							(uint32_t)bit);

		oid_from_raw(&oid, bitmap_space_id(&f->space, idx_pos), algo);
		ret = oidmap_put(&t->few, &oid, 0);
	}
	return ret;
}

/*
 * found->near is a prepared answer (stored response) to a similar request, and
 * most of its objects are sent. Set t->few to the sent objects that found->near
 * lacks. Set t->along to the tags that found->near sends to clients with
 * include-tag. Returns 0 or ERR_NOMEM.
 */
static int list_near(struct tagging *t)
{
	struct found *f = t->f;

	if (list_items(t, &f->objects) < 0 || list_items(t, &f->walked) < 0 ||
	    bitset_init(&t->along, f->prepared.tag_nr) < 0)
		return ERR_NOMEM;
	ewah_or_into(&t->along, &f->near->along);
	return 0;
}

static int tagging_init(struct tagging *t)
{
	struct found *f = t->f;
	size_t nr;

	if (f->near)
		return list_near(t);
	nr = f->objects.nr + bitset_count(&f->packed);
	if (f->objects.nr &&
	    bitset_init(&t->others, objspace_end(&f->walk.space)) < 0)
		return ERR_NOMEM;
	for (size_t i = 0; i < f->objects.nr; i++)
		bitset_set(&t->others, f->objects.items[i].obj_pos);
	if (nr <= FEW_MAX && !f->content)
		return list_few(t);
	return f->pb ? pack_bitmap_type_set(&t->unnamed, f->pb, BITMAP_TAGS)
		     : 0;
}

static void tagging_release(struct tagging *t)
{
	bitset_release(&t->others);
	oidmap_release(&t->few);
	bitset_release(&t->along);
	bitset_release(&t->unnamed);
	free(t->unread);
}

/*
 * Find the bit that the object `oid` has in the bitmap index. Returns false if
 * the object has no bit.
 */
static bool find_bit(const struct found *f, const struct oid *oid,
		     uint32_t *bit)
{
	uint32_t idx_pos;

	return f->space.odb &&
	       bitmap_space_find(&f->space, oid->bytes, &idx_pos) &&
	       bitmap_space_bit_of(&f->space, idx_pos, bit);
}

static bool has_id(const struct found *f, const uint8_t *id)
{
	const struct pack_idx *idx;
	uint32_t idx_pos;

	if (!f->content)
		return false;
	idx = &f->content_pack->pack->idx;
	return pack_idx_find(idx, id, &idx_pos) &&
	       prepared_has(f->content, pack_idx_offset(idx, idx_pos));
}

bool find_is_prepared(const struct found *f, const struct oid *oid)
{
	return has_id(f, oid->bytes);
}

bool found_is_prepared(const struct found *found, uint32_t odb_pos)
{
	return found->content &&
	       has_id(found, odb_oid_raw(found->walk.odb, odb_pos));
}

static bool is_sent(const struct tagging *t, const struct oid *oid)
{
	struct found *f = t->f;
	uint32_t at;

	if (find_is_prepared(f, oid) ||
	    (f->near && oidmap_get(&t->few, oid, &at)))
		return true;
	if (find_bit(f, oid, &at))
		return bitset_get(&f->packed, at);
	return objspace_find(&f->walk.space, oid->bytes, &at) &&
	       bitset_get(&t->others, at);
}

static void send_bit(struct found *f, uint32_t bit)
{
	if (!bitset_get(&f->packed_uninteresting, bit))
		bitset_set(&f->packed, bit);
}

/*
 * Add a tag to the objects to send: set its bit, or append it to the list.
 * Returns 0 or ERR_NOMEM.
 */
static int send_tag(struct tagging *t, const struct oid *oid, uint32_t obj_pos)
{
	struct found *f = t->f;
	uint32_t bit;

	if (find_bit(f, oid, &bit)) {
		send_bit(f, bit);
		return 0;
	}
	if (bitset_get(&t->others, obj_pos) || find_is_prepared(f, oid))
		return 0;
	if (bitset_grow(&t->others, (size_t)obj_pos + 1) < 0 ||
	    walk_items_append(&f->objects, obj_pos, OBJ_TAG, 0) < 0)
		return error_nomem(t->err);
	bitset_set(&t->others, obj_pos);
	return 0;
}

/*
 * If *at is a tag, send it and replace *at by its target. Returns 1 if the
 * target is a tag too, 0 at the end of the chain, or a negative error code.
 */
static int send_link(struct tagging *t, struct oid *at)
{
	struct walk *w = &t->f->walk;
	struct odb_object obj = ODB_OBJECT_INIT;
	struct tag_view tag;
	uint32_t obj_pos;
	int ret;

	if (objspace_add(&w->space, at->bytes, &obj_pos) < 0)
		return error_nomem(t->err);
	ret = objspace_read(&w->space, w->reader, obj_pos, &obj, t->err);
	if (ret < 0 || obj.type != OBJ_TAG)
		goto out;
	ret = tag_parse(&tag, obj.data, obj.len, w->odb->algo, t->err);
	if (!ret)
		ret = send_tag(t, at, obj_pos);
	if (!ret) {
		*at = tag.target;
		ret = tag.target_type == OBJ_TAG;
	}
out:
	odb_object_release(w->reader, &obj);
	return ret;
}

static int send_chain(struct tagging *t, const struct oid *tag)
{
	struct oid at = *tag;
	int ret;

	do {
		ret = send_link(t, &at);
	} while (ret > 0);
	return ret;
}

/*
 * Add a tag to the objects to send, without reading the tag object now. The tag
 * has the bit `bit` in the bitmap index. The id of the tag is put into
 * t->unread, and read_unread() reads the tag later if this is necessary. Do
 * nothing if the tag is already among the objects to send: it is wanted, or
 * another ref has named it. Do nothing either if the final target of the tag is
 * not sent. Returns 0 or ERR_NOMEM.
 */
static int defer(struct tagging *t, const struct packing_tag *tag, uint32_t bit)
{
	struct found *f = t->f;

	if (!bitset_get(&t->unnamed, bit))
		return 0;
	bitset_unset(&t->unnamed, bit);
	if (bitset_get(&f->packed, bit) || !is_sent(t, &tag->target))
		return 0;
	if (mem_grow(&t->unread, &t->unread_alloc, t->unread_nr + 1,
		     sizeof(*t->unread)) < 0)
		return error_nomem(t->err);
	t->unread[t->unread_nr++] = tag->tag;
	send_bit(f, bit);
	return 0;
}

/*
 * Returns true if the target of a tag is certainly not sent, false if it may be
 * sent.
 *
 * With found->near (a prepared answer to a similar request), the objects of
 * this answer are sent, but are not in t->few. So it must also be certain that
 * the answer does not have the target. The file of prepared answers has a list
 * of tags, and each answer stores which of these tags point to its objects
 * (t->along). If the tag is in the list and the answer does not name it, the
 * answer does not have the target. If the tag is not in the list, nothing is
 * certain.
 */
static bool is_unsent(const struct tagging *t, const struct packing_tag *tag)
{
	const struct found *f = t->f;
	uint32_t at;

	if (f->near && (!prepared_find_tag(&f->prepared, &tag->tag, &at) ||
			bitset_get(&t->along, at)))
		return false;
	return t->few.nr && !oidmap_get(&t->few, &tag->target, &at);
}

/*
 * Send a tag and the tags between it and its target, if the target is sent.
 * Returns 0 or a negative error code.
 */
static int take_tag(void *ctx, const struct packing_tag *tag)
{
	struct tagging *t = ctx;
	uint32_t bit;

	if (is_unsent(t, tag))
		return 0;
	if (t->unnamed.bits && find_bit(t->f, &tag->tag, &bit))
		return defer(t, tag, bit);
	if (is_sent(t, &tag->tag) || !is_sent(t, &tag->target))
		return 0;
	return send_chain(t, &tag->tag);
}

/*
 * Visit all tags of the repository. If few objects are sent and no tag can have
 * one of them as target, no tag is visited. Returns 0 or a negative error code.
 */
static int visit(struct tagging *t)
{
	const struct packing_tags *tags = &t->f->request->tags;
	int ret = 1;

	if (t->few.nr && !t->f->near && tags->may_have)
		ret = tags->may_have(tags->ctx, &t->few, t->err);
	return ret > 0 ? tags->each(tags->ctx, take_tag, t, t->err) : ret;
}

/*
 * Read the tags in `unread`. If such a tag points to another tag, send the
 * other tag too. Do nothing if each tag in the bitmap index is named by a ref:
 * each of these other tags was then found by its own ref.
 */
static int read_unread(struct tagging *t)
{
	int ret = 0;

	if (bitset_is_empty(&t->unnamed))
		return 0;
	for (size_t i = 0; i < t->unread_nr && !ret; i++)
		ret = send_chain(t, &t->unread[i]);
	return ret;
}

int found_include_tags(struct found *found, struct error *err)
{
	const struct packing_tags *tags = &found->request->tags;
	struct tagging t = {
		.f = found,
		.err = err,
		.others = BITSET_INIT,
		.few = OIDMAP_INIT,
		.along = BITSET_INIT,
		.unnamed = BITSET_INIT,
	};
	int ret;

	if (!tags->each || (!found->objects.nr && !found->content &&
			    bitset_is_empty(&found->packed)))
		return 0;
	ret = tagging_init(&t) < 0 ? error_nomem(err) : visit(&t);
	if (!ret)
		ret = read_unread(&t);
	tagging_release(&t);
	return ret;
}
