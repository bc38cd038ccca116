/* SPDX-License-Identifier: MIT */
/*
 * Parses a multi-pack-index. Parsing verifies everything on which the memory
 * safety of lookups depends. Pack numbers and offsets are verified where they
 * are used.
 */
#include <string.h>

#include "base/chunk-format.h"
#include "base/mem.h"
#include "pack/midx.h"

enum { MIDX_HEADER_LEN = 12 };

/*
 * Positions in the array of chunks that parsing fills, one for each kind of
 * chunk.
 */
enum {
	CHUNK_NAMES,
	CHUNK_FANOUT,
	CHUNK_IDS,
	CHUNK_OBJECTS,
	CHUNK_OFF64,
	CHUNK_ORDER,
	CHUNK_SPANS,
	CHUNK_NR,
};

static const struct chunk no_chunks[CHUNK_NR] = {
	[CHUNK_NAMES] = {.id = CHUNK_ID('P', 'N', 'A', 'M')},
	[CHUNK_FANOUT] = {.id = CHUNK_ID('O', 'I', 'D', 'F')},
	[CHUNK_IDS] = {.id = CHUNK_ID('O', 'I', 'D', 'L')},
	[CHUNK_OBJECTS] = {.id = CHUNK_ID('O', 'O', 'F', 'F')},
	[CHUNK_OFF64] = {.id = CHUNK_ID('L', 'O', 'F', 'F')},
	[CHUNK_ORDER] = {.id = CHUNK_ID('R', 'I', 'D', 'X')},
	[CHUNK_SPANS] = {.id = CHUNK_ID('B', 'T', 'M', 'P')},
};

static int parse_header(struct pack_midx *m, struct cursor *c,
			unsigned *chunk_nr, struct error *err)
{
	const uint8_t *p;

	if (!cursor_bytes(c, &p, MIDX_HEADER_LEN) || memcmp(p, "MIDX", 4) != 0)
		return error_set(err, ERR_CORRUPT, "%s: not a multi-pack-index",
				 m->name);
	m->version = p[4];
	if (m->version != 1 && m->version != 2)
		return error_set(err, ERR_UNSUPPORTED,
				 "multi-pack-index version %u not recognized",
				 m->version);
	if (p[5] != m->algo)
		return error_set(err, ERR_UNSUPPORTED,
				 "multi-pack-index hash version %u does not "
				 "match version %u",
				 p[5], (unsigned)m->algo);
	if (p[7])
		return error_set(err, ERR_UNSUPPORTED,
				 "%s: multi-pack-index with %u base files",
				 m->name, p[7]);
	*chunk_nr = p[6];
	m->pack_nr = load_be32(p + 8);
	return 0;
}

static int check_size(const struct pack_midx *m, const struct chunk *chunk,
		      uint64_t nr, size_t item_len, const char *what,
		      struct error *err)
{
	if (!chunk->start || chunk->len != nr * item_len)
		return error_set(err, ERR_CORRUPT,
				 "%s: %s missing or of a wrong size", m->name,
				 what);
	return 0;
}

/*
 * Checks the size of an optional chunk, like check_size(). Returns 0 if the
 * chunk is absent.
 */
static int check_optional(const struct pack_midx *m, const struct chunk *chunk,
			  uint64_t nr, size_t item_len, const char *what,
			  struct error *err)
{
	return chunk->start ? check_size(m, chunk, nr, item_len, what, err) : 0;
}

/*
 * Takes the name of pack number `i` from the chunk PNAM, at offset *off.
 * Advances *off to the next name. Returns 0 or ERR_CORRUPT.
 */
static int take_name(struct pack_midx *m, uint32_t i, const struct chunk *chunk,
		     uint64_t *off, struct error *err)
{
	const char *name = (const char *)chunk->start + *off;
	const char *end = memchr(name, '\0', (size_t)(chunk->len - *off));

	if (!end || end == name || memchr(name, '/', (size_t)(end - name)))
		return error_set_at(err, ERR_CORRUPT, m->name,
				    (uint64_t)(chunk->start - m->bytes) + *off,
				    "bad pack name");
	if (m->version == 1 && i && strcmp(m->names[i - 1], name) >= 0)
		return error_set(err, ERR_CORRUPT,
				 "%s: pack names out of order: '%s' before "
				 "'%s'",
				 m->name, m->names[i - 1], name);
	m->names[i] = name;
	*off += (uint64_t)(end - name) + 1;
	return 0;
}

static int take_names(struct pack_midx *m, const struct chunk *chunk,
		      struct error *err)
{
	uint64_t off = 0;
	int ret = 0;

	/* Each name takes at least two bytes: a letter and a NUL. */
	if (!chunk->start || chunk->len / 2 < m->pack_nr)
		return error_set(err, ERR_CORRUPT,
				 "%s: pack names missing or cut short",
				 m->name);
	m->names = mem_alloc(m->pack_nr, sizeof(*m->names));
	if (!m->names)
		return error_nomem(err);
	for (uint32_t i = 0; i < m->pack_nr && !ret; i++)
		ret = take_name(m, i, chunk, &off, err);
	return ret;
}

static int take_ids(struct pack_midx *m, const struct chunk *chunks,
		    struct error *err)
{
	const struct chunk *fanout = &chunks[CHUNK_FANOUT];
	int ret = check_size(m, fanout, 1, PACK_FANOUT_LEN, "fanout", err);

	if (!ret)
		ret = pack_fanout_check(&m->nr, fanout->start, m->name,
					(uint64_t)(fanout->start - m->bytes),
					err);
	if (!ret)
		ret = check_size(m, &chunks[CHUNK_IDS], m->nr,
				 hash_len(m->algo), "ids", err);
	m->ids = (struct pack_ids){
		.fanout = fanout->start,
		.first = chunks[CHUNK_IDS].start,
		.stride = hash_len(m->algo),
		.nr = m->nr,
		.algo = m->algo,
	};
	return ret;
}

static int take_chunks(struct pack_midx *m, const struct chunk *chunks,
		       struct error *err)
{
	uint64_t off64_nr = chunks[CHUNK_OFF64].len / 8;
	int ret = take_names(m, &chunks[CHUNK_NAMES], err);

	if (!ret)
		ret = take_ids(m, chunks, err);
	if (!ret)
		ret = check_size(m, &chunks[CHUNK_OBJECTS], m->nr, 8, "offsets",
				 err);
	if (!ret)
		ret = check_optional(m, &chunks[CHUNK_OFF64],
				     off64_nr <= m->nr ? off64_nr : 0, 8,
				     "64-bit offsets", err);
	if (!ret)
		ret = check_optional(m, &chunks[CHUNK_ORDER], m->nr, 4,
				     "reverse index", err);
	if (!ret)
		ret = check_optional(m, &chunks[CHUNK_SPANS], m->pack_nr, 8,
				     "bitmapped packs", err);
	m->objects = chunks[CHUNK_OBJECTS].start;
	m->off64 = chunks[CHUNK_OFF64].start;
	m->off64_nr = (uint32_t)off64_nr;
	m->order = chunks[CHUNK_ORDER].start;
	m->spans = chunks[CHUNK_SPANS].start;
	return ret;
}

int pack_midx_parse(struct pack_midx *midx, const void *bytes, size_t len,
		    enum hash_algo algo, const char *name, struct error *err)
{
	struct pack_midx m = {.bytes = bytes, .len = len, .algo = algo};
	struct cursor c = cursor_make(bytes, len);
	struct chunk chunks[CHUNK_NR];
	size_t id_len = hash_len(algo);
	unsigned chunk_nr = 0;
	int ret;

	*midx = (struct pack_midx){0};
	memcpy(chunks, no_chunks, sizeof(chunks));
	m.name = mem_strdup(name);
	if (!m.name)
		return error_nomem(err);
	if (len < MIDX_HEADER_LEN + id_len)
		ret = error_set(err, ERR_CORRUPT,
				"multi-pack-index file %s is too small", name);
	else
		ret = parse_header(&m, &c, &chunk_nr, err);
	if (!ret)
		ret = chunk_contents_read(chunks, CHUNK_NR, &c, m.bytes,
					  len - id_len, chunk_nr, name, err);
	if (!ret)
		ret = take_chunks(&m, chunks, err);
	if (ret < 0) {
		pack_midx_release(&m);
		return ret;
	}
	m.checksum = m.bytes + len - id_len;
	*midx = m;
	return 0;
}

void pack_midx_release(struct pack_midx *midx)
{
	free(midx->names);
	free(midx->name);
	*midx = (struct pack_midx){0};
}

uint32_t pack_midx_pack(const struct pack_midx *midx, uint32_t midx_pos)
{
	return load_be32(midx->objects + 8 * (size_t)midx_pos);
}

uint64_t pack_midx_offset(const struct pack_midx *midx, uint32_t midx_pos)
{
	uint32_t off = load_be32(midx->objects + 8 * (size_t)midx_pos + 4);

	if (!midx->off64 || !(off & 0x80000000))
		return off;
	off &= 0x7fffffff;
	if (off >= midx->off64_nr)
		return UINT64_MAX;
	return load_be64(midx->off64 + 8 * (size_t)off);
}
