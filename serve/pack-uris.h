/* SPDX-License-Identifier: MIT */
/*
 * Packs that a client downloads from other servers (see
 * Documentation/technical/packfile-uri of Git). The operator configures
 *
 *	uploadpack.blobPackfileUri = <blob> <pack> <uri>
 *
 * once for each blob: <uri> is the address of a pack that contains <blob>. If a
 * client accepts the URI's protocol, the server leaves the blob out of the pack
 * and sends "<pack> <uri>" instead. The server does not check the pack at the
 * URI.
 */
#ifndef SERVE_PACK_URIS_H
#define SERVE_PACK_URIS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "config/config.h"
#include "object/oid.h"
#include "wire/pktline.h"

/* One configured value. The strings are borrowed from the configuration. */
struct pack_uri {
	struct oid blob;
	/* "<pack> <uri>", as sent to clients */
	const char *told;
	const char *uri; /* points into `told` */
};

/* All configured values, in the order of the configuration. */
struct pack_uris {
	struct pack_uri *items; /* owned */
	size_t nr, alloc;
};

/*
 * Read uploadpack.blobPackfileUri. `config` must outlive *uris. Returns 0,
 * ERR_INVALID for a malformed value, or ERR_NOMEM. Call pack_uris_release()
 * in each case.
 */
int pack_uris_load(struct pack_uris *uris, const struct config *config,
		   enum hash_algo algo, struct error *err);
void pack_uris_release(struct pack_uris *uris);

/* The URIs that one client accepts. */
struct pack_offer {
	struct oid *blobs; /* owned; `nr` ids */
	/* owned; `nr` borrowed strings "<pack> <uri>" */
	const char **told;
	size_t nr;
};

/*
 * Choose the URIs whose protocol is in the client's list, which looks like
 * "http,https". *uris must outlive *offer. Returns 0 or ERR_NOMEM. Call
 * pack_offer_release() in each case.
 */
int pack_offer_init(struct pack_offer *offer, const struct pack_uris *uris,
		    const char *protocols, struct error *err);
void pack_offer_release(struct pack_offer *offer);

/*
 * Write the packfile-uris section with its delim packet. left_out[i] says
 * whether offer->blobs[i] was left out of the pack; only these URIs are sent.
 * If no blob was left out, nothing is written. Returns 0 or a negative error
 * code.
 */
int pack_offer_tell(const struct pack_offer *offer, const bool *left_out,
		    struct pktline_writer *out, struct error *err);

#endif
