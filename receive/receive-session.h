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
#include "receive/receive-quarantine.h"
#include "wire/pktline.h"
#include "wire/refview.h"
#include "wire/sideband.h"
#include "wire/summary.h"
#include "wire/visible.h"

struct receive {
	const struct receive_options *options; /* borrowed */
	const struct repo *repo;               /* borrowed from options */
	struct receive_config config;
	struct pktline_reader in;
	struct pktline_writer out;
	struct sideband band; /* mode NONE until the client asked for it */
	struct refview refs;
	bool refs_are_open;
	struct receive_request request;
	struct receive_cert cert;
	struct summary summary;       /* of the push */
	struct quarantine quarantine; /* of objects; gone when migrated */
	bool is_limit;                /* see visible_is_limit() */
	struct visible *visible;      /* owned: with is_limit, when needed */
	/* What is written goes through this: */
	struct serve_io io;
	const struct serve_io *client; /* borrowed */
	bool is_settling;  /* objects are in place, refs change: it goes on */
	struct error gone; /* code 0, or why the client hears nothing more */
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

/*
 * A line for the pusher's terminal, with its prefix and a line feed: on the
 * side band, or to options->tell. What cannot be sent is lost.
 */
void receive_tell(struct receive *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The same for text as it is, for instance of a hook. 0 or negative. */
int receive_tell_text(struct receive *r, const char *text, size_t len,
		      struct error *err);

/*
 * The same for what went wrong here, "error: <msg>": no paths on the band. Of
 * ERR_IO the owner of the disk reads where: on options->tell as well.
 */
void receive_tell_failure(struct receive *r, int code, const char *msg);

/*
 * What a pusher is not told: where on this machine something is. Of each
 * absolute path in a message its last part is left.
 */
void receive_hide_paths(char *msg);

#endif
