/* SPDX-License-Identifier: MIT */
/* Linking repositories to a store. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/relpath.h"
#include "islands/network-member.h"
#include "odb/odb-alternates.h"
#include "sys/io.h"
#include "sys/lockfile.h"
#include "sys/map.h"

#define ALTERNATES "info/alternates"
#define LOCK_WAIT_MS 1000

int network_prefix(struct buf *out, uint32_t id)
{
	return buf_printf(out, "refs/virtual/%u/", id);
}

int network_member_open(struct repo **out, const struct network *network,
			const struct network_entry *entry, struct error *err)
{
	struct buf path = BUF_INIT;
	struct repo_options options = {.flags = REPO_OPEN_EXACT};
	int ret;

	*out = NULL;
	if (network_path(&path, network, entry) < 0)
		return error_nomem(err);
	options.path = path.data;
	ret = repo_open(out, &options, err);
	if (!ret && (*out)->algo != network->store->algo)
		ret = error_set(err, ERR_INVALID,
				"'%s' has another hash function than the store",
				path.data);
	if (ret == ERR_MISSING)
		error_set(err, ERR_MISSING,
			  "member %u is not at '%s'; if it is gone for good, "
			  "delete it",
			  entry->id, path.data);
	if (ret < 0) {
		repo_close(*out);
		*out = NULL;
	}
	buf_release(&path);
	return ret;
}

int network_link_check(enum network_link *link, const struct network *network,
		       const struct repo *repo, struct error *err)
{
	struct error warning = ERROR_INIT;
	char **dirs;
	size_t nr;
	int ret = odb_alternates_list(&dirs, &nr, repo, &warning, err);

	if (!ret && (warning.code || nr > 2))
		*link = NETWORK_LINK_OTHER;
	else if (!ret && nr == 2)
		*link = strcmp(dirs[1], network->object_dir)
				? NETWORK_LINK_OTHER
				: NETWORK_LINK_STORE;
	else if (!ret)
		*link = NETWORK_LINK_NONE;
	for (size_t i = 0; i < nr; i++)
		free(dirs[i]);
	free(dirs);
	return ret;
}

int network_link_line(struct buf *out, const struct network *network,
		      const char *object_dir)
{
	int ret = relpath_append(out, object_dir, network->object_dir);

	return ret ? ret : buf_append_char(out, '\n');
}

int network_config_section(struct buf *out, uint32_t id)
{
	int ret = buf_append_str(out, "[core]\n\talternateRefsPrefixes = ");

	if (!ret)
		ret = network_prefix(out, id);
	return ret ? ret : buf_append_char(out, '\n');
}

/* Append the section to a configuration file under Git's lock. */
static int add_section(const char *path, uint32_t id, struct error *err)
{
	struct sys_tempfile lock = SYS_TEMPFILE_INIT;
	struct buf text = BUF_INIT, name = BUF_INIT;
	int ret = buf_printf(&name, "%s.lock", path);

	if (!ret)
		ret = sys_lockfile_create(&lock, name.data, LOCK_WAIT_MS, err);
	else
		ret = error_nomem(err);
	if (!ret)
		ret = sys_read_file(&text, path, err);
	if (ret == ERR_MISSING)
		ret = 0;
	if (!ret && ((text.len && text.data[text.len - 1] != '\n' &&
		      buf_append_char(&text, '\n') < 0) ||
		     network_config_section(&text, id) < 0))
		ret = error_nomem(err);
	if (!ret)
		ret = sys_tempfile_write(&lock, text.data, text.len, err);
	if (!ret)
		ret = sys_tempfile_commit(&lock, path, SYS_FSYNC_FSYNC, err);
	sys_tempfile_abort(&lock);
	buf_release(&text);
	buf_release(&name);
	return ret;
}

static int set_prefixes(const struct repo *repo, uint32_t id, struct error *err)
{
	const char *now = config_string(&repo->config,
					"core.alternaterefsprefixes");
	struct buf wanted = BUF_INIT;
	char *path = NULL;
	int ret = network_prefix(&wanted, id) < 0 ? error_nomem(err) : 0;

	if (!ret && !(now && !strcmp(now, wanted.data))) {
		path = repo_common_path(repo, "config");
		ret = path ? add_section(path, id, err) : error_nomem(err);
	}
	free(path);
	buf_release(&wanted);
	return ret;
}

int network_link(const struct network *network, const struct repo *repo,
		 uint32_t id, struct error *err)
{
	char *objects = sys_realpath(repo->object_dir, err);
	char *dir = repo_object_path(repo, "info");
	char *path = repo_object_path(repo, ALTERNATES);
	struct buf line = BUF_INIT;
	int ret = objects ? set_prefixes(repo, id, err) : ERR_IO;

	if (!ret &&
	    (!dir || !path || network_link_line(&line, network, objects) < 0))
		ret = error_nomem(err);
	if (!ret)
		ret = sys_mkdir_p(dir, err);
	if (!ret)
		ret = sys_tempfile_replace(path, line.data, line.len,
					   SYS_FSYNC_FSYNC, err);
	free(objects);
	free(dir);
	free(path);
	buf_release(&line);
	return ret;
}

int network_unlink(const struct repo *repo, struct error *err)
{
	char *path = repo_object_path(repo, ALTERNATES);
	int ret = path ? sys_unlink(path, err) : error_nomem(err);

	free(path);
	return ret;
}
