/* SPDX-License-Identifier: MIT */
/*
 * Packs that a client gets elsewhere (Documentation/technical/packfile-uri of
 * Git): each of the operator's
 *
 *	uploadpack.blobPackfileUri = <blob> <pack> <uri>
 *
 * says where a pack with a blob lies. Of clients that take such URIs, the blob
 * is left out of what is sent, and the URI told instead. What lies there is
 * not looked at.
 */
#ifndef SERVE_PACK_URIS_H
#define SERVE_PACK_URIS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "config/config.h"
#include "object/oid.h"
#include "wire/pktline.h"

struct pack_uri {
	struct oid blob;
	const char *told; /* "<pack> <uri>", borrowed */
	const char *uri;  /* the end of it */
};

struct pack_uris {
	struct pack_uri *items; /* owned */
	size_t nr, alloc;
};

/*
 * Load the configuration, which is borrowed. 0, ERR_INVALID for a value of
 * another form, or ERR_NOMEM. Release in any case.
 */
int pack_uris_load(struct pack_uris *uris, const struct config *config,
		   enum hash_algo algo, struct error *err);
void pack_uris_release(struct pack_uris *uris);

/* Those that a client takes, for one fetch. */
struct pack_offer {
	struct oid *blobs; /* owned: `nr` */
	const char **told; /* owned: of each; strings borrowed */
	size_t nr;
};

/*
 * Choose those of the protocols that a client takes, like "http,https". 0 or
 * ERR_NOMEM. Release in any case.
 */
int pack_offer_init(struct pack_offer *offer, const struct pack_uris *uris,
		    const char *protocols, struct error *err);
void pack_offer_release(struct pack_offer *offer);

/*
 * Write the packfile-uris section for the blobs that were left out, if any. 0
 * or negative.
 */
int pack_offer_tell(const struct pack_offer *offer, const bool *left_out,
		    struct pktline_writer *out, struct error *err);

#endif
