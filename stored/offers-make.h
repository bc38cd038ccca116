/* SPDX-License-Identifier: MIT */
/*
 * Publishes packs of a repository in a store: packs that clients can download
 * from the store itself. Each of these packs is the content of a prepared
 * answer (prepared/prepared.h).
 *
 * `git store repack` repacks the repository in a temporary directory, and makes
 * the next generation (version) of the repository from the files of this
 * directory. Before that, stored_offers_make() writes the published packs and a
 * list of them (stored/offer-list.h) into the directory:
 *
 *	prepared answers  ->  publish/<checksum>.pack  ->  files of the
 *	                      objects/info/published       next generation
 *
 * publish/publish.h decides which packs are published, and makes sure that they
 * have no object that clients are not allowed to see.
 */
#ifndef STORED_OFFERS_MAKE_H
#define STORED_OFFERS_MAKE_H

#include "base/error.h"

/*
 * Writes the published packs and their list into a repository that nobody
 * changes meanwhile. Afterwards, the repository has no list if the
 * configuration does not ask for packs (gitreach.publishStore), or if no pack
 * is published. Returns 0 or a negative error code. After an error, there is no
 * list, and no published pack.
 */
int stored_offers_make(const char *dir, struct error *err);

#endif
