/* SPDX-License-Identifier: MIT */
/*
 * Reads core.repositoryFormatVersion and the extensions, see Git's
 * technical/repository-version.
 *
 * A repository of version 1 with an unknown extension cannot be used. In
 * version 0 unknown extensions have no meaning. A few extensions are older than
 * version 1, and have a meaning in version 0 too. Extensions that came with
 * version 1 are an error in version 0.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "config/config.h"
#include "repo/repo-internal.h"

#define VERSION_MAX 1

static const struct repo_format no_format = {-1,   HASH_SHA1, REPO_REFS_FILES,
					     NULL, false,     false};

static const char *const storage_names[] = {
	[REPO_REFS_FILES] = "files",
	[REPO_REFS_REFTABLE] = "reftable",
};

const char *repo_ref_storage_name(enum repo_ref_storage storage)
{
	return storage_names[storage];
}

bool repo_ref_storage_by_name(enum repo_ref_storage *storage, const char *name)
{
	for (size_t i = 0; i < ARRAY_NR(storage_names); i++)
		if (!strcmp(storage_names[i], name)) {
			*storage = (enum repo_ref_storage)i;
			return true;
		}
	return false;
}

bool repo_ref_storage_parse(enum repo_ref_storage *storage, const char **path,
			    size_t *name_len, const char *text)
{
	const char *end = strstr(text, "://");

	*name_len = end ? (size_t)(end - text) : strlen(text);
	*path = end ? end + strlen("://") : text + *name_len;
	for (size_t i = 0; i < ARRAY_NR(storage_names); i++)
		if (strlen(storage_names[i]) == *name_len &&
		    !strncmp(storage_names[i], text, *name_len)) {
			*storage = (enum repo_ref_storage)i;
			return true;
		}
	return false;
}

/* The state of reading the extensions in a repository's configuration. */
struct scan {
	struct repo_format *format;
	/*
	 * owned: names of extensions in the configuration. `unknown` has those
	 * that this program does not know, `v1_only` those that require version
	 * 1. Each name is written as "\n\t<name>".
	 */
	struct buf unknown, v1_only;
	unsigned unknown_nr, v1_only_nr;
	struct error *err;
};

static int bad_value(const struct config_entry *entry, struct error *err)
{
	if (!entry->value)
		return error_set(err, ERR_INVALID, "missing value for '%s'",
				 entry->key);
	return error_set(err, ERR_INVALID, "invalid value for '%s': '%s'",
			 entry->key, entry->value);
}

/*
 * Checks the value of a boolean extension. Returns 1 for true, 0 for false, or
 * ERR_INVALID.
 */
static int check_bool(const struct config_entry *entry, struct error *err)
{
	int ret = config_parse_bool(entry->value);

	if (ret >= 0)
		return ret;
	return error_set(err, ERR_INVALID,
			 "bad boolean config value '%s' for '%s'", entry->value,
			 entry->key);
}

static int add_name(struct buf *list, unsigned *nr, const char *name,
		    struct error *err)
{
	++*nr;
	return buf_printf(list, "\n\t%s", name) < 0 ? error_nomem(err) : 0;
}

/*
 * Reads an extension that is valid in every version. Returns 1 if `name` is
 * such an extension, 0 if not, or a negative error code.
 */
static int common_extension(struct scan *s, const char *name,
			    const struct config_entry *entry)
{
	int ret = 0;

	if (!strcmp(name, "noop"))
		return 1;
	if (!strcmp(name, "preciousobjects")) {
		ret = check_bool(entry, s->err);
	} else if (!strcmp(name, "worktreeconfig")) {
		ret = check_bool(entry, s->err);
		s->format->worktree_config = ret > 0;
	} else if (!strcmp(name, "partialclone")) {
		if (!entry->value)
			return bad_value(entry, s->err);
		s->format->has_promisor = true;
	} else {
		return 0;
	}
	return ret < 0 ? ret : 1;
}

/*
 * Reads an extension that requires version 1. Returns 1 if `name` is such an
 * extension, 0 if not, or a negative error code.
 */
static int v1_extension(struct scan *s, const char *name,
			const struct config_entry *entry)
{
	size_t name_len;

	if (!strcmp(name, "noop-v1"))
		return 1;
	if (!strcmp(name, "objectformat")) {
		if (!entry->value ||
		    !hash_by_name(&s->format->algo, entry->value))
			return bad_value(entry, s->err);
		return 1;
	}
	/*
	 * This program reads neither work trees nor submodules, so the paths
	 * that these extensions allow do not matter.
	 */
	if (!strcmp(name, "relativeworktrees") ||
	    !strcmp(name, "submodulepathconfig"))
		return check_bool(entry, s->err) < 0 ? ERR_INVALID : 1;
	if (!strcmp(name, "refstorage")) {
		if (!entry->value ||
		    !repo_ref_storage_parse(&s->format->ref_storage,
					    &s->format->refs_path, &name_len,
					    entry->value))
			return bad_value(entry, s->err);
		return 1;
	}
	return 0;
}

static int note_extension(void *ctx, const struct config_entry *entry)
{
	struct scan *s = ctx;
	const char *name = entry->key + strlen("extensions.");
	int ret = common_extension(s, name, entry);

	if (ret)
		return ret < 0 ? ret : 0;
	ret = v1_extension(s, name, entry);
	if (ret < 0)
		return ret;
	if (ret)
		return add_name(&s->v1_only, &s->v1_only_nr, name, s->err);
	return add_name(&s->unknown, &s->unknown_nr, name, s->err);
}

static int judge(const struct scan *s, struct error *err)
{
	int64_t version = s->format->version;

	if (version > VERSION_MAX)
		return error_set(err, ERR_UNSUPPORTED,
				 "Expected git repo version <= %d, found %lld",
				 VERSION_MAX, (long long)version);
	if (version == 1 && s->unknown_nr)
		return error_set(err, ERR_UNSUPPORTED,
				 "unknown repository extension%s found:%s",
				 s->unknown_nr > 1 ? "s" : "", s->unknown.data);
	if (version == 0 && s->v1_only_nr)
		return error_set(err, ERR_UNSUPPORTED,
				 "repo version is 0, but v1-only extension%s "
				 "found:%s",
				 s->v1_only_nr > 1 ? "s" : "", s->v1_only.data);
	return 0;
}

static int check_format(struct repo_format *format, const struct config *config,
			struct error *err)
{
	struct scan s = {format, BUF_INIT, BUF_INIT, 0, 0, err};
	int ret = config_i64(config, "core.repositoryformatversion",
			     &format->version, err);

	if (ret >= 0)
		ret = config_each(config, "extensions.", note_extension, &s);
	if (!ret)
		ret = judge(&s, err);
	if (format->version < 0)
		*format = no_format;
	buf_release(&s.unknown);
	buf_release(&s.v1_only);
	return ret;
}

int repo_read_format(struct repo_format *format, struct config *config,
		     const char *common_dir, struct error *err)
{
	char *path = repo_join_path(common_dir, "config");
	int ret = path ? config_load_plain(config, path, err)
		       : error_nomem(err);

	*format = no_format;
	if (!ret)
		ret = check_format(format, config, err);
	else if (ret == ERR_MISSING)
		ret = 0;
	free(path);
	return ret;
}
