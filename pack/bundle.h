/* SPDX-License-Identifier: MIT */
/*
 * Headers of bundles (gitformat-bundle(5)). A header lists the refs of the
 * bundle and the prerequisites: commits that the receiver must have. A pack
 * follows.
 *
 * 	# v3 git bundle\n
 * 	@object-format=sha1\n                          v3 only: capabilities
 * 	@filter=blob:none\n
 * 	-32faa372834dbccd12b8003e793b6b0591764dc8 subject\n   prerequisites
 * 	02c5cacac4813ddaa6b7778e720625e8084153df refs/heads/main\n
 * 	\n
 * 	PACK...
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
	/* owned: specification of the object filter; NULL: no filter */
	char *filter;
	struct bundle_items prerequisites, refs;
};

/*
 * Makes an empty header: version 2, without capabilities, prerequisites and
 * refs.
 */
void bundle_header_init(struct bundle_header *header, enum hash_algo algo);
void bundle_header_release(struct bundle_header *header);

/*
 * Appends a ref or a prerequisite to a list. The id and the text are copied.
 * Returns 0 or ERR_NOMEM.
 */
int bundle_items_add(struct bundle_items *items, const struct oid *oid,
		     const char *text, size_t text_len);

/*
 * Parses the header at the start of the `len` bytes of the file `name`.
 * Returns 1 with the length of the header, including its blank line, in
 * *header_len. Returns 0 if `is_all` is false and the blank line is not among
 * the bytes: call the function again with more bytes. If `is_all` is true, the
 * file has no more bytes, and the header may end without a blank line. Returns
 * ERR_CORRUPT with the message of stock Git, or ERR_NOMEM. The caller releases
 * *header in any case.
 */
int bundle_header_parse(struct bundle_header *header, size_t *header_len,
			const void *bytes, size_t len, bool is_all,
			const char *name, struct error *err);

/*
 * Appends the header as bytes, including its blank line. Returns 0 or
 * ERR_NOMEM.
 */
int bundle_header_format(struct buf *out, const struct bundle_header *header);

#endif
