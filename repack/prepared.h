/* SPDX-License-Identifier: MIT */
/*
 * Answers that were prepared when a pack was made: of a few requests that many
 * clients make, such as for a clone of depth 1, which objects of the pack they
 * get, and the checksum of the pack that they are sent. These objects stand in
 * the pack as they are sent, so that nothing has to be looked for or hashed.
 *
 * objects/info/prepared, all big-endian:
 *
 *	"PREP" | version 1: 1 | hash id: 1 | number of answers: 2
 *	checksum of the pack they are about
 *	of each answer:
 *		id of a commit, or zeros
 *		checksum of the answer
 *		number of objects: 4
 *		which ones, by their place in the pack: a bitmap (ewah/ewah.h)
 *	checksum of all of the above
 *
 * What an answer promises: the pack of version 2 that consists of these
 * entries, byte by byte and in their order, has every base at the distance that
 * its delta says, and ends with that checksum. With a commit it is what a clone
 * of depth 1 gets of it: the commit and all that its tree holds.
 *
 * One answer of SHA-1, the first three objects of a pack:
 *
 *	50 52 45 50  01 01 00 01
 *	06 95 .. 08			the pack's checksum, 20 bytes
 *	e8 3b .. cb			the commit
 *	5d a1 .. 77			the answer's checksum
 *	00 00 00 03			objects
 *	00 00 00 03  00 00 00 02	bitmap: 3 bits, 2 words
 *	00 00 00 02  00 00 00 00	no run, one literal
 *	00 00 00 00  00 00 00 07
 *	00 00 00 00			the last run is word 0
 *	b1 0c .. 3e			checksum
 *
 * The file is ours; other implementations pass over it. Nothing is lost with
 * it, and when its pack is gone it means nothing.
 */
#ifndef REPACK_PREPARED_H
#define REPACK_PREPARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ewah/bitset.h"
#include "ewah/ewah.h"
#include "object/oid.h"
#include "repo/odb.h"
#include "sys/map.h"

/* How many answers a file can have. */
#define PREPARED_MAX UINT16_MAX

struct prepared_answer {
	struct oid commit;   /* null: not of one commit's tree */
	struct oid checksum; /* that its pack ends with */
	uint32_t object_nr;
	struct ewah_view objects; /* by pack_pos; borrowed */
};

/* An opened file. Immutable; threads may share it. */
struct prepared {
	struct sys_map map;
	const struct odb_pack *pack; /* borrowed from the snapshot: which one */
	struct oid pack_checksum;
	struct prepared_answer *answers; /* owned; borrow from the map */
	size_t nr;
};

#define PREPARED_INIT                                                          \
	{                                                                      \
		.map = SYS_MAP_INIT                                            \
	}

/*
 * Take a file's bytes, which *p borrows, but for `map` and `pack`. The checksum
 * is looked at, and that counts of objects are those of the bitmaps. 0,
 * ERR_CORRUPT or ERR_NOMEM with *p empty. `name` is for messages.
 */
int prepared_parse(struct prepared *p, const void *bytes, size_t len,
		   enum hash_algo algo, const char *name, struct error *err);

/* The pack of a snapshot that ends with this checksum; NULL: there is none. */
const struct odb_pack *prepared_pack(const struct odb *odb,
				     const struct oid *checksum);

/*
 * Open the file of the `dir_nr`-th object directory. 1; 0 when there is none
 * or its pack is not in the snapshot; or negative as above.
 */
int prepared_open(struct prepared *p, const struct odb *odb, size_t dir_nr,
		  struct error *err);
void prepared_close(struct prepared *p);

/* The answer for a clone of depth 1; NULL: it is not prepared. */
const struct prepared_answer *prepared_of_commit(const struct prepared *p,
						 const struct oid *commit);

/* The answer that has these objects (by pack_pos), `nr` of them; or NULL. */
const struct prepared_answer *prepared_of_set(const struct prepared *p,
					      const struct bitset *objects,
					      size_t nr);

/* Append a whole file. 0 or ERR_NOMEM. `nr` <= PREPARED_MAX. */
int prepared_write(struct buf *out, const struct oid *pack_checksum,
		   enum hash_algo algo, const struct prepared_answer *answers,
		   size_t nr);

#endif
