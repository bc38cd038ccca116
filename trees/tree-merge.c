/* SPDX-License-Identifier: MIT */
/*
 * Merges the entries of two trees by name. In the order of tree entries, a file
 * comes before a directory of the same name, so these two do not form a pair.
 */
#include <string.h>

#include "trees/tree-merge.h"

struct tree_merge tree_merge_make(struct cursor a, struct cursor b,
				  enum hash_algo algo)
{
	return (struct tree_merge){.a = a, .b = b, .algo = algo};
}

/*
 * Skips the entries at the start of both trees that are equal in all bytes. The
 * bytes of the first tree need not be parsed for this.
 */
static void skip_equal(struct tree_merge *m)
{
	struct cursor next = m->b;
	struct tree_entry entry;

	while (tree_next(&entry, &next, m->algo) > 0 &&
	       cursor_left(&m->a) >= entry.raw_len &&
	       !memcmp(m->a.p, entry.raw, entry.raw_len)) {
		cursor_skip(&m->a, entry.raw_len);
		m->b = next;
	}
}

int tree_merge_next(struct tree_merge *m, const struct tree_entry **a,
		    const struct tree_entry **b)
{
	struct cursor a_next, b_next;
	int a_more, b_more, order;

	skip_equal(m);
	a_next = m->a;
	b_next = m->b;
	a_more = tree_next(&m->a_entry, &a_next, m->algo);
	b_more = tree_next(&m->b_entry, &b_next, m->algo);
	if (a_more < 0 || b_more < 0) {
		m->is_a_bad = a_more < 0;
		return ERR_CORRUPT;
	}
	if (!a_more && !b_more)
		return 0;
	order = !a_more   ? 1
		: !b_more ? -1
			  : tree_name_cmp(&m->a_entry, &m->b_entry);
	*a = order <= 0 ? &m->a_entry : NULL;
	*b = order >= 0 ? &m->b_entry : NULL;
	if (*a)
		m->a = a_next;
	if (*b)
		m->b = b_next;
	return 1;
}
