/* SPDX-License-Identifier: MIT */
/*
 * Opens repositories of a fork network's members, and links repositories to the
 * shared store.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/relpath.h"
#include "islands/network-member.h"
#include "odb/odb-alternates.h"
#include "sys/io.h"
#include "sys/lockfile.h"
#include "sys/map.h"
#include "sys/share.h"

#define ALTERNATES "info/alternates"
#define LOCK_WAIT_MS 1000
#define PREFIX_FORMAT "refs/virtual/%u/"

int network_prefix(struct buf *out, uint32_t id)
{
	return buf_printf(out, PREFIX_FORMAT, id);
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
	/*
	 * With SYS_SHARE_PID, a lock file in the member has a PID file beside
	 * it, which contains the id of the process that holds the lock. If the
	 * process is killed, both files stay. A message about the lock file can
	 * then name the id of the killed process.
	 */
	if (!ret)
		(*out)->share |= SYS_SHARE_PID;
	if (!ret && (*out)->algo != network->store->algo)
		ret = error_set(err, ERR_INVALID,
				"'%s' has another hash function than the store",
				path.data);
	if (ret == ERR_MISSING)
		error_set(err, ERR_MISSING,
			  "member %u: there is no repository at '%s'; if it "
			  "was removed for good, run git network delete",
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

bool network_is_marked(const struct repo *repo, uint32_t id)
{
	const char *value = config_string(&repo->config,
					  "core.alternaterefsprefixes");
	char wanted[sizeof(PREFIX_FORMAT) + 10];

	snprintf(wanted, sizeof(wanted), PREFIX_FORMAT, id);
	return value && !strcmp(value, wanted);
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

/* A change of the configuration file of a member repository. */
struct edit {
	const struct network *network;
	const struct repo *repo;
	/* the value of core.alternateRefsPrefixes that is added or removed */
	struct buf prefix;
	/* the content of the configuration file */
	struct buf text;
	struct error *err;
};

static int add_section(struct edit *e, uint32_t id)
{
	int ret = 0;

	if (e->text.len && e->text.data[e->text.len - 1] != '\n')
		ret = buf_append_char(&e->text, '\n');
	return ret ? ret : network_config_section(&e->text, id);
}

/*
 * Returns whether a line of a configuration file sets
 * core.alternateRefsPrefixes to e->prefix.
 */
static bool is_prefix_line(const struct edit *e, const char *line, size_t len)
{
	static const char key[] = "alternaterefsprefixes";
	const char *end = line + len;
	size_t i = 0;

	while (line < end && strchr(" \t", *line))
		line++;
	while (key[i] && line < end && (*line | 0x20) == key[i])
		i++, line++;
	if (key[i])
		return false;
	while (line < end && strchr(" \t=", *line))
		line++;
	while (line < end && strchr(" \t\n", end[-1]))
		end--;
	return (size_t)(end - line) == e->prefix.len &&
	       !memcmp(line, e->prefix.data, e->prefix.len);
}

/*
 * Removes the line with the prefix from the configuration text. If the section
 * then has no line left, removes the header of the section too.
 */
static int remove_line(struct edit *e)
{
	static const char header[] = "[core]\n";
	const size_t header_len = sizeof(header) - 1;
	struct buf kept = BUF_INIT;
	const char *p = e->text.data, *end = p + e->text.len;
	int ret = 0;

	while (p < end && !ret) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		const char *next = newline ? newline + 1 : end;

		if (!is_prefix_line(e, p, (size_t)(next - p)))
			ret = buf_append(&kept, p, (size_t)(next - p));
		else if ((next == end || *next == '[') &&
			 kept.len >= header_len &&
			 !memcmp(kept.data + kept.len - header_len, header,
				 header_len))
			buf_set_len(&kept, kept.len - header_len);
		p = next;
	}
	buf_release(&e->text);
	e->text = kept;
	return ret;
}

/*
 * Takes the lock of a configuration file. `git network` holds this lock only
 * for a moment. So a lock whose process is gone was left by an interrupted `git
 * network add` or `leave`, and is removed.
 */
static int lock_config(struct sys_tempfile *lock, const struct edit *e,
		       const char *path)
{
	const unsigned mode = 0666 | e->repo->share | SYS_SHARE_PID;
	char text[ERROR_MESSAGE_MAX];
	long pid;
	int ret = sys_lockfile_create_mode(lock, path, mode, LOCK_WAIT_MS,
					   e->err);

	if (ret != ERR_DENIED ||
	    sys_lockfile_holder(&pid, path) != SYS_LOCKFILE_GONE)
		return ret;
	snprintf(text, sizeof(text),
		 "removed the lock '%s' of process %ld, which no longer runs",
		 path, pid);
	network_warn(e->network, text);
	ret = sys_lockfile_remove(path, e->err);
	return ret ? ret
		   : sys_lockfile_create_mode(lock, path, mode, LOCK_WAIT_MS,
					      e->err);
}

/*
 * Adds a section with core.alternateRefsPrefixes for member `id` to the
 * configuration file, or removes the prefix if `id` is 0. Returns 0 or a
 * negative error code.
 */
static int edit_config(struct edit *e, uint32_t id)
{
	struct sys_tempfile lock = SYS_TEMPFILE_INIT;
	char *config = repo_common_path(e->repo, "config"), *path = NULL;
	struct buf lock_path = BUF_INIT;
	int ret = config ? sys_follow_links(&path, config, e->err)
			 : error_nomem(e->err);

	if (!ret)
		ret = buf_printf(&lock_path, "%s.lock", path) < 0
			      ? error_nomem(e->err)
			      : lock_config(&lock, e, lock_path.data);

	if (!ret)
		ret = sys_read_file(&e->text, path, e->err);
	if (ret == ERR_MISSING)
		ret = 0;
	if (!ret && (id ? add_section(e, id) : remove_line(e)) < 0)
		ret = error_nomem(e->err);
	if (!ret)
		ret = sys_tempfile_write(&lock, e->text.data, e->text.len,
					 e->err);
	if (!ret)
		ret = sys_tempfile_commit(&lock, path, SYS_FSYNC_FSYNC, e->err);
	sys_tempfile_abort(&lock);
	free(config);
	free(path);
	buf_release(&lock_path);
	return ret;
}

/*
 * Sets core.alternateRefsPrefixes to the prefix of the member if `wanted`, else
 * removes the prefix.
 */
static int set_prefixes(const struct network *network, const struct repo *repo,
			uint32_t id, bool wanted, struct error *err)
{
	struct edit e = {network, repo, BUF_INIT, BUF_INIT, err};
	int ret = network_prefix(&e.prefix, id) < 0 ? error_nomem(err) : 0;

	if (!ret && network_is_marked(repo, id) != wanted)
		ret = edit_config(&e, wanted ? id : 0);
	buf_release(&e.prefix);
	buf_release(&e.text);
	return ret;
}

int network_link(const struct network *network, const struct repo *repo,
		 uint32_t id, struct error *err)
{
	char *objects = sys_realpath(repo->object_dir, err);
	char *dir = repo_object_path(repo, "info");
	char *path = repo_object_path(repo, ALTERNATES);
	struct buf line = BUF_INIT;
	int ret = objects ? set_prefixes(network, repo, id, true, err) : ERR_IO;

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

int network_unlink(const struct network *network, const struct repo *repo,
		   uint32_t id, struct error *err)
{
	char *path = repo_object_path(repo, ALTERNATES);
	int ret = path ? sys_unlink(path, err) : error_nomem(err);

	free(path);
	return ret ? ret : set_prefixes(network, repo, id, false, err);
}
