/* SPDX-License-Identifier: MIT */
/*
 * The state of one push, which all parts of receive/ share: the client, the
 * request, the configuration, the refs and the quarantine.
 *
 * receive-pack.c calls the parts. A part calls this file and receive-peer.h,
 * and never receive-pack.c.
 *
 * Threads: one thread uses a struct receive. Only messages to the client may
 * come from other threads, see receive-peer.h.
 */
#ifndef RECEIVE_RECEIVE_H
#define RECEIVE_RECEIVE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/oid.h"
#include "receive/push-nonce.h"
#include "receive/receive-commands.h"
#include "receive/receive-config.h"
#include "receive/receive-pack.h"
#include "receive/receive-peer.h"
#include "receive/receive-quarantine.h"
#include "repo/signature.h"
#include "wire/refview.h"
#include "wire/summary.h"
#include "wire/visible.h"

/*
 * The certificate of a signed push. receive_cert_init() sets the first two
 * members, and receive_cert_judge() sets the others.
 */
struct receive_cert {
	/* nonce of this process; empty: no signed pushes */
	struct buf issued;
	/* seconds since 1970 at which `issued` was made */
	int64_t seconds;
	/* the members below are set */
	bool is_judged;
	/* the blob that holds the certificate */
	struct oid oid;
	struct signature_check signature;
	struct push_nonce_check nonce;
	/* owned: nonce in the certificate, or NULL */
	char *nonce_text;
};

struct receive {
	const struct receive_options *options; /* borrowed */
	const struct repo *repo;               /* borrowed from options */
	struct receive_config config;
	struct receive_peer peer;
	/* without the refs of receive.hideRefs */
	struct refview refs;
	/* `refs` has to be released */
	bool refs_are_open;
	struct receive_request request;
	struct receive_cert cert;
	struct summary summary; /* for traces */
	struct quarantine
		quarantine; /* holds objects until they are accepted */
	bool is_limit;      /* see visible_is_limit() */
	/* owned: opened by receive_sees() */
	struct visible *visible;
};

/*
 * Load the configuration and open the refs. `options` and `io` must outlive *r,
 * and *r must not be moved in memory. Returns 0 or a negative error code.
 * Release *r in both cases.
 */
int receive_init(struct receive *r, const struct receive_options *options,
		 const struct serve_io *io, struct error *err);
void receive_release(struct receive *r);

/*
 * Remove what is left of the quarantine, and the .keep of a migrated pack. If
 * the directory cannot be removed, a warning goes to options->tell: `git prune`
 * removes the directory later. May be called twice.
 */
void receive_discard(struct receive *r);

/*
 * If r->is_limit: check whether the client may know that an object exists in
 * the repository. Returns 1 if the client could have fetched the object, 0 if
 * not, or a negative error code. The first call opens r->visible. Costs: see
 * wire/visible.h.
 */
int receive_sees(struct receive *r, const struct oid *oid, struct error *err);

#endif
