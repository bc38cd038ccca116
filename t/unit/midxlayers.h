/* SPDX-License-Identifier: MIT */
/*
 * Random repositories with a chain of multi-pack-indexes over their packs.
 * Include this header after cmocka.h.
 */
#ifndef T_UNIT_MIDXLAYERS_H
#define T_UNIT_MIDXLAYERS_H

#include "midx/multi-pack-chain.h"
#include "t/unit/midxbitmap.h"

/* Arguments for the functions of multi-pack-chain.h, which write layers. */
struct midxlayers {
	struct refs *refs;
	struct odb *odb;
	struct newpack_options newpack;
	struct multi_pack_options o;
	struct multi_pack_result result;
	struct error err;
};

static inline void midxlayers_open(struct midxlayers *m,
				   const struct randrepo *r, bool bitmap)
{
	memset(m, 0, sizeof(*m));
	assert_int_equal(newpack_options_load(&m->newpack, &r->t.repo, NULL),
			 0);
	assert_int_equal(refs_open(&m->refs, &r->t.repo, NULL), 0);
	assert_int_equal(odb_open(&m->odb, &r->t.repo, NULL, NULL), 0);
	m->o.refs = m->refs;
	m->o.bitmap = bitmap ? &m->newpack : NULL;
}

static inline void midxlayers_close(struct midxlayers *m)
{
	odb_close(m->odb);
	refs_close(m->refs);
}

/*
 * Write a multi-pack-index of the packs that no layer has, and append it to the
 * chain as the highest layer. `bitmap`: also write its bitmap index. Returns
 * the value of multi_pack_append(); an error fails the test.
 */
static inline int midxlayers_append(const struct randrepo *r, bool bitmap)
{
	struct multi_pack_layer_options layer = {NULL, false};
	struct midxlayers m;
	int ret;

	midxlayers_open(&m, r, bitmap);
	layer.base = m.odb->midxes[0];
	ret = multi_pack_append(&m.result, m.odb, &m.o, &layer, &m.err);
	if (ret < 0)
		fail_msg("%s", m.err.msg);
	midxlayers_close(&m);
	return ret;
}

/* Returns layer number `n` of the chain; 0 is the lowest layer. */
static inline struct odb_midx *midxlayers_nth(const struct odb *odb, size_t n)
{
	struct odb_midx *om = odb->midxes[0];

	for (size_t nr = odb_midx_layer_nr(om); nr > n + 1; nr--)
		om = om->base;
	return om;
}

/*
 * Merge the layers [from, to] of a chain into one layer, and put it on top of
 * the lowest `base_nr` layers. The layers from number `base_nr` to `from` - 1
 * are removed from the chain. Layer 0 is the lowest. `bitmap`: write the bitmap
 * index of the new layer.
 */
static inline void midxlayers_compact_onto(const struct randrepo *r,
					   size_t from, size_t to,
					   size_t base_nr, bool bitmap)
{
	struct multi_pack_layer_options layer = {NULL, false};
	struct midxlayers m;

	midxlayers_open(&m, r, bitmap);
	if (base_nr)
		layer.base = midxlayers_nth(m.odb, base_nr - 1);
	if (multi_pack_compact(&m.result, m.odb, &m.o,
			       midxlayers_nth(m.odb, from),
			       midxlayers_nth(m.odb, to), &layer, &m.err) < 0)
		fail_msg("%s", m.err.msg);
	midxlayers_close(&m);
}

/*
 * Merge the layers [from, to] of a chain into one layer. The layers below
 * `from` remain. `bitmap`: write the bitmap index of the new layer.
 */
static inline void midxlayers_compact(const struct randrepo *r, size_t from,
				      size_t to, bool bitmap)
{
	midxlayers_compact_onto(r, from, to, from, bitmap);
}

static inline size_t midxlayers_nr(const struct randrepo *r)
{
	struct odb *odb;
	size_t nr;

	assert_int_equal(odb_open(&odb, &r->t.repo, NULL, NULL), 0);
	nr = odb_midx_layer_nr(odb->midxes[0]);
	odb_close(odb);
	return nr;
}

/*
 * Write a history in `nr` packs, and a layer of the chain for each pack.
 * `bitmap`: each layer gets a bitmap index.
 */
static inline void midxlayers_history(struct randrepo *r, uint64_t *seed,
				      enum hash_algo algo, unsigned nr,
				      bool bitmap)
{
	randrepo_init(r, algo, seed);
	for (unsigned i = 0; i < nr; i++) {
		randrepo_history(r, i ? 6 : 40);
		randrepo_store_pack(r);
		randrepo_all_refs(r);
		assert_int_equal(midxlayers_append(r, bitmap), 0);
		/*
		 * Forget that some objects are stored, so that the next pack
		 * contains them again.
		 */
		for (uint32_t k = 0; k < 20; k++)
			r->objects[randrepo_below(r, r->nr)].is_stored = false;
	}
	assert_int_equal(midxlayers_nr(r), nr);
}

#endif
