/* SPDX-License-Identifier: MIT */
/*
 * Tests of names/revname-short.c, abbreviated object ids: ambiguous ids, hints,
 * and the lengths of abbreviations.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

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
		cmocka_unit_test(test_default_len),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
