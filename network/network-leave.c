/* SPDX-License-Identifier: MIT */
/* Lets members leave a network. */
#include <stdlib.h>
#include <string.h>

#include "base/affix.h"
#include "base/mem.h"
#include "islands/network-delete.h"
#include "islands/network-member.h"
#include "network/network-leave.h"
#include "packs/roots.h"
#include "repack/repack.h"
#include "sys/io.h"
#include "sys/map.h"
#include "sys/tempfile.h"

/*
 * Content of the .keep file of the pack with all objects of a member that
 * leaves. Without the .keep file, a repack of the member could remove this
 * pack, if the repack began before the member left. Such a repack still knows
 * the shared store of the network as an alternate, and leaves out objects that
 * the shared store has. So its new pack lacks these objects, but the member
 * will no longer be able to read them from the shared store.
 */
#define KEEP_TEXT "git network leave\n"

/* ---- packing all objects */

/*
 * Pack all objects of a repository into one pack with a .keep file, as `git
 * repack -a -d -k` does. Returns 0 or a negative error code.
 */
static int pack_all(const struct repo *repo, struct error *err)
{
	struct repack_options options = {
		.unreachable = REPACK_KEEP,
		.all = true,
		.remove_redundant = true,
		.write_bitmap = repo->is_bare,
		.bitmap_is_default = true,
		.pack_kept_objects = true,
		.update_server_info = true,
	};
	struct repack_result result;
	int ret = repo_check_precious(repo, "delete packs", err);

	/* With extensions.preciousObjects, repack without removing packs. */
	if (ret == ERR_DENIED) {
		options.remove_redundant = false;
		ret = 0;
	}
	if (!ret)
		ret = newpack_options_load(&options.newpack, repo, err);
	options.newpack.replace = true;
	options.newpack.keep = KEEP_TEXT;
	options.newpack.max_pack_size = 0;
	return ret < 0 ? ret : repack_run(&result, repo, &options, err);
}

struct checking {
	struct walk walk;
	const struct odb *odb;
	struct error *err;
};

/*
 * Checks that an object is in the member's own object directory, and not only
 * in its alternate. Returns 0 if so, ERR_MISSING if not, or ERR_NOMEM.
 */
static int check_object(struct checking *c, uint32_t obj_pos)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct buf path = BUF_INIT;
	uint32_t ignored;
	struct oid oid;
	bool found = false;
	struct sys_stat st;

	objspace_oid(&oid, &c->walk.space, obj_pos);
	for (uint32_t i = 0; i < c->odb->pack_nr && !found; i++)
		found = c->odb->packs[i].pack->is_local &&
			pack_idx_find(&c->odb->packs[i].pack->idx, oid.bytes,
				      &ignored);
	if (!found && odb_loose_path(&path, c->odb, c->odb->dirs[0], &oid) < 0)
		return error_nomem(c->err);
	if (!found)
		found = !sys_stat(&st, path.data, NULL);
	buf_release(&path);
	return found ? 0
		     : error_set(c->err, ERR_MISSING,
				 "object %s is not stored in '%s' itself",
				 oid_to_hex(hex, &oid, c->odb->algo),
				 c->odb->dirs[0]);
}

static int check_result(struct checking *c, const struct walk_result *found)
{
	const struct history *h = &c->walk.history;
	int ret = 0;

	for (size_t i = 0; i < found->revs.nr && !ret; i++)
		ret = check_object(c,
				   h->commits[found->revs.commits[i]].obj_pos);
	for (size_t i = 0; i < found->objects.nr && !ret; i++)
		ret = check_object(c, found->objects.items[i].obj_pos);
	return ret;
}

/*
 * List all objects that the member needs, and check that the member has each
 * one without its alternate. Returns 0 or a negative error code.
 */
static int check_all(const struct repo *repo, struct error *err)
{
	struct checking c = {.err = err};
	struct walk_tips wants = WALK_TIPS_INIT, haves = WALK_TIPS_INIT;
	struct walk_result found = WALK_RESULT_INIT;
	struct walk_options options = {.objects = true};
	struct refs *refs = NULL;
	struct odb *odb = NULL;
	int ret = refs_open(&refs, repo, err);

	if (!ret)
		ret = odb_open_named(&odb, repo, NULL, err);
	c.odb = odb;
	if (!ret)
		ret = walk_open(&c.walk, odb, NULL, 0, err);
	if (ret < 0)
		goto out;
	ret = roots_add(&c.walk, &wants, refs, ROOTS_ALL, err);
	if (!ret)
		ret = walk_enumerate(&found, &c.walk, &wants, &haves, &options,
				     err);
	if (!ret)
		ret = check_result(&c, &found);
	walk_result_release(&found);
	walk_tips_release(&wants);
	walk_close(&c.walk);
out:
	odb_close(odb);
	refs_close(refs);
	return ret;
}

/*
 * Returns a value for GIT_ALTERNATE_OBJECT_DIRECTORIES: the store, and then the
 * directories that the variable names now. The string is malloc()ed; NULL:
 * memory ran out.
 */
static char *alternates_with_store(const struct network *network,
				   const struct repo *repo)
{
	const char *others = repo->alternate_object_dirs;
	struct buf out = BUF_INIT;
	int ret = buf_append_char(&out, '"');

	/* The path is quoted, because it may have a colon. */
	for (const char *p = network->object_dir; *p && !ret; p++)
		if ((*p != '"' && *p != '\\') ||
		    !(ret = buf_append_char(&out, '\\')))
			ret = buf_append_char(&out, *p);
	if (!ret)
		ret = buf_append_char(&out, '"');
	if (!ret && others)
		ret = buf_printf(&out, ":%s", others) < 0 ? ERR_NOMEM : 0;
	if (ret)
		buf_release(&out);
	return ret ? NULL : buf_detach(&out, NULL);
}

/*
 * Works like check_all(), for a member whose info/alternates was removed.
 * Without this file, the objects of the store could not be read. check_all()
 * leaves out an object that it cannot read if only a reflog, an index or a
 * stopped rebase names the object. So it would not notice that the member lacks
 * such an object of the store. Therefore this function makes the objects of the
 * store readable, only for the check (alternates_with_store()).
 */
static int check_unlinked(const struct network *network,
			  const struct repo *repo, struct error *err)
{
	char *dirs = alternates_with_store(network, repo);
	struct repo with_store = *repo;
	int ret;

	if (!dirs)
		return error_nomem(err);
	with_store.alternate_object_dirs = dirs;
	ret = check_all(&with_store, err);
	free(dirs);
	return ret;
}

/* ---- removing the .keep files */

struct keeps {
	const char *dir; /* the directory of packs */
	struct error *err;
};

/*
 * Removes a file of the directory if it is a .keep file of pack_all(). Other
 * files, and files that cannot be read, stay: a push may remove its own .keep
 * file at any time.
 */
static int remove_keep(void *ctx, const char *name)
{
	const struct keeps *k = ctx;
	struct buf path = BUF_INIT, text = BUF_INIT;
	struct sys_stat st;
	int ret = 0;

	if (!ends_with(name, ".keep"))
		return 0;
	if (buf_printf(&path, "%s/%s", k->dir, name) < 0)
		ret = error_nomem(k->err);
	else if (!sys_stat(&st, path.data, NULL) &&
		 st.size == strlen(KEEP_TEXT) &&
		 !sys_read_file(&text, path.data, NULL) &&
		 text.len == st.size && !memcmp(text.data, KEEP_TEXT, text.len))
		ret = sys_unlink(path.data, k->err);
	buf_release(&path);
	buf_release(&text);
	return ret;
}

/*
 * Removes the .keep files that pack_all() has made, also those of an earlier
 * `leave` that was killed. Returns 0 or a negative error code.
 */
static int remove_keeps(const struct repo *repo, struct error *err)
{
	char *dir = repo_object_path(repo, "pack");
	struct keeps k = {dir, err};
	bool is_there = dir && sys_exists(dir);
	int ret = dir ? 0 : error_nomem(err);

	if (is_there)
		ret = sys_dir_each(dir, remove_keep, &k, err);
	if (is_there && !ret)
		ret = sys_sync_dir(dir, err);
	free(dir);
	return ret;
}

/* ---- unlinking from the store */

/*
 * Maximum number of tries to make a member independent of the store. A try
 * packs all objects of the member into the member, and then checks that the
 * member needs no object of the store (check_all()). A push that arrives
 * meanwhile may use objects that only the store has. The check then fails, and
 * the next try packs these objects, too.
 */
#define TRIES 3

/*
 * Removes info/alternates, and makes the removal durable. Otherwise the file
 * might come back after a power failure. The repository would then borrow from
 * the store without being a member. Returns 0 or a negative error code.
 */
static int remove_alternates(const struct repo *repo, struct error *err)
{
	char *path = repo_object_path(repo, "info/alternates");
	char *info = repo_object_path(repo, "info");
	int ret = path && info ? sys_unlink(path, err) : error_nomem(err);

	if (!ret && sys_exists(info))
		ret = sys_sync_dir(info, err);
	free(path);
	free(info);
	return ret;
}

/*
 * Removes info/alternates, and checks once more that the member has all objects
 * that it needs. If not, the member borrows from the store again. The value of
 * core.alternateRefsPrefixes is removed last: a repository that borrows without
 * this value would show the refs of other members. Returns 0, ERR_MISSING if an
 * object is missing, or another negative error code.
 */
static int unlink_member(struct network *network, const struct repo *repo,
			 uint32_t id, struct error *err)
{
	int ret = remove_alternates(repo, err);

	if (!ret)
		ret = check_unlinked(network, repo, err);
	if (!ret)
		return network_unlink(network, repo, id, err);
	if (network_link(network, repo, id, NULL) < 0)
		return error_set(
			err, ERR_IO,
			"'%s' lacks objects, and its objects/info/alternates "
			"could not be restored",
			repo->git_dir);
	return ret;
}

/*
 * Puts all objects into the member, and unlinks it from the store. Returns 0 or
 * a negative error code.
 */
static int complete_member(struct network *network, const struct repo *repo,
			   uint32_t id, struct error *err)
{
	int ret = ERR_MISSING;

	for (int i = 0; i < TRIES && ret == ERR_MISSING; i++) {
		if (err)
			*err = (struct error)ERROR_INIT;
		ret = remove_keeps(repo, err);
		if (!ret)
			ret = pack_all(repo, err);
		if (ret < 0)
			return ret;
		ret = check_all(repo, err);
		if (!ret)
			ret = network_set_state(network, id, NETWORK_LEAVING,
						network->fsync, err);
		if (!ret)
			ret = unlink_member(network, repo, id, err);
	}
	return ret;
}

/* ---- leaving */

static int leave(struct network *network, const struct network_entry *entry,
		 struct error *err)
{
	enum network_link link = NETWORK_LINK_OTHER;
	struct repo *repo = NULL;
	uint32_t id = entry->id;
	int ret;

	if (entry->state != NETWORK_MEMBER && entry->state != NETWORK_LEAVING)
		return error_set(err, ERR_INVALID,
				 "member %u is in the state '%s': another "
				 "operation runs or was interrupted",
				 id, network_state_name(entry->state));
	ret = network_member_open(&repo, network, entry, err);
	if (!ret)
		ret = network_link_check(&link, network, repo, err);
	if (!ret && link == NETWORK_LINK_OTHER)
		ret = error_set(err, ERR_INVALID,
				"member %u, '%s': its objects/info/alternates "
				"must list the store and nothing else",
				id, repo->git_dir);
	/*
	 * NETWORK_LINK_NONE: the member has no info/alternates, so an earlier
	 * `leave` was killed after it had removed this file. unlink_member()
	 * does the steps that come after this one, and checks that the member
	 * has all objects that it needs. If an object is missing, it writes
	 * info/alternates again and returns ERR_MISSING. The member then
	 * borrows from the store as before, and complete_member() below repeats
	 * all steps.
	 */
	if (!ret && link == NETWORK_LINK_NONE) {
		ret = unlink_member(network, repo, id, err);
		if (ret == ERR_MISSING)
			link = NETWORK_LINK_STORE;
	}
	if (link == NETWORK_LINK_STORE && (!ret || ret == ERR_MISSING))
		ret = complete_member(network, repo, id, err);
	if (!ret)
		ret = remove_keeps(repo, err);
	else if (link == NETWORK_LINK_STORE)
		remove_keeps(repo, NULL);
	if (!ret)
		ret = network_part(network, id, err);
	repo_close(repo);
	return ret;
}

int network_leave(struct network *network, uint32_t id, struct error *err)
{
	const struct network_entry *entry;
	int ret = network_lock(network, NETWORK_LOCK_OBJECTS, true, true, err);

	if (!ret)
		ret = network_lock(network, NETWORK_LOCK_MEMBERS + id, false,
				   true, err);
	if (!ret)
		ret = network_reload(network, err);
	entry = ret ? NULL : network_registry_find(&network->registry, id);
	if (!ret)
		ret = entry ? leave(network, entry, err)
			    : error_set(err, ERR_MISSING,
					"there is no member %u", id);
	network_unlock(network, NETWORK_LOCK_MEMBERS + id);
	network_unlock(network, NETWORK_LOCK_OBJECTS);
	return ret;
}
