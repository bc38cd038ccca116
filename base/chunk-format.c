/* SPDX-License-Identifier: MIT */
/* Reads and writes the tables of contents of chunk files. */
#include "base/chunk-format.h"

static struct chunk *chunk_by_id(struct chunk *chunks, size_t nr, uint32_t id)
{
	for (size_t i = 0; i < nr; i++)
		if (chunks[i].id == id)
			return &chunks[i];
	return NULL;
}

int chunk_contents_read(struct chunk *chunks, size_t nr, struct cursor *c,
			const uint8_t *bytes, uint64_t body_len,
			unsigned chunk_nr, const char *name, struct error *err)
{
	uint64_t table_off = (uint64_t)(c->p - bytes);
	uint64_t table_len = ((uint64_t)chunk_nr + 1) * CHUNK_ROW_LEN;
	uint64_t start = 0, next = 0;
	uint32_t id = 0, next_id = 0;

	if (cursor_left(c) < table_len)
		return error_set_at(err, ERR_CORRUPT, name, table_off,
				    "table of contents cut short");
	cursor_be32(c, &id);
	cursor_be64(c, &start);
	for (unsigned i = 0; i < chunk_nr; i++) {
		struct chunk *chunk = chunk_by_id(chunks, nr, id);

		cursor_be32(c, &next_id);
		cursor_be64(c, &next);
		if (!id || start < table_off + table_len || next < start ||
		    next > body_len || (chunk && chunk->start))
			return error_set_at(err, ERR_CORRUPT, name,
					    table_off +
						    (uint64_t)i * CHUNK_ROW_LEN,
					    "bad chunk %08x", (unsigned)id);
		if (chunk) {
			chunk->start = bytes + start;
			chunk->len = next - start;
		}
		id = next_id;
		start = next;
	}
	if (id)
		return error_set_at(err, ERR_CORRUPT, name, table_off,
				    "table of contents does not end");
	return 0;
}

int chunk_contents_append(struct buf *out, size_t file_start,
			  const struct chunk *chunks, size_t nr)
{
	size_t table_len = (nr + 1) * CHUNK_ROW_LEN;
	uint64_t off = out->len - file_start + table_len;

	if (buf_reserve(out, table_len) < 0)
		return ERR_NOMEM;
	for (size_t i = 0; i < nr; i++) {
		buf_append_be32(out, chunks[i].id);
		buf_append_be64(out, off);
		off += chunks[i].len;
	}
	buf_append_be32(out, 0);
	buf_append_be64(out, off);
	return 0;
}
