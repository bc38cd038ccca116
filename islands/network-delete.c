/* SPDX-License-Identifier: MIT */
/* Deletes members (repositories) of a fork network. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "islands/network-delete.h"
#include "islands/network-member.h"
#include "islands/network-refs.h"
#include "sys/io.h"
#include "sys/tempdir.h"
#include "sys/tempfile.h"

struct deleting {
	struct network *network;
	uint32_t id;
	enum network_state state;
	struct buf path;
	/*
	 * Owned: path to which the repository is renamed before its files are
	 * removed. The path has the same parent directory as the repository.
	 */
	char *doomed;
	struct error *err;
};

int network_part(struct network *network, uint32_t id, struct error *err)
{
	int ret = network_refs_store(network, id, NULL, NULL, err);

	return ret < 0 ? ret : network_forget(network, id, err);
}

static int find(struct deleting *d)
{
	const struct network_entry *entry;
	struct buf doomed = BUF_INIT;
	const char *slash;
	int ret = network_reload(d->network, d->err);

	if (ret < 0)
		return ret;
	entry = network_registry_find(&d->network->registry, d->id);
	if (!entry)
		return error_set(d->err, ERR_MISSING, "there is no member %u",
				 d->id);
	d->state = entry->state;
	if (network_path(&d->path, d->network, entry) < 0)
		return error_nomem(d->err);
	slash = strrchr(d->path.data, '/');
	if (buf_append(&doomed, d->path.data,
		       (size_t)(slash + 1 - d->path.data)) < 0 ||
	    buf_printf(&doomed, ".%s.network-%u-deleted", slash + 1, d->id) < 0)
		ret = error_nomem(d->err);
	d->doomed = doomed.len ? buf_detach(&doomed, NULL) : NULL;
	return ret;
}

/*
 * Returns whether the repository at the member's path is the member. If a fork
 * or a deletion of the member was interrupted, the path may have been free
 * meanwhile, so another repository may be there now. In these two cases, the
 * repository must be marked as the member (network_is_marked()). In other
 * cases, a repository that borrows from the store is the member, even without
 * the mark.
 */
static bool is_member(const struct deleting *d, const struct repo *repo,
		      enum network_link link)
{
	bool may_differ = d->state == NETWORK_DELETING ||
			  d->state == NETWORK_FORKING;

	if (link == NETWORK_LINK_OTHER)
		return false;
	if (link == NETWORK_LINK_NONE && d->state == NETWORK_MEMBER)
		return false;
	return (link == NETWORK_LINK_STORE && !may_differ) ||
	       network_is_marked(repo, d->id);
}

static void warn_of_other(const struct deleting *d)
{
	char text[ERROR_MESSAGE_MAX];

	snprintf(text, sizeof(text),
		 "'%s' is not member %u any more, and stays: only the member's "
		 "entry is removed",
		 d->path.data, d->id);
	network_warn(d->network, text);
}

/* Returns an error that says why the repository must not be removed. */
static int refuse_other(const struct deleting *d)
{
	return error_set(d->err, ERR_INVALID,
			 "'%s' is not deleted: it may be another repository. "
			 "Its objects/info/alternates must list the store and "
			 "nothing else, and its core.alternateRefsPrefixes "
			 "must be refs/virtual/%u/",
			 d->path.data, d->id);
}

/*
 * Checks the repository at the member's path. Returns 1 if it is the member and
 * may be removed. Returns 0, with a warning, if a deletion of the member was
 * interrupted and another repository that does not need the store is at the
 * path. Otherwise returns a negative error code.
 */
static int check(const struct deleting *d, const struct repo *repo)
{
	enum network_link link;
	int ret = network_link_check(&link, d->network, repo, d->err);

	if (ret < 0)
		return ret;
	if (!is_member(d, repo, link)) {
		if (d->state != NETWORK_DELETING || link != NETWORK_LINK_NONE)
			return refuse_other(d);
		warn_of_other(d);
		return 0;
	}
	if (!repo->is_bare || strcmp(repo->git_dir, repo->common_dir) != 0)
		return error_set(d->err, ERR_INVALID,
				 "'%s' is not deleted, because it has a work "
				 "tree; use git network leave",
				 d->path.data);
	return 1;
}

/*
 * Looks for the member's repository. Returns 1 if the repository exists and may
 * be removed, 0 if it does not exist, or a negative error code. If a deletion
 * of the member was interrupted, something else may be at its path, such as a
 * directory that is no repository. It is not removed, and the result is 0.
 */
static int find_repo(const struct deleting *d)
{
	struct repo_options options = {
		.path = d->path.data,
		.flags = REPO_OPEN_EXACT,
	};
	struct repo *repo = NULL;
	int ret;

	if (!sys_exists(d->path.data))
		return 0;
	ret = repo_open(&repo, &options, d->err);
	if (ret == ERR_MISSING && d->state == NETWORK_DELETING) {
		warn_of_other(d);
		return 0;
	}
	if (!ret)
		ret = check(d, repo);
	repo_close(repo);
	return ret;
}

/*
 * Renames the member's repository in one step, so that it is no longer found.
 * Then removes its files.
 */
static int remove_repo(const struct deleting *d, bool is_there)
{
	int ret = 0;

	if (is_there)
		ret = sys_rename(d->path.data, d->doomed, d->err);
	if (!ret)
		ret = sys_tempdir_remove(d->doomed, d->err);
	return ret;
}

int network_delete(struct network *network, uint32_t id, struct error *err)
{
	struct deleting d = {
		.network = network,
		.id = id,
		.path = BUF_INIT,
		.err = err,
	};
	bool is_there = false;
	int ret = network_lock(network, NETWORK_LOCK_MEMBERS + id, false, true,
			       err);

	if (!ret)
		ret = find(&d);
	if (!ret)
		ret = find_repo(&d);
	is_there = ret > 0;
	if (ret >= 0)
		ret = network_set_state(network, id, NETWORK_DELETING,
					network->fsync, err);
	if (!ret)
		ret = remove_repo(&d, is_there);
	if (!ret)
		ret = network_part(network, id, err);
	network_unlock(network, NETWORK_LOCK_MEMBERS + id);
	buf_release(&d.path);
	free(d.doomed);
	return ret;
}
