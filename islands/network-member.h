/* SPDX-License-Identifier: MIT */
/*
 * A member's repository: opening it, and linking it to the store. Two things
 * make it a member for programs that do not know networks:
 * - the line in its objects/info/alternates;
 * - core.alternateRefsPrefixes. Without that key, a push would be offered the
 *   tips of all other members as .have lines.
 */
#ifndef ISLANDS_NETWORK_MEMBER_H
#define ISLANDS_NETWORK_MEMBER_H

#include "base/buf.h"
#include "base/error.h"
#include "islands/network.h"

/* Append "refs/virtual/<id>/". Returns 0 or ERR_NOMEM. */
int network_prefix(struct buf *out, uint32_t id);

/*
 * Open a member's repository. *out is owned by the caller. Returns 0 or a
 * negative error code: ERR_MISSING if there is no repository.
 */
int network_member_open(struct repo **out, const struct network *network,
			const struct network_entry *entry, struct error *err);

/* What the alternates of a repository are. */
enum network_link {
	NETWORK_LINK_NONE, /* there are none */
	/* the store, and nothing else */
	NETWORK_LINK_STORE,
	/* Anything else, or a directory that does not exist. */
	NETWORK_LINK_OTHER,
};

/* Find out what the alternates are. Returns 0 or a negative error code. */
int network_link_check(enum network_link *link, const struct network *network,
		       const struct repo *repo, struct error *err);

/*
 * Append the line that names the store's objects in info/alternates of an
 * object directory (absolute, without symlinks). The line is a relative path if
 * both share a directory other than the root. Returns 0 or ERR_NOMEM.
 */
int network_link_line(struct buf *out, const struct network *network,
		      const char *object_dir);

/*
 * Make a repository borrow from the store. core.alternateRefsPrefixes is
 * written first, then the alternates. Returns 0 or a negative error code.
 */
int network_link(const struct network *network, const struct repo *repo,
		 uint32_t id, struct error *err);

/*
 * Remove the alternates of a repository that was member `id`, then the
 * core.alternateRefsPrefixes that made it one. Another value of that key, or
 * one from another file, stays. Returns 0 or a negative error code.
 */
int network_unlink(const struct network *network, const struct repo *repo,
		   uint32_t id, struct error *err);

/*
 * Append the section with core.alternateRefsPrefixes, which selects the .have
 * lines. Returns 0 or ERR_NOMEM.
 */
int network_config_section(struct buf *out, uint32_t id);

#endif
