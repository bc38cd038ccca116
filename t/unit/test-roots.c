/* SPDX-License-Identifier: MIT */
/*
 * Tests of packs/roots.c, which finds the roots of a repack, and the tips that
 * get bitmaps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/bytes.h"
#include "bitmap/select.h"
#include "packs/roots.h"
#include "t/unit/walkrepo.h"

static void open_refs(struct refs **refs, struct walkrepo *w)
{
	assert_int_equal(refs_open(refs, &w->h.r.t.repo, NULL), 0);
}

static bool has_commit(struct walkrepo *w, const struct walk_tips *tips,
		       uint32_t nr)
{
	for (size_t i = 0; i < tips->commit_nr; i++) {
		uint32_t c = tips->commits[i];

		if (walkrepo_nr(w, w->w.history.commits[c].obj_pos) == nr)
			return true;
	}
	return false;
}

static bool has_other(struct walkrepo *w, const struct walk_tips *tips,
		      uint32_t nr)
{
	for (size_t i = 0; i < tips->others.nr; i++)
		if (walkrepo_nr(w, tips->others.items[i].obj_pos) == nr)
			return true;
	return false;
}

static void write_reflog(struct walkrepo *w, uint32_t nr)
{
	struct buf text = BUF_INIT;
	char hex[OID_MAX_HEX_LEN + 1];

	oid_to_hex(hex, &w->h.r.objects[nr].oid, HASH_SHA1);
	buf_printf(&text, "%040d %s A <a@b> 1 +0000\tmove\n", 0, hex);
	tmprepo_write(&w->h.r.t, "logs/refs/heads/main", text.data);
	buf_release(&text);
}

/* Writes an index file with one entry, which is the object `nr`. */
static void write_index(struct walkrepo *w, uint32_t nr)
{
	uint8_t file[12 + 64 + 20] = "DIRC";

	store_be32(file + 4, 2);
	store_be32(file + 8, 1);
	store_be32(file + 12 + 24, 0100644);
	memcpy(file + 12 + 40, w->h.r.objects[nr].oid.bytes, 20);
	store_be16(file + 12 + 60, 1);
	file[12 + 62] = 'a';
	tmprepo_write_len(&w->h.r.t, "index", file, sizeof(file));
}

static void roots(void **state)
{
	uint64_t seed = random_seed();
	struct refs *refs;
	struct walkrepo w;
	uint32_t blob;

	walkrepo_init(&w, HASH_SHA1, &seed, 5, 5);
	blob = randrepo_blob(&w.h.r, 777);
	randrepo_store(&w.h.r);
	randrepo_ref(&w.h.r, "refs/heads/main", w.h.r.commits[5]);
	randrepo_ref(&w.h.r, "HEAD", w.h.r.commits[7]);
	write_reflog(&w, w.h.r.commits[8]);
	write_index(&w, blob);
	open_refs(&refs, &w);
	for (int all = 0; all < 2; all++) {
		struct walk_tips tips = WALK_TIPS_INIT;

		assert_int_equal(
			roots_add(&w.w, &tips, refs, all ? ROOTS_ALL : 0, NULL),
			0);
		assert_true(has_commit(&w, &tips, w.h.r.commits[5]));
		assert_true(has_commit(&w, &tips, w.h.r.commits[7]));
		assert_int_equal(has_commit(&w, &tips, w.h.r.commits[8]), all);
		assert_int_equal(has_other(&w, &tips, blob), all);
		walk_tips_release(&tips);
	}
	refs_close(refs);
	walkrepo_release(&w);
}

/*
 * A ref that cannot be read is an error. Perhaps only this ref reaches some
 * objects.
 */
static void a_broken_ref_is_an_error(void **state)
{
	uint64_t seed = random_seed();
	struct walk_tips tips = WALK_TIPS_INIT;
	struct error err = ERROR_INIT;
	struct refs *refs;
	struct walkrepo w;

	walkrepo_init(&w, HASH_SHA1, &seed, 2, 2);
	randrepo_ref(&w.h.r, "refs/heads/main", w.h.r.commits[3]);
	tmprepo_write(&w.h.r.t, "refs/heads/broken", "nonsense\n");
	open_refs(&refs, &w);
	assert_true(roots_add(&w.w, &tips, refs, ROOTS_ALL, &err) < 0);
	assert_non_null(strstr(err.msg, "refs/heads/broken"));
	walk_tips_release(&tips);
	refs_close(refs);
	walkrepo_release(&w);
}

/*
 * Returns the kind of tip that the mark of commit `nr` states; SELECT_NO_TIP:
 * the commit is no tip.
 */
static enum select_tip kind_of(struct walkrepo *w, const uint8_t *marks,
			       uint32_t nr)
{
	uint32_t at = history_find(&w->w.history, walkrepo_pos(w, nr));

	return at == HISTORY_NONE ? SELECT_NO_TIP : (enum select_tip)marks[at];
}

static uint8_t *mark(struct walkrepo *w, bool all_refs)
{
	struct error err = ERROR_INIT;
	struct refs *refs;
	uint8_t *marks;

	open_refs(&refs, w);
	if (roots_mark_tips(&marks, &w->w, refs, all_refs, &err) < 0)
		fail_msg("%s", err.msg);
	refs_close(refs);
	return marks;
}

static void load_all(struct walkrepo *w)
{
	for (uint32_t i = 0; i < w->h.r.commit_nr; i++)
		assert_int_equal(
			history_parse(&w->w.history,
				      walkrepo_commit(w, w->h.r.commits[i]),
				      NULL),
			0);
}

static void preferred_tips(void **state)
{
	static const char config[] = "[pack]\n"
				     "preferBitmapTips = refs/tags/\n"
				     "preferBitmapTips = refs/heads/rel\n";
	uint64_t seed = random_seed();
	struct walkrepo w;
	uint8_t *marks;

	walkrepo_init(&w, HASH_SHA1, &seed, 6, 6);
	load_all(&w);
	randrepo_ref(&w.h.r, "refs/heads/main", w.h.r.commits[11]);
	randrepo_ref(&w.h.r, "refs/heads/release", w.h.r.commits[4]);
	randrepo_ref(&w.h.r, "refs/tags/v1", w.h.r.commits[2]);
	assert_int_equal(config_parse(&w.h.r.t.repo.config, config,
				      sizeof(config) - 1, CONFIG_LOCAL, NULL,
				      NULL, NULL),
			 0);
	marks = mark(&w, false);
	for (uint32_t i = 0; i < w.h.r.commit_nr; i++)
		assert_int_equal(kind_of(&w, marks, w.h.r.commits[i]),
				 i == 4 || i == 2 ? SELECT_TIP
				 : i == 11        ? SELECT_BRANCH
						  : SELECT_NO_TIP);
	free(marks);
	config_release(&w.h.r.t.repo.config);
	walkrepo_release(&w);
}

static void branches_by_default(void **state)
{
	uint64_t seed = random_seed();
	struct walkrepo w;
	uint8_t *marks;

	walkrepo_init(&w, HASH_SHA1, &seed, 6, 6);
	load_all(&w);
	randrepo_ref(&w.h.r, "HEAD", w.h.r.commits[1]);
	randrepo_ref(&w.h.r, "refs/heads/main", w.h.r.commits[11]);
	randrepo_ref(&w.h.r, "refs/heads/old", w.h.r.commits[4]);
	randrepo_ref(&w.h.r, "refs/tags/v1", w.h.r.commits[2]);
	for (int all = 0; all < 2; all++) {
		marks = mark(&w, all);
		for (uint32_t i = 0; i < w.h.r.commit_nr; i++)
			assert_int_equal(kind_of(&w, marks, w.h.r.commits[i]),
					 i == 1              ? SELECT_TIP
					 : i == 4 || i == 11 ? SELECT_NEW_BRANCH
					 : i == 2 && all     ? SELECT_REF
							     : SELECT_NO_TIP);
		free(marks);
	}
	walkrepo_release(&w);
}

/*
 * If there are many branches, only the ROOTS_NEW_BRANCHES newest of them are
 * marked as new. The others are marked as branches.
 */
static void newest_branches(void **state)
{
	enum { OLD = 40 };
	uint64_t seed = random_seed();
	struct buf packed = BUF_INIT;
	struct walkrepo w;
	uint8_t *marks;
	uint8_t files[RANDREPO_FILES] = {1};

	walkrepo_init(&w, HASH_SHA1, &seed, 1, 1);
	for (uint32_t i = 0; i < ROOTS_NEW_BRANCHES + OLD; i++) {
		/*
		 * The names of the branches are not in the order of their
		 * dates.
		 */
		uint32_t nr = randrepo_commit(&w.h.r, files, NULL, 0,
					      (i * 7 % 64) * 1000 + i);
		char hex[OID_MAX_HEX_LEN + 1];

		buf_printf(&packed, "%s refs/heads/b%04u\n",
			   oid_to_hex(hex, &w.h.r.objects[nr].oid, HASH_SHA1),
			   i);
	}
	randrepo_store(&w.h.r);
	load_all(&w);
	tmprepo_write(&w.h.r.t, "packed-refs", packed.data);
	buf_release(&packed);
	marks = mark(&w, true);
	for (uint32_t i = 2; i < w.h.r.commit_nr; i++) {
		uint64_t date = ((i - 2) * 7 % 64) * 1000 + i - 2;
		uint32_t newer = 0;

		for (uint32_t k = 2; k < w.h.r.commit_nr; k++)
			newer += ((k - 2) * 7 % 64) * 1000 + k - 2 > date;
		assert_int_equal(kind_of(&w, marks, w.h.r.commits[i]),
				 newer < ROOTS_NEW_BRANCHES ? SELECT_NEW_BRANCH
							    : SELECT_BRANCH);
	}
	free(marks);
	walkrepo_release(&w);
}

/*
 * Returns the number of commits that are tips of the tip island (objects of
 * shallow clones) with the configuration `config`.
 */
static size_t island_tips(struct walkrepo *w, const char *config, bool is_bare,
			  bool *has_head)
{
	struct walk_tips tips = WALK_TIPS_INIT;
	struct config *c = &w->h.r.t.repo.config;
	struct error err = ERROR_INIT;
	struct refs *refs;
	size_t nr;

	w->h.r.t.repo.is_bare = is_bare;
	assert_int_equal(config_parse(c, config, strlen(config), CONFIG_LOCAL,
				      NULL, NULL, NULL),
			 0);
	open_refs(&refs, w);
	if (roots_add_island_tips(&w->w, &tips, refs, &err) < 0)
		fail_msg("%s", err.msg);
	nr = tips.commit_nr;
	*has_head = has_commit(w, &tips, w->h.r.commits[1]);
	walk_tips_release(&tips);
	refs_close(refs);
	config_release(c);
	return nr;
}

/*
 * Returns a configured value of repack.tipIsland that matches no ref. Returns
 * NULL if each value matches a ref.
 */
static const char *idle_island(struct walkrepo *w, const char *config)
{
	struct repo *repo = &w->h.r.t.repo;
	const char *idle;
	struct refs *refs;

	config_release(&repo->config);
	assert_int_equal(config_parse(&repo->config, config, strlen(config),
				      CONFIG_LOCAL, NULL, NULL, NULL),
			 0);
	open_refs(&refs, w);
	assert_int_equal(roots_find_idle_island(&idle, repo, refs, NULL), 0);
	refs_close(refs);
	return idle;
}

static void islands_without_refs(void **state)
{
	uint64_t seed = random_seed();
	struct walkrepo w;

	walkrepo_init(&w, HASH_SHA1, &seed, 6, 6);
	randrepo_ref(&w.h.r, "HEAD", w.h.r.commits[1]);
	randrepo_ref(&w.h.r, "refs/heads/main", w.h.r.commits[1]);
	assert_null(idle_island(&w, ""));
	assert_null(idle_island(&w, "[repack]tipIsland\n"
				    "tipIsland=refs/heads/\n"));
	assert_string_equal(idle_island(&w, "[repack]tipIsland=refs/tags/\n"
					    "tipIsland=HEAD\n"),
			    "refs/tags/");
	assert_null(idle_island(&w, "[repack]tipIsland=refs/tags/\n"
				    "tipIsland=no\n"));
	config_release(&w.h.r.t.repo.config);
	walkrepo_release(&w);
}

static void tips_of_the_island(void **state)
{
	uint64_t seed = random_seed();
	struct walkrepo w;
	bool head;

	walkrepo_init(&w, HASH_SHA1, &seed, 6, 6);
	randrepo_ref(&w.h.r, "HEAD", w.h.r.commits[1]);
	randrepo_ref(&w.h.r, "refs/heads/main", w.h.r.commits[11]);
	randrepo_ref(&w.h.r, "refs/heads/old", w.h.r.commits[4]);
	randrepo_ref(&w.h.r, "refs/tags/v1", w.h.r.commits[2]);
	assert_int_equal(island_tips(&w, "", true, &head), 1);
	assert_true(head);
	assert_int_equal(island_tips(&w, "", false, &head), 0);
	assert_int_equal(island_tips(&w, "[repack]tipIsland", false, &head), 1);
	assert_true(head);
	assert_int_equal(island_tips(&w, "[repack]tipIsland=no\n", true, &head),
			 0);
	assert_int_equal(island_tips(&w,
				     "[repack]tipIsland=HEAD\n"
				     "tipIsland=refs/heads/\n",
				     true, &head),
			 3);
	assert_true(head);
	assert_int_equal(island_tips(&w,
				     "[repack]tipIsland=HEAD\n"
				     "tipIsland=false\n"
				     "tipIsland=refs/tags/v1\n",
				     true, &head),
			 1);
	assert_false(head);
	walkrepo_release(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(roots),
		cmocka_unit_test(a_broken_ref_is_an_error),
		cmocka_unit_test(preferred_tips),
		cmocka_unit_test(branches_by_default),
		cmocka_unit_test(newest_branches),
		cmocka_unit_test(islands_without_refs),
		cmocka_unit_test(tips_of_the_island),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
