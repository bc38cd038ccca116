/* SPDX-License-Identifier: MIT */
/*
 * The state of one push, which all parts of receive/ share: the client, the
 * request, the configuration, the refs and the quarantine.
 *
 * receive-pack.c calls the parts. A part calls the functions declared here,
 * and never receive-pack.c.
 *
 * Threads: one thread uses a struct receive. Only messages to the client may
 * come from other threads, see struct receive_peer.
 */
#ifndef RECEIVE_RECEIVE_H
#define RECEIVE_RECEIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "config/config.h"
#include "object/oid.h"
#include "odb/odb.h"
#include "receive/receive-cert.h"
#include "receive/receive-commands.h"
#include "receive/receive-pack.h"
#include "repo/repo.h"
#include "sys/tempdir.h"
#include "sys/tempfile.h"
#include "sys/ticker.h"
#include "wire/io.h"
#include "wire/pktline.h"
#include "wire/refview.h"
#include "wire/sideband.h"
#include "wire/summary.h"
#include "wire/visible.h"

/*
 * ---- receive-config.c
 *
 * The configuration of pushes: receive.*, transfer.* and a few others.
 */

/* One value of receive.procReceiveRefs: "[<modifiers>:]<prefix>". */
struct receive_proc_ref {
	/* owned: the prefix of the refs, without a slash at the end */
	char *prefix;
	/* which kinds of commands on these refs go to the proc-receive hook */
	bool creates, changes, deletes;
	/* true: the value selects refs that do not have the prefix */
	bool is_negated;
};

/* Values of receive.denyCurrentBranch and receive.denyDeleteCurrent. */
enum receive_deny {
	/* the key is not set: refuse, and explain the key to the client */
	RECEIVE_DENY_DEFAULT,
	RECEIVE_DENY_IGNORE,
	RECEIVE_DENY_WARN,
	RECEIVE_DENY_REFUSE,
	/* used only by receive.denyCurrentBranch */
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
	 * receive.unpackLimit or transfer.unpackLimit: a pack with fewer
	 * objects than this is unpacked
	 */
	uint64_t unpack_limit;
	/*
	 * maximum size of a pack in bytes (receive.maxInputSize); 0: no limit
	 */
	uint64_t max_len;
	/*
	 * limit of the inflated bytes of a push (gitreach.maxPushInflate); 0:
	 * no limit
	 */
	uint64_t max_work;
	/*
	 * maximum number of commands of a push (gitreach.maxPushCommands), at
	 * least 1
	 */
	size_t commands_max;
	/* seconds between keep-alives (receive.keepAlive); 0: never */
	uint64_t keep_alive;
	/*
	 * receive.certNonceSeed, borrowed from the configuration; NULL: not set
	 */
	const char *cert_nonce_seed;
	/*
	 * receive.certNonceSlop: allowed difference of a nonce's time, in
	 * seconds
	 */
	uint64_t cert_nonce_slop;
	/* owned: the values of receive.procReceiveRefs */
	struct receive_proc_ref *proc_refs;
	size_t proc_ref_nr, proc_ref_alloc;
};

/*
 * Load the configuration of pushes. `config` must outlive *c. Returns 0,
 * ERR_INVALID if a value is malformed, or ERR_NOMEM. The caller releases *c in
 * all cases.
 */
int receive_config_load(struct receive_config *c, const struct config *config,
			struct error *err);

void receive_config_release(struct receive_config *c);

/*
 * ---- receive-peer.c
 *
 * The client at the other end of a push: the connection to the client, and
 * messages for the client's terminal.
 *
 * A message goes out on band 2 if the client asked for side bands. Without
 * side bands, a message goes to the `tell` function of struct receive_options,
 * usually standard error.
 *
 * Threads: one thread handles the push, and only this thread reads from the
 * client. Messages and keep-alives may be sent by several threads at the same
 * time, because the side band has a lock.
 */

struct receive_peer {
	struct pktline_reader in;
	struct pktline_writer out;
	/*
	 * The side band. Its mode is SIDEBAND_NONE until the client asks for
	 * another.
	 */
	struct sideband band;
	/*
	 * Called with messages for the terminal, like receive_options.tell.
	 * NULL: messages are dropped.
	 */
	void (*tell)(void *ctx, const char *text, size_t len);
	void *tell_ctx;
	const struct serve_io *client; /* borrowed: the connection */
	/*
	 * The functions that `out` uses to write. They call the functions of
	 * `client`.
	 */
	struct serve_io io;
	/*
	 * true: refs are being changed, and the push goes on even without the
	 * client. A failed write sets `gone`, and later writes do nothing.
	 */
	bool is_settling;
	/* Why the client cannot be reached; code 0: no write has failed. */
	struct error gone;
	/*
	 * The first failure of the server (ERR_IO) that
	 * receive_peer_tell_failure() has reported; code 0: none.
	 */
	struct error failure;
};

/*
 * Connect to the client. `io` must outlive the peer, and the peer must stay at
 * its address. Returns 0 or ERR_NOMEM. The caller releases the peer in both
 * cases.
 */
int receive_peer_init(struct receive_peer *peer,
		      const struct receive_options *options,
		      const struct serve_io *io, struct error *err);
void receive_peer_release(struct receive_peer *peer);

/* Returns true if the client asked for side bands. */
bool receive_peer_has_band(const struct receive_peer *peer);

/*
 * Send text to the client's terminal without a prefix, for instance the output
 * of a hook. Returns 0 or a negative error code.
 */
int receive_peer_tell_text(struct receive_peer *peer, const char *text,
			   size_t len, struct error *err);

/*
 * Send a message to the client's terminal. `fmt` includes the prefix ("error:
 * ") and the line feed. If sending fails, the message is lost.
 */
void receive_peer_tell(struct receive_peer *peer, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Send "error: <msg>". Absolute paths are removed from a message on a side
 * band. If `code` is ERR_IO, the whole message also goes to the server's log
 * (`peer->tell`), because the administrator of the server needs the paths.
 */
void receive_peer_tell_failure(struct receive_peer *peer, int code,
			       const char *msg);

/*
 * Start a thread that sends a keep-alive every `seconds` seconds. Without side
 * bands, or if `seconds` is 0, no thread is started and *ticker is not changed.
 * The caller stops *ticker with sys_ticker_stop() before the peer is released.
 * Returns 0 or a negative error code.
 */
int receive_peer_start_ticker(struct sys_ticker **ticker,
			      struct receive_peer *peer, uint64_t seconds,
			      struct error *err);

/*
 * Tell the client that the push ends with an error: on band 3, or in an "ERR"
 * packet without side bands. Nothing is sent if the client has sent nothing,
 * has closed the connection, or cannot be written to.
 */
void receive_peer_tell_end(struct receive_peer *peer, const char *msg);

/*
 * Remove the directories from all absolute paths in a message. Clients must not
 * learn where files are on the server. The last component of each path stays.
 * `msg` is changed in place.
 */
void receive_hide_paths(char *msg);

/*
 * ---- receive-quarantine.c
 *
 * The quarantine: a directory for the objects of a push that is not accepted
 * yet (git-receive-pack(1), "Quarantine Environment"). The directory is below
 * the object directory and has the object directory as its alternate. Renaming
 * the files makes the objects part of the repository.
 *
 *	<objects>/tmp_objdir-incoming-Ab3dE6/
 *		pack/pack-<hex>.keep .pack .rev .idx     kept as a pack
 *		5f/<hex>                                 kept as a loose object
 *
 * A signal that ends the process removes the directory and the .keep of a
 * migrated pack (sys/cleanup.h). After SIGKILL, `git gc` removes the directory.
 */

struct quarantine {
	const struct repo *repo; /* borrowed */
	struct sys_tempdir dir;  /* inactive: no directory */
	/*
	 * owned: the alternates of `dir`, as the value of
	 * GIT_ALTERNATE_OBJECT_DIRECTORIES
	 */
	char *alternates;
	/*
	 * A copy of `repo` whose object directory is the quarantine directory
	 * `dir`.
	 */
	struct repo view;
	/*
	 * The .keep file of a pack that was moved into the repository. The file
	 * protects the pack until refs reach its objects.
	 */
	struct sys_tempfile keep;
};

/*
 * Create the quarantine directory. `repo` must outlive *q. Returns 0 or a
 * negative error code. The caller releases *q in both cases.
 */
int quarantine_create(struct quarantine *q, const struct repo *repo,
		      struct error *err);

/*
 * Returns a value for GIT_ALTERNATE_OBJECT_DIRECTORIES: the object directory
 * `dir`, and then the alternates that the repository was opened with. A path
 * with a separator or a quote is quoted as a C string. The result is
 * malloc()ed; NULL: no memory.
 */
char *quarantine_alternates(const struct repo *repo, const char *dir);

/*
 * Returns true if each pack of the quarantine is also in the object directory
 * of the repository. True if there is no quarantine, or no pack.
 */
bool quarantine_is_stored(const struct quarantine *q);

/*
 * Remove the quarantine directory and the objects in it. Returns 0 if no
 * directory is left, or ERR_IO if the directory cannot be removed; in that case
 * `git gc` and `git prune` remove the directory later.
 */
int quarantine_remove(struct quarantine *q, struct error *err);

/*
 * Remove the quarantine directory, and the .keep file of a pack that was moved
 * into the repository.
 */
void quarantine_release(struct quarantine *q);

/*
 * Returns the repository to read the objects of the push from: q->view, or
 * `repo` if there is no quarantine directory.
 */
const struct repo *quarantine_repo(const struct quarantine *q,
				   const struct repo *repo);

/*
 * Move the objects of the quarantine into the repository, and remove the
 * quarantine directory. Loose objects are moved first, then the pack, with its
 * .idx last. Signals are held back until all files are moved. If the repository
 * has the pack already, the stored files stay, and must have the same content
 * as the received ones. Returns 0, ERR_IO if the content differs, or another
 * negative error code. Objects that were moved before an error stay in the
 * repository, unreachable.
 */
int quarantine_migrate(struct quarantine *q, struct error *err);

/* ---- receive.c */

struct receive {
	const struct receive_options *options; /* borrowed */
	const struct repo *repo;               /* borrowed from options */
	struct receive_config config;
	struct receive_peer peer;
	/*
	 * the refs that the client may see: without those that receive.hideRefs
	 * hides
	 */
	struct refview refs;
	/* true: `refs` was opened, so receive_release() must release it */
	bool refs_are_open;
	struct receive_request request;
	struct receive_cert cert;
	/*
	 * the pieces of advice about hooks that were given already; none is
	 * given twice, see struct hook_runner
	 */
	struct buf hook_advice;
	struct summary summary; /* for traces */
	/*
	 * the directory that holds the objects of the push until they are
	 * accepted
	 */
	struct quarantine quarantine;
	/*
	 * Owned: the snapshot with which the connectivity check has read the
	 * objects of the repository and of the push. If the push goes to a
	 * store (options->target), the new objects stay in the quarantine, and
	 * receive_rules_check() reads them through this snapshot. NULL if
	 * options->target is NULL.
	 */
	struct odb *checked;
	bool is_limit; /* see visible_is_limit() */
	/* owned: NULL until receive_sees() needs it */
	struct visible *visible;
};

/*
 * Load the configuration and open the refs. `options` and `io` must outlive *r,
 * and *r must stay at its address. Returns 0 or a negative error code. The
 * caller releases *r in both cases.
 */
int receive_init(struct receive *r, const struct receive_options *options,
		 const struct serve_io *io, struct error *err);
void receive_release(struct receive *r);

/*
 * Remove the quarantine, and the .keep file of a pack that was moved into the
 * repository. If the quarantine directory cannot be removed, a warning goes to
 * options->tell; `git prune` removes the directory later. May be called twice.
 */
void receive_discard(struct receive *r);

/*
 * Check whether the client is allowed to know of an object in the repository.
 * Call this function only if r->is_limit. Returns 1 if the client could have
 * fetched the object, 0 if not, or a negative error code. The first call opens
 * r->visible. Cost: see wire/visible.h.
 */
int receive_sees(struct receive *r, const struct oid *oid, struct error *err);

/*
 * Drops what was read of the refs, so that later look-ups in r->refs, and later
 * calls of receive_sees(), read the refs again. Call this function before a
 * step that relies on refs, if other processes had time to change them: while a
 * pack arrived, or while a hook ran.
 */
void receive_refresh(struct receive *r);

#endif
