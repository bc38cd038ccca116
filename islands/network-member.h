/* SPDX-License-Identifier: MIT */
/*
 * A member's repository: opening it, and the two things that make it a member
 * for those who know nothing of networks: the line in its
 * objects/info/alternates, and core.alternateRefsPrefixes, without which a
 * push would be told of the tips of all other members.
 */
#ifndef ISLANDS_NETWORK_MEMBER_H
#define ISLANDS_NETWORK_MEMBER_H

#include "base/buf.h"
#include "base/error.h"
#include "islands/network.h"

/* "refs/virtual/<id>/"; 0 or ERR_NOMEM. */
int network_prefix(struct buf *out, uint32_t id);

/*
 * Open a member's repository. 0 with *out owned by the caller; ERR_MISSING
 * when there is no repository; or another error.
 */
int network_member_open(struct repo **out, const struct network *network,
			const struct network_entry *entry, struct error *err);

/* Where a repository's alternates lead. */
enum network_link {
	NETWORK_LINK_NONE,  /* there are none */
	NETWORK_LINK_STORE, /* to the store, and nowhere else */
	NETWORK_LINK_OTHER, /* elsewhere, or nowhere */
};

/* Find out; negative when that fails. */
int network_link_check(enum network_link *link, const struct network *network,
		       const struct repo *repo, struct error *err);

/*
 * Append the line that leads from an object directory (absolute, without
 * symlinks) to the store's objects, relative where they share a directory
 * other than the root. 0 or ERR_NOMEM.
 */
int network_link_line(struct buf *out, const struct network *network,
		      const char *object_dir);

/*
 * Make a repository borrow from the store: first the prefixes into its
 * configuration, then the alternate. 0 or negative.
 */
int network_link(const struct network *network, const struct repo *repo,
		 uint32_t id, struct error *err);

/* Make it borrow no longer: remove its alternates. 0 or negative. */
int network_unlink(const struct repo *repo, struct error *err);

/* Append the section that says which refs of the store are .have lines. */
int network_config_section(struct buf *out, uint32_t id);

#endif
