/* SPDX-License-Identifier: MIT */
/* Writes the chunks of a multi-pack-index, one after the other. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/chunk-format.h"
#include "base/mem.h"
#include "base/sort.h"
#include "object/hash.h"
#include "pack/midx-layout.h"

/*
 * The multi-pack-index that is being written. The memory of the output is
 * reserved beforehand.
 */
struct layout {
	const struct pack_midx_layout *m;
	struct buf *out;
	uint64_t names_len;
	uint32_t off64_nr;
	/* true: at least one offset needs more than 32 bits */
	bool is_large;
};

static void measure(struct layout *l)
{
	const struct pack_midx_layout *m = l->m;

	for (uint32_t i = 0; i < m->pack_nr; i++)
		l->names_len += strlen(m->names[i]) + 1;
	l->names_len = (l->names_len + 3) & ~UINT64_C(3);
	for (size_t i = 0; i < m->nr; i++) {
		l->is_large |= m->copies[i].offset > UINT32_MAX;
		l->off64_nr += m->copies[i].offset >> 31 != 0;
	}
	if (!l->is_large)
		l->off64_nr = 0;
}

static void put_header(const struct layout *l, size_t chunk_nr)
{
	const struct pack_midx_layout *m = l->m;

	buf_append(l->out, "MIDX", 4);
	buf_append_char(l->out, (char)m->version);
	buf_append_char(l->out, (char)m->algo);
	buf_append_char(l->out, (char)chunk_nr);
	buf_append_char(l->out, 0);
	buf_append_be32(l->out, m->pack_nr);
}

static void put_names(const struct layout *l)
{
	const struct pack_midx_layout *m = l->m;
	uint64_t left = l->names_len;

	for (uint32_t i = 0; i < m->pack_nr; i++) {
		size_t len = strlen(m->names[i]) + 1;

		buf_append(l->out, m->names[i], len);
		left -= len;
	}
	buf_append(l->out, "\0\0", (size_t)left);
}

static void put_objects(const struct layout *l)
{
	uint32_t off64_nr = 0;

	for (size_t i = 0; i < l->m->nr; i++) {
		const struct pack_midx_copy *c = &l->m->copies[i];

		buf_append_be32(l->out, c->pack);
		if (l->is_large && c->offset >> 31)
			buf_append_be32(l->out, 0x80000000 | off64_nr++);
		else
			buf_append_be32(l->out, (uint32_t)c->offset);
	}
	for (size_t i = 0; i < l->m->nr && l->is_large; i++)
		if (l->m->copies[i].offset >> 31)
			buf_append_be64(l->out, l->m->copies[i].offset);
}

static void put_ids(const struct layout *l)
{
	size_t id_len = hash_len(l->m->algo);
	uint32_t nr = 0;

	for (unsigned byte = 0; byte < 256; byte++) {
		while (nr < l->m->nr && l->m->copies[nr].id[0] <= byte)
			nr++;
		buf_append_be32(l->out, nr);
	}
	for (size_t i = 0; i < l->m->nr; i++)
		buf_append(l->out, l->m->copies[i].id, id_len);
}

/*
 * Returns a key by which packs are sorted in the order of the pseudo-pack. The
 * preferred pack comes first.
 */
static uint64_t pack_key(const struct pack_midx_layout *m, uint32_t pack)
{
	return pack == m->preferred ? 0 : (uint64_t)pack + 1;
}

/*
 * Writes the chunks RIDX and BTMP. Objects are sorted by pack, and by offset
 * inside each pack. Returns 0 or ERR_NOMEM.
 */
static int put_order(const struct layout *l)
{
	const struct pack_midx_layout *m = l->m;
	struct sort_item *items = mem_alloc(m->nr, sizeof(*items));
	uint32_t *spans = mem_calloc(m->pack_nr, 2 * sizeof(*spans));
	int ret = items && spans ? 0 : ERR_NOMEM;

	for (uint32_t i = 0; i < m->nr && !ret; i++)
		items[i] = (struct sort_item){m->copies[i].offset, i};
	if (!ret)
		ret = sort_items(items, m->nr);
	for (size_t i = 0; i < m->nr && !ret; i++)
		items[i].key = pack_key(m, m->copies[items[i].value].pack);
	if (!ret)
		ret = sort_items(items, m->nr);
	for (size_t i = 0; i < m->nr && !ret; i++) {
		uint32_t *span =
			&spans[(size_t)2 * m->copies[items[i].value].pack];

		buf_append_be32(l->out, m->base_nr + items[i].value);
		if (!span[1]++)
			span[0] = m->base_nr + (uint32_t)i;
	}
	for (size_t i = 0; i < (size_t)2 * m->pack_nr && !ret; i++)
		buf_append_be32(l->out, spans[i]);
	free(items);
	free(spans);
	return ret;
}

static int put_chunks(const struct layout *l, size_t file_start)
{
	const struct pack_midx_layout *m = l->m;
	const struct chunk all[] = {
		{.id = CHUNK_ID('P', 'N', 'A', 'M'), .len = l->names_len},
		{.id = CHUNK_ID('O', 'I', 'D', 'F'), .len = PACK_FANOUT_LEN},
		{.id = CHUNK_ID('O', 'I', 'D', 'L'),
		 .len = m->nr * hash_len(m->algo)},
		{.id = CHUNK_ID('O', 'O', 'F', 'F'),
		 .len = (uint64_t)8 * m->nr},
		{.id = CHUNK_ID('L', 'O', 'F', 'F'),
		 .len = (uint64_t)8 * l->off64_nr},
		{.id = CHUNK_ID('R', 'I', 'D', 'X'),
		 .len = (uint64_t)4 * m->nr},
		{.id = CHUNK_ID('B', 'T', 'M', 'P'),
		 .len = (uint64_t)8 * m->pack_nr},
	};
	struct chunk chunks[ARRAY_NR(all)];
	size_t nr = 0, room = CHUNK_ROW_LEN * ARRAY_NR(all) + 64 + OID_MAX_LEN;
	int ret;

	for (size_t i = 0; i < ARRAY_NR(all); i++) {
		if ((i == 4 && !l->is_large) || (i > 4 && !m->with_order))
			continue;
		chunks[nr++] = all[i];
		if (!mem_add(&room, room, (size_t)all[i].len))
			return ERR_NOMEM;
	}
	ret = buf_reserve(l->out, room);
	if (ret < 0)
		return ret;
	put_header(l, nr);
	chunk_contents_append(l->out, file_start, chunks, nr);
	put_names(l);
	put_ids(l);
	put_objects(l);
	return m->with_order ? put_order(l) : 0;
}

int pack_midx_lay_out(struct buf *out, const struct pack_midx_layout *m,
		      struct pack_midx_written *written)
{
	struct layout l = {.m = m, .out = out};
	size_t start = out->len;
	int ret;

	measure(&l);
	ret = put_chunks(&l, start);
	if (!ret)
		ret = hash_append_trailer(out, start, m->algo,
					  &written->checksum);
	if (ret < 0) {
		buf_set_len(out, start);
		return ret;
	}
	written->nr = (uint32_t)m->nr;
	return 0;
}
