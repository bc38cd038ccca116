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
	char *prefix;                   /* owned; no slash at the end */
	bool creates, changes, deletes; /* kinds of commands that match */
	bool is_negated;                /* refs without the prefix match */
};

/* Values of receive.denyCurrentBranch and receive.denyDeleteCurrent. */
enum receive_deny {
	RECEIVE_DENY_DEFAULT, /* not set: refuse, and explain the setting */
	RECEIVE_DENY_IGNORE,
	RECEIVE_DENY_WARN,
	RECEIVE_DENY_REFUSE,
	RECEIVE_DENY_UPDATE_INSTEAD, /* only in receive.denyCurrentBranch */
};

struct receive_config {
	bool deny_deletes;     /* receive.denyDeletes */
	bool deny_non_ff;      /* receive.denyNonFastForwards */
	bool advertise_atomic; /* receive.advertiseAtomic */
	bool push_options;     /* receive.advertisePushOptions */
	bool advertise_sid;    /* transfer.advertiseSID */
	bool ofs_delta;        /* repack.useDeltaBaseOffset */
	bool shallow_update;   /* receive.shallowUpdate */
	bool server_info;      /* receive.updateServerInfo */
	bool auto_gc;          /* receive.autogc */
	bool fsck_objects;     /* receive.fsckObjects, transfer.fsckObjects */
	enum receive_deny deny_current;        /* receive.denyCurrentBranch */
	enum receive_deny deny_delete_current; /* receive.denyDeleteCurrent */
	uint64_t unpack_limit; /* receive.unpackLimit, transfer.unpackLimit:
				  a pack with fewer objects is unpacked */
	uint64_t max_len;      /* receive.maxInputSize, bytes; 0: no limit */
	size_t commands_max;   /* gitreach.maxPushCommands, at least 1 */
	uint64_t keep_alive;   /* receive.keepAlive, seconds; 0: never */
	uint64_t threads;      /* pack.threads; 0: one per processor */
	const char *cert_nonce_seed; /* receive.certNonceSeed, borrowed from the
					configuration; NULL: not set */
	uint64_t cert_nonce_slop;    /* receive.certNonceSlop, seconds */
	struct receive_proc_ref *proc_refs; /* owned: receive.procReceiveRefs */
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
