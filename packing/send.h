/* SPDX-License-Identifier: MIT */
/*
 * From a request (wants, haves) to the bytes of a pack: the library side of
 * `pack-objects --revs --stdout`, used by that command and by upload-pack in
 * its own process.
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
	struct oid tag;    /* the tag object */
	struct oid target; /* what it peels to */
};

/* Tags that there are. They are not looked at when nothing is sent. */
struct packing_tags {
	/*
	 * Call `fn` with each; what it returns other than 0 stops and is
	 * returned. NULL: there are none.
	 */
	int (*each)(void *ctx,
		    int (*fn)(void *fn_ctx, const struct packing_tag *tag),
		    void *fn_ctx, struct error *err);
	void *ctx;
	/*
	 * Whether one of these ids may be the target of a tag: 0 when surely
	 * none is, and each() needs not be called; 1 or negative. NULL: 1.
	 */
	int (*may_have)(void *ctx, const struct oidmap *targets,
			struct error *err);
	/*
	 * Whether an id is one of the wants, in less time than to look it up.
	 * NULL: that is not known.
	 */
	bool (*is_want)(void *ctx, const struct oid *oid);
};

/*
 * Objects that the receiver can get elsewhere. Those of them that would be
 * sent are left out, and are no bases of deltas either.
 */
struct packing_elsewhere {
	const struct oid *oids;
	size_t nr;
	/*
	 * Called once, before the sink gets its first bytes: left_out[i] says
	 * whether oids[i] was left out. A negative return ends it all.
	 */
	int (*tell)(void *ctx, const bool *left_out, struct error *err);
	void *ctx;
};

/* What to send. All pointers are borrowed for the call. */
struct packing_request {
	const struct oid *wants; /* any objects; tags are sent and followed */
	size_t want_nr;
	const struct oid *haves; /* the receiver has these and all they reach;
				    ids we do not have are skipped */
	size_t have_nr;
	/*
	 * Commits treated as having no parents: the receiver's shallow
	 * boundary and the one it is about to have.
	 */
	const struct oid *shallow;
	size_t shallow_nr;
	struct packing_tags tags; /* those whose target is sent are sent too */
	/* What is left out, but for the wants themselves. NULL: nothing. */
	const struct filter *filter;
	const struct packing_elsewhere *elsewhere; /* NULL: nothing */
	bool thin;       /* deltas against objects the receiver has */
	bool ofs_delta;  /* the receiver reads OFS_DELTA */
	bool use_bitmap; /* answer from a bitmap index when there is one */
	bool promised_missing; /* the receiver knows where to get blobs that
				  were promised to us and are not here */
};

struct packing_send_options {
	unsigned threads; /* 0: as many as processors */
	/* Meters of finding and searching, and of writing. NULL: none. */
	const struct progress_out *progress;
	const struct progress_out *write_progress;
	int compression;             /* zlib level, -1: default */
	unsigned window, depth;      /* delta search; 0 window: none */
	enum name_grouping grouping; /* of objects, for the search */
	uint64_t window_memory;      /* bytes per thread; 0: no limit */
	uint64_t delta_cache_size;   /* bytes of deltas kept */
	uint64_t delta_cache_limit;  /* larger ones are not kept; 0: any */
	uint64_t big_file_threshold; /* bytes; larger: no delta search */
	bool reuse_spans;            /* copy runs of a bitmapped pack, */
	bool reuse_all_packs;        /* or of all that a multi-pack-index has */
	bool reuse_delta;            /* else deltas are made anew */
	bool reuse_object;           /* else nothing is copied */
	bool use_prepared;           /* answers (packing/prepared.h) */
	bool spare_search; /* for who has nothing, what a pack of some size
			      stores whole is sent whole; without history, and
			      most of it so, there is no search */
	bool exact; /* no boundary traversal: nothing that the receiver has by
		       any way, as far as a bitmap index is asked */
	enum bitmap_strategy strategy; /* gitreach.bitmapStrategy */
	bool counts_only;              /* for the report: the sink gets nothing,
					  or not all */
};

/* Whether runs of stored objects may be copied. */
static inline bool packing_copies_spans(const struct packing_send_options *o)
{
	return o->reuse_spans && o->reuse_delta && o->reuse_object;
}

/* What larger values of configuration and options are cut to. */
#define PACKING_MAX_THREADS 1024
#define PACKING_MAX_WINDOW 10000
#define PACKING_MAX_DEPTH 4095

/* The defaults, with pack.* and core.* configuration applied. */
int packing_send_options_load(struct packing_send_options *options,
			      const struct repo *repo, struct error *err);

/* What was done: the figures of Git's "Total ..." line. */
struct packing_report {
	uint32_t objects, deltas;       /* sent; deltas but those in spans */
	uint32_t reused, reused_deltas; /* of them copied one by one */
	uint32_t pack_reused;           /* of them in spans, */
	uint32_t packs_reused;          /* of so many packs */
	uint64_t bytes_verbatim;        /* bytes copied as stored */
	uint64_t bytes_recompressed;    /* bytes deflated for this pack */
	bool used_bitmap;
	struct error warning; /* why a bitmap was set aside, if so */
	/*
	 * How it was done, for who wants to know; constant strings. strategy:
	 * "bitmap", "bitmap+walk" (some history is newer than the index),
	 * "walk", "prepared" (the answer was: packing/prepared.h), "stored
	 * pack" (sent as it lies there), or "nothing" (was wanted); NULL: it
	 * came not so far. no_bitmap: why no bitmap was asked; NULL: one was,
	 * or was set aside.
	 */
	const char *strategy, *no_bitmap;
	uint32_t bitmaps_used, pseudo_merges_used;
	uint32_t commits_walked; /* outside of bitmaps */
	struct bitmap_plan plan; /* why an index, or a walk; reason NULL: there
				    was no choice */
	/* Times, one after the other; none is counted twice. */
	uint64_t count_ns;  /* finding the objects */
	uint64_t reuse_ns;  /* copying spans */
	uint64_t search_ns; /* for deltas, of what was not in spans */
	uint64_t write_ns;  /* one by one */
};

/*
 * Make the pack and put it into `sink`. The pack may be empty (0 objects). A
 * want that does not exist, or an object missing in the closure, is
 * ERR_MISSING; the sink may have received bytes by then.
 */
int packing_send(const struct odb *odb, const struct packing_request *request,
		 const struct packing_send_options *options,
		 struct pack_sink sink, struct packing_report *report,
		 struct error *err);

#endif
