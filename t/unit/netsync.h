/* SPDX-License-Identifier: MIT */
/*
 * A fork network whose member repositories can be synced with its store, for
 * unit tests. Include this header after cmocka.h.
 */
#ifndef T_UNIT_NETSYNC_H
#define T_UNIT_NETSYNC_H

#include "network/network-sync.h"
#include "t/unit/netrepo.h"

struct netsync {
	struct netrepo n;
	struct newpack_options options;
	struct network_sync_report report;
	struct error err;
};

static inline void netsync_init(struct netsync *f)
{
	memset(f, 0, sizeof(*f));
	netrepo_init(&f->n);
	assert_int_equal(network_pack_options(&f->options, f->n.network, NULL),
			 0);
}

static inline int netsync_add(struct netsync *f, const char *name, uint32_t *id)
{
	return network_add(id, f->n.network, netrepo_path(&f->n, name),
			   &f->options, &f->report, &f->err);
}

static inline int netsync_done(void *ctx, uint32_t id,
			       const struct network_sync_report *report,
			       const struct error *failed)
{
	struct netsync *f = ctx;

	if (report)
		f->report = *report;
	return report ? 0 : failed->code;
}

/* Sync one member. */
static inline int netsync_sync(struct netsync *f, uint32_t id)
{
	const struct network_sync sync = {
		.options = &f->options,
		.done = netsync_done,
		.ctx = f,
	};

	return network_sync(f->n.network, &id, 1, &sync, NULL);
}

/*
 * Make a repository with one commit, and add the repository to the fork
 * network. Sets *oid to the id of the commit. Returns the id of the repository
 * as a member of the network.
 */
static inline uint32_t netsync_member(struct netsync *f, const char *name,
				      const char *text, struct oid *oid)
{
	uint32_t id;

	netrepo_repo(&f->n, name);
	netrepo_commit(&f->n, name, text, oid);
	if (netsync_add(f, name, &id) < 0)
		fail_msg("%s", f->err.msg);
	return id;
}

/*
 * Returns whether an object is in the repository itself, not only in its
 * alternates.
 */
static inline bool netsync_owns(struct netsync *f, const char *name,
				const struct oid *oid)
{
	struct repo *repo = netrepo_open(&f->n, name);
	struct odb *odb;
	uint32_t ignored;
	bool found;

	assert_int_equal(odb_open(&odb, repo, NULL, NULL), 0);
	found = false;
	for (uint32_t i = 0; i < odb->pack_nr; i++)
		if (odb->packs[i].pack->is_local &&
		    pack_idx_find(&odb->packs[i].pack->idx, oid->bytes,
				  &ignored))
			found = true;
	if (!found)
		found = odb_has_loose(odb, oid);
	odb_close(odb);
	repo_close(repo);
	return found;
}

#endif
