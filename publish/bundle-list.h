/* SPDX-License-Identifier: MIT */
/*
 * The list of published bundles, from which a clone can start (bundle-uri of
 * gitprotocol-v2(5)): a bundle of all branches and tags, and bundles of the
 * commits that are newer. The list is the file "bundle-list" in a repository's
 * directory of published files (publish/published.h), in Git's format of bundle
 * lists:
 *
 *	# pack 2dfefe690561880c46b83477cb615503bbf402b3
 *	# hidden <64 hex digits>
 *	[bundle]
 *		version = 1
 *		mode = all
 *		heuristic = creationToken
 *	[bundle "1700000000"]
 *		uri = 7d1665144a3a975c05f1f43902ddaf084e784dbe.bundle
 *		creationToken = 1700000000
 *
 * The first line names the repository's pack from which the first bundle was
 * made. A repack replaces this pack, so the list is then obsolete. The second
 * line is the SHA-256 of the hide rules for which the bundles were made
 * (refview_rules_id()). A client to which other rules apply gets no bundle. The
 * name of a bundle's file is the hash of its bytes. Tokens ascend.
 */
#ifndef PUBLISH_BUNDLE_LIST_H
#define PUBLISH_BUNDLE_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/oid.h"

#define BUNDLE_LIST_FILE "bundle-list"

/* Maximum number of bundles in a list. */
#define BUNDLE_LIST_MAX 4

struct bundle_list_item {
	/* hash of the file; the name of the file is this hash and ".bundle" */
	struct oid hash;
	uint64_t token;
};

struct bundle_list {
	enum hash_algo algo;
	/*
	 * checksum of the pack of prepared answers from which the first bundle
	 * was made; zero: the repository had no prepared answers
	 */
	struct oid pack;
	/* hash of the hide rules: SHA-256, even if `algo` is SHA-1 */
	struct oid rules;
	/* the first bundle has no prerequisites; tokens ascend */
	struct bundle_list_item items[BUNDLE_LIST_MAX];
	size_t nr;
};

/*
 * Parse a list. Returns 0, ERR_CORRUPT if it is not a list that
 * bundle_list_format() has written, or ERR_NOMEM.
 */
int bundle_list_parse(struct bundle_list *list, const char *text, size_t len,
		      enum hash_algo algo, struct error *err);

/* Append the text of a list. Returns 0 or ERR_NOMEM. */
int bundle_list_format(struct buf *out, const struct bundle_list *list);

/*
 * Read the list of bundles in `place`, a directory of published files. Returns
 * 1 if there is a list, 0 if not, or a negative error code: ERR_IO, or those of
 * bundle_list_parse().
 */
int bundle_list_read(struct bundle_list *list, const char *place,
		     enum hash_algo algo, struct error *err);

#endif
