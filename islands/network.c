/* SPDX-License-Identifier: MIT */
/*
 * Opens the shared store of a fork network, takes its locks, and changes its
 * registry. network-init.c makes a store.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/relpath.h"
#include "islands/network.h"
#include "odb/odb-alternates.h"
#include "sys/io.h"
#include "sys/map.h"
#include "sys/rangelock.h"
#include "sys/share.h"

#define REGISTRY "network/members"
#define LOCK "network/lock"

/*
 * Returns 1 if `git_dir` is the git directory of the shared store of a fork
 * network (the repository that holds the objects of all members), 0 if not, or
 * a negative error code. It is an error if this cannot be found out, for
 * example if this process has no permission to search the directory of the
 * registry. If the result were 0 then, a server would treat a member like a
 * repository that shares no objects.
 */
static int is_store(const char *git_dir, struct error *err)
{
	struct buf path = BUF_INIT;
	struct error why = ERROR_INIT;
	struct sys_stat st;
	int ret = buf_printf(&path, "%s/" REGISTRY, git_dir) < 0
			  ? error_nomem(&why)
			  : sys_stat(&st, path.data, &why);

	buf_release(&path);
	if (ret == ERR_MISSING)
		return 0;
	if (ret && err)
		*err = why;
	return ret ? ret : 1;
}

/*
 * Checks whether `object_dir`, an alternate of a repository, belongs to the
 * shared store of a fork network. (The shared store is the repository that
 * holds the objects of all members of the network.) If so, sets *git_dir to the
 * git directory of the shared store, which is the parent of `object_dir`.
 * Returns 1 if so, 0 if not, or a negative error code.
 */
static int try_alternate(char **git_dir, const char *object_dir,
			 struct error *err)
{
	const char *slash = strrchr(object_dir, '/');
	int ret;

	if (!slash || slash == object_dir)
		return 0;
	*git_dir = mem_strndup(object_dir, (size_t)(slash - object_dir));
	if (!*git_dir)
		return error_nomem(err);
	ret = is_store(*git_dir, err);
	if (ret > 0)
		return 1;
	free(*git_dir);
	*git_dir = NULL;
	return ret;
}

int network_find(char **git_dir, const struct repo *repo, struct error *err)
{
	char **dirs;
	size_t nr;
	int ret = is_store(repo->common_dir, err);

	*git_dir = NULL;
	if (ret > 0) {
		*git_dir = mem_strdup(repo->common_dir);
		return *git_dir ? 1 : error_nomem(err);
	}
	if (ret < 0)
		return ret;
	ret = odb_alternates_list(&dirs, &nr, repo, NULL, err);
	for (size_t i = 1; i < nr && !ret; i++)
		ret = try_alternate(git_dir, dirs[i], err);
	for (size_t i = 0; i < nr; i++)
		free(dirs[i]);
	free(dirs);
	return ret;
}

int network_reload(struct network *network, struct error *err)
{
	char *path = repo_common_path(network->store, REGISTRY);
	struct buf text = BUF_INIT;
	int ret = path ? sys_read_file(&text, path, err) : error_nomem(err);

	if (!ret)
		ret = network_registry_parse(&network->registry, text.data,
					     text.len, path, err);
	buf_release(&text);
	free(path);
	return ret;
}

static int open_lock(struct network *network, struct error *err)
{
	char *path = repo_common_path(network->store, LOCK);

	if (!path)
		return error_nomem(err);
	network->lock_fd = sys_rangelock_open(path, err);
	free(path);
	return network->lock_fd < 0 ? network->lock_fd : 0;
}

int network_open(struct network **out, const char *git_dir, struct error *err)
{
	struct repo_options options = {
		.path = git_dir,
		.flags = REPO_OPEN_EXACT,
	};
	struct network *network = mem_calloc(1, sizeof(*network));
	int ret;

	*out = NULL;
	if (!network)
		return error_nomem(err);
	network->lock_fd = -1;
	network->registry = (struct network_registry)NETWORK_REGISTRY_INIT;
	ret = repo_open(&network->store, &options, err);
	/*
	 * With SYS_SHARE_PID, a lock file in the store has a PID file beside
	 * it, which contains the id of the process that holds the lock.
	 * network_recover() needs this id to find out whether the process still
	 * runs.
	 */
	if (!ret)
		network->store->share |= SYS_SHARE_PID;
	if (!ret)
		ret = repo_fsync_method(network->store, REPO_FSYNC_PACKED_REFS,
					&network->fsync, err);
	if (!ret)
		ret = network_reload(network, err);
	if (!ret)
		ret = open_lock(network, err);
	if (!ret) {
		network->object_dir = sys_realpath(network->store->object_dir,
						   err);
		ret = network->object_dir ? 0 : ERR_IO;
	}
	if (ret < 0) {
		network_close(network);
		return ret;
	}
	*out = network;
	return 0;
}

void network_close(struct network *network)
{
	if (!network)
		return;
	sys_close(network->lock_fd);
	network_registry_release(&network->registry);
	repo_close(network->store);
	free(network->object_dir);
	free(network);
}

int network_lock(struct network *network, uint32_t lock, bool shared, bool wait,
		 struct error *err)
{
	return sys_rangelock_take(network->lock_fd, lock, shared, wait, err);
}

void network_unlock(struct network *network, uint32_t lock)
{
	sys_rangelock_drop(network->lock_fd, lock);
}

int network_lock_all(struct network *network, struct error *err)
{
	return sys_rangelock_take_all(network->lock_fd, err);
}

void network_unlock_all(struct network *network)
{
	sys_rangelock_drop_all(network->lock_fd);
}

void network_warn(const struct network *network, const char *text)
{
	if (network->warn)
		network->warn(text);
}

int network_edit_begin(struct network *network, struct error *err)
{
	int ret = network_lock(network, NETWORK_LOCK_REGISTRY, false, true,
			       err);

	return ret < 0 ? ret : network_reload(network, err);
}

int network_edit_save(struct network *network, enum sys_fsync_method method,
		      struct error *err)
{
	char *path = repo_common_path(network->store, REGISTRY);
	struct buf text = BUF_INIT;
	int ret = path && !network_registry_format(&text, &network->registry)
			  ? sys_tempfile_replace(path, text.data, text.len,
						 method, err)
			  : error_nomem(err);

	buf_release(&text);
	free(path);
	return ret;
}

void network_edit_end(struct network *network)
{
	network_unlock(network, NETWORK_LOCK_REGISTRY);
}

int network_set_state(struct network *network, uint32_t id,
		      enum network_state state, enum sys_fsync_method method,
		      struct error *err)
{
	struct network_entry *entry;
	int ret = network_edit_begin(network, err);

	if (!ret) {
		entry = network_registry_find(&network->registry, id);
		if (!entry)
			ret = error_set(err, ERR_MISSING,
					"there is no member %u", id);
		else if (entry->state != state) {
			entry->state = state;
			ret = network_edit_save(network, method, err);
		}
	}
	network_edit_end(network);
	return ret;
}

int network_forget(struct network *network, uint32_t id, struct error *err)
{
	int ret = network_edit_begin(network, err);

	if (!ret && network_registry_find(&network->registry, id)) {
		network_registry_remove(&network->registry, id);
		ret = network_edit_save(network, network->fsync, err);
	}
	network_edit_end(network);
	return ret;
}

int network_path(struct buf *out, const struct network *network,
		 const struct network_entry *entry)
{
	struct buf path = BUF_INIT;
	char *real;
	int ret;

	if (*entry->path == '/')
		return buf_append_str(out, entry->path);
	ret = buf_printf(&path, "%s/%s", network->store->common_dir,
			 entry->path);
	/*
	 * Show the path without "..". sys_realpath_missing() can do that even
	 * if the member's repository is gone.
	 */
	real = ret < 0 ? NULL : sys_realpath_missing(path.data, NULL);
	if (!ret)
		ret = buf_append_str(out, real ? real : path.data);
	free(real);
	buf_release(&path);
	return ret;
}

int network_registry_path(struct buf *out, const struct network *network,
			  const char *path)
{
	return relpath_append(out, network->store->common_dir, path);
}

/* Parses a member id in decimal digits. Returns 0 if `name` is not a number. */
static uint32_t parse_id(const char *name)
{
	char *end;
	unsigned long id;

	if (*name < '1' || *name > '9')
		return 0;
	id = strtoul(name, &end, 10);
	return *end || id > UINT32_MAX ? 0 : (uint32_t)id;
}

/*
 * Returns the registry entry of a repository, or NULL. `name` is the path of
 * the repository: absolute, or relative to the working directory. If no entry
 * is found, `name` is compared with the paths in the registry as they are
 * written there, such as "../git.git" (relative to the directory of the store).
 * The repository need not exist any more.
 */
static struct network_entry *lookup_path(struct network *network,
					 const char *name)
{
	static const char *const ends[] = {"/.git", "", ".git"};
	struct network_entry *found = NULL;
	struct buf path = BUF_INIT;

	for (size_t i = 0; i < ARRAY_NR(ends) && !found; i++) {
		char *real;

		buf_reset(&path);
		if (buf_printf(&path, "%s%s", name, ends[i]) < 0)
			break;
		real = sys_realpath_missing(path.data, NULL);
		buf_reset(&path);
		if (real && !network_registry_path(&path, network, real))
			found = network_registry_find_path(&network->registry,
							   path.data);
		free(real);
	}
	buf_release(&path);
	return found ? found
		     : network_registry_find_path(&network->registry, name);
}

struct network_entry *network_lookup(struct network *network, const char *name,
				     struct error *err)
{
	uint32_t id = parse_id(name);
	struct network_entry *entry =
		id ? network_registry_find(&network->registry, id) : NULL;

	if (!entry)
		entry = lookup_path(network, name);
	if (!entry)
		error_set(err, ERR_MISSING,
			  "'%s' is not a member of the network of '%s'", name,
			  network->store->common_dir);
	return entry;
}
