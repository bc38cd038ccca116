/* SPDX-License-Identifier: MIT */
/*
 * Reads core.fsync, which lists the files that must be durable before a command
 * reports success.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/config.h"
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

/*
 * Returns the bits of all components whose names begin with the `len` bytes at
 * `name`, as in stock Git. Case matters.
 */
static unsigned component_bits(const char *name, size_t len)
{
	unsigned bits = 0;

	for (size_t i = 0; i < ARRAY_NR(components); i++)
		if (!strncmp(components[i].name, name, len))
			bits |= components[i].bits;
	return bits;
}

/* the components that a list adds to a set, and those that it removes */
struct change {
	unsigned added, removed;
};

/* Applies one item of core.fsync to *change. Returns false if the item is
 * unknown. */
static bool take_item(struct change *change, const char *item, size_t len)
{
	bool removes = *item == '-';
	unsigned bits = component_bits(item + removes, len - removes);

	if (removes)
		change->removed |= bits;
	else
		change->added |= bits;
	return bits != 0;
}

/*
 * Applies `list`, a value of core.fsync, to *set, the set of components to
 * sync. Items are separated by commas; white space before an item is skipped.
 * "<name>" adds components and "-<name>" removes them. Adding wins: a component
 * that any item adds is in the set, even if a later item removes it. If
 * unknown() is not NULL, it is called for each unknown item, without the minus.
 *
 * As in stock Git, "none" is known only as the last item, and an item "-"
 * without a name ends the list: later items have no effect.
 */
static void apply_list(unsigned *set, const char *list,
		       void (*unknown)(const char *item, size_t len))
{
	struct change change = {0};

	for (;;) {
		bool lone_minus;
		size_t len;

		list += strspn(list, ", \t\n\r");
		len = strcspn(list, ",");
		if (!strcmp(list, "none"))
			*set = 0;
		if (!len || !strcmp(list, "none"))
			break;
		lone_minus = len == 1 && *list == '-';
		if ((lone_minus || !take_item(&change, list, len)) && unknown)
			unknown(list + (*list == '-'), len - (*list == '-'));
		if (lone_minus)
			break;
		list += len;
	}
	*set = (*set & ~change.removed) | change.added;
}

void repo_fsync_each_unknown(const char *list,
			     void (*fn)(const char *item, size_t len))
{
	unsigned set = 0;

	apply_list(&set, list, fn);
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
	if (list) {
		apply_list(set, list->value, NULL);
		return 0;
	}
	/* core.fsyncObjectFiles has an effect only if core.fsync is not set. */
	ret = config_bool(config, "core.fsyncobjectfiles", &loose, err);
	if (ret < 0)
		return ret;
	if (loose)
		*set |= REPO_FSYNC_LOOSE_OBJECT;
	return 0;
}

static enum sys_fsync_method configured_method(const struct config *config)
{
	const char *value = config_string(config, "core.fsyncmethod");

	return value && !strcmp(value, "writeout-only")
		       ? SYS_FSYNC_WRITEOUT_ONLY
		       : SYS_FSYNC_FSYNC;
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
		*method = enabled && (set & component)
				  ? configured_method(&repo->config)
				  : SYS_FSYNC_NONE;
	return ret;
}
