/* SPDX-License-Identifier: MIT */
/*
 * What the configuration says about serving fetches, read once for each
 * connection. Immutable then; threads may share it.
 *
 * Two kinds of keys are not here, because a bad value is an error only for the
 * request that needs the key: filters (serve/filter-policy.h), and hidden refs
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

/* lsrefs.unborn */
enum serve_unborn {
	SERVE_UNBORN_ADVERTISE, /* answer, and say so in advance: the default */
	SERVE_UNBORN_ALLOW,     /* answer */
	SERVE_UNBORN_IGNORE,    /* do not answer */
};

/* Which objects a client may want beside the tips that are shown to it. */
struct serve_allow {
	bool tip;       /* tips of hidden refs: uploadpack.allowTipSHA1InWant */
	bool reachable; /* what refs reach: .allowReachableSHA1InWant */
	bool any;       /* any object: .allowAnySHA1InWant, and none of the two
			   was forbidden after it */
};

struct serve_config {
	struct serve_allow allow;   /* all false by default */
	bool allow_ref_in_want;     /* uploadpack.allowRefInWant: v2 */
	bool allow_filter;          /* uploadpack.allowFilter */
	bool allow_sideband_all;    /* uploadpack.allowSidebandAll: v2 */
	bool advertise_bundle_uris; /* uploadpack.advertiseBundleURIs: v2 */
	bool advertise_sid;         /* transfer.advertiseSID */
	bool advertise_object_info; /* transfer.advertiseObjectInfo: v2 */
	bool use_bitmaps;           /* pack.useBitmaps, true by default */
	bool is_limit;              /* gitreach.reachableOnly; the default is
				       in visible_is_limit() */
	enum serve_unborn unborn;   /* lsrefs.unborn: v2 */
	uint64_t keep_alive;        /* uploadpack.keepAlive: seconds of silence,
				       5 by default; 0: never */
	struct pack_uris pack_uris; /* uploadpack.blobPackfileUri */
	struct promisor_remotes promisor_remotes; /* promisor.advertise and
						     .sendFields */
	const char *pack_objects_hook; /* uploadpack.packObjectsHook, borrowed
					  from the configuration; NULL: none.
					  The repository's own file is not
					  asked */
};

/*
 * Read the configuration of `repo`, which must outlive *config. What is wrong
 * but does not matter is described in *warning. Returns 0, ERR_INVALID for a
 * bad value, or another negative error code. Release *config in any case.
 */
int serve_config_load(struct serve_config *config, const struct repo *repo,
		      struct error *warning, struct error *err);
void serve_config_release(struct serve_config *config);

#endif
