/* SPDX-License-Identifier: MIT */
/*
 * From a request (wants, haves) to the bytes of a pack: the library side of
 * `pack-objects --revs --stdout`. That command uses it, and so does upload-pack
 * in its own process.
 */
#ifndef PACKING_SEND_H
#define PACKING_SEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bitmap/strategy.h"
#include "object/name-group.h"
#include "object/oid.h"
#include "odb/odb.h"
#include "pack/writer.h"
#include "sys/progress.h"

struct filter;
struct oidmap;

/* An annotated tag. */
struct packing_tag {
	struct oid tag; /* the tag object */
	/* the object that the tag peels to */
	struct oid target;
};

/* The tags of the repository. They are not visited if nothing is sent. */
struct packing_tags {
	/*
	 * Call `fn` for each tag. A value of `fn` other than 0 stops the visit
	 * and is returned. NULL: there are no tags.
	 */
	int (*each)(void *ctx,
		    int (*fn)(void *fn_ctx, const struct packing_tag *tag),
		    void *fn_ctx, struct error *err);
	void *ctx;
	/*
	 * Whether one of these ids may be the target of a tag. Returns 0 if
	 * certainly none is (each() need not be called), 1 if one may be, or a
	 * negative error code. NULL: 1.
	 */
	int (*may_have)(void *ctx, const struct oidmap *targets,
			struct error *err);
	/*
	 * Whether an id is one of the wants, in less time than a look-up in the
	 * repository. NULL: not known.
	 */
	bool (*is_want)(void *ctx, const struct oid *oid);
};

/*
 * Objects that the receiver can get in another way. They are not sent, and they
 * are no delta bases.
 */
struct packing_elsewhere {
	const struct oid *oids;
	size_t nr;
	/*
	 * Called once, before the sink gets its first bytes. left_out[i] says
	 * whether oids[i] was left out. A negative return ends the work.
	 */
	int (*tell)(void *ctx, const bool *left_out, struct error *err);
	void *ctx;
};

/* The objects to send. All pointers are borrowed for the call. */
struct packing_request {
	/* of any type; a tag brings its target */
	const struct oid *wants;
	size_t want_nr;
	/*
	 * The receiver has these objects and all that they reach. Ids that do
	 * not exist here are skipped.
	 */
	const struct oid *haves;
	size_t have_nr;
	/*
	 * Commits treated as having no parents: the receiver's shallow
	 * boundary, present and future.
	 */
	const struct oid *shallow;
	size_t shallow_nr;
	/* tags whose target is sent are sent too */
	struct packing_tags tags;
	/* Objects to leave out, except the wants themselves. NULL: none. */
	const struct filter *filter;
	const struct packing_elsewhere *elsewhere; /* NULL: none */
	/* deltas may have bases that only the receiver has */
	bool thin;
	/* the receiver reads OFS_DELTA */
	bool ofs_delta;
	/* use a bitmap index if there is one */
	bool use_bitmap;
	/*
	 * Skip missing blobs that a remote has promised: the receiver can get
	 * them there.
	 */
	bool promised_missing;
};

struct packing_send_options {
	unsigned threads; /* 0: as many as processors */
	/*
	 * Progress meters of finding and searching, and of writing. NULL: none.
	 */
	const struct progress_out *progress;
	const struct progress_out *write_progress;
	int compression; /* zlib level, -1: default */
	/* delta search; window 0: no search */
	unsigned window, depth;
	/* Path hashes of objects, for the search. */
	enum name_grouping grouping;
	/* bytes per thread; 0: no limit */
	uint64_t window_memory;
	uint64_t delta_cache_size; /* bytes of deltas kept */
	/* Larger deltas are not kept; 0: no limit. */
	uint64_t delta_cache_limit;
	/* Bytes; larger objects are not searched. */
	uint64_t big_file_threshold;
	/* copy runs of a bitmapped pack */
	bool reuse_spans;
	/* Copy runs of all packs of a multi-pack-index. */
	bool reuse_all_packs;
	/* Compare copied runs with the CRCs of the index. */
	bool check_reused;
	/* else deltas are made anew */
	bool reuse_delta;
	bool reuse_object; /* else nothing is copied */
	/* Use prepared answers (packing/prepared.h). */
	bool use_prepared;
	/*
	 * For a client without haves: objects stored whole in a large pack are
	 * sent whole. If history is not sent and most objects are such, there
	 * is no delta search.
	 */
	bool spare_search;
	/*
	 * No boundary traversal: send nothing that the receiver has, as far as
	 * a bitmap index is used.
	 */
	bool exact;
	enum bitmap_strategy strategy; /* gitreach.bitmapStrategy */
	/* Only the report is wanted: the sink gets no bytes, or not all. */
	bool counts_only;
};

/* Whether runs of stored objects may be copied. */
static inline bool packing_copies_spans(const struct packing_send_options *o)
{
	return o->reuse_spans && o->reuse_delta && o->reuse_object;
}

/* Limits for larger values of configuration and options. */
#define PACKING_MAX_THREADS 1024
#define PACKING_MAX_WINDOW 10000
#define PACKING_MAX_DEPTH 4095

/*
 * Load the defaults, with pack.* and core.* configuration applied. Returns 0 or
 * a negative error code.
 */
int packing_send_options_load(struct packing_send_options *options,
			      const struct repo *repo, struct error *err);

/* The figures of Git's "Total ..." line, and how the pack was made. */
struct packing_report {
	/* Objects sent; deltas sent, without those in spans. */
	uint32_t objects, deltas;
	/* of them, copied one by one */
	uint32_t reused, reused_deltas;
	uint32_t pack_reused; /* objects copied in spans */
	/* packs from which spans were copied */
	uint32_t packs_reused;
	uint64_t bytes_verbatim; /* bytes copied as stored */
	/* bytes deflated for this pack */
	uint64_t bytes_recompressed;
	bool used_bitmap;
	/* Why a bitmap index was not used; code 0: none. */
	struct error warning;
	/*
	 * How the pack was made; constant strings.
	 * - strategy: "bitmap", "bitmap+walk" (some history is newer than the
	 *   index), "walk", "prepared" (packing/prepared.h), "stored pack" (a
	 *   whole pack was copied), or "nothing" (no wants). NULL: an error
	 *   came first.
	 * - no_bitmap: why no index was used; NULL: an index was used, or was
	 *   given up.
	 */
	const char *strategy, *no_bitmap;
	uint32_t bitmaps_used, pseudo_merges_used;
	/* commits walked outside of bitmaps */
	uint32_t commits_walked;
	/*
	 * Why an index or a walk was chosen; reason NULL: there was no choice.
	 */
	struct bitmap_plan plan;
	/* Times, one after the other; none is counted twice. */
	uint64_t count_ns; /* finding the objects */
	uint64_t reuse_ns; /* copying spans */
	/* the delta search of objects not in spans */
	uint64_t search_ns;
	/* writing objects one by one */
	uint64_t write_ns;
};

/*
 * Make the pack and write it into `sink`. The pack may have 0 objects. Returns
 * 0 or a negative error code: ERR_MISSING if a want does not exist or an object
 * of the closure is missing. The sink may have received bytes by then.
 */
int packing_send(const struct odb *odb, const struct packing_request *request,
		 const struct packing_send_options *options,
		 struct pack_sink sink, struct packing_report *report,
		 struct error *err);

#endif
