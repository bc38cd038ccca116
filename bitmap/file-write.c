/* SPDX-License-Identifier: MIT */
/* Writes bitmap index files. */
#include "base/bytes.h"
#include "base/mem.h"
#include "base/sort.h"
#include "bitmap/file-write.h"
#include "object/hash.h"

static int write_header(struct buf *out, const struct bitmap_write *w)
{
	unsigned flags = BITMAP_FULL_DAG |
			 (w->pseudo_nr ? BITMAP_PSEUDO_MERGES : 0) |
			 (w->hash_cache ? BITMAP_HASH_CACHE : 0) |
			 (w->lookup_table ? BITMAP_LOOKUP_TABLE : 0);

	if (buf_append_str(out, "BITM") < 0 ||
	    buf_append_be32(out, BITMAP_VERSION << 16 | flags) < 0 ||
	    buf_append_be32(out, w->entry_nr) < 0 ||
	    buf_append(out, w->checksum.bytes, hash_len(w->algo)) < 0)
		return ERR_NOMEM;
	return 0;
}

static int write_ewah(struct buf *out, const struct ewah *bitmap)
{
	struct ewah_view view = ewah_view_of(bitmap);

	return ewah_view_write(out, &view);
}

/*
 * Appends the entries of the bitmap file. offs[i] is set to the offset of entry
 * i, relative to `base`. Returns 0 or ERR_NOMEM.
 */
static int write_entries(struct buf *out, const struct bitmap_write *w,
			 size_t base, uint64_t *offs)
{
	for (uint32_t i = 0; i < w->entry_nr; i++) {
		const struct bitmap_write_entry *entry = &w->entries[i];
		uint8_t bytes[2] = {entry->xor_offset, 0};

		offs[i] = out->len - base;
		if (buf_append_be32(out, entry->idx_pos) < 0 ||
		    buf_append(out, bytes, sizeof(bytes)) < 0 ||
		    write_ewah(out, entry->bitmap) < 0)
			return ERR_NOMEM;
	}
	return 0;
}

static int write_lookup(struct buf *out, const struct bitmap_write *w,
			const uint64_t *offs)
{
	struct sort_item *order = mem_alloc(w->entry_nr, sizeof(*order));
	uint32_t *rows = mem_alloc(w->entry_nr, sizeof(*rows));
	int ret = ERR_NOMEM;

	if (!order || !rows)
		goto out;
	for (uint32_t i = 0; i < w->entry_nr; i++)
		order[i] = (struct sort_item){w->entries[i].idx_pos, i};
	if (sort_items(order, w->entry_nr) < 0)
		goto out;
	for (uint32_t row = 0; row < w->entry_nr; row++)
		rows[order[row].value] = row;
	for (uint32_t row = 0; row < w->entry_nr; row++) {
		uint32_t i = order[row].value;
		uint8_t xor_offset = w->entries[i].xor_offset;
		uint32_t xor_row = xor_offset ? rows[i - xor_offset]
					      : BITMAP_NO_XOR;

		if (buf_append_be32(out, w->entries[i].idx_pos) < 0 ||
		    buf_append_be64(out, offs[i]) < 0 ||
		    buf_append_be32(out, xor_row) < 0)
			goto out;
	}
	ret = 0;
out:
	free(order);
	free(rows);
	return ret;
}

static int write_hash_cache(struct buf *out, const struct bitmap_write *w)
{
	if (buf_reserve(out, (size_t)w->object_nr * 4) < 0)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < w->object_nr; i++)
		if (buf_append_be32(out, w->hash_cache[i]) < 0)
			return ERR_NOMEM;
	return 0;
}

int bitmap_file_write(struct buf *out, const struct bitmap_write *w,
		      struct error *err)
{
	uint64_t *offs = mem_alloc(w->entry_nr, sizeof(*offs));
	size_t base = out->len;
	int ret = offs ? write_header(out, w) : ERR_NOMEM;

	for (int i = 0; i < BITMAP_TYPE_NR && !ret; i++)
		ret = write_ewah(out, &w->types[i]);
	if (!ret)
		ret = write_entries(out, w, base, offs);
	if (!ret && w->pseudo_nr)
		ret = pseudo_merges_write(out, base, w->pseudo, w->pseudo_nr);
	if (!ret && w->lookup_table)
		ret = write_lookup(out, w, offs);
	if (!ret && w->hash_cache)
		ret = write_hash_cache(out, w);
	if (!ret)
		ret = hash_append_trailer(out, base, w->algo, NULL);
	free(offs);
	return ret < 0 ? error_nomem(err) : 0;
}
