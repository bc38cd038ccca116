/* SPDX-License-Identifier: MIT */
/*
 * One push: its connection, what it asks for, and what has been found out.
 *
 * One thread, but for the side band, which may be written to by others.
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

/* The certificate of a signed push. */
struct receive_cert {
	struct buf issued; /* the nonce of this process; empty: not asked for */
	int64_t seconds;   /* when it was issued */
	/* Found out by receive_cert_judge(). */
	bool is_judged;
	struct oid oid; /* of the blob */
	struct signature_check signature;
	struct push_nonce_check nonce;
	char *nonce_text; /* owned: that of the certificate, or NULL */
};

struct receive {
	const struct receive_options *options; /* borrowed */
	const struct repo *repo;               /* borrowed from options */
	struct receive_config config;
	struct receive_peer peer;
	struct refview refs;
	bool refs_are_open;
	struct receive_request request;
	struct receive_cert cert;
	struct summary summary;       /* of the push */
	struct quarantine quarantine; /* of objects; gone when migrated */
	bool is_limit;                /* see visible_is_limit() */
	struct visible *visible;      /* owned: with is_limit, when needed */
};

/* 0 or negative; release in any case. */
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
 * With is_limit: whether the pusher may know of an object that was there
 * before, because it could have fetched it. 1, 0 or negative.
 */
int receive_sees(struct receive *r, const struct oid *oid, struct error *err);

#endif
