/* SPDX-License-Identifier: MIT */
/*
 * Which tips of references make a pseudo-merge together.
 *
 * As configured (bitmapPseudoMerge.*, gitpacking(7)), or by default: one class
 * of tips for each kind of request that asks for all refs of a kind, the
 * branches and tags (a clone) and all others (added by a mirror).
 *
 * By default only those tips count that make a query walk: that have no bitmap,
 * and lie behind no tip of such a request that has one. Of these only what no
 * other one reaches, because the union is the same. They are split by age,
 * halves first: whoever moves or deletes one ref puts its whole pseudo-merge
 * out of use, and refs with an old tip move least. A tip takes some 20 bytes,
 * so that there is a limit, beyond which the newest are left out.
 */
#ifndef BITMAP_PSEUDO_SELECT_H
#define BITMAP_PSEUDO_SELECT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/sort.h"
#include "bitmap/build.h"
#include "walk/history.h"

/* Commits that tips have to save from being walked to be worth it. */
#define PSEUDO_DEFAULT_MIN_SAVED 256
/* Pseudo-merges of a class by default, and commits in the smallest. */
#define PSEUDO_DEFAULT_MERGES 8
#define PSEUDO_DEFAULT_MIN_SIZE 64
/* By default no more than one of so many objects is in a pseudo-merge. */
#define PSEUDO_DEFAULT_OBJECTS 12

/* Classes of tips by default. */
enum pseudo_class {
	PSEUDO_NAMED,  /* branches, tags */
	PSEUDO_OTHERS, /* all other references */
};

/* How the tips of a group are distributed, see gitpacking(7). */
struct pseudo_rules {
	double decay;             /* >= 0 */
	double sample_rate;       /* > 0, <= 1 */
	int64_t threshold;        /* unstable: committed until then */
	int64_t stable_threshold; /* stable: committed until then */
	uint32_t max_merges;      /* of the unstable ones */
	uint32_t stable_size;     /* > 0: commits in each stable one */
};

/* A tip; one that is in several groups is there several times. */
struct pseudo_tip {
	uint32_t commit_nr;
	uint32_t group; /* index into rules; by default an enum pseudo_class */
};

struct pseudo_tips {
	struct pseudo_tip *tips; /* owned */
	size_t nr, alloc;
	struct pseudo_rules *rules; /* owned: by group; NULL: the default */
	size_t group_nr, group_alloc;
};

#define PSEUDO_TIPS_INIT                                                       \
	{                                                                      \
		NULL, 0, 0, NULL, 0, 0                                         \
	}

void pseudo_tips_release(struct pseudo_tips *tips);
int pseudo_tips_add(struct pseudo_tips *tips, uint32_t commit_nr,
		    uint32_t group);

/* What to select from; all borrowed for the call. */
struct pseudo_select_input {
	const struct history *history;
	const uint32_t *commits; /* all commits of the pack, parents first */
	size_t commit_nr;
	const uint8_t *has_bitmap; /* by commit_nr */
	const struct pseudo_tips *tips;
	size_t object_nr;        /* of the index */
	size_t default_merge_nr; /* of a class by default, at most; >= 1 */
};

/* The commits of each pseudo-merge. */
struct pseudo_groups {
	struct bitmap_group *groups; /* owned */
	size_t nr, alloc;
};

#define PSEUDO_GROUPS_INIT                                                     \
	{                                                                      \
		NULL, 0, 0                                                     \
	}

/* *out must be initialised; release it in any case. 0 or ERR_NOMEM. */
int pseudo_select(struct pseudo_groups *out,
		  const struct pseudo_select_input *in, struct error *err);
void pseudo_groups_release(struct pseudo_groups *groups);

/* Inside: append a pseudo-merge of the values of sorted items. */
int pseudo_groups_add(struct pseudo_groups *groups,
		      const struct sort_item *items, size_t nr);

/* Inside: by default. */
int pseudo_select_default(struct pseudo_groups *out,
			  const struct pseudo_select_input *in);

#endif
