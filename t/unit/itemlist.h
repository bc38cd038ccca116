/* SPDX-License-Identifier: MIT */
/*
 * A list of objects for a new pack (struct packing_item), taken from a random
 * repository. Tests plan, order and write the items. A slow reader (packread.h)
 * checks the written pack. Include this header after cmocka.h.
 */
#ifndef T_UNIT_ITEMLIST_H
#define T_UNIT_ITEMLIST_H

#include "packing/plan.h"
#include "packing/write.h"
#include "t/unit/bitmaprepo.h"
#include "t/unit/packread.h"

struct itemlist {
	struct randrepo r;
	struct odb *odb;
	struct objspace space;
	struct packs packs;
	struct packing_items list;
	/* Indexed like the list: index in r.objects[] of the item's object. */
	uint32_t *object;
};

/*
 * Make the repository: three packs with the same objects, and newer loose
 * objects. One pack has whole objects, one has OFS_DELTAs, and one has
 * REF_DELTAs in short chains. The list of items stays empty.
 */
static inline void itemlist_init(struct itemlist *l, uint64_t *seed)
{
	struct repack_options options;
	struct repack_result result;

	memset(l, 0, sizeof(*l));
	randrepo_init(&l->r, HASH_SHA1, seed);
	randrepo_history(&l->r, 60);
	randrepo_store_pack(&l->r);
	randrepo_all_refs(&l->r);
	bitmaprepo_options(&options, &l->r.t.repo);
	options.newpack.make.reuse_delta = false;
	options.remove_redundant = false;
	assert_int_equal(repack_run(&result, &l->r.t.repo, &options, NULL), 0);
	options.newpack.make.window = 3;
	options.newpack.make.depth = 2;
	options.newpack.ofs_delta = false;
	assert_int_equal(repack_run(&result, &l->r.t.repo, &options, NULL), 0);
	randrepo_history(&l->r, 4);
	randrepo_store(&l->r);
	assert_int_equal(odb_open(&l->odb, &l->r.t.repo, NULL, NULL), 0);
	assert_int_equal(l->odb->pack_nr, 3);
	objspace_init(&l->space, l->odb);
	l->object = calloc(RANDREPO_MAX, sizeof(*l->object));
	assert_non_null(l->object);
	packing_items_init(&l->list, &l->space);
	assert_int_equal(packs_init(&l->packs, l->odb, NULL), 0);
}

static inline void itemlist_release(struct itemlist *l)
{
	packing_items_release(&l->list);
	packs_release(&l->packs);
	objspace_release(&l->space);
	odb_close(l->odb);
	randrepo_release(&l->r);
	free(l->object);
}

/*
 * Fill l->list with random objects of the repository. Each object is taken with
 * a probability of `keep` in 16. If `externals` is true, some of the trees and
 * blobs become external items: objects that only the receiver has.
 */
static inline void itemlist_fill(struct itemlist *l, unsigned keep,
				 bool externals)
{
	packing_items_release(&l->list);
	for (uint32_t i = 0; i < l->r.nr; i++) {
		const struct randrepo_object *o = &l->r.objects[i];
		uint32_t obj_pos;
		bool external = externals && !randrepo_below(&l->r, 8) &&
				(o->type == OBJ_TREE || o->type == OBJ_BLOB);

		if (randrepo_below(&l->r, 16) >= keep)
			continue;
		assert_int_equal(
			objspace_add(&l->space, o->oid.bytes, &obj_pos), 0);
		l->object[l->list.nr] = i;
		assert_int_equal(packing_items_append(&l->list, obj_pos,
						      o->type, i % 7, external),
				 0);
	}
}

static const struct plan_options itemlist_plan_options = {
	.reuse_delta = true,
	.reuse_object = true,
	.threads = 2,
	.big_file_threshold = 1 << 20,
};

/* Plan the items, and append the bytes of the pack to *pack. */
static inline void itemlist_write(struct itemlist *l, struct buf *pack,
				  const struct write_options *options,
				  struct write_report *report)
{
	struct pack_sink sink = {.put = packread_put, .ctx = pack};
	struct error err = ERROR_INIT;
	struct pack_writer writer;
	struct oid sum;
	size_t nr;
	uint32_t *order = write_order(&l->list, &nr);

	assert_non_null(order);
	memset(report, 0, sizeof(*report));
	assert_int_equal(pack_writer_init(&writer, sink, (uint32_t)nr,
					  HASH_SHA1, true, NULL),
			 0);
	if (write_items(&l->list, order, &nr, &l->packs, &writer, options,
			report, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(pack_writer_finish(&writer, &sum, NULL), 0);
	pack_writer_release(&writer);
	free(order);
}

#endif
