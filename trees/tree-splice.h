/* SPDX-License-Identifier: MIT */
/*
 * Applies a delta to a tree entry by entry: which entries of the base are
 * copied as they are, and which are new.
 *
 *	base    |  e0  |  e1  |  e2  |  e3  |  e4  |
 *	delta    copy------------xx     insert    copy-------------
 *	made    |  e0  |  e1  |  e2 x..yyyy  |  e3  |  e4  |
 *	         taken   taken   ^ parsed      taken  taken
 *
 * A delta copies ranges of its base. Suppose that a copied range begins at an
 * entry of the base, and is copied to a place between two entries of the new
 * tree. Then all entries that lie completely in the range are entries of the
 * new tree: parsing the new tree there would read the same bytes. Such entries
 * are taken by number. Only the few entries at the ends of ranges are assembled
 * and parsed.
 *
 * The new tree consists of the entries taken and the entries parsed. A caller
 * that knows all objects of the base only needs to look at the parsed ones. A
 * parsed entry may be in the base as well. For use by one thread.
 */
#ifndef TREES_TREE_SPLICE_H
#define TREES_TREE_SPLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/parse.h"
#include "trees/objspace.h"

/*
 * Callbacks of the functions in this header, set by their user. A negative
 * return value means ERR_NOMEM.
 */
struct tree_splice_ops {
	/*
	 * Returns the bytes of entry i of the base; valid until the next
	 * callback.
	 */
	const uint8_t *(*old_bytes)(void *ctx, uint32_t i);
	/*
	 * Receives the entries [first, last) of the base, which are also
	 * entries of the new tree.
	 */
	int (*take_old)(void *ctx, uint32_t first, uint32_t last);
	/*
	 * Receives an entry of the new tree that was parsed; valid during the
	 * call.
	 */
	int (*take_new)(void *ctx, const struct tree_entry *entry);
};

/*
 * The offsets at which the entries of a tree begin: nr + 1 numbers. The last
 * number is the length of the tree.
 */
struct tree_starts {
	const uint32_t *starts; /* borrowed */
	uint32_t nr;
};

struct tree_splice {
	const struct tree_splice_ops *ops; /* borrowed, and so is ctx */
	void *ctx;
	enum hash_algo algo;
	/*
	 * true: store in `starts` where the entries of the new tree begin. The
	 * caller may change this flag between two calls.
	 */
	bool with_starts;
	/*
	 * Owned. Set if with_starts: the offsets of the entries of the tree
	 * that the latest call has processed, as in struct tree_starts.
	 */
	uint32_t *starts;
	size_t nr, alloc;
	/* offset in the new tree at which the next entry begins */
	uint32_t at;
	/*
	 * If the bytes read so far end inside an entry of the new tree: the
	 * first bytes of this entry. Otherwise empty.
	 */
	struct buf part;
};

void tree_splice_init(struct tree_splice *s, const struct tree_splice_ops *ops,
		      void *ctx, enum hash_algo algo);
void tree_splice_release(struct tree_splice *s);

/*
 * Processes a tree of `len` bytes that is stored whole: reports all its entries
 * as new. Returns 0, ERR_CORRUPT if tree_next() does not accept the bytes,
 * ERR_UNSUPPORTED if there are 4 GiB or more, or ERR_NOMEM.
 */
int tree_splice_whole(struct tree_splice *s, const uint8_t *bytes, size_t len);

/*
 * Processes a tree that a delta makes from `base`. Returns 0 or an error code
 * of tree_splice_whole(). If it returns ERR_CORRUPT, the tree may still be
 * valid, in a form that this function cannot process. The caller must then
 * parse the tree's bytes. After any error, the caller must discard the entries
 * that the callbacks have received.
 */
int tree_splice_delta(struct tree_splice *s, const struct tree_starts *base,
		      const uint8_t *delta, size_t delta_len);

/*
 * Sets the error for the tree `obj_pos` after a function of this header has
 * returned `code`. Returns `code`.
 */
int tree_splice_error(int code, struct objspace *space, uint32_t obj_pos,
		      struct error *err);

#endif
