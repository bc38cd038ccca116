/* SPDX-License-Identifier: MIT */
/*
 * Selects the tips of references that form pseudo-merges.
 *
 * The selection follows the configuration (bitmapPseudoMerge.*, gitpacking(7)).
 * Without configuration, default rules have two classes of tips: branches and
 * tags, and all other refs. A clone asks for the first class. A mirror asks for
 * both.
 *
 * By default, a pseudo-merge contains only tips whose commits a query must
 * walk, because no bitmap contains them. A tip is omitted in three cases:
 * - The tip has a bitmap.
 * - Another tip of the same class reaches the tip. A bitmap or a pseudo-merge
 *   for the other tip then contains the tip, too.
 * - The tip belongs to the second class, and a branch or tag reaches it. A
 *   mirror also asks for all branches and tags.
 *
 * The remaining tips are divided by age: the oldest half forms one
 * pseudo-merge, the oldest half of the rest forms the next one, and so on. The
 * reason is that a ref that moves or is deleted makes its whole pseudo-merge
 * unusable. Refs with old tips move least, so the large pseudo-merges of old
 * tips stay usable. A tip takes about 20 bytes of the file. So the number of
 * tips is limited, and the newest tips are omitted.
 */
#ifndef BITMAP_PSEUDO_SELECT_H
#define BITMAP_PSEUDO_SELECT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/sort.h"
#include "bitmap/build.h"
#include "walk/history.h"

/*
 * Minimum number of walked commits that default pseudo-merges must save for a
 * request. The minimum is PSEUDO_DEFAULT_MIN_SAVED, or the number of commits
 * that the request reaches divided by PSEUDO_DEFAULT_SAVED_PART, whichever is
 * less.
 */
#define PSEUDO_DEFAULT_MIN_SAVED 256
#define PSEUDO_DEFAULT_SAVED_PART 256
/*
 * By default, a class has at most PSEUDO_DEFAULT_MERGES pseudo-merges. The tips
 * of a class are divided only if both parts have at least
 * PSEUDO_DEFAULT_MIN_SIZE commits.
 */
#define PSEUDO_DEFAULT_MERGES 8
#define PSEUDO_DEFAULT_MIN_SIZE 64
/*
 * By default, at most one commit for each PSEUDO_DEFAULT_OBJECTS objects of the
 * index is in a pseudo-merge.
 */
#define PSEUDO_DEFAULT_OBJECTS 12

/* The default rules divide tips into two classes. */
enum pseudo_class {
	PSEUDO_NAMED,  /* branches, tags */
	PSEUDO_OTHERS, /* all other references */
};

/*
 * How to distribute the tips of a group over pseudo-merges, see gitpacking(7).
 */
struct pseudo_rules {
	double decay;       /* >= 0 */
	double sample_rate; /* > 0, <= 1 */
	/*
	 * Time in seconds since 1970. An unstable tip may be in a pseudo-merge
	 * only if its commit date is at this time or before.
	 */
	int64_t threshold;
	/*
	 * Time in seconds since 1970. A tip is stable if its commit date is at
	 * this time or before.
	 */
	int64_t stable_threshold;
	/* number of pseudo-merges for unstable tips */
	uint32_t max_merges;
	/* number of commits in each pseudo-merge of stable tips; > 0 */
	uint32_t stable_size;
};

/*
 * A tip of a reference. A tip that belongs to several <name>s of the
 * configuration has an item for each of them.
 */
struct pseudo_tip {
	uint32_t commit_nr;
	/*
	 * With configured rules: index in `rules`, which has an element for
	 * each <name> of the configuration. With the default rules: an enum
	 * pseudo_class.
	 */
	uint32_t group;
};

struct pseudo_tips {
	struct pseudo_tip *tips; /* owned */
	size_t nr, alloc;
	/*
	 * Owned: the rules of each <name> of the configuration, indexed by
	 * group. NULL: nothing is configured, and the default rules apply.
	 */
	struct pseudo_rules *rules;
	size_t group_nr, group_alloc;
};

#define PSEUDO_TIPS_INIT                                                       \
	{                                                                      \
		NULL, 0, 0, NULL, 0, 0                                         \
	}

void pseudo_tips_release(struct pseudo_tips *tips);
int pseudo_tips_add(struct pseudo_tips *tips, uint32_t commit_nr,
		    uint32_t group);

/*
 * The input for selecting pseudo-merges. All pointers are borrowed for the
 * call.
 */
struct pseudo_select_input {
	const struct history *history;
	/* all commits of the pack, parents first */
	const uint32_t *commits;
	size_t commit_nr;
	const uint8_t *has_bitmap; /* indexed by commit_nr */
	const struct pseudo_tips *tips;
	/* maximum number of tips in all default pseudo-merges together */
	size_t default_tip_nr;
	/*
	 * maximum number of pseudo-merges for each class of the default rules;
	 * >= 1
	 */
	size_t default_merge_nr;
};

/* The selected pseudo-merges, each a list of its commits. */
struct pseudo_groups {
	struct bitmap_group *groups; /* owned */
	size_t nr, alloc;
};

#define PSEUDO_GROUPS_INIT                                                     \
	{                                                                      \
		NULL, 0, 0                                                     \
	}

/*
 * Appends pseudo-merges as the configuration or the default rules say. *out
 * must be initialised, and the caller releases it in any case. Returns 0 or
 * ERR_NOMEM.
 */
int pseudo_select(struct pseudo_groups *out,
		  const struct pseudo_select_input *in, struct error *err);
void pseudo_groups_release(struct pseudo_groups *groups);

/*
 * Appends a pseudo-merge of `nr` commits. The values of `items` are the
 * commit_nr of the commits; `items` is sorted. Returns 0 or ERR_NOMEM.
 */
int pseudo_groups_add(struct pseudo_groups *groups,
		      const struct sort_item *items, size_t nr);

/*
 * bitmapPseudoMerge.<name>.decay is the exponent of a power: a real number.
 * The function below replaces pow(3), which would be the only function of libm
 * that the program needs. Loading libm took a twentieth of the CPU of a fetch
 * that finds nothing new.
 */

/*
 * Returns `base` (1 or more) to the power of `exponent` (0 or more). The result
 * is infinite if a double cannot hold it. The relative error is at most 10^-11.
 * The cost is some hundreds of divisions, and none if the exponent is an
 * integer.
 */
double power(uint32_t base, double exponent);

#endif
