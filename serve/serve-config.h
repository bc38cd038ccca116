/* SPDX-License-Identifier: MIT */
/*
 * The configuration of fetches, read once for each connection. The struct is
 * immutable after loading; threads may share it.
 *
 * Two kinds of keys are read elsewhere, because a bad value must fail only the
 * requests that need the key: filters (serve/filter-policy.h) and hidden refs
 * (wire/refview.h).
 */
#ifndef SERVE_SERVE_CONFIG_H
#define SERVE_SERVE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "repo/repo.h"
#include "serve/pack-uris.h"
#include "serve/promisor-remotes.h"

/* lsrefs.unborn: whether ls-refs lists an unborn HEAD. */
enum serve_unborn {
	/* yes, and advertise it; the default */
	SERVE_UNBORN_ADVERTISE,
	SERVE_UNBORN_ALLOW,  /* yes */
	SERVE_UNBORN_IGNORE, /* no */
};

/* Which objects a v0/v1 client may want besides the advertised tips. */
struct serve_allow {
	/* tips of hidden refs: uploadpack.allowTipSHA1InWant */
	bool tip;
	/* objects that refs reach: uploadpack.allowReachableSHA1InWant */
	bool reachable;
	/*
	 * any object: uploadpack.allowAnySHA1InWant is true, and no later entry
	 * sets one of the keys above to false
	 */
	bool any;
};

struct serve_config {
	struct serve_allow allow; /* all false by default */
	/* uploadpack.allowRefInWant: v2 */
	bool allow_ref_in_want;
	bool allow_filter; /* uploadpack.allowFilter */
	/* uploadpack.allowSidebandAll: v2 */
	bool allow_sideband_all;
	/* uploadpack.advertiseBundleURIs: v2 */
	bool advertise_bundle_uris;
	bool advertise_sid; /* transfer.advertiseSID */
	/* transfer.advertiseObjectInfo: v2 */
	bool advertise_object_info;
	/* pack.useBitmaps, true by default */
	bool use_bitmaps;
	/* gitreach.reachableOnly; the default is in visible_is_limit() */
	bool is_limit;
	enum serve_unborn unborn; /* lsrefs.unborn: v2 */
	/*
	 * uploadpack.keepAlive: seconds without output, 5 by default; 0: never
	 */
	uint64_t keep_alive;
	/* uploadpack.blobPackfileUri */
	struct pack_uris pack_uris;
	/* promisor.advertise and .sendFields */
	struct promisor_remotes promisor_remotes;
	/*
	 * uploadpack.packObjectsHook, borrowed from the configuration; NULL:
	 * none. The repository's own file is ignored
	 */
	const char *pack_objects_hook;
};

/*
 * Read the configuration of `repo`, which must outlive *config. Unknown words
 * in promisor.sendFields are described in *warning. Returns 0, ERR_INVALID for
 * a bad value, or another negative error code. Call serve_config_release() in
 * each case.
 */
int serve_config_load(struct serve_config *config, const struct repo *repo,
		      struct error *warning, struct error *err);
void serve_config_release(struct serve_config *config);

#endif
