/* SPDX-License-Identifier: MIT */
/*
 * Reads core.fsync, which lists the files that must be durable before a command
 * reports success.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "config/config-internal.h"
#include "repo/repo.h"

#define OBJECTS (REPO_FSYNC_LOOSE_OBJECT | REPO_FSYNC_PACK)
#define DERIVED (REPO_FSYNC_PACK_METADATA | REPO_FSYNC_COMMIT_GRAPH)
#define REFERENCE (REPO_FSYNC_REFERENCE | REPO_FSYNC_PACKED_REFS)
#define COMMITTED (OBJECTS | REFERENCE)
#define DEFAULT (REPO_FSYNC_PACK | DERIVED | REPO_FSYNC_PACKED_REFS)

static const struct {
	const char *name;
	unsigned bits;
} components[] = {
	{"loose-object", REPO_FSYNC_LOOSE_OBJECT},
	{"pack", REPO_FSYNC_PACK},
	{"pack-metadata", REPO_FSYNC_PACK_METADATA},
	{"commit-graph", REPO_FSYNC_COMMIT_GRAPH},
	{"index", REPO_FSYNC_INDEX},
	{"reference", REFERENCE},
	{"objects", OBJECTS},
	{"derived-metadata", DERIVED},
	{"committed", COMMITTED},
	{"added", COMMITTED | REPO_FSYNC_INDEX},
	{"all", COMMITTED | DERIVED | REPO_FSYNC_INDEX},
};

static unsigned component_bits(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_NR(components); i++)
		if (strlen(components[i].name) == len &&
		    !strncasecmp(components[i].name, name, len))
			return components[i].bits;
	return 0;
}

/*
 * Applies one item of core.fsync to the set of components. Returns false if the
 * item is unknown.
 */
static bool apply_item(unsigned *set, const char *item, size_t len)
{
	bool remove = len && *item == '-';
	unsigned bits;

	if (len == 4 && !strncasecmp(item, "none", 4)) {
		*set = 0;
		return true;
	}
	bits = component_bits(item + remove, len - remove);
	if (remove)
		*set &= ~bits;
	else
		*set |= bits;
	return bits != 0;
}

static int parse_components(unsigned *set, const char *list, struct error *err)
{
	static const char separators[] = ", \t\n\r";

	for (;;) {
		size_t len;

		list += strspn(list, separators);
		len = strcspn(list, separators);
		if (!len)
			return 0;
		if (!apply_item(set, list, len))
			return error_set(err, ERR_INVALID,
					 "unknown core.fsync component '%.*s'",
					 (int)len, list);
		list += len;
	}
}

static int configured_set(unsigned *set, const struct config *config,
			  struct error *err)
{
	const struct config_entry *list = config_find(config, "core.fsync");
	bool loose = false;
	int ret;

	*set = DEFAULT;
	if (list && !list->value)
		return error_set(err, ERR_INVALID,
				 "missing value for 'core.fsync'");
	if (list)
		return parse_components(set, list->value, err);
	/* core.fsyncObjectFiles has an effect only if core.fsync is not set. */
	ret = config_bool(config, "core.fsyncobjectfiles", &loose, err);
	if (ret < 0)
		return ret;
	if (loose)
		*set |= REPO_FSYNC_LOOSE_OBJECT;
	return 0;
}

static int configured_method(enum sys_fsync_method *method,
			     const struct config *config, struct error *err)
{
	const char *value = config_string(config, "core.fsyncmethod");

	*method = SYS_FSYNC_FSYNC;
	if (!value || !strcmp(value, "fsync") || !strcmp(value, "batch"))
		return 0;
	if (strcmp(value, "writeout-only"))
		return error_set(err, ERR_INVALID,
				 "unknown core.fsyncMethod value '%s'", value);
	*method = SYS_FSYNC_WRITEOUT_ONLY;
	return 0;
}

int repo_fsync_method(const struct repo *repo,
		      enum repo_fsync_component component,
		      enum sys_fsync_method *method, struct error *err)
{
	unsigned set;
	int enabled = config_env_bool("GIT_TEST_FSYNC", true, err);
	int ret = enabled < 0 ? enabled
			      : configured_set(&set, &repo->config, err);

	if (!ret)
		ret = configured_method(method, &repo->config, err);
	if (!ret && (!enabled || !(set & component)))
		*method = SYS_FSYNC_NONE;
	return ret;
}
