/* SPDX-License-Identifier: MIT */
/*
 * Records of a reftable. A record begins with its key, without the bytes that
 * it shares with the key of the record before:
 *
 *   varint(shared)  varint(rest_len << 3 | extra)  rest  value
 *
 *   block  key                             extra   value
 *   r      name                            type    varint(index - min_index)
 *                                                  [id [id]], or
 *                                                  varint(len) target
 *   g      name NUL ~index (8 bytes)       1       old, new, varint(len) who,
 *                                                  varint(len) mail,
 *                                                  varint(seconds), zone 2,
 *                                                  varint(len) message
 *                                          0       (a deletion: nothing)
 *   o      the first bytes of an id        nr      [varint(nr) if extra is 0]
 *                                                  varint(block offset)...
 *   i      the last key of a block         0       varint(offset of the block)
 *
 * ~index is the complement of the update index, so that the newest entry comes
 * first. The zone is stored as Git prints it: the number -730 is the zone
 * -0730. (The format's description says minutes, but stock Git stores this
 * number.)
 */
#ifndef REFTABLE_RECORD_H
#define REFTABLE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "base/error.h"
#include "object/oid.h"

enum reftable_value {
	/* the ref is deleted, which hides the ref in older tables */
	REFTABLE_DELETED = 0,
	/* the ref points to an object */
	REFTABLE_OID = 1,
	/* the ref points to a tag object; the record also has the peeled id */
	REFTABLE_TAG = 2,
	/* the ref points to another ref */
	REFTABLE_SYMBOLIC = 3,
};

/* A ref, or its deletion. */
struct reftable_ref {
	/* NUL-terminated if read from a table */
	const char *name;
	size_t name_len;
	uint64_t update_index;
	enum reftable_value value;
	struct oid oid, peeled;
	const char *target; /* not NUL-terminated */
	size_t target_len;
};

/* A string in a block or in memory of the caller; not NUL-terminated. */
struct reftable_text {
	const char *p;
	size_t len;
};

/* An entry of a reflog, or the deletion of an entry. */
struct reftable_log {
	/* name of the ref; NUL-terminated if read from a table */
	const char *name;
	size_t name_len;
	uint64_t update_index;
	/*
	 * true: the record deletes an entry of an older table, and the fields
	 * below are zero
	 */
	bool is_deleted;
	struct oid old_oid, new_oid;
	/* `message` ends with a line feed */
	struct reftable_text who, mail, message;
	uint64_t time; /* seconds since 1970 */
	int16_t zone;  /* -730 stands for -0730 */
};

/*
 * number of bytes that follow the ref's name in the key of a reflog entry: a
 * NUL, and 8 bytes of the update index
 */
#define REFTABLE_LOG_TAIL_LEN 9

/*
 * Takes the key of a record, and the 3 bits `extra` whose meaning depends on
 * the type of block. On entry *key is the key of the record before, or empty
 * at a restart. Returns 1 with *key and *extra set, 0 for invalid bytes, or
 * ERR_NOMEM.
 */
int reftable_key_take(struct cursor *c, struct buf *key, unsigned *extra);

/*
 * Appends the beginning of a record: the part of its key that is not shared
 * with `last`, the key of the record before. `key` is the whole key. Returns 0
 * or ERR_NOMEM.
 */
int reftable_key_append(struct buf *out, const char *last, size_t last_len,
			const char *key, size_t key_len, unsigned extra);

/*
 * Takes the value of a ref record whose key is `key`. ref->name points into
 * `key`. Returns false for invalid bytes.
 */
bool reftable_ref_take(struct cursor *c, struct reftable_ref *ref,
		       const struct buf *key, unsigned extra,
		       uint64_t min_index, enum hash_algo algo);
int reftable_ref_append(struct buf *out, const struct reftable_ref *ref,
			uint64_t min_index, enum hash_algo algo);

/*
 * Takes the value of a reflog record. The strings point into the record.
 * Returns false for invalid bytes.
 */
bool reftable_log_take(struct cursor *c, struct reftable_log *log,
		       const struct buf *key, unsigned extra,
		       enum hash_algo algo);
int reftable_log_append(struct buf *out, const struct reftable_log *log,
			enum hash_algo algo);

/* Appends the key of a reflog entry. Returns 0 or ERR_NOMEM. */
int reftable_log_key(struct buf *out, const char *name, size_t name_len,
		     uint64_t update_index);

/*
 * Compares keys byte by byte. Returns a negative number if `a` comes first, 0
 * if both are equal, or a positive number. If one key is a prefix of the
 * other, the shorter key comes first.
 */
int reftable_key_cmp(const char *a, size_t a_len, const char *b, size_t b_len);

#endif
