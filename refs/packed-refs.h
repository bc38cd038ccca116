/* SPDX-License-Identifier: MIT */
/*
 * The packed-refs file, which is mapped and read as a sorted table of records
 * (git-pack-refs(1)):
 *
 *   # pack-refs with: peeled fully-peeled sorted \n    header, optional
 *   <hex> SP refs/heads/main \n                        a record
 *   <hex> SP refs/tags/v1.0 \n                         a record of a tag ...
 *   ^ <hex> \n                                         ... and its peeled id
 *
 * The header lists traits:
 *
 * - "sorted": the records ascend in byte order of their names. Without this
 *   trait, opening copies and sorts the records.
 * - "peeled": a record under refs/tags/ without a "^" line does not name a tag
 *   object.
 * - "fully-peeled": no record without a "^" line names a tag object.
 * - "gitreach-peeled" (PACKED_REFS_PROVED): like "fully-peeled", and certainly
 *   true. Only gitreach writes it. Other programs ignore it, and leave it out
 *   when they write the file.
 *
 * The traits "peeled" and "fully-peeled" may be false: `git refs migrate` of
 * stock Git writes both, but no "^" line at all, and `git pack-refs` of stock
 * Git keeps these records. So without the trait "gitreach-peeled", a record
 * below refs/tags/ (also of a namespace) that has no "^" line may name a tag
 * object. For other refs the trait "fully-peeled" is believed: tags elsewhere
 * are rare, and reading the objects of many other refs would make each listing
 * slow.
 *
 * `off` is the offset of a record in the table, in bytes. A record is validated
 * when it is read, not when the file is opened. Opening a sorted file takes
 * O(1). The table is immutable, and threads may share it.
 */
#ifndef REFS_PACKED_REFS_H
#define REFS_PACKED_REFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "object/oid.h"
#include "object/oidmap.h"
#include "sys/map.h"

/* a trait in the header of packed-refs that only gitreach writes */
#define PACKED_REFS_PROVED "gitreach-peeled"

struct packed_refs {
	/* the mapped file; unused if packed_refs_parse() gets the bytes */
	struct sys_map map;
	/* the first record; points into `map` or `sorted` */
	const char *table;
	size_t len; /* bytes of all records */
	enum hash_algo algo;
	bool peeled, fully_peeled, is_proved; /* traits */
	/* owned: the sorted records of an unsorted file, else NULL */
	char *sorted;
	/* owned: name of the file for messages */
	char *name;
};

#define PACKED_REFS_INIT                                                       \
	{                                                                      \
		SYS_MAP_INIT, NULL, 0, HASH_SHA1, false, false, false, NULL,   \
			NULL                                                   \
	}

/* A record. */
struct packed_ref {
	/* name of the ref; points into the table; not NUL-terminated */
	const char *name;
	size_t name_len;
	struct oid oid;
	/* true: the file tells whether the ref is a tag */
	bool has_peeled;
	/* true: the ref is a tag, and `peeled` is set */
	bool is_tag;
	struct oid peeled;
};

/*
 * Maps and parses the file at `path`. A missing file counts as an empty one.
 * Returns 0 or a negative error code. After an error, *refs is zeroed.
 */
int packed_refs_open(struct packed_refs *refs, const char *path,
		     enum hash_algo algo, struct error *err);

/*
 * Parses the bytes of a file. The bytes are borrowed until release; `name` is
 * copied and used in messages. Returns 0, ERR_CORRUPT for an invalid header or
 * for a last line that is unterminated or too short for a record, or ERR_NOMEM.
 * An unsorted file is read completely, and ERR_CORRUPT is also returned for any
 * malformed line.
 */
int packed_refs_parse(struct packed_refs *refs, const void *bytes, size_t len,
		      enum hash_algo algo, const char *name, struct error *err);
void packed_refs_release(struct packed_refs *refs);

/*
 * Binary search: sets *off to the offset of the first record whose name is not
 * less than `key`, or to refs->len if there is no such record. Returns 0 or
 * ERR_CORRUPT.
 */
int packed_refs_seek(const struct packed_refs *refs, const char *key,
		     size_t key_len, size_t *off, struct error *err);

/*
 * Searches like packed_refs_seek(), but only from *off on. *off is the start of
 * a record, and all names before *off are less than `key`. `hint` is the
 * expected number of bytes from *off to the result. The better the hint, the
 * fewer pages of the mapping are touched. Returns 0 or ERR_CORRUPT.
 */
int packed_refs_seek_on(const struct packed_refs *refs, const char *key,
			size_t key_len, size_t hint, size_t *off,
			struct error *err);

/*
 * Reads the record at *off and advances *off to the next record. Returns 1 if
 * there was a record, 0 at the end, or ERR_CORRUPT with the line in the
 * message.
 */
int packed_refs_next(const struct packed_refs *refs, size_t *off,
		     struct packed_ref *ref, struct error *err);

/*
 * Finds the record of a name. Returns 1 if there is one, 0 if not, or
 * ERR_CORRUPT.
 */
int packed_refs_find(const struct packed_refs *refs, const char *name,
		     struct packed_ref *ref, struct error *err);

/*
 * Returns whether a missing "^" line proves that a ref is no annotated tag.
 * `name` (`len` bytes) is the name of the ref.
 */
bool packed_refs_proves(const struct packed_refs *refs, const char *name,
			size_t len);

/* A search for a tag that peels to one of several objects. */
struct refs_peel_search {
	const struct oidmap *ids; /* borrowed: the objects */
	/*
	 * Called for a ref whose record does not tell whether the ref's object
	 * is a tag. Returns 1 if the object may be a tag, 0 if it is certainly
	 * not a tag, or a negative error code. NULL: such an object always
	 * counts as a possible tag.
	 */
	int (*may_be_tag)(void *ctx, const struct oid *oid, struct error *err);
	void *ctx;
};

/*
 * Tells whether a record whose name starts with `prefix` (not "") may be a tag
 * that peels to an object in search->ids. Returns 1 if there may be such a tag,
 * 0 if there certainly is none, or a negative error code. Cost: one pass over
 * the bytes, much cheaper than reading each record; records are not validated.
 */
int packed_refs_may_peel(const struct packed_refs *refs, const char *prefix,
			 const struct refs_peel_search *search,
			 struct error *err);

/* Returns whether `trait` is one of the words in the `len` bytes at `line`. */
bool packed_refs_has_trait(const char *line, size_t len, const char *trait);

/*
 * Compares names byte by byte, like strcmp(). A prefix of a name is less than
 * the name.
 */
int packed_refs_name_cmp(const char *a, size_t a_len, const char *b,
			 size_t b_len);

#endif
