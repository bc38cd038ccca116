/* SPDX-License-Identifier: MIT */
/*
 * Checks whether a store keeps the promises of store/filestore.h. Some services
 * accept a conditional put and ignore its condition. In other services, several
 * clients that create the same name at the same time all succeed. Such a store
 * would lose pushes.
 */
#ifndef STORE_PROBE_H
#define STORE_PROBE_H

#include "store/filestore.h"

/* number of clients that create or replace one file at the same time */
#define STORE_PROBE_CREATORS 32
/*
 * number of times that each race is repeated, because a wrong service can pass
 * a single race by chance
 */
#define STORE_PROBE_ROUNDS 4

/*
 * Probes a store with files below "probe/<random>/", which are deleted
 * afterwards. Each step checks one promise:
 * - a created file is seen at once by get, head and list;
 * - a second creator and a wrong entity tag are refused;
 * - if STORE_PROBE_CREATORS clients create a file at the same time, one
 *   succeeds;
 * - if as many clients replace a file with the same entity tag, one succeeds;
 * - a deleted file is gone at once.
 *
 * A store that passes may still break a promise when clients compete, because
 * the probe tries only a few races. Returns 0, ERR_UNSUPPORTED if the store
 * broke a promise (*err names it), STORE_UNAVAILABLE, or another negative error
 * code. Sends about 300 requests.
 */
int store_probe(struct filestore *store, struct error *err);

#endif
