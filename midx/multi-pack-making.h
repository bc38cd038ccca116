/* SPDX-License-Identifier: MIT */
/*
 * A bitmap index on its way from tips to bytes:
 *
 *   multi-pack-bitmap.c  from an older index, or from all objects; writing it
 *   multi-pack-layer.c   a layer of a chain: a new one, or several in one
 *   multi-pack-tables.c  the tables that all of these fill in
 */
#ifndef MIDX_MULTI_PACK_MAKING_H
#define MIDX_MULTI_PACK_MAKING_H

#include "midx/multi-pack-bitmap.h"
#include "pack-bitmap.h"
#include "packs/pseudo-tips.h"
#include "packs/snapshot.h"

/* An index in the making. */
struct making {
	const struct multi_pack_bitmap_request *rq;
	const struct bitmap_space *space; /* borrowed: rq->space */
	struct multi_pack_bitmap_report *report;
	struct walk walk;
	struct walk_tips tips;
	struct walk_result found;
	struct snapshot snapshot;
	struct pseudo_config config;
	struct pseudo_tips pseudo;
	uint8_t *is_tip; /* owned: by commit_nr, of the first is_tip_nr */
	size_t is_tip_nr;
	uint32_t base_nr; /* in a chain, objects of the layers below */
	/*
	 * What the writer wants to know, see pack-bitmap.h. All owned. Of a
	 * layer of a chain, by bits and ids of its own, but for what bit_pos
	 * says.
	 */
	uint32_t *idx_pos, *bit_pos, *hash_cache;
	uint8_t *types;
	uint32_t *obj_pos; /* owned: by bit_pos */
	/* What an older index contributes, if it is of use. */
	struct pack_bitmap *old; /* owned */
	struct bitmap_previous previous;
	struct bitmap_update update;
};

/* ---- multi-pack-tables.c */

/* Objects that the index is of; of a layer, its own. */
uint32_t making_nr(const struct making *m);

/* Which tips get bitmaps of their own. 0 or a negative error. */
int making_mark_tips(struct making *m, struct error *err);

/* The tables, with nothing in them but idx_pos. 0 or ERR_NOMEM. */
int making_alloc_tables(struct making *m, struct error *err);

/* Take down what an object is, if it is one of these. */
void making_note_object(struct making *m, uint32_t obj_pos,
			enum object_type type, uint32_t name_hash);

/* Bits of what the builder looks at, and what m->update.lists know. */
void making_number_update(struct making *m);

/* Look the type of an object up. 0 or a negative error. */
int making_look_up_type(struct making *m, uint32_t own_bit, struct error *err);

/* ---- multi-pack-layer.c */

/*
 * In place of m->rq->below's layers one, or a layer on top of them: everything
 * up to m->update. 0 or a negative error.
 */
int making_prepare_layer(struct making *m, struct error *err);
int making_prepare_compaction(struct making *m, struct error *err);

#endif
