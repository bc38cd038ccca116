/* SPDX-License-Identifier: MIT */
/* Writes the pseudo-merge section of a bitmap file. */
#include "base/mem.h"
#include "base/sort.h"
#include "bitmap/file-write.h"

struct writing {
	struct buf *out;
	/* offset in *out at which the file begins */
	size_t base;
	/*
	 * owned array, indexed by number of a pseudo-merge: offset of the
	 * pseudo-merge in the file
	 */
	uint64_t *offs;
	/*
	 * owned: pairs (bit_pos of a commit, number of a pseudo-merge that
	 * contains the commit), sorted by bit_pos
	 */
	struct sort_item *members;
	size_t member_nr, member_alloc;
	/* number of different commits in `members` */
	uint32_t row_nr;
};

static int add_members(struct writing *w, const struct ewah_view *commits,
		       uint32_t nr)
{
	struct ewah_bit_iter it;
	size_t bit;

	ewah_bit_iter_init(&it, commits);
	while (ewah_bit_iter_next(&it, &bit)) {
		if (mem_grow(&w->members, &w->member_alloc, w->member_nr + 1,
			     sizeof(*w->members)) < 0)
			return ERR_NOMEM;
		w->members[w->member_nr++] = (struct sort_item){bit, nr};
	}
	return 0;
}

static int write_sets(struct writing *w,
		      const struct bitmap_write_pseudo *pseudo, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		struct ewah_view commits = ewah_view_of(pseudo[i].commits);
		struct ewah_view objects = ewah_view_of(pseudo[i].objects);

		w->offs[i] = w->out->len - w->base;
		if (ewah_view_write(w->out, &commits) < 0 ||
		    ewah_view_write(w->out, &objects) < 0 ||
		    add_members(w, &commits, i) < 0)
			return ERR_NOMEM;
	}
	return sort_items(w->members, w->member_nr);
}

/* Returns the index after the last pair with the same commit as pair `from`. */
static size_t end_of_commit(const struct writing *w, size_t from)
{
	size_t to = from + 1;

	while (to < w->member_nr && w->members[to].key == w->members[from].key)
		to++;
	return to;
}

static int write_rows(struct writing *w)
{
	uint64_t extended;

	for (size_t i = 0; i < w->member_nr; i = end_of_commit(w, i))
		w->row_nr++;
	extended = w->out->len - w->base +
		   (uint64_t)w->row_nr * PSEUDO_MERGE_ROW_LEN;
	for (size_t i = 0, to; i < w->member_nr; i = to) {
		uint64_t off = w->offs[w->members[i].value];

		to = end_of_commit(w, i);
		if (to - i > 1) {
			off = extended | PSEUDO_MERGE_EXTENDED;
			extended += 4 + (to - i) * 8;
		}
		if (buf_append_be32(w->out, (uint32_t)w->members[i].key) < 0 ||
		    buf_append_be64(w->out, off) < 0)
			return ERR_NOMEM;
	}
	return 0;
}

static int write_extended(struct writing *w)
{
	for (size_t i = 0, to; i < w->member_nr; i = to) {
		to = end_of_commit(w, i);
		if (to - i == 1)
			continue;
		if (buf_append_be32(w->out, (uint32_t)(to - i)) < 0)
			return ERR_NOMEM;
		for (size_t k = i; k < to; k++)
			if (buf_append_be64(w->out,
					    w->offs[w->members[k].value]) < 0)
				return ERR_NOMEM;
	}
	return 0;
}

static int write_footer(struct writing *w, uint32_t nr, uint64_t to_lookup)
{
	uint64_t start = w->offs[0];

	for (uint32_t i = 0; i < nr; i++)
		if (buf_append_be64(w->out, w->offs[i]) < 0)
			return ERR_NOMEM;
	if (buf_append_be32(w->out, nr) < 0 ||
	    buf_append_be32(w->out, w->row_nr) < 0 ||
	    buf_append_be64(w->out, to_lookup) < 0)
		return ERR_NOMEM;
	return buf_append_be64(w->out, w->out->len - w->base - start + 8);
}

int pseudo_merges_write(struct buf *out, size_t base,
			const struct bitmap_write_pseudo *pseudo, uint32_t nr)
{
	struct writing w = {
		.out = out,
		.base = base,
		.offs = mem_alloc(nr, sizeof(*w.offs)),
	};
	size_t start = out->len;
	uint64_t to_lookup;
	int ret = w.offs ? write_sets(&w, pseudo, nr) : ERR_NOMEM;

	to_lookup = out->len - start;
	if (!ret)
		ret = write_rows(&w);
	if (!ret)
		ret = write_extended(&w);
	if (!ret)
		ret = write_footer(&w, nr, to_lookup);
	free(w.offs);
	free(w.members);
	return ret;
}
