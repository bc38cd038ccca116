/* SPDX-License-Identifier: MIT */
/*
 * Headers of bundles (gitformat-bundle(5)): refs, and what the receiver must
 * have, before a pack.
 *
 *	# v3 git bundle\n
 *	@object-format=sha1\n                          v3 only: capabilities
 *	@filter=blob:none\n
 *	-32faa372834dbccd12b8003e793b6b0591764dc8 subject\n   prerequisites
 *	02c5cacac4813ddaa6b7778e720625e8084153df refs/heads/main\n
 *	\n
 *	PACK...
 */
#ifndef PACK_BUNDLE_H
#define PACK_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/oid.h"

struct bundle_item {
	struct oid oid;
	/* owned: a ref's name, or the comment on a prerequisite */
	char *text;
};

struct bundle_items {
	struct bundle_item *items; /* owned */
	size_t nr, alloc;
};

struct bundle_header {
	unsigned version; /* 2 or 3 */
	enum hash_algo algo;
	/* owned: its specification; NULL: everything is there */
	char *filter;
	struct bundle_items prerequisites, refs;
};

/* Empty, of version 2. */
void bundle_header_init(struct bundle_header *header, enum hash_algo algo);
void bundle_header_release(struct bundle_header *header);

/* Append; both are copied. 0 or ERR_NOMEM. */
int bundle_items_add(struct bundle_items *items, const struct oid *oid,
		     const char *text, size_t text_len);

/*
 * Parse the beginning of a file. 1, with the length of the header, its blank
 * line included, in *header_len; 0 when it goes on behind these bytes, unless
 * `is_all` says that there are no more: it ends with them then. ERR_CORRUPT in
 * Git's words, where `name` is that of the file; ERR_NOMEM. Release in any
 * case.
 */
int bundle_header_parse(struct bundle_header *header, size_t *header_len,
			const void *bytes, size_t len, bool is_all,
			const char *name, struct error *err);

/* Append it as bytes, the blank line too. 0 or ERR_NOMEM. */
int bundle_header_format(struct buf *out, const struct bundle_header *header);

#endif
