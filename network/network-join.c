/* SPDX-License-Identifier: MIT */
/*
 * Adds member repositories to a network, forks them, and syncs them (copies
 * their objects to the store).
 */
#include <stdlib.h>

#include "islands/network-fork.h"
#include "islands/network-member.h"
#include "network/network-sync.h"
#include "sys/io.h"
#include "sys/map.h"
#include "wire/refview.h"

/* Maximum number of references that are collected before they are written. */
#define BATCH_MAX 200000

/*
 * Sync a member: copy its objects to the store, and add its references to the
 * batch of references to write. The caller holds the lock of the member.
 * Returns 0 or a negative error code.
 */
static int sync_locked(struct network_batch *batch, struct network *network,
		       const struct network_entry *entry,
		       const struct newpack_options *options,
		       struct network_sync_report *report, struct error *err)
{
	struct network_refs refs = NETWORK_REFS_INIT;
	enum network_link link;
	struct repo *repo;
	uint32_t id = entry->id;
	int ret = network_member_open(&repo, network, entry, err);

	if (!ret)
		ret = network_link_check(&link, network, repo, err);
	if (!ret && link != NETWORK_LINK_STORE)
		ret = error_set(err, ERR_INVALID,
				"member %u, '%s': its objects/info/alternates "
				"must list the store and nothing else",
				id, repo->git_dir);
	/*
	 * Read the references after the lock was taken. References that are
	 * pushed later are copied by the next sync.
	 */
	if (!ret)
		ret = network_refs_read(&refs, repo, "refs/", true, err);
	if (!ret)
		ret = network_sync_objects(network, repo, &refs, options,
					   report, err);
	if (!ret)
		ret = network_batch_add(batch, id, &refs, &report->ref_nr, err);
	network_refs_release(&refs);
	repo_close(repo);
	return ret;
}

/*
 * State of a sync of many members (copying their objects and references to the
 * store).
 */
struct syncing {
	struct network *network;
	const struct network_sync *sync;
	struct network_batch batch;
	/*
	 * ids of the members in a list; the first `locked_nr` of them are
	 * locked
	 */
	const uint32_t *ids;
	size_t locked_nr; /* number of locked members */
	struct error *err;
};

static int flush(struct syncing *s)
{
	int ret = network_batch_write(&s->batch, s->err);

	for (size_t i = 0; i < s->locked_nr; i++)
		network_unlock(s->network, NETWORK_LOCK_MEMBERS + s->ids[i]);
	s->ids += s->locked_nr;
	s->locked_nr = 0;
	return ret;
}

static int sync_one(struct syncing *s, uint32_t id,
		    struct network_sync_report *report, struct error *err)
{
	struct network *network = s->network;
	const struct network_entry *entry;
	int ret = network_lock(network, NETWORK_LOCK_MEMBERS + id, false, true,
			       err);

	if (!ret)
		ret = network_reload(network, err);
	entry = ret ? NULL : network_registry_find(&network->registry, id);
	if (!ret && !entry)
		ret = error_set(err, ERR_MISSING, "there is no member %u", id);
	if (!ret && entry->state != NETWORK_MEMBER)
		ret = error_set(err, ERR_INVALID,
				"member %u is in the state '%s': another "
				"operation runs or was interrupted",
				id, network_state_name(entry->state));
	return ret ? ret
		   : sync_locked(&s->batch, network, entry, s->sync->options,
				 report, err);
}

/*
 * Sync each member in the list. If the sync of a member fails, the failure is
 * reported to `done`, and the other members are still synced. Returns 0, the
 * nonzero value that `done` returned, or a negative error code.
 */
static int sync_each(struct syncing *s, const uint32_t *ids, size_t nr)
{
	int ret = 0;

	for (size_t i = 0; i < nr && !ret; i++) {
		struct network_sync_report report = {0};
		struct error err = ERROR_INIT;
		int failed = sync_one(s, ids[i], &report, &err);

		s->locked_nr++;
		if (failed == ERR_MISSING && s->sync->skip_gone &&
		    !network_registry_find(&s->network->registry, ids[i]))
			continue;
		if (failed && s->err)
			*s->err = err;
		ret = s->sync->done(s->sync->ctx, ids[i],
				    failed ? NULL : &report, &err);
		if (!ret && s->batch.nr > BATCH_MAX)
			ret = flush(s);
	}
	return ret;
}

int network_sync_held(struct network *network, const uint32_t *ids, size_t nr,
		      const struct network_sync *sync, struct error *err)
{
	struct syncing s = {
		.network = network,
		.sync = sync,
		.batch = {.network = network, .names = BUF_INIT},
		.ids = ids,
		.err = err,
	};
	int ret = sync_each(&s, ids, nr);
	int written = ret ? 0 : flush(&s);

	for (size_t i = 0; i < s.locked_nr; i++)
		network_unlock(network, NETWORK_LOCK_MEMBERS + s.ids[i]);
	network_batch_release(&s.batch);
	return ret ? ret : written;
}

int network_sync(struct network *network, const uint32_t *ids, size_t nr,
		 const struct network_sync *sync, struct error *err)
{
	int ret = network_lock(network, NETWORK_LOCK_OBJECTS, true, true, err);

	if (!ret)
		ret = network_sync_held(network, ids, nr, sync, err);
	network_unlock(network, NETWORK_LOCK_OBJECTS);
	return ret;
}

/*
 * Returns whether a symlink makes the object directory of a repository the same
 * directory as that of the store. Such a repository has no objects of its own
 * that could be copied to the store and removed.
 */
static bool has_objects_of_store(const struct network *network,
				 const struct repo *repo)
{
	struct sys_stat a, b;

	return !sys_stat(&a, repo->object_dir, NULL) &&
	       !sys_stat(&b, network->object_dir, NULL) && sys_is_same(&a, &b);
}

/* Returns 0 if the repository can be a member, or a negative error code. */
static int check_candidate(const struct network *network,
			   const struct repo *repo, struct error *err)
{
	const char *path = repo->git_dir;
	enum network_link link;
	char *store = NULL;
	int ret;

	if (repo->algo != network->store->algo)
		return error_set(
			err, ERR_INVALID,
			"'%s' has another hash function than the store", path);
	ret = network_sync_check(repo, err);
	if (!ret)
		ret = network_link_check(&link, network, repo, err);
	if (ret < 0)
		return ret;
	if (link == NETWORK_LINK_OTHER)
		return error_set(err, ERR_INVALID,
				 "'%s' borrows objects from another "
				 "repository; run `git repack -ad' in it, then "
				 "remove its objects/info/alternates",
				 path);
	ret = network_find(&store, repo, err);
	free(store);
	return has_objects_of_store(network, repo) ||
			       (ret > 0 && link == NETWORK_LINK_NONE)
		       ? error_set(err, ERR_INVALID,
				   "'%s' is the store of a network", path)
	       : ret < 0 ? ret
			 : 0;
}

/*
 * Find the registry entry of the repository, or add one. The entry must be in
 * the state "adding". Take the lock of the member. Returns 0 or a negative
 * error code.
 */
static int register_repo(uint32_t *id, struct network *network,
			 const struct repo *repo, struct error *err)
{
	struct network_entry *entry;
	struct buf path = BUF_INIT;
	int ret = network_registry_path(&path, network, repo->common_dir) < 0
			  ? error_nomem(err)
			  : network_edit_begin(network, err);

	if (ret < 0)
		goto out;
	entry = network_registry_find_path(&network->registry, path.data);
	if (entry && entry->state != NETWORK_ADDING)
		ret = error_set(err, ERR_INVALID, "'%s' is member %u already",
				repo->common_dir, entry->id);
	if (!entry)
		ret = network_registry_add(&entry, &network->registry,
					   NETWORK_ADDING, path.data, err);
	if (!ret)
		ret = network_lock(network, NETWORK_LOCK_MEMBERS + entry->id,
				   false, false, err);
	if (ret == ERR_DENIED)
		error_set(err, ERR_DENIED, "another process is adding '%s'",
			  repo->common_dir);
	if (!ret)
		*id = entry->id;
	if (!ret)
		ret = network_edit_save(network, network->fsync, err);
out:
	network_edit_end(network);
	buf_release(&path);
	return ret;
}

int network_add(uint32_t *id, struct network *network, const char *path,
		const struct newpack_options *options,
		struct network_sync_report *report, struct error *err)
{
	struct repo_options where = {.path = path, .flags = REPO_OPEN_ENTER};
	struct network_batch batch = {.network = network, .names = BUF_INIT};
	struct repo *repo = NULL;
	int ret = repo_open(&repo, &where, err);

	*id = 0;
	*report = (struct network_sync_report){0};
	if (!ret)
		ret = check_candidate(network, repo, err);
	if (!ret)
		ret = network_lock(network, NETWORK_LOCK_OBJECTS, true, true,
				   err);
	if (!ret)
		ret = register_repo(id, network, repo, err);
	if (!ret)
		ret = network_link(network, repo, *id, err);
	if (!ret)
		ret = sync_locked(
			&batch, network,
			network_registry_find(&network->registry, *id), options,
			report, err);
	if (!ret)
		ret = network_batch_write(&batch, err);
	if (!ret)
		ret = network_set_state(network, *id, NETWORK_MEMBER,
					network->fsync, err);
	if (*id)
		network_unlock(network, NETWORK_LOCK_MEMBERS + *id);
	network_unlock(network, NETWORK_LOCK_OBJECTS);
	network_batch_release(&batch);
	repo_close(repo);
	return ret;
}

/*
 * Returns whether the view hides the reference "refs/<name>", or ERR_NOMEM.
 * `full` is a scratch buffer.
 */
static int is_hidden(struct refview *view, const char *name, struct buf *full)
{
	buf_reset(full);
	return buf_append_str(full, "refs/") < 0 ||
			       buf_append_str(full, name) < 0
		       ? ERR_NOMEM
		       : refview_hides(view, full->data);
}

/*
 * Keeps the reference at `from` as the reference number refs->nr if the view
 * shows it. If the reference is symbolic and the view hides its target, the
 * reference becomes an ordinary one. Returns 0 or ERR_NOMEM.
 */
static int keep_visible(struct network_refs *refs, size_t from,
			struct refview *view, struct buf *full)
{
	struct network_ref ref = refs->refs[from];
	int ret = is_hidden(view, network_ref_name(refs, &ref), full);

	if (ret)
		return ret < 0 ? ret : 0;
	if (ref.target_off != SIZE_MAX)
		ret = refview_hides(view, refs->names.data + ref.target_off);
	if (ret > 0)
		ref.target_off = SIZE_MAX;
	refs->refs[refs->nr++] = ref;
	return ret < 0 ? ret : 0;
}

/*
 * Removes from the list the references of `source` that clients who fetch from
 * it do not see. Returns 0 or a negative error code.
 */
static int drop_hidden(struct network_refs *refs, const struct repo *source,
		       struct error *err)
{
	struct buf full = BUF_INIT;
	struct refview view;
	int ret = refview_open(&view, source, "uploadpack.hiderefs", NULL, err);
	size_t nr = refs->nr;

	if (!ret && view.rules.nr) {
		refs->nr = 0;
		for (size_t i = 0; !ret && i < nr; i++)
			ret = keep_visible(refs, i, &view, &full);
		if (ret < 0)
			error_nomem(err);
	}
	refview_release(&view);
	buf_release(&full);
	return ret;
}

int network_fork_synced(uint32_t *id, struct network *network,
			const struct repo *source, const char *path,
			const struct newpack_options *options,
			struct error *err)
{
	struct network_refs refs = NETWORK_REFS_INIT;
	struct network_sync_report report = {0};
	struct network_fork fork = {source, &refs, path};
	int ret = network_lock(network, NETWORK_LOCK_OBJECTS, true, true, err);

	if (!ret)
		ret = network_refs_read(&refs, source, "refs/", false, err);
	if (!ret)
		ret = drop_hidden(&refs, source, err);
	if (!ret)
		ret = network_sync_objects(network, source, &refs, options,
					   &report, err);
	if (!ret)
		ret = network_fork(id, network, &fork, err);
	network_unlock(network, NETWORK_LOCK_OBJECTS);
	network_refs_release(&refs);
	return ret;
}
