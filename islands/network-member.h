/* SPDX-License-Identifier: MIT */
/*
 * Opens the repository of a member of a fork network, and links it to the store
 * (the bare repository with the objects that all members share).
 *
 * Stock Git does not know fork networks. With two settings in the member's
 * repository, it can use this repository nevertheless:
 * - A line in objects/info/alternates names the object directory of the store.
 * - core.alternateRefsPrefixes names the member's own references in the store.
 *   Without this key, the server would send a pushing client the tips of all
 *   other members, as .have lines.
 */
#ifndef ISLANDS_NETWORK_MEMBER_H
#define ISLANDS_NETWORK_MEMBER_H

#include "base/buf.h"
#include "base/error.h"
#include "islands/network.h"

/*
 * Appends "refs/virtual/<id>/", the prefix of a member's references in the
 * store. Returns 0 or ERR_NOMEM.
 */
int network_prefix(struct buf *out, uint32_t id);

/*
 * Opens a member's repository. *out is owned by the caller. Returns 0 or a
 * negative error code: ERR_MISSING if there is no repository.
 */
int network_member_open(struct repo **out, const struct network *network,
			const struct network_entry *entry, struct error *err);

/*
 * From which object directories a repository borrows objects (info/alternates).
 */
enum network_link {
	NETWORK_LINK_NONE, /* there are no alternates */
	/* the only alternate is the shared store */
	NETWORK_LINK_STORE,
	/*
	 * at least one alternate is not the shared store; its directory may be
	 * missing
	 */
	NETWORK_LINK_OTHER,
};

/*
 * Sets *link to the kind of alternates that the repository has. Returns 0 or a
 * negative error code.
 */
int network_link_check(enum network_link *link, const struct network *network,
		       const struct repo *repo, struct error *err);

/*
 * Returns whether the configuration of the repository names it as member `id`:
 * core.alternateRefsPrefixes is the member's prefix. network_link() and
 * network_fork() write this value. Another repository that is made later at the
 * member's path does not have this value.
 */
bool network_is_marked(const struct repo *repo, uint32_t id);

/*
 * Appends the line of info/alternates that names the object directory of the
 * shared store. `object_dir` is the object directory of the borrower (absolute,
 * without symlinks). The line is a relative path if both paths have a common
 * parent directory other than the root. Returns 0 or ERR_NOMEM.
 */
int network_link_line(struct buf *out, const struct network *network,
		      const char *object_dir);

/*
 * Makes a repository borrow from the shared store: writes
 * core.alternateRefsPrefixes first, then info/alternates. Returns 0 or a
 * negative error code.
 */
int network_link(const struct network *network, const struct repo *repo,
		 uint32_t id, struct error *err);

/*
 * Removes info/alternates of a repository that was member `id`, and then the
 * value that network_link() gave core.alternateRefsPrefixes. A different value
 * of this key, or a value from another file, stays. Returns 0 or a negative
 * error code.
 */
int network_unlink(const struct network *network, const struct repo *repo,
		   uint32_t id, struct error *err);

/*
 * Appends the configuration section with core.alternateRefsPrefixes for member
 * `id`. The key selects the .have lines that a push is offered. Returns 0 or
 * ERR_NOMEM.
 */
int network_config_section(struct buf *out, uint32_t id);

#endif
