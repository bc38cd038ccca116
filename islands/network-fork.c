/* SPDX-License-Identifier: MIT */
/*
 * Makes a fork: a new repository that borrows its objects from the shared
 * store.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "islands/network-fork.h"
#include "islands/network-member.h"
#include "refs/refs.h"
#include "sys/io.h"
#include "sys/map.h"
#include "sys/tempdir.h"
#include "sys/tempfile.h"

struct forking {
	struct network *network;
	const struct network_fork *fork;
	uint32_t id;
	/*
	 * how to sync the small files of the new repository, and the rename of
	 * its directory
	 */
	enum sys_fsync_method fsync;
	/* owned: absolute path of the new repository */
	char *path;
	/*
	 * Owned: the directory next to `path` in which the repository is built.
	 */
	char *build;
	struct error *err;
};

static void forking_release(struct forking *f)
{
	free(f->path);
	free(f->build);
}

/*
 * Returns the path "<dir>/.<name>.network-<id>", where a fork is built. No
 * other fork uses this path.
 */
static char *build_path(const char *path, uint32_t id)
{
	const char *slash = strrchr(path, '/');
	struct buf out = BUF_INIT;

	if (buf_append(&out, path, (size_t)(slash + 1 - path)) < 0 ||
	    buf_printf(&out, ".%s.network-%u", slash + 1, id) < 0)
		buf_release(&out);
	return out.len ? buf_detach(&out, NULL) : NULL;
}

/*
 * Sets f->path to the absolute path of the destination, which need not exist.
 * Makes its parent directories.
 */
static int settle_path(struct forking *f)
{
	struct buf parent = BUF_INIT, path = BUF_INIT;
	const char *name = f->fork->path;
	size_t len = strlen(name);
	const char *slash;
	char *real = NULL;
	int ret;

	while (len > 1 && name[len - 1] == '/')
		len--;
	slash = memrchr(name, '/', len);
	ret = slash ? buf_append(&parent, name, (size_t)(slash + 1 - name))
		    : buf_append_str(&parent, ".");
	if (ret < 0)
		ret = error_nomem(f->err);
	if (!ret)
		ret = sys_mkdir_p(parent.data, f->err);
	if (!ret) {
		real = sys_realpath(parent.data, f->err);
		ret = real ? 0 : ERR_IO;
	}
	if (!ret) {
		const char *base = slash ? slash + 1 : name;

		if (buf_printf(&path, "%s/%.*s", real[1] ? real : "",
			       (int)(name + len - base), base) < 0)
			ret = error_nomem(f->err);
		else
			f->path = buf_detach(&path, NULL);
	}
	free(real);
	buf_release(&parent);
	return ret < 0 || f->path ? ret : error_nomem(f->err);
}

/*
 * Returns an error if something exists at the destination, other than an empty
 * directory.
 */
static int check_free(const struct forking *f)
{
	int ret;

	if (!sys_exists(f->path))
		return 0;
	ret = sys_rmdir(f->path, f->err);
	return ret ? (ret < 0 ? ret : 0)
		   : error_set(
			     f->err, ERR_INVALID,
			     "destination path '%s' already exists and is not "
			     "an empty directory",
			     f->path);
}

/*
 * Chooses the id of the new member. If an earlier fork to the same path was
 * interrupted, uses the id of that fork again, otherwise a new id. Takes the
 * lock of this member.
 */
static int choose_id(struct forking *f, const char *path)
{
	struct network_registry *registry = &f->network->registry;
	struct network_entry *entry = network_registry_find_path(registry,
								 path);
	int ret;

	if (entry && entry->state != NETWORK_FORKING)
		return error_set(f->err, ERR_INVALID,
				 "member %u is registered at '%s'; run git "
				 "network delete first",
				 entry->id, f->path);
	if (!entry) {
		ret = check_free(f);
		if (!ret)
			ret = network_registry_add(&entry, registry,
						   NETWORK_FORKING, path,
						   f->err);
		if (ret < 0)
			return ret;
	}
	f->id = entry->id;
	ret = network_lock(f->network, NETWORK_LOCK_MEMBERS + f->id, false,
			   false, f->err);
	if (ret == ERR_DENIED)
		return error_set(f->err, ERR_DENIED,
				 "another process is making '%s'", f->path);
	return ret < 0 ? ret
		       : network_edit_save(f->network, f->network->fsync,
					   f->err);
}

static int register_fork(struct forking *f)
{
	struct buf path = BUF_INIT;
	int ret = network_registry_path(&path, f->network, f->path) < 0
			  ? error_nomem(f->err)
			  : network_edit_begin(f->network, f->err);

	if (!ret)
		ret = choose_id(f, path.data);
	network_edit_end(f->network);
	buf_release(&path);
	if (ret < 0)
		return ret;
	f->build = build_path(f->path, f->id);
	return f->build ? 0 : error_nomem(f->err);
}

static int write_file(const struct forking *f, const char *name,
		      const struct buf *text)
{
	struct buf path = BUF_INIT;
	int ret = buf_printf(&path, "%s/%s", f->build, name) < 0
			  ? error_nomem(f->err)
			  : sys_tempfile_replace(path.data, text->data,
						 text->len, f->fsync, f->err);

	buf_release(&path);
	return ret;
}

static int write_config(const struct forking *f)
{
	bool sha1 = f->network->store->algo == HASH_SHA1;
	struct buf text = BUF_INIT;
	int ret = buf_printf(&text,
			     "[core]\n\trepositoryformatversion = %d\n"
			     "\tfilemode = true\n\tbare = true\n",
			     sha1 ? 0 : 1);

	if (!ret && !sha1)
		ret = buf_printf(&text, "[extensions]\n\tobjectformat = %s\n",
				 hash_name(f->network->store->algo));
	if (!ret)
		ret = network_config_section(&text, f->id);
	ret = ret < 0 ? error_nomem(f->err) : write_file(f, "config", &text);
	buf_release(&text);
	return ret;
}

static int write_head(const struct forking *f)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct buf text = BUF_INIT;
	struct refs *refs = NULL;
	struct ref head;
	int ret = refs_open(&refs, f->fork->source, f->err);

	if (!ret)
		ret = refs_read(refs, "HEAD", &head, f->err);
	if (!ret)
		ret = error_set(f->err, ERR_MISSING, "'%s' has no HEAD",
				f->fork->source->git_dir);
	if (ret > 0 && head.target)
		ret = buf_printf(&text, "ref: %s\n", head.target);
	else if (ret > 0)
		ret = buf_printf(
			&text, "%s\n",
			oid_to_hex(hex, &head.oid, f->fork->source->algo));
	if (ret == ERR_NOMEM)
		error_nomem(f->err);
	refs_close(refs);
	if (!ret)
		ret = write_file(f, "HEAD", &text);
	buf_release(&text);
	return ret;
}

/*
 * Writes info/alternates into the unfinished repository in f->build. The path
 * to the store may be relative. It stays right when f->build is renamed to the
 * destination, because f->build and the destination have the same parent
 * directory.
 */
static int write_alternates(const struct forking *f)
{
	struct buf dir = BUF_INIT, line = BUF_INIT;
	int ret = buf_printf(&dir, "%s/objects", f->build);

	if (!ret)
		ret = network_link_line(&line, f->network, dir.data);
	ret = ret < 0 ? error_nomem(f->err)
		      : write_file(f, "objects/info/alternates", &line);
	buf_release(&dir);
	buf_release(&line);
	return ret;
}

static int write_refs(const struct forking *f)
{
	struct repo_options options = {
		.path = f->build,
		.flags = REPO_OPEN_EXACT | REPO_OPEN_NO_OWNER,
	};
	struct repo *repo = NULL;
	int ret = repo_open(&repo, &options, f->err);

	if (!ret)
		ret = network_refs_write(repo, f->fork->refs, f->network->store,
					 f->err);
	repo_close(repo);
	return ret;
}

/* Builds the whole repository of the fork in f->build. */
static int build(const struct forking *f)
{
	int ret = sys_tempdir_remove(f->build, f->err);

	if (!ret)
		ret = sys_mkdir_p(f->build, f->err);
	if (!ret)
		ret = write_config(f);
	if (!ret)
		ret = write_head(f);
	if (!ret)
		ret = repo_init(f->build, NULL, NULL, f->network->store->algo,
				f->err);
	if (ret > 0)
		ret = write_alternates(f);
	if (!ret)
		ret = write_refs(f);
	return ret;
}

static int sync_parent(const char *path, struct error *err)
{
	const char *slash = strrchr(path, '/');
	char *dir = mem_strndup(path, (size_t)(slash - path) + 1);
	int ret = dir ? sys_sync_dir(dir, err) : error_nomem(err);

	free(dir);
	return ret;
}

/*
 * Returns 1 if the complete fork `id` is at `path`, 0 if not, or a negative
 * error code. A fork is made in another directory, which is renamed to `path`
 * at the end. So a repository at `path` that is marked as the fork is complete.
 */
static int is_complete(struct network *network, uint32_t id, const char *path,
		       struct error *err)
{
	struct repo_options options = {
		.path = path,
		.flags = REPO_OPEN_EXACT,
	};
	enum network_link link = NETWORK_LINK_NONE;
	struct repo *repo;
	bool is_fork = false;
	int ret;

	if (!sys_exists(path))
		return 0;
	ret = repo_open(&repo, &options, err);
	if (!ret)
		ret = network_link_check(&link, network, repo, err);
	if (!ret)
		is_fork = link == NETWORK_LINK_STORE &&
			  network_is_marked(repo, id);
	repo_close(repo);
	return ret == ERR_MISSING ? 0 : ret < 0 ? ret : is_fork;
}

static int make(struct forking *f)
{
	int ret = check_free(f);

	if (!ret)
		ret = build(f);
	if (!ret)
		ret = sys_rename(f->build, f->path, f->err);
	if (!ret)
		return f->fsync == SYS_FSYNC_NONE
			       ? 0
			       : sync_parent(f->path, f->err);
	sys_tempdir_remove(f->build, NULL);
	network_forget(f->network, f->id, NULL);
	return ret;
}

int network_fork(uint32_t *id, struct network *network,
		 const struct network_fork *fork, struct error *err)
{
	struct forking f = {.network = network, .fork = fork, .err = err};
	int ret = repo_fsync_method(fork->source, REPO_FSYNC_REFERENCE,
				    &f.fsync, err);

	if (!ret)
		ret = settle_path(&f);
	if (!ret)
		ret = register_fork(&f);
	if (!ret)
		ret = is_complete(network, f.id, f.path, err);
	if (!ret)
		ret = make(&f);
	if (ret >= 0)
		ret = network_set_state(network, f.id, NETWORK_MEMBER, f.fsync,
					err);
	if (f.id)
		network_unlock(network, NETWORK_LOCK_MEMBERS + f.id);
	*id = f.id;
	forking_release(&f);
	return ret;
}

int network_fork_settle(struct network *network, uint32_t id, struct error *err)
{
	const struct network_entry *entry = network_registry_find(
		&network->registry, id);
	struct buf path = BUF_INIT;
	char *build = NULL;
	int ret = !entry || network_path(&path, network, entry) < 0
			  ? error_nomem(err)
			  : is_complete(network, id, path.data, err);

	if (ret > 0) {
		ret = network_set_state(network, id, NETWORK_MEMBER,
					network->fsync, err);
		buf_release(&path);
		return ret < 0 ? ret : 1;
	}
	if (!ret) {
		build = build_path(path.data, id);
		ret = build ? sys_tempdir_remove(build, err) : error_nomem(err);
	}
	if (!ret)
		ret = network_forget(network, id, err);
	free(build);
	buf_release(&path);
	return ret;
}
