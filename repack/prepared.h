/* SPDX-License-Identifier: MIT */
/*
 * Answers that were prepared when a pack was made: of a few requests that many
 * clients make, clones, which objects of the pack they get, and the checksum of
 * the pack that they are sent. These objects stand in the pack as they are
 * sent, so that nothing has to be looked for or hashed.
 *
 * objects/info/prepared, all big-endian, with an example byte by byte in
 * Documentation/format/prepared.md:
 *
 *	"PREP" | version 1: 1 | hash id: 1 | number of answers: 2
 *	checksum of the pack they are about
 *	of each answer:
 *		the request: 1, and an id
 *		checksum of the answer, and with tags
 *		which objects, by pack_pos: a bitmap
 *		tags that come along, where asked for: a bitmap
 *	checksum of all of the above
 *
 * What an answer promises: the pack of version 2 that consists of these
 * entries, byte by byte and in their order, has every base at the distance that
 * its delta says, and ends with that checksum; and so does the one that has the
 * tags too. The objects are all that the request asks for.
 *
 * A request is a clone of what one id reaches (1), or with depth 1 (2); or the
 * same of several (3, 4): then what stands for them is the hash of these ids,
 * ascending, each once.
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

enum prepared_kind {
	PREPARED_CLONE = 1,
	PREPARED_DEPTH_1 = 2,
	PREPARED_SEVERAL = 2, /* to be added for several wants */
};

struct prepared_request {
	uint8_t kind;  /* enum prepared_kind, see above */
	struct oid id; /* what is wanted, or a hash of it */
};

struct prepared_answer {
	struct prepared_request request;
	struct oid checksum;            /* that its pack ends with */
	struct oid tagged;              /* the same with tags */
	struct ewah_view objects, tags; /* by pack_pos; borrowed */
	uint32_t object_nr, tag_nr;     /* bits of these */
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
 * is looked at. 0, ERR_CORRUPT or ERR_NOMEM with *p empty. `name` is for
 * messages.
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

/*
 * The request for `nr` ids, 1 or more: a clone of depth 1, or of all that they
 * reach. 0 or ERR_NOMEM.
 */
int prepared_request(struct prepared_request *request, enum hash_algo algo,
		     bool depth_1, const struct oid *wants, size_t nr);

static inline bool prepared_same_request(const struct prepared_request *a,
					 const struct prepared_request *b)
{
	return a->kind == b->kind && oid_equal(&a->id, &b->id);
}

/* Whether a request is of one want, which its id is. */
static inline bool prepared_is_of_one(const struct prepared_request *request)
{
	return request->kind <= PREPARED_DEPTH_1;
}

/* The answer to a request; NULL: it is not prepared. */
const struct prepared_answer *prepared_find(
	const struct prepared *p, const struct prepared_request *request);

/*
 * Open the file of a snapshot that has the answer to a clone of what these ids
 * reach, `nr` of them, 1 or more, or with depth 1. Then there are objects of
 * these ids. 1; or 0 or ERR_NOMEM with *p empty and *answer NULL. A file that
 * cannot be used is passed over.
 */
int prepared_open_for(struct prepared *p, const struct prepared_answer **answer,
		      const struct odb *odb, bool depth_1,
		      const struct oid *wants, size_t nr);

/*
 * What a pack of these objects (by pack_pos), `nr` of them, ends with, if they
 * are an answer with its tags or without; else NULL.
 */
const struct oid *prepared_checksum(const struct prepared *p,
				    const struct bitset *objects, size_t nr);

/*
 * Append a whole file. Counts are those of the bitmaps. 0 or ERR_NOMEM. `nr` <=
 * PREPARED_MAX.
 */
int prepared_write(struct buf *out, const struct oid *pack_checksum,
		   enum hash_algo algo, const struct prepared_answer *answers,
		   size_t nr);

#endif
