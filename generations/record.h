/* SPDX-License-Identifier: MIT */
/*
 * The record of one generation of a repository in a store: which files the
 * repository consists of, and which refs have changed since the newest of its
 * tables of refs was written. A record is a text file that is made once.
 * Documentation/format/generation.md has a field table and an example.
 *
 *	record 7 -> record 8      one file more, refs/heads/main updated
 *	   |  \        |  \  \
 *	   v   v       v   v  v
 *	 pack  table  pack table pack        files below <repository>/_/file/
 *
 * A record names every file of its generation. So a reader needs no older
 * record. The files of a record are files of the record before it, or files
 * that the maker of the record has written for it. A file that was dropped
 * never comes back under the same name.
 *
 * This module does not depend on Git: a ref is a name with a value, and a file
 * is a path with content.
 */
#ifndef GENERATIONS_RECORD_H
#define GENERATIONS_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

#define GENERATION_SHA256_LEN 32
/* number of bytes of a token, which is random for each try to make a record */
#define GENERATION_TOKEN_LEN 16

/* maximum size of a record in bytes; the parser refuses a longer one */
#define GENERATION_RECORD_MAX ((size_t)16 << 20)
/* maximum length of the path of a file, and of the name or value of a ref */
#define GENERATION_TEXT_MAX 4096
/* maximum length in bytes of the name of a node, a user or an action */
#define GENERATION_WORD_MAX 255

/*
 * One file of a generation. The name of the file in the store consists of the
 * hash of its content and the token of the upload. So equal content that is
 * uploaded twice has two names, and a name that was deleted is never used
 * again.
 */
struct generation_file {
	/*
	 * owned: where the file is in a bare repository, such as
	 * "objects/pack/pack-<id>.idx". A relative path. No part of the path is
	 * empty or begins with "."
	 */
	char *path;
	uint8_t sha256[GENERATION_SHA256_LEN]; /* hash of the content */
	uint8_t upload[GENERATION_TOKEN_LEN];
	uint64_t size; /* bytes */
	bool is_executable;
};

/*
 * A ref that has changed since the tables of refs were written. If a ref was
 * updated several times, a record has only the newest update.
 */
struct generation_update {
	/* number of the generation that changed the ref */
	uint64_t number;
	char *ref; /* owned */
	/* owned; NULL: the ref was deleted */
	char *value;
};

/* One generation. Zero-initialised before its first use. */
struct generation {
	/* number of the generation, from 1 */
	uint64_t number;
	/* SHA-256 of the previous record; zeros for number 1 */
	uint8_t parent[GENERATION_SHA256_LEN];
	uint8_t token[GENERATION_TOKEN_LEN];
	/* seconds since 1970, by the clock of the maker */
	int64_t time;
	/*
	 * Number of the newest generation that dropped objects; 0: none. A
	 * change that was checked before this generation may refer to a dropped
	 * object.
	 */
	uint64_t epoch;
	/*
	 * Number of the newest generation that changed the tables of refs; 0:
	 * none.
	 */
	uint64_t tables;
	/*
	 * owned: the names of the node and the user that made the record, and
	 * of the action, such as a push; NULL is printed as ""
	 */
	char *node, *user, *action;
	/*
	 * In the order of the record, without two equal paths. The tables of
	 * refs ("reftable/<name>") are in the order of their stack, the oldest
	 * first.
	 */
	struct generation_file *files; /* owned */
	size_t file_nr, file_alloc;
	/* sorted by ref, without two equal refs */
	struct generation_update *updates; /* owned */
	size_t update_nr, update_alloc;
	/*
	 * true: a garbage collection has replaced the record by a retired one,
	 * because the generation was not live any more. A retired record has
	 * only its number and its parent; all other fields are zero.
	 */
	bool is_retired;
};

void generation_release(struct generation *g);

/*
 * Copies everything. Returns 0 or ERR_NOMEM. After an error, *out is released.
 */
int generation_copy(struct generation *out, const struct generation *g,
		    struct error *err);

/*
 * Parses a record into *out, which was released or zero-initialised. `name` is
 * for messages. Returns 0, ERR_CORRUPT (also for a wrong checksum),
 * ERR_UNSUPPORTED for another version, or ERR_NOMEM. After an error, *out is
 * zeroed.
 */
int generation_parse(struct generation *out, const void *bytes, size_t len,
		     const char *name, struct error *err);

/*
 * Appends the record to *out. `sha256` (may be NULL) receives the hash of the
 * appended bytes. The next record has this hash as its field `parent`. Returns
 * 0, ERR_INVALID if a field has no allowed value or the record is longer than
 * GENERATION_RECORD_MAX, or ERR_NOMEM.
 */
int generation_print(struct buf *out, uint8_t *sha256,
		     const struct generation *g, struct error *err);

/*
 * Appends the first lines of the record of *g: the number, the parent and the
 * token. The token is a random number that is different for each try to make a
 * record. So no two records have the same first lines. The record must not be
 * retired (replaced by a record without content). Returns 0 or ERR_NOMEM.
 */
int generation_print_head(struct buf *out, const struct generation *g);

/* The files of a generation below this directory are its tables of refs. */
#define GENERATION_TABLES "reftable/"
bool generation_path_is_table(const char *path);

/*
 * Returns the file whose path is `path`, or NULL. Takes time proportional to
 * the number of files.
 */
struct generation_file *generation_find_file(const struct generation *g,
					     const char *path);

/*
 * Adds a copy of *file at the end. Returns 0, ERR_INVALID if the path is not
 * allowed or another file of *g has this path, or ERR_NOMEM.
 */
int generation_add_file(struct generation *g,
			const struct generation_file *file, struct error *err);

/*
 * Returns the index in g->updates of the first update whose ref is not less
 * than `ref`, or update_nr if there is none. Takes logarithmic time.
 */
size_t generation_update_pos(const struct generation *g, const char *ref);

/* Returns the update of a ref, or NULL. Takes logarithmic time. */
const struct generation_update *generation_find_update(
	const struct generation *g, const char *ref);

/*
 * Adds an update of a ref, made by generation `number`, or replaces the ref's
 * update. A NULL `value` deletes the ref. Returns 0, ERR_INVALID if the name or
 * the value is not allowed, or ERR_NOMEM.
 *
 * Cost: moves all updates of refs that sort after `ref`. To set many refs, set
 * them in the order of their names. If *g already has updates, set the refs in
 * an empty generation, and then call generation_take_updates().
 */
int generation_set_ref(struct generation *g, uint64_t number, const char *ref,
		       const char *value, struct error *err);

/*
 * Moves the updates of *from to *g. If both have an update of a ref, the one of
 * *from remains. Takes time proportional to the number of all updates. Returns
 * 0 or ERR_NOMEM. After an error, nothing has changed.
 */
int generation_take_updates(struct generation *g, struct generation *from,
			    struct error *err);

/* ---- hexadecimal, for records and names */

/* Appends `len` bytes in lower-case hexadecimal. Returns 0 or ERR_NOMEM. */
int generation_append_hex(struct buf *out, const uint8_t *bytes, size_t len);

/*
 * Parses `len` bytes of lower-case hexadecimal; `text` has two characters for
 * each byte. Returns whether all characters are digits.
 */
bool generation_parse_hex(uint8_t *out, const char *text, size_t len);

#endif
