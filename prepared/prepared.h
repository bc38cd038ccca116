/* SPDX-License-Identifier: MIT */
/*
 * Prepared answers: a repack computes the responses to a few frequent requests,
 * which are clones, and stores them. A prepared answer stores which bytes of
 * the pack are sent, and the checksum of the sent pack. So the server sends the
 * answer without enumerating or hashing objects, and without reading the order
 * of the pack.
 *
 * The file is objects/info/prepared. All numbers are big-endian.
 * Documentation/format/prepared.md has an example byte by byte:
 *
 * "PREP" | version 3: 1 | hash id: 1 | number of answers: 2 number of tags: 4
 * checksum of the pack they are about ids of tags, ascending of each answer:
 *    the request: 1, and an id
 *    content without tags
 *    content with tags
 *    which of the listed tags the content with tags adds: a bitmap
 *    tree of the wanted commit, if the request has depth 1
 * checksum of all of the above
 *
 * content:
 *    checksum of the pack that is sent
 *    number of objects: 4 | number of runs: 4
 *    of each run, ascending: offset in the pack: 8 | length: 8
 *
 * These facts hold for each answer. A pack of version 2 with the bytes of the
 * runs has the stored number of objects and the stored checksum. The base of
 * each delta is at the distance that the delta says. The objects are all that
 * the request asks for. The content with tags also has the tags that a clone
 * with tags would add. This content can be sent as long as each added tag has a
 * ref, and no other tag points to an object of the content.
 *
 * The number of a request says its kind: a clone of all that one id reaches
 * (1), the same with depth 1 (2), and both for several ids (3, 4). Several ids
 * are stored as the hash of these ids, ascending, each once.
 *
 * tree:
 *    number of repeated objects: 4; 2^32 - 1: unknown, and nothing follows
 *    of each, ascending: position in the index: 4 | number of paths: 4
 *    of each run of the content without tags:
 *       position of its first object in the pack: 4 | number of objects: 4
 *    hash of positions in the index, 4 bytes each: of all objects of each run,
 *       and of the object that follows the run in the pack
 *
 * A *repeated* object is at several paths of the tree of the wanted commit. So
 * a similar tree, in which one of these paths has changed, still has the
 * object (packing/find-near.c).
 *
 * The file is an extension of this project; other implementations ignore it. It
 * can be deleted at any time. It is ignored when its pack is gone.
 */
#ifndef PREPARED_PREPARED_H
#define PREPARED_PREPARED_H

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

/* Maximum number of prepared answers in a file. */
#define PREPARED_MAX UINT16_MAX

enum prepared_kind {
	PREPARED_CLONE = 1,
	PREPARED_DEPTH_1 = 2,
	/* added to the kind of a request if the request has several wants */
	PREPARED_SEVERAL = 2,
};

struct prepared_request {
	/* enum prepared_kind, perhaps with PREPARED_SEVERAL added */
	uint8_t kind;
	/* the wanted id; or the hash of all ids, if there are several wants */
	struct oid id;
};

/* A run of bytes in a pack. The run consists of whole entries. */
struct prepared_run {
	uint64_t off, len;
};

/*
 * Prepared pack content: the entries of a pack that are sent as they are
 * stored.
 */
struct prepared_content {
	/* trailer (checksum) of the pack that is sent */
	struct oid checksum;
	uint32_t object_nr;
	/*
	 * Borrowed: runs of entries, with ascending offsets. No run is empty or
	 * touches the next run.
	 */
	const struct prepared_run *runs;
	size_t run_nr;
};

/* A tree or blob at several paths of a tree. */
struct prepared_repeat {
	uint32_t idx_pos; /* position in the index of the pack */
	uint32_t paths;   /* number of paths, two or more */
};

/* The objects of a run: [first, first + nr), by pack_pos. */
struct prepared_place {
	uint32_t first, nr;
};

/*
 * The tree of an answer of depth 1. The following facts show which objects a
 * similar tree has (packing/find-near.c).
 */
struct prepared_tree {
	/* false: unknown; all other fields are then empty */
	bool is_known;
	/* borrowed: the objects of each run of the content without tags */
	const struct prepared_place *places;
	/*
	 * Hash of positions in the index, a be32 each, in the order of the
	 * pack: of all objects of each run, and of the object that follows the
	 * run. So the order of the pack can be checked for these objects only.
	 */
	struct oid order;
	/* borrowed: repeated objects of the tree, with ascending idx_pos */
	const struct prepared_repeat *repeats;
	size_t repeat_nr;
};

struct prepared_answer {
	struct prepared_request request;
	struct prepared_content plain, tagged;
	/* Borrowed; bit i is set if `tagged` adds the i-th tag of the file. */
	struct ewah_view along;
	struct prepared_tree tree;
};

/* An opened file of prepared answers. Immutable; threads may share it. */
struct prepared {
	struct sys_map map;
	/*
	 * Borrowed from the snapshot: the pack that the answers are copied
	 * from.
	 */
	const struct odb_pack *pack;
	enum hash_algo algo;
	struct oid pack_checksum;
	/* borrowed: raw ids of tags, ascending */
	const uint8_t *tags;
	uint32_t tag_nr;
	/*
	 * Owned: the answers in the file. They borrow from the map and from
	 * `runs`.
	 */
	struct prepared_answer *answers;
	/*
	 * Owned, for all answers: the byte ranges of the pack to send (runs),
	 * the places and the repeated objects.
	 */
	struct prepared_run *runs;
	struct prepared_place *places;
	struct prepared_repeat *repeats;
	size_t nr;
};

#define PREPARED_INIT                                                          \
	{                                                                      \
		.map = SYS_MAP_INIT                                            \
	}

/*
 * Parse a file of prepared answers. *p borrows the bytes; p->map and p->pack
 * are not set. The checksum, and the order of the byte ranges to send (runs),
 * are checked. `name` is used in messages. Returns 0 or a negative error code:
 * ERR_UNSUPPORTED for another version, ERR_MISSING if the file is empty or
 * truncated, ERR_CORRUPT or ERR_NOMEM. After an error, *p is empty.
 */
int prepared_parse(struct prepared *p, const void *bytes, size_t len,
		   enum hash_algo algo, const char *name, struct error *err);

/*
 * Append the content of a file: the checksum of p's pack, its tags and its
 * answers, at most PREPARED_MAX. Returns 0 or ERR_NOMEM.
 */
int prepared_write(struct buf *out, const struct prepared *p);

/*
 * Returns the pack that has this checksum in the snapshot, or NULL if there is
 * none.
 */
const struct odb_pack *prepared_pack(const struct odb *odb,
				     const struct oid *checksum);

/*
 * Map the file objects/info/<name> of object directory `dir_nr`. *map and *path
 * must be initialised; *path receives the path, for messages. Returns 1 if the
 * file was mapped, 0 if there is no such file, or a negative error code: ERR_IO
 * or ERR_NOMEM.
 */
int prepared_map_file(struct sys_map *map, struct buf *path,
		      const struct odb *odb, size_t dir_nr, const char *name,
		      struct error *err);

/*
 * Open the file of prepared answers of object directory `dir_nr`. Returns 1 if
 * the file was opened, 0 if there is no file or its pack is not in the
 * snapshot, or a negative error code: ERR_IO or a code of prepared_parse().
 */
int prepared_open(struct prepared *p, const struct odb *odb, size_t dir_nr,
		  struct error *err);
void prepared_close(struct prepared *p);

/*
 * Set *request to a clone of all that `nr` ids (at least 1) reach, with full
 * history or with depth 1. Returns 0 or ERR_NOMEM.
 */
int prepared_request(struct prepared_request *request, enum hash_algo algo,
		     bool depth_1, const struct oid *wants, size_t nr);

static inline bool prepared_same_request(const struct prepared_request *a,
					 const struct prepared_request *b)
{
	return a->kind == b->kind && oid_equal(&a->id, &b->id);
}

/* Returns whether a request has one want, so that `id` is the wanted id. */
static inline bool prepared_is_of_one(const struct prepared_request *request)
{
	return request->kind <= PREPARED_DEPTH_1;
}

/* Returns the prepared answer to a request, or NULL if there is none. */
const struct prepared_answer *prepared_find(
	const struct prepared *p, const struct prepared_request *request);

/*
 * Returns the content that has exactly these runs, with or without tags, or
 * NULL if there is none.
 */
const struct prepared_content *prepared_find_content(
	const struct prepared *p, const struct prepared_run *runs, size_t nr);

/*
 * Find a tag in the file's list of tags, and set *at to its index. Returns
 * false if the tag is not in the list.
 */
bool prepared_find_tag(const struct prepared *p, const struct oid *tag,
		       uint32_t *at);

/*
 * Returns whether a run of the content has the entry at an offset of the pack.
 */
bool prepared_has(const struct prepared_content *content, uint64_t off);

/*
 * Returns the number of paths at which a tree has an object, which is in the
 * content of the answer and has this idx_pos.
 */
uint32_t prepared_paths(const struct prepared_tree *tree, uint32_t idx_pos);

/*
 * Compute tree->order for the objects of an answer, which are in `run_nr` runs
 * of neighbouring entries of a pack. `rev` is the order of the pack, which may
 * be wrong. tree->places must be inside the pack. Returns 0 or ERR_NOMEM.
 */
int prepared_hash_order(struct oid *order, const struct prepared_tree *tree,
			size_t run_nr, const struct pack_rev *rev);

/* Returns the number of bytes of the stored pack that the content lists. */
uint64_t prepared_bytes(const struct prepared_content *content);

/*
 * Copy the byte ranges of the stored pack that the content lists (its runs)
 * into a pack that was begun for at least object_nr objects. `progress` counts
 * objects. Returns 0 or a negative error code.
 */
int prepared_send(const struct prepared_content *content,
		  const struct pack *pack, struct pack_writer *writer,
		  struct progress *progress, struct error *err);

/*
 * Find the runs of bytes in which some objects (pack_pos) of a pack are stored.
 * *runs receives an array of *nr runs that the caller frees, also on failure.
 * Returns 0, ERR_NOMEM, or ERR_CORRUPT if the order of the pack is wrong.
 */
int prepared_runs(struct prepared_run **runs, size_t *nr,
		  const struct pack_rev *rev, const struct bitset *objects,
		  struct error *err);

/*
 * Set the bits (pack_pos) of the objects in the byte ranges of the pack that
 * the content lists (its runs). `objects` must have room for all objects of the
 * pack. Returns false if the runs are not whole entries, or if the number of
 * objects is wrong.
 */
bool prepared_objects(struct bitset *objects, const struct pack_rev *rev,
		      const struct prepared_content *content);

#endif
