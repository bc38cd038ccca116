/* SPDX-License-Identifier: MIT */
/*
 * What most commands open: the repository, its objects with a reader for the
 * main thread, its refs.
 */
#ifndef BUILTIN_STORE_H
#define BUILTIN_STORE_H

#include "builtin/builtin.h"
#include "odb/odb.h"
#include "refs/refs.h"

struct store {
	struct repo *repo;         /* borrowed from the environment */
	struct odb *odb;           /* owned */
	struct odb_reader *reader; /* owned */
	struct refs *refs;         /* owned */
	struct error warning;      /* printed last; code 0: none */
};

/* No abbreviation: ids are printed whole. */
#define STORE_FULL 0

/*
 * Open all of it, the repository too. 0; or prints "fatal: ..." and returns
 * 128. A broken pack is a warning.
 */
int store_open(struct store *store, struct builtin_env *env);

/*
 * Close it and open it anew, with what is there now; what was warned of is not
 * repeated. As store_open().
 */
int store_reopen(struct store *store, struct builtin_env *env);
void store_close(struct store *store);

/*
 * As store_open(), and objects are read as refs/replace/ has them
 * (odb/replaced.h).
 */
int store_open_replaced(struct store *store, struct builtin_env *env);

/*
 * What that does to objects, for who opens them otherwise. A warning is
 * printed. 0 or negative.
 */
int store_load_replaced(struct odb *odb, struct refs *refs, struct error *err);

/*
 * The id in hex, abbreviated to as few digits, but `len` at least, as are
 * unique (STORE_FULL: not at all). Returns `out`.
 */
char *store_abbrev(char out[OID_MAX_HEX_LEN + 1], const struct store *store,
		   const struct oid *oid, size_t len);

/* revname_resolve() with what the store has. */
int store_resolve(const struct store *store, struct oid *oid, const char *name,
		  struct error *err);

/*
 * Take the argument of --abbrev=<n>, --short=<n>, ...: fewer than 4 digits
 * count as 4, more than there are as all, 0 as STORE_FULL. False when it is
 * no number.
 */
bool store_parse_abbrev(size_t *len, const char *arg, enum hash_algo algo);

/* Digits of abbreviations, from the configuration; or prints and is < 0. */
int store_default_abbrev(const struct store *store);

#endif
