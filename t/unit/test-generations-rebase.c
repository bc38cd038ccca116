/* SPDX-License-Identifier: MIT */
/*
 * Tests of generations/rebase.c, which applies a change to a newer generation
 * (version) than the change was made for. They prove that a change with a
 * conflict is refused as a whole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "base/mem.h"
#include "generations/rebase.h"
#include "t/unit/genhost.h"

static const uint8_t token[GENERATION_TOKEN_LEN] = {7};

/*
 * Makes generation 9. It has the pack "p" and the table of refs "reftable/1",
 * which has the refs as of generation 5. It also lists the three updates of
 * refs since then: "main" was set to "m" by generation 7, "old" was deleted by
 * generation 8, and "dir/x" was set to "x" by generation 9.
 */
static void make_base(struct generation *g)
{
	struct generation_upload pack = genhost_upload("p", "pack");
	struct generation_upload table = genhost_upload("reftable/1", "t");

	memset(g, 0, sizeof(*g));
	g->number = 9;
	g->parent[0] = 1;
	g->epoch = 3;
	g->tables = 5;
	assert_int_equal(generation_add_file(g, &pack.file, NULL), 0);
	assert_int_equal(generation_add_file(g, &table.file, NULL), 0);
	assert_int_equal(generation_set_ref(g, 7, "main", "m", NULL), 0);
	assert_int_equal(generation_set_ref(g, 8, "old", NULL, NULL), 0);
	assert_int_equal(generation_set_ref(g, 9, "dir/x", "x", NULL), 0);
}

/*
 * Callback that looks up a ref in the tables of a generation. Here the tables
 * have "t" with the value "1", and "u/v" with the value "2".
 */
static int find_ref(void *ctx, struct buf *value, const struct generation *g,
		    const struct generation_change *change, const char *ref,
		    struct error *err)
{
	assert_int_equal(g->tables > 0, 1);
	if (!strcmp(ref, "broken"))
		return error_set(err, ERR_CORRUPT, "broken");
	if (!strcmp(ref, "u"))
		return 1;
	if (!strcmp(ref, "t"))
		return buf_append_str(value, "1");
	return strcmp(ref, "u/v") ? 0 : buf_append_str(value, "2");
}

static const struct generation_change nothing = {
	.seen = 9,
	.find_ref = find_ref,
	.session_ns = 1,
};

/*
 * Applies a change to the generation that make_base() makes. `is_first`: the
 * new record has no other change yet. Returns the result of rebase_apply().
 */
static int apply(struct generation *next,
		 const struct generation_change *change, bool is_first)
{
	struct generation base;
	int ret;

	make_base(&base);
	assert_int_equal(rebase_check(change, NULL), 0);
	assert_int_equal(rebase_start(next, &base, NULL), 0);
	ret = rebase_apply(next, change, token, is_first, NULL);
	generation_release(&base);
	return ret;
}

static int apply_ref(const char *ref, const char *before, const char *after)
{
	struct generation_ref_change r = {ref, before, after};
	struct generation_change change = nothing;
	struct generation next;
	int ret;

	change.refs = &r;
	change.ref_nr = 1;
	ret = apply(&next, &change, true);
	if (!ret && after && strcmp(before ? before : "", after) != 0) {
		assert_string_equal(generation_find_update(&next, ref)->value,
				    after);
		assert_int_equal(generation_find_update(&next, ref)->number,
				 10);
	}
	generation_release(&next);
	return ret;
}

static void test_start(void **state)
{
	uint8_t sha256[GENERATION_SHA256_LEN];
	struct generation base, next, none = {0};
	struct buf text = BUF_INIT;

	make_base(&base);
	base.user = mem_strdup("u");
	base.token[0] = 1;
	assert_int_equal(generation_print(&text, sha256, &base, NULL), 0);
	assert_int_equal(rebase_start(&next, &base, NULL), 0);
	assert_int_equal(next.number, 10);
	assert_memory_equal(next.parent, sha256, sizeof(sha256));
	assert_int_equal(next.token[0], 0);
	assert_null(next.user);
	assert_int_equal(next.epoch, 3);
	assert_int_equal(next.tables, 5);
	assert_int_equal(next.file_nr, 2);
	assert_int_equal(next.update_nr, 3);
	generation_release(&next);
	generation_release(&base);
	assert_int_equal(rebase_start(&next, &none, NULL), 0);
	assert_int_equal(next.number, 1);
	assert_int_equal(next.parent[0], 0);
	generation_release(&next);
	buf_release(&text);
}

static void test_refs(void **state)
{
	/*
	 * The record lists an update of "main" to "m", and a deletion of "old".
	 */
	assert_int_equal(apply_ref("main", "m", "n"), 0);
	assert_int_equal(apply_ref("main", "m", NULL), 0);
	assert_int_equal(apply_ref("main", "x", "n"), GENERATION_REF_CHANGED);
	assert_int_equal(apply_ref("main", NULL, "n"), GENERATION_REF_CHANGED);
	assert_int_equal(apply_ref("old", NULL, "n"), 0);
	assert_int_equal(apply_ref("old", "o", "n"), GENERATION_REF_CHANGED);
	/*
	 * The record lists no update of these refs. The value of "t" comes from
	 * a reftable. The ref "new" does not exist.
	 */
	assert_int_equal(apply_ref("t", "1", "n"), 0);
	assert_int_equal(apply_ref("t", "2", "n"), GENERATION_REF_CHANGED);
	assert_int_equal(apply_ref("t", NULL, "n"), GENERATION_REF_CHANGED);
	assert_int_equal(apply_ref("new", NULL, "n"), 0);
	assert_int_equal(apply_ref("new", "n", NULL), GENERATION_REF_CHANGED);
	assert_int_equal(apply_ref("broken", NULL, "n"), ERR_CORRUPT);
	/* The change only checks the value of the ref. */
	assert_int_equal(apply_ref("main", "m", "m"), 0);
	assert_int_equal(apply_ref("main", "n", "n"), GENERATION_REF_CHANGED);
	assert_int_equal(apply_ref("new", NULL, NULL), 0);
	/* A ref cannot have a name below the name of another ref. */
	assert_int_equal(apply_ref("main/x", NULL, "n"),
			 GENERATION_REF_CHANGED);
	assert_int_equal(apply_ref("a/main/x", NULL, "n"), 0);
	assert_int_equal(apply_ref("old/x", NULL, "n"), 0);
	assert_int_equal(apply_ref("dir", NULL, "n"), GENERATION_REF_CHANGED);
	assert_int_equal(apply_ref("dir/x/y/z", NULL, "n"),
			 GENERATION_REF_CHANGED);
	assert_int_equal(apply_ref("di", NULL, "n"), 0);
	assert_int_equal(apply_ref("u", NULL, "n"), GENERATION_REF_CHANGED);
}

/*
 * A ref "main" prevents a ref "main/x". One change may delete "main" and create
 * "main/x".
 */
static void test_replaced_name(void **state)
{
	const struct generation_ref_change refs[] = {
		{"main", "m", NULL},
		{"main/x", NULL, "n"},
	};
	struct generation_change change = nothing;
	struct generation next;

	change.refs = refs;
	change.ref_nr = 2;
	assert_int_equal(apply(&next, &change, true), 0);
	assert_null(generation_find_update(&next, "main")->value);
	generation_release(&next);
}

/* If one ref of a change is refused, no part of the change is applied. */
static void test_all_or_nothing(void **state)
{
	const struct generation_ref_change refs[] = {
		{"main", "m", "n"},
		{"t", "wrong", NULL},
	};
	struct generation_upload up = genhost_upload("q", "new");
	struct generation_change change = nothing;
	struct generation next;

	change.refs = refs;
	change.ref_nr = 2;
	change.uploads = &up;
	change.upload_nr = 1;
	assert_int_equal(apply(&next, &change, true), GENERATION_REF_CHANGED);
	assert_string_equal(generation_find_update(&next, "main")->value, "m");
	assert_null(generation_find_file(&next, "q"));
	generation_release(&next);
}

static int check_two_refs(const char *a, const char *a_after, const char *b)
{
	const struct generation_ref_change refs[] = {
		{a, a_after ? NULL : "0", a_after},
		{b, NULL, "2"},
	};
	struct generation_change change = nothing;

	change.refs = refs;
	change.ref_nr = 2;
	return rebase_check(&change, NULL);
}

/*
 * A change is refused if it creates two refs such as "a" and "a/b": one name is
 * below the other.
 */
static void test_names_in_one_change(void **state)
{
	assert_int_equal(check_two_refs("a", "1", "a/b"), ERR_INVALID);
	assert_int_equal(check_two_refs("a", "1", "a/b/c"), ERR_INVALID);
	assert_int_equal(check_two_refs("a/b", "1", "a/b/c"), ERR_INVALID);
	assert_int_equal(check_two_refs("a", NULL, "a/b"), 0);
	assert_int_equal(check_two_refs("a-b", "1", "a/b"), 0);
	assert_int_equal(check_two_refs("a/b", "1", "a/c"), 0);
}

static int apply_upload(const char *path, const char *text,
			const struct generation_file *drop, uint64_t seen,
			struct generation *next)
{
	struct generation_upload up = genhost_upload(path, text);
	struct generation_change change = nothing;

	change.uploads = &up;
	change.upload_nr = 1;
	change.drops = drop;
	change.drop_nr = drop != NULL;
	change.seen = seen;
	return apply(next, &change, true);
}

static void test_files(void **state)
{
	struct generation_file drop = genhost_upload("p", "pack").file;
	struct generation next;

	assert_int_equal(apply_upload("q", "new", NULL, 9, &next), 0);
	assert_memory_equal(generation_find_file(&next, "q")->upload, token,
			    sizeof(token));
	assert_int_equal(next.file_nr, 3);
	generation_release(&next);
	/*
	 * A file of the same name and content exists already. It stays in use,
	 * and the uploaded file is ignored.
	 */
	assert_int_equal(apply_upload("p", "pack", NULL, 9, &next), 0);
	assert_int_equal(generation_find_file(&next, "p")->upload[0], 0);
	generation_release(&next);
	/*
	 * A file of the same name and other content is replaced only if the
	 * change drops the existing file.
	 */
	assert_int_equal(apply_upload("p", "other", NULL, 9, &next),
			 GENERATION_FILE_CHANGED);
	generation_release(&next);
	assert_int_equal(apply_upload("p", "other", &drop, 9, &next), 0);
	assert_int_equal(next.file_nr, 2);
	assert_int_equal(generation_find_file(&next, "p")->size, 5);
	generation_release(&next);
	/*
	 * A change drops one upload of a file, and names this upload by token
	 * and hash. The drop does not apply to another upload with the same
	 * path.
	 */
	drop.upload[3] = 1;
	assert_int_equal(apply_upload("q", "new", &drop, 9, &next),
			 GENERATION_FILE_CHANGED);
	generation_release(&next);
	drop.upload[3] = 0;
	drop.sha256[3] ^= 1;
	assert_int_equal(apply_upload("q", "new", &drop, 9, &next),
			 GENERATION_FILE_CHANGED);
	generation_release(&next);
	drop.path = (char *)"none";
	assert_int_equal(apply_upload("q", "new", &drop, 9, &next),
			 GENERATION_FILE_CHANGED);
	generation_release(&next);
}

/*
 * A change drops several files in any order. If the generation lacks one of
 * them, the change is refused with the path of this file. The order of the
 * files that stay is kept.
 */
static void test_several_drops(void **state)
{
	static const char *const paths[] = {"e", "c", "a", "d", "b"};
	struct generation base = {.number = 9, .parent = {1}}, next;
	struct generation_file drops[3];
	struct generation_change change = nothing;
	struct error err = ERROR_INIT;

	for (size_t i = 0; i < ARRAY_NR(paths); i++) {
		const struct generation_upload up = genhost_upload(paths[i],
								   "1");

		assert_int_equal(generation_add_file(&base, &up.file, NULL), 0);
	}
	drops[0] = base.files[3];
	drops[1] = base.files[2];
	drops[2] = base.files[0];
	change.drops = drops;
	change.drop_nr = ARRAY_NR(drops);
	assert_int_equal(rebase_start(&next, &base, NULL), 0);
	assert_int_equal(rebase_apply(&next, &change, token, true, NULL), 0);
	assert_int_equal(next.file_nr, 2);
	assert_string_equal(next.files[0].path, "c");
	assert_string_equal(next.files[1].path, "b");
	generation_release(&next);

	drops[1].path = (char *)"cc";
	assert_int_equal(rebase_start(&next, &base, NULL), 0);
	assert_int_equal(rebase_apply(&next, &change, token, true, &err),
			 GENERATION_FILE_CHANGED);
	assert_string_equal(err.msg, "'cc' was changed by another writer");
	assert_int_equal(next.file_nr, ARRAY_NR(paths));
	generation_release(&next);
	generation_release(&base);
}

static void test_tables(void **state)
{
	struct generation_file drop = genhost_upload("reftable/1", "t").file;
	struct generation_upload up = genhost_upload("reftable/2", "t2");
	struct generation_change change = nothing;
	struct generation next;

	change.uploads = &up;
	change.upload_nr = 1;
	change.drops = &drop;
	change.drop_nr = 1;
	change.seen = change.tables_up_to = 8;
	assert_int_equal(apply(&next, &change, true), 0);
	assert_int_equal(next.tables, 10);
	assert_int_equal(next.update_nr, 1);
	assert_string_equal(next.updates[0].ref, "dir/x");
	assert_int_equal(next.file_nr, 2);
	generation_release(&next);
	/*
	 * The change replaces the tables of refs up to generation (version) 4.
	 * But there are tables up to generation 5 already, so the change is
	 * refused.
	 */
	change.seen = change.tables_up_to = 4;
	assert_int_equal(apply(&next, &change, true), GENERATION_FILE_CHANGED);
	generation_release(&next);
	change.drop_nr = 0;
	assert_int_equal(apply(&next, &change, true), GENERATION_FILE_CHANGED);
	assert_int_equal(next.update_nr, 3);
	generation_release(&next);
	change.tables_up_to = 5;
	assert_int_equal(rebase_check(&change, NULL), ERR_INVALID);
}

static void test_epoch(void **state)
{
	struct generation_change change = nothing;
	struct generation next;

	change.seen = 2;
	assert_int_equal(apply(&next, &change, true), GENERATION_EPOCH_CHANGED);
	generation_release(&next);
	change.seen = 3;
	assert_int_equal(apply(&next, &change, true), 0);
	assert_int_equal(next.epoch, 3);
	generation_release(&next);
	change.drops_objects = true;
	change.seen = 8;
	assert_int_equal(apply(&next, &change, true), GENERATION_EPOCH_CHANGED);
	generation_release(&next);
	change.seen = 9;
	assert_int_equal(apply(&next, &change, false),
			 GENERATION_EPOCH_CHANGED);
	generation_release(&next);
	assert_int_equal(apply(&next, &change, true), 0);
	assert_int_equal(next.epoch, 10);
	/*
	 * A change that drops objects is in the record (manifest). A further
	 * change cannot go into the same record.
	 */
	change.drops_objects = false;
	assert_int_equal(rebase_apply(&next, &change, token, false, NULL),
			 GENERATION_EPOCH_CHANGED);
	generation_release(&next);
}

static void test_check(void **state)
{
	const struct generation_ref_change twice[] = {
		{"a", NULL, "1"},
		{"a", "1", NULL},
	};
	const struct generation_upload ups[] = {genhost_upload("a", "1"),
						genhost_upload("a", "2")};
	struct generation_change change = nothing;
	char word[GENERATION_WORD_MAX + 2];

	assert_int_equal(rebase_check(&change, NULL), 0);
	change.refs = twice;
	change.ref_nr = 2;
	assert_int_equal(rebase_check(&change, NULL), ERR_INVALID);
	assert_int_equal(check_two_refs("b", "1", "a"), ERR_INVALID);
	change.ref_nr = 1;
	assert_int_equal(rebase_check(&change, NULL), 0);
	change.uploads = ups;
	change.upload_nr = 2;
	assert_int_equal(rebase_check(&change, NULL), ERR_INVALID);
	change.upload_nr = 1;
	memset(word, 'w', sizeof(word));
	word[sizeof(word) - 1] = '\0';
	change.user = word;
	assert_int_equal(rebase_check(&change, NULL), ERR_INVALID);
	change.user = "u";
	assert_int_equal(rebase_check(&change, NULL), 0);
	change.session_ns = 0;
	assert_int_equal(rebase_check(&change, NULL), ERR_INVALID);
	/*
	 * A change may replace updates by a table of refs only if it uploads
	 * this table.
	 */
	change.session_ns = 1;
	change.tables_up_to = 9;
	assert_int_equal(rebase_check(&change, NULL), ERR_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_start),
		cmocka_unit_test(test_refs),
		cmocka_unit_test(test_replaced_name),
		cmocka_unit_test(test_all_or_nothing),
		cmocka_unit_test(test_names_in_one_change),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_several_drops),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_epoch),
		cmocka_unit_test(test_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
