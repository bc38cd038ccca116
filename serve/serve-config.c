/* SPDX-License-Identifier: MIT */
/* Loads the configuration of fetches from a table of keys. */
#include <string.h>

#include "base/mem.h"
#include "serve/serve-config.h"
#include "wire/sideband.h"
#include "wire/visible.h"

struct loading {
	const struct repo *repo;
	struct error *warning;
	struct error *err;
};

/*
 * A function that reads the value of a key into a field. Each type of field has
 * its own function. A missing key leaves the field unchanged. Returns 0 or a
 * negative error code.
 */
typedef int load_fn(void *field, const char *key, const struct loading *l);

static int load_flag(void *field, const char *key, const struct loading *l)
{
	int ret = config_bool(&l->repo->config, key, field, l->err);

	return ret < 0 ? ret : 0;
}

struct allowing {
	struct serve_allow *allow;
	struct error *err;
};

/*
 * Handles an entry of an uploadpack.allow*InWant key. allowAnySHA1InWant sets
 * all three fields of struct serve_allow. A later entry overrides an earlier
 * one.
 */
static int take_allow(void *ctx, const struct config_entry *entry)
{
	struct allowing *a = ctx;
	const char *name = strchr(entry->key, '.') + 1;
	bool is_any = !strcmp(name, "allowanysha1inwant");
	bool is_tip = is_any || !strcmp(name, "allowtipsha1inwant");
	bool is_behind = is_any || !strcmp(name, "allowreachablesha1inwant");
	int value;

	if (!is_tip && !is_behind)
		return 0;
	value = config_entry_bool(entry, a->err);
	if (value < 0)
		return value;
	if (is_tip)
		a->allow->tip = value;
	if (is_behind)
		a->allow->reachable = value;
	if (is_any)
		a->allow->any = value;
	return 0;
}

static int load_allow(void *field, const char *key, const struct loading *l)
{
	struct serve_allow *allow = field;
	struct allowing a = {allow, l->err};
	int ret = config_each(&l->repo->config, key, take_allow, &a);

	allow->any = allow->any && allow->tip && allow->reachable;
	return ret;
}

static int load_unborn(void *field, const char *key, const struct loading *l)
{
	static const char *const names[] = {
		[SERVE_UNBORN_ADVERTISE] = "advertise",
		[SERVE_UNBORN_ALLOW] = "allow",
		[SERVE_UNBORN_IGNORE] = "ignore",
	};
	const char *value = config_string(&l->repo->config, key);
	enum serve_unborn *unborn = field;

	for (unsigned i = 0; value && i < ARRAY_NR(names); i++)
		if (!strcmp(value, names[i])) {
			*unborn = i;
			return 0;
		}
	return value ? error_set(l->err, ERR_INVALID,
				 "invalid value for '%s': '%s'", key, value)
		     : 0;
}

static int load_keep_alive(void *field, const char *key,
			   const struct loading *l)
{
	return sideband_load_keep_alive(field, &l->repo->config, key, l->err);
}

static int load_uris(void *field, const char *key, const struct loading *l)
{
	(void)key;
	return pack_uris_load(field, &l->repo->config, l->repo->algo, l->err);
}

static int load_published(void *field, const char *key, const struct loading *l)
{
	(void)key;
	return published_config_load(field, l->repo, l->err);
}

static int load_promisors(void *field, const char *key, const struct loading *l)
{
	(void)key;
	return promisor_remotes_load(field, &l->repo->config, l->warning,
				     l->err);
}

/*
 * Handles an entry of a configuration key that names a program. Entries in the
 * repository's own configuration file are ignored: a served repository must not
 * choose programs to run.
 */
static int take_protected(void *ctx, const struct config_entry *entry)
{
	const char **value = ctx;

	if (entry->scope != CONFIG_LOCAL)
		*value = entry->value;
	return 0;
}

static int load_protected(void *field, const char *key, const struct loading *l)
{
	return config_each(&l->repo->config, key, take_protected, field);
}

#define FIELD(name) offsetof(struct serve_config, name)

/*
 * The configuration keys, each with the field that it sets. If several values
 * are bad, the first key of this table with a bad value is reported.
 */
static const struct row {
	const char *key;
	load_fn *load;
	/* offset of the field in struct serve_config */
	size_t field;
} rows[] = {
	{"uploadpack.allowrefinwant", load_flag, FIELD(allow_ref_in_want)},
	{"uploadpack.allowfilter", load_flag, FIELD(allow_filter)},
	{"uploadpack.allowsidebandall", load_flag, FIELD(allow_sideband_all)},
	{"uploadpack.advertisebundleuris", load_flag,
	 FIELD(advertise_bundle_uris)},
	{"transfer.advertisesid", load_flag, FIELD(advertise_sid)},
	{"transfer.advertiseobjectinfo", load_flag,
	 FIELD(advertise_object_info)},
	{"pack.usebitmaps", load_flag, FIELD(use_bitmaps)},
	{"uploadpack.", load_allow, FIELD(allow)},
	{"lsrefs.unborn", load_unborn, FIELD(unborn)},
	{"uploadpack.keepalive", load_keep_alive, FIELD(keep_alive)},
	{"uploadpack.blobpackfileuri", load_uris, FIELD(pack_uris)},
	{"gitreach.publishdirectory", load_published, FIELD(published)},
	{"promisor.advertise", load_promisors, FIELD(promisor_remotes)},
	{"uploadpack.packobjectshook", load_protected,
	 FIELD(pack_objects_hook)},
};

int serve_config_load(struct serve_config *config, const struct repo *repo,
		      struct error *warning, struct error *err)
{
	const struct loading l = {repo, warning, err};
	int ret = 0;

	*config = (struct serve_config){.use_bitmaps = true, .is_limit = true};
	for (size_t i = 0; i < ARRAY_NR(rows) && !ret; i++)
		ret = rows[i].load((char *)config + rows[i].field, rows[i].key,
				   &l);
	return ret;
}

int serve_config_load_limit(struct serve_config *config,
			    const struct repo *repo, struct error *err)
{
	bool is_limit = false;
	int ret = visible_is_limit(&is_limit, repo, err);

	if (!ret)
		config->is_limit = is_limit;
	return ret;
}

void serve_config_release(struct serve_config *config)
{
	pack_uris_release(&config->pack_uris);
	published_config_release(&config->published);
	promisor_remotes_release(&config->promisor_remotes);
}
