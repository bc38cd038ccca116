/* SPDX-License-Identifier: MIT */
/* The configuration of pushes: receive.*, transfer.* and a few others. */
#ifndef RECEIVE_RECEIVE_CONFIG_H
#define RECEIVE_RECEIVE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "config/config.h"

/* One receive.procReceiveRefs: "[<modifiers>:]<prefix>". */
struct receive_proc_ref {
	/* owned; no slash at the end */
	char *prefix;
	/* kinds of commands that match */
	bool creates, changes, deletes;
	/* refs without the prefix match */
	bool is_negated;
};

/* Values of receive.denyCurrentBranch and receive.denyDeleteCurrent. */
enum receive_deny {
	/* not set: refuse, and explain the setting */
	RECEIVE_DENY_DEFAULT,
	RECEIVE_DENY_IGNORE,
	RECEIVE_DENY_WARN,
	RECEIVE_DENY_REFUSE,
	/* only in receive.denyCurrentBranch */
	RECEIVE_DENY_UPDATE_INSTEAD,
};

struct receive_config {
	bool deny_deletes; /* receive.denyDeletes */
	/* receive.denyNonFastForwards */
	bool deny_non_ff;
	bool advertise_atomic; /* receive.advertiseAtomic */
	/* receive.advertisePushOptions */
	bool push_options;
	bool advertise_sid; /* transfer.advertiseSID */
	/* repack.useDeltaBaseOffset */
	bool ofs_delta;
	bool shallow_update; /* receive.shallowUpdate */
	bool server_info;    /* receive.updateServerInfo */
	bool auto_gc;        /* receive.autogc */
	/* receive.fsckObjects, transfer.fsckObjects */
	bool fsck_objects;
	/* receive.denyCurrentBranch */
	enum receive_deny deny_current;
	/* receive.denyDeleteCurrent */
	enum receive_deny deny_delete_current;
	/*
	 * receive.unpackLimit, transfer.unpackLimit: a pack with fewer objects
	 * is unpacked
	 */
	uint64_t unpack_limit;
	/* receive.maxInputSize, bytes; 0: no limit */
	uint64_t max_len;
	/* gitreach.maxPushCommands, at least 1 */
	size_t commands_max;
	/* receive.keepAlive, seconds; 0: never */
	uint64_t keep_alive;
	/* pack.threads; 0: one per processor */
	uint64_t threads;
	/*
	 * receive.certNonceSeed, borrowed from the configuration; NULL: not set
	 */
	const char *cert_nonce_seed;
	/* receive.certNonceSlop, seconds */
	uint64_t cert_nonce_slop;
	/* owned: receive.procReceiveRefs */
	struct receive_proc_ref *proc_refs;
	size_t proc_ref_nr, proc_ref_alloc;
};

/*
 * Load the configuration of pushes. `config` must outlive *c. Returns 0,
 * ERR_INVALID if a value is malformed, or ERR_NOMEM. Release *c in all cases.
 */
int receive_config_load(struct receive_config *c, const struct config *config,
			struct error *err);

void receive_config_release(struct receive_config *c);

#endif
