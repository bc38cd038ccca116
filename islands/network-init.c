/* SPDX-License-Identifier: MIT */
/* Makes the shared store of a fork network. */
#include "base/buf.h"
#include "islands/network.h"
#include "sys/io.h"
#include "sys/tempfile.h"

/*
 * Configuration of a shared store. Members rely on the references of the store,
 * so each change of them is written to the disk (core.fsync = all). Only `git
 * network repack --prune` removes objects. Fetches are not served from the
 * store, and the references of members are hidden.
 */
static const char config_text[] = "[core]\n"
				  "\trepositoryformatversion = 1\n"
				  "\tfilemode = true\n"
				  "\tbare = true\n"
				  "\tfsync = all\n"
				  "\tlockfilePid = true\n"
				  "[extensions]\n"
				  "\tpreciousObjects = true\n"
				  "[gc]\n"
				  "\tauto = 0\n"
				  "\tpruneExpire = never\n"
				  "[transfer]\n"
				  "\thideRefs = refs/virtual/\n"
				  "[http]\n"
				  "\tgetanyfile = false\n"
				  "\tuploadpack = false\n"
				  "\treceivepack = false\n"
				  "[pack]\n"
				  "\tisland = refs/virtual/([0-9]+)/\n"
				  "\tislandCore = 1\n"
				  "[repack]\n"
				  "\tuseDeltaIslands = true\n";

static int write_file(const char *dir, const char *name, const char *text,
		      size_t len, struct error *err)
{
	struct buf path = BUF_INIT;
	int ret = buf_printf(&path, "%s/%s", dir, name) < 0
			  ? error_nomem(err)
			  : sys_tempfile_replace(path.data, text, len,
						 SYS_FSYNC_FSYNC, err);

	buf_release(&path);
	return ret;
}

static int exists(const char *dir, const char *name)
{
	struct buf path = BUF_INIT;
	int ret = buf_printf(&path, "%s/%s", dir, name);

	if (!ret)
		ret = sys_exists(path.data);
	buf_release(&path);
	return ret;
}

/*
 * Checks that a store can be made at `path`. A repository with a directory
 * "network" is allowed: an interrupted network_init() has left it. Returns 0,
 * ERR_INVALID if there is a store or another repository, or ERR_NOMEM.
 */
static int check_place(const char *path, struct error *err)
{
	int is_store = exists(path, "network/members");
	int is_ours = exists(path, "network");
	int is_repo = exists(path, "HEAD");

	if (is_store < 0 || is_ours < 0 || is_repo < 0)
		return error_nomem(err);
	if (is_store)
		return error_set(err, ERR_INVALID,
				 "'%s' is the store of a network already",
				 path);
	if (is_repo && !is_ours)
		return error_set(err, ERR_INVALID,
				 "'%s' is a repository already", path);
	return 0;
}

/*
 * The registry of members is written last. A directory without a registry is
 * not a store, so an interrupted call leaves nothing that is taken for a store.
 */
int network_init(const char *path, enum hash_algo algo, struct error *err)
{
	struct network_registry empty = NETWORK_REGISTRY_INIT;
	struct buf text = BUF_INIT, dir = BUF_INIT;
	int ret = check_place(path, err);

	if (!ret && (buf_printf(&dir, "%s/network", path) < 0 ||
		     network_registry_format(&text, &empty) < 0))
		ret = error_nomem(err);
	if (!ret)
		ret = sys_mkdir_p(dir.data, err);
	if (!ret)
		ret = write_file(path, "config", config_text,
				 sizeof(config_text) - 1, err);
	if (!ret)
		ret = repo_init(path, NULL, NULL, algo, err);
	if (ret >= 0)
		ret = write_file(path, "network/members", text.data, text.len,
				 err);
	buf_release(&dir);
	buf_release(&text);
	return ret;
}
