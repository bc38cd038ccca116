/* SPDX-License-Identifier: MIT */
/*
 * What lies behind the commits that one history has and the other has not is
 * common, and all that is common lies behind it. Of these, what is behind
 * others of them is no base.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "walk/merge-bases.h"
#include "walk/revwalk.h"

/* Leave in *list what is behind no other commit of it. */
static int keep_heads(struct revwalk_result *kept, struct history *h,
		      const uint32_t *list, size_t nr, struct error *err)
{
	struct revwalk_tips tips = {.wants = list, .want_nr = nr};
	uint32_t *parents = NULL;
	size_t alloc = 0;
	int ret = 0;

	for (size_t i = 0; i < nr && !ret; i++) {
		uint32_t parent_nr;

		ret = history_parse(h, list[i], err);
		if (ret < 0)
			break;
		parent_nr = h->commits[list[i]].parent_nr;
		if (mem_grow(&parents, &alloc, tips.have_nr + parent_nr,
			     sizeof(*parents)) < 0)
			ret = error_nomem(err);
		for (uint32_t p = 0; p < parent_nr && !ret; p++)
			parents[tips.have_nr++] = history_parents(h,
								  list[i])[p];
	}
	tips.haves = parents;
	if (!ret)
		ret = revwalk_run(kept, h, &tips, false, err);
	free(parents);
	return ret;
}

int merge_bases(uint32_t **bases, size_t *nr, struct history *h, uint32_t one,
		uint32_t other, struct error *err)
{
	const struct revwalk_tips tips = {&one, 1, &other, 1};
	struct revwalk_result apart = REVWALK_RESULT_INIT;
	struct revwalk_result kept = REVWALK_RESULT_INIT;
	int ret = revwalk_run(&apart, h, &tips, false, err);

	*bases = NULL;
	*nr = 0;
	if (!ret && !apart.nr)
		ret = keep_heads(&kept, h, &one, 1, err);
	else if (!ret)
		ret = keep_heads(&kept, h, apart.boundary, apart.boundary_nr,
				 err);
	if (!ret && kept.nr) {
		*bases = kept.commits;
		*nr = kept.nr;
		kept.commits = NULL;
	}
	revwalk_result_release(&apart);
	revwalk_result_release(&kept);
	return ret;
}
