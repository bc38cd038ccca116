/* SPDX-License-Identifier: MIT */
/*
 * Makes the bytes of a pack from a request with wants and haves: the library
 * side of `git pack-objects --revs --stdout`. upload-pack calls these functions
 * in its own process.
 */
#ifndef PACKING_SEND_H
#define PACKING_SEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bitmap/strategy.h"
#include "object/path-group.h"
#include "object/oid.h"
#include "odb/odb.h"
#include "pack/writer.h"
#include "sys/progress.h"

struct filter;
struct hash_ctx;
struct oidmap;

/* An annotated tag. */
struct packing_tag {
	struct oid tag; /* the tag object */
	/* the object at the end of the chain of tags */
	struct oid target;
};

/*
 * Access to the tags of the repository. The tags are not visited if no object
 * is sent.
 */
struct packing_tags {
	/*
	 * Call `fn` for each tag. If `fn` returns a value other than 0, the
	 * visit stops and returns that value. NULL: there are no tags.
	 */
	int (*each)(void *ctx,
		    int (*fn)(void *fn_ctx, const struct packing_tag *tag),
		    void *fn_ctx, struct error *err);
	void *ctx;
	/*
	 * `targets` has the ids of the objects to send. Find out whether a tag
	 * may point to one of these objects. Returns 1 if so, 0 if certainly no
	 * tag points to any of them, or a negative error code. After 0, each()
	 * is not called. NULL: each() is always called.
	 */
	int (*may_have)(void *ctx, const struct oidmap *targets,
			struct error *err);
	/*
	 * Returns whether an id is one of the wants. A prepared answer (a
	 * stored response) has its wants in any case. So if a tag is a want,
	 * its target need not be looked up in the answer. This callback must
	 * cost less than that look-up. NULL: the target of a wanted tag is
	 * looked up like the target of any other tag.
	 */
	bool (*is_want)(void *ctx, const struct oid *oid);
	/*
	 * Add to *hash all values that decide which tags each() visits. Returns
	 * 0 if computing the hash would cost too much, otherwise 1 or a
	 * negative error code. NULL: the hash cannot be computed.
	 */
	int (*identify)(void *ctx, struct hash_ctx *hash, struct error *err);
};

/*
 * Objects that the receiver can get from another place, such as a web server
 * (packfile-uris). They are not sent, and are not used as delta bases. The
 * other place offers either single objects, or whole packs, not both. Single
 * objects: `oids` has the ids of the `nr` objects. Whole packs: `nr` is 0, and
 * has_pack() says which packs there are.
 */
struct packing_elsewhere {
	const struct oid *oids;
	size_t nr;
	/*
	 * Returns whether the receiver can get a whole pack from another place:
	 * the pack with this checksum, which has `len` bytes. NULL: there are
	 * no such packs. The function is not called if `nr` is not 0 (single
	 * objects are offered).
	 *
	 * The function is called only if both of these are true: the whole
	 * content of a prepared answer (a stored response, prepared/prepared.h)
	 * would be sent, and the receiver can read entries of type OFS_DELTA.
	 */
	bool (*has_pack)(void *ctx, const struct oid *checksum, uint64_t len);
	/*
	 * Called once, before the sink gets its first bytes. left_out[i] says
	 * whether oids[i] was left out; `left_out` may be NULL if `nr` is 0.
	 * `pack` is the checksum of the pack that was left out, or NULL. If
	 * tell() returns a negative code, the work ends with that code.
	 */
	int (*tell)(void *ctx, const bool *left_out, const struct oid *pack,
		    struct error *err);
	/*
	 * Adds to *hash all values that decide the results of has_pack(). The
	 * hash is part of the key under which the plan of the response is
	 * cached. Returns 1 if the values were added, 0 if computing the hash
	 * would cost too much for this request, or a negative error code.
	 *
	 * NULL: the hash can never be computed, so no plan is cached. The
	 * function is needed only if whole packs are offered (`nr` is 0, and
	 * has_pack is set). Otherwise it is not called.
	 */
	int (*identify)(void *ctx, struct hash_ctx *hash, struct error *err);
	void *ctx;
};

/*
 * Returns whether the receiver can get whole packs, not single objects, from
 * another place.
 */
static inline bool packing_has_packs(const struct packing_elsewhere *e)
{
	return e && e->has_pack && !e->nr;
}

/* The objects to send. All pointers are borrowed for the call. */
struct packing_request {
	/* objects of any type; for a tag, its target is sent too */
	const struct oid *wants;
	size_t want_nr;
	/*
	 * The receiver has these objects and all objects that they reach. Ids
	 * that do not exist here are ignored.
	 */
	const struct oid *haves;
	size_t have_nr;
	/*
	 * Commits that are treated as having no parents: the present and the
	 * future shallow boundary of the receiver.
	 */
	const struct oid *shallow;
	size_t shallow_nr;
	/*
	 * true: the receiver itself has listed its shallow boundary, so
	 * `shallow` is complete. false: the receiver may lack ancestors of the
	 * haves.
	 */
	bool knows_shallow;
	/* If the target of one of these tags is sent, the tag is sent too. */
	struct packing_tags tags;
	/*
	 * Objects that do not pass this filter are left out, except the wants.
	 * NULL: no filter.
	 */
	const struct filter *filter;
	/*
	 * The walk may also reach a want from another object that is sent: a
	 * wanted tree may be the root tree of a commit, and a wanted tree or
	 * blob may be below an earlier wanted tree. If this field is true, the
	 * filter applies to such a want like to any other object, as in
	 * pack-objects of stock Git. If the field is false, as for all fetches,
	 * such a want is sent even if it does not pass the filter. A want that
	 * is reached in no other way is always sent.
	 */
	bool filter_nested;
	const struct packing_elsewhere *elsewhere; /* NULL: none */
	/*
	 * Make a thin pack: a delta may have a base that the pack lacks and the
	 * receiver has.
	 */
	bool thin;
	/* true: the receiver reads entries of type OFS_DELTA */
	bool ofs_delta;
	/* Use a bitmap index, if there is one. */
	bool use_bitmap;
	/*
	 * Skip missing blobs that a promisor remote has promised, because the
	 * receiver can get these blobs from that remote.
	 */
	bool promised_missing;
};

/*
 * Permission for expensive work, from a server whose requests share the
 * processors. No permission is needed for prepared answers (stored responses),
 * stored packs, and queries of bitmap indexes.
 */
struct packing_admission {
	/*
	 * Called before objects are found by a walk, and before a pack is made
	 * of the objects. `price_us`: estimated CPU time of the next steps. The
	 * first call for a pack may wait. Each further call adds its price to
	 * that of the first call, and must not wait. *threads becomes the
	 * number of threads that may work; 0: no limit. A negative result ends
	 * the work with that code. The first call is made before the sink gets
	 * bytes.
	 */
	int (*admit)(void *ctx, uint64_t price_us, unsigned *threads,
		     struct error *err);
	void *ctx;
};

struct packing_send_options {
	/* borrowed: receives the phases of the work; NULL: none */
	struct trace *trace;
	/* number of threads; 0: as many as processors */
	unsigned threads;
	/*
	 * Progress of finding objects and deltas, and of writing. NULL: none.
	 */
	const struct progress_out *progress;
	const struct progress_out *write_progress;
	/* zlib level; -1: zlib's default */
	int compression;
	/*
	 * number of candidates that each object is compared with in the delta
	 * search; 0: no search
	 */
	unsigned window;
	/* maximum length of a delta chain */
	unsigned depth;
	/* How path hashes of objects are computed for the delta search. */
	enum path_grouping grouping;
	/*
	 * Maximum bytes of objects in the window of each thread; 0: no limit.
	 */
	uint64_t window_memory;
	/* maximum bytes of deltas that are kept in memory */
	uint64_t delta_cache_size;
	/* maximum bytes of one delta that is kept in memory; 0: no limit */
	uint64_t delta_cache_limit;
	/*
	 * maximum bytes of an object that may become a delta; larger objects
	 * are stored whole
	 */
	uint64_t big_file_threshold;
	/* true: runs of entries are copied from a stored pack with a bitmap
	 * index */
	bool reuse_spans;
	/*
	 * true: runs are copied from all packs of a multi-pack-index, not only
	 * from the preferred one
	 */
	bool reuse_all_packs;
	/*
	 * Compare copied entries with the CRCs in the .idx files, and the
	 * other objects with their ids.
	 */
	bool check_reused;
	/* Copy stored deltas. false: all deltas are searched again. */
	bool reuse_delta;
	/*
	 * Copy stored objects. false: all objects are inflated and deflated
	 * again.
	 */
	bool reuse_object;
	/* Use prepared answers (prepared/prepared.h). */
	bool use_prepared;
	/*
	 * Only for a client without haves. true: no delta search is made for an
	 * object that a pack with many objects stores whole. The search that
	 * made this pack has found no good delta for the object.
	 *
	 * If the client has asked for a shallow history (depth 1, for example)
	 * and gets at most one commit, one more rule applies: the whole delta
	 * search is left out. Exception: the search is made if more than half
	 * of the objects must be deflated anew or are stored whole in small
	 * packs.
	 */
	bool spare_search;
	/*
	 * Used with a bitmap index. true: send no object that the receiver has.
	 * false: the boundary traversal may send some of these objects.
	 */
	bool exact;
	/* the value of gitreach.bitmapStrategy */
	enum bitmap_strategy strategy;
	/*
	 * true: the caller needs only the numbers of the report: the sink may
	 * get no bytes, or only a part of the bytes
	 */
	bool counts_only;
	const struct packing_admission *admission; /* borrowed; NULL: none */
};

/* Returns whether runs of stored objects may be copied. */
static inline bool packing_copies_spans(const struct packing_send_options *o)
{
	return o->reuse_spans && o->reuse_delta && o->reuse_object;
}

/*
 * Maximum values; larger values in the configuration or in options are reduced
 * to these.
 */
#define PACKING_MAX_THREADS 1024
#define PACKING_MAX_WINDOW 10000
#define PACKING_MAX_DEPTH 4095

/*
 * Set *options to the defaults, then apply the configuration: pack.* and
 * core.*. Returns 0 or a negative error code.
 */
int packing_send_options_load(struct packing_send_options *options,
			      const struct repo *repo, struct error *err);

/* The numbers of Git's line "Total ...", and how the pack was made. */
struct packing_report {
	/* number of objects that were sent */
	uint32_t objects;
	/*
	 * number of deltas that were sent, except those in spans (copied runs)
	 */
	uint32_t deltas;
	/* number of objects that were copied one by one, not in spans (runs) */
	uint32_t reused;
	/* number of deltas that were copied one by one, not in spans (runs) */
	uint32_t reused_deltas;
	/* number of objects that were copied in spans (runs of entries) */
	uint32_t pack_reused;
	/* number of packs from which spans (runs of entries) were copied */
	uint32_t packs_reused;
	/* number of bytes that were copied as they are stored */
	uint64_t bytes_verbatim;
	/* number of bytes that were deflated for this pack */
	uint64_t bytes_recompressed;
	/*
	 * number of objects and bytes of the pack that the receiver gets from
	 * another place (struct packing_elsewhere); the other numbers do not
	 * include them
	 */
	uint32_t objects_elsewhere;
	uint64_t bytes_elsewhere;
	bool used_bitmap;
	/*
	 * What is broken in a bitmap index that could not be used; code 0:
	 * nothing.
	 */
	struct error warning;
	/*
	 * How the objects were found, a constant string. NULL: an error
	 * occurred before.
	 * - "bitmap";
	 * - "bitmap+walk": some history is newer than the index;
	 * - "walk";
	 * - "prepared": a prepared answer was sent (prepared/prepared.h);
	 * - "stored pack": a whole pack was copied;
	 * - "published": the receiver gets a pack from another place;
	 * - "published+walk": in addition, objects that are newer than the
	 *   published pack were sent;
	 * - "nothing": the request has no wants.
	 */
	const char *strategy;
	/*
	 * Why a walk found the objects, and no bitmap index was used; a
	 * constant string. NULL: an index was used or was broken, or no index
	 * was needed, because of a prepared answer or because nothing is
	 * wanted.
	 */
	const char *no_bitmap;
	/*
	 * How a response plan was used, a constant string: "made", "hit",
	 * "joined" or "bypassed". A response plan records the pieces of an
	 * earlier pack (plans/plan-cache.h). NULL: there are no plans.
	 */
	const char *response_plan;
	/*
	 * A constant string: why no response plan was used ("bypassed"), or why
	 * a newly made plan is not stored on disk. NULL: neither of the two
	 * happened, or there are no plans.
	 */
	const char *no_response_plan;
	uint32_t bitmaps_used, pseudo_merges_used;
	/* number of commits that were walked because no bitmap contains them */
	uint32_t commits_walked;
	/*
	 * Why the bitmap index or a walk was chosen. plan.reason is NULL if
	 * there was no choice.
	 */
	struct bitmap_plan plan;
	/* For a server that lets requests wait: the estimated CPU time. */
	uint64_t price_us;
	/*
	 * Time that the request waited for admission. The durations below do
	 * not include this time. 0: the request did not wait.
	 */
	uint64_t queue_ns;
	/* Durations in nanoseconds. They do not overlap. */
	/* time for finding the objects */
	uint64_t count_ns;
	uint64_t reuse_ns; /* copying spans */
	/*
	 * time for the delta search of objects that are not in spans (copied
	 * runs)
	 */
	uint64_t search_ns;
	/* time for writing objects that are not in spans (copied runs) */
	uint64_t write_ns;
};

/*
 * Make the pack and write it into `sink`. The pack may have 0 objects. Returns
 * 0 or a negative error code: ERR_MISSING if a want or an object that a want
 * reaches does not exist. The sink may have received bytes before an error.
 */
int packing_send(const struct odb *odb, const struct packing_request *request,
		 const struct packing_send_options *options,
		 struct pack_sink sink, struct packing_report *report,
		 struct error *err);

#endif
