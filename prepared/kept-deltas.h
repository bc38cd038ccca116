/* SPDX-License-Identifier: MIT */
/*
 * Kept deltas: stored deltas of newest versions of files and directories
 * against older versions. A pack stores the newest versions whole, so a fetch
 * of a few commits would get whole files. With a kept delta the server sends a
 * small delta instead, and reads neither version.
 *
 * The file is objects/info/deltas. All numbers are big-endian.
 * Documentation/format/deltas.md has an example byte by byte:
 *
 * "KEPT" | version 1: 1 | hash id: 1 | zero: 2 | number of rows: 4
 * number of bytes of the file: 8
 * rows, ascending by target, then by step; of each row:
 *    id of the target | id of the base
 *    offset of the zlib stream in the file: 8
 *    step: 4 | bytes of the delta before deflating: 4
 *    bytes of the zlib stream: 4 | CRC-32 of row and zlib stream: 4
 * zlib streams
 * checksum of all of the above
 *
 * A row whose zlib stream has no bytes says that no small delta was found. The
 * next repack does not try this pair of objects again.
 *
 * A row whose base is the null id is a *whole copy*: its zlib stream is the
 * target itself. The pack stores the target as a delta against an object that
 * clones of depth 1 of a branch or tag do not get. With the copy, the server
 * need not read and deflate the target for each of these clones. The step of a
 * copy is 0, so the copy is the first row of its target.
 *
 * A row names objects by their ids, so the row is true in any repository, and
 * stays true when packs are replaced. A server checks only the CRC of each row
 * that is used. The checksum is for `git bitmap verify`.
 *
 * The file is an extension of this project; other implementations ignore it. It
 * can be deleted at any time.
 */
#ifndef PREPARED_KEPT_DELTAS_H
#define PREPARED_KEPT_DELTAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/oid.h"
#include "odb/odb.h"
#include "sys/map.h"

/*
 * A delta that makes `target` from `base`. If `len` is 0, there is no small
 * delta of these objects. If `base` is the null id, the zlib stream is not a
 * delta, but `target` itself (a whole copy).
 */
struct kept_delta {
	struct oid target, base;
	/*
	 * The age of the base when the row was written: the number of
	 * first-parent commits between HEAD and the commit that has the base.
	 * 0: the row is a whole copy, or a delta that a repack copied from an
	 * old pack. The repack could not store this delta in its new pack: the
	 * target is in the tip island (the objects that clones of depth 1 get,
	 * see islands/islands.h), and the base is not. A pack stores no object
	 * of the tip island as a delta of an object outside of it.
	 */
	uint32_t step;
	/*
	 * Number of bytes before deflating: of the delta, or of the whole copy.
	 */
	uint32_t size;
	/* Borrowed: the deflated delta, a zlib stream of `len` bytes. */
	const uint8_t *stream;
	uint32_t len;
};

/* Returns whether a row is a whole copy of its target. */
bool kept_delta_is_copy(const struct kept_delta *row);

/* An opened file of kept deltas. Immutable; threads may share it. */
struct kept_deltas {
	struct sys_map map;
	struct buf name; /* owned: used in messages */
	enum hash_algo algo;
	/* borrowed: the content of the file */
	const uint8_t *bytes;
	size_t len;
	uint32_t nr; /* number of rows */
};

#define KEPT_DELTAS_INIT                                                       \
	{                                                                      \
		.map = SYS_MAP_INIT, .name = BUF_INIT                          \
	}

/*
 * Parse the content of a file. *k borrows the bytes; k->map is not set. Rows
 * are not read. `name` is copied. Returns 0 or a negative error code:
 * ERR_UNSUPPORTED for another version, ERR_CORRUPT or ERR_NOMEM. After an
 * error, *k is empty. Cost: O(1).
 */
int kept_deltas_parse(struct kept_deltas *k, const void *bytes, size_t len,
		      enum hash_algo algo, const char *name, struct error *err);

/*
 * Open the file of kept deltas in the object directory with the number `dir_nr`
 * of `odb`. Returns 1 if the file was opened, 0 if there is none, or a negative
 * error code: ERR_IO or a code of kept_deltas_parse(). After an error, *k is
 * empty.
 */
int kept_deltas_open(struct kept_deltas *k, const struct odb *odb,
		     size_t dir_nr, struct error *err);
void kept_deltas_close(struct kept_deltas *k);

/*
 * Find the first row (stored delta) that makes the object with the raw id
 * `target`. Returns true with *row set to the number of the row, or false if no
 * row makes this object. Cost: O(log nr).
 */
bool kept_deltas_find(const struct kept_deltas *k, const uint8_t *target,
		      uint32_t *row);

/*
 * Returns the raw id of the object that a row (stored delta) makes. `row` <
 * k->nr.
 */
const uint8_t *kept_deltas_target(const struct kept_deltas *k, uint32_t row);

/*
 * Returns whether row number `row` exists and makes the object with the raw id
 * `target`. This function is the condition of a loop over all rows of an
 * object. It does not check the CRC of the row, so the loop does not end at a
 * damaged row. kept_deltas_get(), which the loop calls, finds the damage. The
 * loop can then go on with the next row.
 */
bool kept_deltas_is_of(const struct kept_deltas *k, uint32_t row,
		       const uint8_t *target);

/*
 * Returns whether row number `row` (less than k->nr) is a whole copy. The CRC
 * of the row is not checked.
 */
bool kept_deltas_row_is_copy(const struct kept_deltas *k, uint32_t row);

/*
 * Read the whole copy of an object: a row that stores the object itself and not
 * a delta. Check its CRC. `target` is the raw id of the object. Sets *row to
 * the number of the row. Returns 1 with *out set, 0 if there is no copy, or
 * ERR_CORRUPT with a message. Cost: O(log nr), and a pass over the zlib stream.
 */
int kept_deltas_get_copy(struct kept_delta *out, const struct kept_deltas *k,
			 const uint8_t *target, uint32_t *row,
			 struct error *err);

/*
 * Read row number `row` (less than k->nr), and check its CRC. out->stream
 * borrows from *k. Returns 0, or ERR_CORRUPT with a message if the row or its
 * zlib stream is damaged. Cost: one pass over the zlib stream.
 */
int kept_deltas_get(struct kept_delta *out, const struct kept_deltas *k,
		    uint32_t row, struct error *err);

/*
 * Check the whole file: its checksum, the order of its rows and the CRC of each
 * row. Returns 0 or a negative error code.
 */
int kept_deltas_check(const struct kept_deltas *k, struct error *err);

/*
 * Append the content of a file of `nr` kept deltas. `rows` must be sorted by
 * target, ascending. Rows with equal targets must be sorted by their field
 * `step` (the age of the base), ascending. Returns 0 or ERR_NOMEM.
 */
int kept_deltas_write(struct buf *out, enum hash_algo algo,
		      const struct kept_delta *rows, uint32_t nr);

#endif
