/* SPDX-License-Identifier: MIT */
/* Loads the configuration of pushes. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "receive/receive-commands.h"
#include "receive/receive.h"
#include "wire/sideband.h"

enum {
	UNPACK_LIMIT_DEFAULT = 100,
};

struct flag {
	const char *key;
	bool *value;
	bool otherwise; /* default */
};

static int load_flags(struct receive_config *c, const struct config *config,
		      struct error *err)
{
	const struct flag flags[] = {
		{"receive.denydeletes", &c->deny_deletes, false},
		{"receive.denynonfastforwards", &c->deny_non_ff, false},
		{"receive.advertiseatomic", &c->advertise_atomic, true},
		{"receive.advertisepushoptions", &c->push_options, false},
		{"transfer.advertisesid", &c->advertise_sid, false},
		{"repack.usedeltabaseoffset", &c->ofs_delta, true},
		{"receive.shallowupdate", &c->shallow_update, false},
		{"receive.updateserverinfo", &c->server_info, false},
		{"receive.autogc", &c->auto_gc, true},
	};

	for (size_t i = 0; i < ARRAY_NR(flags); i++) {
		int ret;

		*flags[i].value = flags[i].otherwise;
		ret = config_bool(config, flags[i].key, flags[i].value, err);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int load_deny(enum receive_deny *out, const struct config *config,
		     const char *key, struct error *err)
{
	const struct config_entry *entry = config_find(config, key);
	bool refuse = true;
	int ret = 0;

	*out = RECEIVE_DENY_DEFAULT;
	if (!entry)
		return 0;
	if (entry->value && !strcasecmp(entry->value, "ignore"))
		*out = RECEIVE_DENY_IGNORE;
	else if (entry->value && !strcasecmp(entry->value, "warn"))
		*out = RECEIVE_DENY_WARN;
	else if (entry->value && !strcasecmp(entry->value, "refuse"))
		*out = RECEIVE_DENY_REFUSE;
	else if (entry->value && !strcasecmp(entry->value, "updateinstead"))
		*out = RECEIVE_DENY_UPDATE_INSTEAD;
	else {
		ret = config_bool(config, key, &refuse, err);
		*out = refuse ? RECEIVE_DENY_REFUSE : RECEIVE_DENY_IGNORE;
	}
	return ret < 0 ? ret : 0;
}

/* The default of gitreach.maxPushInflate, in bytes. */
#define MAX_WORK_DEFAULT (UINT64_C(16) << 30)

/*
 * Load gitreach.maxPushCommands. 0 and values above the maximum mean the
 * maximum.
 */
static int load_commands_max(struct receive_config *c,
			     const struct config *config, struct error *err)
{
	uint64_t max = RECEIVE_COMMANDS_DEFAULT;
	int ret = config_u64(config, "gitreach.maxpushcommands", &max, err);

	c->commands_max = max && max < RECEIVE_COMMANDS_MAX
				  ? (size_t)max
				  : RECEIVE_COMMANDS_MAX;
	return ret < 0 ? ret : 0;
}

static int load_numbers(struct receive_config *c, const struct config *config,
			struct error *err)
{
	int64_t limit = -1;
	int ret = config_i64(config, "receive.unpacklimit", &limit, err);

	if (ret >= 0 && limit < 0)
		ret = config_i64(config, "transfer.unpacklimit", &limit, err);
	c->unpack_limit = limit < 0 ? UNPACK_LIMIT_DEFAULT : (uint64_t)limit;
	if (ret >= 0)
		ret = sideband_load_keep_alive(&c->keep_alive, config,
					       "receive.keepalive", err);
	if (ret >= 0)
		ret = config_u64(config, "receive.maxinputsize", &c->max_len,
				 err);
	c->max_work = MAX_WORK_DEFAULT;
	if (ret >= 0)
		ret = config_u64(config, "gitreach.maxpushinflate",
				 &c->max_work, err);
	if (ret >= 0)
		ret = config_u64(config, "receive.certnonceslop",
				 &c->cert_nonce_slop, err);
	return ret < 0 ? ret : 0;
}

/*
 * Load the value of c->fsck_objects. If receive.fsckObjects is set,
 * transfer.fsckObjects has no effect.
 */
static int load_fsck(struct receive_config *c, const struct config *config,
		     struct error *err)
{
	int ret = config_bool(config, "receive.fsckobjects", &c->fsck_objects,
			      err);

	if (!ret)
		ret = config_bool(config, "transfer.fsckobjects",
				  &c->fsck_objects, err);
	return ret < 0 ? ret : 0;
}

/*
 * Add a value of receive.procReceiveRefs. The letters a, m and d before the
 * colon select kinds of commands. A value with a colon but none of these
 * letters, such as "!:refs/heads", selects no command, as in stock Git.
 */
static int add_proc_ref(struct receive_config *c, const char *value)
{
	const char *colon = strchr(value, ':');
	struct receive_proc_ref ref = {0};
	const char *prefix = colon ? colon + 1 : value;
	size_t len = strlen(prefix);

	for (const char *p = value; colon && p < colon; p++) {
		ref.creates |= *p == 'a';
		ref.changes |= *p == 'm';
		ref.deletes |= *p == 'd';
		ref.is_negated |= *p == '!';
	}
	if (!colon)
		ref.creates = ref.changes = ref.deletes = true;
	while (len && prefix[len - 1] == '/')
		len--;
	if (mem_grow(&c->proc_refs, &c->proc_ref_alloc, c->proc_ref_nr + 1,
		     sizeof(*c->proc_refs)) < 0)
		return ERR_NOMEM;
	ref.prefix = mem_strndup(prefix, len);
	if (!ref.prefix)
		return ERR_NOMEM;
	c->proc_refs[c->proc_ref_nr++] = ref;
	return 0;
}

static int load_proc_refs(struct receive_config *c, const struct config *config,
			  struct error *err)
{
	static const char key[] = "receive.procreceiverefs";

	for (size_t i = 0; i < config->nr; i++) {
		const struct config_entry *entry = &config->entries[i];

		if (strcmp(entry->key, key) != 0)
			continue;
		if (!entry->value)
			return error_set(err, ERR_INVALID,
					 "missing value for '%s'", key);
		if (add_proc_ref(c, entry->value) < 0)
			return error_nomem(err);
	}
	return 0;
}

void receive_config_release(struct receive_config *c)
{
	for (size_t i = 0; i < c->proc_ref_nr; i++)
		free(c->proc_refs[i].prefix);
	free(c->proc_refs);
	c->proc_refs = NULL;
	c->proc_ref_nr = c->proc_ref_alloc = 0;
}

int receive_config_load(struct receive_config *c, const struct config *config,
			struct error *err)
{
	int ret;

	*c = (struct receive_config){.ofs_delta = true};
	ret = load_flags(c, config, err);
	if (!ret)
		ret = load_deny(&c->deny_current, config,
				"receive.denycurrentbranch", err);
	if (!ret)
		ret = load_deny(&c->deny_delete_current, config,
				"receive.denydeletecurrent", err);
	if (!ret)
		ret = load_numbers(c, config, err);
	if (!ret)
		ret = load_commands_max(c, config, err);
	if (!ret)
		ret = load_fsck(c, config, err);
	if (!ret)
		ret = load_proc_refs(c, config, err);
	c->cert_nonce_seed = config_string(config, "receive.certnonceseed");
	return ret;
}
