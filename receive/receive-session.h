/* SPDX-License-Identifier: MIT */
/*
 * One push: its connection, what it asks for, and what has been found out.
 *
 * One thread, but for the side band, which may be written to by others.
 */
#ifndef RECEIVE_RECEIVE_SESSION_H
#define RECEIVE_RECEIVE_SESSION_H

#include <stdbool.h>

#include "base/error.h"
#include "receive/receive-cert.h"
#include "receive/receive-commands.h"
#include "receive/receive-config.h"
#include "receive/receive-pack.h"
#include "receive/receive-peer.h"
#include "receive/receive-quarantine.h"
#include "wire/refview.h"
#include "wire/summary.h"
#include "wire/visible.h"

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
 * With is_limit: whether the pusher may know of an object that was there
 * before, because it could have fetched it. 1, 0 or negative.
 */
int receive_sees(struct receive *r, const struct oid *oid, struct error *err);

#endif
