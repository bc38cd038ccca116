/* SPDX-License-Identifier: MIT */
/*
 * Tests of packs/pseudo-tips.c, which finds the tips of pseudo-merges among the
 * refs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "packs/pseudo-tips.h"
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

static void load(struct pseudo_tips *tips, struct walkrepo *w, const char *text)
{
	struct pseudo_config sections = PSEUDO_CONFIG_INIT;
	struct config config = CONFIG_INIT;
	struct error err = ERROR_INIT;
	struct refs *refs;

	assert_int_equal(refs_open(&refs, &w->h.r.t.repo, NULL), 0);
	assert_int_equal(config_parse(&config, text, strlen(text), CONFIG_LOCAL,
				      NULL, NULL, NULL),
			 0);
	if (pseudo_config_load(&sections, &config, 1700000000, NULL, &err) <
		    0 ||
	    pseudo_tips_load(tips, &w->w, refs, &sections, &err) < 0)
		fail_msg("%s", err.msg);
	pseudo_config_release(&sections);
	config_release(&config);
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
	load(&tips, &w, "");
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

/*
 * Each section bitmapPseudoMerge has groups of tips: one group for each text
 * that its pattern captures. A tip may be in several groups.
 */
static void configured(void **state)
{
	static const char text[] =
		"[bitmapPseudoMerge \"forks\"]\n"
		"pattern = refs/fork/([0-9]+)/(heads|tags)/\n"
		"maxMerges = 3\n"
		"[bitmapPseudoMerge \"all\"]\n"
		"pattern = refs/fork\n"
		"maxMerges = 5\n";
	static const uint32_t merges[] = {3, 3, 3, 5};
	uint64_t seed = random_seed();
	struct pseudo_tips tips = PSEUDO_TIPS_INIT;
	struct walkrepo w;
	uint32_t *c;

	walkrepo_init(&w, HASH_SHA1, &seed, 6, 6);
	c = w.h.r.commits;
	randrepo_ref(&w.h.r, "refs/fork/2/tags/v1", c[3]);
	randrepo_ref(&w.h.r, "refs/fork/1/heads/main", c[0]);
	randrepo_ref(&w.h.r, "refs/fork/2/heads/main", c[1]);
	randrepo_ref(&w.h.r, "refs/fork/1/heads/topic", c[2]);
	randrepo_ref(&w.h.r, "refs/fork/1/notes", c[4]);
	randrepo_ref(&w.h.r, "refs/heads/refs/fork/1/heads/x", c[5]);
	load(&tips, &w, text);
	assert_int_equal(tips.nr, 9);
	assert_int_equal(tips.group_nr, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(tips.rules[i].max_merges, merges[i]);
	assert_true(has_tip(&tips, &w, c[0], 0)); /* group 1-heads */
	assert_true(has_tip(&tips, &w, c[2], 0));
	assert_true(has_tip(&tips, &w, c[1], 1)); /* group 2-heads */
	assert_true(has_tip(&tips, &w, c[3], 2)); /* group 2-tags */
	for (size_t i = 0; i < 5; i++)
		assert_true(has_tip(&tips, &w, c[i], 3));
	pseudo_tips_release(&tips);
	walkrepo_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes),
		cmocka_unit_test(configured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
