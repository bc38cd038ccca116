/* SPDX-License-Identifier: MIT */
/*
 * A repository of three packs that have common objects, and a multi-pack-index
 * with a pack order. Include this header after cmocka.h.
 */
#ifndef T_UNIT_MIDXREPO_H
#define T_UNIT_MIDXREPO_H

#include <stdlib.h>

#include "bitmap/space.h"
#include "odb/odb-midx.h"
#include "pack/midx-write.h"
#include "t/unit/tmppack.h"

enum { MIDXREPO_PACKS = 3, MIDXREPO_PER_PACK = 4 };

/*
 * "pack-b" is the preferred pack. "pack-a" and "pack-c" have objects that are
 * not in "pack-b". All three packs have the object "all".
 */
struct midxrepo {
	struct tmprepo t;
	struct tmppack_object objects[MIDXREPO_PACKS][MIDXREPO_PER_PACK];
	struct odb *odb;
	struct pack_midx_order order;
	struct bitmap_space space;
};

static inline void midxrepo_write_midx(struct midxrepo *m)
{
	static const char *const names[MIDXREPO_PACKS] = {
		"pack-a.idx", "pack-b.idx", "pack-c.idx"};
	struct pack_midx_source sources[MIDXREPO_PACKS];
	struct pack_midx_request rq = {
		.packs = sources,
		.pack_nr = MIDXREPO_PACKS,
		.preferred = 1,
		.with_order = true,
		.version = 1,
		.algo = m->t.repo.algo,
	};
	struct pack_midx_written written;
	struct buf file = BUF_INIT;
	struct odb *odb;

	assert_int_equal(odb_open(&odb, &m->t.repo, NULL, NULL), 0);
	for (uint32_t i = 0; i < odb->pack_nr; i++) {
		const struct pack *pack = odb->packs[i].pack;
		uint32_t n = (uint32_t)(pack->name[5] - 'a');

		sources[n] = (struct pack_midx_source){names[n], &pack->idx,
						       pack->mtime_ns};
	}
	assert_int_equal(pack_midx_write(&file, &rq, &written, NULL), 0);
	odb_close(odb);
	tmprepo_write_len(&m->t, "objects/pack/multi-pack-index", file.data,
			  file.len);
	buf_release(&file);
}

static inline void midxrepo_init(struct midxrepo *m)
{
	static const char *const packs[MIDXREPO_PACKS] = {"pack-a", "pack-b",
							  "pack-c"};
	static const char *const texts[MIDXREPO_PACKS][MIDXREPO_PER_PACK] = {
		{"all", "only in a", "in a and b", "also only in a"},
		{"in a and b", "only in b", "all", "in b and c"},
		{"only in c", "in b and c", "also only in c", "all"},
	};

	memset(m, 0, sizeof(*m));
	tmprepo_init(&m->t, HASH_SHA1);
	for (unsigned p = 0; p < MIDXREPO_PACKS; p++) {
		for (unsigned i = 0; i < MIDXREPO_PER_PACK; i++)
			m->objects[p][i] = (struct tmppack_object){
				OBJ_BLOB, texts[p][i], {{0}}};
		tmppack_write(&m->t, "objects", packs[p], m->objects[p],
			      MIDXREPO_PER_PACK, false);
	}
	midxrepo_write_midx(m);
	assert_int_equal(odb_open(&m->odb, &m->t.repo, NULL, NULL), 0);
	assert_non_null(m->odb->midxes[0]);
	assert_int_equal(pack_midx_order_init(&m->order,
					      &m->odb->midxes[0]->midx, NULL, 0,
					      NULL),
			 0);
	m->space = bitmap_space_of_midx(m->odb, m->odb->midxes[0], &m->order);
}

static inline void midxrepo_release(struct midxrepo *m)
{
	pack_midx_order_release(&m->order);
	odb_close(m->odb);
	tmprepo_release(&m->t);
}

#endif
