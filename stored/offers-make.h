/* SPDX-License-Identifier: MIT */
/*
 * After a repack, publishes packs of a repository: its next generation has them
 * and their list (stored/offer-list.h) among its files. Each of these packs is
 * the content of a prepared answer (prepared/prepared.h).
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
