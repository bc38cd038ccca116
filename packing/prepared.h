/* SPDX-License-Identifier: MIT */
/*
 * Answers that were prepared when a pack was made: of a few requests that many
 * clients make, clones, which bytes of the pack they get, and the checksum of
 * the pack that they are sent. Nothing has to be looked for or hashed, and
 * nothing of the pack is looked at, its order included.
 *
 * objects/info/prepared, all big-endian, with an example byte by byte in
 * Documentation/format/prepared.md:
 *
 *	"PREP" | version 2: 1 | hash id: 1 | number of answers: 2
 *	number of tags: 4
 *	checksum of the pack they are about
 *	ids of tags, ascending
 *	of each answer:
 *		the request: 1, and an id
 *		what is sent
 *		what is sent with tags, where they are asked for
 *		which of the tags come along then: a bitmap
 *	checksum of all of the above
 *
 *	what is sent:
 *		checksum of that pack
 *		number of objects: 4 | number of runs: 4
 *		of each run, ascending: offset in the pack: 8 | length: 8
 *
 * What an answer promises: the pack of version 2 that consists of these bytes
 * is made of so many entries, has every base at the distance that its delta
 * says, and ends with that checksum. Its objects are all that the request asks
 * for, and with tags all that refs/tags/ adds, as long as each of those that
 * come along has a reference, and no tag that is not among the listed ones
 * names an object of it.
 *
 * A request is a clone of what one id reaches (1), or with depth 1 (2); or the
 * same of several (3, 4): then what stands for them is the hash of these ids,
 * ascending, each once.
 *
 * The file is ours; other implementations pass over it. Nothing is lost with
 * it, and when its pack is gone it means nothing.
 */
#ifndef PACKING_PREPARED_H
#define PACKING_PREPARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ewah/bitset.h"
#include "ewah/ewah.h"
#include "object/oid.h"
#include "odb/odb.h"
#include "pack/rev.h"
#include "pack/writer.h"
#include "sys/map.h"
#include "sys/progress.h"

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

/* Bytes of a pack: whole entries. */
struct prepared_run {
	uint64_t off, len;
};

/* What is sent: entries of a pack as they are. */
struct prepared_content {
	struct oid checksum; /* that the pack of them ends with */
	uint32_t object_nr;
	const struct prepared_run *runs; /* borrowed; ascending, none of them
					    empty or touching the next */
	size_t run_nr;
};

struct prepared_answer {
	struct prepared_request request;
	struct prepared_content plain, tagged;
	struct ewah_view along; /* borrowed: bit i: the file's i-th tag comes
				   along */
};

/* A file. Immutable; threads may share it. */
struct prepared {
	struct sys_map map;
	const struct odb_pack *pack; /* borrowed from the snapshot: which one */
	enum hash_algo algo;
	struct oid pack_checksum;
	const uint8_t *tags; /* borrowed: raw ids, ascending */
	uint32_t tag_nr;
	struct prepared_answer *answers; /* owned; borrow from the map, and */
	struct prepared_run *runs;       /* owned: of all answers */
	size_t nr;
};

#define PREPARED_INIT                                                          \
	{                                                                      \
		.map = SYS_MAP_INIT                                            \
	}

/*
 * Take a file's bytes, which *p borrows, but for `map` and `pack`. The checksum
 * is looked at, and that runs ascend. 0, or with *p empty ERR_UNSUPPORTED for
 * another version, ERR_MISSING when there are but the first bytes of a file, or
 * none, ERR_CORRUPT or ERR_NOMEM. `name` is for messages.
 */
int prepared_parse(struct prepared *p, const void *bytes, size_t len,
		   enum hash_algo algo, const char *name, struct error *err);

/*
 * Append a whole file: of p, what it says about its pack, its tags and its
 * answers, at most PREPARED_MAX. 0 or ERR_NOMEM.
 */
int prepared_write(struct buf *out, const struct prepared *p);

/* The pack of a snapshot that ends with this checksum; NULL: there is none. */
const struct odb_pack *prepared_pack(const struct odb *odb,
				     const struct oid *checksum);

/*
 * Open the file of the `dir_nr`-th object directory. 1; 0 when there is none
 * or its pack is not in the snapshot; or negative as above, or ERR_IO.
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

/* What consists of just these runs, with tags or without; or NULL. */
const struct prepared_content *prepared_find_content(
	const struct prepared *p, const struct prepared_run *runs, size_t nr);

/* The place of a tag in the file's list; false: it is not there. */
bool prepared_find_tag(const struct prepared *p, const struct oid *tag,
		       uint32_t *at);

/* Whether the entry at an offset of the pack is sent. */
bool prepared_has(const struct prepared_content *content, uint64_t off);

/* Bytes of all runs. */
uint64_t prepared_bytes(const struct prepared_content *content);

/*
 * Put all of it into a pack of so many objects, or more. `progress` counts
 * objects. 0 or negative.
 */
int prepared_send(const struct prepared_content *content,
		  const struct pack *pack, struct pack_writer *writer,
		  struct progress *progress, struct error *err);

/*
 * The runs that some objects of a pack are, by pack_pos: an array that the
 * caller frees, also on failure, `nr` of them. 0 or ERR_NOMEM; ERR_CORRUPT in
 * an order that is none.
 */
int prepared_runs(struct prepared_run **runs, size_t *nr,
		  const struct pack_rev *rev, const struct bitset *objects,
		  struct error *err);

/*
 * The other way: set the bits (pack_pos) of the objects that these runs are.
 * `objects` has room for all of the pack. False: they are not whole entries, or
 * not as many as there should be.
 */
bool prepared_objects(struct bitset *objects, const struct pack_rev *rev,
		      const struct prepared_content *content);

#endif
