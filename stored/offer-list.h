/* SPDX-License-Identifier: MIT */
/*
 * A generation (version) of a repository in a store may have published packs:
 * packs that clients may download from the store (packfile-uris of
 * gitprotocol-v2(5)). A file of the generation lists these packs:
 *
 *	gitreach published 1
 *	<checksum> <length> objects/pack/pack-<id>.pack
 *	<checksum> <length> publish/<checksum>.pack
 *
 * <checksum> is the trailer of the pack. Files below "publish/" are only in the
 * store, and never in a local copy of the repository.
 */
#ifndef STORED_OFFER_LIST_H
#define STORED_OFFER_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/oid.h"

/*
 * Paths of two kinds of files of a generation. STORED_OFFER_LIST is the list of
 * the published packs (packs that clients may download from the store). Below
 * STORED_OFFER_DIR are those published packs that are only files in the store:
 * a local copy of the repository does not get them. The other published packs
 * are ordinary packs of the repository.
 */
#define STORED_OFFER_LIST "objects/info/published"
#define STORED_OFFER_DIR "publish/"

/* maximum size of a list in bytes, and maximum number of packs in it */
#define STORED_OFFER_LIST_MAX ((size_t)64 << 10)
#define STORED_OFFER_MAX 256

/*
 * Returns whether `path` is below STORED_OFFER_DIR: such a file is only in the
 * store, and not in the directory of a repository.
 */
bool stored_offer_is_remote(const char *path);

struct stored_offer {
	struct oid checksum;
	uint64_t len; /* bytes, not 0 */
	/* owned: path in the generation */
	char *path;
};

struct stored_offer_list {
	struct stored_offer *items; /* owned */
	size_t nr;
};

/*
 * Parses a list. Returns 0 with *out owned by the caller, ERR_CORRUPT if the
 * list is malformed, or ERR_NOMEM. After an error, *out is zeroed.
 */
int stored_offer_list_parse(struct stored_offer_list *out, const char *text,
			    size_t len, enum hash_algo algo, struct error *err);
void stored_offer_list_release(struct stored_offer_list *list);

/*
 * stored_offer_list_begin() appends the first line of a list, and
 * stored_offer_list_append() appends the line of one pack. Both return 0 or
 * ERR_NOMEM.
 */
int stored_offer_list_begin(struct buf *out);
int stored_offer_list_append(struct buf *out, const struct stored_offer *offer,
			     enum hash_algo algo);

#endif
