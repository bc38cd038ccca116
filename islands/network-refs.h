/* SPDX-License-Identifier: MIT */
/*
 * The references of a member, and their copies in the store.
 *
 * refs/<x> of member <id> is refs/virtual/<id>/<x> in the store. A detached
 * HEAD is refs/virtual/<id>/HEAD. The copy of a symbolic reference has the id
 * to which it leads. Because of these copies, no object that a member borrows
 * is pruned in the store. The copies also decide to which islands an object
 * belongs.
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

/*
 * A reference of a list. All references of the list have a common prefix, which
 * is not stored in the name.
 */
struct network_ref {
	/* offset of the NUL-terminated name in names.data */
	size_t name_off;
	/*
	 * Offset of the target of a symbolic reference in names.data; SIZE_MAX:
	 * not symbolic.
	 */
	size_t target_off;
	/* the object that the reference names */
	struct oid oid;
	/* the object to which a tag peels; valid if has_peeled and is_tag */
	struct oid peeled;
	bool has_peeled, is_tag; /* as in struct ref */
};

/* A list of references, sorted by name. */
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
 * Reads those references of a repository whose names start with `prefix`
 * ("refs/", "refs/virtual/3/"). With `head`, a detached HEAD is added as
 * "HEAD". A broken reference is an error, because objects that it names might
 * be lost. Release in any case. Returns 0 or a negative error code.
 */
int network_refs_read(struct network_refs *refs, const struct repo *repo,
		      const char *prefix, bool head, struct error *err);
void network_refs_release(struct network_refs *refs);

/*
 * Changes of refs/virtual/ in the store that are written together, for several
 * members. packed-refs holds the references of all members. Writing this file
 * once for each member would cost time that grows with the square of the number
 * of members. For use by one thread.
 */
struct network_batch {
	const struct network *network;    /* borrowed */
	struct network_batch_item *items; /* owned */
	size_t nr, alloc;
	struct buf names;
};

/*
 * Adds the changes that make refs/virtual/<id>/ equal to `refs`. If `refs` is
 * NULL, refs/virtual/<id>/ becomes empty. The store has the objects of `refs`
 * already. The caller holds the member's lock until the batch is written.
 * *changed (may be NULL) is set to the number of changes. Returns 0 or a
 * negative error code.
 */
int network_batch_add(struct network_batch *batch, uint32_t id,
		      const struct network_refs *refs, size_t *changed,
		      struct error *err);

/*
 * Writes the changes and empties the batch. Few changes are written as two
 * transactions, deletions first. Many changes are written as one new
 * packed-refs file. If the process is killed, some references may have changed
 * and others not. Returns 0 or a negative error code.
 */
int network_batch_write(struct network_batch *batch, struct error *err);
void network_batch_release(struct network_batch *batch);

/*
 * Writes the references of one member as a batch. Returns 0 or a negative error
 * code.
 */
int network_refs_store(const struct network *network, uint32_t id,
		       const struct network_refs *refs, size_t *changed,
		       struct error *err);

/*
 * Writes all references into an empty repository, under "refs/": symbolic
 * references as files, all others into packed-refs. `objects` is the repository
 * whose tags are read if a peeled value is not known. Returns 0 or a negative
 * error code.
 */
int network_refs_write(const struct repo *repo, const struct network_refs *refs,
		       const struct repo *objects, struct error *err);

#endif
