/* SPDX-License-Identifier: MIT */
/*
 * Remotes from which a partial clone that is served has what it does not hold,
 * told to clients that may want to use them as well (promisor-remote of
 * gitprotocol-v2(5)):
 *
 *	promisor.advertise, promisor.sendFields
 *	remote.<name>.promisor, .url, .partialCloneFilter, .token
 *
 *	name=cdn,url=https://cdn/x;name=two,url=/srv/two,token=a%20b
 */
#ifndef SERVE_PROMISOR_REMOTES_H
#define SERVE_PROMISOR_REMOTES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "config/config.h"

struct promisor_remote {
	char *name; /* owned */
	/* Borrowed from the configuration: */
	const char *url;    /* not empty */
	const char *filter; /* NULL: none, or not to be told */
	const char *token;  /* the same */
};

struct promisor_remotes {
	struct promisor_remote *items; /* owned; in the order of the
					  configuration */
	size_t nr, alloc;              /* 0: nothing is advertised */
};

/*
 * Load those that are to be advertised from the configuration, which is
 * borrowed. A field in promisor.sendFields that is not known is described in
 * *warning. 0, ERR_INVALID or ERR_NOMEM. Release in any case.
 */
int promisor_remotes_load(struct promisor_remotes *remotes,
			  const struct config *config, struct error *warning,
			  struct error *err);
void promisor_remotes_release(struct promisor_remotes *remotes);

/* Append the capability's value. 0 or ERR_NOMEM. */
int promisor_remotes_print(struct buf *out,
			   const struct promisor_remotes *remotes);

/*
 * Whether a client's answer, "<name>;<name>", names one of them. The last name
 * that is none of them is described in *warning. 1, 0 or ERR_NOMEM.
 */
int promisor_remotes_accepted(const struct promisor_remotes *remotes,
			      const char *names, struct error *warning);

#endif
