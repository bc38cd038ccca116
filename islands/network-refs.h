/* SPDX-License-Identifier: MIT */
/*
 * References of a member, and what the store has of them.
 *
 * refs/<x> of member <id> is refs/virtual/<id>/<x> in the store, a HEAD that
 * is detached refs/virtual/<id>/HEAD. Symbolic references are there by their
 * values. They keep what members borrow in the store, and say which island it
 * is in.
 */
#ifndef ISLANDS_NETWORK_REFS_H
#define ISLANDS_NETWORK_REFS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "islands/network.h"
#include "object/oid.h"
#include "repo/repo.h"

/* A reference without the prefix that all of a list have. */
struct network_ref {
	size_t name_off;         /* into names.data, NUL-terminated */
	size_t target_off;       /* what it is symbolic for; SIZE_MAX: is not */
	struct oid oid;          /* its value */
	struct oid peeled;       /* with is_tag */
	bool has_peeled, is_tag; /* as in struct ref */
};

/* Sorted by name. */
struct network_refs {
	struct network_ref *refs; /* owned */
	size_t nr, alloc;
	struct buf names;
};

#define NETWORK_REFS_INIT                                                      \
	{                                                                      \
		NULL, 0, 0, BUF_INIT                                           \
	}

static inline const char *network_ref_name(const struct network_refs *refs,
					   const struct network_ref *ref)
{
	return refs->names.data + ref->name_off;
}

/*
 * Read the references of a repository that start with `prefix` ("refs/",
 * "refs/virtual/3/"); with `head`, a detached HEAD as "HEAD". A broken one is
 * an error: what it names might be lost. Release in any case.
 */
int network_refs_read(struct network_refs *refs, const struct repo *repo,
		      const char *prefix, bool head, struct error *err);
void network_refs_release(struct network_refs *refs);

/*
 * Changes of what the store has under refs/virtual/, of several members, to be
 * written together: packed-refs has the references of all members, and to write
 * it anew for each would cost the square of their number. One thread.
 */
struct network_batch {
	const struct network *network;    /* borrowed */
	struct network_batch_item *items; /* owned */
	size_t nr, alloc;
	struct buf names;
};

/*
 * Add what it takes to make refs/virtual/<id>/ these references (NULL: none).
 * Their objects are in the store already; the member stays locked until the
 * batch is written. *changed (NULL allowed): how many differ. 0 or negative.
 */
int network_batch_add(struct network_batch *batch, uint32_t id,
		      const struct network_refs *refs, size_t *changed,
		      struct error *err);

/*
 * Write what was added and empty the batch: few changes by a transaction (two,
 * deletions first), many as one new packed-refs. Killed, some may have changed.
 */
int network_batch_write(struct network_batch *batch, struct error *err);
void network_batch_release(struct network_batch *batch);

/* A batch of one member. */
int network_refs_store(const struct network *network, uint32_t id,
		       const struct network_refs *refs, size_t *changed,
		       struct error *err);

/*
 * Write all of them into an empty repository, under "refs/": packed-refs in
 * one go, symbolic ones as files. `objects`: the repository whose tags are
 * looked into where it is not known what they peel to.
 */
int network_refs_write(const struct repo *repo, const struct network_refs *refs,
		       const struct repo *objects, struct error *err);

#endif
