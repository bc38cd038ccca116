/* SPDX-License-Identifier: MIT */
/*
 * The configuration of fetches, read once for each connection. The struct is
 * immutable after loading; threads may share it.
 *
 * The keys of filters (serve/filter-policy.c) and of hidden refs
 * (wire/refview.h) are not read here. A bad value of such a key fails only the
 * requests that need it.
 */
#ifndef SERVE_SERVE_CONFIG_H
#define SERVE_SERVE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "config/config.h"
#include "object/oid.h"
#include "publish/published.h"
#include "repo/repo.h"
#include "wire/pktline.h"

/*
 * ---- promisor-remotes.c
 *
 * If the served repository is a partial clone, its promisor remotes have the
 * objects that are missing here. The server advertises these remotes, and a
 * client may fetch from them too (capability promisor-remote of
 * gitprotocol-v2(5)).
 *
 * Configuration:
 *
 *	promisor.advertise, promisor.sendFields
 *	remote.<name>.promisor, .url, .partialCloneFilter, .token
 *
 * Example of an advertised value:
 *
 *	name=cdn,url=https://cdn/x;name=two,url=/srv/two,token=a%20b
 */

struct promisor_remote {
	char *name; /* owned */
	/* The next three strings are borrowed from the configuration. */
	const char *url; /* not empty */
	/* NULL: not set, or not named in promisor.sendFields */
	const char *filter;
	/* NULL: not set, or not named in promisor.sendFields */
	const char *token;
};

struct promisor_remotes {
	/* owned; in the order of the configuration */
	struct promisor_remote *items;
	/* number of remotes; 0: no remote is advertised */
	size_t nr, alloc;
};

/*
 * Reads the promisor remotes to advertise. Without promisor.advertise there are
 * none. Remotes without a URL are left out. `config` must outlive *remotes. If
 * promisor.sendFields has an unknown field, *warning says so. Returns 0,
 * ERR_INVALID for a bad value, or ERR_NOMEM. The caller calls
 * promisor_remotes_release() in each case.
 */
int promisor_remotes_load(struct promisor_remotes *remotes,
			  const struct config *config, struct error *warning,
			  struct error *err);
void promisor_remotes_release(struct promisor_remotes *remotes);

/*
 * Appends the value of the capability promisor-remote to *out. Returns 0 or
 * ERR_NOMEM.
 */
int promisor_remotes_print(struct buf *out,
			   const struct promisor_remotes *remotes);

/*
 * Checks the value of promisor-remote that the client sent, a list
 * "<name>;<name>" of accepted remotes. Returns 1 if at least one name is an
 * advertised remote, 0 if none is, or ERR_NOMEM. *warning describes the last
 * name that is not an advertised remote.
 */
int promisor_remotes_accepted(const struct promisor_remotes *remotes,
			      const char *names, struct error *warning);

/*
 * ---- pack-uris.c
 *
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

/*
 * One value of uploadpack.blobPackfileUri. The strings are borrowed from the
 * configuration.
 */
struct pack_uri {
	struct oid blob;
	/*
	 * "<pack> <uri>", a line of the section "packfile-uris" of the response
	 */
	const char *told;
	const char *uri; /* points into `told` */
};

/*
 * All values of uploadpack.blobPackfileUri, in the order of the configuration.
 */
struct pack_uris {
	struct pack_uri *items; /* owned */
	size_t nr, alloc;
};

/*
 * Reads uploadpack.blobPackfileUri. `config` must outlive *uris. Returns 0,
 * ERR_INVALID for a malformed value, or ERR_NOMEM. The caller calls
 * pack_uris_release() in each case.
 */
int pack_uris_load(struct pack_uris *uris, const struct config *config,
		   enum hash_algo algo, struct error *err);
void pack_uris_release(struct pack_uris *uris);

/*
 * The packs on other servers that are offered to one client: either packs of
 * blobs, or published packs (publish/published.h).
 */
struct pack_offer {
	struct oid *blobs; /* owned; `nr` ids */
	/* owned array; `nr` borrowed strings "<pack> <uri>" */
	const char **told;
	size_t nr;
	/* published.nr is 0: no packs of a web server are offered */
	struct published published;
	/* owned; NULL: no packs of a store are offered */
	struct stored_offers *stored;
	/* the pack that pack_offer_has() found last, and its URI */
	struct oid found;
	struct buf uri;
	enum hash_algo algo;
};

/*
 * Chooses the packs whose URI has a protocol in the client's list, for example
 * "http,https". *uris must outlive *offer. Returns 0 or ERR_NOMEM. The caller
 * calls pack_offer_release() in each case.
 */
int pack_offer_init(struct pack_offer *offer, const struct pack_uris *uris,
		    const char *protocols, struct error *err);
void pack_offer_release(struct pack_offer *offer);

/*
 * Offers the packs that a repository has published, if their URI has a protocol
 * in the client's list. *offer must be initialised, with offer->nr 0, and
 * `config` must outlive *offer. Returns 0 or ERR_NOMEM.
 */
int pack_offer_published(struct pack_offer *offer,
			 const struct published_config *config,
			 const struct odb *odb, const char *protocols,
			 struct error *err);

/*
 * Offers the packs that clients can download from a store (copies/offers.h), if
 * their URI has a protocol in the client's list. `repo` must be a local copy (a
 * cached replica) of a repository in this store. *offer must be initialised,
 * with offer->nr 0, and `config` must outlive *offer. Returns 0 or ERR_NOMEM.
 * If the packs cannot be offered, the function also returns 0, and *warning
 * says why.
 */
int pack_offer_stored(struct pack_offer *offer,
		      const struct published_config *config,
		      const struct repo *repo, const char *protocols,
		      struct error *warning, struct error *err);

/* Returns whether published packs are offered. */
static inline bool pack_offer_has_packs(const struct pack_offer *offer)
{
	return offer->published.nr || offer->stored;
}

/*
 * Returns whether a published pack with this checksum and length is offered. If
 * memory runs out, no pack is offered. The function is a callback for struct
 * packing_elsewhere; `ctx` is the struct pack_offer.
 */
bool pack_offer_has(void *ctx, const struct oid *checksum, uint64_t len);

/*
 * Adds to *hash the values that decide which published packs are offered
 * (published_identify()). Returns 1 if they were added, 0 if there are too many
 * packs to hash, or a negative error code.
 */
int pack_offer_identify(const struct pack_offer *offer, struct hash_ctx *hash,
			struct error *err);

/*
 * Writes the section "packfile-uris" of a fetch response, and the delim packet
 * that ends it. If left_out[i] is true, offer->blobs[i] is not in the pack that
 * is sent, and the client gets its URI. `pack` (may be NULL) is the checksum of
 * a published pack whose objects are not sent; the client gets the URI of this
 * pack. The latest call of pack_offer_has() must have found this pack. If the
 * client needs no URI, nothing is written. Returns 0 or a negative error code.
 */
int pack_offer_tell(const struct pack_offer *offer, const bool *left_out,
		    const struct oid *pack, struct pktline_writer *out,
		    struct error *err);

/* ---- serve-config.c */

/* lsrefs.unborn: whether ls-refs lists an unborn HEAD. */
enum serve_unborn {
	/* List an unborn HEAD, and advertise this feature. The default. */
	SERVE_UNBORN_ADVERTISE,
	SERVE_UNBORN_ALLOW,  /* yes */
	SERVE_UNBORN_IGNORE, /* no */
};

/* Which objects a v0/v1 client may want in addition to the advertised tips. */
struct serve_allow {
	/* tips of hidden refs: uploadpack.allowTipSHA1InWant */
	bool tip;
	/* objects that refs reach: uploadpack.allowReachableSHA1InWant */
	bool reachable;
	/*
	 * any object: uploadpack.allowAnySHA1InWant is true, and no later entry
	 * sets allowTipSHA1InWant or allowReachableSHA1InWant to false
	 */
	bool any;
};

struct serve_config {
	struct serve_allow allow; /* all false by default */
	/* uploadpack.allowRefInWant; protocol v2 only */
	bool allow_ref_in_want;
	bool allow_filter; /* uploadpack.allowFilter */
	/* uploadpack.allowSidebandAll; protocol v2 only */
	bool allow_sideband_all;
	/* uploadpack.advertiseBundleURIs; protocol v2 only */
	bool advertise_bundle_uris;
	bool advertise_sid; /* transfer.advertiseSID */
	/* transfer.advertiseObjectInfo; protocol v2 only */
	bool advertise_object_info;
	/* pack.useBitmaps, true by default */
	bool use_bitmaps;
	/*
	 * gitreach.reachableOnly: clients may only have objects that refs
	 * reach. visible_is_limit() defines the default.
	 * serve_config_load_limit() sets this field; until then, it is true.
	 */
	bool is_limit;
	enum serve_unborn unborn; /* lsrefs.unborn: v2 */
	/*
	 * uploadpack.keepAlive: seconds of silence before a keep-alive packet;
	 * default 5; 0: never
	 */
	uint64_t keep_alive;
	/* uploadpack.blobPackfileUri */
	struct pack_uris pack_uris;
	/* gitreach.publish* */
	struct published_config published;
	/* promisor.advertise and promisor.sendFields */
	struct promisor_remotes promisor_remotes;
	/*
	 * uploadpack.packObjectsHook, borrowed from the configuration; NULL:
	 * none. Values in the repository's own file are ignored.
	 */
	const char *pack_objects_hook;
};

/*
 * Returns whether clients may get URIs of packs on other servers. In this case
 * the server advertises packfile-uris.
 */
static inline bool serve_config_has_uris(const struct serve_config *config)
{
	return config->pack_uris.nr || config->published.store ||
	       (config->published.dir && config->published.uri);
}

/*
 * Reads the configuration of `repo`, which must outlive *config. If
 * promisor.sendFields has an unknown field, *warning says so. Returns 0,
 * ERR_INVALID for a bad value, or another negative error code. The caller calls
 * serve_config_release() in each case.
 */
int serve_config_load(struct serve_config *config, const struct repo *repo,
		      struct error *warning, struct error *err);

/*
 * Sets config->is_limit: whether clients may get only objects that refs reach.
 * serve_config_load() does not set this field, for two reasons. If
 * gitreach.reachableOnly is not set, files must be read to find the default
 * value (visible_is_limit()). And requests that only list refs do not need the
 * field. Returns 0 or a negative error code.
 */
int serve_config_load_limit(struct serve_config *config,
			    const struct repo *repo, struct error *err);
void serve_config_release(struct serve_config *config);

#endif
