/* SPDX-License-Identifier: MIT */
/*
 * Publishes packs of a repository for its next generation, after a repack
 * (stored/offer-list.h):
 *
 *	prepared answers  ->  publish/<checksum>.pack  ->  files of the
 *	                      objects/info/published       next generation
 *
 * Which packs are published, and that none has objects that clients may not
 * see, is the work of publish/publish.h.
 */
#ifndef STORED_OFFERS_MAKE_H
#define STORED_OFFERS_MAKE_H

#include "base/error.h"

/*
 * Writes the published packs and their list into a repository that nobody
 * changes meanwhile. If the configuration does not ask for packs
 * (gitreach.publishStore), or if none is published, there is no list
 * afterwards. Returns 0 or a negative error code. After an error, there is no
 * list, and no published pack.
 */
int stored_offers_make(const char *dir, struct error *err);

#endif
