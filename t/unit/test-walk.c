/* SPDX-License-Identifier: MIT */
/*
 * Tests of walk/walk.c, which opens walks with shallow boundaries: tips of all
 * types are added, and missing or broken tips are errors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/walkrepo.h"

/*
 * Adds object `nr` as a tip. A tag also adds its object, and so on. Checks that
 * exactly the objects of this chain were added.
 */
static void check_tip(struct walkrepo *f, struct walk_tips *tips, uint32_t nr,
		      bool lenient)
{
	size_t others = tips->others.nr, commits = tips->commit_nr;
	const struct randrepo_object *o;
	struct error err = ERROR_INIT;

	if (walk_add_tip(&f->w, tips, &f->h.r.objects[nr].oid, lenient, &err) <
	    0)
		fail_msg("%s", err.msg);
	for (;; nr = o->refs[0]) {
		const struct walk_item *item = &tips->others.items[others];

		o = &f->h.r.objects[nr];
		if (o->type == OBJ_COMMIT)
			break;
		assert_true(others++ < tips->others.nr);
		assert_int_equal(walkrepo_nr(f, item->obj_pos), nr);
		assert_int_equal(item->type, o->type);
		assert_int_equal(item->name_hash, 0);
		if (o->type != OBJ_TAG)
			break;
	}
	assert_int_equal(others, tips->others.nr);
	if (o->type == OBJ_COMMIT) {
		uint32_t c = tips->commits[commits++];

		assert_int_equal(walkrepo_commit_obj(f, c), nr);
		assert_true(f->w.history.commits[c].parsed);
	}
	assert_int_equal(commits, tips->commit_nr);
}

static void random_tips(void **state)
{
	uint64_t seed = random_seed();

	for (int algo = HASH_SHA1; algo <= HASH_SHA256; algo++) {
		struct walk_tips tips = WALK_TIPS_INIT;
		struct walkrepo f;
		uint32_t nr;

		walkrepo_init(&f, algo, &seed, 60, 20);
		nr = randrepo_tag(&f.h.r,
				  randhist_tree(&f.h, f.h.r.commits[3]));
		nr = randrepo_tag(&f.h.r, randrepo_tag(&f.h.r, nr));
		randrepo_store(&f.h.r);
		check_tip(&f, &tips, nr, false);
		for (int i = 0; i < 1000; i++)
			check_tip(&f, &tips, randrepo_below(&f.h.r, f.h.r.nr),
				  i & 1);
		walk_tips_release(&tips);
		assert_null(tips.commits);
		walkrepo_release(&f);
	}
}

static void check_bad(struct walkrepo *f, const struct oid *oid, int code,
		      size_t others)
{
	struct walk_tips tips = WALK_TIPS_INIT;
	struct error err = ERROR_INIT;

	assert_int_equal(walk_add_tip(&f->w, &tips, oid, false, &err), code);
	assert_int_equal(err.code, code);
	assert_int_equal(walk_add_tip(&f->w, &tips, oid, true, &err), 0);
	assert_int_equal(tips.commit_nr, 0);
	assert_int_equal(tips.others.nr, 2 * others);
	walk_tips_release(&tips);
}

/* Missing and broken tips are errors. With `lenient`, they are left out. */
static void bad_tips(void **state)
{
	uint64_t seed = random_seed();
	struct buf bad = BUF_INIT;
	struct walkrepo f;
	struct oid absent = OID_ZERO_INIT;
	uint32_t commit, tag, gone, dangling;

	randhist_init(&f.h, HASH_SHA1, &seed);
	buf_printf(&bad, "no header\n");
	commit = randrepo_add(&f.h.r, OBJ_COMMIT, &bad, NULL, 0);
	tag = randrepo_add(&f.h.r, OBJ_TAG, &bad, NULL, 0);
	gone = randrepo_blob(&f.h.r, 4);
	dangling = randrepo_tag(&f.h.r, gone);
	for (uint32_t i = 0; i < f.h.r.nr; i++)
		if (i != gone)
			randrepo_store_one(&f.h.r, "objects", i);
	walkrepo_open(&f);
	memset(&absent, 5, 20);
	check_bad(&f, &absent, ERR_MISSING, 0);
	check_bad(&f, &f.h.r.objects[commit].oid, ERR_CORRUPT, 0);
	check_bad(&f, &f.h.r.objects[tag].oid, ERR_CORRUPT, 1);
	check_bad(&f, &f.h.r.objects[dangling].oid, ERR_MISSING, 1);
	buf_release(&bad);
	walkrepo_release(&f);
}

/* An excluded tag may lead to a missing object, but must exist itself. */
static void excluded_tips(void **state)
{
	struct walk_tips tips = WALK_TIPS_INIT;
	uint64_t seed = random_seed();
	struct walkrepo f;
	uint32_t gone, tag;

	randhist_init(&f.h, HASH_SHA1, &seed);
	gone = randrepo_blob(&f.h.r, 4);
	tag = randrepo_tag(&f.h.r, gone);
	randrepo_store_one(&f.h.r, "objects", tag);
	walkrepo_open(&f);
	assert_int_equal(walk_add_excluded_tip(&f.w, &tips,
					       &f.h.r.objects[tag].oid, NULL),
			 0);
	assert_int_equal(tips.others.nr, 1);
	assert_int_equal(walk_add_excluded_tip(&f.w, &tips,
					       &f.h.r.objects[gone].oid, NULL),
			 ERR_MISSING);
	walk_tips_release(&tips);
	walkrepo_release(&f);
}

/* Of two listed blobs, one is missing. */
static void missing_item(void **state)
{
	uint64_t seed = random_seed();
	struct error err = ERROR_INIT;
	char hex[OID_MAX_HEX_LEN + 1];
	struct walk_item items[2];
	struct walk_items list = {.items = items, .nr = 1};
	struct walkrepo f;
	uint32_t nrs[2];

	memset(items, 0, sizeof(items));
	randhist_init(&f.h, HASH_SHA1, &seed);
	for (int i = 0; i < 2; i++)
		nrs[i] = randrepo_blob(&f.h.r, 4 + (unsigned)i);
	randrepo_store_one(&f.h.r, "objects", nrs[0]);
	walkrepo_open(&f);
	for (int i = 0; i < 2; i++)
		assert_int_equal(objspace_add(&f.w.space,
					      f.h.r.objects[nrs[i]].oid.bytes,
					      &items[i].obj_pos),
				 0);
	assert_int_equal(walk_check_items(&f.w, &list, NULL), 0);
	list.nr = 2;
	assert_int_equal(walk_check_items(&f.w, &list, &err), ERR_MISSING);
	oid_to_hex(hex, &f.h.r.objects[nrs[1]].oid, HASH_SHA1);
	assert_non_null(strstr(err.msg, hex));
	walkrepo_release(&f);
}

static void shallow_file(void **state)
{
	uint64_t seed = random_seed();
	char hex[OID_MAX_HEX_LEN + 1];
	struct buf text = BUF_INIT;
	struct error err = ERROR_INIT;
	const struct oid *oid;
	struct walkrepo f;
	uint32_t value;

	walkrepo_init(&f, HASH_SHA1, &seed, 10, 0);
	assert_int_equal(f.w.shallow.nr, 0);
	assert_null(f.w.history.shallow);
	for (int i = 4; i < 8; i++)
		buf_printf(&text, "%s\n",
			   oid_to_hex(hex, &f.h.r.objects[f.h.r.commits[i]].oid,
				      HASH_SHA1));
	tmprepo_write(&f.h.r.t, "shallow", text.data);
	walk_close(&f.w);
	oid = &f.h.r.objects[f.h.r.commits[9]].oid;
	assert_int_equal(walk_open(&f.w, f.odb, oid, 1, NULL), 0);
	assert_int_equal(f.w.shallow.nr, 5);
	assert_true(oidmap_get(&f.w.shallow, oid, &value));
	assert_ptr_equal(f.w.history.shallow, &f.w.shallow);
	walk_close(&f.w);
	tmprepo_write(&f.h.r.t, "shallow", "nonsense\n");
	assert_int_equal(walk_open(&f.w, f.odb, NULL, 0, &err), ERR_CORRUPT);
	assert_non_null(strstr(err.msg, "bad shallow line in "));
	tmprepo_remove(&f.h.r.t, "shallow");
	assert_int_equal(walk_open(&f.w, f.odb, NULL, 0, NULL), 0);
	buf_release(&text);
	walkrepo_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_tips),   cmocka_unit_test(bad_tips),
		cmocka_unit_test(excluded_tips), cmocka_unit_test(missing_item),
		cmocka_unit_test(shallow_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
