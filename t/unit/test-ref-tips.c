/* SPDX-License-Identifier: MIT */
/*
 * Tests of walk/ref-tips.c, which finds the tips of a walk: in refs, reflogs
 * and index files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/bytes.h"
#include "t/unit/walkrepo.h"
#include "walk/ref-tips.h"

struct fixture {
	struct walkrepo f;
	uint32_t commits[4]; /* oldest first */
	uint32_t tag, blob;
	struct refs *refs;
	struct walk_tips tips;
};

static void setup(struct fixture *x, uint64_t *seed)
{
	struct randrepo *r = &x->f.h.r;

	memset(x, 0, sizeof(*x));
	randhist_init(&x->f.h, HASH_SHA1, seed);
	randhist_grow_by(&x->f.h, 4, false);
	for (int i = 0; i < 4; i++)
		x->commits[i] = r->commits[i];
	x->tag = randrepo_tag(r, x->commits[1]);
	x->blob = randrepo_blob(r, 9);
	randrepo_store(r);
	randrepo_ref(r, "refs/heads/main", x->commits[3]);
	randrepo_ref(r, "refs/heads/other", x->commits[2]);
	randrepo_ref(r, "refs/tags/v1", x->tag);
	randrepo_ref(r, "refs/keep/blob", x->blob);
	walkrepo_open(&x->f);
	assert_int_equal(refs_open(&x->refs, &r->t.repo, NULL), 0);
}

static void teardown(struct fixture *x)
{
	walk_tips_release(&x->tips);
	refs_close(x->refs);
	walkrepo_release(&x->f);
}

static bool has_commit(struct fixture *x, uint32_t nr)
{
	for (size_t i = 0; i < x->tips.commit_nr; i++)
		if (walkrepo_commit_obj(&x->f, x->tips.commits[i]) == nr)
			return true;
	return false;
}

static bool has_other(struct fixture *x, uint32_t nr)
{
	for (size_t i = 0; i < x->tips.others.nr; i++)
		if (walkrepo_nr(&x->f, x->tips.others.items[i].obj_pos) == nr)
			return true;
	return false;
}

static int add(struct fixture *x, const char *prefix, struct error *err)
{
	walk_tips_release(&x->tips);
	return ref_tips_add(&x->f.w, &x->tips, x->refs, prefix, err);
}

static void all_refs(void **state)
{
	struct error err = ERROR_INIT;
	uint64_t seed = random_seed();
	struct fixture x;

	setup(&x, &seed);
	assert_int_equal(add(&x, "", &err), 0);
	/* HEAD and main point to the same commit, which counts once. */
	assert_int_equal(x.tips.commit_nr, 3);
	for (int i = 1; i < 4; i++)
		assert_true(has_commit(&x, x.commits[i]));
	assert_int_equal(x.tips.others.nr, 2);
	assert_true(has_other(&x, x.tag) && has_other(&x, x.blob));
	assert_int_equal(add(&x, "refs/heads/", &err), 0);
	assert_int_equal(x.tips.commit_nr, 2);
	assert_int_equal(x.tips.others.nr, 0);
	assert_true(has_commit(&x, x.commits[2]));
	assert_true(has_commit(&x, x.commits[3]));
	assert_int_equal(add(&x, "refs/none/", &err), 0);
	assert_int_equal(x.tips.commit_nr, 0);
	teardown(&x);
}

/*
 * A detached HEAD is a tip. A HEAD that points to a branch without commits adds
 * no tip.
 */
static void heads(void **state)
{
	struct error err = ERROR_INIT;
	uint64_t seed = random_seed();
	struct fixture x;

	setup(&x, &seed);
	randrepo_ref(&x.f.h.r, "HEAD", x.commits[0]);
	assert_int_equal(add(&x, "", &err), 0);
	assert_true(has_commit(&x, x.commits[0]));
	tmprepo_write(&x.f.h.r.t, "HEAD", "ref: refs/heads/unborn\n");
	refs_close(x.refs);
	assert_int_equal(refs_open(&x.refs, &x.f.h.r.t.repo, NULL), 0);
	assert_int_equal(add(&x, "", &err), 0);
	assert_int_equal(x.tips.commit_nr, 3);
	teardown(&x);
}

static void bad_refs(void **state)
{
	struct error err = ERROR_INIT;
	uint64_t seed = random_seed();
	struct fixture x;

	setup(&x, &seed);
	tmprepo_write(&x.f.h.r.t, "refs/heads/broken", "not an id\n");
	assert_true(add(&x, "refs/heads/", &err) < 0);
	assert_non_null(strstr(err.msg, "refs/heads/broken"));
	tmprepo_write(&x.f.h.r.t, "refs/tags/gone",
		      "1234567812345678123456781234567812345678\n");
	refs_close(x.refs);
	assert_int_equal(refs_open(&x.refs, &x.f.h.r.t.repo, NULL), 0);
	assert_int_equal(add(&x, "refs/tags/", &err), ERR_MISSING);
	assert_string_equal(err.msg, "bad object refs/tags/gone");
	teardown(&x);
}

/*
 * HEAD and a branch name the same missing object. The error must be about the
 * branch. ref_tips_reword() must change only messages about bad objects.
 */
static void bad_head(void **state)
{
	static const char gone[] = "1234567812345678123456781234567812345678\n";
	struct error err = ERROR_INIT;
	uint64_t seed = random_seed();
	struct fixture x;

	setup(&x, &seed);
	tmprepo_write(&x.f.h.r.t, "HEAD", gone);
	assert_int_equal(add(&x, "", &err), ERR_MISSING);
	assert_string_equal(err.msg, "bad object HEAD");
	tmprepo_write(&x.f.h.r.t, "refs/heads/gone", gone);
	refs_close(x.refs);
	assert_int_equal(refs_open(&x.refs, &x.f.h.r.t.repo, NULL), 0);
	assert_int_equal(add(&x, "", &err), ERR_MISSING);
	assert_string_equal(err.msg, "bad object refs/heads/gone");
	ref_tips_reword(&x.f.w, x.refs, &err);
	assert_int_equal(err.code, ERR_MISSING);
	assert_string_equal(err.msg, "unable to parse object: refs/heads/gone");
	ref_tips_reword(&x.f.w, x.refs, &err);
	assert_string_equal(err.msg, "unable to parse object: refs/heads/gone");
	ref_tips_reword(&x.f.w, x.refs, NULL);
	teardown(&x);
}

static void reflogs(void **state)
{
	static const char none[] = "0000000000000000000000000000000000000000";
	char hex[3][OID_MAX_HEX_LEN + 1];
	uint64_t seed = random_seed();
	struct buf text = BUF_INIT;
	struct fixture x;

	setup(&x, &seed);
	for (int i = 0; i < 2; i++)
		oid_to_hex(hex[i], &x.f.h.r.objects[x.commits[i]].oid,
			   HASH_SHA1);
	memset(hex[2], '7', 40);
	hex[2][40] = '\0';
	buf_printf(&text, "%s %s A <a> 1 +0000\tone\n", none, hex[0]);
	buf_printf(&text, "%s %s A <a> 2 +0000\ttwo\n", hex[0], hex[2]);
	buf_printf(&text, "%s %s A <a> 3 +0000\tthree\n", hex[2], hex[1]);
	tmprepo_write(&x.f.h.r.t, "logs/refs/heads/main", text.data);
	assert_int_equal(ref_tips_add_extra(&x.f.w, &x.tips, EXTRA_ROOT_REFLOGS,
					    false, NULL),
			 0);
	assert_true(has_commit(&x, x.commits[0]));
	assert_true(has_commit(&x, x.commits[1]));
	assert_false(has_commit(&x, x.commits[2]));
	assert_int_equal(x.tips.others.nr, 0);
	buf_release(&text);
	teardown(&x);
}

/* Commits in info/grafts are tips. Ids of missing objects are ignored. */
static void grafts(void **state)
{
	char hex[2][OID_MAX_HEX_LEN + 1];
	uint64_t seed = random_seed();
	struct buf text = BUF_INIT;
	struct fixture x;

	setup(&x, &seed);
	for (int i = 0; i < 2; i++)
		oid_to_hex(hex[i], &x.f.h.r.objects[x.commits[i]].oid,
			   HASH_SHA1);
	buf_printf(&text, "%s 1234567812345678123456781234567812345678 %s\n",
		   hex[0], hex[1]);
	tmprepo_write(&x.f.h.r.t, "info/grafts", text.data);
	assert_int_equal(ref_tips_add_extra(&x.f.w, &x.tips, EXTRA_ROOT_GRAFTS,
					    false, NULL),
			 0);
	assert_true(has_commit(&x, x.commits[0]));
	assert_true(has_commit(&x, x.commits[1]));
	assert_false(has_commit(&x, x.commits[2]));
	assert_int_equal(x.tips.others.nr, 0);
	buf_release(&text);
	teardown(&x);
}

/*
 * The index file has two entries. One is a blob that exists, which is a tip.
 * The other is a missing blob. It is ignored, or an error if the caller wants
 * so.
 */
static void index_entries(void **state)
{
	uint64_t seed = random_seed();
	struct buf bytes = BUF_INIT;
	struct error err = ERROR_INIT;
	struct hash_ctx hash;
	struct fixture x;
	struct oid sum;

	setup(&x, &seed);
	buf_append(&bytes, "DIRC\0\0\0\2\0\0\0\2", 12);
	for (int i = 0; i < 2; i++) {
		uint8_t entry[64] = {[24] = 0, [25] = 0, [26] = 0x81, 0xa4};

		memset(entry + 40, 0x55, 20);
		if (!i)
			memcpy(entry + 40, x.f.h.r.objects[x.blob].oid.bytes,
			       20);
		entry[61] = 1; /* the name's length */
		entry[62] = (uint8_t)('a' + i);
		buf_append(&bytes, entry, sizeof(entry));
	}
	assert_int_equal(hash_init(&hash, HASH_SHA1), 0);
	hash_update(&hash, bytes.data, bytes.len);
	hash_final(&hash, &sum);
	hash_release(&hash);
	buf_append(&bytes, sum.bytes, 20);
	tmprepo_write_len(&x.f.h.r.t, "index", bytes.data, bytes.len);
	assert_int_equal(ref_tips_add_extra(&x.f.w, &x.tips, EXTRA_ROOT_INDEXES,
					    false, NULL),
			 0);
	assert_int_equal(x.tips.commit_nr, 0);
	assert_int_equal(x.tips.others.nr, 1);
	assert_true(has_other(&x, x.blob));
	assert_int_equal(ref_tips_add_extra(&x.f.w, &x.tips, EXTRA_ROOT_INDEXES,
					    true, &err),
			 ERR_MISSING);
	assert_non_null(strstr(err.msg, "unable to read 55555555"));
	buf_release(&bytes);
	teardown(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_refs),      cmocka_unit_test(heads),
		cmocka_unit_test(bad_refs),      cmocka_unit_test(bad_head),
		cmocka_unit_test(reflogs),       cmocka_unit_test(grafts),
		cmocka_unit_test(index_entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
