/* SPDX-License-Identifier: MIT */
/*
 * Settles (completes or undoes) operations on a fork network that were
 * interrupted.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "islands/network-delete.h"
#include "islands/network-fork.h"
#include "islands/network-member.h"
#include "network/network-leave.h"
#include "network/network-repack.h"
#include "network/network-sync.h"

/*
 * Complete the adding of a member if the repository already borrows from the
 * store. Otherwise remove its entry from the registry. Returns 0 or a negative
 * error code.
 */
static int settle_add(struct network *network, uint32_t id,
		      const struct newpack_options *options, struct error *err)
{
	const struct network_entry *entry = network_registry_find(
		&network->registry, id);
	struct network_sync_report report;
	enum network_link link = NETWORK_LINK_NONE;
	struct repo *repo = NULL;
	bool is_gone;
	int ret = network_member_open(&repo, network, entry, err);

	if (!ret)
		ret = network_link_check(&link, network, repo, err);
	is_gone = ret == ERR_MISSING || (!ret && link == NETWORK_LINK_NONE);
	/*
	 * Hold the lock of the member until network_part() has removed its
	 * entry. Otherwise another process that runs `git network add` might
	 * finish adding the repository first, and network_part() would remove
	 * the entry of a complete member. Release the lock before
	 * network_add(), because network_add() takes it itself.
	 */
	if (is_gone)
		ret = network_part(network, id, err);
	network_unlock(network, NETWORK_LOCK_MEMBERS + id);
	if (!is_gone && !ret)
		ret = network_add(&id, network, repo->git_dir, options, &report,
				  err);
	repo_close(repo);
	return ret;
}

static int settle(struct network *network, const struct network_entry *entry,
		  const struct newpack_options *options, struct error *err)
{
	uint32_t id = entry->id;
	int ret;

	switch (entry->state) {
	case NETWORK_FORKING:
		ret = network_fork_settle(network, id, err);
		return ret < 0 ? ret : 0;
	case NETWORK_ADDING:
		return settle_add(network, id, options, err);
	case NETWORK_LEAVING:
		network_unlock(network, NETWORK_LOCK_MEMBERS + id);
		return network_leave(network, id, err);
	case NETWORK_DELETING:
		return network_delete(network, id, err);
	case NETWORK_MEMBER:
		break;
	}
	return 0;
}

/*
 * Returns the ids of the registry entries whose operation has not ended. The
 * caller frees the array.
 */
static uint32_t *list_ids(const struct network *network, size_t *nr)
{
	const struct network_registry *registry = &network->registry;
	uint32_t *ids = mem_alloc(registry->nr, sizeof(*ids));

	*nr = 0;
	for (size_t i = 0; ids && i < registry->nr; i++)
		if (registry->entries[i].state != NETWORK_MEMBER)
			ids[(*nr)++] = registry->entries[i].id;
	return ids;
}

static int settle_one(struct network *network, uint32_t id,
		      const struct newpack_options *options, struct error *err)
{
	const struct network_entry *entry;
	int ret = network_lock(network, NETWORK_LOCK_MEMBERS + id, false, false,
			       err);

	/* Skip this member, because another process works on it. */
	if (ret == ERR_DENIED)
		return 0;
	if (!ret)
		ret = network_reload(network, err);
	entry = ret ? NULL : network_registry_find(&network->registry, id);
	if (entry)
		ret = settle(network, entry, options, err);
	network_unlock(network, NETWORK_LOCK_MEMBERS + id);
	return ret;
}

int network_settle(struct network *network,
		   const struct newpack_options *options, struct error *err)
{
	struct error why = ERROR_INIT;
	size_t nr;
	int ret = network_reload(network, err);
	uint32_t *ids = ret ? NULL : list_ids(network, &nr);

	if (!ret && !ids)
		return error_nomem(err);
	for (size_t i = 0; ids && ret != ERR_NOMEM && i < nr; i++) {
		int failed = settle_one(network, ids[i], options, &why);

		if (failed && !ret && err)
			*err = why;
		if (failed && !ret)
			ret = failed;
	}
	free(ids);
	return ret;
}
