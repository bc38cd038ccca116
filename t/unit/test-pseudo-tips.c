/* SPDX-License-Identifier: MIT */
/* repack/pseudo-tips.c: references as tips for pseudo-merges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "repack/pseudo-tips.h"
#include "t/unit/walkrepo.h"

static bool has_tip(const struct pseudo_tips *tips, struct walkrepo *w,
		    uint32_t nr, uint32_t group)
{
	uint32_t c = walkrepo_commit(w, nr);

	for (size_t i = 0; i < tips->nr; i++)
		if (tips->tips[i].commit_nr == c &&
		    tips->tips[i].group == group)
			return true;
	return false;
}

static void load(struct pseudo_tips *tips, struct walkrepo *w)
{
	struct error err = ERROR_INIT;
	struct refs *refs;

	assert_int_equal(refs_open(&refs, &w->h.r.t.repo, NULL), 0);
	if (pseudo_tips_load(tips, &w->w, refs, &err) < 0)
		fail_msg("%s", err.msg);
	refs_close(refs);
}

static void classes(void **state)
{
	uint64_t seed = random_seed();
	struct pseudo_tips tips = PSEUDO_TIPS_INIT;
	struct walkrepo w;
	uint32_t *c, tag;

	walkrepo_init(&w, HASH_SHA1, &seed, 6, 6);
	c = w.h.r.commits;
	tag = randrepo_tag(&w.h.r, c[3]);
	randrepo_store(&w.h.r);
	randrepo_ref(&w.h.r, "refs/heads/main", c[5]);
	randrepo_ref(&w.h.r, "refs/tags/v1", tag);
	randrepo_ref(&w.h.r, "refs/tags/tree",
		     w.h.r.objects[0].type == OBJ_COMMIT ? c[2] : 0);
	randrepo_ref(&w.h.r, "refs/pull/1/head", c[4]);
	randrepo_ref(&w.h.r, "refs/headsup", c[1]);
	load(&tips, &w);
	assert_true(has_tip(&tips, &w, c[5], PSEUDO_NAMED));
	assert_true(has_tip(&tips, &w, c[3], PSEUDO_NAMED));
	assert_true(has_tip(&tips, &w, c[4], PSEUDO_OTHERS));
	assert_true(has_tip(&tips, &w, c[1], PSEUDO_OTHERS));
	assert_false(has_tip(&tips, &w, c[4], PSEUDO_NAMED));
	assert_false(has_tip(&tips, &w, c[5], PSEUDO_OTHERS));
	assert_null(tips.rules);
	pseudo_tips_release(&tips);
	walkrepo_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
