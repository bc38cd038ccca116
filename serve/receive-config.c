/* SPDX-License-Identifier: MIT */
/* Configuration of receive-pack. */
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "serve/receive-config.h"

enum {
	UNPACK_LIMIT_DEFAULT = 100,
	KEEP_ALIVE_DEFAULT = 5, /* seconds */
};

struct flag {
	const char *key;
	bool *value;
	bool otherwise; /* when the key is not there */
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

static int load_numbers(struct receive_config *c, const struct config *config,
			struct error *err)
{
	int64_t limit = -1;
	int ret = config_i64(config, "receive.unpacklimit", &limit, err);

	if (ret >= 0 && limit < 0)
		ret = config_i64(config, "transfer.unpacklimit", &limit, err);
	c->unpack_limit = limit < 0 ? UNPACK_LIMIT_DEFAULT : (uint64_t)limit;
	c->keep_alive = KEEP_ALIVE_DEFAULT;
	if (ret >= 0)
		ret = config_u64(config, "receive.keepalive", &c->keep_alive,
				 err);
	if (ret >= 0)
		ret = config_u64(config, "receive.maxinputsize", &c->max_len,
				 err);
	if (ret >= 0)
		ret = config_u64(config, "pack.threads", &c->threads, err);
	return ret < 0 ? ret : 0;
}

/* receive.fsckObjects, else transfer.fsckObjects. */
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

/* Keys that would promise what nobody does. */
static int refuse_keys(const struct config *config, struct error *err)
{
	if (config_find(config, "receive.certnonceseed"))
		return error_set(err, ERR_UNSUPPORTED,
				 "receive.certNonceSeed is not supported yet");
	if (config_find(config, "receive.procreceiverefs"))
		return error_set(err, ERR_UNSUPPORTED,
				 "receive.procReceiveRefs is not supported "
				 "yet");
	return 0;
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
		ret = load_fsck(c, config, err);
	return ret ? ret : refuse_keys(config, err);
}
