/* SPDX-License-Identifier: MIT */
/*
 * The steps that make a bitmap index from tips. Three files contain the steps,
 * and share the state in struct making:
 *
 *   multi-pack-bitmap.c  makes and writes an index of one multi-pack-index
 *   multi-pack-layer.c   makes the index of a new layer, or of merged layers
 *   multi-pack-tables.c  fills the tables that the writer needs
 */
#ifndef MIDX_MULTI_PACK_MAKING_H
#define MIDX_MULTI_PACK_MAKING_H

#include "midx/multi-pack-bitmap.h"
#include "pack-bitmap.h"
#include "packs/pseudo-tips.h"
#include "packs/snapshot.h"

/* The state of making a bitmap index. Used by one thread. */
struct making {
	const struct multi_pack_bitmap_request *rq;
	/* borrowed from the request: the bit space of the new index */
	const struct bitmap_space *space;
	struct multi_pack_bitmap_report *report;
	struct walk walk;
	struct walk_tips tips;
	struct walk_result found;
	struct snapshot snapshot;
	struct pseudo_config config;
	struct pseudo_tips pseudo;
	/*
	 * Owned array, indexed by commit_nr: a value of enum select_tip for
	 * each of the first `is_tip_nr` commits.
	 */
	uint8_t *is_tip;
	size_t is_tip_nr;
	/*
	 * for a layer of a chain: the number of objects in all lower layers,
	 * which is the bit of the layer's first object; otherwise 0
	 */
	uint32_t base_nr;
	/*
	 * Tables for the writer (pack-bitmap.h). All are owned. For a layer of
	 * a chain, the tables have only the layer's own objects; `types` has
	 * the type of each. The values in `bit_pos` are counted from the lowest
	 * layer.
	 */
	uint32_t *idx_pos, *bit_pos, *hash_cache;
	uint8_t *types;
	/*
	 * owned array: the obj_pos of the object of each bit. For a layer of a
	 * chain, element 0 is the first object of the layer. If there is no
	 * chain, element 0 is the first object of the whole multi-pack-index.
	 */
	uint32_t *obj_pos;
	/*
	 * An older bitmap index and its bitmaps. `old` is NULL if no older
	 * index can be used.
	 */
	struct pack_bitmap *old; /* owned */
	struct bitmap_previous previous;
	struct bitmap_update update;
};

/* ---- multi-pack-tables.c */

/*
 * Returns the number of objects in the table m->types, which becomes the type
 * bitmaps of the new bitmap index. These are all objects of the
 * multi-pack-index. For a layer of a chain, only the layer's own objects count.
 */
uint32_t making_nr(const struct making *m);

/*
 * Fill in m->is_tip: which commits are tips, and of which kind. Unless
 * `all_refs` is set, only the commits of branches are marked. Returns 0 or a
 * negative error code.
 */
int making_mark_tips(struct making *m, bool all_refs, struct error *err);

/*
 * Allocate all tables and fill `idx_pos`. The other tables are empty. Returns 0
 * or ERR_NOMEM.
 */
int making_alloc_tables(struct making *m, struct error *err);

/*
 * Store type and path hash of an object in the tables. Does nothing if the
 * packs of the index do not have the object.
 */
void making_note_object(struct making *m, uint32_t obj_pos,
			enum object_type type, uint32_t name_hash);

/*
 * Fill in bit_pos for all commits of the walk and for the objects in
 * m->update.lists. Store the types and path hashes of these objects in the
 * tables.
 */
void making_number_update(struct making *m);

/*
 * Look up the type of one object and store it in the table. `own_bit` is
 * counted from the first object of the layer. Returns 0 or a negative error
 * code.
 */
int making_look_up_type(struct making *m, uint32_t own_bit, struct error *err);

/* ---- multi-pack-layer.c */

/*
 * Fill in m->update, from which the bitmaps of the new layer are made.
 * making_prepare_layer() is for a new layer on top of m->rq->below.
 * making_prepare_compaction() is for one layer that replaces layers of
 * m->rq->below. Both return 0 or a negative error code.
 */
int making_prepare_layer(struct making *m, struct error *err);
int making_prepare_compaction(struct making *m, struct error *err);

#endif
