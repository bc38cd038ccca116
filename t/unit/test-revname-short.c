/* SPDX-License-Identifier: MIT */
/*
 * Tests of names/revname-short.c, abbreviated ids. An abbreviation that only
 * one object matches must be resolved. If several objects match, the expected
 * type of object (a hint) or the setting core.disambiguate must select one of
 * them. If no object can be selected, the error message must list the matching
 * objects.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "names/revname.h"
#include "t/unit/tmppack.h"

struct fixture {
	struct tmprepo t;
	struct odb *odb;
	struct odb_reader *reader;
};

static void open_odb(struct fixture *f)
{
	assert_int_equal(odb_open(&f->odb, &f->t.repo, NULL, NULL), 0);
	f->reader = odb_reader_new(f->odb, 1 << 20);
	assert_non_null(f->reader);
}

static void close_odb(struct fixture *f)
{
	odb_reader_free(f->reader);
	odb_close(f->odb);
	tmprepo_release(&f->t);
}

static int resolve(struct fixture *f, struct oid *oid, const char *hex,
		   size_t len, enum revname_hint hint)
{
	return revname_resolve_short(oid, hex, len, hint, f->reader, f->odb,
				     NULL);
}

/*
 * Writes blobs until the id of one starts with the same four digits as `oid`.
 */
static void make_twin(struct fixture *f, const struct oid *oid)
{
	struct oid twin;
	char text[16];
	int len;

	for (int i = 0;; i++) {
		len = snprintf(text, sizeof(text), "%d", i);
		tmppack_oid(&f->t, &twin, OBJ_BLOB, text, (size_t)len);
		if (!memcmp(twin.bytes, oid->bytes, 2))
			break;
	}
	tmppack_loose(&f->t, "objects", &twin, OBJ_BLOB, text, (size_t)len);
}

static void test_resolve(void **state)
{
	static const char empty[] =
		"tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n"
		"author A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\n";
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid commit, oid;
	struct fixture f;

	tmprepo_init(&f.t, HASH_SHA1);
	tmppack_loose(&f.t, "objects", &commit, OBJ_COMMIT, empty,
		      sizeof(empty) - 1);
	oid_to_hex(hex, &commit, HASH_SHA1);
	open_odb(&f);
	assert_int_equal(resolve(&f, &oid, hex, 4, REVNAME_ANY), 1);
	assert_true(oid_equal(&oid, &commit));
	assert_int_equal(resolve(&f, &oid, hex, 3, REVNAME_ANY), 0);
	assert_int_equal(resolve(&f, &oid, hex, 40, REVNAME_ANY), 1);
	assert_int_equal(resolve(&f, &oid, "xyzz", 4, REVNAME_ANY), 0);
	make_twin(&f, &commit);
	assert_int_equal(resolve(&f, &oid, hex, 4, REVNAME_ANY), ERR_INVALID);
	assert_int_equal(resolve(&f, &oid, hex, 4, REVNAME_COMMITTISH), 1);
	assert_true(oid_equal(&oid, &commit));
	assert_int_equal(resolve(&f, &oid, hex, 4, REVNAME_TREEISH), 1);
	assert_int_equal(resolve(&f, &oid, hex, 20, REVNAME_ANY), 1);
	close_odb(&f);
}

/*
 * ---- tests of a tag, a commit, a tree and a blob with the same abbreviated id
 */

/* The ids of these objects begin with the same four digits. */
enum { A_TAG, A_COMMIT, A_TREE, A_BLOB, ALIKE_NR };

static const enum object_type alike_types[ALIKE_NR] = {OBJ_TAG, OBJ_COMMIT,
						       OBJ_TREE, OBJ_BLOB};

/*
 * Writes a tag, commit, tree or blob. Its content depends on the number `i`, so
 * that tests can try numbers until the ids are similar.
 */
static void alike_content(struct buf *out, enum object_type type, int i)
{
	static const char empty[] = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

	buf_reset(out);
	if (type == OBJ_TAG)
		buf_printf(out,
			   "object %s\ntype tree\ntag v%d\n"
			   "tagger A <a@b> 86400 +0000\n\nx\n",
			   empty, i);
	else if (type == OBJ_COMMIT)
		buf_printf(out,
			   "tree %s\nauthor A <a@b> 86399 +0100\n"
			   "committer A <a@b> 1 +0000\n\nfirst\nline %d\n\n"
			   "second\n",
			   empty, i);
	else if (type == OBJ_TREE)
		buf_printf(out, "100644 f%d%c%.20s", i, '\0',
			   "abcdefghijabcdefghij");
	else
		buf_printf(out, "%d", i);
}

/*
 * Stores one object of each type. The ids of all objects begin with the same
 * four digits as the first id.
 */
static void make_alike(struct fixture *f, struct oid *oids)
{
	struct buf text = BUF_INIT;

	for (int k = 0; k < ALIKE_NR; k++)
		for (int i = 0;; i++) {
			alike_content(&text, alike_types[k], i);
			tmppack_oid(&f->t, &oids[k], alike_types[k], text.data,
				    text.len);
			if (memcmp(oids[k].bytes, oids[0].bytes, 2) != 0)
				continue;
			tmppack_loose(&f->t, "objects", &oids[k],
				      alike_types[k], text.data, text.len);
			break;
		}
	buf_release(&text);
}

/* Sets core.disambiguate for the repository of a fixture. */
static void set_disambiguate(struct fixture *f, char *value)
{
	static char key[] = "core.disambiguate";
	static struct config_entry entry = {.key = key};

	entry.value = value;
	f->t.repo.config.entries = &entry;
	f->t.repo.config.nr = value ? 1 : 0;
}

/*
 * Each case has a hint (the expected type), and the object that the hint
 * selects among four with the same abbreviation. ALIKE_NR: the abbreviation
 * stays ambiguous.
 */
static void test_hints(void **state)
{
	static const struct {
		enum revname_hint hint;
		char name[12];
		int chosen;
	} cases[] = {
		{REVNAME_ANY, "none", ALIKE_NR},
		{REVNAME_COMMIT, "commit", A_COMMIT},
		{REVNAME_COMMITTISH, "committish", A_COMMIT},
		{REVNAME_TREE, "tree", A_TREE},
		{REVNAME_TREEISH, "treeish", ALIKE_NR},
		{REVNAME_BLOB, "Blob", A_BLOB},
	};
	char hex[OID_MAX_HEX_LEN + 1], name[12];
	struct oid oids[ALIKE_NR], oid;
	struct config saved;
	struct fixture f;

	tmprepo_init(&f.t, HASH_SHA1);
	saved = f.t.repo.config;
	make_alike(&f, oids);
	oid_to_hex(hex, &oids[0], HASH_SHA1);
	open_odb(&f);
	for (size_t i = 0; i < ARRAY_NR(cases); i++) {
		int wanted = cases[i].chosen == ALIKE_NR ? ERR_INVALID : 1;

		set_disambiguate(&f, NULL);
		assert_int_equal(resolve(&f, &oid, hex, 4, cases[i].hint),
				 wanted);
		assert_true(wanted < 0 ||
			    oid_equal(&oid, &oids[cases[i].chosen]));
		memcpy(name, cases[i].name, sizeof(name));
		set_disambiguate(&f, name);
		assert_int_equal(revname_check_config(&f.t.repo.config, NULL),
				 0);
		assert_int_equal(resolve(&f, &oid, hex, 4, REVNAME_ANY),
				 wanted);
		assert_true(wanted < 0 ||
			    oid_equal(&oid, &oids[cases[i].chosen]));
	}
	f.t.repo.config = saved;
	close_odb(&f);
}

static void test_bad_hint(void **state)
{
	char hex[OID_MAX_HEX_LEN + 1], bad[] = "all";
	struct oid oids[ALIKE_NR], oid;
	struct error err = ERROR_INIT;
	struct config saved;
	struct fixture f;

	tmprepo_init(&f.t, HASH_SHA1);
	saved = f.t.repo.config;
	make_alike(&f, oids);
	oid_to_hex(hex, &oids[0], HASH_SHA1);
	open_odb(&f);
	set_disambiguate(&f, bad);
	assert_int_equal(revname_check_config(&f.t.repo.config, NULL),
			 ERR_INVALID);
	assert_int_equal(revname_resolve_short(&oid, hex, 4, REVNAME_ANY,
					       f.reader, f.odb, &err),
			 ERR_INVALID);
	assert_string_equal(err.msg, "unknown hint type for "
				     "'core.disambiguate': all");
	assert_false(revname_error_is_ambiguous(&err));
	f.t.repo.config = saved;
	close_odb(&f);
}

/*
 * The error message for an ambiguous id lists tags, commits, trees and blobs,
 * in this order.
 */
static void test_candidates(void **state)
{
	char hex[ALIKE_NR][OID_MAX_HEX_LEN + 1];
	struct oid oids[ALIKE_NR], oid;
	struct error err = ERROR_INIT;
	struct buf expected = BUF_INIT;
	struct fixture f;

	tmprepo_init(&f.t, HASH_SHA1);
	make_alike(&f, oids);
	for (int k = 0; k < ALIKE_NR; k++) {
		oid_to_hex(hex[k], &oids[k], HASH_SHA1);
		hex[k][7] = '\0';
	}
	open_odb(&f);
	assert_int_equal(revname_resolve_short(&oid, hex[0], 4, REVNAME_ANY,
					       f.reader, f.odb, &err),
			 ERR_INVALID);
	assert_true(revname_error_is_ambiguous(&err));
	buf_printf(&expected,
		   "short object ID %.4s is ambiguous\n"
		   "hint: The candidates are:\n"
		   "hint:   %s tag 1970-01-02 - v0\n"
		   "hint:   %s commit 1970-01-02 - first line ",
		   hex[0], hex[A_TAG], hex[A_COMMIT]);
	assert_memory_equal(err.msg, expected.data, expected.len);
	buf_reset(&expected);
	buf_printf(&expected, "\nhint:   %s tree\nhint:   %s blob", hex[A_TREE],
		   hex[A_BLOB]);
	assert_non_null(strstr(err.msg, expected.data));
	assert_null(strstr(err.msg, "second"));
	buf_release(&expected);
	close_odb(&f);
}

static void test_default_len(void **state)
{
	char key[] = "core.abbrev", value[16];
	struct config_entry entry = {.key = key, .value = value};
	struct repo repo = {.algo = HASH_SHA1};
	struct odb odb = {.repo = &repo, .algo = HASH_SHA1};
	static const struct {
		const char *value;
		int len;
	} cases[] = {
		{"auto", 9}, {"12", 12},         {"no", 40},         {"40", 40},
		{"41", 40},  {"3", ERR_INVALID}, {"x", ERR_INVALID},
	};

	assert_int_equal(revname_default_len(&odb, NULL), 7);
	odb.packed_nr = 161974;
	assert_int_equal(revname_default_len(&odb, NULL), 9);
	odb.packed_nr = UINT32_C(1) << 18;
	assert_int_equal(revname_default_len(&odb, NULL), 10);
	odb.packed_nr--;
	assert_int_equal(revname_default_len(&odb, NULL), 9);
	repo.config.entries = &entry;
	repo.config.nr = 1;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(value, sizeof(value), "%s", cases[i].value);
		assert_int_equal(revname_default_len(&odb, NULL), cases[i].len);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resolve),
		cmocka_unit_test(test_hints),
		cmocka_unit_test(test_bad_hint),
		cmocka_unit_test(test_candidates),
		cmocka_unit_test(test_default_len),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
