/* SPDX-License-Identifier: MIT */
/*
 * A plan: the description of a pack that was sent, from which the pack can be
 * sent again without enumerating, comparing and compressing objects.
 *
 *	pieces     [12 bytes][span ------][3000 bytes][span --][20 bytes]
 *	                |         |            |          |        |
 *	literals   [ header       |      made for this    |    trailer ]
 *	pack                [ .. bytes .. ]           [ bytes ]
 *
 * A span is a range of a pinned pack (pack/pack.h), and costs 16 bytes. All
 * other bytes of the sent pack are the literals. The plan has a copy of them:
 * in memory, or, if the plan was read from a file, among the bytes of this
 * file.
 */
#ifndef PLANS_PLAN_H
#define PLANS_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/oid.h"
#include "odb/odb.h"
#include "pack/writer.h"
#include "packing/send.h"

struct plan_piece {
	/*
	 * start of the span in a mapped pack, borrowed; NULL: the piece is the
	 * next `len` bytes of `literals`
	 */
	const uint8_t *span;
	size_t len;
};

/*
 * The objects that a pack lacks, because its receiver gets them from another
 * place, such as a web server.
 */
struct plan_absent {
	/*
	 * checksum of an existing pack whose objects are all lacking in the
	 * sent pack; valid if `pack_len` is not 0
	 */
	struct oid pack;
	/* length of that existing pack in bytes; 0: there is no such pack */
	uint64_t pack_len;
	/* owned: ids of `nr` single objects that are lacking */
	struct oid *blobs;
	size_t nr;
};

struct plan {
	struct buf literals; /* empty if `stored` is set */
	/*
	 * The literals of a plan are the bytes of the sent pack that are stored
	 * in the plan itself. (All other bytes are ranges of existing packs.)
	 * If the plan was read from a file (plans/plan-file.h), `stored` points
	 * to the literals in `file`. NULL: the literals are in the field
	 * `literals`.
	 */
	const uint8_t *stored;
	/*
	 * the bytes of the plan's file; empty if the plan is not from a file.
	 * The file is not mapped: it may be damaged or truncated while the plan
	 * is in use.
	 */
	struct buf file;
	struct plan_piece *pieces; /* owned */
	size_t nr, alloc;
	struct plan_absent absent;
};

#define PLAN_INIT ((struct plan){.literals = BUF_INIT, .file = BUF_INIT})

void plan_release(struct plan *plan);

/* Returns the length of the pack, in bytes. */
uint64_t plan_pack_len(const struct plan *plan);

/*
 * Returns the memory that a plan takes up, in bytes. This includes the bytes of
 * its file, if the plan was read from one.
 */
size_t plan_size(const struct plan *plan);

/*
 * Sends the pack of a plan to a sink. A plan consists of spans (ranges of bytes
 * in existing packs) and literals (bytes that are stored in the plan). If the
 * sink has put_pinned(), this function passes spans and long literals to
 * put_pinned(), without copying them. The sink may use these bytes after the
 * call. So the packs and the plan must live until the sink has used the bytes.
 * Returns 0 or the error of the sink.
 */
int plan_send(const struct plan *plan, const struct pack_sink *sink,
	      struct error *err);

/*
 * Records the bytes of a pack in a plan, and passes them to a sink. The sink
 * may wait for a slow client. So if other requests wait for the plan, the
 * recorder stops passing bytes to the sink until the plan is complete.
 */
struct plan_recorder {
	struct pack_sink sink; /* where the bytes go */
	struct plan *plan;     /* borrowed */
	/* maximum memory of the plan, in bytes */
	size_t max;
	/*
	 * Called before bytes go to the sink. If it returns true, the recorder
	 * holds back these bytes and all further ones: it only stores them in
	 * the plan. plan_recorder_finish() sends them to the sink at the end.
	 * If the plan becomes too large before that, the bytes that were held
	 * back are sent at once.
	 */
	bool (*begin_sending)(void *ctx);
	/*
	 * Called after the sink has got bytes, if begin_sending() returned
	 * false for them.
	 */
	void (*end_sending)(void *ctx);
	/*
	 * Called when the plan became too large, or memory ran out. The plan is
	 * emptied afterwards, and further bytes only go to `sink`.
	 */
	void (*give_up)(void *ctx);
	void *ctx;

	/* private; initially zero */
	bool is_full, is_behind;
	/*
	 * the place in the plan at which the recorder began to hold bytes back;
	 * all bytes before this place were sent
	 */
	struct plan_place {
		size_t piece, bytes, literals;
	} sent;
};

/* Returns the sink that records a pack. The sink borrows the recorder. */
struct pack_sink plan_recorder_sink(struct plan_recorder *recorder);

/* Sends the bytes that were held back. Returns 0 or the error of the sink. */
int plan_recorder_finish(struct plan_recorder *recorder, struct error *err);

/*
 * Reduces the common haves of a request to those that matter for the key of a
 * plan (a cached response).
 *
 * A client names commits, often 16 in a row, until the server knows enough. How
 * many commits it names depends on the client's other branches. Two lists stand
 * for the same objects if their newest commits are the same:
 *
 *	haves  a - b - c - d      b - c - d      key: d
 *	            \- e              \- e            e
 */

/*
 * Removes each have that is a parent of another have. `haves`: *nr sorted ids
 * without duplicates; they stay sorted. The remaining haves reach the same
 * objects as all haves together. Nothing is removed if parents may be absent:
 * the client has a shallow boundary, or the repository has a shallow boundary
 * or grafts. All haves also remain if there are very many, or if memory runs
 * out.
 *
 * Cost: finds the type and size of each have. Reads only those haves that are
 * commits of at most 1 MiB each. The limits are needed because a client can
 * name any object as a have, such as a huge blob, which would take long to
 * read. The parents of a commit that is not read remain.
 */
void plan_haves_reduce(struct oid *haves, size_t *nr, const struct odb *odb,
		       const struct packing_request *request);

#endif
