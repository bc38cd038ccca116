/* SPDX-License-Identifier: MIT */
/*
 * Finds the packs that clients of a local copy can download from the store, and
 * the addresses of these packs. A local copy has one generation (version) of a
 * repository in a store, and the generation has a list of published packs.
 *
 *	list of published packs    <checksum> <length> <path>
 *	marker of the copy         <path> -> file in the store
 *	store                      file -> address, signed for some hours
 *
 * The marker of the copy is a file in the local copy. It says which generation
 * the copy has, and names the file in the store for each path.
 *
 * An address must not outlive the file in the store. When a newer generation
 * replaces an older one, the store keeps the older one's files for at least
 * STORED_GRACE_MIN (stored/successor.h). This time (the grace) is longer than
 * the sum of two other times:
 * - STORED_OFFERS_AGE_MAX: the time in seconds since a newer generation has
 *   replaced the generation of the copy. If more time has passed, the copy
 *   offers no addresses. The caller checks this (stored_copies_is_fresh()).
 * - PUBLISHED_LIFETIME_MAX (publish/published.h): the time for which a new
 *   address is valid.
 */
#ifndef COPIES_OFFERS_H
#define COPIES_OFFERS_H

#include "base/buf.h"
#include "base/error.h"
#include "object/oid.h"
#include "publish/published.h"

struct hash_ctx;
struct stored_offers;

/*
 * Number of seconds. Clients may download published packs from the store only
 * if the copy was up to date (had the newest generation) at some moment in the
 * last STORED_OFFERS_AGE_MAX seconds. Otherwise no packs are offered to them.
 */
#define STORED_OFFERS_AGE_MAX 3600

/*
 * Finds those published packs of the local copy in `dir` whose addresses have a
 * protocol in the list `protocols`, such as "http,https". `config` must outlive
 * *out. No request is sent. Returns 0 with *out owned by the caller, or NULL if
 * there are no such packs. Returns ERR_CORRUPT if the list of published packs
 * or the marker of the copy is damaged. Returns another negative error code if
 * the store cannot be opened, for example without keys. Cost: the list and the
 * marker are read, and a signature is computed.
 */
int stored_offers_open(struct stored_offers **out, const char *dir,
		       const struct published_config *config,
		       enum hash_algo algo, const char *protocols,
		       struct error *err);
/* NULL is allowed. */
void stored_offers_close(struct stored_offers *offers);

/*
 * Appends the address of the published pack with this checksum and length. A
 * signed address is valid from the call on, for config->store_lifetime seconds.
 * Returns 1 if the address was appended, 0 if there is no such pack, or a
 * negative error code.
 */
int stored_offers_find(struct buf *uri, const struct stored_offers *offers,
		       const struct oid *checksum, uint64_t len,
		       struct error *err);

/*
 * Adds to *hash the published packs that stored_offers_find() can find: their
 * checksums and their names in the store. The addresses are not added.
 */
void stored_offers_identify(const struct stored_offers *offers,
			    struct hash_ctx *hash);

#endif
