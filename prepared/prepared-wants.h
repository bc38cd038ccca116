/* SPDX-License-Identifier: MIT */
/*
 * The wants of prepared answers (prepared/prepared.h). A prepared answer is a
 * stored response to a clone request. If the request wants several ids, the
 * answer stores only a hash of these ids. This file stores the ids themselves.
 *
 * After a push, some refs have new values. A client that clones now wants these
 * new ids, so the hash of its wants is not that of any prepared answer. The ids
 * in this file show which history a prepared answer has. So the server can send
 * the answer together with the newer history (packing/find-extended.c).
 *
 * The file is objects/info/prepared-wants. All numbers are big-endian.
 * Documentation/format/prepared.md has an example byte by byte. A number after
 * a colon is the length of a field in bytes:
 *
 * "PREW" | version 1: 1 | hash id: 1 | number of answers: 2 | number of ids: 4
 * checksum of the file of prepared answers
 * ids, ascending
 * of each answer: its index in the file of prepared answers: 4
 *    bitmap: bit i is set if the answer's request wants the i-th id
 * checksum of all of the above
 *
 * The file is an extension of this project; other implementations ignore it. It
 * can be deleted at any time. It is ignored if the file of prepared answers has
 * another checksum.
 */
#ifndef PREPARED_PREPARED_WANTS_H
#define PREPARED_PREPARED_WANTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "ewah/ewah.h"
#include "object/oid.h"
#include "prepared/prepared.h"
#include "sys/map.h"

/* The wants of one prepared answer. */
struct prepared_wants_of {
	/* index in prepared->answers */
	uint32_t answer;
	/* borrowed; bit i is set if the i-th id of the file is wanted */
	struct ewah_view ids;
};

/*
 * An opened file of the wants of prepared answers. Immutable; threads may share
 * it.
 */
struct prepared_wants {
	struct sys_map map;
	enum hash_algo algo;
	/* checksum of the file of prepared answers */
	struct oid prepared_checksum;
	/* borrowed: raw ids, ascending */
	const uint8_t *ids;
	uint32_t id_nr;
	/* owned: sorted by the field `answer` */
	struct prepared_wants_of *answers;
	size_t nr;
};

#define PREPARED_WANTS_INIT                                                    \
	{                                                                      \
		.map = SYS_MAP_INIT                                            \
	}

/*
 * Parse the content of a file. *w borrows the bytes; w->map is not set. The
 * checksum and the order of ids are checked. `name` is used in messages.
 * Returns 0 or a negative error code: ERR_UNSUPPORTED for another version,
 * ERR_CORRUPT or ERR_NOMEM. After an error, *w is empty. Cost: one pass over
 * the bytes.
 */
int prepared_wants_parse(struct prepared_wants *w, const void *bytes,
			 size_t len, enum hash_algo algo, const char *name,
			 struct error *err);

/*
 * Append w's ids and answers to *out, in the format of the file. Returns 0 or
 * ERR_NOMEM.
 */
int prepared_wants_write(struct buf *out, const struct prepared_wants *w);

/*
 * Open the file of wants in the object directory with the number `dir_nr` of
 * `odb`. `prepared` is the opened file of prepared answers in the same
 * directory. Returns 1 if the file was opened, 0 if there is none or it belongs
 * to another file of prepared answers, or a negative error code: ERR_IO or a
 * code of prepared_wants_parse().
 */
int prepared_wants_open(struct prepared_wants *w,
			const struct prepared *prepared, const struct odb *odb,
			size_t dir_nr, struct error *err);

/*
 * Search the object directories of `odb` for a file info/prepared-wants, and
 * open the first one that can be used. The file info/prepared, to which the
 * wants belong, must be in the same directory. Files with more than `len_max`
 * bytes are skipped. Returns 1 if a file was opened; all ids in the file are
 * then ids of objects in `odb`. Otherwise, *w is empty, and the function
 * returns 0 or ERR_NOMEM.
 */
int prepared_wants_open_any(struct prepared_wants *w, const struct odb *odb,
			    size_t len_max);
void prepared_wants_close(struct prepared_wants *w);

/*
 * Find an id, and set *at to its index in w->ids. Returns false if the file
 * does not have the id.
 */
bool prepared_wants_find(const struct prepared_wants *w, const struct oid *oid,
			 uint32_t *at);

#endif
