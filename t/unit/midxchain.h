/* SPDX-License-Identifier: MIT */
/*
 * A repository of three packs, and a chain of multi-pack-indexes with one layer
 * for each pack. Include this header after cmocka.h.
 */
#ifndef T_UNIT_MIDXCHAIN_H
#define T_UNIT_MIDXCHAIN_H

#include "odb/odb-midx.h"
#include "pack/midx-write.h"
#include "t/unit/tmppack.h"

enum { MIDXCHAIN_LAYERS = 3, MIDXCHAIN_PER_PACK = 3 };

#define MIDXCHAIN_FILE "objects/pack/multi-pack-index.d/multi-pack-index-chain"

/* A repository with three packs. Each pack has a layer of the chain. */
struct midxchain {
	struct tmprepo t;
	struct tmppack_object objects[MIDXCHAIN_LAYERS][MIDXCHAIN_PER_PACK];
	char hex[MIDXCHAIN_LAYERS][OID_MAX_HEX_LEN + 1];
};

static const char *const midxchain_names[MIDXCHAIN_LAYERS] = {
	"pack-a", "pack-b", "pack-c"};

static inline void midxchain_layer_name(struct buf *out,
					const struct midxchain *b,
					unsigned layer)
{
	buf_reset(out);
	buf_printf(out,
		   "objects/pack/multi-pack-index.d/multi-pack-index-%s.midx",
		   b->hex[layer]);
}

/*
 * Write the multi-pack-index of layer `n` of the chain, which has pack `n`
 * only, to the buffer `file`.
 */
static inline void midxchain_make_file(struct midxchain *b, unsigned n,
				       struct buf *file)
{
	static const char *const idx_names[MIDXCHAIN_LAYERS] = {
		"pack-a.idx", "pack-b.idx", "pack-c.idx"};
	struct pack_midx_source source = {.name = idx_names[n]};
	struct pack_midx_request rq = {
		.packs = &source,
		.pack_nr = 1,
		.preferred = PACK_MIDX_NO_PACK,
		.version = 1,
		.algo = b->t.repo.algo,
	};
	struct pack_midx_written written;
	struct odb *odb;

	assert_int_equal(odb_open_packs(&odb, &b->t.repo, NULL, NULL), 0);
	for (uint32_t i = 0; i < odb->pack_nr; i++)
		if (!strcmp(odb->packs[i].pack->name, midxchain_names[n]))
			source.idx = &odb->packs[i].pack->idx;
	assert_int_equal(pack_midx_write(file, &rq, &written, NULL), 0);
	odb_close(odb);
	oid_to_hex(b->hex[n], &written.checksum, b->t.repo.algo);
}

/*
 * Write the file that lists the chain, and the files of the first `nr` layers.
 */
static inline void midxchain_write(const struct midxchain *b, unsigned nr)
{
	struct buf text = BUF_INIT;

	for (unsigned i = 0; i < nr; i++)
		buf_printf(&text, "%s\n", b->hex[i]);
	tmprepo_write_len(&b->t, MIDXCHAIN_FILE, text.data, text.len);
	buf_release(&text);
}

static inline void midxchain_init(struct midxchain *b, enum hash_algo algo)
{
	static const char *const texts[MIDXCHAIN_LAYERS][MIDXCHAIN_PER_PACK] = {
		{"a0", "a1", "a2"},
		{"b0", "b1", "b2"},
		{"c0", "c1", "c2"},
	};
	struct buf file = BUF_INIT, path = BUF_INIT;

	tmprepo_init(&b->t, algo);
	for (unsigned p = 0; p < MIDXCHAIN_LAYERS; p++) {
		for (unsigned i = 0; i < MIDXCHAIN_PER_PACK; i++)
			b->objects[p][i] = (struct tmppack_object){
				OBJ_BLOB, texts[p][i], {{0}}};
		tmppack_write(&b->t, "objects", midxchain_names[p],
			      b->objects[p], MIDXCHAIN_PER_PACK, false);
		buf_reset(&file);
		midxchain_make_file(b, p, &file);
		midxchain_layer_name(&path, b, p);
		tmprepo_write_len(&b->t, path.data, file.data, file.len);
	}
	midxchain_write(b, MIDXCHAIN_LAYERS);
	buf_release(&file);
	buf_release(&path);
}

static inline void midxchain_release(struct midxchain *b)
{
	tmprepo_release(&b->t);
}

#endif
