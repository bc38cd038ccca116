/* SPDX-License-Identifier: MIT */
/* walk/ref-tips.c: what references, reflogs and indexes name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/walkrepo.h"
#include "walk/ref-tips.h"

static bool has_commit(struct walkrepo *w, const struct walk_tips *tips,
		       uint32_t nr)
{
	for (size_t i = 0; i < tips->commit_nr; i++) {
		uint32_t c = tips->commits[i];

		if (walkrepo_nr(w, w->walk.history.commits[c].obj_pos) == nr)
			return true;
	}
	return false;
}

static void refs_and_head(void **state)
{
	uint64_t seed = random_seed();
	struct walk_tips tips = WALK_TIPS_INIT;
	struct refs *refs;
	struct walkrepo w;
	uint32_t tag;

	walkrepo_init(&w, HASH_SHA1, 10, &seed);
	tag = randrepo_tag(&w.r, w.r.commits[3]);
	randrepo_store(&w.r);
	randrepo_ref(&w.r, "refs/heads/main", w.r.commits[5]);
	randrepo_ref(&w.r, "refs/tags/t", tag);
	randrepo_ref(&w.r, "HEAD", w.r.commits[7]); /* detached */
	assert_int_equal(refs_open(&refs, &w.r.t.repo, NULL), 0);
	assert_int_equal(ref_tips_add(&w.walk, &tips, refs, "", NULL), 0);
	assert_true(has_commit(&w, &tips, w.r.commits[3]));
	assert_true(has_commit(&w, &tips, w.r.commits[5]));
	assert_true(has_commit(&w, &tips, w.r.commits[7]));
	assert_int_equal(tips.commit_nr, 3);
	assert_int_equal(tips.others.nr, 1);
	assert_int_equal(walkrepo_nr(&w, tips.others.items[0].obj_pos), tag);
	walk_tips_release(&tips);
	assert_int_equal(
		ref_tips_add(&w.walk, &tips, refs, "refs/heads/", NULL), 0);
	assert_int_equal(tips.commit_nr, 1);
	walk_tips_release(&tips);
	refs_close(refs);
	walkrepo_release(&w);
}

static void a_ref_to_nothing_is_named(void **state)
{
	uint64_t seed = random_seed();
	struct walk_tips tips = WALK_TIPS_INIT;
	struct error err = ERROR_INIT;
	struct refs *refs;
	struct walkrepo w;

	walkrepo_init(&w, HASH_SHA1, 4, &seed);
	tmprepo_write(&w.r.t, "refs/heads/gone",
		      "0123456789012345678901234567890123456789\n");
	assert_int_equal(refs_open(&refs, &w.r.t.repo, NULL), 0);
	assert_int_equal(ref_tips_add(&w.walk, &tips, refs, "", &err),
			 ERR_MISSING);
	assert_non_null(strstr(err.msg, "refs/heads/gone"));
	refs_close(refs);
	walk_tips_release(&tips);
	walkrepo_release(&w);
}

static void reflogs(void **state)
{
	uint64_t seed = random_seed();
	struct walk_tips tips = WALK_TIPS_INIT;
	char old[OID_MAX_HEX_LEN + 1], new[OID_MAX_HEX_LEN + 1];
	struct buf text = BUF_INIT;
	struct walkrepo w;

	walkrepo_init(&w, HASH_SHA1, 10, &seed);
	oid_to_hex(old, &w.r.objects[w.r.commits[2]].oid, HASH_SHA1);
	oid_to_hex(new, &w.r.objects[w.r.commits[4]].oid, HASH_SHA1);
	buf_printf(&text,
		   "%s %s A <a@b> 1 +0000\tmove\n"
		   "%s 1111111111111111111111111111111111111111 "
		   "A <a@b> 2 +0000\tgone\n",
		   old, new, new);
	tmprepo_write(&w.r.t, "logs/refs/heads/main", text.data);
	buf_release(&text);
	assert_int_equal(ref_tips_add_reflogs(&w.walk, &tips, NULL), 0);
	assert_true(has_commit(&w, &tips, w.r.commits[2]));
	assert_true(has_commit(&w, &tips, w.r.commits[4]));
	walk_tips_release(&tips);
	walkrepo_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refs_and_head),
		cmocka_unit_test(a_ref_to_nothing_is_named),
		cmocka_unit_test(reflogs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
