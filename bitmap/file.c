/* SPDX-License-Identifier: MIT */
/* Reads bitmap index files. */
#include <string.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "base/sort.h"
#include "bitmap/file.h"
#include "object/hash.h"

#define KNOWN_FLAGS                                                            \
	(BITMAP_FULL_DAG | BITMAP_HASH_CACHE | BITMAP_LOOKUP_TABLE |           \
	 BITMAP_PSEUDO_MERGES)
/* number of bytes at the start of the file, before the pack's checksum */
#define HEADER_LEN 12
/* number of bytes that a stored EWAH bitmap has in addition to its words */
#define EWAH_FRAME_LEN 12
/* number of bytes of an entry before its EWAH bitmap */
#define ENTRY_HEADER_LEN 6

static int corrupt(const struct bitmap_file *f, size_t off, const char *what,
		   struct error *err)
{
	return error_set_at(err, ERR_CORRUPT, f->name, off, "%s", what);
}

/* Returns the number of objects in the layers below f. */
static uint32_t base_nr(const struct bitmap_file *f)
{
	return f->base ? f->base->object_nr : 0;
}

static uint32_t own_row_nr(const struct bitmap_file *f)
{
	return f->row_nr - f->base_row_nr;
}

static size_t offset_of(const struct bitmap_file *f, const struct cursor *c)
{
	return (size_t)(c->p - f->bytes);
}

static int parse_header(struct bitmap_file *f, struct cursor *c,
			struct error *err)
{
	const uint8_t *magic;
	uint16_t version, flags;

	if (!cursor_bytes(c, &magic, 4) || memcmp(magic, "BITM", 4))
		return corrupt(f, 0, "not a bitmap index", err);
	if (!cursor_be16(c, &version) || !cursor_be16(c, &flags) ||
	    !cursor_be32(c, &f->row_nr) ||
	    !cursor_bytes(c, &f->checksum, hash_len(f->algo)))
		return corrupt(f, 0, "bitmap index header is cut short", err);
	if (version != BITMAP_VERSION)
		return error_set(err, ERR_UNSUPPORTED,
				 "%s: unsupported version %u of bitmap index",
				 f->name, version);
	if (!(flags & BITMAP_FULL_DAG))
		return error_set(err, ERR_UNSUPPORTED,
				 "%s: bitmap index without full closure",
				 f->name);
	if (flags & ~KNOWN_FLAGS)
		return error_set(err, ERR_UNSUPPORTED,
				 "%s: unsupported bitmap index flags 0x%x",
				 f->name, flags & ~(unsigned)KNOWN_FLAGS);
	f->flags = flags;
	return 0;
}

static int parse_pseudo(struct bitmap_file *f, struct cursor *c,
			struct error *err)
{
	int ret = pseudo_merges_parse(&f->pseudo, f->bytes, offset_of(f, c),
				      f->entries_end, f->object_nr, f->name,
				      err);

	if (ret < 0)
		return ret;
	f->entries_end = (size_t)f->pseudo.start;
	c->end = f->bytes + f->entries_end;
	return 0;
}

/*
 * Parses the sections at the end of the bitmap file, from the last to the
 * first.
 */
static int parse_tail(struct bitmap_file *f, struct cursor *c,
		      struct error *err)
{
	size_t cache = (size_t)(f->object_nr - base_nr(f)) * 4;
	size_t lookup = (size_t)f->row_nr * BITMAP_LOOKUP_ROW_LEN;

	if (cursor_left(c) < hash_len(f->algo))
		return corrupt(f, f->len, "checksum is missing", err);
	c->end -= hash_len(f->algo);
	if (f->flags & BITMAP_HASH_CACHE) {
		if (cursor_left(c) < cache)
			return corrupt(f, f->len,
				       "too small for its name-hash cache",
				       err);
		c->end -= cache;
		f->hash_cache = c->end;
	}
	if (f->flags & BITMAP_LOOKUP_TABLE) {
		if (cursor_left(c) < lookup)
			return corrupt(f, f->len,
				       "too small for its lookup table", err);
		c->end -= lookup;
		f->lookup = c->end;
	}
	f->entries_end = (size_t)(c->end - f->bytes);
	return f->flags & BITMAP_PSEUDO_MERGES ? parse_pseudo(f, c, err) : 0;
}

static int parse_types(struct bitmap_file *f, struct cursor *c,
		       struct error *err)
{
	size_t words = ((size_t)f->object_nr + 63) / 64;

	for (int i = 0; i < BITMAP_TYPE_NR; i++) {
		size_t off = offset_of(f, c);

		if (ewah_view_parse(&f->types[i], c, NULL) < 0)
			return corrupt(f, off, "malformed type bitmap", err);
		if ((f->types[i].bits + 63) / 64 > words)
			return corrupt(f, off,
				       "type bitmap is larger than its pack",
				       err);
	}
	return 0;
}

/*
 * Skips the entry of a commit in the bitmap file, without parsing its bitmap.
 * Sets *idx_pos and *xor_offset from the entry. Returns false if the file ends
 * within the entry.
 */
static bool skip_entry(struct cursor *c, uint32_t *idx_pos, uint8_t *xor_offset)
{
	uint32_t bits, word_nr;
	uint8_t flags;

	return cursor_be32(c, idx_pos) && cursor_u8(c, xor_offset) &&
	       cursor_u8(c, &flags) && cursor_be32(c, &bits) &&
	       cursor_be32(c, &word_nr) &&
	       cursor_skip(c, (size_t)word_nr * 8 + 4);
}

/*
 * Sorts rows by idx_pos. Before the call, `rows` has the order of the entries
 * in the file, and each xor_row is an index in this order. The call changes
 * xor_row to indexes in the new order. Returns 0 or ERR_NOMEM.
 */
static int sort_rows(struct bitmap_file *f, struct bitmap_row *rows)
{
	struct sort_item *order = mem_alloc(f->row_nr, sizeof(*order));
	uint32_t *sorted = mem_alloc(f->row_nr, sizeof(*sorted));
	int ret = ERR_NOMEM;

	if (!order || !sorted)
		goto out;
	f->rows = mem_alloc(f->row_nr, sizeof(*f->rows));
	if (!f->rows)
		goto out;
	for (uint32_t i = 0; i < f->row_nr; i++)
		order[i] = (struct sort_item){rows[i].idx_pos, i};
	ret = sort_items(order, f->row_nr);
	if (ret < 0)
		goto out;
	for (uint32_t i = 0; i < f->row_nr; i++)
		sorted[order[i].value] = i;
	for (uint32_t i = 0; i < f->row_nr; i++) {
		struct bitmap_row row = rows[order[i].value];

		if (row.xor_row != BITMAP_NO_XOR)
			row.xor_row = sorted[row.xor_row];
		f->rows[i] = row;
	}
out:
	free(order);
	free(sorted);
	return ret;
}

/*
 * Finds the entries of a bitmap file that has no lookup table, by skipping over
 * each entry.
 */
static int scan_entries(struct bitmap_file *f, struct cursor *c,
			struct error *err)
{
	struct bitmap_row *rows;
	size_t alloc = 0;
	int ret = 0;

	rows = NULL;
	for (uint32_t i = 0; i < f->row_nr && !ret; i++) {
		struct bitmap_row row = {0, BITMAP_NO_XOR, offset_of(f, c)};
		uint8_t xor_offset = 0;

		if (!skip_entry(c, &row.idx_pos, &xor_offset))
			ret = corrupt(f, row.off, "entry is cut short", err);
		else if (xor_offset > i || xor_offset > BITMAP_MAX_XOR_OFFSET)
			ret = corrupt(f, row.off, "invalid XOR offset", err);
		else if (mem_grow(&rows, &alloc, i + 1, sizeof(*rows)) < 0)
			ret = error_nomem(err);
		if (ret < 0)
			break;
		if (xor_offset)
			row.xor_row = i - xor_offset;
		rows[i] = row;
	}
	if (!ret && sort_rows(f, rows) < 0)
		ret = error_nomem(err);
	free(rows);
	return ret;
}

/*
 * Before the call, f->row_nr counts only the rows of this file. Adds the number
 * of rows of the layers below. If this file has no pseudo-merges, takes the
 * pseudo-merges of the layers below. Returns 0 or ERR_CORRUPT.
 */
static int stack(struct bitmap_file *f, struct error *err)
{
	const struct bitmap_file *base = f->base;

	if (!base)
		return 0;
	if (f->row_nr >= UINT32_MAX - 1 - base->row_nr)
		return corrupt(f, 0, "too many bitmaps in the layers", err);
	f->base_row_nr = base->row_nr;
	f->row_nr += base->row_nr;
	if (!f->pseudo.nr) {
		f->pseudo = base->pseudo;
		f->pseudo.object_nr = f->object_nr;
	}
	return 0;
}

int bitmap_file_parse(struct bitmap_file *f, const void *bytes, size_t len,
		      uint32_t object_nr, enum hash_algo algo, const char *name,
		      struct error *err)
{
	return bitmap_file_parse_layer(f, bytes, len, object_nr, NULL, algo,
				       name, err);
}

int bitmap_file_parse_layer(struct bitmap_file *f, const void *bytes,
			    size_t len, uint32_t object_nr,
			    const struct bitmap_file *base, enum hash_algo algo,
			    const char *name, struct error *err)
{
	struct cursor c = cursor_make(bytes, len);
	int ret;

	*f = (struct bitmap_file){
		.bytes = bytes,
		.len = len,
		.name = name,
		.algo = algo,
		.base = base,
		.object_nr = object_nr,
	};
	ret = parse_header(f, &c, err);
	if (!ret)
		ret = parse_tail(f, &c, err);
	if (!ret)
		ret = parse_types(f, &c, err);
	if (!ret && !f->lookup)
		ret = scan_entries(f, &c, err);
	if (!ret)
		ret = stack(f, err);
	if (ret < 0)
		bitmap_file_release(f);
	return ret;
}

void bitmap_file_release(struct bitmap_file *f)
{
	free(f->rows);
	memset(f, 0, sizeof(*f));
}

static int verify_one(const struct bitmap_file *f, struct error *err)
{
	int ret = hash_check_trailer(f->bytes, f->len, f->algo, f->name, NULL);

	if (ret == ERR_NOMEM)
		return error_nomem(err);
	return ret < 0 ? corrupt(f, f->len - hash_len(f->algo),
				 "checksum does not match", err)
		       : 0;
}

int bitmap_file_verify(const struct bitmap_file *f, struct error *err)
{
	int ret = 0;

	for (; f && !ret; f = f->base)
		ret = verify_one(f, err);
	return ret;
}

uint64_t bitmap_file_len(const struct bitmap_file *f)
{
	uint64_t len = 0;

	for (; f; f = f->base)
		len += f->len;
	return len;
}

/* ---- types */

void bitmap_file_or_type(struct bitset *set, const struct bitmap_file *f,
			 enum bitmap_type type)
{
	for (; f; f = f->base)
		ewah_or_into(set, &f->types[type]);
}

void bitmap_file_andnot_type(struct bitset *set, const struct bitmap_file *f,
			     enum bitmap_type type)
{
	for (; f; f = f->base)
		ewah_andnot_into(set, &f->types[type]);
}

size_t bitmap_file_count_type(const struct bitmap_file *f,
			      enum bitmap_type type)
{
	size_t nr = 0;

	for (; f; f = f->base)
		nr += ewah_count(&f->types[type]);
	return nr;
}

size_t bitmap_file_count_type_in(const struct bitmap_file *f,
				 enum bitmap_type type,
				 const struct bitset *set)
{
	size_t nr = 0;

	for (; f; f = f->base)
		nr += ewah_count_and(&f->types[type], set);
	return nr;
}

bool bitmap_file_is_type(const struct bitmap_file *f, enum bitmap_type type,
			 uint32_t bit_pos)
{
	while (bit_pos < base_nr(f))
		f = f->base;
	return ewah_test(&f->types[type], bit_pos);
}

/* ---- rows */

/*
 * Returns the file of the layer to which a row belongs. *row becomes the row's
 * number within that file.
 */
static const struct bitmap_file *layer_of(const struct bitmap_file *f,
					  uint32_t *row)
{
	while (*row < f->base_row_nr)
		f = f->base;
	*row -= f->base_row_nr;
	return f;
}

static struct bitmap_row own_row(const struct bitmap_file *f, uint32_t row)
{
	const uint8_t *p;

	if (f->rows)
		return f->rows[row];
	p = f->lookup + (size_t)row * BITMAP_LOOKUP_ROW_LEN;
	return (struct bitmap_row){
		.idx_pos = load_be32(p),
		.off = load_be64(p + 4),
		.xor_row = load_be32(p + 12),
	};
}

struct bitmap_row bitmap_file_row(const struct bitmap_file *f, uint32_t row)
{
	const struct bitmap_file *layer = layer_of(f, &row);
	struct bitmap_row at = own_row(layer, row);

	if (at.xor_row == BITMAP_NO_XOR)
		return at;
	/*
	 * An invalid xor_row becomes UINT32_MAX - 1, a row that never exists
	 * because stack() limits the number of rows.
	 */
	at.xor_row = at.xor_row < own_row_nr(layer)
			     ? at.xor_row + layer->base_row_nr
			     : UINT32_MAX - 1;
	return at;
}

static int order_own(uint32_t *rows, const struct bitmap_file *f)
{
	uint32_t nr = own_row_nr(f);
	struct sort_item *items = mem_alloc(nr, sizeof(*items));
	int ret = items ? 0 : ERR_NOMEM;

	for (uint32_t i = 0; i < nr && !ret; i++)
		items[i] = (struct sort_item){own_row(f, i).off, i};
	if (!ret)
		ret = sort_items(items, nr);
	for (uint32_t i = 0; i < nr && !ret; i++)
		rows[f->base_row_nr + i] = f->base_row_nr + items[i].value;
	free(items);
	return ret;
}

int bitmap_file_order(uint32_t *rows, const struct bitmap_file *f)
{
	int ret = 0;

	for (; f && !ret; f = f->base)
		ret = order_own(rows, f);
	return ret;
}

static bool find_own(const struct bitmap_file *f, uint32_t idx_pos,
		     uint32_t *row)
{
	uint32_t low = 0, high = own_row_nr(f);

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		uint32_t at = own_row(f, mid).idx_pos;

		if (at == idx_pos) {
			*row = mid + f->base_row_nr;
			return true;
		}
		if (at < idx_pos)
			low = mid + 1;
		else
			high = mid;
	}
	return false;
}

bool bitmap_file_find(const struct bitmap_file *f, uint32_t idx_pos,
		      uint32_t *row)
{
	for (; f; f = f->base)
		if (find_own(f, idx_pos, row))
			return true;
	return false;
}

/*
 * Verifies the stored bitmap of a row, and sets *view to it. Returns 0 or
 * ERR_CORRUPT.
 */
static int view_entry(struct ewah_view *view, const struct bitmap_file *f,
		      const struct bitmap_row *row, struct error *err)
{
	struct cursor c;

	if (row->off > f->entries_end ||
	    f->entries_end - row->off < ENTRY_HEADER_LEN)
		return corrupt(f, f->entries_end,
			       "lookup table points past the entries", err);
	c = cursor_make(f->bytes + row->off, f->entries_end - row->off);
	if (load_be32(c.p) != row->idx_pos)
		return corrupt(f, row->off,
			       "lookup table and entry name different commits",
			       err);
	if ((c.p[4] != 0) != (row->xor_row != BITMAP_NO_XOR))
		return corrupt(f, row->off,
			       "lookup table and entry disagree about XOR",
			       err);
	c.p += ENTRY_HEADER_LEN;
	if (ewah_view_parse(view, &c, NULL) < 0)
		return corrupt(f, row->off, "malformed bitmap", err);
	if (view->bits > ((size_t)f->object_nr + 63) / 64 * 64)
		return corrupt(f, row->off, "bitmap is larger than its pack",
			       err);
	return 0;
}

/*
 * Replaces *row by the row with which its bitmap is XORed. Returns 1 on
 * success, 0 if *row is the end of the XOR chain, or ERR_CORRUPT.
 */
static int next_link(struct bitmap_row *row, const struct bitmap_file *f,
		     struct error *err)
{
	uint64_t off = row->off;

	if (row->xor_row == BITMAP_NO_XOR)
		return 0;
	if (row->xor_row >= own_row_nr(f))
		return corrupt(f, off, "XOR row out of range", err);
	*row = own_row(f, row->xor_row);
	if (row->idx_pos >= f->object_nr)
		return corrupt(f, row->off,
			       "the object number of a bitmap is out of range",
			       err);
	/*
	 * An entry is XORed only with an earlier entry, so there are no cycles.
	 */
	if (row->off >= off)
		return corrupt(f, off, "XOR chain does not go back", err);
	return 1;
}

/*
 * Works like next_link(), but also returns 0 if the set that is being filled
 * already contains the bitmap of the next row. `held` says which bitmaps the
 * set contains; it may be NULL.
 */
static int next_unheld(struct bitmap_row *row, const struct bitmap_file *f,
		       const struct bitmap_held *held, struct error *err)
{
	int ret = next_link(row, f, err);

	return ret > 0 && held && held->has(held->ctx, row->idx_pos) ? 0 : ret;
}

/* XORs into `set` every bitmap of the XOR chain that starts at `row`. */
static int xor_chain(struct bitset *set, const struct bitmap_file *f,
		     struct bitmap_row row, const struct bitmap_held *held,
		     struct error *err)
{
	int ret;

	do {
		struct ewah_view view;

		ret = view_entry(&view, f, &row, err);
		if (ret < 0)
			return ret;
		ewah_xor_into(set, &view);
		ret = next_unheld(&row, f, held, err);
	} while (ret > 0);
	return ret;
}

int bitmap_file_or_rest(struct bitset *set, const struct bitmap_file *f,
			uint32_t row_nr, const struct bitmap_held *held,
			struct bitset *scratch, struct error *err)
{
	const struct bitmap_file *layer = layer_of(f, &row_nr);
	struct bitmap_row row = own_row(layer, row_nr), next = row;
	struct ewah_view view;
	int ret;

	if (held && held->is_empty)
		return xor_chain(set, layer, row, NULL, err);
	ret = view_entry(&view, layer, &row, err);
	if (!ret)
		ret = next_unheld(&next, layer, held, err);
	if (ret <= 0) {
		if (!ret)
			ewah_or_into(set, &view);
		return ret;
	}
	if (bitset_grow(scratch, f->object_nr) < 0)
		return error_nomem(err);
	bitset_clear(scratch);
	ret = xor_chain(scratch, layer, row, held, err);
	if (!ret)
		bitset_or(set, scratch);
	return ret;
}

int bitmap_file_or(struct bitset *set, const struct bitmap_file *f,
		   uint32_t row, struct bitset *scratch, struct error *err)
{
	return bitmap_file_or_rest(set, f, row, NULL, scratch, err);
}

/* ---- how bitmaps are stored */
int bitmap_file_view(struct ewah_view *view, const struct bitmap_file *f,
		     uint32_t row, struct error *err)
{
	const struct bitmap_file *layer = layer_of(f, &row);
	struct bitmap_row at = own_row(layer, row);

	return view_entry(view, layer, &at, err);
}

static uint64_t view_len(const struct ewah_view *view)
{
	return EWAH_FRAME_LEN + (uint64_t)view->word_nr * 8;
}

int bitmap_file_stored(struct bitmap_stored *stored,
		       const struct bitmap_file *f, uint32_t row_nr,
		       struct error *err)
{
	const struct bitmap_file *layer = layer_of(f, &row_nr);
	struct bitmap_row row = own_row(layer, row_nr);
	struct ewah_view view;
	uint32_t depth = 0;
	int ret = view_entry(&view, layer, &row, err);

	if (ret < 0)
		return ret;
	stored->len = ENTRY_HEADER_LEN + view_len(&view);
	while ((ret = next_link(&row, layer, err)) > 0) {
		depth++;
		ret = view_entry(&view, layer, &row, err);
		if (ret < 0)
			return ret;
	}
	stored->depth = depth;
	return ret;
}

/*
 * Fills in stored[row_nr], which says how the bitmap of this row is stored. If
 * the bitmap is XORed with that of another row, `stored` must already have the
 * other row.
 */
static int stored_next(struct bitmap_stored *stored,
		       const struct bitmap_file *f, uint32_t row_nr,
		       struct error *err)
{
	uint32_t own = row_nr;
	const struct bitmap_file *layer = layer_of(f, &own);
	struct bitmap_row row = own_row(layer, own), base = row;
	struct ewah_view view;
	int ret = view_entry(&view, layer, &row, err);

	if (!ret)
		ret = next_link(&base, layer, err);
	if (ret < 0)
		return ret;
	stored[row_nr] = (struct bitmap_stored){
		.len = ENTRY_HEADER_LEN + view_len(&view),
		.depth = ret ? stored[layer->base_row_nr + row.xor_row].depth +
					 1
			     : 0,
	};
	return 0;
}

int bitmap_file_stored_all(struct bitmap_stored *stored,
			   const struct bitmap_file *f, struct error *err)
{
	uint32_t *order = mem_alloc(f->row_nr, sizeof(*order));
	int ret = 0;

	if (!order || bitmap_file_order(order, f) < 0)
		ret = error_nomem(err);
	for (uint32_t i = 0; i < f->row_nr && !ret; i++)
		ret = stored_next(stored, f, order[i], err);
	free(order);
	return ret;
}

/* Adds the lengths of the sections of one layer's file to *s. */
static void add_sections(struct bitmap_sections *s, const struct bitmap_file *f)
{
	uint64_t header = HEADER_LEN + hash_len(f->algo), types = 0, lookup = 0;
	uint64_t cache = 0;

	for (int i = 0; i < BITMAP_TYPE_NR; i++)
		types += view_len(&f->types[i]);
	if (f->hash_cache)
		cache = (uint64_t)(f->object_nr - base_nr(f)) * 4;
	if (f->lookup)
		lookup = (uint64_t)own_row_nr(f) * BITMAP_LOOKUP_ROW_LEN;
	s->header += header;
	s->types += types;
	s->entries += f->entries_end - header - types;
	s->pseudo_merges += f->len - f->entries_end - lookup - cache -
			    hash_len(f->algo);
	s->lookup_table += lookup;
	s->hash_cache += cache;
	s->checksum += hash_len(f->algo);
}

void bitmap_file_sections(struct bitmap_sections *s,
			  const struct bitmap_file *f)
{
	*s = (struct bitmap_sections){0};
	for (; f; f = f->base)
		add_sections(s, f);
}

uint32_t bitmap_file_name_hash(const struct bitmap_file *f, uint32_t idx_pos)
{
	if (idx_pos >= f->object_nr)
		return 0;
	while (idx_pos < base_nr(f))
		f = f->base;
	if (!f->hash_cache)
		return 0;
	return load_be32(f->hash_cache + (size_t)(idx_pos - base_nr(f)) * 4);
}
