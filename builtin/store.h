/* SPDX-License-Identifier: MIT */
/*
 * The store that most commands open: the repository, its refs, and its objects
 * with a reader for the main thread.
 */
#ifndef BUILTIN_STORE_H
#define BUILTIN_STORE_H

#include "builtin/builtin.h"
#include "odb/odb.h"
#include "refs/refs.h"

struct store {
	/* borrowed from struct builtin_env */
	struct repo *repo;
	struct odb *odb;           /* owned */
	struct odb_reader *reader; /* owned */
	struct refs *refs;         /* owned */
	/*
	 * the warning that was printed last; its code is 0 if none was printed
	 */
	struct error warning;
};

/* A length of abbreviated ids that means: do not abbreviate. */
#define STORE_FULL 0

/*
 * Open the repository, if it is not open yet, with its refs and objects. If a
 * pack is broken, prints only a warning. Returns 0, or prints "fatal: ..." and
 * returns 128.
 */
int store_open(struct store *store, struct builtin_env *env);

/*
 * From now on, a read of a missing object fetches the object
 * (builtin/lazy-fetch.h). Must be called before objects are read. Returns 0, or
 * prints "fatal: ..." and returns 128.
 */
int store_fetch_missing(struct store *store, struct builtin_env *env);

/*
 * Close the store and open it again, with its present packs and refs. Warnings
 * are not repeated. Returns 0, or prints "fatal: ..." and returns 128.
 */
int store_reopen(struct store *store, struct builtin_env *env);
void store_close(struct store *store);

/*
 * Works like store_open(), but reading a replaced object gives its replacement
 * in refs/replace/ (odb/replaced.h).
 */
int store_open_replaced(struct store *store, struct builtin_env *env);

/*
 * Load the replacements of refs/replace/ into an odb that was opened without
 * store_open_replaced(). Prints warnings. Returns 0 or a negative error code.
 */
int store_load_replaced(struct odb *odb, struct refs *refs, struct error *err);

/*
 * Write the id in hexadecimal, abbreviated to the shortest unique prefix of at
 * least `len` digits. STORE_FULL: not abbreviated. Returns `out`.
 */
char *store_abbrev(char out[OID_MAX_HEX_LEN + 1], const struct store *store,
		   const struct oid *oid, size_t len);

/*
 * Resolve a name with the refs and objects of the store, and print the messages
 * of revname_resolve_as(). store_resolve_quietly() sets the option `quiet`.
 * store_resolve_commit() resolves a name that must mean a commit. Returns 0,
 * ERR_UNSUPPORTED if only stock Git can resolve the name, or another negative
 * error code.
 */
int store_resolve(const struct store *store, struct oid *oid, const char *name,
		  struct error *err);
int store_resolve_quietly(const struct store *store, struct oid *oid,
			  const char *name, struct error *err);
int store_resolve_commit(const struct store *store, struct oid *oid,
			 const char *name, struct error *err);

/*
 * Called if a name cannot be resolved because an object is damaged. The first
 * part of the name (up to "~", "^" or ":") means an object, for example "main"
 * in "main~2".
 *
 * Returns true if this first object is damaged, and no "^{" follows the first
 * part. Stock Git then treats the whole name as unknown. Otherwise returns
 * false: "^{" follows the first part, as in "main^{tree}~2", or an object that
 * the first object leads to is damaged. Stock Git then ends with a fatal error.
 */
bool store_base_is_damaged(const struct store *store, const char *name);

/*
 * Let a child process of stock Git resolve a name that only stock Git can
 * resolve. Use this in a command that has already read input or printed output.
 * Stock Git cannot run in place of such a command any more.
 *
 * `err` is NULL or has the error of store_resolve(). Returns 0 if *oid is set,
 * ERR_MISSING if the name is unknown, or ERR_NOMEM. Returns ERR_UNSUPPORTED,
 * without asking stock Git, if stock Git is not installed, or if *err says that
 * a reflog lacks an entry. Also returns ERR_UNSUPPORTED if stock Git fails with
 * another error, such as "HEAD does not point to a branch"; *err then has this
 * message.
 */
int store_resolve_by_stock(const struct repo *repo, struct oid *oid,
			   const char *name, struct error *err);

/*
 * Print messages to standard error, one on each line, and release the buffer.
 */
void store_print_notes(struct buf *notes);

/*
 * Parse <n> of --abbrev=<n>, --short=<n> and similar options. Sets *len to <n>.
 * Numbers from 1 to 3 become 4, numbers that are too large become the full
 * length, and 0 becomes STORE_FULL. Returns false if `arg` is not a number.
 */
bool store_parse_abbrev(size_t *len, const char *arg, enum hash_algo algo);

/*
 * Returns the configured number of digits of abbreviated ids, or prints an
 * error and returns a negative value.
 */
int store_default_abbrev(const struct store *store);

#endif
