/* SPDX-License-Identifier: MIT */
/*
 * What a delta makes of a tree, entry by entry: which entries of its base come
 * back as they are, and which are new.
 *
 *	base    |  e0  |  e1  |  e2  |  e3  |  e4  |
 *	delta    copy------------xx     insert    copy-------------
 *	made    |  e0  |  e1  |  e2 x..yyyy  |  e3  |  e4  |
 *	         taken   taken   ^ parsed      taken  taken
 *
 * A delta says which stretches of its base come back. Where such a stretch
 * begins at an entry of the base while the new tree is between two entries,
 * all entries that lie in it whole are entries of the new tree: parsing goes
 * forward from where it stands and sees the same bytes. So they are taken, by
 * number, and only the few entries at the seams are put together and parsed.
 *
 * The new tree is what is taken and what is parsed, so that who knows all that
 * the base holds need look at what is parsed only. A parsed entry may be in the
 * base as well. One thread.
 */
#ifndef WALK_TREE_SPLICE_H
#define WALK_TREE_SPLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/parse.h"
#include "walk/objspace.h"

/* What the owner of a splice does. A negative return is ERR_NOMEM. */
struct tree_splice_ops {
	/* The bytes of entry i of the base, which begin there and last to its
	 * end; valid until the next call of one of these. */
	const uint8_t *(*old_bytes)(void *ctx, uint32_t i);
	/* Entries [first, last) of the base come next. */
	int (*take_old)(void *ctx, uint32_t first, uint32_t last);
	/* This entry comes next; it is valid during the call. */
	int (*take_new)(void *ctx, const struct tree_entry *entry);
};

/* Where the entries of a tree begin, and last its length: nr + 1 numbers. */
struct tree_starts {
	const uint32_t *starts; /* borrowed */
	uint32_t nr;
};

struct tree_splice {
	const struct tree_splice_ops *ops; /* borrowed, and so is ctx */
	void *ctx;
	enum hash_algo algo;
	bool with_starts; /* what follows is made; may be set between calls */
	uint32_t *starts; /* owned: of the tree that was made */
	size_t nr, alloc;
	uint32_t at;     /* where the next entry begins */
	struct buf part; /* bytes of an entry whose end is still to come */
};

void tree_splice_init(struct tree_splice *s, const struct tree_splice_ops *ops,
		      void *ctx, enum hash_algo algo);
void tree_splice_release(struct tree_splice *s);

/*
 * A tree that is there whole, `len` bytes: all its entries are new. Returns 0,
 * ERR_CORRUPT when tree_next() does not accept them, ERR_UNSUPPORTED when they
 * are 4 GiB or more, or ERR_NOMEM.
 */
int tree_splice_whole(struct tree_splice *s, const uint8_t *bytes, size_t len);

/*
 * What a delta makes from `base`. As tree_splice_whole(), but ERR_CORRUPT may
 * also mean that the tree is too odd for this; parsing its bytes decides. What
 * was given out before a failure counts for nothing.
 */
int tree_splice_delta(struct tree_splice *s, const struct tree_starts *base,
		      const uint8_t *delta, size_t delta_len);

/* What to say when the tree `obj_pos` met one of these errors; returns `code`.
 */
int tree_splice_error(int code, struct objspace *space, uint32_t obj_pos,
		      struct error *err);

#endif
