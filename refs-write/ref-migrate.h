/* SPDX-License-Identifier: MIT */
/*
 * Moves all refs and reflogs of a repository into the other kind of storage.
 *
 * 	config.lock is made
 * 	   -> clear   leftovers in the places of the new store are removed
 * 	   -> write   the new store is written below "ref_migration.XXXXXX"
 * 	   -> tell    hooks may refuse the migration
 * 	   -> move    the new store is renamed to where its readers look
 * 	   -> switch  config.lock becomes config
 * 	   -> clear   the old store is removed
 *
 * extensions.refStorage alone decides which store is read. The old store is
 * complete until the switch, the new store from the switch on. If a process is
 * killed, it leaves files that no reader uses, and the next migration removes
 * them. The new store is durable before the switch.
 *
 * As in stock Git, other processes may change refs during a migration, and such
 * a change may be lost. Repositories with linked work trees are refused.
 */
#ifndef REFS_WRITE_REF_MIGRATE_H
#define REFS_WRITE_REF_MIGRATE_H

#include "base/buf.h"
#include "base/error.h"
#include "refs-write/ref-transaction.h"
#include "refs/refs.h"

struct ref_migrate_options {
	enum repo_ref_storage storage; /* the new kind of storage */
	bool no_reflog;                /* reflogs are dropped */
	/*
	 * true: only write the new store, and keep the directory in which it
	 * was written
	 */
	bool dry_run;
	/*
	 * Called to run the hook reference-transaction. Stock Git writes the
	 * new ref storage in transactions, and runs this hook at each state of
	 * a transaction. The migration here uses no transactions, but calls
	 * this function with the same states and refs. `changes` has a line
	 * "<zeros> <value> <ref>" for each ref. In the states "preparing" and
	 * "prepared", a negative return value ends the migration and is
	 * returned. NULL: not called.
	 */
	int (*on_state)(void *ctx, enum ref_state state,
			const struct buf *changes, struct error *err);
	void *ctx;
};

/*
 * Moves the refs to the kind of storage options->storage. With dry_run, appends
 * to *dir the path of the directory with the new ref storage. If a file of the
 * old ref storage cannot be removed, *warning describes the failure, and the
 * migration succeeds. FETCH_HEAD and MERGE_HEAD stay files.
 *
 * Returns 0 or a negative error code. After an error, the old ref storage is
 * still in use. ERR_INVALID: the repository already uses the kind of storage
 * options->storage. ERR_UNSUPPORTED: there are linked work trees, or refs are
 * in another directory (repo_refs_dir()). ERR_DENIED: config is locked, or the
 * repository is in a quarantine, or the repository is a local copy of a
 * repository on a remote file store (repo_check_copy()). ERR_CORRUPT: a ref is
 * broken.
 */
int ref_migrate(const struct repo *repo,
		const struct ref_migrate_options *options, struct buf *dir,
		struct error *warning, struct error *err);

/*
 * Writes all refs of `from`, and the reflogs unless `no_reflog`, into a new
 * store. `to` is the repository of `from` with two differences: the new kind
 * of storage, and another repo_refs_dir(), which exists and is empty. A broken
 * ref is ERR_CORRUPT. Malformed lines of reflogs are left out. Returns 0 or a
 * negative error code.
 */
int ref_migrate_write(const struct repo *from, const struct repo *to,
		      bool no_reflog, struct error *err);

/* Reports a broken ref. Returns ERR_CORRUPT. */
int ref_migrate_broken(const char *name, struct error *err);

/*
 * Calls options->on_state for a migration of the refs of `repo`. Returns 0 or a
 * negative error code, which ends the migration.
 */
int ref_migrate_tell(const struct repo *repo,
		     const struct ref_migrate_options *options,
		     struct error *err);

#endif
