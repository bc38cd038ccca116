/* SPDX-License-Identifier: MIT */
/*
 * The served repository may be a partial clone. Its promisor remotes hold the
 * objects that it lacks. The server advertises these remotes, and a client may
 * fetch from them too (capability promisor-remote of gitprotocol-v2(5)).
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
	const char *url; /* not empty */
	/* NULL: not set, or not in promisor.sendFields */
	const char *filter;
	/* NULL: not set, or not in promisor.sendFields */
	const char *token;
};

struct promisor_remotes {
	/* owned; in the order of the configuration */
	struct promisor_remote *items;
	/* nr 0: nothing is advertised */
	size_t nr, alloc;
};

/*
 * Read the promisor remotes to advertise; none if promisor.advertise is false.
 * Remotes without URL are left out. `config` must outlive *remotes. An unknown
 * field in promisor.sendFields is described in *warning. Returns 0, ERR_INVALID
 * for a bad value, or ERR_NOMEM. Call promisor_remotes_release() in each case.
 */
int promisor_remotes_load(struct promisor_remotes *remotes,
			  const struct config *config, struct error *warning,
			  struct error *err);
void promisor_remotes_release(struct promisor_remotes *remotes);

/* Append the value of the capability to *out. Returns 0 or ERR_NOMEM. */
int promisor_remotes_print(struct buf *out,
			   const struct promisor_remotes *remotes);

/*
 * Check a client's answer, which looks like "<name>;<name>". Returns 1 if at
 * least one name is an advertised remote, 0 if none is, or ERR_NOMEM. The last
 * name that is not advertised is described in *warning.
 */
int promisor_remotes_accepted(const struct promisor_remotes *remotes,
			      const char *names, struct error *warning);

#endif
