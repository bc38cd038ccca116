/* SPDX-License-Identifier: MIT */
/*
 * Keeps whole bitmaps of entries in memory, and decodes dropped bitmaps again.
 */
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "bitmap/build.h"

enum { GONE, KEPT, ASKED };

int bitmap_complete_init(struct bitmap_complete *c,
			 const struct bitmap_built *entries, size_t nr,
			 size_t limit, struct bitset *scratch)
{
	*c = (struct bitmap_complete){
		.entries = entries,
		.nr = nr,
		.kept = mem_calloc(nr, sizeof(*c->kept)),
		.state = mem_calloc(nr, 1),
		.limit = limit,
		.scratch = scratch,
	};
	return c->kept && c->state ? 0 : ERR_NOMEM;
}

void bitmap_complete_release(struct bitmap_complete *c)
{
	for (size_t i = 0; c->kept && i < c->nr; i++)
		ewah_release(&c->kept[i]);
	free(c->kept);
	free(c->state);
}

static size_t bytes_of(const struct ewah *bitmap)
{
	return bitmap->word_alloc * sizeof(*bitmap->words);
}

static void drop(struct bitmap_complete *c, size_t entry)
{
	c->bytes -= bytes_of(&c->kept[entry]);
	ewah_release(&c->kept[entry]);
	c->state[entry] = GONE;
}

/*
 * Drops kept bitmaps from memory until the rest takes at most c->limit bytes.
 * The bitmaps of the newest entries and of entry `but` stay.
 *
 * The clock algorithm visits each entry up to twice: at the first visit, a
 * bitmap that was used recently only loses its mark of recent use.
 */
static void make_room(struct bitmap_complete *c, size_t but)
{
	size_t end = c->end > BITMAP_COMPLETE_NEWEST
			     ? c->end - BITMAP_COMPLETE_NEWEST
			     : 0;

	if (!c->limit)
		return;
	for (size_t i = 0; i < 2 * end && c->bytes > c->limit; i++) {
		if (c->turn >= end)
			c->turn = 0;
		if (c->state[c->turn] == ASKED)
			c->state[c->turn] = KEPT;
		else if (c->state[c->turn] == KEPT && c->turn != but)
			drop(c, c->turn);
		c->turn++;
	}
}

static void keep(struct bitmap_complete *c, size_t entry, struct ewah *bitmap)
{
	c->kept[entry] = *bitmap;
	ewah_init(bitmap);
	c->state[entry] = ASKED;
	c->bytes += bytes_of(&c->kept[entry]);
	make_room(c, entry);
}

static void note_newest(struct bitmap_complete *c, size_t entry)
{
	if (c->end <= entry)
		c->end = entry + 1;
}

void bitmap_complete_put(struct bitmap_complete *c, size_t entry,
			 struct ewah *bitmap)
{
	note_newest(c, entry);
	keep(c, entry, bitmap);
}

static int make(struct bitmap_complete *c, size_t entry)
{
	struct ewah bitmap;
	size_t at = entry;
	unsigned back;

	bitset_clear(c->scratch);
	do {
		bool is_kept = c->state[at] != GONE;
		struct ewah_view link = ewah_view_of(
			is_kept ? &c->kept[at] : &c->entries[at].bitmap);

		ewah_xor_into(c->scratch, &link);
		back = is_kept ? 0 : c->entries[at].xor_offset;
		at -= back;
	} while (back);
	ewah_init(&bitmap);
	if (ewah_from_bitset(&bitmap, c->scratch) < 0)
		return ERR_NOMEM;
	keep(c, entry, &bitmap);
	return 0;
}

int bitmap_complete_get(struct bitmap_complete *c, size_t entry,
			struct ewah_view *view)
{
	note_newest(c, entry);
	if (!c->entries[entry].xor_offset) {
		*view = ewah_view_of(&c->entries[entry].bitmap);
		return 0;
	}
	if (c->state[entry] == GONE && make(c, entry) < 0)
		return ERR_NOMEM;
	c->state[entry] = ASKED;
	*view = ewah_view_of(&c->kept[entry]);
	return 0;
}
