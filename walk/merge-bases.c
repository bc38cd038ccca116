/* SPDX-License-Identifier: MIT */
/*
 * Finds the merge bases of the commits `one` and `other`. A walk that starts at
 * `one` and excludes `other` stops at boundary commits, which both commits
 * reach. Every common ancestor is a boundary commit, or an ancestor of a
 * boundary commit. So the merge bases are the boundary commits that no other
 * boundary commit reaches.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "walk/merge-bases.h"
#include "walk/revwalk.h"
#include "walk/walk.h"

/*
 * Puts into *kept the commits of `list` that are not ancestors of another
 * commit of `list`.
 */
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

/*
 * Sets *commit to the commit that an id names. If the id is that of a tag, sets
 * *commit to the tagged commit.
 */
static int load(struct walk *w, uint32_t *commit, const struct oid *oid,
		struct error *err)
{
	struct walk_tips tips = WALK_TIPS_INIT;
	char hex[OID_MAX_HEX_LEN + 1];
	int ret = walk_add_tip(w, &tips, oid, false, err);

	if (!ret && !tips.commit_nr)
		ret = error_set(err, ERR_INVALID, "'%s' is not a commit",
				oid_to_hex(hex, oid, w->odb->algo));
	if (!ret)
		*commit = tips.commits[0];
	walk_tips_release(&tips);
	return ret;
}

static int find_bases(struct walk *w, struct oid **bases, size_t *nr,
		      const struct oid *one, const struct oid *other,
		      struct error *err)
{
	uint32_t first, second, *commits = NULL;
	int ret = load(w, &first, one, err);

	if (!ret)
		ret = load(w, &second, other, err);
	if (!ret)
		ret = merge_bases(&commits, nr, &w->history, first, second,
				  err);
	if (!ret) {
		*bases = mem_alloc(*nr, sizeof(**bases));
		ret = *bases ? 0 : error_nomem(err);
	}
	for (size_t i = 0; i < *nr && !ret; i++)
		objspace_oid(&(*bases)[i], &w->space,
			     w->history.commits[commits[i]].obj_pos);
	free(commits);
	return ret;
}

int merge_bases_of(struct oid **bases, size_t *nr, const struct odb *odb,
		   const struct oid *one, const struct oid *other,
		   struct error *err)
{
	struct walk w;
	int ret = walk_open(&w, odb, NULL, 0, err);

	*bases = NULL;
	*nr = 0;
	if (ret < 0)
		return ret;
	ret = find_bases(&w, bases, nr, one, other, err);
	walk_close(&w);
	return ret;
}
